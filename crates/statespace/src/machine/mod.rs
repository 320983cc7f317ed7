//! The machine: runs a [`Program`] whose states are known as a whole, such as a Promela model.
//!
//! The meaning of a step is SPIN's, to the state. Processes are asked from the youngest to the
//! oldest, and their edges in the order in which they are written. A process dies in a step of its
//! own, once it is the youngest. A rendezvous is one step of two processes, and if it is a part of
//! an atomic sequence of the receiver, the receiver goes on alone. A process that waits within an
//! atomic sequence lets the others run.

mod code;
mod compile;
mod describe;
mod footprint;
#[cfg(feature = "jit")]
mod jit;
#[cfg(not(feature = "jit"))]
#[path = "no_jit.rs"]
mod jit;
mod liveness;
mod merge;
mod parts;
mod run;
mod steps;
mod stubborn;
mod touched;
mod trail;
mod variables;
mod view;

pub use compile::MachineError;
pub(crate) use parts::{ByParts, Lost};
pub use trail::TrailError;

use crate::options::{Fairness, Optimisations, Reduction};
use crate::saved::fingerprint;
use crate::transitions::{Described, Labels, Moves, Safety, Sight, Step, Stuck, Transitions};
use code::{Code, fault};
use jit::{Context, Jit};
use mazurka_core::{Assumption, Property, Told, Violation, ViolationKind};
use mazurka_model::{Expr, Program, RoutineId, Span};
use run::Truncated;
use std::cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use steps::{Ending, Steps};
use stubborn::{Mover, Sets};
use view::{Tables, View};

/// A program that can be searched state by state.
#[derive(Clone, Debug)]
pub struct Machine {
    code: Arc<Code>,
    tables: Tables,
    steps: Steps,
    sets: Sets,
    movers: Vec<Mover>,
    reduction: Reduction,
    tier: Tier,
    /// How many states were expanded.
    n_expanded: u32,
    jit: Arc<Compiled>,
    /// The routine that no process runs: the never claim.
    claim: Option<RoutineId>,
}

/// How a machine computes what comes next. It makes no difference but in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Tier {
    /// Step by step, and by machine code when there is a lot to do.
    #[default]
    Auto,
    /// Step by step.
    Interpreted,
    /// By machine code wherever that is possible.
    Compiled,
}

/// How many states are expanded before it is worth while to compile.
const A_LOT: u32 = 2_000;

/// The steps as machine code, which one worker makes while the others go on without it.
#[derive(Debug, Default)]
struct Compiled {
    is_begun: AtomicBool,
    /// Once it is there; `None` if it cannot be had.
    jit: OnceLock<Option<Jit>>,
}

impl Compiled {
    /// Makes it, unless that is done already.
    fn begin(&self, code: &Code) {
        if !self.is_begun.swap(true, Ordering::Relaxed) {
            self.wait(code);
        }
    }

    /// Makes it, or waits for who does.
    fn wait(&self, code: &Code) {
        self.jit.get_or_init(|| Jit::new(code));
    }

    fn get(&self) -> Option<&Jit> {
        self.jit.get()?.as_ref()
    }
}

impl Machine {
    /// Makes a program ready to run, or tells all that the machine cannot do.
    pub fn new(program: &Program) -> Result<Self, Vec<MachineError>> {
        Self::watching(program, &[])
    }

    /// The same, for a property over these propositions: truth values that no process computes.
    pub fn watching(program: &Program, propositions: &[Expr]) -> Result<Self, Vec<MachineError>> {
        let code = Arc::new(compile::compile(program, propositions)?);
        let mut machine = Self {
            code,
            tables: Tables::default(),
            steps: Steps::default(),
            sets: Sets::default(),
            movers: Vec::new(),
            reduction: Reduction::Ample,
            tier: Tier::default(),
            n_expanded: 0,
            jit: Arc::default(),
            claim: program.claim,
        };
        match machine.begin() {
            Ok(()) => Ok(machine),
            Err(fault) => {
                let message = &machine.code.faults[fault as usize].message;
                let what = format!("an initial state that goes wrong ({message})");
                // The last one that was started.
                let n_processes = machine.steps.work.state.first().copied().unwrap_or_default();
                let process = usize::from(n_processes.saturating_sub(1));
                let routine = program.processes.get(process).map(|it| it.routine);
                let span = routine.map_or(Span::NONE, |it| program.routine(it).span);
                Err(vec![MachineError { what, span }])
            }
        }
    }

    /// Makes the initial state.
    fn begin(&mut self) -> Result<(), u32> {
        let (code, work) = (&*self.code, &mut self.steps.work);
        work.begin(&code.globals, &Tables::default());
        work.tables.scan(code, &code.globals);
        for (routine, arguments) in &code.processes {
            let at = work.state.len();
            work.start(code, *routine, arguments)?;
            if code.has_priorities {
                work.state[at + 3] = code.routines[*routine as usize].priority;
            }
        }
        if self.steps.ending.forgets {
            for process in 0..u32::from(work.state[0]) {
                liveness::forget(code, &work.tables, &mut work.state, process);
            }
        }
        Ok(())
    }

    /// Takes the promises about who uses which end of a channel for granted, instead of checking
    /// them.
    pub fn trusting(mut self) -> Self {
        let code = Arc::make_mut(&mut self.code);
        code.has_exclusive = false;
        footprint::footprints(code);
        merge::find(code);
        self
    }

    /// Finds values that are stored where there is no room for them, which is no violation
    /// otherwise.
    pub fn finding_truncation(mut self) -> Self {
        let code = Arc::make_mut(&mut self.code);
        code.finds_truncation = true;
        liveness::find_idle(code);
        self
    }

    /// Says how to compute what comes next.
    pub fn with_tier(mut self, tier: Tier) -> Self {
        self.tier = tier;
        self
    }

    /// For how many locations of processes there is machine code by now.
    pub fn n_compiled(&self) -> usize {
        self.jit.get().map_or(0, Jit::n_locations)
    }

    /// Has machine code made if it is time.
    #[inline]
    fn warm_up(&mut self) {
        match self.tier {
            Tier::Auto if self.n_expanded < A_LOT => self.n_expanded += 1,
            Tier::Auto => self.jit.begin(&self.code),
            Tier::Interpreted => {}
            Tier::Compiled => self.jit.wait(&self.code),
        }
    }
}

impl Transitions for Machine {
    fn reduce(&mut self, reduction: Reduction, optimisations: Optimisations) {
        self.reduction = reduction;
        let Optimisations { dead_variables: forgets, merging } = optimisations;
        // What is not known to be local is not merged.
        let merges = merging && self.code.reduces;
        self.steps.ending = Ending { forgets, merges, is_watched: false };
    }

    fn reduce_watched(
        &mut self,
        reduction: Reduction,
        optimisations: Optimisations,
        fairness: Fairness,
    ) {
        self.reduce(reduction, optimisations);
        self.steps.ending.is_watched = true;
        // A step is that of one process, or of two.
        self.steps.ending.merges &= fairness == Fairness::None;
        // Which steps depend on each other is a part of what that asks for.
        if fairness == Fairness::Trace && reduction == Reduction::None {
            self.reduction = Reduction::Ample;
        }
    }

    fn initial(&mut self, state: &mut Vec<u8>) {
        self.begin().expect("it went well when the machine was made");
        state.extend_from_slice(&self.steps.work.state);
    }

    fn expand(&mut self, state: &[u8], moves: &mut Moves) {
        self.warm_up();
        let is_watched = self.steps.ending.is_watched;
        self.tables.scan(&self.code, state);
        let Self { code, tables, steps, tier, jit, .. } = self;
        let jit = jit.get().filter(|_| *tier != Tier::Interpreted);
        let alone = state[1];
        for timeout in [false, true] {
            let fault = cell::Cell::new(None);
            let view = View::new(code, state, tables, timeout, &fault);
            let mut context = Context::new(view, jit, steps, moves);
            for process in (0..u32::from(state[0])).rev() {
                if alone == 0 || u32::from(alone) == process + 1 {
                    let n_before = context.moves().len();
                    context.moves_of(view, process);
                    if context.moves().len() > n_before {
                        let is_visible = alone != 0 || view.place_of(process).is_visible;
                        context.moves().close(process, Safety::Dependent, is_visible);
                    }
                }
            }
            let reduces = code.reduces && self.reduction != Reduction::None;
            if reduces && !timeout && alone == 0 && moves.groups().len() > 1 {
                self.movers.clear();
                let groups = moves.groups().iter();
                self.movers
                    .extend(groups.map(|it| Mover { process: it.process, is_visible: it.visible }));
                let how = (self.reduction, is_watched);
                self.sets.find(code, tables, state, how, &self.movers).tell(moves);
            }
            if !moves.is_empty() || !code.uses_timeout {
                return;
            }
        }
    }

    fn is_valid_end(&mut self, state: &[u8]) -> bool {
        // As in SPIN, a trace need not be complete if there is no process any more.
        self.with_view(state, |view| {
            let n_processes = view.n_processes();
            (0..n_processes).all(|process| view.place_of(process).is_end)
                && (n_processes == 0 || view.is_trace_complete())
        })
    }

    fn stuck(&mut self, state: &[u8]) -> Stuck {
        let processes = self.standing(state);
        let message = "invalid end state".to_owned();
        Stuck { violation: Violation::new(ViolationKind::InvalidEnd, message), processes }
    }

    fn violation(&mut self, state: &[u8], step: Step, number: u32) -> Violation {
        let fault = &self.code.faults[number as usize];
        let mut violation = fault.violation();
        if number == fault::TRUNCATED
            && let Some(what) = self.truncated(state, step)
        {
            let Truncated { value, stored, bits } = what;
            violation.message =
                format!("value ({value}->{stored} ({bits})) truncated in assignment");
        }
        violation
    }

    fn faults(&self) -> Vec<Property> {
        let truncated = self.code.finds_truncation.then_some(Property::Truncation);
        [Property::Assertion].into_iter().chain(truncated).collect()
    }

    fn describe(&mut self, state: &[u8], step: Step) -> Vec<Told> {
        self.tell(state, step)
    }

    fn changed_variables(&mut self, before: &[u8], after: &[u8], step: Step) -> Vec<String> {
        self.changed(before, after, step)
    }

    fn variables(&mut self, state: &[u8]) -> Vec<String> {
        self.held(state)
    }

    fn process_name(&mut self, state: &[u8], process: u32) -> String {
        self.with_view(state, |view| describe::name(view, process))
    }

    fn labels(&mut self, state: &[u8]) -> Labels {
        self.with_view(state, |view| {
            let mut labels = Labels::default();
            for process in 0..view.n_processes() {
                let place = view.place_of(process);
                labels.progress |= place.is_progress;
                labels.accept |= place.is_accept;
            }
            labels
        })
    }

    fn n_propositions(&self) -> usize {
        self.code.propositions.len()
    }

    fn holds(&mut self, proposition: usize, state: &[u8]) -> bool {
        let proposition = self.code.propositions[proposition];
        self.with_view(state, |view| view.holds(proposition))
    }

    fn letter(&mut self, state: &[u8]) -> u64 {
        self.reading(state).0
    }

    fn reading(&mut self, state: &[u8]) -> (u64, u64) {
        self.with_view(state, |view| {
            let (mut letter, mut undefined) = (0, 0);
            for (idx, &proposition) in view.code.propositions.iter().enumerate() {
                letter |= u64::from(view.holds(proposition)) << idx;
                undefined |= u64::from(view.fault.take().is_some()) << idx;
            }
            (letter & !undefined, undefined)
        })
    }

    fn undefined(&mut self, proposition: usize, state: &[u8]) -> Option<Violation> {
        let proposition = self.code.propositions[proposition];
        let fault = self.with_view(state, |view| {
            view.holds(proposition);
            view.fault.take()
        })?;
        let fault = &self.code.faults[fault as usize];
        Some(fault.violation())
    }

    fn sight(&mut self, _state: &[u8], process: u32) -> Sight {
        let mut sight = Sight { changes: 0, by_others: 0 };
        for (idx, &proposition) in self.code.propositions.iter().enumerate() {
            let (changes, by_others) = footprint::who_changes(&self.code, proposition, process);
            sight.changes |= u64::from(changes) << idx;
            sight.by_others |= u64::from(by_others) << idx;
        }
        sight
    }

    fn n_edges(&self) -> usize {
        self.code.edges.len()
    }

    fn edge(&self, edge: u32) -> Option<Described> {
        let is_in = |claim: RoutineId| {
            let places = &self.code.routines[claim.0 as usize].places;
            places.iter().any(|place| place.edges.contains(&edge))
        };
        if self.claim.is_some_and(is_in) {
            return None;
        }
        describe::edge(&self.code, edge)
    }

    fn assumptions(&self) -> Vec<Assumption> {
        self.code.assumptions.clone()
    }

    fn fingerprint(&self) -> Option<u128> {
        // Another version may tell the moves of a state in another order.
        Some(fingerprint(&(env!("CARGO_PKG_VERSION"), &*self.code, self.claim)))
    }

    fn by_parts(&self) -> Option<ByParts> {
        match self.tier {
            Tier::Auto => ByParts::new(self),
            Tier::Interpreted | Tier::Compiled => None,
        }
    }
}

impl Machine {
    /// The value that a step cuts off.
    fn truncated(&mut self, state: &[u8], step: Step) -> Option<Truncated> {
        self.tables.scan(&self.code, state);
        let fault = cell::Cell::new(None);
        let view = View::new(&self.code, state, &self.tables, true, &fault);
        self.steps.edge(view, step.process, step.edge, &mut Moves::new());
        self.steps.work.truncated
    }

    fn with_view<T>(&mut self, state: &[u8], ask: impl FnOnce(View<'_>) -> T) -> T {
        self.tables.scan(&self.code, state);
        let fault = cell::Cell::new(None);
        let tables = &self.tables;
        ask(View::new(&self.code, state, tables, false, &fault))
    }
}
