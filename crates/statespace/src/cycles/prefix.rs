//! Bad prefixes, breadth first: for properties that no execution violates without one.
//!
//! Implements model checking of safety properties as in Kupferman and Vardi, *Model Checking of
//! Safety Properties* (Formal Methods in System Design 19, 2001): reachability in the product,
//! without cycles.
//!
//! The automaton is [terminal](mazurka_ltl::Automaton::is_terminal). So an execution violates the
//! property if and only if the product comes to a node where the automaton goes on to a universal
//! state. The execution is shown up to that node.
//!
//! What is left out by a reduction: ample sets belong to states of the program, and their steps are
//! invisible. Take an execution with a bad prefix, and the first of its states from which some next
//! step is left out. If a later step is in the ample set, it comes first instead, and the letters
//! are the same but for repetition; if none is, a step of the ample set is put in front, to a state
//! that is expanded later ([`Proviso::Ahead`]), which can happen finitely often. A state that is
//! never expanded, since the automaton does not go on there, is on no such way.
//!
//! [`Proviso::Ahead`]: super::graph::Proviso::Ahead
//!
//! Differs from the paper: nothing.

use super::graph::{Arrow, Graph};
use super::lasso::{Found, Prefix};
use super::product::{Bad, Cursor, Node, Product};
use super::{Searched, statistics};
use crate::search_limits::{Ended, PATIENCE, Watch};
use crate::store::Numbers;
use crate::transitions::Transitions;
use mazurka_ltl::Automaton;

/// A node, and how it was come to first.
#[derive(Clone, Copy)]
struct Entry {
    node: Node,
    /// The number of the node before, and the step from there; none for the initial one.
    before: Option<(u32, Arrow)>,
}

/// Searches the product for a bad prefix.
pub(super) fn search<T: Transitions>(
    graph: &mut Graph<'_, T>,
    automaton: &Automaton,
    nodes: &Numbers<1>,
    watch: &Watch<'_>,
) -> Searched {
    let product = Product::new(graph, automaton, nodes);
    let mut search = Search { product, entries: Vec::new(), first: None, matched: 0, depth: 0 };
    let ended = search.run(watch);
    let counted = statistics(search.entries.len() as u64, search.matched, search.depth);
    let found = search.first.take().map(Found::Prefix);
    Searched { ended, found, counted, bytes: search.bytes() }
}

struct Search<'g, 'a, T> {
    product: Product<'g, 'a, T>,
    /// By number: in the order in which they are come to.
    entries: Vec<Entry>,
    first: Option<Prefix>,
    matched: u64,
    /// How far the last node is from the initial one.
    depth: u64,
}

impl<T: Transitions> Search<'_, '_, T> {
    fn run(&mut self, watch: &Watch<'_>) -> Ended {
        let (initial, _) = self.product.initial();
        self.enter(Entry { node: initial, before: None });
        let (mut next, mut level_end) = (0, 1);
        let mut patience = PATIENCE;
        while next < self.entries.len() {
            if next == level_end {
                level_end = self.entries.len();
                self.depth += 1;
            }
            let from = self.entries[next].node;
            next += 1;
            let mut cursor = Cursor::default();
            loop {
                if self.product.graph.is_over() || self.first.is_some() && !watch.goes_on() {
                    return Ended::Done;
                }
                patience -= 1;
                if patience == 0 {
                    patience = PATIENCE;
                    let bytes = || self.bytes();
                    if let Some(limit) = watch.limit(self.entries.len() as u64, bytes) {
                        return Ended::Limit(limit);
                    }
                }
                let Some((arrow, node, is_new)) = self.product.next(from, &mut cursor) else {
                    break;
                };
                match is_new {
                    true => self.enter(Entry { node, before: Some((from.number, arrow)) }),
                    false => self.matched += 1,
                }
            }
        }
        Ended::Done
    }

    fn enter(&mut self, entry: Entry) {
        debug_assert_eq!(entry.node.number as usize, self.entries.len(), "they are numbered so");
        self.entries.push(entry);
        if self.first.is_none()
            && let Some(bad) = self.product.bad(entry.node)
        {
            self.first = Some(self.prefix(entry, bad));
        }
    }

    /// The way to a node, a shortest one.
    fn prefix(&self, to: Entry, bad: Bad) -> Prefix {
        let (mut steps, mut at) = (Vec::new(), to);
        while let Some((number, arrow)) = at.before {
            at = self.entries[number as usize];
            steps.push((at.node.state, arrow));
        }
        steps.reverse();
        Prefix { steps, last: to.node.state, bad }
    }

    fn bytes(&self) -> u64 {
        self.product.bytes() + size_of_val(self.entries.as_slice()) as u64
    }
}
