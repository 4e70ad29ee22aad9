//! Which titles a few typed letters stand for, and how well.
//!
//! Every word that was typed has to be found, its letters in their order. Letters that follow each
//! other or begin a word count more, so that what was meant comes first. This is small because
//! only titles and names are matched so; longer texts are looked through for the words as they are.

/// What was typed, in small letters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wanted {
    words: Vec<Vec<char>>,
}

impl Wanted {
    /// The words of a text.
    pub fn new(typed: &str) -> Self {
        let word = |word: &str| word.to_lowercase().chars().collect();
        Self { words: typed.split_whitespace().map(word).collect() }
    }

    /// How well a name fits; `None` if it does not. Long texts beside it, in small letters, fit
    /// only with the word as it is, and count less.
    pub fn score(&self, name: &[char], beside: &str) -> Option<i32> {
        let mut sum = 0;
        for word in &self.words {
            let as_it_is = || {
                let word: String = word.iter().collect();
                beside.contains(&word).then_some(BESIDE)
            };
            sum += score(word, name).or_else(as_it_is)?;
        }
        Some(sum)
    }

    /// Where the first word that a text has begins in it.
    pub fn find(&self, small: &str) -> Option<usize> {
        let find = |word: &Vec<char>| small.find(&word.iter().collect::<String>());
        self.words.iter().find_map(find)
    }
}

/// What a word counts that is in a text beside the name.
const BESIDE: i32 = 1;
const LETTER: i32 = 2;
const FOLLOWS: i32 = 6;
const BEGINS: i32 = 8;
const GAP_MOST: i32 = 8;

/// The best of the places where a word begins.
fn score(word: &[char], name: &[char]) -> Option<i32> {
    let (&first, rest) = word.split_first()?;
    let starts = (0..name.len()).filter(|&at| name[at] == first);
    // A name has few of any letter; more are not looked at.
    starts.take(16).filter_map(|at| from(rest, name, at)).max()
}

/// What a word counts whose first letter is at `at`, the others as soon as they come.
fn from(rest: &[char], name: &[char], at: usize) -> Option<i32> {
    let mut sum = LETTER + begins(name, at);
    let mut last = at;
    for letter in rest {
        let next = last + 1 + name[last + 1..].iter().position(|c| c == letter)?;
        let gap = (next - last - 1) as i32;
        sum += LETTER + begins(name, next);
        sum += if gap == 0 { FOLLOWS } else { -gap.min(GAP_MOST) };
        last = next;
    }
    (sum > 0).then_some(sum)
}

fn begins(name: &[char], at: usize) -> i32 {
    let is_start = at == 0 || !name[at - 1].is_alphanumeric();
    if is_start { BEGINS } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn score(typed: &str, name: &str) -> Option<i32> {
        let name: Vec<char> = name.to_lowercase().chars().collect();
        Wanted::new(typed).score(&name, "an older prompt about redis")
    }

    #[test]
    fn letters_in_their_order_fit() {
        assert!(score("fltst", "Fix the flaky login test").is_some());
        assert!(score("test login", "Fix the flaky login test").is_some());
        assert!(score("tsetx", "Fix the flaky login test").is_none());
        assert_eq!([score("", "anything"), score(" ", "anything")], [Some(0), Some(0)]);
        assert!(score("ÜBER", "grüße über").is_some());
    }

    #[test]
    fn whole_words_come_before_scattered_letters() {
        assert!(score("log", "login page") > score("log", "a lot of gear"));
        assert!(score("test", "the test") > score("test", "the contest"));
        assert!(score("flt", "fix login test") > score("flt", "waffle tin"));
    }

    #[test]
    fn what_is_beside_fits_as_it_is() {
        assert_eq!(score("redis", "nothing here"), Some(BESIDE));
        assert!(score("rds", "nothing here").is_none());
        assert!(score("nothing", "nothing here") > score("redis", "nothing here"));
    }
}
