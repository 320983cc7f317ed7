//! The way in: `main` is wrapped, and explored if somebody waits for a report.
//!
//! `MAZURKA_REPORT` is the file to write the verdict to; `MAZURKA_OPTIONS` is a JSON object, see
//! [`Wishes`]. Without the first the program runs as if this library were not there.

use crate::constructors;
use crate::globals;
use crate::io;
use crate::library::{self, imports};
use crate::machine;
use crate::precompiled;
use crate::process::{Main, Start};
use crate::report::{self, Report, Used};
use crate::signals;
use crate::system::Native;
use crate::watch::CUT;
use mazurka_core::{Event, Limit, Schedule, Verdict};
use mazurka_explore::{BporOpt, Explorer, OptionError, Options, Outcome, Reduction, retrace};
use serde::Deserialize;
use std::ffi::{c_char, c_int, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};
use std::time::{Duration, Instant};

/// How often something new may be learnt before we stop believing it.
const MAX_RESTARTS: u32 = 1000;
/// The processor can change the thread pointer, and the kernel lets us.
const HWCAP2_FSGSBASE: u64 = 2;

/// What `MAZURKA_OPTIONS` may say.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Wishes {
    reduction: Option<String>,
    sleep: Option<bool>,
    /// Each as on the command line: `preemption=2`.
    bounds: Vec<String>,
    /// As on the command line: `transitive,bound`.
    bpor_opt: Option<String>,
    /// Whether to raise the bound until it cuts nothing.
    iterate: Option<bool>,
    max_depth: Option<usize>,
    max_executions: Option<u64>,
    time_limit_ms: Option<u64>,
    deadlock: Option<bool>,
    race: Option<bool>,
    livelock: Option<bool>,
    order: Option<String>,
    seed: Option<u64>,
    coverage: Option<bool>,
    /// Whether to go back to checkpoints, or to repeat executions from their start.
    checkpoints: Option<bool>,
    /// For tests: whether to compare what they lead to with what the start leads to.
    check_checkpoints: Option<bool>,
    /// The program is the test harness of Rust and will run one test.
    test: Option<bool>,
    /// Whether threads that end while they hold a lock are looked for.
    leak: Option<bool>,
    /// How often a thread may fail in vain to get what it tries or waits a while for.
    retries: Option<u32>,
    /// What is done about calls that cannot be repeated: `skip=socket`.
    allow: Vec<String>,
    /// Libraries and functions that the user vouches for: `libz`.
    trust: Vec<String>,
    /// Whether to give no verdict that assumes what others do.
    strict: Option<bool>,
    /// A printed schedule: only this execution is run, and its output is shown.
    replay: Option<String>,
}

impl Wishes {
    fn options(&self) -> Result<Options, String> {
        let mut options = Options::new();
        let shown = |error: OptionError| error.to_string();
        for bound in &self.bounds {
            options.bounds.push(bound.parse().map_err(shown)?);
        }
        options.reduction = match &self.reduction {
            Some(name) => name.parse().map_err(shown)?,
            None => Reduction::default_within(&options.bounds),
        };
        let opts = self.bpor_opt.as_deref().map(BporOpt::parse_list);
        options.bpor_opt = opts.transpose().map_err(shown)?;
        options.iterate = self.iterate.unwrap_or(options.iterate);
        options.sleep = self.sleep.unwrap_or(options.sleep);
        options.max_depth = self.max_depth.unwrap_or(options.max_depth);
        options.max_executions = self.max_executions;
        options.time_limit = self.time_limit_ms.map(Duration::from_millis);
        options.deadlock = self.deadlock.unwrap_or(options.deadlock);
        options.race = self.race.unwrap_or(options.race);
        options.livelock = self.livelock.unwrap_or(options.livelock);
        if let Some(order) = &self.order {
            options.order = order.parse().map_err(|error| format!("{error}"))?;
        }
        options.seed = self.seed.unwrap_or(options.seed);
        options.coverage = self.coverage.unwrap_or(options.coverage);
        Ok(options)
    }
}

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
    constructors::take_out();
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
    let main = MAIN.load(Ordering::Relaxed);
    // SAFETY: it was a `main` when it was stored.
    let main = unsafe { std::mem::transmute::<*mut c_void, Main>(main) };
    let Ok(path) = std::env::var("MAZURKA_REPORT") else {
        constructors::run(argc, argv, envp);
        // SAFETY: the C library wanted to call just this.
        return unsafe { main(argc, argv, envp) };
    };
    report::set_path(path);
    die_with_parent();
    std::panic::set_hook(Box::new(|info| report::die(&info.to_string())));
    let report = explore(Start::Main(main, argc, argv, envp))
        .unwrap_or_else(|error| Report { error: Some(error), ..Report::default() });
    let status = match &report.verdict {
        None => 2,
        Some(Verdict::Holds(_)) => 0,
        Some(Verdict::Violated(_)) => 1,
        Some(_) => 3,
    };
    if let Err(error) = report::write(&report) {
        report::die(&format!("the report cannot be written: {error}"));
    }
    // SAFETY: what the program registered for its end belongs to an execution that is over.
    unsafe { libc::syscall(libc::SYS_exit_group, status) };
    unreachable!("the process has ended")
}

/// Sees to it that this process does not outlive the command that has started it, however that
/// ends.
fn die_with_parent() {
    let parent = std::env::var("MAZURKA_PARENT").ok().and_then(|it| it.parse::<libc::pid_t>().ok());
    let Some(parent) = parent else { return };
    // SAFETY: asks the kernel for a signal, and ends the process if the parent was faster.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        if libc::getppid() != parent {
            libc::syscall(libc::SYS_exit_group, 0);
        }
    }
}

fn explore(start: Start) -> Result<Report, String> {
    // SAFETY: asks for nothing but a number.
    if unsafe { libc::getauxval(libc::AT_HWCAP2) } & HWCAP2_FSGSBASE == 0 {
        return Err("this processor or kernel does not let programs set the thread pointer".into());
    }
    let wishes: Wishes = match std::env::var("MAZURKA_OPTIONS") {
        Err(_) => Wishes::default(),
        Ok(text) => serde_json::from_str(&text).map_err(|it| format!("MAZURKA_OPTIONS: {it}"))?,
    };
    let mut options = wishes.options()?;
    // Without data races, uses of memory are still held against its end.
    let are_races_allowed = !std::mem::replace(&mut options.race, true);
    wishes.allow.iter().try_for_each(|wish| io::allow(wish))?;
    imports::look(&wishes.trust);
    buffer_output();
    library::set_up();
    machine::set_up(start)?;
    machine::with(|machine| {
        machine.checkpoints.are_off = wishes.checkpoints == Some(false);
        machine.checkpoints.are_checked = wishes.check_checkpoints == Some(true);
        machine.is_test = wishes.test == Some(true);
        machine.are_races_allowed = are_races_allowed;
        machine.watch.tells_lives_only = are_races_allowed;
        machine.disciplines.are_strict = !options.bounds.is_empty();
        machine.disciplines.are_off = are_races_allowed;
    });
    machine::with(|machine| {
        machine.retries = wishes.retries.unwrap_or(machine.retries);
        machine.looks_for_leaks = wishes.leak.unwrap_or(true);
    });
    signals::catch();
    globals::read(MAIN.load(Ordering::Relaxed) as usize);
    precompiled::redirect(MAIN.load(Ordering::Relaxed) as usize)?;
    if let Some(schedule) = &wishes.replay {
        let schedule: Schedule = schedule.parse().map_err(|error| format!("replay: {error}"))?;
        if precompiled::is_redirected() {
            learn(&schedule, &options);
        }
        return follow(&schedule);
    }
    signals::watch_time(options.time_limit);
    signals::catch_interrupt();
    let begun = Instant::now();
    let output = Silence::begin();
    let outcome = search(&options);
    drop(output);
    let (outcome, restarts) = outcome?;
    if wishes.strict == Some(true) && matches!(outcome.verdict, Verdict::Holds(_)) {
        imports::refuse_any()?;
    }
    let message = match &outcome.verdict {
        Verdict::Holds(coverage) => coverage.to_string(),
        Verdict::Violated(found) => found.violation.message.clone(),
        Verdict::Inconclusive(limit) => limit.to_string(),
        _ => String::new(),
    };
    Ok(Report {
        verdict: Some(outcome.verdict),
        proved: outcome.proved.map(|coverage| coverage.to_string()),
        warnings: outcome.warnings.iter().map(ToString::to_string).collect(),
        statistics: outcome.statistics,
        message: Some(message),
        error: None,
        time_s: begun.elapsed().as_secs_f64(),
        restarts,
        used: Used::so_far(machine::with(|machine| machine.threads.len())),
        tree: outcome.tree,
        coverage: outcome.coverage,
    })
}

/// Searches, and again as long as something is learnt on the way that would have mattered before:
/// how memory is divided, which words of a stack are shared, that threads spin, that additions have
/// to be in order.
fn search(options: &Options) -> Result<(Outcome, u32), String> {
    let begun = Instant::now();
    for restarts in 0..MAX_RESTARTS {
        let mut rest = options.clone();
        // The limit is for all of it.
        rest.time_limit = options.time_limit.map(|limit| limit.saturating_sub(begun.elapsed()));
        let explorer = Explorer::new(rest).on_event(&tell).stop_when(&CUT);
        let explorer = explorer.abandon_when(&signals::IS_OVER);
        let outcome = explorer.run(|| Native).map_err(|error| error.to_string());
        // A search that is void may come to anything.
        let is_void = CUT.swap(false, Ordering::Relaxed);
        if let Some(stuck) = machine::with(|machine| machine.stuck.take()) {
            let statistics = outcome.map_or_else(|_| report::last_numbers(), |it| it.statistics);
            return Ok((Outcome::stopped(stuck, statistics), restarts));
        }
        let time = options.time_limit.filter(|&limit| begun.elapsed() >= limit);
        if is_void && (signals::is_interrupted() || time.is_some()) {
            let limit = time.map_or(Limit::Interrupted, Limit::Time);
            let statistics = outcome.map_or_else(|_| report::last_numbers(), |it| it.statistics);
            return Ok((Outcome::stopped(limit, statistics), restarts));
        }
        if !is_void && outcome.is_err() && machine::with(|machine| machine.doubt_first_rounds()) {
            continue;
        }
        if !is_void {
            let mut outcome = outcome?;
            if let (
                Verdict::Inconclusive(reached @ (Limit::Time(_) | Limit::Interrupted)),
                Some(limit),
            ) = (&mut outcome.verdict, options.time_limit)
                && !signals::is_interrupted()
            {
                *reached = Limit::Time(limit);
            }
            return Ok((outcome, restarts));
        }
    }
    Err("something new is learnt in every search".to_owned())
}

fn tell(event: &Event) {
    match event {
        Event::Progress(progress) => report::write_progress(progress),
        Event::Proved(coverage) if !coverage.is_unbounded() => {
            report::write_proved(coverage.to_string());
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
        let is_followed = retrace(&mut Native, schedule).is_ok();
        if CUT.swap(false, Ordering::Relaxed) {
            continue;
        }
        if !is_followed {
            let mut options = options.clone();
            options.max_executions = Some(EXECUTIONS);
            // What it finds was found before.
            let _ = search(&options);
            if retrace(&mut Native, schedule).is_err() {
                machine::with(|machine| machine.doubt_first_rounds());
            }
        }
        return;
    }
}

/// Takes the steps of one schedule, with the program's output.
fn follow(schedule: &Schedule) -> Result<Report, String> {
    // What an execution teaches matters from its first step on. Nothing is shown before.
    let output = Silence::begin();
    for _ in 0..MAX_RESTARTS {
        let _ = retrace(&mut Native, schedule);
        if !CUT.swap(false, Ordering::Relaxed) {
            break;
        }
    }
    drop(output);
    // Nobody reads the story, and places take their time to be found.
    let replayed = retrace(&mut Native, schedule).map_err(|error| error.to_string())?;
    // SAFETY: writes out what the program has printed.
    unsafe { libc::fflush(std::ptr::null_mut()) };
    let last = replayed.execution.steps.len();
    let at_end = || replayed.deadlock(&Native).map(|deadlock| (last, deadlock));
    let message = match replayed.violation.clone().or_else(at_end) {
        Some((step, violation)) => {
            machine::mazurka_violation();
            format!("step {step}: {}", violation.message)
        }
        None => "no violation in this execution".to_owned(),
    };
    Ok(Report { message: Some(message), ..Report::default() })
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
struct Silence {
    saved: [c_int; 2],
}

impl Silence {
    fn begin() -> Self {
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
