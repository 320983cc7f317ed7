//! The broker: what a job is on a NATS server, and how each piece of it is read and written.
//!
//! | what                                  | where on the server                                     |
//! |---------------------------------------|---------------------------------------------------------|
//! | jobs that are there to be taken       | key-value bucket `mzk-jobs`, by the name of the job      |
//! | units that wait, or are explored      | work queue `mzk-JOB-work`, consumer `workers`            |
//! | commit records `c.UNIT`, failures `f.UNIT.N`, `void`, signs of workers `w.…` | bucket `mzk-JOB`       |
//! | programs, and what a message cannot hold | object store `mzk-blobs`, by SHA-256                  |
//!
//! A record is published with the demand that its subject has none before
//! (`Nats-Expected-Last-Subject-Sequence: 0`, the `create` of key-value buckets): the first wins.
//! That is all that exactness rests on. A request that is not answered is made again: a server that
//! restarts, or a connection that is lost, is waited for.

use crate::job::Signed;
use crate::record::{Blob, Commit, Hash, Message, UnitId, of_bytes, to_bytes};
use async_nats::jetstream::consumer::PullConsumer;
use async_nats::jetstream::consumer::pull::Config as Pull;
use async_nats::jetstream::context::PublishErrorKind;
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::stream::{
    Config as StreamConfig, DiscardPolicy, LastRawMessageErrorKind, RawMessageErrorKind,
    RetentionPolicy, Stream,
};
use async_nats::jetstream::{self, Context, object_store};
use async_nats::{Client, ConnectErrorKind, ConnectOptions};
use futures_util::StreamExt as _;
use mazurka_check::Fault;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use tokio::io::AsyncReadExt as _;

const JOBS: &str = "mzk-jobs";
const BLOBS: &str = "mzk-blobs";
const CONSUMER: &str = "workers";
/// The key of the record that voids a job.
pub(crate) const VOID: &str = "void";
const LANES: &str = "lanes";
/// What a message may hold; a server takes twice as much unless it is told otherwise.
const INLINE: usize = 400_000;
/// A unit that has come to nothing so often ends the job.
pub(crate) const MAX_FAILURES: u32 = 3;
/// How long a server may be away before that is an end.
const PATIENCE: Duration = Duration::from_secs(300);
/// How long it may have no room.
const PATIENCE_IF_FULL: Duration = Duration::from_secs(20);
/// How long an asker tries to reach one.
const CONNECT_FOR: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(200);
/// How long what is not asked for again is stored.
const KEPT: Duration = Duration::from_secs(7 * 24 * 3600);

/// Where the broker is, and how it lets one in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Access {
    /// `nats://host:4222` or `tls://host:4222`.
    pub url: String,
    /// A file of credentials (`nsc`).
    pub credentials: Option<PathBuf>,
    /// Certificates of authorities that are trusted.
    pub authorities: Option<PathBuf>,
    /// A certificate for the server, and its key.
    pub certificate: Option<(PathBuf, PathBuf)>,
}

/// Why something cannot be done with a broker.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BrokerError {
    /// It does not answer.
    #[error("the broker does not answer: {0}")]
    Away(String),
    /// It has no room.
    #[error("the broker has no room left: {0}")]
    Full(String),
    /// The job was ended, by its asker or by `mazurka fleet cancel`.
    #[error("the job is not there any more")]
    Gone,
    /// It refuses something.
    #[error("the broker refuses: {0}")]
    Refused(String),
    /// What it has stored is not what was asked for.
    #[error("what the broker has stored under {0} is something else")]
    Damaged(Hash),
}

impl From<BrokerError> for Fault {
    fn from(error: BrokerError) -> Self {
        let fault = Fault::input(error.to_string());
        match error {
            BrokerError::Full(_) => fault.help(
                "give it more room (`max_file_store`), or remove jobs: `mazurka fleet cancel`",
            ),
            _ => fault,
        }
    }
}

/// What keeps one attempt from its end.
enum Trouble {
    /// Another one may come to it.
    Later(String),
    /// There may be room later.
    Full(String),
    Now(BrokerError),
}

/// A connection to a broker.
#[derive(Clone, Debug)]
pub struct Broker {
    client: Client,
    context: Context,
}

/// Something that was written to the bucket of a job.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    pub(crate) sequence: u64,
    pub(crate) key: String,
    pub(crate) value: Vec<u8>,
}

/// How full the queue of a job is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Queue {
    /// Units that wait.
    pub waiting: u64,
    /// Units that a worker has taken.
    pub taken: u64,
    /// Units among these that were delivered before.
    pub redelivered: u64,
}

fn bucket(job: &str) -> String {
    format!("mzk-{job}")
}

fn work_stream(job: &str) -> String {
    format!("mzk-{job}-work")
}

fn work_subject(job: &str) -> String {
    format!("mzk.{job}.work")
}

fn key_subject(bucket: &str, key: &str) -> String {
    format!("$KV.{bucket}.{key}")
}

/// The stream that is a key-value bucket with one value for each key. It is made here, since the
/// client asks servers for more than those before 2.10 say.
fn key_value(bucket: &str) -> StreamConfig {
    StreamConfig {
        name: format!("KV_{bucket}"),
        subjects: vec![key_subject(bucket, ">")],
        max_messages_per_subject: 1,
        discard: DiscardPolicy::New,
        allow_rollup: true,
        deny_delete: true,
        allow_direct: true,
        num_replicas: 1,
        ..StreamConfig::default()
    }
}

fn commit_key(unit: UnitId) -> String {
    format!("c.{unit}")
}

/// What all keys of failures begin with.
pub(crate) const FAILED: &str = "f.";

fn failure_key(unit: UnitId, number: u32) -> String {
    format!("{FAILED}{unit}.{number}")
}

/// The unit that a key is the commit record of.
pub(crate) fn committed(key: &str) -> Option<UnitId> {
    key.strip_prefix("c.")?.parse().ok()
}

/// Whether a server has said that it has no room.
fn is_full(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    let words = ["insufficient", "maximum bytes", "resource limits", "no space", "disk"];
    words.iter().any(|words| text.contains(words))
}

fn trouble(error: &impl std::fmt::Display) -> Trouble {
    let text = error.to_string();
    if is_full(&text) { Trouble::Full(text) } else { Trouble::Later(text) }
}

/// How one is let in.
fn connection(access: &Access, is_patient: bool) -> Result<ConnectOptions, Fault> {
    let Access { credentials, authorities, certificate, .. } = access;
    let mut options =
        ConnectOptions::new().name("mazurka").connection_timeout(Duration::from_secs(5));
    if let Some(path) = credentials {
        let unreadable = |error: &dyn std::fmt::Display| {
            Fault::input(format!("the credentials `{}`: {error}", path.display()))
        };
        let text = std::fs::read_to_string(path).map_err(|error| unreadable(&error))?;
        options = options.credentials(&text).map_err(|error| unreadable(&error))?;
    }
    if let Some(path) = authorities {
        options = options.add_root_certificates(path.clone());
    }
    if let Some((certificate, key)) = certificate {
        options = options.add_client_certificate(certificate.clone(), key.clone());
    }
    options = options
        .reconnect_delay_callback(|attempts| Duration::from_millis(100 * attempts.min(10) as u64));
    Ok(if is_patient { options.retry_on_initial_connect() } else { options })
}

impl Broker {
    /// Connects. If `is_patient`, a broker that is not there yet is waited for; else for a moment,
    /// since it may be about to be back.
    pub async fn connect(access: &Access, is_patient: bool) -> Result<Self, Fault> {
        let shown = without_password(&access.url);
        let begun = Instant::now();
        let client = loop {
            let options = connection(access, is_patient)?;
            match options.connect(access.url.as_str()).await {
                Ok(client) => break client,
                Err(error) => {
                    let kind = error.kind();
                    let is_stranger = matches!(
                        kind,
                        ConnectErrorKind::AuthorizationViolation | ConnectErrorKind::Authentication
                    );
                    if begun.elapsed() < CONNECT_FOR && !is_stranger {
                        tokio::time::sleep(PAUSE).await;
                        continue;
                    }
                    let fault = Fault::input(format!("no broker answers at {shown}: {error}"));
                    return Err(fault.help(match (is_stranger, shown.starts_with("tls:")) {
                        (true, _) => "`NATS_CREDS` names a file of credentials that it lets in",
                        (_, true) => {
                            "`NATS_CA` names the authority of its certificate; `NATS_CERT` and \
                             `NATS_KEY` a certificate that it asks for"
                        }
                        _ => "`nats-server -js` is one; `mazurka check --jobs N` needs none",
                    }));
                }
            }
        };
        let mut context = jetstream::new(client.clone());
        context.set_timeout(Duration::from_secs(3));
        let broker = Self { client, context };
        broker.set_up().await.map_err(|error| {
            let help = "start it with JetStream: `nats-server -js`";
            Fault::input(format!("{shown}: {error}")).help(help)
        })?;
        Ok(broker)
    }

    /// Does something again until it is done, or until it was tried for too long.
    async fn patiently<T>(
        &self,
        attempt: impl AsyncFn() -> Result<T, Trouble>,
    ) -> Result<T, BrokerError> {
        let begun = Instant::now();
        loop {
            let (text, is_full) = match attempt().await {
                Ok(done) => return Ok(done),
                Err(Trouble::Now(error)) => return Err(error),
                Err(Trouble::Later(text)) => (text, false),
                Err(Trouble::Full(text)) => (text, true),
            };
            if is_full && begun.elapsed() >= PATIENCE_IF_FULL {
                return Err(BrokerError::Full(text));
            }
            if begun.elapsed() >= PATIENCE {
                return Err(BrokerError::Away(text));
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Makes what all jobs have in common.
    async fn set_up(&self) -> Result<(), BrokerError> {
        self.patiently(async || {
            let refused = |text: String| match text.contains("not enabled") {
                true => Trouble::Now(BrokerError::Refused(text)),
                false => trouble(&text),
            };
            let made = self.context.get_or_create_stream(key_value(JOBS)).await;
            made.map_err(|error| refused(error.to_string()))?;
            let config = object_store::Config {
                bucket: BLOBS.into(),
                max_age: KEPT,
                ..object_store::Config::default()
            };
            let made = self.context.create_object_store(config).await;
            made.map_err(|error| refused(error.to_string()))?;
            Ok(())
        })
        .await
    }

    /// Makes a job that no worker takes yet.
    pub(crate) async fn create_job(
        &self,
        job: &str,
        patience: Duration,
    ) -> Result<(), BrokerError> {
        self.patiently(async || {
            let made = self.context.get_or_create_stream(key_value(&bucket(job))).await;
            made.map_err(|error| trouble(&error))?;
            let config = StreamConfig {
                name: work_stream(job),
                subjects: vec![work_subject(job)],
                retention: RetentionPolicy::WorkQueue,
                ..StreamConfig::default()
            };
            let stream =
                self.context.get_or_create_stream(config).await.map_err(|error| trouble(&error))?;
            let config = Pull {
                durable_name: Some(CONSUMER.into()),
                ack_wait: patience,
                max_ack_pending: 100_000,
                ..Pull::default()
            };
            let made = stream.get_or_create_consumer(CONSUMER, config).await;
            made.map(drop).map_err(|error| trouble(&error))
        })
        .await
    }

    /// Lets workers take a job.
    pub(crate) async fn publish_job(&self, job: &str, signed: &Signed) -> Result<(), BrokerError> {
        let (subject, bytes) = (key_subject(JOBS, job), signed.to_bytes());
        self.publish(&subject, &bytes, None).await.map(drop)
    }

    /// The jobs that are there, with their names.
    pub(crate) async fn jobs(&self) -> Result<Vec<(String, Vec<u8>)>, BrokerError> {
        let records = self.records_of(JOBS, 0).await?;
        Ok(records.into_iter().map(|record| (record.key, record.value)).collect())
    }

    /// Whether a job is there.
    pub(crate) async fn has_job(&self, job: &str) -> Result<bool, BrokerError> {
        Ok(self.last(JOBS, job).await?.is_some())
    }

    /// Ends a job: no worker takes it any more, and nothing is left of it.
    pub(crate) async fn end_job(&self, job: &str) -> Result<(), BrokerError> {
        self.patiently(async || {
            let stream = self.stream(&format!("KV_{JOBS}")).await?;
            let purged = stream.purge().filter(key_subject(JOBS, job)).await;
            purged.map(drop).map_err(|error| trouble(&error))
        })
        .await?;
        for stream in [work_stream(job), format!("KV_{}", bucket(job))] {
            self.patiently(async || match self.context.delete_stream(&stream).await {
                Ok(_) => Ok(()),
                Err(error) if error.to_string().contains("not found") => Ok(()),
                Err(error) => Err(trouble(&error)),
            })
            .await?;
        }
        Ok(())
    }

    /// Publishes something. Whether it was accepted: not if `first` asks that nothing was there.
    async fn publish(
        &self,
        subject: &str,
        bytes: &[u8],
        unique: Option<Unique<'_>>,
    ) -> Result<bool, BrokerError> {
        self.patiently(async || {
            let mut message = PublishMessage::build().payload(bytes.to_vec().into());
            message = match unique {
                Some(Unique::First) => message.expected_last_subject_sequence(0),
                Some(Unique::Named(name)) => message.message_id(name),
                None => message,
            };
            let sent = self.context.send_publish(subject.to_owned(), message).await;
            let answered = match sent {
                Ok(answer) => answer.await,
                Err(error) => Err(error),
            };
            match answered {
                Ok(_) => Ok(true),
                Err(error) => match error.kind() {
                    PublishErrorKind::WrongLastSequence => Ok(false),
                    PublishErrorKind::MaxPayloadExceeded => {
                        Err(Trouble::Now(BrokerError::Refused(error.to_string())))
                    }
                    // It is not there any more, or not yet there again.
                    PublishErrorKind::StreamNotFound => {
                        Err(self.why_not_found(subject, error.to_string()).await)
                    }
                    _ => Err(trouble(&error)),
                },
            }
        })
        .await
    }

    /// Whether a subject is missing since its job is, or since a server is about to be back.
    async fn why_not_found(&self, subject: &str, text: String) -> Trouble {
        let job = subject.strip_prefix("mzk.").and_then(|rest| rest.strip_suffix(".work"));
        let job = job.or_else(|| subject.strip_prefix("$KV.mzk-")?.split('.').next());
        let Some(job) = job.filter(|job| *job != "jobs") else { return Trouble::Later(text) };
        match Box::pin(self.has_job(job)).await {
            Ok(false) => Trouble::Now(BrokerError::Gone),
            _ => Trouble::Later(text),
        }
    }

    /// Writes the record of a unit, if it has none. Whether this is the one that counts.
    ///
    /// A record that was written without an answer is recognised when it is written again.
    pub async fn commit(
        &self,
        job: &str,
        unit: UnitId,
        commit: &Commit,
    ) -> Result<bool, BrokerError> {
        let bytes = to_bytes(&self.blob(to_bytes(commit)).await?);
        let subject = key_subject(&bucket(job), &commit_key(unit));
        if self.publish(&subject, &bytes, Some(Unique::First)).await? {
            return Ok(true);
        }
        let first = self.last(&bucket(job), &commit_key(unit)).await?;
        Ok(first.is_some_and(|record| record.value == bytes))
    }

    /// The record of a unit, if it has one.
    pub async fn commit_of(&self, job: &str, unit: UnitId) -> Result<Option<Commit>, BrokerError> {
        match self.last(&bucket(job), &commit_key(unit)).await? {
            Some(record) => self.read_commit(&record.value).await.map(Some),
            None => Ok(None),
        }
    }

    /// The commit in the value of a record.
    pub(crate) async fn read_commit(&self, value: &[u8]) -> Result<Commit, BrokerError> {
        let damaged = || BrokerError::Damaged(Hash::of(value));
        let bytes = self.bytes(of_bytes(value).ok_or_else(damaged)?).await?;
        of_bytes(&bytes).ok_or_else(damaged)
    }

    /// Writes something under a key of a job, if there is nothing. Whether it was written.
    pub(crate) async fn create(
        &self,
        job: &str,
        key: &str,
        value: &[u8],
    ) -> Result<bool, BrokerError> {
        self.publish(&key_subject(&bucket(job), key), value, Some(Unique::First)).await
    }

    /// Writes that a unit has come to nothing, behind all that were written of it before.
    pub(crate) async fn fail(
        &self,
        job: &str,
        unit: UnitId,
        failure: &[u8],
    ) -> Result<(), BrokerError> {
        for number in 0..MAX_FAILURES {
            if self.create(job, &failure_key(unit, number), failure).await? {
                break;
            }
        }
        Ok(())
    }

    /// How often a unit has come to nothing.
    pub(crate) async fn n_failures(&self, job: &str, unit: UnitId) -> Result<u32, BrokerError> {
        for number in 0..MAX_FAILURES {
            if self.last(&bucket(job), &failure_key(unit, number)).await?.is_none() {
                return Ok(number);
            }
        }
        Ok(MAX_FAILURES)
    }

    /// Writes something under a key of a job, once and without an answer: what is lost is written
    /// again soon.
    pub(crate) async fn tell(&self, job: &str, key: &str, value: Vec<u8>) {
        let subject = key_subject(&bucket(job), key);
        let _ = self.client.publish(subject, value.into()).await;
    }

    /// What was written for a job behind a sequence, in its order.
    pub(crate) async fn records(&self, job: &str, behind: u64) -> Result<Vec<Record>, BrokerError> {
        self.records_of(&bucket(job), behind).await
    }

    async fn records_of(&self, bucket: &str, behind: u64) -> Result<Vec<Record>, BrokerError> {
        const AT_ONCE: usize = 1000;
        let (mut records, mut sequence) = (Vec::new(), behind + 1);
        while records.len() < AT_ONCE {
            let record = self.next(bucket, sequence).await?;
            let Some(record) = record else { break };
            sequence = record.sequence + 1;
            records.push(record);
        }
        Ok(records)
    }

    async fn next(&self, bucket: &str, sequence: u64) -> Result<Option<Record>, BrokerError> {
        self.patiently(async || {
            let stream = self.stream(&format!("KV_{bucket}")).await?;
            let all = key_subject(bucket, ">");
            let message =
                stream.raw_message_builder().sequence(sequence).next_by_subject(all).send().await;
            match message {
                Ok(message) => Ok(Some(record(bucket, message))),
                Err(error) => match error.kind() {
                    RawMessageErrorKind::NoMessageFound => Ok(None),
                    _ => {
                        Err(self.why_not_found(&key_subject(bucket, "x"), error.to_string()).await)
                    }
                },
            }
        })
        .await
    }

    /// What was written last under a key, as the leader of the servers has it.
    async fn last(&self, bucket: &str, key: &str) -> Result<Option<Record>, BrokerError> {
        self.patiently(async || {
            let stream = self.stream(&format!("KV_{bucket}")).await?;
            let subject = key_subject(bucket, key);
            match stream.get_last_raw_message_by_subject(&subject).await {
                Ok(message) => Ok(Some(record(bucket, message))),
                Err(error) => match error.kind() {
                    LastRawMessageErrorKind::NoMessageFound => Ok(None),
                    _ if bucket == JOBS => Err(Trouble::Later(error.to_string())),
                    _ => Err(self.why_not_found(&subject, error.to_string()).await),
                },
            }
        })
        .await
    }

    async fn stream(&self, name: &str) -> Result<Stream<()>, Trouble> {
        self.context.get_stream_no_info(name).await.map_err(|error| trouble(&error))
    }

    /// Puts a unit into the queue of a job. One that was put there a moment ago is there once.
    pub(crate) async fn enqueue(
        &self,
        job: &str,
        (id, parent, idx): (UnitId, UnitId, u32),
        unit: &[u8],
        (attempt, longer): (u32, u32),
    ) -> Result<(), BrokerError> {
        let unit = self.blob(unit.to_vec()).await?;
        let message = to_bytes(&Message { id, parent, idx, unit, longer });
        let name = format!("{id}.{attempt}");
        let unique = Some(Unique::Named(&name));
        self.publish(&work_subject(job), &message, unique).await.map(drop)
    }

    /// Puts the children of a commit into the queue of a job.
    pub(crate) async fn enqueue_children(
        &self,
        job: &str,
        parent: UnitId,
        commit: &Commit,
    ) -> Result<(), BrokerError> {
        for (idx, child) in (0..).zip(&commit.children) {
            let id = parent.child(idx, child);
            self.enqueue(job, (id, parent, idx), child, (0, commit.longer)).await?;
        }
        Ok(())
    }

    /// The same of a commit that was there before: children that have a record of their own are
    /// left to those who wrote that.
    pub(crate) async fn enqueue_rest(
        &self,
        job: &str,
        parent: UnitId,
        commit: &Commit,
    ) -> Result<(), BrokerError> {
        for (idx, child) in (0..).zip(&commit.children) {
            let id = parent.child(idx, child);
            if self.last(&bucket(job), &commit_key(id)).await?.is_none() {
                self.enqueue(job, (id, parent, idx), child, (0, commit.longer)).await?;
            }
        }
        Ok(())
    }

    /// What takes units from the queue of a job.
    pub(crate) async fn consumer(&self, job: &str) -> Result<PullConsumer, BrokerError> {
        let (work, name) = (work_subject(job), work_stream(job));
        self.patiently(async || {
            let stream = self.stream(&name).await?;
            match stream.get_consumer(CONSUMER).await {
                Ok(consumer) => Ok(consumer),
                Err(error) => Err(self.why_not_found(&work, error.to_string()).await),
            }
        })
        .await
    }

    /// Says how many slices all workers of a job explore at a time.
    pub(crate) async fn tell_lanes(&self, job: &str, n_lanes: u32) {
        self.tell(job, LANES, to_bytes(&n_lanes)).await;
    }

    /// What was said last of that.
    pub(crate) async fn n_lanes(&self, job: &str) -> Result<u32, BrokerError> {
        let record = self.last(&bucket(job), LANES).await?;
        Ok(record.and_then(|record| of_bytes(&record.value)).unwrap_or(1))
    }

    /// How full the queue of a job is.
    pub async fn queue(&self, job: &str) -> Result<Queue, BrokerError> {
        let mut consumer = self.consumer(job).await?;
        let info = consumer.info().await;
        let info = info.map_err(|error| BrokerError::Away(error.to_string()))?;
        Ok(Queue {
            waiting: info.num_pending,
            taken: info.num_ack_pending as u64,
            redelivered: info.num_redelivered as u64,
        })
    }

    /// The bytes themselves, or where they are stored if they are too many for a message.
    async fn blob(&self, bytes: Vec<u8>) -> Result<Blob, BrokerError> {
        match bytes.len() <= INLINE {
            true => Ok(Blob::Inline(bytes)),
            false => self.store(&bytes).await.map(Blob::Stored),
        }
    }

    /// The bytes of a blob.
    pub(crate) async fn bytes(&self, blob: Blob) -> Result<Vec<u8>, BrokerError> {
        match blob {
            Blob::Inline(bytes) => Ok(bytes),
            Blob::Stored(hash) => self.load(hash).await,
        }
    }

    /// Stores bytes under their hash.
    pub(crate) async fn store(&self, bytes: &[u8]) -> Result<Hash, BrokerError> {
        let hash = Hash::of(bytes);
        self.patiently(async || {
            let store = self.context.get_object_store(BLOBS).await;
            let store = store.map_err(|error| trouble(&error))?;
            let name = hash.to_string();
            if store.info(&name).await.is_ok_and(|it| it.size == bytes.len() && !it.deleted) {
                return Ok(());
            }
            let mut from = bytes;
            store.put(&name[..], &mut from).await.map(drop).map_err(|error| trouble(&error))
        })
        .await?;
        Ok(hash)
    }

    /// The bytes with a hash.
    pub(crate) async fn load(&self, hash: Hash) -> Result<Vec<u8>, BrokerError> {
        let bytes = self
            .patiently(async || {
                let store = self.context.get_object_store(BLOBS).await;
                let store = store.map_err(|error| trouble(&error))?;
                let object = store.get(hash.to_string()).await;
                let mut object = object.map_err(|error| trouble(&error))?;
                let mut bytes = Vec::new();
                object.read_to_end(&mut bytes).await.map_err(|error| trouble(&error))?;
                Ok(bytes)
            })
            .await?;
        if Hash::of(&bytes) == hash { Ok(bytes) } else { Err(BrokerError::Damaged(hash)) }
    }

    /// Waits until all that was told is on its way.
    pub(crate) async fn flush(&self) {
        let _ = self.client.flush().await;
    }
}

/// What makes a message unlike those before it.
#[derive(Clone, Copy)]
enum Unique<'a> {
    /// There is none before it.
    First,
    /// It has this name.
    Named(&'a str),
}

fn record(bucket: &str, message: jetstream::message::StreamMessage) -> Record {
    let before = key_subject(bucket, "");
    let key = message.subject.as_str();
    let key = key.strip_prefix(&before).unwrap_or(key).to_owned();
    Record { sequence: message.sequence, key, value: message.payload.to_vec() }
}

/// Takes one unit, if one comes within a while.
pub(crate) async fn take(
    consumer: &PullConsumer,
    within: Duration,
) -> Result<Option<jetstream::Message>, BrokerError> {
    let away = |error: &dyn std::fmt::Display| BrokerError::Away(error.to_string());
    let batch = consumer.batch().max_messages(1).expires(within);
    let mut messages = batch.messages().await.map_err(|error| away(&error))?;
    // A server that goes away in the meantime says nothing.
    match tokio::time::timeout(within + Duration::from_secs(2), messages.next()).await {
        Err(_) | Ok(None) => Ok(None),
        Ok(Some(Ok(message))) => Ok(Some(message)),
        Ok(Some(Err(error))) => Err(away(&error)),
    }
}

/// An address that may be shown.
fn without_password(url: &str) -> String {
    match (url.split_once("://"), url.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, host))) => format!("{scheme}://{host}"),
        _ => url.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_not_shown() {
        assert_eq!(without_password("nats://me:secret@host:4222"), "nats://host:4222");
        assert_eq!(without_password("nats://host:4222"), "nats://host:4222");
    }
}
