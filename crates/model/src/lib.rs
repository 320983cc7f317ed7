//! Concurrent programs as control-flow graphs of guarded actions, and a machine that runs them.
//!
//! A [`Program`] has [`Object`]s (memory with a size in bytes and a [`Layout`]), [`Routine`]s
//! (functions and process types as graphs of [`Location`]s and [`Edge`]s) and the [`Process`]es it
//! begins with. An edge has a guard and an [`Action`]. Actions are small, total and typed by width,
//! so that an engine may run them one by one, store the states between them, or turn them into a
//! circuit.
//!
//! ```
//! use mazurka_core::Verdict;
//! use mazurka_explore::{Explorer, Options};
//! use mazurka_model::{Access, Action, Compare, Expr, Place, Program, Races, RoutineBuilder, Type};
//! use mazurka_model::{ViolationKind, Vm};
//!
//! // `x = 1` beside `assert(x == 0)`, by atomic accesses.
//! let mut program = Program::new("two");
//! let int = program.scalar(Type::I32);
//! let x = Place::object(program.object("x", int));
//! let mut writer = RoutineBuilder::new("writer");
//! writer.store(x.clone(), Expr::int(Type::I32, 1), Access::ATOMIC);
//! let mut reader = RoutineBuilder::new("reader");
//! let seen = reader.register("seen", Type::I32);
//! reader.load(seen, x, Access::ATOMIC);
//! let condition = Expr::compare(Compare::Equal, reader.get(seen), Expr::int(Type::I32, 0));
//! let message = "x is no longer 0".to_owned();
//! reader.then(Action::Check { condition, kind: ViolationKind::Assertion, message });
//! for (name, routine) in [("writer", writer), ("reader", reader)] {
//!     let id = program.add_routine(routine.finish());
//!     program.process(name, id, Vec::new());
//! }
//!
//! // The machine runs it as a `System`, and the explorer takes every interleaving.
//! let vm = Vm::new(program, Races::Error).expect("it has nothing that the machine refuses");
//! let outcome = Explorer::new(Options::new()).run(|| vm.clone()).unwrap();
//! let Verdict::Violated(found) = outcome.verdict else { panic!("the store may come first") };
//! assert_eq!(found.violation.message, "x is no longer 0");
//! ```
//! # State
//!
//! A state is the bytes of all objects that live, and for each process its stack of frames. A frame
//! has a location, a number for each [`Register`] of its routine, and objects for those locals
//! whose address is taken. Nothing else remembers anything: the state of a mutex is in the bytes of
//! the mutex ([`Sync`] says how), so it can be a field of a heap block, be copied and be freed.
//!
//! # Values
//!
//! Every value is a pattern of at most 64 bits with a [`Type`]. A pointer is an object and an
//! offset ([`Pointer`]), never an address; converted to an integer it is those two, one behind the
//! other. Objects made while a program runs are named by who made them: the thread and how many it
//! had made.
//!
//! # What is visible
//!
//! [`Action::is_visible`] actions correspond to one
//! [`Operation`](mazurka_core::Operation) each. Everything else runs together with the visible
//! action before it. A plain access ([`Access::Plain`]) is invisible and watched, or visible, as
//! the engine was asked to have it.

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
