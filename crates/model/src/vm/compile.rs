//! The compiler from the graphs of a program to instructions.

use super::code::{
    Address, AddressBase, Arguments, Code, HALT, Instruction, Kind, NOWHERE, Node, ObjectInfo, Op,
    Operand, Origin, Pc, Queue, QueueField, RoutineCode, Source, Target,
};
use super::finest::Finest;
use super::foresight::Futures;
use super::liveness::Lives;
use super::units::Units;
use super::{Races, VmError, awaits, meetings, reread};
use crate::analysis::{Abstract, Guards, PointsTo};
use crate::{
    Access, Action, Base, Binary, Branching, Callee, Compare, Edge, Expr, InitValue, Layout,
    LayoutId, LocationId, Message, MessageField, ObjectIdx, Place, Pointer, Program, RegisterId,
    Routine, RoutineId, Span, Storage, Type, evaluate,
};
use Instruction as I;
use mazurka_core::MemoryOrder;
use std::collections::BTreeSet;

/// The code of a program, or everything in it that the `Vm` does not run.
pub(super) fn compile(program: &Program, races: Races) -> Result<Code, Vec<VmError>> {
    let mut compiler = Compiler {
        program,
        races,
        finest: Finest::of(program),
        code: Code { instructions: vec![I::Unborn, I::Halt, I::Stuck], ..Code::default() },
        errors: Vec::new(),
        origin: (Span::NONE, 0),
        seen: None,
        points_to: PointsTo::of(program),
        reach: vec![Vec::new(); 3],
        touched: Default::default(),
    };
    compiler.code.origins = vec![(Span::NONE, 0); 3];
    compiler.lay_out();
    for idx in 0..program.routines.len() {
        compiler.routine(idx);
    }
    if !compiler.errors.is_empty() {
        return Err(compiler.errors);
    }
    let Compiler { mut code, points_to, reach, touched: [plain, atomic], .. } = compiler;
    code.is_mixed = races == Races::Error && !plain.is_disjoint(&atomic);
    let guards = Guards::of(program, &points_to);
    let guards: Vec<_> =
        (0..code.objects.len()).map(|idx| guards.guard(ObjectIdx(idx as u32))).collect();
    code.futures = Futures::of(&code, &reach, &guards);
    code.lives = Lives::of(&code);
    code.awaits = awaits::find(&mut code);
    code.retries = reread::find(&code);
    code.are_arrivals_alike = meetings::are_alike(&code);
    Ok(code)
}

struct Compiler<'a> {
    program: &'a Program,
    races: Races,
    finest: Finest,
    code: Code,
    errors: Vec<VmError>,
    /// Where the instructions that are being written stand in the source.
    origin: (Span, u32),
    /// The register that stands for what an await would read.
    seen: Option<RegisterId>,
    points_to: PointsTo,
    /// For each instruction, what the pointers in it may point to.
    reach: Vec<Vec<Abstract>>,
    /// What plain accesses may touch that others may see, and what atomic operations may.
    touched: [BTreeSet<Abstract>; 2],
}

/// Code that is still to be written, and the jump that leads to it.
enum Todo {
    Edges { from: LocationId, first: usize, jump: Pc },
    Choice { edge: usize, to: LocationId },
}

impl<'a> Compiler<'a> {
    /// Gives every object its place in memory and the numbers of its parts.
    fn lay_out(&mut self) {
        // Word 0 is where free memory begins, word 1 whether waiting is excused.
        let mut address = 16;
        for (idx, object) in self.program.objects.iter().enumerate() {
            let size = self.program.size_of(object.layout);
            let units = self.units(object.layout, self.finest.of_object(idx));
            let kind = match object.storage {
                Storage::Shared => Kind::Static,
                Storage::Scratch => {
                    self.refuse("memory that forgets");
                    Kind::Static
                }
                Storage::Constant => Kind::Constant,
                Storage::PerThread => {
                    self.code.per_thread.push(idx as u32);
                    Kind::PerThread
                }
            };
            let (first_unit, first_piece) = (self.code.n_units, self.code.n_pieces);
            self.code.objects.push(ObjectInfo {
                address,
                size,
                units,
                first_unit,
                first_piece,
                kind,
                origin: Origin::Unknown,
            });
            let map = &self.code.units[units as usize];
            let element = match self.program.layouts[object.layout.0 as usize] {
                Layout::Array { element, .. } => self.program.size_of(element),
                _ => size,
            };
            self.code.element_sizes.push(element);
            self.code.element_units.push(map.units.count(element));
            self.code.n_units += map.units.count(size);
            self.code.n_pieces += map.pieces.count(size);
            address += size.next_multiple_of(8);
        }
        self.code.memory = vec![0; address as usize / 8];
        self.code.memory[0] = u64::from(address);
        if self
            .program
            .routines
            .iter()
            .flat_map(Routine::edges)
            .any(|(_, edge)| matches!(edge.action, Action::AtomicBegin))
        {
            self.code.atomic_unit = Some(self.code.n_units);
            self.code.n_units += 1;
            self.refuse_blocks_beside_weak_atomics();
        }
        for (idx, object) in self.program.objects.iter().enumerate() {
            let start = self.code.objects[idx].address;
            for init in &object.init {
                let bits = |bits: u64, n: u32| bits.to_le_bytes()[..n as usize].to_vec();
                let bytes = match &init.value {
                    InitValue::Bytes(bytes) => bytes.clone(),
                    InitValue::Bits(ty, value) => bits(*value, ty.bytes()),
                    InitValue::Object(object, offset) => {
                        bits(Pointer::to_object(*object).plus(*offset).bits(), 8)
                    }
                    InitValue::Routine(routine) => bits(Pointer::to_routine(*routine).bits(), 8),
                };
                for (idx, byte) in bytes.into_iter().enumerate() {
                    let at = (start + init.offset) as usize + idx;
                    let word = &mut self.code.memory[at / 8];
                    *word &= !(0xff << (at % 8 * 8));
                    *word |= u64::from(byte) << (at % 8 * 8);
                }
            }
        }
    }

    /// The number of the numbering of a layout.
    fn units(&mut self, layout: LayoutId, finest: u32) -> u32 {
        let units = Units::of(self.program, layout, finest);
        let known = self.code.units.iter().position(|other| *other == units);
        known.unwrap_or_else(|| {
            self.code.units.push(units);
            self.code.units.len() - 1
        }) as u32
    }

    fn routine(&mut self, idx: usize) {
        let routine = &self.program.routines[idx];
        self.origin = (routine.span, idx as u32);
        let begin = self.emit(I::Yield);
        let finest = self.finest.of_pointers();
        let objects = routine
            .objects
            .iter()
            .map(|object| {
                let finest = finest.min(self.finest.of_frames());
                (self.program.size_of(object.layout), self.units(object.layout, finest))
            })
            .collect();
        let parameters = routine.registers[..routine.n_parameters as usize].iter();
        self.code.routines.push(RoutineCode {
            begin,
            n_registers: routine.registers.len() as u32,
            parameters: parameters.map(|register| register.ty).collect(),
            objects,
            locations: Vec::new(),
        });
        let mut labels = vec![None; routine.locations.len()];
        let mut todo = Vec::new();
        self.location(routine, routine.start, &mut labels, &mut todo);
        while let Some(next) = todo.pop() {
            let here = self.here();
            match next {
                Todo::Edges { from, first, jump } => {
                    let I::JumpUnless { otherwise, .. } =
                        &mut self.code.instructions[jump as usize]
                    else {
                        unreachable!("only branches leave something to do")
                    };
                    *otherwise = here;
                    self.edges(routine, from, first, &mut labels, &mut todo);
                }
                Todo::Choice { edge, to } => {
                    self.code.edges[edge].1 = here;
                    self.location(routine, to, &mut labels, &mut todo);
                }
            }
        }
        self.code.routines[idx].locations = labels;
    }

    /// Writes what begins at a location, up to where it is known already.
    fn location(
        &mut self,
        routine: &'a Routine,
        location: LocationId,
        labels: &mut [Option<Pc>],
        todo: &mut Vec<Todo>,
    ) {
        let mut at = Some(location);
        while let Some(location) = at {
            if let Some(known) = labels[location.0 as usize] {
                self.emit(I::Jump(known));
                return;
            }
            labels[location.0 as usize] = Some(self.here());
            at = self.edges_from(routine, location, 0, todo);
        }
    }

    fn edges(
        &mut self,
        routine: &'a Routine,
        from: LocationId,
        first: usize,
        labels: &mut [Option<Pc>],
        todo: &mut Vec<Todo>,
    ) {
        if let Some(next) = self.edges_from(routine, from, first, todo) {
            self.location(routine, next, labels, todo);
        }
    }

    /// Writes one way out of a location, the others later; says where it leads.
    fn edges_from(
        &mut self,
        routine: &'a Routine,
        from: LocationId,
        first: usize,
        todo: &mut Vec<Todo>,
    ) -> Option<LocationId> {
        let location = routine.location(from);
        if let Some(edge) = location.edges.first() {
            self.origin.0 = edge.span;
        }
        if location.edges.iter().any(|edge| edge.atomic) {
            self.refuse("an edge that keeps others from running");
        }
        if location.edges.iter().any(|edge| edge.escape.is_some()) {
            self.refuse("an escape");
        }
        if from == routine.end {
            self.emit(I::Return { value: None });
            return None;
        }
        if location.branching == Branching::Choice {
            return self.choice(&location.edges, todo);
        }
        let Some(edge) = location.edges.get(first) else {
            self.emit(I::NoWay);
            return None;
        };
        self.origin.0 = edge.span;
        if let Some(guard) = &edge.guard {
            let condition = self.expr(guard);
            let jump = self.emit(I::JumpUnless { condition, otherwise: HALT });
            todo.push(Todo::Edges { from, first: first + 1, jump });
        }
        self.edge_action(edge)
    }

    /// Writes what an edge does, and notes what it may reach; says where it leads.
    fn edge_action(&mut self, edge: &'a Edge) -> Option<LocationId> {
        let start = self.reach.len();
        let goes_on = self.action(&edge.action);
        let routine = RoutineId(self.origin.1);
        let mut reach = Vec::new();
        edge.action.visit_places(&mut |place| {
            if let Base::Pointer(_) = place.base {
                reach.extend(self.points_to.targets(routine, place));
            }
        });
        self.reach[start..].fill(reach);
        self.note_touched(&edge.action);
        goes_on.then_some(edge.to)
    }

    /// Notes what an action accesses, if others may see it.
    fn note_touched(&mut self, action: &Action) {
        let is_atomic = match action {
            Action::Load { access, .. } | Action::Store { access, .. } => match access {
                Access::Atomic(_) | Access::Volatile => true,
                Access::Plain => false,
                Access::Private => return,
            },
            Action::Modify { .. } | Action::CompareExchange { .. } | Action::Await { .. } => true,
            Action::Copy { .. } | Action::Fill { .. } => false,
            _ => return,
        };
        let routine = RoutineId(self.origin.1);
        let (points_to, touched) = (&self.points_to, &mut self.touched[usize::from(is_atomic)]);
        action.visit_places(&mut |place| {
            if !points_to.is_private(routine, place) {
                touched.extend(points_to.targets(routine, place));
            }
        });
    }

    /// A choice between edges. Those that do something become choices of locations first.
    fn choice(&mut self, edges: &'a [Edge], todo: &mut Vec<Todo>) -> Option<LocationId> {
        let start = self.code.edges.len() as u32;
        for edge in edges.iter().filter(|edge| !edge.otherwise) {
            let always = Expr::bool(true);
            let guard = self.expr(edge.guard.as_ref().unwrap_or(&always));
            self.code.edges.push((guard, HALT));
            if edge.action != Action::Skip {
                self.refuse("a choice between edges that do something");
            }
            todo.push(Todo::Choice { edge: self.code.edges.len() - 1, to: edge.to });
        }
        let len = self.code.edges.len() as u32 - start;
        let choose = self.emit(I::ChooseEdge { edges: Arguments { start, len }, otherwise: 0 });
        let otherwise = self.here();
        let I::ChooseEdge { otherwise: target, .. } = &mut self.code.instructions[choose as usize]
        else {
            unreachable!("it was written two lines ago")
        };
        *target = otherwise;
        match edges.iter().find(|edge| edge.otherwise) {
            Some(edge) => self.edge_action(edge),
            None => {
                self.emit(I::NoWay);
                None
            }
        }
    }

    fn emit(&mut self, instruction: Instruction) -> Pc {
        self.code.instructions.push(instruction);
        self.code.origins.push(self.origin);
        self.reach.push(Vec::new());
        self.here() - 1
    }

    fn here(&self) -> Pc {
        self.code.instructions.len() as Pc
    }

    fn refuse(&mut self, what: &str) {
        self.errors.push(VmError { what: what.to_owned(), span: self.origin.0 });
    }

    /// Writes an action; says whether anything comes after it.
    fn action(&mut self, action: &'a Action) -> bool {
        use Action as A;
        let instruction = match action {
            A::Skip | A::Print { .. } => return true,
            A::Indivisible { .. } => {
                self.refuse("an indivisible sequence of edges");
                return true;
            }
            A::SetPriority { .. } => {
                self.refuse("a priority");
                return true;
            }
            A::Assign { to, value } => I::Assign { to: to.0, value: self.expr(value) },
            A::Load { to, from, ty, access } => {
                let (visible, watched) = self.access(*access, from);
                let order = self.order(*access);
                I::Load { visible, watched, order, to: to.0, from: self.place(from), ty: *ty }
            }
            A::Store { to, value, access } => {
                let (visible, watched) = self.access(*access, to);
                let (to, ty) = (self.place(to), value.ty());
                let order = self.order(*access);
                I::Store { visible, watched, order, to, value: self.expr(value), ty }
            }
            A::Modify { old, on, update, value, order } => I::Modify {
                order: self.order(Access::Atomic(*order)),
                old: result(*old),
                on: self.place(on),
                update: *update,
                value: self.expr(value),
                ty: value.ty(),
            },
            A::CompareExchange { success, old, on, expected, new, order, failure } => {
                I::CompareExchange {
                    orders: [order, failure].map(|&order| self.order(Access::Atomic(order))),
                    success: result(*success),
                    old: result(*old),
                    on: self.place(on),
                    expected: self.expr(expected),
                    new: self.expr(new),
                    ty: expected.ty(),
                }
            }
            A::Await { to, from, ty, until } => {
                let from = self.place(from);
                self.seen = Some(*to);
                let until = self.expr(until);
                self.seen = None;
                I::Await { to: to.0, from, until, ty: *ty }
            }
            A::Copy { to, from, size } => I::Copy {
                visible: self.races == Races::Allow
                    && !(self.is_private(to) && self.is_private(from)),
                to: self.place(to),
                from: self.place(from),
                size: self.expr(size),
            },
            A::Fill { to, byte, size } => I::Fill {
                visible: self.races == Races::Allow && !self.is_private(to),
                to: self.place(to),
                byte: self.expr(byte),
                size: self.expr(size),
            },
            A::Allocate { to, size, element } => {
                let finest = self.finest.of_pointers();
                I::Allocate { to: to.0, size: self.expr(size), units: self.units(*element, finest) }
            }
            A::Free { pointer } => I::Free { pointer: self.expr(pointer) },
            A::SizeOf { to, pointer } => I::SizeOf { to: to.0, pointer: self.expr(pointer) },
            A::Call { callee, arguments, to } => {
                let target = self.target(callee);
                I::Call { target, arguments: self.arguments(arguments), to: result(*to) }
            }
            A::Return { value } => {
                let value = value.as_ref().map(|value| self.expr(value));
                self.emit(I::Return { value });
                return false;
            }
            A::Check { condition, kind, message } => {
                self.code.texts.push(message.clone());
                let text = self.code.texts.len() as u32 - 1;
                I::Check { condition: self.expr(condition), kind: *kind, text }
            }
            A::Assume { condition } => I::Assume { condition: self.expr(condition) },
            A::AtomicBegin => I::AtomicBegin,
            // Where races are allowed, memory is taken to be sequentially consistent in all it
            // does.
            A::Fence(_) if self.races == Races::Allow => return true,
            A::Fence(order) => I::Fence(*order),
            A::AtomicEnd => I::AtomicEnd,
            A::Choose { to, low, high } => match high.checked_sub(*low) {
                Some(more) if (0..i64::from(u32::MAX)).contains(&more) => {
                    I::Choose { to: to.0, low: *low, count: more as u32 + 1 }
                }
                _ => {
                    self.refuse("a choice between more numbers than can be tried");
                    return true;
                }
            },
            A::Yield => I::Yield,
            A::Spawn { routine, arguments, to } => {
                let target = self.target(routine);
                I::Spawn { target, arguments: self.arguments(arguments), to: result(*to) }
            }
            A::Join { process, to } => I::Join { process: self.expr(process), to: result(*to) },
            A::Detach { process } => I::Detach { process: self.expr(process) },
            A::ExitProcess { value } => {
                let value = value.as_ref().map(|value| self.expr(value));
                self.emit(I::ExitProcess { value });
                return false;
            }
            A::Excuse { begins } => I::Excuse { begins: *begins },
            A::ExitProgram => {
                self.emit(I::ExitProgram);
                return false;
            }
            A::MutexInit { mutex, kind } => {
                self.code.has_lifecycle = true;
                I::MutexInit { mutex: self.place(mutex), kind: self.expr(kind) }
            }
            A::Lock { mutex, to } => I::Lock { mutex: self.place(mutex), to: result(*to) },
            A::TryLock { mutex, to } => I::TryLock { mutex: self.place(mutex), to: result(*to) },
            A::Unlock { mutex, to } => I::Unlock { mutex: self.place(mutex), to: result(*to) },
            A::ReadLock(lock) => I::ReadLock(self.place(lock)),
            A::WriteLock(lock) => I::WriteLock(self.place(lock)),
            A::TryReadLock(lock, to) => I::TryReadLock(self.place(lock), result(*to)),
            A::TryWriteLock(lock, to) => I::TryWriteLock(self.place(lock), result(*to)),
            A::ReadWriteUnlock(lock) => I::ReadWriteUnlock(self.place(lock)),
            A::Wait { condvar, mutex } => {
                let (condvar, mutex) = (self.place(condvar), self.place(mutex));
                self.emit(I::Wait { condvar, mutex });
                I::Reacquire { condvar, mutex }
            }
            A::NotifyOne(condvar) => I::NotifyOne(self.place(condvar)),
            A::NotifyAll(condvar) => I::NotifyAll(self.place(condvar)),
            A::SemaphoreInit { semaphore, permits } => {
                self.code.has_lifecycle = true;
                let semaphore = self.place(semaphore);
                I::SemaphoreInit { semaphore, permits: self.expr(permits) }
            }
            A::SemaphoreAcquire(semaphore) => I::SemaphoreAcquire(self.place(semaphore)),
            A::SemaphoreTryAcquire(semaphore, to) => {
                I::SemaphoreTryAcquire(self.place(semaphore), result(*to))
            }
            A::SemaphoreRelease(semaphore) => I::SemaphoreRelease(self.place(semaphore)),
            A::SemaphoreValue(semaphore, to) => I::SemaphoreValue(self.place(semaphore), to.0),
            A::BarrierInit { barrier, parties } => {
                self.code.has_lifecycle = true;
                I::BarrierInit { barrier: self.place(barrier), parties: self.expr(parties) }
            }
            A::BarrierWait(barrier, to) => {
                let barrier = self.place(barrier);
                self.emit(I::Arrive(barrier, result(*to)));
                I::Leave(barrier)
            }
            A::Reset(kind, place) => {
                self.code.has_lifecycle = true;
                I::Reset(*kind, self.place(place))
            }
            A::Destroy(kind, place) => {
                self.code.has_lifecycle = true;
                I::Destroy(*kind, self.place(place))
            }
            A::Send(message) => I::Send(self.queue(message)),
            A::TrySend(message, to) => I::TrySend(self.queue(message), result(*to)),
            A::Receive(message) => I::Receive(self.queue(message)),
            A::TryReceive(message, to) => I::TryReceive(self.queue(message), result(*to)),
        };
        self.emit(instruction);
        true
    }

    /// Whether an access is an operation, and whether it is plain and others may see it.
    fn access(&self, access: Access, place: &Place) -> (bool, bool) {
        if access == Access::Plain && self.is_private(place) {
            return (false, false);
        }
        match (access, self.races) {
            (Access::Atomic(_) | Access::Volatile, _) => (true, false),
            (Access::Plain, Races::Allow) => (true, true),
            (Access::Plain, Races::Error) => (false, true),
            (Access::Private, _) => (false, false),
        }
    }

    /// What an access orders. Where races are allowed, memory is taken to be sequentially
    /// consistent. So are volatile accesses beside atomic blocks, with which all memory is one
    /// object: there, what orders nothing would take away the order of others.
    fn order(&self, access: Access) -> MemoryOrder {
        match (access, self.races) {
            (Access::Volatile, _) if self.code.atomic_unit.is_some() => {
                MemoryOrder::SequentiallyConsistent
            }
            (access, Races::Error) => access.order().unwrap_or_default(),
            (_, Races::Allow) => MemoryOrder::SequentiallyConsistent,
        }
    }

    /// With atomic blocks all memory is one object, and whatever is released there, every acquire
    /// learns. Where all atomics acquire and release, other executions show the races that this
    /// hides.
    fn refuse_blocks_beside_weak_atomics(&mut self) {
        if self.races == Races::Allow || !self.program.orders_less_than_it_could() {
            return;
        }
        let mut edges = self.program.routines.iter().flat_map(Routine::edges);
        let block = edges.find(|(_, edge)| matches!(edge.action, Action::AtomicBegin));
        self.origin.0 = block.map_or(Span::NONE, |(_, edge)| edge.span);
        self.refuse("an atomic block beside atomics that do not acquire and release");
    }

    /// Whether no second thread can come to a place.
    fn is_private(&self, place: &Place) -> bool {
        self.points_to.is_private(RoutineId(self.origin.1), place)
    }

    fn target(&mut self, callee: &Callee) -> Target {
        match callee {
            Callee::Routine(routine) => Target::Routine(routine.0),
            Callee::Pointer(pointer) => Target::Pointer(self.expr(pointer)),
        }
    }

    fn arguments(&mut self, arguments: &[Expr]) -> Arguments {
        let arguments: Vec<Operand> = arguments.iter().map(|value| self.expr(value)).collect();
        let start = self.code.arguments.len() as u32;
        let len = arguments.len() as u32;
        self.code.arguments.extend(arguments);
        Arguments { start, len }
    }

    fn queue(&mut self, message: &Message) -> u32 {
        let layout = message.layout.map(|layout| &self.program.layouts[layout.0 as usize]);
        let Some(Layout::Channel { capacity, fields, .. }) = layout else {
            self.refuse("a channel that is known only when the program runs");
            return 0;
        };
        if *capacity == 0 {
            self.refuse("a rendezvous");
        }
        if message.anywhere || message.keep {
            self.refuse("a channel that is not used as a queue");
        }
        let mut parts = Vec::new();
        for (field, &ty) in message.fields.iter().zip(fields) {
            let part = match field {
                MessageField::Value(value) => QueueField::Send(self.expr(value)),
                MessageField::Ignore => QueueField::Receive(NOWHERE),
                MessageField::Register(register) => QueueField::Receive(register.0),
                MessageField::Place(..) => {
                    self.refuse("a message that is received into memory");
                    QueueField::Receive(NOWHERE)
                }
            };
            parts.push((part, ty));
        }
        let at = self.place(&message.channel);
        let size = fields.iter().map(|ty| ty.bytes()).sum();
        self.code.queues.push(Queue { at, capacity: *capacity, fields: parts, size });
        self.code.queues.len() as u32 - 1
    }

    fn place(&mut self, place: &Place) -> Address {
        let offset = self.expr(&place.offset);
        let base = match &place.base {
            Base::Object(object) => match self.per_thread(object.0) {
                Some(number) => AddressBase::PerThread(number),
                None => AddressBase::Static(object.0),
            },
            Base::Frame(number) => AddressBase::Frame(*number),
            Base::Pointer(pointer) => AddressBase::Pointer(self.expr(pointer)),
            Base::Channel(number) => {
                self.refuse("a channel that is known by its number");
                AddressBase::Pointer(self.expr(number))
            }
        };
        Address { base, offset }
    }

    /// Which of the objects that every thread has its own of this is.
    fn per_thread(&self, object: u32) -> Option<u32> {
        let number = self.code.per_thread.iter().position(|&other| other == object)?;
        Some(number as u32)
    }

    fn constant(&mut self, bits: u64) -> Operand {
        let known = self.code.constants.iter().position(|&other| other == bits);
        let number = known.unwrap_or_else(|| {
            self.code.constants.push(bits);
            self.code.constants.len() - 1
        });
        Operand::new(Source::Constant(number as u32))
    }

    fn value_of(&self, operand: Operand) -> Option<u64> {
        match operand.source() {
            Source::Constant(number) => Some(self.code.constants[number as usize]),
            _ => None,
        }
    }

    fn node(&mut self, op: Op, left: Operand, right: Operand) -> Operand {
        self.code.nodes.push(Node { op, left, right });
        Operand::new(Source::Node(self.code.nodes.len() as u32 - 1))
    }

    fn expr(&mut self, value: &Expr) -> Operand {
        match value {
            Expr::Const { bits, .. } => self.constant(*bits),
            Expr::Register { register, .. } if self.seen == Some(*register) => {
                Operand::new(Source::Seen)
            }
            Expr::Register { register, .. } => Operand::new(Source::Register(register.0)),
            Expr::Unary(op, operand) => {
                let ty = operand.ty();
                let operand = self.expr(operand);
                match self.value_of(operand) {
                    Some(value) => self.constant(evaluate::unary(*op, ty, value)),
                    None => self.node(Op::Unary(*op, ty), operand, operand),
                }
            }
            Expr::Binary(op, left, right) => {
                let (ty, shift) = (left.ty(), right.ty());
                let (left, right) = (self.expr(left), self.expr(right));
                if let (Some(l), Some(r)) = (self.value_of(left), self.value_of(right)) {
                    return self.constant(evaluate::binary(*op, ty, l, r, shift));
                }
                let op = match (op, ty) {
                    (Binary::Add, Type::I32) => Op::AddI32,
                    (Binary::Add, Type::I64) => Op::AddI64,
                    (Binary::Multiply, Type::I64) => Op::MultiplyI64,
                    _ => Op::Binary(*op, ty, shift),
                };
                self.node(op, left, right)
            }
            Expr::Compare(op, left, right) => {
                let ty = left.ty();
                let (left, right) = (self.expr(left), self.expr(right));
                if let (Some(l), Some(r)) = (self.value_of(left), self.value_of(right)) {
                    return self.constant(u64::from(evaluate::compare(*op, ty, l, r)));
                }
                let op = match (op, ty) {
                    // Whether bits are the same does not depend on the sign.
                    (Compare::Equal | Compare::NotEqual, Type::Int { .. } | Type::Pointer)
                    | (_, Type::Int { signed: true, .. }) => Op::CompareSigned(*op),
                    _ => Op::Compare(*op, ty),
                };
                self.node(op, left, right)
            }
            Expr::Overflows(op, left, right) => {
                let ty = left.ty();
                let (left, right) = (self.expr(left), self.expr(right));
                if let (Some(l), Some(r)) = (self.value_of(left), self.value_of(right)) {
                    return self.constant(u64::from(evaluate::overflows(*op, ty, l, r)));
                }
                self.node(Op::Overflows(*op, ty), left, right)
            }
            Expr::Convert(to, operand) => {
                let (from, to) = (operand.ty(), *to);
                let operand = self.expr(operand);
                match self.value_of(operand) {
                    Some(value) => self.constant(evaluate::convert(to, from, value)),
                    None if keeps_bits(from, to) => operand,
                    None => self.node(Op::Convert { from, to }, operand, operand),
                }
            }
            Expr::Reinterpret(to, operand) => {
                // The same bits, in the canonical form of the other type.
                let (to, bits) = (*to, Type::unsigned(operand.ty().bits() as u8));
                let operand = self.expr(operand);
                self.node(Op::Convert { from: bits, to: as_int(to) }, operand, operand)
            }
            Expr::If(parts) => {
                let [condition, then, otherwise] = parts.each_ref().map(|part| self.expr(part));
                let choice = self.node(Op::If, condition, condition);
                self.node(Op::Parts, then, otherwise);
                choice
            }
            Expr::Offset(pointer, bytes) => {
                let (pointer, bytes) = (self.expr(pointer), self.expr(bytes));
                self.offset(pointer, bytes)
            }
            Expr::Address(place) => {
                let bytes = self.expr(&place.offset);
                match &place.base {
                    Base::Object(object) => match self.per_thread(object.0) {
                        Some(number) => self.node(Op::PerThread(number), bytes, bytes),
                        None => {
                            let pointer = self.constant(Pointer::to_object(*object).bits());
                            self.offset(pointer, bytes)
                        }
                    },
                    Base::Frame(number) => self.node(Op::Frame(*number), bytes, bytes),
                    Base::Pointer(pointer) => {
                        let pointer = self.expr(pointer);
                        self.offset(pointer, bytes)
                    }
                    Base::Channel(_) => {
                        self.refuse("the address of a channel");
                        bytes
                    }
                }
            }
            Expr::Routine(routine) => self.constant(Pointer::to_routine(*routine).bits()),
            Expr::Thread => {
                let nothing = self.constant(0);
                self.node(Op::Thread, nothing, nothing)
            }
            Expr::Read { .. } => {
                self.refuse("an expression that reads memory");
                self.constant(0)
            }
            Expr::Index(..) | Expr::Query(_) => {
                self.refuse("an expression that asks the whole state");
                self.constant(0)
            }
        }
    }

    fn offset(&mut self, pointer: Operand, bytes: Operand) -> Operand {
        match (self.value_of(pointer), self.value_of(bytes)) {
            (_, Some(0)) => pointer,
            (Some(pointer), Some(bytes)) => {
                self.constant(Pointer::from_bits(pointer).plus(bytes as i64).bits())
            }
            _ => self.node(Op::Offset, pointer, bytes),
        }
    }
}

fn result(register: Option<RegisterId>) -> u32 {
    register.map_or(NOWHERE, |register| register.0)
}

/// Whether every value of `from` has the same bits as a `to`.
fn keeps_bits(from: Type, to: Type) -> bool {
    match (from, to) {
        (Type::Int { bits: a, signed }, Type::Int { bits: b, signed: to_signed }) => {
            b == 64 || (a < b && !signed) || (a <= b && signed == to_signed)
        }
        (Type::Int { .. }, Type::Pointer) => true,
        (Type::Pointer, Type::Int { bits, .. }) => bits == 64,
        _ => false,
    }
}

/// The integer that has the bits of a type.
fn as_int(ty: Type) -> Type {
    match ty {
        Type::Int { .. } => ty,
        other => Type::unsigned(other.bits() as u8),
    }
}
