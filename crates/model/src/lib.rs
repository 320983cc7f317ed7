//! Concurrent programs as control-flow graphs of guarded actions.
//!
//! A [`Program`] has [`Object`]s (memory with a size in bytes and a [`Layout`]), [`Routine`]s
//! (functions and process types as graphs of [`Location`]s and [`Edge`]s) and the [`Process`]es it
//! begins with. An edge has a guard and an [`Action`]. Actions are small, total and typed by width,
//! so that an engine may run them one by one, store the states between them, or turn them into a
//! circuit.
//!
//! # State
//!
//! A state is the bytes of all objects that live, and for each process its stack of frames. A frame
//! has a location, a number for each [`Register`] of its routine, and objects for those locals whose
//! address is taken. Nothing else remembers anything: the state of a mutex is in the bytes of the
//! mutex ([`Sync`] says how), so it can be a field of a heap block, be copied and be freed.
//!
//! # Values
//!
//! Every value is a pattern of at most 64 bits with a [`Type`]. A pointer is an object and an offset
//! ([`Pointer`]), never an address; converted to an integer it is those two, one behind the other.
//! Objects made while a program runs are named by who made them: the thread and how many it had made.
//!
//! # What is visible
//!
//! [`Action::is_visible`] actions correspond to one
//! [`Operation`](mazurka_core::Operation) each. Everything else runs together with the visible
//! action before it. A plain access ([`Access::Plain`]) is invisible and watched, or visible, as the
//! engine was asked to have it.

mod action;
pub mod analysis;
mod build;
mod evaluate;
mod expression;
mod function;
mod pieces;
mod print;
mod program;
mod proposition;
mod query;
mod span;
mod stops;
mod types;
mod vacuity;
mod vm;

pub use mazurka_core::{
    Assumption, Location as SourceLocation, MemoryOrder, Property, ViolationKind,
};

pub use action::{Access, Action, Callee, Message, MessageField, Update};
pub use build::RoutineBuilder;
pub use evaluate::{binary, canonical, compare, convert, overflows, unary};
pub use expression::{Base, Binary, Compare, Expr, Overflow, Place, Unary};
pub use function::Function;
pub use pieces::{PIECE_BITS, split_choices};
pub use print::{dot, text};
pub use program::{
    Branching, Edge, Exclusive, FrameObject, Init, InitValue, Labels, Location, LocationId, Object,
    ObjectIdx, Process, Program, Register, RegisterId, Routine, RoutineId, Storage, Symbol,
    SymbolSet, Trace,
};
pub use proposition::{PropositionError, proposition};
pub use query::Query;
pub use span::{FileId, Span};
pub use stops::{add_first_steps, add_stops};
pub use types::{Field, Layout, LayoutId, Pointer, Sync, Type};
pub use vacuity::{Goal, assumptions_in, with_goal};
pub use vm::{Conflict, Races, Vm, VmError};
