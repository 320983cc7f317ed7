//! Runs a [`Program`] one operation at a time: a [`System`] for the stateless search.
//!
//! The graphs are compiled to instructions (`compile.rs`, `code.rs`). A state is words, and every
//! change of one is logged, so that [`System::rewind`] undoes instead of repeating (`machine.rs`).
//! `next.rs` says what a thread would do next, `step.rs` does it, `run.rs` does what is invisible.

mod awaits;
mod code;
mod compile;
mod copy;
mod finest;
mod flat;
mod foresight;
mod leak;
mod learnt;
mod liveness;
mod machine;
mod meetings;
mod names;
mod next;
mod numbers;
mod reached;
mod reread;
mod run;
mod spin;
mod step;
mod survivors;
mod units;

use crate::{
    Base, Expr, Pointer, Program, Query, RoutineId, Span, Type, binary, compare, convert, unary,
};
use code::{Code, HALT, Instruction, Kind, Pc, STUCK, UNBORN};
pub use flat::Conflict;
use machine::{Last, Machine, control};
use mazurka_core::{
    Accessed, Assumption, Decision, Detail, Divergence, Effect, Ending, Failure, Fence, Foresight,
    Injection, LineCoverage, Location, MemoryOrder, Next, ObjectId, Operation, PlainAccess,
    Property, Schedule, Sighting, Spin, System, ThreadId, Violation, ViolationKind, fold,
    replay_to,
};
use meetings::Meetings;
use names::Names;
use reached::Reached;
use run::Call;
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::fmt;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

/// Whether an instruction belongs to a statement: those that only lead from one to another stand
/// wherever the statement before them ends.
fn does_something(instruction: &Instruction) -> bool {
    !matches!(
        instruction,
        Instruction::Jump(_)
            | Instruction::JumpUnless { .. }
            | Instruction::ChooseEdge { .. }
            | Instruction::NoWay
            | Instruction::Return { value: None }
    )
}

/// A machine with the first threads of a program, each at its first operation.
fn started(program: &Arc<Program>, code: &Code, reached: Option<Arc<Reached>>) -> Machine {
    let names = Arc::new(Mutex::new(Names::new(program.clone(), code)));
    let mut machine = Machine::new(code, names);
    machine.reached = reached;
    machine.grow(program.processes.len());
    for (thread, process) in program.processes.iter().enumerate() {
        let routine = process.routine.0 as usize;
        machine
            .start(code, thread, routine, &process.arguments)
            .expect("the first frame is within all limits");
    }
    machine
}

/// What is done with plain accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Races {
    /// They are invisible and watched: two that nothing orders are a data race.
    #[default]
    Error,
    /// They are operations like any other, sequentially consistent.
    Allow,
}

/// Something in a program that the [`Vm`] does not run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} needs an engine that stores states")]
pub struct VmError {
    /// What it is.
    pub what: String,
    /// Where it stands in the source.
    pub span: Span,
}

/// A running program.
///
/// A clone shares the program and goes on from the same state.
#[derive(Clone)]
pub struct Vm {
    program: Arc<Program>,
    code: Arc<Code>,
    /// The state in the beginning.
    initial: Arc<Machine>,
    machine: Machine,
    races: Races,
    /// Where and with which size atomics were accessed under a memory model, in any execution.
    accessed_at: FxHashMap<ObjectId, (u32, u32)>,
}

impl Vm {
    /// A machine that runs `program`, or everything in it that it does not run.
    pub fn new(program: Program, races: Races) -> Result<Self, Vec<VmError>> {
        let code = Arc::new(compile::compile(&program, races)?);
        let program = Arc::new(program);
        let mut machine = started(&program, &code, None);
        machine.log.clear();
        machine.pending_log.clear();
        machine.accesses.clear();
        machine.fences.clear();
        let initial = Arc::new(machine.clone());
        let accessed_at = FxHashMap::default();
        Ok(Self { program, code, initial, machine, races, accessed_at })
    }

    /// Notes which lines executions come to, of this machine and all its clones.
    pub fn noting_lines(mut self) -> Self {
        let reached = Arc::new(Reached::new(&self.code));
        // What threads did up to their first steps is done once more, to be noted.
        started(&self.program, &self.code, Some(reached.clone()));
        self.machine.reached = Some(reached);
        self
    }

    /// The lines that there is code for, and whether any execution came there, if that is noted:
    /// but for those of the system's headers and of the C library.
    pub fn lines(&self) -> Option<LineCoverage> {
        let reached = self.machine.reached.as_ref()?;
        let mut lines = LineCoverage::default();
        for (pc, (&(span, _), instruction)) in
            self.code.origins.iter().zip(&self.code.instructions).enumerate()
        {
            let pc = pc as Pc;
            let file = self.program.files.get(span.file.0 as usize);
            let is_own = |file: &&String| !file.starts_with("/usr/") && !file.starts_with('<');
            // A thread begins behind the first instruction of its routine.
            let is_begin = self.code.routines.iter().any(|routine| routine.begin == pc);
            let is_code = !is_begin && span.is_known() && does_something(instruction);
            if let Some(file) = file.filter(is_own).filter(|_| is_code) {
                lines.add(file, span.line, reached.is_noted(pc));
            }
        }
        Some(lines)
    }

    /// Makes it a violation if the program ends while there are blocks that nothing leads to.
    pub fn finding_leaks(mut self) -> Self {
        self.machine.finds_leaks = true;
        self
    }

    /// Holds threads in loops that change nothing, instead of going round for ever. For searches
    /// that do not store states.
    pub fn holding_spins(mut self) -> Self {
        self.machine.spins.is_on = true;
        self.machine.spins.reads_memory = true;
        self.machine.spins.keeps_private = self.code.retries.contains(&true);
        self
    }

    /// The same under a memory model: whether a loop that reads one variable is left is decided by
    /// which write is read, so each round is a step, and the thread is held as in other loops.
    pub fn holding_spins_in_graphs(mut self) -> Self {
        self.machine.spins.is_on = true;
        self
    }

    /// Lets arrivals at barriers commute, as long as that is right: once the flag of
    /// [`arrivals_must_be_ordered`](Self::arrivals_must_be_ordered) is set, the search is void. For
    /// searches without stored states, memory models and [`Foresight`].
    pub fn commuting_arrivals(mut self) -> Self {
        if self.code.are_arrivals_alike {
            let meetings = Some(Arc::new(Meetings::default()));
            let initial = Arc::make_mut(&mut self.initial);
            for machine in [initial, &mut self.machine] {
                machine.meetings.clone_from(&meetings);
                machine.announce_arrivals(&self.code);
            }
        }
        self
    }

    /// Keeps arrivals at barriers in order, as without
    /// [`commuting_arrivals`](Self::commuting_arrivals). The machine is in its first state.
    pub fn ordering_arrivals(mut self) -> Self {
        let initial = Arc::make_mut(&mut self.initial);
        initial.meetings = None;
        initial.announce_arrivals(&self.code);
        self.machine.meetings = None;
        self.reset();
        self
    }

    /// Whether arrivals at barriers commute so far, and whether they should not, in any execution
    /// of any clone of this machine.
    pub fn arrivals_must_be_ordered(&self) -> Option<&AtomicBool> {
        self.machine.meetings.as_deref().map(Meetings::must_be_ordered)
    }

    /// Excuses threads in loops without an operation that read what others may write: they stay
    /// there, and it is no violation. For searches that store states and find data races, where
    /// writing to what such a loop reads is one.
    pub fn excusing_rounds(mut self) -> Self {
        self.machine.spins.excuses_rounds = true;
        self
    }

    /// The program that it runs.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The number that a part of an object holds now, for tests and tools.
    pub fn peek(&self, object: crate::ObjectIdx, offset: u32, ty: Type) -> u64 {
        let object = self.code.objects[object.0 as usize];
        self.machine.get(machine::Spot { object, offset }, ty)
    }

    /// The value now of an expression that no thread computes, such as a
    /// [`proposition`](crate::proposition()): over objects of the program, and locals and labels of
    /// threads.
    ///
    /// # Panics
    ///
    /// If it reads anything else.
    pub fn value_of(&self, expr: &Expr) -> u64 {
        match expr {
            Expr::Const { bits, .. } => *bits,
            Expr::Unary(op, operand) => unary(*op, operand.ty(), self.value_of(operand)),
            Expr::Binary(op, left, right) => {
                let (ty, shift) = (left.ty(), right.ty());
                binary(*op, ty, self.value_of(left), self.value_of(right), shift)
            }
            Expr::Compare(op, left, right) => {
                u64::from(compare(*op, left.ty(), self.value_of(left), self.value_of(right)))
            }
            Expr::Convert(ty, operand) => convert(*ty, operand.ty(), self.value_of(operand)),
            Expr::If(parts) => {
                let chosen = if self.value_of(&parts[0]) != 0 { &parts[1] } else { &parts[2] };
                self.value_of(chosen)
            }
            Expr::Read { from, ty } => match from.base {
                Base::Object(object) => self.peek(object, self.value_of(&from.offset) as u32, *ty),
                _ => panic!("{expr:?} is not in an object of the program"),
            },
            Expr::Query(query) => self.answer(query),
            other => panic!("{other:?} depends on who asks"),
        }
    }

    /// What a question about a thread comes to. Of one that does not run the routine, everything is
    /// 0.
    fn answer(&self, query: &Query) -> u64 {
        match query {
            Query::At { process, routine, location } => {
                let Some(call) = self.call_of(process.as_ref(), *routine) else { return 0 };
                let place = self.code.routines[routine.0 as usize].locations[location.0 as usize];
                u64::from(call.is_innermost && place == Some(call.pc))
            }
            Query::Register { process, routine, register, .. } => {
                let call = self.call_of(process.as_ref(), *routine);
                let word =
                    |it: Call| self.machine.control(it.thread, it.base + register.0 as usize);
                call.map_or(0, word)
            }
            Query::Frame { process, routine, from, ty } => {
                let Base::Frame(number) = from.base else { panic!("{query:?} is of no frame") };
                let Some(call) = self.call_of(process.as_ref(), *routine) else { return 0 };
                let made = &self.machine.threads[call.thread].made;
                let object = made[call.first_object + number as usize];
                let offset = self.value_of(&from.offset) as u32;
                self.machine.get(machine::Spot { object, offset }, *ty)
            }
            other => panic!("{other:?} is nothing that threads have"),
        }
    }

    /// The innermost call of a routine: that of a thread, or of the first one that has one.
    fn call_of(&self, thread: Option<&Expr>, routine: RoutineId) -> Option<Call> {
        let is_it = |call: &Call| self.code.origins[call.pc as usize].1 == routine.0;
        let find = |thread: usize| self.machine.calls(thread, self.machine.pc(thread)).find(is_it);
        match thread {
            Some(thread) => {
                let thread = self.value_of(thread) as usize;
                (thread < self.n_threads()).then(|| find(thread))?
            }
            None => (0..self.n_threads()).find_map(find),
        }
    }

    /// What a register of the first frame of a thread holds now, for tests and tools.
    pub fn peek_register(&self, thread: ThreadId, register: crate::RegisterId) -> u64 {
        let first = code::CONTROL + run::SAVED;
        self.machine.control(thread.index(), first + register.0 as usize)
    }

    /// Whether a thread has ended.
    pub fn has_ended(&self, thread: ThreadId) -> bool {
        self.machine.has_ended(thread.index())
    }

    /// Whether a thread has been started and its first step is still to come, with nothing done
    /// before it. Most threads are at their first operation as soon as they are started.
    pub fn is_to_begin(&self, thread: ThreadId) -> bool {
        let pc = self.machine.pc(thread.index());
        self.code.routines.iter().any(|routine| routine.begin == pc)
    }

    /// How many threads there are in all executions so far, of all clones.
    pub fn n_names(&self) -> usize {
        self.names().n_threads()
    }

    /// The assumptions that no execution so far got past, of this machine and all its clones; if
    /// there are none and yet none came to an end, one that failed.
    pub fn vacuous(&self) -> Vec<Assumption> {
        let place = |pc: Pc| {
            let (span, _) = self.code.origins[pc as usize];
            (span.file.0, span.line, span.column, pc * u32::from(!span.is_known()))
        };
        let location = |&(file, line, column, pc): &(u32, u32, u32, Pc)| {
            let file = self.program.files.get(file as usize).cloned();
            let file = file.unwrap_or_else(|| format!("instruction {pc}"));
            Location { file, line, column, function: None, within: None, is_library: false }
        };
        let survivors = &self.machine.survivors;
        let failed = survivors.failed(place);
        let never = failed.iter().filter(|(_, held)| !**held);
        let never: Vec<Assumption> =
            never.map(|(at, _)| Assumption::NothingSurvives(Some(location(at)))).collect();
        if !never.is_empty() || survivors.has_ended() {
            return never;
        }
        failed
            .keys()
            .next()
            .map(|at| Assumption::NothingEnds(Some(location(at))))
            .into_iter()
            .collect()
    }

    /// Where an instruction stands in the source.
    fn place(&self, pc: Pc) -> Option<Location> {
        if matches!(pc, UNBORN | HALT | STUCK) {
            return None;
        }
        let (span, routine) = self.code.origins[pc as usize];
        let file = self.program.files.get(span.file.0 as usize).filter(|_| span.is_known())?;
        Some(Location {
            file: file.clone(),
            line: span.line,
            column: span.column,
            function: Some(self.program.routines[routine as usize].name.clone()),
            within: None,
            is_library: false,
        })
    }

    /// What went wrong at the instruction that the machine is at, with its place. What is leaked
    /// was lost elsewhere.
    #[cold]
    fn with_place(&self, mut failure: Failure) -> Failure {
        let Violation { kind, message, detail } = &mut failure.violation;
        if let Some(place) = self.place(self.machine.here.1)
            && *kind != ViolationKind::Leak
        {
            *message = format!("{place}: {message}");
            if let Some(Detail::Assertion(text)) = detail {
                text.push_str(&format!(" at {place}"));
            }
        }
        failure
    }

    fn names(&self) -> std::sync::MutexGuard<'_, Names> {
        self.machine.names.lock().expect("the lock is not poisoned")
    }
}

impl System for Vm {
    fn reset(&mut self) {
        // What is known of threads and objects outlives the execution.
        let machine = &mut self.machine;
        machine.memory[..self.initial.memory.len()].copy_from_slice(&self.initial.memory);
        for (idx, thread) in machine.threads.iter_mut().enumerate() {
            match self.initial.threads.get(idx) {
                Some(initial) => {
                    thread.stack[..initial.stack.len()].copy_from_slice(&initial.stack);
                    thread.made.clone_from(&initial.made);
                    machine.pending[idx] = self.initial.pending[idx];
                }
                None => {
                    thread.stack[control::PC] = u64::from(UNBORN);
                    machine.pending[idx] = next::Pending::UNBORN;
                }
            }
        }
        machine.log.clear();
        machine.pending_log.clear();
        machine.marks.clear();
        machine.spins.notes.clear();
        machine.spins.snapshots.clear();
        machine.accesses.clear();
        machine.fences.clear();
        machine.last = Last::Nothing;
    }

    fn n_threads(&self) -> usize {
        self.machine.threads.len()
    }

    #[inline]
    fn next(&self, thread: ThreadId) -> Next {
        self.machine.next(&self.code, thread.index())
    }

    fn compares(&self, thread: ThreadId) -> bool {
        self.machine.compares(thread.index())
    }

    fn step(&mut self, decision: Decision) -> Result<Effect, Failure> {
        debug_assert!(
            matches!(self.next(decision.thread),
                Next::Enabled { choices, .. } if decision.choice < choices),
            "{decision:?} is not possible: {:?}",
            self.next(decision.thread),
        );
        let result = self.machine.step(&self.code, decision, Injection::default());
        result.map_err(|failure| self.with_place(failure))
    }

    /// What plain accesses read in a data race has no meaning in a memory model.
    fn takes_injections(&self) -> bool {
        self.races == Races::Error
    }

    fn step_with(&mut self, decision: Decision, injection: Injection) -> Result<Effect, Failure> {
        let operation = self.next(decision.thread).operation();
        let result = self.machine.step(&self.code, decision, injection);
        let result = result.map_err(|failure| self.with_place(failure));
        let object = operation.filter(|it| it.is_access()).and_then(Operation::object);
        let (Some(object), Some(_), Ok(effect)) = (object, self.machine.accessed, &result) else {
            return result;
        };
        let now = self.machine.accessed_at;
        if *self.accessed_at.entry(object).or_insert(now) == now {
            return result;
        }
        let message = format!(
            "`{}` is accessed in parts or with different sizes, which has no meaning under a weak \
             memory model so far",
            self.object_name(object)
        );
        let violation = Violation::new(ViolationKind::Unsupported, message);
        Err(self.with_place(Failure { effect: *effect, violation }))
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
        if depth <= self.machine.marks.len() {
            self.machine.undo(depth);
            return Ok(());
        }
        replay_to(self, schedule, depth)
    }

    fn has_plain_accesses(&self) -> bool {
        self.races == Races::Error
    }

    fn accesses_are_lifetimes(&self) -> bool {
        self.races == Races::Allow
    }

    fn undoes_steps(&self) -> bool {
        true
    }

    fn accesses(&self) -> &[PlainAccess] {
        &self.machine.accesses
    }

    fn atomic_accesses(&self) -> &[PlainAccess] {
        &self.machine.atomic_accesses
    }

    fn order(&self) -> MemoryOrder {
        self.machine.order
    }

    fn fences(&self) -> &[Fence] {
        &self.machine.fences
    }

    fn look_at(&mut self, memory: &[ObjectId]) {
        self.machine.looked_at = memory.to_vec();
    }

    fn sightings(&self) -> Vec<Sighting> {
        let thread = ThreadId::new(self.machine.here.0);
        let stack = |pcs: &[Pc]| pcs.iter().filter_map(|&pc| self.place(pc)).collect();
        let seen = self.machine.seen.iter();
        seen.map(|seen| Sighting {
            memory: seen.memory,
            name: self.memory_name(seen.memory).into_owned(),
            thread,
            write: seen.write,
            is_atomic: seen.is_atomic,
            value: self.in_words(seen.value),
            stack: stack(&seen.stack),
        })
        .collect()
    }

    fn fingerprint(&self) -> Option<u128> {
        let mut hash = [0x243f_6a88_85a3_08d3, 0x1319_8a2e_0370_7344];
        self.machine.visit_state(&self.code, &mut |word| {
            hash[0] = fold::mix(hash[0], word);
            hash[1] = fold::mix(hash[1], !word.rotate_left(32));
        });
        Some(u128::from(hash[0]) << 64 | u128::from(hash[1]))
    }

    fn foresight(&self) -> Option<&dyn Foresight> {
        Some(self)
    }

    fn ending(&self) -> Ending {
        self.machine.ending(&self.code)
    }

    fn spin(&self, thread: ThreadId) -> Option<Spin> {
        self.machine.spin(&self.code, thread.index(), self.location(thread))
    }

    fn properties(&self) -> Vec<Property> {
        let leak = self.machine.finds_leaks.then_some(Property::Leak);
        self.program.properties.iter().cloned().chain(leak).collect()
    }

    fn assumptions(&self) -> Vec<Assumption> {
        let races = (self.races == Races::Allow).then_some(Assumption::RacesAllowed);
        let of_program = self.program.assumptions.iter().cloned();
        of_program.chain(races).chain(self.vacuous()).collect()
    }

    fn location(&self, thread: ThreadId) -> Option<Location> {
        let pc = self.machine.pc(thread.index());
        self.place(pc)
    }

    fn value(&self) -> Option<String> {
        self.in_words(self.machine.last)
    }

    fn thread_name(&self, thread: ThreadId) -> Cow<'_, str> {
        Cow::Owned(self.machine.thread_text(thread.index()))
    }

    fn object_name(&self, object: ObjectId) -> Cow<'_, str> {
        Cow::Owned(self.names().unit(&self.code, &self.machine.threads, object.index() as u32))
    }

    fn memory_name(&self, object: ObjectId) -> Cow<'_, str> {
        Cow::Owned(self.names().piece(&self.code, &self.machine.threads, object.index() as u32))
    }
}

impl Vm {
    /// What was read, written or chosen.
    fn in_words(&self, value: Last) -> Option<String> {
        let show = |ty, bits| {
            match ty {
                Type::Pointer => self.pointed(Pointer::from_bits(bits)),
                _ => None,
            }
            .unwrap_or_else(|| crate::print::constant(ty, bits))
        };
        match value {
            Last::Nothing => None,
            Last::Read(ty, value) => Some(format!("= {}", show(ty, value))),
            Last::Wrote(ty, old, new) => Some(format!("{}→{}", show(ty, old), show(ty, new))),
            Last::Chose(value) => Some(format!("= {value}")),
        }
    }

    /// What people call what a pointer points to, which may be gone.
    fn pointed(&self, pointer: Pointer) -> Option<String> {
        if let Some(routine) = pointer.routine() {
            let routine = self.program.routines.get(routine.0 as usize)?;
            return Some(format!("&{}", routine.name));
        }
        let of_static = pointer.static_object().and_then(|it| self.code.objects.get(it.0 as usize));
        let of_static = of_static.filter(|info| info.kind != Kind::PerThread).copied();
        let made = || {
            let (thread, number) = pointer.made()?;
            self.machine.threads.get(thread as usize)?.made.get(number as usize).copied()
        };
        let object = of_static.or_else(made)?;
        let name = self.names().object(&self.code, &self.machine.threads, &object);
        let offset = pointer.offset as i32;
        (!name.is_empty()).then(|| match offset {
            0 => format!("&{name}"),
            ..0 => format!("&{name}-{:#x}", -i64::from(offset)),
            offset => format!("&{name}+{offset:#x}"),
        })
    }
}

impl Foresight for Vm {
    fn future(&self, thread: ThreadId, visit: &mut dyn FnMut(Operation)) {
        self.machine.future(&self.code, thread.index(), None, visit);
    }

    fn future_without(&self, thread: ThreadId, holder: ThreadId, visit: &mut dyn FnMut(Operation)) {
        self.machine.future(&self.code, thread.index(), Some(holder.index()), visit);
    }

    fn is_in_the_way(&self, thread: ThreadId) -> bool {
        self.machine.is_in_the_way(&self.code, thread.index())
    }
}

impl Machine {
    /// Calls `visit` with every number of the state, in an order that does not depend on how it was
    /// reached.
    fn visit_state(&self, code: &Code, visit: &mut dyn FnMut(u64)) {
        let n_static = code.memory.len();
        self.memory[1..n_static].iter().for_each(|&word| visit(word));
        for (idx, thread) in self.threads.iter().enumerate() {
            visit(u64::from(self.pc(idx)));
            if self.pc(idx) == UNBORN {
                continue;
            }
            let top = self.control(idx, control::TOP) as usize;
            thread.stack[..top].iter().for_each(|&word| visit(word));
            for object in &thread.made[..self.control(idx, control::MADE) as usize] {
                let start = object.address as usize / 8;
                visit(self.memory[start - 1]);
                if self.is_live(object) {
                    let words = (object.size as usize).div_ceil(8);
                    self.memory[start..start + words].iter().for_each(|&word| visit(word));
                }
            }
        }
    }
}

impl fmt::Debug for Vm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Vm({:?} after {} steps)", self.program.name, self.machine.marks.len())
    }
}
