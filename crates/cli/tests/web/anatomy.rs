//! What the rows, bands and margins of a session tell, on the page and in a file.

use std::process::Command;

use serde_json::{Value, json};
use testkit::{Browser, Home, Served};

use super::kit::{browser, get, recount, screenshot, serve, synced};

const ID: &str = "bbbb7777-0000-4000-8000-000000000000";

/// A session with two lists of todos, two models, two modes, and tools that tell much.
fn home() -> Home {
    let call = |id: &str, name: &str, input: Value| json!([{ "type": "tool_use", "id": id, "name": name, "input": input }]);
    let result = |id: &str, text: &str, is_error: bool| json!([{ "type": "tool_result", "tool_use_id": id, "content": text, "is_error": is_error }]);
    let todo = |first: &str, second: &str| {
        json!({ "todos": [
            { "content": "Look around", "status": first, "activeForm": "Looking around" },
            { "content": "Paint it", "status": second, "activeForm": "Painting it" },
        ] })
    };
    let long = "A long answer that fills the page.\n\n".repeat(60);
    let text = |text: &str| json!([{ "type": "text", "text": text }]);
    let (old, new) = ("claude-sonnet-4-5", "claude-opus-4-5");
    let mut lines: Vec<(&str, Value, Value)> = vec![
        ("user", json!("Begin"), json!({ "permissionMode": "default" })),
        (old, call("t1", "TodoWrite", todo("in_progress", "pending")), json!({})),
        ("user", result("t1", "Todos have been modified", false), json!({})),
        (old, call("t2", "Read", json!({ "file_path": "/home/x/app/src/main.rs" })), json!({})),
        (
            "user",
            result(
                "t2",
                "     1\u{2192}fn main() {\n     2\u{2192}    paint();\n     3\u{2192}}",
                false,
            ),
            json!({}),
        ),
        (
            old,
            call("t3", "Grep", json!({ "pattern": "paint", "output_mode": "content" })),
            json!({}),
        ),
        (
            "user",
            result(
                "t3",
                "src/main.rs:2:    paint();\nsrc/paint.rs:7:pub fn paint() {\nsrc/paint.rs-8-    todo!()",
                false,
            ),
            json!({}),
        ),
        (
            old,
            call(
                "t4",
                "Bash",
                json!({ "command": "make paint", "description": "Mix the colours" }),
            ),
            json!({}),
        ),
        (
            "user",
            result("t4", "mixed\nwarning: red is low", false),
            json!({ "toolUseResult": { "stdout": "mixed", "stderr": "warning: red is low", "interrupted": false } }),
        ),
        (old, call("t5", "Bash", json!({ "command": "false" })), json!({})),
        ("user", result("t5", "Exit code 1", true), json!({})),
        (old, call("t6", "Bash", json!({ "command": "true" })), json!({})),
        ("user", result("t6", "fine", false), json!({})),
        (old, text(&long), json!({})),
        (
            "user",
            json!(
                "<command-message>paint is running</command-message>\n<command-name>/paint</command-name>\n<command-args>the northern wall</command-args>"
            ),
            json!({}),
        ),
        ("user", json!("Go on, all of it"), json!({ "permissionMode": "acceptEdits" })),
        (new, call("t7", "TodoWrite", todo("completed", "in_progress")), json!({})),
        ("user", result("t7", "Todos have been modified", false), json!({})),
        (new, call("t8", "Edit", json!({ "file_path": "/home/x/app/none" })), json!({})),
        ("user", result("t8", "File does not exist.", true), json!({})),
    ];
    lines.extend(telling(new));
    lines.push((new, text(&long), json!({})));
    let mut file = String::new();
    for (at, (who, content, more)) in lines.into_iter().enumerate() {
        let mut line = json!({
            "type": if who == "user" { "user" } else { "assistant" }, "uuid": format!("u{at}"),
            "parentUuid": at.checked_sub(1).map(|up| format!("u{up}")), "sessionId": ID,
            "cwd": "/home/x/app", "version": "2.1.144",
            "timestamp": format!("2026-01-05T10:00:{at:02}.000Z"),
            "message": { "role": if who == "user" { "user" } else { "assistant" }, "content": content },
        });
        if who != "user" {
            line["message"]["model"] = who.into();
            line["message"]["id"] = format!("m{at}").into();
        }
        more.as_object().expect("fields").iter().for_each(|(k, v)| line[k] = v.clone());
        file += &format!("{line}\n");
    }
    let home = Home::new();
    home.write(&format!("projects/-home-x-app/{ID}.jsonl"), &file);
    home
}

/// Calls whose rows tell more than their words: pages that were found, an agent's report, tasks, a
/// file that was written, and an output too long for a page.
fn telling(model: &'static str) -> Vec<(&'static str, Value, Value)> {
    let found = "Web search results for query: \"colours\"\n\nLinks: [{\"title\":\"Paint colours\",\"url\":\"https://example.org/paint\"},{\"title\":\"Odd\",\"url\":\"javascript:alert(1)\"}]\n\nBlue is **calm**.";
    let wall = json!({ "type": "create", "filePath": "/home/x/app/wall.txt", "content": "blue\n", "structuredPatch": [] });
    let calls = [
        ("WebSearch", json!({ "query": "colours" }), found.to_owned(), json!({})),
        (
            "Agent",
            json!({ "description": "Look at walls", "subagent_type": "Explore", "prompt": "Look" }),
            "## Walls\nThere are four.".to_owned(),
            json!({ "status": "completed", "totalTokens": 12_345, "totalDurationMs": 9 }),
        ),
        (
            "TaskCreate",
            json!({ "subject": "Sand it", "description": "First" }),
            "Task #1 created successfully: Sand it".to_owned(),
            json!({}),
        ),
        (
            "TaskUpdate",
            json!({ "taskId": "1", "status": "completed" }),
            "Updated task #1 status".to_owned(),
            json!({}),
        ),
        (
            "Write",
            json!({ "file_path": "/home/x/app/wall.txt", "content": "blue\n" }),
            "File created successfully at: /home/x/app/wall.txt".to_owned(),
            wall,
        ),
        ("Bash", json!({ "command": "seq" }), "paint\n".repeat(60_000), json!({})),
    ];
    let mut lines = Vec::new();
    for (at, (tool, input, answer, told)) in calls.into_iter().enumerate() {
        let id = format!("w{at}");
        let call = json!([{ "type": "tool_use", "id": id, "name": tool, "input": input }]);
        let result = json!([{ "type": "tool_result", "tool_use_id": id, "content": answer }]);
        lines.push((model, call, json!({})));
        lines.push(("user", result, json!({ "toolUseResult": told })));
    }
    lines
}

fn text(browser: &Browser, selector: &str) -> Vec<String> {
    let code = "return [...document.querySelectorAll(arguments[0])].map((e) => e.innerText.trim())";
    let all = browser.run_with(code, &[selector.into()]);
    let all = all.as_array().cloned().unwrap_or_default();
    all.iter().map(|text| text.as_str().unwrap_or_default().to_owned()).collect()
}

/// The same on the page and in a file.
fn check(browser: &Browser) {
    browser.until("document.documentElement.dataset.ready");
    browser.until("[...document.querySelectorAll('section.piece')].every((piece) => piece.hasAttribute('data-full'))");
    browser
        .run("document.querySelectorAll('details').forEach((details) => { details.open = true; })");
    assert_eq!(
        text(browser, ".band[data-kind=setting]"),
        [
            "Permissions: default \u{2192} acceptEdits",
            "Model: claude-sonnet-4-5 \u{2192} claude-opus-4-5"
        ]
    );
    assert_eq!(text(browser, ".nums .n"), ["1\n2\n3", "2", "7\n8"]);
    assert_eq!(text(browser, ".nums pre:not(.n)")[0], "fn main() {\n    paint();\n}");
    let paths = text(browser, ".row .body .path");
    assert!(paths.contains(&"src/paint.rs \u{b7} 1 line".to_owned()), "{paths:?}");
    assert_eq!(text(browser, ".stream + .out"), ["warning: red is low"]);
    assert!(text(browser, ".row .what").contains(&"Mix the colours".to_owned()));
    assert_eq!(
        text(browser, ".links li"),
        ["Paint colours example.org", "Odd javascript:alert(1)"]
    );
    assert_eq!(text(browser, ".links a"), ["Paint colours"]);
    assert_eq!(text(browser, ".got"), ["\u{2192} Walls"]);
    let agent = text(browser, ".row[data-kind=agent] > summary");
    assert!(agent.iter().any(|row| row.contains("Explore: Look at walls")), "{agent:?}");
    assert!(agent.iter().any(|row| row.contains("12.3k tokens")), "{agent:?}");
    let changed = ["\u{25cb} #1 Sand it", "\u{2713} #1 Sand it"].map(str::to_owned);
    let todos = text(browser, ".text .todos [data-changed]");
    assert_eq!(todos[todos.len() - 2..], changed, "{todos:?}");
    // The first turn has failed once and then worked; the second has not.
    let dots = "return [...document.querySelectorAll('.turns li[data-entry]')].map((li) => li.querySelector('.dot') !== null)";
    assert_eq!(browser.run(dots), json!([false, true]));
    // What was to be done, where the reader is.
    browser.run("scrollTo(0, document.documentElement.scrollHeight)");
    browser.until("document.querySelector('#todos .now')?.textContent.includes('Paint it')");
    browser.run("scrollTo(0, 0)");
    browser.run("document.querySelector('#e6').scrollIntoView({ block: 'start' })");
    browser.until("document.querySelector('#todos .now')?.textContent.includes('Look around')");
    let said: Vec<_> = browser.log().into_iter().filter(|said| said.level != "INFO").collect();
    assert!(said.is_empty(), "{said:?}");
}

fn pictures(browser: &Browser, name: &str) {
    for (scheme, width) in [("light", 1440), ("dark", 1440), ("light", 390)] {
        browser.scheme(scheme);
        browser.resize(width, 900);
        let end = if width == 390 { "phone" } else { scheme };
        browser.screenshot(&screenshot(&format!("{name}-{end}")));
        let wide = browser.run("return document.documentElement.scrollWidth");
        assert!(wide.as_u64() <= Some(width.into()), "{name} {end}: {wide}");
    }
    browser.resize(1440, 900);
}

/// What a page has not, but can be had from it: a whole output, a whole file, the place of a record.
fn asked_for(browser: &Browser, served: &Served) {
    let link = |words: &str| {
        let code = "return [...document.querySelectorAll('.text a')].find((a) => a.textContent.startsWith(arguments[0]))?.getAttribute('href') ?? ''";
        browser.run_with(code, &[words.into()]).as_str().unwrap_or_default().to_owned()
    };
    let output = get(served, &link("Download all of it"));
    assert_eq!(output.body, "paint\n".repeat(60_000));
    assert!(output.head.contains("attachment; filename=\"bbbb7777-"), "{}", output.head);
    browser.run("document.querySelector('.row[data-kind=edit] > summary').click()");
    browser.until("document.querySelector('#chosen li') !== null");
    let facts = browser.see("#chosen");
    assert!(facts.contains("claude-") && facts.contains("byte "), "{facts}");
    browser.run("document.querySelector('#e4 a.at').click()");
    browser
        .until("document.querySelector('#record p')?.textContent.startsWith('line 4, entry 4, ')");
    let file = link("file at this point");
    assert!(file.contains("at="), "{file}");
    browser.open(&format!("{}{file}", served.url));
    assert_eq!(browser.see(".nums pre:not(.n)"), "blue");
    assert!(browser.see(".notes").contains("from the Write at entry"));
}

#[test]
fn rows_bands_and_margins_tell_what_happened() {
    let home = home();
    let served: Served = serve(&home);
    let browser = browser();
    browser.open(&format!("{}/s/{ID}", served.url));
    browser.until("document.querySelector('#facts figure') !== null || document.querySelector('#facts dl') !== null");
    check(&browser);
    pictures(&browser, "anatomy");
    asked_for(&browser, &served);
    synced(&served, "northern");
    browser.open(&format!("{}/search?q=northern", served.url));
    let hit = browser.see(".hit");
    assert!(hit.contains("/paint the northern wall") && !hit.contains("<command"), "{hit}");
}

#[test]
fn a_file_tells_the_same_and_is_searched_from_its_first_letter() {
    let home = home();
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("one.html");
    let status = Command::new(recount())
        .args(["export", ID, "--quiet", "--claude-dir"])
        .arg(home.path())
        .arg("--store")
        .arg(folder.path().join("store"))
        .arg("--to")
        .arg(&path)
        .env_clear()
        .env("HOME", folder.path())
        .env("TZ", "UTC")
        .output()
        .expect("it runs");
    assert!(status.status.success(), "{status:?}");
    let browser = browser();
    browser.open(&format!("file://{}", path.display()));
    check(&browser);
    pictures(&browser, "file");
    browser.run("document.activeElement.blur()");
    for (words, told) in [
        ("red is low", "0 of 1 (1\u{d7})"),
        ("\"mixed\"", "nothing"),
        ("mix the", "0 of 1 (1\u{d7})"),
    ] {
        browser.press("/");
        browser.until("document.activeElement.id === 'find'");
        browser.run("document.activeElement.value = ''");
        browser.press(words);
        let words = Value::from(told);
        browser.until(&format!("document.querySelector('.find span').textContent === {words}"));
        browser.run("document.activeElement.blur()");
    }
}
