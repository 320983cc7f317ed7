//! What holds of circuits and of all engines. One program, since linking the solver takes its time.

mod cycles_agree;
mod engines_agree;
mod formats;
mod limits;
mod proofs;
mod random;
mod schedules;
