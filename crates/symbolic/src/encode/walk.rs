//! Invisible actions: all ways from a visible action to the next stops.
//!
//! The graph between two stops has no cycle, so its points are visited once, in order. Where ways
//! come together, their states become one: a formula grows with the graph, not with its ways.

use super::graph::{ENDED, Point, STUCK, StopId, StopKind, may_be_atomic};
use super::memory::{Cell, ObjectId, ObjectKind, Site, Target, TouchKind};
use super::state::State;
use super::station::StationId;
use super::{Encoder, Fault, Limit, Pass};
use crate::{Lit, Word};
use mazurka_model::{
    Action, Branching, Callee, Edge, Expr, Place, Pointer, RegisterId, RoutineId, Sync, Type,
    ViolationKind,
};

/// Whether a walk goes on where no other thread could disturb it, or stops at the next stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Pace {
    Passing,
    Stopping,
}

impl Encoder<'_> {
    /// Walks from a point, whatever stop may be there, until nothing is left to walk.
    pub(super) fn walk(&mut self, from: Point, state: State, pace: Pace) {
        let it = &self.threads[self.thread];
        let rank = match pace {
            Pace::Passing => it.passing_rank(from),
            Pace::Stopping => it.rank(from),
        };
        self.pending.insert((pace, rank), state);
        self.walk_on();
    }

    /// Walks until nothing is left to walk.
    pub(super) fn walk_on(&mut self) {
        while let Some(((pace, rank), state)) = self.pending.pop_first() {
            let it = &self.threads[self.thread];
            let point = match pace {
                Pace::Passing => it.passed_at(rank),
                Pace::Stopping => it.point_at(rank),
            };
            self.pace = pace;
            self.pass(point, state);
        }
    }

    /// Comes to a point.
    pub(super) fn go(&mut self, point: Point, state: State) {
        if state.condition == Lit::FALSE {
            return;
        }
        let it = &self.threads[self.thread];
        if let Some(stop) = it.stop_at(StopKind::Head(point)) {
            self.end(stop, state);
            return;
        }
        // A way that goes back ends at the next stop, so that every loop has one.
        let goes_on = it.passing_rank(point) > self.at;
        let key = match self.pace {
            Pace::Passing if goes_on => (Pace::Passing, it.passing_rank(point)),
            _ => (Pace::Stopping, it.rank(point)),
        };
        let state = match self.pending.remove(&key) {
            Some(other) => state.or(&mut self.circuit.aig, &self.variables, other),
            None => state,
        };
        self.pending.insert(key, state);
    }

    /// Comes to a stop.
    pub(super) fn end(&mut self, stop: StopId, state: State) {
        if state.condition != Lit::FALSE {
            self.ends.push((stop, state));
        }
    }

    /// Takes the ways that lead away from a point.
    fn pass(&mut self, point: Point, mut state: State) {
        let program = self.known.program;
        let threads = self.threads;
        let it = &threads[self.thread];
        self.context = point.context;
        self.is_within = point.n_atomic > 0;
        self.at = it.passing_rank(point);
        if it.is_end(program, point) {
            self.return_from(point, state, None);
            return;
        }
        let routine = program.routine(it.contexts[point.context].routine);
        if routine.location(point.location).branching == Branching::Choice {
            self.refuse("a choice between edges", routine.span);
        }
        for (number, edge) in it.edges(program, point).iter().enumerate() {
            self.context = point.context;
            self.is_within = point.n_atomic > 0;
            self.span = edge.span;
            let guard = match &edge.guard {
                Some(guard) => self.eval(&state, guard).bits()[0],
                None => Lit::TRUE,
            };
            let taken = state.only_if(&mut self.circuit.aig, guard);
            state.condition = self.circuit.aig.and(state.condition, !guard);
            if taken.condition == Lit::FALSE {
                continue;
            }
            if it.is_visible(&self.known, point, edge) {
                let kind = StopKind::Edge { point, edge: number, is_second: false };
                let stop = it.stop_at(kind).expect("visible edges are stops");
                match self.passed_station(stop, &edge.action, &taken) {
                    Some(station) => self.pass_stop(point, number, edge, (stop, station), taken),
                    None => self.end(stop, taken),
                }
            } else {
                self.pass_edge(point, number, edge, taken);
            }
        }
        self.fault(
            &mut state,
            Lit::FALSE,
            Fault::new(ViolationKind::InvalidEnd, "a thread has no way to go on"),
        );
    }

    /// The station at which a thread need not stop, since no other thread could disturb the step
    /// from there.
    fn passed_station(&self, stop: StopId, action: &Action, state: &State) -> Option<StationId> {
        let merging = self.plan.merging.as_ref().filter(|_| self.pace == Pace::Passing)?;
        if matches!(action, Action::Choose { .. }) {
            return None;
        }
        let facts = self.facts(self.thread, stop, state);
        let station = self.stations.find(self.thread, stop, &facts)?;
        merging.passable.contains(&(self.thread, station)).then_some(station)
    }

    /// Takes the step from a stop as a part of the step before; stops where that is not possible.
    fn pass_stop(
        &mut self,
        point: Point,
        number: usize,
        edge: &Edge,
        (stop, station): (StopId, StationId),
        state: State,
    ) {
        let mut passed = state.seen_from(Some(station));
        let effects = self.effects;
        let (gate, to) = self.act(point, number, edge, false, &mut passed);
        self.effects = effects;
        let waits = state.only_if(&mut self.circuit.aig, !gate.is_open);
        self.end(stop, waits);
        passed.condition = self.circuit.aig.and(passed.condition, gate.is_open);
        let taken = self.circuit.aig.and(state.condition, gate.is_open);
        self.passes.push(Pass { taken, gate });
        self.come_to(to, passed);
    }

    /// Carries out an invisible action and goes on behind it.
    fn pass_edge(&mut self, point: Point, number: usize, edge: &Edge, mut state: State) {
        let goes_on = Point { location: edge.to, ..point };
        if point.n_atomic > 0 && !may_be_atomic(&edge.action) {
            let message = "something is run within an atomic block that waits or is no access";
            self.fault(&mut state, Lit::FALSE, Fault::new(ViolationKind::Unsupported, message));
            return;
        }
        match &edge.action {
            Action::Call { callee, arguments, .. } => {
                return self.call(point, number, callee, arguments, state);
            }
            Action::Return { value } => return self.return_from(point, state, value.as_ref()),
            Action::ExitProcess { value } => {
                let value = value.as_ref().map(|value| self.result(&state, value));
                let mut at = Some(point.context);
                while let Some(context) = at {
                    self.drop_frame(&mut state, context);
                    at = self.threads[self.thread].contexts[context].caller.map(|it| it.context);
                }
                return self.leave_thread(state, value);
            }
            Action::ExitProgram => return self.stop_for_ever(point, state),
            Action::Assume { condition } => {
                let holds = self.eval(&state, condition).bits()[0];
                let stuck = state.only_if(&mut self.circuit.aig, !holds);
                self.stop_for_ever(point, stuck);
                state.condition = self.circuit.aig.and(state.condition, holds);
            }
            Action::AtomicEnd if point.n_atomic == 0 => {
                let message = "an atomic block ends that never began";
                self.fault(&mut state, Lit::FALSE, Fault::new(ViolationKind::Assertion, message));
                return;
            }
            Action::AtomicEnd => {
                return self.go(Point { n_atomic: point.n_atomic - 1, ..goes_on }, state);
            }
            Action::AtomicBegin => {
                return self.go(Point { n_atomic: point.n_atomic + 1, ..goes_on }, state);
            }
            Action::Allocate { to, size, .. } => {
                self.allocate(point, number, &mut state, *to, size);
            }
            action if action.is_visible(true) => {
                self.access(&mut state, action);
            }
            action => self.compute(&mut state, action),
        }
        self.go(goes_on, state);
    }

    /// Carries out what always goes on behind itself, and is never visible.
    fn compute(&mut self, state: &mut State, action: &Action) {
        match action {
            Action::Skip | Action::Print { .. } => {}
            Action::Fence(order) => self.monitor_fence(state, *order),
            Action::Assign { to, value } => {
                let word = self.eval(state, value);
                self.assign(state, self.context, *to, &word, value.ty().is_signed());
            }
            Action::Load { .. } | Action::Store { .. } => self.access(state, action),
            Action::Check { condition, kind, message } => {
                let holds = self.eval(state, condition).bits()[0];
                self.fault(state, holds, Fault::new(*kind, message));
            }
            Action::Free { pointer } => self.free(state, pointer),
            Action::SizeOf { to, pointer } => self.size_of(state, *to, pointer),
            Action::Detach { process } => {
                let process = self.eval(state, process);
                self.detach(state, &process);
            }
            Action::Excuse { begins } => {
                let count = state.get(&self.variables, self.n_excused);
                let one = Word::constant(count.width(), 1);
                let aig = &mut self.circuit.aig;
                let count =
                    if *begins { aig.add(&count, &one) } else { aig.subtract(&count, &one) };
                state.set(self.n_excused, count);
            }
            Action::MutexInit { mutex, kind } => {
                let kind = self.eval(state, kind).resize(8, false);
                let word = Word::constant(8, 0).concat(&kind).concat(&Word::constant(16, 0));
                self.reset(state, mutex, Sync::Mutex, &word);
            }
            Action::Reset(kind, place) => self.reset(state, place, *kind, &Word::constant(1, 0)),
            Action::SemaphoreInit { semaphore, permits } => {
                let permits = self.eval(state, permits).resize(32, false);
                self.reset(state, semaphore, Sync::Semaphore, &permits.concat(&permits));
            }
            Action::BarrierInit { barrier, parties } => {
                let parties = self.eval(state, parties).resize(32, false);
                let is_some = self.circuit.aig.is_nonzero(&parties);
                let fault =
                    Fault::new(ViolationKind::Assertion, "a barrier is initialised for 0 threads");
                self.fault(state, is_some, fault);
                self.reset(state, barrier, Sync::Barrier, &parties);
            }
            Action::Destroy(kind, place) => self.destroy(state, place, *kind),
            _ => self.refuse("an action of a model", self.span),
        }
    }

    fn call(
        &mut self,
        point: Point,
        number: usize,
        callee: &Callee,
        arguments: &[Expr],
        mut state: State,
    ) {
        let program = self.known.program;
        let arguments: Vec<(Word, Type)> =
            arguments.iter().map(|value| (self.eval(&state, value), value.ty())).collect();
        let span = self.span;
        for (target, is_it) in self.callees(&mut state, callee) {
            let mut called = state.only_if(&mut self.circuit.aig, is_it);
            if called.condition == Lit::FALSE {
                continue;
            }
            let it = &self.threads[self.thread];
            let Some(context) = it.callee(point, number, target) else {
                self.limit(called, Limit::Recursion(target, span));
                continue;
            };
            let begin = it.begin_of(program, context, point);
            self.push_frame(&mut called, self.thread, context, &arguments);
            self.go(begin, called);
        }
    }

    /// The routines that may be meant, and when each is. Anything else is a violation.
    pub(super) fn callees(&mut self, state: &mut State, callee: &Callee) -> Vec<(RoutineId, Lit)> {
        let pointer = match callee {
            Callee::Routine(routine) => return vec![(*routine, Lit::TRUE)],
            Callee::Pointer(pointer) => self.eval(state, pointer),
        };
        let it = &self.threads[self.thread];
        let callees = it.callees(&self.known, self.context, callee).into_iter();
        let callees: Vec<_> = callees
            .map(|target| {
                let bits = Pointer::to_routine(target).bits();
                (target, self.circuit.aig.equals_number(&pointer, bits))
            })
            .collect();
        let is_one = self.circuit.aig.any(callees.iter().map(|(_, is_it)| *is_it));
        let fault = Fault::new(ViolationKind::Memory, "something is called that is no function");
        self.fault(state, is_one, fault);
        callees
    }

    /// Begins a frame: arguments are converted, everything else is zero.
    pub(super) fn push_frame(
        &mut self,
        state: &mut State,
        thread: usize,
        context: super::graph::ContextId,
        arguments: &[(Word, Type)],
    ) {
        let program = self.known.program;
        let threads = self.threads;
        let info = &threads[thread].contexts[context];
        let routine = program.routine(info.routine);
        for (idx, register) in routine.registers.iter().enumerate() {
            let width = register.ty.bits() as usize;
            let is_parameter = idx < routine.n_parameters as usize;
            let word = match arguments.get(idx).filter(|_| is_parameter) {
                Some((word, ty)) => word.resize(width, ty.is_signed()),
                None => Word::constant(width, 0),
            };
            state.set(self.registers[thread] + info.first_register + idx, word);
        }
        for number in 0..routine.objects.len() {
            let frame = self.frames[&(thread, context, number as u32)];
            self.clear_frame(state, frame, true);
        }
    }

    fn drop_frame(&mut self, state: &mut State, context: super::graph::ContextId) {
        let routine = self.threads[self.thread].contexts[context].routine;
        for number in 0..self.known.program.routine(routine).objects.len() {
            let frame = self.frames[&(self.thread, context, number as u32)];
            self.clear_frame(state, frame, false);
        }
    }

    /// Begins or ends a local. It is zero both ways: states that differ in nothing else are one.
    fn clear_frame(&mut self, state: &mut State, frame: ObjectId, begins: bool) {
        for byte in self.objects[frame].bytes.clone() {
            state.set(byte, Word::constant(8, 0));
        }
        let is_live = self.objects[frame].is_live.expect("frames come and go");
        state.set(is_live, Word::constant(1, u64::from(begins)));
        if self.objects[frame].is_shared {
            self.touch_all(state, frame, Lit::TRUE, TouchKind::Frame);
        }
        if !begins {
            self.monitor_end(state, frame, Lit::TRUE);
        }
    }

    /// What is left to the thread that joins another.
    fn result(&mut self, state: &State, value: &Expr) -> Word {
        self.eval(state, value).resize(64, value.ty().is_signed())
    }

    fn return_from(&mut self, point: Point, mut state: State, value: Option<&Expr>) {
        let word = value.map(|value| self.result(&state, value));
        self.drop_frame(&mut state, point.context);
        let Some(back) = self.threads[self.thread].back(point) else {
            return self.leave_thread(state, word);
        };
        let caller = self.threads[self.thread].contexts[point.context].caller;
        if let Some(result) = caller.and_then(|caller| caller.result) {
            let word = word.unwrap_or_else(|| Word::constant(64, 0));
            self.assign(&mut state, back.context, result, &word, true);
        }
        self.go(back, state);
    }

    /// Ends the thread.
    fn leave_thread(&mut self, mut state: State, value: Option<Word>) {
        let value = value.unwrap_or_else(|| Word::constant(64, 0));
        self.touch_cell(&state, Cell::Ended(self.thread), Lit::TRUE, true);
        state.set(self.results[self.thread], value);
        self.end(ENDED, state);
    }

    /// Ends the thread, and no other sees that end: one that joins it does not go on. The others
    /// do, as they could have before. They see nothing of an atomic block that is not going to end:
    /// as in `model::Vm`, the block is taken back.
    fn stop_for_ever(&mut self, point: Point, mut state: State) {
        if state.condition == Lit::FALSE {
            return;
        }
        if point.n_atomic > 0 {
            let station = self.stations.get(self.thread, self.station).clone();
            let from = self.threads[self.thread].stops[station.stop].kind;
            if matches!(from, StopKind::Head(head) if head.n_atomic > 0) {
                let what = "an exit or a failed assumption behind a loop in an atomic block";
                self.refuse(what, self.span);
            }
            self.fails(&state);
            let condition = state.condition;
            state = State::new(&self.variables, &station.facts);
            state.condition = condition;
        }
        state.set(self.excused, Word::constant(1, 1));
        self.end(STUCK, state);
    }

    /// Goes no further: a bound is reached.
    pub(super) fn limit(&mut self, mut state: State, limit: Limit) {
        if state.condition == Lit::FALSE {
            return;
        }
        self.fails(&state);
        self.limits.push((limit, state.condition));
        state.set(self.excused, Word::constant(1, 1));
        self.end(STUCK, state);
    }

    fn allocate(
        &mut self,
        point: Point,
        edge: usize,
        state: &mut State,
        to: RegisterId,
        size: &Expr,
    ) {
        let span = self.span;
        let word = self.eval(state, size).resize(64, size.ty().is_signed());
        let is_small = self.circuit.aig.less(&word, &Word::constant(64, 1 << 30), false);
        let fault = Fault::new(ViolationKind::Memory, "more bytes than an object may have");
        self.fault(state, is_small, fault);
        let site =
            Site { thread: self.thread, context: point.context, location: point.location, edge };
        let wanted = match word.value() {
            Some(size) => size.min(1 << 30) as u32,
            None => self.known.bounds.block_bytes,
        };
        let known = self.wanted_sizes.entry(site).or_default();
        *known = (*known).max(wanted);
        let has = self.plan.sizes.get(&site).copied().unwrap_or(0);
        let is_beyond = self.circuit.aig.less(&Word::constant(64, has.into()), &word, false);
        let beyond = state.only_if(&mut self.circuit.aig, is_beyond);
        self.limit(beyond, Limit::BlockBytes(has, span));
        state.condition = self.circuit.aig.and(state.condition, !is_beyond);
        let blocks = &self.blocks[&site];
        let (objects, n_made) = (blocks.objects.clone(), blocks.n_made);
        let mut pointers = Vec::new();
        let mut is_one = Vec::new();
        for (number, object) in objects.into_iter().enumerate() {
            let is_next = match n_made {
                Some(n_made) => {
                    let count = state.get(&self.variables, n_made);
                    self.circuit.aig.equals_number(&count, number as u64)
                }
                None => Lit::TRUE,
            };
            is_one.push(is_next);
            let (aig, variables) = (&mut self.circuit.aig, &self.variables);
            let is_live = self.objects[object].is_live.expect("blocks come and go");
            state.set_if(aig, variables, is_next, is_live, &Word::constant(1, 1));
            let size = self.objects[object].size.expect("blocks have a size");
            state.set_if(aig, variables, is_next, size, &word.truncate(32));
            pointers.push((is_next, self.pointer_to(object)));
        }
        if let Some(n_made) = n_made {
            let is_one = self.circuit.aig.any(is_one);
            let over = state.only_if(&mut self.circuit.aig, !is_one);
            self.limit(over, Limit::Blocks(self.known.bounds.blocks, span));
            state.condition = self.circuit.aig.and(state.condition, is_one);
            let count = state.get(&self.variables, n_made);
            let count = self.circuit.aig.add(&count, &Word::constant(8, 1));
            state.set(n_made, count);
        }
        let pointer = self.circuit.aig.one_hot(64, &pointers);
        self.assign(state, point.context, to, &pointer, false);
    }

    /// The blocks whose beginning a pointer may point to, and when it does.
    fn blocks_at(&mut self, state: &State, pointer: &Expr) -> (Word, Vec<(usize, Lit)>) {
        let word = self.eval(state, pointer);
        let place = Place::pointer(pointer.clone());
        let targets = self.targets(state, &place, 0);
        let heap =
            targets.into_iter().filter(|it| self.objects[it.object].kind == ObjectKind::Heap);
        let heap: Vec<_> = heap.collect();
        let blocks = heap.into_iter().map(|it| {
            let is_first = self.is_zero(&it.offset);
            (it.object, self.circuit.aig.and(it.is_it, is_first))
        });
        (word, blocks.collect())
    }

    fn free(&mut self, state: &mut State, pointer: &Expr) {
        let (word, blocks) = self.blocks_at(state, pointer);
        let is_null = self.circuit.aig.equals_number(&word, 0);
        let is_good = self.circuit.aig.any(blocks.iter().map(|(_, it)| *it).chain([is_null]));
        let fault = Fault::new(ViolationKind::Memory, "something is freed that was not allocated");
        self.fault(state, is_good, fault);
        for (object, is_it) in blocks {
            let is_live = self.objects[object].is_live.expect("blocks come and go");
            let (aig, variables) = (&mut self.circuit.aig, &self.variables);
            state.set_if(aig, variables, is_it, is_live, &Word::constant(1, 0));
            self.touch_all(state, object, is_it, TouchKind::Use);
            self.monitor_end(state, object, is_it);
        }
    }

    fn size_of(&mut self, state: &mut State, to: RegisterId, pointer: &Expr) {
        let (word, blocks) = self.blocks_at(state, pointer);
        let is_null = self.circuit.aig.equals_number(&word, 0);
        let is_good = self.circuit.aig.any(blocks.iter().map(|(_, it)| *it).chain([is_null]));
        let message = "something is measured that was not allocated";
        self.fault(state, is_good, Fault::new(ViolationKind::Memory, message));
        let sizes: Vec<_> = blocks
            .into_iter()
            .map(|(object, is_it)| {
                let size = self.objects[object].size.expect("blocks have a size");
                (is_it, state.get(&self.variables, size))
            })
            .collect();
        let size = self.circuit.aig.one_hot(32, &sizes);
        self.assign(state, self.context, to, &size, false);
    }

    /// Puts something to synchronise on into its first state.
    fn reset(&mut self, state: &mut State, place: &Place, kind: Sync, word: &Word) {
        let targets = self.resolve(state, place, kind.bytes(), true);
        self.monitor_reset(state, &targets);
        let word = word.resize(kind.bytes() as usize * 8, false);
        self.write(state, &targets, 0, &word);
    }

    /// Ends something to synchronise on, which must not be in use.
    fn destroy(&mut self, state: &mut State, place: &Place, kind: Sync) {
        let targets = self.resolve(state, place, kind.bytes(), true);
        self.monitor_reset(state, &targets);
        self.check_life(state, &targets, kind);
        let word = match kind {
            Sync::Mutex => self.read(state, &targets, 0, 1),
            Sync::RwLock => {
                let writer = self.read(state, &targets, 0, 1);
                writer.concat(&self.read(state, &targets, 4, 1))
            }
            Sync::Condvar => self.sleepers(state, &targets),
            // A thread that waits for it goes on from here, and into the violation.
            Sync::Semaphore => Word::constant(1, 0),
            Sync::Barrier => self.read(state, &targets, 4, 2),
        };
        let is_used = self.circuit.aig.is_nonzero(&word);
        let message = "something to synchronise on is destroyed while it is in use";
        self.fault(state, !is_used, Fault::new(ViolationKind::Assertion, message));
        let mark = Word::constant(8, u64::from(Sync::DESTROYED));
        self.write(state, &targets, kind.mark() as usize, &mark);
    }

    /// Something to synchronise on must not have been destroyed.
    pub(super) fn check_life(&mut self, state: &mut State, at: &[Target], kind: Sync) {
        let mark = self.read(state, at, kind.mark() as usize, 1);
        let is_over = self.circuit.aig.equals_number(&mark, u64::from(Sync::DESTROYED));
        let message = "something to synchronise on is used after it was destroyed";
        self.fault(state, !is_over, Fault::new(ViolationKind::Memory, message));
    }
}
