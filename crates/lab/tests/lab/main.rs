//! The counts and the costs that `RESULTS.md` is about. One program for all tests, compiled and
//! linked once.

mod flat;
mod native;
mod traces;
