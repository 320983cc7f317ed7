//! Selection: which steps of an execution are shown, and what a row stands for.
//!
//! A step is shown if it is in the causal past of the failure (Lamport 1978) and about something
//! that two threads touch. What a library does by itself is left out, and what it does in a call is
//! one row, in the words of that call. Joins that were no steps, the two accesses of a data race,
//! and other plain accesses to memory that several threads access, if they are few, have rows of
//! their own. Everything behind the failure is left out.
//! [`Interleaving::is_full`] shows all steps as they are.

use crate::interleaving::{Interleaving, Names, Who, is_named, told, who};
use crate::preemption::preemptions;
use mazurka_core::{
    Access, Effect, HappensBefore, Location, ObjectId, Operation, Position, ThreadId, Told,
    ViolationKind,
};
use std::collections::{BTreeMap, BTreeSet};

/// A row of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) who: Who,
    /// The step, from 1, that it is about; none if it is no step of its own.
    pub(crate) number: Option<usize>,
    pub(crate) text: String,
    pub(crate) location: Option<Location>,
    /// The steps that it stands for, from 0.
    pub(crate) steps: Vec<usize>,
    /// The threads that it joins without a step.
    pub(crate) joined: Vec<ThreadId>,
    /// What a plain access is to, and what it read or wrote.
    pub(crate) accessed: Option<(String, String)>,
    /// Whether the thread of the row before could have gone on.
    pub(crate) is_preempted: bool,
}

/// The rows of an execution, in order.
pub(crate) fn lines(shown: &Interleaving<'_>, names: &Names) -> Vec<Line> {
    let all = Selection::all(shown);
    let is_reducible = !shown.is_full && shown.story.len() == shown.execution.steps.len();
    let relevant = is_reducible.then(|| Selection::relevant(shown));
    // Where it is known who fails, that is a row.
    let is_told = |it: &Selection| !it.items.is_empty() || shown.failed_by.is_some();
    let selection = relevant.filter(is_told).unwrap_or(all);
    let mut lines: Vec<Line> = selection.items.iter().map(|it| it.line(shown, names)).collect();
    mark_preemptions(shown, &mut lines);
    lines
}

/// Marks the rows before which a thread was left that could have gone on.
fn mark_preemptions(shown: &Interleaving<'_>, lines: &mut [Line]) {
    let mut preempted = preemptions(shown.execution, shown.waits);
    preempted.resize(shown.n_steps(), false);
    let mut last: Option<(usize, Who)> = None;
    for line in lines {
        let Some(&at) = line.steps.first() else { continue };
        if let Some((before, who)) = &last {
            let switches = before + 1..=at.max(*before);
            line.is_preempted = *who != line.who && switches.into_iter().any(|idx| preempted[idx]);
        }
        last = Some((line.steps.last().copied().unwrap_or(at), line.who.clone()));
    }
}

/// What a row is about.
#[derive(Clone, Debug)]
enum Item {
    /// Steps of one thread, the most telling of them, and the function of a library that took them.
    Steps { main: usize, steps: Vec<usize>, call: Option<String> },
    /// Joins that were no steps, by their places in [`Execution::joins`](mazurka_core::Execution),
    /// and the steps of the function that has joined.
    Joins { joins: Vec<usize>, steps: Vec<usize> },
    /// An access of a data race.
    Access(usize),
    /// Another plain access.
    Shared(usize),
}

struct Selection {
    items: Vec<Item>,
}

impl Selection {
    /// All steps, with joins and accesses behind those that they belong to.
    fn all(shown: &Interleaving<'_>) -> Self {
        let mut items = Vec::new();
        for idx in 0..shown.n_steps() {
            items.push(Item::Steps { main: idx, steps: vec![idx], call: None });
            let joins = joins_at(shown, idx).collect();
            for part in parts_at(shown, idx, joins) {
                items.push(match part {
                    StepPart::Access(access) => Item::Access(access),
                    StepPart::Join(join) => Item::Joins { joins: vec![join], steps: Vec::new() },
                });
            }
            items.extend(shared_at(shown, idx).map(Item::Shared));
        }
        Self { items }
    }

    /// The steps that matter, those of one call together. If these are hardly any, so are steps on
    /// objects that one thread alone has touched so far: the others may have come too late.
    fn relevant(shown: &Interleaving<'_>) -> Self {
        const FEW: usize = 3;
        let strict = Self::chosen(shown, false);
        match strict.items.len() < FEW {
            true => Self::chosen(shown, true),
            false => strict,
        }
    }

    fn chosen(shown: &Interleaving<'_>, is_lenient: bool) -> Self {
        let past = Past::of(shown);
        let shared = Shared::of(shown);
        let told = told_accesses(shown, &past);
        let mut items: Vec<Item> = Vec::new();
        for idx in 0..past.end {
            if is_shown(shown, idx, &past, &shared, is_lenient) {
                let within = shown.story[idx].location.as_ref().and_then(|it| it.within.clone());
                let call = within.filter(|name| !is_atomic(name));
                push(shown, &mut items, Item::Steps { main: idx, steps: vec![idx], call });
            }
            let is_last = shown.accesses.last().is_some_and(|access| access.step == idx + 1);
            let matters = |&join: &usize| {
                let PassedBy { thread, ended } = passed(shown, join);
                let accesses = shown.accesses.iter().any(|access| access.by == Some(thread));
                let is_known = past.has_thread(thread) && past.has_thread(ended);
                is_known && past.knows_later(shown, thread, idx) && (!is_last || accesses)
            };
            let joins = joins_at(shown, idx).filter(matters).collect();
            for part in parts_at(shown, idx, joins) {
                match part {
                    StepPart::Access(access) => items.push(Item::Access(access)),
                    StepPart::Join(join) => {
                        let item = Item::Joins { joins: vec![join], steps: Vec::new() };
                        push(shown, &mut items, item);
                    }
                }
            }
            items.extend(shared_at(shown, idx).filter(|it| told.contains(it)).map(Item::Shared));
        }
        // Threads that do nothing that matters are not spawned or joined, either.
        let mut acting: BTreeSet<ThreadId> = shown.waits.iter().map(|wait| wait.thread).collect();
        acting.extend(shown.failed_by.map(|site| site.thread));
        acting.extend(shown.accesses.iter().filter_map(|access| access.by));
        acting.extend(items.iter().filter_map(|item| item.acts(shown)));
        items.retain(|item| {
            is_lenient || item.other(shown).is_none_or(|other| acting.contains(&other))
        });
        Self { items }
    }
}

/// Adds an item, to the row before if both are of one call.
fn push(shown: &Interleaving<'_>, items: &mut Vec<Item>, item: Item) {
    let thread = item.thread(shown);
    let is_before = |it: &Item| !matches!(it, Item::Shared(_)) && it.thread(shown) == thread;
    let last = items.iter().rposition(is_before);
    if let Some(at) = last
        && items[at].is_same_call(&item, shown)
        && !items[at + 1..].iter().any(|between| between.conflicts(&item, shown))
    {
        let before = items[at].clone();
        items[at] = before.with(item, shown);
        return;
    }
    items.push(item);
}

impl Item {
    fn thread(&self, shown: &Interleaving<'_>) -> Option<ThreadId> {
        match self {
            Self::Steps { main, .. } => Some(shown.execution.steps[*main].decision.thread),
            Self::Joins { joins, .. } => Some(passed(shown, joins[0]).thread),
            Self::Access(access) => shown.accesses[*access].by,
            Self::Shared(access) => shown.shared[*access].by,
        }
    }

    /// The thread, unless it does no more than to spawn and to join.
    fn acts(&self, shown: &Interleaving<'_>) -> Option<ThreadId> {
        match self.other(shown) {
            None => self.thread(shown),
            Some(_) => None,
        }
    }

    /// The thread that is spawned or joined; of several the first.
    fn other(&self, shown: &Interleaving<'_>) -> Option<ThreadId> {
        match self {
            Self::Steps { main, .. } => match shown.execution.steps[*main].operation {
                Operation::Spawn(other) | Operation::Join(other) => Some(other),
                _ => None,
            },
            Self::Joins { joins, .. } => Some(passed(shown, joins[0]).ended),
            Self::Access(_) | Self::Shared(_) => None,
        }
    }

    fn location<'a>(&self, shown: &Interleaving<'a>) -> Option<&'a Location> {
        match self {
            Self::Steps { main, .. } => shown.story[*main].location.as_ref(),
            Self::Joins { joins, .. } => shown.joins.get(joins[0])?.location.as_ref(),
            Self::Access(access) => shown.accesses[*access].stack.first(),
            Self::Shared(access) => shown.shared[*access].stack.first(),
        }
    }

    /// Whether two items of one thread, one after the other, are of one call of a library, or joins
    /// one after the other.
    fn is_same_call(&self, next: &Self, shown: &Interleaving<'_>) -> bool {
        if let (Self::Joins { .. }, Self::Joins { .. }) = (self, next) {
            return true;
        }
        let has_call = |item: &Self| match item {
            Self::Steps { call, .. } => call.is_some(),
            Self::Joins { .. } => true,
            Self::Access(_) | Self::Shared(_) => false,
        };
        let place = |item: &Self| {
            item.location(shown).map(|it| (it.file.clone(), it.line, it.column, it.within.clone()))
        };
        let (Some(a), Some(b)) = (place(self), place(next)) else { return false };
        // Two threads that are spawned in a loop are two rows.
        let both_spawn = self.spawns(shown) && next.spawns(shown);
        has_call(self) && has_call(next) && a == b && !both_spawn
    }

    fn spawns(&self, shown: &Interleaving<'_>) -> bool {
        matches!(self, Self::Steps { main, .. }
            if matches!(shown.execution.steps[*main].operation, Operation::Spawn(_)))
    }

    /// Whether a row between keeps an item apart from what it would be added to: it touches the
    /// same thing.
    fn conflicts(&self, other: &Self, shown: &Interleaving<'_>) -> bool {
        let objects = |item: &Self| -> BTreeSet<ObjectId> {
            match item {
                Self::Steps { steps, .. } => {
                    let operations = steps.iter().map(|&idx| shown.execution.steps[idx].operation);
                    operations.filter_map(Operation::object).collect()
                }
                Self::Joins { .. } | Self::Access(_) | Self::Shared(_) => BTreeSet::new(),
            }
        };
        !objects(self).is_disjoint(&objects(other))
    }

    /// Both as one row.
    fn with(self, next: Self, shown: &Interleaving<'_>) -> Self {
        match (self, next) {
            (Self::Joins { mut joins, mut steps }, Self::Joins { joins: more, steps: others }) => {
                joins.extend(more);
                steps.extend(others);
                Self::Joins { joins, steps }
            }
            (Self::Joins { joins, mut steps }, Self::Steps { steps: others, .. })
            | (Self::Steps { steps: others, .. }, Self::Joins { joins, mut steps }) => {
                steps.extend(others);
                steps.sort_unstable();
                Self::Joins { joins, steps }
            }
            (
                Self::Steps { main, mut steps, call },
                Self::Steps { main: other, steps: more, .. },
            ) => {
                steps.extend(more);
                let weight = |idx: usize| weight(shown.execution.steps[idx].operation);
                let main = if weight(other) >= weight(main) { other } else { main };
                Self::Steps { main, steps, call }
            }
            (before, Self::Access(_) | Self::Shared(_))
            | (Self::Access(_) | Self::Shared(_), before) => before,
        }
    }

    fn line(&self, shown: &Interleaving<'_>, names: &Names) -> Line {
        let location = self.location_of_row(shown);
        match self {
            Self::Steps { main, steps, call } => Line {
                who: who(shown, *main),
                number: Some(main + 1),
                text: match call {
                    Some(call) => called(shown, names, *main, call),
                    None => names.step(shown, *main),
                },
                location,
                steps: steps.clone(),
                joined: Vec::new(),
                accessed: None,
                is_preempted: false,
            },
            Self::Joins { joins, steps } => {
                let PassedBy { thread, .. } = passed(shown, joins[0]);
                let joined: Vec<ThreadId> =
                    joins.iter().map(|&join| passed(shown, join).ended).collect();
                let ended = joined.iter().map(|&thread| names.thread(thread));
                Line {
                    who: Who::Thread(thread),
                    number: None,
                    text: format!("join {}", ended.collect::<Vec<_>>().join(", ")),
                    location,
                    steps: steps.clone(),
                    joined,
                    accessed: None,
                    is_preempted: false,
                }
            }
            Self::Access(_) | Self::Shared(_) => {
                let (access, mark) = match self {
                    Self::Access(access) => (&shown.accesses[*access], "✗ "),
                    Self::Shared(access) => (&shown.shared[*access], ""),
                    _ => unreachable!("it is an access"),
                };
                let memory = access.memory.as_deref();
                let verb = if access.write { "writes" } else { "reads" };
                let what = memory.map_or(String::new(), |name| format!(" {name}"));
                let value = access.value.as_ref().map_or(String::new(), |it| format!(" {it}"));
                let memory = memory.map(str::to_owned);
                Line {
                    who: access.by.map_or(Who::Name(access.thread.clone()), Who::Thread),
                    number: None,
                    text: format!("{mark}{verb}{what}{value}"),
                    location,
                    steps: Vec::new(),
                    joined: Vec::new(),
                    accessed: memory.zip(access.value.clone()),
                    is_preempted: false,
                }
            }
        }
    }

    fn location_of_row(&self, shown: &Interleaving<'_>) -> Option<Location> {
        match self {
            Self::Steps { main, .. } => {
                told(shown.execution, shown.story, *main).location.clone().map(|place| match self {
                    // The row has its name.
                    Self::Steps { call: Some(_), .. } => Location { within: None, ..place },
                    _ if shown.is_full => place,
                    _ => Location { within: None, ..place },
                })
            }
            _ => self.location(shown).map(|place| Location { within: None, ..place.clone() }),
        }
    }
}

/// How much an operation tells of a call.
fn weight(operation: Operation) -> u8 {
    use Operation as O;
    match operation {
        O::Spawn(_) | O::Join(_) => 4,
        O::Acquire(_)
        | O::TryAcquire(_)
        | O::ReadAcquire(_)
        | O::TryReadAcquire(_)
        | O::WriteAcquire(_)
        | O::TryWriteAcquire(_)
        | O::Wait { .. }
        | O::Reacquire { .. }
        | O::NotifyOne(_)
        | O::NotifyAll(_)
        | O::SemaphoreAcquire { .. }
        | O::SemaphoreTryAcquire { .. }
        | O::SemaphoreRelease(_)
        | O::Send { .. }
        | O::TrySend { .. }
        | O::Receive(_)
        | O::TryReceive(_)
        | O::TimedReceive(_)
        | O::Arrive(_)
        | O::Leave { .. }
        | O::Meet(_)
        | O::Part { .. } => 3,
        O::Release(_) | O::ReadRelease(_) | O::WriteRelease(_) => 2,
        O::Store(_) | O::ReadModifyWrite(_) | O::AwaitModify(_) | O::FutexWait { .. } => 1,
        _ => 0,
    }
}

/// A step in the words of the call of a library that took it.
fn called(shown: &Interleaving<'_>, names: &Names, idx: usize, call: &str) -> String {
    let step = shown.execution.steps[idx];
    match step.operation {
        Operation::Spawn(other) => format!("spawn {}", names.thread(other)),
        Operation::Join(other) => format!("join {}", names.thread(other)),
        // Nobody joins a thread at the end of its scope, which its closure has ended before.
        Operation::SemaphoreAcquire { .. } if end_of(&shown.story[idx]).is_some() => {
            let what = if call.contains("scope") { "end of scope:" } else { "join" };
            format!("{what} {}", end_of(&shown.story[idx]).unwrap_or_default())
        }
        Operation::Release(_) | Operation::ReadRelease(_) | Operation::WriteRelease(_)
            if is_drop(call) =>
        {
            names.call(shown, idx, "unlock")
        }
        _ if is_drop(call) => names.call(shown, idx, "drop"),
        _ => names.call(shown, idx, in_short(call)),
    }
}

/// A call without what says the same twice: the constructor `lock_guard::lock_guard` of C++ is
/// `lock_guard`, and its destructor `~lock_guard`.
pub(crate) fn in_short(call: &str) -> &str {
    match call.rsplit_once("::") {
        Some((class, function)) if class.rsplit("::").next() == Some(function) => function,
        Some((class, function)) if function.strip_prefix('~') == class.rsplit("::").next() => {
            function
        }
        _ => call,
    }
}

/// Whether a function is the end of a value.
fn is_drop(call: &str) -> bool {
    matches!(call, "ptr::drop_in_place" | "mem::drop" | "ptr::drop_glue")
}

/// Whether a function of a library is no more than an operation on an atomic variable.
pub(crate) fn is_atomic(call: &str) -> bool {
    call.split("::").next().is_some_and(|of| of.to_ascii_lowercase().contains("atomic"))
}

struct PassedBy {
    thread: ThreadId,
    ended: ThreadId,
}

fn passed(shown: &Interleaving<'_>, join: usize) -> PassedBy {
    let join = shown.execution.joins[join];
    PassedBy { thread: join.thread, ended: join.ended }
}

/// The joins that a step has passed.
fn joins_at<'a>(shown: &'a Interleaving<'_>, idx: usize) -> impl Iterator<Item = usize> + 'a {
    let joins = shown.execution.joins.iter().enumerate();
    joins.filter(move |(_, join)| join.at as usize == idx + 1).map(|(join, _)| join)
}

/// The accesses of a data race that were made in a step.
fn accesses_at<'a>(shown: &'a Interleaving<'_>, idx: usize) -> impl Iterator<Item = usize> + 'a {
    let accesses = shown.accesses.iter().enumerate();
    accesses.filter(move |(_, access)| access.step == idx + 1).map(|(access, _)| access)
}

/// The other plain accesses that were made in a step.
fn shared_at<'a>(shown: &'a Interleaving<'_>, idx: usize) -> impl Iterator<Item = usize> + 'a {
    let accesses = shown.shared.iter().enumerate();
    accesses.filter(move |(_, access)| access.step == idx + 1).map(|(access, _)| access)
}

/// The plain accesses that matter: those in the causal past of what goes wrong, to what has a name,
/// with their values. If there are more than people read, the last writes among them.
fn told_accesses(shown: &Interleaving<'_>, past: &Past) -> BTreeSet<usize> {
    const MOST: usize = 12;
    // The second access of a data race is the last thing that is told.
    let end = shown.accesses.last().map_or(usize::MAX, |access| access.step);
    let matters = |access: &Access| {
        let is_past =
            access.step.checked_sub(1).is_some_and(|idx| past.is_in.get(idx) == Some(&true));
        // Of a block that has no type, the place of the allocation says enough; a distance does not.
        let is_block = |it: &str| it.starts_with("heap(") && !it.contains('+');
        let place = access.stack.first();
        let is_call = place.is_some_and(|it| it.within.is_some());
        let is_shown = |it: &str| is_named(it) || is_block(it) && !is_call;
        let is_named = access.memory.as_deref().is_some_and(is_shown);
        // Which function a virtual call leads to is set up by the compiler.
        let is_own = !access.value.as_deref().is_some_and(|it| it.contains("vtable("));
        access.step < end
            && is_past
            && is_named
            && is_own
            && access.value.is_some()
            && place.is_some_and(|it| !it.is_library)
    };
    let all = shown.shared.iter().enumerate().filter(|(_, access)| matters(access));
    let mut told: Vec<(usize, bool)> = all.map(|(idx, access)| (idx, access.write)).collect();
    if told.len() > MOST {
        told.retain(|&(_, write)| write);
        told.drain(..told.len().saturating_sub(MOST));
    }
    told.into_iter().map(|(idx, _)| idx).collect()
}

/// What else is told of a step.
enum StepPart {
    Access(usize),
    Join(usize),
}

/// The joins and accesses of a step in order, as far as that is known: who accesses something in
/// the step in which it has joined others does so behind the join, and the others before.
fn parts_at(shown: &Interleaving<'_>, idx: usize, joins: Vec<usize>) -> Vec<StepPart> {
    let joiners: BTreeSet<ThreadId> =
        joins.iter().map(|&join| passed(shown, join).thread).collect();
    let is_behind =
        |&access: &usize| shown.accesses[access].by.is_some_and(|thread| joiners.contains(&thread));
    let (behind, before): (Vec<usize>, Vec<usize>) = accesses_at(shown, idx).partition(is_behind);
    let joins = joins.into_iter().map(StepPart::Join);
    let before = before.into_iter().map(StepPart::Access);
    before.chain(joins).chain(behind.into_iter().map(StepPart::Access)).collect()
}

/// The causal past of what goes wrong.
struct Past {
    /// How many steps there are up to then.
    end: usize,
    /// The steps that are in it, by place.
    is_in: Vec<bool>,
    threads: BTreeSet<ThreadId>,
    /// Whether it is known what the failure depends on: else all steps are in it.
    depends_on_known: bool,
}

impl Past {
    fn of(shown: &Interleaving<'_>) -> Self {
        let steps = &shown.execution.steps;
        let end = shown.failed_by.map_or(steps.len(), |site| site.step.min(steps.len()));
        let depends_on_all = !matches!(
            shown.kind,
            Some(
                ViolationKind::Assertion
                    | ViolationKind::Panic
                    | ViolationKind::Memory
                    | ViolationKind::Overflow
                    | ViolationKind::Race
            )
        );
        let is_in = match depends_on_all {
            true => vec![true; end],
            false => {
                let order = shown.execution.happens_before();
                let targets = targets(shown, &order, end);
                let is_in = |at: Position| {
                    targets.iter().any(|&target| at == target || order.ordered(at, target))
                };
                (1..=end as Position).map(is_in).collect()
            }
        };
        let taken = steps.iter().zip(&is_in).filter(|(_, is_in)| **is_in);
        let mut threads: BTreeSet<ThreadId> = taken.map(|(step, _)| step.decision.thread).collect();
        threads.extend(shown.failed_by.map(|site| site.thread));
        threads.extend(shown.waits.iter().map(|wait| wait.thread));
        threads.extend(shown.accesses.iter().filter_map(|access| access.by));
        Self { end, is_in, threads, depends_on_known: !depends_on_all }
    }

    fn has_thread(&self, thread: ThreadId) -> bool {
        self.threads.contains(&thread)
    }

    /// Whether what a thread does after a step matters: one of its steps is in the past of the
    /// failure, or it fails, waits or accesses something itself.
    fn knows_later(&self, shown: &Interleaving<'_>, thread: ThreadId, idx: usize) -> bool {
        let mut later = shown.execution.steps.iter().zip(&self.is_in).skip(idx + 1);
        later.any(|(step, is_in)| *is_in && step.decision.thread == thread)
            || shown.failed_by.is_some_and(|site| site.thread == thread)
            || shown.waits.iter().any(|wait| wait.thread == thread)
            || shown.accesses.iter().any(|it| it.by == Some(thread) && it.step > idx)
            || !self.depends_on_known
    }
}

/// The last steps that happen before the failure.
fn targets(shown: &Interleaving<'_>, order: &HappensBefore, end: usize) -> Vec<Position> {
    let end = end as Position;
    let last_of = |thread: ThreadId, end: Position| {
        order.steps_of(thread).iter().copied().rfind(|&at| at <= end)
    };
    let mut targets = Vec::new();
    let known_to = |thread: ThreadId, end: Position, targets: &mut Vec<Position>| {
        targets.extend(last_of(thread, end));
        let joins = shown.execution.joins.iter();
        for join in joins.filter(|join| join.thread == thread && join.at <= end) {
            targets.extend(last_of(join.ended, join.at));
        }
        // A thread that was spawned and has taken no step of its own knows what its parent did.
        if last_of(thread, end).is_none() {
            let spawned = |&at: &Position| order.operation(at) == Operation::Spawn(thread);
            targets.extend((1..=end).find(spawned));
        }
    };
    match (shown.accesses, shown.failed_by) {
        // Who goes on in the step of another thread knows that step.
        ([], site) => {
            site.iter().for_each(|site| known_to(site.thread, end, &mut targets));
            targets.extend((end > 0).then_some(end));
        }
        (accesses, _) => {
            for access in accesses {
                match access.by {
                    Some(thread) => known_to(thread, access.step as Position, &mut targets),
                    None => targets.push(access.step as Position),
                }
            }
        }
    }
    targets
}

/// The objects that several threads touch, or one waits for.
struct Shared {
    objects: BTreeSet<ObjectId>,
}

impl Shared {
    fn of(shown: &Interleaving<'_>) -> Self {
        let mut users: BTreeMap<ObjectId, BTreeSet<ThreadId>> = BTreeMap::new();
        for step in &shown.execution.steps {
            for object in objects_of(step.operation) {
                users.entry(object).or_default().insert(step.decision.thread);
            }
        }
        let shared = users.iter().filter(|(_, threads)| threads.len() > 1);
        let mut objects: BTreeSet<ObjectId> = shared.map(|(object, _)| *object).collect();
        objects.extend(shown.waits.iter().flat_map(|wait| objects_of(wait.operation)));
        Self { objects }
    }
}

fn objects_of(operation: Operation) -> Vec<ObjectId> {
    match operation {
        Operation::Wait { condvar, mutex } | Operation::Reacquire { condvar, mutex } => {
            vec![condvar, mutex]
        }
        other => other.object().into_iter().collect(),
    }
}

fn is_shown(
    shown: &Interleaving<'_>,
    idx: usize,
    past: &Past,
    shared: &Shared,
    is_lenient: bool,
) -> bool {
    let step = shown.execution.steps[idx];
    let told = &shown.story[idx];
    let decides = shown.decisive.is_some_and(|(a, b)| a == idx + 1 || b == idx + 1);
    if decides {
        return true;
    }
    let is_by_library = told.location.as_ref().is_some_and(|place| place.is_library);
    let is_about_memory = matches!(shown.kind, Some(ViolationKind::Memory | ViolationKind::Leak));
    let is_held = shown.waits.iter().any(|wait| wait.holds.contains(&(idx + 1)));
    let is_shared = objects_of(step.operation).iter().any(|it| shared.objects.contains(it));
    match step.operation {
        _ if !past.is_in[idx] => false,
        Operation::Begin => false,
        Operation::Spawn(other) | Operation::Join(other) => is_lenient || past.has_thread(other),
        Operation::Yield => shown.kind == Some(ViolationKind::Livelock),
        _ if is_by_library => is_held,
        _ if panics(told) || ends_thread(told) => false,
        _ if counts_references(shown, idx) => is_about_memory,
        Operation::Choose | Operation::Elapse => true,
        _ => is_shared || step.effect == Effect::Elapsed || is_lenient && is_own(told),
    }
}

/// Whether a step is on a variable of the program, in its own source.
fn is_own(told: &Told) -> bool {
    let is_call = |within: &str| !is_atomic(within);
    let place = told.location.as_ref().filter(|it| !it.is_library);
    place.is_some_and(|it| !it.within.as_deref().is_some_and(is_call))
        && told.object.as_deref().is_some_and(is_named)
}

/// Whether a step is a part of how a panic is told and unwinds.
fn panics(told: &Told) -> bool {
    let call = told.location.as_ref().and_then(|it| it.within.as_deref());
    call.is_some_and(|call| call.starts_with("panicking::"))
}

/// Whether a step says no more than that a thread of a scope has come to its end.
fn ends_thread(told: &Told) -> bool {
    end_of(told).is_some() && told.operation == "semaphore-release"
}

/// The thread whose end a step is about.
fn end_of(told: &Told) -> Option<&str> {
    told.object.as_deref()?.strip_prefix("the end of ")
}

/// Whether a step does no more than to count the references to something.
fn counts_references(shown: &Interleaving<'_>, idx: usize) -> bool {
    let told = &shown.story[idx];
    let Some(call) = told.location.as_ref().and_then(|it| it.within.as_deref()) else {
        return false;
    };
    let of = call.split("::").next().unwrap_or_default();
    let is_counted = matches!(of, "Arc" | "Rc" | "Weak" | "Pin") || is_drop(call);
    let is_counter = told.object.as_deref().is_some_and(|it| it.starts_with("the references to "));
    let operation = shown.execution.steps[idx].operation;
    is_counted && (is_counter || matches!(operation, Operation::Add(_) | Operation::AddAndTest(_)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Style;
    use crate::samples::{Story, object, thread};
    use Operation as O;
    use expect_test::{Expect, expect};
    use mazurka_core::{Counterexample, FailureSite, PassedJoin};

    /// A lost update as a Rust test has it: the library counts references and starts threads, and
    /// the joins are no steps.
    fn counter() -> Counterexample {
        let (n, count, packet) = (object(0), object(1), object(2));
        let mut found = Story::new(
            &["main", "main.1", "main.2"],
            &["Counter.n", "the references to Counter", "heap(a.rs:5)"],
        )
        .file("a.rs")
        .step(0, O::Begin, "", 0)
        .step(0, O::Add(packet), "1→2", 5)
        .step(0, O::Spawn(thread(1)), "", 5)
        .step(0, O::Add(count), "1→2", 6)
        .step(0, O::Spawn(thread(2)), "", 7)
        .step(1, O::Add(packet), "2→1", 61)
        .step(1, O::Load(n), "= 0", 14)
        .step(2, O::Load(n), "= 0", 14)
        .step(2, O::Store(n), "0→1", 15)
        .step(2, O::Add(count), "2→1", 16)
        .step(1, O::Store(n), "1→1", 15)
        .step(0, O::Load(packet), "= 1", 20)
        .step(0, O::Add(count), "1→0", 25)
        .counterexample(ViolationKind::Panic, "`main` panicked");
        let calls = [
            (1, "functions::spawn"),
            (2, "functions::spawn"),
            (3, "Arc::clone"),
            (4, "functions::spawn"),
            (6, "AtomicUsize::load"),
            (7, "AtomicUsize::load"),
            (8, "AtomicUsize::store"),
            (9, "ptr::drop_in_place"),
            (10, "AtomicUsize::store"),
            (11, "JoinHandle::join"),
            (12, "ptr::drop_in_place"),
        ];
        for (idx, call) in calls {
            let place = found.story[idx].location.as_mut().expect("it has one");
            place.within = Some(call.to_owned());
        }
        found.story[5].location.as_mut().expect("it has one").is_library = true;
        found.execution.joins = [(11, 1), (12, 2)]
            .map(|(at, ended)| PassedJoin { at, thread: thread(0), ended: thread(ended) })
            .to_vec();
        let join = found.story[11].location.clone();
        found.joins = ["main.1", "main.2"]
            .map(|ended| Told {
                thread: "main".to_owned(),
                operation: "join".to_owned(),
                object: Some(ended.to_owned()),
                value: None,
                raw: None,
                order: None,
                location: join.clone(),
            })
            .to_vec();
        let location = Some(Location { line: 22, within: None, ..join.expect("it has one") });
        found.failed = Some(FailureSite { thread: thread(0), step: 12, location });
        found
    }

    fn check(found: &Counterexample, is_full: bool, expect: Expect) {
        let shown = Interleaving { is_full, ..Interleaving::from(found) };
        // Every line is indented, and `expect!` takes away what all lines have.
        let text = shown.render(&Style::new().width(90));
        expect.assert_eq(&format!("90 columns:\n{text}"));
    }

    #[test]
    fn constructors_and_destructors_have_one_name() {
        let calls =
            ["lock_guard::lock_guard", "std::lock_guard::~lock_guard", "Mutex::lock", "get"];
        assert_eq!(calls.map(in_short), ["lock_guard", "~lock_guard", "Mutex::lock", "get"]);
    }

    /// A join that none of the two accesses of a data race knows of has no row.
    #[test]
    fn joins_that_a_race_does_not_know_of_are_left_out() {
        let mut found = Story::new(&["main", "a", "b"], &["lock"])
            .step(0, O::Spawn(thread(1)), "", 0)
            .step(0, O::Spawn(thread(2)), "", 0)
            .step(1, O::Acquire(object(0)), "", 0)
            .step(1, O::Release(object(0)), "", 0)
            .step(2, O::Acquire(object(0)), "", 0)
            .counterexample(ViolationKind::Race, "no");
        let access = |by: usize, step| mazurka_core::Access {
            thread: ["main", "a", "b"][by].to_owned(),
            by: Some(thread(by)),
            write: true,
            step,
            memory: Some("x".to_owned()),
            value: None,
            stack: Vec::new(),
        };
        found.accesses = vec![access(1, 4), access(2, 5)];
        found.execution.joins = vec![PassedJoin { at: 4, thread: thread(0), ended: thread(1) }];
        check(
            &found,
            false,
            expect![[r#"
                90 columns:
                  step  main     a             b
                     1  spawn a
                     2  spawn b
                     3           acquire lock
                     4           release lock
                                 ✗ writes x
                     5                         acquire lock
                                               ✗ writes x
            "#]],
        );
    }

    #[test]
    fn what_the_library_does_is_folded_into_calls() {
        check(
            &counter(),
            false,
            expect![[r#"
                90 columns:
                  step  main                 main.1               main.2               a.rs
                     3  spawn main.1                                                    5:9
                     5  spawn main.2                                                    7:9
                     7                       load Counter.n = 0                        14:9
                        preempted ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─
                     8                                            load Counter.n = 0   14:9
                     9                                            store Counter.n 0→1  15:9
                    11                       store Counter.n 1→1                       15:9
                        join main.1, main.2                                            20:9
                        ✗ crashes                                                      22:9
            "#]],
        );
    }

    #[test]
    fn all_steps_are_shown_if_asked() {
        check(
            &counter(),
            true,
            expect![[r#"
                90 columns:
                  step  main       main.1    main.2                             a.rs
                     1  begin
                     2  add heap(a.rs:5) 1→2                                     5:9 in functions::spawn
                     3  spawn main.1                                             5:9 in functions::spawn
                     4  add the references to Counter 1→2                        6:9 in Arc::clone
                     5  spawn main.2                                             7:9 in functions::spawn
                     6             add heap(a.rs:5) 2→1                         61:9
                     7             load Counter.n = 0                           14:9 in AtomicUsize::load
                        preempted ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─
                     8                       load Counter.n = 0                 14:9 in AtomicUsize::load
                     9                       store Counter.n 0→1                15:9 in AtomicUsize::store
                    10                       add the references to Counter 2→1  16:9 in ptr::drop_in_place
                    11             store Counter.n 1→1                          15:9 in AtomicUsize::store
                        join main.1                                             20:9
                    12  load heap(a.rs:5) = 1                                   20:9 in JoinHandle::join
                        join main.2                                             20:9
                        ✗ crashes                                               22:9
                    13  add the references to Counter 1→0                       25:9 in ptr::drop_in_place
            "#]],
        );
    }

    #[test]
    fn what_the_failure_cannot_know_of_is_left_out() {
        let found = Story::new(&["main", "other"], &["x", "y"])
            .step(0, O::Store(object(1)), "0→1", 0)
            .step(1, O::Store(object(0)), "0→1", 0)
            .step(1, O::Load(object(1)), "= 1", 0)
            .step(0, O::Load(object(1)), "= 1", 0)
            .counterexample(ViolationKind::Assertion, "no");
        check(
            &found,
            false,
            expect![[r#"
                90 columns:
                  step  main
                     1  store y 0→1
                     4  load y = 1
                        ✗ assertion fails
            "#]],
        );
        // But who waits in the end may wait for whatever has not come.
        let found = Story::new(&["main", "other"], &["x", "y"])
            .step(1, O::Release(object(0)), "", 0)
            .waits(0, O::Acquire(object(0)), 1)
            .counterexample(ViolationKind::Deadlock, "no");
        check(
            &found,
            false,
            expect![[r#"
                90 columns:
                  step  T0           other
                     1               release x
                        ✗ acquire x
            "#]],
        );
    }

    #[test]
    fn a_call_that_others_interrupt_is_two_rows() {
        let mut found = Story::new(&["main", "other"], &["lock.state", "x"])
            .file("a.rs")
            .step(0, O::Load(object(0)), "= 0", 5)
            .step(1, O::Store(object(0)), "0→1", 9)
            .step(0, O::Store(object(0)), "1→2", 5)
            .step(0, O::Load(object(0)), "= 2", 5)
            .counterexample(ViolationKind::Assertion, "no");
        for idx in [0, 2, 3] {
            let place = found.story[idx].location.as_mut().expect("it has one");
            place.within = Some("Lock::lock".to_owned());
        }
        check(
            &found,
            false,
            expect![[r#"
                90 columns:
                  step  main                   other                 a.rs
                     1  Lock::lock lock.state                        5:9
                        preempted ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─
                     2                         store lock.state 0→1  9:9
                     3  Lock::lock lock.state                        5:9
                        ✗ assertion fails
            "#]],
        );
    }
}
