//! The books of a whole home: which files exist and what is in them.

use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::entry::Envelope;
use crate::fixture;
use crate::json::Raw;
use crate::random::Random;
use crate::scribe::Scribe;
use crate::truth::{FileTruth, SessionTruth, SubagentTruth, Truth};

/// A home in the making.
#[derive(Debug)]
pub struct Book {
    /// The home.
    pub dir: PathBuf,
    /// Begins every generator.
    pub seed: u64,
    /// What is known so far.
    pub truth: Truth,
}

/// How an agent can be joined to its session.
#[derive(Clone, Debug, Default)]
pub struct Link<'a> {
    /// Kind, as in [`SubagentTruth::link`].
    pub kind: &'a str,
    /// The call that started it.
    pub call: Option<&'a str>,
    /// The agent that made the call.
    pub agent: Option<&'a str>,
}

impl Book {
    /// An empty home at `dir`.
    pub fn new(dir: &Path, seed: u64, shape: &str) -> Book {
        let truth = Truth { shape: shape.to_string(), seed, ..Truth::default() };
        Book { dir: dir.to_path_buf(), seed, truth }
    }

    /// Begins a session named for `case` in the project of `cwd`.
    pub fn session(&mut self, case: &str, cwd: &str, version: &str) -> io::Result<Scribe> {
        let mut random = Random::named(self.seed, case);
        let id = random.uuid();
        self.session_as(case, &id, cwd, version)
    }

    /// Begins a session whose id is given.
    pub fn session_as(
        &mut self,
        case: &str,
        id: &str,
        cwd: &str,
        version: &str,
    ) -> io::Result<Scribe> {
        let rel = format!("projects/{}/{id}.jsonl", slug(cwd));
        let mut random = Random::named(self.seed, case);
        random.next();
        let envelope = Envelope {
            session: id.to_string(),
            cwd: cwd.to_string(),
            version: version.to_string(),
            branch: "main".into(),
            entrypoint: "cli".into(),
            ..Envelope::default()
        };
        let mut scribe = Scribe::create(&self.dir, &rel, envelope, random)?;
        scribe.truth.case = case.to_string();
        Ok(scribe)
    }

    /// Begins an agent's file `rel` for the session of `parent`.
    pub fn agent(&mut self, parent: &Scribe, agent: &str, rel: &str) -> io::Result<Scribe> {
        let mut envelope = parent.envelope.clone();
        envelope.sidechain = true;
        envelope.agent = Some(agent.to_string());
        let name = format!("{}/{agent}", parent.truth.case);
        let random = Random::named(self.seed, &name);
        let mut scribe = Scribe::create(&self.dir, rel, envelope, random)?;
        scribe.now = parent.now;
        scribe.model = "claude-haiku-4-5-20251001".into();
        Ok(scribe)
    }

    /// Ends a session.
    pub fn close_session(&mut self, scribe: Scribe) -> io::Result<()> {
        let (truth, file, kinds) = scribe.finish()?;
        self.count(&truth, kinds);
        self.add_file(file);
        if truth.copy_of.is_some() {
            self.truth.copies.push(truth.id.clone());
        }
        self.truth.sessions.push(truth);
        Ok(())
    }

    /// Ends an agent's file and writes it down at its session.
    pub fn close_agent(
        &mut self,
        scribe: Scribe,
        parent: &mut Scribe,
        link: &Link<'_>,
    ) -> io::Result<()> {
        let agent_id = scribe.envelope.agent.clone().expect("agents have an id");
        let (truth, file, kinds) = scribe.finish()?;
        self.count(&truth, kinds);
        parent.truth.subagents.push(SubagentTruth {
            agent_id,
            file: file.path.clone(),
            parent_tool_use_id: link.call.map(str::to_string),
            parent_agent: link.agent.map(str::to_string),
            link: link.kind.to_string(),
            calls: truth.calls,
            errors: truth.errors.len() as u64,
        });
        self.add_file(file);
        parent.truth.requests.extend(truth.requests);
        Ok(())
    }

    /// Ends a file that is no session: a stub, an empty or a foreign one.
    pub fn close_other(&mut self, scribe: Scribe, counted: bool) -> io::Result<FileTruth> {
        let (truth, file, kinds) = scribe.finish()?;
        if counted {
            self.count(&truth, kinds);
        }
        self.add_file(file.clone());
        Ok(file)
    }

    fn count(&mut self, truth: &SessionTruth, kinds: std::collections::BTreeMap<String, u64>) {
        for (name, n) in &truth.entries {
            *self.truth.entries.entry(name.clone()).or_default() += n;
        }
        for (name, n) in kinds {
            *self.truth.kinds.entry(name).or_default() += n;
        }
    }

    fn add_file(&mut self, file: FileTruth) {
        self.truth.bytes += file.bytes;
        self.truth.files.push(file);
    }

    /// Writes a side file.
    pub fn side(&mut self, rel: &str, bytes: impl AsRef<[u8]>) -> io::Result<()> {
        let bytes = bytes.as_ref();
        fixture::write_file(&self.dir, rel, bytes)?;
        let file =
            FileTruth { path: rel.into(), bytes: bytes.len() as u64, ..FileTruth::default() };
        self.add_file(file);
        Ok(())
    }

    /// Writes a side file of JSON lines.
    pub fn lines(&mut self, rel: &str, lines: &[Raw]) -> io::Result<()> {
        let text: String = lines.iter().flat_map(|line| [line.0.as_str(), "\n"]).collect();
        self.side(rel, text)?;
        self.truth.files.last_mut().expect("just added").lines = lines.len() as u64;
        Ok(())
    }

    /// Writes a backup of `path` as file history keeps it and gives its name.
    pub fn backup(
        &mut self,
        session: &str,
        path: &str,
        version: u64,
        content: &str,
    ) -> io::Result<String> {
        let name = format!("{}@v{version}", hash16(path.as_bytes()));
        self.side(&format!("file-history/{session}/{name}"), content)?;
        Ok(name)
    }

    /// The finished truth, files sorted by path.
    pub fn close(mut self) -> Truth {
        self.truth.files.sort_by(|a, b| a.path.cmp(&b.path));
        self.truth
    }
}

/// The folder name of a project.
pub fn slug(cwd: &str) -> String {
    cwd.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
}

/// The first 16 hexadecimal digits of sha256, the name of pastes and backups.
pub fn hash16(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().take(8).map(|b| format!("{b:02x}")).collect()
}
