//! Helpers: copies of this process that share its search, one for each job beyond the first.
//!
//! A process has one machine and one memory of the program, so jobs are processes. The first one
//! searches alone for a while and learns; then it copies itself (`fork`). A copy knows all that
//! was learnt, at the same addresses. It asks for work: units of `optimal`, which are
//! self-contained, go from a process that has too much to one that waits.
//!
//! What a helper learns afterwards goes back in the end, as the executions that have taught it
//! ([`learnt`]): the first process follows them once more. If one of them voids the search, or
//! cannot be followed since another one has taught something that contradicts it, the search
//! begins again for all, with all of it known. A helper that finds its own search void ends that
//! of all others at once.
//!
//! Threads have the same numbers in all processes ([`Numbers`]), since the order of the search
//! depends on them. What processes have in common is one mapping ([`Shared`]); units wait in a file
//! without a name.

use crate::learnt;
use crate::machine;
use crate::memory;
use crate::plain_accesses::CUT;
use crate::report;
use crate::signals;
use crate::system::Native;
use mazurka_core::{Event, Limit, Schedule, Statistics, ThreadId};
use mazurka_explore::{Collected, Explorer, Options, Part, Peers, retake};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::FromRawFd as _;
use std::os::unix::fs::FileExt as _;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// So much time comes before the first copy is made, if there are not so many executions sooner as
/// the request says.
const ALONE_FOR: Duration = Duration::from_millis(50);
/// How long one waits for work between two looks at whether the others are alive.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// What all processes of a search have in common.
#[repr(C)]
struct Shared {
    /// Held while units or numbers of threads are changed.
    lock: AtomicBool,
    /// How many processes there are, and how many wait for work.
    n_processes: AtomicU32,
    n_waiting: AtomicU32,
    /// Units that wait, and where in the file they begin and end.
    n_units: AtomicU32,
    units_start: AtomicU64,
    units_end: AtomicU64,
    /// Nothing is left to do.
    is_done: AtomicBool,
    /// One of them has ended the search.
    is_stopped: AtomicBool,
    /// Executions of all.
    executions: AtomicU64,
    numbers: Numbers,
    /// What helpers have counted so far, for people: executions, and steps.
    told: [[AtomicU64; 2]; Options::MAX_JOBS],
}

/// The numbers of threads, given out once for all processes.
#[repr(C)]
pub(crate) struct Numbers {
    n_threads: AtomicUsize,
    /// Whose child each is, but for the first.
    parents: [AtomicUsize; ThreadId::MAX],
}

/// The mapping, once the search is shared.
static SHARED: AtomicPtr<Shared> = AtomicPtr::new(std::ptr::null_mut());

/// The numbers of threads, if others may give them out, too.
#[inline]
pub(crate) fn numbers() -> Option<&'static Numbers> {
    // SAFETY: the mapping is never taken away.
    unsafe { SHARED.load(Ordering::Relaxed).as_ref() }.map(|shared| &shared.numbers)
}

impl Numbers {
    /// How many threads have a number.
    pub(crate) fn len(&self) -> usize {
        self.n_threads.load(Ordering::Acquire)
    }

    /// Whose child a thread is.
    pub(crate) fn parent(&self, number: usize) -> ThreadId {
        ThreadId::new(self.parents[number].load(Ordering::Relaxed))
    }

    /// The number of a child by its rank, from 1; none if there are too many threads.
    pub(crate) fn of(&self, parent: ThreadId, rank: usize) -> Option<usize> {
        let _held = shared().hold();
        let is_child = |&number: &usize| self.parent(number) == parent;
        if let Some(known) = (1..self.len()).filter(is_child).nth(rank - 1) {
            return Some(known);
        }
        let number = Some(self.len()).filter(|&number| number < ThreadId::MAX)?;
        self.parents[number].store(parent.index(), Ordering::Relaxed);
        self.n_threads.store(number + 1, Ordering::Release);
        Some(number)
    }
}

fn shared() -> &'static Shared {
    // SAFETY: the mapping is never taken away.
    let shared = unsafe { SHARED.load(Ordering::Relaxed).as_ref() };
    shared.expect("the search is shared")
}

/// While it lives, no other process changes units or numbers.
struct Held(&'static Shared);

impl Drop for Held {
    fn drop(&mut self) {
        self.0.lock.store(false, Ordering::Release);
    }
}

impl Shared {
    fn hold(&'static self) -> Held {
        while self.lock.swap(true, Ordering::Acquire) {
            // SAFETY: lets others go first. The function of this name may be the program's.
            unsafe { libc::syscall(libc::SYS_sched_yield) };
        }
        Held(self)
    }

    fn begin(&self, n_processes: usize) {
        self.n_processes.store(n_processes as u32, Ordering::Relaxed);
        for number in [&self.n_waiting, &self.n_units] {
            number.store(0, Ordering::Relaxed);
        }
        for number in [&self.units_start, &self.units_end, &self.executions] {
            number.store(0, Ordering::Relaxed);
        }
        for flag in [&self.lock, &self.is_done, &self.is_stopped] {
            flag.store(false, Ordering::Relaxed);
        }
        self.told.iter().flatten().for_each(|number| number.store(0, Ordering::Relaxed));
        let parents = machine::with(|machine| machine.parents());
        for (number, parent) in parents.iter().enumerate() {
            self.numbers.parents[number + 1].store(parent.index(), Ordering::Relaxed);
        }
        self.numbers.n_threads.store(parents.len() + 1, Ordering::Release);
    }
}

/// The helpers of this process, or the way of a helper to the others.
pub(crate) struct Helpers {
    jobs: usize,
    alone: u64,
    /// Units that wait: the length of each, and its bytes.
    units: File,
    state: Mutex<State>,
    /// Whether this process is a copy.
    is_copy: AtomicBool,
    /// Whether what a helper has learnt could not be learnt here.
    are_useless: AtomicBool,
}

struct State {
    /// Of the search in progress.
    options: Options,
    helpers: Vec<Helper>,
    n_executions: u64,
    begun: Instant,
}

/// A copy of this process.
struct Helper {
    process: libc::pid_t,
    /// What it says in the end.
    answer: File,
}

/// What a helper says in the end.
#[derive(Serialize, Deserialize)]
struct Answer {
    part: Part,
    teachers: Vec<Schedule>,
    is_void: bool,
    stuck: Option<Limit>,
}

impl Helpers {
    /// Those of a search with these options; none if it is not to be shared, or cannot be.
    pub(crate) fn for_search(options: &Options, alone: u64) -> Option<Self> {
        if options.jobs < 2 || !options.may_be_shared() {
            return None;
        }
        // SAFETY: asks for memory of its own, and for a file without a name.
        let (mapping, file) = unsafe {
            let protection = libc::PROT_READ | libc::PROT_WRITE;
            let flags = libc::MAP_SHARED | libc::MAP_ANONYMOUS;
            let len = size_of::<Shared>();
            let nowhere = std::ptr::null_mut();
            (
                libc::mmap(nowhere, len, protection, flags, -1, 0),
                libc::syscall(libc::SYS_memfd_create, c"mazurka units".as_ptr(), libc::MFD_CLOEXEC),
            )
        };
        if mapping == libc::MAP_FAILED || file < 0 {
            return None;
        }
        // SAFETY: the number is that of the file, which nothing else uses.
        let units = unsafe { File::from_raw_fd(file as i32) };
        SHARED.store(mapping.cast(), Ordering::Relaxed);
        let helpers = Self {
            jobs: options.jobs,
            alone,
            units,
            state: Mutex::new(State {
                options: options.clone(),
                helpers: Vec::new(),
                n_executions: 0,
                begun: Instant::now(),
            }),
            is_copy: AtomicBool::new(false),
            are_useless: AtomicBool::new(false),
        };
        shared().begin(1);
        Some(helpers)
    }

    /// Whether the search is better not shared.
    pub(crate) fn are_useless(&self) -> bool {
        self.are_useless.load(Ordering::Relaxed)
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes copies, once that is worth it.
    #[cold]
    fn start_later(&self) {
        let mut state = self.state();
        if !state.helpers.is_empty() {
            return;
        }
        state.n_executions += 1;
        let n_executions = state.n_executions;
        let is_time = n_executions.is_multiple_of(8) && state.begun.elapsed() >= ALONE_FOR;
        if n_executions < self.alone && !is_time {
            return;
        }
        drop(state);
        for idx in 1..self.jobs {
            if let Some(helper) = self.start(idx) {
                self.state().helpers.push(helper);
            }
        }
    }

    fn start(&self, idx: usize) -> Option<Helper> {
        let mut ends = [0; 2];
        // SAFETY: the kernel fills in two numbers.
        if unsafe { libc::syscall(libc::SYS_pipe2, ends.as_mut_ptr(), libc::O_CLOEXEC) } != 0 {
            return None;
        }
        // SAFETY: the numbers are those of files that nothing else uses.
        let [answer, to] = ends.map(|end| unsafe { File::from_raw_fd(end) });
        shared().n_processes.fetch_add(1, Ordering::Relaxed);
        // SAFETY: asks for a number.
        let parent = unsafe { libc::syscall(libc::SYS_getpid) } as libc::pid_t;
        match fork() {
            0 => {
                drop(answer);
                self.help(idx, parent, to)
            }
            process if process > 0 => Some(Helper { process, answer }),
            _ => {
                shared().n_processes.fetch_sub(1, Ordering::Relaxed);
                None
            }
        }
    }

    /// What a copy does.
    fn help(&self, idx: usize, parent: libc::pid_t, mut to: File) -> ! {
        // SAFETY: asks the kernel for a signal, and ends the process if the parent was faster.
        unsafe {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            if libc::syscall(libc::SYS_getppid) as libc::pid_t != parent {
                libc::syscall(libc::SYS_exit_group, 0);
            }
        }
        self.is_copy.store(true, Ordering::Relaxed);
        self.state().helpers.clear();
        memory::begin_copy();
        let time_left = signals::time_left();
        signals::watch_time(time_left);
        CUT.store(false, Ordering::Relaxed);
        learnt::begin();
        let mut options = self.state().options.clone();
        options.jobs = 1;
        options.time_limit = time_left;
        let tell = |event: &Event| {
            if let Event::Progress(now) = event {
                let [executions, steps] = &shared().told[idx];
                executions.store(now.statistics.executions, Ordering::Relaxed);
                steps.store(now.statistics.transitions, Ordering::Relaxed);
            }
        };
        let explorer = Explorer::new(options).stop_when(&CUT).abandon_when(&signals::IS_OVER);
        let explorer = explorer.on_event(&tell).on_execution(&learnt::note).share_with(self);
        let part = explorer.help(|| Native);
        let answer = Answer {
            part,
            teachers: learnt::take(),
            is_void: CUT.load(Ordering::Relaxed),
            stuck: machine::with(|machine| machine.stuck.take()),
        };
        let bytes = postcard::to_stdvec(&answer).expect("everything in it can be written");
        // What comes from a process is read only if it is waited for.
        let _ = to.write_all(&bytes);
        drop(to);
        // SAFETY: what the program registered for its end belongs to an execution that is over.
        unsafe { libc::syscall(libc::SYS_exit_group, 0) };
        unreachable!("the process has ended")
    }

    /// What a helper says in the end. One that says nothing has said all in the report.
    fn answer_of(mut helper: Helper) -> Answer {
        let mut bytes = Vec::new();
        let is_read = helper.answer.read_to_end(&mut bytes).is_ok();
        let mut status = 0;
        // SAFETY: the kernel fills in a number.
        let ended = unsafe {
            libc::syscall(
                libc::SYS_wait4,
                helper.process,
                &raw mut status,
                0,
                std::ptr::null_mut::<libc::rusage>(),
            )
        };
        let answer = postcard::from_bytes(&bytes).ok().filter(|_| is_read);
        answer.unwrap_or_else(|| {
            if ended > 0 && libc::WIFEXITED(status) && libc::WEXITSTATUS(status) != 0 {
                // It has written the report, and this process has nothing to add.
                // SAFETY: ends the process.
                unsafe { libc::syscall(libc::SYS_exit_group, libc::WEXITSTATUS(status)) };
            }
            report::end_without_verdict(&format!(
                "a process that shares the search was ended by signal {}: `--jobs 1` does without",
                libc::WTERMSIG(status)
            ))
        })
    }

    /// Learns what a helper has learnt.
    fn learn(&self, teachers: &[Schedule], is_void: bool) {
        let before = machine::with(|machine| machine.known());
        for teacher in teachers {
            if !retake(&mut Native, teacher) {
                CUT.store(true, Ordering::Relaxed);
            }
            learnt::note(teacher);
        }
        if is_void {
            CUT.store(true, Ordering::Relaxed);
            let is_new = machine::with(|machine| machine.known()) != before;
            self.are_useless.fetch_or(!is_new, Ordering::Relaxed);
        }
    }
}

impl Peers for Helpers {
    fn begin(&self, options: &Options) {
        shared().begin(1);
        let mut state = self.state();
        state.options = options.clone();
        state.n_executions = 0;
        state.begun = Instant::now();
    }

    #[inline]
    fn is_hungry(&self) -> bool {
        let shared = shared();
        if shared.n_processes.load(Ordering::Relaxed) == 1 {
            self.start_later();
        }
        let n_waiting = shared.n_waiting.load(Ordering::Relaxed);
        n_waiting > 0 && n_waiting > shared.n_units.load(Ordering::Relaxed)
    }

    fn give(&self, unit: Vec<u8>) {
        let shared = shared();
        let _held = shared.hold();
        let at = shared.units_end.load(Ordering::Relaxed);
        let len = unit.len() as u64;
        let written = self
            .units
            .write_all_at(&len.to_le_bytes(), at)
            .and_then(|()| self.units.write_all_at(&unit, at + 8));
        written.expect("there is memory for units");
        shared.units_end.store(at + 8 + len, Ordering::Relaxed);
        shared.n_units.fetch_add(1, Ordering::Release);
        wake(&shared.n_units);
    }

    fn take(&self) -> Option<Vec<u8>> {
        let shared = shared();
        if shared.n_processes.load(Ordering::Relaxed) == 1 {
            return None;
        }
        shared.n_waiting.fetch_add(1, Ordering::AcqRel);
        loop {
            if shared.is_stopped.load(Ordering::Relaxed) || shared.is_done.load(Ordering::Relaxed) {
                return None;
            }
            let held = shared.hold();
            if let Some(unit) = self.next_unit() {
                // Whoever has taken a unit does not wait: nobody sees both numbers at once.
                shared.n_waiting.fetch_sub(1, Ordering::AcqRel);
                return Some(unit);
            }
            let n_waiting = shared.n_waiting.load(Ordering::Acquire);
            if n_waiting == shared.n_processes.load(Ordering::Relaxed) {
                shared.is_done.store(true, Ordering::Relaxed);
                drop(held);
                wake(&shared.n_units);
                return None;
            }
            drop(held);
            if signals::IS_OVER.load(Ordering::Relaxed) {
                Peers::stop(self);
                return None;
            }
            wait(&shared.n_units);
            if !self.is_copy.load(Ordering::Relaxed) && self.has_lost_one() {
                Peers::stop(self);
            }
        }
    }

    fn is_stopped(&self) -> bool {
        shared().is_stopped.load(Ordering::Relaxed)
    }

    fn stop(&self) {
        let shared = shared();
        shared.is_stopped.store(true, Ordering::Relaxed);
        wake(&shared.n_units);
    }

    fn count(&self, executions: u64) -> u64 {
        shared().executions.fetch_add(executions, Ordering::Relaxed) + executions
    }

    fn others(&self) -> Statistics {
        let mut all = Statistics::default();
        for [executions, steps] in &shared().told[1..self.jobs] {
            all.executions += executions.load(Ordering::Relaxed);
            all.transitions += steps.load(Ordering::Relaxed);
        }
        all
    }

    fn collect(&self) -> Collected {
        let helpers = std::mem::take(&mut self.state().helpers);
        let mut collected = Collected::default();
        if signals::IS_OVER.load(Ordering::Relaxed) {
            for helper in &helpers {
                // SAFETY: the process is a copy of this one, and nobody has waited for it yet.
                unsafe { libc::syscall(libc::SYS_kill, helper.process, libc::SIGINT) };
            }
        }
        for helper in helpers {
            let Answer { part, teachers, is_void, stuck } = Helpers::answer_of(helper);
            self.learn(&teachers, is_void);
            if stuck.is_some() {
                machine::with(|machine| machine.stuck = machine.stuck.take().or(stuck));
            }
            collected.parts.push(part);
        }
        collected.units = std::iter::from_fn(|| self.next_unit()).collect();
        collected
    }
}

impl Helpers {
    /// The unit that was given first. To be called while no other process takes one.
    fn next_unit(&self) -> Option<Vec<u8>> {
        let shared = shared();
        let n_units = shared.n_units.load(Ordering::Acquire).checked_sub(1)?;
        let at = shared.units_start.load(Ordering::Relaxed);
        let mut len = [0; 8];
        self.units.read_exact_at(&mut len, at).expect("a unit was written there");
        let mut unit = vec![0; u64::from_le_bytes(len) as usize];
        self.units.read_exact_at(&mut unit, at + 8).expect("a unit was written there");
        let next = at + 8 + unit.len() as u64;
        shared.n_units.store(n_units, Ordering::Release);
        let (start, end) = match n_units {
            0 => (0, 0),
            _ => (next, shared.units_end.load(Ordering::Relaxed)),
        };
        shared.units_start.store(start, Ordering::Relaxed);
        shared.units_end.store(end, Ordering::Relaxed);
        Some(unit)
    }

    /// Whether a helper has ended without being asked to.
    fn has_lost_one(&self) -> bool {
        self.state().helpers.iter().any(|helper| {
            // SAFETY: the kernel fills in what is zero before, and leaves the process to be waited
            // for.
            unsafe {
                let mut info: libc::siginfo_t = std::mem::zeroed();
                let options = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
                let (kind, number) = (libc::P_PID, helper.process as libc::id_t);
                let nothing = std::ptr::null_mut::<libc::rusage>();
                let error =
                    libc::syscall(libc::SYS_waitid, kind, number, &raw mut info, options, nothing);
                error == 0 && info.si_pid() != 0
            }
        })
    }
}

/// A copy of this process, with this thread alone. The C library keeps the storage of the others,
/// which is lent to threads of the program.
fn fork() -> libc::pid_t {
    type Fork = unsafe extern "C" fn() -> libc::pid_t;
    // SAFETY: the name is a string; the function has this type; what is copied goes on as a helper.
    unsafe {
        let real = libc::dlsym(libc::RTLD_NEXT, c"_Fork".as_ptr());
        match real.is_null() {
            // Before glibc 2.34. The number of the thread is then that of the first process, and
            // serves as well as any.
            true => libc::syscall(libc::SYS_fork) as libc::pid_t,
            false => std::mem::transmute::<*mut libc::c_void, Fork>(real)(),
        }
    }
}

/// Waits until there may be a unit, or a while.
fn wait(n_units: &AtomicU32) {
    let time = libc::timespec { tv_sec: 0, tv_nsec: LOOK_EVERY.as_nanos() as i64 };
    // SAFETY: the word is in memory that processes share.
    unsafe {
        libc::syscall(libc::SYS_futex, n_units.as_ptr(), libc::FUTEX_WAIT, 0, &raw const time);
    }
}

/// Wakes all who wait for a unit.
fn wake(n_units: &AtomicU32) {
    // SAFETY: as above.
    unsafe { libc::syscall(libc::SYS_futex, n_units.as_ptr(), libc::FUTEX_WAKE, i32::MAX) };
}
