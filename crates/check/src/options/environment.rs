//! Environment variables that are almost those of options: a letter that is missing, and the option
//! is not set.

use super::TABLE;

/// What the names of our variables begin with.
const PREFIX: &str = "MAZURKA_";
/// Variables of ours that set no option, and are close to one that does.
const OTHERS: [&str; 1] = ["MAZURKA_SEEDS"];
/// So many letters may be wrong.
const MOST: usize = 2;

/// The variables among these that no option has, each with that of an option that may be meant.
pub fn misspelt(names: impl IntoIterator<Item = String>) -> Vec<(String, String)> {
    let known: Vec<String> = TABLE.iter().map(super::Row::variable).collect();
    let meant = |name: &String| {
        let distances = known.iter().map(|it| (distance(name, it), it));
        distances.min().filter(|(wrong, _)| *wrong <= MOST).map(|(_, it)| it.clone())
    };
    let is_unknown = |name: &String| {
        name.starts_with(PREFIX) && !known.contains(name) && !OTHERS.contains(&name.as_str())
    };
    let unknown = names.into_iter().filter(is_unknown);
    unknown.filter_map(|name| meant(&name).map(|it| (name, it))).collect()
}

/// How many letters have to be added, removed or changed to make one text of another.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (idx, letter) in one.chars().enumerate() {
        let mut before = std::mem::replace(&mut row[0], idx + 1);
        for (at, &wanted) in other.iter().enumerate() {
            let changed = before + usize::from(letter != wanted);
            before = row[at + 1];
            row[at + 1] = changed.min(row[at] + 1).min(before + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_that_are_almost_right_are_told() {
        let names = ["MAZURKA_JBOS", "MAZURKA_JOBS", "MAZURKA_SEEDS", "MAZURKA_NATIVE", "JBOS"];
        let told = misspelt(names.map(str::to_owned));
        assert_eq!(told, [("MAZURKA_JBOS".to_owned(), "MAZURKA_JOBS".to_owned())]);
    }

    #[test]
    fn distances() {
        for (one, other, expected) in [("", "abc", 3), ("abc", "abc", 0), ("jbos", "jobs", 2)] {
            assert_eq!(distance(one, other), expected);
            assert_eq!(distance(other, one), expected);
        }
    }
}
