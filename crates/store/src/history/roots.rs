//! The Claude folders that are followed, and where in them a changed path is.

use std::path::{Path, PathBuf};

use hashbrown::HashSet;
use transcript::layout;

use super::prompts::PROMPT_LOG;

/// A Claude folder.
pub(super) struct LiveRoot {
    pub(super) given: PathBuf,
    pub(super) real: PathBuf,
    /// Where its transcripts are, and the path that stands for.
    transcripts: Option<(PathBuf, PathBuf)>,
}

/// Where a path is: the number of its Claude folder, and its path below it.
pub(super) type RootedPath = (u32, PathBuf);

/// The Claude folders.
#[derive(Default)]
pub(super) struct LiveRoots {
    all: Vec<LiveRoot>,
    /// Folders that are reached by their own name, not through a link.
    plain_folders: HashSet<PathBuf>,
}

impl LiveRoots {
    /// These folders, each by its real path and as it was given.
    pub(super) fn of_folders(roots: Vec<(PathBuf, &Path)>) -> Self {
        let root = |(real, given): (PathBuf, &Path)| LiveRoot {
            given: given.to_path_buf(),
            real,
            transcripts: layout::transcript_folder(given),
        };
        Self { all: roots.into_iter().map(root).collect(), plain_folders: HashSet::new() }
    }

    pub(super) fn as_slice(&self) -> &[LiveRoot] {
        &self.all
    }

    /// The Claude folder that a path is in, and the path below it, if transcripts may be there.
    pub(super) fn locate_path(&self, path: &Path) -> Option<RootedPath> {
        let mut roots = self.all.iter().enumerate();
        roots.find_map(|(number, root)| Some((number as u32, root.locate(path)?)))
    }

    /// Whether a path is the history of what was typed.
    pub(super) fn is_prompt_log(&self, path: &Path) -> bool {
        let is_in = |root: &LiveRoot| {
            path.parent().is_some_and(|folder| folder == root.given || folder == root.real)
        };
        path.file_name().is_some_and(|name| name == PROMPT_LOG) && self.all.iter().any(is_in)
    }

    /// Whether a path is in a Claude folder of which it was not known where its transcripts are.
    pub(super) fn is_below_unclear_root(&self, path: &Path) -> bool {
        let mut unclear = self.all.iter().filter(|root| root.transcripts.is_none());
        unclear.any(|root| path.starts_with(&root.given) || path.starts_with(&root.real))
    }

    /// The path as a walk through the folder would name it.
    pub(super) fn given_path(&self, root: u32, rel: &Path) -> Option<PathBuf> {
        let (folder, prefix) = self.all[root as usize].transcripts.as_ref()?;
        let below = rel.strip_prefix(prefix).ok()?;
        Some(if below.as_os_str().is_empty() { folder.clone() } else { folder.join(below) })
    }

    /// Whether a path is named as a walk would name it. A folder that is linked to has two names,
    /// and which of them a walk takes is known only when all folders have been seen.
    pub(super) fn is_plain(&mut self, path: &Path, root: u32, rel: &Path) -> bool {
        let (Some(folder), Some(below)) = (path.parent(), rel.parent()) else { return true };
        if self.plain_folders.contains(folder) {
            return true;
        }
        let Ok(real) = folder.canonicalize() else { return true };
        let plain = self.all[root as usize].real_folder(below);
        // Compared part by part: one of them may end in a slash.
        let is_plain = plain.is_some_and(|plain| plain.components().eq(real.components()));
        if is_plain {
            self.plain_folders.insert(folder.to_path_buf());
        }
        is_plain
    }
}

impl LiveRoot {
    /// Where its transcripts are, by its real path.
    fn real_transcripts(&self) -> Option<PathBuf> {
        let (folder, _) = self.transcripts.as_ref()?;
        Some(self.real.join(folder.strip_prefix(&self.given).ok()?))
    }

    fn locate(&self, path: &Path) -> Option<PathBuf> {
        let (folder, rel) = self.transcripts.as_ref()?;
        let below = path.strip_prefix(folder).ok().map(Path::to_path_buf);
        let by_real = || Some(path.strip_prefix(self.real_transcripts()?).ok()?.to_path_buf());
        let below = below.or_else(by_real)?;
        // A walk does not enter a folder that is named like a transcript.
        let mut parents = below.parent().unwrap_or(&below).components();
        if parents.any(|name| is_named_like_transcript(name.as_ref())) {
            return None;
        }
        // Joined with nothing, a path would end in a slash.
        let is_folder = below.as_os_str().is_empty();
        Some(if is_folder { rel.clone() } else { rel.join(below) })
    }

    /// The real path of the folder that `rel` stands for, if there are no links in it.
    fn real_folder(&self, rel: &Path) -> Option<PathBuf> {
        let (_, prefix) = self.transcripts.as_ref()?;
        let top = self.real_transcripts()?;
        match rel.strip_prefix(prefix) {
            Ok(below) => Some(top.join(below)),
            Err(_) => top.parent().map(Path::to_path_buf),
        }
    }
}

pub(super) fn is_named_like_transcript(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "jsonl")
}
