//! Any bytes make a session with one state per node, and a file that grew gives the same session
//! as one that was whole from the start.
//!
//! The first two bytes of the input say where the file is cut.
#![no_main]

use libfuzzer_sys::fuzz_target;
use transcript::session::{Builder, Options, Session};

fuzz_target!(|input: &[u8]| {
    let [a, b, file @ ..] = input else { return };
    let cut = usize::from(u16::from_be_bytes([*a, *b])) % (file.len() + 1);
    let whole = read(&[file]);
    let shape = Shape::of(&whole);
    assert_eq!(shape, Shape::of(&read(&[&file[..cut], file])), "cut at {cut}");
    let newline = file[..cut].iter().rposition(|&b| b == b'\n').map_or(0, |at| at + 1);
    assert_eq!(shape, Shape::of(&read(&[&file[..newline], file])), "cut after line at {newline}");
});

/// Reads the states of one growing file, each from where the one before stopped.
fn read(states: &[&[u8]]) -> Session {
    let mut builder = Builder::new();
    for file in states {
        let from = usize::try_from(builder.consumed()).expect("fits in memory");
        assert!(from <= file.len(), "consumed more than there is");
        builder.read(&file[from..]).expect("memory can be read");
    }
    builder.finish(&Options::default())
}

/// What must not depend on how the file was read.
#[derive(Debug, PartialEq)]
struct Shape {
    nodes: Vec<String>,
    turns: String,
    segments: String,
    branches: String,
    calls: String,
    title: String,
    leaf: Option<usize>,
}

impl Shape {
    fn of(session: &Session) -> Self {
        let node = |(i, node)| {
            let places = (session.state(i), session.parent(i), session.segment_of(i));
            let parts = (session.turn_of(i), session.branch_of(i));
            format!("{node:?} {places:?} {parts:?}")
        };
        Self {
            nodes: session.nodes().iter().enumerate().map(node).collect(),
            turns: format!("{:?}", session.turns()),
            segments: format!("{:?}", session.segments()),
            branches: format!("{:?} {:?}", session.branches(), session.forks()),
            calls: format!("{:?} {:?}", session.calls(), session.errors()),
            title: format!("{:?} {:?}", session.title(), session.ending()),
            leaf: session.leaf(),
        }
    }
}
