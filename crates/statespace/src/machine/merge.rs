//! Statement merging: steps that concern no other process are parts of the step before them.
//!
//! Implements Holzmann, *The Engineering of a Model Checker: the Gnu i-Protocol Case Study
//! Revisited* (SPIN 1999, LNCS 1680).
//!
//! Differs from the paper: what is merged may have choices in it, and a process goes on by itself
//! also where another one took the step: the sender behind a rendezvous, and a process that was
//! just started.

use super::code::{Code, Place};

/// Finds the places that are merged with the steps that lead to them.
///
/// A cycle has a place among them that is not, so that a way round comes by a state that is
/// stored.
pub(super) fn find(code: &mut Code) {
    for idx in 0..code.routines.len() {
        let is_head = heads(code, &code.routines[idx].places);
        for (place, is_head) in code.routines[idx].places.iter_mut().zip(is_head) {
            place.is_merged = code.reduces && place.is_local && !is_head;
        }
    }
}

/// The places that a walk along local places comes back to before it has left them.
fn heads(code: &Code, places: &[Place]) -> Vec<bool> {
    let mut is_head = vec![false; places.len()];
    // 0: not seen, 1: on the way, 2: left.
    let mut colours = vec![0_u8; places.len()];
    for start in (0..places.len()).filter(|&start| places[start].is_local) {
        let mut path = vec![(start, places[start].edges.clone())];
        if colours[start] != 0 {
            continue;
        }
        colours[start] = 1;
        while let Some((at, edges)) = path.last_mut() {
            let Some(number) = edges.next() else {
                colours[*at] = 2;
                path.pop();
                continue;
            };
            let to = code.edges[number as usize].to as usize;
            match colours[to] {
                0 if places[to].is_local => {
                    colours[to] = 1;
                    path.push((to, places[to].edges.clone()));
                }
                1 => is_head[to] = true,
                _ => {}
            }
        }
    }
    is_head
}
