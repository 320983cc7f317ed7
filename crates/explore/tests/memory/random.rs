//! Random programs, from seeds.

use crate::program::{Op, Program, Statement};
use mazurka_core::MemoryOrder::{
    Acquire, AcquireRelease, Relaxed, Release, SequentiallyConsistent,
};

/// SplitMix64, as in the scripts' generator.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    pub(crate) fn percent(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub(crate) fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }
}

/// What a random program has beside accesses to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Feature {
    Memory,
    Locks,
    Semaphores,
    Condvars,
    Threads,
    /// Accesses to one of the variables are in one order.
    Strong,
    /// The same, and threads sleep on that variable.
    Futexes,
    /// The same two, and some waits may end at any moment.
    TimedCondvars,
    TimedFutexes,
    RwLocks,
    Barriers,
}

fn access(random: &mut Random) -> Op {
    let x = random.below(2);
    let read = random.pick(&[Relaxed, Relaxed, Acquire, SequentiallyConsistent]);
    let write = random.pick(&[Relaxed, Relaxed, Release, SequentiallyConsistent]);
    let update = random.pick(&[Relaxed, Acquire, Release, AcquireRelease, SequentiallyConsistent]);
    match random.below(100) {
        0..40 => Op::Read(x, read),
        40..78 => Op::Write(x, 1 + random.below(2) as i64, write),
        78..86 => Op::Add(x, update),
        86..93 => Op::Swap12(x, update),
        _ => Op::Fence(random.pick(&[
            SequentiallyConsistent,
            SequentiallyConsistent,
            AcquireRelease,
            Acquire,
            Release,
        ])),
    }
}

/// A program of two or three threads.
pub(crate) fn program(seed: u64, feature: Feature, size: usize) -> Program {
    let random = &mut Random::new(seed);
    let n_threads = random.pick(&[2, 2, 3]);
    let mut program = Program::default();
    for _ in 0..n_threads {
        let n_ops = 1 + random.below(if n_threads == 2 { size + 1 } else { size });
        let mut thread: Vec<Statement> = Vec::new();
        let mut held = Vec::new();
        for _ in 0..n_ops {
            special(random, feature, &mut thread, &mut held);
        }
        for mutex in held {
            if random.percent(80) {
                thread.push(Op::Release(mutex).into());
            }
        }
        depend(random, &mut thread);
        program.threads.push(thread);
    }
    let has_strong = matches!(feature, Feature::Strong | Feature::Futexes | Feature::TimedFutexes);
    program.strong = has_strong.then_some(1);
    if feature == Feature::Threads {
        spawn(random, &mut program);
    }
    program
}

/// A program of four or five threads that mostly update one variable: a revisit makes others.
pub(crate) fn crowd(seed: u64, feature: Feature) -> Program {
    let random = &mut Random::new(seed);
    let mut program = Program::default();
    for _ in 0..4 + random.below(2) {
        let mut thread: Vec<Statement> = Vec::new();
        let mut held = Vec::new();
        let x = usize::from(random.percent(10));
        let read = random.pick(&[Relaxed, Acquire, SequentiallyConsistent]);
        let write = random.pick(&[Relaxed, Release, SequentiallyConsistent]);
        let update = random.pick(&[Relaxed, Acquire, Release, SequentiallyConsistent]);
        match random.below(100) {
            0..40 => thread.push(Op::Add(x, update).into()),
            40..50 => thread.push(Op::Swap12(x, update).into()),
            50..70 => thread.push(Op::Write(x, 1, write).into()),
            70..80 => thread.push(Op::Read(x, read).into()),
            _ => special(random, feature, &mut thread, &mut held),
        }
        if random.percent(20) {
            special(random, feature, &mut thread, &mut held);
        }
        thread.extend(held.into_iter().map(|mutex| Statement::from(Op::Release(mutex))));
        program.threads.push(thread);
    }
    let has_strong = matches!(feature, Feature::Strong | Feature::Futexes | Feature::TimedFutexes);
    program.strong = has_strong.then_some(1);
    program
}

/// One operation more, or a few that belong together.
fn special(
    random: &mut Random,
    feature: Feature,
    thread: &mut Vec<Statement>,
    held: &mut Vec<usize>,
) {
    let is_special = random.percent(55);
    match feature {
        Feature::Locks | Feature::Threads if is_special => {
            let mutex = random.below(2);
            if !held.is_empty() && random.percent(60) {
                let mutex = held.remove(random.below(held.len()));
                thread.push(Op::Release(mutex).into());
            } else if random.percent(30) {
                thread.push(Op::TryAcquire(mutex).into());
                let number = thread.len() - 1;
                if random.percent(50) {
                    thread.push(access(random).into());
                }
                // Not given back but if it was taken.
                thread.push(Statement { op: Op::Release(mutex), if_nonzero: Some(number) });
            } else if !held.contains(&mutex) {
                thread.push(Op::Acquire(mutex).into());
                held.push(mutex);
            }
        }
        Feature::Semaphores if is_special => {
            let op = random.pick(&[Op::Down(0), Op::Down(0), Op::Up(0), Op::TryDown(0)]);
            thread.push(op.into());
        }
        Feature::Futexes if is_special => {
            let value = random.below(2) as i64;
            let ops = [Op::Sleep(1, value), Op::Sleep(1, 0), Op::WakeOne(1), Op::WakeAll(1)];
            thread.push(random.pick(&ops).into());
        }
        Feature::TimedFutexes if is_special => {
            let value = random.below(2) as i64;
            let asleep = [Op::TimedSleep(1, value), Op::TimedSleep(1, 0), Op::Sleep(1, 0)];
            let awake = [Op::WakeOne(1), Op::WakeOne(1), Op::WakeAll(1)];
            let ops = if random.percent(50) { asleep } else { awake };
            thread.push(random.pick(&ops).into());
        }
        Feature::TimedCondvars if is_special => match random.below(6) {
            choice @ 0..3 => {
                let wait = if choice == 0 { Op::Wait(0, 0) } else { Op::TimedWait(0, 0) };
                thread.push(Op::Acquire(0).into());
                thread.push(wait.into());
                thread.push(Op::Release(0).into());
            }
            3 | 4 => thread.push(Op::NotifyOne(0).into()),
            _ => thread.push(Op::NotifyAll(0).into()),
        },
        Feature::Barriers if random.percent(35) => thread.push(Op::Arrive(0).into()),
        Feature::RwLocks if is_special => {
            let (is_reader, is_tried) = (random.percent(60), random.percent(25));
            let (take, give) = match (is_reader, is_tried) {
                (true, false) => (Op::ReadAcquire(0), Op::ReadRelease(0)),
                (true, true) => (Op::TryReadAcquire(0), Op::ReadRelease(0)),
                (false, false) => (Op::WriteAcquire(0), Op::WriteRelease(0)),
                (false, true) => (Op::TryWriteAcquire(0), Op::WriteRelease(0)),
            };
            thread.push(take.into());
            let number = thread.len() - 1;
            if random.percent(60) {
                thread.push(access(random).into());
            }
            if random.percent(85) {
                let if_nonzero = is_tried.then_some(number);
                thread.push(Statement { op: give, if_nonzero });
            }
        }
        Feature::Condvars if is_special => match random.below(6) {
            0..3 => {
                thread.push(Op::Acquire(0).into());
                thread.push(Op::Wait(0, 0).into());
                thread.push(Op::Release(0).into());
            }
            3 => {
                thread.push(Op::Acquire(0).into());
                thread.push(Op::NotifyOne(0).into());
                thread.push(Op::Release(0).into());
            }
            4 => thread.push(Op::NotifyOne(0).into()),
            _ => thread.push(Op::NotifyAll(0).into()),
        },
        _ => thread.push(access(random).into()),
    }
}

/// A write that depends on an earlier result.
fn depend(random: &mut Random, thread: &mut Vec<Statement>) {
    let is_read = |statement: &Statement| {
        matches!(statement.op, Op::Read(..) | Op::Add(..) | Op::Swap12(..))
            && statement.if_nonzero.is_none()
    };
    let Some(number) = thread.iter().rposition(is_read) else { return };
    if random.percent(25) {
        thread.push(Statement { op: Op::Write(1, 3, Relaxed), if_nonzero: Some(number) });
    }
}

/// Lets one thread start the last one, and perhaps wait for it.
fn spawn(random: &mut Random, program: &mut Program) {
    let child = program.threads.len() - 1;
    let parent = &mut program.threads[random.below(child)];
    let start = random.below(parent.len() + 1);
    let shift = |thread: &mut Vec<Statement>, at: usize| {
        for statement in thread {
            statement.if_nonzero = statement.if_nonzero.map(|it| it + usize::from(it >= at));
        }
    };
    shift(parent, start);
    parent.insert(start, Op::Spawn(child).into());
    if random.percent(70) {
        let end = start + 1 + random.below(parent.len() - start);
        shift(parent, end);
        parent.insert(end, Op::Join(child).into());
    }
}
