//! Attempts that are taken back: a thread that adds to a variable, takes that back since it did not
//! like what it found, and adds again is held behind the second attempt.
//!
//! Reader-writer locks are made so: `while (fetch_sub(&lock, 1) <= 0) { fetch_add(&lock, 1); … }`.
//! Let a thread have added *d* to a variable in the step *a*, have taken *d* back in the step *b*,
//! and have added *d* again in the step *c*, with nothing but loads and failed compare-and-swaps
//! beside. Let *v* be the value that *c* found. If the thread, taken back to *a* and given *v*
//! there, comes to its next operation in the state in which it is now, and no other thread has seen
//! a difference between *a* and *b*, it is held: what follows also follows in the execution in which
//! *a* is taken in the place of *c*, and its steps from there to *c* are not.
//!
//! That is right since all other threads do the same there. Before *a* and behind *b* the variable
//! has the same value in both executions. Between *a* and *b* it lacks *d*, and another thread that
//! accesses it there *sees no difference* if it only adds, and learns the same of the value before
//! with *d* and without (`Adding::tells`); what it adds is the same. Any other access sees a
//! difference. In the place of *c* the variable holds *v*, so *a* there leads to this very state,
//! with at least two steps fewer. By induction on the number of steps, every state, violation and
//! end is also reached in an execution in which no thread is held like that. Dropped steps order
//! less, so no race is lost. Plain writes may follow *c*: no other thread has seen them yet, and
//! what both runs have written has to be the same.
//!
//! All accesses to the variable have to be in order: which of them are between *a* and *b* is then
//! the same in all linearisations. So additions that commute ([`Operation::Add`]) are left alone;
//! where the loop waits by a load, they are in order (`disciplines`).
//!
//! GenMC has a similar rule (FAI-ZNE, for loops with zero net effect), without the condition on what
//! other additions learn. As in `reread`, states are kept at places that were seen to be such
//! attempts, and the search begins again when there is a new one.

use crate::awaits::Likeness;
use crate::coroutine;
use crate::disciplines::signed;
use crate::machine::Machine;
use crate::reread::{Kept, MAX_WRITTEN, Written};
use crate::spin::{self, Arrival, Place};
use crate::weak_memory;
use mazurka_core::{ObjectId, Operation};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether a thread has ever added to something in order: else there is nothing to look for.
static ARE_ANY: AtomicBool = AtomicBool::new(false);

/// What a thread has tried, and has done nothing since but to take it back and to try again.
#[derive(Clone, Debug)]
pub(crate) struct Attempt {
    first: Trial,
    stage: Stage,
    /// Whether another thread has seen it before it was taken back.
    is_seen: bool,
}

/// An addition.
#[derive(Clone, Debug)]
struct Trial {
    place: Place,
    object: ObjectId,
    len: u8,
    added: i64,
    /// What was there before.
    value: u128,
    kept: Option<Rc<Kept>>,
}

#[derive(Clone, Debug)]
enum Stage {
    Made,
    TakenBack,
    /// And what it has written plainly since then.
    MadeAgain(Trial, Vec<Written>),
}

impl Attempt {
    fn new(first: Trial) -> Self {
        Self { first, stage: Stage::Made, is_seen: false }
    }

    /// The thread adds once more.
    fn then(self, next: Trial) -> Self {
        let Self { first, stage, is_seen } = self;
        let is_same = (first.place.address, first.len) == (next.place.address, next.len);
        let stage = match stage {
            Stage::Made if is_same && next.added == first.added.wrapping_neg() => Stage::TakenBack,
            Stage::TakenBack if is_same && next.added == first.added => {
                Stage::MadeAgain(next, Vec::new())
            }
            _ => return Self::new(next),
        };
        Self { first, stage, is_seen }
    }

    /// The thread writes plainly. That may be only behind the second attempt: the step that takes
    /// the first one back tells others of what was written before.
    pub(crate) fn write(mut self, it: Written) -> Option<Self> {
        match &mut self.stage {
            Stage::MadeAgain(_, written) if written.len() < MAX_WRITTEN => written.push(it),
            _ => return None,
        }
        Some(self)
    }
}

impl Machine {
    /// The running thread has added to a variable.
    pub(crate) fn note_addition(
        &mut self,
        idx: usize,
        arrival: &Arrival,
        (address, len): (usize, u8),
        added: i64,
        before: u128,
    ) {
        let is_in_order = matches!(self.threads[idx].operation, Operation::ReadModifyWrite(_));
        if !is_in_order
            || arrival.kind.is_none()
            || self.are_races_allowed
            || weak_memory::is_on()
            || self.counting_loops.is_unseen()
        {
            return;
        }
        let place = arrival.place(address);
        let is_kept = self.loops.retries.contains(&self.site(idx, &place));
        let kept = is_kept.then(|| {
            let stack = coroutine::frames(idx, arrival.stack_pointer).to_vec();
            Rc::new(Kept { registers: arrival.kept, stack })
        });
        let object = self.objects.atomic(address, usize::from(len));
        let next = Trial { place, object, len, added, value: before, kept };
        let attempt = &mut self.threads[idx].reads.attempt;
        *attempt = Some(match attempt.take() {
            Some(attempt) => attempt.then(next),
            None => Attempt::new(next),
        });
        ARE_ANY.store(true, Ordering::Relaxed);
        spin::keep_attempt();
    }

    /// A thread is about to access what its operation is about. Those who see an attempt of another
    /// thread are in its way.
    pub(crate) fn note_witness(&mut self, idx: usize, operation: Operation) {
        let touches = operation.touches();
        let is_touched =
            |object: ObjectId| touches.as_slice().iter().any(|&((other, _), _)| other == object);
        self.mark_attempts(idx, |attempt| is_touched(attempt.first.object));
    }

    /// The same for an access that is no step.
    pub(crate) fn note_unseen_access(&mut self, idx: usize, address: usize, len: u8) {
        let end = address + usize::from(len);
        self.mark_attempts(idx, |attempt| {
            let start = attempt.first.place.address;
            address < start + usize::from(attempt.first.len) && start < end
        });
    }

    fn mark_attempts(&mut self, idx: usize, is_it: impl Fn(&Attempt) -> bool) {
        if !ARE_ANY.load(Ordering::Relaxed) {
            return;
        }
        let adding = self.threads[idx].adding;
        for other in (0..self.threads.len()).filter(|&other| other != idx) {
            let Some(attempt) = &self.threads[other].reads.attempt else { continue };
            let Trial { place, len, added, .. } = attempt.first;
            let is_open = matches!(attempt.stage, Stage::Made) && !attempt.is_seen;
            if !is_open || !is_it(attempt) {
                continue;
            }
            let before = || signed(spin::load(place.address, len), 8 * len);
            let is_seen = adding.is_none_or(|adding| adding.tells(before(), added));
            if is_seen && let Some(attempt) = &mut self.threads[other].reads.attempt {
                attempt.is_seen = true;
            }
        }
    }

    /// Whether an earlier attempt of a thread, made in the place of the last one, leads to the
    /// operation that it has come to, in the state in which it is.
    pub(crate) fn comes_by_another_attempt(
        &mut self,
        idx: usize,
        arrival: &Arrival,
        address: usize,
    ) -> bool {
        if !matches!(&self.threads[idx].reads.attempt,
            Some(attempt) if matches!(attempt.stage, Stage::MadeAgain(..)))
        {
            return false;
        }
        let attempt = self.threads[idx].reads.attempt.take();
        let Some(Attempt { first, stage: Stage::MadeAgain(second, written), is_seen }) = attempt
        else {
            return false;
        };
        if self.loops.are_checked
            && self.likeness_behind(idx, &second, second.value, &written, arrival, address)
                == Likeness::Different
        {
            self.doubt(idx, "it has come to another state from its last addition");
        }
        let is_held = !is_seen
            && self.likeness_behind(idx, &first, second.value, &written, arrival, address)
                == Likeness::Same;
        let sites = [&first, &second].map(|it| self.site(idx, &it.place));
        let is_new = sites.iter().any(|site| !self.loops.retries.contains(site));
        if is_new && !is_seen {
            self.loops.retries.extend(sites);
            self.find_loops();
            self.learn();
        }
        self.threads[idx].reads.attempt = written.is_empty().then(|| Attempt::new(second));
        is_held
    }

    /// Where a thread would be that found a value in an addition, compared to where it is.
    fn likeness_behind(
        &self,
        idx: usize,
        trial: &Trial,
        value: u128,
        written: &[Written],
        arrival: &Arrival,
        address: usize,
    ) -> Likeness {
        let Some(kept) = &trial.kept else { return Likeness::Unknown };
        let (from, result) = (trial.place.stack_pointer, (value as u64, trial.len));
        self.likeness_of(idx, kept, from, (result, Written::before_all(written)), arrival, address)
    }
}
