//! The fields of a document.

use tantivy::Term;
use tantivy::schema::{
    Field, IndexRecordOption, NumericOptions, Schema, TextFieldIndexing, TextOptions,
};
use tantivy::tokenizer::TextAnalyzer;
use transcript::time::Time;

use crate::query::Role;
use crate::token;

#[derive(Debug, Clone, Copy)]
pub(super) struct Fields {
    pub(super) said: Field,
    pub(super) done: Field,
    pub(super) file: Field,
    pub(super) entry: Field,
    pub(super) turn: Field,
    pub(super) role: Field,
    /// In seconds: nobody asks for less, and a thousandth of the range takes ten bits less.
    pub(super) time: Field,
    pub(super) tool: Field,
    pub(super) path: Field,
    pub(super) error: Field,
}

pub(super) fn schema() -> (Schema, Fields) {
    let mut builder = Schema::builder();
    let words = |option| {
        let indexing =
            TextFieldIndexing::default().set_tokenizer(token::NAME).set_index_option(option);
        TextOptions::default().set_indexing_options(indexing)
    };
    let raw = || {
        let indexing = TextFieldIndexing::default()
            .set_tokenizer("raw")
            .set_fieldnorms(false)
            .set_index_option(IndexRecordOption::Basic);
        TextOptions::default().set_indexing_options(indexing)
    };
    let fast = NumericOptions::default().set_fast();
    let indexed = || NumericOptions::default().set_fast().set_indexed();
    let fields = Fields {
        said: builder.add_text_field("said", words(IndexRecordOption::WithFreqsAndPositions)),
        done: builder.add_text_field("done", words(IndexRecordOption::WithFreqs)),
        file: builder.add_u64_field("file", indexed()),
        entry: builder.add_u64_field("entry", fast.clone()),
        turn: builder.add_u64_field("turn", fast.clone()),
        role: builder.add_u64_field("role", indexed()),
        time: builder.add_i64_field("time", fast),
        tool: builder.add_text_field("tool", raw()),
        path: builder.add_text_field("path", raw()),
        error: builder.add_u64_field("error", NumericOptions::default().set_indexed()),
    };
    (builder.build(), fields)
}

pub(super) fn register(index: &tantivy::Index) {
    index.tokenizers().register(token::NAME, TextAnalyzer::from(token::Words::default()));
}

impl Fields {
    pub(super) fn text(&self, role: Role) -> Field {
        match role {
            Role::Call | Role::Output => self.done,
            _ => self.said,
        }
    }

    pub(super) fn role_term(&self, role: Role) -> Term {
        Term::from_field_u64(self.role, role as u64)
    }

    pub(super) fn failed(&self) -> Term {
        Term::from_field_u64(self.error, 1)
    }
}

/// What a role's number stands for.
pub(super) fn role(number: u64) -> Option<Role> {
    Role::ALL.get(usize::try_from(number).ok()?).copied()
}

pub(super) fn seconds(time: Time) -> i64 {
    time.0.div_euclid(1000)
}

/// A path from its end, `main.rs/src/home`, in small letters: the end of a path is then the
/// beginning of a term.
pub(crate) fn reversed(path: &str) -> String {
    let mut out = String::with_capacity(path.len() + 1);
    for piece in path.rsplit(['/', '\\']).filter(|piece| !piece.is_empty()) {
        out.push_str(&piece.to_lowercase());
        out.push('/');
    }
    out
}
