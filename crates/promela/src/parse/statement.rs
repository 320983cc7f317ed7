//! Statements, with inline calls replaced by what they stand for.

use super::{DEEPEST_BLOCK, Parsed, Parser, Reported};
use crate::fault::code;
use crate::lexer::{Kind, Token};
use crate::tree::{
    Expression, ExpressionKind, Name, Reference, Sequence, Statement, StatementKind,
};
use mazurka_source::{Fault, Span};

/// A range of `select` that is at most this long is a choice between assignments.
const LONGEST_CHOICE: i64 = 32;

/// What gives an inline its value.
const RETURN: &str = "return";

/// More inline calls within each other than anybody writes.
const DEEPEST_CALL: usize = 64;

impl Parser<'_> {
    /// `{ … }`, whole.
    pub(super) fn body(&mut self) -> Parsed<Sequence> {
        self.expect("{")?;
        self.skip_separators();
        if self.is("}") {
            return self.unexpected("a statement");
        }
        let sequence = self.sequence();
        self.expect("}")?;
        Ok(sequence)
    }

    pub(super) fn skip_separators(&mut self) {
        while self.is(";") || self.is("->") || self.peek() == &Kind::Newline {
            self.advance();
        }
    }

    /// Statements up to what closes them. A statement with a fault is left out.
    fn sequence(&mut self) -> Sequence {
        let mut sequence = Vec::new();
        loop {
            self.skip_separators();
            if self.is_sequence_end() {
                return sequence;
            }
            let start = self.at;
            match self.step() {
                Ok(statement) => sequence.push(statement),
                Err(Reported) => self.skip_statement(start),
            }
            let is_separated = self.is(";")
                || self.is("->")
                || self.peek() == &Kind::Newline
                || self.separates_itself();
            if !is_separated && !self.is_sequence_end() {
                let _ = self.unexpected::<()>("`;` between statements");
                self.skip_statement(self.at);
            }
        }
    }

    /// Whether nothing has to stand between what was read last and the next statement.
    fn separates_itself(&self) -> bool {
        match &self.tokens[self.at - 1].kind {
            Kind::Sign(sign) => *sign == "}",
            Kind::Name(word) => word == "else",
            _ => false,
        }
    }

    fn is_sequence_end(&self) -> bool {
        match self.peek() {
            Kind::Sign("}" | "::") | Kind::End => true,
            Kind::Name(word) => matches!(word.as_str(), "fi" | "od"),
            _ => false,
        }
    }

    /// Goes to where the next statement may begin, over whole groups.
    fn skip_statement(&mut self, start: usize) {
        if self.at == start && !self.is_sequence_end() && !self.is("{") && !self.is("(") {
            self.advance();
        }
        loop {
            match self.peek() {
                Kind::Sign(";" | "->") | Kind::Newline => return,
                Kind::Sign("{" | "(") => {
                    self.group();
                }
                Kind::Name(word) if matches!(word.as_str(), "if" | "do") => self.skip_options(),
                _ if self.is_sequence_end() => return,
                _ => self.advance(),
            }
        }
    }

    fn skip_options(&mut self) {
        let mut depth = 0;
        loop {
            match self.peek() {
                Kind::Name(word) if matches!(word.as_str(), "if" | "do") => depth += 1,
                Kind::Name(word) if matches!(word.as_str(), "fi" | "od") => depth -= 1,
                Kind::End => return,
                _ => {}
            }
            self.advance();
            if depth == 0 {
                return;
            }
        }
    }

    /// A statement, perhaps with an escape.
    fn step(&mut self) -> Parsed<Statement> {
        let main = self.statement()?;
        if !self.accept_word("unless") {
            return Ok(main);
        }
        let escape = self.statement()?;
        let span = main.span.to(escape.span);
        // A label in front is one of the whole.
        let (labels, main) = match main.kind {
            StatementKind::Block(_) | StatementKind::Atomic(_) | StatementKind::DStep(_) => {
                (main.labels.clone(), Statement { labels: Vec::new(), ..main })
            }
            _ if !main.labels.is_empty() => {
                let label = main.labels[0].clone();
                let message = format!("label {} placed incorrectly", label.text);
                let fault = Fault::new(code::CONTROL, message)
                    .help("write `label: { statement unless statement }`");
                return self.fault(fault, label.span);
            }
            _ => (Vec::new(), main),
        };
        let kind = StatementKind::Unless { main: Box::new(main), escape: Box::new(escape) };
        Ok(Statement { labels, kind, span })
    }

    fn statement(&mut self) -> Parsed<Statement> {
        if self.block_depth == DEEPEST_BLOCK {
            let span = self.span();
            match self.peek() {
                Kind::Name(word) if matches!(word.as_str(), "if" | "do") => self.skip_options(),
                _ => self.skip_statement(self.at),
            }
            return self.too_deep("statements", DEEPEST_BLOCK, span);
        }
        self.block_depth += 1;
        let statement = self.statement_within();
        self.block_depth -= 1;
        statement
    }

    fn statement_within(&mut self) -> Parsed<Statement> {
        let start = self.span();
        let mut labels = Vec::new();
        while let Kind::Name(name) = self.peek()
            && !super::is_word(name)
            && self.is_next(":")
            && !self.proctypes.contains(name)
        {
            labels.push(self.name("a label")?);
            self.advance();
            if self.begins_declaration() {
                let fault = Fault::new(code::CONTROL, "label preceding declaration");
                return self.fault(fault, start);
            }
        }
        let ends_here = self.is_sequence_end()
            || self.is(";")
            || self.is("->")
            || self.peek() == &Kind::Newline;
        let kind = match ends_here && !labels.is_empty() {
            true => StatementKind::Condition(Expression::number(1, start)),
            false => self.statement_kind()?,
        };
        Ok(Statement { labels, kind, span: start.to(self.last_span()) })
    }

    fn statement_kind(&mut self) -> Parsed<StatementKind> {
        if self.is_word("mtype") && self.declares_symbols() {
            let fault = Fault::new(code::SYNTAX, "mtype declaration must be global");
            return self.fault(fault, self.span());
        }
        if self.begins_declaration() {
            return Ok(StatementKind::Declaration(self.declaration()?));
        }
        if self.is("{") {
            return Ok(StatementKind::Block(self.body()?));
        }
        let Kind::Name(word) = self.peek().clone() else { return self.condition() };
        match word.as_str() {
            "if" => Ok(StatementKind::If(self.options("fi")?)),
            "do" => Ok(StatementKind::Do(self.options("od")?)),
            "for" => self.for_loop(),
            "select" => self.select(),
            "break" => self.simple(StatementKind::Break),
            "else" => self.simple(StatementKind::Else),
            "goto" => {
                self.advance();
                Ok(StatementKind::Goto(self.name("a label")?))
            }
            "atomic" => {
                self.advance();
                Ok(StatementKind::Atomic(self.body()?))
            }
            "d_step" => {
                self.advance();
                Ok(StatementKind::DStep(self.body()?))
            }
            "assert" => {
                self.advance();
                Ok(StatementKind::Assert(self.expression()?))
            }
            "printf" => self.printf(),
            "printm" => self.printm(),
            "set_priority" => self.set_priority(),
            "xr" | "xs" => self.exclusive(word == "xs"),
            "c_code" => self.c_code(),
            "c_decl" | "c_state" | "c_track" => self.misplaced_c(&word),
            name if self.inlines.contains_key(name) && self.is_next("(") => self.inline_call(&[]),
            name if super::is_word(name) => self.condition(),
            _ => self.named_statement(),
        }
    }

    fn simple(&mut self, kind: StatementKind) -> Parsed<StatementKind> {
        self.advance();
        Ok(kind)
    }

    fn condition(&mut self) -> Parsed<StatementKind> {
        Ok(StatementKind::Condition(self.expression()?))
    }

    /// What begins with a variable: an assignment, a message, or a condition after all.
    fn named_statement(&mut self) -> Parsed<StatementKind> {
        let is_remote = matches!(self.peek(), Kind::Name(name) if self.proctypes.contains(name));
        if is_remote
            || matches!(self.peek(), Kind::Name(it) if matches!(it.as_str(), "true" | "false" | "skip"))
        {
            return self.condition();
        }
        if matches!(self.peek(), Kind::Name(name) if name == RETURN) {
            let fault = Fault::new(code::SYNTAX, "return statement outside inline");
            return self.fault(fault, self.span());
        }
        let start = self.at;
        let reference = self.reference()?;
        let Kind::Sign(sign) = *self.peek() else {
            self.at = start;
            return self.condition();
        };
        match sign {
            "(" => self
                .misused(&reference.name, format!("undeclared variable: {}", reference.name.text)),
            "=" => self.assignment(reference, start),
            "++" | "--" => {
                let operator = if sign == "++" { Change::Up } else { Change::Down };
                self.advance();
                Ok(changed(reference, operator))
            }
            "!" | "!!" => self.send(reference, sign == "!!"),
            "?" | "??" if !self.is_next("[") => self.receive(reference, sign == "??"),
            _ => {
                self.at = start;
                self.condition()
            }
        }
    }

    /// An assignment to what stands at `start`.
    fn assignment(&mut self, to: Reference, start: usize) -> Parsed<StatementKind> {
        self.advance();
        if let Kind::Name(name) = self.peek().clone()
            && self.inlines.contains_key(&name)
            && self.is_next("(")
        {
            let target = self.tokens[start..self.at].to_vec();
            return self.inline_call(&target);
        }
        Ok(StatementKind::Assign(to, self.expression()?))
    }

    fn send(&mut self, channel: Reference, sorted: bool) -> Parsed<StatementKind> {
        self.advance();
        let mut fields = vec![self.expression()?];
        if self.accept("(") {
            fields.extend(self.arguments()?);
        } else {
            while self.accept(",") {
                fields.push(self.expression()?);
            }
        }
        Ok(StatementKind::Send { channel, fields, sorted })
    }

    fn receive(&mut self, channel: Reference, anywhere: bool) -> Parsed<StatementKind> {
        self.advance();
        let keep = self.accept("<");
        let fields = self.patterns()?;
        if keep {
            self.expect(">")?;
        }
        Ok(StatementKind::Receive { channel, fields, anywhere, keep })
    }

    fn options(&mut self, end: &'static str) -> Parsed<Vec<Sequence>> {
        self.advance();
        self.skip_separators();
        let mut options = Vec::new();
        while self.accept("::") {
            let start = self.last_span();
            let option = self.sequence();
            if option.is_empty() && self.faults.is_empty() {
                return self.empty(start);
            }
            options.push(option);
        }
        if options.is_empty() {
            return self.unexpected("`::`");
        }
        match self.accept_word(end) {
            true => Ok(options),
            false => self.unexpected(&format!("`{end}`")),
        }
    }

    fn empty<T>(&mut self, span: Span) -> Parsed<T> {
        let fault = Fault::new(code::SYNTAX, "sequence must have at least one statement");
        self.fault(fault, span)
    }

    fn for_loop(&mut self) -> Parsed<StatementKind> {
        self.advance();
        self.expect("(")?;
        let index = self.reference()?;
        if self.accept_word("in") {
            let within = self.reference()?;
            self.expect(")")?;
            self.skip_separators();
            return Ok(StatementKind::ForIn { index, within, body: self.body()? });
        }
        let (low, high) = self.range()?;
        self.skip_separators();
        Ok(StatementKind::For { index, low, high, body: self.body()? })
    }

    /// `: low .. high)`
    fn range(&mut self) -> Parsed<(Expression, Expression)> {
        self.expect(":")?;
        let low = self.expression()?;
        self.expect("..")?;
        let high = self.expression()?;
        self.expect(")")?;
        Ok((low, high))
    }

    fn select(&mut self) -> Parsed<StatementKind> {
        self.advance();
        self.expect("(")?;
        let index = self.reference()?;
        let (low, high) = self.range()?;
        let is_unrolled = match (&low.kind, &high.kind) {
            (ExpressionKind::Number(first), ExpressionKind::Number(last)) if first > last => {
                let fault = Fault::new(code::SYNTAX, "bad range in select statement");
                return self.fault(fault, low.span.to(high.span));
            }
            (ExpressionKind::Number(low), ExpressionKind::Number(high)) => {
                let is_plain = index.index.is_none() && index.field.is_none();
                let is_simple = index.name.text.chars().all(|c| c.is_ascii_alphanumeric());
                let len = i64::from(*high) - i64::from(*low);
                is_plain && is_simple && !self.is_in_call() && (0..=LONGEST_CHOICE).contains(&len)
            }
            _ => false,
        };
        Ok(StatementKind::Select { index, low, high, is_unrolled })
    }

    fn printf(&mut self) -> Parsed<StatementKind> {
        self.advance();
        self.expect("(")?;
        let Kind::Text(mut text) = self.peek().clone() else { return self.unexpected("a string") };
        self.advance();
        // As in C, strings that stand behind each other are one.
        while let Kind::Text(more) = self.peek() {
            text.push_str(more);
            self.advance();
        }
        let mut arguments = Vec::new();
        while self.accept(",") {
            arguments.push(self.expression()?);
        }
        self.expect(")")?;
        Ok(StatementKind::Print { text, arguments })
    }

    fn printm(&mut self) -> Parsed<StatementKind> {
        self.advance();
        self.expect("(")?;
        let symbol = self.expression()?;
        self.expect(")")?;
        Ok(StatementKind::PrintSymbol(symbol))
    }

    fn set_priority(&mut self) -> Parsed<StatementKind> {
        self.advance();
        self.expect("(")?;
        let process = self.expression()?;
        self.expect(",")?;
        let priority = self.expression()?;
        self.expect(")")?;
        Ok(StatementKind::SetPriority { process, priority })
    }

    fn exclusive(&mut self, sends: bool) -> Parsed<StatementKind> {
        self.advance();
        let mut channels = vec![self.reference()?];
        while self.accept(",") {
            channels.push(self.reference()?);
        }
        Ok(StatementKind::Exclusive { sends, channels })
    }

    /// Puts the text of an inline in the place of its call, and reads it as the block that it is.
    /// What it returns goes to `target`, which is written as the beginning of an assignment.
    fn inline_call(&mut self, target: &[Token]) -> Parsed<StatementKind> {
        let name = self.name_of_inline();
        self.advance();
        let arguments = self.texts_of_arguments();
        let inline = self.inlines[&name.text].clone();
        if arguments.len() != inline.parameters.len() {
            return self.misused(
                &name,
                format!(
                    "wrong nr of params on call of '{}': {}, not {}",
                    name.text,
                    arguments.len(),
                    inline.parameters.len()
                ),
            );
        }
        let returns = |token: &Token| matches!(&token.kind, Kind::Name(text) if text == RETURN);
        if !target.is_empty() && !inline.body.iter().any(returns) {
            return self.misused(&name, format!("`{}` returns no value", name.text));
        }
        self.leave_calls();
        let is_active = self.calls.iter().any(|(active, _)| *active == name.text);
        if is_active || self.calls.len() >= DEEPEST_CALL {
            return self.misused(&name, format!("cyclic inline attempt on: {}", name.text));
        }
        let replaced = inline.body.iter().flat_map(|token| {
            let place = match &token.kind {
                Kind::Name(text) if text == RETURN && !target.is_empty() => {
                    return target.to_vec();
                }
                Kind::Name(text) => inline.parameters.iter().position(|it| it == text),
                _ => None,
            };
            match place {
                Some(place) => arguments[place].clone(),
                None => vec![token.clone()],
            }
        });
        let replaced: Vec<Token> = replaced.collect();
        self.calls.push((name.text, self.tokens.len() - self.at));
        self.tokens.splice(self.at..self.at, replaced);
        Ok(StatementKind::Block(self.body()?))
    }

    fn name_of_inline(&self) -> Name {
        let Kind::Name(text) = self.peek() else { unreachable!("an inline was seen here") };
        Name { text: text.clone(), span: self.span() }
    }

    /// The arguments of an inline call as they are written.
    fn texts_of_arguments(&mut self) -> Vec<Vec<Token>> {
        let group = self.group();
        let within = group.get(1..group.len() - 1).unwrap_or_default();
        let mut arguments = vec![Vec::new()];
        let mut depth = 0;
        for token in within {
            match token.kind {
                Kind::Sign("(" | "[" | "{") => depth += 1,
                Kind::Sign(")" | "]" | "}") => depth -= 1,
                Kind::Newline => continue,
                Kind::Sign(",") if depth == 0 => {
                    arguments.push(Vec::new());
                    continue;
                }
                _ => {}
            }
            arguments.last_mut().expect("there is always one").push(token.clone());
        }
        if within.is_empty() {
            arguments.clear();
        }
        arguments
    }

    /// Forgets the inline calls that are behind us.
    fn leave_calls(&mut self) {
        let behind = self.tokens.len() - self.at;
        while self.calls.last().is_some_and(|(_, after)| behind <= *after) {
            self.calls.pop();
        }
    }

    /// Whether what is read stands in the text of an inline.
    fn is_in_call(&mut self) -> bool {
        self.leave_calls();
        !self.calls.is_empty()
    }
}

enum Change {
    Up,
    Down,
}

/// `reference++` as what it stands for.
pub(crate) fn increment(reference: Reference) -> StatementKind {
    changed(reference, Change::Up)
}

fn changed(reference: Reference, change: Change) -> StatementKind {
    let span = reference.span;
    let operator = match change {
        Change::Up => crate::tree::Binary::Add,
        Change::Down => crate::tree::Binary::Subtract,
    };
    let old = Expression { kind: ExpressionKind::Variable(reference.clone()), span };
    let operands = Box::new([old, Expression::number(1, span)]);
    let value = Expression { kind: ExpressionKind::Binary(operator, operands), span };
    StatementKind::Assign(reference, value)
}
