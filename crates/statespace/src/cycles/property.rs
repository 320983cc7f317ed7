//! Temporal properties, as automata of the executions that violate them.

use mazurka_ltl::{
    Automaton, Cube, Edge, Formula, Lasso, State, Stuttering, TooLarge, accepts, negated_terminal,
    parts, stuttering,
};

/// A property of executions, by those that violate it.
#[derive(Clone, Debug)]
pub struct Property {
    /// What people call it.
    pub(super) name: String,
    automaton: Automaton,
    pub(super) stuttering: Stuttering,
    /// The atoms of each part that the property is a boolean combination of. Under fairness,
    /// several of them can make for more reduction.
    pub(super) parts: Vec<u64>,
    pub(super) has_labels: bool,
}

impl Property {
    /// What the automaton accepts violates the property. Its atoms are the program's propositions,
    /// in their order. If it may matter to the automaton how often a state is repeated, there is no
    /// reduction.
    pub fn new(name: impl Into<String>, automaton: Automaton) -> Self {
        let (name, stuttering) = (name.into(), stuttering(&automaton));
        Self { name, automaton, stuttering, parts: vec![u64::MAX], has_labels: false }
    }

    /// What does not satisfy the formula violates the property.
    pub fn formula(
        name: impl Into<String>,
        formula: &Formula,
        atoms: &[String],
    ) -> Result<Self, TooLarge> {
        let (automaton, stuttering) = negated_terminal(formula, atoms)?;
        let (name, parts) = (name.into(), parts(formula));
        Ok(Self { name, automaton, stuttering, parts, has_labels: false })
    }

    /// An execution that comes by labels that accept, again and again, violates it, too, if only
    /// the automaton goes on.
    pub fn with_labels(self) -> Self {
        Self { has_labels: true, ..self }
    }

    /// Whether an execution violates it. Unknown if it is about labels.
    pub fn is_violated_by(&self, word: &Lasso) -> Option<bool> {
        (!self.has_labels).then(|| accepts(&self.automaton, word))
    }

    /// Whether every violation has a bad prefix, as far as that is known: then no cycles are looked
    /// for.
    pub fn is_safety(&self) -> bool {
        let automaton = self.automaton();
        automaton.is_terminal(&automaton.universal())
    }

    /// Whether some violation has a bad prefix, as far as that is known.
    pub fn has_safety(&self) -> bool {
        self.automaton().universal().contains(&true)
    }

    /// Whether it is violated by every execution that comes by these letters first, whether or not
    /// that is about labels.
    pub fn has_bad_prefix(&self, letters: &[u64]) -> bool {
        self.automaton.is_bad_prefix(&self.automaton.universal(), letters)
    }

    /// What accepts executions that violate it, for engines that know of no labels; none if it is
    /// about those.
    pub fn violations(&self) -> Option<&Automaton> {
        (!self.has_labels).then_some(&self.automaton)
    }

    /// Whether it may matter how often a state is repeated, so that all depends on what is taken
    /// for a step.
    pub fn counts_steps(&self) -> bool {
        !matches!(self.stuttering, Stuttering::Invariant)
    }

    /// What accepts executions that violate it. If it is about labels, letters have a bit behind
    /// the atoms that tells whether there is one that accepts.
    pub(super) fn automaton(&self) -> Automaton {
        match self.has_labels {
            true => labelled(&self.automaton),
            false => self.automaton.clone(),
        }
    }
}

/// An automaton that accepts, too, if the letters have the bit behind its own atoms again and
/// again: its states remember whether the last one had.
fn labelled(automaton: &Automaton) -> Automaton {
    let bit = automaton.atoms.len();
    let states = automaton.states.iter().flat_map(|state| {
        let ways = state.edges.iter().flat_map(|edge| {
            [false, true].map(|has| Edge {
                guard: edge.guard.and(Cube::literal(bit, has)).expect("the atom is a new one"),
                target: 2 * edge.target + usize::from(has),
            })
        });
        let edges: Vec<Edge> = ways.collect();
        [state.is_accepting, true].map(|is_accepting| State { is_accepting, edges: edges.clone() })
    });
    let mut atoms = automaton.atoms.clone();
    atoms.push("accept".to_owned());
    Automaton { atoms, states: states.collect() }
}
