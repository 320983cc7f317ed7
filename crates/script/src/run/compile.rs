//! Turns the tree of a script into instructions.

use super::code::Variable;
use super::code::{Cell, Code, Condition, HALT, Instruction, Node, Operand, Pc, UNBORN, Update};
use super::foresight::Futures;
use super::layout::{Key, Layout, key_of};
use super::machine::Machine;
use super::next::Point;
use crate::ast::{self, Expr, Local, Program, Shared, Side, Statement, Test, Verb};
use Instruction as I;
use mazurka_core::{Discipline, ObjectId, Operation, Tests, ThreadId};
use std::collections::{BTreeMap, BTreeSet};

/// The code of a `program` whose names the parser has checked.
///
/// Additions to objects are kept in order as far as `disciplines` say: not at all, where there is
/// none.
pub(crate) fn compile(program: &Program, disciplines: &Disciplines) -> Code {
    let mut awaited = BTreeSet::new();
    program.visit(&mut |statement| {
        if let Statement::Await { on, .. } = statement {
            awaited.insert(on.name.as_str());
        }
    });
    let mut compiler = Compiler {
        disciplines,
        awaited,
        layout: Layout::of(program),
        instructions: vec![I::Unborn, I::Halt],
        nodes: Vec::new(),
        texts: Vec::new(),
        thread_idx: 0,
        locals: BTreeMap::new(),
    };
    let mut starts = Vec::new();
    for (thread_idx, thread) in program.threads.iter().enumerate() {
        starts.push(compiler.thread(thread_idx, thread));
    }
    let Compiler { mut layout, mut instructions, nodes, texts, .. } = compiler;
    let n_canonical = layout.finish(&mut instructions);
    let mut is_spawned = vec![false; starts.len()];
    program.visit(&mut |statement| {
        if let Statement::Spawn(target) = statement {
            is_spawned[*target] = true;
        }
    });
    let futures = Futures::of(&instructions);
    let points = instructions.iter().map(Point::of).collect();
    let mut code = Code {
        instructions,
        points,
        nodes,
        initial: layout.cells,
        n_canonical,
        n_channels: layout.n_channels as usize,
        starts,
        object_names: layout.object_names,
        memory_names: layout.memory_names,
        texts,
        outcome: layout.outcome,
        futures,
    };
    for (pc, is_spawned) in code.initial.iter_mut().zip(&is_spawned) {
        *pc = i64::from(if *is_spawned { UNBORN } else { HALT });
    }
    let mut machine = Machine::new(&code);
    for thread_idx in (0..code.starts.len()).filter(|&thread_idx| !is_spawned[thread_idx]) {
        machine.start(&code, thread_idx);
    }
    code.initial = machine.into_cells();
    code
}

/// How far the additions to some objects are kept in order.
pub(crate) type Disciplines = BTreeMap<ObjectId, Discipline>;

struct Compiler<'a> {
    disciplines: &'a Disciplines,
    /// The variables that are awaited.
    awaited: BTreeSet<&'a str>,
    layout: Layout<'a>,
    instructions: Vec<Instruction>,
    nodes: Vec<Node>,
    texts: Vec<String>,
    thread_idx: usize,
    locals: BTreeMap<&'a Local, Cell>,
}

impl<'a> Compiler<'a> {
    /// Compiles one thread and says where it begins.
    fn thread(&mut self, thread_idx: usize, body: &'a [Statement]) -> Pc {
        self.thread_idx = thread_idx;
        self.locals.clear();
        let leading_yield = self.emit(I::Yield);
        self.block(body);
        self.emit(I::Jump(HALT));
        // A step must be there to blame for what goes wrong, and to have made a plain access.
        let start = leading_yield + 1;
        if self.is_harmless_before_first_operation(start) { start } else { leading_yield }
    }

    /// Whether all that runs before the first visible operation is moving between locals.
    fn is_harmless_before_first_operation(&self, start: Pc) -> bool {
        let mut seen = vec![false; self.instructions.len()];
        let mut to_visit = vec![start];
        while let Some(pc) = to_visit.pop() {
            let instruction = &self.instructions[pc as usize];
            if std::mem::replace(&mut seen[pc as usize], true) || !instruction.is_invisible() {
                continue;
            }
            match instruction {
                I::Set { .. } | I::Jump(_) | I::JumpUnless { .. } => {}
                _ => return false,
            }
            for next in instruction.successors(pc).into_iter().flatten() {
                if next <= pc && next != HALT {
                    return false;
                }
                to_visit.push(next);
            }
        }
        true
    }

    /// What kind of operation an addition is.
    fn addition(&self, on: &Variable, tests: &Tests) -> fn(ObjectId) -> Operation {
        let objects = (on.object..on.object + on.len).map(|idx| ObjectId::new(idx as usize));
        let disciplines = objects.filter_map(|object| self.disciplines.get(&object));
        let discipline = disciplines.max().unwrap_or(&Discipline::Free);
        match discipline.operation(on.object(), tests) {
            Operation::Add(_) => Operation::Add,
            Operation::AddAndTest(_) => Operation::AddAndTest,
            _ => Operation::ReadModifyWrite,
        }
    }

    fn emit(&mut self, instruction: Instruction) -> Pc {
        self.instructions.push(instruction);
        self.here() - 1
    }

    fn here(&self) -> Pc {
        self.instructions.len() as Pc
    }

    fn block(&mut self, block: &'a [Statement]) {
        for statement in block {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &'a Statement) {
        let instruction = match statement {
            Statement::Load { local, from } => {
                let from = self.variable(from);
                I::Load { from, to: self.local(local) }
            }
            Statement::Assign { local, value } => {
                let value = self.expr(value);
                I::Set { to: self.local(local), value }
            }
            Statement::Store { to, value } => {
                let to = self.variable(to);
                I::Store { to, value: self.expr(value) }
            }
            Statement::Update { local, on, update } => {
                let is_awaited = self.awaited.contains(on.name.as_str());
                let on = self.variable(on);
                let update = match update {
                    ast::Update::CompareAndSwap { expected, new } => Update::CompareAndSwap {
                        expected: self.expr(expected),
                        new: self.expr(new),
                    },
                    ast::Update::Add(value) => Update::Add(self.expr(value)),
                    ast::Update::Count { value, expected } => {
                        Update::Count { value: self.expr(value), expected: *expected }
                    }
                    ast::Update::Swap(value) => Update::Swap(self.expr(value)),
                };
                let to = self.result(local);
                let tests = update.tests(to.is_some()).filter(|_| !is_awaited);
                let addition = tests.map(|tests| self.addition(&on, &tests));
                I::Update { on, update, to, addition }
            }
            Statement::Await { on, relation, value, new } => {
                let on = self.variable(on);
                let new = new.as_ref().map(|new| self.expr(new));
                I::Await { on, relation: *relation, value: self.expr(value), new }
            }
            Statement::Call { local, verb, number } => return self.call(local, *verb, *number),
            Statement::Send { channel, value } => {
                I::Send { queue: self.layout.queue(*channel), value: self.expr(value) }
            }
            Statement::TrySend { local, channel, value } => {
                let value = self.expr(value);
                let to = self.result(local);
                I::TrySend { queue: self.layout.queue(*channel), value, to }
            }
            Statement::Wait { condvar, mutex } => {
                let condvar = self.layout.site(Key::Condvar(*condvar));
                let mutex = self.layout.site(Key::Mutex(*mutex));
                self.emit(I::Wait { condvar, mutex });
                I::Reacquire { condvar, mutex }
            }
            Statement::Sleep { condvar, on, value } => {
                let condvar = self.layout.site(Key::Condvar(*condvar));
                let on = self.variable(on);
                let value = self.expr(value);
                self.emit(I::Sleep { condvar, on, value });
                I::Resume(condvar)
            }
            // It may end at any moment; its result is whether its time was up.
            Statement::Timed { local, wait } => {
                let to = self.result(local);
                match &**wait {
                    Statement::Wait { condvar, mutex } => {
                        let condvar = self.layout.site(Key::Condvar(*condvar));
                        let mutex = self.layout.site(Key::Mutex(*mutex));
                        self.emit(I::Wait { condvar, mutex });
                        self.emit(I::Expire(condvar, to));
                        I::Acquire(mutex)
                    }
                    Statement::Sleep { condvar, on, value } => {
                        let condvar = self.layout.site(Key::Condvar(*condvar));
                        let on = self.variable(on);
                        let value = self.expr(value);
                        self.emit(I::Sleep { condvar, on, value });
                        I::Expire(condvar, to)
                    }
                    other => unreachable!("{other} ends by itself"),
                }
            }
            Statement::Spawn(target) => I::Spawn(ThreadId::new(*target)),
            Statement::Join(target) => I::Join(ThreadId::new(*target)),
            Statement::Yield => I::Yield,
            Statement::Fence(order) => I::Fence(*order),
            Statement::Choose { local, alternatives } => {
                I::Choose { alternatives: *alternatives, to: self.result(local) }
            }
            Statement::PlainLoad { local, name } => {
                let (memory, cell) = self.layout.memory(name);
                I::PlainLoad { cell, memory, to: self.local(local) }
            }
            Statement::PlainStore { name, value } => {
                let (memory, cell) = self.layout.memory(name);
                I::PlainStore { cell, memory, value: self.expr(value) }
            }
            Statement::Assert { left, relation, right } => {
                let text = self.text(format!("{left} {} {right}", relation.symbol()));
                let (left, right) = (self.expr(left), self.expr(right));
                I::Assert { condition: Condition { left, relation: *relation, right }, text }
            }
            Statement::If { test, then, otherwise } => {
                let branch = self.test(test);
                self.block(then);
                if otherwise.is_empty() {
                    self.land(branch);
                } else {
                    let jump = self.emit(I::Jump(HALT));
                    self.land(branch);
                    self.block(otherwise);
                    self.land(jump);
                }
                return;
            }
            Statement::While { test, body } => {
                let start = self.here();
                let branch = self.test(test);
                self.block(body);
                self.emit(I::Jump(start));
                return self.land(branch);
            }
        };
        self.emit(instruction);
    }

    fn call(&mut self, local: &'a Option<Local>, verb: Verb, number: u32) {
        let to = self.result(local);
        let key = key_of(verb, number);
        if let Verb::Receive | Verb::TryReceive = verb {
            let queue = self.layout.queue(number);
            self.emit(match verb {
                Verb::Receive => I::Receive { queue, to },
                _ => I::TryReceive { queue, to },
            });
            return;
        }
        let site = self.layout.site(key.clone());
        let parameter = self.layout.parameter(key);
        let instruction = match verb {
            Verb::Acquire => I::Acquire(site),
            Verb::Release => I::Release(site),
            Verb::TryAcquire => I::TryAcquire(site, to),
            Verb::ReadAcquire => I::ReadAcquire(site),
            Verb::ReadRelease => I::ReadRelease(site),
            Verb::WriteAcquire => I::WriteAcquire(site),
            Verb::WriteRelease => I::WriteRelease(site),
            Verb::TryReadAcquire => I::TryReadAcquire(site, to),
            Verb::TryWriteAcquire => I::TryWriteAcquire(site, to),
            Verb::Notify => I::NotifyOne(site),
            Verb::NotifyAll => I::NotifyAll(site),
            Verb::Down => I::Down { semaphore: site, permits: parameter },
            Verb::Up => I::Up(site),
            Verb::TryDown => I::TryDown { semaphore: site, permits: parameter, to },
            Verb::Barrier | Verb::Receive | Verb::TryReceive => {
                let round_end = self.layout.round_ends + self.thread_idx as Cell;
                self.emit(I::Arrive { barrier: site, parties: parameter, round_end });
                I::Leave { barrier: site, parties: parameter, round_end }
            }
        };
        self.emit(instruction);
    }

    /// Emits what jumps unless the test holds; [`Compiler::land`] says where to.
    fn test(&mut self, test: &'a Test) -> Pc {
        let relation = test.relation;
        match &test.left {
            Side::Own(left) => {
                let (left, right) = (self.expr(left), self.expr(&test.right));
                let condition = Condition { left, relation, right };
                self.emit(I::JumpUnless { condition, otherwise: HALT })
            }
            Side::Shared(shared) => {
                let on = self.variable(shared);
                let value = self.expr(&test.right);
                self.emit(I::Branch { on, relation, value, otherwise: HALT })
            }
        }
    }

    /// Makes the jump at `pc` end here.
    fn land(&mut self, pc: Pc) {
        let here = self.here();
        match &mut self.instructions[pc as usize] {
            I::Jump(target) => *target = here,
            I::JumpUnless { otherwise, .. } | I::Branch { otherwise, .. } => *otherwise = here,
            other => unreachable!("{other:?} does not jump"),
        }
    }

    /// The variable, after a check of its index where that can be wrong.
    fn variable(&mut self, shared: &'a Shared) -> Variable {
        let index = shared.index.as_ref().map_or(Operand::Constant(0), |index| self.expr(index));
        let mut variable = self.layout.variable(&shared.name, index);
        variable.order = shared.order;
        let len = variable.len;
        match index {
            Operand::Constant(idx) if (0..i64::from(len)).contains(&idx) => {
                variable.object += idx as u32;
                variable.cell += idx as Cell;
            }
            _ => {
                let name = self.text(shared.name.clone());
                self.emit(I::Check { index, len, name });
            }
        }
        if let Operand::Constant(_) = index {
            variable.index = Operand::Constant(0);
            variable.len = 1;
        }
        variable
    }

    fn expr(&mut self, expr: &'a Expr) -> Operand {
        match expr {
            Expr::Number(number) => Operand::Constant(*number),
            Expr::Tid => Operand::Constant(self.thread_idx as i64),
            Expr::Local(local) => Operand::Cell(self.local(local)),
            Expr::Binary(left, op, right) => match (self.expr(left), self.expr(right)) {
                (Operand::Constant(left), Operand::Constant(right)) => {
                    Operand::Constant(op.apply(left, right))
                }
                (left, right) => {
                    self.nodes.push(Node { left, op: *op, right });
                    Operand::Node(self.nodes.len() as u32 - 1)
                }
            },
        }
    }

    fn local(&mut self, local: &'a Local) -> Cell {
        let layout = &mut self.layout;
        *self.locals.entry(local).or_insert_with(|| layout.local())
    }

    fn result(&mut self, local: &'a Option<Local>) -> Option<Cell> {
        local.as_ref().map(|local| self.local(local))
    }

    fn text(&mut self, text: String) -> u32 {
        self.texts.push(text);
        self.texts.len() as u32 - 1
    }
}
