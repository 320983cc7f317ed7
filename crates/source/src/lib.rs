//! Source texts of models: where each part of a preprocessed text came from, and what is wrong
//! there.
//!
//! What the front ends have in common. A file is [`read`], preprocessed by a command that is
//! [`run`], and kept as a [`Text`] that knows the lines of the user's files. Whatever is wrong is a
//! [`Fault`], shown the way compilers show it.
//!
//! ```
//! use mazurka_source::Fault;
//!
//! let fault = Fault::new("E001", "`next_ticket` has no definition and no model")
//!     .help("`--extern next_ticket=nondet` lets it return any value");
//! let shown = fault.render(false);
//! assert!(shown.contains("E001") && shown.contains("next_ticket=nondet"));
//! ```

mod diagnostic;
mod fault;
mod file;
mod text;

pub use diagnostic::diagnostics;
pub use fault::{Fault, Faults};
pub use file::{Language, plain_name, read, run};
pub use text::{Sources, Span, Spot, Text};
