//! The browser from keys to cells: a Claude folder, keys, and what is on the screen.
//!
//! The threads are left out: what would be asked of them is answered at once.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};

use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{
    KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind,
};
use ratatui::layout::Rect;
use ratatui::style::Color;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::draw;
use super::gather;
use super::list::{Hit, Topic};
use super::reading::{Reading, Request};
use super::search;
use super::shelf;
use super::state::{Effect, Msg, Options, Parting, State};
use store::history::ChangedPaths;

use crate::serve::Desk;
use crate::terminal::format::Clock;

const LOGIN: &str = "3f2a91c0-0000-4000-8000-000000000001";
const DOCS: &str = "77aa11bb-0000-4000-8000-000000000002";

fn clock() -> Clock {
    Clock { now: "2026-05-20T12:00:00[UTC]".parse().expect("a time") }
}

/// A transcript that grows entry by entry.
struct Talk {
    id: &'static str,
    cwd: &'static str,
    lines: Vec<Value>,
}

impl Talk {
    fn new(id: &'static str, cwd: &'static str) -> Self {
        Self { id, cwd, lines: Vec::new() }
    }

    /// An entry below the one before, or below another.
    fn push(mut self, below: Option<usize>, kind: &str, content: Value) -> Self {
        let count = self.lines.len();
        let id = self.id;
        let parent = below.or(count.checked_sub(1)).map(|at| format!("{id}-u{at}"));
        let message = match kind {
            "user" => json!({"role": "user", "content": content}),
            _ => json!({
                "id": format!("msg_{count}"), "type": "message", "role": "assistant",
                "model": "claude-opus-4-6", "content": content,
            }),
        };
        self.lines.push(json!({
            "parentUuid": parent, "uuid": format!("{id}-u{count}"), "sessionId": id, "type": kind,
            "cwd": self.cwd, "gitBranch": "main", "version": "2.1.40", "isSidechain": false,
            "timestamp": format!("2026-04-20T14:00:{count:02}.000Z"),
            "message": message,
        }));
        self
    }

    fn prompt(self, text: &str) -> Self {
        self.push(None, "user", json!(text))
    }

    fn answer(self, text: &str) -> Self {
        self.push(None, "assistant", json!([{"type": "text", "text": text}]))
    }

    fn call(self, tool: &str, input: Value, result: &str, is_error: bool) -> Self {
        let id = format!("toolu_{}", self.lines.len());
        let made = self.push(
            None,
            "assistant",
            json!([{"type": "tool_use", "id": id, "name": tool, "input": input}]),
        );
        made.push(
            None,
            "user",
            json!([{"type": "tool_result", "tool_use_id": id, "content": result, "is_error": is_error}]),
        )
    }

    fn write(&self, home: &Path, slug: &str) {
        let folder = home.join("projects").join(slug);
        std::fs::create_dir_all(&folder).expect("a folder");
        let text: String = self.lines.iter().map(|line| format!("{line}\n")).collect();
        std::fs::write(folder.join(format!("{}.jsonl", self.id)), text).expect("written");
    }
}

/// A browser on a home of two sessions.
struct Browser {
    state: State,
    reading: Reading,
    desk: Arc<Desk>,
    /// What was asked for and is not for the files.
    asked: Vec<Effect>,
    _back: Receiver<Request>,
    home: TempDir,
}

fn login() -> Talk {
    let output: String = (1..=30).map(|n| format!("test line {n}\n")).collect();
    Talk::new(LOGIN, "/w/shop")
        .prompt("Fix the login test")
        .answer("I look at it.")
        .call("Bash", json!({"command": "cargo test login"}), &output, false)
        .call("Bash", json!({"command": "cargo clippy"}), "Exit code 1\nno such command", true)
        .answer("Clippy is missing.")
        .prompt("Then write \u{1b}[2Jit \u{202e}down \u{65e5}\u{672c}\u{8a9e} \u{1f600}")
        .answer("Written down.")
}

fn browser(columns: u16, rows: u16) -> Browser {
    let home = tempfile::tempdir().expect("a folder");
    login().write(home.path(), "-w-shop");
    let docs = Talk::new(DOCS, "/w/blog").prompt("Write the docs").answer("Here they are.");
    docs.write(home.path(), "-w-blog");
    started(home, columns, rows, Options::default())
}

fn started(home: TempDir, columns: u16, rows: u16, options: Options) -> Browser {
    let desk = Arc::new(Desk::new(vec![home.path().into()], home.path().join("store"), None));
    desk.look_at(&ChangedPaths::All).expect("readable");
    let (back, requests) = mpsc::channel();
    let reading = Reading::new(desk.clone(), clock(), false, back);
    let state = State::new(options, (columns, rows));
    let mut browser = Browser { state, reading, desk, asked: Vec::new(), _back: requests, home };
    let rows = shelf::rows(&browser.desk, &clock());
    browser.tell(Msg::Rows(rows, true));
    browser
}

impl Browser {
    /// Tells a message, and answers everything that is asked of files.
    fn tell(&mut self, msg: Msg) {
        let mut effects = self.state.update(msg);
        while let Some(effect) = effects.pop() {
            let request = match effect {
                Effect::Open(asked) => Request::Open(asked),
                Effect::Paint(wanted) => Request::Paint(wanted),
                Effect::Find(ticket, text) => Request::Find(ticket, text),
                Effect::Glance(glance) => Request::Glance(glance),
                Effect::File(serial, index) => Request::File(serial, index),
                Effect::Search(topic, here) if !matches!(topic, Topic::Words(_)) => {
                    let msg = search::search(&mut self.desk.run(), topic, here.as_deref());
                    effects.extend(self.state.update(msg));
                    continue;
                }
                Effect::Usage(columns) => {
                    let lines = gather::usage(&self.desk, columns);
                    effects.extend(self.state.update(Msg::Usage(lines)));
                    continue;
                }
                other => {
                    self.asked.push(other);
                    continue;
                }
            };
            if let Some(msg) = self.reading.answer(request) {
                effects.extend(self.state.update(msg));
            }
        }
    }

    /// Presses keys: letters as they are, others by their names in angle brackets.
    fn keys(&mut self, keys: &str) -> &mut Self {
        let mut rest = keys;
        while let Some(letter) = rest.chars().next() {
            let named = rest.strip_prefix('<').and_then(|rest| rest.split_once('>'));
            let (key, after) = match named {
                Some((name, after)) => (name.to_owned(), after),
                None => (letter.to_string(), &rest[letter.len_utf8()..]),
            };
            self.tell(Msg::Key(key_of(&key)));
            rest = after;
        }
        self
    }

    fn mouse(&mut self, kind: MouseEventKind, column: u16, row: u16) {
        let modifiers = KeyModifiers::NONE;
        self.tell(Msg::Mouse(MouseEvent { kind, column, row, modifiers }));
    }

    fn buffer(&self) -> Buffer {
        let (columns, rows) = self.state.size();
        let mut buffer = Buffer::empty(Rect::new(0, 0, columns, rows));
        draw::draw(&self.state, &mut buffer);
        buffer
    }

    /// What is on the screen, without spaces at the ends of lines.
    fn screen(&self) -> String {
        let buffer = self.buffer();
        let columns = usize::from(buffer.area.width);
        let row = |cells: &[ratatui::buffer::Cell]| {
            let mut line = String::new();
            let mut skip = 0;
            for cell in cells {
                if skip == 0 {
                    line.push_str(cell.symbol());
                    skip = crate::terminal::safe::width(cell.symbol()).max(1);
                }
                skip -= 1;
            }
            line.trim_end().to_owned()
        };
        buffer.content.chunks(columns).map(row).collect::<Vec<_>>().join("\n")
    }

    fn path(&self) -> PathBuf {
        self.home.path().join("projects/-w-shop").join(format!("{LOGIN}.jsonl"))
    }
}

fn key_of(name: &str) -> KeyEvent {
    let plain = |code| KeyEvent::new(code, KeyModifiers::NONE);
    match name {
        "enter" => plain(KeyCode::Enter),
        "esc" => plain(KeyCode::Esc),
        "tab" => plain(KeyCode::Tab),
        "down" => plain(KeyCode::Down),
        "up" => plain(KeyCode::Up),
        "back" => plain(KeyCode::Backspace),
        _ if name.starts_with('^') => {
            let letter = name.chars().nth(1).expect("a letter");
            KeyEvent::new(KeyCode::Char(letter), KeyModifiers::CONTROL)
        }
        _ => plain(KeyCode::Char(name.chars().next().expect("a letter"))),
    }
}

#[test]
fn the_list_shows_sessions_and_a_look_into_the_chosen_one() {
    insta::assert_snapshot!(browser(110, 14).screen());
}

#[test]
fn typing_filters_and_escape_takes_it_back() {
    let mut browser = browser(60, 8);
    browser.keys("docs");
    let filtered = browser.screen();
    assert!(filtered.contains("1 of 2 sessions") && filtered.contains("> docs"), "{filtered}");
    assert!(filtered.contains("Write the docs") && !filtered.contains("login"), "{filtered}");
    browser.keys("<back><back><back><back>");
    assert!(browser.screen().contains("  2 sessions"), "{}", browser.screen());
    browser.keys("zzz<esc>");
    assert!(browser.asked.is_empty() && browser.screen().contains("  2 sessions"));
    browser.keys("<esc>");
    assert_eq!(browser.asked, [Effect::Leave(Parting::Quit)]);
}

#[test]
fn the_look_opens_at_the_prompt_that_was_typed() {
    let mut browser = browser(110, 16);
    let end = browser.screen();
    browser.keys("then");
    let at = browser.screen();
    assert!(end.contains("I look at it."), "{end}");
    assert!(at.contains("Then write") && !at.contains("I look at it."), "{at}");
}

#[test]
fn a_session_opens_at_its_end() {
    let mut browser = browser(70, 12);
    browser.keys("login<enter>");
    insta::assert_snapshot!(browser.screen());
}

#[test]
fn levels_hide_and_say_what() {
    let mut browser = browser(70, 20);
    browser.keys("login<enter>1");
    insta::assert_snapshot!("prompts", browser.screen());
    browser.keys("5");
    assert!(!browser.screen().contains("new below"), "{}", browser.screen());
    assert!(browser.screen().contains("{\"cwd\":\"/w/shop\""), "{}", browser.screen());
    browser.keys("3");
    let work = browser.screen();
    assert!(work.contains("3 work") && !work.contains("{\"cwd\""), "{work}");
}

#[test]
fn prompts_errors_and_folds() {
    let mut browser = browser(70, 24);
    browser.keys("login<enter>[[");
    let chosen = |browser: &Browser| browser.state.view.as_ref().map(|view| view.selected);
    assert_eq!(chosen(&browser), Some(0));
    browser.keys("e");
    assert_eq!(chosen(&browser), Some(3));
    browser.keys("ee");
    assert!(browser.screen().contains("No error below"), "{}", browser.screen());
    browser.keys("k");
    assert!(!browser.screen().contains("test line 15"));
    browser.keys("o");
    assert!(browser.screen().contains("test line 15"), "{}", browser.screen());
    browser.keys("o");
    assert!(!browser.screen().contains("test line 15"), "{}", browser.screen());
}

#[test]
fn finding_unfolds_what_it_must() {
    let mut browser = browser(70, 16);
    browser.keys("login<enter>/LINE 25<enter>");
    let screen = browser.screen();
    assert!(screen.contains("test line 25") && screen.contains("1 of 1 matches"), "{screen}");
    browser.keys("/nowhere<enter>");
    assert!(browser.screen().contains("Nothing has"), "{}", browser.screen());
}

#[test]
fn a_branch_that_was_left_can_be_looked_at() {
    let home = tempfile::tempdir().expect("a folder");
    Talk::new(LOGIN, "/w/shop")
        .prompt("one")
        .answer("first")
        .prompt("two")
        .answer("was left")
        .push(Some(1), "user", json!("two again"))
        .answer("stayed")
        .write(home.path(), "-w-shop");
    let mut browser = started(home, 70, 20, Options::default());
    browser.keys("<enter>");
    let way = browser.screen();
    assert!(way.contains("stayed") && !way.contains("was left"), "{way}");
    browser.keys("b");
    let left = browser.screen();
    assert!(left.contains("was left") && left.contains("left branch 1 of 1"), "{left}");
    browser.keys("b");
    assert!(browser.screen().contains("stayed"));
}

#[test]
fn hostile_and_wide_text_stays_in_its_cells() {
    for (columns, rows) in [(200, 50), (70, 20), (37, 9), (20, 6), (9, 4), (3, 2), (1, 1)] {
        let mut browser = browser(columns, rows);
        browser.keys("<down>");
        browser.keys("login<enter>O4<^u>");
        let screen = browser.screen();
        assert!(!screen.contains(['\u{1b}', '\u{202e}', '\u{7}']), "{screen}");
        for line in screen.lines() {
            assert!(crate::terminal::safe::width(line) <= usize::from(columns), "{line}");
        }
        browser.keys("?");
        browser.screen();
    }
}

#[test]
fn another_size_is_another_screen() {
    let mut browser = browser(110, 20);
    browser.keys("login<enter>");
    browser.tell(Msg::Resize(50, 10));
    let screen = browser.screen();
    assert!(screen.lines().count() == 10 && screen.contains("Written down."), "{screen}");
}

#[test]
fn resuming_asks_first() {
    let mut browser = browser(100, 20);
    browser.keys("login<^r>");
    let asked = format!("Run `claude --resume {LOGIN}` in /w/shop?");
    assert!(browser.screen().contains(&asked), "{}", browser.screen());
    browser.keys("<esc>");
    assert!(browser.asked.is_empty());
    browser.keys("<^r>p");
    let printed = Parting::Print(format!("claude --resume {LOGIN}"));
    assert_eq!(browser.asked, [Effect::Leave(printed)]);
    browser.keys("<enter><^r>y");
    let resumed = Parting::Resume(LOGIN.into(), Some("/w/shop".into()));
    assert_eq!(browser.asked.last(), Some(&Effect::Leave(resumed)));
}

#[test]
fn copies_places_and_files() {
    let mut browser = browser(140, 20);
    browser.keys("login<enter>y");
    let copied = browser.asked.pop();
    assert!(matches!(&copied, Some(Effect::Copy(text)) if text.contains("Written down.")));
    browser.keys("Y");
    let place = Effect::Copy("recount show 3f2a91c0 --entry 9".into());
    assert_eq!(browser.asked.pop(), Some(place));
    browser.keys("r");
    let resume = Effect::Copy(format!("claude --resume {LOGIN}"));
    assert_eq!(browser.asked.pop(), Some(resume));
    browser.keys("w");
    assert!(browser.screen().contains("entry 9, bytes "), "{}", browser.screen());
    browser.keys("x");
    assert!(browser.screen().contains("session-3f2a91c0.html"), "{}", browser.screen());
    browser.keys("n");
    assert!(browser.asked.is_empty());
    browser.keys("xyp");
    let done = [Effect::Export(LOGIN.into()), Effect::Page(LOGIN.into())];
    assert_eq!(browser.asked, done);
}

#[test]
fn picking_prints_the_id() {
    let home = tempfile::tempdir().expect("a folder");
    login().write(home.path(), "-w-shop");
    let mut browser = started(home, 60, 10, Options { is_pick: true, ..Options::default() });
    browser.keys("<enter>");
    assert_eq!(browser.asked, [Effect::Leave(Parting::Print(LOGIN.into()))]);
}

#[test]
fn a_search_is_asked_for_and_its_hits_open_where_they_are() {
    let mut browser = browser(110, 16);
    browser.keys("/cl");
    assert_eq!(browser.asked.last(), Some(&Effect::Search(Topic::Words("cl".into()), None)));
    let hit = Hit {
        id: LOGIN.into(),
        title: "Fix the login test".into(),
        entry: 5,
        who: "#5 call".into(),
        snippet: "cargo clippy".into(),
        marks: [(6, 8)].map(|(from, to)| from..to).into(),
        ..Hit::default()
    };
    browser.tell(Msg::Hits(Topic::Words("c".into()), vec![hit.clone()], "old".into()));
    assert!(!browser.screen().contains("#5 call"), "an old answer is not taken");
    browser.tell(Msg::Hits(Topic::Words("cl".into()), vec![hit], String::new()));
    let found = browser.screen();
    assert!(found.contains("1 hit") && found.contains("#5 call  cargo clippy"), "{found}");
    assert!(found.contains("no such command"), "the look is at the hit: {found}");
    browser.keys("<enter>");
    let number = browser.state.view.as_ref().and_then(|view| view.item()?.number);
    assert_eq!(number, Some(5));
    browser.keys("q<esc>");
    assert!(browser.screen().contains("  2 sessions"), "{}", browser.screen());
}

#[test]
fn what_is_written_meanwhile_appears() {
    let mut browser = browser(70, 20);
    browser.keys("login<enter>.");
    login().prompt("and more").answer("added").write(browser.home.path(), "-w-shop");
    browser.desk.look_at(&ChangedPaths::All).expect("readable");
    browser.tell(Msg::Changed);
    assert!(browser.screen().contains("added"), "{}", browser.screen());
    browser.keys(".k[");
    login()
        .prompt("and more")
        .answer("added")
        .answer("once more")
        .write(browser.home.path(), "-w-shop");
    browser.desk.look_at(&ChangedPaths::All).expect("readable");
    browser.tell(Msg::Changed);
    assert!(browser.screen().contains("1 new below"), "{}", browser.screen());
}

#[test]
fn a_session_is_shown_before_all_files_are_read() {
    let home = tempfile::tempdir().expect("a folder");
    login().write(home.path(), "-w-shop");
    let mut browser = started(home, 70, 20, Options::default());
    let unread = Desk::new(vec![browser.home.path().into()], browser.home.path().join("s"), None);
    let (back, requests) = mpsc::channel();
    browser.reading = Reading::new(Arc::new(unread), clock(), false, back);
    browser._back = requests;
    browser.keys("<enter>");
    assert!(browser.path().exists() && browser.screen().contains("Written down."));
}

#[test]
fn the_mouse_chooses_opens_and_scrolls() {
    let mut browser = browser(60, 10);
    let click = |browser: &mut Browser, row| {
        browser.mouse(MouseEventKind::Down(MouseButton::Left), 4, row);
        browser.mouse(MouseEventKind::Up(MouseButton::Left), 4, row);
    };
    click(&mut browser, 3);
    assert_eq!(browser.state.list.selected, 1);
    click(&mut browser, 2);
    assert_eq!(browser.state.list.selected, 0);
    click(&mut browser, 2);
    assert!(browser.state.view.is_some());
    let before = browser.screen();
    browser.mouse(MouseEventKind::ScrollUp, 0, 0);
    assert_ne!(browser.screen(), before);
}

#[test]
fn what_the_mouse_is_drawn_over_is_copied() {
    let mut browser = browser(110, 16);
    let left = MouseButton::Left;
    let rows: Vec<String> = browser.screen().lines().map(str::to_owned).collect();
    let y = rows.iter().position(|row| row.contains("I look at it.")).expect("a look") as u16;
    let x = 56;
    let before = browser.state.list.selected;
    browser.mouse(MouseEventKind::Down(left), x, y);
    browser.mouse(MouseEventKind::Drag(left), x + 5, y + 2);
    browser.mouse(MouseEventKind::Up(left), x + 5, y + 2);
    let Some(Effect::Copy(text)) = browser.asked.last() else { panic!("{:?}", browser.asked) };
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!((lines.len(), lines[0]), (3, "I look at it."));
    assert!(!text.contains("Write the docs") && lines[2].chars().count() <= 6, "{text}");
    assert_eq!(browser.state.list.selected, before, "nothing was clicked");
}

#[test]
fn without_colours_there_are_none() {
    let home = tempfile::tempdir().expect("a folder");
    login().write(home.path(), "-w-shop");
    let mut browser = started(home, 70, 20, Options { is_plain: true, ..Options::default() });
    browser.keys("<enter>");
    let is_plain = |buffer: &Buffer| buffer.content.iter().all(|cell| cell.fg == Color::Reset);
    assert!(is_plain(&browser.buffer()));
    browser.state.options.is_plain = false;
    assert!(!is_plain(&browser.buffer()));
}

#[test]
fn the_keys_are_shown_and_any_key_takes_them_away() {
    let mut browser = browser(80, 24);
    browser.keys("?");
    assert!(browser.screen().contains("sort: last active"), "{}", browser.screen());
    browser.keys("x");
    assert!(!browser.screen().contains("sort: last active"));
}

#[test]
fn errors_are_a_list_that_opens_where_they_are() {
    let mut browser = browser(110, 16);
    browser.keys("<^e>");
    let shown = browser.screen();
    assert!(shown.contains("1 hit") && shown.contains("#6 Bash  Exit code 1: no such"), "{shown}");
    assert!(shown.contains("Fix the login test"), "{shown}");
    browser.keys("<enter>");
    let view = browser.state.view.as_ref().expect("a session");
    assert!(view.item().is_some_and(|item| item.is_error), "{}", browser.screen());
    browser.keys("q<esc>");
    assert!(browser.screen().contains("  2 sessions"), "{}", browser.screen());
}

#[test]
fn the_history_of_a_file_is_asked_for_at_a_record_about_it() {
    let home = tempfile::tempdir().expect("a folder");
    let input = json!({"file_path": "/w/shop/a.rs", "old_string": "x", "new_string": "y"});
    let edits = login().call("Edit", input.clone(), "done", false);
    edits.write(home.path(), "-w-shop");
    let again = Talk::new(DOCS, "/w/blog").prompt("again").call("Edit", input, "done", false);
    again.write(home.path(), "-w-blog");
    let mut browser = started(home, 110, 16, Options::default());
    browser.keys("login<enter>");
    browser.keys("ggf");
    assert!(browser.screen().contains("This is about no file"), "{}", browser.screen());
    browser.keys("Gf");
    let shown = browser.screen();
    assert!(shown.contains("changes of /w/shop/a.rs") && shown.contains("2 hits"), "{shown}");
    assert!(shown.contains("again") && shown.contains("Edit  +1 \u{2212}1"), "{shown}");
}

#[test]
fn what_was_used_is_a_page_that_scrolls() {
    let mut browser = browser(90, 12);
    browser.keys("<^t>");
    let shown = browser.screen();
    assert!(shown.contains("What was used") && shown.contains("Esc sessions"), "{shown}");
    browser.keys("Gk");
    browser.keys("<esc>");
    assert!(browser.screen().contains("  2 sessions"), "{}", browser.screen());
}

#[test]
fn what_is_looked_for_is_marked_in_the_look() {
    let mut browser = browser(110, 16);
    browser.keys("login");
    let buffer = browser.buffer();
    let is_marked =
        |cell: &ratatui::buffer::Cell| cell.modifier.contains(ratatui::style::Modifier::REVERSED);
    let beside = buffer.content.chunks(110).skip(2).flat_map(|row| &row[57..]);
    let marked: String = beside.filter(|cell| is_marked(cell)).map(|cell| cell.symbol()).collect();
    assert!(marked.to_lowercase().contains("login"), "{marked}");
}
