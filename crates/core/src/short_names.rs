//! Names without what only tells variables of one name apart.
//!
//! A system names a local variable with its function, `gate (local of main)`, and a static one with
//! its module, `bank::LIMIT`, since there may be others of that name. In a counterexample where
//! there are none the variable alone says enough, and is what the source has: `gate`, `LIMIT`.

use crate::{Access, Counterexample, PassingExecution, Told};
use std::collections::{BTreeMap, BTreeSet};

/// What comes between a local variable and its function.
const LOCAL: &str = " (local of ";

/// Which names can be shortened.
#[derive(Debug, Default)]
struct Names {
    /// The variables that a short name stands for, in full.
    by_short: BTreeMap<String, BTreeSet<String>>,
}

impl Counterexample {
    /// Names each variable by its short name where that says enough.
    pub fn shorten_names(&mut self) {
        let mut names = Names::default();
        self.visit(&mut |text| names.note(text));
        // A message may have the text of an assertion in it, where names are short already.
        names.note_qualified(&self.violation.message);
        self.visit(&mut |text| *text = names.shortened(text));
        self.violation.message = names.shortened(&self.violation.message);
    }

    fn visit(&mut self, visit: &mut impl FnMut(&mut String)) {
        self.story.iter_mut().chain(&mut self.joins).for_each(|told| told.visit(visit));
        self.waits.iter_mut().filter_map(|wait| wait.object.as_mut()).for_each(&mut *visit);
        self.accesses.iter_mut().chain(&mut self.shared).for_each(|access| access.visit(visit));
        if let Some(pair) = &mut self.decisive {
            pair.story.iter_mut().for_each(|told| told.visit(visit));
        }
    }
}

impl PassingExecution {
    /// Names each variable by its short name where that says enough in all of these.
    pub fn shorten_names(all: &mut [Self]) {
        let mut names = Names::default();
        let mut visit = |visit: &mut dyn FnMut(&mut String)| {
            for execution in &mut *all {
                let told = execution.story.iter_mut().chain(&mut execution.joins);
                told.for_each(|told| told.visit(&mut |text| visit(text)));
            }
        };
        visit(&mut |text| names.note(text));
        visit(&mut |text| *text = names.shortened(text));
    }
}

impl Told {
    fn visit(&mut self, visit: &mut impl FnMut(&mut String)) {
        self.object.iter_mut().chain(&mut self.value).for_each(visit);
    }
}

impl Access {
    fn visit(&mut self, visit: &mut impl FnMut(&mut String)) {
        self.memory.iter_mut().chain(&mut self.value).for_each(visit);
    }
}

/// A part of a text.
enum Part<'a> {
    Text(&'a str),
    /// A variable, with what follows its name: a field or an element of it.
    Name(Name<'a>),
}

struct Name<'a> {
    /// The name as it is in the source.
    short: &'a str,
    /// What tells it apart from others.
    full: String,
    /// Where in it.
    rest: &'a str,
    /// As it was written.
    written: &'a str,
}

impl Names {
    fn note(&mut self, text: &str) {
        for part in parts(text) {
            if let Part::Name(name) = part {
                self.by_short.entry(name.short.to_owned()).or_default().insert(name.full);
            }
        }
    }

    /// The same of names with what tells them apart.
    fn note_qualified(&mut self, text: &str) {
        for part in parts(text) {
            if let Part::Name(name) = part
                && name.full != name.short
            {
                self.by_short.entry(name.short.to_owned()).or_default().insert(name.full);
            }
        }
    }

    fn shortened(&self, text: &str) -> String {
        let word = |part| match part {
            Part::Text(text) => text.to_owned(),
            Part::Name(name) => {
                let is_only = self.by_short.get(name.short).is_some_and(|all| all.len() == 1);
                match is_only {
                    true => format!("{}{}", name.short, name.rest),
                    false => name.written.to_owned(),
                }
            }
        };
        parts(text).into_iter().map(word).collect()
    }
}

/// The variables in a text, and what is between them.
fn parts(text: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut at = 0;
    let mut from = 0;
    while let Some(character) = text[at..].chars().next() {
        let is_begin = is_word(character) && !character.is_ascii_digit();
        if !is_begin || text[..at].ends_with(|it: char| is_word(it) || matches!(it, '.' | ':')) {
            at += character.len_utf8();
            continue;
        }
        let Some(name) = name_at(&text[at..]) else {
            at += text[at..].find(|it| !is_word(it)).unwrap_or(text.len() - at);
            continue;
        };
        parts.push(Part::Text(&text[from..at]));
        at += name.written.len();
        from = at;
        parts.push(Part::Name(name));
    }
    parts.push(Part::Text(&text[from..]));
    parts
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// The variable that a text begins with. A path of which no local is known is a variable only if it
/// ends in one: what is called is a function.
fn name_at(text: &str) -> Option<Name<'_>> {
    let path = path_len(text);
    let short = text[..path].rsplit("::").next()?;
    let rest = &text[path..path + rest_len(&text[path..])];
    let behind = &text[path + rest.len()..];
    if let Some(function) = behind.strip_prefix(LOCAL) {
        let end = closing(function)?;
        let len = path + rest.len() + LOCAL.len() + end + 1;
        let full = format!("{}{LOCAL}{}", &text[..path], &function[..end]);
        return Some(Name { short, full, rest, written: &text[..len] });
    }
    let is_static = short.starts_with(|it: char| it.is_uppercase())
        && short.len() > 1
        && !short.chars().any(char::is_lowercase);
    let is_known = short.len() == path || is_static;
    let len = path + rest.len();
    is_known.then(|| Name { short, full: text[..path].to_owned(), rest, written: &text[..len] })
}

/// How long a path is: words with `::` between them.
fn path_len(text: &str) -> usize {
    let mut len = 0;
    loop {
        let rest = &text[len..];
        let word = rest.find(|it| !is_word(it)).unwrap_or(rest.len());
        len += word;
        let more = text[len..].strip_prefix("::").and_then(|rest| rest.chars().next());
        match more.is_some_and(is_word) {
            true => len += 2,
            false => return len,
        }
    }
}

/// How long the way to a part of a variable is: `.next`, `[3].lock`, `+0x8`.
fn rest_len(text: &str) -> usize {
    let mut len = 0;
    loop {
        let rest = &text[len..];
        let is_word_behind = |skip: usize| rest[skip..].chars().next().is_some_and(is_word);
        let word =
            |skip: usize| rest[skip..].find(|it| !is_word(it)).map_or(rest.len(), |end| end + skip);
        len += match rest.chars().next() {
            Some('.' | '#') if is_word_behind(1) => word(1),
            Some('+') if rest.starts_with("+0x") => word(1),
            Some('[') => match rest.find(']') {
                Some(end) => end + 1,
                None => return len,
            },
            _ => return len,
        };
    }
}

/// Where the bracket closes that a text is within.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0usize;
    for (at, character) in text.char_indices() {
        match character {
            '(' => depth += 1,
            ')' if depth == 0 => return Some(at),
            ')' => depth -= 1,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(texts: &[&str], expected: &[&str]) {
        let mut names = Names::default();
        texts.iter().for_each(|text| names.note(text));
        let shortened: Vec<String> = texts.iter().map(|text| names.shortened(text)).collect();
        assert_eq!(shortened, expected);
    }

    #[test]
    fn what_there_is_one_of_has_its_own_name() {
        check(
            &["gate.cv (local of main)", "main.1 sleeps on gate.cv (local of main) and no thread"],
            &["gate.cv", "main.1 sleeps on gate.cv and no thread"],
        );
        check(
            &["null→&node (local of work(int) in main.1)", "bugs::ticket::NEXT", "NEXT[2].x"],
            &["null→&node", "bugs::ticket::NEXT", "NEXT[2].x"],
        );
        check(
            &["a::LIMIT+0x8 0→1", "`a::LIMIT` is 3: b::c(1) a::f"],
            &["LIMIT+0x8 0→1", "`LIMIT` is 3: b::c(1) a::f"],
        );
    }

    #[test]
    fn what_there_are_two_of_is_told_apart() {
        let texts = ["n (local of f)", "n.x (local of g in main.1)", "m (local of f)"];
        check(&texts, &["n (local of f)", "n.x (local of g in main.1)", "m"]);
        check(&["a::LEFT", "b::LEFT", "a::MOST"], &["a::LEFT", "b::LEFT", "MOST"]);
        check(&["x", "x (local of main)"], &["x", "x (local of main)"]);
    }

    #[test]
    fn any_text_stays_itself() {
        let texts =
            ["", "(local of ", "x (local of f", "a[", "::", "a::", "#1+0x", "é→ü.", "=", "1x"];
        check(&texts, &texts);
    }
}
