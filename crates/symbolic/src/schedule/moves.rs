//! What each thread would do in a frame, as far as the order of steps is concerned.
//!
//! Memory is cells, and a step touches some of them. In a circuit that is a literal for each cell
//! and thread, so that `a[i]` and `a[j]` are independent in the frames in which `i` and `j` differ.
//! What may enable or disable a step is touched by it: a lock that it takes, a variable in its
//! guard.

use crate::encode::{Cell, ThreadPart};
use crate::{Aig, Circuit, Encoding, Lit};
use std::collections::{BTreeMap, BTreeSet};

/// The next step of a thread, in every frame.
#[derive(Clone, Debug)]
pub struct Move {
    /// Whether the thread takes the step of the frame. No two do.
    pub executes: Lit,
    /// What its next step touches, whether it is taken or not.
    pub touches: Vec<CellTouch>,
}

/// What a step does to a cell.
#[derive(Clone, Copy, Debug)]
pub struct CellTouch {
    /// Which cell. Cells have any numbers.
    pub cell: usize,
    /// In which frames it is touched.
    pub when: Lit,
    /// Whether the cell is changed, or only looked at.
    pub is_write: bool,
}

/// Who touches something, when, and whether to change it.
type Touching = (usize, Lit, bool);

impl Move {
    /// The moves of the threads of a program. Bytes that are always touched together are one cell.
    pub fn of_threads(encoding: &mut Encoding) -> Vec<Self> {
        let Encoding { circuit, threads, .. } = encoding;
        let mut bytes: BTreeMap<(Option<Cell>, usize), Vec<Touching>> = BTreeMap::new();
        let mut touch = |cell, byte, it| bytes.entry((cell, byte)).or_default().push(it);
        for (number, thread) in threads.iter().enumerate() {
            for stop in &thread.stops {
                for it in &stop.touches {
                    let when = circuit.aig.and(stop.is_here, it.when);
                    let touched = (number, when, it.is_write);
                    it.bytes.clone().for_each(|byte| touch(Some(it.cell), byte, touched));
                }
                // Whatever a thread does comes after its birth.
                touch(Some(Cell::Born(number)), 0, (number, stop.is_here, false));
                // A step that keeps all others waiting interferes with all of them.
                let is_alone =
                    stop.is_alone || stop.next.iter().any(|&it| thread.stops[it].is_alone);
                touch(None, 0, (number, stop.is_here, is_alone));
            }
        }
        let cells: BTreeSet<_> = bytes.into_values().collect();
        let mut moves: Vec<_> = threads.iter().map(Self::without_touches).collect();
        for (cell, touched) in cells.into_iter().enumerate() {
            for (number, when, is_write) in touched {
                moves[number].touches.push(CellTouch { cell, when, is_write });
            }
        }
        moves
    }

    fn without_touches(thread: &ThreadPart) -> Self {
        Self { executes: thread.executes, touches: Vec::new() }
    }
}

/// What a step does to the cells that others touch, too.
#[derive(Clone, Debug, Default)]
pub(super) struct Footprint(BTreeMap<usize, Touched>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Touched {
    is_touched: Lit,
    is_written: Lit,
}

impl Touched {
    const NOT: Self = Self { is_touched: Lit::FALSE, is_written: Lit::FALSE };

    /// Both literals changed alike. Where they are the same, they stay the same.
    fn map(self, mut change: impl FnMut(Lit) -> Lit) -> Self {
        let is_touched = change(self.is_touched);
        match self.is_written {
            written if written == self.is_touched => Self { is_touched, is_written: is_touched },
            written => Self { is_touched, is_written: change(written) },
        }
    }
}

impl Footprint {
    /// The footprints of all threads, without cells that no two of them are in conflict about.
    pub(super) fn of(aig: &mut Aig, moves: &[Move]) -> Vec<Self> {
        let mut all: Vec<Self> = moves.iter().map(|it| Self::of_touches(aig, it)).collect();
        let kept: Vec<Vec<usize>> = (0..all.len())
            .map(|own| {
                let cells = all[own].0.iter();
                let cells = cells.filter(|&(cell, touched)| {
                    let others = all.iter().enumerate().filter(|&(other, _)| other != own);
                    let mut others = others.filter_map(|(_, it)| it.0.get(cell));
                    others
                        .any(|other| [other, touched].iter().any(|it| it.is_written != Lit::FALSE))
                });
                cells.map(|(&cell, _)| cell).collect()
            })
            .collect();
        for (footprint, kept) in all.iter_mut().zip(kept) {
            footprint.0.retain(|cell, _| kept.contains(cell));
        }
        all
    }

    fn of_touches(aig: &mut Aig, it: &Move) -> Self {
        let mut cells: BTreeMap<usize, Touched> = BTreeMap::new();
        for &CellTouch { cell, when, is_write } in &it.touches {
            let touched = cells.entry(cell).or_insert(Touched::NOT);
            touched.is_touched = aig.or(touched.is_touched, when);
            if is_write {
                touched.is_written = aig.or(touched.is_written, when);
            }
        }
        cells.retain(|_, touched| touched.is_touched != Lit::FALSE);
        Self(cells)
    }

    /// Whether two steps touch a cell that one of them writes.
    pub(super) fn conflicts(&self, other: &Self, aig: &mut Aig) -> Lit {
        let mut conflicts = Vec::new();
        for (cell, mine) in &self.0 {
            let Some(theirs) = other.0.get(cell) else { continue };
            conflicts.push(aig.and(mine.is_written, theirs.is_touched));
            conflicts.push(aig.and(mine.is_touched, theirs.is_written));
        }
        aig.any(conflicts)
    }

    /// What one of these threads does that executes; nothing if none does.
    pub(super) fn taken(aig: &mut Aig, moves: &[Move], footprints: &[Self]) -> Self {
        let mut taken: BTreeMap<usize, Touched> = BTreeMap::new();
        for (it, footprint) in moves.iter().zip(footprints) {
            for (&cell, touched) in &footprint.0 {
                let gated = touched.map(|lit| aig.and(it.executes, lit));
                let known = taken.entry(cell).or_insert(Touched::NOT);
                let is_same =
                    known.is_touched == known.is_written && gated.is_touched == gated.is_written;
                known.is_touched = aig.or(known.is_touched, gated.is_touched);
                known.is_written = match is_same {
                    true => known.is_touched,
                    false => aig.or(known.is_written, gated.is_written),
                };
            }
        }
        Self(taken)
    }

    /// What this was in the frame before, if that counted; else what it remembered then.
    pub(super) fn remembered(&self, circuit: &mut Circuit, name: &str, counts: Lit) -> Self {
        let latch = |(&cell, touched): (&usize, &Touched)| {
            let touched = touched.map(|lit| {
                let latch = circuit.latch(format!("{name}.{cell}"), Some(false));
                let next = circuit.aig.ite(counts, lit, latch);
                circuit.set_next(latch, next);
                latch
            });
            (cell, touched)
        };
        Self(self.0.iter().map(latch).collect())
    }
}

/// Lets a thread move only in frames in which `may` of it is true.
///
/// A frame counts if the steps that led to it were allowed. Its own step may be any: executions
/// that are allowed may lead to a state from which no step is, and what is wrong there has to be
/// found.
pub(super) fn allow(circuit: &mut Circuit, moves: &[Move], may: &[Lit]) {
    let aig = &mut circuit.aig;
    let allowed: Vec<_> =
        moves.iter().zip(may).map(|(it, &may)| aig.implies(it.executes, may)).collect();
    let allowed = aig.all(allowed);
    let was_allowed = circuit.latch("schedule.was_allowed", Some(true));
    circuit.set_next(was_allowed, allowed);
    circuit.constrain_optionally(was_allowed);
}
