//! Where the result goes: the formats, each a row of a table, and the files that were named for
//! them.
//!
//! To add a format: a file in `mazurka-report`, and a row here. `--help` and the manual have it by
//! that.

mod places;

use crate::Failure;
use crate::tell::write;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use mazurka_check::{FaultKind, Task};
use mazurka_core::{Event, Limit, Verdict};
use mazurka_report::{
    NotChecked, Report, events, graphviz, html, json, junit, lcov, mermaid, sarif, shiviz, witness,
};
use places::Place;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant, SystemTime};

/// A form in which results can be written.
struct Format {
    /// Its flag.
    name: &'static str,
    help: &'static str,
    /// Whether `--help` has it.
    is_common: bool,
    /// Whether it has a word for a check without a verdict.
    tells_errors: bool,
    /// Makes it of all verdicts, and of what has none.
    render: fn(&[Report<'_>], &[NotChecked]) -> String,
}

/// What may be written to standard output, alone.
const JSON: &str = "json";
/// What needs to know which lines were reached.
const LCOV: &str = "lcov";

static FORMATS: &[Format] = &[
    Format {
        name: JSON,
        help: "Write the result as JSON; to `-`, and nothing else is printed on standard output",
        is_common: true,
        tells_errors: true,
        render: |reports, others| {
            let reports = reports.iter().map(json::render);
            reports.chain(others.iter().map(json::not_checked)).map(|it| it + "\n").collect()
        },
    },
    Format {
        name: "html",
        help: "Write the result as a page, of a violation with its space-time diagram",
        is_common: true,
        tells_errors: false,
        render: |reports, _| most_telling(reports).map_or(String::new(), html::render),
    },
    Format {
        name: "junit",
        help: "Write the result as JUnit's XML, for CI",
        is_common: false,
        tells_errors: true,
        render: |reports, others| junit::render_run("mazurka", reports, others),
    },
    Format {
        name: "sarif",
        help: "Write violations as SARIF, for code review",
        is_common: false,
        tells_errors: false,
        render: |reports, _| sarif::render(reports),
    },
    Format {
        name: LCOV,
        help: "Write which lines executions have reached, for genhtml and editors",
        is_common: false,
        tells_errors: false,
        render: |reports, _| lcov::render(reports),
    },
    Format {
        name: "shiviz",
        help: "Write the execution of a violation for ShiViz",
        is_common: false,
        tells_errors: false,
        render: |reports, _| most_telling(reports).map_or(String::new(), shiviz::render),
    },
    Format {
        name: "mermaid",
        help: "Write the execution of a violation as a sequence diagram of Mermaid",
        is_common: false,
        tells_errors: false,
        render: |reports, _| most_telling(reports).map_or(String::new(), mermaid::render),
    },
    Format {
        name: "graphviz",
        help: "Write the execution of a violation as a graph for Graphviz",
        is_common: false,
        tells_errors: false,
        render: |reports, _| most_telling(reports).map_or(String::new(), graphviz::render),
    },
    Format {
        name: "witness",
        help: "Write the execution of a violation of a C program as a witness of SV-COMP, 2.2",
        is_common: false,
        tells_errors: false,
        render: |reports, _| {
            let render = |report: &Report<'_>| witness::render(report, SystemTime::now());
            most_telling(reports).map_or(String::new(), render)
        },
    },
];

/// The first violation, or else the first of all.
fn most_telling<'a, 'b>(reports: &'a [Report<'b>]) -> Option<&'a Report<'b>> {
    let is_violated = |it: &&Report<'_>| matches!(it.verdict, Verdict::Violated(_));
    reports.iter().find(is_violated).or(reports.first())
}

/// Where the result goes.
#[derive(Clone, Default)]
pub(crate) struct Output {
    files: Vec<(&'static str, PathBuf)>,
    /// Whether the verdict is printed on one line.
    pub(crate) quiet: bool,
    /// Where events are to go, and where they go once that has been looked at.
    events_path: Option<PathBuf>,
    events: Arc<OnceLock<Mutex<Events>>>,
    state: Arc<State>,
}

/// What has become of the files.
#[derive(Default)]
struct State {
    /// They can be written, and nothing is lost by that.
    are_fine: AtomicBool,
    /// It was begun to write them.
    are_written: AtomicBool,
}

/// A file that events go to.
struct Events {
    file: File,
    begun: Instant,
    /// Why a line could not be written, if one could not.
    failure: Option<io::Error>,
}

impl Output {
    /// Without a reader: one line.
    pub(crate) fn quiet() -> Self {
        Self { quiet: true, ..Self::default() }
    }

    /// Whether nothing but JSON goes to standard output.
    pub(crate) fn is_json_alone(&self) -> bool {
        self.files.iter().any(|(name, path)| *name == JSON && path == Path::new("-"))
    }

    /// Whether it has to be known which lines were reached.
    pub(crate) fn needs_lines(&self) -> bool {
        self.files.iter().any(|(name, _)| *name == LCOV)
    }

    /// Whether everything is told to people.
    pub(crate) fn is_told(&self) -> bool {
        !self.is_json_alone() && !self.quiet
    }

    /// The same without files.
    pub(crate) fn on_screen(&self) -> Self {
        let quiet = !self.is_told();
        Self { quiet, files: Vec::new(), ..self.clone() }
    }

    /// Looks at all files that are to be written before anything is: what is wrong with their
    /// places, beside the files of a task. If nothing is, the one of events is opened.
    pub(crate) fn begin(&self, task: &Task) -> Vec<Failure> {
        let options = &task.options;
        let named = self.files.iter().filter(|(_, path)| path != Path::new("-"));
        let mut places: Vec<Place> =
            named.map(|(name, path)| Place::new(name, path.clone())).collect();
        let events = self.events_path.iter().filter(|_| self.events.get().is_none());
        places.extend(events.map(|path| Place::new("events", path.clone())));
        if let Some(path) = &options.proof {
            places.push(Place::new("proof", path.clone()));
            let mut beside = path.as_os_str().to_owned();
            beside.push(".cnf");
            places.push(Place::new("proof", beside.into()));
        }
        places.extend(options.trail.iter().map(|path| Place::new("trail", path.clone())));
        let mut sources: Vec<(&str, &Path)> = Vec::new();
        sources.extend(task.input.files().iter().map(|file| ("the program", &**file)));
        sources.extend(options.resume.iter().map(|file| ("the saved search", &**file)));
        sources.extend(options.automaton.iter().map(|file| ("the automaton", Path::new(file))));
        sources.extend(options.save.iter().map(|file| ("the search that is saved", &**file)));
        let failures = places::faults(&places, &sources);
        if failures.is_empty() {
            self.state.are_fine.store(true, Ordering::Relaxed);
            if let Some(path) = self.events_path.as_ref().filter(|_| self.events.get().is_none()) {
                let file = match File::create(path) {
                    Ok(file) => file,
                    Err(error) => return vec![cannot_write(path, &error)],
                };
                let events = Events { file, begun: Instant::now(), failure: None };
                let _ = self.events.set(Mutex::new(events));
            }
        }
        failures
    }

    /// Writes an event of a check.
    pub(crate) fn event(&self, name: &str, event: &Event) {
        self.line(|begun| {
            let memory = mazurka_check::memory::resident(std::process::id());
            events::line(name, event, begun.elapsed(), memory)
        });
    }

    /// Writes what came of a check behind its events.
    pub(crate) fn verdict(&self, report: &Report<'_>) {
        let Report { name, verdict, engine, .. } = report;
        self.line(|begun| Some(events::verdict(name, verdict, engine, begun.elapsed())));
    }

    /// Writes that a check has no verdict, behind its events.
    pub(crate) fn error(&self, name: &str, reason: &str) {
        self.line(|begun| Some(events::error(name, reason, begun.elapsed())));
    }

    /// Writes a line of JSON of another kind.
    #[cfg(all(feature = "fleet", target_os = "linux"))]
    pub(crate) fn other_event(&self, event: impl FnOnce(std::time::Duration) -> serde_json::Value) {
        self.line(|begun| Some(event(begun.elapsed()).to_string()));
    }

    /// The file that a format goes to, if one was named.
    #[cfg(all(feature = "fleet", target_os = "linux"))]
    pub(crate) fn file(&self, format: &str) -> Option<&Path> {
        self.files.iter().find(|(name, _)| *name == format).map(|(_, path)| &**path)
    }

    fn line(&self, line: impl FnOnce(Instant) -> Option<String>) {
        let Some(events) = self.events.get() else { return };
        let mut events = events.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(line) = line(events.begun)
            && let Err(error) = writeln!(events.file, "{line}")
        {
            // What is told on the way is no reason to lose a verdict: it is said in the end.
            events.failure.get_or_insert(error);
        }
    }

    /// Writes all files that were asked for: those that can be, if others cannot.
    pub(crate) fn write(
        &self,
        reports: &[Report<'_>],
        others: &[NotChecked],
    ) -> Result<(), Vec<Failure>> {
        self.write_those(|_| true, reports, others)
    }

    fn write_those(
        &self,
        is_meant: impl Fn(&Format) -> bool,
        reports: &[Report<'_>],
        others: &[NotChecked],
    ) -> Result<(), Vec<Failure>> {
        self.state.are_written.store(true, Ordering::Relaxed);
        let mut failures = Vec::new();
        for (name, path) in &self.files {
            let format = FORMATS.iter().find(|it| it.name == *name).expect("it is in the table");
            if !is_meant(format) {
                continue;
            }
            let text = (format.render)(reports, others);
            failures.extend(match path == Path::new("-") {
                true => write(&text).err(),
                false => std::fs::write(path, text).err().map(|error| cannot_write(path, &error)),
            });
        }
        let events = self.events.get().zip(self.events_path.as_deref());
        failures.extend(events.and_then(|(events, path)| {
            let failure = events.lock().unwrap_or_else(PoisonError::into_inner).failure.take();
            failure.map(|error| cannot_write(path, &error))
        }));
        if failures.is_empty() { Ok(()) } else { Err(failures) }
    }

    /// Writes that a check has no verdict, and why, unless something was written already; or which
    /// limit it has reached, if that is all.
    pub(crate) fn failed(&self, name: &str, engine: &str, failures: &[Failure]) {
        let State { are_fine, are_written } = &*self.state;
        if failures.is_empty()
            || !are_fine.load(Ordering::Relaxed)
            || are_written.load(Ordering::Relaxed)
        {
            return;
        }
        let limits = failures.iter().map(|failure| match &failure.kind {
            FaultKind::Limit(limit) => Some(limit.clone()),
            _ => None,
        });
        let limits: Option<Vec<Limit>> = limits.collect();
        // There is a failure already: that of writing it adds nothing.
        let _ = match limits.and_then(|limits| limits.into_iter().next()) {
            Some(limit) => {
                let (verdict, statistics) = (Verdict::Inconclusive(limit), Default::default());
                let mut report = Report::new(name, engine, &verdict, &statistics, Duration::ZERO);
                report.notes.extend(failures.iter().map(|failure| failure.message.clone()));
                self.verdict(&report);
                self.write(&[report], &[])
            }
            None => {
                let reason = reason(failures);
                self.error(name, &reason);
                let other = NotChecked { name: name.to_owned(), is_error: true, reason };
                self.write_those(|format| format.tells_errors, &[], &[other])
            }
        };
    }
}

/// Why there is no verdict, on one line.
pub(crate) fn reason(failures: &[Failure]) -> String {
    let mut all: Vec<&str> = failures.iter().map(|it| it.message.as_str()).collect();
    all.dedup();
    all.join("; ")
}

impl Output {
    /// Writes a text of JSON where that is asked for; nothing else can show it.
    pub(crate) fn write_json(&self, text: &str, what: &str) -> Result<(), Vec<Failure>> {
        let others = self.files.iter().filter(|(name, _)| *name != JSON);
        let refused = |(name, _): &(&str, PathBuf)| {
            Failure::input(format!("`--{name}` does not go with `{what}`"))
        };
        let failures: Vec<Failure> = others.map(refused).collect();
        if !failures.is_empty() {
            return Err(failures);
        }
        self.state.are_written.store(true, Ordering::Relaxed);
        for (_, path) in &self.files {
            match path == Path::new("-") {
                true => write(text)?,
                false => std::fs::write(path, text).map_err(|error| cannot_write(path, &error))?,
            }
        }
        Ok(())
    }
}

fn cannot_write(path: &Path, error: &std::io::Error) -> Failure {
    Failure::input(format!("`{}` cannot be written: {error}", path.display()))
}

impl std::fmt::Debug for Output {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Output").field("files", &self.files).field("quiet", &self.quiet).finish()
    }
}

const HEADING: &str = "Output";

impl Args for Output {
    fn augment_args(command: Command) -> Command {
        let shows_all = crate::arguments::shows_all();
        let command = FORMATS.iter().fold(command, |command, format| {
            let value = if format.name == JSON { "FILE|-" } else { "FILE" };
            command.arg(
                Arg::new(format.name)
                    .long(format.name)
                    .value_name(value)
                    .help(format.help)
                    .help_heading(HEADING)
                    .hide(!format.is_common && !shows_all),
            )
        });
        let events = Arg::new("events")
            .long("events")
            .value_name("FILE")
            .help("Write what happens on the way as lines of JSON")
            .help_heading(HEADING)
            .hide(!shows_all);
        let quiet = Arg::new("quiet")
            .long("quiet")
            .action(ArgAction::SetTrue)
            .help("Print the verdict on one line")
            .help_heading(HEADING);
        command.arg(events).arg(quiet)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Output {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let files = FORMATS.iter().filter_map(|format| {
            let path = matches.get_one::<String>(format.name)?;
            Some((format.name, PathBuf::from(path)))
        });
        Ok(Self {
            files: files.collect(),
            quiet: matches.get_flag("quiet"),
            events_path: matches.get_one::<String>("events").map(PathBuf::from),
            ..Self::default()
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
