//! Bound on rounds: how often a loop that waits may go round in vain.
//!
//! A loop that writes while it waits, such as `while !flag { n += 1 }`, is in another state in each
//! round, so that it cannot be held as one that changes nothing. It is not useful to see all its
//! rounds: they go on because the others are not let move. A fair scheduler would let them.
//!
//! Implements the idea of Musuvathi and Qadeer, *Fair Stateless Model Checking* (PLDI 2008): a
//! thread that goes round without progress gives way to the others.
//!
//! Differs from the paper: threads need not yield, rounds are recognised by their operations; and
//! it is a bound on the causal past of a step, not a priority between threads.
//!
//! **What waits** is learnt, and not guessed from a few rounds: a search without this bound comes
//! to an execution that reaches the depth limit, and in the second half of it a thread has done the
//! same operations over and over ([`Waits::look_at`]). Among them is one that only *looks*, at
//! something that the loop does not change, and it has seen nothing new there. The search then
//! begins again, with the bound for that loop of that thread.
//!
//! **The value** of a step that begins a round is the number of rounds of its thread before it, one
//! after the other, in which nothing new was seen by looking, and this step sees nothing new
//! either. Something is new if the step that looks follows a step of another thread that its thread
//! did not know of.
//!
//! Monotonic, stable and extensible: what a step follows is the same in every linearisation, and
//! independent steps are not in it.
//!
//! **No execution ends by it unnoticed.** Where all who could move are over the bound, the search
//! goes on with them in turn, beyond it: what happens then is fair. Either they go round for ever,
//! which is a livelock; or one of them sees something new or leaves its loop, and the limit was too
//! small.

use super::{Before, Measure};
use mazurka_core::{HappensBefore, Operation, Position, ThreadId};
use serde::{Deserialize, Serialize};

/// The longest round that is recognised.
const MAX_PERIOD: usize = 64;
/// So many rounds have to be alike.
const MIN_ROUNDS: usize = 4;
/// So many of the last steps of a thread are looked at.
const MAX_STEPS: usize = 4_096;
/// How often a loop may go round in vain, and how often at the most if that is not enough.
const FIRST_LIMIT: u32 = 2;
const LAST_LIMIT: u32 = 64;

/// The loops that wait, as far as they are known, and how often they may go round in vain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Waits {
    loops: Vec<Loop>,
    pub(crate) limit: u32,
}

/// A loop of a thread: the operations of a round, from one that looks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Loop {
    thread: ThreadId,
    round: Vec<Operation>,
    /// Which of them look.
    looks: Vec<bool>,
}

impl Default for Waits {
    fn default() -> Self {
        Self { loops: Vec::new(), limit: FIRST_LIMIT }
    }
}

impl Waits {
    pub(crate) fn is_empty(&self) -> bool {
        self.loops.is_empty()
    }

    /// The longest round.
    pub(crate) fn longest(&self) -> usize {
        self.loops.iter().map(|it| it.round.len()).max().unwrap_or(0)
    }

    /// Whether there is something new for a thread in one of its loops that it would see only later
    /// in the round. The execution in which it saw that in the round before stands for this one.
    pub(crate) fn has_news(&self, order: &HappensBefore, thread: ThreadId) -> bool {
        self.loops.iter().filter(|it| it.thread == thread).any(|it| {
            let mut all = it.round.iter().zip(&it.looks);
            all.any(|(&operation, &looks)| looks && would_be_news(order, thread, operation))
        })
    }

    /// Lets loops go round more often; no if they may do so often enough.
    pub(crate) fn raise(&mut self) -> bool {
        self.limit *= 2;
        self.limit <= LAST_LIMIT
    }

    /// Whether every thread that moves in the second half of an execution waits there.
    pub(crate) fn do_all_wait(order: &HappensBefore, n_threads: usize) -> bool {
        let half = (order.len() / 2) as Position;
        (0..n_threads).map(ThreadId::new).all(|thread| {
            order.steps_of(thread).last().is_none_or(|&at| at <= half)
                || Loop::at_end(order, thread, half).is_some()
        })
    }

    /// Learns which threads wait in an execution that does not end. Whether that is new.
    pub(crate) fn look_at(&mut self, order: &HappensBefore, n_threads: usize) -> bool {
        let half = (order.len() / 2) as Position;
        let found = (0..n_threads)
            .filter_map(|idx| Loop::at_end(order, ThreadId::new(idx), half))
            .filter(|it| !self.loops.iter().any(|known| known.is_same(it)));
        let found: Vec<Loop> = found.collect();
        let is_new = !found.is_empty();
        self.loops.extend(found);
        is_new
    }
}

impl Loop {
    /// The loop that a thread is in, if it has gone round it since the step `half`.
    fn at_end(order: &HappensBefore, thread: ThreadId, half: Position) -> Option<Self> {
        let steps = order.steps_of(thread);
        let first = steps.partition_point(|&at| at <= half);
        let steps = &steps[first.max(steps.len().saturating_sub(MAX_STEPS))..];
        let is_alike = |period: usize| {
            let mut pairs = steps.iter().zip(&steps[period..]);
            pairs.all(|(&a, &b)| order.operation(a) == order.operation(b))
        };
        let period = (1..=MAX_PERIOD.min(steps.len() / MIN_ROUNDS)).find(|&it| is_alike(it))?;
        let mut round: Vec<Operation> =
            steps[..period].iter().map(|&at| order.operation(at)).collect();
        let first = round.iter().position(|&it| looks(it, &round))?;
        // In the first round it may have seen what made it wait.
        let sees_news = steps.windows(2).skip(period).any(|pair| {
            looks(order.operation(pair[1]), &round) && is_news(order, thread, pair[0], pair[1])
        });
        if sees_news {
            return None;
        }
        round.rotate_left(first);
        let looks = round.iter().map(|&it| looks(it, &round)).collect();
        Some(Self { thread, round, looks })
    }

    /// Whether it is the same loop, from wherever its round begins.
    fn is_same(&self, other: &Self) -> bool {
        let n = self.round.len();
        let is_same_from = |start: usize| {
            let turned = self.round.iter().cycle().skip(start).take(n);
            turned.eq(&other.round)
        };
        self.thread == other.thread && n == other.round.len() && (0..n).any(is_same_from)
    }

    /// How often it was gone round in vain, where this is the next operation of its thread.
    fn rounds(&self, order: &HappensBefore, operation: Operation, limit: u32) -> u32 {
        if operation != self.round[0] || would_be_news(order, self.thread, operation) {
            return 0;
        }
        let steps = order.steps_of(self.thread);
        let mut count = 0;
        let mut end = steps.len();
        while count <= limit && end >= self.round.len() {
            let start = end - self.round.len();
            let is_round = steps[start..end]
                .iter()
                .zip(&self.round)
                .all(|(&at, &operation)| order.operation(at) == operation);
            if !is_round {
                break;
            }
            count += 1;
            let sees_news = (start..end).any(|idx| {
                self.looks[idx - start]
                    && (idx == 0 || is_news(order, self.thread, steps[idx - 1], steps[idx]))
            });
            if sees_news {
                break;
            }
            end = start;
        }
        count
    }
}

/// Whether an operation of a round looks at something that the round does not change.
fn looks(operation: Operation, round: &[Operation]) -> bool {
    use Operation as O;
    match operation {
        O::Load(object) => !round.iter().any(|&other| {
            matches!(other, O::Store(it)
                | O::ReadModifyWrite(it)
                | O::AwaitModify(it)
                | O::Add(it)
                | O::AddAndTest(it)
                if it == object)
        }),
        O::TryAcquire(_)
        | O::TryReadAcquire(_)
        | O::TryWriteAcquire(_)
        | O::SemaphoreTryAcquire { .. }
        | O::TrySend { .. }
        | O::TryReceive(_)
        | O::TimedReceive(_)
        | O::FutexWait { .. } => true,
        _ => false,
    }
}

/// Whether a step of a thread follows steps of others that the step before it did not know of.
fn is_news(order: &HappensBefore, thread: ThreadId, before: Position, step: Position) -> bool {
    let (known, knows) = (order.clock_at(before), order.clock_at(step));
    let mut others = knows.iter().enumerate().filter(|(idx, _)| *idx != thread.index());
    others.any(|(idx, &at)| at > known.get(idx).copied().unwrap_or(0))
}

/// The same for the next step of a thread.
fn would_be_news(order: &HappensBefore, thread: ThreadId, operation: Operation) -> bool {
    let mut found = Vec::new();
    order.predecessors(thread, operation, &mut found);
    let own = order.clock(thread);
    found.iter().any(|&at| !order.knows(own, at))
}

/// Counts rounds of the loops that are known to wait.
pub(crate) struct Rounds(pub(crate) Waits);

impl Measure for Rounds {
    fn after(&mut self, before: &Before<'_>, so_far: u32, thread: ThreadId) -> u32 {
        let operation = before.operation(thread);
        let own = self.0.loops.iter().filter(|it| it.thread == thread);
        let rounds = own.map(|it| it.rounds(before.order, operation, self.0.limit)).max();
        so_far.max(rounds.unwrap_or(0))
    }
}
