//! Homes made for tests and benchmarks.
//!
//! [`fixture`] writes a fake Claude folder from one readable string,
//! [`corpus`] makes whole homes from a seed and says what it planted in a
//! [`truth::Truth`]. Nothing here reads transcripts: the truth comes from the
//! maker's own books, so that a reader can be held against it.

pub mod base64;
pub mod browser;
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
