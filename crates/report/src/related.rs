//! Sessions that are like another one: they changed the same files, and files that few others
//! changed count most; or they say the same words.
//!
//! By files each session is a vector of the rarities of its files, and likeness is the cosine
//! between two. What was said is ranked by the index. A cosine and a rank can't be added, so the
//! two orders are joined by their ranks.

use std::collections::{BTreeSet, HashMap};

/// A session that is like the one that was asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Related<'a> {
    /// Its id.
    pub session: &'a str,
    /// How like it is by its files: 1 if it changed the same ones and no others.
    pub score: f64,
    /// The files that both changed, the rarest first.
    pub shared: Vec<&'a str>,
    /// The telling words that both say, the most telling first.
    pub words: Vec<&'a str>,
}

/// The constant of reciprocal rank fusion, as in the search.
const FUSION: f64 = 60.0;

/// One word in common is chance.
const WORDS_LEAST: usize = 2;

/// Both orders as one: sessions like another by their files, and those like it by their words.
pub fn fused<'a>(
    files: Vec<Related<'a>>,
    words: impl IntoIterator<Item = (&'a str, Vec<&'a str>)>,
) -> Vec<Related<'a>> {
    let worth = |rank: usize| 1.0 / (FUSION + rank as f64 + 1.0);
    let mut all: HashMap<&str, (f64, Related<'a>)> = files
        .into_iter()
        .enumerate()
        .map(|(rank, related)| (related.session, (worth(rank), related)))
        .collect();
    for (rank, (session, words)) in words.into_iter().enumerate() {
        match all.get_mut(session) {
            Some((sum, related)) => {
                *sum += worth(rank);
                related.words = words;
            }
            None if words.len() >= WORDS_LEAST => {
                let related = Related { session, score: 0.0, shared: Vec::new(), words };
                all.insert(session, (worth(rank), related));
            }
            None => {}
        }
    }
    let mut all: Vec<(f64, Related<'a>)> = all.into_values().collect();
    all.sort_by(|(a, one), (b, other)| {
        b.total_cmp(a)
            .then_with(|| other.score.total_cmp(&one.score))
            .then_with(|| one.session.cmp(other.session))
    });
    all.into_iter().map(|(_, related)| related).collect()
}

/// The sessions like `session`, the most like it first, out of all pairs of a session and a file
/// that it changed.
pub fn related<'a>(
    pairs: impl IntoIterator<Item = (&'a str, &'a str)>,
    session: &str,
) -> Vec<Related<'a>> {
    let mut files: HashMap<&str, BTreeSet<&str>> = HashMap::new();
    for (session, path) in pairs {
        files.entry(session).or_default().insert(path);
    }
    let Some(wanted) = files.remove(session) else { return Vec::new() };
    let rarity = Rarity::new(files.values().chain([&wanted]));
    let length = rarity.length(&wanted);
    let like = |(session, its): (&&'a str, &BTreeSet<&'a str>)| {
        let mut shared: Vec<&'a str> = its.intersection(&wanted).copied().collect();
        let product: f64 = shared.iter().map(|path| rarity.of(path).powi(2)).sum();
        shared.sort_by(|a, b| rarity.of(b).total_cmp(&rarity.of(a)).then_with(|| a.cmp(b)));
        let score = product / (length * rarity.length(its));
        Related { session, score, shared, words: Vec::new() }
    };
    let mut all: Vec<Related<'_>> =
        files.iter().filter(|(_, its)| !its.is_disjoint(&wanted)).map(like).collect();
    all.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.session.cmp(b.session)));
    all
}

/// How rare each file is.
struct Rarity<'a> {
    sessions: f64,
    changed: HashMap<&'a str, f64>,
}

impl<'a> Rarity<'a> {
    fn new<'b>(files: impl Iterator<Item = &'b BTreeSet<&'a str>>) -> Self
    where
        'a: 'b,
    {
        let mut rarity = Self { sessions: 0.0, changed: HashMap::new() };
        for its in files {
            rarity.sessions += 1.0;
            its.iter().for_each(|path| *rarity.changed.entry(path).or_default() += 1.0);
        }
        rarity
    }

    /// Never 0: a file that all sessions changed is still one that two share.
    fn of(&self, path: &str) -> f64 {
        (1.0 + self.sessions / self.changed.get(path).copied().unwrap_or(1.0)).ln()
    }

    fn length(&self, files: &BTreeSet<&str>) -> f64 {
        files.iter().map(|path| self.of(path).powi(2)).sum::<f64>().sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAIRS: [(&str, &str); 9] = [
        ("a", "/readme"),
        ("a", "/rare"),
        ("b", "/readme"),
        ("c", "/rare"),
        ("c", "/readme"),
        ("c", "/rare"),
        ("d", "/readme"),
        ("d", "/rare"),
        ("e", "/other"),
    ];

    #[test]
    fn rare_files_count_more() {
        let all = related(PAIRS, "a");
        let text: Vec<String> = all
            .iter()
            .map(|r| format!("{} {:.2} {}", r.session, r.score, r.shared.join(" ")))
            .collect();
        assert_eq!(text, ["c 1.00 /rare /readme", "d 1.00 /rare /readme", "b 0.64 /readme"]);
    }

    #[test]
    fn files_and_words_count_by_their_ranks() {
        let words = [("e", vec!["quartz", "zebra"]), ("d", vec!["zebra"]), ("x", vec!["zebra"])];
        let all = fused(related(PAIRS, "a"), words);
        let text: Vec<String> = all
            .iter()
            .map(|r| {
                format!("{} {:.2} {} {}", r.session, r.score, r.shared.len(), r.words.join(" "))
            })
            .collect();
        // `d` is in both; `e` and `c` are first of one each; `x` has one word only.
        assert_eq!(text, ["d 1.00 2 zebra", "c 1.00 2 ", "e 0.00 0 quartz zebra", "b 0.64 1 "]);
    }

    #[test]
    fn who_changed_nothing_is_like_nobody() {
        assert_eq!(related(PAIRS, "x"), []);
        assert_eq!(related(PAIRS, "e"), []);
    }
}
