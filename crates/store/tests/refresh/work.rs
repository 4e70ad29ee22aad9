//! What a change costs with very many sessions.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use store::folder::Store;
use store::history::{ChangedPaths, FollowingReader, History, LiveHistory, RefreshWork};
use transcript::time::Time;

const SESSIONS: usize = 20_000;

fn entry(session: &str, number: usize) -> String {
    format!(
        "{{\"parentUuid\":null,\"uuid\":\"{session}-{number}\",\"sessionId\":\"{session}\",\"cwd\":\"/w\",\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":\"one\"}}}}\n"
    )
}

fn session_path(root: &Path, number: usize) -> PathBuf {
    root.join(format!("projects/-p{}/session-{number}.jsonl", number % 100))
}

struct Followed {
    dir: tempfile::TempDir,
    live: LiveHistory,
    reader: FollowingReader,
}

impl Followed {
    fn new(sessions: usize) -> Self {
        let dir = tempfile::tempdir().expect("a folder");
        for project in 0..100 {
            fs::create_dir_all(dir.path().join(format!("projects/-p{project}"))).expect("made");
        }
        for number in 0..sessions {
            let text = entry(&format!("session-{number}"), 0);
            fs::write(session_path(dir.path(), number), text).expect("written");
        }
        let store = Store::new(dir.path().join("store"));
        let history = History::new(vec![dir.path().to_path_buf()], store, Time(0));
        let (mut live, reader) = (LiveHistory::follow_history(history), FollowingReader::default());
        let (work, problems) = live.refresh(&ChangedPaths::All, &reader);
        assert!(problems.is_empty(), "{problems:?}");
        assert_eq!((work.files_read, work.full_joins, work.full_walks), (sessions, 1, 1));
        Self { dir, live, reader }
    }

    fn append(&mut self, number: usize, line: &str) -> (RefreshWork, std::time::Duration) {
        let path = session_path(self.dir.path(), number);
        let mut file = fs::OpenOptions::new().append(true).open(&path).expect("opens");
        file.write_all(line.as_bytes()).expect("written");
        let begun = Instant::now();
        let (work, _) = self.live.refresh(&ChangedPaths::Only([path].into()), &self.reader);
        (work, begun.elapsed())
    }
}

#[test]
fn one_line_costs_one_session_of_twenty_thousand() {
    let mut all = Followed::new(SESSIONS);
    let before = all.live.current_snapshot();
    for number in 1..4 {
        let line = entry("session-77", number);
        let (work, time) = all.append(77, &line);
        let most = 2 * line.len() as u64 + 4096;
        assert!(work.bytes_read <= most, "{} bytes", work.bytes_read);
        let want = RefreshWork {
            files_statted: 1,
            files_read: 1,
            bytes_read: work.bytes_read,
            sessions_joined: 1,
            ..RefreshWork::default()
        };
        assert_eq!(work, want);
        println!("one line: {time:?} {work:?}");
    }
    let now = all.live.current_snapshot();
    let turns = |snapshot: &store::history::LiveSnapshot| {
        snapshot.library.session("session-77").expect("there").facts.turns
    };
    assert_eq!((turns(&before), turns(&now)), (1, 4));
    assert_eq!(now.library.sessions.len(), SESSIONS);
    let at = |at: usize| {
        let (old, new) = (&before.library.cards, &now.library.cards);
        std::ptr::eq(&old[at], &new[at])
    };
    assert_eq!((0..SESSIONS).filter(|file| !at(*file)).count(), 1, "all others are shared");
}

#[test]
fn a_new_session_and_a_prompt_cost_no_join_of_the_others() {
    let mut all = Followed::new(2000);
    let path = session_path(all.dir.path(), 2000);
    fs::write(&path, entry("session-2000", 0)).expect("written");
    let history = all.dir.path().join("history.jsonl");
    let line = "{\"display\":\"typed\",\"pastedContents\":{},\"timestamp\":5,\"project\":\"/w\",\"sessionId\":\"gone\"}\n";
    fs::write(&history, line).expect("written");
    let changed = ChangedPaths::Only(BTreeSet::from([path, history.clone()]));
    let (work, _) = all.live.refresh(&changed, &all.reader);
    assert_eq!((work.sessions_joined, work.files_read, work.full_joins), (1, 2, 0), "{work:?}");
    let prompts = || {
        all.live.current_snapshot().prompts_only.iter().map(|gone| gone.prompts).collect::<Vec<_>>()
    };
    assert_eq!(prompts(), [1]);
    let mut file = fs::OpenOptions::new().append(true).open(&history).expect("opens");
    file.write_all(line.as_bytes()).expect("written");
    let changed = ChangedPaths::Only(BTreeSet::from([history]));
    let (work, _) = all.live.refresh(&changed, &all.reader);
    assert_eq!((work.bytes_read, work.sessions_joined), (line.len() as u64, 0), "read on");
    assert_eq!(all.live.current_snapshot().prompts_only[0].prompts, 2);
}
