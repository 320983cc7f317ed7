//! Code of the program before and after `main`: constructors, and functions with the attribute
//! `destructor`.
//!
//! Destructors are handlers of the exit (`exit`) that were registered before all others.
//!
//! Constructors are run by the C library, before there is anything to explore, and what they leave
//! in memory is what every execution begins with. That is right as long as there is one thread and
//! no block of memory: a constructor that starts a thread ([`note_thread`]), or allocates memory
//! whose end and whose bounds were to be watched ([`note_allocation`]), shows that it is not. Then
//! the program begins once more, the constructors are taken out of the list that the C library works
//! through ([`take_out`]), and `main` calls them in every execution ([`run`]). Those of shared
//! libraries have run by then; a thread that they start is refused, and what they have allocated is
//! not watched.

use crate::names;
use crate::process::Handler;
use crate::report;
use crate::start::Silence;
use std::cell::UnsafeCell;
use std::ffi::{CString, c_char, c_int, c_void};
use std::os::unix::ffi::OsStringExt as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// Says that `main` is to call the constructors.
const WISH: &str = "MAZURKA_CONSTRUCTORS";
const PAGE_LEN: usize = 4096;
/// Entries of the dynamic section: the lists of constructors and destructors, and their lengths in
/// bytes.
const END: i64 = 0;
const INIT_ARRAY: i64 = 25;
const FINI_ARRAY: i64 = 26;
const INIT_ARRAY_LEN: i64 = 27;
const FINI_ARRAY_LEN: i64 = 28;

type Constructor = unsafe extern "C-unwind" fn(c_int, *mut *mut c_char, *mut *mut c_char);
type Destructor = unsafe extern "C-unwind" fn();

/// Constructors that `main` calls, in their order.
struct Taken(UnsafeCell<Vec<Constructor>>);

// SAFETY: written before `main`, by the only thread that there is, and only read from then on.
unsafe impl Sync for Taken {}

static TAKEN: Taken = Taken(UnsafeCell::new(Vec::new()));

/// What the loader knows of a list of functions: where it is, and how many words it has.
#[derive(Clone, Copy, Default)]
struct List {
    start: usize,
    len: usize,
}

#[derive(Default)]
struct Lists {
    init: List,
    fini: List,
}

/// Where the program's own lists are.
fn lists() -> Lists {
    let mut lists = Lists::default();
    // SAFETY: `visit` is called with what it expects, before this returns.
    unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut lists).cast()) };
    lists
}

/// The program is the first that the loader tells of.
unsafe extern "C" fn visit(info: *mut libc::dl_phdr_info, _: usize, lists: *mut c_void) -> c_int {
    // SAFETY: both come from `lists`, through the loader, whose headers and sections stay.
    unsafe {
        let (info, lists) = (&*info, &mut *lists.cast::<Lists>());
        let base = info.dlpi_addr as usize;
        let headers = std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum));
        let Some(dynamic) = headers.iter().find(|it| it.p_type == libc::PT_DYNAMIC) else {
            return 1;
        };
        let mut entry = (base + dynamic.p_vaddr as usize) as *const [i64; 2];
        while let [tag, value] = *entry
            && tag != END
        {
            match tag {
                INIT_ARRAY => lists.init.start = base + value as usize,
                INIT_ARRAY_LEN => lists.init.len = value as usize / size_of::<usize>(),
                FINI_ARRAY => lists.fini.start = base + value as usize,
                FINI_ARRAY_LEN => lists.fini.len = value as usize / size_of::<usize>(),
                _ => {}
            }
            entry = entry.add(1);
        }
    }
    1
}

/// The functions of a list. Some linkers end it with words that are none.
fn functions(list: List) -> impl Iterator<Item = usize> {
    // SAFETY: the loader has said where the list is.
    let words = (0..list.len).map(move |idx| unsafe { *(list.start as *const usize).add(idx) });
    words.filter(|&word| word != 0 && word != usize::MAX)
}

/// What runs after `main` and all handlers, the last one last in the list: it is called first.
pub(crate) fn destructors() -> Vec<Handler> {
    // The compiler's own one asks the C library to run the handlers, which is our business.
    let is_compiler_s =
        |&address: &usize| names::symbol(address).is_some_and(|it| it == "__do_global_dtors_aux");
    // SAFETY: the linker has put the addresses of such functions there.
    let function = |address| unsafe { std::mem::transmute::<usize, Destructor>(address) };
    let all = functions(lists().fini).filter(|address| !is_compiler_s(address));
    all.map(|address| Handler::WithNothing(function(address))).collect()
}

/// Whether the C library is about to run the constructors of the program, or runs them.
static ARE_RUN: AtomicBool = AtomicBool::new(false);

/// While they run in a program that is to be explored.
static SILENCE: Mutex<Option<Silence>> = Mutex::new(None);

/// The program's own constructors are about to be run by the C library. What they print is no part
/// of a report; with `is_silent`, it goes nowhere.
pub(crate) fn begin(is_silent: bool) {
    take_out();
    let is_explored = std::env::var_os(mazurka_protocol::REPORT).is_some();
    ARE_RUN.store(is_explored && std::env::var_os(WISH).is_none(), Ordering::Relaxed);
    if is_silent {
        set_silence(Some(Silence::begin()));
    }
}

/// They have run.
pub(crate) fn end() {
    ARE_RUN.store(false, Ordering::Relaxed);
    set_silence(None);
}

fn set_silence(silence: Option<Silence>) {
    *SILENCE.lock().unwrap_or_else(PoisonError::into_inner) = silence;
}

/// Memory is allocated outside of an execution.
#[inline]
pub(crate) fn note_allocation() {
    if ARE_RUN.load(Ordering::Relaxed) {
        begin_again();
    }
}

/// A thread is started before `main`.
pub(crate) fn note_thread() {
    let Some(path) = std::env::var_os(mazurka_protocol::REPORT) else { return };
    report::set_path(path);
    if std::env::var_os(WISH).is_some() {
        report::end_without_verdict(
            "a thread that is started before `main` by a shared library is not supported: \
             link its objects into the program",
        );
    }
    begin_again();
}

/// Starts the program once more, for `main` to call the constructors.
#[cold]
fn begin_again() -> ! {
    end();
    let variables = std::env::vars_os().filter_map(|(name, value)| {
        let mut text = name.into_vec();
        text.push(b'=');
        text.extend(value.into_vec());
        CString::new(text).ok()
    });
    let wish = CString::new(format!("{WISH}=1")).ok();
    let variables: Vec<CString> = variables.chain(wish).collect();
    let arguments: Vec<CString> =
        std::env::args_os().filter_map(|it| CString::new(it.into_vec()).ok()).collect();
    let pointers = |all: &[CString]| {
        let all = all.iter().map(|it| it.as_ptr());
        all.chain([std::ptr::null()]).collect::<Vec<*const c_char>>()
    };
    let (arguments, variables) = (pointers(&arguments), pointers(&variables));
    let path = c"/proc/self/exe".as_ptr();
    // SAFETY: the lists end with a null, and no thread of the program runs. The function of this
    // name refuses.
    unsafe { libc::syscall(libc::SYS_execve, path, arguments.as_ptr(), variables.as_ptr()) };
    report::die("the program cannot be started once more, for its constructors to be explored");
}

/// Takes the constructors away from the C library if `main` is to call them. To be called before
/// that has run any.
fn take_out() {
    if std::env::var_os(WISH).is_none() {
        return;
    }
    let list = lists().init;
    let start = list.start / PAGE_LEN * PAGE_LEN;
    let len = list.start + list.len * size_of::<usize>() - start;
    // SAFETY: the list is the program's, and the C library has not begun with it. It lies in memory
    // that is not to be written once the program is loaded.
    unsafe {
        let taken = &mut *TAKEN.0.get();
        taken.extend(functions(list).map(|it| std::mem::transmute::<usize, Constructor>(it)));
        libc::mprotect(start as *mut c_void, len, libc::PROT_READ | libc::PROT_WRITE);
        for idx in 0..list.len {
            *(list.start as *mut usize).add(idx) = nothing as *const () as usize;
        }
        libc::mprotect(start as *mut c_void, len, libc::PROT_READ);
    }
}

/// Stands for a constructor that was taken out.
extern "C" fn nothing() {}

/// Calls the constructors that were taken out.
pub(crate) fn run(argc: c_int, argv: *mut *mut c_char, envp: *mut *mut c_char) {
    // SAFETY: it is not written any more.
    for constructor in unsafe { &*TAKEN.0.get() } {
        // SAFETY: the C library wanted to call just this.
        unsafe { constructor(argc, argv, envp) };
    }
}
