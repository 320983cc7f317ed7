//! The table of options, the manual that is made of it, what engines refuse, and estimates. One
//! program for all tests, compiled and linked once.

mod manual;
mod options;
mod shortest;
mod support;
