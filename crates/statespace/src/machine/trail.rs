//! Executions as SPIN writes them down: a line for each step, with its depth, its process, its statement.
//!
//! `spin -t` follows such a file, and so does [`Machine::follow`]. A rendezvous is two lines, the sender's first.

use super::Machine;
use crate::confirm::decision;
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
    /// The trail of an execution; nothing if its steps have no numbers, or are not possible. If the execution
    /// never ends, its line `loop_start`, from 1, follows the last one again.
    pub fn trail(&self, schedule: &Schedule, loop_start: Option<usize>) -> Option<String> {
        let mut walk = Walk::new(self);
        let mut trail = String::new();
        let mut depth = 0;
        for decision in schedule.decisions() {
            let idx = walk.find(*decision)?;
            for (process, statement) in walk.statements(walk.moves[idx].step) {
                depth += 1;
                if loop_start == Some(depth) {
                    trail.push_str("-1:-1:-1\n");
                }
                let _ = writeln!(trail, "{depth}:{process}:{}", statement?);
            }
            walk.go(idx);
        }
        Some(trail)
    }

    /// The execution that a trail is of.
    pub fn follow(&self, trail: &str) -> Result<Schedule, TrailError> {
        let mut steps = Vec::new();
        for (idx, line) in trail.lines().enumerate() {
            let wrong = TrailError::Line(idx + 1);
            let numbers: Result<Vec<i64>, _> = line.trim().split(':').map(str::parse).collect();
            let Ok(&[depth, process, statement]) = numbers.as_deref() else { return Err(wrong) };
            // What is below zero is about how it was found.
            if depth >= 0 {
                steps.push((idx + 1, process, statement));
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
