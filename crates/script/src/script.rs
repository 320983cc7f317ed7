//! A script: a program of one line of text, run as a system whose steps can be undone.

use crate::ast::Program;
use crate::parse::{self, ScriptError};
use crate::run::{self, Code, Disciplines, Machine};
use mazurka_core::{
    Accessed, AddId, Addition, Decision, Discipline, Divergence, Effect, Failure, Fence, Foresight,
    Injection, MemoryOrder, Next, ObjectId, Operation, Part, PlainAccess, Schedule, System,
    ThreadId, replay_to,
};
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError};

/// A concurrent program, and how far it has run.
///
/// A clone shares the program and goes on from the same state. Two scripts are equal if their
/// programs are, wherever they stand.
#[derive(Clone)]
pub struct Script {
    program: Arc<Program>,
    code: Arc<Code>,
    machine: Machine,
    disciplines: Disciplines,
    /// The same, as far as clones of this one have learnt.
    learnt: Arc<Mutex<Disciplines>>,
}

impl Script {
    /// The program that `text` describes, in its initial state, or all that is wrong with it.
    ///
    /// The [crate documentation](crate) has the language.
    pub fn parse(text: &str) -> Result<Self, Vec<ScriptError>> {
        parse::parse(text).map(Self::new)
    }

    /// The script of a `program` that the parser could have read.
    pub(crate) fn new(program: Program) -> Self {
        Self::with_disciplines(Arc::new(program), Disciplines::default())
    }

    fn with_disciplines(program: Arc<Program>, disciplines: Disciplines) -> Self {
        let code = run::compile(&program, &disciplines);
        let machine = Machine::new(&code);
        let learnt = Arc::new(Mutex::new(disciplines.clone()));
        Self { program, code: Arc::new(code), machine, disciplines, learnt }
    }

    /// The same program, with additions in order where a search of it or of a clone has found that
    /// they have to be; nothing if it has not.
    pub fn relearnt(&self) -> Option<Self> {
        let learnt = self.learnt.lock().unwrap_or_else(PoisonError::into_inner).clone();
        (learnt != self.disciplines).then(|| {
            let relearnt = Self::with_disciplines(self.program.clone(), learnt);
            match self.machine.joins_at_once {
                true => relearnt.joining_at_once(),
                false => relearnt,
            }
        })
    }

    /// The same program, in its initial state, with joins that are no steps: see [`System::parts`].
    #[must_use]
    pub fn joining_at_once(mut self) -> Self {
        self.machine.joins_at_once = true;
        self.reset();
        self
    }

    /// The program as a tree.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The whole state as numbers: two states of one script are the same if these are.
    pub fn state(&self) -> Vec<i64> {
        self.machine.state(&self.code)
    }

    /// What the program has computed: its variables, plain memory, all locals, and for each
    /// thread whether it has ended.
    pub fn outcome(&self) -> Vec<i64> {
        self.machine.outcome(&self.code)
    }

    /// How many steps were taken since the initial state.
    pub fn n_steps(&self) -> usize {
        self.machine.n_steps()
    }

    /// How many objects its operations can be about.
    pub fn n_objects(&self) -> usize {
        self.code.object_names.len()
    }

    /// The same program, in its initial state, with thread `i` at place `permutation[i]`. The
    /// targets of spawns and joins follow; `tid` is the number of the new place.
    ///
    /// # Panics
    ///
    /// If `permutation` is not one of the numbers of the threads.
    pub fn rename_threads(&self, permutation: &[usize]) -> Self {
        let mut sorted = permutation.to_vec();
        sorted.sort_unstable();
        assert!(
            sorted.into_iter().eq(0..self.n_threads()),
            "{permutation:?} does not permute {} threads",
            self.n_threads(),
        );
        Self::new(self.program.rename_threads(permutation))
    }
}

impl System for Script {
    fn reset(&mut self) {
        self.machine.reset(&self.code);
    }

    fn n_threads(&self) -> usize {
        self.code.n_threads()
    }

    #[inline]
    fn next(&self, thread: ThreadId) -> Next {
        self.machine.next(&self.code, thread)
    }

    #[inline]
    fn compares(&self, thread: ThreadId) -> bool {
        self.machine.compares(&self.code, thread)
    }

    fn step(&mut self, decision: Decision) -> Result<Effect, Failure> {
        self.step_with(decision, Injection::default())
    }

    fn takes_injections(&self) -> bool {
        true
    }

    #[inline]
    fn step_with(&mut self, decision: Decision, injection: Injection) -> Result<Effect, Failure> {
        debug_assert!(
            matches!(self.next(decision.thread),
                Next::Enabled { choices, .. } if decision.choice < choices),
            "{decision:?} is not possible: {:?}",
            self.next(decision.thread),
        );
        self.machine.step(&self.code, decision, injection)
    }

    fn accessed(&self) -> Option<Accessed> {
        self.machine.accessed
    }

    fn rewind_with(
        &mut self,
        schedule: &Schedule,
        injections: &[Injection],
        depth: usize,
    ) -> Result<(), Divergence> {
        debug_assert!(injections.len() >= depth, "one for each step");
        self.rewind(schedule, depth)
    }

    fn rewind(&mut self, schedule: &Schedule, depth: usize) -> Result<(), Divergence> {
        if depth <= self.machine.n_steps() {
            self.machine.undo(depth);
            return Ok(());
        }
        replay_to(self, schedule, depth)
    }

    fn accesses(&self) -> &[PlainAccess] {
        &self.machine.accesses
    }

    fn parts(&self) -> &[Part] {
        &self.machine.parts
    }

    fn order(&self) -> MemoryOrder {
        self.machine.order
    }

    fn fences(&self) -> &[Fence] {
        &self.machine.fences
    }

    fn addition(&self) -> Option<Addition> {
        self.machine.addition
    }

    fn add_does_not_commute(&mut self, object: ObjectId, turns: &[AddId]) {
        let known = self.disciplines.get(&object);
        let mut learnt = self.learnt.lock().unwrap_or_else(PoisonError::into_inner);
        // What a search finds after the first is not what the next one will be like.
        if learnt.get(&object) == known {
            learnt.insert(object, known.unwrap_or(&Discipline::Free).stricter(turns));
        }
    }

    fn is_in_order(&self, object: ObjectId, turn: AddId) -> bool {
        self.disciplines.get(&object).is_some_and(|discipline| discipline.is_in_order(turn))
    }

    fn fingerprint(&self) -> Option<u128> {
        Some(self.machine.fingerprint(&self.code))
    }

    fn foresight(&self) -> Option<&dyn Foresight> {
        Some(self)
    }

    fn object_name(&self, object: ObjectId) -> Cow<'_, str> {
        Cow::Borrowed(&self.code.object_names[object.index()])
    }

    fn memory_name(&self, object: ObjectId) -> Cow<'_, str> {
        Cow::Borrowed(&self.code.memory_names[object.index()])
    }
}

impl Foresight for Script {
    fn future(&self, thread: ThreadId, visit: &mut dyn FnMut(Operation)) {
        self.machine.future(&self.code, thread, visit);
    }
}

impl FromStr for Script {
    type Err = Vec<ScriptError>;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::parse(text)
    }
}

impl fmt::Display for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.program.fmt(f)
    }
}

impl fmt::Debug for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Script({:?} after {} steps)", self.to_string(), self.n_steps())
    }
}

impl PartialEq for Script {
    fn eq(&self, other: &Self) -> bool {
        self.program == other.program
    }
}

impl Eq for Script {}
