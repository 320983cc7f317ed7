//! All execution graphs of a program, by the axioms of each model.
//!
//! Breadth first over partial graphs, each known by itself: an event is added at the end of a
//! thread in every way, and the graph is kept if the axioms hold for the whole of it. Nothing is
//! incremental and nothing is shared with the search.

use crate::program::{Op, PARTIES, PERMITS, Program};
use mazurka_core::MemoryOrder;
use mazurka_explore::MemoryModel;
use std::collections::{BTreeMap, BTreeSet};

/// The thread of an event, and how many of that thread come before it.
pub(crate) type Id = (usize, usize);

/// An event. Its thread and place are known from where it is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Event {
    /// The statement.
    pub(crate) number: usize,
    pub(crate) op: Op,
    /// What it read, or whether it succeeded.
    pub(crate) read: i64,
    pub(crate) wrote: Option<i64>,
    /// The write that it read from.
    pub(crate) source: Option<Id>,
    /// Whom a notification woke.
    pub(crate) woken: BTreeSet<usize>,
}

/// An object that is ordered by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Object {
    Memory(usize),
    Mutex(usize),
    Condvar(usize),
    Semaphore(usize),
    RwLock(usize),
    Barrier(usize),
    /// Reads and writes of a variable whose accesses are in one order.
    Strong(usize),
}

#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Graph {
    pub(crate) threads: Vec<Vec<Event>>,
    /// The writes of memory and the chains of other objects, in order.
    pub(crate) orders: BTreeMap<Object, Vec<Id>>,
}

/// What an operation is ordered at.
pub(crate) fn objects(op: Op) -> Vec<Object> {
    match op {
        Op::Acquire(m) | Op::TryAcquire(m) | Op::Release(m) | Op::Reacquire(_, m) => {
            vec![Object::Mutex(m)]
        }
        Op::Wait(c, m) | Op::TimedWait(c, m) => vec![Object::Condvar(c), Object::Mutex(m)],
        Op::Expire(c, _) | Op::NotifyOne(c) | Op::NotifyAll(c) => vec![Object::Condvar(c)],
        Op::Down(s) | Op::TryDown(s) | Op::Up(s) => vec![Object::Semaphore(s)],
        Op::Sleep(x, _) | Op::TimedSleep(x, _) | Op::ExpireSleep(x) => vec![Object::Strong(x)],
        Op::WakeOne(x) | Op::WakeAll(x) => vec![Object::Strong(x)],
        Op::ReadAcquire(l)
        | Op::TryReadAcquire(l)
        | Op::ReadRelease(l)
        | Op::WriteAcquire(l)
        | Op::TryWriteAcquire(l)
        | Op::WriteRelease(l) => vec![Object::RwLock(l)],
        Op::Arrive(b) => vec![Object::Barrier(b)],
        _ => vec![],
    }
}

impl Graph {
    pub(crate) fn new(program: &Program) -> Self {
        Self { threads: vec![Vec::new(); program.threads.len()], orders: BTreeMap::new() }
    }

    pub(crate) fn event(&self, (thread, index): Id) -> &Event {
        &self.threads[thread][index]
    }

    pub(crate) fn order(&self, object: Object) -> &[Id] {
        self.orders.get(&object).map_or(&[], Vec::as_slice)
    }

    /// The next statement of a thread and what it does; nothing if the thread has ended.
    pub(crate) fn next(&self, program: &Program, thread: usize) -> Option<(usize, Op)> {
        let events = &self.threads[thread];
        if let Some(last) = events.last()
            && let Op::Wait(c, m) = last.op
        {
            return Some((last.number, Op::Reacquire(c, m)));
        }
        match events.last() {
            Some(&Event { number, op: Op::Sleep(x, _), read: 1, .. }) => {
                return Some((number, Op::Resume(x)));
            }
            Some(&Event { number, op: Op::TimedSleep(x, _), read: 1, .. }) => {
                return Some((number, Op::ExpireSleep(x)));
            }
            Some(&Event { number, op: Op::TimedWait(c, m), .. }) => {
                return Some((number, Op::Expire(c, m)));
            }
            Some(&Event { number, op: Op::Expire(_, m), .. }) => {
                return Some((number, Op::Acquire(m)));
            }
            Some(&Event { number, op: Op::Arrive(b), .. }) => return Some((number, Op::Leave(b))),
            _ => {}
        }
        let first = events.last().map_or(0, |last| last.number + 1);
        let result = |number: usize| {
            events.iter().find(|event| event.number == number).map_or(0, |event| event.read)
        };
        let statements = program.threads[thread].iter().enumerate().skip(first);
        let mut taken = statements.filter(|(_, it)| it.if_nonzero.is_none_or(|it| result(it) != 0));
        taken.next().map(|(number, statement)| (number, statement.op))
    }

    pub(crate) fn has_started(&self, program: &Program, thread: usize) -> bool {
        let is_spawn = |event: &Event| event.op == Op::Spawn(thread);
        !program.is_spawned(thread) || self.threads.iter().flatten().any(is_spawn)
    }

    fn has_ended(&self, program: &Program, thread: usize) -> bool {
        self.has_started(program, thread) && self.next(program, thread).is_none()
    }

    pub(crate) fn is_held(&self, m: usize) -> bool {
        self.order(Object::Mutex(m)).iter().fold(false, |held, &id| {
            let event = self.event(id);
            match event.op {
                Op::Acquire(_) | Op::Reacquire(..) => true,
                Op::TryAcquire(_) => held || event.read != 0,
                _ => false,
            }
        })
    }

    pub(crate) fn sleepers(&self, c: usize) -> BTreeSet<usize> {
        let mut sleepers = BTreeSet::new();
        for &(thread, index) in self.order(Object::Condvar(c)) {
            let event = self.event((thread, index));
            match event.op {
                Op::Wait(..) | Op::TimedWait(..) => drop(sleepers.insert(thread)),
                _ => sleepers.retain(|sleeper| !event.woken.contains(sleeper)),
            }
        }
        sleepers
    }

    /// Who sleeps on a variable.
    pub(crate) fn futex_sleepers(&self, x: usize) -> BTreeSet<usize> {
        let mut sleepers = BTreeSet::new();
        for &(thread, index) in self.order(Object::Strong(x)) {
            let event = self.event((thread, index));
            match event.op {
                Op::Sleep(..) | Op::TimedSleep(..) if event.read == 1 => {
                    sleepers.insert(thread);
                }
                _ => sleepers.retain(|sleeper| !event.woken.contains(sleeper)),
            }
        }
        sleepers
    }

    /// How many read, and whether a thread writes.
    pub(crate) fn holders(&self, l: usize) -> (usize, bool) {
        let events = self.order(Object::RwLock(l)).iter().map(|&id| self.event(id));
        events.fold((0, false), |(readers, is_written), event| match event.op {
            Op::ReadAcquire(_) => (readers + 1, is_written),
            Op::TryReadAcquire(_) => (readers + event.read as usize, is_written),
            Op::ReadRelease(_) => (readers - 1, is_written),
            Op::WriteAcquire(_) => (readers, true),
            Op::TryWriteAcquire(_) => (readers, is_written || event.read != 0),
            _ => (readers, false),
        })
    }

    /// The arrivals of the round that a thread has arrived in before it came to its `before`-th
    /// event, if they are all there.
    fn round(&self, thread: usize, before: usize, b: usize) -> Option<&[Id]> {
        let order = self.order(Object::Barrier(b));
        let is_own = |&(other, index): &Id| other == thread && index < before;
        let own = order.iter().rposition(is_own)?;
        let start = own / PARTIES * PARTIES;
        order.get(start..start + PARTIES)
    }

    pub(crate) fn permits(&self, s: usize) -> i64 {
        let events = self.order(Object::Semaphore(s)).iter().map(|&id| self.event(id));
        events.fold(PERMITS, |permits, event| match event.op {
            Op::Up(_) => permits + 1,
            Op::Down(_) => permits - 1,
            _ => permits - event.read,
        })
    }

    pub(crate) fn value(&self, write: Option<Id>) -> i64 {
        write.map_or(0, |id| self.event(id).wrote.expect("it is a write"))
    }

    /// Who woke a thread from its last wait on a condition variable.
    fn waker(&self, thread: usize, before: usize, c: usize) -> Option<Id> {
        let order = self.order(Object::Condvar(c));
        let slept = order.iter().rposition(|&(other, index)| other == thread && index < before)?;
        order[slept..].iter().copied().find(|&id| self.event(id).woken.contains(&thread))
    }

    /// Who woke a thread from its last sleep on a variable.
    fn futex_waker(&self, thread: usize, before: usize, x: usize) -> Option<Id> {
        let order = self.order(Object::Strong(x));
        let is_sleep = |&id: &Id| {
            id.0 == thread && id.1 < before && matches!(self.event(id).op, Op::Sleep(..))
        };
        let slept = order.iter().rposition(is_sleep)?;
        order[slept..].iter().copied().find(|&id| self.event(id).woken.contains(&thread))
    }

    /// The last write of a variable whose accesses are in one order.
    pub(crate) fn last_strong_write(&self, x: usize) -> Option<Id> {
        let order = self.order(Object::Strong(x));
        order.iter().rev().copied().find(|&id| self.event(id).wrote.is_some())
    }

    /// Every way in which a thread may go on, consistent or not.
    fn successors(&self, program: &Program, thread: usize) -> Vec<Self> {
        let mut graphs = Vec::new();
        let Some((number, op)) = self.next(program, thread) else { return graphs };
        if !self.has_started(program, thread) {
            return graphs;
        }
        let id = (thread, self.threads[thread].len());
        let event =
            Event { number, op, read: 0, wrote: None, source: None, woken: BTreeSet::new() };
        let with = |event: Event| {
            let mut graph = self.clone();
            graph.threads[thread].push(event);
            graph
        };
        let chained = |event: Event| {
            let mut graph = with(event);
            for object in objects(op) {
                graph.orders.entry(object).or_default().push(id);
            }
            graph
        };
        match op {
            Op::Read(x, _) | Op::Write(x, ..) | Op::Add(x, _) | Op::Swap12(x, _)
                if program.strong == Some(x) =>
            {
                let source = self.last_strong_write(x);
                let (read, wrote) = result(op, self.value(source));
                let source = source.filter(|_| !matches!(op, Op::Write(..)));
                let mut graph = with(Event { read, wrote, source, ..event });
                graph.orders.entry(Object::Strong(x)).or_default().push(id);
                graphs.push(graph);
            }
            Op::Read(x, _) | Op::Add(x, _) | Op::Swap12(x, _) => {
                let writes = self.order(Object::Memory(x));
                let sources = std::iter::once(None).chain(writes.iter().copied().map(Some));
                for (place, source) in sources.enumerate() {
                    let (read, wrote) = result(op, self.value(source));
                    let mut graph = with(Event { read, wrote, source, ..event.clone() });
                    if wrote.is_some() {
                        let writes = graph.orders.entry(Object::Memory(x)).or_default();
                        writes.insert(place, id);
                    }
                    graphs.push(graph);
                }
            }
            Op::Write(x, value, _) => {
                for place in 0..=self.order(Object::Memory(x)).len() {
                    let mut graph = with(Event { wrote: Some(value), ..event.clone() });
                    graph.orders.entry(Object::Memory(x)).or_default().insert(place, id);
                    graphs.push(graph);
                }
            }
            Op::Fence(_) | Op::Spawn(_) => graphs.push(with(event)),
            Op::Join(other) if self.has_ended(program, other) => graphs.push(with(event)),
            Op::Acquire(m) if !self.is_held(m) => graphs.push(chained(event)),
            Op::TryAcquire(m) => {
                let read = i64::from(!self.is_held(m));
                graphs.push(chained(Event { read, ..event }));
            }
            Op::Release(_) | Op::Up(_) | Op::Wait(..) | Op::TimedWait(..) => {
                graphs.push(chained(event));
            }
            Op::Expire(c, _) => graphs.push(chained(expired(event, self.sleepers(c), thread))),
            Op::ExpireSleep(x) => {
                graphs.push(chained(expired(event, self.futex_sleepers(x), thread)));
            }
            Op::Reacquire(c, m) if !self.sleepers(c).contains(&thread) && !self.is_held(m) => {
                graphs.push(chained(event));
            }
            Op::Down(s) if self.permits(s) > 0 => graphs.push(chained(event)),
            Op::TryDown(s) => {
                let read = i64::from(self.permits(s) > 0);
                graphs.push(chained(Event { read, ..event }));
            }
            Op::NotifyOne(c) => {
                let sleepers = self.sleepers(c);
                if sleepers.is_empty() {
                    graphs.push(chained(event.clone()));
                }
                for &sleeper in &sleepers {
                    graphs.push(chained(Event { woken: [sleeper].into(), ..event.clone() }));
                }
            }
            Op::NotifyAll(c) => {
                let woken = self.sleepers(c);
                graphs.push(chained(Event { woken, ..event }));
            }
            Op::Sleep(x, value) | Op::TimedSleep(x, value) => {
                let read = i64::from(self.value(self.last_strong_write(x)) == value);
                graphs.push(chained(Event { read, ..event }));
            }
            Op::Resume(x) if !self.futex_sleepers(x).contains(&thread) => graphs.push(with(event)),
            Op::WakeOne(x) => {
                let sleepers = self.futex_sleepers(x);
                if sleepers.is_empty() {
                    graphs.push(chained(event.clone()));
                }
                for &sleeper in &sleepers {
                    graphs.push(chained(Event { woken: [sleeper].into(), ..event.clone() }));
                }
            }
            Op::WakeAll(x) => {
                let woken = self.futex_sleepers(x);
                graphs.push(chained(Event { woken, ..event }));
            }
            Op::ReadAcquire(l) if !self.holders(l).1 => graphs.push(chained(event)),
            Op::WriteAcquire(l) if self.holders(l) == (0, false) => graphs.push(chained(event)),
            Op::TryReadAcquire(l) => {
                let read = i64::from(!self.holders(l).1);
                graphs.push(chained(Event { read, ..event }));
            }
            Op::TryWriteAcquire(l) => {
                let read = i64::from(self.holders(l) == (0, false));
                graphs.push(chained(Event { read, ..event }));
            }
            Op::ReadRelease(_) | Op::WriteRelease(_) | Op::Arrive(_) => graphs.push(chained(event)),
            Op::Leave(b) if self.round(thread, id.1, b).is_some() => graphs.push(with(event)),
            Op::Join(_) | Op::Acquire(_) | Op::Reacquire(..) | Op::Down(_) => {}
            Op::Resume(_) | Op::ReadAcquire(_) | Op::WriteAcquire(_) | Op::Leave(_) => {}
        }
        graphs
    }
}

/// The end of a sleep whose time is up, where these sleep.
pub(crate) fn expired(event: Event, sleepers: BTreeSet<usize>, thread: usize) -> Event {
    let woken: BTreeSet<usize> = sleepers.into_iter().filter(|&it| it == thread).collect();
    Event { read: woken.len() as i64, woken, ..event }
}

/// What an access reads, or whether it succeeds, and what it writes, if the value is this.
pub(crate) fn result(op: Op, value: i64) -> (i64, Option<i64>) {
    match op {
        Op::Write(_, value, _) => (0, Some(value)),
        Op::Add(..) => (value, Some(value + 1)),
        Op::Swap12(..) => (i64::from(value == 1), (value == 1).then_some(2)),
        _ => (value, None),
    }
}

/// All graphs at whose end no thread can move; nothing if there are too many on the way.
pub(crate) fn ends(program: &Program, model: MemoryModel, limit: usize) -> Option<BTreeSet<Graph>> {
    let mut level = BTreeSet::from([Graph::new(program)]);
    let (mut ends, mut n_graphs) = (BTreeSet::new(), 0);
    while !level.is_empty() {
        let mut next = BTreeSet::new();
        for graph in level {
            n_graphs += 1;
            if n_graphs > limit {
                return None;
            }
            let threads = 0..program.threads.len();
            let all: Vec<Graph> =
                threads.flat_map(|thread| graph.successors(program, thread)).collect();
            if all.is_empty() {
                ends.insert(graph);
                continue;
            }
            next.extend(all.into_iter().filter(|graph| is_consistent(program, graph, model)));
        }
        level = next;
    }
    Some(ends)
}

/// A relation between at most 64 events.
#[derive(Clone)]
struct Relation(Vec<u64>);

impl Relation {
    fn none(n: usize) -> Self {
        Self(vec![0; n])
    }

    fn of(n: usize, mut has: impl FnMut(usize, usize) -> bool) -> Self {
        let mut relation = Self::none(n);
        for from in 0..n {
            for to in 0..n {
                if has(from, to) {
                    relation.0[from] |= 1 << to;
                }
            }
        }
        relation
    }

    fn has(&self, from: usize, to: usize) -> bool {
        self.0[from] >> to & 1 != 0
    }

    fn or(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(mine, theirs)| mine | theirs).collect())
    }

    fn then(&self, other: &Self) -> Self {
        let n = self.0.len();
        Self::of(n, |from, to| (0..n).any(|via| self.has(from, via) && other.has(via, to)))
    }

    fn closed(&self) -> Self {
        let mut closed = self.clone();
        let n = closed.0.len();
        for via in 0..n {
            for from in 0..n {
                if closed.has(from, via) {
                    closed.0[from] |= closed.0[via];
                }
            }
        }
        closed
    }

    fn is_irreflexive(&self) -> bool {
        (0..self.0.len()).all(|event| !self.has(event, event))
    }

    fn is_acyclic(&self) -> bool {
        self.closed().is_irreflexive()
    }
}

/// The order of an access or fence under a model.
fn order_of(op: Op, model: MemoryModel) -> Option<MemoryOrder> {
    let order = match op {
        Op::Read(_, order) | Op::Write(_, _, order) => order,
        Op::Add(_, order) | Op::Swap12(_, order) | Op::Fence(order) => order,
        Op::Sleep(..) | Op::TimedSleep(..) | Op::WakeOne(_) | Op::WakeAll(_) => {
            MemoryOrder::SequentiallyConsistent
        }
        _ => return None,
    };
    let is_weaker =
        matches!(order, MemoryOrder::Relaxed | MemoryOrder::Acquire | MemoryOrder::Release);
    match model {
        MemoryModel::Ra if is_weaker => Some(MemoryOrder::AcquireRelease),
        _ => Some(order),
    }
}

fn is_consistent(program: &Program, graph: &Graph, model: MemoryModel) -> bool {
    let ids: Vec<Id> = graph
        .threads
        .iter()
        .enumerate()
        .flat_map(|(thread, events)| (0..events.len()).map(move |index| (thread, index)))
        .collect();
    let n = ids.len();
    assert!(n <= 64, "the program is small");
    let at = |id: Id| ids.iter().position(|&other| other == id).expect("it is there");
    let events: Vec<&Event> = ids.iter().map(|&id| graph.event(id)).collect();
    let own_po = Relation::of(n, |a, b| ids[a].0 == ids[b].0 && ids[a].1 < ids[b].1);
    let asw = Relation::of(n, |a, b| {
        events[a].op == Op::Spawn(ids[b].0) || events[b].op == Op::Join(ids[a].0)
    });
    let po = own_po.or(&asw).closed();
    let memory: Vec<Option<usize>> = events
        .iter()
        .map(|event| match event.op {
            Op::Read(x, _) | Op::Write(x, ..) | Op::Add(x, _) | Op::Swap12(x, _) => Some(x),
            _ => None,
        })
        .map(|x| x.filter(|_| x != program.strong))
        .collect();
    let reads =
        |event: usize| memory[event].is_some() && !matches!(events[event].op, Op::Write(..));
    let writes = |event: usize| memory[event].is_some() && events[event].wrote.is_some();
    let rf = Relation::of(n, |a, b| reads(b) && events[b].source == Some(ids[a]));
    let place =
        |id: Id, x: usize| graph.order(Object::Memory(x)).iter().position(|&other| other == id);
    let mo = Relation::of(n, |a, b| {
        writes(a)
            && writes(b)
            && memory[a] == memory[b]
            && place(ids[a], memory[a].expect("it has one"))
                < place(ids[b], memory[b].expect("it has one"))
    });
    let rb = Relation::of(n, |a, b| {
        a != b
            && reads(a)
            && writes(b)
            && memory[a] == memory[b]
            && match events[a].source {
                None => true,
                Some(source) => mo.has(at(source), b),
            }
    });
    // Atomicity: an update is right behind what it reads from.
    for event in (0..n).filter(|&event| reads(event) && writes(event)) {
        let x = memory[event].expect("it has one");
        let place = place(ids[event], x).expect("it is there");
        let before = place.checked_sub(1).map(|place| graph.order(Object::Memory(x))[place]);
        if before != events[event].source {
            return false;
        }
    }
    let mut chain = Relation::none(n);
    let mut strong = Relation::none(n);
    let mut place = memory.clone();
    let mut sync = Relation::none(n);
    for (object, order) in &graph.orders {
        if let Object::Memory(_) = object {
            continue;
        }
        // To wake those who sleep on what was never accessed is nothing, and so is the end of a
        // sleep whose time is up.
        let is_wake = |id: &Id| matches!(graph.event(*id).op, Op::WakeOne(_) | Op::WakeAll(_));
        let is_memory = matches!(object, Object::Strong(_)) && !order.iter().all(is_wake);
        let is_memory = |id: Id| is_memory && !matches!(graph.event(id).op, Op::ExpireSleep(_));
        for (idx, &first) in order.iter().enumerate() {
            if let Object::Strong(x) = object {
                place[at(first)] = is_memory(first).then_some(*x);
            }
            for &second in &order[idx + 1..] {
                chain.0[at(first)] |= 1 << at(second);
                if is_memory(first) && is_memory(second) {
                    strong.0[at(first)] |= 1 << at(second);
                }
                let (a, b) = (graph.event(first), graph.event(second));
                let releases = match object {
                    Object::Condvar(_) => false,
                    Object::Strong(_) | Object::Barrier(_) => false,
                    // Readers learn nothing from readers.
                    Object::RwLock(_)
                        if matches!(b.op, Op::ReadAcquire(_) | Op::TryReadAcquire(_)) =>
                    {
                        matches!(a.op, Op::WriteRelease(_))
                    }
                    Object::RwLock(_) => {
                        matches!(a.op, Op::WriteRelease(_) | Op::ReadRelease(_))
                    }
                    _ => matches!(
                        a.op,
                        Op::Release(_) | Op::Wait(..) | Op::TimedWait(..) | Op::Up(_)
                    ),
                };
                let acquires = match b.op {
                    Op::Acquire(_) | Op::Reacquire(..) | Op::Down(_) => true,
                    Op::TryAcquire(_) | Op::TryDown(_) => b.read != 0,
                    Op::ReadAcquire(_) | Op::WriteAcquire(_) => true,
                    Op::TryReadAcquire(_) | Op::TryWriteAcquire(_) => b.read != 0,
                    _ => false,
                };
                if releases && acquires {
                    sync.0[at(first)] |= 1 << at(second);
                }
            }
        }
    }
    for (b, &(thread, index)) in ids.iter().enumerate() {
        if let Op::Reacquire(c, _) = events[b].op {
            let waker = graph.waker(thread, index, c).expect("it was woken");
            chain.0[at(waker)] |= 1 << b;
        }
        if let Op::Resume(x) = events[b].op {
            let waker = graph.futex_waker(thread, index, x).expect("it was woken");
            chain.0[at(waker)] |= 1 << b;
        }
        if let Op::Leave(barrier) = events[b].op {
            for &arrival in graph.round(thread, index, barrier).expect("all have arrived") {
                chain.0[at(arrival)] |= 1 << b;
                sync.0[at(arrival)] |= 1 << b;
            }
        }
    }
    let orders: Vec<_> = events.iter().map(|event| order_of(event.op, model)).collect();
    match model {
        MemoryModel::Sc => po.or(&rf).or(&mo).or(&rb).or(&chain).is_acyclic(),
        MemoryModel::Tso => {
            let uniproc = Relation::of(n, |a, b| {
                po.has(a, b) && memory[a].is_some() && memory[a] == memory[b]
            });
            if !uniproc.or(&rf).or(&mo).or(&rb).is_acyclic() {
                return false;
            }
            let is_sc = |event: usize| orders[event] == Some(MemoryOrder::SequentiallyConsistent);
            let is_store = |event: usize| match events[event].op {
                op if program.is_strong(op) => false,
                Op::Write(..) => !is_sc(event),
                _ => false,
            };
            let is_barrier = |event: usize| match events[event].op {
                op if program.is_strong(op) => true,
                Op::Read(..) | Op::Write(..) => false,
                Op::Fence(_) => is_sc(event),
                _ => true,
            };
            let is_nothing =
                |event: usize| matches!(events[event].op, Op::Fence(_)) && !is_barrier(event);
            let ppo = Relation::of(n, |a, b| {
                if is_nothing(a) || is_nothing(b) {
                    return false;
                }
                let is_load = matches!(events[b].op, Op::Read(..)) && !is_barrier(b);
                let is_same_thread = ids[a].0 == ids[b].0;
                let may_pass = is_same_thread
                    && is_store(a)
                    && is_load
                    && !(0..n).any(|m| is_barrier(m) && own_po.has(a, m) && own_po.has(m, b));
                po.has(a, b) && !may_pass
            });
            let rfe =
                Relation::of(n, |a, b| ids[a].0 != ids[b].0 && (rf.has(a, b) || chain.has(a, b)));
            ppo.or(&rfe).or(&mo).or(&rb).is_acyclic()
        }
        _ => {
            let read = Relation::of(n, |a, b| events[b].source == Some(ids[a]));
            is_rc11(&Parts {
                events: &events,
                orders,
                place,
                own_po,
                po,
                rf,
                mo,
                rb,
                strong,
                sync,
                read,
            })
        }
    }
}

struct Parts<'a> {
    events: &'a [&'a Event],
    orders: Vec<Option<MemoryOrder>>,
    /// The variable that is accessed, slept on or woken at.
    place: Vec<Option<usize>>,
    own_po: Relation,
    po: Relation,
    rf: Relation,
    mo: Relation,
    rb: Relation,
    /// The order of a variable whose accesses are in one.
    strong: Relation,
    sync: Relation,
    /// From every write to those who read it, whatever the order of accesses is.
    read: Relation,
}

/// The axioms of RC11, without the acyclicity of po ∪ rf, which the enumeration has by itself.
fn is_rc11(parts: &Parts<'_>) -> bool {
    let Parts { events, orders, place, own_po, po, rf, mo, rb, strong, sync, read } = parts;
    let n = events.len();
    let is_fence = |event: usize| matches!(events[event].op, Op::Fence(_));
    let acquires = |event: usize| orders[event].is_some_and(MemoryOrder::acquires);
    let releases = |event: usize| orders[event].is_some_and(MemoryOrder::releases);
    let writes = |event: usize| events[event].wrote.is_some();
    let identity = Relation::of(n, |a, b| a == b);
    let rf_update = Relation::of(n, |a, b| read.has(a, b) && writes(b));
    let sequences = identity.or(&rf_update.closed());
    // sw: a release or a release fence before a write, its release sequence, a read of that, and
    // an acquire or an acquire fence behind the read.
    let heads = Relation::of(n, |a, w| {
        writes(w) && releases(a) && (a == w || (is_fence(a) && own_po.has(a, w)))
    });
    let read = heads.then(&sequences).then(read);
    let ends = Relation::of(n, |r, b| {
        acquires(b) && ((r == b && !is_fence(b)) || (is_fence(b) && own_po.has(r, b)))
    });
    let sw = read.then(&ends);
    let hb = po.or(&sw).or(sync).closed();
    let eco = rf.or(mo).or(rb).closed();
    if !hb.is_irreflexive() || !hb.then(&eco).is_irreflexive() || !eco.is_irreflexive() {
        return false;
    }
    let is_sc = |event: usize| {
        orders[event] == Some(MemoryOrder::SequentiallyConsistent)
            && (is_fence(event) || place[event].is_some())
    };
    let accesses = Relation::of(n, |a, b| a == b && is_sc(a) && !is_fence(a));
    let fences = Relation::of(n, |a, b| a == b && is_sc(a) && is_fence(a));
    let is_same = |a: usize, b: usize| place[a].is_some() && place[a] == place[b];
    // Accesses in one order, and futexes: that order is a part of eco.
    let (mo, eco) = (mo.or(strong), eco.or(strong).closed());
    let far = Relation::of(n, |a, b| po.has(a, b) && !is_same(a, b));
    let near = Relation::of(n, |a, b| hb.has(a, b) && is_same(a, b));
    let scb = po.or(&far.then(&hb).then(&far)).or(&near).or(&mo).or(rb);
    let maybe_hb = hb.or(&identity);
    let left = accesses.or(&fences.then(&maybe_hb));
    let right = accesses.or(&maybe_hb.then(&fences));
    let base = left.then(&scb).then(&right);
    let psc = base.or(&fences.then(&hb.or(&hb.then(&eco).then(&hb))).then(&fences));
    psc.is_acyclic()
}
