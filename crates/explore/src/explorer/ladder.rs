//! The ladder: a search that is stopped has proved everything within a few preemptions.
//!
//! Most bugs need few preemptions (Musuvathi and Qadeer, *Iterative Context Bounding for Systematic
//! Testing of Multithreaded Programs*, PLDI 2007), and a search within two of them often ends where
//! the search of all executions does not. So the search of all executions shares its time with
//! bounded ones, the *rungs*: within 0, 1 and 2 preemptions. A rung that has ended is a claim that
//! stays true, whatever stops the rest.
//!
//! - The whole search comes first, for [`LOOK_AHEAD`] executions: most tests end there, and cost
//!   what they cost without a ladder.
//! - After that the rungs have had at most [`SHARE`] of the executions of the whole search at any
//!   time; both are resumed where they were left, so nothing is explored twice by either.
//! - Under a time limit each of the two also rests after a [`TURN`] of it, once an execution has
//!   ended: where a thousand executions take longer than the limit, the rungs have their share of
//!   the time.
//! - A violation that the whole search finds is looked for within the rungs, too, for a while: one
//!   with fewer preemptions is easier to understand.
//! - Under a time limit that ends before the last rung does, the rest of the time goes to random
//!   executions ([`SAMPLED`]).
//!
//! Differs from the paper: there, the bound is raised until it cuts nothing, and every round
//! repeats those before it.

use super::{ExploreError, Explorer, Make, Outcome, Reduction, identity};
use crate::bound::BoundKind;
use crate::options::Options;
use crate::sample::Sampling;
use crate::saved::{Saved, SavedError};
use mazurka_core::{Limit, Rung, SampleMethod, Statistics, System, Verdict};
use std::time::{Duration, Instant};

/// How many executions of the whole search come before the first rung.
const LOOK_AHEAD: u64 = 1_000;
/// The rungs have at most one execution for so many of the whole search.
const SHARE: u64 = 5;
/// The part of a time limit after which the whole search or a rung rests at the latest, so that the
/// other has its turn: one in so many.
const TURN: u32 = 4;
/// The last rung: so many preemptions.
const LAST: u32 = 2;
/// Which part of a time limit is for random executions, if the last rung has not ended by then: one
/// in so many.
const SAMPLED: u32 = 5;

/// The rungs as far as they were climbed.
#[derive(Default)]
struct Climbed {
    /// Those that have ended.
    rungs: Vec<Rung>,
    /// What the highest of them has proved.
    proved: Option<mazurka_core::Coverage>,
    /// The one in progress, where it was left.
    saved: Option<Saved>,
    /// How long the one in progress took so far.
    time: Duration,
    /// What all of them have counted.
    statistics: Statistics,
    /// What the one in progress has counted.
    current: Statistics,
}

impl Climbed {
    /// The preemptions of the rung in progress, if it is not above the last one.
    fn rung(&self) -> Option<u32> {
        let rung = self.rungs.len() as u32;
        (rung <= LAST).then_some(rung)
    }

    /// Adds what is known to the outcome of the whole search.
    fn tell(self, mut outcome: Outcome) -> Outcome {
        outcome.proved = outcome.proved.or(self.proved);
        outcome.rungs = self.rungs;
        outcome
    }
}

/// What came of climbing for a while.
enum Climb {
    /// The budget is used up, or all rungs have ended.
    Rested,
    /// Something goes wrong, or the bound cuts nothing, so that all is proved.
    Decided(Box<Outcome>),
}

impl<S: System> Explorer<'_, S> {
    /// Searches all executions, and between the parts of that within few preemptions.
    pub(super) fn climb(&mut self, make: &Make<'_, S>) -> Result<Outcome, ExploreError> {
        // To recognise a program takes its time, so it is done once and not after every turn.
        if self.saved.as_ref().is_some_and(|saved| saved.program != identity(&mut make())) {
            return Err(SavedError::OtherProgram.into());
        }
        self.is_climbing = true;
        let outcome = self.take_turns(make);
        self.is_climbing = false;
        let mut outcome = outcome?;
        if let Some(saved) = &mut outcome.saved {
            saved.program = identity(&mut make());
        }
        Ok(outcome)
    }

    fn take_turns(&mut self, make: &Make<'_, S>) -> Result<Outcome, ExploreError> {
        let begun = Instant::now();
        let whole = self.options.clone();
        let mut climbed = Climbed::default();
        let (mut explored, mut slice) = (0u64, LOOK_AHEAD);
        loop {
            let all = whole.max_executions.map_or(u64::MAX, |max| max.saturating_sub(explored));
            self.options = Options {
                max_executions: Some(slice.min(all)),
                time_limit: left_of(whole.time_limit, begun),
                ..whole.clone()
            };
            let before = self.saved.as_ref().map_or(0, |saved| saved.statistics.executions);
            self.rest_at = self.end_of_turn(&whole, begun, &climbed);
            let mut outcome = self.round(make)?.0;
            self.rest_at = None;
            let new = outcome.statistics.executions.saturating_sub(before);
            let has_rested = whole.time_limit.is_some() && new < slice.min(all);
            explored += new;
            let is_time_up = time_for_all(&whole, begun, &climbed) == Some(Duration::ZERO);
            match &outcome.verdict {
                Verdict::Inconclusive(Limit::Executions(_)) if has_rested && is_time_up => {
                    return self.sample_the_rest(make, &whole, begun, climbed, outcome);
                }
                Verdict::Inconclusive(Limit::Executions(_)) if slice < all || has_rested => {}
                Verdict::Inconclusive(Limit::Executions(_)) => {
                    let max = whole.max_executions.unwrap_or(explored);
                    outcome.verdict = Verdict::Inconclusive(Limit::Executions(max));
                    return Ok(climbed.tell(outcome));
                }
                Verdict::Inconclusive(Limit::Time(_)) => {
                    return self.sample_the_rest(make, &whole, begun, climbed, outcome);
                }
                Verdict::Violated(_) => {
                    let budget = explored.max(LOOK_AHEAD);
                    return Ok(match self.rungs(make, &whole, begun, &mut climbed, budget)? {
                        Climb::Decided(mut simpler)
                            if matches!(simpler.verdict, Verdict::Violated(_)) =>
                        {
                            simpler.statistics.add(&outcome.statistics);
                            climbed.tell(*simpler)
                        }
                        _ => climbed.tell(outcome),
                    });
                }
                _ => return Ok(climbed.tell(outcome)),
            }
            let spent = climbed.statistics.executions + climbed.current.executions;
            let budget = match has_rested {
                true => u64::MAX,
                false => (explored / SHARE).saturating_sub(spent),
            };
            let saved = outcome.saved.take();
            match self.rungs(make, &whole, begun, &mut climbed, budget)? {
                Climb::Rested => {}
                Climb::Decided(mut decided) => {
                    if matches!(decided.verdict, Verdict::Violated(_)) {
                        decided.statistics.add(&outcome.statistics);
                    }
                    return Ok(climbed.tell(*decided));
                }
            }
            self.saved = saved;
            // As much again as was explored: so both sides are resumed a few times only.
            slice = explored.max(LOOK_AHEAD);
        }
    }

    /// Climbs on, for so many executions.
    fn rungs(
        &mut self,
        make: &Make<'_, S>,
        whole: &Options,
        begun: Instant,
        climbed: &mut Climbed,
        budget: u64,
    ) -> Result<Climb, ExploreError> {
        self.rest_at = self.end_of_turn(whole, begun, climbed);
        let climb = self.rungs_until_rest(make, whole, begun, climbed, budget);
        self.rest_at = None;
        climb
    }

    fn rungs_until_rest(
        &mut self,
        make: &Make<'_, S>,
        whole: &Options,
        begun: Instant,
        climbed: &mut Climbed,
        mut budget: u64,
    ) -> Result<Climb, ExploreError> {
        // It is not known what a search within preemptions covers beside loops that wait.
        while let Some(rung) = climbed.rung().filter(|_| budget > 0 && self.waits.is_empty()) {
            if time_for_all(whole, begun, climbed) == Some(Duration::ZERO) {
                break;
            }
            self.options = Options {
                reduction: Reduction::Dpor,
                max_executions: Some(budget),
                time_limit: left_of(whole.time_limit, begun),
                ..whole.clone().bound(BoundKind::Preemption, rung)
            };
            self.saved = climbed.saved.take();
            let (started, before) = (Instant::now(), climbed.current.executions);
            let (mut outcome, exceeded) = self.round(make)?;
            self.saved = None;
            climbed.time += started.elapsed();
            climbed.current = outcome.statistics;
            budget = budget.saturating_sub(climbed.current.executions.saturating_sub(before));
            match &outcome.verdict {
                Verdict::Violated(_) => {
                    outcome.statistics.add(&climbed.statistics);
                    return Ok(Climb::Decided(Box::new(outcome)));
                }
                Verdict::Holds(coverage) => {
                    climbed.proved = Some(coverage.clone());
                    climbed.rungs.push(Rung {
                        preemptions: rung,
                        executions: climbed.current.executions,
                        time: std::mem::take(&mut climbed.time),
                    });
                    climbed.statistics.add(&std::mem::take(&mut climbed.current));
                    if !exceeded.main {
                        return Ok(Climb::Decided(Box::new(outcome)));
                    }
                }
                _ => {
                    climbed.saved = outcome.saved.take();
                    break;
                }
            }
        }
        Ok(Climb::Rested)
    }

    /// When a turn that begins now ends, after the execution in progress: after its part of the
    /// time, unless there are no rungs to take turns with, and before the time for random
    /// executions.
    fn end_of_turn(&self, whole: &Options, begun: Instant, climbed: &Climbed) -> Option<Instant> {
        // Beside loops that wait there are no rungs, nor once the last one has ended.
        climbed.rung()?;
        let left = time_for_all(whole, begun, climbed)?;
        let turn = if self.waits.is_empty() { whole.time_limit? / TURN } else { left };
        Instant::now().checked_add(left.min(turn))
    }

    /// Draws random executions in the time that is left.
    fn sample_the_rest(
        &mut self,
        make: &Make<'_, S>,
        whole: &Options,
        begun: Instant,
        climbed: Climbed,
        mut outcome: Outcome,
    ) -> Result<Outcome, ExploreError> {
        if let Some(limit) = whole.time_limit {
            outcome.verdict = Verdict::Inconclusive(Limit::Time(limit));
        }
        let left = left_of(whole.time_limit, begun).unwrap_or_default();
        if left.is_zero() || climbed.rung().is_none() {
            return Ok(climbed.tell(outcome));
        }
        self.options = Options {
            sample: Some(Sampling::by(SampleMethod::Pct)),
            time_limit: Some(left),
            max_executions: None,
            ..whole.clone()
        };
        self.saved = None;
        let mut sampled = self.round(make)?.0;
        if matches!(sampled.verdict, Verdict::Violated(_)) {
            sampled.statistics.add(&outcome.statistics);
            return Ok(climbed.tell(sampled));
        }
        outcome.sample = sampled.sample.filter(|sample| sample.executions > 0);
        Ok(climbed.tell(outcome))
    }
}

/// The time that the whole search and the rungs may take: all that is left once the last rung has
/// ended, else all but what is for random executions.
fn time_for_all(whole: &Options, begun: Instant, climbed: &Climbed) -> Option<Duration> {
    let limit = whole.time_limit?;
    let limit = match climbed.rung() {
        None => limit,
        Some(_) => limit - limit / SAMPLED,
    };
    left_of(Some(limit), begun)
}

fn left_of(limit: Option<Duration>, begun: Instant) -> Option<Duration> {
    limit.map(|limit| limit.saturating_sub(begun.elapsed()))
}
