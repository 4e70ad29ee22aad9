//! The page in a real Chromium, and the server behind it asked by hand.
//!
//! Each test has a home, a store, a server and a browser of its own. Pictures of what a person
//! sees go to `target/screenshots`.

mod anatomy;
mod contrast;
mod exported;
mod hostile;
mod huge;
mod kit;
mod live;
mod modules;
mod redacted;
mod safety;
mod server;
mod walk;
