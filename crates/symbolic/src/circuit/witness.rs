//! Executions of a circuit that show what is wrong with it, and their simulation.

use crate::{Circuit, Latch, Lit, Node, Patterns};
use thiserror::Error;

/// Which property an execution breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Property {
    /// The one with this number in [`Circuit::bads`]: it happens in the last frame.
    Bad(usize),
    /// The one with this number in [`Circuit::justice`]: it happens for ever.
    Justice {
        /// Its number.
        idx: usize,
        /// After the last frame, all latches that matter to it are as they were in this one.
        loop_start: usize,
    },
}

/// An execution of a circuit: where it begins, and what comes in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness {
    /// The values of all latches in the first frame.
    pub latches: Vec<bool>,
    /// For every frame, the values of all inputs. There is at least one frame.
    pub inputs: Vec<Vec<bool>>,
    /// What it shows.
    pub property: Property,
}

impl Witness {
    /// How many steps lead to the last frame.
    pub fn depth(&self) -> usize {
        self.inputs.len() - 1
    }

    /// Finds out which of the wanted bad states the execution ends in.
    pub(crate) fn settle(&mut self, circuit: &Circuit, is_wanted: impl Fn(usize) -> bool) {
        let simulation = circuit.run(self);
        let happens = |idx: &usize| simulation.value(simulation.last(), circuit.bads[*idx].lit);
        let bad_idx = (0..circuit.bads.len()).filter(|&idx| is_wanted(idx)).find(happens);
        self.property = Property::Bad(bad_idx.expect("something bad happens"));
    }
}

/// Why an execution does not show what it should.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum WitnessError {
    /// It has the wrong number of latches or inputs, or no frame.
    #[error("it is for another circuit")]
    Shape,
    /// A latch begins with a value that is not its initial one.
    #[error("latch {latch_idx} does not begin like this")]
    Init {
        /// Its number.
        latch_idx: usize,
    },
    /// A constraint is broken.
    #[error("constraint {constraint_idx} does not hold in frame {frame}")]
    Constraint {
        /// Its number.
        constraint_idx: usize,
        /// Where.
        frame: usize,
    },
    /// The property is not violated at the end.
    #[error("nothing bad happens")]
    Harmless,
    /// The loop is none.
    #[error("the last frame does not lead back to frame {loop_start}")]
    Open {
        /// Where it should lead to.
        loop_start: usize,
    },
}

/// The values of all literals in all frames of an execution.
#[derive(Clone, Debug)]
pub struct Simulation {
    frames: Vec<Patterns>,
}

impl Simulation {
    /// How many frames there are.
    pub fn n_frames(&self) -> usize {
        self.frames.len()
    }

    /// The value of a literal in a frame.
    pub fn value(&self, frame: usize, lit: Lit) -> bool {
        self.frames[frame].value(lit)
    }

    fn last(&self) -> usize {
        self.frames.len() - 1
    }
}

impl Circuit {
    /// Runs an execution and makes sure that it is one, and shows what it says.
    pub fn simulate(&self, witness: &Witness) -> Result<Simulation, WitnessError> {
        let has_shape = witness.latches.len() == self.latches.len()
            && !witness.inputs.is_empty()
            && witness.inputs.iter().all(|frame| frame.len() == self.inputs.len());
        if !has_shape {
            return Err(WitnessError::Shape);
        }
        let begins = self.latches.iter().zip(&witness.latches);
        if let Some(latch_idx) = { begins }.position(|(latch, &is)| latch.init == Some(!is)) {
            return Err(WitnessError::Init { latch_idx });
        }
        let simulation = self.run(witness);
        for frame in 0..simulation.n_frames() {
            let holds = |&lit: &Lit| simulation.value(frame, lit);
            let breaks = |lit: &Lit| !holds(lit) && !self.optional.contains(lit);
            if let Some(constraint_idx) = self.constraints.iter().position(breaks) {
                return Err(WitnessError::Constraint { constraint_idx, frame });
            }
        }
        self.confirm(witness.property, &simulation)?;
        Ok(simulation)
    }

    /// The values of all nodes in one frame, from those of latches and inputs.
    pub(crate) fn frame(&self, latches: &[bool], inputs: &[bool]) -> Patterns {
        let mut latches = latches.iter();
        let mut inputs = inputs.iter();
        // Both are in the order of their nodes.
        self.aig.simulate(|node| {
            let leaf = match self.aig.node(node) {
                Node::Latch => latches.next(),
                _ => inputs.next(),
            };
            u64::from(*leaf.expect("every leaf has a value"))
        })
    }

    fn run(&self, witness: &Witness) -> Simulation {
        let mut latches = witness.latches.clone();
        let mut frames = Vec::with_capacity(witness.inputs.len());
        for inputs in &witness.inputs {
            let frame = self.frame(&latches, inputs);
            latches = self.latches.iter().map(|latch| frame.value(latch.next())).collect();
            frames.push(frame);
        }
        Simulation { frames }
    }

    /// Which nodes an execution without end depends on. Others need not come back to where they
    /// were: the same inputs lead to the same values of these again.
    fn matters_to(&self, justice: &[Lit]) -> Vec<bool> {
        let roots = justice.iter().chain(&self.fairness).chain(&self.constraints);
        self.depends_on(roots.copied().collect())
    }

    fn confirm(&self, property: Property, simulation: &Simulation) -> Result<(), WitnessError> {
        match property {
            Property::Bad(idx) => {
                let bad = self.bads.get(idx).ok_or(WitnessError::Shape)?;
                let happens = simulation.value(simulation.last(), bad.lit);
                if happens { Ok(()) } else { Err(WitnessError::Harmless) }
            }
            Property::Justice { idx, loop_start } => {
                let justice = self.justice.get(idx).ok_or(WitnessError::Shape)?;
                let last = simulation.last();
                let matters = self.matters_to(justice);
                let returns = |latch: &Latch| {
                    !matters[latch.lit.node()]
                        || simulation.value(last, latch.next())
                            == simulation.value(loop_start, latch.lit)
                };
                if loop_start > last || !self.latches.iter().all(returns) {
                    return Err(WitnessError::Open { loop_start });
                }
                let recurs =
                    |&lit: &Lit| (loop_start..=last).any(|frame| simulation.value(frame, lit));
                match justice.iter().chain(&self.fairness).all(recurs) {
                    true => Ok(()),
                    false => Err(WitnessError::Harmless),
                }
            }
        }
    }
}
