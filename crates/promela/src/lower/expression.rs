//! Expressions: everything is computed as C's `int`, and cut off where it is stored.

use super::types::{Home, Scalar, Shape, Variable};
use super::{Known, Lowered, Lowerer};
use crate::fault::code;
use crate::tree::{Binary, Expression, ExpressionKind, Name, Pattern, Probe, Reference, Unary};
use mazurka_model::{
    self as model, Compare, Expr, Message, MessageField, Place, Query, RegisterId, SymbolSet, Type,
};

/// Where a value is.
#[derive(Clone, Debug)]
pub(super) enum Spot {
    Register(RegisterId),
    Place(Place),
}

/// What may be sent and received as one.
pub(super) struct Part {
    pub(super) spot: Spot,
    pub(super) scalar: Scalar,
    /// Whether it stands for itself, or for a struct that was taken apart.
    is_of_struct: bool,
}

impl Part {
    pub(super) fn value(&self) -> Expr {
        let ty = self.scalar.ty;
        let value = match &self.spot {
            Spot::Register(register) => Expr::Register { register: *register, ty },
            Spot::Place(place) => Expr::read(place.clone(), ty),
        };
        value.convert(Type::I32)
    }
}

impl Lowerer<'_> {
    /// A value as an `int`.
    pub(super) fn value(&mut self, expression: &Expression) -> Lowered<Expr> {
        let span = expression.span;
        Ok(match &expression.kind {
            ExpressionKind::Number(value) => Expr::int(Type::I32, i64::from(*value)),
            ExpressionKind::Variable(reference) => self.variable_value(reference)?,
            ExpressionKind::Unary(Unary::Minus, operand) => {
                Expr::unary(model::Unary::Negate, self.value(operand)?)
            }
            ExpressionKind::Unary(Unary::Complement, operand) => {
                Expr::unary(model::Unary::Not, self.value(operand)?)
            }
            ExpressionKind::Binary(operator, operands) => match arithmetic(*operator) {
                Some(operator) => {
                    let [left, right] = operands.as_ref();
                    Expr::binary(operator, self.value(left)?, self.value(right)?)
                }
                None => self.truth(expression)?.convert(Type::I32),
            },
            ExpressionKind::If(parts) => {
                let [condition, then, otherwise] = parts.as_ref();
                let condition = self.truth(condition)?;
                Expr::choose(condition, self.value(then)?, self.value(otherwise)?)
            }
            ExpressionKind::Probe(Probe::Length, channel) => {
                Expr::query(Query::Length(self.channel(channel)?))
            }
            ExpressionKind::Location(process) => Expr::query(Query::Location(self.value(process)?)),
            ExpressionKind::Priority(process) => {
                self.program.has_priorities = true;
                Expr::query(Query::Priority(self.value(process)?))
            }
            ExpressionKind::Remote { proctype, process, variable } => {
                self.remote(proctype, process.as_deref(), variable)?
            }
            ExpressionKind::Run { .. } => match self.process.born.take() {
                Some(born) => Expr::Register { register: born, ty: Type::U32 }.convert(Type::I32),
                None => {
                    let message = "use of run operator in compound expression";
                    return self.fault(code::TYPE, message, span);
                }
            },
            ExpressionKind::Unary(Unary::Not, _)
            | ExpressionKind::Probe(..)
            | ExpressionKind::Poll { .. }
            | ExpressionKind::Timeout
            | ExpressionKind::NonProgress
            | ExpressionKind::Enabled(_)
            | ExpressionKind::AtLabel { .. } => self.truth(expression)?.convert(Type::I32),
        })
    }

    /// The names that a value has: those of its variable, or the set that it is one of.
    pub(super) fn symbols_of(&mut self, expression: &Expression) -> Option<SymbolSet> {
        let ExpressionKind::Variable(reference) = &expression.kind else { return None };
        if let Some((set, _)) = self.symbols.get(&reference.name.text) {
            return Some(*set);
        }
        // `_pid` and its like are no variables.
        self.lookup(&reference.name.text)?;
        self.parts(reference).ok()?.first()?.scalar.symbols
    }

    /// Whether a value is not zero.
    pub(super) fn truth(&mut self, expression: &Expression) -> Lowered<Expr> {
        Ok(match &expression.kind {
            ExpressionKind::Number(value) => Expr::bool(*value != 0),
            ExpressionKind::Unary(Unary::Not, operand) => self.truth(operand)?.negated(),
            ExpressionKind::Binary(Binary::And, operands) => {
                let [left, right] = operands.as_ref();
                let (left, right) = (self.truth(left)?, self.truth(right)?);
                Expr::choose(left, right, Expr::bool(false))
            }
            ExpressionKind::Binary(Binary::Or, operands) => {
                let [left, right] = operands.as_ref();
                let (left, right) = (self.truth(left)?, self.truth(right)?);
                Expr::choose(left, Expr::bool(true), right)
            }
            ExpressionKind::Binary(operator, operands) => match comparison(*operator) {
                Some(compare) => {
                    let [left, right] = operands.as_ref();
                    Expr::compare(compare, self.value(left)?, self.value(right)?)
                }
                None => self.value(expression)?.is_true(),
            },
            ExpressionKind::Probe(probe, channel) if *probe != Probe::Length => {
                let channel = self.channel(channel)?;
                match probe {
                    Probe::Full => Expr::query(Query::Full(channel)),
                    Probe::NotFull => Expr::query(Query::Full(channel)).negated(),
                    Probe::Empty => Expr::query(Query::Empty(channel)),
                    Probe::NotEmpty | Probe::Length => Expr::query(Query::Empty(channel)).negated(),
                }
            }
            ExpressionKind::Poll { channel, fields, anywhere } => {
                Expr::query(Query::Poll(self.receive(channel, fields, *anywhere, true)?))
            }
            ExpressionKind::Timeout => Expr::query(Query::Timeout),
            ExpressionKind::NonProgress => {
                let is_process = !self.process.is_claim && !self.process.name.is_empty();
                if is_process {
                    let message = "using np_ outside never claim";
                    return self.fault(code::CONTROL, message, expression.span);
                }
                Expr::query(Query::NonProgress)
            }
            ExpressionKind::Enabled(process) => Expr::query(Query::Enabled(self.value(process)?)),
            ExpressionKind::AtLabel { proctype, process, label } => {
                self.at_label(proctype, process.as_deref(), label)?
            }
            _ => self.value(expression)?.is_true(),
        })
    }

    fn variable_value(&mut self, reference: &Reference) -> Lowered<Expr> {
        if reference.index.is_none() && reference.field.is_none() {
            let name = reference.name.text.as_str();
            let special = match name {
                "_pid" => Some(Expr::Thread.convert(Type::I32)),
                "_nr_pr" => Some(Expr::query(Query::Processes)),
                "_last" => Some(Expr::query(Query::Last)),
                "_priority" => {
                    self.program.has_priorities = true;
                    Some(Expr::query(Query::Priority(Expr::Thread.convert(Type::I32))))
                }
                _ => {
                    self.symbols.get(name).map(|(_, value)| Expr::int(Type::I32, i64::from(*value)))
                }
            };
            if let Some(special) = special {
                return Ok(special);
            }
        }
        Ok(self.part(reference)?.value())
    }

    /// The number of the channel that a variable holds.
    pub(super) fn channel(&mut self, reference: &Reference) -> Lowered<Expr> {
        let part = self.part(reference)?;
        if !part.scalar.is_channel {
            let message = format!("bad channel name '{}'", reference.name.text);
            return self.fault(code::TYPE, &message, reference.span);
        }
        Ok(part.value())
    }

    /// The one number that a reference is.
    pub(super) fn part(&mut self, reference: &Reference) -> Lowered<Part> {
        let mut parts = self.parts(reference)?;
        match parts.pop() {
            Some(part) if parts.is_empty() && !part.is_of_struct => Ok(part),
            _ => {
                let message = format!("incomplete structure ref '{}'", reference.name.text);
                self.fault(code::TYPE, &message, reference.span)
            }
        }
    }

    /// All numbers that a reference is: more than one for a struct.
    pub(super) fn parts(&mut self, reference: &Reference) -> Lowered<Vec<Part>> {
        let Some(variable) = self.lookup(&reference.name.text) else {
            let message = format!("undeclared variable: {}", reference.name.text);
            return self.fault(code::NAME, &message, reference.name.span);
        };
        self.parts_of(&variable, reference)
    }

    /// The numbers that a reference to this variable is about.
    fn parts_of(&mut self, variable: &Variable, reference: &Reference) -> Lowered<Vec<Part>> {
        if let Home::Register(register) = variable.home {
            let Shape::Scalar(scalar) = variable.shape else {
                unreachable!("a register is one number")
            };
            if let Some(field) = &reference.field {
                let message = no_field(&field.name.text, &reference.name.text);
                return self.fault(code::NAME, &message, field.name.span);
            }
            if let Some(index) = &reference.index
                && !matches!(index.kind, ExpressionKind::Number(0))
            {
                let message = format!("ref to scalar '{}' using array index", reference.name.text);
                return self.fault(code::TYPE, &message, reference.span);
            }
            let spot = Spot::Register(register);
            return Ok(vec![Part { spot, scalar, is_of_struct: false }]);
        }
        let place = match variable.home {
            Home::Object(object) => Place::object(object),
            Home::Frame(number) => Place::frame(number),
            Home::Register(_) => unreachable!("registers are dealt with above"),
        };
        let place = self.indexed(place, variable.shape, variable.count, reference)?;
        let mut parts = Vec::new();
        self.descend(place, variable.shape, reference, &mut parts)?;
        Ok(parts)
    }

    /// The element of an array that a reference is about.
    fn indexed(
        &mut self,
        place: Place,
        shape: Shape,
        count: Option<u32>,
        reference: &Reference,
    ) -> Lowered<Place> {
        let size = self.size_of(shape);
        match (&reference.index, count) {
            (Some(index), None) if !matches!(index.kind, ExpressionKind::Number(0)) => {
                let message = format!("ref to scalar '{}' using array index", reference.name.text);
                self.fault(code::TYPE, &message, reference.span)
            }
            (Some(index), count) => {
                let index = Expr::Index(Box::new(self.value(index)?), count.unwrap_or(1));
                let is_fine = |value: u64| value < u64::from(count.unwrap_or(1));
                let index = match index {
                    Expr::Index(inner, _) if inner.as_const().is_some_and(is_fine) => *inner,
                    checked => checked,
                };
                Ok(place.element(index, size))
            }
            (None, Some(_)) => {
                let message = format!("missing array index for '{}'", reference.name.text);
                self.fault(code::TYPE, &message, reference.span)
            }
            (None, None) => Ok(place),
        }
    }

    fn descend(
        &mut self,
        place: Place,
        shape: Shape,
        reference: &Reference,
        parts: &mut Vec<Part>,
    ) -> Lowered<()> {
        match (shape, &reference.field) {
            (Shape::Scalar(scalar), None) => {
                parts.push(Part { spot: Spot::Place(place), scalar, is_of_struct: false });
                Ok(())
            }
            (Shape::Scalar(_), Some(field)) => {
                let message = no_field(&field.name.text, &reference.name.text);
                self.fault(code::NAME, &message, field.name.span)
            }
            (Shape::Struct(number), None) => {
                self.flatten(place, number, parts);
                Ok(())
            }
            (Shape::Struct(number), Some(inner)) => {
                let known = self.structs[number].fields.iter();
                let Some(field) = known.clone().find(|it| it.name == inner.name.text).cloned()
                else {
                    let message = no_field(&inner.name.text, &reference.name.text);
                    return self.fault(code::NAME, &message, inner.name.span);
                };
                let place = place.plus(Expr::int(Type::I64, i64::from(field.offset)));
                let place = self.indexed(place, field.shape, field.count, inner)?;
                self.descend(place, field.shape, inner, parts)
            }
        }
    }

    /// All numbers of a struct.
    fn flatten(&self, place: Place, number: usize, parts: &mut Vec<Part>) {
        for field in &self.structs[number].fields {
            let size = self.size_of(field.shape);
            for idx in 0..field.count.unwrap_or(1) {
                let offset = i64::from(field.offset + idx * size);
                let place = place.clone().plus(Expr::int(Type::I64, offset));
                match field.shape {
                    Shape::Scalar(scalar) => {
                        parts.push(Part { spot: Spot::Place(place), scalar, is_of_struct: true });
                    }
                    Shape::Struct(inner) => self.flatten(place, inner, parts),
                }
            }
        }
    }

    pub(super) fn size_of(&self, shape: Shape) -> u32 {
        match shape {
            Shape::Scalar(scalar) => scalar.ty.bytes(),
            Shape::Struct(number) => self.structs[number].size,
        }
    }

    /// The values of a message that is sent.
    pub(super) fn send(
        &mut self,
        channel: &Reference,
        fields: &[Expression],
        sorted: bool,
    ) -> Lowered<Message> {
        let number = self.channel(channel)?;
        let mut fields_sent = Vec::new();
        for field in fields {
            match &field.kind {
                ExpressionKind::Variable(reference) if self.is_struct(reference) => {
                    let values = self.parts(reference)?;
                    fields_sent.extend(values.iter().map(|it| MessageField::Value(it.value())));
                }
                // In a trace, what is sent may be anything.
                ExpressionKind::Variable(reference) if reference.name.text == "_" => {
                    fields_sent.push(MessageField::Ignore);
                }
                _ => fields_sent.push(MessageField::Value(self.value(field)?)),
            }
        }
        // Which channel it is may be known when the program runs, or never.
        if self.known.is_some_and(|known| fields_sent.len() > known.most_fields) {
            return self.fault(code::TYPE, "too many pars in send", channel.span);
        }
        Ok(Message {
            channel: Place::channel(number),
            layout: None,
            fields: fields_sent,
            anywhere: sorted,
            keep: false,
        })
    }

    fn is_struct(&self, reference: &Reference) -> bool {
        self.lookup(&reference.name.text)
            .is_some_and(|variable| matches!(variable.shape, Shape::Struct(_)))
    }

    /// What a message that is received looks like, and where its fields go.
    pub(super) fn receive(
        &mut self,
        channel: &Reference,
        patterns: &[Pattern],
        anywhere: bool,
        keep: bool,
    ) -> Lowered<Message> {
        let number = self.channel(channel)?;
        let mut fields = Vec::new();
        for pattern in patterns {
            match pattern {
                Pattern::Value(value) => fields.push(MessageField::Value(self.value(value)?)),
                Pattern::Variable(reference) if reference.name.text == "_" => {
                    fields.push(MessageField::Ignore);
                }
                Pattern::Variable(reference)
                    if self.symbols.contains_key(&reference.name.text)
                        || reference.name.text == "_pid" =>
                {
                    fields.push(MessageField::Value(self.variable_value(reference)?));
                }
                Pattern::Variable(reference) => {
                    let parts = self.parts(reference)?;
                    fields.extend(parts.into_iter().map(|part| match part.spot {
                        Spot::Register(register) => MessageField::Register(register),
                        Spot::Place(place) => MessageField::Place(place, part.scalar.ty),
                    }));
                }
            }
        }
        Ok(Message { channel: Place::channel(number), layout: None, fields, anywhere, keep })
    }

    fn process_number(&mut self, process: Option<&Expression>) -> Lowered<Option<Expr>> {
        process.map(|process| self.value(process)).transpose()
    }

    fn at_label(
        &mut self,
        proctype: &Name,
        process: Option<&Expression>,
        label: &Name,
    ) -> Lowered<Expr> {
        if self.process.is_indivisible {
            return self.fault(code::CONTROL, "remote reference in d_step", proctype.span);
        }
        let process = self.process_number(process)?;
        let Some(routine) = self.routine_of(&proctype.text) else {
            return self.unknown_proctype(proctype);
        };
        self.remote_labels.insert((proctype.text.clone(), label.text.clone()));
        let Some(known) = self.known else { return Ok(Expr::bool(false)) };
        let Known { labels, all_labels, .. } = known;
        let key = (proctype.text.clone(), label.text.clone());
        match labels.get(&key) {
            Some(&location) => Ok(Expr::query(Query::At { process, routine, location })),
            // A label where no process ever stands.
            None if all_labels.contains(&key) => Ok(Expr::bool(false)),
            None => {
                let message = format!("unknown label '{}'", label.text);
                self.fault(code::NAME, &message, label.span)
            }
        }
    }

    fn remote(
        &mut self,
        proctype: &Name,
        process: Option<&Expression>,
        reference: &Reference,
    ) -> Lowered<Expr> {
        let process = self.process_number(process)?;
        let Some(routine) = self.routine_of(&proctype.text) else {
            return self.unknown_proctype(proctype);
        };
        let Some(known) = self.known else { return Ok(Expr::int(Type::I32, 0)) };
        let key = (proctype.text.clone(), reference.name.text.clone());
        let Some(variable) = known.locals.get(&key).cloned() else {
            let message = format!("undeclared variable: {}", reference.name.text);
            return self.fault(code::NAME, &message, reference.name.span);
        };
        let parts = self.parts_of(&variable, reference)?;
        let [part] = parts.as_slice() else {
            let message = format!("incomplete structure ref '{}'", reference.name.text);
            return self.fault(code::TYPE, &message, reference.span);
        };
        let ty = part.scalar.ty;
        let query = match &part.spot {
            Spot::Register(register) => {
                Query::Register { process, routine, register: *register, ty }
            }
            Spot::Place(from) => Query::Frame { process, routine, from: from.clone(), ty },
        };
        Ok(Expr::query(query).convert(Type::I32))
    }

    pub(super) fn unknown_proctype<T>(&mut self, name: &Name) -> Lowered<T> {
        let message = format!("proctype {} not found", name.text);
        self.fault(code::NAME, &message, name.span)
    }

    /// The value of an expression that is known before the program runs.
    pub(super) fn constant(&mut self, expression: &Expression) -> Lowered<i32> {
        let value = self.value(expression)?;
        match self.folded(&value) {
            Some(value) => Ok(value),
            None => self.fault(code::TYPE, "this must be a constant", expression.span),
        }
    }

    /// The value of an expression over constants and what variables hold in the beginning.
    pub(super) fn folded(&self, value: &Expr) -> Option<i32> {
        Some(self.fold(value)? as i32)
    }

    fn fold(&self, value: &Expr) -> Option<u64> {
        Some(match value {
            Expr::Const { bits, .. } => *bits,
            Expr::Unary(op, operand) => model::unary(*op, operand.ty(), self.fold(operand)?),
            Expr::Binary(op, left, right) => {
                let (l, r) = (self.fold(left)?, self.fold(right)?);
                model::binary(*op, left.ty(), l, r, right.ty())
            }
            Expr::Compare(op, left, right) => {
                let (l, r) = (self.fold(left)?, self.fold(right)?);
                u64::from(model::compare(*op, left.ty(), l, r))
            }
            Expr::Convert(ty, operand) => model::convert(*ty, operand.ty(), self.fold(operand)?),
            Expr::If(parts) => match self.fold(&parts[0])? {
                0 => self.fold(&parts[2])?,
                _ => self.fold(&parts[1])?,
            },
            Expr::Index(index, count) => {
                let index = self.fold(index)?;
                (index < u64::from(*count)).then_some(index)?
            }
            Expr::Read { from, ty } => {
                let model::Base::Object(object) = from.base else { return None };
                let offset = self.fold(&from.offset)? as u32;
                let first = self.first_values.get(&(object, offset)).copied().unwrap_or(0);
                model::canonical(*ty, first as u64)
            }
            _ => return None,
        })
    }
}

fn no_field(field: &str, of: &str) -> String {
    format!("no field '{field}' defined in structure '{of}'")
}

fn arithmetic(operator: Binary) -> Option<model::Binary> {
    Some(match operator {
        Binary::Add => model::Binary::Add,
        Binary::Subtract => model::Binary::Subtract,
        Binary::Multiply => model::Binary::Multiply,
        Binary::Divide => model::Binary::Divide,
        Binary::Remainder => model::Binary::Remainder,
        Binary::BitAnd => model::Binary::And,
        Binary::BitXor => model::Binary::Xor,
        Binary::BitOr => model::Binary::Or,
        Binary::ShiftLeft => model::Binary::ShiftLeft,
        Binary::ShiftRight => model::Binary::ShiftRight,
        _ => return None,
    })
}

fn comparison(operator: Binary) -> Option<Compare> {
    Some(match operator {
        Binary::Equal => Compare::Equal,
        Binary::NotEqual => Compare::NotEqual,
        Binary::Less => Compare::Less,
        Binary::LessOrEqual => Compare::LessOrEqual,
        Binary::Greater => Compare::Greater,
        Binary::GreaterOrEqual => Compare::GreaterOrEqual,
        _ => return None,
    })
}
