//! The real Claude Code, offline: a scripted model server, a home of its own, scenarios as data,
//! and comparisons of what recount says with what happened.
//!
//! The client is installed from npm below `target/` and never committed; nothing of its own texts
//! is in this repository. It runs with a clean environment, its own folders and, where the system
//! permits it, in a network namespace that has the loopback device only.

pub mod compare;
pub mod home;
pub mod install;
pub mod isolate;
pub mod run;
pub mod scenario;
pub mod script;
pub mod server;
pub mod terminal;
pub mod turn;

pub use home::ClientHome;
pub use install::VERSION;
pub use run::{Difference, Report, Setup, run};
pub use script::Scenario;
pub use server::ModelServer;
