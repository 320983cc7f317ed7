//! Printing: verdicts, steps on the way, mistakes; in the style that the terminal has.

use crate::deadline::{self, Deadline};
use crate::output::Output;
use crate::progress_display::Display;
use crate::{Done, Failure, first_try};
use mazurka_check::native::out_of_memory;
use mazurka_check::{Engine, Feature, Listener, Outcome, Task};
use mazurka_core::{Event, Limit, Phase, Verdict, ViolationKind};
use mazurka_report::{Colour, ExitStatus, Page, Report, Style, annotations, text};
use mazurka_runner::{printed, report, status_of};
use std::io::{ErrorKind, IsTerminal as _, Write as _};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Says what is checked.
pub(crate) fn announce(name: &str, output: &Output) {
    if output.is_told() {
        show(&text::checking(name, 0, &style()));
    }
}

/// Tells what came of a task, unless its deadline was faster: that ends the command then.
pub(crate) fn tell(outcome: &Outcome, task: &Task, output: &Output) -> Done {
    deadline::begin_to_tell();
    outcome.warnings.iter().for_each(|warning| remark!("warning: {warning}"));
    let task = &task.decided(outcome);
    let (name, replay) = (task.input.name(), task.replay_command(outcome.replays));
    let told = tell_now(&report(outcome, &name, &replay, task), output);
    if output.is_told() {
        show(&printed(outcome.printed.as_deref().unwrap_or_default()));
        if let Some(path) = &outcome.saved {
            // The last line, to be copied.
            show(&format!(" Resume: {}\n", task.resume_command(outcome.engine, path)));
        }
    }
    // A verdict is told all the same.
    let unwritten = outcome.unwritten.iter().map(|text| Failure::input(text.clone()));
    let unwritten: Vec<Failure> = unwritten.collect();
    match told {
        Ok(status) if unwritten.is_empty() => Ok(status),
        Ok(_) => Err(unwritten),
        Err(mut failures) => {
            failures.extend(unwritten);
            Err(failures)
        }
    }
}

/// Tells it at once.
pub(crate) fn tell_now(report: &Report<'_>, output: &Output) -> Done {
    if let Verdict::Violated(found) = report.verdict
        && found.violation.kind == ViolationKind::Unsupported
    {
        let text = format!("{}: this engine cannot do that", found.violation.message);
        return Err(Failure::input(text).into());
    }
    let style = style();
    if output.is_told() {
        show(&text::verdict(report, &style));
        first_try::next(report.name).iter().for_each(|lines| show(&format!("\n{lines}")));
    } else if !output.is_json_alone() {
        show(&format!("{}\n", text::one_line(report, &style)));
    }
    annotate(report, output);
    output.verdict(report);
    output.write(std::slice::from_ref(report), &[])?;
    Ok(report.verdict.into())
}

/// Marks the place of a violation in the pull request, where GitHub's runner reads along.
pub(crate) fn annotate(report: &Report<'_>, output: &Output) {
    if std::env::var_os("GITHUB_ACTIONS").is_some_and(|value| value == "true")
        && !output.is_json_alone()
        && let Some(line) = annotations::render(report)
    {
        show(&format!("{line}\n"));
    }
}

/// Says what is wrong, all of it; the exit status is that of the worst.
pub(crate) fn complain(failures: &[Failure]) -> ExitStatus {
    let is_coloured = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    for failure in failures {
        match &failure.source {
            Some(fault) => remark!("{}\n", fault.render(is_coloured)),
            None => {
                remark!("error: {}", failure.message);
                failure.help.iter().for_each(|help| remark!("help: {help}"));
            }
        }
    }
    failures.iter().map(status_of).max().unwrap_or(ExitStatus::Defect)
}

/// What a terminal sees of a check while it goes on.
pub(crate) struct Screen<'a> {
    engine: &'static dyn Engine,
    name: String,
    output: &'a Output,
    time_limit: Option<Duration>,
    /// What stands before that which is proved on the way, where there are several checks.
    before: Option<String>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    display: Option<Display>,
    is_announced: bool,
    deadline: Option<Deadline>,
}

impl<'a> Screen<'a> {
    pub(crate) fn new(task: &Task, engine: &'static dyn Engine, output: &'a Output) -> Self {
        let display = (!output.quiet).then(|| Display::new(style()));
        let state = Mutex::new(State { display, ..State::default() });
        let (name, time_limit) = (task.input.name(), task.options.time_limit);
        Self { engine, name, output, time_limit, before: None, state }
    }

    /// The same for one of several checks, which are announced by others, and may go on beside it.
    pub(crate) fn among_others(mut self, is_alone: bool) -> Self {
        if !is_alone {
            let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
            state.display = state.display.take().map(|_| Display::silent(style()));
        }
        self.before = Some(format!("{}: ", self.name));
        self
    }

    /// The search begins: its name is told, and its time counts anew. A program under test is looked
    /// at by others.
    fn begin(&self, state: &mut State) {
        if std::mem::replace(&mut state.is_announced, true) {
            return;
        }
        if self.before.is_none() {
            announce(&self.name, self.output);
        }
        self.watch(state, self.time_limit);
    }

    /// From now on its time counts, and an interrupt.
    fn watch(&self, state: &mut State, limit: Option<Duration>) {
        if !self.engine.supports().features.contains(&Feature::Processes) {
            let (name, engine) = (&self.name, self.engine.name());
            // One of an earlier phase is over.
            state.deadline = None;
            state.deadline = Some(Deadline::start(name, engine, limit, self.output));
        }
    }
}

impl Listener for Screen<'_> {
    fn event(&self, event: &Event) {
        self.output.event(&self.name, event);
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            Event::Phase(Phase::Translating) => self.watch(&mut state, self.time_limit),
            Event::Phase(Phase::Searching | Phase::Proving) => self.begin(&mut state),
            Event::Phase(Phase::Replaying) => {
                self.watch(&mut state, None);
                say(Colour::Doing, "Replaying", &self.name);
            }
            Event::Progress(now) => {
                state.display.iter_mut().for_each(|display| display.progress(now));
            }
            Event::Gauged(now) => {
                state.display.iter_mut().for_each(|display| display.gauged(now));
            }
            Event::Proved(coverage) if self.output.is_told() => {
                let before = self.before.as_deref().unwrap_or_default();
                state.display.iter().for_each(|it| it.proved(before, &coverage.to_string()));
            }
            Event::OutOfMemory { limit } => {
                let failures = [out_of_memory("the search", *limit)];
                self.output.failed(&self.name, self.engine.name(), &failures);
                let status = complain(&failures);
                std::process::exit(status.code().into());
            }
            _ => {}
        }
    }
}

/// What is known of a check that was ended before it could tell anything.
pub(crate) fn tell_limit(name: &str, engine: &str, limit: Limit, time: Duration, output: &Output) {
    let (verdict, statistics) = (Verdict::Inconclusive(limit), Default::default());
    let mut report = Report::new(name, engine, &verdict, &statistics, time);
    report.notes.push("the engine was ended before it could tell how far it was".to_owned());
    let told = tell_now(&report, output);
    let told = told.and_then(|status| all_shown().map(|()| status).map_err(Into::into));
    let status = told.unwrap_or_else(|failures| complain(&failures));
    std::process::exit(status.code().into());
}

/// Shows one line that begins with a word in colour.
pub(crate) fn say(colour: Colour, word: &str, text: &str) {
    let mut page = Page::new(style());
    page.headline(colour, word, text, "");
    show(&page.into_text());
}

/// In colour if standard output is a terminal and `NO_COLOR` does not object, or if
/// `CLICOLOR_FORCE` asks for it; as wide as the terminal is.
pub(crate) fn style() -> Style {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let columns = std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok());
    let terminal = || terminal_size::terminal_size_of(std::io::stdout());
    let width = columns.or_else(|| terminal().map(|(width, _)| usize::from(width.0)));
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find(|name| is_set(name));
    let locale = locale.and_then(|name| std::env::var(name).ok()).unwrap_or_default();
    let locale = locale.to_ascii_lowercase();
    let is_unicode = locale.is_empty() || locale.contains("utf-8") || locale.contains("utf8");
    Style::new()
        .width(width.filter(|&width| width > 0).unwrap_or(80))
        .colour(is_set("CLICOLOR_FORCE") || std::io::stdout().is_terminal() && !is_set("NO_COLOR"))
        .ascii(!is_unicode)
}

/// Writes what was asked for, and says so if that cannot be done. A reader that closes the pipe has
/// seen enough: that is no error.
pub(crate) fn write(text: &str) -> Result<(), Failure> {
    let mut stdout = std::io::stdout();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::input(format!("the standard output cannot be written: {error}")))
        }
        _ => Ok(()),
    }
}

/// Why something that was to be shown was lost, if it was.
static LOST: Mutex<Option<Failure>> = Mutex::new(None);

/// Writes a text at once. If that cannot be done, the command says so in the end.
pub(crate) fn show(text: &str) {
    if let Err(failure) = write(text) {
        LOST.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(failure);
    }
}

/// Whether everything was shown: a verdict that could not be read must not pass for one.
pub(crate) fn all_shown() -> Result<(), Failure> {
    let lost = LOST.lock().unwrap_or_else(PoisonError::into_inner).take();
    lost.map_or(Ok(()), Err)
}
