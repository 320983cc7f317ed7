//! The solver: CaDiCaL, behind the few calls that engines make.

use super::{Clauses, SatLit};
use crate::engine::{Statistics, Watch};
use mazurka_core::Limit;
use rustsat::solvers::{
    ControlSignal, GetInternalStats, Solve, SolveIncremental, SolverResult, Terminate,
};
use rustsat::types::TernaryVal;
use rustsat_cadical::{CaDiCaL, Limit as Budget, ProofFormat};
use std::io;
use std::path::Path;

/// Limits are looked at whenever the solver has asked this often.
const LOOK_EVERY: u32 = 8;

/// An incremental solver that stops at limits.
pub(crate) struct Solver {
    cadical: CaDiCaL<'static, 'static>,
    watch: Watch,
    n_variables: u32,
    n_clauses: u64,
    n_calls: u64,
}

impl Clauses for Solver {
    fn variable(&mut self) -> SatLit {
        self.n_variables += 1;
        SatLit::positive(self.n_variables - 1)
    }

    fn clause(&mut self, lits: &[SatLit]) {
        self.n_clauses += 1;
        self.cadical.add_clause_ref(lits).expect("there is memory for a clause");
    }
}

impl Solver {
    pub(crate) fn new(watch: &Watch) -> Self {
        let mut cadical = CaDiCaL::default();
        let (inner, mut n_asked) = (watch.clone(), 0u32);
        cadical.attach_terminator(move || {
            n_asked = n_asked.wrapping_add(1);
            match n_asked.is_multiple_of(LOOK_EVERY) && inner.limit().is_some() {
                true => ControlSignal::Terminate,
                false => ControlSignal::Continue,
            }
        });
        Self { cadical, watch: watch.clone(), n_variables: 0, n_clauses: 0, n_calls: 0 }
    }

    /// Sets an option of CaDiCaL. Only before there are clauses.
    pub(crate) fn option(&mut self, name: &str, value: i32) {
        self.cadical.set_option(name, value).expect("an option that CaDiCaL has");
    }

    /// Writes a proof of what has no model to a file, in the format LRAT. Only before there are clauses.
    pub(crate) fn prove(&mut self, path: &Path) -> io::Result<()> {
        // CaDiCaL is silent about a file that it cannot open.
        std::fs::File::create(path)?;
        // New variables would have to be justified in another way than by unit propagation.
        self.option("factor", 0);
        let traced = self.cadical.trace_proof(path, ProofFormat::Lrat { binary: false });
        traced.map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))
    }

    /// Whether all clauses and the assumptions can be true together.
    pub(crate) fn solve(&mut self, assumptions: &[SatLit]) -> Result<bool, Limit> {
        // Whoever set a flag may have taken it back by now.
        self.call(assumptions)?.ok_or_else(|| self.watch.limit().unwrap_or(Limit::Interrupted))
    }

    /// The same with so many conflicts at most; `None` if they are not enough.
    pub(crate) fn solve_within(
        &mut self,
        assumptions: &[SatLit],
        conflicts: u64,
    ) -> Result<Option<bool>, Limit> {
        let conflicts = conflicts.try_into().unwrap_or(i32::MAX);
        self.cadical.set_limit(Budget::Conflicts(conflicts)).expect("CaDiCaL can count conflicts");
        let answer = self.call(assumptions)?;
        if answer.is_none() {
            self.watch.look()?;
        }
        Ok(answer)
    }

    /// Calls the solver; no answer if something made it stop.
    fn call(&mut self, assumptions: &[SatLit]) -> Result<Option<bool>, Limit> {
        self.n_calls += 1;
        self.watch.look()?;
        Ok(match self.cadical.solve_assumps(assumptions).expect("CaDiCaL answers") {
            SolverResult::Sat => Some(true),
            SolverResult::Unsat => Some(false),
            SolverResult::Interrupted => None,
        })
    }

    /// The same with one more clause, for this call only.
    pub(crate) fn solve_with(
        &mut self,
        assumptions: &[SatLit],
        clause: &[SatLit],
    ) -> Result<bool, Limit> {
        self.cadical.add_tmp_clause(clause).expect("there is memory for a clause");
        self.solve(assumptions)
    }

    /// The value of a literal, after the solver has found one.
    pub(crate) fn value(&self, lit: SatLit) -> bool {
        self.cadical.lit_val(lit).expect("a model was found") == TernaryVal::True
    }

    /// The assumptions that cannot be true together, in order, after the solver has found that.
    pub(crate) fn core(&mut self) -> Vec<SatLit> {
        let core = self.cadical.core().expect("there is no model");
        let mut core: Vec<_> = core.into_iter().map(|negated| !negated).collect();
        core.sort_unstable();
        core
    }

    /// What it has done so far.
    pub(crate) fn statistics(&self) -> Statistics {
        Statistics {
            calls: self.n_calls,
            conflicts: self.cadical.conflicts() as u64,
            decisions: self.cadical.decisions() as u64,
            propagations: self.cadical.propagations() as u64,
            variables: self.n_variables.into(),
            clauses: self.n_clauses,
            depths: Vec::new(),
        }
    }
}
