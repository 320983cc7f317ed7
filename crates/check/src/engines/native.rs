//! `--engine native`: the program itself, run by the runtime library under every schedule.

use crate::engine::{Accepts, Engine, Feature, Language, Listener, Support};
use crate::native::{Process, build, compiler, folder};
use crate::options::{Property, faults};
use crate::task::Input;
use crate::{Ending, Fault, Faults, Outcome, Replay, Task};
use mazurka_core::{Assumption, Event, Location, PassingExecution, Phase, Schedule, Verdict};
use mazurka_protocol::Report;
use std::path::Path;
use std::time::Instant;

/// The search that a program runs itself.
pub(crate) struct Native;

impl Engine for Native {
    fn name(&self) -> &'static str {
        "native"
    }

    fn supports(&self) -> Support {
        use Feature::{Executions, Jobs, Processes};
        const PROPERTIES: &[Property] = &[
            Property::Assert,
            Property::Deadlock,
            Property::Race,
            Property::Livelock,
            Property::Memory,
            Property::Leak,
        ];
        const fn accepts(language: Language) -> Accepts {
            Accepts { language, properties: PROPERTIES, if_named: &[] }
        }
        const INPUTS: [Accepts; 3] =
            [accepts(Language::C), accepts(Language::Cxx), accepts(Language::Program)];
        Support { inputs: &INPUTS, features: &[Executions, Jobs, Processes] }
    }

    fn conflicts(&self, task: &Task) -> Faults {
        let mut options = task.options.explored();
        let jobs = task.options.jobs.unwrap_or(1);
        options.jobs = jobs;
        let mut all = faults(options.errors());
        if all.is_empty() && jobs > 1 && !options.may_be_shared() {
            let text = "`--jobs` of a program that runs itself needs `--reduction optimal`, depth \
                        first, and neither `--coverage` nor `--sample`";
            all.push(Fault::input(text));
        }
        all
    }

    fn check(&self, task: &Task, listener: &dyn Listener) -> Result<Outcome, Faults> {
        listener.event(&Event::Phase(Phase::Compiling));
        let folder = folder()?;
        let (words, name) = (build(task, folder.path())?, task.input.name());
        let process = Process { words: &words, name: &name, folder: task.input.folder(), task };
        listener.event(&Event::Phase(Phase::Searching));
        let begun = Instant::now();
        let request = request(task);
        let mut report = process.explore(&request, listener)?;
        shorten(&mut report);
        if let Verdict::Holds(coverage) = &mut report.verdict {
            // What was read comes first: it names all accesses, also those that were not met.
            let read = assumed_of(task);
            let met = coverage.assumptions().iter().cloned();
            let met =
                met.filter_map(|it| if read.is_some() { without_volatile(it) } else { Some(it) });
            let met: Vec<Assumption> = met.collect();
            let all = read.into_iter().flatten().chain(met);
            *coverage = coverage.clone().assuming_only(all.collect());
        }
        let rest = task.time_left(report.time);
        let saved = request.save.filter(|_| report.is_saved).map(|save| save.path);
        let mut outcome = outcome(task, report, begun);
        outcome.saved = saved;
        if words.first().is_some_and(|program| compiler::is_stripped(Path::new(program))) {
            let text = format!("`{name}` is stripped, so variables and places have no names");
            outcome.warnings.push(text);
        }
        if let Verdict::Violated(found) = &outcome.verdict {
            let mut request = replaying(task, &found.schedule);
            request.options.time_limit = rest;
            outcome.printed = process.printed(&request);
        }
        Ok(outcome)
    }

    fn replay(
        &self,
        task: &Task,
        schedule: &Schedule,
        listener: &dyn Listener,
    ) -> Result<Replay, Faults> {
        let folder = folder()?;
        let (words, name) = (build(task, folder.path())?, task.input.name());
        let process = Process { words: &words, name: &name, folder: task.input.folder(), task };
        listener.event(&Event::Phase(Phase::Replaying));
        let replayed = process.replay(&replaying(task, schedule))?;
        let ending = replayed.violation.map_or(Ending::Followed, |(step, violation)| {
            Ending::Violated { step: Some(step), violation, stuck: Vec::new() }
        });
        Ok(Replay { atomics: replayed.atomics, ..Replay::to(ending) })
    }
}

/// What the program is asked.
fn request(task: &Task) -> mazurka_protocol::Request {
    let mut request = of_input(task, task.options.request());
    request.save = task.saving();
    request
}

/// What the program is asked to follow a schedule.
pub(crate) fn replaying(task: &Task, schedule: &Schedule) -> mazurka_protocol::Request {
    of_input(task, task.options.replaying(schedule))
}

fn of_input(task: &Task, mut request: mazurka_protocol::Request) -> mazurka_protocol::Request {
    request.run.orders.clone_from(&task.changes);
    request.run.tells_atomics = task.tells_atomics;
    request.run.is_test = matches!(task.input, Input::Program { is_test: true, .. });
    request
}

fn outcome(task: &Task, report: Report, begun: Instant) -> Outcome {
    let mut outcome = Outcome::new(&Native, report.verdict, report.statistics, begun);
    outcome.elapsed = report.time;
    outcome.peak_memory = report.used.peak_memory;
    outcome.n_threads = report.used.threads;
    outcome.proved = report.proved;
    outcome.state_coverage = report.coverage;
    outcome.rungs = report.rungs;
    outcome.atomics = report.atomics;
    outcome.shown = report.shown;
    outcome.lines = report.lines;
    outcome.sample = report.sample;
    outcome.shortest = report.shortest;
    outcome.warn(&report.warnings);
    outcome.count_traces(&task.options.explored());
    outcome.add_tips(task);
    outcome
}

/// What files of C make any engine assume: found by reading them, where they can be read as a
/// model. What is met on the way says the rest, and all of it where they cannot.
fn assumed_of(task: &Task) -> Option<Vec<Assumption>> {
    if !matches!(task.input.language(), Ok(Language::C)) {
        return None;
    }
    let options = mazurka_c::Options { flags: task.options.flags.clone(), ..Default::default() };
    let program = mazurka_c::translate(task.input.files(), &options).ok()?;
    Some(program.assumptions.into_iter().filter(Assumption::is_of_program).collect())
}

/// What was met on the way, without the volatile accesses, all of which were read.
fn without_volatile(assumption: Assumption) -> Option<Assumption> {
    match assumption {
        Assumption::SequentialConsistency(mut accesses) => {
            accesses.retain(|access| access.order.is_some());
            (!accesses.is_empty()).then_some(Assumption::SequentialConsistency(accesses))
        }
        other => Some(other),
    }
}

/// Files below the current folder are called as seen from there, those of a crate or of Rust's
/// library as seen from where all of these are.
fn shorten(report: &mut Report) {
    let here = std::env::current_dir().unwrap_or_default();
    let short = |file: &str| {
        let inside = Path::new(file).strip_prefix(&here).ok().and_then(Path::to_str);
        let of_crate = || file.split_once("/registry/src/")?.1.split_once('/').map(|it| it.1);
        let of_rust = || file.strip_prefix("/rustc/")?.split_once("/library/").map(|it| it.1);
        inside.or_else(of_crate).or_else(of_rust).unwrap_or(file).to_owned()
    };
    report.lines = report.lines.as_ref().map(|lines| lines.renamed(short));
    let shorten = |location: &mut Location| location.file = short(&location.file);
    let shown = report.shown.iter_mut().flat_map(|it| it.story.iter_mut().chain(&mut it.joins));
    shown.filter_map(|told| told.location.as_mut()).for_each(shorten);
    match &mut report.verdict {
        Verdict::Holds(coverage) => coverage.for_each_place(shorten),
        Verdict::Violated(found) => {
            let found = &mut **found;
            let others = found.decisive.iter_mut().flat_map(|pair| &mut pair.story);
            let steps = found.story.iter_mut().chain(&mut found.joins).chain(others);
            let steps = steps.filter_map(|step| step.location.as_mut());
            let accesses = found.accesses.iter_mut().chain(&mut found.shared);
            let accesses = accesses.flat_map(|access| &mut access.stack);
            let waits = found.waits.iter_mut().filter_map(|wait| wait.location.as_mut());
            let failed = found.failed.iter_mut().filter_map(|site| site.location.as_mut());
            steps.chain(accesses).chain(waits).chain(failed).for_each(shorten);
            if let Some(here) = here.to_str().filter(|here| here.len() > 1) {
                let message = &mut found.violation.message;
                *message = message.replace(&format!("{here}/"), "");
            }
            found.shorten_names();
        }
        _ => {}
    }
    PassingExecution::shorten_names(&mut report.shown);
}
