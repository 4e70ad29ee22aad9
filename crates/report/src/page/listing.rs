//! Files that were read and lines that were found: with their numbers, each file by itself.

use transcript::call::{FoundPage, found_pages};

use super::{Source, Style, code, language_of};
use crate::format::counted;
use crate::html::markdown::markdown;
use crate::html::{Html, Url};
use transcript::record::Todo;

/// A line with its number.
type Line<'t> = (&'t str, &'t str);

/// Writes what `Read` answered: code with its line numbers, and what stands behind it.
pub fn read(html: &mut Html, path: &str, text: &str, style: &Style) {
    let all: Vec<&str> = text.split('\n').collect();
    let lines: Vec<Line<'_>> = all.iter().map_while(|line| numbered(line)).collect();
    if lines.is_empty() {
        return code::output(html, "out", text);
    }
    let rest = all[lines.len()..].join("\n");
    code::numbered(html, coloured(path, &lines, style), &lines);
    if !rest.trim().is_empty() {
        code::output(html, "out", rest.trim_start_matches('\n'));
    }
}

/// More lines than this have no colours: each is an element, and a page has many files.
const COLOURED: usize = 40;

/// The language of a file, where there is room for its colours: a file to be handed on is small.
fn coloured(path: &str, lines: &[Line<'_>], style: &Style) -> &'static str {
    match style.source {
        Source::Served { .. } if lines.len() <= COLOURED => language_of(path),
        _ => "",
    }
}

/// A line of `Read`: spaces, its number, an arrow or a tab, and its text.
fn numbered(line: &str) -> Option<Line<'_>> {
    let line = line.trim_start_matches(' ');
    let digits = line.find(|c: char| !c.is_ascii_digit()).filter(|&end| end > 0)?;
    let text = line[digits..].strip_prefix(['\u{2192}', '\t'])?;
    Some((&line[..digits], text.strip_suffix('\r').unwrap_or(text)))
}

/// Writes what a search of the web answered: the pages it names as links, and what it says of them.
pub fn links(html: &mut Html, text: &str) {
    for line in text.lines() {
        let Some(found) = found_pages(line) else { continue };
        html.within("ul", "links", |html| {
            for FoundPage { title, url } in found {
                let title = title.filter(|title| !title.trim().is_empty());
                html.within("li", "", |html| {
                    let words = title.unwrap_or_else(|| url.clone());
                    match Url::written(&url) {
                        Some(link) => html.tag("a").href(&link).attr("title", &url).text(&words),
                        None => html.text(&words),
                    }
                    html.words("span", "host", &format!(" {}", host(&url)));
                });
            }
        });
    }
    let said: Vec<&str> = text.lines().filter(|line| !line.starts_with("Links: [")).collect();
    html.within("div", "prose", |html| markdown(html, &said.join("\n")));
}

/// The computer that an address names.
fn host(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split(['/', '?', '#']).next().unwrap_or_default()
}

/// Writes what `TaskList` answered: `#3 [completed] words`, each task on a line.
pub fn tasks(html: &mut Html, text: &str) {
    let all: Option<Vec<Todo>> = text.trim_end().lines().map(task).collect();
    match all {
        Some(all) => html.within("ul", "todos", |html| all.iter().for_each(|one| todo(html, one))),
        None => code::output(html, "out", text),
    }
}

fn task(line: &str) -> Option<Todo> {
    let (number, rest) = line.strip_prefix('#')?.split_once(" [")?;
    let (status, words) = rest.split_once("] ")?;
    let [task, status, words] = [number, status, words].map(str::to_owned);
    Some(Todo { task: Some(task), words, status, is_changed: false })
}

/// Writes a thing to do. A status is one of three words; what else it may say is no class.
pub fn todo(html: &mut Html, todo: &Todo) {
    let (class, mark, odd) = match &*todo.status {
        "completed" => ("done", "\u{2713} ", None),
        "in_progress" => ("now", "\u{25b8} ", None),
        "pending" => ("", "\u{25cb} ", None),
        other => ("", "\u{25cb} ", Some(other)),
    };
    html.tag("li").class(class).flag("data-changed", todo.is_changed).with(|html| {
        html.text(mark);
        todo.task.iter().for_each(|task| html.text(&format!("#{task} ")));
        html.text(&todo.words);
        odd.iter().for_each(|odd| html.text(&format!(" ({odd})")));
    });
}

/// The lines that were found in one file.
struct Found<'t> {
    path: &'t str,
    lines: Vec<Line<'t>>,
    /// Without those around them.
    hits: usize,
}

/// Writes what `Grep` answered, grouped by file where it names lines; else as it is.
pub fn grep(html: &mut Html, text: &str, style: &Style) {
    match groups(text) {
        Some(groups) => groups.iter().for_each(|found| group(html, found, style)),
        None => code::output(html, "out", text),
    }
}

fn group(html: &mut Html, found: &Found<'_>, style: &Style) {
    html.within("p", "path", |html| {
        html.text(style.short(found.path));
        html.text(" \u{b7} ");
        html.text(&counted(found.hits, "line"));
    });
    code::numbered(html, coloured(found.path, &found.lines, style), &found.lines);
}

/// The lines by their files; nothing if some can't be told apart.
fn groups(text: &str) -> Option<Vec<Found<'_>>> {
    let mut groups: Vec<Found<'_>> = Vec::new();
    for line in text.trim_end().split('\n').filter(|line| !matches!(*line, "--" | "")) {
        if let Some((path, number, text)) = hit(line) {
            if groups.last().is_none_or(|last| last.path != path) {
                groups.push(Found { path, lines: Vec::new(), hits: 0 });
            }
            let last = groups.last_mut()?;
            last.lines.push((number, text));
            last.hits += 1;
            continue;
        }
        // Lines around a hit have dashes, which can also stand in a path: they follow their file.
        let last = groups.last_mut()?;
        let (number, text) = split(line.strip_prefix(last.path)?.strip_prefix('-')?, '-')?;
        last.lines.push((number, text));
    }
    (!groups.is_empty()).then_some(groups)
}

/// `path:12:text`; a drive's colon is followed by no number.
fn hit(line: &str) -> Option<(&str, &str, &str)> {
    line.match_indices(':').filter(|(at, _)| *at > 0).find_map(|(at, _)| {
        let (number, text) = split(&line[at + 1..], ':')?;
        Some((&line[..at], number, text))
    })
}

/// A number, a mark, and the rest.
fn split(rest: &str, mark: char) -> Option<Line<'_>> {
    let (number, text) = rest.split_once(mark)?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then_some((number, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Option<Vec<(String, Vec<String>, usize)>> {
        let told = |found: &Found<'_>| {
            let lines = found.lines.iter().map(|(number, text)| format!("{number} {text}"));
            (found.path.to_owned(), lines.collect(), found.hits)
        };
        groups(text).map(|groups| groups.iter().map(told).collect())
    }

    #[test]
    fn what_grep_found_is_grouped_by_file() {
        let text = "src/a-b.rs-3-use x;\nsrc/a-b.rs:4:let a = 1: 2;\nsrc/a-b.rs-5-\n--\nC:\\w\\b.rs:7:fn b() {}\nC:\\w\\b.rs:9:b();\n";
        assert_eq!(told(text), None, "the first line belongs to no file yet");
        let text = text.split_once('\n').map_or("", |(_, rest)| rest);
        let wanted = [
            ("src/a-b.rs".to_owned(), vec!["4 let a = 1: 2;".to_owned(), "5 ".into()], 1),
            ("C:\\w\\b.rs".into(), vec!["7 fn b() {}".into(), "9 b();".into()], 2),
        ];
        assert_eq!(told(text), Some(wanted.to_vec()));
        for plain in
            ["Found 2 files\nsrc/a.rs\nsrc/b.rs", "No matches found", "", "12:fn main() {}"]
        {
            assert_eq!(told(plain), None, "{plain}");
        }
    }

    #[test]
    fn what_was_read_has_its_numbers() {
        assert_eq!(numbered("     1\u{2192}fn main() {"), Some(("1", "fn main() {")));
        assert_eq!(numbered("12\t\tx\r"), Some(("12", "\tx")));
        assert_eq!(numbered("12 apples"), None);
        assert_eq!(numbered(""), None);
        assert_eq!(numbered("<system-reminder>"), None);
    }
}
