//! What several tests have in common: the tests are what this package is for.

pub mod mutexes;
