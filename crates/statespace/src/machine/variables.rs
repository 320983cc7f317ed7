//! What the variables of a state hold, for people: by name, element by element, field by field.

use super::Machine;
use super::code::{Cell, Code, Node, NodeId, Step as Do, Target};
use super::view::View;
use crate::transitions::Step;
use mazurka_model::{Layout, LayoutId, Program, SymbolSet};
use std::ops::Range;

/// A number in memory that people have a name for.
#[derive(Clone, Debug)]
pub(super) struct Named {
    pub(super) name: String,
    pub(super) at: u32,
    pub(super) cell: Cell,
    /// Whether it is the number of a channel.
    pub(super) is_channel: bool,
}

/// The numbers that something of a layout consists of, if it is at this place.
pub(super) fn parts(program: &Program, layout: LayoutId, name: &str, at: u32) -> Vec<Named> {
    match &program.layouts[layout.0 as usize] {
        Layout::Scalar(ty) => {
            vec![Named { name: name.to_owned(), at, cell: Cell::of(*ty), is_channel: false }]
        }
        Layout::Array { element, count } => {
            let size = program.size_of(*element);
            let elements = (0..*count)
                .map(|idx| parts(program, *element, &format!("{name}[{idx}]"), at + idx * size));
            elements.flatten().collect()
        }
        Layout::Struct { fields, .. } => {
            let fields = fields.iter().map(|field| {
                let name = format!("{name}.{}", field.name);
                parts(program, field.layout, &name, at + field.offset)
            });
            fields.flatten().collect()
        }
        _ => Vec::new(),
    }
}

/// A number that was found in a state.
struct Held {
    name: String,
    /// Where in the state.
    at: usize,
    value: i64,
    /// What people call the channel that it is the number of.
    channel: Option<String>,
}

impl Held {
    /// The value, which may be one of a set of names.
    fn shown(&self, code: &Code, set: Option<SymbolSet>) -> String {
        self.channel.clone().unwrap_or_else(|| shown(code, set, self.value))
    }
}

impl Machine {
    /// What a step has changed, `x 0→1`; what it assigns is told even if it was the same before.
    pub(super) fn changed(&mut self, before: &[u8], after: &[u8], step: Step) -> Vec<String> {
        let code = self.code.clone();
        let movers: Vec<u32> = [Some(step.process), step.partner].into_iter().flatten().collect();
        let after = self.with_view(after, |view| held(view, &movers));
        let (before, assigned) = self.with_view(before, |view| {
            (
                held(view, &movers),
                assigned(view, step.process, &code.edges[step.edge as usize].step),
            )
        });
        let text = &code.edges[step.edge as usize].text;
        let mut changes = Vec::new();
        for new in &after {
            let is_assigned = assigned == Some(new.at);
            let old = before.iter().find(|old| old.at == new.at && old.name == new.name);
            let set = set_of(&code, new.value, text);
            let show = |it: &Held| it.shown(&code, set);
            match old {
                Some(old) if is_assigned || old.value != new.value => {
                    changes.push(format!("{} {}→{}", new.name, show(old), show(new)));
                }
                // What would not have been read is not kept.
                None if is_assigned => changes.push(format!("{} = {}", new.name, show(new))),
                _ => {}
            }
        }
        changes
    }

    /// What variables and channels hold: `x = 1`, `queue = [(1), (2)]`.
    pub(super) fn held(&mut self, state: &[u8]) -> Vec<String> {
        self.with_view(state, |view| {
            let processes: Vec<u32> = (0..view.n_processes()).collect();
            let show = |it: &Held| {
                let set = set_of_variable(view.code, it.at);
                format!("{} = {}", it.name, it.shown(view.code, set))
            };
            // A channel of its own is told by what is in it.
            let is_own = |it: &&Held| it.channel.as_ref() != Some(&it.name);
            let mut all: Vec<String> =
                held(view, &processes).iter().filter(is_own).map(show).collect();
            all.extend(channels(view));
            all
        })
    }
}

/// What a condition reads: `(flag[1] = 0)`; nothing if it says that itself, or reads no variable.
pub(super) fn read(view: View<'_>, process: u32, condition: NodeId, text: &str) -> Option<String> {
    let code = view.code;
    if let Node::Equal(one, other) = code.nodes[condition.0 as usize]
        && (constant(code, one).is_some() || constant(code, other).is_some())
        && view.value(condition, process) != 0
    {
        return None;
    }
    let mut places = Vec::new();
    reads(view, process, condition, &mut places);
    let held = held(view, &[process]);
    let mut told: Vec<String> = Vec::new();
    for place in places {
        let Some(it) = held.iter().find(|it| it.at == place) else { continue };
        let name = it.shown(code, set_of(code, it.value, text));
        let one = format!("{} = {name}", it.name);
        if !told.contains(&one) {
            told.push(one);
        }
    }
    (!told.is_empty()).then(|| format!("({})", told.join(", ")))
}

/// Where an expression reads variables, in the order of the text.
fn reads(view: View<'_>, process: u32, node: NodeId, places: &mut Vec<usize>) {
    let mut all = |nodes: &[NodeId]| {
        nodes.iter().for_each(|&inner| reads(view, process, inner, places));
    };
    match view.code.nodes[node.0 as usize] {
        Node::Global { at, .. } => places.push(at as usize),
        Node::Local { at, .. } => places.push(view.record(process) + at as usize),
        Node::GlobalAt { at, offset, .. } => {
            all(&[offset]);
            if is_within(view, process, offset) {
                places.push(at as usize + view.value(offset, process) as usize);
            }
        }
        Node::LocalAt { at, offset, .. } => {
            all(&[offset]);
            if is_within(view, process, offset) {
                let offset = view.value(offset, process) as usize;
                places.push(view.record(process) + at as usize + offset);
            }
        }
        Node::Unary(_, _, one) | Node::Convert(_, one) | Node::Not(one) | Node::Index(one, _) => {
            all(&[one]);
        }
        Node::Binary(_, _, one, other)
        | Node::Compare(_, _, one, other)
        | Node::Add(one, other)
        | Node::Subtract(one, other)
        | Node::Equal(one, other)
        | Node::Less(one, other) => all(&[one, other]),
        Node::If(condition, one, other) => {
            all(&[condition]);
            // The other one is not looked at.
            all(&[if view.value(condition, process) != 0 { one } else { other }]);
        }
        _ => {}
    }
}

/// Whether all indices that an offset is made of are in their arrays.
fn is_within(view: View<'_>, process: u32, offset: NodeId) -> bool {
    match view.code.nodes[offset.0 as usize] {
        Node::Index(index, count) => {
            (0..i64::from(count)).contains(&view.value(index, process))
                && is_within(view, process, index)
        }
        Node::Binary(_, _, one, other) | Node::Add(one, other) | Node::Subtract(one, other) => {
            is_within(view, process, one) && is_within(view, process, other)
        }
        Node::Convert(_, one) => is_within(view, process, one),
        _ => true,
    }
}

/// Where a step assigns to a variable, if it does.
fn assigned(view: View<'_>, process: u32, step: &Do) -> Option<usize> {
    let Do::Store { to, .. } = step else { return None };
    Some(match *to {
        Target::Global { at, .. } => at as usize,
        Target::GlobalAt { at, offset, .. } => at as usize + view.value(offset, process) as usize,
        Target::Local { at, .. } => view.record(process) + at as usize,
        Target::LocalAt { at, offset, .. } => {
            view.record(process) + at as usize + view.value(offset, process) as usize
        }
    })
}

/// The set of names that a variable of the program takes its values from, if some assignment of one
/// by its name tells.
fn set_of_variable(code: &Code, variable: usize) -> Option<SymbolSet> {
    code.edges.iter().find_map(|edge| {
        let Do::Store { to: Target::Global { at, .. }, value } = edge.step else { return None };
        let value = constant(code, value)?;
        (at as usize == variable).then(|| set_of(code, value, &edge.text))?
    })
}

fn constant(code: &Code, node: NodeId) -> Option<i64> {
    match code.nodes[node.0 as usize] {
        Node::Const(value) => Some(value),
        Node::Convert(_, inner) => constant(code, inner),
        _ => None,
    }
}

/// The variables of the program, and those of these processes that are still read.
fn held(view: View<'_>, processes: &[u32]) -> Vec<Held> {
    let code = view.code;
    // The variable of a channel is no number for people, and what nothing depends on is not kept.
    let is_shown = |it: &&Named| {
        let at = it.at as usize;
        !code.channel_names.contains(&it.name) && !code.idle.iter().any(|idle| idle.contains(&at))
    };
    let global = |it: &Named| {
        let at = it.at as usize;
        Held { name: it.name.clone(), at, value: it.cell.load(view.state, at), channel: None }
    };
    let mut all: Vec<Held> = code.named.iter().filter(is_shown).map(global).collect();
    for &process in processes.iter().filter(|&&process| process < view.n_processes()) {
        let routine = &code.routines[view.routine_of(process) as usize];
        let dead = &view.place_of(process).dead;
        let is_dead = |it: &&Named| {
            let end = it.at + it.cell.bytes();
            dead.iter().any(|range: &Range<u32>| range.start < end && it.at < range.end)
        };
        all.extend(routine.named.iter().filter(|it| !is_dead(it)).map(|it| {
            let at = view.record(process) + it.at as usize;
            let name = format!("{}:{process}.{}", routine.name, it.name);
            let value = it.cell.load(view.state, at);
            let channel = it.is_channel.then(|| channel_name(view, value)).flatten();
            Held { name, at, value, channel }
        }));
    }
    all
}

/// The channels of the program and of its processes: where they are, of which kind, and what people
/// call them.
fn all_channels(view: View<'_>) -> Vec<(usize, usize, String)> {
    let code = view.code;
    let with_names = code.channels.iter().zip(&code.channel_names);
    let mut all: Vec<(usize, usize, String)> = with_names
        .map(|(&(at, kind), name)| (at as usize, usize::from(kind), name.clone()))
        .collect();
    for process in 0..view.n_processes() {
        let routine = &code.routines[view.routine_of(process) as usize];
        let own = routine.channels.iter().zip(&routine.channel_names);
        all.extend(own.map(|(&(at, kind), name)| {
            let at = view.record(process) + at as usize;
            (at, usize::from(kind), format!("{}:{process}.{name}", routine.name))
        }));
    }
    all
}

/// What people call the channel with a number, if there is one.
fn channel_name(view: View<'_>, number: i64) -> Option<String> {
    let place = view.channel_place(number)?;
    all_channels(view).into_iter().find(|(at, ..)| *at == place).map(|(.., name)| name)
}

/// The channels that have room for messages, with those that are in them.
fn channels(view: View<'_>) -> Vec<String> {
    let code = view.code;
    let shown = all_channels(view).into_iter().filter_map(|(at, kind, name)| {
        (code.kinds[kind].capacity > 0).then_some(())?;
        let messages = (0..view.length(at, kind)).map(|place| {
            let fields = (0..code.kinds[kind].fields.len()).map(|field| {
                let set = code.kinds[kind].symbols.get(field).copied().flatten();
                shown(code, set, view.field(at, kind, place, field))
            });
            format!("({})", fields.collect::<Vec<_>>().join(", "))
        });
        Some(format!("{name} = [{}]", messages.collect::<Vec<_>>().join(", ")))
    });
    shown.collect()
}

/// The set of names that a statement takes the name of this value from.
fn set_of(code: &Code, value: i64, text: &str) -> Option<SymbolSet> {
    let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    let mut named = code.symbols.iter().filter(|((_, it), _)| *it == value);
    named.find(|(_, name)| words.contains(&name.as_str())).map(|((set, _), _)| *set)
}

fn shown(code: &Code, set: Option<SymbolSet>, value: i64) -> String {
    let name = set.and_then(|set| code.symbols.get(&(set, value)));
    name.cloned().unwrap_or_else(|| value.to_string())
}
