//! Semantic analysis: from the grammar to the [`Tree`]; names, types, conversions.
//!
//! The compiler has accepted the program before it comes here, so this is no second compiler: it
//! computes what the types and conversions are, and refuses what has no meaning as a model. Only
//! functions that `main` can reach are looked into; what is not called is no part of the program.

mod atomic;
mod builtin;
mod constant;
mod declaration;
mod expression;
mod format;
mod initialiser;
mod literal;
mod statement;
mod unassigned;

use crate::fault as code;
use crate::tokens::spelled;
use crate::tree::{Body, Function, FunctionId, Global, GlobalId, LabelId, Local, LocalId, Tree};
use crate::types::{Qualified, RecordId, Signature, Type};
use lang_c::ast::{ExternalDeclaration, FunctionDefinition, TranslationUnit};
use lang_c::span::Node;
use mazurka_model::{Assumption, SourceLocation};
use mazurka_source::Fault;
use mazurka_source::{Sources, Span};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::rc::Rc;

pub(crate) use constant::fold;

/// A file, parsed.
#[derive(Debug)]
pub(crate) struct Unit {
    pub(crate) ast: TranslationUnit,
    pub(crate) text_idx: u32,
    /// Whether its functions give way to others of their name: it is our own library.
    pub(crate) is_library: bool,
}

/// The meaning of a name.
#[derive(Clone, Debug)]
enum Name {
    Type(Qualified),
    Global(GlobalId),
    Local(LocalId),
    Function(FunctionId),
    Enumerator(i64, Type),
}

#[derive(Debug, Default)]
struct Scope {
    names: FxHashMap<String, Name>,
    tags: FxHashMap<String, Tag>,
}

#[derive(Clone, Debug)]
enum Tag {
    Record(RecordId),
    Enum(Type),
}

/// It has been reported.
#[derive(Clone, Copy, Debug)]
struct Reported;

type Checked<T> = Result<T, Reported>;

/// All of several results. Each is made before any is looked at, so that whatever is wrong is told.
fn all<T>(results: impl Iterator<Item = Checked<T>>) -> Checked<Vec<T>> {
    let results: Vec<_> = results.collect();
    results.into_iter().collect()
}

/// A function definition that is looked into when it is needed.
#[derive(Clone, Copy, Debug)]
struct Definition<'a> {
    unit_idx: usize,
    ast: &'a Node<FunctionDefinition>,
}

/// What the checking of one function needs to know.
#[derive(Debug, Default)]
struct Frame {
    body: Body,
    result: Option<Type>,
    name: String,
    labels: FxHashMap<String, LabelId>,
    breaks: Vec<LabelId>,
    continues: Vec<LabelId>,
    switches: Vec<statement::Switch>,
}

/// The one who checks.
#[derive(Debug)]
pub(crate) struct Checker<'a> {
    sources: &'a Sources,
    units: &'a [Unit],
    tree: Tree,
    faults: Vec<Fault>,
    /// The file scope comes first.
    scopes: Vec<Scope>,
    /// The file scopes of the units that are not being looked at.
    file_scopes: Vec<Scope>,
    unit_idx: usize,
    /// What has external linkage.
    external: FxHashMap<String, Name>,
    definitions: Vec<Option<Definition<'a>>>,
    /// Functions to look into, and those that were put there already.
    queue: VecDeque<FunctionId>,
    is_queued: Vec<bool>,
    /// Who is called without a body, and where first.
    missing: Vec<(FunctionId, Span)>,
    externs: &'a Externs,
    /// Which variables are mentioned, and where.
    used: Vec<(GlobalId, Span)>,
    strings: FxHashMap<Vec<u8>, GlobalId>,
    frame: Frame,
    /// What the result takes for granted.
    assumptions: Vec<Assumption>,
}

/// A program that was checked.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) tree: Tree,
    /// The functions that were asked for.
    pub(crate) roots: Vec<FunctionId>,
    /// What the result takes for granted.
    pub(crate) assumptions: Vec<Assumption>,
}

/// What the user says about functions without a body.
pub(crate) type Externs = FxHashMap<String, Extern>;

/// What a function without a body does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extern {
    /// It returns any value.
    Nondet,
    /// It returns 0.
    Skip,
}

/// Checks the functions with these names, and all that they need.
pub(crate) fn check(
    sources: &Sources,
    units: &[Unit],
    roots: &[&str],
    externs: &Externs,
) -> Result<Program, Vec<Fault>> {
    let mut checker = Checker::new(sources, units, externs);
    for unit_idx in 0..units.len() {
        checker.declare_unit(unit_idx);
    }
    let roots: Vec<_> = roots.iter().filter_map(|name| checker.root(name)).collect();
    while let Some(id) = checker.queue.pop_front() {
        checker.body(id);
    }
    checker.complain_of_missing();
    checker.check_atomic_functions();
    checker.look_for_values();
    // The compiler takes the program for valid: what seems not to be is a consequence of the rest.
    if checker.faults.iter().any(|fault| fault.code != code::INVALID) {
        checker.faults.retain(|fault| fault.code != code::INVALID);
    }
    match checker.faults.is_empty() {
        true => Ok(Program { tree: checker.tree, roots, assumptions: checker.assumptions }),
        false => Err(checker.faults),
    }
}

impl<'a> Checker<'a> {
    fn new(sources: &'a Sources, units: &'a [Unit], externs: &'a Externs) -> Self {
        Self {
            sources,
            units,
            externs,
            tree: Tree::default(),
            faults: Vec::new(),
            scopes: Vec::new(),
            file_scopes: units.iter().map(|_| Scope::default()).collect(),
            unit_idx: 0,
            external: FxHashMap::default(),
            definitions: Vec::new(),
            queue: VecDeque::new(),
            is_queued: Vec::new(),
            missing: Vec::new(),
            used: Vec::new(),
            strings: FxHashMap::default(),
            frame: Frame::default(),
            assumptions: Vec::new(),
        }
    }

    /// Makes the file scope of a unit the current one.
    fn enter_unit(&mut self, unit_idx: usize) {
        debug_assert!(self.scopes.is_empty(), "one unit at a time");
        self.unit_idx = unit_idx;
        self.scopes.push(std::mem::take(&mut self.file_scopes[unit_idx]));
    }

    fn leave_unit(&mut self) {
        self.file_scopes[self.unit_idx] = self.scopes.pop().expect("the file scope is there");
        debug_assert!(self.scopes.is_empty(), "every scope is left");
    }

    fn declare_unit(&mut self, unit_idx: usize) {
        self.enter_unit(unit_idx);
        let unit = &self.units[unit_idx];
        for item in &unit.ast.0 {
            // What is wrong was reported; the rest of the file may have more.
            let _ = match &item.node {
                ExternalDeclaration::Declaration(it) => self.declaration(it).map(drop),
                ExternalDeclaration::StaticAssert(_) => Ok(()),
                ExternalDeclaration::FunctionDefinition(it) => self.define_function(it),
            };
        }
        self.leave_unit();
    }

    fn root(&mut self, name: &str) -> Option<FunctionId> {
        match self.external.get(name) {
            Some(&Name::Function(id)) if self.definitions[id.0].is_some() => {
                self.need(id, None);
                Some(id)
            }
            _ => {
                let fault = Fault::new(code::NO_MAIN, format!("there is no function `{name}`"));
                self.faults.push(fault.help("a program starts at `int main(void)`"));
                None
            }
        }
    }

    /// A function is called, or its address is taken.
    fn need(&mut self, id: FunctionId, span: Option<Span>) {
        if self.is_queued[id.0] {
            return;
        }
        self.is_queued[id.0] = true;
        if Function::is_error(&self.tree.functions[id.0].name) {
            return;
        }
        match (self.definitions[id.0], span) {
            (Some(_), _) => self.queue.push_back(id),
            (None, Some(span)) => self.missing.push((id, span)),
            (None, None) => {}
        }
    }

    /// Looks into a function.
    fn body(&mut self, id: FunctionId) {
        let definition = self.definitions[id.0].expect("only what is defined is queued");
        self.tree.functions[id.0].is_library = self.units[definition.unit_idx].is_library;
        self.enter_unit(definition.unit_idx);
        let done = self.function_body(id, &definition.ast.node);
        if let Ok(body) = done {
            self.tree.functions[id.0].body = Some(body);
        }
        self.leave_unit();
    }

    /// Functions without a body, unless the user said what they do; variables that no file defines.
    fn complain_of_missing(&mut self) {
        for (id, span) in std::mem::take(&mut self.used) {
            let global = &mut self.tree.globals[id.0];
            if !std::mem::replace(&mut global.is_defined, true) {
                let text = format!("`{}` is declared, and no file defines it", global.name);
                self.report(span, Fault::new(code::NO_DEFINITION, text).label("used here"));
            }
        }
        for (id, span) in std::mem::take(&mut self.missing) {
            let name = self.tree.functions[id.0].name.clone();
            let result = self.tree.functions[id.0].signature.result.clone();
            let is_simple = result == Type::Void || result.as_int().is_some();
            let meaning = self.externs.get(&name);
            if meaning == Some(&Extern::Nondet) && !is_simple {
                self.unsupported(span, format_args!("`--extern {name}=nondet` of this type"));
                continue;
            }
            if let Some(meaning) = meaning {
                let is_nondeterministic = *meaning == Extern::Nondet;
                self.assumptions.push(Assumption::Extern { function: name, is_nondeterministic });
                continue;
            }
            let fault =
                Fault::new(code::NO_BODY, format!("`{name}` has no definition and no model"));
            let help = format!("define it, or say what it does: `--extern {name}=nondet|skip`");
            self.report(span, fault.label("called here").help(help));
        }
    }

    /// Takes for granted that variables have a value when they are read, where that is not clear.
    fn look_for_values(&mut self) {
        let functions = self.tree.functions.iter().filter(|function| !function.is_library);
        let spans = functions.filter_map(|function| {
            let body = function.body.as_ref()?;
            let first = unassigned::unassigned(&self.tree, body).into_iter().next()?;
            Some(body.locals[first.0].span)
        });
        if let Some(span) = spans.min_by_key(|span| (span.text_idx, span.start)) {
            self.assume(Assumption::Uninitialised(self.location(span)));
        }
    }

    /// A part of the unit that is looked at.
    fn span(&self, span: lang_c::span::Span) -> Span {
        let text_idx = self.units[self.unit_idx].text_idx;
        Span { text_idx, start: span.start as u32, end: span.end as u32 }
    }

    fn report(&mut self, span: Span, fault: Fault) -> Reported {
        let spot = self.sources.spot(span);
        let line = self.sources.line(&spot.file, spot.line);
        let message = spelled(&fault.message).into_owned();
        let help = fault.help.map(|help| spelled(&help).into_owned());
        let fault = Fault { message, help, line, spot: Some(spot), ..fault };
        if !self.faults.contains(&fault) {
            self.faults.push(fault);
        }
        Reported
    }

    /// A construct that has no meaning as a model.
    fn unsupported(&mut self, span: Span, what: impl std::fmt::Display) -> Reported {
        let fault = Fault::new(code::UNSUPPORTED, format!("{what} is not supported"));
        self.report(span, fault.label("used here"))
    }

    /// Something the compiler should have refused.
    fn invalid(&mut self, span: Span, what: impl Into<String>) -> Reported {
        self.report(span, Fault::new(code::INVALID, what))
    }

    /// Where a piece of the text stands, for an assumption that it causes.
    fn location(&self, span: Span) -> Option<SourceLocation> {
        let spot = self.sources.spot(span);
        Some(SourceLocation {
            file: spot.file,
            line: spot.line,
            column: spot.column,
            function: None,
            within: None,
            is_library: false,
        })
    }

    /// Takes something for granted; where it has a place, the first one is told.
    fn assume(&mut self, what: Assumption) {
        let is_known = |known: &Assumption| match what {
            Assumption::Uninitialised(_) => known.code() == what.code(),
            _ => *known == what,
        };
        if !self.assumptions.iter().any(is_known) {
            self.assumptions.push(what);
        }
    }

    fn lookup(&self, name: &str) -> Option<Name> {
        self.scopes.iter().rev().find_map(|scope| scope.names.get(name)).cloned()
    }

    fn scope(&mut self) -> &mut Scope {
        self.scopes.last_mut().expect("there is a file scope at least")
    }

    fn is_file_scope(&self) -> bool {
        self.scopes.len() == 1
    }

    fn bind(&mut self, name: &str, meaning: Name) {
        self.scope().names.insert(name.to_owned(), meaning);
    }

    fn local(&mut self, name: &str, ty: Qualified, span: Span) -> LocalId {
        let has_address = !ty.ty.is_scalar();
        let local = Local { name: name.to_owned(), ty, has_address, span };
        self.frame.body.locals.push(local);
        LocalId(self.frame.body.locals.len() - 1)
    }

    fn label(&mut self, name: &str) -> LabelId {
        self.frame.body.labels.push(name.to_owned());
        LabelId(self.frame.body.labels.len() - 1)
    }

    fn global(&mut self, global: Global) -> GlobalId {
        self.tree.globals.push(global);
        GlobalId(self.tree.globals.len() - 1)
    }

    /// A function with this name, declared once more or for the first time.
    fn function(
        &mut self,
        name: &str,
        signature: Rc<Signature>,
        is_static: bool,
        span: Span,
    ) -> FunctionId {
        let known = match self.scopes.first().and_then(|file| file.names.get(name)) {
            Some(&Name::Function(id)) => Some(id),
            _ if is_static => None,
            _ => match self.external.get(name) {
                Some(&Name::Function(id)) => Some(id),
                _ => None,
            },
        };
        if let Some(id) = known {
            let old = &mut self.tree.functions[id.0].signature;
            if old.is_unspecified && !signature.is_unspecified {
                *old = signature;
            }
            return id;
        }
        let id = FunctionId(self.tree.functions.len());
        self.tree.functions.push(Function {
            name: name.to_owned(),
            signature,
            span,
            is_library: false,
            body: None,
        });
        self.definitions.push(None);
        self.is_queued.push(false);
        if !is_static {
            self.external.insert(name.to_owned(), Name::Function(id));
        }
        id
    }
}

fn pointer(target: &Qualified) -> Type {
    Type::Pointer(Rc::new(target.clone()))
}
