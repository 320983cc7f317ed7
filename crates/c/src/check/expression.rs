//! Expressions: their types, the conversions between them, and the places they name.

use super::{Checked, Checker, Name, all, pointer};
use crate::tokens;
use crate::tree::{
    Base, Binary, Call, Callee, Expression, FunctionId, Kind, Place, Statement, Step, Unary, Update,
};
use crate::types::{Field, Int, Qualified, Signature, Type};
use lang_c::ast::{self, BinaryOperator, UnaryOperator};
use lang_c::span::Node;
use mazurka_source::Span;
use std::rc::Rc;

/// What an expression of C is before it is used: a place, or a value.
#[derive(Debug)]
pub(super) enum Operand {
    Place(Place),
    Value(Expression),
}

impl<'a> Checker<'a> {
    /// An expression as a value: places are read, arrays and functions are addresses.
    pub(super) fn expression(&mut self, it: &'a Node<ast::Expression>) -> Checked<Expression> {
        let operand = self.operand(it)?;
        self.value(operand)
    }

    pub(super) fn value(&mut self, operand: Operand) -> Checked<Expression> {
        let place = match operand {
            Operand::Value(value) => return Ok(value),
            Operand::Place(place) => place,
        };
        let span = place.span;
        self.refuse_foreign(&place.ty.ty, span)?;
        Ok(match place.ty.ty.clone() {
            Type::Array(element, _) => {
                let mut address = self.address(place);
                address.ty = Type::Pointer(element);
                address
            }
            Type::Function(_) => self.address(place),
            ty => Expression { kind: Kind::Read(Box::new(place)), ty, span },
        })
    }

    /// The address of a place.
    fn address(&mut self, place: Place) -> Expression {
        let (ty, span) = (pointer(&place.ty), place.span);
        match place.base {
            Base::Local(id) => self.used_local(id),
            // `&*p` and `&p[0]` read nothing.
            Base::Pointer(inner) if place.offset == 0 => return Expression { ty, span, ..*inner },
            _ => {}
        }
        Expression { kind: Kind::Address(Box::new(place)), ty, span }
    }

    /// The type of an expression that is not evaluated.
    pub(super) fn type_of(&mut self, it: &'a Node<ast::Expression>) -> Checked<Qualified> {
        Ok(match self.operand(it)? {
            Operand::Place(place) => place.ty,
            Operand::Value(value) => Qualified::plain(value.ty),
        })
    }

    pub(super) fn operand(&mut self, it: &'a Node<ast::Expression>) -> Checked<Operand> {
        use ast::Expression as E;
        let span = self.span(it.span);
        match &it.node {
            E::Identifier(name) => self.name(&name.node.name, span),
            E::Constant(constant) => self.literal(&constant.node, span).map(Operand::Value),
            E::StringLiteral(parts) => {
                let (bytes, element) = self.string_bytes(&parts.node, span)?;
                let id = self.string(bytes, element, span);
                let ty = self.tree.globals[id.0].ty.clone();
                Ok(Operand::Place(Place {
                    base: Base::Global(id),
                    offset: 0,
                    ty,
                    bits: None,
                    span,
                }))
            }
            E::GenericSelection(it) => self.generic(&it.node, span),
            E::Member(it) => self.member(&it.node, span),
            E::Call(it) => self.call(&it.node, span).map(Operand::Value),
            E::CompoundLiteral(it) => self.compound_literal(&it.node, span),
            E::SizeOfTy(it) => {
                let ty = self.type_name(&it.node.0)?;
                self.size(&ty.ty, span)
            }
            E::SizeOfVal(it) => {
                let ty = self.type_of(&it.node.0)?;
                self.size(&ty.ty, span)
            }
            E::AlignOf(it) => {
                let ty = self.type_name(&it.node.0)?;
                let align = self.tree.records.align(&ty.ty);
                Ok(Operand::Value(number(align as i64, Type::SIZE, span)))
            }
            E::UnaryOperator(it) => self.unary(&it.node, span),
            E::Cast(it) => {
                let ty = self.type_name(&it.node.type_name)?.ty;
                let value = match self.shortened(&it.node.expression, &ty) {
                    Some(value) => value,
                    None => self.expression(&it.node.expression)?,
                };
                self.convert(value, &ty, span).map(Operand::Value)
            }
            E::BinaryOperator(it) => self.binary(&it.node, span),
            E::Conditional(it) => self.conditional(&it.node, span).map(Operand::Value),
            E::Comma(parts) => {
                let parts = all(parts.iter().map(|it| self.expression(it)))?;
                let ty = parts.last().map_or(Type::Void, |last| last.ty.clone());
                Ok(Operand::Value(Expression { kind: Kind::Comma(parts), ty, span }))
            }
            E::OffsetOf(it) => self.offset_of(&it.node, span),
            E::VaArg(_) => Err(self.unsupported(span, "`va_arg`")),
            E::Statement(it) => self.statement_expression(it, span).map(Operand::Value),
        }
    }

    fn name(&mut self, name: &str, span: Span) -> Checked<Operand> {
        let place = |base, ty| Operand::Place(Place { base, offset: 0, ty, bits: None, span });
        Ok(match self.lookup(name) {
            Some(Name::Local(id)) => {
                place(Base::Local(id), self.frame.body.locals[id.0].ty.clone())
            }
            Some(Name::Global(id)) => {
                self.used.push((id, span));
                place(Base::Global(id), self.tree.globals[id.0].ty.clone())
            }
            Some(Name::Function(id)) => {
                let function = &self.tree.functions[id.0];
                let ty = Type::pointer_to(Type::Function(Rc::clone(&function.signature)));
                self.need(id, Some(span));
                Operand::Value(Expression { kind: Kind::Function(id), ty, span })
            }
            Some(Name::Enumerator(value, ty)) => Operand::Value(number(value, ty, span)),
            Some(Name::Type(_)) => return Err(self.invalid(span, format!("`{name}` is a type"))),
            None if matches!(name, "__func__" | "__FUNCTION__" | "__PRETTY_FUNCTION__") => {
                let mut bytes = tokens::spelled(&self.frame.name).into_owned().into_bytes();
                bytes.push(0);
                let id = self.string(bytes, Int::Char, span);
                place(Base::Global(id), self.tree.globals[id.0].ty.clone())
            }
            None => return Err(self.invalid(span, format!("`{name}` is not declared"))),
        })
    }

    fn size(&mut self, ty: &Type, span: Span) -> Checked<Operand> {
        let size = self.size_of(ty, span)?;
        Ok(Operand::Value(number(size as i64, Type::SIZE, span)))
    }

    fn generic(&mut self, it: &'a ast::GenericSelection, span: Span) -> Checked<Operand> {
        let wanted = self.expression(&it.expression)?.ty;
        let mut default = None;
        for association in &it.associations {
            match &association.node {
                ast::GenericAssociation::Type(it) => {
                    if self.type_name(&it.node.type_name)?.ty.is_selected_by(&wanted) {
                        return self.operand(&it.node.expression);
                    }
                }
                ast::GenericAssociation::Default(it) => default = Some(it),
            }
        }
        match default {
            Some(it) => self.operand(it),
            None => Err(self.invalid(span, "no type of the selection fits")),
        }
    }

    fn member(&mut self, it: &'a ast::MemberExpression, span: Span) -> Checked<Operand> {
        let name = &it.identifier.node.name;
        let record = match it.operator.node {
            ast::MemberOperator::Direct => match self.operand(&it.expression)? {
                Operand::Place(place) => place,
                Operand::Value(value) => {
                    let ty = Qualified::plain(value.ty.clone());
                    Place { base: Base::Value(Box::new(value)), offset: 0, ty, bits: None, span }
                }
            },
            ast::MemberOperator::Indirect => {
                let value = self.expression(&it.expression)?;
                self.target(value, span)?
            }
        };
        let Type::Record(id) = record.ty.ty else {
            return Err(self.invalid(span, format!("`{name}` of what is no struct")));
        };
        match self.tree.records.field(id, name) {
            Some(field) => self.field_place(record, &field, span).map(Operand::Place),
            None => Err(self.invalid(span, format!("there is no member `{name}`"))),
        }
    }

    /// A member of a struct that is at a place.
    pub(super) fn field_place(&mut self, of: Place, field: &Field, span: Span) -> Checked<Place> {
        if field.bits.is_some_and(|bits| bits.is_shared) {
            let name = field.name.as_deref().unwrap_or_default();
            let what = format!("the bit-field `{name}`, which has no bytes of its own,");
            return Err(self.unsupported(span, what));
        }
        let ty = Qualified {
            ty: field.ty.ty.clone(),
            is_atomic: field.ty.is_atomic,
            is_volatile: field.ty.is_volatile || of.ty.is_volatile,
            is_const: field.ty.is_const || of.ty.is_const,
        };
        Ok(Place { offset: of.offset + field.offset, ty, bits: field.bits, span, ..of })
    }

    /// What a pointer points to.
    pub(super) fn target(&mut self, value: Expression, span: Span) -> Checked<Place> {
        let Some(target) = value.ty.target().cloned() else {
            return Err(self.invalid(span, "what is no pointer points to nothing"));
        };
        let ty = (*target).clone();
        // `*&x` is `x`, which may be a register.
        if let Kind::Address(place) = value.kind {
            return Ok(Place { ty, span, ..*place });
        }
        Ok(Place { base: Base::Pointer(Box::new(value)), offset: 0, ty, bits: None, span })
    }

    fn compound_literal(&mut self, it: &'a ast::CompoundLiteral, span: Span) -> Checked<Operand> {
        let ty = self.type_name(&it.type_name)?;
        if self.is_file_scope() {
            let id = self.global(crate::tree::Global {
                name: "literal".to_owned(),
                ty,
                is_thread_local: false,
                is_defined: true,
                initial: Vec::new(),
                span,
            });
            self.initialise_global_list(id, &it.initializer_list, span)?;
            let ty = self.tree.globals[id.0].ty.clone();
            let base = Base::Global(id);
            return Ok(Operand::Place(Place { base, offset: 0, ty, bits: None, span }));
        }
        let id = self.local("literal", ty, span);
        let mut statements = Vec::new();
        self.initialise_local_list(id, &it.initializer_list, span, &mut statements)?;
        let ty = self.frame.body.locals[id.0].ty.clone();
        let place = Place { base: Base::Local(id), offset: 0, ty, bits: None, span };
        // The value is what the address of the new object points to.
        let address = self.address(place);
        let ty = address.ty.clone();
        let kind = Kind::Statements(statements, Some(Box::new(address)));
        self.target(Expression { kind, ty, span }, span).map(Operand::Place)
    }

    fn unary(&mut self, it: &'a ast::UnaryOperatorExpression, span: Span) -> Checked<Operand> {
        let value = match it.operator.node {
            UnaryOperator::Address => match self.addressed(&it.operand)? {
                Operand::Place(place) => self.address(place),
                // The address of a function is what its name is already.
                Operand::Value(value) => value,
            },
            UnaryOperator::Indirection => {
                if let Some(sum) = as_binary(&it.operand, &BinaryOperator::Plus) {
                    return self.element(sum, 0, span).map(Operand::Place);
                }
                let value = self.expression(&it.operand)?;
                if matches!(value.ty.target(), Some(it) if matches!(it.ty, Type::Function(_))) {
                    return Ok(Operand::Value(value));
                }
                return self.target(value, span).map(Operand::Place);
            }
            UnaryOperator::PostIncrement => self.step(&it.operand, Binary::Add, true, span)?,
            UnaryOperator::PostDecrement => self.step(&it.operand, Binary::Subtract, true, span)?,
            UnaryOperator::PreIncrement => self.step(&it.operand, Binary::Add, false, span)?,
            UnaryOperator::PreDecrement => self.step(&it.operand, Binary::Subtract, false, span)?,
            UnaryOperator::Plus => {
                let value = self.expression(&it.operand)?;
                self.promote(value, span)?
            }
            UnaryOperator::Minus => self.arithmetic(Unary::Minus, &it.operand, span)?,
            UnaryOperator::Complement => self.arithmetic(Unary::Complement, &it.operand, span)?,
            UnaryOperator::Negate => {
                let value = self.expression(&it.operand)?;
                let truth = self.truth(value)?;
                Expression { kind: Kind::Unary(Unary::Not, Box::new(truth)), ty: Type::INT, span }
            }
        };
        Ok(Operand::Value(value))
    }

    fn arithmetic(
        &mut self,
        operator: Unary,
        it: &'a Node<ast::Expression>,
        span: Span,
    ) -> Checked<Expression> {
        let value = self.expression(it)?;
        let value = self.promote(value, span)?;
        let ty = value.ty.clone();
        Ok(Expression { kind: Kind::Unary(operator, Box::new(value)), ty, span })
    }

    /// `++` and `--`.
    fn step(
        &mut self,
        it: &'a Node<ast::Expression>,
        operator: Binary,
        is_post: bool,
        span: Span,
    ) -> Checked<Expression> {
        let place = self.place(it)?;
        let one = number(1, Type::INT, span);
        let mut update = self.update(place, operator, one, span)?;
        if let Kind::Update(update) = &mut update.kind {
            update.is_post = is_post;
        }
        Ok(update)
    }

    /// Something that can be written to.
    pub(super) fn place(&mut self, it: &'a Node<ast::Expression>) -> Checked<Place> {
        let span = self.span(it.span);
        match self.operand(it)? {
            Operand::Place(place) => {
                self.refuse_foreign(&place.ty.ty, span)?;
                Ok(place)
            }
            Operand::Value(_) => Err(self.invalid(span, "a value has no place to write to")),
        }
    }

    /// `place op= by`.
    fn update(
        &mut self,
        place: Place,
        operator: Binary,
        by: Expression,
        span: Span,
    ) -> Checked<Expression> {
        let ty = place.ty.ty.clone();
        let step = match &ty {
            Type::Pointer(target) => {
                let size = self.size_of(&target.ty.clone(), span)?;
                let by = self.signed_index(by, operator == Binary::Subtract, span)?;
                Step::Advance(by, size)
            }
            _ => {
                let (computing, by) = match operator {
                    Binary::ShiftLeft | Binary::ShiftRight => {
                        (self.promoted_place(&place, span)?, self.promote(by, span)?)
                    }
                    _ => {
                        let by = self.promote(by, span)?;
                        let old = self.promoted_place(&place, span)?;
                        let common = self.common(&old, &by.ty.clone(), span)?;
                        let by = self.convert(by, &common, span)?;
                        (common, by)
                    }
                };
                Step::Binary(operator, computing, by)
            }
        };
        let update = Update { place, step, is_post: false };
        Ok(Expression { kind: Kind::Update(Box::new(update)), ty, span })
    }

    fn binary(&mut self, it: &'a ast::BinaryOperatorExpression, span: Span) -> Checked<Operand> {
        use BinaryOperator as B;
        let operator = match it.operator.node {
            B::Index => return self.element(it, 0, span).map(Operand::Place),
            B::LogicalAnd | B::LogicalOr => {
                let (left, right) = self.both(it)?;
                let (left, right) = (Box::new(self.truth(left)?), Box::new(self.truth(right)?));
                let kind = match it.operator.node {
                    B::LogicalAnd => Kind::And(left, right),
                    _ => Kind::Or(left, right),
                };
                return Ok(Operand::Value(Expression { kind, ty: Type::INT, span }));
            }
            B::Assign => {
                let (place, value) = (self.place(&it.lhs), self.expression(&it.rhs));
                return self.assign(place?, value?, span).map(Operand::Value);
            }
            ref other => match plain_operator(other) {
                (operator, false) => operator,
                (operator, true) => {
                    let (place, by) = (self.place(&it.lhs), self.expression(&it.rhs));
                    return self.update(place?, operator, by?, span).map(Operand::Value);
                }
            },
        };
        let (left, right) = self.both(it)?;
        self.combine(operator, left, right, span).map(Operand::Value)
    }

    /// What `&` is applied to. The address of the element behind the last one is fine.
    fn addressed(&mut self, it: &'a Node<ast::Expression>) -> Checked<Operand> {
        match as_binary(it, &BinaryOperator::Index) {
            Some(index) => {
                let span = self.span(it.span);
                self.element(index, 1, span).map(Operand::Place)
            }
            None => self.operand(it),
        }
    }

    /// `a[i]`, or `*(a + i)`; `2[a]` is `a[2]`. The index may be beyond the end by less than
    /// `beyond`.
    fn element(
        &mut self,
        it: &'a ast::BinaryOperatorExpression,
        beyond: u64,
        span: Span,
    ) -> Checked<Place> {
        let (left, right) = (self.operand(&it.lhs), self.operand(&it.rhs));
        let (left, right) = (left?, right?);
        let length = self.length_of_part(&left).or_else(|| self.length_of_part(&right));
        let (left, right) = (self.value(left)?, self.value(right)?);
        let (base, mut index) = if left.ty.is_pointer() { (left, right) } else { (right, left) };
        if let Some(length) = length {
            let ty = Type::Int(Int::Long);
            let within = Kind::Index(Box::new(self.convert(index, &ty, span)?), length + beyond);
            index = Expression { kind: within, ty, span };
        }
        let pointer = self.advance(base, index, false, span)?;
        self.target(pointer, span)
    }

    /// How many elements an array has that is a part of something larger. The machine knows where
    /// that ends, and not where the array does.
    fn length_of_part(&self, operand: &Operand) -> Option<u64> {
        let Operand::Place(place) = operand else { return None };
        let Type::Array(_, Some(length)) = place.ty.ty else { return None };
        let is_whole = match &place.base {
            Base::Local(id) => self.frame.body.locals[id.0].ty.ty == place.ty.ty,
            Base::Global(id) => self.tree.globals[id.0].ty.ty == place.ty.ty,
            // The last member of a struct may stand for a longer array, as it did before C99.
            Base::Pointer(_) => length == 1,
            Base::Value(_) => false,
        };
        // One without elements is not there for its own sake.
        (!is_whole && length > 0).then_some(length)
    }

    /// Both sides of an operator. What is wrong with the right one is told even if the left one is
    /// wrong already.
    fn both(&mut self, it: &'a ast::BinaryOperatorExpression) -> Checked<(Expression, Expression)> {
        let (left, right) = (self.expression(&it.lhs), self.expression(&it.rhs));
        Ok((left?, right?))
    }

    pub(super) fn assign(
        &mut self,
        place: Place,
        value: Expression,
        span: Span,
    ) -> Checked<Expression> {
        let ty = place.ty.ty.clone();
        let value = self.convert(value, &ty, span)?;
        Ok(Expression { kind: Kind::Assign(Box::new(place), Box::new(value)), ty, span })
    }

    /// A binary operator on two values.
    fn combine(
        &mut self,
        operator: Binary,
        left: Expression,
        right: Expression,
        span: Span,
    ) -> Checked<Expression> {
        let is_comparison = operator.is_comparison();
        let (left, right, ty) = match (left.ty.is_pointer(), right.ty.is_pointer(), operator) {
            (true, true, Binary::Subtract) => {
                let target = left.ty.target().expect("it is a pointer").ty.clone();
                let size = self.size_of(&target, span)?.max(1);
                let kind = Kind::Distance(Box::new(left), Box::new(right), size);
                return Ok(Expression { kind, ty: Type::Int(Int::Long), span });
            }
            (true, false, Binary::Add) => return self.advance(left, right, false, span),
            (false, true, Binary::Add) => return self.advance(right, left, false, span),
            (true, false, Binary::Subtract) => return self.advance(left, right, true, span),
            (true, _, _) if is_comparison => {
                let ty = left.ty.clone();
                let right = self.convert(right, &ty, span)?;
                (left, right, Type::INT)
            }
            (false, true, _) if is_comparison => {
                let ty = right.ty.clone();
                (self.convert(left, &ty, span)?, right, Type::INT)
            }
            (_, _, Binary::ShiftLeft | Binary::ShiftRight) => {
                let left = self.promote(left, span)?;
                let right = self.promote(right, span)?;
                let ty = left.ty.clone();
                (left, right, ty)
            }
            _ => {
                let left = self.promote(left, span)?;
                let right = self.promote(right, span)?;
                let common = self.common(&left.ty.clone(), &right.ty.clone(), span)?;
                let left = self.convert(left, &common, span)?;
                let right = self.convert(right, &common, span)?;
                (left, right, if is_comparison { Type::INT } else { common })
            }
        };
        let kind = Kind::Binary(operator, Box::new(left), Box::new(right));
        Ok(Expression { kind, ty, span })
    }

    /// A pointer moved by a number of elements.
    fn advance(
        &mut self,
        base: Expression,
        index: Expression,
        is_back: bool,
        span: Span,
    ) -> Checked<Expression> {
        let Some(target) = base.ty.target().cloned() else {
            return Err(self.invalid(span, "what is no pointer cannot be moved"));
        };
        let size = self.size_of(&target.ty, span)?;
        let index = self.signed_index(index, is_back, span)?;
        let ty = base.ty.clone();
        Ok(Expression { kind: Kind::Advance(Box::new(base), Box::new(index), size), ty, span })
    }

    fn signed_index(
        &mut self,
        index: Expression,
        is_back: bool,
        span: Span,
    ) -> Checked<Expression> {
        let ty = Type::Int(Int::Long);
        let index = self.convert(index, &ty, span)?;
        Ok(match is_back {
            false => index,
            true => Expression { kind: Kind::Unary(Unary::Minus, Box::new(index)), ty, span },
        })
    }

    fn conditional(
        &mut self,
        it: &'a ast::ConditionalExpression,
        span: Span,
    ) -> Checked<Expression> {
        let condition = self.expression(&it.condition);
        let is_elvis = matches!(&it.then_expression.node,
            ast::Expression::Identifier(name) if name.node.name == tokens::SAME);
        let then = if is_elvis { condition.clone() } else { self.expression(&it.then_expression) };
        let otherwise = self.expression(&it.else_expression);
        let (condition, then, otherwise) = (condition?, then?, otherwise?);
        let (then, otherwise) = match then.ty.is_arithmetic() && otherwise.ty.is_arithmetic() {
            true => (self.promote(then, span)?, self.promote(otherwise, span)?),
            false => (then, otherwise),
        };
        let ty = self.joined(&then, &otherwise, span)?;
        let then = Box::new(self.convert(then, &ty, span)?);
        let otherwise = Box::new(self.convert(otherwise, &ty, span)?);
        if is_elvis {
            return Ok(Expression { kind: Kind::Elvis(then, otherwise), ty, span });
        }
        let condition = Box::new(self.truth(condition)?);
        Ok(Expression { kind: Kind::Conditional(condition, then, otherwise), ty, span })
    }

    /// The type of `c ? then : otherwise` (C11 6.5.15).
    fn joined(&mut self, then: &Expression, otherwise: &Expression, span: Span) -> Checked<Type> {
        let (a, b) = (&then.ty, &otherwise.ty);
        if a.is_arithmetic() && b.is_arithmetic() {
            return self.common(a, b, span);
        }
        let is_null =
            |it: &Expression| matches!(super::fold(it), Some(crate::tree::Constant::Int(0)));
        let is_void_pointer = |ty: &Type| ty.target().is_some_and(|it| it.ty == Type::Void);
        Ok(match (a, b) {
            (Type::Void, _) | (_, Type::Void) => Type::Void,
            (Type::Pointer(_), _) if is_null(otherwise) => a.clone(),
            (_, Type::Pointer(_)) if is_null(then) => b.clone(),
            (Type::Pointer(_), Type::Pointer(_)) if is_void_pointer(b) => b.clone(),
            (Type::Pointer(_), _) => a.clone(),
            (_, Type::Pointer(_)) => b.clone(),
            _ => a.clone(),
        })
    }

    fn offset_of(&mut self, it: &'a ast::OffsetOfExpression, span: Span) -> Checked<Operand> {
        let mut ty = self.type_name(&it.type_name)?.ty;
        let mut offset = 0;
        let names = std::iter::once(&it.designator.node.base);
        let base: Vec<_> = names.map(|name| ast::OffsetMember::Member(name.clone())).collect();
        let rest = it.designator.node.members.iter().map(|member| &member.node);
        for member in base.iter().chain(rest) {
            match (member, &ty) {
                (
                    ast::OffsetMember::Member(name) | ast::OffsetMember::IndirectMember(name),
                    Type::Record(id),
                ) => {
                    let Some(field) = self.tree.records.field(*id, &name.node.name) else {
                        return Err(self.invalid(span, "there is no such member"));
                    };
                    offset += field.offset;
                    ty = field.ty.ty;
                }
                _ => return Err(self.unsupported(span, "`offsetof` an element of an array")),
            }
        }
        Ok(Operand::Value(number(offset as i64, Type::SIZE, span)))
    }

    fn statement_expression(
        &mut self,
        it: &'a Node<ast::Statement>,
        span: Span,
    ) -> Checked<Expression> {
        let mut statements = Vec::new();
        self.statement(it, &mut statements)?;
        let (last, ty) = match statements.pop() {
            Some(Statement::Expression(last)) if last.ty != Type::Void => {
                let ty = last.ty.clone();
                (Some(Box::new(last)), ty)
            }
            Some(other) => {
                statements.push(other);
                (None, Type::Void)
            }
            None => (None, Type::Void),
        };
        Ok(Expression { kind: Kind::Statements(statements, last), ty, span })
    }

    fn call(&mut self, it: &'a ast::CallExpression, span: Span) -> Checked<Expression> {
        if let ast::Expression::Identifier(name) = &it.callee.node {
            let name_span = self.span(name.span);
            let name = &name.node.name;
            if let Some(done) = self.builtin(name, &it.arguments, span) {
                return done;
            }
            let id = match self.lookup(name) {
                Some(Name::Function(id)) => Some(id),
                Some(_) => None,
                None => Some(self.implicit_function(name, name_span)),
            };
            if let Some(id) = id {
                self.need(id, Some(name_span));
                let signature = Rc::clone(&self.tree.functions[id.0].signature);
                return self.call_of(Callee::Function(id), &signature, &it.arguments, span);
            }
        }
        let callee = self.expression(&it.callee)?;
        let Some(signature) = callee.ty.signature() else {
            return Err(self.invalid(span, "what is no function is called"));
        };
        self.call_of(Callee::Pointer(callee), &signature, &it.arguments, span)
    }

    /// A function that was not declared: what it takes is not known, and it returns an `int`.
    fn implicit_function(&mut self, name: &str, span: Span) -> FunctionId {
        let signature = Signature {
            result: Type::INT,
            parameters: Vec::new(),
            is_variadic: false,
            is_unspecified: true,
        };
        self.function(name, Rc::new(signature), false, span)
    }

    pub(super) fn call_of(
        &mut self,
        callee: Callee,
        signature: &Rc<Signature>,
        arguments: &'a [Node<ast::Expression>],
        span: Span,
    ) -> Checked<Expression> {
        let values = all(arguments.iter().enumerate().map(|(idx, argument)| {
            let value = self.expression(argument)?;
            let span = value.span;
            match signature.parameters.get(idx) {
                Some(ty) => self.convert(value, &ty.clone(), span),
                None if value.ty == Type::Float => self.convert(value, &Type::Double, span),
                None if value.ty.as_int().is_some() => self.promote(value, span),
                None => Ok(value),
            }
        }))?;
        let ty = signature.result.clone();
        self.refuse_foreign(&ty, span)?;
        let result = match ty {
            Type::Record(_) => Some(self.local("result", Qualified::plain(ty.clone()), span)),
            _ => None,
        };
        let kind = Kind::Call(Box::new(Call { callee, arguments: values, result }));
        Ok(Expression { kind, ty, span })
    }

    /// A value as 0 or 1, by whether it is 0.
    pub(super) fn truth(&mut self, value: Expression) -> Checked<Expression> {
        let span = value.span;
        let is_truth = match &value.kind {
            Kind::Binary(operator, ..) => operator.is_comparison(),
            Kind::Unary(Unary::Not, _) | Kind::And(..) | Kind::Or(..) => true,
            _ => false,
        };
        if is_truth {
            return Ok(value);
        }
        let zero = match &value.ty {
            Type::Float | Type::Double => Kind::Float(0.0),
            Type::Int(_) | Type::Pointer(_) => Kind::Int(0),
            _ => return Err(self.invalid(span, "what is no number is neither true nor false")),
        };
        let zero = Expression { kind: zero, ty: value.ty.clone(), span };
        let kind = Kind::Binary(Binary::NotEqual, Box::new(value), Box::new(zero));
        Ok(Expression { kind, ty: Type::INT, span })
    }

    /// A value in another type.
    pub(super) fn convert(
        &mut self,
        value: Expression,
        ty: &Type,
        span: Span,
    ) -> Checked<Expression> {
        self.refuse_foreign(ty, span)?;
        self.refuse_foreign(&value.ty.clone(), span)?;
        if value.ty == *ty {
            return Ok(value);
        }
        let is_possible = match (&value.ty, ty) {
            (_, Type::Void) => true,
            (Type::Pointer(_), to) => to.is_pointer() || to.as_int().is_some(),
            (from, Type::Pointer(_)) => from.as_int().is_some(),
            (from, to) => from.is_arithmetic() && to.is_arithmetic(),
        };
        if !is_possible {
            let (from, to) = (self.tree.records.show(&value.ty), self.tree.records.show(ty));
            return Err(self.invalid(span, format!("`{from}` cannot be made a `{to}`")));
        }
        Ok(Expression { kind: Kind::Convert(Box::new(value)), ty: ty.clone(), span })
    }

    fn promote(&mut self, value: Expression, span: Span) -> Checked<Expression> {
        // A bit-field that an `int` can hold is promoted to one (C11 6.3.1.1, 2).
        let ty = match bit_field_of(&value) {
            Some(place) => self.promoted_place(place, span)?,
            None => self.promoted(&value.ty.clone(), span)?,
        };
        self.convert(value, &ty, span)
    }

    /// The type that what is at a place is promoted to.
    fn promoted_place(&mut self, place: &Place, span: Span) -> Checked<Type> {
        match place.bits {
            Some(bits) if bits.width < 32 => Ok(Type::INT),
            _ => self.promoted(&place.ty.ty, span),
        }
    }

    fn promoted(&mut self, ty: &Type, span: Span) -> Checked<Type> {
        match ty {
            Type::Int(int) => Ok(Type::Int(int.promoted())),
            Type::Float | Type::Double => Ok(ty.clone()),
            _ => Err(self.not_a_number(ty, span)),
        }
    }

    fn common(&mut self, a: &Type, b: &Type, span: Span) -> Checked<Type> {
        Ok(match (a, b) {
            (Type::Int(a), Type::Int(b)) => Type::Int(a.common(*b)),
            (Type::Double, Type::Int(_) | Type::Float | Type::Double)
            | (Type::Int(_) | Type::Float, Type::Double) => Type::Double,
            (Type::Float, Type::Int(_) | Type::Float) | (Type::Int(_), Type::Float) => Type::Float,
            (Type::Int(_) | Type::Float | Type::Double, other) | (other, _) => {
                return Err(self.not_a_number(other, span));
            }
        })
    }

    fn not_a_number(&mut self, ty: &Type, span: Span) -> super::Reported {
        if let Type::Foreign(name, _) = ty {
            return self.unsupported(span, format_args!("`{name}`"));
        }
        let shown = self.tree.records.show(ty);
        self.invalid(span, format!("`{shown}` is no number"))
    }
}

impl Binary {
    pub(crate) fn is_comparison(self) -> bool {
        use Binary as B;
        matches!(
            self,
            B::Equal | B::NotEqual | B::Less | B::LessOrEqual | B::Greater | B::GreaterOrEqual
        )
    }
}

/// The two sides of an expression, if it is one with this operator.
fn as_binary<'a>(
    it: &'a Node<ast::Expression>,
    operator: &BinaryOperator,
) -> Option<&'a ast::BinaryOperatorExpression> {
    match &it.node {
        ast::Expression::BinaryOperator(it) if it.node.operator.node == *operator => Some(&it.node),
        _ => None,
    }
}

/// The bit-field whose value an expression is, as gcc sees it.
fn bit_field_of(value: &Expression) -> Option<&Place> {
    match &value.kind {
        Kind::Read(place) | Kind::Assign(place, _) => place.bits.map(|_| &**place),
        Kind::Update(update) => update.place.bits.map(|_| &update.place),
        Kind::Comma(parts) => bit_field_of(parts.last()?),
        _ => None,
    }
}

/// A number of a type.
pub(super) fn number(value: i64, ty: Type, span: Span) -> Expression {
    Expression { kind: Kind::Int(value), ty, span }
}

/// The operator, and whether it assigns, too.
fn plain_operator(operator: &BinaryOperator) -> (Binary, bool) {
    use BinaryOperator as B;
    match operator {
        B::Multiply => (Binary::Multiply, false),
        B::Divide => (Binary::Divide, false),
        B::Modulo => (Binary::Remainder, false),
        B::Plus => (Binary::Add, false),
        B::Minus => (Binary::Subtract, false),
        B::ShiftLeft => (Binary::ShiftLeft, false),
        B::ShiftRight => (Binary::ShiftRight, false),
        B::Less => (Binary::Less, false),
        B::Greater => (Binary::Greater, false),
        B::LessOrEqual => (Binary::LessOrEqual, false),
        B::GreaterOrEqual => (Binary::GreaterOrEqual, false),
        B::Equals => (Binary::Equal, false),
        B::NotEquals => (Binary::NotEqual, false),
        B::BitwiseAnd => (Binary::And, false),
        B::BitwiseXor => (Binary::Xor, false),
        B::BitwiseOr => (Binary::Or, false),
        B::AssignMultiply => (Binary::Multiply, true),
        B::AssignDivide => (Binary::Divide, true),
        B::AssignModulo => (Binary::Remainder, true),
        B::AssignPlus => (Binary::Add, true),
        B::AssignMinus => (Binary::Subtract, true),
        B::AssignShiftLeft => (Binary::ShiftLeft, true),
        B::AssignShiftRight => (Binary::ShiftRight, true),
        B::AssignBitwiseAnd => (Binary::And, true),
        B::AssignBitwiseXor => (Binary::Xor, true),
        B::AssignBitwiseOr => (Binary::Or, true),
        B::Index | B::LogicalAnd | B::LogicalOr | B::Assign => {
            unreachable!("these are taken care of before")
        }
    }
}
