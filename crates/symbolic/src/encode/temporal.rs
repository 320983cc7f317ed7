//! Temporal properties: an automaton that runs beside a program, and which executions without end
//! count.
//!
//! Implements Vardi and Wolper, *An Automata-Theoretic Approach to Automatic Program Verification*
//! (LICS 1986), with process justice and process fairness as in Lichtenstein and Pnueli, *Checking
//! That Finite State Concurrent Programs Satisfy Their Linear Specification* (POPL 1985), and the
//! assumption F of Peled, *Combining Partial Order Reductions with On-the-fly Model-Checking* (CAV
//! 1994).
//!
//! | papers                                   | here                                           |
//! |------------------------------------------|------------------------------------------------|
//! | the automaton of what is wrong           | [`Temporal::automaton`]                        |
//! | the product, and its accepting states    | [`Encoder::add_automaton`]                     |
//! | bad prefixes (Kupferman and Vardi 2001)  | [`Meaning::BadPrefix`]                         |
//! | justice: able for ever, so moves         | [`Fairness::Weak`], by [`Encoder::fair`]       |
//! | fairness: able again and again, so moves | [`Fairness::Strong`], by [`Encoder::fair`]     |
//! | F: able, so something dependent happens  | [`Fairness::Trace`], by [`Encoder::fair`]      |
//!
//! Differs: the automaton takes a step where the machine does, and only there. A frame that is no
//! step of the machine comes before all others, so that what is read are the states of the machine.
//! Only how a thread begins may differ: to the machine that is a step or none. An automaton to
//! which it matters how often a letter is repeated needs a program in which all threads begin with
//! a step (`mazurka_model::add_first_steps`). An execution that ends stays where it is for ever;
//! whether the automaton accepts that is a function of its state and the last letter, and so this
//! is a bad state and no loop. Where the automaton goes on to a universal state, whatever comes
//! next is accepted: this is a bad state, too, and if no other state accepts
//! ([`Automaton::is_terminal`]), loops need not be looked for. Strong fairness is a guess, before
//! the loop, of who will never be able to move again. No step of a thread is known to be
//! independent of all that others may do, here as in a search of states, so all of them depend on
//! each other in the sense of F, and every execution without end has it.

use super::graph::{StopKind, Thread};
use super::{Encoder, Meaning, Refusal, bits_for};
use crate::{Lit, Word};
use mazurka_ltl::{Automaton, Cube, Edge, State};
use mazurka_model::analysis::Abstract;
use mazurka_model::{Base, Expr, Place, Query, RegisterId, RoutineId, Span, Type};

/// What executions must not do for ever.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Temporal {
    /// What the atoms of the automaton mean: truth values about objects, locals and labels of the
    /// program.
    pub propositions: Vec<Expr>,
    /// Accepts what is wrong.
    pub automaton: Automaton,
    /// Which executions that never end count.
    pub fairness: Fairness,
    /// Whether those that end count, too: they stay where they are for ever.
    pub ends: bool,
}

/// Which executions that never end count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Fairness {
    /// All of them.
    #[default]
    None,
    /// Those in which no thread could always move from some point on and never does.
    Weak,
    /// Those in which no thread could move again and again and never does from some point on.
    Strong,
    /// Those in which every step that is possible is followed by one that depends on it.
    Trace,
}

impl Fairness {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::None, Self::Weak, Self::Strong, Self::Trace];

    /// What is assumed of an execution that never ends, if anything is.
    pub fn assumed(self) -> Option<mazurka_core::Fairness> {
        match self {
            Self::None => None,
            Self::Weak => Some(mazurka_core::Fairness::Weak),
            Self::Strong => Some(mazurka_core::Fairness::Strong),
            Self::Trace => Some(mazurka_core::Fairness::Trace),
        }
    }
}

impl Temporal {
    /// Executions must end, unless a thread that could move again and again is left out for ever.
    pub fn livelock() -> Self {
        let edges = vec![Edge { guard: Cube::default(), target: 0 }];
        let states = vec![State { is_accepting: true, edges }];
        let automaton = Automaton { atoms: Vec::new(), states };
        Self { propositions: Vec::new(), automaton, fairness: Fairness::Strong, ends: false }
    }

    /// What the propositions ask threads.
    fn queries(&self) -> Vec<&Query> {
        let mut queries = Vec::new();
        for proposition in &self.propositions {
            proposition.visit(&mut |part| {
                if let Expr::Query(query) = part {
                    queries.push(&**query);
                }
            });
        }
        queries
    }

    /// The registers that the propositions look at.
    pub(super) fn registers(&self) -> Vec<(RoutineId, RegisterId)> {
        let register = |query: &Query| match query {
            Query::Register { routine, register, .. } => Some((*routine, *register)),
            _ => None,
        };
        self.queries().into_iter().filter_map(register).collect()
    }

    /// Refuses propositions about threads whose numbers depend on who was first to start one.
    pub(super) fn check(&self, threads: &[Thread]) -> Result<(), Vec<Refusal>> {
        let mut parents: Vec<usize> =
            threads.iter().filter_map(|thread| thread.parent.map(|(parent, _)| parent)).collect();
        parents.dedup();
        match self.queries().is_empty() || parents.len() < 2 {
            true => Ok(()),
            false => {
                let what = "a formula about a thread where several start others";
                Err(vec![Refusal::new(what, Span::NONE)])
            }
        }
    }
}

/// What each thread does in a frame, as the machine has it.
struct Frame {
    /// For each thread, whether it takes the step of the frame, and that is one of the machine.
    moves: Vec<Lit>,
    /// For each thread, whether it can.
    is_able: Vec<Lit>,
    /// Whether the frame is a step of the machine.
    counts: Lit,
}

impl Encoder<'_> {
    /// Adds the automaton of a temporal property, its bad prefixes, and loops that must not be.
    /// Says when it is wrong that no thread can move, if it is anywhere.
    pub(super) fn add_automaton(
        &mut self,
        temporal: &Temporal,
        loops: &mut Vec<Meaning>,
    ) -> Option<Lit> {
        let universal = temporal.automaton.universal();
        let is_terminal = temporal.ends && temporal.automaton.is_terminal(&universal);
        let frame = self.frame();
        let letter = self.letter(&temporal.propositions);
        let guards = self.guards(&temporal.automaton, &letter);
        let states = &temporal.automaton.states;
        let width = bits_for(states.len()).max(1);
        let bits = 0..width;
        let state: Vec<Lit> = bits
            .clone()
            .map(|bit| self.circuit.latch(format!("automaton.{bit}"), Some(false)))
            .collect();
        let target: Vec<Lit> =
            bits.map(|bit| self.circuit.input(format!("automaton to.{bit}"))).collect();
        let aig = &mut self.circuit.aig;
        let is_at = aig.decode(&state.clone().into(), states.len());
        let goes_to = aig.decode(&target.clone().into(), states.len());
        let mut runs = Vec::new();
        for (from, ways) in guards.iter().enumerate() {
            for (to, &guard) in ways.iter().enumerate() {
                runs.push(aig.all([is_at[from], guard, goes_to[to]]));
            }
        }
        let runs = aig.any(runs);
        for (&latch, &target) in state.iter().zip(&target) {
            let next = self.circuit.aig.ite(frame.counts, target, latch);
            self.circuit.set_next(latch, next);
        }

        let has_failed = self.failed();
        let mut loses = vec![self.circuit.aig.and(frame.counts, !runs)];
        // Whatever has happened, it can go on fairly.
        let fair = match is_terminal {
            true => Vec::new(),
            false => self.fair(temporal.fairness, &frame, &mut loses),
        };
        let is_lost = self.since("lost", loses);
        let aig = &mut self.circuit.aig;
        let is_on = aig.and(!is_lost, !has_failed);
        if !is_terminal {
            let accepting = states.iter().zip(&is_at).filter(|(state, _)| state.is_accepting);
            let accepts = aig.any(accepting.map(|(_, is_at)| *is_at));
            // Once the program has exited, threads that still go round do not count.
            let is_over = match temporal.ends {
                true => Lit::FALSE,
                false => self.variables.word(self.excused).bits()[0],
            };
            let accepts = aig.all([accepts, frame.counts, is_on, !is_over]);
            self.circuit.justice.push(std::iter::once(accepts).chain(fair).collect());
            loops.push(Meaning::GoesOn);
        }
        self.forbid_spinning(&frame, has_failed, loops);

        if !temporal.ends {
            return None;
        }
        let aig = &mut self.circuit.aig;
        let mut decided = Vec::new();
        for (ways, &is_at) in guards.iter().zip(&is_at) {
            let ways = ways.iter().zip(&universal).filter(|(_, is_universal)| **is_universal);
            let goes_there = aig.any(ways.map(|(guard, _)| *guard));
            decided.push(aig.all([is_at, goes_there, is_on, frame.counts]));
        }
        self.bads.insert(Meaning::BadPrefix, decided);
        let is_over = !aig.any(frame.is_able.iter().copied());
        let wrong = accepted_for_ever(aig, &temporal.automaton, guards);
        let wrong: Vec<Lit> =
            wrong.into_iter().zip(is_at).map(|(wrong, is_at)| aig.and(wrong, is_at)).collect();
        let wrong = aig.any(wrong);
        Some(aig.all([is_over, is_on, wrong]))
    }

    /// Finds out which steps are those of the machine, and puts all others before them.
    fn frame(&mut self) -> Frame {
        let (mut moves, mut hurries) = (Vec::new(), Vec::new());
        for number in 0..self.threads.len() {
            let part = &self.parts[number];
            let is_child = self.threads[number].parent.is_some();
            // A thread that begins with something that others may notice takes a step for it.
            let counts = |stop: &super::StopPart| match stop.is_first {
                true => Lit::from(is_child),
                false => stop.gate.counts,
            };
            let stops: Vec<_> = part.stops.iter().map(|it| (it.is_here, counts(it))).collect();
            let (executes, is_enabled) = (part.executes, part.is_enabled);
            let aig = &mut self.circuit.aig;
            let counting: Vec<Lit> =
                stops.into_iter().map(|(is_here, counts)| aig.and(is_here, counts)).collect();
            let counts = aig.any(counting);
            moves.push(aig.and(executes, counts));
            hurries.push((aig.and(is_enabled, !counts), aig.and(executes, !counts)));
        }
        let aig = &mut self.circuit.aig;
        let counts = aig.any(moves.iter().copied());
        let somebody_hurries = aig.any(hurries.iter().map(|(is_able, _)| *is_able));
        let is_first = aig.any(hurries.iter().map(|(_, moves)| *moves));
        let comes_first = aig.implies(somebody_hurries, is_first);
        self.circuit.constrain(comes_first);
        let is_able = self.parts.iter().map(|part| part.is_enabled).collect();
        Frame { moves, is_able, counts }
    }

    /// What the propositions say of the state before the step.
    fn letter(&mut self, propositions: &[Expr]) -> Vec<Lit> {
        let nothing = super::State::new(&self.variables, &super::Facts::new());
        self.is_asking = true;
        let letter = propositions.iter().map(|it| self.eval(&nothing, it).bits()[0]).collect();
        self.is_asking = false;
        letter
    }

    /// For each state of an automaton, and each that it may go to, when it does.
    fn guards(&mut self, automaton: &Automaton, letter: &[Lit]) -> Vec<Vec<Lit>> {
        let n_states = automaton.states.len();
        let aig = &mut self.circuit.aig;
        let mut cube = |cube: Cube| {
            let lits = letter.iter().enumerate().filter_map(|(atom, &lit)| {
                let is_in = |bits: u64| bits >> atom & 1 == 1;
                is_in(cube.holds).then_some(lit).or(is_in(cube.fails).then_some(!lit))
            });
            aig.all(lits)
        };
        let mut guards = Vec::new();
        for state in &automaton.states {
            let mut ways = vec![Vec::new(); n_states];
            for edge in &state.edges {
                ways[edge.target].push(cube(edge.guard));
            }
            guards.push(ways);
        }
        guards.into_iter().map(|ways| ways.into_iter().map(|it| aig.any(it)).collect()).collect()
    }

    /// Whether a step has gone wrong by now, or reached a bound: what comes then is no execution.
    fn failed(&mut self) -> Lit {
        let is_failure =
            |meaning: &Meaning| matches!(meaning, Meaning::Violation(_) | Meaning::Bound(_));
        let failures = self.bads.iter().filter(|(meaning, _)| is_failure(meaning));
        let failures: Vec<Lit> = failures.flat_map(|(_, lits)| lits.iter().copied()).collect();
        self.since("failed", failures)
    }

    /// A latch that is true once one of these was.
    fn since(&mut self, name: &str, lits: Vec<Lit>) -> Lit {
        let latch = self.circuit.latch(name, Some(false));
        let next = self.circuit.aig.any(lits.into_iter().chain([latch]));
        self.circuit.set_next(latch, next);
        latch
    }

    /// A latch that becomes true at some time, or is from the beginning, or never.
    fn guess(&mut self, name: &str) -> Lit {
        let latch = self.circuit.latch(name, None);
        let now = self.circuit.input(format!("{name} now"));
        let next = self.circuit.aig.or(latch, now);
        self.circuit.set_next(latch, next);
        latch
    }

    /// What is true again and again in fair executions; adds to what makes an execution none.
    fn fair(&mut self, fairness: Fairness, frame: &Frame, loses: &mut Vec<Lit>) -> Vec<Lit> {
        let mut fair = Vec::new();
        for (number, (&moves, &is_able)) in frame.moves.iter().zip(&frame.is_able).enumerate() {
            let lit = match fairness {
                // Whatever is possible, the next step depends on it.
                Fairness::None | Fairness::Trace => continue,
                Fairness::Weak => self.circuit.aig.or(moves, !is_able),
                Fairness::Strong => {
                    let is_out = self.guess(&format!("thread {number} is out"));
                    loses.push(self.circuit.aig.all([is_out, is_able, frame.counts]));
                    self.circuit.aig.or(moves, is_out)
                }
            };
            fair.push(self.circuit.aig.and(lit, frame.counts));
        }
        fair
    }

    /// A thread that never comes to its next operation is wrong, as it is to the machine.
    fn forbid_spinning(&mut self, frame: &Frame, has_failed: Lit, loops: &mut Vec<Meaning>) {
        let is_head = |(number, thread): (usize, &Thread)| {
            let stations = self.parts[number].stops.iter().enumerate();
            let mut reached = stations.filter(|(_, part)| part.is_here != Lit::FALSE);
            reached.any(|(station, _)| {
                let stop = self.stations.get(number, station).stop;
                matches!(thread.stops[stop].kind, StopKind::Head(_))
            })
        };
        if !self.threads.iter().enumerate().any(is_head) {
            return;
        }
        let spins = self.guess("spins");
        let goes_on = self.circuit.aig.and(spins, frame.counts);
        let has_gone_on = self.since("went on", vec![goes_on]);
        let spins = self.circuit.aig.all([spins, !has_gone_on, !has_failed]);
        self.circuit.justice.push(vec![spins]);
        loops.push(Meaning::Spins);
    }

    /// What an object of the program holds before the step.
    pub(super) fn peek(&mut self, from: &Place, ty: Type) -> Word {
        let Base::Object(object) = from.base else {
            panic!("{from:?} is not in an object of the program")
        };
        let object = self.instances[&Abstract::Object(object)][0];
        self.peek_at(object, &from.offset, ty)
    }

    /// A number that a proposition names.
    fn number(&mut self, value: &Expr) -> usize {
        let nothing = super::State::new(&self.variables, &super::Facts::new());
        let number = self.eval(&nothing, value).value();
        number.expect("propositions name numbers by constants") as usize
    }

    fn peek_at(&mut self, object: super::ObjectId, offset: &Expr, ty: Type) -> Word {
        let offset = self.number(offset);
        let bytes = &self.objects[object].bytes[offset..][..ty.bytes() as usize];
        let bits = bytes.iter().flat_map(|&byte| self.variables.word(byte).bits().iter().copied());
        Word::from(bits.collect::<Vec<_>>()).truncate(ty.bits() as usize)
    }

    /// What a question about a thread comes to before the step: about the first one that runs the
    /// routine, if none is named.
    pub(super) fn answer(&mut self, query: &Query) -> Word {
        let (process, routine) = match query {
            Query::At { process, routine, .. }
            | Query::Register { process, routine, .. }
            | Query::Frame { process, routine, .. } => (process, *routine),
            other => panic!("{other:?} is nothing that threads have"),
        };
        let named = process.as_ref().map(|process| self.number(process));
        let is_meant = |&thread: &usize| named.is_none_or(|named| named == thread);
        let mut answer = Word::constant(query.ty().bits() as usize, 0);
        for thread in (0..self.threads.len()).rev().filter(is_meant) {
            let answers = self.answers_of(thread, routine, query);
            let aig = &mut self.circuit.aig;
            let is_in = aig.any(answers.iter().map(|(is_here, _)| *is_here));
            let own = aig.one_hot(answer.width(), &answers);
            answer = aig.mux(is_in, &own, &answer);
        }
        answer
    }

    /// The stations at which a thread is in a call of a routine, and what a question comes to
    /// there.
    fn answers_of(&mut self, thread: usize, routine: RoutineId, query: &Query) -> Vec<(Lit, Word)> {
        let threads = self.threads;
        let it = &threads[thread];
        let mut answers = Vec::new();
        for station in 0..self.stations.count(thread) {
            let is_here = self.parts[thread].stops[station].is_here;
            let known = self.stations.get(thread, station).clone();
            let call =
                it.calls_at(known.stop).find(|&context| it.contexts[context].routine == routine);
            let Some(context) = call.filter(|_| is_here != Lit::FALSE) else { continue };
            let word = match query {
                Query::At { location, .. } => {
                    let is_at = matches!(it.stops[known.stop].kind, StopKind::Edge { point, .. }
                        if point.context == context && point.location == *location);
                    Lit::from(is_at).into()
                }
                Query::Register { register, .. } => {
                    let variable = self.registers[thread] + it.register(context, *register);
                    let word = self.variables.word(variable);
                    let fact = known.facts.get(&variable);
                    fact.map_or(word.clone(), |&value| Word::constant(word.width(), value))
                }
                Query::Frame { from, ty, .. } => {
                    let Base::Frame(number) = from.base else { panic!("{from:?} is no local") };
                    let object = self.frames[&(thread, context, number)];
                    self.peek_at(object, &from.offset, *ty)
                }
                other => panic!("{other:?} is nothing that threads have"),
            };
            answers.push((is_here, word));
        }
        answers
    }
}

/// For each state of an automaton, whether it accepts one letter for ever from there, where these
/// are its ways with that letter.
fn accepted_for_ever(
    aig: &mut crate::Aig,
    automaton: &Automaton,
    mut reaches: Vec<Vec<Lit>>,
) -> Vec<Lit> {
    let n_states = reaches.len();
    for between in 0..n_states {
        for from in 0..n_states {
            for to in 0..n_states {
                let through = aig.and(reaches[from][between], reaches[between][to]);
                reaches[from][to] = aig.or(reaches[from][to], through);
            }
        }
    }
    let accepting: Vec<usize> =
        (0..n_states).filter(|&state| automaton.states[state].is_accepting).collect();
    let mut accepted = Vec::new();
    for from in 0..n_states {
        let comes_to = |&state: &usize| {
            let is_there = if state == from { Lit::TRUE } else { reaches[from][state] };
            (is_there, reaches[state][state])
        };
        let rounds: Vec<_> = accepting.iter().map(comes_to).collect();
        let rounds: Vec<Lit> =
            rounds.into_iter().map(|(there, back)| aig.and(there, back)).collect();
        accepted.push(aig.any(rounds));
    }
    accepted
}
