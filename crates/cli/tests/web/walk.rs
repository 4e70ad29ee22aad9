//! A person's way through all pages.

use testkit::browser::key::{ENTER, ESCAPE, TAB};
use testkit::{Browser, Served, Shape};

use super::kit::{browser, case, made, screenshot, serve, synced};

const READY: &str = "document.documentElement.dataset.ready";

fn open_session(browser: &Browser, served: &Served, id: &str) {
    browser.open(&format!("{}/s/{id}", served.url));
    browser.until(READY);
}

/// Whether something is on the screen, and nothing that it is in is closed.
fn is_in_view(browser: &Browser, selector: &str) -> bool {
    let code = "
        const element = document.querySelector(arguments[0]);
        if (!element || !element.checkVisibility()) return false;
        const box = element.getBoundingClientRect();
        return box.bottom > 0 && box.top < innerHeight;";
    browser.run_with(code, &[selector.into()]) == true
}

fn text(browser: &Browser, expression: &str) -> String {
    browser.run(&format!("return String({expression})")).as_str().unwrap_or_default().to_owned()
}

#[test]
fn a_session_is_picked_and_read() {
    let (home, _) = made(Shape::Demo, 0);
    let served = serve(&home);
    let browser = browser();
    browser.open(&served.url);
    browser.until("document.querySelectorAll('table.list a').length > 10");
    browser.follow("drizzle: cache on disk");
    browser.until(READY);
    assert!(is_in_view(&browser, "article.prompt"));
    // Five levels, each with a word on what it hides.
    for (level, shown, hidden) in [
        ("1", "article.prompt", ".answer, .row"),
        ("2", ".answer", ".row:not([data-kind=plan], [data-kind=summary])"),
        ("4", ".row", "main[data-d='3']"),
        ("5", "article, .row, .band", "main[data-d='4']"),
        ("3", ".row", "main[data-d='5']"),
    ] {
        browser.press(level);
        browser.until(&format!(
            "document.querySelector('main.session[data-d=\"{level}\"]') && {READY}"
        ));
        assert!(browser.count(shown) > 0, "level {level} shows {shown}");
        let code = "return [...document.querySelectorAll(arguments[0])].filter((e) => e.checkVisibility()).length";
        assert_eq!(browser.run_with(code, &[hidden.into()]), 0, "level {level} hides {hidden}");
        if level < "4" {
            assert!(browser.see(".foot").contains("Hidden at level"), "{}", browser.see(".foot"));
        }
    }
    assert!(browser.url().contains("d=3"), "{}", browser.url());
    // Record by record, prompt by prompt.
    let here = "document.querySelector('.current')?.id";
    browser.press("j");
    let first = text(&browser, here);
    browser.press("j");
    let second = text(&browser, here);
    assert_ne!(first, second);
    browser.press("k");
    assert_eq!(text(&browser, here), first);
    browser.press("J");
    browser.until("document.querySelector('.current')?.matches('article.prompt')");
    // The turns that hold a word.
    browser.press("f");
    browser.press("expiry");
    let left = "[...document.querySelectorAll('.turns li[data-entry]')].filter((li) => li.checkVisibility()).length";
    assert_eq!(browser.until(&format!("{left} === 1 && {left}")), 1);
    // A word anywhere in the session, also in what is folded.
    browser.run("document.activeElement.blur()");
    browser.press("/");
    browser.until("document.activeElement.id === 'find'");
    browser.press("cache");
    browser.press(ENTER);
    browser.until("document.querySelector('.find span').textContent.startsWith('1 of ')");
    browser.until("document.activeElement.id !== 'find'");
    browser.press("n");
    browser.until("document.querySelector('.find span').textContent.startsWith('2 of ')");
    browser.press("N");
    browser.until("document.querySelector('.find span').textContent.startsWith('1 of ')");
    browser.press(ESCAPE);
    browser.until("!document.querySelector('.find').checkVisibility()");
    assert_no_faults(&browser);
}

#[test]
fn a_subagent_is_opened_in_place_and_alone() {
    let (home, truth) = made(Shape::Demo, 0);
    let served = serve(&home);
    let browser = browser();
    let id = &truth.sessions.iter().find(|s| s.subagents.len() == 2).expect("one with two").id;
    open_session(&browser, &served, id);
    for closed in [
        "details.sentence:has(.subagent):not([open])>summary",
        "details.row:has(.subagent):not([open])>summary",
    ] {
        if browser.count(closed) > 0 {
            browser.click(closed);
        }
    }
    browser.click(".subagent>summary b");
    let inside = browser.until("document.querySelector('.subagent .inside article')?.textContent");
    assert!(inside.as_str().unwrap_or_default().contains("touches the file system"), "{inside}");
    let is_shown = "return document.querySelector('.subagent .inside article').checkVisibility()";
    assert_eq!(browser.run(is_shown), true);
    browser.click(".subagent>summary a");
    browser.until(&format!("location.pathname.includes('/a/') && {READY}"));
    assert!(browser.see("h1").contains("Explore"));
    assert_no_faults(&browser);
}

#[test]
fn branches_are_switched_and_errors_stepped_through() {
    let (home, truth) = made(Shape::Hard, 0);
    let served = serve(&home);
    let browser = browser();
    open_session(&browser, &served, case(&truth, "a prompt typed again after going back"));
    let words = "document.querySelector('#text').innerText";
    let active = text(&browser, words);
    assert!(active.contains("Spaces it is.") && !active.contains("Tabs it is."), "{active}");
    browser.follow("abandoned 1 of 1");
    browser.until(&format!("location.search.includes('branch=1') && {READY}"));
    let left = text(&browser, words);
    assert!(left.contains("Tabs it is.") && !left.contains("Spaces it is."), "{left}");
    browser.follow("active branch");
    browser.until(&format!("!location.search.includes('branch') && {READY}"));
    assert_eq!(text(&browser, words), active);
    // The same at the place where they part, one step back and one forth.
    assert_eq!(browser.see(".branches .n").trim(), "2 / 2");
    browser.click(".branches a.way");
    browser.until(&format!("location.search.includes('branch=1') && {READY}"));
    assert_eq!(browser.see(".branches .n").trim(), "1 / 2");
    let left = text(&browser, words);
    assert!(left.contains("Tabs it is.") && !left.contains("Spaces it is."), "{left}");
    browser.click(".branches a.way");
    browser.until(&format!("!location.search.includes('branch') && {READY}"));
    assert_eq!(text(&browser, words), active);
    open_session(
        &browser,
        &served,
        case(&truth, "three calls at once, one failed, results in another order"),
    );
    browser.press("e");
    let failed = "document.querySelector('.current')?.matches('[data-failed]')";
    browser.until(failed);
    let is_open = "return document.querySelector('.current').open";
    let before = browser.run(is_open);
    browser.press("o");
    assert_ne!(browser.run(is_open), before);
    assert_no_faults(&browser);
}

#[test]
fn what_a_tool_has_said_is_found_and_opened() {
    let (home, _) = made(Shape::Demo, 0);
    let served = serve(&home);
    synced(&served, "AssertionError");
    let browser = browser();
    browser.open(&served.url);
    browser.type_into("#search", &format!("AssertionError{ENTER}"));
    browser.until("location.pathname === '/search'");
    assert!(browser.see(".hit mark").contains("AssertionError"));
    pictures(&browser, "search");
    browser.click(".hit a");
    browser.until(&format!("{READY} && location.pathname.startsWith('/s/')"));
    // The words themselves are on the screen, not only the call they belong to.
    browser.until(
        "(() => {
            const walker = document.createTreeWalker(document.querySelector('#text'), NodeFilter.SHOW_TEXT);
            while (walker.nextNode()) {
                const node = walker.currentNode;
                const at = node.data.indexOf('AssertionError');
                if (at < 0 || !node.parentElement.checkVisibility()) continue;
                const range = new Range();
                range.setStart(node, at);
                range.setEnd(node, at + 5);
                const box = range.getBoundingClientRect();
                if (box.height > 0 && box.top > 40 && box.bottom < innerHeight) return true;
            }
            return false;
        })()",
    );
    assert_no_faults(&browser);
}

#[test]
fn every_other_page_has_what_it_is_for() {
    let (home, truth) = made(Shape::Demo, 0);
    let served = serve(&home);
    synced(&served, "AssertionError");
    let browser = browser();
    let edited = truth.sessions.iter().find(|s| !s.touched.is_empty()).expect("one with edits");
    browser.open(&served.url);
    browser.until("document.querySelectorAll('table.list a').length > 10");
    pictures(&browser, "list");
    open_session(&browser, &served, &edited.id);
    browser.see("#facts figure svg");
    pictures(&browser, "session");
    browser.click("#facts a[href^='/file']");
    browser.until("location.pathname === '/file'");
    assert!(browser.see(".diff .add").len() > 1);
    browser.follow("Errors");
    browser.until("location.pathname === '/errors'");
    assert!(browser.see("main").contains("cargo test"));
    browser.follow("Usage");
    browser.until("location.pathname === '/usage'");
    let charts = "[...document.querySelectorAll('figure')].map((f) => [f.querySelectorAll('svg.chart').length, f.querySelectorAll('table tr').length])";
    let charts = browser.until(&format!("{charts}.length && {charts}"));
    let charts = charts.as_array().expect("a list");
    assert!(charts.len() >= 3, "{charts:?}");
    for chart in charts {
        assert!(chart[0] == 1 && chart[1].as_u64() > Some(1), "a chart and its table: {charts:?}");
    }
    pictures(&browser, "usage");
    browser.follow("Storage");
    browser.until("location.pathname === '/storage'");
    assert!(browser.count("table tr") > 1);
    browser.follow("Journal");
    browser.until("location.pathname === '/journal'");
    assert!(browser.see("main").contains("drizzle"));
    // Light, dark, and as the system has it.
    let paper = "getComputedStyle(document.documentElement).backgroundColor";
    let before = text(&browser, paper);
    browser.press("t");
    browser.until("document.documentElement.dataset.theme === 'dark'");
    assert_ne!(text(&browser, paper), before);
    browser.press("?");
    assert!(browser.see("dialog[open]").contains("next / previous record"));
    assert_no_faults(&browser);
}

#[test]
fn the_keyboard_reaches_everything() {
    let (home, truth) = made(Shape::Demo, 0);
    let served = serve(&home);
    let browser = browser();
    let session = format!("/s/{}", truth.sessions[0].id);
    for path in ["/", &session] {
        browser.open(&format!("{}{path}", served.url));
        browser.until("document.querySelectorAll('main a').length > 3 && !document.querySelector('#theme').hidden");
        // What was used is put into the margin later.
        browser.until("!document.querySelector('#facts') || document.querySelector('#facts figure svg') !== null");
        browser.run(
            "globalThis.all = new Set([...document.querySelectorAll('a[href], button, input, summary')]
                .filter((e) => e.checkVisibility({ visibilityProperty: true }) && !e.disabled && e.tabIndex >= 0));
            globalThis.first = null;
            document.addEventListener('focusin', (event) => { first ??= event.target.className; all.delete(event.target); });
            return all.size",
        );
        let most = browser.run("return all.size + 20").as_u64().unwrap_or(0) as usize;
        browser.press(&TAB.repeat(most));
        assert_eq!(text(&browser, "first"), "skip", "{path}");
        let left = text(&browser, "[...all].map((e) => e.outerHTML.slice(0, 120)).join('\\n')");
        assert_eq!(left, "", "{path}: not reached");
    }
    // The first stop leads past everything that is on every page.
    browser.open(&served.url);
    browser.until("document.querySelectorAll('main a').length > 3");
    browser.press(TAB);
    browser.press(ENTER);
    browser.until("location.hash === '#text'");
}

/// Light, dark, and on a phone.
fn pictures(browser: &Browser, name: &str) {
    browser.screenshot(&screenshot(&format!("{name}-light")));
    browser.scheme("dark");
    browser.screenshot(&screenshot(&format!("{name}-dark")));
    browser.scheme("light");
    browser.resize(390, 844);
    let wide = text(browser, "document.documentElement.scrollWidth");
    browser.screenshot(&screenshot(&format!("{name}-phone")));
    browser.resize(1440, 900);
    assert_eq!(wide, "390", "{name} is wider than a phone");
}

fn assert_no_faults(browser: &Browser) {
    let said: Vec<_> = browser.log().into_iter().filter(|said| said.level != "INFO").collect();
    assert!(said.is_empty(), "{said:?}");
}
