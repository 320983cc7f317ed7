//! Numbers of joined threads that are used again: every search finds the traces, races and
//! violations that it finds where each thread has a number of its own.

use crate::support::{all_options, name};
use mazurka_core::{
    Decision, Effect, Failure, MemoryOrder, Next, ObjectId, Operation, Part, PlainAccess, System,
    ThreadId,
};
use mazurka_effort::{seeds, share};
use mazurka_explore::{ExploreError, Explorer, Outcome, Reduction};
use mazurka_script::{Script, Shape, generate, shrink};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A program whose threads have their own numbers inside, and numbers that are used again outside.
///
/// A thread that comes to a spawn gives the child the number of a thread that has ended and belongs
/// to it: it has joined that one, or the one that did, and so on. If there is none, the child gets
/// a number that depends on its parent's and on how many such children that has.
struct NumbersAgain<'a> {
    program: Script,
    /// The numbers outside, in this execution; and who has them, or had them last.
    numbers: BTreeMap<usize, usize>,
    owners: BTreeMap<usize, usize>,
    joiners: BTreeMap<usize, usize>,
    n_fresh: BTreeMap<usize, usize>,
    /// The numbers of children, in all executions: by the number of the parent.
    fresh: BTreeMap<(usize, usize), usize>,
    n_initial: usize,
    n_numbers: usize,
    parts: Vec<Part>,
    n_again: &'a AtomicUsize,
}

impl<'a> NumbersAgain<'a> {
    fn new(program: Script, n_again: &'a AtomicUsize) -> Self {
        let mut this = Self {
            program,
            numbers: BTreeMap::new(),
            owners: BTreeMap::new(),
            joiners: BTreeMap::new(),
            n_fresh: BTreeMap::new(),
            fresh: BTreeMap::new(),
            n_initial: 0,
            n_numbers: 0,
            parts: Vec::new(),
            n_again,
        };
        this.program.reset();
        this.n_initial = this.threads().filter(|&it| this.wants(it) != Next::Unborn).count();
        this.n_numbers = this.n_initial;
        this.reset();
        this
    }

    fn threads(&self) -> impl Iterator<Item = usize> + use<> {
        0..self.program.n_threads()
    }

    fn wants(&self, thread: usize) -> Next {
        self.program.next(ThreadId::new(thread))
    }

    fn outside(&self, thread: ThreadId) -> ThreadId {
        ThreadId::new(self.numbers[&thread.index()])
    }

    /// Whether a thread has ended, and belongs to another one.
    fn belongs(&self, thread: usize, owner: usize) -> bool {
        let mut way = std::iter::successors(self.joiners.get(&thread), |it| self.joiners.get(it));
        self.wants(thread) == Next::Finished && way.any(|&it| it == owner)
    }

    /// Gives numbers to the children of those who have come to a spawn.
    fn announce(&mut self) {
        for parent in self.threads() {
            let Some(Operation::Spawn(child)) = self.wants(parent).operation() else { continue };
            let child = child.index();
            if self.numbers.contains_key(&child) {
                continue;
            }
            let again = self.owners.iter().find(|&(_, &it)| self.belongs(it, parent));
            let number = match again.map(|(&number, _)| number) {
                Some(number) => {
                    self.n_again.fetch_add(1, Ordering::Relaxed);
                    number
                }
                None => {
                    let of_parent = self.numbers[&parent];
                    let n_before = self.n_fresh.entry(of_parent).or_default();
                    let key = (of_parent, *n_before);
                    *n_before += 1;
                    *self.fresh.entry(key).or_insert_with(|| {
                        self.n_numbers += 1;
                        self.n_numbers - 1
                    })
                }
            };
            self.numbers.insert(child, number);
            self.owners.insert(number, child);
        }
    }
}

impl System for NumbersAgain<'_> {
    fn reset(&mut self) {
        self.program.reset();
        self.parts.clear();
        self.joiners.clear();
        self.n_fresh.clear();
        let initial = self.threads().filter(|&it| self.wants(it) != Next::Unborn);
        self.numbers = initial.enumerate().map(|(number, thread)| (thread, number)).collect();
        self.owners = self.numbers.iter().map(|(&thread, &number)| (number, thread)).collect();
        self.announce();
    }

    fn n_threads(&self) -> usize {
        self.n_numbers
    }

    fn next(&self, thread: ThreadId) -> Next {
        let Some(&owner) = self.owners.get(&thread.index()) else { return Next::Unborn };
        let outside = |operation| match operation {
            Operation::Spawn(child) => Operation::Spawn(self.outside(child)),
            Operation::Join(child) if self.numbers.contains_key(&child.index()) => {
                Operation::Join(self.outside(child))
            }
            other => other,
        };
        match self.wants(owner) {
            // Announced: who had the number before has ended.
            Next::Unborn if self.is_again(thread.index(), owner) => Next::Finished,
            Next::Enabled { operation, choices } => {
                Next::Enabled { operation: outside(operation), choices }
            }
            Next::Blocked(operation) => Next::Blocked(outside(operation)),
            other => other,
        }
    }

    fn step(&mut self, decision: Decision) -> Result<Effect, Failure> {
        let thread = self.owners[&decision.thread.index()];
        let operation = self.wants(thread).operation();
        let done = self.program.step(Decision { thread: ThreadId::new(thread), ..decision });
        let joined = self.program.parts().iter().filter_map(|it| Some((it.thread, it.joined?)));
        let mut joins: Vec<(usize, usize)> =
            joined.map(|(joiner, ended)| (joiner.index(), ended.index())).collect();
        if let Some(Operation::Join(ended)) = operation {
            joins.push((thread, ended.index()));
        }
        for (joiner, ended) in joins {
            self.joiners.entry(ended).or_insert(joiner);
        }
        self.parts = self.program.parts().to_vec();
        for part in &mut self.parts {
            part.thread = ThreadId::new(self.numbers[&part.thread.index()]);
            part.joined = part.joined.map(|it| ThreadId::new(self.numbers[&it.index()]));
        }
        self.announce();
        match done {
            Ok(Effect::Woke(woken)) => {
                Ok(Effect::Woke(woken.iter().map(|it| self.outside(it)).collect()))
            }
            other => other,
        }
    }

    fn compares(&self, thread: ThreadId) -> bool {
        let owner = self.owners.get(&thread.index());
        owner.is_some_and(|&owner| self.program.compares(ThreadId::new(owner)))
    }

    fn has_plain_accesses(&self) -> bool {
        self.program.has_plain_accesses()
    }

    fn accesses(&self) -> &[PlainAccess] {
        self.program.accesses()
    }

    fn atomic_accesses(&self) -> &[PlainAccess] {
        self.program.atomic_accesses()
    }

    fn order(&self) -> MemoryOrder {
        self.program.order()
    }

    fn parts(&self) -> &[Part] {
        &self.parts
    }

    fn memory_name(&self, object: ObjectId) -> std::borrow::Cow<'_, str> {
        self.program.memory_name(object)
    }
}

impl NumbersAgain<'_> {
    /// Whether another thread had a number before its owner.
    fn is_again(&self, number: usize, owner: usize) -> bool {
        self.numbers.iter().any(|(&it, &of)| of == number && it != owner)
    }
}

/// What is wrong with the searches of a program whose numbers are used again.
fn wrong(script: &Script, n_again: &AtomicUsize) -> Option<String> {
    all_options().into_iter().find_map(|options| {
        let tell = |outcome: Result<Outcome, ExploreError>| match outcome {
            // Each trace once, so there are as many with any numbers.
            Ok(outcome)
                if options.reduction == Reduction::Optimal && outcome.verdict.name() == "holds" =>
            {
                format!("{} after {}", outcome.verdict.name(), outcome.statistics.executions)
            }
            Ok(outcome) => outcome.verdict.name().to_owned(),
            Err(error) => error.to_string(),
        };
        let own = tell(Explorer::new(options.clone()).run(|| script.clone()));
        let make = || NumbersAgain::new(script.clone(), n_again);
        let again = tell(Explorer::new(options.clone()).run(make));
        (own != again).then(|| format!("{}: {own} or {again}", name(&options)))
    })
}

#[test]
fn every_reduction_on_random_programs() {
    let threads = Shape { spawn_join: true, yields: true, ..Shape::locks() };
    let plain = Shape { plain: true, spawn_join: true, max_total: 7, ..Shape::variables() };
    for shape in [threads, plain, Shape::everything()] {
        let mut n_programs = 0;
        for seed in seeds(0..3_000) {
            for at_once in [false, true] {
                let program = generate(seed, &shape);
                let system = |it: &Script| match at_once {
                    true => it.clone().joining_at_once(),
                    false => it.clone(),
                };
                let n_again = AtomicUsize::new(0);
                let what = wrong(&system(&program), &n_again);
                n_programs += usize::from(n_again.load(Ordering::Relaxed) > 0);
                if let Some(what) = what {
                    let is_wrong = |it: &Script| wrong(&system(it), &n_again).is_some();
                    let small = shrink(&program, is_wrong);
                    panic!("seed {seed}: {what}\n  {program}\nshrunk:\n  {small}");
                }
            }
        }
        assert!(n_programs > share(30), "only {n_programs} programs use a number again");
    }
}
