//! A program: objects, routines, and the processes it begins with.

use crate::{Access, Action, Expr, FileId, Layout, LayoutId, Span, Sync, Type};
use mazurka_core::{Assumption, MemoryOrder, Property};

/// A concurrent program.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Program {
    /// What people call it.
    pub name: String,
    /// The source files, by their names as the front end was given them.
    pub files: Vec<String>,
    /// All layouts, each once.
    pub layouts: Vec<Layout>,
    /// The objects that are there from the beginning.
    pub objects: Vec<Object>,
    /// The functions and process types.
    pub routines: Vec<Routine>,
    /// The processes that run from the beginning, in the order of their numbers.
    pub processes: Vec<Process>,
    /// What running it finds beside failed assertions, since the front end has written checks for
    /// it or the machine looks.
    pub properties: Vec<Property>,
    /// The routine that says which runs would be wrong, if there is one: it takes a step, a guard,
    /// before each step of the program.
    pub claim: Option<RoutineId>,
    /// What the order of messages may look like, if something is said of it.
    pub trace: Option<Trace>,
    /// Whether only a process of the highest priority among those that can move may move.
    pub has_priorities: bool,
    /// The names of values, for people.
    pub symbols: Vec<Symbol>,
    /// What a verdict about it takes for granted.
    pub assumptions: Vec<Assumption>,
}

/// A routine that says which orders of messages are right, or which are wrong. Its edges are sends
/// and receives, and it takes one of them whenever a process does the same to one of the channels
/// that it is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trace {
    /// The routine.
    pub routine: RoutineId,
    /// Whether it is wrong to follow it to its end; else, it is wrong not to follow it.
    pub is_forbidden: bool,
}

/// A value with a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// What people call it.
    pub name: String,
    /// The value.
    pub value: u64,
    /// Which values it belongs to: another set may have other names for the same numbers.
    pub set: SymbolSet,
}

/// A set of values with names, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SymbolSet(pub u32);

/// An object of the program, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectIdx(pub u32);

/// A routine of the program, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RoutineId(pub u32);

/// A register of a routine, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RegisterId(pub u32);

/// A location of a routine, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LocationId(pub u32);

/// A piece of memory that is there from the beginning.
#[derive(Clone, Debug, PartialEq)]
pub struct Object {
    /// What people call it.
    pub name: String,
    /// What it is, and with that its size.
    pub layout: LayoutId,
    /// How many there are, and whether they may change.
    pub storage: Storage,
    /// What it holds in the beginning, where that is not zero.
    pub init: Vec<Init>,
    /// Where it is declared.
    pub span: Span,
}

/// How long an [`Object`] lives, and for whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Storage {
    /// One, for all.
    Shared,
    /// One, for all, and writing to it is a violation of the kind `memory`: string literals, and what
    /// is `const`.
    Constant,
    /// Every thread has its own, with these first values.
    PerThread,
    /// One, for all, that no stored state has: it holds its first values again behind every step,
    /// or sequence of steps, that no other process can look into.
    Scratch,
}

/// A value that an object holds in the beginning.
#[derive(Clone, Debug, PartialEq)]
pub struct Init {
    /// How many bytes from its beginning.
    pub offset: u32,
    /// What.
    pub value: InitValue,
}

/// What an object may hold in the beginning.
#[derive(Clone, Debug, PartialEq)]
pub enum InitValue {
    /// These bytes.
    Bytes(Vec<u8>),
    /// A value of a type.
    Bits(Type, u64),
    /// The pointer that is so many bytes into an object.
    Object(ObjectIdx, i64),
    /// The pointer to a routine.
    Routine(RoutineId),
}

/// A function, or what a process runs: a control-flow graph.
#[derive(Clone, Debug, PartialEq)]
pub struct Routine {
    /// What people call it.
    pub name: String,
    /// Its registers; the first [`n_parameters`](Self::n_parameters) are set by the caller,
    /// the others are zero.
    pub registers: Vec<Register>,
    /// How many parameters it has.
    pub n_parameters: u32,
    /// The type of what it returns.
    pub result: Option<Type>,
    /// The locals whose address is taken: made when it is called, gone when it returns.
    pub objects: Vec<FrameObject>,
    /// Where it can stand.
    pub locations: Vec<Location>,
    /// Where it begins.
    pub start: LocationId,
    /// Where it ends: no edge leads away from there.
    pub end: LocationId,
    /// What is done when a process that runs it starts, as a part of the step that starts it.
    pub prologue: Vec<Action>,
    /// When a process that runs it may take steps, a [`Type::BOOL`]; always if there is nothing.
    pub provided: Option<Expr>,
    /// The priority of a process that runs it from the beginning. One that is started later has 1.
    pub priority: u8,
    /// What the user promises about its channels.
    pub exclusive: Vec<Exclusive>,
    /// Where it is defined.
    pub span: Span,
}

/// A promise that a process alone uses one end of a channel.
#[derive(Clone, Debug, PartialEq)]
pub struct Exclusive {
    /// Whether it is about sending, not receiving.
    pub sends: bool,
    /// The number of the channel.
    pub channel: Expr,
    /// Where it is promised.
    pub span: Span,
}

/// A local number of a routine.
#[derive(Clone, Debug, PartialEq)]
pub struct Register {
    /// What people call it; empty for one that only the front end knows.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// Whether people know its values as channels and not as numbers.
    pub is_channel: bool,
    /// Where it is declared.
    pub span: Span,
}

/// A local whose address is taken.
#[derive(Clone, Debug, PartialEq)]
pub struct FrameObject {
    /// What people call it.
    pub name: String,
    /// What it is, and with that its size.
    pub layout: LayoutId,
    /// Where it is declared.
    pub span: Span,
}

/// A place where a process can stand.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Location {
    /// What people call it, if they do.
    pub name: Option<String>,
    /// The ways to go on.
    pub edges: Vec<Edge>,
    /// Which of them is taken.
    pub branching: Branching,
    /// What its labels say of it.
    pub labels: Labels,
}

/// Which edge of a location is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Branching {
    /// The first whose guard is true. If it cannot go on, the process waits there.
    #[default]
    Ordered,
    /// Any whose guard is true and whose action is possible; one whose guard is
    /// [`Edge::otherwise`] only if no other is.
    Choice,
}

/// What the labels of a location say of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Labels {
    /// A process may stay here for ever.
    pub end: bool,
    /// A process that comes by has made progress.
    pub progress: bool,
    /// A run that comes by again and again is accepted.
    pub accept: bool,
}

/// A way from one location to another.
#[derive(Clone, Debug, PartialEq)]
pub struct Edge {
    /// A [`Type::BOOL`]; always possible if there is none.
    pub guard: Option<Expr>,
    /// Only if nothing else is possible here.
    pub otherwise: bool,
    /// What is done.
    pub action: Action,
    /// Where it leads.
    pub to: LocationId,
    /// Whether others do not run behind it, as long as the process can go on.
    pub atomic: bool,
    /// Which escape it belongs to, if it does. Edges of an escape come first in their location, and
    /// once one of them is possible, none of another escape, or of no escape, is.
    pub escape: Option<u32>,
    /// Where it stands in the source.
    pub span: Span,
    /// As it is written there; empty if it is not in the source.
    pub text: String,
    /// The number by which another tool for the same language knows it, if there is one.
    pub number: Option<u32>,
}

/// A process that runs from the beginning.
#[derive(Clone, Debug, PartialEq)]
pub struct Process {
    /// What people call it.
    pub name: String,
    /// What it runs.
    pub routine: RoutineId,
    /// Its first registers.
    pub arguments: Vec<u64>,
}

impl Program {
    /// A program without anything in it.
    pub fn new(name: &str) -> Self {
        Self { name: name.to_owned(), ..Self::default() }
    }

    /// Whether a thread may find out what another has done although that does not happen before it:
    /// by an atomic access that orders less than it could, by trying something in vain, by looking
    /// at a semaphore, or by being notified.
    ///
    /// Without, the steps that happen before two accesses which nothing orders are an execution by
    /// themselves, behind which both accesses are possible at once. With it, they need not be.
    pub fn has_unordered_news(&self) -> bool {
        self.orders_less_than_it_could() || self.tells_without_order() || self.has_volatile()
    }

    /// Whether an access is volatile: it orders nothing.
    fn has_volatile(&self) -> bool {
        self.actions().any(|action| {
            matches!(
                action,
                Action::Load { access: Access::Volatile, .. }
                    | Action::Store { access: Access::Volatile, .. }
            )
        })
    }

    /// Whether a thread may find out what another has done by an operation that orders nothing: by
    /// trying something in vain, by looking at a semaphore, or by being notified.
    pub fn tells_without_order(&self) -> bool {
        use Action as A;
        self.actions().any(|action| {
            matches!(
                action,
                A::TryLock { .. }
                    | A::TryReadLock(..)
                    | A::TryWriteLock(..)
                    | A::SemaphoreTryAcquire(..)
                    | A::SemaphoreValue(..)
                    | A::NotifyOne(_)
                    | A::NotifyAll(_)
                    | A::TrySend(..)
                    | A::TryReceive(..)
            )
        })
    }

    /// Whether an atomic access orders less than it could: a load that does not acquire, a store
    /// that does not release.
    pub fn orders_less_than_it_could(&self) -> bool {
        use Action as A;
        let is_full = |order: MemoryOrder| order.acquires() && order.releases();
        self.actions().any(|action| match action {
            A::Load { access: Access::Atomic(order), .. } => !order.acquires(),
            A::Store { access: Access::Atomic(order), .. } => !order.releases(),
            A::Modify { order, .. } => !is_full(*order),
            A::CompareExchange { order, failure, .. } => !is_full(*order) || !failure.acquires(),
            _ => false,
        })
    }

    fn actions(&self) -> impl Iterator<Item = &Action> {
        self.routines.iter().flat_map(Routine::edges).map(|(_, edge)| &edge.action)
    }

    /// The number of a source file.
    pub fn file(&mut self, name: &str) -> FileId {
        let known = self.files.iter().position(|file| file == name);
        FileId(known.unwrap_or_else(|| {
            self.files.push(name.to_owned());
            self.files.len() - 1
        }) as u32)
    }

    /// The number of a layout.
    pub fn layout(&mut self, layout: Layout) -> LayoutId {
        let known = self.layouts.iter().position(|other| *other == layout);
        LayoutId(known.unwrap_or_else(|| {
            self.layouts.push(layout);
            self.layouts.len() - 1
        }) as u32)
    }

    /// The layout of one value.
    pub fn scalar(&mut self, ty: Type) -> LayoutId {
        self.layout(Layout::Scalar(ty))
    }

    /// The layout of `count` values.
    pub fn array(&mut self, ty: Type, count: u32) -> LayoutId {
        let element = self.scalar(ty);
        self.layout(Layout::Array { element, count })
    }

    /// The layout of something to synchronise on, in as few bytes as it needs.
    pub fn sync(&mut self, kind: Sync) -> LayoutId {
        self.layout(Layout::Sync { kind, size: kind.bytes() })
    }

    /// The bytes that a layout takes.
    pub fn size_of(&self, layout: LayoutId) -> u32 {
        match &self.layouts[layout.0 as usize] {
            Layout::Scalar(ty) => ty.bytes(),
            Layout::Array { element, count } => self.size_of(*element) * count,
            Layout::Struct { size, .. }
            | Layout::Union { size, .. }
            | Layout::Bytes(size)
            | Layout::Sync { size, .. } => *size,
            Layout::Channel { capacity, fields, .. } => {
                4 + capacity * fields.iter().map(|ty| ty.bytes()).sum::<u32>()
            }
        }
    }

    /// Adds an object that all share, with all bytes zero.
    pub fn object(&mut self, name: &str, layout: LayoutId) -> ObjectIdx {
        self.add_object(Object {
            name: name.to_owned(),
            layout,
            storage: Storage::Shared,
            init: Vec::new(),
            span: Span::NONE,
        })
    }

    /// Adds an object.
    pub fn add_object(&mut self, object: Object) -> ObjectIdx {
        self.objects.push(object);
        ObjectIdx(self.objects.len() as u32 - 1)
    }

    /// Promises a routine, so that others can call it; [`define`](Self::define) keeps the promise.
    pub fn declare(&mut self, name: &str) -> RoutineId {
        self.routines.push(Routine {
            name: name.to_owned(),
            registers: Vec::new(),
            n_parameters: 0,
            result: None,
            objects: Vec::new(),
            locations: vec![Location::default()],
            start: LocationId(0),
            end: LocationId(0),
            prologue: Vec::new(),
            provided: None,
            priority: 1,
            exclusive: Vec::new(),
            span: Span::NONE,
        });
        RoutineId(self.routines.len() as u32 - 1)
    }

    /// Says what a routine is.
    pub fn define(&mut self, id: RoutineId, routine: Routine) {
        self.routines[id.0 as usize] = routine;
    }

    /// Adds a routine.
    pub fn add_routine(&mut self, routine: Routine) -> RoutineId {
        self.routines.push(routine);
        RoutineId(self.routines.len() as u32 - 1)
    }

    /// Adds a process that runs from the beginning.
    pub fn process(&mut self, name: &str, routine: RoutineId, arguments: Vec<u64>) {
        self.processes.push(Process { name: name.to_owned(), routine, arguments });
    }

    /// A routine.
    pub fn routine(&self, id: RoutineId) -> &Routine {
        &self.routines[id.0 as usize]
    }
}

impl Routine {
    /// A location.
    pub fn location(&self, id: LocationId) -> &Location {
        &self.locations[id.0 as usize]
    }

    /// Its edges, with where each leads away from.
    pub fn edges(&self) -> impl Iterator<Item = (LocationId, &Edge)> {
        self.locations.iter().enumerate().flat_map(|(idx, location)| {
            location.edges.iter().map(move |edge| (LocationId(idx as u32), edge))
        })
    }
}

impl Edge {
    /// An edge that is always possible.
    pub fn new(action: Action, to: LocationId, span: Span) -> Self {
        Self {
            guard: None,
            otherwise: false,
            action,
            to,
            atomic: false,
            escape: None,
            span,
            text: String::new(),
            number: None,
        }
    }
}
