//! Random changes to a home with all hard cases.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use store::folder::Store;
use store::history::{ChangedPaths, FollowingReader, History, LiveHistory};
use store::sync::{self, Home, Watch};
use testkit::random::Random;
use testkit::{Shape, Spec, make};
use transcript::layout;
use transcript::time::Time;

use crate::dump::{dump_cards, dump_sessions};

struct Nobody;

impl Watch for Nobody {
    fn begin(&self, _: usize, _: u64) {}
    fn step(&self, _: usize, _: u64) {}
}

/// A home that is changed at random; what was changed is noted, as a watcher would.
struct ChangingHome {
    root: PathBuf,
    random: Random,
    changed: BTreeSet<PathBuf>,
}

impl ChangingHome {
    fn transcripts(&self) -> Vec<PathBuf> {
        let files = layout::walk_projects(&self.root).files.into_iter();
        files.filter(|found| found.kind.is_transcript()).map(|found| found.path).collect()
    }

    fn pick(&mut self) -> Option<PathBuf> {
        let all = self.transcripts();
        let at = self.random.below(all.len() as u64) as usize;
        all.get(at).cloned()
    }

    fn lines(path: &Path) -> Vec<Vec<u8>> {
        let bytes = fs::read(path).unwrap_or_default();
        bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect()
    }

    fn some_lines(&mut self) -> Vec<u8> {
        let Some(from) = self.pick() else { return Vec::new() };
        let lines = Self::lines(&from);
        let begin = self.random.below(lines.len() as u64) as usize;
        let count = self.random.between(1, 4) as usize;
        lines.into_iter().skip(begin).take(count).flatten().collect()
    }

    fn some_uuid(&mut self) -> String {
        let text = String::from_utf8_lossy(&self.some_lines()).into_owned();
        let after = text.split("\"uuid\":\"").nth(1).and_then(|rest| rest.split('"').next());
        after.map_or_else(|| self.random.uuid(), str::to_owned)
    }

    fn some_session(&mut self) -> String {
        let path = self.pick().unwrap_or_default();
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        match self.random.chance(20) {
            true => self.random.uuid(),
            false => stem,
        }
    }

    fn append(&mut self, path: &Path, bytes: &[u8]) {
        let mut all = fs::read(path).unwrap_or_default();
        all.extend(bytes);
        self.write(path, &all);
    }

    fn write(&mut self, path: &Path, bytes: &[u8]) {
        if let Some(folder) = path.parent() {
            if let Some(new) = folder.ancestors().take_while(|folder| !folder.exists()).last() {
                self.changed.insert(new.to_path_buf());
            }
            fs::create_dir_all(folder).expect("is made");
        }
        // In place, as a client writes: the inode stays.
        use std::io::Write;
        let file = fs::OpenOptions::new().create(true).write(true).truncate(false).open(path);
        let mut file = file.expect("opens");
        file.write_all(bytes).expect("written");
        file.set_len(bytes.len() as u64).expect("is cut");
        self.changed.insert(path.to_path_buf());
    }

    fn entry(&mut self, session: &str) -> Vec<u8> {
        let (uuid, parent) = (self.random.uuid(), self.some_uuid());
        let line = format!(
            "{{\"parentUuid\":\"{parent}\",\"uuid\":\"{uuid}\",\"sessionId\":\"{session}\",\"cwd\":\"/w\",\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":\"more\"}}}}\n"
        );
        line.into_bytes()
    }

    fn change(&mut self) {
        let Some(path) = self.pick() else { return };
        match self.random.below(16) {
            0 | 1 => {
                let lines = self.some_lines();
                self.append(&path, &lines);
            }
            2..=4 => {
                let session = match self.random.chance(70) {
                    true => path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
                    false => self.some_session(),
                };
                let entry = self.entry(&session);
                self.append(&path, &entry);
            }
            5 => self.fork(&path),
            6 => self.remove(&path),
            7 => {
                let folder = path.parent().unwrap_or(&path).to_path_buf();
                if self.random.chance(15) {
                    fs::remove_dir_all(&folder).expect("removed");
                    self.changed.insert(folder);
                } else {
                    self.remove(&path.with_extension(""));
                }
            }
            8 => {
                let to = self.root.join("projects/-moved").join(path.file_name().expect("a name"));
                let bytes = fs::read(&path).expect("reads");
                self.write(&to, &bytes);
                self.remove(&path);
            }
            9 => {
                let lines = Self::lines(&path);
                let keep = self.random.below(lines.len() as u64) as usize;
                self.write(&path, &lines[..keep].concat());
            }
            10 => {
                let leaf = self.some_uuid();
                let line = format!(
                    "{{\"type\":\"summary\",\"summary\":\"S {leaf}\",\"leafUuid\":\"{leaf}\"}}\n"
                );
                self.append(&path, line.as_bytes());
            }
            11 | 12 => self.subagent(&path),
            13 => {
                let name = format!("{}.orphaned-1700000000000", path.display());
                fs::rename(&path, &name).expect("renamed");
                self.changed.extend([path, name.into()]);
            }
            14 => {
                // Half a line, as it is seen while it is being written.
                let session = self.some_session();
                let entry = self.entry(&session);
                let half = self.random.below(entry.len() as u64) as usize;
                self.append(&path, &entry[..half]);
            }
            _ => {
                let session = self.some_session();
                let line = format!(
                    "{{\"display\":\"typed\",\"pastedContents\":{{}},\"timestamp\":1767225600000,\"project\":\"/w\",\"sessionId\":\"{session}\"}}\n"
                );
                let path = self.root.join("history.jsonl");
                self.append(&path, line.as_bytes());
            }
        }
    }

    fn remove(&mut self, path: &Path) {
        match path.is_dir() {
            true => fs::remove_dir_all(path).expect("removed"),
            false if path.exists() => fs::remove_file(path).expect("removed"),
            false => return,
        }
        self.changed.insert(path.to_path_buf());
    }

    /// A copy of the first lines, under its own name or with its own id.
    fn fork(&mut self, path: &Path) {
        let (lines, id) = (Self::lines(path), self.random.uuid());
        let keep = self.random.between(1, lines.len().max(1) as u64) as usize;
        let mut text =
            String::from_utf8_lossy(&lines[..keep.min(lines.len())].concat()).into_owned();
        let old = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if self.random.chance(50) {
            text = text.replace(&old, &id);
        }
        let to = path.with_file_name(format!("{id}.jsonl"));
        self.write(&to, text.as_bytes());
    }

    fn subagent(&mut self, path: &Path) {
        let name = self.random.hex(8);
        let session = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let folder = path.with_extension("").join("subagents");
        let mut lines = self.entry(&session);
        lines.extend(self.some_lines());
        self.write(&folder.join(format!("agent-{name}.jsonl")), &lines);
        if self.random.chance(60) {
            let meta = format!("{{\"agentType\":\"kind-{name}\",\"description\":\"d\"}}");
            self.write(&folder.join(format!("agent-{name}.meta.json")), meta.as_bytes());
        }
    }
}

fn follow(seed: u64, steps: usize, has_store: bool) {
    let dir = tempfile::tempdir().expect("a folder");
    let root = dir.path().canonicalize().expect("it is there").join("claude");
    make(&Spec { seed, shape: Shape::Hard, bytes: 0 }, &root).expect("a home");
    let store = Store::new(dir.path().join("store"));
    let history = History::new(vec![root.clone()], store.clone(), Time(1_800_000_000_000));
    let reader = FollowingReader::default();
    let mut live = LiveHistory::follow_history(history.clone());
    let mut home = ChangingHome { root, random: Random::new(seed), changed: BTreeSet::new() };
    let keep = |home: &ChangingHome| {
        let homes = [Home { root: home.root.clone(), look: layout::look(&home.root) }];
        let options = sync::Options::new(Time(1_800_000_000_000));
        sync::sync(&store, &homes, options, &Nobody).expect("is kept");
    };
    if has_store {
        keep(&home);
    }
    live.refresh(&ChangedPaths::All, &reader);
    for step in 0..=steps {
        let fresh = history.snapshot(&());
        let now = live.current_snapshot();
        let (got, want) = (dump_sessions(&now.library), dump_sessions(&fresh.library));
        for (id, want) in &want {
            assert_eq!(got.get(id), Some(want), "seed {seed}, step {step}, session {id}");
        }
        let more: Vec<_> = got.iter().filter(|(id, _)| !want.contains_key(*id)).collect();
        assert!(more.is_empty(), "seed {seed}, step {step}: {more:#?}");
        if !has_store {
            let (got, want) = (dump_cards(&now.library), dump_cards(&fresh.library));
            assert_eq!(got, want, "seed {seed}, step {step}");
        }
        for _ in 0..home.random.between(1, 3) {
            home.change();
        }
        let changed = ChangedPaths::Only(std::mem::take(&mut home.changed));
        let changed = if home.random.chance(5) { ChangedPaths::All } else { changed };
        live.refresh(&changed, &reader);
        if has_store && home.random.chance(20) {
            keep(&home);
            let lost = live.take_lost_paths();
            live.refresh(&lost, &reader);
        }
    }
}

#[test]
fn a_followed_history_is_the_one_that_is_read_anew() {
    for seed in 0..4 {
        follow(seed, 40, false);
    }
}

#[test]
fn a_followed_history_with_a_store_is_the_one_that_is_read_anew() {
    for seed in 10..12 {
        follow(seed, 20, true);
    }
}
