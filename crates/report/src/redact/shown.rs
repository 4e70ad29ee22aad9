//! A page as the text that it shows, with the way back to its bytes.
//!
//! Only for pages that this program has written: every text in them is escaped, every attribute is
//! quoted. What is found is put back inside of texts and values, never across a tag, so the page
//! keeps all its elements.

use std::ops::Range;

/// What of a page is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Of {
    /// What stands between the tags. Tags that only colour a text do not part it.
    Texts,
    /// What stands between the tags, each by itself: what follows a secret on its line may be no
    /// part of it.
    Pieces,
    /// The values of attributes that hold texts or addresses.
    Values,
}

/// The text of a page.
#[derive(Debug)]
pub struct Shown {
    /// The text.
    pub text: String,
    /// What stands for what: where it begins in the text, and where it is in the page.
    parts: Vec<(usize, Range<usize>)>,
}

/// Tags that stand inside of a line.
const INLINE: [&str; 12] =
    ["span", "b", "i", "em", "strong", "code", "mark", "a", "del", "s", "ins", "u"];
/// Attributes that hold what was said somewhere.
const VALUES: [&str; 8] =
    ["href", "title", "alt", "value", "aria-label", "data-agent", "data-branch", "content"];

impl Shown {
    /// Reads a page.
    pub fn of(html: &str, of: Of) -> Self {
        let mut shown = Self { text: String::with_capacity(html.len()), parts: Vec::new() };
        let mut at = 0;
        while let Some(open) = html[at..].find('<').map(|step| at + step) {
            if of != Of::Values {
                shown.take(html, at..open, "&");
            }
            let end = tag_end(html, open);
            let tag = &html[open..end];
            let name = tag.trim_start_matches(['<', '/']);
            let name = &name[..name.find([' ', '>']).unwrap_or(name.len())];
            match of {
                Of::Texts | Of::Pieces if tag.starts_with("</dt") => shown.text.push_str(": "),
                Of::Texts if INLINE.contains(&name) => {}
                Of::Texts | Of::Pieces => shown.text.push('\n'),
                Of::Values => shown.values(html, open..end),
            }
            at = match name {
                // What the program itself is made of.
                "script" | "style" if !tag.starts_with("</") => {
                    html[end..].find("</").map_or(html.len(), |step| end + step)
                }
                _ => end,
            };
        }
        if of != Of::Values {
            shown.take(html, at..html.len(), "&");
        }
        shown
    }

    /// The values in a tag.
    fn values(&mut self, html: &str, tag: Range<usize>) {
        let mut at = tag.start;
        while let Some(quote) = html[at..tag.end].find("=\"").map(|step| at + step) {
            let name = html[at..quote].rsplit(' ').next().unwrap_or_default();
            let from = quote + 2;
            let to = html[from..tag.end].find('"').map_or(tag.end, |step| from + step);
            if VALUES.contains(&name) {
                self.text.push('\n');
                self.take(html, from..to, "&%+");
            }
            at = (to + 1).min(tag.end);
        }
    }

    /// Takes a stretch in which some characters stand for others.
    fn take(&mut self, html: &str, range: Range<usize>, marks: &str) {
        let mut from = range.start;
        while from < range.end {
            let rest = &html[from..range.end];
            let (meant, length) = match rest.find(|c| marks.contains(c)) {
                Some(0) => meaning(rest),
                found => (None, found.unwrap_or(rest.len())),
            };
            self.parts.push((self.text.len(), from..from + length));
            match meant {
                Some(c) => self.text.push(c),
                None => self.text.push_str(&rest[..length]),
            }
            from += length;
        }
    }

    /// What is to be replaced in the page, for what is to be replaced in the text. The first piece
    /// takes the stand-in; the others go.
    pub fn raw(&self, changes: Vec<(Range<usize>, String)>) -> Vec<(Range<usize>, String)> {
        let mut raw = Vec::new();
        for (range, stand_in) in changes {
            let mut stand_in = Some(stand_in);
            let first = self.parts.partition_point(|(at, _)| *at <= range.start).saturating_sub(1);
            for (at, place) in self.parts[first..].iter().take_while(|(at, _)| *at < range.end) {
                let place = self.within(*at, place, &range);
                if !place.is_empty() {
                    raw.push((place, stand_in.take().unwrap_or_default()));
                }
            }
        }
        raw
    }

    /// What of a range is in one part.
    fn within(&self, at: usize, place: &Range<usize>, range: &Range<usize>) -> Range<usize> {
        let next = self.parts.partition_point(|(other, _)| *other <= at);
        let end = self.parts.get(next).map_or(self.text.len(), |(next, _)| *next);
        // What stands for another character is longer than it, and goes as a whole.
        let is_itself = self.text.get(at..at + place.len()).is_some() && at + place.len() <= end;
        match is_itself {
            true => {
                let from = range.start.clamp(at, at + place.len()) - at;
                let to = range.end.clamp(at, at + place.len()) - at;
                place.start + from..place.start + to
            }
            false if range.start < end && at < range.end => place.clone(),
            false => place.start..place.start,
        }
    }
}

/// Where a tag ends: behind its `>`, which in a value is escaped.
fn tag_end(html: &str, open: usize) -> usize {
    html[open..].find('>').map_or(html.len(), |step| open + step + 1)
}

/// What stands at the beginning of a text for another character, and its length; what does not,
/// stands for itself.
fn meaning(rest: &str) -> (Option<char>, usize) {
    const NAMES: [(&str, char); 6] = [
        ("&amp;", '&'),
        ("&lt;", '<'),
        ("&gt;", '>'),
        ("&quot;", '"'),
        ("&#39;", '\''),
        ("&#13;", '\r'),
    ];
    if let Some((name, c)) = NAMES.iter().find(|(name, _)| rest.starts_with(name)) {
        return (Some(*c), name.len());
    }
    if rest.starts_with('+') {
        return (Some(' '), 1);
    }
    let hex = rest.strip_prefix('%').and_then(|rest| u8::from_str_radix(rest.get(..2)?, 16).ok());
    match hex.filter(u8::is_ascii) {
        Some(byte) => (Some(char::from(byte)), 3),
        None => (None, 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(html: &str, of: Of, secret: &str) -> String {
        let shown = Shown::of(html, of);
        let at = shown.text.find(secret).expect("it is shown");
        let raw = shown.raw(vec![(at..at + secret.len(), "[x]".into())]);
        super::super::replaced(html, raw.into_iter())
    }

    #[test]
    fn a_text_is_read_over_its_colours_and_keeps_its_elements() {
        let html = "<p>key=<span class=\"s\">&quot;ab</span><b>c&amp;d</b>e</p>";
        assert_eq!(
            changed(html, Of::Texts, "\"abc&d"),
            "<p>key=<span class=\"s\">[x]</span><b></b>e</p>"
        );
        assert_eq!(changed(html, Of::Texts, "b"), html.replace("ab<", "a[x]<"));
        assert_eq!(changed(html, Of::Texts, "&d"), html.replace("&amp;d", "[x]"));
    }

    #[test]
    fn a_name_stands_beside_its_value() {
        let html = "<dl><dt>api_key</dt><dd>abc</dd></dl><p>x</p>";
        assert!(Shown::of(html, Of::Texts).text.contains("api_key: \nabc\n"));
    }

    #[test]
    fn values_are_read_as_they_are_meant() {
        let html = "<a class=\"abc\" title=\"a&amp;b\" href=\"/f?p=a%2Fb+c%C3%A9\">abc</a>";
        let shown = Shown::of(html, Of::Values).text;
        assert_eq!(shown, "\na&b\n/f?p=a/b c%C3%A9");
        assert_eq!(changed(html, Of::Values, "a/b c"), html.replace("a%2Fb+c", "[x]"));
        assert_eq!(changed(html, Of::Values, "a&b"), html.replace("a&amp;b", "[x]"));
    }

    #[test]
    fn what_the_program_is_made_of_is_not_read() {
        let html = "<style>secret</style><script>secret < 1</script><p>é</p>";
        assert_eq!(Shown::of(html, Of::Texts).text.trim(), "é");
    }
}
