//! Embedded C: `c_code`, `c_expr`, `c_decl`, `c_state` and `c_track`, as far as it is assignments
//! and conditions over numbers that are parts of the state.
//!
//! C computes with `int` what Promela computes with `int`, so a piece of C becomes a piece of the
//! tree: an assignment, `if`, `while` and `for` become what they are in Promela, and a `c_code` is
//! one step. Taken are the types `int`, `short` and `unsigned char`, whose values are all `int`s,
//! and arrays of them. What else there is in C (functions, pointers, declarations within a
//! `c_code`, other types, jumps) is refused, with its place. So is what would not be a part of the
//! state: a search that goes back does not restore it, and a verdict would depend on the order of
//! the search.
//!
//! | in C              | here                                                         |
//! |-------------------|--------------------------------------------------------------|
//! | `now.x`           | the variable `x` of the model, [`GLOBAL`] before its name    |
//! | `Pname->x`        | the variable `x` of the process, `Pname->` before its name   |
//! | `x`               | a variable of a `c_decl` with a `c_track`, [`C`] before its name |
//!
//! Differs from SPIN: an index that is out of bounds is a violation here, and undefined in C. And a
//! search for all violations goes on behind a `c_code` whose condition, in brackets, is false.

use super::{Parsed, Parser};
use crate::fault::code;
use crate::lexer::{Kind, Token};
use crate::tree::{
    Binary, Declaration, Expression, ExpressionKind, First, Name, Reference, Sequence, Statement,
    StatementKind, TypeKind, TypeName, Unary, Unit, Variable,
};
use mazurka_source::{Fault, Span};
use rustc_hash::{FxHashMap, FxHashSet};

/// What the names of variables of the model begin with in C.
pub(crate) const GLOBAL: &str = "now.";

/// What the names of variables of C begin with. No name of the model does.
const C: &str = "C.";

/// What is known of C so far.
#[derive(Debug, Default)]
pub(super) struct Embedded {
    /// What every `c_track` of the text says.
    tracked: FxHashSet<String>,
    /// The variables of `c_decl`.
    variables: FxHashMap<String, Declaration>,
}

impl Embedded {
    pub(super) fn new(tokens: &[Token]) -> Self {
        let tracked = tokens.windows(2).filter_map(|pair| match (&pair[0].kind, &pair[1].kind) {
            (Kind::Name(word), Kind::Text(text)) if word == "c_track" => Some(text.clone()),
            _ => None,
        });
        Self { tracked: tracked.collect(), variables: FxHashMap::default() }
    }

    fn is_tracked(&self, name: &str) -> bool {
        self.tracked.contains(name) || self.tracked.contains(&format!("&{name}"))
    }
}

impl Parser<'_> {
    /// A declaration or a piece of C on the outermost level.
    pub(super) fn c_unit(&mut self, word: &str) -> Parsed<Option<Unit>> {
        let start = self.span();
        match word {
            "c_decl" => {
                self.advance();
                let group = self.c_group()?;
                let declarations = self.in_c(group, Self::c_declarations)?;
                let mut variables = declarations.into_iter();
                // Each is a unit once it is tracked: what is not tracked is refused where it is
                // used.
                variables.try_for_each(|(name, declaration)| {
                    match self.embedded.variables.insert(name.clone(), declaration) {
                        None => Ok(()),
                        Some(_) => self.refuse_c(&format!("`{name}` declared twice"), start),
                    }
                })?;
                Ok(None)
            }
            "c_track" => self.c_track(),
            "c_state" => self.c_state().map(Some),
            _ => {
                self.advance();
                while self.is("[") || self.is("{") {
                    self.group();
                }
                self.refuse_c("a function or a statement outside of processes", start)
            }
        }
    }

    /// `c_code { … }` or `c_code [condition] { … }` as a statement.
    pub(super) fn c_code(&mut self) -> Parsed<StatementKind> {
        let start = self.span();
        self.advance();
        let mut body = Vec::new();
        let condition = if self.is("[") { Some(self.group()) } else { None };
        let group = self.c_group()?;
        if !self.calls.is_empty() {
            return self.refuse_c("a `c_code` within an inline", start);
        }
        if let Some(condition) = condition {
            let condition = self.in_c(condition, Self::c_whole_expression)?;
            let span = condition.span;
            let kind = StatementKind::Assert(condition);
            body.push(Statement { labels: Vec::new(), kind, span });
        }
        body.extend(self.in_c(group, Self::c_statements)?);
        if body.is_empty() {
            return Ok(StatementKind::Condition(Expression::number(1, start)));
        }
        Ok(StatementKind::Embedded(body))
    }

    /// `c_expr { … }`
    pub(super) fn c_expr(&mut self) -> Parsed<ExpressionKind> {
        let start = self.span();
        self.advance();
        let group = self.c_group()?;
        if !self.calls.is_empty() {
            return self.refuse_c("a `c_expr` within an inline", start);
        }
        Ok(self.in_c(group, Self::c_whole_expression)?.kind)
    }

    /// `{ … }`, with the braces.
    fn c_group(&mut self) -> Parsed<Vec<Token>> {
        match self.is("{") {
            true => Ok(self.group()),
            false => self.unexpected("`{`"),
        }
    }

    /// Reads tokens that are C, within their brackets.
    fn in_c<T>(
        &mut self,
        mut group: Vec<Token>,
        read: impl FnOnce(&mut Self) -> Parsed<T>,
    ) -> Parsed<T> {
        let end = group.pop().map_or_else(|| self.last_span(), |close| close.span);
        let tokens = group.into_iter().skip(1).filter(|token| token.kind != Kind::Newline);
        let tokens = tokens.chain([Token { kind: Kind::End, span: end }]).collect();
        let tokens = std::mem::replace(&mut self.tokens, tokens);
        let at = std::mem::take(&mut self.at);
        let done = read(self);
        (self.tokens, self.at) = (tokens, at);
        done
    }

    fn refuse_c<T>(&mut self, what: &str, span: Span) -> Parsed<T> {
        let fault = Fault::new(
            code::UNSUPPORTED,
            format!("embedded C with {what} is not supported"),
        )
        .help(
            "taken are assignments, `if`, `while`, `for`, `printf` and conditions over `now.x`, \
                 `Pname->x` and variables with a `c_track`, of `int`, `short` and `unsigned char`",
        );
        self.fault(fault, span)
    }

    /// The type of numbers that stands here.
    fn c_type(&mut self) -> Parsed<Option<TypeName>> {
        let span = self.span();
        let Kind::Name(word) = self.peek().clone() else { return Ok(None) };
        let kind = match word.as_str() {
            "int" => TypeKind::Int,
            "short" => TypeKind::Short,
            "uchar" => TypeKind::Byte,
            "unsigned" if matches!(self.peek_at(1), Kind::Name(next) if next == "char") => {
                self.advance();
                TypeKind::Byte
            }
            "char" | "unsigned" | "signed" | "long" | "struct" | "typedef" | "float" | "double"
            | "static" | "extern" | "const" | "volatile" | "void" | "enum" | "union" => {
                return self.refuse_c(&format!("`{word}`"), span);
            }
            _ => return Ok(None),
        };
        self.advance();
        if kind == TypeKind::Short {
            self.accept_word("int");
        }
        Ok(Some(TypeName { kind, span: span.to(self.last_span()) }))
    }

    /// `int x = 1, y[3];` and so on, each by its name.
    fn c_declarations(&mut self) -> Parsed<Vec<(String, Declaration)>> {
        let mut all = Vec::new();
        loop {
            while self.accept(";") {}
            if self.peek() == &Kind::End {
                return Ok(all);
            }
            let Some(ty) = self.c_type()? else {
                return self.refuse_c("something else than variables of numbers", self.span());
            };
            loop {
                let variable = self.c_variable()?;
                let name = variable.name.text.clone();
                let ty = ty.clone();
                all.push((name, Declaration { is_hidden: false, ty, variables: vec![variable] }));
                if !self.accept(",") {
                    break;
                }
            }
            if !self.is(";") {
                return self.refuse_c("something else than variables of numbers", self.span());
            }
        }
    }

    fn c_variable(&mut self) -> Parsed<Variable> {
        let name = self.name("the name of a variable")?;
        let mut count = None;
        if self.accept("[") {
            count = Some(self.c_expression()?);
            self.expect("]")?;
        }
        let first = match self.is("=") {
            true if count.is_some() => {
                return self.refuse_c("a first value of an array", self.span());
            }
            true => {
                self.advance();
                Some(First::Value(self.c_expression()?))
            }
            false => None,
        };
        Ok(Variable { name, width: None, count, first })
    }

    fn c_text(&mut self, what: &str) -> Parsed<(String, Span)> {
        let span = self.span();
        match self.peek().clone() {
            Kind::Text(text) => {
                self.advance();
                Ok((text, span))
            }
            _ => self.unexpected(what),
        }
    }

    /// `c_track "&x" "sizeof(int)" "Matched"`: from here on, a variable of C is one of the model.
    fn c_track(&mut self) -> Parsed<Option<Unit>> {
        self.advance();
        let (address, span) = self.c_text("the address of a variable, in quotes")?;
        let (size, size_span) = self.c_text("its size, in quotes")?;
        if let Kind::Text(kind) = self.peek().clone() {
            let span = self.span();
            self.advance();
            if kind.trim() != "Matched" {
                return self.refuse_c(&format!("a variable that is {kind:?}"), span);
            }
        }
        let name = address.strip_prefix('&').unwrap_or(&address).to_owned();
        let Some(mut declaration) = self.embedded.variables.get(&name).cloned() else {
            return self.refuse_c(&format!("`{address}`, which no `c_decl` before it has,"), span);
        };
        let variable = &mut declaration.variables[0];
        if address.starts_with('&') == variable.count.is_some() {
            return self.refuse_c(&format!("the address `{address}`"), span);
        }
        let (of_type, bytes) = match declaration.ty.kind {
            TypeKind::Int => ("sizeof(int)", 4),
            TypeKind::Short => ("sizeof(short)", 2),
            _ => ("sizeof(unsigned char)", 1),
        };
        let words: String = size.split_whitespace().collect::<Vec<_>>().join(" ");
        let is_whole = words == format!("sizeof({name})")
            || variable.count.is_none() && (words == of_type || words == bytes.to_string());
        if !is_whole {
            return self.refuse_c(&format!("the size `{size}` for `{name}`"), size_span);
        }
        variable.name.text = format!("{C}{name}");
        Ok(Some(Unit::Declaration(declaration)))
    }

    /// `c_state "int x" "Global" "3"`: a variable of the model.
    fn c_state(&mut self) -> Parsed<Unit> {
        self.advance();
        let (text, span) = self.c_text("a declaration, in quotes")?;
        let (scope, scope_span) = self.c_text("`\"Global\"`")?;
        let mut all = text.clone();
        if let Kind::Text(first) = self.peek().clone() {
            self.advance();
            all = format!("{text} = {first}");
        }
        if scope.trim() != "Global" {
            return self.refuse_c(&format!("a `c_state` that is {scope:?}"), scope_span);
        }
        let (tokens, faults) = crate::lexer::tokens(&format!("{{{all};}}"), span.text_idx);
        if !faults.is_empty() {
            return self.refuse_c(&format!("`{all}`"), span);
        }
        // All of it stands where the text does.
        let tokens = tokens.into_iter().filter(|token| token.kind != Kind::End);
        let tokens = tokens.map(|token| Token { span, ..token }).collect();
        let mut declared = self.in_c(tokens, Self::c_declarations)?;
        match (declared.pop(), declared.is_empty()) {
            (Some((_, declaration)), true) => Ok(Unit::Declaration(declaration)),
            _ => self.refuse_c(&format!("`{all}`"), span),
        }
    }

    fn c_statements(&mut self) -> Parsed<Sequence> {
        let mut all = Vec::new();
        while self.peek() != &Kind::End && !self.is("}") {
            all.extend(self.c_statement()?);
        }
        Ok(all)
    }

    /// A statement, which may be none or several in Promela.
    fn c_statement(&mut self) -> Parsed<Sequence> {
        if self.block_depth == super::DEEPEST_BLOCK {
            return self.too_deep("statements", super::DEEPEST_BLOCK, self.span());
        }
        self.block_depth += 1;
        let statement = self.c_statement_within();
        self.block_depth -= 1;
        statement
    }

    fn c_statement_within(&mut self) -> Parsed<Sequence> {
        let start = self.span();
        if self.accept(";") {
            return Ok(Vec::new());
        }
        if self.accept("{") {
            let body = self.c_statements()?;
            self.expect("}")?;
            return Ok(body);
        }
        let word = match self.peek() {
            Kind::Name(word) => word.clone(),
            _ => String::new(),
        };
        let kind = match word.as_str() {
            "if" => {
                self.advance();
                let condition = self.c_parenthesised()?;
                let then = self.c_statement()?;
                let otherwise = match self.accept_word("else") {
                    true => self.c_statement()?,
                    false => Vec::new(),
                };
                StatementKind::If(options(condition, then, otherwise))
            }
            "while" => {
                self.advance();
                let condition = self.c_parenthesised()?;
                let body = self.c_statement()?;
                StatementKind::Do(options(
                    condition,
                    body,
                    vec![statement(StatementKind::Break, start)],
                ))
            }
            "for" => return self.c_for(),
            "printf" | "Printf" if self.is_next("(") => {
                self.advance();
                self.advance();
                let (text, _) = self.c_text("a format")?;
                let mut arguments = Vec::new();
                while self.accept(",") {
                    arguments.push(self.c_expression()?);
                }
                self.expect(")")?;
                self.expect(";")?;
                StatementKind::Print { text, arguments }
            }
            "assert" | "do" | "switch" | "break" | "continue" | "goto" | "return" | "case"
            | "default" => {
                return self.refuse_c(&format!("`{word}`"), start);
            }
            _ => {
                if self.c_type()?.is_some() {
                    return self.refuse_c("a declaration within a `c_code`", start);
                }
                let kind = self.c_assignment()?;
                self.expect(";")?;
                kind
            }
        };
        Ok(vec![statement(kind, start.to(self.last_span()))])
    }

    fn c_for(&mut self) -> Parsed<Sequence> {
        let start = self.span();
        self.advance();
        self.expect("(")?;
        let part = |parser: &mut Self, end: &'static str| -> Parsed<Sequence> {
            let span = parser.span();
            let mut all = Vec::new();
            if !parser.is(end) {
                all.push(statement(parser.c_assignment()?, span));
            }
            parser.expect(end)?;
            Ok(all)
        };
        let mut all = part(self, ";")?;
        let condition = match self.is(";") {
            true => return self.refuse_c("a `for` without a condition", start),
            false => self.c_expression()?,
        };
        self.expect(";")?;
        let next = part(self, ")")?;
        let mut body = self.c_statement()?;
        body.extend(next);
        let kind = StatementKind::Do(options(
            condition,
            body,
            vec![statement(StatementKind::Break, start)],
        ));
        all.push(statement(kind, start.to(self.last_span())));
        Ok(all)
    }

    /// `x = 1`, `x += 1`, `x++`, `++x`
    fn c_assignment(&mut self) -> Parsed<StatementKind> {
        let start = self.span();
        let prefix = match self.peek() {
            Kind::Sign("++") => Some(Binary::Add),
            Kind::Sign("--") => Some(Binary::Subtract),
            _ => None,
        };
        if prefix.is_some() {
            self.advance();
        }
        let to = self.c_reference()?;
        let one = Expression::number(1, start);
        if let Some(operator) = prefix {
            return Ok(changed(to, operator, one));
        }
        let Kind::Sign(sign) = *self.peek() else { return self.unexpected("an assignment") };
        let operator = match sign {
            "=" => {
                self.advance();
                return Ok(StatementKind::Assign(to, self.c_expression()?));
            }
            "++" | "--" => {
                self.advance();
                let operator = if sign == "++" { Binary::Add } else { Binary::Subtract };
                return Ok(changed(to, operator, one));
            }
            "+" => Binary::Add,
            "-" => Binary::Subtract,
            "*" => Binary::Multiply,
            "/" => Binary::Divide,
            "%" => Binary::Remainder,
            "&" => Binary::BitAnd,
            "|" => Binary::BitOr,
            "^" => Binary::BitXor,
            "<<" => Binary::ShiftLeft,
            ">>" => Binary::ShiftRight,
            "(" => return self.refuse_c(&format!("a call of `{}`", to.name.text), start),
            _ => return self.unexpected("an assignment"),
        };
        // One sign in C, and two tokens here.
        let is_one = self.is_next("=")
            && self.tokens.get(self.at + 1).is_some_and(|it| it.span.start == self.span().end);
        if !is_one {
            return self.unexpected("an assignment");
        }
        self.advance();
        self.advance();
        let value = self.c_expression()?;
        Ok(changed(to, operator, value))
    }

    fn c_parenthesised(&mut self) -> Parsed<Expression> {
        self.expect("(")?;
        let expression = self.c_expression()?;
        self.expect(")")?;
        Ok(expression)
    }

    /// An expression, and nothing behind it but perhaps a `;`.
    fn c_whole_expression(&mut self) -> Parsed<Expression> {
        let expression = self.c_expression()?;
        while self.accept(";") {}
        match self.peek() {
            Kind::End => Ok(expression),
            _ => self.unexpected("the end of the expression"),
        }
    }

    /// An expression without a comma or an assignment.
    fn c_expression(&mut self) -> Parsed<Expression> {
        let condition = self.expression_with(Self::c_primary)?;
        if !self.accept("?") {
            return Ok(condition);
        }
        let then = self.c_expression()?;
        self.expect(":")?;
        let otherwise = self.c_expression()?;
        let span = condition.span.to(otherwise.span);
        let kind = ExpressionKind::If(Box::new([condition, then, otherwise]));
        Ok(Expression { kind, span })
    }

    fn c_primary(&mut self) -> Parsed<Expression> {
        let start = self.span();
        match self.peek().clone() {
            Kind::Number(value) => {
                let text = self.text.get(start.start as usize..start.end as usize);
                let text = text.unwrap_or_default();
                if text.starts_with('0') && text.len() > 1 {
                    return self.refuse_c("an octal number", start);
                }
                let escapes = [r"'\n'", r"'\t'", r"'\r'", r"'\f'", r"'\\'", r"'\''"];
                if text.starts_with(r"'\") && !escapes.contains(&text) {
                    return self.refuse_c(&format!("the character {text}"), start);
                }
                self.advance();
                Ok(Expression::number(value, start))
            }
            Kind::Sign("(") => {
                if matches!(self.peek_at(1), Kind::Name(word) if word == "int")
                    && matches!(self.peek_at(2), Kind::Sign(")"))
                {
                    // All that is computed is an `int`.
                    (0..3).for_each(|_| self.advance());
                    return self.c_prefixed();
                }
                self.c_parenthesised()
            }
            Kind::Sign("!!") => {
                self.advance();
                let operand = self.c_prefixed()?;
                let span = start.to(operand.span);
                let not = |operand: Expression| {
                    let kind = ExpressionKind::Unary(Unary::Not, Box::new(operand));
                    Expression { kind, span }
                };
                Ok(not(not(operand)))
            }
            Kind::Sign("+") => {
                self.advance();
                self.c_prefixed()
            }
            Kind::Name(_) => {
                let reference = self.c_reference()?;
                if self.is("(") {
                    let what = format!("a call of `{}`", reference.name.text);
                    return self.refuse_c(&what, start);
                }
                if self.is("++") || self.is("--") {
                    return self.refuse_c("an assignment in an expression", self.span());
                }
                let span = reference.span;
                Ok(Expression { kind: ExpressionKind::Variable(reference), span })
            }
            Kind::Sign(sign @ ("&" | "*" | "++" | "--")) => {
                self.refuse_c(&format!("`{sign}` before an operand"), start)
            }
            _ => self.unexpected("an expression of C"),
        }
    }

    fn c_prefixed(&mut self) -> Parsed<Expression> {
        self.unary_with(Self::c_primary)
    }

    /// `now.x`, `Pname->x` or `x`, with an index and fields.
    fn c_reference(&mut self) -> Parsed<Reference> {
        let first = self.name("a variable")?;
        let start = first.span;
        let mut name = match first.text.as_str() {
            "now" => {
                self.expect(".")?;
                let name = self.name("a variable of the model")?;
                Name { text: format!("{GLOBAL}{}", name.text), ..name }
            }
            process if self.is("->") && process.starts_with('P') => {
                self.advance();
                let name = self.name("a variable of the process")?;
                Name { text: format!("{process}->{}", name.text), ..name }
            }
            variable if self.is("->") => {
                return self.refuse_c(&format!("the pointer `{variable}`"), start);
            }
            _ if self.is("(") => {
                return self.refuse_c(&format!("a call of `{}`", first.text), start);
            }
            variable => {
                if !self.embedded.variables.contains_key(variable) {
                    let what = format!("`{variable}`, which no `c_decl` before it has,");
                    return self.refuse_c(&what, start);
                }
                if !self.embedded.is_tracked(variable) {
                    let what =
                        format!("`{variable}`, which no `c_track` makes a part of the state,");
                    return self.refuse_c(&what, start);
                }
                Name { text: format!("{C}{variable}"), span: start }
            }
        };
        name.span = start.to(name.span);
        self.c_rest(name)
    }

    fn c_field(&mut self) -> Parsed<Reference> {
        self.expect(".")?;
        let name = self.name("a field")?;
        self.c_rest(name)
    }

    /// What follows the name of a variable or a field: an index and fields.
    fn c_rest(&mut self, name: Name) -> Parsed<Reference> {
        let start = name.span;
        let index = match self.accept("[") {
            true => {
                let index = self.c_expression()?;
                self.expect("]")?;
                Some(Box::new(index))
            }
            false => None,
        };
        let field = match self.is(".") {
            true => Some(Box::new(self.c_field()?)),
            false => None,
        };
        Ok(Reference { name, index, field, span: start.to(self.last_span()) })
    }

    /// Refuses C where none may be, and goes on behind it.
    pub(super) fn misplaced_c<T>(&mut self, word: &str) -> Parsed<T> {
        let span = self.span();
        self.advance();
        while self.is("[") || self.is("{") {
            self.group();
        }
        while matches!(self.peek(), Kind::Text(_)) {
            self.advance();
        }
        self.refuse_c(&format!("`{word}` within a process"), span)
    }
}

fn statement(kind: StatementKind, span: Span) -> Statement {
    Statement { labels: Vec::new(), kind, span }
}

/// `to = to operator value`
fn changed(to: Reference, operator: Binary, value: Expression) -> StatementKind {
    let span = to.span.to(value.span);
    let old = Expression { kind: ExpressionKind::Variable(to.clone()), span: to.span };
    let kind = ExpressionKind::Binary(operator, Box::new([old, value]));
    StatementKind::Assign(to, Expression { kind, span })
}

/// `condition -> then` and `else -> otherwise`
fn options(condition: Expression, then: Sequence, otherwise: Sequence) -> Vec<Sequence> {
    let span = condition.span;
    let mut first = vec![statement(StatementKind::Condition(condition), span)];
    first.extend(then);
    let mut second = vec![statement(StatementKind::Else, span)];
    second.extend(otherwise);
    vec![first, second]
}
