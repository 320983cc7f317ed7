//! Accepting cycles by strongly connected components, as soon as one has all that it takes.
//!
//! Implements Couvreur, *On-the-Fly Verification of Linear Temporal Logic* (FM 1999), with weak
//! fairness as further sets of acceptance; and for strong fairness the removal of states after
//! Emerson and Lei, *Modalities for Model Checking* (Science of Computer Programming 8, 1987).
//!
//! | paper                                    | here                                   |
//! |------------------------------------------|----------------------------------------|
//! | stack of roots, with their acceptance    | [`Search::roots`]                      |
//! | acceptance of a component                | [`Merit`]                              |
//! | states removed with their components     | [`CLOSED`]                             |
//!
//! Differs from the papers: a node that is come to by a bad prefix is a violation, too, and a fair
//! one (`cycles/mod.rs` says why). A process counts as treated fairly in a component where it
//! moves, or cannot move at some node. Under strong fairness a component is looked at when it is
//! complete.

use super::fairness::{Able, Moved, Processes, due_at, neglected};
use super::graph::Arrow;
use super::lasso::{Found, Lasso, Prefix};
use super::product::{Cursor, Node, Product};
use super::saved::Resumable;
use super::{Searched, statistics};
use crate::options::Fairness;
use crate::saved::{Form, Reader, Writer};
use crate::search_limits::{Ended, PATIENCE, Watch};
use crate::transitions::Transitions;
use std::collections::VecDeque;
use std::io;

/// A search of the product for a component that accepts.
pub(super) struct Components<'g, 'a, T> {
    product: Product<'g, 'a, T>,
    search: Search,
}

impl<'g, 'a, T: Transitions> Components<'g, 'a, T> {
    pub(super) fn new(product: Product<'g, 'a, T>, watch: &Watch<'_>) -> Self {
        let (fairness, goes_on) = (watch.fairness(), watch.goes_on());
        Self { product, search: Search { fairness, goes_on, ..Search::default() } }
    }
}

impl<'g, 'a, T: Transitions> Resumable<'g, 'a, T> for Components<'g, 'a, T> {
    fn run(&mut self, watch: &Watch<'_>) -> (Ended, Option<Found>) {
        self.search.run(&mut self.product, watch)
    }

    fn product(&self) -> &Product<'g, 'a, T> {
        &self.product
    }

    fn product_mut(&mut self) -> &mut Product<'g, 'a, T> {
        &mut self.product
    }

    /// A search that has found something is not saved: it is over.
    fn save(&self, out: &mut Writer) -> io::Result<()> {
        let Search { has_begun, entering, frames, roots, order, open, .. } = &self.search;
        let Search { next_order, matched, max_depth, .. } = self.search;
        out.flag(*has_begun)?;
        entering.save(out)?;
        out.all(frames, Form::save)?;
        out.all(roots, Form::save)?;
        out.all(order, |order, out| out.word(u64::from(*order)))?;
        out.all(open, Form::save)?;
        [u64::from(next_order), matched, max_depth].iter().try_for_each(|&n| out.word(n))
    }

    fn load(&mut self, from: &mut Reader) -> io::Result<()> {
        let search = &mut self.search;
        search.has_begun = from.flag()?;
        search.entering = Option::<Entering>::load(from)?;
        search.frames = from.all(Frame::load)?;
        search.roots = from.all(Root::load)?;
        search.order = from.all(|from| from.word().map(|word| word as u32))?;
        search.open = from.all(Node::load)?;
        search.next_order = from.word()? as u32;
        (search.matched, search.max_depth) = (from.word()?, from.word()?);
        Ok(())
    }

    fn searched(&self, ended: Ended, found: Option<Found>) -> Searched {
        let Search { order, matched, max_depth, .. } = &self.search;
        let counted = statistics(order.len() as u64, *matched, *max_depth);
        Searched { ended, found, counted, bytes: self.product.bytes() }
    }
}

impl Form for Merit {
    fn save(&self, out: &mut Writer) -> io::Result<()> {
        out.flag(self.accepts)?;
        self.treated.save(out)
    }

    fn load(from: &mut Reader) -> io::Result<Self> {
        Ok(Self { accepts: from.flag()?, treated: Processes::load(from)? })
    }
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

impl Form for Root {
    fn save(&self, out: &mut Writer) -> io::Result<()> {
        out.word(u64::from(self.order))?;
        self.merit.save(out)?;
        self.step.save(out)
    }

    fn load(from: &mut Reader) -> io::Result<Self> {
        let (order, merit) = (from.word()? as u32, Merit::load(from)?);
        Ok(Self { order, merit, step: Merit::load(from)? })
    }
}

impl Form for Entering {
    fn save(&self, out: &mut Writer) -> io::Result<()> {
        self.node.save(out)?;
        self.step.save(out)
    }

    fn load(from: &mut Reader) -> io::Result<Self> {
        Ok(Self { node: Node::load(from)?, step: Merit::load(from)? })
    }
}

/// What the nodes and steps of a component have, taken together.
#[derive(Clone, Copy, Debug, Default)]
struct Merit {
    accepts: bool,
    /// Who moves, or cannot move at some node.
    treated: Processes,
}

impl Merit {
    fn add(&mut self, other: Self) {
        self.accepts |= other.accepts;
        self.treated = self.treated.or(other.treated);
    }
}

/// A node of the path.
struct Frame {
    node: Node,
    cursor: Cursor,
}

/// A component of which some node is on the path.
struct Root {
    /// The place of its first node in the order of discovery.
    order: u32,
    merit: Merit,
    /// The merit of the step that led to it.
    step: Merit,
}

/// A node that the path comes to.
#[derive(Clone, Copy)]
struct Entering {
    node: Node,
    /// The merit of the step that leads to it.
    step: Merit,
}

/// The order of a node whose component is finished.
const CLOSED: u32 = u32::MAX;

#[derive(Default)]
struct Search {
    fairness: Fairness,
    /// Whether everything is searched, whatever is found.
    goes_on: bool,
    first: Option<Found>,
    has_begun: bool,
    /// What the path comes to, until it has.
    entering: Option<Entering>,
    frames: Vec<Frame>,
    roots: Vec<Root>,
    /// By number of a node, its place in the order of discovery.
    order: Vec<u32>,
    /// The nodes whose components are not finished, in that order.
    open: Vec<Node>,
    next_order: u32,
    matched: u64,
    max_depth: u64,
}

impl Search {
    fn run<T: Transitions>(
        &mut self,
        product: &mut Product<'_, '_, T>,
        watch: &Watch<'_>,
    ) -> (Ended, Option<Found>) {
        if !std::mem::replace(&mut self.has_begun, true) {
            let (node, step) = (product.initial().0, Merit::default());
            self.entering = Some(Entering { node, step });
        }
        let mut patience = PATIENCE;
        loop {
            if let Some(Entering { node, step }) = self.entering {
                if let Err(ended) = self.enter(product, node, step, watch) {
                    return (ended, self.first.take());
                }
                self.entering = None;
                if self.is_prefix(product) && !self.goes_on {
                    break;
                }
            }
            let Some(frame) = self.frames.last_mut() else { break };
            if product.graph.is_over() {
                break;
            }
            patience -= 1;
            if patience == 0 {
                patience = PATIENCE;
                let bytes = || product.bytes();
                if let Some(ended) = watch.ended(self.order.len() as u64, bytes) {
                    return (ended, self.first.take());
                }
            }
            let node = frame.node;
            let Some((arrow, to, is_new)) = product.next(node, &mut frame.cursor) else {
                self.leave(product);
                if self.first.is_some() && !self.goes_on {
                    break;
                }
                continue;
            };
            let step = self.merit_of_step(arrow);
            if is_new {
                self.entering = Some(Entering { node: to, step });
                continue;
            }
            self.matched += 1;
            let is_open = self.order[to.number as usize] != CLOSED;
            if is_open && self.merge(to, step) {
                if self.first.is_none() {
                    let root = self.roots.last().expect("the component has a root").order;
                    let inside = self.component(root);
                    self.first = Some(Found::Lasso(self.lasso(product, &inside, &inside)));
                }
                if !self.goes_on {
                    break;
                }
            }
        }
        (Ended::Done, self.first.take())
    }

    fn enter<T: Transitions>(
        &mut self,
        product: &mut Product<'_, '_, T>,
        node: Node,
        step: Merit,
        watch: &Watch<'_>,
    ) -> Result<(), Ended> {
        debug_assert_eq!(node.number as usize, self.order.len(), "nodes are numbered as they come");
        product.enter(node, watch)?;
        let order = self.next_order;
        self.next_order += 1;
        self.order.push(order);
        self.open.push(node);
        let treated = match self.fairness {
            Fairness::Weak => product.graph.able(node.state).all.others(),
            Fairness::None | Fairness::Strong | Fairness::Trace => Processes::NONE,
        };
        let merit = Merit { accepts: product.is_accepting(node), treated };
        self.roots.push(Root { order, merit, step });
        self.frames.push(Frame { node, cursor: Cursor::default() });
        self.max_depth = self.max_depth.max(self.frames.len() as u64 - 1);
        Ok(())
    }

    /// Whether the path is a bad prefix. The first one is kept.
    fn is_prefix<T: Transitions>(&mut self, product: &mut Product<'_, '_, T>) -> bool {
        let (last, before) = self.frames.split_last().expect("the path has a node");
        let Some(bad) = product.bad(last.node) else { return false };
        if self.first.is_none() {
            let step = |frame: &Frame| (frame.node.state, product.taken(frame.cursor));
            let steps = before.iter().map(step).collect();
            self.first = Some(Found::Prefix(Prefix { steps, last: last.node.state, bad }));
        }
        true
    }

    /// A step closes a cycle: its components are one. Returns whether that one has all it takes.
    fn merge(&mut self, to: Node, step: Merit) -> bool {
        let order = self.order[to.number as usize];
        let mut merit = step;
        while let Some(root) = self.roots.pop_if(|root| root.order > order) {
            merit.add(root.merit);
            merit.add(root.step);
        }
        let root = self.roots.last_mut().expect("the path begins with a root");
        root.merit.add(merit);
        let is_fair = match self.fairness {
            Fairness::None => true,
            Fairness::Weak => root.merit.treated.is_all(),
            // What is fair may be a part of it.
            Fairness::Strong | Fairness::Trace => false,
        };
        root.merit.accepts && is_fair
    }

    /// Goes back by one node, and looks at its component if that is complete.
    fn leave<T: Transitions>(&mut self, product: &mut Product<'_, '_, T>) {
        let node = self.frames.last().expect("there is a node to leave").node;
        let order = self.order[node.number as usize];
        if self.roots.last().is_some_and(|root| root.order == order) {
            let root = self.roots.pop().expect("it was looked at");
            if matches!(self.fairness, Fairness::Strong | Fairness::Trace)
                && root.merit.accepts
                && self.first.is_none()
            {
                let inside = self.component(order);
                let fair = self.fair_part(product, inside.clone());
                self.first = fair.map(|fair| Found::Lasso(self.lasso(product, &inside, &fair)));
            }
            while let Some(inside) = self.open.pop_if(|it| self.order[it.number as usize] >= order)
            {
                self.order[inside.number as usize] = CLOSED;
            }
        }
        self.frames.pop();
        product.leave(node);
    }

    fn merit_of_step(&self, arrow: Arrow) -> Merit {
        let moved = match self.fairness {
            Fairness::Weak => arrow.moved().processes,
            Fairness::None | Fairness::Strong | Fairness::Trace => Processes::NONE,
        };
        Merit { accepts: false, treated: moved }
    }

    /// The nodes of the last component, which begins here.
    fn component(&self, root: u32) -> Vec<Node> {
        let start = self.open.partition_point(|node| self.order[node.number as usize] < root);
        self.open[start..].to_vec()
    }

    /// A part of a component, connected and accepting, in which all are treated fairly.
    fn fair_part<T: Transitions>(
        &self,
        product: &mut Product<'_, '_, T>,
        nodes: Vec<Node>,
    ) -> Option<Vec<Node>> {
        let mut todo = vec![nodes];
        while let Some(part) = todo.pop() {
            let inside = Inside::new(&part);
            let steps = inside.steps(product);
            if steps.iter().all(Vec::is_empty) || !part.iter().any(|&it| product.is_accepting(it)) {
                continue;
            }
            let moved = steps.iter().flatten().map(|&(arrow, _)| arrow.moved());
            let moved = moved.fold(Moved::default(), Moved::or);
            let able = part.iter().map(|node| product.graph.able(node.state));
            let bad = neglected(self.fairness, able, moved);
            if bad.is_empty() {
                return Some(part);
            }
            let is_good = |node: &Node| {
                due_at(self.fairness, product.graph.able(node.state), moved).and(bad).is_empty()
            };
            let rest: Vec<Node> = part.iter().copied().filter(is_good).collect();
            todo.extend(components_of(product, &rest));
        }
        None
    }

    /// A way to a fair cycle that accepts: within `goal`, a part of the component `inside`.
    fn lasso<T: Transitions>(
        &self,
        product: &mut Product<'_, '_, T>,
        inside: &[Node],
        goal: &[Node],
    ) -> Lasso {
        let root = inside[0];
        let on_the_way = self.frames.iter().take_while(|frame| frame.node != root);
        let mut steps: Vec<(u32, Arrow)> =
            on_the_way.map(|frame| (frame.node.state, product.taken(frame.cursor))).collect();
        let everywhere = Inside::new(inside);
        let fair = Inside::new(goal);
        let start = everywhere.walk(product, root, &mut steps, |node, _| fair.has(node));
        let loop_start = steps.len();
        let around = self.around(product, &fair, start);
        steps.extend(around);
        Lasso { steps, loop_start }
    }

    /// A cycle through a part that accepts and treats all fairly.
    fn around<T: Transitions>(
        &self,
        product: &mut Product<'_, '_, T>,
        inside: &Inside,
        start: Node,
    ) -> Vec<(u32, Arrow)> {
        let mut steps = Vec::new();
        let accepting: Vec<bool> =
            inside.nodes.iter().map(|&node| product.is_accepting(node)).collect();
        let mut at = inside.walk(product, start, &mut steps, |node, _| {
            accepting[inside.place(node).expect("it is inside")]
        });
        if self.fairness != Fairness::None {
            at = self.treat_all(product, inside, at, &mut steps);
        }
        // Back to the start, by one step at least.
        if steps.is_empty() || at != start {
            inside.walk(product, at, &mut steps, |node, arrow| arrow.is_some() && node == start);
        }
        steps
    }

    /// Goes on from a node so that all are treated fairly. Returns where that ends.
    fn treat_all<T: Transitions>(
        &self,
        product: &mut Product<'_, '_, T>,
        inside: &Inside,
        mut at: Node,
        steps: &mut Vec<(u32, Arrow)>,
    ) -> Node {
        let able: Vec<Able> =
            inside.nodes.iter().map(|node| product.graph.able(node.state)).collect();
        let able_at = |node: Node| able[inside.place(node).expect("it is inside")].all;
        let taken = inside.steps(product);
        let has_dependent = taken.iter().flatten().any(|(arrow, _)| arrow.is_dependent());
        if self.fairness == Fairness::Trace && has_dependent {
            at = inside.walk(product, at, steps, |_, arrow| arrow.is_some_and(Arrow::is_dependent));
        }
        // A process that has to move does; under weak fairness, others come to where they cannot.
        let nobody = Moved { processes: Processes::NONE, dependent: has_dependent };
        let due = neglected(self.fairness, able.iter().copied(), nobody);
        for process in due.iter() {
            at = inside.walk(product, at, steps, |_, arrow| {
                arrow.is_some_and(|arrow| arrow.moved().processes.contains(process))
            });
        }
        if self.fairness == Fairness::Weak {
            let some = able.iter().fold(Processes::NONE, |some, it| some.or(it.all));
            for process in some.and(due.others()).iter() {
                at = inside.walk(product, at, steps, |node, _| !able_at(node).contains(process));
            }
        }
        at
    }
}

/// Some nodes, and where each is among them.
struct Inside {
    nodes: Vec<Node>,
    /// By number of a node, sorted, its place.
    places: Vec<(u32, usize)>,
}

impl Inside {
    fn new(nodes: &[Node]) -> Self {
        let mut places: Vec<_> = nodes.iter().map(|node| node.number).zip(0..).collect();
        places.sort_unstable();
        Self { nodes: nodes.to_vec(), places }
    }

    fn place(&self, node: Node) -> Option<usize> {
        let found = self.places.binary_search_by_key(&node.number, |&(number, _)| number);
        found.ok().map(|idx| self.places[idx].1)
    }

    fn has(&self, node: Node) -> bool {
        self.place(node).is_some()
    }

    /// The steps between these nodes, by the places of the nodes that they lead away from.
    fn steps<T: Transitions>(&self, product: &mut Product<'_, '_, T>) -> Vec<Vec<(Arrow, usize)>> {
        let mut all = Vec::with_capacity(self.nodes.len());
        for &node in &self.nodes {
            let (mut cursor, mut steps) = (Cursor::default(), Vec::new());
            while let Some((arrow, to)) = product.next_known(node, &mut cursor) {
                steps.extend(self.place(to).map(|place| (arrow, place)));
            }
            all.push(steps);
        }
        all
    }

    /// Appends a shortest way from a node to one that is wanted, by a step that is wanted; the node
    /// itself, without a step, comes first. Returns where it ends.
    fn walk<T: Transitions>(
        &self,
        product: &mut Product<'_, '_, T>,
        from: Node,
        steps: &mut Vec<(u32, Arrow)>,
        is_wanted: impl Fn(Node, Option<Arrow>) -> bool,
    ) -> Node {
        if is_wanted(from, None) {
            return from;
        }
        let start = self.place(from).expect("a way begins inside");
        let mut before: Vec<Option<(usize, Arrow)>> = vec![None; self.nodes.len()];
        let mut queue = VecDeque::from([start]);
        while let Some(at) = queue.pop_front() {
            let mut cursor = Cursor::default();
            while let Some((arrow, to)) = product.next_known(self.nodes[at], &mut cursor) {
                let Some(place) = self.place(to) else { continue };
                if is_wanted(to, Some(arrow)) {
                    let mut way = vec![(self.nodes[at].state, arrow)];
                    let mut at = at;
                    while at != start {
                        let (earlier, arrow) = before[at].expect("it was reached");
                        way.push((self.nodes[earlier].state, arrow));
                        at = earlier;
                    }
                    steps.extend(way.into_iter().rev());
                    return to;
                }
                if place != start && before[place].is_none() {
                    before[place] = Some((at, arrow));
                    queue.push_back(place);
                }
            }
        }
        unreachable!("a component is connected and has what it was chosen for");
    }
}

/// The strongly connected components of the product, restricted to some nodes.
fn components_of<T: Transitions>(
    product: &mut Product<'_, '_, T>,
    nodes: &[Node],
) -> Vec<Vec<Node>> {
    let steps = Inside::new(nodes).steps(product);
    let mut search = Tarjan { low: vec![0; nodes.len()], ..Tarjan::default() };
    for start in 0..nodes.len() {
        if search.low[start] == 0 {
            search.run(&steps, start);
        }
    }
    let as_nodes = |places: Vec<usize>| places.into_iter().map(|place| nodes[place]).collect();
    search.found.into_iter().map(as_nodes).collect()
}

/// Tarjan's algorithm, without recursion.
#[derive(Default)]
struct Tarjan {
    /// 0 for what was not seen, the greatest number for what is done.
    low: Vec<usize>,
    open: Vec<usize>,
    counter: usize,
    found: Vec<Vec<usize>>,
}

impl Tarjan {
    fn run(&mut self, steps: &[Vec<(Arrow, usize)>], start: usize) {
        let mut path = vec![(start, self.see(start), 0)];
        while let Some((at, order, next)) = path.last_mut() {
            let (at, order) = (*at, *order);
            if let Some(&(_, to)) = steps[at].get(*next) {
                *next += 1;
                match self.low[to] {
                    0 => {
                        let order = self.see(to);
                        path.push((to, order, 0));
                    }
                    usize::MAX => {}
                    low => self.low[at] = self.low[at].min(low),
                }
                continue;
            }
            path.pop();
            let low = self.low[at];
            if low == order {
                let first = self.open.iter().rposition(|&it| it == at).expect("it is open");
                let component = self.open.split_off(first);
                component.iter().for_each(|&it| self.low[it] = usize::MAX);
                self.found.push(component);
            } else if let Some(&(before, _, _)) = path.last() {
                self.low[before] = self.low[before].min(low);
            }
        }
    }

    fn see(&mut self, node: usize) -> usize {
        self.counter += 1;
        self.low[node] = self.counter;
        self.open.push(node);
        self.counter
    }
}
