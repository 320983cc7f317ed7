//! An execution as a table: one line for each step, one column for each thread, and where in the
//! source it is. `layout.rs` says where on the page everything goes.

use crate::fold::{Piece, fold};
use crate::layout::Layout;
use crate::number::{counted, grouped};
use crate::places::Place;
use crate::select::{Line, in_short, is_atomic, lines};
use crate::{Page, Sources, Style};
use mazurka_core::{
    Access, Counterexample, Effect, Execution, FailureSite, Location, ObjectId, Operation, Step,
    ThreadId, Told, ViolationKind, Wait,
};
use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// An execution to be shown, and what it comes to.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Interleaving<'a> {
    /// The steps.
    pub execution: &'a Execution,
    /// The steps as people read them. Where it ends, the operations are shown.
    pub story: &'a [Told],
    /// Who waits in the end.
    pub waits: &'a [Wait],
    /// What people call the threads; where it ends or is empty, the names of the story serve.
    pub thread_names: &'a [String],
    /// What people call objects that no step names: what a thread waits for in the end, say.
    pub object_names: &'a [(ObjectId, String)],
    /// The step, from 1, at which something goes wrong, and what.
    pub failed: Option<(usize, &'a str)>,
    /// Who fails and where, if that is known.
    pub failed_by: Option<&'a FailureSite>,
    /// What goes wrong, if anything does.
    pub kind: Option<ViolationKind>,
    /// The joins of the execution as people read them.
    pub joins: &'a [Told],
    /// The two accesses of a data race.
    pub accesses: &'a [Access],
    /// The other plain accesses to memory that several threads access.
    pub shared: &'a [Access],
    /// Two steps, from 1, that are shown whatever they are.
    pub decisive: Option<(usize, usize)>,
    /// Whether all steps are shown, and not only those that matter.
    pub is_full: bool,
    /// The step, from 1, that follows the last one again.
    pub loop_start: Option<usize>,
    /// The source texts, if they are to be shown.
    pub sources: Option<&'a Sources>,
}

impl<'a> Interleaving<'a> {
    /// An execution of which nothing is known but its steps.
    pub fn new(execution: &'a Execution) -> Self {
        Self {
            execution,
            story: &[],
            waits: &[],
            thread_names: &[],
            object_names: &[],
            failed: None,
            failed_by: None,
            kind: None,
            joins: &[],
            accesses: &[],
            shared: &[],
            decisive: None,
            is_full: true,
            loop_start: None,
            sources: None,
        }
    }

    /// The table. Empty if there is nothing to show.
    pub fn render(&self, style: &Style) -> String {
        self.render_lines(&self.lines(), style)
    }

    /// The rows that are shown.
    pub(crate) fn lines(&self) -> Vec<Line> {
        lines(self, &Names::of(self))
    }

    /// The table with these rows.
    pub(crate) fn render_lines(&self, lines: &[Line], style: &Style) -> String {
        let mut page = Page::new(*style);
        let table = Table::new(self, lines, style);
        if !table.rows.is_empty() {
            Layout::render(&table, style, &mut page);
        }
        page.into_text()
    }

    /// How many steps are not shown, in words, if there are such.
    pub(crate) fn hidden(&self, lines: &[Line]) -> Option<String> {
        let shown = lines.iter().filter(|line| line.number.is_some()).count();
        let is_begin = |step: &&Step| step.operation == Operation::Begin;
        let beginnings = self.execution.steps.iter().filter(is_begin).count();
        // That a thread begins is not missed, and counts as a step all the same.
        let is_any_missed = !self.is_full && shown < self.n_steps() - beginnings;
        let [few, all] = [shown, self.n_steps()].map(|n| grouped(n as u64));
        is_any_missed.then(|| format!("{few} of {all} steps; `--trace full` shows all"))
    }

    pub(crate) fn n_steps(&self) -> usize {
        self.execution.steps.len().max(self.story.len())
    }
}

impl<'a> From<&'a Counterexample> for Interleaving<'a> {
    fn from(found: &'a Counterexample) -> Self {
        let Counterexample { violation, execution, story, waits, accesses, shared, joins, .. } =
            found;
        let n_steps = execution.steps.len().max(story.len());
        let at_last_step = !matches!(
            violation.kind,
            ViolationKind::Deadlock
                | ViolationKind::Livelock
                | ViolationKind::Ltl
                | ViolationKind::InvalidEnd
                | ViolationKind::Leak
        );
        let failed_by = found.failed.as_ref().filter(|_| at_last_step);
        let step = failed_by.map_or(n_steps, |site| site.step);
        let failed = (at_last_step && n_steps > 0).then_some((step, violation.in_words()));
        let decisive = found.decisive.as_ref().map(|pair| (pair.first, pair.second));
        Self {
            story,
            waits,
            failed,
            failed_by,
            kind: Some(violation.kind),
            joins,
            accesses,
            shared,
            decisive,
            is_full: false,
            ..Self::new(execution)
        }
    }
}

/// A step as people read it: from the story or, where that ends, from the operation.
pub(crate) fn told<'a>(execution: &Execution, story: &'a [Told], idx: usize) -> Cow<'a, Told> {
    if let Some(told) = story.get(idx) {
        return Cow::Borrowed(told);
    }
    let Step { decision, operation, .. } = execution.steps[idx];
    let object = match operation {
        Operation::Spawn(thread) | Operation::Join(thread) => Some(thread.to_string()),
        other => other.object().map(|object| object.to_string()),
    };
    Cow::Owned(Told {
        thread: decision.thread.to_string(),
        operation: operation.name().to_owned(),
        object,
        value: None,
        raw: None,
        order: None,
        location: None,
    })
}

/// Who has a column: a thread or, if there are no steps but a story, a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Who {
    Thread(ThreadId),
    Name(String),
}

impl Ord for Who {
    /// Processes of a model are in the order of their numbers: `server:0`, `client:1`.
    fn cmp(&self, other: &Self) -> Ordering {
        let number =
            |name: &str| name.rsplit_once(':').and_then(|(_, it)| it.parse::<usize>().ok());
        match (self, other) {
            (Self::Thread(a), Self::Thread(b)) => a.cmp(b),
            (Self::Thread(_), Self::Name(_)) => Ordering::Less,
            (Self::Name(_), Self::Thread(_)) => Ordering::Greater,
            (Self::Name(a), Self::Name(b)) => (number(a), a).cmp(&(number(b), b)),
        }
    }
}

impl PartialOrd for Who {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A text in a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cell {
    pub(crate) column: usize,
    pub(crate) text: String,
}

/// A line of the table, or several if its texts are too long.
#[derive(Clone, Debug)]
pub(crate) enum Row {
    Step {
        number: Option<usize>,
        cell: Cell,
        place: Option<Place>,
    },
    /// What goes wrong, for each thread that it is about, and where.
    Wrong(Vec<Cell>, Option<Place>),
    /// A line across the table, with words in it.
    Rule(&'static str),
    /// What is left out.
    Folded(String),
    /// Where a lasso closes.
    Back(usize),
}

impl Row {
    pub(crate) fn cells(&self) -> &[Cell] {
        match self {
            Self::Step { cell, .. } => std::slice::from_ref(cell),
            Self::Wrong(cells, _) => cells,
            Self::Rule(_) | Self::Folded(_) | Self::Back(_) => &[],
        }
    }

    pub(crate) fn place(&self) -> Option<&Place> {
        match self {
            Self::Step { place, .. } | Self::Wrong(_, place) => place.as_ref(),
            Self::Rule(_) | Self::Folded(_) | Self::Back(_) => None,
        }
    }
}

/// A step, before it is known whether it is shown.
#[derive(Clone, Debug)]
struct Shown {
    number: Option<usize>,
    cell: Cell,
    place: Option<Place>,
    is_preempted: bool,
}

/// What is shown, before its width is known.
pub(crate) struct Table {
    /// The names over the columns.
    pub(crate) names: Vec<String>,
    pub(crate) rows: Vec<Row>,
}

impl Table {
    fn new(shown: &Interleaving<'_>, lines: &[Line], style: &Style) -> Self {
        let names = Names::of(shown);
        let acting = lines.iter().map(|line| line.who.clone());
        let waiting = shown.waits.iter().map(|wait| Who::Thread(wait.thread));
        let failing = shown.failed.and(shown.failed_by).map(|site| Who::Thread(site.thread));
        let mut places: BTreeMap<Who, usize> =
            acting.chain(waiting).chain(failing).map(|who| (who, 0)).collect();
        places.values_mut().enumerate().for_each(|(idx, place)| *place = idx);
        let mut table = Self {
            names: places.keys().map(|who| style.clean_line(&names.who(who))).collect(),
            rows: Vec::new(),
        };
        let cross = style.sign("✗", "x");
        let clean = |text: &str| style.clean_line(text);
        let place = |at: Option<&Location>, text: &str| {
            at.map(|at| Place::new(at, text, shown.sources, style))
        };
        let own_place = |at: Option<&Location>| {
            let at = at.map(|place| Location { within: None, ..place.clone() });
            place(at.as_ref(), "")
        };
        let steps: Vec<Shown> = lines
            .iter()
            .map(|line| Shown {
                number: line.number,
                cell: Cell { column: places[&line.who], text: clean(&line.text) },
                place: place(line.location.as_ref(), &line.text),
                is_preempted: line.is_preempted,
            })
            .collect();
        table.tell_steps(shown, &steps);
        let waiting: Vec<(Cell, Option<Place>)> = shown
            .waits
            .iter()
            .map(|wait| {
                let cell = Cell {
                    column: places[&Who::Thread(wait.thread)],
                    text: format!("{cross} {}", clean(&names.wish(wait))),
                };
                (cell, own_place(wait.location.as_ref()))
            })
            .collect();
        // Where there are places, each has a line for its own.
        if waiting.iter().any(|(_, place)| place.is_some()) {
            table.rows.extend(waiting.into_iter().map(|(cell, at)| Row::Wrong(vec![cell], at)));
        } else if !waiting.is_empty() {
            let cells = waiting.into_iter().map(|(cell, _)| cell).collect();
            table.rows.push(Row::Wrong(cells, None));
        }
        if let Some((step, what)) = shown.failed
            && shown.accesses.is_empty()
        {
            let last = |it: &&Line| it.steps.iter().any(|&idx| idx < step);
            let last = lines.iter().rfind(last).map(|line| line.who.clone());
            let who = shown.failed_by.map(|site| Who::Thread(site.thread)).or(last);
            let column = who.and_then(|who| places.get(&who)).copied().unwrap_or(0);
            let cell = Cell { column, text: format!("{cross} {what}") };
            let at = shown.failed_by.and_then(|site| site.location.as_ref());
            // Behind it are the steps on the way out of the failure, and only if all are shown.
            let is_behind =
                |row: &Row| matches!(row, Row::Step { number: Some(it), .. } if *it > step);
            let behind = table.rows.iter().position(is_behind).unwrap_or(table.rows.len());
            table.rows.insert(behind, Row::Wrong(vec![cell], own_place(at)));
        }
        if let Some(start) = shown.loop_start {
            table.rows.push(Row::Back(start));
        }
        table
    }

    fn tell_steps(&mut self, shown: &Interleaving<'_>, steps: &[Shown]) {
        let number = |idx: usize| steps.get(idx).and_then(|it| it.number);
        let is_in_loop = |idx: &usize| {
            let start = shown.loop_start.unwrap_or(usize::MAX);
            number(*idx).is_some_and(|number| number >= start)
        };
        let loop_at = (0..steps.len()).find(is_in_loop);
        let pieces = fold(
            steps.len(),
            loop_at,
            |a, b| steps[a].cell == steps[b].cell && steps[a].place == steps[b].place,
            |a, b| steps[a].cell.column == steps[b].cell.column,
        );
        let mut at = 0;
        for piece in pieces {
            if loop_at == Some(at) {
                self.rows.push(Row::Rule("from here on for ever"));
            }
            match &piece {
                Piece::Step(idx) => {
                    let Shown { number, cell, place, is_preempted } = steps[*idx].clone();
                    if is_preempted {
                        self.rows.push(Row::Rule("preempted"));
                    }
                    self.rows.push(Row::Step { number, cell, place });
                }
                Piece::Again(block, times) => {
                    let times = counted(*times as u64, "time");
                    let from = number(block.start).unwrap_or(block.start + 1);
                    let to = number(block.end - 1).unwrap_or(block.end);
                    let words = match from == to {
                        true => format!("step {} again, {times}", grouped(from as u64)),
                        false => format!(
                            "steps {} to {} again, {times}",
                            grouped(from as u64),
                            grouped(to as u64)
                        ),
                    };
                    self.rows.push(Row::Folded(words));
                }
                Piece::Run(n) => {
                    let name = &self.names[steps[at].cell.column];
                    let words = format!("{} of {name}", counted(*n as u64, "step"));
                    self.rows.push(Row::Folded(words));
                }
                Piece::More(n) => {
                    self.rows.push(Row::Folded(format!("{} more", counted(*n as u64, "step"))));
                }
            }
            at += piece.len();
        }
    }
}

/// Whose step it is.
pub(crate) fn who(shown: &Interleaving<'_>, idx: usize) -> Who {
    match shown.execution.steps.get(idx) {
        Some(step) => Who::Thread(step.decision.thread),
        None => Who::Name(shown.story[idx].thread.clone()),
    }
}

/// What people call threads and objects, as far as an execution tells.
#[derive(Default)]
pub(crate) struct Names {
    threads: BTreeMap<ThreadId, String>,
    objects: BTreeMap<ObjectId, String>,
}

impl Names {
    pub(crate) fn of(shown: &Interleaving<'_>) -> Self {
        let mut names = Self::default();
        names.objects.extend(shown.object_names.iter().cloned());
        for (step, told) in shown.execution.steps.iter().zip(shown.story) {
            names.threads.entry(step.decision.thread).or_insert_with(|| told.thread.clone());
            let Some(object) = &told.object else { continue };
            match step.operation {
                Operation::Spawn(thread) | Operation::Join(thread) => {
                    names.threads.entry(thread).or_insert_with(|| object.clone());
                }
                operation => {
                    if let Some(id) = operation.object() {
                        names.objects.entry(id).or_insert_with(|| object.clone());
                    }
                }
            }
        }
        for (idx, name) in shown.thread_names.iter().enumerate().take(ThreadId::MAX) {
            if !name.is_empty() {
                names.threads.insert(ThreadId::new(idx), name.clone());
            }
        }
        names
    }

    pub(crate) fn thread(&self, thread: ThreadId) -> String {
        self.threads.get(&thread).cloned().unwrap_or_else(|| thread.to_string())
    }

    pub(crate) fn who(&self, who: &Who) -> String {
        match who {
            Who::Thread(thread) => self.thread(*thread),
            Who::Name(name) => name.clone(),
        }
    }

    /// An operation with what it is about, as far as that has a name.
    pub(crate) fn operation(&self, operation: Operation) -> String {
        let verb = operation.name();
        let objects = match operation {
            Operation::Spawn(thread) | Operation::Join(thread) => vec![self.thread(thread)],
            Operation::Wait { condvar, mutex } | Operation::Reacquire { condvar, mutex } => {
                [condvar, mutex].iter().filter_map(|id| self.objects.get(id).cloned()).collect()
            }
            other => {
                other.object().and_then(|id| self.objects.get(&id).cloned()).into_iter().collect()
            }
        };
        match objects.is_empty() {
            true => verb.to_owned(),
            false => format!("{verb} {}", objects.join(" ")),
        }
    }

    /// What a thread waits for, with what it is about: in the words of the call of a library in
    /// which it waits, if there is one.
    pub(crate) fn wish(&self, wait: &Wait) -> String {
        let call = wait.location.as_ref().and_then(|place| place.within.as_deref());
        if let Some(call) = call.filter(|call| !is_atomic(call))
            && !matches!(wait.operation, Operation::Join(_))
        {
            let call = in_short(call);
            let object = wait.object.as_deref();
            let object = object.filter(|it| is_named(it) || synchronises(wait.operation));
            return object.map_or(call.to_owned(), |object| format!("{call} {object}"));
        }
        let words = self.operation(wait.operation);
        match &wait.object {
            Some(object) if words == wait.operation.name() => format!("{words} {object}"),
            _ => words,
        }
    }

    /// A step in words.
    pub(crate) fn step(&self, shown: &Interleaving<'_>, idx: usize) -> String {
        let told = told(shown.execution, shown.story, idx);
        let operation = shown.execution.steps.get(idx).map(|step| step.operation);
        // An operation on an atomic variable is called as its function is.
        let within = told.location.as_ref().and_then(|place| place.within.as_deref());
        let function = within.filter(|it| is_atomic(it)).and_then(|it| it.rsplit("::").next());
        let is_load = matches!(operation, Some(Operation::Load(_)));
        let effect = shown.execution.steps.get(idx).map(|step| step.effect);
        let written = || {
            let has_failed = effect == Some(Effect::Failed);
            let name = atomic_in_source(&told, shown.sources?)?;
            let is_it = match operation? {
                Operation::Load(_) => has_failed && name.starts_with("compare"),
                other => is_modified(other),
            };
            is_it.then_some(name)
        };
        match function {
            Some(name) if is_load && name.starts_with("compare_exchange") => {
                self.step_as(shown, idx, name) + ", failed"
            }
            Some(name) => self.step_as(shown, idx, name),
            None => match written() {
                Some(name) => self.step_as(shown, idx, &name),
                None => self.step_as(shown, idx, &told.operation),
            },
        }
    }

    /// A step that a call of a library has taken, in the words of the call. What the library calls
    /// its own, and which values that has, is its business.
    pub(crate) fn call(&self, shown: &Interleaving<'_>, idx: usize, call: &str) -> String {
        let told = told(shown.execution, shown.story, idx);
        let operation = shown.execution.steps.get(idx).map(|step| step.operation);
        let is_lock = operation.is_some_and(synchronises);
        let object = told.object.as_deref().filter(|it| is_named(it) || is_lock);
        let mut text = object.map_or(call.to_owned(), |object| format!("{call} {object}"));
        let effect = shown.execution.steps.get(idx).map(|step| step.effect);
        self.push_effect(effect.unwrap_or(Effect::Done), &mut text);
        text
    }

    /// A step in words, with another one for what it does.
    pub(crate) fn step_as(&self, shown: &Interleaving<'_>, idx: usize, verb: &str) -> String {
        let told = told(shown.execution, shown.story, idx);
        let mut text = verb.to_owned();
        let mut push = |word: &str| {
            text.push(' ');
            text.push_str(word);
        };
        told.object.iter().for_each(|object| push(object));
        let Some(step) = shown.execution.steps.get(idx) else {
            // What a statement of a model changes stands behind the statement.
            let is_change = |value: &str| {
                let is_told = value.contains('→') || value.contains(" = ");
                told.object.is_none() && is_told && !value.starts_with('(') && verb != "prints"
            };
            match &told.value {
                Some(value) if is_change(value) => push(&format!("({value})")),
                value => value.iter().for_each(|value| push(value)),
            }
            return text;
        };
        if let Operation::Wait { mutex, .. } | Operation::Reacquire { mutex, .. } = step.operation
            && let Some(mutex) = self.objects.get(&mutex)
        {
            push(mutex);
        }
        match &told.value {
            Some(value) => push(value),
            None if step.operation == Operation::Choose => push(&step.decision.choice.to_string()),
            None => {}
        }
        self.push_effect(step.effect, &mut text);
        text
    }

    /// What came of a step.
    fn push_effect(&self, effect: Effect, text: &mut String) {
        match effect {
            Effect::Done => {}
            Effect::Failed => text.push_str(", failed"),
            Effect::Elapsed => text.push_str(", time passes"),
            Effect::Woke(threads) if threads.is_empty() => text.push_str(", wakes no thread"),
            Effect::Woke(threads) => {
                let woken: Vec<_> = threads.iter().map(|thread| self.thread(thread)).collect();
                text.push_str(&format!(", wakes {}", woken.join(", ")));
            }
        }
    }
}

/// Whether an operation reads and writes a variable at once.
fn is_modified(operation: Operation) -> bool {
    use Operation as O;
    matches!(operation, O::ReadModifyWrite(_) | O::AwaitModify(_) | O::Add(_) | O::AddAndTest(_))
}

/// The function of C's `stdatomic.h`, or of the compiler's own, that is called at the place of a
/// step, in short: `fetch_add`, `compare_exchange`. None if it is not the only one on its line.
fn atomic_in_source(told: &Told, sources: &Sources) -> Option<String> {
    let place = told.location.as_ref().filter(|it| it.within.is_none())?;
    let is_c = [".c", ".h", ".i"].iter().any(|ending| place.file.ends_with(ending));
    let (before, behind) = sources.line(place).filter(|_| is_c)?;
    let is_word = |it: char| it.is_alphanumeric() || it == '_';
    let short = |word: &str| {
        let prefixes = ["__c11_atomic_", "__atomic_", "__sync_", "atomic_"];
        let name = prefixes.iter().find_map(|prefix| word.strip_prefix(prefix))?;
        let is_one =
            ["fetch_", "exchange", "compare_", "flag_test", "test_and_set", "bool_compare"]
                .iter()
                .any(|it| name.starts_with(it));
        let ends = ["_explicit", "_n", "_strong", "_weak"];
        let name = ends.iter().fold(name, |name, end| name.strip_suffix(end).unwrap_or(name));
        is_one.then(|| name.to_owned())
    };
    let first = behind.split(|it| !is_word(it)).next().and_then(short);
    first.or_else(|| {
        let line = format!("{before}{behind}");
        let mut all = line.split(|it| !is_word(it)).filter_map(short);
        all.next().filter(|_| all.next().is_none())
    })
}

/// Whether an operation is about a lock or a condition variable: one of the program's, wherever it
/// is.
fn synchronises(operation: Operation) -> bool {
    use Operation as O;
    matches!(
        operation,
        O::Acquire(_)
            | O::TryAcquire(_)
            | O::Release(_)
            | O::ReadAcquire(_)
            | O::TryReadAcquire(_)
            | O::ReadRelease(_)
            | O::WriteAcquire(_)
            | O::TryWriteAcquire(_)
            | O::WriteRelease(_)
            | O::Wait { .. }
            | O::Reacquire { .. }
            | O::NotifyOne(_)
            | O::NotifyAll(_)
    )
}

/// Whether the name of an object is one of the program's, and not a place in memory.
pub(crate) fn is_named(object: &str) -> bool {
    let is_place = ["heap(", "0x", "the references to "].iter().any(|it| object.starts_with(it));
    !is_place && !object.contains(".heap+") && !object.contains(".stack-")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{Story, object, thread};
    use Operation as O;
    use expect_test::{Expect, expect};
    use mazurka_core::ThreadSet;

    fn check(shown: &Interleaving<'_>, width: usize, expect: Expect) {
        let text = shown.render(&Style::new().width(width));
        expect.assert_eq(&format!("{width} columns:\n{text}"));
    }

    fn sleepers() -> Counterexample {
        let (condvar, mutex) = (object(1), object(0));
        let woke = Effect::Woke(ThreadSet::one(thread(0)));
        Story::new(&["reader", "writer"], &["lock", "ready"])
            .step(0, O::Acquire(mutex), "", 0)
            .step(0, O::Wait { condvar, mutex }, "", 0)
            .step(1, O::Choose, "", 0)
            .step_with(1, O::NotifyOne(condvar), woke, "", 0)
            .step_with(1, O::NotifyAll(condvar), Effect::Woke(ThreadSet::EMPTY), "", 0)
            .step_with(1, O::TryAcquire(mutex), Effect::Failed, "", 0)
            .step(0, O::Reacquire { condvar, mutex }, "", 0)
            .counterexample(ViolationKind::Assertion, "it was to be")
    }

    #[test]
    fn what_came_of_a_step_is_told() {
        check(
            &Interleaving::from(&sleepers()),
            80,
            expect![[r#"
                80 columns:
                  step  reader                writer
                     1  acquire lock
                     2  wait ready lock
                     3                        choose 0
                     4                        notify-one ready, wakes reader
                     5                        notify-all ready, wakes no thread
                     6                        try-acquire lock, failed
                     7  reacquire ready lock
                        ✗ assertion fails
            "#]],
        );
    }

    /// What reads and writes at once is called as its function is.
    #[test]
    fn atomics_of_c_have_the_names_of_the_source() {
        let text = "if (!atomic_compare_exchange_strong_explicit(&top, &old, 1, x, y))\n\
                    atomic_fetch_add(&n, __atomic_exchange_n(&m, 1, 5));\n\
                    return __sync_fetch_and_sub(&n, 1);\n";
        let sources = Sources::new(move |_| Some(text.to_owned()));
        let found = Story::new(&["main"], &["top", "n"])
            .file("x.c")
            .step(0, O::ReadModifyWrite(object(0)), "0→1", 1)
            .step_with(0, O::Load(object(0)), Effect::Failed, "= 1", 1)
            .step(0, O::Load(object(0)), "= 1", 1)
            .step(0, O::Add(object(1)), "1→2", 2)
            .step(0, O::Add(object(1)), "2→1", 3)
            .counterexample(ViolationKind::Assertion, "it was to be");
        let shown = Interleaving::from(&found);
        let shown = Interleaving { sources: Some(&sources), is_full: true, ..shown };
        let texts: Vec<String> = shown.lines().into_iter().map(|line| line.text).collect();
        let expected = [
            "compare_exchange top 0→1",
            "compare_exchange top = 1, failed",
            "load top = 1",
            "add n 1→2",
            "fetch_and_sub n 2→1",
        ];
        assert_eq!(texts, expected);
    }

    #[test]
    fn what_no_step_has_touched_can_be_named() {
        let stuck = Story::new(&["reader"], &["lock"])
            .step(0, O::Acquire(object(0)), "", 0)
            .waits(0, O::Receive(object(1)), 0)
            .counterexample(ViolationKind::Deadlock, "it was to be");
        let names = [(object(1), "queue".to_owned())];
        check(
            &Interleaving { object_names: &names, ..Interleaving::from(&stuck) },
            80,
            expect![[r#"
                80 columns:
                  step  reader
                     1  acquire lock
                        ✗ receive queue
            "#]],
        );
    }

    #[test]
    fn narrow_columns_are_wrapped_and_narrower_ones_a_list() {
        check(
            &Interleaving::from(&sleepers()),
            50,
            expect![[r#"
                50 columns:
                  step  reader    writer
                     1  acquire lock
                     2  wait ready lock
                     3            choose 0
                     4            notify-one ready, wakes reader
                     5            notify-all ready, wakes no
                                    thread
                     6            try-acquire lock, failed
                     7  reacquire ready lock
                        ✗ assertion fails
            "#]],
        );
        let threads = ["one", "two", "three", "four"];
        let mut story = Story::new(&threads, &["a-variable-with-a-name"]);
        for idx in 0..4 {
            story = story.step(idx, O::Load(object(0)), "= 0", 0);
        }
        let found = story.counterexample(ViolationKind::Assertion, "it was to be");
        check(
            &Interleaving { is_full: true, ..Interleaving::from(&found) },
            60,
            expect![[r#"
                60 columns:
                  step  one       two       three     four
                     1  load a-variable-with-a-name = 0
                     2            load a-variable-with-a-name = 0
                     3                      load a-variable-with-a-name = 0
                     4                                load
                                                        a-variable-with-a-
                                                        name = 0
                                                      ✗ assertion fails
            "#]],
        );
    }

    #[test]
    fn steps_need_no_story_and_a_story_needs_no_steps() {
        let found = sleepers();
        check(
            &Interleaving::new(&found.execution),
            80,
            expect![[r#"
                80 columns:
                  step  T0            T1
                     1  acquire o0
                     2  wait o1
                     3                choose 0
                     4                notify-one o1, wakes T0
                     5                notify-all o1, wakes no thread
                     6                try-acquire o0, failed
                     7  reacquire o1
            "#]],
        );
        let nothing = Execution::default();
        let names = ["main".to_owned()];
        check(
            &Interleaving {
                story: &found.story,
                thread_names: &names,
                ..Interleaving::new(&nothing)
            },
            80,
            expect![[r#"
                80 columns:
                  step  reader           writer
                     1  acquire lock
                     2  wait ready
                     3                   choose
                     4                   notify-one ready
                     5                   notify-all ready
                     6                   try-acquire lock
                     7  reacquire ready
            "#]],
        );
        check(
            &Interleaving::new(&nothing),
            80,
            expect![[r#"
            80 columns:
        "#]],
        );
    }
}
