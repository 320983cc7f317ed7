//! Nothing: the tests are what this package is for.
