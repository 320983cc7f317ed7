//! Threads that are held in loops which change nothing: against all states of programs whose
//! loops really go round, nothing that can happen is lost, and who is stuck is told.

use crate::support::boxed::{Boxed, search};
use crate::support::random::Random;
use mazurka_core::{
    Decision, Effect, Ending, Failure, Next, ObjectId, Operation, Spin, System, ThreadId, Verdict,
    ViolationKind,
};
use mazurka_effort::{seeds, share};
use mazurka_explore::{Explorer, Options, Reduction};
use std::collections::BTreeSet;
use std::sync::Mutex;

const N_VARIABLES: usize = 3;

/// What a thread of the test programs can do.
#[derive(Clone, Debug)]
enum Statement {
    Store(usize, u8),
    /// Adds one, modulo three.
    Add(usize),
    /// Remembers a value.
    Load(usize),
    /// Reads these in turn, again and again, until one has the value that is waited for, and
    /// remembers which.
    Spin(Vec<(usize, u8)>),
}

type Program = Vec<Vec<Statement>>;

/// The state of a program. A thread is at a statement, and there at a read of its round.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct State {
    memory: [u8; N_VARIABLES],
    threads: Vec<Thread>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Thread {
    statement: usize,
    read: usize,
    remembered: Vec<u8>,
    /// What the round in progress has read; only where threads are held.
    round: Vec<u8>,
}

impl State {
    fn new(program: &Program) -> Self {
        Self { memory: [0; N_VARIABLES], threads: vec![Thread::default(); program.len()] }
    }

    /// Takes the next step of a thread. Whether that ended a round of a loop without leaving it.
    fn step(&mut self, program: &Program, idx: usize) -> bool {
        let thread = &mut self.threads[idx];
        match &program[idx][thread.statement] {
            &Statement::Store(variable, value) => self.memory[variable] = value,
            &Statement::Add(variable) => self.memory[variable] = (self.memory[variable] + 1) % 3,
            &Statement::Load(variable) => thread.remembered.push(self.memory[variable]),
            Statement::Spin(reads) => {
                let (variable, wanted) = reads[thread.read];
                thread.round.push(self.memory[variable]);
                if self.memory[variable] != wanted {
                    thread.read = (thread.read + 1) % reads.len();
                    return thread.read == 0;
                }
                thread.remembered.push(thread.read as u8);
                thread.read = 0;
                thread.round.clear();
            }
        }
        thread.statement += 1;
        false
    }

    /// What there is to see in the end: not how far in a round a thread is.
    fn outcome(&self) -> State {
        let mut outcome = self.clone();
        for thread in &mut outcome.threads {
            thread.read = 0;
            thread.round.clear();
        }
        outcome
    }
}

/// Everything that can be the end: where all threads are done, and where some spin for ever.
#[derive(Debug, Default, PartialEq, Eq)]
struct Ends {
    done: BTreeSet<State>,
    stuck: BTreeSet<State>,
}

/// Visits all states, with loops that go round.
fn enumerate(program: &Program) -> Ends {
    let mut ends = Ends::default();
    let mut seen = BTreeSet::new();
    let mut todo = vec![State::new(program)];
    while let Some(state) = todo.pop() {
        if !seen.insert(state.clone()) {
            continue;
        }
        let mut is_stuck = true;
        let mut is_done = true;
        for (idx, thread) in state.threads.iter().enumerate() {
            let Some(statement) = program[idx].get(thread.statement) else { continue };
            is_done = false;
            is_stuck &= matches!(statement, Statement::Spin(reads)
                if reads.iter().all(|&(variable, wanted)| state.memory[variable] != wanted));
            let mut next = state.clone();
            next.step(program, idx);
            next.threads[idx].round.clear();
            todo.push(next);
        }
        match (is_done, is_stuck) {
            (true, _) => ends.done.insert(state.outcome()),
            (false, true) => ends.stuck.insert(state.outcome()),
            (false, false) => false,
        };
    }
    ends
}

/// The program for the explorer: a thread is held after one round.
#[derive(Clone)]
struct Held {
    program: Program,
    state: State,
    held: Vec<bool>,
}

impl Held {
    fn new(program: &Program) -> Self {
        let state = State::new(program);
        Self { program: program.clone(), state, held: vec![false; program.len()] }
    }

    fn reads(&self, idx: usize) -> &[(usize, u8)] {
        match &self.program[idx][self.state.threads[idx].statement] {
            Statement::Spin(reads) => reads,
            other => panic!("no thread is held at {other:?}"),
        }
    }

    fn can_leave(&self, idx: usize) -> bool {
        let round = &self.state.threads[idx].round;
        let now = self.reads(idx).iter().map(|&(variable, _)| self.state.memory[variable]);
        now.zip(round).any(|(now, &then)| now != then)
    }
}

impl System for Held {
    fn reset(&mut self) {
        *self = Self::new(&self.program);
    }

    fn n_threads(&self) -> usize {
        self.program.len()
    }

    fn next(&self, thread: ThreadId) -> Next {
        let idx = thread.index();
        let Thread { statement, read, .. } = &self.state.threads[idx];
        let object = |&variable: &usize| ObjectId::new(variable);
        match self.program[idx].get(*statement) {
            None => Next::Finished,
            Some(_) if self.held[idx] => Next::Finished,
            Some(Statement::Store(variable, _)) => {
                Next::enabled(Operation::Store(object(variable)))
            }
            Some(Statement::Add(variable)) => {
                Next::enabled(Operation::ReadModifyWrite(object(variable)))
            }
            Some(Statement::Load(variable)) => Next::enabled(Operation::Load(object(variable))),
            Some(Statement::Spin(reads)) => Next::enabled(Operation::Load(object(&reads[*read].0))),
        }
    }

    fn step(&mut self, decision: Decision) -> Result<Effect, Failure> {
        let idx = decision.thread.index();
        self.held[idx] = self.state.step(&self.program, idx);
        Ok(Effect::Done)
    }

    fn ending(&self) -> Ending {
        let held: Vec<usize> = (0..self.held.len()).filter(|&idx| self.held[idx]).collect();
        match held.iter().any(|&idx| self.can_leave(idx)) {
            true => Ending::Redundant,
            false if held.is_empty() => Ending::Final,
            false => Ending::Spinning,
        }
    }

    fn spin(&self, thread: ThreadId) -> Option<Spin> {
        let idx = thread.index();
        self.held[idx]
            .then(|| Spin { object: ObjectId::new(self.reads(idx)[0].0), text: "spins".to_owned() })
    }
}

fn explore(program: &Program, reduction: Reduction, sleep: bool) -> Ends {
    let mut options = Options::new();
    options.reduction = reduction;
    options.sleep = sleep;
    options.stop_at_first = false;
    let ends = Mutex::new(Ends::default());
    let observe = |ended: mazurka_explore::Ended<'_, Boxed>| {
        let mut ends = ends.lock().expect("the lock is not poisoned");
        let outcome = ended.system.get::<Held>().state.outcome();
        match ended.violation {
            None => ends.done.insert(outcome),
            Some(violation) => {
                assert_eq!(violation.kind, ViolationKind::Deadlock);
                ends.stuck.insert(outcome)
            }
        };
    };
    Explorer::new(options)
        .observe(&observe)
        .run(|| Boxed::new(Held::new(program)))
        .expect("the program is deterministic");
    ends.into_inner().expect("the lock is not poisoned")
}

fn generate(random: &mut Random) -> Program {
    let n_threads = 2 + random.below(2);
    let statement = |random: &mut Random| {
        let variable = random.below(N_VARIABLES);
        match random.below(6) {
            0 | 1 => Statement::Store(variable, 1 + random.below(2) as u8),
            2 => Statement::Add(variable),
            3 => Statement::Load(variable),
            _ => {
                let reads = 1 + random.below(3);
                let read = |_| (random.below(N_VARIABLES), random.below(3) as u8);
                Statement::Spin((0..reads).map(read).collect())
            }
        }
    };
    let mut thread = |_| {
        let len = 1 + random.below(if n_threads == 2 { 4 } else { 3 });
        (0..len).map(|_| statement(random)).collect()
    };
    (0..n_threads).map(&mut thread).collect()
}

#[test]
fn nothing_is_lost_where_a_thread_is_held() {
    let mut random = Random(7);
    let (mut n_done, mut n_stuck) = (0, 0);
    for case in seeds(0..400) {
        let program = generate(&mut random);
        let expected = enumerate(&program);
        n_done += usize::from(!expected.done.is_empty());
        n_stuck += usize::from(!expected.stuck.is_empty());
        for reduction in Reduction::ALL {
            for sleep in [true, false] {
                if reduction == Reduction::Optimal && !sleep {
                    continue;
                }
                let found = explore(&program, reduction, sleep);
                assert_eq!(found, expected, "{case}: {reduction:?}, sleep {sleep}, {program:?}");
            }
        }
    }
    assert!(
        n_done > share(100) && n_stuck > share(100),
        "{n_done} programs can end, {n_stuck} get stuck"
    );
}

#[test]
fn who_spins_is_told() {
    let program = vec![vec![Statement::Spin(vec![(0, 1)])], vec![Statement::Store(0, 2)]];
    let outcome = search(Options::new(), || Held::new(&program)).expect("it runs");
    let mazurka_core::Verdict::Violated(found) = outcome.verdict else {
        panic!("{:?}", outcome.verdict)
    };
    assert_eq!(found.violation.message, "1 thread waits for ever: T0 spins");
}

#[test]
fn a_loop_for_ever_is_a_livelock_where_only_livelocks_are_looked_for() {
    let program = vec![vec![Statement::Spin(vec![(0, 1)])], vec![Statement::Store(1, 1)]];
    let check = |deadlock: bool, livelock: bool| {
        let mut options = Options::new();
        (options.deadlock, options.livelock) = (deadlock, livelock);
        let outcome = search(options, || Held::new(&program));
        outcome.expect("the program is deterministic").verdict
    };
    let told = |deadlock, livelock| match check(deadlock, livelock) {
        Verdict::Violated(found) => {
            assert_eq!(found.waits.len(), 1);
            (found.violation.kind, found.violation.message.clone())
        }
        verdict => panic!("{verdict:?}"),
    };
    let (kind, message) = told(false, true);
    assert_eq!(kind, ViolationKind::Livelock);
    assert_eq!((ViolationKind::Deadlock, message.clone()), told(true, true));
    assert_eq!((ViolationKind::Deadlock, message), told(true, false));
    assert!(matches!(check(false, false), Verdict::Holds(_)));
}
