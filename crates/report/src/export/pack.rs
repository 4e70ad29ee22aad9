//! A session in one file: the page, and its records packed behind it.
//!
//! Each piece of the text is deflated and written as base64 into an element that shows nothing;
//! the page's code unpacks the pieces that are looked at. So a file of a long session is small,
//! and opens at once. The first piece, if it is short, is also there as it is, for readers without
//! code.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::{Compress, Compression, FlushCompress, Status};

use crate::html::Html;
use crate::page::Style;
use crate::page::document::{Frame, document};
use crate::page::session::{self, Head, TurnLine};

use super::tally::Tally;

/// How well pieces are packed.
const LEVEL: u32 = 6;

/// A piece of the text.
#[derive(Debug)]
pub struct Piece {
    /// The numbers of its first and last entries.
    pub span: (u32, u32),
    /// How many records it has.
    pub records: usize,
}

/// The page around the pieces.
#[derive(Debug)]
pub struct Page<'a> {
    /// Where styles and code are.
    pub frame: Frame,
    /// The head of the text.
    pub head: &'a Head,
    /// The margin.
    pub turns: &'a [TurnLine],
    /// The map beside the text.
    pub map: &'a Html,
    /// How it looks.
    pub style: &'a Style,
    /// The pieces.
    pub pieces: &'a [Piece],
    /// The first of them, to be seen at once.
    pub first: &'a Html,
    /// What is not there.
    pub tally: &'a Tally,
    /// What else is to be said at the end.
    pub notes: &'a [String],
}

impl Page<'_> {
    /// What stands before the packed pieces, and what stands behind them.
    pub fn around(&self) -> (String, &'static str) {
        const END: &str = "</body></html>";
        let page = document(self.frame, &self.head.title, |html| self.main(html));
        let mut page = page.into_string();
        page.truncate(page.len() - END.len());
        (page, END)
    }

    fn main(&self, html: &mut Html) {
        html.within("main", "session", |html| {
            session::margin(html, self.turns);
            html.add(self.map);
            let text = html.tag("div").class("text").attr("id", "text").attr("data-source", "file");
            text.show("data-d", self.style.detail as u8).with(|html| {
                session::head(html, self.head, self.style);
                for (number, piece) in self.pieces.iter().enumerate() {
                    self.section(html, number, piece);
                }
                foot(html, self.tally, self.style, self.notes);
            });
            session::facts(html, self.head, self.style, session::here);
        });
    }

    fn section(&self, html: &mut Html, number: usize, piece: &Piece) {
        let open = html.tag("section").class("piece").show("id", format_args!("piece-{number}"));
        let open = open.show("data-piece", number).show("data-first", piece.span.0);
        let open = open.show("data-last", piece.span.1).show("data-records", piece.records);
        // A first piece that is too long to be here is unpacked like the others.
        let is_here = number == 0 && !self.first.is_empty();
        open.flag("data-full", is_here).with(|html| {
            if is_here {
                html.add(self.first);
            }
        });
    }
}

/// The end of the text: what the level hides, and what is not there.
pub fn foot(html: &mut Html, tally: &Tally, style: &Style, notes: &[String]) {
    let lines: Vec<String> = tally.lines().into_iter().chain(notes.iter().cloned()).collect();
    session::foot(html, &tally.hidden, style.detail, &lines);
}

/// Packs pieces, one after the other.
#[derive(Debug)]
pub struct Packer {
    deflate: Compress,
    packed: Vec<u8>,
}

impl Default for Packer {
    fn default() -> Self {
        Self { deflate: Compress::new(Compression::new(LEVEL), false), packed: Vec::new() }
    }
}

impl Packer {
    /// The element that holds a piece.
    pub fn data(&mut self, number: usize, piece: &Html) -> Html {
        let base64 = self.pack(piece.as_str());
        let mut html = Html::new();
        let open = html.tag("div").class("data").flag("hidden", true);
        open.show("id", format_args!("data-{number}")).text(&base64);
        html
    }

    /// A text as base64 of raw deflate.
    fn pack(&mut self, text: &str) -> String {
        self.deflate.reset();
        self.packed.clear();
        loop {
            // Room for all of it, nearly always at once.
            self.packed.reserve(text.len() / 4 + 1024);
            let done = self.deflate.total_in() as usize;
            let rest = &text.as_bytes()[done..];
            let status = self.deflate.compress_vec(rest, &mut self.packed, FlushCompress::Finish);
            if matches!(status, Ok(Status::StreamEnd)) {
                return STANDARD.encode(&self.packed);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    fn unpacked(base64: &str) -> String {
        let bytes = STANDARD.decode(base64).expect("base64");
        let mut text = String::new();
        flate2::read::DeflateDecoder::new(&*bytes).read_to_string(&mut text).expect("deflate");
        text
    }

    #[test]
    fn packed_texts_come_back() {
        let mut packer = Packer::default();
        let long: String =
            (0..60_000u32).map(|n| format!("{:x} ", n.wrapping_mul(2654435761))).collect();
        for text in ["", "a", "aaaaaaaaaaaaaaaaaaaaaaa", &long, "b"] {
            assert_eq!(unpacked(&packer.pack(text)), *text);
        }
    }
}
