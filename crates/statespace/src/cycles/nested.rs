//! Nested depth-first search for accepting cycles (Courcoubetis et al. 1992).
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

use super::lasso::{Found, Lasso, Prefix};
use super::product::{Bad, Cursor, Node, Product};
use super::saved::Resumable;
use super::{Searched, statistics};
use crate::saved::{Form, Reader, Writer};
use crate::search_limits::{Ended, PATIENCE, Watch};
use crate::transitions::Transitions;
use std::io;

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

impl Form for Frame {
    fn save(&self, out: &mut Writer) -> io::Result<()> {
        self.node.save(out)?;
        self.cursor.save(out)
    }

    fn load(from: &mut Reader) -> io::Result<Self> {
        Ok(Self { node: Node::load(from)?, cursor: Cursor::load(from)? })
    }
}

impl Form for Colour {
    fn save(&self, out: &mut Writer) -> io::Result<()> {
        out.bytes(&[*self as u8])
    }

    fn load(from: &mut Reader) -> io::Result<Self> {
        let mut byte = [0];
        from.bytes(&mut byte)?;
        let all = [Self::OnPath, Self::Done, Self::Barren];
        let known = all.into_iter().find(|it| *it as u8 == byte[0]);
        known.ok_or_else(|| io::Error::other("a node has no such colour"))
    }
}

impl Frame {
    fn new(node: Node) -> Self {
        Self { node, cursor: Cursor::default() }
    }
}

/// A search of the product for an accepting cycle.
pub(super) struct Search<'g, 'a, T> {
    product: Product<'g, 'a, T>,
    has_begun: bool,
    /// A node that the path comes to, until it has.
    entering: Option<Node>,
    frames: Vec<Frame>,
    /// By number of a node.
    colours: Vec<Colour>,
    /// Steps to nodes that were known, and the longest path.
    counted: [u64; 2],
}

impl<'g, 'a, T: Transitions> Resumable<'g, 'a, T> for Search<'g, 'a, T> {
    fn run(&mut self, watch: &Watch<'_>) -> (Ended, Option<Found>) {
        if !std::mem::replace(&mut self.has_begun, true) {
            self.entering = Some(self.product.initial().0);
        }
        let mut patience = PATIENCE;
        loop {
            if let Some(node) = self.entering {
                if let Err(ended) = self.enter(node, watch) {
                    return (ended, None);
                }
                self.entering = None;
                if let Some(bad) = self.product.bad(node) {
                    return (Ended::Done, Some(Found::Prefix(self.prefix(bad))));
                }
            }
            let Some(frame) = self.frames.last_mut() else { break };
            if self.product.graph.is_over() {
                break;
            }
            patience -= 1;
            if patience == 0 {
                patience = PATIENCE;
                let bytes = || self.product.bytes();
                if let Some(ended) = watch.ended(self.colours.len() as u64, bytes) {
                    return (ended, None);
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
                self.entering = Some(to);
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

    fn product(&self) -> &Product<'g, 'a, T> {
        &self.product
    }

    fn product_mut(&mut self) -> &mut Product<'g, 'a, T> {
        &mut self.product
    }

    fn save(&self, out: &mut Writer) -> io::Result<()> {
        out.flag(self.has_begun)?;
        self.entering.save(out)?;
        out.all(&self.frames, Form::save)?;
        out.all(&self.colours, Form::save)?;
        self.counted.iter().try_for_each(|&n| out.word(n))
    }

    fn load(&mut self, from: &mut Reader) -> io::Result<()> {
        self.has_begun = from.flag()?;
        self.entering = Option::<Node>::load(from)?;
        self.frames = from.all(Frame::load)?;
        self.colours = from.all(Colour::load)?;
        self.counted = [from.word()?, from.word()?];
        Ok(())
    }

    fn searched(&self, ended: Ended, found: Option<Found>) -> Searched {
        let [matched, max_depth] = self.counted;
        let counted = statistics(self.colours.len() as u64, matched, max_depth);
        Searched { ended, found, counted, bytes: self.product.bytes() }
    }
}

impl<'g, 'a, T: Transitions> Search<'g, 'a, T> {
    pub(super) fn new(product: Product<'g, 'a, T>) -> Self {
        Self {
            product,
            has_begun: false,
            entering: None,
            frames: Vec::new(),
            colours: Vec::new(),
            counted: [0; 2],
        }
    }

    fn enter(&mut self, node: Node, watch: &Watch<'_>) -> Result<(), Ended> {
        // It is there if a limit has stopped this on its way.
        if node.number as usize == self.colours.len() {
            self.colours.push(Colour::OnPath);
        }
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
