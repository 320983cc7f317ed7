//! Dead values on a stack: bytes of a frame, and registers, that the function writes before it
//! reads them on every way on.
//!
//! What they hold says nothing about the state of a thread: two states that differ in them alone go
//! on alike. Code that is not optimised keeps everything in its frame, also the value that it read
//! in vain the last time and is about to read again.
//!
//! The classical analysis, backwards over the instructions of a function, from where the thread
//! goes on in it; for callers, from where the call returns to. Where the frame is, the tables for
//! unwinding tell, for each instruction. A byte counts as live if
//!
//! - an address at or below it is computed anywhere in the function, since it may be read by
//!   that; but for addresses that are given to the instrumentation and then forgotten, and for
//!   those that are kept in slots of the frame and used for accesses and nothing else (`Spill`),
//! - the function is left by a jump from within its frame, or goes on at an address that is not
//!   known,
//! - an exception may lead to where it is read: every call may throw,
//! - it belongs to what a return needs.
//!
//! Whatever is not understood leaves everything live.

use crate::emulate::{self, Callback, Kind};
use crate::image::{self, Function, Image, Row};
use iced_x86::{
    Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess,
    OpKind, Register,
};
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::rc::Rc;

/// The largest frame, and the longest function, that is looked at.
const MAX_FRAME: usize = 2048;
const MAX_LEN: usize = 4000;
/// How many frames are looked at.
const MAX_DEPTH: usize = 24;
const RSP: usize = 4;
const RBP: usize = 5;
/// rbx, rbp and r12 to r15, which a function keeps for its caller.
const KEPT: u16 = 1 << 3 | 1 << 5 | 0xf << 12;
/// Those, rsp, and what a function returns: rax and rdx.
const RETURNED: u16 = KEPT | 1 << 4 | 1 | 1 << 2;
/// The numbers of general registers that calls leave as they were, as [`Dead::registers`] has them.
const NUMBERS: [usize; 6] = [3, 5, 12, 13, 14, 15];
const WORD: usize = 8;
const RDI: u16 = 7;
const RSI: u16 = 6;
/// rdi, rsi, rdx, rcx, r8 and r9.
const ARGUMENTS: u16 = 1 << 7 | 1 << 6 | 1 << 2 | 1 << 1 | 1 << 8 | 1 << 9;

/// Those, rax, r10 and r11: all that a call may hand over.
const GIVEN: u16 = ARGUMENTS | 1 | 1 << 10 | 1 << 11;

/// What is dead where a thread is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Dead {
    /// Bytes of its stack, ascending.
    pub(crate) bytes: Vec<Range<usize>>,
    /// rbx, rbp, r12 to r15.
    pub(crate) registers: [bool; 6],
}

impl Dead {
    /// Whether a byte of the stack is dead.
    pub(crate) fn contains(&self, address: usize) -> bool {
        let idx = self.bytes.partition_point(|it| it.end <= address);
        self.bytes.get(idx).is_some_and(|it| it.contains(&address))
    }
}

/// What is dead in a frame where its function goes on.
#[derive(Debug)]
struct Frame {
    row: Row,
    /// From the canonical frame address on.
    bytes: Vec<Range<i64>>,
    registers: [bool; 6],
    /// How many bytes of its caller's frame it may read: what it was given there.
    given: i64,
}

/// What was found out so far.
#[derive(Debug, Default)]
pub(crate) struct Frames {
    functions: FxHashMap<u64, Option<Rc<Lives>>>,
    known: FxHashMap<usize, Option<Rc<Frame>>>,
    /// The functions of the instrumentation.
    callbacks: FxHashMap<usize, Callback>,
}

impl Frames {
    /// What is dead for a thread that is in a call which returns to what stands at `stack_pointer`.
    /// `word` tells what stands on its stack.
    pub(crate) fn dead(
        &mut self,
        stack_pointer: usize,
        frame_pointer: usize,
        top: usize,
        word: impl Fn(usize) -> usize,
    ) -> Dead {
        let mut dead = Dead::default();
        let (mut at, mut frame_pointer) = (stack_pointer, frame_pointer);
        // From where on no frame below reads.
        let mut free_from = stack_pointer;
        for depth in 0..MAX_DEPTH {
            let Some(frame) = self.frame(word(at)) else { break };
            let base = if frame.row.is_rbp { frame_pointer } else { at + WORD };
            let end = base.wrapping_add_signed(frame.row.offset as isize);
            if end <= at + WORD || end > top || !end.is_multiple_of(WORD) {
                break;
            }
            let absolute = |offset: i64| end.wrapping_add_signed(offset as isize);
            let bytes = frame.bytes.iter().map(|it| absolute(it.start)..absolute(it.end));
            dead.bytes.extend(
                bytes
                    .map(|it| it.start.max(at + WORD).max(free_from)..it.end)
                    .filter(|it| it.start < it.end),
            );
            free_from = end.saturating_add(frame.given as usize);
            if depth == 0 {
                dead.registers = frame.registers;
            }
            if let Some(saved) = frame.row.saved_rbp {
                let saved = absolute(saved);
                if !(at..top).contains(&saved) {
                    break;
                }
                frame_pointer = word(saved);
            }
            at = end - WORD;
        }
        dead
    }

    fn frame(&mut self, address: usize) -> Option<Rc<Frame>> {
        if let Some(known) = self.known.get(&address) {
            return known.clone();
        }
        let found = self.look_at(address).map(Rc::new);
        self.known.insert(address, found.clone());
        found
    }

    fn look_at(&mut self, loaded: usize) -> Option<Frame> {
        let image = image::of(loaded)?;
        let address = image.address(loaded)?;
        // The call is before it, and may be the last instruction.
        let function = image.function(address - 1)?;
        if self.callbacks.is_empty() {
            self.callbacks = emulate::callbacks();
        }
        let callbacks = &self.callbacks;
        let lives = self
            .functions
            .entry(function.start)
            .or_insert_with(|| Lives::of(image, function, callbacks).map(Rc::new));
        lives.clone()?.frame(address)
    }
}

/// Which bytes and registers are live before each instruction of a function.
#[derive(Debug)]
struct Lives {
    addresses: Vec<u64>,
    rows: Vec<Row>,
    /// How many bytes the frame has.
    len: usize,
    /// Bytes at this offset and above may be read by their address.
    floor: i64,
    /// How many bytes above the frame may be read.
    given: i64,
    live: Vec<Live>,
}

/// A set of registers, and one of bytes: bit `n` for the byte `n` above the bottom of the frame.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Live {
    registers: u16,
    bytes: Vec<u64>,
}

impl Live {
    fn none(len: usize) -> Self {
        Self { registers: 0, bytes: vec![0; len.div_ceil(64)] }
    }

    fn all(len: usize) -> Self {
        Self { registers: u16::MAX, bytes: vec![u64::MAX; len.div_ceil(64)] }
    }

    fn join(&mut self, other: &Self) {
        self.registers |= other.registers;
        for (mine, theirs) in self.bytes.iter_mut().zip(&other.bytes) {
            *mine |= theirs;
        }
    }

    fn set(&mut self, place: Range<usize>, is_live: bool) {
        for idx in place {
            let Some(word) = self.bytes.get_mut(idx / 64) else { return };
            match is_live {
                true => *word |= 1 << (idx % 64),
                false => *word &= !(1 << (idx % 64)),
            }
        }
    }

    fn contains(&self, idx: usize) -> bool {
        self.bytes[idx / 64] >> (idx % 64) & 1 == 1
    }
}

/// What an instruction does to registers and to the frame.
#[derive(Debug, Default)]
struct Effect {
    reads: u16,
    writes: u16,
    /// From the canonical frame address on.
    read: Vec<Range<i64>>,
    written: Vec<Range<i64>>,
    reads_all: bool,
}

impl Lives {
    fn of(
        image: &Image,
        function: &Function,
        callbacks: &FxHashMap<usize, Callback>,
    ) -> Option<Self> {
        let code = image.code(function.start)?;
        let all: Vec<Instruction> =
            Decoder::with_ip(64, code, function.start, DecoderOptions::NONE).into_iter().collect();
        if all.len() > MAX_LEN || all.iter().any(Instruction::is_invalid) {
            return None;
        }
        let table = image.rows(function)?;
        let rows: Vec<Row> = all
            .iter()
            .map(|it| {
                let idx = table.partition_point(|(start, _)| *start <= it.ip()).checked_sub(1)?;
                Some(table[idx].1)
            })
            .collect::<Option<_>>()?;
        let pads = image.landing_pads(function)?;
        let mut info = InstructionInfoFactory::new();
        let (mut floor, mut given) = (i64::MAX, 0);
        let mut effects: Vec<Effect> = Vec::with_capacity(all.len());
        // What calls of the instrumentation read by an address that they are given.
        let mut compared: Vec<(usize, Range<i64>)> = Vec::new();
        for (instruction, row) in all.iter().zip(&rows) {
            effects.push(Effect::of(instruction, row, &mut info)?);
        }
        let mut spills: Vec<Spill> = Vec::new();
        for (idx, (instruction, row)) in all.iter().zip(&rows).enumerate() {
            let taken = address_taken(instruction, row, rows.get(idx + 1))?;
            let read = effects[idx].read.iter().map(|it| it.end).max().unwrap_or(0);
            let taken = match Some(taken).filter(|&taken| taken != i64::MAX) {
                None => taken,
                Some(_) => match given_to(image, &all, idx, callbacks, &pads, &mut info) {
                    None => {
                        let code = (&all[..], &rows[..], &effects[..]);
                        let spill = Spill::of(code, idx, taken, &mut info);
                        let is_known = spill.is_some();
                        spills.extend(spill);
                        if is_known { i64::MAX } else { taken }
                    }
                    Some(calls) => {
                        let place = |len: u8| taken..taken + i64::from(len);
                        compared.extend(calls.into_iter().map(|(call, len)| (call, place(len))));
                        i64::MAX
                    }
                },
            };
            given = given.max(if (0..i64::MAX).contains(&taken) { i64::MAX } else { read });
            floor = floor.min(taken);
        }
        // What may be written by an address that is not known to be kept is not known either.
        while let Some(lost) = spills.iter().position(|it| it.slots.iter().any(|at| at + 8 > floor))
        {
            let taken = spills.swap_remove(lost).taken;
            given = if taken >= 0 { i64::MAX } else { given };
            floor = floor.min(taken);
        }
        compared.extend(spills.into_iter().flat_map(|it| it.reads));
        for (at, place) in compared {
            given = given.max(place.end);
            effects[at].read.push(place);
        }
        let lowest = effects.iter().flat_map(|it| it.read.iter().chain(&it.written));
        let len = lowest.map(|it| -it.start).max().unwrap_or(0).max(0) as usize;
        let len = len.next_multiple_of(WORD);
        if len > MAX_FRAME {
            return None;
        }
        let mut lives = Self {
            addresses: all.iter().map(Instruction::ip).collect(),
            rows,
            len,
            floor,
            given,
            live: vec![Live::none(len); all.len()],
        };
        lives.solve(&all, &effects, &pads);
        Some(lives)
    }

    fn find(&self, address: u64) -> Option<usize> {
        self.addresses.binary_search(&address).ok()
    }

    fn solve(&mut self, all: &[Instruction], effects: &[Effect], pads: &[u64]) {
        let pads: Option<Vec<usize>> = pads.iter().map(|&pad| self.find(pad)).collect();
        loop {
            let mut has_changed = false;
            for idx in (0..all.len()).rev() {
                let mut live = self.after(&all[idx], idx, pads.as_deref());
                let Effect { reads, writes, read, written, reads_all } = &effects[idx];
                // What is only fetched to a register, or to a part of it, that is not read is not
                // read.
                let is_fetch = matches!(all[idx].mnemonic(), Mnemonic::Pop | Mnemonic::Mov)
                    && all[idx].op0_kind() == OpKind::Register
                    && number(all[idx].op0_register())
                        .is_some_and(|to| to != RSP && live.registers >> to & 1 == 0)
                    && !read.is_empty();
                live.registers = live.registers & !writes | reads;
                if *reads_all {
                    live.bytes.fill(u64::MAX);
                }
                for place in written {
                    live.set(self.bits(place), false);
                }
                for place in read.iter().filter(|_| !is_fetch) {
                    live.set(self.bits(place), true);
                }
                has_changed |= live != self.live[idx];
                self.live[idx] = live;
            }
            if !has_changed {
                break;
            }
        }
    }

    /// A place in the frame as bits.
    fn bits(&self, place: &Range<i64>) -> Range<usize> {
        let bit = |offset: i64| (offset + self.len as i64).clamp(0, self.len as i64) as usize;
        bit(place.start)..bit(place.end)
    }

    /// What is live behind an instruction.
    fn after(&self, instruction: &Instruction, idx: usize, pads: Option<&[usize]>) -> Live {
        let next = || self.live.get(idx + 1).cloned().unwrap_or_else(|| Live::all(self.len));
        let target = || match self.find(instruction.near_branch_target()) {
            Some(target) => self.live[target].clone(),
            // Another function in place of this one, whose frame is no more; or a part of this one.
            None if self.rows[idx].is_entry() => {
                Live { registers: u16::MAX, ..Live::none(self.len) }
            }
            None => Live::all(self.len),
        };
        match instruction.flow_control() {
            FlowControl::Next => next(),
            FlowControl::UnconditionalBranch => target(),
            FlowControl::ConditionalBranch => {
                let mut live = target();
                live.join(&next());
                live
            }
            FlowControl::Call | FlowControl::IndirectCall => {
                let Some(pads) = pads else { return Live::all(self.len) };
                // The last one does not return.
                let is_last = idx + 1 == self.live.len();
                let mut live = if is_last { Live::none(self.len) } else { next() };
                for &pad in pads {
                    live.join(&self.live[pad]);
                }
                live
            }
            FlowControl::Return => Live { registers: RETURNED, ..Live::none(self.len) },
            FlowControl::Exception => Live::none(self.len),
            _ => Live::all(self.len),
        }
    }

    /// What is dead where the function goes on at an address.
    fn frame(&self, address: u64) -> Option<Frame> {
        let idx = self.find(address)?;
        let (row, live) = (self.rows[idx], &self.live[idx]);
        // The address to return to, and where it was kept the frame pointer, too.
        let always = if row.is_rbp { -16 } else { -8 };
        let mut bytes: Vec<Range<i64>> = Vec::new();
        for bit in 0..self.len {
            let offset = bit as i64 - self.len as i64;
            if live.contains(bit) || offset >= self.floor || offset >= always {
                continue;
            }
            match bytes.last_mut() {
                Some(last) if last.end == offset => last.end += 1,
                _ => bytes.push(offset..offset + 1),
            }
        }
        let registers = NUMBERS.map(|number| live.registers >> number & 1 == 0);
        Some(Frame { row, bytes, registers, given: self.given })
    }
}

fn number(register: Register) -> Option<usize> {
    let full = register.full_register();
    full.is_gpr64().then(|| full.number())
}

/// Where in the frame a register of an instruction points to, if it is one that does so.
fn base_of(register: Register, row: &Row) -> Option<i64> {
    match number(register)? {
        RSP if !row.is_rbp => Some(-row.offset),
        RBP if row.is_rbp => Some(-row.offset),
        _ => None,
    }
}

/// The lowest offset in the frame that an instruction computes the address of; nothing if that is
/// not known.
fn address_taken(instruction: &Instruction, row: &Row, next: Option<&Row>) -> Option<i64> {
    let is_frame = |register: Register| {
        let number = number(register);
        number == Some(RSP) || number == Some(RBP) && row.is_rbp
    };
    let moves_stack = instruction.op0_kind() == OpKind::Register
        && match number(instruction.op0_register()) {
            Some(RSP) => true,
            // Else it is a pointer like any other.
            Some(RBP) => row.is_rbp || next.is_some_and(|next| next.is_rbp),
            _ => false,
        };
    let has_memory = instruction.op_kinds().any(|kind| kind == OpKind::Memory);
    if has_memory && is_frame(instruction.memory_base()) {
        if instruction.memory_index() != Register::None {
            return None;
        }
        if instruction.mnemonic() == Mnemonic::Lea && !moves_stack {
            let base = base_of(instruction.memory_base(), row)?;
            return Some(base + instruction.memory_displacement64() as i64);
        }
    }
    if has_memory && is_frame(instruction.memory_index()) {
        return None;
    }
    // The address of where the frame begins, as code that is optimised computes it.
    if is_copy(instruction) && !moves_stack && is_frame(instruction.op1_register()) {
        return base_of(instruction.op1_register(), row);
    }
    // Copied, added to something, or kept elsewhere.
    let is_copied = (0..instruction.op_count()).skip(1).any(|idx| {
        instruction.op_kind(idx) == OpKind::Register && is_frame(instruction.op_register(idx))
    });
    if is_copied && !moves_stack {
        return None;
    }
    Some(i64::MAX)
}

/// The calls of the instrumentation that compare with what is at an address which an instruction
/// computes, and how many bytes; nothing if the address is held elsewhere.
fn given_to(
    image: &Image,
    all: &[Instruction],
    idx: usize,
    callbacks: &FxHashMap<usize, Callback>,
    pads: &[u64],
    info: &mut InstructionInfoFactory,
) -> Option<Vec<(usize, u8)>> {
    if all[idx].mnemonic() != Mnemonic::Lea && !is_copy(&all[idx]) {
        return None;
    }
    let register = number(all[idx].op0_register())?;
    if KEPT >> register & 1 == 0 {
        return Some(given_next(image, all, idx, callbacks, info)?.into_iter().collect());
    }
    // It stays in a register that calls leave as it is, until that is written again. A copy of it
    // may be the address.
    let mut calls = Vec::new();
    let mut is_visited = vec![false; all.len()];
    let mut to_visit = vec![idx + 1];
    while let Some(at) = to_visit.pop() {
        if std::mem::replace(is_visited.get_mut(at)?, true) {
            continue;
        }
        let instruction = &all[at];
        let (mut reads, mut writes) = (false, false);
        for used in info.info(instruction).used_registers() {
            let is_it = number(used.register()) == Some(register);
            reads |= is_it && is_read(used.access());
            writes |= is_it && used.access() == OpAccess::Write && used.register().size() >= 4;
        }
        if reads {
            is_copy(instruction).then_some(())?;
            calls.extend(given_next(image, all, at, callbacks, info)?);
        }
        if writes {
            continue;
        }
        let find = |address: u64| all.binary_search_by_key(&address, Instruction::ip).ok();
        match instruction.flow_control() {
            FlowControl::Next => to_visit.push(at + 1),
            FlowControl::UnconditionalBranch => {
                to_visit.push(find(instruction.near_branch_target())?);
            }
            FlowControl::ConditionalBranch => {
                to_visit.extend([at + 1, find(instruction.near_branch_target())?]);
            }
            FlowControl::Call | FlowControl::IndirectCall => {
                // The last one does not return.
                to_visit.extend(Some(at + 1).filter(|&next| next < all.len()));
                for &pad in pads {
                    to_visit.push(find(pad)?);
                }
            }
            FlowControl::Return | FlowControl::Exception => {}
            _ => return None,
        }
    }
    Some(calls)
}

/// Whether an instruction copies a register to another one.
fn is_copy(instruction: &Instruction) -> bool {
    instruction.mnemonic() == Mnemonic::Mov
        && instruction.op0_kind() == OpKind::Register
        && instruction.op1_kind() == OpKind::Register
        && instruction.op0_register().size() == WORD
}

/// The same for an address that an instruction puts into a register which calls may overwrite, and
/// that is given to the next call.
fn given_next(
    image: &Image,
    all: &[Instruction],
    from: usize,
    callbacks: &FxHashMap<usize, Callback>,
    info: &mut InstructionInfoFactory,
) -> Option<Option<(usize, u8)>> {
    const MAX_BETWEEN: usize = 16;
    const CALLER_SAVED: u16 = !(KEPT | 1 << RSP as u16);
    let bit = |register: Register| number(register).map(|number| 1u16 << number);
    let mut having = bit(all[from].op0_register())?;
    for (at, instruction) in all.iter().enumerate().skip(from + 1).take(MAX_BETWEEN) {
        if having & !CALLER_SAVED != 0 {
            return None;
        }
        match instruction.flow_control() {
            FlowControl::Next => {}
            FlowControl::Call | FlowControl::IndirectCall => {
                let (first, second) = (having & 1 << RDI != 0, having & 1 << RSI != 0);
                let others = ARGUMENTS & !(1 << RDI | 1 << RSI);
                return match callbacks.get(&callee(image, instruction)?)? {
                    _ if having & others != 0 => None,
                    Callback::Plain { .. } => Some(None),
                    Callback::Atomic(Kind::CompareAt, len) if !first && second => {
                        Some(Some((at, *len)))
                    }
                    Callback::Atomic(Kind::Load, _) if !first => Some(None),
                    _ => None,
                };
            }
            _ => return None,
        }
        let (mut reads, mut writes) = (0, 0);
        for used in info.info(instruction).used_registers() {
            let bit = bit(used.register()).unwrap_or(0);
            reads |= if is_read(used.access()) { bit } else { 0 };
            let is_whole = used.access() == OpAccess::Write && used.register().size() >= 4;
            writes |= if is_whole { bit } else { 0 };
        }
        match reads & having != 0 {
            true if !is_copy(instruction) => return None,
            true => having |= writes,
            false => having &= !writes,
        }
        if having == 0 {
            return Some(None);
        }
    }
    None
}

/// An address in the frame that is kept in slots of the frame, as code that is not optimised has
/// it, and by which the function does nothing but access what is there.
///
/// Each register that has the address is followed on all ways, until it is written again or a call
/// overwrites it: it is the base of accesses, or copied as a whole to a slot. Such a slot is
/// written with nothing else, and read only into registers, as a whole, which are followed in turn.
/// So all that is read by the address is known: the reads are those of the instructions that have
/// such a register as their base. No slot is where another address may lead that is not followed.
#[derive(Debug, Default)]
struct Spill {
    taken: i64,
    slots: Vec<i64>,
    /// Which instructions read by it, and where.
    reads: Vec<(usize, Range<i64>)>,
}

/// The instructions of a function, where its frame is before each, and what each does.
type Instructions<'a> = (&'a [Instruction], &'a [Row], &'a [Effect]);

impl Spill {
    /// The address that an instruction computes, if it is known where it goes.
    fn of(
        code: Instructions<'_>,
        idx: usize,
        taken: i64,
        info: &mut InstructionInfoFactory,
    ) -> Option<Self> {
        const MAX_FOLLOWED: usize = 64;
        let (all, rows, effects) = code;
        // With a frame pointer, what a call is given on the stack is not mistaken for a slot: it is
        // written by the stack pointer.
        if all[idx].mnemonic() != Mnemonic::Lea
            || all[idx].op0_register().size() != WORD
            || !rows[idx].is_rbp
            || has_more_parts(all, rows)
        {
            return None;
        }
        let mut spill = Self { taken, ..Self::default() };
        let mut stores: Vec<usize> = Vec::new();
        let mut to_follow = vec![idx];
        let mut n_followed = 0;
        while let Some(from) = to_follow.pop() {
            n_followed += 1;
            (n_followed <= MAX_FOLLOWED).then_some(())?;
            let slots = spill.follow(code, from, info)?;
            for (store, slot) in slots {
                stores.push(store);
                if !spill.slots.contains(&slot) {
                    spill.slots.push(slot);
                    let overlaps = |it: &Range<i64>| it.start < slot + 8 && slot < it.end;
                    for (at, effect) in effects.iter().enumerate() {
                        if effect.read.iter().any(overlaps) {
                            let is_load = all[at].mnemonic() == Mnemonic::Mov
                                && all[at].op0_kind() == OpKind::Register
                                && all[at].op0_register().size() == WORD
                                && effect.read.iter().all(|it| *it == (slot..slot + 8));
                            is_load.then(|| to_follow.push(at))?;
                        }
                    }
                }
            }
        }
        let is_own = |at: usize, place: &Range<i64>| {
            stores.contains(&at) && spill.slots.contains(&place.start)
        };
        let overlaps =
            |it: &Range<i64>| spill.slots.iter().any(|slot| it.start < slot + 8 && *slot < it.end);
        let all_known = effects.iter().enumerate().all(|(at, effect)| {
            effect.written.iter().all(|place| !overlaps(place) || is_own(at, place))
        });
        all_known.then_some(spill)
    }

    /// Follows the register that an instruction puts the address into. Which instructions copy it
    /// to which slots.
    fn follow(
        &mut self,
        (all, rows, _): Instructions<'_>,
        from: usize,
        info: &mut InstructionInfoFactory,
    ) -> Option<Vec<(usize, i64)>> {
        let register = number(all[from].op0_register())?;
        if KEPT >> register & 1 == 1 || register == RSP {
            return None;
        }
        let mut slots = Vec::new();
        // Which bytes of the register are of the address, before each instruction.
        let mut tainted = vec![0u8; all.len()];
        let mut to_visit = vec![(from + 1, u8::MAX)];
        while let Some((at, bytes)) = to_visit.pop() {
            let known = tainted.get_mut(at)?;
            if bytes & !*known == 0 {
                continue;
            }
            *known |= bytes;
            let mut bytes = *known;
            let instruction = &all[at];
            match instruction.flow_control() {
                // It says at most how many vectors are given, and is overwritten.
                FlowControl::Call | FlowControl::IndirectCall if register == 0 => {
                    let has_it = instruction.op_kinds().any(|kind| kind != OpKind::NearBranch64);
                    (!has_it || instruction.is_ip_rel_memory_operand()).then_some(())?;
                    continue;
                }
                FlowControl::Return if RETURNED >> register & 1 == 0 => continue,
                FlowControl::Exception => continue,
                FlowControl::Next
                | FlowControl::UnconditionalBranch
                | FlowControl::ConditionalBranch => {}
                _ => return None,
            }
            let has_memory = instruction.op_kinds().any(|kind| kind == OpKind::Memory);
            let is_base = has_memory && number(instruction.memory_base()) == Some(register);
            if has_memory && number(instruction.memory_index()) == Some(register) {
                return None;
            }
            let used = info.info(instruction);
            if is_base {
                let is_plain = bytes == u8::MAX
                    && is_plain_access(instruction.mnemonic())
                    && instruction.memory_index() == Register::None
                    && instruction.memory_base().size() == WORD;
                is_plain.then_some(())?;
                for memory in used.used_memory() {
                    if number(memory.base()) == Some(register) {
                        let start = self.taken + memory.displacement() as i64;
                        let len = memory.memory_size().size() as i64;
                        (len > 0).then_some(())?;
                        if memory.access() != OpAccess::Write {
                            self.reads.push((at, start..start + len));
                        }
                    }
                }
            }
            let mut is_operand = false;
            let is_zeroed = matches!(instruction.mnemonic(), Mnemonic::Xor | Mnemonic::Sub)
                && instruction.op1_kind() == OpKind::Register
                && instruction.op0_kind() == OpKind::Register
                && instruction.op0_register() == instruction.op1_register();
            for operand in 0..instruction.op_count() {
                if instruction.op_kind(operand) != OpKind::Register
                    || number(instruction.op_register(operand)) != Some(register)
                {
                    continue;
                }
                is_operand = true;
                let part = instruction.op_register(operand);
                let is_second =
                    matches!(part, Register::AH | Register::BH | Register::CH | Register::DH);
                let mask = match part.size() {
                    1 if is_second => 2,
                    1 => 1,
                    2 => 3,
                    4 => 0xf,
                    _ => 0xff,
                };
                let access = used.op_access(operand);
                if access != OpAccess::Write && bytes & mask != 0 && !is_zeroed {
                    let row = rows.get(at).filter(|row| row.is_rbp)?;
                    let place = base_of(instruction.memory_base(), row);
                    let is_kept = instruction.mnemonic() == Mnemonic::Mov
                        && instruction.op0_kind() == OpKind::Memory
                        && instruction.memory_index() == Register::None
                        && (bytes, mask) == (0xff, 0xff);
                    let base = place.filter(|_| is_kept)?;
                    slots.push((at, base + instruction.memory_displacement64() as i64));
                }
                if access == OpAccess::Write || is_zeroed {
                    // A part of four bytes makes the others zero.
                    bytes &= if part.size() >= 4 { 0 } else { !mask };
                }
            }
            let is_read_unseen = |it: &iced_x86::UsedRegister| {
                number(it.register()) == Some(register) && is_read(it.access())
            };
            if !is_operand && !is_base && used.used_registers().iter().any(is_read_unseen) {
                return None;
            }
            if bytes == 0 {
                continue;
            }
            let find = |address: u64| all.binary_search_by_key(&address, Instruction::ip).ok();
            match instruction.flow_control() {
                FlowControl::Next => to_visit.push((at + 1, bytes)),
                FlowControl::UnconditionalBranch => {
                    to_visit.push((find(instruction.near_branch_target())?, bytes));
                }
                _ => {
                    let target = find(instruction.near_branch_target())?;
                    to_visit.extend([(at + 1, bytes), (target, bytes)]);
                }
            }
        }
        Some(slots)
    }
}

/// Whether a function goes on elsewhere while it has its frame: there may be more of it.
fn has_more_parts(all: &[Instruction], rows: &[Row]) -> bool {
    all.iter().zip(rows).any(|(instruction, row)| {
        let is_branch = matches!(
            instruction.flow_control(),
            FlowControl::UnconditionalBranch | FlowControl::ConditionalBranch
        );
        let target = instruction.near_branch_target();
        is_branch && !row.is_entry() && all.binary_search_by_key(&target, Instruction::ip).is_err()
    })
}

/// Whether an instruction reads and writes nothing but what its operands say.
fn is_plain_access(mnemonic: Mnemonic) -> bool {
    use Mnemonic as M;
    matches!(
        mnemonic,
        M::Mov
            | M::Movzx
            | M::Movsx
            | M::Movsxd
            | M::Add
            | M::Sub
            | M::And
            | M::Or
            | M::Xor
            | M::Cmp
            | M::Test
            | M::Inc
            | M::Dec
            | M::Movss
            | M::Movsd
            | M::Movd
            | M::Movq
            | M::Movaps
            | M::Movups
            | M::Movdqa
            | M::Movdqu
    )
}

/// The address of what a call calls, by way of the loader's table.
fn callee(image: &Image, call: &Instruction) -> Option<usize> {
    let slot = match call.flow_control() {
        FlowControl::IndirectCall if call.is_ip_rel_memory_operand() => {
            call.ip_rel_memory_address()
        }
        FlowControl::Call => {
            let stub = image.code(call.near_branch_target())?;
            let mut decoder =
                Decoder::with_ip(64, stub, call.near_branch_target(), DecoderOptions::NONE);
            let mut jump = decoder.decode();
            if jump.mnemonic() == Mnemonic::Endbr64 {
                jump = decoder.decode();
            }
            let is_jump = jump.flow_control() == FlowControl::IndirectBranch;
            if !is_jump || !jump.is_ip_rel_memory_operand() {
                return None;
            }
            jump.ip_rel_memory_address()
        }
        _ => return None,
    };
    let slot = image.loaded(slot)?;
    // SAFETY: it is within the program, where the loader has put an address.
    Some(unsafe { *(slot as *const usize) })
}

impl Effect {
    fn of(instruction: &Instruction, row: &Row, info: &mut InstructionInfoFactory) -> Option<Self> {
        let mut effect = Self::default();
        let info = info.info(instruction);
        for used in info.used_registers() {
            let Some(number) = number(used.register()) else { continue };
            let bit = 1u16 << number;
            if is_read(used.access()) {
                effect.reads |= bit;
            }
            // A part of a register leaves the rest of it.
            if used.access() == OpAccess::Write && used.register().size() >= 4 {
                effect.writes |= bit;
            }
        }
        let is_call =
            matches!(instruction.flow_control(), FlowControl::Call | FlowControl::IndirectCall);
        if is_call {
            // Who is called may read whatever it is given.
            effect.reads |= GIVEN;
            effect.writes = !KEPT;
        }
        for memory in info.used_memory() {
            if is_call && number(memory.base()) == Some(RSP) {
                // Where to return to, below the frame.
                continue;
            }
            let Some(base) = base_of(memory.base(), row) else {
                let is_stack = number(memory.base()) == Some(RSP);
                let is_pop = instruction.mnemonic() == Mnemonic::Pop;
                let is_frame_pointer = is_pop && number(instruction.op0_register()) == Some(RBP);
                let is_return = instruction.flow_control() == FlowControl::Return;
                if is_stack && is_read(memory.access()) && !is_frame_pointer && !is_return {
                    effect.reads_all = true;
                }
                continue;
            };
            if memory.index() != Register::None {
                return None;
            }
            let start = base + memory.displacement() as i64;
            let len = memory.memory_size().size() as i64;
            let place = start..start + len;
            if is_read(memory.access()) || len == 0 {
                effect.reads_all |= len == 0;
                effect.read.push(place);
            } else if memory.access() == OpAccess::Write {
                effect.written.push(place);
            }
        }
        Some(effect)
    }
}

fn is_read(access: OpAccess) -> bool {
    matches!(
        access,
        OpAccess::Read | OpAccess::CondRead | OpAccess::ReadWrite | OpAccess::ReadCondWrite
    )
}
