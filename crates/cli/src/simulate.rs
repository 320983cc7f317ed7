//! One execution of a model: at random or as its user says (`mazurka simulate`), or as a schedule says.

use crate::arguments::{Build, Simulation, Temporal};
use crate::temporal::Wanted;
use crate::{Done, Failure, promela, say, show, temporal};
use mazurka_core::{Decision, Schedule, Told, Violation, ViolationKind};
use mazurka_model::Expr;
use mazurka_promela::Asked;
use mazurka_report::{Colour, ExitStatus};
use mazurka_statespace::{
    BAD_PREFIX, Fairness, Group, Machine, Moves, Reduction, Successor, Transitions,
};
use std::fmt::Write as _;
use std::io::BufRead as _;
use std::path::Path;

/// Runs one execution, and tells each of its steps.
pub(crate) fn simulate(file: &Path, build: &Build, simulation: &Simulation) -> Done {
    let model = promela::translate(file, build, Asked::default())?;
    let machine = promela::machine(&model.program, &[])?;
    say(Colour::Doing, "Simulating", &file.to_string_lossy());
    let mut walk = Walk::new(machine.finding_truncation());
    let mut chance = Chance(simulation.seed);
    for _ in 0..simulation.steps {
        if walk.moves.is_empty() {
            return Ok(walk.end());
        }
        let idx = match simulation.interactive {
            true => match ask(&mut walk)? {
                Some(idx) => idx,
                None => return Ok(ExitStatus::Inconclusive),
            },
            false => chance.below(walk.moves.len()),
        };
        if let Some(violation) = walk.take(idx).filter(|it| it.kind != ViolationKind::Overflow) {
            say(Colour::Bad, "Violated", &violation.message);
            return Ok(ExitStatus::Violated);
        }
    }
    let text = format!("after {} steps", simulation.steps);
    say(Colour::Open, "Stopped", &text);
    Ok(ExitStatus::Inconclusive)
}

/// Follows the schedule of one execution, and tells each of its steps. It may be one that goes on for ever
/// and violates a temporal property: of those that are asked for or, if there are none, of the model.
pub(crate) fn replay(file: &Path, build: &Build, temporal: &Temporal, schedule: &Schedule) -> Done {
    let (asked, automaton) = temporal::asked(temporal)?;
    let model = promela::translate(file, build, asked)?;
    let wanted = temporal::wanted(&model, temporal, automaton)?;
    let machine = promela::machine(&model.program, &[])?;
    say(Colour::Doing, "Replaying", &file.to_string_lossy());
    let mut walk = Walk::new(machine.finding_truncation());
    for (step, &decision) in schedule.decisions().iter().enumerate() {
        let Some(idx) = walk.find(decision) else {
            let text = format!("the schedule cannot be followed beyond step {}", walk.n_steps);
            return Err(Failure::input(text)
                .help("it is for another model, or other options")
                .into());
        };
        let is_last = step + 1 == schedule.len();
        let is_wrong = |it: &Violation| is_last || it.kind != ViolationKind::Overflow;
        if let Some(violation) = walk.take(idx).filter(is_wrong) {
            say(Colour::Bad, "Violated", &violation.message);
            return Ok(ExitStatus::Violated);
        }
    }
    let make = |propositions: &[Expr]| promela::machine(&model.program, propositions);
    if let Some(message) = violated_for_ever(make, &wanted, schedule)? {
        say(Colour::Bad, "Violated", &message);
        return Ok(ExitStatus::Violated);
    }
    match walk.moves.is_empty() {
        true => Ok(walk.end()),
        false => {
            say(Colour::Open, "Followed", "nothing goes wrong in this execution");
            Ok(ExitStatus::Holds)
        }
    }
}

/// Follows a trail, ours or SPIN's, and tells each of its steps.
pub(crate) fn replay_trail(file: &Path, build: &Build, temporal: &Temporal, trail: &Path) -> Done {
    let name = trail.display();
    let text = std::fs::read_to_string(trail)
        .map_err(|error| Failure::input(format!("`{name}` cannot be read: {error}")))?;
    let model = promela::translate(file, build, Asked::default())?;
    let machine = promela::machine(&model.program, &[])?;
    let schedule =
        machine.follow(&text).map_err(|error| Failure::input(format!("`{name}`: {error}")))?;
    replay(file, build, temporal, &schedule)
}

/// Which property is violated however an execution goes on, or if it goes on as it has come, from
/// the state where it is to the same one again; in words. `make` makes the program that knows about
/// propositions.
pub(crate) fn violated_for_ever<T: Transitions>(
    make: impl Fn(&[Expr]) -> Result<T, Vec<Failure>>,
    wanted: &[Wanted],
    schedule: &Schedule,
) -> Result<Option<String>, Vec<Failure>> {
    for property in wanted {
        let program = make(&property.propositions)?;
        let (letters, _) = letters(&program, schedule);
        if property.has_bad_prefix(&letters) {
            return Ok(Some(format!("{} fails: {BAD_PREFIX}", property.name)));
        }
        if let Some(violation) = undefined(program, schedule) {
            return Ok(Some(format!("{}, in {}", violation.message, property.name)));
        }
        let words = words(&make(&property.propositions)?, schedule);
        if let Some(it) = words.iter().find(|it| property.is_violated_by(&it.word) == Some(true)) {
            let how = if it.ends { "it stops there" } else { "this goes on" };
            return Ok(Some(format!("{} fails: {how} for ever", property.name)));
        }
    }
    Ok(None)
}

/// Whether an execution comes to a state again in the end, and can go on like that for ever.
pub(crate) fn goes_on<T: Transitions>(program: &T, schedule: &Schedule) -> bool {
    let (states, ends) = states_of(program.clone(), schedule);
    states
        .split_last()
        .is_some_and(|((last, _), before)| !ends && before.iter().any(|(state, _)| state == last))
}

/// An execution that goes on for ever, as an automaton reads it.
pub(crate) struct Read {
    pub(crate) word: mazurka_ltl::Lasso,
    /// For each letter, the decision that comes next.
    pub(crate) starts: Vec<usize>,
    /// Whether nothing happens any more.
    ends: bool,
}

/// What goes wrong when the propositions of a program are computed at the end of an execution.
fn undefined<T: Transitions>(mut program: T, schedule: &Schedule) -> Option<Violation> {
    program.reduce_watched(Reduction::None, Fairness::None);
    let (states, _) = states_of(program.clone(), schedule);
    let (last, _) = states.last()?;
    (0..program.n_propositions()).find_map(|idx| program.undefined(idx, last))
}

/// What an automaton reads in an execution as far as it has come, and for each letter the decision
/// that comes next.
pub(crate) fn letters<T: Transitions>(program: &T, schedule: &Schedule) -> (Vec<u64>, Vec<usize>) {
    let mut program = program.clone();
    program.reduce_watched(Reduction::None, Fairness::None);
    let (states, _) = states_of(program.clone(), schedule);
    states.iter().map(|(state, start)| (program.letter(state), *start)).unzip()
}

/// What an execution is if it goes on as it has come, from the state where it is to the same one again. There may
/// be several such states.
pub(crate) fn words<T: Transitions>(program: &T, schedule: &Schedule) -> Vec<Read> {
    let mut words = Vec::new();
    // With a reduction, states that differ in what nobody reads any more are one.
    for reduction in Reduction::ALL {
        let mut program = program.clone();
        program.reduce_watched(reduction, Fairness::None);
        let (states, ends) = states_of(program.clone(), schedule);
        let Some(((last, _), before)) = states.split_last() else { continue };
        // Who has ended stays where it is.
        let around = if ends { &states[..] } else { before };
        let letters: Vec<u64> = around.iter().map(|(state, _)| program.letter(state)).collect();
        let starts: Vec<usize> = around.iter().map(|&(_, start)| start).collect();
        for loop_start in (0..around.len()).filter(|&idx| around[idx].0 == *last) {
            let word = mazurka_ltl::Lasso { letters: letters.clone(), loop_start };
            words.push(Read { word, starts: starts.clone(), ends });
        }
    }
    words
}

/// The states that an execution comes by, without those inside of indivisible sequences, each with the number of
/// the decision that comes next; and whether it ends there. None if the schedule cannot be followed.
fn states_of<T: Transitions>(program: T, schedule: &Schedule) -> (Vec<(Vec<u8>, usize)>, bool) {
    let mut walk = Walk::new(program);
    let mut states = vec![(walk.state.clone(), 0)];
    for (idx, &decision) in schedule.decisions().iter().enumerate() {
        let next = idx + 1;
        let Some(idx) = walk.find(decision) else { return (Vec::new(), false) };
        let successor = walk.moves[idx].successor;
        walk.go(idx);
        if successor == Successor::Stored {
            states.push((walk.state.clone(), next));
        }
    }
    (states, walk.moves.is_empty())
}

/// An execution, as far as it has come.
struct Walk<T> {
    program: T,
    state: Vec<u8>,
    /// What is possible now.
    moves: Moves,
    n_steps: usize,
}

impl<T: Transitions> Walk<T> {
    fn new(mut program: T) -> Self {
        let (mut state, mut moves) = (Vec::new(), Moves::new());
        program.initial(&mut state);
        program.expand(&state, &mut moves);
        Self { program, state, moves, n_steps: 0 }
    }

    /// The move that a decision is: of that process, the one with that number.
    fn find(&self, decision: Decision) -> Option<usize> {
        let is_theirs = |group: &Group| group.process as usize == decision.thread.index();
        let group = self.moves.groups().iter().position(is_theirs)?;
        let mut range = self.moves.of_group(group);
        range.nth(decision.choice as usize)
    }

    /// Takes one of the moves, and tells it; returns what went wrong. A value that is cut off is told.
    fn take(&mut self, idx: usize) -> Option<Violation> {
        let made = self.moves[idx];
        self.n_steps += 1;
        for told in self.program.describe(&self.state, made.step) {
            show(&format!("{:>6}  {}\n", self.n_steps, line(&told)));
        }
        let fault = made.fault.map(|fault| self.program.violation(&self.state, made.step, fault));
        self.go(idx);
        if let Some(cut) = fault.as_ref().filter(|it| it.kind == ViolationKind::Overflow) {
            show(&format!("        {}\n", cut.message));
        }
        fault
    }

    /// Goes where a move leads, if it leads anywhere.
    fn go(&mut self, idx: usize) {
        if self.moves[idx].successor != Successor::None {
            self.state = self.moves.state(idx).to_vec();
            self.moves.clear();
            self.program.expand(&self.state, &mut self.moves);
        }
    }

    /// Tells how it ended.
    fn end(&mut self) -> ExitStatus {
        if self.program.is_valid_end(&self.state) {
            let text = format!("after {} steps, as it may", self.n_steps);
            say(Colour::Good, "Ended", &text);
            return ExitStatus::Holds;
        }
        let stuck = self.program.stuck(&self.state);
        say(Colour::Bad, "Violated", &stuck.violation.message);
        for told in &stuck.processes {
            show(&format!("        {}\n", line(told)));
        }
        ExitStatus::Violated
    }
}

/// A step on one line.
fn line(told: &Told) -> String {
    let mut line = format!("{:<16} {}", told.thread, told.operation);
    if let Some(value) = &told.value {
        let _ = write!(line, " {}", value.trim_end());
    }
    if let Some(place) = &told.location {
        let _ = write!(line, "    {}:{}", place.file, place.line);
    }
    line
}

/// Lets the user choose; nothing if there is nothing more to read.
fn ask(walk: &mut Walk<Machine>) -> Result<Option<usize>, Failure> {
    loop {
        for idx in 0..walk.moves.len() {
            let step = walk.moves[idx].step;
            let told = walk.program.describe(&walk.state, step);
            let both: Vec<String> = told.iter().map(line).collect();
            show(&format!("{:>6}: {}\n", idx + 1, both.join("\n        ")));
        }
        show(&format!("Which step, 1 to {}? ", walk.moves.len()));
        let mut answer = String::new();
        let read = std::io::stdin().lock().read_line(&mut answer);
        let n_bytes = read.map_err(|error| Failure::input(format!("no answer: {error}")))?;
        let answer = answer.trim();
        if n_bytes == 0 || answer == "q" {
            return Ok(None);
        }
        match answer.parse::<usize>() {
            Ok(number) if (1..=walk.moves.len()).contains(&number) => return Ok(Some(number - 1)),
            _ => show("a number of the list, or `q` to stop\n"),
        }
    }
}

/// Numbers drawn from a seed.
struct Chance(u64);

impl Chance {
    /// A number below `n`.
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((bits ^ bits >> 31) % n as u64) as usize
    }
}
