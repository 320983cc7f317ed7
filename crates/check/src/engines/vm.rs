//! `--engine vm`: every execution of a model of C files, run by a machine.

use super::saved;
use crate::engine::{Accepts, Engine, Feature, Language, Listener, Support};
use crate::memory::watched;
use crate::options::{Property, faults};
use crate::sites::{change, sites_of};
use crate::{Ending, Fault, Faults, Outcome, Replay, Task, translate};
use mazurka_core::{Event, Limit, PassingExecution, Phase, Schedule, Verdict};
use mazurka_explore::{
    self as explore, ExploreError, Reduction, Replay as Followed, SavedError, WeakMemory,
    replay as follow,
};
use mazurka_model::{Program, Races, Vm as Machine, split_choices};
use std::time::Instant;

/// The stateless search of a model.
pub(crate) struct Vm;

impl Engine for Vm {
    fn name(&self) -> &'static str {
        "vm"
    }

    fn supports(&self) -> Support {
        use Feature::{Executions, Fingerprints, Jobs, Models};
        use Property::{Assert, Deadlock, Leak, Livelock, Memory, Overflow, Race};
        Support {
            inputs: &[Accepts {
                language: Language::C,
                properties: &[Assert, Deadlock, Race, Livelock, Memory, Overflow],
                if_named: &[Leak],
            }],
            features: &[Executions, Fingerprints, Jobs, Models],
        }
    }

    fn conflicts(&self, task: &Task) -> Faults {
        faults(search_options(task).errors())
    }

    fn check(&self, task: &Task, listener: &dyn Listener) -> Result<Outcome, Faults> {
        listener.event(&Event::Phase(Phase::Translating));
        let mut program = translate::c(task.input.files(), &task.options)?;
        let atomics = if task.tells_atomics { sites_of(&program) } else { Vec::new() };
        change(&mut program, &task.changes);
        let options = search_options(task);
        let vm = machine(program, task)?;
        let vm = if may_commute(&options) { vm.commuting_arrivals() } else { vm };
        listener.event(&Event::Phase(Phase::Searching));
        let begun = Instant::now();
        let searched = watched(task, listener, |stop| {
            saved::search(&vm, &options, task.saving().as_ref(), task, stop, listener)
        });
        let (mut explored, saved) = searched.result?;
        if let (Verdict::Inconclusive(Limit::Interrupted), Some(limit)) =
            (&explored.verdict, searched.reached)
        {
            explored.verdict = Verdict::Inconclusive(Limit::Memory(limit));
        }
        if let Verdict::Violated(found) = &mut explored.verdict {
            found.shorten_names();
        }
        PassingExecution::shorten_names(&mut explored.shown);
        let mut outcome = Outcome::new(&Self, explored.verdict, explored.statistics, begun);
        outcome.n_threads = vm.n_names();
        outcome.proved = explored.proved;
        outcome.rungs = explored.rungs;
        outcome.shown = explored.shown;
        outcome.lines = vm.lines();
        outcome.sample = explored.sample;
        outcome.shortest = explored.shortest;
        outcome.state_coverage = explored.coverage;
        outcome.warn(&explored.warnings);
        outcome.saved = saved;
        outcome.atomics = atomics;
        outcome.count_traces(&options);
        outcome.add_tips(task);
        Ok(outcome)
    }

    fn replay(
        &self,
        task: &Task,
        schedule: &Schedule,
        listener: &dyn Listener,
    ) -> Result<Replay, Faults> {
        let mut program = translate::c(task.input.files(), &task.options)?;
        // A solver may have chosen among more numbers than a search would try.
        split_choices(&mut program);
        let atomics = if task.tells_atomics { sites_of(&program) } else { Vec::new() };
        change(&mut program, &task.changes);
        listener.event(&Event::Phase(Phase::Replaying));
        let mut vm = machine(program, task)?;
        if let Some(model) = task.options.graphs_of() {
            let mut vm = WeakMemory::new(vm, model);
            let replay = follow(&mut vm, schedule).map_err(|error| {
                Fault::input(format!("the schedule cannot be followed: {error}"))
            })?;
            let ending = violation_in(&replay, vm.system()).unwrap_or(Ending::Followed);
            return Ok(Replay { atomics, ..Replay::to(ending) });
        }
        let replay = follow_schedule(&mut vm, schedule)?;
        let ending = violation_in(&replay, &vm).unwrap_or(Ending::Followed);
        Ok(Replay { atomics, ..Replay::to(ending) })
    }
}

fn search_options(task: &Task) -> explore::Options {
    let mut options = task.options.explored();
    options.stateful = task.options.stateful;
    options.jobs = task.options.threads();
    if task.options.races == Races::Allow {
        // Whether something ends while others may use it is looked for in the same way.
        options.race = !options.stateful;
    }
    options
}

/// Whether a search knows arrivals at barriers that commute: it stores no states, has no memory
/// model, and does not ask what threads may do later.
fn may_commute(options: &explore::Options) -> bool {
    let looks_ahead = matches!(options.reduction, Reduction::Persistent | Reduction::Transactions);
    !options.stateful && options.memory.is_none() && !looks_ahead
}

pub(super) fn failed(error: ExploreError) -> Fault {
    match error {
        ExploreError::Nondeterministic(_) => Fault::defect(error.to_string()),
        ExploreError::Saved(SavedError::Void) => Fault::void(),
        error => Fault::input(error.to_string()),
    }
}

fn machine(program: Program, task: &Task) -> Result<Machine, Faults> {
    let options = &task.options;
    let files = program.files.clone();
    let vm = Machine::new(program, options.races);
    let vm = vm.map_err(|errors| translate::not_run(&files, errors))?;
    let vm = if options.show_lines { vm.noting_lines() } else { vm };
    // Stored states end loops by themselves.
    let vm = match options.graphs_of() {
        _ if options.stateful => vm,
        Some(_) => vm.holding_spins_in_graphs(),
        None => vm.holding_spins(),
    };
    Ok(if options.names(Property::Leak) { vm.finding_leaks() } else { vm })
}

/// Runs the execution of a schedule.
pub(super) fn follow_schedule(vm: &mut Machine, schedule: &Schedule) -> Result<Followed, Fault> {
    follow(vm, schedule)
        .map_err(|error| Fault::input(format!("the schedule cannot be followed: {error}")))
}

/// What goes wrong in an execution that a machine has followed.
pub(super) fn violation_in(replay: &Followed, vm: &Machine) -> Option<Ending> {
    let (step, violation) = match &replay.violation {
        Some((step, violation)) => (Some(*step), violation.clone()),
        None => (None, replay.deadlock(vm)?),
    };
    Some(Ending::Violated { step, violation, stuck: Vec::new() })
}
