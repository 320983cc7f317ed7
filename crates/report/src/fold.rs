//! Long executions, folded: what repeats, and what one thread does on its own, is told in a line.

use std::ops::Range;

/// Up to so many steps are all shown.
const ALL: usize = 400;
/// The longest block of steps whose repetition is looked for.
const MAX_PERIOD: usize = 32;
/// A repetition is worth a line of its own if it saves so many.
const MIN_REPEATED: usize = 8;
/// Of a run of one thread, so many steps at both ends are shown.
const ENDS: usize = 3;
/// If there are still too many, so many of the first and of the last are shown.
const FIRST: usize = 48;
const LAST: usize = 96;

/// A piece of a folded execution. Steps are counted from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// A step that is shown.
    Step(usize),
    /// The block of steps is taken so often again.
    Again(Range<usize>, usize),
    /// So many steps of the thread that the steps around belong to.
    Run(usize),
    /// So many steps of whomever.
    More(usize),
}

impl Piece {
    /// How many steps it stands for.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Step(_) => 1,
            Self::Again(block, times) => block.len() * times,
            Self::Run(n) | Self::More(n) => *n,
        }
    }
}

/// Folds an execution of `n_steps`. `same` tells whether two steps look the same, `together`
/// whether they are of one thread. Nothing is folded across `breaks`, and the last step is shown.
pub(crate) fn fold(
    n_steps: usize,
    breaks: Option<usize>,
    same: impl Fn(usize, usize) -> bool,
    together: impl Fn(usize, usize) -> bool,
) -> Vec<Piece> {
    if n_steps <= ALL {
        return (0..n_steps).map(Piece::Step).collect();
    }
    let at = breaks.unwrap_or(0).min(n_steps - 1);
    let mut pieces = Vec::new();
    for part in [0..at, at..n_steps - 1, n_steps - 1..n_steps] {
        let part = fold_runs(fold_repetitions(part, &same), &together);
        pieces.extend(cut(part));
    }
    debug_assert_eq!(pieces.iter().map(Piece::len).sum::<usize>(), n_steps);
    pieces
}

/// Tells blocks that follow each other again and again only once.
fn fold_repetitions(part: Range<usize>, same: impl Fn(usize, usize) -> bool) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut at = part.start;
    while at < part.end {
        let repeated = (1..=MAX_PERIOD).find_map(|period| {
            let is_same = |&idx: &usize| same(idx, idx - period);
            let again = (at + period..part.end).take_while(is_same).count() / period;
            (again >= 2 && again * period >= MIN_REPEATED).then_some((period, again))
        });
        match repeated {
            Some((period, again)) => {
                pieces.extend((at..at + period).map(Piece::Step));
                pieces.push(Piece::Again(at..at + period, again));
                at += period * (again + 1);
            }
            None => {
                pieces.push(Piece::Step(at));
                at += 1;
            }
        }
    }
    pieces
}

/// Leaves out the middle of what one thread does without a switch.
fn fold_runs(pieces: Vec<Piece>, together: impl Fn(usize, usize) -> bool) -> Vec<Piece> {
    let follows = |a: &Piece, b: &Piece| match (a, b) {
        (Piece::Step(a), Piece::Step(b)) => together(*a, *b),
        _ => false,
    };
    let mut folded = Vec::new();
    for run in pieces.chunk_by(follows) {
        if run.len() > 2 * ENDS + 1 {
            folded.extend_from_slice(&run[..ENDS]);
            folded.push(Piece::Run(run.len() - 2 * ENDS));
            folded.extend_from_slice(&run[run.len() - ENDS..]);
        } else {
            folded.extend_from_slice(run);
        }
    }
    folded
}

/// Leaves out the middle if there is too much.
fn cut(pieces: Vec<Piece>) -> Vec<Piece> {
    if pieces.len() <= ALL {
        return pieces;
    }
    let (first, rest) = pieces.split_at(FIRST);
    let (middle, last) = rest.split_at(rest.len() - LAST);
    let more = Piece::More(middle.iter().map(Piece::len).sum());
    [first, &[more], last].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    /// Steps are signs; those of one thread are of one case.
    fn check(steps: &str, breaks: Option<usize>, expect: Expect) {
        let steps = steps.as_bytes();
        let together =
            |a: usize, b: usize| steps[a].is_ascii_uppercase() == steps[b].is_ascii_uppercase();
        let pieces = fold(steps.len(), breaks, |a, b| steps[a] == steps[b], together);
        let tell = |piece: &Piece| match piece {
            Piece::Step(idx) => char::from(steps[*idx]).to_string(),
            Piece::Again(block, times) => format!("<{}-{} x{times}>", block.start, block.end),
            Piece::Run(n) => format!("<{n}>"),
            Piece::More(n) => format!("<{n} more>"),
        };
        expect.assert_eq(&pieces.iter().map(tell).collect::<String>());
    }

    /// Signs without a repetition that is worth a line.
    fn various(n: usize, from: u8) -> String {
        let sign = |idx: usize| char::from(from + ((idx * idx + idx / 7) % 26) as u8);
        (0..n).map(sign).collect()
    }

    #[test]
    fn short_executions_stay_as_they_are() {
        check("", None, expect![""]);
        check("aaaaaaaaaaaaaaaaaaaa", None, expect!["aaaaaaaaaaaaaaaaaaaa"]);
    }

    #[test]
    fn repetitions_are_told_once() {
        check(&format!("xy{}z", "aB".repeat(300)), None, expect!["xyaB<2-4 x299>z"]);
        check(&format!("{}z", "a".repeat(5000)), None, expect!["a<0-1 x4999>z"]);
        // The loop is told as such, though it looks like what is before it.
        check(&format!("{}z", "aB".repeat(300)), Some(40), expect!["aB<0-2 x19>aB<40-42 x279>z"]);
    }

    #[test]
    fn runs_of_one_thread_lose_their_middle() {
        let steps = format!("{}{}z", various(300, b'a'), various(200, b'A'));
        check(&steps, None, expect!["abe<294>hedABE<194>TYFz"]);
    }

    #[test]
    fn what_is_still_too_long_is_cut() {
        let mixed: String = various(3000, b'a')
            .chars()
            .zip(various(3000, b'A').chars())
            .flat_map(|(a, b)| [a, b])
            .collect();
        let pieces = fold(mixed.len(), None, |a, b| a == b, |a, b| a % 2 == b % 2);
        assert_eq!(pieces.len(), FIRST + 1 + LAST + 1);
        assert_eq!(pieces[FIRST], Piece::More(6000 - FIRST - LAST - 1));
    }
}
