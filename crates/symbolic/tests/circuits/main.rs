//! What holds of circuits and of all engines, and of programs as circuits: what the machine says of
//! them, their circuits say, too. One program, since linking the solver takes its time.

mod corpus;
mod cycles_agree;
mod data_races;
mod dining;
mod engines_agree;
mod formats;
mod kit;
mod limits;
mod livelock_agree;
#[expect(unreachable_pub, reason = "it is public where it is measured")]
#[path = "../../../lab/src/philosophers.rs"]
mod philosophers;
mod proofs;
mod random;
mod schedulers_agree;
mod schedules;
mod temporal_agree;
mod traces;
#[expect(dead_code, reason = "other tests use the rest")]
#[path = "../../../model/tests/programs/translate.rs"]
mod translate;
