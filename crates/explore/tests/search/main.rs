//! Every search against plain enumeration, and what it promises beside that. One program for all
//! tests: what they have in common is compiled once.

mod best_first;
mod bounds;
mod contract;
mod counters;
mod coverage;
mod data_races;
mod deadline;
mod decisive;
mod jobs;
mod joins;
mod ladder;
mod numbers_again;
mod parts;
mod passing;
mod peers;
mod popl2005;
mod progress;
mod reductions_agree;
mod replay;
mod sampling;
mod saved;
mod semantics;
mod shorten;
mod spin_loops;
mod stateful;
mod support;
mod symmetry;
mod verdicts;
mod waits;
