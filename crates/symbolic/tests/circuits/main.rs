//! What holds of circuits and of all engines. One program, since linking the solver takes its time.

mod cycles_agree;
mod dining;
mod engines_agree;
mod formats;
mod limits;
#[expect(unreachable_pub, reason = "it is public where it is measured")]
#[path = "../../../lab/src/philosophers.rs"]
mod philosophers;
mod proofs;
mod random;
mod schedules;
