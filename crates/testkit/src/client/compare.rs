//! What recount says of a home, held against what the server served and what the client wrote.
//!
//! Each function gives a list of differences. Nothing here uses recount's own reader: lines of
//! transcripts are read as plain JSON, for ids and for the client's own sums only.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use super::home::ClientHome;
use super::run::Difference;
use super::server::{Exchange, RequestKind, without_reminders};

/// Prompt of the request that shows what the client would send next.
const NEXT: &str = "QUEUE:next What comes next?";

const NO_RESULT: &str = "no result";
const NO_ANSWER: &str = "assistant: No response requested.";

/// Rows of `recount list`.
pub fn list(home: &ClientHome) -> Result<Vec<Value>, String> {
    let args = ["list", "--json", "--all"].map(str::to_owned);
    let ran = home.recount(&args)?;
    match ran.code {
        Some(0 | 1) => Ok(ran.rows().into_iter().filter(|row| row["type"] == "session").collect()),
        _ => Err(format!("recount list: {}", ran.err)),
    }
}

/// The row of one session.
pub fn list_row(home: &ClientHome, id: &str) -> Result<Option<Value>, String> {
    Ok(list(home)?.into_iter().find(|row| row["session"] == id))
}

/// The titles of all sessions.
pub fn titles(home: &ClientHome) -> Result<Vec<String>, String> {
    let title = |row: &Value| row["title"].as_str().map(str::to_owned);
    Ok(list(home)?.iter().filter_map(title).collect())
}

/// Sessions that a running client has registered.
pub fn registered(home: &ClientHome) -> BTreeSet<String> {
    let files = fs::read_dir(home.config().join("sessions")).into_iter().flatten().flatten();
    let ids = files.filter_map(|file| {
        let text = fs::read_to_string(file.path()).ok()?;
        let all: Value = serde_json::from_str(&text).ok()?;
        let pid = all["pid"].as_u64()?;
        fs::metadata(format!("/proc/{pid}")).ok()?;
        all["sessionId"].as_str().map(str::to_owned)
    });
    ids.collect()
}

/// Every line of every transcript that is JSON.
fn lines(home: &ClientHome) -> Vec<(PathBuf, Value)> {
    let read = |file: PathBuf| {
        let text = fs::read(&file).unwrap_or_default();
        let lines: Vec<Value> = text
            .split(|&byte| byte == b'\n')
            .filter_map(|line| serde_json::from_slice(line).ok())
            .collect();
        lines.into_iter().map(move |line| (file.clone(), line)).collect::<Vec<_>>()
    };
    home.transcripts().into_iter().flat_map(read).collect()
}

/// Answers that a transcript has: message ids.
fn ids_on_disk(home: &ClientHome) -> BTreeSet<String> {
    let lines = lines(home);
    let ids = lines.iter().filter(|(_, line)| line["type"] == "assistant");
    ids.filter_map(|(_, line)| line["message"]["id"].as_str().map(str::to_owned)).collect()
}

/// Results of tool calls that a transcript has: the ids of the calls.
pub fn results_on_disk(home: &ClientHome) -> BTreeSet<String> {
    let lines = lines(home);
    let blocks = lines
        .iter()
        .filter(|(_, line)| line["type"] == "user")
        .flat_map(|(_, line)| line["message"]["content"].as_array().into_iter().flatten());
    blocks.filter_map(|block| block["tool_use_id"].as_str().map(str::to_owned)).collect()
}

/// Tool calls that a transcript has.
fn calls_on_disk(home: &ClientHome) -> BTreeSet<String> {
    let lines = lines(home);
    let blocks = lines
        .iter()
        .filter(|(_, line)| line["type"] == "assistant")
        .flat_map(|(_, line)| line["message"]["content"].as_array().into_iter().flatten());
    let calls = blocks.filter(|block| block["type"] == "tool_use");
    calls.filter_map(|block| block["id"].as_str().map(str::to_owned)).collect()
}

/// Tokens by class, and requests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Sum {
    input: u64,
    output: u64,
    cache_write: u64,
    cache_read: u64,
    requests: u64,
}

impl Sum {
    fn add(&mut self, exchange: &Exchange) {
        let class = |name: &str| exchange.usage[name].as_u64().unwrap_or(0);
        self.input += class("input_tokens");
        // Of a cut answer only its beginning was served, which says one token.
        self.output += if exchange.is_complete { class("output_tokens") } else { 1 };
        self.cache_write += class("cache_creation_input_tokens");
        self.cache_read += class("cache_read_input_tokens");
        self.requests += 1;
    }
}

fn served(home: &ClientHome, chosen: impl Fn(&Exchange) -> bool) -> BTreeMap<String, Sum> {
    let mut sums: BTreeMap<String, Sum> = BTreeMap::new();
    for exchange in home.server.exchanges() {
        if exchange.status == 200 && chosen(&exchange) {
            let session = exchange.session.clone().unwrap_or_default();
            sums.entry(session).or_default().add(&exchange);
        }
    }
    sums
}

fn usage_rows(home: &ClientHome) -> Result<BTreeMap<String, Value>, String> {
    let ran = home.recount(&["usage", "session", "--json"].map(str::to_owned))?;
    let rows = ran.rows().into_iter();
    let named = rows.filter_map(|row| Some((row["session"].as_str()?.to_owned(), row)));
    Ok(named.collect())
}

fn counted(row: Option<&Value>) -> Sum {
    let number = |name: &str| row.and_then(|row| row[name].as_u64()).unwrap_or(0);
    Sum {
        input: number("input"),
        output: number("output"),
        cache_write: number("cache_write"),
        cache_read: number("cache_read"),
        requests: number("requests"),
    }
}

/// Tokens of each session: what was served for the answers that are on disk.
pub fn tokens(home: &ClientHome) -> Result<Vec<Difference>, String> {
    let on_disk = ids_on_disk(home);
    let rows = usage_rows(home)?;
    let served = served(home, |exchange| on_disk.contains(&exchange.message_id));
    let differ = served.iter().filter_map(|(session, sum)| {
        let counted = counted(rows.get(session));
        let detail = format!("{session}: served {sum:?}, recount {counted:?}");
        (*sum != counted).then(|| Difference::new("tokens", detail))
    });
    Ok(differ.collect())
}

/// Cost of each session: the client's own sum, where it is about the same requests. Where the
/// client has paid for more than is on disk, recount must not call its sum exact.
pub fn cost(home: &ClientHome) -> Result<Vec<Difference>, String> {
    let on_disk = ids_on_disk(home);
    let rows = usage_rows(home)?;
    let visible = served(home, |exchange| on_disk.contains(&exchange.message_id));
    let mut states: BTreeMap<String, Value> = BTreeMap::new();
    for (_, line) in lines(home) {
        if let ("cost-state", Some(id)) = (text(&line["type"]), line["sessionId"].as_str()) {
            states.insert(id.to_owned(), line);
        }
    }
    let forks = forks(home);
    let mut differ = Vec::new();
    for (session, state) in states {
        let Some(row) = rows.get(&session) else { continue };
        let own = client_sum(&state);
        let seen = visible.get(&session).copied().unwrap_or_default();
        let (theirs, ours) = (state["totalCostUSD"].as_f64(), row["cost_usd"].as_f64());
        let is_same = Sum { requests: 0, ..seen } == own;
        let is_equal =
            theirs.zip(ours).is_some_and(|(theirs, ours)| (theirs - ours).abs() < 0.000_001_5);
        if is_same && !is_equal {
            differ.push(Difference::new(
                "cost",
                format!("{session}: client {theirs:?}, recount {ours:?}"),
            ));
        }
        let is_more = own.output > seen.output && own.input >= seen.input;
        if is_more && !forks.contains(&session) && row["confidence"] == "exact" {
            differ.push(Difference::new(
                "cost",
                format!("{session}: called exact, but the client counts {own:?}, disk {seen:?}"),
            ));
        }
    }
    Ok(differ)
}

/// Every difference between the client's own sum and ours has a reason.
pub fn reasons(home: &ClientHome) -> Result<Vec<Difference>, String> {
    let ran = home.recount(&["usage", "reconcile", "--json"].map(str::to_owned))?;
    let rows = ran.rows();
    let claims = rows.iter().filter(|row| row["source"] == "cost-state");
    let differ = claims.filter(|row| {
        let is_other =
            row["difference"].as_f64().is_some_and(|difference| difference.abs() > 1.5e-6);
        is_other && row["explanations"].as_array().is_none_or(Vec::is_empty)
    });
    let differ = differ.map(|row| Difference::new("cost", format!("no reason is given: {row}")));
    Ok(differ.collect())
}

/// Sessions whose files have answers that were served to another session: the client's sums of
/// a fork begin with those of its parent.
fn forks(home: &ClientHome) -> BTreeSet<String> {
    let owners: BTreeMap<String, Option<String>> = home
        .server
        .exchanges()
        .into_iter()
        .map(|exchange| (exchange.message_id, exchange.session))
        .collect();
    let lines = lines(home);
    let copied = lines.iter().filter_map(|(file, line)| {
        let owner = owners.get(line["message"]["id"].as_str()?)?.as_deref()?;
        let stem = file.file_stem()?.to_str()?;
        let is_agent = file.parent().is_some_and(|folder| folder.ends_with("subagents"));
        (!is_agent && owner != stem).then(|| stem.to_owned())
    });
    copied.collect()
}

/// The client's sums over all models.
fn client_sum(state: &Value) -> Sum {
    let models = state["modelUsage"].as_object().into_iter().flatten();
    models.fold(Sum::default(), |sum, (_, model)| {
        let number = |name: &str| model[name].as_u64().unwrap_or(0);
        Sum {
            input: sum.input + number("inputTokens"),
            output: sum.output + number("outputTokens"),
            cache_write: sum.cache_write + number("cacheCreationInputTokens"),
            cache_read: sum.cache_read + number("cacheReadInputTokens"),
            requests: 0,
        }
    })
}

/// Calls of each session: those that were served and are on disk, each once.
pub fn calls(home: &ClientHome) -> Result<Vec<Difference>, String> {
    let on_disk = calls_on_disk(home);
    let mut truth: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for exchange in home.server.exchanges() {
        let Some(session) = &exchange.session else { continue };
        let count = exchange.calls().filter(|(id, _)| on_disk.contains(*id)).count();
        let entry = truth.entry(session.clone()).or_default();
        entry.1 += count;
        if exchange.agent.is_none() {
            entry.0 += count;
        }
    }
    let rows = list(home)?;
    let differ = truth.iter().filter_map(|(session, &(own, all))| {
        let row = rows.iter().find(|row| row["session"] == session.as_str())?;
        let is = (row["calls"].as_u64()? as usize, row["all_calls"].as_u64()? as usize);
        let detail = format!(
            "{session}: {own} calls of its own and {all} with subagents were served, recount has {} and {}",
            is.0, is.1
        );
        (is != (own, all)).then(|| Difference::new("calls", detail))
    });
    Ok(differ.collect())
}

/// Failed calls: those whose results were on disk and were sent as errors, in the sessions that
/// were asked once more (so that the last results were sent too). For a call without a result the
/// client makes one up when it resumes, which is not on disk before.
pub fn errors(
    home: &ClientHome,
    listed: &[Value],
    on_disk: &BTreeSet<String>,
    sessions: &[String],
) -> Vec<Difference> {
    let mut failed: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    let exchanges = home.server.exchanges();
    for exchange in exchanges.iter().filter(|exchange| exchange.agent.is_none()) {
        let Some(session) = exchange.session.as_deref() else { continue };
        let blocks = content_blocks(&exchange.body);
        let errors = blocks.filter(|block| block["is_error"] == true);
        let ids = errors.filter_map(|block| block["tool_use_id"].as_str().map(str::to_owned));
        failed.entry(session).or_default().extend(ids.filter(|id| on_disk.contains(id)));
    }
    let own: BTreeMap<&str, &str> = exchanges
        .iter()
        .filter_map(|exchange| Some((exchange.session.as_deref()?, exchange)))
        .flat_map(|(session, exchange)| exchange.calls().map(move |(id, _)| (id, session)))
        .collect();
    let differ = sessions.iter().filter_map(|session| {
        let row = listed.iter().find(|row| row["session"] == session.as_str())?;
        let ids = failed.get(session.as_str())?;
        let wanted =
            ids.iter().filter(|id| own.get(id.as_str()) == Some(&session.as_str())).count();
        let is = row["errors"].as_u64()? as usize;
        let detail = format!("{session}: {wanted} failed results were sent, recount has {is}");
        (wanted != is).then(|| Difference::new("errors", detail))
    });
    differ.collect()
}

fn content_blocks(body: &Value) -> impl Iterator<Item = &Value> {
    let messages = body["messages"].as_array().into_iter().flatten();
    messages.flat_map(|message| message["content"].as_array().into_iter().flatten())
}

/// No client runs any more: no session is live, and `wait` ends at once.
pub fn states(home: &ClientHome) -> Result<Vec<Difference>, String> {
    // A client that was ended just now is still on its way out.
    let is_over = |rows: &[Value]| !rows.iter().any(|row| row["state"] == "live");
    let mut rows = list(home)?;
    for _ in 0..50 {
        if is_over(&rows) {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
        rows = list(home)?;
    }
    let mut differ = Vec::new();
    for row in rows {
        let (id, state) = (text(&row["session"]), text(&row["state"]));
        if matches!(state, "live" | "waiting") {
            differ.push(Difference::new("states", format!("{id} has ended, recount: {state}")));
        }
    }
    Ok(differ)
}

/// Answers that nobody asked for: the scenario does not do what it says.
pub fn left_over(home: &ClientHome) -> Vec<Difference> {
    let left = home.server.left_over().into_iter();
    let differ = left.map(|(queue, count)| {
        Difference::new("script", format!("{count} answers of `{queue}` were never asked for"))
    });
    differ.collect()
}

/// What `doctor` calls unknown.
pub fn unknown_names(home: &ClientHome) -> Result<Vec<String>, String> {
    let ran = home.recount(&["doctor", "--json"].map(str::to_owned))?;
    let rows = ran.rows().into_iter().filter(|row| row["type"] == "unknown");
    Ok(rows.map(|row| format!("{} {}", text(&row["kind"]), text(&row["name"]))).collect())
}

/// What `recount context` says before, and what the client then sends: the same texts, calls and
/// results in the same order.
pub fn context(home: &ClientHome, name: &str, id: &str) -> Result<Vec<Difference>, String> {
    let ran = home.recount(&["context", id, "--json"].map(str::to_owned))?;
    let ours: Vec<String> = ran.rows().iter().flat_map(of_record).collect();
    let args = ["-p", NEXT, "--resume", id, "--output-format", "json"].map(str::to_owned);
    let before = home.server.exchanges().len();
    let said = home.run(&args, &folder_of(home, id))?;
    let mut asked = home.server.exchanges().into_iter().skip(before);
    let next = asked.find(|exchange| exchange.queue == "next");
    let Some(next) = next.filter(|exchange| exchange.kind == RequestKind::Main) else {
        let detail = format!("{name}: the client did not go on: {}{}", said.out, said.err);
        return Ok(vec![Difference::new("context", detail)]);
    };
    let mut theirs = of_request(&next.body);
    if theirs.last().is_some_and(|last| last.contains(NEXT)) {
        theirs.pop();
    }
    // The client puts this between two messages of the user when it resumes; it is not on disk.
    if theirs.last().is_some_and(|last| last == NO_ANSWER) && ours.last() != theirs.last() {
        theirs.pop();
    }
    if ours.len() == theirs.len()
        && ours.iter().zip(&theirs).all(|(ours, theirs)| is_same(ours, theirs))
    {
        return Ok(Vec::new());
    }
    let detail = format!("{name}:\n{}", side_by_side(&ours, &theirs));
    Ok(vec![Difference::new("context", detail)])
}

/// The folder that a session was last in.
fn folder_of(home: &ClientHome, id: &str) -> PathBuf {
    let file =
        home.transcripts().into_iter().find(|file| file.file_stem().is_some_and(|stem| stem == id));
    let text = file.and_then(|file| fs::read_to_string(file).ok()).unwrap_or_default();
    let lines = text.lines().rev().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut folders = lines.filter_map(|line| line["cwd"].as_str().map(PathBuf::from));
    folders.next().filter(|folder| folder.is_dir()).unwrap_or_else(|| home.work())
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// An item of a context, if something is left of its text. A command is written as it was typed,
/// a notice about a task without what the client says around it.
fn item(who: &str, text: &str) -> Option<String> {
    if let Some(notice) = between(text, "<task-notification>", "</task-notification>") {
        return Some(format!("notice: {}", notice.trim()));
    }
    let text = without_reminders(text);
    if let Some(command) = between(&text, "<command-name>", "</command-name>") {
        let args = between(&text, "<command-args>", "</command-args>").unwrap_or_default();
        return Some(format!("{who}: {}", format!("{command} {args}").trim()));
    }
    if let Some(command) = between(&text, "<bash-input>", "</bash-input>") {
        return Some(format!("{who}: ! {command}"));
    }
    let text = text.trim();
    (!text.is_empty()).then(|| format!("{who}: {text}"))
}

fn between<'a>(text: &'a str, begin: &str, end: &str) -> Option<&'a str> {
    Some(text.split_once(begin)?.1.split_once(end)?.0)
}

fn call(tool: &str, input: &Value, result: Option<String>) -> String {
    let result = result.map(|text| text.trim().to_owned());
    format!("call: {tool} {input} -> {}", result.unwrap_or_else(|| NO_RESULT.into()))
}

/// A record of `recount context`.
fn of_record(row: &Value) -> Vec<String> {
    let mut items = Vec::new();
    let role = text(&row["role"]);
    // What the client tells the model about itself goes into messages of the system.
    if role == "attachment" {
        return items;
    }
    let who = if matches!(role, "assistant" | "answer") { "assistant" } else { "user" };
    items.extend(row["text"].as_str().and_then(|text| item(who, text)));
    items.extend(row["beside"].as_array().into_iter().flatten().filter_map(|t| item(who, text(t))));
    for part in row["parts"].as_array().into_iter().flatten() {
        if part["kind"] == "text" {
            items.extend(item("assistant", text(&part["text"])));
        }
    }
    for one in row["calls"].as_array().into_iter().flatten() {
        let result = one["result"]["text"].as_str().map(without_reminders);
        let result = result.or_else(|| one["result"].is_object().then(String::new));
        items.push(call(text(&one["tool"]), &one["input"], result));
    }
    items
}

/// The messages of a request.
fn of_request(body: &Value) -> Vec<String> {
    let results: BTreeMap<&str, String> = content_blocks(body)
        .filter_map(|block| Some((block["tool_use_id"].as_str()?, result_text(&block["content"]))))
        .collect();
    let mut items = Vec::new();
    for message in body["messages"].as_array().into_iter().flatten() {
        let role = text(&message["role"]);
        if role == "system" {
            let told = message["content"].as_str().and_then(|text| item("system", text));
            items.extend(told.filter(|item| item.starts_with("notice: ")));
            continue;
        }
        items.extend(message["content"].as_str().and_then(|text| item(role, text)));
        for block in message["content"].as_array().into_iter().flatten() {
            match text(&block["type"]) {
                "text" => items.extend(item(role, text(&block["text"]))),
                "tool_use" => {
                    let result = results.get(text(&block["id"])).cloned();
                    items.push(call(text(&block["name"]), &block["input"], result));
                }
                _ => {}
            }
        }
    }
    items
}

fn result_text(content: &Value) -> String {
    match content {
        Value::String(text) => without_reminders(text),
        Value::Array(blocks) => {
            let texts = blocks.iter().filter_map(|block| block["text"].as_str());
            without_reminders(&texts.collect::<Vec<_>>().join("\n"))
        }
        _ => String::new(),
    }
}

/// Whether two items say the same. Around a prompt that was typed while the model worked, the
/// client writes lines of its own; of a call without a result it makes one up when it resumes.
fn is_same(ours: &str, theirs: &str) -> bool {
    let framed = || {
        let (ours, theirs) = (ours.strip_prefix("user: ")?, theirs.strip_prefix("user: ")?);
        Some(theirs.contains(&format!("\n{ours}\n")))
    };
    let is_open = || ours.strip_suffix(NO_RESULT).is_some_and(|call| theirs.starts_with(call));
    ours == theirs || framed() == Some(true) || is_open()
}

/// Two lists, with what only one of them has marked.
fn side_by_side(ours: &[String], theirs: &[String]) -> String {
    let short = |text: &String| text.chars().take(160).collect::<String>().replace('\n', "⏎");
    let begin = ours.iter().zip(theirs).take_while(|(a, b)| is_same(a, b)).count();
    let (ours, theirs) = (&ours[begin..], &theirs[begin..]);
    let pairs = ours.iter().rev().zip(theirs.iter().rev());
    let end = pairs.take_while(|(a, b)| is_same(a, b)).count();
    let show = |mark: &str, list: &[String]| {
        let lines = list[..list.len() - end].iter();
        lines.map(|text| format!("  {mark} {}\n", short(text))).collect::<String>()
    };
    format!(
        "  {begin} the same, then\n{}{}  {end} the same",
        show("recount", ours),
        show("client ", theirs)
    )
}
