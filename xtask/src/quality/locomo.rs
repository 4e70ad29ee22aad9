//! LoCoMo: ten dialogues of two people over months, with questions and the lines that answer them.
//!
//! Each line is written with the name of who speaks, as in the dialogue itself, and with what the
//! set says of a picture. Questions of category 5 ask the wrong one of the two: they have no answer,
//! but lines that are about it, and are counted apart and in `all with 5`.

use std::collections::HashMap;
use std::path::Path;

use serde_json::Value;
use testkit::clock::{self, Ms};

use super::set::{Dialogue, Line, Part, Question, Session, Set, month, tokens};

/// So many dialogues are for tuning.
const TUNING: usize = 5;

/// Reads `locomo10.json`.
pub fn read(path: &Path) -> Result<Set, String> {
    let all = super::json(path)?;
    let dialogues = all.as_array().ok_or("LoCoMo is a list of dialogues")?;
    let dialogues = dialogues.iter().enumerate().map(|(at, value)| {
        let part = if at < TUNING { Part::Tuning } else { Part::Judging };
        Some((part, dialogue(value)?))
    });
    let dialogues = dialogues.collect::<Option<_>>().ok_or("a dialogue lacks something")?;
    let apart = [
        ("single-hop", vec!["4"]),
        ("all", vec!["1", "2", "3", "4"]),
        ("all with 5", vec!["1", "2", "3", "4", "5"]),
    ];
    let apart = apart.into();
    Ok(Set { name: "LoCoMo", dialogues, apart })
}

fn dialogue(value: &Value) -> Option<Dialogue> {
    let talk = value.get("conversation")?;
    let mut places = HashMap::new();
    let mut sessions = Vec::new();
    for number in 1.. {
        if talk.get(format!("session_{number}_date_time")).is_none() {
            break;
        }
        let Some(lines) = talk.get(format!("session_{number}")) else { continue };
        let begin = date(talk.get(format!("session_{number}_date_time"))?.as_str()?)?;
        let mut session = Session { begin, lines: Vec::new() };
        let first = lines.get(0)?.get("speaker")?.as_str()?;
        for line in lines.as_array()? {
            let speaker = line.get("speaker")?.as_str()?;
            let picture = line.get("blip_caption").and_then(Value::as_str);
            let picture = picture.map(|text| format!(" [{text}]")).unwrap_or_default();
            let text = format!("{speaker}: {}{picture}", line.get("text")?.as_str()?);
            let place = (sessions.len(), session.lines.len());
            places.insert(line.get("dia_id")?.as_str()?.to_owned(), place);
            session.lines.push(Line { is_prompt: speaker == first, text });
        }
        sessions.push(session);
    }
    let questions = value.get("qa")?.as_array()?;
    let questions = questions.iter().filter_map(|value| question(value, &places)).collect();
    Some(Dialogue { sessions, questions })
}

/// A question that some line is about.
fn question(value: &Value, places: &HashMap<String, (usize, usize)>) -> Option<Question> {
    let kind = value.get("category")?.to_string();
    let named: Vec<&str> =
        value.get("evidence")?.as_array()?.iter().filter_map(Value::as_str).collect();
    // Some name several in one text, and a few name none that exists.
    let named = named.iter().flat_map(|text| text.split([';', ' ', ','])).map(str::trim);
    let mut evidence: Vec<_> = named.filter_map(|name| places.get(name)).copied().collect();
    evidence.sort_unstable();
    evidence.dedup();
    let text = value.get("question")?.as_str()?.to_owned();
    (!evidence.is_empty()).then_some(Question { text, kind, evidence })
}

/// `1:56 pm on 8 May, 2023`.
fn date(text: &str) -> Option<Ms> {
    let tokens = tokens(text);
    let [hour, minute, half, "on", day, name, year] = tokens[..] else { return None };
    let number = |text: &str| text.parse::<u64>().ok();
    let hour = number(hour)? % 12 + if half == "pm" { 12 } else { 0 };
    Some(clock::at(number(year)?, month(name)?, number(day)?, hour, number(minute)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dialogue_is_read_with_its_places() {
        let text = r#"{"conversation":{"session_1_date_time":"1:56 pm on 8 May, 2023",
            "session_1":[{"speaker":"Ann","dia_id":"D1:1","text":"Hi"},
                {"speaker":"Bob","dia_id":"D1:2","text":"Look","blip_caption":"a dog"}]},
            "qa":[{"question":"What?","category":4,"evidence":["D1:2; D1:1"]},
                {"question":"Who?","category":5,"evidence":["D1:1"]}]}"#;
        let read = dialogue(&serde_json::from_str(text).unwrap()).unwrap();
        let session = &read.sessions[0];
        assert_eq!(session.begin, 1_683_554_160_000);
        let said: Vec<_> = session.lines.iter().map(|l| (l.is_prompt, &*l.text)).collect();
        assert_eq!(said, [(true, "Ann: Hi"), (false, "Bob: Look [a dog]")]);
        assert_eq!(read.questions.len(), 2);
        assert_eq!(read.questions[0].evidence, [(0, 0), (0, 1)]);
    }
}
