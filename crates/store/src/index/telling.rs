//! The words that tell most about a session: those it uses often and few others do.

use hashbrown::{HashMap, HashSet};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::tokenizer::{TokenStream, Tokenizer};
use tantivy::{DocSet, Searcher, TERMINATED, Term};

use super::{Index, IndexError, failure};
use crate::token::{Piece, Words};

/// Of shorter words too many mean too much.
const SHORTEST: usize = 3;

/// So many times as many words as are wanted are looked up: some are used by nobody else.
const SPARE: usize = 4;

/// A count of the words of texts.
#[derive(Default)]
pub(crate) struct Tally {
    words: Words,
    /// For each term in how many texts it is, and how it was first written.
    terms: HashMap<String, (u32, String)>,
}

impl Tally {
    /// Counts the words of one text, each once.
    pub(crate) fn add(&mut self, text: &str) {
        let mut seen: HashSet<String> = HashSet::new();
        let mut stream = self.words.token_stream(text);
        while stream.advance() {
            // The parts of a name tell less than the name.
            if stream.piece() == Some(Piece::Part) {
                continue;
            }
            let token = stream.token();
            let is_word = token.text.chars().count() >= SHORTEST
                && token.text.chars().any(char::is_alphabetic);
            if is_word && !seen.contains(&token.text) {
                seen.insert(token.text.clone());
                let written = || (0, text[token.offset_from..token.offset_to].to_lowercase());
                self.terms.entry(token.text.clone()).or_insert_with(written).0 += 1;
            }
        }
    }
}

impl Index {
    /// The most telling of the words, the best first, as they were written. Each is also said
    /// outside of `own`, the files of the session itself.
    pub(crate) fn telling(
        &self,
        tally: &Tally,
        own: &HashSet<u64>,
        most: usize,
    ) -> Result<Vec<String>, IndexError> {
        self.pick(tally, own, most).map_err(|error| failure(&self.path, error))
    }

    fn pick(&self, tally: &Tally, own: &HashSet<u64>, most: usize) -> tantivy::Result<Vec<String>> {
        let searcher = self.reader.searcher();
        let field = self.fields.said;
        let documents = searcher.num_docs() as f64;
        let mut scored: Vec<(f64, &str, &str)> = Vec::new();
        for (term, (texts, written)) in &tally.terms {
            let frequency = searcher.doc_freq(&Term::from_field_text(field, term));
            let frequency = frequency? as f64;
            if frequency > 0.0 {
                let rarity = (1.0 + documents / frequency).ln();
                scored.push(((1.0 + f64::from(*texts).ln()) * rarity, term, written));
            }
        }
        scored.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
        let mut telling: Vec<String> = Vec::new();
        for (_, term, written) in scored.into_iter().take(SPARE * most) {
            if telling.len() == most {
                break;
            }
            let is_new = telling.iter().all(|known| known != written);
            if is_new && is_elsewhere(&searcher, field, term, own)? {
                telling.push(written.to_owned());
            }
        }
        Ok(telling)
    }
}

fn is_elsewhere(
    searcher: &Searcher,
    field: Field,
    term: &str,
    own: &HashSet<u64>,
) -> tantivy::Result<bool> {
    let term = Term::from_field_text(field, term);
    for reader in searcher.segment_readers() {
        let files = reader.fast_fields().u64("file")?.first_or_default_col(0);
        let postings =
            reader.inverted_index(field)?.read_postings(&term, IndexRecordOption::Basic)?;
        let Some(mut postings) = postings else { continue };
        while postings.doc() != TERMINATED {
            let doc = postings.doc();
            if !reader.is_deleted(doc) && !own.contains(&files.get_val(doc)) {
                return Ok(true);
            }
            postings.advance();
        }
    }
    Ok(false)
}
