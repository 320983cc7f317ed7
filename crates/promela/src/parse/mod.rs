//! The parser: from tokens to the tree, with recovery after a mistake.
//!
//! After a fault in a statement, the rest of the statement is skipped; after one between units, the
//! rest of the unit. So one run finds all faults of a file.

mod embedded;
mod expression;
mod statement;

pub(crate) use embedded::GLOBAL;
pub(crate) use statement::increment;

use crate::fault::code;
use crate::lexer::{Kind, Token};
use crate::tree::{
    Declaration, Expression, First, Name, Proctype, TypeKind, TypeName, Unit, Variable,
};
use embedded::Embedded;
use mazurka_source::{Fault, Span};
use rustc_hash::{FxHashMap, FxHashSet};

/// The words of the language, which are no names.
const WORDS: [&str; 56] = [
    "active",
    "assert",
    "atomic",
    "bit",
    "bool",
    "break",
    "byte",
    "c_code",
    "c_decl",
    "c_expr",
    "c_state",
    "c_track",
    "chan",
    "D_proctype",
    "d_step",
    "do",
    "else",
    "empty",
    "enabled",
    "eval",
    "fi",
    "for",
    "full",
    "get_priority",
    "goto",
    "hidden",
    "if",
    "init",
    "inline",
    "int",
    "len",
    "local",
    "ltl",
    "mtype",
    "nempty",
    "never",
    "nfull",
    "notrace",
    "np_",
    "od",
    "of",
    "pc_value",
    "pid",
    "printf",
    "printm",
    "priority",
    "proctype",
    "provided",
    "run",
    "select",
    "set_priority",
    "short",
    "show",
    "timeout",
    "typedef",
    "unless",
];

/// Words that are sorted apart: they may follow a name.
const MORE_WORDS: [&str; 4] = ["trace", "unsigned", "xr", "xs"];

/// Whether a name is a word of the language.
pub(crate) fn is_word(name: &str) -> bool {
    WORDS.contains(&name) || MORE_WORDS.contains(&name)
}

/// The words that begin a unit: where reading goes on after a mistake.
const UNIT_WORDS: [&str; 25] = [
    "c_code",
    "c_decl",
    "c_state",
    "c_track",
    "active",
    "proctype",
    "D_proctype",
    "init",
    "never",
    "trace",
    "notrace",
    "ltl",
    "inline",
    "typedef",
    "mtype",
    "chan",
    "bit",
    "bool",
    "byte",
    "pid",
    "short",
    "int",
    "unsigned",
    "hidden",
    "show",
];

/// The units of a model, or all that is wrong with its syntax. `proctypes` are known from
/// elsewhere.
pub(crate) fn parse(
    text: &str,
    tokens: Vec<Token>,
    proctypes: &[String],
) -> (Vec<Unit>, Vec<(Fault, Span)>) {
    let mut parser = Parser::new(text, tokens);
    parser.proctypes.extend(proctypes.iter().cloned());
    let units = parser.units();
    (units, parser.faults)
}

/// An expression alone, such as an atom of a formula. `structs` and `proctypes` are the names
/// known.
pub(crate) fn parse_expression(
    text: &str,
    tokens: Vec<Token>,
    proctypes: &[String],
) -> Result<Expression, Vec<(Fault, Span)>> {
    let mut parser = Parser::new(text, tokens);
    parser.proctypes.extend(proctypes.iter().cloned());
    let expression = parser.expression();
    if expression.is_ok() && parser.peek() != &Kind::End {
        let _ = parser.unexpected::<()>("the end of the proposition");
    }
    match (expression, parser.faults.is_empty()) {
        (Ok(expression), true) => Ok(expression),
        _ => Err(parser.faults),
    }
}

/// A fault was told; the caller has nothing to add.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reported;

pub(crate) type Parsed<T> = Result<T, Reported>;

/// A named piece of text with parameters.
#[derive(Clone, Debug)]
struct Inline {
    parameters: Vec<String>,
    /// With its braces.
    body: Vec<Token>,
}

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    at: usize,
    faults: Vec<(Fault, Span)>,
    structs: FxHashSet<String>,
    proctypes: FxHashSet<String>,
    inlines: FxHashMap<String, Inline>,
    /// What is known of embedded C.
    embedded: Embedded,
    /// The inline calls that are being read: their names, and how many tokens are behind each.
    calls: Vec<(String, usize)>,
    /// How many expressions are open, and how many statements.
    depth: u32,
    block_depth: u32,
    /// Whether it was told that something is nested too deep.
    is_too_deep: bool,
    /// How many operators stand above each other in the expression that was read last.
    height: u32,
}

/// How deep expressions may be nested, and how many operators one operand may stand under.
const DEEPEST: u32 = 400;

/// How deep statements may be nested.
const DEEPEST_BLOCK: u32 = 100;

impl<'a> Parser<'a> {
    fn new(text: &'a str, tokens: Vec<Token>) -> Self {
        let proctypes = names_behind(&tokens, &["proctype", "D_proctype"]);
        Self {
            text,
            embedded: Embedded::new(&tokens),
            tokens,
            at: 0,
            faults: Vec::new(),
            structs: FxHashSet::default(),
            proctypes,
            inlines: FxHashMap::default(),
            calls: Vec::new(),
            depth: 0,
            block_depth: 0,
            is_too_deep: false,
            height: 0,
        }
    }

    /// Refuses what is nested too deep.
    fn too_deep<T>(&mut self, what: &str, most: u32, span: Span) -> Parsed<T> {
        // Once is enough: what is around it may be as deep.
        if std::mem::replace(&mut self.is_too_deep, true) {
            return Err(Reported);
        }
        let message = format!("{what} are nested more than {most} deep");
        self.fault(Fault::new(code::UNSUPPORTED, message), span)
    }

    fn peek(&self) -> &Kind {
        &self.tokens[self.at].kind
    }

    fn peek_at(&self, distance: usize) -> &Kind {
        let last = self.tokens.len() - 1;
        &self.tokens[(self.at + distance).min(last)].kind
    }

    fn span(&self) -> Span {
        self.tokens[self.at].span
    }

    /// The span of the token before this one.
    fn last_span(&self) -> Span {
        self.tokens[self.at.saturating_sub(1)].span
    }

    fn advance(&mut self) {
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
    }

    fn is(&self, sign: &str) -> bool {
        matches!(self.peek(), Kind::Sign(it) if *it == sign)
    }

    fn is_next(&self, sign: &str) -> bool {
        matches!(self.peek_at(1), Kind::Sign(it) if *it == sign)
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Kind::Name(it) if it == word)
    }

    fn accept(&mut self, sign: &str) -> bool {
        let is = self.is(sign);
        if is {
            self.advance();
        }
        is
    }

    fn accept_word(&mut self, word: &str) -> bool {
        let is = self.is_word(word);
        if is {
            self.advance();
        }
        is
    }

    fn expect(&mut self, sign: &'static str) -> Parsed<()> {
        match self.accept(sign) {
            true => Ok(()),
            false => self.unexpected(&format!("`{sign}`")),
        }
    }

    /// A name that is no word of the language.
    fn name(&mut self, what: &str) -> Parsed<Name> {
        match self.peek() {
            Kind::Name(text) if !is_word(text) => {
                let name = Name { text: text.clone(), span: self.span() };
                self.advance();
                Ok(name)
            }
            _ => self.unexpected(what),
        }
    }

    fn number(&mut self, what: &str) -> Parsed<i32> {
        match *self.peek() {
            Kind::Number(value) => {
                self.advance();
                Ok(value)
            }
            _ => self.unexpected(what),
        }
    }

    /// Tells that something else should be here.
    fn unexpected<T>(&mut self, expected: &str) -> Parsed<T> {
        let saw = match self.peek() {
            Kind::Name(name) => format!("`{name}`"),
            Kind::Number(value) => format!("`{value}`"),
            Kind::Text(_) => "a string".to_owned(),
            Kind::Sign(sign) => format!("`{sign}`"),
            Kind::Newline => "the end of the line".to_owned(),
            Kind::End => "the end of the file".to_owned(),
        };
        let fault = Fault::new(code::SYNTAX, format!("syntax error: saw {saw}"))
            .label(format!("expected {expected}"));
        self.fault(fault, self.span())
    }

    fn fault<T>(&mut self, fault: Fault, span: Span) -> Parsed<T> {
        self.faults.push((fault, span));
        Err(Reported)
    }

    fn units(&mut self) -> Vec<Unit> {
        let mut units = Vec::new();
        loop {
            while self.is(";") || self.is("->") || self.peek() == &Kind::Newline {
                self.advance();
            }
            if self.peek() == &Kind::End {
                return units;
            }
            let start = self.at;
            match self.unit() {
                Ok(unit) => units.extend(unit),
                Err(Reported) => self.skip_unit(start),
            }
        }
    }

    /// Goes to where the next unit may begin.
    fn skip_unit(&mut self, start: usize) {
        if self.at == start {
            self.advance();
        }
        let mut depth = 0;
        loop {
            match self.peek() {
                Kind::End => return,
                Kind::Sign("{") => depth += 1,
                Kind::Sign("}") if depth > 0 => depth -= 1,
                Kind::Name(word) if depth == 0 && UNIT_WORDS.contains(&word.as_str()) => return,
                _ => {}
            }
            self.advance();
        }
    }

    fn unit(&mut self) -> Parsed<Option<Unit>> {
        let Kind::Name(word) = self.peek().clone() else {
            return self.unexpected("a declaration or a process").map(Some);
        };
        let unit = match word.as_str() {
            "active" | "proctype" | "D_proctype" => self.proctype()?,
            "init" => self.init()?,
            "never" => self.never()?,
            "trace" | "notrace" => self.trace(word == "notrace")?,
            "ltl" => self.formula()?,
            "inline" => {
                self.inline()?;
                return Ok(None);
            }
            "typedef" => self.typedef()?,
            "mtype" if self.declares_symbols() => self.symbols()?,
            "c_code" | "c_decl" | "c_state" | "c_track" | "c_expr" => return self.c_unit(&word),
            _ => Unit::Declaration(self.declaration()?),
        };
        Ok(Some(unit))
    }

    /// Skips what is within brackets of any kind, with the brackets, and returns it.
    fn group(&mut self) -> Vec<Token> {
        let start = self.at;
        let mut depth = 0;
        loop {
            match self.peek() {
                Kind::Sign("{" | "(" | "[") => depth += 1,
                Kind::Sign("}" | ")" | "]") => depth -= 1,
                Kind::End => break,
                _ => {}
            }
            self.advance();
            if depth == 0 {
                break;
            }
        }
        self.tokens[start..self.at].to_vec()
    }

    fn proctype(&mut self) -> Parsed<Unit> {
        let mut active = None;
        if self.is_word("active") {
            let span = self.span();
            self.advance();
            active = Some(Expression::number(1, span));
            if self.accept("[") {
                active = Some(self.expression()?);
                self.expect("]")?;
            }
        }
        if !self.accept_word("proctype") && !self.accept_word("D_proctype") {
            return self.unexpected("`proctype`");
        }
        let name = self.name("the name of the process type")?;
        self.expect("(")?;
        let mut parameters = Vec::new();
        while !self.is(")") {
            parameters.push(self.declaration()?);
            while self.accept(";") {}
        }
        self.expect(")")?;
        let priority = self.priority()?;
        let provided = match self.accept_word("provided") {
            true => {
                self.expect("(")?;
                let condition = self.expression()?;
                self.expect(")")?;
                Some(condition)
            }
            false => None,
        };
        let body = self.body()?;
        let proctype = Proctype { name, active, parameters, priority, provided, body };
        Ok(Unit::Proctype(Box::new(proctype)))
    }

    fn priority(&mut self) -> Parsed<Option<i32>> {
        match self.accept_word("priority") {
            true => self.number("a priority").map(Some),
            false => Ok(None),
        }
    }

    fn init(&mut self) -> Parsed<Unit> {
        let name = Name { text: "init".to_owned(), span: self.span() };
        self.advance();
        let priority = self.priority()?;
        let body = self.body()?;
        let active = Some(Expression::number(1, name.span));
        let (parameters, provided) = (Vec::new(), None);
        let proctype = Proctype { name, active, parameters, priority, provided, body };
        Ok(Unit::Proctype(Box::new(proctype)))
    }

    fn never(&mut self) -> Parsed<Unit> {
        let span = self.span();
        self.advance();
        let name = if self.is("{") { None } else { Some(self.name("a name or `{`")?) };
        Ok(Unit::Never { name, body: self.body()?, span })
    }

    fn trace(&mut self, is_forbidden: bool) -> Parsed<Unit> {
        let span = self.span();
        self.advance();
        Ok(Unit::Trace { is_forbidden, body: self.body()?, span })
    }

    fn formula(&mut self) -> Parsed<Unit> {
        self.advance();
        let name = if self.is("{") { None } else { Some(self.name("a name or `{`")?) };
        if !self.is("{") {
            return self.unexpected("`{`");
        }
        let open = self.span();
        let group = self.group();
        let close = group.last().map_or(open, |token| token.span);
        let span = Span { start: open.end, end: close.start.max(open.end), ..open };
        let text = self.text[span.start as usize..span.end as usize].to_owned();
        Ok(Unit::Formula { name, text, span })
    }

    fn inline(&mut self) -> Parsed<()> {
        self.advance();
        let name = self.name("the name of the inline")?;
        if self.inlines.contains_key(&name.text) {
            return self.misused(&name, format!("procedure name {} redefined", name.text));
        }
        self.expect("(")?;
        let mut parameters = Vec::new();
        while !self.is(")") {
            parameters.push(self.name("a parameter")?.text);
            if !self.is(")") {
                self.expect(",")?;
            }
        }
        self.expect(")")?;
        if !self.is("{") {
            return self.unexpected("`{`");
        }
        let body = self.group();
        self.inlines.insert(name.text, Inline { parameters, body });
        Ok(())
    }

    fn typedef(&mut self) -> Parsed<Unit> {
        self.advance();
        if matches!(self.peek(), Kind::Name(name) if self.structs.contains(name)) {
            return self.unexpected("the name of a new type");
        }
        let name = self.name("the name of the type")?;
        self.structs.insert(name.text.clone());
        self.expect("{")?;
        let mut fields = Vec::new();
        self.skip_separators();
        while !self.is("}") {
            fields.push(self.declaration()?);
            self.skip_separators();
        }
        self.expect("}")?;
        Ok(Unit::Struct { name, fields })
    }

    /// Whether `mtype` begins a list of symbols, not of variables.
    fn declares_symbols(&self) -> bool {
        let at = match self.is_next(":") {
            true => 3,
            false => 1,
        };
        let is = |distance: usize, sign: &str| matches!(self.peek_at(distance), Kind::Sign(it) if *it == sign);
        is(at, "{") || is(at, "=") && is(at + 1, "{")
    }

    fn symbols(&mut self) -> Parsed<Unit> {
        self.advance();
        let subtype = match self.accept(":") {
            true => Some(self.name("a subtype")?),
            false => None,
        };
        self.accept("=");
        self.expect("{")?;
        let mut names = Vec::new();
        while !self.is("}") {
            names.push(self.name("a symbol")?);
            while self.accept(",") {}
        }
        self.expect("}")?;
        Ok(Unit::Symbols { subtype, names })
    }

    /// Whether a declaration begins here.
    fn begins_declaration(&self) -> bool {
        let Kind::Name(word) = self.peek() else { return false };
        let is_type = matches!(
            word.as_str(),
            "bit" | "bool" | "byte" | "pid" | "short" | "int" | "unsigned" | "mtype" | "chan"
        );
        let is_visibility = matches!(word.as_str(), "hidden" | "show" | "local");
        is_type || is_visibility || self.structs.contains(word)
    }

    fn declaration(&mut self) -> Parsed<Declaration> {
        let mut is_hidden = false;
        while let Kind::Name(word) = self.peek()
            && matches!(word.as_str(), "hidden" | "show" | "local")
        {
            is_hidden |= word == "hidden";
            self.advance();
        }
        let ty = self.type_name()?;
        let mut variables = vec![self.variable()?];
        while self.accept(",") {
            variables.push(self.variable()?);
        }
        Ok(Declaration { is_hidden, ty, variables })
    }

    fn type_name(&mut self) -> Parsed<TypeName> {
        let Kind::Name(word) = self.peek().clone() else { return self.unexpected("a type") };
        let span = self.span();
        let kind = match word.as_str() {
            "bit" => TypeKind::Bit,
            "bool" => TypeKind::Bool,
            "byte" => TypeKind::Byte,
            "pid" => TypeKind::Pid,
            "short" => TypeKind::Short,
            "int" => TypeKind::Int,
            "unsigned" => TypeKind::Unsigned,
            "chan" => TypeKind::Chan,
            "mtype" => TypeKind::Mtype(None),
            name if self.structs.contains(name) => TypeKind::Struct(name.to_owned()),
            _ => return self.unexpected("a type"),
        };
        self.advance();
        if kind == TypeKind::Mtype(None) && self.accept(":") {
            let subtype = self.name("a subtype of `mtype`")?;
            return Ok(TypeName { kind: TypeKind::Mtype(Some(subtype.text)), span });
        }
        Ok(TypeName { kind, span })
    }

    fn variable(&mut self) -> Parsed<Variable> {
        let name = self.name("the name of a variable")?;
        let width = match self.accept(":") {
            true => Some(self.number("a number of bits")?),
            false => None,
        };
        let count = match self.accept("[") {
            true => {
                let count = self.expression()?;
                self.expect("]")?;
                Some(count)
            }
            false => None,
        };
        let first = if self.accept("=") { Some(self.first()?) } else { None };
        Ok(Variable { name, width, count, first })
    }

    fn first(&mut self) -> Parsed<First> {
        if self.accept("[") {
            let capacity = self.expression()?;
            self.expect("]")?;
            if !self.accept_word("of") {
                return self.unexpected("`of`");
            }
            self.expect("{")?;
            let mut fields = vec![self.type_name()?];
            while self.accept(",") {
                fields.push(self.type_name()?);
            }
            self.expect("}")?;
            return Ok(First::Channel { capacity, fields });
        }
        if self.accept("{") {
            let mut values = vec![self.expression()?];
            while self.accept(",") {
                values.push(self.expression()?);
            }
            self.expect("}")?;
            return Ok(First::Values(values));
        }
        Ok(First::Value(self.expression()?))
    }
}

/// The names that stand behind one of these words.
fn names_behind(tokens: &[Token], words: &[&str]) -> FxHashSet<String> {
    let pairs = tokens.windows(2).filter_map(|pair| match (&pair[0].kind, &pair[1].kind) {
        (Kind::Name(word), Kind::Name(name)) if words.contains(&word.as_str()) => {
            Some(name.clone())
        }
        _ => None,
    });
    pairs.collect()
}
