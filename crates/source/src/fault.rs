//! What is wrong with the input: all of it, where it is, and what to do about it.

use crate::Spot;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use std::fmt;

/// One thing that is wrong with a program, or that is not supported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// A stable name: `C001`.
    pub code: &'static str,
    /// What it is: a lower-case fragment without a full stop.
    pub message: String,
    /// What is said beside the place.
    pub label: String,
    /// What to do about it.
    pub help: Option<String>,
    /// Where it is.
    pub spot: Option<Spot>,
    /// The line there, to be shown.
    pub line: Option<String>,
}

impl Fault {
    /// One without a place.
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { code, message, label: String::new(), help: None, spot: None, line: None }
    }

    /// Says something beside the place.
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// Says what to do about it.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The file, the line and the column, if the fault is at a place.
    pub fn place(&self) -> Option<(&str, u32, u32)> {
        self.spot.as_ref().map(|spot| (spot.file.as_str(), spot.line, spot.column))
    }

    /// As compilers show it, in colour or not.
    pub fn render(&self, is_coloured: bool) -> String {
        let title = Level::ERROR.primary_title(self.message.as_str()).id(self.code);
        let mut groups = vec![Group::with_title(title)];
        if let (Some(spot), Some(line)) = (&self.spot, &self.line) {
            let start = (spot.column.max(1) as usize - 1).min(line.len());
            let end = (start + spot.len as usize).clamp(start, line.len());
            let is_cut = !line.is_char_boundary(start) || !line.is_char_boundary(end);
            let range = if is_cut || spot.column == 0 { 0..line.len() } else { start..end };
            let annotation = AnnotationKind::Primary.span(range).label(self.label.as_str());
            let snippet = Snippet::source(line.as_str())
                .path(spot.file.as_str())
                .line_start(spot.line as usize)
                .annotation(annotation);
            let title = Level::ERROR.primary_title(self.message.as_str()).id(self.code);
            groups = vec![Group::with_title(title).element(snippet)];
        } else if let Some(spot) = &self.spot {
            let at = format!("{}:{}: {}", spot.file, spot.line, self.message);
            groups = vec![Group::with_title(Level::ERROR.primary_title(at).id(self.code))];
        }
        if let Some(help) = &self.help {
            groups.push(Group::with_title(Level::HELP.secondary_title(help.as_str())));
        }
        let renderer = if is_coloured { Renderer::styled() } else { Renderer::plain() };
        renderer.render(&groups)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(false))
    }
}

/// Everything that is wrong with a program, in the order of its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Faults(pub Vec<Fault>);

impl Faults {
    /// They, one by one. There is at least one.
    pub fn iter(&self) -> impl Iterator<Item = &Fault> {
        self.0.iter()
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all: Vec<_> = self.0.iter().map(Fault::to_string).collect();
        f.write_str(&all.join("\n\n"))
    }
}

impl std::error::Error for Faults {}
