//! Which words are names, and whether all places use a name for the same thing.

use super::{Errors, ScriptError};
use crate::ast::Verb;
use std::collections::BTreeMap;

/// How a name of shared memory is used.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    Variable,
    Array,
    Plain,
}

impl Use {
    fn describe(self) -> &'static str {
        match self {
            Self::Variable => "a shared variable",
            Self::Array => "a shared array",
            Self::Plain => "plain memory",
        }
    }
}

/// How many objects a program may have, array elements included.
pub(super) const MAX_OBJECTS: u64 = 1 << 16;

/// Every name the text uses, and where.
#[derive(Default)]
pub(super) struct Names {
    pub(super) uses: Vec<(String, Use, usize)>,
    pub(super) declared: Vec<(String, usize)>,
    pub(super) array_elements: u64,
    pub(super) threads: Vec<(u64, usize)>,
}

impl Names {
    /// Reports what only the whole text can tell.
    pub(super) fn check(&self, n_threads: usize, errors: &mut Errors) {
        let mut declared = BTreeMap::new();
        for (name, column) in &self.declared {
            if declared.insert(name.as_str(), ()).is_some() {
                errors.push(ScriptError::new(*column, format!("`{name}` is declared twice")));
            }
        }
        let mut first = BTreeMap::new();
        for (name, how, column) in &self.uses {
            let before = *first.entry(name.as_str()).or_insert(*how);
            if before != *how {
                let (how, before) = (how.describe(), before.describe());
                let message = format!("`{name}` is used as {how} here and as {before} before");
                errors.push(ScriptError::new(*column, message));
            } else if *how == Use::Array && !declared.contains_key(name.as_str()) {
                let message =
                    format!("array `{name}` has no length: declare it as `{name}[8] || ...`");
                errors.push(ScriptError::new(*column, message));
            }
        }
        for &(target, column) in &self.threads {
            if target >= n_threads as u64 {
                let message = format!("there is no thread {target}, only {n_threads} of them");
                errors.push(ScriptError::new(column, message));
            }
        }
        if self.array_elements > MAX_OBJECTS {
            let message = format!("all arrays together have at most {MAX_OBJECTS} elements");
            errors.push(ScriptError::new(1, message));
        }
    }
}

/// Whether `word` names a local: an `r`, then digits, or letters and then digits.
///
/// A word without digits, such as `ready`, is shared: taken for a local, a flag between threads
/// would silently be none.
pub(super) fn is_local(word: &str) -> bool {
    let Some(rest) = word.strip_prefix('r') else { return false };
    let digits = rest.trim_start_matches(|c: char| c.is_ascii_lowercase());
    let has_letters = digits.len() < rest.len();
    digits.bytes().all(|byte| byte.is_ascii_digit()) && (!has_letters || !digits.is_empty())
}

/// Whether the language itself uses `word`.
pub(super) fn is_keyword(word: &str) -> bool {
    const KEYWORDS: [&str; 24] = [
        "add", "assert", "await", "cas", "chan", "choose", "count", "else", "fence", "if", "join",
        "plain", "sem", "send", "sleep", "spawn", "swap", "tid", "trysend", "tsleep", "twait",
        "wait", "while", "yield",
    ];
    KEYWORDS.contains(&word) || Verb::ALL.iter().any(|verb| verb.name() == word)
}
