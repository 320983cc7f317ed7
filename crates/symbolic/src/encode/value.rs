//! Expressions as words: each as wide as its type.

use super::Encoder;
use super::graph::ContextId;
use super::state::State;
use crate::Word;
use mazurka_model::{Base, Expr, Pointer};

impl Encoder<'_> {
    /// The value of an expression in the context that is being encoded.
    pub(super) fn eval(&mut self, state: &State, value: &Expr) -> Word {
        let is_float = match value {
            Expr::Unary(_, operand)
            | Expr::Binary(_, operand, _)
            | Expr::Compare(_, operand, _) => operand.ty().is_float(),
            Expr::Convert(to, operand) => to.is_float() || operand.ty().is_float(),
            _ => false,
        };
        if is_float {
            self.refuse("arithmetic on floating-point numbers", self.span);
            return Word::constant(value.ty().bits() as usize, 0);
        }
        match value {
            Expr::Const { ty, bits } => Word::constant(ty.bits() as usize, *bits),
            Expr::Register { register, .. } => {
                let it = &self.threads[self.thread];
                match &self.seen {
                    Some((seen, word)) if seen == register => word.clone(),
                    _ => {
                        let variable =
                            self.registers[self.thread] + it.register(self.context, *register);
                        state.get(&self.variables, variable)
                    }
                }
            }
            Expr::Unary(op, operand) => {
                let operand = self.eval(state, operand);
                self.circuit.aig.unary(*op, &operand)
            }
            Expr::Binary(op, left, right) => {
                let (ty, shift) = (left.ty(), right.ty());
                let (left, right) = (self.eval(state, left), self.eval(state, right));
                self.circuit.aig.binary(*op, ty, &left, &right, shift)
            }
            Expr::Compare(op, left, right) => {
                let ty = left.ty();
                let (left, right) = (self.eval(state, left), self.eval(state, right));
                self.circuit.aig.compare(*op, ty, &left, &right).into()
            }
            Expr::Overflows(op, left, right) => {
                let ty = left.ty();
                let (left, right) = (self.eval(state, left), self.eval(state, right));
                self.circuit.aig.overflows(*op, ty, &left, &right).into()
            }
            Expr::Convert(to, operand) => {
                let from = operand.ty();
                let operand = self.eval(state, operand);
                self.circuit.aig.convert(*to, from, &operand)
            }
            Expr::Reinterpret(to, operand) => {
                self.eval(state, operand).resize(to.bits() as usize, false)
            }
            Expr::If(parts) => {
                let [condition, yes, no] = parts.each_ref().map(|part| self.eval(state, part));
                self.circuit.aig.mux(condition.bits()[0], &yes, &no)
            }
            Expr::Offset(pointer, bytes) => {
                let signed = bytes.ty().is_signed();
                let pointer = self.eval(state, pointer);
                let bytes = self.eval(state, bytes).resize(64, signed);
                self.offset(&pointer, &bytes)
            }
            Expr::Address(place) => {
                let bytes = self.eval(state, &place.offset);
                let bytes = bytes.resize(64, place.offset.ty().is_signed());
                let pointer = match &place.base {
                    Base::Object(object) => match self.own.get(&(self.thread, object.0)) {
                        Some(&own) => self.pointer_to(own),
                        None => Word::constant(64, Pointer::to_object(*object).bits()),
                    },
                    Base::Frame(number) => {
                        self.pointer_to(self.frames[&(self.thread, self.context, *number)])
                    }
                    Base::Pointer(pointer) => self.eval(state, pointer),
                    Base::Channel(_) => {
                        self.refuse("the address of a channel", self.span);
                        Word::constant(64, 0)
                    }
                };
                self.offset(&pointer, &bytes)
            }
            Expr::Routine(routine) => Word::constant(64, Pointer::to_routine(*routine).bits()),
            Expr::Thread => Word::constant(32, self.thread as u64),
            Expr::Read { from, ty } if self.is_asking => self.peek(from, *ty),
            Expr::Query(query) if self.is_asking => self.answer(query),
            Expr::Read { ty, .. } => {
                self.refuse("an expression that reads memory", self.span);
                Word::constant(ty.bits() as usize, 0)
            }
            Expr::Index(..) | Expr::Query(_) => {
                self.refuse("an expression that asks the whole state", self.span);
                Word::constant(value.ty().bits() as usize, 0)
            }
        }
    }

    /// The pointer to the beginning of an object.
    pub(super) fn pointer_to(&self, object: super::memory::ObjectId) -> Word {
        Word::constant(64, Pointer { object: self.objects[object].number, offset: 0 }.bits())
    }

    /// Gives a register of a context a value of a type.
    pub(super) fn assign(
        &mut self,
        state: &mut State,
        context: ContextId,
        register: mazurka_model::RegisterId,
        word: &Word,
        signed: bool,
    ) {
        let it = &self.threads[self.thread];
        let routine = self.known.program.routine(it.contexts[context].routine);
        let width = routine.registers[register.0 as usize].ty.bits() as usize;
        let variable = self.registers[self.thread] + it.register(context, register);
        state.set(variable, word.resize(width, signed));
    }

    fn offset(&mut self, pointer: &Word, bytes: &Word) -> Word {
        let low = self.circuit.aig.add(&pointer.truncate(32), &bytes.truncate(32));
        low.concat(&pointer.slice(32, 32))
    }
}
