//! Races: which earlier steps an operation races with, competes with, or follows at once.

use super::{Group, HappensBefore, Position, Thread, groups_before, read, slot, write};
use crate::operation::{End, Place, Touch};
use crate::{Operation, ThreadId, may_be_coenabled};

impl HappensBefore {
    /// The steps that race with `operation` as the next step of `thread`: dependent, may be
    /// co-enabled, concurrent, and nothing happens between the two. Newest first.
    #[inline]
    pub fn immediate_races(
        &self,
        thread: ThreadId,
        operation: Operation,
        races: &mut Vec<Position>,
    ) {
        self.race_candidates(thread, operation, races);
        self.keep_immediate(operation, races);
    }

    /// The steps among which are all [immediate races](Self::immediate_races): dependent and
    /// concurrent. In no order.
    #[inline]
    pub fn race_candidates(
        &self,
        thread: ThreadId,
        operation: Operation,
        candidates: &mut Vec<Position>,
    ) {
        match operation {
            Operation::Load(object) => {
                self.candidates_touching(thread, &[read(object)], candidates);
            }
            Operation::Store(object)
            | Operation::ReadModifyWrite(object)
            | Operation::AwaitModify(object) => {
                self.candidates_touching(thread, &[write(object)], candidates);
            }
            _ => self.candidates_touching(thread, operation.touches().as_slice(), candidates),
        }
    }

    #[inline(always)]
    fn candidates_touching(
        &self,
        thread: ThreadId,
        touches: &[(Place, Touch)],
        candidates: &mut Vec<Position>,
    ) {
        candidates.clear();
        let base = self.clock(thread);
        for &(place, touch) in touches {
            if slot(place) >= self.places.len() {
                continue;
            }
            let last = self.tail(place, touch);
            if last != 0 && !self.knows(base, last) {
                candidates.push(last);
            }
            for &group in groups_before(place, touch) {
                if self.has_unseen(group, place, last) {
                    let unseen = self.unseen(group, place, last);
                    let is_race = |&(other, member): &(ThreadId, Position)| {
                        other != thread && member > base[other.index()]
                    };
                    candidates.extend(unseen.filter(is_race).map(|(_, member)| member));
                }
            }
        }
    }

    /// Leaves of the [candidates](Self::race_candidates) for a race with `operation` those that are
    /// immediate, newest first.
    #[inline]
    pub fn keep_immediate(&self, operation: Operation, candidates: &mut Vec<Position>) {
        if candidates.len() > 1 {
            self.keep_newest(candidates);
        }
        candidates.retain(|&race| may_be_coenabled(self.operation(race), operation));
    }

    /// Sorts candidates for a race, newest first, and leaves out what is reached through a newer
    /// one that it happens before.
    fn keep_newest(&self, races: &mut Vec<Position>) {
        races.sort_unstable_by(|a, b| b.cmp(a));
        races.dedup();
        let mut idx = 1;
        while idx < races.len() {
            if races[..idx].iter().any(|&newer| self.ordered(races[idx], newer)) {
                races.remove(idx);
            } else {
                idx += 1;
            }
        }
    }

    /// The steps that `operation`, as the next step of `thread` and one that may wait, competes
    /// with: all that touch what it touches, may be co-enabled with it, and that the thread does
    /// not know of. Newest first.
    pub fn rivals(
        &self,
        thread: ThreadId,
        operation: Operation,
    ) -> impl Iterator<Item = Position> + '_ {
        let base = self.clock(thread);
        let waker = self.waker(thread, operation);
        let woken = self.clock_at(waker.unwrap_or(0));
        let asleep = matches!(operation, Operation::Reacquire { .. }) && waker.is_none();
        let touch = operation.touches().as_slice().first().copied().filter(|_| !asleep);
        let mut at = touch.map_or(0, |(place, touch)| self.tails(place).last_before(touch));
        std::iter::from_fn(move || {
            let (place, touch) = touch?;
            loop {
                // The chain is ordered: whatever is before a known step is known.
                if at == 0 || self.knows(base, at) || self.knows(woken, at) {
                    return None;
                }
                let here = at;
                let event = self.event(here);
                let idx = event
                    .operation
                    .touches()
                    .as_slice()
                    .iter()
                    .position(|&(other, _)| other == place);
                let before = event.replaced[idx.expect("it is in the chain of this place")];
                at = before.last_before(touch);
                if may_be_coenabled(event.operation, operation) {
                    return Some(here);
                }
            }
        })
    }

    /// The steps of other threads that `operation`, as the next step of `thread`, would follow
    /// at once: at each place the last ones that it does not commute with, and what makes it
    /// possible. Every linearisation of a trace gives the same ones.
    pub fn predecessors(&self, thread: ThreadId, operation: Operation, found: &mut Vec<Position>) {
        found.clear();
        for &(place, touch) in operation.touches().as_slice() {
            let tails = self.tails(place);
            found.push(tails.last_before(touch));
            for &group in groups_before(place, touch) {
                let members = self.members(group, place).map(|(_, at)| at);
                found.extend(members.filter(|&at| at > tails.write));
            }
        }
        let known = self.threads.get(thread.index());
        if known.is_some_and(Thread::is_unmoved) {
            found.extend(known.map(|thread| thread.born));
        }
        self.ends_before(known.map_or(0, |thread| thread.joined), found);
        found.push(self.what_enables(thread, operation));
        found.retain(|&at| at != 0 && self.thread(at) != thread);
    }

    /// The last steps of any thread at the objects of `operation`, whichever end they touched:
    /// those that close a chain, and the reads after the last write. Reads do not meet reads.
    pub fn last_at_objects(&self, operation: Operation, found: &mut Vec<Position>) {
        found.clear();
        let touches = operation.touches();
        let objects = touches.as_slice().iter().map(|&((object, _), touch)| (object, Some(touch)));
        let named = operation.object().map(|object| (object, None));
        for (object, touch) in objects.chain(named) {
            for end in [End::Front, End::Back] {
                let place = (object, end);
                let tails = self.tails(place);
                found.push(touch.map_or(tails.chain, |touch| tails.last_before(touch)));
                for &group in touch.map_or(&[][..], |touch| groups_before(place, touch)) {
                    let members = self.members(group, place).map(|(_, at)| at);
                    found.extend(members.filter(|&at| at > tails.write));
                }
            }
        }
        found.retain(|&at| at != 0);
        found.sort_unstable_by(|a, b| b.cmp(a));
        found.dedup();
    }

    /// Whether the last step, an addition, comes after all earlier ones to its object in every
    /// linearisation.
    pub fn is_after_all_additions(&self) -> bool {
        let at = self.len() as Position;
        let place = self.operation(at).touches().as_slice().first().map(|&(place, _)| place);
        place.is_some_and(|place| !self.has_unseen(Group::Additions, place, at))
    }

    /// The reading touches of the places of `operation` that do not happen after `barrier`: for
    /// each thread, the newest. For a writer, these are the readers that have to leave first.
    pub fn departures(
        &self,
        operation: Operation,
        barrier: Position,
    ) -> impl Iterator<Item = Position> + '_ {
        let first = operation.touches().as_slice().first().copied();
        first
            .filter(|&((_, end), touch)| touch == Touch::Write && end == End::Front)
            .into_iter()
            .flat_map(move |(place, _)| self.members(Group::Reads, place))
            .filter_map(move |(_, mut read)| {
                while read != 0 && self.ordered(barrier, read) {
                    read = self.event(read).replaced[0].chain;
                }
                Some(read).filter(|&read| read != 0)
            })
    }
}
