//! Joins that are no steps of their own: a thread goes on after another's end within the step that
//! ends it.

use super::{HappensBefore, LANE, Position, joined};
use crate::ThreadId;
use crate::fold::mix;

/// Counts [`HappensBefore::joins`]: 0 stands for "none".
pub(super) type JoinNumber = u32;

/// A join that was no step of its own.
#[derive(Clone, Copy, Debug)]
pub(super) struct Join {
    /// The step in which it came about.
    at: Position,
    thread: ThreadId,
    /// What the thread has joined before that, since its last step.
    before: JoinNumber,
    /// The last step of the thread that has ended, and what that has joined since.
    end: Position,
    of_ended: JoinNumber,
    /// Of all that the thread knows since its last step.
    hash: u64,
}

impl HappensBefore {
    /// In the last step, `thread` has joined `ended` and gone on: what it does next comes after all
    /// that the other one did.
    pub fn join(&mut self, thread: ThreadId, ended: ThreadId) {
        let n_threads = thread.index().max(ended.index()) + 1;
        if n_threads > self.threads.len() {
            self.grow_threads(n_threads);
        }
        for lane in 0..self.stride / LANE {
            let [mine, theirs] = [thread, ended].map(|it| self.clock(it).as_chunks().0[lane]);
            self.join_clocks.push(joined(&mine, &theirs));
        }
        let of_ended = self.threads[ended.index()].joined;
        let end = self.threads[ended.index()].origin();
        let before = self.threads[thread.index()].joined;
        let of_end = mix(self.hash_at(end), self.hash_of_join(of_ended));
        let hash = mix(self.hash_of_join(before), of_end);
        let at = self.events.len() as Position;
        self.joins.push(Join { at, thread, before, end, of_ended, hash });
        self.threads[thread.index()].joined = self.joins.len() as JoinNumber;
    }

    /// The threads that have [joined](Self::join) others in the last step, one for each time.
    #[inline]
    pub fn joiners(&self) -> impl Iterator<Item = ThreadId> + '_ {
        self.last_joins().map(|join| join.thread)
    }

    /// The last steps of the threads that were [joined](Self::join) in the last step.
    pub fn joined_ends(&self) -> impl Iterator<Item = Position> + '_ {
        self.last_joins().map(|join| join.end).filter(|&at| at != 0)
    }

    #[inline]
    fn last_joins(&self) -> impl Iterator<Item = &Join> + '_ {
        let at = self.events.len() as Position;
        self.joins.iter().rev().take_while(move |join| join.at == at)
    }

    #[cold]
    pub(super) fn clock_of_join(&self, join: JoinNumber) -> &[Position] {
        let width = self.stride / LANE;
        let end = join as usize * width;
        self.join_clocks[end - width..end].as_flattened()
    }

    /// Orders the step `at`, whose clock has begun, after all that a thread has joined.
    pub(super) fn follow_join(&mut self, at: Position, join: JoinNumber) {
        let width = self.stride / LANE;
        let [start, end] = [at, join].map(|it| it as usize * width);
        let mine = &mut self.clocks[start..start + width];
        for (mine, theirs) in mine.iter_mut().zip(&self.join_clocks[end - width..end]) {
            *mine = joined(mine, theirs);
        }
    }

    /// The last steps of all threads that were joined, directly or by one that was.
    pub(super) fn ends_before(&self, mut join: JoinNumber, found: &mut Vec<Position>) {
        while join != 0 {
            let Join { end, of_ended, before, .. } = self.joins[join as usize - 1];
            found.push(end);
            self.ends_before(of_ended, found);
            join = before;
        }
    }

    /// A hash of all that a thread knows through a join, beside its own past.
    pub(super) fn hash_of_join(&self, join: JoinNumber) -> u64 {
        match join {
            0 => 0,
            join => self.joins[join as usize - 1].hash,
        }
    }

    /// Takes back the joins of the last step.
    #[inline]
    pub(super) fn take_back_joins(&mut self) {
        let at = self.events.len() as Position;
        while let Some(join) = self.joins.pop_if(|join| join.at == at) {
            self.threads[join.thread.index()].joined = join.before;
            self.join_clocks.truncate(self.join_clocks.len() - self.stride / LANE);
        }
    }
}
