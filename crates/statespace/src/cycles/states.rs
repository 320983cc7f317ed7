//! The states of a graph, each with a number: compressed by a tree, or words that are packed
//! already.
//!
//! Numbers are dense, and given in the order in which states are first come to.

use crate::store::{Full, Numbers, NumbersReader, Seen, Session, Store, Tree, TreeSession};

/// Where states are kept.
pub(super) enum Storage {
    Tree(Box<Tree>),
    Packed(Box<Numbers<2>>),
}

/// The states of a graph.
pub(super) enum States<'a> {
    Tree { tree: &'a Tree, session: Box<TreeSession<'a>> },
    Packed { words: &'a Numbers<2>, reader: NumbersReader<'a, 2> },
}

/// What a state is found by: the root of its tree, or itself.
pub(super) type Key = [u64; 2];

impl Storage {
    /// For states of any length.
    pub(super) fn tree() -> Self {
        Self::Tree(Box::new(Tree::by_number()))
    }

    /// For states of 16 bytes.
    pub(super) fn packed() -> Self {
        Self::Packed(Box::new(Numbers::new()))
    }

    /// Access to it.
    pub(super) fn states(&self) -> States<'_> {
        match self {
            Self::Tree(tree) => States::Tree { tree, session: Box::new(tree.session()) },
            Self::Packed(words) => {
                let mut reader = words.reader();
                reader.open();
                States::Packed { words, reader }
            }
        }
    }

    /// The memory that it takes.
    pub(super) fn bytes(&self) -> u64 {
        match self {
            Self::Tree(tree) => tree.bytes(),
            Self::Packed(words) => words.bytes(),
        }
    }
}

impl States<'_> {
    /// Gets ready for states that differ little from this one.
    pub(super) fn near(&mut self, state: &[u8]) {
        if let Self::Tree { session, .. } = self {
            session.growing(|session| session.near(state));
        }
    }

    /// What a state is found by.
    pub(super) fn key(&mut self, state: &[u8]) -> Key {
        match self {
            Self::Tree { session, .. } => session.growing(|session| session.key(state)),
            Self::Packed { .. } => packed(state),
        }
    }

    /// What some states are found by that are going to be looked up soon. The memory where they may
    /// be is under way then.
    pub(super) fn keys<'s>(
        &mut self,
        states: impl Iterator<Item = &'s [u8]> + Clone,
        keys: &mut Vec<Key>,
    ) {
        match self {
            Self::Tree { session, .. } => {
                session.growing(|session| session.keys(states.clone(), keys));
            }
            Self::Packed { reader, .. } => {
                keys.clear();
                keys.extend(states.map(packed));
                keys.iter().for_each(|&key| reader.touch(key));
            }
        }
    }

    /// The number of a state, which may be new.
    pub(super) fn insert(&mut self, key: Key, state: &[u8]) -> Seen {
        match self {
            Self::Tree { session, .. } => session.growing(|session| session.try_insert(key, state)),
            Self::Packed { reader, .. } => loop {
                match reader.number(key) {
                    Ok(seen) => return seen,
                    Err(Full) => {
                        reader.close();
                        reader.grow();
                        reader.open();
                    }
                }
            },
        }
    }

    /// Writes the bytes of the state with this number.
    pub(super) fn get(&self, number: u32, state: &mut Vec<u8>) {
        match self {
            Self::Tree { tree, .. } => tree.get(number, state),
            Self::Packed { words, .. } => {
                state.clear();
                state.extend(words.get(number).iter().flat_map(|word| word.to_le_bytes()));
            }
        }
    }

    /// The memory that they take.
    pub(super) fn bytes(&self) -> u64 {
        match self {
            Self::Tree { tree, .. } => tree.bytes(),
            Self::Packed { words, .. } => words.bytes(),
        }
    }

    /// Whether it takes long to get the bytes of a state.
    pub(super) fn is_slow(&self) -> bool {
        matches!(self, Self::Tree { .. })
    }
}

/// A packed state as two words.
fn packed(state: &[u8]) -> Key {
    let state: &[u8; 16] = state.try_into().expect("a packed state has 16 bytes");
    let word = u128::from_le_bytes(*state);
    [word as u64, (word >> 64) as u64]
}
