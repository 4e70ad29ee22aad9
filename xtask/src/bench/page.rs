//! The page of a session in a real browser: when it can be read, how long a search in it takes,
//! and how soon an appended line is seen. And what the server needs for a large home.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use testkit::{Browser, Served};

use super::home::Home;
use super::record::{Report, Target, Verdict, least};
use super::table::Table;
use super::tool::Recount;

/// What a person may wait for, in ms.
const USABLE: f64 = 1000.0;
const FIND: f64 = 50.0;
const SEEN: f64 = 150.0;
/// Words of the made sessions.
const WORDS: [&str; 2] = ["module_7", "module_8"];
const APPENDS: usize = 9;
/// A store of gigabytes is not made in a moment.
const SYNCED: Duration = Duration::from_secs(3600);

/// One opening of a session, in ms.
#[derive(Debug, Clone, Copy)]
struct Opening {
    usable: f64,
    first_find: f64,
    find: f64,
    seen: f64,
}

/// Measures the largest session of each home.
pub fn page(homes: &[Home], recount: &Recount, runs: usize) -> Result<Report, String> {
    let mut table =
        Table::new(&["session", "usable ms", "first find ms", "find ms", "line to screen ms"]);
    let (mut rows, mut verdicts) = (Vec::new(), Vec::new());
    for home in homes {
        let (file, bytes) = home.files.first().ok_or("no transcripts")?;
        let all: Vec<Opening> =
            (0..runs).map(|_| opening(file, recount)).collect::<Result<_, _>>()?;
        let of = |what: fn(&Opening) -> f64| least(all.iter().map(what)).unwrap_or(f64::NAN);
        let figures = [of(|o| o.usable), of(|o| o.first_find), of(|o| o.find), of(|o| o.seen)];
        let name = format!("{:.0} MB", *bytes as f64 / 1e6);
        let cells = figures.iter().map(|ms| format!("{ms:.0}"));
        table.row([vec![name.clone()], cells.collect()].concat());
        let [usable, first, find, seen] = figures;
        rows.push(json!({
            "session_bytes": bytes, "usable_ms": usable, "first_find_ms": first, "find_ms": find,
            "line_to_screen_ms": seen,
        }));
        for (what, value, most) in [
            ("usable", usable, USABLE),
            ("first find", first, FIND),
            ("find", find, FIND),
            ("line to screen, median", seen, SEEN),
        ] {
            let what = format!("{name}, {what}, ms");
            verdicts.push(Verdict { what, value: Some(value), target: Target::AtMost(most) });
        }
    }
    let on = format!("Made sessions in a real Chromium, the least of {runs} runs");
    Ok(Report { name: "page".into(), on, table, rows: rows.into(), verdicts })
}

/// Opens a copy of a session in a home of its own: it is written to.
fn opening(file: &Path, recount: &Recount) -> Result<Opening, String> {
    let failed = |e: std::io::Error| format!("{}: {e}", file.display());
    let home = testkit::Home::new();
    let name = file.file_name().and_then(|name| name.to_str()).ok_or("a file has a name")?;
    let bytes = fs::read(file).map_err(failed)?;
    let path = home.write(&format!("projects/-w/{name}"), &bytes);
    let served = Served::start(recount.path(), home.path(), &[])?;
    let browser = Browser::start(1440, 900)?;
    browser.open(&served.url);
    browser.until("document.querySelectorAll('table.list a').length > 0");
    let id = name.trim_end_matches(".jsonl");
    browser.open(&format!("{}/s/{id}", served.url));
    let ready = "document.documentElement.dataset.ready";
    let prompt = "document.querySelector('article.prompt')?.checkVisibility()";
    let usable = number(&browser.until(&format!("{prompt} && {ready}")))?;
    browser.press("/");
    let [first_find, find] = WORDS.map(|word| found(&browser, word));
    let seen = seen(&browser, &path, id, &bytes)?;
    Ok(Opening { usable, first_find: first_find?, find: find?, seen })
}

fn number(value: &Value) -> Result<f64, String> {
    let text = value.as_str().ok_or_else(|| format!("{value} is no time"))?;
    text.parse().map_err(|e| format!("{text}: {e}"))
}

fn found(browser: &Browser, word: &str) -> Result<f64, String> {
    browser.run(
        "const field = document.querySelector('#find');
        field.focus();
        field.select();
        delete document.documentElement.dataset.findMs;",
    );
    browser.press(word);
    let is_told = "document.querySelector('.find span').textContent.includes(' of ')";
    number(&browser.until(&format!("{is_told} && document.documentElement.dataset.findMs")))
}

/// The median of the times from a line's write to its being in the page.
fn seen(browser: &Browser, path: &Path, id: &str, bytes: &[u8]) -> Result<f64, String> {
    browser.run(
        "globalThis.shown = {};
        new MutationObserver((changes) => {
            const now = Date.now();
            for (const { addedNodes } of changes) for (const node of addedNodes) {
                for (const [word] of (node.textContent ?? '').matchAll(/new-\\d+/g)) shown[word] ??= now;
            }
        }).observe(document.querySelector('#text'), { childList: true, subtree: true });",
    );
    let mut parent = last_uuid(bytes).ok_or("no entry to answer")?;
    let failed = |e: std::io::Error| format!("{}: {e}", path.display());
    let mut file = fs::OpenOptions::new().append(true).open(path).map_err(failed)?;
    let mut took = Vec::new();
    for n in 0..APPENDS {
        let uuid = format!("0bbbbbbb-0000-4000-8000-{n:012}");
        let content = json!([{ "type": "text", "text": format!("This is new-{n}.") }]);
        let message =
            json!({ "id": format!("msg_new{n}"), "role": "assistant", "content": content });
        let entry = json!({
            "parentUuid": parent, "uuid": uuid, "sessionId": id, "type": "assistant",
            "timestamp": "2027-01-01T00:00:00.000Z", "message": message,
        });
        let written = SystemTime::now().duration_since(UNIX_EPOCH).map_err(|e| e.to_string())?;
        file.write_all(format!("{entry}\n").as_bytes()).map_err(failed)?;
        let shown = browser.until(&format!("globalThis.shown['new-{n}']"));
        took.push(shown.as_f64().unwrap_or(f64::NAN) - written.as_secs_f64() * 1e3);
        parent = uuid;
    }
    took.sort_by(f64::total_cmp);
    Ok(took[took.len() / 2])
}

/// The last entry that can be answered.
fn last_uuid(bytes: &[u8]) -> Option<String> {
    let lines = bytes.rsplit(|byte| *byte == b'\n');
    let mut entries = lines.filter_map(|line| serde_json::from_slice::<Value>(line).ok());
    entries.find_map(|entry| {
        let is_said = matches!(entry["type"].as_str()?, "user" | "assistant");
        entry["uuid"].as_str().filter(|_| is_said).map(str::to_owned)
    })
}

/// What the server needs at most while every page is opened once and the store is made.
pub fn memory(home: &Home, recount: &Recount) -> Result<Report, String> {
    let path = fs::canonicalize(&home.path).map_err(|e| e.to_string())?;
    let served = Served::start(recount.path(), &path, &[])?;
    let browser = Browser::start(1440, 900)?;
    browser.open(&served.url);
    browser.until("document.querySelectorAll('table.list a').length > 0");
    wait_for_sync(&browser)?;
    let link = "return document.querySelector('table.list a[href^=\"/s/\"]').getAttribute('href')";
    let session = browser.run(link).as_str().ok_or("no session")?.to_owned();
    let mut table = Table::new(&["after", "peak MB"]);
    let mut rows = Vec::new();
    let mut most = 0.0;
    let steps =
        ["/", &session, "/?sort=size", "/search?q=timeout", "/errors", "/usage", "/storage"];
    for step in steps {
        browser.open(&format!("{}{step}", served.url));
        most = peak(served.id())?;
        let name = if step == session { "a session" } else { step };
        table.row(vec![name.into(), format!("{most:.0}")]);
        rows.push(json!({ "after": name, "peak_mb": most }));
    }
    let verdict = Verdict {
        what: "recount serve, peak MB".into(),
        value: Some(most),
        target: Target::AtMost(300.0),
    };
    let on = home.text();
    Ok(Report { name: "page-memory".into(), on, table, rows: rows.into(), verdicts: vec![verdict] })
}

/// Waits until the server says that the store has everything.
fn wait_for_sync(browser: &Browser) -> Result<(), String> {
    browser.run(
        "globalThis.isBegun = false;
        globalThis.isDone = false;
        new EventSource('/live').onmessage = ({ data }) => {
            const { sync } = JSON.parse(data);
            if (sync !== null) isBegun = true;
            else if (isBegun) isDone = true;
        };",
    );
    let begun = Instant::now();
    while browser.run("return globalThis.isDone") != true {
        if begun.elapsed() > SYNCED {
            return Err("the store is never made".into());
        }
        std::thread::sleep(Duration::from_millis(500));
    }
    Ok(())
}

/// Peak memory of a process that runs, in MB.
fn peak(process: u32) -> Result<f64, String> {
    let path = format!("/proc/{process}/status");
    let status = fs::read_to_string(&path).map_err(|e| format!("{path}: {e}"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.trim().split(' ').next()?.parse::<f64>().ok());
    Ok(kilobytes.ok_or_else(|| format!("{path} has no VmHWM"))? * 1024.0 / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_entry_that_can_be_answered() {
        let lines = b"{\"type\":\"user\",\"uuid\":\"a\"}\n{\"type\":\"system\",\"uuid\":\"b\"}\n{\"type\":\"summary\"}\n{half";
        assert_eq!(last_uuid(lines).as_deref(), Some("a"));
        assert_eq!(last_uuid(b""), None);
    }
}
