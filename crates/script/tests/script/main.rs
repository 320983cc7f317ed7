//! The language, and the programs that are generated in it. One program for all tests, compiled and
//! linked once.

mod generated;
mod language;
