//! Escape analysis: which locals other threads may see, and which functions are called through
//! pointers.

use crate::tree::{
    Base, Body, Call, Callee, Constant, Expression, Kind, Local, Part, Place, Statement, Tree,
};

/// Whether a function of the library uses an argument only while it runs.
fn is_borrowed(name: &str, argument_idx: usize) -> bool {
    match name {
        "pthread_create" | "thrd_create" => argument_idx <= 1,
        "pthread_join" | "thrd_join" => argument_idx == 1,
        "pthread_key_create" | "sem_getvalue" | "nanosleep" => true,
        _ => [
            "pthread_attr_",
            "pthread_mutexattr_",
            "pthread_rwlockattr_",
            "pthread_condattr_",
            "pthread_barrierattr_",
        ]
        .iter()
        .any(|it| name.starts_with(it)),
    }
}

/// For each local of a function, whether its address gets out of the function's sight.
pub(super) fn escaping(tree: &Tree, body: &Body) -> Vec<bool> {
    let mut walk = Walk { tree, escapes: vec![false; body.locals.len()], functions: None };
    walk.statements(&body.statements);
    walk.escapes
}

/// For each function, whether its address is taken.
pub(super) fn functions_with_address(tree: &Tree) -> Vec<bool> {
    let mut has_address = vec![false; tree.functions.len()];
    for function in &tree.functions {
        let Some(body) = &function.body else { continue };
        let escapes = vec![false; body.locals.len()];
        let mut walk = Walk { tree, escapes, functions: Some(std::mem::take(&mut has_address)) };
        walk.statements(&body.statements);
        has_address = walk.functions.expect("it was given");
    }
    for initial in tree.globals.iter().flat_map(|global| &global.initial) {
        if let Constant::Function(id) = initial.value {
            has_address[id.0] = true;
        }
    }
    has_address
}

/// Whether a local of a library function keeps the value that it is called with.
pub(super) fn is_constant(body: &Body, local_idx: usize) -> bool {
    let mut is_written = false;
    let mut look = |place: &Place| {
        is_written |= matches!(place.base, Base::Local(id) if id.0 == local_idx);
    };
    written(&body.statements, &mut look);
    let Local { has_address, .. } = body.locals[local_idx];
    !is_written && !has_address
}

struct Walk<'t> {
    tree: &'t Tree,
    escapes: Vec<bool>,
    functions: Option<Vec<bool>>,
}

impl Walk<'_> {
    fn statements(&mut self, statements: &[Statement]) {
        for statement in statements {
            match statement {
                Statement::Expression(it) | Statement::Switch(it, ..) => self.expression(it),
                Statement::If(condition, then, otherwise) => {
                    self.expression(condition);
                    self.statements(then);
                    self.statements(otherwise);
                }
                Statement::Return(Some(it), _) => self.expression(it),
                Statement::Return(None, _)
                | Statement::Label(_)
                | Statement::Goto(_)
                | Statement::Declare(..) => {}
            }
        }
    }

    fn expression(&mut self, it: &Expression) {
        match &it.kind {
            Kind::Address(place) => {
                if let Base::Local(id) = place.base {
                    self.escapes[id.0] = true;
                }
                self.place(place);
            }
            Kind::Function(id) => {
                if let Some(functions) = &mut self.functions {
                    functions[id.0] = true;
                }
            }
            Kind::Call(call) => self.call(call),
            _ => it.parts(&mut |part| match part {
                Part::Expression(it) => self.expression(it),
                Part::Place(place) => self.place(place),
                Part::Statements(statements) => self.statements(statements),
            }),
        }
    }

    fn call(&mut self, call: &Call) {
        let name = match &call.callee {
            Callee::Function(id) if self.tree.functions[id.0].is_library => {
                self.tree.functions[id.0].name.as_str()
            }
            Callee::Function(_) => "",
            Callee::Pointer(pointer) => {
                self.expression(pointer);
                ""
            }
        };
        for (idx, argument) in call.arguments.iter().enumerate() {
            match is_borrowed(name, idx) {
                true => self.used_here(argument),
                false => self.expression(argument),
            }
        }
    }

    fn place(&mut self, place: &Place) {
        match &place.base {
            Base::Pointer(pointer) => self.used_here(pointer),
            Base::Value(value) => self.expression(value),
            Base::Local(_) | Base::Global(_) => {}
        }
    }

    /// A pointer that is followed at once: the address of a local does not get away by it.
    fn used_here(&mut self, pointer: &Expression) {
        match &pointer.kind {
            Kind::Address(place) => self.place(place),
            Kind::Convert(inner) => self.used_here(inner),
            Kind::Advance(base, index, _) => {
                self.used_here(base);
                self.expression(index);
            }
            Kind::Statements(statements, Some(last)) => {
                self.statements(statements);
                self.used_here(last);
            }
            _ => self.expression(pointer),
        }
    }
}

/// Calls `look` with every place that is written to.
fn written(statements: &[Statement], look: &mut dyn FnMut(&Place)) {
    for statement in statements {
        match statement {
            Statement::Expression(it)
            | Statement::Switch(it, ..)
            | Statement::Return(Some(it), _) => {
                written_by(it, look);
            }
            Statement::If(condition, then, otherwise) => {
                written_by(condition, look);
                written(then, look);
                written(otherwise, look);
            }
            Statement::Return(None, _)
            | Statement::Label(_)
            | Statement::Goto(_)
            | Statement::Declare(..) => {}
        }
    }
}

fn written_by(it: &Expression, look: &mut dyn FnMut(&Place)) {
    match &it.kind {
        Kind::Assign(place, _) => look(place),
        Kind::Update(update) => look(&update.place),
        _ => {}
    }
    it.parts(&mut |part| match part {
        Part::Expression(it) => written_by(it, look),
        Part::Place(place) => match &place.base {
            Base::Pointer(it) | Base::Value(it) => written_by(it, look),
            Base::Local(_) | Base::Global(_) => {}
        },
        Part::Statements(statements) => written(statements, look),
    });
}
