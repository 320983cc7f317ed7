//! Code that was compiled without the instrumentation, such as Rust's standard library: its atomic
//! operations are found in the machine code and made operations of the explorer, too.
//!
//! What the program calls of a precompiled library may synchronise: the slow path of a mutex swaps
//! its word, a condition variable gives a mutex back, a barrier does both. Taken as a part of the
//! step before, that would be invisible to the search, which would then miss interleavings, and to
//! the detection of data races, which would then see some that are none. So before the first
//! execution the functions of the executable are decoded, and these instructions are redirected
//! through [`meet`]:
//!
//! - every locked instruction and every exchange with memory. Instrumented code has none left, so
//!   each belongs to precompiled code. It becomes a read-modify-write of its address.
//! - in precompiled functions of `std`, every load and store that is not of the stack. Machine code
//!   does not tell an atomic one from a plain one; it is taken for atomic if its address is known
//!   as that of an atomic variable or futex. Should an address become known as one after such an
//!   access was let pass, the search begins again. A look at a futex before a wait for it is a part
//!   of that ([`before_wait`]).
//! - elsewhere, every `pause`, which is how a loop says that it waits ([`spin`]), and what
//!   `assembly` says: locked instructions, system calls, and whatever the command has marked.
//!
//! A load of what the operation in progress has just touched is a part of that operation: it sees
//! the same value, as if no other thread had come in between. So a spin loop in front of a futex
//! comes to its end in one step; that its hopes might have been fulfilled is covered by the thread
//! being later there.
//!
//! Output and panics of `std` are no steps, but where the program holds one of their locks itself,
//! which `std_locks` finds out.
//!
//! The orders that the source has asked for are lost, so memory is ordered as the processor does:
//! a load acquires, a store releases, a locked instruction does both. The verdict says that this
//! was taken for granted. So it is with what the instrumentation leaves to the processor, such as
//! the maximum of an atomic and a number.
//!
//! An instruction is replaced by a jump. If it is too short for one, those behind it move, too; if
//! one of these may be jumped to, it is replaced by a trap, whose handler goes the same way and
//! takes some hundred times as long. The way leads over a piece of code, which calls [`meet`] with
//! all registers saved, takes the instruction, does the same for those that have moved with it, and
//! goes back.

use crate::assembly::{self, Marks};
use crate::before_wait::{self, Expected};
use crate::coroutine;
use crate::disciplines::{Adding, signed};
use crate::futex;
use crate::image;
use crate::library::callers;
use crate::liveness::{self, Registers};
use crate::machine;
use crate::names;
use crate::results::{Origin, Way};
use crate::rust_mutex::{self, Access, Exit, Place, Role};
use crate::rust_runtime;
use crate::spin::{self, Arrival};
use crate::std_locks::{self, Part};
use crate::syscall;
use crate::thread::Comparison;
use crate::trusted::{self, Row, entry};
use iced_x86::{
    BlockEncoder, BlockEncoderOptions, Code, Decoder, DecoderOptions, FlowControl, Instruction,
    InstructionBlock, InstructionInfoFactory, Mnemonic, OpAccess, OpKind, Register, UsedMemory,
};
use mazurka_core::Operation;
use object::{Object, ObjectSymbol, SymbolKind};
use rustc_hash::{FxHashMap, FxHashSet};
use std::arch::global_asm;
use std::ffi::{CStr, c_void};
use std::ops::Range;
use std::sync::OnceLock;

/// Parts of the names, as compilers write them, of functions whose loads and stores are looked at:
/// those of `std`, or made for it of what is generic, and of `Arc`. Any of them may access an
/// atomic: what a thread does next depends on a load that is not looked at, and the search would
/// not know on what.
const LOOKED_AT: [&str; 2] = ["_3std", "5alloc4sync"];
/// The same for functions that are left alone: Rust's test harness, which runs on one thread, and
/// what `std` does for output, panics and its own start and end. All of that stays a part of the
/// step in which it happens: it is not useful to explore every order of two lines that are printed.
const LEFT_ALONE: [&str; 13] = [
    "_4test",
    "3std2io",
    "3std2rt",
    "3std3env",
    "3std3sys3env",
    "3std3sys3pal",
    "3std3sys4exit",
    "3std3sys9backtrace",
    "3std9panicking",
    "3std9backtrace",
    "3std12backtrace_rs",
    "_5gimli",
    "_9addr2line",
];
/// The same for functions that are not left alone after all: standard input, which the library does
/// not use itself.
const INPUT: [&str; 4] = ["5stdio5stdin", "5Stdin4", "8StdinRaw", "9StdinLock"];
/// A part of the names of functions that touch, beside what they call, only what belongs to the
/// running thread: the state and the value of a thread-local variable. Their locked instructions
/// alone are met: what the value refers to may be shared. Every thread comes there at its end, and
/// their stores are too short for a jump.
const OWN_STORAGE: &str = "3std3sys12thread_local6native";
/// An instruction that no processor knows. Breakpoints are for debuggers.
const TRAP: [u8; 2] = [0x0f, 0x0b];
/// In place of an instruction of one byte.
const SHORT_TRAP: u8 = 0xcc;
const JUMP: u8 = 0xe9;
const JUMP_LEN: usize = 5;
/// More than any piece of code needs.
const PIECE_LEN: usize = 512;
/// What a function may use below its stack pointer.
const RED_ZONE: usize = 128;

/// An instruction that was redirected.
struct Site {
    instruction: Instruction,
    deed: Deed,
    /// The registers that matter before it, where that is asked for.
    live: Registers,
    /// Of a function that may be left alone: whether it is.
    part: Option<Part>,
    /// Where its way begins.
    piece: usize,
}

/// What is to be done when a thread comes to an instruction.
#[derive(Clone, Debug)]
enum Deed {
    /// A loop says that it waits.
    Pause,
    /// Code of `std` accesses memory.
    Access(UsedMemory, Kind),
    /// Code of the program's own does something that no callback goes with.
    Assembly(assembly::Deed),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Load,
    /// A look at a futex before a wait, and what is expected there.
    Look(Expected),
    Store,
    Update,
}

/// Where the processor's own instruction would save the registers of vectors.
const SAVED_LEN: usize = 512;
const VECTORS_OFFSET: usize = 160;
/// The number of that register.
const STACK_POINTER: usize = 4;

/// Where code was diverted, in order: what is behind the start of such a place was moved.
static MOVED: OnceLock<Vec<Range<usize>>> = OnceLock::new();

/// By the address one beyond the beginning of the instruction: see [`Frame::site`].
static SITES: OnceLock<FxHashMap<usize, Site>> = OnceLock::new();

/// What is on the stack when [`meet`] is called.
#[repr(C)]
pub(crate) struct Frame {
    /// Register `n` of the processor's numbering stands at `15 - n`, without the stack pointer.
    registers: [usize; 15],
    flags: usize,
    /// Where the piece goes on.
    _next: usize,
    /// For the unwinder, this is where the call came from: into the instruction.
    site: usize,
}

impl Frame {
    pub(crate) fn register(&self, register: Register) -> usize {
        let number = register.full_register().number();
        if register.is_segment_register() {
            return 0;
        }
        if register.full_register() == Register::RSP {
            return std::ptr::from_ref(self) as usize + size_of::<Self>() + RED_ZONE;
        }
        self.registers[slot(number)]
    }

    /// What is in a part of a register, or in all of it; nothing if it is none of those here.
    pub(crate) fn narrow(&self, register: Register) -> Option<u64> {
        if !register.is_gpr() {
            return None;
        }
        let value = self.register(register) as u64;
        Some(match register.size() {
            1 if matches!(register, Register::AH | Register::BH | Register::CH | Register::DH) => {
                value >> 8 & 0xff
            }
            8 => value,
            len => value & ((1 << (8 * len)) - 1),
        })
    }

    /// Changes what a register holds when the program goes on.
    pub(crate) fn set_register(&mut self, register: Register, value: usize) {
        self.registers[slot(register.number())] = value;
    }

    /// How the thread has come here, for loops: with what is in the registers that matter.
    pub(crate) fn arrival(&self, live: Registers, is_load: bool) -> Arrival {
        const STATUS: usize = 0x8d5;
        let saved = (std::ptr::from_ref(self) as usize & !15) - SAVED_LEN;
        // SAFETY: they were saved below the frame, at the next address that is good for that.
        let vectors = unsafe { &*((saved + VECTORS_OFFSET) as *const [[usize; 2]; 16]) };
        let general = live.general().filter(|&number| number != STACK_POINTER);
        let general = general.map(|number| self.registers[slot(number)]);
        let vectors = live.vectors().flat_map(|number| vectors[number]);
        let flags = live.has_flags().then_some(self.flags & STATUS);
        let words = general.chain(vectors).chain(flags);
        // Below the stack pointer there is something only in a function that calls no other.
        let stack_pointer = self.register(Register::RSP);
        let used_from = stack_pointer - if live.has_red_zone() { RED_ZONE } else { 0 };
        Arrival::at(words, &raw const self.site as usize, used_from, is_load)
    }
}

/// Where a register is among those of a frame. The stack pointer was not saved.
fn slot(number: usize) -> usize {
    14 - if number < STACK_POINTER { number } else { number - 1 }
}

/// Redirects the atomic operations of precompiled code. `main` is where that function of the
/// program is.
pub(crate) fn redirect(main: usize) -> Result<(), String> {
    let file = object::File::parse(image::file()?).map_err(|error| error.to_string())?;
    let functions: Vec<_> = file
        .symbols()
        .filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.size() > 0)
        .collect();
    let named_main = functions.iter().find(|symbol| symbol.name() == Ok("main"));
    let Some(named_main) = named_main else { return Ok(()) };
    let base = main - named_main.address() as usize;
    let marks = Marks::read(&file, base);
    let mut finder = Finder {
        info: InstructionInfoFactory::new(),
        callbacks: FxHashMap::default(),
        entries: entries_between(&functions, base),
        marks,
    };
    let mut found = FxHashMap::default();
    let mut parts: Vec<(Range<usize>, Part)> = Vec::new();
    for function in &functions {
        let name = function.name().unwrap_or_default();
        rust_mutex::note_function(name, base + function.address() as usize);
        rust_runtime::note_function(name, base + function.address() as usize);
        let row = trusted::row_of(name);
        let start = base + function.address() as usize;
        let is_left_alone = is_left_alone(name);
        let part = is_left_alone.then(|| std_locks::part_of(name)).flatten();
        if is_left_alone {
            let code = start..start + function.size() as usize;
            callers::leave_alone(code.clone());
            parts.extend(part.map(|part| (code, part)));
            if row.is_none() && part.is_none() {
                continue;
            }
        }
        // SAFETY: the symbol table says that this is a function of the program, which is loaded.
        let code =
            unsafe { std::slice::from_raw_parts(start as *const u8, function.size() as usize) };
        let looked_at = LOOKED_AT.iter().any(|part| name.contains(part));
        let attention = match () {
            () if is_left_alone => match part {
                Some(part) if part.is_locked_only() => Attention::Locked,
                Some(_) => Attention::All,
                None => Attention::None,
            },
            () if name.contains(OWN_STORAGE) => Attention::Locked,
            () => Attention::All,
        };
        finder.look(start, code, looked_at, attention, row, &mut found);
    }
    callers::settle();
    parts.sort_by_key(|(code, _)| code.start);
    let part_at = |at: usize| {
        let behind = parts.partition_point(|(code, _)| code.start <= at);
        let (code, part) = parts.get(behind.checked_sub(1)?)?;
        code.contains(&at).then_some(*part)
    };
    if found.is_empty() {
        return Ok(());
    }
    let pieces =
        reserve_near(base, found.len() * PIECE_LEN).ok_or("no address space near the program")?;
    let pages = pages_of(&found);
    // What is behind an instruction is looked at before it is moved.
    let swaps = found
        .values()
        .flat_map(|redirected| &redirected.moved)
        .filter(|moved| moved.deed.is_some() && moved.instruction.mnemonic() == Mnemonic::Cmpxchg);
    let exits: Vec<(usize, Exit)> = swaps
        .map(|moved| moved.instruction.next_ip() as usize)
        .map(|behind| (behind, Exit::behind(behind)))
        .collect();
    machine::with(|machine| {
        exits.into_iter().for_each(|(behind, exit)| machine.rust_mutexes.note_exit(behind, exit));
    });
    // SAFETY: nothing of the program runs, and no code of ours is in these pages.
    unsafe { libc::mprotect(pages.0, pages.1, libc::PROT_READ | libc::PROT_WRITE) };
    let mut sites = FxHashMap::default();
    let mut moved: Vec<Range<usize>> = found.iter().map(|(&at, it)| at..at + it.len()).collect();
    moved.sort_unstable_by_key(|range| range.start);
    for (idx, (at, redirected)) in found.into_iter().enumerate() {
        let piece = pieces + idx * PIECE_LEN;
        let ways = write_piece(piece, &redirected)?;
        divert(at, redirected.len(), piece);
        for (Moved { instruction, deed, live }, way) in redirected.moved.into_iter().zip(ways) {
            if let Some(deed) = deed {
                let at = instruction.ip() as usize;
                let part = part_at(at);
                sites.insert(at + 1, Site { instruction, deed, live, part, piece: way });
            }
        }
    }
    // SAFETY: as above.
    unsafe { libc::mprotect(pages.0, pages.1, libc::PROT_READ | libc::PROT_EXEC) };
    if SITES.set(sites).is_err() || MOVED.set(moved).is_err() {
        return Err("the program was redirected before".to_owned());
    }
    Ok(())
}

/// Whether a function is left alone, by its name.
fn is_left_alone(name: &str) -> bool {
    // At the end stands the crate that has made a copy of a generic function, which the program
    // then uses, too: dropping what belongs to a thread, for instance.
    let made_by = LEFT_ALONE.iter().find_map(|part| name.strip_suffix(part));
    LEFT_ALONE.iter().any(|part| made_by.unwrap_or(name).contains(part))
        && !INPUT.iter().any(|part| name.contains(part))
}

/// The pages from the first to the last of these instructions.
fn pages_of(found: &Found) -> (*mut c_void, usize) {
    let first = found.keys().min().map_or(0, |at| at & !4095);
    let end = found.iter().map(|(at, it)| at + it.len()).max().unwrap_or(0);
    (first as *mut c_void, end.next_multiple_of(4096) - first)
}

/// Whether there was anything to redirect.
pub(crate) fn is_redirected() -> bool {
    SITES.get().is_some()
}

/// Where to go on after a trap at an address, if it is one of ours.
pub(crate) fn way(trap: usize) -> Option<usize> {
    SITES.get()?.get(&(trap + 1)).map(|site| site.piece)
}

/// Whether the instruction at an address was moved with one before it, and is run elsewhere.
pub(crate) fn is_moved(address: usize) -> bool {
    let Some(moved) = MOVED.get() else { return false };
    let behind = moved.partition_point(|range| range.start < address);
    behind.checked_sub(1).is_some_and(|idx| address < moved[idx].end)
}

/// Whether an instruction was redirected, and then whether it only pauses.
pub(crate) fn is_redirected_pause(address: usize) -> Option<bool> {
    let site = SITES.get()?.get(&(address + 1))?;
    Some(matches!(site.deed, Deed::Pause))
}

/// Which instructions of a function are met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Attention {
    All,
    /// Those that the processor takes at once.
    Locked,
    None,
}

/// Decodes functions.
struct Finder {
    info: InstructionInfoFactory,
    marks: Marks,
    /// Where functions that were divided jump to in their other parts.
    entries: FxHashSet<u64>,
    /// What is called through a slot of the loader, if it is a callback.
    callbacks: FxHashMap<usize, Option<Callback>>,
}

/// A callback of the instrumentation, or what stands for copying memory.
#[derive(Clone, Copy, Debug)]
struct Callback {
    n_arguments: usize,
    /// Whether the linker has put it in the place of a function of the C library, so that code
    /// without the instrumentation calls it, too.
    is_wrapped: bool,
}

/// By the address of the instruction.
type Found = FxHashMap<usize, Redirected>;

/// An instruction to redirect, and those behind it that make room for a jump, if any may be moved.
struct Redirected {
    moved: Vec<Moved>,
    /// What is known of the function, if this is its entry.
    row: Option<&'static Row>,
}

struct Moved {
    instruction: Instruction,
    /// What it does, if it has to be met: always so for the first.
    deed: Option<Deed>,
    live: Registers,
}

impl Redirected {
    fn len(&self) -> usize {
        self.moved.iter().map(|moved| moved.instruction.len()).sum()
    }
}

impl Finder {
    fn look(
        &mut self,
        start: usize,
        code: &[u8],
        looked_at: bool,
        attention: Attention,
        row: Option<&'static Row>,
        found: &mut Found,
    ) {
        let decoder = Decoder::with_ip(64, code, start as u64, DecoderOptions::NONE);
        let all: Vec<Instruction> = decoder.into_iter().collect();
        let is_instrumented =
            looked_at && all.iter().any(|instruction| self.is_of_instrumentation(instruction));
        let has_frame = all.iter().any(sets_frame);
        let is_marked = self.marks.touches(&(start..start + code.len()));
        // Beside the callback for a load of 16 bytes clang leaves the load, which is a locked
        // instruction.
        let is_wide = |it: &&Instruction| is_locked(it) && it.memory_size().size() == 16;
        let has_left_overs = all.iter().any(|it| is_wide(&it))
            && all.iter().any(|it| self.callback(it).is_some_and(|it| it.n_arguments == OF_WIDE));
        let mut own = Vec::new();
        for (idx, instruction) in all.iter().enumerate() {
            if attention == Attention::None {
                break;
            }
            if !looked_at && instruction.mnemonic() == Mnemonic::Pause {
                own.push((idx, Deed::Pause));
                continue;
            }
            let is_locked = is_locked(instruction);
            let is_std = looked_at && !matches!(instruction.mnemonic(), Mnemonic::Syscall);
            if !is_std {
                let mark = is_marked.then(|| self.marks.at(instruction.ip() as usize)).flatten();
                if mark.is_none() && has_left_overs && is_wide(&instruction) {
                    continue;
                }
                let deed = assembly::deed(instruction, mark, has_frame, &mut self.info);
                own.extend(deed.map(|deed| (idx, Deed::Assembly(deed))));
                continue;
            }
            if !is_locked && (is_instrumented || attention == Attention::Locked) {
                continue;
            }
            if let Some((memory, access)) = self.access(instruction) {
                let kind = match access {
                    _ if is_locked => Kind::Update,
                    _ if has_frame && memory.base() == Register::RBP => continue,
                    OpAccess::Read => before_wait::expected(&all, idx, reads_slot_of_system)
                        .map_or(Kind::Load, Kind::Look),
                    OpAccess::Write => Kind::Store,
                    _ => continue,
                };
                own.push((idx, Deed::Access(memory, kind)));
            }
        }
        if own.is_empty() && row.is_none() {
            return;
        }
        let is_assembly = own.iter().any(|(_, deed)| matches!(deed, Deed::Assembly(_)));
        let live = if is_assembly { self.live(&all) } else { Vec::new() };
        let mut fixed = targets(&all, start..start + code.len(), looked_at);
        let range = start as u64..(start + code.len()) as u64;
        fixed.extend(self.entries.iter().copied().filter(|entry| range.contains(entry)));
        let all_row = row;
        let mut own: Vec<(usize, Option<Deed>)> =
            own.into_iter().map(|(idx, deed)| (idx, Some(deed))).collect();
        if row.is_some() && own.first().is_none_or(|&(idx, _)| idx > 0) && !all.is_empty() {
            own.insert(0, (0, None));
        }
        let mut own = own.into_iter().peekable();
        while let Some((idx, deed)) = own.next() {
            let is_entry = idx == 0 && row.is_some();
            let n_more = n_movable(&all[idx..], &fixed, is_entry);
            let live_at = |idx: usize| live.get(idx).copied().unwrap_or_default();
            let len: usize = all[idx..=idx + n_more].iter().map(Instruction::len).sum();
            // There is no trap for the entry of a function.
            let row = row.filter(|_| is_entry && len >= JUMP_LEN);
            if is_entry && row.is_none() {
                trusted::note_unhooked(all_row);
            }
            if deed.is_none() && row.is_none() {
                continue;
            }
            let first = Moved { instruction: all[idx], deed, live: live_at(idx) };
            let mut moved = vec![first];
            for (idx, &instruction) in all.iter().enumerate().skip(idx + 1).take(n_more) {
                let deed = own.next_if(|(other, _)| *other == idx).and_then(|(_, deed)| deed);
                moved.push(Moved { instruction, deed, live: live_at(idx) });
            }
            found.insert(all[idx].ip() as usize, Redirected { moved, row });
        }
    }

    /// The one access to memory that is not of the stack.
    fn access(&mut self, instruction: &Instruction) -> Option<(UsedMemory, OpAccess)> {
        if instruction.flow_control() != FlowControl::Next
            || instruction.is_stack_instruction()
            || instruction.len() < TRAP.len()
        {
            return None;
        }
        let [memory] = self.info.info(instruction).used_memory() else { return None };
        let is_local = matches!(memory.segment(), Register::FS | Register::GS)
            || memory.base() == Register::RSP;
        // Wider ones are vectors, which nothing atomic is.
        let is_scalar = matches!(instruction.memory_size().size(), 1 | 2 | 4 | 8);
        (!is_local && is_scalar).then(|| (*memory, memory.access()))
    }

    /// The registers that matter before each instruction of a function.
    fn live(&mut self, all: &[Instruction]) -> Vec<Registers> {
        let n_arguments: FxHashMap<u64, usize> =
            all.iter().filter_map(|it| Some((it.ip(), self.callback(it)?.n_arguments))).collect();
        liveness::before(all, &mut self.info, |it| n_arguments.get(&it.ip()).copied())
    }

    /// Whether an instruction calls the instrumentation, as only code does that has it.
    fn is_of_instrumentation(&mut self, instruction: &Instruction) -> bool {
        self.callback(instruction).is_some_and(|it| !it.is_wrapped)
    }

    /// What an instruction calls, if that is a callback.
    fn callback(&mut self, instruction: &Instruction) -> Option<Callback> {
        let slot = match instruction.flow_control() {
            FlowControl::IndirectCall if instruction.is_ip_rel_memory_operand() => {
                instruction.ip_rel_memory_address() as usize
            }
            // A system call is a call, too, and leads nowhere.
            FlowControl::Call if instruction.is_call_near() => {
                slot_of_stub(instruction.near_branch_target() as usize)?
            }
            _ => return None,
        };
        *self.callbacks.entry(slot).or_insert_with(|| {
            // SAFETY: it is a slot of the loader, and bound, as programs for us are linked.
            let target = unsafe { *(slot as *const usize) };
            Callback::at(target)
        })
    }
}

/// Whether the processor takes an instruction at once, as others see it.
pub(crate) fn is_locked(instruction: &Instruction) -> bool {
    let is_exchange = instruction.mnemonic() == Mnemonic::Xchg;
    instruction.has_lock_prefix()
        || is_exchange && instruction.op_kinds().any(|kind| kind == OpKind::Memory)
}

/// Where functions jump to in parts of theirs that the compiler has put elsewhere, and from there
/// back.
fn entries_between(functions: &[object::Symbol<'_, '_>], base: usize) -> FxHashSet<u64> {
    const COLD: &str = ".cold";
    let name = |symbol: &object::Symbol<'_, '_>| symbol.name().unwrap_or_default().to_owned();
    let divided: FxHashSet<String> = functions
        .iter()
        .filter_map(|symbol| name(symbol).find(COLD).map(|end| name(symbol)[..end].to_owned()))
        .collect();
    let is_divided = |symbol: &&object::Symbol<'_, '_>| {
        let name = name(symbol);
        divided.contains(&name[..name.find(COLD).unwrap_or(name.len())])
    };
    let mut entries = FxHashSet::default();
    for function in functions.iter().filter(is_divided) {
        let start = base + function.address() as usize;
        // SAFETY: as where functions are looked at.
        let code =
            unsafe { std::slice::from_raw_parts(start as *const u8, function.size() as usize) };
        let decoder = Decoder::with_ip(64, code, start as u64, DecoderOptions::NONE);
        let jumps = decoder.into_iter().filter(|it| {
            let flow = it.flow_control();
            matches!(flow, FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch)
        });
        entries.extend(jumps.map(|it| it.near_branch_target()));
    }
    entries
}

/// Whether an instruction makes a register the pointer to the frame of its function, as all of
/// `std` does: what is accessed by it is on the stack.
fn sets_frame(instruction: &Instruction) -> bool {
    instruction.mnemonic() == Mnemonic::Mov
        && instruction.op0_register() == Register::RBP
        && instruction.op1_register() == Register::RSP
}

/// Where a function jumps to within itself; everywhere, if that is not known. Of a function of
/// `std`, it is known what its jumps through tables look like.
fn targets(all: &[Instruction], function: Range<usize>, is_std: bool) -> FxHashSet<u64> {
    // One that ends with a call of another through a slot of the loader jumps there.
    let leaves = |it: &Instruction| {
        rust_mutex::slot_target(it).is_some_and(|target| !function.contains(&target))
    };
    let is_jump =
        |it: &Instruction| it.flow_control() == FlowControl::IndirectBranch && !leaves(it);
    let jumps = all.iter().enumerate().filter(|(_, it)| is_jump(it)).map(|(idx, _)| idx);
    let tables: Option<Vec<Vec<u64>>> =
        jumps.map(|idx| is_std.then(|| through_table(all, idx)).flatten()).collect();
    let direct = all.iter().filter_map(|instruction| match instruction.flow_control() {
        _ if tables.is_none() => Some(instruction.ip()),
        FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch => {
            Some(instruction.near_branch_target())
        }
        _ => None,
    });
    direct.chain(tables.iter().flatten().flatten().copied()).collect()
}

/// Where a jump by a register may lead to: it was read from a table just before, whose address some
/// instruction of the function has put into a register, and that begins with the distance from
/// there to another instruction of it.
fn through_table(all: &[Instruction], jump: usize) -> Option<Vec<u64>> {
    const NEAR: usize = 6;
    let before = all[..jump].iter().rev().take(NEAR);
    let read = before.clone().find(|it| {
        it.mnemonic() == Mnemonic::Movsxd
            && it.op0_register() == all[jump].op0_register()
            && it.memory_index_scale() == 4
    })?;
    let base = read.memory_base();
    let is_start = |target: &u64| all.binary_search_by_key(target, Instruction::ip).is_ok();
    let tables = all.iter().filter(|it| {
        it.mnemonic() == Mnemonic::Lea && it.op0_register() == base && it.is_ip_rel_memory_operand()
    });
    let tables: Vec<Vec<u64>> = tables
        .map(|it| entries(it.ip_rel_memory_address() as usize))
        .filter(|targets| targets.first().is_some_and(is_start))
        .collect();
    (!tables.is_empty()).then(|| tables.concat())
}

/// What the entries of a table lead to, if it is one: they are distances from where it begins.
/// Where it ends is not known; what is behind it does no harm, and no table is longer.
fn entries(table: usize) -> Vec<u64> {
    const MAX_ENTRIES: usize = 1024;
    let room = names::readable_from(table).unwrap_or(0);
    (0..MAX_ENTRIES.min(room / size_of::<i32>()))
        .map(|idx| {
            let entry = (table + idx * size_of::<i32>()) as *const i32;
            // SAFETY: it is within a segment of the program, which can be read.
            table.wrapping_add_signed(unsafe { entry.read_unaligned() } as isize) as u64
        })
        .collect()
}

/// How many instructions behind the first one have to be moved with it to make room for a jump; 0
/// if that is impossible. At the entry of a listed function, the last of them may be a call.
fn n_movable(from: &[Instruction], fixed: &FxHashSet<u64>, is_entry: bool) -> usize {
    let mut len = from[0].len();
    for (idx, instruction) in from.iter().enumerate().skip(1) {
        if len >= JUMP_LEN {
            return idx - 1;
        }
        // What is caught begins with taking its exception from this register, which it need not
        // test. It is not fallen into, as what is behind the entry of a function is.
        let is_fallen_into =
            is_entry && from[..idx].iter().all(|it| it.flow_control() == FlowControl::Next);
        let may_be_landing = !is_fallen_into
            && instruction.op_count() == 2
            && instruction.op1_register() == Register::RAX
            && instruction.mnemonic() != Mnemonic::Test;
        let is_plain = matches!(
            instruction.flow_control(),
            FlowControl::Next | FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch
        );
        let is_last_call =
            is_entry && is_movable_call(instruction) && len + instruction.len() >= JUMP_LEN;
        if fixed.contains(&instruction.ip()) || may_be_landing || !is_plain && !is_last_call {
            return 0;
        }
        len += instruction.len();
    }
    if len >= JUMP_LEN { from.len() - 1 } else { 0 }
}

/// Whether an instruction is a call that can be made from elsewhere.
fn is_movable_call(instruction: &Instruction) -> bool {
    match instruction.flow_control() {
        FlowControl::Call => instruction.is_call_near(),
        FlowControl::IndirectCall => instruction.is_ip_rel_memory_operand(),
        _ => false,
    }
}

/// The slot through which a stub of the linker jumps.
fn slot_of_stub(target: usize) -> Option<usize> {
    // SAFETY: the program calls it, so there is code.
    let code = unsafe { std::slice::from_raw_parts(target as *const u8, 16) };
    let mut decoder = Decoder::with_ip(64, code, target as u64, DecoderOptions::NONE);
    let mut first = decoder.decode();
    if first.mnemonic() == Mnemonic::Endbr64 {
        first = decoder.decode();
    }
    (first.flow_control() == FlowControl::IndirectBranch && first.is_ip_rel_memory_operand())
        .then(|| first.ip_rel_memory_address() as usize)
}

/// Whether an instruction reads the slot through which the loader has the program call `syscall`.
fn reads_slot_of_system(instruction: &Instruction) -> bool {
    rust_mutex::slot_target(instruction) == Some(syscall::address())
}

/// So many arguments have the callbacks for atomics of 16 bytes, and no others.
const OF_WIDE: usize = 6;

impl Callback {
    /// The one at an address, if there is any.
    fn at(function: usize) -> Option<Self> {
        // SAFETY: the answer is written to a place for it; a name is a string.
        let name = unsafe {
            let mut info: libc::Dl_info = std::mem::zeroed();
            let is_known = libc::dladdr(function as *const c_void, &raw mut info) != 0;
            (is_known && !info.dli_sname.is_null()).then(|| CStr::from_ptr(info.dli_sname))?
        };
        if name.to_bytes().starts_with(b"__wrap_mem") {
            return Some(Self { n_arguments: 3, is_wrapped: true });
        }
        // The compiler may have made one function of two that do the same.
        if name.to_bytes().starts_with(b"__atomic_") && name.to_bytes().ends_with(b"_16") {
            return Some(Self { n_arguments: OF_WIDE, is_wrapped: false });
        }
        let name = name.to_bytes().strip_prefix(b"__tsan_")?;
        let contains = |part: &[u8]| name.windows(part.len()).any(|it| it == part);
        let n_arguments = match () {
            () if contains(b"atomic128") => OF_WIDE,
            () if contains(b"atomic") => 5,
            () if contains(b"mem") => 3,
            () if contains(b"range") || contains(b"vptr") => 2,
            () => 1,
        };
        Some(Self { n_arguments, is_wrapped: false })
    }
}

/// Writes the way of instructions: for each that has to be met the call, then the instruction
/// itself; and the jump back. Where the way of each begins.
fn write_piece(piece: usize, redirected: &Redirected) -> Result<Vec<usize>, String> {
    let Redirected { moved, row } = redirected;
    let last = moved[moved.len() - 1].instruction;
    let back = Instruction::with_branch(Code::Jmp_rel32_64, last.next_ip())
        .map_err(|error| error.to_string())?;
    let mut code = row.map_or_else(Vec::new, |row| entry::head(row, piece));
    let mut ways = Vec::new();
    for Moved { instruction, deed, .. } in moved {
        ways.push(piece + code.len());
        if deed.is_some() {
            write_call(piece, &mut code, instruction.ip() as usize);
        }
        if is_movable_call(instruction) {
            return write_moved_call(piece, code, instruction).map(|()| ways);
        }
        if !matches!(deed, Some(Deed::Assembly(deed)) if deed.replaces()) {
            encode(&[*instruction], piece, &mut code)?;
        }
    }
    encode(&[back], piece, &mut code)?;
    assert!(code.len() <= PIECE_LEN, "a piece of code has room for a few instructions");
    // SAFETY: the piece was reserved for this.
    unsafe { std::ptr::copy_nonoverlapping(code.as_ptr(), piece as *mut u8, code.len()) };
    Ok(ways)
}

/// Ends a piece with a call of the program: it returns to where it stood, so that the unwinder
/// finds its way.
fn write_moved_call(piece: usize, mut code: Vec<u8>, call: &Instruction) -> Result<(), String> {
    // push [return]; jmp [target]; then these two.
    let target = match call.flow_control() {
        FlowControl::Call => call.near_branch_target() as usize,
        _ => rust_mutex::slot_target(call).ok_or("a call through no slot")?,
    };
    code.extend([0xff, 0x35]);
    code.extend(6u32.to_le_bytes());
    code.extend([0xff, 0x25]);
    code.extend(8u32.to_le_bytes());
    for word in [call.next_ip() as usize, target] {
        code.extend(word.to_le_bytes());
    }
    assert!(code.len() <= PIECE_LEN, "a piece of code has room for a few instructions");
    // SAFETY: the piece was reserved for this.
    unsafe { std::ptr::copy_nonoverlapping(code.as_ptr(), piece as *mut u8, code.len()) };
    Ok(())
}

/// Adds the call for the instruction at an address to the code of a piece.
fn write_call(piece: usize, code: &mut Vec<u8>, at: usize) {
    // lea rsp, [rsp - 128]; push [site]; push [next]; jmp [common]; then these three.
    const HEAD_LEN: usize = 5 + 6 + 6 + 6;
    const TABLE_LEN: usize = 3 * 8;
    let next = piece + code.len() + HEAD_LEN + TABLE_LEN;
    code.extend([0x48, 0x8d, 0x64, 0x24, 0x80]);
    for (opcode, slot, len) in [([0xff, 0x35], 0, 11), ([0xff, 0x35], 1, 17), ([0xff, 0x25], 2, 23)]
    {
        let distance = HEAD_LEN + slot * 8 - len;
        code.extend(opcode);
        code.extend((distance as u32).to_le_bytes());
    }
    for word in [at + 1, next, mazurka_precompiled as *const () as usize] {
        code.extend(word.to_le_bytes());
    }
}

/// Adds instructions to the code of a piece.
fn encode(instructions: &[Instruction], piece: usize, code: &mut Vec<u8>) -> Result<(), String> {
    let block = InstructionBlock::new(instructions, (piece + code.len()) as u64);
    let encoded = BlockEncoder::encode(64, block, BlockEncoderOptions::NONE)
        .map_err(|error| error.to_string())?;
    code.extend(encoded.code_buffer);
    Ok(())
}

/// Replaces an instruction of the program.
fn divert(at: usize, len: usize, piece: usize) {
    let mut code = [0x90; 16];
    match len >= JUMP_LEN {
        true => {
            let distance = (piece as isize - (at + JUMP_LEN) as isize) as i32;
            code[0] = JUMP;
            code[1..JUMP_LEN].copy_from_slice(&distance.to_le_bytes());
        }
        false if len == 1 => code[0] = SHORT_TRAP,
        false => code[..TRAP.len()].copy_from_slice(&TRAP),
    }
    let len = if len >= JUMP_LEN { len } else { TRAP.len().min(len) };
    // SAFETY: an instruction of the program, of which nothing runs yet, is there, and its page is
    // writable.
    unsafe { std::ptr::copy_nonoverlapping(code.as_ptr(), at as *mut u8, len) };
}

// Saves all registers, calls `meet`, and goes on in the piece. To the unwinder it looks as if the
// instruction had called this.
global_asm!(
    ".globl mazurka_precompiled",
    ".hidden mazurka_precompiled",
    ".type mazurka_precompiled,@function",
    "mazurka_precompiled:",
    ".cfi_startproc",
    ".cfi_def_cfa rsp, 144",
    ".cfi_offset rip, -136",
    "pushfq",
    ".cfi_adjust_cfa_offset 8",
    "push rax",
    "push rcx",
    "push rdx",
    "push rbx",
    "push rbp",
    "push rsi",
    "push rdi",
    "push r8",
    "push r9",
    "push r10",
    "push r11",
    "push r12",
    "push r13",
    "push r14",
    "push r15",
    ".cfi_adjust_cfa_offset 120",
    ".cfi_offset rbx, -184",
    ".cfi_offset rbp, -192",
    ".cfi_offset r12, -248",
    ".cfi_offset r13, -256",
    ".cfi_offset r14, -264",
    ".cfi_offset r15, -272",
    "mov rbx, rsp",
    ".cfi_def_cfa_register rbx",
    "and rsp, -16",
    "sub rsp, {saved}",
    // Where `fxsave64` would put them, which takes some times as long. The rest is not used here.
    "movaps [rsp + 160], xmm0",
    "movaps [rsp + 176], xmm1",
    "movaps [rsp + 192], xmm2",
    "movaps [rsp + 208], xmm3",
    "movaps [rsp + 224], xmm4",
    "movaps [rsp + 240], xmm5",
    "movaps [rsp + 256], xmm6",
    "movaps [rsp + 272], xmm7",
    "movaps [rsp + 288], xmm8",
    "movaps [rsp + 304], xmm9",
    "movaps [rsp + 320], xmm10",
    "movaps [rsp + 336], xmm11",
    "movaps [rsp + 352], xmm12",
    "movaps [rsp + 368], xmm13",
    "movaps [rsp + 384], xmm14",
    "movaps [rsp + 400], xmm15",
    "cld",
    "mov rdi, rbx",
    "call {meet}",
    "movaps xmm0, [rsp + 160]",
    "movaps xmm1, [rsp + 176]",
    "movaps xmm2, [rsp + 192]",
    "movaps xmm3, [rsp + 208]",
    "movaps xmm4, [rsp + 224]",
    "movaps xmm5, [rsp + 240]",
    "movaps xmm6, [rsp + 256]",
    "movaps xmm7, [rsp + 272]",
    "movaps xmm8, [rsp + 288]",
    "movaps xmm9, [rsp + 304]",
    "movaps xmm10, [rsp + 320]",
    "movaps xmm11, [rsp + 336]",
    "movaps xmm12, [rsp + 352]",
    "movaps xmm13, [rsp + 368]",
    "movaps xmm14, [rsp + 384]",
    "movaps xmm15, [rsp + 400]",
    "mov rsp, rbx",
    // As callbacks do, where threads spin.
    "cmp byte ptr [rip + {wipes}], 0",
    "je 2f",
    "call {wipe}",
    "2:",
    "pop r15",
    "pop r14",
    "pop r13",
    "pop r12",
    "pop r11",
    "pop r10",
    "pop r9",
    "pop r8",
    "pop rdi",
    "pop rsi",
    "pop rbp",
    "pop rbx",
    "pop rdx",
    "pop rcx",
    "pop rax",
    "popfq",
    "ret 136",
    ".cfi_endproc",
    ".size mazurka_precompiled, . - mazurka_precompiled",
    meet = sym meet,
    saved = const SAVED_LEN,
    wipes = sym spin::WIPES,
    wipe = sym spin::wipe,
);

unsafe extern "C" {
    fn mazurka_precompiled();
}

/// What an instruction that may be let pass does to a lock.
fn deed_of(site: &Site, frame: &Frame) -> std_locks::Deed {
    let Deed::Access(memory, Kind::Update) = &site.deed else { return std_locks::Deed::Other };
    let register = |register, _, _| Some(frame.register(register) as u64);
    let address = memory.virtual_address(0, register);
    match (site.instruction.mnemonic(), address) {
        (Mnemonic::Cmpxchg, Some(address)) if site.instruction.memory_size().size() == 4 => {
            // SAFETY: the program is about to access it.
            let word = unsafe { std::ptr::read_volatile(address as usize as *const u32) };
            std_locks::Deed::Takes { is_free: word == 0 }
        }
        (Mnemonic::Xchg, Some(_)) => std_locks::Deed::GivesBack,
        _ => std_locks::Deed::Other,
    }
}

/// A precompiled instruction is about to be taken.
extern "C-unwind" fn meet(frame: &mut Frame) {
    // Threads that are not the program's may come here, too.
    if !coroutine::is_own_stack(std::ptr::from_ref(frame) as usize) {
        return meet_elsewhere(frame);
    }
    let site = site_of(frame);
    if let Some(part) = site.part
        && !part.is_met(deed_of(site, frame), frame.register(Register::RBP))
    {
        return;
    }
    let (memory, kind) = match &site.deed {
        Deed::Pause => {
            machine::with(|machine| machine.threads[machine::current().index()].reads.note_wait());
            return;
        }
        Deed::Assembly(deed) => return assembly::meet(deed, &site.instruction, site.live, frame),
        Deed::Access(memory, kind) => (memory, kind),
    };
    if trusted::is_quiet() {
        let register = |register, _, _| Some(frame.register(register) as u64);
        if let Some(address) = memory.virtual_address(0, register) {
            let access = match kind {
                Kind::Load | Kind::Look(_) => trusted::Access::Load,
                Kind::Store => trusted::Access::Store,
                Kind::Update => trusted::Access::Update,
            };
            trusted::access(address as usize, site.instruction.memory_size().size(), access);
        }
        return;
    }
    // What such code writes is not seen: no loop with it in it is a spin loop.
    spin::spoil();
    let register = |register, _, _| Some(frame.register(register) as u64);
    let Some(address) = memory.virtual_address(0, register) else { return };
    let address = address as usize;
    let len = site.instruction.memory_size().size();
    let is_load = *kind == Kind::Load;
    let is_seen = machine::with(|machine| {
        machine.is_concurrent()
            && !machine.is_unseen_word(address)
            && (matches!(kind, Kind::Update | Kind::Look(_)) || machine.objects.knows(address, len))
            && !(is_load && machine.acquires_again(address, len))
    });
    if !is_seen {
        return;
    }
    let object = machine::with(|machine| {
        machine.has_precompiled = true;
        machine.note_sharing(address, len);
        machine.objects.atomic(address, len)
    });
    let role = match kind {
        Kind::Update => mutex_role(&site.instruction, frame, address),
        Kind::Load | Kind::Look(_) | Kind::Store => {
            rust_mutex::role(address, len, Access::Other, Place::default())
        }
    };
    if let Some(role) = role {
        machine::visible(role.operation(object));
        let has_changed = succeeds(&site.instruction, frame, address);
        rust_mutex::conclude(role, address, has_changed, true);
        spin::spoil();
        return;
    }
    let added = (*kind == Kind::Update).then(|| added(&site.instruction, frame)).flatten();
    let adding =
        added.and_then(|added| Adding::at(address, added, way_on(&site.instruction, frame, added)));
    let operation = match kind {
        Kind::Load => Operation::Load(object),
        Kind::Look(_) => futex::waiting_for(address),
        Kind::Store => Operation::Store(object),
        Kind::Update => machine::with(|machine| machine.disciplines.operation(object, adding)),
    };
    let in_order = machine::with(|machine| machine.trusted.in_order(operation));
    match compared(&site.instruction, frame, address) {
        Some(comparison) => machine::compare(comparison, || machine::visible(in_order)),
        None => machine::visible(in_order),
    };
    if is_load && in_order != operation {
        machine::fail_try();
    }
    if let Some(adding) = adding {
        adding.note(spin::load(address, len as u8));
    }
    match kind {
        Kind::Update if !succeeds(&site.instruction, frame, address) => machine::fail_try(),
        Kind::Look(expected) => {
            let expected = expected.value(|register| frame.register(register));
            conclude_look(address, expected);
        }
        _ => {}
    }
    spin::spoil();
}

fn site_of(frame: &Frame) -> &'static Site {
    let site = SITES.get().and_then(|sites| sites.get(&frame.site));
    site.expect("only what was redirected comes here")
}

/// The same for a thread that is not explored: what is not taken itself is done for it.
fn meet_elsewhere(frame: &mut Frame) {
    if let Deed::Assembly(deed) = &site_of(frame).deed
        && deed.replaces()
    {
        assembly::meet_elsewhere(deed, frame);
    }
}

/// The running thread is about to look at a futex, and waits for it if that is as expected.
fn conclude_look(address: usize, expected: u32) {
    match spin::load(address, size_of::<u32>() as u8) == u128::from(expected) {
        true => before_wait::note(address),
        false => machine::fail_try(),
    }
}

/// What an instruction does to a mutex.
fn mutex_role(instruction: &Instruction, frame: &Frame, address: usize) -> Option<Role> {
    let len = instruction.memory_size().size();
    let operand = |idx: u32| match instruction.op_kind(idx) {
        OpKind::Register => Some(frame.register(instruction.op_register(idx)) as u32),
        _ => None,
    };
    let access = match instruction.mnemonic() {
        Mnemonic::Cmpxchg if frame.register(Register::RAX) as u32 == 0 && operand(1) == Some(1) => {
            Access::Take
        }
        Mnemonic::Xchg => {
            let value = operand(0).or_else(|| operand(1));
            value.map_or(Access::Other, |value| Access::Swap(value.into()))
        }
        _ => Access::Other,
    };
    let place = Place {
        behind: instruction.next_ip() as usize,
        stack_pointer: frame.register(Register::RSP),
    };
    rust_mutex::role(address, len, access, place)
}

/// What an instruction adds to memory, if that is all that it does.
pub(crate) fn added(instruction: &Instruction, frame: &Frame) -> Option<i64> {
    use Mnemonic as M;
    let adds = match instruction.mnemonic() {
        M::Inc | M::Add | M::Xadd => true,
        M::Dec | M::Sub => false,
        _ => return None,
    };
    let bits = 8 * instruction.memory_size().size() as u8;
    let operand = match (instruction.op_count(), instruction.op1_kind()) {
        (1, _) => 1,
        (_, OpKind::Register) => signed(frame.register(instruction.op1_register()) as u128, bits),
        _ => instruction.immediate(1) as i64,
    };
    if adds { Some(operand) } else { operand.checked_neg() }
}

/// Where a thread goes on after an instruction that adds.
pub(crate) fn way_on(instruction: &Instruction, frame: &Frame, added: i64) -> Way {
    let origin = match instruction.mnemonic() {
        Mnemonic::Xadd => {
            Origin::Register(instruction.op1_register().full_register().number() as u8)
        }
        mnemonic => Origin::Flags { added, is_difference: mnemonic == Mnemonic::Sub },
    };
    Way {
        address: instruction.next_ip() as usize,
        stack_pointer: frame.register(Register::RSP),
        frame_pointer: frame.register(Register::RBP),
        origin,
        bits: 8 * instruction.memory_size().size() as u8,
    }
}

/// Whether an instruction changes memory: a compare-and-exchange may not.
pub(crate) fn succeeds(instruction: &Instruction, frame: &Frame, address: usize) -> bool {
    compared(instruction, frame, address).is_none_or(Comparison::succeeds)
}

/// What a compare-and-exchange compares with.
pub(crate) fn compared(
    instruction: &Instruction,
    frame: &Frame,
    address: usize,
) -> Option<Comparison> {
    let len = instruction.memory_size().size() as u8;
    let (low, high) = (frame.register(Register::RAX), frame.register(Register::RDX));
    let expected = match instruction.mnemonic() {
        Mnemonic::Cmpxchg => low as u128,
        Mnemonic::Cmpxchg8b => u128::from(low as u32) | u128::from(high as u32) << 32,
        Mnemonic::Cmpxchg16b => low as u128 | (high as u128) << 64,
        _ => return None,
    };
    Some(Comparison { address, len, expected })
}

/// Reserves memory for code that calls can reach from the program.
fn reserve_near(program: usize, len: usize) -> Option<usize> {
    const STEP: usize = 1 << 20;
    const REACH: usize = 1 << 30;
    let protection = libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE;
    let len = len.next_multiple_of(4096);
    (1..REACH / STEP).find_map(|step| {
        let wish = (program & !4095).checked_sub(step * STEP)?;
        // SAFETY: a new mapping replaces nothing.
        let got = unsafe { libc::mmap(wish as *mut c_void, len, protection, flags, -1, 0) };
        (got as usize == wish).then_some(wish)
    })
}
