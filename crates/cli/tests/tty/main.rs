//! The browser in a real terminal, a window of tmux. What a person sees goes to
//! `target/screenshots`, as text.

use std::path::Path;

use testkit::{Home, Shape, Spec, Tmux, make};

/// The program.
fn recount() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_recount"))
}

/// Keeps a screen to be looked at.
fn keep(name: &str, screen: &str) {
    let built = recount().parent().and_then(Path::parent).expect("below the target folder");
    let folder = built.join("screenshots");
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join(format!("terminal-{name}.txt")), screen).expect("written");
}

/// A terminal in which the program was started on a sample with these flags.
fn started(home: &Home, flags: &str) -> Tmux {
    let tmux = Tmux::start(120, 34).unwrap_or_else(|no| panic!("{no}"));
    let (program, claude) = (recount().display(), home.path().display());
    let line = format!("{program} --claude-dir {claude} {flags}");
    tmux.text(&line).expect("typed");
    tmux.keys(&["Enter"]).expect("pressed");
    tmux
}

fn sample() -> Home {
    let home = Home::new();
    make(&Spec { seed: 1, shape: Shape::Demo, bytes: 0 }, home.path()).expect("a home");
    home
}

fn wait(tmux: &Tmux, wanted: &str) -> String {
    tmux.wait(|screen| screen.contains(wanted)).unwrap_or_else(|no| panic!("`{wanted}`: {no}"))
}

#[test]
fn a_walk_through_the_browser() {
    let home = sample();
    let tmux = started(&home, "");
    let list = tmux.wait(|s| s.contains("recount  ") && !s.contains("reading")).expect("a list");
    keep("list", &list);
    assert!(list.contains("sessions") && list.contains("Enter open"), "{list}");
    tmux.keys(&["Enter"]).expect("pressed");
    let view = tmux.wait(|s| s.contains("3 work") && !s.contains("reading")).expect("a session");
    keep("session", &view);
    tmux.text("1").expect("typed");
    keep("prompts", &wait(&tmux, "1 prompts"));
    tmux.text("3").expect("typed");
    wait(&tmux, "3 work");
    tmux.text("gge").expect("typed");
    keep("error", &tmux.screen().expect("a screen"));
    tmux.text("?").expect("typed");
    keep("keys", &wait(&tmux, "back to the list"));
    tmux.keys(&["Escape"]).expect("pressed");
    tmux.resize(60, 20).expect("resized");
    let small = tmux.wait(|s| !s.contains("back to the list") && s.lines().count() <= 20);
    keep("small", &small.expect("a smaller screen"));
    tmux.text("q").expect("typed");
    wait(&tmux, "type to filter");
    tmux.keys(&["Escape"]).expect("pressed");
    // The screen is the shell's again, which takes commands and shows what is typed.
    tmux.wait(|s| s.trim_end().ends_with('$') && !s.contains("type to filter")).expect("a shell");
    tmux.text("echo so$((40 + 2))").expect("typed");
    tmux.keys(&["Enter"]).expect("pressed");
    let after = tmux.wait(|s| s.lines().any(|line| line.ends_with("so42"))).expect("an answer");
    assert!(after.contains("echo so$((40 + 2))"), "{after}");
}

#[test]
fn a_session_is_picked_for_a_script() {
    let home = sample();
    let tmux = started(&home, "--pick --inline 12 > picked; cat picked | wc -c");
    wait(&tmux, "Enter pick");
    let list = tmux.wait(|s| !s.contains("reading")).expect("a list");
    keep("inline", &list);
    assert!(list.contains("--pick --inline 12"), "the shell's own lines stay: {list}");
    tmux.resize(90, 34).expect("resized");
    tmux.wait(|s| s.contains("Enter pick") && s.lines().any(|l| l.chars().count() == 90))
        .expect("narrower");
    tmux.keys(&["Enter"]).expect("pressed");
    // An id and the end of its line.
    tmux.wait(|s| s.lines().any(|line| line == "37")).expect("an id");
}
