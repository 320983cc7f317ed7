//! A build without the feature `jit`: there is no machine code, and the interpreter tells all
//! moves.
//!
//! It stands in for `jit/`, with as much of its interface as [`super::Machine`] uses.

use super::code::Code;
use super::steps::Steps;
use super::view::View;
use crate::transitions::Moves;

/// The steps of a program as machine code: never there.
#[derive(Debug)]
pub(super) enum Jit {}

impl Jit {
    /// No program can be compiled.
    pub(super) fn new(_: &Code) -> Option<Self> {
        None
    }

    /// How many locations have machine code.
    pub(super) fn n_locations(&self) -> usize {
        match *self {}
    }
}

/// What is to be told of a state.
pub(super) struct Context<'a> {
    steps: &'a mut Steps,
    moves: &'a mut Moves,
}

impl<'a> Context<'a> {
    pub(super) fn new(
        _: View<'a>,
        _: Option<&'a Jit>,
        steps: &'a mut Steps,
        moves: &'a mut Moves,
    ) -> Self {
        Self { steps, moves }
    }

    /// Tells the moves of a process.
    pub(super) fn moves_of(&mut self, view: View<'_>, process: u32) {
        self.steps.moves_of(view, process, self.moves);
    }

    /// The moves that were told.
    pub(super) fn moves(&mut self) -> &mut Moves {
        self.moves
    }
}
