//! `--engine statespace` of Promela models.

use super::statespace::{self, concluded, told};
use super::{Series, shortest};
use crate::engine::Listener;
use crate::options::Property;
use crate::results::Results;
use crate::temporal::{self, Wanted};
use crate::walk::{Walk, is_truncation, violated_for_ever};
use crate::{Ending, Fault, Faults, Outcome, Replay, Shown, Task, translate};
use mazurka_core::{Event, Gauge, Limit, Phase, Schedule, Verdict, Violation, ViolationKind};
use mazurka_model::Expr;
use mazurka_promela::Model;
use mazurka_statespace::{Machine, Options as Stored, Outcome as Searched};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// Searches all states of a model for failed assertions and wrong ends, and for executions that
/// violate what it says of infinite ones; or for what is asked.
pub(super) fn check(
    task: &Task,
    gauge: Arc<Gauge>,
    listener: &dyn Listener,
) -> Result<Outcome, Faults> {
    let asks = &task.options;
    let options = statespace::gauged_options(task, gauge);
    listener.event(&Event::Phase(Phase::Translating));
    let (model, mut wanted) = translated(task)?;
    if !asks.asks_for_temporal() && !asks.looks_for(Property::Ltl) {
        wanted.clear();
    }
    if asks.names(Property::Livelock) {
        wanted.push(temporal::progress(&model.program)?);
    }
    let series = Series::new(task, wanted.len())?;
    let mut machine = translate::machine(&model.program, &[])?;
    if asks.names(Property::Overflow) {
        machine = machine.finding_truncation();
    }
    listener.event(&Event::Phase(Phase::Searching));
    let begun = Instant::now();
    let searches = Searches {
        task,
        model: &model,
        machine: &machine,
        has_states: !asks.asks_for_temporal(),
        wanted: &wanted,
        // Several jobs are for several properties.
        cycle_options: match asks.asks_for_temporal() {
            true => temporal::one_job(&options),
            false => temporal::plain(&options),
        },
        options: &options,
        begun,
        series: &series,
    };
    let conclusion = searches.run()?.conclude(asks.threads());
    let property = conclusion.property.clone();
    let lines = conclusion.lines.clone().filter(|_| asks.show_lines);
    let mut outcome = concluded(task, conclusion, &options, begun);
    outcome.saved = series.finish(&outcome.verdict);
    outcome.lines = lines;
    if let (Some(file), Verdict::Violated(found)) = (&asks.trail, &outcome.verdict) {
        let property = wanted.iter().find(|it| Some(&it.name) == property.as_ref());
        let trail = property.and_then(|it| it.trail(&model.program, &found.schedule));
        let plain = || machine.trail(&found.schedule, outcome.loop_start);
        match write_trail(file, trail.or_else(plain)) {
            Ok(()) => outcome
                .notes
                .push(format!("`{}` has it as a trail: `spin -t -k` follows it", file.display())),
            Err(error) => outcome.unwritten.push(error),
        }
    }
    Ok(outcome)
}

/// The model, and the properties that it is held against.
fn translated(task: &Task) -> Result<(Model, Vec<Wanted>), Faults> {
    let [file] = task.input.files() else { unreachable!("a model is one file") };
    let (asked, automaton) = temporal::asked(&task.options)?;
    let model = translate::promela(file, &task.options, asked)?;
    let wanted = temporal::wanted(&model, &task.options, automaton)?;
    Ok((model, wanted))
}

/// Follows the schedule of one execution. It may be one that goes on for ever and violates a
/// temporal property: of those that are asked for or, if there are none, of the model.
pub(super) fn replay(
    task: &Task,
    schedule: &Schedule,
    listener: &dyn Listener,
) -> Result<Replay, Faults> {
    let (model, wanted) = translated(task)?;
    let machine = translate::machine(&model.program, &[])?;
    listener.event(&Event::Phase(Phase::Replaying));
    let mut walk = Walk::new(machine.finding_truncation());
    let mut steps = Vec::new();
    for (step, &decision) in schedule.decisions().iter().enumerate() {
        let Some(idx) = walk.find(decision) else {
            let text = format!("the schedule cannot be followed beyond step {}", walk.n_steps());
            return Err(Fault::input(text)
                .help("it is for another model, or other options")
                .into());
        };
        let taken = walk.take(idx);
        let note = taken.fault.as_ref().filter(|it| is_truncation(it)).map(|it| it.message.clone());
        steps.push(Shown { number: walk.n_steps(), told: taken.told, note });
        let is_last = step + 1 == schedule.len();
        match taken.fault {
            Some(violation) if is_last || !is_truncation(&violation) => {
                let ending = Ending::Violated { step: None, violation, stuck: Vec::new() };
                return Ok(Replay { steps, ..Replay::to(ending) });
            }
            _ => {}
        }
    }
    let make = |propositions: &[Expr]| translate::machine(&model.program, propositions);
    let ending = match violated_for_ever(make, &wanted, schedule)? {
        Some(message) => {
            let violation = Violation::new(ViolationKind::Ltl, message);
            Ending::Violated { step: None, violation, stuck: Vec::new() }
        }
        None if walk.n_moves() > 0 => Ending::Followed,
        None => match walk.stuck() {
            Some(stuck) => {
                let (violation, stuck) = (stuck.violation, stuck.processes);
                Ending::Violated { step: None, violation, stuck }
            }
            None => Ending::Ended(walk.n_steps()),
        },
    };
    Ok(Replay { steps, ..Replay::to(ending) })
}

/// All that is looked for in a model.
struct Searches<'a> {
    task: &'a Task,
    model: &'a Model,
    machine: &'a Machine,
    /// Whether assertions and ends are among it.
    has_states: bool,
    wanted: &'a [Wanted],
    options: &'a Stored,
    /// For what is temporal.
    cycle_options: Stored,
    begun: Instant,
    /// How they are saved.
    series: &'a Series,
}

/// How many states the first round of searches may see.
const FIRST_ROUND: usize = 1 << 14;

/// How many times more the next one.
const NEXT_ROUND: usize = 8;

impl Searches<'_> {
    /// Searches all states, then for violations of each property. They take turns, in rounds that
    /// see more and more states: any of them may be endless where another one finds a violation at
    /// once.
    fn run(&self) -> Result<Results, Faults> {
        let mut results = Results::default();
        let mut outcomes: Vec<Option<Searched>> = self.wanted.iter().map(|_| None).collect();
        let mut states = None;
        let n_searches = self.wanted.len() + usize::from(self.has_states);
        let mut round = (n_searches > 1 && self.options.states.is_none()).then_some(FIRST_ROUND);
        loop {
            if self.has_states && states.is_none() {
                states = Some(self.search_states(round)?);
            }
            let is_fine = states.as_ref().is_none_or(|it| goes_on(it, round));
            let open = (0..outcomes.len()).filter(|&idx| is_fine && outcomes[idx].is_none());
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
        match states.filter(|it| !is_cut(it, round)) {
            Some(states) => results.add_states(states),
            None if self.has_states => results.skip_states(),
            None => {}
        }
        for (wanted, outcome) in self.wanted.iter().zip(outcomes) {
            match outcome.filter(|it| !is_cut(it, round)) {
                Some(outcome) => results.add(&wanted.name, outcome),
                None => results.skipped.push(wanted.name.clone()),
            }
        }
        Ok(results)
    }

    fn search_states(&self, round: Option<usize>) -> Result<Searched, Faults> {
        let options = limited(self.task, self.begun, self.options, round);
        let outcome =
            self.series.search(round, |saving| shortest::search(self.machine, &options, saving))?;
        Ok(told(self.task, outcome))
    }

    fn search_cycles(
        &self,
        which: &[usize],
        round: Option<usize>,
        outcomes: &mut [Option<Searched>],
    ) -> Result<(), Faults> {
        let make = |propositions: &[Expr]| translate::machine(&self.model.program, propositions);
        let wanted: Vec<&Wanted> = which.iter().map(|&idx| &self.wanted[idx]).collect();
        let (task, begun, cycles) = (self.task, self.begun, &self.cycle_options);
        let options = || limited(task, begun, cycles, round);
        let series = (self.series, round);
        let checked = temporal::check(make, &wanted, options, self.options.jobs, series);
        for (&idx, outcome) in which.iter().zip(checked) {
            outcomes[idx] = Some(told(self.task, outcome?));
        }
        Ok(())
    }
}

/// The options for one round. All rounds and all properties share the time.
fn limited(task: &Task, begun: Instant, options: &Stored, round: Option<usize>) -> Stored {
    let mut limited = options.clone();
    limited.states = round.or(limited.states);
    limited.time = task.time_left(begun.elapsed());
    limited
}

/// Whether a search was stopped by nothing but its round.
fn is_cut(outcome: &Searched, round: Option<usize>) -> bool {
    let Some(round) = round else { return false };
    matches!(outcome.verdict, Verdict::Inconclusive(Limit::States(limit)) if limit == round)
}

/// Whether a search leaves others something to do.
fn goes_on(outcome: &Searched, round: Option<usize>) -> bool {
    matches!(outcome.verdict, Verdict::Holds(_)) || is_cut(outcome, round)
}

/// Writes an execution down.
fn write_trail(file: &Path, trail: Option<String>) -> Result<(), String> {
    let Some(trail) = trail else {
        let text = "SPIN has no number for one of the steps, so there is no trail of it";
        return Err(text.to_owned());
    };
    std::fs::write(file, trail)
        .map_err(|error| format!("`{}` cannot be written: {error}", file.display()))
}
