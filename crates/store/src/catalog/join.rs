//! Sessions over all files: who owns what, which subagent belongs to whom.
//!
//! Works on the cards alone and writes only rows that differ from what is there.

use hashbrown::{HashMap, HashSet};
use rusqlite::params;
use transcript::layout::{Found, Problem};
use transcript::library::{Card, Library, Scan};
use transcript::session::{Options, Session};
use transcript::time::Time;

use super::row::SessionRow;
use super::{Catalog, CatalogError, FileId, Shape, Writer};

/// All sessions, and which file each card is of.
pub struct Joined {
    /// The sessions.
    pub library: Library,
    /// The files, in the order of the cards.
    pub files: Vec<FileId>,
    /// Where the entries of files stand that hold copies.
    shapes: Vec<(FileId, Shape)>,
}

impl Catalog {
    /// The sessions of the transcripts `files`. One that has not been read yet is left out.
    pub fn library(&self, files: Vec<(FileId, Found)>) -> Result<Joined, CatalogError> {
        let mut found: HashMap<FileId, Found> = files.into_iter().collect();
        let mut cards: Vec<(FileId, Card)> = Vec::new();
        for (file, bytes) in self.cards()? {
            let card = found.remove(&file).and_then(|found| Card::load(&bytes, found));
            cards.extend(card.map(|card| (file, card)));
        }
        // As the files are found on disk: their order decides where nothing else does.
        cards.sort_by(|a, b| a.1.found.rel.as_os_str().cmp(b.1.found.rel.as_os_str()));
        let (files, cards): (Vec<FileId>, Vec<Card>) = cards.into_iter().unzip();
        let extras = cards.iter().map(|_| None::<()>).collect();
        let scan = Scan { cards, extras, problems: Vec::new() };
        let mut shapes = Vec::new();
        let (library, _) = Library::join_with(scan, |index, card, copies| {
            let session = self.session_of(files[index], &card.found, Some(copies))?;
            shapes.push((files[index], Shape::of(&session)));
            Ok(session)
        });
        Ok(Joined { library, files, shapes })
    }

    /// The sessions as the last join left them; `None` if it was a join of other files than these.
    pub fn load_library(
        &self,
        files: Vec<(FileId, Found)>,
    ) -> Result<Option<Library>, CatalogError> {
        let mut cards: HashMap<FileId, Vec<u8>> = HashMap::with_capacity(files.len());
        self.each("SELECT file, card FROM joined", |row| {
            cards.insert(row.get(0)?, row.get(1)?);
            Ok(())
        })?;
        let mut sessions: Vec<Vec<u8>> = Vec::new();
        self.each("SELECT item FROM session ORDER BY id", |row| {
            sessions.push(row.get(0)?);
            Ok(())
        })?;
        let mut known = Vec::with_capacity(files.len());
        for (file, found) in files {
            let Some(card) = cards.remove(&file) else { return Ok(None) };
            known.push((file, found, card));
        }
        Ok(Library::load(known, &sessions).filter(|_| cards.is_empty()))
    }

    fn each(
        &self,
        sql: &str,
        mut take: impl FnMut(&rusqlite::Row<'_>) -> rusqlite::Result<()>,
    ) -> Result<(), CatalogError> {
        let mut read = || {
            let mut query = self.db.prepare_cached(sql)?;
            let mut rows = query.query(())?;
            while let Some(row) = rows.next()? {
                take(row)?;
            }
            Ok(())
        };
        read().map_err(self.failed())
    }

    /// The session of one file, from what is known of it.
    pub fn session_of(
        &self,
        file: FileId,
        found: &Found,
        copies: Option<&HashSet<u64>>,
    ) -> Result<Session, Problem> {
        let no = |what: String| Problem::new(&found.path, std::io::Error::other(what));
        let state = self.state(file).map_err(|error| no(error.to_string()))?;
        let builder = state.ok_or_else(|| no("it has not been read yet".into()))?;
        Ok(builder.finish(&Options { stem: found.stem(), copies }))
    }
}

impl Writer<'_> {
    /// Writes the sessions that all transcripts make; [`Catalog::joined`] gives `from` from then on.
    pub fn join(
        &self,
        files: Vec<(FileId, Found)>,
        from: u64,
        now: Time,
    ) -> Result<(), CatalogError> {
        let joined = self.catalog.library(files)?;
        self.number("joined", from)?;
        self.number("joined_at", now.0.cast_unsigned())?;
        self.shapes(&joined)?;
        self.owners(&joined)?;
        let mut known: HashMap<Box<str>, Vec<u8>> = self.digests()?;
        for item in &joined.library.sessions {
            let bytes = Library::save_session(item, &joined.files);
            let digest = digest(&bytes);
            if known.remove(item.id.as_str()).as_deref() != Some(&digest[..]) {
                self.session(&SessionRow::new(item, &joined.files), &digest, &bytes)?;
            }
        }
        for id in known.into_keys() {
            self.run("DELETE FROM session WHERE id = ?1", [id])?;
        }
        self.joined_cards(&joined)
    }

    /// What the join says of each transcript.
    fn joined_cards(&self, joined: &Joined) -> Result<(), CatalogError> {
        let mut known: HashMap<FileId, Vec<u8>> = HashMap::new();
        self.catalog.each("SELECT file, digest FROM joined", |row| {
            known.insert(row.get(0)?, row.get(1)?);
            Ok(())
        })?;
        for (at, file) in joined.files.iter().enumerate() {
            let card = joined.library.save_card(at, &joined.files);
            let digest = digest(&card);
            if known.remove(file).as_deref() != Some(&digest[..]) {
                let sql = "INSERT OR REPLACE INTO joined (file, digest, card) VALUES (?1, ?2, ?3)";
                self.run(sql, params![file, &digest[..], card])?;
            }
        }
        for file in known.into_keys() {
            self.run("DELETE FROM joined WHERE file = ?1", [file])?;
        }
        Ok(())
    }

    /// Files that hold copies, and those that do no longer.
    fn shapes(&self, joined: &Joined) -> Result<(), CatalogError> {
        let mut before: HashSet<FileId> = HashSet::new();
        self.catalog.each("SELECT id FROM file WHERE has_copies", |row| {
            before.insert(row.get(0)?);
            Ok(())
        })?;
        for (file, shape) in &joined.shapes {
            before.remove(file);
            self.shape(*file, shape)?;
        }
        for (index, file) in joined.files.iter().enumerate().filter(|(_, f)| before.contains(*f)) {
            let found = &joined.library.cards[index].found;
            // A state that can't be read is made again when the file is read again.
            if let Ok(session) = self.catalog.session_of(*file, found, None) {
                self.shape(*file, &Shape::of(&session))?;
            }
        }
        Ok(())
    }

    fn shape(&self, file: FileId, shape: &Shape) -> Result<(), CatalogError> {
        let sql = "UPDATE file SET shape = ?2, has_copies = ?3
            WHERE id = ?1 AND (shape IS NOT ?2 OR has_copies <> ?3)";
        self.run(sql, params![file, shape.save(), shape.has_copies()]).map(drop)
    }

    /// The session that each transcript belongs to.
    fn owners(&self, joined: &Joined) -> Result<(), CatalogError> {
        let mut owner: HashMap<usize, (&str, bool)> = HashMap::new();
        for item in &joined.library.sessions {
            let agents = item.agents.iter().filter_map(|agent| agent.file);
            for file in item.file.into_iter().chain(item.also.iter().copied()).chain(agents) {
                owner.insert(file, (item.id.as_str(), item.file != Some(file)));
            }
        }
        for (index, file) in joined.files.iter().enumerate() {
            let (session, is_side) = owner.get(&index).copied().unzip();
            let sql = "UPDATE file SET session = ?2, is_side = ?3
                WHERE id = ?1 AND (session, is_side) IS NOT (?2, ?3)";
            self.run(sql, params![file, session, is_side.unwrap_or_default()])?;
        }
        Ok(())
    }

    fn digests(&self) -> Result<HashMap<Box<str>, Vec<u8>>, CatalogError> {
        let mut known = HashMap::new();
        self.catalog.each("SELECT id, digest FROM session", |row| {
            known.insert(row.get(0)?, row.get(1)?);
            Ok(())
        })?;
        Ok(known)
    }

    fn session(&self, row: &SessionRow, digest: &[u8], item: &[u8]) -> Result<(), CatalogError> {
        let places: Vec<String> = (1..=19).map(|n| format!("?{n}")).collect();
        let sql = format!(
            "INSERT OR REPLACE INTO session ({}, digest, item) VALUES ({})",
            SessionRow::COLUMNS,
            places.join(", ")
        );
        let time = |time: Option<transcript::time::Time>| time.map(|t| t.0);
        let number = |number: u64| number as i64;
        let values = params![
            row.id.as_str(),
            row.file,
            row.standing,
            row.title,
            row.title_source,
            row.project,
            row.branch,
            time(row.first),
            time(row.last),
            number(row.turns),
            number(row.calls),
            number(row.errors),
            number(row.entries),
            number(row.files),
            number(row.added),
            number(row.removed),
            row.models.join("\n"),
            digest,
            item,
        ];
        self.run(&sql, values).map(drop)
    }
}

fn digest(bytes: &[u8]) -> [u8; 16] {
    *blake3::hash(bytes).as_bytes().first_chunk().expect("sixteen of 32 bytes")
}
