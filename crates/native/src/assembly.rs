//! Instructions of the program's own that no callback goes with: inline assembly, and functions
//! that were not instrumented.
//!
//! The command marks where they are when it compiles a program (`mazurka_asm`, see [`Marks`]).
//! Locked instructions, system calls and looks at the clock are found without a mark.
//! [`precompiled`] redirects them, and here is what becomes of each:
//!
//! - a load, a store, and what the processor does at once to memory are operations, sequentially
//!   consistent. One that reads and writes without a lock is two of them, and what others write in
//!   between is lost.
//! - a fence is one of the language.
//! - a system call is treated like the function `syscall`, and never made unseen.
//! - the clock is that of the thread, the same in every execution.
//! - what cannot be told, such as a copy of a string, ends the search with its place, unless it
//!   concerns the thread alone.
//!
//! What is constant is left alone, and so are variables of a function without callbacks that are on
//! its own stack and never shared. Loops of such
//! code are seen as others are (`spin`); their state is all registers, and the stack from the red
//! zone up.

use crate::coroutine;
use crate::disciplines::Adding;
use crate::heap;
use crate::io;
use crate::liveness::Registers;
use crate::machine::{self, Value};
use crate::names;
use crate::precompiled::{self, Frame};
use crate::process;
use crate::rust_mutex::{self, Access, Place};
use crate::spin::{self, Arrival};
use crate::syscall;
use iced_x86::{
    FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind, Register,
    UsedMemory,
};
use mazurka_core::{MemoryOrder, ObjectId, Operation};
use object::{Object, ObjectSection};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

const SECTION: &str = "mazurka_asm";
const RECORD_LEN: usize = 12;
/// What a record is about, as the command knows it.
const ASSEMBLY: i32 = 1;
const WITH_CALLBACKS: i32 = 3;

/// What a marked range is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    /// Inline assembly.
    Assembly,
    /// A function without a callback.
    Function,
}

/// Where marked instructions are, in the order of their addresses.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    ranges: Vec<(Range<usize>, Mark)>,
}

impl Marks {
    /// Reads the marks of the program, whose addresses begin at `base`.
    pub(crate) fn read(file: &object::File<'_>, base: usize) -> Self {
        let kept = records(file, base).into_iter().filter_map(|(range, kind)| match kind {
            ASSEMBLY => Some((range, Mark::Assembly)),
            WITH_CALLBACKS => None,
            _ => Some((range, Mark::Function)),
        });
        let mut ranges: Vec<(Range<usize>, Mark)> = kept.collect();
        // Assembly in a function without callbacks comes behind that, and counts.
        ranges.sort_unstable_by_key(|(range, mark)| (range.start, *mark == Mark::Assembly));
        Self { ranges }
    }

    /// What an instruction in a function is marked as.
    pub(crate) fn at(&self, address: usize) -> Option<Mark> {
        let before = self.ranges.partition_point(|(range, _)| range.start <= address);
        // At most one function is around it, and assembly does not nest.
        let near = self.ranges[..before].iter().rev();
        let mut around = near.take(MAX_BETWEEN).filter(|(range, _)| range.contains(&address));
        around.next().map(|(_, mark)| *mark)
    }

    /// Whether anything in a function is marked.
    pub(crate) fn touches(&self, function: &Range<usize>) -> bool {
        let before = self.ranges.partition_point(|(range, _)| range.start < function.end);
        self.ranges[..before].iter().rev().take(MAX_BETWEEN).any(|(it, _)| it.end > function.start)
    }
}

/// The functions of a file that the command has compiled, in the order of their addresses.
pub(crate) fn compiled(file: &object::File<'_>) -> Vec<Range<usize>> {
    let of_functions = records(file, 0).into_iter().filter(|(_, kind)| *kind != ASSEMBLY);
    let mut ranges: Vec<Range<usize>> = of_functions.map(|(range, _)| range).collect();
    ranges.sort_unstable_by_key(|range| range.start);
    ranges
}

/// The records of a file whose addresses begin at `base`: each a range and what it is.
fn records(file: &object::File<'_>, base: usize) -> Vec<(Range<usize>, i32)> {
    let section = file.section_by_name(SECTION);
    let Some((section, data)) = section.and_then(|it| Some((it.address(), it.data().ok()?))) else {
        return Vec::new();
    };
    let records = data.chunks_exact(RECORD_LEN).enumerate();
    let ranges = records.filter_map(|(idx, record)| {
        let word = |at: usize| {
            let bytes = record[at..at + 4].try_into().expect("a record has three words");
            i32::from_le_bytes(bytes)
        };
        let here = base + section as usize + idx * RECORD_LEN;
        let start = here.checked_add_signed(word(0) as isize)?;
        let len = usize::try_from(word(4)).ok().filter(|&len| len > 0)?;
        Some((start..start + len, word(8)))
    });
    ranges.collect()
}

/// No function has more pieces of assembly before an instruction than are looked at.
const MAX_BETWEEN: usize = 4096;

/// What is done instead of, or before, an instruction.
#[derive(Clone, Debug)]
pub(crate) enum Deed {
    /// It accesses memory. Where that is on the thread's own stack, a compiler may have put it
    /// there.
    Access {
        memory: UsedMemory,
        kind: Kind,
        may_be_local: bool,
    },
    Fence,
    Clock,
    System,
    /// It cannot be told what it does to this memory, or to anything if there is none.
    Unknown(Vec<UsedMemory>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Load,
    Store,
    /// Reads and writes at once.
    Update,
    /// Reads, and then writes.
    Unlocked,
}

impl Deed {
    /// Whether the instruction itself is not taken.
    pub(crate) fn replaces(&self) -> bool {
        matches!(self, Self::Clock | Self::System)
    }
}

/// What is to be done about an instruction.
pub(crate) fn deed(
    instruction: &Instruction,
    mark: Option<Mark>,
    has_frame: bool,
    info: &mut InstructionInfoFactory,
) -> Option<Deed> {
    use Mnemonic as M;
    match instruction.mnemonic() {
        M::Syscall | M::Sysenter => return Some(Deed::System),
        M::Rdtsc | M::Rdtscp => return Some(Deed::Clock),
        M::Int if instruction.immediate(0) == 0x80 => return Some(Deed::Unknown(Vec::new())),
        _ => {}
    }
    let is_locked = precompiled::is_locked(instruction);
    if mark.is_none() && !is_locked {
        return None;
    }
    match instruction.mnemonic() {
        M::Mfence | M::Sfence | M::Lfence => return Some(Deed::Fence),
        // They are about caches, and no thread can tell.
        M::Prefetch
        | M::Prefetchnta
        | M::Prefetcht0
        | M::Prefetcht1
        | M::Prefetcht2
        | M::Prefetchw
        | M::Clflush
        | M::Clflushopt
        | M::Clwb
        | M::Cldemote => return None,
        M::Xbegin | M::Rdrand | M::Rdseed | M::Rdpid | M::Rdpmc => {
            return Some(Deed::Unknown(Vec::new()));
        }
        _ => {}
    }
    if instruction.flow_control() != FlowControl::Next {
        return None;
    }
    let is_frame = |base: Register| base == Register::RSP || has_frame && base == Register::RBP;
    let is_looked_at = |memory: &&UsedMemory| {
        let is_own = matches!(memory.segment(), Register::FS | Register::GS)
            || mark != Some(Mark::Assembly) && !is_locked && is_frame(memory.base())
            || instruction.is_stack_instruction() && memory.base() == Register::RSP;
        memory.access() != OpAccess::NoMemAccess && !is_own
    };
    let used: Vec<UsedMemory> =
        info.info(instruction).used_memory().iter().filter(is_looked_at).copied().collect();
    let [memory] = used[..] else {
        return (!used.is_empty()).then_some(Deed::Unknown(used));
    };
    // One that says by a vector where it accesses memory does so anywhere.
    if memory.vsib_size() != 0 {
        return Some(Deed::Unknown(Vec::new()));
    }
    let is_possible = matches!(instruction.memory_size().size(), 1 | 2 | 4 | 8 | 16)
        && !instruction.is_string_instruction();
    let kind = match memory.access() {
        _ if !is_possible => return Some(Deed::Unknown(used)),
        _ if is_locked => Kind::Update,
        OpAccess::Read | OpAccess::CondRead => Kind::Load,
        OpAccess::Write => Kind::Store,
        OpAccess::ReadWrite | OpAccess::ReadCondWrite => Kind::Unlocked,
        _ => return Some(Deed::Unknown(used)),
    };
    Some(Deed::Access { memory, kind, may_be_local: mark == Some(Mark::Function) && !is_locked })
}

/// A thread at an instruction that accesses memory.
#[derive(Clone, Copy)]
struct Here<'a> {
    instruction: &'a Instruction,
    live: Registers,
    frame: &'a Frame,
}

impl Here<'_> {
    /// How many bytes are accessed.
    fn len(&self) -> usize {
        self.instruction.memory_size().size()
    }
}

/// The running thread comes to such an instruction. Before it, the `live` registers matter.
pub(crate) fn meet(deed: &Deed, instruction: &Instruction, live: Registers, frame: &mut Frame) {
    match deed {
        Deed::Access { memory, kind, may_be_local } => {
            if let Some(address) = address(memory, instruction, frame) {
                let here = Here { instruction, live, frame };
                access(address, *kind, *may_be_local, &here);
            }
        }
        Deed::Fence => machine::with(|machine| {
            if machine.is_concurrent() {
                machine.watch.fence(MemoryOrder::default());
            }
        }),
        Deed::Clock => {
            let time = process::tick();
            frame.set_register(Register::RAX, time as u32 as usize);
            frame.set_register(Register::RDX, (time >> 32) as usize);
            if instruction.mnemonic() == Mnemonic::Rdtscp {
                frame.set_register(Register::RCX, 0);
            }
        }
        Deed::System => {
            let arguments = arguments(frame);
            spin::spoil();
            // SAFETY: the program wanted to call just this.
            let answer = unsafe { syscall::raw(frame.register(Register::RAX) as i64, arguments) };
            frame.set_register(Register::RAX, answer as usize);
        }
        Deed::Unknown(used) => {
            let addresses: Vec<usize> =
                used.iter().filter_map(|memory| address(memory, instruction, frame)).collect();
            let concerns = |machine: &mut machine::Machine| {
                machine.is_concurrent()
                    && (used.is_empty() || addresses.iter().any(|&it| is_shared(machine, it, 1)))
            };
            if machine::with(concerns) {
                let name = format!("{:?}", instruction.mnemonic()).to_lowercase();
                io::refuse_always(
                    &format!("the instruction `{name}`"),
                    "it is not known what it does to memory that threads share",
                );
            }
            spin::spoil();
        }
    }
}

/// Where an instruction accesses memory.
fn address(memory: &UsedMemory, instruction: &Instruction, frame: &Frame) -> Option<usize> {
    use Mnemonic as M;
    let register = |register, _, _| Some(frame.register(register) as u64);
    let address = memory.virtual_address(0, register)? as usize;
    let is_of_bits = matches!(instruction.mnemonic(), M::Bt | M::Bts | M::Btr | M::Btc);
    if !is_of_bits || instruction.op1_kind() != OpKind::Register {
        return Some(address);
    }
    // A register may number any bit behind the address, or before it.
    let len = instruction.memory_size().size();
    let number = narrow_signed(frame.register(instruction.op1_register()), len);
    Some(address.wrapping_add_signed(number.div_euclid(8 * len as isize) * len as isize))
}

fn narrow_signed(value: usize, len: usize) -> isize {
    let unused = usize::BITS - 8 * len.min(8) as u32;
    (value << unused) as isize >> unused
}

/// Whether others may access memory, too.
fn is_shared(machine: &mut machine::Machine, address: usize, len: usize) -> bool {
    !machine.is_own(address, len)
        && (heap::place(address).is_some() || machine.is_variable(address))
}

/// Whether the running thread has loaded the same word of its stack again and again in a function
/// without callbacks. What the compiler has put there changes meanwhile; who waits for another
/// thread to change it has to be seen.
fn comes_back(instruction: &Instruction, address: usize) -> bool {
    /// The instruction, the address, and how often they were the last.
    static LAST: [AtomicUsize; 3] = [const { AtomicUsize::new(0) }; 3];
    const OFTEN: usize = 100;
    let [ip, place, count] = &LAST;
    let now = instruction.ip() as usize;
    let is_same =
        ip.swap(now, Ordering::Relaxed) == now && place.swap(address, Ordering::Relaxed) == address;
    let n_times = if is_same { count.load(Ordering::Relaxed) + 1 } else { 0 };
    count.store(n_times, Ordering::Relaxed);
    n_times > OFTEN
}

/// The running thread accesses memory.
fn access(address: usize, kind: Kind, may_be_local: bool, here: &Here<'_>) {
    let len = here.len();
    let is_own_stack = coroutine::is_own_stack(address);
    // As with other atomics, what is on the own stack is seen before anybody else has come to it.
    let is_seen = is_own_stack && (!may_be_local || comes_back(here.instruction, address))
        || machine::with(|machine| is_shared(machine, address, len));
    if !is_seen {
        if kind != Kind::Load && !is_own_stack {
            spin::spoil();
        }
        return;
    }
    note_first();
    match kind {
        Kind::Load => take(address, here, Operation::Load, false),
        Kind::Store => take(address, here, Operation::Store, true),
        Kind::Update => update(address, here),
        Kind::Unlocked => {
            let bytes = len.min(size_of::<u128>());
            take(address, here, Operation::Load, false);
            let before = spin::load(address, bytes as u8);
            // It comes here twice, and goes round no loop.
            spin::spoil();
            take(address, here, Operation::Store, true);
            // It computes with what it has read, whatever others have written since.
            // SAFETY: the instruction is about to write just this, and no other thread runs.
            unsafe {
                let from = before.to_le_bytes();
                std::ptr::copy_nonoverlapping(from.as_ptr(), address as *mut u8, bytes);
            }
            spin::spoil();
        }
    }
}

/// Notes where the first access of such code is, for the verdict.
fn note_first() {
    let is_noted =
        machine::with(|machine| machine.first_assembly.is_some() || !machine.is_concurrent());
    if !is_noted {
        let stack = names::backtrace();
        machine::with(|machine| machine.first_assembly = Some(stack));
    }
}

/// Takes an access that only reads or only writes, when its turn has come.
fn take(address: usize, here: &Here<'_>, operation: fn(ObjectId) -> Operation, writes: bool) {
    let len = here.len();
    let arrival = here.frame.arrival(here.live, !writes);
    rust_mutex::role(address, len, Access::Other, Place::default());
    let is_announced = machine::visible_read(&arrival, address, len as u8, operation);
    let old = spin::load(address, len as u8);
    let new = writes.then(|| changed(here, old)).flatten();
    conclude(address, here, &arrival, is_announced, Change { old, new, writes });
}

/// The same for one that does both at once.
fn update(address: usize, here: &Here<'_>) {
    let Here { instruction, live, frame } = *here;
    let len = here.len();
    let arrival = frame.arrival(live, false);
    rust_mutex::role(address, len, Access::Other, Place::default());
    let added = precompiled::added(instruction, frame);
    let adding = added.and_then(|added| {
        Adding::at(address, added, precompiled::way_on(instruction, frame, added))
    });
    let operation = |object| machine::with(|machine| machine.disciplines.operation(object, adding));
    let announce = || machine::visible_read(&arrival, address, len as u8, operation);
    let is_announced = match precompiled::compared(instruction, frame, address) {
        Some(comparison) => machine::compare(comparison, announce),
        None => announce(),
    };
    let old = spin::load(address, len as u8);
    if is_announced && let Some(adding) = adding {
        adding.note(old);
    }
    let writes = precompiled::succeeds(instruction, frame, address);
    let new = if writes { changed(here, old) } else { Some(old) };
    conclude(address, here, &arrival, is_announced, Change { old, new, writes });
    if is_announced && !writes {
        machine::fail_try();
    }
}

/// What an access finds and what it leaves, if that is known.
#[derive(Clone, Copy)]
struct Change {
    old: u128,
    new: Option<u128>,
    writes: bool,
}

/// The access is made next.
fn conclude(
    address: usize,
    here: &Here<'_>,
    arrival: &Arrival,
    is_announced: bool,
    change: Change,
) {
    let (Change { old, new, writes }, len) = (change, here.len());
    if !writes || new == Some(old) {
        machine::note_read(arrival, address, len as u8);
    } else {
        spin::spoil();
    }
    if is_announced {
        machine::with(|machine| {
            machine.value = match new {
                Some(new) if writes => Value::Changed(len, old, new),
                _ if writes => Value::None,
                _ => Value::Read(len, old),
            };
            machine.watch.operate(address, len, writes);
        });
    }
}

/// What an instruction that writes makes of a value in memory, if that is easily told.
fn changed(here: &Here<'_>, old: u128) -> Option<u128> {
    use Mnemonic as M;
    let Here { instruction, frame, .. } = *here;
    let len = here.len();
    let mask = if len >= 16 { u128::MAX } else { (1 << (8 * len)) - 1 };
    let operand = |idx: u32| match instruction.op_kind(idx) {
        OpKind::Register => Some(frame.narrow(instruction.op_register(idx))? as u128),
        OpKind::Memory => None,
        _ if idx < instruction.op_count() => Some(instruction.immediate(idx) as u128),
        _ => None,
    };
    // A bit is told by its number, of which only the lower part counts.
    let bit = || operand(1).map(|number| 1u128 << (number % (8 * len as u128)));
    let new = match instruction.mnemonic() {
        M::Mov | M::Cmpxchg => operand(1)?,
        M::Xchg => operand(0).or_else(|| operand(1))?,
        M::Add | M::Xadd => old.wrapping_add(operand(1)?),
        M::Sub => old.wrapping_sub(operand(1)?),
        M::Inc => old.wrapping_add(1),
        M::Dec => old.wrapping_sub(1),
        M::Neg => old.wrapping_neg(),
        M::Not => !old,
        M::And => old & operand(1)?,
        M::Or => old | operand(1)?,
        M::Xor => old ^ operand(1)?,
        M::Bts => old | bit()?,
        M::Btr => old & !bit()?,
        M::Btc => old ^ bit()?,
        _ => return None,
    };
    Some(new & mask)
}

/// A thread that is not explored comes to an instruction that is not taken itself.
pub(crate) fn meet_elsewhere(deed: &Deed, frame: &mut Frame) {
    let arguments = arguments(frame);
    match deed {
        Deed::System => {
            // SAFETY: the thread wanted to call just this.
            let answer =
                unsafe { syscall::kernel(frame.register(Register::RAX) as i64, arguments) };
            frame.set_register(Register::RAX, answer as usize);
        }
        _ => {
            // SAFETY: every processor that this runs on has a clock.
            let time = unsafe { std::arch::x86_64::_rdtsc() };
            frame.set_register(Register::RAX, time as u32 as usize);
            frame.set_register(Register::RDX, (time >> 32) as usize);
        }
    }
}

/// Those of a system call.
fn arguments(frame: &Frame) -> [usize; 6] {
    use Register as R;
    [R::RDI, R::RSI, R::RDX, R::R10, R::R8, R::R9].map(|register| frame.register(register))
}
