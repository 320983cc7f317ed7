//! Promela files: what they are as models, and what is wrong with them.

use crate::arguments::{Build, Format, Output, Search, Storing, Temporal};
use crate::{Done, Failure, interrupt, show, statespace, style, tell, temporal};
use mazurka_core::{Coverage, Statistics, Told, Verdict};
use mazurka_model::{Expr, Program};
use mazurka_promela::{Asked, Model, Options};
use mazurka_report::{ExitStatus, Report, text};
use mazurka_statespace::{Described, Machine, MachineError, Outcome, search as search_states};
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// More unreached statements than people want to read.
const MOST_UNREACHED: usize = 12;

/// What is looked for in all states.
const STATES: &str = "assertions and ends";

/// Whether one of these files is a model.
pub(crate) fn is_among(files: &[PathBuf]) -> bool {
    files.iter().any(|file| is_model(file))
}

fn is_model(file: &Path) -> bool {
    file.extension().is_some_and(|it| it == "pml" || it == "prom" || it == "promela")
}

/// The model, which has to be alone.
pub(crate) fn file(files: &[PathBuf]) -> Result<&Path, Failure> {
    match files {
        [file] => Ok(file),
        _ => {
            let text = "a model is one file, and does not go with others";
            Err(Failure::input(text).help("`#include` the others in it"))
        }
    }
}

/// Searches all states of a model for failed assertions and wrong ends, and for executions that violate
/// what it says of those that never end; or for what is asked.
pub(crate) fn check(
    file: &Path,
    build: &Build,
    jobs: usize,
    storing: &Storing,
    temporal: &Temporal,
    search: &Search,
    output: &Output,
) -> Done {
    let name = file.to_string_lossy();
    let is_json_alone = output.json.as_deref() == Some(Path::new("-"));
    let mut options = search.stored(storing, jobs)?;
    temporal.add_to(&mut options);
    let (asked, automaton) = temporal::asked(temporal)?;
    let model = translate(file, build, asked)?;
    let has_ltl = temporal.is_asked() || search.conduct.has_ltl();
    let wanted = temporal::wanted(&model, temporal, automaton)?;
    let wanted = if has_ltl { wanted } else { Vec::new() };
    let machine = machine(&model.program, &[])?;
    if !is_json_alone && !output.quiet {
        show(&text::checking(&name, 0, &style()));
    }
    options.stop = Some(interrupt::flag());
    let start = Instant::now();
    let mut results = Results::default();
    if !temporal.is_asked() {
        let outcome = search_states(&machine, &options).map_err(|errors| {
            errors.iter().map(|error| Failure::input(error.to_string())).collect::<Vec<_>>()
        })?;
        results.add(STATES, outcome);
    }
    let cycle_options = match temporal.is_asked() {
        // Several jobs are for several properties.
        true => temporal::one_job(&options),
        false => temporal::plain(&options),
    };
    if results.is_open() {
        let checked = temporal::check(&model.program, &wanted, &cycle_options, options.jobs);
        for (wanted, outcome) in wanted.iter().zip(checked) {
            results.add(&wanted.name, outcome?);
        }
    } else {
        results.skipped = wanted.iter().map(|wanted| wanted.name.clone()).collect();
    }
    let told = results.conclude(jobs);
    let mut report =
        Report::new(&name, "statespace", &told.verdict, &told.statistics, start.elapsed());
    let replay = format!("{} --schedule", temporal::again(temporal, build, file));
    report.replay_with = Some(&replay);
    report.loop_start = told.loop_start;
    report.options = statespace::in_force(&options);
    report.notes = told.notes;
    tell(&report, output)
}

/// What came of everything that was looked for.
#[derive(Default)]
struct Results {
    /// Each by its name.
    all: Vec<(String, Outcome)>,
    /// What was not looked for, since something else went wrong before.
    skipped: Vec<String>,
}

/// What there is to tell.
struct Conclusion {
    verdict: Verdict,
    statistics: Statistics,
    loop_start: Option<usize>,
    notes: Vec<String>,
}

impl Results {
    fn add(&mut self, name: &str, outcome: Outcome) {
        self.all.push((name.to_owned(), outcome));
    }

    /// Whether nothing went wrong so far.
    fn is_open(&self) -> bool {
        self.all.iter().all(|(_, outcome)| matches!(outcome.verdict, Verdict::Holds(_)))
    }

    /// The first violation, or else the first limit, or else everything that was proved.
    fn conclude(self, jobs: usize) -> Conclusion {
        let mut statistics = Statistics::default();
        self.all.iter().for_each(|(_, outcome)| statistics.add(&outcome.statistics));
        let is_violated = |(_, it): &(String, Outcome)| matches!(it.verdict, Verdict::Violated(_));
        let is_cut = |(_, it): &(String, Outcome)| matches!(it.verdict, Verdict::Inconclusive(_));
        let decisive = self.all.iter().position(is_violated);
        let decisive = decisive.or_else(|| self.all.iter().position(is_cut));
        let mut notes = Vec::new();
        let (verdict, loop_start) = match decisive {
            Some(idx) => {
                let (_, outcome) = &self.all[idx];
                notes.extend(outcome.notes.iter().cloned());
                notes.extend(outcome.stuck.iter().map(waiting));
                (outcome.verdict.clone(), outcome.loop_start)
            }
            None => (self.proved(), None),
        };
        for (idx, (name, outcome)) in self.all.iter().enumerate() {
            match decisive {
                Some(one) if one == idx => notes.push(size(outcome)),
                _ => notes.extend(self.note(name, outcome)),
            }
            if decisive.is_none() {
                notes.extend(unreached(&outcome.unreached));
            }
        }
        if !self.skipped.is_empty() {
            notes.push(format!("not looked at, because of this: {}", self.skipped.join(", ")));
        }
        if jobs > 1 && self.all.iter().any(|(name, _)| name != STATES) {
            notes.push("a temporal property is searched by one job".to_owned());
        }
        Conclusion { verdict, statistics, loop_start, notes }
    }

    /// What holds, of all that was looked for.
    fn proved(&self) -> Verdict {
        let coverages = self.all.iter().filter_map(|(_, outcome)| match &outcome.verdict {
            Verdict::Holds(coverage) => Some(coverage.clone()),
            _ => None,
        });
        let all = coverages.reduce(Coverage::and);
        Verdict::Holds(all.expect("something is always looked for"))
    }

    /// What there is to say of one of the results that is not the verdict.
    fn note(&self, name: &str, outcome: &Outcome) -> Vec<String> {
        let verdict = match outcome.verdict {
            Verdict::Holds(_) => "no violation",
            Verdict::Violated(_) => "violated, too",
            _ => "unverified, too",
        };
        let mut notes = match self.all.len() {
            1 => vec![size(outcome)],
            _ => vec![format!("{name}: {verdict}; {}", size(outcome))],
        };
        if let Verdict::Holds(_) = outcome.verdict {
            let prefix = if self.all.len() == 1 { String::new() } else { format!("{name}: ") };
            notes.extend(outcome.notes.iter().map(|note| format!("{prefix}{note}")));
        }
        notes
    }
}

/// How much was searched.
fn size(outcome: &Outcome) -> String {
    let (states, steps) = (outcome.statistics.states, outcome.statistics.transitions);
    format!("{states} states and {steps} steps between them")
}

/// Who waits in the end, and for what.
fn waiting(told: &Told) -> String {
    let place = told.location.as_ref().map_or(String::new(), |place| format!(" ({place})"));
    format!("{} waits for `{}`{place}", told.thread, told.operation)
}

/// The statements that no execution comes to.
fn unreached(edges: &[Described]) -> Vec<String> {
    let mut lines: Vec<String> = edges
        .iter()
        .map(|edge| {
            let place = edge.location.as_ref().map_or(String::new(), |it| format!("{it}: "));
            format!("never reached: {place}{}", edge.text)
        })
        .collect();
    lines.dedup();
    let n_more = lines.len().saturating_sub(MOST_UNREACHED);
    lines.truncate(MOST_UNREACHED);
    if n_more > 0 {
        lines.push(format!("and {n_more} more that are never reached"));
    }
    lines
}

/// Shows a model.
pub(crate) fn model(file: &Path, build: &Build, format: Format) -> Done {
    let model = translate(file, build, Asked::default())?;
    show(&match format {
        Format::Text => mazurka_model::text(&model.program),
        Format::Dot => mazurka_model::dot(&model.program),
    });
    Ok(ExitStatus::Holds)
}

/// The model that a file is, with what is asked of it.
pub(crate) fn translate(file: &Path, build: &Build, asked: Asked) -> Result<Model, Vec<Failure>> {
    let options = Options { flags: build.flags(), asked, ..Options::default() };
    let is_coloured = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    mazurka_promela::translate(file, &options).map_err(|faults| {
        let shown = faults.iter().map(|fault| Failure {
            is_rendered: true,
            ..Failure::input(format!("{}\n", fault.render(is_coloured)))
        });
        shown.collect()
    })
}

/// A machine that runs a model, and can tell whether propositions hold.
pub(crate) fn machine(program: &Program, propositions: &[Expr]) -> Result<Machine, Vec<Failure>> {
    let place = |MachineError { what, span }: MachineError| {
        let file = program.files.get(span.file.0 as usize).map_or("", String::as_str);
        Failure::input(format!("{file}:{}:{}: {what} cannot be stored", span.line, span.column))
    };
    let machine = Machine::watching(program, propositions);
    machine.map_err(|errors| errors.into_iter().map(place).collect())
}
