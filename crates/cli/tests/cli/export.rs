use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use report::redact::sample::{Random, fill};
use serde::Deserialize;
use serde_json::{Value, json};
use testkit::{Shape, Spec};

use super::case::Case;
use super::list::HOME;

const APP: &str = "projects/-home-x-app/aaaa1111-0000-4000-8000-000000000001";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "all fields are decoded, not all compared")]
struct Exported {
    r#type: String,
    session: String,
    title: String,
    format: String,
    path: Option<String>,
    bytes: u64,
    written_bytes: Option<u64>,
    records: usize,
    left_out: Vec<String>,
    redacted: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "all fields are decoded, not all compared")]
struct Redaction {
    r#type: String,
    rule: String,
    family: String,
    description: String,
    count: u64,
    places: Vec<Place>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Place {
    session: String,
    entry: u64,
}

fn out(case: &Case, path: &str) -> PathBuf {
    case.claude().join("..").join(path)
}

fn read(case: &Case, path: &str) -> String {
    fs::read_to_string(out(case, path)).unwrap()
}

/// Every file below a folder, or the file itself, as text.
fn files(root: &Path) -> BTreeMap<PathBuf, String> {
    let mut all = BTreeMap::new();
    let mut open = vec![root.to_path_buf()];
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(fs::read_dir(&path).unwrap().flatten().map(|entry| entry.path()));
        } else {
            let text = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
            all.insert(path, text);
        }
    }
    all
}

/// The packed pieces of a page.
fn pieces(html: &str) -> Vec<String> {
    let data = html.split("<div class=\"data\" hidden id=\"data-").skip(1);
    data.map(|rest| {
        let base64 = rest.split_once('>').unwrap().1.split_once('<').unwrap().0;
        let mut text = String::new();
        let bytes = STANDARD.decode(base64).unwrap();
        flate2::read::DeflateDecoder::new(&*bytes).read_to_string(&mut text).unwrap();
        text
    })
    .collect()
}

#[test]
fn one_page_has_everything_in_it() {
    let case = Case::new(HOME);
    let shown = case.run("export aaaa --to a.html");
    assert!(shown.starts_with("exit 0\n--- stdout\n~/a.html: "), "{shown}");
    assert!(shown.contains(" of 4.9 kB\n"), "{shown}");
    assert!(shown.contains("note: Hidden at level 3: 1 internal line\n"), "{shown}");
    let html = read(&case, "a.html");
    let text = pieces(&html).concat();
    for part in ["Add a flag", "cargo test", "error[E0425]", "Done."] {
        assert!(text.contains(part), "{part} in {text}");
    }
    // Pieces are where the page says, and there is code to unpack them.
    assert_eq!(html.matches("<section class=\"piece\"").count(), pieces(&html).len());
    assert!(html.contains("data-source=\"file\"") && html.contains("<script type=\"module\">"));
    assert!(html.contains("default-src &#39;none&#39;"), "{html}");
    assert!(html.contains("<h1>Add a command line flag</h1>"), "{html}");
    assert!(!html.contains("http://") && !html.contains("https://"), "nothing is fetched");
}

#[test]
fn nothing_is_replaced_unless_forced_and_nothing_written_where_it_must_not() {
    let case = Case::new(HOME);
    fs::write(out(&case, "a.html"), "mine").unwrap();
    insta::assert_snapshot!(case.run("export aaaa --to a.html"), @"
    exit 2
    --- stderr
    error: ~/a.html already exists
    hint: Name another place, or replace it with `--force`
    ");
    assert_eq!(read(&case, "a.html"), "mine");
    assert!(case.run("export aaaa --to a.html --force").starts_with("exit 0"));
    assert!(read(&case, "a.html").starts_with("<!doctype html>"));
    insta::assert_snapshot!(case.run("export aaaa --to .claude/projects/x.html"), @"
    exit 2
    --- stderr
    error: ~/.claude/projects/x.html is below a Claude folder or the store
    hint: What is there is not yours to write to: name another place
    ");
    let shown = case.run("export aaaa --to .local/share/recount/x.html");
    assert!(shown.starts_with("exit 2") && shown.contains("below"), "{shown}");
    fs::create_dir(out(&case, "full")).unwrap();
    fs::write(out(&case, "full/mine"), "").unwrap();
    assert!(case.run("export --all --to full").contains("already exists"));
    assert!(case.run("export --all --to full --force").starts_with("exit 0"));
}

#[test]
fn flags_that_mean_nothing_together_are_refused() {
    let case = Case::new(HOME);
    for (args, words) in [
        ("export aaaa --to a.md --split", "`--split` has no meaning for markdown"),
        ("export aaaa --to a.jsonl --detail 2", "`--detail` has no meaning for jsonl"),
        ("export aaaa cccc --to a --turn 1", "`--turn` is for one session"),
        ("export aaaa --to a.html --turn 9", "no turn 9"),
        ("export aaaa --to a.html --branch 3", "no branch 3"),
        ("export zzzz --to a.html", "No session `zzzz`"),
    ] {
        let shown = case.run(args);
        assert!(shown.starts_with("exit 2") && shown.contains(words), "{args}: {shown}");
        assert!(shown.contains("hint: "), "{args}: {shown}");
    }
    assert!(!out(&case, "a.html").exists());
    assert!(case.run("export --project nothing --to a").starts_with("exit 1"));
}

#[test]
fn lines_are_those_of_the_files() {
    let case = Case::new(HOME);
    assert!(case.run("export aaaa --to a.jsonl --no-redact").starts_with("exit 0"));
    assert!(case.run("export aaaa --to b.jsonl").starts_with("exit 0"));
    let source = fs::read(case.claude().join(format!("{APP}.jsonl"))).unwrap();
    assert_eq!(fs::read(out(&case, "a.jsonl")).unwrap(), source);
    assert_eq!(fs::read(out(&case, "b.jsonl")).unwrap(), source, "there are no secrets in it");
    let agent = "subagents/agent-a0123456789abcdef.jsonl";
    assert_eq!(
        fs::read(out(&case, "a").join(agent)).unwrap(),
        fs::read(case.claude().join(APP).join(agent)).unwrap()
    );
    // What was exported is a session again.
    assert!(
        case.run("show ../a.jsonl").contains("Add a flag")
            || case.run("show ./a.jsonl").contains("Add a flag")
    );
}

#[test]
fn records_are_those_of_show() {
    let case = Case::new(HOME);
    assert!(case.run("export aaaa --to a.json").starts_with("exit 0"));
    let text = read(&case, "a.json");
    let mut lines: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let last: Exported = serde_json::from_value(lines.pop().unwrap()).unwrap();
    let shown: Vec<Value> = case.json("show aaaa");
    // Nothing in the session leads to its subagent: it comes last.
    let rest = lines.split_off(shown.len());
    assert_eq!(lines, shown);
    assert_eq!(rest.len(), 2, "its task and its call");
    assert!(rest.iter().all(|line| line["agent_id"] == "a0123456789abcdef"), "{rest:?}");
    assert_eq!((last.records, last.redacted, &last.path), (shown.len() + 2, true, &None));
    assert!(last.left_out.iter().any(|line| line.contains("internal line")), "{last:?}");
}

#[test]
fn a_subagent_that_no_call_leads_to_is_in_every_export() {
    let case = Case::new(HOME);
    for (to, flags) in [("a.html", ""), ("s", "--split"), ("r.html", "--detail 5")] {
        assert!(case.run(&format!("export aaaa --to {to} {flags}")).starts_with("exit 0"));
        let all: String = files(&out(&case, to)).into_values().collect();
        let text = pieces(&all).concat() + &all;
        assert!(text.contains("1 subagent of no known call"), "{to}");
        assert!(text.contains("Look around") && !text.contains("subagent not here"), "{to}");
    }
    for flags in ["--no-subagents", "--turn 1"] {
        assert!(
            case.run(&format!("export aaaa --to b.html --force {flags}")).starts_with("exit 0")
        );
        let html = read(&case, "b.html");
        assert!(html.contains("1 subagent not here"), "{flags}: {html}");
    }
}

#[test]
fn a_session_as_markdown() {
    let case = Case::new(HOME);
    assert!(case.run("export aaaa --to a.md").starts_with("exit 0"));
    insta::assert_snapshot!(read(&case, "a.md"), @r"
    # Add a command line flag

    - Session `aaaa1111-0000-4000-8000-000000000001`
    - Folder `/home/x/app`
    - Branch `main`
    - claude-opus-4-5
    - 2026-01-05 10:00, 1 m 05 s
    - 1 turn, 3 calls, 1 error

    ## 1. Prompt · 2026-01-05 10:00

    > Add a flag

    **Bash** `cargo test` · exit 101 · 4.0 s

    ```
    Exit code 101
    error[E0425]: cannot find value `flag` in src/main.rs
    ```

    **Edit** `src/main.rs` · +2 −1 · 1.0 s

    ```diff
    @@ -1 +1 @@
    -a
    +b
    +c
    ```

    **Bash** `cargo test --all` · 40 s

    ```
    ok
    ```

    Done.

    > **subagent a0123456789abcdef · claude-opus-4-5 · 1 call · 2 s**
    >
    > **Task** · 2026-01-05 10:00
    >
    > > Look around
    >
    > **Read** `/none` · failed · 1.0 s
    >
    > ```
    > File does not exist.
    > ```
    >

    ---

    - Hidden at level 3: 1 internal line
    - Secrets are replaced by placeholders: \[redacted:…\]
    ");
}

#[test]
fn pages_without_code_lead_to_each_other() {
    let case = Case::new(HOME);
    assert!(case.run("export aaaa --split --to pages").starts_with("exit 0"));
    let files = files(&out(&case, "pages"));
    let names: Vec<_> = files.keys().map(|p| p.file_name().unwrap().to_str().unwrap()).collect();
    assert_eq!(names, ["index.html", "page-1.html", "page.css"]);
    let text = |name: &str| read(&case, &format!("pages/{name}"));
    assert!(!text("index.html").contains("<script") && !text("page-1.html").contains("<script"));
    assert!(text("index.html").contains("<a href=\"page-1.html#e1\">Add a flag</a>"));
    assert!(text("page-1.html").contains("id=\"e1\"") && text("page-1.html").contains("Done."));
    assert!(text("page-1.html").contains("href=\"index.html\""));
}

#[test]
fn a_folder_of_sessions_has_an_index() {
    let case = Case::new(HOME);
    let shown = case.run("export --all --to all");
    assert!(shown.starts_with("exit 0\n--- stdout\n2 sessions in ~/all: "), "{shown}");
    let index = read(&case, "all/index.html");
    for part in ["Add a command line flag", "Make it blue", "2026-01-05 10:00"] {
        assert!(index.contains(part), "{part} in {index}");
    }
    let link = "aaaa1111-0000-4000-8000-000000000001.html";
    assert!(index.contains(&format!("href=\"{link}\"")), "{index}");
    let page = read(&case, &format!("all/{link}"));
    assert!(page.contains("src=\"page.js\"") && out(&case, "all/page.js").exists());
    assert!(case.run("export --project site --to site --format markdown").starts_with("exit 0"));
    assert!(read(&case, "site/index.md").contains("[Make it blue](<cccc3333"));
}

#[test]
fn what_is_not_there_is_said() {
    let case = Case::new(HOME);
    assert!(case.run("export aaaa --to a.html --no-subagents --detail 1").starts_with("exit 0"));
    let html = read(&case, "a.html");
    let foot = html.split("<footer").nth(1).unwrap().split("</footer>").next().unwrap();
    for part in ["Hidden at level 1", "1 edit", "2 commands", "1 answer", "1 subagent not here"] {
        assert!(foot.contains(part), "{part} in {foot}");
    }
    assert!(case.run("export aaaa --to t.md --turn 1").starts_with("exit 0"));
    assert!(read(&case, "t.md").contains("Only turns 1 to 1 of 1 are here"));
}

#[cfg(unix)]
#[test]
fn a_session_that_cannot_be_read_is_left_out() {
    let case = Case::new(HOME);
    super::case::dangling(&case.claude().join("projects/-home-x-app/ffff.jsonl"));
    let shown = case.run("export --all --to all");
    assert!(shown.starts_with("exit 2") && shown.contains("Cannot read"), "{shown}");
    assert!(read(&case, "all/index.html").contains("Make it blue"));
}

/// A session with secrets wherever a text can be, and the secrets.
fn secrets() -> (Case, Vec<String>) {
    let mut random = Random::new(11);
    let mut make = |template: &str| fill(template, &mut random).text;
    let mut tokens: Vec<String> = (0..9).map(|_| make("ghp_{A-Za-z0-9:36}")).collect();
    tokens.push(make("{A-Za-z0-9:20}"));
    let key: Vec<String> = (0..8).map(|_| make("{A-Za-z0-9+/:64}")).collect();
    let begin = "-----BEGIN RSA PRIVATE KEY-----";
    let end = "-----END RSA PRIVATE KEY-----";
    let pem = format!("{begin}\n{}\n{end}", key.join("\n"));
    let mut patch = vec![format!("+{begin}")];
    patch.extend(key.iter().map(|line| format!("+{line}")));
    patch.push(format!("+{end}"));
    let id = "aaaa7777-0000-4000-8000-000000000007";
    let t = |at: usize| &tokens[at];
    let entries = [
        ("user", json!(format!("Use {} and\n{pem}", t(0))), json!({})),
        (
            "assistant",
            json!([
                { "type": "thinking", "thinking": format!("{} it is", t(1)) },
                { "type": "text", "text": format!("With `{}`", t(2)) },
                { "type": "tool_use", "id": "c1", "name": "mcp__db__login", "input": { "password": t(9) } },
            ]),
            json!({}),
        ),
        (
            "user",
            json!([{ "type": "tool_result", "tool_use_id": "c1", "content": format!("{}\n{pem}", t(3)), "is_error": true }]),
            json!({}),
        ),
        (
            "assistant",
            json!([{ "type": "tool_use", "id": "c2", "name": "Edit",
                "input": { "file_path": format!("/home/x/{}", t(4)), "old_string": "", "new_string": pem } }]),
            json!({}),
        ),
        (
            "user",
            json!([{ "type": "tool_result", "tool_use_id": "c2", "content": "ok" }]),
            json!({ "toolUseResult": { "filePath": "/home/x/k", "structuredPatch":
                [{ "oldStart": 1, "oldLines": 0, "newStart": 1, "newLines": 10, "lines": patch }] } }),
        ),
    ];
    let mut text = String::new();
    for (at, (kind, content, more)) in entries.into_iter().enumerate() {
        let mut line = json!({
            "type": kind, "uuid": format!("u{at}"), "sessionId": id, "cwd": "/home/x/app",
            "parentUuid": at.checked_sub(1).map(|up| format!("u{up}")), "version": "2.1.144",
            "gitBranch": format!("b-{}", t(5)), "timestamp": format!("2026-01-05T10:00:0{at}.000Z"),
            "message": { "role": kind, "content": content },
        });
        more.as_object().unwrap().iter().for_each(|(k, v)| line[k] = v.clone());
        text += &format!("{line}\n");
    }
    let note = json!({ "type": "system", "subtype": "x", "content": t(6), "sessionId": id });
    let odd = json!({ "type": "odd", "content": { "api_key": t(7) }, "sessionId": id });
    let title = json!({ "type": "custom-title", "customTitle": t(8), "sessionId": id });
    text += &format!("{note}\n{odd}\n{title}\n{{\"cut\":\"{}\n", t(0));
    let case = Case::new(&format!("//- projects/-home-x-app/{id}.jsonl\n{text}"));
    (case, tokens.into_iter().chain(key).collect())
}

fn assert_clean(what: &str, text: &str, secrets: &[String]) {
    for secret in secrets {
        assert!(!text.contains(secret), "{secret} in {what}: {text}");
    }
}

#[test]
fn every_planted_secret_is_gone_in_every_form() {
    let (case, secrets) = secrets();
    for detail in ["1", "3", "4", "5"] {
        for form in ["html", "md", "json", "split"] {
            let to = format!("{form}{detail}.{form}");
            let flags = if form == "split" { "--split" } else { "" };
            let shown = case.run(&format!("export aaaa7777 --to {to} {flags} --detail {detail}"));
            assert!(shown.starts_with("exit 0"), "{to}: {shown}");
            assert_clean(&to, &shown, &secrets);
            for (path, text) in files(&out(&case, &to)) {
                assert_clean(&format!("{path:?}"), &text, &secrets);
                assert_clean(&format!("{path:?}"), &pieces(&text).concat(), &secrets);
                assert!(
                    form != "json"
                        || text.lines().all(|l| serde_json::from_str::<Value>(l).is_ok())
                );
            }
        }
    }
    let shown = case.run("export aaaa7777 --to a.jsonl");
    assert!(shown.contains("Replaced: github-personal-token"), "{shown}");
    assert_clean("jsonl", &read(&case, "a.jsonl"), &secrets);
    assert!(case.run("export --all --to all").starts_with("exit 0"));
    assert_clean("index", &read(&case, "all/index.html"), &secrets);
}

#[test]
fn placeholders_are_numbered_by_session() {
    // The later a session stands in the list, the longer it is, and the sooner it is begun.
    let mut random = Random::new(9);
    let mut text = String::new();
    for n in 1..=4 {
        let id = format!("{n}{n}{n}{n}0000-0000-4000-8000-000000000000");
        let key = fill("{a-zA-Z0-9:36}", &mut random).text;
        let line = json!({
            "type": "user", "uuid": format!("u{n}"), "parentUuid": null, "sessionId": id,
            "cwd": "/home/x/app", "timestamp": format!("2026-01-0{}T10:00:00.000Z", 9 - n),
            "version": "2.1.144",
            "message": { "role": "user", "content": format!("ghp_{key} {}", "word ".repeat(n * 2000)) },
        });
        text += &format!("//- projects/-home-x-app/{id}.jsonl\n{line}\n");
    }
    let case = Case::new(&text);
    for (to, flags) in [("a", "--format markdown"), ("b", ""), ("c", "--split")] {
        assert!(case.run(&format!("export --all --to {to} {flags}")).starts_with("exit 0"));
        let all = files(&out(&case, to));
        for n in 1..=4 {
            let is_its =
                |path: &&PathBuf| path.to_string_lossy().contains(&"1234"[n - 1..n].repeat(4));
            let own: String = all.keys().filter(is_its).map(|path| all[path].clone()).collect();
            let own = own.clone() + &pieces(&own).concat();
            let numbers: HashSet<&str> = own
                .split("redacted:github-personal-token:")
                .skip(1)
                .filter_map(|rest| rest.split([']', '\\']).next())
                .collect();
            assert_eq!(numbers, HashSet::from([n.to_string().as_str()]), "{to} {n}");
        }
    }
}

#[test]
fn a_report_says_what_was_replaced_where() {
    let (case, _) = secrets();
    let lines: Vec<Value> = case.json("export aaaa7777 --to a.html");
    let (first, rest) = lines.split_first().unwrap();
    let exported: Exported = serde_json::from_value(first.clone()).unwrap();
    assert_eq!(exported.format, "html");
    let rules: Vec<Redaction> =
        rest.iter().map(|line| serde_json::from_value(line.clone()).unwrap()).collect();
    let keys = rules.iter().find(|rule| rule.rule == "private-key").unwrap();
    assert!(keys.places.iter().any(|place| place.entry == 1), "{keys:?}");
    assert!(keys.places.iter().all(|place| place.session == exported.session), "{keys:?}");
    // The same secret has the same placeholder wherever it stands.
    let text = pieces(&read(&case, "a.html")).concat();
    let key = text.split("[redacted:private-key:").nth(1).unwrap();
    let name = format!("[redacted:private-key:{}]", key.split(']').next().unwrap());
    assert!(text.matches(&name).count() >= 3, "{text}");
}

#[test]
fn secrets_are_replaced_in_all_that_is_printed() {
    let (case, secrets) = secrets();
    for command in [
        "list",
        "show aaaa7777",
        "show aaaa7777 --raw",
        "show aaaa7777 --detail 4",
        "show aaaa7777 --entry 5",
        "errors",
        "tree aaaa7777",
        "file app/k --list",
        "context aaaa7777",
    ] {
        for json in ["", " --json", " --color always"] {
            let shown = case.run(&format!("{command}{json} --redact"));
            assert_clean(command, &shown, &secrets);
        }
    }
    assert!(case.run("list --redact").contains("[redacted:github-personal-token:"));
    assert!(case.run("show aaaa7777").contains(&secrets[0]), "only if it is asked for");
}

#[test]
fn every_hard_case_can_be_exported_in_every_form() {
    let dir = tempfile::tempdir().unwrap();
    let home = dir.path().join("home");
    testkit::make(&Spec { seed: 1, shape: Shape::Hard, bytes: 0 }, &home).unwrap();
    let case = Case::new("");
    let home = home.to_str().unwrap();
    for flags in ["html", "html --split", "html --detail 5", "markdown --detail 4", "json", "jsonl"]
    {
        let to = flags.replace([' ', '-'], "");
        let shown =
            case.run(&format!("--claude-dir {home} export --all --to {to} --format {flags}"));
        let is_fine = |line: &str| !line.starts_with("error");
        assert!(shown.lines().all(is_fine), "{flags}: {shown}");
        for (path, text) in files(&out(&case, &to)) {
            if path.extension().is_some_and(|end| end == "html") {
                let own = if flags == "html --split" { 0 } else { 1 };
                assert!(text.matches("<script").count() <= own, "{path:?}");
                for text in [text.clone(), pieces(&text).concat()] {
                    assert!(!text.contains("<img src=x") && !text.contains("href=\"javascript"));
                }
            }
        }
    }
}

/// A prompt with a piece of a key that is too short to be replaced.
fn odd_key() -> String {
    let piece = fill("{A-Za-z0-9+/:36}", &mut Random::new(5)).text;
    let words = "some words, and much later than any key would begin, as in a page of a manual that \
                 goes on for some lines before it shows what it means, and that says so in many \
                 words so that nobody takes it for one, there is this:";
    let line = json!({
        "type": "user", "uuid": "k1", "parentUuid": null, "sessionId": "kkkk", "cwd": "/home/x/app",
        "timestamp": "2026-01-07T10:00:00.000Z", "version": "2.1.144",
        "message": { "role": "user", "content": format!("-----BEGIN PRIVATE KEY-----\n{words} {piece}") },
    });
    format!("{line}\n")
}

#[test]
fn a_private_key_that_would_remain_refuses_the_export() {
    let case = Case::new(HOME);
    case.write("projects/-home-x-app/kkkk.jsonl", &odd_key());
    for form in ["html", "md", "json", "jsonl"] {
        let shown = case.run(&format!("export kkkk --to k.{form}"));
        assert!(shown.starts_with("exit 2"), "{shown}");
        assert!(
            shown.contains("A private key would be left in the export: entry 1 of `kkkk`"),
            "{shown}"
        );
        assert!(!out(&case, &format!("k.{form}")).exists(), "{form}");
    }
    let shown = case.run("export kkkk --split --to k");
    assert!(shown.starts_with("exit 2"), "{shown}");
    assert_eq!(files(&out(&case, "k")).keys().filter(|p| p.ends_with("page-1.html")).count(), 0);
    // The others are written.
    let shown = case.run("export --all --to all");
    assert!(shown.starts_with("exit 2") && shown.contains("entry 1 of `kkkk`"), "{shown}");
    let index = read(&case, "all/index.html");
    assert!(index.contains("Make it blue") && !index.contains("kkkk"), "{index}");
    assert!(case.run("export kkkk --to k.html --no-redact").starts_with("exit 0"));
}
