use super::case::Case;
use super::list::HOME;
use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

const ODD: &str = r#"
//- projects/-home-x-odd/abab0000-0000-4000-8000-00000000000a.jsonl
{"parentUuid":"gone","uuid":"a","sessionId":"abab0000-0000-4000-8000-00000000000a","version":"9.9.9","type":"user","message":{"role":"user","content":"hi"},"hologram":1}
{"type":"brand-new","sessionId":"abab0000-0000-4000-8000-00000000000a"}
{"parentUuid":"a","uuid":"b","sessionId":"abab0000-0000-4000-8000-00000000000a","version":"9.9.9","type":"system","subtype":"lunar_phase"}
.344Z"}
{"parentUuid":"x","uuid":"c","sessionId":"0therses-0000-4000-8000-00000000000b","type":"user","message":{"role":"user","content":"not mine"}}
//- projects/-home-x-odd/sessions-index.json
{"version":1,"entries":[{"sessionId":"deadbeef-0000-4000-8000-000000000000","fullPath":"/x","fileMtime":1}]}
//- projects/-home-x-odd/abab0000-0000-4000-8000-00000000000a.jsonl.orphaned-1767686400000
{"type":"tag","tag":"x"}
//- settings.json
{"cleanupPeriodDays":7}
"#;

fn findings(home: &str) -> Vec<Value> {
    let all = Case::new(home).json::<Value>("doctor");
    for finding in &all {
        serde_json::from_value::<Finding>(finding.clone()).expect("the contract holds");
    }
    all
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
#[expect(dead_code, reason = "all fields are decoded, not all compared")]
enum Finding {
    Checked {
        files: usize,
        lines: u64,
        bytes: u64,
        entries: BTreeMap<String, u64>,
    },
    Unknown {
        kind: String,
        name: String,
        count: u64,
        versions: BTreeMap<String, u64>,
    },
    Odd {
        kind: String,
        count: u64,
    },
    Damage {
        kind: String,
        file: String,
        offset: u64,
        length: u64,
    },
    BrokenParents {
        file: String,
        missing: usize,
        circles: usize,
        repeated: usize,
    },
    WrongFile {
        file: String,
        session: String,
        entries: usize,
    },
    SetAside {
        file: String,
        size: u64,
    },
    StaleIndex {
        file: String,
        missing: usize,
        unlisted: usize,
    },
    Retention {
        days: u64,
        from: String,
        overdue: usize,
        within_week: usize,
        next: Option<String>,
        next_time: Option<String>,
    },
}

fn find<'a>(all: &'a [Value], kind: &str) -> Vec<&'a Value> {
    all.iter().filter(|f| f["type"] == kind).collect()
}

#[test]
fn drift_and_damage_are_named() {
    let all = findings(ODD);
    let unknown: Vec<_> = find(&all, "unknown")
        .iter()
        .map(|f| (f["kind"].clone(), f["name"].clone(), f["versions"].clone()))
        .collect();
    let name = |kind: &str, name: &str, version: &str| {
        (kind.into(), name.into(), serde_json::json!({ version: 1 }))
    };
    assert_eq!(
        unknown,
        [
            name("type", "brand-new", ""),
            name("subtype", "lunar_phase", "9.9.9"),
            name("field", "user.hologram", "9.9.9")
        ]
    );
    let damage = find(&all, "damage");
    assert_eq!(
        (&damage[0]["kind"], damage[0]["length"].as_u64()),
        (&Value::from("damaged"), Some(7))
    );
    let parents = find(&all, "broken_parents");
    assert_eq!(parents[0]["missing"], 2);
    let wrong = find(&all, "wrong_file");
    assert_eq!(
        (&wrong[0]["session"], &wrong[0]["entries"]),
        (&Value::from("0therses-0000-4000-8000-00000000000b"), &Value::from(1))
    );
    let stale = find(&all, "stale_index");
    assert_eq!((&stale[0]["missing"], &stale[0]["unlisted"]), (&Value::from(1), &Value::from(1)));
    assert_eq!(find(&all, "set_aside").len(), 1);
    assert_eq!(find(&all, "retention")[0]["days"], 7);
    assert_eq!(find(&all, "retention")[0]["from"], "settings.json");
}

#[test]
fn a_sound_home_has_nothing_unknown() {
    let all = findings(HOME);
    assert!(find(&all, "unknown").is_empty(), "{all:?}");
    assert!(find(&all, "damage").is_empty());
    assert_eq!(find(&all, "checked")[0]["files"], 6);
    assert_eq!(find(&all, "retention")[0]["days"], 30);
}

#[test]
fn it_reads_well() {
    let shown = Case::new(ODD).run("doctor --places");
    assert!(
        shown.contains("unknown           type brand-new, 1 time, versions not given"),
        "{shown}"
    );
    assert!(shown.contains("damage            damaged at byte"), "{shown}");
}

/// Real files, where they are at hand, have no name that is not in the catalog.
#[test]
fn real_files_have_nothing_unknown() {
    let real = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/real");
    if !std::path::Path::new(real).is_dir() {
        return eprintln!("no real files here: nothing was checked");
    }
    let all = Case::new("").json::<Value>(&format!("doctor --claude-dir {real}"));
    assert_eq!(find(&all, "checked")[0]["files"], 154);
    assert!(find(&all, "unknown").is_empty(), "{:?}", find(&all, "unknown"));
}
