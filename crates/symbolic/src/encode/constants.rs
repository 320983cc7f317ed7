//! Constant latches: bits that never change, and so narrower variables.
//!
//! Three-valued simulation from the initial state on: inputs may be anything, and so may every
//! latch that was seen with both values. What is left has its initial value in every state that can
//! be reached. A circuit that is made again with these constants has fewer cases to tell apart, and
//! so more constants.

use super::state::VarId;
use super::{Constants, Encoder};
use crate::{Lit, Node};

/// Not known.
const ANY: u8 = 2;

impl Encoder<'_> {
    /// For each variable, its bits that never change; and, of the bits that were made constants,
    /// those that do change. `steady` has the next values of these.
    pub(super) fn constants(
        &self,
        steady: &[((VarId, usize), Lit)],
    ) -> (Constants, Vec<(VarId, usize)>) {
        let aig = &self.circuit.aig;
        let mut latches: Vec<u8> =
            self.circuit.latches.iter().map(|latch| latch.init.map_or(ANY, u8::from)).collect();
        let mut values = vec![0_u8; aig.n_nodes()];
        loop {
            let mut number = 0;
            for (idx, node) in aig.nodes().enumerate() {
                values[idx] = match node {
                    Node::False => 0,
                    Node::Input => ANY,
                    Node::Latch => {
                        number += 1;
                        latches[number - 1]
                    }
                    Node::And(left, right) => and(value(&values, left), value(&values, right)),
                };
            }
            let mut has_changed = false;
            for (latch, known) in self.circuit.latches.iter().zip(&mut latches) {
                let next = value(&values, latch.next());
                if *known != ANY && *known != next {
                    *known = ANY;
                    has_changed = true;
                }
            }
            if !has_changed {
                break;
            }
        }
        let changes = |&((variable, bit), next): &((VarId, usize), Lit)| {
            let constant = self.variables.word(variable).bits()[bit].constant();
            (Some(value(&values, next) == 1) != constant || value(&values, next) == ANY)
                .then_some((variable, bit))
        };
        let changing = steady.iter().filter_map(changes).collect();
        let known = |lit: Lit| match lit.constant() {
            Some(value) => Some(value),
            None => {
                let idx = self.circuit.latch_idx(lit).expect("variables are latches");
                (latches[idx] != ANY).then_some(latches[idx] == 1)
            }
        };
        // The numbers of stations may be others the next time.
        let known = |it: usize, bit| if self.pcs.contains(&it) { None } else { known(bit) };
        let all = 0..self.variables.len();
        let constants = all
            .map(|it| self.variables.word(it).bits().iter().map(|&bit| known(it, bit)).collect());
        (constants.collect(), changing)
    }
}

fn value(values: &[u8], lit: Lit) -> u8 {
    match values[lit.node()] {
        ANY => ANY,
        value => value ^ u8::from(lit.is_negated()),
    }
}

fn and(left: u8, right: u8) -> u8 {
    match (left, right) {
        (0, _) | (_, 0) => 0,
        (1, 1) => 1,
        _ => ANY,
    }
}
