//! A worker: takes units of jobs that are signed by a key it trusts, and explores them.
//!
//! ```text
//! take a unit (it goes to another worker if this one is silent for the patience of the job)
//! if it has a record: put the children of that into the queue again, and be done with it
//! explore it for a slice; divide what is left
//! write the record, if there is none          ← the only point that counts
//! put the children of the record that is there into the queue; be done with the unit
//! ```
//!
//! A worker that is killed before the record loses its slice; one that is killed behind it leaves
//! the children to the worker that is given the unit next, or to the asker.

use crate::block_on;
use crate::broker::{Access, Broker, BrokerError, VOID, take};
use crate::job::{Job, JobError, Signed, Version};
use crate::keys::PublicKey;
use crate::record::{Commit, Failure, Message, Sign, of_bytes, to_bytes};
use crate::slice::{Done, Order, Program, Sandbox, Slice};
use async_nats::jetstream;
use async_nats::jetstream::AckKind;
use async_nats::jetstream::consumer::PullConsumer;
use futures_util::future::join_all;
use mazurka_check::{Fault, Faults};
use mazurka_explore::Saved;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::Mutex;

/// How often a worker looks which jobs there are.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// How long it waits for a unit of a job before it looks at the next one.
const WAIT: Duration = Duration::from_millis(400);
const POLL_EVERY: Duration = Duration::from_millis(10);
/// A unit is divided into so many at the most.
const MAX_CHILDREN: u32 = 16;
/// A slice that comes to nothing, or to few executions only, is followed by ones of twice the time,
/// and so on, up to so many times: to begin one takes its time, too, on a machine with much to do
/// most of it. A unit whose worker was killed is given half the time again: where workers live for
/// a few seconds, it would never have its record otherwise.
const MAX_DOUBLED: u32 = 5;
/// So many executions are few, and so many enough for shorter slices.
const FEW: u64 = 16;
const MANY: u64 = 1_000;

/// What a worker is to do.
#[derive(Debug)]
pub struct Work {
    /// Where the broker is.
    pub access: Access,
    /// Whose jobs it takes.
    pub trusted: Vec<PublicKey>,
    /// How many slices it explores at a time.
    pub jobs: u32,
    /// What the programs may do.
    pub sandbox: Sandbox,
    /// The runtime library.
    pub library: PathBuf,
    /// What the worker is called: letters, digits, `-` and `_`.
    pub name: String,
}

/// Works until `stop` is set. `tell` hears sentences for people.
pub fn work(work: &Work, stop: &AtomicBool, tell: &dyn Fn(&str)) -> Result<(), Faults> {
    let version = Version::of(&work.library)?;
    let done = block_on(async {
        let broker = Broker::connect(&work.access, true).await?;
        tell("connected");
        let worker = Worker {
            work,
            version,
            broker,
            stop,
            tell,
            jobs: Mutex::new(Jobs::default()),
            signs: RefCell::default(),
        };
        let lanes = (0..work.jobs.max(1)).map(|lane| worker.lane(lane as usize));
        join_all(lanes).await.into_iter().collect::<Result<(), Fault>>()
    })?;
    done.map_err(Into::into)
}

struct Worker<'a> {
    work: &'a Work,
    version: Version,
    broker: Broker,
    stop: &'a AtomicBool,
    tell: &'a dyn Fn(&str),
    jobs: Mutex<Jobs>,
    signs: RefCell<BTreeMap<String, Signs>>,
}

/// What is said of a job, and the executions that run in each lane.
#[derive(Default)]
struct Signs {
    sign: Sign,
    running: BTreeMap<usize, u64>,
}

/// The jobs that there are.
#[derive(Default)]
struct Jobs {
    looked: Option<Instant>,
    /// Each with its signed form, and what this worker makes of it.
    all: BTreeMap<String, (Vec<u8>, Known)>,
}

#[derive(Clone)]
enum Known {
    Taken(Rc<Taken>),
    Refused,
}

/// A job that this worker takes.
struct Taken {
    job: Job,
    program: Program,
    known: Vec<u8>,
    consumer: PullConsumer,
}

impl Worker<'_> {
    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Takes one unit after the other.
    async fn lane(&self, lane: usize) -> Result<(), Fault> {
        while !self.is_stopped() {
            let jobs = match self.jobs().await {
                Ok(jobs) => jobs,
                Err(error) => {
                    (self.tell)(&error.to_string());
                    tokio::time::sleep(LOOK_EVERY).await;
                    continue;
                }
            };
            if jobs.is_empty() {
                tokio::time::sleep(LOOK_EVERY).await;
            }
            for taken in jobs {
                match take(&taken.consumer, WAIT).await {
                    Ok(Some(message)) => self.handle(lane, &taken, &message).await,
                    Ok(None) => {}
                    // It is told by the next look for jobs, if that lasts.
                    Err(_) => tokio::time::sleep(LOOK_EVERY).await,
                }
            }
        }
        Ok(())
    }

    /// The jobs that this worker takes.
    async fn jobs(&self) -> Result<Vec<Rc<Taken>>, BrokerError> {
        let mut jobs = self.jobs.lock().await;
        if jobs.looked.is_none_or(|at| at.elapsed() >= LOOK_EVERY) {
            let there = self.broker.jobs().await?;
            jobs.all.retain(|id, _| there.iter().any(|(other, _)| other == id));
            self.signs.borrow_mut().retain(|id, _| there.iter().any(|(other, _)| other == id));
            for (id, bytes) in there {
                if jobs.all.get(&id).is_some_and(|(known, _)| *known == bytes) {
                    continue;
                }
                let known = match self.look_at(&id, &bytes).await {
                    Ok(taken) => {
                        (self.tell)(&format!("takes job {id}: {}", taken.job.name));
                        Known::Taken(Rc::new(taken))
                    }
                    Err(fault) => {
                        let text = fault.to_string();
                        (self.tell)(&format!("refuses job {id}: {text}"));
                        self.signs.borrow_mut().entry(id.clone()).or_default().sign.refuses =
                            Some(text);
                        self.sign(&id).await;
                        Known::Refused
                    }
                };
                jobs.all.insert(id, (bytes, known));
            }
            jobs.looked = Some(Instant::now());
        }
        let taken = |(_, known): &(Vec<u8>, Known)| match known {
            Known::Taken(taken) => Some(Rc::clone(taken)),
            Known::Refused => None,
        };
        Ok(jobs.all.values().filter_map(taken).collect())
    }

    /// Brings a job here, if it can be explored.
    async fn look_at(&self, id: &str, bytes: &[u8]) -> Result<Taken, Fault> {
        let refused = |error: JobError| Fault::input(error.to_string());
        let signed = Signed::from_bytes(bytes).map_err(refused)?;
        let job = signed.open(&self.work.trusted).map_err(refused)?;
        if job.id != id {
            // Another worker has put it there.
            return Err(refused(JobError::Untrusted));
        }
        if job.version != self.version {
            let (theirs, ours) = (job.version.mazurka, self.version.mazurka.clone());
            return Err(refused(JobError::OtherVersion { theirs, ours }));
        }
        let program = self.broker.load(job.program).await?;
        let known = self.broker.load(job.known).await?;
        let sandbox = &self.work.sandbox;
        let program = Program::new(sandbox, &program, &self.work.library)?;
        let here = program.libraries(sandbox)?;
        let is_here = |library: &&(String, crate::record::Hash)| !here.contains(library);
        let others: Vec<String> =
            job.libraries.iter().filter(is_here).map(|(name, _)| name.clone()).collect();
        if !others.is_empty() {
            return Err(refused(JobError::OtherLibraries(others)));
        }
        let consumer = self.broker.consumer(id).await?;
        Ok(Taken { job, program, known, consumer })
    }

    /// Says how far this worker is.
    async fn sign(&self, job: &str) {
        let sign = {
            let signs = self.signs.borrow();
            let Some(signs) = signs.get(job) else { return };
            let mut sign = signs.sign.clone();
            sign.jobs = self.work.jobs;
            sign.running = signs.running.values().sum();
            sign
        };
        let bytes = serde_json::to_vec(&sign).expect("everything in it can be written");
        self.broker.tell(job, &format!("w.{}", self.work.name), bytes).await;
    }

    fn note(&self, job: &str, note: impl FnOnce(&mut Signs)) {
        note(self.signs.borrow_mut().entry(job.to_owned()).or_default());
    }

    /// Does what a unit asks for.
    async fn handle(&self, lane: usize, taken: &Taken, message: &jetstream::Message) {
        let done = self.explore(lane, taken, message).await;
        self.note(&taken.job.id, |signs| {
            signs.running.remove(&lane);
        });
        self.sign(&taken.job.id).await;
        match done {
            // The unit was given back.
            Err(BrokerError::Gone) if self.is_stopped() => {}
            Ok(()) | Err(BrokerError::Gone) => {
                // A unit that is not acknowledged comes again, and has a record then.
                let _ = tokio::time::timeout(Duration::from_secs(2), message.double_ack()).await;
            }
            Err(error) => {
                (self.tell)(&error.to_string());
                let later = AckKind::Nak(Some(Duration::from_secs(1)));
                let _ = message.ack_with(later).await;
            }
        }
    }

    async fn explore(
        &self,
        lane: usize,
        taken: &Taken,
        message: &jetstream::Message,
    ) -> Result<(), BrokerError> {
        let Taken { job, program, known, .. } = taken;
        let id = &job.id;
        let deliveries = message.info().map_or(1, |info| info.delivered.max(1) as u64);
        let waiting = message.info().map_or(0, |info| info.pending);
        // What is no unit was put there by another program: the queue is open to all of an account.
        let Some(work) = of_bytes::<Message>(&message.payload) else { return Ok(()) };
        let bytes = self.broker.bytes(work.unit).await?;
        let unit = Saved::from_bytes(&bytes);
        let (Ok(mut unit), true) = (unit, work.parent.child(work.idx, &bytes) == work.id) else {
            return Ok(());
        };
        if deliveries > 1 {
            self.note(id, |signs| signs.sign.redelivered += 1);
        }
        if let Some(commit) = self.broker.commit_of(id, work.id).await? {
            return self.broker.enqueue_rest(id, work.id, &commit).await;
        }
        unit.set_system(known.clone());
        let n_failures = match deliveries {
            1 => 0,
            _ => self.broker.n_failures(id, work.id).await?,
        };
        let n_killed = u32::try_from(deliveries - 1).unwrap_or(u32::MAX).saturating_sub(n_failures);
        let doubled = (work.longer + n_failures).saturating_sub(n_killed).min(MAX_DOUBLED);
        let order = Order::Explore {
            job: Box::new(job.clone()),
            time: Some(job.slice * (1 << doubled)),
            executions: None,
            memory: self.work.sandbox.memory,
        };
        let done = match Slice::start(&self.work.sandbox, program, order, Some(&unit)) {
            Ok(slice) => self.watch(lane, job, slice, message).await?,
            Err(fault) => Ok(Done::Failed { text: fault.to_string(), is_final: false }),
        };
        let failed = |text: String, is_final| async move {
            let failure = Failure { unit: work.id, worker: self.work.name.clone(), text, is_final };
            self.note(id, |signs| signs.sign.in_vain += 1);
            self.broker.fail(id, work.id, &to_bytes(&failure)).await?;
            Err(BrokerError::Refused(failure.text))
        };
        let left = match done {
            Ok(Done::Left(left)) => left,
            Ok(Done::Void(lesson)) => return self.void(id, lesson).await,
            Ok(Done::Failed { text, is_final }) => return failed(text, is_final).await,
            Ok(other) => return failed(format!("a slice came to {other:?}"), true).await,
            Err(fault) => return failed(fault.to_string(), false).await,
        };
        if left.system() != &known[..] && !left.has_violation() {
            return self.void(id, Some(Box::new(left.begun_again()))).await;
        }
        let counted = left.statistics();
        if counted.executions + counted.blocked_executions == 0
            && doubled == MAX_DOUBLED
            && left.n_units() > 0
        {
            let text = format!("no execution has ended in {:?}", job.slice * (1 << doubled));
            return failed(text, false).await;
        }
        let n_children = self.n_children(id, waiting).await?;
        let (mut results, children) = left.deal(n_children);
        results.set_system(Vec::new());
        let executions = results.statistics().executions;
        let commit = Commit {
            results: results.to_bytes(),
            children: children.iter().map(Saved::to_bytes).collect(),
            worker: self.work.name.clone(),
            deliveries,
            longer: match executions {
                0..FEW => (doubled + 1).min(MAX_DOUBLED),
                MANY.. => doubled.saturating_sub(1),
                _ => doubled,
            },
        };
        if self.broker.commit(id, work.id, &commit).await? {
            self.note(id, |signs| {
                signs.sign.slices += 1;
                signs.sign.executions += executions;
            });
            return self.broker.enqueue_children(id, work.id, &commit).await;
        }
        // Another worker was first, and its record counts.
        self.note(id, |signs| signs.sign.in_vain += 1);
        match self.broker.commit_of(id, work.id).await? {
            Some(first) => self.broker.enqueue_rest(id, work.id, &first).await,
            None => Ok(()),
        }
    }

    /// More was learnt than the job knew: it begins again with that.
    async fn void(&self, job: &str, lesson: Option<Box<Saved>>) -> Result<(), BrokerError> {
        (self.tell)(&format!("job {job} begins again: more is known of the program"));
        let lesson = match lesson {
            Some(lesson) => Some(self.broker.store(&lesson.to_bytes()).await?),
            None => None,
        };
        self.broker.create(job, VOID, &to_bytes(&lesson)).await.map(drop)
    }

    /// Waits for a slice, and says meanwhile that it is explored.
    async fn watch(
        &self,
        lane: usize,
        job: &Job,
        mut slice: Slice,
        message: &jetstream::Message,
    ) -> Result<Result<Done, Fault>, BrokerError> {
        let every = (job.patience / 4).min(Duration::from_secs(1));
        let mut told = Instant::now();
        loop {
            match slice.poll() {
                Ok(None) => {}
                Ok(Some(done)) => return Ok(Ok(done)),
                Err(fault) => return Ok(Err(fault)),
            }
            if self.is_stopped() {
                // Another worker goes on with it at once.
                let _ = message.ack_with(AckKind::Nak(None)).await;
                self.broker.flush().await;
                return Err(BrokerError::Gone);
            }
            if told.elapsed() >= every {
                told = Instant::now();
                // If it is lost, the unit is explored twice, and counted once.
                let _ = message.ack_with(AckKind::Progress).await;
                let executions = slice.executions();
                self.note(&job.id, |signs| {
                    signs.running.insert(lane, executions);
                });
                self.sign(&job.id).await;
                let gone = tokio::time::timeout(every, self.broker.has_job(&job.id)).await;
                if let Ok(Ok(false)) = gone {
                    return Err(BrokerError::Gone);
                }
            }
            tokio::time::sleep(POLL_EVERY).await;
        }
    }

    /// Into how many units the rest of a slice is divided: one, as long as enough of them wait for
    /// all lanes of all workers.
    async fn n_children(&self, job: &str, waiting: u64) -> Result<u32, BrokerError> {
        let n_lanes = self.broker.n_lanes(job).await?.max(self.work.jobs);
        let is_enough = n_lanes == 1 || waiting >= u64::from(n_lanes);
        Ok(if is_enough { 1 } else { (2 * n_lanes).min(MAX_CHILDREN) })
    }
}
