//! The source texts of the program that was checked, for the forms that show them.
//!
//! This crate reads nothing: the caller says how a file is read, and that a file is missing, or has
//! changed since, is its business. Each file is asked for once.

use mazurka_core::Location;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// Reads a file; none if it is not there, or not what the program was made of.
type Read = Box<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// The source texts of a program. By default there are none.
#[derive(Clone, Default)]
pub struct Sources {
    inner: Option<Arc<Inner>>,
}

struct Inner {
    read: Read,
    files: Mutex<BTreeMap<String, Option<Arc<str>>>>,
}

impl Sources {
    /// Files that are read in this way.
    pub fn new(read: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Self {
        let inner = Inner { read: Box::new(read), files: Mutex::default() };
        Self { inner: Some(Arc::new(inner)) }
    }

    /// The text of a file.
    pub(crate) fn text(&self, file: &str) -> Option<Arc<str>> {
        let inner = self.inner.as_ref()?;
        let mut files = inner.files.lock().unwrap_or_else(PoisonError::into_inner);
        if !files.contains_key(file) {
            files.insert(file.to_owned(), (inner.read)(file).map(Arc::from));
        }
        files.get(file).cloned().flatten()
    }

    /// The line of a place, in two parts: what comes before its column, and what begins there.
    /// Blanks at both ends are dropped; none if there is no such line, or nothing on it.
    pub(crate) fn line(&self, place: &Location) -> Option<(String, String)> {
        let text = self.text(&place.file)?;
        let line = text.lines().nth((place.line as usize).checked_sub(1)?)?;
        let column = (place.column as usize).saturating_sub(1);
        // A column that is not one of this line says nothing.
        let (before, behind) = line.split_at_checked(column).unwrap_or(("", line));
        let (before, behind) = match before.trim().is_empty() {
            true => ("", line.trim()),
            false => (before.trim_start(), behind.trim_end()),
        };
        let is_empty = before.is_empty() && behind.is_empty();
        (!is_empty).then(|| (before.to_owned(), behind.to_owned()))
    }
}

impl fmt::Debug for Sources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sources").field("is_known", &self.inner.is_some()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn place(file: &str, line: u32, column: u32) -> Location {
        let file = file.to_owned();
        Location { file, line, column, function: None, within: None, is_library: false }
    }

    #[test]
    fn a_line_is_found_by_its_place_and_each_file_is_read_once() {
        static READ: AtomicUsize = AtomicUsize::new(0);
        let sources = Sources::new(|file| {
            READ.fetch_add(1, Ordering::Relaxed);
            (file == "a.c").then(|| "int x;\n\n\tif (é) x = 1; \n".to_owned())
        });
        let line = |file: &str, line: u32, column: u32| {
            let parts = sources.line(&place(file, line, column));
            parts.map(|(before, behind)| format!("{before}|{behind}"))
        };
        assert_eq!(line("a.c", 1, 5).as_deref(), Some("int |x;"));
        assert_eq!(line("a.c", 1, 0).as_deref(), Some("|int x;"));
        assert_eq!(line("a.c", 3, 2).as_deref(), Some("|if (é) x = 1;"));
        assert_eq!(line("a.c", 3, 10).as_deref(), Some("if (é) |x = 1;"));
        assert_eq!(line("a.c", 3, 7).as_deref(), Some("|if (é) x = 1;"), "within a letter");
        assert_eq!(line("a.c", 1, 99).as_deref(), Some("|int x;"), "behind the line");
        assert_eq!(line("a.c", 2, 1), None, "a line without text");
        assert_eq!(line("a.c", 4, 1), None, "no such line");
        assert_eq!(line("a.c", 0, 1), None, "no line");
        assert_eq!(line("b.c", 1, 1), None, "no such file");
        assert_eq!(line("b.c", 2, 1), None);
        assert_eq!(READ.load(Ordering::Relaxed), 2, "each file once");
        assert_eq!(Sources::default().line(&place("a.c", 1, 1)), None);
    }
}
