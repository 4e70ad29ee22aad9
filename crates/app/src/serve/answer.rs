//! What the server answers with.

use ask::HistoryError;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use report::html::{Html, Picture};
use report::page::document::{Frame, document, policy};
use report::page::{Place, frame};
use transcript::layout::Problem;

use crate::error::{CliError, words};

/// An answer, or why there is none.
pub type Reply = Result<Body, Refusal>;

/// An answer.
pub enum Body {
    /// A page, or a piece of one.
    Html(String),
    /// Bytes of a file, shown as text.
    Text(Vec<u8>),
    /// A picture.
    Picture(Picture, Vec<u8>),
    /// JSON lines.
    Lines(Vec<u8>),
    /// A file to be kept, with its name.
    File(String, Vec<u8>),
}

impl From<Html> for Body {
    fn from(html: Html) -> Self {
        Self::Html(html.into_string())
    }
}

impl IntoResponse for Body {
    fn into_response(self) -> Response {
        let (kind, bytes) = match self {
            Self::Html(html) => ("text/html; charset=utf-8", html.into_bytes()),
            Self::Text(bytes) => ("text/plain; charset=utf-8", bytes),
            Self::Picture(kind, bytes) => (kind.media_type(), bytes),
            Self::Lines(bytes) => ("application/x-ndjson", bytes),
            Self::File(name, bytes) => {
                let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-');
                let name: String = name.chars().filter(|c| plain(*c)).collect();
                let how = format!("attachment; filename=\"{name}\"");
                let kind = "application/octet-stream".to_owned();
                let headers = [(header::CONTENT_TYPE, kind), (header::CONTENT_DISPOSITION, how)];
                return (headers, bytes).into_response();
            }
        };
        ([(header::CONTENT_TYPE, kind)], bytes).into_response()
    }
}

/// Why there is no answer.
#[derive(Debug)]
pub struct Refusal {
    status: StatusCode,
    words: String,
}

impl Refusal {
    /// It is not there.
    pub fn missing(words: &str) -> Self {
        Self { status: StatusCode::NOT_FOUND, words: words.into() }
    }

    /// The question is wrong.
    pub fn wrong(words: &str) -> Self {
        Self { status: StatusCode::BAD_REQUEST, words: words.into() }
    }

    /// Nobody may ask that from there.
    pub fn forbidden(words: &str) -> Self {
        Self { status: StatusCode::FORBIDDEN, words: words.into() }
    }
}

impl From<HistoryError> for Refusal {
    fn from(error: HistoryError) -> Self {
        CliError::from(error).into()
    }
}

impl From<CliError> for Refusal {
    fn from(error: CliError) -> Self {
        let (words, hint) = words(&error);
        let words = hint.map_or_else(|| words.clone(), |hint| format!("{words}. {hint}"));
        let status = match error {
            CliError::Name(_) | CliError::Part(_) => StatusCode::NOT_FOUND,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Self { status, words }
    }
}

impl From<Problem> for Refusal {
    fn from(problem: Problem) -> Self {
        CliError::Read(problem).into()
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let html = document(Frame::Served, "recount", |html| {
            frame::top(html, Place::Elsewhere, "");
            html.within("main", "wide", |html| {
                html.words("h1", "", &self.words);
                html.within("p", "", |html| {
                    html.tag("a").href(&report::html::Url::path(&[])).text("All sessions");
                });
            });
        });
        (self.status, Body::from(html)).into_response()
    }
}

/// What every answer says beside itself: it may show itself and nothing else, is nobody else's to
/// read, and is not to be kept.
pub fn headers() -> [(HeaderName, HeaderValue); 6] {
    let policy = HeaderValue::from_str(&policy(Frame::Served)).expect("the policy is plain text");
    let plain = HeaderValue::from_static;
    [
        (header::CONTENT_SECURITY_POLICY, policy),
        (header::X_CONTENT_TYPE_OPTIONS, plain("nosniff")),
        (header::REFERRER_POLICY, plain("no-referrer")),
        (header::CACHE_CONTROL, plain("no-store")),
        (HeaderName::from_static("cross-origin-resource-policy"), plain("same-origin")),
        (HeaderName::from_static("cross-origin-opener-policy"), plain("same-origin")),
    ]
}
