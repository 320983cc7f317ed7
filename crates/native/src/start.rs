//! Entry point: wraps `main`, and explores the program if the command asks for it.
//!
//! What it is asked, and where the answer goes, is in the environment: see `mazurka-protocol`.
//! Without that the program runs as if this library were not there.

use crate::constructors;
use crate::globals;
use crate::helpers::Helpers;
use crate::io;
use crate::keep;
use crate::learnt;
use crate::library::{self, imports};
use crate::lines;
use crate::machine::{self, Machine};
use crate::plain_accesses::CUT;
use crate::precompiled;
use crate::process::{Main, Start};
use crate::report;
use crate::signals;
use crate::site_orders;
use crate::system::Native;
use crate::trusted;
use crate::weak_memory;
use mazurka_core::{Counterexample, Event, Limit, MemoryModel, Schedule, Verdict, Violation};
use mazurka_explore::{
    ExploreError, Explorer, Options, Outcome, Replay, ReplayError, Saved, SavedError, WeakMemory,
    retrace,
};
use mazurka_protocol::{
    Action, AtomicSite, Failed, REPORT, REQUEST, Replayed, Reply, Report, Request, RunOptions,
    Saving,
};
use std::ffi::{c_char, c_int, c_void};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::time::{Duration, Instant};

/// How often something new may be learnt before we stop believing it.
const MAX_RESTARTS: u32 = 1000;
/// The processor can change the thread pointer, and the kernel lets us.
const HWCAP2_FSGSBASE: u64 = 2;

type Init = Option<unsafe extern "C" fn()>;

static MAIN: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());

#[unsafe(no_mangle)]
unsafe extern "C" fn __libc_start_main(
    main: Main,
    argc: c_int,
    argv: *mut *mut c_char,
    init: Init,
    fini: Init,
    rtld_fini: Init,
    stack_end: *mut c_void,
) -> c_int {
    MAIN.store(main as *mut c_void, Ordering::Relaxed);
    let is_explored = std::env::var_os(REPORT).is_some()
        && request().is_ok_and(|request| matches!(request.action, Action::Explore));
    constructors::begin(is_explored);
    let real = crate::real::original!(
        __libc_start_main(Main, c_int, *mut *mut c_char, Init, Init, Init, *mut c_void) -> c_int
    );
    // SAFETY: this is how the program was to be started, with another `main`.
    unsafe { real(wrapper, argc, argv, init, fini, rtld_fini, stack_end) }
}

/// Stands for `main`.
unsafe extern "C-unwind" fn wrapper(
    argc: c_int,
    argv: *mut *mut c_char,
    envp: *mut *mut c_char,
) -> c_int {
    constructors::end();
    let main = MAIN.load(Ordering::Relaxed);
    // SAFETY: it was a `main` when it was stored.
    let main = unsafe { std::mem::transmute::<*mut c_void, Main>(main) };
    let Some(path) = std::env::var_os(REPORT) else {
        constructors::run(argc, argv, envp);
        // SAFETY: the C library wanted to call just this.
        return unsafe { main(argc, argv, envp) };
    };
    report::set_path(path);
    die_with_parent();
    std::panic::set_hook(Box::new(|info| report::die(&info.to_string())));
    let reply = obey(Start::Main(main, argc, argv, envp)).unwrap_or_else(Reply::Failed);
    if let Err(error) = report::write(&reply) {
        report::die(&format!("the report cannot be written: {error}"));
    }
    // The command reads the reply. This is for those who look at nothing else.
    let status = report::status(&reply);
    // SAFETY: what the program registered for its end belongs to an execution that is over.
    unsafe { libc::syscall(libc::SYS_exit_group, status) };
    unreachable!("the process has ended")
}

/// Sees to it that this process does not outlive the command that has started it, however that
/// ends.
fn die_with_parent() {
    let parent =
        std::env::var(mazurka_protocol::PARENT).ok().and_then(|it| it.parse::<libc::pid_t>().ok());
    let Some(parent) = parent else { return };
    // SAFETY: asks the kernel for a signal, and ends the process if the parent was faster.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        if libc::getppid() != parent {
            libc::syscall(libc::SYS_exit_group, 0);
        }
    }
}

/// What this process is asked to do. Without a word it explores.
fn request() -> Result<Request, String> {
    let Some(path) = std::env::var_os(REQUEST) else { return Ok(Request::default()) };
    mazurka_protocol::read(Path::new(&path)).map_err(|error| error.to_string())
}

fn obey(start: Start) -> Result<Reply, Failed> {
    // SAFETY: asks for nothing but a number.
    if unsafe { libc::getauxval(libc::AT_HWCAP2) } & HWCAP2_FSGSBASE == 0 {
        let text = "this processor or kernel does not let programs set the thread pointer";
        return Err(text.to_owned().into());
    }
    let Request { action, mut options, run, save, resume } = request()?;
    // Without data races, uses of memory are still held against its end.
    let are_races_allowed = !std::mem::replace(&mut options.race, true);
    if run.allow.iter().any(|wish| wish.starts_with("real")) {
        // What is done outside of the process would be done by all at once.
        options.jobs = 1;
    }
    if let Some(model) = options.memory {
        if are_races_allowed {
            return Err(format!(
                "`--memory {model}` cannot be combined with `--races allow`: what plain accesses read \
                 in a data race has no meaning in it; use `--memory sc`"
            )
            .into());
        }
        weak_memory::begin();
    }
    run.allow.iter().try_for_each(|wish| io::allow(wish))?;
    imports::look(&run.trust);
    // What a call reads inside is not told to a memory model.
    trusted::trust(&run.trust, options.memory.is_none())?;
    buffer_output();
    library::set_up();
    machine::set_up(start).map_err(str::to_owned)?;
    machine::with(|machine| {
        machine.checkpoints.are_off = !run.checkpoints;
        machine.checkpoints.are_checked = run.check_checkpoints;
        machine.is_test = run.is_test;
        machine.are_races_allowed = are_races_allowed;
        machine.watch.accesses_are_lifetimes = are_races_allowed;
        machine.disciplines.are_strict = !options.bounds.is_empty();
        machine.disciplines.are_off = are_races_allowed || options.memory.is_some();
        machine.retries = run.retries.unwrap_or(machine.retries);
        machine.looks_for_leaks = run.leak;
        machine.clock.is_virtual = run.is_time_virtual;
    });
    site_orders::begin(&run.orders, run.tells_atomics);
    signals::catch();
    globals::read(MAIN.load(Ordering::Relaxed) as usize);
    precompiled::redirect(MAIN.load(Ordering::Relaxed) as usize)?;
    if run.tells_lines {
        lines::begin(MAIN.load(Ordering::Relaxed) as usize)?;
    }
    match action {
        Action::Explore => {
            let kept = Kept { run: &run, save: save.as_ref(), resume: resume.as_deref() };
            explore(&options, &kept).map(|it| Reply::Explored(Box::new(it)))
        }
        Action::Replay(schedule) => {
            signals::watch_loops();
            signals::catch_interrupt();
            if precompiled::is_redirected() {
                learn(&schedule, &options);
            }
            Ok(Reply::Replayed(follow(&schedule, options.memory, &run)?))
        }
    }
}

/// Where a search is saved, and with what it goes on.
struct Kept<'a> {
    run: &'a RunOptions,
    save: Option<&'a Saving>,
    resume: Option<&'a Path>,
}

fn explore(options: &Options, kept: &Kept<'_>) -> Result<Report, Failed> {
    signals::watch_time(options.time_limit);
    signals::catch_interrupt();
    let begun = Instant::now();
    let output = Silence::begin();
    let outcome = search(options, kept);
    drop(output);
    let (mut outcome, restarts) = outcome?;
    let is_over = !matches!(outcome.verdict, Verdict::Inconclusive(_));
    // A part that has come to its end is kept for the others, and there is nothing to go on with.
    let is_saved = kept.leave(outcome.saved.take(), begun.elapsed(), is_over)? && !is_over;
    if kept.run.strict && matches!(outcome.verdict, Verdict::Holds(_)) {
        imports::refuse_any()?;
    }
    Ok(Report {
        proved: outcome.proved,
        warnings: outcome.warnings,
        restarts,
        used: report::used_so_far(machine::with(|machine| machine.thread_names.len())),
        tree: outcome.tree,
        coverage: outcome.coverage,
        sample: outcome.sample,
        cost: outcome.cost,
        shortest: outcome.shortest,
        rungs: outcome.rungs,
        shown: outcome.shown,
        lines: lines::reached(),
        is_saved,
        atomics: told_atomics(kept.run),
        ..Report::new(outcome.verdict, outcome.statistics, begun.elapsed())
    })
}

impl Kept<'_> {
    /// How long the search may go on before it is saved.
    fn slice(&self, options: &Options) -> Option<Duration> {
        // What a search that raises its bound has proved is not saved.
        self.save.filter(|_| !options.iterate).map(|save| save.every)
    }

    /// Saves a search that goes on.
    fn save(&self, saved: &Saved) -> Result<(), String> {
        match self.save {
            Some(save) if saved.may_travel() => {
                let written = keep::save(saved.clone(), self.run, &save.path);
                if save.is_asked { written } else { Ok(()) }
            }
            _ => Ok(()),
        }
    }

    /// A part that is void leaves what it has learnt, so that the search may begin again with it.
    fn leave_lesson(&self, at_start: Option<Saved>) {
        if let (Some(save), Some(at_start)) = (self.save, at_start) {
            // Without it, the search learns the same by itself, later.
            let _ = keep::save(at_start, self.run, &Saved::lesson_path(&save.path));
        }
    }

    /// Saves a search that was stopped after so long, if it is to be saved and can be. One that has
    /// come to its end leaves nothing, unless it is a part; one that cannot be saved leaves what it
    /// went on from. Whether there is something to go on with.
    fn leave(&self, saved: Option<Saved>, time: Duration, is_over: bool) -> Result<bool, String> {
        let Some(save) = self.save else { return Ok(false) };
        match saved {
            Some(saved) if saved.may_travel() && time >= save.after => {
                match keep::save(saved, self.run, &save.path) {
                    Err(error) if save.is_asked => Err(error),
                    written => Ok(written.is_ok()),
                }
            }
            Some(_) => Ok(false),
            None if !is_over => Ok(self.resume == Some(&save.path) && save.path.exists()),
            None => {
                // There may be none.
                let _ = std::fs::remove_file(&save.path);
                Ok(false)
            }
        }
    }
}

/// Searches, and again as long as something is learnt on the way that would have mattered before:
/// how memory is divided, which words of a stack are shared, that threads spin, that additions have
/// to be in order.
fn search(options: &Options, kept: &Kept<'_>) -> Result<(Outcome, u32), Failed> {
    let begun = Instant::now();
    let mut saved = match kept.resume {
        Some(path) => keep::resume(path, kept.run, options)?,
        None => None,
    };
    let is_part = saved.as_ref().is_some_and(|saved| saved.part().is_some());
    let at_start = saved.as_ref().filter(|_| is_part).map(Saved::begun_again);
    if kept.resume.is_none() {
        learnt::begin();
    }
    let helpers = Helpers::for_search(options, kept.run.alone);
    let mut restarts = 0;
    while restarts < MAX_RESTARTS {
        let mut rest = options.clone();
        rest.jobs = 1;
        // The limit is for all of it.
        rest.time_limit = options.time_limit.map(|limit| limit.saturating_sub(begun.elapsed()));
        let slice = kept.slice(options);
        let is_slice = slice.is_some_and(|it| rest.time_limit.is_none_or(|rest| it < rest));
        if is_slice {
            rest.time_limit = slice;
        }
        let explorer = Explorer::new(rest).on_event(&tell).stop_when(&CUT);
        let explorer = explorer.abandon_when(&signals::IS_OVER).void_when(&CUT);
        let mut explorer = explorer.on_execution(&learnt::note);
        if let Some(saved) = saved.take() {
            explorer = explorer.resume(saved);
        }
        if let Some(helpers) = helpers.as_ref().filter(|it| !it.are_useless()) {
            explorer = explorer.share_with(helpers);
        }
        let outcome = explorer.run(|| Native).map_err(failed);
        let may_travel = |outcome: &Outcome| outcome.saved.as_ref().is_some_and(Saved::may_travel);
        if outcome.as_ref().is_ok_and(may_travel) {
            keep::note_first();
        }
        // A search that is void may come to anything.
        let is_void = CUT.swap(false, Ordering::Relaxed);
        let found = FOUND.lock().expect("the lock is not poisoned").take();
        if let Some(stuck) = machine::with(|machine| machine.stuck.take()) {
            let statistics = outcome.map_or_else(|_| report::last_numbers(), |it| it.statistics);
            let mut stopped = Outcome::stopped(stuck, statistics);
            if let Some(found) = found.filter(|_| !is_void) {
                stopped.verdict = Verdict::Violated(found);
            }
            return Ok((stopped, restarts));
        }
        let time = options.time_limit.filter(|&limit| begun.elapsed() >= limit);
        if is_void && (signals::is_interrupted() || time.is_some()) {
            let limit = time.map_or(Limit::Interrupted, Limit::Time);
            let (statistics, saved) = match outcome {
                Ok(outcome) => (outcome.statistics, outcome.saved),
                Err(_) => (report::last_numbers(), None),
            };
            // The next search begins again, with what was learnt in this one.
            let saved = saved.filter(|_| !is_part).map(|saved| saved.begun_again());
            let mut stopped = Outcome::stopped(limit, statistics);
            stopped.saved = saved;
            return Ok((stopped, restarts));
        }
        if is_void || outcome.is_err() && machine::with(|machine| machine.doubt_first_rounds()) {
            if is_part {
                kept.leave_lesson(at_start);
                return Err(Failed::Void);
            }
            restarts += 1;
            continue;
        }
        let mut outcome = outcome?;
        let Verdict::Inconclusive(reached @ (Limit::Time(_) | Limit::Interrupted)) =
            &mut outcome.verdict
        else {
            return Ok((outcome, restarts));
        };
        let is_over = signals::is_interrupted() || time.is_some();
        if is_slice && !is_over && outcome.saved.is_some() {
            saved = outcome.saved.take();
            saved.iter().try_for_each(|saved| kept.save(saved))?;
            continue;
        }
        if let Some(limit) = options.time_limit.filter(|_| !signals::is_interrupted()) {
            *reached = Limit::Time(limit);
        }
        return Ok((outcome, restarts));
    }
    Err("something new is learnt in every search".to_owned().into())
}

fn failed(error: ExploreError) -> Failed {
    match error {
        ExploreError::Saved(SavedError::Void) => Failed::Void,
        error => error.to_string().into(),
    }
}

/// The counterexample that was replayed before any thread was stuck. A shorter one is looked for
/// then, and a thread that is stuck on the way takes nothing from it.
static FOUND: Mutex<Option<Box<Counterexample>>> = Mutex::new(None);

fn tell(event: &Event) {
    match event {
        Event::Violated(found) if machine::with(|machine| machine.stuck.is_none()) => {
            *FOUND.lock().expect("the lock is not poisoned") = Some(found.clone());
        }
        Event::Progress(progress) => report::write_progress(progress),
        Event::Proved(coverage) if !coverage.is_unbounded() => {
            report::write_proved(coverage);
        }
        _ => {}
    }
}

/// Learns what the search knew about precompiled code when it came to a schedule: what the schedule
/// itself teaches and, if that is not enough, what a short search does.
fn learn(schedule: &Schedule, options: &Options) {
    const EXECUTIONS: u64 = 1000;
    let _silence = Silence::begin();
    for _ in 0..MAX_RESTARTS {
        let is_followed = retrace_under(options.memory, schedule).is_ok();
        if CUT.swap(false, Ordering::Relaxed) {
            continue;
        }
        if !is_followed {
            let mut options = options.clone();
            options.max_executions = Some(EXECUTIONS);
            // What it finds was found before.
            let alone = Kept { run: &RunOptions::default(), save: None, resume: None };
            options.jobs = 1;
            let _ = search(&options, &alone);
            if retrace_under(options.memory, schedule).is_err() {
                machine::with(|machine| machine.doubt_first_rounds());
            }
        }
        return;
    }
}

/// Takes the steps of a schedule, with the memory in front of the program's that it is about.
fn retrace_under(memory: Option<MemoryModel>, schedule: &Schedule) -> Result<Replay, ReplayError> {
    match memory {
        None => retrace(&mut Native, schedule),
        Some(model) => retrace(&mut WeakMemory::new(Native, model), schedule),
    }
}

/// The atomic accesses that were met, if they are to be told.
fn told_atomics(run: &RunOptions) -> Vec<AtomicSite> {
    if run.tells_atomics { site_orders::all() } else { Vec::new() }
}

/// Takes the steps of one schedule, with the program's output.
fn follow(
    schedule: &Schedule,
    memory: Option<MemoryModel>,
    run: &RunOptions,
) -> Result<Replayed, String> {
    // What an execution teaches matters from its first step on. Nothing is shown before.
    let output = Silence::begin();
    for _ in 0..MAX_RESTARTS {
        let _ = retrace_under(memory, schedule);
        if !CUT.swap(false, Ordering::Relaxed) {
            break;
        }
    }
    drop(output);
    // The story is not read, and places take their time to be found.
    let replayed = retrace_under(memory, schedule).map_err(|error| error.to_string())?;
    // SAFETY: writes out what the program has printed.
    unsafe { libc::fflush(std::ptr::null_mut()) };
    let last = replayed.execution.steps.len();
    let at_end = || replayed.deadlock(&Native).map(|deadlock| (last, deadlock));
    let violation = replayed.violation.clone().or_else(at_end);
    let violation = violation.or_else(|| spins_at_end(schedule, memory));
    if violation.is_none() && signals::is_interrupted() {
        return Err("interrupted, with a thread left in the middle".to_owned());
    }
    if violation.is_some() {
        machine::mazurka_violation();
    }
    Ok(Replayed { violation, atomics: told_atomics(run) })
}

/// The deadlock at the end of a schedule, if threads are about to go round loops there that the
/// search knew to be awaits.
fn spins_at_end(schedule: &Schedule, memory: Option<MemoryModel>) -> Option<(usize, Violation)> {
    let _output = Silence::begin();
    machine::with(Machine::suppose_awaits);
    let replayed = retrace_under(memory, schedule).ok()?;
    let is_over = replayed.violation.is_none();
    let deadlock = is_over.then(|| replayed.deadlock(&Native)).flatten()?;
    Some((replayed.execution.steps.len(), deadlock))
}

unsafe extern "C" {
    static stdin: *mut libc::FILE;
    static stdout: *mut libc::FILE;
    static stderr: *mut libc::FILE;
}

/// Gives the standard streams buffers that are not the program's memory.
fn buffer_output() {
    const LEN: usize = 4096;
    // SAFETY: the streams exist, nothing was printed yet, and the buffers are never freed.
    unsafe {
        for (stream, mode) in [(stdin, libc::_IOFBF), (stdout, libc::_IOLBF)] {
            let buffer = Box::leak(vec![0u8; LEN].into_boxed_slice());
            libc::setvbuf(stream, buffer.as_mut_ptr().cast(), mode, LEN);
        }
        libc::setvbuf(stderr, std::ptr::null_mut(), libc::_IONBF, 0);
    }
}

/// While it lives, what the program prints goes nowhere.
pub(crate) struct Silence {
    saved: [c_int; 2],
}

impl Silence {
    pub(crate) fn begin() -> Self {
        // SAFETY: plays with file numbers that are the process's own.
        unsafe {
            let nowhere = libc::open(c"/dev/null".as_ptr(), libc::O_WRONLY);
            let saved = [1, 2].map(|number| {
                let saved = libc::fcntl(number, libc::F_DUPFD_CLOEXEC, 200);
                libc::dup2(nowhere, number);
                saved
            });
            libc::close(nowhere);
            Self { saved }
        }
    }
}

impl Drop for Silence {
    fn drop(&mut self) {
        // SAFETY: as above; what is still in a buffer goes nowhere, too.
        unsafe {
            libc::fflush(std::ptr::null_mut());
            for (number, saved) in [1, 2].into_iter().zip(self.saved) {
                libc::dup2(saved, number);
                libc::close(saved);
            }
        }
    }
}
