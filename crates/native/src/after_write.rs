//! What a plain write leaves in memory, read when it has just happened.
//!
//! The instrumentation calls before a write. Later is too late to look: by the next operation of
//! the thread the block may be freed, and the frame that the variable was in may be another one's.
//! So the thread goes on by single steps (the trap flag of the processor) from the return of the
//! callback up to the first instruction that stores to these bytes, and what they hold is read
//! behind that. If none does before the thread leaves the frame or the program's own code, nothing
//! is told: a compiler may call behind a write, too. Where a struct is copied, gcc calls for what
//! is read behind the call for what is written; such a callback alone is waited for.
//!
//! Functions of a library write within their call. It is over where that returns, which is where
//! the callback would have returned to. One that calls this library on the way, to allocate, is not
//! followed.
//!
//! All of this is done only for accesses that are told, in the replay of a violation that is
//! shown; and not under a debugger, which takes single steps for its own.

use crate::callbacks;
use crate::coroutine;
use crate::library;
use crate::machine::{self, Value};
use crate::names::{self, Frame};
use crate::plain_values::{self, Held};
use iced_x86::{Decoder, DecoderOptions, InstructionInfoFactory, OpAccess, Register};
use std::cell::UnsafeCell;
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// The flag of the processor that makes it stop behind each instruction.
const TRAP_FLAG: i64 = 1 << 8;
/// So many instructions are waited for the store, and for the return from a call.
const LONGEST_WINDOW: usize = 512;
const LONGEST_CALL: usize = 20_000;
const LONGEST_INSTRUCTION: usize = 15;

type Registers = [libc::greg_t; 23];

/// Where to tell what was written.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Target {
    /// An access to what is looked at, by its place.
    Sighting(usize),
    /// The operation of the step.
    Operation,
}

/// Bytes that are about to be written.
struct Piece {
    target: Target,
    address: usize,
    len: usize,
    /// Which of them were, a bit for each.
    written: u8,
    /// Which of them the instruction writes that comes next.
    next: u8,
    after: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Nothing is to be written, or it was.
    Idle,
    /// The callback has not returned yet.
    Noted,
    /// The thread goes on by single steps, up to the return.
    Returning,
    /// And from there to the store.
    Running,
}

/// What is written by the access in progress.
struct Write {
    state: State,
    /// Those of all accesses of the step that were not told yet.
    pieces: Vec<Piece>,
    /// Where those of this access begin.
    first: usize,
    /// Where the callback returns to, or the function of a library, and the stack pointer then.
    address: usize,
    stack_pointer: usize,
    is_library: bool,
    /// The code that the thread must not leave.
    code: Range<usize>,
    n_instructions: usize,
    /// Whether it is in a callback for a read.
    is_away: bool,
    /// Whether it has been outside of this library since the callback.
    has_left: bool,
    info: Option<InstructionInfoFactory>,
}

struct Global(UnsafeCell<Write>);

// SAFETY: only the OS thread that explores uses it, in the runtime or in the handler of a single
// step; those come only while the program runs, since nothing of it is used once there are steps.
unsafe impl Sync for Global {}

static WRITE: Global = Global(UnsafeCell::new(Write {
    state: State::Idle,
    pieces: Vec::new(),
    first: 0,
    address: 0,
    stack_pointer: 0,
    is_library: false,
    code: 0..0,
    n_instructions: 0,
    is_away: false,
    has_left: false,
    info: None,
}));

/// Whether something was noted in the callback in progress.
static IS_NOTED: AtomicBool = AtomicBool::new(false);
/// Whether what the library tells now has happened before.
static IS_BEHIND: AtomicBool = AtomicBool::new(false);

fn write() -> &'static mut Write {
    // SAFETY: no use of it is within another: see `Global`.
    unsafe { &mut *WRITE.0.get() }
}

/// What follows was written before it is told. The thread may fail meanwhile.
pub(crate) fn behind(tell: impl FnOnce()) {
    IS_BEHIND.store(true, Ordering::Relaxed);
    tell();
    end_behind();
}

/// What follows is told before it is written.
#[inline]
pub(crate) fn end_behind() {
    IS_BEHIND.store(false, Ordering::Relaxed);
}

/// Whether what is told now was written before.
pub(crate) fn is_behind() -> bool {
    IS_BEHIND.load(Ordering::Relaxed)
}

/// A step begins: nothing of the one before is told any longer.
#[inline]
pub(crate) fn begin_step() {
    if IS_NOTED.load(Ordering::Relaxed) {
        forget();
    }
}

#[cold]
fn forget() {
    let write = write();
    write.state = State::Idle;
    write.pieces.clear();
    write.first = 0;
    IS_NOTED.store(false, Ordering::Relaxed);
}

/// Some bytes are about to be written, by a thread with these frames.
pub(crate) fn note(target: Target, address: usize, len: usize, frames: &[Frame]) {
    static IS_TRACED: OnceLock<bool> = OnceLock::new();
    if *IS_TRACED.get_or_init(is_traced) {
        return;
    }
    let caller = frames.iter().find_map(|frame| {
        let code = names::code_around(frame.address)?;
        Some((frame.address, frame.stack_pointer, code))
    });
    let Some((address_behind, stack_pointer, code)) = caller else { return };
    let write = write();
    let is_same = (write.state, write.address, write.stack_pointer)
        == (State::Noted, address_behind, stack_pointer);
    if !is_same {
        write.state = State::Noted;
        write.first = write.pieces.len();
        write.address = address_behind;
        write.stack_pointer = stack_pointer;
        write.is_library = library::inside().is_some();
        write.code = code;
    }
    write.info.get_or_insert_with(InstructionInfoFactory::new);
    write.pieces.push(Piece { target, address, len, written: 0, next: 0, after: None });
    IS_NOTED.store(true, Ordering::Relaxed);
}

/// The callback in progress returns now.
#[inline]
pub(crate) fn go_on() {
    if IS_NOTED.load(Ordering::Relaxed) {
        begin_steps();
    }
}

#[cold]
#[inline(never)]
fn begin_steps() {
    let write = write();
    if write.state != State::Noted {
        return;
    }
    write.state = State::Returning;
    write.n_instructions = 0;
    write.is_away = false;
    write.has_left = false;
    // SAFETY: sets a flag; what comes then is for `step`.
    unsafe {
        std::arch::asm!(
            "pushfq",
            "or qword ptr [rsp], {flag}",
            "popfq",
            flag = const TRAP_FLAG,
        );
    }
}

/// What was noted has been written by this library itself.
#[inline]
pub(crate) fn settle() {
    if IS_NOTED.load(Ordering::Relaxed) {
        settle_slowly();
    }
}

#[cold]
fn settle_slowly() {
    let write = write();
    if write.state == State::Noted {
        write.pieces[write.first..].iter_mut().for_each(Piece::read);
        write.state = State::Idle;
    }
}

/// Tells what was written since the last time.
pub(crate) fn collect() {
    if !IS_NOTED.load(Ordering::Relaxed) {
        return;
    }
    let write = write();
    let pieces = std::mem::take(&mut write.pieces);
    write.first = 0;
    machine::with(|machine| {
        for Piece { target, after, .. } in pieces {
            let held = match target {
                Target::Sighting(idx) => {
                    machine.watch.sightings.get_mut(idx).and_then(|seen| seen.held.as_mut())
                }
                Target::Operation => match &mut machine.value {
                    Value::Held(held) => Some(held),
                    _ => None,
                },
            };
            held.into_iter().for_each(|held: &mut Held| held.after = after);
        }
    });
}

/// No single steps any longer, whatever comes.
pub(crate) fn stop(registers: &mut Registers) {
    registers[libc::REG_EFL as usize] &= !TRAP_FLAG;
}

/// A signal says that an instruction was passed. Whether that was asked for here. Called by the
/// handler of signals: it takes no lock and no memory.
pub(crate) fn step(code: i32, registers: &mut Registers) -> bool {
    const IS_STEP: i32 = 2;
    if code != IS_STEP || registers[libc::REG_EFL as usize] & TRAP_FLAG == 0 {
        return false;
    }
    let write = write();
    if !write.step(registers) {
        // What was noted since then begins its own steps.
        if write.state != State::Noted {
            write.state = State::Idle;
        }
        stop(registers);
    }
    true
}

impl Piece {
    fn read(&mut self) {
        self.after = plain_values::read(self.address, self.len);
    }

    /// The bits for those of these bytes that it has.
    fn overlap(&self, from: usize, len: usize) -> u8 {
        let bit = |at: usize| {
            let is_in = at.checked_sub(from).is_some_and(|within| within < len);
            u8::from(is_in) << (at - self.address)
        };
        (self.address..self.address + self.len).fold(0, |bits, at| bits | bit(at))
    }

    fn is_complete(&self) -> bool {
        u32::from(self.written).count_ones() as usize == self.len
    }
}

impl Write {
    /// Looks at where the thread is now. Whether to go on.
    fn step(&mut self, registers: &Registers) -> bool {
        let instruction = registers[libc::REG_RIP as usize] as usize;
        let stack_pointer = registers[libc::REG_RSP as usize] as usize;
        self.n_instructions += 1;
        if self.state == State::Returning {
            if (instruction, stack_pointer) != (self.address, self.stack_pointer) {
                // A function of a library that comes back to this one may take its time there.
                let is_back = self.has_left && library::is_own_code(instruction);
                self.has_left |= !library::is_own_code(instruction);
                return !is_back && self.n_instructions < LONGEST_CALL;
            }
            if self.is_library {
                self.pieces[self.first..].iter_mut().for_each(Piece::read);
                return false;
            }
            self.state = State::Running;
            self.n_instructions = 0;
        }
        if self.state != State::Running {
            return false;
        }
        let pieces = &mut self.pieces[self.first..];
        for piece in pieces.iter_mut().filter(|piece| piece.next != 0) {
            piece.written |= std::mem::take(&mut piece.next);
            piece.read();
        }
        let is_complete = pieces.iter().all(Piece::is_complete);
        if !self.code.contains(&instruction) {
            self.is_away |= callbacks::is_read(instruction);
            return self.is_away && self.n_instructions < LONGEST_CALL;
        }
        if self.is_away && stack_pointer != self.stack_pointer {
            return self.n_instructions < LONGEST_CALL;
        }
        if std::mem::take(&mut self.is_away) {
            self.n_instructions = 0;
        }
        let is_over = is_complete
            || stack_pointer > self.stack_pointer
            || self.n_instructions > LONGEST_WINDOW;
        if !is_over {
            self.look_ahead(instruction, registers);
        }
        !is_over
    }

    /// Finds out which bytes the next instruction writes.
    fn look_ahead(&mut self, address: usize, registers: &Registers) {
        let Some(info) = &mut self.info else { return };
        let len = LONGEST_INSTRUCTION.min(self.code.end - address);
        // SAFETY: the thread is about to run it.
        let code = unsafe { std::slice::from_raw_parts(address as *const u8, len) };
        let next = Decoder::with_ip(64, code, address as u64, DecoderOptions::NONE).decode();
        for memory in info.info(&next).used_memory() {
            let is_write = matches!(
                memory.access(),
                OpAccess::Write
                    | OpAccess::ReadWrite
                    | OpAccess::CondWrite
                    | OpAccess::ReadCondWrite
            );
            let value = |register: Register, _: usize, _: usize| held(register, registers);
            let to = is_write.then(|| memory.virtual_address(0, value)).flatten();
            let Some(to) = to else { continue };
            let len = memory.memory_size().size();
            for piece in &mut self.pieces[self.first..] {
                piece.next |= piece.overlap(to as usize, len);
            }
        }
    }
}

/// What a register holds that an address is made of.
fn held(register: Register, registers: &Registers) -> Option<u64> {
    const GENERAL: [libc::c_int; 16] = [
        libc::REG_RAX,
        libc::REG_RCX,
        libc::REG_RDX,
        libc::REG_RBX,
        libc::REG_RSP,
        libc::REG_RBP,
        libc::REG_RSI,
        libc::REG_RDI,
        libc::REG_R8,
        libc::REG_R9,
        libc::REG_R10,
        libc::REG_R11,
        libc::REG_R12,
        libc::REG_R13,
        libc::REG_R14,
        libc::REG_R15,
    ];
    match register {
        Register::FS => Some(coroutine::thread_pointer() as u64),
        register if register.is_segment_register() => Some(0),
        register if register.is_gpr64() => {
            Some(registers[GENERAL[register.number()] as usize] as u64)
        }
        register if register.is_gpr32() => {
            let full = registers[GENERAL[register.number()] as usize] as u64;
            Some(full & u64::from(u32::MAX))
        }
        _ => None,
    }
}

/// Whether a debugger is told of our signals first.
fn is_traced() -> bool {
    let mut is_traced = false;
    coroutine::as_host(|| {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let tracer = status.lines().find_map(|line| line.strip_prefix("TracerPid:"));
        is_traced = tracer.is_some_and(|it| it.trim() != "0");
    });
    is_traced
}
