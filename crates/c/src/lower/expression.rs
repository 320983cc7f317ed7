//! Expressions: values, effects, and conditions as control flow.

use super::place::{Target, place_of};
use super::{Writer, value_type};
use crate::check;
use crate::tree::{self, Binary, Call, Callee, Constant, Expression, Kind, Step, Unary, Update};
use crate::types;
use mazurka_model::{
    self as model, Access, Action, Compare, Expr, LocationId, MemoryOrder, Overflow, Place, Type,
    ViolationKind,
};

impl<'a> Writer<'_, 'a> {
    /// Evaluates an expression for what it does.
    pub(super) fn effect(&mut self, it: &'a Expression) {
        match &it.kind {
            Kind::Convert(inner) => self.effect(inner),
            // A struct that is not used is not read.
            Kind::Read(place) if !it.ty.is_scalar() => {
                self.at(it.span);
                self.memory(place);
            }
            Kind::Conditional(condition, then, otherwise) => {
                let (yes, no, end) = (self.to.location(), self.to.location(), self.to.location());
                self.branch(condition, yes, no);
                for (start, part) in [(yes, then), (no, otherwise)] {
                    self.to.go_on_from(start);
                    self.effect(part);
                    self.to.jump(end);
                }
                self.to.go_on_from(end);
            }
            Kind::And(left, right) | Kind::Or(left, right) => {
                let (more, end) = (self.to.location(), self.to.location());
                match it.kind {
                    Kind::And(..) => self.branch(left, more, end),
                    _ => self.branch(left, end, more),
                }
                self.to.go_on_from(more);
                self.effect(right);
                self.to.jump(end);
                self.to.go_on_from(end);
            }
            Kind::Comma(parts) => parts.iter().for_each(|part| self.effect(part)),
            Kind::Assign(place, value) if !place.ty.ty.is_scalar() => {
                self.assign_record(place, value);
            }
            Kind::Call(call) => {
                self.call(call, it);
            }
            Kind::Intrinsic(intrinsic, arguments) => {
                self.intrinsic(intrinsic, arguments, it);
            }
            Kind::Statements(statements, last) => {
                self.inner_statements(statements);
                last.iter().for_each(|last| self.effect(last));
            }
            _ if it.ty.is_scalar() => {
                self.value(it);
            }
            _ => {}
        }
    }

    /// The value of a scalar expression. What has to run for it is written before.
    pub(super) fn value(&mut self, it: &'a Expression) -> Expr {
        if let Some(constant) = check::fold(it).filter(|_| it.ty.is_scalar())
            && let Some(constant) = self.constant(constant, &it.ty)
        {
            return constant;
        }
        let ty = value_type(&it.ty);
        match &it.kind {
            Kind::Int(value) => Expr::int(ty, *value),
            Kind::Float(value) => float(*value, ty),
            Kind::Function(id) => Expr::Routine(self.all.routine(*id)),
            Kind::Address(place) => {
                let (place, _) = self.memory(place);
                address(place)
            }
            Kind::Read(place) => {
                let target = self.target(place);
                self.at(it.span);
                self.read(&target)
            }
            Kind::Convert(inner) => self.conversion(inner, &it.ty),
            Kind::Unary(operator, inner) => self.unary(*operator, inner, it),
            Kind::Binary(operator, left, right) => {
                let left = self.value(left);
                let right = self.value(right);
                self.at(it.span);
                self.binary(*operator, left, right, &it.ty)
            }
            Kind::Advance(base, index, size) => {
                let base = self.value(base);
                let index = self.value(index);
                offset(base, scaled(index, *size))
            }
            Kind::Index(index, limit) => {
                let index = self.value(index);
                let index = self.small(index);
                self.at(it.span);
                // Below zero is beyond every limit.
                let number = index.clone().convert(Type::U64);
                let limit = Expr::int(Type::U64, *limit as i64);
                let is_within = Expr::compare(Compare::Less, number, limit);
                let message = "an index is outside of its array";
                self.check(is_within, ViolationKind::Memory, message);
                index
            }
            Kind::Distance(left, right, size) => {
                let left = self.value(left).convert(Type::I64);
                let right = self.value(right).convert(Type::I64);
                let bytes = Expr::binary(model::Binary::Subtract, left, right);
                Expr::binary(model::Binary::Divide, bytes, Expr::int(Type::I64, *size as i64))
            }
            Kind::And(..) | Kind::Or(..) => {
                let (yes, no) = (self.to.location(), self.to.location());
                self.branch(it, yes, no);
                let one = |_: &mut Self| Expr::int(ty, 1);
                self.joined(ty, yes, one, no, |_| Expr::int(ty, 0))
            }
            Kind::Conditional(condition, then, otherwise) => {
                let (yes, no) = (self.to.location(), self.to.location());
                self.branch(condition, yes, no);
                self.joined(ty, yes, |this| this.value(then), no, |this| this.value(otherwise))
            }
            Kind::Elvis(value, otherwise) => {
                let value = self.value(value);
                let value = self.small(value);
                let (yes, no) = (self.to.location(), self.to.location());
                self.part(value.clone().is_true(), yes, no);
                self.joined(ty, yes, |_| value, no, |this| this.value(otherwise))
            }
            Kind::Comma(parts) => {
                let (last, first) = parts.split_last().expect("a comma has two sides");
                first.iter().for_each(|part| self.effect(part));
                self.value(last)
            }
            Kind::Assign(place, value) => {
                let target = self.target(place);
                let value = self.value(value);
                self.at(it.span);
                self.write(&target, value)
            }
            Kind::Update(update) => self.update(update, it),
            Kind::Call(call) => self.call(call, it).unwrap_or(Expr::Const { ty, bits: 0 }),
            Kind::Intrinsic(intrinsic, arguments) => {
                let value = self.intrinsic(intrinsic, arguments, it);
                value.unwrap_or(Expr::Const { ty, bits: 0 })
            }
            Kind::Statements(statements, last) => {
                self.inner_statements(statements);
                match last {
                    Some(last) => self.value(last),
                    None => Expr::Const { ty, bits: 0 },
                }
            }
        }
    }

    /// Where a struct is that an expression stands for.
    pub(super) fn record(&mut self, it: &'a Expression) -> Place {
        match &it.kind {
            Kind::Read(place) => self.memory(place).0,
            Kind::Assign(place, value) => self.assign_record(place, value),
            Kind::Call(call) => {
                self.call(call, it);
                let id = call.result.expect("a struct comes back somewhere");
                self.local_place(id)
            }
            Kind::Comma(parts) => {
                let (last, first) = parts.split_last().expect("a comma has two sides");
                first.iter().for_each(|part| self.effect(part));
                self.record(last)
            }
            Kind::Conditional(condition, then, otherwise) => {
                let (yes, no) = (self.to.location(), self.to.location());
                self.branch(condition, yes, no);
                let pointer = |part: &'a Expression| {
                    move |this: &mut Self| {
                        let place = this.record(part);
                        address(place)
                    }
                };
                Place::pointer(self.joined(
                    Type::Pointer,
                    yes,
                    pointer(then),
                    no,
                    pointer(otherwise),
                ))
            }
            Kind::Statements(statements, Some(last)) => {
                self.inner_statements(statements);
                self.record(last)
            }
            _ => Place::pointer(Expr::null()),
        }
    }

    fn local_place(&self, id: tree::LocalId) -> Place {
        match &self.context.variables[id.0] {
            super::statement::Variable::Memory(place) => place.clone(),
            _ => unreachable!("a struct is in memory"),
        }
    }

    fn assign_record(&mut self, place: &'a tree::Place, value: &'a Expression) -> Place {
        let (to, is_private) = self.memory(place);
        let from = self.record(value);
        self.at(place.span);
        let local = match place.base {
            tree::Base::Local(id) if is_private => id.0,
            _ => usize::MAX,
        };
        self.copy_record(&place.ty.ty, to.clone(), from, local);
        to
    }

    /// Goes on at `yes` or at `no`.
    pub(super) fn branch(&mut self, it: &'a Expression, yes: LocationId, no: LocationId) {
        if let Some(Constant::Int(value)) = check::fold(it) {
            self.to.jump(if value != 0 { yes } else { no });
            return;
        }
        match &it.kind {
            Kind::And(left, right) => {
                let more = self.to.location();
                self.branch(left, more, no);
                self.to.go_on_from(more);
                self.branch(right, yes, no);
            }
            Kind::Or(left, right) => {
                let more = self.to.location();
                self.branch(left, yes, more);
                self.to.go_on_from(more);
                self.branch(right, yes, no);
            }
            Kind::Unary(Unary::Not, inner) => self.branch(inner, no, yes),
            Kind::Binary(operator, left, right) if operator.is_comparison() => {
                let zero = matches!(check::fold(right), Some(Constant::Int(0)));
                if zero && *operator == Binary::NotEqual && is_truth(left) {
                    return self.branch(left, yes, no);
                }
                let left = self.value(left);
                let right = self.value(right);
                self.at(it.span);
                self.part(compare(*operator, left, right), yes, no);
            }
            _ => {
                let value = self.value(it);
                self.at(it.span);
                match value.as_const() {
                    Some(bits) => self.to.jump(if bits != 0 { yes } else { no }),
                    None => self.part(value.is_true(), yes, no),
                }
            }
        }
    }

    fn part(&mut self, condition: Expr, yes: LocationId, no: LocationId) {
        if let Some(is_true) = known(&condition) {
            return self.to.jump(if is_true { yes } else { no });
        }
        let here = self.to.here();
        self.to.edge(here, Some(condition), Action::Skip, yes);
        self.to.edge(here, None, Action::Skip, no);
        let unused = self.to.location();
        self.to.go_on_from(unused);
    }

    /// The value that is computed on one of two ways.
    fn joined(
        &mut self,
        ty: Type,
        yes: LocationId,
        then: impl FnOnce(&mut Self) -> Expr,
        no: LocationId,
        otherwise: impl FnOnce(&mut Self) -> Expr,
    ) -> Expr {
        let register = self.temporary(ty);
        let end = self.to.location();
        self.to.go_on_from(yes);
        let value = then(self);
        self.to.assign(register, value);
        self.to.jump(end);
        self.to.go_on_from(no);
        let value = otherwise(self);
        self.to.assign(register, value);
        self.to.jump(end);
        self.to.go_on_from(end);
        self.to.get(register)
    }

    /// A value that costs nothing to have twice.
    pub(super) fn small(&mut self, value: Expr) -> Expr {
        if matches!(value, Expr::Const { .. } | Expr::Register { .. }) {
            return value;
        }
        let register = self.temporary(value.ty());
        self.to.assign(register, value);
        self.to.get(register)
    }

    fn constant(&mut self, value: Constant, ty: &types::Type) -> Option<Expr> {
        let ty = value_type(ty);
        Some(match value {
            Constant::Int(value) => Expr::int(ty, value),
            Constant::Float(value) => float(value, ty),
            Constant::Address(id, bytes) => {
                let object = self.all.object(id);
                let place = Place::object(object).plus(Expr::int(Type::I64, bytes));
                address(place).convert(ty)
            }
            Constant::Function(id) => Expr::Routine(self.all.routine(id)).convert(ty),
        })
    }

    fn conversion(&mut self, inner: &'a Expression, to: &types::Type) -> Expr {
        if *to == types::Type::Void {
            self.effect(inner);
            return Expr::int(Type::I32, 0);
        }
        // `(struct s *) malloc(n)` says what is allocated.
        if let (Some(target), Kind::Call(call)) = (to.target(), &inner.kind)
            && self.is_library(&call.callee)
            && target.ty != types::Type::Void
        {
            self.hint = Some(self.all.layout(&target.ty));
            let value = self.value(inner);
            self.hint = None;
            return value;
        }
        let value = self.value(inner);
        converted(value, to)
    }

    fn is_library(&self, callee: &Callee) -> bool {
        matches!(callee, Callee::Function(id) if self.all.tree.functions[id.0].is_library)
    }

    fn unary(&mut self, operator: Unary, inner: &'a Expression, it: &'a Expression) -> Expr {
        let ty = value_type(&it.ty);
        match operator {
            Unary::Not => {
                let value = self.value(inner);
                value.is_true().negated().convert(ty)
            }
            Unary::Complement => {
                let value = self.value(inner);
                Expr::unary(model::Unary::Not, value)
            }
            Unary::Minus => {
                let value = self.value(inner);
                self.at(it.span);
                if ty.is_signed() && ty.is_int() && self.all.options.overflow {
                    let value = self.small(value);
                    let zero = Expr::int(ty, 0);
                    self.no_overflow(Overflow::Subtract, zero, value.clone(), "a negation");
                    return Expr::unary(model::Unary::Negate, value);
                }
                Expr::unary(model::Unary::Negate, value)
            }
        }
    }

    /// An operator on two values of one type, with what must hold for it.
    pub(super) fn binary(
        &mut self,
        operator: Binary,
        left: Expr,
        right: Expr,
        result: &types::Type,
    ) -> Expr {
        if operator.is_comparison() {
            return compare(operator, left, right).convert(value_type(result));
        }
        let ty = left.ty();
        let model_operator = plain(operator);
        if !ty.is_int() {
            return Expr::binary(model_operator, left, right);
        }
        let (left, right) = match operator {
            Binary::And | Binary::Or | Binary::Xor => (left, right),
            Binary::Divide | Binary::Remainder => self.checked_division(left, right),
            Binary::ShiftLeft | Binary::ShiftRight => self.checked_shift(operator, left, right),
            _ if !ty.is_signed() || !self.all.options.overflow => (left, right),
            _ => {
                let (overflow, what) = match operator {
                    Binary::Add => (Overflow::Add, "a sum"),
                    Binary::Subtract => (Overflow::Subtract, "a difference"),
                    _ => (Overflow::Multiply, "a product"),
                };
                let (left, right) = (self.small(left), self.small(right));
                self.no_overflow(overflow, left.clone(), right.clone(), what);
                (left, right)
            }
        };
        Expr::binary(model_operator, left, right)
    }

    fn checked_division(&mut self, left: Expr, right: Expr) -> (Expr, Expr) {
        let ty = left.ty();
        let known = right.as_const().map(|bits| bits as i64);
        let (left, right) = (self.small(left), self.small(right));
        if matches!(known, None | Some(0)) {
            let zero = Expr::int(ty, 0);
            let condition = Expr::compare(Compare::NotEqual, right.clone(), zero);
            self.check(condition, ViolationKind::Panic, "a division by zero");
        }
        if ty.is_signed() && self.all.options.overflow && matches!(known, None | Some(-1)) {
            self.no_overflow(Overflow::Divide, left.clone(), right.clone(), "a quotient");
        }
        (left, right)
    }

    fn checked_shift(&mut self, operator: Binary, left: Expr, right: Expr) -> (Expr, Expr) {
        if !self.all.options.overflow {
            return (left, right);
        }
        let ty = left.ty();
        let (left, right) = (self.small(left), self.small(right));
        let bits = i64::from(ty.bits());
        let is_fine = right.as_const().is_some_and(|by| (0..bits).contains(&(by as i64)));
        if !is_fine {
            let zero = Expr::int(right.ty(), 0);
            let width = Expr::int(right.ty(), bits);
            let not_less = Expr::compare(Compare::GreaterOrEqual, right.clone(), zero);
            let not_more = Expr::compare(Compare::Less, right.clone(), width);
            let condition = not_less.and(not_more);
            self.check(condition, ViolationKind::Overflow, "a shift by more than the type is wide");
        }
        if operator == Binary::ShiftLeft && ty.is_signed() {
            let by = right.clone().convert(ty);
            self.no_overflow(Overflow::ShiftLeft, left.clone(), by, "a shift");
        }
        (left, right)
    }

    fn no_overflow(&mut self, operation: Overflow, left: Expr, right: Expr, what: &str) {
        let ty = left.ty();
        let condition = Expr::overflows(operation, left, right).negated();
        let message = format!("{what} does not fit into {} bits with a sign", ty.bits());
        self.check(condition, ViolationKind::Overflow, &message);
    }

    pub(super) fn check(&mut self, condition: Expr, kind: ViolationKind, message: &str) {
        self.to.then(Action::Check { condition, kind, message: message.to_owned() });
    }

    fn update(&mut self, update: &'a Update, it: &'a Expression) -> Expr {
        let target = self.target(&update.place);
        let (is_atomic, ty) = match &target {
            Target::Memory(memory) => {
                let is_seen =
                    matches!(memory.access, Access::Atomic(_)) && update.place.ty.is_atomic;
                (is_seen && update.place.bits.is_none(), value_type(&update.place.ty.ty))
            }
            _ => (false, value_type(&update.place.ty.ty)),
        };
        let by = match &update.step {
            Step::Binary(_, _, by) => self.value(by),
            Step::Advance(by, size) => {
                let index = self.value(by);
                scaled(index, *size)
            }
        };
        self.at(it.span);
        if is_atomic {
            return self.atomic_update(update, &target, by, ty);
        }
        let old = self.read(&target);
        let old = if update.is_post { self.copied(old) } else { old };
        let new = self.stepped(update, old.clone(), by);
        let new = self.write(&target, new);
        if update.is_post { old } else { new }
    }

    /// A value in a register of its own: the one it came from is about to change.
    fn copied(&mut self, value: Expr) -> Expr {
        let register = self.temporary(value.ty());
        self.to.assign(register, value);
        self.to.get(register)
    }

    fn stepped(&mut self, update: &'a Update, old: Expr, by: Expr) -> Expr {
        match &update.step {
            Step::Advance(..) => offset(old, by),
            Step::Binary(operator, computing, _) => {
                let left = converted(old, computing);
                let new = self.binary(*operator, left, by, computing);
                converted(new, &update.place.ty.ty)
            }
        }
    }

    /// `x += y` on an atomic `x`: in one step.
    fn atomic_update(&mut self, update: &'a Update, target: &Target, by: Expr, ty: Type) -> Expr {
        let Target::Memory(memory) = target else { unreachable!("registers are not atomic") };
        let on = memory.place.clone();
        let simple = match &update.step {
            Step::Advance(..) => Some(model::Update::Add),
            Step::Binary(operator, ..) if ty.is_int() && ty != Type::BOOL => match operator {
                Binary::Add => Some(model::Update::Add),
                Binary::Subtract => Some(model::Update::Subtract),
                Binary::And => Some(model::Update::And),
                Binary::Or => Some(model::Update::Or),
                Binary::Xor => Some(model::Update::Xor),
                _ => None,
            },
            Step::Binary(..) => None,
        };
        if let Some(change) = simple {
            let value = self.small(by.convert(ty));
            let old = self.temporary(ty);
            self.to.then(Action::Modify {
                old: Some(old),
                on,
                update: change,
                value: value.clone(),
                order: MemoryOrder::SequentiallyConsistent,
            });
            let old = self.to.get(old);
            if update.is_post {
                return old;
            }
            let operator = match change {
                model::Update::Subtract => model::Binary::Subtract,
                model::Update::And => model::Binary::And,
                model::Update::Or => model::Binary::Or,
                model::Update::Xor => model::Binary::Xor,
                _ => model::Binary::Add,
            };
            return match ty {
                Type::Pointer => offset(old, value.convert(Type::I64)),
                _ => Expr::binary(operator, old, value),
            };
        }
        // Again and again, until no other thread comes in between.
        let by = self.small(by);
        let again = self.to.location();
        self.to.jump(again);
        self.to.go_on_from(again);
        let old = self.load(&on, ty, Access::ATOMIC);
        let new = self.stepped(update, old.clone(), by);
        let new = self.copied(new);
        let success = self.temporary(Type::BOOL);
        self.to.then(Action::CompareExchange {
            success: Some(success),
            old: None,
            on,
            expected: old.clone(),
            new: new.clone(),
            order: MemoryOrder::SequentiallyConsistent,
            failure: MemoryOrder::SequentiallyConsistent,
        });
        let end = self.to.location();
        let success = self.to.get(success);
        self.part(success, end, again);
        self.to.go_on_from(end);
        if update.is_post { old } else { new }
    }

    fn call(&mut self, call: &'a Call, it: &'a Expression) -> Option<Expr> {
        let tree = self.all.tree;
        let mut arguments = Vec::new();
        let callee = match &call.callee {
            Callee::Function(id) => Some(*id),
            Callee::Pointer(pointer) => {
                let pointer = self.value(pointer);
                arguments.push(self.small(pointer));
                None
            }
        };
        let hint = self.hint.take();
        for argument in &call.arguments {
            arguments.push(match argument.ty.is_scalar() {
                true => self.value(argument),
                false => {
                    let place = self.record(argument);
                    address(place)
                }
            });
        }
        self.hint = hint;
        let Some(id) = callee else {
            self.at(it.span);
            let pointer = arguments.remove(0);
            if arguments.is_empty() {
                arguments.push(Expr::null());
            }
            return self.call_routine(model::Callee::Pointer(pointer), arguments, call, it);
        };
        let function = &tree.functions[id.0];
        let Some(body) = &function.body else {
            self.at(it.span);
            return self.without_body(function);
        };
        if function.is_library {
            // What is in a library function is shown where the user calls it.
            let before = self.call_place;
            if before.is_none() {
                self.call_place = Some(self.all.place(it.span));
            }
            self.at(it.span);
            let value = self.inline(id, body, arguments);
            self.call_place = before;
            return value;
        }
        self.at(it.span);
        // What a call has more is `...`, or meant for parameters that only a prototype has.
        arguments.truncate(body.n_parameters);
        if body.n_parameters == 0 && self.all.has_address[id.0] {
            arguments = vec![Expr::null()];
        }
        let routine = self.all.routine(id);
        self.call_routine(model::Callee::Routine(routine), arguments, call, it)
    }

    fn call_routine(
        &mut self,
        callee: model::Callee,
        mut arguments: Vec<Expr>,
        call: &'a Call,
        it: &'a Expression,
    ) -> Option<Expr> {
        if let Some(id) = call.result {
            let place = self.local_place(id);
            arguments.insert(0, address(place));
        }
        let to = match it.ty.is_scalar() {
            true => Some(self.temporary(value_type(&it.ty))),
            false => None,
        };
        self.to.then(Action::Call { callee, arguments, to });
        to.map(|register| self.to.get(register))
    }

    /// The place that an argument points to.
    pub(super) fn pointed(&mut self, it: &'a Expression) -> Place {
        let pointer = self.value(it);
        place_of(pointer)
    }
}

/// The pointer to a place.
pub(super) fn address(place: Place) -> Expr {
    match place.base {
        model::Base::Pointer(pointer) => offset(pointer, place.offset),
        _ => Expr::Address(Box::new(place)),
    }
}

/// A pointer moved by bytes.
pub(super) fn offset(pointer: Expr, bytes: Expr) -> Expr {
    if bytes.as_const() == Some(0) {
        return pointer;
    }
    match pointer {
        Expr::Address(place) => Expr::Address(Box::new(place.plus(bytes))),
        other => Expr::Offset(Box::new(other), Box::new(bytes)),
    }
}

fn scaled(index: Expr, size: u64) -> Expr {
    let index = index.convert(Type::I64);
    match index.as_const() {
        Some(bits) => Expr::int(Type::I64, (bits as i64).wrapping_mul(size as i64)),
        None if size == 1 => index,
        None => Expr::binary(model::Binary::Multiply, index, Expr::int(Type::I64, size as i64)),
    }
}

/// A value as another type of C.
pub(super) fn converted(value: Expr, to: &types::Type) -> Expr {
    match to {
        types::Type::Int(types::Int::Bool) => value.is_true(),
        _ => value.convert(value_type(to)),
    }
}

fn float(value: f64, ty: Type) -> Expr {
    let bits = match ty {
        Type::Float32 => u64::from((value as f32).to_bits()),
        _ => value.to_bits(),
    };
    Expr::Const { ty, bits }
}

fn compare(operator: Binary, left: Expr, right: Expr) -> Expr {
    let operator = match operator {
        Binary::Equal => Compare::Equal,
        Binary::NotEqual => Compare::NotEqual,
        Binary::Less => Compare::Less,
        Binary::LessOrEqual => Compare::LessOrEqual,
        Binary::Greater => Compare::Greater,
        _ => Compare::GreaterOrEqual,
    };
    Expr::compare(operator, left, right)
}

fn plain(operator: Binary) -> model::Binary {
    match operator {
        Binary::Add => model::Binary::Add,
        Binary::Subtract => model::Binary::Subtract,
        Binary::Multiply => model::Binary::Multiply,
        Binary::Divide => model::Binary::Divide,
        Binary::Remainder => model::Binary::Remainder,
        Binary::ShiftLeft => model::Binary::ShiftLeft,
        Binary::ShiftRight => model::Binary::ShiftRight,
        Binary::And => model::Binary::And,
        Binary::Or => model::Binary::Or,
        _ => model::Binary::Xor,
    }
}

/// Whether a condition holds, where that is known: arguments of library functions often are.
fn known(condition: &Expr) -> Option<bool> {
    let Expr::Compare(operator, left, right) = condition else {
        return condition.as_const().map(|bits| bits != 0);
    };
    let is_place = |it: &Expr| matches!(it, Expr::Address(_) | Expr::Routine(_));
    match (left.as_const(), right.as_const(), operator) {
        (Some(left_bits), Some(right_bits), _) => {
            Some(model::compare(*operator, left.ty(), left_bits, right_bits))
        }
        (None, Some(0), Compare::Equal) if is_place(left) => Some(false),
        (None, Some(0), Compare::NotEqual) if is_place(left) => Some(true),
        _ => None,
    }
}

/// Whether an expression is 0 or 1 by its nature.
fn is_truth(it: &Expression) -> bool {
    match &it.kind {
        Kind::Binary(operator, ..) => operator.is_comparison(),
        Kind::Unary(Unary::Not, _) | Kind::And(..) | Kind::Or(..) => true,
        _ => false,
    }
}
