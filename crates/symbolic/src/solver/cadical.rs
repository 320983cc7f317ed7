//! The solver: CaDiCaL, behind the few calls that engines make.

use super::{Clauses, SatLit};
use crate::engine::{Statistics, Watch};
use cadical_sys::{CaDiCal, Status, Terminator};
use mazurka_core::Limit;
use std::cell::RefCell;
use std::io;
use std::path::Path;

/// Limits are looked at whenever the solver has asked this often.
const LOOK_EVERY: u32 = 8;

/// An incremental solver that stops at limits.
pub(crate) struct Solver {
    /// In a cell since CaDiCaL may extend a model when it is asked for a value.
    cadical: RefCell<CaDiCal>,
    /// The assumptions of the last call.
    assumed: Vec<SatLit>,
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
        let cadical = self.cadical.get_mut();
        lits.iter().for_each(|lit| cadical.add(lit.to_dimacs()));
        cadical.add(0);
    }
}

impl Solver {
    pub(crate) fn new(watch: &Watch) -> Self {
        let mut cadical = CaDiCal::new();
        cadical.connect_terminator(AtLimit { watch: watch.clone(), n_asked: 0 });
        Self {
            cadical: RefCell::new(cadical),
            assumed: Vec::new(),
            watch: watch.clone(),
            n_variables: 0,
            n_clauses: 0,
            n_calls: 0,
        }
    }

    /// Sets an option of CaDiCaL. Only before there are clauses.
    pub(crate) fn option(&mut self, name: &str, value: i32) {
        let is_known = self.cadical.get_mut().set(name, value);
        assert!(is_known, "CaDiCaL has no option `{name}`");
    }

    /// Writes a proof of what has no model to a file, in the format LRAT. Only before there are
    /// clauses.
    pub(crate) fn prove(&mut self, path: &Path) -> io::Result<()> {
        // CaDiCaL does not say why a file cannot be opened.
        std::fs::File::create(path)?;
        let refused = |why: &str| io::Error::new(io::ErrorKind::InvalidInput, why);
        let name = path.to_str().ok_or_else(|| refused("the path of a proof has to be UTF-8"))?;
        // New variables would have to be justified in another way than by unit propagation.
        self.option("factor", 0);
        self.option("lrat", 1);
        self.option("binary", 0);
        match self.cadical.get_mut().trace_proof2(name) {
            true => Ok(()),
            false => Err(refused("CaDiCaL cannot open the file")),
        }
    }

    /// Whether all clauses and the assumptions can be true together.
    pub(crate) fn solve(&mut self, assumptions: &[SatLit]) -> Result<bool, Limit> {
        self.decide(assumptions, None)
    }

    /// The same with so many conflicts at most; `None` if they are not enough.
    pub(crate) fn solve_within(
        &mut self,
        assumptions: &[SatLit],
        conflicts: u64,
    ) -> Result<Option<bool>, Limit> {
        let conflicts = conflicts.try_into().unwrap_or(i32::MAX);
        let is_known = self.cadical.get_mut().limit("conflicts", conflicts);
        assert!(is_known, "CaDiCaL can count conflicts");
        let answer = self.call(assumptions, None)?;
        if answer.is_none() {
            self.watch.look()?;
        }
        Ok(answer)
    }

    /// The same as [`Solver::solve`] with one more clause, for this call only.
    pub(crate) fn solve_with(
        &mut self,
        assumptions: &[SatLit],
        clause: &[SatLit],
    ) -> Result<bool, Limit> {
        self.decide(assumptions, Some(clause))
    }

    /// The value of a literal, after the solver has found one.
    pub(crate) fn value(&self, lit: SatLit) -> bool {
        self.cadical.borrow_mut().val(lit.to_dimacs()) == lit.to_dimacs()
    }

    /// The assumptions that cannot be true together, in order, after the solver has found that.
    pub(crate) fn core(&mut self) -> Vec<SatLit> {
        let cadical = self.cadical.get_mut();
        let mut core = self.assumed.clone();
        core.sort_unstable();
        core.dedup();
        core.retain(|lit| cadical.failed(lit.to_dimacs()));
        core
    }

    /// What it has done so far.
    pub(crate) fn statistics(&self) -> Statistics {
        let cadical = self.cadical.borrow();
        let count = |name: &str| {
            let count = cadical.get_statistic_value(name);
            u64::try_from(count).expect("CaDiCaL has this counter")
        };
        Statistics {
            calls: self.n_calls,
            conflicts: count("conflicts"),
            decisions: count("decisions"),
            propagations: count("propagations"),
            variables: self.n_variables.into(),
            clauses: self.n_clauses,
            depths: Vec::new(),
        }
    }

    /// Calls the solver; stops at limits only.
    fn decide(
        &mut self,
        assumptions: &[SatLit],
        constraint: Option<&[SatLit]>,
    ) -> Result<bool, Limit> {
        let answer = self.call(assumptions, constraint)?;
        // A flag that was set may have been cleared by now.
        answer.ok_or_else(|| self.watch.limit().unwrap_or(Limit::Interrupted))
    }

    /// Calls the solver; no answer if something made it stop.
    fn call(
        &mut self,
        assumptions: &[SatLit],
        constraint: Option<&[SatLit]>,
    ) -> Result<Option<bool>, Limit> {
        self.n_calls += 1;
        self.watch.look()?;
        let cadical = self.cadical.get_mut();
        if let Some(clause) = constraint {
            clause.iter().for_each(|lit| cadical.constrain(lit.to_dimacs()));
            cadical.constrain(0);
        }
        assumptions.iter().for_each(|lit| cadical.assume(lit.to_dimacs()));
        self.assumed.clear();
        self.assumed.extend_from_slice(assumptions);
        Ok(match cadical.solve() {
            Status::SATISFIABLE => Some(true),
            Status::UNSATISFIABLE => Some(false),
            Status::UNKNOWN => None,
        })
    }
}

/// Stops the solver once a limit is reached.
struct AtLimit {
    watch: Watch,
    n_asked: u32,
}

impl Terminator for AtLimit {
    fn terminated(&mut self) -> bool {
        self.n_asked = self.n_asked.wrapping_add(1);
        self.n_asked.is_multiple_of(LOOK_EVERY) && self.watch.limit().is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Limits;

    fn solver<const N: usize>() -> (Solver, [SatLit; N]) {
        let mut solver = Solver::new(&Watch::new(&Limits::default()));
        let variables = std::array::from_fn(|_| solver.variable());
        (solver, variables)
    }

    #[test]
    fn the_core_has_only_the_assumptions_that_matter_each_once() {
        let (mut solver, [x, y, z]) = solver();
        solver.clause(&[!x, !y]);
        assert_eq!(solver.solve(&[z, y, x, y]), Ok(false));
        assert_eq!(solver.core(), [x, y]);
        assert_eq!(solver.solve(&[!x, z]), Ok(true));
        assert!(solver.value(!x) && !solver.value(x) && solver.value(z));
    }

    #[test]
    fn assumptions_and_the_clause_of_a_call_are_gone_after_it() {
        let (mut solver, [x, y]) = solver();
        solver.clause(&[x, y]);
        assert_eq!(solver.solve_with(&[!x], &[x, !y]), Ok(false));
        assert_eq!(solver.solve(&[!x]), Ok(true));
        assert!(solver.value(y));
        assert_eq!(solver.solve_with(&[], &[!x]), Ok(true));
        assert!(solver.value(!x));
        assert_eq!(solver.solve(&[x, y]), Ok(true));
    }

    /// Pigeons in holes, one less: what propagation alone does not decide.
    fn pigeons(solver: &mut Solver, n_pigeons: usize) {
        let rows: Vec<Vec<SatLit>> =
            (0..n_pigeons).map(|_| (1..n_pigeons).map(|_| solver.variable()).collect()).collect();
        rows.iter().for_each(|row| solver.clause(row));
        for (idx, row) in rows.iter().enumerate() {
            for other in &rows[..idx] {
                for (&lit, &same) in row.iter().zip(other) {
                    solver.clause(&[!lit, !same]);
                }
            }
        }
    }

    #[test]
    fn a_budget_of_conflicts_is_for_one_call_and_all_work_is_counted() {
        let (mut solver, []) = solver();
        pigeons(&mut solver, 8);
        assert_eq!(solver.solve_within(&[], 10), Ok(None));
        assert_eq!(solver.solve(&[]), Ok(false));
        let statistics = solver.statistics();
        assert_eq!((statistics.calls, statistics.variables), (2, 56));
        let Statistics { conflicts, decisions, propagations, .. } = statistics;
        assert!(conflicts > 10 && decisions > 10 && propagations > 100, "{statistics:?}");
    }

    #[test]
    #[should_panic(expected = "CaDiCaL has no option `fortune`")]
    fn an_option_that_does_not_exist_is_a_mistake_of_ours() {
        solver::<0>().0.option("fortune", 1);
    }
}
