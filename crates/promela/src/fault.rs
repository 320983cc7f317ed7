//! The kinds of faults, by their stable names.

/// The file cannot be read, or is no Promela.
pub(crate) mod code {
    /// The file cannot be read.
    pub(crate) const FILE: &str = "P001";
    /// The preprocessor refuses it.
    pub(crate) const PREPROCESSOR: &str = "P002";
    /// It is no Promela.
    pub(crate) const SYNTAX: &str = "P003";
    /// C within Promela, and other things without a meaning here.
    pub(crate) const UNSUPPORTED: &str = "P010";
    /// A name that is not declared, or declared twice.
    pub(crate) const NAME: &str = "P011";
    /// Something is used in a way that its type does not allow.
    pub(crate) const TYPE: &str = "P012";
    /// A jump or a label in a wrong place.
    pub(crate) const CONTROL: &str = "P013";
    /// A formula of temporal logic that is none.
    pub(crate) const FORMULA: &str = "P014";
    /// No process ever runs.
    pub(crate) const NO_PROCESS: &str = "P015";
}
