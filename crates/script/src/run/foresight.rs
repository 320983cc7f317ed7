//! Which operations a thread may still take, computed once for every place it can stand at.

use super::code::{HALT, Instruction, Pc, UNBORN};
use mazurka_core::{ObjectId, Operation};

/// For each instruction, the operations that may come from it on.
#[derive(Debug)]
pub(super) struct Futures {
    /// All different operations of the program; bit `i` of a set is the `i`-th.
    patterns: Vec<Pattern>,
    /// The sets, `n_words` words for each instruction.
    sets: Vec<u64>,
    n_words: usize,
}

/// An operation on any of `len` objects that follow each other.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Pattern {
    first: Operation,
    len: u32,
}

impl Futures {
    pub(super) fn of(instructions: &[Instruction]) -> Self {
        let mut patterns: Vec<Pattern> = Vec::new();
        let mut own = vec![None; instructions.len()];
        for (pc, instruction) in instructions.iter().enumerate() {
            let Some(pattern) = pattern(instruction) else { continue };
            let known = patterns.iter().position(|other| *other == pattern);
            own[pc] = Some(known.unwrap_or_else(|| {
                patterns.push(pattern);
                patterns.len() - 1
            }));
        }
        let n_words = patterns.len().div_ceil(64);
        let mut sets = vec![0; n_words * instructions.len()];
        for (pc, pattern) in own.into_iter().enumerate() {
            if let Some(idx) = pattern {
                sets[pc * n_words + idx / 64] |= 1 << (idx % 64);
            }
        }
        let mut futures = Self { patterns, sets, n_words };
        // Code runs forwards but for its loops, so few rounds from the back are enough.
        while futures.spread(instructions) {}
        futures
    }

    /// Calls `visit` with what may come from `pc` on.
    pub(super) fn visit(&self, pc: Pc, visit: &mut dyn FnMut(Operation)) {
        let start = pc as usize * self.n_words;
        for (word_idx, &word) in self.sets[start..start + self.n_words].iter().enumerate() {
            let mut rest = word;
            while rest != 0 {
                let pattern = self.patterns[word_idx * 64 + rest.trailing_zeros() as usize];
                (0..pattern.len).for_each(|idx| visit(shift(pattern.first, idx)));
                rest &= rest - 1;
            }
        }
    }

    /// Adds the sets of all successors; says whether that added anything.
    fn spread(&mut self, instructions: &[Instruction]) -> bool {
        let mut changed = false;
        for (pc, instruction) in instructions.iter().enumerate().rev() {
            for next in instruction.successors(pc as Pc).into_iter().flatten() {
                if next == HALT || next == UNBORN {
                    continue;
                }
                for word_idx in 0..self.n_words {
                    let more = self.sets[next as usize * self.n_words + word_idx];
                    let word = &mut self.sets[pc * self.n_words + word_idx];
                    changed |= more & !*word != 0;
                    *word |= more;
                }
            }
        }
        changed
    }
}

/// The operation of an instruction; of an array element that is not known yet, all of them.
fn pattern(instruction: &Instruction) -> Option<Pattern> {
    use Instruction as I;
    let len = match instruction {
        I::Load { from: on, .. }
        | I::Branch { on, .. }
        | I::Store { to: on, .. }
        | I::Update { on, .. }
        | I::Sleep { on, .. }
        | I::Await { on, .. } => on.len,
        _ => 1,
    };
    instruction.operation().map(|first| Pattern { first, len })
}

/// The same operation on the object that comes `by` later.
fn shift(operation: Operation, by: u32) -> Operation {
    let later = |object: ObjectId| ObjectId::new(object.index() + by as usize);
    match operation {
        Operation::Load(object) => Operation::Load(later(object)),
        Operation::Store(object) => Operation::Store(later(object)),
        Operation::ReadModifyWrite(object) => Operation::ReadModifyWrite(later(object)),
        Operation::Add(object) => Operation::Add(later(object)),
        Operation::AddAndTest(object) => Operation::AddAndTest(later(object)),
        Operation::Await(object) => Operation::Await(later(object)),
        Operation::AwaitModify(object) => Operation::AwaitModify(later(object)),
        Operation::FutexWait { word, queue } => Operation::FutexWait { word: later(word), queue },
        other => other,
    }
}
