//! Finding the files of a Claude folder, of a part of one, or of one session.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::fs::{self, DirEntry, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use hashbrown::HashSet;
use rayon::prelude::*;

use super::{FOLDERS, FileKind, beside, classify, classify_lone};
use crate::id::SessionId;
use crate::kept::{Kept, Saved};
use crate::source::Source;
use crate::time::Time;

/// What a person pointed at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Place {
    /// A Claude folder (or one that looks like nothing else).
    Home,
    /// Its `projects` folder.
    Projects,
    /// One project's folder.
    Project,
    /// One session's folder.
    SessionFolder,
    /// A file.
    File,
}

/// What `path` is, from its name and what lies in it.
pub fn place(path: &Path) -> Result<Place, Problem> {
    let meta = fs::metadata(path).map_err(|error| Problem::new(path, error))?;
    if !meta.is_dir() {
        return Ok(Place::File);
    }
    if ["projects", "history.jsonl", "settings.json"].iter().any(|name| path.join(name).exists()) {
        return Ok(Place::Home);
    }
    if path.file_name().is_some_and(|name| name == "projects") {
        return Ok(Place::Projects);
    }
    if is_session_place(path) {
        return Ok(Place::SessionFolder);
    }
    let entries = fs::read_dir(path).map_err(|error| Problem::new(path, error))?;
    let mut projects = false;
    for entry in entries.flatten() {
        let inside = entry.path();
        if is_jsonl(&entry.file_name()) || is_session_place(&inside) {
            return Ok(Place::Project);
        }
        projects |= !projects && beside(&inside.join("x"), |name| name.ends_with(".jsonl"));
    }
    Ok(if projects { Place::Projects } else { Place::Home })
}

fn is_session_place(folder: &Path) -> bool {
    ["subagents", "tool-results"].iter().any(|name| folder.join(name).is_dir())
}

fn is_jsonl(name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| name.ends_with(".jsonl"))
}

/// Where `path` would lie below a Claude folder.
fn prefix(path: &Path, place: Place) -> PathBuf {
    let name = |path: &Path| match path.file_name() {
        Some(name) => name.to_owned(),
        None => "-".into(),
    };
    // `.` and `..` have no name of their own.
    let real = match path.file_name() {
        Some(_) => Cow::Borrowed(path),
        None => fs::canonicalize(path).map_or(Cow::Borrowed(path), Cow::Owned),
    };
    let parent = || real.parent().map_or_else(|| "-".into(), name);
    let projects = Path::new("projects");
    match place {
        Place::Home | Place::File => PathBuf::new(),
        Place::Projects => projects.into(),
        Place::Project => projects.join(name(&real)),
        Place::SessionFolder => projects.join(parent()).join(name(&real)),
    }
}

/// A file that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Where it is.
    pub path: PathBuf,
    /// Where it is below the Claude folder.
    pub rel: PathBuf,
    /// What it is.
    pub kind: FileKind,
    /// Its length in bytes.
    pub size: u64,
    /// When it was last written.
    pub modified: Option<Time>,
    /// When it was made, where the file system knows.
    pub created: Option<Time>,
    /// Device and inode, which stay when the file is renamed; on Unix.
    pub inode: Option<(u64, u64)>,
    /// Where it is read from if it is not on disk any more.
    pub kept: Option<Kept>,
    /// What an earlier reading of just this content left.
    pub saved: Option<Saved>,
}

/// What the file system says of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stat {
    /// Its length in bytes.
    pub size: u64,
    /// When it was last written.
    pub modified: Option<Time>,
    /// When it was made, where the file system knows.
    pub created: Option<Time>,
    /// Device and inode; on Unix.
    pub inode: Option<(u64, u64)>,
}

impl Stat {
    /// What is of interest in `meta`.
    pub fn of(meta: &Metadata) -> Self {
        Self {
            size: meta.len(),
            modified: meta.modified().ok().and_then(time_of),
            created: meta.created().ok().and_then(time_of),
            inode: inode(meta),
        }
    }
}

impl Found {
    /// The file at `path`, which is at `rel` below a Claude folder.
    pub fn from_stat(path: PathBuf, rel: PathBuf, stat: Stat) -> Self {
        let Stat { size, modified, created, inode } = stat;
        Self {
            path,
            kind: classify(&rel),
            rel,
            size,
            modified,
            created,
            inode,
            kept: None,
            saved: None,
        }
    }

    /// No file; filled in by whoever knows it.
    pub fn unknown() -> Self {
        Self::named(PathBuf::new(), 0)
    }

    /// A file of which nothing is known but its name and its length.
    pub fn named(rel: PathBuf, size: u64) -> Self {
        Self {
            path: rel.clone(),
            kind: classify(&rel),
            rel,
            size,
            modified: None,
            created: None,
            inode: None,
            kept: None,
            saved: None,
        }
    }

    /// A file that is kept and not on disk any more: where it was, and below which folder.
    pub fn kept(root: &Path, rel: PathBuf, kept: Kept) -> Self {
        Self {
            path: root.join(&rel),
            kind: classify(&rel),
            rel,
            size: kept.size(),
            modified: None,
            created: None,
            inode: None,
            kept: Some(kept),
            saved: None,
        }
    }

    /// The session that a transcript's name says it is of.
    pub fn stem(&self) -> Option<&str> {
        self.kind.stem()
    }

    /// The whole of a small file in the same folder; `None` if there is none.
    pub fn beside(&self, name: impl AsRef<OsStr>) -> Result<Option<Vec<u8>>, Problem> {
        let path = self.path.with_file_name(&name);
        if let Some(kept) = &self.kept {
            let read = |kept: Kept| Source::kept(&path, kept).whole();
            return kept.beside(&self.rel.with_file_name(name)).map(read).transpose();
        }
        match fs::read(&path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Problem::new(path, error)),
        }
    }

    /// Its bytes, by place.
    pub fn open(&self) -> Result<Source, Problem> {
        match &self.kept {
            Some(kept) => Ok(Source::kept(&self.path, kept.clone())),
            None => Source::open(&self.path),
        }
    }

    /// The file at `path`, which a person pointed at.
    pub fn lone(path: &Path) -> Result<Self, Problem> {
        let meta = fs::metadata(path).map_err(|error| Problem::new(path, error))?;
        let rel = path.file_name().map_or_else(PathBuf::new, PathBuf::from);
        let kind = classify_lone(path);
        Ok(Self { kind, ..Self::from_stat(path.to_path_buf(), rel, Stat::of(&meta)) })
    }
}

fn time_of(time: SystemTime) -> Option<Time> {
    let ms = match time.duration_since(UNIX_EPOCH) {
        Ok(after) => i64::try_from(after.as_millis()).ok()?,
        Err(before) => -i64::try_from(before.duration().as_millis()).ok()?,
    };
    Some(Time(ms))
}

#[cfg(unix)]
fn inode(meta: &Metadata) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    Some((meta.dev(), meta.ino()))
}

#[cfg(not(unix))]
fn inode(_: &Metadata) -> Option<(u64, u64)> {
    None
}

/// Something that could not be read.
#[derive(Debug)]
pub struct Problem {
    /// Where.
    pub path: PathBuf,
    /// Why.
    pub error: io::Error,
}

impl Problem {
    /// An error and its path.
    pub fn new(path: impl Into<PathBuf>, error: io::Error) -> Self {
        Self { path: path.into(), error }
    }

    /// The same once more.
    pub fn again(&self) -> Self {
        Self::new(&self.path, io::Error::new(self.error.kind(), self.error.to_string()))
    }
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.error)
    }
}

impl std::error::Error for Problem {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}

/// What a walk found, each list in the order of its paths.
#[derive(Debug, Default)]
pub struct Walk {
    /// The files.
    pub files: Vec<Found>,
    /// What could not be read; the walk went on.
    pub problems: Vec<Problem>,
    /// Folders at the top that hold nothing of sessions (`plugins/`, `local/`): not entered.
    pub not_entered: Vec<PathBuf>,
}

/// A folder tree as the file system lists it: names and stats. What the names mean is worked out
/// by [`Look::walk`], which takes longer than the looking.
#[derive(Debug, Default)]
pub struct Look {
    /// The folders that were entered, in no order.
    pub folders: Vec<Folder>,
    /// What could not be read; the look went on.
    pub problems: Vec<Problem>,
    /// Folders at the top that hold nothing of sessions: not entered.
    pub not_entered: Vec<PathBuf>,
    /// The file that a person pointed at.
    pub lone: Option<Found>,
}

/// A folder and the files in it.
#[derive(Debug)]
pub struct Folder {
    /// Where it is.
    pub path: PathBuf,
    /// Where it is below the Claude folder.
    pub rel: PathBuf,
    /// What the file system said of it before its files were listed.
    pub stat: Stat,
    /// Its files, in no order.
    pub files: Vec<(OsString, Stat)>,
}

impl Look {
    /// How many files there are.
    pub fn len(&self) -> usize {
        self.folders.iter().map(|folder| folder.files.len()).sum::<usize>()
            + usize::from(self.lone.is_some())
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The files and what they are.
    pub fn walk(&self) -> Walk {
        let found = |folder: &Folder, (name, stat): &(OsString, Stat)| {
            Found::from_stat(folder.path.join(name), folder.rel.join(name), *stat)
        };
        let all = self.folders.par_iter();
        let files = all.flat_map(|folder| folder.files.par_iter().map(move |f| found(folder, f)));
        let mut files: Vec<Found> = files.collect();
        files.extend(self.lone.clone());
        let problems = self.problems.iter().map(Problem::again).collect();
        finished(Walk { files, problems, not_entered: self.not_entered.clone() })
    }
}

/// As [`walk`], but only the looking.
pub fn look(root: &Path) -> Look {
    match place(root) {
        Err(problem) => Look { problems: vec![problem], ..Look::default() },
        Ok(Place::File) => match Found::lone(root) {
            Ok(found) => Look { lone: Some(found), ..Look::default() },
            Err(problem) => Look { problems: vec![problem], ..Look::default() },
        },
        Ok(place) => follow(vec![(root.to_path_buf(), prefix(root, place))]),
    }
}

/// Every file of a Claude folder, a `projects` folder, a project, a session's folder; or a file.
pub fn walk(root: &Path) -> Walk {
    look(root).walk()
}

/// As [`walk`], but only what lies below `projects/`.
pub fn walk_projects(root: &Path) -> Walk {
    match place(root) {
        Err(problem) => problem_only(problem),
        Ok(Place::File) => lone_walk(root),
        Ok(Place::Home) => match root.join("projects") {
            projects if projects.is_dir() => walk_as(&projects, Path::new("projects")),
            _ => Walk::default(),
        },
        Ok(place) => walk_as(root, &prefix(root, place)),
    }
}

/// As [`walk`], but only the live registry.
pub fn walk_registry(root: &Path) -> Walk {
    match root.join("sessions") {
        sessions if sessions.is_dir() => walk_as(&sessions, Path::new("sessions")),
        _ => Walk::default(),
    }
}

/// Where a Claude folder has its transcripts, and the path that stands for below it; `None` if a
/// person pointed at a file or at nothing.
pub fn transcript_folder(root: &Path) -> Option<(PathBuf, PathBuf)> {
    match place(root).ok()? {
        Place::File => None,
        Place::Home => Some((root.join("projects"), "projects".into())),
        place => Some((root.to_path_buf(), prefix(root, place))),
    }
}

/// The files of a folder which stands for the folder `rel` of a Claude folder.
pub fn walk_as(folder: &Path, rel: &Path) -> Walk {
    follow(vec![(folder.to_path_buf(), rel.to_path_buf())]).walk()
}

/// The files of one session: its transcripts in every project, what was put aside, its folders.
///
/// Subagents that lie beside the sessions (2.0.28 to 2.0.76) name no session in their path and
/// are not among them.
pub fn session_files(root: &Path, session: &SessionId) -> Walk {
    let place = match place(root) {
        Err(problem) => return problem_only(problem),
        Ok(Place::File) => return only_of(session, lone_walk(root)),
        Ok(place) => place,
    };
    let prefix = prefix(root, place);
    let (top, rel) = match place {
        Place::Home => (root.join("projects"), PathBuf::from("projects")),
        _ => (root.to_path_buf(), prefix),
    };
    let projects = match place {
        Place::Home if !top.is_dir() => return Walk::default(),
        Place::Home | Place::Projects => match children(&top, &rel) {
            Ok(projects) => projects,
            Err(problem) => return problem_only(problem),
        },
        _ => vec![(top, rel)],
    };
    if place == Place::SessionFolder {
        return only_of(session, follow(projects).walk());
    }
    let parts: Vec<Walk> = projects.par_iter().map(|at| project_session(at, session)).collect();
    finished(parts.into_iter().fold(Walk::default(), joined))
}

fn only_of(session: &SessionId, mut walk: Walk) -> Walk {
    walk.files.retain(|found| found.kind.session() == Some(session));
    walk
}

/// The folders in a folder, each once: real ones before links to them.
fn children(folder: &Path, rel: &Path) -> Result<Vec<(PathBuf, PathBuf)>, Problem> {
    let entries = fs::read_dir(folder).map_err(|error| Problem::new(folder, error))?;
    let mut all: Vec<(bool, PathBuf, PathBuf)> = entries
        .flatten()
        .filter_map(|entry| {
            let kind = entry.file_type().ok()?;
            let path = entry.path();
            let is_folder = kind.is_dir() || (kind.is_symlink() && !path.is_file());
            is_folder.then(|| (kind.is_symlink(), path, rel.join(entry.file_name())))
        })
        .collect();
    all.sort();
    let mut seen = HashSet::new();
    all.retain(|(_, path, _)| identity(path).is_none_or(|id| seen.insert(id)));
    Ok(all.into_iter().map(|(_, path, rel)| (path, rel)).collect())
}

/// One session's files in one project folder. Names are compared, never made from the id, which
/// may be any text.
fn project_session((folder, rel): &(PathBuf, PathBuf), session: &SessionId) -> Walk {
    let mut walk = Walk::default();
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) => return problem_only(Problem::new(folder, error)),
    };
    let of_session = |entry: &DirEntry| {
        entry.file_name().to_str().is_some_and(|name| name.starts_with(session.as_str()))
    };
    for entry in entries.flatten().filter(of_session) {
        let (path, rel) = (entry.path(), rel.join(entry.file_name()));
        match fs::metadata(&path) {
            Err(error) => walk.problems.push(Problem::new(path, error)),
            Ok(meta) if meta.is_dir() => {
                if entry.file_name().to_str() == Some(session.as_str()) {
                    walk = joined(walk, walk_as(&path, &rel));
                }
            }
            Ok(meta) => walk.files.push(Found::from_stat(path, rel, Stat::of(&meta))),
        }
    }
    only_of(session, walk)
}

fn problem_only(problem: Problem) -> Walk {
    Walk { problems: vec![problem], ..Walk::default() }
}

fn lone_walk(path: &Path) -> Walk {
    match Found::lone(path) {
        Ok(found) => Walk { files: vec![found], ..Walk::default() },
        Err(problem) => problem_only(problem),
    }
}

fn joined(mut all: Walk, part: Walk) -> Walk {
    all.files.extend(part.files);
    all.problems.extend(part.problems);
    all.not_entered.extend(part.not_entered);
    all
}

fn finished(mut walk: Walk) -> Walk {
    walk.files.par_sort_unstable_by(|a, b| a.rel.as_os_str().cmp(b.rel.as_os_str()));
    walk.files.dedup_by(|a, b| a.rel == b.rel);
    walk.problems.sort_by(|a, b| a.path.cmp(&b.path));
    walk.not_entered.sort();
    walk
}

/// Folders nested deeper than this are a mistake or a trap.
const DEEPEST: usize = 32;

/// Links to folders are followed down to `projects/<slug>/<session>`; below, nobody makes them.
const DEEPEST_LINK: usize = 3;

/// Which folder it is, whatever path led there.
#[derive(Debug, PartialEq, Eq, Hash)]
enum Identity {
    Inode(u64, u64),
    Path(PathBuf),
}

fn identity(path: &Path) -> Option<Identity> {
    match inode(&fs::metadata(path).ok()?) {
        Some((device, inode)) => Some(Identity::Inode(device, inode)),
        None => fs::canonicalize(path).ok().map(Identity::Path),
    }
}

/// What one folder and all below it gave.
#[derive(Default)]
struct Part {
    look: Look,
    links: Vec<(PathBuf, PathBuf)>,
    entered: Vec<Identity>,
}

impl Part {
    fn join(mut self, other: Part) -> Part {
        self.look.join(other.look);
        self.links.extend(other.links);
        self.entered.extend(other.entered);
        self
    }

    fn problem(&mut self, path: PathBuf, error: io::Error) {
        self.look.problems.push(Problem::new(path, error));
    }
}

impl Look {
    fn join(&mut self, other: Look) {
        self.folders.extend(other.folders);
        self.problems.extend(other.problems);
        self.not_entered.extend(other.not_entered);
    }
}

/// Looks at `starts`, then at the linked folders met, at each folder once.
///
/// Real folders come first and links in the order of their paths: whichever thread was quicker,
/// the same path stands for a folder that can be reached in two ways.
fn follow(starts: Vec<(PathBuf, PathBuf)>) -> Look {
    let mut seen: HashSet<Identity> = HashSet::new();
    let mut look = Look::default();
    let mut round = starts;
    while !round.is_empty() {
        round.sort();
        let mut links = Vec::new();
        for (path, rel) in std::mem::take(&mut round) {
            if identity(&path).is_some_and(|id| seen.contains(&id)) {
                continue;
            }
            let part = visit(&path, &rel);
            seen.extend(part.entered);
            links.extend(part.links);
            look.join(part.look);
        }
        round = links;
    }
    look
}

/// So many files are asked about in one go; a large folder is shared among the cores.
const GO: usize = 256;

/// One folder and the real folders below it.
fn visit(folder: &Path, rel: &Path) -> Part {
    let mut part = Part::default();
    // Its time is asked first: what is added meanwhile is seen the next time.
    let listed = fs::metadata(folder).and_then(|meta| Ok((meta, fs::read_dir(folder)?)));
    let (meta, entries) = match listed {
        Ok(listed) => listed,
        Err(error) => {
            part.problem(folder.to_path_buf(), error);
            return part;
        }
    };
    part.entered.extend(identity(folder));
    let (mut below, mut plain, mut files) = (Vec::new(), Vec::new(), Vec::new());
    for entry in entries {
        match entry.and_then(|entry| Ok((entry.file_type()?, entry))) {
            Ok((kind, entry)) if kind.is_file() => plain.push(entry),
            Ok((kind, entry)) => {
                let (path, rel) = (entry.path(), rel.join(entry.file_name()));
                if kind.is_symlink() {
                    files.extend(part.link(path, rel).map(|stat| (entry.file_name(), stat)));
                } else if kind.is_dir() && part.may_enter(&path, &rel) {
                    below.push((path, rel));
                }
            }
            Err(error) => part.problem(folder.to_path_buf(), error),
        }
    }
    let stat = |entry: DirEntry| match entry.metadata() {
        Ok(meta) => Ok((entry.file_name(), Stat::of(&meta))),
        Err(error) => Err(Problem::new(entry.path(), error)),
    };
    let stats: Vec<_> = plain.into_par_iter().with_min_len(GO).map(stat).collect();
    for stat in stats {
        match stat {
            Ok(file) => files.push(file),
            Err(problem) => part.look.problems.push(problem),
        }
    }
    let (path, stat) = (folder.into(), Stat::of(&meta));
    part.look.folders.push(Folder { path, rel: rel.into(), stat, files });
    let below: Vec<Part> = below.par_iter().map(|(path, rel)| visit(path, rel)).collect();
    below.into_iter().fold(part, Part::join)
}

impl Part {
    /// What a link leads to: the stat of a file; a folder is noted.
    fn link(&mut self, path: PathBuf, rel: PathBuf) -> Option<Stat> {
        match fs::metadata(&path) {
            Ok(meta) if meta.is_file() => return Some(Stat::of(&meta)),
            Ok(meta) if meta.is_dir() => {
                if rel.components().count() > DEEPEST_LINK {
                    self.problem(
                        path,
                        io::Error::other("a link to a folder this deep is not followed"),
                    );
                } else if self.may_enter(&path, &rel) {
                    self.links.push((path, rel));
                }
            }
            Ok(_) => {}
            // It points at the newest log, and logs are swept away.
            Err(_) if rel == Path::new("debug/latest") => {}
            Err(error) => self.problem(path, error),
        }
        None
    }

    fn may_enter(&mut self, path: &Path, rel: &Path) -> bool {
        let depth = rel.components().count();
        if path.file_name().is_some_and(is_jsonl) {
            let error =
                io::Error::new(io::ErrorKind::IsADirectory, "a folder named like a transcript");
            self.problem(path.to_path_buf(), error);
            return false;
        }
        if depth > DEEPEST {
            self.problem(path.to_path_buf(), io::Error::other("folders are nested too deep"));
            return false;
        }
        let known = depth != 1 || FOLDERS.iter().any(|name| rel == Path::new(name));
        if !known {
            self.look.not_entered.push(path.to_path_buf());
        }
        known
    }
}
