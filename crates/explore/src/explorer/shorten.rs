//! Shortening: the counterexample that is shown is one that people understand soonest.
//!
//! First the fewest preemptions, then the fewest context switches, then the fewest steps: by
//! search, not by leaving out steps of the one that was found. The preemptions are lowered by
//! bounded partial-order reduction, the others by branch and bound ([`Cheaper`]). Each of the three
//! searches that comes to its end has established a minimum, and [`Shortest`] says which ones have.
//! Every counterexample was replayed, like the first one.
//!
//! The budget is a number of executions, not a time, so that the same program shows the same
//! execution.

use super::{ExploreError, Explorer, Make, Outcome, Reduction};
use crate::bound::BoundKind;
use crate::options::Options;
use crate::reduction::Reduce;
use crate::reduction::cheaper::Cheaper;
use crate::search::Found;
use mazurka_core::{
    Cost, Counterexample, Decision, Next, Shortest, System, ThreadId, Verdict, ViolationKind,
};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// How many executions each of the three searches may take, if the search before took less.
const LEAST_BUDGET: u64 = 2_000;

impl<S: System> Explorer<'_, S> {
    /// Looks for a shorter counterexample of the same kind.
    pub(super) fn shorten(
        &mut self,
        make: &Make<'_, S>,
        mut outcome: Outcome,
        begun: Instant,
    ) -> Result<Outcome, ExploreError> {
        let Verdict::Violated(found) = &outcome.verdict else { return Ok(outcome) };
        let kind = found.violation.kind;
        // An infinite execution has no end that could come sooner. And beside loops that wait it is
        // not known what a search within preemptions covers.
        if kind == ViolationKind::Livelock || !self.waits.is_empty() {
            return Ok(outcome);
        }
        let Some(cost) = outcome.cost else { return Ok(outcome) };
        let whole = self.options.clone();
        let budget = outcome.statistics.executions.max(LEAST_BUDGET);
        let mut best = Best { found: found.clone(), cost, kind };
        self.saved = None;
        let is_over =
            |whole: &Options| whole.time_limit.is_some_and(|limit| begun.elapsed() >= limit);
        let set = |explorer: &mut Self| {
            let left = whole.time_limit.map(|limit| limit.saturating_sub(begun.elapsed()));
            explorer.options = Options {
                time_limit: left,
                max_executions: None,
                iterate: false,
                ladder: false,
                sample: None,
                bounds: Vec::new(),
                bpor_opt: None,
                stateful: false,
                stop_at_first: true,
                jobs: 1,
                fair: false,
                order: crate::order::Order::DepthFirst,
                ..whole.clone()
            };
        };
        // A rung that holds has established it already.
        let proved = outcome.rungs.last().map(|rung| rung.preemptions + 1);
        let mut has_fewest_preemptions = proved.is_some_and(|least| least >= cost.preemptions);
        while !has_fewest_preemptions && !is_over(&whole) {
            let Some(limit) = best.cost.preemptions.checked_sub(1) else {
                has_fewest_preemptions = true;
                break;
            };
            set(self);
            self.options.reduction = Reduction::Dpor;
            self.options.max_executions = Some(budget);
            self.options = self.options.clone().bound(BoundKind::Preemption, limit);
            match best.improve(self.round(make)?.0) {
                Improved::Yes => {}
                Improved::Never => has_fewest_preemptions = true,
                Improved::Unknown => break,
            }
        }
        let minimum = |explorer: &mut Self, best: &mut Best, most: fn(Cost) -> Option<Cost>| {
            let left = AtomicU64::new(budget);
            while !is_over(&whole) {
                let Some(most) = most(best.cost) else { return Ok(true) };
                set(explorer);
                let cheaper = || -> Box<dyn Reduce + '_> { Box::new(Cheaper::new(most, &left)) };
                let outcome = explorer.search_by(make, &cheaper)?.0;
                let is_spent = left.load(Ordering::Relaxed) == 0;
                match best.improve(outcome) {
                    Improved::Yes => {}
                    Improved::Never => return Ok(!is_spent),
                    Improved::Unknown => return Ok(false),
                }
            }
            Ok::<bool, ExploreError>(false)
        };
        let fewer_switches = |cost: Cost| {
            Some(Cost { switches: cost.switches.checked_sub(1)?, steps: u32::MAX, ..cost })
        };
        let fewer_steps = |cost: Cost| Some(Cost { steps: cost.steps.checked_sub(1)?, ..cost });
        let has_fewest_switches =
            has_fewest_preemptions && minimum(self, &mut best, fewer_switches)?;
        let has_fewest_steps = has_fewest_switches && minimum(self, &mut best, fewer_steps)?;
        self.options = whole;
        outcome.verdict = Verdict::Violated(best.found);
        outcome.cost = Some(best.cost);
        outcome.shortest = Some(Shortest {
            cost: best.cost,
            has_fewest_preemptions,
            has_fewest_switches,
            has_fewest_steps,
        });
        Ok(outcome)
    }
}

/// The shortest counterexample so far.
struct Best {
    found: Box<Counterexample>,
    cost: Cost,
    kind: ViolationKind,
}

/// What a search for a shorter one came to.
enum Improved {
    /// There is one.
    Yes,
    /// There is none.
    Never,
    /// It was stopped, or something else went wrong.
    Unknown,
}

impl Best {
    fn improve(&mut self, outcome: Outcome) -> Improved {
        match (outcome.verdict, outcome.cost) {
            (Verdict::Violated(found), Some(cost))
                if found.violation.kind == self.kind && cost < self.cost =>
            {
                (self.found, self.cost) = (found, cost);
                Improved::Yes
            }
            (Verdict::Holds(_), _) => Improved::Never,
            _ => Improved::Unknown,
        }
    }
}

/// What an execution costs, taken once more.
pub(super) fn cost_of(system: &mut impl System, found: &Found) -> Option<Cost> {
    system.reset();
    let (mut cost, mut last) = (Cost::default(), None::<ThreadId>);
    for &decision in found.schedule.decisions() {
        let Decision { thread, .. } = decision;
        if let Some(left) = last.filter(|&left| left != thread) {
            cost.switches += 1;
            cost.preemptions += u32::from(matches!(system.next(left), Next::Enabled { .. }));
        }
        if !matches!(system.next(thread), Next::Enabled { .. }) {
            return None;
        }
        // The last one goes wrong.
        let _ = system.step(decision);
        cost.steps += 1;
        last = Some(thread);
    }
    Some(cost)
}
