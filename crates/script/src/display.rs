//! Prints a script in its normal form, which parses back to the same program.

use crate::ast::{
    Block, Declaration, Expr, Local, Program, Shared, Side, Statement, Test, Update, order_name,
};
use mazurka_core::MemoryOrder;
use std::fmt::{self, Display, Formatter, Write};

impl Display for Program {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (idx, declaration) in self.declarations.iter().enumerate() {
            f.write_str(if idx == 0 { "" } else { ", " })?;
            declaration.fmt(f)?;
        }
        if !self.declarations.is_empty() {
            f.write_str(" || ")?;
        }
        for (idx, thread) in self.threads.iter().enumerate() {
            f.write_str(if idx == 0 { "" } else { " | " })?;
            match thread.is_empty() {
                // Without its label, an empty thread could end the header or be no thread at all.
                true => write!(f, "T{idx}:")?,
                false => write_block(f, thread)?,
            }
        }
        Ok(())
    }
}

fn write_block(f: &mut Formatter<'_>, block: &Block) -> fmt::Result {
    for (idx, statement) in block.iter().enumerate() {
        f.write_str(if idx == 0 { "" } else { "; " })?;
        statement.fmt(f)?;
    }
    Ok(())
}

fn write_braces(f: &mut Formatter<'_>, block: &Block) -> fmt::Result {
    if block.is_empty() {
        return f.write_str("{}");
    }
    f.write_str("{ ")?;
    write_block(f, block)?;
    f.write_str(" }")
}

fn write_result(f: &mut Formatter<'_>, local: &Option<Local>) -> fmt::Result {
    local.as_ref().map_or(Ok(()), |local| write!(f, "{local}="))
}

impl Display for Declaration {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Variable { name, value } => write!(f, "{name}={value}"),
            Self::Array { name, len, value: 0 } => write!(f, "{name}[{len}]"),
            Self::Array { name, len, value } => write!(f, "{name}[{len}]={value}"),
            Self::Plain { name, value } => write!(f, "plain({name})={value}"),
            Self::Semaphore { number, permits } => write!(f, "sem({number})={permits}"),
            Self::Channel { number, capacity } => write!(f, "chan({number})={capacity}"),
            Self::Barrier { number, parties } => write!(f, "bar({number})={parties}"),
        }
    }
}

impl Display for Statement {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Load { local, from } => write!(f, "{local}={from}"),
            Self::Assign { local, value } => write!(f, "{local}={value}"),
            Self::Store { to, value } => write!(f, "{to}={value}"),
            Self::Update { local, on, update } => {
                write_result(f, local)?;
                match update {
                    Update::CompareAndSwap { expected, new } => {
                        write!(f, "cas({on},{expected},{new})")
                    }
                    Update::Add(value) => write!(f, "add({on},{value})"),
                    Update::Count { value, expected } => {
                        write!(f, "count({on},{value},{expected})")
                    }
                    Update::Swap(value) => write!(f, "swap({on},{value})"),
                }
            }
            Self::Await { on, relation, value, new } => {
                write!(f, "await({on} {} {value}", relation.symbol())?;
                if let Some(new) = new {
                    write!(f, ",{new}")?;
                }
                f.write_str(")")
            }
            Self::Call { local, verb, number } => {
                write_result(f, local)?;
                write!(f, "{}({number})", verb.name())
            }
            Self::Send { channel, value } => write!(f, "send({channel},{value})"),
            Self::TrySend { local, channel, value } => {
                write_result(f, local)?;
                write!(f, "trysend({channel},{value})")
            }
            Self::Wait { condvar, mutex } => write!(f, "wait({condvar},{mutex})"),
            Self::Timed { local, wait } => {
                write_result(f, local)?;
                write!(f, "t{wait}")
            }
            Self::Sleep { condvar, on, value } => write!(f, "sleep({condvar},{on},{value})"),
            Self::Spawn(thread) => write!(f, "spawn({thread})"),
            Self::Join(thread) => write!(f, "join({thread})"),
            Self::Yield => f.write_str("yield"),
            Self::Fence(order) => write!(f, "fence({})", order_name(*order)),
            Self::Choose { local, alternatives } => {
                write_result(f, local)?;
                write!(f, "choose({alternatives})")
            }
            Self::PlainLoad { local, name } => write!(f, "{local}=plain({name})"),
            Self::PlainStore { name, value } => write!(f, "plain({name})={value}"),
            Self::Assert { left, relation, right } => {
                write!(f, "assert({left} {} {right})", relation.symbol())
            }
            Self::If { test, then, otherwise } => {
                write!(f, "if {test} ")?;
                write_braces(f, then)?;
                if !otherwise.is_empty() {
                    f.write_str(" else ")?;
                    write_braces(f, otherwise)?;
                }
                Ok(())
            }
            Self::While { test, body } => {
                write!(f, "while {test} ")?;
                write_braces(f, body)
            }
        }
    }
}

impl Display for Test {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.left {
            Side::Own(expr) => expr.fmt(f)?,
            Side::Shared(shared) => shared.fmt(f)?,
        }
        write!(f, " {} {}", self.relation.symbol(), self.right)
    }
}

impl Display for Local {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Display for Shared {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        self.index.as_ref().map_or(Ok(()), |index| write!(f, "[{index}]"))?;
        match self.order {
            MemoryOrder::SequentiallyConsistent => Ok(()),
            order => write!(f, ".{}", order_name(order)),
        }
    }
}

impl Display for Expr {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Local(local) => local.fmt(f),
            Self::Tid => f.write_str("tid"),
            Self::Binary(left, op, right) => {
                // Operators group to the left, so an equal one on the right keeps its parentheses.
                let looser = |expr: &Self| {
                    matches!(expr, Self::Binary(_, inner, _)
                        if op.is_product() && !inner.is_product())
                };
                let right_binds = matches!(&**right, Self::Binary(_, inner, _)
                    if op.is_product() || !inner.is_product());
                write_operand(f, left, looser(left))?;
                f.write_str(op.symbol())?;
                write_operand(f, right, right_binds)
            }
        }
    }
}

fn write_operand(f: &mut Formatter<'_>, expr: &Expr, parentheses: bool) -> fmt::Result {
    if !parentheses {
        return expr.fmt(f);
    }
    f.write_char('(')?;
    expr.fmt(f)?;
    f.write_char(')')
}
