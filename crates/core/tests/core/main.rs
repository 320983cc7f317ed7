//! What all of Mazurka stands on: dependence, traces, and the rules of this repository. One program
//! for all tests, compiled and linked once.

mod dependence;
mod support;
mod tidy;
mod traces;
