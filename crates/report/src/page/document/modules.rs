//! The code of all pages: ES modules, served as they are.
//!
//! A browser loads no modules from files. For exports [`joined_script`] joins them into one classic
//! script: one function, in which all modules share a scope. That needs no parser because the
//! modules keep to a few rules, which the tests below check: imports and exports are one line
//! each, nothing is renamed, and no name is used at the top of two modules.

use std::sync::LazyLock;

/// The module that a page loads; it imports the others.
pub const MAIN_MODULE: &str = "main.js";

macro_rules! modules {
    ($($name:literal),* $(,)?) => { [$(($name, include_str!($name))),*] };
}

/// Name and text, each after all that it imports.
const MODULES: [(&str, &str); 19] = modules![
    "dom.js",
    "storage.js",
    "status.js",
    "theme.js",
    "session.js",
    "pieces.js",
    "folds.js",
    "selection.js",
    "records.js",
    "menu.js",
    "minimap.js",
    "find.js",
    "turns.js",
    "panel.js",
    "position.js",
    "live.js",
    "dialog.js",
    "keys.js",
    "main.js",
];

/// The names of all modules.
pub fn module_names() -> impl Iterator<Item = &'static str> {
    MODULES.iter().map(|(name, _)| *name)
}

/// The text of a module.
pub fn module_text(name: &str) -> Option<&'static str> {
    MODULES.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

/// All modules as one classic script.
pub fn joined_script() -> &'static str {
    static SCRIPT: LazyLock<String> = LazyLock::new(|| join(MODULES.map(|(_, text)| text)));
    &SCRIPT
}

fn join<'a>(modules: impl IntoIterator<Item = &'a str>) -> String {
    let mut script = String::from("(() => {\n\"use strict\";\n");
    for text in modules {
        let mut is_comment = false;
        for line in text.lines() {
            // Comments of whole lines are for who reads the modules; an export is small.
            let trimmed = line.trim_start();
            let begins_comment = trimmed.starts_with("/**");
            let is_left_out =
                is_comment || begins_comment || trimmed.is_empty() || trimmed.starts_with("//");
            is_comment = (is_comment || begins_comment) && !trimmed.ends_with("*/");
            if !is_left_out && !line.starts_with("import ") {
                script += line.strip_prefix("export ").unwrap_or(line);
                script.push('\n');
            }
        }
    }
    script + "})();\n"
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};

    use super::*;

    /// What is declared at the top of a module, and whether it is exported.
    fn declared(text: &str) -> HashMap<&str, bool> {
        let mut names = HashMap::new();
        for line in text.lines() {
            let (rest, is_exported) =
                line.strip_prefix("export ").map_or((line, false), |rest| (rest, true));
            let rest = rest.strip_prefix("async ").unwrap_or(rest);
            let keyword = ["const ", "let ", "var ", "class ", "function "];
            if let Some(rest) = keyword.iter().find_map(|keyword| rest.strip_prefix(keyword)) {
                let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$');
                let name = rest.split(|c| !is_part(c)).next().unwrap_or_default();
                assert!(!name.is_empty(), "a plain name is expected: {line}");
                assert!(names.insert(name, is_exported).is_none(), "{name} is declared twice");
            } else {
                assert!(!is_exported, "only declarations are exported: {line}");
            }
        }
        names
    }

    /// The names that a module imports, each with the module it comes from.
    fn imported(text: &str) -> Vec<(&str, &str)> {
        let mut all = Vec::new();
        for line in text.lines().filter(|line| line.starts_with("import")) {
            let parts = line.strip_prefix("import { ").and_then(|rest| rest.split_once(" } from "));
            let (names, from) = parts.unwrap_or_else(|| panic!("one line is expected: {line}"));
            let from = from.strip_prefix("\"./").and_then(|from| from.strip_suffix("\";"));
            let from = from.unwrap_or_else(|| panic!("a module next to it is expected: {line}"));
            all.extend(names.split(", ").map(|name| (name, from)));
        }
        all
    }

    #[test]
    fn the_script_has_no_imports_exports_or_comments() {
        let first = "// @ts-check\n/**\n * One.\n * @returns {number}\n */\nexport const one = () => 1;\n\n/** @type {number} */\nlet count = 0;\n";
        let second = "import { one } from \"./one.js\";\nexport async function two() {\n  // Why.\n  return one() + 1; // 2\n}\n";
        let want = "(() => {\n\"use strict\";\nconst one = () => 1;\nlet count = 0;\nasync function two() {\n  return one() + 1; // 2\n}\n})();\n";
        assert_eq!(join([first, second]), want);
    }

    #[test]
    fn every_import_is_exported_by_an_earlier_module() {
        let mut exported = HashSet::new();
        for (module, text) in MODULES {
            for (name, from) in imported(text) {
                assert!(exported.contains(&(from, name)), "{module} imports {name} of {from}");
            }
            let names = declared(text).into_iter().filter(|(_, is_exported)| *is_exported);
            exported.extend(names.map(|(name, _)| (module, name)));
        }
        assert_eq!(MODULES.last().map(|(name, _)| *name), Some(MAIN_MODULE));
    }

    #[test]
    fn no_name_is_declared_by_two_modules() {
        let mut owners = HashMap::new();
        for (module, text) in MODULES {
            for name in declared(text).into_keys() {
                let other = owners.insert(name, module);
                assert_eq!(other, None, "{name} is in {module}, too");
            }
        }
    }

    #[test]
    fn modules_keep_their_state_to_themselves() {
        for (module, text) in MODULES {
            let is_variable = |line: &&str| line.starts_with("let ") || line.starts_with("var ");
            assert_eq!(text.lines().find(is_variable), None, "{module}");
            assert!(text.starts_with("// @ts-check\n"), "{module} is not type checked");
        }
    }

    #[test]
    fn html_enters_in_one_place() {
        let all: usize = MODULES.iter().map(|(_, text)| text.matches("innerHTML =").count()).sum();
        assert_eq!(all, 1);
        for word in ["outerHTML", "insertAdjacentHTML", "document.write", "eval("] {
            assert!(!joined_script().contains(word), "{word}");
        }
    }

    /// Leaving out lines is safe only where no text runs over lines.
    #[test]
    fn no_text_runs_over_lines() {
        for (module, text) in MODULES {
            let odd = text.lines().find(|line| {
                let is_comment = line.trim_start().starts_with(['/', '*']);
                !is_comment && line.matches('`').count() % 2 == 1
            });
            assert_eq!(odd, None, "{module}");
        }
    }

    #[test]
    fn all_modules_are_listed() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/page/document");
        let files = std::fs::read_dir(folder).expect("the folder").flatten();
        let names = files.map(|file| file.file_name().to_string_lossy().into_owned());
        let names: HashSet<String> = names.filter(|name| name.ends_with(".js")).collect();
        assert_eq!(names, MODULES.iter().map(|(name, _)| (*name).to_owned()).collect());
    }
}
