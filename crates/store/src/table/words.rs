//! The words of an entry by their place, so that a table need not hold them.
//!
//! A history is mostly text, and the archive has all of it. A table that is kept beside it has
//! the place of a text where others have the text, and the words are read when they are asked for.

use std::borrow::Cow;

use transcript::entry::Entry;
use transcript::entry::message::{Block, BlockKind};
use transcript::json::Raw;
use transcript::prompt;

/// Where in an entry words stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spot {
    /// All that it says.
    Whole,
    /// A block of its message, by its place.
    Block(u16),
}

/// Where words stand in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The entry's number.
    pub entry: u32,
    /// Where in it.
    pub spot: Spot,
}

/// [`Spot::Whole`] as a number; blocks count up to it.
const WHOLE: u16 = u16::MAX;

impl Place {
    /// As a number.
    pub fn number(self) -> i64 {
        let spot = match self.spot {
            Spot::Whole => WHOLE,
            Spot::Block(at) => at.min(WHOLE - 1),
        };
        i64::from(self.entry) << 16 | i64::from(spot)
    }

    /// What [`Place::number`] gave.
    pub fn of(number: i64) -> Option<Self> {
        let entry = u32::try_from(number >> 16).ok()?;
        let spot = match (number & i64::from(WHOLE)) as u16 {
            WHOLE => Spot::Whole,
            at => Spot::Block(at),
        };
        Some(Self { entry, spot })
    }
}

/// The words at a spot.
pub fn words<'a>(entry: &Entry<'a>, spot: Spot) -> Option<Cow<'a, str>> {
    match spot {
        Spot::Whole => whole(entry),
        Spot::Block(at) => block(entry.blocks().get(usize::from(at))?),
    }
}

/// The words of a block: what was said, the input of a call as JSON, what a result shows.
pub fn block<'a>(block: &Block<'a>) -> Option<Cow<'a, str>> {
    match block.kind {
        BlockKind::ToolUse => Some(String::from_utf8_lossy(block.input?.bytes())),
        BlockKind::ToolResult => block.result_text(),
        _ => Some(block.text?.text()),
    }
}

/// What a person typed, without what was put before it; of other entries the text of the message,
/// or the name that a line gives the session.
fn whole<'a>(entry: &Entry<'a>) -> Option<Cow<'a, str>> {
    prompt::typed_text(entry).or_else(|| title(entry))
}

fn title<'a>(entry: &Entry<'a>) -> Option<Cow<'a, str>> {
    let fields = [
        ("custom-title", "customTitle"),
        ("ai-title", "aiTitle"),
        ("summary", "summary"),
        ("tag", "tag"),
    ];
    let (_, field) = fields.iter().find(|(name, _)| entry.is_type(name))?;
    entry.field(field).and_then(Raw::text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_found_again_by_its_number() {
        for spot in [Spot::Whole, Spot::Block(0), Spot::Block(65_534)] {
            for entry in [1, 70_000, u32::MAX] {
                let place = Place { entry, spot };
                assert_eq!(Place::of(place.number()), Some(place));
            }
        }
        assert_eq!(Place::of(-1), None);
    }

    #[test]
    fn each_kind_of_entry_has_its_words() {
        let said = |line: &str, spot| {
            words(&Entry::of(line.as_bytes(), 0), spot).map(|words| words.into_owned())
        };
        let call = r#"{"type":"assistant","message":{"content":[{"type":"text","text":"ok"},{"type":"tool_use","id":"t","name":"Read","input":{"file_path":"/a"}}]}}"#;
        assert_eq!(said(call, Spot::Block(0)).as_deref(), Some("ok"));
        assert_eq!(said(call, Spot::Block(1)).as_deref(), Some(r#"{"file_path":"/a"}"#));
        assert_eq!(said(call, Spot::Block(2)), None);
        let result = r#"{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}]}}"#;
        assert_eq!(said(result, Spot::Block(0)).as_deref(), Some("a\nb"));
        let prompt = r#"{"type":"user","message":{"role":"user","content":"<system-reminder>x</system-reminder>do it"}}"#;
        assert_eq!(said(prompt, Spot::Whole).as_deref(), Some("do it"));
        let queued =
            r#"{"type":"attachment","attachment":{"type":"queued_command","prompt":"and that"}}"#;
        assert_eq!(said(queued, Spot::Whole).as_deref(), Some("and that"));
        let title = r#"{"type":"ai-title","aiTitle":"Parser"}"#;
        assert_eq!(said(title, Spot::Whole).as_deref(), Some("Parser"));
    }
}
