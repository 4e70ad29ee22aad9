use super::*;

use proptest::prelude::*;

/// What a reader makes of it.
fn events(text: &str) -> Vec<Event<'_>> {
    Parser::new_ext(text, options()).collect()
}

fn is_html(event: &Event<'_>) -> bool {
    matches!(event, Event::Html(_) | Event::InlineHtml(_) | Event::Start(Tag::HtmlBlock))
}

fn text_of(events: &[Event<'_>]) -> String {
    let texts = events.iter().map(|event| match event {
        Event::Text(text) => text.to_string(),
        Event::SoftBreak | Event::HardBreak | Event::End(_) => " ".into(),
        _ => String::new(),
    });
    texts.collect()
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn typed_text_means_itself() {
    for text in [
        "# no heading",
        "- no list\n+ nor this\n1. nor that\n2) nor",
        "*no* _emphasis_ **here** ~~nor~~ `code`",
        "<script>alert(1)</script> &lt; &amp;",
        "[no](http://link) ![nor](http://picture) <http://auto>",
        "a\n===\nb\n---\nc",
        "    no code\n\tnor this",
        "```\nno fence",
        "| no | table |\n|---|---|\n| a | b |",
        "[x]: http://definition\n[^1]: note",
        "> no quote",
        "a\\\\b\\*",
    ] {
        let lines = plain_lines(text);
        let events = events(&lines);
        let only_text = |event: &Event<'_>| {
            matches!(
                event,
                Event::Text(_)
                    | Event::SoftBreak
                    | Event::HardBreak
                    | Event::Start(Tag::Paragraph)
                    | Event::End(pulldown_cmark::TagEnd::Paragraph)
            )
        };
        assert!(events.iter().all(only_text), "{text:?} became {events:?}");
        assert_eq!(words(&text_of(&events)), words(text), "{lines}");
    }
}

#[test]
fn what_a_model_wrote_stays_markdown() {
    for text in
        ["# A\n\n- b\n- *c*\n\n```rust\nfn main() {}\n```\n", "| a | b |\n|---|---|\n| 1 | 2 |"]
    {
        assert_eq!(written(text), text);
    }
}

#[test]
fn what_a_model_wrote_keeps_to_itself() {
    for text in [
        "a <b>bold</b> <img src=x onerror=alert(1)>",
        "<script>\nalert(1)\n</script>\n\nafter",
        "<!-- never ended",
        "<details><summary>x",
        "[a](javascript:alert(1)) ![p](http://x/y.png) <javascript:alert(1)>",
        "[a]\n\n[a]: javascript:alert(1)",
        "```\nnever ended",
        "~~~~\nnever ended",
        "<pre>\n\nx",
        "- a\n\n  ```\n  in a list",
        "[^1]\n\n[^1]: a note",
    ] {
        let out = format!("{}\n\n{BEHIND}\n", written(text));
        let events = events(&out);
        assert!(!events.iter().any(is_html), "{text:?} became {out:?}");
        assert!(ends(&written(text)), "{text:?} became {out:?}");
        let leads_astray = |event: &Event<'_>| match event {
            Event::Start(Tag::Link { dest_url, .. }) => Url::written(dest_url).is_none(),
            Event::Start(Tag::Image { .. }) => true,
            _ => false,
        };
        assert!(!events.iter().any(leads_astray), "{text:?} became {out:?}");
    }
}

#[test]
fn a_fence_is_longer_than_those_in_it() {
    let out = fenced("sh", "a\n```\nb\n`````\nc");
    let events = events(&out);
    assert_eq!(text_of(&events).trim(), "a\n```\nb\n`````\nc");
    assert!(ends(&out));
}

#[test]
fn a_name_is_one_piece_of_code() {
    for name in ["a`b", "``", "a\nb", "<b>", "`a`"] {
        let out = span(name);
        let events = events(&out);
        let code: Vec<&Event<'_>> = events.iter().filter(|e| matches!(e, Event::Code(_))).collect();
        assert_eq!(code.len(), 1, "{out}");
        assert_eq!(events.len(), 3, "{out}");
    }
}

proptest! {
    /// Whatever somebody typed: the same words come back, and nothing else.
    #[test]
    fn any_typed_text_means_itself(text in r"([ -~\n\t]|é|\u{202e}|\r){0,60}") {
        let lines = plain_lines(&text);
        let all = events(&lines);
        prop_assert!(!all.iter().any(is_html), "{}", lines);
        prop_assert!(all.iter().all(|e| !matches!(e, Event::Code(_) | Event::Start(Tag::Link { .. } | Tag::Image { .. } | Tag::List(_) | Tag::CodeBlock(_) | Tag::Heading { .. } | Tag::BlockQuote(_) | Tag::Table(_) | Tag::Emphasis | Tag::Strong | Tag::Strikethrough))), "{}", lines);
        prop_assert_eq!(words(&text_of(&all)).concat(), words(&seen(&text)).concat());
    }

    /// Whatever a model wrote: no HTML, and nothing reaches beyond its end.
    #[test]
    fn any_written_text_keeps_to_itself(text in r"([<>a`~*\[\]()!&#/ \n-]|script|javascript:|http://x){0,40}") {
        let out = written(&text);
        prop_assert!(!events(&out).iter().any(is_html), "{}", out);
        prop_assert!(ends(&out), "{}", out);
    }
}
