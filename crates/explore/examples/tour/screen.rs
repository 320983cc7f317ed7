//! Standard output: words in the margin, text beside them, all within 80 columns.

use std::io::{IsTerminal, Write};

/// Colours, as a terminal understands them.
pub(crate) const RED: &str = "1;31";
pub(crate) const GREEN: &str = "1;32";
pub(crate) const YELLOW: &str = "1;33";
pub(crate) const CYAN: &str = "1;36";
pub(crate) const DIM: &str = "2";

/// Standard output, in colour if it is a terminal and nobody objects.
pub(crate) struct Screen {
    in_colour: bool,
}

impl Screen {
    pub(crate) const WIDTH: usize = 80;
    /// Where the text beside the margin begins.
    const INDENT: usize = 12;

    pub(crate) fn new() -> Self {
        let objection = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Self { in_colour: std::io::stdout().is_terminal() && !objection }
    }

    /// Writes a text. Whoever closes the pipe has seen enough: that is no error.
    pub(crate) fn show(&self, text: &str) {
        let _ = std::io::stdout().write_all(text.as_bytes());
    }

    pub(crate) fn paint(&self, colour: &str, text: &str) -> String {
        match self.in_colour {
            true => format!("\x1b[{colour}m{text}\x1b[0m"),
            false => text.to_owned(),
        }
    }

    /// A word in the margin, a text, and at the right end of its last line an aside.
    pub(crate) fn headline(&self, colour: &str, word: &str, text: &str, aside: &str) {
        let room = Self::WIDTH - Self::INDENT;
        let mut lines = wrap(text, room);
        if !aside.is_empty() {
            let used = lines.last().map_or(0, |line| line.chars().count());
            let left = room.checked_sub(used).filter(|&left| left > aside.chars().count());
            match (left, lines.last_mut()) {
                (Some(left), Some(line)) => line.push_str(&format!("{aside:>left$}")),
                _ => lines.push(format!("{aside:>room$}")),
            }
        }
        let margin = self.paint(colour, &format!("{word:>11}"));
        let indent = " ".repeat(Self::INDENT);
        self.show(&format!("{margin} {}\n", lines.join(&format!("\n{indent}"))));
    }

    /// A text after a word, its further lines below its first one.
    pub(crate) fn paragraph(&self, word: &str, text: &str) {
        let indent = " ".repeat(word.len() + 1);
        let lines = wrap(text, Self::WIDTH - indent.len());
        self.show(&format!("{word} {}\n", lines.join(&format!("\n{indent}"))));
    }
}

/// The words of a text in lines of at most `width` characters, if no word is longer.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().expect("there is a line");
        if line.is_empty() {
            line.push_str(word);
        } else if line.chars().count() + 1 + word.chars().count() <= width {
            line.push_str(&format!(" {word}"));
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

/// So many things, in words.
pub(crate) fn counted(n: u64, what: &str) -> String {
    format!("{} {what}{}", grouped(n), if n == 1 { "" } else { "s" })
}

/// A number with its digits in groups of three.
pub(crate) fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let groups = digits.as_bytes().rchunks(3).rev();
    groups.map(|group| String::from_utf8_lossy(group)).collect::<Vec<_>>().join(" ")
}
