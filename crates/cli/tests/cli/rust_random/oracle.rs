//! All that a program can come to, by going through all of its states.
//!
//! A condition variable is what the standard library has: a number that notifications raise, and
//! that a thread has to find unchanged to fall asleep. So it may be woken for nothing, as a thread
//! that was about to fall asleep when another one was notified.

use super::program::{Atomic, Deed, N_ATOMICS, N_CONDVARS, N_MUTEXES, Program, mixed};
use std::collections::BTreeSet;

/// What a program can come to.
#[derive(Debug, Default)]
pub(crate) struct Ends {
    /// What is told at its end.
    pub(crate) outcomes: BTreeSet<u32>,
    pub(crate) is_deadlock_possible: bool,
}

/// One step of a thread.
#[derive(Clone, Copy, Debug)]
enum Step {
    Spawn(usize),
    Join(usize),
    Lock(usize),
    /// If it is taken, notes that and goes on behind the next two.
    TryLock(usize),
    Unlock(usize),
    Change {
        mutex: usize,
        is_counted: bool,
    },
    /// If so many changes were counted, goes on so many steps further.
    SkipIf {
        mutex: usize,
        count: u32,
        by: usize,
    },
    Back(usize),
    /// Looks at the number of a condition variable.
    Look(usize),
    /// Falls asleep, if the number is still the same.
    Sleep(usize),
    /// Goes on once woken.
    Awake,
    Raise(usize),
    WakeOne(usize),
    WakeAll(usize),
    ReadLock,
    ReadUnlock,
    WriteLock,
    TryWriteLock,
    WriteUnlock,
    Park,
    Unpark(usize),
    Atomic {
        atomic: usize,
        operation: Atomic,
        value: u32,
        is_noted: bool,
    },
}

#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct State {
    at: Vec<usize>,
    is_born: Vec<bool>,
    notes: Vec<u32>,
    looks: Vec<u32>,
    /// The condition variable that a thread sleeps on.
    sleeps: Vec<Option<usize>>,
    has_token: Vec<bool>,
    is_taken: [bool; N_MUTEXES],
    guarded: [(u32, u32); N_MUTEXES],
    numbers: [u32; N_CONDVARS],
    n_readers: u32,
    is_written: bool,
    behind_rwlock: u32,
    atomics: [u32; N_ATOMICS],
}

/// What is told at the end of a program.
pub(crate) fn outcome(numbers: impl IntoIterator<Item = u32>) -> u32 {
    let mix = |sum: u32, it: u32| (sum ^ it).wrapping_mul(0x9e37_79b1).rotate_left(11);
    numbers.into_iter().fold(7, mix)
}

/// Goes through all states; nothing, if there are too many.
pub(crate) fn ends(program: &Program) -> Option<Ends> {
    const MAX_STATES: usize = 400_000;
    let n_threads = program.threads.len();
    let threads: Vec<Vec<Step>> = (0..n_threads).map(|idx| steps(program, idx)).collect();
    let mut first = State {
        at: vec![0; n_threads],
        is_born: vec![false; n_threads],
        notes: vec![0; n_threads],
        looks: vec![0; n_threads],
        sleeps: vec![None; n_threads],
        has_token: vec![false; n_threads],
        ..State::default()
    };
    first.is_born[0] = true;
    let (mut open, mut seen, mut ends) = (vec![first], BTreeSet::new(), Ends::default());
    while let Some(state) = open.pop() {
        if !seen.insert(state.clone()) {
            continue;
        }
        if seen.len() > MAX_STATES {
            return None;
        }
        if state.at[0] == threads[0].len() {
            ends.outcomes.insert(state.outcome());
            continue;
        }
        let n_open = open.len();
        for thread in 0..n_threads {
            if let Some(&step) = threads[thread].get(state.at[thread])
                && state.is_born[thread]
            {
                state.take(&threads, thread, step, &mut open);
            }
        }
        ends.is_deadlock_possible |= open.len() == n_open;
    }
    Some(ends)
}

fn steps(program: &Program, idx: usize) -> Vec<Step> {
    let deeds = program.threads[idx].deeds.iter().enumerate();
    let n_threads = program.threads.len();
    let spawned = |n_done: usize| {
        let is_now = move |child: &usize| idx == 0 && program.before[*child] == n_done;
        (1..n_threads).filter(is_now).map(Step::Spawn)
    };
    let mut all = Vec::new();
    for (n_done, &deed) in deeds {
        all.extend(spawned(n_done));
        add(deed, &mut all);
    }
    all.extend(spawned(program.threads[idx].deeds.len()));
    if idx == 0 {
        all.extend((1..n_threads).map(Step::Join));
    }
    all
}

fn add(deed: Deed, all: &mut Vec<Step>) {
    use Step as S;
    let change = |mutex| S::Change { mutex, is_counted: false };
    let wake = |condvar, is_all| if is_all { S::WakeAll(condvar) } else { S::WakeOne(condvar) };
    match deed {
        Deed::Section(mutex) => all.extend([S::Lock(mutex), change(mutex), S::Unlock(mutex)]),
        Deed::Nested(outer) => {
            let inner = 1 - outer;
            all.extend([S::Lock(outer), S::Lock(inner), change(outer), change(inner)]);
            all.extend([S::Unlock(inner), S::Unlock(outer)]);
        }
        Deed::TryLock(mutex) => all.extend([S::TryLock(mutex), change(mutex), S::Unlock(mutex)]),
        Deed::Signal { mutex, condvar, is_inside, is_all } => {
            all.extend([S::Lock(mutex), S::Change { mutex, is_counted: true }]);
            let notify = [S::Raise(condvar), wake(condvar, is_all)];
            if is_inside {
                all.extend(notify);
                all.push(S::Unlock(mutex));
            } else {
                all.push(S::Unlock(mutex));
                all.extend(notify);
            }
        }
        Deed::Notify { condvar, is_all } => {
            all.extend([S::Raise(condvar), wake(condvar, is_all)]);
        }
        Deed::WaitOnce { mutex, condvar } => {
            all.extend([S::Lock(mutex), S::Look(condvar), S::Unlock(mutex), S::Sleep(condvar)]);
            all.extend([S::Awake, S::Lock(mutex), change(mutex), S::Unlock(mutex)]);
        }
        Deed::WaitUntil { mutex, condvar, count, .. } => {
            all.extend([S::Lock(mutex), S::SkipIf { mutex, count, by: 7 }]);
            all.extend([S::Look(condvar), S::Unlock(mutex), S::Sleep(condvar), S::Awake]);
            all.extend([S::Lock(mutex), S::Back(6), change(mutex), S::Unlock(mutex)]);
        }
        Deed::Read => all.extend([S::ReadLock, S::ReadUnlock]),
        Deed::Write => all.extend([S::WriteLock, S::WriteUnlock]),
        Deed::TryWrite => all.extend([S::TryWriteLock, S::WriteUnlock]),
        Deed::Park => all.push(S::Park),
        Deed::Unpark(thread) => all.push(S::Unpark(thread)),
        Deed::Atomic { atomic, operation, value, is_noted, .. } => {
            all.push(S::Atomic { atomic, operation, value, is_noted });
        }
    }
}

impl State {
    fn outcome(&self) -> u32 {
        let guarded = self.guarded.iter().flat_map(|&(count, value)| [count, value]);
        let all = guarded.chain([self.behind_rwlock]).chain(self.atomics);
        outcome(all.chain(self.notes.iter().copied()))
    }

    fn note(&mut self, thread: usize, what: u32) {
        self.notes[thread] = mixed(self.notes[thread], what);
    }

    /// Adds the states after a step of a thread, if that can be taken.
    fn take(&self, threads: &[Vec<Step>], thread: usize, step: Step, open: &mut Vec<Self>) {
        let mut to = self.clone();
        to.at[thread] += 1;
        let me = thread as u32;
        match step {
            Step::Spawn(child) => to.is_born[child] = true,
            Step::Join(child) if self.at[child] < threads[child].len() => return,
            Step::Join(_) => {}
            Step::Lock(mutex) if self.is_taken[mutex] => return,
            Step::Lock(mutex) => to.is_taken[mutex] = true,
            Step::TryLock(mutex) if self.is_taken[mutex] => {
                to.at[thread] += 2;
                to.note(thread, 100);
            }
            Step::TryLock(mutex) => to.is_taken[mutex] = true,
            Step::Unlock(mutex) => to.is_taken[mutex] = false,
            Step::Change { mutex, is_counted } => {
                let (count, value) = self.guarded[mutex];
                to.guarded[mutex] = (count + u32::from(is_counted), mixed(value, me));
            }
            Step::SkipIf { mutex, count, by } => {
                to.at[thread] += if self.guarded[mutex].0 >= count { by - 1 } else { 0 };
            }
            Step::Back(by) => to.at[thread] = self.at[thread] - by,
            Step::Look(condvar) => to.looks[thread] = self.numbers[condvar],
            Step::Sleep(condvar) => {
                let is_same = self.looks[thread] == self.numbers[condvar];
                to.sleeps[thread] = is_same.then_some(condvar);
                to.looks[thread] = 0;
            }
            Step::Awake if self.sleeps[thread].is_some() => return,
            Step::Awake => {}
            Step::Raise(condvar) => to.numbers[condvar] += 1,
            Step::WakeOne(condvar) => {
                let is_there = |&it: &usize| self.sleeps[it] == Some(condvar);
                for sleeper in (0..threads.len()).filter(is_there) {
                    let mut woken = to.clone();
                    woken.sleeps[sleeper] = None;
                    open.push(woken);
                }
                if (0..threads.len()).any(|it| is_there(&it)) {
                    return;
                }
            }
            Step::WakeAll(condvar) => {
                to.sleeps.iter_mut().for_each(|it| *it = it.filter(|&it| it != condvar));
            }
            Step::ReadLock | Step::WriteLock if self.is_written => return,
            Step::ReadLock => {
                to.n_readers += 1;
                to.note(thread, self.behind_rwlock);
            }
            Step::ReadUnlock => to.n_readers -= 1,
            Step::WriteLock if self.n_readers > 0 => return,
            Step::TryWriteLock if self.is_written || self.n_readers > 0 => {
                to.at[thread] += 1;
                to.note(thread, 200);
            }
            Step::WriteLock | Step::TryWriteLock => {
                to.is_written = true;
                to.behind_rwlock = mixed(self.behind_rwlock, me);
            }
            Step::WriteUnlock => to.is_written = false,
            Step::Park if !self.has_token[thread] => return,
            Step::Park => to.has_token[thread] = false,
            Step::Unpark(other) => to.has_token[other] = true,
            Step::Atomic { atomic, operation, value, is_noted } => {
                let old = self.atomics[atomic];
                to.atomics[atomic] = operation.apply(old, value);
                if is_noted {
                    to.note(thread, old);
                }
            }
        }
        open.push(to);
    }
}
