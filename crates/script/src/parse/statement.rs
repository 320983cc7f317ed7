//! Reads statements.

use super::lexer::Kind;
use super::names::Use;
use super::{MAX_STATEMENTS, Parser, ScriptError};
use crate::ast::{Block, Local, Side, Statement, Update, Verb};

impl Parser {
    /// Reads one statement, or the several of a block without a condition, into `block`.
    pub(super) fn statement(&mut self, block: &mut Block) -> Result<(), ScriptError> {
        if *self.peek() == Kind::Sign("{") {
            block.append(&mut self.body()?);
            return Ok(());
        }
        self.n_statements += 1;
        let statement = self.one()?;
        // The error is reported once, at the end; until then the memory must not fill up.
        if self.n_statements <= MAX_STATEMENTS {
            block.push(statement);
        }
        Ok(())
    }

    /// What a condition decides about: a block in braces, or one statement.
    fn body(&mut self) -> Result<Block, ScriptError> {
        self.nested(|parser| {
            let mut block = Block::new();
            if parser.eat("{") {
                block = parser.block();
                parser.expect("}")?;
            } else {
                parser.statement(&mut block)?;
            }
            Ok(block)
        })
    }

    fn one(&mut self) -> Result<Statement, ScriptError> {
        if self.at_local() {
            return self.assignment_to_local();
        }
        if self.at_shared() {
            let to = self.shared()?;
            self.expect("=")?;
            return Ok(Statement::Store { to, value: self.expression()? });
        }
        if let Some(statement) = self.with_result(None)? {
            return Ok(statement);
        }
        let Kind::Word(word) = self.peek().clone() else {
            return Err(self.expected("a statement"));
        };
        let column = self.column();
        self.at += 1;
        match word.as_str() {
            "yield" => Ok(Statement::Yield),
            "fence" => {
                self.expect("(")?;
                let order = self.order()?;
                self.expect(")")?;
                Ok(Statement::Fence(order))
            }
            "if" => {
                let test = self.test()?;
                let then = self.body()?;
                let otherwise = if self.eat_word("else") { self.body()? } else { Block::new() };
                Ok(Statement::If { test, then, otherwise })
            }
            "while" => Ok(Statement::While { test: self.test()?, body: self.body()? }),
            "plain" => {
                self.expect("(")?;
                let name = self.shared_name("the name of a variable", Use::Plain)?;
                self.expect(")")?;
                self.expect("=")?;
                Ok(Statement::PlainStore { name, value: self.expression()? })
            }
            "assert" => {
                self.expect("(")?;
                let test = self.test()?;
                self.expect(")")?;
                match test.left {
                    Side::Own(left) => {
                        Ok(Statement::Assert { left, relation: test.relation, right: test.right })
                    }
                    Side::Shared(shared) => Err(ScriptError::new(
                        column,
                        format!("an assertion is over locals: load `{shared}` into one first"),
                    )),
                }
            }
            "await" => {
                self.expect("(")?;
                let on = self.shared()?;
                let relation = self.relation()?;
                let value = self.expression()?;
                let new = if self.eat(",") { Some(self.expression()?) } else { None };
                self.expect(")")?;
                Ok(Statement::Await { on, relation, value, new })
            }
            "wait" => self.wait(),
            "sleep" => self.sleep(),
            "send" => {
                self.expect("(")?;
                let channel = self.object_number()?;
                self.expect(",")?;
                let value = self.expression()?;
                self.expect(")")?;
                Ok(Statement::Send { channel, value })
            }
            "spawn" => Ok(Statement::Spawn(self.thread_number()?)),
            "join" => Ok(Statement::Join(self.thread_number()?)),
            name => match Verb::ALL.into_iter().find(|verb| verb.name() == name) {
                Some(verb) => self.call(None, verb),
                None => {
                    self.at -= 1;
                    Err(self.expected("a statement"))
                }
            },
        }
    }

    /// `r=` and then a load, an operation with a result or an expression.
    fn assignment_to_local(&mut self) -> Result<Statement, ScriptError> {
        let Kind::Word(word) = self.peek().clone() else { return Err(self.expected("a local")) };
        let local = Local(word);
        self.at += 1;
        self.expect("=")?;
        if self.at_shared() {
            let from = self.shared()?;
            if matches!(self.peek(), Kind::Sign("+" | "-" | "*" | "%")) {
                let message = format!("an expression is over locals: load `{from}` into one first");
                return Err(self.error(message));
            }
            return Ok(Statement::Load { local, from });
        }
        if self.eat_word("plain") {
            self.expect("(")?;
            let name = self.shared_name("the name of a variable", Use::Plain)?;
            self.expect(")")?;
            return Ok(Statement::PlainLoad { local, name });
        }
        if let Some(statement) = self.with_result(Some(&local))? {
            return Ok(statement);
        }
        if let Kind::Word(word) = self.peek()
            && (["wait", "sleep", "send", "spawn", "join", "await", "assert", "yield", "fence"]
                .contains(&word.as_str())
                || Verb::ALL.iter().any(|verb| verb.name() == word))
        {
            return Err(self.error(format!("`{word}` has no result")));
        }
        Ok(Statement::Assign { local, value: self.expression()? })
    }

    /// An operation that may have a result, if one is next.
    fn with_result(&mut self, local: Option<&Local>) -> Result<Option<Statement>, ScriptError> {
        let Kind::Word(word) = self.peek().clone() else { return Ok(None) };
        let local = local.cloned();
        let verb = Verb::ALL.into_iter().find(|verb| verb.has_result() && verb.name() == word);
        if let Some(verb) = verb {
            self.at += 1;
            return self.call(local, verb).map(Some);
        }
        if matches!(word.as_str(), "twait" | "tsleep") {
            self.at += 1;
            let wait = if word == "twait" { self.wait()? } else { self.sleep()? };
            return Ok(Some(Statement::Timed { local, wait: Box::new(wait) }));
        }
        if !matches!(word.as_str(), "cas" | "add" | "count" | "swap" | "trysend" | "choose") {
            return Ok(None);
        }
        self.at += 1;
        self.expect("(")?;
        let statement = match word.as_str() {
            "trysend" => {
                let channel = self.object_number()?;
                self.expect(",")?;
                Statement::TrySend { local, channel, value: self.expression()? }
            }
            "choose" => {
                let alternatives =
                    self.number("the number of alternatives", 1, u64::from(u32::MAX))?;
                Statement::Choose { local, alternatives: alternatives as u32 }
            }
            _ => {
                let on = self.shared()?;
                self.expect(",")?;
                let value = self.expression()?;
                let update = match word.as_str() {
                    "add" => Update::Add(value),
                    "swap" => Update::Swap(value),
                    "count" => {
                        self.expect(",")?;
                        Update::Count {
                            value,
                            expected: self.number("a number", 0, 1 << 32)? as i64,
                        }
                    }
                    _ => {
                        self.expect(",")?;
                        Update::CompareAndSwap { expected: value, new: self.expression()? }
                    }
                };
                Statement::Update { local, on, update }
            }
        };
        self.expect(")")?;
        Ok(Some(statement))
    }

    /// A wait on a condition variable, behind its name.
    fn wait(&mut self) -> Result<Statement, ScriptError> {
        self.expect("(")?;
        let condvar = self.object_number()?;
        self.expect(",")?;
        let mutex = self.object_number()?;
        self.expect(")")?;
        Ok(Statement::Wait { condvar, mutex })
    }

    /// A sleep on a futex, behind its name.
    fn sleep(&mut self) -> Result<Statement, ScriptError> {
        self.expect("(")?;
        let condvar = self.object_number()?;
        self.expect(",")?;
        let on = self.shared()?;
        self.expect(",")?;
        let value = self.expression()?;
        self.expect(")")?;
        Ok(Statement::Sleep { condvar, on, value })
    }

    fn call(&mut self, local: Option<Local>, verb: Verb) -> Result<Statement, ScriptError> {
        self.expect("(")?;
        let number = self.object_number()?;
        self.expect(")")?;
        Ok(Statement::Call { local, verb, number })
    }

    fn thread_number(&mut self) -> Result<usize, ScriptError> {
        self.expect("(")?;
        let column = self.column();
        let number = self.number("the number of a thread", 0, u64::from(u32::MAX))?;
        self.names.threads.push((number, column));
        self.expect(")")?;
        Ok(number as usize)
    }
}
