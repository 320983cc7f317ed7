//! Definite assignment: which variables of a function may be read before they have a value.
//!
//! Implements definite assignment as in *The Java Language Specification*, chapter 16, by bytes,
//! and with jumps: what is assigned at a label is what is assigned at all jumps to it, found by
//! going through the function until nothing changes.
//!
//! A variable whose address is taken before it has a value counts as read, unless a function of the
//! library is known to write there. One that only names threads, from `pthread_create` to
//! `pthread_join`, never counts: without a value it names no thread, and joining that is an error
//! which every engine finds.

use crate::tree::{
    Base, Body, Call, Callee, Expression, Intrinsic, Kind, LabelId, LocalId, Part, Place,
    Statement, Step, Tree,
};
use std::collections::BTreeSet;

/// The variables of a function that may be read before they have a value.
pub(super) fn unassigned(tree: &Tree, body: &Body) -> BTreeSet<LocalId> {
    let mut flow = Flow {
        tree,
        body,
        now: None,
        at_label: vec![None; body.labels.len()],
        has_changed: true,
        read: BTreeSet::new(),
    };
    while std::mem::take(&mut flow.has_changed) {
        flow.read.clear();
        let mut first = vec![0; body.locals.len()];
        first[..body.n_parameters].fill(ALL);
        flow.now = Some(first);
        flow.statements(&body.statements);
    }
    let mut read = flow.read;
    if !read.is_empty() {
        let names = thread_names(tree, body);
        read.retain(|id| !names[id.0]);
    }
    read
}

/// For each variable, a bit for each of its bytes. One with more bytes than bits has all of them or
/// none.
type Assigned = Vec<u64>;

const ALL: u64 = u64::MAX;

/// The argument of a library function that is the address of what it writes and does not read.
fn written_argument(name: &str) -> Option<usize> {
    const PREFIXES: [&str; 4] = ["pthread_", "sem_", "mtx_", "cnd_"];
    match name {
        "pthread_create" | "thrd_create" | "pthread_key_create" | "tss_create" => Some(0),
        "pthread_join" | "thrd_join" | "sem_getvalue" => Some(1),
        _ if name.ends_with("_init") && PREFIXES.iter().any(|it| name.starts_with(it)) => Some(0),
        _ => None,
    }
}

struct Flow<'t> {
    tree: &'t Tree,
    body: &'t Body,
    /// What is assigned here; nothing is known of what cannot be reached.
    now: Option<Assigned>,
    at_label: Vec<Option<Assigned>>,
    has_changed: bool,
    read: BTreeSet<LocalId>,
}

impl Flow<'_> {
    fn statements(&mut self, statements: &[Statement]) {
        for statement in statements {
            match statement {
                Statement::Expression(it) => self.expression(it),
                Statement::If(condition, then, otherwise) => {
                    self.expression(condition);
                    let before = self.now.clone();
                    self.statements(then);
                    let after = std::mem::replace(&mut self.now, before);
                    self.statements(otherwise);
                    meet(&mut self.now, after);
                }
                Statement::Switch(value, cases, otherwise) => {
                    self.expression(value);
                    cases.iter().for_each(|case| self.jump(case.label));
                    self.jump(*otherwise);
                    self.now = None;
                }
                Statement::Label(label) => meet(&mut self.now, self.at_label[label.0].clone()),
                Statement::Goto(label) => {
                    self.jump(*label);
                    self.now = None;
                }
                Statement::Return(value, _) => {
                    value.iter().for_each(|it| self.expression(it));
                    self.now = None;
                }
                Statement::Declare(id, is_zero) => {
                    if let Some(now) = &mut self.now {
                        now[id.0] = if *is_zero { ALL } else { 0 };
                    }
                }
            }
        }
    }

    fn jump(&mut self, to: LabelId) {
        let mut there = self.at_label[to.0].take();
        let before = there.clone();
        meet(&mut there, self.now.clone());
        self.has_changed |= there != before;
        self.at_label[to.0] = there;
    }

    fn expression(&mut self, it: &Expression) {
        match &it.kind {
            Kind::Read(place) | Kind::Address(place) => {
                self.place(place);
                self.read(place);
            }
            Kind::Assign(place, value) => {
                self.place(place);
                self.expression(value);
                self.assign(place);
            }
            Kind::Update(update) => {
                self.place(&update.place);
                self.read(&update.place);
                let (Step::Binary(_, _, by) | Step::Advance(by, _)) = &update.step;
                self.expression(by);
            }
            Kind::And(first, second) | Kind::Or(first, second) | Kind::Elvis(first, second) => {
                self.expression(first);
                let before = self.now.clone();
                self.expression(second);
                meet(&mut self.now, before);
            }
            Kind::Conditional(condition, yes, no) => {
                self.expression(condition);
                let before = self.now.clone();
                self.expression(yes);
                let after = std::mem::replace(&mut self.now, before);
                self.expression(no);
                meet(&mut self.now, after);
            }
            Kind::Call(call) => self.call(call),
            Kind::Intrinsic(Intrinsic::AtomicStore(_), arguments) => {
                self.arguments(arguments, Some(0));
            }
            Kind::Intrinsic(Intrinsic::Overflow(_), arguments) => {
                self.arguments(arguments, Some(2));
            }
            _ => it.parts(&mut |part| match part {
                Part::Expression(it) => self.expression(it),
                Part::Place(place) => self.place(place),
                Part::Statements(statements) => self.statements(statements),
            }),
        }
    }

    fn call(&mut self, call: &Call) {
        let mut written = None;
        match &call.callee {
            Callee::Pointer(pointer) => self.expression(pointer),
            Callee::Function(id) => {
                let function = &self.tree.functions[id.0];
                let is_library = function.is_library || function.body.is_none();
                written = written_argument(&function.name).filter(|_| is_library);
            }
        }
        self.arguments(&call.arguments, written);
        if let (Some(id), Some(now)) = (call.result, &mut self.now) {
            now[id.0] = ALL;
        }
    }

    /// Evaluates arguments, of which one may be the address of what is written.
    fn arguments(&mut self, arguments: &[Expression], written: Option<usize>) {
        for (idx, argument) in arguments.iter().enumerate() {
            match written_place(argument).filter(|_| written == Some(idx)) {
                Some(place) => self.place(place),
                None => self.expression(argument),
            }
        }
        let place = written.and_then(|idx| arguments.get(idx)).and_then(written_place);
        place.into_iter().for_each(|place| self.assign(place));
    }

    /// Computes where a place is.
    fn place(&mut self, place: &Place) {
        match &place.base {
            Base::Pointer(it) | Base::Value(it) => self.expression(it),
            Base::Local(_) | Base::Global(_) => {}
        }
    }

    fn read(&mut self, place: &Place) {
        if let (Base::Local(id), Some(now)) = (&place.base, &self.now) {
            let (mask, _) = self.mask(place);
            if now[id.0] & mask != mask {
                self.read.insert(*id);
            }
        }
    }

    fn assign(&mut self, place: &Place) {
        let (mask, is_whole) = self.mask(place);
        if let (Base::Local(id), Some(now)) = (&place.base, &mut self.now)
            && (is_whole || mask != ALL)
            && place.bits.is_none()
        {
            now[id.0] |= if is_whole { ALL } else { mask };
        }
    }

    /// The bytes of a place in its variable, and whether these are all.
    fn mask(&self, place: &Place) -> (u64, bool) {
        let Base::Local(id) = place.base else { return (ALL, false) };
        let size = |ty| self.tree.records.size(ty).unwrap_or(u64::MAX);
        let (n_bytes, n_all) = (size(&place.ty.ty), size(&self.body.locals[id.0].ty.ty));
        let end = place.offset.saturating_add(n_bytes);
        let mask = match (place.offset, end) {
            (first, end) if first < end && end < 64 => (1 << end) - (1 << first),
            _ => ALL,
        };
        (mask, place.offset == 0 && n_bytes == n_all)
    }
}

/// What is assigned on both of two ways.
fn meet(one: &mut Option<Assigned>, other: Option<Assigned>) {
    match (&mut *one, other) {
        (Some(one), Some(other)) => one.iter_mut().zip(other).for_each(|(one, it)| *one &= it),
        (None, other) => *one = other,
        (Some(_), None) => {}
    }
}

/// The place that an expression is the address of.
fn written_place(it: &Expression) -> Option<&Place> {
    match &it.kind {
        Kind::Address(place) => Some(place),
        Kind::Convert(inner) => written_place(inner),
        _ => None,
    }
}

/// For each variable, whether it is nothing but names of threads.
fn thread_names(tree: &Tree, body: &Body) -> Vec<bool> {
    let n_locals = body.locals.len();
    let mut uses = Uses { tree, n_uses: vec![0; n_locals], n_as_name: vec![0; n_locals] };
    uses.part(Part::Statements(&body.statements));
    uses.n_uses.iter().zip(&uses.n_as_name).map(|(all, as_name)| all == as_name).collect()
}

/// How often each variable occurs, and how often as the name of a thread.
struct Uses<'t> {
    tree: &'t Tree,
    n_uses: Vec<usize>,
    n_as_name: Vec<usize>,
}

impl Uses<'_> {
    fn part(&mut self, part: Part<'_>) {
        match part {
            Part::Expression(it) => {
                self.note_name(it);
                it.parts(&mut |part| self.part(part));
            }
            Part::Place(place) => match &place.base {
                Base::Local(id) => self.n_uses[id.0] += 1,
                Base::Global(_) => {}
                Base::Pointer(it) | Base::Value(it) => self.part(Part::Expression(it)),
            },
            Part::Statements(statements) => {
                for statement in statements {
                    match statement {
                        Statement::Expression(it)
                        | Statement::Switch(it, ..)
                        | Statement::Return(Some(it), _) => self.part(Part::Expression(it)),
                        Statement::If(condition, then, otherwise) => {
                            self.part(Part::Expression(condition));
                            self.part(Part::Statements(then));
                            self.part(Part::Statements(otherwise));
                        }
                        Statement::Return(None, _)
                        | Statement::Label(_)
                        | Statement::Goto(_)
                        | Statement::Declare(..) => {}
                    }
                }
            }
        }
    }

    /// Notes the variable that a call takes for the name of a thread, or for where to put one.
    fn note_name(&mut self, it: &Expression) {
        let Kind::Call(call) = &it.kind else { return };
        let Callee::Function(id) = call.callee else { return };
        let function = &self.tree.functions[id.0];
        let names = ["pthread_create", "pthread_join", "pthread_detach"];
        let c11 = ["thrd_create", "thrd_join", "thrd_detach"];
        let name = function.name.as_str();
        let Some(first) = call.arguments.first() else { return };
        if (names.contains(&name) || c11.contains(&name))
            && let Some(id) = root(first)
        {
            self.n_as_name[id.0] += 1;
        }
    }
}

/// The variable that a value is in, or that it is the address of a part of.
fn root(it: &Expression) -> Option<LocalId> {
    match &it.kind {
        Kind::Address(place) | Kind::Read(place) => match &place.base {
            Base::Local(id) => Some(*id),
            Base::Pointer(it) => match &it.kind {
                // What is read there may be anything.
                Kind::Read(_) => None,
                _ => root(it),
            },
            Base::Global(_) | Base::Value(_) => None,
        },
        Kind::Advance(base, ..) | Kind::Convert(base) => root(base),
        _ => None,
    }
}
