//! Depth-first search of a graph: reverse postorder, and back edges.

use std::collections::BTreeSet;

/// What a depth-first search sees.
pub(crate) struct DepthFirst {
    /// All nodes, each before those its edges lead to, but for edges that go back.
    pub(crate) order: Vec<usize>,
    /// Where edges go back to. Every cycle goes through one of these.
    pub(crate) heads: BTreeSet<usize>,
}

impl DepthFirst {
    /// Searches the graph of the nodes with these successors.
    pub(crate) fn of<S: AsRef<[usize]>>(successors: &[S]) -> Self {
        const NEW: u8 = 0;
        const OPEN: u8 = 1;
        const DONE: u8 = 2;
        let mut marks = vec![NEW; successors.len()];
        let mut search = Self { order: Vec::new(), heads: BTreeSet::new() };
        for root in 0..successors.len() {
            let mut path = if marks[root] == NEW { vec![(root, 0)] } else { Vec::new() };
            marks[root] = marks[root].max(OPEN);
            while let Some((at, next)) = path.last_mut() {
                let Some(&successor) = successors[*at].as_ref().get(*next) else {
                    marks[*at] = DONE;
                    search.order.push(*at);
                    path.pop();
                    continue;
                };
                *next += 1;
                match marks[successor] {
                    NEW => {
                        marks[successor] = OPEN;
                        path.push((successor, 0));
                    }
                    OPEN => {
                        search.heads.insert(successor);
                    }
                    _ => {}
                }
            }
        }
        search.order.reverse();
        search
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_go_on_or_back_to_a_head() {
        let graph: [&[usize]; 6] = [&[1], &[2, 4], &[3], &[1], &[5], &[5]];
        let search = DepthFirst::of(&graph);
        assert_eq!(search.heads, BTreeSet::from([1, 5]));
        let rank = |node| search.order.iter().position(|&it| it == node).expect("all are there");
        for (from, successors) in graph.iter().enumerate() {
            for &to in *successors {
                assert!(rank(from) < rank(to) || search.heads.contains(&to), "{from} to {to}");
            }
        }
    }
}
