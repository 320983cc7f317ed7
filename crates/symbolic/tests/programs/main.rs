//! Programs as circuits: what the machine says of them, their circuits say, too.

mod corpus;
mod data_races;
mod kit;
mod livelock_agree;
mod schedulers_agree;
mod temporal_agree;
mod traces;
#[expect(dead_code, reason = "other tests use the rest")]
#[path = "../../../model/tests/programs/translate.rs"]
mod translate;
