//! What a person has set: one file, `config.toml`, read once when the program starts.
//!
//! A flag wins over the environment, that over the file, that over what is built in. A key that is
//! not known and a value that does not fit are mistakes with a line: a setting that does nothing
//! would be looked for elsewhere.

use std::fs;
use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use toml_edit::{Array, Document, DocumentMut, Item, Value};

use crate::args::{Color, Global};
use crate::browse::BrowseArgs;
use crate::error::{ConfigError, Mistake};
use ask::home::Environment;

/// What a key may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Switch,
    Word(&'static [&'static str]),
    Folder,
    Folders,
}

/// A key of the file.
#[derive(Debug)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// What it says, for the file and the reference.
    pub what: &'static str,
    /// What holds where nobody says anything, in the words of the file.
    pub default: &'static str,
    kind: Kind,
}

const fn key(name: &'static str, kind: Kind, default: &'static str, what: &'static str) -> Key {
    Key { name, what, default, kind }
}

/// Every key.
pub const KEYS: &[Key] = &[
    key("claude_dir", Kind::Folders, "[]", "Claude folders; empty: ~/.claude and ~/.config/claude"),
    key(
        "store",
        Kind::Folder,
        "\"\"",
        "Where recount keeps what it has read; empty: the usual place",
    ),
    key("color", Kind::Word(&["auto", "always", "never"]), "\"auto\"", "When to use colours"),
    key("pager", Kind::Switch, "true", "Show long answers in a pager"),
    key("redact", Kind::Switch, "false", "Replace secrets in whatever is printed"),
    key("quiet", Kind::Switch, "false", "No progress bars and no notes"),
    key("mouse", Kind::Switch, "true", "Let the browser in the terminal have the mouse"),
];

/// The key of a name, or the one that was meant.
pub fn known(name: &str) -> Result<&'static Key, Option<&'static str>> {
    let found = KEYS.iter().find(|key| key.name == name);
    let begin = name.get(..2).unwrap_or(name);
    found.ok_or_else(|| KEYS.iter().map(|key| key.name).find(|near| near.starts_with(begin)))
}

/// A key with its value and who has set it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// The key.
    pub key: &'static str,
    /// Its value, in the words of the file.
    pub value: String,
    /// `default`, `file`, a flag or a variable.
    pub origin: &'static str,
}

/// What the file says.
#[derive(Debug, Default)]
pub struct Config {
    /// Where it is, or would be.
    pub path: Option<PathBuf>,
    /// Every key, once flags and environment are known.
    pub settings: Vec<Setting>,
    values: Vec<(&'static Key, Value)>,
}

impl Config {
    /// Where the file is: what RECOUNT_CONFIG says, else below the folder for settings.
    pub fn place(environment: &Environment) -> Option<PathBuf> {
        let named = environment.recount_config.clone().map(PathBuf::from);
        let config = environment.config_folder().map(|folder| folder.join("recount/config.toml"));
        named.or(config)
    }

    /// An empty one at a place.
    pub fn empty(path: Option<PathBuf>) -> Self {
        Self { path, ..Self::default() }
    }

    /// Reads the file; one that is not there says nothing.
    pub fn read(path: Option<PathBuf>) -> Result<Self, ConfigError> {
        let Some(place) = &path else { return Ok(Self::default()) };
        let text = match fs::read_to_string(place) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::empty(path)),
            Err(error) => return Err(ConfigError::Io(place.clone(), error)),
        };
        let values =
            parse(&text).map_err(|mistake| ConfigError::Mistake(place.clone(), mistake))?;
        Ok(Self { path, values, settings: Vec::new() })
    }

    fn value(&self, name: &str) -> Option<&Value> {
        self.values.iter().find(|(key, _)| key.name == name).map(|(_, value)| value)
    }

    fn switch(&self, name: &str) -> Option<bool> {
        self.value(name)?.as_bool()
    }

    /// Lays the file below the flags and the environment, and says where each value is from.
    pub fn lay_below(
        &mut self,
        global: &mut Global,
        browse: &mut BrowseArgs,
        environment: &mut Environment,
    ) {
        let file = |name: &str| self.value(name).map(|value| (shown(value), "file"));
        let on = |is: bool, value: &str, by| is.then(|| (value.to_owned(), by));
        let list = |paths: &[PathBuf]| (!paths.is_empty()).then(|| quoted(paths));
        let variable = |value: &Option<std::ffi::OsString>| {
            value.as_ref().map(|value| format!("{:?}", value.to_string_lossy()))
        };
        let said = |name: &str| match name {
            "claude_dir" => list(&global.claude_dir)
                .map(|value| (value, "--claude-dir"))
                .or_else(|| Some((variable(&environment.claude_config_dir)?, "CLAUDE_CONFIG_DIR"))),
            "store" => global
                .store
                .as_ref()
                .map(|path| (format!("{:?}", path.to_string_lossy()), "--store"))
                .or_else(|| Some((variable(&environment.recount_store)?, "RECOUNT_STORE"))),
            "color" => global.color.map(|color| (format!("\"{}\"", color.name()), "--color")),
            "pager" => on(global.no_pager, "false", "--no-pager"),
            "redact" => on(global.redact, "true", "--redact"),
            "quiet" => on(global.quiet, "true", "--quiet"),
            "mouse" => on(browse.no_mouse, "false", "--no-mouse"),
            _ => None,
        };
        let setting = |key: &'static Key| {
            let found = said(key.name).or_else(|| file(key.name));
            let (value, origin) = found.unwrap_or_else(|| (key.default.into(), "default"));
            Setting { key: key.name, value, origin }
        };
        self.settings = KEYS.iter().map(setting).collect();
        let word = self.value("color").and_then(Value::as_str);
        global.color = global.color.or_else(|| word.and_then(Color::of));
        global.no_pager |= self.switch("pager") == Some(false);
        global.redact |= self.switch("redact") == Some(true);
        global.quiet |= self.switch("quiet") == Some(true);
        browse.no_mouse |= self.switch("mouse") == Some(false);
        let home = environment.home.clone();
        let folder = |text: &str| (!text.is_empty()).then(|| at_home(text, home.as_deref()));
        let store = self.value("store").and_then(Value::as_str).and_then(folder);
        let folders = self.value("claude_dir").and_then(Value::as_array);
        let folders = folders.into_iter().flatten().filter_map(Value::as_str).filter_map(folder);
        (environment.set_store, environment.set_claude) = (store, folders.collect());
    }
}

/// A folder in which `~` is the home folder.
fn at_home(text: &str, home: Option<&Path>) -> PathBuf {
    match (text.strip_prefix("~/").or((text == "~").then_some("")), home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => text.into(),
    }
}

fn quoted(paths: &[PathBuf]) -> String {
    let all: Array = paths.iter().map(|path| path.to_string_lossy().into_owned()).collect();
    shown(&Value::from(all))
}

/// A value without the comments and spaces around it.
fn shown(value: &Value) -> String {
    value.clone().decorated("", "").to_string()
}

/// The values of a text, each checked.
fn parse(text: &str) -> Result<Vec<(&'static Key, Value)>, Mistake> {
    let line = |span: Option<Range<usize>>| {
        span.map_or(1, |span| text[..span.start.min(text.len())].matches('\n').count() + 1)
    };
    let document = Document::parse(text).map_err(|error| Mistake {
        line: line(error.span()),
        what: error.message().to_owned(),
        hint: None,
    })?;
    let mut values = Vec::new();
    for (name, item) in document.iter() {
        let place = document.key(name).and_then(|key| key.span()).or_else(|| item.span());
        let key = known(name).map_err(|near| Mistake {
            line: line(place.clone()),
            what: format!("there is no key `{name}`"),
            hint: Some(near.map_or_else(all_keys, |near| format!("Did you mean `{near}`?"))),
        })?;
        let value =
            item.as_value().filter(|value| fits(key.kind, value)).ok_or_else(|| Mistake {
                line: line(place),
                what: format!("`{name}` {}", needed(key.kind)),
                hint: Some(format!("{}; the default is {}", key.what, key.default)),
            })?;
        values.push((key, value.clone()));
    }
    Ok(values)
}

fn all_keys() -> String {
    let names: Vec<String> = KEYS.iter().map(|key| format!("`{}`", key.name)).collect();
    format!("The keys are {}", names.join(", "))
}

fn fits(kind: Kind, value: &Value) -> bool {
    match kind {
        Kind::Switch => value.is_bool(),
        Kind::Word(words) => value.as_str().is_some_and(|word| words.contains(&word)),
        Kind::Folder => value.is_str(),
        Kind::Folders => value.as_array().is_some_and(|all| all.iter().all(Value::is_str)),
    }
}

fn needed(kind: Kind) -> String {
    match kind {
        Kind::Switch => "is true or false".into(),
        Kind::Word(words) => format!("is one of \"{}\"", words.join("\", \"")),
        Kind::Folder => "is a folder in quotes".into(),
        Kind::Folders => "is a list of folders, [\"…\"]".into(),
    }
}

/// A text with one key set, everything else as it was.
pub fn with(text: &str, key: &Key, typed: &str) -> Result<String, Mistake> {
    parse(text)?;
    let value = match (key.kind, typed) {
        (Kind::Switch, "true") => Value::from(true),
        (Kind::Switch, "false") => Value::from(false),
        (Kind::Folders, typed) => {
            let parts = typed.split(',').map(str::trim).filter(|part| !part.is_empty());
            Value::from(parts.collect::<Array>())
        }
        (_, typed) => Value::from(typed),
    };
    if !fits(key.kind, &value) {
        let what = format!("`{}` {}", key.name, needed(key.kind));
        return Err(Mistake { line: 0, what, hint: None });
    }
    let mut document: DocumentMut = text.parse().unwrap_or_default();
    document[key.name] = Item::Value(value);
    Ok(document.to_string())
}

/// Writes the file at once or not at all.
pub fn write(path: &Path, text: &str) -> io::Result<()> {
    // A link stays a link: many people keep their settings elsewhere.
    let path = path.canonicalize().unwrap_or_else(|_| path.into());
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.persist(&path).map(drop).map_err(|error| error.error)
}

/// A file that says what can be said, and sets nothing.
pub fn template() -> String {
    let mut text =
        String::from("# Settings of recount. Flags and the environment win over them.\n");
    for key in KEYS {
        text += &format!("\n# {}\n# {} = {}\n", key.what, key.name, key.default);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mistake(text: &str) -> String {
        let Mistake { line, what, hint } = parse(text).expect_err("a mistake");
        format!("{line}: {what}; {}", hint.unwrap_or_default())
    }

    #[test]
    fn mistakes_have_a_line() {
        insta::assert_snapshot!(mistake("pager = true\n\ncolour = \"never\""), @"3: there is no key `colour`; Did you mean `color`?");
        insta::assert_snapshot!(mistake("# x\ncolor = \"blue\""), @r#"2: `color` is one of "auto", "always", "never"; When to use colours; the default is "auto""#);
        insta::assert_snapshot!(mistake("store = 3"), @r#"1: `store` is a folder in quotes; Where recount keeps what it has read; empty: the usual place; the default is """#);
        insta::assert_snapshot!(mistake("quiet = true\npager = "), @"2: string values must be quoted, expected literal string; ");
        insta::assert_snapshot!(mistake("[mouse]\nx = 1"), @"1: `mouse` is true or false; Let the browser in the terminal have the mouse; the default is true");
    }

    #[test]
    fn the_template_is_valid_and_so_is_what_it_comments_out() {
        assert!(parse(&template()).expect("valid").is_empty());
        let bare: String = template()
            .lines()
            .filter_map(|line| {
                let said = line.strip_prefix("# ").filter(|rest| rest.contains(" = "))?;
                Some(format!("{said}\n"))
            })
            .collect();
        assert_eq!(parse(&bare).expect("valid").len(), KEYS.len());
    }

    #[test]
    fn setting_a_key_leaves_the_rest() {
        let set = |text: &str, name: &str, value: &str| {
            with(text, known(name).expect("a key"), value).map_err(|mistake| mistake.what)
        };
        let text = "# mine\npager = false # no\n";
        assert_eq!(set(text, "color", "never"), Ok(format!("{text}color = \"never\"\n")));
        assert_eq!(set("quiet = true\n", "quiet", "false"), Ok("quiet = false\n".into()));
        let two = Ok("claude_dir = [\"/a\", \"~/b\"]\n".into());
        assert_eq!(set("", "claude_dir", "/a, ~/b"), two);
        assert_eq!(set("", "pager", "maybe"), Err("`pager` is true or false".into()));
        assert!(set("nope = 1", "pager", "true").is_err());
    }

    #[test]
    fn the_home_folder_has_a_short_name() {
        let home = Some(Path::new("/h"));
        assert_eq!(at_home("~/x", home), Path::new("/h/x"));
        assert_eq!(at_home("~", home), Path::new("/h"));
        assert_eq!(at_home("~x", home), Path::new("~x"));
        assert_eq!(at_home("/x", home), Path::new("/x"));
    }
}
