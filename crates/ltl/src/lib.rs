//! Linear temporal logic and Büchi automata: formulae, translation, simplification, complement,
//! stutter invariance.
//!
//! From text to automaton: [`Formula::parse`] reads SPIN's syntax, [`Pool`] has formulae in
//! negation normal form and rewrites them, [`translate`] goes by way of very weak alternating
//! automata (Gastin and Oddoux) to a small Büchi automaton, [`Automaton`]. Automata are also read
//! and written in the HOA format ([`hoa`]) and written as never claims and graphs
//! ([`print`](mod@print)).
//!
//! What a proposition means is not known here: it is a text, and the caller that has a program
//! reads it.
//!
//! ```
//! use mazurka_ltl::{Atoms, Formula, Lasso, Stuttering, accepts, negated};
//!
//! let mut atoms = Atoms::new();
//! let formula = Formula::parse("[] (request -> <> answer)", &mut atoms).unwrap();
//! assert_eq!(atoms, ["request", "answer"]);
//!
//! // The automaton accepts the words that violate the formula.
//! let (automaton, stuttering) = negated(&formula, &atoms).unwrap();
//! assert_eq!(stuttering, Stuttering::Invariant);
//!
//! // A letter has a bit for each atom: a request, and then nothing for ever.
//! let unanswered = Lasso { letters: vec![0b01, 0b00], loop_start: 1 };
//! let answered = Lasso { letters: vec![0b01, 0b10], loop_start: 0 };
//! assert!(accepts(&automaton, &unanswered));
//! assert!(!accepts(&automaton, &answered));
//! ```
//!
//! `examples/automaton.rs` prints a formula as a never claim and in the HOA format.

mod alternating;
mod automaton;
mod boolean_split;
mod complement;
mod empty;
mod formula;
mod generalised;
pub mod hoa;
mod normal;
mod parse;
pub mod print;
mod rewrite;
mod safety;
mod simplify;
mod stutter;
mod weak;

pub use automaton::{Automaton, Cube, Edge, State};
pub use boolean_split::parts;
pub use complement::complement;
pub use empty::{Lasso, Run, RunStep, accepting_run, accepts, common_word};
pub use formula::{Binary, Formula, Unary};
pub use normal::{Node, NodeId, Pool};
pub use parse::ParseError;
pub use stutter::{Stuttering, is_stutter_invariant, stuttering};

/// The atoms of a formula or automaton, by number.
pub type Atoms = Vec<String>;

/// The most atoms an automaton can have.
pub const MAX_ATOMS: usize = 64;

/// A Büchi automaton that accepts exactly the words that satisfy the formula.
///
/// Implements Gastin and Oddoux, *Fast LTL to Büchi Automata Translation* (CAV 2001): formula, very
/// weak alternating automaton, generalised automaton, automaton; simplified on the way. If the
/// formula is an obligation, and its deterministic automaton is smaller, it is that one.
///
/// The atoms of the automaton are `atoms`, whether or not they occur in it.
pub fn translate(
    pool: &mut Pool,
    formula: NodeId,
    atoms: &[String],
) -> Result<Automaton, TooLarge> {
    let automaton = translate_alone(pool, formula, atoms)?;
    let n_states = automaton.states.len();
    if !(2..=MOST_OPPOSED).contains(&n_states) {
        return Ok(automaton);
    }
    let negation = pool.not(formula);
    let opposite = translate_alone(pool, negation, atoms).ok();
    let opposite = opposite.filter(|it| it.states.len() <= MOST_OPPOSED);
    let weak = opposite.and_then(|opposite| weak::obligation(&automaton, &opposite));
    let size = |it: &Automaton| (it.states.len(), it.n_edges());
    Ok(weak.filter(|weak| size(weak) < size(&automaton)).unwrap_or(automaton))
}

/// The same, from the formula alone.
fn translate_alone(pool: &Pool, formula: NodeId, atoms: &[String]) -> Result<Automaton, TooLarge> {
    let generalised = generalised::Generalised::of(pool, formula)?;
    // The untils are counted in some order, and it is not known which one is best.
    let candidates = generalised.orders().into_iter();
    let automata = candidates
        .map(|order| simplify::simplify(generalised.degeneralise(&order, atoms.to_vec())));
    let smallest = automata.min_by_key(|it| (it.states.len(), it.n_edges()));
    Ok(smallest.expect("there is an order"))
}

/// A Büchi automaton that accepts exactly the words that violate the formula, and whether it
/// matters to it how often a letter is repeated.
pub fn negated(formula: &Formula, atoms: &[String]) -> Result<(Automaton, Stuttering), TooLarge> {
    let mut pool = Pool::new();
    let normal = pool.add(formula);
    let negation = pool.not(normal);
    let automaton = translate(&mut pool, negation, atoms)?;
    if pool.is_next_free(normal) {
        return Ok((automaton, Stuttering::Invariant));
    }
    // The opposite is at hand: nothing has to be complemented.
    let stuttering = match translate(&mut pool, normal, atoms) {
        Ok(opposite) => is_stutter_invariant(&automaton, &opposite),
        Err(_) => Stuttering::Unknown,
    };
    Ok((automaton, stuttering))
}

/// The same; and if the formula is a safety property, the automaton is terminal wherever that is
/// found ([`Automaton::is_terminal`]): what violates the formula, violates it with a prefix.
pub fn negated_terminal(
    formula: &Formula,
    atoms: &[String],
) -> Result<(Automaton, Stuttering), TooLarge> {
    let (automaton, stuttering) = negated(formula, atoms)?;
    let is_small = automaton.states.len() <= MOST_OPPOSED && formula.size() <= MOST_OPPOSED;
    if !is_small || automaton.is_terminal(&automaton.universal()) {
        return Ok((automaton, stuttering));
    }
    let mut pool = Pool::new();
    let normal = pool.add(formula);
    let opposite = translate(&mut pool, normal, atoms).ok();
    let monitor = opposite.and_then(|opposite| safety::monitor(&opposite, &automaton));
    Ok((monitor.unwrap_or(automaton), stuttering))
}

/// Of formulae with more parts, and of automata with more states, the opposite may take long.
const MOST_OPPOSED: usize = 16;

/// There is no automaton of a reasonable size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the automaton of this formula has more than {limit} {what}")]
pub struct TooLarge {
    /// So many are allowed.
    pub limit: usize,
    /// Of these.
    pub what: &'static str,
}
