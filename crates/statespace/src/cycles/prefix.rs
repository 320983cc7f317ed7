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

use super::graph::Arrow;
use super::lasso::{Found, Prefix};
use super::product::{Bad, Cursor, Node, Product};
use super::saved::Resumable;
use super::{Searched, statistics};
use crate::saved::{Form, Reader, Writer};
use crate::search_limits::{Ended, PATIENCE, Watch};
use crate::transitions::Transitions;
use std::io;

/// A node, and how it was come to first.
#[derive(Clone, Copy)]
struct Entry {
    node: Node,
    /// The number of the node before, and the step from there; none for the initial one.
    before: Option<(u32, Arrow)>,
}

impl Form for Entry {
    fn save(&self, out: &mut Writer) -> io::Result<()> {
        self.node.save(out)?;
        out.flag(self.before.is_some())?;
        let Some((number, arrow)) = self.before else { return Ok(()) };
        out.word(u64::from(number))?;
        arrow.save(out)
    }

    fn load(from: &mut Reader) -> io::Result<Self> {
        let node = Node::load(from)?;
        let before = match from.flag()? {
            true => Some((from.word()? as u32, Arrow::load(from)?)),
            false => None,
        };
        Ok(Self { node, before })
    }
}

/// A search of the product for a bad prefix.
pub(super) struct Search<'g, 'a, T> {
    product: Product<'g, 'a, T>,
    has_begun: bool,
    /// The node whose steps are looked at, and those that are left.
    at: Option<Node>,
    cursor: Cursor,
    /// The number of the next one, and where those begin that are further away.
    next: usize,
    level_end: usize,
    /// By number: in the order in which they are come to.
    entries: Vec<Entry>,
    first: Option<Prefix>,
    matched: u64,
    /// How far the last node is from the initial one.
    depth: u64,
}

impl<'g, 'a, T: Transitions> Resumable<'g, 'a, T> for Search<'g, 'a, T> {
    fn run(&mut self, watch: &Watch<'_>) -> (Ended, Option<Found>) {
        let ended = self.search(watch);
        (ended, self.first.take().map(Found::Prefix))
    }

    fn product(&self) -> &Product<'g, 'a, T> {
        &self.product
    }

    fn product_mut(&mut self) -> &mut Product<'g, 'a, T> {
        &mut self.product
    }

    /// A search that has found something is not saved: it is over.
    fn save(&self, out: &mut Writer) -> io::Result<()> {
        out.flag(self.has_begun)?;
        self.at.save(out)?;
        self.cursor.save(out)?;
        out.len(self.next)?;
        out.len(self.level_end)?;
        out.all(&self.entries, Form::save)?;
        out.word(self.matched)?;
        out.word(self.depth)
    }

    fn load(&mut self, from: &mut Reader) -> io::Result<()> {
        self.has_begun = from.flag()?;
        self.at = Option::<Node>::load(from)?;
        self.cursor = Cursor::load(from)?;
        (self.next, self.level_end) = (from.len()?, from.len()?);
        self.entries = from.all(Entry::load)?;
        (self.matched, self.depth) = (from.word()?, from.word()?);
        Ok(())
    }

    fn searched(&self, ended: Ended, found: Option<Found>) -> Searched {
        let counted = statistics(self.entries.len() as u64, self.matched, self.depth);
        Searched { ended, found, counted, bytes: self.bytes() }
    }
}

impl<'g, 'a, T: Transitions> Search<'g, 'a, T> {
    pub(super) fn new(product: Product<'g, 'a, T>) -> Self {
        Self {
            product,
            has_begun: false,
            at: None,
            cursor: Cursor::default(),
            next: 0,
            level_end: 1,
            entries: Vec::new(),
            first: None,
            matched: 0,
            depth: 0,
        }
    }

    fn search(&mut self, watch: &Watch<'_>) -> Ended {
        if !std::mem::replace(&mut self.has_begun, true) {
            let (initial, _) = self.product.initial();
            self.enter(Entry { node: initial, before: None });
        }
        let mut patience = PATIENCE;
        loop {
            let from = match self.at {
                Some(from) => from,
                None => {
                    if self.next == self.level_end {
                        self.level_end = self.entries.len();
                        self.depth += 1;
                    }
                    let entry = self.entries[self.next];
                    self.next += 1;
                    (self.at, self.cursor) = (Some(entry.node), Cursor::default());
                    entry.node
                }
            };
            if self.product.graph.is_over() || self.first.is_some() && !watch.goes_on() {
                return Ended::Done;
            }
            patience -= 1;
            if patience == 0 {
                patience = PATIENCE;
                let bytes = || self.bytes();
                if let Some(ended) = watch.ended(self.entries.len() as u64, bytes) {
                    return ended;
                }
            }
            match self.product.next(from, &mut self.cursor) {
                Some((arrow, node, true)) => {
                    self.enter(Entry { node, before: Some((from.number, arrow)) });
                }
                Some(_) => self.matched += 1,
                None => {
                    self.at = None;
                    if self.next == self.entries.len() {
                        return Ended::Done;
                    }
                }
            }
        }
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
