//! Commuting additions: at the end of each execution, whether their linearization was right.
//!
//! Two additions to one variable commute as far as the variable goes. That a thread learns
//! something of the value before (most often whether it was 1: the thread that drops the last
//! reference frees what it refers to) need not keep them apart: as long as at least two references
//! are left in every order of the other additions that nothing rules out, it learns the same in all
//! of them. So a system may announce such an addition as an [`Operation::Add`], and what the thread
//! learns as [`Tests`](mazurka_core::Tests); at the end of every execution is asked what it could
//! have learnt in another order ([`Counters::observed`]). Where that is something else, the system
//! is told ([`System::add_does_not_commute`]) and the search begins again with some more additions
//! to this object in order: the one that is tested, and the last of every other thread that may
//! come before it or not ([`AddId`]). Most often these are the last drops of all threads, whatever
//! was cloned and dropped before.
//!
//! **Why that is enough.** Call an execution *sure* if each of its tests has the same outcome in
//! every linearisation of its happens-before order. If a search that covers every maximal trace
//! comes to its end and all its executions were sure, it has covered every execution of the program
//! *P*. For consider the program *Q* that differs from *P* in that a test has the outcome which it
//! has when nothing has happened but what happens before it. In *Q*, additions commute without any
//! condition, so the search is right for *Q*; and since its executions are sure, they are
//! executions of *P*, too, and the search of *P* is that of *Q*. It has therefore covered all
//! executions of *Q*, each of which is a linearisation of one that is sure, and one of *P*. Now let
//! *w* be a shortest execution of *P* that is none of *Q*. Its last step is an addition whose test
//! has another outcome in *Q*; there, the same steps are an execution, which is a part of some
//! linearisation of one that was explored and is sure: so the outcome is that of *P*.
//!
//! A bounded search does not cover every trace. There, only additions that are not tested may be
//! out of order.
//!
//! **The range of a value.** Of the additions that are not ordered with a test, any set can come
//! before it that contains with each addition those that happen before it. The least sum of such a
//! set is that of all negative ones, but for what the positive ones that must come with them give
//! back: a selection with prerequisites, or a flow. The flow that [`most`] finds may be less than
//! the largest; then the range is larger than it needs to be, which costs reduction, never
//! soundness.

use mazurka_core::{
    AddId, Addition, HappensBefore, Next, ObjectId, Operation, Position, System, ThreadId,
};
use std::collections::BTreeMap;

/// The additions of the execution in progress.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    additions: Vec<Counted>,
}

#[derive(Clone, Copy, Debug)]
struct Counted {
    at: Position,
    object: ObjectId,
    addition: Addition,
}

impl Counters {
    /// The system has taken a step, the last one of the order.
    #[inline]
    pub(crate) fn step<S: System + ?Sized>(&mut self, system: &S, order: &HappensBefore) {
        let at = order.len() as Position;
        if let Operation::Add(object) | Operation::AddAndTest(object) = order.operation(at)
            && let Some(addition) = system.addition()
        {
            self.additions.push(Counted { at, object, addition });
        }
    }

    /// What a thread would do next. What need not be in order is not.
    #[inline]
    pub(crate) fn relaxed<S: System + ?Sized>(
        &self,
        system: &S,
        order: &HappensBefore,
        thread: ThreadId,
    ) -> Next {
        match system.next(thread) {
            Next::Enabled { operation: operation @ Operation::AddAndTest(_), choices } => {
                let operation = self.relaxed_operation(system, order, thread, operation);
                Next::Enabled { operation, choices }
            }
            next => next,
        }
    }

    /// The same for what a thread is about to do.
    pub(crate) fn relaxed_operation<S: System + ?Sized>(
        &self,
        system: &S,
        order: &HappensBefore,
        thread: ThreadId,
        operation: Operation,
    ) -> Operation {
        let Operation::AddAndTest(object) = operation else { return operation };
        let next = order.len() as Position + 1;
        match system.is_in_order(object, self.turn(order, object, thread, next)) {
            true => operation,
            false => Operation::Add(object),
        }
    }

    /// Tells the system about additions that could have told a thread something else. Whether
    /// there are none.
    pub(crate) fn are_sure<S: System + ?Sized>(
        &self,
        system: &mut S,
        order: &HappensBefore,
    ) -> bool {
        if self.additions.is_empty() {
            return true;
        }
        let observed = self.observed(order);
        observed.iter().for_each(|(&object, turns)| system.add_does_not_commute(object, turns));
        observed.is_empty()
    }

    /// Takes back all steps after `depth`.
    pub(crate) fn truncate(&mut self, depth: usize) {
        while self.additions.pop_if(|counted| counted.at as usize > depth).is_some() {}
    }

    /// The objects whose additions could have told a thread something else, and which of those have
    /// to be in order for that.
    fn observed(&self, order: &HappensBefore) -> BTreeMap<ObjectId, Vec<AddId>> {
        let mut observed: BTreeMap<ObjectId, Vec<AddId>> = BTreeMap::new();
        for tested in self.additions.iter().filter(|it| !it.addition.tests.is_empty()) {
            let unordered = self.unordered(order, tested);
            if !tested.is_sure(order, &unordered) {
                let last_of_each: BTreeMap<ThreadId, &Counted> =
                    unordered.iter().map(|it| (order.thread(it.at), it)).collect();
                let turns = last_of_each.into_values().chain([tested]);
                let turns = turns.map(|it| self.turn(order, it.object, order.thread(it.at), it.at));
                observed.entry(tested.object).or_default().extend(turns);
            }
        }
        observed
    }

    /// The additions to the same object that may come before an addition or after it.
    fn unordered(&self, order: &HappensBefore, tested: &Counted) -> Vec<Counted> {
        let is_unordered = |other: &&Counted| {
            let (first, last) = (other.at.min(tested.at), other.at.max(tested.at));
            other.object == tested.object && !order.ordered(first, last)
        };
        self.additions.iter().filter(is_unordered).copied().collect()
    }

    /// The addition of a thread to an object at a position.
    fn turn(
        &self,
        order: &HappensBefore,
        object: ObjectId,
        thread: ThreadId,
        at: Position,
    ) -> AddId {
        let before = self.additions.iter().take_while(|it| it.at < at);
        let is_own = |it: &&Counted| it.object == object && order.thread(it.at) == thread;
        AddId { thread, index: before.filter(is_own).count() as u32 }
    }
}

impl Counted {
    /// Whether its test has the same outcome in all linearisations, with these `unordered`.
    fn is_sure(&self, order: &HappensBefore, unordered: &[Self]) -> bool {
        if unordered.is_empty() {
            return true;
        }
        let Addition { before, highest: limit, tests, .. } = self.addition;
        let earlier = unordered.iter().filter(|other| other.at < self.at);
        let without = i128::from(before) - earlier.map(|it| it.amount(1)).sum::<i128>();
        let lowest = without - most(order, unordered, -1);
        let highest = without + most(order, unordered, 1);
        match (i64::try_from(lowest), i64::try_from(highest)) {
            // Beyond, the numbers of the type begin again.
            (Ok(lowest @ 0..), Ok(highest)) if highest <= limit => {
                !tests.tell_apart(lowest, highest)
            }
            _ => false,
        }
    }

    fn amount(&self, sign: i128) -> i128 {
        sign * i128::from(self.addition.added)
    }
}

/// The most that some of these additions, together with all that happen before them, can add up
/// to; with a negative sign, the most that they can take away.
fn most(order: &HappensBefore, additions: &[Counted], sign: i128) -> i128 {
    let mut costs: Vec<i128> = additions.iter().map(|it| (-it.amount(sign)).max(0)).collect();
    let mut sum = 0;
    for gain in additions.iter().filter(|it| it.amount(sign) > 0) {
        let mut left = gain.amount(sign);
        // The latest first: it is what the fewest others need.
        for (cost, addition) in costs.iter_mut().zip(additions).rev() {
            if *cost > 0 && addition.at < gain.at && order.ordered(addition.at, gain.at) {
                let paid = left.min(*cost);
                *cost -= paid;
                left -= paid;
            }
        }
        sum += left;
    }
    sum
}
