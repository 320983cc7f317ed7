//! `Fix:` the atomic accesses whose strengthening forbids a violation.
//!
//! What the violation's execution comes to is looked at: each of its atomic accesses that is weaker
//! than sequentially consistent, and each fence, is made stronger by itself, and the program is
//! checked again. If none of them is enough, all are made stronger, and put back one after the
//! other as long as nothing goes wrong. Nothing is told that was not checked: in every execution
//! under the memory model, nothing goes wrong with the orders that are named.

use crate::{Outcome, Task};
use mazurka_core::{MemoryOrder, Told, Verdict, ViolationKind};
use mazurka_protocol::{AtomicAccess, AtomicSite, OrderChange, is_at_most};
use std::path::Path;
use std::time::{Duration, Instant};

/// How long it may take, all searches together.
const AT_MOST: Duration = Duration::from_secs(5);
/// A violation with more accesses than this has no single mistake.
const MAX_SITES: usize = 16;

/// Which accesses to make stronger, of a violation that `finder` has led to, in a sentence; nothing
/// if none is known to help. `task` is the same under a memory model.
pub(crate) fn sentence(task: &Task, finder: &Task, found: &Outcome) -> Option<String> {
    let Verdict::Violated(violation) = &found.verdict else { return None };
    if violation.violation.kind == ViolationKind::Unsupported {
        return None;
    }
    let begun = Instant::now();
    let mut finder = finder.clone();
    finder.tells_atomics = true;
    let replay = finder.replay_by(found.engine, &violation.schedule, &()).ok()?;
    let search = Search { task: task.clone(), found, begun };
    let met = |site: &AtomicSite| {
        let is_at =
            |step: &Told| step.location.as_ref().is_some_and(|place| place.line == site.line);
        site.access == AtomicAccess::Fence || violation.story.iter().any(is_at)
    };
    let is_weak = |site: &AtomicSite| site.order != MemoryOrder::SequentiallyConsistent;
    let sites = replay.atomics.into_iter().filter(|site| is_weak(site) && met(site));
    let sites: Vec<AtomicSite> = sites.collect();
    if sites.is_empty() || sites.len() > MAX_SITES {
        return None;
    }
    let changes =
        sites.iter().find_map(|site| search.one(site)).or_else(|| search.several(&sites))?;
    let told: Vec<String> = changes.iter().map(told).collect();
    Some(format!("Fix: make {}", crate::listed(told)))
}

struct Search<'a> {
    task: Task,
    found: &'a Outcome,
    begun: Instant,
}

impl Search<'_> {
    /// The weakest order of one site that is enough, if one is.
    fn one(&self, site: &AtomicSite) -> Option<Vec<OrderChange>> {
        let stronger = stronger(site);
        let (strongest, others) = stronger.split_last()?;
        let of = |order: &MemoryOrder| OrderChange { site: site.clone(), order: *order };
        if !self.holds_with(&[of(strongest)]) {
            return None;
        }
        let enough = others.iter().find(|order| self.holds_with(&[of(order)]));
        Some(vec![of(enough.unwrap_or(strongest))])
    }

    /// Sites that are enough together, none of which could be left out, if all of them are.
    fn several(&self, sites: &[AtomicSite]) -> Option<Vec<OrderChange>> {
        let of = |order: fn(&AtomicSite) -> Option<MemoryOrder>| -> Vec<OrderChange> {
            let change =
                |site: &AtomicSite| Some(OrderChange { site: site.clone(), order: order(site)? });
            sites.iter().filter_map(change).collect()
        };
        let mut changes = of(paired);
        if !self.holds_with(&changes) {
            changes = of(|site| stronger(site).last().copied());
            if !self.holds_with(&changes) {
                return None;
            }
        }
        let mut idx = 0;
        while idx < changes.len() {
            let change = changes.remove(idx);
            if !self.holds_with(&changes) {
                // Without an end within the time, it is not known whether it could be left out.
                self.left()?;
                changes.insert(idx, change);
                idx += 1;
            }
        }
        (!changes.is_empty()).then_some(changes)
    }

    fn left(&self) -> Option<Duration> {
        let limit = self.task.options.time_limit.map_or(AT_MOST, |limit| limit.min(AT_MOST));
        limit.checked_sub(self.begun.elapsed()).filter(|left| !left.is_zero())
    }

    /// Whether nothing goes wrong any more with these changes.
    fn holds_with(&self, changes: &[OrderChange]) -> bool {
        let Some(left) = self.left().filter(|_| !self.task.is_stopped()) else { return false };
        let mut task = self.task.clone();
        task.options.time_limit = Some(left);
        task.options.show_executions = None;
        task.changes = changes.to_vec();
        match self.found.engine.check(&task, &()) {
            Ok(outcome) => {
                matches!(outcome.verdict, Verdict::Holds(coverage) if coverage.is_unbounded())
            }
            Err(_) => false,
        }
    }
}

/// The orders that are stronger than that of a site, weaker ones first.
pub(crate) fn stronger(site: &AtomicSite) -> Vec<MemoryOrder> {
    let orders = site.access.orders().iter().copied();
    orders.filter(|&order| order != site.order && is_at_most(site.order, order)).collect()
}

/// The order by which accesses synchronise, if that is stronger than the one there is.
fn paired(site: &AtomicSite) -> Option<MemoryOrder> {
    let order = match site.access {
        AtomicAccess::Load => MemoryOrder::Acquire,
        AtomicAccess::Store => MemoryOrder::Release,
        AtomicAccess::Update | AtomicAccess::Fence => MemoryOrder::AcquireRelease,
    };
    (order != site.order && is_at_most(site.order, order)).then_some(order)
}

/// "the store at x.c:7 release".
fn told(change: &OrderChange) -> String {
    let AtomicSite { file, line, access, .. } = &change.site;
    format!("the {} at {}:{line} {}", access.name(), shortened(file), change.order)
}

/// A file below the current folder is called as seen from there.
pub(crate) fn shortened(file: &str) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    let inside = Path::new(file).strip_prefix(&here).ok().and_then(Path::to_str);
    inside.unwrap_or(file).to_owned()
}
