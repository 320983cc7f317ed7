//! The machine as the [`System`] that the explorer drives.

use crate::after_write;
use crate::coroutine;
use crate::io;
use crate::library::imports;
use crate::locals;
use crate::machine::{Machine, Value, name_of, run, with};
use crate::names;
use crate::plain_accesses::Seen;
use crate::pointers::{self, Frames};
use crate::rust_assembly;
use crate::scalars::{Scalar, scalar_of};
use crate::sites;
use crate::spin;
use crate::trusted;
use crate::weak_accesses;
use crate::weak_memory;
use mazurka_core::{
    Accessed, AddId, Addition, Assumption, Decision, Divergence, Effect, Ending, Failure,
    FailureSite, Fence, Injection, Location, MemoryOrder, Next, ObjectId, Operation, Part, Passage,
    PlainAccess, Property, Schedule, Sighting, Spin, System, ThreadId, WeakAccess,
};
use std::borrow::Cow;

/// The program under the explorer. All values of this type are the same one.
pub(crate) struct Native;

impl System for Native {
    fn reset(&mut self) {
        with(Machine::reset);
    }

    #[inline]
    fn n_threads(&self) -> usize {
        with(|machine| machine.threads.len())
    }

    #[inline]
    fn next(&self, thread: ThreadId) -> Next {
        with(|machine| machine.next(thread.index()))
    }

    #[inline]
    fn compares(&self, thread: ThreadId) -> bool {
        with(|machine| {
            let thread = &machine.threads[thread.index()];
            thread.comparison.is_some() && matches!(thread.operation, Operation::ReadModifyWrite(_))
        })
    }

    #[inline(always)]
    fn step(&mut self, decision: Decision) -> Result<Effect, Failure> {
        with(|machine| machine.apply(decision));
        go_on(decision)
    }

    fn takes_injections(&self) -> bool {
        weak_memory::is_on()
    }

    fn step_with(&mut self, decision: Decision, injection: Injection) -> Result<Effect, Failure> {
        let operation = with(|machine| {
            machine.apply(decision);
            machine.weak_memory.begin_step(injection);
            machine.threads[decision.thread.index()].operation
        });
        let effect = go_on(decision)?;
        match with(|machine| machine.conclude_access(operation)) {
            None => Ok(effect),
            Some(violation) => Err(Failure { effect, violation }),
        }
    }

    fn is_weak(&self, object: ObjectId) -> bool {
        with(|machine| machine.weak_memory.is_weak(object))
    }

    fn accessed(&self) -> Option<Accessed> {
        with(|machine| machine.weak_memory.accessed())
    }

    fn rewind_with(
        &mut self,
        schedule: &Schedule,
        injections: &[Injection],
        depth: usize,
    ) -> Result<(), Divergence> {
        with(|machine| {
            machine.weak_memory.injections.clear();
            machine.weak_memory.injections.extend_from_slice(&injections[..depth]);
        });
        self.rewind(schedule, depth)
    }

    /// Goes back to a checkpoint, and repeats the rest.
    fn rewind(&mut self, schedule: &Schedule, depth: usize) -> Result<(), Divergence> {
        let mut reached = with(|machine| {
            machine.go_back(depth);
            machine.depth
        });
        let was_kept = reached > 0;
        while reached < depth {
            let (stop, is_kept) = with(|machine| machine.next_stop(depth));
            repeat(schedule, stop)?;
            if is_kept {
                with(Machine::keep);
            }
            reached = stop;
        }
        if was_kept && with(|machine| machine.checkpoints.are_checked) {
            check(schedule, depth)?;
        }
        Ok(())
    }

    fn ending(&self) -> Ending {
        with(|machine| machine.ending())
    }

    fn spin(&self, thread: ThreadId) -> Option<Spin> {
        let is_held = with(|machine| {
            let thread = &machine.threads[thread.index()];
            thread.reads.is_held() || thread.waiting.is_some()
        });
        is_held.then_some(())?;
        spin::describe(thread.index(), self.location(thread).map(|place| place.to_string()))
    }

    fn has_plain_accesses(&self) -> bool {
        true
    }

    fn accesses_are_lifetimes(&self) -> bool {
        with(|machine| machine.watch.accesses_are_lifetimes)
    }

    #[inline]
    fn accesses(&self) -> &[PlainAccess] {
        // SAFETY: the accesses change only in `reset` and `step`, which need the system for
        // themselves.
        with(|machine| unsafe { detached(&machine.watch.accesses) })
    }

    #[inline]
    fn parts(&self) -> &[Part] {
        // SAFETY: as above.
        with(|machine| unsafe { detached(&machine.watch.parts) })
    }

    #[inline]
    fn atomic_accesses(&self) -> &[PlainAccess] {
        // SAFETY: as above.
        with(|machine| unsafe { detached(machine.watch.atomic()) })
    }

    #[inline]
    fn order(&self) -> MemoryOrder {
        with(|machine| machine.order)
    }

    #[inline]
    fn passage(&self) -> Passage {
        with(|machine| machine.passage)
    }

    #[inline]
    fn fences(&self) -> &[Fence] {
        // SAFETY: as above.
        with(|machine| unsafe { detached(&machine.watch.fences) })
    }

    fn look_at(&mut self, memory: &[ObjectId]) {
        with(|machine| machine.watch.look_at(memory));
    }

    fn sightings(&self) -> Vec<Sighting> {
        after_write::collect();
        let seen = with(|machine| machine.watch.sightings.clone());
        seen.into_iter()
            .map(|Seen { memory, thread, write, is_atomic, frames, function, held }| {
                let stack: Vec<usize> = frames.iter().map(|frame| frame.address).collect();
                let mut stack = names::locations_of(&stack);
                if let (Some(innermost), Some(function)) = (stack.first_mut(), function) {
                    innermost.within = names::short(function);
                }
                // Its own frames may be gone by now.
                let address = with(|machine| machine.watch.address(memory));
                let is_own = coroutine::stack_of(address) == thread.index();
                let own_name =
                    is_own.then(|| locals::name_in(address, thread.index(), &frames)).flatten();
                let value = held.filter(|_| !is_atomic).and_then(|held| {
                    let value = held.value();
                    let scalar = match (is_own, value.len()) {
                        (true, Some(len)) => locals::scalar_in(address, &frames, len),
                        _ => Some(scalar_at(value, Some(address))),
                    };
                    let frames = Frames { thread: thread.index(), frames: &frames };
                    pointers::in_words(value, scalar.unwrap_or_default(), Some(frames))
                });
                Sighting {
                    memory,
                    name: own_name.unwrap_or_else(|| name_of(address)),
                    thread,
                    write,
                    is_atomic,
                    value: if is_atomic { self.value() } else { value },
                    stack,
                }
            })
            .collect()
    }

    fn addition(&self) -> Option<Addition> {
        with(|machine| machine.addition)
    }

    fn add_does_not_commute(&mut self, object: ObjectId, turns: &[AddId]) {
        with(|machine| machine.disciplines.add_does_not_commute(object, turns));
    }

    fn is_in_order(&self, object: ObjectId, turn: AddId) -> bool {
        with(|machine| machine.disciplines.is_in_order(object, turn))
    }

    fn properties(&self) -> Vec<Property> {
        vec![Property::Crash]
    }

    fn assumptions(&self) -> Vec<Assumption> {
        let mut assumptions = Vec::new();
        let weak = weak_accesses::all();
        if !weak.is_empty() {
            // What a library does inside, such as counting references, is not for the program's
            // author to look at.
            let is_atomic = |function: &String| function.to_lowercase().contains("atomic");
            let is_own = |it: &WeakAccess| {
                it.location.as_ref().is_none_or(|it| it.within.as_ref().is_none_or(is_atomic))
            };
            let own = weak.into_iter().filter(is_own).collect();
            assumptions.push(Assumption::SequentialConsistency(own));
        }
        with(|machine| {
            if machine.are_races_allowed {
                // Then no other thread came between plain accesses.
                assumptions.push(Assumption::NoRace);
            }
            assumptions.extend(machine.patience.map(Assumption::TimedWaits));
            if machine.clock.is_used {
                assumptions.push(Assumption::VirtualTime);
            }
            assumptions.extend(machine.trusted.assumption());
            if machine.has_cancellation {
                assumptions.push(Assumption::DeferredCancellation);
            }
            if machine.has_precompiled {
                assumptions.push(Assumption::CompiledAtomics);
            }
            assumptions.extend(machine.counting_loops.assumption());
            let waits = machine.counted_waits.assume().then_some(Assumption::RoundsOfWaits);
            assumptions.extend(waits);
            assumptions.extend(machine.watch.assumption());
        });
        let ordered: Vec<_> = with(|machine| machine.weak_memory.ordered().collect());
        if !ordered.is_empty() {
            let names = ordered.into_iter().map(|object| self.object_name(object).into_owned());
            assumptions.push(Assumption::OrderedAtomics(names.collect()));
        }
        if let Some(stack) = with(|machine| machine.first_assembly.clone()) {
            assumptions.push(Assumption::Assembly(names::location_of(&stack)));
        }
        assumptions.extend(rust_assembly::assumption());
        assumptions.extend(io::assumptions());
        assumptions.extend(imports::assumptions());
        assumptions
    }

    fn location(&self, thread: ThreadId) -> Option<Location> {
        with(|machine| {
            machine.sites.tell();
            let object = machine.threads[thread.index()].operation.object();
            let address = object.map(|object| machine.objects.address(object));
            machine.sites.ask(address);
        });
        locals::note_frames();
        let frames = locals::suspended(thread.index())?;
        let stack: Vec<usize> = frames.into_iter().map(|frame| frame.address).collect();
        let mut place = names::location_of(&stack)?;
        // The entry of a trusted function leads elsewhere, and so its frame is not there.
        if place.within.is_none() {
            place.within = trusted::path_of(thread.index()).and_then(names::short);
        }
        Some(place)
    }

    fn join_locations(&self) -> Vec<Option<Location>> {
        sites::join_locations()
    }

    fn failure_site(&self) -> Option<FailureSite> {
        sites::failure_site()
    }

    fn value(&self) -> Option<String> {
        after_write::collect();
        let (value, address) = with(|machine| machine.told_value());
        pointers::in_words(value, scalar_at(value, address), None)
    }

    fn raw_value(&self) -> Option<String> {
        after_write::collect();
        let (value, address) = with(|machine| machine.told_value());
        pointers::in_numbers(value, scalar_at(value, address))
    }

    fn value_name(&self, value: u128) -> String {
        pointers::name(size_of::<usize>(), value).unwrap_or_else(|| value.to_string())
    }

    fn waits_for(&self, thread: ThreadId) -> Option<&'static str> {
        with(|machine| trusted::waits_for(machine.threads[thread.index()].predicate))
    }

    fn thread_name(&self, thread: ThreadId) -> Cow<'_, str> {
        Cow::Owned(with(|machine| machine.thread_name(thread.index())))
    }

    fn object_name(&self, object: ObjectId) -> Cow<'_, str> {
        let addresses = with(|machine| machine.objects.sharing_queue(object));
        let names: Vec<String> = addresses.into_iter().map(name_of).collect();
        Cow::Owned(names.join(" or "))
    }

    fn memory_name(&self, object: ObjectId) -> Cow<'_, str> {
        Cow::Owned(name_of(with(|machine| machine.watch.address(object))))
    }
}

/// What kind of number a value at an address is.
fn scalar_at(value: Value, address: Option<usize>) -> Scalar {
    match (value.len(), address) {
        (Some(len), Some(address)) => scalar_of(address, len),
        _ => Scalar::default(),
    }
}

/// Runs the thread of a step that was applied, up to its next operation.
#[inline(always)]
fn go_on(decision: Decision) -> Result<Effect, Failure> {
    run(decision.thread.index());
    // A thread that has crashed has handed over to no other.
    while let Some(next) = with(Machine::follow) {
        run(next);
    }
    if with(|machine| machine.weak_accesses.has_unnamed()) {
        weak_accesses::name_locals();
    }
    with(Machine::conclude)
}

/// A slice that does not borrow the machine.
///
/// # Safety
///
/// Nobody changes it as long as it is used.
unsafe fn detached<'a, T>(slice: &[T]) -> &'a [T] {
    // SAFETY: as the caller promises.
    unsafe { std::slice::from_raw_parts(slice.as_ptr(), slice.len()) }
}

/// Takes the steps of a schedule from where the machine is up to `depth`. Threads hand over to
/// each other without the host in between.
fn repeat(schedule: &Schedule, depth: usize) -> Result<(), Divergence> {
    let from = with(|machine| {
        machine.script.clear();
        machine.script.extend_from_slice(&schedule.decisions()[machine.depth..depth]);
        machine.n_followed = 0;
        machine.watch.is_on = false;
        machine.depth
    });
    while let Some(idx) = with(Machine::follow) {
        run(idx);
        // A violation on the way was reported when it was first met.
        let _ = with(Machine::conclude);
    }
    let reached = with(|machine| {
        machine.watch.is_on = true;
        machine.script.clear();
        from + std::mem::take(&mut machine.n_followed)
    });
    if reached == depth {
        return Ok(());
    }
    let thread = schedule.decisions()[reached].thread;
    let found = match thread.index() < Native.n_threads() {
        true => Native.next(thread),
        false => Next::Unborn,
    };
    Err(Divergence {
        step: reached + 1,
        expected: format!("a step of {}", Native.thread_name(thread)),
        found: format!("{found:?}"),
    })
}

/// Compares the state, which a checkpoint helped to get back to, to the one that the same steps
/// lead to from the start.
fn check(schedule: &Schedule, depth: usize) -> Result<(), Divergence> {
    let kept = with(Machine::describe);
    with(Machine::reset);
    repeat(schedule, depth)?;
    match with(|machine| machine.difference(&kept)) {
        None => Ok(()),
        Some(what) => Err(Divergence {
            step: depth,
            expected: "the same state as from the start".to_owned(),
            found: format!("another one: {what} differs"),
        }),
    }
}
