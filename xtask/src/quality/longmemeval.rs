//! LongMemEval (`longmemeval_s.json`): each question has a haystack of sessions of its own.
//!
//! The evidence is the messages marked `has_answer`; questions without one (abstentions) are left
//! out. All of it is for judging.

use std::path::Path;

use serde_json::Value;
use testkit::clock::{self, Ms};

use super::set::{Dialogue, Line, Part, Question, Session, Set, tokens};

/// Reads the file.
pub fn read(path: &Path) -> Result<Set, String> {
    let all = super::json(path)?;
    let all = all.as_array().ok_or("LongMemEval is a list of questions")?;
    let dialogues = all.iter().filter_map(|value| Some((Part::Judging, dialogue(value)?)));
    Ok(Set { name: "LongMemEval", dialogues: dialogues.collect(), apart: Default::default() })
}

fn dialogue(value: &Value) -> Option<Dialogue> {
    let dates = value.get("haystack_dates")?.as_array()?;
    let (mut sessions, mut evidence) = (Vec::new(), Vec::new());
    for (talk, at) in value.get("haystack_sessions")?.as_array()?.iter().zip(dates) {
        let mut session = Session { begin: date(at.as_str()?)?, lines: Vec::new() };
        for message in talk.as_array()? {
            if message.get("has_answer").and_then(Value::as_bool) == Some(true) {
                evidence.push((sessions.len(), session.lines.len()));
            }
            let is_prompt = message.get("role")?.as_str()? == "user";
            let text = message.get("content")?.as_str()?.to_owned();
            session.lines.push(Line { is_prompt, text });
        }
        sessions.push(session);
    }
    let string = |name: &str| Some(value.get(name)?.as_str()?.to_owned());
    let (text, kind) = (string("question")?, string("question_type")?);
    let question = Question { text, kind, evidence };
    let has_answer = !question.evidence.is_empty();
    has_answer.then_some(Dialogue { sessions, questions: vec![question] })
}

/// `2023/05/20 (Sat) 02:21`.
fn date(text: &str) -> Option<Ms> {
    let tokens = tokens(text);
    let [year, month, day, _, hour, minute] = tokens[..] else { return None };
    let number = |text: &str| text.parse::<u64>().ok();
    let (year, month, day) = (number(year)?, number(month)?, number(day)?);
    Some(clock::at(year, month, day, number(hour)?, number(minute)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_haystack_is_read_with_its_needle() {
        let text = r#"{"question_type":"single-session-user","question":"Where?",
            "haystack_dates":["2023/05/20 (Sat) 02:21"],
            "haystack_sessions":[[{"role":"user","content":"In Rome.","has_answer":true},
                {"role":"assistant","content":"Fine."}]]}"#;
        let read = dialogue(&serde_json::from_str(text).unwrap()).unwrap();
        assert_eq!(read.sessions[0].begin, clock::at(2023, 5, 20, 2, 21));
        assert_eq!(read.questions[0].evidence, [(0, 0)]);
    }
}
