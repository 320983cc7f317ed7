//! Systems that are made for one test, behind one type: the search is compiled once for all of
//! them.

use mazurka_core::{
    Accessed, AddId, Addition, Assumption, Decision, Divergence, Effect, Ending, Failure,
    FailureSite, Fence, Foresight, Injection, Location, MemoryOrder, Next, ObjectId, Part, Passage,
    PlainAccess, Position, Property, Schedule, Sighting, Spin, System, ThreadId,
};
use mazurka_explore::{ExploreError, Explorer, Options, Outcome};
use std::any::Any;
use std::borrow::Cow;

/// Any system. It passes on every function of [`System`], those with a default too.
pub(crate) struct Boxed(Box<dyn AnySystem>);

trait AnySystem: System + Any {}

impl<S: System + Any> AnySystem for S {}

impl Boxed {
    pub(crate) fn new(system: impl System + 'static) -> Self {
        Self(Box::new(system))
    }

    /// What is in it.
    pub(crate) fn get<S: 'static>(&self) -> &S {
        let system: &dyn Any = &*self.0;
        system.downcast_ref().expect("it was made from one")
    }
}

/// The search of a system of any type.
pub(crate) fn search<S: System + 'static>(
    options: Options,
    make: impl Fn() -> S + Sync,
) -> Result<Outcome, ExploreError> {
    Explorer::new(options).run(|| Boxed::new(make()))
}

impl System for Boxed {
    fn reset(&mut self) {
        self.0.reset();
    }

    fn n_threads(&self) -> usize {
        self.0.n_threads()
    }

    fn next(&self, thread: ThreadId) -> Next {
        self.0.next(thread)
    }

    fn compares(&self, thread: ThreadId) -> bool {
        self.0.compares(thread)
    }

    fn step(&mut self, decision: Decision) -> Result<Effect, Failure> {
        self.0.step(decision)
    }

    fn takes_injections(&self) -> bool {
        self.0.takes_injections()
    }

    fn step_with(&mut self, decision: Decision, injection: Injection) -> Result<Effect, Failure> {
        self.0.step_with(decision, injection)
    }

    fn is_weak(&self, object: ObjectId) -> bool {
        self.0.is_weak(object)
    }

    fn accessed(&self) -> Option<Accessed> {
        self.0.accessed()
    }

    fn rewind_with(
        &mut self,
        schedule: &Schedule,
        injections: &[Injection],
        depth: usize,
    ) -> Result<(), Divergence> {
        self.0.rewind_with(schedule, injections, depth)
    }

    fn reads_from(&self) -> Option<Position> {
        self.0.reads_from()
    }

    fn rewind(&mut self, schedule: &Schedule, depth: usize) -> Result<(), Divergence> {
        self.0.rewind(schedule, depth)
    }

    fn undoes_steps(&self) -> bool {
        self.0.undoes_steps()
    }

    fn ending(&self) -> Ending {
        self.0.ending()
    }

    fn spin(&self, thread: ThreadId) -> Option<Spin> {
        self.0.spin(thread)
    }

    fn has_plain_accesses(&self) -> bool {
        self.0.has_plain_accesses()
    }

    fn accesses_are_lifetimes(&self) -> bool {
        self.0.accesses_are_lifetimes()
    }

    fn accesses(&self) -> &[PlainAccess] {
        self.0.accesses()
    }

    fn parts(&self) -> &[Part] {
        self.0.parts()
    }

    fn atomic_accesses(&self) -> &[PlainAccess] {
        self.0.atomic_accesses()
    }

    fn waits_for(&self, thread: ThreadId) -> Option<&'static str> {
        self.0.waits_for(thread)
    }

    fn order(&self) -> MemoryOrder {
        self.0.order()
    }

    fn passage(&self) -> Passage {
        self.0.passage()
    }

    fn fences(&self) -> &[Fence] {
        self.0.fences()
    }

    fn look_at(&mut self, memory: &[ObjectId]) {
        self.0.look_at(memory);
    }

    fn sightings(&self) -> Vec<Sighting> {
        self.0.sightings()
    }

    fn addition(&self) -> Option<Addition> {
        self.0.addition()
    }

    fn add_does_not_commute(&mut self, object: ObjectId, turns: &[AddId]) {
        self.0.add_does_not_commute(object, turns);
    }

    fn is_in_order(&self, object: ObjectId, turn: AddId) -> bool {
        self.0.is_in_order(object, turn)
    }

    fn fingerprint(&self) -> Option<u128> {
        self.0.fingerprint()
    }

    fn foresight(&self) -> Option<&dyn Foresight> {
        self.0.foresight()
    }

    fn properties(&self) -> Vec<Property> {
        self.0.properties()
    }

    fn assumptions(&self) -> Vec<Assumption> {
        self.0.assumptions()
    }

    fn location(&self, thread: ThreadId) -> Option<Location> {
        self.0.location(thread)
    }

    fn join_locations(&self) -> Vec<Option<Location>> {
        self.0.join_locations()
    }

    fn failure_site(&self) -> Option<FailureSite> {
        self.0.failure_site()
    }

    fn raw_value(&self) -> Option<String> {
        self.0.raw_value()
    }

    fn value_name(&self, value: u128) -> String {
        self.0.value_name(value)
    }

    fn value(&self) -> Option<String> {
        self.0.value()
    }

    fn thread_name(&self, thread: ThreadId) -> Cow<'_, str> {
        self.0.thread_name(thread)
    }

    fn object_name(&self, object: ObjectId) -> Cow<'_, str> {
        self.0.object_name(object)
    }

    fn memory_name(&self, object: ObjectId) -> Cow<'_, str> {
        self.0.memory_name(object)
    }
}

/// A function that is not passed on would have its default, and a test of it would test nothing.
#[test]
fn every_function_is_passed_on() {
    let functions =
        |text: &'static str, beginning: &str| -> std::collections::BTreeSet<&'static str> {
            let body = text.split_once(beginning).expect("it is there").1;
            let body = body.split("\n}").next().expect("there is always one");
            let names = body.lines().filter_map(|line| line.strip_prefix("    fn "));
            names.filter_map(|line| line.split('(').next()).collect()
        };
    let asked = functions(include_str!("../../../../core/src/system.rs"), "pub trait System {");
    assert_eq!(functions(include_str!("boxed.rs"), "impl System for Boxed {"), asked);
    assert!(asked.len() > 20);
}
