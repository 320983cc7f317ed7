//! Declarations: what types are written as, and which names they give to what.

use super::{Checked, Checker, Definition, Frame, Name, Tag, fold};
use crate::tree::{Body, Constant, Function, FunctionId, Global, GlobalId, LocalId, Statement};
use crate::types::{Builder, Int, Qualified, Record, RecordId, Signature, Type};
use lang_c::ast::{
    ArraySize, Declaration, DeclarationSpecifier, Declarator, DeclaratorKind, DerivedDeclarator,
    Ellipsis, EnumType, Expression, Extension, FunctionDeclarator, FunctionDefinition,
    InitDeclarator, ParameterDeclaration, PointerQualifier, SpecifierQualifier,
    StorageClassSpecifier, StructDeclaration, StructField, StructKind, StructType, TypeName,
    TypeOf, TypeQualifier, TypeSpecifier,
};
use lang_c::span::Node;
use mazurka_model::Sync;
use mazurka_source::Span;
use std::rc::Rc;

/// The words in front of a declarator.
#[derive(Debug, Default)]
struct Words {
    storage: Option<StorageClassSpecifier>,
    is_thread_local: bool,
    is_atomic: bool,
    is_volatile: bool,
    is_const: bool,
    n_long: u8,
    n_short: u8,
    is_signed: bool,
    is_unsigned: bool,
    base: Option<Type>,
    is_complex: bool,
}

impl<'a> Checker<'a> {
    /// A declaration, in a file or in a block; in a block, what it does is added to the statements.
    pub(super) fn declaration(&mut self, it: &'a Node<Declaration>) -> Checked<Vec<Statement>> {
        let words = self.words(&it.node.specifiers)?;
        let base = self.base(&words, self.span(it.span))?;
        let mut statements = Vec::new();
        let mut result = Ok(());
        for declarator in &it.node.declarators {
            // One that is wrong was reported; the next one is looked at all the same.
            let done = self.declarator_of(&words, &base, declarator, &mut statements);
            result = result.and(done);
        }
        result.map(|()| statements)
    }

    fn declarator_of(
        &mut self,
        words: &Words,
        base: &Qualified,
        it: &'a Node<InitDeclarator>,
        statements: &mut Vec<Statement>,
    ) -> Checked<()> {
        let span = self.span(it.node.declarator.span);
        let (name, ty) = self.declarator(base.clone(), &it.node.declarator)?;
        let Some(name) = name else { return Ok(()) };
        self.refuse_attributes(&it.node.declarator.node.extensions)?;
        if words.storage == Some(StorageClassSpecifier::Typedef) {
            let extensions = &it.node.declarator.node.extensions;
            let ty = match extensions.iter().any(|it| has_mode(&it.node)) {
                true => Qualified::plain(Type::Foreign("a type with the attribute `mode`", 8)),
                false => ty,
            };
            if let Type::Record(id) = ty.ty {
                self.tree.records.0[id.0].sync = sync_named(&name);
            }
            self.bind(&name, Name::Type(ty));
            return Ok(());
        }
        if let Type::Function(signature) = &ty.ty {
            let is_static = words.storage == Some(StorageClassSpecifier::Static);
            let id = self.function(&name, Rc::clone(signature), is_static, span);
            self.bind(&name, Name::Function(id));
            return Ok(());
        }
        let is_extern = words.storage == Some(StorageClassSpecifier::Extern);
        let is_static = words.storage == Some(StorageClassSpecifier::Static);
        if self.is_file_scope() || is_extern {
            let id = self.external_variable(&name, ty, words, span);
            self.bind(&name, Name::Global(id));
            return match &it.node.initializer {
                Some(initialiser) => self.initialise_global(id, initialiser),
                None => Ok(()),
            };
        }
        if is_static || words.is_thread_local {
            let name_inside = format!("{}::{name}", self.frame.name);
            let id = self.new_global(&name_inside, ty, words.is_thread_local, true, span);
            self.bind(&name, Name::Global(id));
            return match &it.node.initializer {
                Some(initialiser) => self.initialise_global(id, initialiser),
                None => Ok(()),
            };
        }
        self.local_variable(&name, ty, it, statements)
    }

    fn local_variable(
        &mut self,
        name: &str,
        ty: Qualified,
        it: &'a Node<InitDeclarator>,
        statements: &mut Vec<Statement>,
    ) -> Checked<()> {
        let span = self.span(it.node.declarator.span);
        let is_known = self.refuse_foreign(&ty.ty, span);
        let id = self.local(name, ty, span);
        self.bind(name, Name::Local(id));
        is_known?;
        match &it.node.initializer {
            Some(initialiser) => self.initialise_local(id, initialiser, statements),
            None => {
                self.size_of(&self.frame.body.locals[id.0].ty.ty.clone(), span)?;
                statements.push(Statement::Declare(id, false));
                Ok(())
            }
        }
    }

    /// A variable with linkage: maybe one that is known already.
    fn external_variable(
        &mut self,
        name: &str,
        ty: Qualified,
        words: &Words,
        span: Span,
    ) -> GlobalId {
        let is_static = words.storage == Some(StorageClassSpecifier::Static);
        let is_defined = words.storage != Some(StorageClassSpecifier::Extern);
        let known = match self.scopes[0].names.get(name) {
            Some(&Name::Global(id)) => Some(id),
            _ if is_static => None,
            _ => match self.external.get(name) {
                Some(&Name::Global(id)) => Some(id),
                _ => None,
            },
        };
        if let Some(id) = known {
            let global = &mut self.tree.globals[id.0];
            global.is_defined |= is_defined;
            // `extern int a[];` first, `int a[3];` later.
            if !matches!(ty.ty, Type::Array(_, None)) {
                global.ty = ty;
            }
            return id;
        }
        let id = self.new_global(name, ty, words.is_thread_local, is_defined, span);
        if !is_static {
            self.external.insert(name.to_owned(), Name::Global(id));
        }
        id
    }

    fn new_global(
        &mut self,
        name: &str,
        ty: Qualified,
        is_thread_local: bool,
        is_defined: bool,
        span: Span,
    ) -> GlobalId {
        let initial = Vec::new();
        self.global(Global {
            name: name.to_owned(),
            ty,
            is_thread_local,
            is_defined,
            initial,
            span,
        })
    }

    /// Remembers where a function is defined.
    pub(super) fn define_function(&mut self, it: &'a Node<FunctionDefinition>) -> Checked<()> {
        let span = self.span(it.node.declarator.span);
        let words = self.words(&it.node.specifiers)?;
        let base = self.base(&words, span)?;
        let (name, ty) = self.declarator(base, &it.node.declarator)?;
        let (Some(name), Type::Function(signature)) = (name, ty.ty) else {
            return Err(self.invalid(span, "a definition of what is no function"));
        };
        let is_static = words.storage == Some(StorageClassSpecifier::Static);
        let signature = match function_part(&it.node.declarator.node) {
            Some(DerivedDeclarator::KRFunction(names)) if !names.is_empty() => {
                let types = self.old_parameters(names, &it.node)?;
                let parameters = types.into_iter().map(|ty| ty.ty).collect();
                Rc::new(Signature { parameters, is_unspecified: false, ..(*signature).clone() })
            }
            _ => signature,
        };
        let id = self.function(&name, signature, is_static, span);
        self.bind(&name, Name::Function(id));
        // The library comes last, and gives way to the user.
        if !self.units[self.unit_idx].is_library && Function::is_atomic_bracket(&name) {
            return Ok(());
        }
        if !self.units[self.unit_idx].is_library || self.definitions[id.0].is_none() {
            self.definitions[id.0] = Some(Definition { unit_idx: self.unit_idx, ast: it });
        }
        Ok(())
    }

    /// Looks into a function.
    pub(super) fn function_body(
        &mut self,
        id: FunctionId,
        it: &'a FunctionDefinition,
    ) -> Checked<Body> {
        let function = &self.tree.functions[id.0];
        self.frame = Frame {
            name: function.name.clone(),
            result: Some(function.signature.result.clone()),
            ..Frame::default()
        };
        self.scopes.push(super::Scope::default());
        let done = self.parameters_and_body(it);
        self.scopes.pop();
        done?;
        let mut body = std::mem::take(&mut self.frame).body;
        let end = it.statement.span.end;
        body.end = self.span(lang_c::span::Span::span(end.saturating_sub(1), end));
        Ok(body)
    }

    fn parameters_and_body(&mut self, it: &'a FunctionDefinition) -> Checked<()> {
        let span = self.span(it.declarator.span);
        match function_part(&it.declarator.node) {
            Some(DerivedDeclarator::Function(function)) => {
                self.bind_parameters(&function.node)?;
            }
            Some(DerivedDeclarator::KRFunction(names)) => self.bind_old_parameters(names, it)?,
            _ => return Err(self.invalid(span, "a function without parameters")),
        }
        self.frame.body.n_parameters = self.frame.body.locals.len();
        let mut statements = Vec::new();
        let done = self.statement(&it.statement, &mut statements);
        self.frame.body.statements = statements;
        done
    }

    fn bind_parameters(&mut self, it: &'a FunctionDeclarator) -> Checked<()> {
        for parameter in &it.parameters {
            let span = self.span(parameter.span);
            let (name, ty) = self.parameter(parameter)?;
            if ty.ty == Type::Void {
                continue;
            }
            self.refuse_foreign(&ty.ty, span)?;
            let name = name.unwrap_or_default();
            let id = self.local(&name, ty, span);
            self.bind(&name, Name::Local(id));
        }
        Ok(())
    }

    /// `int f(a, b) int a; char *b; { … }`.
    fn bind_old_parameters(
        &mut self,
        names: &'a [Node<lang_c::ast::Identifier>],
        it: &'a FunctionDefinition,
    ) -> Checked<()> {
        let types = self.old_parameters(names, it)?;
        for (name, ty) in names.iter().zip(types) {
            let span = self.span(name.span);
            self.refuse_foreign(&ty.ty, span)?;
            let id = self.local(&name.node.name, ty, span);
            self.bind(&name.node.name, Name::Local(id));
        }
        Ok(())
    }

    /// The types of such parameters; one that is not declared is an `int`.
    fn old_parameters(
        &mut self,
        names: &'a [Node<lang_c::ast::Identifier>],
        it: &'a FunctionDefinition,
    ) -> Checked<Vec<Qualified>> {
        let mut types = Vec::new();
        for declaration in &it.declarations {
            let words = self.words(&declaration.node.specifiers)?;
            let base = self.base(&words, self.span(declaration.span))?;
            for declarator in &declaration.node.declarators {
                let (name, ty) = self.declarator(base.clone(), &declarator.node.declarator)?;
                types.push((name.unwrap_or_default(), decayed(ty)));
            }
        }
        let type_of = |name: &Node<lang_c::ast::Identifier>| {
            let declared = types.iter().find(|(known, _)| *known == name.node.name);
            declared.map_or(Qualified::plain(Type::INT), |(_, ty)| ty.clone())
        };
        Ok(names.iter().map(type_of).collect())
    }

    /// The type that a type name stands for.
    pub(super) fn type_name(&mut self, it: &'a Node<TypeName>) -> Checked<Qualified> {
        let base = self.specifier_qualifiers(&it.node.specifiers, self.span(it.span))?;
        match &it.node.declarator {
            Some(declarator) => Ok(self.declarator(base, declarator)?.1),
            None => Ok(base),
        }
    }

    fn words(&mut self, specifiers: &'a [Node<DeclarationSpecifier>]) -> Checked<Words> {
        let mut words = Words::default();
        for specifier in specifiers {
            match &specifier.node {
                DeclarationSpecifier::StorageClass(it) => match it.node {
                    StorageClassSpecifier::ThreadLocal => words.is_thread_local = true,
                    ref other => words.storage = Some(other.clone()),
                },
                DeclarationSpecifier::TypeSpecifier(it) => self.word(&mut words, it)?,
                DeclarationSpecifier::TypeQualifier(it) => words.qualify(&it.node),
                DeclarationSpecifier::Extension(it) => self.refuse_attributes(it)?,
                DeclarationSpecifier::Function(_) | DeclarationSpecifier::Alignment(_) => {}
            }
        }
        Ok(words)
    }

    fn specifier_qualifiers(
        &mut self,
        specifiers: &'a [Node<SpecifierQualifier>],
        span: Span,
    ) -> Checked<Qualified> {
        let mut words = Words::default();
        for specifier in specifiers {
            match &specifier.node {
                SpecifierQualifier::TypeSpecifier(it) => self.word(&mut words, it)?,
                SpecifierQualifier::TypeQualifier(it) => words.qualify(&it.node),
                SpecifierQualifier::Extension(it) => self.refuse_attributes(it)?,
            }
        }
        self.base(&words, span)
    }

    fn word(&mut self, words: &mut Words, it: &'a Node<TypeSpecifier>) -> Checked<()> {
        let span = self.span(it.span);
        match &it.node {
            TypeSpecifier::Void => words.base = Some(Type::Void),
            TypeSpecifier::Char => words.base = Some(Type::Int(Int::Char)),
            TypeSpecifier::Short => words.n_short += 1,
            TypeSpecifier::Int => words.base = words.base.take().or(Some(Type::INT)),
            TypeSpecifier::Long => words.n_long += 1,
            TypeSpecifier::Float => words.base = Some(Type::Float),
            TypeSpecifier::Double => words.base = Some(Type::Double),
            TypeSpecifier::Signed => words.is_signed = true,
            TypeSpecifier::Unsigned => words.is_unsigned = true,
            TypeSpecifier::Bool => words.base = Some(Type::Int(Int::Bool)),
            TypeSpecifier::Complex => words.is_complex = true,
            TypeSpecifier::TS18661Float(float) => {
                words.base = Some(match float.width {
                    32 => Type::Float,
                    64 => Type::Double,
                    _ => Type::Foreign("_Float128", 16),
                });
            }
            TypeSpecifier::Atomic(name) => {
                let ty = self.type_name(name)?;
                words.base = Some(ty.ty);
                words.is_atomic = true;
            }
            TypeSpecifier::Struct(record) => words.base = Some(self.record(record)?),
            TypeSpecifier::Enum(it) => words.base = Some(self.enumeration(it)?),
            TypeSpecifier::TypedefName(name) => match self.lookup(&name.node.name) {
                Some(Name::Type(ty)) => words.absorb(ty),
                _ => {
                    words.base = Some(match name.node.name.as_str() {
                        "__builtin_va_list" => Type::Foreign("va_list", 24),
                        "__int128" | "__int128_t" => Type::Foreign("__int128", 16),
                        other => {
                            return Err(self.invalid(span, format!("`{other}` is no type")));
                        }
                    });
                }
            },
            TypeSpecifier::TypeOf(it) => {
                let ty = match &it.node {
                    TypeOf::Type(name) => self.type_name(name)?,
                    TypeOf::Expression(it) => self.type_of(it)?,
                };
                words.absorb(ty);
            }
        }
        Ok(())
    }

    fn base(&mut self, words: &Words, span: Span) -> Checked<Qualified> {
        let ty = words.ty();
        if words.is_complex {
            return Err(self.unsupported(span, "a complex number"));
        }
        if words.is_atomic && !ty.is_scalar() && ty != Type::Void {
            return Err(self.unsupported(span, "an atomic struct, union or array"));
        }
        let Words { is_atomic, is_volatile, is_const, .. } = *words;
        Ok(Qualified { ty, is_atomic, is_volatile, is_const })
    }

    fn enumeration(&mut self, it: &'a Node<EnumType>) -> Checked<Type> {
        let tag = it.node.identifier.as_ref().map(|name| name.node.name.clone());
        if it.node.enumerators.is_empty() {
            let name = tag.unwrap_or_default();
            let known = self.scopes.iter().rev().find_map(|scope| scope.tags.get(&name));
            return Ok(match known {
                Some(Tag::Enum(ty)) => ty.clone(),
                _ => Type::Int(Int::UnsignedInt),
            });
        }
        let mut next = 0;
        let mut is_negative = false;
        let mut is_wide = false;
        for enumerator in &it.node.enumerators {
            if let Some(expression) = &enumerator.node.expression {
                next = self.constant_int(expression)?;
            }
            is_negative |= next < 0;
            is_wide |= i32::try_from(next).is_err();
            let ty = if is_wide { Type::Int(Int::Long) } else { Type::INT };
            self.bind(&enumerator.node.identifier.node.name, Name::Enumerator(next, ty));
            next = next.wrapping_add(1);
        }
        let ty = Type::Int(match (is_wide, is_negative) {
            (false, false) => Int::UnsignedInt,
            (false, true) => Int::Int,
            (true, false) => Int::UnsignedLong,
            (true, true) => Int::Long,
        });
        if let Some(tag) = tag {
            self.scope().tags.insert(tag, Tag::Enum(ty.clone()));
        }
        Ok(ty)
    }

    fn record(&mut self, it: &'a Node<StructType>) -> Checked<Type> {
        let is_union = it.node.kind.node == StructKind::Union;
        let name = it.node.identifier.as_ref().map(|name| name.node.name.clone());
        let defines = it.node.declarations.is_some();
        let known = name.as_ref().and_then(|name| {
            // A definition is one of its own scope; a mention finds those outside.
            let n_looked_at = if defines { 1 } else { self.scopes.len() };
            self.scopes.iter().rev().take(n_looked_at).find_map(|scope| scope.tags.get(name))
        });
        let id = match known {
            Some(&Tag::Record(id)) => id,
            _ => {
                let id = RecordId(self.tree.records.0.len());
                let shown = name.clone().unwrap_or_else(|| "{…}".to_owned());
                self.tree.records.0.push(Record {
                    name: shown,
                    is_union,
                    sync: None,
                    layout: None,
                });
                if let Some(name) = name {
                    self.scope().tags.insert(name, Tag::Record(id));
                }
                id
            }
        };
        if let Some(declarations) = &it.node.declarations {
            let text = self.units[self.unit_idx].text_idx as usize;
            let text = &self.sources.texts[text].text;
            let is_packed = is_packed(text, it.span.start, it.span.end);
            let mut builder = Builder::new(is_union, is_packed);
            for declaration in declarations {
                if let StructDeclaration::Field(field) = &declaration.node {
                    self.fields(&mut builder, field)?;
                }
            }
            self.tree.records.0[id.0].layout = Some(builder.finish());
        }
        Ok(Type::Record(id))
    }

    fn fields(&mut self, builder: &mut Builder, it: &'a Node<StructField>) -> Checked<()> {
        let span = self.span(it.span);
        let base = self.specifier_qualifiers(&it.node.specifiers, span)?;
        if it.node.declarators.is_empty() {
            let size = self.size_of(&base.ty, span)?;
            let align = self.tree.records.align(&base.ty);
            builder.field(None, base, size, align);
            return Ok(());
        }
        for declarator in &it.node.declarators {
            let (name, ty) = match &declarator.node.declarator {
                Some(declarator) => self.declarator(base.clone(), declarator)?,
                None => (None, base.clone()),
            };
            if let Some(width) = &declarator.node.bit_width {
                let width = self.constant_int(width)?;
                let Type::Int(int) = ty.ty else {
                    return Err(self.invalid(span, "a bit-field that is no integer"));
                };
                builder.bit_field(name, int, width as u8);
                continue;
            }
            let align = self.tree.records.align(&ty.ty);
            // A flexible array at the end has no size of its own.
            let size = match ty.ty {
                Type::Array(_, None) => 0,
                _ => self.size_of(&ty.ty, span)?,
            };
            builder.field(name, ty, size, align);
        }
        Ok(())
    }

    /// The name and the type that a declarator gives to a base type.
    fn declarator(
        &mut self,
        base: Qualified,
        it: &'a Node<Declarator>,
    ) -> Checked<(Option<String>, Qualified)> {
        let mut ty = base;
        // Pointers come first in the text; arrays and functions are read from the inside out.
        for derived in &it.node.derived {
            if let DerivedDeclarator::Pointer(qualifiers) = &derived.node {
                let mut words = Words::default();
                for qualifier in qualifiers {
                    if let PointerQualifier::TypeQualifier(it) = &qualifier.node {
                        words.qualify(&it.node);
                    }
                }
                ty = Qualified {
                    ty: Type::Pointer(Rc::new(ty)),
                    is_atomic: words.is_atomic,
                    is_volatile: words.is_volatile,
                    is_const: words.is_const,
                };
            }
        }
        for derived in it.node.derived.iter().rev() {
            let span = self.span(derived.span);
            match &derived.node {
                DerivedDeclarator::Pointer(_) => {}
                DerivedDeclarator::Array(array) => {
                    let length = self.array_length(&array.node.size, span)?;
                    ty = Qualified::plain(Type::Array(Rc::new(ty), length));
                }
                DerivedDeclarator::Function(function) => {
                    ty = Qualified::plain(self.function_type(ty.ty, &function.node)?);
                }
                DerivedDeclarator::KRFunction(names) => {
                    let parameters = names.iter().map(|_| Type::INT).collect();
                    ty = Qualified::plain(Type::Function(Rc::new(Signature {
                        result: ty.ty,
                        parameters,
                        is_variadic: false,
                        is_unspecified: true,
                    })));
                }
                DerivedDeclarator::Block(_) => return Err(self.unsupported(span, "a block")),
            }
        }
        match &it.node.kind.node {
            DeclaratorKind::Abstract => Ok((None, ty)),
            DeclaratorKind::Identifier(name) => Ok((Some(name.node.name.clone()), ty)),
            DeclaratorKind::Declarator(inner) => self.declarator(ty, inner),
        }
    }

    fn array_length(&mut self, size: &'a ArraySize, span: Span) -> Checked<Option<u64>> {
        match size {
            ArraySize::Unknown | ArraySize::VariableUnknown => Ok(None),
            ArraySize::VariableExpression(length) | ArraySize::StaticExpression(length) => {
                let length = self.expression(length)?;
                match fold(&length) {
                    Some(Constant::Int(length)) if length >= 0 => Ok(Some(length as u64)),
                    Some(_) => Err(self.invalid(span, "a length that is no number")),
                    None => {
                        // What follows is looked at as if it had some length.
                        self.unsupported(span, "an array of variable length");
                        Ok(Some(1))
                    }
                }
            }
        }
    }

    fn function_type(&mut self, result: Type, it: &'a FunctionDeclarator) -> Checked<Type> {
        self.scopes.push(super::Scope::default());
        let parameters = it.parameters.iter().map(|parameter| Ok(self.parameter(parameter)?.1.ty));
        let parameters: Checked<Vec<_>> = parameters.collect();
        self.scopes.pop();
        let mut parameters = parameters?;
        let is_unspecified = parameters.is_empty();
        if parameters == [Type::Void] {
            parameters.clear();
        }
        let is_variadic = it.ellipsis == Ellipsis::Some;
        Ok(Type::Function(Rc::new(Signature { result, parameters, is_variadic, is_unspecified })))
    }

    fn parameter(
        &mut self,
        it: &'a Node<ParameterDeclaration>,
    ) -> Checked<(Option<String>, Qualified)> {
        let words = self.words(&it.node.specifiers)?;
        let base = self.base(&words, self.span(it.span))?;
        let (name, ty) = match &it.node.declarator {
            Some(declarator) => self.declarator(base, declarator)?,
            None => (None, base),
        };
        Ok((name, decayed(ty)))
    }

    /// The size of a complete type.
    pub(super) fn size_of(&mut self, ty: &Type, span: Span) -> Checked<u64> {
        match self.tree.records.size(ty) {
            Some(size) if size <= u64::from(u32::MAX) => Ok(size),
            Some(_) => Err(self.unsupported(span, "an object of more than 4 GiB")),
            None => {
                let text = format!("the size of `{}` is not known", self.tree.records.show(ty));
                Err(self.invalid(span, text))
            }
        }
    }

    /// A constant expression that is an integer.
    pub(super) fn constant_int(&mut self, it: &'a Node<Expression>) -> Checked<i64> {
        let span = self.span(it.span);
        let expression = self.expression(it)?;
        match fold(&expression) {
            Some(Constant::Int(value)) => Ok(value),
            _ => Err(self.invalid(span, "an expression whose value is not known beforehand")),
        }
    }

    /// Types that may be named and not used.
    pub(super) fn refuse_foreign(&mut self, ty: &Type, span: Span) -> Checked<()> {
        match ty {
            Type::Foreign(name, _) => Err(self.unsupported(span, format_args!("`{name}`"))),
            Type::Array(element, _) => self.refuse_foreign(&element.ty.clone(), span),
            _ => Ok(()),
        }
    }

    /// Attributes that change what a program does.
    fn refuse_attributes(&mut self, extensions: &[Node<Extension>]) -> Checked<()> {
        for extension in extensions {
            let Extension::Attribute(attribute) = &extension.node else { continue };
            let name = attribute.name.node.trim_matches('_');
            if matches!(name, "cleanup" | "vector_size" | "constructor" | "destructor") {
                let span = self.span(extension.span);
                return Err(self.unsupported(span, format_args!("the attribute `{name}`")));
            }
        }
        Ok(())
    }

    /// Variables that were declared, used and never defined.
    pub(super) fn used_local(&mut self, id: LocalId) {
        self.frame.body.locals[id.0].has_address = true;
    }
}

impl Words {
    fn qualify(&mut self, qualifier: &TypeQualifier) {
        match qualifier {
            TypeQualifier::Volatile => self.is_volatile = true,
            TypeQualifier::Atomic => self.is_atomic = true,
            TypeQualifier::Const => self.is_const = true,
            _ => {}
        }
    }

    fn absorb(&mut self, ty: Qualified) {
        self.base = Some(ty.ty);
        self.is_atomic |= ty.is_atomic;
        self.is_volatile |= ty.is_volatile;
        self.is_const |= ty.is_const;
    }

    fn ty(&self) -> Type {
        let int = |signed, unsigned| Type::Int(if self.is_unsigned { unsigned } else { signed });
        match &self.base {
            Some(Type::Int(Int::Char)) if self.is_unsigned => Type::Int(Int::UnsignedChar),
            Some(Type::Int(Int::Char)) if self.is_signed => Type::Int(Int::SignedChar),
            Some(Type::Double) if self.n_long > 0 => Type::Foreign("long double", 16),
            Some(Type::INT) | None => match (self.n_short, self.n_long) {
                (0, 0) => int(Int::Int, Int::UnsignedInt),
                (0, 1) => int(Int::Long, Int::UnsignedLong),
                (0, _) => int(Int::LongLong, Int::UnsignedLongLong),
                _ => int(Int::Short, Int::UnsignedShort),
            },
            Some(other) => other.clone(),
        }
    }
}

/// Whether an attribute gives a type another width.
fn has_mode(extension: &Extension) -> bool {
    matches!(extension, Extension::Attribute(it) if it.name.node.trim_matches('_') == "mode")
}

/// What threads synchronise on with a type of this name.
fn sync_named(name: &str) -> Option<Sync> {
    match name {
        "pthread_mutex_t" | "mtx_t" => Some(Sync::Mutex),
        "pthread_rwlock_t" => Some(Sync::RwLock),
        "pthread_cond_t" | "cnd_t" => Some(Sync::Condvar),
        "sem_t" => Some(Sync::Semaphore),
        "pthread_barrier_t" => Some(Sync::Barrier),
        _ => None,
    }
}

/// Parameters of array and function type are pointers.
fn decayed(ty: Qualified) -> Qualified {
    match ty.ty {
        Type::Array(element, _) => Qualified::plain(Type::Pointer(element)),
        Type::Function(_) => Qualified::plain(Type::pointer_to(ty.ty)),
        _ => ty,
    }
}

/// The part of a declarator that makes it one of a function: the innermost.
fn function_part(it: &Declarator) -> Option<&DerivedDeclarator> {
    if let DeclaratorKind::Declarator(inner) = &it.kind.node
        && let Some(found) = function_part(&inner.node)
    {
        return Some(found);
    }
    let is_function = |it: &&Node<DerivedDeclarator>| {
        matches!(it.node, DerivedDeclarator::Function(_) | DerivedDeclarator::KRFunction(_))
    };
    it.derived.iter().find(is_function).map(|it| &it.node)
}

/// Whether a struct is packed. The grammar skips what is said of a struct before its `{` and behind
/// its `}`, so the text is asked.
fn is_packed(text: &str, start: usize, end: usize) -> bool {
    let head = text.get(start..end).and_then(|it| it.split('{').next()).unwrap_or_default();
    let tail = text.get(end..).unwrap_or_default().trim_start();
    let tail = if tail.starts_with("__attribute") { tail } else { "" };
    let tail = tail.split("))").next().unwrap_or_default();
    [head, tail].iter().any(|part| part.contains("packed"))
}
