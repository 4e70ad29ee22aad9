//! The server asked by hand: who may ask, for what, and how long that may take.

use std::io::Write;
use std::net::TcpStream;
use std::process::Command;
use std::time::{Duration, Instant};

use testkit::{Served, Shape};

use super::kit::{get, made, recount, send, serve};

fn with(served: &Served, method: &str, path: &str, headers: &[(&str, &str)]) -> u16 {
    let mut request = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
    for (name, value) in headers {
        request += &format!("{name}: {value}\r\n");
    }
    let answer = send(served.host(), &(request + "\r\n"));
    assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{path}");
    answer.status
}

#[test]
fn only_its_own_pages_may_ask_and_nothing_can_be_changed() {
    let (home, _) = made(Shape::Demo, 0);
    let served = serve(&home);
    let host = served.host();
    let own = format!("http://{host}");
    assert_eq!(with(&served, "GET", "/", &[("Host", host)]), 200);
    assert_eq!(with(&served, "GET", "/", &[("Host", host), ("Origin", &own)]), 200);
    for headers in [
        vec![("Host", "evil.example")],
        vec![("Host", "evil.example:80")],
        vec![("Host", "127.0.0.1")],
        vec![("Host", host), ("Origin", "http://evil.example")],
        vec![("Host", host), ("Origin", "null")],
        vec![("Host", host), ("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "cors")],
    ] {
        for path in ["/", "/live", "/api/v1/list", "/assets/main.js", "/nowhere"] {
            assert_eq!(with(&served, "GET", path, &headers), 403, "{path} {headers:?}");
        }
    }
    for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"] {
        let headers = [("Host", host), ("Content-Length", "0")];
        assert_eq!(with(&served, method, "/", &headers), 403, "{method}");
        assert_eq!(with(&served, method, "/api/v1/list", &headers), 403, "{method}");
    }
    let long = format!("/search?q={}", "q".repeat(9000));
    assert_eq!(with(&served, "GET", &long, &[("Host", host)]), 400);
}

#[test]
fn no_path_leads_out_and_every_answer_says_what_it_may_do() {
    let (home, truth) = made(Shape::Demo, 0);
    home.write("secret.txt", "root:outside\n");
    home.write("projects/secret.jsonl.txt", "root:outside\n");
    let served = serve(&home);
    let id = &truth.sessions[0].id;
    let missing = [
        "/s/..%2f..%2fsecret.txt".to_owned(),
        "/s/..%2fsecret".into(),
        "/s/%2e%2e".into(),
        "/s/../../secret.txt".into(),
        "/s/x".into(),
        "/s/x/raw/1".into(),
        "/s/x/facts".into(),
        "/s/..%2f..%2fsecret.txt/raw/1".into(),
        format!("/s/{id}/raw/99999999"),
        format!("/s/{id}/raw/-1"),
        format!("/s/{id}/raw/..%2f..%2fsecret.txt"),
        format!("/s/{id}/media/1/0"),
        format!("/s/{id}/media/1/99999999999999999999"),
        format!("/s/{id}/piece/99999"),
        format!("/s/{id}/a/..%2f..%2f..%2fsecret"),
        format!("/s/{id}/inside/..%2f..%2f..%2fsecret"),
        format!("/s/{id}/raw/1?agent=..%2f..%2fsecret"),
        format!("/s/{id}?branch=99"),
        "/assets/".into(),
        "/assets/../secret.txt".into(),
        "/assets/..%2f..%2fsecret.txt".into(),
        "/assets/page.css/..%2fsecret".into(),
        "//secret.txt".into(),
        "/%2e%2e/secret.txt".into(),
        "/api/v1/".into(),
        "/api/v1/restore".into(),
        "/api/v1/export".into(),
        "/api/v1/serve".into(),
        "/api/v1/show/..%2f..%2fsecret".into(),
        "/api/v1/show/-h".into(),
        "/api/v1/list?claude-dir=/".into(),
        "/api/v1/list?store=/".into(),
        "/api/v1/usage?prices=/etc/passwd".into(),
        "/api/v1/../../secret.txt".into(),
    ];
    for path in missing {
        let answer = get(&served, &path);
        assert!(matches!(answer.status, 400 | 404), "{path}: {}", answer.head);
        assert!(!is_outside(&answer.body), "{path}: {}", answer.body);
        headers(&path, &answer.head);
    }
    let there = [
        "/",
        "/p/..%2f..",
        "/p/%2fetc",
        "/file?path=../../secret.txt",
        "/file?path=/etc/passwd",
        "/file?path=%00",
        "/errors?session=..%2f..%2fsecret",
        "/journal?project=/etc",
        "/search?q=%00%ff",
        "/assets/page.css",
        "/api/v1/file?path=/etc/passwd",
    ];
    for path in there {
        let answer = get(&served, path);
        assert!(answer.status < 500, "{path}: {} {}", answer.head, answer.body);
        assert!(!is_outside(&answer.body), "{path}: {}", answer.body);
        headers(path, &answer.head);
    }
}

/// Whether something is told of a file that is not Claude Code's.
fn is_outside(body: &str) -> bool {
    body.contains("root:outside") || body.contains("root:x:0")
}

/// What every answer has to say.
fn headers(path: &str, head: &str) {
    let head = head.to_lowercase();
    for wanted in [
        "content-security-policy: default-src 'none'",
        "x-content-type-options: nosniff",
        "referrer-policy: no-referrer",
        "cache-control: no-store",
        "cross-origin-resource-policy: same-origin",
    ] {
        assert!(head.contains(wanted), "{path}: {wanted} is not in {head}");
    }
    assert!(!head.contains("unsafe-"), "{path}: {head}");
}

#[test]
fn who_is_slow_keeps_nobody_else_waiting() {
    let (home, truth) = made(Shape::Demo, 0);
    let served = serve(&home);
    let host = served.host();
    let id = &truth.sessions[0].id;
    get(&served, "/");
    // Some send half a request, some never read what they asked for.
    let begin = |text: String| {
        let mut stream = TcpStream::connect(host).expect("it listens");
        stream.write_all(text.as_bytes()).expect("it takes the request");
        stream
    };
    let half = (0..40).map(|_| begin(format!("GET / HTTP/1.1\r\nHost: {host}\r\n")));
    let mut slow: Vec<TcpStream> = half.collect();
    slow.extend((0..40).map(|_| {
        let one = format!("GET /s/{id} HTTP/1.1\r\nHost: {host}\r\n\r\n");
        begin(one.repeat(50))
    }));
    slow.extend((0..20).map(|_| begin(format!("GET /live HTTP/1.1\r\nHost: {host}\r\n\r\n"))));
    let begun = Instant::now();
    for path in ["/", "/errors", "/assets/main.js"] {
        assert_eq!(get(&served, path).status, 200);
    }
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    assert_eq!(slow.len(), 100);
}

#[test]
fn the_page_says_in_json_what_the_commands_say() {
    let (home, truth) = made(Shape::Demo, 0);
    let served = serve(&home);
    let folder = tempfile::tempdir().expect("a folder");
    let id = &truth.sessions[0].id;
    let show = (format!("show/{id}?detail=5"), format!("show {id} --detail 5"));
    let project = "/home/mara/code/drizzle";
    let of_project =
        (format!("list?project={project}&limit=2"), format!("list --project {project} --limit 2"));
    for (question, command) in [
        ("list".to_owned(), "list".to_owned()),
        of_project,
        ("errors".into(), "errors".into()),
        ("usage/daily".into(), "usage daily".into()),
        ("tools".into(), "tools".into()),
        show,
    ] {
        let said = Command::new(recount())
            .args(command.split(' '))
            .args(["--json", "--no-pager", "--claude-dir"])
            .arg(home.path())
            .arg("--store")
            .arg(folder.path().join("store"))
            .env_clear()
            .env("HOME", folder.path())
            .env("TZ", "UTC")
            .output()
            .expect("it runs");
        let said = String::from_utf8(said.stdout).expect("UTF-8");
        let answer = get(&served, &format!("/api/v1/{question}"));
        assert_eq!(answer.status, 200, "{question}: {}", answer.body);
        assert!(said.lines().count() > 0, "{command}");
        assert_eq!(answer.body, said, "{question}");
    }
}
