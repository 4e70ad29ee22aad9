//! Colours for code.
//!
//! A small scanner that knows what nearly all languages share: comments, strings, numbers and a
//! list of words. It can't be wrong in a way that hides text: it only puts spans around it.

use crate::html::Html;

/// How a language marks its comments.
struct Marks {
    line: &'static [&'static str],
    block: Option<(&'static str, &'static str)>,
    quotes: &'static [char],
}

const SLASHES: Marks =
    Marks { line: &["//"], block: Some(("/*", "*/")), quotes: &['"', '\'', '`'] };
const HASH: Marks = Marks { line: &["#"], block: None, quotes: &['"', '\''] };
const SQL: Marks = Marks { line: &["--"], block: Some(("/*", "*/")), quotes: &['\'', '"'] };
const MARKUP: Marks = Marks { line: &[], block: Some(("<!--", "-->")), quotes: &['"', '\''] };
const JSON: Marks = Marks { line: &[], block: None, quotes: &['"'] };

fn marks(language: &str) -> Option<&'static Marks> {
    Some(match language {
        "rust" => &Marks { line: &["//"], block: Some(("/*", "*/")), quotes: &['"'] },
        "c" | "cpp" | "csharp" | "css" | "dart" | "go" | "java" | "javascript" | "kotlin"
        | "php" | "scala" | "swift" | "typescript" | "zig" => &SLASHES,
        "python" | "ruby" | "shell" | "toml" | "yaml" | "dockerfile" | "make" | "perl" | "r"
        | "elixir" | "nix" => &HASH,
        "sql" | "lua" | "haskell" => &SQL,
        "html" | "xml" | "svelte" | "vue" => &MARKUP,
        "json" => &JSON,
        _ => return None,
    })
}

/// Words that mean the same in most languages.
const WORDS: &[&str] = &[
    "abstract",
    "and",
    "as",
    "async",
    "await",
    "bool",
    "boolean",
    "break",
    "case",
    "catch",
    "char",
    "class",
    "const",
    "continue",
    "crate",
    "def",
    "default",
    "defer",
    "del",
    "do",
    "double",
    "elif",
    "else",
    "end",
    "enum",
    "esac",
    "except",
    "export",
    "extends",
    "false",
    "fi",
    "final",
    "finally",
    "float",
    "fn",
    "for",
    "from",
    "func",
    "function",
    "if",
    "impl",
    "implements",
    "import",
    "in",
    "int",
    "interface",
    "is",
    "lambda",
    "let",
    "long",
    "loop",
    "match",
    "mod",
    "module",
    "move",
    "mut",
    "namespace",
    "new",
    "nil",
    "none",
    "not",
    "null",
    "of",
    "or",
    "override",
    "package",
    "pass",
    "private",
    "protected",
    "pub",
    "public",
    "raise",
    "ref",
    "return",
    "self",
    "short",
    "static",
    "struct",
    "super",
    "switch",
    "then",
    "this",
    "throw",
    "throws",
    "trait",
    "true",
    "try",
    "type",
    "typeof",
    "undefined",
    "union",
    "unsafe",
    "use",
    "using",
    "var",
    "void",
    "when",
    "where",
    "while",
    "with",
    "yield",
    "SELECT",
    "FROM",
    "WHERE",
    "INSERT",
    "INTO",
    "UPDATE",
    "DELETE",
    "CREATE",
    "TABLE",
    "JOIN",
    "ON",
    "ORDER",
    "GROUP",
    "BY",
    "LIMIT",
    "AND",
    "OR",
    "NOT",
    "NULL",
    "VALUES",
    "SET",
    "None",
    "True",
    "False",
    "Self",
];

/// Longer code is not worth the time.
const MOST: usize = 64 << 10;

/// Writes code with its colours.
pub fn code(html: &mut Html, language: &str, text: &str) {
    match marks(language).filter(|_| text.len() <= MOST) {
        Some(marks) => Scan { html, marks, rest: text }.run(),
        None => html.text(text),
    }
}

struct Scan<'a, 't> {
    html: &'a mut Html,
    marks: &'static Marks,
    rest: &'t str,
}

impl Scan<'_, '_> {
    fn run(&mut self) {
        while let Some(c) = self.rest.chars().next() {
            if let Some(length) = self.comment() {
                self.take(length, "hc");
            } else if self.marks.quotes.contains(&c) {
                let length = string(self.rest, c);
                self.take(length, "hs");
            } else if c.is_ascii_digit() {
                let is_number = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_');
                let length = self.rest.find(|c| !is_number(c)).unwrap_or(self.rest.len());
                self.take(length, "hn");
            } else if c.is_alphabetic() || c == '_' {
                let is_word = |c: char| c.is_alphanumeric() || c == '_';
                let length = self.rest.find(|c| !is_word(c)).unwrap_or(self.rest.len());
                let class = if WORDS.contains(&&self.rest[..length]) { "hk" } else { "" };
                self.take(length, class);
            } else {
                self.take(self.plain(c), "");
            }
        }
    }

    fn comment(&self) -> Option<usize> {
        let to_line_end = || self.rest.find('\n').unwrap_or(self.rest.len());
        if self.marks.line.iter().any(|mark| self.rest.starts_with(mark)) {
            return Some(to_line_end());
        }
        let (open, close) = self.marks.block.filter(|(open, _)| self.rest.starts_with(open))?;
        let end = self.rest[open.len()..].find(close);
        Some(end.map_or(self.rest.len(), |end| open.len() + end + close.len()))
    }

    /// Everything up to something that may mean more.
    fn plain(&self, first: char) -> usize {
        let may_begin = |c: char| {
            c.is_alphanumeric()
                || matches!(c, '_' | '/' | '#' | '-' | '<')
                || self.marks.quotes.contains(&c)
        };
        let from = first.len_utf8();
        self.rest[from..].find(may_begin).map_or(self.rest.len(), |at| from + at)
    }

    fn take(&mut self, length: usize, class: &'static str) {
        let (now, rest) = self.rest.split_at(length);
        match class {
            "" => self.html.text(now),
            class => self.html.words("span", class, now),
        }
        self.rest = rest;
    }
}

/// The length of a string that begins here; one that does not end is taken for its quote alone.
fn string(text: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '\n' if quote != '`' => break,
            c if c == quote => return at + c.len_utf8(),
            _ => {}
        }
    }
    quote.len_utf8()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn html(language: &str, input: &str) -> String {
        let mut html = Html::new();
        code(&mut html, language, input);
        html.into_string()
    }

    #[test]
    fn words_strings_numbers_comments() {
        let rust = "let x = \"<a>\"; // 1\n";
        assert_eq!(
            html("rust", rust),
            "<span class=\"hk\">let</span> x = <span class=\"hs\">&quot;&lt;a&gt;&quot;</span>; \
             <span class=\"hc\">// 1</span>\n"
        );
        assert_eq!(html("rust", "&'a str"), "&amp;&#39;a str");
        assert_eq!(html("nothing", "let"), "let");
        assert_eq!(html("python", "\"open"), "<span class=\"hs\">&quot;</span>open");
    }

    /// Nothing is lost, whatever the code.
    #[test]
    fn all_of_it_is_there() {
        for text in ["é\"\\", "/*", "#", "'", "0x1f.é", "a`b\n`", "<!-- -", "-- x"] {
            for language in ["rust", "go", "python", "sql", "html", "json"] {
                let mut plain = Html::new();
                plain.text(text);
                let spans = html(language, text);
                let mut left = String::new();
                let mut is_tag = false;
                for c in spans.chars() {
                    match c {
                        '<' => is_tag = true,
                        '>' if is_tag => is_tag = false,
                        c if !is_tag => left.push(c),
                        _ => {}
                    }
                }
                assert_eq!(left, plain.as_str(), "{language}: {text}");
            }
        }
    }
}
