//! Addresses that can do no harm.

use std::fmt::Write;

/// An address: in the page, on this server, or elsewhere by a way that only leads somewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Url {
    text: String,
    is_away: bool,
}

impl Url {
    /// A place in the same page.
    pub fn place(id: &str) -> Self {
        Self { text: format!("#{}", encoded(id)), is_away: false }
    }

    /// A page of this server or export, by the steps of its path.
    pub fn path(steps: &[&str]) -> Self {
        let mut text = String::new();
        for step in steps {
            text.push('/');
            text.push_str(&encoded(step));
        }
        if steps.is_empty() {
            text.push('/');
        }
        Self { text, is_away: false }
    }

    /// A file beside this one.
    pub fn beside(name: &str) -> Self {
        Self { text: encoded(name), is_away: false }
    }

    /// A file below the folder of this one.
    pub fn below(steps: &[&str]) -> Self {
        let steps: Vec<String> = steps.iter().map(|step| encoded(step)).collect();
        Self { text: steps.join("/"), is_away: false }
    }

    /// With a value in the query.
    pub fn query(mut self, name: &'static str, value: &str) -> Self {
        let mark = if self.text.contains('?') { '&' } else { '?' };
        write!(self.text, "{mark}{name}={}", encoded(value)).expect("a string takes all");
        self
    }

    /// With a place in that page.
    pub fn at(mut self, id: &str) -> Self {
        write!(self.text, "#{}", encoded(id)).expect("a string takes all");
        self
    }

    /// An address that somebody wrote; `None` if it could do more than lead somewhere.
    pub fn written(text: &str) -> Option<Self> {
        let text = text.trim();
        let scheme = text.split_once(':').map(|(scheme, _)| scheme.to_ascii_lowercase());
        let is_away = matches!(scheme.as_deref(), Some("http" | "https" | "mailto"));
        let is_plain = text.chars().all(|c| !c.is_control() && !c.is_whitespace());
        (is_plain && (is_away || text.starts_with('#')))
            .then(|| Self { text: text.to_owned(), is_away })
    }

    /// A picture whose bytes are in the address.
    pub fn picture(kind: Picture, base64: &str) -> Option<Self> {
        Self::data(kind.media_type(), base64)
    }

    /// A PDF whose bytes are in the address, to be saved.
    pub fn pdf(base64: &str) -> Option<Self> {
        Self::data(PDF, base64)
    }

    fn data(media_type: &'static str, base64: &str) -> Option<Self> {
        let is_base64 = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=');
        let text = || format!("data:{media_type};base64,{base64}");
        base64.bytes().all(is_base64).then(|| Self { text: text(), is_away: false })
    }

    /// Nothing, without asking anybody.
    pub fn none() -> Self {
        Self { text: "data:,".into(), is_away: false }
    }

    /// As it is written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether it leads away from the page's own files.
    pub fn is_away(&self) -> bool {
        self.is_away
    }
}

/// The one kind of document that can be saved from a page.
pub const PDF: &str = "application/pdf";

/// Kinds of pictures that are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Picture {
    /// `image/png`.
    Png,
    /// `image/jpeg`.
    Jpeg,
    /// `image/gif`.
    Gif,
    /// `image/webp`.
    Webp,
    /// `image/svg+xml`: in an `img` it can't run code.
    Svg,
}

impl Picture {
    /// The kind of a media type.
    pub fn of(media_type: &str) -> Option<Self> {
        let all = [Self::Png, Self::Jpeg, Self::Gif, Self::Webp, Self::Svg];
        all.into_iter().find(|kind| kind.media_type() == media_type)
    }

    /// Its media type.
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
            Self::Gif => "image/gif",
            Self::Webp => "image/webp",
            Self::Svg => "image/svg+xml",
        }
    }
}

/// Percent-encoded, but for what means nothing in any part of an address.
fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                out.push(char::from(byte));
            }
            _ => write!(out, "%{byte:02X}").expect("a string takes all"),
        }
    }
    out
}
