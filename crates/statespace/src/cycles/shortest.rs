//! Shortest lassos: the fewest steps of a stem and a loop together, breadth first.
//!
//! Depth-first search finds *a* lasso, and often a long one. Once there is one, the product is
//! searched again without reduction and without merged steps, and no deeper than that lasso is
//! long. Every node within this distance is a candidate for the place where the stem meets the
//! loop; candidates are taken by their distance from the initial node, and each is the root of a
//! breadth-first search for a way back to itself that accepts and is fair. The shortest sum wins.
//!
//! **Why that is a minimum.** Let a lasso have a stem of *d* steps and a loop of *l*, with *d* +
//! *l* less than the best so far. Its nodes are at most *d* + *l* − 1 steps from the initial one,
//! so all of them are known. The root where its stem ends is at a distance of at most *d*, and the
//! search from there finds a loop of at most *l* steps. A way back that accepts and is fair is told
//! by what its nodes add up to ([`Summary`]), and two ways to a node with equal sums go on equally.
//!
//! The work is limited by counts ([`MOST_NODES`], [`MOST_STEPS`]), so that two runs show the same
//! lasso. [`Shortest::is_minimum`] tells whether the search came to its end within them. A step
//! is an arrow of the graph: an atomic sequence is one.
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
use rustc_hash::FxHashSet;

/// How many nodes of the product are kept at the most.
const MOST_NODES: usize = 1 << 18;
/// How many steps of loops are looked at, at the most.
const MOST_STEPS: u64 = 1 << 21;

/// What became of the search for a shorter lasso.
pub(super) struct Shortest {
    /// One with fewer steps than the one that was known, if there is one.
    pub(super) shorter: Option<Lasso>,
    /// Whether no lasso has fewer steps than the shortest that is known now.
    pub(super) is_minimum: bool,
}

/// Looks for lassos of fewer than `n_steps` steps. The graph is that of the program without
/// reduction.
pub(super) fn search<T: Transitions>(
    graph: &mut Graph<'_, T>,
    automaton: &Automaton,
    numbers: &Numbers<1>,
    n_steps: usize,
    watch: &Watch<'_>,
) -> Shortest {
    debug_assert!(!graph.is_reduced(), "what is left out may be shorter");
    let product = Product::new(graph, automaton, numbers);
    let mut search =
        Search { product, watch, nodes: Vec::new(), shorter: None, n_best: n_steps, left: 0 };
    let is_all = search.find_nodes();
    search.left = MOST_STEPS;
    let is_minimum = search.try_roots() && is_all;
    Shortest { shorter: search.shorter, is_minimum }
}

/// A node, and a shortest way to it.
#[derive(Clone, Copy)]
struct Entry {
    node: Node,
    distance: usize,
    /// The number of the node before, and the step from there; none for the initial one.
    before: Option<(u32, Arrow)>,
}

/// A way from a root, as far as it has come.
#[derive(Clone, Copy)]
struct Way {
    node: Node,
    summary: Summary,
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
    fn with(self, accepts: bool, able: Able, arrow: Arrow, fairness: Fairness) -> Self {
        let accepts = self.accepts || accepts;
        if fairness == Fairness::None {
            return Self { accepts, ..self };
        }
        Self {
            accepts,
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

struct Search<'g, 'a, 'w, T> {
    product: Product<'g, 'a, T>,
    watch: &'w Watch<'w>,
    /// By number, in the order of their distance.
    nodes: Vec<Entry>,
    shorter: Option<Lasso>,
    /// How many steps the shortest lasso has that is known.
    n_best: usize,
    /// How many steps of loops may still be looked at.
    left: u64,
}

impl<T: Transitions> Search<'_, '_, '_, T> {
    /// Finds the nodes on lassos that are shorter. Whether these are all.
    fn find_nodes(&mut self) -> bool {
        let (initial, _) = self.product.initial();
        self.nodes.push(Entry { node: initial, distance: 0, before: None });
        let mut next = 0;
        let mut patience = PATIENCE;
        while next < self.nodes.len() {
            let from = self.nodes[next];
            next += 1;
            // A node at a distance of the best lasso's length is on none that is shorter.
            if from.distance + 2 > self.n_best {
                break;
            }
            let mut cursor = Cursor::default();
            while let Some((arrow, node, is_new)) = self.product.next(from.node, &mut cursor) {
                patience -= 1;
                if patience == 0 {
                    patience = PATIENCE;
                    if self.is_over() {
                        return false;
                    }
                }
                if is_new {
                    let before = Some((from.node.number, arrow));
                    self.nodes.push(Entry { node, distance: from.distance + 1, before });
                }
            }
            if self.nodes.len() > MOST_NODES {
                return false;
            }
        }
        true
    }

    /// Tries all nodes as the place where a stem meets its loop. Whether all of them were tried.
    fn try_roots(&mut self) -> bool {
        for root in 0..self.nodes.len() {
            if self.nodes[root].distance + 1 >= self.n_best {
                break;
            }
            if !self.try_root(self.nodes[root]) {
                return false;
            }
        }
        true
    }

    /// Looks for a loop from a node. Whether the search came to its end.
    fn try_root(&mut self, root: Entry) -> bool {
        let fairness = self.watch.fairness();
        let mut ways = vec![Way { node: root.node, summary: Summary::EMPTY, before: None }];
        let mut known = FxHashSet::default();
        let (mut next, mut level_end, mut n_steps) = (0, 1, 1);
        while next < ways.len() && root.distance + n_steps < self.n_best {
            let from = ways[next];
            let accepts = self.product.is_accepting(from.node);
            let mut cursor = Cursor::default();
            while let Some((arrow, node)) = self.product.next_known(from.node, &mut cursor) {
                self.left = self.left.saturating_sub(1);
                if self.left == 0 || self.left.is_multiple_of(PATIENCE) && self.is_over() {
                    return false;
                }
                // It is known by now: the node was expanded.
                let able = self.product.graph.able(from.node.state);
                let summary = from.summary.with(accepts, able, arrow, fairness);
                if node == root.node && summary.accepts && summary.is_fair(fairness) {
                    let before = Some((next as u32, arrow));
                    self.keep(root, &ways, Way { node, summary, before });
                    return true;
                }
                if known.insert((node.number, summary)) {
                    ways.push(Way { node, summary, before: Some((next as u32, arrow)) });
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
    fn keep(&mut self, root: Entry, ways: &[Way], last: Way) {
        let stem =
            std::iter::successors(root.before, |&(number, _)| self.nodes[number as usize].before);
        let mut steps: Vec<(u32, Arrow)> =
            stem.map(|(number, arrow)| (self.nodes[number as usize].node.state, arrow)).collect();
        steps.reverse();
        let loop_start = steps.len();
        let around = std::iter::successors(last.before, |&(idx, _)| ways[idx as usize].before);
        steps.extend(around.map(|(idx, arrow)| (ways[idx as usize].node.state, arrow)));
        steps[loop_start..].reverse();
        debug_assert!(steps.len() < self.n_best, "it is shorter");
        self.n_best = steps.len();
        self.shorter = Some(Lasso { steps, loop_start });
    }

    /// Whether a limit of the whole search was reached.
    fn is_over(&self) -> bool {
        let bytes = || self.product.bytes() + size_of_val(self.nodes.as_slice()) as u64;
        self.watch.limit(self.nodes.len() as u64, bytes).is_some()
    }
}
