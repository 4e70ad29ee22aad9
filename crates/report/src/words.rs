//! What a call is about, in words that all doors share.

use transcript::call::CallInput;
use transcript::tool::{Hunk, ToolForm, mcp_name};

use transcript::record::{CallRecord, Outcome};

/// `mcp__github__create_issue` as `github · create_issue`.
pub fn tool_name(tool: &str) -> String {
    match mcp_name(tool) {
        Some((server, name)) => format!("{server} · {name}"),
        None if tool.is_empty() => "(no name)".into(),
        None => tool.into(),
    }
}

/// A todo list in a few words: how far it is and what is being done. Of a change to one task,
/// which and how.
pub fn todos(call: &CallRecord) -> Option<String> {
    let input = CallInput::from_json(&call.input)?;
    match ToolForm::of(&call.tool) {
        ToolForm::TodoList => {}
        ToolForm::TaskChange => {
            let task = input.task_number()?;
            let words = input.task_status().or_else(|| input.task_subject());
            return Some(words.map_or(format!("#{task}"), |words| format!("#{task} {words}")));
        }
        ToolForm::TaskList => {
            let text = call.outcome.as_ref()?.text.as_deref()?;
            let done = text.lines().filter(|line| line.contains(" [completed] ")).count();
            let now = text.lines().find_map(|line| line.split_once(" [in_progress] "));
            let now = now.map(|(_, now)| format!(": {now}")).unwrap_or_default();
            return Some(format!("{done} of {} done{now}", text.lines().count()));
        }
        _ => return None,
    }
    let (mut done, mut all, mut now) = (0, 0, None);
    for item in input.listed_todos()? {
        all += 1;
        match item.status.as_deref() {
            Some("completed") => done += 1,
            Some("in_progress") => now = item.active_form.or(item.content),
            _ => {}
        }
    }
    let now = now.map(|now| format!(": {now}")).unwrap_or_default();
    Some(format!("{done} of {all} done{now}"))
}

/// What a person chose, out of the sentence that tells the model: `"question"="answer"`.
pub fn answers(text: &str) -> Vec<&str> {
    let answer = |rest: &'_ str| -> Option<usize> {
        [rest.find("\", \""), rest.find("\". You can"), rest.rfind('"')].into_iter().flatten().min()
    };
    let starts = text.match_indices("\"=\"").map(|(at, mark)| at + mark.len());
    starts.filter_map(|at| Some(&text[at..at + answer(&text[at..])?])).collect()
}

/// Whether a person did not allow the call.
pub fn is_rejected(outcome: &Outcome) -> bool {
    outcome.is_error && outcome.text.as_deref().is_some_and(is_rejection)
}

/// Whether an error says that a person did not allow the call.
pub fn is_rejection(error: &str) -> bool {
    error.starts_with("The user doesn't want to proceed with this tool use")
}

/// An error without the tag around it.
pub fn error_text(text: &str) -> &str {
    let inside = text.trim().strip_prefix("<tool_use_error>");
    inside.and_then(|t| t.strip_suffix("</tool_use_error>")).unwrap_or(text)
}

/// What an edit's input says it wrote, where there is no patch.
pub fn written(input: &str) -> Vec<Hunk> {
    CallInput::from_json(input).map_or_else(Vec::new, CallInput::written_hunks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_of_a_person() {
        let text = r#"User has answered your questions: "Where?"="Settings", "How?"="say "hi", then". You can now continue"#;
        assert_eq!(answers(text), ["Settings", "say \"hi\", then"]);
        assert!(answers("no answer").is_empty());
        assert_eq!(answers(r#""Q"="A""#), ["A"]);
    }
}
