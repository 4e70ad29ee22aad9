//! Any bytes give entries, and every byte is in an entry, in a diagnostic or white space.
#![no_main]

use libfuzzer_sys::fuzz_target;
use transcript::diagnostic::DiagnosticKind;
use transcript::entry::Entry;
use transcript::line::Lines;

fuzz_target!(|file: &[u8]| {
    let mut covered = vec![false; file.len()];
    let mut odd = Vec::new();
    for line in Lines::new(file, 0) {
        let mut end = line.offset;
        Entry::read(line, &mut odd, |entry| {
            assert!(entry.offset >= end, "entries overlap or are out of order");
            end = entry.offset + entry.bytes.len() as u64;
            assert!(end <= line.offset + line.length, "an entry reaches past its line");
            let range = entry.offset as usize..end as usize;
            assert_eq!(&file[range.clone()], entry.bytes, "an entry is not what stands there");
            covered[range].fill(true);
            touch(&entry);
        });
    }
    for diagnostic in odd {
        let (from, to) = (diagnostic.offset, diagnostic.offset + diagnostic.length);
        assert!(to <= file.len() as u64, "a diagnostic reaches past the file");
        // These two name a whole line for one byte of it, so they prove nothing about the rest.
        let is_broad =
            matches!(diagnostic.kind, DiagnosticKind::InvalidUtf8 | DiagnosticKind::ControlByte);
        if !is_broad {
            covered[from as usize..to as usize].fill(true);
        }
    }
    for (at, &byte) in file.iter().enumerate() {
        assert!(
            covered[at] || matches!(byte, b'\n' | b'\r' | b'\t' | b' '),
            "byte {at} ({byte:#04x}) is in no entry and no diagnostic"
        );
    }
});

/// Everything that decodes on demand.
fn touch(entry: &Entry<'_>) {
    drop(entry.message.as_ref().map(|message| (message.text(), message.first_text())));
    for block in entry.blocks() {
        drop(block.result_text());
        drop(block.text.map(|text| (text.text(), text.head(7), text.has_lone_surrogate())));
    }
    for (key, value) in &entry.fields {
        drop((key.text(), value.text(), value.f64(), value.i64(), value.get("type")));
    }
    let _ = entry.inner_type();
}
