//! What a thread would do if a read of its returned some value: computed aside, up to its next
//! atomic operation, from the machine code.
//!
//! Nothing of the program runs. Registers and all bytes that would be written are kept here, on top
//! of memory as it is, so there is nothing to be put back. Only instructions that compilers use for
//! plain computing are understood. Whatever is not understood has no result, and the caller then
//! supposes nothing: the thread takes the step, and it is seen what it does.
//!
//! A register, a flag or a byte may be *unknown*: what a call of ours leaves in registers that
//! belong to it. Unknown values may be copied, and nothing may depend on them.

use crate::coroutine;
use crate::globals;
use crate::heap;
use crate::image;
use crate::precompiled;
use crate::shared_bytes::SharedBytes;
use iced_x86::{
    Code, ConditionCode, Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic, OpKind,
    Register,
};
use mazurka_core::ThreadId;
use rustc_hash::FxHashMap;
use std::ffi::{CStr, CString};
use std::ops::Range;

/// How many instructions are computed at the most.
const MAX_STEPS: usize = 2000;
const LONGEST: usize = 15;
const RAX: usize = 0;
const RSP: usize = 4;
const WORD: usize = 8;
/// rdi, rsi and rdx.
const ARGUMENTS: [usize; 3] = [7, 6, 2];
/// What a call may overwrite: rax, rcx, rdx, rsi, rdi, r8 to r11.
const CALLER_SAVED: [usize; 9] = [0, 1, 2, 6, 7, 8, 9, 10, 11];
/// The registers that calls leave as they were, in the order of [`Start::kept`].
pub(crate) const KEPT: [usize; 6] = [3, 5, 12, 13, 14, 15];
/// Where code keeps what protects its stack, from the thread pointer on.
const CANARY: u64 = 0x28;

/// Which atomic operation a function of ours is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Load,
    /// It takes the address of what it compares with.
    CompareAt,
    /// It takes what it compares with.
    Compare,
    /// It takes one operand.
    Update,
    /// The same, and its operand is what is taken away: it is told as an [`Update`](Self::Update).
    Subtract,
}

/// What a function of ours is to code that calls it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Callback {
    /// An atomic operation on so many bytes.
    Atomic(Kind, u8),
    /// A plain access.
    Plain { write: bool, len: u8 },
    /// It changes nothing.
    Nothing,
}

/// Where a thread goes on from a read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Start<'a> {
    pub(crate) thread: usize,
    /// Where the address is on the stack at which it goes on.
    pub(crate) stack_pointer: usize,
    /// rbx, rbp, r12 to r15.
    pub(crate) kept: [usize; 6],
    /// Which of them are to be taken as unknown.
    pub(crate) unknown: [bool; 6],
    /// What it is given, and how many bytes of that are meant.
    pub(crate) result: (u64, u8),
    /// Its stack as it is there, from `stack_pointer` on, if that is not what is in memory now.
    pub(crate) stack: Option<&'a [u8]>,
    /// The bytes of its stack that others access.
    pub(crate) shared: &'a SharedBytes,
    pub(crate) thread_pointer: usize,
}

/// Where it comes to: an atomic operation.
#[derive(Debug)]
pub(crate) struct End {
    pub(crate) site: usize,
    pub(crate) stack_pointer: usize,
    pub(crate) address: usize,
    pub(crate) kind: Kind,
    /// What it is given beside the address: what to compare with, and what to write.
    pub(crate) operands: [u64; 2],
    /// Unknown ones are absent.
    pub(crate) kept: [Option<u64>; 6],
    /// Whether it has accessed memory on the way that is not on its stack.
    pub(crate) has_accessed: bool,
    /// All that it has written, or that was there before.
    pub(crate) memory: Memory,
}

/// Why it is not known where a thread comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// Something is not understood, or the next operation is not an atomic one.
    NotUnderstood,
    /// It branches by something unknown.
    Undecided,
}

/// Bytes that differ from those in memory, or may do so.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memory {
    words: FxHashMap<usize, Word>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Word {
    bytes: [u8; WORD],
    /// Which of them are here, and which of these are known.
    here: u8,
    known: u8,
}

impl Memory {
    /// A byte of it: nothing if it is as in memory, and `Some(None)` if it is unknown.
    pub(crate) fn byte(&self, address: usize) -> Option<Option<u8>> {
        let word = self.words.get(&(address / WORD))?;
        let (idx, bit) = (address % WORD, 1 << (address % WORD));
        (word.here & bit != 0).then(|| (word.known & bit != 0).then_some(word.bytes[idx]))
    }

    /// Makes a byte another one.
    pub(crate) fn set(&mut self, address: usize, byte: Option<u8>) {
        let word = self.words.entry(address / WORD).or_default();
        let (idx, bit) = (address % WORD, 1u8 << (address % WORD));
        word.here |= bit;
        word.known = if byte.is_some() { word.known | bit } else { word.known & !bit };
        word.bytes[idx] = byte.unwrap_or(0);
    }

    /// The addresses of all bytes that are here.
    pub(crate) fn addresses(&self) -> impl Iterator<Item = usize> {
        self.words.iter().flat_map(|(&idx, word)| {
            (0..WORD).filter(|at| word.here >> at & 1 == 1).map(move |at| idx * WORD + at)
        })
    }
}

/// A value of a register: so many of its lower bytes are known.
#[derive(Clone, Copy, Debug, Default)]
struct Value {
    bits: u64,
    known: u8,
}

impl Value {
    const fn known(bits: u64) -> Self {
        Self { bits, known: 8 }
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Flags {
    carry: Option<bool>,
    zero: Option<bool>,
    sign: Option<bool>,
    overflow: Option<bool>,
    parity: Option<bool>,
}

/// What was found out about code and functions of ours.
#[derive(Default)]
pub(crate) struct Emulator {
    instructions: FxHashMap<usize, Option<Instruction>>,
    callbacks: FxHashMap<usize, Callback>,
    /// Where variables of the program are, and where the whole program is.
    pub(crate) variables: Vec<Range<usize>>,
    pub(crate) program: Range<usize>,
}

impl std::fmt::Debug for Emulator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Emulator").finish_non_exhaustive()
    }
}

struct State<'a> {
    emulator: &'a Emulator,
    start: Start<'a>,
    at: usize,
    registers: [Value; 16],
    vectors: [Option<u128>; 16],
    flags: Flags,
    memory: Memory,
    has_accessed: bool,
    /// What callbacks have told of plain accesses.
    told: Vec<Range<usize>>,
    /// Whether it has come to a branch that is decided by something unknown.
    is_undecided: bool,
}

impl Emulator {
    /// Where a thread comes to, if that is known. `before` has bytes that are not as in memory.
    pub(crate) fn run(&mut self, start: Start<'_>, before: Memory) -> Result<End, Stop> {
        if self.callbacks.is_empty() {
            self.callbacks = callbacks();
        }
        let mut instructions = std::mem::take(&mut self.instructions);
        let end = self.run_with(start, before, &mut instructions);
        self.instructions = instructions;
        end
    }

    fn run_with(
        &self,
        start: Start<'_>,
        before: Memory,
        instructions: &mut FxHashMap<usize, Option<Instruction>>,
    ) -> Result<End, Stop> {
        let mut state = State {
            emulator: self,
            start,
            at: 0,
            registers: [Value::default(); 16],
            vectors: [None; 16],
            flags: Flags::default(),
            memory: before,
            has_accessed: false,
            told: Vec::new(),
            is_undecided: false,
        };
        for (idx, register) in KEPT.into_iter().enumerate().filter(|(idx, _)| !start.unknown[*idx])
        {
            state.registers[register] = Value::known(start.kept[idx] as u64);
        }
        state.registers[RSP] = Value::known((start.stack_pointer + WORD) as u64);
        state.registers[RAX] = Value { bits: start.result.0, known: start.result.1 };
        let last = state.run_to_atomic(instructions);
        let is_undecided = state.is_undecided;
        last.and_then(|(kind, len)| state.end(kind, len)).ok_or(if is_undecided {
            Stop::Undecided
        } else {
            Stop::NotUnderstood
        })
    }
}

fn decode(known: &mut FxHashMap<usize, Option<Instruction>>, at: usize) -> Option<Instruction> {
    *known.entry(at).or_insert_with(|| {
        // What is an operation of the program by itself is not computed.
        if precompiled::is_redirected_pause(at) == Some(false) {
            return None;
        }
        let image = image::of(at)?;
        let code = image.address(at).and_then(|address| image.code(address));
        // SAFETY: the program's code is there. What comes after its end is not looked at.
        let in_memory = || unsafe { std::slice::from_raw_parts(at as *const u8, LONGEST) };
        let code = code.unwrap_or_else(in_memory);
        let found = Decoder::with_ip(64, code, at as u64, DecoderOptions::NONE).decode();
        (!found.is_invalid()).then_some(found)
    })
}

/// The functions of ours that code calls, by their addresses.
pub(crate) fn callbacks() -> FxHashMap<usize, Callback> {
    let mut all = FxHashMap::default();
    let mut add = |name: &str, callback: Callback| {
        let name = CString::new(name).expect("a name has no zero in it");
        if let Some(address) = address_of(&name) {
            all.insert(address, callback);
        }
    };
    for bits in [8u8, 16, 32, 64] {
        let mut atomic = |name: &str, kind| {
            add(&format!("__tsan_atomic{bits}_{name}"), Callback::Atomic(kind, bits / 8));
        };
        atomic("load", Kind::Load);
        atomic("compare_exchange_strong", Kind::CompareAt);
        atomic("compare_exchange_weak", Kind::CompareAt);
        atomic("compare_exchange_val", Kind::Compare);
        for name in ["store", "exchange", "fetch_add", "fetch_and", "fetch_or"] {
            atomic(name, Kind::Update);
        }
        atomic("fetch_sub", Kind::Subtract);
        atomic("fetch_xor", Kind::Update);
        atomic("fetch_nand", Kind::Update);
    }
    for len in [1u8, 2, 4, 8, 16] {
        for prefix in ["__tsan_", "__tsan_unaligned_"] {
            add(&format!("{prefix}read{len}"), Callback::Plain { write: false, len });
            add(&format!("{prefix}write{len}"), Callback::Plain { write: true, len });
            add(&format!("{prefix}read_write{len}"), Callback::Plain { write: true, len });
        }
    }
    for name in ["__tsan_func_entry", "__tsan_func_exit", "__tsan_atomic_signal_fence"] {
        add(name, Callback::Nothing);
    }
    add("sched_yield", Callback::Nothing);
    all
}

fn address_of(name: &CStr) -> Option<usize> {
    // SAFETY: the name ends with a zero.
    let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    (!address.is_null()).then_some(address as usize)
}

/// The lowest `size` bytes.
fn masked(bits: u64, size: usize) -> u64 {
    if size >= 8 { bits } else { bits & ((1 << (8 * size)) - 1) }
}

/// As a signed number of so many bytes.
fn extended(bits: u64, size: usize) -> i64 {
    let unused = 64 - 8 * size.min(8) as u32;
    (bits << unused) as i64 >> unused
}

/// The number of a general register and its size; those that are second bytes of others are not
/// known.
fn general(register: Register) -> Option<(usize, usize)> {
    use Register as R;
    let is_second = matches!(register, R::AH | R::BH | R::CH | R::DH);
    (register.is_gpr() && !is_second).then(|| (register.full_register().number(), register.size()))
}

impl State<'_> {
    /// Goes on to the next atomic operation.
    fn run_to_atomic(
        &mut self,
        instructions: &mut FxHashMap<usize, Option<Instruction>>,
    ) -> Option<(Kind, u8)> {
        self.at = self.load(self.start.stack_pointer, WORD)?? as usize;
        for _ in 0..MAX_STEPS {
            if let Some(&callback) = self.emulator.callbacks.get(&self.at) {
                match callback {
                    Callback::Atomic(kind, len) => return Some((kind, len)),
                    callback => self.call_back(callback)?,
                }
                continue;
            }
            let instruction = decode(instructions, self.at)?;
            self.step(&instruction)?;
        }
        None
    }

    /// The stack of the thread, from its end at the start.
    fn is_stack(&self, address: usize) -> bool {
        coroutine::stack_of(address) == self.start.thread
    }

    fn is_on_other_stack(&self, address: usize) -> bool {
        coroutine::stack_of(address) < ThreadId::MAX && !self.is_stack(address)
    }

    /// Whether memory may be read, which the program would do.
    fn is_readable(&self, address: usize, len: usize) -> bool {
        if self.is_stack(address) {
            let top = coroutine::top(self.start.thread);
            return address + len <= top && address + (64 << 10) > self.start.stack_pointer;
        }
        if self.is_on_other_stack(address) {
            return false;
        }
        heap::is_valid(address, len).or_else(|| globals::is_valid(address, len)).unwrap_or_else(
            || {
                let program = &self.emulator.program;
                program.contains(&address) && program.contains(&(address + len - 1))
            },
        )
    }

    /// Whether bytes are on the stack of the thread, and no other thread accesses them.
    fn is_private(&self, address: usize, len: usize) -> bool {
        self.is_stack(address) && !self.start.shared.overlaps(address, len)
    }

    /// Whether others may write there. What the loader has filled in stays as it is.
    fn is_shared(&self, address: usize, len: usize) -> bool {
        let is_variable = |it: &Range<usize>| it.contains(&address);
        !self.is_private(address, len)
            && (!self.emulator.program.contains(&address)
                || self.emulator.variables.iter().any(is_variable))
    }

    /// Whether memory is the thread's own, or a callback has told that it is accessed. What is read
    /// without is of no use to the program: the compiler has fetched it early.
    fn is_told(&self, address: usize, len: usize) -> bool {
        let covers = |it: &Range<usize>| it.start <= address && address + len <= it.end;
        !self.is_shared(address, len) || self.told.iter().any(covers)
    }

    /// A value in memory: nothing if it cannot be read, and `Some(None)` if it is unknown.
    fn load(&self, address: usize, len: usize) -> Option<Option<u64>> {
        Some(self.load_wide(address, len)?.map(|bits| bits as u64))
    }

    fn load_wide(&self, address: usize, len: usize) -> Option<Option<u128>> {
        let is_canary = address as u64 == self.start.thread_pointer as u64 + CANARY;
        if !is_canary && !self.is_readable(address, len) {
            return None;
        }
        let mut bits = 0u128;
        for at in (0..len).rev() {
            let byte = match self.memory.byte(address + at) {
                Some(None) => return Some(None),
                Some(Some(byte)) => byte,
                // Below its frames is what a call of ours has left.
                None if self.is_stack(address) && address + at < self.start.stack_pointer => {
                    return Some(None);
                }
                None => self.base(address + at),
            };
            bits = bits << 8 | u128::from(byte);
        }
        Some(Some(bits))
    }

    /// A byte that was not written here. It may be read.
    fn base(&self, address: usize) -> u8 {
        if let Some(stack) = self.start.stack
            && let Some(&byte) =
                address.checked_sub(self.start.stack_pointer).and_then(|at| stack.get(at))
            && self.is_stack(address)
        {
            return byte;
        }
        // SAFETY: it was found to be memory of the program.
        unsafe { *(address as *const u8) }
    }

    fn store(&mut self, address: usize, len: usize, bits: Option<u128>) -> Option<()> {
        if !self.is_readable(address, len) {
            return None;
        }
        self.has_accessed |= !self.is_private(address, len);
        for at in 0..len {
            self.memory.set(address + at, bits.map(|bits| (bits >> (8 * at)) as u8));
        }
        Some(())
    }

    fn argument(&self, idx: usize, len: usize) -> Option<u64> {
        let value = self.registers[ARGUMENTS[idx]];
        (usize::from(value.known) >= len).then(|| masked(value.bits, len))
    }

    /// It has come to an atomic operation.
    fn end(self, kind: Kind, len: u8) -> Option<End> {
        let stack_pointer = self.registers[RSP].bits as usize;
        let size = usize::from(len);
        let operands = match kind {
            Kind::Load => [0; 2],
            Kind::CompareAt => {
                let expected = self.argument(1, WORD)? as usize;
                [self.load(expected, size)??, self.argument(2, size)?]
            }
            Kind::Compare => [self.argument(1, size)?, self.argument(2, size)?],
            Kind::Update => [self.argument(1, size)?, 0],
            Kind::Subtract => [masked(self.argument(1, size)?.wrapping_neg(), size), 0],
        };
        let kind = if kind == Kind::Subtract { Kind::Update } else { kind };
        Some(End {
            site: self.load(stack_pointer, WORD)?? as usize,
            stack_pointer,
            address: self.argument(0, WORD)? as usize,
            kind,
            operands,
            kept: KEPT.map(|idx| {
                let value = self.registers[idx];
                (value.known == 8).then_some(value.bits)
            }),
            has_accessed: self.has_accessed,
            memory: self.memory,
        })
    }

    /// It calls a function of ours, which returns at once.
    fn call_back(&mut self, callback: Callback) -> Option<()> {
        if let Callback::Plain { write, len } = callback {
            let address = self.argument(0, WORD)? as usize;
            let len = usize::from(len);
            if !self.is_private(address, len) {
                self.has_accessed = true;
                self.told.push(address..address + len);
                let is_valid =
                    heap::is_valid(address, len).or_else(|| globals::is_valid(address, len));
                if is_valid == Some(false) || write && self.is_on_other_stack(address) {
                    return None;
                }
            }
        }
        for idx in CALLER_SAVED {
            self.registers[idx] = Value::default();
        }
        // What only takes time has succeeded.
        self.registers[RAX] = Value { bits: 0, known: 4 };
        self.vectors = [None; 16];
        self.flags = Flags::default();
        self.at = self.pop()?? as usize;
        Some(())
    }

    fn push(&mut self, bits: Option<u64>) -> Option<()> {
        let to = self.registers[RSP].bits.wrapping_sub(8);
        self.registers[RSP].bits = to;
        self.store(to as usize, WORD, bits.map(u128::from))
    }

    fn pop(&mut self) -> Option<Option<u64>> {
        let from = self.registers[RSP].bits;
        let bits = self.load(from as usize, WORD)?;
        self.registers[RSP].bits = from.wrapping_add(8);
        Some(bits)
    }

    /// The address that a memory operand names.
    fn address(&self, instruction: &Instruction) -> Option<usize> {
        let mut address = instruction.memory_displacement64();
        if instruction.is_ip_rel_memory_operand() {
            return Some(instruction.ip_rel_memory_address() as usize);
        }
        for (register, scale) in [
            (instruction.memory_base(), 1),
            (instruction.memory_index(), instruction.memory_index_scale()),
        ] {
            if register == Register::None {
                continue;
            }
            let (idx, size) = general(register)?;
            let value = self.registers[idx];
            if size != 8 || value.known != 8 {
                return None;
            }
            address = address.wrapping_add(value.bits.wrapping_mul(u64::from(scale)));
        }
        match instruction.segment_prefix() {
            Register::None => {}
            Register::FS if address == CANARY => {
                address = address.wrapping_add(self.start.thread_pointer as u64);
            }
            _ => return None,
        }
        Some(address as usize)
    }

    fn size(instruction: &Instruction, operand: u32) -> Option<usize> {
        match instruction.op_kind(operand) {
            OpKind::Register => Some(instruction.op_register(operand).size()),
            OpKind::Memory => Some(instruction.memory_size().size()),
            _ => None,
        }
    }

    /// An operand that is read, of so many bytes.
    fn read(
        &mut self,
        instruction: &Instruction,
        operand: u32,
        size: usize,
    ) -> Option<Option<u64>> {
        match instruction.op_kind(operand) {
            OpKind::Register => {
                let (idx, _) = general(instruction.op_register(operand))?;
                let value = self.registers[idx];
                Some((usize::from(value.known) >= size).then(|| masked(value.bits, size)))
            }
            OpKind::Memory => {
                if size > WORD {
                    return None;
                }
                let address = self.address(instruction)?;
                let is_way = instruction.flow_control() != FlowControl::Next;
                let is_told = is_way || self.is_told(address, size);
                Some(self.load(address, size)?.filter(|_| is_told))
            }
            OpKind::Immediate8
            | OpKind::Immediate16
            | OpKind::Immediate32
            | OpKind::Immediate64
            | OpKind::Immediate8to16
            | OpKind::Immediate8to32
            | OpKind::Immediate8to64
            | OpKind::Immediate32to64 => Some(Some(masked(instruction.immediate(operand), size))),
            _ => None,
        }
    }

    /// Writes the first operand, which is of so many bytes.
    fn write(&mut self, instruction: &Instruction, size: usize, bits: Option<u64>) -> Option<()> {
        match instruction.op0_kind() {
            OpKind::Register => {
                let (idx, _) = general(instruction.op0_register())?;
                self.set(idx, size, bits)
            }
            OpKind::Memory => self.store(self.address(instruction)?, size, bits.map(u128::from)),
            _ => None,
        }
    }

    fn set(&mut self, idx: usize, size: usize, bits: Option<u64>) -> Option<()> {
        if idx == RSP && (size != 8 || bits.is_none()) {
            return None;
        }
        let old = self.registers[idx];
        self.registers[idx] = match (size, bits) {
            (4 | 8, Some(bits)) => Value::known(masked(bits, size)),
            (4 | 8, None) => Value::default(),
            (_, None) => Value::default(),
            (_, Some(bits)) => Value {
                bits: old.bits & !masked(u64::MAX, size) | masked(bits, size),
                known: old.known.max(size as u8),
            },
        };
        Some(())
    }

    fn condition(&self, code: ConditionCode) -> Option<bool> {
        use ConditionCode as C;
        let Flags { carry, zero, sign, overflow, parity } = self.flags;
        Some(match code {
            C::o => overflow?,
            C::no => !overflow?,
            C::b => carry?,
            C::ae => !carry?,
            C::e => zero?,
            C::ne => !zero?,
            C::be => carry? || zero?,
            C::a => !carry? && !zero?,
            C::s => sign?,
            C::ns => !sign?,
            C::p => parity?,
            C::np => !parity?,
            C::l => sign? != overflow?,
            C::ge => sign? == overflow?,
            C::le => zero? || sign? != overflow?,
            C::g => !zero? && sign? == overflow?,
            C::None => return None,
        })
    }

    /// The flags that say what a result is.
    fn set_result_flags(&mut self, result: u64, size: usize) {
        let result = masked(result, size);
        self.flags.zero = Some(result == 0);
        self.flags.sign = Some(extended(result, size) < 0);
        self.flags.parity = Some((result as u8).count_ones().is_multiple_of(2));
    }

    fn subtract(&mut self, a: u64, b: u64, size: usize) -> u64 {
        let (a, b) = (masked(a, size), masked(b, size));
        let result = masked(a.wrapping_sub(b), size);
        let exact = i128::from(extended(a, size)) - i128::from(extended(b, size));
        self.set_result_flags(result, size);
        self.flags.carry = Some(a < b);
        self.flags.overflow = Some(exact != i128::from(extended(result, size)));
        result
    }

    fn add(&mut self, a: u64, b: u64, size: usize) -> u64 {
        let (a, b) = (masked(a, size), masked(b, size));
        let result = masked(a.wrapping_add(b), size);
        let exact = i128::from(extended(a, size)) + i128::from(extended(b, size));
        self.set_result_flags(result, size);
        self.flags.carry = Some(u128::from(a) + u128::from(b) > u128::from(masked(u64::MAX, size)));
        self.flags.overflow = Some(exact != i128::from(extended(result, size)));
        result
    }

    /// Takes one instruction. Nothing if it is not understood.
    fn step(&mut self, instruction: &Instruction) -> Option<()> {
        if instruction.has_lock_prefix() || instruction.has_rep_prefix() && !is_idle(instruction) {
            return None;
        }
        self.at = instruction.next_ip() as usize;
        match instruction.flow_control() {
            FlowControl::Next => self.compute(instruction),
            FlowControl::UnconditionalBranch => {
                self.at = instruction.near_branch_target() as usize;
                Some(())
            }
            FlowControl::ConditionalBranch => {
                let condition = self.condition(instruction.condition_code());
                self.is_undecided = condition.is_none();
                if condition? {
                    self.at = instruction.near_branch_target() as usize;
                }
                Some(())
            }
            FlowControl::Call => {
                self.push(Some(instruction.next_ip()))?;
                self.at = instruction.near_branch_target() as usize;
                Some(())
            }
            FlowControl::IndirectCall => {
                let target = self.read(instruction, 0, WORD)??;
                self.push(Some(instruction.next_ip()))?;
                self.at = target as usize;
                Some(())
            }
            FlowControl::IndirectBranch => {
                self.at = self.read(instruction, 0, WORD)?? as usize;
                Some(())
            }
            FlowControl::Return if instruction.op_count() == 0 => {
                self.at = self.pop()?? as usize;
                Some(())
            }
            _ => None,
        }
    }

    fn compute(&mut self, instruction: &Instruction) -> Option<()> {
        use Mnemonic as M;
        let condition = instruction.condition_code();
        if condition != ConditionCode::None {
            return self.compute_if(instruction, condition);
        }
        match instruction.mnemonic() {
            M::Nop | M::Endbr64 | M::Pause => Some(()),
            M::Mov => {
                let size = Self::size(instruction, 0)?;
                let bits = self.read(instruction, 1, size)?;
                self.write(instruction, size, bits)
            }
            M::Movzx | M::Movsx | M::Movsxd => {
                let (size, from) = (Self::size(instruction, 0)?, Self::size(instruction, 1)?);
                let is_signed = instruction.mnemonic() != M::Movzx;
                let bits = self.read(instruction, 1, from)?;
                let extend = |bits| if is_signed { extended(bits, from) as u64 } else { bits };
                self.write(instruction, size, bits.map(extend))
            }
            M::Cdqe => {
                let value = self.registers[RAX];
                let bits = (value.known >= 4).then(|| extended(value.bits, 4) as u64);
                self.set(RAX, 8, bits)
            }
            M::Lea => {
                let size = Self::size(instruction, 0)?;
                let address = self.address(instruction)? as u64;
                self.write(instruction, size, Some(address))
            }
            M::Push => {
                let bits = self.read(instruction, 0, WORD)?;
                self.push(bits)
            }
            M::Pop => {
                let bits = self.pop()?;
                self.write(instruction, WORD, bits)
            }
            M::Leave => {
                let (frame, _) = general(Register::RBP)?;
                let value = self.registers[frame];
                (value.known == 8).then_some(())?;
                self.registers[RSP] = value;
                let bits = self.pop()?;
                self.set(frame, 8, bits)
            }
            M::Cmp | M::Sub | M::Add | M::And | M::Or | M::Xor | M::Test => {
                self.calculate(instruction)
            }
            M::Inc | M::Dec | M::Neg | M::Not => self.calculate_one(instruction),
            M::Shl | M::Shr | M::Sar => self.shift(instruction),
            M::Imul if instruction.op_count() >= 2 => {
                let size = Self::size(instruction, 0)?;
                let last = instruction.op_count() - 1;
                let (a, b) =
                    (self.read(instruction, last - 1, size)?, self.read(instruction, last, size)?);
                self.flags = Flags::default();
                let product =
                    a.zip(b).map(|(a, b)| extended(a, size).wrapping_mul(extended(b, size)) as u64);
                self.write(instruction, size, product)
            }
            M::Movups | M::Movaps | M::Movdqu | M::Movdqa | M::Movupd | M::Movapd => {
                self.move_vector(instruction)
            }
            M::Xorps | M::Pxor
                if instruction.op_count() == 2
                    && instruction.op0_register() == instruction.op1_register()
                    && instruction.op1_kind() == OpKind::Register =>
            {
                self.vectors[vector(instruction.op0_register())?] = Some(0);
                Some(())
            }
            _ => None,
        }
    }

    /// Something that is done under a condition.
    fn compute_if(&mut self, instruction: &Instruction, condition: ConditionCode) -> Option<()> {
        let holds = self.condition(condition);
        let size = Self::size(instruction, 0)?;
        match instruction.op_count() {
            // A byte is set to whether it holds.
            1 if size == 1 => self.write(instruction, 1, holds.map(u64::from)),
            // Something is moved if it holds; a half is cleared in any case.
            2 if instruction.op0_kind() == OpKind::Register => {
                let from = self.read(instruction, 1, size)?;
                let old = self.read(instruction, 0, size)?;
                self.write(instruction, size, if holds? { from } else { old })
            }
            _ => None,
        }
    }

    fn calculate(&mut self, instruction: &Instruction) -> Option<()> {
        use Mnemonic as M;
        let mnemonic = instruction.mnemonic();
        let size = Self::size(instruction, 0)?;
        let is_same = instruction.op0_kind() == OpKind::Register
            && instruction.op1_kind() == OpKind::Register
            && instruction.op0_register() == instruction.op1_register();
        let (a, b) = match is_same && matches!(mnemonic, M::Xor | M::Sub) {
            true => (Some(0), Some(0)),
            false => (self.read(instruction, 0, size)?, self.read(instruction, 1, size)?),
        };
        let Some((a, b)) = a.zip(b) else {
            self.flags = Flags::default();
            return match mnemonic {
                M::Cmp | M::Test => Some(()),
                _ => self.write(instruction, size, None),
            };
        };
        let result = match mnemonic {
            M::Cmp | M::Sub => self.subtract(a, b, size),
            M::Add => self.add(a, b, size),
            _ => {
                let result = match mnemonic {
                    M::Or => a | b,
                    M::Xor => a ^ b,
                    _ => a & b,
                };
                self.set_result_flags(result, size);
                self.flags.carry = Some(false);
                self.flags.overflow = Some(false);
                result
            }
        };
        match mnemonic {
            M::Cmp | M::Test => Some(()),
            _ => self.write(instruction, size, Some(result)),
        }
    }

    fn calculate_one(&mut self, instruction: &Instruction) -> Option<()> {
        let size = Self::size(instruction, 0)?;
        let Some(a) = self.read(instruction, 0, size)? else {
            self.flags = Flags::default();
            return self.write(instruction, size, None);
        };
        let carry = self.flags.carry;
        let result = match instruction.mnemonic() {
            Mnemonic::Inc => {
                let result = self.add(a, 1, size);
                self.flags.carry = carry;
                result
            }
            Mnemonic::Dec => {
                let result = self.subtract(a, 1, size);
                self.flags.carry = carry;
                result
            }
            Mnemonic::Neg => self.subtract(0, a, size),
            _ => !a,
        };
        self.write(instruction, size, Some(masked(result, size)))
    }

    fn shift(&mut self, instruction: &Instruction) -> Option<()> {
        let size = Self::size(instruction, 0)?;
        let count = self.read(instruction, 1, 1)??;
        let count = count & if size == 8 { 63 } else { 31 };
        let Some(a) = self.read(instruction, 0, size)? else {
            self.flags = Flags::default();
            return self.write(instruction, size, None);
        };
        if count == 0 {
            return (size != 4).then_some(()).or_else(|| self.write(instruction, size, Some(a)));
        }
        let result = match instruction.mnemonic() {
            Mnemonic::Shl => a << count,
            Mnemonic::Shr => masked(a, size) >> count,
            _ => (extended(a, size) >> count) as u64,
        };
        self.set_result_flags(result, size);
        // They are defined in some cases, and hardly ever asked for.
        self.flags.carry = None;
        self.flags.overflow = None;
        self.write(instruction, size, Some(masked(result, size)))
    }

    fn move_vector(&mut self, instruction: &Instruction) -> Option<()> {
        const LEN: usize = 16;
        // Those that move parts of vectors, and the longer ones, are other instructions.
        let is_legacy = !matches!(instruction.code(), Code::INVALID)
            && instruction.op_count() == 2
            && instruction.memory_size().size() <= LEN;
        if !is_legacy {
            return None;
        }
        let value = match instruction.op1_kind() {
            OpKind::Register => self.vectors[vector(instruction.op1_register())?],
            OpKind::Memory => {
                let address = self.address(instruction)?;
                let is_told = self.is_told(address, LEN);
                self.load_wide(address, LEN)?.filter(|_| is_told)
            }
            _ => return None,
        };
        match instruction.op0_kind() {
            OpKind::Register => {
                self.vectors[vector(instruction.op0_register())?] = value;
                Some(())
            }
            OpKind::Memory => self.store(self.address(instruction)?, LEN, value),
            _ => None,
        }
    }
}

/// The number of a vector of 16 bytes.
fn vector(register: Register) -> Option<usize> {
    (register.is_xmm() && register.number() < 16).then(|| register.number())
}

/// Whether a prefix of an instruction means nothing.
fn is_idle(instruction: &Instruction) -> bool {
    matches!(instruction.mnemonic(), Mnemonic::Pause | Mnemonic::Nop | Mnemonic::Endbr64)
        || matches!(instruction.flow_control(), FlowControl::Return)
}
