//! `mazurka test`: the tests of a Rust project, each under every schedule. `mazurka-runner` builds
//! and explores them; here is what is printed and written of it.

use crate::arguments::{RunArguments, SelectionArguments};
use crate::output::{Output, reason};
use crate::simulate::tell_replay;
use crate::tell::{Screen, annotate, say, show, style};
use crate::{Done, Failure};
use mazurka_check::native::{Toolchain, debugger_command};
use mazurka_check::{Engine, Listener as SearchListener, Task};
use mazurka_core::Schedule;
use mazurka_report::{Colour, ExitStatus, Report, counted};
use mazurka_runner::{
    Build, Built, Checked, End, Event, Found, Listener, Run, Selection, Summary, Wanted, details,
    line, write_pages,
};
use std::io::IsTerminal as _;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Prints what happens in a run.
struct Printer<'a> {
    output: &'a Output,
    /// What is written for machines is not mixed with how far a test is.
    on_screen: Output,
    slow_after: Duration,
    /// What is to be said of the tests that do not hold, below the lines of all.
    details: Mutex<String>,
}

impl<'a> Printer<'a> {
    fn new(output: &'a Output, slow_after: Duration) -> Self {
        Self { output, on_screen: output.on_screen(), slow_after, details: Mutex::default() }
    }
}

impl Listener for Printer<'_> {
    fn event(&self, event: &Event<'_>) {
        match event {
            Event::Cargo(text) => remark!("{text}"),
            Event::Diagnostic(text) => remark!("{text}\n"),
            Event::UnknownName(name) => remark!("warning: no test has the name `{name}`"),
            Event::ExploredAnew(n) => {
                let tests = counted(*n as u64, "test");
                remark!("note: {tests} explored anew: what was saved is of another program");
            }
            Event::Slow { name, elapsed, is_alone } => {
                // A test that is alone on a terminal shows how far it is.
                let is_shown = *is_alone && std::io::stderr().is_terminal();
                if self.output.is_told() && !is_shown {
                    let text = format!("{name}: {:.0} s, and goes on", elapsed.as_secs_f64());
                    say(Colour::Open, "Slow", &text);
                }
            }
            Event::Checked(checked) => self.output.verdict(&checked.report()),
            Event::Ended(result) => {
                if let End::Failed(failures) = &result.end {
                    self.output.error(&result.name, &reason(failures));
                }
                if !self.output.is_json_alone() {
                    show(&line(result, self.slow_after, style()));
                }
                let mut all = self.details.lock().unwrap_or_else(PoisonError::into_inner);
                all.push_str(&details(result, style()));
            }
            _ => {}
        }
    }

    fn search<'a>(
        &'a self,
        task: &Task,
        engine: &'static dyn Engine,
        is_alone: bool,
    ) -> Box<dyn SearchListener + 'a> {
        Box::new(Screen::new(task, engine, &self.on_screen).among_others(is_alone))
    }
}

/// How the tests of a selection are built.
fn building<'a>(
    selection: &'a Selection,
    toolchain: &'a Toolchain,
    task: &Task,
    is_quiet: bool,
) -> Build<'a> {
    let is_coloured = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    Build { selection, toolchain, stop: task.stop, is_quiet, is_coloured }
}

/// Builds the tests, explores each and tells what came of it.
pub(crate) fn run(
    selection: &SelectionArguments,
    arguments: &RunArguments,
    task: &Task,
    engine: &'static dyn Engine,
    output: &Output,
) -> Done {
    let begun = Instant::now();
    let (selection, is_list) = selection.selection()?;
    let (options, is_list) = (&arguments.options(), arguments.list || is_list);
    let (selection, toolchain) = (&selection, crate::toolchain());
    let printer = Printer::new(output, options.slow_after);
    let build = building(selection, &toolchain, task, output.quiet || is_list);
    let mut built = build.run(&printer)?;
    let _kept = built.keep()?;
    let (built, found) = (&built, &built.find(&build, &printer)?);
    if is_list {
        list(found, built, output)?;
        return Ok(ExitStatus::Holds);
    }
    if found.wanted.is_empty() && found.ignored.is_empty() {
        return Err(built.nothing_to_run(found).into());
    }
    let run = Run { begun, options, task, engine, selection, built, found };
    let finished = run.run(&printer)?;
    let details = printer.details.into_inner().unwrap_or_else(PoisonError::into_inner);
    tell(&finished.summary, &details, begun, output, &built.folder)?;
    if let Some(command) = finished.resume?.filter(|_| !output.is_json_alone()) {
        // The last line, to be copied.
        show(&format!(" Resume: {command}\n"));
    }
    Ok(finished.summary.status())
}

/// Tells all that is not told test by test.
fn tell(
    summary: &Summary,
    details: &str,
    begun: Instant,
    output: &Output,
    folder: &Path,
) -> Result<(), Vec<Failure>> {
    let style = style();
    let checked = summary.results.iter().filter_map(|result| match &result.end {
        End::Checked(checked) => Some(&**checked),
        End::Failed(_) | End::NotRun => None,
    });
    let reports: Vec<Report<'_>> = checked.map(Checked::report).collect();
    if !output.is_json_alone() {
        if !output.quiet {
            show(details);
            show(&summary.coverage(style));
            show(&summary.lines(style));
            summary.warnings().iter().for_each(|warning| remark!("warning: {warning}"));
        }
        show(&summary.text(begun.elapsed(), style, output.quiet));
        reports.iter().for_each(|report| annotate(report, output));
    }
    let others = summary.others();
    if let Err(error) = write_pages(folder, &summary.sentence(), &reports, &others) {
        remark!("warning: the pages in `{}` cannot be written: {error}", folder.display());
    }
    output.write(&reports, &others)
}

/// `--list`: the names of the tests that a run would explore, for people and for programs.
fn list(found: &Found<'_>, built: &Built, output: &Output) -> Result<(), Vec<Failure>> {
    output.write_json(&format!("{}\n", found.to_json(built)), "--list")?;
    if output.is_json_alone() {
        return Ok(());
    }
    found.lines(built).iter().for_each(|line| show(&format!("{line}\n")));
    if !output.quiet {
        let n_ignored = match found.ignored.len() {
            0 => String::new(),
            n => format!(", {n} ignored"),
        };
        remark!("{}{n_ignored}", counted(found.wanted.len() as u64, "test"));
        for left_out in &built.left_out {
            remark!("not run: {}: {}", left_out.name(), left_out.reason());
        }
    }
    Ok(())
}

/// A task for each test that is wanted, for `mazurka orders`.
pub(crate) fn tasks(selection: &Selection, task: &Task) -> Result<Vec<Task>, Vec<Failure>> {
    let (output, toolchain) = (Output::default(), crate::toolchain());
    let printer = Printer::new(&output, Duration::MAX);
    let build = building(selection, &toolchain, task, true);
    let built = build.run(&printer)?;
    let found = built.find(&build, &printer)?;
    match found.wanted.is_empty() {
        true => Err(built.nothing_to_run(&found).into()),
        false => Ok(found.wanted.iter().map(|wanted| wanted.task(task)).collect()),
    }
}

/// Follows one schedule of one test, with what it prints.
pub(crate) fn replay(
    selection: &SelectionArguments,
    task: &Task,
    engine: &'static dyn Engine,
    schedule: &Schedule,
    is_debugged: bool,
) -> Done {
    let (selection, _) = selection.selection()?;
    let (output, toolchain) = (Output::default(), crate::toolchain());
    let printer = Printer::new(&output, Duration::MAX);
    let build = building(&selection, &toolchain, task, false);
    let built = build.run(&printer)?;
    let found = built.find(&build, &printer)?;
    let all: Vec<&Wanted<'_>> = found.wanted.iter().chain(&found.ignored).collect();
    match &all[..] {
        [wanted] => {
            let task = wanted.task(task);
            if is_debugged {
                show(&format!("{}\n", debugger_command(&task, schedule)?));
                return Ok(ExitStatus::Holds);
            }
            let replay = task.replay_by(engine, schedule, &Screen::new(&task, engine, &output))?;
            Ok(tell_replay(&replay))
        }
        [] => Err(Failure::input("there is no such test").into()),
        _ => {
            let text = format!("{} tests have such names, and a schedule is of one", all.len());
            Err(Failure::input(text).help("name one in full, with `--exact`").into())
        }
    }
}
