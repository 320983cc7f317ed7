//! Descriptions of steps and states for people.

use super::Machine;
use super::code::{Code, Field, Node, Step as Do};
use super::variables;
use super::view::View;
use crate::transitions::{Described, Step};
use mazurka_core::{Location, Told};
use mazurka_model::{Span, SymbolSet};

/// A process, by its type and its number.
pub(super) fn name(view: View<'_>, process: u32) -> String {
    let routine = &view.code.routines[view.routine_of(process) as usize];
    format!("{}:{process}", routine.name)
}

/// An edge that is in the source.
pub(super) fn edge(code: &Code, number: u32) -> Option<Described> {
    let edge = &code.edges[number as usize];
    let is_written = !edge.text.is_empty();
    is_written.then(|| Described {
        text: edge.text.to_string(),
        location: location(code, edge.span, &code.routines[edge.routine.0 as usize].name),
    })
}

fn location(code: &Code, span: Span, function: &str) -> Option<Location> {
    let file = code.files.get(span.file.0 as usize)?;
    span.is_known().then(|| Location {
        file: file.clone(),
        line: span.line,
        column: span.column,
        function: Some(function.to_owned()),
        within: None,
        is_library: false,
    })
}

impl Machine {
    /// Who stands where, but for those at their end.
    pub(super) fn standing(&mut self, state: &[u8]) -> Vec<Told> {
        let code = self.code.clone();
        self.with_view(state, |view| {
            let waiting = (0..view.n_processes()).filter(|&process| !view.place_of(process).is_end);
            waiting
                .map(|process| {
                    let edges = view.place_of(process).edges.clone();
                    let edges = edges.map(|number| &code.edges[number as usize]);
                    let texts: Vec<&str> =
                        edges.clone().map(|edge| &*edge.text).filter(|it| !it.is_empty()).collect();
                    let routine = view.routine_of(process);
                    let name_of_routine = &code.routines[routine as usize].name;
                    Told {
                        thread: name(view, process),
                        operation: texts.join(" or "),
                        object: None,
                        value: None,
                        raw: None,
                        order: None,
                        location: edges
                            .clone()
                            .next()
                            .and_then(|edge| location(&code, edge.span, name_of_routine)),
                    }
                })
                .collect()
        })
    }

    /// A step, for people.
    pub(super) fn tell(&mut self, state: &[u8], step: Step) -> Vec<Told> {
        self.with_view(state, |view| {
            let mut told = vec![one(view, step.process, step.edge)];
            if let Some(partner) = step.partner {
                let edges = view.place_of(partner).edges.clone();
                told.push(one(view, partner, edges.start + step.choice));
            }
            told
        })
    }
}

/// An edge that a process takes.
fn one(view: View<'_>, process: u32, number: u32) -> Told {
    let code = view.code;
    let edge = &code.edges[number as usize];
    let operation = match &edge.step {
        Do::Die => "ends".to_owned(),
        Do::Print { .. } => "prints".to_owned(),
        _ if edge.text.is_empty() => "goes on".to_owned(),
        _ => edge.text.to_string(),
    };
    let value = match &edge.step {
        Do::Send(message) | Do::Receive(message) => values_of(view, process, *message, &edge.text),
        Do::Print { text, arguments, symbols } => {
            let values = arguments.iter().map(|argument| view.value(*argument, process));
            let values: Vec<_> = values.zip(symbols.iter().copied()).collect();
            Some(printed(code, text, &values))
        }
        Do::Check { condition, .. } => variables::read(view, process, *condition, &edge.text),
        Do::Skip => edge.guard.and_then(|guard| variables::read(view, process, guard, &edge.text)),
        _ => None,
    };
    let routine = &code.routines[edge.routine.0 as usize].name;
    Told {
        thread: name(view, process),
        operation,
        object: None,
        value,
        raw: None,
        order: None,
        location: location(code, edge.span, routine),
    }
}

/// The values of a message that is sent, or taken out of a channel; nothing if the text has them
/// all.
fn values_of(view: View<'_>, process: u32, message: u32, text: &str) -> Option<String> {
    let message = &view.code.messages[message as usize];
    let is_written = |field: &Field| match field {
        Field::Value(node) => matches!(view.code.nodes[node.0 as usize], Node::Const(_)),
        Field::Ignore | Field::To(_) => false,
    };
    if message.fields.iter().all(is_written) {
        return None;
    }
    let (at, kind) = view.channel(view.value(message.channel, process))?;
    let is_sent = message.fields.iter().all(|field| matches!(field, Field::Value(_)));
    let values: Vec<i64> = match view.receivable(message, process) {
        Some(place) if !is_sent => {
            let n_fields = view.code.kinds[kind].fields.len();
            (0..n_fields).map(|idx| view.field(at, kind, place, idx)).collect()
        }
        _ if is_sent => {
            let mut values = Vec::new();
            view.sent(message, process, kind, &mut values);
            values
        }
        _ => return None,
    };
    let sets = &view.code.kinds[kind].symbols;
    let shown =
        values.iter().enumerate().map(|(idx, value)| match sets.get(idx).copied().flatten() {
            Some(set) => named(view.code, set, *value),
            None => {
                let by_name = message.fields.get(idx).is_some_and(is_written);
                let name = symbol(view.code, *value, text).filter(|_| by_name);
                name.map_or_else(|| value.to_string(), str::to_owned)
            }
        });
    Some(format!("({})", shown.collect::<Vec<_>>().join(", ")))
}

/// The name of a value, as a text has it.
fn symbol<'a>(code: &'a Code, value: i64, text: &str) -> Option<&'a str> {
    let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    let mut named = code.symbols.iter().filter(|((_, it), _)| *it == value);
    named.find(|(_, name)| words.contains(&name.as_str())).map(|(_, name)| name.as_str())
}

/// A value of a set where values have names.
fn named(code: &Code, set: SymbolSet, value: i64) -> String {
    code.symbols.get(&(set, value)).cloned().unwrap_or_else(|| value.to_string())
}

/// A text with the arguments in the places of `%d` and its like.
fn printed(code: &Code, text: &str, arguments: &[(i64, SymbolSet)]) -> String {
    let mut out = String::new();
    let mut arguments = arguments.iter();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '%' => {
                let kind = chars.next();
                let value = match kind {
                    Some('%') | None => None,
                    _ => arguments.next().copied(),
                };
                match (kind, value) {
                    (Some('c'), Some((value, _))) => out.push(value as u8 as char),
                    (Some('e'), Some((value, set))) => out.push_str(&named(code, set, value)),
                    (Some('x'), Some((value, _))) => out.push_str(&format!("{:x}", value as i32)),
                    (Some('o'), Some((value, _))) => out.push_str(&format!("{:o}", value as i32)),
                    (Some('u'), Some((value, _))) => out.push_str(&(value as u32).to_string()),
                    (_, Some((value, _))) => out.push_str(&value.to_string()),
                    (_, None) => out.push('%'),
                }
            }
            '\\' => match chars.next() {
                Some('n') => out.push('\n'),
                Some('t') => out.push('\t'),
                Some(other) => out.push(other),
                None => {}
            },
            other => out.push(other),
        }
    }
    out
}
