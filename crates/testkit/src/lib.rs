//! Homes made for tests and benchmarks.
//!
//! [`fixture`] writes a fake Claude folder from one readable string,
//! [`corpus`] makes whole homes from a seed and says what it planted in a
//! [`truth::Truth`]. Nothing here reads transcripts: the truth comes from the
//! maker's own books, so that a reader can be held against it.

pub mod base64;
pub mod browser;
pub mod client;
pub mod clock;
pub mod corpus;
pub mod entry;
pub mod fixture;
pub mod json;
pub mod lake;
pub mod model;
pub mod random;
pub mod scribe;
pub mod served;
pub mod tmux;
pub mod truth;

pub use browser::Browser;
pub use corpus::{Shape, Spec, make};
pub use fixture::Home;
pub use served::Served;
pub use tmux::Tmux;
pub use truth::Truth;

/// A test needs something that is not installed: it says so and passes. In CI it fails, since a
/// test that did not run proves nothing.
///
/// # Panics
///
/// With `CI` set.
pub fn not_run(what: &str) {
    let is_ci = std::env::var_os("CI").is_some_and(|value| !value.is_empty());
    assert!(!is_ci, "{what} is not installed: `cargo xtask check` fetches it");
    println!("not run: {what} is not installed; `cargo xtask check` fetches it");
}
