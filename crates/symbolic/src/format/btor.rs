//! BTOR2: writes circuits for checkers of words, with all words one bit wide.
//!
//! Format: Niemetz, Preiner, Wolf and Biere, *BTOR2, BtorMC and Boolector 3.0* (CAV 2018).

use crate::{Circuit, Lit, Node};
use std::io::{self, Write};

impl Circuit {
    /// Writes the circuit in the format BTOR2. Every input and latch is a word of one bit.
    pub fn write_btor2(&self, to: &mut impl Write) -> io::Result<()> {
        let mut lines = Lines { to, n_lines: 0, numbers: vec![0; self.aig.n_nodes()] };
        let sort = lines.write("sort bitvec 1")?;
        let zero = lines.write(&format!("zero {sort}"))?;
        let one = lines.write(&format!("one {sort}"))?;
        lines.numbers[0] = zero;
        for input in &self.inputs {
            let line = format!("input {sort} {}", symbol(&input.name));
            lines.numbers[input.lit.node()] = lines.write(&line)?;
        }
        for latch in &self.latches {
            let state = lines.write(&format!("state {sort} {}", symbol(&latch.name)))?;
            lines.numbers[latch.lit.node()] = state;
            if let Some(value) = latch.init {
                lines.write(&format!("init {sort} {state} {}", if value { one } else { zero }))?;
            }
        }
        for (node, kind) in self.aig.nodes().enumerate() {
            if let Node::And(left, right) = kind {
                let (left, right) = (lines.signed(left), lines.signed(right));
                lines.numbers[node] = lines.write(&format!("and {sort} {left} {right}"))?;
            }
        }
        for latch in &self.latches {
            let (state, next) = (lines.signed(latch.lit), lines.signed(latch.next()));
            lines.write(&format!("next {sort} {state} {next}"))?;
        }
        self.write_properties_btor2(&mut lines)
    }

    fn write_properties_btor2(&self, lines: &mut Lines<'_, impl Write>) -> io::Result<()> {
        for &constraint in &self.constraints {
            let lit = lines.signed(constraint);
            lines.write(&format!("constraint {lit}"))?;
        }
        for bad in &self.bads {
            let lit = lines.signed(bad.lit);
            lines.write(&format!("bad {lit} {}", symbol(&bad.name)))?;
        }
        for &fair in &self.fairness {
            let lit = lines.signed(fair);
            lines.write(&format!("fair {lit}"))?;
        }
        for justice in &self.justice {
            let lits: Vec<_> = justice.iter().map(|&lit| lines.signed(lit).to_string()).collect();
            lines.write(&format!("justice {} {}", lits.len(), lits.join(" ")))?;
        }
        Ok(())
    }
}

/// A symbol is one word, and does not begin a comment.
fn symbol(name: &str) -> String {
    name.chars().map(|c| if c.is_whitespace() || c == ';' { '_' } else { c }).collect()
}

struct Lines<'a, W> {
    to: &'a mut W,
    n_lines: i64,
    /// For each node, its line.
    numbers: Vec<i64>,
}

impl<W: Write> Lines<'_, W> {
    /// Writes a line and returns its number.
    fn write(&mut self, line: &str) -> io::Result<i64> {
        self.n_lines += 1;
        writeln!(self.to, "{} {line}", self.n_lines)?;
        Ok(self.n_lines)
    }

    /// The line of a literal, with a minus if it is negated.
    fn signed(&self, lit: Lit) -> i64 {
        let number = self.numbers[lit.node()];
        if lit.is_negated() { -number } else { number }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_is_that_of_the_format() {
        let mut circuit = Circuit::new();
        let go = circuit.input("go on");
        let [x, y] = [Some(false), None].map(|init| circuit.latch("x", init));
        let next = circuit.aig.and(!go, x);
        circuit.set_next(x, next);
        circuit.set_next(y, !y);
        circuit.bad(!next, "b");
        circuit.constrain(Lit::TRUE);
        circuit.justice.push(vec![x, y]);
        let mut text = Vec::new();
        circuit.write_btor2(&mut text).expect("memory can be written");
        assert_eq!(
            String::from_utf8(text).expect("it is text"),
            "1 sort bitvec 1\n2 zero 1\n3 one 1\n4 input 1 go_on\n5 state 1 x\n6 init 1 5 2\n\
             7 state 1 x\n8 and 1 -4 5\n9 next 1 5 8\n10 next 1 7 -7\n11 constraint -2\n12 bad -8 b\n\
             13 justice 2 5 7\n"
        );
    }
}
