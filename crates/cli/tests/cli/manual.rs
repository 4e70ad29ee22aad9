//! `completions` and `man`: what shells and readers are told of every command.

use super::case::Case;
use super::help::commands;

fn printed(case: &Case, args: &str) -> String {
    let output = case.command().args(args.split(' ')).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", case.shown(&output));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn shells_complete_every_command() {
    let case = Case::new("");
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = printed(&case, &format!("completions {shell}"));
        for name in commands(&case) {
            assert!(script.contains(&name), "{shell}: {name}");
        }
        assert!(script.contains("claude-dir"), "{shell}");
    }
    assert!(case.run("completions tcsh").starts_with("exit 2\n"));
}

/// What a shell that has read the script offers for the beginning of a line.
#[test]
fn bash_offers_what_is_there() {
    let case = Case::new("");
    std::fs::write(case.home().join("script"), printed(&case, "completions bash")).unwrap();
    let ask = "source ./script; COMP_WORDS=(recount segm); COMP_CWORD=1; \
               _recount recount segm recount; echo \"${COMPREPLY[*]}\"";
    let Ok(output) =
        std::process::Command::new("bash").args(["-c", ask]).current_dir(case.home()).output()
    else {
        println!("there is no bash here");
        return;
    };
    assert_eq!(String::from_utf8_lossy(&output.stdout), "segments\n", "{output:?}");
}

#[test]
fn every_command_has_a_page_of_the_manual() {
    let case = Case::new("");
    let page = printed(&case, "man archive compact");
    assert!(page.contains(".TH recount-archive-compact 1"), "{page}");
    assert!(case.run("man segmnts").starts_with("exit 2\n"));
    printed(&case, "man --to pages/man1");
    let folder = case.home().join("pages/man1");
    for name in commands(&case).iter().filter(|name| *name != "help") {
        let text = std::fs::read_to_string(folder.join(format!("recount-{name}.1"))).unwrap();
        assert!(text.contains(&format!("  recount {name}").replace('-', "\\-")), "{text}");
    }
    assert!(folder.join("recount.1").exists() && !folder.join("recount-help.1").exists());
}
