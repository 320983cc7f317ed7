//! Functions that run atomically: one step, in which nothing is waited for and nothing is chosen.
//!
//! What such a function does that is no access is refused at its place, also in functions that it
//! calls. What it calls through pointers is not known here: the machine says so when it gets there.

use super::{Checker, Extern};
use crate::tree::{
    Base, Callee, Expression, Function, FunctionId, Intrinsic, Kind, Part, Place, Primitive,
    Statement, Tree,
};
use mazurka_source::Span;
use rustc_hash::FxHashSet;

impl Checker<'_> {
    /// Reports what cannot be run atomically.
    pub(super) fn check_atomic_functions(&mut self) {
        let atomic = (0..self.tree.functions.len()).filter(|&idx| {
            let function = &self.tree.functions[idx];
            function.is_atomic() && function.body.is_some()
        });
        let mut search = Search::new(&self.tree, self.externs);
        atomic.for_each(|idx| search.function(FunctionId(idx)));
        for (what, span) in search.found {
            let what = format!("{what} in a function that runs atomically");
            self.unsupported(span, what);
        }
    }
}

/// What is found in functions and in those that they call.
struct Search<'t> {
    tree: &'t Tree,
    externs: &'t super::Externs,
    known: FxHashSet<FunctionId>,
    found: Vec<(String, Span)>,
}

impl<'t> Search<'t> {
    fn new(tree: &'t Tree, externs: &'t super::Externs) -> Self {
        Self { tree, externs, known: FxHashSet::default(), found: Vec::new() }
    }

    fn function(&mut self, id: FunctionId) {
        let function = &self.tree.functions[id.0];
        if let (true, Some(body)) = (self.known.insert(id), &function.body) {
            self.statements(&body.statements);
        }
    }

    fn statements(&mut self, statements: &'t [Statement]) {
        for statement in statements {
            match statement {
                Statement::Expression(it)
                | Statement::Switch(it, ..)
                | Statement::Return(Some(it), _) => self.expression(it),
                Statement::If(condition, then, otherwise) => {
                    self.expression(condition);
                    self.statements(then);
                    self.statements(otherwise);
                }
                Statement::Return(None, _)
                | Statement::Label(_)
                | Statement::Goto(_)
                | Statement::Declare(..) => {}
            }
        }
    }

    fn expression(&mut self, it: &'t Expression) {
        match &it.kind {
            Kind::Intrinsic(Intrinsic::Nondet, _) => {
                self.found.push(("any value".to_owned(), it.span));
            }
            Kind::Intrinsic(Intrinsic::Primitive(primitive), _) if !is_atomic(*primitive) => {
                self.found.push((String::new(), it.span));
            }
            Kind::Call(call) => {
                if let Callee::Function(id) = call.callee {
                    self.call(id, it.span);
                }
            }
            _ => {}
        }
        it.parts(&mut |part| match part {
            Part::Expression(it) => self.expression(it),
            Part::Place(place) => self.place(place),
            Part::Statements(statements) => self.statements(statements),
        });
    }

    fn place(&mut self, place: &'t Place) {
        match &place.base {
            Base::Pointer(it) | Base::Value(it) => self.expression(it),
            Base::Local(_) | Base::Global(_) => {}
        }
    }

    fn call(&mut self, id: FunctionId, span: Span) {
        let Function { name, is_library, body, .. } = &self.tree.functions[id.0];
        let is_chosen = body.is_none() && self.externs.get(name) == Some(&Extern::Nondet);
        let is_wrong = match is_library {
            // What is wrong in the library is wrong where it is called.
            true => {
                let mut inner = Search::new(self.tree, self.externs);
                inner.function(id);
                !inner.found.is_empty()
            }
            false => {
                self.function(id);
                is_chosen
            }
        };
        if is_wrong {
            self.found.push((format!("`{name}`"), span));
        }
    }
}

/// Whether an atomic block may have this in it.
fn is_atomic(primitive: Primitive) -> bool {
    use Primitive as P;
    !matches!(
        primitive,
        P::Choose
            | P::Spurious
            | P::Spawn
            | P::Join
            | P::JoinInt
            | P::Lock
            | P::TryLock
            | P::Unlock
            | P::ReadLock
            | P::WriteLock
            | P::TryReadLock
            | P::TryWriteLock
            | P::ReadWriteUnlock
            | P::Wait
            | P::NotifyOne
            | P::NotifyAll
            | P::SemaphoreAcquire
            | P::SemaphoreTryAcquire
            | P::SemaphoreRelease
            | P::SemaphoreValue
            | P::BarrierWait
            | P::Await
    )
}
