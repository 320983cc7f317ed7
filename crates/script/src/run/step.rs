//! Takes one step: a visible instruction, and the invisible ones behind it.

use super::code::{
    Cell, Code, HALT, Instruction, Operand, Pc, Queue, Site, UNBORN, Update, Variable,
};
use super::machine::Machine;
use Instruction as I;
use mazurka_core::{
    Accessed, Addition, Decision, Detail, Effect, Failure, Fence, Injection, Next, Operation, Part,
    PlainAccess, ThreadId, ThreadSet, Violation, ViolationKind,
};

/// How many invisible instructions a step may take before the thread counts as stuck in a loop.
const MAX_INVISIBLE: u32 = 100_000;

impl Machine {
    /// Takes the next step of an enabled thread.
    pub(crate) fn step(
        &mut self,
        code: &Code,
        decision: Decision,
        injection: Injection,
    ) -> Result<Effect, Failure> {
        self.mark();
        self.injection = injection;
        // The first violation of a step is told.
        match (self.take(code, decision), self.join_at_once(code)) {
            (Ok(effect), Some(violation)) => Err(Failure { effect, violation }),
            (result, _) => result,
        }
    }

    /// Takes the joins that are possible, if they are no steps. What goes wrong first behind one.
    pub(super) fn join_at_once(&mut self, code: &Code) -> Option<Violation> {
        let mut violation = None;
        while let Some(joiner) = self.next_joiner(code) {
            let failure = self.take(code, Decision::of(joiner)).err();
            violation = violation.or(failure.map(|failure| failure.violation));
        }
        violation
    }

    fn take(&mut self, code: &Code, decision: Decision) -> Result<Effect, Failure> {
        let thread_idx = decision.thread.index();
        let result = match self.operate(code, thread_idx, decision.choice) {
            Ok((effect, pc)) => match self.run(code, thread_idx, pc) {
                Ok(()) => Ok(effect),
                Err(violation) => Err(Failure { effect, violation }),
            },
            Err(violation) => Err(Failure { effect: Effect::Done, violation }),
        };
        if result.is_err() {
            self.set(thread_idx as u32, i64::from(HALT));
        }
        result
    }

    /// A thread that is to join another one at once and can; it is noted.
    fn next_joiner(&mut self, code: &Code) -> Option<ThreadId> {
        if !self.joins_at_once {
            return None;
        }
        let (thread, joined) = (0..code.n_threads()).map(ThreadId::new).find_map(|thread| {
            match self.next(code, thread) {
                Next::Enabled { operation: Operation::Join(other), .. } => Some((thread, other)),
                _ => None,
            }
        })?;
        self.parts.push(Part { thread, joined: Some(joined), n_before: self.accesses.len() });
        Some(thread)
    }

    /// Lets a thread begin: it runs up to its first visible operation.
    pub(super) fn start(&mut self, code: &Code, thread_idx: usize) {
        self.run(code, thread_idx, code.starts[thread_idx])
            .expect("what can go wrong has a yield before it");
    }

    /// Does the visible operation; says where the thread goes on.
    fn operate(
        &mut self,
        code: &Code,
        thread_idx: usize,
        choice: u32,
    ) -> Result<(Effect, Pc), Violation> {
        let pc = self.pc(thread_idx);
        let next = pc + 1;
        let me = thread_idx as i64 + 1;
        let mut effect = Effect::Done;
        match &code.instructions[pc as usize] {
            I::Load { from, to } => {
                let seen = self.read(code, from);
                self.set(*to, seen);
            }
            I::Store { to, value } => {
                self.read(code, to);
                self.write(self.cell(code, to), self.value(code, *value));
            }
            I::Update { on, update, to, addition } => {
                let cell = self.cell(code, on);
                let old = self.read(code, on);
                let (new, result) = match *update {
                    Update::Add(value) => (old.wrapping_add(self.value(code, value)), old),
                    Update::Count { value, expected } => {
                        (old.wrapping_add(self.value(code, value)), i64::from(old == expected))
                    }
                    Update::Swap(value) => (self.value(code, value), old),
                    Update::CompareAndSwap { expected, new } => {
                        match old == self.value(code, expected) {
                            true => (self.value(code, new), 1),
                            false => {
                                effect = Effect::Failed;
                                (old, 0)
                            }
                        }
                    }
                };
                if effect != Effect::Failed {
                    self.write(cell, new);
                }
                self.addition = addition.and(update.tests(to.is_some())).map(|tests| Addition {
                    before: old,
                    added: new.wrapping_sub(old),
                    highest: i64::MAX,
                    tests,
                });
                self.set_result(*to, result);
            }
            I::Await { on, new, .. } => {
                self.read(code, on);
                if let Some(new) = *new {
                    let (cell, value) = (self.cell(code, on), self.value(code, new));
                    self.write(cell, value);
                }
            }
            I::Resume(_) | I::Yield | I::Join(_) => {}
            I::Branch { on, relation, value, otherwise } => {
                let seen = self.read(code, on);
                if !relation.holds(seen, self.value(code, *value)) {
                    return Ok((effect, *otherwise));
                }
            }
            I::Acquire(site) => self.set(site.cell, me),
            I::TryAcquire(site, to) => {
                effect = self.attempt(self.get(site.cell) == 0, *to, site, me);
            }
            I::Release(site) => {
                if self.get(site.cell) != me {
                    return Err(not_held(code, site, thread_idx, "released"));
                }
                self.set(site.cell, 0);
            }
            I::ReadAcquire(site) => self.change_readers(site, thread_idx, 1),
            I::TryReadAcquire(site, to) => {
                let is_free = self.get(site.cell) == 0;
                self.set_result(*to, i64::from(is_free));
                match is_free {
                    true => self.change_readers(site, thread_idx, 1),
                    false => effect = Effect::Failed,
                }
            }
            I::ReadRelease(site) => {
                if self.get(site.cell + 2 + thread_idx as u32) == 0 {
                    return Err(not_held(code, site, thread_idx, "released"));
                }
                self.change_readers(site, thread_idx, -1);
            }
            I::WriteAcquire(site) => self.set(site.cell, me),
            I::TryWriteAcquire(site, to) => {
                let is_free = self.get(site.cell) == 0 && self.get(site.cell + 1) == 0;
                effect = self.attempt(is_free, *to, site, me);
            }
            I::WriteRelease(site) => {
                if self.get(site.cell) != me {
                    return Err(not_held(code, site, thread_idx, "released"));
                }
                self.set(site.cell, 0);
            }
            I::Wait { condvar, mutex } => {
                if self.get(mutex.cell) != me {
                    return Err(not_held(code, mutex, thread_idx, "given to a wait"));
                }
                self.set(mutex.cell, 0);
                let sleepers = self.sleepers(condvar.cell) | 1 << thread_idx;
                self.set_sleepers(condvar.cell, sleepers);
            }
            I::Reacquire { mutex, .. } => self.set(mutex.cell, me),
            I::Sleep { condvar, on, value } => {
                if self.read(code, on) != self.value(code, *value) {
                    return Ok((Effect::Failed, next + 1));
                }
                let sleepers = self.sleepers(condvar.cell) | 1 << thread_idx;
                self.set_sleepers(condvar.cell, sleepers);
            }
            I::Expire(site, to) => {
                let sleepers = self.sleepers(site.cell);
                let is_asleep = sleepers >> thread_idx & 1 != 0;
                self.set_result(*to, i64::from(is_asleep));
                self.set_sleepers(site.cell, sleepers & !(1 << thread_idx));
                if !is_asleep {
                    effect = Effect::Failed;
                }
            }
            I::NotifyOne(site) => {
                let mut rest = self.sleepers(site.cell);
                for _ in 0..choice {
                    rest &= rest.wrapping_sub(1);
                }
                let woken = rest & rest.wrapping_neg();
                effect = self.wake(site, woken);
            }
            I::NotifyAll(site) => effect = self.wake(site, self.sleepers(site.cell)),
            I::Down { semaphore, .. } => {
                self.set(semaphore.cell, self.get(semaphore.cell) - 1);
            }
            I::TryDown { semaphore, to, .. } => {
                let permits = self.get(semaphore.cell);
                self.set_result(*to, i64::from(permits > 0));
                match permits > 0 {
                    true => self.set(semaphore.cell, permits - 1),
                    false => effect = Effect::Failed,
                }
            }
            I::Up(site) => self.set(site.cell, self.get(site.cell) + 1),
            I::Arrive { barrier, parties, round_end } => {
                let (arrived, parties) = (self.get(barrier.cell), i64::from(*parties));
                self.set(*round_end, (arrived / parties + 1) * parties);
                self.set(barrier.cell, arrived + 1);
            }
            I::Leave { round_end, .. } => self.set(*round_end, 0),
            I::Send { queue, value } => self.send(queue, self.value(code, *value)),
            I::TrySend { queue, value, to } => {
                let value = self.value(code, *value);
                let has_room = self.has_room(queue);
                self.set_result(*to, i64::from(has_room));
                match has_room {
                    true => self.send(queue, value),
                    false => effect = Effect::Failed,
                }
            }
            I::Receive { queue, to } => {
                let message = self.receive(queue);
                self.set_result(*to, message);
            }
            I::TryReceive { queue, to } => {
                if self.len(queue.head) > 0 {
                    let message = self.receive(queue);
                    self.set_result(*to, message);
                } else {
                    self.set_result(*to, -1);
                    effect = Effect::Failed;
                }
            }
            I::Spawn(target) => {
                if self.pc(target.index()) != UNBORN {
                    let thread = ThreadId::new(thread_idx);
                    let message = format!("{thread} spawned {target} a second time");
                    let violation = violation(ViolationKind::Assertion, message);
                    return Err(violation.with(Detail::Misuse));
                }
                self.start(code, target.index());
            }
            I::Choose { to, .. } => self.set_result(*to, i64::from(choice)),
            other => panic!("{} cannot take a step at {other:?}", ThreadId::new(thread_idx)),
        }
        Ok((effect, next))
    }

    /// Runs the invisible instructions from `pc` on, and leaves the thread behind them.
    fn run(&mut self, code: &Code, thread_idx: usize, mut pc: Pc) -> Result<(), Violation> {
        let mut rest = MAX_INVISIBLE;
        loop {
            let instruction = &code.instructions[pc as usize];
            pc += 1;
            match instruction {
                I::Set { to, value } => self.set(*to, self.value(code, *value)),
                I::PlainLoad { cell, memory, to } => {
                    self.accesses.push(PlainAccess::new(*memory, false));
                    self.set(*to, self.get(*cell));
                }
                I::PlainStore { cell, memory, value } => {
                    self.accesses.push(PlainAccess::new(*memory, true));
                    self.set(*cell, self.value(code, *value));
                }
                I::Fence(order) => self.fences.push(Fence {
                    order: *order,
                    n_accesses: self.accesses.len(),
                    n_parts: self.parts.len(),
                }),
                I::Jump(target) => pc = *target,
                I::JumpUnless { condition, otherwise } => {
                    if !self.holds(code, condition) {
                        pc = *otherwise;
                    }
                }
                I::Assert { condition, text } => {
                    if !self.holds(code, condition) {
                        let left = self.value(code, condition.left);
                        let text = &code.texts[*text as usize];
                        let mut values = format!("left is {left}");
                        if !matches!(condition.right, Operand::Constant(_)) {
                            let right = self.value(code, condition.right);
                            values.push_str(&format!(", right is {right}"));
                        }
                        let message = format!("assertion `{text}` failed: {values}");
                        let detail = Detail::Assertion(format!("`{text}`: {values}"));
                        return Err(violation(ViolationKind::Assertion, message).with(detail));
                    }
                }
                I::Check { index, len, name } => {
                    let index = self.value(code, *index);
                    if !(0..i64::from(*len)).contains(&index) {
                        let name = &code.texts[*name as usize];
                        return Err(violation(
                            ViolationKind::Memory,
                            format!(
                                "index {index} is outside of `{name}`, which has {len} elements"
                            ),
                        ));
                    }
                }
                _ => {
                    self.set(thread_idx as u32, i64::from(pc - 1));
                    return Ok(());
                }
            }
            rest -= 1;
            if rest == 0 {
                return Err(violation(
                    ViolationKind::Livelock,
                    format!("{MAX_INVISIBLE} instructions without an operation in between"),
                ));
            }
        }
    }

    /// What the operation reads of a variable: what memory holds, unless it is told otherwise.
    #[inline]
    fn read(&mut self, code: &Code, variable: &Variable) -> i64 {
        let held = self.get(self.cell(code, variable));
        self.order = variable.order;
        self.accessed = Some(Accessed { before: bits(held), wrote: None });
        self.injection.read.map_or(held, |read| read as i64)
    }

    /// Writes a variable, unless what is there is newer.
    #[inline]
    fn write(&mut self, cell: Cell, value: i64) {
        if let Some(accessed) = &mut self.accessed {
            accessed.wrote = Some(bits(value));
        }
        if !self.injection.is_hidden && self.get(cell) != value {
            self.set(cell, value);
        }
    }

    /// Takes a lock for `me` if it `is_free`.
    fn attempt(&mut self, is_free: bool, to: Option<u32>, site: &Site, me: i64) -> Effect {
        self.set_result(to, i64::from(is_free));
        if !is_free {
            return Effect::Failed;
        }
        self.set(site.cell, me);
        Effect::Done
    }

    fn change_readers(&mut self, site: &Site, thread_idx: usize, by: i64) {
        for cell in [site.cell + 1, site.cell + 2 + thread_idx as u32] {
            self.set(cell, self.get(cell) + by);
        }
    }

    fn wake(&mut self, condvar: &Site, woken: u128) -> Effect {
        self.set_sleepers(condvar.cell, self.sleepers(condvar.cell) & !woken);
        let mut set = ThreadSet::EMPTY;
        let mut rest = woken;
        while rest != 0 {
            set.insert(ThreadId::new(rest.trailing_zeros() as usize));
            rest &= rest - 1;
        }
        Effect::Woke(set)
    }

    fn send(&mut self, queue: &Queue, message: i64) {
        let tail = self.get(queue.head + 1);
        self.set(queue.head + 1, tail + 1);
        let messages = &mut self.queues[queue.channel as usize];
        // What a longer execution before this one left behind the tail is overwritten.
        messages.truncate(tail as usize);
        messages.push(message);
    }

    fn receive(&mut self, queue: &Queue) -> i64 {
        let head = self.get(queue.head);
        self.set(queue.head, head + 1);
        self.queues[queue.channel as usize][head as usize]
    }
}

/// A value as a memory model sees it.
fn bits(value: i64) -> u128 {
    u128::from(value as u64)
}

#[cold]
fn violation(kind: ViolationKind, message: String) -> Violation {
    Violation::new(kind, message)
}

#[cold]
fn not_held(code: &Code, site: &Site, thread_idx: usize, how: &str) -> Violation {
    let name = &code.object_names[site.object.index()];
    let thread = ThreadId::new(thread_idx);
    let message = format!("{name} is {how} by {thread}, which has not got it");
    violation(ViolationKind::Assertion, message).with(Detail::Misuse)
}
