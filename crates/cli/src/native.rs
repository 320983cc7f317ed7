//! Programs that run themselves, under the library of `mazurka-native`: explored, repeated, or handed to
//! a debugger.

use crate::arguments::{self, Asked, Build, Output};
use crate::program::{self, Answer, Surroundings};
use crate::{
    Done, Failure, add_search, announce, compiler, names, quoted, replay_command, say, show, style,
    tell,
};
use mazurka_core::{Assumption, Location, Verdict};
use mazurka_report::{Colour, ExitStatus, Report};
use serde_json::Value;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Compiles C and C++ files, and explores the program that they make.
pub(crate) fn check(files: &[PathBuf], build: &Build, asked: &Asked, output: &Output) -> Done {
    let folder = program::folder()?;
    let program = compiler::build(files, &build.flags(), folder.path())?;
    let name = names(files);
    let replay = asked.conduct.told_to(replay_command(files, build));
    let replay = format!("{replay} --schedule");
    let read = || assumed_of(files, build);
    explore(&[program.into_os_string()], &name, &replay, asked, output, &read)
}

/// What files of C make any engine assume: found by reading them, where they can be read as a
/// model. What is met on the way says the rest, and all of it where they cannot.
fn assumed_of(files: &[PathBuf], build: &Build) -> Vec<Assumption> {
    let is_c = |file: &PathBuf| file.extension().is_some_and(|it| it == "c" || it == "i");
    if !files.iter().all(is_c) {
        return Vec::new();
    }
    let options = mazurka_c::Options { flags: build.flags(), ..Default::default() };
    let program = mazurka_c::translate(files, &options).ok();
    let assumptions = program.map(|program| program.assumptions).unwrap_or_default();
    assumptions.into_iter().filter(Assumption::is_of_program).collect()
}

/// Explores a program that is there.
pub(crate) fn run(program: &[OsString], asked: &Asked, output: &Output) -> Done {
    let words = quoted(program.iter().map(|word| word.to_string_lossy()));
    let name = program.first().map(|word| word.to_string_lossy()).unwrap_or_default();
    let replay = asked.conduct.told_to("mazurka replay".to_owned());
    if program.first().is_some_and(|program| compiler::is_stripped(Path::new(program))) {
        eprintln!("warning: `{name}` is stripped, so variables and places have no names");
    }
    explore(program, &name, &format!("{replay} -- {words}"), asked, output, &Vec::new)
}

/// Explores a program and tells what came of it.
///
/// `assumed` is what the source of the program makes any engine assume.
fn explore(
    program: &[OsString],
    name: &str,
    replay: &str,
    asked: &Asked,
    output: &Output,
    assumed: &dyn Fn() -> Vec<Assumption>,
) -> Done {
    announce(name, output);
    let watch = (!output.quiet).then(|| (style(), output.is_told().then(String::new)));
    let surroundings = Surroundings { memory_limit: asked.memory_limit, ..Default::default() };
    let wishes = arguments::wishes(asked);
    let mut answer = program::run_in(program, name, &wishes, watch, &surroundings)?;
    answer.verdict.iter_mut().for_each(shorten);
    if let Some(Verdict::Holds(coverage)) = &mut answer.verdict {
        // What was read comes first: it names all accesses, also those that were not met.
        let all = assumed().into_iter().chain(coverage.assumptions().iter().cloned());
        *coverage = coverage.clone().assuming_only(all.collect());
    }
    let Some(report) = report_of(&answer, name, asked, replay) else {
        return Err(Failure::defect(format!("the report of `{name}` has no verdict")).into());
    };
    for warning in &answer.warnings {
        eprintln!("warning: {warning}");
    }
    let status = tell(&report, output)?;
    if output.is_told()
        && let Verdict::Violated(found) = report.verdict
    {
        let mut wishes = asked.conduct.replaying(&found.schedule);
        if let Some(limit) = asked.options.time_limit {
            wishes["time_limit_ms"] = rest_of(limit, &answer);
        }
        show(&told(&program::printed(program, name, &wishes, None).unwrap_or_default()));
    }
    Ok(status)
}

/// What an answer has left of a time limit, in milliseconds.
pub(crate) fn rest_of(limit: Duration, answer: &Answer) -> Value {
    let spent = Duration::try_from_secs_f64(answer.time_s).unwrap_or_default();
    u64::try_from(limit.saturating_sub(spent).as_millis()).unwrap_or(u64::MAX).into()
}

/// What is to be told of an answer, if it has a verdict; `replay` is what comes before a schedule.
pub(crate) fn report_of<'a>(
    answer: &'a Answer,
    name: &'a str,
    asked: &Asked,
    replay: &'a str,
) -> Option<Report<'a>> {
    let options = &asked.options;
    let Answer { verdict: Some(verdict), statistics, time_s, used, .. } = answer else {
        return None;
    };
    let elapsed = Duration::try_from_secs_f64(*time_s).unwrap_or_default();
    let mut report = Report::new(name, "native", verdict, statistics, elapsed);
    report.peak_memory = used.peak_memory_bytes;
    report.n_threads = used.threads;
    report.options = asked.conduct.in_force();
    report.options.push(("memory_limit".to_owned(), asked.memory_limit.into()));
    report.replay_with = Some(replay);
    report.proved = answer.proved.as_deref();
    report.state_coverage = answer.coverage.as_ref();
    add_search(&mut report, options);
    Some(report)
}

/// Files below the current folder are called as seen from there, those of a crate or of Rust's library
/// as seen from where all of these are.
pub(crate) fn shorten(verdict: &mut Verdict) {
    let here = std::env::current_dir().unwrap_or_default();
    let shorten = |location: &mut Location| {
        let file = location.file.as_str();
        let inside = Path::new(file).strip_prefix(&here).ok().and_then(Path::to_str);
        let of_crate = || file.split_once("/registry/src/")?.1.split_once('/').map(|it| it.1);
        let of_rust = || file.strip_prefix("/rustc/")?.split_once("/library/").map(|it| it.1);
        if let Some(short) = inside.or_else(of_crate).or_else(of_rust) {
            location.file = short.to_owned();
        }
    };
    match verdict {
        Verdict::Holds(coverage) => coverage.for_each_place(shorten),
        Verdict::Violated(found) => {
            let steps = found.story.iter_mut().filter_map(|step| step.location.as_mut());
            let accesses = found.accesses.iter_mut().flat_map(|access| &mut access.stack);
            steps.chain(accesses).for_each(shorten);
        }
        _ => {}
    }
}

/// Compiles files and follows a schedule of the program that they make.
pub(crate) fn replay_files(
    files: &[PathBuf],
    build: &Build,
    wishes: &Value,
    is_debugged: bool,
) -> Done {
    if is_debugged {
        let folder = program::lasting_folder()?;
        let program = compiler::build(files, &build.flags(), &folder)?;
        return debug(&[program.into_os_string()], wishes, None);
    }
    let folder = program::folder()?;
    let program = compiler::build(files, &build.flags(), folder.path())?;
    let program = [program.into_os_string()];
    follow(&program, &names(files), wishes, &Surroundings::default())
}

/// Follows a schedule of a program that is there.
pub(crate) fn replay_program(program: &[OsString], wishes: &Value, is_debugged: bool) -> Done {
    if is_debugged {
        return debug(program, wishes, None);
    }
    follow(program, &program[0].to_string_lossy(), wishes, &Surroundings::default())
}

/// Follows a schedule, and says whether something goes wrong.
pub(crate) fn follow(
    program: &[OsString],
    name: &str,
    wishes: &Value,
    surroundings: &Surroundings<'_>,
) -> Done {
    say(Colour::Doing, "Replaying", name);
    let answer = program::run_in(program, name, wishes, None, surroundings)?;
    match answer.message.as_deref() {
        Some(message) if message.starts_with("step ") => {
            say(Colour::Bad, "Violated", message);
            Ok(ExitStatus::Violated)
        }
        _ => {
            say(Colour::Open, "Followed", "nothing goes wrong in this execution");
            Ok(ExitStatus::Holds)
        }
    }
}

/// Prints the command that follows a schedule under the debugger. The program is still to be there
/// when that is run, and its report goes where nobody looks.
pub(crate) fn debug(program: &[OsString], wishes: &Value, folder: Option<&Path>) -> Done {
    // The library puts invalid instructions into precompiled code, and catches them.
    const COMMANDS: [&str; 4] = [
        "handle SIGILL nostop noprint pass",
        "set breakpoint pending on",
        "break mazurka_violation",
        "run",
    ];
    let report = program::lasting_folder()?.join("report.json");
    let mut words = vec!["env".to_owned()];
    if let Some(folder) = folder.map(Path::display) {
        words.extend(["-C".to_owned(), folder.to_string()]);
        words.push(format!("CARGO_MANIFEST_DIR={folder}"));
    }
    words.extend([
        format!("MAZURKA_REPORT={}", report.display()),
        format!("MAZURKA_OPTIONS={wishes}"),
        "gdb".to_owned(),
    ]);
    words.extend(COMMANDS.iter().flat_map(|command| ["-ex".to_owned(), (*command).to_owned()]));
    words.push("--args".to_owned());
    let program = program.iter().map(|word| word.to_string_lossy());
    let words = words.iter().map(Into::into).chain(program);
    show(&format!("{}\n", quoted(words)));
    Ok(ExitStatus::Holds)
}

/// What a program has printed, under a heading.
pub(crate) fn told(printed: &str) -> String {
    match printed.is_empty() {
        true => String::new(),
        false => format!("\nWhat it prints:\n{printed}"),
    }
}
