//! What the tests of the page share.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use testkit::{Browser, Home, Served, Shape, Spec, Truth, make};

/// The program.
pub fn recount() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_recount"))
}

/// A home of this shape, and what is in it.
pub fn made(shape: Shape, bytes: u64) -> (Home, Truth) {
    let home = Home::new();
    let truth = make(&Spec { seed: 1, shape, bytes }, home.path()).expect("a home");
    (home, truth)
}

/// The id of the session that was made for a case.
pub fn case<'a>(truth: &'a Truth, case: &str) -> &'a str {
    let found = truth.sessions.iter().find(|session| session.case == case);
    &found.unwrap_or_else(|| panic!("no case {case}")).id
}

/// A server on a home.
pub fn serve(home: &Home) -> Served {
    Served::start(recount(), home.path(), &[]).unwrap_or_else(|no| panic!("{no}"))
}

/// A browser as wide as a desk.
pub fn browser() -> Browser {
    let browser = Browser::start(1440, 1000).unwrap_or_else(|no| panic!("{no}"));
    browser.resize(1440, 900);
    browser
}

/// Where pictures are kept.
pub fn screenshot(name: &str) -> PathBuf {
    let built = recount().parent().and_then(Path::parent).expect("below the target folder");
    built.join("screenshots").join(format!("{name}.png"))
}

/// What the server has answered.
#[derive(Debug)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// Its headers as they came.
    pub head: String,
    /// What follows them.
    pub body: String,
}

impl Answer {
    /// A header.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(':'));
        lines.find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
    }
}

/// Sends a request as it is written here, and reads all of the answer.
pub fn send(host: &str, request: &str) -> Answer {
    let mut stream = TcpStream::connect(host).expect("it listens");
    stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a time limit");
    stream.write_all(request.as_bytes()).expect("it takes the request");
    let mut all = Vec::new();
    stream.read_to_end(&mut all).expect("it answers");
    let all = String::from_utf8_lossy(&all);
    let (head, body) = all.split_once("\r\n\r\n").unwrap_or((&all, ""));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    Answer { status, head: head.to_owned(), body: body.to_owned() }
}

/// Asks for a path as a page of the server itself does.
pub fn get(served: &Served, path: &str) -> Answer {
    let host = served.host();
    send(host, &format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"))
}

/// Waits until the store has everything: what is searched for is then found.
pub fn synced(served: &Served, word: &str) {
    let begun = Instant::now();
    while !get(served, &format!("/search?q={word}")).body.contains("class=\"hit\"") {
        assert!(begun.elapsed() < Duration::from_secs(90), "{word} is never found");
        std::thread::sleep(Duration::from_millis(50));
    }
}
