//! Scripts as programs: the language of the test kit, translated.

use mazurka_core::ViolationKind;
use mazurka_model::{
    Access, Action, Binary, Callee, Compare, Expr, Init, InitValue, Layout, MemoryOrder, Message,
    MessageField, Object, ObjectIdx, Place, Program, RegisterId, RoutineBuilder, RoutineId, Span,
    Storage, Sync, Type, Update,
};
use mazurka_script::Script;
use mazurka_script::ast::{
    self, BinaryOp, Declaration, Local, Relation, Shared, Side, Statement, Test, Verb,
};
use std::collections::BTreeMap;

/// What a channel has room for that always has room.
const ALWAYS_ROOM: u32 = 40;

const INT: Type = Type::I64;

/// The program of a script, and where its variables are.
pub(crate) struct Translated {
    pub(crate) program: Program,
    pub(crate) variables: BTreeMap<String, (ObjectIdx, u32)>,
    /// For each process of the program, the thread of the script.
    pub(crate) first_threads: Vec<usize>,
}

/// The program that does what a script does. Threads that are spawned are spawned by the routine
/// that the script's thread is; each must be spawned and joined by one thread only.
pub(crate) fn translate(script: &Script) -> Translated {
    let tree = script.program();
    let mut translator = Translator { program: Program::new("script"), objects: BTreeMap::new() };
    tree.declarations.iter().for_each(|declaration| translator.declare(declaration));
    tree.visit(&mut |statement| translator.mention(statement));
    let mut is_spawned = vec![false; tree.threads.len()];
    tree.visit(&mut |statement| {
        if let Statement::Spawn(target) = statement {
            is_spawned[*target] = true;
        }
    });
    let routines: Vec<RoutineId> =
        (0..tree.threads.len()).map(|idx| translator.program.declare(&format!("t{idx}"))).collect();
    for (idx, body) in tree.threads.iter().enumerate() {
        let mut writer = Writer {
            translator: &translator,
            routine: RoutineBuilder::new(&format!("t{idx}")),
            locals: BTreeMap::new(),
            children: BTreeMap::new(),
            thread_idx: idx,
            routines: &routines,
        };
        writer.block(body);
        let routine = writer.routine.finish();
        translator.program.define(routines[idx], routine);
    }
    let first_threads: Vec<usize> =
        (0..tree.threads.len()).filter(|&idx| !is_spawned[idx]).collect();
    for &idx in &first_threads {
        translator.program.process("", routines[idx], Vec::new());
    }
    let variables = translator
        .objects
        .iter()
        .filter_map(|(key, object)| match key {
            Key::Variable(name) | Key::Memory(name) => {
                Some((name.clone(), (object.idx, object.len)))
            }
            Key::Sync(..) | Key::Channel(_) => None,
        })
        .collect();
    Translated { program: translator.program, variables, first_threads }
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Variable(String),
    Memory(String),
    Sync(Sync, u32),
    Channel(u32),
}

#[derive(Clone, Copy)]
struct Known {
    idx: ObjectIdx,
    len: u32,
}

struct Translator {
    program: Program,
    objects: BTreeMap<Key, Known>,
}

impl Translator {
    fn declare(&mut self, declaration: &Declaration) {
        match declaration {
            Declaration::Variable { name, value } => {
                self.variable(Key::Variable(name.clone()), name, 1, *value);
            }
            Declaration::Array { name, len, value } => {
                self.variable(Key::Variable(name.clone()), name, *len, *value);
            }
            Declaration::Plain { name, value } => {
                self.variable(Key::Memory(name.clone()), name, 1, *value);
            }
            Declaration::Semaphore { number, permits } => {
                self.sync(
                    Sync::Semaphore,
                    *number,
                    u64::from(*permits) << 32 | u64::from(*permits),
                );
            }
            Declaration::Channel { number, capacity } => self.channel(*number, *capacity),
            Declaration::Barrier { number, parties } => {
                self.sync(Sync::Barrier, *number, u64::from(*parties));
            }
        }
    }

    fn mention(&mut self, statement: &Statement) {
        match statement {
            Statement::Load { from: shared, .. }
            | Statement::Store { to: shared, .. }
            | Statement::Update { on: shared, .. }
            | Statement::Await { on: shared, .. }
            | Statement::If { test: Test { left: Side::Shared(shared), .. }, .. }
            | Statement::While { test: Test { left: Side::Shared(shared), .. }, .. } => {
                self.variable(Key::Variable(shared.name.clone()), &shared.name, 1, 0);
            }
            Statement::PlainLoad { name, .. } | Statement::PlainStore { name, .. } => {
                self.variable(Key::Memory(name.clone()), name, 1, 0);
            }
            Statement::Call { verb, number, .. } => match kind_of(*verb) {
                Some(Sync::Barrier) => self.sync(Sync::Barrier, *number, 2),
                Some(kind) => self.sync(kind, *number, 0),
                None => self.channel(*number, u32::MAX),
            },
            Statement::Send { channel, .. } | Statement::TrySend { channel, .. } => {
                self.channel(*channel, u32::MAX);
            }
            Statement::Wait { condvar, mutex } => {
                self.sync(Sync::Condvar, *condvar, 0);
                self.sync(Sync::Mutex, *mutex, 0);
            }
            _ => {}
        }
    }

    fn variable(&mut self, key: Key, name: &str, len: u32, value: i64) {
        let layout = self.program.array(INT, len);
        let init = (0..len).map(|idx| (8 * idx, InitValue::Bits(INT, value as u64))).collect();
        self.add(key, name, layout, len, init);
    }

    fn sync(&mut self, kind: Sync, number: u32, bits: u64) {
        let layout = self.program.sync(kind);
        let bytes = bits.to_le_bytes()[..kind.bytes().min(8) as usize].to_vec();
        let name = format!("{}({number})", kind.name());
        self.add(Key::Sync(kind, number), &name, layout, 1, vec![(0, InitValue::Bytes(bytes))]);
    }

    fn channel(&mut self, number: u32, capacity: u32) {
        let capacity = if capacity == u32::MAX { ALWAYS_ROOM } else { capacity };
        let layout = self.program.layout(Layout::Channel {
            capacity,
            fields: vec![INT],
            symbols: Vec::new(),
        });
        self.add(Key::Channel(number), &format!("channel({number})"), layout, 1, Vec::new());
    }

    fn add(
        &mut self,
        key: Key,
        name: &str,
        layout: mazurka_model::LayoutId,
        len: u32,
        init: Vec<(u32, InitValue)>,
    ) {
        if self.objects.contains_key(&key) {
            return;
        }
        let init = init.into_iter().map(|(offset, value)| Init { offset, value }).collect();
        let idx = self.program.add_object(Object {
            name: name.to_owned(),
            layout,
            storage: Storage::Shared,
            init,
            span: Span::NONE,
        });
        self.objects.insert(key, Known { idx, len });
    }
}

fn kind_of(verb: Verb) -> Option<Sync> {
    Some(match verb {
        Verb::Acquire | Verb::Release | Verb::TryAcquire => Sync::Mutex,
        Verb::ReadAcquire
        | Verb::ReadRelease
        | Verb::WriteAcquire
        | Verb::WriteRelease
        | Verb::TryReadAcquire
        | Verb::TryWriteAcquire => Sync::RwLock,
        Verb::Notify | Verb::NotifyAll => Sync::Condvar,
        Verb::Down | Verb::Up | Verb::TryDown => Sync::Semaphore,
        Verb::Barrier => Sync::Barrier,
        Verb::Receive | Verb::TryReceive => return None,
    })
}

struct Writer<'a> {
    translator: &'a Translator,
    routine: RoutineBuilder,
    locals: BTreeMap<&'a Local, RegisterId>,
    /// The registers with the numbers of threads that were spawned.
    children: BTreeMap<usize, RegisterId>,
    thread_idx: usize,
    routines: &'a [RoutineId],
}

impl<'a> Writer<'a> {
    fn block(&mut self, block: &'a [Statement]) {
        block.iter().for_each(|statement| self.statement(statement));
    }

    fn statement(&mut self, statement: &'a Statement) {
        match statement {
            Statement::Load { local, from } => {
                let from = self.shared(from);
                let to = self.local(local);
                self.routine.load(to, from, Access::ATOMIC);
            }
            Statement::Assign { local, value } => {
                let value = self.expr(value);
                let to = self.local(local);
                self.routine.assign(to, value);
            }
            Statement::Store { to, value } => {
                let to = self.shared(to);
                let value = self.expr(value);
                self.routine.store(to, value, Access::ATOMIC);
            }
            Statement::Update { local, on, update } => self.update(local.as_ref(), on, update),
            Statement::Await { new: Some(_), .. } => panic!("programs have no such awaits"),
            Statement::Await { on, relation, value, new: None } => {
                let from = self.shared(on);
                let value = self.expr(value);
                let to = self.routine.register("", INT);
                let until = Expr::compare(compare(*relation), self.routine.get(to), value);
                self.routine.then(Action::Await { to, from, ty: INT, until });
            }
            Statement::Call { local, verb, number } => self.call(local.as_ref(), *verb, *number),
            Statement::Send { channel, value } => {
                let field = MessageField::Value(self.expr(value));
                let message = self.message(*channel, field);
                self.routine.then(Action::Send(message));
            }
            Statement::TrySend { local, channel, value } => {
                let field = MessageField::Value(self.expr(value));
                let message = self.message(*channel, field);
                self.with_flag(local.as_ref(), |flag| Action::TrySend(message, flag));
            }
            Statement::Wait { condvar, mutex } => {
                let condvar = self.place(&Key::Sync(Sync::Condvar, *condvar));
                let mutex = self.place(&Key::Sync(Sync::Mutex, *mutex));
                self.routine.then(Action::Wait { condvar, mutex });
            }
            Statement::Sleep { .. } => panic!("programs have no futexes"),
            Statement::Timed { .. } => panic!("programs have no timed waits"),
            Statement::Spawn(target) => {
                let to = self.routine.register("", Type::U32);
                self.children.insert(*target, to);
                let routine = Callee::Routine(self.routines[*target]);
                self.routine.then(Action::Spawn { routine, arguments: Vec::new(), to: Some(to) });
            }
            Statement::Join(target) => {
                let process = self.routine.get(self.children[target]);
                self.routine.then(Action::Join { process, to: None });
            }
            Statement::Yield => self.routine.then(Action::Yield),
            Statement::Fence(_) => unreachable!("no generated script has one"),
            Statement::Choose { local, alternatives } => {
                let to = match local {
                    Some(local) => self.local(local),
                    None => self.routine.register("", INT),
                };
                let high = i64::from(*alternatives) - 1;
                self.routine.then(Action::Choose { to, low: 0, high });
            }
            Statement::PlainLoad { local, name } => {
                let from = self.place(&Key::Memory(name.clone()));
                let to = self.local(local);
                self.routine.load(to, from, Access::Plain);
            }
            Statement::PlainStore { name, value } => {
                let to = self.place(&Key::Memory(name.clone()));
                let value = self.expr(value);
                self.routine.store(to, value, Access::Plain);
            }
            Statement::Assert { left, relation, right } => {
                let condition =
                    Expr::compare(compare(*relation), self.expr(left), self.expr(right));
                self.routine.then(Action::Check {
                    condition,
                    kind: ViolationKind::Assertion,
                    message: format!("assertion `{left} {} {right}` failed", relation.symbol()),
                });
            }
            Statement::If { test, then, otherwise } => {
                let condition = self.test(test);
                let other = self.routine.branch(condition);
                self.block(then);
                let end = self.routine.location();
                self.routine.jump(end);
                self.routine.go_on_from(other);
                self.block(otherwise);
                self.routine.jump(end);
                self.routine.go_on_from(end);
            }
            Statement::While { test, body } => {
                let start = self.routine.here();
                let condition = self.test(test);
                let other = self.routine.branch(condition);
                self.block(body);
                self.routine.jump(start);
                self.routine.go_on_from(other);
            }
        }
    }

    fn update(&mut self, local: Option<&'a Local>, on: &'a Shared, update: &'a ast::Update) {
        let on = self.shared(on);
        let old = match update {
            ast::Update::CompareAndSwap { .. } => None,
            _ => local.map(|local| self.local(local)),
        };
        let (kind, value) = match update {
            ast::Update::CompareAndSwap { expected, new } => {
                let (expected, new) = (self.expr(expected), self.expr(new));
                return self.with_flag(local, |success| Action::CompareExchange {
                    success,
                    old: None,
                    on,
                    expected,
                    new,
                    order: MemoryOrder::SequentiallyConsistent,
                    failure: MemoryOrder::SequentiallyConsistent,
                });
            }
            ast::Update::Add(value) | ast::Update::Count { value, .. } => (Update::Add, value),
            ast::Update::Swap(value) => (Update::Exchange, value),
        };
        let value = self.expr(value);
        self.routine.then(Action::Modify {
            old,
            on,
            update: kind,
            value,
            order: MemoryOrder::SequentiallyConsistent,
        });
        if let (ast::Update::Count { expected, .. }, Some(old)) = (update, old) {
            let before = self.routine.get(old);
            let was = Expr::compare(Compare::Equal, before, Expr::int(INT, *expected));
            self.routine.assign(old, was.convert(INT));
        }
    }

    fn call(&mut self, local: Option<&'a Local>, verb: Verb, number: u32) {
        let place = match kind_of(verb) {
            Some(kind) => self.place(&Key::Sync(kind, number)),
            None => self.place(&Key::Channel(number)),
        };
        let action = match verb {
            Verb::Acquire => Action::Lock { mutex: place, to: None },
            Verb::Release => Action::Unlock { mutex: place, to: None },
            Verb::TryAcquire => {
                return self.with_flag(local, |to| Action::TryLock { mutex: place, to });
            }
            Verb::ReadAcquire => Action::ReadLock(place),
            Verb::WriteAcquire => Action::WriteLock(place),
            Verb::ReadRelease | Verb::WriteRelease => Action::ReadWriteUnlock(place),
            Verb::TryReadAcquire => {
                return self.with_flag(local, |to| Action::TryReadLock(place, to));
            }
            Verb::TryWriteAcquire => {
                return self.with_flag(local, |to| Action::TryWriteLock(place, to));
            }
            Verb::Notify => Action::NotifyOne(place),
            Verb::NotifyAll => Action::NotifyAll(place),
            Verb::Down => Action::SemaphoreAcquire(place),
            Verb::Up => Action::SemaphoreRelease(place),
            Verb::TryDown => {
                return self.with_flag(local, |to| Action::SemaphoreTryAcquire(place, to));
            }
            Verb::Barrier => Action::BarrierWait(place, None),
            Verb::Receive => {
                let field = self.received(local);
                Action::Receive(self.message(number, field))
            }
            Verb::TryReceive => {
                let field = self.received(local);
                let flag = self.routine.register("", Type::BOOL);
                let message = self.message(number, field);
                self.routine.then(Action::TryReceive(message, Some(flag)));
                if let Some(local) = local {
                    let to = self.local(local);
                    let value = Expr::choose(
                        self.routine.get(flag),
                        self.routine.get(to),
                        Expr::int(INT, -1),
                    );
                    self.routine.assign(to, value);
                }
                return;
            }
        };
        self.routine.then(action);
    }

    fn received(&mut self, local: Option<&'a Local>) -> MessageField {
        local.map_or(MessageField::Ignore, |local| MessageField::Register(self.local(local)))
    }

    fn message(&mut self, number: u32, field: MessageField) -> Message {
        let object = self.translator.objects[&Key::Channel(number)].idx;
        let layout = self.translator.program.objects[object.0 as usize].layout;
        let channel = Place::object(object);
        Message { channel, layout: Some(layout), fields: vec![field], anywhere: false, keep: false }
    }

    /// Does something that tells whether it succeeded, and puts that into a local.
    fn with_flag(
        &mut self,
        local: Option<&'a Local>,
        action: impl FnOnce(Option<RegisterId>) -> Action,
    ) {
        let Some(local) = local else { return self.routine.then(action(None)) };
        let flag = self.routine.register("", Type::BOOL);
        self.routine.then(action(Some(flag)));
        let to = self.local(local);
        let value = self.routine.get(flag).convert(INT);
        self.routine.assign(to, value);
    }

    fn test(&mut self, test: &'a Test) -> Expr {
        let left = match &test.left {
            Side::Own(left) => self.expr(left),
            Side::Shared(shared) => {
                let from = self.shared(shared);
                let to = self.routine.register("", INT);
                self.routine.load(to, from, Access::ATOMIC);
                self.routine.get(to)
            }
        };
        Expr::compare(compare(test.relation), left, self.expr(&test.right))
    }

    fn place(&self, key: &Key) -> Place {
        Place::object(self.translator.objects[key].idx)
    }

    fn shared(&mut self, shared: &'a Shared) -> Place {
        let known = self.translator.objects[&Key::Variable(shared.name.clone())];
        match &shared.index {
            Some(index) => Place::object(known.idx).element(self.expr(index), 8),
            None => Place::object(known.idx),
        }
    }

    fn local(&mut self, local: &'a Local) -> RegisterId {
        let routine = &mut self.routine;
        *self.locals.entry(local).or_insert_with(|| routine.register(&local.0, INT))
    }

    fn expr(&mut self, expr: &'a ast::Expr) -> Expr {
        match expr {
            ast::Expr::Number(number) => Expr::int(INT, *number),
            ast::Expr::Tid => Expr::int(INT, self.thread_idx as i64),
            ast::Expr::Local(local) => {
                let register = self.local(local);
                self.routine.get(register)
            }
            ast::Expr::Binary(left, op, right) => {
                let op = match op {
                    BinaryOp::Add => Binary::Add,
                    BinaryOp::Subtract => Binary::Subtract,
                    BinaryOp::Multiply => Binary::Multiply,
                    BinaryOp::Remainder => Binary::Remainder,
                };
                Expr::binary(op, self.expr(left), self.expr(right))
            }
        }
    }
}

fn compare(relation: Relation) -> Compare {
    match relation {
        Relation::Equal => Compare::Equal,
        Relation::NotEqual => Compare::NotEqual,
        Relation::Less => Compare::Less,
        Relation::LessOrEqual => Compare::LessOrEqual,
        Relation::Greater => Compare::Greater,
        Relation::GreaterOrEqual => Compare::GreaterOrEqual,
    }
}
