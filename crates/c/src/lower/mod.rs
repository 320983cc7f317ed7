//! Lowering: from the [`Tree`] to a [`Program`]; objects, layouts, routines.
//!
//! Only what can be reached is written. A function of the user becomes a routine; one of our
//! library becomes a part of each routine that calls it, so that its steps are shown at the call.

mod escape;
mod expression;
mod intrinsic;
mod place;
mod statement;

use crate::check::{self, Externs};
use crate::tokens::spelled;
use crate::tree::{Body, Constant, Function, FunctionId, GlobalId, Initial, Tree};
use crate::types::{self, Int, Qualified};
use mazurka_model::analysis::weak_accesses;
use mazurka_model::{
    Assumption, Field, Init, InitValue, Layout, LayoutId, Object, ObjectIdx, Program, Property,
    RegisterId, Routine, RoutineBuilder, RoutineId, SourceLocation, Span as At, Storage, Sync,
    Type,
};
use mazurka_source::{Sources, Span};
use rustc_hash::FxHashMap;
use statement::Context;
use std::borrow::Cow;

/// The program that a tree stands for.
pub(crate) fn lower(
    name: &str,
    sources: &Sources,
    checked: check::Program,
    options: &crate::Options,
    externs: &Externs,
) -> Program {
    let has_address = escape::functions_with_address(&checked.tree);
    let functions = &checked.tree.functions;
    let is_called = |name| functions.iter().any(|it| it.name == name && it.body.is_some());
    let (has_keys, has_handlers) = (is_called("pthread_key_create"), is_called("atexit"));
    let mut program = Program::new(name);
    program.properties = vec![Property::Crash, Property::Memory];
    program.properties.extend(options.overflow.then_some(Property::Overflow));
    program.assumptions = checked.assumptions;
    let tree = &checked.tree;
    let mut lowering = Lowering {
        sources,
        tree,
        options,
        externs,
        objects: vec![None; tree.globals.len()],
        routines: vec![None; tree.functions.len()],
        queue: Vec::new(),
        pending: Vec::new(),
        places: FxHashMap::default(),
        has_address,
        has_keys,
        has_handlers,
        main: None,
        first_wait: None,
        program,
    };
    let [main, start] = checked.roots[..] else { unreachable!("both roots are there") };
    lowering.main = Some(main);
    let routine = lowering.routine(start);
    lowering.program.process("main", routine, Vec::new());
    lowering.finish();
    let mut program = lowering.program;
    let weak = weak_accesses(&program);
    if !weak.is_empty() {
        program.assumptions.insert(0, Assumption::SequentialConsistency(weak));
    }
    if let Some(at) = lowering.first_wait {
        let place = SourceLocation {
            file: program.files[at.file.0 as usize].clone(),
            line: at.line,
            column: at.column,
            function: None,
            within: None,
            is_library: false,
        };
        program.assumptions.push(Assumption::NoSpuriousWakeups(Some(place)));
    }
    program
}

/// What all routines share while they are written.
struct Lowering<'a> {
    sources: &'a Sources,
    tree: &'a Tree,
    options: &'a crate::Options,
    externs: &'a Externs,
    program: Program,
    objects: Vec<Option<ObjectIdx>>,
    routines: Vec<Option<RoutineId>>,
    /// Functions to write, and objects to give their first values.
    queue: Vec<FunctionId>,
    pending: Vec<GlobalId>,
    places: FxHashMap<Span, At>,
    /// The functions whose address is taken.
    has_address: Vec<bool>,
    has_keys: bool,
    has_handlers: bool,
    /// What the library starts.
    main: Option<FunctionId>,
    /// The first wait on a condition variable, if none ends for no reason.
    first_wait: Option<At>,
}

/// Whether an object of this type may not be written. What others may write, such as a register of a
/// device, is `const volatile`.
fn is_constant(ty: &Qualified) -> bool {
    match &ty.ty {
        types::Type::Array(element, _) => is_constant(element),
        _ => ty.is_const && !ty.is_volatile && !ty.is_atomic,
    }
}

impl<'a> Lowering<'a> {
    /// The routine of a function, which is written later if it is not yet.
    fn routine(&mut self, id: FunctionId) -> RoutineId {
        if let Some(routine) = self.routines[id.0] {
            return routine;
        }
        let routine = self.program.declare(&self.name(id));
        self.routines[id.0] = Some(routine);
        self.queue.push(id);
        routine
    }

    fn name(&self, id: FunctionId) -> Cow<'a, str> {
        match self.tree.functions[id.0].name.as_str() {
            "__mazurka_start" => "main".into(),
            "__mazurka_run" | "__mazurka_run_int" => "thread".into(),
            name => spelled(name),
        }
    }

    /// The object of a variable, which gets its first values later if it has not yet.
    fn object(&mut self, id: GlobalId) -> ObjectIdx {
        if let Some(object) = self.objects[id.0] {
            return object;
        }
        let global = &self.tree.globals[id.0];
        let is_string = global.name.starts_with('"');
        let is_constant = is_string || is_constant(&global.ty);
        let storage = match (global.is_thread_local, is_constant) {
            (true, _) => Storage::PerThread,
            (_, true) => Storage::Constant,
            _ => Storage::Shared,
        };
        let object = Object {
            name: spelled(&global.name).into_owned(),
            layout: self.layout(&global.ty.ty),
            storage,
            init: Vec::new(),
            span: self.place(global.span),
        };
        let object = self.program.add_object(object);
        self.objects[id.0] = Some(object);
        self.pending.push(id);
        object
    }

    /// Writes everything that was promised.
    fn finish(&mut self) {
        loop {
            if let Some(id) = self.queue.pop() {
                let routine = self.write(id);
                let number = self.routines[id.0].expect("it was promised");
                self.program.define(number, routine);
            } else if let Some(id) = self.pending.pop() {
                let init = self.initial(id);
                let object = self.objects[id.0].expect("it was promised");
                self.program.objects[object.0 as usize].init = init;
            } else {
                return;
            }
        }
    }

    fn initial(&mut self, id: GlobalId) -> Vec<Init> {
        let global = &self.tree.globals[id.0];
        let mut syncs = Vec::new();
        self.syncs(&global.ty.ty, 0, &mut syncs);
        let mut init = Vec::new();
        for Initial { offset, size, value } in &global.initial {
            let inside =
                syncs.iter().find(|(start, len, _)| (*start..start + len).contains(offset));
            if let Some((start, _, sync)) = inside {
                // The kind of a mutex is where the machine wants it. All else is 0 in the
                // beginning.
                if let (Sync::Mutex, Constant::Int(kind)) = (sync, value)
                    && *offset == start + 16
                {
                    let value = InitValue::Bytes(vec![*kind as u8 & 3]);
                    init.push(Init { offset: *start as u32 + 1, value });
                }
                continue;
            }
            let bits = size * 8;
            let value = match value {
                Constant::Int(value) => {
                    let ty = Type::unsigned(bits);
                    InitValue::Bits(ty, mazurka_model::canonical(ty, *value as u64))
                }
                Constant::Float(value) if *size == 4 => {
                    InitValue::Bits(Type::Float32, u64::from((*value as f32).to_bits()))
                }
                Constant::Float(value) => InitValue::Bits(Type::Float64, value.to_bits()),
                Constant::Address(target, offset) => {
                    InitValue::Object(self.object(*target), *offset)
                }
                Constant::Function(id) => InitValue::Routine(self.routine(*id)),
            };
            init.push(Init { offset: *offset as u32, value });
        }
        init
    }

    /// The parts of a type that threads synchronise on: where, how long, what.
    fn syncs(&self, ty: &types::Type, start: u64, found: &mut Vec<(u64, u64, Sync)>) {
        match ty {
            types::Type::Array(element, Some(length)) => {
                let size = self.tree.records.size(&element.ty).unwrap_or(0);
                let mut inner = Vec::new();
                self.syncs(&element.ty, 0, &mut inner);
                if !inner.is_empty() {
                    for idx in 0..*length {
                        let moved =
                            inner.iter().map(|(at, len, it)| (start + idx * size + at, *len, *it));
                        found.extend(moved);
                    }
                }
            }
            types::Type::Record(id) => {
                let record = &self.tree.records[*id];
                let Some(layout) = &record.layout else { return };
                match record.sync {
                    Some(sync) => found.push((start, layout.size, sync)),
                    None => {
                        for field in &layout.fields {
                            self.syncs(&field.ty.ty, start + field.offset, found);
                        }
                    }
                }
            }
            _ => {}
        }
    }

    /// The layout of a type.
    fn layout(&mut self, ty: &types::Type) -> LayoutId {
        let layout = match ty {
            types::Type::Array(element, length) => {
                let element = self.layout(&element.ty);
                Layout::Array { element, count: length.unwrap_or(0) as u32 }
            }
            types::Type::Record(id) => return self.record_layout(*id),
            types::Type::Void | types::Type::Function(_) => Layout::Bytes(1),
            types::Type::Foreign(_, size) => Layout::Bytes(*size as u32),
            scalar => Layout::Scalar(value_type(scalar)),
        };
        self.program.layout(layout)
    }

    fn record_layout(&mut self, id: types::RecordId) -> LayoutId {
        let record = &self.tree.records[id];
        let Some(layout) = &record.layout else { return self.program.layout(Layout::Bytes(1)) };
        let size = layout.size as u32;
        if let Some(kind) = record.sync {
            return self.program.layout(Layout::Sync { kind, size });
        }
        let mut fields = Vec::new();
        for field in &layout.fields {
            let unit = field.bits.map(|bits| types::Type::Int(bits.unit));
            let inner = self.layout(unit.as_ref().unwrap_or(&field.ty.ty));
            let name = field.name.as_deref().map(|name| spelled(name).into_owned());
            let name = name.unwrap_or_default();
            fields.push(Field { name, offset: field.offset as u32, layout: inner });
        }
        fields.sort_by_key(|field| field.offset);
        let name = spelled(&record.name).into_owned();
        self.program.layout(match record.is_union {
            true => Layout::Union { name, fields, size },
            false => Layout::Struct { name, fields, size },
        })
    }

    /// Where something stands in the files of the user.
    fn place(&mut self, span: Span) -> At {
        if let Some(&known) = self.places.get(&span) {
            return known;
        }
        let spot = self.sources.spot(span);
        let file = self.program.file(&spot.file);
        let place = At { file, line: spot.line, column: spot.column };
        self.places.insert(span, place);
        place
    }

    /// Writes a function as a routine of its own.
    fn write(&mut self, id: FunctionId) -> Routine {
        let function = &self.tree.functions[id.0];
        let mut to = RoutineBuilder::new(&self.name(id));
        let is_start = function.name == "__mazurka_start";
        let shown =
            self.main.filter(|_| is_start).map_or(function, |id| &self.tree.functions[id.0]);
        to.at(self.place(shown.span));
        let Some(body) = &function.body else {
            return self.write_missing(function, to);
        };
        let call_place = is_start.then(|| self.place(shown.span));
        let mut writer = Writer::new(self, to);
        writer.call_place = call_place;
        writer.routine(id, body);
        writer.to.finish()
    }

    /// A function without a body whose address is taken.
    fn write_missing(&mut self, function: &'a Function, mut to: RoutineBuilder) -> Routine {
        for ty in &function.signature.parameters {
            to.parameter("", value_type(ty));
        }
        let mut writer = Writer::new(self, to);
        let value = writer.without_body(function);
        writer.to.ret(value);
        writer.to.finish()
    }
}

/// One routine in the making.
struct Writer<'w, 'a> {
    all: &'w mut Lowering<'a>,
    to: RoutineBuilder,
    /// The function at hand.
    context: Context<'a>,
    /// The function of the user, while one of the library is written in its midst.
    outer: Option<Box<Context<'a>>>,
    /// Registers that are free now.
    free: Vec<(Type, RegisterId)>,
    /// Registers of the expression at hand.
    used: Vec<(Type, RegisterId)>,
    /// In a function of the library: where it is called.
    call_place: Option<At>,
    /// What is about to be allocated.
    hint: Option<LayoutId>,
}

impl<'w, 'a> Writer<'w, 'a> {
    fn new(all: &'w mut Lowering<'a>, to: RoutineBuilder) -> Self {
        Self {
            all,
            to,
            context: Context::default(),
            outer: None,
            free: Vec::new(),
            used: Vec::new(),
            call_place: None,
            hint: None,
        }
    }

    /// What is written next stands here.
    fn at(&mut self, span: Span) {
        let place = match self.call_place {
            Some(place) => place,
            None => self.all.place(span),
        };
        self.to.at(place);
    }

    /// A register for the rest of the statement.
    fn temporary(&mut self, ty: Type) -> RegisterId {
        let known = self.free.iter().position(|(free, _)| *free == ty);
        let register = match known {
            Some(idx) => self.free.swap_remove(idx).1,
            None => self.to.register("", ty),
        };
        self.used.push((ty, register));
        register
    }

    /// The registers that were taken since then are free again.
    fn release(&mut self, mark: usize) {
        self.free.extend(self.used.drain(mark..));
    }

    fn body(&self) -> &'a Body {
        self.context.body.expect("a function is being written")
    }
}

/// How a value of a scalar type is held.
fn value_type(ty: &types::Type) -> Type {
    match ty {
        types::Type::Int(Int::Bool) => Type::BOOL,
        types::Type::Int(int) => Type::Int { bits: int.bits(), signed: int.is_signed() },
        types::Type::Float => Type::Float32,
        types::Type::Double => Type::Float64,
        // A struct is held as the pointer to it.
        _ => Type::Pointer,
    }
}
