//! Variables, types and channels: where they are, and what they hold in the beginning.

use super::graph::{ElementKind, Sequence};
use super::types::{Field, FieldFirst, Home, Scalar, Shape, Struct, Variable};
use super::{Lowered, Lowerer, Reported};
use crate::fault::code;
use crate::tree::{self, Declaration, Expression, First, Name, TypeKind, TypeName};
use mazurka_model::{
    self as model, Access, Action, Expr, FrameObject, Init, InitValue, Layout, LayoutId, Object,
    ObjectIdx, Place, Query, Storage, SymbolSet, Type,
};
use mazurka_source::Span;

/// The most messages a channel may have room for, and the most elements an array may have.
const MOST_MESSAGES: i32 = 255;
const MOST_CHANNELS: u32 = 4096;
const MOST_ELEMENTS: i32 = 1 << 20;

/// The most bytes of all variables together: of the program, and of a process.
pub(super) const MOST_BYTES: u64 = 1 << 24;
const MOST_BYTES_OF_PROCESS: u64 = 1 << 20;

/// The most bytes of a struct in a message.
const MOST_BYTES_OF_MESSAGE: u32 = 1 << 16;

/// A number that a variable holds in the beginning.
enum FirstValue {
    Value(Expr),
    Channel(LayoutId),
}

impl Lowerer<'_> {
    pub(super) fn shape(&mut self, ty: &TypeName, width: Option<i32>) -> Lowered<Shape> {
        if let TypeKind::Struct(name) = &ty.kind {
            let number = self.structs.iter().position(|known| known.name == *name);
            return match number {
                Some(number) => Ok(Shape::Struct(number)),
                None => {
                    let message = format!("undeclared structure element: {name}");
                    self.fault(code::NAME, &message, ty.span)
                }
            };
        }
        if width.is_some() && ty.kind != TypeKind::Unsigned {
            return self.fault(code::TYPE, "only an unsigned can have width-field", ty.span);
        }
        if width.is_some_and(|width| !(1..=31).contains(&width)) {
            return self.fault(code::TYPE, "invalid width-field", ty.span);
        }
        let scalar = self.scalar(&ty.kind, width).expect("structs are dealt with above");
        Ok(Shape::Scalar(scalar))
    }

    /// What a variable is, or its elements, and how many there are if it is an array. SPIN's
    /// verifier has bytes for arrays of bits, which hold more than 0 and 1.
    fn shape_and_count(
        &mut self,
        ty: &TypeName,
        variable: &tree::Variable,
    ) -> Lowered<(Shape, Option<u32>)> {
        let shape = self.shape(ty, variable.width)?;
        let count = self.count(variable)?;
        if u64::from(self.size_of(shape)) * u64::from(count.unwrap_or(1)) > MOST_BYTES {
            return self.too_large(MOST_BYTES, &variable.name);
        }
        Ok(match shape {
            Shape::Scalar(scalar) if count.is_some() => (Shape::Scalar(scalar.widened()), count),
            _ => (shape, count),
        })
    }

    pub(super) fn too_large<T>(&mut self, most: u64, name: &Name) -> Lowered<T> {
        let message = format!("'{}' is too large: there is room for {most} bytes", name.text);
        self.fault(code::TYPE, &message, name.span)
    }

    /// The type of numbers, if it is one.
    pub(super) fn scalar(&mut self, kind: &TypeKind, width: Option<i32>) -> Option<Scalar> {
        let ty = match kind {
            TypeKind::Bit | TypeKind::Bool => Type::BOOL,
            TypeKind::Byte | TypeKind::Pid | TypeKind::Mtype(_) | TypeKind::Chan => Type::U8,
            TypeKind::Short => Type::signed(16),
            TypeKind::Int => Type::I32,
            TypeKind::Unsigned => Type::unsigned(width.unwrap_or(32).clamp(1, 32) as u8),
            TypeKind::Struct(_) => return None,
        };
        let symbols = match kind {
            TypeKind::Mtype(subtype) => Some(self.symbol_set(subtype.as_deref())),
            _ => None,
        };
        Some(Scalar { ty, is_channel: *kind == TypeKind::Chan, symbols })
    }

    /// The names of a subtype of `mtype`.
    pub(super) fn symbol_set(&mut self, subtype: Option<&str>) -> SymbolSet {
        let subtype = subtype.unwrap_or_default();
        let known = self.symbol_sets.iter().position(|(name, _)| name == subtype);
        SymbolSet(known.unwrap_or_else(|| {
            self.symbol_sets.push((subtype.to_owned(), 0));
            self.symbol_sets.len() - 1
        }) as u32)
    }

    fn count(&mut self, variable: &tree::Variable) -> Lowered<Option<u32>> {
        let Some(count) = &variable.count else { return Ok(None) };
        match self.constant(count)? {
            value @ 1..=MOST_ELEMENTS => Ok(Some(value as u32)),
            _ => {
                let message = format!("bad array size for '{}'", variable.name.text);
                self.fault(code::TYPE, &message, count.span)
            }
        }
    }

    pub(super) fn define_struct(&mut self, name: &Name, fields: &[Declaration]) -> Lowered<()> {
        let mut parts = Vec::new();
        let mut size: u32 = 0;
        for declaration in fields {
            for variable in &declaration.variables {
                let (shape, count) = self.shape_and_count(&declaration.ty, variable)?;
                let first = match &variable.first {
                    None => None,
                    Some(First::Value(value)) => Some(FieldFirst::Value(self.constant(value)?)),
                    Some(First::Channel { capacity, fields }) => {
                        Some(FieldFirst::Channel(self.channel_layout(capacity, fields)?))
                    }
                    Some(First::Values(_)) => {
                        return self.fault(
                            code::UNSUPPORTED,
                            "a list of first values in a typedef is not supported",
                            variable.name.span,
                        );
                    }
                };
                let name = variable.name.text.clone();
                parts.push(Field { name, shape, count, offset: size, first });
                size += self.size_of(shape) * count.unwrap_or(1);
                if u64::from(size) > MOST_BYTES {
                    return self.too_large(MOST_BYTES, &variable.name);
                }
            }
        }
        let layouts: Vec<model::Field> = parts
            .iter()
            .map(|part| model::Field {
                name: part.name.clone(),
                offset: part.offset,
                layout: self.layout(part.shape, part.count),
            })
            .collect();
        let layout = Layout::Struct { name: name.text.clone(), fields: layouts, size: size.max(1) };
        let layout = self.program.layout(layout);
        let name = name.text.clone();
        self.structs.push(Struct { name, fields: parts, size: size.max(1), layout });
        Ok(())
    }

    fn layout(&mut self, shape: Shape, count: Option<u32>) -> LayoutId {
        let element = match shape {
            Shape::Scalar(scalar) => self.program.scalar(scalar.ty),
            Shape::Struct(number) => self.structs[number].layout,
        };
        match count {
            Some(count) => self.program.layout(Layout::Array { element, count }),
            None => element,
        }
    }

    fn channel_layout(&mut self, capacity: &Expression, types: &[TypeName]) -> Lowered<LayoutId> {
        let capacity = match self.constant(capacity)? {
            value @ 0..=MOST_MESSAGES => value as u32,
            _ => return self.fault(code::TYPE, "bad channel capacity", capacity.span),
        };
        let mut scalars = Vec::new();
        for ty in types {
            if ty.kind == TypeKind::Unsigned {
                return self.fault(code::TYPE, "unsigned cannot be used as mesg type", ty.span);
            }
            let shape = self.shape(ty, None)?;
            if self.size_of(shape) > MOST_BYTES_OF_MESSAGE {
                let message = format!("more than {MOST_BYTES_OF_MESSAGE} bytes in a message");
                return self.fault(code::TYPE, &message, ty.span);
            }
            self.scalars(shape, &mut scalars);
        }
        self.found.most_fields = self.found.most_fields.max(scalars.len());
        // A message of one bit takes a byte, and keeps all of it.
        let field = |scalar: &Scalar| match scalars.len() {
            1 => scalar.widened().ty,
            _ => scalar.ty,
        };
        let fields = scalars.iter().map(field).collect();
        let symbols = scalars.iter().map(|scalar| scalar.symbols).collect();
        Ok(self.program.layout(Layout::Channel { capacity, fields, symbols }))
    }

    fn scalars(&self, shape: Shape, scalars: &mut Vec<Scalar>) {
        match shape {
            Shape::Scalar(scalar) => scalars.push(scalar),
            Shape::Struct(number) => {
                for field in &self.structs[number].fields {
                    for _ in 0..field.count.unwrap_or(1) {
                        self.scalars(field.shape, scalars);
                    }
                }
            }
        }
    }

    /// The numbers that a variable holds in the beginning, where that is not zero, by offset.
    fn first_values(
        &mut self,
        shape: Shape,
        count: Option<u32>,
        first: Option<&First>,
        span: Span,
    ) -> Lowered<Vec<(u32, Type, FirstValue)>> {
        let mut values = Vec::new();
        let size = self.size_of(shape);
        let n_elements = count.unwrap_or(1);
        let Shape::Scalar(scalar) = shape else {
            if let Some(First::Value(_) | First::Values(_) | First::Channel { .. }) = first {
                return self.fault(code::TYPE, "a struct has no first value", span);
            }
            for idx in 0..n_elements {
                self.struct_values(shape, idx * size, &mut values);
            }
            return Ok(values);
        };
        match first {
            None => {}
            Some(First::Value(value)) => {
                if matches!(value.kind, tree::ExpressionKind::Run { .. }) {
                    return self.fault(code::TYPE, "cannot use 'run' in var init", value.span);
                }
                let value = self.value(value)?;
                for idx in 0..n_elements {
                    values.push((idx * size, scalar.ty, FirstValue::Value(value.clone())));
                }
            }
            Some(First::Values(list)) => {
                if count.is_none() {
                    let message = format!("{} must be an array", self.text(span));
                    return self.fault(code::TYPE, &message, span);
                }
                for (idx, value) in (0..n_elements).zip(list) {
                    let value = self.value(value)?;
                    values.push((idx * size, scalar.ty, FirstValue::Value(value)));
                }
            }
            Some(First::Channel { capacity, fields }) => {
                if !scalar.is_channel {
                    return self.fault(code::TYPE, "only a `chan` can be a channel", span);
                }
                let layout = self.channel_layout(capacity, fields)?;
                if n_elements > MOST_CHANNELS {
                    let message = format!("more than {MOST_CHANNELS} channels");
                    return self.fault(code::TYPE, &message, span);
                }
                for idx in 0..n_elements {
                    values.push((idx * size, scalar.ty, FirstValue::Channel(layout)));
                }
            }
        }
        Ok(values)
    }

    fn struct_values(
        &mut self,
        shape: Shape,
        offset: u32,
        values: &mut Vec<(u32, Type, FirstValue)>,
    ) {
        let Shape::Struct(number) = shape else { return };
        for field in self.structs[number].fields.clone() {
            let size = self.size_of(field.shape);
            for idx in 0..field.count.unwrap_or(1) {
                let offset = offset + field.offset + idx * size;
                match (field.shape, &field.first) {
                    (Shape::Struct(_), _) => self.struct_values(field.shape, offset, values),
                    (Shape::Scalar(scalar), Some(FieldFirst::Value(value))) => {
                        let value = Expr::int(Type::I32, i64::from(*value));
                        values.push((offset, scalar.ty, FirstValue::Value(value)));
                    }
                    (Shape::Scalar(scalar), Some(FieldFirst::Channel(layout))) => {
                        values.push((offset, scalar.ty, FirstValue::Channel(*layout)));
                    }
                    (Shape::Scalar(_), None) => {}
                }
            }
        }
    }

    fn message_shapes(&mut self, first: Option<&First>) -> Option<Vec<Shape>> {
        let Some(First::Channel { fields, .. }) = first else { return None };
        fields.iter().map(|ty| self.shape(ty, None).ok()).collect()
    }

    fn capacity(&mut self, first: Option<&First>) -> u32 {
        match first {
            Some(First::Channel { capacity, .. }) => self.constant(capacity).unwrap_or(0) as u32,
            _ => 0,
        }
    }

    pub(super) fn global(&mut self, declaration: &Declaration) -> Lowered<()> {
        for variable in &declaration.variables {
            // The others may have faults of their own.
            let _ = self.global_variable(declaration, variable);
        }
        Ok(())
    }

    fn global_variable(
        &mut self,
        declaration: &Declaration,
        variable: &tree::Variable,
    ) -> Lowered<()> {
        let name = &variable.name;
        let (shape, count) = self.shape_and_count(&declaration.ty, variable)?;
        self.n_bytes += u64::from(self.size_of(shape)) * u64::from(count.unwrap_or(1));
        if self.n_bytes > MOST_BYTES {
            return self.too_large(MOST_BYTES, name);
        }
        let firsts = self.first_values(shape, count, variable.first.as_ref(), name.span)?;
        if declaration.is_hidden {
            self.check_hidden(&declaration.ty.kind, name)?;
        }
        let layout = self.layout(shape, count);
        let span = self.span(name.span);
        let storage = if declaration.is_hidden { Storage::Scratch } else { Storage::Shared };
        let object = self.program.add_object(Object {
            name: name.text.clone(),
            layout,
            storage,
            init: Vec::new(),
            span,
        });
        let n_firsts = firsts.len();
        for (idx, (offset, ty, first)) in firsts.into_iter().enumerate() {
            let value = match first {
                FirstValue::Value(value) => match self.folded(&value) {
                    Some(value) => i64::from(value),
                    None => {
                        let message = "the first value of a global variable must be a constant";
                        return self.fault(code::TYPE, message, name.span);
                    }
                },
                FirstValue::Channel(layout) => {
                    let name = match n_firsts {
                        1 => name.text.clone(),
                        _ => format!("{}[{idx}]", name.text),
                    };
                    i64::from(self.global_channel(&name, layout, name_span(variable)))
                }
            };
            self.begin_with(object, offset, ty, value);
        }
        let message = self.message_shapes(variable.first.as_ref());
        let capacity = self.capacity(variable.first.as_ref());
        let home = Home::Object(object);
        let entry = Variable { shape, count, home, message, capacity };
        let is_symbol = self.symbols.contains_key(&name.text);
        if self.globals.insert(name.text.clone(), entry).is_some() || is_symbol {
            let message = format!("redeclaration of '{}'", name.text);
            return self.fault(code::NAME, &message, name.span);
        }
        Ok(())
    }

    /// Refuses to hide what is always a part of the state.
    fn check_hidden(&mut self, kind: &TypeKind, name: &Name) -> Lowered<()> {
        let message = match kind {
            TypeKind::Bit | TypeKind::Bool => {
                format!("bit variable ({}) cannot be hidden", name.text)
            }
            TypeKind::Chan => format!("cannot hide channels ({})", name.text),
            _ => return Ok(()),
        };
        self.fault(code::TYPE, &message, name.span)
    }

    fn begin_with(&mut self, object: ObjectIdx, offset: u32, ty: Type, value: i64) {
        let bits = model::canonical(ty, value as u64);
        self.first_values.insert((object, offset), bits as i64);
        let init = Init { offset, value: InitValue::Bits(ty, bits) };
        self.program.objects[object.0 as usize].init.push(init);
    }

    /// A channel of the program: its number.
    fn global_channel(&mut self, name: &str, layout: LayoutId, span: Span) -> u32 {
        let span = self.span(span);
        self.program.add_object(Object {
            name: name.to_owned(),
            layout,
            storage: Storage::Shared,
            init: Vec::new(),
            span,
        });
        self.n_channels += 1;
        self.n_channels
    }

    /// Variables of a process. Those of its beginning hold their first values when the process
    /// starts; later ones are assigned them, by a statement.
    pub(super) fn local(
        &mut self,
        declaration: &Declaration,
        sequence: &mut Sequence,
        is_parameter: bool,
    ) -> Lowered<()> {
        for variable in &declaration.variables {
            let is_first = is_parameter || self.process.is_at_start;
            // The others may have faults of their own.
            let made = self.local_variable(declaration, variable, sequence, is_first);
            if is_parameter && made.is_ok() {
                self.receive_struct(&variable.name);
            }
            if is_parameter && variable.first.is_some() {
                let message = "initializer in parameter list";
                let _ = self.fault::<()>(code::TYPE, message, variable.name.span);
            }
        }
        Ok(())
    }

    /// Gives a struct that is a parameter its value: a process gets the numbers of it one by one,
    /// and puts them where they belong before it does anything else. Then nothing is left of where
    /// they came.
    fn receive_struct(&mut self, name: &Name) {
        let Some(Variable { shape: shape @ Shape::Struct(_), home, .. }) = self.lookup(&name.text)
        else {
            return;
        };
        let mut fields = Vec::new();
        self.places(shape, 0, &mut fields);
        for (offset, scalar) in fields {
            let register = self.add_register("", scalar.ty, name.span);
            let value = Expr::Register { register, ty: scalar.ty };
            self.process.prologue.push(put(home, offset, value));
            let nothing = Action::Assign { to: register, value: Expr::int(scalar.ty, 0) };
            self.process.prologue.push(nothing);
        }
    }

    /// Where the numbers of a struct are in it.
    fn places(&self, shape: Shape, offset: u32, places: &mut Vec<(u32, Scalar)>) {
        match shape {
            Shape::Scalar(scalar) => places.push((offset, scalar)),
            Shape::Struct(number) => {
                for field in &self.structs[number].fields {
                    let size = self.size_of(field.shape);
                    for idx in 0..field.count.unwrap_or(1) {
                        self.places(field.shape, offset + field.offset + idx * size, places);
                    }
                }
            }
        }
    }

    fn local_variable(
        &mut self,
        declaration: &Declaration,
        variable: &tree::Variable,
        sequence: &mut Sequence,
        is_first: bool,
    ) -> Lowered<()> {
        let name = &variable.name;
        if declaration.is_hidden {
            let message = format!("cannot hide non-globals ({})", name.text);
            return self.fault(code::TYPE, &message, name.span);
        }
        let (shape, count) = self.shape_and_count(&declaration.ty, variable)?;
        self.process.n_bytes += u64::from(self.size_of(shape)) * u64::from(count.unwrap_or(1));
        if self.process.n_bytes > MOST_BYTES_OF_PROCESS {
            return self.too_large(MOST_BYTES_OF_PROCESS, name);
        }
        let message = self.message_shapes(variable.first.as_ref());
        let capacity = self.capacity(variable.first.as_ref());
        if !is_first && message.is_some() {
            let message =
                format!("place initialized chan decl of '{}' at start of proctype", name.text);
            return self.fault(code::TYPE, &message, name.span);
        }
        let firsts = self.first_values(shape, count, variable.first.as_ref(), name.span)?;
        let home = match (shape, count) {
            (Shape::Scalar(scalar), None) => {
                let register = self.add_register(&name.text, scalar.ty, name.span);
                self.process.registers[register.0 as usize].is_channel = scalar.is_channel;
                Home::Register(register)
            }
            _ => {
                let layout = self.layout(shape, count);
                Home::Frame(self.frame_object(&name.text, layout, name.span))
            }
        };
        let entry = Variable { shape, count, home, message, capacity };
        let is_argument = self.process.graph.next_id().0 == 0 && self.process.path.is_empty();
        let scope = self.process.scopes.last_mut().ok_or(Reported)?;
        if scope.insert(name.text.clone(), entry).is_some() && is_argument {
            let message = format!("redeclaration of '{}'", name.text);
            return self.fault(code::NAME, &message, name.span);
        }
        if is_first {
            for (offset, ty, first) in firsts {
                let value = self.first_of_local(first, &name.text, name.span);
                self.process.prologue.push(put(home, offset, value.convert(ty)));
            }
            return Ok(());
        }
        let action = match (shape, firsts.into_iter().next()) {
            (Shape::Struct(_), _) => Action::Skip,
            (_, Some((offset, ty, FirstValue::Value(value)))) => {
                put(home, offset, value.convert(ty))
            }
            (Shape::Scalar(scalar), _) => put(home, 0, Expr::int(scalar.ty, 0)),
        };
        let kind = ElementKind::Step { guard: None, otherwise: false, action };
        let text = self.text(name.span);
        let element = self.process.graph.add(kind, name.span, &text);
        self.process.graph.append(sequence, element);
        Ok(())
    }

    fn first_of_local(&mut self, first: FirstValue, name: &str, span: Span) -> Expr {
        match first {
            FirstValue::Value(value) => value,
            FirstValue::Channel(layout) => {
                let object = self.frame_object(name, layout, span);
                Expr::query(Query::OwnChannel(object))
            }
        }
    }

    fn frame_object(&mut self, name: &str, layout: LayoutId, span: Span) -> u32 {
        let span = self.span(span);
        self.process.objects.push(FrameObject { name: name.to_owned(), layout, span });
        self.process.objects.len() as u32 - 1
    }
}

fn name_span(variable: &tree::Variable) -> Span {
    variable.name.span
}

/// Puts a value into a variable of a process.
fn put(home: Home, offset: u32, value: Expr) -> Action {
    match home {
        Home::Register(to) => Action::Assign { to, value },
        Home::Frame(number) => {
            let to = Place::frame(number).plus(Expr::int(Type::I64, i64::from(offset)));
            Action::Store { to, value, access: Access::Private }
        }
        Home::Object(_) => unreachable!("a variable of a process is no object of the program"),
    }
}
