//! Secrets that nobody ever had: templates of the data file, filled in from a seed.
//!
//! What looks like a secret can't stand in the repository, or every scanner reports it; so tests
//! and the benchmark make what they plant.

/// A small generator; the same seed gives the same texts.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// A generator of its own sequence for each seed.
    pub fn new(seed: u64) -> Self {
        Self(seed ^ 0x9e37_79b9_7f4a_7c15)
    }

    /// A number below `end`, which is not 0.
    pub fn below(&mut self, end: usize) -> usize {
        // splitmix64
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % end as u64) as usize
    }
}

/// A template filled in, and the parts that were made up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sample {
    /// The whole.
    pub text: String,
    /// What was made up, in order.
    pub parts: Vec<String>,
}

/// Fills in a template: `{a-f0-9:32}` is 32 characters of a class, `{{` and `}}` are braces.
pub fn fill(template: &str, random: &mut Random) -> Sample {
    let mut sample = Sample { text: String::new(), parts: Vec::new() };
    let mut rest = template;
    while let Some(at) = rest.find(['{', '}']) {
        sample.text.push_str(&rest[..at]);
        let brace = &rest[at..at + 1];
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix(brace) {
            sample.text.push_str(brace);
            rest = after;
            continue;
        }
        let Some((class, after)) = rest.split_once('}') else { break };
        let (class, count) = class.rsplit_once(':').unwrap_or((class, "1"));
        let part = some(&chars(class), count.parse().unwrap_or(1), random);
        sample.text.push_str(&part);
        sample.parts.push(part);
        rest = after;
    }
    sample.text.push_str(rest);
    sample
}

/// The characters of a class like `A-Z2-7_`.
fn chars(class: &str) -> Vec<char> {
    let all: Vec<char> = class.chars().collect();
    let mut chars = Vec::new();
    let mut at = 0;
    while at < all.len() {
        match all[at..] {
            [first, '-', last, ..] => {
                chars.extend(first..=last);
                at += 3;
            }
            [one, ..] => {
                chars.push(one);
                at += 1;
            }
            [] => {}
        }
    }
    chars
}

/// Characters of a class, with a letter and a digit among them if the class has both: that is how
/// nearly all secrets are, and a test must not depend on chance.
fn some(class: &[char], count: usize, random: &mut Random) -> String {
    if class.is_empty() {
        return String::new();
    }
    loop {
        let part: String = (0..count).map(|_| class[random.below(class.len())]).collect();
        let has = |is: fn(&char) -> bool| !class.iter().any(is) || part.chars().any(|c| is(&c));
        let is_wordy = class.iter().any(char::is_ascii_alphanumeric);
        let edge = |c: Option<char>| c.is_none_or(|c| !is_wordy || c.is_ascii_alphanumeric());
        let is_typical = has(char::is_ascii_digit) && has(char::is_ascii_alphabetic);
        let is_whole = edge(part.chars().next()) && edge(part.chars().last());
        if count < 8 || is_typical && is_whole {
            return part;
        }
    }
}

/// A secret put where secrets are found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Planted {
    /// The rule that it was made for.
    pub rule: String,
    /// The text around it and itself.
    pub text: String,
    /// What must not be left of it; numbers may be, they are ids.
    pub secrets: Vec<String>,
}

/// Where a secret with a shape of its own may stand.
const AROUND: [(&str, &str); 12] = [
    ("let key = \"", "\";\n"),
    ("client = Client('", "')\n"),
    ("{\"type\":\"text\",\"text\":\"use ", " now\"}\n"),
    ("{\\\"a\\\": \\\"", "\\\"}\n"),
    ("export THING=", "\n"),
    ("$ run --with ", " --now\n"),
    ("2026-01-02T03:04:05Z INFO got ", " from upstream\n"),
    ("thing: ", "\n"),
    ("first line\\n", "\\nlast line"),
    ("GET /v1/x?a=1&thing=", "&b=2 HTTP/1.1\n"),
    ("    12\u{2192}", "\n"),
    ("\u{1b}[32m", "\u{1b}[0m\n"),
];

/// Ways to assign a value to a name.
const ASSIGN: [(&str, &str, &str); 8] = [
    ("", "=", "\n"),
    ("export ", "=\"", "\"\n"),
    ("  ", ": ", "\n"),
    ("{\"", "\": \"", "\"}\n"),
    ("{\\\"", "\\\":\\\"", "\\\"}\n"),
    ("const ", " = '", "';\n"),
    ("2026-01-02 env ", "=", " set\n"),
    ("docker run -e ", "=", " image\n"),
];

/// Secrets of every rule in every place that suits them.
pub fn plant(rules: &super::Rules, seed: u64) -> Vec<Planted> {
    let mut random = Random::new(seed);
    let mut planted = Vec::new();
    for rule in rules.iter() {
        for template in &rule.examples {
            let mut add = |template: &str| {
                let Sample { text, parts } = fill(template, &mut random);
                let is_secret =
                    |part: &String| part.len() >= 8 && part.bytes().any(|b| !b.is_ascii_digit());
                let secrets = parts.into_iter().filter(is_secret).collect();
                planted.push(Planted { rule: rule.id.clone(), text, secrets });
            };
            match assignment(template) {
                Some((name, value)) => {
                    for (before, between, after) in ASSIGN {
                        let [before, between, after] = [before, between, after].map(escaped);
                        add(&format!("{before}{name}{between}{value}{after}"));
                    }
                }
                None => {
                    for (before, after) in AROUND {
                        add(&format!("{}{template}{}", escaped(before), escaped(after)));
                    }
                }
            }
        }
    }
    planted
}

/// A template of the form `NAME=value`.
fn assignment(template: &str) -> Option<(&str, &str)> {
    let (name, value) = template.split_once('=')?;
    let is_name = |b: u8| b.is_ascii_uppercase() || b == b'_';
    (name.bytes().all(is_name) && !value.contains(' ')).then_some((name, value))
}

/// Braces doubled, so that they stay.
fn escaped(text: &str) -> String {
    text.replace('{', "{{").replace('}', "}}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_are_filled_in() {
        let sample = fill("a{{x}}-{0-1:9}{_-:3}!", &mut Random::new(1));
        assert!(sample.text.starts_with("a{x}-") && sample.text.ends_with('!'));
        assert_eq!(sample.parts.iter().map(String::len).collect::<Vec<_>>(), [9, 3]);
        assert!(sample.parts[0].chars().all(|c| c == '0' || c == '1'));
        assert!(sample.parts[1].chars().all(|c| c == '_' || c == '-'));
        assert_eq!(fill("plain", &mut Random::new(1)).text, "plain");
    }

    #[test]
    fn a_seed_gives_the_same_again() {
        let text = |seed| fill("{a-z0-9:40}", &mut Random::new(seed)).text;
        assert_eq!(text(7), text(7));
        assert_ne!(text(7), text(8));
    }
}
