//! What differs between two texts.
//!
//! By one way of comparing and one kind of piece: a way that is chosen while the program runs put
//! every one of them into it, for half a megabyte.

use std::fmt::Write;

pub use similar::ChangeTag;
use similar::algorithms::{Capture, Compact, Replace, myers};
use similar::udiff::UnifiedHunkHeader;
use similar::{Change, DiffOp, DiffableStr, group_diff_ops};

/// How many equal lines a hunk has before and after what differs, for programs.
const AROUND: usize = 3;

/// Two texts in pieces, and which of these differ.
pub struct Diff<'a> {
    old: Vec<&'a str>,
    new: Vec<&'a str>,
    ops: Vec<DiffOp>,
}

impl<'a> Diff<'a> {
    /// Line by line.
    pub fn of_lines(old: &'a str, new: &'a str) -> Self {
        Self::new(old.tokenize_lines(), new.tokenize_lines())
    }

    /// Word by word.
    pub fn of_words(old: &'a str, new: &'a str) -> Self {
        Self::new(old.tokenize_words(), new.tokenize_words())
    }

    fn new(old: Vec<&'a str>, new: Vec<&'a str>) -> Self {
        let mut all = Compact::new(Replace::new(Capture::new()), &old[..], &new[..]);
        let (Ok(()) | Err(_)) =
            myers::diff(&mut all, &old[..], 0..old.len(), &new[..], 0..new.len());
        let ops = all.into_inner().into_inner().into_ops();
        Self { old, new, ops }
    }

    /// All pieces in order: equal ones once, then what went and what came.
    pub fn changes(&self) -> impl Iterator<Item = Change<&'a str>> {
        self.ops.iter().flat_map(|op| self.of(op))
    }

    /// The pieces that differ, with so many equal ones around them.
    pub fn hunks(&self, around: usize) -> Vec<Vec<Change<&'a str>>> {
        let groups = group_diff_ops(self.ops.clone(), around);
        groups.iter().map(|ops| ops.iter().flat_map(|op| self.of(op)).collect()).collect()
    }

    /// As programs read it.
    pub fn unified(&self) -> String {
        let mut text = String::new();
        for ops in group_diff_ops(self.ops.clone(), AROUND) {
            // A string takes everything.
            let _ = writeln!(text, "{}", UnifiedHunkHeader::new(&ops));
            for change in ops.iter().flat_map(|op| self.of(op)) {
                let _ = write!(text, "{}{}", change.tag(), change.value());
                if !change.value().ends_with(['\n', '\r']) {
                    text.push_str("\n\\ No newline at end of file\n");
                }
            }
        }
        text
    }

    /// How many pieces came, and how many went.
    pub fn count(&self) -> (usize, usize) {
        let count = |tag| self.changes().filter(|change| change.tag() == tag).count();
        (count(ChangeTag::Insert), count(ChangeTag::Delete))
    }

    fn of(&self, op: &DiffOp) -> impl Iterator<Item = Change<&'a str>> {
        op.iter_changes(&self.old[..], &self.new[..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(diff: &Diff<'_>) -> String {
        diff.changes().map(|change| format!("{}{}|", change.tag(), change.value())).collect()
    }

    #[test]
    fn lines_and_words_are_told_apart() {
        let lines = Diff::of_lines("a\nb\r\nc", "a\nd\r\nc");
        assert_eq!(told(&lines), " a\n|-b\r\n|+d\r\n| c|");
        assert_eq!(lines.count(), (1, 1));
        let words = Diff::of_words("let a = 1;", "let b = 1;");
        assert_eq!(told(&words), " let|  |-a|+b|  | =|  | 1;|");
    }

    #[test]
    fn programs_get_hunks_with_their_places() {
        let old: String = (1..=20).map(|line| format!("{line}\n")).collect();
        let new = old.replace("\n4\n", "\nfour\n").replace("20\n", "20");
        let hunks = "\
@@ -1,7 +1,7 @@
 1
 2
 3
-4
+four
 5
 6
 7
@@ -17,4 +17,4 @@
 17
 18
 19
-20
+20
\\ No newline at end of file
";
        assert_eq!(Diff::of_lines(&old, &new).unified(), hunks);
        assert_eq!(Diff::of_lines("", "a\n").unified(), "@@ -0,0 +1 @@\n+a\n");
        assert_eq!(Diff::of_lines(&old, &old).unified(), "");
    }
}
