//! Formulas to be refuted once, with a proof that others can check.

use super::{Clauses, Encoder, SatLit, Solver};
use crate::engine::{Limits, Watch};
use crate::{Aig, Lit};
use mazurka_core::Limit;
use std::io::{self, Write};
use std::path::Path;
use thiserror::Error;

/// A formula in clauses.
#[derive(Clone, Debug, Default)]
pub struct Formula {
    n_variables: u32,
    clauses: Vec<Vec<SatLit>>,
}

/// Why there is no proof.
#[derive(Debug, Error)]
pub enum ProofError {
    /// The formula has a model: whatever it should prove is wrong.
    #[error("the claim does not hold")]
    Satisfiable,
    /// A limit was reached.
    #[error("{0}")]
    Limit(Limit),
    /// A file cannot be written.
    #[error(transparent)]
    File(#[from] io::Error),
}

impl Clauses for Formula {
    fn variable(&mut self) -> SatLit {
        self.n_variables += 1;
        SatLit::positive(self.n_variables - 1)
    }

    fn clause(&mut self, lits: &[SatLit]) {
        self.clauses.push(lits.to_vec());
    }
}

impl Formula {
    /// A formula with a model if and only if the literal can be true.
    pub fn of(aig: &Aig, lit: Lit) -> Self {
        let mut formula = Self::default();
        let root = Encoder::default().lit(aig, lit, &mut formula);
        formula.clause(&[root]);
        formula
    }

    /// A formula with a model if and only if this one or another one has one.
    pub fn or(&self, other: &Self) -> Self {
        let mut either = Self::default();
        let [one, two] = [(); 2].map(|()| either.variable());
        either.clause(&[one, two]);
        for (is_it, formula) in [(one, self), (two, other)] {
            let first = either.n_variables;
            either.n_variables += formula.n_variables;
            for clause in &formula.clauses {
                let lits =
                    clause.iter().map(|&lit| SatLit::new(lit.variable() + first, lit.is_negated()));
                either.clauses.push(std::iter::once(!is_it).chain(lits).collect());
            }
        }
        either
    }

    /// How many variables it has.
    pub fn n_variables(&self) -> u32 {
        self.n_variables
    }

    /// How many clauses it has.
    pub fn n_clauses(&self) -> usize {
        self.clauses.len()
    }

    /// Its clauses, literals as in the DIMACS format.
    pub fn clauses(&self) -> impl Iterator<Item = Vec<i32>> + '_ {
        self.clauses.iter().map(|clause| clause.iter().map(|lit| lit.to_dimacs()).collect())
    }

    /// Writes it in the DIMACS format.
    pub fn write(&self, to: &mut impl Write) -> io::Result<()> {
        writeln!(to, "p cnf {} {}", self.n_variables, self.clauses.len())?;
        for clause in self.clauses() {
            for lit in clause {
                write!(to, "{lit} ")?;
            }
            writeln!(to, "0")?;
        }
        Ok(())
    }

    /// Makes sure that it has no model. If there is a path, a proof of that is written to it, in
    /// the format LRAT, as text.
    pub fn refute(&self, limits: &Limits, proof: Option<&Path>) -> Result<(), ProofError> {
        let mut solver = Solver::new(&Watch::new(limits));
        if let Some(path) = proof {
            solver.prove(path)?;
        }
        for clause in &self.clauses {
            solver.clause(clause);
        }
        match solver.solve(&[]) {
            Ok(false) => Ok(()),
            Ok(true) => Err(ProofError::Satisfiable),
            Err(limit) => Err(ProofError::Limit(limit)),
        }
    }
}
