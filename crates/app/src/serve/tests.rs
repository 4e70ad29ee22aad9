//! A server that can be reached from elsewhere, asked over a real connection.
//!
//! It listens on this computer only, with the guard of one that does not.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use super::{Desk, Guard, listen, serve};

const TOKEN: &str = "a-word-nobody-guesses";

/// A server with an empty home, until the program ends.
fn served(folder: &std::path::Path) -> SocketAddr {
    let desk = Arc::new(Desk::new(vec![folder.join("home")], folder.join("store"), None));
    std::fs::create_dir(folder.join("home")).expect("a home");
    let elsewhere = "192.0.2.7:4000".parse().expect("an address");
    let guard = Guard::of(elsewhere, || Ok(TOKEN.into())).expect("a guard");
    let (tell, told) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
        runtime.expect("a runtime").block_on(async {
            let listener = listen((Ipv4Addr::LOCALHOST, 0).into()).await.expect("a free port");
            tell.send(listener.local_addr().expect("an address")).expect("somebody waits");
            serve(desk, guard, listener).await.expect("it serves");
        });
    });
    told.recv().expect("it listens")
}

/// The status and the headers of an answer.
fn ask(at: SocketAddr, method: &str, path: &str, headers: &[&str]) -> (u16, String) {
    let mut stream = TcpStream::connect(at).expect("it listens");
    stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a time limit");
    let mut request = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
    headers.iter().for_each(|header| request += &format!("{header}\r\n"));
    // Who is refused early may not take all of it.
    let _ = stream.write_all((request + "\r\n").as_bytes());
    let mut all = Vec::new();
    let _ = stream.read_to_end(&mut all);
    let all = String::from_utf8_lossy(&all).into_owned();
    let status = all.split(' ').nth(1).and_then(|status| status.parse().ok());
    (status.unwrap_or(0), all)
}

#[test]
fn from_elsewhere_nothing_is_told_without_the_token() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = served(folder.path());
    let host = "Host: box.lan:4000";
    let paths = [
        "/",
        "/live",
        "/usage",
        "/s/x",
        "/api/v1/list",
        "/assets/main.js",
        "/s/x/export/session.html",
    ];
    let get = |path: &str, more: &[&str]| ask(at, "GET", path, &[&[host], more].concat());
    for path in paths {
        for more in [
            vec![],
            vec!["Cookie: recount-token=a-word-nobody-guesse"],
            vec!["Cookie: token=a-word-nobody-guesses"],
            vec!["Authorization: Bearer a-word-nobody-guesses"],
        ] {
            let (status, text) = get(path, &more);
            assert_eq!(status, 403, "{path} {more:?}");
            assert!(!text.to_lowercase().contains("set-cookie"), "{text}");
            assert!(!text.contains(TOKEN), "{text}");
        }
        assert_eq!(get(&format!("{path}?token=A-WORD-NOBODY-GUESSES"), &[]).0, 403, "{path}");
    }
    let (status, text) = get(&format!("/?token={TOKEN}"), &[]);
    assert_eq!(status, 200, "{text}");
    let cookie = format!("recount-token={TOKEN}; HttpOnly; SameSite=Strict; Path=/");
    assert!(text.contains(&cookie), "{text}");
    let known = format!("Cookie: a=b; recount-token={TOKEN}");
    for (path, status) in [("/", 200), ("/assets/main.js", 200), ("/api/v1/list", 200)] {
        assert_eq!(get(path, &[&known]).0, status, "{path}");
    }
    // Who knows it can still change nothing, come from nowhere else, and get nowhere else.
    for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"] {
        assert_eq!(ask(at, method, "/", &[host, &known, "Content-Length: 0"]).0, 403, "{method}");
    }
    assert_eq!(get("/", &[&known, "Origin: http://evil.example"]).0, 403);
    assert_eq!(get("/", &[&known, "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: cors"]).0, 403);
    for path in ["/s/..%2f..%2fstore", "/assets/..%2f..%2fetc%2fpasswd", "/../../etc/passwd"] {
        assert_eq!(get(path, &[&known]).0, 404, "{path}");
    }
    assert_eq!(get(&format!("/search?q={}", "q".repeat(9000)), &[&known]).0, 400);
}

#[test]
fn what_is_far_too_long_is_refused_and_the_next_is_answered() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = served(folder.path());
    let known = format!("Cookie: recount-token={TOKEN}");
    let long = "q".repeat(2 << 20);
    let path = format!("/s/{long}");
    let query = format!("/search?q={long}");
    let header = format!("X-Long: {long}");
    let many: Vec<String> = (0..5000).map(|n| format!("X-{n}: {n}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).chain(["Host: x", &known]).collect();
    for (what, (status, _)) in [
        ("path", ask(at, "GET", &path, &["Host: x", &known])),
        ("query", ask(at, "GET", &query, &["Host: x", &known])),
        ("header", ask(at, "GET", "/", &["Host: x", &known, &header])),
        ("headers", ask(at, "GET", "/", &many)),
        ("method", ask(at, &long, "/", &["Host: x", &known])),
    ] {
        // A connection that is closed while it still talks has no answer.
        assert!(status == 0 || (400..500).contains(&status), "{what}: {status}");
        assert_eq!(ask(at, "GET", "/", &["Host: x", &known]).0, 200, "after {what}");
    }
}
