//! Answers: lines with their places, as many as there is room for, and where to go on.

use super::Refusal;
use crate::quote;
use crate::terminal::safe;

/// No answer is longer, in characters.
pub const MOST: usize = 24_000;
/// What is put into one answer if nothing else is asked for.
pub const USUAL: usize = 8_000;

/// What belongs together in an answer: it is never cut apart.
pub type Item = Vec<String>;

/// One page of an answer.
#[derive(Debug, Default)]
pub struct Page {
    items: Vec<Item>,
    /// The number of the first item of the next page.
    next: Option<usize>,
    /// What is to be known of the answer.
    pub notes: Vec<String>,
}

impl Page {
    /// The items from `from` on, until there are `most` characters; `is_more` says that there are
    /// others behind them. The first is taken whatever its length.
    pub fn of(
        from: usize,
        items: impl IntoIterator<Item = Item>,
        most: usize,
        is_more: bool,
    ) -> Self {
        let mut page = Self::default();
        let (mut left, mut number) = (most.min(MOST), from);
        for item in items {
            let length: usize = item.iter().map(|line| line.chars().count() + 1).sum();
            if length > left && !page.items.is_empty() {
                page.next = Some(number);
                return page;
            }
            left = left.saturating_sub(length);
            page.items.push(item);
            number += 1;
        }
        page.next = (is_more && number > from).then_some(number);
        page
    }

    /// All of it as one text.
    pub fn text(&self) -> String {
        let mut lines = vec![quote::head()];
        lines.extend(self.items.iter().flatten().cloned());
        if self.items.is_empty() {
            lines.push("Nothing found.".into());
        }
        lines.extend(self.notes.iter().map(|note| format!("note: {}", safe::line(note))));
        lines.extend(self.next.map(|next| format!("There is more: cursor \"{next}\"")));
        lines.join("\n")
    }
}

/// Where an answer goes on.
pub fn cursor(text: Option<&str>) -> Result<usize, Refusal> {
    let Some(text) = text else { return Ok(0) };
    let wrong = || Refusal("Wrong cursor: give one that an answer named".into());
    text.parse().ok().filter(|at| *at <= 1_000_000).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items(count: usize) -> Vec<Item> {
        (0..count).map(|n| vec![format!("{n:->99}")]).collect()
    }

    #[test]
    fn an_answer_ends_where_the_room_does_and_says_where_it_goes_on() {
        let page = Page::of(0, items(50), 1_000, false);
        assert_eq!((page.items.len(), page.next), (10, Some(10)));
        let page = Page::of(40, items(10), 1_000, false);
        assert_eq!((page.items.len(), page.next), (10, None));
        let page = Page::of(40, items(3), 1_000, true);
        assert_eq!((page.items.len(), page.next), (3, Some(43)));
        assert_eq!(Page::of(9, items(0), 1_000, true).next, None);
        assert_eq!(Page::of(0, items(5), 5, false).items.len(), 1);
    }
}
