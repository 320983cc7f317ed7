//! Pages in a real browser: what a reader sees after the script has run.

mod page;
