//! Liveness: a register that is written before it is read, on every way on, is dead.
//!
//! The classical analysis, backwards over the instructions of each routine: a register is live
//! before an instruction that reads it, and before one that leads to where it is live and does not
//! write it. What is read only in order to compute a dead register is not live either (faint
//! variables: Giegerich, Möncke and Wilhelm 1981). Two states of a thread that differ in dead
//! registers alone go on alike, so a loop that has come back to one of them has come round: the
//! value that it read in vain the last time, and is about to read again, is not a part of its
//! state.
//!
//! Every read is told, of each instruction. What is not told is a write at the most, and then a
//! register is taken to live longer than it does.

use super::code::{
    Address, AddressBase, Arguments, Code, Instruction, NOWHERE, Op, Operand, Pc, QueueField,
    Source, Target,
};
use Instruction as I;

/// So many registers of a routine are looked at; the others are always live.
const N_REGISTERS: u32 = 128;

/// The registers that are live, each a bit, before each instruction.
#[derive(Debug, Default)]
pub(super) struct Lives(Vec<u128>);

impl Lives {
    pub(super) fn of(code: &Code) -> Self {
        let uses: Vec<Uses> = (0..code.instructions.len()).map(|pc| Uses::at(code, pc)).collect();
        let mut live = vec![0u128; code.instructions.len()];
        let mut goes_on = true;
        while goes_on {
            goes_on = false;
            for pc in (0..live.len()).rev() {
                let mut behind = 0;
                ways_on(code, pc as Pc, &mut |next| behind |= live[next as usize]);
                let before = match uses[pc].decides || uses[pc].written & behind != 0 {
                    true => uses[pc].read | behind & !uses[pc].written,
                    false => behind,
                };
                goes_on |= live[pc] != before;
                live[pc] = before;
            }
        }
        Self(live)
    }

    /// Whether a register decides something before an instruction.
    #[inline]
    pub(super) fn contains(&self, pc: Pc, register: u32) -> bool {
        register >= N_REGISTERS || self.0[pc as usize] >> register & 1 == 1
    }
}

/// Where a frame may go on from an instruction.
pub(super) fn ways_on(code: &Code, pc: Pc, visit: &mut impl FnMut(Pc)) {
    match code.instructions[pc as usize] {
        I::Unborn
        | I::Halt
        | I::Stuck
        | I::NoWay
        | I::Return { .. }
        | I::ExitProcess { .. }
        | I::ExitProgram => {}
        I::Jump(target) => visit(target),
        I::JumpUnless { otherwise, .. } => {
            visit(pc + 1);
            visit(otherwise);
        }
        I::ChooseEdge { edges, otherwise } => {
            range(edges).for_each(|idx| visit(code.edges[idx].1));
            visit(otherwise);
        }
        _ => visit(pc + 1),
    }
}

fn range(arguments: Arguments) -> std::ops::Range<usize> {
    arguments.start as usize..(arguments.start + arguments.len) as usize
}

/// What an instruction does to registers.
#[derive(Clone, Copy, Default)]
struct Uses {
    read: u128,
    written: u128,
    /// Whether it does more than to compute what it writes.
    decides: bool,
}

impl Uses {
    fn at(code: &Code, pc: usize) -> Self {
        let decides = !matches!(code.instructions[pc], I::Assign { to, .. } if to < N_REGISTERS);
        let mut uses = Self { decides, ..Self::default() };
        uses.look_at(code, &code.instructions[pc]);
        uses
    }

    fn look_at(&mut self, code: &Code, instruction: &Instruction) {
        match *instruction {
            I::Unborn
            | I::Halt
            | I::Stuck
            | I::Yield
            | I::AtomicBegin
            | I::AtomicEnd
            | I::Fence(_)
            | I::Jump(_)
            | I::NoWay
            | I::ExitProgram
            | I::Excuse { .. } => {}
            I::Load { to, from, .. } => {
                self.address(code, from);
                self.write(to);
            }
            I::Store { to, value, .. } => {
                self.address(code, to);
                self.read(code, value);
            }
            I::Modify { old, on, value, .. } => {
                self.address(code, on);
                self.read(code, value);
                self.write(old);
            }
            I::CompareExchange { success, old, on, expected, new, .. } => {
                self.address(code, on);
                self.read(code, expected);
                self.read(code, new);
                self.write(success);
                self.write(old);
            }
            I::Await { to, from, until, .. } => {
                self.address(code, from);
                self.read(code, until);
                self.write(to);
            }
            I::Lock { mutex: at, to }
            | I::TryLock { mutex: at, to }
            | I::Unlock { mutex: at, to } => {
                self.address(code, at);
                self.write(to);
            }
            I::TryReadLock(at, to)
            | I::TryWriteLock(at, to)
            | I::SemaphoreTryAcquire(at, to)
            | I::SemaphoreValue(at, to) => {
                self.address(code, at);
                self.write(to);
            }
            I::ReadLock(at)
            | I::WriteLock(at)
            | I::ReadWriteUnlock(at)
            | I::NotifyOne(at)
            | I::NotifyAll(at)
            | I::SemaphoreAcquire(at)
            | I::SemaphoreRelease(at)
            | I::Arrive(at, _)
            | I::Leave(at)
            | I::Reset(_, at)
            | I::Destroy(_, at) => self.address(code, at),
            I::Wait { condvar, mutex } | I::Reacquire { condvar, mutex } => {
                self.address(code, condvar);
                self.address(code, mutex);
            }
            I::Send(queue) | I::TrySend(queue, _) | I::Receive(queue) | I::TryReceive(queue, _) => {
                let queue = &code.queues[queue as usize];
                self.address(code, queue.at);
                for (field, _) in &queue.fields {
                    if let QueueField::Send(value) = *field {
                        self.read(code, value);
                    }
                }
            }
            I::Spawn { target, arguments, to } | I::Call { target, arguments, to } => {
                if let Target::Pointer(pointer) = target {
                    self.read(code, pointer);
                }
                range(arguments).for_each(|idx| self.read(code, code.arguments[idx]));
                self.write(to);
            }
            I::Join { process, to } => {
                self.read(code, process);
                self.write(to);
            }
            I::Choose { to, .. } => self.write(to),
            I::ChooseEdge { edges, .. } => {
                range(edges).for_each(|idx| self.read(code, code.edges[idx].0));
            }
            I::Assign { to, value } => {
                self.read(code, value);
                self.write(to);
            }
            I::JumpUnless { condition, .. }
            | I::Check { condition, .. }
            | I::Assume { condition } => self.read(code, condition),
            I::Copy { to, from, size, .. } => {
                self.address(code, to);
                self.address(code, from);
                self.read(code, size);
            }
            I::Fill { to, byte, size, .. } => {
                self.address(code, to);
                self.read(code, byte);
                self.read(code, size);
            }
            I::Allocate { to, size, .. } => {
                self.read(code, size);
                self.write(to);
            }
            I::Free { pointer } => self.read(code, pointer),
            I::SizeOf { to, pointer } => {
                self.read(code, pointer);
                self.write(to);
            }
            I::Return { value } | I::ExitProcess { value } => {
                value.into_iter().for_each(|value| self.read(code, value));
            }
            I::Detach { process } => self.read(code, process),
            I::MutexInit { mutex: at, kind: value }
            | I::SemaphoreInit { semaphore: at, permits: value }
            | I::BarrierInit { barrier: at, parties: value } => {
                self.address(code, at);
                self.read(code, value);
            }
        }
    }

    fn write(&mut self, register: u32) {
        if register != NOWHERE && register < N_REGISTERS {
            self.written |= 1 << register;
        }
    }

    fn address(&mut self, code: &Code, address: Address) {
        if let AddressBase::Pointer(pointer) = address.base {
            self.read(code, pointer);
        }
        self.read(code, address.offset);
    }

    fn read(&mut self, code: &Code, operand: Operand) {
        match operand.source() {
            Source::Register(register) if register < N_REGISTERS => self.read |= 1 << register,
            Source::Register(_) | Source::Constant(_) | Source::Seen => {}
            Source::Node(number) => {
                let node = &code.nodes[number as usize];
                self.read(code, node.left);
                self.read(code, node.right);
                if let Op::If = node.op {
                    let parts = &code.nodes[number as usize + 1];
                    self.read(code, parts.left);
                    self.read(code, parts.right);
                }
            }
        }
    }
}
