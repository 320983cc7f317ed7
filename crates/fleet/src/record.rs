//! What travels: units of work, and the record of what came of each.

use crate::keys::{hex, of_hex};
use ring::digest::{Context, SHA256};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The SHA-256 of some bytes, which they are stored under.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Hash([u8; 32]);

impl Hash {
    /// That of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(sha256(&[bytes]))
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

fn sha256(pieces: &[&[u8]]) -> [u8; 32] {
    let mut context = Context::new(&SHA256);
    pieces.iter().for_each(|piece| context.update(piece));
    context.finish().as_ref().try_into().expect("it has 32 bytes")
}

/// The name of a unit: a hash of whose child it is, the how many-th, and all that it contains.
///
/// A unit that is explored twice may be divided in two ways. Since the content is in the name,
/// the children of one division are never taken for those of the other.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct UnitId([u8; 16]);

impl UnitId {
    /// The unit that a job begins with.
    pub fn root(job: &str) -> Self {
        Self::first_half(sha256(&[b"root", job.as_bytes()]))
    }

    /// A child of a unit.
    #[must_use]
    pub fn child(self, idx: u32, unit: &[u8]) -> Self {
        Self::first_half(sha256(&[b"unit", &self.0, &idx.to_le_bytes(), unit]))
    }

    fn first_half(hash: [u8; 32]) -> Self {
        Self(*hash.first_chunk().expect("it has 32 bytes"))
    }
}

impl fmt::Display for UnitId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

impl fmt::Debug for UnitId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for UnitId {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        of_hex(text).and_then(|bytes| bytes.try_into().ok()).map(Self).ok_or(())
    }
}

/// Bytes in a message, or where they are stored if a message cannot hold them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Blob {
    Inline(Vec<u8>),
    Stored(Hash),
}

/// A unit of work in the queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Message {
    pub(crate) id: UnitId,
    /// Whose child it is, and the how many-th.
    pub(crate) parent: UnitId,
    pub(crate) idx: u32,
    /// A saved search.
    pub(crate) unit: Blob,
    /// How often the time of its slice is doubled.
    pub(crate) longer: u32,
}

/// What came of a unit: the one record that counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Commit {
    /// What was counted and found: a saved search without units.
    pub results: Vec<u8>,
    /// What is left of the unit, all of it: saved searches that have counted nothing.
    pub children: Vec<Vec<u8>>,
    /// Who has explored it.
    pub worker: String,
    /// How often it had been delivered by then.
    pub deliveries: u64,
    /// How often the time of a slice is doubled for what is left of it: more often, if this one was
    /// too short for more than a few executions.
    pub longer: u32,
}

/// Why a unit came to nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Failure {
    pub(crate) unit: UnitId,
    pub(crate) worker: String,
    pub(crate) text: String,
    /// Whether another worker would come to the same.
    pub(crate) is_final: bool,
}

/// What a worker says of itself, now and then.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Sign {
    /// How many slices it explores at a time.
    pub(crate) jobs: u32,
    /// Executions of the slices that have no record yet.
    pub(crate) running: u64,
    /// Slices and executions that it has committed.
    pub(crate) slices: u64,
    pub(crate) executions: u64,
    /// Slices that another worker has committed first, and that came to nothing.
    pub(crate) in_vain: u64,
    /// Units that had been delivered before.
    pub(crate) redelivered: u64,
    /// Why it does not take the job, if it does not.
    pub(crate) refuses: Option<String>,
}

pub(crate) fn to_bytes<T: Serialize>(value: &T) -> Vec<u8> {
    postcard::to_stdvec(value).expect("everything in it can be written")
}

pub(crate) fn of_bytes<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Option<T> {
    postcard::from_bytes(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_unit_says_all_that_it_is() {
        let root = UnitId::root("a");
        let names = [
            root,
            UnitId::root("b"),
            root.child(0, b"x"),
            root.child(1, b"x"),
            root.child(0, b"y"),
            UnitId::root("b").child(0, b"x"),
        ];
        for (idx, name) in names.iter().enumerate() {
            assert_eq!(name.to_string().parse(), Ok(*name));
            assert!(!names[..idx].contains(name));
        }
        assert_eq!("12".parse::<UnitId>(), Err(()));
    }
}
