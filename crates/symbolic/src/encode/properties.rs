//! What is looked for in every state: that no thread can move, and data races.

use super::Encoder;
use super::graph::{ENDED, STUCK, StopKind, UNBORN};
use super::memory::{Cell, ObjectId, TouchKind};
use crate::Lit;
use mazurka_model::{Access, Action};
use std::collections::BTreeMap;

impl Encoder<'_> {
    /// No thread can move, and one waits that is not excused.
    pub(super) fn deadlock(&mut self) -> Lit {
        let mut waits = Vec::new();
        let mut moves = Vec::new();
        for number in 0..self.threads.len() {
            let is_out: Vec<Lit> =
                [UNBORN, ENDED, STUCK].map(|stop| self.parts[number].stops[stop].is_here).to_vec();
            waits.push(!self.circuit.aig.any(is_out));
            moves.push(self.parts[number].is_enabled);
        }
        let excused = self.variables.word(self.excused).bits()[0];
        let n_excused = self.variables.word(self.n_excused).clone();
        let aig = &mut self.circuit.aig;
        let is_excused = aig.is_nonzero(&n_excused);
        let (waits, moves) = (aig.any(waits), aig.any(moves));
        aig.all([waits, !moves, !excused, !is_excused])
    }

    /// Two threads are about to access the same byte, not both to read it and not both by atomic
    /// operations.
    pub(super) fn races(&mut self) -> Vec<Lit> {
        let now: Vec<_> = (0..self.threads.len()).map(|it| self.accesses_now(it)).collect();
        let mut races = Vec::new();
        for (first, of_first) in now.iter().enumerate() {
            for of_second in &now[first + 1..] {
                for (byte, one) in of_first {
                    let Some(other) = of_second.get(byte) else { continue };
                    let pairs = [
                        (one.plain, other.plain),
                        (one.plain, other.atomic),
                        (one.atomic, other.plain),
                    ];
                    for ([reads, writes], [other_reads, other_writes]) in pairs {
                        let aig = &mut self.circuit.aig;
                        let other = aig.or(other_reads, other_writes);
                        let both = aig.and(writes, other);
                        let one = aig.and(reads, other_writes);
                        races.push(aig.or(both, one));
                    }
                }
            }
        }
        races.sort_unstable();
        races.dedup();
        races
    }

    /// How a thread is about to access each byte.
    fn accesses_now(&mut self, thread: usize) -> BTreeMap<(ObjectId, usize), Accesses> {
        let mut now: BTreeMap<(ObjectId, usize), [Vec<Lit>; 4]> = BTreeMap::new();
        let program = self.known.program;
        let threads = self.threads;
        let it = &threads[thread];
        for station in 0..self.stations.count(thread) {
            let stop = self.stations.get(thread, station).stop;
            let action = match it.stops[stop].kind {
                StopKind::Edge { point, edge, .. } => &it.edges(program, point)[edge].action,
                // In the midst of an atomic block.
                StopKind::Head(point) if point.n_atomic > 0 => &Action::AtomicBegin,
                _ => continue,
            };
            let is_plain = match action {
                Action::Load { access, .. } | Action::Store { access, .. } => {
                    *access == Access::Plain
                }
                Action::Copy { .. } | Action::Fill { .. } => true,
                Action::Modify { .. }
                | Action::CompareExchange { .. }
                | Action::Await { .. }
                | Action::AtomicBegin => false,
                _ => continue,
            };
            let part = &self.parts[thread].stops[station];
            let (is_here, is_open) = (part.is_here, part.gate.is_open);
            let touches = part.touches.clone();
            for touch in touches.into_iter().filter(|touch| touch.kind != TouchKind::Frame) {
                let when = self.circuit.aig.all([is_here, is_open, touch.when]);
                let Cell::Object(object) = touch.cell else { continue };
                for byte in touch.bytes {
                    let entry = now.entry((object, byte)).or_default();
                    entry[2 * usize::from(!is_plain) + usize::from(touch.is_write)].push(when);
                }
            }
        }
        let aig = &mut self.circuit.aig;
        let mut accesses = |lits: [Vec<Lit>; 4]| {
            let [reads, writes, atomic_reads, atomic_writes] = lits.map(|lits| aig.any(lits));
            Accesses { plain: [reads, writes], atomic: [atomic_reads, atomic_writes] }
        };
        now.into_iter().map(|(byte, lits)| (byte, accesses(lits))).collect()
    }
}

/// Whether a thread is about to read a byte, and whether to write it.
struct Accesses {
    plain: [Lit; 2],
    /// By an atomic operation.
    atomic: [Lit; 2],
}
