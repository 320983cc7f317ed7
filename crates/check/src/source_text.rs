//! The source texts of a program, as they were when it was built or read.
//!
//! A place in a file that has changed since would show a line that has nothing to do with it, so
//! that such files count as missing: the time of the last change decides.

use crate::{Input, Task};
use std::fs;
use std::time::SystemTime;

/// Reads the sources of one program.
#[derive(Clone, Copy, Debug)]
pub struct SourceText {
    /// When the program was made of them; none if it is not known.
    not_after: Option<SystemTime>,
}

impl SourceText {
    /// The text of a file, if it is there and has not changed.
    pub fn read(&self, file: &str) -> Option<String> {
        let changed = fs::metadata(file).and_then(|it| it.modified()).ok()?;
        match changed <= self.not_after? {
            true => fs::read_to_string(file).ok(),
            false => None,
        }
    }
}

impl Task {
    /// The source texts of its program.
    pub fn source_text(&self) -> SourceText {
        let not_after = match &self.input {
            Input::Files { .. } => Some(self.begun),
            // Where it runs is no matter: it is named as seen from here.
            Input::Program { words, .. } => words
                .first()
                .and_then(|program| fs::metadata(program).and_then(|it| it.modified()).ok()),
        };
        SourceText { not_after }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::time::Duration;

    #[test]
    fn a_file_that_has_changed_since_counts_as_missing() {
        let folder = tempfile::tempdir().expect("there is room");
        let path = |name: &str| folder.path().join(name).to_str().expect("it is text").to_owned();
        let (source, program) = (path("a.c"), path("a.out"));
        fs::write(&source, "int main(void) {}\n").expect("there is room");
        fs::write(&program, "").expect("there is room");
        let set = |file: &str, time: SystemTime| {
            let file = File::options().write(true).open(file).expect("it is there");
            file.set_modified(time).expect("it can be set");
        };
        let task = Task::files([&source]);
        let built = Task::program(vec![program.clone().into()]);
        let (before, later) = (task.begun - Duration::from_secs(60), task.begun);
        set(&source, before);
        set(&program, before);
        assert!(task.source_text().read(&source).is_some());
        assert!(built.source_text().read(&source).is_some());
        set(&source, later);
        assert!(task.source_text().read(&source).is_some());
        assert_eq!(built.source_text().read(&source), None, "newer than the program");
        set(&source, later + Duration::from_secs(1));
        assert_eq!(task.source_text().read(&source), None, "changed since it was read");
        assert_eq!(task.source_text().read(&path("b.c")), None);
        fs::remove_file(&program).expect("it is there");
        assert_eq!(built.source_text().read(&source), None, "it is not known when it was built");
    }
}
