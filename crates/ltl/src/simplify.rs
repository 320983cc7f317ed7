//! Simulation and other reductions: smaller automata for the same words.
//!
//! Implements the reductions of Etessami and Holzmann, *Optimizing Büchi Automata* (CONCUR 2000),
//! section 4 (direct simulation), and of Somenzi and Bloem, *Efficient Büchi Automata from LTL
//! Formulae* (CAV 2000), sections 5 and 6 (dead and fixed-formula components).
//!
//! States are made one that simulate each other, forwards or backwards, as in the first paper and
//! in Somenzi and Bloem, section 6.
//!
//! Differs from the papers: one edge is covered by one edge only, never by several together. And a
//! state that no run visits twice accepts or not, as suits: it is made one with any state that has
//! the same ways out.

use crate::{Automaton, Cube, Edge, State};

/// Beyond it the quadratic table of who simulates whom is too much.
const MAX_COMPARED: usize = 1500;

/// A smaller automaton for the same words, if one is found.
pub(crate) fn simplify(mut automaton: Automaton) -> Automaton {
    loop {
        let before = (automaton.states.len(), automaton.n_edges());
        drop_dead(&mut automaton);
        settle_acceptance(&mut automaton);
        if automaton.states.len() <= MAX_COMPARED {
            merge_similar(&mut automaton);
            drop_covered(&mut automaton);
            merge_similar_before(&mut automaton);
        }
        merge_transient(&mut automaton);
        drop_dead(&mut automaton);
        if (automaton.states.len(), automaton.n_edges()) == before {
            return automaton;
        }
    }
}

/// Takes out states that cannot be reached, or from which nothing is accepted.
fn drop_dead(automaton: &mut Automaton) {
    let (component, has_cycle) = automaton.components();
    let mut is_live = vec![false; has_cycle.len()];
    for (state, &number) in automaton.states.iter().zip(&component) {
        is_live[number] |= state.is_accepting && has_cycle[number];
    }
    // Successors have smaller numbers, so a component comes after all that it leads to.
    let mut by_component: Vec<usize> = (0..automaton.states.len()).collect();
    by_component.sort_unstable_by_key(|&idx| component[idx]);
    for &idx in &by_component {
        let leads = automaton.states[idx].edges.iter().any(|edge| is_live[component[edge.target]]);
        is_live[component[idx]] |= leads;
    }
    for state in &mut automaton.states {
        state.edges.retain(|edge| is_live[component[edge.target]]);
    }
    keep_reachable(automaton);
}

fn keep_reachable(automaton: &mut Automaton) {
    const NONE: usize = usize::MAX;
    let mut numbers = vec![NONE; automaton.states.len()];
    let mut order = vec![0];
    numbers[0] = 0;
    let mut at = 0;
    while let Some(&idx) = order.get(at) {
        at += 1;
        for edge in &automaton.states[idx].edges {
            if numbers[edge.target] == NONE {
                numbers[edge.target] = order.len();
                order.push(edge.target);
            }
        }
    }
    let mut old = std::mem::take(&mut automaton.states);
    automaton.states = order.iter().map(|&idx| std::mem::take(&mut old[idx])).collect();
    for state in &mut automaton.states {
        for edge in &mut state.edges {
            edge.target = numbers[edge.target];
        }
        state.edges.sort_unstable();
        state.edges.dedup();
    }
}

/// Where acceptance makes no difference, nothing accepts.
fn settle_acceptance(automaton: &mut Automaton) {
    let (component, has_cycle) = automaton.components();
    for (idx, state) in automaton.states.iter_mut().enumerate() {
        state.is_accepting &= has_cycle[component[idx]];
    }
    // In a component where every cycle has an accepting state, all may accept.
    for number in (0..has_cycle.len()).filter(|&number| has_cycle[number]) {
        let inside = |idx: usize| component[idx] == number;
        let members: Vec<usize> = (0..automaton.states.len()).filter(|&idx| inside(idx)).collect();
        if members.iter().any(|&idx| automaton.states[idx].is_accepting)
            && !has_rejecting_cycle(automaton, &members)
        {
            for &idx in &members {
                automaton.states[idx].is_accepting = true;
            }
        }
    }
}

/// Whether a cycle among `members` avoids all accepting states.
fn has_rejecting_cycle(automaton: &Automaton, members: &[usize]) -> bool {
    let rejecting = |idx: usize| !automaton.states[idx].is_accepting && members.contains(&idx);
    let successors: Vec<Vec<usize>> = (0..automaton.states.len())
        .map(|idx| match rejecting(idx) {
            true => {
                let targets = automaton.states[idx].edges.iter().map(|edge| edge.target);
                targets.filter(|&target| rejecting(target)).collect()
            }
            false => Vec::new(),
        })
        .collect();
    crate::automaton::components(&successors).1.contains(&true)
}

/// For each state those that simulate it: whatever it can do, they can, and accept when it does.
pub(crate) fn simulation(automaton: &Automaton) -> Vec<Vec<bool>> {
    let states = &automaton.states;
    let mut above: Vec<Vec<bool>> = states
        .iter()
        .map(|low| states.iter().map(|high| !low.is_accepting || high.is_accepting).collect())
        .collect();
    let covers = |above: &[Vec<bool>], high: &State, edge: &Edge| {
        high.edges
            .iter()
            .any(|other| edge.guard.is_within(other.guard) && above[edge.target][other.target])
    };
    loop {
        let mut has_changed = false;
        for low in 0..states.len() {
            for high in 0..states.len() {
                if low != high
                    && above[low][high]
                    && !states[low].edges.iter().all(|edge| covers(&above, &states[high], edge))
                {
                    above[low][high] = false;
                    has_changed = true;
                }
            }
        }
        if !has_changed {
            return above;
        }
    }
}

/// Makes states that simulate each other one.
fn merge_similar(automaton: &mut Automaton) {
    let above = simulation(automaton);
    let first = |idx: usize| {
        let twin = (0..idx).find(|&other| above[idx][other] && above[other][idx]);
        twin.unwrap_or(idx)
    };
    let instead: Vec<usize> = (0..automaton.states.len()).map(first).collect();
    redirect(automaton, &instead);
}

/// For each state those that simulate it backwards: whatever leads to it from the initial state
/// leads to them, too, and they accept when it does.
fn simulation_before(automaton: &Automaton) -> Vec<Vec<bool>> {
    let states = &automaton.states;
    let mut before: Vec<Vec<(Cube, usize)>> = vec![Vec::new(); states.len()];
    for (from, state) in states.iter().enumerate() {
        state.edges.iter().for_each(|edge| before[edge.target].push((edge.guard, from)));
    }
    // Nothing but the initial state can be where runs begin.
    let mut above: Vec<Vec<bool>> = (0..states.len())
        .map(|low| {
            let is_above = |high: usize| {
                (low != 0 || high == 0) && (!states[low].is_accepting || states[high].is_accepting)
            };
            (0..states.len()).map(is_above).collect()
        })
        .collect();
    loop {
        let mut has_changed = false;
        for low in 0..states.len() {
            for high in (0..states.len()).filter(|&high| high != low) {
                let covers = |&(guard, from): &(Cube, usize)| {
                    let mut others = before[high].iter();
                    others.any(|&(other, source)| guard.is_within(other) && above[from][source])
                };
                if above[low][high] && !before[low].iter().all(covers) {
                    above[low][high] = false;
                    has_changed = true;
                }
            }
        }
        if !has_changed {
            return above;
        }
    }
}

/// Makes states one that simulate each other backwards: what one leads to, the other may as well.
/// Both are reached by the same letters, and accept alike.
fn merge_similar_before(automaton: &mut Automaton) {
    let above = simulation_before(automaton);
    let n_states = automaton.states.len();
    let twin = |idx: usize| (0..idx).find(|&other| above[idx][other] && above[other][idx]);
    let instead: Vec<usize> = (0..n_states).map(|idx| twin(idx).unwrap_or(idx)).collect();
    for idx in (0..n_states).filter(|&idx| instead[idx] != idx) {
        let edges = std::mem::take(&mut automaton.states[idx].edges);
        automaton.states[instead[idx]].edges.extend(edges);
    }
    redirect(automaton, &instead);
}

fn redirect(automaton: &mut Automaton, instead: &[usize]) {
    for edge in automaton.states.iter_mut().flat_map(|state| &mut state.edges) {
        edge.target = instead[edge.target];
    }
    keep_reachable(automaton);
}

/// Takes out edges beside which another one takes all their letters to a state that can do more.
fn drop_covered(automaton: &mut Automaton) {
    let above = simulation(automaton);
    for state in &mut automaton.states {
        let mut idx = 0;
        while idx < state.edges.len() {
            let edge = state.edges[idx];
            let is_covered = state.edges.iter().any(|other| {
                *other != edge
                    && edge.guard.is_within(other.guard)
                    && above[edge.target][other.target]
            });
            if is_covered {
                state.edges.remove(idx);
            } else {
                idx += 1;
            }
        }
    }
    join_guards(automaton);
    keep_reachable(automaton);
}

/// Makes two edges one where their guards together are one guard.
fn join_guards(automaton: &mut Automaton) {
    automaton.states.iter_mut().for_each(join);
}

/// The same for the edges of one state.
pub(crate) fn join(state: &mut State) {
    while let Some((first, second, joined)) = joinable(&state.edges) {
        state.edges[first] = joined;
        state.edges.remove(second);
    }
}

fn joinable(edges: &[Edge]) -> Option<(usize, usize, Edge)> {
    for (first, one) in edges.iter().enumerate() {
        for (second, other) in edges.iter().enumerate().skip(first + 1) {
            let (a, b) = (one.guard, other.guard);
            let differ = (a.holds ^ b.holds) | (a.fails ^ b.fails);
            let has_both = a.holds | a.fails == b.holds | b.fails;
            if one.target == other.target && has_both && differ.count_ones() == 1 {
                let mut joined = *one;
                joined.guard.holds &= !differ;
                joined.guard.fails &= !differ;
                return Some((first, second, joined));
            }
        }
    }
    None
}

/// Makes a state that no run visits twice one with another one that has the same ways out.
fn merge_transient(automaton: &mut Automaton) {
    let (component, has_cycle) = automaton.components();
    let states = &automaton.states;
    let mut instead: Vec<usize> = (0..states.len()).collect();
    for idx in (0..states.len()).filter(|&idx| !has_cycle[component[idx]]) {
        let same = |other: &usize| *other != idx && states[*other].edges == states[idx].edges;
        if let Some(other) = (0..states.len()).filter(same).find(|&other| instead[other] == other) {
            instead[idx] = other;
        }
    }
    if instead[0] != 0 {
        // The run may as well begin where the other one is.
        let start = instead[0];
        automaton.states.swap(0, start);
        let swapped = |idx: usize| match idx {
            0 => start,
            _ if idx == start => 0,
            _ => idx,
        };
        for edge in automaton.states.iter_mut().flat_map(|state| &mut state.edges) {
            edge.target = swapped(edge.target);
        }
        let mut moved = vec![0; instead.len()];
        for (idx, &other) in instead.iter().enumerate() {
            moved[swapped(idx)] = swapped(other);
        }
        instead = moved;
    }
    redirect(automaton, &instead);
}
