//! `recount lake read`: lakes into a store, to be asked on one computer.
//!
//! A session is a unit of the tables, and so is each host and user: its stamp is the manifest that
//! was read last, so that nothing is read twice.

use std::collections::BTreeMap;
use std::path::Path;

use hashbrown::{HashMap, HashSet};
use lake::manifest::Manifest;
use lake::name::safe;
use lake::place::{Intent, Place};
use store::table::keep::{Tables, TablesError, Unit, Writer};
use store::table::{Row, Table, Value};

use super::{SCHEMA, manifests, open};
use crate::commands::sync::now;
use crate::error::{Answer, CliError, LakeError, StoreError};
use crate::run::Run;
use crate::tables::is_imported;
use crate::terminal::format::counted;
use crate::terminal::safe;
use crate::wire::lake as wire;

/// Take lakes into a store of their own, so that `recount sql` answers for all of them.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  recount lake read s3://team/lake --store team       a lake
  recount lake read /srv/a /srv/b --store team        two of them, laid together
  recount sql --store team \"SELECT host, count(*) FROM sessions GROUP BY host\"

The store has to be a folder of its own: one that keeps your own history is refused. It holds
what the lakes hold, and only what has changed in them is read the next time.")]
pub struct ReadArgs {
    /// The lakes: folders or URLs
    #[arg(required = true, value_name = "URL")]
    urls: Vec<String>,
}

/// Reads the lakes.
pub fn run(args: &ReadArgs, run: &mut Run) -> Result<Answer, CliError> {
    let store = run.store()?;
    if store.exists() && !is_imported(&store)? {
        return Err(LakeError::OwnStore(store.folder().into()).into());
    }
    let places = args.urls.iter().map(|url| open(url, Intent::Read));
    let places = places.collect::<Result<Vec<Place>, _>>()?;
    let mut newest: BTreeMap<String, (&Place, Manifest)> = BTreeMap::new();
    for (url, place) in args.urls.iter().zip(&places) {
        for manifest in manifests(url, place, run)?.newest() {
            let name = format!("{}/{}/", safe(&manifest.host), safe(&manifest.user));
            // A host that wrote to two lakes is taken from the one it wrote to last.
            let is_newer =
                newest.get(&name).is_none_or(|(_, known)| known.written < manifest.written);
            if is_newer {
                newest.insert(name, (place, manifest.clone()));
            }
        }
    }
    let mut import = Import::open(store.folder(), run)?;
    let fresh = import.take(&newest)?;
    for (name, (_, manifest)) in &newest {
        let is_new = fresh.contains(name);
        if run.json {
            run.out.json(&wire::LakeRead::new(manifest, is_new))?;
            continue;
        }
        let (rows, read) = (manifest.rows() as usize, if is_new { "read" } else { "as before" });
        let line = format!("{} {}: {} {read}", manifest.host, manifest.user, counted(rows, "row"));
        run.out.line(&safe::line(&line))?;
    }
    Ok(Answer::Found)
}

/// Tables that are filled from lakes.
struct Import {
    tables: Tables,
}

impl Import {
    fn open(folder: &Path, run: &Run) -> Result<Self, CliError> {
        std::fs::create_dir_all(folder)
            .map_err(|error| CliError::Read(transcript::layout::Problem::new(folder, error)))?;
        let tables = Tables::open(folder, now(run)).map_err(StoreError::from)?;
        Ok(Self { tables })
    }

    /// Makes the tables what the manifests say, all of it or nothing; and gives back whose rows
    /// were read for that.
    fn take(
        &mut self,
        newest: &BTreeMap<String, (&Place, Manifest)>,
    ) -> Result<HashSet<String>, CliError> {
        let known = self.tables.units().map_err(StoreError::from)?;
        let write = self.tables.write().map_err(StoreError::from)?;
        let mut units = Units { write, numbers: HashMap::new() };
        let stamps = |manifest: &Manifest| manifest.to_bytes().to_vec();
        let is_same = |name: &str, manifest: &Manifest| known.get(name) == Some(&stamps(manifest));
        let same: HashSet<&str> = newest
            .iter()
            .filter(|(name, (_, manifest))| is_same(name, manifest))
            .map(|(name, _)| &**name)
            .collect();
        // The name of a host and a user is the beginning of those of its sessions.
        let of = |unit: &str| same.iter().any(|name| unit.starts_with(name));
        for name in known.keys().filter(|name| !of(name)) {
            units.write.remove(name).map_err(StoreError::from)?;
        }
        let mut fresh = HashSet::new();
        for (name, (place, manifest)) in newest.iter().filter(|(name, _)| !same.contains(&***name))
        {
            units.take(place, manifest, name)?;
            units.end(name, stamps(manifest))?;
            fresh.insert(name.clone());
        }
        units.write.imported().map_err(StoreError::from)?;
        units.write.commit().map_err(StoreError::from)?;
        Ok(fresh)
    }
}

/// Sessions that are being written.
struct Units<'a> {
    write: Writer<'a>,
    numbers: HashMap<String, usize>,
}

impl Units<'_> {
    fn take(&mut self, place: &Place, manifest: &Manifest, name: &str) -> Result<(), CliError> {
        let read = lake::read::rows(place, &SCHEMA, manifest, |table, row| {
            Ok::<_, Stopped>(self.row(name, table, &row)?)
        });
        read.map_err(|stopped| match stopped {
            Stopped::Lake(error) => LakeError::Lake(error).into(),
            Stopped::Tables(error) => CliError::from(StoreError::from(error)),
        })
    }

    fn row(&mut self, name: &str, table: &'static Table, row: &Row) -> Result<(), TablesError> {
        let session = match &row[2] {
            Value::Text(session) => session.as_str(),
            _ => "",
        };
        let next = self.numbers.len();
        let number = match self.numbers.get(session) {
            Some(number) => *number,
            None => {
                let unit = unit(format!("{name}{session}"), vec![1]);
                self.write.begin(next, unit)?;
                *self.numbers.entry(session.to_owned()).or_insert(next)
            }
        };
        self.write.row(number, table, row)
    }

    /// Ends all sessions of a host, and the host.
    fn end(&mut self, name: &str, stamp: Vec<u8>) -> Result<(), CliError> {
        let mut end = || {
            let host = self.numbers.len();
            for (_, number) in self.numbers.drain() {
                self.write.end(number)?;
            }
            self.write.begin(host, unit(name.to_owned(), stamp.clone()))?;
            self.write.end(host)
        };
        Ok(end().map_err(StoreError::from)?)
    }
}

fn unit(name: String, stamp: Vec<u8>) -> Unit {
    Unit { name, stamp, generations: Vec::new() }
}

/// Why rows are taken no further.
enum Stopped {
    Lake(lake::error::LakeError),
    Tables(TablesError),
}

impl From<lake::error::LakeError> for Stopped {
    fn from(error: lake::error::LakeError) -> Self {
        Self::Lake(error)
    }
}

impl From<TablesError> for Stopped {
    fn from(error: TablesError) -> Self {
        Self::Tables(error)
    }
}
