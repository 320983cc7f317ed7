//! The machine: runs a [`Program`] whose states are known as a whole, such as a Promela model.
//!
//! The meaning of a step is SPIN's, to the state. Processes are asked from the youngest to the oldest, and
//! their edges in the order in which they are written. A process dies in a step of its own, once it is
//! the youngest. A rendezvous is one step of two processes, and if it is a part of an atomic sequence of
//! the receiver, the receiver goes on alone. A process that waits within an atomic sequence lets the
//! others run.

mod code;
mod compile;
mod describe;
mod footprint;
mod liveness;
mod merge;
mod run;
mod stubborn;
mod trail;
mod view;

pub use compile::MachineError;
pub use trail::TrailError;

use crate::options::{Fairness, Reduction};
use crate::transitions::{
    Described, Labels, Moves, Safety, Sight, Step, Stuck, Successor, Transitions,
};
use code::{Code, Step as Do};
use mazurka_core::{Told, Violation, ViolationKind};
use mazurka_model::{Expr, Program, Span};
use run::Work;
use std::cell;
use std::sync::Arc;
use stubborn::Sets;
use view::{Possible, Tables, View};

/// A program that can be searched state by state.
#[derive(Clone, Debug)]
pub struct Machine {
    code: Arc<Code>,
    tables: Tables,
    work: Work,
    values: Vec<i64>,
    sets: Sets,
    reduction: Reduction,
    /// Whether steps that concern nobody else are parts of the step before.
    merges: bool,
    /// Whether what nobody reads any more is forgotten.
    forgets: bool,
    /// Whether steps that a property may look at are never merged.
    is_watched: bool,
}

impl Machine {
    /// Makes a program ready to run, or tells all that the machine cannot do.
    pub fn new(program: &Program) -> Result<Self, Vec<MachineError>> {
        Self::watching(program, &[])
    }

    /// The same, for a property over these propositions: truth values that no process computes.
    pub fn watching(program: &Program, propositions: &[Expr]) -> Result<Self, Vec<MachineError>> {
        let code = Arc::new(compile::compile(program, propositions)?);
        let (tables, work, values) = (Tables::default(), Work::default(), Vec::new());
        let (sets, reduction) = (Sets::default(), Reduction::Ample);
        let (merges, forgets, is_watched) = (false, false, false);
        let mut machine =
            Self { code, tables, work, values, sets, reduction, merges, forgets, is_watched };
        match machine.begin() {
            Ok(()) => Ok(machine),
            Err(fault) => {
                let message = &machine.code.faults[fault as usize].message;
                let what = format!("an initial state that goes wrong ({message})");
                Err(vec![MachineError { what, span: Span::NONE }])
            }
        }
    }

    /// Makes the initial state.
    fn begin(&mut self) -> Result<(), u32> {
        let code = self.code.clone();
        self.work.begin(&code.globals, &Tables::default());
        self.work.tables.scan(&code, &code.globals);
        for (routine, arguments) in &code.processes {
            let at = self.work.state.len();
            self.work.start(&code, *routine, arguments)?;
            if code.has_priorities {
                self.work.state[at + 3] = code.routines[*routine as usize].priority;
            }
        }
        if self.forgets {
            for process in 0..u32::from(self.work.state[0]) {
                liveness::forget(&code, &self.work.tables, &mut self.work.state, process);
            }
        }
        Ok(())
    }

    /// Takes the promises about who uses which end of a channel for granted, instead of checking them.
    pub fn trusting(mut self) -> Self {
        let code = Arc::make_mut(&mut self.code);
        code.has_exclusive = false;
        footprint::footprints(code);
        merge::find(code);
        self
    }
}

impl Transitions for Machine {
    fn reduce(&mut self, reduction: Reduction) {
        self.reduction = reduction;
        self.forgets = reduction != Reduction::None;
        self.merges = self.forgets && self.code.reduces;
        self.is_watched = false;
    }

    fn reduce_watched(&mut self, reduction: Reduction, fairness: Fairness) {
        self.reduce(reduction);
        self.is_watched = true;
        // A step is that of one process, or of two.
        self.merges &= fairness == Fairness::None;
        // Which steps depend on each other is a part of what that asks for.
        if fairness == Fairness::Trace && reduction == Reduction::None {
            self.reduction = Reduction::Ample;
        }
    }

    fn initial(&mut self, state: &mut Vec<u8>) {
        self.begin().expect("it went well when the machine was made");
        state.extend_from_slice(&self.work.state);
    }

    fn expand(&mut self, state: &[u8], moves: &mut Moves) {
        let code = self.code.clone();
        self.tables.scan(&code, state);
        let alone = state[1];
        for timeout in [false, true] {
            for process in (0..u32::from(state[0])).rev() {
                if alone == 0 || u32::from(alone) == process + 1 {
                    self.moves_of(&code, state, process, timeout, moves);
                    let is_visible = alone != 0 || self.is_visible(state, process);
                    moves.close(process, Safety::Dependent, is_visible);
                }
            }
            if !timeout && alone == 0 {
                self.find_sets(&code, state, moves);
            }
            if !moves.is_empty() || !code.uses_timeout {
                return;
            }
        }
    }

    fn is_valid_end(&mut self, state: &[u8]) -> bool {
        self.with_view(state, |view| {
            (0..view.n_processes()).all(|process| view.place_of(process).is_end)
                && view.is_trace_complete()
        })
    }

    fn stuck(&mut self, state: &[u8]) -> Stuck {
        let processes = self.standing(state);
        let message = "invalid end state".to_owned();
        Stuck { violation: Violation { kind: ViolationKind::InvalidEnd, message }, processes }
    }

    fn violation(&mut self, _state: &[u8], _step: Step, fault: u32) -> Violation {
        let fault = &self.code.faults[fault as usize];
        Violation { kind: fault.kind, message: fault.message.clone() }
    }

    fn describe(&mut self, state: &[u8], step: Step) -> Vec<Told> {
        self.tell(state, step)
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
        self.with_view(state, |view| view.is_true(proposition, 0))
    }

    fn letter(&mut self, state: &[u8]) -> u64 {
        self.with_view(state, |view| {
            let all = view.code.propositions.iter().enumerate();
            let holds = all.filter(|(_, proposition)| view.is_true(**proposition, 0));
            holds.fold(0, |letter, (idx, _)| letter | 1 << idx)
        })
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
        describe::edge(&self.code, edge)
    }

    fn assumptions(&self) -> Vec<String> {
        self.code.assumptions.clone()
    }
}

impl Machine {
    fn with_view<T>(&mut self, state: &[u8], ask: impl FnOnce(View<'_>) -> T) -> T {
        self.tables.scan(&self.code, state);
        let fault = cell::Cell::new(None);
        let tables = &self.tables;
        ask(View { code: &self.code, state, tables, timeout: false, fault: &fault })
    }

    /// Whether the moves of a process may change what a property looks at.
    fn is_visible(&self, state: &[u8], process: u32) -> bool {
        let fault = cell::Cell::new(None);
        let (code, tables) = (&*self.code, &self.tables);
        let view = View { code, state, tables, timeout: false, fault: &fault };
        view.place_of(process).is_visible
    }

    /// Tells which moves may stand for all others.
    fn find_sets(&mut self, code: &Code, state: &[u8], moves: &mut Moves) {
        let is_asked = self.reduction != Reduction::None && moves.groups().len() > 1;
        if is_asked && code.reduces {
            self.sets.find(code, &self.tables, state, self.reduction, moves);
        }
    }

    /// Tells the moves of one process.
    fn moves_of(
        &mut self,
        code: &Code,
        state: &[u8],
        process: u32,
        timeout: bool,
        moves: &mut Moves,
    ) {
        let fault = cell::Cell::new(None);
        let tables = std::mem::take(&mut self.tables);
        let view = View { code, state, tables: &tables, timeout, fault: &fault };
        if view.is_allowed(process) {
            self.edges_of(view, process, moves);
        }
        self.tables = tables;
    }

    fn edges_of(&mut self, view: View<'_>, process: u32, moves: &mut Moves) {
        let mut has_moved = false;
        let mut escape = None;
        for number in view.place_of(process).edges.clone() {
            let edge = &view.code.edges[number as usize];
            if escape.is_some() && edge.escape != escape {
                break;
            }
            if edge.otherwise && has_moved {
                continue;
            }
            let n_before = moves.len();
            let possible = view.possible(edge.guard, &edge.step, process);
            if let Some(fault) = view.fault.take() {
                moves.fault(fault);
                moves.push(step(process, number), Successor::None, &[]);
                has_moved = true;
                continue;
            }
            match possible {
                Possible::No => {}
                Possible::WithPartner => self.rendezvous(view, process, number, moves),
                _ => self.single(view, process, number, possible, moves),
            }
            if moves.len() > n_before {
                has_moved = true;
                escape = edge.escape;
            }
        }
    }

    /// A step of one process.
    fn single(
        &mut self,
        view: View<'_>,
        process: u32,
        number: u32,
        possible: Possible,
        moves: &mut Moves,
    ) {
        let edge = &view.code.edges[number as usize];
        self.work.begin(view.state, view.tables);
        let done = self.work.act(view.code, &edge.step, process, possible);
        let done = done.map(|failed| failed.or(Self::promised(view, process, number)));
        self.push(view.code, step(process, number), process, number, done, moves);
    }

    /// The steps in which others take what a process sends.
    fn rendezvous(&mut self, view: View<'_>, process: u32, number: u32, moves: &mut Moves) {
        let Do::Send(message) = view.code.edges[number as usize].step else { return };
        let message = &view.code.messages[message as usize];
        let channel = view.value(message.channel, process);
        let Some((_, kind)) = view.channel(channel) else { return };
        let mut values = std::mem::take(&mut self.values);
        view.sent(message, process, kind, &mut values);
        for partner in (0..view.n_processes()).rev().filter(|&other| other != process) {
            if view.is_provided(partner) {
                self.taken_by(view, (process, number), partner, channel, &values, moves);
            }
        }
        self.values = values;
    }

    fn taken_by(
        &mut self,
        view: View<'_>,
        (process, number): (u32, u32),
        partner: u32,
        channel: i64,
        values: &[i64],
        moves: &mut Moves,
    ) {
        let code = view.code;
        let mut escape = None;
        let edges = view.place_of(partner).edges.clone();
        for (choice, other) in edges.enumerate() {
            let theirs = &code.edges[other as usize];
            if escape.is_some() && theirs.escape != escape {
                break;
            }
            let taken = view.takes(other, partner, channel, values);
            if let Some(fault) = view.fault.take() {
                moves.fault(fault);
                let step =
                    Step { process, edge: number, choice: choice as u32, partner: Some(partner) };
                moves.push(step, Successor::None, &[]);
                continue;
            }
            let Some((message, within)) = taken else { continue };
            escape = theirs.escape;
            self.work.begin(view.state, view.tables);
            self.work.go_to(process, code.edges[number as usize].to);
            let fields = &code.messages[message as usize].fields;
            let sent = self.work.event(code, true, channel, values);
            let failed = sent.or(self.work.event(code, false, channel, values));
            let failed = failed.or(Self::promised(view, process, number));
            let failed = failed.or(Self::promised(view, partner, other));
            let mut done = self.work.deliver(code, fields, values, partner).map(|()| failed);
            if let (Ok(_), Some(first), Do::Indivisible { end, .. }) = (done, within, &theirs.step)
            {
                done = self.work.rest_at_once(code, partner, first, *end).map(|it| failed.or(it));
            }
            let step =
                Step { process, edge: number, choice: choice as u32, partner: Some(partner) };
            moves.pass(other);
            self.push(code, step, partner, other, done, moves);
        }
    }

    /// Adds the move that `work` is the successor of. `mover` is who may go on alone.
    fn push(
        &mut self,
        code: &Code,
        step: Step,
        mover: u32,
        number: u32,
        done: Result<Option<u32>, u32>,
        moves: &mut Moves,
    ) {
        self.work.passed.iter().for_each(|&edge| moves.pass(edge));
        let failed = match done {
            Err(fault) => {
                moves.fault(fault);
                moves.push(step, Successor::None, &[]);
                return;
            }
            Ok(failed) => failed,
        };
        let edge = &code.edges[number as usize];
        if !matches!(edge.step, Do::Die) {
            self.work.go_to(mover, edge.to);
        }
        if let Some(at) = code.last {
            self.work.state[at as usize] = step.process as u8;
        }
        self.forget(code, step, mover);
        let goes_on = edge.atomic && self.can_go_on(code, mover);
        let alone = if goes_on { Some(mover) } else { self.merged(code, step, mover) };
        self.work.state[1] = alone.map_or(0, |process| process as u8 + 1);
        if alone.is_none() {
            for range in &code.scratch {
                self.work.state[range.clone()].copy_from_slice(&code.globals[range.clone()]);
            }
        }
        if let Some(fault) = failed {
            moves.fault(fault);
        }
        let successor = if alone.is_some() { Successor::Transient } else { Successor::Stored };
        moves.push(step, successor, &self.work.state);
    }

    /// Whether another process has the end of the channel that a process uses here.
    fn promised(view: View<'_>, process: u32, number: u32) -> Option<u32> {
        let (sends, message, fault) = match view.code.edges[number as usize].step {
            Do::Send(message) => (true, message, code::fault::EXCLUSIVE_SEND),
            Do::Receive(message) => (false, message, code::fault::EXCLUSIVE_RECEIVE),
            _ => return None,
        };
        if !view.code.has_exclusive {
            return None;
        }
        let message = &view.code.messages[message as usize];
        let channel = view.value(message.channel, process);
        let is_theirs = |other: u32| {
            let routine = &view.code.routines[view.routine_of(other) as usize];
            let mut promises = routine.exclusive.iter();
            promises.any(|(theirs, node)| *theirs == sends && view.value(*node, other) == channel)
        };
        let others = (0..view.n_processes()).filter(|&other| other != process);
        others.into_iter().any(is_theirs).then_some(fault)
    }

    /// Forgets what is dead where those stand who have moved.
    fn forget(&mut self, code: &Code, step: Step, mover: u32) {
        if !self.forgets {
            return;
        }
        let n_processes = u32::from(self.work.state[0]);
        for process in [mover, step.process, n_processes.wrapping_sub(1)] {
            if process < n_processes {
                liveness::forget(code, &self.work.tables, &mut self.work.state, process);
            }
        }
    }

    /// Who goes on alone behind a step because that concerns nobody else.
    fn merged(&self, code: &Code, step: Step, mover: u32) -> Option<u32> {
        if !self.merges {
            return None;
        }
        let n_processes = u32::from(self.work.state[0]);
        let youngest = n_processes.checked_sub(1);
        let fault = cell::Cell::new(None);
        let view = self.work.view(code, &fault);
        let is_merged = |&process: &u32| {
            process < n_processes
                && view.place_of(process).is_merged
                && !(self.is_watched && view.place_of(process).is_visible)
                && self.can_go_on(code, process)
        };
        [Some(mover), Some(step.process), youngest].into_iter().flatten().find(is_merged)
    }

    fn can_go_on(&self, code: &Code, process: u32) -> bool {
        let fault = cell::Cell::new(None);
        let view = self.work.view(code, &fault);
        view.is_allowed(process) && view.can_move(process)
    }
}

fn step(process: u32, edge: u32) -> Step {
    Step { process, edge, choice: 0, partner: None }
}
