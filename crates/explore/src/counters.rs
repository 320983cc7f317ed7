//! Additions that are not kept in order: whether that is right, asked of every execution.
//!
//! Two additions to one variable commute as far as the variable goes. That a thread learns
//! something of the value before (most often whether it was 1: whoever drops the last reference
//! frees what it refers to) need not keep them apart: as long as at least two references are left
//! in every order of the other additions that nothing rules out, it learns the same in all of
//! them. So a system may announce such an addition as an [`Operation::Add`], and what the thread
//! learns as [`Tests`](mazurka_core::Tests); at the end of every execution is asked
//! what it could have learnt in another order ([`Counters::observed`]). Where that is something else,
//! the system is told ([`System::distrust`]) and the search begins
//! again with additions to this object in order.
//!
//! **Why that is enough.** Call an execution *sure* if each of its tests has the same outcome in
//! every linearisation of its happens-before order. If a search that covers every maximal trace comes to its
//! end and all its executions were sure, it has covered every execution of the program *P*. For
//! consider the program *Q* that differs from *P* in that a test has the outcome which it has when
//! nothing has happened but what happens before it. In *Q*, additions commute without any
//! condition, so the search is right for *Q*; and since its executions are sure, they are
//! executions of *P*, too, and the search of *P* is that of *Q*. It has therefore covered all
//! executions of *Q*, each of which is a linearisation of one that is sure, and one of *P*. Now let *w* be a
//! shortest execution of *P* that is none of *Q*. Its last step is an addition whose test has
//! another outcome in *Q*; there, the same steps are an execution, which is a part of some
//! linearisation of one that was explored and is sure: so the outcome is that of *P*.
//!
//! A bounded search does not cover every trace. There, only additions that nobody tests may be
//! out of order.
//!
//! **The range of a value.** Of the additions that are not ordered with a test, any set can come
//! before it that contains with each addition those that happen before it. The least sum of such a
//! set is that of all negative ones, but for what the positive ones that must come with them give back:
//! a selection with prerequisites, or a flow. The flow that [`most`] finds may be less than the
//! largest; then the range is larger than it needs to be, which costs reduction, never soundness.

use mazurka_core::{Addition, HappensBefore, ObjectId, Operation, Position, System};

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
        observed.iter().for_each(|&object| system.distrust(object));
        observed.is_empty()
    }

    /// Takes back all steps after `depth`.
    pub(crate) fn truncate(&mut self, depth: usize) {
        while self.additions.pop_if(|counted| counted.at as usize > depth).is_some() {}
    }

    /// The objects whose additions could have told a thread something else.
    fn observed(&self, order: &HappensBefore) -> Vec<ObjectId> {
        let tested = self.additions.iter().filter(|it| !it.addition.tests.is_empty());
        let mut objects: Vec<ObjectId> =
            tested.filter(|it| !self.is_sure(order, it)).map(|it| it.object).collect();
        objects.sort_unstable();
        objects.dedup();
        objects
    }

    /// Whether a test has the same outcome in all linearisations.
    fn is_sure(&self, order: &HappensBefore, tested: &Counted) -> bool {
        let is_unordered = |other: &&Counted| {
            let (first, last) = (other.at.min(tested.at), other.at.max(tested.at));
            other.object == tested.object && !order.ordered(first, last)
        };
        let unordered: Vec<Counted> = self.additions.iter().filter(is_unordered).copied().collect();
        if unordered.is_empty() {
            return true;
        }
        let Addition { before, highest: limit, tests, .. } = tested.addition;
        let earlier = unordered.iter().filter(|other| other.at < tested.at);
        let without = i128::from(before) - earlier.map(|it| it.amount(1)).sum::<i128>();
        let lowest = without - most(order, &unordered, -1);
        let highest = without + most(order, &unordered, 1);
        match (i64::try_from(lowest), i64::try_from(highest)) {
            // Beyond, the numbers of the type begin again.
            (Ok(lowest @ 0..), Ok(highest)) if highest <= limit => {
                !tests.tell_apart(lowest, highest)
            }
            _ => false,
        }
    }
}

impl Counted {
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
