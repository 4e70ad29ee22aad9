//! The shapes of secrets: read from a data file, compiled when they are first needed.
//!
//! All keywords of all rules are one set, looked for in one pass. A pattern is compiled at its
//! keyword's first hit: most texts never need one.

use std::collections::HashMap;
use std::sync::OnceLock;

use regex_automata::meta::Regex;
use regex_automata::util::syntax;
use serde::Deserialize;

use super::net::Judge;
use super::words::Words;

const BUILT_IN: &str = include_str!("rules.json");
/// The ids of what has no line in the data file.
pub(super) const PRIVATE_KEY: &str = "private-key";
pub(super) const EMAIL: &str = "email";
/// Their places among the rules.
pub(super) const PRIVATE_KEY_AT: usize = 0;
pub(super) const EMAIL_AT: usize = 1;
/// How far a pattern looks behind its keyword, unless it says so itself.
const WINDOW: usize = 280;
/// What begins a placeholder.
pub(super) const MARK: &str = "[redacted:";
/// How placeholders of private keys begin.
pub(super) const KEY_MARK: &str = "[redacted:private-key";

/// All rules, ready to be used.
#[derive(Debug)]
pub struct Rules {
    rules: Vec<Rule>,
    by_id: HashMap<String, usize>,
    pub(super) words: Words,
    /// What each word brings into play.
    pub(super) targets: Vec<Target>,
}

/// One shape.
#[derive(Debug)]
pub struct Rule {
    /// Its name, as in placeholders.
    pub id: String,
    /// What kind of service or file it belongs to.
    pub family: String,
    /// What it finds.
    pub description: String,
    /// Templates of what it finds; see [`super::sample`].
    pub examples: Vec<String>,
    pub(super) shape: Shape,
    pub(super) limits: Limits,
}

/// How a rule looks.
#[derive(Debug)]
pub(super) enum Shape {
    /// A pattern at its keyword.
    Pattern(Lazy),
    /// A pattern for the whole of what is assigned to a name with the keyword.
    Value(Lazy),
    /// A judgement of what is assigned to a name with the keyword.
    Net(Judge),
    /// Found by code.
    Code,
}

/// What a match has to be beside the pattern.
#[derive(Debug, Default)]
pub(super) struct Limits {
    /// Bytes ahead of the keyword where a match may begin; 0 binds it to the keyword.
    pub before: usize,
    /// Bytes from the keyword on that are looked at.
    pub window: usize,
    /// The keyword may stand inside a word.
    pub is_inside: bool,
    /// A word must not go on behind the match.
    pub is_free: bool,
    /// Letters and digits both have to be in it.
    pub is_mixed: bool,
    /// Bits per character that it must have.
    pub entropy: f64,
    /// A match like this is none.
    pub allow: Option<Lazy>,
    /// Only lines of environment files and the like, where any value counts.
    pub is_env: bool,
}

/// What a word stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Target {
    Rule(usize),
    PrivateKey,
    Placeholder,
}

/// A pattern that is compiled when it is first asked for.
#[derive(Debug)]
pub(super) struct Lazy {
    pattern: String,
    regex: OnceLock<Regex>,
}

impl Lazy {
    fn new(pattern: String) -> Self {
        Self { pattern, regex: OnceLock::new() }
    }

    pub fn get(&self) -> &Regex {
        self.regex.get_or_init(|| {
            let syntax = syntax::Config::new().unicode(false).utf8(false);
            let config = Regex::config().utf8_empty(false);
            let built = Regex::builder().configure(config).syntax(syntax).build(&self.pattern);
            built.expect("a test compiles every pattern of the data file")
        })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(rename = "about")]
    _about: String,
    rules: Vec<FileRule>,
    net: Vec<FileNet>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileRule {
    id: String,
    family: String,
    description: String,
    keywords: Vec<String>,
    pattern: Option<String>,
    value: Option<String>,
    #[serde(default)]
    before: usize,
    window: Option<usize>,
    #[serde(default)]
    inside: bool,
    free: Option<bool>,
    #[serde(default)]
    mixed: bool,
    #[serde(default)]
    entropy: f64,
    #[serde(default)]
    env: bool,
    allow: Option<String>,
    examples: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileNet {
    id: String,
    family: String,
    description: String,
    words: Vec<String>,
    judge: Judge,
    examples: Vec<String>,
}

impl Rules {
    /// The rules of this version.
    pub fn built_in() -> &'static Self {
        static RULES: OnceLock<Rules> = OnceLock::new();
        RULES.get_or_init(|| {
            let file = serde_json::from_str(BUILT_IN).expect("a test reads the data file");
            Self::of(file)
        })
    }

    /// All rules, the more telling ones first.
    pub fn iter(&self) -> impl Iterator<Item = &Rule> {
        self.rules.iter()
    }

    pub(super) fn get(&self, index: usize) -> &Rule {
        &self.rules[index]
    }

    /// The place of the rule with this name.
    pub(super) fn place(&self, id: &str) -> Option<usize> {
        self.by_id.get(id).copied()
    }

    fn of(file: File) -> Self {
        let (mut words, mut targets) = (Vec::new(), Vec::new());
        let mut add = |word: String, target| {
            words.push(word);
            targets.push(target);
        };
        let mut rules = vec![
            code(PRIVATE_KEY, "private-key", "Private key in PEM, OpenSSH, PGP or PuTTY form"),
            code(EMAIL, "person", "E-mail address"),
        ];
        add("private key".into(), Target::PrivateKey);
        add("private-lines:".into(), Target::PrivateKey);
        add(MARK.into(), Target::Placeholder);
        for mut rule in file.rules {
            for word in std::mem::take(&mut rule.keywords) {
                add(word, Target::Rule(rules.len()));
            }
            rules.push(Rule::of(rule));
        }
        for net in file.net {
            for word in &net.words {
                add(word.clone(), Target::Rule(rules.len()));
            }
            rules.push(Rule::of_net(net));
        }
        let words = Words::new(words);
        let by_id = rules.iter().enumerate().map(|(at, rule)| (rule.id.clone(), at)).collect();
        Self { rules, by_id, words, targets }
    }
}

fn code(id: &str, family: &str, description: &str) -> Rule {
    Rule {
        id: id.into(),
        family: family.into(),
        description: description.into(),
        examples: Vec::new(),
        shape: Shape::Code,
        limits: Limits::default(),
    }
}

impl Rule {
    fn of(file: FileRule) -> Self {
        let shape = match (file.pattern, file.value) {
            (Some(pattern), _) => Shape::Pattern(Lazy::new(pattern)),
            (None, Some(value)) => Shape::Value(Lazy::new(format!(r"\A(?:{value})\z"))),
            (None, None) => Shape::Code,
        };
        let limits = Limits {
            before: file.before,
            window: file.window.unwrap_or(WINDOW),
            is_inside: file.inside,
            is_free: file.free.unwrap_or(true),
            is_mixed: file.mixed,
            entropy: file.entropy,
            allow: file.allow.map(Lazy::new),
            is_env: file.env,
        };
        Self {
            id: file.id,
            family: file.family,
            description: file.description,
            examples: file.examples,
            shape,
            limits,
        }
    }

    fn of_net(file: FileNet) -> Self {
        Self {
            id: file.id,
            family: file.family,
            description: file.description,
            examples: file.examples,
            shape: Shape::Net(file.judge),
            limits: Limits::default(),
        }
    }

    /// Whether a placeholder of a manual would fit it, too.
    pub(super) fn is_weak(&self) -> bool {
        let is_named = matches!(self.shape, Shape::Value(_));
        is_named || matches!(self.family.as_str(), "http" | "database" | "file")
    }

    /// How much a match says: a shape of its own more than a name beside it.
    pub(super) fn rank(&self) -> u8 {
        match self.shape {
            Shape::Code | Shape::Pattern(_) if self.family != "http" => 0,
            Shape::Code | Shape::Pattern(_) | Shape::Value(_) => 1,
            Shape::Net(_) => 2,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn the_data_file_is_sound() {
        let file: File = serde_json::from_str(BUILT_IN).expect("reads");
        let mut ids = HashSet::from([PRIVATE_KEY, EMAIL]);
        for rule in &file.rules {
            assert!(ids.insert(&rule.id), "{} stands twice", rule.id);
            assert!(rule.pattern.is_some() != rule.value.is_some(), "{}", rule.id);
            assert!(!rule.keywords.is_empty() && !rule.examples.is_empty(), "{}", rule.id);
            assert!(rule.keywords.iter().all(|word| word.len() > 2), "{}", rule.id);
            assert!(!rule.description.is_empty() && !rule.family.is_empty(), "{}", rule.id);
        }
        assert!(file.net.iter().all(|net| ids.insert(&net.id)), "the net has names of its own");
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        assert!(ids.iter().all(|id| id.chars().all(is_plain)), "placeholders need no escapes");
    }

    #[test]
    fn there_are_many_rules_and_all_compile() {
        let rules = Rules::built_in();
        assert!(rules.iter().count() >= 150);
        for rule in rules.iter() {
            assert!(rule.limits.allow.iter().all(|allow| allow.get().pattern_len() == 1));
            if let Shape::Pattern(lazy) | Shape::Value(lazy) = &rule.shape {
                assert!(lazy.get().captures_len() <= 2, "{}: one secret", rule.id);
            }
        }
    }
}
