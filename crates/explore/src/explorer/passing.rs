//! The first executions of a search in which nothing goes wrong, one of each trace, with their
//! steps as people read them.
//!
//! They are taken by a search of its own, once the verdict is known: from the first execution on,
//! by one worker and without a ladder. So they are the same whatever the number of workers, and
//! whether or not the search was saved and resumed, and no trace is shown twice. Traces are told
//! apart by their hashes ([`Trace::hash`](mazurka_core::Trace::hash)); where no bound and no
//! storage of states objects, the search takes each of them once, whatever the reduction of the
//! search before.

use super::{Ended, ExploreError, Explorer, Make, Outcome};
use crate::deadline::Deadline;
use crate::memory::weak::WeakMemory;
use crate::options::{Options, Reduction};
use crate::order::Order;
use crate::replay::{Follower, by_birth};
use mazurka_core::{Limit, PassingExecution, Schedule, Source, System, Verdict, possible};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// Executions of different traces, in the order in which they were taken.
#[derive(Default)]
struct First {
    schedules: Vec<Schedule>,
    hashes: BTreeSet<u64>,
}

impl<S: System> Explorer<'_, S> {
    /// Adds the executions that are to be shown, if the search has come to its end and nothing goes
    /// wrong.
    pub(super) fn show_executions(
        &self,
        make: &Make<'_, S>,
        outcome: &mut Outcome,
        begun: Instant,
    ) -> Result<(), ExploreError> {
        let has_ended = matches!(
            outcome.verdict,
            Verdict::Holds(_) | Verdict::Inconclusive(Limit::Executions(_) | Limit::Depth(_))
        );
        if self.options.n_shown == 0 || !has_ended || self.is_part() {
            return Ok(());
        }
        let deadline = self.deadline(begun, self.options.time_limit);
        let schedules = self.first_executions(make, begun)?;
        outcome.shown = match self.options.memory {
            None => tell_all(&mut make(), &schedules, deadline)?,
            Some(model) => tell_all(&mut WeakMemory::new(make(), model), &schedules, deadline)?,
        };
        Ok(())
    }

    /// The schedules of the first executions of different traces that have come to their end.
    fn first_executions(
        &self,
        make: &Make<'_, S>,
        begun: Instant,
    ) -> Result<Vec<Schedule>, ExploreError> {
        let options = self.options_for_first(begun);
        let (n_wanted, max_depth) = (self.options.n_shown, options.max_depth);
        let takes_each_once = options.memory.is_some();
        let (first, is_enough) = (Mutex::new(First::default()), AtomicBool::new(false));
        let see = |ended: Ended<'_, S>| {
            let is_whole = !ended.is_cut && ended.schedule.len() < max_depth;
            if !is_whole || ended.violation.is_some() || is_enough.load(Ordering::Relaxed) {
                return;
            }
            let mut first = first.lock().unwrap_or_else(PoisonError::into_inner);
            let is_new = match takes_each_once {
                // A hash of the order of steps says nothing of what reads have read.
                true => !first.schedules.contains(ended.schedule),
                false => first.hashes.insert(ended.order.trace_hash()),
            };
            if is_new {
                first.schedules.push(ended.schedule.clone());
            }
            is_enough.store(first.schedules.len() >= n_wanted, Ordering::Relaxed);
        };
        let mut explorer =
            Explorer { observe: Some(&see), stop: Some(&is_enough), ..self.within(options) };
        explorer.round(make)?;
        drop(explorer);
        Ok(first.into_inner().unwrap_or_else(PoisonError::into_inner).schedules)
    }

    /// The options of the search for them: those that were asked for, as far as they say which
    /// executions there are.
    fn options_for_first(&self, begun: Instant) -> Options {
        let whole = &self.options;
        let mut options = Options {
            time_limit: whole.time_limit.map(|limit| limit.saturating_sub(begun.elapsed())),
            jobs: 1,
            ladder: false,
            iterate: false,
            shorten: false,
            coverage: false,
            ..whole.clone()
        };
        if whole.sample.is_none() {
            options.max_executions = None;
        }
        if whole.iterate {
            // The last round was not cut by its bound.
            options.bounds.retain(|bound| Some(*bound) != whole.main_bound());
        }
        let is_plain = options.bounds.is_empty() && options.sample.is_none();
        if is_plain && !options.stateful && options.memory.is_none() {
            options.reduction = Reduction::Optimal;
            options.order = Order::DepthFirst;
            options.bpor_opt = None;
        }
        options
    }
}

/// Takes the steps of all schedules again, as many as there is time for.
fn tell_all<S: System>(
    system: &mut S,
    schedules: &[Schedule],
    deadline: Deadline<'_>,
) -> Result<Vec<PassingExecution>, ExploreError> {
    let mut told = Vec::new();
    for schedule in schedules {
        let execution = tell(system, schedule, deadline)?;
        // Its last steps may have no names then.
        if !deadline.has_time_to_tell() {
            break;
        }
        told.push(execution);
    }
    Ok(told)
}

fn tell<S: System>(
    system: &mut S,
    schedule: &Schedule,
    deadline: Deadline<'_>,
) -> Result<PassingExecution, ExploreError> {
    let mut follower = Follower::new(system, false, deadline);
    let initial = follower.initial;
    let mut sources = Vec::new();
    for (idx, &decision) in schedule.decisions().iter().enumerate() {
        let operation =
            possible(follower.system, idx + 1, decision).map_err(ExploreError::Nondeterministic)?;
        follower.take(decision, operation);
        let wrote = follower.system.accessed().is_some_and(|accessed| accessed.wrote.is_some());
        let source = follower.system.reads_from();
        sources.push(source.map(|step| Source { step: step as usize, wrote }));
    }
    let replay = follower.end();
    if sources.iter().all(Option::is_none) {
        sources.clear();
    }
    Ok(PassingExecution {
        schedule: by_birth(&replay.execution, initial),
        execution: replay.execution,
        story: replay.story,
        joins: replay.joins,
        sources,
    })
}
