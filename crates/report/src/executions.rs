//! What distinguishes executions in which nothing goes wrong.
//!
//! Executions of different traces differ in the order of steps that race. So an execution is told
//! by its racing pairs, in the order in which they happened, and by the values that steps have
//! found; and of both only what is not the same in all executions that are shown. A pair is the
//! same in another execution if that orders its steps in the same way, perhaps by way of others.
//!
//! Under a memory model that is not sequential consistency, the order of the steps says nothing
//! about memory. There the pairs are the writes and those who read them, and writes of one object
//! that follow each other in modification order.

use crate::interleaving::{Interleaving, Names};
use crate::replay::push_indented;
use crate::select::Line;
use crate::style::{columns, wrap_hanging};
use crate::{Page, Report, Style, counted, grouped};
use mazurka_core::{
    HappensBefore, Location, ObjectId, Operation, PassingExecution, Position, ThreadId, Verdict,
};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// So many pairs and values are shown of one execution.
const MOST: usize = 12;

/// How the two steps of a pair are related.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Relation {
    /// The first comes before the second.
    Before,
    /// The second reads what the first has written.
    ReadBy,
}

/// Two steps, by their places; the first is none where the second reads the initial value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pair {
    pub(crate) first: Option<usize>,
    pub(crate) relation: Relation,
    pub(crate) second: usize,
}

/// What one of several executions has, and not all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Distinction {
    /// In the order of their second steps.
    pub(crate) pairs: Vec<Pair>,
    /// The steps with another value than in some other execution.
    pub(crate) values: Vec<usize>,
}

/// What distinguishes each of these executions from the others; of one alone, all its pairs.
pub(crate) fn distinctions(all: &[PassingExecution]) -> Vec<Distinction> {
    let views: Vec<View<'_>> = all.iter().map(View::of).collect();
    let distinction = |(idx, view): (usize, &View<'_>)| {
        let others = || views.iter().enumerate().filter(move |(at, _)| *at != idx).map(|it| it.1);
        let is_alone = views.len() == 1;
        let differs = |pair: &Pair| is_alone || others().any(|other| !other.has(view, pair));
        let has_other_value = |&at: &usize| others().any(|other| other.has_other_value(view, at));
        Distinction {
            pairs: view.pairs().into_iter().filter(differs).collect(),
            values: (0..view.of.story.len()).filter(has_other_value).collect(),
        }
    };
    views.iter().enumerate().map(distinction).collect()
}

/// A step of a thread: the how many-th it is, from 0.
type StepId = (ThreadId, usize);

/// An execution with what is known of its order.
struct View<'a> {
    of: &'a PassingExecution,
    order: HappensBefore,
    ids: Vec<StepId>,
    places: BTreeMap<StepId, usize>,
    /// The writes of each object in modification order, where a memory model decides that.
    writes: BTreeMap<ObjectId, Vec<usize>>,
}

impl<'a> View<'a> {
    fn of(of: &'a PassingExecution) -> Self {
        let mut counts: BTreeMap<ThreadId, usize> = BTreeMap::new();
        let ids: Vec<StepId> = of
            .execution
            .steps
            .iter()
            .map(|step| {
                let thread = step.decision.thread;
                let count = counts.entry(thread).or_default();
                *count += 1;
                (thread, *count - 1)
            })
            .collect();
        let places = ids.iter().enumerate().map(|(at, &id)| (id, at)).collect();
        let mut view =
            Self { of, order: of.execution.happens_before(), ids, places, writes: BTreeMap::new() };
        for at in 0..of.sources.len() {
            let (Some(source), Some(object)) = (view.source(at), view.operation(at).object())
            else {
                continue;
            };
            if !of.sources[at].is_some_and(|source| source.wrote) {
                continue;
            }
            let writes = view.writes.entry(object).or_default();
            let behind = source.and_then(|source| writes.iter().position(|&it| it == source));
            writes.insert(behind.map_or(0, |behind| behind + 1), at);
        }
        view
    }

    fn operation(&self, at: usize) -> Operation {
        self.of.execution.steps[at].operation
    }

    /// Where a memory model decides it: the step that this one reads from or comes behind, or the
    /// initial value.
    fn source(&self, at: usize) -> Option<Option<usize>> {
        let source = *self.of.sources.get(at)?;
        source.map(|source| source.step.checked_sub(1))
    }

    /// All pairs.
    fn pairs(&self) -> Vec<Pair> {
        let racing = self.of.execution.racing_pairs().into_iter();
        let racing = racing.map(|(first, second)| (first as usize - 1, second as usize - 1));
        let is_of_steps = |at: usize| self.source(at).is_none();
        let mut pairs: Vec<Pair> = racing
            .filter(|&(first, second)| is_of_steps(first) && is_of_steps(second))
            .map(|(first, second)| Pair { first: Some(first), relation: Relation::Before, second })
            .collect();
        for second in 0..self.of.sources.len() {
            let Some(first) = self.source(second) else { continue };
            if !matches!(self.operation(second), Operation::Store(_)) {
                pairs.push(Pair { first, relation: Relation::ReadBy, second });
            }
        }
        for writes in self.writes.values() {
            for two in writes.windows(2) {
                let is_read = !matches!(self.operation(two[1]), Operation::Store(_));
                if !is_read && self.ids[two[0]].0 != self.ids[two[1]].0 {
                    let first = Some(two[0]);
                    pairs.push(Pair { first, relation: Relation::Before, second: two[1] });
                }
            }
        }
        pairs.sort_by_key(|pair| (pair.second, pair.first));
        pairs
    }

    /// The same step as that of another execution, if it is there.
    fn same(&self, other: &Self, at: usize) -> Option<usize> {
        let here = *self.places.get(&other.ids[at])?;
        let (mine, theirs) = (self.operation(here), other.operation(at));
        let is_same = mine.name() == theirs.name() && mine.object() == theirs.object();
        is_same.then_some(here)
    }

    /// Whether a pair of another execution is one here, too.
    fn has(&self, other: &Self, pair: &Pair) -> bool {
        let Some(second) = self.same(other, pair.second) else { return false };
        let first = match pair.first.map(|first| self.same(other, first)) {
            None => None,
            Some(Some(first)) => Some(first),
            Some(None) => return false,
        };
        if pair.relation == Relation::ReadBy {
            return self.source(second) == Some(first);
        }
        let Some(first) = first else { return false };
        match (self.source(first), self.source(second)) {
            (None, None) if self.of.sources.is_empty() => {
                self.order.ordered(first as Position + 1, second as Position + 1)
            }
            // Steps that memory is not about, and both on one object, are in the order of steps.
            (None, None) => first < second,
            _ => {
                let object = self.operation(second).object();
                let writes = object.and_then(|object| self.writes.get(&object));
                let place = |at: usize| writes?.iter().position(|&write| write == at);
                place(first).zip(place(second)).is_some_and(|(first, second)| first < second)
            }
        }
    }

    /// Whether a step of another execution has found something else here.
    fn has_other_value(&self, other: &Self, at: usize) -> bool {
        let Some(here) = self.same(other, at) else { return false };
        let value = |view: &Self, at: usize| {
            let step = view.of.execution.steps[at];
            let choice = (step.operation == Operation::Choose).then_some(step.decision.choice);
            (choice, view.of.story.get(at).and_then(|told| told.value.clone()))
        };
        value(self, here) != value(other, at)
    }
}

/// Adds the executions that are to be shown, if there was to be any.
pub(crate) fn push(page: &mut Page, report: &Report<'_>, style: &Style) {
    if !report.shows_executions || matches!(report.verdict, Verdict::Violated(_)) {
        return;
    }
    let room = style.columns();
    let all = report.executions;
    page.line("");
    for line in wrap_hanging(&heading(report), room, 4) {
        page.line(&line);
    }
    let width = all.len().to_string().len();
    for (idx, (execution, distinction)) in all.iter().zip(distinctions(all)).enumerate() {
        let shown = Interleaving {
            story: &execution.story,
            joins: &execution.joins,
            thread_names: &report.thread_names,
            object_names: &report.object_names,
            is_full: report.is_full,
            ..Interleaving::new(&execution.execution)
        };
        let is_only = is_only_one(report);
        let texts = if is_only { Vec::new() } else { texts(&shown, &distinction, all.len()) };
        let number = format!("  {:>width$}  ", idx + 1);
        let margin = " ".repeat(number.len());
        page.line("");
        let mut before = number.as_str();
        let steps = counted(execution.schedule.len() as u64, "step");
        page.line(&format!("{before}{steps}"));
        before = &margin;
        for text in &texts {
            for line in text.lines(room - margin.len(), style) {
                page.line(&format!("{before}{line}"));
            }
        }
        push_indented(page, &margin, report, &execution.schedule, style);
    }
}

/// The same as a text of its own; empty if nothing is to be shown.
pub fn render(report: &Report<'_>, style: &Style) -> String {
    let mut page = Page::new(*style);
    push(&mut page, report, style);
    page.into_text()
}

/// Whether there is one execution, up to the order of independent steps.
fn is_only_one(report: &Report<'_>) -> bool {
    report.executions.len() == 1 && report.traces == Some(1)
}

fn heading(report: &Report<'_>) -> String {
    let n_shown = report.executions.len();
    match (n_shown, report.traces) {
        (0, _) => match report.verdict {
            Verdict::Inconclusive(_) => {
                "Executions: none is shown of a search that was stopped before its end".to_owned()
            }
            _ => "Executions: none is shown: there was no time left, or they were explored \
                  elsewhere"
                .to_owned(),
        },
        (1, Some(1)) => "Executions: there is one, up to the order of independent steps".to_owned(),
        (1, _) => "Executions: the first, with all pairs of steps that race in it".to_owned(),
        (n, Some(traces)) if traces == n as u64 => {
            format!("Executions: all {}, and what distinguishes them", grouped(traces))
        }
        (n, Some(traces)) => format!(
            "Executions: the first {n} of {}, each of another trace, and what distinguishes them",
            grouped(traces)
        ),
        (n, None) => {
            format!("Executions: the first {n}, each of another trace, and what distinguishes them")
        }
    }
}

/// What distinguishes an execution, a text for each pair and each value.
fn texts(shown: &Interleaving<'_>, distinction: &Distinction, n_shown: usize) -> Vec<Text> {
    let names = Names::of(shown);
    let mut rows = Rows::new(shown.lines(), distinction);
    let is_any = !distinction.pairs.is_empty() || !distinction.values.is_empty();
    if rows.is_empty() && is_any && !shown.is_full {
        // Libraries alone make the difference.
        let full = Interleaving { is_full: true, ..*shown };
        rows = Rows::new(full.lines(), distinction);
    }
    let mut texts = rows.texts(&names);
    if texts.len() > MOST {
        let more = counted((texts.len() - MOST) as u64, "difference");
        texts.truncate(MOST);
        texts.push(Text::of(format!("and {more} more, in what `--json FILE` writes")));
    }
    if texts.is_empty() {
        texts.push(Text::of(match n_shown {
            1 => "no two steps race",
            _ => {
                "the same pairs and values as in the others; what `--json FILE` writes has its steps"
            }
        }));
    }
    texts
}

/// Something to be told of an execution: a step, or how it is related to another one.
struct Text {
    first: String,
    /// The words for a relation, with the other step.
    second: Option<String>,
}

impl Text {
    /// A step or a sentence by itself.
    fn of(text: impl Into<String>) -> Self {
        Self { first: text.into(), second: None }
    }

    /// One line if there is room for both steps, else the second begins one of its own.
    fn lines(&self, room: usize, style: &Style) -> Vec<String> {
        const INDENT: usize = 4;
        let first = style.clean_line(&self.first);
        let Some(second) = self.second.as_ref().map(|second| style.clean_line(second)) else {
            return wrap_hanging(&first, room, INDENT);
        };
        let both = format!("{first} {second}");
        if columns(&both) <= room {
            return vec![both];
        }
        let second = wrap_hanging(&second, room.saturating_sub(INDENT), INDENT);
        let second = second.into_iter().map(|line| format!("{:INDENT$}{line}", ""));
        wrap_hanging(&first, room, INDENT).into_iter().chain(second).collect()
    }
}

/// The rows of an execution that distinguish it.
struct Rows {
    lines: Vec<Line>,
    pairs: Vec<(Option<usize>, Relation, usize)>,
    values: Vec<usize>,
}

impl Rows {
    fn new(lines: Vec<Line>, distinction: &Distinction) -> Self {
        let mut row_of: BTreeMap<usize, usize> = BTreeMap::new();
        for (row, line) in lines.iter().enumerate() {
            row_of.extend(line.steps.iter().map(|&step| (step, row)));
        }
        let (mut pairs, mut seen) = (Vec::new(), BTreeSet::new());
        for pair in &distinction.pairs {
            let Some(&second) = row_of.get(&pair.second) else { continue };
            let first = match pair.first.map(|first| row_of.get(&first)) {
                None => None,
                Some(Some(&first)) => Some(first),
                Some(None) => continue,
            };
            let rows = (first, pair.relation, second);
            if first != Some(second) && seen.insert(rows) {
                pairs.push(rows);
            }
        }
        let told: BTreeSet<usize> = pairs
            .iter()
            .flat_map(|&(first, _, second)| first.into_iter().chain([second]))
            .collect();
        let values = distinction.values.iter().filter_map(|step| row_of.get(step).copied());
        let values: BTreeSet<usize> = values.filter(|row| !told.contains(row)).collect();
        Self { lines, pairs, values: values.into_iter().collect() }
    }

    fn is_empty(&self) -> bool {
        self.pairs.is_empty() && self.values.is_empty()
    }

    fn texts(&self, names: &Names) -> Vec<Text> {
        let row = |row: usize| {
            let line = &self.lines[row];
            let who = names.who(&line.who);
            match &line.location {
                Some(place) => {
                    let place = Location { within: None, ..place.clone() };
                    format!("{place} {who}: {}", line.text)
                }
                None => format!("{who}: {}", line.text),
            }
        };
        let pairs = self.pairs.iter().map(|&(first, relation, second)| {
            let second = row(second);
            let words = match relation {
                Relation::Before => "before",
                Relation::ReadBy => "read by",
            };
            let first = first.map_or("the initial value".to_owned(), row);
            Text { first, second: Some(format!("{words} {second}")) }
        });
        pairs.chain(self.values.iter().map(|&value| Text::of(row(value)))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{Sample, Story, object};
    use Operation as O;
    use expect_test::{Expect, expect};
    use mazurka_core::{Coverage, Limit, Property, Source};

    const THREADS: [&str; 3] = ["main", "a", "b"];
    const OBJECTS: [&str; 2] = ["x", "y"];

    fn story() -> Story<'static> {
        Story::new(&THREADS, &OBJECTS).file("x.c")
    }

    fn shown(all: &[PassingExecution], traces: Option<u64>, width: usize) -> String {
        let sample = Sample::of(Verdict::Holds(Coverage::of([Property::Assertion])));
        let mut report = sample.report();
        report.shows_executions = true;
        report.executions = all;
        report.traces = traces;
        report.replay_with = Some("mazurka replay x.c --schedule");
        render(&report, &Style::new().width(width))
    }

    fn check(all: &[PassingExecution], traces: Option<u64>, expect: Expect) {
        expect.assert_eq(&shown(all, traces, 80));
        for width in 20..80 {
            let is_schedule = |line: &str| line.contains("mzk1:");
            let text = shown(all, traces, width);
            let lines = text.lines().filter(|line| !is_schedule(line));
            let room = width.max(Style::MIN_WIDTH);
            lines.for_each(|line| assert!(crate::style::columns(line) <= room, "{line}"));
        }
    }

    /// What comes first in one execution and last in the other is shown; what comes first in both
    /// is not, whether by itself or by way of something between.
    #[test]
    fn pairs_that_all_have_are_left_out() {
        let (x, y) = (object(0), object(1));
        let between = story()
            .step(1, O::Store(y), "0→1", 3)
            .step(1, O::Store(x), "0→1", 4)
            .step(2, O::Store(x), "1→2", 9)
            .step(0, O::Load(x), "= 2", 12)
            .step(0, O::Load(y), "= 1", 13)
            .passes(&[]);
        let last = story()
            .step(1, O::Store(y), "0→1", 3)
            .step(1, O::Store(x), "0→1", 4)
            .step(0, O::Load(x), "= 1", 12)
            .step(2, O::Store(x), "1→2", 9)
            .step(0, O::Load(y), "= 1", 13)
            .passes(&[]);
        check(
            &[between, last],
            Some(2),
            expect![[r#"

            Executions: all 2, and what distinguishes them

              1  5 steps
                 x.c:9:9 b: store x 1→2 before x.c:12:9 main: load x = 2
                 Replay: mazurka replay x.c --schedule mzk1:1x2.2.0x2

              2  5 steps
                 x.c:12:9 main: load x = 1 before x.c:9:9 b: store x 1→2
                 Replay: mazurka replay x.c --schedule mzk1:1x2.0.2.0
        "#]],
        );
    }

    #[test]
    fn values_without_a_pair_are_told() {
        let x = object(0);
        let of = |first: usize, values: [&str; 3]| {
            let second = 3 - first;
            story()
                .step(first, O::Add(x), values[0], 3)
                .step(second, O::Add(x), values[1], 3)
                .step(0, O::Choose, values[2], 8)
                .passes(&[])
        };
        check(
            &[of(1, ["0→1", "1→2", "= 0"]), of(2, ["0→1", "1→2", "= 1"])],
            None,
            expect![[r#"

                Executions: the first 2, each of another trace, and what distinguishes them

                  1  3 steps
                     x.c:3:9 a: add x 0→1
                     x.c:3:9 b: add x 1→2
                     x.c:8:9 main: choose = 0
                     Replay: mazurka replay x.c --schedule mzk1:1.2.0

                  2  3 steps
                     x.c:3:9 b: add x 0→1
                     x.c:3:9 a: add x 1→2
                     x.c:8:9 main: choose = 1
                     Replay: mazurka replay x.c --schedule mzk1:2.1.0
            "#]],
        );
    }

    /// A write that one has not read, and two writes that are in another order.
    #[test]
    fn reads_of_a_memory_model() {
        let x = object(0);
        let source = |step: usize, wrote: bool| Some(Source { step, wrote });
        let of = |read: usize, value: &str, behind: usize| {
            story()
                .step(1, O::Store(x), "0→1", 3)
                .step(2, O::Store(x), "→2", 6)
                .step(0, O::Load(x), value, 9)
                .passes(&[source(0, true), source(behind, true), source(read, false)])
        };
        check(
            &[of(0, "= 0", 1), of(1, "= 1", 1), of(1, "= 1", 0)],
            Some(9),
            expect![[r#"

            Executions: the first 3 of 9, each of another trace, and what distinguishes them

              1  3 steps
                 x.c:3:9 a: store x 0→1 before x.c:6:9 b: store x →2
                 the initial value read by x.c:9:9 main: load x = 0
                 Replay: mazurka replay x.c --schedule mzk1:1.2.0

              2  3 steps
                 x.c:3:9 a: store x 0→1 before x.c:6:9 b: store x →2
                 x.c:3:9 a: store x 0→1 read by x.c:9:9 main: load x = 1
                 Replay: mazurka replay x.c --schedule mzk1:1.2.0

              3  3 steps
                 x.c:6:9 b: store x →2 before x.c:3:9 a: store x 0→1
                 x.c:3:9 a: store x 0→1 read by x.c:9:9 main: load x = 1
                 Replay: mazurka replay x.c --schedule mzk1:1.2.0
        "#]],
        );
    }

    #[test]
    fn one_alone_and_none() {
        let x = object(0);
        let two = || story().step(1, O::Store(x), "0→1", 3).step(2, O::Load(x), "= 1", 6);
        check(
            &[two().passes(&[])],
            Some(3),
            expect![[r#"

            Executions: the first, with all pairs of steps that race in it

              1  2 steps
                 x.c:3:9 a: store x 0→1 before x.c:6:9 b: load x = 1
                 Replay: mazurka replay x.c --schedule mzk1:1.2
        "#]],
        );
        check(
            &[two().passes(&[])],
            Some(1),
            expect![[r#"

            Executions: there is one, up to the order of independent steps

              1  2 steps
                 Replay: mazurka replay x.c --schedule mzk1:1.2
        "#]],
        );
        check(
            &[],
            Some(3),
            expect![[r#"

            Executions: none is shown: there was no time left, or they were explored
                elsewhere
        "#]],
        );
        let sample = Sample::of(Verdict::Inconclusive(Limit::Interrupted));
        let mut report = sample.report();
        assert_eq!(render(&report, &Style::new()), "", "it was not asked for");
        report.shows_executions = true;
        expect![[r#"

            Executions: none is shown of a search that was stopped before its end
        "#]]
        .assert_eq(&render(&report, &Style::new()));
    }

    #[test]
    fn there_is_an_end_to_what_is_shown() {
        let x = object(0);
        let of = |first: usize| {
            let turns = (0..30).map(|turn| (turn + first) % 2 + 1);
            let story = turns.fold(story(), |story, idx| story.step(idx, O::Store(x), "", 3));
            story.passes(&[])
        };
        let text = shown(&[of(0), of(1)], None, 80);
        assert_eq!(text.matches(" before ").count(), 2 * MOST, "{text}");
        assert!(text.contains("more, in what `--json FILE` writes"), "{text}");
    }
}
