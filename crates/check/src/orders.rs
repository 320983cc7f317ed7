//! Which memory orders of a program are needed: each atomic access is given weaker orders than it
//! has, one access at a time, and everything is checked again.
//!
//! A site is a place in the source. What is said of it is said of the tasks at hand, a program or
//! the tests of a project: an order that no test needs may be needed all the same. Everything is
//! checked under one memory model ([`MODEL`], unless the tasks name another one), so what is said
//! is about what the language promises, and not about one processor.
//!
//! Sites that could each be weaker need not be able to be so together. [`Judge::together`] finds
//! out which can.

mod spelling;

pub use spelling::diff;

use crate::engine::Engine;
use crate::{Fault, Faults, Outcome, Task};
use mazurka_core::{MemoryModel, MemoryOrder, Verdict, ViolationKind};
use mazurka_protocol::{AtomicSite, OrderChange, is_at_most};
use std::time::Duration;

/// The memory model under which orders are judged.
pub const MODEL: MemoryModel = MemoryModel::Rc11;

/// What is known of a site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judged {
    /// The site.
    pub site: AtomicSite,
    /// The weakest order with which everything holds, if it is weaker than the one there is.
    pub weaker: Option<MemoryOrder>,
    /// Weaker orders with which something does not hold.
    pub refuted: Vec<Refuted>,
    /// Weaker orders of which nothing is known, and why.
    pub open: Vec<(MemoryOrder, String)>,
}

/// What goes wrong with an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refuted {
    /// The order.
    pub order: MemoryOrder,
    /// In which task.
    pub task: String,
    /// What.
    pub message: String,
}

/// The tasks whose orders are judged, and the sites that they have.
#[derive(Debug)]
pub struct Judge {
    engine: &'static dyn Engine,
    /// With the sites that each comes to.
    tasks: Vec<(Task, Vec<AtomicSite>)>,
    /// All sites, in the order of the source.
    pub sites: Vec<AtomicSite>,
    /// The tasks that say nothing, and why.
    pub left_out: Vec<(String, String)>,
}

impl Judge {
    /// Checks the tasks as they are, in order to learn their sites. Those that do not hold, or
    /// cannot be decided, are left out. Each search may take so long.
    pub fn new(
        tasks: Vec<Task>,
        engine: &'static dyn Engine,
        limit: Duration,
    ) -> Result<Self, Faults> {
        let mut judge = Self { engine, tasks: Vec::new(), sites: Vec::new(), left_out: Vec::new() };
        for mut task in tasks {
            task.options.memory.get_or_insert(MODEL);
            task.options.time_limit = Some(task.options.time_limit.unwrap_or(limit));
            task.options.show_executions = None;
            task.saving = None;
            task.tells_atomics = true;
            let name = task.input.name();
            let faults = task.faults_for(engine);
            if !faults.is_empty() {
                return Err(faults);
            }
            match engine.check(&task, &()) {
                Ok(outcome) => match why_not(&outcome) {
                    None => {
                        judge.sites.extend(outcome.atomics.iter().cloned());
                        task.tells_atomics = false;
                        judge.tasks.push((task, outcome.atomics));
                    }
                    Some((_, why)) => judge.left_out.push((name, why)),
                },
                Err(faults) => judge.left_out.push((name, messages(&faults))),
            }
        }
        judge.sites.sort();
        judge.sites.dedup();
        Ok(judge)
    }

    /// How many tasks have a say.
    pub fn n_tasks(&self) -> usize {
        self.tasks.len()
    }

    /// Finds the weakest order of a site: relaxed is tried first.
    pub fn judge(&self, site: &AtomicSite) -> Judged {
        let (mut refuted, mut open) = (Vec::new(), Vec::new());
        for order in weaker(site) {
            match self.try_all(&[OrderChange { site: site.clone(), order }]) {
                Tried::Holds => {
                    let weaker = Some(order);
                    return Judged { site: site.clone(), weaker, refuted, open };
                }
                Tried::Violated { task, message } => {
                    refuted.push(Refuted { order, task, message });
                }
                Tried::Open(why) => open.push((order, why)),
            }
        }
        Judged { site: site.clone(), weaker: None, refuted, open }
    }

    /// Of the sites that could be weaker by themselves, those that can all be so at once: each is
    /// added to those before it if everything still holds.
    pub fn together(&self, judged: &[Judged]) -> Vec<OrderChange> {
        let change = |it: &Judged| Some(OrderChange { site: it.site.clone(), order: it.weaker? });
        let all: Vec<OrderChange> = judged.iter().filter_map(change).collect();
        if all.len() < 2 || self.try_all(&all) == Tried::Holds {
            return all;
        }
        let mut kept: Vec<OrderChange> = Vec::new();
        for change in all {
            kept.push(change);
            if kept.len() > 1 && self.try_all(&kept) != Tried::Holds {
                kept.pop();
            }
        }
        kept
    }

    /// Checks all tasks that come to one of the sites, with these orders.
    fn try_all(&self, changes: &[OrderChange]) -> Tried {
        let mut open = None;
        let is_met = |sites: &[AtomicSite]| changes.iter().any(|it| sites.contains(&it.site));
        for (task, _) in self.tasks.iter().filter(|(_, sites)| is_met(sites)) {
            let mut changed = task.clone();
            changed.changes = changes.to_vec();
            let name = task.input.name();
            match self.engine.check(&changed, &()) {
                Ok(outcome) => match why_not(&outcome) {
                    None => {}
                    Some((true, message)) => return Tried::Violated { task: name, message },
                    Some((false, why)) => open = Some(format!("{name}: {why}")),
                },
                Err(faults) => open = Some(format!("{name}: {}", messages(&faults))),
            }
            if task.is_stopped() {
                return Tried::Open("interrupted".to_owned());
            }
        }
        open.map_or(Tried::Holds, Tried::Open)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Tried {
    Holds,
    Violated { task: String, message: String },
    Open(String),
}

/// Why an outcome is not that everything holds, if so, and whether that is a violation.
fn why_not(outcome: &Outcome) -> Option<(bool, String)> {
    match &outcome.verdict {
        Verdict::Holds(coverage) if coverage.is_unbounded() => None,
        Verdict::Holds(coverage) => Some((false, coverage.scope())),
        Verdict::Violated(found) => {
            let is_violation = found.violation.kind != ViolationKind::Unsupported;
            Some((is_violation, found.violation.message.clone()))
        }
        Verdict::Inconclusive(limit) => Some((false, limit.to_string())),
        _ => Some((false, "there is no verdict".to_owned())),
    }
}

fn messages(faults: &[Fault]) -> String {
    faults.iter().map(|fault| fault.message.clone()).collect::<Vec<_>>().join("; ")
}

/// The orders that are weaker than that of a site, weakest first.
pub fn weaker(site: &AtomicSite) -> Vec<MemoryOrder> {
    let orders = site.access.orders().iter().copied();
    orders.filter(|&order| order != site.order && is_at_most(order, site.order)).collect()
}
