//! AIGER 1.9: writes and reads circuits, as text and in the binary form.
//!
//! Format: Biere, Heljanko and Wieringa, *AIGER 1.9 And Beyond* (2011).

use crate::{Aig, Circuit, Lit, Node};
use rustc_hash::FxHashSet;
use std::io::{self, Write};
use std::str::{self, FromStr};
use thiserror::Error;

/// Why a file is no circuit.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{what} on line {line}")]
pub struct AigerError {
    /// What is wrong.
    pub what: &'static str,
    /// Where, in a binary file within its text.
    pub line: usize,
}

impl Circuit {
    /// Writes the circuit as text (`.aag`).
    pub fn write_aag(&self, to: &mut impl Write) -> io::Result<()> {
        let numbers = Numbers::new(self);
        self.write_header("aag", &numbers, to)?;
        for input in &self.inputs {
            writeln!(to, "{}", numbers.code(input.lit))?;
        }
        for latch in &self.latches {
            write!(to, "{} ", numbers.code(latch.lit))?;
            self.write_latch(latch, &numbers, to)?;
        }
        self.write_properties(&numbers, to)?;
        for (number, [left, right]) in numbers.ands(&self.aig) {
            writeln!(to, "{} {left} {right}", 2 * number)?;
        }
        self.write_symbols(to)
    }

    /// Writes the circuit in the binary form (`.aig`).
    pub fn write_aig(&self, to: &mut impl Write) -> io::Result<()> {
        let numbers = Numbers::new(self);
        self.write_header("aig", &numbers, to)?;
        for latch in &self.latches {
            self.write_latch(latch, &numbers, to)?;
        }
        self.write_properties(&numbers, to)?;
        for (number, [left, right]) in numbers.ands(&self.aig) {
            write_delta(2 * number - left, to)?;
            write_delta(left - right, to)?;
        }
        self.write_symbols(to)
    }

    /// Reads a circuit in either form. Outputs are bad states if there are no others. Conjunctions
    /// have to be defined before they are used.
    pub fn read_aiger(bytes: &[u8]) -> Result<Self, AigerError> {
        Reader { bytes, at: 0, line: 0 }.circuit()
    }

    fn write_header(&self, kind: &str, numbers: &Numbers, to: &mut impl Write) -> io::Result<()> {
        let (n_inputs, n_latches, n_ands) = (self.inputs.len(), self.latches.len(), numbers.n_ands);
        let (n_bads, n_constraints) = (self.bads.len(), self.constraints.len());
        let (n_justice, n_fair) = (self.justice.len(), self.fairness.len());
        let most = n_inputs + n_latches + n_ands;
        write!(to, "{kind} {most} {n_inputs} {n_latches} 0 {n_ands}")?;
        writeln!(to, " {n_bads} {n_constraints} {n_justice} {n_fair}")
    }

    fn write_latch(
        &self,
        latch: &crate::Latch,
        numbers: &Numbers,
        to: &mut impl Write,
    ) -> io::Result<()> {
        let next = numbers.code(latch.next());
        match latch.init {
            Some(false) => writeln!(to, "{next}"),
            Some(true) => writeln!(to, "{next} 1"),
            None => writeln!(to, "{next} {}", numbers.code(latch.lit)),
        }
    }

    fn write_properties(&self, numbers: &Numbers, to: &mut impl Write) -> io::Result<()> {
        for bad in &self.bads {
            writeln!(to, "{}", numbers.code(bad.lit))?;
        }
        for &constraint in &self.constraints {
            writeln!(to, "{}", numbers.code(constraint))?;
        }
        for justice in &self.justice {
            writeln!(to, "{}", justice.len())?;
        }
        for &lit in self.justice.iter().flatten().chain(&self.fairness) {
            writeln!(to, "{}", numbers.code(lit))?;
        }
        Ok(())
    }

    fn write_symbols(&self, to: &mut impl Write) -> io::Result<()> {
        let inputs = self.inputs.iter().map(|input| &input.name);
        let latches = self.latches.iter().map(|latch| &latch.name);
        let bads = self.bads.iter().map(|bad| &bad.name);
        let inputs = inputs.enumerate().map(|(idx, name)| ('i', idx, name));
        let latches = latches.enumerate().map(|(idx, name)| ('l', idx, name));
        let bads = bads.enumerate().map(|(idx, name)| ('b', idx, name));
        // Some readers refuse a file in which two things have the same name.
        let mut known = FxHashSet::default();
        for (kind, idx, name) in inputs.chain(latches).chain(bads) {
            let mut name = name.replace(['\n', '\r'], " ");
            while !known.insert(name.clone()) {
                name = format!("{name} {kind}{idx}");
            }
            writeln!(to, "{kind}{idx} {name}")?;
        }
        Ok(())
    }
}

/// The variables of a file: inputs first, then latches, then conjunctions.
struct Numbers {
    /// For each node, its variable. Those that nothing depends on have none.
    variables: Vec<u32>,
    n_ands: usize,
}

impl Numbers {
    fn new(circuit: &Circuit) -> Self {
        let nexts = circuit.latches.iter().map(crate::Latch::next);
        let is_used = circuit.aig.cone(nexts.chain(circuit.properties()));
        let mut variables = vec![0; circuit.aig.n_nodes()];
        let inputs = circuit.inputs.iter().map(|input| input.lit.node());
        let leaves = inputs.chain(circuit.latches.iter().map(|latch| latch.lit.node()));
        let ands = circuit.aig.nodes().enumerate();
        let ands: Vec<_> = ands
            .filter(|&(node, kind)| is_used[node] && matches!(kind, Node::And(..)))
            .map(|(node, _)| node)
            .collect();
        let n_ands = ands.len();
        for (variable, node) in (1..).zip(leaves.chain(ands)) {
            variables[node] = variable;
        }
        Self { variables, n_ands }
    }

    fn code(&self, lit: Lit) -> u32 {
        2 * self.variables[lit.node()] + u32::from(lit.is_negated())
    }

    /// The variables of conjunctions with the codes of their operands, the greater one first.
    fn ands<'a>(&'a self, aig: &'a Aig) -> impl Iterator<Item = (u32, [u32; 2])> + 'a {
        aig.nodes().zip(&self.variables).filter_map(|(node, &variable)| match node {
            Node::And(left, right) if variable != 0 => {
                let (left, right) = (self.code(left), self.code(right));
                Some((variable, [left.max(right), left.min(right)]))
            }
            _ => None,
        })
    }
}

/// Seven bits in each byte, the lowest first; all but the last have the eighth.
fn write_delta(delta: u32, to: &mut impl Write) -> io::Result<()> {
    let mut rest = delta;
    while rest >= 0x80 {
        to.write_all(&[rest as u8 | 0x80])?;
        rest >>= 7;
    }
    to.write_all(&[rest as u8])
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    line: usize,
}

impl<'a> Reader<'a> {
    fn circuit(&mut self) -> Result<Circuit, AigerError> {
        let header = self.words()?;
        let is_binary = match header.first() {
            Some(&"aig") => true,
            Some(&"aag") => false,
            _ => return Err(self.error("neither `aig` nor `aag`")),
        };
        let mut sizes = [0; 9];
        if !(6..=10).contains(&header.len()) {
            return Err(self.error("a header of the wrong length"));
        }
        for (size, word) in sizes.iter_mut().zip(&header[1..]) {
            *size = self.parse(word)?;
        }
        let [
            most,
            n_inputs,
            n_latches,
            n_outputs,
            n_ands,
            n_bads,
            n_constraints,
            n_justice,
            n_fair,
        ] = sizes;
        let mut circuit = Circuit::new();
        let mut lits = vec![None; most + 1];
        lits[0] = Some(Lit::FALSE);
        for idx in 0..n_inputs {
            let code = if is_binary { 2 * (idx + 1) } else { self.number()? };
            let lit = circuit.input(format!("i{idx}"));
            self.define(&mut lits, code, lit)?;
        }
        let mut nexts = Vec::new();
        for idx in 0..n_latches {
            let words = self.words()?;
            let skip = usize::from(!is_binary);
            let code = match is_binary {
                true => 2 * (n_inputs + idx + 1),
                false => self.parse(words.first().unwrap_or(&""))?,
            };
            let next: usize = self.parse(words.get(skip).unwrap_or(&""))?;
            let init = match words.get(skip + 1) {
                None | Some(&"0") => Some(false),
                Some(&"1") => Some(true),
                Some(word) if self.parse(word) == Ok(code) => None,
                Some(_) => return Err(self.error("an initial value that is none")),
            };
            let lit = circuit.latch(format!("l{idx}"), init);
            self.define(&mut lits, code, lit)?;
            nexts.push((lit, next));
        }
        let outputs = self.numbers(n_outputs)?;
        let mut bads = self.numbers(n_bads)?;
        let constraints = self.numbers(n_constraints)?;
        let justice_sizes = self.numbers(n_justice)?;
        let justice: Vec<_> =
            justice_sizes.into_iter().map(|size| self.numbers(size)).collect::<Result<_, _>>()?;
        let fairness = self.numbers(n_fair)?;
        for idx in 0..n_ands {
            let [code, left, right] = match is_binary {
                true => self.delta_and(2 * (n_inputs + n_latches + idx + 1))?,
                false => self.three()?,
            };
            let (left, right) = (self.lit(&lits, left)?, self.lit(&lits, right)?);
            let lit = circuit.aig.and(left, right);
            self.define(&mut lits, code, lit)?;
        }
        for (latch, next) in nexts {
            circuit.set_next(latch, self.lit(&lits, next)?);
        }
        if n_bads == 0 && n_justice == 0 {
            bads = outputs;
        }
        for (idx, &bad) in bads.iter().enumerate() {
            circuit.bad(self.lit(&lits, bad)?, format!("b{idx}"));
        }
        let all = |codes: &[usize]| codes.iter().map(|&code| self.lit(&lits, code)).collect();
        circuit.constraints = all(&constraints)?;
        circuit.justice = justice.iter().map(|codes| all(codes)).collect::<Result<_, _>>()?;
        circuit.fairness = all(&fairness)?;
        self.symbols(&mut circuit);
        Ok(circuit)
    }

    fn error(&self, what: &'static str) -> AigerError {
        AigerError { what, line: self.line }
    }

    fn parse<T: FromStr>(&self, word: &str) -> Result<T, AigerError> {
        word.parse().map_err(|_| self.error("something that is no number"))
    }

    fn words(&mut self) -> Result<Vec<&'a str>, AigerError> {
        self.line += 1;
        let rest = &self.bytes[self.at..];
        let end = rest.iter().position(|&byte| byte == b'\n');
        let end = end.ok_or_else(|| self.error("the end of the file"))?;
        self.at += end + 1;
        let line =
            str::from_utf8(&rest[..end]).map_err(|_| self.error("something that is no text"))?;
        Ok(line.split_whitespace().collect())
    }

    fn number(&mut self) -> Result<usize, AigerError> {
        let words = self.words()?;
        self.parse(words.first().unwrap_or(&""))
    }

    fn numbers(&mut self, n: usize) -> Result<Vec<usize>, AigerError> {
        (0..n).map(|_| self.number()).collect()
    }

    fn three(&mut self) -> Result<[usize; 3], AigerError> {
        match self.words()?[..] {
            [code, left, right] => Ok([self.parse(code)?, self.parse(left)?, self.parse(right)?]),
            _ => Err(self.error("a conjunction that is none")),
        }
    }

    /// A conjunction in the binary form.
    fn delta_and(&mut self, code: usize) -> Result<[usize; 3], AigerError> {
        let left = code.checked_sub(self.delta()?);
        let left = left.ok_or_else(|| self.error("an operand that is too large"))?;
        let right = left.checked_sub(self.delta()?);
        let right = right.ok_or_else(|| self.error("an operand that is too large"))?;
        Ok([code, left, right])
    }

    fn delta(&mut self) -> Result<usize, AigerError> {
        let mut delta = 0;
        for shift in (0..35).step_by(7) {
            let byte = *self.bytes.get(self.at).ok_or_else(|| self.error("the end of the file"))?;
            self.at += 1;
            delta |= usize::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(delta);
            }
        }
        Err(self.error("a number that is too large"))
    }

    fn define(&self, lits: &mut [Option<Lit>], code: usize, lit: Lit) -> Result<(), AigerError> {
        match lits.get_mut(code / 2) {
            Some(place @ None) if code.is_multiple_of(2) => *place = Some(lit),
            _ => return Err(self.error("a variable that cannot be defined here")),
        }
        Ok(())
    }

    fn lit(&self, lits: &[Option<Lit>], code: usize) -> Result<Lit, AigerError> {
        let lit = lits.get(code / 2).copied().flatten();
        let lit = lit.ok_or_else(|| self.error("a variable that is not defined before"))?;
        Ok(lit.negated_if(code % 2 == 1))
    }

    /// Names, up to a comment or the end of the file.
    fn symbols(&mut self, circuit: &mut Circuit) {
        let text = String::from_utf8_lossy(&self.bytes[self.at..]);
        for line in text.lines().take_while(|&line| line != "c") {
            let Some((place, name)) = line.split_once(' ') else { continue };
            let Some((kind, idx)) = place.split_at_checked(1) else { continue };
            let Ok(idx) = idx.parse::<usize>() else { continue };
            let old = match kind {
                "i" => circuit.inputs.get_mut(idx).map(|input| &mut input.name),
                "l" => circuit.latches.get_mut(idx).map(|latch| &mut latch.name),
                "b" => circuit.bads.get_mut(idx).map(|bad| &mut bad.name),
                _ => None,
            };
            if let Some(old) = old {
                name.clone_into(old);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A latch that any input may set, and must not be set with the second.
    fn small() -> Circuit {
        let mut circuit = Circuit::new();
        let [a, b] = ["a", "b c"].map(|name| circuit.input(name));
        let x = circuit.latch("x", Some(true));
        let y = circuit.latch("y", None);
        let either = circuit.aig.or(a, x);
        circuit.set_next(x, either);
        circuit.set_next(y, !b);
        let bad = circuit.aig.and(x, b);
        circuit.bad(bad, "both");
        circuit.constrain(!a);
        circuit.justice.push(vec![x, !y]);
        circuit.fairness.push(b);
        circuit
    }

    #[test]
    fn the_text_is_that_of_the_format() {
        let mut text = Vec::new();
        small().write_aag(&mut text).expect("memory can be written");
        let text = String::from_utf8(text).expect("it is text");
        assert_eq!(
            text,
            "aag 6 2 2 0 2 1 1 1 1\n2\n4\n6 11 1\n8 5 8\n12\n3\n2\n6\n9\n4\n10 7 3\n12 6 4\n\
             i0 a\ni1 b c\nl0 x\nl1 y\nb0 both\n"
        );
    }

    #[test]
    fn what_is_written_is_read() {
        let (mut text, mut binary, mut again) = (Vec::new(), Vec::new(), Vec::new());
        small().write_aag(&mut text).expect("memory can be written");
        small().write_aig(&mut binary).expect("memory can be written");
        let [from_text, from_binary] =
            [&text, &binary].map(|bytes| Circuit::read_aiger(bytes).expect("it was written so"));
        from_text.write_aig(&mut again).expect("memory can be written");
        assert_eq!(again, binary);
        assert_eq!(from_binary.latches, from_text.latches);
        assert_eq!(from_binary.latches[1].init, None);
        assert_eq!(from_binary.inputs[1].name, "b c");
    }

    #[test]
    fn no_two_things_have_the_same_name() {
        let mut circuit = small();
        circuit.bad(Lit::FALSE, "x");
        circuit.bad(Lit::FALSE, "x");
        let mut text = Vec::new();
        circuit.write_aag(&mut text).expect("memory can be written");
        let text = String::from_utf8(text).expect("it is text");
        assert!(text.ends_with("l0 x\nl1 y\nb0 both\nb1 x b1\nb2 x b2\n"), "{text}");
    }

    #[test]
    fn mistakes_are_told_with_their_line() {
        let check = |text: &str, expected: &str| {
            let error = Circuit::read_aiger(text.as_bytes()).expect_err("there is a mistake");
            assert_eq!(error.to_string(), expected);
        };
        check("", "the end of the file on line 1");
        check("abc 1\n", "neither `aig` nor `aag` on line 1");
        check("aag 1 x 0 0 0\n", "something that is no number on line 1");
        check("aag 1 1 0 1 0\n2\n4\n", "a variable that is not defined before on line 3");
        check("aag 1 0 1 0 0\n2 2 7\n", "an initial value that is none on line 2");
        check("aag 1 2 0 0 0\n2\n2\n", "a variable that cannot be defined here on line 3");
    }
}
