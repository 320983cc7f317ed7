//! Builtins: functions that the compiler has, and those that the library is written with.

use super::expression::number;
use super::{Checked, Checker, Name, all, fold};
use crate::tree::{Change, Expression, Function, Intrinsic, Kind, Primitive, Wrong};
use crate::types::{Int, Type};
use lang_c::ast;
use lang_c::span::Node;
use mazurka_model::{Assumption, MemoryOrder};
use mazurka_source::Span;

type Arguments<'a> = &'a [Node<ast::Expression>];

impl<'a> Checker<'a> {
    /// The call of a function that has no body and needs none.
    pub(super) fn builtin(
        &mut self,
        name: &str,
        arguments: Arguments<'a>,
        span: Span,
    ) -> Option<Checked<Expression>> {
        if let Some(done) = self.print_call(name, arguments, span) {
            return Some(done);
        }
        let failed = |what: &str| Intrinsic::Check(Wrong::Assertion, what.to_owned());
        if Function::is_error(name) && self.is_function(name) {
            let error = never(failed(&Function::error_message(name)), span);
            let ty = match self.lookup(name) {
                Some(Name::Function(id)) => self.tree.functions[id.0].signature.result.clone(),
                _ => Type::INT,
            };
            return Some(Ok(if ty.is_scalar() { Expression { ty, ..error } } else { error }));
        }
        if self.has_body(name) {
            return None;
        }
        if let Some(primitive) = Primitive::named(name) {
            return Some(self.primitive(name, primitive, arguments, span));
        }
        if let Some(kind) = name.strip_prefix("__VERIFIER_nondet_") {
            return Some(self.nondet(name, kind, span));
        }
        let atomic = name.strip_prefix("__atomic_").or_else(|| name.strip_prefix("__sync_"));
        if let Some(operation) = atomic {
            return Some(self.atomic(name, operation, arguments, span));
        }
        if let Some((change, int)) = overflowing(name) {
            return Some(self.overflow(name, change, int, arguments, span));
        }
        Some(match name {
            "__assert_fail" => {
                let text = arguments.first().and_then(text_of).unwrap_or_default();
                Ok(never(failed(&format!("assertion `{text}` failed")), span))
            }
            "__mazurka_fail" => {
                let text = arguments.get(1).and_then(text_of).unwrap_or_default();
                let wrong = match arguments.first().map(|it| self.constant_int(it)) {
                    Some(Ok(0)) => Wrong::Assertion,
                    Some(Ok(1)) => Wrong::Panic,
                    _ => Wrong::Memory,
                };
                Ok(never(Intrinsic::Check(wrong, text), span))
            }
            "__builtin_trap" | "__builtin_abort" => {
                let text = format!("`{name}` was called");
                Ok(never(Intrinsic::Check(Wrong::Panic, text), span))
            }
            "__builtin_unreachable" => {
                let text = "what should be unreachable was reached".to_owned();
                Ok(never(Intrinsic::Check(Wrong::Panic, text), span))
            }
            "__builtin_expect" => match arguments.first() {
                Some(it) => self.expression(it),
                None => Err(self.invalid(span, "too few arguments")),
            },
            "__builtin_constant_p" => match arguments.first().map(|it| self.expression(it)) {
                Some(Ok(it)) => Ok(number(i64::from(fold(&it).is_some()), Type::INT, span)),
                _ => Err(self.invalid(span, "too few arguments")),
            },
            // Where the grammar takes it for a call.
            "asm" | "__asm__" | "__asm" => Err(self.unsupported(span, "inline assembly")),
            // It takes time.
            "__builtin_ia32_pause" => {
                let kind = Kind::Intrinsic(Intrinsic::Primitive(Primitive::Yield), Vec::new());
                Ok(Expression { kind, ty: Type::Void, span })
            }
            "__builtin_inf" | "__builtin_huge_val" => Ok(float(f64::INFINITY, Type::Double, span)),
            "__builtin_inff" | "__builtin_huge_valf" => Ok(float(f64::INFINITY, Type::Float, span)),
            "__builtin_nan" => Ok(float(f64::NAN, Type::Double, span)),
            "__builtin_nanf" => Ok(float(f64::NAN, Type::Float, span)),
            "__builtin_object_size" => Ok(number(-1, Type::SIZE, span)),
            "__mazurka_assumption" => {
                let what = arguments.first().and_then(text_of).unwrap_or_default();
                match assumption(&what) {
                    Some(what) => self.assume(what),
                    None => {
                        return Some(Err(self.invalid(span, format!("`{what}` is no assumption"))));
                    }
                }
                Ok(nothing(span))
            }
            "__builtin_va_start" | "__builtin_va_end" | "__builtin_va_copy" => {
                Err(self.unsupported(span, "a function that looks at its `...`"))
            }
            _ => {
                // `__builtin_memcpy` is `memcpy`.
                let plain = name.strip_prefix("__builtin_")?;
                let Some(Name::Function(id)) = self.external.get(plain).cloned() else {
                    return Some(Err(self.unsupported(span, format_args!("`{name}`"))));
                };
                self.need(id, Some(span));
                let signature = std::rc::Rc::clone(&self.tree.functions[id.0].signature);
                let callee = crate::tree::Callee::Function(id);
                return Some(self.call_of(callee, &signature, arguments, span));
            }
        })
    }

    /// Whether a file of the user, or the library, says what a function does.
    fn has_body(&self, name: &str) -> bool {
        match self.lookup(name).or_else(|| self.external.get(name).cloned()) {
            Some(Name::Function(id)) => self.definitions[id.0].is_some(),
            Some(_) => true,
            None => false,
        }
    }

    /// Whether a name that is called is that of a function, declared or not.
    fn is_function(&self, name: &str) -> bool {
        matches!(self.lookup(name), None | Some(Name::Function(_)))
    }

    fn primitive(
        &mut self,
        name: &str,
        primitive: Primitive,
        arguments: Arguments<'a>,
        span: Span,
    ) -> Checked<Expression> {
        let Some(Name::Function(id)) = self.lookup(name) else {
            return Err(self.invalid(span, format!("`{name}` belongs to the library")));
        };
        let signature = std::rc::Rc::clone(&self.tree.functions[id.0].signature);
        let values = all(arguments.iter().zip(&signature.parameters).map(|(argument, ty)| {
            let value = self.expression(argument)?;
            self.convert(value, ty, span)
        }))?;
        let kind = Kind::Intrinsic(Intrinsic::Primitive(primitive), values);
        Ok(Expression { kind, ty: signature.result.clone(), span })
    }

    fn nondet(&mut self, name: &str, kind: &str, span: Span) -> Checked<Expression> {
        let int = match kind {
            "bool" | "_Bool" => Int::Bool,
            "char" => Int::Char,
            "s8" => Int::SignedChar,
            "uchar" | "unsigned_char" | "u8" => Int::UnsignedChar,
            "short" | "s16" => Int::Short,
            "ushort" | "unsigned_short" | "u16" => Int::UnsignedShort,
            "int" | "s32" => Int::Int,
            "uint" | "unsigned_int" | "unsigned" | "u32" => Int::UnsignedInt,
            "long" | "s64" | "ssize_t" => Int::Long,
            "ulong" | "unsigned_long" | "size_t" | "pthread_t" | "sector_t" | "u64" => {
                Int::UnsignedLong
            }
            "longlong" | "loff_t" => Int::LongLong,
            "ulonglong" => Int::UnsignedLongLong,
            "float" | "double" => {
                let what = format_args!("`{name}`, any floating-point number,");
                return Err(self.unsupported(span, what));
            }
            "pointer" | "pchar" => {
                return Err(self.unsupported(span, format_args!("`{name}`, any pointer,")));
            }
            _ => return Err(self.unsupported(span, format_args!("`{name}`"))),
        };
        let kind = Kind::Intrinsic(Intrinsic::Nondet, Vec::new());
        Ok(Expression { kind, ty: Type::Int(int), span })
    }

    /// `__builtin_add_overflow` and its like: whether the result, as it is without end, has no room
    /// where the third argument points to. What fits is put there.
    fn overflow(
        &mut self,
        name: &str,
        change: Change,
        int: Option<Int>,
        arguments: Arguments<'a>,
        span: Span,
    ) -> Checked<Expression> {
        let [left, right, to] = arguments else {
            return Err(self.invalid(span, "three arguments are needed"));
        };
        let mut values = Vec::new();
        for it in [left, right] {
            let value = self.expression(it)?;
            values.push(match int {
                Some(int) => self.convert(value, &Type::Int(int), span)?,
                None => value,
            });
        }
        let to = self.expression(to)?;
        let target = to.ty.target().and_then(|it| it.ty.as_int());
        let ints = [values[0].ty.as_int(), values[1].ty.as_int(), target];
        // All of one type, or all within 64 bits with a sign.
        let is_one = ints[0].is_some() && ints.iter().all(|it| *it == ints[0]);
        let is_small = |it: &Option<Int>| it.is_some_and(|it| it.is_signed() || it.bits() < 64);
        if !is_one && !ints.iter().all(is_small) {
            return Err(self.unsupported(span, format_args!("`{name}` of these types")));
        }
        values.push(to);
        let kind = Kind::Intrinsic(Intrinsic::Overflow(change), values);
        Ok(Expression { kind, ty: Type::Int(Int::Bool), span })
    }

    /// `__atomic_…` and `__sync_…`.
    fn atomic(
        &mut self,
        name: &str,
        operation: &str,
        arguments: Arguments<'a>,
        span: Span,
    ) -> Checked<Expression> {
        match operation {
            // Between a thread and a handler of signals that interrupts it.
            "signal_fence" => return Ok(nothing(span)),
            "thread_fence" | "synchronize" => {
                let order = self.order(name, arguments, 0, span)?;
                let kind = Kind::Intrinsic(Intrinsic::Fence(order), Vec::new());
                return Ok(Expression { kind, ty: Type::Void, span });
            }
            _ => {}
        }
        if matches!(operation, "is_lock_free" | "always_lock_free") {
            return Ok(number(1, Type::Int(Int::Bool), span));
        }
        let Some(first) = arguments.first() else {
            return Err(self.invalid(span, "too few arguments"));
        };
        let mut pointer = self.expression(first)?;
        if matches!(operation, "test_and_set" | "clear") {
            // Of whatever it is, the first byte.
            let byte = Type::pointer_to(Type::Int(Int::UnsignedChar));
            pointer = self.convert(pointer, &byte, span)?;
        }
        let ty = match pointer.ty.target() {
            Some(target) if target.ty.is_scalar() => target.ty.clone(),
            Some(target) if target.ty == Type::Void => Type::Int(Int::UnsignedChar),
            _ => return Err(self.unsupported(span, format_args!("`{name}` of this type"))),
        };
        let mut all = vec![pointer];
        // The value, or for the forms without `_n` what a pointer points to.
        let by_pointer = matches!(operation, "store" | "exchange" | "compare_exchange");
        let value = |this: &mut Self, idx: usize, is_pointer: bool| {
            let Some(it) = arguments.get(idx) else {
                return Err(this.invalid(span, "too few arguments"));
            };
            let value = this.expression(it)?;
            let value = match is_pointer {
                true => {
                    let place = this.target(value, span)?;
                    this.value(super::expression::Operand::Place(place))?
                }
                false => value,
            };
            this.convert(value, &ty, span)
        };
        let bool = Type::Int(Int::Bool);
        let (intrinsic, result) = match operation {
            "load_n" => (Intrinsic::AtomicLoad(self.order(name, arguments, 1, span)?), ty.clone()),
            "store_n" | "store" => {
                all.push(value(self, 1, by_pointer)?);
                (Intrinsic::AtomicStore(self.order(name, arguments, 2, span)?), Type::Void)
            }
            "exchange_n" | "lock_test_and_set" => {
                all.push(value(self, 1, false)?);
                (Intrinsic::AtomicExchange(self.order(name, arguments, 2, span)?), ty.clone())
            }
            "load" | "exchange" => return self.atomic_to(name, arguments, all, &ty, span),
            "compare_exchange_n" | "compare_exchange" => {
                let Some(expected) = arguments.get(1) else {
                    return Err(self.invalid(span, "too few arguments"));
                };
                all.push(self.expression(expected)?);
                all.push(value(self, 2, by_pointer)?);
                let is_weak = arguments.get(3).map(|it| self.constant_int(it));
                if matches!(is_weak, Some(Ok(1))) {
                    self.assume(Assumption::NoSpuriousFailure);
                }
                let order = self.order(name, arguments, 4, span)?;
                let failure = self.order(name, arguments, 5, span)?;
                (Intrinsic::CompareExchange(order, failure), bool)
            }
            "val_compare_and_swap" | "bool_compare_and_swap" => {
                all.push(value(self, 1, false)?);
                all.push(value(self, 2, false)?);
                match operation {
                    "val_compare_and_swap" => (Intrinsic::CompareAndSwap, ty.clone()),
                    _ => (Intrinsic::CompareAndSwapped, bool),
                }
            }
            "test_and_set" => {
                all.push(number(1, ty.clone(), span));
                let order = self.order(name, arguments, 1, span)?;
                let kind = Kind::Intrinsic(Intrinsic::AtomicExchange(order), all);
                return self.convert(Expression { kind, ty, span }, &bool, span);
            }
            "clear" | "lock_release" => {
                all.push(number(0, ty.clone(), span));
                (Intrinsic::AtomicStore(self.order(name, arguments, 1, span)?), Type::Void)
            }
            other => {
                let Some((change, is_new)) = change(other) else {
                    return Err(self.unsupported(span, format_args!("`{name}`")));
                };
                let by = match &ty {
                    Type::Pointer(_) => {
                        let long = Type::Int(Int::Long);
                        let value = arguments.get(1).map(|it| self.expression(it));
                        match value {
                            Some(value) => self.convert(value?, &long, span)?,
                            None => return Err(self.invalid(span, "too few arguments")),
                        }
                    }
                    _ => value(self, 1, false)?,
                };
                all.push(by);
                let order = self.order(name, arguments, 2, span)?;
                (Intrinsic::AtomicUpdate(change, is_new, order), ty.clone())
            }
        };
        Ok(Expression { kind: Kind::Intrinsic(intrinsic, all), ty: result, span })
    }

    /// The memory order that an atomic function has as its argument number `idx`, or by its name.
    fn order(
        &mut self,
        name: &str,
        arguments: Arguments<'a>,
        idx: usize,
        span: Span,
    ) -> Checked<MemoryOrder> {
        match name {
            "__sync_lock_test_and_set" => return Ok(MemoryOrder::Acquire),
            "__sync_lock_release" => return Ok(MemoryOrder::Release),
            // All others are full barriers.
            _ if name.starts_with("__sync_") => return Ok(MemoryOrder::SequentiallyConsistent),
            _ => {}
        }
        let Some(argument) = arguments.get(idx) else {
            return Err(self.invalid(span, "too few arguments"));
        };
        match self.constant_int(argument).ok().and_then(MemoryOrder::from_c) {
            Some(order) => Ok(order),
            None => Err(self.unsupported(span, "a memory order that is not a constant")),
        }
    }

    /// `__atomic_load(p, &result, order)` and its like: the result goes where a pointer points to.
    fn atomic_to(
        &mut self,
        name: &str,
        arguments: Arguments<'a>,
        mut all: Vec<Expression>,
        ty: &Type,
        span: Span,
    ) -> Checked<Expression> {
        let (intrinsic, result_idx) = match name {
            "__atomic_load" => (Intrinsic::AtomicLoad(self.order(name, arguments, 2, span)?), 1),
            _ => {
                let it = arguments.get(1).map(|it| self.expression(it));
                let Some(value) = it else { return Err(self.invalid(span, "too few arguments")) };
                let place = self.target(value?, span)?;
                let value = self.value(super::expression::Operand::Place(place))?;
                all.push(self.convert(value, ty, span)?);
                (Intrinsic::AtomicExchange(self.order(name, arguments, 3, span)?), 2)
            }
        };
        let Some(result) = arguments.get(result_idx).map(|it| self.expression(it)) else {
            return Err(self.invalid(span, "too few arguments"));
        };
        let place = self.target(result?, span)?;
        let value = Expression { kind: Kind::Intrinsic(intrinsic, all), ty: ty.clone(), span };
        let assign = self.assign(place, value, span)?;
        self.convert(assign, &Type::Void, span)
    }
}

/// How `fetch_add`, `fetch_and_add`, `add_fetch` and `add_and_fetch` change memory, and whether
/// they return what is there afterwards.
fn change(operation: &str) -> Option<(Change, bool)> {
    let (word, is_new) = match operation.strip_prefix("fetch_") {
        Some(rest) => (rest.strip_prefix("and_").unwrap_or(rest), false),
        None => {
            let rest = operation.strip_suffix("_fetch")?;
            (rest.strip_suffix("_and").unwrap_or(rest), true)
        }
    };
    let change = match word {
        "add" => Change::Add,
        "sub" => Change::Subtract,
        "and" => Change::And,
        "or" => Change::Or,
        "xor" => Change::Xor,
        "nand" => Change::Nand,
        _ => return None,
    };
    Some((change, is_new))
}

/// What `__builtin_add_overflow` and `__builtin_saddl_overflow` compute, and in which type if the
/// name says so.
fn overflowing(name: &str) -> Option<(Change, Option<Int>)> {
    let name = name.strip_prefix("__builtin_")?.strip_suffix("_overflow")?;
    let change = |name: &str| match name {
        "add" => Some(Change::Add),
        "sub" => Some(Change::Subtract),
        "mul" => Some(Change::Multiply),
        _ => None,
    };
    if let Some(change) = change(name) {
        return Some((change, None));
    }
    let (sign, rest) = name.split_at_checked(1)?;
    let (word, length) = rest.split_at_checked(3)?;
    let int = match (sign, length) {
        ("s", "") => Int::Int,
        ("s", "l") => Int::Long,
        ("s", "ll") => Int::LongLong,
        ("u", "") => Int::UnsignedInt,
        ("u", "l") => Int::UnsignedLong,
        ("u", "ll") => Int::UnsignedLongLong,
        _ => return None,
    };
    Some((change(word)?, Some(int)))
}

/// What the library assumes by this word: the name of a function that allocates, or what it is
/// about.
fn assumption(what: &str) -> Option<Assumption> {
    let allocation = |is_uninitialised, moves| Assumption::Allocation {
        function: what.to_owned(),
        is_uninitialised,
        moves,
    };
    Some(match what {
        "malloc" | "aligned_alloc" | "posix_memalign" => allocation(true, false),
        "calloc" | "strdup" | "strndup" => allocation(false, false),
        "realloc" => allocation(true, true),
        "printing" => Assumption::Printing,
        "printing returns 0" => Assumption::PrintingReturnsZero,
        "clocks" => Assumption::ClocksStandStill,
        _ => return None,
    })
}

/// The text of a string that is written where a function is called.
fn text_of(it: &Node<ast::Expression>) -> Option<String> {
    match &it.node {
        ast::Expression::StringLiteral(parts) => {
            let inner = parts.node.iter().map(|part| part.trim_matches('"'));
            Some(inner.collect::<String>().replace("\\\"", "\"").replace("\\\\", "\\"))
        }
        ast::Expression::Cast(it) => text_of(&it.node.expression),
        _ => None,
    }
}

fn float(value: f64, ty: Type, span: Span) -> Expression {
    Expression { kind: Kind::Float(value), ty, span }
}

/// Something that always goes wrong.
fn never(intrinsic: Intrinsic, span: Span) -> Expression {
    let no = number(0, Type::INT, span);
    Expression { kind: Kind::Intrinsic(intrinsic, vec![no]), ty: Type::Void, span }
}

fn nothing(span: Span) -> Expression {
    Expression { kind: Kind::Intrinsic(Intrinsic::Nothing, Vec::new()), ty: Type::Void, span }
}
