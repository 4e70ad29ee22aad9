//! The claims of a file as bytes, so that a file that grew is read on from where it was read to.

use serde::{Deserialize, Serialize};

use super::{Claim, Claims, Oddity};
use crate::firsts::Firsts;
use crate::session::Names;

/// What the bytes of [`Claims::save`] mean. Raised with every change to what is taken of a line.
pub const VERSION: u32 = 3;

#[derive(Serialize, Deserialize)]
struct State {
    names: Vec<Box<str>>,
    list: Vec<Claim>,
    odd: Vec<(u64, Oddity)>,
    is_marked_copy: bool,
}

impl Claims {
    /// Everything as bytes.
    pub fn save(&self) -> Vec<u8> {
        let state = State {
            names: self.names.list().to_vec(),
            list: self.list.clone(),
            odd: self.odd.clone(),
            is_marked_copy: self.is_marked_copy,
        };
        postcard::to_stdvec(&state).expect("memory takes everything")
    }

    /// What [`Claims::save`] made; `None` if the bytes are something else.
    pub fn load(bytes: &[u8]) -> Option<Self> {
        let state: State = postcard::from_bytes(bytes).ok()?;
        Some(Self {
            names: Names::of(state.names),
            list: state.list,
            // Made when it is needed: those who only ask don't.
            firsts: Firsts::default(),
            odd: state.odd,
            is_marked_copy: state.is_marked_copy,
        })
    }
}
