//! Time, as threads see it: a thread that learns of what another did sees no earlier time than
//! that one.
//!
//! Each thread has a time of its own, which moves when the thread looks at a clock or waits. One
//! time for all would tell threads of others that they have nothing to do with, and an execution
//! would depend on the order of steps that commute. So times are passed on like logical clocks
//! (Lamport, *Time, Clocks, and the Ordering of Events in a Distributed System*, CACM 1978): a step
//! is not earlier than the steps that happen before it. Here *happens before* is the order of a
//! trace (`core`'s `HappensBefore`), and what a step learns is the latest time of those that it
//! follows at its places, or that make it possible. So the times of a trace do not depend on how it
//! is linearised.
//!
//! With a spawn and a join, times are always passed on. With objects, only once a thread of any
//! execution has looked at a clock while others were there; then the search begins again.

use crate::machine::{self, Machine};
use crate::plain_accesses::CUT;
use mazurka_core::{Effect, End, ObjectId, Operation as O, ThreadId, Touch};
use std::sync::atomic::Ordering;

/// The times that objects pass on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Times {
    /// Two for each object, one for each of its ends.
    places: Vec<Place>,
    queues: Vec<Queue>,
    /// A step whose times were not passed on yet: what it did may still be corrected.
    pending: Option<(usize, O)>,
}

/// The latest times of those who touched a place, by how they did.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    chain: u64,
    written: u64,
    read: u64,
    added: u64,
}

/// When each permit was given back and each party came, and how many permits were taken.
#[derive(Clone, Debug, Default)]
struct Queue {
    put: Vec<u64>,
    n_taken: usize,
}

impl Times {
    /// Of an execution that has not begun.
    pub(crate) fn clear(&mut self) {
        self.places.clear();
        self.queues.clear();
        self.pending = None;
    }

    fn place(&mut self, object: ObjectId, end: End) -> &mut Place {
        let idx = 2 * object.index() + usize::from(end == End::Back);
        if idx >= self.places.len() {
            self.places.resize(idx + 1, Place::default());
        }
        &mut self.places[idx]
    }

    fn queue(&mut self, object: ObjectId) -> &mut Queue {
        if object.index() >= self.queues.len() {
            self.queues.resize(object.index() + 1, Queue::default());
        }
        &mut self.queues[object.index()]
    }
}

impl Place {
    /// What a touch learns.
    fn before(&self, touch: Touch) -> u64 {
        match touch {
            Touch::Read => self.written.max(self.added),
            Touch::Add => self.chain.max(self.read),
            Touch::Write => self.chain.max(self.read).max(self.added),
            Touch::Enter => self.chain,
        }
    }

    fn note(&mut self, touch: Touch, time: u64) {
        match touch {
            Touch::Read => self.read = self.read.max(time),
            Touch::Add => self.added = self.added.max(time),
            Touch::Enter => self.chain = time,
            Touch::Write => (self.chain, self.written) = (time, time),
        }
    }
}

impl Machine {
    /// A thread takes a step.
    #[inline]
    pub(crate) fn begin_time(&mut self, idx: usize, operation: O) {
        if self.has_clocks {
            self.pass_time();
            self.times.pending = Some((idx, operation));
        }
    }

    /// Passes on the times of the last step.
    pub(crate) fn pass_time(&mut self) {
        let Some((idx, operation)) = self.times.pending.take() else { return };
        let mut time = self.threads[idx].ticks;
        let touches = operation.touches();
        // That additions come after each other is not told to who adds: it depends on the search.
        let touches = touches.as_slice().iter();
        let touches = touches
            .filter(|((_, end), _)| !(*end == End::Back && matches!(operation, O::AddAndTest(_))));
        for &((object, end), touch) in touches.clone() {
            time = time.max(self.times.place(object, end).before(touch));
        }
        time = time.max(self.time_of_enabler(idx, operation));
        for &((object, end), touch) in touches {
            self.times.place(object, end).note(touch, time);
        }
        match operation {
            O::SemaphoreRelease(object) | O::Arrive(object) | O::Meet(object) => {
                self.times.queue(object).put.push(time);
            }
            O::SemaphoreAcquire { semaphore, .. } => self.times.queue(semaphore).n_taken += 1,
            O::SemaphoreTryAcquire { semaphore, .. } if self.effect != Effect::Failed => {
                self.times.queue(semaphore).n_taken += 1;
            }
            _ => {}
        }
        if time > self.threads[idx].ticks {
            self.threads[idx].ticks = time;
        }
        if let Effect::Woke(woken) = self.effect {
            woken.iter().for_each(|it| self.learn_time(it, time));
        }
    }

    /// The latest time of the steps that make an operation possible, beside those at its places.
    fn time_of_enabler(&mut self, idx: usize, operation: O) -> u64 {
        let succeeded = self.effect != Effect::Failed;
        match operation {
            O::SemaphoreAcquire { semaphore, permits }
            | O::SemaphoreTryAcquire { semaphore, permits }
                if succeeded =>
            {
                let queue = self.times.queue(semaphore);
                let put = queue.n_taken.checked_sub(permits as usize);
                put.and_then(|put| queue.put.get(put)).copied().unwrap_or(0)
            }
            O::Leave { barrier, parties } | O::Part { barrier, parties } => {
                let end = self.threads[idx].round_end as usize;
                let round = end.saturating_sub(parties as usize)..end;
                let arrivals = self.times.queue(barrier).put.get(round).unwrap_or_default();
                arrivals.iter().copied().max().unwrap_or(0)
            }
            _ => 0,
        }
    }

    /// A thread learns of what was done at a time.
    pub(crate) fn learn_time(&mut self, thread: ThreadId, time: u64) {
        if time > self.threads[thread.index()].ticks {
            self.threads[thread.index()].ticks = time;
        }
    }
}

/// The running thread looks at a clock, or has waited.
pub(crate) fn look() {
    machine::with(|machine| {
        if machine.is_concurrent() && !machine.has_clocks {
            machine.has_clocks = true;
            CUT.store(true, Ordering::Relaxed);
        }
        machine.pass_time();
    });
}
