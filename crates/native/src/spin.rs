//! Spin loops: a thread that goes round a loop without changing anything is held there.
//!
//! **The rule.** When a thread comes to a read for the second time in the same state, and has
//! changed nothing since the first, its round can be taken out of the execution and no other thread
//! would notice: it then comes to the first read only now, and goes on as it would go on from here.
//! So everything the thread does after this round it also does in an execution without it, and this
//! execution need not show it. All that is left to ask, once no other thread can move, is whether
//! the thread could ever leave: it cannot if all that the round read is still as it was. That is a
//! deadlock ([`Ending::Spinning`](mazurka_core::Ending)); if something has changed, this execution
//! is one that another one stands for.
//!
//! **The same state** is the same call, given the same, with the same registers and the same stack.
//! A call leaves only those registers that it has to keep, so [`watched`] notes them on the way in.
//! A stack is all bytes from the caller's stack pointer up, without those that other threads have
//! ever touched, which are shared memory, and without dead ones (`dead_slots`). What the round
//! *changes* elsewhere is seen by the instrumentation: a plain write that is not to the own stack,
//! an atomic that got another value, any other operation, and any call of a function that this
//! library replaces, but for a few that only take time. What a library without instrumentation
//! writes is not seen.
//!
//! A loop with one read is an await and has no rounds in vain (`awaits`); one that tries again with
//! what it has found is held by another rule (`reread`).
//!
//! **A loop that counts its rounds** is in another state each time, as one with a back-off is. When
//! one has read the same values in the same places [`ROUNDS`] times over, it is tried once what
//! becomes of it: it goes on in vain, without anybody else and without scheduling points, until it
//! leaves by its count or has gone round [`FOR_EVER`] times. One that leaves is unrolled from then
//! on, and nothing is lost. One that does not is held after [`ROUNDS`] rounds, and the coverage
//! says what that takes for granted; also that the number of rounds does not matter, unless
//! `counted_waits` finds that it does not. Either way the search begins again, for the trial has
//! changed the stack. One whose count comes back, such as a number modulo 5, is in the same state
//! after some rounds, and held by the rule.
//!
//! **A loop that waits** says so: it yields, sleeps or pauses in each round, and gives up after
//! some rounds. Once two rounds have read the same value of one variable, the rest of the rounds
//! are taken in the same step, to the last: a thread that is to see the variable change sees it as
//! well by coming later. The number of rounds is another then, and `counted_waits` finds out
//! whether it matters.
//!
//! **Stale bytes.** A frame has bytes that are not written yet. Whether they happen to be what
//! the loop will write there decides between the second and the third visit, and must not depend on
//! the execution before. So where threads spin, a stack is filled with [`POISON`] before it is
//! used, as deep as reads were ever made from, and so is what an operation of ours leaves below the
//! stack pointer ([`watched`]): it depends on who was asked what to do next. A checkpoint keeps the
//! stale bytes, too. They may still depend on the order of independent steps: an address, a count
//! that is not looked at. A search that finds itself contradicted ([`Machine::doubt_first_rounds`])
//! begins again and holds a thread at the third visit at the earliest. By then the loop has written
//! all that it ever writes.

use crate::attempts::Attempt;
use crate::coroutine;
use crate::dead_slots::Dead;
use crate::emulate::Kind;
use crate::machine::{self, Machine};
use crate::plain_accesses::CUT;
use crate::pointers;
use crate::reread::Chain;
use crate::results::{Origin, Way};
use crate::rust_mutex;
use crate::shared_bytes::SharedBytes;
use crate::thread::{self, Thread};
use crate::weak_memory;
use mazurka_core::{Assumption, ObjectId, Spin, ThreadId};
use rustc_hash::FxHashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// A loop that counts is unrolled if it has more reads than this.
const MAX_PERIOD: usize = 16;
/// How often a loop that counts goes round in vain before it is held.
const ROUNDS: usize = 16;
/// A loop that has gone round this often in vain is taken to do so for ever.
const FOR_EVER: usize = 100_000;
/// How many reads of a thread are kept, so that all rounds are there after the oldest were dropped.
const MAX_READS: usize = MAX_PERIOD * (ROUNDS + 1);
const POISON: u8 = 0xa5;
const WORD: usize = 8;
const PAGE: usize = 4096;
/// No more than this is wiped.
const DEEPEST: usize = 16 * PAGE;

/// Whether the running thread has changed nothing since its last operation.
static IS_PURE: AtomicBool = AtomicBool::new(true);
/// Whether it has done nothing but plain accesses.
static IS_PLAIN: AtomicBool = AtomicBool::new(true);
/// The same, but for an addition that was noted as an attempt: see `attempts`.
static HAS_ONLY_TRIED: AtomicBool = AtomicBool::new(true);
/// What [`watched`] noted: rbx, rbp, r12 to r15, rsp.
pub(crate) static REGISTERS: [AtomicUsize; 7] = [const { AtomicUsize::new(0) }; 7];
/// Whether [`watched`] functions wipe the stack when they return.
pub(crate) static WIPES: AtomicBool = AtomicBool::new(false);
/// How far down: to [`Thread::lowest`] of the thread that had the last operation.
pub(crate) static LOWEST: AtomicUsize = AtomicUsize::new(0);

/// Where a thread is when it calls one of our functions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    pub(crate) kept: [usize; 6],
    pub(crate) stack_pointer: usize,
    /// From where on the stack is in use.
    pub(crate) used_from: usize,
    /// Whether it can only load.
    pub(crate) is_load: bool,
    /// What it does if it is a call of the instrumentation, and what it is given beside the
    /// address: what to compare with, and what to write.
    pub(crate) kind: Option<Kind>,
    pub(crate) operands: [u64; 2],
    /// Where what it compares with stands, if it is to be told there what it was.
    pub(crate) expected_at: usize,
    /// Whether it writes its operand whatever it finds.
    pub(crate) is_exchange: bool,
    /// Whether it acquires, if it changes nothing.
    pub(crate) acquires: bool,
}

/// What a thread has read since it last changed anything.
#[derive(Debug, Default)]
pub(crate) struct Reads {
    reads: Vec<Read>,
    /// Where in `reads` the loop begins that the thread is held in.
    held: Option<usize>,
    /// The same with plain writes between them: see `reread`.
    pub(crate) chain: Chain,
    /// What it has tried: see `attempts`.
    pub(crate) attempt: Option<Attempt>,
}

/// The call that reads, in its frame, and what is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Place {
    pub(crate) site: usize,
    pub(crate) stack_pointer: usize,
    pub(crate) address: usize,
}

#[derive(Clone, Copy)]
struct Read {
    place: Place,
    /// Of the state in which the thread came to it.
    digest: u64,
    object: ObjectId,
    len: u8,
    value: u128,
    /// Whether the thread waited a while before its next read.
    is_waited: bool,
}

/// Without the digest: it is of registers and words of the stack that may be dead, and states are
/// compared by what is shown here.
impl std::fmt::Debug for Read {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { place, digest: _, object, len, value, is_waited } = self;
        f.debug_struct("Read")
            .field("place", place)
            .field("object", object)
            .field("len", len)
            .field("value", value)
            .field("is_waited", is_waited)
            .finish()
    }
}

/// A loop that waits for a variable to change, and how many times it has looked.
#[derive(Clone, Copy, Debug)]
struct Wait {
    address: usize,
    n_rounds: usize,
}

/// What is known, over all executions, of loops that count their rounds.
#[derive(Debug, Default)]
pub(crate) struct CountingLoops {
    /// Whether the loop that reads there ends by its count.
    ends: FxHashMap<Place, bool>,
    /// How many more reads the running thread makes in vain in order to find out.
    trial: Option<usize>,
    /// What the running thread waits for in vain.
    wait: Option<Wait>,
    /// Whether a thread was ever held in one.
    has_held: bool,
}

impl CountingLoops {
    /// How much is known of them.
    pub(crate) fn known(&self) -> u64 {
        let Self { ends, trial: _, wait: _, has_held } = self;
        (ends.len() as u64) << 1 | u64::from(*has_held)
    }

    /// Whether the running thread goes round a loop unseen.
    pub(crate) fn is_unseen(&self) -> bool {
        self.trial.is_some() || self.wait.is_some()
    }

    /// A step begins.
    pub(crate) fn begin_step(&mut self) {
        self.trial = None;
        self.wait = None;
    }

    /// What a verdict takes for granted because of them.
    pub(crate) fn assumption(&self) -> Option<Assumption> {
        self.has_held.then_some(Assumption::EndlessLoop(FOR_EVER as u32))
    }
}

/// The running thread changes something, or may do so.
#[inline]
pub(crate) fn spoil() {
    IS_PURE.store(false, Ordering::Relaxed);
    IS_PLAIN.store(false, Ordering::Relaxed);
    HAS_ONLY_TRIED.store(false, Ordering::Relaxed);
}

/// All that the running thread has changed in this step is what it has tried.
pub(crate) fn keep_attempt() {
    HAS_ONLY_TRIED.store(true, Ordering::Relaxed);
}

/// The running thread writes something that no other thread can see without a race before it does
/// more.
#[inline]
pub(crate) fn spoil_plainly() {
    IS_PURE.store(false, Ordering::Relaxed);
}

/// A step begins: nothing is changed yet.
#[inline]
pub(crate) fn begin_step() {
    IS_PURE.store(true, Ordering::Relaxed);
    IS_PLAIN.store(true, Ordering::Relaxed);
    HAS_ONLY_TRIED.store(true, Ordering::Relaxed);
}

/// Whether a replaced function only takes time, or tells what never changes.
pub(crate) const fn only_takes_time(name: &str) -> bool {
    const NAMES: [&[u8]; 6] =
        [b"sleep", b"usleep", b"nanosleep", b"clock_nanosleep", b"thrd_sleep", b"pthread_self"];
    let mut idx = 0;
    while idx < NAMES.len() {
        if is_same(NAMES[idx], name.as_bytes()) {
            return true;
        }
        idx += 1;
    }
    false
}

const fn is_same(a: &[u8], b: &[u8]) -> bool {
    let mut at = 0;
    while at < a.len() && at < b.len() && a[at] == b[at] {
        at += 1;
    }
    at == a.len() && at == b.len()
}

/// Defines functions for the program to call that go on with another, and leave nothing below the
/// stack pointer that would depend on what the other has done, where threads spin.
macro_rules! wiped {
    ($($name:ident => $inner:path;)*) => {$(
        $crate::spin::wiped!(@define $name => $inner, $crate::spin::wipe_little;);
    )*};
    (@define $name:ident => $inner:path, $wipe:path; $($note:literal, $registers:path)?) => {
        #[unsafe(no_mangle)]
        #[unsafe(naked)]
        unsafe extern "C" fn $name() {
            std::arch::naked_asm!(
                ".cfi_startproc",
                $($note,)?
                "cmp byte ptr [rip + {wipes}], 0",
                "jne 2f",
                "jmp {inner}",
                "2:",
                "sub rsp, 8",
                ".cfi_adjust_cfa_offset 8",
                "call {inner}",
                "add rsp, 8",
                ".cfi_adjust_cfa_offset -8",
                "jmp {wipe}",
                ".cfi_endproc",
                $(registers = sym $registers,)?
                wipes = sym $crate::spin::WIPES,
                wipe = sym $wipe,
                inner = sym $inner,
            )
        }
    };
}

/// The same for operations, and they note the program's registers on the way in.
macro_rules! watched {
    ($($name:ident => $inner:path;)*) => {$(
        $crate::spin::wiped!(
            @define $name => $inner, $crate::spin::wipe_with_registers;
            "mov [rip + {registers}], rbx
             mov [rip + {registers} + 8], rbp
             mov [rip + {registers} + 16], r12
             mov [rip + {registers} + 24], r13
             mov [rip + {registers} + 32], r14
             mov [rip + {registers} + 40], r15
             mov [rip + {registers} + 48], rsp",
            $crate::spin::REGISTERS
        );
    )*};
}

/// Makes all registers of vectors zero.
macro_rules! clear_vectors {
    () => {
        "pxor xmm0, xmm0
         pxor xmm1, xmm1
         pxor xmm2, xmm2
         pxor xmm3, xmm3
         pxor xmm4, xmm4
         pxor xmm5, xmm5
         pxor xmm6, xmm6
         pxor xmm7, xmm7
         pxor xmm8, xmm8
         pxor xmm9, xmm9
         pxor xmm10, xmm10
         pxor xmm11, xmm11
         pxor xmm12, xmm12
         pxor xmm13, xmm13
         pxor xmm14, xmm14
         pxor xmm15, xmm15"
    };
}

/// Overwrites the stack from where the running thread has ever read up to here, but no farther than
/// operations of ours go, and returns with the result of the function before.
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn wipe() {
    std::arch::naked_asm!(
        "mov rcx, rsp",
        "mov rdi, [rip + {lowest}]",
        "sub rcx, rdi",
        // Below it, or of another thread: one that has just begun.
        "cmp rcx, {deepest}",
        "ja 2f",
        "cmp rcx, {farthest}",
        "jbe 3f",
        "mov ecx, {farthest}",
        "lea rdi, [rsp - {farthest}]",
        "3:",
        "mov r8, rax",
        "mov al, {poison}",
        "rep stosb",
        "mov rax, r8",
        "2:",
        "ret",
        lowest = sym LOWEST,
        poison = const POISON,
        deepest = const DEEPEST,
        farthest = const PAGE,
    )
}

/// The same, and no register but that of the result holds what an operation of ours has left there.
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn wipe_with_registers() {
    std::arch::naked_asm!(
        "xor edx, edx",
        "xor esi, esi",
        "xor r9d, r9d",
        "xor r10d, r10d",
        "xor r11d, r11d",
        clear_vectors!(),
        "jmp {wipe}",
        wipe = sym wipe,
    )
}

/// The same after a plain access, which is only noted and has no result. There are many of them,
/// and to begin with `rep stosb` takes longer than all of this.
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn wipe_little() {
    std::arch::naked_asm!(
        "mov rcx, rsp",
        "sub rcx, [rip + {lowest}]",
        "cmp rcx, {deepest}",
        "ja 2f",
        "cmp rcx, 16 * {n_stores}",
        "jb {wipe_with_registers}",
        "xor edx, edx",
        "xor esi, esi",
        "xor edi, edi",
        "xor r8d, r8d",
        "xor r9d, r9d",
        "xor r10d, r10d",
        "xor r11d, r11d",
        clear_vectors!(),
        "mov eax, 0x01010101 * {poison}",
        "movd xmm0, eax",
        "pshufd xmm0, xmm0, 0",
        ".set .Lwiped, 0",
        ".rept {n_stores}",
        ".set .Lwiped, .Lwiped + 16",
        "movups [rsp - .Lwiped], xmm0",
        ".endr",
        "2:",
        "ret",
        lowest = sym LOWEST,
        wipe_with_registers = sym wipe_with_registers,
        poison = const POISON as u32,
        deepest = const DEEPEST,
        n_stores = const 32,
    )
}

pub(crate) use watched;
pub(crate) use wiped;

impl Arrival {
    /// Of the call that was [`watched`] last, in order to load or to do more.
    #[inline]
    pub(crate) fn noted(kind: Kind, operands: [u128; 2]) -> Self {
        let register = |idx: usize| REGISTERS[idx].load(Ordering::Relaxed);
        let stack_pointer = register(6);
        Self {
            kept: std::array::from_fn(register),
            stack_pointer,
            used_from: stack_pointer,
            is_load: kind == Kind::Load,
            kind: Some(kind),
            operands: operands.map(|it| it as u64),
            expected_at: 0,
            is_exchange: false,
            acquires: false,
        }
    }

    /// Of a thread that comes to an instruction with all these registers, in order to load or to do
    /// more. What stands at `stack_pointer` is the place of the instruction.
    pub(crate) fn at(
        registers: impl Iterator<Item = usize>,
        stack_pointer: usize,
        used_from: usize,
        is_load: bool,
    ) -> Self {
        let digest = registers.fold(0, |hash, word| mixed(hash, word as u64));
        let kept = [digest as usize, 0, 0, 0, 0, 0];
        Self {
            kept,
            stack_pointer,
            used_from,
            is_load,
            kind: None,
            operands: [0; 2],
            expected_at: 0,
            is_exchange: false,
            // As every load of this processor does.
            acquires: true,
        }
    }

    /// Where the thread goes on, with the result of an addition to a counter of this size.
    pub(crate) fn way(&self, bits: u8) -> Way {
        // SAFETY: the stack pointer of a function that was just called points to where it returns.
        let address = unsafe { *(self.stack_pointer as *const usize) };
        Way {
            address,
            stack_pointer: self.stack_pointer + WORD,
            frame_pointer: self.kept[1],
            origin: Origin::Returned(0),
            bits,
        }
    }

    /// Where the address is on the stack at which the thread goes on.
    #[inline]
    pub(crate) fn stack_pointer(&self) -> usize {
        self.stack_pointer
    }

    /// Where the thread goes on.
    pub(crate) fn behind(&self) -> rust_mutex::Place {
        // SAFETY: as below.
        let behind = unsafe { *(self.stack_pointer as *const usize) };
        rust_mutex::Place { behind, stack_pointer: self.stack_pointer + WORD }
    }

    pub(crate) fn place(&self, address: usize) -> Place {
        let stack_pointer = self.stack_pointer;
        // SAFETY: the stack pointer of a function that was just called points to where it returns.
        let site = unsafe { *(stack_pointer as *const usize) };
        Place { site, stack_pointer, address }
    }

    /// A hash of all that decides what the thread does next, but for what it is about to read.
    fn digest(&self, idx: usize, shared: &SharedBytes, dead: &Dead) -> u64 {
        let kept = self.kept.iter().zip(&dead.registers).filter(|(_, is_dead)| !**is_dead);
        let mut hash = kept.fold(0, |hash, (&word, _)| mixed(hash, word as u64));
        hash = self.operands.iter().fold(hash, |hash, &word| mixed(hash, word));
        if !dead.bytes.is_empty() {
            return self.digest_of_live(hash, idx, shared, dead);
        }
        let mut from = self.used_from;
        for (word, bytes) in shared.from(from) {
            hash = mixed_words(hash, from, word);
            if bytes != u8::MAX {
                hash = mixed(hash, without(load(word, WORD as u8) as u64, bytes));
            }
            from = word + WORD;
        }
        mixed_words(hash, from, coroutine::top(idx))
    }

    fn digest_of_live(&self, hash: u64, idx: usize, shared: &SharedBytes, dead: &Dead) -> u64 {
        let (from, to) = (self.used_from, coroutine::top(idx));
        // SAFETY: this is a part of a stack, and no thread runs that could change it.
        let mut bytes =
            unsafe { std::slice::from_raw_parts(from as *const u8, to - from) }.to_vec();
        let shared = shared.addresses().map(|at| at..at + 1);
        for place in dead.bytes.iter().cloned().chain(shared) {
            let start = place.start.max(from);
            if start < place.end.min(to) {
                bytes[start - from..place.end.min(to) - from].fill(0);
            }
        }
        let (words, _) = bytes.as_chunks::<WORD>();
        words.iter().fold(hash, |hash, word| mixed(hash, u64::from_le_bytes(*word)))
    }
}

/// A word without some of its bytes.
fn without(word: u64, bytes: u8) -> u64 {
    (0..WORD).filter(|at| bytes >> at & 1 == 1).fold(word, |word, at| word & !(0xff << (8 * at)))
}

#[inline]
fn mixed(hash: u64, word: u64) -> u64 {
    (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
}

/// Mixes a part of a stack that is in use and suspended into a hash. Four words at a time: each
/// multiplication would wait for the one before.
fn mixed_words(hash: u64, from: usize, to: usize) -> u64 {
    // SAFETY: this is a part of a stack, and no thread runs that could change it.
    let words = unsafe { std::slice::from_raw_parts(from as *const u64, (to - from) / WORD) };
    let (chunks, rest) = words.as_chunks::<4>();
    let mut rows = [hash, 1, 2, 3];
    for chunk in chunks {
        for (row, &word) in rows.iter_mut().zip(chunk) {
            *row = mixed(*row, word);
        }
    }
    rest.iter().chain(&rows[1..]).fold(rows[0], |hash, &word| mixed(hash, word))
}

impl Clone for Reads {
    fn clone(&self) -> Self {
        Self {
            reads: self.reads.clone(),
            held: self.held,
            chain: self.chain.clone(),
            attempt: self.attempt.clone(),
        }
    }

    /// Keeps the memory that it has.
    fn clone_from(&mut self, from: &Self) {
        thread::copy(&mut self.reads, &from.reads);
        self.held = from.held;
        self.chain.clone_from(&from.chain);
        self.attempt.clone_from(&from.attempt);
    }
}

impl Reads {
    /// A thread begins.
    pub(crate) fn clear(&mut self) {
        self.reads.clear();
        self.held = None;
        self.chain.clear();
        self.attempt = None;
    }

    /// The thread comes to an operation. Whether it was pure so far: if not, all is forgotten.
    pub(crate) fn come(&mut self, is_read: bool) {
        if !is_read || !IS_PURE.load(Ordering::Relaxed) {
            self.reads.clear();
        }
        if !is_read || !IS_PLAIN.load(Ordering::Relaxed) {
            self.chain.clear();
        }
        if !is_read || !HAS_ONLY_TRIED.load(Ordering::Relaxed) {
            self.attempt = None;
        }
    }

    /// Whether the thread is held in a loop.
    #[inline]
    pub(crate) fn is_held(&self) -> bool {
        self.held.is_some() || self.chain.is_held
    }

    /// What the loop reads that the thread is held in.
    fn of_loop(&self) -> &[Read] {
        self.held.map_or(&[], |start| &self.reads[start..])
    }

    /// Whether the thread could leave the loop: something that it reads has changed.
    pub(crate) fn can_leave(&self) -> bool {
        self.chain.is_held || self.of_loop().iter().any(Read::is_outdated)
    }

    /// The thread waits a while.
    pub(crate) fn note_wait(&mut self) {
        if let Some(last) = self.reads.last_mut() {
            last.is_waited = true;
        }
    }

    /// Whether the last read completes a round like the one before, with a wait in between, and
    /// nothing else was read.
    fn waits(&self) -> bool {
        let Some((last, earlier)) = self.reads.split_last() else { return false };
        let Some(start) = earlier.iter().rposition(|read| read.place == last.place) else {
            return false;
        };
        let round = &earlier[start..];
        let is_alike =
            |read: &Read| (read.place.address, read.value) == (last.place.address, last.value);
        round.iter().all(is_alike) && round.iter().any(|read| read.is_waited)
    }

    /// Where the thread came to a place in a state with this hash, before a read of the same place.
    fn same_before(&self, start: usize, place: &Place, digest: u64) -> Option<usize> {
        let is_same = |read: &Read| read.digest == digest && read.digest != 0;
        self.reads[..start].iter().rposition(|read| read.place == *place && is_same(read))
    }

    /// Whether the last rounds of the loop that begins at `start` have all read the same.
    fn are_rounds_alike(&self, start: usize) -> bool {
        let period = self.reads.len() - start;
        let Some(first) = self.reads.len().checked_sub(period * ROUNDS) else { return false };
        let (earlier, later) = (&self.reads[first..start], &self.reads[first + period..]);
        earlier.iter().zip(later).all(|(a, b)| (a.place, a.value) == (b.place, b.value))
    }
}

impl Read {
    /// Whether another value would be read by now.
    fn is_outdated(&self) -> bool {
        self.value != load(self.place.address, self.len)
    }
}

/// The value at an address of the program.
pub(crate) fn load(address: usize, len: u8) -> u128 {
    let mut bytes = [0; 16];
    // SAFETY: the program has read there, and its memory stays mapped.
    unsafe {
        std::ptr::copy_nonoverlapping(address as *const u8, bytes.as_mut_ptr(), usize::from(len));
    }
    u128::from_le_bytes(bytes)
}

/// An operation of the running thread is over, and the program goes on.
#[inline]
pub(crate) fn end_operation(idx: usize) {
    if WIPES.load(Ordering::Relaxed) {
        LOWEST.store(machine::with(|machine| machine.threads[idx].lowest), Ordering::Relaxed);
    }
}

impl Machine {
    /// The running thread comes to a read, and is held there if it is going round in a loop.
    /// Whether others may come before it: not while it is tried what becomes of a loop, and not
    /// while a loop waits.
    pub(crate) fn come_to_read(&mut self, idx: usize, arrival: &Arrival, address: usize) -> bool {
        let trial = self.counting_loops.trial.take();
        let is_waited_for = |wait: &Wait| arrival.is_load && wait.address == address;
        let wait = self.counting_loops.wait.take().filter(is_waited_for);
        let is_tried = trial.is_some() || wait.is_some();
        let is_held = !is_tried
            && HAS_ONLY_TRIED.load(Ordering::Relaxed)
            && self.comes_by_another_attempt(idx, arrival, address);
        self.threads[idx].reads.come(true);
        if is_held || !is_tried && self.comes_by_rereading(idx, arrival, address) {
            if !is_held {
                self.learn_wait(idx);
            }
            self.threads[idx].reads.chain.is_held = true;
            return true;
        }
        let thread = &mut self.threads[idx];
        if thread.reads.reads.is_empty() {
            return true;
        }
        let place = arrival.place(address);
        let Some(start) = thread.reads.reads.iter().rposition(|read| read.place == place) else {
            return true;
        };
        let is_first = || thread.reads.reads[..start].iter().all(|read| read.place != place);
        let is_doubted = self.doubts_first_rounds && is_first();
        let is_one_read = start + 1 == thread.reads.reads.len();
        let before = thread.reads.reads[start].digest;
        // A loop that is tried is not held, and has many rounds.
        let digest = if trial.is_none() { self.digest(idx, arrival) } else { 0 };
        let is_same = trial.is_none() && !is_doubted && before == digest;
        let same = match is_same {
            true => Some(start),
            false if trial.is_some() || self.doubts_first_rounds => None,
            false => self.threads[idx].reads.same_before(start, &place, digest),
        };
        if is_one_read && trial.is_none() && self.has_loops {
            let len = self.threads[idx].reads.reads[start].len;
            self.learn_await(idx, arrival, address, len);
        } else if is_same && self.has_loops {
            self.learn_wait(idx);
        }
        if self.find_loops() {
            // So far, stale bytes may have decided.
            self.learn();
        }
        if same.is_some() {
            self.threads[idx].reads.held = same;
        } else if let Some(wait) = wait {
            return self.go_on_waiting(idx, arrival, start, wait);
        } else if trial.is_none() && self.waits_for_ever(idx) {
            self.cut(idx, start);
        } else if self.threads[idx].reads.are_rounds_alike(start) {
            return self.come_round(idx, arrival, start, trial);
        }
        true
    }

    /// There are loops. Whether that is new.
    pub(crate) fn find_loops(&mut self) -> bool {
        WIPES.store(true, Ordering::Relaxed);
        !std::mem::replace(&mut self.has_loops, true)
    }

    /// Does not compare the first round of a loop with the second any longer. Whether that is new,
    /// and can be what made two executions differ.
    pub(crate) fn doubt_first_rounds(&mut self) -> bool {
        self.has_loops && !std::mem::replace(&mut self.doubts_first_rounds, true)
    }

    /// The same for a thread that comes round often enough in a loop that counts.
    fn come_round(
        &mut self,
        idx: usize,
        arrival: &Arrival,
        start: usize,
        trial: Option<usize>,
    ) -> bool {
        let place = self.threads[idx].reads.reads[start].place;
        match (trial, self.counting_loops.ends.get(&place)) {
            (Some(0), _) => self.learn_end(idx, start, false),
            (Some(left), _) => {
                let n_rounds = 1 + usize::from(self.counted_waits.has(&place));
                self.note_round(idx, arrival, place.address, n_rounds);
                self.counting_loops.trial = Some(left - 1);
            }
            (None, Some(true)) => {}
            (None, Some(false)) => self.cut(idx, start),
            // What is tried reads what memory holds.
            (None, None) if weak_memory::is_on() => {}
            // What ends it now is not its count.
            (None, None)
                if self.threads[idx].reads.reads[start..].iter().any(Read::is_outdated) => {}
            (None, None) => {
                // It is so unless the trial goes on to its end.
                self.learn_end(idx, start, true);
                let period = self.threads[idx].reads.reads.len() - start;
                self.counting_loops.trial = Some(FOR_EVER * period);
            }
        }
        !self.counting_loops.is_unseen()
    }

    /// A thread is held after some rounds of a loop that counts them and does not end by that.
    fn cut(&mut self, idx: usize, start: usize) {
        self.threads[idx].reads.held = Some(start);
        self.counting_loops.has_held = true;
        for read in &self.threads[idx].reads.reads[start..] {
            self.counted_waits.cut(read.place);
        }
    }

    /// The same for a thread that goes round a loop that waits.
    fn go_on_waiting(&mut self, idx: usize, arrival: &Arrival, start: usize, wait: Wait) -> bool {
        if wait.n_rounds == FOR_EVER {
            self.learn_end(idx, start, false);
            return true;
        }
        let n_rounds = wait.n_rounds + 1;
        self.note_round(idx, arrival, wait.address, n_rounds);
        self.counting_loops.wait = Some(Wait { n_rounds, ..wait });
        false
    }

    /// It is known whether a loop ends by its count.
    fn learn_end(&mut self, idx: usize, start: usize, ends: bool) {
        let places = self.threads[idx].reads.reads[start..].iter().map(|read| (read.place, ends));
        self.counting_loops.ends.extend(places);
        self.counting_loops.has_held = false;
        self.learn();
    }

    /// Something new is known that would have mattered before.
    pub(crate) fn learn(&mut self) {
        self.checkpoints.clear();
        CUT.store(true, Ordering::Relaxed);
    }

    /// The running thread has read a value and changed nothing.
    pub(crate) fn note_read(&mut self, idx: usize, arrival: &Arrival, address: usize, len: u8) {
        let object = self.objects.atomic(address, usize::from(len));
        if arrival.stack_pointer < self.threads[idx].lowest {
            // To its page: the next one that is a little deeper is then nothing new.
            self.threads[idx].lowest = arrival.stack_pointer & !(PAGE - 1);
            if self.has_loops {
                self.learn();
            }
        }
        let read = self.weak_memory.read.take();
        let digest = match self.counting_loops.trial.is_some() {
            true => 0,
            false => self.digest(idx, arrival),
        };
        match digest {
            0 => self.threads[idx].reads.chain.clear(),
            _ => self.note_in_chain(idx, arrival, address, len, digest),
        }
        // What goes round unseen reads what memory holds, and a memory model may say otherwise.
        let may_wait = arrival.is_load && !self.counting_loops.is_unseen() && !weak_memory::is_on();
        let place = arrival.place(address);
        let value = read.unwrap_or_else(|| load(address, len));
        if may_wait && self.counted_waits.has(&place) {
            let mut earlier = self.threads[idx].reads.reads.iter();
            let before = earlier.rfind(|read| read.place == place);
            if before.is_some_and(|read| read.value != value) {
                self.note_change(idx, arrival, address, len, value);
            }
        }
        let thread = &mut self.threads[idx];
        if thread.reads.reads.len() == MAX_READS {
            thread.reads.reads.drain(..MAX_PERIOD);
        }
        thread.reads.reads.push(Read { place, digest, object, len, value, is_waited: false });
        let is_wait = may_wait && self.threads[idx].reads.waits() && !self.waits_for_ever(idx);
        if is_wait && !self.counted_waits.is_unrolled(&place) {
            self.note_round(idx, arrival, address, 1);
            self.counting_loops.wait = Some(Wait { address, n_rounds: 1 });
        }
    }

    /// A hash of the state in which a thread has come to an operation.
    pub(crate) fn digest(&self, idx: usize, arrival: &Arrival) -> u64 {
        let dead = self.dead(idx, arrival);
        arrival.digest(idx, &self.threads[idx].shared, &dead)
    }

    /// Whether the last reads of a thread are a loop that waits, and is known to do so for ever.
    fn waits_for_ever(&self, idx: usize) -> bool {
        let reads = &self.threads[idx].reads;
        let is_endless = |read: &Read| self.counting_loops.ends.get(&read.place) == Some(&false);
        reads.reads.last().is_some_and(is_endless) && reads.waits()
    }

    /// Makes the bytes of a stack that are not written yet the same in every execution.
    pub(crate) fn poison(&mut self, idx: usize) {
        let (start, end) = (self.threads[idx].lowest, coroutine::top(idx));
        if self.has_loops && start < end {
            // SAFETY: the thread has not begun, so its stack is not in use.
            unsafe { std::ptr::write_bytes(start as *mut u8, POISON, end - start) };
        }
    }

    /// From where on the stack of a suspended thread matters: from its innermost frame on, or from
    /// the deepest frame of any loop.
    pub(crate) fn kept_from(&self, thread: &Thread) -> usize {
        let innermost = thread.coroutine.stack_pointer;
        if self.has_loops { innermost.min(thread.lowest) } else { innermost }
    }

    /// Whether the running thread is the only one that ever touches this memory, as far as is
    /// known.
    #[inline]
    pub(crate) fn is_own(&mut self, address: usize, len: usize) -> bool {
        self.note_sharing(address, len);
        if !coroutine::is_own_stack(address) {
            return false;
        }
        !self.threads[coroutine::stack_of(address)].shared.overlaps(address, len)
    }

    /// The running thread touches memory: if it is on the stack of another one, that is shared.
    #[inline]
    pub(crate) fn note_sharing(&mut self, address: usize, len: usize) {
        if coroutine::stack_of(address) < ThreadId::MAX && !coroutine::is_own_stack(address) {
            self.share_stack(address, len);
        }
    }

    #[cold]
    fn share_stack(&mut self, address: usize, len: usize) {
        let Some(owner) = self.threads.get_mut(coroutine::stack_of(address)) else { return };
        if owner.shared.add(address, len) {
            self.learn();
        }
    }
}

fn in_words(len: u8, value: u128) -> String {
    pointers::name(len.into(), value).unwrap_or_else(|| value.to_string())
}

/// The loop that a thread is held in, for people.
pub(crate) fn describe(idx: usize, place: Option<String>) -> Option<Spin> {
    if let Some(waiting) = machine::with(|machine| machine.threads[idx].waiting) {
        let object = machine::with(|machine| machine.threads[idx].operation.object())?;
        let mut reads = machine::with(|machine| machine.awaited(idx, &waiting));
        reads.sort_unstable();
        reads.dedup();
        let wishes: Vec<String> = reads
            .into_iter()
            .map(|(address, len)| {
                let value = in_words(len, load(address, len));
                format!("{} changes from {value}", machine::name_of(address))
            })
            .collect();
        let place = place.map_or(String::new(), |place| format!(" at {place}"));
        let text = format!("spins{place} until {}", wishes.join(" or "));
        return Some(Spin { object, text });
    }
    let mut reads = machine::with(|machine| machine.threads[idx].reads.of_loop().to_vec());
    let object = reads.first()?.object;
    reads.sort_by_key(|read| read.place.address);
    reads.dedup_by_key(|read| read.place.address);
    let wishes: Vec<String> = reads
        .iter()
        .map(|read| {
            let name = machine::name_of(read.place.address);
            format!("{name} changes from {}", in_words(read.len, read.value))
        })
        .collect();
    let place = place.map_or(String::new(), |place| format!(" at {place}"));
    Some(Spin { object, text: format!("spins{place} until {}", wishes.join(" or ")) })
}
