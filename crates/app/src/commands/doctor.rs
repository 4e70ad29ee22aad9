//! `recount doctor`: drift and damage.

use std::collections::{BTreeMap, HashSet};

use transcript::doctor::Findings;
use transcript::layout::{self, FileKind, Found, Place, Problem};
use transcript::side::index;

use crate::error::{Answer, CliError};
use ask::Home;
use ask::read;
use ask::retention::{self, Retention};

use crate::run::Run;
use crate::terminal::format::{count, counted, size};
use crate::terminal::safe;
use crate::terminal::style::{self, paint};
use crate::wire;
use crate::wire::doctor::Finding;

/// Report drift and damage: unknown names by version, damaged lines, missing parents, entries in
/// the wrong file, stale indexes, and what Claude Code deletes next.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  recount doctor                what is odd in your Claude folder
  recount doctor --places       with the file and byte of each damaged place
  recount doctor --json         one JSON line per finding

Nothing is changed. Unknown names are kept and shown everywhere; they are listed here
because a new version of Claude Code writes something that recount has no words for yet.")]
pub struct DoctorArgs {
    /// Show the place of each damaged line
    #[arg(long)]
    places: bool,
}

/// What one file's tree says.
struct Tree {
    missing: usize,
    circles: usize,
    repeated: usize,
}

/// Looks and prints.
pub fn run(args: &DoctorArgs, run: &mut Run) -> Result<Answer, CliError> {
    let homes = run.recount.list_homes()?;
    let (library, trees) = run.recount.read_sessions(|_, session, _| {
        let nodes = session.nodes().iter();
        let number =
            |is: fn(&transcript::session::Node) -> bool| nodes.clone().filter(|n| is(n)).count();
        let tree = Tree {
            missing: number(|n| n.is_orphan()),
            circles: number(|n| n.is_cycle()),
            repeated: number(|n| n.is_repeat()),
        };
        (tree.missing + tree.circles + tree.repeated > 0).then_some(tree)
    })?;
    let mut findings = inspect(run, &homes);
    for (card, tree) in library.cards.iter().zip(trees) {
        let file = card.found.path.display().to_string();
        if let Some(Tree { missing, circles, repeated }) = tree {
            findings.push(Finding::BrokenParents {
                file: file.clone(),
                missing,
                circles,
                repeated,
            });
        }
        for (session, entries) in &card.strays {
            let session = session.to_string();
            findings.push(Finding::WrongFile { file: file.clone(), session, entries: *entries });
        }
    }
    findings.extend(set_aside(&homes));
    findings.extend(stale_indexes(run, &homes));
    findings.extend(homes.iter().map(|home| retention(run, home)));
    if run.json {
        findings.iter().try_for_each(|finding| run.out.json(finding))?;
    } else {
        print(run, &findings, args.places)?;
    }
    Ok(Answer::Found)
}

/// Every name in every transcript, in parallel.
fn inspect(run: &mut Run, homes: &[Home]) -> Vec<Finding> {
    use rayon::prelude::*;
    let files: Vec<&Found> =
        homes.iter().flat_map(|h| &h.files).filter(|f| f.kind.is_transcript()).collect();
    let progress = run.progress(&files);
    let each: Vec<Result<(Findings, String), Problem>> = files
        .par_iter()
        .with_max_len(1)
        .map(|found| {
            let open = |source: transcript::source::Source| {
                let read = Findings::of(source.reader(0));
                read.map_err(|error| Problem::new(&found.path, error))
            };
            let findings = found.open().and_then(open);
            progress.step(found.size);
            findings.map(|f| (f, found.path.display().to_string()))
        })
        .collect();
    drop(progress);
    let mut all = Findings::default();
    let mut damage = Vec::new();
    let mut read = 0;
    for result in each {
        // The library has warned of this file already.
        let Ok((mut findings, file)) = result else { continue };
        read += 1;
        damage.extend(std::mem::take(&mut findings.damage).into_iter().map(|d| Finding::Damage {
            kind: d.kind.name(),
            file: file.clone(),
            offset: d.offset,
            length: d.length,
        }));
        all.add(findings);
    }
    all.add(beside(run, homes));
    summed(all, read, damage)
}

/// Names in the files beside the transcripts, and of the folders themselves.
fn beside(run: &mut Run, homes: &[Home]) -> Findings {
    let mut all = Findings::default();
    let is_home = |home: &Home| matches!(layout::place(&home.root), Ok(Place::Home));
    for home in homes.iter().filter(|home| is_home(home)) {
        // Folders that are not known are not entered, so their files are not among the home's.
        let entries = std::fs::read_dir(&home.root).into_iter().flatten().flatten();
        for entry in entries {
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            all.top(&entry.file_name().to_string_lossy(), is_folder);
        }
    }
    let files = homes.iter().flat_map(|home| {
        let is_home = is_home(home);
        home.files.iter().map(move |found| (is_home, found))
    });
    for (is_home, found) in files {
        if is_home {
            let parts: Vec<_> = found.rel.iter().map(|part| part.to_string_lossy()).collect();
            all.path(&parts.join("/"));
        }
        let look: fn(&[u8]) -> Findings = match found.kind {
            FileKind::AgentMeta { .. } => Findings::of_agent_meta,
            FileKind::Registry { .. } => Findings::of_registry,
            _ => continue,
        };
        if let Some(bytes) = run.recount.or_skip(read::whole_of(found)) {
            all.add(look(&bytes));
        }
    }
    all
}

fn summed(all: Findings, files: usize, damage: Vec<Finding>) -> Vec<Finding> {
    let Findings { types, unknown, odd, lone_surrogates, lines, bytes, .. } = all;
    let mut findings = vec![Finding::Checked { files, lines, bytes, entries: types }];
    findings.extend(unknown.into_iter().map(|((kind, name), seen)| Finding::Unknown {
        kind: kind.name(),
        name,
        count: seen.count,
        versions: seen.versions,
    }));
    findings.extend(odd.into_iter().map(|(kind, count)| Finding::Odd { kind: kind.name(), count }));
    if lone_surrogates > 0 {
        findings.push(Finding::Odd { kind: "lone-surrogate", count: lone_surrogates });
    }
    findings.extend(damage);
    findings
}

fn set_aside(homes: &[Home]) -> Vec<Finding> {
    let files = homes.iter().flat_map(|home| &home.files);
    let aside = files.filter(|f| matches!(f.kind, FileKind::SetAside { .. }));
    aside.map(|f| Finding::SetAside { file: f.path.display().to_string(), size: f.size }).collect()
}

fn stale_indexes(run: &mut Run, homes: &[Home]) -> Vec<Finding> {
    let mut stale = Vec::new();
    for home in homes {
        for found in &home.files {
            let FileKind::SessionsIndex { project_slug } = &found.kind else { continue };
            let Some(bytes) = run.recount.or_skip(read::whole_of(found)) else { continue };
            let (index, odd) = index::parse(&bytes);
            run.recount.observed.count_damage(&odd);
            let there: HashSet<&str> = home
                .files
                .iter()
                .filter_map(|f| match &f.kind {
                    FileKind::Session { project_slug: slug, session } if slug == project_slug => {
                        Some(session.as_str())
                    }
                    _ => None,
                })
                .collect();
            let named: HashSet<&str> =
                index.entries.iter().filter_map(|e| Some(e.session.as_ref()?.as_str())).collect();
            let (missing, unlisted) =
                (named.difference(&there).count(), there.difference(&named).count());
            if missing + unlisted > 0 {
                let file = found.path.display().to_string();
                stale.push(Finding::StaleIndex { file, missing, unlisted });
            }
        }
    }
    stale
}

fn retention(run: &Run, home: &Home) -> Finding {
    let retention = Retention::of(&home.root);
    let now = run.recount.clock.time();
    let ends = retention.ends(&home.files);
    let overdue = ends.iter().filter(|(end, _)| *end < now).count();
    let week = retention::in_days(now, 7);
    let next = ends.get(overdue);
    Finding::Retention {
        days: retention.days,
        from: retention.from(),
        overdue,
        within_week: ends.iter().filter(|(end, _)| (now..week).contains(end)).count(),
        next: next.map(|(_, found)| found.path.display().to_string()),
        next_time: next.and_then(|(end, _)| wire::time(Some(*end))),
    }
}

fn print(run: &mut Run, findings: &[Finding], places: bool) -> Result<(), CliError> {
    let mut hidden = 0;
    for finding in findings {
        if matches!(finding, Finding::Damage { .. }) && !places {
            hidden += 1;
            continue;
        }
        let (head, text) = words(finding);
        run.out.line(&format!(
            "{}  {}",
            paint(head_style(finding), &format!("{head:<16}")),
            safe::line(&text)
        ))?;
    }
    if hidden > 0 {
        run.talk.note(format!("{}: `--places` shows where", counted(hidden, "damaged place")));
    }
    Ok(())
}

fn head_style(finding: &Finding) -> anstyle::Style {
    match finding {
        Finding::Checked { .. } | Finding::Retention { .. } => style::NAME,
        Finding::Unknown { .. } | Finding::StaleIndex { .. } | Finding::SetAside { .. } => {
            style::ACTIVE
        }
        _ => style::BAD,
    }
}

fn words(finding: &Finding) -> (&'static str, String) {
    match finding {
        Finding::Checked { files, lines, bytes, entries } => (
            "checked",
            format!(
                "{}, {} lines, {}: {}",
                counted(*files, "transcript"),
                count(*lines),
                size(*bytes),
                most(entries, 8)
            ),
        ),
        Finding::Unknown { kind, name, count: number, versions } => (
            "unknown",
            format!(
                "{kind} {name}, {}, versions {}",
                counted(*number as usize, "time"),
                span(versions)
            ),
        ),
        Finding::Odd { kind, count: number } => {
            ("odd", format!("{kind}, {}", counted(*number as usize, "time")))
        }
        Finding::Damage { kind, file, offset, length } => {
            ("damage", format!("{kind} at byte {offset}, {} in {file}", size(*length)))
        }
        Finding::BrokenParents { file, missing, circles, repeated } => (
            "tree",
            format!(
                "{}, {}, {} written again in {file}",
                counted(*missing, "missing parent"),
                counted(*circles, "circle"),
                if *repeated == 1 {
                    "1 entry".into()
                } else {
                    format!("{} entries", count(*repeated as u64))
                },
            ),
        ),
        Finding::WrongFile { file, session, entries } => {
            ("wrong file", format!("entries of {session}, {}, in {file}", count(*entries as u64)))
        }
        Finding::SetAside { file, size: bytes } => {
            ("set aside", format!("{}, {file}", size(*bytes)))
        }
        Finding::StaleIndex { file, missing, unlisted } => (
            "stale index",
            format!(
                "names {} that are gone, misses {unlisted}: {file}",
                counted(*missing, "session")
            ),
        ),
        Finding::Retention { days, from, overdue, within_week, next, next_time } => (
            "retention",
            format!(
                "Claude Code deletes after {days} days ({from}): {overdue} overdue, {within_week} within a week{}",
                match (next, next_time) {
                    (Some(file), Some(time)) => format!(", next {file} at {time}"),
                    _ => String::new(),
                }
            ),
        ),
    }
}

/// The most frequent names.
fn most(counts: &BTreeMap<String, u64>, number: usize) -> String {
    let mut all: Vec<_> = counts.iter().collect();
    all.sort_by_key(|(name, count)| (std::cmp::Reverse(**count), (*name).clone()));
    let shown: Vec<String> = all
        .iter()
        .take(number)
        .map(|(name, number)| format!("{name} {}", count(**number)))
        .collect();
    let more = all.len().saturating_sub(number);
    if more > 0 { format!("{}, {more} other types", shown.join(", ")) } else { shown.join(", ") }
}

fn span(versions: &BTreeMap<String, u64>) -> String {
    let named: Vec<&str> = versions.keys().map(String::as_str).filter(|v| !v.is_empty()).collect();
    match named.as_slice() {
        [] => "not given".into(),
        [one] => (*one).into(),
        [first, .., last] => format!("{first} to {last}"),
    }
}
