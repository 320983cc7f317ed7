//! Intrinsics, which have no body in C: atomics, threads, locks, memory.

use super::expression::offset;
use super::place::place_of;
use super::{Writer, value_type};
use crate::tree::{Change, Expression, Intrinsic, Primitive, Wrong};
use crate::types::{self, Int};
use mazurka_model::{
    self as model, Access, Action, Assumption, Callee, Compare, Expr, Layout, MemoryOrder,
    Overflow, Type, Update, ViolationKind,
};

impl<'a> Writer<'_, 'a> {
    /// Writes an intrinsic; says what its value is, if it has one.
    pub(super) fn intrinsic(
        &mut self,
        intrinsic: &'a Intrinsic,
        arguments: &'a [Expression],
        it: &'a Expression,
    ) -> Option<Expr> {
        let ty = value_type(&it.ty);
        match intrinsic {
            Intrinsic::Nothing => None,
            Intrinsic::Nondet => {
                self.at(it.span);
                Some(self.nondet(it.ty.as_int().expect("it is an integer"), i64::MIN))
            }
            Intrinsic::Check(wrong, message) => {
                let condition = self.value(&arguments[0]).is_true();
                self.at(it.span);
                let kind = match wrong {
                    Wrong::Assertion => ViolationKind::Assertion,
                    Wrong::Panic => ViolationKind::Panic,
                    Wrong::Memory => ViolationKind::Memory,
                };
                self.check(condition, kind, message);
                None
            }
            Intrinsic::Primitive(primitive) => self.primitive(*primitive, arguments, it),
            Intrinsic::Fence(order) => {
                self.at(it.span);
                self.to.then(Action::Fence(*order));
                None
            }
            Intrinsic::AtomicLoad(order) => {
                let place = self.pointed(&arguments[0]);
                self.at(it.span);
                Some(self.load(&place, ty, Access::Atomic(*order)))
            }
            Intrinsic::AtomicStore(order) => {
                let place = self.pointed(&arguments[0]);
                let value = self.value(&arguments[1]);
                self.at(it.span);
                self.to.store(place, value, Access::Atomic(*order));
                None
            }
            Intrinsic::AtomicExchange(order) => {
                let on = self.pointed(&arguments[0]);
                let value = self.value(&arguments[1]);
                self.at(it.span);
                let old = self.temporary(ty);
                let (update, order) = (Update::Exchange, *order);
                self.to.then(Action::Modify { old: Some(old), on, update, value, order });
                Some(self.to.get(old))
            }
            Intrinsic::AtomicUpdate(change, is_new, order) => {
                Some(self.atomic_change((*change, *order), *is_new, arguments, it))
            }
            Intrinsic::CompareAndSwap | Intrinsic::CompareAndSwapped => {
                let on = self.pointed(&arguments[0]);
                let expected = self.value(&arguments[1]);
                let new = self.value(&arguments[2]);
                self.at(it.span);
                let register = self.temporary(ty);
                let (success, old) = match intrinsic {
                    Intrinsic::CompareAndSwap => (None, Some(register)),
                    _ => (Some(register), None),
                };
                let order = MemoryOrder::SequentiallyConsistent;
                self.to.then(Action::CompareExchange {
                    success,
                    old,
                    on,
                    expected,
                    new,
                    order,
                    failure: order,
                });
                Some(self.to.get(register))
            }
            Intrinsic::CompareExchange(order, failure) => {
                Some(self.compare_exchange([*order, *failure], arguments, it))
            }
            Intrinsic::Overflow(change) => Some(self.overflow(*change, arguments, it)),
        }
    }

    /// Computes in the type that all have, or in one that has room for each of them.
    fn overflow(
        &mut self,
        change: Change,
        arguments: &'a [Expression],
        it: &'a Expression,
    ) -> Expr {
        let (operator, overflow) = match change {
            Change::Add => (model::Binary::Add, Overflow::Add),
            Change::Subtract => (model::Binary::Subtract, Overflow::Subtract),
            _ => (model::Binary::Multiply, Overflow::Multiply),
        };
        let narrow = arguments[2].ty.target().map_or(Type::I64, |it| value_type(&it.ty));
        let values: Vec<Expr> = arguments[..2].iter().map(|value| self.value(value)).collect();
        let is_one = values.iter().all(|value| value.ty() == narrow);
        let wide = if is_one { narrow } else { Type::I64 };
        let [left, right] = [0, 1].map(|idx| self.small(values[idx].clone().convert(wide)));
        let place = self.pointed(&arguments[2]);
        self.at(it.span);
        let access = if self.is_private(&place) { Access::Private } else { Access::Plain };
        let result = Expr::binary(operator, left.clone(), right.clone());
        let result = self.small(result);
        let fitting = self.small(result.clone().convert(narrow));
        let is_changed = Expr::compare(Compare::NotEqual, fitting.clone().convert(wide), result);
        let is_outside = Expr::overflows(overflow, left, right).or(is_changed);
        let is_outside = self.small(is_outside);
        self.to.store(place, fitting, access);
        is_outside
    }

    fn atomic_change(
        &mut self,
        (change, order): (Change, MemoryOrder),
        is_new: bool,
        arguments: &'a [Expression],
        it: &'a Expression,
    ) -> Expr {
        let ty = value_type(&it.ty);
        let on = self.pointed(&arguments[0]);
        let value = self.value(&arguments[1]);
        let value = self.small(value);
        self.at(it.span);
        let (update, operator) = match change {
            Change::Add => (Update::Add, model::Binary::Add),
            Change::Subtract => (Update::Subtract, model::Binary::Subtract),
            Change::Multiply => unreachable!("nothing is multiplied in one step"),
            Change::And => (Update::And, model::Binary::And),
            Change::Or => (Update::Or, model::Binary::Or),
            Change::Xor => (Update::Xor, model::Binary::Xor),
            Change::Nand => (Update::Nand, model::Binary::And),
        };
        let old = self.temporary(ty);
        let by = value.clone().convert(ty);
        self.to.then(Action::Modify { old: Some(old), on, update, value: by.clone(), order });
        let old = self.to.get(old);
        match (is_new, change, ty) {
            (false, ..) => old,
            (true, Change::Subtract, Type::Pointer) => {
                offset(old, Expr::unary(model::Unary::Negate, value.convert(Type::I64)))
            }
            (true, _, Type::Pointer) => offset(old, value.convert(Type::I64)),
            (true, Change::Nand, _) => {
                Expr::unary(model::Unary::Not, Expr::binary(operator, old, by))
            }
            (true, ..) => Expr::binary(operator, old, by),
        }
    }

    /// `*b` gets what was found, if that was not what `*b` is.
    fn compare_exchange(
        &mut self,
        [order, failure]: [MemoryOrder; 2],
        arguments: &'a [Expression],
        it: &'a Expression,
    ) -> Expr {
        let on = self.pointed(&arguments[0]);
        let ty = value_type(&arguments[2].ty);
        let place = self.pointed(&arguments[1]);
        let access = if self.is_private(&place) { Access::Private } else { Access::Plain };
        let new = self.value(&arguments[2]);
        self.at(it.span);
        let expected = self.load(&place, ty, access);
        let (success, old) = (self.temporary(Type::BOOL), self.temporary(ty));
        self.to.then(Action::CompareExchange {
            success: Some(success),
            old: Some(old),
            on,
            expected,
            new,
            order,
            failure,
        });
        let end = self.to.location();
        let (success, old) = (self.to.get(success), self.to.get(old));
        let failed = self.to.branch(success.clone());
        self.to.jump(end);
        self.to.go_on_from(failed);
        self.to.store(place, old, access);
        self.to.jump(end);
        self.to.go_on_from(end);
        success
    }

    /// Any value of a type, or of the range that was asked for.
    /// Any value of a type from `least` on.
    pub(super) fn nondet(&mut self, int: Int, least: i64) -> Expr {
        let ty = value_type(&types::Type::Int(int));
        let smallest = int.wrap(if int.is_signed() { 1 << (int.bits() - 1) } else { 0 });
        let greatest = match (int, int.is_signed()) {
            (Int::Bool, _) => 1,
            (_, true) => !smallest,
            (_, false) if int.bits() == 64 => i64::MAX,
            (_, false) => int.wrap(-1),
        };
        let smallest = smallest.max(least);
        let (low, high) = match self.all.options.nondet {
            Some((low, high)) if int != Int::Bool => {
                let range = Assumption::NondetRange { low, high };
                if !self.all.program.assumptions.contains(&range) {
                    self.all.program.assumptions.push(range);
                }
                (low.clamp(smallest, greatest), high.clamp(smallest, greatest))
            }
            // All patterns of 64 bits, whatever they stand for.
            _ if int.bits() == 64 => (least, i64::MAX),
            _ => (smallest, greatest),
        };
        let to = self.temporary(ty);
        self.to.then(Action::Choose { to, low, high });
        self.to.get(to)
    }

    fn primitive(
        &mut self,
        primitive: Primitive,
        arguments: &'a [Expression],
        it: &'a Expression,
    ) -> Option<Expr> {
        use Primitive as P;
        let hint = self.hint.take();
        let values: Vec<Expr> = arguments.iter().map(|argument| self.value(argument)).collect();
        self.at(it.span);
        let value = |idx: usize| values[idx].clone();
        let place = |idx: usize| place_of(values[idx].clone());
        match primitive {
            P::Allocate => {
                let element = match hint {
                    Some(layout) => layout,
                    None => self.all.program.layout(Layout::Bytes(8)),
                };
                return self.giving(Type::Pointer, |to| Action::Allocate {
                    to,
                    size: value(0),
                    element,
                });
            }
            P::SizeOf => {
                return self.giving(Type::U64, |to| Action::SizeOf { to, pointer: value(0) });
            }
            P::Choose => {
                let (low, high) = (constant(&values[0]), constant(&values[1]));
                return self.giving(Type::I32, |to| Action::Choose { to, low, high });
            }
            P::Spurious => {
                if !self.all.options.spurious_wakeups {
                    let here = self.call_place.unwrap_or_else(|| self.all.place(it.span));
                    let before = |at: model::Span| (at.file.0, at.line, at.column);
                    let first = self.all.first_wait.get_or_insert(here);
                    if before(here) < before(*first) {
                        *first = here;
                    }
                    return Some(Expr::int(Type::I32, 0));
                }
                return self.giving(Type::I32, |to| Action::Choose { to, low: 0, high: 1 });
            }
            P::Spawn => {
                let routine = match value(0) {
                    Expr::Routine(routine) => Callee::Routine(routine),
                    pointer => Callee::Pointer(pointer),
                };
                let arguments = vec![value(1)];
                return self.giving(Type::U32, |to| Action::Spawn {
                    routine,
                    arguments,
                    to: Some(to),
                });
            }
            P::Join => {
                let process = value(0);
                return self.giving(Type::Pointer, |to| Action::Join { process, to: Some(to) });
            }
            P::JoinInt => {
                let process = value(0);
                return self.giving(Type::I32, |to| Action::Join { process, to: Some(to) });
            }
            P::Thread => return Some(Expr::Thread),
            P::Apply(function) => {
                let operator = model::Binary::Apply(function);
                return Some(Expr::binary(operator, value(0), value(1)));
            }
            P::Lock => {
                let mutex = place(0);
                return self.giving(Type::I32, |to| Action::Lock { mutex, to: Some(to) });
            }
            P::Unlock => {
                let mutex = place(0);
                return self.giving(Type::I32, |to| Action::Unlock { mutex, to: Some(to) });
            }
            P::TryLock => {
                let mutex = place(0);
                return self.giving(Type::BOOL, |to| Action::TryLock { mutex, to: Some(to) });
            }
            P::TryReadLock => {
                return self.giving(Type::BOOL, |to| Action::TryReadLock(place(0), Some(to)));
            }
            P::TryWriteLock => {
                return self.giving(Type::BOOL, |to| Action::TryWriteLock(place(0), Some(to)));
            }
            P::SemaphoreTryAcquire => {
                return self
                    .giving(Type::BOOL, |to| Action::SemaphoreTryAcquire(place(0), Some(to)));
            }
            P::SemaphoreValue => {
                return self.giving(Type::I32, |to| Action::SemaphoreValue(place(0), to));
            }
            P::BarrierWait => {
                return self.giving(Type::BOOL, |to| Action::BarrierWait(place(0), Some(to)));
            }
            P::HasKeys => return Some(Expr::int(Type::I32, i64::from(self.all.has_keys))),
            P::HasHandlers => {
                return Some(Expr::int(Type::I32, i64::from(self.all.has_handlers)));
            }
            P::Get => return Some(self.load(&place(0), Type::I32, Access::Private)),
            P::Await => {
                let to = self.temporary(Type::I32);
                let until = Expr::compare(Compare::Equal, self.to.get(to), value(1));
                self.to.then(Action::Await { to, from: place(0), ty: Type::I32, until });
                return None;
            }
            _ => {}
        }
        self.to.then(self.plain_primitive(primitive, &values));
        if matches!(primitive, P::ExitThread | P::ExitProgram) {
            // Nothing comes after it.
            let unreached = self.to.location();
            self.to.go_on_from(unreached);
        }
        None
    }

    /// A primitive that has no value.
    fn plain_primitive(&self, primitive: Primitive, values: &[Expr]) -> Action {
        use Primitive as P;
        let value = |idx: usize| values[idx].clone();
        let place = |idx: usize| place_of(values[idx].clone());
        match primitive {
            P::Free => Action::Free { pointer: value(0) },
            P::Copy => Action::Copy { to: place(0), from: place(1), size: value(2) },
            P::Fill => Action::Fill { to: place(0), byte: value(1), size: value(2) },
            P::Assume => Action::Assume { condition: value(0).is_true() },
            P::AtomicBegin => Action::AtomicBegin,
            P::AtomicEnd => Action::AtomicEnd,
            P::Yield => Action::Yield,
            P::Excuse => Action::Excuse { begins: value(0).as_const() == Some(1) },
            P::Detach => Action::Detach { process: value(0) },
            P::ExitThread => Action::ExitProcess { value: Some(value(0)) },
            P::ExitProgram => Action::ExitProgram,
            P::MutexInit => Action::MutexInit { mutex: place(0), kind: value(1) },
            P::Reset(kind) => Action::Reset(kind, place(0)),
            P::Destroy(kind) => Action::Destroy(kind, place(0)),
            P::ReadLock => Action::ReadLock(place(0)),
            P::WriteLock => Action::WriteLock(place(0)),
            P::ReadWriteUnlock => Action::ReadWriteUnlock(place(0)),
            P::Wait => Action::Wait { condvar: place(0), mutex: place(1) },
            P::NotifyOne => Action::NotifyOne(place(0)),
            P::NotifyAll => Action::NotifyAll(place(0)),
            P::SemaphoreInit => Action::SemaphoreInit { semaphore: place(0), permits: value(1) },
            P::SemaphoreAcquire => Action::SemaphoreAcquire(place(0)),
            P::SemaphoreRelease => Action::SemaphoreRelease(place(0)),
            P::BarrierInit => Action::BarrierInit { barrier: place(0), parties: value(1) },
            P::Set => Action::Store { to: place(0), value: value(1), access: Access::Private },
            other => unreachable!("{other:?} has a value"),
        }
    }

    /// An action whose value goes into a new register.
    fn giving(
        &mut self,
        ty: Type,
        action: impl FnOnce(model::RegisterId) -> Action,
    ) -> Option<Expr> {
        let to = self.temporary(ty);
        self.to.then(action(to));
        Some(self.to.get(to))
    }
}

fn constant(value: &Expr) -> i64 {
    value.as_const().expect("the library chooses between constants") as i64
}
