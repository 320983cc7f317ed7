//! Shortest lassos: the fewest steps of a stem and a loop together, breadth first.
//!
//! Depth-first search finds *a* lasso, and often a long one. Once there is one, the product is
//! searched again without reduction and without merged steps, and no deeper than that lasso is
//! long. Every node within this distance is a candidate for the place where the stem meets the
//! loop; candidates are taken by their distance from the initial node, and each is the root of a
//! breadth-first search for a way back to itself that accepts and is fair. The shortest sum wins.
//! Some hundred nodes are found first, then four times as many and so on, each time with a search
//! from all roots: a lasso that is found near the beginning says how far the rest has to go.
//!
//! **Why that is a minimum.** Let a lasso have a stem of *d* steps and a loop of *l*, with *d* +
//! *l* less than the best so far. Its nodes are at most *d* + *l* − 1 steps from the initial one,
//! so all of them are known, with the steps from them. The root where its stem ends is at a
//! distance of at most *d*, and the search from there finds a loop of at most *l* steps. A way back
//! that accepts and is fair is told by what its nodes and steps add up to ([`Summary`]), and two
//! ways to a node with equal sums go on equally.
//!
//! **What is left out.** A loop can be begun at any of its nodes, and has the same sum. Nodes are
//! numbered by their distance, so that the stem is shortest to the node of the loop with the least
//! number: from a root, only nodes with larger numbers are looked at. And a loop lies in one
//! strongly connected component, which has to accept somewhere; components are those of the nodes
//! whose steps are known.
//!
//! The work is limited by counts, so that two runs show the same lasso: by [`STEPS_EACH`], and by
//! the nodes that the search has found which found the first lasso ([`room`]). So an answer takes
//! a few times as long as the search alone, and some milliseconds at the least.
//! [`Shortest::is_minimum`] tells whether the search came to its end within them. A step is an
//! arrow of the graph: an atomic sequence is one.
//!
//! The literature minimises the loop through one accepting state, as Gastin, Moro and Zeitoun,
//! *Minimization of Counterexamples in SPIN* (SPIN 2004), do depth first. Here, stem and loop
//! are minimised together, and under fairness.

use super::fairness::{Able, Moved, Processes, neglected};
use super::graph::{Arrow, Graph};
use super::lasso::Lasso;
use super::product::{Cursor, Node, Product};
use crate::options::Fairness;
use crate::search_limits::{PATIENCE, Watch};
use crate::store::Numbers;
use crate::transitions::Transitions;
use mazurka_ltl::Automaton;
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;

/// After how many nodes of the product all roots are tried for the first time.
const FIRST_NODES: usize = 1 << 8;
/// How many nodes are kept at the most, however few the first search has found.
const FEW_NODES: usize = 1 << 12;
/// How many times as many as that has found, at the most.
const TIMES: usize = 4;
/// How many nodes are kept at the most, however many the first search has found.
const MOST_NODES: usize = 1 << 18;
/// How many steps of loops are looked at, at the most, for each node that there is room for.
const STEPS_EACH: u64 = 8;

/// What became of the search for a shorter lasso.
pub(super) struct Shortest {
    /// One with fewer steps than the one that was known, if there is one.
    pub(super) shorter: Option<Lasso>,
    /// Whether no lasso has fewer steps than the shortest that is known now.
    pub(super) is_minimum: bool,
}

/// How many nodes there is room for behind a search that has found so many.
pub(super) fn room(n_found: u64) -> usize {
    let found = usize::try_from(n_found).unwrap_or(usize::MAX);
    found.saturating_mul(TIMES).clamp(FEW_NODES, MOST_NODES)
}

/// Looks for lassos of fewer than `n_steps` steps among so many nodes. The graph is that of the program without
/// reduction. If the program is [lost](Transitions::is_lost) then, what comes of it is of no use.
pub(super) fn search<T: Transitions>(
    graph: &mut Graph<'_, T>,
    automaton: &Automaton,
    numbers: &Numbers<1>,
    (n_steps, most_nodes): (usize, usize),
    watch: &Watch<'_>,
) -> Shortest {
    debug_assert!(!graph.is_reduced(), "what is left out may be shorter");
    let product = Product::new(graph, automaton, numbers);
    let mut search = Search {
        product,
        watch,
        nodes: Vec::new(),
        steps: Vec::new(),
        shorter: None,
        n_best: n_steps,
        left: 0,
    };
    let (initial, _) = search.product.initial();
    search.nodes.push(Entry { node: initial, distance: 0, before: None, steps: 0 });
    let (mut room, mut n_expanded) = (FIRST_NODES, 0);
    while let Some(n_known) = search.find_nodes(n_expanded, room) {
        n_expanded = n_known;
        search.left = STEPS_EACH * room as u64;
        let is_tried = search.try_roots(n_expanded);
        let is_all = search.nodes.get(n_expanded).is_none_or(|next| search.is_far(*next));
        let is_minimum = is_all && is_tried;
        if is_minimum || room >= most_nodes || search.is_over() {
            return Shortest { shorter: search.shorter, is_minimum };
        }
        room = most_nodes.min(4 * room);
    }
    Shortest { shorter: search.shorter, is_minimum: false }
}

/// A node, and a shortest way to it.
#[derive(Clone, Copy)]
struct Entry {
    node: Node,
    distance: usize,
    /// The number of the node before, and the step from there; none for the initial one.
    before: Option<(u32, Arrow)>,
    /// Where its steps begin, once it was expanded.
    steps: u32,
}

/// A way from a root, as far as it has come.
#[derive(Clone, Copy)]
struct Way {
    node: u32,
    /// What its nodes and steps add up to, by number.
    sum: u32,
    /// The way that this one adds a step to, and the step; none at the root.
    before: Option<(u32, Arrow)>,
}

/// What acceptance and fairness ask of the nodes and steps of a way, added up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Summary {
    accepts: bool,
    /// Who can move in all of its nodes.
    always: Processes,
    /// Who can move in some of them.
    once: Able,
    moved: Moved,
}

impl Summary {
    /// Of no node yet.
    const EMPTY: Self = Self {
        accepts: false,
        always: Processes::ALL,
        once: Able { all: Processes::NONE, independent: Processes::NONE },
        moved: Moved { processes: Processes::NONE, dependent: false },
    };

    /// With a step away from a node.
    fn with(self, accepts: bool, able: Able, arrow: Arrow) -> Self {
        Self {
            accepts: self.accepts || accepts,
            always: self.always.and(able.all),
            once: Able {
                all: self.once.all.or(able.all),
                independent: self.once.independent.or(able.independent),
            },
            moved: self.moved.or(arrow.moved()),
        }
    }

    fn is_fair(self, fairness: Fairness) -> bool {
        let able = match fairness {
            Fairness::None => return true,
            Fairness::Weak => Able { all: self.always, ..self.once },
            Fairness::Strong | Fairness::Trace => self.once,
        };
        neglected(fairness, std::iter::once(able), self.moved).is_empty()
    }
}

/// Summaries by number. Where every loop is fair, there are two: 0 before a way accepts, and 1.
struct Sums {
    fairness: Fairness,
    all: Vec<Summary>,
    numbers: FxHashMap<Summary, u32>,
}

impl Sums {
    fn new(fairness: Fairness) -> Self {
        let numbers = FxHashMap::from_iter([(Summary::EMPTY, 0)]);
        Self { fairness, all: vec![Summary::EMPTY], numbers }
    }

    fn with(&mut self, sum: u32, accepts: bool, able: impl FnOnce() -> Able, arrow: Arrow) -> u32 {
        if self.fairness == Fairness::None {
            return sum | u32::from(accepts);
        }
        let summary = self.all[sum as usize].with(accepts, able(), arrow);
        *self.numbers.entry(summary).or_insert_with(|| {
            self.all.push(summary);
            self.all.len() as u32 - 1
        })
    }

    /// Whether a loop with this sum violates the property.
    fn is_wrong(&self, sum: u32) -> bool {
        match self.fairness {
            Fairness::None => sum == 1,
            fairness => {
                let summary = self.all[sum as usize];
                summary.accepts && summary.is_fair(fairness)
            }
        }
    }
}

/// The ways that are known from a root: where they lead, and by which sum.
enum Known {
    /// Where there are two sums: by node and sum, the last root from which it was come to, and 1.
    Two(Vec<u32>),
    Many(FxHashSet<(u32, u32)>),
}

impl Known {
    fn new(fairness: Fairness, n_nodes: usize) -> Self {
        match fairness {
            Fairness::None => Self::Two(vec![0; 2 * n_nodes]),
            _ => Self::Many(FxHashSet::default()),
        }
    }

    /// Another root comes.
    fn begin(&mut self) {
        if let Self::Many(known) = self {
            known.clear();
        }
    }

    /// Adds a way; whether it was not known.
    fn insert(&mut self, root: u32, node: u32, sum: u32) -> bool {
        match self {
            Self::Two(last) => {
                let last = &mut last[2 * node as usize + sum as usize];
                std::mem::replace(last, root + 1) != root + 1
            }
            Self::Many(known) => known.insert((node, sum)),
        }
    }
}

struct Search<'g, 'a, 'w, T> {
    product: Product<'g, 'a, T>,
    watch: &'w Watch<'w>,
    /// By number, in the order of their distance.
    nodes: Vec<Entry>,
    /// The steps of those that were expanded, and where they lead.
    steps: Vec<(Arrow, u32)>,
    shorter: Option<Lasso>,
    /// How many steps the shortest lasso has that is known.
    n_best: usize,
    /// How many steps of loops may still be looked at.
    left: u64,
}

impl<T: Transitions> Search<'_, '_, '_, T> {
    /// Whether a node is on no shorter lasso, nor any that is as far.
    fn is_far(&self, node: Entry) -> bool {
        node.distance + 2 > self.n_best
    }

    /// Expands nodes from one on that may be on lassos that are shorter, until there are as many
    /// nodes as there is room for. How many are expanded then; nothing if a limit was reached.
    fn find_nodes(&mut self, first: usize, room: usize) -> Option<usize> {
        let mut next = first;
        let mut patience = PATIENCE;
        while next < self.nodes.len() && self.nodes.len() <= room && !self.is_far(self.nodes[next])
        {
            self.nodes[next].steps = self.steps.len() as u32;
            let from = self.nodes[next];
            next += 1;
            if self.product.graph.program().is_lost() {
                return None;
            }
            let mut cursor = Cursor::default();
            while let Some((arrow, node, is_new)) = self.product.next(from.node, &mut cursor) {
                patience -= 1;
                if patience == 0 {
                    patience = PATIENCE;
                    if self.is_over() {
                        return None;
                    }
                }
                self.steps.push((arrow, node.number));
                if is_new {
                    debug_assert_eq!(node.number as usize, self.nodes.len(), "they are dense");
                    let before = Some((from.node.number, arrow));
                    let distance = from.distance + 1;
                    self.nodes.push(Entry { node, distance, before, steps: 0 });
                }
            }
        }
        Some(next)
    }

    /// The steps of one of the first nodes, those that were expanded.
    fn steps_of(&self, node: usize, n_expanded: usize) -> Range<usize> {
        let end = match node + 1 < n_expanded {
            true => self.nodes[node + 1].steps as usize,
            false => self.steps.len(),
        };
        self.nodes[node].steps as usize..end
    }

    /// Tries all nodes that were expanded as the place where a stem meets its loop. Whether all of
    /// them were tried.
    fn try_roots(&mut self, n_expanded: usize) -> bool {
        let fairness = self.watch.fairness();
        let components = self.components(n_expanded);
        let (mut sums, mut known) = (Sums::new(fairness), Known::new(fairness, n_expanded));
        let mut ways = Vec::new();
        for root in 0..n_expanded {
            if self.nodes[root].distance + 1 >= self.n_best {
                break;
            }
            if components[root] == NO_LOOP {
                continue;
            }
            known.begin();
            if !self.try_root(root, &components, &mut sums, &mut known, &mut ways) {
                return false;
            }
        }
        true
    }

    /// Looks for a loop from a node through others of its component with larger numbers. Whether
    /// the search came to its end.
    fn try_root(
        &mut self,
        root: usize,
        components: &[u32],
        sums: &mut Sums,
        known: &mut Known,
        ways: &mut Vec<Way>,
    ) -> bool {
        let (start, distance) = (root as u32, self.nodes[root].distance);
        ways.clear();
        ways.push(Way { node: start, sum: 0, before: None });
        let (mut next, mut level_end, mut n_steps) = (0, 1, 1);
        while next < ways.len() && distance + n_steps < self.n_best {
            let from = ways[next];
            let node = self.nodes[from.node as usize].node;
            let accepts = self.product.is_accepting(node);
            for step in self.steps_of(from.node as usize, components.len()) {
                self.left = self.left.saturating_sub(1);
                if self.left == 0 || self.left.is_multiple_of(PATIENCE) && self.is_over() {
                    return false;
                }
                let (arrow, to) = self.steps[step];
                let is_within = to >= start
                    && components.get(to as usize).is_some_and(|it| *it == components[root]);
                if !is_within {
                    continue;
                }
                let sum =
                    sums.with(from.sum, accepts, || self.product.graph.able(node.state), arrow);
                let before = Some((next as u32, arrow));
                if to == start && sums.is_wrong(sum) {
                    self.keep(root, ways, before);
                    return true;
                }
                if known.insert(start, to, sum) {
                    ways.push(Way { node: to, sum, before });
                }
            }
            next += 1;
            if next == level_end {
                level_end = ways.len();
                n_steps += 1;
            }
        }
        true
    }

    /// Keeps a lasso: there is none as short.
    fn keep(&mut self, root: usize, ways: &[Way], last: Option<(u32, Arrow)>) {
        let state = |number: u32| self.nodes[number as usize].node.state;
        let before = self.nodes[root].before;
        let stem = std::iter::successors(before, |&(number, _)| self.nodes[number as usize].before);
        let mut steps: Vec<(u32, Arrow)> =
            stem.map(|(number, arrow)| (state(number), arrow)).collect();
        steps.reverse();
        let loop_start = steps.len();
        let around = std::iter::successors(last, |&(idx, _)| ways[idx as usize].before);
        steps.extend(around.map(|(idx, arrow)| (state(ways[idx as usize].node), arrow)));
        steps[loop_start..].reverse();
        debug_assert!(steps.len() < self.n_best, "it is shorter");
        self.n_best = steps.len();
        self.shorter = Some(Lasso { steps, loop_start });
    }

    /// Of the nodes that were expanded, which strongly connected component each is in, by number;
    /// [`NO_LOOP`] if nothing that accepts goes round there.
    ///
    /// Implements Tarjan, *Depth-First Search and Linear Graph Algorithms* (SIAM Journal on
    /// Computing 1, 1972). Differs from the paper: the path is kept apart and not by calls.
    fn components(&self, n_expanded: usize) -> Vec<u32> {
        const UNSEEN: u32 = 0;
        /// Larger than the number of any node that is open.
        const CLOSED: u32 = u32::MAX;
        let mut components = vec![NO_LOOP; n_expanded];
        // In which order nodes are come to, from 1 on, and the first open one that each leads to.
        let mut low = vec![UNSEEN; n_expanded];
        let (mut open, mut path) = (Vec::new(), Vec::new());
        let (mut n_seen, mut n_components) = (0, 0);
        for first in 0..n_expanded {
            if low[first] != UNSEEN {
                continue;
            }
            let mut next = Some(first);
            loop {
                if let Some(node) = next.take() {
                    n_seen += 1;
                    low[node] = n_seen;
                    open.push(node);
                    path.push((node, n_seen, self.steps_of(node, n_expanded), false));
                }
                let Some((node, order, left, goes_round)) = path.last_mut() else { break };
                let node = *node;
                if let Some(step) = left.next() {
                    let to = self.steps[step].1 as usize;
                    *goes_round |= to == node;
                    match low.get(to).copied() {
                        Some(UNSEEN) => next = Some(to),
                        Some(CLOSED) | None => {}
                        Some(other) => low[node] = low[node].min(other),
                    }
                    continue;
                }
                let (order, goes_round) = (*order, *goes_round);
                path.pop();
                if low[node] == order {
                    let start = open.iter().rposition(|&it| it == node).unwrap_or_default();
                    let members = &open[start..];
                    let accepts = |&node: &usize| self.product.is_accepting(self.nodes[node].node);
                    if (members.len() > 1 || goes_round) && members.iter().any(accepts) {
                        n_components += 1;
                        members.iter().for_each(|&node| components[node] = n_components);
                    }
                    open.drain(start..).for_each(|node| low[node] = CLOSED);
                } else if let Some(&(before, ..)) = path.last() {
                    low[before] = low[before].min(low[node]);
                }
            }
        }
        components
    }

    /// Whether a limit of the whole search was reached.
    fn is_over(&self) -> bool {
        let own = size_of_val(self.nodes.as_slice()) + size_of_val(self.steps.as_slice());
        let bytes = || self.product.bytes() + own as u64;
        self.watch.limit(self.nodes.len() as u64, bytes).is_some()
    }
}

/// The component of a node through which no loop goes that accepts.
const NO_LOOP: u32 = 0;
