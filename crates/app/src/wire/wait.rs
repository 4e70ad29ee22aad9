//! `wait --json`.

use serde::Serialize;

/// One line: what a session has come to.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "waited")]
pub struct Waited<'a> {
    /// The session.
    pub session: &'a str,
    /// `answered`, `waiting` (for a person), `cut_off` (before it answered), `working` (the time
    /// is over) or `none` (it has no transcript).
    pub state: &'static str,
}
