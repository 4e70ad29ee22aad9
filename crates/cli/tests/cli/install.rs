//! `install` and `uninstall`: only our own entries come and go.

use std::fs;

use serde::Deserialize;
use serde_json::{Value, json};

use super::case::Case;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct InstalledFile {
    r#type: String,
    path: String,
    outcome: String,
    backup: Option<String>,
    diff: String,
}

const OWN: &str = r#"{
    "model": "opus",
    "hooks": {
        "PreToolUse": [
            {"matcher": "Bash", "hooks": [{"type": "command", "command": "check.sh"}]}
        ]
    },
    "env": {"A": "1"}
}
"#;

fn read(path: impl AsRef<std::path::Path>) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn what_is_installed_can_be_taken_out_again() {
    let case = Case::new("");
    case.write("settings.json", OWN);
    let servers = case.home().join(".claude.json");
    fs::write(&servers, "{\"numStartups\": 3, \"mcpServers\": {}}").unwrap();
    let planned = case.json::<InstalledFile>("install claude --dry-run");
    assert!(planned.iter().all(|file| file.outcome == "planned" && file.backup.is_none()));
    assert_eq!(fs::read_to_string(case.claude().join("settings.json")).unwrap(), OWN);
    let shown = case.run("install claude");
    assert!(shown.starts_with("exit 0\n") && shown.contains("+ "), "{shown}");
    assert!(shown.contains("~/.claude/settings.json: changed"), "{shown}");
    let settings = read(case.claude().join("settings.json"));
    assert_eq!(settings["hooks"]["PreToolUse"][0]["hooks"][0]["command"], "check.sh");
    let ours = settings["hooks"]["PreToolUse"][1]["hooks"][0]["command"].as_str().unwrap();
    assert!(ours.ends_with("recount hook PreToolUse") && ours.starts_with('/'), "{ours}");
    assert!(settings["statusLine"]["command"].as_str().unwrap().ends_with(" statusline"));
    assert_eq!(read(&servers)["mcpServers"]["recount"]["args"], json!(["mcp"]));
    assert_eq!(read(&servers)["numStartups"], 3);
    let again = case.json::<InstalledFile>("install claude");
    let same = |file: &InstalledFile| {
        file.r#type == "installed_file" && file.outcome == "same" && file.diff.is_empty()
    };
    assert!(again.iter().all(same) && again.len() == 2, "{again:?}");
    assert_eq!(read(&servers)["mcpServers"]["recount"]["alwaysLoad"], true);
    let gone = case.json::<InstalledFile>("uninstall claude");
    assert!(gone.iter().all(|file| file.outcome == "changed" && file.diff.contains("\n-")));
    assert_eq!(fs::read_to_string(case.claude().join("settings.json")).unwrap(), OWN);
    let backup = gone[0].backup.as_ref().unwrap();
    assert_eq!(read(backup), settings, "{}", gone[0].path);
}

#[test]
fn for_one_project_and_one_part() {
    let case = Case::new("");
    assert!(case.run("install claude --project --mcp").starts_with("exit 0\n"));
    let server = &read(case.home().join(".mcp.json"))["mcpServers"]["recount"];
    assert!(server["command"].as_str().unwrap().ends_with("recount"));
    assert!(!case.claude().join("settings.json").exists());
    assert!(case.run("install claude --project --hooks").starts_with("exit 0\n"));
    let settings = read(case.claude().join("settings.json"));
    assert!(settings.get("statusLine").is_none() && settings["hooks"]["SessionEnd"].is_array());
    assert!(case.run("uninstall claude --project").starts_with("exit 0\n"));
    // Both were created for it.
    assert!(!case.home().join(".mcp.json").exists());
    assert!(!case.claude().join("settings.json").exists());
    // Where there is nothing, nothing is made.
    let empty = Case::new("");
    assert!(empty.run("uninstall claude").contains("Nothing to change"));
    assert!(!empty.claude().join("settings.json").exists());
}

/// The names of all files of a home, but for the store.
fn files(case: &Case) -> Vec<String> {
    let mut all = Vec::new();
    let mut folders = vec![case.home().to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            match entry.is_dir() {
                true if entry.ends_with(".local") => {}
                true => folders.push(entry),
                false => all.push(entry.strip_prefix(case.home()).unwrap().display().to_string()),
            }
        }
    }
    all.sort();
    all
}

#[test]
fn nothing_is_left_of_what_was_installed() {
    let case = Case::new("");
    for _ in 0..3 {
        assert!(case.run("install claude").starts_with("exit 0\n"));
        assert_eq!(files(&case), [".claude.json", ".claude/settings.json"]);
        assert!(case.run("uninstall claude --mcp").contains("~/.claude.json: removed"));
        assert!(case.run("uninstall claude").starts_with("exit 0\n"));
        assert_eq!(files(&case), [""; 0]);
    }
    // An empty file of a person's own stays as it was.
    let servers = case.home().join(".claude.json");
    case.write("settings.json", "{ }\n");
    for empty in ["", "{}", "{}\n"] {
        fs::write(&servers, empty).unwrap();
        assert!(case.run("uninstall claude").contains("Nothing to change"));
        assert_eq!(fs::read_to_string(&servers).unwrap(), empty);
    }
    assert!(case.run("install claude").starts_with("exit 0\n"));
    assert!(case.run("uninstall claude").starts_with("exit 0\n"));
    assert_eq!(files(&case), [".claude.json", ".claude/settings.json"]);
    assert_eq!(fs::read_to_string(&servers).unwrap(), "{}\n");
}

/// Several changes in one second are kept apart.
#[test]
fn every_change_has_its_own_backup() {
    let case = Case::new("");
    let mut backups = Vec::new();
    for number in 0..4 {
        let own = format!("{{\"number\": {number}}}");
        case.write("settings.json", &own);
        let changed = case.json::<InstalledFile>("install claude --hooks");
        let backup = changed[0].backup.clone().unwrap();
        assert!(backup.starts_with(case.store().to_str().unwrap()), "{backup}");
        backups.push((backup, own));
    }
    for (backup, own) in backups {
        assert_eq!(fs::read_to_string(backup).unwrap(), own);
    }
}

/// The client reads its servers from the folder that the variable names, whichever that is.
#[test]
fn servers_go_where_the_client_reads_them() {
    for (folder, file) in [(".claude", ".claude/.claude.json"), ("other", "other/.claude.json")] {
        let case = Case::new("");
        fs::create_dir_all(case.home().join(folder)).unwrap();
        let mut command = case.command();
        command.env("CLAUDE_CONFIG_DIR", case.home().join(folder));
        let output = command.args(["install", "claude", "--mcp"]).output().unwrap();
        assert!(case.shown(&output).starts_with("exit 0\n"));
        assert_eq!(files(&case), [file]);
    }
}

#[test]
fn tools_are_loaded_at_once_unless_they_are_not_to_be() {
    let case = Case::new("");
    assert!(case.run("install claude --mcp --no-always-load").starts_with("exit 0\n"));
    let servers = case.home().join(".claude.json");
    assert_eq!(read(&servers)["mcpServers"]["recount"].get("alwaysLoad"), None);
    assert!(case.run("install claude --mcp").starts_with("exit 0\n"));
    assert_eq!(read(&servers)["mcpServers"]["recount"]["alwaysLoad"], true);
}

#[test]
fn what_is_no_json_is_not_touched() {
    let case = Case::new("");
    let broken = "{\n  \"model\": \"opus\"\n  \"env\": {}\n}\n";
    case.write("settings.json", broken);
    insta::assert_snapshot!(case.run("install claude --hooks"), @"
    exit 2
    --- stderr
    error: ~/.claude/settings.json is no JSON, see line 3
    hint: Nothing was written: correct the file first
    ");
    assert_eq!(fs::read_to_string(case.claude().join("settings.json")).unwrap(), broken);
}

#[cfg(unix)]
#[test]
fn a_link_stays_a_link() {
    let case = Case::new("");
    let real = case.home().join("dotfiles.json");
    fs::write(&real, "{}\n").unwrap();
    std::os::unix::fs::symlink(&real, case.claude().join("settings.json")).unwrap();
    assert!(case.run("install claude --statusline").starts_with("exit 0\n"));
    assert!(case.claude().join("settings.json").is_symlink());
    assert!(fs::read_to_string(&real).unwrap().contains("statusline"));
}

/// The folder `plugin/` says the same as what is installed.
#[test]
fn the_plugin_is_what_is_installed() {
    let plugin = concat!(env!("CARGO_MANIFEST_DIR"), "/../../plugin");
    let case = Case::new("");
    assert!(case.run("install claude").starts_with("exit 0\n"));
    let text = |path: std::path::PathBuf| fs::read_to_string(path).unwrap();
    let program =
        read(case.home().join(".claude.json"))["mcpServers"]["recount"]["command"].clone();
    let plain = |text: String| -> Value {
        serde_json::from_str(&text.replace(program.as_str().unwrap(), "recount")).unwrap()
    };
    let settings = plain(text(case.claude().join("settings.json")));
    assert_eq!(read(format!("{plugin}/hooks/hooks.json"))["hooks"], settings["hooks"]);
    let servers = plain(text(case.home().join(".claude.json")));
    assert_eq!(read(format!("{plugin}/.mcp.json")), servers);
    let manifest = read(format!("{plugin}/.claude-plugin/plugin.json"));
    assert_eq!(
        (&manifest["name"], &manifest["version"]),
        (&json!("recount"), &json!(env!("CARGO_PKG_VERSION")))
    );
    let skill = fs::read_to_string(format!("{plugin}/skills/recount/SKILL.md")).unwrap();
    assert!(skill.starts_with("---\nname: recount\ndescription: "));
}
