//! Re-reading: a thread whose round in vain ends where it would be, had it read later, is held.
//!
//! Let a thread have made, since it last did something that others may see, the reads *a1* to *ak*:
//! loads, and compare-and-swaps that failed. Let *aj*, *j* < *k*, read the same variable as *ak*,
//! and *v* be the value that *ak* read. If the thread, taken back to *aj* and given *v* there,
//! comes to its next operation in the state in which it is now, it is held: what follows also
//! follows in the execution in which *aj* is taken in the place of *ak*, and the reads from there
//! to *ak* are not.
//!
//! That is right since *aj* to *ak* write nothing that others may see: all their steps are possible
//! without them, and see the same. In the place of *ak* the variable holds *v*, so *aj* there leads
//! to this very state, with at least one step fewer. By induction on the number of steps, every
//! state, violation and end is also reached in an execution in which no thread is held like that.
//! So such an execution is never an end that is told (`Ending::Redundant`).
//!
//! It is the rule for all loops that try a compare-and-swap again with what they found: `aj` is the
//! load before the loop, or an earlier attempt. **Plain writes** on the way are allowed, as in
//! `node->next = top`: where races are errors, no other thread can see them before the thread
//! releases something, and a compare-and-swap that fails does not. All that either run wrote has to
//! be the same in the end. ABA is no problem: states are compared and not values.
//!
//! **Memory of its own**, which no other thread can come to, is a part of a thread's state, as its
//! registers are: C keeps what a compare-and-swap expects in a variable whose address is taken.
//! What the thread has written there since *aj* is noted with what was there before. So it is known
//! what *aj* would read there, and what both runs have written is compared byte by byte. All that
//! neither has written is the same.
//!
//! **Memory orders.** If *aj* acquires, so must *ak* have: else the thread would know more in the
//! shorter execution than it does, and a data race could be lost. Under a memory model the rule is
//! off: what *ak* has read need not be what memory holds.
//!
//! Taking back is trying: the frames of the thread are kept where it came to *aj*, and what it does
//! from there is computed aside, without a step ([`Machine::rereads`]). What is not understood
//! there, such as a call, is not equal. Only routines that have a compare-and-swap in a loop keep
//! frames.

use super::code::{Code, Instruction, NOWHERE, Pc};
use super::liveness::ways_on;
use super::machine::{Frame, Machine, control};
use super::spin::What;
use crate::{Type, evaluate};
use Instruction as I;

/// How many reads a thread is taken back at the most.
const MAX_READS: usize = 16;
/// How many instructions are computed aside.
const MAX_LEN: usize = 256;

/// Which reads may be taken again: those of routines with a compare-and-swap in a loop.
pub(super) fn find(code: &Code) -> Vec<bool> {
    let routine = |pc: usize| code.origins[pc].1;
    let mut retries = vec![false; code.routines.len()];
    for pc in 0..code.instructions.len() {
        if matches!(code.instructions[pc], I::CompareExchange { .. }) && is_in_loop(code, pc as Pc)
        {
            retries[routine(pc) as usize] = true;
        }
    }
    let is_read = |instruction: &Instruction| {
        matches!(instruction, I::Load { visible: true, .. } | I::CompareExchange { .. })
    };
    let all = code.instructions.iter().enumerate();
    all.map(|(pc, it)| is_read(it) && retries.get(routine(pc) as usize) == Some(&true)).collect()
}

fn is_in_loop(code: &Code, start: Pc) -> bool {
    let mut seen = vec![false; code.instructions.len()];
    let mut to_visit = Vec::new();
    ways_on(code, start, &mut |next| to_visit.push(next));
    while let Some(pc) = to_visit.pop() {
        if pc == start {
            return true;
        }
        if !std::mem::replace(&mut seen[pc as usize], true) {
            ways_on(code, pc, &mut |next| to_visit.push(next));
        }
    }
    false
}

/// Whether a load, or a compare-and-swap that fails, learns what the write releases that it reads.
fn acquires(instruction: &Instruction) -> bool {
    match instruction {
        I::Load { order, .. } | I::CompareExchange { orders: [_, order], .. } => order.acquires(),
        _ => true,
    }
}

/// A thread that has come to a read.
#[derive(Clone, Debug)]
pub(super) struct Snapshot {
    /// The note that says so.
    pub(super) note: u32,
    pc: Pc,
    address: u32,
    ty: Type,
    stack: Vec<u64>,
}

/// A value that was written, or would be.
#[derive(Clone, Copy, Debug)]
struct Written {
    address: u32,
    size: u32,
    value: u64,
}

impl Written {
    fn overlaps(&self, address: u32, size: u32) -> bool {
        self.address < address + size && address < self.address + self.size
    }

    /// What these leave at some bytes: nothing if they do not concern them, and an error if they
    /// concern a part of them.
    fn find(all: &[Self], address: u32, size: u32) -> Result<Option<u64>, ()> {
        let mut found = None;
        for it in all.iter().filter(|it| it.overlaps(address, size)) {
            match (it.address, it.size) == (address, size) {
                true => found = Some(it.value),
                false => return Err(()),
            }
        }
        Ok(found)
    }
}

impl Machine {
    /// Keeps the frames of a thread that has come to a read and has just been noted.
    pub(super) fn keep_frames(&mut self, code: &Code, thread: usize, pc: Pc) {
        if !code.retries[pc as usize] {
            return;
        }
        let Some((address, ty)) = self.read_at(code, thread, pc) else { return };
        let top = self.control(thread, control::TOP) as usize;
        let stack = self.threads[thread].stack[..top].to_vec();
        let note = self.spins.notes.len() as u32;
        self.spins.snapshots.push(Snapshot { note, pc, address, ty, stack });
    }

    /// What a thread at `pc` is about to read.
    fn read_at(&self, code: &Code, thread: usize, pc: Pc) -> Option<(u32, Type)> {
        let (I::Load { from: at, ty, .. } | I::CompareExchange { on: at, ty, .. }) =
            code.instructions[pc as usize]
        else {
            return None;
        };
        let spot = self.spot(code, self.frame(thread), at, ty.bytes()).ok()?;
        Some((spot.address(), ty))
    }

    /// The note of an earlier read that, taken in the place of the last one, leads to where the
    /// thread is now: at `pc`, in the state `here`.
    pub(super) fn read_before(
        &mut self,
        code: &Code,
        thread: usize,
        pc: Pc,
        here: [u64; 2],
    ) -> Option<u32> {
        let mut number = self.control(thread, control::NOTES) as u32;
        // Since the last read was taken, no other thread has moved: memory is as it was then.
        let n_before_step = self.marks.last().map_or(0, |mark| mark.2) as u32;
        let mut last: Option<(u32, Type, u64)> = None;
        let mut last_acquires = false;
        let mut written: Vec<Written> = Vec::new();
        let mut n_reads = 0;
        while n_reads < MAX_READS {
            let note = self.spins.notes[number.checked_sub(1)? as usize];
            let is_arrival = matches!(note.what, What::Arrived(_));
            if last.is_none() && !is_arrival && number <= n_before_step {
                return None;
            }
            match note.what {
                What::Arrived(_) => {
                    n_reads += 1;
                    let kept = &self.spins.snapshots;
                    let found = kept.binary_search_by_key(&number, |it| it.note);
                    // The last read has to be one whose value is known.
                    if found.is_err() && last.is_none() {
                        return None;
                    }
                    if let Ok(idx) = found {
                        let Snapshot { address, ty, pc: at, .. } = kept[idx];
                        let acquires = acquires(&code.instructions[at as usize]);
                        match last {
                            None if written.iter().any(|it| it.overlaps(address, ty.bytes())) => {
                                return None;
                            }
                            None => {
                                let bits = self.get_bytes(address, ty.bytes());
                                last = Some((address, ty, evaluate::canonical(ty, bits)));
                                last_acquires = acquires;
                            }
                            Some((object, as_what, value))
                                if (object, as_what) == (address, ty)
                                    && (last_acquires || !acquires)
                                    && self
                                        .rereads(code, idx, thread, value, &written, pc, here) =>
                            {
                                return Some(number);
                            }
                            Some(_) => {}
                        }
                    }
                }
                What::Wrote { address, size, before }
                | What::WrotePrivately { address, size, before } => {
                    // The oldest of them has what was there before all.
                    written.retain(|it| (it.address, it.size) != (address, size));
                    written.push(Written { address, size, value: before });
                }
                What::Saw { .. } => {}
                What::Chose | What::Took { .. } | What::Gave { .. } => return None,
            }
            number = note.before;
        }
        None
    }

    /// Whether a thread that reads `value` where it was kept comes to `pc` in the state `here`,
    /// with the same in memory. It has written what is in `written` since then, where that was
    /// before.
    #[expect(clippy::too_many_arguments, reason = "they are two states of a thread")]
    fn rereads(
        &mut self,
        code: &Code,
        snapshot: usize,
        thread: usize,
        value: u64,
        written: &[Written],
        pc: Pc,
        here: [u64; 2],
    ) -> bool {
        let from = self.spins.snapshots[snapshot].pc;
        let mut stack = self.spins.snapshots[snapshot].stack.clone();
        std::mem::swap(&mut self.threads[thread].stack, &mut stack);
        let would_write = self.go_on_aside(code, thread, from, value, written, pc);
        // What differs in memory of its own was written by one of both runs, and is compared below.
        self.threads[thread].stack[control::PRIVATE] = stack[control::PRIVATE];
        let is_same = would_write.is_some() && self.digest(code, thread, pc) == here;
        std::mem::swap(&mut self.threads[thread].stack, &mut stack);
        let Some(would_write) = would_write else { return false };
        let is_there = |it: &Written| self.get_bytes(it.address, it.size) == it.value;
        let is_written_again = |it: &&Written| {
            would_write.iter().any(|other| (other.address, other.size) == (it.address, it.size))
        };
        is_same
            && would_write.iter().all(is_there)
            && written.iter().filter(|it| !is_written_again(it)).all(is_there)
    }

    /// Computes what a thread does between a read of `value` at `from` and its next operation, on
    /// its frames as they are. What it would write on the way to `to`; nothing if it does not come
    /// there or that is not known.
    fn go_on_aside(
        &mut self,
        code: &Code,
        thread: usize,
        from: Pc,
        value: u64,
        written: &[Written],
        to: Pc,
    ) -> Option<Vec<Written>> {
        let frame = self.frame(thread);
        match code.instructions[from as usize] {
            I::Load { to, .. } => self.set_aside(frame, to, value),
            I::CompareExchange { success, old, expected, .. } => {
                if self.value(code, frame, expected) == value {
                    return None;
                }
                self.set_aside(frame, success, 0);
                self.set_aside(frame, old, value);
            }
            _ => return None,
        }
        let mut would_write: Vec<Written> = Vec::new();
        let mut pc = from + 1;
        for _ in 0..MAX_LEN {
            if pc == to {
                return Some(would_write);
            }
            match code.instructions[pc as usize] {
                I::Jump(target) => pc = target,
                I::JumpUnless { condition, otherwise } => {
                    pc = if self.holds(code, frame, condition) { pc + 1 } else { otherwise };
                }
                I::Assign { to, value } => {
                    let value = self.value(code, frame, value);
                    self.set_aside(frame, to, value);
                    pc += 1;
                }
                I::Check { condition, .. } if self.holds(code, frame, condition) => pc += 1,
                I::Load { visible: false, to, from, ty, .. } => {
                    let spot = self.spot(code, frame, from, ty.bytes()).ok()?;
                    let (address, size) = (spot.address(), ty.bytes());
                    // What was written in between is not there yet.
                    let bits = match Written::find(&would_write, address, size).ok()? {
                        Some(bits) => Some(bits),
                        None => Written::find(written, address, size).ok()?,
                    };
                    let value = match bits {
                        Some(bits) => evaluate::canonical(ty, bits),
                        None => self.get(spot, ty),
                    };
                    self.set_aside(frame, to, value);
                    pc += 1;
                }
                I::Store { visible: false, to, value, ty, .. } => {
                    let spot = self.spot_to_write(code, frame, to, ty.bytes()).ok()?;
                    let (address, size) = (spot.address(), ty.bytes());
                    let value = self.value(code, frame, value) & super::machine::mask(size);
                    would_write.retain(|it| (it.address, it.size) != (address, size));
                    would_write.push(Written { address, size, value });
                    pc += 1;
                }
                _ => return None,
            }
        }
        None
    }

    fn set_aside(&mut self, frame: Frame, register: u32, value: u64) {
        if register != NOWHERE {
            self.threads[frame.thread].stack[frame.base + register as usize] = value;
        }
    }
}
