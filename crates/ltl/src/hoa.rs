//! Automata in the Hanoi Omega-Automata format, version 1.
//!
//! Written: Büchi automata that accept by states, with explicit labels. Read: those, and
//! generalised ones that accept by states or transitions, with labels on states, edges or in the
//! order of the letters, aliases, and several initial states. Alternation and other acceptance are
//! refused.

use crate::generalised::Generalised;
use crate::{Automaton, Cube, MAX_ATOMS};
use rustc_hash::FxHashMap;
use std::fmt::Write as _;

/// Why a text is no automaton that can be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct HoaError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong there.
    pub message: String,
}

/// Writes an automaton.
pub fn write(automaton: &Automaton, name: &str) -> String {
    let quoted = |text: &str| format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
    let mut text = format!("HOA: v1\nname: {}\n", quoted(name));
    let _ = writeln!(text, "States: {}\nStart: 0", automaton.states.len());
    let _ = write!(text, "AP: {}", automaton.atoms.len());
    for atom in &automaton.atoms {
        let _ = write!(text, " {}", quoted(atom));
    }
    text.push_str("\nacc-name: Buchi\nAcceptance: 1 Inf(0)\n");
    text.push_str("properties: trans-labels explicit-labels state-acc");
    text.push_str(if automaton.is_deterministic() { " deterministic\n" } else { "\n" });
    text.push_str("--BODY--\n");
    for (idx, state) in automaton.states.iter().enumerate() {
        let accepts = if state.is_accepting { " {0}" } else { "" };
        let _ = writeln!(text, "State: {idx}{accepts}");
        for edge in &state.edges {
            let _ = writeln!(text, "[{}] {}", label(edge.guard), edge.target);
        }
    }
    text.push_str("--END--\n");
    text
}

fn label(cube: Cube) -> String {
    let literals: Vec<String> = (0..MAX_ATOMS)
        .filter(|idx| (cube.holds | cube.fails) >> idx & 1 == 1)
        .map(|idx| format!("{}{idx}", if cube.holds >> idx & 1 == 1 { "" } else { "!" }))
        .collect();
    if literals.is_empty() { "t".to_owned() } else { literals.join("&") }
}

/// Reads an automaton.
pub fn read(text: &str) -> Result<Automaton, HoaError> {
    let tokens = tokens(text)?;
    Reader { tokens, at: 0, atoms: Vec::new(), aliases: FxHashMap::default() }.automaton()
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    /// `name:`.
    Header(String),
    Word(String),
    Text(String),
    Number(usize),
    Sign(char),
    /// `--BODY--` and the like.
    Mark(String),
}

fn tokens(text: &str) -> Result<Vec<(usize, Token)>, HoaError> {
    let mut tokens = Vec::new();
    let mut line = 1;
    let mut chars = text.char_indices().peekable();
    while let Some((start, c)) = chars.next() {
        let mut end_of = |is_part: &dyn Fn(char) -> bool| {
            let mut end = start + c.len_utf8();
            while let Some((idx, c)) = chars.next_if(|&(_, c)| is_part(c)) {
                end = idx + c.len_utf8();
            }
            end
        };
        let token = match c {
            '\n' => {
                line += 1;
                continue;
            }
            _ if c.is_whitespace() => continue,
            '"' => {
                let mut content = String::new();
                let begun = line;
                loop {
                    match chars.next().map(|(_, c)| c) {
                        Some('"') => break,
                        Some('\\') => content.extend(chars.next().map(|(_, c)| c)),
                        Some(c) => {
                            line += usize::from(c == '\n');
                            content.push(c);
                        }
                        None => return Err(error(begun, "this text is not closed")),
                    }
                }
                Token::Text(content)
            }
            '/' if text[start..].starts_with("/*") => {
                let begun = line;
                let Some(len) = text[start..].find("*/") else {
                    return Err(error(begun, "this comment is not closed"));
                };
                line += text[start..start + len].matches('\n').count();
                while chars.next_if(|&(idx, _)| idx < start + len + 2).is_some() {}
                continue;
            }
            '-' if text[start..].starts_with("--") => {
                let end = end_of(&|c| c == '-' || c.is_ascii_uppercase());
                Token::Mark(text[start..end].to_owned())
            }
            '0'..='9' => {
                let digits = &text[start..end_of(&|c| c.is_ascii_digit())];
                let number = digits.parse().map_err(|_| error(line, "this number is too large"))?;
                Token::Number(number)
            }
            '@' | '_' | 'a'..='z' | 'A'..='Z' => {
                let end = end_of(&|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
                let word = text[start..end].to_owned();
                match chars.next_if(|&(_, c)| c == ':') {
                    Some(_) => Token::Header(word),
                    None => Token::Word(word),
                }
            }
            _ => Token::Sign(c),
        };
        tokens.push((line, token));
    }
    Ok(tokens)
}

fn error(line: usize, message: impl Into<String>) -> HoaError {
    HoaError { line, message: message.into() }
}

/// A label: what letters it takes, as cubes.
type Label = Vec<Cube>;

struct Reader {
    tokens: Vec<(usize, Token)>,
    at: usize,
    atoms: Vec<String>,
    aliases: FxHashMap<String, Label>,
}

impl Reader {
    fn automaton(mut self) -> Result<Automaton, HoaError> {
        match (self.next(), self.next()) {
            (Some(Token::Header(word)), Some(Token::Word(version)))
                if word == "HOA" && version == "v1" => {}
            _ => return Err(error(1, "expected `HOA: v1`")),
        }
        let mut starts = Vec::new();
        let mut n_sets = None;
        loop {
            match self.next() {
                Some(Token::Header(name)) => match name.as_str() {
                    "Start" => starts.push(self.number("the number of a state")?),
                    "AP" => self.propositions()?,
                    "Alias" => self.alias()?,
                    "Acceptance" => n_sets = Some(self.acceptance()?),
                    _ => self.skip_header(),
                },
                Some(Token::Mark(mark)) if mark == "--BODY--" => break,
                _ => return Err(self.wrong("a header or `--BODY--`")),
            }
        }
        let n_sets = n_sets.ok_or_else(|| self.wrong_here("there is no `Acceptance:`"))?;
        if starts.is_empty() {
            starts.push(0);
        }
        let states = self.body(n_sets)?;
        if let Some(start) = starts.iter().find(|&&start| start >= states.len()) {
            return Err(self.wrong_here(&format!("there is no state {start} to start in")));
        }
        // State 0 stands for all that it may start in.
        let moved = |transitions: &[Transition]| -> Vec<Transition> {
            transitions.iter().map(|&(guard, target, sets)| (guard, target + 1, sets)).collect()
        };
        let first = starts.iter().flat_map(|&start| moved(&states[start])).collect();
        let all = std::iter::once(first).chain(states.iter().map(|it| moved(it))).collect();
        let order: Vec<usize> = (0..n_sets).collect();
        let automaton = Generalised::from_transitions(all, n_sets).degeneralise(&order, self.atoms);
        Ok(crate::simplify::simplify(automaton))
    }

    fn propositions(&mut self) -> Result<(), HoaError> {
        let n_atoms = self.number("the number of propositions")?;
        if n_atoms > MAX_ATOMS {
            let text = format!("there are {n_atoms} propositions, and at most {MAX_ATOMS} can be");
            return Err(self.wrong_here(&text));
        }
        for _ in 0..n_atoms {
            match self.next() {
                Some(Token::Text(text)) => self.atoms.push(text),
                _ => return Err(self.wrong("the text of a proposition")),
            }
        }
        Ok(())
    }

    fn alias(&mut self) -> Result<(), HoaError> {
        let Some(Token::Word(name)) = self.next() else { return Err(self.wrong("`@name`")) };
        let label = self.label()?;
        self.aliases.insert(name, label);
        Ok(())
    }

    /// The number of sets of which all have to be visited for ever.
    fn acceptance(&mut self) -> Result<usize, HoaError> {
        let n_sets = self.number("the number of acceptance sets")?;
        let line = self.line();
        let mut condition = String::new();
        while let Some(token) = self.peek().cloned() {
            match token {
                Token::Header(_) | Token::Mark(_) => break,
                Token::Word(word) => condition.push_str(&word),
                Token::Number(number) => {
                    let _ = write!(condition, "{number}");
                }
                Token::Sign(sign) if sign != '(' && sign != ')' => condition.push(sign),
                Token::Sign(_) => {}
                Token::Text(_) => return Err(self.wrong("an acceptance condition")),
            }
            self.at += 1;
        }
        let sets: Vec<String> = (0..n_sets).map(|set| format!("Inf{set}")).collect();
        let mut parts: Vec<&str> = condition.split('&').collect();
        parts.sort_unstable_by_key(|part| part.len());
        let is_all = condition == "t" && n_sets == 0 || parts == sets;
        if !is_all || n_sets > 127 {
            let text = "only Büchi acceptance can be read: `Inf(0)`, or a conjunction of such";
            return Err(error(line, text));
        }
        Ok(n_sets)
    }

    fn body(&mut self, n_sets: usize) -> Result<Vec<Vec<Transition>>, HoaError> {
        let mut states: Vec<Vec<Transition>> = Vec::new();
        loop {
            match self.next() {
                Some(Token::Header(name)) if name == "State" => {}
                Some(Token::Mark(mark)) if mark == "--END--" => break,
                _ => return Err(self.wrong("`State:` or `--END--`")),
            }
            let state_label = match self.peek() {
                Some(Token::Sign('[')) => Some(self.bracketed()?),
                _ => None,
            };
            let idx = self.number("the number of a state")?;
            if let Some(Token::Text(_)) = self.peek() {
                self.at += 1;
            }
            let state_sets = self.sets(n_sets)?;
            let transitions = self.edges(state_label, state_sets, n_sets)?;
            if states.len() <= idx {
                states.resize(idx + 1, Vec::new());
            }
            states[idx] = transitions;
        }
        let n_states = states.len();
        let lost = states.iter().flatten().find(|(_, target, _)| *target >= n_states);
        match lost {
            Some((_, target, _)) => Err(self.wrong_here(&format!("there is no state {target}"))),
            None => Ok(states),
        }
    }

    fn edges(
        &mut self,
        state_label: Option<Label>,
        state_sets: u128,
        n_sets: usize,
    ) -> Result<Vec<Transition>, HoaError> {
        let mut transitions = Vec::new();
        let mut n_implicit = 0u64;
        loop {
            let label = match self.peek() {
                Some(Token::Sign('[')) => self.bracketed()?,
                Some(Token::Number(_)) => match &state_label {
                    Some(label) => label.clone(),
                    None => {
                        let all = (1u64 << self.atoms.len().min(63)) - 1;
                        let holds = n_implicit & all;
                        n_implicit += 1;
                        vec![Cube { holds, fails: all & !holds }]
                    }
                },
                _ => return Ok(transitions),
            };
            let target = self.number("the number of a state")?;
            if self.peek() == Some(&Token::Sign('&')) {
                return Err(self.wrong_here("alternating automata cannot be read"));
            }
            let sets = state_sets | self.sets(n_sets)?;
            transitions.extend(label.into_iter().map(|guard| (guard, target, sets)));
        }
    }

    fn sets(&mut self, n_sets: usize) -> Result<u128, HoaError> {
        let mut sets = 0;
        if self.peek() == Some(&Token::Sign('{')) {
            self.at += 1;
            while self.peek() != Some(&Token::Sign('}')) {
                let set = self.number("the number of an acceptance set or `}`")?;
                if set >= n_sets {
                    return Err(self.wrong_here(&format!("there is no acceptance set {set}")));
                }
                sets |= 1 << set;
            }
            self.at += 1;
        }
        Ok(sets)
    }

    fn bracketed(&mut self) -> Result<Label, HoaError> {
        self.at += 1;
        let label = self.label()?;
        match self.next() {
            Some(Token::Sign(']')) => Ok(label),
            _ => Err(self.wrong("`]`")),
        }
    }

    /// A disjunction.
    fn label(&mut self) -> Result<Label, HoaError> {
        let mut label = self.conjunction()?;
        while self.peek() == Some(&Token::Sign('|')) {
            self.at += 1;
            label.extend(self.conjunction()?);
        }
        Ok(label)
    }

    fn conjunction(&mut self) -> Result<Label, HoaError> {
        let mut label = self.literal(true)?;
        while self.peek() == Some(&Token::Sign('&')) {
            self.at += 1;
            let other = self.literal(true)?;
            label = both(&label, &other);
        }
        Ok(label)
    }

    fn literal(&mut self, positive: bool) -> Result<Label, HoaError> {
        let constant = |value| if value == positive { vec![Cube::TRUE] } else { Vec::new() };
        match self.next() {
            Some(Token::Sign('!')) => self.literal(!positive),
            Some(Token::Sign('(')) => {
                let label = self.label()?;
                match self.next() {
                    Some(Token::Sign(')')) if positive => Ok(label),
                    Some(Token::Sign(')')) => Ok(negated(&label)),
                    _ => Err(self.wrong("`)`")),
                }
            }
            Some(Token::Number(atom)) if atom < self.atoms.len() => {
                Ok(vec![Cube::literal(atom, positive)])
            }
            Some(Token::Number(atom)) => {
                Err(self.wrong_here(&format!("there is no proposition {atom}")))
            }
            Some(Token::Word(word)) if word == "t" || word == "f" => Ok(constant(word == "t")),
            Some(Token::Word(name)) if name.starts_with('@') => match self.aliases.get(&name) {
                Some(label) if positive => Ok(label.clone()),
                Some(label) => Ok(negated(label)),
                None => Err(self.wrong_here(&format!("there is no alias `{name}`"))),
            },
            _ => Err(self.wrong("a proposition")),
        }
    }

    fn skip_header(&mut self) {
        while self.peek().is_some_and(|it| !matches!(it, Token::Header(_) | Token::Mark(_))) {
            self.at += 1;
        }
    }

    fn number(&mut self, what: &str) -> Result<usize, HoaError> {
        match self.next() {
            Some(Token::Number(number)) => Ok(number),
            _ => Err(self.wrong(what)),
        }
    }

    fn next(&mut self) -> Option<Token> {
        let token = self.tokens.get(self.at).map(|(_, token)| token.clone());
        self.at += 1;
        token
    }

    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at).map(|(_, token)| token)
    }

    fn line(&self) -> usize {
        let last = self.tokens.len().saturating_sub(1);
        self.tokens.get(self.at.saturating_sub(1).min(last)).map_or(1, |(line, _)| *line)
    }

    /// The error for the token that was just taken.
    fn wrong(&self, expected: &str) -> HoaError {
        self.wrong_here(&format!("expected {expected}"))
    }

    fn wrong_here(&self, message: &str) -> HoaError {
        error(self.line(), message)
    }
}

/// A guard, a target, and the acceptance sets.
type Transition = (Cube, usize, u128);

fn both(left: &Label, right: &Label) -> Label {
    left.iter().flat_map(|one| right.iter().filter_map(|other| one.and(*other))).collect()
}

/// What a label does not take.
fn negated(label: &Label) -> Label {
    label.iter().fold(vec![Cube::TRUE], |rest, cube| {
        let literals = (0..MAX_ATOMS).filter(|idx| (cube.holds | cube.fails) >> idx & 1 == 1);
        let opposite: Label =
            literals.map(|idx| Cube::literal(idx, cube.fails >> idx & 1 == 1)).collect();
        both(&rest, &opposite)
    })
}
