//! One change at a time: what it costs, what is kept, and what the store says afterwards.

use std::fs;

use super::kit::{IDS, Lines, WORDS, World, assert_same, transcript};

const A: &str = IDS[0];

/// A session of two turns in project `a`, kept.
fn two_turns() -> (World, String, Lines, String) {
    let (world, rel) = (World::new(), transcript("a", 0));
    let mut lines = Lines::new(A, "old");
    let text = lines.ask("find the zebra") + &lines.say("there") + &lines.ask("ride the bicycle");
    world.write(&rel, &text);
    world.sync();
    (world, rel, lines, text)
}

fn is(title: &str, turns: u64) -> Option<(String, u64)> {
    Some((title.into(), turns))
}

/// The store is one that could have been made only now.
fn assert_as_fresh(world: &World) {
    world.assert_current();
    assert_same(&world.dump().here(), &world.fresh_dump());
}

#[test]
fn a_second_sync_writes_nothing() {
    let (world, ..) = two_turns();
    world.write("history.jsonl", "{\"display\":\"find the zebra\"}\n");
    world.write("todos/x.json", "[]");
    assert!(world.sync().is_changed());
    assert_nothing_written(&world);
}

/// Another sync reads nothing and writes nothing.
fn assert_nothing_written(world: &World) {
    let before = world.store_files();
    let report = world.sync();
    assert!(!report.is_changed(), "{report:?}");
    assert_eq!(report.bytes_read, 0);
    let after = world.store_files();
    assert_eq!(before.keys().collect::<Vec<_>>(), after.keys().collect::<Vec<_>>());
    for (path, file) in &before {
        assert!(after[path] == *file, "{} was written", path.display());
    }
}

/// A sync after every turn leaves a small pack each time; they become fewer by themselves.
#[test]
fn many_small_syncs_leave_few_packs() {
    let (world, rel, mut lines, mut text) = two_turns();
    for n in 0..80 {
        let more = lines.ask(&format!("question {n}"));
        world.append(&rel, &more);
        text += &more;
        world.sync();
    }
    let packs = super::kit::archive(&world.store()).status().expect("counts").packs;
    assert!(packs <= 40, "{packs} packs");
    world.assert_kept(&text);
    assert_as_fresh(&world);
}

/// As many files as a person has after years; one line each is enough to count them.
#[test]
fn an_append_reads_what_was_appended() {
    let world = World::new();
    let id = |at: usize| format!("{at:08}-0000-4000-8000-000000000000");
    let rel = |at: usize| format!("projects/-w-{}/{}.jsonl", at % 100, id(at));
    for at in 0..19_999 {
        world.write(&rel(at), Lines::new(id(at), at).ask("question"));
    }
    let mut lines = Lines::new(id(19_999), "more");
    world.write(&rel(19_999), lines.ask("question"));
    assert_eq!(world.sync().new, 20_000);
    let more: String = (0..100).map(|n| lines.ask(&format!("marmalade {n}"))).collect();
    world.append(&rel(19_999), &more);
    let report = world.sync();
    assert_eq!((report.files, report.grown, report.read), (20_000, 1, 1));
    let others = [report.new, report.rewritten, report.moved, report.gone, report.same];
    assert_eq!(others, [0; 5]);
    assert_eq!(report.bytes_kept, more.len() as u64);
    assert!(report.bytes_read <= 2 * more.len() as u64, "{} bytes", report.bytes_read);
    assert_nothing_written(&world);
    assert_eq!(world.session(&id(19_999)), is("question", 101));
}

#[test]
fn a_rewritten_file_keeps_what_it_was() {
    let (world, rel, _, old) = two_turns();
    let mut lines = Lines::new(A, "new");
    let new = lines.ask("polish the quartz") + &lines.say("done");
    world.write(&rel, &new);
    assert_eq!(world.sync().rewritten, 1);
    assert_eq!(world.session(A), is("polish the quartz", 1));
    world.assert_kept(&old);
    assert_as_fresh(&world);
}

#[test]
fn a_file_rewritten_at_the_same_length_is_seen() {
    let (world, rel, _, old) = two_turns();
    world.write(&rel, old.replace("zebra", "horse"));
    assert_eq!(world.sync().rewritten, 1);
    assert_eq!(world.session(A), is("find the horse", 2));
    world.assert_kept(&old);
    assert_as_fresh(&world);
}

#[test]
fn a_truncated_file_keeps_what_was_cut_off() {
    let (world, rel, _, old) = two_turns();
    let first = old.find('\n').expect("has lines") + 1;
    world.truncate(&rel, first as u64);
    assert_eq!(world.sync().rewritten, 1);
    assert_eq!(world.session(A), is("find the zebra", 1));
    world.assert_kept(&old);
    assert_as_fresh(&world);
}

#[test]
fn a_file_cut_to_nothing_keeps_what_it_was() {
    let (world, rel, _, old) = two_turns();
    world.truncate(&rel, 0);
    world.sync();
    world.assert_kept(&old);
    assert_as_fresh(&world);
    world.append(&rel, Lines::new(A, "new").ask("polish the quartz"));
    world.sync();
    assert_eq!(world.session(A), is("polish the quartz", 1));
    world.assert_kept(&old);
    assert_as_fresh(&world);
}

#[test]
fn a_file_that_regrew_past_its_old_length_is_a_new_one() {
    let (world, rel, _, old) = two_turns();
    let mut lines = Lines::new(A, "new");
    let new: String = (0..9).map(|n| lines.ask(&format!("polish quartz {n}"))).collect();
    assert!(new.len() > old.len());
    world.truncate(&rel, 0);
    world.append(&rel, &new);
    assert_eq!(world.sync().rewritten, 1);
    assert_eq!(world.session(A), is("polish quartz 0", 9));
    world.assert_kept(&old);
    assert_as_fresh(&world);
}

/// After a growth by one byte, that byte alone must not stand for the whole.
#[test]
fn a_file_that_regrew_with_the_same_last_byte_is_a_new_one() {
    let (world, rel, _, old) = two_turns();
    let torn = &old[..old.len() - 1];
    world.write(&rel, torn);
    world.sync();
    world.append(&rel, "\n");
    world.sync();
    let mut new = Lines::new(A, "new").ask("polish the quartz");
    new.insert_str(new.len() - 2, &" ".repeat(old.len() - new.len()));
    assert_eq!((new.len(), new.ends_with("}\n")), (old.len(), true));
    world.write(&rel, new.clone() + &Lines::new(A, "two").ask("ride the bicycle"));
    assert_eq!(world.sync().rewritten, 1);
    world.assert_kept(&old);
    assert_as_fresh(&world);
}

#[test]
fn a_file_whose_beginning_was_changed_is_a_new_one_when_it_grows() {
    let (world, rel) = (World::new(), transcript("a", 0));
    let mut lines = Lines::new(A, "old");
    let text: String = (0..100).map(|_| lines.ask("find the zebra")).collect();
    world.write(&rel, &text);
    world.sync();
    world.write(&rel, text.replacen("zebra", "horse", 1) + &lines.say("there"));
    assert_eq!(world.sync().rewritten, 1);
    world.assert_kept(&text);
    assert_as_fresh(&world);
}

#[test]
fn a_copy_in_its_place_changes_nothing() {
    let (world, rel, _, _) = two_turns();
    let before = world.dump();
    world.copy_over(&rel);
    let report = world.sync();
    assert_eq!((report.same, report.bytes_kept), (1, 0));
    assert_eq!(world.generations().len(), 1);
    assert_same(&world.dump(), &before);
    assert_as_fresh(&world);
}

#[test]
fn a_renamed_file_is_the_same_one() {
    let (world, rel, _, old) = two_turns();
    let to = transcript("b", 0);
    world.rename(&rel, &to);
    let report = world.sync();
    assert_eq!((report.moved, report.new, report.gone, report.bytes_kept), (1, 0, 0, 0));
    assert_eq!(world.generations(), [old.into_bytes()]);
    assert_eq!(world.gone(), [""; 0]);
    assert_as_fresh(&world);
}

#[test]
fn a_renamed_file_may_have_grown() {
    let (world, rel, mut lines, old) = two_turns();
    let to = transcript("b", 0);
    world.rename(&rel, &to);
    let more = lines.say("with pleasure") + &lines.ask("more marmalade");
    world.append(&to, &more);
    let report = world.sync();
    assert_eq!((report.moved, report.new, report.gone), (1, 0, 0));
    assert_eq!(report.bytes_kept, more.len() as u64);
    assert_eq!(world.session(A), is("find the zebra", 3));
    assert_eq!(world.generations(), [(old + &more).into_bytes()]);
    assert_as_fresh(&world);
}

/// Moved by whoever copies and deletes, or to another disk.
#[test]
fn a_transcript_copied_to_another_folder_and_deleted_has_moved() {
    let (world, rel, mut lines, old) = two_turns();
    let (to, more) = (transcript("b", 0), lines.say("with pleasure"));
    world.write(&to, old.clone() + &more);
    world.remove(&rel);
    let report = world.sync();
    assert_eq!((report.moved, report.new, report.gone), (1, 0, 0));
    assert_eq!(world.generations(), [(old + &more).into_bytes()]);
    assert_as_fresh(&world);
}

#[test]
fn a_renamed_file_may_have_been_rewritten() {
    for new in
        ["polish the quartz", "polish the quartz and take it for a ride ".repeat(20).as_str()]
    {
        let (world, rel, _, old) = two_turns();
        let to = transcript("b", 0);
        world.rename(&rel, &to);
        world.write(&to, Lines::new(A, "new").ask(new));
        let report = world.sync();
        assert_eq!((report.moved, report.new, report.gone), (1, 0, 0));
        world.assert_kept(&old);
        assert_as_fresh(&world);
    }
}

/// The number of a deleted file is given to the next one that is made.
#[test]
fn another_file_with_the_number_of_a_gone_one_is_no_rename() {
    let (world, rel, _, old) = two_turns();
    let (to, mut lines) = (transcript("a", 1), Lines::new(IDS[1], "new"));
    world.rename(&rel, &to);
    let new: String = (0..9).map(|n| lines.ask(&format!("polish quartz {n}"))).collect();
    world.write(&to, &new);
    let report = world.sync();
    assert_eq!((report.moved, report.new, report.gone), (0, 1, 1));
    assert_eq!(world.gone(), [rel]);
    assert_eq!(world.session(A), is("find the zebra", 2));
    assert_eq!(world.session(IDS[1]), is("polish quartz 0", 9));
    world.assert_kept(&old);
    assert_as_fresh(&world);
}

/// Even if the file has moved at the same time, and was copied on the way.
#[test]
fn a_name_tells_more_than_a_number() {
    let (world, rel, _, old) = two_turns();
    let to = transcript("b", 0);
    world.write(&to, &old);
    let (other, mut lines) = (transcript("a", 1), Lines::new(IDS[1], "new"));
    world.rename(&rel, &other);
    world.write(&other, (0..9).map(|n| lines.ask(&format!("quartz {n}"))).collect::<String>());
    let report = world.sync();
    assert_eq!((report.moved, report.new, report.gone), (1, 1, 0));
    assert_as_fresh(&world);
}

#[test]
fn names_may_be_exchanged() {
    let (world, rel, _, old) = two_turns();
    let (other, mut lines) = (transcript("b", 1), Lines::new(IDS[1], "new"));
    let new = lines.ask("polish the quartz");
    world.write(&other, &new);
    world.sync();
    world.rename(&rel, "projects/-w-a/aside");
    world.rename(&other, &rel);
    world.rename("projects/-w-a/aside", &other);
    world.sync();
    world.assert_kept(&old);
    world.assert_kept(&new);
    assert_as_fresh(&world);
}

#[test]
fn a_name_that_was_left_may_be_taken_at_once() {
    let (world, rel, _, old) = two_turns();
    world.rename(&rel, &transcript("b", 0));
    let new = Lines::new(A, "new").ask("polish the quartz");
    world.write(&rel, &new);
    world.sync();
    world.assert_kept(&old);
    assert_as_fresh(&world);
    world.remove(&rel);
    world.sync();
    world.assert_kept(&new);
    world.assert_current();
}

#[test]
fn a_file_set_aside_is_kept_and_no_session_any_more() {
    let (world, rel, _, old) = two_turns();
    world.rename(&rel, &format!("{rel}.orphaned-1700000000000"));
    assert_eq!(world.sync().moved, 1);
    assert_eq!(world.session(A), None);
    world.assert_kept(&old);
    assert_as_fresh(&world);
    let mut lines = Lines::new(A, "new");
    world.write(&rel, lines.ask("polish the quartz") + &lines.say("done"));
    world.sync();
    assert_eq!(world.session(A), is("polish the quartz", 1));
    assert_as_fresh(&world);
    world.remove(&rel);
    world.rename(&format!("{rel}.orphaned-1700000000000"), &transcript("c", 0));
    world.sync();
    assert_eq!(world.session(A), is("find the zebra", 2));
    world.assert_current();
}

#[test]
fn a_deleted_file_is_kept() {
    let (world, rel, _, old) = two_turns();
    let before = world.dump();
    world.remove(&rel);
    let report = world.sync();
    assert_eq!((report.gone, report.is_changed()), (1, true));
    assert_eq!(world.gone(), [rel]);
    assert_eq!(world.session(A), is("find the zebra", 2));
    world.assert_kept(&old);
    let after = world.dump();
    assert_eq!((after.sessions, after.rows), (before.sessions, before.rows));
    assert!(after.files.is_empty());
    assert_eq!(after.hits.len(), 2, "both of its words are found: {WORDS:?}");
    assert!(!world.sync().is_changed());
}

#[test]
fn a_file_that_comes_back_is_there_again() {
    let (world, rel, _, old) = two_turns();
    let before = world.dump();
    world.remove(&rel);
    world.sync();
    world.write(&rel, &old);
    let report = world.sync();
    assert_eq!((report.same, report.bytes_kept), (1, 0));
    assert_eq!(world.gone(), [""; 0]);
    assert_same(&world.dump(), &before);
    assert_as_fresh(&world);
}

#[test]
fn a_transcript_that_comes_back_elsewhere_is_the_same_one() {
    let (world, rel, _, old) = two_turns();
    world.remove(&rel);
    world.sync();
    world.write(&transcript("b", 0), Lines::new(A, "new").ask("polish the quartz"));
    let report = world.sync();
    assert_eq!((report.moved, report.rewritten, report.new), (1, 1, 0));
    assert!(world.gone().is_empty());
    world.assert_kept(&old);
    assert_as_fresh(&world);
}

#[test]
fn a_file_may_come_back_with_more_or_with_something_else() {
    let (world, rel, mut lines, old) = two_turns();
    world.remove(&rel);
    world.sync();
    let more = old.clone() + &lines.say("with pleasure");
    world.write(&rel, &more);
    world.sync();
    assert_eq!(world.generations(), [more.clone().into_bytes()]);
    assert_as_fresh(&world);
    world.remove(&rel);
    world.sync();
    world.write(&rel, Lines::new(A, "new").ask("polish the quartz"));
    world.sync();
    assert_eq!(world.session(A), is("polish the quartz", 1));
    world.assert_kept(&more);
    assert_as_fresh(&world);
}

#[test]
fn a_folder_that_cannot_be_listed_is_not_gone() {
    let (world, ..) = two_turns();
    let mut homes = world.homes();
    homes[0].look.folders.clear();
    let problem = std::io::Error::other("no");
    let folder = homes[0].root.join("projects/-w-a");
    homes[0].look.problems.push(transcript::layout::Problem::new(folder, problem));
    let report = world.sync_with(&homes, world.options()).expect("goes on");
    assert_eq!(report.gone, 0);
    assert_eq!(world.gone(), [""; 0]);
}

#[test]
fn a_torn_last_line_is_completed_later() {
    let (world, rel, mut lines, _) = two_turns();
    let more = lines.say("with pleasure") + &lines.ask("more marmalade");
    let (cut, rest) = more.split_at(more.len() - 60);
    world.append(&rel, cut);
    world.sync();
    assert_eq!(world.session(A), is("find the zebra", 2));
    assert_as_fresh(&world);
    world.append(&rel, rest);
    world.sync();
    assert_eq!(world.session(A), is("find the zebra", 3));
    assert_as_fresh(&world);
}

#[test]
fn a_missing_newline_at_the_end_may_come_later() {
    let (world, rel, mut lines, _) = two_turns();
    world.append(&rel, lines.ask("more marmalade").trim_end());
    world.sync();
    assert_eq!(world.session(A), is("find the zebra", 3));
    assert_as_fresh(&world);
    world.append(&rel, "\n");
    world.sync();
    assert_as_fresh(&world);
    world.append(&rel, lines.ask("and quartz").trim_end());
    world.sync();
    world.append(&rel, "\n".to_owned() + &lines.ask("and a bicycle"));
    world.sync();
    assert_eq!(world.session(A), is("find the zebra", 5));
    assert_as_fresh(&world);
}

#[test]
fn nul_blocks_are_kept_and_read_over() {
    let (world, rel, mut lines, _) = two_turns();
    world.append(&rel, [0; 4096]);
    world.sync();
    assert_as_fresh(&world);
    world.append(&rel, lines.ask("more marmalade"));
    world.sync();
    assert_as_fresh(&world);
    world.append(&rel, lines.ask("and quartz") + "\0\0\0\n");
    world.sync();
    assert_as_fresh(&world);
}

#[test]
fn every_cut_of_a_file_ends_in_the_same_store() {
    let mut lines = Lines::new(A, "x");
    let text = lines.ask("zebra")
        + &lines.create("/w/one.rs")
        + &lines.say("quartz \u{1f993}")
        + &lines.create("/w/two.rs");
    for step in [97, 251, 700] {
        let (world, rel) = (World::new(), transcript("a", 0));
        world.write(&rel, "");
        world.sync();
        for part in text.as_bytes().chunks(step) {
            world.append(&rel, part);
            world.sync();
        }
        assert_as_fresh(&world);
        assert_eq!(world.generations(), [text.clone().into_bytes()]);
        assert_eq!(world.dump().rows[&("touch", rel)].len(), 2);
    }
}

/// Whose file it is may become clear only later, and with that what counts in it.
#[test]
fn touches_that_no_longer_count_are_not_kept() {
    let (world, rel) = (World::new(), transcript("a", 0));
    let mut foreign = Lines::new(IDS[1], "foreign");
    world.write(&rel, foreign.ask("zebra") + &foreign.create("/w/foreign.rs"));
    world.sync();
    let mut own = Lines::new(A, "own");
    world.append(&rel, own.ask("quartz") + &own.create("/w/own.rs"));
    world.sync();
    assert_as_fresh(&world);
    world.append(&rel, own.create("/w/more.rs"));
    world.sync();
    assert_as_fresh(&world);
}

#[test]
fn a_copy_of_a_conversation_is_known_as_one() {
    let (world, rel, _, old) = two_turns();
    let mut own = Lines::new(IDS[1], "own");
    let fork = old.replace(A, IDS[1]) + &own.ask("polish the quartz");
    world.write(&transcript("a", 1), &fork);
    world.sync();
    assert_as_fresh(&world);
    world.write(&transcript("a", 1), own.ask("polish the quartz"));
    world.sync();
    assert_as_fresh(&world);
    assert_eq!(fs::read(world.path(&rel)).expect("is there"), old.into_bytes());
}

/// The file that was made first owns what stands in several, also when it is known only from what
/// is kept which one that was.
#[test]
fn who_owns_a_copy_does_not_change_when_files_go() {
    for gone in [0, 1] {
        let world = World::new();
        let mut lines = Lines::new(A, "same");
        let same = lines.ask("find the zebra") + &lines.say("there");
        let more = |at: usize| Lines::new(IDS[at], "own").ask("ride the bicycle");
        // By its name and by the time of its own entry the copy would come first.
        world.write(&transcript("b", 0), same.clone() + &more(0) + &more(0));
        wait_a_moment();
        world.write(&transcript("a", 1), same.replace(A, IDS[1]) + &more(1));
        world.sync();
        let before = world.dump().sessions;
        world.remove(&[transcript("b", 0), transcript("a", 1)][gone]);
        world.sync();
        assert_eq!(world.dump().sessions, before);
    }
}

/// The time at which a file was made is not ours to set.
fn wait_a_moment() {
    std::thread::sleep(std::time::Duration::from_millis(20));
}

#[test]
fn a_clock_that_goes_backwards_loses_nothing() {
    let (world, rel, mut lines, old) = two_turns();
    let sync_at = |time: i64| {
        let options = store::sync::Options::new(transcript::time::Time(time));
        world.sync_with(&world.homes(), options).expect("goes on")
    };
    world.append(&rel, lines.say("with pleasure"));
    sync_at(1_000);
    world.assert_current();
    assert!(!sync_at(0).is_changed());
    let whole = fs::read(world.path(&rel)).expect("is there");
    world.write(&rel, Lines::new(A, "new").ask("polish the quartz"));
    sync_at(-5);
    world.assert_kept(&whole);
    world.assert_kept(&old);
    world.remove(&rel);
    sync_at(-6);
    assert_eq!(world.gone(), [rel]);
    assert_eq!(world.session(A), is("polish the quartz", 1));
}

/// A file may come from a backup or from a computer whose clock is wrong: whatever its time says,
/// what it holds is kept.
#[test]
fn times_of_files_that_go_backwards_lose_nothing() {
    let day = 86_400;
    for seconds in [0, day, 1_600_000_000, 4_000_000_000] {
        let (world, rel, mut lines, old) = two_turns();
        let sync_with_time = || {
            let file = fs::File::options().append(true).open(world.path(&rel)).expect("opens");
            let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
            file.set_modified(time).expect("has a time");
            let report = world.sync();
            assert_as_fresh(&world);
            assert!(!world.sync().is_changed());
            (report.grown, report.rewritten)
        };
        world.append(&rel, lines.say("with pleasure"));
        assert_eq!(sync_with_time(), (1, 0));
        // Once more with the same time, as if the clock stood still.
        world.append(&rel, lines.say("and again"));
        assert_eq!(sync_with_time(), (1, 0));
        let whole = fs::read_to_string(world.path(&rel)).expect("is text");
        world.write(&rel, Lines::new(A, "new").ask("polish the quartz"));
        assert_eq!(sync_with_time(), (0, 1));
        world.assert_kept(&whole);
        world.assert_kept(&old);
    }
}

/// A file that was written while it was read may have been written again in the same moment.
#[test]
fn a_time_that_is_too_new_is_not_trusted() {
    let (world, rel, _, old) = two_turns();
    let modified = fs::metadata(world.path(&rel)).expect("is there").modified().expect("has one");
    let options = store::sync::Options::new(transcript::time::Time(world.now().0 - 10_000));
    world.copy_over(&rel);
    let file = fs::File::options().append(true).open(world.path(&rel)).expect("opens");
    file.set_modified(modified).expect("has a time");
    world.sync_with(&world.homes(), options).expect("goes on");
    fs::write(world.path(&rel), old.replace("bicycle", "unicorn")).expect("is written");
    file.set_modified(modified).expect("has a time");
    assert_eq!(world.sync().rewritten, 1);
    assert_as_fresh(&world);
}

/// It is looked into once more, and not for ever.
#[test]
fn a_time_that_was_too_new_is_trusted_later() {
    let (world, rel, mut lines, _) = two_turns();
    world.append(&rel, lines.say("a moment ago"));
    let then = store::sync::Options::new(transcript::time::Time(world.now().0 - 10_000));
    assert_eq!(world.sync_with(&world.homes(), then).expect("goes on").grown, 1);
    let second = world.sync();
    assert!(second.bytes_read > 0 && !second.is_changed(), "{second:?}");
    assert_eq!(world.sync().bytes_read, 0);
}

#[test]
fn a_full_sync_sees_what_no_stat_tells() {
    let (world, rel, _, old) = two_turns();
    let modified = fs::metadata(world.path(&rel)).expect("is there").modified().expect("has one");
    fs::write(world.path(&rel), old.replace("zebra", "horse")).expect("is written");
    let file = fs::File::options().append(true).open(world.path(&rel)).expect("opens");
    file.set_modified(modified).expect("has a time");
    assert!(!world.sync().is_changed());
    let options = store::sync::Options { full: true, ..world.options() };
    assert_eq!(world.sync_with(&world.homes(), options).expect("goes on").rewritten, 1);
    assert_as_fresh(&world);
}
