//! Invalid accesses: whether memory may be accessed, and what people are told if not.
//!
//! [`check`] is asked before each access to memory that is not on the thread's own stack. Invalid
//! is what lies
//!
//! - in the heap and in no live block (`heap`),
//! - on the stack of a thread that has ended, or below what another thread uses of its stack,
//! - in the first pages, where a null pointer leads,
//! - beyond the end of the variable that the access begins in, or between two variables
//!   (`globals`).
//!
//! Not found is an access that leaves its object and comes to another one that is alive: which
//! object an address was meant for is not known. Neither are the ends of variables on stacks known.

use crate::coroutine;
use crate::globals;
use crate::heap::{self, Known, Origin};
use crate::library;
use crate::machine;
use crate::names;
use crate::sites;
use crate::thread::Status;
use mazurka_core::{Detail, ThreadId, Violation, ViolationKind};

/// The kernel maps nothing below.
const LEAST_ADDRESS: usize = 1 << 16;

/// Ends the running thread if it may not access `len` bytes from an address on.
///
/// For the callbacks of the instrumentation, and for whatever accesses memory on behalf of the
/// program: a function of the C library that is called with a buffer of the program.
#[inline]
pub(crate) fn check(address: usize, len: usize, write: bool) {
    debug_assert!(len > 0, "nothing is accessed at {address:#x}");
    let is_valid = match heap::is_valid(address, len) {
        Some(is_valid) => is_valid,
        None => globals::is_valid(address, len).unwrap_or_else(|| is_on_live_stack(address)),
    };
    if !is_valid {
        refuse(address, len, write);
    }
}

/// Ends the running thread if it is about to follow a null pointer. For operations, before they are
/// announced: what they would do is looked at by the host, too.
#[inline]
pub(crate) fn check_pointer(address: usize, len: usize, write: bool) {
    if address < LEAST_ADDRESS {
        refuse(address, len, write);
    }
}

/// Whether an address is on no stack, or on one that is in use there.
#[inline]
fn is_on_live_stack(address: usize) -> bool {
    let idx = coroutine::stack_of(address);
    if idx >= ThreadId::MAX {
        return address >= LEAST_ADDRESS;
    }
    idx == coroutine::running() || is_used_of_stack(idx, address)
}

fn is_used_of_stack(idx: usize, address: usize) -> bool {
    machine::with(|machine| {
        machine.threads.get(idx).is_some_and(|thread| {
            thread.status == Status::Running && address >= thread.coroutine.stack_pointer
        })
    })
}

/// Ends the running thread: it accesses its stack behind the end of that.
#[cold]
pub(crate) fn overflows() -> ! {
    misuse(|| plain(("stack overflow".to_owned(), String::new())))
}

/// Ends the running thread because of an access.
#[cold]
fn refuse(address: usize, len: usize, write: bool) -> ! {
    let verb = if write { "written" } else { "read" };
    misuse(|| match heap::is_valid(address, 1) {
        _ if address < LEAST_ADDRESS => plain((names::unmapped(address), String::new())),
        Some(_) => of_heap(address, len, verb),
        None if coroutine::stack_of(address) < ThreadId::MAX => plain(of_stack(address, verb)),
        None => plain(globals::describe(address, len, verb)),
    })
}

/// What goes wrong, and what is said of it: its parts before and behind the place in the source.
type Described = (Option<Detail>, String, String);

fn plain((what, more): (String, String)) -> Described {
    (None, what, more)
}

/// What is said of an access to the heap. Its parts before and behind the place in the source.
fn of_heap(address: usize, len: usize, verb: &str) -> Described {
    let at = heap::first_invalid(address, len).unwrap_or(address);
    let near = machine::with(|machine| machine.heap.near(at));
    let distance = |known: &&Known| match at.checked_sub(known.address) {
        None => known.address - at,
        Some(offset) => offset.saturating_sub(known.len.saturating_sub(1)),
    };
    let Some(known) = near.iter().flatten().min_by_key(distance) else {
        let what = format!("`{}` is {verb} and was not allocated", machine::name_of(at));
        return (None, what, String::new());
    };
    let is_inside = (known.address..known.address + known.len).contains(&at);
    let (what, more) = match known.freed_by {
        Some(thread) if is_inside => {
            let what = format!("`{}` is used after it was freed", machine::name_of(at));
            return (Some(Detail::UseAfterFree), what, freed(known, thread));
        }
        None if is_inside => {
            let name = machine::name_of(at);
            (format!("`{name}` is {verb} and is protected by `mprotect`"), String::new())
        }
        freed_by => {
            let side = match at.checked_sub(known.address + known.len) {
                Some(0) => "just behind the end".to_owned(),
                Some(behind) => format!("{} behind the end", bytes(behind)),
                None => format!("{} before the beginning", bytes(known.address - at)),
            };
            let (name, offset) = (block_name(known), at.abs_diff(known.address));
            let sign = if at < known.address { '-' } else { '+' };
            let what = format!(
                "`{name}{sign}{offset:#x}` is {verb} {side} of a block of {}",
                bytes(known.len),
            );
            let whose = freed_by.map(|thread| freed(known, thread));
            (what, whose.unwrap_or_else(|| allocated(known)))
        }
    };
    (None, what, more)
}

/// The same for a stack.
fn of_stack(address: usize, verb: &str) -> (String, String) {
    let idx = coroutine::stack_of(address);
    if machine::with(|machine| idx >= machine.threads.len()) {
        return (format!("{address:#x} is {verb}, which is beyond all stacks"), String::new());
    }
    let (name, has_ended) = machine::with(|machine| {
        (machine.thread_name(idx), machine.threads[idx].status != Status::Running)
    });
    let place = format!("{name}.stack-{:#x}", coroutine::top(idx) - address);
    match has_ended {
        true => (format!("`{place}` is {verb} after its thread {name} has ended"), String::new()),
        false => (
            format!(
                "`{place}` is {verb} after the function of {name} that it belonged to has returned"
            ),
            String::new(),
        ),
    }
}

fn bytes(count: usize) -> String {
    if count == 1 { "1 byte".to_owned() } else { format!("{count} bytes") }
}

fn block_name(known: &Known) -> String {
    sites::block_name(known.address).unwrap_or_else(|| machine::name_of(known.address))
}

fn allocated(known: &Known) -> String {
    format!(", which {} has allocated", thread_name(known.allocated_by))
}

fn freed(known: &Known, thread: ThreadId) -> String {
    let (by, whose) = (thread_name(thread), thread_name(known.allocated_by));
    let place = sites::end_of(known.address).map(|place| format!(" at {place}"));
    format!(
        ", a block of {} that {whose} has allocated and {by} has freed{}",
        bytes(known.len),
        place.unwrap_or_default()
    )
}

fn thread_name(thread: ThreadId) -> String {
    use mazurka_core::System as _;
    crate::system::Native.thread_name(thread).into_owned()
}

/// Ends the running thread, which frees what is no block.
#[cold]
pub(crate) fn freed_nothing(address: usize) -> ! {
    misuse(|| {
        let what = format!("`{}` is freed and was not allocated", machine::name_of(address));
        let near = machine::with(|machine| machine.heap.near(address));
        let holder = near.into_iter().flatten().find(|known| {
            known.freed_by.is_none()
                && (known.address..known.address + known.len).contains(&address)
        });
        let more = holder.map(|known| {
            let offset = bytes(address - known.address);
            format!(", {offset} into a block of {}{}", bytes(known.len), allocated(&known))
        });
        (None, what, more.unwrap_or_default())
    })
}

/// The same where a block is freed once more.
#[cold]
pub(crate) fn freed_again(address: usize, known: Known) -> ! {
    misuse(|| {
        let what = format!("`{}` is freed twice", machine::name_of(address));
        let more = known.freed_by.map(|thread| freed(&known, thread)).unwrap_or_default();
        (Some(Detail::DoubleFree), what, more)
    })
}

/// The same where a block is freed by a function that is not for it.
#[cold]
pub(crate) fn freed_otherwise(address: usize, origin: Origin, by: Origin) -> ! {
    let allocates = |origin: Origin| match origin {
        Origin::Malloc | Origin::Any => "malloc",
        Origin::New => "new",
        Origin::NewArray => "new[]",
        Origin::Mapping => "mmap",
    };
    let frees = match by {
        Origin::Malloc | Origin::Any => "free",
        Origin::New => "delete",
        Origin::NewArray => "delete[]",
        Origin::Mapping => "munmap",
    };
    misuse(|| {
        let name = machine::name_of(address);
        (
            None,
            format!("`{name}` is from `{}` and is freed by `{frees}`", allocates(origin)),
            String::new(),
        )
    })
}

/// The same where `realloc` is given what is no block, or not any more.
#[cold]
pub(crate) fn moved(address: usize) -> ! {
    unless_freed(address, "is given to `realloc` and was not allocated")
}

/// The same for `malloc_usable_size`.
#[cold]
pub(crate) fn measured(address: usize) -> ! {
    unless_freed(address, "is given to `malloc_usable_size` and was not allocated")
}

fn unless_freed(address: usize, otherwise: &str) -> ! {
    misuse(|| {
        let near = machine::with(|machine| machine.heap.near(address));
        let known = near.into_iter().flatten().find(|known| known.address == address);
        match known.and_then(|known| Some((known, known.freed_by?))) {
            Some((known, thread)) => {
                let what = format!("`{}` is used after it was freed", machine::name_of(address));
                (Some(Detail::UseAfterFree), what, freed(&known, thread))
            }
            None => (None, format!("`{}` {otherwise}", machine::name_of(address)), String::new()),
        }
    })
}

/// Ends the running thread: with what it does, its place in the source, and what more there is to
/// say.
#[cold]
fn misuse(describe: impl FnOnce() -> Described) -> ! {
    let (stack, function) = (names::backtrace(), library::inside());
    let (mut message, mut detail) = (String::new(), None);
    coroutine::as_host(|| {
        let (exactly, what, more) = describe();
        detail = exactly;
        let place = names::location_of(&stack).map(|mut place| {
            place.within = function.and_then(names::short).or(place.within);
            format!(" at {place}")
        });
        message = format!("{what}{}{more}", place.unwrap_or_default());
    });
    machine::fail_with(Violation { detail, ..Violation::new(ViolationKind::Memory, message) })
}
