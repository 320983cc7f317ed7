//! A tour of the explorer: `cargo run --release --example tour`.
//!
//! Without an argument it checks three small programs and shows what comes of each. With the text
//! of a program it checks that one; `--help` has the options. The language of the programs is
//! described in the documentation of `mazurka-script`.

#![expect(clippy::print_stderr, reason = "it is a command: mistakes of its user go there")]

mod arguments;
mod interleaving;
mod screen;

use arguments::{Command, USAGE};
use interleaving::Ending;
use mazurka_core::{
    Counterexample, Limit, Next, Schedule, System, ThreadId, Verdict, ViolationKind,
};
use mazurka_explore::{Ended, ExploreError, Explorer, Options, Outcome, Reduction, replay};
use mazurka_script::Script;
use screen::{CYAN, DIM, GREEN, RED, Screen, YELLOW, counted, grouped};
use std::collections::BTreeSet;
use std::process::ExitCode;
use std::sync::Mutex;
use std::time::{Duration, Instant};

const HOLDS: u8 = 0;
const VIOLATED: u8 = 1;
const WRONG_INPUT: u8 = 2;
const INCONCLUSIVE: u8 = 3;

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
    let screen = Screen::new();
    let arguments = std::env::args_os().skip(1).map(|arg| arg.to_string_lossy().into_owned());
    let status = match Command::from_args(arguments) {
        Ok(Command::Help) => {
            screen.show(USAGE);
            HOLDS
        }
        Ok(Command::Tour(options)) => tour(&screen, &options),
        Ok(Command::Check(text, options)) => match arguments::parse(&text) {
            Some(script) => check(&screen, "a program", &script, &options),
            None => WRONG_INPUT,
        },
        Ok(Command::Replay(text, schedule)) => {
            match (arguments::parse(&text), arguments::parse_schedule(&schedule)) {
                (Some(script), Some(schedule)) => follow(&screen, &script, &schedule),
                _ => WRONG_INPUT,
            }
        }
        Err(errors) => {
            errors.iter().for_each(|error| eprintln!("error: {error}"));
            eprintln!("help: `--help` lists the options");
            WRONG_INPUT
        }
    };
    ExitCode::from(status)
}

fn tour(screen: &Screen, options: &Options) -> u8 {
    for (about, text) in TOUR {
        let script = Script::parse(text).expect("the tour is well-formed");
        if check(screen, about, &script, options) == WRONG_INPUT {
            return WRONG_INPUT;
        }
        screen.show("\n");
    }
    screen.show("Tip: now one of your own, or `-- --help`:\n");
    screen.show("     cargo run --release --example tour -- \"x=1; r=y | y=1; r1=x\"\n");
    HOLDS
}

/// Checks one program, shows what comes of it, and tells the exit status.
fn check(screen: &Screen, about: &str, script: &Script, options: &Options) -> u8 {
    screen.headline(CYAN, "Checking", &format!("{about} ({})", n_threads(script)), "");
    show_program(screen, script);
    let begun = Instant::now();
    let (outcome, traces) = match search(script, options) {
        Ok(found) => found,
        Err(error) => {
            eprintln!("error: {error}");
            return WRONG_INPUT;
        }
    };
    let statistics = outcome.statistics;
    let time = format!("{:.2} s", begun.elapsed().as_secs_f64());
    match &outcome.verdict {
        Verdict::Violated(counterexample) => {
            let aside = format!("execution {}, {time}", grouped(statistics.executions));
            show_violation(screen, script, counterexample, &aside);
            VIOLATED
        }
        Verdict::Holds(coverage) => {
            let size = match options.stateful {
                true => counted(statistics.states, "state"),
                false => counted(traces, "trace"),
            };
            let all = coverage.is_unbounded();
            let text = if all { "in every interleaving" } else { "within the bound" };
            screen.headline(GREEN, "Holds", text, &format!("{size}, {time}"));
            screen.show("\n");
            screen.paragraph("Covered:", &coverage.to_string());
            screen.paragraph("        ", &work(script, options, &outcome));
            HOLDS
        }
        Verdict::Inconclusive(limit) => {
            let aside = format!("{}, {time}", counted(statistics.executions, "execution"));
            screen.headline(YELLOW, "Stop", &limit.to_string(), &aside);
            let text = "nothing wrong in what was explored, and nothing proved";
            screen.headline(YELLOW, "Unverified", text, "");
            if let Limit::Depth(_) = limit {
                screen.headline(DIM, "Tip:", "a larger `--max-depth` sees more of the rest", "");
            }
            INCONCLUSIVE
        }
        other => unreachable!("the explorer does not say `{}`", other.name()),
    }
}

/// The search, and how many traces it has visited.
fn search(script: &Script, options: &Options) -> Result<(Outcome, u64), ExploreError> {
    let hashes = Mutex::new(BTreeSet::new());
    let watch = |ended: Ended<'_, Script>| {
        hashes.lock().expect("nobody panics with it").insert(ended.order.trace_hash());
    };
    let mut explorer = Explorer::new(options.clone());
    // `optimal` takes one execution of each trace, the others may take more.
    let is_optimal = options.reduction == Reduction::Optimal;
    if !is_optimal {
        explorer = explorer.observe(&watch);
    }
    let outcome = explorer.run(|| script.clone())?;
    let distinct = hashes.into_inner().expect("nobody panics with it").len() as u64;
    let traces = if is_optimal { outcome.statistics.executions } else { distinct };
    Ok((outcome, traces))
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
fn follow(screen: &Screen, script: &Script, schedule: &Schedule) -> u8 {
    let replay = match replay(&mut script.clone(), schedule) {
        Ok(replay) => replay,
        Err(error) => {
            eprintln!("error: {error}");
            return WRONG_INPUT;
        }
    };
    screen.headline(CYAN, "Replaying", &format!("a program ({})", n_threads(script)), "");
    show_program(screen, script);
    let waits = replay.end.iter().any(|next| matches!(next, Next::Blocked(_)));
    let moves = replay.end.iter().any(|next| matches!(next, Next::Enabled { .. }));
    let steps = counted(schedule.len() as u64, "step");
    let (status, ending) = match &replay.violation {
        Some((step, violation)) => {
            screen.headline(RED, "Violated", &violation.message, &steps);
            (VIOLATED, Ending::Failed(*step, violation.kind))
        }
        None if waits && !moves => {
            screen.headline(RED, "Violated", "no-deadlock: no thread can move", &steps);
            (VIOLATED, Ending::Deadlock)
        }
        None => {
            let end = if moves { "and threads can still move" } else { "to the end" };
            screen.headline(GREEN, "Followed", end, &steps);
            screen.headline(DIM, "", "a replay does not look for data races; a check does", "");
            (HOLDS, Ending::Open)
        }
    };
    interleaving::show(screen, script, &replay.execution, ending);
    status
}

/// What goes wrong, how to get there, and how to see it again.
fn show_violation(screen: &Screen, script: &Script, found: &Counterexample, aside: &str) {
    let Counterexample { violation, schedule, execution, .. } = found;
    let ending = match violation.kind {
        ViolationKind::Deadlock => Ending::Deadlock,
        ViolationKind::Livelock => Ending::Open,
        kind => Ending::Failed(execution.steps.len(), kind),
    };
    // The circle of a deadlock comes after a colon, one member after the other.
    match violation.message.split_once(": ") {
        Some((what, circle)) if ending == Ending::Deadlock => {
            screen.headline(RED, "Violated", &format!("no-deadlock: {what}"), aside);
            circle.split("; ").for_each(|wait| screen.headline(RED, "", wait, ""));
        }
        _ => screen.headline(RED, "Violated", &violation.message, aside),
    }
    interleaving::show(screen, script, execution, ending);
    screen.show(&format!("\nReplay: {schedule}\n"));
}

/// The program, a line for each thread.
fn show_program(screen: &Screen, script: &Script) {
    let text = script.to_string();
    let (header, threads) = text.split_once(" || ").unwrap_or(("", &text));
    screen.show("\n");
    if !header.is_empty() {
        screen.headline(DIM, "", header, "");
    }
    for (idx, text) in threads.split(" | ").enumerate() {
        let name = script.thread_name(ThreadId::new(idx));
        // A thread without a statement is written as its name.
        let text = if text.ends_with(':') { "" } else { text };
        screen.headline(DIM, &name, text, "");
    }
    screen.show("\n");
}

fn n_threads(script: &Script) -> String {
    counted(script.n_threads() as u64, "thread")
}
