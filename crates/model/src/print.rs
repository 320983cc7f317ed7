//! Printing of programs: as text, or as graphs for Graphviz.

use crate::{
    Access, Action, Base, Binary, Branching, Callee, Compare, Edge, Expr, InitValue, Layout,
    LayoutId, Message, MessageField, Overflow, Place, Pointer, Program, Query, RegisterId, Routine,
    RoutineId, Span, Storage, Type, Unary, Update,
};
use mazurka_core::MemoryOrder;
use std::fmt::{self, Write as _};

/// The whole program as text: objects, routines with their edges, processes.
pub fn text(program: &Program) -> String {
    let mut out = String::new();
    write_text(program, &mut out).expect("writing to a string cannot fail");
    out
}

/// The control-flow graphs in the language of Graphviz: a cluster for each routine.
pub fn dot(program: &Program) -> String {
    let mut out = String::new();
    write_dot(program, &mut out).expect("writing to a string cannot fail");
    out
}

fn write_text(program: &Program, out: &mut String) -> fmt::Result {
    writeln!(out, "program {}", program.name)?;
    for object in &program.objects {
        let storage = match object.storage {
            Storage::Shared => "",
            Storage::Constant => "constant ",
            Storage::PerThread => "per-thread ",
            Storage::Scratch => "scratch ",
        };
        write!(out, "{storage}object {}: {}", object.name, layout(program, object.layout))?;
        for init in &object.init {
            write!(out, ", {} = ", init.offset)?;
            match &init.value {
                InitValue::Bytes(bytes) => write!(out, "{:?}", String::from_utf8_lossy(bytes))?,
                InitValue::Bits(ty, bits) => write!(out, "{}", constant(*ty, *bits))?,
                InitValue::Object(object, offset) => {
                    write!(out, "&{}", program.objects[object.0 as usize].name)?;
                    if *offset != 0 {
                        write!(out, "+{offset}")?;
                    }
                }
                InitValue::Routine(routine) => {
                    write!(out, "&{}", program.routine(*routine).name)?;
                }
            }
        }
        writeln!(out, "{}", at(program, object.span))?;
    }
    for process in &program.processes {
        let arguments = process.arguments.iter().map(u64::to_string).collect::<Vec<_>>();
        let routine = &program.routine(process.routine).name;
        writeln!(out, "process {} = {routine}({})", process.name, arguments.join(", "))?;
    }
    for assumption in &program.assumptions {
        writeln!(out, "assuming {assumption}")?;
    }
    for routine in &program.routines {
        write_routine(program, routine, out)?;
    }
    Ok(())
}

fn write_routine(program: &Program, routine: &Routine, out: &mut String) -> fmt::Result {
    let show = Show { program, routine };
    write!(out, "\nroutine {}(", routine.name)?;
    for (idx, register) in routine.registers.iter().enumerate() {
        let separator = match idx as u32 {
            0 => "",
            idx if idx == routine.n_parameters => "",
            _ => ", ",
        };
        if idx as u32 == routine.n_parameters {
            out.push_str(") with (");
        }
        let name = show.register(RegisterId(idx as u32));
        write!(out, "{separator}{name}: {}", register.ty)?;
    }
    out.push(')');
    if let Some(result) = routine.result {
        write!(out, " -> {result}")?;
    }
    writeln!(out, "{}", at(program, routine.span))?;
    for object in &routine.objects {
        writeln!(out, "  object {}: {}", object.name, layout(program, object.layout))?;
    }
    for (idx, location) in routine.locations.iter().enumerate() {
        write!(out, "  {idx}")?;
        if let Some(name) = &location.name {
            write!(out, " {name}")?;
        }
        for (holds, word) in [
            (idx == routine.start.0 as usize, "start"),
            (idx == routine.end.0 as usize, "end"),
            (location.branching == Branching::Choice, "any of"),
            (location.labels.end, "end-label"),
            (location.labels.progress, "progress-label"),
            (location.labels.accept, "accept-label"),
        ] {
            if holds {
                write!(out, " [{word}]")?;
            }
        }
        writeln!(out)?;
        for edge in &location.edges {
            write!(out, "    {}", show.edge(edge))?;
            writeln!(out, " -> {}{}", edge.to.0, at(program, edge.span))?;
        }
    }
    Ok(())
}

fn write_dot(program: &Program, out: &mut String) -> fmt::Result {
    writeln!(out, "digraph {} {{", quoted(&program.name))?;
    writeln!(out, "  node [shape=circle, fontsize=10]; edge [fontsize=10];")?;
    for (number, routine) in program.routines.iter().enumerate() {
        let show = Show { program, routine };
        writeln!(out, "  subgraph cluster_{number} {{")?;
        writeln!(out, "    label={};", quoted(&routine.name))?;
        for (idx, location) in routine.locations.iter().enumerate() {
            let label = location.name.clone().unwrap_or_else(|| idx.to_string());
            let shape = match idx as u32 {
                idx if idx == routine.start.0 => ", style=bold",
                idx if idx == routine.end.0 => ", shape=doublecircle",
                _ => "",
            };
            writeln!(out, "    r{number}_{idx} [label={}{shape}];", quoted(&label))?;
        }
        for (from, edge) in routine.edges() {
            let (from, to, label) = (from.0, edge.to.0, quoted(&show.edge(edge)));
            writeln!(out, "    r{number}_{from} -> r{number}_{to} [label={label}];")?;
        }
        writeln!(out, "  }}")?;
    }
    writeln!(out, "}}")
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}

fn at(program: &Program, span: Span) -> String {
    match program.files.get(span.file.0 as usize) {
        Some(file) if span.is_known() => format!("  // {file}:{}:{}", span.line, span.column),
        _ => String::new(),
    }
}

fn layout(program: &Program, id: LayoutId) -> String {
    let fields = |fields: &[crate::Field]| {
        let field = |field: &crate::Field| {
            format!("{} {}: {}", field.offset, field.name, layout(program, field.layout))
        };
        fields.iter().map(field).collect::<Vec<_>>().join(", ")
    };
    match &program.layouts[id.0 as usize] {
        Layout::Scalar(ty) => ty.to_string(),
        Layout::Array { element, count } => format!("[{}; {count}]", layout(program, *element)),
        Layout::Struct { name, fields: parts, .. } => {
            format!("struct {name} {{{}}}", fields(parts))
        }
        Layout::Union { name, fields: parts, .. } => format!("union {name} {{{}}}", fields(parts)),
        Layout::Bytes(size) => format!("{size} bytes"),
        Layout::Sync { kind, .. } => kind.name().to_owned(),
        Layout::Channel { capacity, fields, .. } => {
            let fields = fields.iter().map(Type::to_string).collect::<Vec<_>>();
            format!("channel[{capacity}] of ({})", fields.join(", "))
        }
    }
}

pub(crate) fn constant(ty: Type, bits: u64) -> String {
    match ty {
        Type::BOOL => (bits != 0).to_string(),
        Type::Int { signed: true, .. } => (bits as i64).to_string(),
        Type::Int { signed: false, .. } => bits.to_string(),
        Type::Float32 => format!("{:?}", f32::from_bits(bits as u32)),
        Type::Float64 => format!("{:?}", f64::from_bits(bits)),
        Type::Pointer if bits == 0 => "null".to_owned(),
        Type::Pointer => {
            let Pointer { object, offset } = Pointer::from_bits(bits);
            format!("pointer({object:#x}, {offset})")
        }
    }
}

/// Shows what stands in a routine.
struct Show<'a> {
    program: &'a Program,
    routine: &'a Routine,
}

impl Show<'_> {
    fn edge(&self, edge: &Edge) -> String {
        let action = self.action(&edge.action);
        let escape = edge.escape.map_or_else(String::new, |number| format!("escape {number} "));
        let atomic = if edge.atomic { " atomic" } else { "" };
        let shown = match (&edge.guard, edge.otherwise) {
            (Some(guard), _) if edge.action == Action::Skip => format!("[{}]", self.expr(guard)),
            (Some(guard), _) => format!("[{}] {action}", self.expr(guard)),
            (None, true) => format!("[otherwise] {action}"),
            (None, false) => action,
        };
        format!("{escape}{shown}{atomic}")
    }

    fn register(&self, register: RegisterId) -> String {
        match self.routine.registers[register.0 as usize].name.as_str() {
            "" => format!("%{}", register.0),
            name => format!("{name}%{}", register.0),
        }
    }

    fn result(&self, register: Option<RegisterId>) -> String {
        register.map_or_else(String::new, |register| format!("{} = ", self.register(register)))
    }

    fn action(&self, action: &Action) -> String {
        use Action as A;
        let place = |place: &Place| self.place(place);
        let expr = |value: &Expr| self.expr(value);
        match action {
            A::Skip => "skip".to_owned(),
            A::Assign { to, value } => format!("{} = {}", self.register(*to), expr(value)),
            A::Load { to, from, ty, access } => {
                format!("{} = {}load {ty} {}", self.register(*to), word(*access), place(from))
            }
            A::Store { to, value, access } => {
                format!("{}store {} {} = {}", word(*access), value.ty(), place(to), expr(value))
            }
            A::Modify { old, on, update, value, order } => {
                let (name, ty) = (update_name(*update), value.ty());
                let order = weaker(*order);
                format!("{}{order}{name} {ty} {}, {}", self.result(*old), place(on), expr(value))
            }
            A::CompareExchange { success, old, on, expected, new, order, failure } => {
                let results = [success, old].map(|register| {
                    register.map_or_else(|| "_".to_owned(), |register| self.register(register))
                });
                format!(
                    "{} = {}compare-exchange {} {}, {}, {}",
                    results.join(", "),
                    if order == failure {
                        weaker(*order)
                    } else {
                        format!("{order}, or {failure} in failure, ")
                    },
                    expected.ty(),
                    place(on),
                    expr(expected),
                    expr(new)
                )
            }
            A::Await { to, from, ty, until } => {
                format!("{} = await {ty} {} [{}]", self.register(*to), place(from), expr(until))
            }
            A::Copy { to, from, size } => {
                format!("copy {} to {}, {} bytes", place(from), place(to), expr(size))
            }
            A::Fill { to, byte, size } => {
                format!("fill {}, {} times {}", place(to), expr(size), expr(byte))
            }
            A::Allocate { to, size, element } => {
                let element = layout(self.program, *element);
                format!("{} = allocate {} of {element}", self.register(*to), expr(size))
            }
            A::Free { pointer } => format!("free {}", expr(pointer)),
            A::SizeOf { to, pointer } => {
                format!("{} = size of {}", self.register(*to), expr(pointer))
            }
            A::Call { callee, arguments, to } => {
                format!("{}{}", self.result(*to), self.call(callee, arguments))
            }
            A::Return { value } => self.with_value("return", value.as_ref()),
            A::Check { condition, kind, message } => {
                format!("check {} {}: {message}", kind.name(), expr(condition))
            }
            A::Assume { condition } => format!("assume {}", expr(condition)),
            A::AtomicBegin => "atomic begin".to_owned(),
            A::Fence(order) => format!("{order} fence"),
            A::AtomicEnd => "atomic end".to_owned(),
            A::Choose { to, low, high } => {
                format!("{} = choose {low}..={high}", self.register(*to))
            }
            A::Yield => "yield".to_owned(),
            A::Spawn { routine, arguments, to } => {
                format!("{}spawn {}", self.result(*to), self.call(routine, arguments))
            }
            A::SetPriority { process, priority } => {
                format!("priority of {} = {}", expr(process), expr(priority))
            }
            A::Indivisible { start, end } => format!("all at once from {} to {}", start.0, end.0),
            A::Print { text, arguments, .. } => {
                let arguments = arguments.iter().map(|it| format!(", {}", expr(it)));
                format!("print \"{text}\"{}", arguments.collect::<String>())
            }
            A::Join { process, to } => format!("{}join {}", self.result(*to), expr(process)),
            A::Detach { process } => format!("detach {}", expr(process)),
            A::ExitProcess { value } => self.with_value("exit process", value.as_ref()),
            A::ExitProgram => "exit program".to_owned(),
            A::Excuse { begins: true } => "excuse waiting".to_owned(),
            A::Excuse { begins: false } => "waiting counts".to_owned(),
            A::MutexInit { mutex, kind } => format!("mutex {} = {}", place(mutex), expr(kind)),
            A::Lock { mutex, to } => format!("{}lock {}", self.result(*to), place(mutex)),
            A::TryLock { mutex, to } => format!("{}try-lock {}", self.result(*to), place(mutex)),
            A::Unlock { mutex, to } => format!("{}unlock {}", self.result(*to), place(mutex)),
            A::ReadLock(lock) => format!("read-lock {}", place(lock)),
            A::WriteLock(lock) => format!("write-lock {}", place(lock)),
            A::TryReadLock(lock, to) => {
                format!("{}try-read-lock {}", self.result(*to), place(lock))
            }
            A::TryWriteLock(lock, to) => {
                format!("{}try-write-lock {}", self.result(*to), place(lock))
            }
            A::ReadWriteUnlock(lock) => format!("read-write-unlock {}", place(lock)),
            A::Wait { condvar, mutex } => format!("wait {} {}", place(condvar), place(mutex)),
            A::NotifyOne(condvar) => format!("notify-one {}", place(condvar)),
            A::NotifyAll(condvar) => format!("notify-all {}", place(condvar)),
            A::SemaphoreInit { semaphore, permits } => {
                format!("semaphore {} = {}", place(semaphore), expr(permits))
            }
            A::SemaphoreAcquire(semaphore) => format!("semaphore-acquire {}", place(semaphore)),
            A::SemaphoreTryAcquire(semaphore, to) => {
                format!("{}semaphore-try-acquire {}", self.result(*to), place(semaphore))
            }
            A::SemaphoreRelease(semaphore) => format!("semaphore-release {}", place(semaphore)),
            A::SemaphoreValue(semaphore, to) => {
                format!("{} = semaphore-value {}", self.register(*to), place(semaphore))
            }
            A::BarrierInit { barrier, parties } => {
                format!("barrier {} = {}", place(barrier), expr(parties))
            }
            A::BarrierWait(barrier, to) => {
                format!("{}barrier-wait {}", self.result(*to), place(barrier))
            }
            A::Reset(kind, at) => format!("reset {} {}", kind.name(), place(at)),
            A::Destroy(kind, at) => format!("destroy {} {}", kind.name(), place(at)),
            A::Send(message) => self.message("send", message),
            A::TrySend(message, to) => self.result(*to) + &self.message("try-send", message),
            A::Receive(message) => self.message("receive", message),
            A::TryReceive(message, to) => self.result(*to) + &self.message("try-receive", message),
        }
    }

    fn with_value(&self, verb: &str, value: Option<&Expr>) -> String {
        match value {
            Some(value) => format!("{verb} {}", self.expr(value)),
            None => verb.to_owned(),
        }
    }

    fn call(&self, callee: &Callee, arguments: &[Expr]) -> String {
        let callee = match callee {
            Callee::Routine(routine) => self.routine_name(*routine),
            Callee::Pointer(pointer) => format!("*{}", self.expr(pointer)),
        };
        let arguments = arguments.iter().map(|argument| self.expr(argument)).collect::<Vec<_>>();
        format!("{callee}({})", arguments.join(", "))
    }

    fn routine_name(&self, routine: RoutineId) -> String {
        self.program.routine(routine).name.clone()
    }

    fn message(&self, verb: &str, message: &Message) -> String {
        let field = |field: &MessageField| match field {
            MessageField::Value(value) => self.expr(value),
            MessageField::Ignore => "_".to_owned(),
            MessageField::Register(register) => format!("into {}", self.register(*register)),
            MessageField::Place(place, ty) => format!("into {ty} {}", self.place(place)),
        };
        let fields = message.fields.iter().map(field).collect::<Vec<_>>().join(", ");
        let anywhere = if message.anywhere { " anywhere" } else { "" };
        let keep = if message.keep { " keep" } else { "" };
        format!("{verb}{anywhere}{keep} {} ({fields})", self.place(&message.channel))
    }

    fn place(&self, place: &Place) -> String {
        let base = match &place.base {
            Base::Object(object) => self.program.objects[object.0 as usize].name.clone(),
            Base::Frame(number) => self.routine.objects[*number as usize].name.clone(),
            Base::Pointer(pointer) => format!("*{}", self.expr(pointer)),
            Base::Channel(number) => format!("channel {}", self.expr(number)),
        };
        match place.offset.as_const() {
            Some(0) => base,
            _ => format!("{base}+{}", self.expr(&place.offset)),
        }
    }

    fn expr(&self, value: &Expr) -> String {
        match value {
            Expr::Const { ty, bits } => constant(*ty, *bits),
            Expr::Register { register, .. } => self.register(*register),
            Expr::Unary(Unary::Negate, operand) => format!("-{}", self.expr(operand)),
            Expr::Unary(Unary::Not, operand) => format!("!{}", self.expr(operand)),
            Expr::Binary(Binary::Apply(function), left, right) => {
                format!("{}({}, {})", function.name(), self.expr(left), self.expr(right))
            }
            Expr::Binary(op, left, right) => {
                format!("({} {} {})", self.expr(left), binary_symbol(*op), self.expr(right))
            }
            Expr::Compare(op, left, right) => {
                format!("({} {} {})", self.expr(left), compare_symbol(*op), self.expr(right))
            }
            Expr::Overflows(op, left, right) => {
                let symbol = match op {
                    Overflow::Add => "+",
                    Overflow::Subtract => "-",
                    Overflow::Multiply => "*",
                    Overflow::Divide => "/",
                    Overflow::ShiftLeft => "<<",
                };
                format!("overflows({} {symbol} {})", self.expr(left), self.expr(right))
            }
            Expr::Convert(ty, operand) => format!("{ty}({})", self.expr(operand)),
            Expr::Reinterpret(ty, operand) => format!("bits {ty}({})", self.expr(operand)),
            Expr::If(parts) => {
                let [condition, then, otherwise] = parts.each_ref().map(|part| self.expr(part));
                format!("({condition} ? {then} : {otherwise})")
            }
            Expr::Offset(pointer, bytes) => {
                format!("({} + {} bytes)", self.expr(pointer), self.expr(bytes))
            }
            Expr::Address(place) => format!("&{}", self.place(place)),
            Expr::Routine(routine) => format!("&{}", self.routine_name(*routine)),
            Expr::Thread => "thread".to_owned(),
            Expr::Read { from, ty } => format!("{ty}[{}]", self.place(from)),
            Expr::Index(index, count) => format!("{} of {count}", self.expr(index)),
            Expr::Query(query) => self.query(query),
        }
    }

    fn query(&self, query: &Query) -> String {
        let process = |process: &Option<Expr>, routine: RoutineId| {
            let name = self.routine_name(routine);
            process.as_ref().map_or(name.clone(), |it| format!("{name}[{}]", self.expr(it)))
        };
        match query {
            Query::Length(channel) => format!("length({})", self.expr(channel)),
            Query::Full(channel) => format!("full({})", self.expr(channel)),
            Query::Empty(channel) => format!("empty({})", self.expr(channel)),
            Query::Poll(message) => self.message("poll", message),
            Query::OwnChannel(object) => {
                format!("number of {}", self.routine.objects[*object as usize].name)
            }
            Query::Processes => "processes".to_owned(),
            Query::Last => "last".to_owned(),
            Query::Timeout => "timeout".to_owned(),
            Query::NonProgress => "non-progress".to_owned(),
            Query::Enabled(process) => format!("enabled({})", self.expr(process)),
            Query::Location(process) => format!("location({})", self.expr(process)),
            Query::Priority(process) => format!("priority({})", self.expr(process)),
            Query::At { process: number, routine, location } => {
                format!("{} at {}", process(number, *routine), location.0)
            }
            Query::Register { process: number, routine, register, .. } => {
                let name = &self.program.routine(*routine).registers[register.0 as usize].name;
                format!("{}'s {name}", process(number, *routine))
            }
            Query::Frame { process: number, routine, from, .. } => {
                let shown = Show { program: self.program, routine: self.program.routine(*routine) };
                format!("{}'s {}", process(number, *routine), shown.place(from))
            }
        }
    }
}

fn word(access: Access) -> String {
    match access {
        Access::Atomic(order) => format!("{}atomic ", weaker(order)),
        Access::Volatile => "volatile ".to_owned(),
        Access::Plain => String::new(),
        Access::Private => "private ".to_owned(),
    }
}

/// An order, unless it is the strongest.
fn weaker(order: MemoryOrder) -> String {
    if order.is_weak() { format!("{order} ") } else { String::new() }
}

fn update_name(update: Update) -> &'static str {
    match update {
        Update::Exchange => "exchange",
        Update::Add => "fetch-add",
        Update::Subtract => "fetch-subtract",
        Update::And => "fetch-and",
        Update::Or => "fetch-or",
        Update::Xor => "fetch-xor",
        Update::Nand => "fetch-nand",
        Update::Minimum => "fetch-minimum",
        Update::Maximum => "fetch-maximum",
    }
}

fn binary_symbol(op: Binary) -> &'static str {
    match op {
        Binary::Add => "+",
        Binary::Subtract => "-",
        Binary::Multiply => "*",
        Binary::Divide => "/",
        Binary::Remainder => "%",
        Binary::And => "&",
        Binary::Or => "|",
        Binary::Xor => "^",
        Binary::ShiftLeft => "<<",
        Binary::ShiftRight => ">>",
        Binary::Apply(function) => function.name(),
    }
}

fn compare_symbol(op: Compare) -> &'static str {
    match op {
        Compare::Equal => "==",
        Compare::NotEqual => "!=",
        Compare::Less => "<",
        Compare::LessOrEqual => "<=",
        Compare::Greater => ">",
        Compare::GreaterOrEqual => ">=",
    }
}
