//! BEAM: long chats with an assistant, with questions and the messages that answer them.
//!
//! A batch of a chat is a session. "Facts" are the kinds of question whose evidence can be found
//! by what is asked: an order of events or a summary needs the whole chat, and an instruction is
//! not about what its question is about.

use std::collections::HashMap;
use std::path::Path;

use serde_json::Value;
use testkit::clock::{self, Ms};

use super::set::{Dialogue, Line, Part, Question, Session, Set, month, tokens};

/// The first session of a chat without a date, and how far the others are apart.
const FIRST: Ms = 1_700_000_000_000;
const DAY: Ms = 86_400_000;

const FACTS: [&str; 5] = [
    "information_extraction",
    "knowledge_update",
    "temporal_reasoning",
    "multi_session_reasoning",
    "contradiction_resolution",
];

/// Reads the chats below a folder such as `chats/100K`. All are for tuning.
pub fn read(folder: &Path) -> Result<Set, String> {
    let mut names: Vec<u32> = super::entries(folder)?
        .iter()
        .filter_map(|path| path.file_name()?.to_str()?.parse().ok())
        .collect();
    names.sort_unstable();
    let mut dialogues = Vec::new();
    for name in names {
        let chat = folder.join(name.to_string());
        let talk = super::json(&chat.join("chat.json"))?;
        let asked = super::json(&chat.join("probing_questions/probing_questions.json"))?;
        let lacks = || format!("{}: something is missing", chat.display());
        let dialogue = dialogue(&talk, &asked).ok_or_else(lacks)?;
        dialogues.push((Part::Tuning, dialogue));
    }
    Ok(Set { name: "BEAM", dialogues, apart: [("facts", FACTS.to_vec())].into() })
}

fn dialogue(talk: &Value, asked: &Value) -> Option<Dialogue> {
    let mut places = HashMap::new();
    let mut sessions: Vec<Session> = Vec::new();
    for batch in talk.as_array()? {
        let begin = batch.get("time_anchor").and_then(Value::as_str).and_then(date);
        let before = sessions.last().map_or(FIRST, |last| last.begin + DAY);
        let mut session = Session { begin: begin.unwrap_or(before), lines: Vec::new() };
        let turns = batch.get("turns")?.as_array()?.iter();
        for message in turns.filter_map(Value::as_array).flatten() {
            let text = message.get("content")?.as_str()?;
            // What the makers of the set wrote behind it for themselves.
            let text = text.split("->->").next()?.trim_end().to_owned();
            places.insert(message.get("id")?.as_i64()?, (sessions.len(), session.lines.len()));
            let is_prompt = message.get("role")?.as_str()? == "user";
            session.lines.push(Line { is_prompt, text });
        }
        sessions.push(session);
    }
    let mut questions = Vec::new();
    for (kind, all) in asked.as_object()? {
        for one in all.as_array()? {
            let mut ids = Vec::new();
            if let Some(source) = one.get("source_chat_ids") {
                numbers(source, &mut ids);
            }
            ids.sort_unstable();
            ids.dedup();
            let evidence: Vec<_> = ids.iter().filter_map(|id| places.get(id)).copied().collect();
            let text = one.get("question")?.as_str()?.to_owned();
            if !evidence.is_empty() {
                questions.push(Question { text, kind: kind.clone(), evidence });
            }
        }
    }
    Some(Dialogue { sessions, questions })
}

/// All numbers in a value, at any depth: each kind of question nests them in its own way.
fn numbers(value: &Value, out: &mut Vec<i64>) {
    match value {
        Value::Number(number) => out.extend(number.as_i64()),
        Value::String(text) => out.extend(text.parse::<i64>().ok()),
        Value::Array(all) => all.iter().for_each(|value| numbers(value, out)),
        Value::Object(all) => all.values().for_each(|value| numbers(value, out)),
        Value::Null | Value::Bool(_) => {}
    }
}

/// `March-15-2024`.
fn date(text: &str) -> Option<Ms> {
    let tokens = tokens(text);
    let [name, day, year] = tokens[..] else { return None };
    Some(clock::at(year.parse().ok()?, month(name)?, day.parse().ok()?, 9, 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chat_is_read_with_its_places() {
        let talk = r#"[{"time_anchor":"March-15-2024","turns":[[{"role":"user","id":0,"content":"Hi ->-> 1,1"},
            {"role":"assistant","id":1,"content":"Yes"}]]}]"#;
        let asked = r#"{"knowledge_update":[{"question":"Which?","source_chat_ids":{"old":[0],"new":["1"]}}],
            "abstention":[{"question":"None?"}]}"#;
        let value = |text| serde_json::from_str(text).unwrap();
        let read = dialogue(&value(talk), &value(asked)).unwrap();
        assert_eq!(read.sessions[0].begin, clock::at(2024, 3, 15, 9, 0));
        assert_eq!(read.sessions[0].lines[0].text, "Hi");
        assert_eq!(read.questions.len(), 1, "one has no evidence");
        assert_eq!(read.questions[0].evidence, [(0, 0), (0, 1)]);
    }
}
