//! What people are told of steps and states.

use super::Machine;
use super::code::{Code, Field, Step as Do};
use super::view::View;
use crate::transitions::{Described, Step};
use mazurka_core::{Location, Told};
use mazurka_model::Span;

/// A process, by its type and its number.
pub(super) fn name(view: View<'_>, process: u32) -> String {
    let routine = &view.code.routines[view.routine_of(process) as usize];
    format!("{}:{process}", routine.name)
}

/// An edge that somebody wrote.
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
                        operation: "waits".to_owned(),
                        object: Some(texts.join(" or ")),
                        value: None,
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
        let code = self.code.clone();
        self.with_view(state, |view| {
            let mut told = vec![one(view, step.process, step.edge)];
            if let Some(partner) = step.partner {
                let edges = view.place_of(partner).edges.clone();
                told.push(one(view, partner, edges.start + step.choice));
            }
            debug_assert!(!code.edges.is_empty(), "a step takes an edge");
            told
        })
    }
}

/// An edge that a process takes.
fn one(view: View<'_>, process: u32, number: u32) -> Told {
    let code = view.code;
    let edge = &code.edges[number as usize];
    let value = match &edge.step {
        Do::Send(message) => values_of(view, process, *message),
        Do::Print { text, arguments } => {
            let values = arguments.iter().map(|argument| view.value(*argument, process));
            Some(printed(code, text, &values.collect::<Vec<_>>()))
        }
        _ => None,
    };
    let routine = &code.routines[edge.routine.0 as usize].name;
    let operation = match &edge.step {
        Do::Send(_) => "send",
        Do::Receive(_) => "receive",
        Do::Spawn { .. } => "run",
        Do::Die => "end",
        Do::Print { .. } => "print",
        _ => "step",
    };
    Told {
        thread: name(view, process),
        operation: operation.to_owned(),
        object: Some(edge.text.to_string()),
        value,
        location: location(code, edge.span, routine),
    }
}

/// The values of a message that is sent.
fn values_of(view: View<'_>, process: u32, message: u32) -> Option<String> {
    let fields = view.code.messages[message as usize].fields.iter();
    let values = fields.filter_map(|field| match field {
        Field::Value(value) => Some(view.value(*value, process).to_string()),
        _ => None,
    });
    Some(values.collect::<Vec<_>>().join(","))
}

/// A text with the arguments in the places of `%d` and its like.
fn printed(code: &Code, text: &str, arguments: &[i64]) -> String {
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
                    (Some('c'), Some(value)) => out.push(value as u8 as char),
                    (Some('e'), Some(value)) => {
                        let symbol = code.symbols.iter().find(|(it, _)| *it == value);
                        out.push_str(&symbol.map_or(value.to_string(), |(_, name)| name.clone()));
                    }
                    (Some('x'), Some(value)) => out.push_str(&format!("{:x}", value as i32)),
                    (Some('o'), Some(value)) => out.push_str(&format!("{:o}", value as i32)),
                    (Some('u'), Some(value)) => out.push_str(&(value as u32).to_string()),
                    (_, Some(value)) => out.push_str(&value.to_string()),
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
