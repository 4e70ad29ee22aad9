use std::path::Path;

use proptest::prelude::*;

use super::*;
use crate::query::{Place, Query};

/// A document of its own turn.
fn doc(file: u64, entry: u32, role: Role, text: &str) -> Doc<'_> {
    Doc {
        file,
        entry,
        turn: entry,
        role,
        time: None,
        tool: None,
        path: None,
        is_error: false,
        text,
    }
}

struct Case {
    index: Index,
    _folder: tempfile::TempDir,
}

fn case(docs: &[Doc<'_>]) -> Case {
    let folder = tempfile::tempdir().unwrap();
    let index = Index::create(folder.path()).unwrap();
    let mut writer = index.writer(WriterOptions::SMALL).unwrap();
    docs.iter().for_each(|doc| writer.add(*doc).unwrap());
    writer.commit(7).unwrap();
    writer.finish().unwrap();
    index.reload().unwrap();
    Case { index, _folder: folder }
}

fn query(text: &str) -> Query {
    Query::parse(text, &|text| {
        let second: i64 = text.parse().ok()?;
        Some((Time(second * 1000), Time(second * 1000 + 1000)))
    })
    .unwrap()
}

impl Case {
    fn found_in(&self, text: &str, scope: &dyn Scope) -> Found {
        self.index.search(&query(text), scope, Options::default()).unwrap()
    }

    /// The entries that match, best first.
    fn entries(&self, text: &str) -> Vec<u32> {
        self.entries_in(text, &Everything)
    }

    fn entries_in(&self, text: &str, scope: &dyn Scope) -> Vec<u32> {
        self.found_in(text, scope).matches.iter().map(|m| m.entry).collect()
    }

    fn rung(&self, text: &str) -> (Rung, Vec<u32>) {
        let found = self.found_in(text, &Everything);
        (found.rung, found.matches.iter().map(|m| m.entry).collect())
    }
}

#[test]
fn any_word_matches_and_more_words_are_better() {
    let case = case(&[
        doc(1, 1, Role::Answer, "the build is slow today"),
        doc(2, 2, Role::Answer, "docker makes the build slow"),
        doc(3, 3, Role::Answer, "nothing of interest here"),
    ]);
    assert_eq!(case.entries("slow docker builds?"), [2, 1]);
}

#[test]
fn roles_rank_from_title_to_output() {
    let roles = [
        Role::Title,
        Role::Prompt,
        Role::Summary,
        Role::Answer,
        Role::Thinking,
        Role::Call,
        Role::Output,
    ];
    let docs: Vec<_> =
        (0u32..).zip(roles).map(|(i, role)| doc(i.into(), i, role, "flux capacitor")).collect();
    assert_eq!(case(&docs).entries("flux"), [0, 1, 2, 3, 4, 5, 6]);
}

#[test]
fn a_title_that_is_written_again_does_not_crowd_out_what_was_said() {
    let title = |file: u64, entry: u32| doc(file, entry, Role::Title, "flux capacitor");
    let case = case(&[
        title(1, 1),
        title(1, 2),
        title(1, 3),
        doc(1, 4, Role::Answer, "the flux is repaired"),
        title(2, 5),
        title(2, 6),
        doc(3, 7, Role::Answer, "the flux is somewhere else"),
    ]);
    // Session 1 shows its answer, session 2 has nothing but its title, which is shown once.
    let found = case.found_in("flux", &Everything);
    let mut seen: Vec<_> = found.matches.iter().map(|one| (one.file, one.role)).collect();
    seen.sort_unstable_by_key(|(file, _)| *file);
    assert_eq!(seen, [(1, Role::Answer), (2, Role::Title), (3, Role::Answer)]);
    // The title still counts for its session: the same words without it come later.
    let place = |file: u64| found.matches.iter().position(|one| one.file == file);
    assert!(place(1) < place(3));
    assert_eq!(case.entries("flux role:title").len(), 2);
}

/// Entries 1 to 4 stand in four places; odd files belong to session 1.
struct Places;

impl Scope for Places {
    fn allows(&self, _: u64) -> bool {
        true
    }

    fn session(&self, file: u64) -> u64 {
        file
    }

    fn place(&self, _: u64, entry: u32) -> Place {
        [Place::Active, Place::Abandoned, Place::Subagent, Place::Compacted][entry as usize % 4]
    }

    fn is_copy(&self, file: u64, _: u32) -> bool {
        file == 9
    }
}

#[test]
fn what_is_active_ranks_first_and_copies_do_not_show() {
    let mut docs: Vec<_> =
        (1u32..=4).map(|i| doc(i.into(), i, Role::Answer, "flux capacitor")).collect();
    docs.push(doc(9, 8, Role::Answer, "flux capacitor"));
    let case = case(&docs);
    assert_eq!(case.entries_in("flux", &Places), [4, 3, 2, 1]);
    assert_eq!(case.entries_in("flux in:subagent", &Places), [2]);
    assert_eq!(case.entries_in("flux -in:active,abandoned", &Places), [3, 2]);
}

#[test]
fn time_breaks_ties_and_nothing_else() {
    let at = |second: i64, doc| Doc { time: Some(Time(second * 1000)), ..doc };
    let case = case(&[
        at(10, doc(1, 1, Role::Answer, "flux capacitor")),
        at(20, doc(2, 2, Role::Answer, "flux capacitor")),
        at(99, doc(3, 3, Role::Answer, "flux of something else entirely, at some length")),
        at(1, doc(4, 4, Role::Answer, "flux flux")),
    ]);
    assert_eq!(case.entries("flux"), [4, 2, 1, 3]);
    assert_eq!(case.entries("flux after:20"), [2, 3]);
    assert_eq!(case.entries("flux before:20"), [4, 1]);
    assert_eq!(case.entries("role:answer"), [3, 2, 1, 4], "without words, the youngest first");
}

#[test]
fn a_turn_is_one_match_and_its_parts_count_together() {
    let turn = |doc| Doc { turn: 50, ..doc };
    let case = case(&[
        turn(doc(1, 1, Role::Prompt, "where is the flux")),
        turn(doc(1, 2, Role::Answer, "the capacitor is there")),
        doc(2, 3, Role::Prompt, "where is the flux"),
    ]);
    assert_eq!(case.entries("flux capacitor").len(), 2);
    let found = case.found_in("flux capacitor", &Everything);
    assert_eq!(found.matches[0].turn, 50);
    let explain = &found.matches[0].explain;
    assert!(explain.turn_score > explain.bm25.iter().sum::<f32>() * explain.role_weight);
}

#[test]
fn words_near_each_other_as_in_the_query_count_more() {
    let far = "the flux was measured again and again and then it went into a capacitor";
    let near = "again and again it was measured and then into the capacitor a flux went";
    let case = case(&[doc(1, 1, Role::Answer, far), doc(2, 2, Role::Answer, near)]);
    let found = case.found_in("flux capacitor", &Everything);
    assert_eq!(found.matches.iter().map(|one| one.entry).collect::<Vec<_>>(), [2, 1]);
    let pairs: Vec<f32> = found.matches.iter().map(|one| one.explain.pairs).collect();
    let weaker = found.matches[0].explain.bm25.iter().copied().fold(f32::MAX, f32::min);
    assert_eq!(pairs, [weaker, 0.0]);
    // Only words that follow one another in the query; what is common is no word.
    assert_eq!(case.found_in("flux of the capacitor", &Everything).matches[0].entry, 2);
    let apart = case.found_in("flux measured capacitor", &Everything);
    assert!(apart.matches.iter().all(|one| one.explain.pairs > 0.0), "flux measured, and the like");
    assert_eq!(case.found_in("flux", &Everything).matches[0].explain.pairs, 0.0);
}

#[test]
fn a_turn_of_the_better_session_wins_between_equals() {
    let case = case(&[
        doc(1, 1, Role::Answer, "flux here"),
        doc(2, 2, Role::Answer, "flux here"),
        doc(2, 9, Role::Answer, "capacitor here"),
    ]);
    let found = case.found_in("flux capacitor", &Everything);
    let ranks = |entry| {
        let one = found.matches.iter().find(|m| m.entry == entry).unwrap();
        (one.explain.turn_rank, one.explain.session_rank)
    };
    assert_eq!(ranks(1).1, 2);
    assert_eq!(ranks(2), (ranks(1).0, 1));
    let order: Vec<_> = found.matches.iter().map(|m| m.entry).filter(|e| *e < 3).collect();
    assert_eq!(order, [2, 1]);
}

#[test]
fn the_turns_around_it_speak_for_a_turn() {
    let case = case(&[
        doc(1, 1, Role::Answer, "flux here"),
        doc(1, 9, Role::Answer, "capacitor here"),
        doc(1, 10, Role::Answer, "flux here"),
    ]);
    let order = case.entries("flux capacitor");
    let place = |entry| order.iter().position(|one| *one == entry);
    assert!(place(10) < place(1), "{order:?}");
}

#[test]
fn words_that_hold_sentences_together_find_nothing_beside_others() {
    let case = case(&[
        doc(1, 1, Role::Answer, "what did the one do when it was the other"),
        doc(2, 2, Role::Answer, "a capacitor"),
    ]);
    assert_eq!(case.entries("What did the capacitor do?"), [2]);
    assert_eq!(case.entries("what did it do"), [1], "there is nothing else to look for");
}

/// Entry 7, which has none of the words, means what is asked.
struct Meant;

impl Scope for Meant {
    fn allows(&self, _: u64) -> bool {
        true
    }

    fn session(&self, file: u64) -> u64 {
        file
    }

    fn place(&self, _: u64, _: u32) -> Place {
        Place::Active
    }

    fn near(
        &self,
        _words: &[WordUse],
        turns: &hashbrown::HashSet<(u64, u32)>,
    ) -> Vec<crate::meaning::Near> {
        let near = |file, entry, cosine| crate::meaning::Near {
            file,
            turn: entry,
            entry,
            role: Role::Answer,
            start: 0,
            time: None,
            cosine,
        };
        let known = [near(7, 7, 0.8), near(1, 1, 0.1), near(2, 2, 0.5)];
        let is_asked = |near: &&crate::meaning::Near| {
            near.file == 7 || turns.contains(&(near.file, near.turn))
        };
        known.iter().filter(is_asked).copied().collect()
    }
}

#[test]
fn meaning_decides_between_words_and_is_found_without_them() {
    let case = case(&[
        doc(1, 1, Role::Answer, "flux here"),
        doc(2, 2, Role::Answer, "flux here"),
        doc(7, 7, Role::Answer, "nothing of the kind"),
    ]);
    assert_eq!(case.entries_in("flux", &Meant), [2, 1, 7]);
    assert_eq!(case.entries_in("flux -kind", &Meant), [1, 2], "what must not occur is of words");
    let by = |by| {
        let options = Options { by, ..Options::default() };
        let found = case.index.search(&query("flux"), &Meant, options).unwrap();
        found.matches.iter().map(|m| m.entry).collect::<Vec<_>>()
    };
    assert_eq!(by(By::Meaning), [7]);
    assert_eq!(by(By::Words), [1, 2]);
}

#[test]
fn phrases_prefixes_and_what_is_taken_away() {
    let case = case(&[
        doc(1, 1, Role::Answer, "connection refused by the host"),
        doc(2, 2, Role::Answer, "refused: the connection to the host"),
        doc(3, 3, Role::Answer, "a configuration file in fileSystem"),
    ]);
    assert_eq!(case.entries("\"connection refused\""), [1]);
    assert_eq!(case.entries("\"file system\""), [3]);
    assert_eq!(case.entries("host -\"connection refused\""), [2]);
    assert_eq!(case.entries("configu*"), [3]);
    assert_eq!(case.entries("host -refu*"), [0u32; 0]);
    assert_eq!(case.entries("file_system"), [3]);
    assert_eq!(case.entries("FILESYSTEM"), [3]);
}

struct Copies;

impl Scope for Copies {
    fn allows(&self, _file: u64) -> bool {
        true
    }

    fn session(&self, file: u64) -> u64 {
        file
    }

    fn place(&self, _file: u64, _entry: u32) -> Place {
        Place::Active
    }

    fn is_copy(&self, file: u64, _entry: u32) -> bool {
        file < 100
    }
}

#[test]
fn originals_are_found_behind_any_number_of_better_copies() {
    let copies = (1..=40).map(|n| doc(n, n as u32, Role::Answer, "needle"));
    let long = "a needle in a text with many more words than the others have";
    let originals = (100..105).map(|n| doc(n, n as u32, Role::Answer, long));
    let case = case(&copies.chain(originals).collect::<Vec<_>>());
    let options = Options { limit: 2, pool: 4, ..Options::default() };
    let found = case.index.search(&query("needle"), &Copies, options).unwrap();
    assert_eq!(found.matches.iter().map(|m| m.file).collect::<Vec<_>>(), [100, 101]);
    // There are fewer documents than are looked at: none is looked for again, and none is lost.
    let all = case.index.search(&query("needle"), &Copies, Options::default()).unwrap();
    assert_eq!(all.matches.len(), 5);
}

/// Gives texts, so that phrases in output can be looked for.
struct Texts;

impl Scope for Texts {
    fn allows(&self, _: u64) -> bool {
        true
    }

    fn session(&self, file: u64) -> u64 {
        file
    }

    fn place(&self, _: u64, _: u32) -> Place {
        Place::Active
    }

    fn text(&self, file: u64, _: u32, _: Role) -> Option<String> {
        Some(["", "exit code 1", "code of exit"][file as usize].to_owned())
    }
}

#[test]
fn a_phrase_in_output_is_looked_for_in_the_text() {
    let case =
        case(&[doc(1, 1, Role::Output, "exit code 1"), doc(2, 2, Role::Output, "code of exit")]);
    assert_eq!(case.entries_in("\"exit code\"", &Texts), [1]);
    assert_eq!(case.entries("\"exit code\"").len(), 2, "without texts, wherever the words are");
}

#[test]
fn filters_of_the_index() {
    let call = Doc {
        tool: Some("Bash"),
        path: Some("/home/me/src/Main.rs"),
        ..doc(1, 1, Role::Call, "flux")
    };
    let output =
        Doc { tool: Some("Read"), is_error: true, ..doc(2, 2, Role::Output, "flux E0433") };
    let case = case(&[call, output, doc(3, 3, Role::Prompt, "flux")]);
    let cases: [(&str, &[u32]); 14] = [
        ("flux tool:bash", &[1]),
        ("flux tool:Bash,Read", &[2, 1]),
        ("flux -tool:bash role:call,output", &[2]),
        ("flux file:main.rs", &[1]),
        ("flux file:src/main.rs", &[1]),
        ("flux file:ain.rs", &[]),
        ("flux file:src/", &[1]),
        ("flux error:yes", &[2]),
        ("flux error:no", &[3, 1]),
        ("error:e0433", &[2]),
        ("error:e0434", &[]),
        ("flux -error:yes", &[3, 1]),
        ("flux role:prompt", &[3]),
        ("flux -role:prompt,call", &[2]),
    ];
    for (text, want) in cases {
        let mut entries = case.entries(text);
        let mut want = want.to_vec();
        // Call and output differ in length, and their order is no matter here.
        entries.sort_unstable();
        want.sort_unstable();
        assert_eq!(entries, want, "{text}");
    }
}

struct OneFile([u64; 1]);

impl Scope for OneFile {
    fn files(&self) -> Option<&[u64]> {
        Some(&self.0)
    }

    fn allows(&self, file: u64) -> bool {
        file == self.0[0]
    }

    fn session(&self, _: u64) -> u64 {
        1
    }

    fn place(&self, _: u64, _: u32) -> Place {
        Place::Active
    }
}

#[test]
fn a_scope_of_few_files_is_kept() {
    let docs: Vec<_> = (1u32..=5).map(|i| doc(i.into(), i, Role::Answer, "flux")).collect();
    assert_eq!(case(&docs).entries_in("flux", &OneFile([4])), [4]);
}

#[test]
fn the_ladder_is_climbed_only_as_far_as_needed() {
    let case = case(&[
        doc(1, 1, Role::Answer, "the configuration of kubernetes"),
        doc(2, 2, Role::Answer, "something about xyzzyfoo"),
    ]);
    assert_eq!(case.rung("configurations"), (Rung::Words, vec![1]));
    assert_eq!(case.rung("config"), (Rung::Forms, vec![1]));
    assert_eq!(case.rung("kuberneetes"), (Rung::Typos, vec![1]));
    assert_eq!(case.rung("zyfoo"), (Rung::Substring, vec![2]));
    assert_eq!(case.rung("\"kubernetes configuration\""), (Rung::Forms, vec![1]));
    assert_eq!(case.rung("absent").1, [0u32; 0]);
    // One unknown word does not make the others vaguer.
    assert_eq!(case.rung("kuberneetes something"), (Rung::Typos, vec![2, 1]));
}

#[test]
fn words_that_are_everywhere_count_only_alone() {
    let mut docs = vec![doc(1, 1, Role::Answer, "the rare word")];
    docs.extend((2..1200).map(|i| doc(i.into(), i, Role::Answer, "the usual thing")));
    let case = case(&docs);
    assert_eq!(case.entries("the rare"), [1]);
    assert_eq!(case.entries("the usual").len(), 20);
    assert_eq!(case.rung("the absentee").0, Rung::Common);
}

#[test]
fn what_is_committed_is_found_again_and_removed() {
    let folder = tempfile::tempdir().unwrap();
    let index = Index::create(folder.path()).unwrap();
    assert_eq!(index.generation().unwrap(), None);
    let mut writer = index.writer(WriterOptions::default()).unwrap();
    assert!(matches!(index.writer(WriterOptions::SMALL), Err(IndexError::Locked)));
    assert!(matches!(Index::create(folder.path()), Err(IndexError::Locked)));
    writer.add(doc(1, 1, Role::Answer, "flux")).unwrap();
    writer.add(doc(2, 2, Role::Answer, "flux")).unwrap();
    writer.commit(41).unwrap();
    writer.remove_file(1);
    writer.add(doc(1, 3, Role::Answer, "flux")).unwrap();
    writer.commit(42).unwrap();
    writer.add(doc(1, 4, Role::Answer, "flux")).unwrap();
    drop(writer);
    let index = ready(folder.path());
    assert_eq!(index.generation().unwrap(), Some(42));
    let found = index.search(&query("flux"), &Everything, Options::default()).unwrap();
    let mut entries: Vec<_> = found.matches.iter().map(|m| m.entry).collect();
    entries.sort_unstable();
    assert_eq!(entries, [2, 3]);
    assert_eq!(index.documents(), 2);
    assert!(index.verify().unwrap().is_empty());
}

fn ready(store: &Path) -> Index {
    match Index::open(store).unwrap() {
        IndexState::Ready(index) => *index,
        IndexState::Rebuild(why) => panic!("{why:?}"),
    }
}

fn rebuild(store: &Path) -> Option<Rebuild> {
    match Index::open(store).unwrap() {
        IndexState::Ready(_) => None,
        IndexState::Rebuild(why) => Some(why),
    }
}

#[test]
fn an_index_that_cannot_be_used_is_made_new() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(rebuild(folder.path()), Some(Rebuild::Missing));
    let index = Index::create(folder.path()).unwrap();
    let mut writer = index.writer(WriterOptions::SMALL).unwrap();
    writer.add(doc(1, 1, Role::Answer, "flux")).unwrap();
    writer.commit(1).unwrap();
    drop(writer);
    assert_eq!(rebuild(folder.path()), None);

    let files = || std::fs::read_dir(Index::folder(folder.path())).unwrap().flatten();
    let postings = files().find(|f| f.path().extension().is_some_and(|e| e == "idx")).unwrap();
    std::fs::write(postings.path(), b"no index").unwrap();
    assert_eq!(rebuild(folder.path()), Some(Rebuild::Damaged));
    std::fs::remove_file(postings.path()).unwrap();
    assert_eq!(rebuild(folder.path()), Some(Rebuild::Damaged));
    std::fs::write(Index::folder(folder.path()).join("meta.json"), b"{").unwrap();
    assert_eq!(rebuild(folder.path()), Some(Rebuild::Damaged));
    Index::create(folder.path()).unwrap();
    assert_eq!(rebuild(folder.path()), None);
}

#[test]
fn paging_goes_on_where_it_stopped() {
    let docs: Vec<_> = (1u32..=30).map(|i| doc(i.into(), i, Role::Answer, "flux")).collect();
    let case = case(&docs);
    let page = |offset| {
        let options = Options { limit: 20, offset, ..Options::default() };
        let found = case.index.search(&query("flux"), &Everything, options).unwrap();
        (found.matches.iter().map(|m| m.entry).collect::<Vec<_>>(), found.is_more)
    };
    let (first, is_more) = page(0);
    let (second, is_last) = page(20);
    assert!(is_more && !is_last);
    assert_eq!([first, second].concat(), (1..=30).collect::<Vec<u32>>());
}

#[test]
fn many_small_commits_leave_few_segments() {
    let folder = tempfile::tempdir().unwrap();
    let index = Index::create(folder.path()).unwrap();
    for i in 0..40u32 {
        let mut writer = index.writer(WriterOptions::SMALL).unwrap();
        writer.add(doc(i.into(), i, Role::Answer, "flux")).unwrap();
        writer.commit(i.into()).unwrap();
        writer.finish().unwrap();
    }
    index.reload().unwrap();
    assert_eq!(index.documents(), 40);
    assert!(index.segments() < 12, "{}", index.segments());
}

/// The piece with its marks in brackets.
fn shown(text: &str, asked: &str, width: usize) -> String {
    let snippet = Marker::new(&query(asked)).snippet(text, width);
    let mut out = String::from(if snippet.is_cut_before { "…" } else { "" });
    let mut last = 0;
    for mark in snippet.marks {
        out += &format!("{}[{}]", &snippet.text[last..mark.start], &snippet.text[mark.clone()]);
        last = mark.end;
    }
    out + &snippet.text[last..] + if snippet.is_cut_after { "…" } else { "" }
}

#[test]
fn a_snippet_shows_the_place_with_the_most_words() {
    let text =
        "One build here. Some words between that nobody looks for. Then the slow builds of docker.";
    let cases = [
        ("build", 18, "One [build] here.…"),
        ("slow docker build", 36, "…Then the [slow] [builds] of [docker]."),
        ("nobod*", 24, "…that [nobody] looks for.…"),
        ("absent", 10, "One build…"),
        (
            "build",
            500,
            "One [build] here. Some words between that nobody looks for. Then the slow [builds] of docker.",
        ),
    ];
    for (asked, width, want) in cases {
        assert_eq!(shown(text, asked, width), want, "{asked}");
    }
    assert_eq!(shown("日本語の検索", "検索", 12), "日本語の[検索]");
    assert_eq!(shown("日本語の検索と索引", "検索", 5), "…の[検索]と索…");
}

proptest! {
    #[test]
    fn a_snippet_stands_in_the_text(
        text in "\\PC{0,120}|([a-e]{1,3}[ \\n.é日_-]){0,80}",
        asked in "[a-e]{1,3}( [a-e]{1,3}\\*?){0,3}",
        width in 0usize..80,
    ) {
        let snippet = Marker::new(&query(&asked)).snippet(&text, width);
        prop_assert!(text.contains(&snippet.text));
        let mut last = 0;
        for mark in &snippet.marks {
            prop_assert!(mark.start >= last && snippet.text.get(mark.clone()).is_some());
            last = mark.end;
        }
    }
}
