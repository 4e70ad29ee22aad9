//! `recount lake read`: lakes into a store, to be asked on one computer.
//!
//! Beside the rows a unit is kept for each host and user, whose stamp is the manifest that they were
//! read from: so nothing is read twice.

use std::collections::BTreeMap;
use std::path::Path;

use hashbrown::HashSet;
use lake::manifest::Manifest;
use lake::name::Writer;
use lake::place::{Intent, Place};
use store::table::keep::{Tables, Unit};
use transcript::layout::Problem;

use super::{SCHEMA, manifests, open};
use crate::error::{Answer, CliError, LakeError, StoreError};
use crate::run::Run;
use crate::terminal::format::counted;
use crate::terminal::safe;
use crate::wire::lake as wire;
use ask::tables::is_imported;

/// Take lakes into a store of their own, so that `sql`, `usage`, `tools` and `errors` answer for all.
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
    let store = run.recount.store()?;
    if store.exists() && !is_imported(&store)? {
        return Err(LakeError::OwnStore(store.folder().into()).into());
    }
    let places = args.urls.iter().map(|url| open(url, Intent::Read));
    let places = places.collect::<Result<Vec<Place>, _>>()?;
    let mut newest: BTreeMap<String, (&Place, Manifest)> = BTreeMap::new();
    for (url, place) in args.urls.iter().zip(&places) {
        for manifest in manifests(url, place, run)?.newest() {
            let name = manifest.writer().manifests();
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
    /// The manifests that they have been filled from, by their folders.
    known: BTreeMap<String, Manifest>,
}

impl Import {
    fn open(folder: &Path, run: &Run) -> Result<Self, CliError> {
        let failed = |error| CliError::Read(Problem::new(folder, error));
        std::fs::create_dir_all(folder).map_err(failed)?;
        let tables = Tables::open(folder, run.recount.clock.time()).map_err(StoreError::from)?;
        let units = tables.units().map_err(StoreError::from)?.into_iter();
        let known = units.filter_map(|(name, stamp)| Some((name, Manifest::read(&stamp).ok()?)));
        let known = known.collect();
        Ok(Self { tables, known })
    }

    /// Makes the tables what the manifests say, one host after the other; each is noted when all its
    /// rows are there. Whose rows were read is given back.
    fn take(
        &mut self,
        newest: &BTreeMap<String, (&Place, Manifest)>,
    ) -> Result<HashSet<String>, CliError> {
        let gone: Vec<String> =
            self.known.keys().filter(|name| !newest.contains_key(*name)).cloned().collect();
        for name in gone {
            self.fill(&name, None)?;
        }
        let mut fresh = HashSet::new();
        for (name, (place, manifest)) in newest {
            if self.known.get(name) != Some(manifest) {
                self.fill(name, Some((place, manifest)))?;
                fresh.insert(name.clone());
            }
        }
        Ok(fresh)
    }

    /// Replaces the rows of a host and a user, by nothing if they are in no lake any more.
    fn fill(&mut self, name: &str, by: Option<(&Place, &Manifest)>) -> Result<(), CliError> {
        let of = by.map(|(_, manifest)| manifest).or_else(|| self.known.get(name));
        let Some(Writer { host, user }) = of.map(Manifest::writer) else { return Ok(()) };
        let imported = match by {
            Some((place, manifest)) => {
                let rows = lake::read::rows(place, &SCHEMA, manifest).map_err(LakeError::Lake)?;
                self.tables.import(&host, &user, rows)
            }
            None => self.tables.import(&host, &user, std::iter::empty()),
        };
        imported.map_err(StoreError::from)?.map_err(LakeError::Lake)?;
        self.note(name, by.map(|(_, manifest)| manifest))
    }

    fn note(&mut self, name: &str, manifest: Option<&Manifest>) -> Result<(), CliError> {
        let mut note = || {
            let mut write = self.tables.write()?;
            match manifest {
                Some(manifest) => {
                    let (name, stamp) = (name.to_owned(), manifest.to_bytes().to_vec());
                    write.begin(0, Unit { name, stamp, generations: Vec::new() })?;
                    write.end(0)?;
                }
                None => write.remove(name)?,
            }
            write.commit()
        };
        Ok(note().map_err(StoreError::from)?)
    }
}
