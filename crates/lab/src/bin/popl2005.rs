//! The experiments of POPL 2005, section 5, again: `cargo run --profile dist -p mazurka-lab --bin
//! popl2005 -- FOLDER`.
//!
//! Indexer (Fig. 1) and File System (Fig. 7) with growing numbers of threads, under the ten
//! configurations of the paper, `source`, `optimal` and `monotonic`. Each line ends where a search
//! takes more than [`LIMIT`] transitions or [`TIME_LIMIT`], which the figures say. Writes
//! `popl2005.csv`, and Figs. 6 and 8 as `indexer.svg` and `filesystem.svg`.

#![expect(clippy::print_stderr, reason = "it is a command")]

use mazurka_core::Verdict;
use mazurka_explore::{Explorer, Options, Reduction};
use mazurka_lab::{models, plot};
use mazurka_model::{Program, Races, Vm};
use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

/// How many transitions a search may take before its line ends.
const LIMIT: u64 = 1_000_000;

/// How long a search may take before its line ends.
const TIME_LIMIT: Duration = Duration::from_secs(5);

/// A benchmark of the paper.
struct Benchmark {
    name: &'static str,
    title: &'static str,
    figure: &'static str,
    program: fn(usize) -> Program,
    max_threads: usize,
}

const BENCHMARKS: [Benchmark; 2] = [
    Benchmark {
        name: "indexer",
        title: "Indexer",
        figure: "Fig. 6",
        program: models::indexer,
        max_threads: 16,
    },
    Benchmark {
        name: "filesystem",
        title: "File System",
        figure: "Fig. 8",
        program: models::filesystem,
        max_threads: 26,
    },
];

/// One way to search.
#[derive(Clone, Copy)]
struct Configuration {
    reduction: Reduction,
    sleep: bool,
    stateful: bool,
}

impl Configuration {
    /// Those of the paper, then those that are newer.
    fn all() -> Vec<Self> {
        let of = |reduction, sleep, stateful| Self { reduction, sleep, stateful };
        let mut all = Vec::new();
        for reduction in [Reduction::None, Reduction::Persistent] {
            for stateful in [false, true] {
                all.extend([false, true].map(|sleep| of(reduction, sleep, stateful)));
            }
        }
        all.extend([false, true].map(|sleep| of(Reduction::Dpor, sleep, false)));
        all.push(of(Reduction::Source, true, false));
        all.push(of(Reduction::Optimal, true, false));
        all.push(of(Reduction::Monotonic, true, false));
        all
    }

    fn name(self) -> String {
        let mut name = self.reduction.name().to_owned();
        if self.stateful {
            name.push_str(" stateful");
        }
        if self.sleep && !matches!(self.reduction, Reduction::Optimal | Reduction::Monotonic) {
            name.push_str(" sleep");
        }
        name
    }

    /// As in the key of Fig. 8: triangles for dynamic, circles for static, squares for no
    /// reduction; dotted lines for stored states; hollow marks for sleep sets.
    fn line(self, points: Vec<(f64, f64)>) -> plot::Line {
        let (mark, colour) = match self.reduction {
            Reduction::None => (plot::Mark::Square, "#888888"),
            Reduction::Persistent => (plot::Mark::Circle, "#1f77b4"),
            Reduction::Dpor => (plot::Mark::Triangle, "#d62728"),
            Reduction::Source => (plot::Mark::Triangle, "#2ca02c"),
            Reduction::Monotonic => (plot::Mark::Triangle, "#9467bd"),
            _ => (plot::Mark::Triangle, "#000000"),
        };
        let name = self.name();
        plot::Line { name, points, mark, colour, hollow: self.sleep, dotted: self.stateful }
    }

    fn options(self) -> Options {
        let mut options = Options::new().reduction(self.reduction);
        options.sleep = self.sleep;
        options.stateful = self.stateful;
        options.time_limit = Some(TIME_LIMIT);
        // An execution has at most a few hundred steps, so this is enough to notice the limit.
        options.max_executions = Some(LIMIT);
        options
    }
}

/// What one search has counted.
struct Counts {
    executions: u64,
    blocked: u64,
    transitions: u64,
}

/// Searches; none if a limit was reached first.
fn count(program: Program, configuration: Configuration) -> Result<Option<Counts>, String> {
    let vm = Vm::new(program, Races::Allow).map_err(|errors| errors[0].to_string())?;
    let outcome = Explorer::new(configuration.options())
        .run(|| vm.clone())
        .map_err(|error| error.to_string())?;
    let s = outcome.statistics;
    match outcome.verdict {
        Verdict::Holds(_) => Ok(Some(Counts {
            executions: s.executions,
            blocked: s.blocked_executions,
            transitions: s.transitions,
        })),
        Verdict::Inconclusive(_) => Ok(None),
        other => Err(format!("{other:?}")),
    }
}

fn run(folder: &Path) -> Result<(), String> {
    let mut csv = String::from("benchmark,threads,configuration,executions,blocked,transitions\n");
    for benchmark in BENCHMARKS {
        let mut lines = Vec::new();
        for configuration in Configuration::all() {
            let mut points = Vec::new();
            for n in 1..=benchmark.max_threads {
                let Some(counts) = count((benchmark.program)(n), configuration)? else { break };
                let Counts { executions, blocked, transitions } = counts;
                let (benchmark, name) = (benchmark.name, configuration.name());
                let _ =
                    writeln!(csv, "{benchmark},{n},{name},{executions},{blocked},{transitions}");
                points.push((n as f64, transitions as f64));
                if transitions > LIMIT {
                    break;
                }
            }
            eprintln!("{} {}: {} points", benchmark.name, configuration.name(), points.len());
            lines.push(configuration.line(points));
        }
        let title = format!("{}, as in {} of POPL 2005", benchmark.title, benchmark.figure);
        let caption = format!(
            "A line ends where the next search takes more than {} million transitions or {} s. Lines \
             that coincide show one inside the other.",
            LIMIT / 1_000_000,
            TIME_LIMIT.as_secs()
        );
        let words = plot::Words {
            title: &title,
            x_name: "threads",
            y_name: "transitions",
            caption: &caption,
        };
        let svg = plot::svg(&words, &lines);
        write(&folder.join(format!("{}.svg", benchmark.name)), &svg)?;
    }
    write(&folder.join("popl2005.csv"), &csv)
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    std::fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}

fn main() -> ExitCode {
    let folder = std::env::args().nth(1).unwrap_or_else(|| ".".to_owned());
    match run(Path::new(&folder)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}
