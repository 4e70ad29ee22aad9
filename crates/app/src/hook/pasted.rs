//! Texts in a prompt that may occur verbatim in an earlier session: pasted error messages, and
//! names that do not occur in ordinary sentences.

use store::find::Extent;

/// At most this many of each are looked for.
const MAX_MESSAGES: usize = 3;
const MAX_NAMES: usize = 4;
/// In a longer prompt, such as a pasted log, names say nothing.
const MAX_WORDS_WITH_NAMES: usize = 200;
/// More lines are not read.
const MAX_LINES: usize = 2_000;
/// Shorter texts are too common to search for, longer ones are not error messages.
const MESSAGE_BYTES: std::ops::RangeInclusive<usize> = 12..=400;

/// Lines with one of these tell what went wrong, wherever they begin.
const PHRASES: [&str; 12] = [
    "panicked at",
    "command not found",
    "No such file or directory",
    "Permission denied",
    "undefined reference",
    "cannot find",
    "could not find",
    "Segmentation fault",
    "unexpected token",
    "is not defined",
    "has no attribute",
    "no field",
];

/// A text to look for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pasted<'a> {
    /// The text.
    pub text: &'a str,
    /// How much of it has to be there.
    pub extent: Extent,
}

/// What to look for, the most telling first.
pub fn texts(prompt: &str) -> Vec<Pasted<'_>> {
    let mut messages: Vec<&str> = Vec::new();
    // The last line of a trace says most.
    for message in prompt.lines().rev().take(MAX_LINES).filter_map(message) {
        if !messages.contains(&message) && messages.len() < MAX_MESSAGES {
            messages.push(message);
        }
    }
    let mut all: Vec<Pasted<'_>> =
        messages.into_iter().map(|text| Pasted { text, extent: Extent::Message }).collect();
    if prompt.split_whitespace().nth(MAX_WORDS_WITH_NAMES).is_none() {
        let mut names: Vec<&str> = names(prompt).collect();
        names.sort_by_key(|name| std::cmp::Reverse(name.len()));
        names.dedup();
        let is_new = |name: &&str| !all.iter().any(|one| one.text.contains(name));
        let names: Vec<&str> = names.into_iter().filter(is_new).take(MAX_NAMES).collect();
        all.extend(names.into_iter().map(|text| Pasted { text, extent: Extent::Name }));
    }
    all
}

/// The error message in a line.
fn message(line: &str) -> Option<&str> {
    let words = line.split_whitespace();
    let begins = words.map(|word| (word.as_ptr() as usize - line.as_ptr() as usize, word));
    let message = begins.into_iter().find_map(|(at, word)| {
        let bare = word.trim_start_matches(['"', '\'', '`', '(', '[', '\u{201c}']);
        let start = at + word.len() - bare.len();
        is_error_word(bare).then(|| unquoted(line, start))
    });
    let whole = || PHRASES.iter().any(|phrase| line.contains(phrase)).then(|| line.trim());
    let message = message.or_else(whole)?;
    let words = message.split_whitespace().count();
    let has_class = message.split(':').next().is_some_and(is_class);
    let is_telling = words >= 3 || words == 2 && has_class;
    (is_telling && MESSAGE_BYTES.contains(&message.len())).then_some(message)
}

/// The text after a position, up to the closing quote if a quote was opened before it.
fn unquoted(line: &str, start: usize) -> &str {
    let close = match line[..start].chars().next_back() {
        Some('\u{201c}') => '\u{201d}',
        Some(quote @ ('"' | '\'' | '`')) => quote,
        _ => return line[start..].trim_end(),
    };
    let text = &line[start..];
    text.find(close).map_or(text, |end| &text[..end]).trim_end()
}

/// `NameError:`, `error[E0425]:`, `fatal:`, `ENOENT:`.
fn is_error_word(word: &str) -> bool {
    let Some(stem) = word.strip_suffix(':') else { return false };
    let is_plain = ["error", "Error", "ERROR", "fatal", "FATAL", "panic"].contains(&stem);
    is_plain || is_class(stem) || stem.starts_with("error[") || is_errno(stem)
}

fn is_class(word: &str) -> bool {
    let ends = ["Error", "Exception", "Warning", "Panic", "Fault"];
    ends.iter().any(|end| word.len() > end.len() && word.ends_with(end))
        && word.chars().all(|c| c.is_alphanumeric() || "_.:".contains(c))
}

fn is_errno(word: &str) -> bool {
    word.len() >= 5 && word.starts_with('E') && word.chars().all(|c| c.is_ascii_uppercase())
}

/// The names in a text: `snake_case`, `camelCase`, `ThreeHumpedClass`, `E0425`, `PROJ-123`. File
/// names are left out: the history of a file is shown when the agent opens it.
fn names(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let mut end = 0;
    text.split(move |c: char| !is_part(c)).filter_map(move |run| {
        let start = end;
        end =
            start + run.len() + text[start + run.len()..].chars().next().map_or(0, char::len_utf8);
        let run_end = start + run.len();
        let is_path = text[..start].ends_with(['/', '\\'])
            || text[run_end..].starts_with(['/', '\\'])
            || has_ending(&text[run_end..]);
        let name = run.trim_matches('-');
        (!is_path && is_name(name)).then_some(name)
    })
}

/// Whether a text begins with the ending of a file name: `.py`, but not `.call()`.
fn has_ending(text: &str) -> bool {
    let Some(rest) = text.strip_prefix('.') else { return false };
    let length = rest.chars().take_while(char::is_ascii_alphanumeric).count();
    (1..=5).contains(&length) && !rest[length..].starts_with(['(', '_', '.'])
}

fn is_name(word: &str) -> bool {
    if word.contains('-') {
        return is_ticket(word);
    }
    if word.len() < 5 || word.len() > 80 || !word.contains(|c: char| c.is_ascii_alphabetic()) {
        return false;
    }
    let parts = word.split('_').filter(|part| !part.is_empty()).count();
    parts >= 2 && word.len() >= 6 || is_humped(word) || is_code(word)
}

/// `parseBudget`, `UserPromptSubmit`; not `macOS` or `GitHub`, which are ordinary words.
fn is_humped(word: &str) -> bool {
    let bytes = word.as_bytes();
    if !bytes.iter().all(u8::is_ascii_alphanumeric) {
        return false;
    }
    let is_hump = |pair: &&[u8]| pair[0].is_ascii_uppercase() && pair[1].is_ascii_lowercase();
    let humps = bytes.windows(2).filter(is_hump).count();
    match bytes[0].is_ascii_lowercase() {
        true => humps >= 1 && word.len() >= 8 && bytes[1].is_ascii_lowercase(),
        false => humps >= 3,
    }
}

/// `E0425`, `TS2322`: a few capitals, then digits.
fn is_code(word: &str) -> bool {
    let digits = word.trim_start_matches(|c: char| c.is_ascii_uppercase());
    let letters = word.len() - digits.len();
    (1..=5).contains(&letters) && digits.len() >= 3 && digits.bytes().all(|b| b.is_ascii_digit())
}

/// `PROJ-123`, `CVE-2024-3094`.
fn is_ticket(word: &str) -> bool {
    let mut parts = word.split('-');
    let first = parts.next().unwrap_or_default();
    let is_key = first.len() >= 2 && first.bytes().all(|b| b.is_ascii_uppercase());
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    is_key && parts.all(is_number) && word.len() >= 6
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(prompt: &str) -> Vec<&str> {
        texts(prompt).into_iter().map(|one| one.text).collect()
    }

    #[test]
    fn messages_are_taken_out_of_what_is_around_them() {
        assert_eq!(
            found("I get `NameError: name 'add' is not defined` again"),
            ["NameError: name 'add' is not defined"]
        );
        assert_eq!(
            found("Traceback (most recent call last):\n  File \"a.py\"\nKeyError: 'user'\n"),
            ["KeyError: 'user'"]
        );
        assert_eq!(
            found("error[E0425]: cannot find value `x` in this scope\n --> src/main.rs:3:5"),
            ["error[E0425]: cannot find value `x` in this scope"]
        );
        assert_eq!(found("bash: frobnicate: command not found")[0].len(), 35);
        assert_eq!(
            found("npm: ENOENT: no such file, open 'x'"),
            ["ENOENT: no such file, open 'x'"]
        );
        let log = "error: one went wrong here\n".repeat(9) + "fatal: the last one is this";
        assert_eq!(found(&log), ["fatal: the last one is this", "error: one went wrong here"]);
    }

    #[test]
    fn names_are_what_no_sentence_has() {
        assert_eq!(
            found("what does retry_budget do with parseBudget?"),
            ["retry_budget", "parseBudget"]
        );
        assert_eq!(
            found("why E0425 in UserPromptSubmit, see PROJ-123"),
            ["UserPromptSubmit", "PROJ-123", "E0425"]
        );
        assert_eq!(found("call max_turns.unwrap() there"), ["max_turns"]);
    }

    #[test]
    fn ordinary_words_and_files_are_nothing() {
        for prompt in [
            "write a README for macOS and GitHub, with TypeScript and an iPhone",
            "look at src/my_module/test_it.py and docs/a_b/",
            "the follow-up is well-known, UTF-8, 2026-04-20, v1.2.3, 100%",
            "error: no",
            "explain this error",
            "Error handling is missing: add it",
            "__init__ _ __",
            "",
        ] {
            assert_eq!(found(prompt), [""; 0], "{prompt}");
        }
    }
}
