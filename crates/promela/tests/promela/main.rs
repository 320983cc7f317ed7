//! Models of others, faulty models, and the preprocessor against `gcc -E`. One program for all
//! tests, compiled and linked once.

mod examples;
mod faults;
mod preprocessor;
