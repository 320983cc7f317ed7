//! A tour of the explorer: `cargo run -p mazurka-tour`.
//!
//! Without an argument it checks three small programs and shows what comes of each. With the text
//! of a program it checks that one; `--help` has the options. The language of the programs is
//! described in the documentation of `mazurka-script`, what is shown is made by `mazurka-report`.

#![expect(clippy::print_stderr, reason = "it is a command: mistakes of its user go there")]

mod arguments;

use arguments::{Command, Form};
use mazurka_core::{
    Limit, Next, ObjectId, Operation, Schedule, System, ThreadId, ThreadSet, Verdict, Wait,
};
use mazurka_explore::{Ended, ExploreError, Explorer, Options, Outcome, Reduction, replay};
use mazurka_report::interleaving::Interleaving;
use mazurka_report::{Colour, ExitStatus, Page, Report, Style, counted, grouped, json, text};
use mazurka_script::Script;
use std::collections::BTreeSet;
use std::fmt::Display;
use std::io::{IsTerminal, Write};
use std::process::ExitCode;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// What a program is called that came without a name.
const NAMELESS: &str = "a program";

/// The programs of the tour, each with what it is about.
const TOUR: [(&str, &str); 3] = [
    (
        "two accounts, locked in opposite orders",
        "log[2] || log[tid]=1; acq(0); acq(1); rel(1); rel(0); log[tid]=2 \
         | log[tid]=1; acq(1); acq(0); rel(0); rel(1); log[tid]=2",
    ),
    (
        "the same order for everybody, and one more to join in",
        "log[3] || log[tid]=1; acq(0); acq(1); rel(1); rel(0); log[tid]=2 \
         | log[tid]=1; acq(0); acq(1); rel(1); rel(0); log[tid]=2 \
         | log[tid]=1; acq(0); acq(1); rel(1); rel(0); log[tid]=2",
    ),
    (
        "a counter, increased by a load and a store",
        "spawn(1); spawn(2); join(1); join(2); r=counter; assert(r == 2) \
         | r=counter; counter=r+1 | r=counter; counter=r+1",
    ),
];

fn main() -> ExitCode {
    let arguments = std::env::args_os().skip(1).map(|arg| arg.to_string_lossy().into_owned());
    let status = match Command::from_args(arguments) {
        Ok(Command::Help) => {
            show(&arguments::usage());
            ExitStatus::Holds
        }
        Ok(Command::Tour(options)) => tour(&options, &style()),
        Ok(Command::Check(text, options, form)) => match (arguments::parse(&text), form) {
            (Some(script), Form::Text) => check(NAMELESS, &script, &options, &style()),
            (Some(script), Form::Json) => check_for_machines(&text, &script, &options),
            (None, _) => ExitStatus::WrongInput,
        },
        Ok(Command::Replay(text, schedule)) => {
            match (arguments::parse(&text), arguments::parse_schedule(&schedule)) {
                (Some(script), Some(schedule)) => follow(&script, &schedule, &style()),
                _ => ExitStatus::WrongInput,
            }
        }
        Err(errors) => {
            errors.iter().for_each(|error| eprintln!("error: {error}"));
            eprintln!("help: `--help` lists the options");
            ExitStatus::WrongInput
        }
    };
    status.into()
}

/// In colour if standard output is a terminal and `NO_COLOR` is not set.
fn style() -> Style {
    let objection = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    Style::new().colour(std::io::stdout().is_terminal() && !objection)
}

/// Writes a text. A reader that closes the pipe has seen enough: that is no error.
fn show(text: &str) {
    let _ = std::io::stdout().write_all(text.as_bytes());
}

fn refuse(error: impl Display) -> ExitStatus {
    eprintln!("error: {error}");
    ExitStatus::WrongInput
}

fn tour(options: &Options, style: &Style) -> ExitStatus {
    for (about, text) in TOUR {
        let script = Script::parse(text).expect("the tour is well-formed");
        if check(about, &script, options, style) == ExitStatus::WrongInput {
            return ExitStatus::WrongInput;
        }
        show("\n");
    }
    let mut page = Page::new(*style);
    page.paragraph("Tip:", "now one of your own, or `-- --help`:");
    page.line("         cargo run -p mazurka-tour -- \"x=1; r=y | y=1; r1=x\"");
    show(&page.into_text());
    ExitStatus::Holds
}

/// Checks one program, shows what comes of it, and tells the exit status.
fn check(name: &str, script: &Script, options: &Options, style: &Style) -> ExitStatus {
    show(&text::checking(name, script.n_threads(), style));
    show(&listing(script, style));
    let searched = match Searched::new(script, options) {
        Ok(searched) => searched,
        Err(error) => return refuse(error),
    };
    let mut report = searched.report(name, script, options);
    match report.verdict {
        Verdict::Holds(_) => report.notes.push(work(script, options, &searched.outcome)),
        Verdict::Inconclusive(Limit::Depth(_)) => {
            report.tips.push("a larger `--max-depth` sees more of the rest".to_owned());
        }
        _ => {}
    }
    show(&text::verdict(&report, style));
    report.verdict.into()
}

/// Checks one program, prints the object that programs read, and tells the exit status.
fn check_for_machines(name: &str, script: &Script, options: &Options) -> ExitStatus {
    match Searched::new(script, options) {
        Ok(searched) => {
            show(&format!("{}\n", json::render(&searched.report(name, script, options))));
            (&searched.outcome.verdict).into()
        }
        Err(error) => refuse(error),
    }
}

/// A search, and what it took.
struct Searched {
    outcome: Outcome,
    /// How many traces it has visited, if it has visited all.
    traces: Option<u64>,
    elapsed: Duration,
    peak_memory: Option<u64>,
}

impl Searched {
    fn new(script: &Script, options: &Options) -> Result<Self, ExploreError> {
        let hashes = Mutex::new(BTreeSet::new());
        let watch = |ended: Ended<'_, Script>| {
            hashes.lock().expect("the lock is not poisoned").insert(ended.order.trace_hash());
        };
        let mut explorer = Explorer::new(options.clone());
        // The others may take more; and a search that stores states does not take all of them to
        // their end.
        let takes_once = options.reduction.takes_traces_once();
        if !takes_once && !options.stateful {
            explorer = explorer.observe(&watch);
        }
        let begun = Instant::now();
        let outcome = explorer.run(|| script.clone())?;
        let elapsed = begun.elapsed();
        let distinct = hashes.into_inner().expect("the lock is not poisoned").len() as u64;
        let traces = if takes_once { outcome.statistics.executions } else { distinct };
        let has_all = matches!(outcome.verdict, Verdict::Holds(_)) && !options.stateful;
        let traces = has_all.then_some(traces);
        Ok(Self { outcome, traces, elapsed, peak_memory: peak_memory() })
    }

    fn report<'a>(&'a self, name: &'a str, script: &Script, options: &Options) -> Report<'a> {
        let Outcome { verdict, statistics, .. } = &self.outcome;
        let mut report = Report::new(name, "explore", verdict, statistics, self.elapsed);
        report.options = vec![
            ("reduction".to_owned(), options.reduction.name().into()),
            ("sleep".to_owned(), options.sleep.into()),
            ("stateful".to_owned(), options.stateful.into()),
            ("jobs".to_owned(), options.jobs.into()),
            ("max_depth".to_owned(), options.max_depth.into()),
        ];
        report.peak_memory = self.peak_memory;
        report.n_threads = script.n_threads();
        report.thread_names = thread_names(script);
        report.traces = self.traces;
        if let Verdict::Violated(found) = verdict {
            report.object_names = object_names(script, &found.waits);
        }
        report
    }
}

/// The largest resident set of this process so far, in bytes, where the system tells.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

/// How much was searched, and for how much that stands.
fn work(script: &Script, options: &Options, outcome: &Outcome) -> String {
    let statistics = outcome.statistics;
    let executions = counted(statistics.executions, "execution");
    let what = if options.stateful {
        let matched = grouped(statistics.states_matched);
        format!("{executions} to the end, {matched} to a state that was visited before")
    } else {
        let stand = if statistics.executions == 1 { "stands" } else { "stand" };
        format!("{executions} {stand} for {}", interleavings(script, options))
    };
    let blocked = match statistics.blocked_executions {
        0 => String::new(),
        blocked => format!("; {} cut short", grouped(blocked)),
    };
    format!("{}: {what}{blocked}", options.reduction)
}

/// How many interleavings there are, by going through all of them, as far as that is reasonable.
fn interleavings(script: &Script, options: &Options) -> String {
    let mut all = options.clone().reduction(Reduction::None).sleep(false).stop_at_first(false);
    (all.deadlock, all.race) = (false, false);
    all.max_executions = Some(5_000_000);
    all.time_limit = Some(Duration::from_secs(5));
    let outcome = Explorer::new(all).run(|| script.clone()).expect("the other search went well");
    let n = counted(outcome.statistics.executions, "interleaving");
    match outcome.verdict {
        Verdict::Inconclusive(_) => format!("more than {n}"),
        _ => n,
    }
}

/// Follows a schedule, shows its steps, and tells the exit status.
fn follow(script: &Script, schedule: &Schedule, style: &Style) -> ExitStatus {
    let replay = match replay(&mut script.clone(), schedule) {
        Ok(replay) => replay,
        Err(error) => return refuse(error),
    };
    let mut page = Page::new(*style);
    let about = format!("{NAMELESS} ({})", counted(script.n_threads() as u64, "thread"));
    page.headline(Colour::Doing, "Replaying", &about, "");
    show(&page.into_text());
    show(&listing(script, style));

    let can_move = replay.end.iter().any(|next| matches!(next, Next::Enabled { .. }));
    let waits = if can_move { Vec::new() } else { waits(&replay.end) };
    let steps = counted(schedule.len() as u64, "step");
    let mut page = Page::new(*style);
    let status = match &replay.violation {
        Some((_, violation)) => {
            page.headline(Colour::Bad, "Violated", &violation.message, &steps);
            ExitStatus::Violated
        }
        None if !waits.is_empty() => {
            page.headline(Colour::Bad, "Violated", "Deadlock: no thread can move", &steps);
            ExitStatus::Violated
        }
        None => {
            let end = if can_move { "and threads can still move" } else { "to the end" };
            page.headline(Colour::Good, "Followed", end, &steps);
            ExitStatus::Holds
        }
    };
    let (thread_names, object_names) = (thread_names(script), object_names(script, &waits));
    let mut interleaving = Interleaving::new(&replay.execution);
    interleaving.story = &replay.story;
    interleaving.waits = &waits;
    interleaving.thread_names = &thread_names;
    interleaving.object_names = &object_names;
    interleaving.failed =
        replay.violation.as_ref().map(|(step, violation)| (*step, violation.kind.name()));
    let table = interleaving.render(style);
    if !table.is_empty() {
        page.line("");
    }
    show(&(page.into_text() + &table));
    status
}

/// Who waits at the end of an execution that no thread can continue.
fn waits(end: &[Next]) -> Vec<Wait> {
    let blocked = end.iter().enumerate().filter_map(|(idx, next)| match *next {
        Next::Blocked(operation) => Some((ThreadId::new(idx), operation)),
        _ => None,
    });
    blocked
        .map(|(thread, operation)| Wait {
            thread,
            operation,
            holders: ThreadSet::EMPTY,
            holds: Vec::new(),
            location: None,
            object: None,
        })
        .collect()
}

fn thread_names(script: &Script) -> Vec<String> {
    let threads = (0..script.n_threads()).map(ThreadId::new);
    threads.map(|thread| script.thread_name(thread).into_owned()).collect()
}

/// What the objects are called that a thread waits for.
fn object_names(script: &Script, waits: &[Wait]) -> Vec<(ObjectId, String)> {
    let objects = waits.iter().flat_map(|wait| match wait.operation {
        Operation::Wait { condvar, mutex } | Operation::Reacquire { condvar, mutex } => {
            vec![condvar, mutex]
        }
        operation => operation.object().into_iter().collect(),
    });
    objects.map(|object| (object, script.object_name(object).into_owned())).collect()
}

/// The program, a line for each thread.
fn listing(script: &Script, style: &Style) -> String {
    let text = script.to_string();
    let (header, threads) = text.split_once(" || ").unwrap_or(("", &text));
    let mut page = Page::new(*style);
    page.line("");
    if !header.is_empty() {
        page.headline(Colour::Aside, "", header, "");
    }
    for (idx, text) in threads.split(" | ").enumerate() {
        let name = script.thread_name(ThreadId::new(idx));
        // A thread without a statement is written as its name.
        let text = if text.ends_with(':') { "" } else { text };
        page.headline(Colour::Aside, &name, text, "");
    }
    page.line("");
    page.into_text()
}
