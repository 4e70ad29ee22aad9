//! Units are replaced as a whole, months are noted, and lakes are taken in.

use std::ops::ControlFlow;

use super::super::schema::{PRS, TURNS};
use super::*;

/// A row of pull requests.
fn pr(host: &str, session: &str, time: Option<i64>, url: &str) -> Row {
    let text = |text: &str| Value::Text(text.into());
    let (day, month) = match time {
        Some(_) => (text("2026-02-01"), text("2026-02")),
        None => (Value::Null, text(NO_MONTH)),
    };
    vec![
        text(host),
        text("mara"),
        text(session),
        Value::Integer(7),
        Value::Null,
        time.map_or(Value::Null, Value::Time),
        day,
        month,
        Value::Null,
        text(url),
        Value::Null,
    ]
}

/// The first of February 2026, in milliseconds.
const FEBRUARY: i64 = 1_769_904_000_000;

fn all(tables: &Tables) -> Vec<Row> {
    let mut rows = Vec::new();
    let take = |row| {
        rows.push(row);
        ControlFlow::Continue(())
    };
    tables.rows(&PRS, None, true, take).expect("read");
    rows
}

fn opened(folder: &Path) -> Tables {
    drop(Tables::open(folder, Time(1)).expect("made"));
    let store = crate::folder::Store::new(folder.into());
    Tables::with_words(&store).expect("read").expect("there")
}

#[test]
fn rows_come_back_as_they_were_given() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut tables = Tables::open(folder.path(), Time(1)).expect("made");
    let rows = [pr("h", "s1", Some(FEBRUARY), "u1"), pr("h", "s1", None, "u2")];
    let mut write = tables.write().expect("begun");
    let unit = Unit { name: "x".into(), stamp: vec![1], generations: Vec::new() };
    write.begin(4, unit.clone()).expect("begun");
    rows.iter().for_each(|row| write.row(4, &PRS, row).expect("written"));
    write.end(4).expect("ended");
    write.commit().expect("committed");
    assert_eq!(all(&opened(folder.path())), rows);
    let mut february = Vec::new();
    let take = |row| {
        february.push(row);
        ControlFlow::Continue(())
    };
    opened(folder.path()).rows(&PRS, Some("2026-02"), false, take).expect("read");
    assert_eq!(february, rows[..1]);
    let changed = |tables: &Tables| -> Vec<(String, i64)> {
        let changed = tables.changed().expect("read").into_iter();
        changed
            .map(|changed| (format!("{} {}", changed.table.name, changed.month), changed.at))
            .collect()
    };
    let both = |a: i64, b: i64| [("prs 0000-00".to_owned(), a), ("prs 2026-02".to_owned(), b)];
    assert_eq!(changed(&tables), both(1, 1));
    // The same rows in another order change nothing, one that goes changes its month.
    let mut write = tables.write().expect("begun");
    write.begin(0, unit.clone()).expect("begun");
    rows.iter().rev().for_each(|row| write.row(0, &PRS, row).expect("written"));
    write.end(0).expect("ended");
    write.commit().expect("committed");
    assert_eq!(changed(&tables), both(1, 1));
    let mut write = tables.write().expect("begun");
    write.begin(0, unit).expect("begun");
    write.row(0, &PRS, &rows[1]).expect("written");
    write.end(0).expect("ended");
    write.commit().expect("committed");
    assert_eq!(changed(&tables), both(1, 3));
    let mut write = tables.write().expect("begun");
    write.remove("x").expect("removed");
    write.commit().expect("committed");
    assert_eq!((changed(&tables), all(&opened(folder.path()))), (both(4, 3).to_vec(), Vec::new()));
}

#[test]
fn a_unit_that_was_not_ended_has_no_stamp() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut tables = Tables::open(folder.path(), Time(1)).expect("made");
    let unit = |stamp| Unit { name: "x".into(), stamp: vec![stamp], generations: Vec::new() };
    let mut write = tables.write().expect("begun");
    write.begin(0, unit(1)).expect("begun");
    write.end(0).expect("ended");
    write.begin(0, unit(2)).expect("begun");
    write.row(0, &PRS, &pr("h", "s", None, "u")).expect("written");
    write.save().expect("saved");
    drop(write);
    assert_eq!(tables.units().expect("read")["x"], Vec::<u8>::new());
}

#[test]
fn a_lake_replaces_what_there_was_of_its_owner() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut tables = Tables::open(folder.path(), Time(1)).expect("made");
    let mut import = |host: &str, urls: &[&str]| {
        let rows: Vec<Row> = urls.iter().map(|url| pr(host, "s", Some(FEBRUARY), url)).collect();
        let rows = rows.into_iter().map(|row| Ok::<_, ()>((&PRS, row)));
        tables.import(host, "mara", rows).expect("written").expect("whole");
    };
    import("h1", &["a", "b"]);
    import("h2", &["c"]);
    import("h1", &["d"]);
    let urls = |tables: &Tables| -> Vec<Value> {
        let mut urls: Vec<Value> = all(tables).into_iter().map(|row| row[9].clone()).collect();
        urls.sort_by_key(|url| format!("{url:?}"));
        urls
    };
    let want = ["c", "d"].map(|url| Value::Text(url.into()));
    assert_eq!(urls(&opened(folder.path())), want);
    // One that ends in an error changes nothing.
    let mut tables = Tables::open(folder.path(), Time(1)).expect("made");
    let rows = [Ok((&PRS, pr("h1", "s", None, "x"))), Err("broken")];
    assert_eq!(tables.import("h1", "mara", rows).expect("readable"), Err("broken"));
    assert_eq!(urls(&opened(folder.path())), want);
    assert!(tables.state().expect("read").is_imported);
}

#[test]
fn views_put_back_what_is_not_stored() {
    let sql = view(&TURNS);
    assert!(sql.contains("words(s.generation, t.\"prompt\") AS \"prompt\""), "{sql}");
    assert!(sql.contains("s.\"session\" AS \"session\""), "{sql}");
    let names: Vec<&str> = stored(&TURNS).map(|column| column.name).collect();
    assert!(!names.contains(&"day") && !names.contains(&"host") && names.contains(&"time"));
}
