//! Data-flow analysis of machine code: where the result of an addition goes.
//!
//! Registers are followed along every way on; the place on the stack that a result is kept in is
//! not: whatever reads it, anywhere in its function, reads a result. That is only so if nothing
//! else has its address, so no function may compute one at or below it. Calls forget what they may
//! overwrite, and must not be given the result, be it in a register or at the bottom of the frame;
//! where one may be left by an exception, the ways on begin at the landing pads, too.

use super::{Frame, Origin, Piece, Returned, Use};
use crate::image::{Function, Image};
use iced_x86::{
    ConditionCode, Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory,
    Mnemonic, OpAccess, OpKind, Register, RflagsBits,
};
use mazurka_core::Tests;
use rustc_hash::FxHashSet;
use std::ops::Range;

/// How many instructions are looked at before the result counts as looked at.
const MAX_STEPS: usize = 4000;
const N_REGISTERS: usize = 16;
const RAX: usize = 0;
const RDX: usize = 2;
const RSP: usize = 4;
const RBP: usize = 5;
/// What a call may overwrite: rax, rcx, rdx, rsi, rdi, r8 to r11.
const CALLER_SAVED: [usize; 9] = [0, 1, 2, 6, 7, 8, 9, 10, 11];
/// What a call is given: rdi, rsi, rdx, rcx, r8, r9; or r10, if it is of the system or of a
/// closure.
const ARGUMENTS: [usize; 7] = [7, 6, 2, 1, 8, 9, 10];
const STATUS: u32 = RflagsBits::CF | RflagsBits::ZF | RflagsBits::SF | RflagsBits::OF;
const WORD: i64 = 8;

/// What a register holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
enum Value {
    #[default]
    Other,
    /// The result, with something added to it.
    Result(i64),
    /// Something else in its lowest byte, and above it still a result.
    Covered,
    Constant(i64),
}

impl Value {
    fn is_of_result(self) -> bool {
        matches!(self, Self::Result(_) | Self::Covered)
    }
}

/// The flags are those of the result and `offset`, compared with `constant`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Compared {
    offset: i64,
    constant: i64,
    /// Whether a carry tells which is larger.
    is_difference: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    address: u64,
    values: [Value; N_REGISTERS],
    flags: Option<Compared>,
    /// From the beginning on.
    stack_pointer: i64,
    frame: Frame,
}

impl State {
    fn is_forgotten(&self) -> bool {
        self.flags.is_none() && !self.values.iter().any(|value| value.is_of_result())
    }

    fn value(&self, register: Register) -> Value {
        number(register).map_or(Value::Other, |idx| self.values[idx])
    }

    fn set(&mut self, register: Register, value: Value) {
        if let Some(idx) = number(register) {
            let is_part = register.size() < 4;
            self.values[idx] = match self.values[idx].is_of_result() && is_part {
                true => Value::Covered,
                false => value,
            };
        }
    }
}

/// The number of a general register.
fn number(register: Register) -> Option<usize> {
    let full = register.full_register();
    full.is_gpr64().then(|| full.number())
}

/// What a piece of code does with a result, if that is understood.
pub(super) fn follow(image: &Image, piece: Piece) -> Option<Use> {
    let mut follower = Follower {
        image,
        bits: u32::from(piece.bits),
        initial_frame: piece.frame,
        info: InstructionInfoFactory::new(),
        ways: Vec::new(),
        seen: FxHashSet::default(),
        kept: Vec::new(),
        tests: Tests::NONE,
        returned: None,
    };
    let mut first = State {
        address: image.address(piece.address)?,
        values: [Value::Other; N_REGISTERS],
        flags: None,
        stack_pointer: 0,
        frame: Frame::Initial,
    };
    match piece.origin {
        Origin::Returned(offset) => first.values[RAX] = Value::Result(offset),
        Origin::Covered => first.values[RAX] = Value::Covered,
        Origin::Register(number) => first.values[usize::from(number)] = Value::Result(0),
        Origin::Flags { added, is_difference } => {
            let (offset, constant) = if is_difference { (0, -added) } else { (added, 0) };
            first.flags = Some(Compared { offset, constant, is_difference });
        }
    }
    follower.ways.push(first);
    follower.run()?;
    Some(Use { tests: follower.tests, returned: follower.returned })
}

struct Follower<'a> {
    image: &'a Image,
    /// The size of the counter.
    bits: u32,
    initial_frame: Option<i64>,
    info: InstructionInfoFactory,
    /// Where to go on.
    ways: Vec<State>,
    seen: FxHashSet<State>,
    /// The places on the stack that hold the result, and what was added to it.
    kept: Vec<(i64, i64)>,
    tests: Tests,
    returned: Option<Returned>,
}

impl Follower<'_> {
    /// Nothing if something is done with the result that is not understood. So it is in all that
    /// follows.
    fn run(&mut self) -> Option<()> {
        let mut n_steps = 0;
        while let Some(state) = self.ways.pop() {
            if state.is_forgotten() || !self.seen.insert(state.clone()) {
                continue;
            }
            n_steps += 1;
            if n_steps > MAX_STEPS {
                return None;
            }
            self.step(state)?;
        }
        Some(())
    }

    fn step(&mut self, mut state: State) -> Option<()> {
        let instruction = self.decode(state.address)?;
        state.address = instruction.next_ip();
        self.look_at_flags(&state, &instruction)?;
        match instruction.flow_control() {
            FlowControl::Next => {}
            // Into another function, too: it returns to the caller of this one.
            FlowControl::UnconditionalBranch => {
                self.ways.push(State { address: instruction.near_branch_target(), ..state });
                return Some(());
            }
            FlowControl::ConditionalBranch => {
                self.ways
                    .push(State { address: instruction.near_branch_target(), ..state.clone() });
                self.ways.push(state);
                return Some(());
            }
            FlowControl::Call | FlowControl::IndirectCall => return self.call(state, &instruction),
            FlowControl::Return => return self.leave(&state),
            // It ends here.
            FlowControl::Exception | FlowControl::Interrupt => return Some(()),
            FlowControl::IndirectBranch | FlowControl::XbeginXabortXend => return None,
        }
        match self.moves(&mut state, &instruction)? {
            true => {}
            false => self.others(&mut state, &instruction)?,
        }
        self.ways.push(state);
        Some(())
    }

    fn decode(&self, address: u64) -> Option<Instruction> {
        let code = self.image.code(address)?;
        let instruction = Decoder::with_ip(64, code, address, DecoderOptions::NONE).decode();
        (!instruction.is_invalid()).then_some(instruction)
    }

    /// What an instruction learns from flags that are the result's.
    fn look_at_flags(&mut self, state: &State, instruction: &Instruction) -> Option<()> {
        let Some(compared) = state.flags else { return Some(()) };
        if instruction.rflags_read() & (STATUS | RflagsBits::PF | RflagsBits::AF) == 0 {
            return Some(());
        }
        let Compared { offset, constant, is_difference } = compared;
        let value = constant.checked_sub(offset)?;
        let above = value.saturating_add(1);
        use ConditionCode as C;
        let tests = self.tests;
        self.tests = match instruction.condition_code() {
            C::e | C::ne => tests.and_equal(value)?,
            C::l | C::ge | C::s | C::ns => tests.and_below(value)?,
            C::le | C::g => tests.and_below(above)?,
            // Beyond the largest number is 0.
            C::b | C::ae if is_difference => tests.and_below(value)?.and_below(-offset)?,
            C::be | C::a if is_difference => tests.and_below(above)?.and_below(-offset)?,
            _ => return None,
        };
        Some(())
    }

    fn call(&mut self, mut state: State, instruction: &Instruction) -> Option<()> {
        let is_given = ARGUMENTS.iter().any(|&idx| state.values[idx].is_of_result());
        if is_given || self.reads_result(&state, instruction) {
            return None;
        }
        for idx in CALLER_SAVED {
            state.values[idx] = Value::Other;
        }
        state.flags = None;
        if !state.is_forgotten() {
            let function = self.image.function(instruction.ip())?;
            for address in self.image.landing_pads(function)? {
                self.ways.push(State { address, ..state.clone() });
            }
        }
        self.ways.push(state);
        Some(())
    }

    fn leave(&mut self, state: &State) -> Option<()> {
        // Two registers may be returned, of which only the first is followed, and then as a whole.
        let is_lost = |idx: usize| match state.values[idx] {
            Value::Result(_) => idx != RAX && (idx == RDX || !CALLER_SAVED.contains(&idx)),
            Value::Covered => idx != RAX,
            Value::Other | Value::Constant(_) => false,
        };
        if (0..N_REGISTERS).any(is_lost) {
            return None;
        }
        let origin = match state.values[RAX] {
            Value::Result(offset) => Origin::Returned(offset),
            Value::Covered => Origin::Covered,
            Value::Other | Value::Constant(_) => return Some(()),
        };
        let returned = Returned { at: state.stack_pointer, origin, frame: state.frame };
        match self.returned.replace(returned) {
            Some(before) if before != returned => None,
            _ => Some(()),
        }
    }

    /// Takes what moves a result, compares it or adds to it, and what moves the stack. Whether it
    /// was such an instruction.
    fn moves(&mut self, state: &mut State, instruction: &Instruction) -> Option<bool> {
        use Mnemonic as M;
        let [to, from] = [instruction.op0_register(), instruction.op1_register()];
        let constant = self.constant(state, instruction);
        let size = 8 * to.size() as u32;
        match instruction.mnemonic() {
            M::Push | M::Pop | M::Leave => return self.move_stack(state, instruction),
            M::Add | M::Sub | M::Lea | M::Mov | M::And if number(to) == Some(RSP) => {
                return self.move_stack(state, instruction);
            }
            M::Mov if number(to) == Some(RBP) && from == Register::RSP => {
                state.frame = Frame::At(state.stack_pointer);
                state.values[RBP] = Value::Other;
            }
            M::Mov | M::Movzx | M::Movsx | M::Movsxd
                if matches!(state.value(from), Value::Result(_)) =>
            {
                let is_whole = 8 * from.size() as u32 >= self.bits;
                if !is_whole {
                    return None;
                }
                if instruction.op0_kind() == OpKind::Memory {
                    return self.keep(state, instruction).map(|()| true);
                }
                number(to).filter(|&idx| idx != RBP && size >= 32)?;
                state.set(to, state.value(from));
            }
            M::Mov if number(to).is_some_and(|idx| idx != RBP) && size >= 32 => {
                let Some(constant) = constant else { return Some(false) };
                state.set(to, Value::Constant(constant));
            }
            M::Xor if to == from && size >= 32 && number(to).is_some_and(|idx| idx != RBP) => {
                state.flags = None;
                state.set(to, Value::Constant(0));
            }
            M::Test if to == from && size >= self.bits => {
                let Value::Result(offset) = state.value(to) else { return Some(false) };
                state.flags = Some(Compared { offset, constant: 0, is_difference: true });
            }
            M::Cmp | M::Sub | M::Add | M::Inc | M::Dec if size >= self.bits => {
                let Value::Result(offset) = state.value(to) else { return Some(false) };
                self.calculate(state, instruction, offset, constant)?;
            }
            _ => return Some(false),
        }
        Some(true)
    }

    /// Compares a result with a constant, or adds one to it.
    fn calculate(
        &self,
        state: &mut State,
        instruction: &Instruction,
        offset: i64,
        constant: Option<i64>,
    ) -> Option<()> {
        let (added, is_difference) = match instruction.mnemonic() {
            Mnemonic::Inc => (1, false),
            Mnemonic::Dec => (-1, false),
            Mnemonic::Add => (constant?, false),
            _ => (constant?.checked_neg()?, true),
        };
        let sum = offset.checked_add(added)?;
        // Of a difference, the flags are those of a comparison with what was taken away.
        state.flags = Some(match is_difference {
            true => Compared { offset, constant: -added, is_difference },
            false => Compared { offset: sum, constant: 0, is_difference },
        });
        if instruction.mnemonic() != Mnemonic::Cmp {
            state.set(instruction.op0_register(), Value::Result(sum));
        }
        Some(())
    }

    /// The second operand, if it is constant.
    fn constant(&self, state: &State, instruction: &Instruction) -> Option<i64> {
        if instruction.op_count() != 2 {
            return None;
        }
        match instruction.op1_kind() {
            OpKind::Register => match state.value(instruction.op1_register()) {
                Value::Constant(constant) => Some(constant),
                _ => None,
            },
            OpKind::Immediate8
            | OpKind::Immediate16
            | OpKind::Immediate32
            | OpKind::Immediate64
            | OpKind::Immediate8to16
            | OpKind::Immediate8to32
            | OpKind::Immediate8to64
            | OpKind::Immediate32to64 => {
                let constant = instruction.immediate(1) as i64;
                // What is compared as a number of fewer bits is one.
                Some(match instruction.op0_register().size() {
                    1 => i64::from(constant as i8),
                    2 => i64::from(constant as i16),
                    4 if instruction.mnemonic() != Mnemonic::Mov => i64::from(constant as i32),
                    _ => constant,
                })
            }
            _ => None,
        }
    }

    fn move_stack(&self, state: &mut State, instruction: &Instruction) -> Option<bool> {
        let constant = self.constant(state, instruction);
        if self.reads_result(state, instruction) {
            return None;
        }
        match instruction.mnemonic() {
            Mnemonic::Push => state.stack_pointer -= WORD,
            Mnemonic::Pop => {
                let register = instruction.op0_register();
                if number(register) == Some(RBP) {
                    state.frame = Frame::Stored(state.stack_pointer);
                }
                state.set(register, Value::Other);
                state.stack_pointer += WORD;
            }
            Mnemonic::Leave => {
                let frame = self.frame(state)?;
                state.stack_pointer = frame + WORD;
                state.frame = Frame::Stored(frame);
            }
            Mnemonic::Add => {
                state.stack_pointer += constant?;
                state.flags = None;
            }
            Mnemonic::Sub => {
                state.stack_pointer -= constant?;
                state.flags = None;
            }
            Mnemonic::Lea if instruction.memory_index() == Register::None => {
                let base = match number(instruction.memory_base()) {
                    Some(RSP) => state.stack_pointer,
                    Some(RBP) => self.frame(state)?,
                    _ => return None,
                };
                state.stack_pointer = base + instruction.memory_displacement64() as i64;
            }
            Mnemonic::Mov if instruction.op1_register() == Register::RBP => {
                state.stack_pointer = self.frame(state)?;
            }
            _ => return None,
        }
        Some(true)
    }

    /// How far from the beginning the frame pointer points to.
    fn frame(&self, state: &State) -> Option<i64> {
        match state.frame {
            Frame::Initial => self.initial_frame,
            Frame::At(offset) => Some(offset),
            Frame::Stored(_) | Frame::Unknown => None,
        }
    }

    /// Any other instruction: it must not read a result.
    fn others(&mut self, state: &mut State, instruction: &Instruction) -> Option<()> {
        if self.reads_result(state, instruction) {
            return None;
        }
        for used in self.info.info(instruction).used_registers() {
            if is_write(used.access()) {
                state.set(used.register(), Value::Other);
                match number(used.register()) {
                    Some(RSP) => return None,
                    Some(RBP) => state.frame = Frame::Unknown,
                    _ => {}
                }
            }
        }
        if instruction.rflags_modified() & STATUS == STATUS {
            state.flags = None;
        }
        Some(())
    }

    fn reads_result(&self, state: &State, instruction: &Instruction) -> bool {
        let mut info = InstructionInfoFactory::new();
        let used = info.info(instruction).used_registers();
        used.iter().any(|used| {
            let register = used.register();
            is_read(used.access())
                && match state.value(register) {
                    Value::Result(_) => true,
                    Value::Covered => !is_lowest_byte(register),
                    Value::Other | Value::Constant(_) => false,
                }
        })
    }

    /// A result is stored: if not on the stack, it is looked at.
    fn keep(&mut self, state: &State, instruction: &Instruction) -> Option<()> {
        let Value::Result(offset) = state.value(instruction.op1_register()) else { return None };
        let place = self.place(state, instruction)?;
        let end = place + instruction.memory_size().size() as i64;
        match self.kept.iter().find(|&&(kept, _)| kept == place) {
            Some(&(_, before)) if before == offset => return Some(()),
            Some(_) => return None,
            None => self.kept.push((place, offset)),
        }
        let function = self.image.function(instruction.ip())?;
        let is_inside = |pad: &u64| (function.start..function.end).contains(pad);
        let pads = self.image.landing_pads(function)?;
        let all = self.decode_all(function)?;
        let stays = |it: &Instruction| match it.flow_control() {
            FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch => {
                is_inside(&it.near_branch_target())
            }
            _ => true,
        };
        if !pads.iter().all(is_inside) || !all.iter().all(stays) || !keeps_still(&all) {
            return None;
        }
        if number(instruction.memory_base()) == Some(RSP) && self.is_argument(state, &all, place) {
            return None;
        }
        for other in all {
            self.meet_kept(state, &other, place..end, offset)?;
        }
        Some(())
    }

    /// Whether a place may be what a call is given on the stack: nothing here reads it, and it is
    /// the lowest word of the frame or all words below it are written, too.
    fn is_argument(&mut self, state: &State, all: &[Instruction], place: i64) -> bool {
        let accesses: Vec<(Range<i64>, OpAccess)> =
            all.iter().flat_map(|it| self.accesses_to_stack(state, it)).collect();
        let has = |word: i64, is_access: fn(OpAccess) -> bool| {
            let meets = |at: &Range<i64>| at.start < word + WORD && word < at.end;
            accesses.iter().any(|(at, access)| meets(at) && is_access(*access))
        };
        let mut below = (state.stack_pointer..place).step_by(WORD as usize);
        !has(place, is_read) && below.all(|word| has(word, is_write))
    }

    /// The places on the stack that an instruction reads or writes.
    fn accesses_to_stack(
        &mut self,
        state: &State,
        instruction: &Instruction,
    ) -> Option<(Range<i64>, OpAccess)> {
        let at = self.place(state, instruction)?;
        let memory = self.info.info(instruction).used_memory().first()?;
        Some((at..at + memory.memory_size().size() as i64, memory.access()))
    }

    fn decode_all(&self, function: &Function) -> Option<Vec<Instruction>> {
        let code = self.image.code(function.start)?;
        let decoder = Decoder::with_ip(64, code, function.start, DecoderOptions::NONE);
        let all: Vec<Instruction> = decoder.into_iter().collect();
        let is_known = |it: &Instruction| !it.is_invalid();
        all.iter().all(is_known).then_some(all)
    }

    /// The place on the stack that an instruction is about.
    fn place(&self, state: &State, instruction: &Instruction) -> Option<i64> {
        if instruction.memory_index() != Register::None || instruction.has_segment_prefix() {
            return None;
        }
        let base = match number(instruction.memory_base()) {
            Some(RSP) => state.stack_pointer,
            Some(RBP) => self.frame(state)?,
            _ => return None,
        };
        Some(base + instruction.memory_displacement64() as i64)
    }

    /// An instruction of a function in which a result is kept at `place`.
    fn meet_kept(
        &mut self,
        state: &State,
        instruction: &Instruction,
        place: Range<i64>,
        offset: i64,
    ) -> Option<()> {
        let is_stack = |register: Register| {
            let is_frame = number(register) == Some(RBP) && self.frame(state).is_some();
            number(register) == Some(RSP) || is_frame
        };
        // Who else has an address of the stack could have that of the place.
        let copies_pointer = instruction.op_count() > 1
            && instruction.op1_kind() == OpKind::Register
            && is_stack(instruction.op1_register())
            && !is_stack(instruction.op0_register());
        let has_memory = instruction.op_kinds().any(|kind| kind == OpKind::Memory)
            && is_stack(instruction.memory_base());
        if copies_pointer || has_memory && instruction.memory_index() != Register::None {
            return None;
        }
        if !has_memory {
            return Some(());
        }
        let at = self.place(state, instruction)?;
        if instruction.mnemonic() == Mnemonic::Lea {
            if is_stack(instruction.op0_register()) {
                return Some(());
            }
            return (at >= place.end).then_some(());
        }
        let len = instruction.memory_size().size() as i64;
        if at >= place.end || at + len <= place.start {
            return Some(());
        }
        let accesses = self.info.info(instruction).used_memory().iter();
        let is_read = accesses.clone().any(|memory| is_read(memory.access()));
        if !is_read {
            return Some(());
        }
        self.read_kept(state, instruction, (place == (at..at + len)).then_some(offset)?)
    }

    /// A result is read from the stack.
    fn read_kept(&mut self, state: &State, instruction: &Instruction, offset: i64) -> Option<()> {
        let mut next = State {
            address: instruction.next_ip(),
            values: [Value::Other; N_REGISTERS],
            flags: None,
            ..state.clone()
        };
        let size = 8 * instruction.memory_size().size() as u32;
        match instruction.mnemonic() {
            Mnemonic::Mov if size >= self.bits => {
                number(instruction.op0_register()).filter(|&idx| idx != RBP)?;
                next.set(instruction.op0_register(), Value::Result(offset));
            }
            Mnemonic::Cmp if size >= self.bits && instruction.op0_kind() == OpKind::Memory => {
                let constant = self.constant(&next, instruction)?;
                next.flags = Some(Compared { offset, constant, is_difference: true });
            }
            _ => return None,
        }
        self.ways.push(next);
        Some(())
    }
}

/// Whether the stack pointer of a function stays where it is, from its beginning to its ends.
fn keeps_still(all: &[Instruction]) -> bool {
    let moves = |it: &Instruction| {
        it.is_stack_instruction() && it.flow_control() == FlowControl::Next
            || it.op0_kind() == OpKind::Register
                && it.op0_register() == Register::RSP
                && !matches!(it.mnemonic(), Mnemonic::Cmp | Mnemonic::Test)
    };
    let body = all.iter().position(|it| it.flow_control() != FlowControl::Next);
    let body = body.unwrap_or(all.len());
    let is_end = |idx: usize| {
        let ends = |it: &Instruction| {
            matches!(it.flow_control(), FlowControl::Return | FlowControl::UnconditionalBranch)
        };
        all[idx..].iter().find(|it| !moves(it)).is_some_and(ends)
    };
    (body..all.len()).all(|idx| !moves(&all[idx]) || is_end(idx))
}

fn is_lowest_byte(register: Register) -> bool {
    register.size() == 1
        && !matches!(register, Register::AH | Register::BH | Register::CH | Register::DH)
}

fn is_read(access: OpAccess) -> bool {
    matches!(
        access,
        OpAccess::Read | OpAccess::CondRead | OpAccess::ReadWrite | OpAccess::ReadCondWrite
    )
}

fn is_write(access: OpAccess) -> bool {
    matches!(
        access,
        OpAccess::Write | OpAccess::CondWrite | OpAccess::ReadWrite | OpAccess::ReadCondWrite
    )
}
