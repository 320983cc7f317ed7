//! Where machine code and Rust call each other: the only unsafe code of the crate.
//!
//! Compiled functions get a [`Context`] and pass it on to the functions here, which do what machine
//! code does not: memory for successors, and whatever is so rare that the interpreter does it.
#![expect(unsafe_code, reason = "machine code is called, and calls back")]

use super::super::code::Code;
use super::super::steps::{Moved, Steps, Taken, can_go_on};
use super::super::view::{ChannelPlace, Tables, View};
use super::{Jit, Offers};
use crate::transitions::{Moves, Step, Successor};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::FuncId;
use std::cell;
use std::ffi::c_void;

/// No fault, as a number.
pub(super) const NO_FAULT: u32 = u32::MAX;

/// The most fields that a message of compiled code has.
pub(super) const MOST_FIELDS: usize = 8;

/// What compiled code knows of the state that is expanded. The first fields are read and written by
/// it.
#[repr(C)]
pub(in super::super) struct Context<'a> {
    channels: *const ChannelPlace,
    n_channels: u64,
    /// What the last question to the interpreter went wrong with.
    fault: u32,
    is_timeout: u32,
    /// The channel and the fields of a message that is handed over.
    channel: i64,
    values: [i64; MOST_FIELDS],
    /// Who sends it, and by which edge.
    sender: (u32, u32),
    code: &'a Code,
    tables: &'a Tables,
    state: &'a [u8],
    jit: Option<&'a Jit>,
    steps: &'a mut Steps,
    moves: &'a mut Moves,
}

/// Where compiled code finds the fields of a [`Context`].
pub(super) mod offset {
    use super::Context;
    use std::mem::offset_of;

    pub(in super::super) const CHANNELS: i32 = offset_of!(Context<'_>, channels) as i32;
    pub(in super::super) const N_CHANNELS: i32 = offset_of!(Context<'_>, n_channels) as i32;
    pub(in super::super) const FAULT: i32 = offset_of!(Context<'_>, fault) as i32;
    pub(in super::super) const IS_TIMEOUT: i32 = offset_of!(Context<'_>, is_timeout) as i32;
    pub(in super::super) const CHANNEL: i32 = offset_of!(Context<'_>, channel) as i32;
    pub(in super::super) const VALUES: i32 = offset_of!(Context<'_>, values) as i32;
}

/// A compiled function: it gets the context, the state, where the part of a process begins in it,
/// and the number of the process.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Function(Signature);

type Signature = unsafe extern "C" fn(*mut c_void, *const u8, u64, u64) -> i64;

/// The memory of compiled functions.
pub(super) struct Memory(Option<JITModule>);

// SAFETY: once it is here, nobody uses the module but to free its memory, in `drop`.
unsafe impl Send for Memory {}
// SAFETY: as above; there is nothing to do with a shared one.
unsafe impl Sync for Memory {}

impl Memory {
    /// Takes over a module whose functions are finished.
    pub(super) fn new(module: JITModule) -> Self {
        Self(Some(module))
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if let Some(module) = self.0.take() {
            // SAFETY: functions are called through a `Jit` alone, which owns this memory and is
            // gone.
            unsafe { module.free_memory() }
        }
    }
}

impl Function {
    /// A function of a module whose functions are finished. It is one that was emitted with the
    /// signature of [`Function`], and must not be called after the module's [`Memory`] is gone.
    pub(super) fn new(module: &JITModule, id: FuncId) -> Self {
        let address = module.get_finalized_function(id);
        // SAFETY: it is the address of a function with this signature.
        Self(unsafe { std::mem::transmute::<*const u8, Signature>(address) })
    }
}

/// Tells a module where the functions are that compiled code calls.
pub(super) fn link(builder: &mut JITBuilder) {
    for (name, address) in [
        ("begin", begin as *const u8),
        ("commit", commit as *const u8),
        ("wrong", wrong as *const u8),
        ("edge", edge as *const u8),
        ("ask", ask as *const u8),
        ("remove", remove as *const u8),
        ("can_move", can_move as *const u8),
        ("rendezvous", rendezvous as *const u8),
        ("begin_taken", begin_taken as *const u8),
        ("commit_taken", commit_taken as *const u8),
        ("wrong_taken", wrong_taken as *const u8),
    ] {
        builder.symbol(name, address);
    }
}

/// The functions that compiled code calls, with how many arguments they have beside the context,
/// and whether they return anything.
pub(super) const CALLED: [(&str, usize, bool); 11] = [
    ("begin", 0, true),
    ("commit", 4, false),
    ("wrong", 3, false),
    ("edge", 2, true),
    ("ask", 2, true),
    ("remove", 4, false),
    ("can_move", 2, true),
    ("rendezvous", 3, true),
    ("begin_taken", 0, true),
    ("commit_taken", 4, false),
    ("wrong_taken", 4, false),
];

impl<'a> Context<'a> {
    /// What is to be told of a state, by machine code as far as there is any.
    pub(in super::super) fn new(
        view: View<'a>,
        jit: Option<&'a Jit>,
        steps: &'a mut Steps,
        moves: &'a mut Moves,
    ) -> Self {
        let View { code, state, tables, timeout, .. } = view;
        Self {
            channels: tables.channels.as_ptr(),
            n_channels: tables.channels.len() as u64,
            fault: NO_FAULT,
            is_timeout: u32::from(timeout),
            channel: 0,
            values: [0; MOST_FIELDS],
            sender: (0, 0),
            code,
            tables,
            state,
            jit,
            steps,
            moves,
        }
    }

    /// Tells the moves of a process.
    pub(in super::super) fn moves_of(&mut self, view: View<'_>, process: u32) {
        match self.jit.and_then(|jit| jit.function(view, process)) {
            Some(function) => {
                let (record, process) = (view.record(process) as u64, u64::from(process));
                let (context, state) = (std::ptr::from_mut(self).cast(), view.state.as_ptr());
                // SAFETY: the function reads the state where the process and the channels are, as
                // the tables say; writes to copies of it that it gets from `begin`; and calls the
                // functions below with the context. It ends before `self` is used again.
                unsafe { (function.0)(context, state, record, process) };
            }
            None => self.steps.moves_of(view, process, self.moves),
        }
    }

    /// The moves that were told.
    pub(in super::super) fn moves(&mut self) -> &mut Moves {
        self.moves
    }

    /// A look at the state that is expanded.
    fn view<'b>(&'b self, fault: &'b cell::Cell<Option<u32>>) -> View<'b> {
        let (code, state, tables) = (self.code, self.state, self.tables);
        View::new(code, state, tables, self.is_timeout != 0, fault)
    }

    /// Adds the successor that was written, with what is left to do to it.
    fn seal(&mut self, step: Step, mover: u64, goes_on: bool, fault: Option<u32>) {
        let (code, tables, ending) = (self.code, self.tables, self.steps.ending);
        let new = self.moves.unfinished();
        let moved = &Moved { code, tables, step, mover: mover as u32, has_started: false };
        ending.forget(moved, new);
        let successor = ending.control(moved, new, goes_on);
        if let Some(fault) = fault {
            self.moves.fault(fault);
        }
        self.moves.seal(step, successor);
    }

    fn taken(&self, partner: u64, choice: u64) -> Step {
        let (process, edge) = self.sender;
        Step { process, edge, choice: choice as u32, partner: Some(partner as u32) }
    }

    /// Whether another process was promised the end of a channel that an edge uses.
    fn promised(&self, process: u32, edge: u32) -> Option<u32> {
        let fault = cell::Cell::new(None);
        Steps::promised(self.view(&fault), process, edge)
    }
}

fn step(process: u64, edge: u64) -> Step {
    Step { process: process as u32, edge: edge as u32, choice: 0, partner: None }
}

fn as_fault(fault: u64) -> Option<u32> {
    (fault as u32 != NO_FAULT).then_some(fault as u32)
}

/// The context of compiled code.
///
/// # Safety
///
/// It is the pointer that compiled code was called with and is still running with, and no reference
/// that was made of it earlier is used after this one.
unsafe fn recover<'b>(context: *mut c_void) -> &'b mut Context<'b> {
    // SAFETY: it was made of a context that lives for as long as compiled code runs, and that
    // no other process uses in that time.
    unsafe { &mut *context.cast() }
}

/// A state with the layout of the one that is expanded.
///
/// # Safety
///
/// `state` is what compiled code was called with, or got from `begin` and has not finished yet.
unsafe fn bytes<'b>(context: &Context<'_>, state: *const u8) -> &'b [u8] {
    // SAFETY: both have as many bytes as the state that is expanded.
    unsafe { std::slice::from_raw_parts(state, context.state.len()) }
}

/// A copy of the state, to be changed.
unsafe extern "C" fn begin(context: *mut c_void) -> *mut u8 {
    // SAFETY: compiled code passes on what it was called with.
    let context = unsafe { recover(context) };
    context.moves.begin(context.state).as_mut_ptr()
}

/// The copy is the successor of a step.
unsafe extern "C" fn commit(
    context: *mut c_void,
    process: u64,
    edge: u64,
    goes_on: u64,
    fault: u64,
) {
    // SAFETY: see `begin`.
    let context = unsafe { recover(context) };
    let fault = as_fault(fault).or(match context.code.has_exclusive {
        true => context.promised(process as u32, edge as u32),
        false => None,
    });
    context.seal(step(process, edge), process, goes_on != 0, fault);
}

/// A step goes wrong. If there is a copy, it is of no use.
unsafe extern "C" fn wrong(context: *mut c_void, process: u64, edge: u64, fault: u64) {
    // SAFETY: see `begin`.
    let context = unsafe { recover(context) };
    context.moves.abandon();
    context.moves.fault(fault as u32);
    context.moves.push(step(process, edge), Successor::None, &[]);
}

/// Lets the interpreter take an edge; returns whether there is a move by it.
unsafe extern "C" fn edge(context: *mut c_void, process: u64, edge: u64) -> u64 {
    // SAFETY: see `begin`.
    let context = unsafe { recover(context) };
    let fault = cell::Cell::new(None);
    let (code, tables, state) = (context.code, context.tables, context.state);
    let timeout = context.is_timeout != 0;
    let view = View::new(code, state, tables, timeout, &fault);
    let taken = context.steps.edge(view, process as u32, edge as u32, context.moves);
    u64::from(taken != Taken::No)
}

/// Lets the interpreter compute an expression in the state that is expanded.
unsafe extern "C" fn ask(context: *mut c_void, node: u64, process: u64) -> i64 {
    // SAFETY: see `begin`.
    let context = unsafe { recover(context) };
    let fault = cell::Cell::new(None);
    let view = context.view(&fault);
    let value = view.value(super::super::code::NodeId(node as u32), process as u32);
    context.fault = fault.get().unwrap_or(NO_FAULT);
    value
}

/// Takes the message in a place out of a channel of the copy at hand, which has `length` messages
/// of `size` bytes, the first one at `at`.
unsafe extern "C" fn remove(context: *mut c_void, at: u64, place: u64, size: u64, length: u64) {
    // SAFETY: see `begin`.
    let context = unsafe { recover(context) };
    let new = context.moves.unfinished();
    let [at, place, size, length] = [at, place, size, length].map(|it| it as usize);
    let (start, end) = (at + place * size, at + length * size);
    new.copy_within(start + size..end, start);
    new[end - size..end].fill(0);
}

/// Lets the interpreter find out whether a process can move in a copy.
unsafe extern "C" fn can_move(context: *mut c_void, state: *const u8, process: u64) -> u64 {
    // SAFETY: see `begin`.
    let context = unsafe { recover(context) };
    // SAFETY: it is a state that compiled code looks at.
    let state = unsafe { bytes(context, state) };
    u64::from(can_go_on(context.code, context.tables, state, process as u32))
}

/// Tells the steps in which others take the message in the context; returns whether there is one.
unsafe extern "C" fn rendezvous(
    context: *mut c_void,
    process: u64,
    edge: u64,
    n_values: u64,
) -> u64 {
    let (process, edge, n_values) = (process as u32, edge as u32, n_values as usize);
    // SAFETY: see `begin`.
    let here = unsafe { recover(context) };
    here.sender = (process, edge);
    let n_before = here.moves.len();
    let (code, tables, state, jit) = (here.code, here.tables, here.state, here.jit);
    let fault = cell::Cell::new(None);
    let timeout = here.is_timeout != 0;
    let view = View::new(code, state, tables, timeout, &fault);
    for partner in (0..view.n_processes()).rev().filter(|&other| other != process) {
        match jit.map(|jit| jit.offers(view, partner)) {
            Some(Offers::None) => {}
            Some(Offers::Compiled(function, n_fields)) if *n_fields == n_values => {
                let record = view.record(partner) as u64;
                // SAFETY: as in `Function::moves_of`; `here` is not used before it returns.
                unsafe { (function.0)(context, state.as_ptr(), record, u64::from(partner)) };
            }
            _ => {
                // SAFETY: see `begin`.
                let here = unsafe { recover(context) };
                let values = &here.values[..n_values];
                let sender = (process, edge);
                let steps = &mut *here.steps;
                if view.is_provided(partner) {
                    steps.taken_by(view, sender, partner, here.channel, values, here.moves);
                }
            }
        }
    }
    // SAFETY: see `begin`.
    let here = unsafe { recover(context) };
    u64::from(here.moves.len() > n_before)
}

/// A copy of the state in which the sender has gone on.
unsafe extern "C" fn begin_taken(context: *mut c_void) -> *mut u8 {
    // SAFETY: see `begin`.
    let context = unsafe { recover(context) };
    let (process, edge) = context.sender;
    let (code, at) = (context.code, context.tables.processes[process as usize] as usize + 1);
    let new = context.moves.begin(context.state);
    new[at..at + 2].copy_from_slice(&code.edges[edge as usize].to.to_le_bytes());
    if let Some(last) = code.last {
        new[last as usize] = process as u8;
    }
    new.as_mut_ptr()
}

/// The copy is the successor of a step of two.
unsafe extern "C" fn commit_taken(
    context: *mut c_void,
    partner: u64,
    edge: u64,
    choice: u64,
    goes_on: u64,
) {
    // SAFETY: see `begin`.
    let context = unsafe { recover(context) };
    let (process, sends) = context.sender;
    let fault = match context.code.has_exclusive {
        true => {
            let theirs = || context.promised(partner as u32, edge as u32);
            context.promised(process, sends).or_else(theirs)
        }
        false => None,
    };
    context.moves.pass(edge as u32);
    context.seal(context.taken(partner, choice), partner, goes_on != 0, fault);
}

/// A step of two goes wrong, before anything was taken or, if `edge` is one, then.
unsafe extern "C" fn wrong_taken(
    context: *mut c_void,
    partner: u64,
    choice: u64,
    edge: i64,
    fault: u64,
) {
    // SAFETY: see `begin`.
    let context = unsafe { recover(context) };
    context.moves.abandon();
    if let Ok(edge) = u32::try_from(edge) {
        context.moves.pass(edge);
    }
    context.moves.fault(fault as u32);
    context.moves.push(context.taken(partner, choice), Successor::None, &[]);
}
