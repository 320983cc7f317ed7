//! A space-time diagram of a counterexample, as data: the formats that draw or list an execution
//! are made of it.
//!
//! Columns are threads and rows are steps. A row knows which steps of other threads it follows
//! directly: the transitive reduction of happens-before (Lamport 1978), since all of it would be a
//! thicket.

use crate::Report;
use crate::interleaving::{Interleaving, Names, Who, told};
use crate::preemption::preemptions;
use crate::select::{Line, lines};
use mazurka_core::{
    Counterexample, HappensBefore, Location, Operation, Position, ThreadId, Verdict,
};
use std::collections::BTreeMap;

/// An execution that goes wrong.
#[derive(Clone, Debug)]
pub(crate) struct Diagram {
    /// The names of the threads, one for each column.
    pub(crate) threads: Vec<String>,
    /// The steps.
    pub(crate) rows: Vec<Row>,
    /// What goes wrong at the end, for each thread that it is about.
    pub(crate) ends: Vec<(usize, String)>,
    /// The row, from 0, that follows the last one again.
    pub(crate) loop_start: Option<usize>,
}

/// A step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    /// The step, from 1; none if it is no step of its own.
    pub(crate) number: Option<usize>,
    /// The column of its thread.
    pub(crate) thread: usize,
    /// What it does, and to what.
    pub(crate) text: String,
    /// The object alone.
    pub(crate) object: Option<String>,
    /// What was read, written or chosen.
    pub(crate) value: Option<String>,
    /// Where in the source.
    pub(crate) location: Option<Location>,
    /// Whether the thread of the row before could have gone on.
    pub(crate) is_preempted: bool,
    /// The rows of other threads that it follows directly.
    pub(crate) follows: Vec<Edge>,
    /// For each thread, how many of its steps are in the causal past of this one, itself included.
    pub(crate) clock: Vec<usize>,
}

/// Why a step comes after another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Edge {
    /// The row that it follows.
    pub(crate) from: usize,
    /// Whether the two are accesses to one object, which could come the other way round; if not,
    /// the one synchronises with the other.
    pub(crate) is_race: bool,
}

impl Diagram {
    /// That of a violation; none if nothing goes wrong, or nothing is known of its steps.
    pub(crate) fn of(report: &Report<'_>) -> Option<Self> {
        let Verdict::Violated(found) = report.verdict else { return None };
        let diagram = Self::new(report, found);
        (!diagram.rows.is_empty() || !diagram.ends.is_empty()).then_some(diagram)
    }

    /// The same with the rows that people are shown.
    pub(crate) fn shown(report: &Report<'_>) -> Option<Self> {
        let Verdict::Violated(found) = report.verdict else { return None };
        let shown = interleaving(report, found);
        let diagram = Self::of_lines(report, found, &shown);
        (!diagram.rows.is_empty() || !diagram.ends.is_empty()).then_some(diagram)
    }

    fn of_lines(report: &Report<'_>, found: &Counterexample, shown: &Interleaving<'_>) -> Self {
        let names = Names::of(shown);
        let lines = lines(shown, &names);
        let waiting = found.waits.iter().map(|wait| Who::Thread(wait.thread));
        let failing = shown.failed_by.map(|site| Who::Thread(site.thread));
        let acting = lines.iter().map(|line| line.who.clone());
        let mut columns: BTreeMap<Who, usize> =
            acting.chain(waiting).chain(failing).map(|who| (who, 0)).collect();
        columns.values_mut().enumerate().for_each(|(idx, column)| *column = idx);
        let follows = edges(&found.execution.happens_before(), &lines);
        let told = |line: &Line| Some(found.story.get(line.number?.checked_sub(1)?)?.clone());
        let rows: Vec<Row> = lines
            .iter()
            .zip(follows)
            .map(|(line, follows)| {
                let told = told(line);
                let (object, value) = match &line.accessed {
                    Some((memory, value)) => (Some(memory.clone()), Some(value.clone())),
                    None => told.map_or((None, None), |told| (told.object, told.value)),
                };
                Row {
                    number: line.number,
                    thread: columns[&line.who],
                    text: line.text.clone(),
                    object,
                    value,
                    location: line.location.clone(),
                    is_preempted: line.is_preempted,
                    follows,
                    clock: Vec::new(),
                }
            })
            .collect();
        let waiting = found.waits.iter();
        let mut ends: Vec<(usize, String)> =
            waiting.map(|wait| (columns[&Who::Thread(wait.thread)], names.wish(wait))).collect();
        if let (Some((_, what)), true, true) =
            (shown.failed, ends.is_empty(), found.accesses.is_empty())
        {
            let failing = shown.failed_by.map(|site| columns[&Who::Thread(site.thread)]);
            let last = || rows.iter().rfind(|row| row.number.is_some()).map(|row| row.thread);
            ends.extend(failing.or_else(last).map(|column| (column, what.to_owned())));
        }
        let is_in_loop = |row: &Row| {
            let start = report.loop_start.unwrap_or(usize::MAX);
            row.number.is_some_and(|number| number >= start)
        };
        let loop_start = rows.iter().position(is_in_loop);
        let threads = columns.keys().map(|who| names.who(who)).collect();
        Self { threads, rows, ends, loop_start }
    }

    fn new(report: &Report<'_>, found: &Counterexample) -> Self {
        let shown = interleaving(report, found);
        let names = Names::of(&shown);
        let order = found.execution.happens_before();
        let columns = Columns::of(found, &names);
        let mut preempted = preemptions(&found.execution, &found.waits);
        let n_rows = found.execution.steps.len().max(found.story.len());
        preempted.resize(n_rows, false);
        let row = |idx: usize| {
            let told = told(&found.execution, &found.story, idx);
            let at = idx as Position + 1;
            let is_known = idx < found.execution.steps.len();
            Row {
                number: Some(idx + 1),
                thread: columns.of_row(found, idx),
                text: names.step(&shown, idx),
                object: told.object.clone(),
                value: told.value.clone(),
                location: told.location.clone(),
                is_preempted: preempted[idx],
                follows: if is_known { follows(&order, at) } else { Vec::new() },
                clock: if is_known { columns.clock(&order, at) } else { Vec::new() },
            }
        };
        let rows: Vec<Row> = (0..n_rows).map(row).collect();
        let waiting = found.waits.iter();
        let mut ends: Vec<(usize, String)> = waiting
            .map(|wait| (columns.by_thread[&wait.thread], names.operation(wait.operation)))
            .collect();
        if let (Some((step, what)), true) = (shown.failed, ends.is_empty())
            && let Some(row) = rows.get(step.wrapping_sub(1))
        {
            ends.push((row.thread, what.to_owned()));
        }
        let loop_start = report.loop_start.and_then(|start| start.checked_sub(1));
        Self { threads: columns.names, rows, ends, loop_start }
    }
}

/// A counterexample as it is shown.
fn interleaving<'a>(report: &'a Report<'_>, found: &'a Counterexample) -> Interleaving<'a> {
    let mut shown = Interleaving::from(found);
    shown.thread_names = &report.thread_names;
    shown.object_names = &report.object_names;
    shown.is_full = report.is_full;
    shown.sources = Some(&report.sources);
    shown
}

/// For each line, the lines of other threads that it follows directly.
fn edges(order: &HappensBefore, lines: &[Line]) -> Vec<Vec<Edge>> {
    let position = |line: &Line| {
        let last = line.steps.iter().max().filter(|&&idx| idx < order.len());
        last.map(|&idx| idx as Position + 1)
    };
    let positions: Vec<Option<Position>> = lines.iter().map(position).collect();
    // The last lines so far, one for each thread.
    let mut last: BTreeMap<&Who, usize> = BTreeMap::new();
    let mut all = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let others = last.iter().filter(|(who, _)| **who != &line.who).map(|(_, &from)| from);
        let is_joined = |from: usize| match lines[from].who {
            Who::Thread(thread) => line.joined.contains(&thread),
            Who::Name(_) => false,
        };
        let comes_after = |from: usize, to: Option<Position>| match (positions[from], to) {
            (Some(from), Some(to)) => order.ordered(from, to),
            _ => false,
        };
        let before = last.get(&line.who).and_then(|&own| positions[own]);
        let direct: Vec<usize> = others
            .filter(|&from| is_joined(from) || comes_after(from, positions[at]))
            .filter(|&from| !comes_after(from, before))
            .collect();
        let is_needed = |from: &usize| {
            !direct.iter().any(|&to| to != *from && comes_after(*from, positions[to]))
        };
        let is_access_at = |idx: usize| {
            positions[idx].is_some_and(|position| is_access(order.operation(position)))
        };
        let edges = direct.iter().copied().filter(is_needed);
        let is_race = |from: usize| is_access_at(from) && is_access_at(at);
        all.push(edges.map(|from| Edge { from, is_race: is_race(from) }).collect());
        last.insert(&line.who, at);
    }
    all
}

/// Which thread has which column.
struct Columns {
    by_thread: BTreeMap<ThreadId, usize>,
    by_name: BTreeMap<String, usize>,
    names: Vec<String>,
}

impl Columns {
    fn of(found: &Counterexample, names: &Names) -> Self {
        let steps = found.execution.steps.iter().map(|step| step.decision.thread);
        let waiting = found.waits.iter().map(|wait| wait.thread);
        let mut by_thread: BTreeMap<ThreadId, usize> =
            steps.chain(waiting).map(|thread| (thread, 0)).collect();
        by_thread.values_mut().enumerate().for_each(|(idx, column)| *column = idx);
        let mut all: Vec<String> = by_thread.keys().map(|&thread| names.thread(thread)).collect();
        let mut by_name = BTreeMap::new();
        for told in found.story.iter().skip(found.execution.steps.len()) {
            by_name.entry(told.thread.clone()).or_insert_with(|| {
                all.push(told.thread.clone());
                all.len() - 1
            });
        }
        Self { by_thread, by_name, names: all }
    }

    fn of_row(&self, found: &Counterexample, idx: usize) -> usize {
        match found.execution.steps.get(idx) {
            Some(step) => self.by_thread[&step.decision.thread],
            None => self.by_name[&found.story[idx].thread],
        }
    }

    fn clock(&self, order: &HappensBefore, at: Position) -> Vec<usize> {
        let clock = order.clock_at(at);
        let known = |thread: ThreadId| {
            let last = clock.get(thread.index()).copied().unwrap_or(0);
            order.steps_of(thread).iter().filter(|&&step| step <= last).count()
        };
        self.by_thread.keys().map(|&thread| known(thread)).collect()
    }
}

/// The steps of other threads that a step follows directly.
fn follows(order: &HappensBefore, at: Position) -> Vec<Edge> {
    let thread = order.thread(at);
    let before = order.steps_of(thread).iter().copied().rfind(|&step| step < at);
    let is_new = |&step: &Position| before.is_none_or(|before| !order.ordered(step, before));
    let clock = order.clock_at(at);
    let others = (0..clock.len()).filter(|&idx| idx != thread.index());
    let last: Vec<Position> =
        others.map(|idx| clock[idx]).filter(|&step| step > 0).filter(is_new).collect();
    let is_direct =
        |&step: &Position| !last.iter().any(|&other| other != step && order.ordered(step, other));
    let edge = |step: Position| Edge {
        from: step as usize - 1,
        is_race: is_access(order.operation(step)) && is_access(order.operation(at)),
    };
    last.iter().copied().filter(is_direct).map(edge).collect()
}

fn is_access(operation: Operation) -> bool {
    operation.is_access() || matches!(operation, Operation::Await(_) | Operation::AwaitModify(_))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn a_row_follows_the_last_steps_that_it_knows_of_and_no_earlier_ones() {
        let sample = samples::lost_update();
        let diagram = Diagram::of(&sample.report()).expect("something goes wrong");
        assert_eq!(diagram.threads, ["main", "worker-1", "worker-2"]);
        let follows: Vec<Vec<(usize, bool)>> = diagram
            .rows
            .iter()
            .map(|row| row.follows.iter().map(|edge| (edge.from, edge.is_race)).collect())
            .collect();
        // Both loads follow their spawn, the first store the other load, the second one the first.
        let expected: [&[(usize, bool)]; 9] = [
            &[],
            &[],
            &[(0, false)],
            &[(1, false)],
            &[(2, true)],
            &[(4, true)],
            &[(5, false)],
            &[],
            &[],
        ];
        assert_eq!(follows, expected);
        assert_eq!(diagram.rows[5].clock, [2, 2, 2]);
        assert_eq!(diagram.ends, [(0, "assertion fails".to_owned())]);
    }

    #[test]
    fn threads_that_wait_have_columns_and_ends() {
        let sample = samples::deadlock();
        let diagram = Diagram::of(&sample.report()).expect("something goes wrong");
        let ends = [(0, "acquire log".to_owned()), (1, "acquire accounts".to_owned())];
        assert_eq!(diagram.ends, ends);
    }
}
