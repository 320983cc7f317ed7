//! Never claims, as automata.
//!
//! A claim takes a step, which is a guard, in the initial state and behind every step of the
//! program. So its locations are the states of an automaton that reads one letter after the other.
//! Where it ends, and where an assertion of it fails, the execution is wrong, however it goes on.

use mazurka_ltl::{Automaton, Cube, Edge as Way, Lasso, MAX_ATOMS, State, accepting_run};
use mazurka_model::{
    Action, Branching, Edge, Expr, LocationId, Program, Routine, RoutineId, Span, Type, Unary,
};

/// A claim, as an automaton and what its atoms mean.
#[derive(Clone, Debug)]
pub struct Claim {
    /// Accepts the executions that are wrong.
    pub automaton: Automaton,
    /// Truth values, computed without any process.
    pub propositions: Vec<Expr>,
    /// For each edge of each state, the numbers of the statements that the claim takes; nothing if
    /// one of them has none.
    statements: Vec<Vec<Option<Vec<u32>>>>,
    routine: RoutineId,
}

impl Claim {
    /// What it does in an execution that it accepts, whose letters are those of `word`; nothing if
    /// it does not accept it, or has statements without a number.
    pub fn moves(&self, word: &Lasso) -> Option<ClaimMoves> {
        let run = accepting_run(&self.automaton, word)?;
        let mut steps = Vec::new();
        for step in run.steps {
            let edges = &self.automaton.states[step.from].edges;
            let takes =
                |edge: &Way| edge.target == step.to && edge.guard.takes(word.letters[step.letter]);
            let edge = edges.iter().position(takes).expect("the run takes an edge");
            steps.push((step.letter, self.statements[step.from][edge].clone()?));
        }
        Some(ClaimMoves { routine: self.routine, steps, loop_start: Some(run.loop_start) })
    }

    /// What it does up to where it is violated however the execution goes on, if these letters lead
    /// there; nothing if they do not, or if it has statements without a number.
    pub fn moves_to_violation(&self, letters: &[u64]) -> Option<ClaimMoves> {
        let states = &self.automaton.states;
        let universal = self.automaton.universal();
        // For each letter and state behind it, the state in front and the number of the edge.
        let mut layers: Vec<Vec<Option<(usize, usize)>>> = Vec::new();
        let mut reached = vec![false; states.len()];
        reached[0] = true;
        for &letter in letters {
            let mut layer = vec![None; states.len()];
            for from in (0..states.len()).filter(|&from| reached[from]) {
                for (number, edge) in states[from].edges.iter().enumerate() {
                    if edge.guard.takes(letter) && layer[edge.target].is_none() {
                        layer[edge.target] = Some((from, number));
                    }
                }
            }
            reached = layer.iter().map(Option::is_some).collect();
            layers.push(layer);
        }
        let mut at = (0..states.len()).find(|&it| reached[it] && universal[it])?;
        let mut steps = Vec::new();
        for (letter, layer) in layers.iter().enumerate().rev() {
            let (from, edge) = layer[at].expect("it was reached");
            steps.push((letter, self.statements[from][edge].clone()?));
            at = from;
        }
        steps.reverse();
        Some(ClaimMoves { routine: self.routine, steps, loop_start: None })
    }
}

/// What a claim does beside an execution.
#[derive(Clone, Debug)]
pub struct ClaimMoves {
    pub(crate) routine: RoutineId,
    /// For each state of the execution: which one of those that are told it is, and the numbers of
    /// the statements that the claim takes there. The execution may go round several times before
    /// the claim has come round once.
    pub(crate) steps: Vec<(usize, Vec<u32>)>,
    /// The first of them that is repeated for ever, if one is.
    pub(crate) loop_start: Option<usize>,
}

/// Something in a claim that has no meaning here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a never claim with {what}")]
pub struct ClaimError {
    /// What it is.
    pub what: &'static str,
    /// Where it is.
    pub span: Span,
}

/// The claim of a program, if it has one.
pub fn claim(program: &Program) -> Option<Result<Claim, ClaimError>> {
    let id = program.claim?;
    let routine = program.routine(id);
    let mut builder =
        Builder { routine, atoms: Vec::new(), locations: Vec::new(), statements: Vec::new() };
    Some(builder.run().map(|states| {
        let atoms = (0..builder.atoms.len()).map(|idx| format!("p{idx}")).collect();
        Claim {
            automaton: Automaton { atoms, states },
            propositions: builder.atoms,
            statements: builder.statements,
            routine: id,
        }
    }))
}

/// Letters, as a disjunction of cubes.
type Guard = Vec<Cube>;

/// A step of the claim: the letters that it reads, where it leads, and the numbers of its
/// statements.
struct Taken {
    guard: Guard,
    to: To,
    statements: Option<Vec<u32>>,
}

/// Where a step of the claim leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum To {
    Location(LocationId),
    /// It is violated.
    Wrong,
}

/// As many steps may be one.
const MOST_AT_ONCE: usize = 64;

struct Builder<'a> {
    routine: &'a Routine,
    atoms: Vec<Expr>,
    /// The locations that have states, by the numbers of these.
    locations: Vec<LocationId>,
    statements: Vec<Vec<Option<Vec<u32>>>>,
}

impl Builder<'_> {
    fn run(&mut self) -> Result<Vec<State>, ClaimError> {
        let mut states = Vec::new();
        // Stands for the state behind what is wrong, while its number is not known.
        const WRONG: usize = usize::MAX;
        self.locations.push(self.routine.start);
        while let Some(&location) = self.locations.get(states.len()) {
            if self.is_end(location) {
                states.push(accepting(states.len()));
                self.statements.push(vec![Some(Vec::new())]);
                continue;
            }
            let (mut edges, mut numbers) = (Vec::new(), Vec::new());
            for Taken { guard, to, statements } in self.ways(location, 0)? {
                let target = match to {
                    To::Location(to) => self.state_of(to),
                    To::Wrong => WRONG,
                };
                numbers.extend(guard.iter().map(|_| statements.clone()));
                edges.extend(guard.into_iter().map(|guard| Way { guard, target }));
            }
            self.statements.push(numbers);
            let is_accepting = self.routine.location(location).labels.accept;
            states.push(State { is_accepting, edges });
        }
        let sink = states.len();
        let ways = states.iter_mut().flat_map(|state| &mut state.edges);
        let wrong: Vec<&mut Way> = ways.filter(|way| way.target == WRONG).collect();
        if !wrong.is_empty() {
            wrong.into_iter().for_each(|way| way.target = sink);
            states.push(accepting(sink));
            self.statements.push(vec![Some(Vec::new())]);
        }
        Ok(states)
    }

    fn state_of(&mut self, location: LocationId) -> usize {
        let known = self.locations.iter().position(|&known| known == location);
        known.unwrap_or_else(|| {
            self.locations.push(location);
            self.locations.len() - 1
        })
    }

    /// Whether a claim that stands there has come to its end.
    fn is_end(&self, location: LocationId) -> bool {
        let edges = &self.routine.location(location).edges;
        location == self.routine.end
            || edges.iter().any(|edge| matches!(edge.action, Action::Return { .. }))
    }

    /// The steps from a location.
    fn ways(&mut self, location: LocationId, n_before: usize) -> Result<Vec<Taken>, ClaimError> {
        let place = self.routine.location(location);
        let span = place.edges.first().map_or(self.routine.span, |edge| edge.span);
        let refuse = |what| Err(ClaimError { what, span });
        if n_before == MOST_AT_ONCE {
            return refuse("a loop in an atomic sequence");
        }
        if place.branching == Branching::Ordered && place.edges.len() > 1 {
            return refuse("choices in an order");
        }
        let mut guards = Vec::new();
        for edge in place.edges.iter().filter(|edge| !edge.otherwise) {
            guards.push(self.guard_of(edge)?);
        }
        let rest = not(&guards.concat());
        let mut guards = guards.into_iter();
        let mut ways = Vec::new();
        for edge in &place.edges {
            let guard = match edge.otherwise {
                true => rest.clone(),
                false => guards.next().expect("there is one for each"),
            };
            self.take(edge, guard, n_before, &mut ways)?;
        }
        Ok(ways)
    }

    /// Adds what an edge leads to.
    fn take(
        &mut self,
        edge: &Edge,
        mut guard: Guard,
        n_before: usize,
        ways: &mut Vec<Taken>,
    ) -> Result<(), ClaimError> {
        if edge.escape.is_some() {
            return Err(ClaimError { what: "an escape", span: edge.span });
        }
        let here = edge.number.map(|number| vec![number]);
        match &edge.action {
            Action::Skip | Action::Print { .. } => {}
            Action::Check { condition, .. } => {
                let holds = self.guard(condition, edge.span)?;
                let fails = and(&guard, &not(&holds));
                ways.push(Taken { guard: fails, to: To::Wrong, statements: here.clone() });
                guard = and(&guard, &holds);
            }
            Action::Assign { .. } | Action::Store { .. } => {
                return Err(ClaimError { what: "variables", span: edge.span });
            }
            _ => return Err(ClaimError { what: "a step that is no guard", span: edge.span }),
        }
        if !edge.atomic || self.is_end(edge.to) {
            ways.push(Taken { guard, to: To::Location(edge.to), statements: here });
            return Ok(());
        }
        // What follows reads the same letter, if it can.
        let mut rest = guard.clone();
        for Taken { guard: next, to, statements } in self.ways(edge.to, n_before + 1)? {
            let statements = here.clone().zip(statements).map(|(here, more)| [here, more].concat());
            ways.push(Taken { guard: and(&guard, &next), to, statements });
            rest = and(&rest, &not(&next));
        }
        ways.push(Taken { guard: rest, to: To::Location(edge.to), statements: here });
        Ok(())
    }

    fn guard_of(&mut self, edge: &Edge) -> Result<Guard, ClaimError> {
        match &edge.guard {
            Some(guard) => self.guard(guard, edge.span),
            None => Ok(vec![Cube::TRUE]),
        }
    }

    /// The letters in which an expression is true.
    fn guard(&mut self, expr: &Expr, span: Span) -> Result<Guard, ClaimError> {
        Ok(match expr {
            Expr::Const { bits, .. } => match bits {
                0 => Guard::new(),
                _ => vec![Cube::TRUE],
            },
            Expr::Unary(Unary::Not, inner) if inner.ty() == Type::BOOL => {
                not(&self.guard(inner, span)?)
            }
            Expr::If(parts) if parts[1].ty() == Type::BOOL => {
                let [condition, then, otherwise] = parts.as_ref();
                let condition = self.guard(condition, span)?;
                let then = and(&condition, &self.guard(then, span)?);
                let otherwise = and(&not(&condition), &self.guard(otherwise, span)?);
                [then, otherwise].concat()
            }
            _ => {
                let known = self.atoms.iter().position(|atom| atom == expr);
                // One more may be needed for labels that accept.
                if known.is_none() && self.atoms.len() + 1 == MAX_ATOMS {
                    return Err(ClaimError { what: "too many different conditions", span });
                }
                let atom = known.unwrap_or_else(|| {
                    self.atoms.push(expr.clone());
                    self.atoms.len() - 1
                });
                vec![Cube::literal(atom, true)]
            }
        })
    }
}

/// A state of this number that every word is accepted from.
fn accepting(number: usize) -> State {
    State { is_accepting: true, edges: vec![Way { guard: Cube::TRUE, target: number }] }
}

fn and(left: &[Cube], right: &[Cube]) -> Guard {
    let pairs = left.iter().flat_map(|cube| right.iter().filter_map(|other| cube.and(*other)));
    let mut cubes: Guard = pairs.collect();
    cubes.sort_unstable();
    cubes.dedup();
    cubes
}

fn not(guard: &[Cube]) -> Guard {
    let mut result = vec![Cube::TRUE];
    for cube in guard {
        let atoms = (0..MAX_ATOMS).filter(|atom| (cube.holds | cube.fails) >> atom & 1 == 1);
        let opposite: Guard =
            atoms.map(|atom| Cube::literal(atom, cube.fails >> atom & 1 == 1)).collect();
        result = and(&result, &opposite);
    }
    result
}
