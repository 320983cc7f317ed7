//! The product of a program and an automaton: its nodes and edges.

use super::graph::{Arrow, Graph};
use crate::saved::{Form, Reader, Writer};
use crate::search_limits::{Ended, Watch};
use crate::store::{Full, Numbers, NumbersReader, Seen};
use crate::transitions::Transitions;
use mazurka_core::Violation;
use mazurka_ltl::{Automaton, Cube, Edge};
use std::io;

/// A pair of a state of the program and one of the automaton, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Node {
    pub(super) number: u32,
    pub(super) state: u32,
    pub(super) place: u32,
}

/// Why no execution that comes to a node is right.
#[derive(Clone, Debug)]
pub(super) enum Bad {
    /// Whatever comes next, the automaton accepts it.
    Prefix,
    /// A proposition cannot be computed.
    Undefined(Violation),
}

/// The product of a program and an automaton.
pub(super) struct Product<'g, 'a, T> {
    pub(super) graph: &'g mut Graph<'a, T>,
    automaton: &'g Automaton,
    pairs: &'g Numbers<1>,
    nodes: Nodes<'g>,
    /// The states of the automaton from which it accepts whatever comes.
    universal: Vec<bool>,
    /// Whether states are expanded when a search goes on from them, not when they are come
    /// to.
    is_patient: bool,
}

/// The numbers of nodes, in the order in which they are come to.
enum Nodes<'g> {
    /// By state, for each of the automaton's; [`NONE`] before that.
    Table { numbers: Vec<u32>, n_nodes: u32 },
    /// For automata with so many states that most pairs are never come to.
    Pairs(NumbersReader<'g, 1>),
}

/// The number of a node that was not visited.
const NONE: u32 = u32::MAX;

/// Up to so many states of the automaton, every state of the program has room for all of them.
const MOST_PLACES: usize = 16;

/// What is left of the ways from a node: edges of the automaton and, with the last one that was
/// looked at, arrows of the program.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cursor {
    edge: u32,
    arrow: u32,
    end: u32,
}

impl Form for Node {
    fn save(&self, out: &mut Writer) -> io::Result<()> {
        out.word(u64::from(self.number) << 32 | u64::from(self.state))?;
        out.word(u64::from(self.place))
    }

    fn load(from: &mut Reader) -> io::Result<Self> {
        let (word, place) = (from.word()?, from.word()? as u32);
        Ok(Self { number: (word >> 32) as u32, state: word as u32, place })
    }
}

impl Form for Cursor {
    fn save(&self, out: &mut Writer) -> io::Result<()> {
        out.word(u64::from(self.edge))?;
        out.word(u64::from(self.arrow) << 32 | u64::from(self.end))
    }

    fn load(from: &mut Reader) -> io::Result<Self> {
        let (edge, word) = (from.word()? as u32, from.word()?);
        Ok(Self { edge, arrow: (word >> 32) as u32, end: word as u32 })
    }
}

impl<'g, 'a, T: Transitions> Product<'g, 'a, T> {
    pub(super) fn new(
        graph: &'g mut Graph<'a, T>,
        automaton: &'g Automaton,
        pairs: &'g Numbers<1>,
    ) -> Self {
        let nodes = match automaton.states.len() <= MOST_PLACES {
            true => Nodes::Table { numbers: Vec::new(), n_nodes: 0 },
            false => {
                let mut reader = pairs.reader();
                reader.open();
                Nodes::Pairs(reader)
            }
        };
        let is_patient = !graph.is_reducing();
        let universal = automaton.universal();
        Self { graph, automaton, pairs, nodes, universal, is_patient }
    }

    pub(super) fn initial(&mut self) -> (Node, bool) {
        let state = self.graph.initial();
        self.node(state, 0)
    }

    pub(super) fn is_accepting(&self, node: Node) -> bool {
        self.automaton.states[node.place as usize].is_accepting
    }

    /// Whether the way to a node, with what is read there, is a bad prefix: whatever comes next,
    /// the automaton accepts it. Or else whether the automaton asks for something there that cannot
    /// be computed.
    #[inline]
    pub(super) fn bad(&mut self, node: Node) -> Option<Bad> {
        let letter = self.graph.letter(node.state);
        let undefined = self.graph.undefined(node.state);
        let edges = &self.automaton.states[node.place as usize].edges;
        let asks = |edge: &Edge| (edge.guard.holds | edge.guard.fails) & undefined;
        let leads = |edge: &Edge| {
            self.universal[edge.target] && edge.guard.takes(letter) && asks(edge) == 0
        };
        if edges.iter().any(leads) {
            return Some(Bad::Prefix);
        }
        if undefined == 0 {
            return None;
        }
        // Where the rest of a guard fails, the automaton need not ask.
        let rest = |edge: &Edge| Cube {
            holds: edge.guard.holds & !undefined,
            fails: edge.guard.fails & !undefined,
        };
        let asked = edges.iter().filter(|edge| rest(edge).takes(letter)).map(asks);
        let asked = asked.fold(0, |all, asked| all | asked);
        let atoms = (0..u64::BITS).filter(|atom| asked >> atom & 1 == 1);
        let graph = &mut *self.graph;
        let mut wrong = atoms.filter_map(|atom| graph.violation_of(atom, node.state));
        wrong.next().map(Bad::Undefined)
    }

    pub(super) fn bytes(&self) -> u64 {
        let table = match &self.nodes {
            Nodes::Table { numbers, .. } => size_of_val(numbers.as_slice()) as u64,
            Nodes::Pairs(_) => self.pairs.bytes(),
        };
        self.graph.bytes() + table
    }

    /// The path of the search comes to a node for the first time. If a limit stops that on its way,
    /// it goes on when it is done again.
    pub(super) fn enter(&mut self, node: Node, watch: &Watch<'_>) -> Result<(), Ended> {
        if self.graph.is_walking() {
            return self.graph.go_on_walking(watch);
        }
        self.graph.enter(node.state);
        if self.is_patient || self.graph.is_expanded(node.state) {
            return Ok(());
        }
        let letter = self.graph.letter(node.state);
        let mut edges = self.automaton.states[node.place as usize].edges.iter();
        if !edges.any(|edge| edge.guard.takes(letter)) {
            return self.graph.stop_at(node.state, watch);
        }
        // While it is on the path: what is left out depends on that.
        self.graph.arrows(node.state);
        Ok(())
    }

    /// The path goes back from a node.
    pub(super) fn leave(&mut self, node: Node) {
        self.graph.leave(node.state);
    }

    /// The next way from a node, where it leads, and whether it is new.
    #[inline]
    pub(super) fn next(&mut self, from: Node, cursor: &mut Cursor) -> Option<(Arrow, Node, bool)> {
        let (arrow, place) = self.step(from, cursor)?;
        let (node, is_new) = self.node(arrow.to, place);
        Some((arrow, node, is_new))
    }

    /// The next way from a node to one that was visited before. Others are not numbered by that:
    /// a search that looks back has still to come to them.
    pub(super) fn next_known(&mut self, from: Node, cursor: &mut Cursor) -> Option<(Arrow, Node)> {
        loop {
            let (arrow, place) = self.step(from, cursor)?;
            if let Some(node) = self.known(arrow.to, place) {
                return Some((arrow, node));
            }
        }
    }

    /// The next step of the program from a node, and where the automaton goes with it.
    #[inline]
    fn step(&mut self, from: Node, cursor: &mut Cursor) -> Option<(Arrow, u32)> {
        while cursor.arrow == cursor.end {
            let edges = &self.automaton.states[from.place as usize].edges;
            let edge = edges.get(cursor.edge as usize)?;
            cursor.edge += 1;
            if edge.guard.takes(self.graph.letter(from.state)) {
                let arrows = self.graph.arrows(from.state);
                (cursor.arrow, cursor.end) = (arrows.start as u32, arrows.end as u32);
            }
        }
        let edges = &self.automaton.states[from.place as usize].edges;
        let place = edges[cursor.edge as usize - 1].target as u32;
        let arrow = self.graph.arrow(cursor.arrow as usize);
        cursor.arrow += 1;
        Some((arrow, place))
    }

    /// The way from a node that was told last.
    pub(super) fn taken(&self, cursor: Cursor) -> Arrow {
        self.graph.arrow(cursor.arrow as usize - 1)
    }

    /// Writes the numbers of nodes.
    pub(super) fn save(&self, out: &mut Writer) -> io::Result<()> {
        match &self.nodes {
            Nodes::Table { numbers, n_nodes } => {
                out.word(u64::from(*n_nodes))?;
                out.all(numbers, |number, out| out.bytes(&number.to_le_bytes()))
            }
            Nodes::Pairs(_) => {
                let n_nodes = self.pairs.n_known();
                out.word(u64::from(n_nodes))?;
                (0..n_nodes).try_for_each(|number| out.word(self.pairs.get(number)[0]))
            }
        }
    }

    /// Gives nodes the numbers that were written.
    pub(super) fn load(&mut self, from: &mut Reader) -> io::Result<()> {
        let n_known = from.word()? as u32;
        match &mut self.nodes {
            Nodes::Table { numbers, n_nodes } => {
                *n_nodes = n_known;
                *numbers = from.all(|from| {
                    let mut number = [0; 4];
                    from.bytes(&mut number)?;
                    Ok(u32::from_le_bytes(number))
                })?;
            }
            Nodes::Pairs(reader) => {
                for number in 0..n_known {
                    if number_in(reader, from.word()?) != Seen::New(number) {
                        return Err(io::Error::other("a node has another number"));
                    }
                }
            }
        }
        Ok(())
    }

    fn node(&mut self, state: u32, place: u32) -> (Node, bool) {
        let (number, is_new) = match &mut self.nodes {
            Nodes::Table { numbers, n_nodes } => {
                let n_places = self.automaton.states.len();
                let idx = state as usize * n_places + place as usize;
                if numbers.len() <= idx {
                    numbers.resize((state as usize + 1) * n_places, NONE);
                }
                let is_new = numbers[idx] == NONE;
                if is_new {
                    numbers[idx] = *n_nodes;
                    *n_nodes += 1;
                }
                (numbers[idx], is_new)
            }
            Nodes::Pairs(reader) => {
                let seen = number_in(reader, pair(state, place));
                (seen.number(), matches!(seen, Seen::New(_)))
            }
        };
        (Node { number, state, place }, is_new)
    }

    /// A node, if it was visited.
    fn known(&self, state: u32, place: u32) -> Option<Node> {
        let number = match &self.nodes {
            Nodes::Table { numbers, .. } => {
                let idx = state as usize * self.automaton.states.len() + place as usize;
                numbers.get(idx).copied().filter(|&number| number != NONE)
            }
            Nodes::Pairs(reader) => reader.find([pair(state, place)]),
        };
        number.map(|number| Node { number, state, place })
    }
}

/// A state of the program and one of the automaton, as one number.
fn pair(state: u32, place: u32) -> u64 {
    u64::from(state) << 32 | u64::from(place)
}

fn number_in(reader: &mut NumbersReader<'_, 1>, pair: u64) -> Seen {
    loop {
        match reader.number([pair]) {
            Ok(seen) => return seen,
            Err(Full) => {
                reader.close();
                reader.grow();
                reader.open();
            }
        }
    }
}
