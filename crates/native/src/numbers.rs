//! Numbers and names of threads: who has which number, and which numbers are used again.
//!
//! The search wants numbers that depend on nothing but what happens before a thread is announced
//! ([`ThreadId`]). The n-th child of a thread has a number of its own, the same in all executions
//! ([`Machine::fresh_number`]). That alone would be too few for a program that starts threads one
//! after the other, so a thread may give a child the number of a thread that has ended and that it
//! knows to have ended ([`Machine::joined_number`]): it has joined it, or has joined the one that
//! did, and so on. A thread that was joined belongs to exactly one thread that lives, so two
//! threads that run beside each other never use the same number again. What belongs to a thread is
//! decided by its own joins and by what those whom it joined had, so it is the same in all
//! executions of a trace.
//!
//! A number is used again only once its thread has more than [`N_UNTOUCHED`] of them, and then in
//! turns: until then, a program that uses the handle or the stack of a thread that was joined is
//! told so. A thread that was detached keeps its number, for nothing tells others that it has
//! ended.
//!
//! Names do not depend on numbers: the second child of `main` is `main.2`, whatever its number is.

use crate::helpers;
use crate::machine::Machine;
use crate::objects::Objects;
use crate::thread::{Status, Thread};
use mazurka_core::ThreadId;

/// So many numbers of joined threads are left alone.
const N_UNTOUCHED: usize = 16;

/// The names of all threads of all executions: a tree of births.
pub(crate) struct Names(Vec<Name>);

struct Name {
    text: String,
    children: Vec<u32>,
}

impl Names {
    pub(crate) fn new() -> Self {
        Self(vec![Name { text: "main".to_owned(), children: Vec::new() }])
    }

    /// How many threads all executions had.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn get(&self, name: u32) -> &str {
        &self.0[name as usize].text
    }

    /// The name of the child that a thread announces after `n_before` others.
    fn child(&mut self, parent: u32, n_before: u32) -> u32 {
        let of_parent = &self.0[parent as usize];
        if let Some(&known) = of_parent.children.get(n_before as usize) {
            return known;
        }
        let text = format!("{}.{}", of_parent.text, n_before + 1);
        let number = self.0.len() as u32;
        self.0.push(Name { text, children: Vec::new() });
        self.0[parent as usize].children.push(number);
        number
    }
}

impl Machine {
    /// The number for the next child of a thread, and the child's name; `None` if there are too
    /// many threads.
    pub(crate) fn number_for_child(&mut self, parent: ThreadId) -> Option<ThreadId> {
        let idx = parent.index();
        let child = self.joined_number(idx, N_UNTOUCHED).or_else(|| self.fresh_number(idx));
        // Numbers never become more again, so this, too, is decided by what happens before.
        let child = child.or_else(|| self.joined_number(idx, 0))?;
        let (name, n_before) = (self.threads[idx].name, self.threads[idx].n_births);
        self.threads[idx].n_births += 1;
        self.threads[child].name = self.thread_names.child(name, n_before);
        Some(ThreadId::new(child))
    }

    /// The number of a thread that was joined, if a thread has more of them than `n_untouched`. The
    /// child gets a part of the others, for children of its own.
    fn joined_number(&mut self, idx: usize, n_untouched: usize) -> Option<usize> {
        // A thread that was never joined itself, and has joined no other, has none.
        if self.threads[idx].n_joined == 0 {
            return None;
        }
        let mut joined = joined_numbers(&self.threads, &self.objects, idx);
        if joined.len() <= n_untouched {
            return None;
        }
        let child = joined.remove(self.threads[idx].n_births as usize % joined.len());
        let n_given = joined.len().saturating_sub(N_UNTOUCHED) / 2;
        for &other in &joined[..n_given] {
            self.threads[other].joiner = Some(child);
        }
        // What belonged to the one that had the number belongs to the one that gets it.
        let n_inherited = joined.iter().filter(|&&it| self.threads[it].joiner == Some(child));
        self.threads[child].n_joined = n_inherited.count() as u32;
        Some(child)
    }

    /// A number that only the next child of a thread has.
    fn fresh_number(&mut self, idx: usize) -> Option<usize> {
        let n_threads = self.threads.len();
        let parent = &self.threads[idx];
        let n_before = parent.n_children;
        let child = match parent.children.get(n_before) {
            Some(known) => known.index(),
            None => match helpers::numbers() {
                None => self.new_number(idx)?,
                // Others may have met it before, and more beside.
                Some(numbers) => {
                    let child = numbers.of(ThreadId::new(idx), n_before + 1)?;
                    for number in n_threads..=child {
                        self.new_number(numbers.parent(number).index())?;
                    }
                    child
                }
            },
        };
        self.threads[idx].n_children += 1;
        self.threads[child].n_joined = 0;
        Some(child)
    }

    /// The next number, for a child of this thread.
    fn new_number(&mut self, parent: usize) -> Option<usize> {
        let number = Some(self.threads.len()).filter(|&number| number < ThreadId::MAX)?;
        self.threads[parent].children.push(ThreadId::new(number));
        self.threads.push(Thread::new(number));
        Some(number)
    }

    /// Gives children the numbers that they had in another process, by whose child each is.
    pub(crate) fn number(&mut self, parents: &[ThreadId]) {
        for &parent in parents.iter().skip(self.threads.len() - 1) {
            self.new_number(parent.index());
        }
    }

    /// Whose child each number is for, but for the first.
    pub(crate) fn parents(&self) -> Vec<ThreadId> {
        let mut parents = vec![ThreadId::new(0); self.threads.len()];
        for (idx, thread) in self.threads.iter().enumerate() {
            thread.children.iter().for_each(|it| parents[it.index()] = ThreadId::new(idx));
        }
        parents.split_off(1)
    }

    /// What people call a thread that has no label.
    pub(crate) fn birth_name(&self, idx: usize) -> String {
        self.thread_names.get(self.threads[idx].name).to_owned()
    }

    /// What people call a thread.
    pub(crate) fn thread_name(&self, idx: usize) -> String {
        self.threads[idx].label.clone().unwrap_or_else(|| self.birth_name(idx))
    }
}

/// The numbers of ended threads that belong to a thread, ascending: those that it has joined, and
/// those that belonged to them. Who has ended with a lock in its hands is not among them.
fn joined_numbers(threads: &[Thread], objects: &Objects, idx: usize) -> Vec<usize> {
    let is_joined = |it: &Thread| it.status == Status::Finished && it.is_joined;
    let belongs = |number: &usize| {
        let mut thread = &threads[*number];
        // The way to who lives is no longer than there are threads.
        for _ in 0..threads.len() {
            match thread.joiner {
                Some(joiner) if is_joined(thread) && joiner == idx => return true,
                Some(joiner) if is_joined(thread) => thread = &threads[joiner],
                _ => return false,
            }
        }
        false
    };
    let holds = |number: usize| objects.held_by(ThreadId::new(number)).next().is_some();
    (1..threads.len()).filter(belongs).filter(|&number| !holds(number)).collect()
}
