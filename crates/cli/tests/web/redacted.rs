//! A server that was asked to take secrets out of all that it answers.

use report::redact::sample::{Random, fill};
use serde_json::json;
use testkit::{Browser, Home, Served};

use super::kit::{browser, get, recount, synced};

const ID: &str = "aaaa7777-0000-4000-8000-000000000000";

/// A session with a secret wherever a text can be, and the secrets.
fn secrets() -> (Home, Vec<String>) {
    let random = &mut Random::new(3);
    let tokens: Vec<String> =
        (0..14).map(|_| format!("ghp_{}", fill("{a-zA-Z0-9:36}", random).text)).collect();
    let key: Vec<String> = (0..6).map(|_| fill("{A-Za-z0-9:64}", random).text).collect();
    let pem = format!("-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----", key.join("\n"));
    let word = fill("{a-zA-Z0-9:20}", random).text;
    let t = |n: usize| tokens[n].as_str();
    let patch: Vec<String> = pem.lines().map(|line| format!("+{line}")).collect();
    let messages = [
        ("user", json!(format!("deploy with {}", t(0))), json!({})),
        (
            "assistant",
            json!([
                { "type": "thinking", "thinking": format!("hm {}", t(1)) },
                { "type": "text", "text": format!("Use **{}** in `{}`", t(2), t(2)) },
                { "type": "tool_use", "id": "t1", "name": "Bash", "input": { "command": format!("curl -H 'x: {}' | sh", t(3)), "description": t(4) } },
            ]),
            json!({}),
        ),
        (
            "user",
            json!([{ "type": "tool_result", "tool_use_id": "t1", "is_error": true, "content": format!("Exit code 1\n{}", t(5)) }]),
            json!({ "toolUseResult": { "stdout": "", "stderr": t(6) } }),
        ),
        (
            "assistant",
            json!([{ "type": "tool_use", "id": "t2", "name": "Write", "input": { "file_path": "/home/x/app/k.pem", "content": pem } }]),
            json!({}),
        ),
        (
            "user",
            json!([{ "type": "tool_result", "tool_use_id": "t2", "content": "written" }]),
            json!({ "toolUseResult": { "type": "create", "filePath": "/home/x/app/k.pem", "content": pem, "structuredPatch": [{ "oldStart": 0, "oldLines": 0, "newStart": 1, "newLines": 8, "lines": patch }] } }),
        ),
        (
            "assistant",
            json!([{ "type": "tool_use", "id": "t3", "name": "mcp__vault__put", "input": { "password": word, "note": t(7) } }]),
            json!({}),
        ),
        (
            "user",
            json!([{ "type": "tool_result", "tool_use_id": "t3", "content": pem }]),
            json!({}),
        ),
    ];
    let mut text = String::new();
    for (at, (kind, content, more)) in messages.into_iter().enumerate() {
        let mut line = json!({
            "type": kind, "uuid": format!("u{at}"), "sessionId": ID, "cwd": "/home/x/app",
            "parentUuid": at.checked_sub(1).map(|up| format!("u{up}")), "version": "2.1.144",
            "gitBranch": format!("b-{}", t(8)), "timestamp": format!("2026-01-05T10:00:0{at}.000Z"),
            "message": { "role": kind, "id": format!("m{at}"), "content": content },
        });
        more.as_object().expect("fields").iter().for_each(|(k, v)| line[k] = v.clone());
        text += &format!("{line}\n");
    }
    let note = json!({ "type": "system", "subtype": "x", "content": t(9), "sessionId": ID });
    let odd = json!({ "type": "odd", "content": { "api_key": t(10) }, "sessionId": ID });
    let title = json!({ "type": "custom-title", "customTitle": t(11), "sessionId": ID });
    text += &format!("{note}\n{odd}\n{title}\n{{\"cut\":\"{}\n", t(12));
    let home = Home::new();
    home.write(&format!("projects/-home-x-app/{ID}.jsonl"), &text);
    (home, tokens.into_iter().take(13).chain(key).chain([word]).collect())
}

fn served(home: &Home, flags: &[&str]) -> Served {
    Served::start(recount(), home.path(), flags).unwrap_or_else(|no| panic!("{no}"))
}

/// The secrets that an answer has.
fn told<'s>(text: &str, secrets: &'s [String]) -> Vec<&'s String> {
    secrets.iter().filter(|secret| text.contains(secret.as_str())).collect()
}

fn paths() -> Vec<String> {
    let mut paths: Vec<String> = [
        "/",
        "/search?q=deploy",
        "/search?q=ghp",
        "/errors",
        "/usage",
        "/storage",
        "/journal?project=/home/x/app",
        "/file?path=app/k.pem",
        "/p/%2Fhome%2Fx%2Fapp",
        "/api/v1/list",
        "/api/v1/errors",
        "/api/v1/search?q=deploy",
        "/api/v1/file?path=app/k.pem",
        "/api/v1/usage/session",
        "/api/v1/tools",
    ]
    .map(Into::into)
    .to_vec();
    paths.extend((1..=5).map(|level| format!("/s/{ID}?d={level}")));
    paths.extend((1..=11).map(|number| format!("/s/{ID}/raw/{number}")));
    paths
        .extend(["html", "md", "json", "jsonl"].map(|end| format!("/s/{ID}/export/session.{end}")));
    paths.extend([4, 5].map(|level| format!("/api/v1/show/{ID}?detail={level}")));
    paths.extend([3, 5].map(|level| format!("/s/{ID}/news?d={level}&from=0")));
    paths.push(format!("/s/{ID}/facts"));
    paths.push(format!("/s/{ID}/where/5"));
    paths.push(format!("/s/{ID}/output/7?call=t3"));
    paths.push(format!("/file?path=app/k.pem&session={ID}&at=5"));
    paths
}

#[test]
fn secrets_are_taken_out_of_every_page_and_every_answer() {
    let (home, secrets) = secrets();
    let plain = served(&home, &[]);
    synced(&plain, "deploy");
    let mut seen: Vec<String> = Vec::new();
    for path in paths() {
        seen.extend(told(&get(&plain, &path).body, &secrets).into_iter().cloned());
    }
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), secrets.len(), "all of them are somewhere if nobody minds");
    let served = served(&home, &["--redact"]);
    synced(&served, "deploy");
    for path in paths() {
        let answer = get(&served, &path);
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        assert_eq!(told(&answer.body, &secrets), [""; 0], "{path}: {}", answer.body);
    }
    let finds = |word: &str| {
        let answer = get(&served, &format!("/s/{ID}/find?q={word}&d=4")).body;
        serde_json::from_str::<serde_json::Value>(&answer).expect("JSON")["count"].clone()
    };
    assert_eq!(finds("deploy"), 1);
    assert!(secrets.iter().all(|secret| finds(secret) == 0), "a secret can't be guessed either");
    in_a_browser(&browser(), &served, &secrets);
}

/// What a person sees, with everything opened, and the elements that hold it.
fn in_a_browser(browser: &Browser, served: &Served, secrets: &[String]) {
    browser.open(&format!("{}/s/{ID}?d=4", served.url));
    browser.until("document.documentElement.dataset.ready");
    browser
        .run("document.querySelectorAll('details').forEach((details) => { details.open = true; })");
    let text =
        browser.run("return document.body.innerText").as_str().unwrap_or_default().to_owned();
    assert!(text.contains("[redacted:github-personal-token:"), "{text}");
    assert!(text.contains("deploy with") && text.contains("[redacted:private-key:"), "{text}");
    assert_eq!(told(&text, secrets), [""; 0], "{text}");
    let said: Vec<_> = browser.log().into_iter().filter(|said| said.level != "INFO").collect();
    assert!(said.is_empty(), "{said:?}");
}
