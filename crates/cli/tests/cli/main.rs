//! The command, as users call it: what it prints, how it ends, and that its engines agree. One
//! program for all tests: what they have in common is compiled and linked once.

mod assembly;
mod automaton;
mod book;
mod build_systems;
mod c_model;
mod c_programs;
mod claims;
mod corpus;
mod doctor;
mod engines;
mod examples;
mod happens_before;
mod help;
mod jobs;
mod language;
mod libraries;
mod limits;
mod memory;
mod model;
mod native_random;
mod orders;
mod parts;
mod promela;
mod readme;
mod runtime;
mod rust_programs;
mod rust_random;
mod rust_trust;
mod seam;
mod statespace;
mod support;
mod symbolic;
mod temporal;
mod thesis;
mod tsan;
