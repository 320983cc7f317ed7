//! Fuses the user-space load that precedes `FUTEX_WAIT` into the wait.
//!
//! Rust's standard library looks at the word before it asks the kernel to compare it and to sleep,
//! and if it is not what was expected, goes on as if the kernel had said so. Two operations would
//! be two places for another thread's change of the word, with the same outcome. So the look is
//! announced as
//! [`Operation::FutexWait`](mazurka_core::Operation), and the wait that follows it is a part of it.
//!
//! That is right, for the look changes nothing: an execution in which the word is changed between
//! the look and the wait is one in which both come after the change, and if the look finds another
//! value the wait would have found it, too. But it must be known that a look comes to the wait or
//! finds something else. That is read from the machine code, as the compiler writes it for the
//! standard library: a load from where a register points to, a comparison, a jump elsewhere, and
//! straight on the call of `syscall` with just this address and this number, behind which a jump
//! leads to the same place. What looks otherwise stays two operations.

use iced_x86::{ConditionCode, FlowControl, Instruction, Mnemonic, OpKind, Register};
use std::sync::atomic::{AtomicUsize, Ordering};

/// How many instructions there may be between the look and the comparison, and between that and the
/// call.
const MAX_BETWEEN: usize = 16;

/// The word that the running thread has looked at, found as expected, and is about to wait for; 0
/// is none.
static ASKED: AtomicUsize = AtomicUsize::new(0);

/// The running thread has found a word as expected, and waits for it before it does anything else.
pub(crate) fn note(word: usize) {
    ASKED.store(word, Ordering::Relaxed);
}

/// Whether the wait for a word, which the running thread has come to, was announced by its look.
pub(crate) fn is_announced(word: usize) -> bool {
    ASKED.swap(0, Ordering::Relaxed) == word
}

/// Whether a look was announced as a wait that has not come yet.
pub(crate) fn is_pending() -> bool {
    ASKED.load(Ordering::Relaxed) != 0
}

/// What a word is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expected {
    In(Register),
    Number(u32),
}

/// Of a function and one of its loads, what is expected there, if it is a look before a wait.
/// `is_system` is whether an instruction reads the slot through which the loader has the program
/// call `syscall`.
pub(crate) fn expected(
    function: &[Instruction],
    load: usize,
    is_system: impl Fn(&Instruction) -> bool,
) -> Option<Expected> {
    let from = &function[load..];
    let first = from.first()?;
    let has_offset = first.memory_displacement64() != 0 || first.memory_index() != Register::None;
    let word = first.memory_base().full_register();
    if first.memory_size().size() != size_of::<u32>() || has_offset || word == Register::None {
        return None;
    }
    let compare = match first.mnemonic() {
        Mnemonic::Cmp if first.op0_kind() == OpKind::Memory => 0,
        Mnemonic::Mov => {
            let is_compared = |it: &Instruction| {
                it.mnemonic() == Mnemonic::Cmp && it.op0_register() == first.op0_register()
            };
            from.iter().take(MAX_BETWEEN).position(is_compared)?
        }
        _ => return None,
    };
    let expected = operand(&from[compare])?;
    let jump = from.get(compare + 1)?;
    let behind = from.get(compare + 2..)?;
    let call = compare + 2 + behind.iter().take(MAX_BETWEEN).position(is_call)?;
    let keeps = |it: &Instruction, register: Option<Register>| {
        register != Some(it.op0_register().full_register()) || is_test(it)
    };
    let is_straight = from[1..call]
        .iter()
        .filter(|it| it.ip() != jump.ip())
        .all(|it| is_quiet(it) && keeps(it, Some(word)) && keeps(it, expected.register()));
    let found = Some(first.op0_register().full_register());
    let is_compared =
        found != Some(word) && from[..compare].iter().skip(1).all(|it| keeps(it, found));
    let arguments = &from[compare + 2..call];
    let is_wait = last_to(arguments, Register::EDI)
        .and_then(operand)
        .is_some_and(|it| it == Expected::Number(libc::SYS_futex as u32))
        && last_to(arguments, Register::ESI).is_some_and(|it| it.op1_register() == word)
        && last_to(arguments, Register::EDX).and_then(operand).is_some_and(is_wait_operation)
        && last_to(arguments, Register::ECX).and_then(operand) == Some(expected);
    let is_look = jump.condition_code() == ConditionCode::ne && is_compared && is_straight;
    let meets = meets_behind(&from[call + 1..], jump.near_branch_target());
    (is_look && is_wait && meets && calls_system(&function[..load], &from[call], is_system))
        .then_some(expected)
}

impl Expected {
    /// As a number, with what registers hold.
    pub(crate) fn value(self, register: impl FnOnce(Register) -> usize) -> u32 {
        match self {
            Self::In(it) => register(it) as u32,
            Self::Number(number) => number,
        }
    }

    fn register(self) -> Option<Register> {
        match self {
            Self::In(register) => Some(register.full_register()),
            Self::Number(_) => None,
        }
    }
}

/// The second operand.
fn operand(instruction: &Instruction) -> Option<Expected> {
    match instruction.op1_kind() {
        OpKind::Register => Some(Expected::In(instruction.op1_register())),
        OpKind::Immediate8 | OpKind::Immediate8to32 | OpKind::Immediate32 => {
            Some(Expected::Number(instruction.immediate(1) as u32))
        }
        _ => None,
    }
}

fn is_wait_operation(operation: Expected) -> bool {
    let Expected::Number(operation) = operation else { return false };
    let operation = operation as i32 & !(libc::FUTEX_PRIVATE_FLAG | libc::FUTEX_CLOCK_REALTIME);
    matches!(operation, libc::FUTEX_WAIT | libc::FUTEX_WAIT_BITSET)
}

fn is_call(instruction: &Instruction) -> bool {
    matches!(instruction.flow_control(), FlowControl::Call | FlowControl::IndirectCall)
}

/// Whether the way behind a call that gave no error leads to a place.
fn meets_behind(behind: &[Instruction], place: u64) -> bool {
    let [test, jump, ..] = behind else { return false };
    test.mnemonic() == Mnemonic::Test
        && (test.op0_register(), test.op1_register()) == (Register::RAX, Register::RAX)
        && jump.condition_code() == ConditionCode::ns
        && jump.near_branch_target() == place
}

/// Whether an instruction goes on with the next one, changes at most its first operand, and
/// accesses nothing but registers and the stack.
fn is_quiet(instruction: &Instruction) -> bool {
    use Mnemonic as M;
    let is_known = matches!(
        instruction.mnemonic(),
        M::Mov | M::Movzx | M::Lea | M::Xor | M::Cmp | M::Test | M::Cmove | M::Cmovne | M::Nop
    );
    if !is_known {
        return false;
    }
    let has_memory = instruction.op_kinds().any(|kind| kind == OpKind::Memory);
    let is_address = instruction.mnemonic() == Mnemonic::Lea;
    !has_memory || is_address || matches!(instruction.memory_base(), Register::RSP | Register::RBP)
}

fn is_test(instruction: &Instruction) -> bool {
    matches!(instruction.mnemonic(), Mnemonic::Cmp | Mnemonic::Test)
}

/// The last instruction that moves something to a register.
fn last_to(instructions: &[Instruction], register: Register) -> Option<&Instruction> {
    let is_to = |it: &&Instruction| it.op0_register().full_register() == register.full_register();
    let last = instructions.iter().rev().find(is_to)?;
    (last.mnemonic() == Mnemonic::Mov).then_some(last)
}

/// Whether a call is one of `syscall`: through its slot of the loader, or through a register that
/// was filled from there before the look.
fn calls_system(
    before: &[Instruction],
    call: &Instruction,
    is_system: impl Fn(&Instruction) -> bool,
) -> bool {
    match call.op0_kind() {
        OpKind::Register => last_to(before, call.op0_register()).is_some_and(is_system),
        _ => is_system(call),
    }
}
