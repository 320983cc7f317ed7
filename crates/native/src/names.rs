//! Names and places of addresses, read from the program's file when they are asked for.

use crate::coroutine;
use crate::machine;
use crate::scalars::Scalar;
use crate::shapes::Statics;
use crate::signals::Crash;
use crate::source::{Origin, origin, short_name};
use addr2line::Loader;
use mazurka_core::{Location, Violation, ViolationKind};
use object::{Object, ObjectSymbol, SymbolKind};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::{CStr, c_int, c_void};
use std::ops::Range;
use std::sync::{Mutex, OnceLock};

const MAX_FRAMES: usize = 64;

unsafe extern "C" {
    fn _Unwind_Backtrace(
        visit: unsafe extern "C" fn(*mut c_void, *mut c_void) -> c_int,
        argument: *mut c_void,
    ) -> c_int;
    fn _Unwind_GetIP(context: *mut c_void) -> usize;
    fn _Unwind_GetCFA(context: *mut c_void) -> usize;
    fn _Unwind_GetGR(context: *mut c_void, register: c_int) -> usize;
}

/// A function that has not returned yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    /// Where it goes on.
    pub(crate) address: usize,
    /// What the registers hold then.
    pub(crate) stack_pointer: usize,
    pub(crate) frame_pointer: usize,
}

/// The return addresses on the stack of the caller, innermost first.
pub(crate) fn backtrace() -> Vec<usize> {
    frames().into_iter().map(|frame| frame.address).collect()
}

/// The frames on the stack of the caller, innermost first.
pub(crate) fn frames() -> Vec<Frame> {
    let mut frames: Vec<Frame> = Vec::new();
    // SAFETY: `visit` is called with what it expects, before this returns.
    crate::coroutine::as_host(|| unsafe {
        _Unwind_Backtrace(visit, (&raw mut frames).cast());
    });
    frames
}

unsafe extern "C" fn visit(context: *mut c_void, frames: *mut c_void) -> c_int {
    const FRAME_POINTER: c_int = 6;
    // SAFETY: both come from `frames`, through the unwinder.
    unsafe {
        let frames = &mut *frames.cast::<Vec<Frame>>();
        frames.push(Frame {
            address: _Unwind_GetIP(context),
            // That of the function it called, whose frame has ended by then.
            stack_pointer: _Unwind_GetCFA(context),
            frame_pointer: _Unwind_GetGR(context, FRAME_POINTER),
        });
        c_int::from(frames.len() >= MAX_FRAMES)
    }
}

/// The innermost place on a stack that is in the program's own source or, failing that, as close to
/// it as there is one; with the function of a library that was called there.
pub(crate) fn location_of(stack: &[usize]) -> Option<Location> {
    let mut places = places(stack);
    let closest = places.iter().map(|place| origin(&place.file)).min()?;
    let idx = places.iter().position(|place| origin(&place.file) == closest)?;
    let called = idx.checked_sub(1).and_then(|inner| places[inner].function.as_deref());
    let within = called.and_then(short_name);
    let is_library = closest != Origin::Own;
    Some(Location { within, is_library, ..places.swap_remove(idx) })
}

/// Where the program itself spells the order of an atomic access with this stack: nothing if that
/// is in a library.
pub(crate) fn atomic_site(stack: &[usize]) -> Option<Location> {
    const ATOMICS: [&str; 4] = ["/sync/atomic", "/intrinsics/", "/bits/atomic", "/stdatomic"];
    let is_of_language = |place: &Location| {
        let is_named = ATOMICS.iter().any(|part| place.file.contains(part));
        let is_foreign = origin(&place.file) != Origin::Own;
        is_foreign && (is_named || place.file.ends_with("/atomic"))
    };
    let place = places(stack).into_iter().find(|place| !is_of_language(place))?;
    (origin(&place.file) == Origin::Own).then_some(place)
}

/// The places on a stack that are as close to the program's own source as there are any, innermost
/// first; as many as people read.
pub(crate) fn locations_of(stack: &[usize]) -> Vec<Location> {
    const MAX_TOLD: usize = 8;
    let mut places = places(stack);
    let closest = places.iter().map(|place| origin(&place.file)).min();
    places.retain(|place| Some(origin(&place.file)) == closest);
    places.truncate(MAX_TOLD);
    places
}

/// The places of the program itself on a stack, with those of functions that were inlined,
/// innermost first.
fn places(stack: &[usize]) -> Vec<Location> {
    let own = stack.iter().filter(|&&address| module_of(address).is_some_and(|it| it.is_main));
    // A return address is behind the call.
    own.flat_map(|&address| locations(address - 1)).collect()
}

/// Whether a return address is in the program's own source.
pub(crate) fn is_own(address: usize) -> bool {
    places(&[address]).iter().any(|place| origin(&place.file) == Origin::Own)
}

/// The functions of the program on a stack, inlined ones too, innermost first.
pub(crate) fn functions_of(stack: &[usize]) -> Vec<String> {
    places(stack).into_iter().filter_map(|place| place.function).collect()
}

/// The variable or function at an address of the program. Also asked by threads of the program,
/// which do not read its file themselves.
pub(crate) fn symbol(address: usize) -> Option<String> {
    let mut found = None;
    crate::coroutine::as_host(|| found = look_up_symbol(address));
    found
}

/// What people call the variable or function of the program whose address is held.
pub(crate) fn pointed_symbol(address: usize) -> Option<String> {
    let mut found = None;
    crate::coroutine::as_host(|| {
        found = module_of(address).filter(|module| module.is_main).and_then(|module| {
            let at = (address - module.base) as u64;
            let (name, start, statics) = symbol_at(at, false)?;
            Some(format!("{name}{}", statics.pointed(start, at - start)))
        });
    });
    found
}

/// What the `len` bytes at an address of the program are, if they are in a variable. To be asked by
/// the host.
pub(crate) fn scalar_of(address: usize, len: usize) -> Option<Scalar> {
    let module = module_of(address).filter(|module| module.is_main)?;
    let at = (address - module.base) as u64;
    let (_, start, statics) = symbol_at(at, false)?;
    Some(statics.scalar(start, at - start, len as u64))
}

fn look_up_symbol(address: usize) -> Option<String> {
    let module = module_of(address).filter(|module| module.is_main)?;
    named((address - module.base) as u64, false)
}

/// The thread-local variable so many bytes into those of the program.
pub(crate) fn local_symbol(offset: usize) -> Option<String> {
    let mut found = None;
    crate::coroutine::as_host(|| found = named(offset as u64, true));
    found
}

fn named(wanted: u64, is_local: bool) -> Option<String> {
    let (name, start, statics) = symbol_at(wanted, is_local)?;
    let offset = wanted - start;
    Some(match (is_local, offset) {
        (false, _) => format!("{name}{}", statics.part(start, offset)),
        (true, 0) => name,
        (true, _) => format!("{name}+{offset:#x}"),
    })
}

/// The name of a symbol, where it begins, and what variables consist of.
fn symbol_at(wanted: u64, is_local: bool) -> Option<(String, u64, &'static Statics)> {
    static SYMBOLS: OnceLock<(Vec<Symbol>, Statics)> = OnceLock::new();
    let (symbols, statics) = SYMBOLS.get_or_init(|| symbols().unwrap_or_default());
    let is_it = |it: &&Symbol| it.is_local == is_local && it.place.contains(&wanted);
    let found = symbols.iter().find(is_it)?;
    let name = readable(&found.name);
    let name = name.strip_prefix("guard variable for ").unwrap_or(&name);
    Some((name.to_owned(), found.place.start, statics))
}

/// A variable or function of the program.
struct Symbol {
    /// From where the program, or its thread-local variables, begin.
    place: Range<u64>,
    is_local: bool,
    name: String,
}

fn symbols() -> Option<(Vec<Symbol>, Statics)> {
    let data = std::fs::read("/proc/self/exe").ok()?;
    let file = object::File::parse(&*data).ok()?;
    let defined = file.symbols().filter(ObjectSymbol::is_definition);
    let symbols = defined.filter_map(|symbol| {
        let place = symbol.address()..symbol.address() + symbol.size();
        let is_local = symbol.kind() == SymbolKind::Tls;
        // Copies of a library's variables have its version behind their names.
        let name = symbol.name().ok()?.split('@').next()?.to_owned();
        Some(Symbol { place, is_local, name })
    });
    Some((symbols.collect(), Statics::read(&file).unwrap_or_default()))
}

/// The name of a symbol as it was written in C++ or Rust; a C name stays as it is.
pub(crate) fn readable(name: &str) -> Cow<'_, str> {
    match name.starts_with("_Z") || name.starts_with("_R") {
        true => addr2line::demangle_auto(name.into(), None),
        false => name.into(),
    }
}

/// What people call the function of a symbol, in short.
pub(crate) fn short(symbol: &str) -> Option<String> {
    short_name(&readable(symbol))
}

/// What an access to an address is called where there is no memory.
pub(crate) fn unmapped(address: usize) -> String {
    // No object is in the first page: an address there comes of a null pointer.
    const PAGE: usize = 4096;
    match address {
        0 => "a null pointer is followed".to_owned(),
        1..PAGE => format!("a null pointer is followed, {address:#x} bytes behind it"),
        _ => format!("invalid access to address {address:#x}"),
    }
}

/// What a crash is called.
pub(crate) fn describe_crash(crash: Crash) -> Violation {
    let at = match location(crash.instruction) {
        Some(location) => format!(" at {location}"),
        None => String::new(),
    };
    let (kind, what) = match crash.signal {
        libc::SIGSEGV | libc::SIGBUS if crash.is_destroyed => {
            (ViolationKind::Memory, "the thread has destroyed its stack".to_owned())
        }
        libc::SIGSEGV | libc::SIGBUS if crash.is_overflow => {
            (ViolationKind::Memory, "stack overflow".to_owned())
        }
        libc::SIGSEGV | libc::SIGBUS => (ViolationKind::Memory, unmapped(crash.address)),
        libc::SIGFPE => (ViolationKind::Panic, "arithmetic exception".to_owned()),
        libc::SIGABRT => (ViolationKind::Panic, "the program aborted".to_owned()),
        libc::SIGVTALRM => (
            ViolationKind::Livelock,
            "a thread goes on for ever without a visible operation".to_owned(),
        ),
        signal => (ViolationKind::Panic, format!("signal {signal}")),
    };
    Violation::new(kind, what + &at)
}

/// Where a thread was that was left in the middle: in the program, or in a function that it has
/// called.
pub(crate) fn interrupted_at(crash: &Crash) -> Option<Location> {
    const WORDS: usize = 512;
    if let Some(place) = location(crash.instruction) {
        return Some(place);
    }
    let top = coroutine::top(coroutine::stack_of(crash.stack_pointer));
    let end = top.min(crash.stack_pointer + WORDS * size_of::<usize>());
    let words = (crash.stack_pointer..end).step_by(size_of::<usize>());
    // The innermost address of the program is most likely where the call returns to.
    // SAFETY: the words are on the stack of the thread.
    words.map(|at| unsafe { *(at as *const usize) }).find_map(|word| {
        let is_code = module_of(word).is_some_and(|module| module.is_main);
        is_code.then(|| location(word - 1))?
    })
}

/// The place in the source of an address of the program.
fn location(address: usize) -> Option<Location> {
    locations(address).into_iter().next()
}

/// The places in the source of an address of the program: of functions that were inlined, too,
/// innermost first.
fn locations(address: usize) -> Vec<Location> {
    /// By address: each is looked up once.
    static KNOWN: Mutex<BTreeMap<usize, Vec<Location>>> = Mutex::new(BTreeMap::new());
    let mut found = Vec::new();
    crate::coroutine::as_host(|| {
        let known = || KNOWN.lock().expect("the lock is not poisoned");
        let before = known().get(&address).cloned();
        found = before.unwrap_or_else(|| {
            let places = look_up_locations(address);
            known().insert(address, places.clone());
            places
        });
    });
    found
}

/// The function that a return address is in: not one that was inlined there.
pub(crate) fn function_at(address: usize) -> Option<String> {
    locations(address.checked_sub(1)?).into_iter().next_back()?.function
}

fn look_up_locations(address: usize) -> Vec<Location> {
    static LOADER: OnceLock<Option<SyncLoader>> = OnceLock::new();
    let Some(module) = module_of(address).filter(|module| module.is_main) else {
        return Vec::new();
    };
    let loader = LOADER.get_or_init(|| Loader::new("/proc/self/exe").ok().map(SyncLoader));
    let frames = loader
        .as_ref()
        .and_then(|loader| loader.0.find_frames((address - module.base) as u64).ok());
    let Some(mut frames) = frames else { return Vec::new() };
    let mut locations = Vec::new();
    while let Ok(Some(frame)) = frames.next() {
        let function = frame.function.as_ref().and_then(|it| it.raw_name().ok());
        let function = function.map(|name| readable(&name).into_owned());
        if let Some(place) = frame.location
            && let (Some(file), Some(line)) = (place.file, place.line)
        {
            let (file, column) = (file.to_owned(), place.column.unwrap_or(0));
            locations.push(Location {
                file,
                line,
                column,
                function,
                within: None,
                is_library: false,
            });
        }
    }
    locations
}

struct SyncLoader(Loader);

// SAFETY: only the OS thread that explores asks for places.
unsafe impl Sync for SyncLoader {}
// SAFETY: as above.
unsafe impl Send for SyncLoader {}

/// Whether an address is in the program itself or in a library of its own.
pub(crate) fn is_program(address: usize) -> bool {
    module_of(address).is_some_and(|module| crate::memory::is_program(&module.name))
}

/// The library that an address is in: nothing if it is in this one, empty for the program.
pub(crate) fn library_of(address: usize) -> Option<String> {
    let name = module_of(address)?.name;
    let file = name.rsplit('/').next().unwrap_or_default();
    (!file.starts_with("libmazurka_native")).then(|| file.to_owned())
}

/// Where a module was loaded, and its path; that of the program is empty.
pub(crate) struct Module {
    pub(crate) base: usize,
    pub(crate) is_main: bool,
    name: String,
}

struct Question {
    address: usize,
    answer: Option<Module>,
    /// Its segment.
    segment: Range<usize>,
    /// How much of that follows.
    room: usize,
    is_code: bool,
}

/// How many bytes can be read from an address of the program on; nothing if it is none of the
/// program's.
pub(crate) fn readable_from(address: usize) -> Option<usize> {
    let question = ask(address);
    question.answer.filter(|module| module.is_main).map(|_| question.room)
}

/// The code of the program that an address is in.
pub(crate) fn code_around(address: usize) -> Option<Range<usize>> {
    let question = ask(address);
    (question.is_code && question.answer.is_some_and(|it| it.is_main)).then_some(question.segment)
}

/// Whether an address is in code.
pub(crate) fn is_code(address: usize) -> bool {
    ask(address).is_code
}

pub(crate) fn module_of(address: usize) -> Option<Module> {
    ask(address).answer
}

fn ask(address: usize) -> Question {
    let mut question = Question { address, answer: None, segment: 0..0, room: 0, is_code: false };
    // SAFETY: `look` is called with what it expects, before this returns.
    unsafe { libc::dl_iterate_phdr(Some(look), (&raw mut question).cast()) };
    question
}

unsafe extern "C" fn look(info: *mut libc::dl_phdr_info, _: usize, question: *mut c_void) -> c_int {
    // SAFETY: both come from `module_of`, through the loader, whose headers stay.
    let (info, question, headers) = unsafe {
        let info = &*info;
        let headers = std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum));
        (info, &mut *question.cast::<Question>(), headers)
    };
    let base = info.dlpi_addr as usize;
    let segment = headers
        .iter()
        .filter(|header| header.p_type == libc::PT_LOAD)
        .map(|header| {
            let start = base + header.p_vaddr as usize;
            (start..start + header.p_memsz as usize, header.p_flags & libc::PF_X != 0)
        })
        .find(|(segment, _)| segment.contains(&question.address));
    if let Some((segment, is_code)) = &segment {
        question.is_code = *is_code;
        question.room = segment.end - question.address;
        question.segment = segment.clone();
        // SAFETY: the loader's names are strings.
        let name = unsafe { CStr::from_ptr(info.dlpi_name) }.to_string_lossy().into_owned();
        question.answer = Some(Module { base, is_main: name.is_empty(), name });
    }
    c_int::from(segment.is_some())
}

/// What people call the thread that runs.
pub(crate) fn current_thread() -> String {
    use mazurka_core::System;
    crate::system::Native.thread_name(machine::current()).into_owned()
}
