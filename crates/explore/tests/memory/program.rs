//! Small programs: what their threads do, and the same as a script.

use mazurka_core::MemoryOrder;
use std::fmt::Write as _;

/// A thread of a program does this. The number is that of the variable, mutex or other object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Op {
    Read(usize, MemoryOrder),
    Write(usize, i64, MemoryOrder),
    /// Adds one.
    Add(usize, MemoryOrder),
    /// Writes 2 if it was 1.
    Swap12(usize, MemoryOrder),
    Fence(MemoryOrder),
    Acquire(usize),
    TryAcquire(usize),
    Release(usize),
    Down(usize),
    TryDown(usize),
    Up(usize),
    /// On the condition variable of the first number, with the mutex of the second.
    Wait(usize, usize),
    /// The second half of a wait.
    Reacquire(usize, usize),
    /// A wait that may end at any moment.
    TimedWait(usize, usize),
    /// The second part of that: the thread sleeps no longer. Then it takes the mutex.
    Expire(usize, usize),
    NotifyOne(usize),
    NotifyAll(usize),
    /// Sleeps on a variable whose accesses are in one order, if it has this value: a futex.
    Sleep(usize, i64),
    /// The second half of that.
    Resume(usize),
    /// A sleep that may end at any moment, and its second half.
    TimedSleep(usize, i64),
    ExpireSleep(usize),
    WakeOne(usize),
    WakeAll(usize),
    ReadAcquire(usize),
    TryReadAcquire(usize),
    ReadRelease(usize),
    WriteAcquire(usize),
    TryWriteAcquire(usize),
    WriteRelease(usize),
    /// At a barrier for [`PARTIES`].
    Arrive(usize),
    /// The second half of that.
    Leave(usize),
    Spawn(usize),
    Join(usize),
}

/// An operation, and the earlier one of the thread whose result has to be other than 0, if any.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Statement {
    pub(crate) op: Op,
    pub(crate) if_nonzero: Option<usize>,
}

impl From<Op> for Statement {
    fn from(op: Op) -> Self {
        Self { op, if_nonzero: None }
    }
}

pub(crate) type Thread = Vec<Statement>;

#[derive(Clone, Debug, Default)]
pub(crate) struct Program {
    pub(crate) threads: Vec<Thread>,
    /// The variable whose accesses are in one order, whatever the model.
    pub(crate) strong: Option<usize>,
}

/// How many permits a semaphore begins with.
pub(crate) const PERMITS: i64 = 1;

/// How many make a round of a barrier.
pub(crate) const PARTIES: usize = 2;

pub(crate) fn variable(number: usize) -> char {
    ['x', 'y', 'z', 'w'][number]
}

fn short(order: MemoryOrder) -> &'static str {
    mazurka_script::ast::order_name(order)
}

impl Program {
    pub(crate) fn new(threads: &[&[Op]]) -> Self {
        let thread = |ops: &&[Op]| ops.iter().copied().map(Statement::from).collect();
        Self { threads: threads.iter().map(thread).collect(), strong: None }
    }

    pub(crate) fn is_spawned(&self, thread: usize) -> bool {
        let is_it = |statement: &Statement| statement.op == Op::Spawn(thread);
        self.threads.iter().flatten().any(is_it)
    }

    /// Whether an operation accesses the variable whose accesses are in one order.
    pub(crate) fn is_strong(&self, op: Op) -> bool {
        let (Op::Read(x, _) | Op::Write(x, ..) | Op::Add(x, _) | Op::Swap12(x, _)) = op else {
            return false;
        };
        self.strong == Some(x)
    }

    /// The program as a script. The result of the n-th statement of a thread is in `rn`.
    pub(crate) fn script(&self) -> String {
        let mut text = "sem(0)=1 || ".to_owned();
        let has_semaphore = self
            .threads
            .iter()
            .flatten()
            .any(|statement| matches!(statement.op, Op::Down(_) | Op::TryDown(_) | Op::Up(_)));
        if !has_semaphore {
            text.clear();
        }
        let mut all = self.threads.iter().flatten();
        if all.any(|statement| matches!(statement.op, Op::Arrive(_))) {
            write!(text, "bar(0)={PARTIES} || ").expect("a string takes everything");
        }
        for (idx, thread) in self.threads.iter().enumerate() {
            if idx > 0 {
                text.push_str(" | ");
            }
            write!(text, "T{idx}:").expect("a string takes everything");
            for (number, statement) in thread.iter().enumerate() {
                text.push_str(if number > 0 { "; " } else { " " });
                let op = written(number, statement.op);
                match statement.if_nonzero {
                    Some(before) => write!(text, "if r{before} != 0 {{ {op} }}"),
                    None => write!(text, "{op}"),
                }
                .expect("a string takes everything");
            }
        }
        text
    }
}

fn written(number: usize, op: Op) -> String {
    match op {
        Op::Read(x, order) => format!("r{number}={}.{}", variable(x), short(order)),
        Op::Write(x, value, order) => format!("{}.{}={value}", variable(x), short(order)),
        Op::Add(x, order) => format!("r{number}=add({}.{},1)", variable(x), short(order)),
        Op::Swap12(x, order) => format!("r{number}=cas({}.{},1,2)", variable(x), short(order)),
        Op::Fence(order) => format!("fence({})", short(order)),
        Op::Acquire(m) => format!("acq({m})"),
        Op::TryAcquire(m) => format!("r{number}=tryacq({m})"),
        Op::Release(m) => format!("rel({m})"),
        Op::Down(s) => format!("down({s})"),
        Op::TryDown(s) => format!("r{number}=trydown({s})"),
        Op::Up(s) => format!("up({s})"),
        Op::Wait(c, m) => format!("wait({c},{m})"),
        Op::TimedWait(c, m) => format!("r{number}=twait({c},{m})"),
        Op::Reacquire(..) | Op::Expire(..) | Op::Resume(_) | Op::ExpireSleep(_) | Op::Leave(_) => {
            unreachable!("a wait has it")
        }
        Op::TimedSleep(x, value) => {
            format!("r{number}=tsleep(0,{},{value})", variable(x))
        }
        // There is one such variable, and one condition variable in its place.
        Op::Sleep(x, value) => format!("sleep(0,{},{value})", variable(x)),
        Op::WakeOne(_) => "notify(0)".to_owned(),
        Op::WakeAll(_) => "notifyall(0)".to_owned(),
        Op::ReadAcquire(l) => format!("racq({l})"),
        Op::TryReadAcquire(l) => format!("r{number}=tryracq({l})"),
        Op::ReadRelease(l) => format!("rrel({l})"),
        Op::WriteAcquire(l) => format!("wacq({l})"),
        Op::TryWriteAcquire(l) => format!("r{number}=trywacq({l})"),
        Op::WriteRelease(l) => format!("wrel({l})"),
        Op::Arrive(b) => format!("bar({b})"),
        Op::NotifyOne(c) => format!("notify({c})"),
        Op::NotifyAll(c) => format!("notifyall({c})"),
        Op::Spawn(thread) => format!("spawn({thread})"),
        Op::Join(thread) => format!("join({thread})"),
    }
}
