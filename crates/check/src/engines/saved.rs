//! Searches of a machine that are saved in files, and go on from there.
//!
//! Threads of a machine are numbered as executions meet them, and units of a search say which
//! thread moves. So the executions that have met new ones are saved, too, and taken again before
//! the search goes on; the names of the threads tell whether all of them have their numbers again.

use super::vm::{Vm as Engine, failed};
use crate::engine::{Engine as _, Listener};
use crate::{Fault, Faults, Task};
use mazurka_core::{Event, Limit, Schedule, System as _, ThreadId, Verdict};
use mazurka_explore::{Explorer, Options, Outcome, Saved, retake};
use mazurka_model::Vm;
use mazurka_protocol::Saving;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// What is saved beside the search.
#[derive(Default, Serialize, Deserialize)]
struct Notes {
    /// Which engine it is of, so that no other one reads it.
    engine: String,
    /// What the model was made of, and how.
    model: String,
    /// The executions that have met new threads, in their order.
    met: Vec<Schedule>,
    threads: Vec<String>,
    /// Whether arrivals at barriers are kept in order.
    orders_arrivals: bool,
}

/// Searches a machine, and saves what is left if it is stopped. Where that is.
///
/// Where it turns out that arrivals at barriers do not commute, all that was searched is void, and
/// the search begins again with arrivals in order.
pub(super) fn search(
    vm: &Vm,
    options: &Options,
    saving: Option<&Saving>,
    task: &Task,
    stop: &AtomicBool,
    listener: &dyn Listener,
) -> Result<(Outcome, Option<PathBuf>), Faults> {
    let begun = Instant::now();
    let model = model_of(task);
    let mut vm = vm.clone();
    let (mut saved, before) = match &task.options.resume {
        None => (None, Vec::new()),
        Some(path) => {
            let (saved, met) = read(path, &mut vm, &model)
                .map_err(|error| Fault::input(format!("`{}`: {error}", path.display())))?;
            (Some(saved), met)
        }
    };
    // They have their threads in common.
    let names = vm.clone();
    let met = Mutex::new(Met { n_threads: vm.n_names(), schedules: before });
    let watch = |schedule: &Schedule| {
        met.lock().unwrap_or_else(PoisonError::into_inner).see(&names, schedule)
    };
    loop {
        let mut rest = options.clone();
        rest.time_limit = options.time_limit.map(|limit| limit.saturating_sub(begun.elapsed()));
        // What a search that raises its bound has proved is not saved.
        let slice = saving.filter(|_| !options.iterate).map(|saving| saving.every);
        let is_slice = slice.is_some_and(|it| rest.time_limit.is_none_or(|rest| it < rest));
        if is_slice {
            rest.time_limit = slice;
        }
        let listen = |event: &Event| listener.event(event);
        let mut explorer = Explorer::new(rest).abandon_when(stop).on_event(&listen);
        if saving.is_some() {
            explorer = explorer.on_execution(&watch);
        }
        let is_part = saved.as_ref().is_some_and(|saved| saved.part().is_some());
        if let Some(saved) = saved.take() {
            explorer = explorer.resume(saved);
        }
        let order = vm.arrivals_must_be_ordered();
        if let Some(flag) = order {
            explorer = explorer.stop_when(flag).void_when(flag);
        }
        let mut outcome = explorer.run(|| vm.clone()).map_err(failed)?;
        if order.is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            if is_part {
                return Err(Fault::void().into());
            }
            vm = vm.ordering_arrivals();
            continue;
        }
        let rest = outcome.saved.take().filter(Saved::may_travel);
        let Some(saving) = saving else { return Ok((outcome, None)) };
        let write = |saved: &Saved| {
            let met = met.lock().unwrap_or_else(PoisonError::into_inner);
            let written = write(saved.clone(), &met.schedules, &vm, &model, &saving.path);
            match written {
                Err(error) if saving.is_asked => Err(error),
                written => Ok(written.is_ok()),
            }
        };
        if let (Verdict::Inconclusive(reached @ Limit::Time(_)), Some(left)) =
            (&mut outcome.verdict, &rest)
        {
            let is_over = options.time_limit.is_some_and(|limit| begun.elapsed() >= limit);
            if is_slice && !is_over {
                write(left)?;
                saved = rest;
                continue;
            }
            if let Some(limit) = options.time_limit {
                *reached = Limit::Time(limit);
            }
        }
        let Some(left) = rest else {
            if !matches!(outcome.verdict, Verdict::Inconclusive(_)) {
                // There may be none.
                let _ = std::fs::remove_file(&saving.path);
            }
            return Ok((outcome, None));
        };
        if begun.elapsed() < saving.after {
            return Ok((outcome, None));
        }
        let is_saved = write(&left)?;
        // A part that has come to its end is kept for the others, and there is nothing to go on
        // with.
        let is_open = matches!(outcome.verdict, Verdict::Inconclusive(_));
        return Ok((outcome, (is_saved && is_open).then(|| saving.path.clone())));
    }
}

/// The executions that have met new threads.
struct Met {
    n_threads: usize,
    schedules: Vec<Schedule>,
}

impl Met {
    fn see(&mut self, vm: &Vm, schedule: &Schedule) {
        let n_threads = vm.n_names();
        if n_threads != self.n_threads {
            self.n_threads = n_threads;
            self.schedules.push(schedule.clone());
        }
    }
}

fn names(vm: &Vm) -> Vec<String> {
    (0..vm.n_names()).map(|idx| vm.thread_name(ThreadId::new(idx)).into_owned()).collect()
}

/// All that a model is made of, as words.
fn model_of(task: &Task) -> String {
    let rows = ["extern", "races", "spurious-wakeups", "nondet", "property", "memory", "stateful"];
    let mut words = task.options.words(|row| rows.contains(&row.name));
    words.extend(task.options.flags.iter().cloned());
    words.join(" ")
}

fn write(
    mut saved: Saved,
    met: &[Schedule],
    vm: &Vm,
    model: &str,
    path: &Path,
) -> Result<(), Fault> {
    let notes = Notes {
        engine: Engine.name().to_owned(),
        model: model.to_owned(),
        met: met.to_vec(),
        threads: names(vm),
        orders_arrivals: vm.arrivals_must_be_ordered().is_none(),
    };
    saved.set_system(postcard::to_stdvec(&notes).expect("everything in it can be written"));
    let written = saved.write(path);
    written
        .map_err(|error| Fault::input(format!("`{}` cannot be written: {error}", path.display())))
}

/// Reads a search, and gives threads the numbers that they had.
fn read(path: &Path, vm: &mut Vm, model: &str) -> Result<(Saved, Vec<Schedule>), String> {
    const OTHER: &str =
        "the saved search belongs to another program, or another version of this one";
    let saved = Saved::read(path).map_err(|error| error.to_string())?;
    let notes: Option<Notes> = postcard::from_bytes(saved.system()).ok();
    let notes = notes.filter(|notes| notes.engine == Engine.name());
    let notes = notes
        .ok_or_else(|| format!("the saved search is not one of `--engine {}`", Engine.name()))?;
    if notes.model != model {
        return Err(format!(
            "the model was made with `{}` then, and is made with `{model}` now",
            notes.model
        ));
    }
    if notes.orders_arrivals {
        *vm = vm.clone().ordering_arrivals();
    }
    let mut copy = vm.clone();
    if notes.met.iter().any(|schedule| !retake(&mut copy, schedule)) || names(vm) != notes.threads {
        return Err(OTHER.to_owned());
    }
    Ok((saved, notes.met))
}
