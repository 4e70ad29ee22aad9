//! The claims of a file as bytes, so that a file that grew is read on from where it was read to.

use std::borrow::Cow;
use std::io;

use serde::{Deserialize, Serialize};

use super::{Claim, Claims, Oddity};
use crate::firsts::Firsts;
use crate::session::Names;

/// What the bytes of [`Claims::save`] mean. Raised with every change to what is taken of a line.
pub const VERSION: u32 = 3;

#[derive(Serialize, Deserialize)]
struct State<'a> {
    names: Cow<'a, [Box<str>]>,
    list: Cow<'a, [Claim]>,
    odd: Cow<'a, [(u64, Oddity)]>,
    is_marked_copy: bool,
}

impl Claims {
    /// Everything as bytes.
    pub fn save(&self, out: impl io::Write) -> io::Result<()> {
        let state = State {
            names: self.names.list().into(),
            list: (&self.list).into(),
            odd: (&self.odd).into(),
            is_marked_copy: self.is_marked_copy,
        };
        postcard::to_io(&state, out).map(drop).map_err(io::Error::other)
    }

    /// What [`Claims::save`] made; `None` if the bytes are something else.
    pub fn load(bytes: &[u8]) -> Option<Self> {
        let state: State<'_> = postcard::from_bytes(bytes).ok()?;
        Some(Self {
            names: Names::of(state.names.into_owned()),
            list: state.list.into_owned(),
            // Made when it is needed: those who only ask don't.
            firsts: Firsts::default(),
            odd: state.odd.into_owned(),
            is_marked_copy: state.is_marked_copy,
        })
    }
}
