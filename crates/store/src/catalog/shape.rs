//! Where each entry of a file stands, in few bytes: a search asks for any of them, and only what
//! stands elsewhere than the entry before takes room.

use serde::{Deserialize, Serialize};
use transcript::session::{Session, State};

/// Where an entry stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spot {
    /// Its state, as [`State::name`] says.
    state: u8,
    /// The turn it belongs to, from 0.
    pub turn: Option<u32>,
    /// Another file owns it.
    pub is_copy: bool,
    /// It queued a prompt that another entry of the file delivers.
    pub is_delivered_elsewhere: bool,
}

const STATES: [State; 7] = [
    State::Active,
    State::Compacted,
    State::Abandoned,
    State::Aside,
    State::Foreign,
    State::Repeated,
    State::Cleared,
];

impl Spot {
    /// Its state.
    pub fn state(&self) -> State {
        STATES[usize::from(self.state).min(STATES.len() - 1)]
    }
}

/// Where the entries of a file stand: the number of the first entry of each stretch.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shape(Vec<(u32, Spot)>);

impl Shape {
    /// That of the session's own file.
    pub fn of(session: &Session) -> Self {
        let mut shape: Vec<(u32, Spot)> = Vec::new();
        for (index, node) in session.nodes().iter().enumerate().filter(|(_, n)| n.source == 0) {
            let state = session.state(index);
            let spot = Spot {
                state: STATES.iter().position(|s| *s == state).unwrap_or(0) as u8,
                turn: session.turn_of(index).map(|turn| turn as u32),
                is_copy: node.is_copy(),
                is_delivered_elsewhere: node.is_delivered_elsewhere(),
            };
            if shape.last().is_none_or(|(_, last)| *last != spot) {
                shape.push((node.number, spot));
            }
        }
        Self(shape)
    }

    /// Where the entry with this number stands.
    pub fn at(&self, number: u32) -> Option<Spot> {
        let after = self.0.partition_point(|(first, _)| *first <= number);
        Some(self.0[after.checked_sub(1)?].1)
    }

    /// The first entry of a turn, which is its prompt.
    pub fn first_of_turn(&self, turn: u32) -> Option<u32> {
        self.0.iter().find(|(_, spot)| spot.turn == Some(turn)).map(|(first, _)| *first)
    }

    /// Whether another file owns any of the entries.
    pub fn has_copies(&self) -> bool {
        self.0.iter().any(|(_, spot)| spot.is_copy)
    }

    /// As bytes.
    pub fn save(&self) -> Vec<u8> {
        postcard::to_stdvec(self).expect("plain values can be written")
    }

    /// What [`Shape::save`] wrote.
    pub fn load(bytes: &[u8]) -> Option<Self> {
        postcard::from_bytes(bytes).ok()
    }
}

/// Where the bytes of each entry of a file are, by its number.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Places(Vec<(u64, u32)>);

impl Places {
    /// Those of the session's own file: the gap before each entry, and its length.
    pub fn of(session: &Session) -> Self {
        let mut end = 0;
        let own = session.nodes().iter().filter(|node| node.source == 0);
        let places = own.map(|node| {
            let gap = node.offset.wrapping_sub(end);
            end = node.offset + u64::from(node.length);
            (gap, node.length)
        });
        Self(places.collect())
    }

    /// Offset and length of the entry with this number.
    pub fn at(&self, number: u32) -> Option<(u64, u32)> {
        let index = usize::try_from(number).ok()?.checked_sub(1)?;
        let (_, length) = *self.0.get(index)?;
        let end = self.0[..=index].iter().fold(0u64, |end, (gap, length)| {
            end.wrapping_add(*gap).wrapping_add(u64::from(*length))
        });
        Some((end.wrapping_sub(u64::from(length)), length))
    }

    /// Offset and length of every entry, in the order of their numbers.
    pub fn all(&self) -> Vec<(u64, u32)> {
        let mut end = 0u64;
        let place = |(gap, length): &(u64, u32)| {
            let start = end.wrapping_add(*gap);
            end = start.wrapping_add(u64::from(*length));
            (start, *length)
        };
        self.0.iter().map(place).collect()
    }

    /// As bytes.
    pub fn save(&self) -> Vec<u8> {
        postcard::to_stdvec(self).expect("plain values can be written")
    }

    /// What [`Places::save`] wrote.
    pub fn load(bytes: &[u8]) -> Option<Self> {
        postcard::from_bytes(bytes).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use transcript::session::{Builder, Options};

    #[test]
    fn every_entry_stands_where_the_session_says() {
        let lines = [("a", "null"), ("b", "\"a\""), ("c", "\"b\""), ("d", "\"b\""), ("e", "\"d\"")];
        let text: String = lines
            .iter()
            .map(|(uuid, parent)| format!("{{\"parentUuid\":{parent},\"uuid\":\"{uuid}\",\"sessionId\":\"s\",\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":\"{uuid}\"}}}}\n"))
            .collect();
        let mut builder = Builder::new();
        builder.read(text.as_bytes()).expect("reads");
        let session = builder.finish(&Options::default());
        let shape = Shape::load(&Shape::of(&session).save()).expect("just saved");
        for (index, node) in session.nodes().iter().enumerate() {
            let spot = shape.at(node.number).expect("it is there");
            assert_eq!(spot.state(), session.state(index));
            let place = Places::of(&session).at(node.number);
            assert_eq!(place, Some((node.offset, node.length)));
            assert_eq!(Places::of(&session).all()[index], (node.offset, node.length));
            assert_eq!(spot.turn, session.turn_of(index).map(|t| t as u32));
        }
        assert_eq!(shape.at(3).map(|s| s.state()), Some(State::Abandoned));
        assert_eq!(shape.at(0), None);
    }
}
