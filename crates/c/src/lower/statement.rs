//! Statements, and the beginning and the end of functions.

use super::{Writer, escape, value_type};
use crate::check::Extern;
use crate::tokens::spelled;
use crate::tree::{Body, Case, Expression, Function, FunctionId, LocalId, Statement};
use crate::types;
use mazurka_model::{Action, Compare, Expr, LocationId, Place, RegisterId, Type, ViolationKind};

/// The function that is being written.
#[derive(Default)]
pub(super) struct Context<'a> {
    pub(super) body: Option<&'a Body>,
    pub(super) variables: Vec<Variable>,
    /// For each local, whether others may get to see it.
    pub(super) escapes: Vec<bool>,
    labels: Vec<Option<LocationId>>,
    result: Option<types::Type>,
    end: End,
    /// Whether the function runs atomically.
    is_atomic: bool,
}

/// Where a local is.
#[derive(Clone, Debug)]
pub(super) enum Variable {
    Register(RegisterId),
    Memory(Place),
    /// In a library function: what it was called with.
    Value(Expr),
}

/// What `return` does.
#[derive(Clone, Debug, Default)]
enum End {
    /// Ends the routine.
    #[default]
    Routine,
    /// Ends the routine; the struct it returns goes where this register points to.
    Struct(RegisterId),
    /// Goes on behind the call of a library function, with its value in the register.
    Inline(LocationId, Option<RegisterId>),
}

impl<'a> Writer<'_, 'a> {
    /// Writes a function as a routine.
    pub(super) fn routine(&mut self, id: FunctionId, body: &'a Body) {
        let function = &self.all.tree.functions[id.0];
        let result = function.signature.result.clone();
        let n_parameters = body.n_parameters;
        let escapes = escape::escaping(self.all.tree, body);
        let is_atomic = function.is_atomic();
        self.context = Context { body: Some(body), escapes, is_atomic, ..Context::default() };
        self.context.end = match result {
            types::Type::Record(_) => End::Struct(self.to.parameter("result", Type::Pointer)),
            types::Type::Void => End::Routine,
            ref scalar => {
                self.to.returns(value_type(scalar));
                End::Routine
            }
        };
        self.context.result = Some(result);
        let mut parameters = Vec::new();
        for local in &body.locals[..n_parameters] {
            self.to.at(self.all.place(local.span));
            let name = spelled(&local.name);
            parameters.push(self.to.parameter(&name, value_type(&local.ty.ty)));
        }
        if n_parameters == 0 && self.all.has_address[id.0] {
            self.to.parameter("", Type::Pointer);
        }
        self.variables(body, &parameters);
        if is_atomic {
            self.at(function.span);
            self.to.then(Action::AtomicBegin);
        }
        self.prologue(body, &parameters);
        self.context.labels = vec![None; body.labels.len()];
        self.statements(&body.statements);
        self.at(body.end);
        self.return_nothing();
    }

    /// Finds a place for each local.
    fn variables(&mut self, body: &'a Body, parameters: &[RegisterId]) {
        for (idx, local) in body.locals.iter().enumerate() {
            let place = self.all.place(local.span);
            let name = spelled(&local.name);
            self.to.at(self.call_place.unwrap_or(place));
            let variable = match (local.has_address, parameters.get(idx)) {
                (false, Some(register)) => Variable::Register(*register),
                (false, None) => {
                    Variable::Register(self.to.register(&name, value_type(&local.ty.ty)))
                }
                (true, _) => {
                    let layout = self.all.layout(&local.ty.ty);
                    Variable::Memory(self.to.frame_object(&name, layout))
                }
            };
            self.context.variables.push(variable);
        }
    }

    /// Parameters whose address is taken are put into memory.
    fn prologue(&mut self, body: &'a Body, parameters: &[RegisterId]) {
        for (idx, register) in parameters.iter().enumerate() {
            let local = &body.locals[idx];
            let Variable::Memory(place) = self.context.variables[idx].clone() else { continue };
            self.at(local.span);
            let value = self.to.get(*register);
            match &local.ty.ty {
                types::Type::Record(_) => {
                    self.copy_record(&local.ty.ty, place, Place::pointer(value), idx);
                }
                _ => self.to.store(place, value, mazurka_model::Access::Private),
            }
        }
    }

    /// Writes a library function where it is called.
    pub(super) fn inline(
        &mut self,
        id: FunctionId,
        body: &'a Body,
        arguments: Vec<Expr>,
    ) -> Option<Expr> {
        let function = &self.all.tree.functions[id.0];
        let result = function.signature.result.clone();
        let value = match &result {
            types::Type::Void => None,
            ty => Some(self.temporary(value_type(ty))),
        };
        let end = self.to.location();
        let inner = Context {
            body: Some(body),
            escapes: vec![true; body.locals.len()],
            labels: vec![None; body.labels.len()],
            result: Some(result),
            end: End::Inline(end, value),
            variables: Vec::new(),
            is_atomic: false,
        };
        let caller = std::mem::replace(&mut self.context, inner);
        let is_outermost = self.outer.is_none();
        let caller = match is_outermost {
            true => {
                self.outer = Some(Box::new(caller));
                None
            }
            false => Some(caller),
        };
        for (idx, local) in body.locals.iter().enumerate() {
            let variable = match arguments.get(idx) {
                Some(it) if is_simple(it) && escape::is_constant(body, idx) => {
                    Variable::Value(it.clone())
                }
                argument => self.inline_local(local, argument),
            };
            self.context.variables.push(variable);
        }
        self.statements(&body.statements);
        self.to.jump(end);
        self.to.go_on_from(end);
        self.context = match caller {
            Some(caller) => caller,
            None => *self.outer.take().expect("it was put there"),
        };
        value.map(|register| self.to.get(register))
    }

    fn inline_local(&mut self, local: &crate::tree::Local, argument: Option<&Expr>) -> Variable {
        if local.has_address {
            let layout = self.all.layout(&local.ty.ty);
            let place = self.to.frame_object(&local.name, layout);
            if let Some(argument) = argument {
                self.to.store(place.clone(), argument.clone(), mazurka_model::Access::Private);
            }
            return Variable::Memory(place);
        }
        let register = self.temporary(value_type(&local.ty.ty));
        if let Some(argument) = argument {
            self.to.assign(register, argument.clone());
        }
        Variable::Register(register)
    }

    fn statements(&mut self, statements: &'a [Statement]) {
        for statement in statements {
            let mark = self.used.len();
            self.statement(statement);
            self.release(mark);
        }
    }

    /// Statements within an expression: what they leave behind is still needed.
    pub(super) fn inner_statements(&mut self, statements: &'a [Statement]) {
        statements.iter().for_each(|statement| self.statement(statement));
    }

    fn statement(&mut self, statement: &'a Statement) {
        match statement {
            Statement::Expression(it) => self.effect(it),
            Statement::If(condition, then, otherwise) => {
                let (yes, no, end) = (self.to.location(), self.to.location(), self.to.location());
                self.branch(condition, yes, no);
                self.to.go_on_from(yes);
                self.statements(then);
                self.to.jump(end);
                self.to.go_on_from(no);
                self.statements(otherwise);
                self.to.jump(end);
                self.to.go_on_from(end);
            }
            Statement::Switch(value, cases, default) => self.switch(value, cases, *default),
            Statement::Label(label) => {
                let location = self.label(*label);
                self.to.jump(location);
                self.to.go_on_from(location);
            }
            Statement::Goto(label) => {
                let location = self.label(*label);
                self.to.jump(location);
            }
            Statement::Return(value, span) => self.return_value(value.as_ref(), *span),
            Statement::Declare(id, is_zero) => self.declare(*id, *is_zero),
        }
    }

    fn label(&mut self, label: crate::tree::LabelId) -> LocationId {
        if let Some(location) = self.context.labels[label.0] {
            return location;
        }
        let location = self.to.location();
        self.context.labels[label.0] = Some(location);
        let name = &self.body().labels[label.0];
        // What a library function calls its labels does not matter.
        if !name.is_empty() && self.outer.is_none() {
            self.to.location_mut(location).name = Some(spelled(name).into_owned());
        }
        location
    }

    fn switch(&mut self, value: &'a Expression, cases: &'a [Case], default: crate::tree::LabelId) {
        let value = self.value(value);
        let value = self.small(value);
        let ty = value.ty();
        let number = |value: i64| Expr::int(ty, value);
        for case in cases {
            let to = self.label(case.label);
            let condition = match case.low == case.high {
                true => Expr::compare(Compare::Equal, value.clone(), number(case.low)),
                false => {
                    let low =
                        Expr::compare(Compare::GreaterOrEqual, value.clone(), number(case.low));
                    let high =
                        Expr::compare(Compare::LessOrEqual, value.clone(), number(case.high));
                    low.and(high)
                }
            };
            self.to.edge(self.to.here(), Some(condition), Action::Skip, to);
        }
        let to = self.label(default);
        self.to.jump(to);
    }

    fn declare(&mut self, id: LocalId, is_zero: bool) {
        if !is_zero {
            return;
        }
        let local = &self.body().locals[id.0];
        self.at(local.span);
        if let Variable::Memory(place) = self.context.variables[id.0].clone() {
            self.zero(&local.ty.ty, place, id.0);
        }
    }

    fn return_value(&mut self, value: Option<&'a Expression>, span: mazurka_source::Span) {
        let is_void = matches!(self.context.result, Some(types::Type::Void));
        let Some(value) = value else {
            self.at(span);
            return self.return_nothing();
        };
        if is_void {
            self.effect(value);
            self.at(span);
            return self.return_nothing();
        }
        match self.context.end.clone() {
            End::Routine => {
                let value = self.value(value);
                self.at(span);
                self.leave(Some(value));
            }
            End::Struct(register) => {
                let from = self.record(value);
                self.at(span);
                let to = Place::pointer(self.to.get(register));
                self.copy_record(&value.ty, to, from, usize::MAX);
                self.leave(None);
            }
            End::Inline(end, register) => {
                let value = self.value(value);
                if let Some(register) = register {
                    self.to.assign(register, value);
                }
                self.to.jump(end);
            }
        }
    }

    /// Returns from the routine.
    fn leave(&mut self, value: Option<Expr>) {
        if self.context.is_atomic {
            self.to.then(Action::AtomicEnd);
        }
        self.to.ret(value);
    }

    /// The end of a function without `return`. What its caller would get is not defined: 0.
    fn return_nothing(&mut self) {
        match (&self.context.end, &self.context.result) {
            (End::Inline(end, _), _) => self.to.jump(*end),
            (End::Routine, Some(types::Type::Void)) | (End::Struct(_), _) => self.leave(None),
            (End::Routine, result) => {
                let ty = result.as_ref().map_or(Type::I32, value_type);
                self.leave(Some(Expr::Const { ty, bits: 0 }));
            }
        }
    }

    /// What a function without a body returns.
    pub(super) fn without_body(&mut self, function: &Function) -> Option<Expr> {
        let result = &function.signature.result;
        if Function::is_error(&function.name) {
            let message = Function::error_message(&function.name);
            self.check(Expr::bool(false), ViolationKind::Assertion, &message);
        }
        match (self.all.externs.get(&function.name), result) {
            (_, types::Type::Void) => None,
            (Some(Extern::Nondet), types::Type::Int(int)) => {
                Some(self.nondet(*int, least_of(&function.name)))
            }
            _ => Some(Expr::Const { ty: value_type(result), bits: 0 }),
        }
    }
}

/// The least value that a function of the C library returns, whatever its type allows.
fn least_of(name: &str) -> i64 {
    match name {
        "rand" | "rand_r" | "random" | "lrand48" => 0,
        _ => i64::MIN,
    }
}

/// Whether a value may stand for a parameter wherever that is read.
fn is_simple(value: &Expr) -> bool {
    matches!(
        value,
        Expr::Const { .. } | Expr::Register { .. } | Expr::Routine(_) | Expr::Address(_)
    )
}
