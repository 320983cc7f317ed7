//! Tokens of files with their macros expanded.
//!
//! What is read is a stack: the expansions that are not read to their ends, and below them the
//! file. A macro is not expanded while its own expansion is in there, and a name that was passed
//! over for that reason stays as it is. Where an expansion begins or ends there is a border, so
//! that the writer of the tokens can keep apart what would become one.

use super::macros::{Argument, Macro, Meaning, Parameters};
use super::token::{Kind, Place, Token, is_open_comment};
use super::{Preprocessor, Stop};
use std::rc::Rc;

/// More than any model makes of its macros.
const MOST_TOKENS: usize = 1 << 23;

/// How deep calls may be within arguments of each other.
const DEEPEST: usize = 2_000;

/// An expansion that is being read.
#[derive(Debug)]
pub(super) struct Expansion {
    tokens: Vec<Token>,
    at: usize,
    of: Option<Rc<Macro>>,
}

/// Whether arguments of a call are being read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) enum Reading {
    #[default]
    Text,
    /// A name was read that is a call if a parenthesis follows.
    Parenthesis,
    Arguments,
}

impl Preprocessor {
    /// The next token, with macros expanded.
    pub(super) fn token(&mut self) -> Result<Token, Stop> {
        loop {
            let token = match self.expansions.last_mut() {
                Some(top) if top.at < top.tokens.len() => {
                    top.at += 1;
                    top.tokens[top.at - 1].clone()
                }
                Some(_) => {
                    self.leave();
                    if self.is_directive {
                        continue;
                    }
                    return Ok(self.border(None));
                }
                None if self.n_nested > 0 => return Ok(self.end()),
                None => {
                    let token = self.lex()?;
                    self.invoked = token.place;
                    token
                }
            };
            if token.kind != Kind::Name || token.is_final {
                return Ok(token);
            }
            let Some(found) = self.macros.get(&token.text).cloned() else { return Ok(token) };
            if found.is_busy.get() {
                return Ok(Token { is_final: true, ..token });
            }
            if self.n_plain > 0 || !self.enter(&found, &token)? {
                return Ok(token);
            }
            if !self.is_directive {
                return Ok(self.border(Some(token.is_spaced)));
            }
        }
    }

    /// The next token of the files, with directives obeyed.
    pub(super) fn lex(&mut self) -> Result<Token, Stop> {
        loop {
            let mut token = match self.ahead.take() {
                Some(token) => token,
                None => self.buffer().next(),
            };
            match token.kind {
                Kind::Newline if self.is_directive => {
                    self.buffer().back_to_newline();
                    return Ok(self.end());
                }
                Kind::Newline => continue,
                Kind::End if self.is_directive || self.reading != Reading::Text => {
                    return Ok(token);
                }
                Kind::End if self.close_file() => continue,
                Kind::End => return Ok(token),
                _ => {}
            }
            if is_open_comment(&token) {
                return Err(self.wrong(token.place, 2, "unterminated comment"));
            }
            let is_directive = token.is_first && token.is_sign("#") && !self.is_directive;
            if is_directive && self.reading != Reading::Parenthesis {
                self.obey(&token)?;
                continue;
            }
            if self.buffer().is_skipping() {
                self.skip_line()?;
                continue;
            }
            token.is_spaced |= token.is_first && self.reading == Reading::Arguments;
            return Ok(token);
        }
    }

    /// Goes to the end of the line.
    pub(super) fn skip_line(&mut self) -> Result<(), Stop> {
        loop {
            let token = self.buffer().next();
            match token.kind {
                Kind::Newline => {
                    self.buffer().back_to_newline();
                    return Ok(());
                }
                Kind::End => return Ok(()),
                _ if is_open_comment(&token) => {
                    return Err(self.wrong(token.place, 2, "unterminated comment"));
                }
                _ => {}
            }
        }
    }

    fn border(&self, source: Option<bool>) -> Token {
        Token::made(Kind::Border(source), "", self.invoked)
    }

    fn end(&self) -> Token {
        Token::made(Kind::End, "", self.invoked)
    }

    /// Ends the expansion that is read to its end.
    fn leave(&mut self) {
        if let Some(Expansion { of: Some(of), .. }) = self.expansions.pop() {
            of.is_busy.set(false);
        }
    }

    fn push(&mut self, tokens: Vec<Token>, of: Option<Rc<Macro>>) -> Result<(), Stop> {
        self.n_expanded += tokens.len();
        if self.n_expanded > MOST_TOKENS {
            return Err(self.wrong(self.invoked, 1, "the macros expand to too much"));
        }
        if let Some(of) = &of {
            of.is_busy.set(true);
        }
        self.expansions.push(Expansion { tokens, at: 0, of });
        Ok(())
    }

    /// Begins to read the expansion of a macro; whether there is one.
    fn enter(&mut self, found: &Rc<Macro>, token: &Token) -> Result<bool, Stop> {
        let place = token.place;
        let known = |kind, text: String| {
            let made = Token::made(kind, &text, place);
            vec![Token { is_spaced: token.is_spaced, ..made }]
        };
        let tokens = match &found.meaning {
            Meaning::Line => known(Kind::Number, place.line.to_string()),
            Meaning::File => {
                let name = self.file_name(place.file);
                let name = name.replace('\\', "\\\\").replace('"', "\\\"");
                known(Kind::Text, format!("\"{name}\""))
            }
            Meaning::Level => known(Kind::Number, (self.buffers.len() - 1).to_string()),
            Meaning::Counter => {
                self.counter += 1;
                known(Kind::Number, (self.counter - 1).to_string())
            }
            Meaning::Defined { parameters: None, .. } => {
                let replaced = found.replace(&[], place, !self.is_directive);
                let tokens = replaced.map_err(|wrong| self.stop(wrong))?;
                self.push(tokens, Some(found.clone()))?;
                return Ok(true);
            }
            Meaning::Defined { parameters: Some(parameters), .. } => {
                let Some(mut arguments) = self.arguments(found, parameters, token)? else {
                    return Ok(false);
                };
                for parameter in found.expanded_parameters() {
                    let argument = &mut arguments[parameter];
                    if argument.expanded.is_none() {
                        argument.expanded = Some(self.expanded(argument.written.clone())?);
                    }
                }
                let replaced = found.replace(&arguments, place, !self.is_directive);
                let tokens = replaced.map_err(|wrong| self.stop(wrong))?;
                self.push(tokens, Some(found.clone()))?;
                return Ok(true);
            }
        };
        self.push(tokens, None)?;
        Ok(true)
    }

    /// The arguments of a call, if it is one.
    fn arguments(
        &mut self,
        found: &Rc<Macro>,
        parameters: &Parameters,
        name: &Token,
    ) -> Result<Option<Vec<Argument>>, Stop> {
        let before = std::mem::replace(&mut self.reading, Reading::Parenthesis);
        let invoked = self.invoked;
        self.n_plain += 1;
        let read = self.read_arguments(found, parameters, name);
        self.n_plain -= 1;
        self.reading = before;
        self.invoked = invoked;
        read
    }

    fn read_arguments(
        &mut self,
        found: &Rc<Macro>,
        parameters: &Parameters,
        name: &Token,
    ) -> Result<Option<Vec<Argument>>, Stop> {
        let mut border: Option<Token> = None;
        let next = loop {
            let token = self.token()?;
            let Kind::Border(source) = token.kind else { break token };
            let is_better = border
                .as_ref()
                .is_none_or(|it| it.kind == Kind::Border(Some(false)) && source.is_none());
            if is_better {
                border = Some(token);
            }
        };
        if !next.is_sign("(") {
            if next.kind != Kind::End {
                self.unread(next);
            }
            if let Some(border) = border {
                self.push(vec![border], None)?;
            }
            return Ok(None);
        }
        self.reading = Reading::Arguments;
        let mut arguments = vec![Argument::default()];
        let mut depth = 0;
        loop {
            let token = self.token()?;
            let last = arguments.last_mut().expect("there is always one");
            match token.kind {
                Kind::Border(_) if last.written.is_empty() => continue,
                Kind::End => {
                    let text =
                        format!("unterminated argument list invoking macro \"{}\"", found.name);
                    return Err(self.wrong(name.place, name.text.len(), &text));
                }
                Kind::Sign => match &*token.text {
                    "(" => depth += 1,
                    ")" if depth == 0 => break,
                    ")" => depth -= 1,
                    "," if depth == 0 => {
                        let is_rest = parameters.is_open && arguments.len() == parameters.n;
                        if !is_rest {
                            arguments.push(Argument::default());
                            continue;
                        }
                    }
                    _ => {}
                },
                _ => {}
            }
            let last = arguments.last_mut().expect("there is always one");
            last.written.push(Token { is_first: false, ..token });
        }
        for argument in &mut arguments {
            let is_border = |token: &Token| matches!(token.kind, Kind::Border(_));
            while argument.written.last().is_some_and(is_border) {
                argument.written.pop();
            }
        }
        self.count_arguments(found, parameters, &mut arguments, name)?;
        Ok(Some(arguments))
    }

    /// Holds the arguments against the parameters.
    fn count_arguments(
        &mut self,
        found: &Macro,
        parameters: &Parameters,
        arguments: &mut Vec<Argument>,
        name: &Token,
    ) -> Result<(), Stop> {
        let Parameters { n, is_open } = *parameters;
        if n == 0 && arguments.len() == 1 && arguments[0].written.is_empty() {
            arguments.clear();
        }
        if is_open && arguments.len() + 1 == n {
            arguments.push(Argument { is_omitted: true, ..Argument::default() });
        }
        if let ([only], true) = (&mut arguments[..], is_open) {
            only.is_omitted |= only.written.is_empty();
        }
        let given = arguments.len();
        let text = match given.cmp(&n) {
            std::cmp::Ordering::Equal => return Ok(()),
            std::cmp::Ordering::Less => {
                format!("macro \"{}\" requires {n} arguments, but only {given} given", found.name)
            }
            std::cmp::Ordering::Greater => {
                format!("macro \"{}\" passed {given} arguments, but takes just {n}", found.name)
            }
        };
        Err(self.wrong(name.place, name.text.len(), &text))
    }

    /// Lets a token be the next one again.
    fn unread(&mut self, token: Token) {
        match self.expansions.last_mut() {
            Some(top) => top.at -= 1,
            None => self.ahead = Some(token),
        }
    }

    /// Tokens with their macros expanded, whatever comes after them.
    fn expanded(&mut self, tokens: Vec<Token>) -> Result<Vec<Token>, Stop> {
        if self.n_nested == DEEPEST {
            return Err(self.wrong(self.invoked, 1, "calls of macros are nested too deep"));
        }
        let outer = std::mem::take(&mut self.expansions);
        self.n_nested += 1;
        let reading = std::mem::take(&mut self.reading);
        let (n_plain, ahead) = (std::mem::take(&mut self.n_plain), self.ahead.take());
        self.push(tokens, None)?;
        let mut expanded = Vec::new();
        loop {
            let token = self.token()?;
            if token.kind == Kind::End {
                break;
            }
            expanded.push(token);
        }
        self.n_nested -= 1;
        self.expansions = outer;
        (self.reading, self.n_plain, self.ahead) = (reading, n_plain, ahead);
        Ok(expanded)
    }

    /// Where a token is to be shown: where the expansion that it is from begins.
    pub(super) fn shown_at(&self, token: &Token) -> Place {
        if self.expansions.is_empty() { token.place } else { self.invoked }
    }
}
