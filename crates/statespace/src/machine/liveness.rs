//! Dead variables: a value that nobody reads any more is forgotten, and states that differ in it are one.
//!
//! A variable is dead at a place if on every way from there it is written before it is read. It is set to
//! zero on the way to such a place. What others may ask for, or a promise, or the condition under which the
//! process may run at all, is never dead.

use super::code::{Code, Node, Step, Target};
use super::footprint::{Part, parts, pieces, range, visit};
use super::view::Tables;
use std::ops::Range;

/// Finds what is dead at each place.
pub(super) fn find(code: &mut Code) {
    for idx in 0..code.routines.len() {
        let dead = Lives::new(code, idx).dead();
        let places = &mut code.routines[idx].places;
        places.iter_mut().zip(dead).for_each(|(place, dead)| place.dead = dead);
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
