//! The claims of a file as bytes, so that a file that grew is read on from where it was read to,
//! and so that those of many files have room beside each other.

use std::borrow::Cow;
use std::io;

use serde::{Deserialize, Serialize};

use super::{Claim, Claims, ClientSum, Oddity};
use crate::firsts::Firsts;
use crate::id::Key;
use crate::session::Names;

/// What the bytes of [`Claims::save`] mean. Raised with every change to what is taken of a line.
pub const VERSION: u32 = 7;

/// What is asked of all files before anything is asked of one.
#[derive(Serialize, Deserialize)]
struct Head<'a> {
    keys: Cow<'a, [Key]>,
    is_marked_copy: bool,
}

#[derive(Serialize, Deserialize)]
struct State<'a> {
    names: Cow<'a, [Box<str>]>,
    list: Cow<'a, [Claim]>,
    odd: Cow<'a, [(u64, Oddity)]>,
    client_sums: Cow<'a, [ClientSum]>,
}

/// Claims in a third of the room: their keys, and bytes to make the rest of.
#[derive(Debug, Clone, Default)]
pub struct Packed {
    keys: Box<[Key]>,
    /// Whether an entry says that the file is the copy of another session.
    pub is_marked_copy: bool,
    rest: Box<[u8]>,
}

impl Packed {
    /// What [`Claims::save`] made; `None` if the bytes are something else.
    pub fn load(bytes: &[u8]) -> Option<Self> {
        let (head, rest) = postcard::take_from_bytes::<Head<'_>>(bytes).ok()?;
        let keys = head.keys.into_owned().into();
        Some(Self { keys, is_marked_copy: head.is_marked_copy, rest: rest.into() })
    }

    /// The keys of the claims, in their order.
    pub fn keys(&self) -> &[Key] {
        &self.keys
    }

    /// The claims; `None` if the bytes are something else.
    pub fn open(&self) -> Option<Claims> {
        if self.keys.is_empty() && self.rest.is_empty() {
            return Some(Claims::default());
        }
        let state: State<'_> = postcard::from_bytes(&self.rest).ok()?;
        let mut list = state.list.into_owned();
        if list.len() != self.keys.len() {
            return None;
        }
        list.iter_mut().zip(&self.keys).for_each(|(claim, key)| claim.key = *key);
        Some(Claims {
            names: Names::of(state.names.into_owned()),
            list,
            // Made when it is needed: those who only ask don't.
            firsts: Firsts::default(),
            odd: state.odd.into_owned(),
            client_sums: state.client_sums.into_owned(),
            is_marked_copy: self.is_marked_copy,
        })
    }
}

impl Claims {
    /// Everything as bytes.
    pub fn save(&self, out: impl io::Write) -> io::Result<()> {
        let keys: Vec<Key> = self.list.iter().map(|claim| claim.key).collect();
        let head = Head { keys: keys.into(), is_marked_copy: self.is_marked_copy };
        let out = postcard::to_io(&head, out).map_err(io::Error::other)?;
        let state = State {
            names: self.names.list().into(),
            list: (&self.list).into(),
            odd: (&self.odd).into(),
            client_sums: (&self.client_sums).into(),
        };
        postcard::to_io(&state, out).map(drop).map_err(io::Error::other)
    }

    /// In less room.
    pub fn pack(&self) -> io::Result<Packed> {
        let mut bytes = Vec::new();
        self.save(&mut bytes)?;
        Packed::load(&bytes).ok_or_else(|| io::ErrorKind::InvalidData.into())
    }

    /// What [`Claims::save`] made; `None` if the bytes are something else.
    pub fn load(bytes: &[u8]) -> Option<Self> {
        Packed::load(bytes)?.open()
    }
}
