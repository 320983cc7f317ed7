//! The functions of a location, edge by edge.

use super::super::code::{Cell, Code, Edge, Step, Target};
use super::Called;
use super::bridge::NO_FAULT;
use super::expressions::Spot;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, FuncRef, Function, InstBuilder, MemFlagsData, Value, types};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext, Variable};
use cranelift_jit::JITModule;
use cranelift_module::Module;

/// No machine code for this.
pub(super) struct Unsupported;

/// Something that was emitted, or could not be.
pub(super) type Emitted<T> = Result<T, Unsupported>;

/// How memory is read and written: where it is there, at any address.
pub(super) const MEMORY: MemFlagsData = MemFlagsData::new().with_notrap();

/// The functions of the bridge, in the order of its list.
#[derive(Clone, Copy)]
pub(super) enum Call {
    Begin,
    Commit,
    Wrong,
    Edge,
    Ask,
    Remove,
    CanMove,
    Rendezvous,
    BeginTaken,
    CommitTaken,
    WrongTaken,
}

/// The state that expressions are about.
#[derive(Clone, Copy)]
pub(super) struct Look {
    pub(super) state: Value,
    /// Where the part of the process begins.
    pub(super) own: Value,
    /// Whether it is a successor, of which the interpreter knows nothing.
    pub(super) is_new: bool,
}

/// What there is to do at the end of an edge.
#[derive(Clone, Copy)]
pub(super) struct Finish {
    /// Which edge it is.
    pub(super) number: u32,
    /// Its choice, if it takes what another process hands over.
    pub(super) choice: Option<u32>,
    /// Where to go on.
    pub(super) next: Block,
}

/// Writes one function.
pub(super) struct Emitter<'a, 'f> {
    pub(super) code: &'a Code,
    module: &'a mut JITModule,
    called: &'a Called,
    pub(super) builder: FunctionBuilder<'f>,
    pub(super) context: Value,
    pub(super) process: Value,
    record: Value,
    pub(super) look: Look,
    /// Where to go with a fault.
    pub(super) faults: Block,
    /// Whether an edge of the location was taken.
    moved: Variable,
}

impl<'a, 'f> Emitter<'a, 'f> {
    pub(super) fn new(
        code: &'a Code,
        module: &'a mut JITModule,
        called: &'a Called,
        function: &'f mut Function,
        context: &'f mut FunctionBuilderContext,
    ) -> Self {
        let mut builder = FunctionBuilder::new(function, context);
        let entry = builder.create_block();
        builder.append_block_params_for_function_params(entry);
        builder.switch_to_block(entry);
        let &[context, state, record, process] = builder.block_params(entry) else {
            unreachable!("a function has four parameters")
        };
        let own = builder.ins().iadd(state, record);
        let moved = builder.declare_var(types::I64);
        let zero = builder.ins().iconst(types::I64, 0);
        builder.def_var(moved, zero);
        let look = Look { state, own, is_new: false };
        let faults = entry;
        Self { code, module, called, builder, context, process, record, look, faults, moved }
    }

    /// Ends the function.
    pub(super) fn finish(mut self) {
        self.builder.seal_all_blocks();
        self.builder.finalize(self.module.target_config());
    }

    /// A function that tells the moves of a process at a location.
    pub(super) fn moves(&mut self, routine: usize, location: usize) -> Emitted<()> {
        for number in self.edges(routine, location)? {
            let edge = &self.code.edges[number as usize];
            let (next, faults) = (self.builder.create_block(), self.new_faults());
            let finish = Finish { number, choice: None, next };
            if edge.otherwise {
                let first = self.builder.create_block();
                let moved = self.builder.use_var(self.moved);
                self.builder.ins().brif(moved, next, &[], first, &[]);
                self.builder.switch_to_block(first);
            }
            self.guard(edge, next)?;
            self.step(&edge.step, finish)?;
            let fault = self.catch(faults);
            let number = self.constant(number.into());
            self.call(Call::Wrong, &[self.process, number, fault]);
            self.has_moved();
            self.builder.ins().jump(next, &[]);
            self.builder.switch_to_block(next);
        }
        self.give_back(0);
        Ok(())
    }

    /// A function that tells the steps in which a process at a location takes the message in the
    /// context.
    pub(super) fn offers(&mut self, routine: usize, location: usize) -> Emitted<()> {
        for (choice, number) in self.edges(routine, location)?.enumerate() {
            let edge = &self.code.edges[number as usize];
            if edge.otherwise || !edge.step.may_receive() {
                continue;
            }
            let (next, before) = (self.builder.create_block(), self.new_faults());
            let finish = Finish { number, choice: Some(choice as u32), next };
            self.guard(edge, next)?;
            let after = self.new_faults();
            self.faults = before;
            match edge.step {
                Step::Receive(message) => self.take_over(message, finish, after)?,
                _ => return Err(Unsupported),
            }
            for (faults, edge) in [(before, -1), (after, i64::from(number))] {
                let fault = self.catch(faults);
                let (choice, edge) = (self.constant(choice as i64), self.constant(edge));
                self.call(Call::WrongTaken, &[self.process, choice, edge, fault]);
                self.builder.ins().jump(next, &[]);
            }
            self.builder.switch_to_block(next);
        }
        self.give_back(0);
        Ok(())
    }

    /// A function that says whether a process at a location can move in a successor.
    pub(super) fn can_move(&mut self, routine: usize, location: usize) -> Emitted<()> {
        self.look.is_new = true;
        let (yes, ask) = (self.builder.create_block(), self.builder.create_block());
        for number in self.edges(routine, location)? {
            let edge = &self.code.edges[number as usize];
            let (next, faults) = (self.builder.create_block(), self.new_faults());
            if edge.otherwise {
                self.builder.ins().jump(yes, &[]);
            } else {
                self.guard(edge, next)?;
                self.can_step(&edge.step, [yes, next, ask])?;
            }
            self.catch(faults);
            self.builder.ins().jump(yes, &[]);
            self.builder.switch_to_block(next);
        }
        self.give_back(0);
        self.builder.switch_to_block(yes);
        self.give_back(1);
        self.builder.switch_to_block(ask);
        let can = self.call(Call::CanMove, &[self.look.state, self.process]);
        self.builder.ins().return_(&[can]);
        Ok(())
    }

    /// The edges of a location, if there is nothing special about them.
    fn edges(&self, routine: usize, location: usize) -> Emitted<std::ops::Range<u32>> {
        let edges = self.code.routines[routine].places[location].edges.clone();
        let has_escapes = edges.clone().any(|it| self.code.edges[it as usize].escape.is_some());
        if has_escapes { Err(Unsupported) } else { Ok(edges) }
    }

    fn give_back(&mut self, value: i64) {
        let value = self.constant(value);
        self.builder.ins().return_(&[value]);
    }

    /// A block for faults, from now on.
    fn new_faults(&mut self) -> Block {
        self.faults = self.builder.create_block();
        self.builder.append_block_param(self.faults, types::I64);
        self.builder.set_cold_block(self.faults);
        self.faults
    }

    /// Goes on where faults go to, and tells which it is.
    fn catch(&mut self, faults: Block) -> Value {
        self.builder.switch_to_block(faults);
        self.builder.block_params(faults)[0]
    }

    fn guard(&mut self, edge: &Edge, next: Block) -> Emitted<()> {
        let Some(guard) = edge.guard else { return Ok(()) };
        let guard = self.value(guard)?;
        let possible = self.builder.create_block();
        self.builder.ins().brif(guard, possible, &[], next, &[]);
        self.builder.switch_to_block(possible);
        Ok(())
    }

    /// The step of an edge whose guard is true.
    fn step(&mut self, step: &Step, finish: Finish) -> Emitted<()> {
        match step {
            Step::Skip | Step::Print { .. } => {
                let old = self.begin(Call::Begin);
                self.finish_edge(finish, None);
                self.look = old;
            }
            Step::Store { to, value } => {
                let value = self.value(*value)?;
                self.assign(*to, value, finish)?;
            }
            Step::Check { condition, fault } => {
                let condition = self.value(*condition)?;
                let (none, fault) =
                    (self.constant(NO_FAULT.into()), self.constant((*fault).into()));
                let fault = self.builder.ins().select(condition, none, fault);
                let old = self.begin(Call::Begin);
                self.finish_edge(finish, Some(fault));
                self.look = old;
            }
            Step::Send(message) => self.send(*message, finish)?,
            Step::Receive(message) => self.receive(*message, finish)?,
            Step::Die => {
                let dies = self.builder.create_block();
                self.if_youngest(dies, finish.next);
                self.builder.switch_to_block(dies);
                self.leave_to_interpreter(finish)?;
            }
            Step::Spawn { .. } | Step::SetPriority { .. } | Step::Indivisible { .. } => {
                self.leave_to_interpreter(finish)?;
            }
        }
        Ok(())
    }

    fn assign(&mut self, to: Target, value: Value, finish: Finish) -> Emitted<()> {
        let (spot, ty) = self.spot(to)?;
        let into_state = self.builder.ins().isub(spot.address, self.look.state);
        let value = self.canonical(ty, value);
        let old = self.begin(Call::Begin);
        let address = self.builder.ins().iadd(self.look.state, into_state);
        self.store(Cell::of(ty), value, Spot { address, ..spot });
        self.finish_edge(finish, None);
        self.look = old;
        Ok(())
    }

    fn can_step(&mut self, step: &Step, [yes, no, ask]: [Block; 3]) -> Emitted<()> {
        match step {
            Step::Send(message) => self.can_send(*message, [yes, no, ask])?,
            Step::Receive(message) => self.can_receive(*message, [yes, no, ask])?,
            Step::Die => self.if_youngest(yes, no),
            Step::Indivisible { .. } => return Err(Unsupported),
            _ => {
                self.builder.ins().jump(yes, &[]);
            }
        }
        Ok(())
    }

    fn if_youngest(&mut self, yes: Block, no: Block) {
        let (n_processes, one) = (self.load(Cell::U8, self.look.state, 0), self.constant(1));
        let after = self.builder.ins().iadd(self.process, one);
        let is_youngest = self.builder.ins().icmp(IntCC::Equal, after, n_processes);
        self.builder.ins().brif(is_youngest, yes, &[], no, &[]);
    }

    /// Lets the interpreter do an edge.
    pub(super) fn leave_to_interpreter(&mut self, finish: Finish) -> Emitted<()> {
        let number = self.constant(finish.number.into());
        let taken = self.call(Call::Edge, &[self.process, number]);
        self.moved_if(taken);
        self.builder.ins().jump(finish.next, &[]);
        Ok(())
    }

    /// Begins with a successor, which is looked at from now on; returns what was before.
    pub(super) fn begin(&mut self, call: Call) -> Look {
        let state = self.call(call, &[]);
        let own = self.builder.ins().iadd(state, self.record);
        std::mem::replace(&mut self.look, Look { state, own, is_new: true })
    }

    /// Ends an edge: the process goes to its new location, and keeps control or not.
    pub(super) fn finish_edge(&mut self, finish: Finish, fault: Option<Value>) {
        let edge = &self.code.edges[finish.number as usize];
        let to = self.constant(edge.to.into());
        self.store(Cell::U16, to, Spot { address: self.look.own, plus: 1 });
        if let (Some(last), None) = (self.code.last, finish.choice) {
            self.store(
                Cell::U8,
                self.process,
                Spot { address: self.look.state, plus: last as i32 },
            );
        }
        let zero = self.constant(0);
        let goes_on = match edge.atomic {
            true => self.goes_on(edge),
            false => zero,
        };
        let number = self.constant(finish.number.into());
        match finish.choice {
            Some(choice) => {
                let choice = self.constant(choice.into());
                self.call(Call::CommitTaken, &[self.process, number, choice, goes_on]);
            }
            None => {
                let fault = fault.unwrap_or_else(|| self.constant(NO_FAULT.into()));
                self.call(Call::Commit, &[self.process, number, goes_on, fault]);
                self.has_moved();
            }
        }
        self.builder.ins().jump(finish.next, &[]);
    }

    /// Whether the process can go on behind an atomic edge.
    fn goes_on(&mut self, edge: &Edge) -> Value {
        let id = self.called.can_move[edge.routine.0 as usize][edge.to as usize];
        match id {
            Some(id) => {
                let function = self.module.declare_func_in_func(id, self.builder.func);
                let arguments = [self.context, self.look.state, self.record, self.process];
                let call = self.builder.ins().call(function, &arguments);
                self.builder.inst_results(call)[0]
            }
            None => self.call(Call::CanMove, &[self.look.state, self.process]),
        }
    }

    fn has_moved(&mut self) {
        let one = self.constant(1);
        self.builder.def_var(self.moved, one);
    }

    pub(super) fn moved_if(&mut self, taken: Value) {
        let before = self.builder.use_var(self.moved);
        let moved = self.builder.ins().bor(before, taken);
        self.builder.def_var(self.moved, moved);
    }

    /// Goes to the block for faults if something is so.
    pub(super) fn fault_if(&mut self, is_wrong: Value, fault: u32) {
        let fault = self.constant(fault.into());
        self.branch_to_fault(is_wrong, fault);
    }

    pub(super) fn branch_to_fault(&mut self, is_wrong: Value, fault: Value) {
        let fine = self.builder.create_block();
        self.builder.ins().brif(is_wrong, self.faults, &[fault.into()], fine, &[]);
        self.builder.switch_to_block(fine);
    }

    /// Calls a function of the bridge; what it returns is of no use if it returns nothing.
    pub(super) fn call(&mut self, call: Call, arguments: &[Value]) -> Value {
        let id = self.called.bridge[call as usize];
        let function: FuncRef = self.module.declare_func_in_func(id, self.builder.func);
        let arguments: Vec<_> =
            [self.context].into_iter().chain(arguments.iter().copied()).collect();
        let call = self.builder.ins().call(function, &arguments);
        match self.builder.inst_results(call) {
            [result] => *result,
            _ => self.context,
        }
    }
}

/// Where something is from the beginning of a part of a state.
pub(super) fn at(place: u32) -> Emitted<i32> {
    // A piece may be behind it, which does not end before the state does.
    i32::try_from(place).ok().filter(|&it| it < i32::MAX / 2).ok_or(Unsupported)
}
