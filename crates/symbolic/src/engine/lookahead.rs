//! Lookahead: one query for a bad state at any of many depths.
//!
//! That nothing bad happens in a few steps less than it takes can be hard to prove: there is not
//! enough time for what has to be done, and proofs that count are long. With a few steps more there
//! are many executions that show it, and one of them is found soon. So a search that is stuck at a
//! depth looks at later ones, with a solver for each look, and tries to come back with fewer steps
//! than it has found at first.

use super::{Statistics, Watch};
use crate::solver::{Encoder, Solver, Start, Unrolling};
use crate::{Circuit, Lit, Witness};
use mazurka_core::Limit;
use std::ops::RangeInclusive;

/// A search is stuck once it has spent so many conflicts on a depth.
const STUCK: u64 = 20_000;

/// A look takes so many times fewer conflicts than the search has spent on the depth.
const SHARE: u64 = 2;

/// The first look goes at least so many steps further.
const NEAR: usize = 16;

/// What was seen.
pub(super) enum Seen {
    /// An execution that ends in a bad state. There may be a shorter one.
    Bad(Witness),
    /// Nothing bad happens, in so many steps.
    Nothing(usize),
    /// It took too long.
    TooFar,
}

/// Looks further and further.
pub(super) struct Ahead<'a> {
    circuit: &'a Circuit,
    watch: Watch,
    /// The next look is due once so much was spent on a depth.
    due: u64,
    /// How many steps further it goes.
    distance: usize,
    /// What it has cost.
    pub(super) statistics: Statistics,
}

impl<'a> Ahead<'a> {
    pub(super) fn new(circuit: &'a Circuit, watch: &Watch) -> Self {
        let (watch, statistics) = (watch.clone(), Statistics::default());
        Self { circuit, watch, due: STUCK, distance: NEAR, statistics }
    }

    /// How many conflicts may go by before the next look, after so many at this depth.
    pub(super) fn patience(&self, spent: u64) -> u64 {
        match self.watch.is_in_order() {
            true => u64::MAX,
            false => self.due.saturating_sub(spent),
        }
    }

    /// A new depth: no engine is stuck.
    pub(super) fn calm_down(&mut self) {
        self.due = STUCK;
    }

    /// Looks for executions of so many steps, and more.
    pub(super) fn look(&mut self, depth: usize) -> Result<Seen, Limit> {
        let conflicts = self.due / SHARE;
        self.due *= 2;
        let last = (depth + self.distance.max(depth)).min(self.watch.depth());
        self.distance = 2 * self.distance.max(depth);
        match self.look_at(depth..=last, conflicts)? {
            Seen::Bad(witness) => self.shorten(depth, witness, conflicts / SHARE).map(Seen::Bad),
            other => Ok(other),
        }
    }

    /// Looks for an execution with fewer steps, again and again half of those that may be too many.
    fn shorten(
        &mut self,
        depth: usize,
        mut witness: Witness,
        conflicts: u64,
    ) -> Result<Witness, Limit> {
        let mut least = depth;
        while least < witness.depth() {
            let middle = usize::midpoint(least, witness.depth() - 1);
            match self.look_at(depth..=middle, conflicts)? {
                Seen::Bad(shorter) => witness = shorter,
                Seen::Nothing(_) | Seen::TooFar => least = middle + 1,
            }
        }
        Ok(witness)
    }

    fn look_at(&mut self, depths: RangeInclusive<usize>, conflicts: u64) -> Result<Seen, Limit> {
        let last = *depths.end();
        let mut unrolling = Unrolling::new(self.circuit, Start::Initial);
        let mut counts = unrolling.constraint(0);
        let mut bads = Vec::new();
        for depth in 0..=last {
            if depth > 0 {
                unrolling.extend();
                let constraint = unrolling.constraint(depth);
                counts = unrolling.aig.and(counts, constraint);
            }
            if depths.contains(&depth) {
                let bad = unrolling.bad(depth);
                bads.push(unrolling.aig.and(counts, bad));
            }
        }
        let any = unrolling.aig.any(bads.iter().copied());
        let (mut encoder, mut solver) = (Encoder::default(), Solver::new(&self.watch));
        let any = encoder.lit(&unrolling.aig, any, &mut solver);
        let answer = solver.solve_within(&[any], conflicts);
        self.statistics.add(&solver.statistics());
        Ok(match answer? {
            None => Seen::TooFar,
            Some(false) => Seen::Nothing(last),
            Some(true) => {
                let value = |lit| encoder.known(lit).is_some_and(|lit| solver.value(lit));
                let values = unrolling.aig.simulate(|node| value(Lit::new(node, false)).into());
                let first = bads.iter().position(|&bad| values.value(bad));
                let depth = depths.start() + first.expect("something bad happens");
                Seen::Bad(unrolling.witness(depth + 1, |_| true, value))
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Word;
    use crate::engine::Limits;

    /// A number that grows by one or stays, and is bad from 11 on.
    fn counter() -> Circuit {
        let mut circuit = Circuit::new();
        let go = circuit.input("go");
        let bits: Vec<_> = (0..4).map(|idx| circuit.latch(format!("{idx}"), Some(false))).collect();
        let number = Word::from(bits);
        let more = circuit.aig.add(&number, &Word::constant(4, 1));
        let next = circuit.aig.mux(go, &more, &number);
        for (&bit, &next) in number.bits().iter().zip(next.bits()) {
            circuit.set_next(bit, next);
        }
        let bad = circuit.aig.equals_number(&number, 11);
        circuit.bad(bad, "eleven");
        circuit
    }

    #[test]
    fn what_is_seen_is_the_shortest_if_there_is_time() {
        let circuit = counter();
        let mut ahead = Ahead::new(&circuit, &Watch::new(&Limits::default()));
        let Ok(Seen::Bad(witness)) = ahead.look(3) else { panic!("16 steps are enough") };
        assert_eq!(witness.depth(), 11);
        circuit.simulate(&witness).expect("an execution");
    }

    #[test]
    fn looks_go_further_and_further_up_to_the_limit() {
        let mut circuit = counter();
        circuit.bads.clear();
        circuit.bad(Lit::FALSE, "never");
        let limits = Limits { depth: Some(50), ..Limits::default() };
        let mut ahead = Ahead::new(&circuit, &Watch::new(&limits));
        let mut seen = |depth| match ahead.look(depth) {
            Ok(Seen::Nothing(last)) => last,
            _ => panic!("nothing is bad"),
        };
        assert_eq!([seen(3), seen(4), seen(5)], [19, 36, 50]);
    }

    #[test]
    fn nobody_looks_ahead_who_has_to_go_in_order() {
        let circuit = counter();
        for (in_order, expected) in [(false, STUCK - 5), (true, u64::MAX)] {
            let limits = Limits { in_order, ..Limits::default() };
            let ahead = Ahead::new(&circuit, &Watch::new(&limits));
            assert_eq!(ahead.patience(5), expected);
        }
    }
}
