//! The numbers of threads that are spawned, and which of them are used again.
//!
//! The rule is that of native programs: the number of a child depends on what happens before it is
//! spawned, and on nothing else. A thread may give a child the number of a thread that it has
//! joined, or that was joined by one that it has joined, and so on ([`Machine::joined_numbers`]).
//! Such a thread belongs to exactly one that lives, so two threads never use the same number again.
//! Only who has joined a thread is kept, in [`control::STATUS`]: a state is not told from another
//! one by the order of joins.
//!
//! A number is used again only once its thread has more than [`N_UNTOUCHED`] of them, and then in
//! turns: until then, joining a thread twice is told.

use super::code::{HALT, UNBORN};
use super::machine::{Machine, control};
use mazurka_core::{Violation, ViolationKind};

/// So many numbers of joined threads are left alone.
const N_UNTOUCHED: usize = 16;
/// The most numbers: condition variables and locks have room for so many threads.
const MAX: usize = 128;
/// The part of [`control::CHILDREN`] that counts numbers of their own.
const FRESH: u64 = (1 << 32) - 1;

impl Machine {
    /// Gives the next child of a thread its number.
    pub(super) fn name_child(&mut self, thread: usize) -> Result<usize, Violation> {
        if let Some(child) = self.joined_number(thread, N_UNTOUCHED) {
            return Ok(child);
        }
        let n_before = (self.control(thread, control::CHILDREN) & FRESH) as usize;
        while n_before >= self.threads[thread].children.len() {
            let number = self.threads[thread].children.len() as u32;
            let mut names = self.names.lock().expect("the lock is not poisoned");
            let child = names.thread(thread as u32, number, MAX);
            let n_threads = names.n_threads();
            drop(names);
            self.grow(n_threads);
            let Some(child) = child else {
                let few = || {
                    Violation::new(
                        ViolationKind::Unsupported,
                        format!("more than {MAX} threads that were not joined"),
                    )
                };
                return self.joined_number(thread, 0).ok_or_else(few);
            };
            self.threads[thread].children.push(child);
        }
        Ok(self.threads[thread].children[n_before] as usize)
    }

    /// The number of the next child of a thread, which [has one](Self::name_child).
    pub(super) fn child(&self, thread: usize) -> Option<usize> {
        let n_before = (self.control(thread, control::CHILDREN) & FRESH) as usize;
        let fresh = || Some(*self.threads[thread].children.get(n_before)? as usize);
        let joined = self.joined_number(thread, N_UNTOUCHED);
        joined.or_else(fresh).or_else(|| self.joined_number(thread, 0))
    }

    /// The same; the next one is another. The child gets a part of the numbers that could be used
    /// again, for children of its own.
    pub(super) fn take_child(&mut self, thread: usize) -> usize {
        let child = self.child(thread).expect("it was named on the way here");
        let children = self.control(thread, control::CHILDREN);
        let is_again = !self.is_unborn(child);
        self.set_stack(thread, control::CHILDREN, children + if is_again { FRESH + 1 } else { 1 });
        if is_again {
            let mut joined = self.joined_numbers(thread);
            joined.retain(|&it| it != child);
            let n_given = joined.len().saturating_sub(N_UNTOUCHED) / 2;
            for &other in &joined[..n_given] {
                self.set_stack(other, control::STATUS, 1 | (child as u64) << 8);
            }
        }
        child
    }

    /// The number of a thread that was joined, if a thread has more of them than `n_untouched`.
    fn joined_number(&self, thread: usize, n_untouched: usize) -> Option<usize> {
        if self.threads.len() <= n_untouched {
            return None;
        }
        let joined = self.joined_numbers(thread);
        let n_again = (self.control(thread, control::CHILDREN) >> 32) as usize;
        (joined.len() > n_untouched).then(|| joined[n_again % joined.len()])
    }

    /// The numbers of ended threads that belong to a thread, ascending: those that it has joined,
    /// and those that belonged to them.
    fn joined_numbers(&self, thread: usize) -> Vec<usize> {
        let joiner = |idx: usize| {
            let status = self.control(idx, control::STATUS);
            let is_joined = self.pc(idx) == HALT && status & 0xff == 1;
            is_joined.then_some((status >> 8) as usize)
        };
        let belongs = |&idx: &usize| {
            // The way to who lives is no longer than there are threads.
            let mut way = std::iter::successors(joiner(idx), |&it| joiner(it));
            way.by_ref().take(self.threads.len()).any(|it| it == thread)
        };
        (0..self.threads.len()).filter(belongs).collect()
    }

    /// Calls `visit` with the numbers that are known and that a child of a thread may have some
    /// time.
    pub(super) fn future_children(&self, thread: usize, visit: &mut dyn FnMut(usize)) {
        let n_before = match self.is_unborn(thread) {
            true => 0,
            false => (self.control(thread, control::CHILDREN) & FRESH) as usize,
        };
        let fresh = self.threads[thread].children.get(n_before..).unwrap_or_default();
        fresh.iter().for_each(|&child| visit(child as usize));
        if self.threads.len() > N_UNTOUCHED {
            // A thread that was born may have been joined by then.
            (0..self.threads.len()).filter(|&it| !self.is_unborn(it)).for_each(visit);
        }
    }

    /// Whether no thread had the number of a thread before.
    pub(super) fn is_unborn(&self, thread: usize) -> bool {
        self.pc(thread) == UNBORN
    }
}
