//! Made homes against the truth that their maker wrote down while planting.

use std::collections::BTreeMap;

use testkit::truth::{SessionTruth, Truth};
use testkit::{Shape, Spec, make};
use transcript::id::Key;
use transcript::layout;
use transcript::library::{Library, read_session, scan};
use transcript::session::{ForkKind, Role, Session, State};
use transcript::time::Time;

struct Made {
    _dir: tempfile::TempDir,
    truth: Truth,
    library: Library,
}

fn made(shape: Shape, bytes: u64) -> Made {
    let dir = tempfile::tempdir().expect("a folder");
    let truth = make(&Spec { seed: 7, shape, bytes }, dir.path()).expect("a home");
    let walk = layout::walk_projects(dir.path());
    assert!(walk.problems.is_empty(), "{:?}", walk.problems);
    let (library, _) = Library::join(scan(walk.files, |_, _, _| None::<()>, |_| {}));
    assert!(library.problems.is_empty(), "{:?}", library.problems);
    Made { _dir: dir, truth, library }
}

/// Collects what differs, so that one run shows all of it.
#[derive(Default)]
struct Differences(Vec<String>);

impl Differences {
    fn check<T: PartialEq + std::fmt::Debug>(&mut self, case: &str, what: &str, got: T, want: T) {
        if got != want {
            self.0.push(format!("{case}: {what}: got {got:?}, planted {want:?}"));
        }
    }

    fn none(self) {
        assert!(self.0.is_empty(), "{} differences\n{}", self.0.len(), self.0.join("\n"));
    }
}

fn session_of(made: &Made, truth: &SessionTruth) -> Session {
    let card = made.library.cards.iter().find(|c| c.found.rel.to_str() == Some(&truth.file));
    let card = card.unwrap_or_else(|| panic!("no card for {}", truth.file));
    read_session(&card.found, None).expect("reads")
}

fn compare(session: &Session, truth: &SessionTruth, all: &mut Differences) {
    let case = truth.case.as_str();
    let own = |n: usize| session.state(n) != State::Foreign;
    all.check(case, "cwd", session.cwd(), truth.cwd.as_deref());
    let time = |text: &Option<String>| text.as_deref().and_then(|t| Time::parse(t.as_bytes()));
    all.check(case, "first", session.first_time(), time(&truth.first));
    all.check(case, "last", session.last_time(), time(&truth.last));
    let turns = session.turns();
    let by_role =
        |role: Role| turns.iter().filter(|t| session.nodes()[t.prompt].role == role).count();
    all.check(case, "turns", by_role(Role::Prompt) as u64, truth.turns);
    let abandoned = (0..session.nodes().len()).filter(|&n| {
        session.state(n) == State::Abandoned && session.nodes()[n].role == Role::Prompt
    });
    all.check(case, "abandoned", abandoned.count() as u64, truth.abandoned);
    let count = |roles: &[Role]| {
        let nodes = session.nodes().iter().enumerate();
        nodes.filter(|(i, n)| roles.contains(&n.role) && own(*i)).count() as u64
    };
    all.check(case, "commands", count(&[Role::Command, Role::Shell]), truth.commands);
    all.check(case, "queued", count(&[Role::Queued]), truth.queued);
    let calls = session.calls().iter().filter(|c| own(c.node())).count() as u64;
    all.check(case, "calls", calls, truth.calls);
    let mut errors: Vec<String> = session
        .calls()
        .iter()
        .filter(|c| c.is_error && own(c.node()))
        .map(|c| format!("{:?} {}", c.key(), session.tool(c)))
        .collect();
    let mut planted: Vec<String> = truth
        .errors
        .iter()
        .map(|e| format!("{:?} {}", Key::of(e.tool_use_id.as_bytes()), e.tool))
        .collect();
    errors.sort();
    planted.sort();
    all.check(case, "errors", errors, planted);
    let segments: Vec<_> = session
        .segments()
        .iter()
        .map(|s| {
            let compaction = s.compaction.map(|c| &session.compactions()[c]);
            (
                compaction.and_then(|c| c.trigger.as_deref().map(str::to_owned)),
                compaction.and_then(|c| c.pre_tokens),
                compaction.and_then(|c| c.post_tokens),
            )
        })
        .collect();
    let planted: Vec<_> =
        truth.segments.iter().map(|s| (s.trigger.clone(), s.pre_tokens, s.post_tokens)).collect();
    all.check(case, "segments", segments, planted);
    if let Some(leaf) = &truth.leaf {
        let got = session.leaf().map(|l| session.nodes()[l].key);
        all.check(case, "leaf", got, Some(Key::of(leaf.as_bytes())));
    }
    let forks = |kind: ForkKind| session.forks().iter().filter(|f| f.kind == kind).count() as u64;
    let rewinds = session.branches().iter().filter(|b| b.kind == ForkKind::Rewind).count() as u64;
    all.check(case, "rewind", rewinds, truth.forks.rewind);
    all.check(case, "parallel", forks(ForkKind::Parallel), truth.forks.parallel);
    all.check(case, "retry", forks(ForkKind::Retry), truth.forks.retry);
    all.check(case, "doubled", forks(ForkKind::Doubled), truth.forks.doubled);
    all.check(case, "unknown", forks(ForkKind::Unknown), 0);
    let repeats = session.nodes().iter().filter(|n| n.is_repeat()).count() as u64;
    all.check(case, "replay", repeats + forks(ForkKind::Replay), truth.forks.replay);
    touched(session, truth, all);
    let urls: Vec<&str> = session.pr_links().iter().map(|l| &*l.url).collect();
    all.check(case, "pr links", urls, truth.pr_links.iter().map(String::as_str).collect());
    let mut commits: Vec<&str> = session.commits().map(|(_, c)| c.hash.as_str()).collect();
    let mut planted: Vec<&str> = truth.commits.iter().map(|c| c.hash.as_str()).collect();
    commits.sort_unstable();
    planted.sort_unstable();
    all.check(case, "commits", commits, planted);
}

fn touched(session: &Session, truth: &SessionTruth, all: &mut Differences) {
    let mut touched: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for (path, touch) in session.touches() {
        let sums = touched.entry(path.to_owned()).or_default();
        sums.0 += u64::from(touch.added);
        sums.1 += u64::from(touch.removed);
    }
    // The maker books Edit and Write only; a notebook's cell is a change, too.
    touched.retain(|path, _| !path.ends_with(".ipynb"));
    let planted = truth.touched.iter().map(|t| (t.path.clone(), (t.added, t.removed))).collect();
    all.check(&truth.case, "files", touched, planted);
}

#[test]
fn every_hard_case_is_rebuilt_as_planted() {
    let made = made(Shape::Hard, 0);
    let mut all = Differences::default();
    for truth in &made.truth.sessions {
        compare(&session_of(&made, truth), truth, &mut all);
    }
    all.none();
}

#[test]
fn homes_of_every_shape_are_rebuilt_as_planted() {
    let shapes = [
        (Shape::Seeds, 8_000_000),
        (Shape::Lean, 2_000_000),
        (Shape::ManySmall, 400_000),
        (Shape::OneHuge, 4_000_000),
        (Shape::Demo, 0),
    ];
    for (shape, bytes) in shapes {
        let made = made(shape, bytes);
        let mut all = Differences::default();
        assert!(!made.truth.sessions.is_empty());
        for truth in &made.truth.sessions {
            compare(&session_of(&made, truth), truth, &mut all);
        }
        all.none();
    }
}

#[test]
fn sessions_are_joined_as_planted() {
    let made = made(Shape::Hard, 0);
    let mut all = Differences::default();
    for truth in &made.truth.sessions {
        let case = truth.case.as_str();
        let Some(item) = made.library.session(&truth.id) else {
            all.0.push(format!("{case}: no session {}", truth.id));
            continue;
        };
        let title = item.title.as_ref().map(|(t, s)| (t.to_string(), s.name().to_string()));
        let planted = truth.title.clone().zip(truth.title_source.clone());
        all.check(case, "title", title.filter(|(_, s)| s != "command" && s != "task"), planted);
        all.check(case, "foreign", item.foreign as u64, truth.foreign_entries);
        let copied_from = item
            .connections
            .iter()
            .find(|(kind, _)| matches!(kind.name(), "copied-from" | "forked-from"))
            .map(|(_, id)| id.to_string());
        all.check(case, "copy of", copied_from, truth.copy_of.clone());
        let mut agents: Vec<String> = item
            .agents
            .iter()
            .filter(|a| a.file.is_some())
            .map(|a| format!("{} {:?} {:?}", a.id, a.call, a.parent))
            .collect();
        let mut planted: Vec<String> = truth
            .subagents
            .iter()
            .filter(|a| a.file != truth.file)
            .map(|a| {
                let call = a.parent_tool_use_id.as_ref().map(|id| Key::of(id.as_bytes()));
                let parent = match &a.parent_agent {
                    Some(agent) => format!("Agent(AgentId({agent:?}))"),
                    None => "Session".into(),
                };
                format!("{} {call:?} {parent}", a.agent_id)
            })
            .collect();
        agents.sort();
        planted.sort();
        all.check(case, "subagents", agents, planted);
    }
    for id in &made.truth.homeless {
        let found = made.library.session(id).is_some_and(|s| s.file.is_none() && s.facts.talk > 0);
        all.check(id, "homeless", found, true);
    }
    all.none();
}

#[test]
fn bytes_lines_and_oddities_are_as_planted() {
    let made = made(Shape::Hard, 0);
    let mut all = Differences::default();
    for card in &made.library.cards {
        let path = card.found.rel.to_str().expect("a plain path");
        let truth = made.truth.files.iter().find(|f| f.path == path).expect("planted");
        all.check(path, "bytes", card.found.size, truth.bytes);
        let unfinished = card
            .diagnostics
            .iter()
            .filter(|(kind, _)| kind.name() == "unfinished")
            .map(|(_, n)| n)
            .sum::<u64>();
        all.check(path, "lines", card.lines + unfinished, truth.lines);
    }
    all.none();
}
