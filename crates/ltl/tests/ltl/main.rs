//! Automata against what their formulae mean, and against those of other tools. One program for all
//! tests, compiled and linked once.

mod sizes;
mod tableau;
mod translation;
