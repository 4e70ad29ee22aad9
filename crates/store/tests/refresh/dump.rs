//! Everything that can be asked of a library, with files by their paths.

use std::collections::BTreeMap;

use transcript::library::{Library, SessionItem};

/// The sessions, each with all that is said of it.
pub fn dump_sessions(library: &Library) -> BTreeMap<String, String> {
    library.sessions.iter().map(|item| (item.id.to_string(), dump_item(library, item))).collect()
}

/// The files, each with all that is said of it.
pub fn dump_cards(library: &Library) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    for (at, card) in library.cards.iter().enumerate().filter(|(_, card)| !card.is_vacant()) {
        let mut alone = card.clone();
        let from = alone.copied_from.take().map(|from| path(library, from));
        let mut copies: Vec<u64> = library.copies_of(at).into_iter().flatten().copied().collect();
        copies.sort_unstable();
        all.insert(path(library, at), format!("{alone:?} from {from:?} copies {copies:?}"));
    }
    all
}

fn path(library: &Library, file: usize) -> String {
    library.cards[file].found.path.display().to_string()
}

fn dump_item(library: &Library, item: &SessionItem) -> String {
    let path = |file: &usize| path(library, *file);
    let file = item.file.as_ref().map(path);
    let also: Vec<String> = item.also.iter().map(path).collect();
    let found_in: Vec<_> = item.found_in.iter().map(|(file, count)| (path(file), *count)).collect();
    let agents: Vec<String> = item
        .agents
        .iter()
        .map(|agent| {
            let mut alone = agent.clone();
            let file = alone.file.take();
            format!("{alone:?} in {:?}", file.as_ref().map(path))
        })
        .collect();
    format!(
        "{file:?} {also:?} {found_in:?} {agents:#?} {:?} {:?} {:?} {} {} {:?}",
        item.facts, item.standing, item.title, item.copied, item.foreign, item.connections
    )
}
