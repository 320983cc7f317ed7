//! A program of one's own behind the trait `System`, and all its interleavings: a counter that two
//! threads increase by a load and a store.
//!
//! `cargo run -p mazurka-explore --example system`

#![expect(clippy::print_stdout, reason = "that is what it is for")]

use mazurka_core::{
    Decision, Effect, Failure, Next, ObjectId, Operation, System, ThreadId, Verdict, Violation,
    ViolationKind,
};
use mazurka_explore::{Explorer, Options, Reduction};

/// Two threads, each of which loads the counter and stores one more; the last to end looks at it.
#[derive(Clone, Default)]
struct Counter {
    value: u32,
    /// What each thread has loaded, and how many steps it has taken.
    loaded: [u32; 2],
    taken: [u32; 2],
}

impl System for Counter {
    fn reset(&mut self) {
        *self = Self::default();
    }

    fn n_threads(&self) -> usize {
        2
    }

    fn next(&self, thread: ThreadId) -> Next {
        let counter = ObjectId::new(0);
        match self.taken[thread.index()] {
            0 => Next::enabled(Operation::Load(counter)),
            1 => Next::enabled(Operation::Store(counter)),
            _ => Next::Finished,
        }
    }

    fn step(&mut self, decision: Decision) -> Result<Effect, Failure> {
        let thread = decision.thread.index();
        self.taken[thread] += 1;
        match self.taken[thread] {
            1 => self.loaded[thread] = self.value,
            _ => self.value = self.loaded[thread] + 1,
        }
        if self.taken == [2, 2] && self.value != 2 {
            let message = format!("the counter is {} in the end", self.value);
            let violation = Violation::new(ViolationKind::Assertion, message);
            return Err(Failure { effect: Effect::Done, violation });
        }
        Ok(Effect::Done)
    }
}

fn main() {
    for reduction in [Reduction::None, Reduction::Dpor, Reduction::Source, Reduction::Optimal] {
        let options = Options::new().reduction(reduction).sleep(false).stop_at_first(false);
        let outcome = Explorer::new(options).run(Counter::default).expect("the options agree");
        println!("{}: {} executions", reduction.name(), outcome.statistics.executions);
    }
    let outcome = Explorer::new(Options::new()).run(Counter::default).expect("the options agree");
    match outcome.verdict {
        Verdict::Violated(found) => {
            println!("{}, by the schedule {}", found.violation.message, found.schedule);
        }
        other => panic!("two increments can be lost: {other:?}"),
    }
}
