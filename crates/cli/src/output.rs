//! Where the result goes: the formats, each a row of a table, and the files that were named for
//! them.
//!
//! To add a format: a file in `mazurka-report`, and a row here. `--help` and the manual have it by
//! that.

use crate::Failure;
use crate::tell::write;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use mazurka_core::{Event, Verdict};
use mazurka_report::{
    NotChecked, Report, events, graphviz, html, json, junit, lcov, mermaid, sarif, shiviz, witness,
};
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Instant, SystemTime};

/// A form in which results can be written.
struct Format {
    /// Its flag.
    name: &'static str,
    help: &'static str,
    /// Whether `--help` has it.
    is_common: bool,
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
        render: |reports, others| {
            let reports = reports.iter().map(json::render);
            reports.chain(others.iter().map(json::not_checked)).map(|it| it + "\n").collect()
        },
    },
    Format {
        name: "html",
        help: "Write the result as a page, of a violation with its space-time diagram",
        is_common: true,
        render: |reports, _| most_telling(reports).map_or(String::new(), html::render),
    },
    Format {
        name: "junit",
        help: "Write the result as JUnit's XML, for CI",
        is_common: false,
        render: |reports, others| junit::render_run("mazurka", reports, others),
    },
    Format {
        name: "sarif",
        help: "Write violations as SARIF, for code review",
        is_common: false,
        render: |reports, _| sarif::render(reports),
    },
    Format {
        name: LCOV,
        help: "Write which lines executions have reached, for genhtml and editors",
        is_common: false,
        render: |reports, _| lcov::render(reports),
    },
    Format {
        name: "shiviz",
        help: "Write the execution of a violation for ShiViz",
        is_common: false,
        render: |reports, _| most_telling(reports).map_or(String::new(), shiviz::render),
    },
    Format {
        name: "mermaid",
        help: "Write the execution of a violation as a sequence diagram of Mermaid",
        is_common: false,
        render: |reports, _| most_telling(reports).map_or(String::new(), mermaid::render),
    },
    Format {
        name: "graphviz",
        help: "Write the execution of a violation as a graph for Graphviz",
        is_common: false,
        render: |reports, _| most_telling(reports).map_or(String::new(), graphviz::render),
    },
    Format {
        name: "witness",
        help: "Write the execution of a violation of a C program as a witness of SV-COMP, 2.2",
        is_common: false,
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
    events: Option<Arc<Mutex<Events>>>,
}

/// A file that events go to.
struct Events {
    file: File,
    begun: Instant,
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
        Self { quiet, files: Vec::new(), events: self.events.clone() }
    }

    /// Writes an event.
    pub(crate) fn event(&self, event: &Event) {
        self.line(|begun| {
            let memory = mazurka_check::memory::resident(std::process::id());
            events::line(event, begun.elapsed(), memory)
        });
    }

    /// Writes what came of a check behind its events.
    pub(crate) fn verdict(&self, report: &Report<'_>) {
        self.line(|begun| Some(events::verdict(report.verdict, report.engine, begun.elapsed())));
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
        let Some(events) = &self.events else { return };
        let mut events = events.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(line) = line(events.begun) {
            // What is told on the way is no reason to lose a verdict.
            let _ = writeln!(events.file, "{line}");
        }
    }

    /// Writes all files that were asked for.
    pub(crate) fn write(
        &self,
        reports: &[Report<'_>],
        others: &[NotChecked],
    ) -> Result<(), Failure> {
        for (name, path) in &self.files {
            let format = FORMATS.iter().find(|it| it.name == *name).expect("it is in the table");
            let text = (format.render)(reports, others);
            if path == Path::new("-") {
                write(&text)?;
            } else if let Err(error) = std::fs::write(path, text) {
                return Err(cannot_write(path, &error));
            }
        }
        Ok(())
    }
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
        let opened = matches.get_one::<String>("events").map(|path| {
            File::create(path).map_err(|error| {
                let text = cannot_write(Path::new(path), &error).message;
                clap::Error::raw(clap::error::ErrorKind::Io, format!("{text}\n"))
            })
        });
        let events = opened.transpose()?.map(|file| Events { file, begun: Instant::now() });
        Ok(Self {
            files: files.collect(),
            quiet: matches.get_flag("quiet"),
            events: events.map(|events| Arc::new(Mutex::new(events))),
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
