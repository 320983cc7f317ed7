//! Random programs over mutexes of the standard library. Each must not come to an outcome that
//! `MAZURKA_OUTCOME` names; the test that runs this knows whether one does.

use mazurka_corpus::mutexes::{Deed, changed, outcome, program};
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::thread;

#[derive(Default)]
struct Shared {
    guarded: [Mutex<u32>; 2],
    atomic: AtomicU32,
}

fn act(shared: &Shared, me: usize, deed: Deed, note: &mut u32) {
    let lock = |idx: usize| shared.guarded[idx].lock().unwrap();
    match deed {
        Deed::Section(idx) => {
            let mut value = lock(idx);
            *value = changed(*value, 3, me);
        }
        Deed::Nested(outer, inner) => {
            let mut value = lock(outer);
            let mut other = lock(inner);
            *value = changed(*value, 3, me);
            *other = changed(*other, 5, me);
        }
        Deed::Attempt(idx) => match shared.guarded[idx].try_lock() {
            Ok(mut value) => *value = changed(*value, 7, me),
            Err(_) => *note = changed(*note, 2, me),
        },
        Deed::Look(idx) => {
            let mut value = lock(idx);
            *value = changed(*value, 3, shared.atomic.load(SeqCst) as usize);
        }
        Deed::Store(value) => shared.atomic.store(value, SeqCst),
        Deed::Note => *note = changed(*note, 11, shared.atomic.load(SeqCst) as usize),
    }
}

fn run(seed: u64) {
    let wrong: u32 = std::env::var("MAZURKA_OUTCOME").unwrap().parse().unwrap();
    let shared = Arc::new(Shared::default());
    let threads: Vec<_> = program(seed)
        .into_iter()
        .enumerate()
        .map(|(me, deeds)| {
            let shared = shared.clone();
            thread::spawn(move || {
                let mut note = 0;
                deeds.into_iter().for_each(|deed| act(&shared, me, deed, &mut note));
                note
            })
        })
        .collect();
    let notes: Vec<u32> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    let guarded = [0, 1].map(|idx| *shared.guarded[idx].lock().unwrap());
    assert_ne!(outcome(guarded, shared.atomic.load(SeqCst), &notes) % 24, wrong);
}

macro_rules! seeds {
    ($($name:ident $seed:literal)*) => {$(
        #[test]
        fn $name() {
            run($seed);
        }
    )*};
}

seeds! {
    seed_0 0 seed_1 1 seed_2 2 seed_3 3 seed_4 4 seed_5 5 seed_6 6 seed_7 7 seed_8 8 seed_9 9
    seed_10 10 seed_11 11 seed_12 12 seed_13 13 seed_14 14 seed_15 15 seed_16 16 seed_17 17 seed_18 18 seed_19 19
    seed_20 20 seed_21 21 seed_22 22 seed_23 23 seed_24 24 seed_25 25 seed_26 26 seed_27 27 seed_28 28 seed_29 29
}
