//! Takes one step: a visible instruction, and the invisible ones behind it.

use super::code::{
    Address, Code, HALT, Instruction, Kind, NOWHERE, Origin, Pc, Queue, QueueField, Target,
};
use super::machine::{EXCUSED, Frame, Last, Machine, Spot, control, memory};
use super::next::Pending;
use crate::{Binary, Compare, Pointer, Sync, Type, Update, evaluate};
use Instruction as I;
use mazurka_core::{
    Accessed, Decision, Detail, Effect, Failure, Injection, ThreadId, ThreadSet, Violation,
    ViolationKind,
};

/// Where a thread goes on after an operation, and what that did beyond its name.
type Done = (Effect, Pc);

impl Machine {
    /// Takes the next step of an enabled thread.
    pub(super) fn step(
        &mut self,
        code: &Code,
        decision: Decision,
        injection: Injection,
    ) -> Result<Effect, Failure> {
        self.mark();
        self.injection = injection;
        let thread = decision.thread.index();
        let result = match self.operate(code, thread, self.pc(thread), decision.choice) {
            Ok((effect, pc)) => {
                let ran = self.run(code, thread, pc).and_then(|()| self.check_leaks(code));
                ran.map(|()| effect).map_err(|violation| Failure { effect, violation })
            }
            Err(violation) => Err(Failure { effect: Effect::Done, violation }),
        };
        if result.is_err() {
            self.set_stack(thread, control::PC, u64::from(HALT));
            self.set_pending(thread, Pending::FINISHED);
        }
        result
    }

    /// What the operation of a step reads: what memory holds, unless it is told otherwise.
    fn read(&mut self, spot: Spot, ty: Type) -> u64 {
        let held = self.get(spot, ty);
        self.accessed = Some(Accessed { before: u128::from(held), wrote: None });
        self.accessed_at = (spot.offset, ty.bytes());
        self.injection.read.map_or(held, |read| read as u64)
    }

    /// Writes what the operation of a step writes, unless what memory holds is newer.
    fn write(&mut self, spot: Spot, size: u32, value: u64) {
        if let Some(accessed) = &mut self.accessed {
            accessed.wrote = Some(u128::from(value));
        }
        match self.injection.is_hidden {
            false => self.set_bytes(spot.address(), size, value),
            // It has changed something all the same.
            true => self.spins.has_changed = true,
        }
    }

    /// Carries out the visible instruction at `pc`, which is possible.
    pub(super) fn operate(
        &mut self,
        code: &Code,
        thread: usize,
        pc: Pc,
        choice: u32,
    ) -> Result<Done, Violation> {
        let frame = self.frame(thread);
        let me = thread as u64 + 1;
        let mut effect = Effect::Done;
        let mut next = pc + 1;
        self.here = (thread, pc);
        self.spins.after(&code.instructions[pc as usize]);
        match code.instructions[pc as usize] {
            I::Load { to, from, ty, order, .. } => {
                self.order = order;
                let size = ty.bytes();
                let spot = self.spot(code, frame, from, size)?;
                self.see(code, thread, spot, size);
                self.watch_atomic(code, spot, size, false);
                let value = self.read(spot, ty);
                self.set(frame, to, value);
                self.last = Last::Read(ty, value);
            }
            I::Store { to, value, ty, order, .. } => {
                self.order = order;
                let size = ty.bytes();
                let spot = self.spot_to_write(code, frame, to, size)?;
                self.see(code, thread, spot, size);
                self.watch_atomic(code, spot, size, true);
                let old = self.read(spot, ty);
                let new = self.value(code, frame, value);
                self.write(spot, size, new);
                self.last = Last::Wrote(ty, old, new);
            }
            I::Modify { old: to, on, update, value, ty, order } => {
                self.order = order;
                let spot = self.spot_to_write(code, frame, on, ty.bytes())?;
                self.see(code, thread, spot, ty.bytes());
                self.watch_atomic(code, spot, ty.bytes(), true);
                let old = self.read(spot, ty);
                let new = updated(update, ty, old, self.value(code, frame, value));
                self.write(spot, ty.bytes(), new);
                self.set(frame, to, old);
                self.last = Last::Wrote(ty, old, new);
            }
            I::CompareExchange { success, old: to, on, expected, new, ty, orders } => {
                let spot = self.spot_to_write(code, frame, on, ty.bytes())?;
                self.see(code, thread, spot, ty.bytes());
                let old = self.read(spot, ty);
                let is_expected = old == self.value(code, frame, expected);
                self.watch_atomic(code, spot, ty.bytes(), is_expected);
                self.last = Last::Read(ty, old);
                self.order = orders[usize::from(!is_expected)];
                if !is_expected {
                    effect = Effect::Failed;
                }
                if is_expected {
                    let new = self.value(code, frame, new);
                    self.write(spot, ty.bytes(), new);
                    self.last = Last::Wrote(ty, old, new);
                }
                self.set(frame, success, u64::from(is_expected));
                self.set(frame, to, old);
            }
            I::Await { to, from, ty, .. } => {
                let spot = self.spot(code, frame, from, ty.bytes())?;
                self.watch_atomic(code, spot, ty.bytes(), false);
                let value = self.get(spot, ty);
                self.set(frame, to, value);
                self.last = Last::Read(ty, value);
            }
            I::Lock { mutex, to } => {
                let mutex = self.mutex(code, frame, mutex)?;
                self.take(code, thread, mutex);
                self.set(frame, to, 0);
            }
            I::TryLock { mutex, to } => {
                let mutex = self.mutex(code, frame, mutex)?;
                let is_free = self.get_bytes(mutex.address(), 1) == 0;
                self.set(frame, to, u64::from(is_free));
                if is_free {
                    self.take(code, thread, mutex);
                } else {
                    self.note_trial(mutex.address());
                    self.see(code, thread, mutex, Sync::Mutex.bytes());
                    effect = Effect::Failed;
                }
            }
            I::Unlock { mutex, to } => {
                let mutex = self.mutex(code, frame, mutex)?;
                self.give(thread, mutex.address());
                self.set(frame, to, 0);
            }
            I::ReadLock(lock) => {
                let address = self.sync(code, frame, lock, Sync::RwLock)?;
                self.change_reads(address, thread, 1)?;
            }
            I::WriteLock(lock) => {
                let address = self.sync(code, frame, lock, Sync::RwLock)?;
                self.set_bytes(address, 1, me);
            }
            I::TryReadLock(lock, to) => {
                let address = self.sync(code, frame, lock, Sync::RwLock)?;
                let is_free = self.get_bytes(address, 1) == 0;
                self.set(frame, to, u64::from(is_free));
                match is_free {
                    true => self.change_reads(address, thread, 1)?,
                    false => effect = Effect::Failed,
                }
            }
            I::TryWriteLock(lock, to) => {
                let address = self.sync(code, frame, lock, Sync::RwLock)?;
                let is_free =
                    self.get_bytes(address, 1) == 0 && self.get_bytes(address + 4, 4) == 0;
                self.set(frame, to, u64::from(is_free));
                match is_free {
                    true => self.set_bytes(address, 1, me),
                    false => effect = Effect::Failed,
                }
            }
            I::ReadWriteUnlock(lock) => {
                let address = self.sync(code, frame, lock, Sync::RwLock)?;
                match self.get_bytes(address, 1) == me {
                    true => self.set_bytes(address, 1, 0),
                    false => self.change_reads(address, thread, -1)?,
                }
            }
            I::Wait { condvar, mutex } => {
                let mutex = self.mutex(code, frame, mutex)?;
                let condvar = self.sync(code, frame, condvar, Sync::Condvar)?;
                self.give(thread, mutex.address());
                let sleepers = self.sleepers(condvar) | 1 << thread;
                self.set_sleepers(condvar, sleepers);
            }
            I::Reacquire { mutex, .. } => {
                let mutex = self.mutex(code, frame, mutex)?;
                self.take(code, thread, mutex);
            }
            I::NotifyOne(condvar) => {
                let condvar = self.sync(code, frame, condvar, Sync::Condvar)?;
                let mut rest = self.sleepers(condvar);
                for _ in 0..choice {
                    rest &= rest.wrapping_sub(1);
                }
                effect = self.wake(condvar, rest & rest.wrapping_neg());
            }
            I::NotifyAll(condvar) => {
                let condvar = self.sync(code, frame, condvar, Sync::Condvar)?;
                effect = self.wake(condvar, self.sleepers(condvar));
            }
            I::SemaphoreAcquire(semaphore) => {
                let address = self.sync(code, frame, semaphore, Sync::Semaphore)?;
                self.set_bytes(address, 4, self.get_bytes(address, 4) - 1);
            }
            I::SemaphoreTryAcquire(semaphore, to) => {
                let address = self.sync(code, frame, semaphore, Sync::Semaphore)?;
                let permits = self.get_bytes(address, 4);
                self.set(frame, to, u64::from(permits > 0));
                match permits > 0 {
                    true => self.set_bytes(address, 4, permits - 1),
                    false => effect = Effect::Failed,
                }
            }
            I::SemaphoreRelease(semaphore) => {
                let address = self.sync(code, frame, semaphore, Sync::Semaphore)?;
                self.set_bytes(address, 4, self.get_bytes(address, 4) + 1);
            }
            I::SemaphoreValue(semaphore, to) => {
                // As an operation it is an attempt that takes nothing.
                let address = self.sync(code, frame, semaphore, Sync::Semaphore)?;
                self.set(frame, to, self.get_bytes(address, 4));
                effect = Effect::Failed;
            }
            I::Arrive(barrier, to) => {
                let address = self.sync(code, frame, barrier, Sync::Barrier)?;
                let (parties, arrived) =
                    (self.get_bytes(address, 4), self.get_bytes(address + 4, 4));
                let round_end = (arrived / parties + 1) * parties;
                let mark = self.mark_of_round(address);
                self.set_stack(thread, control::ROUND_END, round_end | mark);
                self.set_bytes(address + 4, 4, arrived + 1);
                // Where arrivals commute, no thread looks.
                let is_last = arrived + 1 == round_end && self.meetings.is_none();
                self.set(frame, to, u64::from(is_last));
            }
            I::Leave(_) => self.set_stack(thread, control::ROUND_END, 0),
            I::Send(queue) => {
                let queue = &code.queues[queue as usize];
                let spot = self.spot(code, frame, queue.at, 4 + queue.capacity * queue.size)?;
                self.send(code, frame, queue, spot);
            }
            I::TrySend(queue, to) => {
                let queue = &code.queues[queue as usize];
                let spot = self.spot(code, frame, queue.at, 4 + queue.capacity * queue.size)?;
                let has_room = self.get_bytes(spot.address(), 4) < u64::from(queue.capacity);
                self.set(frame, to, u64::from(has_room));
                match has_room {
                    true => self.send(code, frame, queue, spot),
                    false => effect = Effect::Failed,
                }
            }
            I::Receive(queue) => {
                let queue = &code.queues[queue as usize];
                let spot = self.spot(code, frame, queue.at, 4 + queue.capacity * queue.size)?;
                self.receive(frame, queue, spot);
            }
            I::TryReceive(queue, to) => {
                let queue = &code.queues[queue as usize];
                let spot = self.spot(code, frame, queue.at, 4 + queue.capacity * queue.size)?;
                let has_message = self.get_bytes(spot.address(), 4) > 0;
                self.set(frame, to, u64::from(has_message));
                match has_message {
                    true => self.receive(frame, queue, spot),
                    false => effect = Effect::Failed,
                }
            }
            I::Copy { .. } | I::Fill { .. } => next = self.copy_piece(code, thread, pc)?,
            I::Spawn { target, arguments, to } => {
                let child = self.take_child(thread);
                let routine = self.target(code, frame, target)?;
                let range = arguments.start as usize..(arguments.start + arguments.len) as usize;
                let values: Vec<u64> = code.arguments[range]
                    .iter()
                    .map(|&argument| self.value(code, frame, argument))
                    .collect();
                self.set(frame, to, child as u64);
                self.start(code, child, routine, &values)?;
            }
            I::Join { process, to } => {
                let target = self.joinable(self.value(code, frame, process))?;
                self.set_stack(target, control::STATUS, 1 | (thread as u64) << 8);
                self.set(frame, to, self.control(target, control::RESULT));
            }
            I::Yield => {}
            I::Choose { to, low, .. } => {
                let value = low + i64::from(choice);
                self.note_choice(thread);
                self.set(frame, to, value as u64);
                self.last = Last::Chose(value);
            }
            I::ChooseEdge { edges, .. } => {
                let (start, end) = (edges.start as usize, (edges.start + edges.len) as usize);
                let mut possible = code.edges[start..end]
                    .iter()
                    .filter(|(guard, _)| self.holds(code, frame, *guard));
                let edge = possible.nth(choice as usize).expect("the choice was said to be there");
                next = edge.1;
            }
            I::AtomicBegin => self.set_stack(thread, control::ATOMIC, 1),
            other => panic!("{} cannot take a step at {other:?}", ThreadId::new(thread)),
        }
        Ok((effect, next))
    }

    /// Where `size` bytes are that are to be changed.
    #[inline]
    pub(super) fn spot_to_write(
        &self,
        code: &Code,
        frame: Frame,
        address: Address,
        size: u32,
    ) -> Result<Spot, Violation> {
        let spot = self.spot(code, frame, address, size)?;
        match spot.object.kind {
            Kind::Constant => Err(memory("a constant is written to".to_owned())),
            _ => Ok(spot),
        }
    }

    /// Where a mutex is.
    fn mutex(&self, code: &Code, frame: Frame, address: Address) -> Result<Spot, Violation> {
        let spot = self.spot(code, frame, address, Sync::Mutex.bytes())?;
        self.check_life(code, spot, Sync::Mutex)?;
        Ok(spot)
    }

    /// Where anything else to synchronise on is.
    fn sync(
        &mut self,
        code: &Code,
        frame: Frame,
        address: Address,
        kind: Sync,
    ) -> Result<u32, Violation> {
        let spot = self.spot(code, frame, address, kind.bytes())?;
        self.check_life(code, spot, kind)?;
        self.see(code, frame.thread, spot, kind.bytes());
        Ok(spot.address())
    }

    /// Which routine is called.
    pub(super) fn target(
        &self,
        code: &Code,
        frame: Frame,
        target: Target,
    ) -> Result<usize, Violation> {
        let pointer = match target {
            Target::Routine(routine) => return Ok(routine as usize),
            Target::Pointer(pointer) => Pointer::from_bits(self.value(code, frame, pointer)),
        };
        match pointer.routine() {
            Some(routine) if pointer.offset == 0 && (routine.0 as usize) < code.routines.len() => {
                Ok(routine.0 as usize)
            }
            _ => Err(memory("something is called that is no function".to_owned())),
        }
    }

    fn change_reads(&mut self, address: u32, thread: usize, by: i64) -> Result<(), Violation> {
        let own = self.n_reads(address, thread).wrapping_add_signed(by);
        if own > 7 {
            return Err(assertion(
                "a reader-writer lock is taken for reading more often than a thread may".to_owned(),
            ));
        }
        self.set_n_reads(address, thread, own);
        let all = self.get_bytes(address + 4, 4).wrapping_add_signed(by);
        self.set_bytes(address + 4, 4, all);
        Ok(())
    }

    fn set_sleepers(&mut self, address: u32, sleepers: u128) {
        self.set_bytes(address, 8, sleepers as u64);
        self.set_bytes(address + 8, 8, (sleepers >> 64) as u64);
    }

    fn wake(&mut self, condvar: u32, woken: u128) -> Effect {
        self.set_sleepers(condvar, self.sleepers(condvar) & !woken);
        let mut set = ThreadSet::EMPTY;
        let mut rest = woken;
        while rest != 0 {
            set.insert(ThreadId::new(rest.trailing_zeros() as usize));
            rest &= rest - 1;
        }
        Effect::Woke(set)
    }

    fn send(&mut self, code: &Code, frame: Frame, queue: &Queue, spot: Spot) {
        let len = self.get_bytes(spot.address(), 4) as u32;
        let mut at = spot.address() + 4 + len * queue.size;
        for (field, ty) in &queue.fields {
            if let QueueField::Send(value) = *field {
                let value = self.value(code, frame, value);
                self.set_bytes(at, ty.bytes(), value);
            }
            at += ty.bytes();
        }
        self.set_bytes(spot.address(), 4, u64::from(len) + 1);
    }

    /// Takes out the oldest message; the others move up, so that equal queues are equal bytes.
    fn receive(&mut self, frame: Frame, queue: &Queue, spot: Spot) {
        let first = spot.address() + 4;
        let mut at = first;
        for (field, ty) in &queue.fields {
            if let QueueField::Receive(to) = *field {
                let value = evaluate::canonical(*ty, self.get_bytes(at, ty.bytes()));
                self.set(frame, to, value);
            }
            at += ty.bytes();
        }
        let len = self.get_bytes(spot.address(), 4) as u32;
        for byte in first..first + (len - 1) * queue.size {
            self.set_bytes(byte, 1, self.get_bytes(byte + queue.size, 1));
        }
        for byte in first + (len - 1) * queue.size..first + len * queue.size {
            self.set_bytes(byte, 1, 0);
        }
        self.set_bytes(spot.address(), 4, u64::from(len) - 1);
    }

    /// Lets a thread begin. It runs up to its first operation, unless something could go wrong
    /// on the way, or memory is touched: then there must be a step to blame for it, a yield.
    pub(super) fn start(
        &mut self,
        code: &Code,
        thread: usize,
        routine: usize,
        arguments: &[u64],
    ) -> Result<(), Violation> {
        // What was made under its number before is still there.
        let is_again = !self.is_unborn(thread);
        let is_kept = |word: usize| is_again && matches!(word, control::MADE | control::CHILDREN);
        for word in (0..super::code::CONTROL).filter(|&word| !is_kept(word)) {
            self.set_stack(thread, word, 0);
        }
        self.set_stack(thread, control::TOP, super::code::CONTROL as u64);
        for (number, &object) in code.per_thread.iter().enumerate() {
            let template = code.objects[object as usize];
            if !is_again {
                let (size, units) = (template.size, template.units);
                self.make(code, thread, size, units, Kind::PerThread, Origin::Own(object))?;
            }
            let own = self.threads[thread].made[number];
            for byte in 0..template.size {
                let value = self.get_bytes(template.address + byte, 1);
                self.set_bytes(own.address + byte, 1, value);
            }
        }
        self.push_frame(code, thread, routine, arguments, HALT, NOWHERE)?;
        let begin = code.routines[routine].begin;
        self.set_stack(thread, control::PC, u64::from(begin));
        let (mark, n_accesses, n_seen, last) =
            (self.log.len(), self.accesses.len(), self.seen.len(), self.last);
        let n_fences = self.fences.len();
        let result = self.run(code, thread, begin + 1);
        // Both belong to the new thread, and this step is another's.
        let has_own = self.accesses.len() > n_accesses || self.fences.len() > n_fences;
        if result.is_err() || has_own || self.has_touched_memory(mark) {
            self.undo_changes(mark);
            self.accesses.truncate(n_accesses);
            self.fences.truncate(n_fences);
            self.seen.truncate(n_seen);
            self.last = last;
            self.set_pending(thread, Pending::YIELD);
        }
        Ok(())
    }

    /// Whether waiting for ever is excused from here on.
    pub(super) fn excuse_waiting(&mut self) {
        self.set_word(EXCUSED, self.memory[EXCUSED] | FOR_EVER);
    }

    /// Whether an assumption has failed, or the program has exited.
    pub(super) fn is_excused_for_ever(&self) -> bool {
        self.memory[EXCUSED] & FOR_EVER != 0
    }

    /// Ends the program: a thread that goes on could as well have done so before.
    pub(super) fn exit_program(&mut self) {
        self.survivors.end();
        self.excuse_waiting();
        self.set_word(EXCUSED, self.memory[EXCUSED] | EXITED);
    }

    pub(super) fn has_exited(&self) -> bool {
        self.memory[EXCUSED] & EXITED != 0
    }

    /// Begins or ends a wait that is excused.
    pub(super) fn excuse_wait(&mut self, begins: bool) {
        let before = self.memory[EXCUSED];
        self.set_word(EXCUSED, if begins { before + 1 } else { before - 1 });
    }
}

/// What is not taken back by the end of an excused wait.
const FOR_EVER: u64 = 1 << 32;

/// The program has exited.
const EXITED: u64 = 1 << 33;

pub(super) fn updated(update: Update, ty: Type, old: u64, value: u64) -> u64 {
    let binary = |op| evaluate::binary(op, ty, old, value, ty);
    match update {
        Update::Exchange => value,
        Update::Add => binary(Binary::Add),
        Update::Subtract => binary(Binary::Subtract),
        Update::And => binary(Binary::And),
        Update::Or => binary(Binary::Or),
        Update::Xor => binary(Binary::Xor),
        Update::Nand => evaluate::canonical(ty, !binary(Binary::And)),
        Update::Minimum if evaluate::compare(Compare::Less, ty, value, old) => value,
        Update::Maximum if evaluate::compare(Compare::Greater, ty, value, old) => value,
        Update::Minimum | Update::Maximum => old,
    }
}

/// A violation of the kind `assertion`: something is used against its rules.
#[cold]
pub(super) fn assertion(message: String) -> Violation {
    Violation::new(ViolationKind::Assertion, message).with(Detail::Misuse)
}
