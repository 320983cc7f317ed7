//! Data races by hand, and on random executions against brute force.

use super::*;
use Operation as O;
use expect_test::{Expect, expect};
use mazurka_core::ThreadSet;

/// One step, and what was done in it.
#[derive(Clone, Debug)]
struct Taken {
    thread: ThreadId,
    operation: Operation,
    effect: Effect,
    order: MemoryOrder,
    accesses: Vec<PlainAccess>,
    fences: Vec<Fence>,
    parts: Vec<Part>,
    passage: Passage,
}

impl Taken {
    fn new(thread: ThreadId, operation: Operation, accesses: Vec<PlainAccess>) -> Self {
        Self {
            thread,
            operation,
            effect: Effect::Done,
            order: MemoryOrder::SequentiallyConsistent,
            accesses,
            fences: Vec::new(),
            parts: Vec::new(),
            passage: Passage::InOrder,
        }
    }

    /// The same with an order that is not the strongest.
    fn ordered(self, order: MemoryOrder) -> Self {
        Self { order, ..self }
    }

    /// The same with a fence behind its accesses.
    fn fenced(mut self, order: MemoryOrder) -> Self {
        let (n_accesses, n_parts) = (self.accesses.len(), self.parts.len());
        self.fences.push(Fence { order, n_accesses, n_parts });
        self
    }
}

fn object(index: usize) -> ObjectId {
    ObjectId::new(index)
}

/// `"rw/r"`: reads memory 0, then writes it; the thread that it has started reads it.
fn taken(thread: usize, operation: Operation, accesses: &str) -> Taken {
    // In capitals, it is a part of an atomic block.
    let access = |how: char| PlainAccess {
        is_atomic: how.is_uppercase(),
        ..PlainAccess::new(object(0), how.eq_ignore_ascii_case(&'w'))
    };
    let (own, newborn) = accesses.split_once('/').unwrap_or((accesses, ""));
    let parts = match operation {
        O::Spawn(thread) => vec![Part { thread, joined: None, n_before: own.len() }],
        _ => Vec::new(),
    };
    let accesses = [own, newborn].concat().chars().map(access).collect();
    Taken { parts, ..Taken::new(ThreadId::new(thread), operation, accesses) }
}

/// The step, in which a thread then goes on after the end of another one, as in `after`.
fn joining(mut step: Taken, after: Taken) -> Taken {
    let O::Join(ended) = after.operation else { panic!("it is a join") };
    let n_before = step.accesses.len();
    step.parts.push(Part { thread: after.thread, joined: Some(ended), n_before });
    step.accesses.extend(after.accesses);
    let n_parts = step.parts.len();
    step.fences.extend(after.fences.iter().map(|fence| Fence {
        n_accesses: n_before + fence.n_accesses,
        n_parts,
        ..*fence
    }));
    step
}

fn failed(thread: usize, operation: Operation) -> Taken {
    let effect = Effect::Failed;
    Taken { effect, ..Taken::new(ThreadId::new(thread), operation, Vec::new()) }
}

fn take(races: &mut DataRaces, step: &Taken) -> Option<DataRace> {
    let Taken { order, accesses, fences, parts, passage, .. } = step;
    let (order, passage) = (*order, *passage);
    let done = Done { order, accesses, fences, parts, passage, ..Done::default() };
    races.step(Decision::of(step.thread), step.operation, step.effect, done)
}

fn run(steps: &[Taken]) -> Vec<Option<DataRace>> {
    let mut races = DataRaces::new();
    steps.iter().map(|step| take(&mut races, step)).collect()
}

fn check(steps: &[Taken], expect: Expect) {
    let how = |write| if write { "writes" } else { "reads" };
    let shown: Vec<String> = run(steps)
        .into_iter()
        .flatten()
        .map(|race| {
            format!(
                "{} {} {} at {}, {} {} it at {}",
                race.first_thread,
                how(race.first_write),
                race.memory,
                race.first,
                race.second_thread,
                how(race.second_write),
                race.second,
            )
        })
        .collect();
    expect.assert_eq(&shown.join("; "));
}

/// Takes a step that accesses memory 0 by its operation.
fn atomic(races: &mut DataRaces, thread_idx: usize, operation: O, write: bool) -> Option<DataRace> {
    let decision = Decision::of(ThreadId::new(thread_idx));
    let access = PlainAccess { object: object(0), write, is_atomic: true };
    races.step(decision, operation, Effect::Done, Done { atomic: &[access], ..Done::default() })
}

/// Takes a step that adds to the counter at memory 0.
fn add(races: &mut DataRaces, thread_idx: usize, operation: O) -> Option<DataRace> {
    atomic(races, thread_idx, operation, true)
}

/// Takes a step with an access to memory 0.
fn plain(races: &mut DataRaces, thread_idx: usize, operation: O, write: bool) -> bool {
    let accesses = [PlainAccess::new(object(0), write)];
    let decision = Decision::of(ThreadId::new(thread_idx));
    races
        .step(decision, operation, Effect::Done, Done { accesses: &accesses, ..Done::default() })
        .is_some()
}

#[test]
fn additions_race_with_plain_accesses_and_not_with_each_other() {
    let x = object(7);
    for write in [false, true] {
        let mut races = DataRaces::new();
        assert_eq!(add(&mut races, 0, O::Add(x)), None);
        assert_eq!(add(&mut races, 1, O::Add(x)), None);
        assert!(plain(&mut races, 1, O::Yield, write), "the first is not known");
        // Taken back, and with a look at the counter before.
        races.truncate(2);
        assert!(!plain(&mut races, 1, O::Load(x), write), "both are known");
        assert!(add(&mut races, 0, O::Add(x)).is_some(), "the access is not known");
    }
}

#[test]
fn operations_race_with_plain_accesses_and_not_with_each_other() {
    let (x, other) = (object(7), object(8));
    for (operation, writes) in [(O::Load(x), false), (O::Store(x), true)] {
        for write in [false, true] {
            let mut races = DataRaces::new();
            assert_eq!(atomic(&mut races, 0, operation, writes), None);
            assert_eq!(atomic(&mut races, 1, O::Store(x), true), None);
            assert_eq!(atomic(&mut races, 0, O::Load(x), false), None);
            races.truncate(1);
            assert_eq!(plain(&mut races, 1, O::Load(other), write), write || writes);
            // The other way round.
            let mut races = DataRaces::new();
            assert!(!plain(&mut races, 1, O::Load(other), write));
            assert_eq!(atomic(&mut races, 0, operation, writes).is_some(), write || writes);
        }
    }
}

/// What the operation has released does not cover what follows it in the same step.
#[test]
fn an_operation_covers_itself_and_nothing_after_it() {
    let x = object(7);
    let write = [PlainAccess::new(object(1), true)];
    let step = |races: &mut DataRaces, thread_idx: usize, operation: O| {
        let decision = Decision::of(ThreadId::new(thread_idx));
        let access = PlainAccess { object: object(0), write: true, is_atomic: true };
        let done = Done { atomic: &[access], accesses: &write, ..Done::default() };
        races.step(decision, operation, Effect::Done, done)
    };
    for operation in [O::Store(x), O::Add(x), O::ReadModifyWrite(x)] {
        let mut races = DataRaces::new();
        assert_eq!(step(&mut races, 0, operation), None);
        assert!(step(&mut races, 1, O::ReadModifyWrite(x)).is_some(), "{operation:?}");
        let mut races = DataRaces::new();
        assert_eq!(atomic(&mut races, 0, operation, true), None);
        assert!(!plain(&mut races, 1, O::Load(x), true), "{operation:?}");
    }
}

/// One that comes after all others has learnt from them, before it is asked what it races with.
#[test]
fn the_last_addition_knows_of_all_others() {
    let x = object(7);
    let mut races = DataRaces::new();
    assert!(!plain(&mut races, 0, O::Yield, true));
    assert_eq!(add(&mut races, 0, O::Add(x)), None);
    assert_eq!(add(&mut races, 1, O::ReadModifyWrite(x)), None);
    assert!(!plain(&mut races, 1, O::Yield, true), "it may free the counter");
}

#[test]
fn what_nothing_orders_is_a_race_unless_both_read() {
    check(
        &[taken(0, O::Yield, "w"), taken(1, O::Yield, "w")],
        expect!["T0 writes o0 at 1, T1 writes it at 2"],
    );
    let late = [taken(1, O::Yield, ""), taken(0, O::Yield, "rw"), taken(1, O::Yield, "r")];
    check(&late, expect!["T0 writes o0 at 2, T1 reads it at 3"]);
    check(
        &[taken(0, O::Yield, "r"), taken(1, O::Yield, "w")],
        expect!["T0 reads o0 at 1, T1 writes it at 2"],
    );
    check(&[taken(0, O::Yield, "r"), taken(1, O::Yield, "r")], expect![""]);
    check(&[taken(0, O::Yield, "w"), taken(0, O::Yield, "rw")], expect![""]);
}

#[test]
fn a_load_learns_from_the_store_it_sees() {
    let x = object(0);
    let store = [taken(0, O::Yield, "w"), taken(0, O::Store(x), "")];
    for see in [O::Load(x), O::Await(x), O::ReadModifyWrite(x)] {
        let steps = [&store[..], &[taken(1, see, "rw")]].concat();
        check(&steps, expect![""]);
    }
    // What comes after the operation of a step is not covered by it.
    check(
        &[taken(0, O::Store(x), "w"), taken(1, O::Load(x), "r")],
        expect!["T0 writes o0 at 1, T1 reads it at 2"],
    );
    // Another store hides the first one.
    let hidden = [&store[..], &[taken(2, O::Store(x), ""), taken(1, O::Load(x), "r")]].concat();
    check(&hidden, expect!["T0 writes o0 at 1, T1 reads it at 4"]);
    // A read-modify-write does not, and a failed one releases nothing of its own.
    let rmw = O::ReadModifyWrite(x);
    let chain = [&store[..], &[taken(2, rmw, ""), taken(1, O::Load(x), "r")]].concat();
    check(&chain, expect![""]);
    let swap = [taken(0, O::Yield, "w"), failed(0, rmw), taken(1, O::Load(x), "r")];
    check(&swap, expect!["T0 writes o0 at 1, T1 reads it at 3"]);
}

#[test]
fn a_load_before_a_store_orders_nothing() {
    let x = object(0);
    let steps = [
        taken(0, O::Yield, "w"),
        taken(0, O::Load(x), ""),
        taken(1, O::Store(x), ""),
        taken(1, O::Yield, "w"),
    ];
    check(&steps, expect!["T0 writes o0 at 1, T1 writes it at 4"]);
}

#[test]
fn locks_order_their_critical_sections() {
    let (m, condvar) = (object(0), object(1));
    let wait = O::Wait { condvar, mutex: m };
    let reacquire = O::Reacquire { condvar, mutex: m };
    for release in [O::Release(m), wait] {
        for acquire in [O::Acquire(m), O::TryAcquire(m), reacquire] {
            let first = [taken(0, O::Acquire(m), "w"), taken(0, release, "")];
            check(&[&first[..], &[taken(1, acquire, "rw")]].concat(), expect![""]);
        }
    }
    let tried = [
        taken(0, O::Acquire(m), "w"),
        taken(0, O::Release(m), ""),
        failed(1, O::TryAcquire(m)),
        taken(1, O::Yield, "w"),
    ];
    check(&tried, expect!["T0 writes o0 at 1, T1 writes it at 4"]);
    let notified =
        [taken(0, O::Yield, "w"), taken(0, O::NotifyAll(condvar), ""), taken(1, reacquire, "r")];
    check(&notified, expect!["T0 writes o0 at 1, T1 reads it at 3"]);
}

/// To unpark releases and to park acquires; the second unpark goes on with the sequence of the
/// first.
#[test]
fn calls_order_what_their_memory_order_says() {
    let call = |thread, order| taken(thread, O::Call(object(0)), "").ordered(order);
    let write = taken(0, O::Yield, "w");
    let (release, acquire, both) =
        (MemoryOrder::Release, MemoryOrder::Acquire, MemoryOrder::SequentiallyConsistent);
    let check = |calls: &[Taken], expect: Expect| {
        let last = calls.last().expect("there is one").thread.index();
        check(
            &[std::slice::from_ref(&write), calls, &[taken(last, O::Yield, "r")]].concat(),
            expect,
        );
    };
    let races = || expect!["T0 writes o0 at 1, T1 reads it at 4"];
    check(&[call(0, both), call(1, both)], expect![""]);
    check(&[call(0, release), call(1, acquire)], expect![""]);
    check(&[call(0, release), call(2, release), call(1, acquire)], expect![""]);
    check(&[call(0, release), call(1, release)], races());
    check(&[call(0, acquire), call(1, acquire)], races());
    check(&[call(0, acquire), call(1, release)], races());
    check(&[call(0, release), call(1, MemoryOrder::Relaxed)], races());
    let fenced = call(1, release).fenced(acquire);
    check(&[call(0, release), fenced], expect![""]);
}

/// A message carries what its sender knows, and room what its receiver knows.
#[test]
fn calls_pass_messages_on() {
    let call = |thread, passage| {
        let call = taken(thread, O::Call(object(0)), "").ordered(MemoryOrder::Relaxed);
        Taken { passage, ..call }
    };
    let put = |thread, message, room_of| call(thread, Passage::Put { message, room_of });
    let take = |thread, message| call(thread, Passage::Took { message });
    let check = |calls: &[Taken], expect: Expect| {
        let (write, read) = (taken(0, O::Yield, "w"), taken(1, O::Yield, "r"));
        check(&[&calls[..1], &[write], &calls[1..], &[read]].concat(), expect);
    };
    let races = || expect!["T0 writes o0 at 2, T1 reads it at 5"];
    // A message that was put in before, and one that was put in after it.
    check(&[put(0, 0, None), put(0, 1, None), take(1, 0)], races());
    check(&[put(0, 0, None), put(0, 1, None), take(1, 0), take(1, 1)], expect![""]);
    // Room that is needed, and room that was there.
    check(&[put(1, 0, None), take(0, 0), put(1, 4, Some(0))], expect![""]);
    check(&[put(1, 0, None), take(0, 0), put(1, 1, None)], races());
    // One end of a queue is in order.
    check(&[put(0, 0, None), put(0, 1, None), put(1, 2, None)], expect![""]);
}

#[test]
fn readers_are_ordered_with_writers_only() {
    let lock = object(0);
    let reader = |thread, accesses| {
        [taken(thread, O::ReadAcquire(lock), accesses), taken(thread, O::ReadRelease(lock), "")]
    };
    let writer = [taken(2, O::WriteAcquire(lock), "w"), taken(2, O::WriteRelease(lock), "")];
    let all = [&reader(0, "r")[..], &reader(1, "r"), &writer, &reader(0, "r")].concat();
    check(&all, expect![""]);
    check(
        &[reader(0, "w"), reader(1, "w")].concat(),
        expect!["T0 writes o0 at 1, T1 writes it at 3"],
    );
}

#[test]
fn spawning_and_joining_order() {
    let child = ThreadId::new(7);
    let steps = [
        taken(0, O::Yield, "w"),
        taken(0, O::Spawn(child), ""),
        taken(7, O::Yield, "rw"),
        taken(0, O::Join(child), "w"),
    ];
    check(&steps, expect![""]);
    let early = [taken(0, O::Spawn(child), "w"), taken(7, O::Yield, "r"), taken(0, O::Yield, "r")];
    check(&early, expect!["T0 writes o0 at 1, T7 reads it at 2"]);
}

#[test]
fn what_a_newborn_does_at_once_is_its_own() {
    let spawn = O::Spawn(ThreadId::new(1));
    check(&[taken(0, spawn, "w/r")], expect!["T0 writes o0 at 1, T1 reads it at 1"]);
    check(&[taken(0, O::Yield, "w"), taken(0, spawn, "/w")], expect![""]);
    check(
        &[taken(0, spawn, "/w"), taken(0, O::Yield, "r")],
        expect!["T1 writes o0 at 1, T0 reads it at 2"],
    );
    let joined = [taken(0, spawn, "/w"), taken(0, O::Join(ThreadId::new(1)), "w")];
    check(&joined, expect![""]);
}

#[test]
fn who_joins_in_the_step_of_another_one_knows_what_that_did() {
    let ended = O::Join(ThreadId::new(1));
    let last = || taken(1, O::Yield, "w");
    check(&[joining(last(), taken(0, ended, "w"))], expect![""]);
    check(
        &[joining(last(), taken(0, ended, "")), taken(2, O::Yield, "r")],
        expect!["T1 writes o0 at 1, T2 reads it at 2"],
    );
    // It is the joiner's, and not that of whose step it is.
    check(
        &[joining(taken(1, O::Yield, ""), taken(0, ended, "w")), taken(2, O::Yield, "r")],
        expect!["T0 writes o0 at 1, T2 reads it at 2"],
    );
    // What comes before the join in a step does not know.
    check(
        &[last(), joining(taken(0, O::Yield, "r"), taken(0, ended, "w"))],
        expect!["T1 writes o0 at 1, T0 reads it at 2"],
    );
}

#[test]
fn a_message_carries_its_senders_clock_and_room_its_makers() {
    let send = O::Send { channel: object(0), capacity: 1 };
    let receive = O::Receive(object(0));
    check(&[taken(0, O::Yield, "w"), taken(0, send, ""), taken(1, receive, "w")], expect![""]);
    let full =
        [taken(0, send, ""), taken(1, O::Yield, "w"), taken(1, receive, ""), taken(0, send, "w")];
    check(&full, expect![""]);
    let unbounded = O::Send { channel: object(0), capacity: u32::MAX };
    let other = [
        taken(0, unbounded, ""),
        taken(2, O::Yield, "w"),
        taken(2, unbounded, ""),
        taken(1, receive, "r"),
    ];
    check(&other, expect!["T2 writes o0 at 2, T1 reads it at 4"]);
}

#[test]
fn a_barrier_orders_the_threads_of_one_round() {
    let (arrive, leave) = (O::Arrive(object(0)), O::Leave { barrier: object(0), parties: 2 });
    let steps = [
        taken(0, O::Yield, "w"),
        taken(0, arrive, ""),
        taken(1, arrive, ""),
        taken(2, arrive, ""),
        taken(1, leave, "r"),
        taken(3, arrive, ""),
        taken(3, leave, "r"),
    ];
    check(&steps, expect!["T0 writes o0 at 1, T3 reads it at 7"]);
}

#[test]
fn a_semaphore_passes_everything_on() {
    let acquire = O::SemaphoreAcquire { semaphore: object(0), permits: 0 };
    let steps = [
        taken(0, O::Yield, "w"),
        taken(0, O::SemaphoreRelease(object(0)), ""),
        taken(1, acquire, "r"),
    ];
    check(&steps, expect![""]);
}

/// An xorshift generator.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n as u64) as usize
    }

    /// A step that need not make sense as part of a program, of one of `n_threads`.
    fn step(&mut self, n_threads: usize) -> Taken {
        let thread = ThreadId::new(self.below(n_threads));
        let other = ThreadId::new(self.below(n_threads));
        let [x, y, m, lock, semaphore, barrier, channel, condvar] = std::array::from_fn(object);
        let operations = [
            O::Load(x),
            O::Store(x),
            O::ReadModifyWrite(x),
            O::Load(y),
            O::Await(y),
            O::Store(y),
            O::Acquire(m),
            O::TryAcquire(m),
            O::Release(m),
            O::Wait { condvar, mutex: m },
            O::Reacquire { condvar, mutex: m },
            O::NotifyOne(condvar),
            O::FutexWait { word: x, queue: condvar },
            O::FutexResume(condvar),
            O::FutexRequeue { word: x, queue: condvar },
            O::FutexWakeOp { word: x, queue: condvar },
            O::ReadAcquire(lock),
            O::TryReadAcquire(lock),
            O::ReadRelease(lock),
            O::WriteAcquire(lock),
            O::TryWriteAcquire(lock),
            O::WriteRelease(lock),
            O::SemaphoreAcquire { semaphore, permits: 1 },
            O::SemaphoreTryAcquire { semaphore, permits: 1 },
            O::SemaphoreRelease(semaphore),
            O::Arrive(barrier),
            O::Leave { barrier, parties: 2 },
            O::Send { channel, capacity: 2 },
            O::TrySend { channel, capacity: 2 },
            O::Receive(channel),
            O::TryReceive(channel),
            O::Spawn(other),
            O::Join(other),
            O::Yield,
        ];
        let operation = operations[self.below(operations.len())];
        let may_fail = operation.name().starts_with("try")
            || matches!(operation, O::SemaphoreTryAcquire { .. } | O::ReadModifyWrite(_));
        let effect = match operation {
            _ if operation.may_choose() && self.below(3) > 0 => Effect::Woke(ThreadSet::one(other)),
            _ if may_fail && self.below(3) == 0 => Effect::Failed,
            _ => Effect::Done,
        };
        // Few accesses, or the first race comes before anything could order it.
        let n_accesses = if self.below(5) == 0 { 1 + self.below(2) } else { 0 };
        let n_of_newborn = match operation {
            O::Spawn(_) => self.below(3),
            _ => 0,
        };
        let step = Taken::new(thread, operation, self.accesses(n_accesses));
        let mut step = self.some_fences(Taken { effect, ..step }).ordered(self.order());
        if let O::Spawn(child) = operation {
            let n_before = step.accesses.len();
            step.parts.push(Part { thread: child, joined: None, n_before });
            step.accesses.extend(self.accesses(n_of_newborn));
            step = self.some_fences(step);
        }
        while self.below(8) == 0 {
            let [thread, ended] = [0; 2].map(|_| ThreadId::new(self.below(n_threads)));
            let n_accesses = self.below(2);
            let after = Taken::new(thread, O::Join(ended), self.accesses(n_accesses));
            step = joining(step, self.some_fences(after));
        }
        step
    }

    fn order(&mut self) -> MemoryOrder {
        MemoryOrder::ALL[self.below(MemoryOrder::ALL.len())]
    }

    /// Fences behind what the step did last, and accesses behind those.
    fn some_fences(&mut self, mut step: Taken) -> Taken {
        while self.below(4) == 0 {
            step = step.fenced(self.order());
            let n_accesses = self.below(2);
            step.accesses.extend(self.accesses(n_accesses));
        }
        step
    }

    fn accesses(&mut self, n: usize) -> Vec<PlainAccess> {
        let access = |_| PlainAccess {
            is_atomic: self.below(4) == 0,
            ..PlainAccess::new(object(self.below(3)), self.below(3) == 0)
        };
        (0..n).map(access).collect()
    }
}

#[test]
fn taking_steps_back_leaves_nothing_behind() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut races = DataRaces::new();
    let (mut steps, mut found) = (Vec::new(), Vec::new());
    for round in 0..4000 {
        // The rows grow on the way, with steps to take back in the log.
        let n_threads = 2 + round * 16 / 4000;
        for _ in 0..random.below(30) {
            steps.push(random.step(n_threads));
            found.push(take(&mut races, &steps[steps.len() - 1]));
        }
        assert_eq!(found, run(&steps), "round {round}: {steps:?}");
        let depth = random.below(steps.len() + 1);
        races.truncate(depth);
        steps.truncate(depth);
        found.truncate(depth);
    }
    races.truncate(0);
    assert!(races.undo.is_empty() && races.tables.iter().flatten().all(|&cell| cell == 0));
    assert!(races.tables[Table::Snapshot as usize].is_empty());
}

/// Which accesses happen before which operations, by brute force: of step `i`, the operation
/// is node `2 i` and the accesses are node `2 i + 1`. Bit `n` of entry `m`: `n` leads to `m`.
fn pasts(steps: &[Taken]) -> Vec<u128> {
    assert!(2 * steps.len() <= 128, "one bit for each node");
    let mut pasts: Vec<u128> = Vec::new();
    for later in 0..steps.len() {
        let mut past = 1 << (2 * later);
        for (node, &before) in pasts.iter().enumerate() {
            if leads_to(steps, node, later) {
                past |= before;
            }
        }
        pasts.push(past);
        pasts.push(past | 1 << (2 * later + 1));
    }
    pasts
}

/// The variable that a step writes, as an atomic.
fn written(step: &Taken) -> Option<ObjectId> {
    match step.operation {
        O::ReadModifyWrite(_) if step.effect == Effect::Failed => None,
        _ if is_bare_call(step) => None,
        O::Store(x) | O::ReadModifyWrite(x) | O::FutexWakeOp { word: x, .. } => Some(x),
        _ => None,
    }
}

/// The variable that a step reads, as an atomic.
fn read(step: &Taken) -> Option<ObjectId> {
    match step.operation {
        _ if is_bare_call(step) => None,
        O::Load(x) | O::Await(x) | O::ReadModifyWrite(x) => Some(x),
        O::FutexWait { word: x, .. }
        | O::FutexRequeue { word: x, .. }
        | O::FutexWakeOp { word: x, .. } => Some(x),
        _ => None,
    }
}

/// Whether a step is a call of the futex, and one that orders nothing.
fn is_bare_call(step: &Taken) -> bool {
    let is_call = matches!(
        step.operation,
        O::FutexWait { .. } | O::FutexRequeue { .. } | O::FutexWakeOp { .. } | O::FutexResume(_)
    );
    is_call && !step.order.acquires()
}

/// The order of a step's operation: a system call that orders anything has the strongest.
fn order_of(step: &Taken) -> MemoryOrder {
    match step.operation {
        O::FutexWait { .. } | O::FutexRequeue { .. } | O::FutexWakeOp { .. } => {
            MemoryOrder::SequentiallyConsistent
        }
        _ => step.order,
    }
}

/// Whether two steps are of one thread, and not of one that has got the number of another since.
fn is_one_thread(steps: &[Taken], earlier: usize, later: usize) -> bool {
    let thread = steps[earlier].thread;
    thread == steps[later].thread
        && steps[earlier..later].iter().all(|step| step.operation != O::Spawn(thread))
}

/// Whether an operation or fence synchronises with a later one: C++20, 6.9.2.2 and 33.5.11.
fn synchronises(steps: &[Taken], from: usize, to: usize) -> bool {
    // An acquire fence stands for all reads before it.
    let reads: Vec<usize> = match steps[to].fences.first() {
        Some(fence) if fence.order.acquires() => {
            (0..to).filter(|&idx| is_one_thread(steps, idx, to)).collect()
        }
        None if order_of(&steps[to]).acquires() => vec![to],
        _ => return false,
    };
    let reads_from = |&at: &usize| {
        let x = read(&steps[at])?;
        let writes = (0..at).filter(|&idx| written(&steps[idx]) == Some(x)).rev();
        // The release sequences that the last write is a part of: a store heads its own.
        let n_modifies = writes.clone().take_while(|&idx| read(&steps[idx]).is_some()).count();
        Some(writes.take(n_modifies + 1).collect::<Vec<usize>>())
    };
    let heads = reads.iter().filter_map(reads_from).flatten().collect::<Vec<usize>>();
    match steps[from].fences.first() {
        // A release fence stands for all writes behind it.
        Some(fence) if fence.order.releases() => {
            heads.iter().any(|&head| head > from && is_one_thread(steps, from, head))
        }
        None if order_of(&steps[from]).releases() => heads.contains(&from),
        _ => false,
    }
}

/// Whether something goes directly from a node to the operation of a later step.
fn leads_to(steps: &[Taken], node: usize, later: usize) -> bool {
    let (from, to) = (&steps[node / 2], &steps[later]);
    if from.thread == to.thread {
        return true;
    }
    if node % 2 == 1 {
        return to.operation == O::Join(from.thread);
    }
    if synchronises(steps, node / 2, later) {
        return true;
    }
    let succeeded = |step: &Taken| step.effect != Effect::Failed;
    match (from.operation, to.operation) {
        (
            O::NotifyOne(_) | O::NotifyAll(_) | O::FutexRequeue { .. } | O::FutexWakeOp { .. },
            O::FutexResume(_),
        ) => {
            let has_woken = matches!(from.effect, Effect::Woke(woken) if !woken.is_empty());
            has_woken && !is_bare_call(from) && !is_bare_call(to)
        }
        (O::Release(_) | O::Wait { .. }, O::Acquire(_) | O::Reacquire { .. }) => true,
        (O::Release(_) | O::Wait { .. }, O::TryAcquire(_)) => succeeded(to),
        (O::WriteRelease(_), O::ReadAcquire(_) | O::WriteAcquire(_)) => true,
        (O::WriteRelease(_), O::TryReadAcquire(_)) => succeeded(to),
        (O::WriteRelease(_) | O::ReadRelease(_), O::TryWriteAcquire(_)) => succeeded(to),
        (O::ReadRelease(_), O::WriteAcquire(_)) => true,
        (O::SemaphoreRelease(_), O::SemaphoreAcquire { .. }) => true,
        (O::SemaphoreRelease(_), O::SemaphoreTryAcquire { .. }) => succeeded(to),
        (O::Spawn(child), _) if child == to.thread => true,
        (O::Spawn(child), O::Join(joined)) => child == joined,
        (O::Arrive(_), O::Leave { parties, .. }) => {
            let rank = |at: usize| {
                let earlier =
                    steps[..at].iter().filter(|step| matches!(step.operation, O::Arrive(_)));
                earlier.count() as u32 / parties
            };
            let own = steps[..later].iter().rposition(|step| {
                step.thread == to.thread && matches!(step.operation, O::Arrive(_))
            });
            own.is_some_and(|own| rank(own) == rank(node / 2))
        }
        (O::Send { .. } | O::TrySend { .. }, O::Receive(_) | O::TryReceive(_)) => {
            let is_its = sent(steps, node / 2) == received(steps, later);
            succeeded(from) && succeeded(to) && is_its && steps[node / 2].order.releases()
        }
        (O::Receive(_) | O::TryReceive(_), O::Send { .. } | O::TrySend { .. }) => {
            let filled = received(steps, node / 2) + 2 == sent(steps, later);
            succeeded(from) && succeeded(to) && filled
        }
        _ => false,
    }
}

fn sent(steps: &[Taken], before: usize) -> usize {
    let send = |step: &&Taken| matches!(step.operation, O::Send { .. } | O::TrySend { .. });
    steps[..before].iter().filter(send).filter(|step| step.effect != Effect::Failed).count()
}

fn received(steps: &[Taken], before: usize) -> usize {
    let receive = |step: &&Taken| matches!(step.operation, O::Receive(_) | O::TryReceive(_));
    steps[..before].iter().filter(receive).filter(|step| step.effect != Effect::Failed).count()
}

/// The steps that a part of a step consists of: each fence is one, with what comes behind it.
fn unfold(step: &Taken, bare: Taken, n_parts: usize, own: Range<usize>, to: &mut Vec<Taken>) {
    let thread = bare.thread;
    let mut start = own.start;
    let mut last = bare;
    for fence in step.fences.iter().filter(|fence| fence.n_parts == n_parts) {
        last.accesses = step.accesses[start..fence.n_accesses].to_vec();
        start = fence.n_accesses;
        let fence = Fence { n_accesses: 0, n_parts: 0, ..*fence };
        let next = Taken { fences: vec![fence], ..Taken::new(thread, O::Yield, Vec::new()) };
        to.push(std::mem::replace(&mut last, next));
    }
    last.accesses = step.accesses[start..own.end].to_vec();
    to.push(last);
}

/// The same execution, with a step for each part and each fence; and for each step, which one it is
/// of those that were given.
fn unfolded(steps: &[Taken]) -> (Vec<Taken>, Vec<Position>) {
    let (mut all, mut origins) = (Vec::new(), Vec::new());
    for (idx, step) in steps.iter().enumerate() {
        let n_own = step.parts.first().map_or(step.accesses.len(), |part| part.n_before);
        let bare =
            Taken { accesses: Vec::new(), fences: Vec::new(), parts: Vec::new(), ..step.clone() };
        unfold(step, bare, 0, 0..n_own, &mut all);
        for (number, part) in step.parts.iter().enumerate() {
            let next = step.parts.get(number + 1);
            let end = next.map_or(step.accesses.len(), |next| next.n_before);
            let operation = part.joined.map_or(O::Yield, O::Join);
            let bare = Taken::new(part.thread, operation, Vec::new());
            unfold(step, bare, number + 1, part.n_before..end, &mut all);
        }
        origins.resize(all.len(), idx as Position + 1);
    }
    (all, origins)
}

/// All pairs of racing steps of one execution, with their memory and whether they write.
fn all_races(steps: &[Taken]) -> Vec<(usize, PlainAccess, usize, PlainAccess)> {
    let pasts = pasts(steps);
    let mut races = Vec::new();
    for (later, second) in steps.iter().enumerate() {
        for (earlier, first) in steps[..later].iter().enumerate() {
            let ordered = pasts[2 * later] >> (2 * earlier + 1) & 1 == 1;
            for (&a, &b) in
                first.accesses.iter().flat_map(|a| second.accesses.iter().map(move |b| (a, b)))
            {
                let are_blocks = a.is_atomic && b.is_atomic;
                if !ordered && !are_blocks && a.object == b.object && (a.write || b.write) {
                    races.push((earlier, a, later, b));
                }
            }
        }
    }
    races
}

#[test]
fn the_first_race_is_what_brute_force_finds_first() {
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    let mut n_races = 0;
    for round in 0..4000 {
        let n_threads = 2 + random.below(4);
        let mut folded: Vec<Taken> = (0..40).map(|_| random.step(n_threads)).collect();
        while unfolded(&folded).0.len() > 64 {
            folded.pop();
        }
        let (steps, origins) = unfolded(&folded);
        let expected = all_races(&steps);
        let found = run(&steps).into_iter().flatten().next();
        let at = |step: Position| origins[step as usize - 1];
        let same = found.map(|it| DataRace { first: at(it.first), second: at(it.second), ..it });
        let found_at_once = run(&folded).into_iter().flatten().next();
        assert_eq!(found_at_once, same, "round {round}: {folded:?}");
        let first = expected.iter().map(|race| race.2).min();
        let second = found.map(|race| race.second as usize - 1);
        assert_eq!(second, first, "round {round}: {steps:?}");
        if let Some(race) = found {
            n_races += 1;
            let (earlier, later) = (race.first as usize - 1, race.second as usize - 1);
            let is_it = |&(first, a, second, b): &(usize, PlainAccess, usize, PlainAccess)| {
                let are_these = (first, second, a.object) == (earlier, later, race.memory);
                are_these && (a.write, b.write) == (race.first_write, race.second_write)
            };
            assert!(expected.iter().any(is_it), "round {round}: {race:?} in {steps:?}");
        }
    }
    assert!(n_races > 1000, "only {n_races} of the executions have a race");
}

#[test]
fn relaxed_accesses_order_nothing() {
    let x = object(0);
    let relaxed = MemoryOrder::Relaxed;
    let write = taken(0, O::Yield, "w");
    let pairs = |store: MemoryOrder, load: MemoryOrder| {
        [
            write.clone(),
            taken(0, O::Store(x), "").ordered(store),
            taken(1, O::Load(x), "r").ordered(load),
        ]
    };
    let acquire = MemoryOrder::Acquire;
    for (store, load) in [(relaxed, relaxed), (relaxed, acquire), (MemoryOrder::Release, relaxed)] {
        check(&pairs(store, load), expect!["T0 writes o0 at 1, T1 reads it at 3"]);
    }
    check(&pairs(MemoryOrder::Release, acquire), expect![""]);
    // A relaxed read-modify-write goes on with the release sequence, a relaxed store ends it.
    let head = [write.clone(), taken(0, O::Store(x), "").ordered(MemoryOrder::Release)];
    let behind = |middle: Operation| {
        [&head[..], &[taken(2, middle, "").ordered(relaxed), taken(1, O::Load(x), "r")]].concat()
    };
    check(&behind(O::ReadModifyWrite(x)), expect![""]);
    check(&behind(O::Store(x)), expect!["T0 writes o0 at 1, T1 reads it at 4"]);
}

#[test]
fn fences_order_what_relaxed_accesses_do_not() {
    let x = object(0);
    let [relaxed, acquire, release] =
        [MemoryOrder::Relaxed, MemoryOrder::Acquire, MemoryOrder::Release];
    let steps = |first: Option<MemoryOrder>, second: Option<MemoryOrder>| {
        let fenced = |step: Taken, order: Option<MemoryOrder>| match order {
            Some(order) => step.fenced(order),
            None => step,
        };
        let store = taken(0, O::Store(x), "").ordered(relaxed);
        let load = taken(1, O::Load(x), "").ordered(relaxed);
        [
            fenced(taken(0, O::Yield, "w"), first),
            store,
            fenced(load, second),
            taken(1, O::Yield, "r"),
        ]
    };
    check(&steps(Some(release), Some(acquire)), expect![""]);
    for (first, second) in
        [(None, Some(acquire)), (Some(release), None), (Some(acquire), Some(acquire))]
    {
        check(&steps(first, second), expect!["T0 writes o0 at 1, T1 reads it at 4"]);
    }
    // What comes behind the release fence is not covered.
    let late = [
        taken(0, O::Yield, "").fenced(release),
        taken(0, O::Yield, "w"),
        taken(0, O::Store(x), "").ordered(relaxed),
        taken(1, O::Load(x), "r"),
    ];
    check(&late, expect!["T0 writes o0 at 2, T1 reads it at 4"]);
}
