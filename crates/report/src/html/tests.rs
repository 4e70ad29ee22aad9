use super::*;
use proptest::prelude::*;

fn written(write: impl FnOnce(&mut Html)) -> String {
    let mut html = Html::new();
    write(&mut html);
    html.into_string()
}

#[test]
fn text_is_text() {
    let html = written(|html| html.words("p", "x", "<b onclick='a'>&\"\u{202e}\u{0}\n"));
    let text =
        "&lt;b onclick=&#39;a&#39;&gt;&amp;&quot;\u{27e8}U+202E\u{27e9}\u{27e8}U+0000\u{27e9}\n";
    assert_eq!(html, format!("<p class=\"x\">{text}</p>"));
}

#[test]
fn addresses_lead_and_do_nothing_else() {
    for text in [
        "javascript:alert(1)",
        "JaVaScRiPt:alert(1)",
        " javascript:alert(1)",
        "java\nscript:alert(1)",
        "data:text/html,x",
        "vbscript:x",
        "file:///etc/passwd",
        "//elsewhere",
        "/s/x",
        "x",
        "",
    ] {
        assert_eq!(Url::written(text), None, "{text}");
    }
    for text in ["https://a.b/c?d#e", "http://a", "mailto:a@b", "#here"] {
        assert_eq!(Url::written(text).map(|url| url.as_str().to_owned()).as_deref(), Some(text));
    }
    assert_eq!(
        Url::path(&["s", "../x\"y"]).query("q", "a&b=c").as_str(),
        "/s/..%2Fx%22y?q=a%26b%3Dc"
    );
}

#[test]
fn markdown_has_no_html_and_no_pictures() {
    let text = "# a\n\n<script>alert(1)</script>\n\n[x](javascript:alert(1)) ![y](https://a/b.png)\n\n```rust\n<b>\n```\n";
    let html = written(|html| markdown::markdown(html, text));
    assert!(!html.contains("<script") && !html.contains("<img") && !html.contains("<b>"), "{html}");
    assert!(html.contains("<h3>a</h3>"), "{html}");
    assert!(html.contains("rel=\"noopener noreferrer\""), "{html}");
    assert!(!html.contains("href=\"javascript"), "{html}");
}

/// The tags of a page, without what stands in them.
fn tags(html: &str) -> Vec<&str> {
    html.split('<').skip(1).map(|tag| tag.split([' ', '>']).next().unwrap_or_default()).collect()
}

proptest! {
    #[test]
    fn no_text_adds_a_tag(text in "\\PC*", value in "\\PC*") {
        let html = written(|html| {
            html.tag("a").attr("title", &value).with(|html| html.text(&text));
        });
        prop_assert_eq!(tags(&html), ["a", "/a"]);
        prop_assert_eq!(html.matches('"').count(), 2);
    }

    #[test]
    fn markdown_gives_only_tags_of_its_own(text in "\\PC*") {
        let html = written(|html| markdown::markdown(html, &text));
        let known = "a blockquote br code del div em h3 h4 h5 h6 hr li ol p pre span strong table \
                     td thead tr ul";
        for tag in tags(&html) {
            let name = tag.strip_prefix('/').unwrap_or(tag);
            prop_assert!(known.split(' ').any(|k| k == name.trim()), "{} in {}", tag, html);
        }
    }
}
