//! IC3: an invariant, clause by clause, without unrolling.
//!
//! Implements Bradley, *SAT-Based Model Checking without Unrolling* (VMCAI 2011), in the form of
//! Eén, Mishchenko and Brayton, *Efficient Implementation of Property Directed Reachability* (FMCAD
//! 2011), with the generalisation of Hassan, Bradley and Somenzi, *Better Generalization in IC3*
//! (FMCAD 2013).
//!
//! | papers                                        | here                     |
//! |-----------------------------------------------|--------------------------|
//! | frames F0 ⊆ F1 ⊆ …, each clause once          | [`Ic3::levels`]          |
//! | proof obligations, lowest frame first         | [`Ic3::block`]           |
//! | consecution relative to a frame               | [`Ic3::consecution`]     |
//! | MIC, `ctgDown`                                | [`Ic3::generalise`], [`Ic3::down`] |
//! | predecessors made larger                      | [`Ic3::lift`]            |
//! | clauses pushed forward                        | [`Ic3::propagate`]       |
//!
//! Differs: predecessors are made larger by a solver, not by simulation with unknown values. One
//! solver has all frames, and a literal for each switches its clauses on. States without inputs
//! that meet the constraints count as reachable: they have no successor and are never bad.

use super::{Answer, Certificate, Job, Outcome, Statistics, Watch};
use crate::solver::{Clauses, Encoder, SatLit, Solver, Start, Unrolling};
use crate::{Circuit, Latch, Lit, Property, Witness};
use mazurka_core::Limit;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// How many counterexamples to a generalisation are blocked before giving in.
const MOST_CTGS: usize = 3;

/// A set of states: latches and their values, in order.
type Cube = Vec<Lit>;

pub(super) fn decide(job: &mut Job<'_>) -> Outcome {
    let mut ic3 = Ic3::new(job.circuit, job.watch);
    let answer = ic3.run(job);
    let answer = answer.unwrap_or_else(|why| Answer::Unknown { depth: ic3.proved, why });
    let statistics = ic3.statistics();
    job.outcome(answer, statistics)
}

/// States from which something bad happens.
struct Obligation {
    cube: Cube,
    /// What comes in, in each of its states.
    inputs: Vec<bool>,
    /// Where that leads, by its number; nowhere, if it is bad right here.
    successor: Option<usize>,
}

/// What comes of asking whether a cube can be reached from elsewhere.
enum Consecution {
    /// It cannot, and neither can this larger set.
    Blocked(Cube),
    /// It can. [`Ic3::lift`] tells from where.
    Reached,
}

struct Ic3<'a> {
    circuit: &'a Circuit,
    unrolling: Unrolling<'a>,
    encoder: Encoder,
    solver: Solver,
    /// The circuit without its constraints, to ask what a step depends on.
    lifting: (Encoder, Solver),
    bad: Lit,
    constraint: Lit,
    /// What switches the clauses of a level on. The first is for initial states.
    switches: Vec<SatLit>,
    /// Cubes that cannot be reached in as many steps as their level says, and are in no higher one.
    levels: Vec<Vec<Cube>>,
    /// How useful the latches were in clauses so far.
    activity: Vec<f64>,
    obligations: Vec<Obligation>,
    /// Nothing bad happens within so many steps.
    proved: Option<usize>,
}

impl<'a> Ic3<'a> {
    fn new(circuit: &'a Circuit, watch: &Watch) -> Self {
        let mut unrolling = Unrolling::new(circuit, Start::Anywhere);
        let (bad, constraint) = (unrolling.bad(0), unrolling.constraint(0));
        let solver = || {
            let mut solver = Solver::new(watch);
            // The calls are many and small.
            solver.option("lucky", 0);
            solver
        };
        let mut ic3 = Self {
            circuit,
            unrolling,
            encoder: Encoder::default(),
            solver: solver(),
            lifting: (Encoder::default(), solver()),
            bad,
            constraint,
            switches: Vec::new(),
            levels: Vec::new(),
            activity: vec![0.0; circuit.latches.len()],
            obligations: Vec::new(),
            proved: None,
        };
        let lit = ic3.encoder.lit(&ic3.unrolling.aig, constraint, &mut ic3.solver);
        ic3.solver.clause(&[lit]);
        ic3.add_level();
        for latch in &circuit.latches {
            if let Some(value) = latch.init {
                let lit = ic3.now(latch.lit.negated_if(!value));
                ic3.solver.clause(&[!ic3.switches[0], lit]);
            }
        }
        ic3
    }

    fn run(&mut self, job: &mut Job<'_>) -> Result<Answer, Limit> {
        loop {
            let top = self.levels.len() - 1;
            while let Some((cube, inputs)) = self.bad_states(top)? {
                let first = self.oblige(cube, inputs, None);
                if let Some(witness) = self.block(first, top)? {
                    return Ok(Answer::Unsafe(witness));
                }
            }
            self.proved = Some(top);
            job.passed(top, &self.statistics());
            self.add_level();
            if let Some(invariant) = self.propagate()? {
                return Ok(Answer::Safe(Certificate::Clauses(invariant)));
            }
        }
    }

    /// States of the top level in which something bad happens.
    fn bad_states(&mut self, top: usize) -> Result<Option<(Cube, Vec<bool>)>, Limit> {
        let mut assumptions = self.assumed(top).to_vec();
        assumptions.push(self.encoder.lit(&self.unrolling.aig, self.bad, &mut self.solver));
        match self.solver.solve(&assumptions)? {
            true => self.lift(self.bad, &[]).map(Some),
            false => Ok(None),
        }
    }

    /// Makes sure that an obligation cannot be met from any initial state within so many steps, or
    /// returns the execution that shows the contrary.
    fn block(&mut self, first: usize, level: usize) -> Result<Option<Witness>, Limit> {
        if self.is_initial(&self.obligations[first].cube) {
            return Ok(Some(self.witness(first)));
        }
        let mut waiting = BinaryHeap::from([Reverse((level, first))]);
        while let Some(Reverse((level, idx))) = waiting.pop() {
            let cube = self.obligations[idx].cube.clone();
            if self.is_blocked(&cube, level) {
                continue;
            }
            match self.consecution(level - 1, &cube)? {
                Consecution::Reached => {
                    let (cube, inputs) = self.lift(Lit::TRUE, &cube)?;
                    let predecessor = self.oblige(cube, inputs, Some(idx));
                    if self.is_initial(&self.obligations[predecessor].cube) {
                        return Ok(Some(self.witness(predecessor)));
                    }
                    waiting.push(Reverse((level - 1, predecessor)));
                    waiting.push(Reverse((level, idx)));
                }
                Consecution::Blocked(cube) => {
                    let cube = self.generalise(cube, level, MOST_CTGS)?;
                    let level = self.push(cube, level)?;
                    if level + 1 < self.levels.len() {
                        waiting.push(Reverse((level + 1, idx)));
                    }
                }
            }
        }
        self.obligations.clear();
        Ok(None)
    }

    fn oblige(&mut self, cube: Cube, inputs: Vec<bool>, successor: Option<usize>) -> usize {
        self.obligations.push(Obligation { cube, inputs, successor });
        self.obligations.len() - 1
    }

    /// Whether some initial state is in the cube.
    fn is_initial(&self, cube: &[Lit]) -> bool {
        !cube.iter().any(|&lit| self.is_excluded(lit))
    }

    /// Whether no initial state has this value of a latch.
    fn is_excluded(&self, lit: Lit) -> bool {
        self.circuit.latches[self.latch_idx(lit)].init == Some(lit.is_negated())
    }

    fn latch_idx(&self, lit: Lit) -> usize {
        self.circuit.latch_idx(lit.positive()).expect("cubes are made of latches")
    }

    /// Whether a clause of the level, or of a higher one, excludes all states of the cube.
    fn is_blocked(&self, cube: &[Lit], level: usize) -> bool {
        self.levels[level..].iter().flatten().any(|known| is_subset(known, cube))
    }

    /// Whether a cube can be reached in one step from states of a level that are not in it.
    fn consecution(&mut self, level: usize, cube: &[Lit]) -> Result<Consecution, Limit> {
        let next: Vec<_> = cube.iter().map(|&lit| self.next(lit)).collect();
        let assumptions: Vec<_> =
            self.assumed(level).iter().copied().chain(next.iter().copied()).collect();
        let outside: Vec<_> = cube.iter().map(|&lit| !self.now(lit)).collect();
        if self.solver.solve_with(&assumptions, &outside)? {
            return Ok(Consecution::Reached);
        }
        let core = self.solver.core();
        let lits = cube.iter().zip(&next).filter(|(_, next)| core.binary_search(next).is_ok());
        let mut smaller: Cube = lits.map(|(&lit, _)| lit).collect();
        if self.is_initial(&smaller) {
            let excluded = cube.iter().copied().find(|&lit| self.is_excluded(lit));
            smaller.push(excluded.expect("no initial state is in the cube"));
            smaller.sort_unstable();
        }
        Ok(Consecution::Blocked(smaller))
    }

    /// What switches a level on, with all that is above it.
    fn assumed(&self, level: usize) -> &[SatLit] {
        // Initial states are in all levels.
        if level == 0 { &self.switches[..1] } else { &self.switches[level..] }
    }

    /// A larger cube that cannot be reached at a level, either: without as many literals as
    /// possible.
    fn generalise(&mut self, cube: Cube, level: usize, n_ctgs: usize) -> Result<Cube, Limit> {
        let mut order = cube.clone();
        order.sort_by(|&l, &r| {
            let [l, r] = [l, r].map(|lit| self.activity[self.latch_idx(lit)]);
            l.total_cmp(&r)
        });
        let mut cube = cube;
        for lit in order {
            if !cube.contains(&lit) || cube.len() == 1 {
                continue;
            }
            let smaller: Cube = cube.iter().copied().filter(|&other| other != lit).collect();
            if let Some(smaller) = self.down(smaller, level, n_ctgs)? {
                cube = smaller;
            }
        }
        Ok(cube)
    }

    /// A part of the cube that cannot be reached at a level, if that is found without much ado.
    fn down(&mut self, cube: Cube, level: usize, n_ctgs: usize) -> Result<Option<Cube>, Limit> {
        let mut cube = cube;
        let mut n_left = n_ctgs;
        loop {
            if self.is_initial(&cube) {
                return Ok(None);
            }
            if let Consecution::Blocked(smaller) = self.consecution(level - 1, &cube)? {
                return Ok(Some(smaller));
            }
            if n_ctgs == 0 {
                return Ok(None);
            }
            let (ctg, _) = self.lift(Lit::TRUE, &cube)?;
            let may_block = n_left > 0 && level > 1 && !self.is_initial(&ctg);
            if may_block && let Consecution::Blocked(blocked) = self.consecution(level - 2, &ctg)? {
                n_left -= 1;
                let blocked = self.generalise(blocked, level - 1, 0)?;
                self.push(blocked, level - 1)?;
                continue;
            }
            // What the two have in common contains both.
            cube.retain(|lit| ctg.contains(lit));
        }
    }

    /// Adds the clause that excludes a cube at a level, or as far above as it holds. Returns where.
    fn push(&mut self, cube: Cube, level: usize) -> Result<usize, Limit> {
        let mut level = level;
        while level + 1 < self.levels.len() {
            match self.consecution(level, &cube)? {
                Consecution::Blocked(_) => level += 1,
                Consecution::Reached => break,
            }
        }
        for &lit in &cube {
            let latch = self.latch_idx(lit);
            self.activity[latch] += 1.0;
        }
        self.activity.iter_mut().for_each(|activity| *activity *= 0.99);
        self.exclude(cube, level);
        Ok(level)
    }

    fn exclude(&mut self, cube: Cube, level: usize) {
        for lower in &mut self.levels[..=level] {
            lower.retain(|known| !is_subset(&cube, known));
        }
        let mut clause: Vec<_> = cube.iter().map(|&lit| !self.now(lit)).collect();
        clause.push(!self.switches[level]);
        self.solver.clause(&clause);
        self.levels[level].push(cube);
    }

    /// Moves clauses up where they hold in the next level, too. If that empties a level, the
    /// clauses above it are an invariant.
    fn propagate(&mut self) -> Result<Option<Vec<Cube>>, Limit> {
        for level in 1..self.levels.len() - 1 {
            for cube in self.levels[level].clone() {
                // It may have been replaced by a stronger one.
                if !self.levels[level].contains(&cube) {
                    continue;
                }
                if let Consecution::Blocked(cube) = self.consecution(level, &cube)? {
                    self.exclude(cube, level + 1);
                }
            }
            if self.levels[level].is_empty() {
                let cubes = self.levels[level + 1..].iter().flatten();
                let clause = |cube: &Cube| cube.iter().map(|&lit| !lit).collect();
                return Ok(Some(cubes.map(clause).collect()));
            }
        }
        Ok(None)
    }

    /// The state and the inputs that the solver has found, with as few latches as are needed for
    /// `target` to be true and for the next state to be in the cube.
    fn lift(&mut self, target: Lit, next: &[Lit]) -> Result<(Cube, Vec<bool>), Limit> {
        let found = |ic3: &Self, lit: Lit| {
            let lit = ic3.encoder.known(ic3.unrolling.lit(0, lit));
            lit.is_some_and(|lit| ic3.solver.value(lit))
        };
        let signed = |lit: Lit| lit.negated_if(!found(self, lit));
        let state: Cube = self.circuit.latches.iter().map(|latch| signed(latch.lit)).collect();
        let inputs: Vec<_> = self.circuit.inputs.iter().map(|input| signed(input.lit)).collect();
        let (encoder, solver) = &mut self.lifting;
        let aig = &self.unrolling.aig;
        let frame = |lit: Lit| self.unrolling.lit(0, lit);
        let next = next.iter().map(|&lit| {
            let latch = self.circuit.latch_idx(lit.positive()).expect("cubes are made of latches");
            frame(self.circuit.latches[latch].next()).negated_if(lit.is_negated())
        });
        let effects: Vec<_> = next
            .chain([target, self.constraint])
            .map(|lit| !encoder.exact(aig, lit, solver))
            .collect();
        let causes: Vec<_> = state
            .iter()
            .chain(&inputs)
            .map(|&lit| encoder.exact(aig, frame(lit), solver))
            .collect();
        let is_possible = solver.solve_with(&causes, &effects)?;
        assert!(!is_possible, "a state and inputs have one effect");
        let core = solver.core();
        let cube = state.iter().zip(&causes).filter(|(_, cause)| core.binary_search(cause).is_ok());
        let cube = cube.map(|(&lit, _)| lit).collect();
        Ok((cube, inputs.iter().map(|lit| !lit.is_negated()).collect()))
    }

    fn add_level(&mut self) {
        let switch = self.solver.variable();
        self.switches.push(switch);
        self.levels.push(Vec::new());
    }

    /// A literal of a latch, as it is.
    fn now(&mut self, lit: Lit) -> SatLit {
        let lit = self.unrolling.lit(0, lit);
        self.encoder.exact(&self.unrolling.aig, lit, &mut self.solver)
    }

    /// A literal of a latch, as it is after the step.
    fn next(&mut self, lit: Lit) -> SatLit {
        let next = self.circuit.latches[self.latch_idx(lit)].next();
        let lit = self.unrolling.lit(0, next).negated_if(lit.is_negated());
        self.encoder.exact(&self.unrolling.aig, lit, &mut self.solver)
    }

    /// The execution from an initial state of an obligation to something bad.
    fn witness(&self, first: usize) -> Witness {
        let begin = &self.obligations[first].cube;
        let value = |latch: &Latch| match latch.init {
            Some(value) => value,
            None => begin.contains(&latch.lit),
        };
        let mut witness = Witness {
            latches: self.circuit.latches.iter().map(value).collect(),
            inputs: Vec::new(),
            property: Property::Bad(0),
        };
        let mut current = Some(first);
        while let Some(idx) = current {
            witness.inputs.push(self.obligations[idx].inputs.clone());
            current = self.obligations[idx].successor;
        }
        witness.settle(self.circuit, |_| true);
        witness
    }

    fn statistics(&self) -> Statistics {
        let mut statistics = self.solver.statistics();
        statistics.add(&self.lifting.1.statistics());
        statistics
    }
}

/// Whether every literal of one cube is in the other: both are in order.
fn is_subset(smaller: &[Lit], larger: &[Lit]) -> bool {
    let mut rest = larger.iter();
    smaller.iter().all(|lit| rest.any(|other| other == lit))
}
