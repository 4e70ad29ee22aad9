//! `recount sync`, killed at any point while files change under it: what it leaves is finished by
//! the next one.
//!
//! `cargo xtask torture` asks for more kills, or for the seed of a run that failed.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use store::folder::Store;
use testkit::random::Random;
use transcript::layout;

use super::case::Case;
use super::kit::{Dump, Lines, WORDS, archive, assert_same, generations, in_memory};

/// So many kills hit one store, before the next one begins.
const KILLS: u64 = 200;

/// After so many the store is compared with a fresh one.
const BETWEEN: u64 = 25;

/// So many sessions a home has, about.
const SESSIONS: usize = 30;

/// A number from the environment.
fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().expect(name))
}

#[test]
fn a_killed_sync_is_finished_by_the_next() {
    let kills = number("RECOUNT_TORTURE_KILLS").unwrap_or(KILLS);
    let seed = number("RECOUNT_TORTURE_SEED").unwrap_or(1);
    let (mut done, mut alive) = (0, 0);
    for seed in seed.. {
        let mut torture = Torture::new(seed);
        torture.run(KILLS.min(kills - done));
        done += KILLS.min(kills - done);
        alive += torture.alive;
        if done == kills {
            break;
        }
    }
    eprintln!("{done} kills, {alive} of them in the middle");
    assert!(alive * 4 > done, "{alive} of {done} syncs were still at work");
}

/// A home that changes, and a store that is never left in peace.
struct Torture {
    case: Case,
    folder: tempfile::TempDir,
    seed: u64,
    random: Random,
    /// The paths of the transcripts.
    sessions: Vec<String>,
    /// No two lines of a home are the same.
    salt: u64,
    /// How long a sync takes, about.
    whole: Duration,
    /// How many syncs were killed before their end.
    alive: u64,
    /// What files held when a sync had come to its end.
    kept: BTreeSet<Vec<u8>>,
}

impl Torture {
    fn new(seed: u64) -> Self {
        let mut torture = Self {
            case: Case::new(""),
            folder: in_memory(),
            seed,
            random: Random::new(seed),
            sessions: Vec::new(),
            salt: 0,
            whole: Duration::ZERO,
            alive: 0,
            kept: BTreeSet::new(),
        };
        (0..SESSIONS).for_each(|_| torture.begin_session());
        torture.whole = torture.sync("measured");
        torture
    }

    fn run(&mut self, kills: u64) {
        for kill in 1..=kills {
            self.kill();
            if kill % BETWEEN == 0 || kill == kills {
                self.check(kill);
            }
        }
    }

    fn path(&self, rel: &str) -> PathBuf {
        self.case.claude().join(rel)
    }

    fn store(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Begins a sync, changes something below it, and kills it, at any time.
    fn kill(&mut self) {
        self.change();
        let mut child = self.begin("killed");
        let whole = self.whole.as_micros() as u64;
        let (one, two) = (self.random.below(whole), self.random.below(whole));
        let start = Instant::now();
        wait_until(start + Duration::from_micros(one.min(two)));
        self.change();
        wait_until(start + Duration::from_micros(one.max(two)));
        let is_alive = child.try_wait().unwrap().is_none();
        self.alive += u64::from(is_alive);
        // On a busy computer a sync takes now longer and now less long than the one before.
        match is_alive {
            true => self.whole += self.whole / 16,
            false => self.whole -= self.whole / 8,
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }

    fn begin(&self, store: &str) -> Child {
        let mut command = Command::new(env!("CARGO_BIN_EXE_recount"));
        command.env_clear().env("HOME", self.case.claude().parent().unwrap());
        command.arg("sync").arg("--store").arg(self.store(store));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    /// A sync that is left in peace.
    fn sync(&self, store: &str) -> Duration {
        let start = Instant::now();
        assert!(self.begin(store).wait().unwrap().success());
        start.elapsed()
    }

    /// The next sync makes of what is there what a new one would make of the files.
    fn check(&mut self, kill: u64) {
        eprintln!("seed {}, kill {kill}", self.seed);
        self.sync("killed");
        let (killed, fresh) = (Store::new(self.store("killed")), Store::new(self.store("fresh")));
        assert_eq!(archive(&killed).verify(|_| {}).unwrap().damage, []);
        let said = Dump::of(&killed);
        // A file that was moved and changed between two syncs is a new one for the store, which
        // then knows more of its session than a fresh store does.
        let moved = said.sessions_with_gone_files();
        let said = said.here();
        for found in layout::walk(&self.case.claude()).files {
            let rel = found.rel.to_str().unwrap();
            let bytes = fs::read(&found.path).unwrap();
            assert!(said.files[rel] == bytes, "{rel} is another one");
            self.kept.insert(bytes);
        }
        self.sync("fresh");
        assert_same(&said, &Dump::of(&fresh).without_sessions(&moved));
        fs::remove_dir_all(fresh.folder()).unwrap();
        let kept = generations(&killed);
        for bytes in &self.kept {
            let is_kept = kept.iter().any(|content| content.starts_with(bytes));
            assert!(is_kept, "{:?} is lost", String::from_utf8_lossy(bytes));
        }
    }

    /// Does one to four things that Claude Code, a person or a crash does.
    fn change(&mut self) {
        for _ in 0..self.random.between(1, 4) {
            let at = self.random.below(self.sessions.len() as u64) as usize;
            let rel = self.sessions[at].clone();
            match self.random.below(14) {
                0..=4 => self.append(&rel),
                5 => self.tear(&rel),
                6 => self.rewrite(&rel),
                7 => self.cut(&rel),
                8 => self.sessions[at] = self.rename(&rel),
                9 if self.sessions.len() > SESSIONS / 2 => self.remove(at),
                10 if self.sessions.len() > SESSIONS / 2 => self.set_aside(at),
                11 => write(&self.path("history.jsonl"), "{\"display\":\"zebra\"}\n"),
                12 => write(&self.path(&rel), "\0".repeat(300).as_str()),
                _ if self.sessions.len() < SESSIONS * 2 => self.begin_session(),
                _ => self.append(&rel),
            }
        }
    }

    /// Some lines that nobody has written before.
    fn lines(&mut self, rel: &str) -> String {
        self.salt += 1;
        let stem = Path::new(rel).file_stem().unwrap().to_str().unwrap();
        let mut lines = Lines::new(stem, self.salt);
        // Few with a word that is looked for: so many hits can be compared.
        let mut text = lines.ask(&format!("what of the {}?", self.random.pick(&WORDS)));
        for number in 0..self.random.between(0, 20) {
            text += &match self.random.below(3) {
                0 => lines.ask("and then?"),
                1 => lines.say("this is how it is done"),
                _ => lines.create(&format!("/w/{number}.rs")),
            };
        }
        text
    }

    fn begin_session(&mut self) {
        let id = format!("{}-1111-4111-8111-{}", self.random.hex(8), self.random.hex(12));
        let rel = format!("projects/-w-a/{id}.jsonl");
        self.append(&rel);
        self.sessions.push(rel);
    }

    fn append(&mut self, rel: &str) {
        write(&self.path(rel), &self.lines(rel));
    }

    /// A line that was not written to its end.
    fn tear(&mut self, rel: &str) {
        let lines = self.lines(rel);
        write(&self.path(rel), &lines[..lines.len() - self.random.between(1, 90) as usize]);
    }

    fn rewrite(&mut self, rel: &str) {
        fs::write(self.path(rel), self.lines(rel)).unwrap();
    }

    fn cut(&mut self, rel: &str) {
        let file = File::options().write(true).open(self.path(rel)).unwrap();
        let size = file.metadata().unwrap().len();
        file.set_len(self.random.below(size + 1)).unwrap();
    }

    fn rename(&mut self, rel: &str) -> String {
        let name = Path::new(rel).file_name().unwrap().to_str().unwrap();
        let to = format!("projects/-w-{}/{name}", self.random.pick(&["a", "b", "c"]));
        fs::create_dir_all(self.path(&to).parent().unwrap()).unwrap();
        fs::rename(self.path(rel), self.path(&to)).unwrap();
        to
    }

    fn remove(&mut self, at: usize) {
        let rel = self.sessions.swap_remove(at);
        fs::remove_file(self.path(&rel)).unwrap();
    }

    fn set_aside(&mut self, at: usize) {
        let rel = self.sessions.swap_remove(at);
        let aside = format!("{rel}.orphaned-1700000000000");
        fs::rename(self.path(&rel), self.path(&aside)).unwrap();
    }
}

/// Appends, as Claude Code does.
fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mut file = File::options().append(true).create(true).open(path).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

fn wait_until(time: Instant) {
    std::thread::sleep(time.saturating_duration_since(Instant::now()));
}
