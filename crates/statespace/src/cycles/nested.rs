//! Accepting cycles by a search within a search.
//!
//! Implements Schwoon and Esparza, *A Note on On-the-Fly Verification Algorithms* (TACAS 2005): the
//! nested depth-first search of Courcoubetis, Vardi, Wolper and Yannakakis, corrected to know the
//! path of the outer search and to stop as soon as one of the two closes a cycle.
//!
//! | paper             | here               |
//! |-------------------|--------------------|
//! | `cyan`            | [`Colour::OnPath`] |
//! | `blue`            | [`Colour::Done`]   |
//! | `red`             | [`Colour::Barren`] |
//!
//! Differs from the paper: the search stops at a node that is come to by a bad prefix, too. And a
//! node is not made red because all its successors are.

use super::graph::Graph;
use super::lasso::{Found, Lasso, Prefix};
use super::product::{Bad, Cursor, Node, Product};
use super::{Searched, statistics};
use crate::search_limits::{Ended, PATIENCE, Watch};
use crate::store::Numbers;
use crate::transitions::Transitions;
use mazurka_ltl::Automaton;

/// What is known of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Colour {
    OnPath,
    Done,
    /// No accepting cycle can be reached from it.
    Barren,
}

struct Frame {
    node: Node,
    cursor: Cursor,
}

impl Frame {
    fn new(node: Node) -> Self {
        Self { node, cursor: Cursor::default() }
    }
}

/// Searches the product for an accepting cycle.
pub(super) fn search<T: Transitions>(
    graph: &mut Graph<'_, T>,
    automaton: &Automaton,
    nodes: &Numbers<1>,
    watch: &Watch<'_>,
) -> Searched {
    let product = Product::new(graph, automaton, nodes);
    let mut search = Search { product, frames: Vec::new(), colours: Vec::new(), counted: [0; 2] };
    let (ended, found) = search.run(watch);
    let [matched, max_depth] = search.counted;
    let counted = statistics(search.colours.len() as u64, matched, max_depth);
    Searched { ended, found, counted, bytes: search.product.bytes() }
}

struct Search<'g, 'a, T> {
    product: Product<'g, 'a, T>,
    frames: Vec<Frame>,
    /// By number of a node.
    colours: Vec<Colour>,
    /// Steps to nodes that were known, and the longest path.
    counted: [u64; 2],
}

impl<T: Transitions> Search<'_, '_, T> {
    fn run(&mut self, watch: &Watch<'_>) -> (Ended, Option<Found>) {
        let (initial, _) = self.product.initial();
        if let Err(ended) = self.enter(initial, watch) {
            return (ended, None);
        }
        if let Some(bad) = self.product.bad(initial) {
            return (Ended::Done, Some(Found::Prefix(self.prefix(bad))));
        }
        let mut patience = PATIENCE;
        while let Some(frame) = self.frames.last_mut() {
            if self.product.graph.is_over() {
                break;
            }
            patience -= 1;
            if patience == 0 {
                patience = PATIENCE;
                let bytes = || self.product.bytes();
                if let Some(limit) = watch.limit(self.colours.len() as u64, bytes) {
                    return (Ended::Limit(limit), None);
                }
            }
            let from = frame.node;
            let Some((_, to, is_new)) = self.product.next(from, &mut frame.cursor) else {
                if let Some(found) = self.leave() {
                    return (Ended::Done, Some(Found::Lasso(found)));
                }
                continue;
            };
            if is_new {
                if let Err(ended) = self.enter(to, watch) {
                    return (ended, None);
                }
                if let Some(bad) = self.product.bad(to) {
                    return (Ended::Done, Some(Found::Prefix(self.prefix(bad))));
                }
                continue;
            }
            self.counted[0] += 1;
            let accepts = self.product.is_accepting(from) || self.product.is_accepting(to);
            if accepts && self.colours[to.number as usize] == Colour::OnPath {
                return (Ended::Done, Some(Found::Lasso(self.lasso(to, &[]))));
            }
        }
        (Ended::Done, None)
    }

    fn enter(&mut self, node: Node, watch: &Watch<'_>) -> Result<(), Ended> {
        debug_assert_eq!(node.number as usize, self.colours.len());
        self.colours.push(Colour::OnPath);
        self.product.enter(node, watch)?;
        self.frames.push(Frame::new(node));
        self.counted[1] = self.counted[1].max(self.frames.len() as u64 - 1);
        Ok(())
    }

    /// Goes back by one node; before that, looks for a way from an accepting one to the path.
    fn leave(&mut self) -> Option<Lasso> {
        let node = self.frames.last().expect("there is a node to leave").node;
        if self.product.is_accepting(node) {
            if let Some(found) = self.inner(node) {
                return Some(found);
            }
            self.colours[node.number as usize] = Colour::Barren;
        } else {
            self.colours[node.number as usize] = Colour::Done;
        }
        self.frames.pop();
        self.product.leave(node);
        None
    }

    /// The inner search: from an accepting node, through what is done.
    fn inner(&mut self, start: Node) -> Option<Lasso> {
        let mut path = vec![Frame::new(start)];
        while let Some(frame) = path.last_mut() {
            let from = frame.node;
            let Some((_, to, _)) = self.product.next(from, &mut frame.cursor) else {
                path.pop();
                continue;
            };
            match self.colours[to.number as usize] {
                Colour::OnPath => return Some(self.lasso(to, &path)),
                Colour::Done => {
                    self.colours[to.number as usize] = Colour::Barren;
                    path.push(Frame::new(to));
                }
                Colour::Barren => {}
            }
        }
        None
    }

    /// The path, to its last node.
    fn prefix(&self, bad: Bad) -> Prefix {
        let (last, before) = self.frames.split_last().expect("the path has a node");
        let step = |frame: &Frame| (frame.node.state, self.product.taken(frame.cursor));
        Prefix { steps: before.iter().map(step).collect(), last: last.node.state, bad }
    }

    /// The path, and the inner one behind it, which together come back to a node of the path.
    fn lasso(&self, back_to: Node, inner: &[Frame]) -> Lasso {
        let is_start = |frame: &Frame| frame.node == back_to;
        let loop_start = self.frames.iter().position(is_start).expect("it is on the path");
        // The inner path begins where the outer one ends.
        let outer = self.frames.len() - usize::from(!inner.is_empty());
        let step = |frame: &Frame| (frame.node.state, self.product.taken(frame.cursor));
        let steps = self.frames[..outer].iter().chain(inner).map(step).collect();
        Lasso { steps, loop_start }
    }
}
