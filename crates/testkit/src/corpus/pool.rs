//! Text and base64 made once and cut from again and again, so that filling a
//! gigabyte costs little more than copying it.

use crate::json;
use crate::random::Random;

const WORDS: &[&str] = &[
    "request", "response", "parser", "index", "table", "window", "queue", "buffer", "config",
    "module", "branch", "commit", "session", "handler", "socket", "stream", "field", "value",
    "token", "cache", "layout", "widget", "order", "invoice", "basket", "weather", "forecast",
    "station", "reading", "sensor", "report", "filter", "column", "record", "schema", "export",
    "import", "format", "number", "result", "error", "retry", "timeout", "limit", "offset",
];

const CODE: &[&str] = &[
    "    let {a} = self.{b}.{c}()?;",
    "    if {a}.is_empty() { return Err(Error::{B}(\"{c}\")); }",
    "pub fn {a}_{b}(&self, {c}: &str) -> Result<u64> {",
    "}",
    "",
    "    // The {a} must be read before the {b}, else the {c} is lost.",
    "    self.{a}.insert(\"{b}\".to_string(), {c});",
    "        for {a} in &self.{b} { {c} += {a}.len(); }",
    "\tconst {a} = await fetch(`/api/{b}/${id}`).then(r => r.{c}());",
    "    assert_eq!({a}.{b}(), Some({c}));",
];

/// Lines of code-like text, plain and escaped.
#[derive(Debug)]
pub struct Pool {
    plain: String,
    escaped: String,
    /// Start of each line in both.
    starts: Vec<(usize, usize)>,
    base64: String,
}

impl Pool {
    /// A pool that depends on the seed only.
    pub fn new(seed: u64) -> Pool {
        let mut random = Random::named(seed, "pool");
        let mut pool = Pool {
            plain: String::new(),
            escaped: String::new(),
            starts: Vec::new(),
            base64: String::new(),
        };
        for _ in 0..20_000 {
            let line = code_line(&mut random);
            pool.starts.push((pool.plain.len(), pool.escaped.len()));
            json::escape(&line, &mut pool.escaped);
            pool.plain.push_str(&line);
            pool.plain.push('\n');
            pool.escaped.push_str("\\n");
        }
        let bytes: Vec<u8> = (0..390_000).flat_map(|_| random.next().to_le_bytes()).collect();
        pool.base64 = crate::base64::encode(&bytes);
        pool
    }

    /// `n` lines from a random place: number of the first line, and how many.
    pub fn cut(&self, random: &mut Random, n: usize) -> Cut<'_> {
        let n = n.clamp(1, self.starts.len() - 1);
        let first = random.below((self.starts.len() - n) as u64) as usize;
        Cut { pool: self, first, n }
    }

    /// About `bytes` of lines.
    pub fn cut_bytes(&self, random: &mut Random, bytes: usize) -> Cut<'_> {
        let average = self.plain.len() / self.starts.len();
        self.cut(random, bytes / average.max(1))
    }

    /// `len` characters of base64 that begin like a file of the given type.
    pub fn media(&self, random: &mut Random, media_type: &str, len: usize) -> String {
        let head = match media_type {
            "application/pdf" => "JVBERi0xLjcKJcTl8uXr",
            "image/png" => "iVBORw0KGgoAAAANSUhEUgAA",
            _ => "/9j/4AAQSkZJRgABAQAA",
        };
        let len = len / 4 * 4;
        let mut out = String::with_capacity(len + head.len());
        out.push_str(head);
        while out.len() < len {
            let from = random.below(self.base64.len() as u64 / 2) as usize;
            let take = (len - out.len()).min(self.base64.len() - from);
            out.push_str(&self.base64[from..from + take]);
        }
        out
    }
}

/// Some lines of a pool.
#[derive(Clone, Copy, Debug)]
pub struct Cut<'a> {
    pool: &'a Pool,
    first: usize,
    /// Number of lines.
    pub n: usize,
}

impl<'a> Cut<'a> {
    /// The text as the inside of a JSON string.
    pub fn escaped(&self) -> &'a str {
        let end = self.pool.starts.get(self.first + self.n);
        let end = end.map_or(self.pool.escaped.len(), |start| start.1);
        &self.pool.escaped[self.pool.starts[self.first].1..end]
    }

    /// Line `i`, escaped and without its newline.
    pub fn line(&self, i: usize) -> &'a str {
        Cut { first: self.first + i, n: 1, ..*self }.escaped().trim_end_matches("\\n")
    }

    /// The text as Read numbers it, escaped.
    pub fn numbered(&self) -> String {
        let mut out = String::with_capacity(self.escaped().len() + self.n * 9);
        for i in 0..self.n {
            if i > 0 {
                out.push_str("\\n");
            }
            push_number(&mut out, i + 1);
            out.push('→');
            out.push_str(self.line(i));
        }
        out
    }
}

fn push_number(out: &mut String, n: usize) {
    let mut digits = [b' '; 6];
    let (mut rest, mut i) = (n, 6);
    while rest > 0 && i > 0 {
        i -= 1;
        digits[i] = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    out.extend(digits.iter().map(|&b| b as char));
}

fn code_line(random: &mut Random) -> String {
    let template = random.pick(CODE);
    let (a, b, c) = (random.pick(WORDS), random.pick(WORDS), random.pick(WORDS));
    let big = b[..1].to_uppercase() + &b[1..];
    template.replace("{a}", a).replace("{b}", b).replace("{B}", &big).replace("{c}", c)
}

/// A sentence of plain words.
pub fn sentence(random: &mut Random, words: u64) -> String {
    let mut out = String::with_capacity(words as usize * 8);
    for i in 0..words {
        let word = random.pick(WORDS);
        if i > 0 {
            out.push(' ');
        }
        out.push_str(word);
    }
    out[..1].make_ascii_uppercase();
    out.push('.');
    out
}
