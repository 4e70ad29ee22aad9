//! Text into terms, the same way for what is indexed and for what is asked.
//!
//! A word is lower-cased, stripped of accents and stemmed. An identifier is both its parts, each
//! a word at its own position, and the whole without its joints at the position of the first, so
//! that `file_name`, `fileName`, `file-name` and `filename` are one term. Hashes and UUIDs keep
//! their first seven digits: short and long forms of a commit meet, and the dictionary is spared
//! thirty bytes for each. Text without spaces (Chinese, Japanese, Korean, Thai) gives pairs of
//! characters. Base64, times of day and the line numbers of file listings give nothing.

mod scan;
mod stem;

use tantivy::tokenizer::{Token, TokenStream, Tokenizer};

use scan::{Found, Kind, Scanner};
use std::ops::Range;
use stem::Stems;

/// The name the tokenizer has in the index.
pub(crate) const NAME: &str = "words";

/// Longer wholes are no names a person would type.
const LONGEST: usize = 64;

/// Splits text into terms; keeps the stems of frequent words between texts.
#[derive(Clone, Default)]
pub struct Words {
    stems: Stems,
    parts: Vec<Range<usize>>,
    token: Token,
}

impl Words {
    /// For one short text: quickly made, and slower with each word.
    pub fn brief() -> Self {
        Self { stems: Stems::few(), parts: Vec::new(), token: Token::default() }
    }
}

impl Tokenizer for Words {
    type TokenStream<'a> = Stream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Stream<'a> {
        self.parts.clear();
        self.token.reset();
        Stream { scanner: Scanner::new(text), text, words: self, next: 0, position: 0, piece: None }
    }
}

/// The terms of one text.
pub struct Stream<'a> {
    scanner: Scanner<'a>,
    text: &'a str,
    words: &'a mut Words,
    /// The next of `words.parts`.
    next: usize,
    /// The next free position.
    position: usize,
    piece: Option<Piece>,
}

/// What a term is of its word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece {
    /// All of it.
    Only,
    /// The whole identifier, without its joints.
    Whole,
    /// One part of the identifier.
    Part,
}

impl Stream<'_> {
    /// What the current term is of its word.
    pub fn piece(&self) -> Option<Piece> {
        self.piece
    }

    fn emit(&mut self, range: Range<usize>, kind: Kind, piece: Piece) {
        let token = &mut self.words.token;
        token.offset_from = range.start;
        token.offset_to = range.end;
        token.position = self.position;
        self.position += usize::from(piece != Piece::Whole);
        self.piece = Some(piece);
        let slice = &self.text[range];
        match kind {
            Kind::Plain => self.words.stems.plain(slice, &mut token.text),
            Kind::Word => self.words.stems.word(slice, &mut token.text),
            Kind::Cut(length) => {
                stem::fold(slice, &mut token.text);
                stem::shorten(&mut token.text, length);
            }
            Kind::Kept => stem::fold(slice, &mut token.text),
        }
    }

    fn emit_part(&mut self) -> bool {
        let Some(range) = self.words.parts.get(self.next).cloned() else {
            return false;
        };
        self.next += 1;
        let kind = scan::kind_of(&self.text.as_bytes()[range.clone()]);
        self.emit(range, kind, Piece::Part);
        true
    }

    /// A whole that is short enough is a term of its own.
    fn start_identifier(&mut self, range: Range<usize>) -> bool {
        self.next = 0;
        let is_name = self.words.parts.len() <= 8 && range.len() <= LONGEST;
        if is_name {
            self.emit(range, Kind::Word, Piece::Whole);
        }
        is_name
    }
}

impl TokenStream for Stream<'_> {
    fn advance(&mut self) -> bool {
        loop {
            if self.emit_part() {
                return true;
            }
            self.words.parts.clear();
            self.next = 0;
            match self.scanner.next(&mut self.words.parts) {
                None => return false,
                Some(Found::One(range, kind)) => {
                    self.emit(range, kind, Piece::Only);
                    return true;
                }
                Some(Found::Identifier(range)) if self.start_identifier(range.clone()) => {
                    return true;
                }
                Some(Found::Identifier(_) | Found::Pairs) => {}
            }
        }
    }

    fn token(&self) -> &Token {
        &self.words.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.words.token
    }
}

/// A word of a question with the terms it stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// Where it stands in the question.
    pub at: Range<usize>,
    /// The whole of an identifier.
    pub whole: Option<String>,
    /// The word, or the identifier's parts; never empty.
    pub parts: Vec<String>,
}

/// The words of a question. Pairs of characters that overlap are parts of one word.
pub fn words(text: &str) -> Vec<Word> {
    let mut tokenizer = Words::brief();
    let mut stream = tokenizer.token_stream(text);
    let mut found: Vec<Word> = Vec::new();
    while stream.advance() {
        let piece = stream.piece();
        let token = stream.token();
        let at = token.offset_from..token.offset_to;
        let joins = piece == Some(Piece::Part) && found.last().is_some_and(|w| at.start < w.at.end);
        match found.last_mut() {
            Some(word) if joins => {
                word.at.end = word.at.end.max(at.end);
                word.parts.push(token.text.clone());
            }
            _ if piece == Some(Piece::Whole) => {
                found.push(Word { at, whole: Some(token.text.clone()), parts: Vec::new() });
            }
            _ => found.push(Word { at, whole: None, parts: vec![token.text.clone()] }),
        }
    }
    found
}

/// A word without accents, capitals and joints, but with its ending.
pub(crate) fn folded(word: &str) -> String {
    let mut out = String::new();
    stem::fold(word, &mut out);
    out
}

#[cfg(test)]
mod tests;
