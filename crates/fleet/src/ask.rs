//! The asker: explores a little alone, deals out the rest, and adds up what workers record.

use crate::block_on;
use crate::broker::{Access, Broker, BrokerError, FAILED, MAX_FAILURES, VOID, committed};
use crate::job::{Job, Signed, Version};
use crate::keys::{PrivateKey, hex};
use crate::ledger::Ledger;
use crate::record::{Commit, Failure, Hash, UnitId, of_bytes};
use crate::slice::{Done, Order, Program, Sandbox, Slice};
use crate::status::{JobStatus, Signs};
use mazurka_check::native::{build, folder};
use mazurka_check::{Ending, Engine, Fault, Faults, Feature, Listener, Outcome, Task, split_merge};
use mazurka_core::{Event, Limit, Phase, Progress, Verdict};
use mazurka_explore::Saved;
use ring::rand::{SecureRandom as _, SystemRandom};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// So many executions are explored alone at first, to learn what the program does; and so many
/// times as many each time that more was learnt by a worker.
const FIRST: u64 = 1_000;
const MORE: u64 = 10;
const MOST: u64 = 100_000;
/// How often a search begins again.
const ATTEMPTS: u32 = 30;
/// What is left at first is dealt out into so many units.
const FIRST_UNITS: u32 = 16;
/// How long one look may take before limits and interrupts are looked at.
const LOOK_FOR: Duration = Duration::from_secs(1);
/// How long it may take to remove a job.
const REMOVE_FOR: Duration = Duration::from_secs(5);
/// How long a broker may be away.
const AWAY_FOR: Duration = Duration::from_secs(300);
const LOOK_EVERY: Duration = Duration::from_millis(100);
const TELL_EVERY: Duration = Duration::from_millis(500);
/// How long the queue may be empty, with units that have no record, before they are put there
/// again.
const EMPTY_FOR: Duration = Duration::from_secs(3);

/// What an asker wants.
#[derive(Debug)]
pub struct Ask<'a> {
    /// Where the broker is.
    pub access: Access,
    /// What jobs are signed with.
    pub key: PrivateKey,
    /// The program, and how it is explored.
    pub task: &'a Task,
    /// The engine: the one that runs programs.
    pub engine: &'static dyn Engine,
    /// How long a unit is explored before the rest of it is dealt out again.
    pub slice: Duration,
    /// The runtime library.
    pub library: PathBuf,
}

/// Has workers explore a program, and waits for what comes of it. `show` sees how far they are.
pub fn ask(
    ask: &Ask<'_>,
    listener: &dyn Listener,
    show: &dyn Fn(&JobStatus),
) -> Result<Outcome, Faults> {
    let faults = refusals(ask);
    if !faults.is_empty() {
        return Err(faults);
    }
    let begun = Instant::now();
    listener.event(&Event::Phase(Phase::Compiling));
    let built = folder()?;
    let words = build(ask.task, built.path())?;
    let (file, arguments) = words.split_first().expect("a program has a name");
    let program = std::fs::read(file).map_err(|error| {
        Fault::input(format!("`{}` cannot be read: {error}", Path::new(file).display()))
    })?;
    let sandbox = Sandbox::new(ask.task.options.memory_limit);
    let alone = Program::new(&sandbox, &program, &ask.library)?;
    let job = Job {
        id: String::new(),
        name: ask.task.input.name(),
        version: Version::of(&ask.library)?,
        program: Hash::of(&program),
        arguments: arguments.to_vec(),
        libraries: alone.libraries(&sandbox)?,
        options: Job::options_of(&ask.task.options),
        known: Hash::of(b""),
        slice: ask.slice,
        patience: patience(ask.slice),
    };
    let mut asker = Asker {
        ask,
        listener,
        show,
        begun,
        sandbox,
        alone,
        job,
        program,
        known: Vec::new(),
        restarts: 0,
    };
    block_on(asker.run())?
}

/// How long a worker may be silent.
fn patience(slice: Duration) -> Duration {
    (2 * slice).max(Duration::from_secs(2))
}

/// What of a task is not for workers; all of it.
fn refusals(ask: &Ask<'_>) -> Faults {
    let options = &ask.task.options;
    let mut faults = Faults::new();
    let mut refuse = |is_asked: bool, what: &str| {
        if is_asked {
            faults.push(Fault::input(format!("`--workers` does not go with {what}")));
        }
    };
    let engine = ask.engine.name();
    let runs = ask.engine.supports().features.contains(&Feature::Processes);
    refuse(!runs, &format!("`--engine {engine}`: workers run programs natively"));
    refuse(options.jobs.is_some(), "`--jobs`: each worker has its own");
    refuse(options.iterate, "`--iterate`");
    refuse(options.show_executions.is_some(), "`--show executions`: workers tell what they count");
    let mut explored = options.explored();
    explored.ladder = false;
    let needs = "this search: it needs `--reduction optimal`, depth first, `--memory sc`, and \
                 neither `--coverage` nor `--sample`";
    refuse(!explored.may_be_shared() || options.graphs_of().is_some(), needs);
    let is_real = |wish: &String| wish.starts_with("real");
    refuse(options.allow.iter().any(is_real), "`--allow real=…`: it acts on one machine");
    faults
}

struct Asker<'a> {
    ask: &'a Ask<'a>,
    listener: &'a dyn Listener,
    show: &'a dyn Fn(&JobStatus),
    begun: Instant,
    sandbox: Sandbox,
    alone: Program,
    job: Job,
    program: Vec<u8>,
    /// What has to be known of the program before a unit is explored.
    known: Vec<u8>,
    restarts: u32,
}

/// How workers have come to an end.
enum End {
    /// Every unit has its record, or something goes wrong in one.
    Known(Box<Saved>),
    /// A limit was reached: what was explored, and what is left.
    Limit(Limit, Box<Saved>),
    /// More was learnt than the job knew: the search at its start that knows it, if there is one.
    Void(Option<Box<Saved>>),
}

impl Asker<'_> {
    async fn run(&mut self) -> Result<Outcome, Faults> {
        let broker = Broker::connect(&self.ask.access, false).await?;
        let mut lesson: Option<Box<Saved>> = match &self.ask.task.options.resume {
            Some(path) => Some(Box::new(
                Saved::read(path)
                    .map_err(|error| Fault::input(format!("`{}`: {error}", path.display())))?,
            )),
            None => None,
        };
        let is_resumed = lesson.is_some();
        let mut n_first = FIRST;
        self.listener.event(&Event::Phase(Phase::Searching));
        loop {
            let left = match lesson.take() {
                Some(saved) if !saved.is_at_start() => saved,
                lesson => match self.explore_alone(n_first, lesson.as_deref()).await? {
                    Some(left) => left,
                    // It is small enough to be decided here, with all that can be told of it.
                    None => {
                        let mut task = self.ask.task.clone();
                        task.options.ladder = false;
                        return self.ask.engine.check(&task, self.listener);
                    }
                },
            };
            if !left.can_be_split() || left.part().is_some() {
                let text = "this search cannot be dealt out: its units belong together";
                return Err(Fault::input(text).into());
            }
            match self.deal(&broker, *left).await? {
                End::Known(whole) => return self.conclude(&whole),
                End::Limit(limit, whole) => return self.stop(limit, &whole),
                End::Void(_) if is_resumed => {
                    let text = "the program does something that was not known when the search was \
                                saved, and that changes what is left of it: begin it anew";
                    return Err(Fault::input(text).into());
                }
                End::Void(learnt) => {
                    self.restarts += 1;
                    if self.restarts >= ATTEMPTS {
                        let text = "workers learn something new of the program in every search";
                        return Err(Fault::input(text).into());
                    }
                    self.listener.event(&Event::Phase(Phase::Learning));
                    lesson = learnt;
                    n_first = (n_first * MORE).min(MOST);
                }
            }
        }
    }

    /// Explores so many executions as a worker would. Nothing, if that is all.
    async fn explore_alone(
        &self,
        n_executions: u64,
        lesson: Option<&Saved>,
    ) -> Result<Option<Box<Saved>>, Faults> {
        let order = Order::Explore {
            job: Box::new(self.job.clone()),
            time: None,
            executions: Some(n_executions),
            memory: self.sandbox.memory,
        };
        let mut slice = Slice::start(&self.sandbox, &self.alone, order, lesson)?;
        let done = loop {
            if self.ask.task.is_stopped() {
                let text = "interrupted before anything was dealt out";
                return Err(Fault::limit(Limit::Interrupted, text).into());
            }
            match slice.poll()? {
                Some(done) => break done,
                None => tokio::time::sleep(LOOK_EVERY / 10).await,
            }
        };
        match done {
            Done::Left(left) if left.has_violation() || left.n_units() == 0 => Ok(None),
            Done::Left(left) => Ok(Some(left)),
            Done::Decided => Ok(None),
            Done::Failed { text, .. } => Err(Fault::input(text).into()),
            other => Err(Fault::defect(format!("a slice has come to {other:?}")).into()),
        }
    }

    /// Makes a job of what is left of a search, and waits for its end.
    async fn deal(&mut self, broker: &Broker, left: Saved) -> Result<End, Faults> {
        let mut random = [0; 8];
        let drawn = SystemRandom::new().fill(&mut random);
        drawn.map_err(|_| Fault::defect("the system gives no random numbers"))?;
        self.job.id = hex(&random);
        let id = self.job.id.clone();
        broker.store(&self.program).await.map_err(Fault::from)?;
        self.known = left.system().to_vec();
        self.job.known = broker.store(&self.known).await.map_err(Fault::from)?;
        broker.create_job(&id, self.job.patience).await.map_err(Fault::from)?;
        let ended = self.dealt(broker, left).await;
        // What is not asked for any more is removed, also if something went wrong. A broker that is
        // away keeps it for `mazurka fleet cancel`.
        let _ = tokio::time::timeout(REMOVE_FOR, broker.end_job(&id)).await;
        let mut end = ended?;
        if let End::Known(whole) | End::Limit(_, whole) = &mut end {
            whole.set_system(self.known.clone());
        }
        Ok(end)
    }

    async fn dealt(&self, broker: &Broker, left: Saved) -> Result<End, Faults> {
        let id = &self.job.id;
        let root = UnitId::root(id);
        let (mut results, units) = left.deal(FIRST_UNITS);
        results.set_system(Vec::new());
        let first = Commit {
            results: results.to_bytes(),
            children: units.iter().map(Saved::to_bytes).collect(),
            worker: "asker".to_owned(),
            deliveries: 1,
            longer: 0,
        };
        let fault = |error: BrokerError| Fault::from(error);
        broker.commit(id, root, &first).await.map_err(fault)?;
        broker.enqueue_children(id, root, &first).await.map_err(fault)?;
        let signed = Signed::new(&self.job, &self.ask.key);
        broker.publish_job(id, &signed).await.map_err(fault)?;
        let mut waiting = Waiting {
            asker: self,
            broker,
            ledger: Ledger::new(root),
            signs: Signs::default(),
            failures: BTreeMap::new(),
            signed,
            missing_since: None,
            behind: 0,
            again: Again::No,
            requeued: 0,
            empty_since: None,
            told: Instant::now(),
            last: (Instant::now(), 0),
            heard: Instant::now(),
        };
        let ended = waiting.wait().await;
        ended.map_err(|faults| self.rescue(&waiting.ledger, faults))
    }

    /// Saves what is known of a job that cannot go on, if the user has named a file for it.
    fn rescue(&self, ledger: &Ledger, mut faults: Faults) -> Faults {
        let whole = ledger.whole().ok().flatten();
        if let (Some(path), Some(mut whole)) = (&self.ask.task.options.save, whole) {
            whole.set_system(self.known.clone());
            faults.push(match whole.write(path) {
                Ok(()) => {
                    let command = self.ask.task.resume_command(self.ask.engine, path);
                    Fault::input(format!("what was explored is saved in `{}`", path.display()))
                        .help(format!("`{command}` goes on"))
                }
                Err(error) => {
                    Fault::input(format!("`{}` cannot be written: {error}", path.display()))
                }
            });
        }
        faults
    }

    /// Has the engine tell what comes of a search of which nothing is left, or in which something
    /// goes wrong. A violation is followed here once more.
    fn conclude(&self, whole: &Saved) -> Result<Outcome, Faults> {
        let unwritable = |error: std::io::Error| {
            Fault::input(format!("there is no folder for what workers have found: {error}"))
        };
        let folder = folder()?;
        let path = folder.path().join("whole.mzs");
        whole.write(&path).map_err(unwritable)?;
        let mut task = self.ask.task.clone();
        task.options.ladder = false;
        task.options.resume = Some(path.clone());
        task.options.save = Some(path);
        task.options.time_limit = None;
        task.options.max_executions = None;
        let mut outcome = self.ask.engine.check(&task, self.listener)?;
        if let Verdict::Violated(found) = &outcome.verdict {
            let schedule = found.schedule.clone();
            let replay = task.replay_by(self.ask.engine, &schedule, &())?;
            if !matches!(replay.ending, Ending::Violated { .. }) {
                let text = "a worker has found a violation that does not come about here: the \
                            program depends on something outside of it";
                return Err(Fault::input(text).into());
            }
        }
        outcome.elapsed = self.begun.elapsed();
        outcome.saved = None;
        outcome.notes.push(self.environment());
        if let Some(path) = &self.ask.task.options.save {
            // There may be one of an attempt before.
            let _ = std::fs::remove_file(path);
        }
        Ok(outcome)
    }

    /// What is known when a limit is reached; the rest is saved.
    fn stop(&self, limit: Limit, whole: &Saved) -> Result<Outcome, Faults> {
        let saving = self.ask.task.saving();
        let mut saved = None;
        if let Some(saving) = saving.filter(|saving| self.begun.elapsed() >= saving.after) {
            let written = whole.write(&saving.path);
            if let (Err(error), true) = (&written, saving.is_asked) {
                let text = format!("`{}` cannot be written: {error}", saving.path.display());
                return Err(Fault::input(text).into());
            }
            saved = written.is_ok().then_some(saving.path);
        }
        let (engine, statistics) = (self.ask.engine, whole.statistics());
        let mut outcome =
            split_merge::stopped(self.ask.task, engine, limit, statistics, self.begun);
        outcome.saved = saved;
        outcome.notes.push(self.environment());
        Ok(outcome)
    }

    fn environment(&self) -> String {
        "workers run the program in an empty folder, with `PATH` and `LANG` alone of its \
         environment"
            .to_owned()
    }
}

/// A job that is explored.
struct Waiting<'a> {
    asker: &'a Asker<'a>,
    broker: &'a Broker,
    ledger: Ledger,
    signs: Signs,
    /// Units that have come to nothing, by the keys of the records.
    failures: BTreeMap<String, Failure>,
    /// The job as it was published.
    signed: Signed,
    /// Since when the broker does not know of it any more.
    missing_since: Option<Instant>,
    /// The last record that was read.
    behind: u64,
    /// Whether all records are read once more.
    again: Again,
    requeued: u64,
    empty_since: Option<Instant>,
    told: Instant,
    /// When progress was told, and how many executions there were.
    last: (Instant, u64),
    /// When the broker has answered last.
    heard: Instant,
}

/// Whether all records are read once more.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Again {
    No,
    Begun,
    Done,
}

impl Waiting<'_> {
    async fn wait(&mut self) -> Result<End, Faults> {
        let job = &self.asker.job;
        let read = |error: mazurka_explore::SavedError| Fault::defect(error.to_string());
        loop {
            // A broker that is away is waited for, but not longer than the user does.
            let looked = tokio::time::timeout(LOOK_FOR, self.look()).await;
            match looked {
                Ok(looked) => {
                    self.heard = Instant::now();
                    if let Some(end) = looked? {
                        return Ok(end);
                    }
                    if self.again == Again::Begun {
                        self.again = Again::Done;
                    }
                }
                Err(_) if self.heard.elapsed() >= AWAY_FOR => {
                    let text = format!("the broker has not answered for {AWAY_FOR:?}");
                    return Err(Fault::input(text).into());
                }
                Err(_) => {}
            }
            if self.ledger.has_violation() || self.ledger.is_complete() {
                self.tell(crate::broker::Queue::default());
                let whole = self.ledger.results().expect("the first record is there");
                return Ok(End::Known(Box::new(whole)));
            }
            let limit = self.limit();
            if let (Some(limit), Some(whole)) = (limit, self.ledger.whole().map_err(read)?) {
                return Ok(End::Limit(limit, Box::new(whole)));
            }
            if self.told.elapsed() >= TELL_EVERY {
                self.told = Instant::now();
                let queue =
                    tokio::time::timeout(Duration::from_secs(2), self.broker.queue(&job.id)).await;
                let queue = queue.ok().and_then(Result::ok);
                self.tell(queue.unwrap_or_default());
                self.broker.tell_lanes(&job.id, self.signs.n_lanes().max(1)).await;
                if let Some(queue) = queue {
                    self.mend(queue).await?;
                }
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    /// The limit that is reached, if one is.
    fn limit(&self) -> Option<Limit> {
        let task = self.asker.ask.task;
        let elapsed = self.asker.begun.elapsed();
        let is_over = |limit: &Duration| elapsed >= *limit;
        if task.is_stopped() {
            return Some(Limit::Interrupted);
        }
        if let Some(limit) = task.options.time_limit.filter(is_over) {
            return Some(Limit::Time(limit));
        }
        let executions = self.ledger.statistics().executions;
        let max = task.options.max_executions.filter(|max| executions >= *max);
        max.map(Limit::Executions)
    }

    /// Reads what was written since the last look. An end, if that says so.
    async fn look(&mut self) -> Result<Option<End>, Faults> {
        let id = &self.asker.job.id;
        loop {
            let records = match self.broker.records(id, self.behind).await {
                Ok(records) => records,
                Err(BrokerError::Gone) => {
                    let text = format!("job {id} was cancelled");
                    return Err(Fault::limit(Limit::Interrupted, text).into());
                }
                Err(error) => return Err(Fault::from(error).into()),
            };
            if records.is_empty() {
                return Ok(None);
            }
            for record in records {
                if let Some(unit) = committed(&record.key) {
                    let commit = self.broker.read_commit(&record.value).await;
                    let commit = commit.map_err(Fault::from)?;
                    let recorded = self.ledger.record(unit, commit);
                    recorded.map_err(|error| Fault::defect(error.to_string()))?;
                } else if record.key == VOID {
                    let lesson: Option<Hash> = of_bytes(&record.value).flatten();
                    let lesson = match lesson {
                        Some(hash) => {
                            let bytes = self.broker.load(hash).await.map_err(Fault::from)?;
                            Saved::from_bytes(&bytes).ok().map(Box::new)
                        }
                        None => None,
                    };
                    return Ok(Some(End::Void(lesson)));
                } else if record.key.starts_with(FAILED) {
                    if let Some(failure) = of_bytes::<Failure>(&record.value) {
                        self.fail_if_hopeless(&record.key, failure)?;
                    }
                } else {
                    self.signs.hear(&record.key, &record.value);
                }
                // Only now: a look that is given up in the middle begins there again.
                self.behind = record.sequence;
            }
        }
    }

    /// A unit that comes to nothing wherever it is explored ends the job.
    fn fail_if_hopeless(&mut self, key: &str, failure: Failure) -> Result<(), Fault> {
        let Failure { unit, worker, text, is_final } = failure.clone();
        self.failures.insert(key.to_owned(), failure);
        let same = self.failures.values().filter(|it| it.unit == unit).count();
        if same < MAX_FAILURES as usize && !is_final {
            return Ok(());
        }
        let text = format!("unit {unit} comes to nothing, the last time at `{worker}`: {text}");
        let help = "the program may depend on something outside of it, such as files or time: \
                    workers run it in an empty folder, with `PATH` and `LANG` alone";
        Err(Fault::input(text).help(help))
    }

    /// Puts units into the queue again that the broker has lost: they have no record, and nothing
    /// is there or under way.
    async fn mend(&mut self, queue: crate::broker::Queue) -> Result<(), Faults> {
        let published = tokio::time::timeout(LOOK_FOR, self.publish_again()).await;
        published.unwrap_or(Ok(()))?;
        if queue.waiting + queue.taken > 0 {
            (self.empty_since, self.again) = (None, Again::No);
            return Ok(());
        }
        let since = *self.empty_since.get_or_insert_with(Instant::now);
        if since.elapsed() < EMPTY_FOR {
            return Ok(());
        }
        // A server that was killed may have lost its last records, and given their numbers to
        // others: so all of them are read once more, before anything is put there again.
        match self.again {
            Again::No => {
                (self.again, self.behind) = (Again::Begun, 0);
                return Ok(());
            }
            Again::Begun => return Ok(()),
            Again::Done => self.again = Again::No,
        }
        self.empty_since = None;
        for (unit, parent, idx, bytes) in self.ledger.open() {
            self.requeued += 1;
            // A name of its own: the broker would take it for one that it has had before.
            let attempt = u32::try_from(self.requeued).unwrap_or(u32::MAX);
            let id = &self.asker.job.id;
            let put = self.broker.enqueue(id, (unit, parent, idx), bytes, (attempt, 0)).await;
            put.map_err(Fault::from)?;
        }
        Ok(())
    }

    /// Lets workers take the job again, if the broker has lost that. Who ends a job removes its
    /// queue, too, and at once.
    async fn publish_again(&mut self) -> Result<(), Faults> {
        let id = &self.asker.job.id;
        if self.broker.has_job(id).await.map_err(Fault::from)? {
            self.missing_since = None;
            return Ok(());
        }
        let since = *self.missing_since.get_or_insert_with(Instant::now);
        if since.elapsed() >= EMPTY_FOR {
            self.missing_since = None;
            self.broker.publish_job(id, &self.signed).await.map_err(Fault::from)?;
        }
        Ok(())
    }

    /// Tells how far all are.
    fn tell(&mut self, queue: crate::broker::Queue) {
        let status = JobStatus {
            job: self.asker.job.id.clone(),
            program: self.asker.job.name.clone(),
            statistics: self.ledger.statistics(),
            recorded: self.ledger.n_recorded() as u64,
            open: self.ledger.n_open() as u64,
            queue,
            restarts: self.asker.restarts,
            requeued: self.requeued,
            workers: self.signs.workers(),
        };
        (self.asker.show)(&status);
        let mut statistics = status.statistics;
        statistics.executions += self.signs.running();
        let (at, before) = self.last;
        let seconds = at.elapsed().as_secs_f64().max(0.001);
        let rate = statistics.executions.saturating_sub(before) as f64 / seconds;
        self.last = (Instant::now(), statistics.executions);
        self.asker.listener.event(&Event::Progress(Progress {
            statistics,
            elapsed: self.asker.begun.elapsed(),
            rate,
            frontier: status.open,
            estimate: None,
        }));
    }
}
