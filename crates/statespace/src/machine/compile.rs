//! From a program to its [`Code`].

use super::code::{
    Cell, ChannelKind, Code, Edge, Fault, Field, Message, Node, NodeId, Place, Routine, Step,
    Target, Trace, location,
};
use super::footprint::{self, Footprint};
use super::variables::{self, Named};
use super::{liveness, merge};
use mazurka_core::Detail;
use mazurka_model::{
    self as model, Action, Base, Binary, Callee, Compare, Expr, InitValue, Layout, LayoutId,
    MessageField, Program, Query, RoutineId, Span, Storage, Type, Unary, ViolationKind,
};

/// The machine cannot run this program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} cannot be stored in states")]
pub struct MachineError {
    /// What it does not have.
    pub what: String,
    /// Where in the source.
    pub span: Span,
}

/// The faults that every program may have, in the order of their numbers.
const FAULTS: [(ViolationKind, &str); 15] = [
    (ViolationKind::Memory, "invalid array index"),
    (ViolationKind::Memory, "ref to uninitialized chan name"),
    (ViolationKind::Memory, "wrong nr of msg fields"),
    (ViolationKind::Memory, "too many processes"),
    (ViolationKind::Memory, "too many queues"),
    (ViolationKind::Deadlock, "block in d_step seq"),
    (ViolationKind::Livelock, "a d_step does not end"),
    (ViolationKind::Assertion, "division by zero"),
    (ViolationKind::Assertion, "event_trace error (no matching event)"),
    (ViolationKind::Assertion, "event_trace error (all events matched)"),
    (ViolationKind::Assertion, "xs assertion violated: another process sends, too"),
    (ViolationKind::Assertion, "xr assertion violated: another process receives, too"),
    (ViolationKind::Overflow, "value truncated in assignment"),
    (ViolationKind::Assertion, "used: enabled(pid=thisproc)"),
    (ViolationKind::Assertion, "polling rv chan"),
];

/// The code of a program and of propositions about it, or all that the machine has no room for.
pub(super) fn compile(program: &Program, propositions: &[Expr]) -> Result<Code, Vec<MachineError>> {
    let mut compiler = Compiler {
        program,
        propositions,
        code: Code::default(),
        errors: Vec::new(),
        objects: Vec::new(),
        frames: Vec::new(),
        span: Span::NONE,
        routine: 0,
        asks_last: false,
    };
    compiler.run();
    let is_timeout = |it: &Expr| matches!(it, Expr::Query(query) if **query == Query::Timeout);
    let mut asks_timeout = false;
    let mut look = |part: &Expr| asks_timeout |= is_timeout(part);
    propositions.iter().for_each(|it| it.visit(&mut look));
    if asks_timeout {
        // It is asked for when no process can move; a proposition is asked for in every state.
        compiler.refuse("`timeout` in a formula");
    }
    for proposition in propositions {
        let proposition = compiler.expr(proposition);
        compiler.code.propositions.push(proposition);
    }
    footprint::footprints(&mut compiler.code);
    merge::find(&mut compiler.code);
    liveness::find(&mut compiler.code);
    liveness::find_idle(&mut compiler.code);
    match compiler.errors.is_empty() {
        true => Ok(compiler.code),
        false => Err(compiler.errors),
    }
}

struct Compiler<'a> {
    program: &'a Program,
    propositions: &'a [Expr],
    code: Code,
    errors: Vec<MachineError>,
    /// Where each object of the program is, and its size.
    objects: Vec<(u32, u32)>,
    /// For each routine, where each object of its frame is, its size, and which of the routine's
    /// channels it is.
    frames: Vec<Vec<(u32, u32, Option<u32>)>>,
    span: Span,
    routine: usize,
    asks_last: bool,
}

impl Compiler<'_> {
    fn run(&mut self) {
        let program = self.program;
        self.code.name.clone_from(&program.name);
        self.code.files.clone_from(&program.files);
        self.code.assumptions.clone_from(&program.assumptions);
        self.code.has_priorities = program.has_priorities;
        self.code.symbols =
            program.symbols.iter().map(|it| ((it.set, it.value as i64), it.name.clone())).collect();
        let faults = FAULTS.iter();
        self.code.faults = faults
            .map(|(kind, message)| {
                // None of them is an assertion that is in the source.
                let detail = (*kind == ViolationKind::Assertion).then_some(Detail::Misuse);
                Fault { kind: *kind, message: (*message).to_owned(), detail }
            })
            .collect();
        if program.routines.len() > 255 {
            self.refuse("more than 255 types of processes");
            return;
        }
        self.asks_last = self.asks(&Query::Last);
        self.code.uses_timeout = self.asks(&Query::Timeout);
        self.lay_out_program();
        for idx in 0..program.routines.len() {
            self.lay_out_routine(idx);
        }
        for idx in 0..program.routines.len() {
            self.routine = idx;
            self.routine(idx);
        }
        for process in &program.processes {
            let arguments = process.arguments.iter().map(|&bits| bits as i64).collect();
            self.code.processes.push((process.routine.0 as u8, arguments));
        }
    }

    fn refuse(&mut self, what: &str) {
        self.errors.push(MachineError { what: what.to_owned(), span: self.span });
    }

    /// Whether the program, or a proposition about it, asks this anywhere.
    fn asks(&self, wanted: &Query) -> bool {
        let mut asks = false;
        let mut look = |part: &Expr| {
            asks |= matches!(part, Expr::Query(query) if **query == *wanted);
        };
        for routine in &self.program.routines {
            routine.provided.iter().for_each(|condition| condition.visit(&mut look));
            for (_, edge) in routine.edges() {
                edge.guard.iter().for_each(|guard| guard.visit(&mut look));
                edge.action.visit_expressions(&mut look);
            }
        }
        self.propositions.iter().for_each(|it| it.visit(&mut look));
        asks
    }

    fn lay_out_program(&mut self) {
        let mut bytes = vec![0; 2];
        if self.asks_last {
            self.code.last = Some(bytes.len() as u32);
            bytes.push(0);
        }
        if let Some(trace) = self.program.trace {
            let routine = self.program.routine(trace.routine);
            let at = bytes.len() as u32;
            bytes.extend(location(routine.start).to_le_bytes());
            let mut ends =
                routine.edges().filter(|(_, it)| matches!(it.action, Action::Return { .. }));
            let end = ends.next().map_or(u16::MAX, |(at, _)| location(at));
            let is_forbidden = trace.is_forbidden;
            self.code.trace = Some(Trace { routine: trace.routine.0 as u8, is_forbidden, end, at });
        }
        for object in &self.program.objects {
            let at = bytes.len() as u32;
            if let Some(kind) = self.channel_kind(object.layout) {
                self.code.channels.push((at, kind));
                self.code.channel_names.push(object.name.clone());
                let size = self.code.kinds[kind as usize].size;
                self.objects.push((at, size));
                bytes.resize(bytes.len() + size as usize, 0);
                continue;
            }
            let size = self.program.size_of(object.layout);
            self.objects.push((at, size));
            bytes.resize(bytes.len() + size as usize, 0);
            for init in &object.init {
                let InitValue::Bits(ty, bits) = init.value else {
                    self.span = object.span;
                    self.refuse("a pointer");
                    continue;
                };
                Cell::of(ty).store(&mut bytes, (at + init.offset) as usize, bits as i64);
            }
            match object.storage {
                Storage::Shared => {
                    self.code.variables.push(at as usize..bytes.len());
                    let named = variables::parts(self.program, object.layout, &object.name, at);
                    self.code.named.extend(named);
                }
                Storage::Constant => {}
                Storage::Scratch => self.code.scratch.push(at as usize..bytes.len()),
                Storage::PerThread => {
                    self.span = object.span;
                    self.refuse("a variable that every thread has its own of");
                }
            }
        }
        if self.code.channels.len() > 255 {
            self.refuse("more than 255 channels");
        }
        self.code.globals = bytes;
        self.code.record = 3 + u32::from(self.code.has_priorities);
    }

    /// What a channel of this layout is made of, if it is one.
    fn channel_kind(&mut self, layout: LayoutId) -> Option<u16> {
        let Layout::Channel { capacity, fields, symbols } =
            &self.program.layouts[layout.0 as usize]
        else {
            return None;
        };
        let mut offset = 0;
        let mut places = Vec::new();
        for &ty in fields {
            places.push((offset, ty));
            offset += ty.bytes();
        }
        let kind = ChannelKind {
            capacity: *capacity,
            fields: places,
            symbols: symbols.clone(),
            message: offset,
            size: if *capacity == 0 { 0 } else { 1 + capacity * offset },
        };
        let known = self.code.kinds.iter().position(|other| *other == kind);
        Some(known.unwrap_or_else(|| {
            self.code.kinds.push(kind);
            self.code.kinds.len() - 1
        }) as u16)
    }

    fn lay_out_routine(&mut self, idx: usize) {
        let source = &self.program.routines[idx];
        let mut at = self.code.record;
        let mut routine = Routine {
            name: source.name.clone(),
            start: location(source.start),
            priority: source.priority,
            ..Routine::default()
        };
        for (number, register) in source.registers.iter().enumerate() {
            let cell = Cell::of(register.ty);
            if number < source.n_parameters as usize {
                routine.parameters.push((at, cell));
            }
            routine.registers.push((model::RegisterId(number as u32), at, cell));
            if !register.name.is_empty() {
                let (name, is_channel) = (register.name.clone(), register.is_channel);
                routine.named.push(Named { name, at, cell, is_channel });
            }
            at += cell.bytes();
        }
        let mut frame = Vec::new();
        for object in &source.objects {
            match self.channel_kind(object.layout) {
                Some(kind) => {
                    let size = self.code.kinds[kind as usize].size;
                    frame.push((at, size, Some(routine.channels.len() as u32)));
                    routine.channels.push((at, kind));
                    routine.channel_names.push(object.name.clone());
                    at += size;
                }
                None => {
                    let size = self.program.size_of(object.layout);
                    let named = variables::parts(self.program, object.layout, &object.name, at);
                    routine.named.extend(named);
                    frame.push((at, size, None));
                    at += size;
                }
            }
        }
        routine.size = at;
        if source.locations.len() > usize::from(u16::MAX) {
            self.span = source.span;
            self.refuse("a process with more than 65535 locations");
        }
        self.frames.push(frame);
        self.code.routines.push(routine);
    }

    fn routine(&mut self, idx: usize) {
        let source = &self.program.routines[idx];
        let provided = source.provided.as_ref().map(|condition| self.expr(condition));
        let exclusive = source.exclusive.iter();
        let exclusive: Vec<_> =
            exclusive.map(|promise| (promise.sends, self.expr(&promise.channel))).collect();
        self.code.has_exclusive |= !exclusive.is_empty();
        let mut prologue = Vec::new();
        for action in &source.prologue {
            self.span = source.span;
            if let Some(store) = self.store(action) {
                prologue.push(store);
            }
        }
        let mut places = Vec::new();
        for (number, location) in source.locations.iter().enumerate() {
            let start = self.code.edges.len() as u32;
            for edge in &location.edges {
                let edge = self.edge(edge, RoutineId(idx as u32));
                self.code.edges.push(edge);
            }
            let end = self.code.edges.len() as u32;
            places.push(Place {
                edges: start..end,
                is_end: location.labels.end || number == source.end.0 as usize,
                is_progress: location.labels.progress,
                is_accept: location.labels.accept,
                next: Footprint::default(),
                future: Footprint::default(),
                is_local: false,
                dead: Box::default(),
                is_merged: false,
                is_visible: true,
            });
        }
        let routine = &mut self.code.routines[idx];
        routine.provided = provided;
        routine.exclusive = exclusive;
        routine.prologue = prologue;
        routine.places = places;
    }

    fn edge(&mut self, edge: &model::Edge, routine: RoutineId) -> Edge {
        self.span = edge.span;
        let guard = edge.guard.as_ref().map(|guard| self.expr(guard));
        let step = self.step(&edge.action);
        Edge {
            guard,
            otherwise: edge.otherwise,
            step,
            to: location(edge.to),
            atomic: edge.atomic,
            escape: edge.escape,
            routine,
            span: edge.span,
            text: edge.text.as_str().into(),
            number: edge.number,
        }
    }

    /// What an action that only writes writes, and where.
    fn store(&mut self, action: &Action) -> Option<(Target, NodeId)> {
        match action {
            Action::Assign { to, value } => {
                let value_node = self.expr(value);
                Some((self.register(to.0, value.ty()), value_node))
            }
            Action::Store { to, value, .. } => {
                let value_node = self.expr(value);
                Some((self.target(to, value.ty())?, value_node))
            }
            _ => {
                self.refuse("an action of this kind");
                None
            }
        }
    }

    fn step(&mut self, action: &Action) -> Step {
        match action {
            Action::Skip => Step::Skip,
            Action::Assign { .. } | Action::Store { .. } => match self.store(action) {
                Some((to, value)) => Step::Store { to, value },
                None => Step::Skip,
            },
            Action::Check { condition, kind, message } => {
                let detail = Detail::asserted(message);
                let fault = Fault { kind: *kind, message: message.clone(), detail };
                let known = self.code.faults.iter().position(|other| *other == fault);
                let fault = known.unwrap_or_else(|| {
                    self.code.faults.push(fault);
                    self.code.faults.len() - 1
                });
                Step::Check { condition: self.expr(condition), fault: fault as u32 }
            }
            Action::Send(message) => Step::Send(self.message(message)),
            Action::Receive(message) => Step::Receive(self.message(message)),
            Action::Spawn { routine, arguments, to } => {
                let Callee::Routine(callee) = routine else {
                    self.refuse("a pointer to a routine");
                    return Step::Skip;
                };
                let arguments = arguments.iter().map(|argument| self.expr(argument)).collect();
                let registers = &self.program.routines[self.routine].registers;
                let to = to.map(|to| self.register(to.0, registers[to.0 as usize].ty));
                Step::Spawn { routine: callee.0 as u8, arguments, to }
            }
            Action::SetPriority { process, priority } => {
                Step::SetPriority { process: self.expr(process), priority: self.expr(priority) }
            }
            Action::Indivisible { start, end } => {
                Step::Indivisible { start: location(*start), end: location(*end) }
            }
            Action::Print { text, arguments, symbols } => Step::Print {
                text: text.as_str().into(),
                arguments: arguments.iter().map(|argument| self.expr(argument)).collect(),
                symbols: symbols.as_slice().into(),
            },
            Action::Return { .. } => Step::Die,
            _ => {
                self.refuse("an action of this kind");
                Step::Skip
            }
        }
    }

    fn message(&mut self, message: &model::Message) -> u32 {
        let Base::Channel(number) = &message.channel.base else {
            self.refuse("a channel that has no number");
            return 0;
        };
        let channel = self.expr(number);
        let mut fields = Vec::new();
        for field in &message.fields {
            fields.push(match field {
                MessageField::Value(value) => Field::Value(self.expr(value)),
                MessageField::Ignore => Field::Ignore,
                MessageField::Register(register) => {
                    let registers = &self.program.routines[self.routine].registers;
                    let ty = registers[register.0 as usize].ty;
                    Field::To(self.register(register.0, ty))
                }
                MessageField::Place(place, ty) => match self.target(place, *ty) {
                    Some(target) => Field::To(target),
                    None => Field::Ignore,
                },
            });
        }
        let (anywhere, keep) = (message.anywhere, message.keep);
        let message = Message { channel, fields: fields.into(), anywhere, keep };
        self.code.messages.push(message);
        self.code.messages.len() as u32 - 1
    }

    fn register(&self, number: u32, ty: Type) -> Target {
        let (_, at, _) = self.code.routines[self.routine].registers[number as usize];
        Target::Local { at, ty }
    }

    fn target(&mut self, place: &model::Place, ty: Type) -> Option<Target> {
        let offset = place.offset.as_const();
        match place.base {
            Base::Object(object) => {
                let (at, size) = self.objects[object.0 as usize];
                Some(match offset {
                    Some(offset) => Target::Global { at: at + offset as u32, ty },
                    None => {
                        let offset = self.expr(&place.offset);
                        Target::GlobalAt { at, offset, size, ty }
                    }
                })
            }
            Base::Frame(number) => {
                let (at, size, _) = self.frames[self.routine][number as usize];
                Some(match offset {
                    Some(offset) => Target::Local { at: at + offset as u32, ty },
                    None => {
                        let offset = self.expr(&place.offset);
                        Target::LocalAt { at, offset, size, ty }
                    }
                })
            }
            Base::Pointer(_) | Base::Channel(_) => {
                self.refuse("a pointer");
                None
            }
        }
    }

    fn node(&mut self, node: Node) -> NodeId {
        self.code.nodes.push(node);
        NodeId(self.code.nodes.len() as u32 - 1)
    }

    fn expr(&mut self, value: &Expr) -> NodeId {
        let node = match value {
            Expr::Const { bits, .. } => Node::Const(*bits as i64),
            Expr::Register { register, ty } => {
                let (_, at, _) = self.code.routines[self.routine].registers[register.0 as usize];
                Node::Local { at, cell: Cell::of(*ty) }
            }
            Expr::Unary(Unary::Not, operand) if operand.ty() == Type::BOOL => {
                Node::Not(self.expr(operand))
            }
            Expr::Unary(op, operand) => Node::Unary(*op, operand.ty(), self.expr(operand)),
            Expr::Binary(op, left, right) => {
                let (l, r) = (self.expr(left), self.expr(right));
                match (op, left.ty()) {
                    (Binary::Add, Type::I32) => Node::Add(l, r),
                    (Binary::Subtract, Type::I32) => Node::Subtract(l, r),
                    (op, ty) => Node::Binary(*op, ty, l, r),
                }
            }
            Expr::Compare(op, left, right) => {
                let (l, r) = (self.expr(left), self.expr(right));
                // Numbers of up to 63 bits compare as they are.
                match (op, left.ty().bits() < 64) {
                    (Compare::Equal, _) => Node::Equal(l, r),
                    (Compare::Less, true) => Node::Less(l, r),
                    (Compare::Greater, true) => Node::Less(r, l),
                    (op, _) => Node::Compare(*op, left.ty(), l, r),
                }
            }
            Expr::Convert(ty, operand) if holds(*ty, operand.ty()) => return self.expr(operand),
            Expr::Convert(ty, operand) => Node::Convert(*ty, self.expr(operand)),
            Expr::If(parts) => {
                let [condition, then, otherwise] = parts.each_ref().map(|part| self.expr(part));
                Node::If(condition, then, otherwise)
            }
            Expr::Index(index, count) => Node::Index(self.expr(index), *count),
            Expr::Thread => Node::Thread,
            Expr::Read { from, ty } => self.read(from, *ty),
            Expr::Query(query) => self.query(query),
            Expr::Overflows(..)
            | Expr::Reinterpret(..)
            | Expr::Offset(..)
            | Expr::Address(_)
            | Expr::Routine(_) => {
                self.refuse("an expression of this kind");
                Node::Const(0)
            }
        };
        self.node(node)
    }

    fn read(&mut self, from: &model::Place, ty: Type) -> Node {
        match self.target(from, ty) {
            Some(Target::Global { at, ty }) => Node::Global { at, cell: Cell::of(ty) },
            Some(Target::GlobalAt { at, offset, size, ty }) => {
                Node::GlobalAt { at, offset, size, cell: Cell::of(ty) }
            }
            Some(Target::Local { at, ty }) => Node::Local { at, cell: Cell::of(ty) },
            Some(Target::LocalAt { at, offset, size, ty }) => {
                Node::LocalAt { at, offset, size, cell: Cell::of(ty) }
            }
            None => Node::Const(0),
        }
    }

    fn query(&mut self, query: &Query) -> Node {
        match query {
            Query::Length(channel) => Node::Length(self.expr(channel)),
            Query::Full(channel) => Node::Full(self.expr(channel)),
            Query::Empty(channel) => Node::Empty(self.expr(channel)),
            Query::Poll(message) => Node::Poll(self.message(message)),
            Query::OwnChannel(object) => {
                let (_, _, channel) = self.frames[self.routine][*object as usize];
                match channel {
                    Some(number) => Node::OwnChannel(number),
                    None => {
                        self.refuse("an object that is no channel");
                        Node::Const(0)
                    }
                }
            }
            Query::Processes => Node::Processes,
            Query::Last => Node::Last,
            Query::Timeout => Node::Timeout,
            Query::NonProgress => Node::NonProgress,
            Query::Enabled(process) => Node::Enabled(self.expr(process)),
            Query::Location(process) => Node::Location(self.expr(process)),
            Query::Priority(process) => Node::Priority(self.expr(process)),
            Query::At { process, routine, location: at } => Node::At {
                process: process.as_ref().map(|process| self.expr(process)),
                routine: routine.0 as u8,
                location: location(*at),
            },
            Query::Register { process, routine, register, ty } => {
                let process = process.as_ref().map(|process| self.expr(process));
                let registers = &self.code.routines[routine.0 as usize].registers;
                let (_, at, _) = registers[register.0 as usize];
                Node::Remote { process, routine: routine.0 as u8, at, cell: Cell::of(*ty) }
            }
            Query::Frame { process, routine, from, ty } => {
                self.remote_frame(process.as_ref(), *routine, from, *ty)
            }
        }
    }

    fn remote_frame(
        &mut self,
        process: Option<&Expr>,
        routine: RoutineId,
        from: &model::Place,
        ty: Type,
    ) -> Node {
        let process = process.map(|process| self.expr(process));
        let Base::Frame(number) = from.base else {
            self.refuse("a place that is in no frame");
            return Node::Const(0);
        };
        let (at, size, _) = self.frames[routine.0 as usize][number as usize];
        let (cell, routine) = (Cell::of(ty), routine.0 as u8);
        match from.offset.as_const() {
            Some(offset) => Node::Remote { process, routine, at: at + offset as u32, cell },
            None => {
                let offset = self.expr(&from.offset);
                Node::RemoteAt { process, routine, at, offset, size, cell }
            }
        }
    }
}

/// Whether every value of `from` is one of `to`, with the same bits.
fn holds(to: Type, from: Type) -> bool {
    match (to, from) {
        (Type::Int { bits: to, signed: to_signed }, Type::Int { bits: from, signed }) => {
            to == from && to_signed == signed || from < to && (to_signed || !signed)
        }
        _ => false,
    }
}
