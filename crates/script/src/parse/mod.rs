//! Reads a script from its text, and says everything that is wrong with it.

mod expression;
mod header;
mod lexer;
mod names;
mod statement;

use crate::ast::{Block, Program};
use lexer::{Kind, Token};
use mazurka_core::ThreadId;
use names::Names;

/// What is wrong with the text of a script.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("malformed script at column {column}: {message}")]
pub struct ScriptError {
    /// Where, counted from 1, in characters.
    pub column: usize,
    /// What is wrong: a lower-case fragment without a full stop.
    pub message: String,
}

impl ScriptError {
    fn new(column: usize, message: impl Into<String>) -> Self {
        Self { column, message: message.into() }
    }
}

/// The errors found so far; no more than a hundred are kept.
#[derive(Default)]
struct Errors(Vec<ScriptError>);

impl Errors {
    const MAX: usize = 100;

    fn push(&mut self, error: ScriptError) {
        if self.0.len() < Self::MAX {
            self.0.push(error);
        }
    }
}

/// How deep blocks and parentheses may be nested.
const MAX_DEPTH: usize = 64;

/// How many statements a program may have.
const MAX_STATEMENTS: usize = 5_000;

/// The program that `text` describes, or everything that is wrong with it.
pub(crate) fn parse(text: &str) -> Result<Program, Vec<ScriptError>> {
    let mut errors = Errors::default();
    let tokens = lexer::tokens(text, &mut errors);
    let mut parser =
        Parser { tokens, at: 0, depth: 0, n_statements: 0, errors, names: Names::default() };
    let program = parser.program();
    parser.names.check(program.threads.len(), &mut parser.errors);
    let Errors(mut errors) = parser.errors;
    if errors.is_empty() {
        return Ok(program);
    }
    errors.sort_by_key(|error| error.column);
    Err(errors)
}

/// A place in the text, and what was learnt on the way to it.
struct Parser {
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
    n_statements: usize,
    errors: Errors,
    names: Names,
}

impl Parser {
    fn program(&mut self) -> Program {
        let has_header = self.tokens.iter().any(|token| token.kind == Kind::Sign("||"));
        let declarations = if has_header { self.header() } else { Vec::new() };
        let mut threads = Vec::new();
        if *self.peek() == Kind::End {
            self.error_here("a program has at least one thread");
            return Program { declarations, threads };
        }
        loop {
            if threads.len() == ThreadId::MAX {
                self.error_here(format!("a program has at most {} threads", ThreadId::MAX));
                break;
            }
            let thread = self.thread(threads.len());
            threads.push(thread);
            match self.peek() {
                Kind::End => break,
                Kind::Sign("|") => self.at += 1,
                Kind::Sign("||") => {
                    self.error_here(
                        "`||` ends the header, and there is one; \
                         an empty thread is written `| |`",
                    );
                    self.at += 1;
                }
                _ => {
                    let found = self.found();
                    self.error_here(format!("expected `|` or the end, found {found}"));
                    self.at += 1;
                }
            }
        }
        if self.n_statements > MAX_STATEMENTS {
            self.errors.push(ScriptError::new(
                1,
                format!("a program has at most {MAX_STATEMENTS} statements"),
            ));
        }
        Program { declarations, threads }
    }

    fn thread(&mut self, thread_idx: usize) -> Block {
        if let (Kind::Word(word), Kind::Sign(":")) = (self.peek(), self.peek_second()) {
            if *word != format!("T{thread_idx}") {
                let message = format!("this is thread `T{thread_idx}`, not `{word}`");
                self.error_here(message);
            }
            self.at += 2;
        }
        self.block()
    }

    /// Reads statements up to what cannot begin one: `}`, `|`, `||` or the end.
    fn block(&mut self) -> Block {
        let mut block = Block::new();
        loop {
            while self.eat(";") {}
            if self.at_block_end() {
                return block;
            }
            let read = self.statement(&mut block).and_then(|()| self.statement_end());
            if let Err(error) = read {
                self.errors.push(error);
                self.recover();
            }
        }
    }

    /// After a statement: `;`, unless a `}` before or the end of the block behind makes it plain.
    fn statement_end(&mut self) -> Result<(), ScriptError> {
        let after_brace = self.tokens[self.at - 1].kind == Kind::Sign("}");
        if after_brace || self.at_block_end() || *self.peek() == Kind::Sign(";") {
            return Ok(());
        }
        Err(self.expected("`;`, `|` or the end"))
    }

    fn at_block_end(&self) -> bool {
        matches!(self.peek(), Kind::End | Kind::Sign("}" | "|" | "||"))
    }

    /// Goes on behind a mistake: to the next `;` or the end of the block, over inner blocks.
    fn recover(&mut self) {
        let mut depth = 0usize;
        loop {
            match self.peek() {
                Kind::End | Kind::Sign("|" | "||") => return,
                Kind::Sign(";") if depth == 0 => return,
                // A brace that no block is open for would stop the parser here for ever.
                Kind::Sign("}") if depth == 0 && self.depth > 0 => return,
                Kind::Sign("}") => depth = depth.saturating_sub(1),
                Kind::Sign("{") => depth += 1,
                _ => {}
            }
            self.at += 1;
        }
    }

    /// Reads something with one level of nesting more.
    fn nested<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, ScriptError>,
    ) -> Result<T, ScriptError> {
        if self.depth == MAX_DEPTH {
            return Err(self.error(format!("nested more than {MAX_DEPTH} deep")));
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    fn peek(&self) -> &Kind {
        &self.tokens[self.at].kind
    }

    fn peek_second(&self) -> &Kind {
        &self.tokens[(self.at + 1).min(self.tokens.len() - 1)].kind
    }

    fn column(&self) -> usize {
        self.tokens[self.at].column
    }

    /// Whether the next token is the sign, which is then behind us.
    fn eat(&mut self, sign: &str) -> bool {
        let there = matches!(self.peek(), Kind::Sign(found) if *found == sign);
        self.at += usize::from(there);
        there
    }

    fn expect(&mut self, sign: &str) -> Result<(), ScriptError> {
        match self.eat(sign) {
            true => Ok(()),
            false => Err(self.expected(&format!("`{sign}`"))),
        }
    }

    /// Whether the next token is the word, which is then behind us.
    fn eat_word(&mut self, word: &str) -> bool {
        let there = matches!(self.peek(), Kind::Word(found) if found == word);
        self.at += usize::from(there);
        there
    }

    /// A number without a sign, from `low` to `high`.
    fn number(&mut self, what: &str, low: u64, high: u64) -> Result<u64, ScriptError> {
        match *self.peek() {
            Kind::Number(number) if (low..=high).contains(&number) => {
                self.at += 1;
                Ok(number)
            }
            Kind::Number(number) => {
                Err(self.error(format!("{what} is from {low} to {high}, not {number}")))
            }
            _ => Err(self.expected(what)),
        }
    }

    /// The number of a lock, a channel and so on.
    fn object_number(&mut self) -> Result<u32, ScriptError> {
        let number = self.number("the number of an object", 0, u64::from(u32::MAX))?;
        Ok(number as u32)
    }

    fn error(&self, message: impl Into<String>) -> ScriptError {
        ScriptError::new(self.column(), message)
    }

    fn error_here(&mut self, message: impl Into<String>) {
        let error = self.error(message);
        self.errors.push(error);
    }

    fn expected(&self, what: &str) -> ScriptError {
        self.error(format!("expected {what}, found {}", self.found()))
    }

    fn found(&self) -> String {
        match self.peek() {
            Kind::Word(word) => format!("`{}`", word.chars().take(24).collect::<String>()),
            Kind::Number(number) => format!("`{number}`"),
            Kind::Sign(sign) => format!("`{sign}`"),
            Kind::End => "the end".to_owned(),
        }
    }
}
