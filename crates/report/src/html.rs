//! HTML, written so that no text can become markup.
//!
//! Names of tags, attributes and classes are words of this program (`&'static str`); everything
//! that comes from a transcript goes in as text or as the value of an attribute, and is escaped
//! there. Addresses are a type of their own ([`Url`]), because an address can act. There is no
//! way to put a string in as it is, but for what the program itself is made of ([`Html::asset`]).

pub mod markdown;
mod url;

pub use url::{PDF, Picture, Url};

/// A piece of a page.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Html {
    out: String,
}

/// Attributes that act: they have functions of their own, or are not written at all.
const ACTIVE: [&str; 8] =
    ["href", "src", "srcset", "style", "action", "formaction", "srcdoc", "ping"];

impl Html {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// What has been written.
    pub fn as_str(&self) -> &str {
        &self.out
    }

    /// What has been written.
    pub fn into_string(self) -> String {
        self.out
    }

    /// Whether nothing has been written.
    pub fn is_empty(&self) -> bool {
        self.out.is_empty()
    }

    /// Text.
    pub fn text(&mut self, text: &str) {
        escape(&mut self.out, text);
    }

    /// A number or the like.
    pub fn show(&mut self, value: impl std::fmt::Display) {
        self.text(&value.to_string());
    }

    /// A tag, to be given attributes and content.
    pub fn tag(&mut self, name: &'static str) -> Open<'_> {
        self.out.push('<');
        self.out.push_str(name);
        Open { html: self, name }
    }

    /// A tag of a class with something in it: most of a page.
    pub fn within(
        &mut self,
        name: &'static str,
        class: &'static str,
        inside: impl FnOnce(&mut Html),
    ) {
        self.tag(name).class(class).with(inside);
    }

    /// A tag of a class with text in it.
    pub fn words(&mut self, name: &'static str, class: &'static str, text: &str) {
        self.tag(name).class(class).text(text);
    }

    /// What was written elsewhere.
    pub fn add(&mut self, other: &Html) {
        self.out.push_str(&other.out);
    }

    /// A part of the program itself: its styles, its code, its glyphs.
    pub fn asset(&mut self, part: &'static str) {
        self.out.push_str(part);
    }
}

/// A tag that has been begun.
#[must_use = "a tag has to be closed: `with`, `text` or `void`"]
pub struct Open<'a> {
    html: &'a mut Html,
    name: &'static str,
}

impl Open<'_> {
    /// Its classes; nothing is written for none.
    pub fn class(self, name: &'static str) -> Self {
        if name.is_empty() { self } else { self.attr("class", name) }
    }

    /// An attribute.
    pub fn attr(self, name: &'static str, value: &str) -> Self {
        debug_assert!(!ACTIVE.contains(&name) && !name.starts_with("on"), "{name} can act");
        self.put(name, value)
    }

    /// An attribute whose value is a number or the like.
    pub fn show(self, name: &'static str, value: impl std::fmt::Display) -> Self {
        self.attr(name, &value.to_string())
    }

    /// An attribute that is there or not.
    pub fn flag(self, name: &'static str, is_set: bool) -> Self {
        if is_set {
            self.html.out.push(' ');
            self.html.out.push_str(name);
        }
        self
    }

    /// Where a link leads. What leaves the page tells nobody where from.
    pub fn href(self, url: &Url) -> Self {
        let is_away = url.is_away();
        let open = self.put("href", url.as_str());
        if is_away { open.put("rel", "noopener noreferrer") } else { open }
    }

    /// Where a form leads; what is asked for stands in the address.
    pub fn to(self, url: &Url) -> Self {
        self.put("action", url.as_str())
    }

    /// Where a picture or a script is.
    pub fn src(self, url: &Url) -> Self {
        self.put("src", url.as_str())
    }

    fn put(self, name: &'static str, value: &str) -> Self {
        let out = &mut self.html.out;
        out.push(' ');
        out.push_str(name);
        out.push_str("=\"");
        escape(out, value);
        out.push('"');
        self
    }

    /// With this in it.
    pub fn with(self, inside: impl FnOnce(&mut Html)) {
        self.html.out.push('>');
        inside(self.html);
        self.html.out.push_str("</");
        self.html.out.push_str(self.name);
        self.html.out.push('>');
    }

    /// With this text in it.
    pub fn text(self, text: &str) {
        self.with(|html| html.text(text));
    }

    /// One that has no content and no end.
    pub fn void(self) {
        self.html.out.push('>');
    }
}

/// Text as it can stand between tags and in quoted attributes. What can't be seen, or changes the
/// direction of what follows, is named instead.
fn escape(out: &mut String, text: &str) {
    let mut rest = text;
    while let Some(at) = rest.find(is_special) {
        out.push_str(&rest[..at]);
        let c = rest[at..].chars().next().expect("one was found there");
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\r' => out.push_str("&#13;"),
            c => out.push_str(&named(c)),
        }
        rest = &rest[at + c.len_utf8()..];
    }
    out.push_str(rest);
}

/// A character that can't be seen, by its number.
pub(crate) fn named(c: char) -> String {
    format!("\u{27e8}U+{:04X}\u{27e9}", u32::from(c))
}

fn is_special(c: char) -> bool {
    matches!(c, '&' | '<' | '>' | '"' | '\'') || is_unseen(c)
}

/// What can't be seen, or changes the direction of what follows.
pub(crate) fn is_unseen(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        c if c.is_control() => true,
        // Marks and overrides of direction, and what joins nothing.
        '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' => true,
        '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' => true,
        '\u{e0000}'..='\u{e007f}' => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests;
