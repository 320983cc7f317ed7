//! Initialisers: lists with and without braces, designators, strings.
//!
//! A list is turned into pairs of a place and a value first ([`Checker::assignments`]). For a
//! variable that is there all the time these become its initial bytes, for others assignments.

use super::expression::Operand;
use super::literal::string_initial;
use super::{Checked, Checker, fold};
use crate::tree::{Base, Constant, Expression, GlobalId, Initial, Kind, LocalId, Place, Statement};
use crate::types::{Bits, Field, Int, Qualified, Type};
use lang_c::ast::{self, Designator, Initializer, InitializerListItem};
use lang_c::span::Node;
use mazurka_source::Span;
use std::collections::BTreeMap;
use std::rc::Rc;

/// A part of an object and what it is to hold.
#[derive(Debug)]
struct Assignment {
    part: Part,
    value: Value,
}

/// What a designator names.
struct Named {
    /// The number of the part that it is, or that it is within.
    idx: u64,
    child: Option<Part>,
    /// How many it stands for.
    repeat: u64,
    /// Whether it is within an unnamed member.
    is_within: bool,
}

/// A part of an object.
#[derive(Clone, Debug)]
struct Part {
    offset: u64,
    ty: Qualified,
    bits: Option<Bits>,
    span: Span,
}

#[derive(Debug)]
enum Value {
    Expression(Expression),
    String(Vec<u8>),
}

/// Where in a list of initialisers one is.
struct Items<'a> {
    items: &'a [Node<InitializerListItem>],
    next: usize,
}

impl<'a> Checker<'a> {
    pub(super) fn initialise_global(
        &mut self,
        id: GlobalId,
        it: &'a Node<Initializer>,
    ) -> Checked<()> {
        let span = self.span(it.span);
        let ty = self.tree.globals[id.0].ty.clone();
        let (ty, assignments) = self.assignments(ty, it)?;
        self.set_initial(id, ty, assignments, span)
    }

    pub(super) fn initialise_global_list(
        &mut self,
        id: GlobalId,
        items: &'a [Node<InitializerListItem>],
        span: Span,
    ) -> Checked<()> {
        let ty = self.tree.globals[id.0].ty.clone();
        let (ty, assignments) = self.list(ty, items, span)?;
        self.set_initial(id, ty, assignments, span)
    }

    pub(super) fn initialise_local(
        &mut self,
        id: LocalId,
        it: &'a Node<Initializer>,
        to: &mut Vec<Statement>,
    ) -> Checked<()> {
        let ty = self.frame.body.locals[id.0].ty.clone();
        let (ty, assignments) = self.assignments(ty, it)?;
        self.set_local(id, ty, assignments, self.span(it.span), to)
    }

    pub(super) fn initialise_local_list(
        &mut self,
        id: LocalId,
        items: &'a [Node<InitializerListItem>],
        span: Span,
        to: &mut Vec<Statement>,
    ) -> Checked<()> {
        let ty = self.frame.body.locals[id.0].ty.clone();
        let (ty, assignments) = self.list(ty, items, span)?;
        self.set_local(id, ty, assignments, span, to)
    }

    fn set_initial(
        &mut self,
        id: GlobalId,
        ty: Qualified,
        assignments: Vec<Assignment>,
        span: Span,
    ) -> Checked<()> {
        let mut initial = Initials::default();
        for Assignment { part, value } in assignments {
            let value = match value {
                Value::String(bytes) => {
                    initial.extend(string_initial(&bytes, part.offset));
                    continue;
                }
                Value::Expression(value) => value,
            };
            if let (Type::Record(_), Kind::Read(place)) = (&value.ty, &value.kind)
                && let Base::Global(from) = place.base
            {
                // `(struct s) {…}`, as gcc allows it: the same bytes once more.
                let copied = self.tree.globals[from.0].initial.clone();
                let moved =
                    copied.into_iter().map(|it| Initial { offset: it.offset + part.offset, ..it });
                initial.extend(moved);
                continue;
            }
            let Some(constant) = fold(&value) else {
                return Err(self.invalid(part.span, "the first value is not known beforehand"));
            };
            match part.bits {
                None => {
                    let size = self.size_of(&part.ty.ty, span)? as u8;
                    initial.push(Initial { offset: part.offset, size, value: constant });
                }
                Some(bits) => initial.set_bits(part.offset, bits, &constant),
            }
        }
        let global = &mut self.tree.globals[id.0];
        global.ty = ty;
        global.is_defined = true;
        global.initial = initial.all.into_iter().flatten().collect();
        Ok(())
    }

    fn set_local(
        &mut self,
        id: LocalId,
        ty: Qualified,
        assignments: Vec<Assignment>,
        span: Span,
        to: &mut Vec<Statement>,
    ) -> Checked<()> {
        let is_scalar = ty.ty.is_scalar();
        let is_whole = matches!(&assignments[..], [Assignment { part, value: Value::Expression(_) }]
            if part.offset == 0 && part.ty.ty == ty.ty);
        self.frame.body.locals[id.0].ty = ty;
        to.push(Statement::Declare(id, !is_scalar && !is_whole));
        for Assignment { part, value } in assignments {
            let Part { offset, ty, bits, span } = part;
            let place = |offset, ty| Place { base: Base::Local(id), offset, ty, bits, span };
            match value {
                Value::Expression(value) => {
                    let assign = self.assign(place(offset, ty), value, span)?;
                    to.push(Statement::Expression(assign));
                }
                Value::String(bytes) => {
                    for (idx, byte) in bytes.iter().enumerate().filter(|(_, byte)| **byte != 0) {
                        let ty = Type::Int(Int::UnsignedChar);
                        let value = super::expression::number(i64::from(*byte), ty.clone(), span);
                        let place = place(offset + idx as u64, Qualified::plain(ty));
                        to.push(Statement::Expression(self.assign(place, value, span)?));
                    }
                }
            }
        }
        let ty = self.frame.body.locals[id.0].ty.ty.clone();
        self.size_of(&ty, span).map(drop)
    }

    /// What an initialiser puts where; and the type, whose length it may tell.
    fn assignments(
        &mut self,
        ty: Qualified,
        it: &'a Node<Initializer>,
    ) -> Checked<(Qualified, Vec<Assignment>)> {
        let span = self.span(it.span);
        match &it.node {
            Initializer::List(items) => self.list(ty, items, span),
            Initializer::Expression(value) => {
                let part = Part { offset: 0, ty: ty.clone(), bits: None, span };
                if let Some(bytes) = self.string_for(&ty.ty, value)? {
                    let ty = with_length(ty, &bytes);
                    let bytes = cut(bytes, &ty.ty);
                    let part = Part { ty: ty.clone(), ..part };
                    return Ok((ty, vec![Assignment { part, value: Value::String(bytes) }]));
                }
                let value = self.initial_value(value, &ty.ty)?;
                Ok((ty, vec![Assignment { part, value: Value::Expression(value) }]))
            }
        }
    }

    /// A list in braces, for the whole of an object.
    fn list(
        &mut self,
        ty: Qualified,
        items: &'a [Node<InitializerListItem>],
        span: Span,
    ) -> Checked<(Qualified, Vec<Assignment>)> {
        let mut assignments = Vec::new();
        let part = Part { offset: 0, ty: ty.clone(), bits: None, span };
        let length = self.braced(&part, items, &mut assignments)?;
        let ty = match ty.ty {
            Type::Array(element, None) => {
                Qualified { ty: Type::Array(element, Some(length)), ..ty }
            }
            _ => ty,
        };
        Ok((ty, assignments))
    }

    /// A list in braces for a part of an object; says how many elements of an array it reaches.
    fn braced(
        &mut self,
        part: &Part,
        items: &'a [Node<InitializerListItem>],
        to: &mut Vec<Assignment>,
    ) -> Checked<u64> {
        // `{"text"}` and `{1}` for what is no struct and no array of its own.
        if let [only] = items
            && only.node.designation.is_empty()
            && let Initializer::Expression(value) = &only.node.initializer.node
        {
            if let Some(bytes) = self.string_for(&part.ty.ty, value)? {
                let length = bytes.len() as u64;
                let bytes = cut(bytes, &part.ty.ty);
                to.push(Assignment { part: part.clone(), value: Value::String(bytes) });
                return Ok(length);
            }
            if part.ty.ty.is_scalar() {
                let value = self.initial_value(value, &part.ty.ty)?;
                to.push(Assignment { part: part.clone(), value: Value::Expression(value) });
                return Ok(1);
            }
        }
        let mut items = Items { items, next: 0 };
        self.filled(part, &mut items, true, to)
    }

    /// Takes initialisers for the parts of `part`, one after another.
    fn filled(
        &mut self,
        part: &Part,
        items: &mut Items<'a>,
        is_braced: bool,
        to: &mut Vec<Assignment>,
    ) -> Checked<u64> {
        let mut idx = 0;
        let mut length = 0;
        let mut is_within = false;
        while let Some(item) = items.items.get(items.next) {
            let designation = &item.node.designation;
            let (mut child, mut repeat) = match designation.first() {
                Some(_) if !is_braced => break,
                Some(designator) => {
                    let found = self.named(part, designator)?;
                    idx = found.idx;
                    is_within = found.is_within;
                    (found.child, found.repeat)
                }
                None if is_within => {
                    let span = self.span(item.span);
                    let what = "a value that follows one in an unnamed member";
                    return Err(self.unsupported(span, what));
                }
                // Of a union, the first member only, unless one is named.
                None if idx > 0 && self.is_union(&part.ty.ty) => (None, 1),
                None => (self.child(part, idx)?, 1),
            };
            for designator in designation.iter().skip(1) {
                let Some(of) = child else { break };
                let found = self.named(&of, designator)?;
                repeat = repeat.max(found.repeat);
                child = found.child;
            }
            let Some(child) = child else {
                if is_braced {
                    // Too many: the compiler has warned.
                    items.next += 1;
                    continue;
                }
                break;
            };
            let start = items.next;
            for n in 0..repeat {
                items.next = start;
                let size = self.size_of(&child.ty.ty, child.span)?;
                let at = Part { offset: child.offset + n * size, ..child.clone() };
                self.one(&at, items, !designation.is_empty(), to)?;
            }
            idx += repeat;
            length = length.max(idx);
        }
        Ok(length)
    }

    /// Takes what is needed for one part.
    fn one(
        &mut self,
        part: &Part,
        items: &mut Items<'a>,
        is_designated: bool,
        to: &mut Vec<Assignment>,
    ) -> Checked<()> {
        let item = &items.items[items.next];
        let part = Part { span: self.span(item.span), ..part.clone() };
        let value = match &item.node.initializer.node {
            Initializer::List(inner) => {
                items.next += 1;
                return self.braced(&part, inner, to).map(drop);
            }
            Initializer::Expression(value) => value,
        };
        if let Some(bytes) = self.string_for(&part.ty.ty, value)? {
            items.next += 1;
            let bytes = cut(bytes, &part.ty.ty);
            to.push(Assignment { part, value: Value::String(bytes) });
            return Ok(());
        }
        match &part.ty.ty {
            Type::Record(_) => {
                // A struct may come from a value of its type, or from values for its members.
                let operand = self.operand(value)?;
                let ty = match &operand {
                    Operand::Place(place) => place.ty.ty.clone(),
                    Operand::Value(value) => value.ty.clone(),
                };
                if ty == part.ty.ty {
                    items.next += 1;
                    let value = self.value(operand)?;
                    to.push(Assignment { part, value: Value::Expression(value) });
                    return Ok(());
                }
                self.inner(&part, items, is_designated, to)
            }
            Type::Array(..) => self.inner(&part, items, is_designated, to),
            ty => {
                let value = self.initial_value(value, &ty.clone())?;
                items.next += 1;
                to.push(Assignment { part, value: Value::Expression(value) });
                Ok(())
            }
        }
    }

    /// Values for the members of a part without braces around them.
    fn inner(
        &mut self,
        part: &Part,
        items: &mut Items<'a>,
        is_designated: bool,
        to: &mut Vec<Assignment>,
    ) -> Checked<()> {
        if !is_designated {
            return self.filled(part, items, false, to).map(drop);
        }
        // The designator of this item is used up; the items after it are looked at as they are.
        let mut idx = 0;
        while let Some(item) = items.items.get(items.next) {
            if idx > 0 && !item.node.designation.is_empty() {
                break;
            }
            if idx > 0 && self.is_union(&part.ty.ty) {
                break;
            }
            let Some(child) = self.child(part, idx)? else { break };
            self.one(&child, items, idx == 0, to)?;
            idx += 1;
        }
        Ok(())
    }

    /// A value for a part of this type.
    fn initial_value(&mut self, it: &'a Node<ast::Expression>, ty: &Type) -> Checked<Expression> {
        let span = self.span(it.span);
        let value = self.expression(it)?;
        self.convert(value, ty, span)
    }

    /// The bytes of a string that initialises an array of characters.
    fn string_for(&mut self, ty: &Type, it: &'a Node<ast::Expression>) -> Checked<Option<Vec<u8>>> {
        let (Type::Array(element, _), ast::Expression::StringLiteral(parts)) = (ty, &it.node)
        else {
            return Ok(None);
        };
        if element.ty.as_int().is_none() {
            return Ok(None);
        }
        let span = self.span(it.span);
        Ok(Some(self.string_bytes(&parts.node, span)?.0))
    }

    /// What a designator names, through unnamed members if need be.
    fn named(&mut self, part: &Part, it: &'a Node<Designator>) -> Checked<Named> {
        let (idx, repeat, is_within) = self.designated(part, it)?;
        let child = self.child(part, idx)?;
        match child {
            Some(of) if is_within => {
                let inner = self.named(&of, it)?;
                Ok(Named { idx, is_within, ..inner })
            }
            child => Ok(Named { idx, child, repeat, is_within }),
        }
    }

    /// The number of the part that a designator names, how many it stands for, and whether it names
    /// something within that.
    fn designated(&mut self, part: &Part, it: &'a Node<Designator>) -> Checked<(u64, u64, bool)> {
        let span = self.span(it.span);
        match &it.node {
            Designator::Index(index) => Ok((self.constant_int(index)? as u64, 1, false)),
            Designator::Range(range) => {
                let from = self.constant_int(&range.node.from)?;
                let to = self.constant_int(&range.node.to)?;
                Ok((from as u64, (to - from + 1).max(1) as u64, false))
            }
            Designator::Member(name) => {
                let fields = self.fields_of(part);
                let holds = |field: &Field| match (&field.name, &field.ty.ty) {
                    (Some(own), _) => *own == name.node.name,
                    (None, Type::Record(id)) => {
                        self.tree.records.field(*id, &name.node.name).is_some()
                    }
                    _ => false,
                };
                match fields.iter().position(holds) {
                    Some(idx) => Ok((idx as u64, 1, fields[idx].name.is_none())),
                    None => Err(self.invalid(span, "there is no such member")),
                }
            }
        }
    }

    fn is_union(&self, ty: &Type) -> bool {
        matches!(ty, Type::Record(id) if self.tree.records[*id].is_union)
    }

    fn fields_of(&self, part: &Part) -> Vec<Field> {
        match &part.ty.ty {
            Type::Record(id) => self.tree.records[*id]
                .layout
                .as_ref()
                .map(|layout| layout.fields.clone())
                .unwrap_or_default(),
            _ => Vec::new(),
        }
    }

    /// A part of a part; `None` if there is no such.
    fn child(&mut self, part: &Part, idx: u64) -> Checked<Option<Part>> {
        let span = part.span;
        Ok(match &part.ty.ty {
            Type::Array(element, length) => {
                if length.is_some_and(|length| idx >= length) {
                    return Ok(None);
                }
                let size = self.size_of(&element.ty.clone(), span)?;
                let ty = (**element).clone();
                Some(Part { offset: part.offset + idx * size, ty, bits: None, span })
            }
            Type::Record(id) => {
                debug_assert!(self.tree.records[*id].layout.is_some(), "its size was asked for");
                let fields = self.fields_of(part);
                fields.get(idx as usize).map(|field| Part {
                    offset: part.offset + field.offset,
                    ty: field.ty.clone(),
                    bits: field.bits,
                    span,
                })
            }
            _ => (idx == 0).then(|| part.clone()),
        })
    }
}

/// What a variable holds in the beginning, as its initialisers come: a later one for the same part
/// stands in the place of an earlier one.
#[derive(Default)]
struct Initials {
    all: Vec<Option<Initial>>,
    /// Where the last one is for what begins here and has this size.
    last: BTreeMap<(u64, u8), usize>,
}

impl Initials {
    fn push(&mut self, initial: Initial) {
        let before = self.last.insert((initial.offset, initial.size), self.all.len());
        if let Some(before) = before {
            self.all[before] = None;
        }
        self.all.push(Some(initial));
    }

    fn extend(&mut self, all: impl IntoIterator<Item = Initial>) {
        all.into_iter().for_each(|it| self.push(it));
    }

    /// Writes a bit-field into the bytes around it.
    fn set_bits(&mut self, offset: u64, bits: Bits, value: &Constant) {
        let Constant::Int(value) = value else { return };
        let mask = if bits.width == 64 { u64::MAX } else { (1 << bits.width) - 1 };
        let value = (*value as u64 & mask) << bits.shift;
        for idx in 0..u64::from(bits.unit.bits()) / 8 {
            let (byte, own) = (value >> (8 * idx) & 255, mask << bits.shift >> (8 * idx) & 255);
            let at = offset + idx;
            let known = self.last.get(&(at, 1)).and_then(|&idx| self.all[idx].as_mut());
            match known {
                Some(Initial { value: Constant::Int(old), .. }) => {
                    *old = (*old as u64 & !own | byte) as i64;
                }
                _ => self.push(Initial { offset: at, size: 1, value: Constant::Int(byte as i64) }),
            }
        }
    }
}

/// An array whose length its string tells.
fn with_length(ty: Qualified, bytes: &[u8]) -> Qualified {
    match &ty.ty {
        Type::Array(element, None) => {
            let size = element.ty.as_int().map_or(1, |int| u64::from(int.bits()) / 8);
            let length = Some(bytes.len() as u64 / size);
            Qualified { ty: Type::Array(Rc::clone(element), length), ..ty }
        }
        _ => ty,
    }
}

/// As much of a string as there is room for.
fn cut(mut bytes: Vec<u8>, ty: &Type) -> Vec<u8> {
    if let Type::Array(element, Some(length)) = ty {
        let size = element.ty.as_int().map_or(1, |int| u64::from(int.bits()) / 8);
        bytes.truncate((length * size) as usize);
    }
    bytes
}
