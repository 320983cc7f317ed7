//! The numbers printed in the papers' figures and tables, one file for each paper.

mod popl2005;
#[path = "../support/mod.rs"]
mod support;
