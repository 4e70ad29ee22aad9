//! Sessions written down as they are talked.

use super::case::Case;

/// A session of which each entry follows the one before.
pub struct Session {
    id: String,
    cwd: String,
    text: String,
    count: usize,
}

impl Session {
    /// One of nine sessions, each of another day.
    pub fn new(which: usize) -> Self {
        let id = format!("{which}aaaaaaa-0000-4000-8000-000000000001");
        Self { id, cwd: "/w".into(), text: String::new(), count: 0 }
    }

    /// The folder in which all that follows is said.
    pub fn cwd(self, path: &std::path::Path) -> Self {
        Self { cwd: path.display().to_string(), ..self }
    }

    fn line(mut self, kind: &str, message: &serde_json::Value, more: &str) -> Self {
        let parent = match self.count {
            0 => "null".into(),
            count => format!("\"{}u{count}\"", &self.id[..1]),
        };
        self.count += 1;
        let (count, id) = (self.count, &self.id);
        self.text += &format!(
            "{{\"parentUuid\":{parent},\"uuid\":\"{}u{count}\",\"sessionId\":\"{id}\",\
             \"timestamp\":\"2026-04-2{}T10:00:00.000Z\",\"cwd\":{:?},\"version\":\"2.1.100\",\
             \"type\":\"{kind}\",\"message\":{message}{more}}}\n",
            &id[..1],
            &id[..1],
            self.cwd
        );
        self
    }

    /// A prompt.
    pub fn prompt(self, text: &str) -> Self {
        self.line("user", &serde_json::json!({"role": "user", "content": text}), "")
    }

    /// An answer.
    pub fn answer(self, text: &str) -> Self {
        let content = serde_json::json!([{"type": "text", "text": text}]);
        self.assistant(content)
    }

    fn assistant(self, content: serde_json::Value) -> Self {
        let id = format!("m{}{}", &self.id[..1], self.count);
        let message =
            serde_json::json!({"id": id, "role": "assistant", "model": "m", "content": content});
        self.line("assistant", &message, "")
    }

    /// A call of a tool.
    pub fn call(self, tool: &str, input: serde_json::Value) -> Self {
        let id = format!("t{}{}", &self.id[..1], self.count + 1);
        self.assistant(serde_json::json!([
            {"type": "tool_use", "id": id, "name": tool, "input": input}]))
    }

    /// A failed result of the call before it.
    pub fn failure(self, output: &str) -> Self {
        let id = format!("t{}{}", &self.id[..1], self.count);
        let content = serde_json::json!([
            {"tool_use_id": id, "type": "tool_result", "content": output, "is_error": true}]);
        let message = serde_json::json!({"role": "user", "content": content});
        self.line("user", &message, "")
    }

    /// The result of the call before it; `more` stands beside the message.
    pub fn result(self, output: &str, more: &str) -> Self {
        let id = format!("t{}{}", &self.id[..1], self.count);
        let content = serde_json::json!([
            {"tool_use_id": id, "type": "tool_result", "content": output}]);
        let message = serde_json::json!({"role": "user", "content": content});
        self.line("user", &message, more)
    }

    /// Writes it into a Claude folder.
    pub fn write(self, case: &Case) {
        case.write(&format!("projects/-w/{}.jsonl", self.id), &self.text);
    }
}
