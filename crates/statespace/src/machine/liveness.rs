//! Dead variables: a value that is not read any more is forgotten, and states that differ in it
//! are one.
//!
//! Idle variables: what all processes share, and nothing depends on. SPIN hides them from the
//! state. A variable is idle if it is read for nothing but the values of idle ones, as in `n++`: by
//! no condition, message, index, property or `printf` (which SPIN would not count, but what is
//! printed is shown), and by no expression that can go wrong. It has its first value in every
//! stored state.
//!
//! A variable is dead at a place if on every way from there it is written before it is read. It is
//! set to zero on the way to such a place. What others may ask for, or a promise, or the condition
//! under which the process may run at all, is never dead.

use super::code::{Code, Node, NodeId, Step, Target};
use super::footprint::{Part, parts, pieces, range, visit};
use super::view::Tables;
use mazurka_model::Binary;
use std::ops::Range;

/// Finds what is dead at each place.
pub(super) fn find(code: &mut Code) {
    for idx in 0..code.routines.len() {
        let dead = Lives::new(code, idx).dead();
        let places = &mut code.routines[idx].places;
        places.iter_mut().zip(dead).for_each(|(place, dead)| place.dead = dead);
    }
}

/// Finds the bytes of the program that are idle, among those of [`Code::variables`].
pub(super) fn find_idle(code: &mut Code) {
    let mut is_idle = vec![false; code.globals.len()];
    code.variables.iter().for_each(|it| is_idle[it.clone()].fill(true));
    // The values that go to variables of the program and nowhere else, with what they are computed
    // from.
    let mut flows: Vec<(Range<usize>, Vec<NodeId>)> = Vec::new();
    let mut is_in_flow = vec![false; code.nodes.len()];
    for edge in &code.edges {
        let Step::Store { to: to @ (Target::Global { .. } | Target::GlobalAt { .. }), value } =
            edge.step
        else {
            continue;
        };
        let mut nodes = Vec::new();
        if !code.finds_truncation && is_harmless(code, value, &mut nodes) {
            // An index is no part of a flow: what it reads is not idle.
            nodes.iter().for_each(|node| is_in_flow[node.0 as usize] = true);
            let (start, end) = range(to);
            flows.push((start as usize..end as usize, nodes));
        }
    }
    let read = |node: &Node| match *node {
        Node::Global { at, cell } => at as usize..(at + cell.bytes()) as usize,
        Node::GlobalAt { at, size, .. } => at as usize..(at + size) as usize,
        _ => 0..0,
    };
    for (node, _) in code.nodes.iter().zip(&is_in_flow).filter(|(_, is_in_flow)| !**is_in_flow) {
        is_idle[read(node)].fill(false);
    }
    loop {
        let n_before = flows.len();
        flows.retain(|(to, nodes)| {
            let is_open = is_idle[to.clone()].iter().all(|it| *it);
            if !is_open {
                let nodes = nodes.iter().map(|it| &code.nodes[it.0 as usize]);
                nodes.for_each(|node| is_idle[read(node)].fill(false));
            }
            is_open
        });
        if flows.len() == n_before {
            break;
        }
    }
    code.idle.clear();
    for at in (0..is_idle.len()).filter(|&at| is_idle[at]) {
        match code.idle.last_mut() {
            Some(last) if last.end == at => last.end += 1,
            _ => code.idle.push(at..at + 1),
        }
    }
}

/// Whether an expression can always be computed as far as the values of what it reads go, and
/// depends on variables alone; collects what is in it, without indices.
fn is_harmless(code: &Code, id: NodeId, nodes: &mut Vec<NodeId>) -> bool {
    nodes.push(id);
    match code.nodes[id.0 as usize] {
        Node::Const(_)
        | Node::Global { .. }
        | Node::GlobalAt { .. }
        | Node::Local { .. }
        | Node::Thread => true,
        Node::Unary(_, _, inner) | Node::Not(inner) | Node::Convert(_, inner) => {
            is_harmless(code, inner, nodes)
        }
        Node::Binary(Binary::Divide | Binary::Remainder, ..) => false,
        Node::Binary(_, _, left, right)
        | Node::Compare(_, _, left, right)
        | Node::Add(left, right)
        | Node::Subtract(left, right)
        | Node::Equal(left, right)
        | Node::Less(left, right) => {
            is_harmless(code, left, nodes) && is_harmless(code, right, nodes)
        }
        Node::If(condition, then, otherwise) => {
            [condition, then, otherwise].into_iter().all(|it| is_harmless(code, it, nodes))
        }
        _ => false,
    }
}

/// Forgets what is dead where a process stands.
pub(super) fn forget(code: &Code, tables: &Tables, state: &mut [u8], process: u32) {
    let record = tables.processes[process as usize] as usize;
    let location = u16::from_le_bytes([state[record + 1], state[record + 2]]);
    for dead in &code.place(state[record], location).dead {
        state[record + dead.start as usize..record + dead.end as usize].fill(0);
    }
}

/// The variables of one routine, each a bit.
struct Lives<'a> {
    code: &'a Code,
    routine: usize,
    /// Where they are, in this order. Beyond 128, they never die.
    variables: Vec<(u32, u32)>,
    /// By place, those that are alive.
    alive: Vec<u128>,
}

impl<'a> Lives<'a> {
    fn new(code: &'a Code, routine: usize) -> Self {
        let source = &code.routines[routine];
        let mut touched: Vec<_> =
            source.registers.iter().map(|(_, at, cell)| (*at, at + cell.bytes())).collect();
        for place in &source.places {
            for number in place.edges.clone() {
                parts(code, &code.edges[number as usize], |part| match part {
                    Part::Read(node) => {
                        visit(code, node, &mut |node| touched.extend(local(node)));
                    }
                    Part::Write(target @ (Target::Local { .. } | Target::LocalAt { .. })) => {
                        touched.push(range(target));
                    }
                    Part::Write(_) | Part::Uses(..) => {}
                });
            }
        }
        let variables = pieces(Vec::new(), touched);
        let mut lives = Self { code, routine, variables, alive: Vec::new() };
        lives.alive = vec![lives.always(); source.places.len()];
        lives.spread();
        lives
    }

    fn bits(&self, (from, to): (u32, u32)) -> u128 {
        let overlaps = |(start, end): &(u32, u32)| *start < to && from < *end;
        let variables = self.variables.iter().take(128).enumerate();
        variables.filter(|(_, it)| overlaps(it)).fold(0, |all, (idx, _)| all | 1 << idx)
    }

    /// What is never dead.
    fn always(&self) -> u128 {
        let source = &self.code.routines[self.routine];
        let mut all = 0;
        let own = source.provided.into_iter().chain(source.exclusive.iter().map(|(_, node)| *node));
        for node in own {
            visit(self.code, node, &mut |node| {
                all |= local(node).map_or(0, |range| self.bits(range));
            });
        }
        for node in &self.code.nodes {
            let (routine, range) = match *node {
                Node::Remote { routine, at, cell, .. } => (routine, (at, at + cell.bytes())),
                Node::RemoteAt { routine, at, size, .. } => (routine, (at, at + size)),
                _ => continue,
            };
            if routine as usize == self.routine {
                all |= self.bits(range);
            }
        }
        all
    }

    /// Lets places know what is alive behind their edges.
    fn spread(&mut self) {
        let places = &self.code.routines[self.routine].places;
        let mut goes_on = true;
        while goes_on {
            goes_on = false;
            for idx in (0..places.len()).rev() {
                for number in places[idx].edges.clone() {
                    let behind = self.alive[self.code.edges[number as usize].to as usize];
                    let alive = match self.code.edges[number as usize].step {
                        Step::Indivisible { start, end } => {
                            goes_on |= self.revive(end as usize, behind);
                            self.alive[start as usize]
                        }
                        _ => self.before(number, behind),
                    };
                    goes_on |= self.revive(idx, alive);
                }
            }
        }
    }

    fn revive(&mut self, place: usize, alive: u128) -> bool {
        let before = self.alive[place];
        self.alive[place] |= alive;
        self.alive[place] != before
    }

    /// What is alive before an edge, if this is alive behind it.
    fn before(&self, number: u32, behind: u128) -> u128 {
        let (mut read, mut written) = (0, 0);
        parts(self.code, &self.code.edges[number as usize], |part| match part {
            Part::Read(node) => visit(self.code, node, &mut |node| {
                read |= local(node).map_or(0, |range| self.bits(range));
            }),
            Part::Write(target @ Target::Local { .. }) => {
                let range = range(target);
                if self.variables.contains(&range) {
                    written |= self.bits(range);
                }
            }
            Part::Write(_) | Part::Uses(..) => {}
        });
        behind & !written | read
    }

    /// By place, what is dead.
    fn dead(&self) -> Vec<Box<[Range<u32>]>> {
        let variables = || self.variables.iter().take(128).enumerate();
        let of = |alive: &u128| {
            let mut dead: Vec<Range<u32>> = Vec::new();
            for (_, &(start, end)) in variables().filter(|(idx, _)| alive & 1 << idx == 0) {
                match dead.last_mut() {
                    Some(last) if last.end == start => last.end = end,
                    _ => dead.push(start..end),
                }
            }
            dead.into()
        };
        self.alive.iter().map(of).collect()
    }
}

/// The bytes of its process that a node reads itself.
fn local(node: &Node) -> Option<(u32, u32)> {
    match *node {
        Node::Local { at, cell } => Some((at, at + cell.bytes())),
        Node::LocalAt { at, size, .. } => Some((at, at + size)),
        _ => None,
    }
}
