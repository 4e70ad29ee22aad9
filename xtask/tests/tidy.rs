//! The signs that `xtask tidy` counts may only become fewer.

use std::collections::BTreeMap;
use std::path::Path;

#[path = "../src/tidy.rs"]
#[allow(dead_code, reason = "the command prints them, the test compares the totals")]
mod tidy;

#[test]
fn no_sign_becomes_more() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let held = std::fs::read_to_string(root.join(tidy::TOTALS)).expect("the totals are there");
    let held: BTreeMap<String, usize> = serde_json::from_str(&held).expect("they are JSON");
    let found = tidy::look(&root.join("crates")).expect("all code can be read").totals();
    assert_eq!(held.keys().collect::<Vec<_>>(), found.keys().collect::<Vec<_>>());
    for (sign, count) in &found {
        let most = held[sign];
        assert!(*count <= most, "{sign}: {count}, at most {most}; `cargo xtask tidy` shows where");
    }
}
