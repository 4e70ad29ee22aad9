//! What models and people write, as HTML.
//!
//! Raw HTML is text here, pictures are links (opening a transcript calls nobody), and links lead
//! only where a person may be led.

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use super::{Html, Url};

/// Nested deeper than this is a trap; it is shown as it was written.
const DEEPEST: usize = 24;

/// Writes `text` as Markdown.
pub fn markdown(html: &mut Html, text: &str) {
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let events: Vec<Event<'_>> = Parser::new_ext(text, options).collect();
    if depth(&events) > DEEPEST {
        return html.words("pre", "plain", text);
    }
    let mut at = events.into_iter().peekable();
    while at.peek().is_some() {
        block(html, &mut at);
    }
}

fn depth(events: &[Event<'_>]) -> usize {
    let (mut now, mut most) = (0usize, 0);
    for event in events {
        match event {
            Event::Start(_) => now += 1,
            Event::End(_) => now = now.saturating_sub(1),
            _ => {}
        }
        most = most.max(now);
    }
    most
}

type Events<'a> = std::iter::Peekable<std::vec::IntoIter<Event<'a>>>;

/// Everything up to the end of the tag that was begun.
fn inside(html: &mut Html, at: &mut Events<'_>) {
    while let Some(event) = at.peek() {
        if matches!(event, Event::End(_)) {
            at.next();
            return;
        }
        block(html, at);
    }
}

fn block(html: &mut Html, at: &mut Events<'_>) {
    match at.next() {
        Some(Event::Start(tag)) => start(html, tag, at),
        Some(Event::Text(text) | Event::Html(text) | Event::InlineHtml(text)) => html.text(&text),
        Some(Event::Code(text)) => html.words("code", "", &text),
        Some(Event::SoftBreak) => html.text("\n"),
        Some(Event::HardBreak) => html.tag("br").void(),
        Some(Event::Rule) => html.tag("hr").void(),
        Some(Event::TaskListMarker(is_done)) => {
            html.words("span", "task", if is_done { "[x] " } else { "[ ] " });
        }
        Some(Event::InlineMath(text) | Event::DisplayMath(text)) => html.words("code", "", &text),
        Some(Event::FootnoteReference(text)) => html.text(&format!("[{text}]")),
        Some(Event::End(_)) | None => {}
    }
}

fn start(html: &mut Html, tag: Tag<'_>, at: &mut Events<'_>) {
    let name = match tag {
        Tag::CodeBlock(kind) => return code(html, &kind, at),
        Tag::Link { dest_url, .. } => return link(html, &dest_url, "", at),
        Tag::Image { dest_url, .. } => return link(html, &dest_url, "picture: ", at),
        Tag::List(Some(first)) => {
            return html.tag("ol").show("start", first).with(|html| inside(html, at));
        }
        Tag::Table(_) => {
            return html.within("div", "wide", |html| {
                html.tag("table").with(|html| inside(html, at));
            });
        }
        Tag::TableHead => {
            return html.tag("thead").with(|html| html.tag("tr").with(|html| inside(html, at)));
        }
        Tag::HtmlBlock => "div",
        Tag::Heading { level, .. } => heading(level),
        Tag::BlockQuote(_) => "blockquote",
        Tag::List(None) => "ul",
        Tag::Item => "li",
        Tag::TableRow => "tr",
        Tag::TableCell => "td",
        Tag::Emphasis => "em",
        Tag::Strong => "strong",
        Tag::Strikethrough => "del",
        Tag::Paragraph => "p",
        _ => "div",
    };
    html.tag(name).with(|html| inside(html, at));
}

/// Headings of a message stand below those of the page.
fn heading(level: pulldown_cmark::HeadingLevel) -> &'static str {
    use pulldown_cmark::HeadingLevel::{H1, H2, H3};
    match level {
        H1 => "h3",
        H2 => "h4",
        H3 => "h5",
        _ => "h6",
    }
}

fn link(html: &mut Html, to: &str, before: &'static str, at: &mut Events<'_>) {
    match Url::written(to) {
        Some(url) => html.tag("a").href(&url).with(|html| {
            html.text(before);
            inside(html, at);
        }),
        None => html.tag("span").class("dead").attr("title", to).with(|html| {
            html.text(before);
            inside(html, at);
        }),
    }
}

fn code(html: &mut Html, kind: &CodeBlockKind<'_>, at: &mut Events<'_>) {
    let mut text = String::new();
    for event in at.by_ref() {
        match event {
            Event::Text(part) => text.push_str(&part),
            Event::End(TagEnd::CodeBlock) => break,
            _ => {}
        }
    }
    let language = match kind {
        CodeBlockKind::Fenced(info) => info.split([' ', ',']).next().unwrap_or_default(),
        CodeBlockKind::Indented => "",
    };
    crate::page::code::block(html, language, text.strip_suffix('\n').unwrap_or(&text));
}
