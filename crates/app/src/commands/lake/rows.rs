//! `recount lake rows`: transcripts in, rows out, for engines that share the work out themselves.
//!
//! The files of one home are joined, so that what several of them hold is given once; of files that
//! another process is given nothing is known.

use std::collections::BTreeMap;
use std::io::{self, BufRead};
use std::path::{Path, PathBuf};

use hashbrown::{HashMap, HashSet};
use report::rows::{Maker, Origin, Responses, Texts};
use report::usage::Ledger;
use serde::ser::{Serialize, SerializeMap, Serializer};
use store::table::{Row, Table, Value};
use transcript::layout::{self, FileKind, Found, Problem};
use transcript::library::read_session;
use transcript::time::Time;

use super::ContentArgs;
use super::dress::Dress;
use crate::error::{Answer, CliError, LakeError};
use crate::run::Run;
use crate::wire::time;

/// Rows of the tables from transcripts that are named on standard input.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  find ~/.claude/projects -name '*.jsonl' | recount lake rows
  recount lake rows --host build-7 --user ci < paths > rows.jsonl

A line of the input is a path, or a host, a user and a path with tabs between. A line of the
output is one row as JSON: its `table`, then the columns of it as `recount lake write` writes
them. Give all transcripts of a Claude folder to one process: what several of them hold is
given once, and only files that are read together are compared.")]
pub struct RowsArgs {
    #[command(flatten)]
    content: ContentArgs,
}

/// Whose files they are, and the Claude folder they lie in.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Home {
    host: String,
    user: String,
    root: PathBuf,
}

/// Prints the rows.
pub fn run(args: &RowsArgs, run: &mut Run) -> Result<Answer, CliError> {
    let mut dress = Dress::new(&args.content);
    let mut rows = 0;
    for (home, files) in homes(args, run)? {
        rows += print(&home, &files, &mut dress, run)?;
    }
    Ok(if rows > 0 { Answer::Found } else { Answer::Nothing })
}

/// The files of standard input by their homes, each by its path below the Claude folder.
fn homes(args: &RowsArgs, run: &mut Run) -> Result<BTreeMap<Home, HashSet<PathBuf>>, CliError> {
    let own = run.recount.origin();
    let own = Origin {
        host: args.content.host.clone().unwrap_or(own.host),
        user: args.content.user.clone().unwrap_or(own.user),
    };
    let mut homes: BTreeMap<Home, HashSet<PathBuf>> = BTreeMap::new();
    for (number, line) in (1..).zip(io::stdin().lock().lines()) {
        let line = line.map_err(|error| CliError::Read(Problem::new("standard input", error)))?;
        let (host, user, path) = match *line.split('\t').collect::<Vec<_>>() {
            [""] => continue,
            [path] => (&*own.host, &*own.user, path),
            [host, user, path] => (host, user, path),
            _ => return Err(LakeError::NoPath { number, line }.into()),
        };
        let path = Path::new(path);
        let (root, rel) = match place(path) {
            Some(place) => place,
            None if is_beside(path) => continue,
            None => return Err(LakeError::NoTranscript(path.into()).into()),
        };
        match root.join(rel).canonicalize() {
            Ok(_) => {
                let root = root.canonicalize().unwrap_or_else(|_| root.into());
                let home = Home { host: host.into(), user: user.into(), root };
                homes.entry(home).or_default().insert(rel.into());
            }
            Err(error) => run.talk.skip(Problem::new(path, error)),
        }
    }
    Ok(homes)
}

/// The Claude folder of a transcript, and where it lies there.
fn place(path: &Path) -> Option<(&Path, &Path)> {
    let is_transcript =
        |rel: &Path| rel.starts_with("projects") && layout::classify(rel).is_transcript();
    path.ancestors().skip(1).find_map(|root| {
        let rel = path.strip_prefix(root).ok()?;
        is_transcript(rel).then_some((root, rel))
    })
}

/// Whether a file that is no transcript lies among some, as journals and workflows do.
fn is_beside(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str() == "projects")
}

fn print(
    home: &Home,
    given: &HashSet<PathBuf>,
    dress: &mut Dress,
    run: &mut Run,
) -> Result<usize, CliError> {
    let Home { host, user, root } = home;
    let walk = layout::walk_projects(root);
    walk.problems.into_iter().for_each(|problem| run.talk.skip(problem));
    let is_given = |found: &Found| !found.kind.is_transcript() || given.contains(&found.rel);
    let files: Vec<Found> = walk.files.into_iter().filter(is_given).collect();
    let prices = run.recount.load_prices(None)?;
    let transcripts = files.iter().filter(|found| found.kind.is_transcript()).cloned().collect();
    let (counted, inputs) = run.recount.read_claims(transcripts);
    let ledger = Ledger::new(inputs, &prices);
    let is_read = |found: &Found| !matches!(found.kind, FileKind::SetAside { .. });
    let (library, _) = run
        .recount
        .join_files(files.into_iter().filter(is_read).collect(), |_, _, _| None::<()>)?;
    let cards = library.cards.iter().zip(0..).map(|(card, at)| (&*card.found.path, at));
    let cards: HashMap<&Path, usize> = cards.collect();
    let card = |file: u32| cards.get(&*counted[file as usize].path).copied();
    let responses = Responses::new(&ledger, &prices, card);
    let origin = Origin { host: host.clone(), user: user.clone() };
    let maker = Maker { origin: &origin, library: &library, responses, texts: Texts::Whole };
    let mut open = |card: usize| {
        let found = &library.cards[card].found;
        Ok((read_session(found, library.copies_of(card))?, found.open()?))
    };
    let (mut printed, mut rows, mut problems) = (Ok(()), 0, Vec::new());
    let mut each = |table: &'static Table, row: Row| {
        if printed.is_ok() && dress.has(table) {
            rows += 1;
            let row = dress.row(table, row, host, user);
            printed = run.out.json(&Line { table, row: &row });
        }
    };
    maker.all(&mut open, &mut each, |problem| problems.push(problem));
    problems.into_iter().for_each(|problem| run.talk.skip(problem));
    printed?;
    Ok(rows)
}

/// A row as a line of JSON.
struct Line<'a> {
    table: &'static Table,
    row: &'a Row,
}

impl Serialize for Line<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.row.len() + 1))?;
        map.serialize_entry("table", self.table.name)?;
        for (column, value) in self.table.columns.iter().zip(self.row) {
            match value {
                Value::Null => map.serialize_entry(column.name, &None::<()>)?,
                Value::Text(text) => map.serialize_entry(column.name, text)?,
                Value::Integer(number) => map.serialize_entry(column.name, number)?,
                Value::Boolean(is) => map.serialize_entry(column.name, is)?,
                Value::Time(ms) => map.serialize_entry(column.name, &time(Some(Time(*ms))))?,
            }
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transcript_is_found_in_its_claude_folder() {
        let of = |path| place(Path::new(path)).map(|(root, _)| root.to_str().unwrap().to_owned());
        assert_eq!(of("/a/.claude/projects/-w/s.jsonl").as_deref(), Some("/a/.claude"));
        let agent = "/a/projects/x/c/projects/-w/s/subagents/agent-1.jsonl";
        assert_eq!(of(agent).as_deref(), Some("/a/projects/x/c"));
        let journal = Path::new("/a/.claude/projects/-w/s/subagents/workflows/w/journal.jsonl");
        assert!(place(journal).is_none() && is_beside(journal));
        assert!(
            place(Path::new("/a/notes.txt")).is_none() && !is_beside(Path::new("/a/notes.txt"))
        );
    }
}
