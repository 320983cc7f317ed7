//! Live registers: those that a function may read again before it writes them.
//!
//! A backward analysis over the instructions of one function. What a register holds that is not
//! live says nothing about the state of a thread: after a call of ours it is chance.

use iced_x86::{FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess, Register};

/// A set of registers: bit `n` for general register `n`, then the vectors, then the flags.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Registers(u64);

const FIRST_VECTOR: usize = 16;
const FLAGS: u64 = 1 << 32;
/// Stands for what is below the stack pointer, which only a function without calls uses.
const RED_ZONE: u64 = 1 << 33;
/// rbx, rbp, rsp and r12 to r15, which a function keeps for its caller.
const KEPT: u64 = 1 << 3 | 1 << 4 | 1 << 5 | 0xf << 12;
/// rax, rdx and the first two vectors.
const RETURNED: u64 = 1 | 1 << 2 | 0b11 << FIRST_VECTOR;
/// In what order functions take arguments: rdi, rsi, rdx, rcx, r8, r9.
const ARGUMENTS: [u64; 6] = [1 << 7, 1 << 6, 1 << 2, 1 << 1, 1 << 8, 1 << 9];
/// Those of a call of which nothing is known: all arguments, rax, r10 and eight vectors.
const ANY_ARGUMENTS: u64 =
    1 << 7 | 1 << 6 | 1 << 2 | 1 << 1 | 1 << 8 | 1 << 9 | 1 | 1 << 10 | 0xff << FIRST_VECTOR;
const ALL: u64 = (1 << 33) - 1;

impl Registers {
    /// The general registers among them, by their numbers.
    pub(crate) fn general(self) -> impl Iterator<Item = usize> {
        (0..FIRST_VECTOR).filter(move |number| self.0 >> number & 1 == 1)
    }

    /// The registers of vectors among them, by their numbers.
    pub(crate) fn vectors(self) -> impl Iterator<Item = usize> {
        (0..16).filter(move |number| self.0 >> (FIRST_VECTOR + number) & 1 == 1)
    }

    /// Whether there may be something below the stack pointer.
    pub(crate) fn has_red_zone(self) -> bool {
        self.0 & RED_ZONE != 0
    }

    /// Whether the flags are among them.
    pub(crate) fn has_flags(self) -> bool {
        self.0 & FLAGS != 0
    }
}

/// What an instruction reads and what it writes as a whole.
#[derive(Clone, Copy)]
struct Effect {
    reads: u64,
    writes: u64,
}

/// The registers that are live before each instruction of a function. Of a call, `n_arguments`
/// tells how many arguments it takes, if that is known.
pub(crate) fn before(
    all: &[Instruction],
    info: &mut InstructionInfoFactory,
    mut n_arguments: impl FnMut(&Instruction) -> Option<usize>,
) -> Vec<Registers> {
    let effects: Vec<Effect> = all
        .iter()
        .map(|instruction| match instruction.flow_control() {
            _ if is_call(instruction) => {
                let arguments = n_arguments(instruction).map_or(ANY_ARGUMENTS, |count| {
                    ARGUMENTS[..count].iter().fold(0, |all, one| all | one)
                });
                let own = effect(instruction, info).reads;
                Effect { reads: arguments | own, writes: ALL & !KEPT }
            }
            FlowControl::Return => Effect { reads: RETURNED | KEPT, writes: ALL },
            _ => effect(instruction, info),
        })
        .collect();
    let find = |target: u64| all.binary_search_by_key(&target, Instruction::ip).ok();
    let mut live = vec![0u64; all.len() + 1];
    loop {
        let mut has_changed = false;
        for (idx, instruction) in all.iter().enumerate().rev() {
            let next = live[idx + 1];
            // What leaves the function calls another one in its place.
            let target = || {
                find(instruction.near_branch_target())
                    .map_or(ANY_ARGUMENTS | KEPT, |target| live[target])
            };
            let after = match instruction.flow_control() {
                FlowControl::ConditionalBranch => next | target(),
                FlowControl::UnconditionalBranch => target(),
                FlowControl::Return | FlowControl::Exception => 0,
                FlowControl::IndirectBranch => ALL,
                _ => next,
            };
            let Effect { reads, writes } = effects[idx];
            let before = reads | after & !writes;
            has_changed |= before != live[idx];
            live[idx] = before;
        }
        if !has_changed {
            break;
        }
    }
    live.truncate(all.len());
    let red_zone = if all.iter().any(is_call) { 0 } else { RED_ZONE };
    live.into_iter().map(|live| Registers(live | red_zone)).collect()
}

/// Whether an instruction calls a function. A system call is none.
fn is_call(instruction: &Instruction) -> bool {
    let is_system = matches!(instruction.mnemonic(), Mnemonic::Syscall | Mnemonic::Sysenter);
    let is_call =
        matches!(instruction.flow_control(), FlowControl::Call | FlowControl::IndirectCall);
    is_call && !is_system
}

fn effect(instruction: &Instruction, info: &mut InstructionInfoFactory) -> Effect {
    let mut effect = Effect { reads: 0, writes: 0 };
    for used in info.info(instruction).used_registers() {
        let register = used.register();
        let bit = match bit(register) {
            Some(bit) => bit,
            None => continue,
        };
        let (reads, writes) = match used.access() {
            OpAccess::Read | OpAccess::CondRead => (true, false),
            OpAccess::Write => (false, true),
            OpAccess::ReadWrite | OpAccess::ReadCondWrite => (true, true),
            _ => (false, false),
        };
        if reads {
            effect.reads |= bit;
        }
        // A part of a register leaves the rest of it.
        if writes && register.size() >= 4 {
            effect.writes |= bit;
        }
    }
    if instruction.rflags_read() != 0 {
        effect.reads |= FLAGS;
    }
    if instruction.rflags_modified() != 0 {
        effect.writes |= FLAGS;
    }
    effect
}

fn bit(register: Register) -> Option<u64> {
    if register.is_gpr() {
        Some(1 << register.full_register().number())
    } else if register.is_vector_register() {
        let number = register.number();
        (number < 16).then(|| 1 << (FIRST_VECTOR + number))
    } else {
        None
    }
}
