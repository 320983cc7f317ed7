//! Mutexes of Rust's standard library, as operations: taking one waits, and is no game with a
//! futex.
//!
//! Such a mutex is a word: 0 free, 1 taken, 2 taken and wanted. A thread that finds it taken calls
//! `lock_contended`, which spins, announces that it waits and sleeps; that makes many executions of
//! what is one order of two critical sections. So a compare-and-swap of the word from 0 to 1 whose
//! failure leads to a call of that function is an `Acquire`: possible once the word is 0. A swap of
//! it to 0 by its holder is a `Release`, and a compare-and-swap from 0 to 1 elsewhere, as in
//! `try_lock`, a `TryAcquire`. The word is then never 2, `lock_contended` is never called, and
//! no thread sleeps in the futex.
//!
//! What makes this right is that the function does what it is there for, and nothing else: it comes
//! back when it has taken the word, which another thread may do before it at any time.
//!
//! Where a failure leads to is read from the machine code behind the compare-and-swap, so it does
//! not matter where the compiler has put it. A word that is accessed in any other way is taken for
//! no mutex from then on, and the search begins again.

use crate::machine::{self, Machine};
use crate::plain_accesses::CUT;
use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic, OpKind, Register};
use mazurka_core::{Effect, ObjectId, Operation};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A part of the name of the function, as compilers write it.
const LOCK_CONTENDED: &str = "3std3sys4sync5mutex5futexNtB2_5Mutex14lock_contended";
/// So much code is looked at behind a compare-and-swap.
const MAX_INSTRUCTIONS: usize = 200;
const MAX_LEN: usize = 15;
/// Without optimisation, a compare-and-swap is in a function of its own.
const MAX_RETURNS: usize = 4;

/// Where the function is; 0 if the program has none.
static WAY_IN: AtomicUsize = AtomicUsize::new(0);

/// Whether a function of the program is the one that waits for a mutex.
pub(crate) fn note_function(name: &str, address: usize) {
    if name.contains(LOCK_CONTENDED) {
        WAY_IN.store(address, Ordering::Relaxed);
    }
}

/// Whether the program has such mutexes.
#[inline]
fn are_there() -> bool {
    WAY_IN.load(Ordering::Relaxed) != 0
}

/// What is known of words, over all executions.
#[derive(Debug, Default)]
pub(crate) struct RustMutexes {
    /// Whether the word at an address is a mutex.
    words: FxHashMap<usize, bool>,
    /// Where the code behind a call or a compare-and-swap leads to.
    sites: FxHashMap<usize, Exit>,
    objects: FxHashSet<ObjectId>,
}

impl RustMutexes {
    /// How much is known of them.
    pub(crate) fn known(&self) -> u64 {
        (self.words.len() as u64) << 32 ^ self.objects.len() as u64
    }
}

/// What an access to a word does to a mutex.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Lock,
    TryLock,
    Unlock,
}

impl Role {
    pub(crate) fn operation(self, object: ObjectId) -> Operation {
        match self {
            Self::Lock => Operation::Acquire(object),
            Self::TryLock => Operation::TryAcquire(object),
            Self::Unlock => Operation::Release(object),
        }
    }
}

/// An access to a word: from 0 to 1 if it is 0, to something, or any other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Take,
    Swap(u128),
    Other,
}

/// Where a thread goes on, and its stack pointer there.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Place {
    pub(crate) behind: usize,
    pub(crate) stack_pointer: usize,
}

/// The running thread is about to access a word and to go on behind that. What that does to a
/// mutex, if it is one.
#[inline]
pub(crate) fn role(address: usize, len: usize, access: Access, place: Place) -> Option<Role> {
    if !are_there() || len != size_of::<u32>() {
        return None;
    }
    machine::with(|machine| machine.role(address, access, place))
}

/// The access was made, as a step or as a part of one, and has changed the word or not.
pub(crate) fn conclude(role: Role, address: usize, has_changed: bool, is_step: bool) {
    let me = machine::current();
    machine::with(|machine| {
        let object = machine.objects.atomic(address, size_of::<u32>());
        let state = machine.objects.state(object);
        match role {
            Role::Unlock => state.owner = None,
            _ if has_changed => state.owner = Some(me),
            // The step has made it the running thread's, and a thread that was not seen has it.
            _ if is_step && machine.effect != Effect::Failed => state.owner = None,
            _ => {}
        }
        if is_step {
            machine.effect = if has_changed { Effect::Done } else { Effect::Failed };
        }
    });
}

impl Machine {
    fn role(&mut self, address: usize, access: Access, place: Place) -> Option<Role> {
        let known = self.rust_mutexes.words.get(&address).copied();
        if known == Some(false) {
            return None;
        }
        match access {
            Access::Take if self.rust_mutexes.is_lock(place) => {
                if known.is_none() {
                    self.note_mutex(address);
                }
                Some(Role::Lock)
            }
            Access::Take => known.map(|_| Role::TryLock),
            Access::Swap(0) if known.is_some() && self.is_own_mutex(address) => Some(Role::Unlock),
            Access::Swap(_) | Access::Other => {
                if known.is_some() {
                    self.forget_mutex(address);
                }
                None
            }
        }
    }

    fn is_own_mutex(&mut self, address: usize) -> bool {
        let object = self.objects.atomic(address, size_of::<u32>());
        self.objects.state(object).owner == Some(machine::current())
    }

    fn note_mutex(&mut self, address: usize) {
        // What was said of it before was something else.
        if self.objects.is_known(address) {
            CUT.store(true, Ordering::Relaxed);
        }
        let object = self.objects.atomic(address, size_of::<u32>());
        self.rust_mutexes.words.insert(address, true);
        self.rust_mutexes.objects.insert(object);
    }

    fn forget_mutex(&mut self, address: usize) {
        let object = self.objects.atomic(address, size_of::<u32>());
        self.rust_mutexes.words.insert(address, false);
        self.rust_mutexes.objects.remove(&object);
        CUT.store(true, Ordering::Relaxed);
    }

    /// If an operation is to take such a mutex, whether it can be taken.
    #[inline]
    pub(crate) fn can_be_taken(&self, operation: Operation) -> Option<bool> {
        if self.rust_mutexes.objects.is_empty() {
            return None;
        }
        let Operation::Acquire(object) = operation else { return None };
        self.rust_mutexes.objects.contains(&object).then(|| {
            let word = self.objects.address(object) as *const u32;
            // SAFETY: the program is about to access it, and no other thread runs.
            unsafe { word.read_volatile() == 0 }
        })
    }
}

impl RustMutexes {
    /// Whether an object is such a mutex.
    pub(crate) fn contains(&self, object: ObjectId) -> bool {
        self.objects.contains(&object)
    }

    /// Where the code at a place leads to, which was read before it was changed.
    pub(crate) fn note_exit(&mut self, behind: usize, exit: Exit) {
        self.sites.insert(behind, exit);
    }

    /// Whether a failure leads to waiting: in the function itself, or in one of those that it
    /// returns to.
    fn is_lock(&mut self, mut place: Place) -> bool {
        for _ in 0..MAX_RETURNS {
            let behind = place.behind;
            match *self.sites.entry(behind).or_insert_with(|| Exit::behind(behind)) {
                Exit::Waiting => return true,
                Exit::Elsewhere => return false,
                Exit::Return(offset) => {
                    let top = place.stack_pointer.wrapping_add_signed(offset as isize);
                    // SAFETY: the running thread returns from a function by what is there.
                    let behind = unsafe { *(top as *const usize) };
                    place = Place { behind, stack_pointer: top + size_of::<usize>() };
                }
            }
        }
        false
    }
}

/// Where the ways on from a place in the code lead, up to the first call of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// One of them to the function that waits.
    Waiting,
    /// Out of the function: the address to return to is so many bytes above the stack pointer.
    Return(i32),
    Elsewhere,
}

impl Exit {
    pub(crate) fn behind(place: usize) -> Self {
        let wanted = WAY_IN.load(Ordering::Relaxed);
        let mut seen = FxHashSet::default();
        let mut open = vec![(place, 0)];
        let mut exit = Self::Elsewhere;
        while let Some((mut at, mut offset)) = open.pop() {
            while seen.len() < MAX_INSTRUCTIONS && seen.insert(at) {
                let instruction = decode(at);
                match instruction.flow_control() {
                    FlowControl::Next => match moved(&instruction) {
                        Some(by) => offset += by,
                        None => break,
                    },
                    FlowControl::ConditionalBranch => {
                        open.push((instruction.near_branch_target() as usize, offset));
                    }
                    FlowControl::UnconditionalBranch => {
                        let target = instruction.near_branch_target() as usize;
                        if target == wanted {
                            return Self::Waiting;
                        }
                        open.push((target, offset));
                        break;
                    }
                    FlowControl::Call if instruction.near_branch_target() as usize == wanted => {
                        return Self::Waiting;
                    }
                    FlowControl::IndirectCall if slot_target(&instruction) == Some(wanted) => {
                        return Self::Waiting;
                    }
                    FlowControl::Return => {
                        exit = Self::Return(offset);
                        break;
                    }
                    _ => break,
                }
                at = instruction.next_ip() as usize;
            }
        }
        exit
    }
}

/// By how much an instruction raises the stack pointer; nothing, if that is not known.
fn moved(instruction: &Instruction) -> Option<i32> {
    if instruction.is_stack_instruction() {
        return Some(instruction.stack_pointer_increment());
    }
    if instruction.op_count() == 0 || instruction.op0_register() != Register::RSP {
        return Some(0);
    }
    let is_immediate = instruction.op_count() == 2 && instruction.op1_kind() != OpKind::Register;
    match instruction.mnemonic() {
        Mnemonic::Add if is_immediate => Some(instruction.immediate(1) as i32),
        Mnemonic::Sub if is_immediate => Some(-(instruction.immediate(1) as i32)),
        Mnemonic::Cmp | Mnemonic::Test => Some(0),
        _ => None,
    }
}

fn decode(at: usize) -> Instruction {
    // SAFETY: the program goes on there, so there is code; more of it, or of what the loader has
    // put behind it.
    let code = unsafe { std::slice::from_raw_parts(at as *const u8, MAX_LEN) };
    Decoder::with_ip(64, code, at as u64, DecoderOptions::NONE).decode()
}

/// Where a call through a slot of the loader goes.
pub(crate) fn slot_target(instruction: &Instruction) -> Option<usize> {
    instruction.is_ip_rel_memory_operand().then(|| {
        // SAFETY: it is a slot of the loader, and bound, as programs for us are linked.
        unsafe { *(instruction.ip_rel_memory_address() as *const usize) }
    })
}
