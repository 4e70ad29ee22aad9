//! Pages of sessions in which every text is somebody's.

use proptest::prelude::*;
use serde_json::{Value, json};
use transcript::session::{Builder, Options as Reading, Session};
use transcript::source::Source;

use super::cover::Cover;
use super::pack::{Packer, Page, Piece};
use super::plain::Pages;
use super::tally::Tally;
use crate::html::Html;
use crate::page::document::Frame;
use crate::page::outline::outline;
use crate::page::record::{Around, Holder};
use crate::page::session::{self, Head};
use crate::page::{self, Style};
use crate::redact::{Options, Redactor, Rules, sample};
use crate::show::Part;
use transcript::record::{Body, Detail, Media, Opened, Record};

/// The lines of a session with `text` wherever there is text.
fn lines(text: &str) -> String {
    let mut lines: Vec<Value> = Vec::new();
    let mut say = |kind: &str, content: Value, more: Value| {
        let at = lines.len();
        let parent = at.checked_sub(1).map(|up| format!("u{up}"));
        let mut line = json!({
            "type": kind, "uuid": format!("u{at}"), "parentUuid": parent, "sessionId": "s",
            "cwd": format!("/home/x {text}"), "gitBranch": format!("b {text}"),
            "timestamp": "2026-01-05T10:00:00.000Z",
            "message": { "role": kind, "model": format!("m {text}"), "content": content },
        });
        for (key, value) in more.as_object().into_iter().flatten() {
            line[key] = value.clone();
        }
        lines.push(line);
    };
    let none = || json!({});
    let call = |id: &str, name: &str, input: Value| json!([{ "type": "tool_use", "id": id, "name": name, "input": input }]);
    let result = |id: &str, bad: bool| json!([{ "type": "tool_result", "tool_use_id": id, "content": format!("out {text}"), "is_error": bad }]);
    say("user", json!(format!("asked {text}")), none());
    say(
        "assistant",
        json!([{ "type": "thinking", "thinking": format!("thought {text}") }]),
        none(),
    );
    say("assistant", json!([{ "type": "text", "text": format!("said {text}") }]), none());
    say("assistant", call("c1", &format!("Tool {text}"), json!({ "a": text, text: "b" })), none());
    say("user", result("c1", true), none());
    let todos = json!({ "todos": [{ "content": text, "status": text }] });
    say("assistant", call("c2", "TodoWrite", todos), none());
    say("user", result("c2", false), none());
    let path = format!("/x/{text}/a.zzz");
    let edit = json!({ "file_path": path, "old_string": "", "new_string": text });
    say("assistant", call("c3", "Edit", edit), none());
    let patch = json!({ "toolUseResult": { "filePath": path, "structuredPatch": [
        { "oldStart": 1, "oldLines": 0, "newStart": 1, "newLines": 1, "lines": [format!("+ {text}")] }
    ] } });
    say("user", result("c3", false), patch);
    let asked = json!({ "questions": [{ "question": text, "options": [{ "label": text }] }] });
    say("assistant", call("c4", "AskUserQuestion", asked), none());
    // What a person answered is read out of a sentence, which is no page's business.
    let answer = json!([{ "type": "tool_result", "tool_use_id": "c4", "content": "fine" }]);
    say("user", answer, none());
    let mut lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    lines.push(
        json!({ "type": format!("odd {text}"), "content": text, "sessionId": "s" }).to_string(),
    );
    lines.push(
        json!({ "type": "system", "subtype": text, "content": text, "sessionId": "s" }).to_string(),
    );
    lines.push(
        json!({ "type": "custom-title", "customTitle": format!("t {text}"), "sessionId": "s" })
            .to_string(),
    );
    lines.join("\n") + "\n"
}

/// A session in a file.
struct Made {
    session: Session,
    sources: [Source; 1],
    _dir: tempfile::TempDir,
}

fn made(text: &str) -> Made {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("s.jsonl");
    std::fs::write(&path, text).expect("written");
    let source = Source::open(&path).expect("opened");
    let mut builder = Builder::new();
    source.read_into(&mut builder).expect("read");
    Made { session: builder.finish(&Reading::default()), sources: [source], _dir: dir }
}

fn style(detail: Detail) -> Style {
    Style {
        detail,
        zone: jiff::tz::TimeZone::UTC,
        cwd: None,
        prefix: String::new(),
        source: page::Source::File { has_pictures: true },
    }
}

struct Covered<'a>(Cover<'a>, &'a Opened<'a>);

impl Around for Covered<'_> {
    fn subagents(
        &mut self,
        _: &mut Html,
        _: transcript::id::Key,
    ) -> Result<(), transcript::layout::Problem> {
        Ok(())
    }

    fn before(&mut self, record: &mut Record) {
        self.0.record(record);
    }

    fn media(&mut self, of: Holder<'_>, at: usize) -> Option<Media> {
        self.1.media(of.node, of.call, at).expect("read")
    }
}

/// All pages of a session: in one file, and without code.
fn pages(made: &Made, detail: Detail) -> String {
    let opened = Opened::new(&made.session, &made.sources, false);
    let (style, head) = (style(detail), Head::of(&made.session));
    let outline = outline(&opened, Part::Way, detail).expect("a way");
    let mut text = Html::new();
    let mut around = Covered(Cover::none(), &opened);
    let all = 0..outline.items.len();
    session::piece(&mut text, &opened, &outline, all, &style, &mut around).expect("read");
    let turns = session::turns(&opened, &style).expect("read");
    let (tally, notes) = (Tally::default(), ["note".to_owned()]);
    let pieces = [Piece { span: (1, 9), records: 9 }];
    let page = Page {
        frame: Frame::File,
        head: &head,
        turns: &turns,
        map: &Html::new(),
        style: &style,
        pieces: &pieces,
        first: &text,
        tally: &tally,
        notes: &notes,
    };
    let (mut html, end) = page.around();
    html += Packer::default().data(0, &text).as_str();
    html += end;
    let pages = Pages::of(&made.session, &outline);
    html += pages.page(0, &head, &turns, &text).as_str();
    html + pages.index(&head, &turns, &style, (&tally, &notes), &Html::new()).as_str()
}

/// The tags of a page, without what stands in them.
fn tags(html: &str) -> Vec<&str> {
    html.split('<').skip(1).map(|tag| tag.split([' ', '>']).next().unwrap_or_default()).collect()
}

#[test]
fn hostile_text_stays_text_on_every_page() {
    let plain = pages(&made(&lines("x")), Detail::Everything);
    for hostile in [
        "x <script>alert(1)</script>",
        "x\"><img src=x onerror=alert(1)>",
        "x' onmouseover='alert(1)",
        "x </title></style></textarea><svg onload=alert(1)>",
        "x &lt;script&gt; &#60;b&#62;",
        "x </div></main></body></html>",
    ] {
        let html = pages(&made(&lines(hostile)), Detail::Everything);
        assert_eq!(tags(&html), tags(&plain), "{hostile}");
        assert!(!html.contains("<script>alert") && !html.contains("<img src=x"), "{hostile}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// Whatever a text says, the page has the same elements. Signs that mean something in
    /// Markdown, or in what a terminal prints, are left out: those are to be seen.
    #[test]
    fn no_text_changes_the_elements_of_a_page(text in "[a-zA-Z0-9<>\"'&;=/(){},.?% \u{e9}\u{202e}\u{0}-]{0,40}") {
        let text = format!("x{text}x");
        let (plain, html) = (made(&lines("x")), made(&lines(&text)));
        prop_assert_eq!(
            tags(&pages(&html, Detail::Everything)).len(),
            tags(&pages(&plain, Detail::Everything)).len()
        );
    }
}

#[test]
fn pictures_are_in_the_page_and_nothing_else_is() {
    let picture = |kind: &str| json!({ "type": "image", "source": { "type": "base64", "media_type": kind, "data": "QUJD" } });
    let pdf = json!({ "type": "document", "source": { "type": "base64", "media_type": "application/pdf", "data": "JVBE" } });
    let content = json!([
        { "type": "text", "text": "see" }, picture("image/png"), picture("image/svg+xml"),
        picture("text/html"), picture("image/png\" onerror=\"x"), pdf
    ]);
    let line = json!({ "type": "user", "uuid": "a", "parentUuid": null, "sessionId": "s",
        "message": { "role": "user", "content": content } });
    let html = pages(&made(&format!("{line}\n")), Detail::Work);
    assert!(html.contains("<img class=\"thumb\" alt=\"image/png, 3 bytes\" loading=\"lazy\" src=\"data:image/png;base64,QUJD\">"), "{html}");
    assert!(html.contains("src=\"data:image/svg+xml;base64,QUJD\""), "{html}");
    assert!(
        html.contains("download=\"document.pdf\"")
            && html.contains("data:application/pdf;base64,JVBE"),
        "{html}"
    );
    assert!(!html.contains("data:text/html"), "{html}");
    assert_eq!(html.matches("<img").count(), 2 * 2, "on two pages: {html}");
}

/// All texts of a record, in one.
fn texts(record: &Record) -> String {
    format!("{record:?}")
}

#[test]
fn records_have_no_secrets() {
    let rules = Rules::built_in();
    let mut random = sample::Random::new(3);
    let mut make = |template: &str| sample::fill(template, &mut random).parts.concat();
    let token = format!("ghp_{}", make("{A-Za-z0-9:36}"));
    let password = make("{A-Za-z0-9:18}");
    let key: Vec<String> = (0..9).map(|_| make("{A-Za-z0-9+/:64}")).collect();
    let mut hunk = vec![" before".to_owned(), "+-----BEGIN RSA PRIVATE KEY-----".to_owned()];
    hunk.extend(key.iter().map(|line| format!("+{line}")));
    hunk.extend(["+-----END RSA PRIVATE KEY-----".to_owned(), " after".to_owned()]);
    let entries = [
        json!({ "type": "user", "message": { "role": "user", "content": format!("use {token}") } }),
        json!({ "type": "assistant", "message": { "role": "assistant", "content": [
            { "type": "text", "text": format!("{token} it is") },
            { "type": "tool_use", "id": "c", "name": "mcp__db__login", "input": { "password": password } }] } }),
        json!({ "type": "user", "message": { "role": "user", "content": [
            { "type": "tool_result", "tool_use_id": "c", "content": format!("password={password}") }] } }),
        json!({ "type": "assistant", "message": { "role": "assistant", "content": [
            { "type": "tool_use", "id": "e", "name": "Edit", "input": { "file_path": "/k", "old_string": "", "new_string": hunk.join("\n") } }] } }),
        json!({ "type": "user", "message": { "role": "user", "content": [
            { "type": "tool_result", "tool_use_id": "e", "content": "ok" }] },
            "toolUseResult": { "filePath": "/k", "structuredPatch": [{ "oldStart": 1, "newStart": 1, "lines": hunk }] } }),
        json!({ "type": "odd", "content": { "api_key": token } }),
    ];
    let mut text = String::new();
    for (at, mut line) in entries.into_iter().enumerate() {
        line["uuid"] = json!(format!("u{at}"));
        line["parentUuid"] = json!(at.checked_sub(1).map(|up| format!("u{up}")));
        line["sessionId"] = json!("s");
        text += &format!("{line}\n");
    }
    let made = made(&text);
    let opened = Opened::new(&made.session, &made.sources, false);
    let redactor = Redactor::new(rules, Options::default());
    let mut cover = Cover::new(rules, &redactor, 7);
    let mut seen = 0;
    for node in 0..made.session.nodes().len() {
        let Some(mut record) = opened.record(node).expect("read") else { continue };
        cover.record(&mut record);
        seen += 1;
        let texts = texts(&record);
        for secret in [&token, &password].into_iter().chain(&key) {
            assert!(!texts.contains(secret), "{secret} in {texts}");
        }
        if let Body::Calls { calls, .. } = &record.body
            && let Some(change) = calls[0].outcome.as_ref().and_then(|o| o.change.as_ref())
        {
            let lines = &change.hunks[0].lines;
            assert_eq!((lines[0].as_str(), lines[lines.len() - 1].as_str()), (" before", " after"));
        }
    }
    assert_eq!((seen, cover.left), (4, None));
    let places: Vec<u64> =
        redactor.report().iter().flat_map(|found| &found.places).map(|at| at.session).collect();
    assert!(places.len() >= 4 && places.iter().all(|session| *session == 7), "{places:?}");
}

#[test]
fn a_title_that_was_cut_has_no_part_of_a_secret() {
    let rules = Rules::built_in();
    let redactor = Redactor::new(rules, Options::default());
    let mut cover = Cover::new(rules, &redactor, 0);
    let title = format!("{} ghp_abcdEFGH", "word ".repeat(37).trim());
    let title: String = format!("{title}{}", "z".repeat(300)).chars().take(200).collect();
    let out = cover.title(&title);
    assert!(!out.contains("ghp_") && out.ends_with("word\u{2026}"), "{out}");
    assert_eq!(cover.title("Use a token"), "Use a token");
}
