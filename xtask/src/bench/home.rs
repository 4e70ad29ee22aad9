//! The homes that are measured on: made once per shape, size and seed, and kept below `target/`.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use testkit::{Shape, Spec, Truth};

/// Another seed would be another home: figures of different days are compared on the same bytes.
const SEED: u64 = 1;

/// A Claude folder to measure on.
#[derive(Debug)]
pub struct Home {
    /// Where it is.
    pub path: PathBuf,
    /// What it is, for the record: its shape, not its place.
    pub name: String,
    /// Its transcripts with their sizes, the largest first.
    pub files: Vec<(PathBuf, u64)>,
    /// Failed calls in it, if its maker has said so.
    pub errors: Option<u64>,
}

impl Home {
    /// The name of a home somebody points to.
    pub const GIVEN: &'static str = "given";

    /// A home somebody points to.
    pub fn given(path: &Path) -> Result<Self, String> {
        Self::open(path.to_path_buf(), Self::GIVEN.into(), None)
    }

    /// A made home, reused if it is there.
    pub fn made(shape: Shape, bytes: u64) -> Result<Self, String> {
        let name = shape.name();
        let path = folder(&format!("{name}-{}-{SEED}", size(bytes)));
        let errors = make(&path, &[Spec { seed: SEED, shape, bytes }], |_| Ok(()))?;
        Self::open(path, name.into(), Some(errors))
    }

    /// A home with one huge file, and one huge output beside it.
    pub fn big(bytes: u64, huge: u64, output: u64) -> Result<Self, String> {
        let path = big_folder(bytes, huge, output);
        let specs = [
            Spec { seed: SEED, shape: Shape::OneHuge, bytes: huge },
            Spec { seed: SEED + 1, shape: Shape::Seeds, bytes: bytes - huge },
        ];
        let errors = make(&path, &specs, |home| write_output(home, output))?;
        Self::open(path, "big".into(), Some(errors))
    }

    /// Whether that home is there already.
    pub fn big_is_made(bytes: u64, huge: u64, output: u64) -> bool {
        truth_file(&big_folder(bytes, huge, output)).exists()
    }

    fn open(path: PathBuf, name: String, errors: Option<u64>) -> Result<Self, String> {
        let mut files = Vec::new();
        find(&path.join("projects"), &mut files).map_err(|e| format!("{}: {e}", path.display()))?;
        files.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        if files.is_empty() {
            return Err(format!("{}: no transcripts there", path.display()));
        }
        Ok(Self { path, name, files, errors })
    }

    /// Bytes of all transcripts.
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|(_, bytes)| bytes).sum()
    }

    /// The home in a sentence.
    pub fn text(&self) -> String {
        let largest = self.files.first().map_or(0, |file| file.1);
        format!(
            "A home `{}` of {:.0} MB in {} files, the largest {:.1} MB",
            self.name,
            self.bytes() as f64 / 1e6,
            self.files.len(),
            largest as f64 / 1e6
        )
    }
}

/// Where cargo builds, and where this keeps what can be made again.
pub fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), PathBuf::from)
}

fn folder(name: &str) -> PathBuf {
    target().join("corpus").join(name)
}

fn big_folder(bytes: u64, huge: u64, output: u64) -> PathBuf {
    folder(&format!("big-{}-{}-{}-{SEED}", size(bytes), size(huge), size(output)))
}

/// An output of a tool, as Claude Code puts it beside the transcript when it is too long for it:
/// what a verbose build prints, line by line.
fn write_output(home: &Path, bytes: u64) -> io::Result<()> {
    let mut files = Vec::new();
    find(&home.join("projects"), &mut files)?;
    let largest = files.into_iter().max_by_key(|file| file.1);
    let (session, _) = largest.ok_or_else(|| io::Error::other("no transcripts"))?;
    let folder = session.with_extension("").join("tool-results");
    fs::create_dir_all(&folder)?;
    let mut out = io::BufWriter::new(fs::File::create(folder.join("b0a1c2d3e.txt"))?);
    let (mut written, mut number) = (0, 0u64);
    while written < bytes {
        let hash = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let line = format!("   Compiling unit {number} of the module, key {hash:016x}, done\n");
        out.write_all(line.as_bytes())?;
        written += line.len() as u64;
        number += 1;
    }
    out.flush()
}

/// The number of failed calls planted stands beside the home. It is written last: where it is,
/// the home is whole.
fn truth_file(home: &Path) -> PathBuf {
    // Not `with_extension`: a size in the name may have a point.
    let mut name = home.as_os_str().to_owned();
    name.push(".errors");
    name.into()
}

/// Bytes free on the disk that holds the homes.
pub fn free_disk() -> Result<u64, String> {
    fs::create_dir_all(target()).map_err(|e| e.to_string())?;
    let disk = rustix::fs::statvfs(target()).map_err(|e| e.to_string())?;
    Ok(disk.f_bavail * disk.f_frsize)
}

/// Makes a home unless it is there, and says how many failed calls are in it.
fn make(
    home: &Path,
    specs: &[Spec],
    more: impl FnOnce(&Path) -> io::Result<()>,
) -> Result<u64, String> {
    let failed = |e: io::Error| format!("{}: {e}", home.display());
    let truth = truth_file(home);
    if home.exists()
        && let Ok(text) = fs::read_to_string(&truth)
        && let Ok(errors) = text.trim().parse()
    {
        return Ok(errors);
    }
    if home.exists() {
        fs::remove_dir_all(home).map_err(failed)?;
    }
    fs::create_dir_all(home).map_err(failed)?;
    let mut errors = 0;
    for spec in specs {
        eprintln!("making {} ({})", spec.shape.name(), size(spec.bytes));
        errors += failed_calls(&testkit::make(spec, home).map_err(failed)?);
    }
    more(home).map_err(failed)?;
    fs::write(&truth, format!("{errors}\n")).map_err(failed)?;
    Ok(errors)
}

fn failed_calls(truth: &Truth) -> u64 {
    let of_agents =
        |s: &testkit::truth::SessionTruth| s.subagents.iter().map(|a| a.errors).sum::<u64>();
    truth.sessions.iter().map(|s| s.errors.len() as u64 + of_agents(s)).sum()
}

/// The bytes that a typed size means: `1500`, `20kB`, `500MB`, `1.4GB`.
pub fn bytes_of(typed: &str) -> Result<u64, String> {
    let number_end = typed.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(typed.len());
    let (number, unit) = typed.split_at(number_end);
    let factor = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 1.0,
        "k" | "kb" => 1e3,
        "m" | "mb" => 1e6,
        "g" | "gb" => 1e9,
        _ => return Err(format!("{typed}: no such unit")),
    };
    let number: f64 = number.parse().map_err(|e| format!("{typed}: {e}"))?;
    Ok((number * factor).round() as u64)
}

/// A size as it is typed.
fn size(bytes: u64) -> String {
    match bytes {
        0..1_000_000 => format!("{bytes}"),
        1_000_000..1_000_000_000 => format!("{}MB", bytes as f64 / 1e6),
        _ => format!("{}GB", bytes as f64 / 1e9),
    }
}

fn find(folder: &Path, files: &mut Vec<(PathBuf, u64)>) -> io::Result<()> {
    for item in fs::read_dir(folder)? {
        let item = item?;
        let kind = item.file_type()?;
        if kind.is_dir() {
            find(&item.path(), files)?;
        } else if kind.is_file() && item.path().extension().is_some_and(|e| e == "jsonl") {
            files.push((item.path(), item.metadata()?.len()));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_written_as_they_are_typed() {
        let typed = [1_400_000_000, 500_000_000, 12].map(size);
        assert_eq!(typed, ["1.4GB", "500MB", "12"]);
        assert_eq!(typed.map(|size| bytes_of(&size)), [Ok(1_400_000_000), Ok(500_000_000), Ok(12)]);
        assert!(bytes_of("5TB").is_err() && bytes_of("MB").is_err());
    }

    #[test]
    fn the_truth_stands_beside_the_home() {
        let beside = truth_file(Path::new("corpus/big-5GB-1.4GB-1"));
        assert_eq!(beside, Path::new("corpus/big-5GB-1.4GB-1.errors"));
    }
}
