//! Every hard case once, each in a session whose first prompt names it.
//!
//! Split by theme; each file is a catalogue, one case after another.

use std::io;

use super::book::Book;
use crate::scribe::Scribe;

mod compaction;
mod copy;
mod damage;
mod kinds;
mod shapes;
mod side;
mod speech;
mod subagent;
mod title;
mod tree;

/// Plants everything.
pub fn make(book: &mut Book) -> io::Result<()> {
    tree::plant(book)?;
    compaction::plant(book)?;
    subagent::plant(book)?;
    copy::plant(book)?;
    title::plant(book)?;
    kinds::plant(book)?;
    shapes::plant(book)?;
    speech::plant(book)?;
    damage::plant(book)?;
    side::plant(book)
}

/// A session whose first prompt is the name of its case.
fn case(book: &mut Book, theme: &str, name: &str, version: &str) -> io::Result<Scribe> {
    let mut scribe = untold(book, theme, name, version)?;
    scribe.prompt(&format!("Case: {name}"));
    Ok(scribe)
}

/// A session of a case that begins in its own way.
fn untold(book: &mut Book, theme: &str, name: &str, version: &str) -> io::Result<Scribe> {
    let mut scribe = book.session(name, &format!("/home/ana/hard/{theme}"), version)?;
    // One case per hour, so that the order of sessions is the order planted.
    scribe.now += book.truth.sessions.len() as u64 * 3_600_000;
    scribe.hour_cache = scribe.envelope.since(30);
    Ok(scribe)
}
