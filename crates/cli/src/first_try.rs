//! What to try next, for a reader of the README who has just tried its first command in a checkout.

use std::path::Path;

/// The program of the first command.
const FIRST: &str = "examples/bank.c";

/// The other two doors, with projects of the same folder.
const NEXT: &str = "\
Next: cargo run --release -- test --manifest-path examples/queue/Cargo.toml
      cargo run --release -- check examples/alternating_bit.pml
";

/// The lines, if that program was checked, by `cargo run`, and the projects are there.
pub(crate) fn next(program: &str) -> Option<&'static str> {
    let is_by_cargo = std::env::var("CARGO_PKG_NAME").is_ok_and(|it| it == env!("CARGO_PKG_NAME"));
    let is_here = || Path::new("examples/queue/Cargo.toml").exists();
    (program == FIRST && is_by_cargo && is_here()).then_some(NEXT)
}
