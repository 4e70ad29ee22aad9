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
    in_parts(html, lines.len(), last, |html, part| pre(html, &lines[part].join("\n"), &write));
    if cut > 0 {
        html.words("p", "cut", &format!("{} more, not on this page", size(cut as u64)));
    }
}

/// Lines with their numbers, which are not part of what is copied.
pub fn numbered(html: &mut Html, language: &'static str, lines: &[(&str, &str)]) {
    let mut bytes = 0;
    let fits = |(_, text): &&(&str, &str)| {
        bytes += text.len() + 1;
        bytes <= MOST
    };
    let shown = &lines[..lines.iter().take_while(fits).count()];
    html.within("div", "code", |html| {
        in_parts(html, shown.len(), 0, |html, part| {
            let join = |of: fn(&(&str, &str)) -> String| {
                shown[part.clone()].iter().map(of).collect::<Vec<_>>().join("\n")
            };
            html.within("div", "nums", |html| {
                html.words("pre", "n", &join(|(number, _)| (*number).into()));
                let text = join(|(_, text)| (*text).into());
                pre(html, &text, &|html: &mut Html, text: &str| match language {
                    "" => html.text(text),
                    language => super::highlight::code(html, language, text),
                });
            });
        });
    });
    if shown.len() < lines.len() {
        let cut = counted(lines.len() - shown.len(), "line");
        html.words("p", "cut", &format!("{cut} more, not on this page"));
    }
}

/// Writes lines, the middle of many folded.
fn in_parts(
    html: &mut Html,
    count: usize,
    last: usize,
    write: impl Fn(&mut Html, std::ops::Range<usize>),
) {
    if count <= FIRST + last + LEAST {
        return write(html, 0..count);
    }
    let end = count - last;
    write(html, 0..FIRST);
    html.within("details", "more", |html| {
        html.words("summary", "", &format!("Show {} more", counted(end - FIRST, "line")));
        write(html, FIRST..end);
    });
    if last > 0 {
        write(html, end..count);
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
