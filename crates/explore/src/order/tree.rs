//! The execution tree: what best-first search remembers of the executions it has taken.
//!
//! Implements Coons' thesis, 3.3 and 3.4 (Fig. 3.3): a node stands for a whole execution, which is
//! that of its parent up to one step, then another decision, then the default behaviour to the end.
//! States in which nothing but the default was ever wanted are not in the tree.
//!
//! | thesis                          | here                                     |
//! |---------------------------------|------------------------------------------|
//! | link to the parent              | [`Node::parent`]                         |
//! | step at which it diverges       | [`Node::start`], the state behind it     |
//! | thread that it must explore     | [`Node::decision`]                       |
//! | successor count                 | [`Branch`], for each state               |
//! | *Detach*                        | [`Tree::settle`]                         |
//!
//! Differs from the thesis: its text leaves open how a race finds out that a thread was explored
//! from a state before. Here a state with more than the default has a [`Branch`] with its threads,
//! in the order in which they were taken. That order is also all that sleep sets need: while a
//! thread is explored, those before it sleep. A branch stays until nothing is left at it and below
//! it. The branches of a node are kept as bytes, about eight for each: numbers of seven bits a
//! byte, depths as differences.

use crate::reduction::stack;
use mazurka_core::{Decision, ThreadId, ThreadSet};
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

/// How much memory an execution tree took at the most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreeSize {
    /// Bytes of the tree.
    pub bytes: u64,
    /// Bytes of a tree that has, for each state from which something is left to explore, what the
    /// stack of a depth-first search has for a state.
    pub uncompressed: u64,
    /// Executions that were known and not taken yet.
    pub fringe: u64,
}

impl TreeSize {
    pub(crate) fn max(self, other: Self) -> Self {
        Self {
            bytes: self.bytes.max(other.bytes),
            uncompressed: self.uncompressed.max(other.uncompressed),
            fringe: self.fringe.max(other.fringe),
        }
    }
}

/// The number of a node.
pub(crate) type NodeIdx = u32;

/// The executions from which something is left to explore.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Tree {
    nodes: Vec<Node>,
    /// Numbers that can be used again.
    free: Vec<NodeIdx>,
    n_branch_bytes: usize,
    /// States that a tree without compression would have.
    n_states: usize,
}

/// An execution: that of its parent before `start`, with `decision` as the step there.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Node {
    /// The node itself, for the first execution.
    pub(crate) parent: NodeIdx,
    /// The depth of the first state that its parent has not got.
    pub(crate) start: u32,
    /// What led there.
    pub(crate) decision: Decision,
    /// [`Branches`], written down.
    branches: Box<[u8]>,
}

/// The states of an execution where something was wanted beside the default, by depth.
#[derive(Clone, Debug, Default)]
pub(crate) struct Branches(Vec<Branch>);

/// A state of an execution, and what was wanted there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Branch {
    pub(crate) depth: u32,
    /// Executions through here, taken or not, from which something is left.
    n_live: u32,
    /// By which the state is recognised.
    pub(crate) mark: u16,
    n_taken: usize,
    /// The threads that were wanted: those taken, in their order, then the others.
    threads: SmallVec<[ThreadId; 4]>,
}

impl Branch {
    /// The thread by default.
    pub(crate) fn default_thread(&self) -> ThreadId {
        self.threads[0]
    }

    /// The threads that were taken.
    pub(crate) fn taken(&self) -> ThreadSet {
        self.threads[..self.n_taken].iter().copied().collect()
    }

    /// The threads that were wanted, taken or not.
    pub(crate) fn wanted(&self) -> ThreadSet {
        self.threads.iter().copied().collect()
    }

    /// The threads that were taken before `thread`.
    pub(crate) fn before(&self, thread: ThreadId) -> ThreadSet {
        self.threads.iter().copied().take_while(|&other| other != thread).collect()
    }

    /// A step of `thread` is taken.
    fn take(&mut self, thread: ThreadId) {
        let at = self.threads.iter().position(|&other| other == thread);
        let at = at.expect("it was wanted");
        if at >= self.n_taken {
            self.threads.swap(at, self.n_taken);
            self.n_taken += 1;
        }
    }
}

impl Branches {
    /// The branch at `depth`, if there is one.
    pub(crate) fn get(&self, depth: usize) -> Option<&Branch> {
        Some(&self.0[self.find(depth as u32).ok()?])
    }

    /// Something is left to explore at the state at `depth`: a step of `thread`.
    ///
    /// `default` and `mark` are those of the state; they count the first time.
    pub(crate) fn want(&mut self, depth: usize, thread: ThreadId, default: ThreadId, mark: u16) {
        let depth = depth as u32;
        let at = self.find(depth).unwrap_or_else(|at| {
            let threads = SmallVec::from_slice(&[default]);
            self.0.insert(at, Branch { depth, n_live: 0, mark, n_taken: 1, threads });
            at
        });
        let branch = &mut self.0[at];
        branch.n_live += 1;
        if !branch.threads.contains(&thread) {
            branch.threads.push(thread);
        }
    }

    /// Those at the states before `depth`, and then those of `others`.
    pub(crate) fn followed_by(mut self, depth: usize, others: Self) -> Self {
        self.0.retain(|branch| (branch.depth as usize) < depth);
        self.0.extend(others.0);
        self
    }

    fn find(&self, depth: u32) -> Result<usize, usize> {
        self.0.binary_search_by_key(&depth, |branch| branch.depth)
    }

    fn at(&mut self, depth: u32) -> &mut Branch {
        let at = self.find(depth).expect("something was wanted here");
        &mut self.0[at]
    }

    /// How many states a node that starts at `start` has up to its last branch.
    fn n_states(&self, start: u32) -> usize {
        self.0.last().map_or(0, |last| (last.depth + 1 - start) as usize)
    }

    fn write(&self, start: u32) -> Box<[u8]> {
        let mut bytes = Vec::new();
        let mut depth = start;
        for branch in &self.0 {
            let n_threads = branch.threads.len() as u32;
            for number in [branch.depth - depth, branch.n_live, branch.n_taken as u32, n_threads] {
                write_number(&mut bytes, number);
            }
            bytes.extend(branch.mark.to_le_bytes());
            for thread in &branch.threads {
                write_number(&mut bytes, thread.index() as u32);
            }
            depth = branch.depth;
        }
        bytes.into_boxed_slice()
    }

    fn read(mut bytes: &[u8], start: u32) -> Self {
        let mut branches = Vec::new();
        let mut depth = start;
        while !bytes.is_empty() {
            depth += read_number(&mut bytes);
            let n_live = read_number(&mut bytes);
            let n_taken = read_number(&mut bytes) as usize;
            let n_threads = read_number(&mut bytes) as usize;
            let mark = u16::from_le_bytes([bytes[0], bytes[1]]);
            bytes = &bytes[2..];
            let threads = (0..n_threads).map(|_| ThreadId::new(read_number(&mut bytes) as usize));
            let threads = threads.collect();
            branches.push(Branch { depth, n_live, mark, n_taken, threads });
        }
        Self(branches)
    }
}

/// Seven bits a byte, the smallest first; the last one is below 128.
fn write_number(bytes: &mut Vec<u8>, mut number: u32) {
    while number >= 128 {
        bytes.push(number as u8 | 128);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn read_number(bytes: &mut &[u8]) -> u32 {
    let mut number = 0;
    for (idx, &byte) in bytes.iter().enumerate() {
        number |= u32::from(byte & 127) << (7 * idx);
        if byte < 128 {
            *bytes = &bytes[idx + 1..];
            return number;
        }
    }
    unreachable!("a number has a last byte")
}

impl Tree {
    /// What a tree without compression has for each state: the node of a stack, a link to its
    /// parent, the decision that led there, and what sleeps beside it.
    const UNCOMPRESSED: usize = size_of::<(stack::Node, NodeIdx, Decision, ThreadSet)>();

    /// A new execution: that of `parent` with another decision before the state at `start`.
    pub(crate) fn push(
        &mut self,
        parent: Option<NodeIdx>,
        start: u32,
        decision: Decision,
    ) -> NodeIdx {
        let idx = self.free.pop().unwrap_or_else(|| {
            NodeIdx::try_from(self.nodes.len()).expect("memory ends before u32 does")
        });
        let parent = parent.unwrap_or(idx);
        let node = Node { parent, start, decision, branches: Box::default() };
        match self.nodes.get_mut(idx as usize) {
            Some(place) => *place = node,
            None => {
                if self.nodes.len() == self.nodes.capacity() {
                    // By less than Vec does: there is one for each execution, most of them for
                    // long.
                    self.nodes.reserve_exact(8 + self.nodes.len() / 8);
                }
                self.nodes.push(node);
            }
        }
        idx
    }

    pub(crate) fn node(&self, idx: NodeIdx) -> &Node {
        &self.nodes[idx as usize]
    }

    /// The nodes from the first execution to `idx`.
    pub(crate) fn chain(&self, mut idx: NodeIdx) -> Vec<NodeIdx> {
        let mut chain = vec![idx];
        while self.node(idx).parent != idx {
            idx = self.node(idx).parent;
            chain.push(idx);
        }
        chain.reverse();
        chain
    }

    /// The branches of an execution, at states that its parent has not got.
    pub(crate) fn branches(&self, idx: NodeIdx) -> Branches {
        let node = self.node(idx);
        Branches::read(&node.branches, node.start)
    }

    /// The branches on the way through the executions of `chain`.
    pub(crate) fn way(&self, chain: &[NodeIdx]) -> Branches {
        chain.iter().fold(Branches::default(), |way, &idx| {
            way.followed_by(self.node(idx).start as usize, self.branches(idx))
        })
    }

    /// Lets `change` change the branches of an execution, and keeps count.
    pub(crate) fn change<T>(&mut self, idx: NodeIdx, change: impl FnOnce(&mut Branches) -> T) -> T {
        let mut branches = self.branches(idx);
        let node = &mut self.nodes[idx as usize];
        self.n_states -= branches.n_states(node.start);
        self.n_branch_bytes -= node.branches.len();
        let result = change(&mut branches);
        node.branches = branches.write(node.start);
        self.n_states += branches.n_states(node.start);
        self.n_branch_bytes += node.branches.len();
        result
    }

    /// A step of `thread` is taken from a state where it was wanted: tells who was taken before.
    pub(crate) fn take(&mut self, idx: NodeIdx, depth: u32, thread: ThreadId) -> ThreadSet {
        self.change(idx, |branches| {
            let branch = branches.at(depth);
            branch.take(thread);
            branch.before(thread)
        })
    }

    /// An execution was taken to its end: deletes what nothing is left of.
    pub(crate) fn settle(&mut self, mut idx: NodeIdx) {
        loop {
            self.change(
                idx,
                |Branches(branches)| {
                    while branches.pop_if(|branch| branch.n_live == 0).is_some() {}
                },
            );
            let Node { parent, start, .. } = *self.node(idx);
            if self.is_live(idx) || parent == idx {
                return;
            }
            self.free.push(idx);
            self.change(parent, |branches| branches.at(start - 1).n_live -= 1);
            idx = parent;
        }
    }

    /// Whether something is left of an execution.
    pub(crate) fn is_live(&self, idx: NodeIdx) -> bool {
        !self.node(idx).branches.is_empty()
    }

    /// How large it is.
    pub(crate) fn size(&self) -> TreeSize {
        let nodes = self.nodes.capacity() * size_of::<Node>();
        let free = self.free.capacity() * size_of::<NodeIdx>();
        TreeSize {
            bytes: (nodes + free + self.n_branch_bytes) as u64,
            uncompressed: (self.n_states * Self::UNCOMPRESSED) as u64,
            fringe: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const T0: usize = 0;

    fn thread(idx: usize) -> ThreadId {
        ThreadId::new(idx)
    }

    fn want(tree: &mut Tree, idx: NodeIdx, depth: usize, wanted: usize, default: usize) {
        tree.change(idx, |branches| branches.want(depth, thread(wanted), thread(default), 7));
    }

    #[test]
    fn nodes_delete_themselves() {
        let mut tree = Tree::default();
        let root = tree.push(None, 0, Decision::of(thread(T0)));
        want(&mut tree, root, 4, 1, T0);
        want(&mut tree, root, 9, 2, T0);
        tree.settle(root);
        assert_eq!(tree.n_states, 10);

        // The deep one first: nothing is left of it, and then of the states below the other.
        tree.take(root, 9, thread(2));
        let child = tree.push(Some(root), 10, Decision::of(thread(2)));
        tree.settle(child);
        assert!(tree.is_live(root) && tree.branches(root).get(9).is_none());
        assert_eq!(tree.n_states, 5);

        tree.take(root, 4, thread(1));
        let child = tree.push(Some(root), 5, Decision::of(thread(1)));
        want(&mut tree, child, 7, T0, 1);
        tree.settle(child);
        assert_eq!(tree.n_states, 8);
        tree.take(child, 7, thread(T0));
        let grandchild = tree.push(Some(child), 8, Decision::of(thread(T0)));
        assert_eq!(tree.chain(grandchild), [root, child, grandchild]);
        tree.settle(grandchild);
        assert!(!tree.is_live(root));
        assert_eq!((tree.n_states, tree.n_branch_bytes), (0, 0));
    }

    #[test]
    fn a_state_stays_while_something_is_left_below_it() {
        let mut tree = Tree::default();
        let root = tree.push(None, 0, Decision::of(thread(T0)));
        want(&mut tree, root, 4, 1, T0);
        want(&mut tree, root, 9, 2, T0);
        assert_eq!(tree.take(root, 4, thread(1)), ThreadSet::one(thread(T0)));
        let child = tree.push(Some(root), 5, Decision::of(thread(1)));
        tree.settle(child);
        let branches = tree.branches(root);
        let branch = branches.get(4).expect("it may be asked for again");
        assert_eq!(branch.taken(), [0, 1].map(thread).into_iter().collect());
        assert_eq!(branch.before(thread(1)), ThreadSet::one(thread(T0)));
    }

    #[test]
    fn branches_are_read_as_they_were_written() {
        let branch = |depth, n_live, n_threads: usize| Branch {
            depth,
            n_live,
            mark: 0xabcd,
            n_taken: n_threads / 2,
            threads: (0..n_threads).map(thread).collect(),
        };
        let all = [
            branch(5, 0, 1),
            branch(6, 127, 2),
            branch(134, 128, 5),
            branch(70_000, u32::MAX, ThreadId::MAX),
        ];
        let branches = Branches(all.to_vec());
        assert_eq!(Branches::read(&branches.write(5), 5).0, all);
        assert_eq!(Branches(vec![branch(9, 2, 2)]).write(5).len(), 8);
    }
}
