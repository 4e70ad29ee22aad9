//! Vectors of a home, made with the real model where it is: found in other words, read on after a
//! stop, and made anew for a file that was rewritten.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use hashbrown::HashSet;
use store::find::{self, Finder, Room};
use store::folder::Store;
use store::index::By;
use store::meaning::{self, Model, Vectors};
use store::query::Filters;
use store::sync::{self, Home, Options, Watch};
use transcript::layout;
use transcript::time::Time;

/// Stops after so many calls.
struct Patience(AtomicUsize);

impl Watch for Patience {
    fn begin(&self, _: usize, _: u64) {}
    fn step(&self, _: usize, _: u64) {}
    fn is_stopped(&self) -> bool {
        self.0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1))
            .is_err()
    }
}

fn endless() -> Patience {
    Patience(AtomicUsize::new(usize::MAX))
}

fn prompt(number: usize, text: &str) -> String {
    format!(
        "{{\"parentUuid\":null,\"uuid\":\"u{number}\",\"sessionId\":\"aaaaaaaa-0000-4000-8000-000000000001\",\
         \"timestamp\":\"2026-04-20T10:00:00.000Z\",\"cwd\":\"/w\",\"version\":\"2.1.100\",\"type\":\"user\",\
         \"message\":{{\"role\":\"user\",\"content\":\"{text}\"}}}}\n"
    )
}

fn synced(root: &Path, store: &Store) {
    let root = root.canonicalize().expect("it was made above");
    let homes = [Home { look: layout::look(&root), root }];
    let options = Options { full: true, ..Options::new(Time(1_800_000_000_000)) };
    sync::sync(store, &homes, options, &endless()).expect("a sync of one file");
}

#[test]
fn what_was_said_in_other_words_is_found() {
    let Some(wheel) = testkit::model::wheel() else { return };
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("claude");
    let file = root.join("projects/-w/aaaaaaaa-0000-4000-8000-000000000001.jsonl");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    let filler: String =
        (0..80).map(|at| prompt(at + 10, &format!("Step {at} of painting the fence"))).collect();
    let text = prompt(1, "The automobile will not start in the cold") + &filler;
    std::fs::write(&file, &text).unwrap();
    let store = Store::new(folder.path().join("store"));
    synced(&root, &store);
    meaning::install(store.folder(), &wheel).unwrap();
    let model = Model::open(store.folder()).unwrap();

    let stopped = meaning::update(&store, &model, &Patience(AtomicUsize::new(0))).unwrap();
    assert!(stopped.is_stopped && stopped.vectors > 0 && stopped.vectors < 81, "{stopped:?}");
    let rest = meaning::update(&store, &model, &endless()).unwrap();
    assert_eq!(stopped.vectors + rest.vectors, 81, "none twice, none left out");
    assert_eq!(meaning::update(&store, &model, &endless()).unwrap().vectors, 0);
    let at_once = Store::new(folder.path().join("at-once"));
    synced(&root, &at_once);
    meaning::update(&at_once, &model, &endless()).unwrap();
    let asked = model.question(&[("painting", 1.0)]).unwrap();
    let cosines = |store: &Store| -> Vec<(u32, f32)> {
        let vectors = Vectors::open(store.folder()).unwrap().unwrap();
        let mut near = vectors.near(&asked, 100, &HashSet::new(), |_| true).unwrap();
        near.sort_by_key(|near| near.entry);
        near.iter().map(|near| (near.entry, near.cosine)).collect()
    };
    let (in_two, in_one) = (cosines(&store), cosines(&at_once));
    assert_eq!(in_two.len(), 81);
    for (a, b) in in_two.iter().zip(&in_one) {
        // Each is read with what was said before it, also the first one after a stop.
        assert!(a.0 == b.0 && (a.1 - b.1).abs() < 0.005, "{a:?} {b:?}");
    }

    let ask = |by| {
        let finder = Finder::open(&store).unwrap().unwrap();
        let query = find::question("Why does my car have engine trouble?", Filters::default());
        let room = Room { characters: 1_000, turns: 10 };
        let found = finder.recall(&query, room, by).unwrap();
        found.evidence.first().map(|one| (one.hit.entry, one.hit.snippet.text.clone()))
    };
    assert_eq!(ask(By::Words), None, "no word of it was said");
    let said = "The automobile will not start in the cold".to_owned();
    assert_eq!(ask(By::Both), Some((1, said.clone())));
    assert_eq!(ask(By::Meaning), Some((1, said)));

    std::fs::write(&file, text.clone() + &prompt(99, "One more line")).unwrap();
    synced(&root, &store);
    assert_eq!(meaning::update(&store, &model, &endless()).unwrap().vectors, 1, "read on");
    std::fs::write(&file, prompt(1, "Something else")).unwrap();
    synced(&root, &store);
    meaning::update(&store, &model, &endless()).unwrap();
    let vectors = Vectors::open(store.folder()).unwrap().unwrap();
    assert_eq!(vectors.count().unwrap(), (1, 1), "of the old life nothing is left");
}
