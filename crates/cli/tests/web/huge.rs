//! A session of 50 MB: shown at once, scrolled through, searched.

use testkit::Shape;

use super::kit::{browser, made, serve};

/// Loose limits, for a build that is not optimised on a machine that has more to do; `xtask bench
/// page` holds the real ones.
const USABLE: f64 = 20_000.0;
const FIND: f64 = 15_000.0;
const ELEMENTS: u64 = 20_000;

#[test]
fn a_huge_session_is_read_through_a_window() {
    let (home, truth) = made(Shape::OneHuge, 50_000_000);
    let id = &truth.sessions.last().expect("the huge one").id;
    let served = serve(&home);
    let browser = browser();
    // Whoever comes while the files are being read sees the list as soon as it is there.
    browser.open(&served.url);
    browser.until("document.querySelectorAll('table.list a').length > 3");
    browser.open(&format!("{}/s/{id}", served.url));
    let ready = browser.until("document.documentElement.dataset.ready && document.querySelector('article.prompt')?.checkVisibility() && document.documentElement.dataset.ready");
    let usable: f64 = ready.as_str().and_then(|ms| ms.parse().ok()).expect("a time");
    println!("usable after {usable:.0} ms");
    assert!(usable < USABLE);
    let sections = browser.count("section.piece");
    assert!(sections > 100, "{sections}");
    let mut most = 0;
    for step in 0..=20 {
        let to = format!("scrollTo(0, document.documentElement.scrollHeight * {step} / 20)");
        browser.run(&to);
        // What is on the screen has content.
        browser.until(
            "[...document.querySelectorAll('section.piece')].every((section) => {
                const box = section.getBoundingClientRect();
                return box.bottom < 0 || box.top > innerHeight || section.hasAttribute('data-full');
            })",
        );
        most = most.max(browser.count("*"));
    }
    println!("at most {most} elements in {sections} pieces");
    assert!(most < ELEMENTS, "{most}");
    let last = "document.querySelector('section.piece:last-of-type')";
    browser.run("scrollTo(0, document.documentElement.scrollHeight)");
    browser.until(&format!("{last}.hasAttribute('data-full') && {last}.textContent.length > 10"));
    browser.press("/");
    for word in ["module_7", "module_8"] {
        browser.run("const f = document.querySelector('#find'); f.focus(); f.select(); delete document.documentElement.dataset.findMs;");
        browser.press(word);
        let took = browser.until("document.documentElement.dataset.findMs && document.querySelector('.find span').textContent.includes(' of ') && document.documentElement.dataset.findMs");
        println!("found {word} in {took} ms: {}", browser.see(".find span"));
        let took: f64 = took.as_str().and_then(|ms| ms.parse().ok()).expect("a time");
        assert!(took < FIND);
    }
}
