//! Expressions as machine code.

use super::super::code::{Cell, Node, NodeId, Target, fault};
use super::bridge::{NO_FAULT, offset};
use super::emit::{Call, Emitted, Emitter, MEMORY, Unsupported, at};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use mazurka_model::{Binary, Compare, Type, Unary};

/// A place in memory where something is to be written: an address, and what is to be added to it.
#[derive(Clone, Copy)]
pub(super) struct Spot {
    pub(super) address: Value,
    pub(super) plus: i32,
}

impl Emitter<'_, '_> {
    /// What an expression is worth; goes to the block for faults if something is wrong with it.
    pub(super) fn value(&mut self, id: NodeId) -> Emitted<Value> {
        Ok(match self.code.nodes[id.0 as usize] {
            Node::Const(constant) => self.constant(constant),
            Node::Global { at: place, cell } => self.load(cell, self.look.state, at(place)?),
            Node::Local { at: place, cell } => self.load(cell, self.look.own, at(place)?),
            Node::GlobalAt { at: place, offset, size, cell } => {
                let address = self.element(self.look.state, offset, size, cell.bytes())?;
                self.load(cell, address, at(place)?)
            }
            Node::LocalAt { at: place, offset, size, cell } => {
                let address = self.element(self.look.own, offset, size, cell.bytes())?;
                self.load(cell, address, at(place)?)
            }
            Node::Unary(op, ty, operand) => {
                integer(ty)?;
                let operand = self.value(operand)?;
                let value = match op {
                    Unary::Negate => self.builder.ins().ineg(operand),
                    Unary::Not => self.builder.ins().bnot(operand),
                };
                self.canonical(ty, value)
            }
            Node::Binary(op, ty, left, right) => {
                integer(ty)?;
                let (left, right) = (self.value(left)?, self.value(right)?);
                self.binary(op, ty, left, right)?
            }
            Node::Add(left, right) => {
                let (left, right) = (self.value(left)?, self.value(right)?);
                let sum = self.builder.ins().iadd(left, right);
                self.canonical(Type::I32, sum)
            }
            Node::Subtract(left, right) => {
                let (left, right) = (self.value(left)?, self.value(right)?);
                let difference = self.builder.ins().isub(left, right);
                self.canonical(Type::I32, difference)
            }
            Node::Compare(op, ty, left, right) => {
                integer(ty)?;
                let (left, right) = (self.value(left)?, self.value(right)?);
                self.compare(condition(op, ty.is_signed()), left, right)
            }
            Node::Equal(left, right) => {
                let (left, right) = (self.value(left)?, self.value(right)?);
                self.compare(IntCC::Equal, left, right)
            }
            Node::Less(left, right) => {
                let (left, right) = (self.value(left)?, self.value(right)?);
                self.compare(IntCC::SignedLessThan, left, right)
            }
            Node::Not(operand) => {
                let (operand, zero) = (self.value(operand)?, self.constant(0));
                self.compare(IntCC::Equal, operand, zero)
            }
            Node::Convert(ty, operand) => {
                integer(ty)?;
                let operand = self.value(operand)?;
                self.canonical(ty, operand)
            }
            Node::If(condition, then, otherwise) => self.choice(condition, then, otherwise)?,
            Node::Index(index, count) => {
                let index = self.value(index)?;
                let limit = self.constant(i64::from(count));
                let is_outside =
                    self.builder.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, index, limit);
                self.fault_if(is_outside, fault::INDEX);
                index
            }
            Node::Thread => self.process,
            Node::Length(channel) => self.length_of(channel, |_, length, _| length)?,
            Node::Full(channel) => self.length_of(channel, |emitter, length, full| {
                let full = emitter.constant(i64::from(full));
                emitter.compare(IntCC::Equal, length, full)
            })?,
            Node::Empty(channel) => self.length_of(channel, |emitter, length, _| {
                let zero = emitter.constant(0);
                emitter.compare(IntCC::Equal, length, zero)
            })?,
            Node::Poll(message) => self.poll(message)?,
            Node::Processes => self.load(Cell::U8, self.look.state, 0),
            Node::Last => match self.code.last {
                Some(place) => self.load(Cell::U8, self.look.state, at(place)?),
                None => self.constant(0),
            },
            Node::Timeout if self.look.is_new => self.constant(0),
            Node::Timeout => self.load(Cell::U32, self.context, offset::IS_TIMEOUT),
            Node::OwnChannel(_)
            | Node::NonProgress
            | Node::Enabled(_)
            | Node::Location(_)
            | Node::Priority(_)
            | Node::At { .. }
            | Node::Remote { .. }
            | Node::RemoteAt { .. } => self.ask(id)?,
        })
    }

    pub(super) fn constant(&mut self, value: i64) -> Value {
        self.builder.ins().iconst(types::I64, value)
    }

    pub(super) fn load(&mut self, cell: Cell, address: Value, plus: i32) -> Value {
        let ins = self.builder.ins();
        match cell {
            Cell::U8 => ins.uload8(types::I64, MEMORY, address, plus),
            Cell::I8 => ins.sload8(types::I64, MEMORY, address, plus),
            Cell::U16 => ins.uload16(types::I64, MEMORY, address, plus),
            Cell::I16 => ins.sload16(types::I64, MEMORY, address, plus),
            Cell::U32 => ins.uload32(MEMORY, address, plus),
            Cell::I32 => ins.sload32(MEMORY, address, plus),
            Cell::I64 => ins.load(types::I64, MEMORY, address, plus),
        }
    }

    pub(super) fn store(&mut self, cell: Cell, value: Value, to: Spot) {
        let ins = self.builder.ins();
        match cell.bytes() {
            1 => ins.istore8(MEMORY, value, to.address, to.plus),
            2 => ins.istore16(MEMORY, value, to.address, to.plus),
            4 => ins.istore32(MEMORY, value, to.address, to.plus),
            _ => ins.store(MEMORY, value, to.address, to.plus),
        };
    }

    /// Where a target is; `fault` if it is nowhere.
    pub(super) fn spot(&mut self, to: Target) -> Emitted<(Spot, Type)> {
        let (address, place, ty) = match to {
            Target::Global { at, ty } => (self.look.state, at, ty),
            Target::Local { at, ty } => (self.look.own, at, ty),
            Target::GlobalAt { at, offset, size, ty } => {
                (self.element(self.look.state, offset, size, ty.bytes())?, at, ty)
            }
            Target::LocalAt { at, offset, size, ty } => {
                (self.element(self.look.own, offset, size, ty.bytes())?, at, ty)
            }
        };
        Ok((Spot { address, plus: at(place)? }, integer(ty)?))
    }

    /// The address of an element of an object of `size` bytes, which begins at an address, but for
    /// what is fixed.
    fn element(&mut self, base: Value, offset: NodeId, size: u32, bytes: u32) -> Emitted<Value> {
        let last = size.checked_sub(bytes).ok_or(Unsupported)?;
        let offset = self.value(offset)?;
        let last = self.constant(i64::from(last));
        let is_outside = self.builder.ins().icmp(IntCC::UnsignedGreaterThan, offset, last);
        self.fault_if(is_outside, fault::INDEX);
        Ok(self.builder.ins().iadd(base, offset))
    }

    /// A value cut off at the width of its type.
    pub(super) fn canonical(&mut self, ty: Type, value: Value) -> Value {
        let Type::Int { bits, signed } = ty else { return value };
        if bits == 64 {
            return value;
        }
        let unused = self.constant(64 - i64::from(bits));
        let shifted = self.builder.ins().ishl(value, unused);
        match signed {
            true => self.builder.ins().sshr(shifted, unused),
            false => self.builder.ins().ushr(shifted, unused),
        }
    }

    pub(super) fn compare(&mut self, how: IntCC, left: Value, right: Value) -> Value {
        let is_so = self.builder.ins().icmp(how, left, right);
        self.builder.ins().uextend(types::I64, is_so)
    }

    fn binary(&mut self, op: Binary, ty: Type, left: Value, right: Value) -> Emitted<Value> {
        let signed = ty.is_signed();
        let value = match op {
            Binary::Add => self.builder.ins().iadd(left, right),
            Binary::Subtract => self.builder.ins().isub(left, right),
            Binary::Multiply => self.builder.ins().imul(left, right),
            Binary::And => self.builder.ins().band(left, right),
            Binary::Or => self.builder.ins().bor(left, right),
            Binary::Xor => self.builder.ins().bxor(left, right),
            Binary::Divide | Binary::Remainder => {
                // The smallest number divided by minus one has no room in 64 bits.
                if ty.bits() == 64 {
                    return Err(Unsupported);
                }
                let zero = self.constant(0);
                let is_zero = self.builder.ins().icmp(IntCC::Equal, right, zero);
                self.fault_if(is_zero, fault::DIVISION);
                match (op, signed) {
                    (Binary::Divide, true) => self.builder.ins().sdiv(left, right),
                    (Binary::Divide, false) => self.builder.ins().udiv(left, right),
                    (_, true) => self.builder.ins().srem(left, right),
                    (_, false) => self.builder.ins().urem(left, right),
                }
            }
            Binary::ShiftLeft | Binary::ShiftRight => {
                let (width, zero) = (self.constant(i64::from(ty.bits())), self.constant(0));
                let fits = self.builder.ins().icmp(IntCC::UnsignedLessThan, right, width);
                let (shifted, too_far) = match (op, signed) {
                    (Binary::ShiftLeft, _) => (self.builder.ins().ishl(left, right), zero),
                    (_, false) => (self.builder.ins().ushr(left, right), zero),
                    (_, true) => {
                        let most = self.constant(63);
                        let sign = self.builder.ins().sshr(left, most);
                        (self.builder.ins().sshr(left, right), sign)
                    }
                };
                self.builder.ins().select(fits, shifted, too_far)
            }
            Binary::Apply(_) => return Err(Unsupported),
        };
        Ok(self.canonical(ty, value))
    }

    fn choice(&mut self, condition: NodeId, then: NodeId, otherwise: NodeId) -> Emitted<Value> {
        let [yes, no, done] = [(); 3].map(|()| self.builder.create_block());
        let result = self.builder.append_block_param(done, types::I64);
        let condition = self.value(condition)?;
        self.builder.ins().brif(condition, yes, &[], no, &[]);
        for (block, part) in [(yes, then), (no, otherwise)] {
            self.builder.switch_to_block(block);
            let value = self.value(part)?;
            self.builder.ins().jump(done, &[value.into()]);
        }
        self.builder.switch_to_block(done);
        Ok(result)
    }

    /// Asks the interpreter, which only knows the state that is expanded.
    fn ask(&mut self, id: NodeId) -> Emitted<Value> {
        if self.look.is_new {
            return Err(Unsupported);
        }
        let node = self.constant(i64::from(id.0));
        let value = self.call(Call::Ask, &[node, self.process]);
        let (fault, none) =
            (self.load(Cell::U32, self.context, offset::FAULT), self.constant(NO_FAULT.into()));
        let is_wrong = self.builder.ins().icmp(IntCC::NotEqual, fault, none);
        self.branch_to_fault(is_wrong, fault);
        Ok(value)
    }
}

/// The machine has integers only.
fn integer(ty: Type) -> Emitted<Type> {
    if ty.is_int() { Ok(ty) } else { Err(Unsupported) }
}

fn condition(op: Compare, signed: bool) -> IntCC {
    match (op, signed) {
        (Compare::Equal, _) => IntCC::Equal,
        (Compare::NotEqual, _) => IntCC::NotEqual,
        (Compare::Less, true) => IntCC::SignedLessThan,
        (Compare::Less, false) => IntCC::UnsignedLessThan,
        (Compare::LessOrEqual, true) => IntCC::SignedLessThanOrEqual,
        (Compare::LessOrEqual, false) => IntCC::UnsignedLessThanOrEqual,
        (Compare::Greater, true) => IntCC::SignedGreaterThan,
        (Compare::Greater, false) => IntCC::UnsignedGreaterThan,
        (Compare::GreaterOrEqual, true) => IntCC::SignedGreaterThanOrEqual,
        (Compare::GreaterOrEqual, false) => IntCC::UnsignedGreaterThanOrEqual,
    }
}
