//! The experiments of Kahlon, Wang and Gupta (CAV 2009), section 5, again: `cargo run --profile
//! dist -p mazurka-lab --bin cav2009 [FOLDER] [SECONDS] [PHILOSOPHERS]…`
//!
//! Dining philosophers, decided depth by depth with all interleavings, the peephole (PPOR) and
//! quasi-monotonic executions (MPOR), and once more with the last, where a search that is stuck may
//! look at later depths. Writes `cav2009.csv`, the paper's table 1 with the sizes of the formulas,
//! `cav2009-depths.csv`, the time up to each depth, and a figure of it for each table of
//! philosophers, as in the paper's Fig. 5. A search may take so many seconds of the processor, by
//! default [`SECONDS`].

#![expect(clippy::print_stderr, reason = "it is a command")]

use mazurka_lab::machine::cpu_time;
use mazurka_lab::philosophers::{Question, Table, depth, table};
use mazurka_lab::plot;
use mazurka_symbolic::{Answer, Circuit, Engine, Limits, Move, peephole, quasi_monotonic};
use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const SECONDS: u64 = 120;

/// The numbers of philosophers in the paper, and one beyond.
const TABLES: [usize; 7] = [2, 3, 4, 5, 6, 7, 10];

/// Constraints, by their name in the table.
struct Schedule {
    name: &'static str,
    constrain: fn(&mut Circuit, &[Move]),
    /// Whether all smaller depths are decided before a depth is looked at.
    in_order: bool,
}

const SCHEDULES: [Schedule; 4] = [
    Schedule { name: "none", constrain: |_, _| {}, in_order: true },
    Schedule { name: "ppor", constrain: peephole, in_order: true },
    Schedule { name: "mpor", constrain: quasi_monotonic, in_order: true },
    Schedule { name: "mpor ahead", constrain: quasi_monotonic, in_order: false },
];

/// Makes the search in progress stop.
static STOP: AtomicBool = AtomicBool::new(false);

/// What a search has come to.
struct Row {
    answer: String,
    seconds: f64,
    statistics: mazurka_symbolic::Statistics,
    /// The depths it was through with, and the seconds up to then.
    depths: Vec<(usize, f64)>,
}

/// Decides a question, within so many seconds of the processor.
fn decide(circuit: &Circuit, depth: usize, in_order: bool, seconds: u64) -> Row {
    let begin = cpu_time().unwrap_or_default();
    let spent = move || cpu_time().unwrap_or_default().saturating_sub(begin);
    let limits = Limits { depth: Some(depth), in_order, stop: Some(&STOP), ..Limits::default() };
    STOP.store(false, Ordering::Relaxed);
    let is_done = AtomicBool::new(false);
    let mut depths = Vec::new();
    let outcome = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_done.load(Ordering::Relaxed) {
                if spent() >= Duration::from_secs(seconds) {
                    STOP.store(true, Ordering::Relaxed);
                }
                std::thread::sleep(Duration::from_millis(20));
            }
        });
        let outcome = Engine::Bounded.decide(circuit, &limits, &mut |progress| {
            depths.push((progress.depth, spent().as_secs_f64()));
        });
        is_done.store(true, Ordering::Relaxed);
        outcome
    });
    let answer = match &outcome.answer {
        Answer::Unsafe(witness) => format!("sat at {}", witness.depth()),
        Answer::SafeTo { depth } => format!("unsat to {depth}"),
        Answer::Safe(_) => "unsat".to_owned(),
        Answer::Unknown { depth: None, .. } => "given up".to_owned(),
        Answer::Unknown { depth: Some(depth), .. } => format!("given up after {depth}"),
    };
    Row { answer, seconds: spent().as_secs_f64(), statistics: outcome.statistics, depths }
}

fn run(folder: &Path, seconds: u64, tables: &[usize]) -> Result<(), String> {
    let mut rows = String::from(
        "program,steps,schedule,answer,seconds,conflicts,decisions,variables,clauses\n",
    );
    let mut points = String::from("program,schedule,depth,seconds\n");
    for &n in tables {
        for question in Question::ALL {
            let program = format!("phil{n}-{}", question.name());
            let mut lines = Vec::new();
            for Schedule { name: schedule, constrain, in_order } in SCHEDULES {
                let Table { mut circuit, moves } = table(n, question);
                constrain(&mut circuit, &moves);
                let row = decide(&circuit, depth(n), in_order, seconds);
                let Row { answer, seconds, statistics: all, depths } = row;
                let line = format!(
                    "{program},{},{schedule},{answer},{seconds:.2},{},{},{},{}",
                    depth(n),
                    all.conflicts,
                    all.decisions,
                    all.variables,
                    all.clauses
                );
                eprintln!("{line}");
                let _ = writeln!(rows, "{line}");
                for (depth, seconds) in &depths {
                    let _ = writeln!(points, "{program},{schedule},{depth},{seconds:.2}");
                }
                if in_order {
                    lines.push(line_of(schedule, &depths));
                }
            }
            write(&folder.join(format!("cav2009-{program}.svg")), &figure(&program, &lines))?;
            write(&folder.join("cav2009.csv"), &rows)?;
            write(&folder.join("cav2009-depths.csv"), &points)?;
        }
    }
    Ok(())
}

fn line_of(schedule: &str, depths: &[(usize, f64)]) -> plot::Line {
    let (mark, colour) = match schedule {
        "none" => (plot::Mark::Square, "#888888"),
        "ppor" => (plot::Mark::Circle, "#1f77b4"),
        _ => (plot::Mark::Triangle, "#d62728"),
    };
    // The scale is logarithmic: what takes less than 10 ms is not told apart.
    let points = depths.iter().map(|&(depth, seconds)| (depth as f64, (seconds * 1e3).max(10.0)));
    plot::Line {
        name: schedule.to_owned(),
        points: points.collect(),
        mark,
        colour,
        hollow: false,
        dotted: false,
    }
}

fn figure(program: &str, lines: &[plot::Line]) -> String {
    let title = format!("{program}, as in Fig. 5 of CAV 2009");
    let words = plot::Words {
        title: &title,
        x_name: "depth",
        y_name: "ms of CPU",
        caption: "All depths up to this one. A line ends with the answer, or where time is up.",
    };
    plot::svg(&words, lines)
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    std::fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().unwrap_or_else(|| ".".to_owned());
    let numbers: Result<Vec<usize>, _> = arguments.map(|number| number.parse()).collect();
    let result = numbers.map_err(|error| error.to_string()).and_then(|numbers| {
        let seconds = numbers.first().map_or(SECONDS, |&seconds| seconds as u64);
        let tables = numbers.get(1..).filter(|tables| !tables.is_empty()).unwrap_or(&TABLES);
        run(Path::new(&folder), seconds, tables)
    });
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}
