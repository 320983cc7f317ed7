//! Limits: when a search has to stop, and what it has counted by then.

use crate::options::{Fairness, Options};
use crate::saved::{Form, Reader, Writer};
use crate::transitions::Moves;
use mazurka_core::{Limit, Statistics};
use std::io;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// How many steps a search for cycles makes between two looks at the clock.
/// Tests stop searches that are small.
pub(crate) const PATIENCE: u64 = if cfg!(debug_assertions) { 1 << 5 } else { 1 << 12 };

/// The limits of a search.
#[derive(Clone, Copy)]
pub(crate) struct Watch<'a> {
    options: &'a Options,
    start: Instant,
    /// When a search that can go on pauses to be saved.
    pause: Option<Instant>,
}

impl<'a> Watch<'a> {
    pub(crate) fn new(options: &'a Options) -> Self {
        Self { options, start: Instant::now(), pause: None }
    }

    /// Has a search that can go on pause then.
    pub(crate) fn pause_at(&mut self, pause: Option<Instant>) {
        self.pause = pause;
    }

    /// Why a search that can go on has to stop or to pause. To be asked now and then.
    pub(crate) fn ended(&self, n_states: u64, bytes: impl FnOnce() -> u64) -> Option<Ended> {
        if let Some(limit) = self.limit(n_states, bytes) {
            return Some(Ended::Limit(limit));
        }
        self.pause.is_some_and(|pause| Instant::now() >= pause).then_some(Ended::Paused)
    }

    /// How long the search may still take, if there is a limit.
    pub(crate) fn time_left(&self) -> Option<Duration> {
        self.options.time.map(|limit| limit.saturating_sub(self.start.elapsed()))
    }

    /// Which executions count.
    pub(crate) fn fairness(&self) -> Fairness {
        self.options.fairness
    }

    /// Whether a search goes on after a violation.
    pub(crate) fn goes_on(&self) -> bool {
        self.options.all_violations
    }

    /// The limit that is reached. To be asked now and then.
    pub(crate) fn limit(&self, n_states: u64, bytes: impl FnOnce() -> u64) -> Option<Limit> {
        let Options { states, time, memory, stop, gauge, .. } = self.options;
        gauge.iter().for_each(|gauge| gauge.set_states(n_states));
        if stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            return Some(Limit::Interrupted);
        }
        if let Some(limit) = states.filter(|&limit| n_states > limit as u64) {
            return Some(Limit::States(limit));
        }
        if let Some(limit) = time.filter(|&limit| self.start.elapsed() >= limit) {
            return Some(Limit::Time(limit));
        }
        memory.filter(|&limit| bytes() > limit).map(Limit::Memory)
    }
}

/// What one worker has counted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counted {
    pub(crate) states: u64,
    /// Moves to states that were stored before.
    pub(crate) matched: u64,
    /// Moves, also those between states that are not stored.
    pub(crate) moves: u64,
    pub(crate) max_depth: u64,
    pub(crate) ends: u64,
    pub(crate) violations: u64,
    /// The edges that some move took.
    reached: Vec<bool>,
}

impl Form for Counted {
    fn save(&self, out: &mut Writer) -> io::Result<()> {
        let Self { states, matched, moves, max_depth, ends, violations, reached } = self;
        for count in [states, matched, moves, max_depth, ends, violations] {
            out.word(*count)?;
        }
        out.all(reached, |&is_reached, out| out.flag(is_reached))
    }

    fn load(from: &mut Reader) -> io::Result<Self> {
        Ok(Self {
            states: from.word()?,
            matched: from.word()?,
            moves: from.word()?,
            max_depth: from.word()?,
            ends: from.word()?,
            violations: from.word()?,
            reached: from.all(Reader::flag)?,
        })
    }
}

impl Counted {
    pub(crate) fn new(n_edges: usize) -> Self {
        Self { reached: vec![false; n_edges], ..Self::default() }
    }

    /// Counts a move.
    #[inline]
    pub(crate) fn take(&mut self, moves: &Moves, idx: usize) {
        self.moves += 1;
        if self.reached.is_empty() {
            return;
        }
        self.reached[moves[idx].step.edge as usize] = true;
        for &edge in moves.passed(idx) {
            self.reached[edge as usize] = true;
        }
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.states += other.states;
        self.matched += other.matched;
        self.moves += other.moves;
        self.max_depth = self.max_depth.max(other.max_depth);
        self.ends += other.ends;
        self.violations += other.violations;
        for (edge, &is_reached) in other.reached.iter().enumerate() {
            self.reached[edge] |= is_reached;
        }
    }

    pub(crate) fn statistics(&self) -> Statistics {
        let mut statistics = Statistics::default();
        statistics.executions = self.ends;
        statistics.transitions = self.moves;
        statistics.states = self.states;
        statistics.states_matched = self.matched;
        statistics.max_depth = self.max_depth;
        statistics
    }

    /// All edges, and whether a move took them.
    pub(crate) fn edges(&self) -> impl Iterator<Item = (u32, bool)> {
        self.reached.iter().enumerate().map(|(edge, &is_reached)| (edge as u32, is_reached))
    }

    /// The edges that no move took.
    pub(crate) fn unreached(&self) -> impl Iterator<Item = u32> {
        self.edges().filter(|(_, is_reached)| !is_reached).map(|(edge, _)| edge)
    }
}

/// How one worker's part of a search has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// There is nothing left to do, or nothing that anybody wants.
    Done,
    /// Some paths were longer than this, and were cut.
    Cut(usize),
    /// It is time to save it; then it goes on.
    Paused,
    /// A limit was reached.
    Limit(Limit),
}

/// A way to something that is wrong: the numbers of the moves. If the last one has no fault, the
/// state that it leads to is no valid end.
pub(crate) type Path = Vec<u32>;

impl Form for Path {
    fn save(&self, out: &mut Writer) -> io::Result<()> {
        out.all(self, |&idx, out| out.word(u64::from(idx)))
    }

    fn load(from: &mut Reader) -> io::Result<Self> {
        from.all(|from| from.word().map(|word| word as u32))
    }
}

impl<T: Form> Form for Option<T> {
    fn save(&self, out: &mut Writer) -> io::Result<()> {
        out.flag(self.is_some())?;
        self.as_ref().map_or(Ok(()), |it| it.save(out))
    }

    fn load(from: &mut Reader) -> io::Result<Self> {
        from.flag()?.then(|| T::load(from)).transpose()
    }
}
