//! `drizzle`, a weather command in Rust.

use std::io;

use super::{OPUS, SONNET, Story};
use crate::clock::at;
use crate::corpus::book::Link;
use crate::entry;
use crate::json::ToJson;
use crate::obj;
use crate::scribe::Scribe;
use crate::scribe::tool::Change;

const CWD: &str = "/home/mara/code/drizzle";
const MAIN: &str = "/home/mara/code/drizzle/src/main.rs";
const FORECAST: &str = "/home/mara/code/drizzle/src/forecast.rs";
const CACHE: &str = "/home/mara/code/drizzle/src/cache.rs";

const MAIN_RS: &str = r#"mod forecast;

fn main() {
    let place = std::env::args().nth(1).unwrap_or_else(|| "Bergen".into());
    match forecast::today(&place) {
        Ok(report) => println!("{report}"),
        Err(error) => {
            eprintln!("drizzle: {error}");
            std::process::exit(1);
        }
    }
}
"#;

const FORECAST_RS: &str = r#"//! Asking the weather service and reading its answer.

pub struct Hour {
    pub hour: u8,
    pub celsius: f32,
    pub rain_mm: f32,
}

pub fn today(place: &str) -> Result<String, String> {
    let hours = parse(&fetch(place)?)?;
    Ok(format!("{place}: {} hours", hours.len()))
}

pub fn parse(text: &str) -> Result<Vec<Hour>, String> {
    text.lines().map(hour).collect()
}

fn hour(line: &str) -> Result<Hour, String> {
    let mut parts = line.split(';');
    let hour = parts.next().ok_or("no hour")?.parse().map_err(|_| "bad hour")?;
    let celsius = parts.next().ok_or("no temperature")?.parse().map_err(|_| "bad temperature")?;
    let rain_mm = parts.next().ok_or("no rain")?.parse().map_err(|_| "bad rain")?;
    Ok(Hour { hour, celsius, rain_mm })
}
"#;

pub(super) fn tell(story: &mut Story<'_>) -> io::Result<()> {
    begin(story)?;
    hourly(story)?;
    cache(story)?;
    let mut units = units(story)?;
    config(story, &mut units)?;
    story.close(units, "Show wind in knots", "Keep it to the flag, no config file for now")
}

fn begin(story: &mut Story<'_>) -> io::Result<()> {
    let mut s = story.open("a weather command begins", CWD, SONNET, at(2026, 4, 20, 8, 12))?;
    story.ask(&mut s, "I want a tiny command that prints today's weather for a place. Rust, no dependencies yet. Set up the project and a first version that parses the service's plain-text answer.");
    s.say("I'll set up a binary crate called `drizzle` with one module for the forecast, and keep fetching behind a function so that parsing can be tested alone.");
    s.bash("cargo init --name drizzle", "Create the crate", "    Creating binary (application) package\nnote: see more `Cargo.toml` keys and their definitions at https://doc.rust-lang.org/cargo/reference/manifest.html");
    s.create_file(FORECAST, FORECAST_RS);
    s.create_file(MAIN, MAIN_RS);
    s.bash_fail("cargo check", "Check that it compiles", 101, "error[E0425]: cannot find function `fetch` in this scope\n --> src/forecast.rs:10:24\n   |\n10 |     let hours = parse(&fetch(place)?)?;\n   |                        ^^^^^ not found in this scope");
    s.think("fetch was left out on purpose, but it has to exist for the crate to compile. A stub that reads a file named by an environment variable is enough for now.");
    s.edit(Change {
        path: FORECAST,
        original: FORECAST_RS,
        old: "pub fn parse(text: &str) -> Result<Vec<Hour>, String> {",
        new: "fn fetch(place: &str) -> Result<String, String> {\n    let path = std::env::var(\"DRIZZLE_FILE\").map_err(|_| \"no service configured\")?;\n    std::fs::read_to_string(path).map_err(|e| format!(\"{place}: {e}\"))\n}\n\npub fn parse(text: &str) -> Result<Vec<Hour>, String> {",
    });
    s.bash("cargo check", "Check again", "    Checking drizzle v0.1.0 (/home/mara/code/drizzle)\n    Finished `dev` profile [unoptimized + debuginfo] target(s) in 0.41s");
    s.commit("Print the number of hours known for a place", "main", 5);
    s.say("The first version compiles and is committed. It reads the answer from the file named in `DRIZZLE_FILE` until we decide on a service.");
    story.turn_end(&mut s, 96);
    story.close(
        s,
        "Set up the drizzle weather command",
        "I want a tiny command that prints today's weather for a place.",
    )
}

fn hourly(story: &mut Story<'_>) -> io::Result<()> {
    let mut s = story.open("a failing test is fixed", CWD, SONNET, at(2026, 4, 22, 18, 40))?;
    let prompt = story.ask(&mut s, "Some lines of the answer have a trailing semicolon and some hours have no rain value at all. Make the parser accept both, with tests.");
    s.read(FORECAST, FORECAST_RS);
    s.think("A missing rain value means no rain, so it becomes zero. A trailing semicolon gives an empty last part, which is harmless as long as we do not insist on exactly three parts.");
    s.say("I'll write the tests first.");
    let tests = "\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn rain_may_be_missing() {\n        assert_eq!(parse(\"7;11.5;\").unwrap()[0].rain_mm, 0.0);\n    }\n\n    #[test]\n    fn a_trailing_semicolon_is_fine() {\n        assert_eq!(parse(\"7;11.5;0.2;\").unwrap().len(), 1);\n    }\n}\n";
    let tested = format!("{FORECAST_RS}{tests}");
    let last = "    Ok(Hour { hour, celsius, rain_mm })\n}";
    story.edit(
        &mut s,
        &prompt,
        Change {
            path: FORECAST,
            original: FORECAST_RS,
            old: last,
            new: &format!("{last}\n{}", tests.trim_end()),
        },
    )?;
    s.bash_fail("cargo test", "Run the tests", 101, "running 2 tests\ntest forecast::tests::a_trailing_semicolon_is_fine ... ok\ntest forecast::tests::rain_may_be_missing ... FAILED\n\nfailures:\n\n---- forecast::tests::rain_may_be_missing stdout ----\nthread 'forecast::tests::rain_may_be_missing' panicked at src/forecast.rs:32:9:\ncalled `Result::unwrap()` on an `Err` value: \"bad rain\"\n\ntest result: FAILED. 1 passed; 1 failed; 0 ignored");
    s.say("As expected: an empty rain value is refused. I'll treat it as zero.");
    story.edit(&mut s, &prompt, Change {
        path: FORECAST,
        original: &tested,
        old: "    let rain_mm = parts.next().ok_or(\"no rain\")?.parse().map_err(|_| \"bad rain\")?;",
        new: "    let rain_mm = match parts.next().unwrap_or(\"\") {\n        \"\" => 0.0,\n        text => text.parse().map_err(|_| \"bad rain\")?,\n    };",
    })?;
    s.bash("cargo test", "Run the tests", "running 2 tests\ntest forecast::tests::a_trailing_semicolon_is_fine ... ok\ntest forecast::tests::rain_may_be_missing ... ok\n\ntest result: ok. 2 passed; 0 failed; 0 ignored");
    s.commit("Accept hours without rain", "main", 1);
    s.say("Both cases are accepted now, and each has a test. An hour without a rain value counts as dry.");
    story.turn_end(&mut s, 140);
    story.ask(&mut s, "Good. What happens with an empty file?");
    s.say("`parse` returns an empty list, and the command prints `Bergen: 0 hours`. If you would rather see an error there, I can add one; I left it because an empty answer is not malformed.");
    story.close(
        s,
        "Accept missing rain values in the parser",
        "Good. What happens with an empty file?",
    )
}

fn agent(
    story: &mut Story<'_>,
    s: &mut Scribe,
    task: &str,
    prompt: &str,
    found: &str,
) -> io::Result<()> {
    let input = obj! { "description": task, "prompt": prompt, "subagent_type": "Explore" };
    let call = s.call("Agent", input);
    s.flush();
    let id = format!("a{}", s.random.hex(16));
    let dir = s.truth.file.replace(".jsonl", "/subagents");
    let mut a = story.book.agent(s, &id, &format!("{dir}/agent-{id}.jsonl"))?;
    a.prompt(prompt);
    a.glob("src/**/*.rs", &[MAIN, FORECAST]);
    a.grep("fs::|env::", &[FORECAST]);
    a.say(found);
    s.now = a.now + 900;
    let meta =
        obj! { "agentType": "Explore", "description": task, "toolUseId": call.id, "spawnDepth": 1 };
    story.book.side(&format!("{dir}/agent-{id}.meta.json"), meta.0)?;
    let link = Link { kind: "meta", call: Some(&call.id), agent: None };
    story.book.close_agent(a, s, &link)?;
    let content = [entry::text(found)].raw();
    let shape = obj! {
        "status": "completed", "prompt": prompt, "agentId": id, "agentType": "Explore",
        "content": content, "totalDurationMs": 21_400, "totalTokens": 18_230,
        "totalToolUseCount": 2,
    };
    s.result(&call, &content, &shape);
    Ok(())
}

fn cache(story: &mut Story<'_>) -> io::Result<()> {
    let mut s =
        story.open("a plan, two subagents, a compaction", CWD, OPUS, at(2026, 4, 27, 7, 55))?;
    s.envelope.slug = Some("quiet-gathering-cloud".into());
    s.envelope.branch = "cache".into();
    let id = s.envelope.session.clone();
    story.ask(&mut s, "Every run asks the service again. Plan a small cache on disk, valid for half an hour, and find out first where we touch the file system already.");
    s.say("Two things to look at before planning; I'll have them explored separately.");
    agent(
        story,
        &mut s,
        "Find file system use",
        "List every place in src that touches the file system or the environment, with line numbers.",
        "Only `fetch` in src/forecast.rs does: it reads `DRIZZLE_FILE` (line 15) and the file it names (line 16). Nothing is written anywhere.",
    )?;
    agent(
        story,
        &mut s,
        "Look at error handling",
        "How are errors passed around in this crate? Is there an error type?",
        "Errors are plain strings. `today` returns `Result<String, String>` and `main` prints them with the prefix `drizzle:`. There is no error type.",
    )?;
    let plan = "# A cache on disk\n\n1. `src/cache.rs`: one file per place under the user's cache folder.\n2. An answer is good for 30 minutes, by the file's modification time.\n3. A cache that cannot be written is reported once and otherwise ignored.\n4. Tests use a temporary folder.\n";
    let call = s.call("ExitPlanMode", obj! { "plan": plan });
    s.result(
        &call,
        &"User has approved your plan. You can now start coding.".raw(),
        &obj! { "plan": plan, "isAgent": false },
    );
    story.book.side("plans/quiet-gathering-cloud.md", plan)?;
    for (n, subject) in ["Write cache.rs", "Use it in today", "Test expiry"].iter().enumerate() {
        let task = obj! { "id": (n + 1).to_string(), "subject": subject };
        let call = s.call("TaskCreate", obj! { "subject": subject, "description": subject });
        s.result(
            &call,
            &format!("Task #{} created successfully: {subject}", n + 1).raw(),
            &obj! { "task": task },
        );
        let status = if n < 2 { "completed" } else { "in_progress" };
        let none = Vec::<crate::json::Raw>::new;
        let file = obj! { "id": (n + 1).to_string(), "subject": subject, "description": subject, "status": status, "blocks": none(), "blockedBy": none() };
        story.book.side(&format!("tasks/{id}/{}.json", n + 1), file.0)?;
    }
    let todos = crate::scribe::tool::todo_list(&[
        ("Write cache.rs", "completed"),
        ("Use it in today", "completed"),
        ("Test expiry", "in_progress"),
    ]);
    story.book.side(&format!("todos/{id}-agent-{id}.json"), todos.0)?;
    let code = "//! Answers kept for half an hour.\n\nuse std::path::Path;\nuse std::time::{Duration, SystemTime};\n\nconst GOOD_FOR: Duration = Duration::from_secs(30 * 60);\n\npub fn get(dir: &Path, place: &str) -> Option<String> {\n    let path = dir.join(place);\n    let written = path.metadata().ok()?.modified().ok()?;\n    let age = SystemTime::now().duration_since(written).ok()?;\n    (age < GOOD_FOR).then(|| std::fs::read_to_string(path).ok()).flatten()\n}\n\npub fn put(dir: &Path, place: &str, answer: &str) -> std::io::Result<()> {\n    std::fs::create_dir_all(dir)?;\n    std::fs::write(dir.join(place), answer)\n}\n";
    s.create_file(CACHE, code);
    s.bash("cargo test", "Run the tests", "test result: ok. 2 passed; 0 failed; 0 ignored");
    s.commit("Keep answers for half an hour", "cache", 3);
    s.say("The cache is in place and used by `today`. The expiry test is still open.");
    story.turn_end(&mut s, 312);
    s.compact("manual", 61_240, Some(5_310), "The user asked for an on-disk cache, valid for 30 minutes. It lives in src/cache.rs (get, put) and is used by forecast::today. Committed as \"Keep answers for half an hour\" on branch cache. Open: a test for expiry; then a pull request.");
    let prompt = story.ask(&mut s, "Write the expiry test, then open a pull request.");
    story.edit(&mut s, &prompt, Change {
        path: CACHE,
        original: code,
        old: "    (age < GOOD_FOR).then(|| std::fs::read_to_string(path).ok()).flatten()\n}",
        new: "    (age < GOOD_FOR).then(|| std::fs::read_to_string(path).ok()).flatten()\n}\n\n#[test]\nfn an_old_answer_is_not_used() {\n    let dir = std::env::temp_dir().join(\"drizzle-test\");\n    put(&dir, \"Bergen\", \"7;11.5;0.2\").unwrap();\n    let old = SystemTime::now() - GOOD_FOR * 2;\n    std::fs::File::open(dir.join(\"Bergen\")).unwrap().set_modified(old).unwrap();\n    assert_eq!(get(&dir, \"Bergen\"), None);\n}",
    })?;
    s.bash(
        "cargo test",
        "Run the tests",
        "running 3 tests\n...\ntest result: ok. 3 passed; 0 failed; 0 ignored",
    );
    s.commit("Test that old answers expire", "cache", 1);
    s.bash(
        "gh pr create --fill",
        "Open the pull request",
        "https://github.com/mara/drizzle/pull/4",
    );
    s.pr_link("mara/drizzle", 4);
    s.say("The test passes and the pull request is open: https://github.com/mara/drizzle/pull/4");
    story.turn_end(&mut s, 88);
    s.custom_title("drizzle: cache on disk");
    story.close(
        s,
        "Add a half-hour cache to drizzle",
        "Write the expiry test, then open a pull request.",
    )
}

/// A rewind; its entries are kept, because a fork follows.
fn units(story: &mut Story<'_>) -> io::Result<Scribe> {
    let mut s = story.open("a rewind", CWD, OPUS, at(2026, 5, 4, 19, 5))?;
    s.kept = Some(Vec::new());
    story.ask(&mut s, "I sail on weekends: show the wind too, in knots.");
    s.read(MAIN, MAIN_RS);
    s.say("The service gives wind in metres per second as a fourth value. I can convert it always, or behind a flag. Which do you prefer?");
    let mark = s.mark();
    story.ask(&mut s, "Always knots.");
    s.say("Then `drizzle` prints knots for everybody. One knot is 0.514444 m/s; I'll round to whole knots.");
    s.rewind(&mark);
    let prompt = story.ask(&mut s, "Behind a flag, `--knots`. Others use this as well.");
    story.edit(&mut s, &prompt, Change {
        path: MAIN,
        original: MAIN_RS,
        old: "    let place = std::env::args().nth(1).unwrap_or_else(|| \"Bergen\".into());",
        new: "    let (flags, places): (Vec<String>, Vec<String>) =\n        std::env::args().skip(1).partition(|arg| arg.starts_with(\"--\"));\n    let knots = flags.iter().any(|flag| flag == \"--knots\");\n    let place = places.into_iter().next().unwrap_or_else(|| \"Bergen\".into());",
    })?;
    s.bash("cargo run -- --knots Bergen", "Try it", "Bergen: 24 hours, wind up to 17 knots");
    s.commit("Show wind in knots with --knots", "main", 2);
    s.say("`drizzle --knots Bergen` shows whole knots; without the flag nothing changes.");
    story.turn_end(&mut s, 121);
    Ok(s)
}

fn config(story: &mut Story<'_>, units: &mut Scribe) -> io::Result<()> {
    let mut f =
        story.open("a fork of the session with the rewind", CWD, OPUS, at(2026, 5, 4, 19, 30))?;
    f.copy_from(units);
    f.truth.forks = units.truth.forks.clone();
    f.wait(240_000);
    story.ask(&mut f, "In this copy, try it with a config file instead of the flag.");
    f.fails(
        "Read",
        obj! { "file_path": "/home/mara/.config/drizzle.toml" },
        "File does not exist.",
    );
    f.say("There is no config file yet. A flag is one line of code, a config file brings a parser and a place to document; for a single setting I would stay with the flag.");
    story.close(
        f,
        "Try a config file for units",
        "In this copy, try it with a config file instead of the flag.",
    )?;
    story.ask(units, "Keep it to the flag, no config file for now");
    units.say("Agreed. The flag stays, and there is nothing left to do here.");
    Ok(())
}
