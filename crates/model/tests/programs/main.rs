//! Programs as models: what the machine does with them, against other ways to run them. One program
//! for all tests: what they have in common is compiled once.

mod meetings;
mod persistent;
mod print;
mod random;
mod scripts;
mod spins;
mod translate;
mod vm;
