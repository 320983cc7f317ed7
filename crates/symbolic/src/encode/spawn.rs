//! Threads that start and join others.

use super::graph::{ENDED, StopKind};
use super::memory::Cell;
use super::operate::Gate;
use super::state::State;
use super::walk::Pace;
use super::{Choice, Encoder, Fault, Limit};
use crate::{Lit, Word};
use mazurka_model::{Callee, Expr, RegisterId, Type, ViolationKind};

impl Encoder<'_> {
    pub(super) fn spawn(
        &mut self,
        state: &mut State,
        callee: &Callee,
        arguments: &[Expr],
        to: Option<RegisterId>,
    ) -> Gate {
        let span = self.span;
        let arguments: Vec<(Word, Type)> =
            arguments.iter().map(|value| (self.eval(state, value), value.ty())).collect();
        let callees = self.callees(state, callee);
        let counter = self.n_started[self.thread];
        let count = state.get(&self.variables, counter);
        let mut started = Vec::new();
        let mut states: Vec<State> = Vec::new();
        let threads = self.threads;
        for (child, it) in threads.iter().enumerate() {
            let Some((_, number)) = it.parent.filter(|(parent, _)| *parent == self.thread) else {
                continue;
            };
            let is_next = self.circuit.aig.equals_number(&count, number.into());
            for (root, &(routine, context)) in it.roots.iter().enumerate() {
                let is_meant = callees.iter().find(|(callee, _)| *callee == routine);
                let Some((_, is_meant)) = is_meant else { continue };
                let is_it = self.circuit.aig.and(is_next, *is_meant);
                let mut begun = state.only_if(&mut self.circuit.aig, is_it);
                if begun.condition == Lit::FALSE {
                    continue;
                }
                self.touch_cell(&begun, Cell::Born(child), Lit::TRUE, true);
                self.push_frame(&mut begun, child, context, &arguments);
                self.know_first(&mut begun, child);
                self.monitor_spawn(&mut begun, child);
                started.push((is_it, child));
                let begun = self.run_up(child, root, begun);
                for (&variable, word) in begun.iter().flat_map(|begun| &begun.changed) {
                    if state.changed.get(&variable) != Some(word) {
                        self.births.insert(((self.thread, self.station), variable));
                    }
                }
                states.extend(begun);
            }
        }
        let is_one = self.circuit.aig.any(started.iter().map(|(is_it, _)| *is_it));
        let over = state.only_if(&mut self.circuit.aig, !is_one);
        let n_children = self.known.bounds.n_children();
        self.limit(over, Limit::Threads(n_children, span));
        let numbers: Vec<(Lit, Word)> = started
            .iter()
            .map(|&(is_it, child)| (is_it, Word::constant(32, child as u64)))
            .collect();
        let merged = states
            .into_iter()
            .reduce(|all, next| all.or(&mut self.circuit.aig, &self.variables, next));
        state.condition = Lit::FALSE;
        if let Some(merged) = merged {
            *state = merged;
        }
        let one = Word::constant(count.width(), 1);
        let more = self.circuit.aig.add(&count, &one);
        state.set(counter, more);
        let number = self.circuit.aig.one_hot(32, &numbers);
        self.assign_if_any(state, to, &number, Type::U32);
        Gate { choice: Choice::Started(started), ..Gate::OPEN }
    }

    /// Lets a thread that begins run up to its first stops, or none of it if something could go
    /// wrong on the way, or be seen by others: there must be a step to blame for that.
    fn run_up(&mut self, child: usize, root: usize, begun: State) -> Vec<State> {
        let threads = self.threads;
        let it = &threads[child];
        let n_before = (self.touches.len(), self.faults.len(), self.limits.len());
        let n_raced = (self.raced.len(), self.raced_here.len());
        let is_within = self.is_within;
        let (pending, ends) = (std::mem::take(&mut self.pending), std::mem::take(&mut self.ends));
        let (thread, context, span) = (self.thread, self.context, self.span);
        let (pace, at) = (self.pace, self.at);
        self.thread = child;
        // What is touched on the way is asked, whether the thread that begins it has passed
        // something or not.
        let first = begun.seen_from(None);
        self.walk(it.begin(self.known.program, root), first, Pace::Stopping);
        (self.thread, self.context, self.span) = (thread, context, span);
        (self.pace, self.at, self.is_within) = (pace, at, is_within);
        self.pending = pending;
        let reached = std::mem::replace(&mut self.ends, ends);
        let is_quiet = n_before == (self.touches.len(), self.faults.len(), self.limits.len());
        self.touches.truncate(n_before.0);
        self.faults.truncate(n_before.1);
        self.limits.truncate(n_before.2);
        self.raced.truncate(n_raced.0);
        self.raced_here.truncate(n_raced.1);
        let begin = it.stop_at(StopKind::Begin(root)).expect("roots begin somewhere");
        let reached = if is_quiet { reached } else { vec![(begin, begun.clone())] };
        let mut states = Vec::new();
        for (stop, mut state) in reached {
            state.passed.clone_from(&begun.passed);
            let (station, state) = self.at_stop(child, None, stop, state);
            self.born_at[child].insert(station);
            states.push(state);
        }
        states
    }

    /// The threads that a number may mean, and whether the one it does may be joined.
    fn joinable(&mut self, state: &mut State, number: &Word) -> Vec<(usize, Lit)> {
        let mut threads = Vec::new();
        for thread in 0..self.threads.len() {
            let is_it = self.circuit.aig.equals_number(number, thread as u64);
            self.touch_cell(state, Cell::Born(thread), is_it, false);
            self.touch_cell(state, Cell::Ended(thread), is_it, true);
            let pc = state.get(&self.variables, self.pcs[thread]);
            let is_born = self.circuit.aig.is_nonzero(&pc);
            let status = state.get(&self.variables, self.statuses[thread]);
            let is_free = self.is_zero(&status);
            threads.push((thread, self.circuit.aig.all([is_it, is_born, is_free])));
        }
        let is_one = self.circuit.aig.any(threads.iter().map(|(_, is_it)| *is_it));
        let message = "a thread is joined that is none, was joined or was detached";
        self.fault(state, is_one, Fault::new(ViolationKind::Assertion, message));
        threads
    }

    pub(super) fn join(
        &mut self,
        state: &mut State,
        process: &Expr,
        to: Option<RegisterId>,
    ) -> Gate {
        let number = self.eval(state, process);
        let threads = self.joinable(state, &number);
        let is_good = state.condition;
        let others = threads.iter().filter(|(it, when)| *it != self.thread && *when != Lit::FALSE);
        let others: Vec<usize> = others.map(|(it, _)| *it).collect();
        // No thread gets past its own end.
        self.effects.joins = if let [only] = others[..] { Some(only) } else { None };
        let mut has_ended = Vec::new();
        let mut results = Vec::new();
        for (thread, is_it) in threads {
            let pc = self.variables.word(self.pcs[thread]).clone();
            let is_over = self.circuit.aig.equals_number(&pc, ENDED as u64);
            has_ended.push(self.circuit.aig.and(is_it, is_over));
            let (aig, variables) = (&mut self.circuit.aig, &self.variables);
            state.set_if(aig, variables, is_it, self.statuses[thread], &Word::constant(2, 1));
            results.push((is_it, self.variables.word(self.results[thread]).clone()));
            self.monitor_join(state, thread, is_it);
        }
        let result = self.circuit.aig.one_hot(64, &results);
        self.assign_if_any(state, to, &result, Type::U64);
        let has_ended = self.circuit.aig.any(has_ended);
        Gate::new(self.circuit.aig.or(has_ended, !is_good))
    }

    /// Says that a thread is not going to be joined.
    pub(super) fn detach(&mut self, state: &mut State, number: &Word) {
        for (thread, is_it) in self.joinable(state, number) {
            let (aig, variables) = (&mut self.circuit.aig, &self.variables);
            state.set_if(aig, variables, is_it, self.statuses[thread], &Word::constant(2, 2));
        }
    }
}
