//! Depth-first search by one worker.
//!
//! What is kept of a path is what is different from state to state ([`Undo`]), and the moves of the last
//! few thousand states. Where the search comes back to an earlier one, it asks for its moves again.

use crate::ample::Plan;
use crate::inner::TRANSIENT;
use crate::options::{Options, Reduction};
use crate::store::{Seen, Session, Store};
use crate::transitions::{Moves, Successor, Transitions};
use crate::undo::Undo;
use crate::watch::{Counted, Ended, Path, Watch};
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;

/// How many states of a path have their moves at hand. A power of two.
const AT_HAND: usize = 1 << 12;

/// How many moves are made between two looks at the clock.
const PATIENCE: u64 = 1 << 12;

/// A depth-first search.
pub(crate) struct DepthFirst<'a, T, S: Store + 'a> {
    program: T,
    options: &'a Options,
    store: &'a S,
    session: S::Session<'a>,
    path: Undo,
    frames: Vec<Frame<<S::Session<'a> as Session>::Key>>,
    /// The moves of the state at depth `d` are at `d % AT_HAND`, unless a later one's are there.
    at_hand: Vec<AtHand<<S::Session<'a> as Session>::Key>>,
    /// The states of the path, by what they are found by, if that is of interest: how many there are.
    /// Where two states have the same, neither is taken for one that is not on the path.
    on_path: Option<FxHashMap<<S::Session<'a> as Session>::Key, u32>>,
    /// By number, the least depth at which a state was reached; if shorter ways are looked for.
    depths: Vec<u32>,
    /// The longest path that is of interest.
    max_depth: usize,
    is_cut: bool,
    pub(crate) counted: Counted,
    pub(crate) found: Option<Path>,
}

/// The moves of a state of the path.
#[derive(Default)]
struct AtHand<K> {
    /// How many states there are before it.
    depth: usize,
    moves: Moves,
    /// By the number of a move, what is known of the state that it leads to.
    arrivals: Vec<Option<Arrival<K>>>,
}

/// What is known of a state before the search goes there.
#[derive(Clone, Copy)]
struct Arrival<K> {
    /// What it is found by.
    key: K,
    /// What is known of it, if it was there already when it was looked up.
    found: Option<Seen>,
}

/// A state of the path.
struct Frame<K> {
    /// What it is found by, if it is stored and that is of interest.
    key: Option<K>,
    plan: Plan,
    /// The move that was taken from it.
    taken: u32,
    /// How many states before it, itself included, are not stored; 0 if it is.
    transient: u32,
}

impl<'a, T: Transitions, S: Store> DepthFirst<'a, T, S> {
    pub(crate) fn new(program: T, options: &'a Options, store: &'a S) -> Self {
        Self {
            options,
            store,
            session: store.session(),
            path: Undo::default(),
            frames: Vec::new(),
            at_hand: Vec::new(),
            on_path: (options.storage.is_exact() && options.reduction != Reduction::None)
                .then(FxHashMap::default),
            depths: Vec::new(),
            max_depth: options.depth.unwrap_or(usize::MAX),
            is_cut: false,
            counted: Counted::new(program.n_edges()),
            found: None,
            program,
        }
    }

    /// Searches.
    pub(crate) fn run(&mut self, watch: &Watch<'_>) -> Ended {
        let mut state = Vec::new();
        self.program.initial(&mut state);
        let key = self.session.growing(|session| session.key(&state));
        let seen = self.session.growing(|session| session.try_insert(key, &state));
        self.path = Undo::new(state);
        self.count(seen);
        if self.enter(Some(key), 0) {
            return Ended::Done;
        }
        let mut patience = PATIENCE;
        while let Some(depth) = self.frames.len().checked_sub(1) {
            patience -= 1;
            if patience == 0 {
                patience = PATIENCE;
                let bytes = || self.store.bytes() + self.bytes();
                if let Some(limit) = watch.limit(self.counted.states, bytes) {
                    return Ended::Limit(limit);
                }
            }
            self.recall(depth);
            let next = self.frames[depth].plan.next(&self.at_hand[depth % AT_HAND].moves);
            let is_over = match next {
                Some(idx) => self.take(depth, idx),
                None => {
                    self.leave();
                    false
                }
            };
            if is_over {
                return Ended::Done;
            }
        }
        match self.is_cut {
            true => Ended::Cut(self.options.depth.unwrap_or(TRANSIENT)),
            false => Ended::Done,
        }
    }

    /// Takes a move; returns whether that is the end of the search.
    fn take(&mut self, depth: usize, idx: usize) -> bool {
        self.frames[depth].taken = idx as u32;
        let moves = &self.at_hand[depth % AT_HAND].moves;
        self.counted.take(moves, idx);
        let made = moves[idx];
        if let Some(fault) = made.fault {
            let kind = self.program.violation(self.path.state(), made.step, fault).kind;
            if !self.options.ignored.contains(&kind) && self.wrong(depth + 1) {
                return true;
            }
        }
        match made.successor {
            Successor::None => false,
            Successor::Transient => {
                let transient = self.frames[depth].transient + 1;
                if transient as usize > TRANSIENT {
                    self.is_cut = true;
                    return false;
                }
                self.go(depth, idx, None, transient)
            }
            Successor::Stored => self.arrive(depth, idx),
        }
    }

    /// Takes a move to a state that is to be stored.
    fn arrive(&mut self, depth: usize, idx: usize) -> bool {
        let arrival = match self.at_hand[depth % AT_HAND].arrivals[idx] {
            Some(arrival) => arrival,
            None => self.look_ahead(depth, idx),
        };
        let seen = arrival.found.unwrap_or_else(|| {
            let state = self.at_hand[depth % AT_HAND].moves.state(idx);
            self.session.growing(|session| session.try_insert(arrival.key, state))
        });
        let is_off_path = match (seen, &self.on_path) {
            (Seen::New(_), _) => true,
            (Seen::Old(_), Some(on_path)) => !on_path.contains_key(&arrival.key),
            (Seen::Old(_), None) => false,
        };
        if is_off_path {
            let base = depth - self.frames[depth].transient as usize;
            self.frames[base].plan.satisfy();
        }
        match seen {
            Seen::New(_) => self.count(seen),
            Seen::Old(number) => {
                self.counted.matched += 1;
                let is_nearer = number.is_some_and(|number| self.is_nearer(number, depth + 1));
                if !is_nearer {
                    return false;
                }
            }
        }
        if self.options.shorten {
            self.depths[seen.number() as usize] = depth as u32 + 1;
        }
        self.go(depth, idx, Some(arrival.key), 0)
    }

    /// Goes on to the state that a move leads to.
    fn go(
        &mut self,
        depth: usize,
        idx: usize,
        key: Option<<S::Session<'a> as Session>::Key>,
        transient: u32,
    ) -> bool {
        if depth + 1 > self.max_depth {
            // What is cut after a violation was found is of no interest.
            self.is_cut |= self.found.is_none();
            return false;
        }
        self.path.push(self.at_hand[depth % AT_HAND].moves.state(idx));
        self.enter(key, transient)
    }

    /// Begins with the last state of the path; returns whether that is the end of the search.
    fn enter(&mut self, key: Option<<S::Session<'a> as Session>::Key>, transient: u32) -> bool {
        let depth = self.frames.len();
        self.counted.max_depth = self.counted.max_depth.max(depth as u64);
        if let (Some(key), Some(on_path)) = (key, &mut self.on_path) {
            *on_path.entry(key).or_default() += 1;
        }
        self.expand(depth);
        let moves = &self.at_hand[depth % AT_HAND].moves;
        let plan = match transient {
            0 => Plan::new(self.options.reduction, moves),
            _ => Plan::all(),
        };
        let is_end = moves.is_empty();
        self.frames.push(Frame { key, plan, taken: 0, transient });
        if !is_end {
            return false;
        }
        self.counted.ends += 1;
        let is_wrong = self.options.ends && !self.program.is_valid_end(self.path.state());
        is_wrong && self.wrong(depth)
    }

    /// Goes back by one state.
    fn leave(&mut self) {
        let frame = self.frames.pop().expect("there is a state to leave");
        if let (Some(key), Some(on_path)) = (frame.key, &mut self.on_path)
            && let Entry::Occupied(mut there) = on_path.entry(key)
        {
            *there.get_mut() -= 1;
            if *there.get() == 0 {
                there.remove();
            }
        }
        if !self.frames.is_empty() {
            self.path.pop();
        }
    }

    /// Counts a state that was not there before.
    fn count(&mut self, seen: Seen) {
        self.counted.states += 1;
        if self.options.shorten {
            // With one worker numbers are dense.
            debug_assert_eq!(seen, Seen::New(self.depths.len() as u32));
            self.depths.push(0);
        }
    }

    /// The path, its first `len` moves, leads to something that is wrong. Returns whether that is enough.
    fn wrong(&mut self, len: usize) -> bool {
        self.counted.violations += 1;
        if self.found.as_ref().is_none_or(|found| len < found.len()) {
            self.found = Some(self.frames[..len].iter().map(|frame| frame.taken).collect());
        }
        if self.options.shorten {
            self.max_depth = self.max_depth.min(len.saturating_sub(1));
        }
        !self.options.shorten && !self.options.all_violations
    }

    /// Whether it is worth while to visit a state again, since this way is shorter.
    fn is_nearer(&self, number: u32, depth: usize) -> bool {
        self.options.shorten
            && self.found.is_some()
            && self.depths[number as usize] as usize > depth
    }

    /// Looks up the state that a move leads to, and with it all that will be looked up next, since they
    /// differ little and memory answers several questions at once. What is there already will be there
    /// when its turn comes, on the path or not as it is now.
    fn look_ahead(
        &mut self,
        depth: usize,
        idx: usize,
    ) -> Arrival<<S::Session<'a> as Session>::Key> {
        let AtHand { moves, arrivals, .. } = &mut self.at_hand[depth % AT_HAND];
        let end = match self.options.reduction {
            Reduction::None => moves.len(),
            _ => {
                let mut ends = (0..moves.groups().len()).map(|group| moves.of_group(group).end);
                ends.find(|&end| idx < end).expect("a move is in a group")
            }
        };
        let (session, state) = (&mut self.session, self.path.state());
        session.growing(|session| session.near(state));
        for idx in idx..end {
            if moves[idx].successor == Successor::Stored {
                let key = session.growing(|session| session.key(moves.state(idx)));
                session.touch(key);
                arrivals[idx] = Some(Arrival { key, found: None });
            }
        }
        for (idx, arrival) in arrivals.iter_mut().enumerate().take(end).skip(idx) {
            if let Some(arrival) = arrival {
                arrival.found = session.find(arrival.key, moves.state(idx));
            }
        }
        arrivals[idx].expect("it was asked for")
    }

    /// Sees to it that the moves of a state of the path are at hand.
    fn recall(&mut self, depth: usize) {
        if self.at_hand[depth % AT_HAND].depth != depth {
            self.expand(depth);
        }
    }

    /// Asks for the moves of the last state of the path, which is at this depth.
    fn expand(&mut self, depth: usize) {
        let slot = depth % AT_HAND;
        if slot == self.at_hand.len() {
            self.at_hand.push(AtHand::default());
        }
        let AtHand { depth: of, moves, arrivals } = &mut self.at_hand[slot];
        *of = depth;
        moves.clear();
        self.program.expand(self.path.state(), moves);
        arrivals.clear();
        arrivals.resize(moves.len(), None);
    }

    /// The memory that paths take.
    fn bytes(&self) -> u64 {
        let frames = self.frames.len() * size_of::<Frame<<S::Session<'a> as Session>::Key>>();
        self.path.bytes() + (frames + 4 * self.depths.len()) as u64
    }
}
