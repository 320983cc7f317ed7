//! Line coverage: which lines of a program executions have reached.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The lines of a program that have code, and whether any execution has reached them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineCoverage {
    /// By file, by line from 1.
    files: BTreeMap<String, BTreeMap<u32, bool>>,
}

/// Lines of a file that follow each other, as far as there is code on them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineRange<'a> {
    /// The file.
    pub file: &'a str,
    /// The first line, from 1.
    pub first: u32,
    /// The last line.
    pub last: u32,
}

impl LineCoverage {
    /// There is code on a line, and an execution has reached it or not; one that was reached stays
    /// so.
    pub fn add(&mut self, file: &str, line: u32, is_reached: bool) {
        let lines = match self.files.get_mut(file) {
            Some(lines) => lines,
            None => self.files.entry(file.to_owned()).or_default(),
        };
        *lines.entry(line).or_default() |= is_reached;
    }

    /// Adds the lines of another check, perhaps of the same program.
    pub fn merge(&mut self, other: &Self) {
        for (file, lines) in &other.files {
            lines.iter().for_each(|(&line, &is_reached)| self.add(file, line, is_reached));
        }
    }

    /// The same with other names for the files.
    #[must_use]
    pub fn renamed(&self, mut name: impl FnMut(&str) -> String) -> Self {
        let mut renamed = Self::default();
        for (file, lines) in &self.files {
            let file = name(file);
            lines.iter().for_each(|(&line, &is_reached)| renamed.add(&file, line, is_reached));
        }
        renamed
    }

    /// The files, each with its lines in order.
    pub fn files(&self) -> impl Iterator<Item = (&str, &BTreeMap<u32, bool>)> {
        self.files.iter().map(|(file, lines)| (file.as_str(), lines))
    }

    /// How many lines there are.
    pub fn n_lines(&self) -> usize {
        self.files.values().map(BTreeMap::len).sum()
    }

    /// How many of them were reached.
    pub fn n_reached(&self) -> usize {
        self.files.values().flat_map(BTreeMap::values).filter(|it| **it).count()
    }

    /// The lines that no execution has reached, those between two that were reached together.
    pub fn unreached(&self) -> Vec<LineRange<'_>> {
        let mut ranges: Vec<LineRange<'_>> = Vec::new();
        for (file, lines) in &self.files {
            let mut is_open = false;
            for (&line, &is_reached) in lines {
                match ranges.last_mut().filter(|_| is_open) {
                    Some(range) if !is_reached => range.last = line,
                    None if !is_reached => ranges.push(LineRange { file, first: line, last: line }),
                    _ => {}
                }
                is_open = !is_reached;
            }
        }
        ranges
    }
}

impl std::fmt::Display for LineRange<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.file, self.first)?;
        if self.last > self.first {
            write!(f, "-{}", self.last)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(lines: &LineCoverage) -> String {
        let ranges: Vec<String> = lines.unreached().iter().map(ToString::to_string).collect();
        format!("{} of {}: {}", lines.n_reached(), lines.n_lines(), ranges.join(", "))
    }

    #[test]
    fn ranges_end_where_a_line_was_reached() {
        let mut lines = LineCoverage::default();
        assert_eq!(told(&lines), "0 of 0: ");
        let seen = [(3, true), (4, false), (7, false), (9, true), (12, false)];
        seen.iter().for_each(|&(line, is_reached)| lines.add("a.c", line, is_reached));
        lines.add("b.c", 1, false);
        assert_eq!(told(&lines), "2 of 6: a.c:4-7, a.c:12, b.c:1");
    }

    #[test]
    fn what_was_reached_once_was_reached() {
        let (mut lines, mut others) = (LineCoverage::default(), LineCoverage::default());
        lines.add("a.c", 1, true);
        lines.add("a.c", 1, false);
        lines.add("a.c", 2, false);
        others.add("a.c", 1, false);
        others.add("a.c", 2, true);
        others.add("a.c", 3, false);
        lines.merge(&others);
        assert_eq!(told(&lines), "2 of 3: a.c:3");
        assert_eq!(told(&lines.renamed(|file| format!("src/{file}"))), "2 of 3: src/a.c:3");
    }
}
