//! The words of an entry by their place, so that a table need not hold them.
//!
//! A history is mostly text, and the archive has all of it. A table that is kept beside it has
//! the place of a text where others have the text, and the words are read when they are asked for.

pub use transcript::words::Spot;

/// Where words stand in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The entry's number.
    pub entry: u32,
    /// Where in it.
    pub spot: Spot,
}

/// [`Spot::Whole`] as a number; blocks count up to it.
const WHOLE: u16 = u16::MAX;

impl Place {
    /// As a number.
    pub fn number(self) -> i64 {
        let spot = match self.spot {
            Spot::Whole => WHOLE,
            Spot::Block(at) => at.min(WHOLE - 1),
        };
        i64::from(self.entry) << 16 | i64::from(spot)
    }

    /// What [`Place::number`] gave.
    pub fn of(number: i64) -> Option<Self> {
        let entry = u32::try_from(number >> 16).ok()?;
        let spot = match (number & i64::from(WHOLE)) as u16 {
            WHOLE => Spot::Whole,
            at => Spot::Block(at),
        };
        Some(Self { entry, spot })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_found_again_by_its_number() {
        for spot in [Spot::Whole, Spot::Block(0), Spot::Block(65_534)] {
            for entry in [1, 70_000, u32::MAX] {
                let place = Place { entry, spot };
                assert_eq!(Place::of(place.number()), Some(place));
            }
        }
        assert_eq!(Place::of(-1), None);
    }
}
