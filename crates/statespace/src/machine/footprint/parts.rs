//! Edges and expressions, taken apart.

use super::Kind;
use crate::machine::code::{Code, Edge, Field, Node, NodeId, Step, Target};

/// A part of an edge.
pub(in crate::machine) enum Part {
    Read(NodeId),
    Write(Target),
    Uses(Kind, NodeId),
}

/// Takes an edge apart, without what is within an indivisible one.
pub(in crate::machine) fn parts(code: &Code, edge: &Edge, mut tell: impl FnMut(Part)) {
    let mut read = |nodes: &[NodeId]| nodes.iter().for_each(|node| tell(Part::Read(*node)));
    edge.guard.iter().for_each(|guard| read(&[*guard]));
    let mut targets = Vec::new();
    match &edge.step {
        Step::Skip | Step::Die | Step::Indivisible { .. } => {}
        Step::Store { to, value } => {
            read(&[*value]);
            targets.push(*to);
        }
        Step::Check { condition, .. } => read(&[*condition]),
        Step::Send(number) | Step::Receive(number) => {
            let message = &code.messages[*number as usize];
            read(&[message.channel]);
            for field in &message.fields {
                match field {
                    Field::Value(value) => read(&[*value]),
                    Field::To(target) => targets.push(*target),
                    Field::Ignore => {}
                }
            }
            let sends = matches!(edge.step, Step::Send(_));
            let kind = if sends { Kind::Send } else { Kind::Receive };
            tell(Part::Uses(kind, message.channel));
        }
        Step::Spawn { arguments, to, .. } => {
            read(arguments);
            targets.extend(*to);
        }
        Step::SetPriority { process, priority } => read(&[*process, *priority]),
        Step::Print { arguments, .. } => read(arguments),
    }
    for target in targets {
        if let Target::GlobalAt { offset, .. } | Target::LocalAt { offset, .. } = target {
            tell(Part::Read(offset));
        }
        tell(Part::Write(target));
    }
}

pub(super) fn edges_of(code: &Code, routine: usize) -> impl Iterator<Item = u32> {
    code.routines[routine].places.iter().flat_map(|place| place.edges.clone())
}

/// Looks at an expression and all that is in it.
pub(in crate::machine) fn visit(code: &Code, id: NodeId, look: &mut dyn FnMut(&Node)) {
    look(&code.nodes[id.0 as usize]);
    below(code, id).into_iter().for_each(|inner| visit(code, inner, look));
}

/// What an expression is made of.
pub(super) fn below(code: &Code, id: NodeId) -> Vec<NodeId> {
    match code.nodes[id.0 as usize] {
        Node::Const(_)
        | Node::Global { .. }
        | Node::Local { .. }
        | Node::Thread
        | Node::OwnChannel(_)
        | Node::Processes
        | Node::Last
        | Node::Timeout
        | Node::NonProgress => Vec::new(),
        Node::GlobalAt { offset: inner, .. }
        | Node::LocalAt { offset: inner, .. }
        | Node::Unary(_, _, inner)
        | Node::Not(inner)
        | Node::Convert(_, inner)
        | Node::Index(inner, _)
        | Node::Length(inner)
        | Node::Full(inner)
        | Node::Empty(inner)
        | Node::Enabled(inner)
        | Node::Location(inner)
        | Node::Priority(inner) => vec![inner],
        Node::Binary(_, _, left, right)
        | Node::Compare(_, _, left, right)
        | Node::Add(left, right)
        | Node::Subtract(left, right)
        | Node::Equal(left, right)
        | Node::Less(left, right) => vec![left, right],
        Node::If(condition, then, otherwise) => vec![condition, then, otherwise],
        Node::Poll(number) => {
            let message = &code.messages[number as usize];
            let values = message.fields.iter().filter_map(|field| match field {
                Field::Value(value) => Some(*value),
                Field::Ignore | Field::To(_) => None,
            });
            values.chain([message.channel]).collect()
        }
        Node::At { process, .. } | Node::Remote { process, .. } => process.into_iter().collect(),
        Node::RemoteAt { process, offset, .. } => process.into_iter().chain([offset]).collect(),
    }
}

/// The number that an expression always is.
pub(super) fn constant(code: &Code, id: NodeId) -> Option<i64> {
    match code.nodes[id.0 as usize] {
        Node::Const(value) => Some(value),
        Node::Convert(_, inner) => constant(code, inner),
        _ => None,
    }
}

/// The bytes that are written, from and to.
pub(in crate::machine) fn range(target: Target) -> (u32, u32) {
    match target {
        Target::Global { at, ty } | Target::Local { at, ty } => (at, at + ty.bytes()),
        Target::GlobalAt { at, size, .. } | Target::LocalAt { at, size, .. } => (at, at + size),
    }
}

pub(super) fn is_global(target: Target) -> bool {
    matches!(target, Target::Global { .. } | Target::GlobalAt { .. })
}

/// Whether two expressions are written alike, in what may be the channel of a [`Use`](super::Use).
pub(super) fn is_same(code: &Code, left: NodeId, right: NodeId) -> bool {
    let list = |id: NodeId| {
        let mut nodes = Vec::new();
        visit(code, id, &mut |node| nodes.push(shape(node)));
        nodes
    };
    left == right || list(left) == list(right)
}

/// A node without the numbers of those below it.
fn shape(node: &Node) -> String {
    let text = format!("{node:?}");
    let mut shape = String::new();
    let mut rest = text.as_str();
    while let Some((before, behind)) = rest.split_once("NodeId(") {
        shape.push_str(before);
        rest = behind.split_once(')').map_or("", |(_, rest)| rest);
    }
    shape + rest
}

/// The pieces of memory that are written, each as large as everything that overlaps with it.
pub(in crate::machine) fn pieces(
    touched: Vec<(u32, u32)>,
    written: Vec<(u32, u32)>,
) -> Vec<(u32, u32)> {
    let mut all: Vec<(u32, u32, bool)> =
        touched.into_iter().map(|(start, end)| (start, end, false)).collect();
    all.extend(written.into_iter().map(|(start, end)| (start, end, true)));
    all.sort_unstable();
    let mut joined: Vec<(u32, u32, bool)> = Vec::new();
    for (start, end, is_written) in all {
        match joined.last_mut() {
            Some(last) if start < last.1 => {
                last.1 = last.1.max(end);
                last.2 |= is_written;
            }
            _ => joined.push((start, end, is_written)),
        }
    }
    joined.into_iter().filter(|piece| piece.2).map(|(start, end, _)| (start, end)).collect()
}

/// Whether an edge is possible only where nothing else is.
pub(in crate::machine) fn waits_for_all(code: &Code, edge: &Edge) -> bool {
    fn is_false_before(code: &Code, id: NodeId) -> bool {
        match code.nodes[id.0 as usize] {
            Node::Timeout => true,
            Node::If(condition, _, otherwise) => {
                is_false_before(code, condition)
                    && matches!(code.nodes[otherwise.0 as usize], Node::Const(0))
            }
            _ => false,
        }
    }
    edge.guard.is_some_and(|guard| is_false_before(code, guard))
}

/// Collects the parts of an expression that look at a channel.
pub(super) fn collect_looks(code: &Code, id: NodeId, found: &mut Vec<NodeId>) {
    let is_look = |node: &Node| {
        matches!(node, Node::Length(_) | Node::Full(_) | Node::Empty(_) | Node::Poll(_))
    };
    let mut has_looks = false;
    visit(code, id, &mut |node| has_looks |= is_look(node));
    if !has_looks {
        return;
    }
    if is_look(&code.nodes[id.0 as usize]) {
        found.push(id);
    }
    below(code, id).into_iter().for_each(|inner| collect_looks(code, inner, found));
}
