//! Nothing that stands in a transcript runs, or asks anything of anybody.

use testkit::browser::Said;
use testkit::{Browser, Served, Truth};

use super::hostile::{self, Depth};
use super::kit::{browser, serve, synced};

/// Opens an address, unfolds everything, and holds that nothing has run and nothing was asked for
/// elsewhere. Also for files: whatever has a page can be opened here.
pub fn opened_safely(browser: &Browser, url: &str) {
    browser.open(url);
    browser
        .until("document.readyState === 'complete' && !document.querySelector('#theme')?.hidden");
    browser
        .run("document.querySelectorAll('details').forEach((details) => { details.open = true; })");
    browser.until("[...document.querySelectorAll('.subagent[data-agent] .inside')].every((inside) => inside.textContent !== 'Reading…' && inside.childNodes.length > 0)");
    assert_eq!(browser.dialog(), None, "{url}");
    let found = browser.run(
        "const own = (address) => address === '' || new URL(address, location.href).origin === location.origin || /^(data|blob):/.test(address);
        const asked = performance.getEntriesByType('resource').map((entry) => entry.name).filter((name) => !own(name));
        const acting = [...document.querySelectorAll('*')].flatMap((element) => [...element.attributes]
            .filter(({ name, value }) => name.startsWith('on') || name === 'srcdoc' || (/^(href|src|action|xlink:href|formaction)$/.test(name) && /^\\s*(javascript|data:text|vbscript)/i.test(value)))
            .map(({ name, value }) => element.localName + ' ' + name + '=' + value));
        const odd = [...document.querySelectorAll('iframe, object, embed, base, script:not([src^=\"/assets/\"]), style, textarea, math, foreignObject, animate, set, use, meta[http-equiv=refresh]')].map((e) => e.outerHTML.slice(0, 200));
        const away = [...document.querySelectorAll('img, video, audio, source, link, script')].map((e) => e.getAttribute('src') ?? e.getAttribute('href')).filter((address) => address && !own(address));
        return { ran: globalThis.__ran ?? null, asked, acting, odd, away };",
    );
    let clean =
        serde_json::json!({ "ran": null, "asked": [], "acting": [], "odd": [], "away": [] });
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
    let open = |path: &str| opened_safely(&browser, &format!("{}{path}", served.url));
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
    for (at, path) in sessions.iter().enumerate() {
        // What a level shows, the fourth shows as well; the fifth shows everything otherwise.
        for level in [1 + at % 3, 5, 4] {
            open(&format!("{path}?d={level}"));
        }
        let file = browser.run("return document.querySelector('#facts a[href^=\"/file\"]')?.getAttribute('href') ?? null");
        files.extend(file.as_str().map(str::to_owned));
    }
    files.iter().take(5).for_each(|file| open(file));
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
        let opened = std::panic::AssertUnwindSafe(|| opened_safely(&browser, &url));
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
