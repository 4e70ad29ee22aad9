//! Lakes in folders: what is written is read, and what is broken is said.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use lake::Schema;
use lake::compact::Leftovers;
use lake::error::LakeError;
use lake::manifest::{Content, Manifest, Manifests};
use lake::name::Writer;
use lake::place::{Intent, Place};
use lake::verify::verify;
use lake::write::{Changed, Plan, Source};
use proptest::prelude::*;
use store::table::{Column, Kind, Row, Table, Value};

const fn column(name: &'static str, kind: Kind, is_optional: bool, is_text: bool) -> Column {
    Column { name, kind, is_optional, is_text, about: "" }
}

static TABLES: [Table; 2] = [
    Table {
        name: "requests",
        about: "",
        columns: &[
            column("id", Kind::Text, false, false),
            column("tokens", Kind::Integer, true, false),
            column("is_error", Kind::Boolean, true, false),
            column("time", Kind::Time, true, false),
            column("prompt", Kind::Text, false, true),
        ],
        key: &["id"],
    },
    Table {
        name: "texts",
        about: "",
        columns: &[column("id", Kind::Text, false, false)],
        key: &[],
    },
];
const SCHEMA: Schema = Schema { version: 3, tables: &TABLES };
const NOW: i64 = 1_800_000_000_000;
const DAY: i64 = 24 * 60 * 60 * 1000;

/// Rows by table and month, and when they changed.
#[derive(Default, Clone)]
struct Rows(BTreeMap<(&'static str, String), (u64, Vec<Row>)>);

impl Rows {
    fn set(&mut self, month: &str, at: u64, rows: Vec<Row>) -> &mut Self {
        self.0.insert(("requests", month.into()), (at, rows));
        self
    }

    fn changed(&self) -> Vec<Changed> {
        let one = |((table, month), (at, _)): (&(&str, String), &(u64, Vec<Row>))| Changed {
            table: SCHEMA.table(table).unwrap(),
            month: month.clone(),
            at: *at,
        };
        self.0.iter().map(one).collect()
    }

    fn all(&self) -> Vec<Row> {
        self.0.values().flat_map(|(_, rows)| rows.clone()).collect()
    }
}

impl Source for Rows {
    fn rows(
        &mut self,
        table: &'static Table,
        month: &str,
        each: &mut dyn FnMut(Row) -> Result<(), LakeError>,
    ) -> Result<(), LakeError> {
        self.0[&(table.name, month.to_owned())].1.iter().cloned().try_for_each(each)
    }
}

fn row(id: &str, tokens: i64) -> Row {
    let time = Value::Time(1_790_000_000_123);
    vec![Value::Text(id.into()), Value::Integer(tokens), Value::Boolean(true), time, Value::Null]
}

fn writer(host: &str) -> Writer {
    Writer { host: host.into(), user: "anna".into() }
}

fn content(counter: u64) -> Content {
    let source = "s".to_owned();
    Content { schema: SCHEMA.version, texts: false, redacted: true, source, counter }
}

fn open(folder: &Path) -> Place {
    Place::open(folder.to_str().unwrap(), &[], Intent::Write).unwrap()
}

fn plan(place: &Place, host: &str, rows: &Rows, counter: u64) -> Plan {
    Plan::new(place, writer(host), content(counter), rows.changed()).unwrap()
}

fn write(place: &Place, host: &str, rows: &Rows, counter: u64) -> Manifest {
    plan(place, host, rows, counter).write(place, &mut rows.clone(), NOW).unwrap()
}

fn read(place: &Place) -> Result<Vec<Row>, LakeError> {
    let mut all = Vec::new();
    for manifest in Manifests::read(place, None)?.newest() {
        for row in lake::read::rows(place, &SCHEMA, manifest)? {
            all.push(row?.1);
        }
    }
    Ok(all)
}

fn faults(place: &Place) -> Vec<String> {
    let faults = verify(place, &SCHEMA).unwrap().faults;
    faults.into_iter().map(|fault| format!("{} {}", fault.path, fault.what)).collect()
}

#[test]
fn hosts_are_laid_together() {
    let temp = tempfile::tempdir().unwrap();
    let place = open(temp.path());
    let mut rows = Rows::default();
    rows.set("2026-10", 1, vec![row("a", 1)]).set("2026-11", 2, vec![row("b", 2), row("c", -3)]);
    write(&place, "one", &rows, 2);
    write(&place, "two/../x", &rows, 2);
    assert_eq!(read(&place).unwrap(), [rows.all(), rows.all()].concat());
    assert_eq!(faults(&place), [""; 0]);
    let verdict = verify(&place, &SCHEMA).unwrap();
    assert_eq!((verdict.manifests, verdict.files, verdict.rows), (2, 4, 6));
    assert!(temp.path().join("requests/month=2026-11/host=two%2F..%2Fx").is_dir());
}

#[test]
fn only_what_changed_is_written() {
    let temp = tempfile::tempdir().unwrap();
    let place = open(temp.path());
    let mut rows = Rows::default();
    rows.set("2026-10", 1, vec![row("a", 1)]).set("2026-11", 2, vec![row("b", 2)]);
    let first = write(&place, "h", &rows, 2);
    assert!(plan(&place, "h", &rows, 2).is_empty());

    rows.set("2026-11", 5, vec![row("b", 2), row("c", 3)]);
    let next = plan(&place, "h", &rows, 5);
    assert_eq!((next.fresh.len(), next.kept.len()), (1, 1));
    let second = next.write(&place, &mut rows.clone(), NOW).unwrap();
    assert_eq!(second.number, 2);
    assert_eq!(second.partitions[0], first.partitions[0]);
    assert_eq!(read(&place).unwrap(), rows.all());

    // A month that is gone, and one that has no rows left.
    rows.0.remove(&("requests", "2026-10".into()));
    assert!(!plan(&place, "h", &rows, 5).is_empty());
    rows.set("2026-11", 6, Vec::new());
    assert_eq!(write(&place, "h", &rows, 6).partitions, []);
    assert!(plan(&place, "h", &rows, 6).is_empty());
}

#[test]
fn what_counts_other_changes_is_written_whole() {
    let temp = tempfile::tempdir().unwrap();
    let place = open(temp.path());
    let mut rows = Rows::default();
    rows.set("2026-10", 1, vec![row("a", 1)]);
    write(&place, "h", &rows, 9);
    let with = |content: Content| {
        let plan = Plan::new(&place, writer("h"), content, rows.changed()).unwrap();
        plan.fresh.len()
    };
    assert_eq!(with(content(9)), 0);
    assert_eq!(with(content(8)), 1, "the counter fell back");
    assert_eq!(with(Content { source: "other".into(), ..content(9) }), 1);
    assert_eq!(with(Content { texts: true, ..content(9) }), 1);
    assert_eq!(with(Content { redacted: false, ..content(9) }), 1);
    assert_eq!(with(Content { schema: 4, ..content(9) }), 1);
}

#[test]
fn what_is_missing_or_damaged_is_named_and_repaired() {
    let temp = tempfile::tempdir().unwrap();
    let place = open(temp.path());
    let mut rows = Rows::default();
    rows.set("2026-10", 1, vec![row("a", 1)]).set("2026-11", 2, vec![row("b", 2)]);
    let manifest = write(&place, "h", &rows, 2);
    let paths: Vec<&str> = manifest.files().map(|file| &*file.path).collect();

    let whole = fs::read(temp.path().join(paths[0])).unwrap();
    fs::write(temp.path().join(paths[0]), &whole[..whole.len() / 2]).unwrap();
    fs::remove_file(temp.path().join(paths[1])).unwrap();
    let half = whole.len() / 2;
    let said = format!("{} is damaged: it has {half} bytes of {}", paths[0], whole.len());
    assert_eq!(faults(&place), [said, format!("{} is missing", paths[1])]);
    assert!(matches!(read(&place), Err(LakeError::Damaged { .. })));

    let repair = plan(&place, "h", &rows, 2);
    assert_eq!(repair.missing, paths);
    repair.write(&place, &mut rows.clone(), NOW).unwrap();
    assert_eq!(faults(&place), [""; 0]);
    assert_eq!(read(&place).unwrap(), rows.all());
}

#[test]
fn other_bytes_of_the_same_length_are_seen() {
    let temp = tempfile::tempdir().unwrap();
    let place = open(temp.path());
    let manifest = write(&place, "h", Rows::default().set("2026-10", 1, vec![row("a", 1)]), 1);
    let path = &manifest.partitions[0].files[0].path;
    let mut bytes = fs::read(temp.path().join(path)).unwrap();
    bytes[10] ^= 1;
    fs::write(temp.path().join(path), bytes).unwrap();
    assert_eq!(
        faults(&place),
        [format!("{path} is damaged: its bytes are others than were written")]
    );
}

#[test]
fn another_version_is_said() {
    let temp = tempfile::tempdir().unwrap();
    let place = open(temp.path());
    let mut rows = Rows::default();
    rows.set("2026-10", 1, vec![row("a", 1)]);
    let plan = Plan::new(&place, writer("h"), Content { schema: 2, ..content(1) }, rows.changed())
        .unwrap();
    plan.write(&place, &mut rows, NOW).unwrap();
    let said = "manifest/h/anna/0000000001.json is of version 2 of the tables, not 3";
    assert_eq!(faults(&place), [said]);
    assert!(matches!(read(&place), Err(LakeError::OtherVersion { found: 2, known: 3, .. })));
    write(&place, "h", &rows, 1);
    assert_eq!(read(&place).unwrap(), rows.all());
}

#[test]
fn half_a_manifest_is_passed_over() {
    let temp = tempfile::tempdir().unwrap();
    let place = open(temp.path());
    let mut rows = Rows::default();
    let first = write(&place, "h", rows.set("2026-10", 1, vec![row("a", 1)]), 1);
    let before = rows.all();
    let second = write(&place, "h", rows.set("2026-10", 2, vec![row("b", 1)]), 2);
    let path = temp.path().join(second.path());
    fs::write(&path, &fs::read(&path).unwrap()[..50]).unwrap();
    assert_eq!(read(&place).unwrap(), before);
    assert!(faults(&place)[0].starts_with("manifest/h/anna/0000000002.json is no whole manifest"));
    let third = write(&place, "h", &rows, 2);
    assert_eq!((first.number, third.number), (1, 3));
    assert_eq!(read(&place).unwrap(), rows.all());
}

#[test]
fn a_write_that_stops_leaves_the_lake_as_it_was() {
    /// Fails at a row.
    struct Stops(Rows, usize);
    impl Source for Stops {
        fn rows(
            &mut self,
            table: &'static Table,
            month: &str,
            each: &mut dyn FnMut(Row) -> Result<(), LakeError>,
        ) -> Result<(), LakeError> {
            let left = &mut self.1;
            self.0.rows(table, month, &mut |row| {
                *left = left.checked_sub(1).ok_or(LakeError::Source("stopped".into()))?;
                each(row)
            })
        }
    }
    let temp = tempfile::tempdir().unwrap();
    let place = open(temp.path());
    let mut rows = Rows::default();
    write(&place, "h", rows.set("2026-10", 1, vec![row("a", 1)]), 1);
    let before = rows.all();
    for month in ["2026-10", "2026-11", "2026-12"] {
        rows.set(month, 2, vec![row(month, 2), row("z", 3)]);
    }
    for after in 0..6 {
        let plan = plan(&place, "h", &rows, 2);
        let stopped = plan.write(&place, &mut Stops(rows.clone(), after), NOW);
        assert!(matches!(stopped, Err(LakeError::Source(_))));
        assert_eq!(read(&place).unwrap(), before);
        assert_eq!(faults(&place), [""; 0]);
    }
    assert_eq!(verify(&place, &SCHEMA).unwrap().foreign.len(), 2, "whole files without a manifest");
    write(&place, "h", &rows, 2);
    assert_eq!(read(&place).unwrap(), rows.all());
    assert_eq!(verify(&place, &SCHEMA).unwrap().foreign, []);
}

#[test]
fn two_writes_of_one_host_do_not_mix() {
    let temp = tempfile::tempdir().unwrap();
    let place = open(temp.path());
    let mut rows = Rows::default();
    rows.set("2026-10", 1, vec![row("a", 1)]);
    let slow = plan(&place, "h", &rows, 1);
    write(&place, "h", &rows, 1);
    let raced = slow.write(&place, &mut rows.clone(), NOW);
    assert!(matches!(raced, Err(LakeError::Raced(path)) if path == writer("h").manifest(1)));
    assert_eq!(read(&place).unwrap(), rows.all());
}

#[test]
fn what_nobody_reads_goes_after_a_day() {
    let temp = tempfile::tempdir().unwrap();
    let place = open(temp.path());
    let mut rows = Rows::default();
    for at in 1..=4 {
        write(&place, "h", rows.set("2026-10", at, vec![row("a", at as i64)]), at);
    }
    fs::write(temp.path().join("requests/month=2026-10/host=h/x.parquet#1"), "half").unwrap();
    fs::write(temp.path().join("notes.parquet"), "not ours").unwrap();
    let written = place.list("requests").unwrap().iter().map(|object| object.written).max();
    let written = written.unwrap();

    let now = Leftovers::find(&place, &SCHEMA, written).unwrap();
    assert_eq!((now.manifests.len(), now.files.len()), (2, 0));
    let later = Leftovers::find(&place, &SCHEMA, written + 2 * DAY).unwrap();
    assert_eq!((later.manifests.len(), later.files.len()), (2, 3));
    later.remove(&place).unwrap();
    assert_eq!(Leftovers::find(&place, &SCHEMA, written + 2 * DAY).unwrap(), Leftovers::default());
    assert_eq!(read(&place).unwrap(), rows.all());
    assert!(temp.path().join("notes.parquet").exists());
    assert_eq!(plan(&place, "h", rows.set("2026-10", 5, Vec::new()), 5).fresh.len(), 1);
}

#[test]
fn a_row_that_does_not_fit_is_refused() {
    let temp = tempfile::tempdir().unwrap();
    let place = open(temp.path());
    let misfits = [
        (vec![], ""),
        (vec![Value::Null, Value::Null, Value::Null, Value::Null, Value::Null], "id"),
        (
            vec![Value::Text("a".into()), Value::Time(1), Value::Null, Value::Null, Value::Null],
            "tokens",
        ),
    ];
    for (row, wanted) in misfits {
        let mut rows = Rows::default();
        rows.set("2026-10", 1, vec![row]);
        let refused = plan(&place, "h", &rows, 1).write(&place, &mut rows.clone(), NOW);
        assert!(matches!(refused, Err(LakeError::Misfit { column, .. }) if column == wanted));
    }
}

fn any_row() -> impl Strategy<Value = Row> {
    let text = prop_oneof![".{0,40}", "[ab]{1,2}"].prop_map(Value::Text);
    let none = |values: BoxedStrategy<Value>| prop_oneof![Just(Value::Null), values];
    (
        text.clone(),
        none(any::<i64>().prop_map(Value::Integer).boxed()),
        none(any::<bool>().prop_map(Value::Boolean).boxed()),
        none(any::<i64>().prop_map(Value::Time).boxed()),
        none(text.boxed()),
    )
        .prop_map(|(a, b, c, d, e)| vec![a, b, c, d, e])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn any_rows_are_read_as_they_were_written(rows in prop::collection::vec(any_row(), 1..200)) {
        let temp = tempfile::tempdir().unwrap();
        let place = open(temp.path());
        let mut source = Rows::default();
        write(&place, "h", source.set("2026-10", 1, rows.clone()), 1);
        prop_assert_eq!(read(&place).unwrap(), rows);
    }
}

#[test]
fn many_rows_are_several_groups() {
    let temp = tempfile::tempdir().unwrap();
    let place = open(temp.path());
    let rows: Vec<Row> = (0..150_000).map(|n| row(&format!("{n:08}"), n)).collect();
    let mut source = Rows::default();
    let manifest = write(&place, "h", source.set("2026-10", 1, rows.clone()), 1);
    assert_eq!(manifest.rows(), 150_000);
    assert_eq!(read(&place).unwrap(), rows);
}
