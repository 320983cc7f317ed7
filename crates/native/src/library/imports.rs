//! What a program imports of libraries that were compiled without the instrumentation.
