//! Code, commands and output: long ones folded, never dropped.

use crate::format::{counted, size};
use crate::html::Html;

/// So many lines are shown before the rest is folded.
const FIRST: usize = 20;
/// Of output the end tells most.
const LAST: usize = 5;
/// A fold that hides less than this is not worth its line.
const LEAST: usize = 5;
/// More than this is not put on a page.
pub const MOST: usize = 256 << 10;

/// A block of code.
pub fn block(html: &mut Html, language: &str, text: &str) {
    let language = super::language(language);
    html.within("div", "code", |html| {
        if !language.is_empty() {
            html.words("span", "lang", language);
        }
        folded(html, text, 0, |html, text| super::highlight::code(html, language, text));
    });
}

/// What a command printed.
pub fn output(html: &mut Html, class: &'static str, text: &str) {
    html.within("div", class, |html| folded(html, text, LAST, super::ansi::text));
}

/// Text in a fixed width, with the middle folded where it is long.
fn folded(html: &mut Html, text: &str, last: usize, write: impl Fn(&mut Html, &str)) {
    let (text, cut) = at_most(text);
    let lines: Vec<&str> = text.split('\n').collect();
    let shown = FIRST + last;
    if lines.len() <= shown + LEAST {
        pre(html, text, &write);
    } else {
        let end = lines.len() - last;
        pre(html, &lines[..FIRST].join("\n"), &write);
        html.within("details", "more", |html| {
            html.words("summary", "", &format!("Show {} more", counted(end - FIRST, "line")));
            pre(html, &lines[FIRST..end].join("\n"), &write);
        });
        if last > 0 {
            pre(html, &lines[end..].join("\n"), &write);
        }
    }
    if cut > 0 {
        html.words("p", "cut", &format!("{} more, not on this page", size(cut as u64)));
    }
}

fn pre(html: &mut Html, text: &str, write: &impl Fn(&mut Html, &str)) {
    html.within("pre", "", |html| write(html, text));
}

/// The beginning of a text, and how many bytes were left out.
fn at_most(text: &str) -> (&str, usize) {
    if text.len() <= MOST {
        return (text, 0);
    }
    let mut end = MOST;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    (&text[..end], text.len() - end)
}
