//! Runs a script: compiled once, then stepped, undone and looked ahead in.

mod code;
mod compile;
mod fingerprint;
mod foresight;
mod layout;
mod machine;
mod next;
mod step;

pub(crate) use code::Code;
pub(crate) use compile::{Disciplines, compile};
pub(crate) use machine::Machine;
