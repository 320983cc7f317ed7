//! The steps of a program as machine code, made while a search runs.
//!
//! For every location there are up to three functions: one tells the moves of a process that stands
//! there, one tells who could take what another process hands over, and one says whether a process
//! could go on from there. What they do is what the interpreter does, to the byte;
//! `tests/states/compiled.rs` holds them against it. What is rare is left to the interpreter, edge
//! by edge ([`emit`]) or, where a function cannot be made at all, location by location.

mod bridge;
mod channels;
mod emit;
mod expressions;

use super::code::{Code, Step};
use super::view::View;
pub(super) use bridge::Context;
use bridge::{Function, Memory};
use cranelift_codegen as codegen;
use cranelift_codegen::ir::{AbiParam, Signature, types};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::FunctionBuilderContext;
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Linkage, Module, ModuleError, default_libcall_names};
use emit::{Emitter, Unsupported};
use std::fmt;

/// The steps of a program as machine code.
pub(super) struct Jit {
    /// By routine, how many locations there are in those before it.
    firsts: Vec<usize>,
    /// By location, the function that tells the moves.
    moves: Vec<Option<Function>>,
    offers: Vec<Offers>,
    _memory: Memory,
}

/// How to find out whether a process takes what another one hands over.
#[derive(Clone, Debug)]
enum Offers {
    /// It takes nothing.
    None,
    /// By the interpreter.
    Interpreted,
    /// By a function, if the message has so many fields.
    Compiled(Function, usize),
}

impl fmt::Debug for Jit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Jit").field("moves", &self.moves).finish_non_exhaustive()
    }
}

impl Jit {
    /// Compiles a program; `None` if this computer or this program is not one that it can be done
    /// for.
    pub(super) fn new(code: &Code) -> Option<Self> {
        if code.has_priorities || code.trace.is_some() || code.finds_truncation {
            return None;
        }
        let compiler = Compiler::new(code)?;
        compiler.run().ok()
    }

    /// How many locations have machine code.
    pub(super) fn n_locations(&self) -> usize {
        self.moves.iter().flatten().count()
    }

    /// The function that tells the moves of a process, if there is one.
    #[inline]
    pub(super) fn function(&self, view: View<'_>, process: u32) -> Option<Function> {
        self.moves[self.place(view, process)]
    }

    /// How to find out whether a process takes what another one hands over.
    fn offers(&self, view: View<'_>, process: u32) -> &Offers {
        &self.offers[self.place(view, process)]
    }

    #[inline]
    fn place(&self, view: View<'_>, process: u32) -> usize {
        self.firsts[view.routine_of(process) as usize] + view.location_of(process) as usize
    }
}

/// What a function tells of a process at a location.
#[derive(Clone, Copy)]
enum Kind {
    /// Its moves.
    Moves,
    /// The steps in which it takes what another one hands over.
    Offers,
    /// Whether it could go on.
    CanMove,
}

/// What emitted functions call.
struct Called {
    /// The functions of [`bridge`], in their order.
    bridge: Vec<FuncId>,
    /// By routine and location, whether a process can go on from there.
    can_move: Vec<Vec<Option<FuncId>>>,
}

struct Compiler<'a> {
    code: &'a Code,
    module: JITModule,
    called: Called,
    n_functions: u32,
    /// Memory that is used again for every function.
    codegen: codegen::Context,
    building: FunctionBuilderContext,
}

impl<'a> Compiler<'a> {
    fn new(code: &'a Code) -> Option<Self> {
        let mut flags = settings::builder();
        let verifies = if cfg!(debug_assertions) { "true" } else { "false" };
        for (name, value) in [
            // A search looks at its tables for most of the time: what counts is to be done soon.
            ("opt_level", "none"),
            ("regalloc_algorithm", "single_pass"),
            ("unwind_info", "false"),
            ("enable_verifier", verifies),
            ("use_colocated_libcalls", "false"),
            ("is_pic", "false"),
        ] {
            flags.set(name, value).ok()?;
        }
        let isa = cranelift_native::builder().ok()?.finish(settings::Flags::new(flags)).ok()?;
        let mut builder = JITBuilder::with_isa(isa, default_libcall_names());
        bridge::link(&mut builder);
        let module = JITModule::new(builder);
        let can_move = code.routines.iter().map(|it| vec![None; it.places.len()]).collect();
        let called = Called { bridge: Vec::new(), can_move };
        let (codegen, building) = (module.make_context(), FunctionBuilderContext::new());
        Some(Self { code, module, called, n_functions: 0, codegen, building })
    }

    fn run(mut self) -> Result<Jit, Box<ModuleError>> {
        for (name, n_arguments, returns) in bridge::CALLED {
            let signature = self.signature(1 + n_arguments, returns);
            let id = self.module.declare_function(name, Linkage::Import, &signature)?;
            self.called.bridge.push(id);
        }
        for (routine, location) in self.atomic_targets() {
            let id = self.function(Kind::CanMove, routine, location)?;
            self.called.can_move[routine][location] = id;
        }
        let (mut firsts, mut moves, mut offers) = (Vec::new(), Vec::new(), Vec::new());
        for (routine, kind) in self.code.routines.iter().enumerate() {
            firsts.push(moves.len());
            for location in 0..kind.places.len() {
                moves.push(self.function(Kind::Moves, routine, location)?);
                offers.push(self.offers(routine, location)?);
            }
        }
        self.module.finalize_definitions()?;
        let made = |id| Function::new(&self.module, id);
        let moves = moves.into_iter().map(|id| id.map(made)).collect();
        let offers = offers.into_iter().map(|offered| match offered {
            Offered::None => Offers::None,
            Offered::Interpreted => Offers::Interpreted,
            Offered::Compiled(id, n_fields) => Offers::Compiled(made(id), n_fields),
        });
        let offers = offers.collect();
        Ok(Jit { firsts, moves, offers, _memory: Memory::new(self.module) })
    }

    /// Everything a function gets and returns is a word.
    fn signature(&self, n_arguments: usize, returns: bool) -> Signature {
        let mut signature = self.module.make_signature();
        signature.params.resize(n_arguments, AbiParam::new(types::I64));
        signature.returns.resize(usize::from(returns), AbiParam::new(types::I64));
        signature
    }

    /// The locations where an atomic sequence may go on.
    fn atomic_targets(&self) -> Vec<(usize, usize)> {
        let edges = self.code.edges.iter().filter(|edge| edge.atomic);
        let mut targets: Vec<_> =
            edges.map(|edge| (edge.routine.0 as usize, edge.to as usize)).collect();
        targets.sort_unstable();
        targets.dedup();
        targets
    }

    /// Compiles a function for a location, if it can be done.
    fn function(
        &mut self,
        kind: Kind,
        routine: usize,
        location: usize,
    ) -> Result<Option<FuncId>, Box<ModuleError>> {
        if self.code.routines[routine].provided.is_some() {
            return Ok(None);
        }
        let signature = self.signature(4, true);
        let Self { code, module, called, codegen, building, .. } = self;
        module.clear_context(codegen);
        codegen.func.signature = signature.clone();
        let mut emitter = Emitter::new(code, module, called, &mut codegen.func, building);
        let emitted = match kind {
            Kind::Moves => emitter.moves(routine, location),
            Kind::Offers => emitter.offers(routine, location),
            Kind::CanMove => emitter.can_move(routine, location),
        };
        match emitted {
            Ok(()) => emitter.finish(),
            Err(Unsupported) => {
                // What was begun is in there.
                self.building = FunctionBuilderContext::new();
                return Ok(None);
            }
        }
        let name = format!("f{}", self.n_functions);
        self.n_functions += 1;
        let id = self.module.declare_function(&name, Linkage::Local, &signature)?;
        self.module.define_function(id, &mut self.codegen)?;
        Ok(Some(id))
    }

    fn offers(&mut self, routine: usize, location: usize) -> Result<Offered, Box<ModuleError>> {
        if self.code.kinds.iter().all(|kind| kind.capacity > 0) {
            return Ok(Offered::None);
        }
        if self.code.routines[routine].provided.is_some() {
            return Ok(Offered::Interpreted);
        }
        let (code, mut n_fields) = (self.code, None);
        let mut is_empty = true;
        for number in code.routines[routine].places[location].edges.clone() {
            let edge = &code.edges[number as usize];
            is_empty &= !edge.step.may_receive();
            if let Step::Receive(message) = edge.step {
                let n = code.messages[message as usize].fields.len();
                if *n_fields.get_or_insert(n) != n {
                    return Ok(Offered::Interpreted);
                }
            }
        }
        if is_empty {
            return Ok(Offered::None);
        }
        let Some(n_fields) = n_fields else { return Ok(Offered::Interpreted) };
        let id = self.function(Kind::Offers, routine, location)?;
        Ok(id.map_or(Offered::Interpreted, |id| Offered::Compiled(id, n_fields)))
    }
}

/// [`Offers`] before there are functions.
enum Offered {
    None,
    Interpreted,
    Compiled(FuncId, usize),
}
