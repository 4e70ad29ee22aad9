//! Nothing that stands in a transcript runs, or asks anything of anybody.

use report::page::document::{STYLES, joined_script};
use testkit::browser::Said;
use testkit::{Browser, Served, Truth};

use super::hostile::{self, Depth};
use super::kit::{browser, serve, synced};

/// What a page is made of beside what it shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Made {
    /// Styles and code of the server.
    Served,
    /// One style and one script, both in it, both ours to the letter.
    Whole,
    /// Files of styles and code beside it.
    Beside,
    /// A file of styles beside it, and no code.
    Plain,
}

impl Made {
    /// The sources of its scripts; one that is in the page is told as its text.
    fn scripts(self) -> Vec<&'static str> {
        match self {
            Self::Served => vec!["/assets/main.js"],
            Self::Whole => vec![joined_script()],
            Self::Beside => vec!["page.js"],
            Self::Plain => Vec::new(),
        }
    }

    fn styles(self) -> Vec<&'static str> {
        match self {
            Self::Whole => vec![STYLES],
            _ => Vec::new(),
        }
    }
}

/// Waits until the page stands, unfolds and unpacks everything, and tells what there is.
const LOOK: &str = r#"
    const done = arguments[arguments.length - 1];
    const all = (selector) => [...document.querySelectorAll(selector)];
    const pause = () => new Promise((go) => setTimeout(go, 10));
    const until = async (is) => { for (let n = 0; n < 2000 && !is(); n++) await pause(); return is(); };
    (async () => {
        const stands = await until(() => document.readyState === 'complete' && !document.querySelector('#theme')?.hidden);
        const filled = await until(() => {
            const next = all('section.piece').find((piece) => !piece.hasAttribute('data-full'));
            next?.scrollIntoView();
            return !next || all('section.piece').length > 12;
        });
        all('details').forEach((details) => { details.open = true; });
        const opened = await until(() => all('.subagent[data-agent] .inside').every((inside) => inside.textContent !== 'Reading…' && inside.childNodes.length > 0));
        const here = location.protocol === 'file:' ? location.href.replace(/[^/]*$/, '') : location.origin + '/';
        const own = (address) => address === '' || new URL(address, location.href).href.startsWith(here) || /^(data|blob):/.test(address);
        const asked = performance.getEntriesByType('resource').map((entry) => entry.name).filter((name) => !own(name));
        // As the browser reads an address, with all that it overlooks.
        const acts = (address) => URL.canParse(address, location.href) && /^(javascript:|vbscript:|data:(?!image\/|application\/pdf|,))/.test(new URL(address, location.href).href);
        const acting = all('*').flatMap((element) => [...element.attributes]
            .filter(({ name, value }) => name.startsWith('on') || name === 'srcdoc' || (/^(href|src|action|xlink:href|formaction)$/.test(name) && acts(value)))
            .map(({ name, value }) => element.localName + ' ' + name + '=' + value));
        const odd = all('iframe, object, embed, base, textarea, math, foreignObject, animate, set, use, meta[http-equiv=refresh]').map((e) => e.outerHTML.slice(0, 200));
        const away = all('img, video, audio, source, link, script').map((e) => e.getAttribute('src') ?? e.getAttribute('href')).filter((address) => address && !own(address));
        const scripts = all('script').map((e) => e.getAttribute('src') ?? e.textContent);
        const styles = all('style').map((e) => e.textContent);
        done({ stands, filled, opened, ran: globalThis.__ran ?? null, asked, acting, odd, away, scripts, styles });
    })();"#;

/// Opens an address, unfolds everything, and holds that nothing has run but what the page is made
/// of, and that nothing was asked for elsewhere.
pub fn opened_safely(browser: &Browser, url: &str, made: Made) {
    browser.open(url);
    let found = browser.wait_for(LOOK);
    assert_eq!(browser.dialog(), None, "{url}");
    let clean = serde_json::json!({
        "stands": true, "filled": true, "opened": true, "ran": null, "asked": [], "acting": [],
        "odd": [], "away": [], "scripts": made.scripts(), "styles": made.styles(),
    });
    assert_eq!(found, clean, "{url}");
    // A picture whose bytes are none is not there, and the browser says so.
    let is_picture = |text: &str| text.contains("/media/") && text.contains("status of 404");
    let is_fault = |said: &Said| said.level != "INFO" && !is_picture(&said.text);
    let said: Vec<_> = browser.log().into_iter().filter(is_fault).collect();
    assert!(said.is_empty(), "{url}: {said:?}");
}

/// Opens all pages of a server; how many pages of files were among them.
fn walk(served: &Served, truth: &Truth) -> usize {
    let browser = browser();
    let open = |path: &str| opened_safely(&browser, &format!("{}{path}", served.url), Made::Served);
    synced(served, "alert");
    for path in ["/", "/errors", "/usage", "/storage", "/journal", "/search", "/search?q=alert"] {
        open(path);
    }
    let links = "return [...document.querySelectorAll('main a[href^=\"/\"]')].map((a) => a.getAttribute('href'))";
    let mut pages: Vec<String> = Vec::new();
    for path in ["/", "/errors", "/storage", "/journal"] {
        open(path);
        let found = browser.run(links);
        let found = found.as_array().expect("links").iter().filter_map(|link| link.as_str());
        let is_page = |link: &&str| {
            ["/p/", "/file?", "/journal?"].iter().any(|begin| link.starts_with(begin))
        };
        pages.extend(found.filter(is_page).map(str::to_owned));
    }
    pages.sort();
    pages.dedup();
    assert!(pages.len() > 5, "{pages:?}");
    for path in pages.iter().take(60) {
        open(path);
    }
    let sessions = hostile::sessions(served);
    assert!(sessions.len() * 2 > truth.sessions.len(), "{} sessions", sessions.len());
    let mut files = Vec::new();
    for path in &sessions {
        for level in 1..=5 {
            open(&format!("{path}?d={level}"));
        }
        let file = browser.run("return document.querySelector('#facts a[href^=\"/file\"]')?.getAttribute('href') ?? null");
        files.extend(file.as_str().map(str::to_owned));
        let file = browser.run(
            "return document.querySelector('.path a[href*=\"at=\"]')?.getAttribute('href') ?? null",
        );
        files.extend(file.as_str().map(str::to_owned));
    }
    files.iter().take(10).for_each(|file| open(file));
    let payload = hostile::query();
    for path in [
        "/search?q=",
        "/file?path=",
        "/errors?session=",
        "/journal?project=",
        "/p/",
        "/s/",
        "/usage?project=",
        "/?sort=",
    ] {
        open_refused(&browser, &format!("{}{path}{payload}", served.url));
    }
    files.len()
}

/// As [`opened_safely`], for a page that may not be there: the browser then says so.
fn open_refused(browser: &Browser, url: &str) {
    browser.open(url);
    assert_eq!(browser.dialog(), None, "{url}");
    assert_eq!(browser.run("return globalThis.__ran ?? null"), serde_json::Value::Null, "{url}");
    let said = browser.log();
    let is_fault = |text: &str| text.contains("Policy") || text.contains("Trusted");
    assert!(!said.iter().any(|said| is_fault(&said.text)), "{url}: {said:?}");
}

#[test]
fn hostile_texts_stay_texts() {
    let (home, truth) = hostile::home(Depth::Texts);
    assert!(walk(&serve(&home), &truth) > 2);
}

#[test]
fn hostile_names_and_ids_stay_texts() {
    let (home, truth) = hostile::home(Depth::Names);
    walk(&serve(&home), &truth);
}

#[test]
fn hostile_types_and_addresses_stay_texts() {
    let (home, truth) = hostile::home(Depth::All);
    walk(&serve(&home), &truth);
}

#[test]
fn what_runs_or_could_is_seen() {
    let folder = tempfile::tempdir().expect("a folder");
    let browser = browser();
    let is_safe = |body: &str| {
        let path = folder.path().join("page.html");
        std::fs::write(&path, format!("<!doctype html><title>x</title><p>{body}</p>"))
            .expect("written");
        let url = format!("file://{}", path.display());
        let opened = std::panic::AssertUnwindSafe(|| opened_safely(&browser, &url, Made::Plain));
        std::panic::catch_unwind(opened).is_ok()
    };
    assert!(is_safe("plain"));
    for body in [
        "<script>globalThis.__ran = 1</script>",
        "<b onclick='x'>x</b>",
        "<a href=' javascript:x'>x</a>",
        "<iframe></iframe>",
        "<img src='http://127.0.0.1:9/x.png'>",
        "<script>console.error('no')</script>",
    ] {
        assert!(!is_safe(body), "{body}");
    }
}
