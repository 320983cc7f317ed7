//! Leaks: blocks that were never freed and that nothing leads to when the program ends.
//!
//! What leads to a block is a pointer to any of its bytes: in an object of the program, in a
//! register or a local of a function that has not returned (whether or not it is read again), in
//! what only a thread has that has not ended, in the result of one that was not joined, or in a
//! block to which something leads.
//!
//! A block that nothing leads to can be neither freed nor found again. So it is enough to look
//! where all threads have ended and, since others may still move after one has exited the program,
//! after each of their steps: they could have taken it before the exit.

use super::code::{CONTROL, Code, HALT, Kind, ObjectInfo, UNBORN};
use super::machine::{Machine, control};
use crate::Pointer;
use mazurka_core::{Violation, ViolationKind};
use rustc_hash::FxHashSet;

/// The word of [`control::STATUS`] after a join.
const JOINED: u64 = 1;

impl Machine {
    /// Whether a block has leaked, if that is asked and the program is over.
    #[inline]
    pub(super) fn check_leaks(&self, code: &Code) -> Result<(), Violation> {
        match self.finds_leaks && self.is_over() {
            true => self.leaked(code).map_or(Ok(()), |block| Err(self.leak(code, &block))),
            false => Ok(()),
        }
    }

    fn is_over(&self) -> bool {
        let mut threads = 0..self.threads.len();
        self.has_exited() || threads.all(|thread| matches!(self.pc(thread), HALT | UNBORN))
    }

    fn leak(&self, code: &Code, block: &ObjectInfo) -> Violation {
        let message = format!(
            "{} is never freed, and nothing leads to it when the program ends",
            self.object_text(code, block)
        );
        Violation::new(ViolationKind::Leak, message)
    }

    /// A block that is there still, though nothing leads to it.
    fn leaked(&self, code: &Code) -> Option<ObjectInfo> {
        let mut blocks = (0..self.threads.len())
            .flat_map(|thread| self.made_by(thread))
            .filter(|object| object.kind == Kind::Heap && self.is_live(object))
            .peekable();
        blocks.peek()?;
        let reached = self.reached(code);
        blocks.copied().find(|block| !reached.contains(&block.address))
    }

    /// The addresses of all objects made on the way that something leads to.
    fn reached(&self, code: &Code) -> FxHashSet<u32> {
        let mut reached = FxHashSet::default();
        let mut to_visit = Vec::new();
        let mut reach = |word: u64, to_visit: &mut Vec<ObjectInfo>| {
            let pointer = Pointer { offset: 0, ..Pointer::from_bits(word) };
            if pointer.made().is_some()
                && let Ok(object) = self.object(code, pointer)
                && reached.insert(object.address)
            {
                to_visit.push(object);
            }
        };
        for object in code.objects.iter().filter(|object| object.kind == Kind::Static) {
            self.pointers_in(object).for_each(|word| reach(word, &mut to_visit));
        }
        for thread in 0..self.threads.len() {
            self.words_of(thread).for_each(|word| reach(word, &mut to_visit));
            for object in self.made_by(thread).iter().filter(|it| self.is_root(thread, it)) {
                self.pointers_in(object).for_each(|word| reach(word, &mut to_visit));
            }
        }
        while let Some(object) = to_visit.pop() {
            self.pointers_in(&object).for_each(|word| reach(word, &mut to_visit));
        }
        reached
    }

    /// The objects that a thread has made.
    fn made_by(&self, thread: usize) -> &[ObjectInfo] {
        match self.pc(thread) {
            UNBORN => &[],
            _ => &self.threads[thread].made[..self.control(thread, control::MADE) as usize],
        }
    }

    /// Registers of functions that have not returned, and a result that a join may return.
    fn words_of(&self, thread: usize) -> impl Iterator<Item = u64> {
        let top = match self.pc(thread) {
            UNBORN => CONTROL,
            _ => self.control(thread, control::TOP) as usize,
        };
        let is_joined = self.control(thread, control::STATUS) & 0xff == JOINED;
        let result = (!is_joined).then(|| self.control(thread, control::RESULT));
        self.threads[thread].stack[CONTROL..top].iter().copied().chain(result)
    }

    /// Whether an object that a thread has made is a variable that it can still use.
    fn is_root(&self, thread: usize, object: &ObjectInfo) -> bool {
        let has_frames = self.control(thread, control::TOP) as usize > CONTROL;
        match object.kind {
            Kind::Frame => self.is_live(object),
            Kind::PerThread => has_frames,
            Kind::Heap | Kind::Static | Kind::Constant => false,
        }
    }

    /// Whatever may be a pointer in an object, at whichever byte it begins.
    fn pointers_in(&self, object: &ObjectInfo) -> impl Iterator<Item = u64> {
        let (address, size) = (object.address, object.size);
        (7..size).map(move |last| self.get_bytes(address + last - 7, 8))
    }
}
