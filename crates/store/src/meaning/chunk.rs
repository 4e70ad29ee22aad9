//! A text in pieces that the model can take, each ending where the text pauses.

use std::ops::Range;

/// So many bytes are about two hundred pieces of words, of the 256 that the model takes.
const MOST: usize = 800;

/// What a text is cut before, the best first.
const PAUSES: [&str; 4] = ["\n\n", "\n", ". ", " "];

/// Of a longer text only so much is read: a person does not write more than this.
const READ: usize = 64 << 10;

/// Where the pieces of a text are. None is empty.
pub(super) fn chunks(text: &str) -> Vec<Range<usize>> {
    let end = text.floor_char_boundary(READ);
    let mut all = Vec::new();
    let mut start = 0;
    while start < end {
        let rest = &text[start..end];
        let length = if rest.len() <= MOST { rest.len() } else { pause(rest) };
        if rest[..length].contains(char::is_alphanumeric) {
            all.push(start..start + length);
        }
        start += length;
    }
    all
}

/// The length of the first piece of a text that is too long: up to the last good pause in the
/// second half of what can be taken.
fn pause(text: &str) -> usize {
    let most = text.floor_char_boundary(MOST);
    let half = text.floor_char_boundary(MOST / 2);
    let found = PAUSES.iter().find_map(|mark| Some(text[half..most].rfind(mark)? + mark.len()));
    found.map_or(most, |length| half + length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_joined_are_the_text_and_end_at_pauses() {
        let sentence = "Nine words stand in this sentence, and no more. ";
        let text = sentence.repeat(40);
        let all = chunks(&text);
        assert!(all.len() > 2 && all.iter().all(|piece| piece.len() <= MOST));
        assert!(all.iter().all(|piece| text[piece.clone()].ends_with(". ")));
        let joined: String = all.iter().map(|piece| &text[piece.clone()]).collect();
        assert_eq!(joined, text);
        assert_eq!(chunks("short").first(), Some(&(0..5)));
        assert_eq!(chunks(" \n- "), Vec::<Range<usize>>::new());
        assert_eq!(chunks(&"é".repeat(MOST)).len(), 2, "cut at a character");
    }
}
