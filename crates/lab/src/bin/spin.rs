//! The stateful search beside SPIN's: `cargo build --profile dist -p mazurka-statespace --example
//! states && cargo run --profile dist -p mazurka-lab --bin spin [MODEL…]`.
//!
//! Both search all states of a model without reduction and without SPIN's optimisations, one after
//! the other, and must count the same states. Time is that of the processor in user mode; of SPIN's
//! verifier, made by `gcc -O2`, with and without the time that it takes to make it. Bytes of a
//! state are held against a verifier with `-DCOLLAPSE`. How much two jobs help is told by the
//! clock, from the start of the process to its end: against one job, and against the time of SPIN's
//! verifier in user mode. The table goes to standard output, and as comma-separated values to
//! `results/spin.csv`, if all models are measured.
//!
//! With `defaults` as its first word, both tools run as people run them: with the optimisations of
//! both, with and without their reductions, and no state has to be the same, but the verdict. Then
//! time is that of the search alone: of ours, what its thread has had of the processor. The table
//! goes to `results/spin_defaults.csv`.
//!
//! The system tells the time of processes in steps of 10 ms. So a search is repeated for about a
//! second, and what counts is the mean of the processor's time, and the median of the clock's; of
//! three such rounds, in which the tools take turns, the median. What takes longer than ten seconds
//! is measured once.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it is a command")]

use mazurka_lab::machine;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

/// A model in some size.
struct Model {
    name: &'static str,
    file: &'static str,
    /// Lines that are replaced, by how they begin.
    lines: &'static [(&'static str, &'static str)],
}

const EXAMPLES: &str = "/usr/share/doc/spin/examples/Examples";
const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/promela");
const PROGRAMS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/programs");
const CSV: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/results/spin.csv");

const MODELS: [Model; 8] = [
    Model { name: "leader(5)", file: "leader0.pml", lines: &[] },
    Model { name: "leader(6)", file: "leader0.pml", lines: &[("#define N", "#define N 6")] },
    Model { name: "pftp", file: "LTL/pftp.pml", lines: &[] },
    Model { name: "snoopy", file: "snoopy.pml", lines: &[] },
    Model {
        name: "sieve, 10 primes",
        file: "sieve.pml",
        lines: &[("#define MAX", "#define MAX 30")],
    },
    Model {
        name: "sieve, 15 primes",
        file: "sieve.pml",
        lines: &[("#define MAX", "#define MAX 50")],
    },
    Model {
        name: "pftp, loss and duplication",
        file: "LTL/pftp.pml",
        lines: &[("#define DUPS", "#define DUPS 1")],
    },
    // Its channels have room for two messages of every process, as it asks for.
    Model {
        name: "leader(8)",
        file: "leader0.pml",
        lines: &[("#define N", "#define N 8"), ("#define L", "#define L 16")],
    },
];

/// The models that are searched as people do.
const AS_USED: [Model; 13] = [
    Model { name: "pftp", file: "LTL/pftp.pml", lines: &[] },
    Model {
        name: "pftp, loss and duplication",
        file: "LTL/pftp.pml",
        lines: &[("#define DUPS", "#define DUPS 1")],
    },
    Model { name: "philosophers(8)", file: "philosophers.pml", lines: &[] },
    Model {
        name: "philosophers(9)",
        file: "philosophers.pml",
        lines: &[("#define N", "#define N 9")],
    },
    Model { name: "bakery(3)", file: "bakery.pml", lines: &[] },
    Model { name: "leader(6)", file: "leader0.pml", lines: &[("#define N", "#define N 6")] },
    Model {
        name: "leader(7)",
        file: "leader0.pml",
        lines: &[("#define N", "#define N 7"), ("#define L", "#define L 14")],
    },
    Model {
        name: "leader(8)",
        file: "leader0.pml",
        lines: &[("#define N", "#define N 8"), ("#define L", "#define L 16")],
    },
    Model {
        name: "peterson(4)",
        file: "LTL/petersonN.pml",
        lines: &[("#define N", "#define N 4")],
    },
    Model { name: "sieve", file: "sieve.pml", lines: &[("#define MAX", "#define MAX 50")] },
    Model { name: "snoopy", file: "snoopy.pml", lines: &[] },
    Model { name: "dtp", file: "dtp.pml", lines: &[] },
    Model { name: "cambridge", file: "cambridge.pml", lines: &[] },
];

/// Measures both tools as people run them.
fn compare_defaults(words: &[String]) -> Result<(), String> {
    println!(
        "| model | reduction | SPIN, states | ours | SPIN, s | ours | ratio | with compilation | two jobs, by one |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    let mut csv = String::from(
        "model,reduction,spin_states,our_states,spin_user_s,our_s,ratio,spin_compile_user_s,two_jobs_speedup\n",
    );
    let is_asked = |model: &&Model| {
        words.is_empty() || words.iter().any(|word| model.name.contains(word.as_str()))
    };
    for model in AS_USED.iter().filter(is_asked) {
        for (reduction, flags) in [("stubborn", &[][..]), ("none", &["-DNOREDUCE"][..])] {
            let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
            let file = model.write(folder.path())?;
            let pan = Pan::with(folder.path(), &file, &[], flags)?;
            let first = pan.run()?;
            let n_rounds = if first.wall_s > LONG_S { 1 } else { ROUNDS };
            let mut rounds = [const { Vec::new() }; 3];
            for _ in 0..n_rounds {
                let n_runs = (0.5 / first.wall_s).ceil().clamp(1.0, 30.0) as usize;
                rounds[0].push(repeated(n_runs, || pan.run())?);
                rounds[1].push(ours(&file, 1, &[reduction])?);
                rounds[2].push(ours(&file, 2, &[reduction])?);
            }
            let [theirs, one, two] = rounds.map(|round| Measured {
                user_s: median(round.iter().map(|it| it.user_s)),
                search_s: median(round.iter().map(|it| it.search_s)),
                wall_s: median(round.iter().map(|it| it.wall_s)),
                ..round[0]
            });
            let (ratio, speedup) = (theirs.user_s / one.search_s, one.wall_s / two.wall_s);
            let with = (theirs.user_s + pan.compile_s) / one.search_s;
            println!(
                "| {} | {reduction} | {} | {} | {:.3} | {:.3} | {ratio:.2} | {with:.0} | {speedup:.2} |",
                model.name, theirs.states, one.states, theirs.user_s, one.search_s,
            );
            let _ = writeln!(
                csv,
                "\"{}\",{reduction},{},{},{:.3},{:.3},{ratio:.2},{:.2},{speedup:.2}",
                model.name, theirs.states, one.states, theirs.user_s, one.search_s, pan.compile_s,
            );
        }
    }
    if words.is_empty() {
        let path = CSV.replace("spin.csv", "spin_defaults.csv");
        std::fs::write(&path, csv).map_err(|error| format!("{path}: {error}"))?;
    }
    Ok(())
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let done = match words.split_first() {
        Some((first, words)) if first == "defaults" => compare_defaults(words),
        _ => compare(&words),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

/// What one search took.
#[derive(Clone, Copy)]
struct Measured {
    states: u64,
    /// The memory of its states, where it is told.
    bytes: f64,
    /// Of the processor.
    user_s: f64,
    /// By the clock, the whole process.
    wall_s: f64,
    /// Of the processor, the search alone; with one job.
    search_s: f64,
}

/// Measures all models, or those whose names contain one of the words.
fn compare(words: &[String]) -> Result<(), String> {
    println!(
        "| model | states | SPIN, M states a second | ours | ratio | with compilation | \
         bytes a state, `-DCOLLAPSE` | ours | two jobs, by one | by SPIN |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    let mut csv = String::from(
        "model,states,spin_user_s,spin_compile_user_s,our_user_s,ratio,ratio_with_compilation,\
         collapse_bytes,our_bytes,one_job_wall_s,two_jobs_wall_s,speedup,two_jobs_ratio\n",
    );
    for model in &MODELS {
        if words.is_empty() || words.iter().any(|word| model.name.contains(word)) {
            measure(model, &mut csv)?;
        }
    }
    if words.is_empty() {
        std::fs::write(CSV, csv).map_err(|error| format!("{CSV}: {error}"))?;
    }
    Ok(())
}

/// How many rounds there are, of what does not take long.
const ROUNDS: usize = 3;

/// What takes longer than this is measured once.
const LONG_S: f64 = 10.0;

/// One of these that is in the middle.
fn median(of: impl Iterator<Item = f64>) -> f64 {
    let mut all: Vec<f64> = of.collect();
    all.sort_by(f64::total_cmp);
    all[all.len() / 2]
}

/// What a run takes, of as many. The system tells the time of all of them together more exactly
/// than that of each.
fn repeated(n_runs: usize, run: impl Fn() -> Result<Measured, String>) -> Result<Measured, String> {
    let before = machine::user_time_of_children().unwrap_or_default();
    let runs = (0..n_runs).map(|_| run()).collect::<Result<Vec<_>, _>>()?;
    let after = machine::user_time_of_children().unwrap_or_default();
    Ok(Measured {
        // Nothing takes no time at all.
        user_s: (after - before).as_secs_f64().max(0.005) / n_runs as f64,
        wall_s: median(runs.iter().map(|run| run.wall_s)),
        ..runs[0]
    })
}

fn measure(model: &Model, csv: &mut String) -> Result<(), String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let file = model.write(folder.path())?;
    let collapse = Pan::new(folder.path(), &file, &["-DCOLLAPSE"])?.run()?;
    let pan = Pan::new(folder.path(), &file, &[])?;
    // What does not take long, once without being measured, which also says how often is enough.
    let first = pan.run()?;
    let (n_rounds, n_runs) = match first.wall_s > LONG_S {
        true => (1, 1),
        false => (ROUNDS, (1.0 / first.wall_s).ceil().clamp(1.0, 30.0) as usize),
    };
    let mut rounds = [const { Vec::new() }; 3];
    for _ in 0..n_rounds {
        rounds[0].push(match first.wall_s > LONG_S {
            true => first,
            false => repeated(n_runs, || pan.run())?,
        });
        rounds[1].push(repeated(n_runs, || ours(&file, 1, &["none", "plain"]))?);
        rounds[2].push(repeated(n_runs, || ours(&file, 2, &["none", "plain"]))?);
    }
    let [theirs, one, two] = rounds.map(|round| Measured {
        user_s: median(round.iter().map(|it| it.user_s)),
        wall_s: median(round.iter().map(|it| it.wall_s)),
        ..round[0]
    });
    if let Some(other) = [one, two].iter().find(|it| it.states != theirs.states) {
        return Err(format!("{}: {} states are not {}", model.name, other.states, theirs.states));
    }
    let (theirs_s, ours_s) = (theirs.user_s, one.user_s);
    let (one_wall, two_wall) = (one.wall_s, two.wall_s);
    let states = theirs.states as f64;
    let (ratio, with) = (theirs_s / ours_s, (theirs_s + pan.compile_s) / ours_s);
    let (their_bytes, our_bytes) = (collapse.bytes / states, one.bytes / states);
    let (speedup, two_ratio) = (one_wall / two_wall, theirs_s / two_wall);
    println!(
        "| {} | {} | {:.2} | {:.2} | {ratio:.2} | {with:.1} | {their_bytes:.0} | {our_bytes:.0} | \
         {speedup:.2} | {two_ratio:.2} |",
        model.name,
        theirs.states,
        states / theirs_s / 1e6,
        states / ours_s / 1e6,
    );
    let _ = writeln!(
        csv,
        "\"{}\",{},{theirs_s:.3},{:.2},{ours_s:.3},{ratio:.2},{with:.2},{their_bytes:.1},\
         {our_bytes:.1},{one_wall:.3},{two_wall:.3},{speedup:.2},{two_ratio:.2}",
        model.name, theirs.states, pan.compile_s,
    );
    Ok(())
}

impl Model {
    /// Writes it into a folder, in its size.
    fn write(&self, folder: &Path) -> Result<PathBuf, String> {
        let own = [CORPUS, PROGRAMS].map(|folder| Path::new(folder).join(self.file));
        let own = own.into_iter().find(|path| path.exists());
        let path = own.unwrap_or_else(|| Path::new(EXAMPLES).join(self.file));
        let text = std::fs::read_to_string(&path);
        let text = text.map_err(|error| format!("{}: {error}", path.display()))?;
        let lines = text.lines().map(|line| {
            let found = self.lines.iter().find(|(beginning, _)| line.starts_with(beginning));
            found.map_or(line, |(_, replacement)| replacement)
        });
        let file = folder.join("model.pml");
        let text = lines.collect::<Vec<_>>().join("\n") + "\n";
        std::fs::write(&file, text).map_err(|error| format!("{}: {error}", file.display()))?;
        Ok(file)
    }
}

/// A verifier that SPIN has written.
struct Pan {
    path: PathBuf,
    /// The time of `spin` and of `gcc`.
    compile_s: f64,
}

impl Pan {
    /// Without reduction and without optimisations.
    fn new(folder: &Path, model: &Path, flags: &[&str]) -> Result<Self, String> {
        let plain = [&["-DNOREDUCE"], flags].concat();
        Self::with(folder, model, &["-o1", "-o2", "-o3"], &plain)
    }

    fn with(folder: &Path, model: &Path, options: &[&str], flags: &[&str]) -> Result<Self, String> {
        let path = folder.join("pan");
        let mut spin = Command::new("spin");
        spin.args(options).arg("-a").arg(model).current_dir(folder);
        let mut gcc = Command::new("gcc");
        gcc.args(["-w", "-O2", "-DSAFETY", "-DNOCLAIM", "-DMEMLIM=16000"]);
        gcc.arg("-DVECTORSZ=2048").args(flags).args(["-o", "pan", "pan.c"]).current_dir(folder);
        let compile_s = timed(&mut spin)?.1 + timed(&mut gcc)?.1;
        Ok(Self { path, compile_s })
    }

    fn run(&self) -> Result<Measured, String> {
        let start = Instant::now();
        let mut pan = Command::new(&self.path);
        pan.args(["-c0", "-n", "-m10000000", "-w24"]).current_dir(self.path.with_file_name(""));
        let (said, user_s) = timed(&mut pan)?;
        let number = |what: &str| {
            let line = said.lines().find(|line| line.contains(what))?;
            line.split_whitespace().next()?.parse::<f64>().ok()
        };
        let states = number("states, stored").ok_or_else(|| format!("no states in\n{said}"))?;
        Ok(Measured {
            states: states as u64,
            bytes: number("actual memory usage for states").unwrap_or(f64::NAN) * 1024.0 * 1024.0,
            user_s,
            wall_s: start.elapsed().as_secs_f64(),
            search_s: user_s,
        })
    }
}

/// Our search, in a process of its own; how: the reduction, and `plain` if it has no optimisations.
fn ours(model: &Path, jobs: usize, how: &[&str]) -> Result<Measured, String> {
    let this = std::env::current_exe().map_err(|error| error.to_string())?;
    let states = this.with_file_name("examples").join("states");
    let mut command = Command::new(states);
    command
        .arg(model)
        .arg(how[0])
        .args(["tree", "dfs"])
        .arg(jobs.to_string())
        .arg("auto")
        .args(&how[1..]);
    let start = Instant::now();
    let (said, user_s) = timed(&mut command)?;
    let words: Vec<&str> = said.split([' ', ',', '\n']).collect();
    let number = |unit: &[&str]| {
        let at = words.windows(unit.len()).position(|words| words == unit)?;
        words.get(at.checked_sub(1)?)?.parse::<f64>().ok()
    };
    let numbers = (
        number(&["states"]),
        number(&["bytes", "a", "state"]),
        number(&["s", "of", "the", "processor"]),
    );
    let (Some(states), Some(bytes), Some(search_s)) = numbers else {
        return Err(format!("not what was expected: {said}"));
    };
    let wall_s = start.elapsed().as_secs_f64();
    Ok(Measured { states: states as u64, bytes: bytes * states, user_s, wall_s, search_s })
}

/// What a command says, and the time of the processor that it takes.
fn timed(command: &mut Command) -> Result<(String, f64), String> {
    let before = machine::user_time_of_children().unwrap_or_default();
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    let after = machine::user_time_of_children().unwrap_or_default();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if !output.status.success() && text.is_empty() {
        return Err(format!("{command:?}: {}", String::from_utf8_lossy(&output.stderr)));
    }
    // Nothing takes no time at all.
    Ok((text, (after - before).max(Duration::from_millis(5)).as_secs_f64()))
}
