//! Enabling edges: which earlier step put what a step takes, made its room, woke it, or spawned it.

use super::{Event, HappensBefore, Position, Thread};
use crate::{Decision, Effect, ObjectId, Operation, ThreadId, ThreadSet};

/// The steps that put something into an object and took something out.
#[derive(Clone, Debug, Default)]
pub(super) struct Queue {
    put: Vec<Position>,
    taken: Vec<Position>,
}

/// Whether a step stands in a queue, and on which side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Queued {
    No,
    In,
    Out,
}

impl HappensBefore {
    /// Enters a step into its queue, and tells what made it possible: a step that it follows.
    #[inline]
    pub(super) fn enqueue(
        &mut self,
        at: Position,
        decision: Decision,
        operation: Operation,
        effect: Effect,
    ) -> (Position, u32, Queued) {
        use Operation as O;
        // An attempt that ends because its time is up has taken nothing.
        let succeeded = !matches!(effect, Effect::Failed | Effect::Elapsed);
        if effect == Effect::Elapsed {
            self.follow_everything(at);
            self.elapsed.push(at);
        }
        let enabler = match operation {
            O::Timeout(_) | O::Elapse | O::Await(_) | O::AwaitModify(_)
                if effect != Effect::Elapsed =>
            {
                self.elapsed.last().copied().unwrap_or(0)
            }
            O::Call(_) => {
                if let Effect::Woke(sleepers) = effect {
                    self.wake(at, sleepers);
                }
                self.elapsed.last().copied().filter(|_| succeeded).unwrap_or(0)
            }
            O::Spawn(child) => {
                self.bear(at, child);
                0
            }
            O::Join(child) => {
                let Thread { joined, .. } = self.threads[child.index()];
                if joined != 0 {
                    self.follow_join(at, joined);
                }
                self.threads[child.index()].origin()
            }
            O::Reacquire { .. } | O::FutexResume(_) => self.threads[decision.thread.index()].waker,
            O::NotifyOne(_) | O::NotifyAll(_) | O::FutexRequeue { .. } | O::FutexWakeOp { .. } => {
                if let Effect::Woke(sleepers) = effect {
                    self.wake(at, sleepers);
                }
                0
            }
            O::Arrive(object) | O::SemaphoreRelease(object) => {
                let put = &mut self.queues[object.index()].put;
                put.push(at);
                return (0, put.len() as u32 - 1, Queued::In);
            }
            O::Leave { barrier, parties } => self.completes(decision.thread, barrier, parties),
            O::Send { channel, capacity } | O::TrySend { channel, capacity } if succeeded => {
                let queue = &mut self.queues[channel.index()];
                let rank = queue.put.len() as u32;
                queue.put.push(at);
                let room = rank.checked_sub(capacity).and_then(|it| queue.taken.get(it as usize));
                return (room.copied().unwrap_or(0), rank, Queued::In);
            }
            O::Receive(object) | O::TryReceive(object) | O::TimedReceive(object) if succeeded => {
                return self.take(at, object, 0);
            }
            O::SemaphoreAcquire { semaphore, permits }
            | O::SemaphoreTryAcquire { semaphore, permits }
                if succeeded =>
            {
                return self.take(at, semaphore, permits);
            }
            _ => 0,
        };
        (enabler, 0, Queued::No)
    }

    /// Enters a taking step into its queue, and tells which step has put what it takes; the first
    /// `free` need none.
    fn take(&mut self, at: Position, object: ObjectId, free: u32) -> (Position, u32, Queued) {
        let queue = &mut self.queues[object.index()];
        let rank = queue.taken.len() as u32;
        queue.taken.push(at);
        let put = rank.checked_sub(free).and_then(|it| queue.put.get(it as usize));
        (put.copied().unwrap_or(0), rank, Queued::Out)
    }

    /// Time has passed: what comes then comes after the last step of every thread.
    #[cold]
    fn follow_everything(&mut self, at: Position) {
        for idx in 0..self.threads.len() {
            let Thread { joined, .. } = self.threads[idx];
            if joined != 0 {
                self.follow_join(at, joined);
            }
            self.follow(at, self.threads[idx].origin());
        }
    }

    /// A thread is born, perhaps with the number of one that was joined before.
    #[inline]
    fn bear(&mut self, at: Position, child: ThreadId) {
        let Thread { steps, born, joined, .. } = &mut self.threads[child.index()];
        if !steps.is_empty() || *born != 0 {
            self.reborn.push((at, child, *born, std::mem::take(joined)));
        }
        *born = at;
    }

    /// A notification wakes some threads.
    fn wake(&mut self, at: Position, sleepers: ThreadSet) {
        for sleeper in sleepers.iter() {
            let before = std::mem::replace(&mut self.threads[sleeper.index()].waker, at);
            self.woken.push((at, sleeper, before));
        }
    }

    /// The step that lets `operation`, as the next step of `thread`, be taken; 0 if it needs none.
    pub(super) fn what_enables(&self, thread: ThreadId, operation: Operation) -> Position {
        use Operation as O;
        match operation {
            O::Join(child) => self.threads.get(child.index()).map_or(0, Thread::origin),
            O::Reacquire { .. } | O::FutexResume(_) => self.waker(thread, operation).unwrap_or(0),
            O::Leave { barrier, parties } => self.completes(thread, barrier, parties),
            O::Timeout(_) | O::Elapse => self.elapsed.last().copied().unwrap_or(0),
            _ => self.enabler(operation, self.len()),
        }
    }

    /// The arrival that completes the round of a barrier in which `thread` has arrived; 0 if none
    /// has yet.
    fn completes(&self, thread: ThreadId, barrier: ObjectId, parties: u32) -> Position {
        let arrived = self.steps_of(thread).last().copied();
        let rank = self.event(arrived.expect("arriving comes before leaving")).rank;
        let full = (rank / parties + 1) * parties - 1;
        let queue = self.queues.get(barrier.index());
        queue.and_then(|queue| queue.put.get(full as usize).copied()).unwrap_or(0)
    }

    /// The notification that lets a `Reacquire` or a `FutexResume` go on.
    pub fn waker(&self, thread: ThreadId, operation: Operation) -> Option<Position> {
        match operation {
            Operation::Reacquire { .. } | Operation::FutexResume(_) => {
                let thread = &self.threads[thread.index()];
                // A waker from before the wait woke the thread from another sleep.
                Some(thread.waker).filter(|&at| at > thread.steps.last().copied().unwrap_or(0))
            }
            _ => None,
        }
    }

    /// The step that a queue operation would have to follow if it were taken after `depth` steps:
    /// who put what it takes, or who made the room it needs. 0 if there is none.
    pub fn enabler(&self, operation: Operation, depth: usize) -> Position {
        use Operation as O;
        if !matches!(operation, O::Receive(_) | O::SemaphoreAcquire { .. } | O::Send { .. }) {
            return 0;
        }
        let before = |steps: &[Position]| steps.partition_point(|&at| at as usize <= depth);
        let queue = operation.object().and_then(|object| self.queues.get(object.index()));
        let Some(queue) = queue else { return 0 };
        let rank_after = |rank: usize, free: u32| rank.checked_sub(free as usize);
        let enabler = match operation {
            O::Receive(_) => {
                rank_after(before(&queue.taken), 0).and_then(|rank| queue.put.get(rank))
            }
            O::SemaphoreAcquire { permits, .. } => {
                rank_after(before(&queue.taken), permits).and_then(|rank| queue.put.get(rank))
            }
            O::Send { capacity, .. } => {
                rank_after(before(&queue.put), capacity).and_then(|rank| queue.taken.get(rank))
            }
            _ => None,
        };
        enabler.copied().filter(|&at| at as usize <= depth).unwrap_or(0)
    }

    /// Takes a step out of its queue, and puts back whom it woke and spawned.
    #[inline]
    pub(super) fn dequeue(&mut self, at: Position, event: &Event) {
        if event.queued != Queued::No {
            let object = event.operation.object().expect("a queue is an object");
            let queue = &mut self.queues[object.index()];
            match event.queued {
                Queued::In => queue.put.pop(),
                Queued::Out => queue.taken.pop(),
                Queued::No => None,
            };
        }
        if let Operation::Spawn(child) = event.operation {
            let before = self.reborn.pop_if(|&mut (by, ..)| by == at);
            let (_, _, born, joined) = before.unwrap_or((at, child, 0, 0));
            let thread = &mut self.threads[child.index()];
            (thread.born, thread.joined) = (born, joined);
        }
        self.elapsed.pop_if(|&mut step| step == at);
        while let Some((_, sleeper, before)) = self.woken.pop_if(|&mut (by, _, _)| by == at) {
            self.threads[sleeper.index()].waker = before;
        }
    }
}
