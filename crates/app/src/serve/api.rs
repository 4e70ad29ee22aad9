//! The commands as JSON: what the page shows, and what `--json` prints, in the same words.
//!
//! `/api/v1/usage/monthly?project=shop` answers as `recount usage monthly --project shop --json`.
//! Only commands that read are here, and only flags that say what is asked for: none that names
//! a file of this computer.

use axum::extract::{Path, RawQuery, State};

use super::answer::{Body, Refusal, Reply};
use super::desk::Desk;
use super::{Held, apart};
use crate::args::{command_of, reason};
use crate::commands;
use crate::error::CliError;

/// What can be asked: the words of the command, and whether a name follows.
const QUESTIONS: &[(&str, Follows)] = &[
    ("list", Follows::Nothing),
    ("show", Follows::Session),
    ("context", Follows::Session),
    ("request", Follows::Session),
    ("tree", Follows::Session),
    ("segments", Follows::Session),
    ("time", Follows::Session),
    ("related", Follows::Session),
    ("errors", Follows::MaybeSession),
    ("todos", Follows::Nothing),
    ("plans", Follows::Nothing),
    ("history", Follows::Nothing),
    ("search", Follows::Text("q")),
    ("file", Follows::Text("path")),
    ("find", Follows::Nothing),
    ("doctor", Follows::Nothing),
    ("usage", Follows::View),
    ("tools", Follows::Nothing),
    ("prices", Follows::Nothing),
    ("storage", Follows::Nothing),
];

/// What may follow a command.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Follows {
    Nothing,
    Session,
    MaybeSession,
    /// A value of the query, in place of an argument.
    Text(&'static str),
    /// A view of what was used.
    View,
}

/// Flags that say what is asked for. All others are refused: some name files.
const FLAGS: &[&str] = &[
    "project",
    "since",
    "until",
    "branch",
    "limit",
    "offset",
    "sort",
    "detail",
    "turn",
    "segment",
    "entry",
    "last",
    "session",
    "tool",
    "summary",
    "fixes",
    "errors",
    "projects",
    "all",
    "flat",
    "explain",
    "regex",
    "model",
    "tz",
    "week-start",
    "by",
    "as-of",
    "file",
    "commit",
    "pr",
    "ghosts",
    "open",
    "diff",
    "thinking",
    "no-subagents",
    "check",
    "array",
];

/// Views of what was used, and what else `usage` answers.
const VIEWS: &[&str] = &[
    "daily",
    "weekly",
    "monthly",
    "session",
    "project",
    "model",
    "subagent",
    "tool",
    "branch",
    "pr",
    "blocks",
    "waste",
    "reconcile",
    "what-if",
];

/// Answers a question.
pub async fn answer(
    State(desk): Held,
    Path(question): Path<String>,
    RawQuery(query): RawQuery,
) -> Reply {
    let line = line(&question, &query.unwrap_or_default())?;
    apart(desk, move |desk| ask(desk, &line)).await
}

fn ask(desk: &Desk, line: &[String]) -> Reply {
    let command = command_of(line).map_err(|error| Refusal::wrong(&reason(&error)))?;
    // One at a time: each may read all files.
    let _alone = desk.alone();
    let mut run = desk.run();
    commands::run(&command, &mut run)?;
    run.write_freshness().map_err(CliError::from)?;
    Ok(Body::Lines(run.out.take()))
}

/// The command line that a question stands for.
fn line(question: &str, query: &str) -> Result<Vec<String>, Refusal> {
    let mut steps = question.split('/').filter(|step| !step.is_empty());
    let name = steps.next().unwrap_or_default();
    let known = QUESTIONS.iter().find(|(known, _)| *known == name);
    let &(_, follows) = known.ok_or_else(|| Refusal::missing("There is no such question"))?;
    let mut line = vec!["recount".to_owned(), name.to_owned()];
    let pairs: Vec<(String, String)> = form(query)?;
    let mut text = None;
    let mut flags = Vec::new();
    for (key, value) in pairs.into_iter().filter(|(key, _)| key != "token") {
        match follows {
            Follows::Text(name) if name == key => text = Some(value),
            _ if FLAGS.contains(&key.as_str()) && value.is_empty() => {
                flags.push(format!("--{key}"))
            }
            _ if FLAGS.contains(&key.as_str()) => flags.push(format!("--{key}={value}")),
            _ => return Err(Refusal::wrong(&format!("There is no `{key}` to ask for"))),
        }
    }
    let rest: Vec<&str> = steps.collect();
    match (follows, rest.as_slice()) {
        (Follows::Nothing | Follows::MaybeSession | Follows::View | Follows::Text(_), []) => {}
        (Follows::Session | Follows::MaybeSession, [id]) if is_id(id) => line.push((*id).into()),
        (Follows::View, views) if views.iter().all(|view| VIEWS.contains(view)) => {
            line.extend(views.iter().map(|view| (*view).to_owned()));
        }
        _ => return Err(Refusal::missing("There is no such question")),
    }
    line.extend(flags);
    if let Follows::Text(name) = follows {
        let text = text.filter(|text| !text.is_empty());
        let has_regex = line.iter().any(|flag| flag.starts_with("--regex="));
        match text {
            Some(text) => line.extend(["--".to_owned(), text]),
            None if has_regex => {}
            None => return Err(Refusal::wrong(&format!("`{name}` is missing"))),
        }
    }
    Ok(line)
}

/// A session is asked for by its id only: other names are paths, or what comes in a pipe.
fn is_id(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    !text.is_empty() && !text.starts_with('-') && text.chars().all(is_plain)
}

fn form(query: &str) -> Result<Vec<(String, String)>, Refusal> {
    let uri = format!("/?{query}").parse().map_err(|_| Refusal::wrong("It is no question"))?;
    let pairs = axum::extract::Query::try_from_uri(&uri);
    pairs.map(|pairs| pairs.0).map_err(|_| Refusal::wrong("It is no question"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(question: &str, query: &str) -> Option<String> {
        line(question, query).ok().map(|line| line[1..].join(" "))
    }

    #[test]
    fn questions_become_commands() {
        assert_eq!(asked("list", "limit=3&errors="), Some("list --limit=3 --errors".into()));
        assert_eq!(asked("show/abc-1", "turn=2-3"), Some("show abc-1 --turn=2-3".into()));
        assert_eq!(asked("usage/monthly/model", ""), Some("usage monthly model".into()));
        assert_eq!(asked("search", "q=port+in+use"), Some("search -- port in use".into()));
        assert_eq!(asked("errors", ""), Some("errors".into()));
    }

    #[test]
    fn nothing_that_writes_or_names_a_file_can_be_asked() {
        for question in ["sync", "restore/abc", "clean", "file/restore", "export/abc", "serve", ""]
        {
            assert_eq!(asked(question, "path=x"), None, "{question}");
        }
        assert_eq!(asked("show/..%2Fx", ""), None);
        assert_eq!(asked("show/-", ""), None);
        assert_eq!(asked("show/--help", ""), None);
        assert_eq!(asked("show", ""), None);
        for flag in ["claude-dir", "store", "prices", "to", "demo", "help"] {
            assert_eq!(asked("list", &format!("{flag}=/etc")), None, "{flag}");
        }
        assert_eq!(asked("file", ""), None);
        assert_eq!(
            asked("search", "q=--claude-dir%3D/etc"),
            Some("search -- --claude-dir=/etc".into())
        );
    }

    #[test]
    fn every_question_is_a_command() {
        use crate::args::Args;
        use clap::CommandFactory;
        let command = Args::command();
        for (name, _) in QUESTIONS {
            assert!(command.find_subcommand(name).is_some(), "{name}");
        }
    }
}
