//! Real files, where they are at hand: every byte is read, nothing is unknown.

use std::path::PathBuf;

use transcript::diagnostic::DiagnosticKind;
use transcript::entry::{Entry, Kind};
use transcript::layout;
use transcript::library::{Library, read_session, scan};
use transcript::line::Lines;

/// A folder of real transcripts, laid out as a Claude folder; not part of the project.
fn real() -> Option<PathBuf> {
    let beside = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/real"));
    let path = std::env::var_os("RECOUNT_REAL").map_or(beside, PathBuf::from);
    path.is_dir().then_some(path)
}

#[test]
fn no_byte_of_a_real_file_is_lost_and_no_type_unknown() {
    let Some(root) = real() else { return eprintln!("no real files here: nothing was checked") };
    let files = layout::walk_projects(&root).files;
    let transcripts: Vec<_> = files.iter().filter(|f| f.kind.is_transcript()).collect();
    assert!(transcripts.len() > 100);
    for found in transcripts {
        let bytes = std::fs::read(&found.path).expect("reads");
        let mut covered = 0u64;
        let mut odd = Vec::new();
        for line in Lines::new(&bytes, 0) {
            assert_eq!(line.offset, covered);
            covered += line.length;
            let mut inside = line.offset;
            Entry::read(line, &mut odd, |entry| {
                assert!(
                    !matches!(entry.kind, Kind::Unknown | Kind::Damaged),
                    "{}",
                    found.path.display()
                );
                assert_eq!(entry.offset, inside, "a gap in {}", found.path.display());
                inside = entry.offset + entry.bytes.len() as u64;
            });
            let ending = u64::from(line.is_finished());
            assert_eq!(inside, covered - ending, "{}", found.path.display());
        }
        assert_eq!(covered, found.size);
        assert!(odd.iter().all(|d| d.kind == DiagnosticKind::Glued), "{odd:?}");
        let session = read_session(found, None).expect("reads");
        assert_eq!(session.lines(), Lines::new(&bytes, 0).count() as u64);
    }
}

/// Counted by hand in the files: parallel calls are most of the forks, rewinds are few.
#[test]
fn real_forks_are_mostly_parallel_calls() {
    let Some(root) = real() else { return eprintln!("no real files here: nothing was checked") };
    let count = |_: &_, session: &transcript::session::Session, _: &_| {
        Some(session.forks().iter().map(|f| f.kind.name()).collect::<Vec<_>>())
    };
    let (library, kinds) = Library::join(scan(layout::walk_projects(&root).files, count, |_| {}));
    let number = |name: &str| kinds.iter().flatten().flatten().filter(|k| **k == name).count();
    assert_eq!((number("rewind"), number("retry"), number("unknown")), (6, 0, 0));
    assert!(number("parallel") > 100);
    assert!(library.problems.is_empty());
}
