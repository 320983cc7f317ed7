//! Counterexamples made by hand, for the tests of every form.

use crate::Report;
use mazurka_core::{
    Counterexample, CoverageSample, Decision, Detail, Effect, Execution, Location, ObjectId,
    Operation, PassingExecution, Source, StateCoverage, Statistics, Step, ThreadId, ThreadSet,
    Told, Verdict, Violation, ViolationKind, Visits, Wait,
};
use std::time::Duration;

/// A verdict and what belongs to it.
pub(crate) struct Sample {
    pub(crate) verdict: Verdict,
    pub(crate) statistics: Statistics,
    pub(crate) n_threads: usize,
    pub(crate) loop_start: Option<usize>,
    pub(crate) thread_names: Vec<String>,
}

impl Sample {
    pub(crate) fn of(verdict: Verdict) -> Self {
        let mut statistics = Statistics::default();
        statistics.executions = 2;
        statistics.transitions = 19;
        statistics.max_depth = 11;
        Self { verdict, statistics, n_threads: 3, loop_start: None, thread_names: Vec::new() }
    }

    pub(crate) fn report(&self) -> Report<'_> {
        let time = Duration::from_millis(10);
        let mut report = Report::new("counter.rs", "vm", &self.verdict, &self.statistics, time);
        report.n_threads = self.n_threads;
        report.loop_start = self.loop_start;
        report.thread_names = self.thread_names.clone();
        report
    }
}

/// States that were counted in two executions.
pub(crate) fn state_coverage() -> StateCoverage {
    let sample = |executions, time_s, local_states, traces| CoverageSample {
        executions,
        time_s,
        local_states,
        traces,
    };
    StateCoverage {
        local_states: Visits { visited: 60, unique: 49 },
        traces: Visits { visited: 2, unique: 1 },
        over_time: vec![sample(1, 0.004, 48, 1), sample(2, 0.01, 49, 1)],
    }
}

pub(crate) fn thread(idx: usize) -> ThreadId {
    ThreadId::new(idx)
}

pub(crate) fn object(idx: usize) -> ObjectId {
    ObjectId::new(idx)
}

/// Steps in the making. Names are looked up by number.
pub(crate) struct Story<'a> {
    threads: &'a [&'a str],
    objects: &'a [&'a str],
    file: Option<&'a str>,
    execution: Execution,
    story: Vec<Told>,
    waits: Vec<Wait>,
}

impl<'a> Story<'a> {
    pub(crate) fn new(threads: &'a [&'a str], objects: &'a [&'a str]) -> Self {
        Self {
            threads,
            objects,
            file: None,
            execution: Execution::default(),
            story: Vec::new(),
            waits: Vec::new(),
        }
    }

    pub(crate) fn file(mut self, file: &'a str) -> Self {
        self.file = Some(file);
        self
    }

    /// A step of a thread; its value, if it is not empty; its line, if it is not 0.
    pub(crate) fn step(self, idx: usize, operation: Operation, value: &str, line: u32) -> Self {
        self.step_with(idx, operation, Effect::Done, value, line)
    }

    pub(crate) fn step_with(
        mut self,
        idx: usize,
        operation: Operation,
        effect: Effect,
        value: &str,
        line: u32,
    ) -> Self {
        let object = match operation {
            Operation::Spawn(other) | Operation::Join(other) => Some(self.threads[other.index()]),
            other => other.object().map(|object| self.objects[object.index()]),
        };
        let location = self.file.filter(|_| line > 0).map(|file| Location {
            file: file.to_owned(),
            line,
            column: 9,
            function: None,
            within: None,
            is_library: false,
        });
        self.story.push(Told {
            thread: self.threads[idx].to_owned(),
            operation: operation.name().to_owned(),
            object: object.map(str::to_owned),
            value: (!value.is_empty()).then(|| value.to_owned()),
            raw: None,
            order: None,
            location,
        });
        self.execution.steps.push(Step { decision: Decision::of(thread(idx)), operation, effect });
        self
    }

    pub(crate) fn waits(mut self, idx: usize, operation: Operation, holder: usize) -> Self {
        let holders = ThreadSet::one(thread(holder));
        self.waits.push(Wait {
            thread: thread(idx),
            operation,
            holders,
            holds: Vec::new(),
            location: None,
            object: None,
        });
        self
    }

    pub(crate) fn counterexample(self, kind: ViolationKind, message: &str) -> Counterexample {
        Counterexample {
            end: Vec::new(),
            violation: Violation::new(kind, message.to_owned()),
            schedule: self.execution.schedule(),
            execution: self.execution,
            story: self.story,
            waits: self.waits,
            accesses: Vec::new(),
            shared: Vec::new(),
            joins: Vec::new(),
            failed: None,
            decisive: None,
        }
    }

    /// An execution in which nothing goes wrong; with the sources of its steps, if a memory model
    /// decides them.
    pub(crate) fn passes(self, sources: &[Option<Source>]) -> PassingExecution {
        PassingExecution {
            schedule: self.execution.schedule(),
            execution: self.execution,
            story: self.story,
            joins: Vec::new(),
            sources: sources.to_vec(),
        }
    }

    pub(crate) fn violates(self, kind: ViolationKind, message: &str) -> Sample {
        let n_threads = self.threads.len();
        let verdict = Verdict::Violated(Box::new(self.counterexample(kind, message)));
        Sample { n_threads, ..Sample::of(verdict) }
    }
}

/// Two threads read, then both write.
pub(crate) fn lost_update() -> Sample {
    lost_update_with(&["main", "worker-1", "worker-2"], "tests/counter.rs")
}

pub(crate) fn lost_update_with(names: &[&str], file: &str) -> Sample {
    use Operation as O;
    let counter = object(0);
    let mut sample = Story::new(names, &["counter"])
        .file(file)
        .step(0, O::Spawn(thread(1)), "", 21)
        .step(0, O::Spawn(thread(2)), "", 22)
        .step(1, O::Load(counter), "= 0", 11)
        .step(2, O::Load(counter), "= 0", 11)
        .step(2, O::Store(counter), "0→1", 12)
        .step(1, O::Store(counter), "1→1", 12)
        .step(0, O::Join(thread(1)), "", 24)
        .step(0, O::Join(thread(2)), "", 24)
        .step(0, O::Load(counter), "= 1", 25)
        .violates(ViolationKind::Assertion, "assertion `counter == 2` failed: left is 1");
    if let Verdict::Violated(found) = &mut sample.verdict {
        let text = "`counter == 2`: left is 1".to_owned();
        found.violation.detail = Some(Detail::Assertion(text));
    }
    sample
}

/// Two locks, taken in opposite orders.
pub(crate) fn deadlock() -> Sample {
    use Operation as O;
    Story::new(&["alice", "bob"], &["accounts", "log"])
        .file("bank.rs")
        .step(0, O::Acquire(object(0)), "", 14)
        .step(1, O::Acquire(object(1)), "", 30)
        .waits(0, O::Acquire(object(1)), 1)
        .waits(1, O::Acquire(object(0)), 0)
        .violates(
            ViolationKind::Deadlock,
            "2 threads wait for each other: alice holds accounts and waits for log, held by bob; \
             bob holds log and waits for accounts, held by alice",
        )
}

/// Two plain accesses beside a flag.
pub(crate) fn data_race() -> Sample {
    use Operation as O;
    Story::new(&["writer", "reader"], &["ready"])
        .step(0, O::Yield, "", 0)
        .step(1, O::Load(object(0)), "= 0", 0)
        .violates(
            ViolationKind::Race,
            "data race on `data`: writer writes it at step 1 and reader reads it at step 2, and \
             nothing orders the two",
        )
}

/// Two threads that wait for each other, politely, for ever.
pub(crate) fn livelock(n_rounds: usize) -> Sample {
    use Operation as O;
    let mut story = Story::new(&["main", "other"], &["turn"]).file("polite.rs").step(
        0,
        O::Store(object(0)),
        "0→1",
        3,
    );
    for _ in 0..n_rounds {
        story = story
            .step(0, O::Load(object(0)), "= 1", 5)
            .step(0, O::Yield, "", 6)
            .step(1, O::Load(object(0)), "= 1", 15)
            .step(1, O::Yield, "", 16);
    }
    let mut sample =
        story.violates(ViolationKind::Livelock, "an execution did not end within 5 001 steps");
    sample.loop_start = Some(2);
    sample
}

/// No thread can move from the start.
pub(crate) fn stuck_at_once() -> Sample {
    use Operation as O;
    let mut sample = Story::new(&["main"], &["queue"]).waits(0, O::Receive(object(0)), 0).violates(
        ViolationKind::Deadlock,
        "1 thread waits for ever: main waits to receive from queue",
    );
    sample.thread_names.push("main".to_owned());
    sample
}

/// It is wrong before anybody moves.
pub(crate) fn wrong_at_once() -> Sample {
    Story::new(&["main"], &[]).violates(ViolationKind::Panic, "`main` panicked: no\nconfiguration")
}

/// Each of twelve threads takes a ticket.
pub(crate) fn twelve() -> Sample {
    use Operation as O;
    const NAMES: [&str; 12] =
        ["main", "w1", "w2", "w3", "w4", "w5", "w6", "w7", "w8", "w9", "w10", "w11"];
    let mut story = Story::new(&NAMES, &["ticket"]).file("src/ticket.rs");
    for idx in 1..12 {
        story = story.step(0, O::Spawn(thread(idx)), "", 7);
    }
    for idx in 1..12 {
        let value = format!("{}→{idx}", idx - 1);
        story = story.step(idx, O::ReadModifyWrite(object(0)), &value, 12);
    }
    story.violates(ViolationKind::Overflow, "`ticket + 1` overflows")
}

/// Five thousand steps that do not repeat: two long runs, then many switches.
pub(crate) fn five_thousand() -> Sample {
    use Operation as O;
    let mut story = Story::new(&["producer", "consumer"], &["head", "tail"]);
    for idx in 0..2000 {
        story = story.step(0, O::Store(object(0)), &format!("{idx}→{}", idx + 1), 0);
    }
    for idx in 0..2000 {
        story = story.step(1, O::Store(object(1)), &format!("{idx}→{}", idx + 1), 0);
    }
    for idx in 0..1000 {
        story = story.step(idx % 2, O::Load(object(idx % 2)), &format!("= {idx}"), 0);
    }
    story.violates(ViolationKind::Memory, "`tail` is past the end of the buffer")
}

/// Names and values that are not made for a table.
pub(crate) fn odd_names() -> Sample {
    use Operation as O;
    let names = ["główny", "工作线程", "evil\x1b[31m\u{202e}name"];
    Story::new(&names, &["счётчик"])
        .file("źródła/λ.rs")
        .step(0, O::Spawn(thread(1)), "", 1)
        .step(0, O::Spawn(thread(2)), "", 2)
        .step(1, O::Load(object(0)), "= \"日本\"", 3)
        .step_with(2, O::NotifyOne(object(0)), Effect::Woke(ThreadSet::one(thread(1))), "", 4)
        .step_with(2, O::TryAcquire(object(0)), Effect::Failed, "", 0)
        .violates(ViolationKind::Assertion, "assertion failed: \x1b[2J`é`\r\nleft: 1\nright: 2")
}

/// Everything that goes wrong, with its name.
pub(crate) fn all() -> Vec<(&'static str, Sample)> {
    const LONG: &str = "a-thread-with-a-name-of-forty-characters";
    vec![
        ("lost update", lost_update()),
        (
            "long path",
            lost_update_with(&["main", "a", "b"], "crates/a/very/long/path/to/counter.rs"),
        ),
        ("long name", lost_update_with(&["main", LONG, "worker"], "counter.rs")),
        ("deadlock", deadlock()),
        ("data race", data_race()),
        ("livelock", livelock(1250)),
        ("stuck at once", stuck_at_once()),
        ("wrong at once", wrong_at_once()),
        ("twelve", twelve()),
        ("five thousand", five_thousand()),
        ("odd names", odd_names()),
    ]
}
