//! What came of several properties, as one verdict.

use mazurka_core::{Coverage, LineCoverage, Statistics, Told, Verdict};
use mazurka_statespace::{Described, Outcome};

/// More unreached statements than people want to read.
const MOST_UNREACHED: usize = 12;

/// What is looked for in all states.
const STATES: &str = "assertions and ends";

/// What came of everything that was looked for.
#[derive(Default)]
pub(crate) struct Results {
    /// Each by its name.
    all: Vec<(String, Outcome)>,
    /// What was not looked for, since something else went wrong before.
    pub(crate) skipped: Vec<String>,
}

/// What there is to tell.
pub(crate) struct Conclusion {
    pub(crate) verdict: Verdict,
    pub(crate) statistics: Statistics,
    pub(crate) loop_start: Option<usize>,
    pub(crate) notes: Vec<String>,
    /// What the verdict is of, unless it is of everything.
    pub(crate) property: Option<String>,
    /// The lines of a search of all states.
    pub(crate) lines: Option<LineCoverage>,
}

impl Results {
    /// Adds what came of a search of all states.
    pub(crate) fn add_states(&mut self, outcome: Outcome) {
        self.add(STATES, outcome);
    }

    /// Adds what came of a temporal property.
    pub(crate) fn add(&mut self, name: &str, outcome: Outcome) {
        self.all.push((name.to_owned(), outcome));
    }

    /// All states were not searched.
    pub(crate) fn skip_states(&mut self) {
        self.skipped.push(STATES.to_owned());
    }

    /// Whether something was found to be violated so far.
    pub(crate) fn is_violated(&self) -> bool {
        self.all.iter().any(|(_, outcome)| matches!(outcome.verdict, Verdict::Violated(_)))
    }

    /// The first violation, or else the first limit, or else everything that was proved.
    pub(crate) fn conclude(self, jobs: usize) -> Conclusion {
        let mut statistics = Statistics::default();
        self.all.iter().for_each(|(_, outcome)| statistics.add(&outcome.statistics));
        let is_violated = |(_, it): &(String, Outcome)| matches!(it.verdict, Verdict::Violated(_));
        let is_cut = |(_, it): &(String, Outcome)| matches!(it.verdict, Verdict::Inconclusive(_));
        let decisive = self.all.iter().position(is_violated);
        let decisive = decisive.or_else(|| self.all.iter().position(is_cut));
        let mut notes = Vec::new();
        let (verdict, loop_start) = match decisive {
            Some(idx) => {
                let (_, outcome) = &self.all[idx];
                notes.extend(outcome.notes.iter().cloned());
                notes.extend(outcome.stuck.iter().map(waiting));
                notes.push(size(outcome));
                (outcome.verdict.clone(), outcome.loop_start)
            }
            None => (self.proved(), None),
        };
        for (idx, (name, outcome)) in self.all.iter().enumerate() {
            if decisive != Some(idx) {
                notes.extend(self.note(name, outcome));
            }
            if decisive.is_none() {
                notes.extend(unreached(&outcome.unreached));
            }
        }
        if !self.skipped.is_empty() {
            notes.push(format!("not looked at, because of this: {}", self.skipped.join(", ")));
        }
        if jobs > 1 && self.all.iter().any(|(name, _)| name != STATES) {
            notes.push("a temporal property is searched by one job".to_owned());
        }
        let property = decisive.map(|idx| self.all[idx].0.clone());
        let states = self.all.into_iter().find(|(name, _)| name == STATES);
        let lines = states.map(|(_, outcome)| outcome.lines);
        Conclusion { verdict, statistics, loop_start, notes, property, lines }
    }

    /// What holds, of all that was looked for.
    fn proved(&self) -> Verdict {
        let coverages = self.all.iter().filter_map(|(_, outcome)| match &outcome.verdict {
            Verdict::Holds(coverage) => Some(coverage.clone()),
            _ => None,
        });
        let all = coverages.reduce(Coverage::and);
        Verdict::Holds(all.expect("something is always looked for"))
    }

    /// What there is to say of one of the results that is not the verdict.
    fn note(&self, name: &str, outcome: &Outcome) -> Vec<String> {
        let verdict = match outcome.verdict {
            Verdict::Holds(_) => "no violation",
            Verdict::Violated(_) => "violated, too",
            _ => "unverified, too",
        };
        let mut notes = match self.all.len() {
            1 => vec![size(outcome)],
            _ => vec![format!("{name}: {verdict}; {}", size(outcome))],
        };
        if let Verdict::Holds(_) = outcome.verdict {
            let prefix = if self.all.len() == 1 { String::new() } else { format!("{name}: ") };
            notes.extend(outcome.notes.iter().map(|note| format!("{prefix}{note}")));
        }
        notes
    }
}

/// How much was searched.
fn size(outcome: &Outcome) -> String {
    let (states, steps) = (outcome.statistics.states, outcome.statistics.transitions);
    format!("{states} states and {steps} steps between them")
}

/// Who waits in the end, and for what.
fn waiting(told: &Told) -> String {
    let place = told.location.as_ref().map_or(String::new(), |place| format!(" ({place})"));
    format!("{} waits for `{}`{place}", told.thread, told.operation)
}

/// The statements that no execution comes to.
fn unreached(edges: &[Described]) -> Vec<String> {
    let mut lines: Vec<String> = edges
        .iter()
        .map(|edge| {
            let place = edge.location.as_ref().map_or(String::new(), |it| format!("{it}: "));
            format!("never reached: {place}{}", edge.text)
        })
        .collect();
    lines.dedup();
    let n_more = lines.len().saturating_sub(MOST_UNREACHED);
    lines.truncate(MOST_UNREACHED);
    if n_more > 0 {
        lines.push(format!("and {n_more} more that are never reached"));
    }
    lines
}
