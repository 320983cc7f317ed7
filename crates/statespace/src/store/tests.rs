//! Every store against a set of byte strings, alone and with several workers.

use super::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::AtomicU32;

/// Pseudo-random byte strings, many of them alike, of several lengths.
fn states(seed: u64, count: usize, lengths: &[usize]) -> Vec<Vec<u8>> {
    let mut word = seed;
    let mut next = move |bound: u64| {
        word = mazurka_core::fold::mix(word, 0x5eed);
        word % bound
    };
    let state = |_| {
        let len = lengths[next(lengths.len() as u64) as usize];
        (0..len).map(|idx| if idx % 5 == 0 { next(7) as u8 } else { next(2) as u8 }).collect()
    };
    (0..count).map(state).collect()
}

fn agrees(store: &impl Store, states: &[Vec<u8>]) {
    let mut session = store.session();
    let mut known = BTreeMap::new();
    for state in states {
        match (session.insert(state), known.get(state)) {
            (Seen::New(number), None) => {
                assert_eq!(number as usize, known.len(), "numbers are dense");
                known.insert(state.clone(), number);
            }
            (Seen::Old(Some(number)), Some(&before)) => assert_eq!(number, before),
            (Seen::Old(None), Some(_)) => {}
            (seen, before) => panic!("{state:?} is {seen:?}, and was {before:?}"),
        }
    }
    assert!(known.len() > 1_000 && known.len() < states.len());
}

#[test]
fn a_store_is_a_set_of_states() {
    for lengths in [&[3][..], &[8], &[11], &[41], &[1, 4, 5, 8, 9, 12, 13, 16, 30, 64, 65]] {
        let mut states = states(7, 40_000, lengths);
        let again = states[..1000].to_vec();
        states.extend(again);
        if lengths == [3] {
            // There are few short ones.
            states.extend((0..2000u16).map(|n| [n.to_le_bytes(), [9, 9]].concat()[..3].to_vec()));
        }
        agrees(&Tree::<()>::new(), &states);
        agrees(&Tree::<AtomicU32>::new(), &states);
        agrees(&Tree::by_number(), &states);
        agrees(&Exact::new(), &states);
        agrees(&Compact::new(), &states);
        agrees(&Bitstate::new(27), &states);
    }
}

/// Lengths that could be taken for contents: pairs of numbers that are small as numbers of pairs
/// are.
#[test]
fn states_of_different_lengths_are_different() {
    let mut all = Vec::new();
    for words in 0..9usize {
        for value in 0..40u32 {
            let mut state = vec![0; 4 * words];
            for (idx, bytes) in state.chunks_mut(4).enumerate() {
                bytes.copy_from_slice(&(value >> idx).to_le_bytes());
            }
            all.push(state.clone());
            state.push(0);
            all.push(state);
        }
    }
    let distinct: BTreeSet<_> = all.iter().collect();
    let tree = Tree::<()>::new();
    let mut session = tree.session();
    let new = all.iter().filter(|state| matches!(session.insert(state), Seen::New(_)));
    assert_eq!(new.count(), distinct.len());
}

#[test]
fn a_tree_gives_states_back() {
    for lengths in [&[3][..], &[8], &[11], &[41], &[0, 1, 4, 5, 8, 9, 12, 13, 16, 30, 64, 65]] {
        let states = states(5, 3000, lengths);
        let tree = Tree::by_number();
        let mut session = tree.session();
        let mut again = Vec::new();
        for state in &states {
            tree.get(session.insert(state).number(), &mut again);
            assert_eq!(again, *state);
        }
    }
}

fn shared(store: &impl Store, states: &[Vec<u8>]) {
    let news = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for worker in 0..4usize {
            let news = &news;
            scope.spawn(move || {
                let mut session = store.session();
                for idx in 0..states.len() {
                    let at = (idx + worker * 17) % states.len();
                    if let Seen::New(number) = session.insert(&states[at]) {
                        news.lock().unwrap().push((at, number));
                    }
                    if idx % 64 == 0 {
                        session.close();
                        session.open();
                    }
                }
            });
        }
    });
    let news = news.into_inner().unwrap();
    let distinct: BTreeSet<_> = states.iter().collect();
    let stored: BTreeSet<_> = news.iter().map(|&(at, _)| &states[at]).collect();
    let numbers: BTreeSet<_> = news.iter().map(|&(_, number)| number).collect();
    assert_eq!(stored, distinct);
    assert_eq!((news.len(), numbers.len()), (distinct.len(), distinct.len()));
}

#[test]
fn workers_share_a_store() {
    let states = states(3, 60_000, &[17, 40]);
    shared(&Tree::<()>::new(), &states);
    shared(&Tree::<AtomicU32>::new(), &states);
    shared(&Exact::new(), &states);
    shared(&Compact::new(), &states);
}

#[test]
fn a_tree_takes_a_few_bytes_for_a_state() {
    // 64 variables of a byte, of which two change: 250,000 states. Tables grow by half when they
    // are full.
    let (tree, exact, mut state) = (Tree::<()>::new(), Exact::new(), vec![0; 64]);
    let (mut compressed, mut plain) = (tree.session(), exact.session());
    for n in 0..250_000u32 {
        state[9] = n as u8;
        state[40..42].copy_from_slice(&(n >> 8).to_le_bytes()[..2]);
        compressed.insert(&state);
        plain.insert(&state);
    }
    drop((compressed, plain));
    let each = |bytes: u64| bytes as f64 / 250_000.0;
    assert!(each(tree.bytes()) < 36.0, "{} bytes a state", each(tree.bytes()));
    assert!(each(exact.bytes()) < 160.0, "{} bytes a state", each(exact.bytes()));
}
