//! Runs the invisible instructions between two operations of a thread.

use super::code::{
    Address, AddressBase, Arguments, Code, HALT, Instruction, Kind, ObjectInfo, Operand, Origin,
    Pc, STUCK, UNBORN,
};
use super::machine::{Frame, Machine, Spot, control, memory};
use super::next::Pending;
use super::spin::Round;
use super::step::assertion;
use crate::{Pointer, Sync, evaluate};
use Instruction as I;
use mazurka_core::{Detail, Fence, Next, Operation, Violation, ViolationKind};

/// How many invisible instructions a step may take before the thread counts as stuck in a loop.
const MAX_INVISIBLE: u32 = 10_000_000;

/// What every frame has before its registers: where to go on afterwards, the caller's registers and
/// first object, where the result goes, and how many objects the frame has.
pub(super) const SAVED: usize = 5;

/// Which of them says the register of the caller that gets the result.
pub(super) const RESULT: usize = 3;

/// A call that has not returned.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call {
    pub(super) thread: usize,
    /// Where its routine goes on.
    pub(super) pc: Pc,
    /// Where its registers begin.
    pub(super) base: usize,
    /// The number of the first object that it has made.
    pub(super) first_object: usize,
    pub(super) is_innermost: bool,
}

impl Call {
    /// The instruction that it is at: the next one, or the call that has not returned.
    pub(super) fn at(&self) -> Pc {
        if self.is_innermost { self.pc } else { self.pc - 1 }
    }
}

impl Machine {
    /// Runs the invisible instructions from `pc` on, and leaves the thread behind them.
    pub(super) fn run(&mut self, code: &Code, thread: usize, mut pc: Pc) -> Result<(), Violation> {
        let mut frame = self.frame(thread);
        let mut round = None;
        for n_done in 0..MAX_INVISIBLE {
            self.here = (thread, pc);
            if let Some(reached) = &self.reached {
                reached.note(pc);
            }
            if n_done >= Round::FIRST_LOOK
                && self.goes_round(
                    code,
                    thread,
                    pc,
                    n_done,
                    round.get_or_insert_with(Round::new),
                )?
            {
                return Ok(());
            }
            match code.instructions[pc as usize] {
                I::Assign { to, value } => {
                    let value = self.value(code, frame, value);
                    self.set(frame, to, value);
                    pc += 1;
                }
                I::Jump(target) => pc = target,
                I::JumpUnless { condition, otherwise } => {
                    pc = if self.holds(code, frame, condition) { pc + 1 } else { otherwise };
                }
                I::Load { visible: false, watched, to, from, ty, .. } => {
                    let spot = self.spot(code, frame, from, ty.bytes())?;
                    if watched {
                        self.watch(code, spot, ty.bytes(), false);
                        self.see(code, thread, spot, ty.bytes());
                        self.watch_value(code, spot, ty, None);
                    }
                    let value = self.get(spot, ty);
                    self.set(frame, to, value);
                    pc += 1;
                }
                I::Store { visible: false, watched, to, value, ty, .. } => {
                    let spot = self.spot_to_write(code, frame, to, ty.bytes())?;
                    let value = self.value(code, frame, value);
                    match watched {
                        true => {
                            self.watch(code, spot, ty.bytes(), true);
                            self.see(code, thread, spot, ty.bytes());
                            self.watch_value(code, spot, ty, Some(value));
                            self.set_plain(thread, spot.address(), ty.bytes(), value);
                        }
                        false => self.set_private(thread, spot, ty.bytes(), value),
                    }
                    pc += 1;
                }
                I::Check { condition, kind, text } => {
                    if !self.holds(code, frame, condition) {
                        let message = code.texts[text as usize].clone();
                        let detail = Detail::asserted(&message);
                        return Err(Violation { detail, ..Violation::new(kind, message) });
                    }
                    pc += 1;
                }
                I::Call { target, arguments, to } => {
                    let routine = self.target(code, frame, target)?;
                    self.call(code, frame, routine, arguments, pc + 1, to)?;
                    frame = self.frame(thread);
                    pc = code.routines[routine].begin + 1;
                }
                I::Return { value } => {
                    let value = value.map_or(0, |value| self.value(code, frame, value));
                    pc = self.pop_frame(code, thread, value);
                    if pc == HALT {
                        self.end(thread, value);
                        return Ok(());
                    }
                    frame = self.frame(thread);
                }
                I::ExitProcess { value } => {
                    let value = value.map_or(0, |value| self.value(code, frame, value));
                    while self.pop_frame(code, thread, value) != HALT {}
                    self.end(thread, value);
                    return Ok(());
                }
                I::Fence(order) => {
                    let n_accesses = self.accesses.len();
                    self.fences.push(Fence { order, n_accesses, n_parts: 0 });
                    pc += 1;
                }
                I::Excuse { begins } => {
                    self.excuse_wait(begins);
                    pc += 1;
                }
                I::ExitProgram => {
                    self.leave_block(thread);
                    self.exit_program();
                    self.stop(thread);
                    return Ok(());
                }
                I::Assume { condition } => {
                    let holds = self.holds(code, frame, condition);
                    self.survivors.note(pc, holds);
                    if !holds {
                        self.leave_block(thread);
                        self.excuse_waiting();
                        self.stop(thread);
                        return Ok(());
                    }
                    pc += 1;
                }
                _ => match self.arrive(code, thread, pc)? {
                    Arrival::At(pending) => {
                        self.set_stack(thread, control::PC, u64::from(pc));
                        self.spins.has_changed |= round.is_some_and(|it| it.had_changed);
                        let is_held = self.comes_round(code, thread, pc);
                        self.set_pending(thread, if is_held { Pending::FINISHED } else { pending });
                        return Ok(());
                    }
                    Arrival::Past(next) => pc = next,
                },
            }
        }
        Err(Violation::new(
            ViolationKind::Livelock,
            format!("{MAX_INVISIBLE} instructions in which no other thread can come between"),
        ))
    }

    /// Comes to an instruction that may be visible; carries it out if it is not, or if the thread
    /// is in an atomic block.
    fn arrive(&mut self, code: &Code, thread: usize, pc: Pc) -> Result<Arrival, Violation> {
        let is_atomic = self.control(thread, control::ATOMIC) > 0;
        if let I::Spawn { target, .. } = code.instructions[pc as usize] {
            let child = self.name_child(thread)?;
            // What is no routine is told when the step is taken.
            let routine = self.target(code, self.frame(thread), target).ok();
            self.threads[child].routine = routine.map(|routine| routine as u32);
        }
        match self.pending_at(code, thread, pc)? {
            None => {
                // An end of a block, a lock that is held already, a copy: they are no part of a
                // round.
                self.spins.has_changed = true;
                self.spins.has_acted = true;
                Ok(Arrival::Past(self.pass(code, thread, pc)?))
            }
            Some(pending) => {
                self.watch_lives(code, thread, pc)?;
                match is_atomic {
                    false => Ok(Arrival::At(pending)),
                    true => self.pass_atomically(code, thread, pc, pending),
                }
            }
        }
    }

    /// Notes that the thread is about to use what the instruction is about.
    fn watch_lives(&mut self, code: &Code, thread: usize, pc: Pc) -> Result<(), Violation> {
        let (address, size, is_sync) = match code.instructions[pc as usize] {
            // These are noted when they are carried out, as what they are.
            I::Load { .. }
            | I::Store { .. }
            | I::Modify { .. }
            | I::CompareExchange { .. }
            | I::Await { .. }
                if code.is_mixed =>
            {
                return Ok(());
            }
            I::Load { from: at, ty, .. }
            | I::Store { to: at, ty, .. }
            | I::Modify { on: at, ty, .. }
            | I::CompareExchange { on: at, ty, .. }
            | I::Await { from: at, ty, .. } => (at, ty.bytes(), false),
            I::Lock { mutex: at, .. } | I::TryLock { mutex: at, .. } => {
                (at, Sync::Mutex.bytes(), true)
            }
            I::Unlock { mutex: at, .. } | I::Reacquire { mutex: at, .. } => {
                (at, Sync::Mutex.bytes(), true)
            }
            I::ReadLock(at) | I::WriteLock(at) | I::ReadWriteUnlock(at) => {
                (at, Sync::RwLock.bytes(), true)
            }
            I::TryReadLock(at, _) | I::TryWriteLock(at, _) => (at, Sync::RwLock.bytes(), true),
            I::NotifyOne(at) | I::NotifyAll(at) => (at, Sync::Condvar.bytes(), true),
            I::SemaphoreAcquire(at) | I::SemaphoreRelease(at) => {
                (at, Sync::Semaphore.bytes(), true)
            }
            I::SemaphoreTryAcquire(at, _) | I::SemaphoreValue(at, _) => {
                (at, Sync::Semaphore.bytes(), true)
            }
            I::Arrive(at, _) => (at, Sync::Barrier.bytes(), true),
            // Who belongs to a complete round does not mind if the barrier is destroyed.
            I::Leave(at) => (at, Sync::Barrier.bytes(), false),
            I::Wait { condvar, mutex } => {
                let spot = self.spot(code, self.frame(thread), condvar, Sync::Condvar.bytes())?;
                self.watch_life(code, spot, true);
                (mutex, Sync::Mutex.bytes(), true)
            }
            _ => return Ok(()),
        };
        // A static object that is not initialised or destroyed is always there.
        if !code.has_lifecycle && matches!(address.base, AddressBase::Static(_)) {
            return Ok(());
        }
        let spot = self.spot(code, self.frame(thread), address, size)?;
        self.watch_life(code, spot, is_sync);
        Ok(())
    }

    /// Carries out an operation within an atomic block: an access, or nothing.
    fn pass_atomically(
        &mut self,
        code: &Code,
        thread: usize,
        pc: Pc,
        pending: Pending,
    ) -> Result<Arrival, Violation> {
        let instruction = code.instructions[pc as usize];
        if let I::AtomicBegin = instruction {
            let depth = self.control(thread, control::ATOMIC);
            self.set_stack(thread, control::ATOMIC, depth + 1);
            return Ok(Arrival::Past(pc + 1));
        }
        let is_access = matches!(
            pending.next,
            Next::Enabled {
                operation: Operation::Load(_)
                    | Operation::Store(_)
                    | Operation::ReadModifyWrite(_)
                    | Operation::Yield,
                ..
            }
        );
        if !is_access {
            let name = pending.next.operation().map_or("nothing", Operation::name);
            return Err(Violation::new(
                ViolationKind::Unsupported,
                format!("`{name}` cannot be run within an atomic block"),
            ));
        }
        if self.block.is_some() {
            let about = self.about_at(code, thread, pc);
            self.block.iter_mut().for_each(|block| block.extend(about));
        }
        let (_, next) = self.operate(code, thread, pc, 0)?;
        Ok(Arrival::Past(next))
    }

    /// Carries out an instruction that is invisible, at least for now; says where to go on.
    fn pass(&mut self, code: &Code, thread: usize, pc: Pc) -> Result<Pc, Violation> {
        let frame = self.frame(thread);
        match code.instructions[pc as usize] {
            I::AtomicEnd => {
                let depth = self.control(thread, control::ATOMIC);
                if depth == 0 {
                    return Err(assertion("an atomic block ends that never began".to_owned()));
                }
                self.set_stack(thread, control::ATOMIC, depth - 1);
            }
            I::Lock { mutex, to } => {
                // The owner of one that may be taken again, or that tells.
                let address = self.spot(code, frame, mutex, Sync::Mutex.bytes())?.address();
                match self.get_bytes(address + 1, 1) {
                    1 => self.take_again(frame, address, to, 0),
                    _ => self.set(frame, to, 1),
                }
            }
            I::TryLock { mutex, to } => {
                let address = self.spot(code, frame, mutex, Sync::Mutex.bytes())?.address();
                self.take_again(frame, address, to, 1);
            }
            I::Unlock { mutex, to } => {
                let spot = self.spot(code, frame, mutex, Sync::Mutex.bytes())?;
                let address = spot.address();
                if self.get_bytes(address, 1) == thread as u64 + 1 {
                    let count = self.get_bytes(address + 2, 2);
                    self.set_bytes(address + 2, 2, count - 1);
                    self.set(frame, to, 0);
                } else if self.get_bytes(address + 1, 1) == 2 {
                    self.set(frame, to, 1);
                } else {
                    return Err(self.not_held(code, spot, thread, "released"));
                }
            }
            I::ReadWriteUnlock(lock) => {
                let spot = self.spot(code, frame, lock, Sync::RwLock.bytes())?;
                return Err(self.not_held(code, spot, thread, "released"));
            }
            I::Wait { mutex, .. } => {
                let spot = self.spot(code, frame, mutex, Sync::Mutex.bytes())?;
                return Err(self.not_held(code, spot, thread, "given to a wait"));
            }
            I::ChooseEdge { otherwise, .. } => return Ok(otherwise),
            I::NoWay => {
                return Err(Violation::new(
                    ViolationKind::InvalidEnd,
                    format!("{} has no way to go on", self.thread_text(thread)),
                ));
            }
            I::Copy { to, from, size, .. } => {
                let size = self.value(code, frame, size);
                self.copy(code, frame, to, from, size)?;
            }
            I::Fill { to, byte, size, .. } => {
                let (byte, size) = (self.value(code, frame, byte), self.value(code, frame, size));
                let size = size_of_range(size)?;
                let spot = self.spot_to_write(code, frame, to, size)?;
                self.watch(code, spot, size, true);
                for offset in 0..size {
                    self.set_bytes(spot.address() + offset, 1, byte);
                }
            }
            I::Allocate { to, size, units } => {
                let size = self.value(code, frame, size);
                let size = size_of_range(size)?;
                let origin = Origin::Allocated(self.here.1);
                let pointer = self.make(code, thread, size, units, Kind::Heap, origin)?;
                self.set(frame, to, pointer.bits());
            }
            I::Free { pointer } => {
                let pointer = Pointer::from_bits(self.value(code, frame, pointer));
                if pointer != Pointer::NULL {
                    let object = self.block(code, pointer, "freed")?;
                    self.unmake(code, &object);
                }
            }
            I::SizeOf { to, pointer } => {
                let pointer = Pointer::from_bits(self.value(code, frame, pointer));
                let size = match pointer {
                    Pointer::NULL => 0,
                    pointer => self.block(code, pointer, "measured")?.size,
                };
                self.set(frame, to, u64::from(size));
            }
            I::Detach { process } => {
                let target = self.joinable(self.value(code, frame, process))?;
                self.set_stack(target, control::STATUS, 2);
            }
            I::MutexInit { mutex, kind } => {
                let kind = self.value(code, frame, kind) & 0xff;
                self.reset_sync(code, frame, mutex, Sync::Mutex, kind << 8)?;
            }
            I::SemaphoreInit { semaphore, permits } => {
                let permits = self.value(code, frame, permits) & 0xffff_ffff;
                let bits = permits << 32 | permits;
                self.reset_sync(code, frame, semaphore, Sync::Semaphore, bits)?;
            }
            I::BarrierInit { barrier, parties } => {
                let parties = self.value(code, frame, parties) & 0xffff_ffff;
                if parties == 0 {
                    return Err(assertion("a barrier is initialised for 0 threads".to_owned()));
                }
                self.reset_sync(code, frame, barrier, Sync::Barrier, parties)?;
            }
            I::Reset(kind, address) => self.reset_sync(code, frame, address, kind, 0)?,
            I::Destroy(kind, address) => self.destroy(code, frame, address, kind)?,
            other => unreachable!("{other:?} is visible"),
        }
        Ok(pc + 1)
    }

    fn take_again(&mut self, frame: Frame, address: u32, to: u32, result: u64) {
        let count = self.get_bytes(address + 2, 2);
        self.set_bytes(address + 2, 2, count + 1);
        self.set(frame, to, result);
    }

    /// The allocated object whose beginning a pointer points to.
    fn block(&self, code: &Code, pointer: Pointer, what: &str) -> Result<ObjectInfo, Violation> {
        let object = self.object(code, pointer)?;
        match object.kind == Kind::Heap && pointer.offset == 0 {
            true => Ok(object),
            false => Err(memory(format!("something is {what} that was not allocated"))),
        }
    }

    fn copy(
        &mut self,
        code: &Code,
        frame: Frame,
        to: Address,
        from: Address,
        size: u64,
    ) -> Result<(), Violation> {
        let size = size_of_range(size)?;
        let from = self.spot(code, frame, from, size)?;
        let to = self.spot_to_write(code, frame, to, size)?;
        self.watch(code, from, size, false);
        self.watch(code, to, size, true);
        let bytes: Vec<u64> =
            (0..size).map(|offset| self.get_bytes(from.address() + offset, 1)).collect();
        for (offset, byte) in bytes.into_iter().enumerate() {
            self.set_bytes(to.address() + offset as u32, 1, byte);
        }
        Ok(())
    }

    /// Puts something to synchronise on into its first state.
    fn reset_sync(
        &mut self,
        code: &Code,
        frame: Frame,
        address: Address,
        kind: Sync,
        bits: u64,
    ) -> Result<(), Violation> {
        let spot = self.spot_to_write(code, frame, address, kind.bytes())?;
        self.watch(code, spot, 1, true);
        if let Sync::Barrier = kind {
            self.note_first_round(spot.address());
        }
        for offset in 0..kind.bytes() {
            let byte = if offset < 8 { bits >> (8 * offset) } else { 0 };
            self.set_bytes(spot.address() + offset, 1, byte);
        }
        Ok(())
    }

    /// Ends something to synchronise on, which must not be in use.
    fn destroy(
        &mut self,
        code: &Code,
        frame: Frame,
        address: Address,
        kind: Sync,
    ) -> Result<(), Violation> {
        let spot = self.spot_to_write(code, frame, address, kind.bytes())?;
        self.watch(code, spot, 1, true);
        self.check_life(code, spot, kind)?;
        let address = spot.address();
        let is_used = match kind {
            Sync::Mutex => self.get_bytes(address, 1) != 0,
            Sync::RwLock => self.get_bytes(address, 1) != 0 || self.get_bytes(address + 4, 4) != 0,
            Sync::Condvar => self.sleepers(address) != 0,
            Sync::Semaphore => self.is_waited_for(address),
            // A thread of a complete round does not wait any more.
            Sync::Barrier => match self.get_bytes(address, 4) {
                0 => return Err(uninitialised_barrier()),
                parties => !self.get_bytes(address + 4, 4).is_multiple_of(parties),
            },
        };
        if is_used {
            let name = self.unit_text(code, spot);
            return Err(assertion(format!("{name} is destroyed while it is in use")));
        }
        self.set_bytes(address + kind.mark(), 1, u64::from(Sync::DESTROYED));
        Ok(())
    }

    /// Something to synchronise on must not have been destroyed.
    pub(super) fn check_life(&self, code: &Code, spot: Spot, kind: Sync) -> Result<(), Violation> {
        let mark = spot.address() + kind.mark();
        if code.has_lifecycle && self.get_bytes(mark, 1) == u64::from(Sync::DESTROYED) {
            let name = self.unit_text(code, spot);
            return Err(memory(format!("{name} is used after it was destroyed")));
        }
        Ok(())
    }

    #[cold]
    fn not_held(&self, code: &Code, spot: Spot, thread: usize, how: &str) -> Violation {
        let (name, thread) = (self.unit_text(code, spot), self.thread_text(thread));
        assertion(format!("{name} is {how} by {thread}, which has not got it"))
    }

    fn unit_text(&self, code: &Code, spot: Spot) -> String {
        let names = self.names.lock().expect("the lock is not poisoned");
        names.unit(code, &self.threads, super::next::unit(code, spot).index() as u32)
    }

    fn call(
        &mut self,
        code: &Code,
        frame: Frame,
        routine: usize,
        arguments: Arguments,
        back: Pc,
        to: u32,
    ) -> Result<(), Violation> {
        let range = arguments.start as usize..(arguments.start + arguments.len) as usize;
        let value = |machine: &Self, argument: &Operand| machine.value(code, frame, *argument);
        let mut few = [0; 8];
        let arguments = &code.arguments[range];
        match arguments.len() <= few.len() {
            true => {
                for (slot, argument) in few.iter_mut().zip(arguments) {
                    *slot = value(self, argument);
                }
                self.push_frame(code, frame.thread, routine, &few[..arguments.len()], back, to)
            }
            false => {
                let many: Vec<u64> = arguments.iter().map(|it| value(self, it)).collect();
                self.push_frame(code, frame.thread, routine, &many, back, to)
            }
        }
    }

    /// Begins a frame; `back` is where to go on afterwards, `to` the register that gets the result.
    pub(super) fn push_frame(
        &mut self,
        code: &Code,
        thread: usize,
        routine_idx: usize,
        arguments: &[u64],
        back: Pc,
        to: u32,
    ) -> Result<(), Violation> {
        let routine = &code.routines[routine_idx];
        let top = self.control(thread, control::TOP) as usize;
        let base = top + SAVED;
        let end = base + routine.n_registers as usize;
        self.reserve(thread, end)?;
        let saved: [u64; SAVED] = [
            u64::from(back),
            self.control(thread, control::BASE),
            self.control(thread, control::LOCALS),
            u64::from(to),
            routine.objects.len() as u64,
        ];
        for (idx, value) in saved.into_iter().enumerate() {
            self.set_stack(thread, top + idx, value);
        }
        for idx in 0..routine.n_registers as usize {
            let value = match (routine.parameters.get(idx), arguments.get(idx)) {
                (Some(&ty), Some(&value)) => evaluate::canonical(ty, value),
                _ => 0,
            };
            self.set_stack(thread, base + idx, value);
        }
        self.set_stack(thread, control::BASE, base as u64);
        self.set_stack(thread, control::TOP, end as u64);
        let first = self.control(thread, control::MADE);
        self.set_stack(thread, control::LOCALS, first);
        for (number, &(size, units)) in (0..).zip(&routine.objects) {
            let origin = Origin::Local { routine: routine_idx as u32, number };
            self.make(code, thread, size, units, Kind::Frame, origin)?;
        }
        Ok(())
    }

    /// Ends a frame: its objects are gone, and the caller has its result. Says where to go on.
    fn pop_frame(&mut self, code: &Code, thread: usize, value: u64) -> Pc {
        let base = self.control(thread, control::BASE) as usize;
        let saved = &self.threads[thread].stack[base - SAVED..base];
        let &[back, caller, locals, to, n_objects] = saved else {
            unreachable!("a frame begins with as many words")
        };
        let first = self.control(thread, control::LOCALS) as usize;
        for number in first..first + n_objects as usize {
            let object = self.threads[thread].made[number];
            self.unmake(code, &object);
        }
        self.set_stack(thread, control::TOP, (base - SAVED) as u64);
        if back as Pc != HALT {
            self.set_stack(thread, control::BASE, caller);
            self.set_stack(thread, control::LOCALS, locals);
            self.set(Frame { thread, base: caller as usize, seen: 0 }, to as u32, value);
        }
        back as Pc
    }

    /// The calls that a thread is in, the innermost first, where it is at `pc`.
    pub(super) fn calls(&self, thread: usize, pc: Pc) -> impl Iterator<Item = Call> {
        let innermost = (!matches!(pc, UNBORN | HALT | STUCK)).then(|| Call {
            thread,
            pc,
            base: self.control(thread, control::BASE) as usize,
            first_object: self.control(thread, control::LOCALS) as usize,
            is_innermost: true,
        });
        std::iter::successors(innermost, move |call| {
            let [back, base, first_object]: [u64; 3] =
                std::array::from_fn(|idx| self.control(thread, call.base - SAVED + idx));
            let (pc, base, first_object) = (back as Pc, base as usize, first_object as usize);
            (pc != HALT).then_some(Call { thread, pc, base, first_object, is_innermost: false })
        })
    }

    /// Takes back what an atomic block has done that is not going to end: no other thread can see
    /// any of it. The others go on as they could have before the block, which is one step.
    fn leave_block(&mut self, thread: usize) {
        if self.control(thread, control::ATOMIC) > 0
            && let Some(&(changes, ..)) = self.marks.last()
        {
            self.undo_changes(changes);
        }
    }

    /// Ends a thread whose end no other sees: one that joins it does not go on.
    fn stop(&mut self, thread: usize) {
        self.set_stack(thread, control::PC, u64::from(STUCK));
        self.set_pending(thread, Pending::FINISHED);
    }

    fn end(&mut self, thread: usize, value: u64) {
        self.set_stack(thread, control::RESULT, value);
        self.set_stack(thread, control::PC, u64::from(HALT));
        self.set_pending(thread, Pending::FINISHED);
        if (0..self.threads.len()).all(|thread| matches!(self.pc(thread), HALT | UNBORN)) {
            self.survivors.end();
        }
    }
}

/// Where a thread is that came to an instruction.
enum Arrival {
    /// Before it.
    At(Pending),
    /// Behind it; it goes on there.
    Past(Pc),
}

/// A barrier without a number of parties.
#[cold]
pub(super) fn uninitialised_barrier() -> Violation {
    memory("a barrier is used that was never initialised".to_owned())
}

/// A number of bytes that an object may have.
pub(super) fn size_of_range(size: u64) -> Result<u32, Violation> {
    match u32::try_from(size) {
        Ok(size) if size < 1 << 30 => Ok(size),
        _ => Err(memory(format!("{size} bytes are more than an object may have"))),
    }
}
