//! Who may interfere with whom, before anything runs: what is touched from each station on, and
//! which steps no other thread can disturb.
//!
//! Implements the static part of Kahlon, Gupta and Sinha, *Symbolic Model Checking of Concurrent
//! Programs Using Partial Orders and On-the-Fly Transactions* (CAV 2006), sections 3 and 4.2.
//!
//! | paper                                    | here                                        |
//! |------------------------------------------|---------------------------------------------|
//! | accesses at each control location        | [`Touches::steps`]                          |
//! | accesses at locations reachable from it  | [`Touches::futures`]                        |
//! | no lock held by T is acquired on the way | the stations that are not passed            |
//! | a transaction goes on                    | [`undisturbed`]: the step belongs to the one before |
//!
//! Differs: the paper lets no other thread move while a transaction is executed, frame by frame.
//! Where no position of any other thread could make it end, it is executed in one frame here: the
//! threads that stay where they are while one moves have no say in it. Positions that exclude each
//! other are told by the mutexes that are held there for certain, and by who was started and who
//! was joined. As with a lock that is held, a thread that would have to join the one that moves
//! cannot get further before it.

use super::memory::{Cell, TouchKind};
use super::station::StationId;
use super::{Encoder, StepId, ThreadPart};
use crate::Lit;
use std::collections::{BTreeMap, BTreeSet};

/// A byte of memory, or something else that threads wait for.
pub(crate) type Byte = (Cell, usize);

/// The bytes that are read, and those that are written.
pub(crate) type Bytes = [BTreeSet<Byte>; 2];

/// What a step does to mutexes that are known by where they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) enum Release {
    /// None is given back.
    #[default]
    Nothing,
    /// This one is.
    One(usize),
    /// One is, and it may be any.
    Any,
}

/// What a thread touches in the step from each of its stations, and where that may lead.
#[derive(Clone, Debug)]
pub(crate) struct Touches {
    /// For each station, the bytes that its step may read and may write.
    steps: Vec<Bytes>,
    next: Vec<Vec<StationId>>,
    /// The mutex without which there is no step.
    acquires: Vec<Option<usize>>,
}

impl Touches {
    pub(crate) fn of(thread: &ThreadPart) -> Self {
        let mut touches = Self { steps: Vec::new(), next: Vec::new(), acquires: Vec::new() };
        for stop in &thread.stops {
            let mut step = Bytes::default();
            for touch in stop.touches.iter().filter(|touch| touch.when != Lit::FALSE) {
                let bytes = touch.bytes.clone().map(|byte| (touch.cell, byte));
                step[usize::from(touch.is_write)].extend(bytes);
            }
            touches.steps.push(step);
            touches.next.push(stop.next.clone());
            touches.acquires.push(stop.effects.acquires);
        }
        touches
    }

    /// Whether there is no step from a station without a mutex.
    pub(crate) fn needs(&self, station: StationId, lock: usize) -> bool {
        self.acquires[station] == Some(lock)
    }

    /// For each station, the bytes that may be touched from there on, on ways through these alone.
    pub(crate) fn futures(&self, is_passable: impl Fn(StationId) -> bool) -> Vec<Bytes> {
        let all = 0..self.steps.len();
        let mut futures: Vec<Bytes> = all
            .clone()
            .map(|it| if is_passable(it) { self.steps[it].clone() } else { Bytes::default() })
            .collect();
        let mut has_changed = true;
        while has_changed {
            has_changed = false;
            for station in all.clone().rev().filter(|&it| is_passable(it)) {
                for &next in &self.next[station] {
                    for kind in [0, 1] {
                        let more: Vec<Byte> = futures[next][kind]
                            .difference(&futures[station][kind])
                            .copied()
                            .collect();
                        has_changed |= !more.is_empty();
                        futures[station][kind].extend(more);
                    }
                }
            }
        }
        futures
    }
}

/// Whether something is written on one side and touched on the other.
fn conflict(one: &Bytes, other: &Bytes) -> bool {
    let meet = |a: &BTreeSet<Byte>, b: &BTreeSet<Byte>| !a.is_disjoint(b);
    meet(&one[1], &other[0]) || meet(&one[1], &other[1]) || meet(&one[0], &other[1])
}

/// What is known of a thread whenever it is at a station.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
struct Position {
    /// The mutexes that it has for certain.
    held: BTreeSet<usize>,
    /// The threads that it may have started.
    born: BTreeSet<usize>,
    /// The threads that it has joined for certain.
    joined: BTreeSet<usize>,
}

impl Position {
    /// What is known where two ways come together.
    fn meet(&self, other: &Self) -> Self {
        Self {
            held: &self.held & &other.held,
            born: &self.born | &other.born,
            joined: &self.joined & &other.joined,
        }
    }
}

/// The steps that no other thread can disturb, wherever it is: the thread that takes the step
/// before may as well go on.
pub(super) fn undisturbed(encoder: &Encoder<'_>, touches: &[Touches]) -> BTreeSet<StepId> {
    let analysis = Analysis::new(encoder, touches);
    let mut futures = BTreeMap::new();
    let mut undisturbed = BTreeSet::new();
    for (thread, part) in encoder.parts.iter().enumerate() {
        for station in 0..part.stops.len() {
            let Some(position) = &analysis.positions[thread][station] else { continue };
            let is_alone = part.stops[station].next.iter().any(|&it| part.stops[it].is_alone);
            let others = (0..encoder.parts.len()).filter(|&other| other != thread);
            let mut others = others.filter(|other| !position.joined.contains(other));
            let is_disturbed = others.any(|other| {
                let key = (other, thread, position.held.clone());
                let futures = futures
                    .entry(key)
                    .or_insert_with(|| analysis.futures(other, thread, &position.held));
                analysis.disturbs(other, futures, thread, station, position)
            });
            if !is_alone && !is_disturbed {
                undisturbed.insert((thread, station));
            }
        }
    }
    undisturbed
}

struct Analysis<'a> {
    encoder: &'a Encoder<'a>,
    touches: &'a [Touches],
    /// For each thread and each station, what is known there; nothing where it is unreachable.
    positions: Vec<Vec<Option<Position>>>,
}

impl<'a> Analysis<'a> {
    fn new(encoder: &'a Encoder<'a>, touches: &'a [Touches]) -> Self {
        let mut analysis = Self { encoder, touches, positions: Vec::new() };
        analysis.positions =
            (0..encoder.parts.len()).map(|thread| analysis.positions_of(thread)).collect();
        let good: BTreeSet<usize> =
            (0..encoder.locks.len()).filter(|&lock| analysis.is_only_locked(lock)).collect();
        for position in analysis.positions.iter_mut().flatten().flatten() {
            position.held = &position.held & &good;
        }
        analysis
    }

    fn positions_of(&self, thread: usize) -> Vec<Option<Position>> {
        let stops = &self.encoder.parts[thread].stops;
        let mut positions: Vec<Option<Position>> = vec![None; stops.len()];
        let mut to_visit: Vec<StationId> = self.encoder.first_stations(thread);
        for &first in &to_visit {
            positions[first] = Some(Position::default());
        }
        while let Some(station) = to_visit.pop() {
            let Some(position) = &positions[station] else { continue };
            let after = self.after(thread, station, position.clone());
            for &next in &stops[station].next {
                let met = positions[next].as_ref().map_or(after.clone(), |it| it.meet(&after));
                if positions[next].as_ref() != Some(&met) {
                    positions[next] = Some(met);
                    to_visit.push(next);
                }
            }
        }
        positions
    }

    /// What is known after a step.
    fn after(&self, thread: usize, station: StationId, mut position: Position) -> Position {
        let stop = &self.encoder.parts[thread].stops[station];
        position.held.extend(stop.effects.acquires);
        match stop.effects.releases {
            Release::Nothing => {}
            Release::One(lock) => {
                position.held.remove(&lock);
            }
            Release::Any => position.held.clear(),
        }
        position.held.retain(|&lock| !self.writes_over(thread, station, lock));
        position.born.extend(stop.gate.started());
        position.joined.extend(stop.effects.joins);
        position
    }

    /// Whether a step changes a mutex in another way than by taking it and giving it back.
    fn writes_over(&self, thread: usize, station: StationId, lock: usize) -> bool {
        let (object, byte) = self.encoder.locks[lock];
        self.encoder.parts[thread].stops[station].touches.iter().any(|touch| {
            touch.cell == Cell::Object(object)
                && touch.bytes.contains(&byte)
                && touch.is_write
                && touch.kind != TouchKind::Lock
        })
    }

    /// Whether a mutex is changed in another way at most while there is one thread.
    fn is_only_locked(&self, lock: usize) -> bool {
        let is_only = self.encoder.known.program.processes.len() == 1;
        self.positions.iter().enumerate().all(|(thread, positions)| {
            positions.iter().enumerate().all(|(station, position)| match position {
                Some(position) if self.writes_over(thread, station, lock) => {
                    is_only && thread == 0 && position.born.is_empty()
                }
                _ => true,
            })
        })
    }

    /// What a thread may touch from each station on before another one moves that holds these.
    fn futures(&self, thread: usize, mover: usize, held: &BTreeSet<usize>) -> Vec<Bytes> {
        let stops = &self.encoder.parts[thread].stops;
        self.touches[thread].futures(|station| {
            let waits = stops[station].effects.acquires.is_some_and(|lock| held.contains(&lock));
            !waits && stops[station].effects.joins != Some(mover)
        })
    }

    /// Whether a thread may do something, anywhere it can be, that matters to the step of another
    /// one.
    fn disturbs(
        &self,
        thread: usize,
        futures: &[Bytes],
        mover: usize,
        station: StationId,
        of_mover: &Position,
    ) -> bool {
        let step = &self.touches[mover].steps[station];
        let is_child = |child: usize, parent: usize| {
            self.encoder.threads[child].parent.is_some_and(|(it, _)| it == parent)
        };
        let is_own_child = is_child(thread, mover);
        if is_own_child && !of_mover.born.contains(&thread) {
            return false;
        }
        self.positions[thread].iter().enumerate().any(|(at, position)| {
            let Some(position) = position else {
                // No thread has started it: that takes its parent.
                return at == super::UNBORN && !is_own_child && conflict(step, &futures[at]);
            };
            let is_before_or_after = is_child(mover, thread)
                && (!position.born.contains(&mover) || position.joined.contains(&mover));
            !is_before_or_after
                && position.held.is_disjoint(&of_mover.held)
                && conflict(step, &futures[at])
        })
    }
}
