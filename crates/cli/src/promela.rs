//! Promela files: what they are as models, and what is wrong with them.

use crate::arguments::{Build, Format, Output, Search, Storing, Temporal};
use crate::deadline::{self, Deadline};
use crate::results::Results;
use crate::temporal::Wanted;
use crate::{Done, Failure, announce, interrupt, show, statespace, tell, temporal};
use mazurka_core::{Limit, Verdict};
use mazurka_model::{Expr, Program};
use mazurka_promela::{Asked, Model, Options};
use mazurka_report::{ExitStatus, Report};
use mazurka_statespace::{
    Machine, MachineError, Options as Stored, Outcome, search as search_states,
};
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

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
    let mut options = search.stored(storing, jobs)?;
    temporal.add_to(&mut options);
    let (asked, automaton) = temporal::asked(temporal)?;
    let model = translate(file, build, asked)?;
    let has_ltl = temporal.is_asked() || search.conduct.has_ltl();
    let wanted = temporal::wanted(&model, temporal, automaton)?;
    let mut wanted = if has_ltl { wanted } else { Vec::new() };
    if search.conduct.asks_for_livelock() {
        wanted.push(temporal::progress());
    }
    let mut machine = machine(&model.program, &[])?;
    if search.conduct.asks_for_truncation() {
        machine = machine.finding_truncation();
    }
    announce(&name, output);
    options.stop = Some(interrupt::flag());
    let start = Instant::now();
    let _deadline = Deadline::start(
        &name,
        "statespace",
        deadline::for_all(options.time, 1 + wanted.len()),
        output,
    );
    let searches = Searches {
        model: &model,
        machine: &machine,
        has_states: !temporal.is_asked(),
        wanted: &wanted,
        // Several jobs are for several properties.
        cycle_options: match temporal.is_asked() {
            true => temporal::one_job(&options),
            false => temporal::plain(&options),
        },
        options: &options,
        start,
    };
    let results = searches.run()?;
    let told = results.conclude(jobs);
    let mut report =
        Report::new(&name, "statespace", &told.verdict, &told.statistics, start.elapsed());
    let replay = crate::replay_command(&[file.to_owned()], build);
    let replay = format!("{} --schedule", temporal::again(temporal, replay));
    report.replay_with = Some(&replay);
    report.loop_start = told.loop_start;
    report.options = statespace::in_force(&options);
    report.notes = told.notes;
    report.tips.extend(statespace::tip(&told.verdict, &options));
    if let (Some(file), Verdict::Violated(found)) = (&storing.trail, &told.verdict) {
        let property = wanted.iter().find(|it| Some(&it.name) == told.property.as_ref());
        let trail = property.and_then(|it| it.trail(&model.program, &found.schedule));
        let plain = || machine.trail(&found.schedule, told.loop_start);
        write_trail(file, trail.or_else(plain))?;
        let told = format!("`{}` has it as a trail: `spin -t -k` follows it", file.display());
        report.notes.push(told);
    }
    tell(&report, output)
}

/// All that is looked for in a model.
struct Searches<'a> {
    model: &'a Model,
    machine: &'a Machine,
    /// Whether assertions and ends are among it.
    has_states: bool,
    wanted: &'a [Wanted],
    options: &'a Stored,
    /// For what is temporal.
    cycle_options: Stored,
    start: Instant,
}

/// How many states the first round of searches may see.
const FIRST_ROUND: usize = 1 << 14;

/// How many times more the next one.
const NEXT_ROUND: usize = 8;

impl Searches<'_> {
    /// Searches all states, then for violations of what is a safety property, at least in part,
    /// then for those of the other properties. The first two take turns, in rounds that see more
    /// and more states: either may be endless where the other one finds a violation at once.
    fn run(&self) -> Result<Results, Vec<Failure>> {
        let mut results = Results::default();
        let (safety, others): (Vec<usize>, Vec<usize>) =
            (0..self.wanted.len()).partition(|&idx| self.wanted[idx].has_safety());
        let mut outcomes: Vec<Option<Outcome>> = self.wanted.iter().map(|_| None).collect();
        let mut states = None;
        let mut round =
            (!safety.is_empty() && self.options.states.is_none()).then_some(FIRST_ROUND);
        loop {
            if self.has_states && states.is_none() {
                states = Some(self.search_states(round)?);
            }
            let is_fine = states.as_ref().is_none_or(|it| goes_on(it, round));
            let open = safety.iter().copied().filter(|&idx| is_fine && outcomes[idx].is_none());
            self.search_cycles(&open.collect::<Vec<_>>(), round, &mut outcomes)?;
            let done = || states.iter().chain(outcomes.iter().flatten());
            if !done().any(|it| is_cut(it, round)) || done().any(|it| !goes_on(it, round)) {
                break;
            }
            // What was cut short is done again.
            states = states.filter(|it| !is_cut(it, round));
            outcomes.iter_mut().for_each(|it| *it = it.take().filter(|it| !is_cut(it, round)));
            round = round.and_then(|round| round.checked_mul(NEXT_ROUND));
        }
        let is_holding = |it: &Outcome| matches!(it.verdict, Verdict::Holds(_));
        // Behind a violation the others get as many states as it has taken.
        let found = safety.iter().filter_map(|&idx| outcomes[idx].as_ref()).any(is_violated);
        let is_open = states.as_ref().is_none_or(|it| is_holding(it) || found);
        if is_open {
            self.search_cycles(&others, round.filter(|_| found), &mut outcomes)?;
        }
        match states.filter(|it| !is_cut(it, round)) {
            Some(states) => results.add_states(states),
            None if self.has_states => results.skip_states(),
            None => {}
        }
        for (wanted, outcome) in self.wanted.iter().zip(outcomes) {
            match outcome.filter(|it| !(found && is_cut(it, round))) {
                Some(outcome) => results.add(&wanted.name, outcome),
                None => results.skipped.push(wanted.name.clone()),
            }
        }
        Ok(results)
    }

    fn search_states(&self, round: Option<usize>) -> Result<Outcome, Vec<Failure>> {
        let outcome = search_states(self.machine, &self.limited(self.options, round));
        outcome.map(|it| self.told(it)).map_err(|errors| {
            errors.iter().map(|error| Failure::input(error.to_string())).collect::<Vec<_>>()
        })
    }

    /// The options for one round. All rounds share the time.
    fn limited(&self, options: &Stored, round: Option<usize>) -> Stored {
        let mut limited = options.clone();
        if round.is_some() {
            limited.states = round;
            limited.time = options.time.map(|limit| limit.saturating_sub(self.start.elapsed()));
        }
        limited
    }

    /// An outcome with the limit that was asked for, not what was left of it.
    fn told(&self, mut outcome: Outcome) -> Outcome {
        if let (Verdict::Inconclusive(Limit::Time(limit)), Some(time)) =
            (&mut outcome.verdict, self.options.time)
        {
            *limit = time;
        }
        outcome
    }

    fn search_cycles(
        &self,
        which: &[usize],
        round: Option<usize>,
        outcomes: &mut [Option<Outcome>],
    ) -> Result<(), Vec<Failure>> {
        let make = |propositions: &[Expr]| self::machine(&self.model.program, propositions);
        let wanted: Vec<&Wanted> = which.iter().map(|&idx| &self.wanted[idx]).collect();
        let options = self.limited(&self.cycle_options, round);
        let checked = temporal::check(make, &wanted, &options, self.options.jobs);
        for (&idx, outcome) in which.iter().zip(checked) {
            outcomes[idx] = Some(self.told(outcome?));
        }
        Ok(())
    }
}

/// Whether a search was stopped by nothing but its round.
fn is_cut(outcome: &Outcome, round: Option<usize>) -> bool {
    let Some(round) = round else { return false };
    matches!(outcome.verdict, Verdict::Inconclusive(Limit::States(limit)) if limit == round)
}

/// Whether a search leaves others something to do.
fn goes_on(outcome: &Outcome, round: Option<usize>) -> bool {
    matches!(outcome.verdict, Verdict::Holds(_)) || is_cut(outcome, round)
}

fn is_violated(outcome: &Outcome) -> bool {
    matches!(outcome.verdict, Verdict::Violated(_))
}

/// Writes an execution down.
fn write_trail(file: &Path, trail: Option<String>) -> Result<(), Failure> {
    let Some(trail) = trail else {
        let text = "SPIN has no number for one of the steps, so there is no trail of it";
        return Err(Failure::input(text));
    };
    std::fs::write(file, trail)
        .map_err(|error| Failure::input(format!("`{}` cannot be written: {error}", file.display())))
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
    let options = Options { flags: build.flags(), asked };
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
