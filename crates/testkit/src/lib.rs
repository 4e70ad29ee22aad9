//! Homes made for tests and benchmarks.
