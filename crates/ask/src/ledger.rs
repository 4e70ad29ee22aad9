//! The ledger for commands that count: the claims of all files, owned and priced.

use std::io::Read;
use std::path::{Path, PathBuf};

use hashbrown::{HashMap, HashSet};
use rayon::prelude::*;
use report::price::Prices;
use report::usage::{self, Dimension, Input, Ledger, Tally, View};
use store::archive::{Access, Archive, FileRow, GenerationId, path_of};
use store::catalog::Catalog;
use transcript::id::Key;
use transcript::layout::{self, Found, Problem};
use transcript::library::Library;
use transcript::reading::EntryReading;
use transcript::session::Session;
use transcript::source::Source;
use transcript::time::Time;
use transcript::tool::ToolForm;
use transcript::usage::{Claims, Packed};

use crate::error::HistoryError;
use crate::progress::Work;
use crate::read;
use crate::recount::Recount;
use crate::stored::Update;

/// The kinds of subagents by their ids.
pub type Agents = HashMap<String, String>;
/// The pull requests of sessions, with the times they were linked.
pub type Prs = HashMap<String, Vec<(Option<Time>, String)>>;

/// All responses, and the files they were found in.
pub struct Counted {
    /// The responses.
    pub ledger: Ledger,
    files: Files,
}

/// The files, as the ledger counts them.
enum Files {
    /// In the Claude folders, or as they are kept.
    Found(Vec<Found>),
    /// In the store.
    Kept(Box<Archive>, Vec<KeptFile>),
    /// On other computers: a lake was read.
    Elsewhere,
}

/// A file in the store.
pub struct KeptFile {
    path: PathBuf,
    /// The archive's number for it.
    pub file: i64,
    /// Which of its lives it is.
    pub generation: GenerationId,
    /// Whether it was written anew since.
    pub is_former: bool,
}

impl Counted {
    /// The path of a file, and the number of the line that begins at `offset`, from 1; 0 if it
    /// can't be read any more.
    pub fn line(&self, file: u32, offset: u64) -> (String, u64) {
        let at = file as usize;
        let (path, number) = match &self.files {
            Files::Found(files) => {
                let source = files[at].open().ok();
                let lines = source.and_then(|source| lines(source.reader(0), offset));
                (&files[at].path, lines)
            }
            Files::Kept(archive, files) => {
                let KeptFile { path, generation, .. } = &files[at];
                (path, lines(archive.content(*generation), offset))
            }
            Files::Elsewhere => return (String::new(), 0),
        };
        (path.display().to_string(), number.unwrap_or(0))
    }

    /// The path of a file, the same from the files and from the store.
    pub fn path(&self, file: u32) -> PathBuf {
        match &self.files {
            Files::Found(files) => Places::default().of(&files[file as usize]),
            Files::Kept(_, files) => files[file as usize].path.clone(),
            Files::Elsewhere => PathBuf::new(),
        }
    }

    /// The numbers of the files below a folder, which is given by its real path.
    pub fn files_below(&self, folder: &Path) -> HashSet<u32> {
        let below = self.places().into_iter().filter(|place| place.path.starts_with(folder));
        below.map(|place| place.file).collect()
    }

    /// The numbers of the files by their places, as they are now.
    fn numbers(&self) -> HashMap<PathBuf, u32> {
        let now = self.places().into_iter().filter(|place| !place.is_former);
        now.map(|place| (place.path, place.file)).collect()
    }

    fn places(&self) -> Vec<Place> {
        let mut places = Places::default();
        match &self.files {
            Files::Found(files) => (0..)
                .zip(files)
                .map(|(file, found)| Place { file, path: places.of(found), is_former: false })
                .collect(),
            Files::Kept(_, files) => (0..)
                .zip(files)
                .map(|(file, kept)| Place {
                    file,
                    path: kept.path.clone(),
                    is_former: kept.is_former,
                })
                .collect(),
            Files::Elsewhere => Vec::new(),
        }
    }
}

/// A file of the ledger and where it is.
struct Place {
    file: u32,
    path: PathBuf,
    is_former: bool,
}

/// Where files are, each under one name only: the store knows folders by their real paths.
#[derive(Default)]
struct Places(HashMap<PathBuf, PathBuf>);

impl Places {
    fn of(&mut self, found: &Found) -> PathBuf {
        let root = found.path.ancestors().nth(found.rel.components().count());
        let root = root.unwrap_or(Path::new(""));
        let real = self
            .0
            .entry_ref(root)
            .or_insert_with(|| root.canonicalize().unwrap_or_else(|_| root.to_path_buf()));
        real.join(&found.rel)
    }
}

/// The number of the line that begins at `offset`.
fn lines(input: impl Read, offset: u64) -> Option<u64> {
    let mut before = input.take(offset);
    let (mut lines, mut block) = (1, vec![0; 1 << 20]);
    loop {
        match before.read(&mut block).ok()? {
            0 => return Some(lines),
            n => lines += memchr::memchr_iter(b'\n', &block[..n]).count() as u64,
        }
    }
}

impl Recount {
    /// The table of prices, with what the store keeps and what `--prices` lays over it.
    pub fn load_prices(&mut self, overlay: Option<&Path>) -> Result<Prices, HistoryError> {
        let mut prices = Prices::built_in().clone();
        let own = self.store()?.prices();
        for path in own.exists().then_some(own.as_path()).into_iter().chain(overlay) {
            let bytes = read::whole(path).map_err(HistoryError::Read)?;
            let text = String::from_utf8_lossy(&bytes);
            let more = Prices::parse(&text)
                .map_err(|error| HistoryError::Prices(path.to_path_buf(), error))?;
            prices.overlay(more);
        }
        Ok(prices)
    }

    /// Everything that was used, priced: from the store if there is one that is up to date, else
    /// from the files.
    pub fn count_responses(&mut self, prices: &Prices) -> Result<Counted, HistoryError> {
        if let Some(imported) = self.open_imported()? {
            return Ok(Counted { ledger: imported.ledger()?, files: Files::Elsewhere });
        }
        let (files, inputs) = self.inputs()?;
        let ledger = Ledger::new(inputs, prices);
        Ok(Counted { ledger, files })
    }

    /// A view of everything that was used.
    pub fn tally_usage(&mut self, prices: &Prices, view: &View<'_>) -> Result<Tally, HistoryError> {
        if let Some(imported) = self.open_imported()? {
            return Ok(Tally::of(&imported.ledger()?, view));
        }
        let (_, inputs) = self.inputs()?;
        Ok(usage::tally(inputs, prices, view))
    }

    fn inputs(&mut self) -> Result<(Files, Vec<Input>), HistoryError> {
        if let Some(kept) = self.kept_claims()? {
            return Ok(kept);
        }
        let (files, inputs) = self.claims()?;
        Ok((Files::Found(files), inputs))
    }

    /// What the store has of the Claude folders that are asked about; `None` if there is none, or
    /// if bringing it up to date would take longer than reading the files.
    fn kept_claims(&mut self) -> Result<Option<(Files, Vec<Input>)>, HistoryError> {
        if !self.store()?.exists()
            || !matches!(self.update_store()?, Update::Unchanged | Update::Changed)
        {
            return Ok(None);
        }
        let store = self.store()?;
        let Some(catalog) = Catalog::read(store.folder())? else { return Ok(None) };
        let archive = store.archive(Access::Read)?;
        let roots: Vec<Vec<u8>> = self
            .claude_roots()?
            .into_iter()
            .map(|root| root.canonicalize().unwrap_or(root).into_os_string().into_encoded_bytes())
            .collect();
        let rows =
            archive.files()?.into_iter().filter(|row| roots.iter().any(|r| **r == *row.home));
        let rows: HashMap<i64, FileRow> = rows.map(|row| (row.file.0, row)).collect();
        let (files, inputs) = kept_inputs(&catalog, &rows)?;
        Ok(Some((Files::Kept(Box::new(archive), files), inputs)))
    }

    /// What `take` finds in the files of a ledger, by their numbers there, and all sessions.
    pub fn take_by_file<T: Send>(
        &mut self,
        counted: &Counted,
        take: impl Fn(&Session, &Source) -> Result<T, Problem> + Sync,
    ) -> Result<(Library, Vec<Told<T>>), HistoryError> {
        let (library, taken) =
            self.read_sessions(|_, session, source| Some(take(session, source)))?;
        let (numbers, mut places) = (counted.numbers(), Places::default());
        let mut told = Vec::with_capacity(taken.len());
        for (card, taken) in taken.into_iter().enumerate() {
            let number = numbers.get(&places.of(&library.cards[card].found)).copied();
            let content = taken.and_then(|content| self.or_skip(content));
            if let (Some(file), Some(content)) = (number, content) {
                told.push(Told { file, card, content });
            }
        }
        Ok((library, told))
    }

    /// What a view needs beside the ledger: the kinds of subagents by their ids, the pull
    /// requests of sessions. Nothing is read if it needs neither.
    pub fn usage_links(&mut self, by: &[Dimension]) -> Result<(Agents, Prs), HistoryError> {
        let (mut agents, mut prs) = (Agents::new(), Prs::new());
        if !by.iter().any(|by| matches!(by, Dimension::Subagent | Dimension::Pr)) {
            return Ok((agents, prs));
        }
        if let Some(imported) = self.open_imported()? {
            return imported.links();
        }
        let (library, taken) =
            self.read_sessions(|_, session, source| Some(links(session, source)))?;
        let mut kinds: HashMap<Key, String> = HashMap::new();
        for (card, taken) in library.cards.iter().zip(taken) {
            let (linked, started) = taken.unwrap_or_default();
            kinds.extend(started);
            if let Some(id) = card.id.as_ref().filter(|_| !linked.is_empty()) {
                prs.entry(id.as_str().to_owned()).or_default().extend(linked);
            }
        }
        for agent in library.sessions.iter().flat_map(|session| &session.agents) {
            let own = agent.agent_type.as_deref().map(str::to_owned);
            let kind = own
                .or_else(|| agent.call.and_then(|call| kinds.get(&call).cloned()))
                .or_else(|| agent.internal.map(|_| "claude-code".into()));
            agents.extend(kind.map(|kind| (agent.id.as_str().to_owned(), kind)));
        }
        Ok((agents, prs))
    }

    /// What the files claim.
    fn claims(&mut self) -> Result<(Vec<Found>, Vec<Input>), HistoryError> {
        let mut files = self.list_transcripts()?;
        files.retain(|found| found.kind.is_transcript());
        once_each(&mut files);
        Ok(self.read_claims(files))
    }

    /// What these files claim, and those of them that could be read.
    pub fn read_claims(&mut self, files: Vec<Found>) -> (Vec<Found>, Vec<Input>) {
        let progress = self.progress();
        let bytes = files.iter().map(|found| found.size).sum();
        let work = Work::begin(&*progress, files.len(), bytes);
        let mut order: Vec<usize> = (0..files.len()).collect();
        order.sort_by_key(|&at| std::cmp::Reverse(files[at].size));
        let mut read: HashMap<usize, Result<Packed, Problem>> = order
            .into_par_iter()
            .with_max_len(1)
            .map(|at| {
                let claims = claims_of(&files[at]);
                work.advance(1, files[at].size);
                (at, claims)
            })
            .collect::<Vec<_>>()
            .into_iter()
            .collect();
        drop(work);
        let (mut found, mut inputs) = (Vec::new(), Vec::with_capacity(files.len()));
        for (at, file) in files.into_iter().enumerate() {
            let Some(claims) = read.remove(&at).and_then(|claims| self.or_skip(claims)) else {
                continue;
            };
            inputs.push(Input {
                kind: file.kind.clone(),
                path: file.path.clone(),
                created: file.created,
                has_source: file.kept.is_none(),
                is_former: false,
                claims,
            });
            found.push(file);
        }
        (found, inputs)
    }
}

/// What these files of the archive claim, in each of their lives.
pub fn kept_inputs(
    catalog: &Catalog,
    rows: &HashMap<i64, FileRow>,
) -> Result<(Vec<KeptFile>, Vec<Input>), HistoryError> {
    let (mut files, mut inputs) = (Vec::new(), Vec::new());
    for (file, generation, claims) in catalog.claims()? {
        let Some(row) = rows.get(&file) else { continue };
        let kind = layout::classify(&path_of(&row.rel));
        if !kind.is_transcript() {
            continue;
        }
        let is_former = row.generation.0 != generation;
        inputs.push(Input {
            kind,
            path: row.path(),
            created: row.stat.created.map(Time),
            has_source: !is_former && !row.gone,
            is_former,
            claims,
        });
        let generation = GenerationId(generation);
        files.push(KeptFile { path: row.path(), file, generation, is_former });
    }
    Ok((files, inputs))
}

/// What was found in a file.
pub struct Told<T> {
    /// The file, by the ledger's number.
    pub file: u32,
    /// The file, by its place among the cards.
    pub card: usize,
    /// What was found.
    pub content: T,
}

/// The pull requests that a session links, and the kinds of the subagents that its calls start.
type Links = (Vec<(Option<Time>, String)>, Vec<(Key, String)>);

fn links(session: &Session, source: &Source) -> Links {
    let prs = session.pr_links().iter().map(|link| (link.time, link.url.to_string())).collect();
    let mut kinds = Vec::new();
    for call in session.calls() {
        if ToolForm::of(session.tool(call)) != ToolForm::Delegation {
            continue;
        }
        let Ok(bytes) = source.entry(&session.nodes()[call.node()]) else { continue };
        let input = EntryReading::from_bytes(&bytes).call_input(call.key());
        let kind = input.and_then(|input| input.subagent_type());
        kinds.extend(kind.map(|kind| (call.key(), kind.into_owned())));
    }
    (prs, kinds)
}

/// A file that two folders or a link lead to is read once.
fn once_each(files: &mut Vec<Found>) {
    let (mut seen, mut paths) = (HashSet::new(), HashSet::<PathBuf>::new());
    files.retain(|found| match found.inode {
        Some(inode) => seen.insert(inode),
        None => paths.insert(found.path.clone()),
    });
}

fn claims_of(found: &Found) -> Result<Packed, Problem> {
    let failed = |error| Problem::new(&found.path, error);
    let source = found.open()?;
    let claims = Claims::read_transcript(found.stem(), || source.reader(0));
    claims.and_then(|claims| claims.pack()).map_err(failed)
}
