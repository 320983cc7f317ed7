//! How much the tests try, and which tools of others they find.
//!
//! Tests that make programs of seeds, or go through many files, ask here how many. The environment
//! says it, for all of them at once:
//!
//! | variable | meaning |
//! |---|---|
//! | `MAZURKA_EFFORT=quick` | a fifth of everything; so it is if nothing is said |
//! | `MAZURKA_EFFORT=full` | everything: what has to pass before a change is accepted |
//! | `MAZURKA_EFFORT=N` | `N` times as many seeds, for a night; `0.5` is half of them |
//! | `MAZURKA_SEEDS=17`, `MAZURKA_SEEDS=0..900` | these seeds, to see one again or to look far away |
//!
//! A test that needs a program which is not installed says so by [`has_tool`] and is left out; the
//! line goes to the file that `MAZURKA_SKIPPED` names. Where `CI` is set, it fails instead: there,
//! nothing is left out.

use std::env;
use std::fs::File;
use std::io::Write as _;
use std::ops::Range;
use std::process::{Command, Stdio};

/// The share of everything that is tried quickly.
const QUICK: f64 = 0.2;
/// Ranges do not get shorter than this by being scaled.
const FEWEST: u64 = 8;

/// The seeds to try, of those that are tried by full effort.
///
/// # Panics
///
/// If a variable in the environment is none of what is described above.
pub fn seeds(full: Range<u64>) -> Range<u64> {
    match chosen() {
        Some(seeds) => seeds,
        None => scaled(full, factor()),
    }
}

/// What must be exceeded by what exceeds `full` if everything is tried: a test that counts how many
/// of its programs are worth the while goes on doing so. Of a few programs few may be, by chance;
/// and nothing is known of seeds that were chosen by hand.
pub fn share<N: TryInto<u64> + TryFrom<u64>>(full: N) -> N {
    let full = full.try_into().ok().expect("there are not fewer than none");
    let share = if chosen().is_some() { 0 } else { expected(full, factor()) };
    share.try_into().ok().expect("it is hardly more than everything")
}

/// Whether exactly that is tried which full effort means, so that counts are known.
pub fn is_full() -> bool {
    factor() == 1.0 && chosen().is_none()
}

/// The things to try, of all that there are: all of them by full effort, else some, from everywhere
/// in the list, and always the first one.
pub fn sample<T>(all: impl IntoIterator<Item = T>) -> Vec<T> {
    let every = match factor() {
        factor if factor >= 1.0 => 1,
        factor => (1.0 / factor) as usize,
    };
    all.into_iter().step_by(every).collect()
}

/// Whether a program of others is installed, which a test cannot do without.
///
/// # Panics
///
/// If it is not, and `CI` is set: nothing is left out there.
pub fn has_tool(name: &str) -> bool {
    let mut command = Command::new(name);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // Whatever it makes of this, it is there.
    if command.arg("--version").status().is_ok() {
        return true;
    }
    let thread = std::thread::current();
    let line = format!("{name}: {} is left out", thread.name().unwrap_or("a test"));
    assert!(!is_set("CI"), "{line}, and nothing may be left out where `CI` is set");
    if let Some(path) = env::var_os("MAZURKA_SKIPPED") {
        let file = File::options().create(true).append(true).open(path);
        // Lines of this length arrive in one piece.
        let written = file.and_then(|mut file| file.write_all(format!("{line}\n").as_bytes()));
        written.expect("the file for what is left out can be written");
    }
    false
}

fn is_set(variable: &str) -> bool {
    env::var_os(variable).is_some_and(|value| !value.is_empty())
}

/// The seeds that `MAZURKA_SEEDS` names.
fn chosen() -> Option<Range<u64>> {
    let text = env::var("MAZURKA_SEEDS").ok().filter(|text| !text.is_empty())?;
    Some(parse_seeds(&text).expect("`MAZURKA_SEEDS` is a number or FIRST..LAST"))
}

/// How much is tried, in terms of everything.
fn factor() -> f64 {
    let text = env::var("MAZURKA_EFFORT").unwrap_or_default();
    parse_effort(&text).expect("`MAZURKA_EFFORT` is `quick`, `full` or a number above 0")
}

fn parse_effort(text: &str) -> Option<f64> {
    match text {
        "" | "quick" => Some(QUICK),
        "full" => Some(1.0),
        _ => text.parse().ok().filter(|&factor: &f64| factor > 0.0 && factor.is_finite()),
    }
}

fn parse_seeds(text: &str) -> Option<Range<u64>> {
    match text.split_once("..") {
        Some((first, last)) => Some(first.parse().ok()?..last.parse().ok()?),
        None => text.parse().ok().and_then(|seed: u64| Some(seed..seed.checked_add(1)?)),
    }
}

/// Half of what is to be expected of a part, and not if that is next to nothing.
fn expected(full: u64, factor: f64) -> u64 {
    const CHANCE: u64 = 4;
    let part = (full as f64 * factor) as u64;
    if factor < 1.0 { (part / 2).saturating_sub(CHANCE) } else { part }
}

fn scaled(full: Range<u64>, factor: f64) -> Range<u64> {
    let n_full = full.end - full.start;
    let n = ((n_full as f64 * factor) as u64).max(n_full.min(FEWEST));
    full.start..full.start + n
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_scaled_but_not_to_nothing() {
        assert_eq!(scaled(0..1000, QUICK), 0..200);
        assert_eq!(scaled(500..1000, 1.0), 500..1000);
        assert_eq!(scaled(500..1000, 20.0), 500..10_500);
        assert_eq!(scaled(3..13, QUICK), 3..11);
        assert_eq!(scaled(0..4, QUICK), 0..4);
    }

    #[test]
    fn of_a_few_programs_few_may_be_worth_the_while() {
        assert_eq!(expected(1000, 1.0), 1000);
        assert_eq!(expected(1000, 3.0), 3000);
        assert_eq!(expected(1000, QUICK), 96);
        assert_eq!(expected(30, QUICK), 0);
    }

    #[test]
    fn effort_and_seeds_are_words_or_numbers() {
        assert_eq!(parse_effort(""), Some(QUICK));
        assert_eq!(parse_effort("quick"), Some(QUICK));
        assert_eq!(parse_effort("full"), Some(1.0));
        assert_eq!(parse_effort("20"), Some(20.0));
        assert_eq!(parse_effort("0.5"), Some(0.5));
        for wrong in ["0", "-1", "much", "inf", "NaN"] {
            assert_eq!(parse_effort(wrong), None, "{wrong}");
        }
        assert_eq!(parse_seeds("17"), Some(17..18));
        assert_eq!(parse_seeds("0..900"), Some(0..900));
        assert_eq!(parse_seeds("all"), None);
    }

    #[test]
    fn a_tool_that_is_there_is_found() {
        assert!(has_tool("cargo"));
    }
}
