//! Random programs over two mutexes and an atomic, as data: what threads do is written down once,
//! for the threads that do it and for the enumeration of all orders of it.

/// What a thread does in one go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deed {
    /// Takes a mutex, changes what it guards, and gives it back.
    Section(usize),
    /// The same with a second mutex inside.
    Nested(usize, usize),
    /// The same, if the mutex is free; if not, notes that.
    Attempt(usize),
    /// Takes a mutex, and adds what the atomic holds to what it guards.
    Look(usize),
    /// Writes the atomic.
    Store(u32),
    /// Notes what the atomic holds.
    Note,
}

/// The deeds of each thread.
pub type Program = Vec<Vec<Deed>>;

/// What was guarded, what the atomic holds, and what each thread has noted, as one number.
pub fn outcome(guarded: [u32; 2], atomic: u32, notes: &[u32]) -> u32 {
    let all = guarded.iter().chain([&atomic]).chain(notes);
    let mixed = all.fold(7u32, |sum, &it| (sum ^ it).wrapping_mul(0x9e37_79b1).rotate_left(11));
    mixed >> 7
}

/// Changes what a mutex guards, or a note.
pub fn changed(value: u32, factor: u32, by: usize) -> u32 {
    value.wrapping_mul(factor).wrapping_add(by as u32 + 1)
}

/// The program of a seed: two or three threads with at most seven deeds together.
pub fn program(seed: u64) -> Program {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d;
    let mut below = |n: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 33) as usize % n
    };
    for _ in 0..8 {
        below(2);
    }
    let n_threads = 2 + below(2);
    let is_ordered = below(2) > 0;
    let mut deed = || {
        let one = below(2);
        match below(12) {
            0..2 => Deed::Section(one),
            2..6 if is_ordered => Deed::Nested(0, 1),
            2..6 => Deed::Nested(one, 1 - one),
            6 | 7 => Deed::Attempt(one),
            8 => Deed::Look(one),
            9 | 10 => Deed::Store(one as u32 + 1),
            _ => Deed::Note,
        }
    };
    (0..n_threads)
        .map(|_| (0..if n_threads == 2 { 3 } else { 2 }).map(|_| deed()).collect())
        .collect()
}
