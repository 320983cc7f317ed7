//! Statements as elements of the graph.

use super::expression::Spot;
use super::graph::{BlockKind, Chain, ElementId, ElementKind, Sequence, Target};
use super::types::{Home, Scalar, Shape, Variable};
use super::{Lowered, Lowerer, Reported};
use crate::fault::code;
use crate::parse::increment;
use crate::tree::{
    Binary, Expression, ExpressionKind, Name, Pattern, Probe, Reference, Statement, StatementKind,
};
use mazurka_model::{
    Access, Action, Callee, Exclusive, Expr, RegisterId, SymbolSet, Type, ViolationKind,
};
use mazurka_source::{Fault, Span};
use rustc_hash::FxHashMap;

/// What SPIN calls the `mtype` that has no subtype.
const UNNAMED: &str = "_unnamed_";

impl Lowerer<'_> {
    /// What stands at a place, on one line.
    pub(super) fn text(&self, span: Span) -> String {
        let Some(text) = self.sources.texts.get(span.text_idx as usize) else {
            return String::new();
        };
        let part = text.text.get(span.start as usize..span.end as usize).unwrap_or_default();
        let lines = part.lines().filter(|line| !line.starts_with('#'));
        let words: Vec<&str> = lines.flat_map(str::split_whitespace).collect();
        words.join(" ")
    }

    pub(super) fn statements(&mut self, statements: &[Statement], sequence: &mut Sequence) {
        for statement in statements {
            // What is wrong was told; the rest may have faults of its own.
            let _ = self.statement(statement, sequence);
        }
    }

    fn statement(&mut self, statement: &Statement, sequence: &mut Sequence) -> Lowered<()> {
        match &statement.kind {
            StatementKind::Declaration(declaration) => {
                return self.local(declaration, sequence, false);
            }
            StatementKind::Exclusive { sends, channels } => {
                for reference in channels {
                    if !self.is_channel(reference) {
                        let name = &reference.name.text;
                        let message = format!("xr or xs of non-chan '{name}'");
                        return self.fault(code::TYPE, &message, reference.span);
                    }
                    let channel = self.channel(reference)?;
                    let span = self.span(reference.span);
                    self.process.exclusive.push(Exclusive { sends: *sends, channel, span });
                }
                return Ok(());
            }
            _ => {}
        }
        self.process.is_at_start = false;
        if matches!(statement.kind, StatementKind::Goto(_) | StatementKind::Break) {
            self.keep_label(statement, sequence);
        }
        let element = self.element(statement, sequence)?;
        for label in self.labels_of(statement) {
            let path = self.process.path.clone();
            self.process.graph.label(&label, &path, element);
            let key = (self.process.name.clone(), label.text);
            self.found.all_labels.insert(key);
        }
        Ok(())
    }

    /// The labels that go to the statement itself.
    fn labels_of(&self, statement: &Statement) -> Vec<Name> {
        let is_jump = matches!(statement.kind, StatementKind::Goto(_) | StatementKind::Break);
        let stays = |label: &&Name| !(is_jump && self.must_be_place(label));
        statement.labels.iter().filter(stays).cloned().collect()
    }

    /// A jump is no place to stand at; where a label asks for one, there is a `skip` in front of
    /// it.
    fn keep_label(&mut self, statement: &Statement, sequence: &mut Sequence) {
        let marked: Vec<Name> =
            statement.labels.iter().filter(|label| self.must_be_place(label)).cloned().collect();
        if marked.is_empty() {
            return;
        }
        let first = self.process.graph.next_id();
        let skip = self.step(None, Action::Skip, statement.span, sequence);
        if !marked.iter().any(is_marked) {
            // SPIN puts it there when everything has its number.
            self.process.graph.uncount(first);
        }
        for label in marked {
            let path = self.process.path.clone();
            self.process.graph.label(&label, &path, skip);
            self.found.all_labels.insert((self.process.name.clone(), label.text));
        }
    }

    /// The first statement of an option or a block is no place of its own, so that a label in front
    /// of it would mean nothing.
    fn refuse_labels(&mut self, body: &[Statement]) {
        let labels = body.first().map_or(&[][..], |first| &first.labels[..]);
        let is_process = !self.process.is_claim;
        for label in labels.iter().filter(|label| is_process && is_marked(label)) {
            let message = format!("label {} placed incorrectly", label.text);
            let _ = self.fault::<()>(code::CONTROL, &message, label.span);
        }
    }

    fn must_be_place(&self, label: &Name) -> bool {
        let key = (self.process.name.clone(), label.text.clone());
        is_marked(label) || self.known.is_some_and(|known| known.remote_labels.contains(&key))
    }

    /// Adds a statement that is one step.
    fn step(
        &mut self,
        guard: Option<Expr>,
        action: Action,
        span: Span,
        sequence: &mut Sequence,
    ) -> ElementId {
        let text = self.text(span);
        let kind = ElementKind::Step { guard, otherwise: false, action };
        let element = self.process.graph.add(kind, span, &text);
        self.process.graph.append(sequence, element);
        element
    }

    fn element(&mut self, statement: &Statement, sequence: &mut Sequence) -> Lowered<ElementId> {
        let span = statement.span;
        if let Some(run) = run_within(statement) {
            return self.with_run(run, statement, sequence);
        }
        let (guard, action) = match &statement.kind {
            StatementKind::Condition(condition) => {
                return self.condition(condition, span, sequence);
            }
            StatementKind::Assign(to, value) => return self.assign(to, value, span, sequence),
            StatementKind::Send { channel, fields, sorted } => {
                (None, Action::Send(self.send(channel, fields, *sorted)?))
            }
            StatementKind::Receive { channel, fields, anywhere, keep } => {
                (None, Action::Receive(self.receive(channel, fields, *anywhere, *keep)?))
            }
            StatementKind::Assert(condition) => (None, self.check(condition)?),
            StatementKind::Print { text, arguments } => (None, self.print(text, arguments)?),
            StatementKind::PrintSymbol(symbol) => {
                (None, self.print("%e", std::slice::from_ref(symbol))?)
            }
            StatementKind::SetPriority { process, priority } => {
                self.program.has_priorities = true;
                let (process, priority) = (self.value(process)?, self.value(priority)?);
                (None, Action::SetPriority { process, priority })
            }
            StatementKind::Else => {
                let kind = ElementKind::Step { guard: None, otherwise: true, action: Action::Skip };
                let element = self.process.graph.add(kind, span, "else");
                self.process.graph.append(sequence, element);
                return Ok(element);
            }
            StatementKind::Break => return self.break_loop(span, sequence),
            StatementKind::Goto(label) => {
                let target = Target::Label(label.clone(), self.process.path.clone());
                let text = format!("goto {}", label.text);
                let element = self.process.graph.add(ElementKind::Goto(target), span, &text);
                self.process.graph.append(sequence, element);
                return Ok(element);
            }
            StatementKind::If(options) => {
                let options = self.options(options, span)?;
                return Ok(self.process.graph.choice(sequence, options, None, span));
            }
            StatementKind::Do(options) => {
                let exit = self.open_loop(span);
                let options = self.options(options, span);
                self.process.exits.pop();
                let options = options?;
                return Ok(self.process.graph.choice(sequence, options, Some(exit), span));
            }
            StatementKind::Block(body) => {
                return self.block(body, BlockKind::Plain, span, sequence);
            }
            StatementKind::Atomic(body) => {
                return self.block(body, BlockKind::Atomic, span, sequence);
            }
            StatementKind::DStep(body) => {
                return self.block(body, BlockKind::Indivisible, span, sequence);
            }
            StatementKind::For { index, low, high, body } => {
                return self.for_loop(index, low, high, body, span, sequence);
            }
            StatementKind::ForIn { index, within, body } => {
                return self.for_in(index, within, body, span, sequence);
            }
            StatementKind::Select { index, low, high, is_unrolled } => {
                return self.select(index, low, high, *is_unrolled, span, sequence);
            }
            StatementKind::Embedded(body) => return self.embedded(body, span, sequence),
            StatementKind::Unless { .. } if self.process.is_indivisible => {
                return self.fault(code::CONTROL, "'unless' inside d_step", span);
            }
            StatementKind::Unless { main, escape } => {
                let main = self.part_of_unless(main)?;
                let escape = self.part_of_unless(escape)?;
                return Ok(self.process.graph.unless(sequence, main, escape, span));
            }
            StatementKind::Declaration(_) | StatementKind::Exclusive { .. } => {
                unreachable!("these are no elements")
            }
        };
        Ok(self.step(guard, action, span, sequence))
    }

    fn check(&mut self, condition: &Expression) -> Lowered<Action> {
        let message = format!("assertion violated ({})", self.text(condition.span));
        let condition = self.truth(condition)?;
        Ok(Action::Check { condition, kind: ViolationKind::Assertion, message })
    }

    fn print(&mut self, text: &str, arguments: &[Expression]) -> Lowered<Action> {
        let (mut values, mut symbols) = (Vec::new(), Vec::new());
        for argument in arguments {
            values.push(self.value(argument)?);
            let set = self.symbols_of(argument);
            symbols.push(set.unwrap_or_else(|| self.symbol_set(None)));
        }
        Ok(Action::Print { text: text.to_owned(), arguments: values, symbols })
    }

    /// A statement that starts a process, and does something with its number.
    fn with_run(
        &mut self,
        run: &Expression,
        statement: &Statement,
        sequence: &mut Sequence,
    ) -> Lowered<ElementId> {
        let ExpressionKind::Run { name, arguments, priority } = &run.kind else {
            unreachable!("it was looked for")
        };
        let (routine, arguments) = self.run(name, arguments)?;
        let born = self.add_register("", Type::U32, statement.span);
        let mut actions = vec![Action::Spawn { routine, arguments, to: Some(born) }];
        actions.extend(priority.map(|priority| self.set_priority(born, priority)));
        self.process.born = Some(born);
        let action = match &statement.kind {
            StatementKind::Assign(to, value) => {
                let value = self.value(value);
                value.and_then(|value| self.store(to, value))
            }
            StatementKind::Assert(condition) => self.check(condition),
            StatementKind::Print { text, arguments } => self.print(text, arguments),
            _ => unreachable!("it was looked for in these"),
        };
        self.process.born = None;
        actions.push(action?);
        actions.push(clear(born));
        self.at_once(actions, statement.span, sequence)
    }

    fn condition(
        &mut self,
        condition: &Expression,
        span: Span,
        sequence: &mut Sequence,
    ) -> Lowered<ElementId> {
        if let ExpressionKind::Run { name, arguments, priority } = &condition.kind {
            let (callee, arguments) = self.run(name, arguments)?;
            let spawn = |to| Action::Spawn { routine: callee, arguments, to };
            return match priority {
                None => Ok(self.step(None, spawn(None), span, sequence)),
                Some(priority) => {
                    let born = self.add_register("", Type::U32, span);
                    let set = self.set_priority(born, *priority);
                    self.at_once(vec![spawn(Some(born)), set, clear(born)], span, sequence)
                }
            };
        }
        let guard = self.truth(condition)?;
        let guard = if guard == Expr::bool(true) { None } else { Some(guard) };
        Ok(self.step(guard, Action::Skip, span, sequence))
    }

    fn set_priority(&mut self, process: RegisterId, priority: i32) -> Action {
        self.program.has_priorities = true;
        let process = Expr::Register { register: process, ty: Type::U32 };
        Action::SetPriority { process, priority: Expr::int(Type::I32, i64::from(priority)) }
    }

    fn assign(
        &mut self,
        to: &Reference,
        value: &Expression,
        span: Span,
        sequence: &mut Sequence,
    ) -> Lowered<ElementId> {
        if let ExpressionKind::Run { name, arguments, priority } = &value.kind {
            return self.assign_run(to, name, arguments, *priority, span, sequence);
        }
        self.check_channels(to, value)?;
        self.check_symbols(to, value)?;
        let value = self.value(value)?;
        let action = match to.name.text.as_str() {
            "_" => Action::Skip,
            "_priority" => {
                self.program.has_priorities = true;
                Action::SetPriority { process: Expr::Thread, priority: value }
            }
            "_pid" | "_nr_pr" | "_last" => {
                let message = format!("invalid assignment to {}", to.name.text);
                return self.fault(code::TYPE, &message, to.span);
            }
            _ => self.store(to, value)?,
        };
        Ok(self.step(None, action, span, sequence))
    }

    /// Channels are assigned to each other, and nothing is computed with them.
    fn check_channels(&mut self, to: &Reference, value: &Expression) -> Lowered<()> {
        if matches!(value.kind, ExpressionKind::Number(_)) && self.is_channel(to) {
            return self.fault(code::TYPE, "invalid asgn to chan", value.span);
        }
        let operands = match &value.kind {
            ExpressionKind::Binary(_, operands) => &operands[..],
            ExpressionKind::Unary(_, operand) => std::slice::from_ref(&**operand),
            ExpressionKind::If(parts) => &parts[..],
            _ => &[],
        };
        for operand in operands {
            match &operand.kind {
                ExpressionKind::Variable(reference) if self.is_channel(reference) => {
                    return self.fault(code::TYPE, "invalid use of chan name", reference.span);
                }
                _ => self.check_channels(to, operand)?,
            }
        }
        Ok(())
    }

    /// A variable of a subtype of `mtype` is assigned no symbol of another one.
    fn check_symbols(&mut self, to: &Reference, value: &Expression) -> Lowered<()> {
        let ExpressionKind::Variable(from) = &value.kind else { return Ok(()) };
        let kind = ExpressionKind::Variable(to.clone());
        let target = Expression { kind, span: to.span };
        let (Some(left), Some(right)) = (self.symbols_of(&target), self.symbols_of(value)) else {
            return Ok(());
        };
        let name = |set: SymbolSet| match self.symbol_sets[set.0 as usize].0.as_str() {
            "" => UNNAMED.to_owned(),
            name => name.to_owned(),
        };
        let (its, other) = (name(left), name(right));
        if its == other || its == UNNAMED {
            return Ok(());
        }
        let (to, from) = (&to.name.text, &from.name.text);
        let message = format!("'{to}' is type '{its}' but '{from}' is type '{other}'");
        self.fault(code::TYPE, &message, value.span)
    }

    /// Whether a name is that of a channel.
    fn is_channel(&self, reference: &Reference) -> bool {
        let is_channel = |it: Variable| matches!(it.shape, Shape::Scalar(it) if it.is_channel);
        reference.field.is_none() && self.lookup(&reference.name.text).is_some_and(is_channel)
    }

    fn store(&mut self, to: &Reference, value: Expr) -> Lowered<Action> {
        let part = self.part(to)?;
        let value = value.convert(part.scalar.ty);
        Ok(match part.spot {
            Spot::Register(to) => Action::Assign { to, value },
            Spot::Place(to) => Action::Store { to, value, access: Access::ATOMIC },
        })
    }

    /// `to = run name(arguments)`
    fn assign_run(
        &mut self,
        to: &Reference,
        name: &Name,
        arguments: &[Expression],
        priority: Option<i32>,
        span: Span,
        sequence: &mut Sequence,
    ) -> Lowered<ElementId> {
        let (routine, arguments) = self.run(name, arguments)?;
        if let (Spot::Register(to), None) = (self.part(to)?.spot, priority) {
            let action = Action::Spawn { routine, arguments, to: Some(to) };
            return Ok(self.step(None, action, span, sequence));
        }
        let born = self.add_register("", Type::U32, span);
        let number = Expr::Register { register: born, ty: Type::U32 };
        let mut actions = vec![Action::Spawn { routine, arguments, to: Some(born) }];
        if let Some(priority) = priority {
            actions.push(self.set_priority(born, priority));
        }
        actions.push(self.store(to, number.convert(Type::I32))?);
        actions.push(clear(born));
        self.at_once(actions, span, sequence)
    }

    fn run(&mut self, name: &Name, arguments: &[Expression]) -> Lowered<(Callee, Vec<Expr>)> {
        let Some(routine) = self.routine_of(&name.text) else {
            return self.unknown_proctype(name);
        };
        let parameters = self.parameters.get(&name.text).cloned().unwrap_or_default();
        if parameters.len() != arguments.len() {
            let (saw, expected) = (arguments.len(), parameters.len());
            let fault = Fault::new(code::TYPE, "wrong number of parameters")
                .label(format!("saw {saw}, expected {expected}"));
            self.faults.push((fault, name.span));
            return Err(Reported);
        }
        let mut values = Vec::new();
        for (argument, (ty, width)) in arguments.iter().zip(parameters) {
            match self.shape(&ty, width)? {
                Shape::Scalar(scalar) => values.push(self.value(argument)?.convert(scalar.ty)),
                shape @ Shape::Struct(_) => self.pass_struct(argument, shape, &mut values)?,
            }
        }
        Ok((Callee::Routine(routine), values))
    }

    /// Adds the numbers of a struct that a process is started with: a copy, field by field.
    fn pass_struct(
        &mut self,
        argument: &Expression,
        shape: Shape,
        values: &mut Vec<Expr>,
    ) -> Lowered<()> {
        let Shape::Struct(number) = shape else { unreachable!("it is one") };
        if let ExpressionKind::Variable(reference) = &argument.kind
            && self.shape_of(reference) == Some(shape)
        {
            let parts = self.parts(reference)?;
            values.extend(parts.iter().map(|part| part.value().convert(part.scalar.ty)));
            return Ok(());
        }
        let name = self.structs[number].name.clone();
        let message = format!("'{}' is no {name}", self.text(argument.span));
        self.fault(code::TYPE, &message, argument.span)
    }

    /// What a reference is about.
    fn shape_of(&self, reference: &Reference) -> Option<Shape> {
        let mut shape = self.lookup(&reference.name.text)?.shape;
        let mut next = &reference.field;
        while let Some(field) = next {
            let Shape::Struct(number) = shape else { return None };
            let fields = &self.structs[number].fields;
            shape = fields.iter().find(|it| it.name == field.name.text)?.shape;
            next = &field.field;
        }
        Some(shape)
    }

    /// Several actions as one step.
    fn at_once(
        &mut self,
        actions: Vec<Action>,
        span: Span,
        sequence: &mut Sequence,
    ) -> Lowered<ElementId> {
        let first = self.process.graph.next_id();
        let mut inner = Sequence::default();
        for action in actions {
            self.step(None, action, span, &mut inner);
        }
        self.process.graph.uncount(first);
        let chain = self.process.graph.close(&inner).ok_or(Reported)?;
        let text = self.text(span);
        let kind = ElementKind::Block { chain, kind: BlockKind::Indivisible };
        let block = self.process.graph.add(kind, span, &text);
        self.process.graph.make_indivisible(chain, first, block);
        self.process.graph.append(sequence, block);
        Ok(block)
    }

    /// A `c_code` as one step, to which SPIN gives one number.
    fn embedded(
        &mut self,
        body: &[Statement],
        span: Span,
        sequence: &mut Sequence,
    ) -> Lowered<ElementId> {
        if let [only] = body
            && matches!(only.kind, StatementKind::Assign(..) | StatementKind::Assert(_))
        {
            let whole = Statement { span, ..only.clone() };
            return self.element(&whole, sequence);
        }
        let first = self.process.graph.next_id();
        let mut inner = Sequence::default();
        let exits = std::mem::take(&mut self.process.exits);
        let was_indivisible = std::mem::replace(&mut self.process.is_indivisible, true);
        self.statements(body, &mut inner);
        self.process.is_indivisible = was_indivisible;
        self.process.exits = exits;
        self.process.graph.uncount(first);
        let chain = self.chain(&inner, span)?;
        let text = self.text(span);
        let kind = ElementKind::Block { chain, kind: BlockKind::Indivisible };
        let block = self.process.graph.add(kind, span, &text);
        self.process.graph.make_indivisible(chain, first, block);
        self.process.graph.append(sequence, block);
        Ok(block)
    }

    fn open_loop(&mut self, span: Span) -> ElementId {
        let exit = self.process.graph.add(ElementKind::Exit, span, "break");
        self.process.exits.push(exit);
        exit
    }

    fn break_loop(&mut self, span: Span, sequence: &mut Sequence) -> Lowered<ElementId> {
        let Some(&exit) = self.process.exits.last() else {
            return self.fault(code::CONTROL, "misplaced break statement", span);
        };
        let kind = ElementKind::Goto(Target::Element(exit));
        let element = self.process.graph.add(kind, span, "break");
        self.process.graph.append(sequence, element);
        Ok(element)
    }

    fn chain(&mut self, sequence: &Sequence, span: Span) -> Lowered<Chain> {
        match self.process.graph.close(sequence) {
            Some(chain) => Ok(chain),
            None if self.faults.is_empty() => {
                let message = "sequence must have at least one statement";
                self.fault(code::SYNTAX, message, span)
            }
            None => Err(Reported),
        }
    }

    fn options(&mut self, options: &[Vec<Statement>], span: Span) -> Lowered<Vec<Chain>> {
        let mut chains = Vec::new();
        for option in options {
            self.refuse_labels(option);
            let mut sequence = Sequence::default();
            for (idx, statement) in option.iter().enumerate() {
                if !self.process.is_claim && is_needless_skip(option, idx) {
                    // SPIN makes an element of it all the same, and then forgets it.
                    self.process.graph.next_number += 1;
                    continue;
                }
                self.statements(std::slice::from_ref(statement), &mut sequence);
            }
            chains.push(self.chain(&sequence, span)?);
        }
        Ok(chains)
    }

    fn in_scope<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        self.process.n_blocks += 1;
        self.process.path.push(self.process.n_blocks);
        self.process.scopes.push(FxHashMap::default());
        let done = work(self);
        self.process.path.pop();
        for (name, variable) in self.process.scopes.pop().expect("it was pushed above") {
            // Others may ask for it by its name, as long as no outer one has it.
            let key = (self.process.name.clone(), name);
            self.found.locals.entry(key).or_insert(variable);
        }
        done
    }

    fn block(
        &mut self,
        body: &[Statement],
        kind: BlockKind,
        span: Span,
        sequence: &mut Sequence,
    ) -> Lowered<ElementId> {
        self.refuse_labels(body);
        let first = self.process.graph.next_id();
        let exits = std::mem::take(&mut self.process.exits);
        if kind != BlockKind::Indivisible {
            self.process.exits.clone_from(&exits);
        }
        let mut inner = Sequence::default();
        let was_indivisible = self.process.is_indivisible;
        self.process.is_indivisible |= kind == BlockKind::Indivisible;
        self.in_scope(|lowerer| lowerer.statements(body, &mut inner));
        self.process.is_indivisible = was_indivisible;
        self.process.exits = exits;
        let chain = self.chain(&inner, span)?;
        let text = match kind {
            BlockKind::Indivisible => self.text(span),
            _ => String::new(),
        };
        let block = self.process.graph.add(ElementKind::Block { chain, kind }, span, &text);
        match kind {
            BlockKind::Plain => {}
            BlockKind::Atomic => self.process.graph.make_atomic(block, chain),
            BlockKind::Indivisible => self.process.graph.make_indivisible(chain, first, block),
        }
        self.process.graph.append(sequence, block);
        Ok(block)
    }

    /// One side of an `unless`: what is in a block is taken out of it.
    fn part_of_unless(&mut self, statement: &Statement) -> Lowered<Chain> {
        let mut sequence = Sequence::default();
        match &statement.kind {
            StatementKind::Block(body) if statement.labels.is_empty() => {
                self.refuse_labels(body);
                self.in_scope(|lowerer| lowerer.statements(body, &mut sequence));
            }
            _ => self.statement(statement, &mut sequence)?,
        }
        self.chain(&sequence, statement.span)
    }

    fn for_loop(
        &mut self,
        index: &Reference,
        low: &Expression,
        high: &Expression,
        body: &[Statement],
        span: Span,
        sequence: &mut Sequence,
    ) -> Lowered<ElementId> {
        self.assign(index, low, span, sequence)?;
        let condition = compared(index, Binary::LessOrEqual, high.clone());
        let exit = self.open_loop(span);
        let mut main = Sequence::default();
        self.condition(&condition, span, &mut main)?;
        self.in_scope(|lowerer| lowerer.statements(body, &mut main));
        self.close_for(index, exit, main, true, span, sequence)
    }

    /// Adds the increment and the way out, and makes a loop of them.
    fn close_for(
        &mut self,
        index: &Reference,
        exit: ElementId,
        mut main: Sequence,
        with_else: bool,
        span: Span,
        sequence: &mut Sequence,
    ) -> Lowered<ElementId> {
        if let StatementKind::Assign(to, value) = increment(index.clone()) {
            self.assign(&to, &value, span, &mut main)?;
        }
        let main = self.chain(&main, span)?;
        let mut out = Sequence::default();
        if with_else {
            let kind = ElementKind::Step { guard: None, otherwise: true, action: Action::Skip };
            let element = self.process.graph.add(kind, span, "else");
            self.process.graph.append(&mut out, element);
        }
        self.break_loop(span, &mut out)?;
        let out = self.chain(&out, span)?;
        self.process.exits.pop();
        Ok(self.process.graph.choice(sequence, vec![out, main], Some(exit), span))
    }

    fn for_in(
        &mut self,
        index: &Reference,
        within: &Reference,
        body: &[Statement],
        span: Span,
        sequence: &mut Sequence,
    ) -> Lowered<ElementId> {
        let Some(array) = self.lookup(&within.name.text) else {
            let message = format!("undeclared variable: {}", within.name.text);
            return self.fault(code::NAME, &message, within.span);
        };
        let is_message =
            self.lookup(&index.name.text).is_some_and(|it| matches!(it.shape, Shape::Struct(_)));
        if is_message {
            return self.for_in_channel(index, within, &array, body, span, sequence);
        }
        let Some(count) = array.count else {
            let message = format!("bad arrayname {}", within.name.text);
            return self.fault(code::TYPE, &message, within.span);
        };
        let low = Expression { kind: ExpressionKind::Number(0), span };
        let high = Expression { kind: ExpressionKind::Number(count as i32 - 1), span };
        self.for_loop(index, &low, &high, body, span, sequence)
    }

    /// Each message of a channel: taken out at the front, and put back at the end.
    fn for_in_channel(
        &mut self,
        index: &Reference,
        channel: &Reference,
        variable: &Variable,
        body: &[Statement],
        span: Span,
        sequence: &mut Sequence,
    ) -> Lowered<ElementId> {
        let shape = self.lookup(&index.name.text).map(|it| it.shape);
        let is_fitting = matches!((&variable.message, shape), (Some(message), Some(shape))
            if message.len() == 1 && message[0] == shape);
        if !is_fitting {
            let message = format!("type of {} does not match chan", index.name.text);
            return self.fault(code::TYPE, &message, index.span);
        }
        let ty = if variable.capacity > 255 { Type::signed(16) } else { Type::U8 };
        let name = format!("_count{}", self.process.registers.len());
        let register = self.add_register(&name, ty, span);
        let scalar = Scalar::number(ty);
        let counter = Variable {
            shape: Shape::Scalar(scalar),
            count: None,
            home: Home::Register(register),
            message: None,
            capacity: 0,
        };
        let scope = self.process.scopes.last_mut().ok_or(Reported)?;
        scope.insert(name.clone(), counter);
        let counter = Reference { name: Name { text: name, span }, index: None, field: None, span };
        let zero = Expression { kind: ExpressionKind::Number(0), span };
        self.assign(&counter, &zero, span, sequence)?;
        let length =
            Expression { kind: ExpressionKind::Probe(Probe::Length, channel.clone()), span };
        let condition = compared(&counter, Binary::Less, length);
        let exit = self.open_loop(span);
        let mut main = Sequence::default();
        self.condition(&condition, span, &mut main)?;
        let taken = self.receive(channel, &[Pattern::Variable(index.clone())], false, false)?;
        self.step(None, Action::Receive(taken), span, &mut main);
        let message = Expression { kind: ExpressionKind::Variable(index.clone()), span };
        let put_back = self.send(channel, &[message], false)?;
        self.step(None, Action::Send(put_back), span, &mut main);
        self.in_scope(|lowerer| lowerer.statements(body, &mut main));
        self.close_for(&counter, exit, main, true, span, sequence)
    }

    fn select(
        &mut self,
        index: &Reference,
        low: &Expression,
        high: &Expression,
        is_unrolled: bool,
        span: Span,
        sequence: &mut Sequence,
    ) -> Lowered<ElementId> {
        if let (true, ExpressionKind::Number(low), ExpressionKind::Number(high)) =
            (is_unrolled, &low.kind, &high.kind)
        {
            let mut options = Vec::new();
            for value in *low..=*high {
                let mut option = Sequence::default();
                let value = Expression { kind: ExpressionKind::Number(value), span };
                self.assign(index, &value, span, &mut option)?;
                options.push(self.chain(&option, span)?);
            }
            return Ok(self.process.graph.choice(sequence, options, None, span));
        }
        self.assign(index, low, span, sequence)?;
        let exit = self.open_loop(span);
        let mut main = Sequence::default();
        self.condition(&compared(index, Binary::Less, high.clone()), span, &mut main)?;
        self.close_for(index, exit, main, false, span, sequence)
    }
}

/// `index operator right`
fn compared(index: &Reference, operator: Binary, right: Expression) -> Expression {
    let span = index.span;
    let left = Expression { kind: ExpressionKind::Variable(index.clone()), span };
    Expression { kind: ExpressionKind::Binary(operator, Box::new([left, right])), span }
}

fn clear(register: RegisterId) -> Action {
    Action::Assign { to: register, value: Expr::int(Type::U32, 0) }
}

/// The `run` that is a part of an expression of a statement, where that may be.
fn run_within(statement: &Statement) -> Option<&Expression> {
    match &statement.kind {
        StatementKind::Assign(_, value) if !matches!(value.kind, ExpressionKind::Run { .. }) => {
            run_in(value)
        }
        StatementKind::Assert(condition) => run_in(condition),
        StatementKind::Print { arguments, .. } => arguments.iter().find_map(run_in),
        _ => None,
    }
}

/// The `run` in an expression that is always computed.
fn run_in(expression: &Expression) -> Option<&Expression> {
    match &expression.kind {
        ExpressionKind::Run { .. } => Some(expression),
        ExpressionKind::Unary(_, operand) => run_in(operand),
        ExpressionKind::Binary(Binary::And | Binary::Or, operands) => run_in(&operands[0]),
        ExpressionKind::Binary(_, operands) => operands.iter().find_map(run_in),
        ExpressionKind::If(parts) => run_in(&parts[0]),
        _ => None,
    }
}

/// Whether a label means something by its name.
fn is_marked(label: &Name) -> bool {
    ["end", "progress", "accept"].iter().any(|word| label.text.starts_with(word))
}

/// Of several statements in a row that only let time pass, one is enough; what is printed stays.
fn is_needless_skip(option: &[Statement], idx: usize) -> bool {
    let is_skip = |statement: &Statement| statement.is_skip() && statement.labels.is_empty();
    let is_inner = idx > 0 && idx + 1 < option.len();
    is_inner && is_skip(&option[idx]) && is_skip(&option[idx - 1]) && !option[idx].is_output()
}
