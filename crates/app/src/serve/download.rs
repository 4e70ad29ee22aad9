//! A session as a file to hand on, as `recount export` makes it: without secrets.

use super::answer::{Body, Refusal, Reply};
use super::desk::Desk;
use crate::args::command_of;
use crate::commands::{self, short};
use crate::error::CliError;

/// The forms that can be asked for, by the end of the file's name.
const FORMS: [&str; 4] = ["html", "md", "json", "jsonl"];

/// A session as a file; `name` is `session.` and its form.
pub fn export(desk: &Desk, id: &str, name: &str) -> Reply {
    let form = name.strip_prefix("session.").filter(|form| FORMS.contains(form));
    let form = form.ok_or_else(|| Refusal::missing("There is no such form"))?;
    let is_there = desk.shelf().library.session(id).is_some();
    if !is_there {
        return Err(Refusal::missing(&format!("There is no session {id}")));
    }
    let folder = tempfile::tempdir().map_err(CliError::Demo)?;
    let file = folder.path().join(format!("{}.{form}", short(id)));
    let line = ["recount".into(), "export".into(), "--to".into(), file.clone().into_os_string()];
    let line = line.into_iter().chain(["--".into(), id.into()]);
    let command = command_of(line).map_err(|_| Refusal::wrong("It has no plain name"))?;
    let _alone = desk.alone();
    commands::run(&command, &mut desk.run())?;
    let bytes = std::fs::read(&file).map_err(|error| {
        Refusal::from(CliError::Read(transcript::layout::Problem::new(&file, error)))
    })?;
    Ok(Body::File(format!("{}.{form}", short(id)), bytes))
}
