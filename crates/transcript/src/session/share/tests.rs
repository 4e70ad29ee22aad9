use std::sync::LazyLock;

use proptest::prelude::*;

use super::*;
use crate::line::HELD;

static THREE: LazyLock<rayon::ThreadPool> =
    LazyLock::new(|| rayon::ThreadPoolBuilder::new().num_threads(3).build().expect("threads"));

/// Gives its bytes in pieces of the given sizes, then perhaps fails.
struct Pieces<'a> {
    bytes: &'a [u8],
    sizes: Vec<usize>,
    fails: bool,
}

impl Read for Pieces<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.bytes.is_empty() && self.fails {
            return Err(io::Error::other("gone"));
        }
        let size = self.sizes.pop().unwrap_or(usize::MAX).max(1);
        let (now, rest) = self.bytes.split_at(size.min(out.len()).min(self.bytes.len()));
        out[..now.len()].copy_from_slice(now);
        self.bytes = rest;
        Ok(now.len())
    }
}

/// What one core remembers of `file`, read in two goes, and what three remember of it.
fn both(file: &[u8], sizes: &[usize], cut: usize, fails: bool) -> [(Vec<u8>, bool); 2] {
    [false, true].map(|shared| {
        let (mut builder, mut failed) = (Builder::new(), false);
        for end in [cut, file.len()] {
            let from = builder.consumed() as usize;
            let bytes = &file[from..end.max(from)];
            let input = Pieces { bytes, sizes: sizes.to_vec(), fails };
            let read = match shared {
                true => THREE.install(|| builder.read_shared(input)),
                false => builder.read(input),
            };
            failed |= read.is_err();
        }
        let mut saved = Vec::new();
        builder.save(&mut saved).expect("memory takes everything");
        (saved, failed)
    })
}

fn line() -> impl Strategy<Value = String> {
    let said = |role: &'static str| {
        (0..40u32, 0..40u32, 0..60usize).prop_map(move |(uuid, parent, length)| {
            let words = r#"é\"\n"#.repeat(length);
            format!(
                r#"{{"parentUuid":"u{parent}","uuid":"u{uuid}","sessionId":"s","type":"{role}","message":{{"role":"{role}","content":"{words}"}}}}"#
            )
        })
    };
    let record = prop_oneof![
        4 => said("user"),
        4 => said("assistant"),
        1 => Just(r#"{"type":"summary","leafUuid":"u1","summary":"s"}"#.to_string()),
        1 => Just(r#"{"type":"user","uuid":"cut","mess"#.to_string()),
        1 => Just("  ".to_string()),
        1 => Just(String::new()),
    ];
    (record, prop_oneof![8 => Just("\n"), 1 => Just("\r\n"), 1 => Just("")])
        .prop_map(|(record, end)| record + end)
}

proptest! {
    #[test]
    fn several_cores_make_the_same_session(
        lines in prop::collection::vec(line(), 0..60),
        sizes in prop::collection::vec(1usize..900, 0..40),
        cut in any::<prop::sample::Index>(),
        fails in any::<bool>(),
    ) {
        let file = lines.concat();
        let [one, three] = both(file.as_bytes(), &sizes, cut.index(file.len() + 1), fails);
        prop_assert_eq!(one, three);
    }
}

#[test]
fn a_line_too_long_to_hold_is_cut_down_the_same_way() {
    let said = |uuid: &str, words: &str| {
        format!(r#"{{"uuid":"{uuid}","type":"user","message":{{"content":"{words}"}}}}"#)
    };
    let long = said("long", &"x".repeat(HELD + 1000));
    let file = [said("a", "1"), said("b", "2"), long.clone(), said("c", "3"), long].join("\n");
    let [one, three] = both(file.as_bytes(), &[], 0, false);
    assert!(one == three);
}
