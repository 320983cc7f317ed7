//! What macros are, and what a call of one stands for.
//!
//! The meaning is that of C (ISO 9899:1999, 6.10.3), with the extensions that GNU C has: arguments
//! that have a name and may be many (`args...`), and `, ## args`, which is nothing if there are
//! none.

use super::token::{Buffer, Kind, Place, Token, single};
use std::cell::Cell;
use std::rc::Rc;

/// A macro.
#[derive(Debug)]
pub(super) struct Macro {
    pub(super) name: Rc<str>,
    pub(super) meaning: Meaning,
    /// Whether its own expansion is being read: it is not expanded in there.
    pub(super) is_busy: Cell<bool>,
}

/// What a macro stands for.
#[derive(Debug)]
pub(super) enum Meaning {
    /// The tokens that it was defined as.
    Defined { parameters: Option<Parameters>, body: Vec<Part> },
    /// The number of the line.
    Line,
    /// The name of the file.
    File,
    /// How deep in included files this is.
    Level,
    /// How often it was used before.
    Counter,
}

/// The parameters of a macro that looks like a function.
#[derive(Debug)]
pub(super) struct Parameters {
    pub(super) n: usize,
    /// Whether the last one stands for any number of arguments.
    pub(super) is_open: bool,
}

/// A part of the body of a macro.
#[derive(Debug)]
pub(super) struct Part {
    what: What,
    /// What it is written as.
    token: Token,
    /// Whether it is pasted to the next one.
    is_pasted: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Token,
    Parameter(usize),
    /// A parameter, as a string.
    Quoted(usize),
}

/// An argument of a call.
#[derive(Debug, Default)]
pub(super) struct Argument {
    /// As it is written, without borders at its ends.
    pub(super) written: Vec<Token>,
    /// With its macros expanded, if anybody wants that.
    pub(super) expanded: Option<Vec<Token>>,
    /// Whether there is none, which is not the same as an empty one.
    pub(super) is_omitted: bool,
}

/// What is wrong, and where.
pub(super) type Wrong = (Place, usize, String);

/// Parses what follows `#define`; the end of the line is left.
pub(super) fn parse(tokens: &[Token], end: Place) -> Result<Macro, Wrong> {
    let wrong = |token: &Token, text: String| Err((token.place, token.text.len(), text));
    let Some((name, rest)) = tokens.split_first() else {
        return Err((end, 1, "no macro name given in #define directive".to_owned()));
    };
    name_of_macro(name)?;
    let is_call = rest.first().is_some_and(|it| it.is_sign("(") && !it.is_spaced);
    let (parameters, names, body) = match is_call {
        false => (None, Vec::new(), rest),
        true => {
            let (names, is_open, body) = parameters(&rest[1..], end)?;
            (Some(Parameters { n: names.len(), is_open }), names, body)
        }
    };
    let is_rest = |token: &Token| token.is_name("__VA_ARGS__") && !names.contains(&token.text);
    if let Some(token) = body.iter().find(|token| is_rest(token)) {
        let text = "__VA_ARGS__ can only appear in the expansion of a variadic macro";
        return wrong(token, text.to_owned());
    }
    if let Some(token) =
        [body.first(), body.last()].into_iter().flatten().find(|it| it.is_sign("##"))
    {
        return wrong(token, "`##` cannot appear at either end of a macro expansion".to_owned());
    }
    let find = |token: &Token| {
        let name = (token.kind == Kind::Name).then_some(&token.text)?;
        names.iter().position(|known| known == name)
    };
    let mut parts: Vec<Part> = Vec::new();
    let mut idx = 0;
    while let Some(token) = body.get(idx) {
        idx += 1;
        if token.is_sign("##") {
            if let Some(last) = parts.last_mut() {
                last.is_pasted = true;
            }
            continue;
        }
        let mut part = Part { what: What::Token, token: token.clone(), is_pasted: false };
        part.token.is_first = false;
        if let Some(parameter) = find(token) {
            part.what = What::Parameter(parameter);
        } else if token.is_sign("#") && is_call {
            let Some(parameter) = body.get(idx).and_then(find) else {
                return wrong(token, "`#` is not followed by a macro parameter".to_owned());
            };
            part.what = What::Quoted(parameter);
            idx += 1;
        }
        parts.push(part);
    }
    if let Some(first) = parts.first_mut() {
        first.token.is_spaced = false;
    }
    let meaning = Meaning::Defined { parameters, body: parts };
    Ok(Macro { name: name.text.clone(), meaning, is_busy: Cell::new(false) })
}

/// Refuses what is no name of a macro.
pub(super) fn name_of_macro(token: &Token) -> Result<(), Wrong> {
    let text = match token.kind {
        Kind::Name if &*token.text == "defined" => {
            "`defined` cannot be used as a macro name".to_owned()
        }
        Kind::Name => return Ok(()),
        _ => "macro names must be identifiers".to_owned(),
    };
    Err((token.place, token.text.len(), text))
}

/// The names of parameters, whether the last one is open, and what is behind them.
type Head<'a> = (Vec<Rc<str>>, bool, &'a [Token]);

/// Parses the parameters behind a parenthesis.
fn parameters(tokens: &[Token], end: Place) -> Result<Head<'_>, Wrong> {
    let mut names: Vec<Rc<str>> = Vec::new();
    let mut tokens = tokens.iter();
    // Whether a name may come next, or has to.
    let (mut may_end, mut wants_name) = (true, true);
    while let Some(token) = tokens.next() {
        let wrong = |text: String| Err((token.place, token.text.len(), text));
        if token.is_sign(")") {
            if !may_end {
                return wrong("expected parameter name, found \")\"".to_owned());
            }
            return Ok((names, false, tokens.as_slice()));
        }
        if token.is_sign("...") {
            // With a name before it, it belongs to that.
            if wants_name {
                names.push("__VA_ARGS__".into());
            }
            return match tokens.next() {
                Some(close) if close.is_sign(")") => Ok((names, true, tokens.as_slice())),
                _ => wrong("expected ')' after \"...\"".to_owned()),
            };
        }
        match (wants_name, token.kind) {
            (true, Kind::Name) if names.contains(&token.text) => {
                return wrong(format!("duplicate macro parameter \"{}\"", token.text));
            }
            (true, Kind::Name) => names.push(token.text.clone()),
            (true, _) => {
                return wrong(format!("expected parameter name, found \"{}\"", token.text));
            }
            (false, _) if token.is_sign(",") => {}
            (false, _) => {
                return wrong(format!("expected ',' or ')', found \"{}\"", token.text));
            }
        }
        (may_end, wants_name) = (wants_name, !wants_name);
    }
    Err((end, 1, "expected ')' before end of line".to_owned()))
}

impl Macro {
    /// One that the preprocessor knows by itself.
    pub(super) fn known(name: &str, meaning: Meaning) -> Self {
        Self { name: name.into(), meaning, is_busy: Cell::new(false) }
    }

    /// `name` or `name=value`, as it is given with `-D`.
    pub(super) fn given(definition: &str, file: u32) -> Result<Self, Wrong> {
        let text = match definition.split_once('=') {
            Some((name, value)) => format!("{name} {value}"),
            None => format!("{definition} 1"),
        };
        let mut buffer = Buffer::new(file, None, &text);
        let mut tokens = Vec::new();
        loop {
            let token = buffer.next();
            match token.kind {
                Kind::Newline | Kind::End => return parse(&tokens, token.place),
                _ => tokens.push(token),
            }
        }
    }

    /// The numbers of the parameters that have to be expanded before the call is.
    pub(super) fn expanded_parameters(&self) -> impl Iterator<Item = usize> {
        let Meaning::Defined { body, .. } = &self.meaning else { unreachable!("it has no call") };
        let is_raw = move |idx: usize| body[idx].is_pasted || idx > 0 && body[idx - 1].is_pasted;
        body.iter().enumerate().filter_map(move |(idx, part)| match part.what {
            What::Parameter(parameter) if !is_raw(idx) => Some(parameter),
            _ => None,
        })
    }

    /// The tokens that a call of it at some place stands for. Nothing is expanded in them but the
    /// arguments.
    pub(super) fn replace(
        &self,
        arguments: &[Argument],
        place: Place,
        borders: bool,
    ) -> Result<Vec<Token>, Wrong> {
        let Meaning::Defined { parameters, body } = &self.meaning else {
            unreachable!("others have no body");
        };
        let is_open = parameters.as_ref().is_some_and(|it| it.is_open);
        let border = |source| Token::made(Kind::Border(source), "", place);
        let mut tokens: Vec<Token> = Vec::new();
        // The tokens from here on are pasted to what comes next, even if there are none.
        let mut pasted: Option<usize> = None;
        for (idx, part) in body.iter().enumerate() {
            let follows_paste = idx > 0 && body[idx - 1].is_pasted;
            let mut own = Vec::new();
            match part.what {
                What::Token => own.push(Token { place, ..part.token.clone() }),
                What::Quoted(parameter) => {
                    let text = quote(&arguments[parameter].written);
                    let made = Token::made(Kind::Text, &text, place);
                    own.push(Token { is_spaced: part.token.is_spaced, ..made });
                }
                What::Parameter(parameter) => {
                    let argument = &arguments[parameter];
                    let is_raw = part.is_pasted || follows_paste;
                    let (written, expanded) = (&argument.written, &argument.expanded);
                    own.extend_from_slice(match expanded {
                        Some(expanded) if !is_raw => expanded,
                        _ => written,
                    });
                    let is_rest = is_open && parameter + 1 == arguments.len();
                    let is_after_comma = tokens.last().is_some_and(|it| it.is_sign(","));
                    if follows_paste && is_rest && is_after_comma {
                        // Either both, side by side, or neither.
                        pasted = None;
                        if argument.is_omitted {
                            tokens.pop();
                        }
                    }
                    if borders && idx > 0 && !follows_paste {
                        own.insert(0, border(Some(part.token.is_spaced)));
                    }
                    if borders && !part.is_pasted {
                        own.push(border(None));
                    }
                }
            }
            if let Some(start) = pasted.take() {
                paste(&mut tokens, start, &mut own, borders)?;
            }
            let start = tokens.len();
            tokens.append(&mut own);
            if part.is_pasted {
                // What was pasted may be pasted again.
                pasted = Some(start);
            }
        }
        for token in &mut tokens {
            token.is_first = false;
        }
        Ok(tokens)
    }
}

/// Pastes the last token, if it is one of those from `start` on, to the first of `next`. The whole
/// becomes the first of these, so that it can be pasted to what follows.
fn paste(
    tokens: &mut Vec<Token>,
    start: usize,
    next: &mut Vec<Token>,
    borders: bool,
) -> Result<(), Wrong> {
    let is_border = |token: &Token| matches!(token.kind, Kind::Border(_));
    let first = next.iter().position(|it| !is_border(it));
    let last = tokens[start..].iter().rposition(|it| !is_border(it)).map(|idx| start + idx);
    match (last, first) {
        (Some(last), Some(first)) => {
            let left = tokens[last].clone();
            let right = &next[first];
            let text = format!("{}{}", left.text, right.text);
            let Some(kind) = single(&text) else {
                let what = format!(
                    "pasting \"{}\" and \"{}\" does not give a valid preprocessing token",
                    left.text, right.text
                );
                return Err((left.place, left.text.len(), what));
            };
            tokens.truncate(last);
            let made = Token::made(kind, &text, left.place);
            next[first] = Token { is_spaced: left.is_spaced, ..made };
            if borders {
                next.insert(first + 1, Token::made(Kind::Border(None), "", left.place));
            }
        }
        // With nothing on one side, the other one stays as it is, and is what is pasted further.
        (Some(last), None) => {
            next.splice(0..0, tokens.drain(last..));
        }
        (None, _) => {}
    }
    Ok(())
}

/// Tokens as a string.
fn quote(tokens: &[Token]) -> String {
    let mut text = String::from("\"");
    let mut space = None;
    for token in tokens {
        if let Kind::Border(source) = token.kind {
            if space.is_none() || space == Some(false) && source.is_none() {
                space = source;
            }
            continue;
        }
        let is_spaced = space.take().unwrap_or(token.is_spaced);
        if text.len() > 1 && is_spaced {
            text.push(' ');
        }
        let escapes = matches!(token.kind, Kind::Text | Kind::Character);
        for c in token.text.chars() {
            if escapes && matches!(c, '"' | '\\') {
                text.push('\\');
            }
            text.push(c);
        }
    }
    let n_backslashes = text.len() - text.trim_end_matches('\\').len();
    if n_backslashes % 2 == 1 {
        // It would take the quote with it.
        text.pop();
    }
    text.push('"');
    text
}
