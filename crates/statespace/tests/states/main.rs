//! Every search that stores states against plain enumeration, against each other, and against SPIN.
//! One program for all tests: what they have in common is compiled once.

mod compiled;
mod cycles;
mod generate;
mod installed;
mod kit;
mod limits;
mod packed;
mod promela;
mod random_formulas;
mod reductions;
mod saved;
mod saved_cycles;
mod searches_agree;
mod spin;
mod spin_cycles;
mod told;
mod trails;
mod violations;
