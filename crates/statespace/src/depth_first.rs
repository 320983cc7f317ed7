//! Depth-first search by one worker.
//!
//! What is kept of a path is the moves that are still to be taken, with the states that they lead
//! to. Where it depends on these whether there will be others, the state is kept, too, as far as it
//! differs from the one that was kept before it ([`Undo`]). All that a state leads to is looked up
//! at once, since these states differ little and memory answers several questions at the same time;
//! what is known already is counted then and there, and never comes back.

use crate::ample::Plan;
use crate::inner::TRANSIENT;
use crate::options::{Options, Reduction};
use crate::saved::{Form, Reader, Writer};
use crate::search_limits::{Counted, Ended, Path, Watch};
use crate::store::{Key, Seen, Session, Store, Words};
use crate::transitions::{Moves, Successor, Transitions};
use crate::undo::Undo;
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;
use std::io;

/// How many moves are made between two looks at the clock. Tests stop searches that are small.
const PATIENCE: u64 = if cfg!(debug_assertions) { 1 << 7 } else { 1 << 12 };

/// A depth-first search.
pub(crate) struct DepthFirst<'a, T, S: Store + 'a> {
    program: T,
    options: &'a Options,
    store: &'a S,
    session: S::Session<'a>,
    /// The states of the path that may be asked for more moves.
    kept: Undo,
    frames: Vec<Frame<Key<'a, S>>>,
    /// The moves that are to be taken from the states of the path, the next one last.
    waiting: Vec<Waiting<Key<'a, S>>>,
    /// The states that they lead to, one behind the other.
    ahead: Vec<u8>,
    /// The state that was looked at last, its moves, and those that are taken of them.
    state: Vec<u8>,
    moves: Moves,
    chosen: Vec<u32>,
    /// What the states that these lead to are found by, of those that are stored.
    keys: Vec<Key<'a, S>>,
    /// The states of the path that leave moves out, by what they are found by, if that is of
    /// interest: how many there are. Where two states have the same, neither is taken for one that
    /// is not on the path.
    on_path: Option<FxHashMap<Key<'a, S>, u32>>,
    /// By number, the least depth at which a state was reached; if shorter ways are looked for.
    depths: Vec<u32>,
    /// Whether moves are told set by set.
    tells_sets: bool,
    /// The longest path that is of interest.
    max_depth: usize,
    is_cut: bool,
    has_begun: bool,
    /// Whether others may have the states for now.
    is_settled: bool,
    pub(crate) counted: Counted,
    pub(crate) found: Option<Path>,
}

/// A state of the path.
struct Frame<K> {
    /// What it is found by, if it is stored.
    key: Option<K>,
    plan: Plan,
    is_kept: bool,
    /// How many moves of states before it wait.
    n_before: usize,
    /// The move that was taken from it.
    taken: u32,
    /// How many states before it, itself included, are not stored; 0 if it is.
    transient: u32,
}

/// A move that is to be taken. A path has many of them: they are small.
#[derive(Clone, Copy)]
struct Waiting<K> {
    /// What the state that it leads to is found by, if that is to be stored.
    key: K,
    /// Where this state begins among those that wait.
    start: usize,
    /// Its number.
    idx: u32,
    to: Destination,
    /// Whether something goes wrong in it that is of interest.
    is_wrong: bool,
}

/// Where a move leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Destination {
    Nowhere,
    /// To a state that is not stored.
    Transient,
    /// To one that is.
    Stored,
}

impl<'a, T: Transitions, S: Store> DepthFirst<'a, T, S> {
    pub(crate) fn new(program: T, options: &'a Options, store: &'a S) -> Self {
        Self {
            options,
            store,
            session: store.session(),
            kept: Undo::default(),
            frames: Vec::new(),
            waiting: Vec::new(),
            ahead: Vec::new(),
            state: Vec::new(),
            moves: Moves::new(),
            chosen: Vec::new(),
            keys: Vec::new(),
            on_path: (options.storage.is_exact() && options.reduction != Reduction::None)
                .then(FxHashMap::default),
            depths: Vec::new(),
            tells_sets: options.reduction != Reduction::None && program.tells_sets(),
            max_depth: options.depth.unwrap_or(usize::MAX),
            is_cut: false,
            has_begun: false,
            is_settled: false,
            counted: Counted::new(program.n_edges()),
            found: None,
            program,
        }
    }

    /// The program, with what it remembers.
    pub(crate) fn into_program(self) -> T {
        self.program
    }

    /// The same, with what was counted and found.
    pub(crate) fn into_parts(self) -> (T, Counted, Option<Path>) {
        (self.program, self.counted, self.found)
    }

    /// The program.
    pub(crate) fn program(&self) -> &T {
        &self.program
    }

    /// Lets others have the states, until the search goes on.
    pub(crate) fn settle(&mut self) {
        self.session.settle();
        self.is_settled = true;
    }

    /// Writes how far a search is that has come to a limit or pauses, without the states.
    pub(crate) fn save(&self, out: &mut Writer) -> io::Result<()> {
        self.kept.save(out)?;
        out.all(&self.frames, |frame, out| {
            out.flag(frame.key.is_some())?;
            frame.key.map_or(Ok(()), |key| key.save(out))?;
            frame.plan.save(out)?;
            out.flag(frame.is_kept)?;
            out.len(frame.n_before)?;
            out.word(u64::from(frame.taken) << 32 | u64::from(frame.transient))
        })?;
        out.all(&self.waiting, |waiting, out| {
            out.word(u64::from(waiting.idx) << 2 | waiting.to as u64)?;
            out.flag(waiting.is_wrong)?;
            if waiting.to == Destination::Stored {
                waiting.key.save(out)?;
            }
            out.len(waiting.start)
        })?;
        out.text(&self.ahead)?;
        self.depths.save(out)?;
        out.len(self.max_depth)?;
        out.flag(self.is_cut)?;
        self.counted.save(out)?;
        self.found.save(out)
    }

    /// Goes back to where a search was whose states are stored.
    pub(crate) fn load(&mut self, from: &mut Reader) -> io::Result<()> {
        self.has_begun = true;
        self.kept = Undo::load(from)?;
        self.frames = from.all(|from| {
            let key = from.flag()?.then(|| Key::<'a, S>::load(from)).transpose()?;
            let (plan, is_kept, n_before) = (Plan::load(from)?, from.flag()?, from.len()?);
            let word = from.word()?;
            let (taken, transient) = ((word >> 32) as u32, word as u32);
            Ok(Frame { key, plan, is_kept, n_before, taken, transient })
        })?;
        self.waiting = from.all(|from| {
            let word = from.word()?;
            let is_wrong = from.flag()?;
            let to = match word & 3 {
                0 => Destination::Nowhere,
                1 => Destination::Transient,
                _ => Destination::Stored,
            };
            let key = match to {
                Destination::Stored => Key::<'a, S>::load(from)?,
                _ => Key::<'a, S>::default(),
            };
            Ok(Waiting { key, start: from.len()?, idx: (word >> 2) as u32, to, is_wrong })
        })?;
        self.ahead = from.text()?;
        self.depths = Path::load(from)?;
        self.max_depth = from.len()?;
        self.is_cut = from.flag()?;
        self.counted = Counted::load(from)?;
        self.found = Option::<Path>::load(from)?;
        if let Some(on_path) = &mut self.on_path {
            let listed = self.frames.iter().filter(|frame| frame.plan.leaves_out());
            for key in listed.filter_map(|frame| frame.key) {
                *on_path.entry(key).or_default() += 1;
            }
        }
        Ok(())
    }

    /// Searches, from the beginning or from where it was.
    pub(crate) fn run(&mut self, watch: &Watch<'_>) -> Ended {
        if std::mem::take(&mut self.is_settled) {
            self.session.open();
        }
        if !self.has_begun {
            self.has_begun = true;
            self.program.initial(&mut self.state);
            let key = self.session.growing(|session| session.key(&self.state));
            let seen = self.session.growing(|session| session.try_insert(key, &self.state));
            self.count(seen);
            if self.enter(Some(key), 0) {
                return Ended::Done;
            }
        }
        let mut patience = PATIENCE;
        while !self.frames.is_empty() {
            patience -= 1;
            if patience == 0 {
                patience = PATIENCE;
                let bytes = || self.store.bytes() + self.bytes();
                if let Some(ended) = watch.ended(self.counted.states, bytes) {
                    return ended;
                }
            }
            match self.next() {
                Some(waiting) if self.take(waiting) => return Ended::Done,
                Some(_) => {}
                None => self.leave(),
            }
        }
        match self.is_cut {
            true => Ended::Cut(self.options.depth.unwrap_or(TRANSIENT)),
            false => Ended::Done,
        }
    }

    /// The next move to take from the last state of the path.
    fn next(&mut self) -> Option<Waiting<Key<'a, S>>> {
        loop {
            let frame = self.frames.last()?;
            if self.waiting.len() > frame.n_before {
                return self.waiting.pop();
            }
            if frame.plan.is_done() {
                return None;
            }
            debug_assert!(frame.is_kept, "it is asked again");
            self.state.clear();
            self.state.extend_from_slice(self.kept.state());
            match self.tells_sets {
                true => {
                    self.moves.clear();
                    self.program.expand_set(&self.state, frame.plan.next_set(), &mut self.moves);
                }
                false => self.expand(),
            }
            self.look_ahead();
        }
    }

    /// Takes a move; returns whether that is the end of the search.
    fn take(&mut self, waiting: Waiting<Key<'a, S>>) -> bool {
        let depth = self.frames.len() - 1;
        let frame = &mut self.frames[depth];
        frame.taken = waiting.idx;
        let transient = frame.transient + 1;
        if waiting.is_wrong && self.wrong(depth + 1) {
            return true;
        }
        let (key, transient) = match waiting.to {
            Destination::Nowhere => return false,
            Destination::Transient if transient as usize > TRANSIENT => {
                self.is_cut = true;
                self.ahead.truncate(waiting.start);
                return false;
            }
            Destination::Transient => (None, transient),
            Destination::Stored => {
                if !self.arrive(depth, waiting.key, waiting.start) {
                    self.ahead.truncate(waiting.start);
                    return false;
                }
                (Some(waiting.key), 0)
            }
        };
        self.state.clear();
        self.state.extend_from_slice(&self.ahead[waiting.start..]);
        self.ahead.truncate(waiting.start);
        if depth + 1 > self.max_depth {
            // What is cut after a violation was found is of no interest.
            self.is_cut |= self.found.is_none();
            return false;
        }
        self.enter(key, transient)
    }

    /// Arrives at a state that is to be stored; returns whether to go on there.
    fn arrive(&mut self, depth: usize, key: Key<'a, S>, start: usize) -> bool {
        let state = &self.ahead[start..];
        let seen = self.session.growing(|session| session.try_insert(key, state));
        self.judge(depth, seen, key);
        match seen {
            Seen::New(_) => self.count(seen),
            Seen::Old(number) => {
                self.counted.matched += 1;
                if !number.is_some_and(|number| self.is_nearer(number, depth + 1)) {
                    return false;
                }
            }
        }
        if self.options.shorten {
            self.depths[seen.number() as usize] = depth as u32 + 1;
        }
        true
    }

    /// Whether a state is known not to be on the path.
    fn is_off_path(&self, seen: Seen, key: Key<'a, S>) -> bool {
        match (seen, &self.on_path) {
            (Seen::New(_), _) => true,
            (Seen::Old(_), Some(on_path)) => !on_path.contains_key(&key),
            (Seen::Old(_), None) => false,
        }
    }

    /// The state at this depth, or the stored one before it, leads to another one, which may
    /// satisfy C2.
    #[inline]
    fn judge(&mut self, depth: usize, seen: Seen, key: Key<'a, S>) {
        let base = depth - self.frames[depth].transient as usize;
        if !self.frames[base].plan.is_done() && self.is_off_path(seen, key) {
            self.frames[base].plan.satisfy();
        }
    }

    /// Begins with a state; returns whether that is the end of the search.
    fn enter(&mut self, key: Option<Key<'a, S>>, transient: u32) -> bool {
        let depth = self.frames.len();
        self.counted.max_depth = self.counted.max_depth.max(depth as u64);
        let plan = match transient {
            0 if self.tells_sets => {
                self.moves.clear();
                Plan::of_sets(self.program.expand_set(&self.state, 0, &mut self.moves))
            }
            0 => {
                self.expand();
                Plan::new(self.options.reduction, &self.moves)
            }
            _ => {
                self.expand();
                Plan::all()
            }
        };
        if self.program.is_lost() {
            return true;
        }
        if let (Some(key), Some(on_path), true) = (key, &mut self.on_path, plan.leaves_out()) {
            *on_path.entry(key).or_default() += 1;
        }
        let n_before = self.waiting.len();
        self.frames.push(Frame { key, plan, is_kept: false, n_before, taken: 0, transient });
        if !self.moves.is_empty() {
            self.look_ahead();
            let frame = &mut self.frames[depth];
            if !frame.plan.is_done() {
                frame.is_kept = true;
                self.kept.push(&self.state);
            }
            return false;
        }
        self.counted.ends += 1;
        let is_wrong = self.options.ends && !self.program.is_valid_end(&self.state);
        let is_over = is_wrong && self.wrong(depth);
        self.leave();
        is_over
    }

    /// Goes back by one state.
    fn leave(&mut self) {
        let frame = self.frames.pop().expect("there is a state to leave");
        if frame.plan.leaves_out() {
            self.strike(frame.key);
        }
        if frame.is_kept {
            self.kept.pop();
        }
    }

    /// A state leaves out nothing any more, or is not on the path.
    fn strike(&mut self, key: Option<Key<'a, S>>) {
        if let (Some(key), Some(on_path)) = (key, &mut self.on_path)
            && let Entry::Occupied(mut there) = on_path.entry(key)
        {
            *there.get_mut() -= 1;
            if *there.get() == 0 {
                there.remove();
            }
        }
    }

    /// Asks for the moves of the state at hand.
    fn expand(&mut self) {
        self.moves.clear();
        self.program.expand(&self.state, &mut self.moves);
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

    /// The path, its first `len` moves, leads to something that is wrong. Returns whether that is
    /// enough.
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

    /// Looks up what the next moves of the state at hand lead to, and has all moves wait that are
    /// not done with. What is there already will be there when its turn comes, on the path or not
    /// as it is now.
    fn look_ahead(&mut self) {
        let depth = self.frames.len() - 1;
        let frame = &mut self.frames[depth];
        let (key, left_out) = (frame.key, frame.plan.leaves_out());
        match self.tells_sets && frame.transient == 0 {
            true => frame.plan.choose_told(&self.moves, &mut self.chosen),
            false => frame.plan.choose(&self.moves, &mut self.chosen),
        }
        if left_out && !frame.plan.leaves_out() {
            self.strike(key);
        }
        let moves = &self.moves;
        let is_stored = |idx: &&u32| moves[**idx as usize].successor == Successor::Stored;
        let stored = self.chosen.iter().filter(is_stored);
        let states = stored.map(|&idx| moves.state(idx as usize));
        self.session.growing(|session| {
            key.map_or(Ok(()), |key| session.near_found(&self.state, key))?;
            session.keys(states.clone(), &mut self.keys)
        });
        // The groups of what is looked at, from the last one on.
        let mut group = self.moves.groups().len();
        for place in (0..self.chosen.len()).rev() {
            let idx = self.chosen[place];
            let number = match self.tells_sets {
                false => idx,
                true => {
                    while group > 1 && self.moves.of_group(group - 1).start > idx as usize {
                        group -= 1;
                    }
                    self.moves.number(group - 1, idx)
                }
            };
            self.look_at(depth, idx, number);
        }
    }

    /// Counts a move, and has it wait unless it leads to nothing new.
    fn look_at(&mut self, depth: usize, idx: u32, number: u32) {
        let made = self.moves[idx as usize];
        let state = self.moves.state(idx as usize);
        self.counted.take(&self.moves, idx as usize);
        let is_wrong = made.fault.is_some_and(|fault| {
            let kind = self.program.violation(&self.state, made.step, fault).kind;
            !self.options.ignored.contains(&kind)
        });
        let mut key = Key::<'a, S>::default();
        let to = match made.successor {
            Successor::None => Destination::Nowhere,
            Successor::Transient => Destination::Transient,
            Successor::Stored => {
                key = self.keys.pop().expect("there is one for every state to be stored");
                let found = self.session.find(key, state);
                if let (Some(seen), false, false) = (found, is_wrong, self.options.shorten) {
                    self.counted.matched += 1;
                    self.judge(depth, seen, key);
                    return;
                }
                Destination::Stored
            }
        };
        let start = self.ahead.len();
        self.ahead.extend_from_slice(state);
        self.waiting.push(Waiting { key, start, idx: number, to, is_wrong });
    }

    /// The memory that paths take.
    fn bytes(&self) -> u64 {
        let frames = self.frames.len() * size_of::<Frame<Key<'a, S>>>();
        let waiting = self.waiting.len() * size_of::<Waiting<Key<'a, S>>>() + self.ahead.len();
        self.kept.bytes() + (frames + waiting + 4 * self.depths.len()) as u64
    }
}
