//! Executions as SPIN writes them down: a line for each step, with its depth, its process, its
//! statement.
//!
//! `spin -t` follows such a file, and so does [`Machine::follow`]. A rendezvous is two lines, the
//! sender's first. If a never claim moves, too, which a first line says, it is process 0, and the
//! others count from 1.

use super::Machine;
use crate::confirm::decision;
use crate::cycles::ClaimMoves;
use crate::transitions::{Moves, Step, Successor, Transitions};
use mazurka_core::{Decision, Schedule};
use std::fmt::Write as _;

/// Why a trail cannot be followed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TrailError {
    /// It is not what SPIN writes.
    #[error("line {0} is no step: it should be three numbers with colons between them")]
    Line(usize),
    /// It is about something else.
    #[error(
        "the step of line {0} is not possible: the trail is for another model, or other options"
    )]
    Step(usize),
}

impl Machine {
    /// The trail of an execution; nothing if its steps have no numbers, or are not possible. If the
    /// execution never ends, its line `loop_start`, from 1, follows the last one again.
    pub fn trail(&self, schedule: &Schedule, loop_start: Option<usize>) -> Option<String> {
        let mut walk = Walk::new(self);
        let mut trail = Trail { first_process: 0, ..Trail::default() };
        for decision in schedule.decisions() {
            for (process, statement) in walk.take(*decision)? {
                if loop_start == Some(trail.depth + 1) {
                    trail.begin_loop();
                }
                trail.step(process, statement);
            }
        }
        Some(trail.text)
    }

    /// The trail of an execution with what a never claim does beside it. The letters of the word
    /// that the claim reads are the states in front of the decisions at `starts`.
    pub fn trail_beside(
        &self,
        schedule: &Schedule,
        starts: &[usize],
        claim: &ClaimMoves,
    ) -> Option<String> {
        let mut walk = Walk::new(self);
        let text = format!("-2:{}:-2\n", claim.routine.0);
        let mut trail = Trail { text, depth: 0, first_process: 1 };
        let decisions = schedule.decisions();
        for (idx, (letter, statements)) in claim.steps.iter().enumerate() {
            if claim.loop_start == Some(idx) {
                trail.begin_loop();
            }
            statements.iter().for_each(|&statement| trail.claim_step(statement));
            let end = starts.get(letter + 1).copied().unwrap_or(decisions.len());
            for &decision in &decisions[starts[*letter]..end] {
                for (process, statement) in walk.take(decision)? {
                    trail.step(process, statement);
                }
            }
        }
        Some(trail.text)
    }

    /// The execution that a trail is of.
    pub fn follow(&self, trail: &str) -> Result<Schedule, TrailError> {
        let mut steps = Vec::new();
        let mut has_claim = false;
        for (idx, line) in trail.lines().enumerate() {
            let wrong = TrailError::Line(idx + 1);
            let numbers: Result<Vec<i64>, _> = line.trim().split(':').map(str::parse).collect();
            let Ok(&[depth, process, statement]) = numbers.as_deref() else { return Err(wrong) };
            has_claim |= depth == -2;
            // What is below zero is about how it was found. What a claim does is not looked at.
            if depth >= 0 && !(has_claim && process == 0) {
                steps.push((idx + 1, process - i64::from(has_claim), statement));
            }
        }
        let mut walk = Walk::new(self);
        let mut schedule = Schedule::new();
        let mut rest = &steps[..];
        while let Some((line, ..)) = rest.first() {
            let is_next = |idx: &usize| {
                let made = walk.statements(walk.moves[*idx].step);
                let mut wanted = rest.iter().map(|(_, process, it)| (*process, *it));
                made.iter().all(|(process, statement)| {
                    let made = statement.map(|it| (i64::from(*process), i64::from(it)));
                    made.is_some() && wanted.next() == made
                })
            };
            let found = (0..walk.moves.len()).find(is_next).ok_or(TrailError::Step(*line))?;
            rest = &rest[walk.statements(walk.moves[found].step).len()..];
            schedule.push(decision(&walk.moves, found));
            walk.go(found);
        }
        Ok(schedule)
    }
}

/// A trail in the making.
#[derive(Default)]
struct Trail {
    text: String,
    depth: usize,
    first_process: u32,
}

impl Trail {
    fn step(&mut self, process: u32, statement: u32) {
        self.line(process + self.first_process, statement);
    }

    fn claim_step(&mut self, statement: u32) {
        self.line(0, statement);
    }

    fn line(&mut self, process: u32, statement: u32) {
        self.depth += 1;
        let _ = writeln!(self.text, "{}:{process}:{statement}", self.depth);
    }

    /// What comes now is repeated for ever.
    fn begin_loop(&mut self) {
        self.text.push_str("-1:-1:-1\n");
    }
}

/// An execution in progress.
struct Walk {
    machine: Machine,
    state: Vec<u8>,
    moves: Moves,
}

impl Walk {
    fn new(machine: &Machine) -> Self {
        let (mut machine, mut state, mut moves) = (machine.clone(), Vec::new(), Moves::new());
        machine.initial(&mut state);
        machine.expand(&state, &mut moves);
        Self { machine, state, moves }
    }

    /// The move that a decision is.
    fn find(&self, decision: Decision) -> Option<usize> {
        let mut groups = self.moves.groups().iter();
        let group = groups.position(|it| it.process as usize == decision.thread.index())?;
        self.moves.of_group(group).nth(decision.choice as usize)
    }

    /// Takes a step; who takes which statements in it, if all of them have numbers.
    fn take(&mut self, decision: Decision) -> Option<Vec<(u32, u32)>> {
        let idx = self.find(decision)?;
        let statements = self.statements(self.moves[idx].step).into_iter();
        let statements = statements.map(|(process, number)| Some((process, number?))).collect();
        self.go(idx);
        statements
    }

    fn go(&mut self, idx: usize) {
        if self.moves[idx].successor != Successor::None {
            self.state = self.moves.state(idx).to_vec();
            self.moves.clear();
            self.machine.expand(&self.state, &mut self.moves);
        }
    }

    /// Who takes which statements in a step.
    fn statements(&self, step: Step) -> Vec<(u32, Option<u32>)> {
        let mut machine = self.machine.clone();
        let code = self.machine.code.clone();
        let number = |edge: u32| code.edges[edge as usize].number;
        let mut all = vec![(step.process, number(step.edge))];
        if let Some(partner) = step.partner {
            let first = machine.with_view(&self.state, |it| it.place_of(partner).edges.start);
            all.push((partner, number(first + step.choice)));
        }
        all
    }
}
