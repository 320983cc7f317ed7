//! Memory models: what a read may return, and which of them a verdict is about.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A memory model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MemoryModel {
    /// Sequential consistency.
    Sc,
    /// Total store order, the memory of x86.
    Tso,
    /// Release and acquire: RC11 whose relaxed accesses acquire and release.
    Ra,
    /// Repaired C11 (PLDI 2017): the model of C11, C++20 and Rust without load buffering.
    Rc11,
}

/// There is no memory model of this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown memory model `{0}`: there are sc, tso, ra and rc11")]
pub struct UnknownMemoryModel(pub String);

impl MemoryModel {
    /// All of them, stronger ones first.
    pub const ALL: [Self; 4] = [Self::Sc, Self::Tso, Self::Ra, Self::Rc11];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sc => "sc",
            Self::Tso => "tso",
            Self::Ra => "ra",
            Self::Rc11 => "rc11",
        }
    }

    /// The executions that a claim under this model is about, as in "no deadlock in …".
    pub fn executions(self) -> &'static str {
        match self {
            Self::Sc => "any execution",
            Self::Tso => "any execution that x86 allows (TSO)",
            Self::Ra => "any execution in which atomics release and acquire (RA)",
            Self::Rc11 => "any execution that C11 allows (RC11: no load buffering)",
        }
    }
}

impl fmt::Display for MemoryModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for MemoryModel {
    type Err = UnknownMemoryModel;

    fn from_str(name: &str) -> Result<Self, UnknownMemoryModel> {
        let found = Self::ALL.into_iter().find(|model| model.name() == name);
        found.ok_or_else(|| UnknownMemoryModel(name.to_owned()))
    }
}
