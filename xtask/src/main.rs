//! Checks, benchmarks, corpora and docs.
fn main() {}
