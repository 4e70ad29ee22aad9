//! What plain FTS5 finds in the same places: the floor that every ranking has to beat.
//!
//! SQLite's full text search with Porter's stemmer, every word of the question as an alternative,
//! BM25. Turns are ranked as whole turns, entries as entries, sessions as whole sessions; a quote
//! is the first 500 characters of an entry.

use rusqlite::Connection;

use super::ask::{BUDGETS, Outcome};
use super::set::{Dialogue, Question};

/// Three tables of one dialogue.
pub struct Floor(Connection);

/// A quote is not longer.
const QUOTE: usize = 500;

impl Floor {
    /// Indexes a dialogue.
    pub fn of(dialogue: &Dialogue) -> rusqlite::Result<Self> {
        let db = Connection::open_in_memory()?;
        for table in ["session", "turn", "entry"] {
            db.execute_batch(&format!(
                "CREATE VIRTUAL TABLE {table} USING fts5(
                    words, nth UNINDEXED, first UNINDEXED, last UNINDEXED,
                    tokenize = 'porter unicode61')"
            ))?;
        }
        let add = |table: &str, session: usize, lines: &[super::set::Line], first: usize| {
            let words: Vec<&str> = lines.iter().map(|line| &*line.text).collect();
            let last = first + lines.len() - 1;
            let sql = format!("INSERT INTO {table} VALUES (?1, ?2, ?3, ?4)");
            let (session, first, last) = (session as i64, first as i64, last as i64);
            db.execute(&sql, (words.join("\n"), session, first, last)).map(drop)
        };
        for (at, session) in dialogue.sessions.iter().enumerate() {
            add("session", at, &session.lines, 0)?;
            let mut first = 0;
            for turn in session.lines.chunk_by(|_, next| !next.is_prompt) {
                add("turn", at, turn, first)?;
                for (line, one) in (first..).zip(turn) {
                    add("entry", at, std::slice::from_ref(one), line)?;
                }
                first += turn.len();
            }
        }
        Ok(Self(db))
    }

    /// What it finds.
    pub fn ask(&self, question: &Question) -> rusqlite::Result<Outcome> {
        let words = question.text.split(|c: char| !c.is_alphanumeric());
        let words = words.filter(|word| !word.is_empty()).map(|word| format!("\"{word}\""));
        let words = words.collect::<Vec<_>>().join(" OR ");
        let is_evidence = |found: &Found| {
            let holds = |&(session, line): &(usize, usize)| {
                session == found.session && (found.first..=found.last).contains(&line)
            };
            question.evidence.iter().any(holds)
        };
        let place = |found: &[Found]| found.iter().position(is_evidence).map(|at| at + 1);
        let entries = self.best("entry", &words)?;
        Ok(Outcome {
            kind: question.kind.clone(),
            session: place(&self.best("session", &words)?),
            turn: place(&self.best("turn", &words)?),
            entry: place(&entries),
            quoted: BUDGETS.map(|budget| quoted(&entries, budget, question)),
            is_empty: entries.is_empty(),
            ..Outcome::default()
        })
    }

    fn best(&self, table: &str, words: &str) -> rusqlite::Result<Vec<Found>> {
        let sql = format!(
            "SELECT nth, first, last, length(words) FROM {table}
             WHERE {table} MATCH ?1 ORDER BY rank LIMIT 100"
        );
        let mut query = self.0.prepare_cached(&sql)?;
        let rows = query.query_map([words], |row| {
            let number = |at| row.get::<_, i64>(at).map(|number| number as usize);
            let (session, first, last) = (number(0)?, number(1)?, number(2)?);
            Ok(Found { session, first, last, length: number(3)? })
        })?;
        rows.collect()
    }
}

struct Found {
    session: usize,
    first: usize,
    last: usize,
    length: usize,
}

fn quoted(entries: &[Found], budget: usize, question: &Question) -> f64 {
    let mut left = budget;
    let mut count = 0;
    for entry in entries {
        let Some(rest) = left.checked_sub(entry.length.min(QUOTE)) else { break };
        left = rest;
        count += usize::from(question.evidence.contains(&(entry.session, entry.first)));
    }
    count as f64 / question.evidence.len() as f64
}
