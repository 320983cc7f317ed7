//! Counterexamples of temporal properties, checked before they are told: a way there and a way
//! around, or a way to where nothing can help any more.

use super::fairness::{Able, Moved, Processes, neglected};
use super::graph::{Arrow, Graph};
use super::product::Bad;
use crate::options::Fairness;
use crate::search_limits::Path;
use crate::transitions::{Moves, Transitions};
use mazurka_core::{Counterexample, Execution, Schedule, Told, Violation};
use mazurka_ltl::{Automaton, Lasso as Word, accepts};

/// What a search has found.
#[derive(Clone, Debug)]
pub(super) enum Found {
    /// An infinite execution.
    Lasso(Lasso),
    /// The beginning of executions all of which are wrong.
    Prefix(Prefix),
    /// Moves from the initial state, the last of which goes wrong.
    Fault(Path),
}

/// Steps from the initial state, of which those from `loop_start` on are repeated for ever.
#[derive(Clone, Debug)]
pub(super) struct Lasso {
    /// Each with the state that it leads away from.
    pub(super) steps: Vec<(u32, Arrow)>,
    pub(super) loop_start: usize,
}

/// Steps from the initial state.
#[derive(Clone, Debug)]
pub(super) struct Prefix {
    /// Each with the state that it leads away from.
    pub(super) steps: Vec<(u32, Arrow)>,
    /// Where the last one leads.
    pub(super) last: u32,
    /// What is wrong there.
    pub(super) bad: Bad,
}

/// A counterexample, and where its loop begins.
pub(super) struct Confirmed {
    pub(super) counterexample: Counterexample,
    /// The first entry of the story that is repeated, from 1; none if nothing happens any more.
    pub(super) loop_start: Option<usize>,
    /// To whom it is not fair, for people.
    pub(super) notes: Vec<String>,
}

/// Follows a lasso, and tells it.
///
/// # Panics
///
/// If it is none, or the automaton does not accept it, or it is not fair.
pub(super) fn confirm<T: Transitions>(
    graph: &mut Graph<'_, T>,
    automaton: &Automaton,
    fairness: Fairness,
    lasso: &Lasso,
    violation: impl FnOnce(bool) -> Violation,
) -> Confirmed {
    let Lasso { steps, loop_start } = lasso;
    let letters = steps.iter().map(|&(from, _)| graph.letter(from)).collect();
    let word = Word { letters, loop_start: *loop_start };
    assert!(accepts(automaton, &word), "the automaton accepts what was found");
    assert!(is_fair(graph, fairness, &steps[*loop_start..]), "what was found is fair");

    let mut walk = Walk::new(graph, automaton);
    walk.follow(graph, &steps[..*loop_start]);
    let (first, at_start) = (walk.story.len(), walk.state.clone());
    walk.follow(graph, &steps[*loop_start..]);
    assert_eq!(walk.state, at_start, "a loop ends where it began");
    let stays = first == walk.story.len();
    // What stops is fair to everybody.
    let notes = match stays {
        true => Vec::new(),
        false => notes(graph, fairness, &steps[*loop_start..], &at_start),
    };
    let counterexample = walk.end(graph, violation(stays));
    Confirmed { counterexample, loop_start: (!stays).then_some(first + 1), notes }
}

/// Follows a bad prefix, and tells it.
///
/// # Panics
///
/// If it is none.
pub(super) fn confirm_prefix<T: Transitions>(
    graph: &mut Graph<'_, T>,
    automaton: &Automaton,
    prefix: &Prefix,
    violation: impl FnOnce(&Bad) -> Violation,
) -> Counterexample {
    let Prefix { steps, last, bad } = prefix;
    let states = steps.iter().map(|&(from, _)| from).chain([*last]);
    let letters: Vec<u64> = states.map(|state| graph.letter(state)).collect();
    let is_bad = match bad {
        Bad::Prefix => automaton.is_bad_prefix(&automaton.universal(), &letters),
        Bad::Undefined(_) => graph.undefined(*last) != 0,
    };
    assert!(is_bad, "what was found is wrong, however it goes on");
    let mut walk = Walk::new(graph, automaton);
    walk.follow(graph, steps);
    assert_eq!(walk.state, graph.state(*last), "the last step leads to the last state");
    walk.end(graph, violation(bad))
}

/// An execution that is followed, as far as it has come.
struct Walk {
    /// What people call the propositions.
    atoms: Vec<String>,
    state: Vec<u8>,
    schedule: Schedule,
    story: Vec<Told>,
}

impl Walk {
    fn new<T: Transitions>(graph: &mut Graph<'_, T>, automaton: &Automaton) -> Self {
        let mut state = Vec::new();
        graph.program().initial(&mut state);
        let atoms = automaton.atoms.to_vec();
        Self { atoms, state, schedule: Schedule::new(), story: Vec::new() }
    }

    fn follow<T: Transitions>(&mut self, graph: &mut Graph<'_, T>, steps: &[(u32, Arrow)]) {
        let mut moves = Moves::new();
        for &(from, arrow) in steps {
            assert_eq!(self.state, graph.state(from), "a step begins where the last one ended");
            if arrow.process().is_none() {
                continue;
            }
            for choice in graph.moves_of(from, arrow) {
                let choice = choice as usize;
                let program = graph.program();
                moves.clear();
                program.expand(&self.state, &mut moves);
                self.schedule.push(program.decision(&moves, choice));
                let mut told = program.describe_move(&self.state, &moves, choice);
                let before = letter(program, &self.state);
                self.state.clear();
                self.state.extend_from_slice(moves.state(choice));
                let turned = self.turned(before, letter(program, &self.state));
                if let Some(last) = told.last_mut().filter(|_| !turned.is_empty()) {
                    let value = last.value.take().into_iter().chain(turned);
                    last.value = Some(value.collect::<Vec<_>>().join(", "));
                }
                self.story.extend(told);
            }
        }
    }

    /// The propositions whose truth is another one now.
    fn turned(&self, before: u64, after: u64) -> Vec<String> {
        let changed = before ^ after;
        let bits = self.atoms.iter().enumerate().filter(|(bit, _)| changed >> bit & 1 == 1);
        bits.map(|(bit, atom)| match after >> bit & 1 {
            0 => format!("`{atom}` true→false"),
            _ => format!("`{atom}` false→true"),
        })
        .collect()
    }

    fn end<T: Transitions>(self, graph: &mut Graph<'_, T>, violation: Violation) -> Counterexample {
        let end = graph.program().variables(&self.state);
        Counterexample {
            end,
            violation,
            schedule: self.schedule,
            execution: Execution::default(),
            story: self.story,
            waits: Vec::new(),
            accesses: Vec::new(),
            shared: Vec::new(),
            joins: Vec::new(),
            failed: None,
            decisive: None,
        }
    }
}

/// Which propositions are true in a state, if there are any.
fn letter<T: Transitions>(program: &mut T, state: &[u8]) -> u64 {
    if program.n_propositions() == 0 { 0 } else { program.letter(state) }
}

fn is_fair<T: Transitions>(
    graph: &Graph<'_, T>,
    fairness: Fairness,
    around: &[(u32, Arrow)],
) -> bool {
    if fairness == Fairness::None {
        return true;
    }
    let able = around.iter().map(|&(from, _)| graph.able(from));
    neglected(fairness, able, moved(around)).is_empty()
}

fn moved(around: &[(u32, Arrow)]) -> Moved {
    around.iter().fold(Moved::default(), |moved, (_, arrow)| moved.or(arrow.moved()))
}

/// Says to whom a cycle is not as fair as it could be. It begins in the state `at_start`.
fn notes<T: Transitions>(
    graph: &mut Graph<'_, T>,
    fairness: Fairness,
    around: &[(u32, Arrow)],
    at_start: &[u8],
) -> Vec<String> {
    let able: Vec<Able> = around.iter().map(|&(from, _)| graph.look(from)).collect();
    let moved = moved(around);
    let starved = |fairness| neglected(fairness, able.iter().copied(), moved);
    let always = starved(Fairness::Weak);
    let often = starved(Fairness::Strong).and(always.others());
    let mut names = |processes: Processes| {
        let program = graph.program();
        let names = processes.iter().map(|process| program.process_name(at_start, process));
        names.collect::<Vec<_>>().join(", ")
    };
    let assumed = match fairness {
        Fairness::None => "no fairness is assumed",
        Fairness::Weak => "what goes on for ever is weakly fair to every process",
        Fairness::Strong => "what goes on for ever is strongly fair to every process",
        Fairness::Trace => "what goes on for ever leaves no step out that nothing depends on",
    };
    let mut notes = vec![assumed.to_owned()];
    if !always.is_empty() {
        notes.push(format!("could always move there and never does: {}", names(always)));
    }
    if !often.is_empty() {
        notes.push(format!("could move there again and again and never does: {}", names(often)));
    }
    notes
}
