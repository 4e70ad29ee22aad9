//! What is written to a session appears on its open page.

use std::time::{SystemTime, UNIX_EPOCH};

use testkit::{Browser, Home};

use super::kit::{browser, serve};

const SESSION: &str = "0aaaaaaa-0000-4000-8000-000000000001";
/// So late is a fault on any machine; the target of 150 ms is for one that does nothing else.
const LATE: f64 = 1500.0;
const APPENDS: usize = 9;

fn path() -> String {
    format!("projects/-w/{SESSION}.jsonl")
}

/// An entry as Claude Code writes it: a prompt, or an answer.
fn entry(number: usize, kind: &str, text: &str) -> String {
    let parent = match number {
        0 => "null".into(),
        _ => format!("\"0aaaaaaa-0000-4000-9000-{:012}\"", number - 1),
    };
    let uuid = format!("0aaaaaaa-0000-4000-9000-{number:012}");
    let time = format!("2026-04-20T10:{:02}:{:02}.000Z", number / 60, number % 60);
    let message = match kind {
        "user" => format!(r#"{{"role":"user","content":"{text}"}}"#),
        _ => format!(
            r#"{{"id":"msg_{number}","type":"message","role":"assistant","model":"claude-opus-4-5-20251101","content":[{{"type":"text","text":"{text}"}}],"stop_reason":"end_turn","usage":{{"input_tokens":9,"output_tokens":5}}}}"#
        ),
    };
    format!(
        r#"{{"parentUuid":{parent},"isSidechain":false,"userType":"external","cwd":"/w","sessionId":"{SESSION}","version":"2.1.100","gitBranch":"main","type":"{kind}","message":{message},"uuid":"{uuid}","timestamp":"{time}"}}
"#
    )
}

fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs_f64() * 1e3
}

/// The page writes down when it first shows `new-N`.
fn watch(browser: &Browser) {
    browser.run(
        "globalThis.shown = {};
        new MutationObserver((changes) => {
            const now = Date.now();
            for (const { addedNodes } of changes) for (const node of addedNodes) {
                for (const [word] of (node.textContent ?? '').matchAll(/new-\\d+/g)) shown[word] ??= now;
            }
        }).observe(document.querySelector('#text'), { childList: true, subtree: true });",
    );
}

#[test]
fn what_is_written_appears_and_the_reader_stays() {
    let home = Home::new();
    let old = |n: usize| {
        let kind = if n.is_multiple_of(2) { "user" } else { "assistant" };
        entry(n, kind, &format!("Old words number {n}. {}", "They are many. ".repeat(30)))
    };
    home.write(&path(), (0..60).map(old).collect::<String>());
    let served = serve(&home);
    let browser = browser();
    browser.open(&format!("{}/s/{SESSION}", served.url));
    browser.until("document.documentElement.dataset.ready && document.querySelectorAll('#text article').length > 20");
    browser.run("scrollTo(0, 700)");
    watch(&browser);
    browser.run("globalThis.read = [...document.querySelectorAll('#text article')].find((record) => record.getBoundingClientRect().top > 60)");
    let place =
        || browser.run("return read.getBoundingClientRect().top").as_f64().expect("a place");
    let before = place();
    // A marker on the page: it would be gone if the page were loaded anew.
    browser.run("globalThis.mine = 1");
    let mut took = Vec::new();
    for n in 0..APPENDS {
        let line = entry(60 + n, "assistant", &format!("This is new-{n}."));
        let (first, rest) = match n % 3 {
            2 => line.split_at(line.len() / 2),
            _ => ("", &*line),
        };
        home.append(&path(), first);
        let written = now();
        home.append(&path(), rest);
        let shown = browser.until(&format!("globalThis.shown?.['new-{n}']"));
        took.push(shown.as_f64().expect("a time") - written);
    }
    assert_eq!(browser.run("return globalThis.mine"), 1, "the page was loaded anew");
    assert!((place() - before).abs() < 2.0, "the reader was moved from {before} to {}", place());
    assert_eq!(browser.see(".pill"), format!("{APPENDS} new"));
    assert_eq!(browser.run("return document.querySelector('.pill').checkVisibility()"), true);
    took.sort_by(f64::total_cmp);
    let median = took[took.len() / 2];
    println!("from the write to the page: median {median:.0} ms, all {took:.0?}");
    assert!(median < LATE, "{took:?}");
    // Who has gone to the end sees what comes.
    browser.click(".pill");
    browser.until("scrollY + innerHeight > document.documentElement.scrollHeight - 60");
    home.append(&path(), entry(60 + APPENDS, "assistant", "This is new-99."));
    browser.until("globalThis.shown['new-99']");
    browser.until("scrollY + innerHeight > document.documentElement.scrollHeight - 60");
    assert_eq!(browser.run("return document.querySelector('.pill').checkVisibility()"), false);
}
