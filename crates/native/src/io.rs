//! Input and output: files, processes, signals, the network.
//!
//! A file that is only read is the same in every execution, and is closed before the next one.
//! Numbers of files and the position in each are shared between threads, so a thread that opens,
//! closes or reads takes an operation. The kernel keeps them, so there are no checkpoints while a
//! file is open, and none any more once one was opened for writing.
//!
//! What cannot be repeated ends the search where it is called, with an error and not a verdict,
//! unless the user says that the call is to fail (`skip`) or to be made each time (`real`). The
//! coverage then says so.

use crate::coroutine;
use crate::exit;
use crate::library;
use crate::machine::{self, Machine};
use crate::mapping::{self, Wish};
use crate::names;
use crate::process;
use crate::real::{Real, original, replace};
use crate::report;
use crate::spin;
use crate::syscall;
use mazurka_core::{Assumption, ViolationKind};
use std::arch::naked_asm;
use std::ffi::{CStr, c_char, c_int, c_uint};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};

const BUFFER_LEN: usize = 4096;
/// Files of the program have numbers from here on, so that they do not depend on ours.
const FIRST_NUMBER: c_int = 300;

/// A function of the C library that cannot be repeated, or not with all arguments.
struct Call {
    name: &'static str,
    real: Real,
    check: Check,
    /// What the function gives back when it fails.
    failure: extern "C" fn() -> isize,
    /// What the user has said of it: [`REFUSED`], [`SKIPPED`] or [`REAL`].
    allowed: AtomicU8,
    is_used: AtomicBool,
}

const REFUSED: u8 = 0;
const SKIPPED: u8 = 1;
const REAL: u8 = 2;

/// What is done before a function is called: its arguments may make it harmless, or it is an
/// operation.
type Check = fn(&Registers) -> Nature;

/// What a call is.
#[derive(PartialEq, Eq)]
enum Nature {
    /// It can be repeated.
    Harmless,
    /// It cannot.
    Unrepeatable,
    /// Another function does it, with the same arguments.
    Replaced(usize),
}

/// The arguments of a function, and who called it, as `stand_in!` leaves them on the stack.
#[repr(C)]
struct Registers {
    rax: usize,
    r9: usize,
    r8: usize,
    rcx: usize,
    rdx: usize,
    rsi: usize,
    rdi: usize,
    caller: usize,
}

/// A call that ends the search.
pub(crate) struct Refusal {
    what: String,
    stack: Vec<usize>,
}

/// The files that the program has open in the execution in progress.
#[derive(Default)]
pub(crate) struct Files {
    numbers: Vec<c_int>,
    /// Each with its buffer, in the lowest place that was free.
    streams: Vec<Option<Stream>>,
    /// What `opendir` gave.
    folders: Vec<*mut libc::DIR>,
}

type Stream = (*mut libc::FILE, Box<[u8]>);

/// Stand for what threads share of files, as addresses for the operations on it.
#[repr(C)]
struct Shared {
    table: u8,
    numbers: [u8; N_SHARED],
    streams: [u8; N_SHARED],
    folders: u8,
}

/// Files beyond that share a place: their operations depend on each other, needlessly.
const N_SHARED: usize = 1 << 10;
static SHARED: Shared =
    Shared { table: 0, numbers: [0; N_SHARED], streams: [0; N_SHARED], folders: 0 };

/// What people call the thing at an address, if it is about files.
pub(crate) fn name_of(address: usize) -> Option<String> {
    let idx = |places: &[u8]| {
        let idx = address.checked_sub(places.as_ptr() as usize)?;
        (idx < places.len()).then_some(idx)
    };
    let is_table = address == &raw const SHARED.table as usize;
    let table = || is_table.then(|| "the open files".to_owned());
    let number = || idx(&SHARED.numbers).map(|number| format!("file {number}"));
    let stream = || idx(&SHARED.streams).map(|stream| format!("stream {}", stream + 1));
    let is_folders = address == &raw const SHARED.folders as usize;
    let folders = || is_folders.then(|| "the positions in folders".to_owned());
    table().or_else(number).or_else(stream).or_else(folders)
}

/// A file is about to be opened or closed.
fn touch_table() {
    machine::visible_write(&raw const SHARED.table as usize, 1);
}

extern "C" fn minus_one() -> isize {
    syscall::fail_with(libc::ENOSYS) as isize
}

extern "C" fn null() -> isize {
    syscall::fail_with(libc::ENOSYS);
    0
}

extern "C" fn error_number() -> isize {
    libc::ENOSYS as isize
}

fn always(_: &Registers) -> Nature {
    Nature::Unrepeatable
}

fn if_it(is_unrepeatable: bool) -> Nature {
    if is_unrepeatable { Nature::Unrepeatable } else { Nature::Harmless }
}

/// To ask for a handler is harmless.
fn changes_handler(registers: &Registers) -> Nature {
    if_it(registers.rsi != 0 && registers.rdi != libc::SIGPIPE as usize)
}

/// A program that ignores broken pipes, as Rust's library does, sees none here.
fn is_no_pipe(registers: &Registers) -> Nature {
    if_it(registers.rdi != libc::SIGPIPE as usize)
}

/// To ask whether a thread is there is harmless.
fn is_signal(registers: &Registers) -> Nature {
    if_it(registers.rsi != 0)
}

/// No signal ever comes. Who waits for the end of the process gets it.
fn pauses(_: &Registers) -> Nature {
    if exit::is_awaited(&names::backtrace()) {
        return Nature::Replaced(exit::await_exit as *const () as usize);
    }
    Nature::Unrepeatable
}

/// The end of the program by itself is a violation, which is found.
fn is_no_abort(registers: &Registers) -> Nature {
    if_it(registers.rdi != libc::SIGABRT as usize)
}

/// Who waits for no file waits for time to pass; who does not wait finds out about standard input
/// and output.
fn waits(n_files: usize, is_at_once: bool, has_limit: bool, instead: *const ()) -> Nature {
    match n_files {
        0 if has_limit => Nature::Replaced(instead as usize),
        _ => if_it(!is_at_once),
    }
}

fn polls(registers: &Registers) -> Nature {
    let limit = registers.rdx as c_int;
    waits(registers.rsi, limit == 0, limit >= 0, process::poll_nothing as *const ())
}

fn polls_precisely(registers: &Registers) -> Nature {
    let has_limit = registers.rdx != 0;
    waits(registers.rsi, false, has_limit, process::ppoll_nothing as *const ())
}

fn selects(registers: &Registers) -> Nature {
    let has_limit = registers.r8 != 0;
    waits(registers.rdi, false, has_limit, process::select_nothing as *const ())
}

fn selects_precisely(registers: &Registers) -> Nature {
    let has_limit = registers.r8 != 0;
    waits(registers.rdi, false, has_limit, process::pselect_nothing as *const ())
}

fn maps(registers: &Registers) -> Nature {
    let wish = Wish {
        address: registers.rdi,
        len: registers.rsi,
        protection: registers.rdx as c_int,
        flags: registers.rcx as c_int,
    };
    match wish.can_be_had() {
        true => Nature::Replaced(mapping::map as *const () as usize),
        false => Nature::Unrepeatable,
    }
}

/// What is done to memory that the program has mapped.
fn of_mapping(registers: &Registers, instead: *const ()) -> Nature {
    match mapping::is_mapped(registers.rdi) {
        true => Nature::Replaced(instead as usize),
        false => Nature::Harmless,
    }
}

fn unmaps(registers: &Registers) -> Nature {
    of_mapping(registers, mapping::unmap as *const ())
}

fn remaps(registers: &Registers) -> Nature {
    of_mapping(registers, mapping::remap as *const ())
}

fn advises(registers: &Registers) -> Nature {
    of_mapping(registers, mapping::advise as *const ())
}

/// What allows to read and not to write is not put back.
fn protects(registers: &Registers) -> Nature {
    let both = libc::PROT_READ | libc::PROT_WRITE;
    match of_mapping(registers, mapping::protect as *const ()) {
        Nature::Replaced(_) if ![both, libc::PROT_NONE].contains(&(registers.rdx as c_int)) => {
            Nature::Unrepeatable
        }
        nature => nature,
    }
}

impl Call {
    const fn new(
        name: &'static str,
        c_name: &'static CStr,
        check: Check,
        failure: extern "C" fn() -> isize,
    ) -> Self {
        let (allowed, is_used) = (AtomicU8::new(REFUSED), AtomicBool::new(false));
        Self { name, real: Real::new(c_name), check, failure, allowed, is_used }
    }

    /// Whether a call that cannot be repeated is made nevertheless; if nobody has said anything of
    /// it, the search ends here.
    fn is_real(&self) -> bool {
        self.is_real_as(|| format!("`{}`", self.name))
    }

    /// The same of a call that people know by another name.
    fn is_real_as(&self, what: impl FnOnce() -> String) -> bool {
        let allowed = self.allowed.load(Ordering::Relaxed);
        if allowed == REFUSED {
            refuse(what(), Some(self.name))
        }
        if !self.is_used.swap(true, Ordering::Relaxed) {
            N_USED.fetch_add(1, Ordering::Relaxed);
        }
        allowed == REAL
    }

    fn assumption(&self) -> Option<Assumption> {
        self.is_used.load(Ordering::Relaxed).then(|| match self.allowed.load(Ordering::Relaxed) {
            REAL => Assumption::RepeatedCall(self.name.to_owned()),
            _ => Assumption::FailingCall(self.name.to_owned()),
        })
    }

    /// Where a call goes on.
    fn way(&self, registers: &Registers) -> usize {
        if coroutine::in_program() {
            spin::spoil();
            match (self.check)(registers) {
                Nature::Harmless => {}
                // This library may do what it likes.
                Nature::Unrepeatable | Nature::Replaced(_)
                    if names::library_of(registers.caller).is_none() => {}
                Nature::Replaced(address) => return address,
                Nature::Unrepeatable if self.is_real() => {}
                Nature::Unrepeatable => return self.failure as *const () as usize,
            }
        }
        self.real.address()
    }
}

/// Ends the search because of something that cannot be repeated; `name` is what the user may allow.
pub(crate) fn refuse(what: String, name: Option<&str>) -> ! {
    let stack = names::backtrace();
    let help = name.map_or(String::new(), |name| {
        format!("; `--allow skip={name}` lets it fail, `--allow real={name}` makes it every time")
    });
    let what = format!("{what}{{}} cannot be repeated in every execution{help}");
    machine::with(|machine| machine.refusal = Some(Refusal { what, stack }));
    machine::fail(ViolationKind::Panic, String::new())
}

/// Ends the search because of something that is not supported; there is no way round.
pub(crate) fn refuse_always(what: &str, why: &str) -> ! {
    let stack = names::backtrace();
    let what = format!("{what}{{}} is not supported: {why}");
    machine::with(|machine| machine.refusal = Some(Refusal { what, stack }));
    machine::fail(ViolationKind::Panic, String::new())
}

impl Refusal {
    /// Tells it, in place of a verdict.
    pub(crate) fn end_search(self) -> ! {
        let place = names::location_of(&self.stack).map_or(String::new(), |place| {
            let function = place.function.as_ref();
            let function = function.map_or(String::new(), |name| format!(", in {name},"));
            format!(" at {place}{function}")
        });
        report::end_without_verdict(&self.what.replace("{}", &place))
    }
}

/// Does as the user says: `skip=socket`, `real=fork,execve`.
pub(crate) fn allow(wish: &str) -> Result<(), String> {
    let (how, names) = wish.split_once('=').unwrap_or((wish, ""));
    let how = match how {
        "skip" => SKIPPED,
        "real" => REAL,
        _ => return Err(format!("`--allow {wish}`: write `skip=NAME` or `real=NAME`")),
    };
    for name in names.split(',') {
        let call = all().find(|call| call.name == name);
        let call = call.ok_or_else(|| {
            let known: Vec<_> = all().map(|call| call.name).collect();
            format!("`--allow`: `{name}` is none of what is refused: {}", known.join(", "))
        })?;
        call.allowed.store(how, Ordering::Relaxed);
    }
    Ok(())
}

/// How many calls that were allowed were made so far.
static N_USED: AtomicU64 = AtomicU64::new(0);

/// How many calls that were allowed were made so far.
pub(crate) fn n_used() -> u64 {
    N_USED.load(Ordering::Relaxed)
}

/// What a proof takes for granted of the calls that were allowed.
pub(crate) fn assumptions() -> impl Iterator<Item = Assumption> {
    all().filter_map(Call::assumption)
}

/// Those that the user can allow.
fn all() -> impl Iterator<Item = &'static Call> {
    let moves = |call: &&Call| {
        let moving: [Check; 3] = [unmaps, remaps, advises];
        moving.iter().any(|&check| std::ptr::fn_addr_eq(check, call.check))
    };
    CALLS.iter().copied().filter(move |call| !moves(call)).chain(WRITING)
}

static OPEN: Call = Call::new("open", c"open", always, minus_one);
static OPEN64: Call = Call::new("open64", c"open64", always, minus_one);
static OPENAT: Call = Call::new("openat", c"openat", always, minus_one);
static OPENAT64: Call = Call::new("openat64", c"openat64", always, minus_one);
static FOPEN: Call = Call::new("fopen", c"fopen", always, null);
static FOPEN64: Call = Call::new("fopen64", c"fopen64", always, null);
static FDOPEN: Call = Call::new("fdopen", c"fdopen", always, null);
/// Those that are repeated only for reading.
static SYSCALL: Call = Call::new("syscall", c"syscall", always, minus_one);
static WRITING: [&Call; 8] =
    [&OPEN, &OPEN64, &OPENAT, &OPENAT64, &FOPEN, &FOPEN64, &FDOPEN, &SYSCALL];

/// Whether a system call that nothing is known of is made nevertheless; if nobody has said so or
/// otherwise, the search ends here.
pub(crate) fn is_system_call_real(number: libc::c_long) -> bool {
    SYSCALL.is_real_as(|| format!("system call {number}"))
}

extern "C-unwind" fn gate(call: &'static Call, registers: &Registers) -> usize {
    call.way(registers)
}

/// Defines functions that ask [`gate`] where to go on, with all arguments where they were: there
/// may be any number of them, and `vfork` must return to who called it.
macro_rules! stand_in {
    ($($name:ident $check:ident $failure:ident;)*) => {
        #[expect(non_upper_case_globals, reason = "they are called as the functions are")]
        mod calls {
            use super::*;
            $(pub(super) static $name: Call = Call::new(
                stringify!($name),
                match CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                    Ok(name) => name,
                    Err(_) => panic!("a function has a name"),
                },
                $check,
                $failure,
            );)*
        }
        static CALLS: &[&Call] = &[$(&calls::$name),*];
        $(
            #[unsafe(no_mangle)]
            #[unsafe(naked)]
            unsafe extern "C-unwind" fn $name() {
                naked_asm!(
                    ".cfi_startproc",
                    "push rdi",
                    "push rsi",
                    "push rdx",
                    "push rcx",
                    "push r8",
                    "push r9",
                    "push rax",
                    ".cfi_adjust_cfa_offset 56",
                    "lea rdi, [rip + {call}]",
                    "mov rsi, rsp",
                    "call {gate}",
                    "mov r11, rax",
                    "pop rax",
                    "pop r9",
                    "pop r8",
                    "pop rcx",
                    "pop rdx",
                    "pop rsi",
                    "pop rdi",
                    ".cfi_adjust_cfa_offset -56",
                    "jmp r11",
                    ".cfi_endproc",
                    call = sym calls::$name,
                    gate = sym gate,
                )
            }
        )*
    };
}

stand_in! {
    socket always minus_one;
    socketpair always minus_one;
    connect always minus_one;
    bind always minus_one;
    listen always minus_one;
    accept always minus_one;
    accept4 always minus_one;
    fork always minus_one;
    vfork always minus_one;
    execl always minus_one;
    execle always minus_one;
    execlp always minus_one;
    execv always minus_one;
    execve always minus_one;
    execvp always minus_one;
    execvpe always minus_one;
    fexecve always minus_one;
    system always minus_one;
    popen always null;
    posix_spawn always error_number;
    posix_spawnp always error_number;
    sigaction changes_handler minus_one;
    signal is_no_pipe minus_one;
    kill always minus_one;
    raise is_no_abort minus_one;
    pthread_kill is_signal error_number;
    alarm always null;
    setitimer always minus_one;
    timer_create always minus_one;
    clone always minus_one;
    _Fork always minus_one;
    forkpty always minus_one;
    execveat always minus_one;
    sigset changes_handler minus_one;
    sigqueue always minus_one;
    killpg always minus_one;
    tgkill always minus_one;
    pthread_sigqueue always error_number;
    pause pauses minus_one;
    sigpause always minus_one;
    sigsuspend always minus_one;
    sigwait always error_number;
    sigwaitinfo always minus_one;
    sigtimedwait always minus_one;
    poll polls minus_one;
    ppoll polls_precisely minus_one;
    select selects minus_one;
    pselect selects_precisely minus_one;
    flock always minus_one;
    lockf always minus_one;
    lockf64 always minus_one;
    mq_open always minus_one;
    msgget always minus_one;
    msgsnd always minus_one;
    msgrcv always minus_one;
    semget always minus_one;
    semop always minus_one;
    semtimedop always minus_one;
    shmget always minus_one;
    shmat always minus_one;
    aio_read always minus_one;
    aio_read64 always minus_one;
    aio_write always minus_one;
    aio_write64 always minus_one;
    aio_fsync always minus_one;
    aio_fsync64 always minus_one;
    lio_listio always minus_one;
    lio_listio64 always minus_one;
    makecontext always minus_one;
    pthread_mutex_setprioceiling always error_number;
    creat always minus_one;
    creat64 always minus_one;
    freopen always null;
    unlink always minus_one;
    unlinkat always minus_one;
    remove always minus_one;
    rename always minus_one;
    renameat always minus_one;
    link always minus_one;
    symlink always minus_one;
    mkdir always minus_one;
    rmdir always minus_one;
    truncate always minus_one;
    truncate64 always minus_one;
    mkstemp always minus_one;
    mkstemp64 always minus_one;
    tmpfile always null;
    pipe always minus_one;
    pipe2 always minus_one;
    mkfifo always minus_one;
    eventfd always minus_one;
    timerfd_create always minus_one;
    signalfd always minus_one;
    epoll_create always minus_one;
    epoll_create1 always minus_one;
    inotify_init always minus_one;
    inotify_init1 always minus_one;
    shm_open always minus_one;
    chdir always minus_one;
    fchdir always minus_one;
    chmod always minus_one;
    fchmod always minus_one;
    fchmodat always minus_one;
    lchmod always minus_one;
    chown always minus_one;
    fchown always minus_one;
    lchown always minus_one;
    fchownat always minus_one;
    chflags always minus_one;
    fchflags always minus_one;
    mkdirat always minus_one;
    mkfifoat always minus_one;
    mknod always minus_one;
    mknodat always minus_one;
    __xmknod always minus_one;
    __xmknodat always minus_one;
    linkat always minus_one;
    symlinkat always minus_one;
    renameat2 always minus_one;
    mkstemps always minus_one;
    mkstemps64 always minus_one;
    mkostemp always minus_one;
    mkostemp64 always minus_one;
    mkostemps always minus_one;
    mkostemps64 always minus_one;
    ftruncate always minus_one;
    ftruncate64 always minus_one;
    fallocate always minus_one;
    fallocate64 always minus_one;
    utime always minus_one;
    utimes always minus_one;
    utimensat always minus_one;
    futimens always minus_one;
    futimes always minus_one;
    lutimes always minus_one;
    futimesat always minus_one;
    setxattr always minus_one;
    lsetxattr always minus_one;
    fsetxattr always minus_one;
    removexattr always minus_one;
    lremovexattr always minus_one;
    fremovexattr always minus_one;
    dup always minus_one;
    dup2 always minus_one;
    dup3 always minus_one;
    __dup2 always minus_one;
    umask always minus_one;
    memfd_create always minus_one;
    sendfile always minus_one;
    sendfile64 always minus_one;
    splice always minus_one;
    tee always minus_one;
    vmsplice always minus_one;
    copy_file_range always minus_one;
    daemon always minus_one;
    openpty always minus_one;
    login_tty always minus_one;
    posix_openpt always minus_one;
    grantpt always minus_one;
    unlockpt always minus_one;
    shm_unlink always minus_one;
    setuid always minus_one;
    setgid always minus_one;
    seteuid always minus_one;
    setegid always minus_one;
    setreuid always minus_one;
    setregid always minus_one;
    setresuid always minus_one;
    setresgid always minus_one;
    setfsuid always minus_one;
    setfsgid always minus_one;
    setgroups always minus_one;
    setpgid always minus_one;
    __setpgid always minus_one;
    setpgrp always minus_one;
    setsid always minus_one;
    setlogin always minus_one;
    setrlimit always minus_one;
    setrlimit64 always minus_one;
    sethostname always minus_one;
    setdomainname always minus_one;
    sethostid always minus_one;
    clock_settime always minus_one;
    settimeofday always minus_one;
    adjtime always minus_one;
    stime always minus_one;
    ptrace always minus_one;
    reboot always minus_one;
    mount always minus_one;
    umount always minus_one;
    umount2 always minus_one;
    swapon always minus_one;
    swapoff always minus_one;
    chroot always minus_one;
    pivot_root always minus_one;
    acct always minus_one;
    setns always minus_one;
    unshare always minus_one;
    vhangup always minus_one;
    fsopen always minus_one;
    fsmount always minus_one;
    fsconfig always minus_one;
    fspick always minus_one;
    move_mount always minus_one;
    open_tree always minus_one;
    mount_setattr always minus_one;
    close_range always minus_one;
    closefrom always minus_one;
    revoke always minus_one;
    lckpwdf always minus_one;
    ulckpwdf always minus_one;
    posix_fallocate always error_number;
    posix_fallocate64 always error_number;
    mkdtemp always null;
    ualarm always null;
    mmap maps minus_one;
    mmap64 maps minus_one;
    munmap unmaps minus_one;
    mremap remaps minus_one;
    mprotect protects minus_one;
    madvise advises minus_one;
}

impl Files {
    /// Whether the program has one open.
    pub(crate) fn is_any_open(&self) -> bool {
        !self.numbers.is_empty() || self.streams.iter().any(Option::is_some)
    }

    /// Closes what the program has left open.
    pub(crate) fn close(&mut self) {
        // SAFETY: the program has opened them, and its execution is over.
        unsafe {
            for (stream, _buffer) in self.streams.drain(..).flatten() {
                libc::fclose(stream);
            }
            for folder in self.folders.drain(..) {
                libc::closedir(folder);
            }
            for number in self.numbers.drain(..) {
                libc::close(number);
            }
        }
    }

    fn add_stream(&mut self, stream: *mut libc::FILE, buffer: Box<[u8]>) {
        match self.streams.iter_mut().find(|place| place.is_none()) {
            Some(place) => *place = Some((stream, buffer)),
            None => self.streams.push(Some((stream, buffer))),
        }
    }

    fn place_of(&self, stream: *mut libc::FILE) -> Option<usize> {
        self.streams.iter().position(|open| open.as_ref().is_some_and(|open| open.0 == stream))
    }
}

impl Machine {
    /// A file was opened: what is written to it is in no checkpoint.
    fn note_file(&mut self, is_writing: bool) {
        if is_writing {
            self.checkpoints.are_off = true;
            self.checkpoints.clear();
        }
    }
}

/// The position of a file is changed, so that is an operation. One that is not the program's has
/// none: standard input is empty.
pub(crate) fn move_number(number: c_int) {
    if machine::with(|machine| machine.files.numbers.contains(&number)) {
        let place = &SHARED.numbers[number as usize % N_SHARED];
        machine::visible_write(&raw const *place as usize, 1);
    }
}

pub(crate) fn move_stream(stream: *mut libc::FILE) {
    if let Some(idx) = machine::with(|machine| machine.files.place_of(stream)) {
        let place = &SHARED.streams[idx % N_SHARED];
        machine::visible_write(&raw const *place as usize, 1);
    }
}

/// Opens a folder for the program, which is not in the program's memory.
fn open_folder(open: impl FnOnce() -> *mut libc::DIR) -> *mut libc::DIR {
    touch_table();
    let mut folder = std::ptr::null_mut();
    coroutine::as_host(|| folder = open());
    if !folder.is_null() {
        machine::with(|machine| {
            // The position in it is in no checkpoint, either.
            machine.note_file(true);
            machine.files.folders.push(folder);
        });
    }
    folder
}

/// The position in a folder is changed: not in which one, since programs do not do that from two
/// threads. Whoever does so has to lock it.
fn move_folder() {
    machine::visible_write(&raw const SHARED.folders as usize, 1);
    machine::order_nothing();
}

/// Whether a file is opened for more than reading. What is written to `/dev/null` is nowhere.
fn writes(path: *const c_char, flags: c_int) -> bool {
    let others = libc::O_CREAT | libc::O_TRUNC | libc::O_TMPFILE & !libc::O_DIRECTORY;
    let is_writing = flags & libc::O_ACCMODE != libc::O_RDONLY || flags & others != 0;
    // SAFETY: the program gives a string.
    is_writing && unsafe { CStr::from_ptr(path) } != c"/dev/null"
}

/// The same, in the words of `fopen`.
fn mode_writes(mode: *const c_char) -> bool {
    // SAFETY: the program gives a string.
    let mode = unsafe { CStr::from_ptr(mode) }.to_bytes();
    !mode.starts_with(b"r") || mode.contains(&b'+')
}

/// Opens a file for the program.
fn open_number(call: &Call, is_writing: bool, open: impl FnOnce() -> c_int) -> c_int {
    if is_writing && !call.is_real() {
        return (call.failure)() as c_int;
    }
    touch_table();
    let first = open();
    if first < 0 {
        return first;
    }
    let close = original!(close(c_int) -> c_int);
    // SAFETY: the number is that of a file which was just opened.
    let number = unsafe {
        let number = libc::fcntl(first, libc::F_DUPFD_CLOEXEC, FIRST_NUMBER);
        close(first);
        number
    };
    machine::with(|machine| {
        machine.note_file(is_writing);
        machine.files.numbers.push(number);
    });
    number
}

/// Opens a stream for the program. The C library has a list of all streams, so they are not in the
/// program's memory, which is put back.
fn open_stream(
    call: &Call,
    is_writing: bool,
    open: impl FnOnce() -> *mut libc::FILE,
) -> *mut libc::FILE {
    if is_writing && !call.is_real() {
        return (call.failure)() as *mut libc::FILE;
    }
    touch_table();
    let mut stream = std::ptr::null_mut();
    let mut buffer = vec![0u8; BUFFER_LEN].into_boxed_slice();
    coroutine::as_host(|| {
        stream = open();
        if !stream.is_null() {
            // SAFETY: the stream is new, and closed before its buffer goes away.
            unsafe {
                libc::setvbuf(stream, buffer.as_mut_ptr().cast(), libc::_IOFBF, BUFFER_LEN);
            }
        }
    });
    if !stream.is_null() {
        machine::with(|machine| {
            machine.note_file(is_writing);
            machine.files.add_stream(stream, buffer);
        });
    }
    stream
}

replace! {
    fn open(path: *const c_char, flags: c_int, mode: c_uint) -> c_int {
        let real = original!(open(*const c_char, c_int, c_uint) -> c_int);
        // SAFETY: the program wanted to call just this.
        open_number(&OPEN, writes(path, flags), || unsafe { real(path, flags, mode) })
    }

    fn open64(path: *const c_char, flags: c_int, mode: c_uint) -> c_int {
        let real = original!(open64(*const c_char, c_int, c_uint) -> c_int);
        // SAFETY: the program wanted to call just this.
        open_number(&OPEN64, writes(path, flags), || unsafe { real(path, flags, mode) })
    }

    fn openat(folder: c_int, path: *const c_char, flags: c_int, mode: c_uint) -> c_int {
        let real = original!(openat(c_int, *const c_char, c_int, c_uint) -> c_int);
        // SAFETY: the program wanted to call just this.
        let open = || unsafe { real(folder, path, flags, mode) };
        open_number(&OPENAT, writes(path, flags), open)
    }

    fn openat64(folder: c_int, path: *const c_char, flags: c_int, mode: c_uint) -> c_int {
        let real = original!(openat64(c_int, *const c_char, c_int, c_uint) -> c_int);
        // SAFETY: the program wanted to call just this.
        let open = || unsafe { real(folder, path, flags, mode) };
        open_number(&OPENAT64, writes(path, flags), open)
    }

    fn close(number: c_int) -> c_int {
        if machine::with(|machine| machine.files.numbers.contains(&number)) {
            touch_table();
            machine::with(|machine| machine.files.numbers.retain(|&open| open != number));
        }
        let real = original!(close(c_int) -> c_int);
        // SAFETY: the program wanted to call just this.
        unsafe { real(number) }
    }

    fn fopen(path: *const c_char, mode: *const c_char) -> *mut libc::FILE {
        let real = original!(fopen(*const c_char, *const c_char) -> *mut libc::FILE);
        // SAFETY: the program wanted to call just this.
        open_stream(&FOPEN, mode_writes(mode), || unsafe { real(path, mode) })
    }

    fn fopen64(path: *const c_char, mode: *const c_char) -> *mut libc::FILE {
        let real = original!(fopen64(*const c_char, *const c_char) -> *mut libc::FILE);
        // SAFETY: the program wanted to call just this.
        open_stream(&FOPEN64, mode_writes(mode), || unsafe { real(path, mode) })
    }

    fn fdopen(number: c_int, mode: *const c_char) -> *mut libc::FILE {
        let real = original!(fdopen(c_int, *const c_char) -> *mut libc::FILE);
        // SAFETY: the program wanted to call just this.
        let stream =
            open_stream(&FDOPEN, mode_writes(mode), || unsafe { real(number, mode) });
        if !stream.is_null() {
            // It is closed with the stream.
            machine::with(|machine| machine.files.numbers.retain(|&open| open != number));
        }
        stream
    }

    fn opendir(path: *const c_char) -> *mut libc::DIR {
        let real = original!(opendir(*const c_char) -> *mut libc::DIR);
        // SAFETY: the program wanted to call just this.
        open_folder(|| unsafe { real(path) })
    }

    fn fdopendir(number: c_int) -> *mut libc::DIR {
        let real = original!(fdopendir(c_int) -> *mut libc::DIR);
        // SAFETY: the program wanted to call just this.
        let folder = open_folder(|| unsafe { real(number) });
        if !folder.is_null() {
            // It is closed with the folder.
            machine::with(|machine| machine.files.numbers.retain(|&open| open != number));
        }
        folder
    }

    fn closedir(folder: *mut libc::DIR) -> c_int {
        touch_table();
        machine::with(|machine| machine.files.folders.retain(|&open| open != folder));
        let real = original!(closedir(*mut libc::DIR) -> c_int);
        let mut result = 0;
        // SAFETY: the program wanted to call just this.
        coroutine::as_host(|| result = unsafe { real(folder) });
        result
    }

    fn readdir(folder: *mut libc::DIR) -> *mut libc::dirent {
        move_folder();
        library::touched!(readdir, folder, 1, true);
        let real = original!(readdir(*mut libc::DIR) -> *mut libc::dirent);
        // SAFETY: the program wanted to call just this.
        unsafe { real(folder) }
    }

    fn readdir64(folder: *mut libc::DIR) -> *mut libc::dirent64 {
        move_folder();
        library::touched!(readdir64, folder, 1, true);
        let real = original!(readdir64(*mut libc::DIR) -> *mut libc::dirent64);
        // SAFETY: the program wanted to call just this.
        unsafe { real(folder) }
    }

    fn rewinddir(folder: *mut libc::DIR) {
        move_folder();
        library::touched!(rewinddir, folder, 1, true);
        let real = original!(rewinddir(*mut libc::DIR));
        // SAFETY: the program wanted to call just this.
        unsafe { real(folder) }
    }

    fn fclose(stream: *mut libc::FILE) -> c_int {
        let real = original!(fclose(*mut libc::FILE) -> c_int);
        let Some(idx) = machine::with(|machine| machine.files.place_of(stream)) else {
            // SAFETY: the program wanted to call just this.
            return unsafe { real(stream) };
        };
        touch_table();
        let _buffer = machine::with(|machine| machine.files.streams[idx].take());
        let mut result = 0;
        // SAFETY: the program wanted to call just this.
        coroutine::as_host(|| result = unsafe { real(stream) });
        result
    }
}
