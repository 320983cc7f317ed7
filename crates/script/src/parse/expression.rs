//! Reads expressions, conditions and the names of variables.

use super::lexer::Kind;
use super::names::{Use, is_keyword, is_local};
use super::{Parser, ScriptError};
use crate::ast::{BinaryOp, Expr, Local, Relation, Shared, Side, Test, order_name};
use mazurka_core::MemoryOrder;

/// How many operators an expression may have: trees as deep as that must fit the stack.
const MAX_OPERATORS: usize = 100;

impl Parser {
    pub(super) fn expression(&mut self) -> Result<Expr, ScriptError> {
        let mut n_operators = 0;
        self.sum(&mut n_operators)
    }

    fn sum(&mut self, n_operators: &mut usize) -> Result<Expr, ScriptError> {
        let mut left = self.product(n_operators)?;
        loop {
            let op = match self.peek() {
                Kind::Sign("+") => BinaryOp::Add,
                Kind::Sign("-") => BinaryOp::Subtract,
                _ => return Ok(left),
            };
            self.operator(n_operators)?;
            left = Expr::Binary(Box::new(left), op, Box::new(self.product(n_operators)?));
        }
    }

    fn product(&mut self, n_operators: &mut usize) -> Result<Expr, ScriptError> {
        let mut left = self.primary(n_operators)?;
        loop {
            let op = match self.peek() {
                Kind::Sign("*") => BinaryOp::Multiply,
                Kind::Sign("%") => BinaryOp::Remainder,
                _ => return Ok(left),
            };
            self.operator(n_operators)?;
            left = Expr::Binary(Box::new(left), op, Box::new(self.primary(n_operators)?));
        }
    }

    fn operator(&mut self, n_operators: &mut usize) -> Result<(), ScriptError> {
        *n_operators += 1;
        if *n_operators > MAX_OPERATORS {
            return Err(self.error(format!("an expression has at most {MAX_OPERATORS} operators")));
        }
        self.at += 1;
        Ok(())
    }

    fn primary(&mut self, n_operators: &mut usize) -> Result<Expr, ScriptError> {
        match self.peek() {
            Kind::Sign("(") => {
                self.at += 1;
                let inner = self.nested(|parser| parser.sum(n_operators))?;
                self.expect(")")?;
                Ok(inner)
            }
            Kind::Sign("-") | Kind::Number(_) => Ok(Expr::Number(self.literal()?)),
            Kind::Word(word) if word == "tid" => {
                self.at += 1;
                Ok(Expr::Tid)
            }
            Kind::Word(word) if is_keyword(word) => Err(self.expected("an expression")),
            Kind::Word(word) if is_local(word) => {
                let local = Local(word.clone());
                self.at += 1;
                Ok(Expr::Local(local))
            }
            Kind::Word(word) => {
                let message = format!("an expression is over locals: load `{word}` into one first");
                Err(self.error(message))
            }
            _ => Err(self.expected("an expression")),
        }
    }

    /// A number, with or without a sign.
    pub(super) fn literal(&mut self) -> Result<i64, ScriptError> {
        let column = self.column();
        let negative = self.eat("-");
        let Kind::Number(number) = *self.peek() else { return Err(self.expected("a number")) };
        self.at += 1;
        let value = if negative { -i128::from(number) } else { i128::from(number) };
        i64::try_from(value).map_err(|_| ScriptError::new(column, "this number is too large"))
    }

    /// Whether a local is next.
    pub(super) fn at_local(&self) -> bool {
        matches!(self.peek(), Kind::Word(word) if is_local(word) && !is_keyword(word))
    }

    /// Whether a shared name is next.
    pub(super) fn at_shared(&self) -> bool {
        matches!(self.peek(), Kind::Word(word) if !is_local(word) && !is_keyword(word))
    }

    /// The name of a shared variable, used as `how`; `what` is what was expected.
    pub(super) fn shared_name(&mut self, what: &str, how: Use) -> Result<String, ScriptError> {
        if !self.at_shared() {
            return Err(self.expected(what));
        }
        let Kind::Word(word) = self.peek().clone() else { return Err(self.expected(what)) };
        if word.contains(|c: char| c.is_ascii_uppercase()) {
            return Err(self.error(format!("names are lower-case, unlike `{word}`")));
        }
        self.names.uses.push((word.clone(), how, self.column()));
        self.at += 1;
        Ok(word)
    }

    /// A shared variable or an element of a shared array.
    pub(super) fn shared(&mut self) -> Result<Shared, ScriptError> {
        let is_element = *self.peek_second() == Kind::Sign("[");
        let how = if is_element { Use::Array } else { Use::Variable };
        let name = self.shared_name("a shared variable", how)?;
        let mut index = None;
        if is_element {
            self.expect("[")?;
            index = Some(self.expression()?);
            self.expect("]")?;
        }
        let order = match self.eat(".") {
            true => self.order()?,
            false => MemoryOrder::SequentiallyConsistent,
        };
        Ok(Shared { name, index, order })
    }

    /// A memory order.
    pub(super) fn order(&mut self) -> Result<MemoryOrder, ScriptError> {
        let found = MemoryOrder::ALL
            .into_iter()
            .find(|&order| matches!(self.peek(), Kind::Word(word) if word == order_name(order)));
        let order = found
            .ok_or_else(|| self.expected("a memory order (`rlx`, `acq`, `rel`, `ar`, `sc`)"))?;
        self.at += 1;
        Ok(order)
    }

    /// A condition, in parentheses or not.
    pub(super) fn test(&mut self) -> Result<Test, ScriptError> {
        if *self.peek() == Kind::Sign("(") && self.relation_in_parentheses() {
            self.at += 1;
            let test = self.nested(Self::test)?;
            self.expect(")")?;
            return Ok(test);
        }
        let left = match self.at_shared() {
            true => Side::Shared(self.shared()?),
            false => Side::Own(self.expression()?),
        };
        let relation = self.relation()?;
        Ok(Test { left, relation, right: self.expression()? })
    }

    pub(super) fn relation(&mut self) -> Result<Relation, ScriptError> {
        let found = Relation::ALL.into_iter().find(|one| *self.peek() == Kind::Sign(one.symbol()));
        let relation = found
            .ok_or_else(|| self.expected("a comparison (`==`, `!=`, `<`, `<=`, `>`, `>=`)"))?;
        self.at += 1;
        Ok(relation)
    }

    /// Whether the parentheses that open here hold a condition and not just an expression.
    fn relation_in_parentheses(&self) -> bool {
        let mut depth = 0usize;
        for token in &self.tokens[self.at..] {
            match token.kind {
                Kind::Sign("(") => depth += 1,
                Kind::Sign(")") if depth <= 1 => return false,
                Kind::Sign(")") => depth -= 1,
                Kind::Sign("==" | "!=" | "<" | "<=" | ">" | ">=") => return true,
                Kind::End | Kind::Sign("{" | "}" | ";" | "|" | "||") => return false,
                _ => {}
            }
        }
        false
    }
}
