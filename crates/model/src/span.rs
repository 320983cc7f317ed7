//! Places in the source of a program.

/// A source file of a program, by its number in [`Program::files`](crate::Program::files).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(pub u32);

/// Where something stands in the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// The file.
    pub file: FileId,
    /// The line, from 1; 0 if it is not known.
    pub line: u32,
    /// The column, from 1; 0 if it is not known.
    pub column: u32,
}

impl Span {
    /// Nowhere: what a program was built from has no text.
    pub const NONE: Self = Self { file: FileId(0), line: 0, column: 0 };

    /// Whether there is a place.
    pub fn is_known(self) -> bool {
        self.line > 0
    }
}
