//! Dialogues as Claude Code would have written them, and a store made from them by the product.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;
use store::find::Finder;
use store::folder::Store;
use store::meaning;
use store::sync::{self, Home, Options, Watch};
use tempfile::TempDir;
use testkit::clock;
use transcript::layout;
use transcript::time::Time;

use super::set::Dialogue;

/// A home with a store.
pub struct Asked {
    /// Open to questions.
    pub finder: Finder,
    /// Turns that can be found.
    pub turns: usize,
    _folder: TempDir,
}

struct Nobody;

impl Watch for Nobody {
    fn begin(&self, _: usize, _: u64) {}
    fn step(&self, _: usize, _: u64) {}
}

/// The id of a session: numbers of dialogue and session.
pub fn id(dialogue: usize, session: usize) -> String {
    format!("{dialogue:08x}-0000-4000-8000-{session:012x}")
}

/// Where homes are made, and with which model.
pub struct Place<'a> {
    /// A folder in which they stay for the next time; they are thrown away without one.
    pub keep: Option<PathBuf>,
    /// The model, if there are to be vectors.
    pub model: Option<&'a Path>,
}

/// Lays the dialogues out in one home and syncs it. Each is given with its number.
pub fn make(dialogues: &[(usize, &Dialogue)], place: &Place<'_>) -> Result<Asked, String> {
    let thrown_away = tempfile::tempdir().map_err(|e| e.to_string())?;
    let folder = place.keep.as_deref().unwrap_or(thrown_away.path());
    let (root, store) = (folder.join("claude"), Store::new(folder.join("store")));
    let mut turns = 0;
    for (number, dialogue) in dialogues {
        let project = root.join("projects").join(format!("-home-reader-{number}"));
        fs::create_dir_all(&project).map_err(|e| e.to_string())?;
        for at in 0..dialogue.sessions.len() {
            let file = project.join(format!("{}.jsonl", id(*number, at)));
            if !file.exists() {
                fs::write(file, transcript(*number, dialogue, at)).map_err(|e| e.to_string())?;
            }
        }
        let lines = dialogue.sessions.iter().flat_map(|session| &session.lines);
        turns += lines.filter(|line| line.is_prompt).count();
    }
    let finder = synced(&store, &root, place.model)?;
    Ok(Asked { finder, turns, _folder: thrown_away })
}

fn synced(store: &Store, root: &Path, model: Option<&Path>) -> Result<Finder, String> {
    let root = root.canonicalize().map_err(|e| e.to_string())?;
    let look = layout::look(&root);
    let homes = [Home { root, look }];
    sync::sync(store, &homes, Options::new(Time(2_000_000_000_000)), &Nobody)
        .map_err(|e| e.to_string())?;
    if let Some(model) = model {
        if meaning::installed(store.folder()).is_none() {
            meaning::install(store.folder(), model).map_err(|e| e.to_string())?;
        }
        let model = meaning::Model::open_whole(store.folder()).ok_or("the model can't be read")?;
        meaning::update(store, &model, &Nobody).map_err(|e| e.to_string())?;
    }
    Finder::open(store).map_err(|e| e.to_string())?.ok_or_else(|| "nothing was indexed".into())
}

/// A session as a transcript, one entry for each line.
fn transcript(dialogue: usize, all: &Dialogue, at: usize) -> String {
    let session = &all.sessions[at];
    let mut out = String::new();
    let mut parent = None;
    for (number, line) in session.lines.iter().enumerate() {
        let uuid = format!("{dialogue:08x}-{at:04x}-4000-8000-{number:012x}");
        let time = clock::iso(session.begin + 30_000 * number as u64);
        let message = match line.is_prompt {
            true => json!({"role": "user", "content": line.text}),
            false => json!({"id": format!("msg_{uuid}"), "type": "message", "role": "assistant",
                "model": "claude-sonnet-4-5", "content": [{"type": "text", "text": line.text}]}),
        };
        let entry = json!({
            "parentUuid": parent, "isSidechain": false, "userType": "external",
            "cwd": format!("/home/reader/{dialogue}"), "sessionId": id(dialogue, at),
            "version": "2.1.0", "gitBranch": "main",
            "type": if line.is_prompt { "user" } else { "assistant" },
            "message": message, "uuid": uuid, "timestamp": time,
        });
        out.push_str(&entry.to_string());
        out.push('\n');
        parent = Some(uuid);
    }
    out
}
