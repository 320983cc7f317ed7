//! Faults: why there is no verdict; all that is wrong with a task, or with us.

use mazurka_core::Limit;
use mazurka_explore::{OptionError, SavedError};
use mazurka_ltl::ParseError;
use std::fmt;
use std::ops::Range;

/// Whose mistake it is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FaultKind {
    /// The files, the options or what they ask for.
    Input,
    /// The program, as one that is run: it calls what is not there, and may be a model.
    Unlinkable,
    /// Mazurka's.
    Defect,
    /// The files: a part of a search that was split has learnt what the other parts do not know.
    Void,
    /// Neither's: a limit was reached before anything could be told.
    Limit(Limit),
}

/// One reason why there is no verdict.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Fault {
    /// Whose mistake it is.
    pub kind: FaultKind,
    /// What is wrong, as a fragment without a full stop.
    pub message: String,
    /// What to do instead.
    pub help: Option<String>,
    /// The place in the source, if it is in a file of the user that a front end has read.
    pub source: Option<Box<mazurka_source::Fault>>,
}

/// All that is wrong.
pub type Faults = Vec<Fault>;

impl Fault {
    /// The user is wrong.
    pub fn input(message: impl Into<String>) -> Self {
        Self { kind: FaultKind::Input, message: message.into(), help: None, source: None }
    }

    /// The program cannot be linked.
    pub(crate) fn unlinkable(message: impl Into<String>) -> Self {
        Self { kind: FaultKind::Unlinkable, ..Self::input(message) }
    }

    /// We are wrong.
    pub fn defect(message: impl Into<String>) -> Self {
        Self { kind: FaultKind::Defect, ..Self::input(message) }
    }

    /// A part of a search has learnt what the other parts do not know.
    pub(crate) fn void() -> Self {
        Self { kind: FaultKind::Void, ..Self::input(SavedError::Void.to_string()) }
    }

    /// A limit was faster than whatever could have told how far the search is.
    pub fn limit(limit: Limit, message: impl Into<String>) -> Self {
        Self { kind: FaultKind::Limit(limit), ..Self::input(message) }
    }

    /// With what to do instead.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// What is wrong with a part of a text: the caret is under it.
    pub fn marked(text: &str, part: Range<usize>, message: &str) -> Self {
        let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let before = text[..part.start].chars().count();
        let len = text.get(part).map_or(1, |it| it.chars().count());
        let (space, carets) = (" ".repeat(before), "^".repeat(len.max(1)));
        Self::input(format!("{message}\n  | {line}\n  | {space}{carets}"))
    }

    /// What is wrong with a formula, and where.
    pub fn formula(text: &str, error: &ParseError) -> Self {
        let ParseError { expected, found, offset, len, help } = error;
        let help =
            help.as_ref().map_or(String::new(), |it| format!("; `{it}` is what may be meant"));
        let message = format!("expected {expected}, found {found}{help}");
        Self::marked(text, *offset..offset + len, &message)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        self.help.iter().try_for_each(|help| write!(f, " ({help})"))
    }
}

impl std::error::Error for Fault {}

impl From<OptionError> for Fault {
    fn from(error: OptionError) -> Self {
        Self::input(error.to_string())
    }
}

impl From<mazurka_statespace::OptionsError> for Fault {
    fn from(error: mazurka_statespace::OptionsError) -> Self {
        Self::input(error.to_string())
    }
}

impl From<mazurka_source::Fault> for Fault {
    fn from(fault: mazurka_source::Fault) -> Self {
        Self { source: Some(Box::new(fault.clone())), ..Self::input(fault.message) }
    }
}

impl From<Fault> for Faults {
    fn from(fault: Fault) -> Self {
        vec![fault]
    }
}

/// What a front end says of its files.
pub(crate) fn of_source(faults: mazurka_source::Faults) -> Faults {
    faults.0.into_iter().map(Fault::from).collect()
}

/// All of them, or all that is wrong.
pub(crate) fn all_or_faults<T>(
    all: impl IntoIterator<Item = Result<T, Faults>>,
) -> Result<Vec<T>, Faults> {
    let (mut fine, mut wrong) = (Vec::new(), Vec::new());
    for one in all {
        match one {
            Ok(one) => fine.push(one),
            Err(faults) => wrong.extend(faults),
        }
    }
    if wrong.is_empty() { Ok(fine) } else { Err(wrong) }
}
