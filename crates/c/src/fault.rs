//! The kinds of faults, by their stable names.

/// The file cannot be read, or is no C.
pub(crate) const FILE: &str = "C001";
/// The preprocessor or the compiler refuses it.
pub(crate) const INVALID: &str = "C002";
/// It is C, and our grammar does not have it.
pub(crate) const SYNTAX: &str = "C003";
/// A construct without a meaning here.
pub(crate) const UNSUPPORTED: &str = "C010";
/// A function without a body.
pub(crate) const NO_BODY: &str = "C014";
/// A variable that is declared and never defined.
pub(crate) const NO_DEFINITION: &str = "C015";
/// No `main`, or one that cannot be started.
pub(crate) const NO_MAIN: &str = "C016";
