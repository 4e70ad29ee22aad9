//! A scan by a regular expression sees what the index was made of, and nothing else.

use std::collections::BTreeSet;

use store::find::{Finder, Hit, Page, Pattern};
use store::folder::Store;
use store::index;
use store::query::Query;
use store::sync::{Home, Options, Watch, sync};
use testkit::corpus::{Shape, Spec, make};
use transcript::layout;
use transcript::time::Time;

struct Nobody;

impl Watch for Nobody {
    fn begin(&self, _: usize, _: u64) {}

    fn step(&self, _: usize, _: u64) {}
}

/// The home of hard cases, kept.
fn hard() -> (tempfile::TempDir, Finder) {
    let dir = tempfile::tempdir().expect("a folder");
    let home = dir.path().join("claude");
    std::fs::create_dir(&home).expect("is made");
    make(&Spec { seed: 1, shape: Shape::Hard, bytes: 0 }, &home).expect("is made");
    let store = Store::new(dir.path().join("store"));
    let root = home.canonicalize().expect("is there");
    let homes = [Home { look: layout::look(&root), root }];
    let options = Options::new(Time(2_000_000_000_000));
    sync(&store, &homes, options, &Nobody).expect("is kept");
    let finder = Finder::open(&store).expect("opens").expect("is filled");
    (dir, finder)
}

fn date(text: &str) -> Option<(Time, Time)> {
    let start = text.parse().ok()?;
    Some((Time(start), Time(start + 1)))
}

/// Which turns, each by the entry that is shown.
fn places(hits: &[Hit]) -> BTreeSet<String> {
    let one = |hit: &Hit| {
        let name = hit.path.file_name().expect("has a name").to_string_lossy();
        format!("{name} #{} {} {:?}", hit.entry, hit.role.name(), hit.place)
    };
    hits.iter().map(one).collect()
}

const PAGE: Page = Page { limit: 100_000, offset: 0 };

fn scanned(finder: &Finder, pattern: &str, filters: &str) -> Vec<Hit> {
    let query = Query::filters(filters, &date).expect("are filters");
    let pattern = Pattern::new(pattern).expect("is one");
    let found = finder.scan(&pattern, &query, PAGE, 80, &Nobody).expect("reads");
    assert_eq!(found.turns, found.hits.len());
    found.hits
}

#[test]
fn a_scan_sees_the_texts_of_the_index() {
    let (_dir, finder) = hard();
    let options = index::Options {
        limit: 100_000,
        offset: 0,
        pool: 100_000,
        by: index::By::Words,
        is_exact: false,
    };
    let times: Vec<i64> =
        scanned(&finder, ".", "").iter().filter_map(|hit| Some(hit.time?.0)).collect();
    // The index knows whole seconds.
    let middle = times[times.len() / 2] / 1000 * 1000;
    let mut seen = 0;
    for filters in [
        "role:prompt",
        "role:answer",
        "role:thinking",
        "role:call",
        "role:output",
        "role:summary",
        "role:title",
        "role:prompt,answer -in:subagent",
        "role:output tool:bash",
        "role:call -tool:bash",
        "role:output error:yes",
        "role:output error:no",
        "role:call file:.rs",
        "in:subagent role:answer",
        "in:abandoned role:prompt",
        "in:compacted role:prompt",
        "project:home role:prompt",
        "-project:home role:prompt",
        &format!("role:prompt after:{middle}"),
        &format!("role:prompt before:{middle}"),
        &format!("role:prompt -after:{middle}"),
    ] {
        let query = Query::parse(filters, &date).expect("is a query");
        let indexed = finder.search(&query, options, 80).expect("answers").hits;
        let read = scanned(&finder, "(?s).", filters);
        let (is, should) = (places(&read), places(&indexed));
        let differs: Vec<_> = is.symmetric_difference(&should).collect();
        assert!(differs.is_empty(), "{filters}: {differs:?}");
        seen += usize::from(!read.is_empty());
    }
    assert!(seen >= 15, "only {seen} of the filters find anything");
}

#[test]
fn the_newest_come_first_and_pages_join() {
    let (_dir, finder) = hard();
    let all = scanned(&finder, "e", "");
    assert!(all.len() > 20);
    assert!(all.is_sorted_by(|a, b| a.time >= b.time));
    let query = Query::default();
    let pattern = Pattern::new("e").expect("is one");
    let mut joined = Vec::new();
    for offset in (0..all.len()).step_by(7) {
        let page = Page { limit: 7, offset };
        let found = finder.scan(&pattern, &query, page, 80, &Nobody).expect("reads");
        assert_eq!(found.turns, all.len());
        joined.extend(found.hits);
    }
    assert_eq!(joined, all);
}
