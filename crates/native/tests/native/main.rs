//! Unmodified programs under the library: what is proved, and what is found.

mod around_main;
mod c_programs;
mod counters;
mod cxx_programs;
mod exits;
mod hidden;
mod jobs;
mod library;
mod library_random;
mod limits;
mod loops;
mod memory;
mod numbers;
mod orders;
mod parts;
mod posix;
mod program;
mod symbols;
mod values;
mod words;
