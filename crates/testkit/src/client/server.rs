//! A model server for the real client: the Messages API on a free port of this computer.
//!
//! Answers come from queues of [`Turn`]s. A request is answered from the queue that the last
//! `QUEUE:name` in its user texts names, else from `main`; requests that the client makes for
//! itself (compaction, titles, structured answers, side questions) have the queues `compact`,
//! `title`, `structured` and `side`. An empty queue gives a short default answer. Every request
//! body is recorded, with what was served for it: that is the truth a test compares with.

use std::collections::{HashMap, VecDeque};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use super::turn::{Block, Turn};

/// What a request is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RequestKind {
    /// A step of a conversation, of the main agent or of a subagent.
    Main,
    /// The summary of a compaction.
    Compact,
    /// A title for the session.
    Title,
    /// An answer by a JSON schema.
    Structured,
    /// Any other request without tools.
    Side,
}

impl RequestKind {
    /// The queue that answers it unless the request names one.
    pub fn queue(self) -> &'static str {
        match self {
            Self::Main => "main",
            Self::Compact => "compact",
            Self::Title => "title",
            Self::Structured => "structured",
            Self::Side => "side",
        }
    }
}

/// A request, and what was answered.
#[derive(Debug, Clone)]
pub struct Exchange {
    /// Counted from one, in the order of arrival.
    pub number: u64,
    /// What it was for.
    pub kind: RequestKind,
    /// The queue that answered.
    pub queue: String,
    /// The session, as the client's header names it.
    pub session: Option<String>,
    /// The subagent, as the client's header names it.
    pub agent: Option<String>,
    /// The request's body.
    pub body: Value,
    /// The id of the answer.
    pub message_id: String,
    /// The HTTP status.
    pub status: u16,
    /// The content blocks that were served.
    pub blocks: Vec<Value>,
    /// The usage that was served.
    pub usage: Value,
    /// Whether the answer went out to its end.
    pub is_complete: bool,
}

impl Exchange {
    /// The tool calls of the answer: id and tool.
    pub fn calls(&self) -> impl Iterator<Item = (&str, &str)> {
        self.blocks
            .iter()
            .filter_map(|block| Some((block["id"].as_str()?, block["name"].as_str()?)))
    }

    /// As it is kept in a file for people.
    pub fn to_json(&self) -> Value {
        json!({
            "number": self.number,
            "kind": self.kind.queue(),
            "queue": self.queue,
            "session_id": self.session,
            "agent_id": self.agent,
            "status": self.status,
            "message_id": self.message_id,
            "usage": self.usage,
            "is_complete": self.is_complete,
            "served": self.blocks,
            "body": self.body,
        })
    }
}

#[derive(Debug, Default)]
struct State {
    /// Part of all ids, so that those of two servers never meet.
    nonce: u64,
    queues: HashMap<String, VecDeque<Turn>>,
    exchanges: Vec<Exchange>,
}

/// A server that runs until it is dropped.
#[derive(Debug)]
pub struct ModelServer {
    port: u16,
    state: Arc<Mutex<State>>,
    is_ended: Arc<AtomicBool>,
}

impl ModelServer {
    /// Starts a server on a free port.
    pub fn start() -> Result<Self, String> {
        let failed = |e: io::Error| format!("model server: {e}");
        let listener = TcpListener::bind(("127.0.0.1", 0)).map_err(failed)?;
        let port = listener.local_addr().map_err(failed)?.port();
        let state = State { nonce: nonce(port), ..State::default() };
        let state = Arc::new(Mutex::new(state));
        let is_ended = Arc::new(AtomicBool::new(false));
        let (shared, ended) = (Arc::clone(&state), Arc::clone(&is_ended));
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if ended.load(Ordering::SeqCst) {
                    return;
                }
                let state = Arc::clone(&shared);
                // A client that went away is no failure of the server.
                thread::spawn(move || drop(serve(stream, &state)));
            }
        });
        Ok(Self { port, state, is_ended })
    }

    /// Its address.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Adds answers to a queue.
    pub fn script(&self, queue: &str, turns: impl IntoIterator<Item = Turn>) {
        lock(&self.state).queues.entry(queue.to_owned()).or_default().extend(turns);
    }

    /// Everything that was asked and answered so far.
    pub fn exchanges(&self) -> Vec<Exchange> {
        lock(&self.state).exchanges.clone()
    }

    /// The queues that still have answers, with how many.
    pub fn left_over(&self) -> Vec<(String, usize)> {
        let state = lock(&self.state);
        let left = state.queues.iter().filter(|(_, turns)| !turns.is_empty());
        let mut left: Vec<_> = left.map(|(name, turns)| (name.clone(), turns.len())).collect();
        left.sort();
        left
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.is_ended.store(true, Ordering::SeqCst);
        // The listener wakes up and ends.
        let _ = TcpStream::connect(("127.0.0.1", self.port));
    }
}

fn nonce(port: u16) -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    (now.as_micros() as u64) << 16 | u64::from(port)
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// An HTTP request.
struct Asked {
    method: String,
    path: String,
    headers: HashMap<String, String>,
    body: Vec<u8>,
}

fn read(stream: &TcpStream) -> io::Result<Option<Asked>> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let mut words = line.split_whitespace().map(str::to_owned);
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let mut headers = HashMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let length = headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(Some(Asked { method, path, headers, body }))
}

/// Answers one request; each has a connection of its own.
fn serve(stream: TcpStream, state: &Mutex<State>) -> io::Result<()> {
    let Some(asked) = read(&stream)? else { return Ok(()) };
    let path = asked.path.split('?').next().unwrap_or_default();
    if asked.method == "POST" && path == "/v1/messages" {
        return answer(&stream, state, &asked);
    }
    if path.ends_with("/count_tokens") {
        let tokens = (asked.body.len() / 4).max(1);
        return send(&stream, 200, &[], &json!({ "input_tokens": tokens }));
    }
    if path.starts_with("/v1/models") {
        return send(&stream, 200, &[], &json!({ "data": [], "has_more": false }));
    }
    let missing = json!({ "type": "not_found_error", "message": "no such path" });
    match asked.method.as_str() {
        "POST" => send(&stream, 200, &[], &json!({})),
        "HEAD" => send(&stream, 200, &[], &Value::Null),
        _ => send(&stream, 404, &[], &json!({ "type": "error", "error": missing })),
    }
}

fn send(
    mut stream: &TcpStream,
    status: u16,
    headers: &[(&str, &str)],
    body: &Value,
) -> io::Result<()> {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let mut head = format!("HTTP/1.1 {status} -\r\ncontent-type: application/json\r\n");
    for (name, value) in headers {
        head += &format!("{name}: {value}\r\n");
    }
    head += &format!("connection: close\r\ncontent-length: {}\r\n\r\n", body.len());
    stream.write_all(head.as_bytes())?;
    stream.write_all(body.as_bytes())
}

fn answer(stream: &TcpStream, state: &Mutex<State>, asked: &Asked) -> io::Result<()> {
    let body: Value = serde_json::from_slice(&asked.body).unwrap_or(Value::Null);
    let (place, turn) = record(state, asked, body.clone());
    thread::sleep(Duration::from_millis(turn.delay_ms));
    let exchange = lock(state).exchanges[place].clone();
    let request_id = exchange.message_id.replace("msg_01", "req_01");
    let id = [("request-id", request_id.as_str())];
    if let Some((status, message)) = &turn.failure {
        let error = json!({ "type": error_type(*status), "message": message });
        let error = json!({ "type": "error", "error": error, "request_id": request_id });
        return send(stream, *status, &[id[0], ("retry-after", "1")], &error);
    }
    let done = match body["stream"].as_bool() {
        Some(true) => stream_events(stream, &exchange, &turn, &request_id),
        _ => send(stream, 200, &id, &message(&exchange, &turn)),
    };
    lock(state).exchanges[place].is_complete = done.is_ok() && !turn.is_cut;
    done
}

/// Chooses the answer and writes down the request; its place in the list.
fn record(state: &Mutex<State>, asked: &Asked, body: Value) -> (usize, Turn) {
    let header = |name: &str| asked.headers.get(name).cloned();
    let kind = kind(&body);
    let named = named_queue(&body);
    let mut state = lock(state);
    let number = state.exchanges.len() as u64 + 1;
    let queue = match (kind, named) {
        (RequestKind::Main, Some(name)) => name,
        (kind, _) => kind.queue().to_owned(),
    };
    let next = state.queues.get_mut(&queue).and_then(VecDeque::pop_front);
    let mut turn = next.unwrap_or_else(|| default_turn(kind, &body));
    name_plan_file(&mut turn, &body);
    let place = state.exchanges.len();
    let nonce = state.nonce;
    state.exchanges.push(Exchange {
        number,
        kind,
        queue,
        session: header("x-claude-code-session-id"),
        agent: header("x-claude-code-agent-id"),
        message_id: format!("msg_01{nonce:016x}{number:06}"),
        status: turn.failure.as_ref().map_or(200, |(status, _)| *status),
        blocks: blocks(&turn, nonce, number),
        usage: turn.usage.to_json(number),
        is_complete: false,
        body,
    });
    (place, turn)
}

/// Puts the file that the client wants a plan in, which only its request names, in place of
/// `$PLAN`.
fn name_plan_file(turn: &mut Turn, body: &Value) {
    let text = body.to_string();
    let is_part = |c: char| !c.is_whitespace() && !matches!(c, '"' | '\'' | '`' | '(' | '\\');
    let file = text.match_indices("/plans/").find_map(|(at, _)| {
        let begin = text[..at].rfind(|c| !is_part(c)).map_or(0, |before| before + 1);
        let end = at + text[at..].find(".md")? + ".md".len();
        text[begin..end].chars().all(is_part).then(|| text[begin..end].to_owned())
    });
    let Some(file) = file else { return };
    for block in &mut turn.blocks {
        if let Block::Call { input, .. } = block {
            for value in input.as_object_mut().into_iter().flat_map(|fields| fields.values_mut()) {
                if value == "$PLAN" {
                    *value = file.as_str().into();
                }
            }
        }
    }
}

fn error_type(status: u16) -> &'static str {
    match status {
        400 => "invalid_request_error",
        429 => "rate_limit_error",
        529 => "overloaded_error",
        _ => "api_error",
    }
}

/// The user's texts of a request, the client's reminders left out.
pub fn user_texts(body: &Value) -> Vec<String> {
    let messages = body["messages"].as_array().into_iter().flatten();
    let users = messages.filter(|message| message["role"] == "user");
    let texts = users.flat_map(|message| match &message["content"] {
        Value::String(text) => vec![text.as_str()],
        Value::Array(blocks) => blocks.iter().filter_map(|block| block["text"].as_str()).collect(),
        _ => Vec::new(),
    });
    texts.map(without_reminders).collect()
}

/// A text without what the client adds to it for the model.
pub fn without_reminders(text: &str) -> String {
    const BEGIN: &str = "<system-reminder>";
    const END: &str = "</system-reminder>";
    let (mut left, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once(BEGIN) {
        left += before;
        rest = after.split_once(END).map_or("", |(_, rest)| rest);
    }
    left + rest
}

fn named_queue(body: &Value) -> Option<String> {
    let texts = user_texts(body);
    let named = texts.iter().flat_map(|text| text.split("QUEUE:").skip(1));
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let names = named.map(|rest| rest.split(|c| !is_part(c)).next().unwrap_or_default());
    names.filter(|name| !name.is_empty()).last().map(str::to_owned)
}

fn kind(body: &Value) -> RequestKind {
    let last = user_texts(body).pop().unwrap_or_default();
    let has_tools = body["tools"].as_array().is_some_and(|tools| !tools.is_empty());
    let system = body["system"].to_string().to_lowercase();
    if last.contains("create a detailed summary") {
        RequestKind::Compact
    } else if !body["output_config"]["format"].is_null() || !body["output_format"].is_null() {
        RequestKind::Structured
    } else if has_tools {
        RequestKind::Main
    } else if system.contains("title") {
        RequestKind::Title
    } else {
        RequestKind::Side
    }
}

fn default_turn(kind: RequestKind, body: &Value) -> Turn {
    match kind {
        RequestKind::Main | RequestKind::Side => Turn::text("Done."),
        RequestKind::Title => Turn::text("A made-up title"),
        RequestKind::Structured => Turn::text(&by_schema(body).to_string()),
        RequestKind::Compact => {
            Turn::text("<analysis>Looked.</analysis>\n<summary>\nA made-up summary.\n</summary>")
        }
    }
}

/// The smallest value that a request's JSON schema allows.
fn by_schema(body: &Value) -> Value {
    fn fill(schema: &Value, name: &str) -> Value {
        if let Some(first) = schema["enum"].get(0) {
            return first.clone();
        }
        match schema["type"].as_str().or_else(|| schema["type"][0].as_str()) {
            Some("object") => {
                let fields = schema["properties"].as_object().into_iter().flatten();
                fields.map(|(name, schema)| (name.clone(), fill(schema, name))).collect()
            }
            Some("array") => json!([]),
            Some("boolean") => json!(false),
            Some("number" | "integer") => json!(0),
            _ if name.to_lowercase().contains("title") => json!("A made-up title"),
            _ => json!("made up"),
        }
    }
    let format = match &body["output_config"]["format"] {
        Value::Null => &body["output_format"],
        format => format,
    };
    fill(&format["schema"], "")
}

fn blocks(turn: &Turn, nonce: u64, number: u64) -> Vec<Value> {
    let all = turn.blocks.iter().enumerate();
    let block = |(at, block): (usize, &Block)| match block {
        Block::Text(text) => json!({ "type": "text", "text": text }),
        Block::Thinking(text) => {
            let signature = crate::base64::encode(format!("signature {number} {at}").as_bytes());
            json!({ "type": "thinking", "thinking": text, "signature": signature })
        }
        Block::Call { tool, input } => {
            let id = format!("toolu_01{nonce:016x}{number:04}{at:02}");
            json!({ "type": "tool_use", "id": id, "name": tool, "input": input })
        }
    };
    all.map(block).collect()
}

fn message(exchange: &Exchange, turn: &Turn) -> Value {
    json!({
        "id": exchange.message_id,
        "type": "message",
        "role": "assistant",
        "model": exchange.body["model"],
        "content": exchange.blocks,
        "stop_reason": turn.stop_reason(),
        "stop_sequence": null,
        "usage": exchange.usage,
    })
}

/// Writes server-sent events.
struct Events<'a> {
    stream: &'a TcpStream,
    slow: Duration,
}

impl Events<'_> {
    fn send(&mut self, name: &str, mut event: Value) -> io::Result<()> {
        event["type"] = name.into();
        self.stream.write_all(format!("event: {name}\ndata: {event}\n\n").as_bytes())
    }

    fn delta(&mut self, index: usize, delta: Value) -> io::Result<()> {
        self.send("content_block_delta", json!({ "index": index, "delta": delta }))
    }

    fn block(&mut self, index: usize, block: &Value) -> io::Result<()> {
        let mut start = block.clone();
        match block["type"].as_str() {
            Some("text") => start["text"] = "".into(),
            Some("thinking") => {
                start["thinking"] = "".into();
                start["signature"] = "".into();
            }
            _ => start["input"] = json!({}),
        }
        self.send("content_block_start", json!({ "index": index, "content_block": start }))?;
        match block["type"].as_str() {
            Some("text") => self.text(index, block["text"].as_str().unwrap_or_default())?,
            Some("thinking") => {
                let thinking = json!({ "type": "thinking_delta", "thinking": block["thinking"] });
                self.delta(index, thinking)?;
                let signature = &block["signature"];
                self.delta(index, json!({ "type": "signature_delta", "signature": signature }))?;
            }
            _ => {
                let input = block["input"].to_string();
                self.delta(index, json!({ "type": "input_json_delta", "partial_json": input }))?;
            }
        }
        self.send("content_block_stop", json!({ "index": index }))
    }

    fn text(&mut self, index: usize, text: &str) -> io::Result<()> {
        let chars: Vec<char> = text.chars().collect();
        let step = if self.slow.is_zero() { 400 } else { 12 };
        for piece in chars.chunks(step) {
            let text: String = piece.iter().collect();
            self.delta(index, json!({ "type": "text_delta", "text": text }))?;
            thread::sleep(self.slow);
        }
        Ok(())
    }
}

fn stream_events(
    mut stream: &TcpStream,
    exchange: &Exchange,
    turn: &Turn,
    request_id: &str,
) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-cache\r\n";
    let head = format!("{head}request-id: {request_id}\r\nconnection: close\r\n");
    stream.write_all(format!("{head}\r\n").as_bytes())?;
    let mut events = Events { stream, slow: Duration::from_millis(turn.slow_ms) };
    let mut start = message(exchange, turn);
    start["content"] = json!([]);
    start["stop_reason"] = Value::Null;
    start["usage"]["output_tokens"] = 1.into();
    events.send("message_start", json!({ "message": start }))?;
    events.send("ping", json!({}))?;
    for (index, block) in exchange.blocks.iter().enumerate() {
        events.block(index, block)?;
    }
    if turn.is_cut {
        return stream.shutdown(std::net::Shutdown::Both);
    }
    let delta = json!({ "stop_reason": turn.stop_reason(), "stop_sequence": null });
    let mut usage = exchange.usage.clone();
    if let Some(usage) = usage.as_object_mut() {
        usage.retain(|name, _| name.ends_with("_tokens"));
    }
    events.send("message_delta", json!({ "delta": delta, "usage": usage }))?;
    events.send("message_stop", json!({}))
}
