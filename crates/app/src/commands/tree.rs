//! `recount tree`: segments, turns, branches that were left, and subagents of one session.

use std::io;

use report::tree::{self, AgentLine, AgentPlace, SegmentRow, TreeKind, TreeLine};
use transcript::layout::{InternalAgent, Problem};
use transcript::record::Opened;
use transcript::session::ForkKind;

use super::short;
use crate::error::{Answer, CliError};
use crate::run::Run;
use crate::terminal::format::{count, counted, duration};
use crate::terminal::safe;
use crate::terminal::style::{self, paint};
use crate::wire::tree as wire;
use ask::name::SessionName;
use ask::sessions::OpenSession;

/// So much of a prompt is shown where no terminal says how much there is room for.
const WORDS_MOST: usize = 100;
/// So much of a prompt is shown at least.
const WORDS_LEAST: usize = 20;

/// The shape of a session: segments, turns, branches that were left, subagents.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  recount tree latest           the session last written
  recount tree 3f2a91c0         by the beginning of its id
  recount tree . --json         the latest of this folder, as JSON
  recount show 3f2a --branch 1  what was said on branch 1 of the tree")]
pub struct TreeArgs {
    /// Id, beginning of one, `latest`, `.` for the latest of this folder, a path, or `-`
    session: SessionName,
}

/// Prints the tree.
pub fn run(args: &TreeArgs, run: &mut Run) -> Result<Answer, CliError> {
    let open = run.recount.open_session(&args.session)?;
    let opened = Opened::new(&open.session, &open.sources, false);
    let lines = tree::tree(&open.session, open.item());
    if run.json {
        lines.iter().try_for_each(|line| json(run, &opened, line))?;
        run.out.json(&wire::TreeForks::new(&tree::forks(&open.session)))?;
    } else {
        run.out.line(&head(&open))?;
        let rails = rails(&lines.iter().map(|line| line.depth).collect::<Vec<_>>());
        for (line, rail) in lines.iter().zip(rails) {
            let row = row(run, &opened, line)?;
            print(run, &rail, row)?;
        }
        print_forks(run, &tree::forks(&open.session))?;
    }
    Ok(if open.session.nodes().is_empty() { Answer::Nothing } else { Answer::Found })
}

fn head(open: &OpenSession) -> String {
    let title = match open.item() {
        Some(item) => item.title.clone(),
        None => open.session.title(),
    };
    let title = title.map(|(title, _)| format!("  {}", safe::line(&title)));
    let name = paint(style::NAME, &safe::line(&open.name()));
    format!("{name}{}", paint(style::HEAD, title.as_deref().unwrap_or_default()))
}

/// One line before it is cut to the terminal.
struct Row {
    /// What it is, painted.
    label: String,
    /// What is known of it.
    facts: Vec<String>,
    /// What was said.
    words: Option<String>,
}

fn row(run: &Run, opened: &Opened<'_>, line: &TreeLine) -> Result<Row, Problem> {
    Ok(match &line.kind {
        TreeKind::Segment(segment) => Row {
            label: paint(style::HEAD, &format!("segment {}", segment.index)),
            facts: segment_facts(run, segment),
            words: None,
        },
        TreeKind::Turn { number, node, calls, errors } => Row {
            label: format!("turn {number}"),
            facts: call_facts(*calls, *errors),
            words: tree::words(opened, *node)?,
        },
        TreeKind::Branch { number, kind, prompt, prompts, entries, .. } => Row {
            label: paint(style::ACTIVE, &format!("branch {number}")),
            facts: vec![
                branch_word(*kind).into(),
                counted(*prompts, "prompt"),
                entries_word(*entries),
            ],
            words: tree::words(opened, *prompt)?,
        },
        TreeKind::Agent(agent) => agent_row(opened, agent)?,
    })
}

fn branch_word(kind: ForkKind) -> &'static str {
    match kind {
        ForkKind::Rewind => "left by a rewind",
        _ => "left, not known why",
    }
}

fn segment_facts(run: &Run, segment: &SegmentRow) -> Vec<String> {
    let tokens = match (segment.pre_tokens, segment.post_tokens) {
        (Some(before), Some(after)) => Some(format!("{} → {} tokens", count(before), count(after))),
        (Some(before), None) => Some(format!("{} tokens before", count(before))),
        (None, Some(after)) => Some(format!("{} tokens after", count(after))),
        (None, None) => None,
    };
    let lasted = segment.first.zip(segment.last).map(|(first, last)| last.since(first));
    [
        segment.by.map(|_| match &segment.trigger {
            Some(trigger) => format!("{} compaction", safe::line(trigger)),
            None => "compaction".into(),
        }),
        tokens,
        Some(counted(segment.turns, "turn")),
        Some(entries_word(segment.entries)),
        segment.first.map(|first| run.recount.clock.minute(first)),
        lasted.map(duration),
        segment.is_abandoned.then(|| "abandoned".into()),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn entries_word(entries: usize) -> String {
    match entries {
        1 => "1 entry".into(),
        _ => format!("{} entries", count(entries as u64)),
    }
}

fn call_facts(calls: usize, errors: usize) -> Vec<String> {
    let calls = (calls > 0).then(|| counted(calls, "call"));
    let errors = (errors > 0).then(|| paint(style::BAD, &counted(errors, "error")));
    calls.into_iter().chain(errors).collect()
}

fn agent_row(opened: &Opened<'_>, line: &AgentLine) -> Result<Row, Problem> {
    let task = AgentTask::read(opened, line)?;
    let name = match &task.kind {
        Some(kind) => format!("subagent {}", safe::line(kind)),
        None => "subagent".into(),
    };
    let facts = line.agent.as_ref().and_then(|agent| agent.facts.as_ref());
    let mut shown = facts.map_or_else(Vec::new, |facts| call_facts(facts.calls, facts.errors));
    shown.extend(line.id.as_ref().map(|id| short(&safe::line(id.as_str()))));
    shown.extend(line.link.map(|link| format!("by {}", link.name())));
    match line.place {
        AgentPlace::Missing => shown.push(paint(style::ACTIVE, "transcript missing")),
        AgentPlace::Inside => shown.push("inside the session's file".into()),
        AgentPlace::File | AgentPlace::NotSought => {}
    }
    Ok(Row { label: paint(style::PROJECT, &name), facts: shown, words: task.description })
}

/// What a subagent is, from its meta file or else from the call that started it.
struct AgentTask {
    kind: Option<String>,
    description: Option<String>,
}

impl AgentTask {
    fn read(opened: &Opened<'_>, line: &AgentLine) -> Result<Self, Problem> {
        let agent = line.agent.as_ref();
        let text = |text: Option<&Box<str>>| text.map(ToString::to_string);
        let mut task = Self {
            kind: text(agent.and_then(|agent| agent.agent_type.as_ref())),
            description: text(agent.and_then(|agent| agent.description.as_ref())),
        };
        if let Some(call) = line.call {
            let (kind, description) = tree::task(opened, &opened.session().calls()[call])?;
            task.kind = task.kind.or(kind);
            task.description = task.description.or(description);
        }
        let internal = agent.and_then(|agent| agent.internal).map(internal_word);
        task.kind = task.kind.or(internal.map(str::to_owned));
        Ok(task)
    }
}

fn internal_word(internal: InternalAgent) -> &'static str {
    match internal {
        InternalAgent::Compact => "compaction",
        InternalAgent::PromptSuggestion => "prompt-suggestion",
        InternalAgent::SideQuestion => "side-question",
    }
}

/// The rails before each line: which lines above and below belong together.
fn rails(depths: &[usize]) -> Vec<String> {
    let mut rails = Vec::with_capacity(depths.len());
    // Whether the line at a depth has another one of its depth below it, read from the bottom.
    let mut below: Vec<bool> = Vec::new();
    for &depth in depths.iter().rev() {
        below.truncate(depth + 1);
        below.resize(depth + 1, false);
        let mut rail: String =
            below[..depth].iter().map(|&goes_on| if goes_on { "│  " } else { "   " }).collect();
        rail.push_str(if below[depth] { "├─ " } else { "└─ " });
        below[depth] = true;
        rails.push(rail);
    }
    rails.reverse();
    rails
}

fn print(run: &mut Run, rail: &str, row: Row) -> io::Result<()> {
    let facts = match row.facts.is_empty() {
        true => String::new(),
        false => format!("  {}", row.facts.join(", ")),
    };
    let mut line = format!("{}{}{}", paint(style::DIM, rail), row.label, paint(style::DIM, &facts));
    if let Some(words) = row.words {
        let seen = safe::width(&anstream::adapter::strip_str(&line).to_string());
        let room = match run.out.columns() {
            Some(columns) => columns.saturating_sub(seen + 2).max(WORDS_LEAST),
            None => WORDS_MOST,
        };
        let words = safe::line(&words);
        line.push_str("  ");
        line.push_str(&safe::fit(&words, room));
    }
    run.out.line(&line)
}

fn print_forks(run: &mut Run, forks: &[(ForkKind, usize)]) -> io::Result<()> {
    if forks.is_empty() {
        return Ok(());
    }
    let counts: Vec<String> = forks
        .iter()
        .map(|(kind, number)| format!("{} {}", kind.name(), count(*number as u64)))
        .collect();
    run.out.line(&paint(style::DIM, &format!("forks: {}", counts.join(", "))))
}

fn json(run: &mut Run, opened: &Opened<'_>, line: &TreeLine) -> Result<(), CliError> {
    let number = |node: usize| opened.session().nodes()[node].number;
    let depth = line.depth;
    match &line.kind {
        TreeKind::Segment(segment) => run.out.json(&wire::TreeSegment::new(depth, segment))?,
        TreeKind::Turn { number: turn, node, calls, errors } => run.out.json(&wire::TreeTurn {
            depth,
            turn: *turn,
            entry: number(*node),
            time: crate::wire::time(opened.session().nodes()[*node].time()),
            calls: *calls,
            errors: *errors,
            prompt: tree::words(opened, *node)?,
        })?,
        TreeKind::Branch { number: branch, kind, node, prompt, prompts, entries } => {
            run.out.json(&wire::TreeBranch {
                depth,
                branch: *branch,
                kind: kind.name(),
                entry: number(*node),
                prompts: *prompts,
                entries: *entries,
                prompt: tree::words(opened, *prompt)?,
            })?
        }
        TreeKind::Agent(agent) => {
            let task = AgentTask::read(opened, agent)?;
            let facts = agent.agent.as_ref().and_then(|agent| agent.facts.as_ref());
            let call = agent.call.map(|call| &opened.session().calls()[call]);
            run.out.json(&wire::TreeAgent {
                depth,
                agent_id: agent.id.as_ref().map(|id| id.as_str()),
                agent_type: task.kind,
                description: task.description,
                link: agent.link.map(|link| link.name()),
                place: agent.place.name(),
                entry: call.map(|call| number(call.node())),
                calls: facts.map(|facts| facts.calls),
                errors: facts.map(|facts| facts.errors),
            })?
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rails_join_what_belongs_together() {
        let depths = [0, 1, 2, 2, 1, 0, 1];
        let shown: Vec<String> = rails(&depths).iter().map(|rail| format!("{rail}x\n")).collect();
        insta::assert_snapshot!(shown.concat(), @r"
        ├─ x
        │  ├─ x
        │  │  ├─ x
        │  │  └─ x
        │  └─ x
        └─ x
           └─ x
        ");
    }
}
