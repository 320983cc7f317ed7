//! Which variable of a function an address on a stack is, as the debug information tells.
//!
//! The thread whose stack it is tells its frames, where it stands; the file tells for each function
//! where its variables are from there on.

use crate::coroutine;
use crate::image;
use crate::machine::{self, Machine};
use crate::names::{self, Frame};
use crate::scalars::Scalar;
use crate::shapes::{self, Entry, Shape, Slice, Types};
use crate::source::{Origin, origin};
use crate::thread::Status;
use addr2line::gimli::{self, AttributeValue, EntriesTreeNode, Expression, Operation, Register};
use mazurka_core::ThreadId;
use rustc_hash::FxHashMap;

/// How often a name is looked for elsewhere before we give up.
const MAX_DEPTH: usize = 4;
const FRAME_POINTER: Register = Register(6);
const STACK_POINTER: Register = Register(7);

/// What people call the variable at an address on the stack of a thread: `counter (local of main)`.
pub(crate) fn name_of(address: usize, idx: usize) -> Option<String> {
    let frames = frames_of(idx)?;
    name_in(address, idx, &frames)
}

/// The same while the thread had these frames.
pub(crate) fn name_in(address: usize, idx: usize, frames: &[Frame]) -> Option<String> {
    let Found { name, function, .. } = found_in(address, frames)?;
    Some(match idx {
        0 => format!("{name} (local of {function})"),
        _ => {
            let thread = machine::with(|machine| machine.birth_name(idx));
            format!("{name} (local of {function} in {thread})")
        }
    })
}

/// What the `len` bytes at an address on the stack of a thread are, if they are in a variable.
pub(crate) fn scalar_of(address: usize, idx: usize, len: usize) -> Option<Scalar> {
    scalar_in(address, &frames_of(idx)?, len)
}

/// The same while the thread had these frames.
pub(crate) fn scalar_in(address: usize, frames: &[Frame], len: usize) -> Option<Scalar> {
    let Found { shape, offset, .. } = found_in(address, frames)?;
    Some(shape.scalar(offset, len as u64))
}

fn found_in(address: usize, frames: &[Frame]) -> Option<Found> {
    let inner = frames.windows(2).position(|pair| {
        let [frame, outer] = pair else { return false };
        (frame.stack_pointer..outer.stack_pointer).contains(&address)
    })?;
    Place { address, frame: frames[inner], end: frames[inner + 1].stack_pointer }.find()
}

/// The frames of a thread, innermost first: of the one that runs, or, if none does, of one that is
/// suspended.
fn frames_of(idx: usize) -> Option<Vec<Frame>> {
    let here = 0u8;
    match coroutine::stack_of(&raw const here as usize) {
        mine if mine == idx => Some(names::frames()),
        // A running thread does not know of others.
        other if other < ThreadId::MAX => None,
        _ => suspended(idx).or_else(|| machine::with(|machine| machine.frames_before(idx))),
    }
}

/// The frames of a thread that is suspended. To be asked for by the host.
pub(crate) fn suspended(idx: usize) -> Option<Vec<Frame>> {
    let is_suspended = machine::with(|machine| {
        machine.is_backtrace_wanted = machine.threads[idx].status == Status::Running;
        if machine.is_backtrace_wanted {
            let stack_pointer = machine.threads[idx].coroutine.stack_pointer;
            // SAFETY: the thread is suspended, and what it goes on with is on its stack.
            machine.before_backtrace = unsafe { *(stack_pointer as *const coroutine::Resumption) };
        }
        machine.is_backtrace_wanted
    });
    is_suspended.then(|| machine::run(idx))?;
    machine::with(|machine| machine.backtrace.take())
}

/// The frames of all threads, as they were in some state, and what is known of variables.
#[derive(Debug, Default)]
pub(crate) struct Locals {
    /// After how many steps.
    depth: usize,
    /// By thread.
    frames: Vec<Option<Vec<Frame>>>,
    /// By [`Place::key`]: reading debug information takes its time.
    known: FxHashMap<[usize; 4], Option<Found>>,
}

/// Notes the frames of all threads, for those who ask after the next step: a thread may have ended
/// by then, and what others did to its variables is to be told. To be called by the host.
pub(crate) fn note_frames() {
    let (depth, n_threads) = machine::with(|machine| (machine.depth, machine.threads.len()));
    let frames = (0..n_threads).map(suspended).collect();
    machine::with(|machine| {
        machine.locals.depth = depth;
        machine.locals.frames = frames;
    });
}

impl Machine {
    /// The frames of a thread before the last step.
    fn frames_before(&self, idx: usize) -> Option<Vec<Frame>> {
        let Locals { depth, frames, .. } = &self.locals;
        (depth + 1 == self.depth).then(|| frames.get(idx)?.clone())?
    }
}

/// An address in a frame.
struct Place {
    address: usize,
    frame: Frame,
    /// Where the frame ends: its canonical address.
    end: usize,
}

#[derive(Clone, Debug)]
struct Found {
    name: String,
    function: String,
    /// What the variable consists of, and how far into it the address is.
    shape: Shape,
    offset: u64,
}

/// Where in the debug information we are.
struct Scope<'a, 'd> {
    types: Types<'a, 'd>,
    /// Where the frame of the function begins, for its variables.
    base: Option<usize>,
    /// What the innermost function is called, inlined ones included.
    function: String,
    /// Where the thread goes on, in the addresses of the file.
    behind: u64,
}

impl Place {
    /// All that decides which variable it is.
    fn key(&self) -> [usize; 4] {
        let Frame { address, stack_pointer, frame_pointer } = self.frame;
        let [below, stack, frame] =
            [self.address, stack_pointer, frame_pointer].map(|at| self.end.wrapping_sub(at));
        [address, below, stack, frame]
    }

    fn find(&self) -> Option<Found> {
        let key = self.key();
        if let Some(known) = machine::with(|machine| machine.locals.known.get(&key).cloned()) {
            return known;
        }
        let mut found = None;
        coroutine::as_host(|| found = self.look_up());
        machine::with(|machine| machine.locals.known.insert(key, found.clone()));
        found
    }

    fn look_up(&self) -> Option<Found> {
        // A return address is behind the call.
        let call = self.frame.address - 1;
        let module = names::module_of(call).filter(|module| module.is_main)?;
        let behind = (call - module.base) as u64;
        let file = object::File::parse(image::file().ok()?).ok()?;
        let dwarf = shapes::debug_information(&file).ok()?;
        let mut units = dwarf.units();
        while let Some(header) = units.next().ok()? {
            let unit = dwarf.unit(header).ok()?;
            if unit.name.is_none_or(|name| origin(&name.to_string_lossy()) != Origin::Own) {
                continue;
            }
            let mut tree = unit.entries_tree(None).ok()?;
            let types = Types::new(&dwarf, &unit);
            let mut scope = Scope { types, base: None, function: String::new(), behind };
            if let Some(found) = self.look_into(tree.root().ok()?, &mut scope) {
                return Some(found);
            }
        }
        None
    }

    /// Looks into a scope, and into those in it that the thread is in.
    fn look_into<'d>(
        &self,
        node: EntriesTreeNode<'_, '_, Slice<'d>>,
        scope: &mut Scope<'_, 'd>,
    ) -> Option<Found> {
        let mut children = node.children();
        let mut found = None;
        while let Ok(Some(child)) = children.next() {
            let entry = child.entry();
            let inner = match entry.tag() {
                gimli::DW_TAG_variable | gimli::DW_TAG_formal_parameter => {
                    found = found.or_else(|| self.variable(entry, scope));
                    None
                }
                gimli::DW_TAG_namespace
                | gimli::DW_TAG_structure_type
                | gimli::DW_TAG_class_type => self.look_into(child, scope),
                gimli::DW_TAG_subprogram if scope.contains(entry) => {
                    scope.base = self.base_of(entry, scope);
                    scope.function = scope.name(entry).unwrap_or_default();
                    self.look_into(child, scope)
                }
                gimli::DW_TAG_inlined_subroutine if scope.contains(entry) => {
                    let inlined = scope.name(entry).unwrap_or_default();
                    let outer = std::mem::replace(&mut scope.function, inlined);
                    let inner = self.look_into(child, scope);
                    scope.function = outer;
                    inner
                }
                gimli::DW_TAG_lexical_block if scope.contains(entry) => {
                    self.look_into(child, scope)
                }
                _ => None,
            };
            // The innermost is who uses the place now.
            if inner.is_some() {
                return inner;
            }
        }
        found
    }

    /// The variable, if the address is in it.
    fn variable<'d>(&self, entry: &Entry<'d>, scope: &Scope<'_, 'd>) -> Option<Found> {
        let start = self.start_of(entry, scope)?;
        let of =
            shapes::type_of(scope.types.unit, scope.origin_of(entry).as_ref().unwrap_or(entry));
        let shape =
            of.and_then(|of| scope.types.shape(of)).unwrap_or(Shape::Plain(1, Scalar::default()));
        let offset = self.address.checked_sub(start)? as u64;
        let is_within = shape.len().is_some_and(|len| offset < len);
        let name = is_within.then(|| scope.name(entry))??;
        let name = format!("{name}{}", shape.part(offset));
        Some(Found { name, function: scope.function.clone(), shape, offset })
    }

    /// Where a variable begins, if it is in memory where the thread stands.
    fn start_of<'d>(&self, entry: &Entry<'d>, scope: &Scope<'_, 'd>) -> Option<usize> {
        let value = entry.attr_value(gimli::DW_AT_location)?;
        if let AttributeValue::Exprloc(expression) = value {
            return self.evaluate(expression, scope);
        }
        let mut places = scope.types.dwarf.attr_locations(scope.types.unit, value).ok()??;
        while let Ok(Some(place)) = places.next() {
            if (place.range.begin..place.range.end).contains(&scope.behind) {
                return self.evaluate(place.data, scope);
            }
        }
        None
    }

    /// The place that an expression of a single operation is about.
    fn evaluate<'d>(
        &self,
        expression: Expression<Slice<'d>>,
        scope: &Scope<'_, 'd>,
    ) -> Option<usize> {
        let mut operations = expression.operations(scope.types.unit.encoding());
        let only = operations.next().ok()??;
        if operations.next().ok()?.is_some() {
            return None;
        }
        match only {
            Operation::FrameOffset { offset } => scope.base?.checked_add_signed(offset as isize),
            Operation::RegisterOffset { register, offset, .. } => {
                self.register(register)?.checked_add_signed(offset as isize)
            }
            _ => None,
        }
    }

    /// What a function calls the base of its frame.
    fn base_of<'d>(&self, entry: &Entry<'d>, scope: &Scope<'_, 'd>) -> Option<usize> {
        let AttributeValue::Exprloc(expression) = entry.attr_value(gimli::DW_AT_frame_base)? else {
            return None;
        };
        match expression.operations(scope.types.unit.encoding()).next().ok()?? {
            Operation::CallFrameCFA => Some(self.end),
            Operation::Register { register } => self.register(register),
            _ => None,
        }
    }

    fn register(&self, register: Register) -> Option<usize> {
        match register {
            FRAME_POINTER => Some(self.frame.frame_pointer),
            STACK_POINTER => Some(self.frame.stack_pointer),
            _ => None,
        }
    }
}

impl<'d> Scope<'_, 'd> {
    /// Whether the thread is in a part of a function.
    fn contains(&self, entry: &Entry<'d>) -> bool {
        shapes::contains(&self.types, entry, self.behind)
    }

    /// What is said elsewhere of a copy of something.
    fn origin_of(&self, entry: &Entry<'d>) -> Option<Entry<'d>> {
        let of = shapes::reference(entry, gimli::DW_AT_abstract_origin)
            .or_else(|| shapes::reference(entry, gimli::DW_AT_specification))?;
        self.types.unit.entry(of).ok()
    }

    fn name(&self, entry: &Entry<'d>) -> Option<String> {
        let written =
            |entry: &Entry<'d>| Some(self.types.name(entry)?.to_string_lossy().into_owned());
        if let Some(name) = written(entry) {
            return Some(name);
        }
        let mut origin = self.origin_of(entry)?;
        for _ in 0..MAX_DEPTH {
            if let Some(name) = written(&origin) {
                return Some(name);
            }
            origin = self.origin_of(&origin)?;
        }
        None
    }
}
