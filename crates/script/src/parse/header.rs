//! Reads the declarations before `||`.

use super::lexer::Kind;
use super::names::{MAX_OBJECTS, Use};
use super::{Parser, ScriptError};
use crate::ast::Declaration;

impl Parser {
    /// Reads up to and over the first `||`.
    pub(super) fn header(&mut self) -> Vec<Declaration> {
        let mut declarations = Vec::new();
        while !self.eat("||") {
            match self.declaration() {
                Ok(declaration) => {
                    declarations.push(declaration);
                    if !self.eat(",") && *self.peek() != Kind::Sign("||") {
                        let error = self.expected("`,` or `||`");
                        self.errors.push(error);
                        self.skip_declaration();
                    }
                }
                Err(error) => {
                    self.errors.push(error);
                    self.skip_declaration();
                }
            }
        }
        declarations
    }

    fn skip_declaration(&mut self) {
        while *self.peek() != Kind::Sign("||") {
            if self.eat(",") {
                return;
            }
            self.at += 1;
        }
    }

    fn declaration(&mut self) -> Result<Declaration, ScriptError> {
        let column = self.column();
        for kind in ["sem", "chan", "bar"] {
            if self.eat_word(kind) {
                self.expect("(")?;
                let number = self.object_number()?;
                self.expect(")")?;
                self.expect("=")?;
                self.names.declared.push((format!("{kind}({number})"), column));
                return Ok(match kind {
                    "sem" => Declaration::Semaphore { number, permits: self.size("permits", 0)? },
                    "chan" => Declaration::Channel { number, capacity: self.size("capacity", 1)? },
                    _ => Declaration::Barrier { number, parties: self.size("parties", 1)? },
                });
            }
        }
        if self.eat_word("plain") {
            self.expect("(")?;
            let name = self.shared_name("the name of a variable", Use::Plain)?;
            self.expect(")")?;
            self.expect("=")?;
            self.names.declared.push((name.clone(), column));
            return Ok(Declaration::Plain { name, value: self.literal()? });
        }
        let is_array = *self.peek_second() == Kind::Sign("[");
        let how = if is_array { Use::Array } else { Use::Variable };
        let name = self.shared_name("a declaration", how)?;
        self.names.declared.push((name.clone(), column));
        if !is_array {
            let value = if self.eat("=") { self.literal()? } else { 0 };
            return Ok(Declaration::Variable { name, value });
        }
        self.expect("[")?;
        let len = self.number("the length of an array", 1, MAX_OBJECTS)?;
        self.names.array_elements += len;
        self.expect("]")?;
        let value = if self.eat("=") { self.literal()? } else { 0 };
        Ok(Declaration::Array { name, len: len as u32, value })
    }

    /// One less than the largest number: that one stands for an unbounded channel.
    fn size(&mut self, what: &str, low: u64) -> Result<u32, ScriptError> {
        Ok(self.number(what, low, u64::from(u32::MAX) - 1)? as u32)
    }
}
