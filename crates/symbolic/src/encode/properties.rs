//! What is looked for in every state: that nobody can move, and data races.

use super::Encoder;
use super::graph::{ENDED, STUCK, StopKind, UNBORN};
use super::memory::{Cell, ObjectId, TouchKind};
use crate::Lit;
use mazurka_model::{Access, Action};
use std::collections::BTreeMap;

impl Encoder<'_> {
    /// Nobody can move, and somebody waits who is not excused.
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

    /// Two threads are about to access the same bytes, both plainly, and not both to read.
    pub(super) fn races(&mut self) -> Vec<Lit> {
        let now: Vec<_> = (0..self.threads.len()).map(|it| self.plain_now(it)).collect();
        let mut races = Vec::new();
        for (first, of_first) in now.iter().enumerate() {
            for of_second in &now[first + 1..] {
                for (byte, [reads, writes]) in of_first {
                    let Some([other_reads, other_writes]) = of_second.get(byte) else { continue };
                    let aig = &mut self.circuit.aig;
                    let other = aig.or(*other_reads, *other_writes);
                    let both = aig.and(*writes, other);
                    let one = aig.and(*reads, *other_writes);
                    races.push(aig.or(both, one));
                }
            }
        }
        races.sort_unstable();
        races.dedup();
        races
    }

    /// For each byte, whether a thread is about to read it plainly, and whether to write it.
    fn plain_now(&mut self, thread: usize) -> BTreeMap<(ObjectId, usize), [Lit; 2]> {
        let mut now: BTreeMap<(ObjectId, usize), [Vec<Lit>; 2]> = BTreeMap::new();
        let program = self.known.program;
        let threads = self.threads;
        let it = &threads[thread];
        for station in 0..self.stations.count(thread) {
            let stop = self.stations.get(thread, station).stop;
            let StopKind::Edge { point, edge, .. } = it.stops[stop].kind else { continue };
            let is_plain = match &it.edges(program, point)[edge].action {
                Action::Load { access, .. } | Action::Store { access, .. } => {
                    *access == Access::Plain
                }
                Action::Copy { .. } | Action::Fill { .. } => true,
                _ => false,
            };
            if !is_plain {
                continue;
            }
            let part = &self.parts[thread].stops[station];
            let (is_here, touches) = (part.is_here, part.touches.clone());
            for touch in touches.into_iter().filter(|touch| touch.kind != TouchKind::Frame) {
                let when = self.circuit.aig.and(is_here, touch.when);
                let Cell::Object(object) = touch.cell else { continue };
                for byte in touch.bytes {
                    let entry = now.entry((object, byte)).or_default();
                    entry[usize::from(touch.is_write)].push(when);
                }
            }
        }
        let aig = &mut self.circuit.aig;
        now.into_iter().map(|(byte, lits)| (byte, lits.map(|lits| aig.any(lits)))).collect()
    }
}
