//! Every word stands out against what is behind it, worked out by the rules of WCAG.

use testkit::{Browser, Shape};

use super::kit::{browser, made, serve, synced};

/// All texts of the page that are seen and stand out by less than 4.5 to 1.
const WEAK: &str = r#"
    const numbers = (css) => css.match(/[\d.]+/g).map(Number);
    const over = ([r, g, b, a = 1], [R, G, B]) => [r * a + R * (1 - a), g * a + G * (1 - a), b * a + B * (1 - a)];
    const light = (rgb) => {
        const [r, g, b] = rgb.map((c) => c / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const ratio = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); };
    const behind = (element) => {
        const all = [];
        for (let up = element; up; up = up.parentElement) all.unshift(numbers(getComputedStyle(up).backgroundColor));
        return all.reduce((below, colour) => over(colour, below), [255, 255, 255]);
    };
    const seen = new Map();
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    let texts = 0;
    while (walker.nextNode()) {
        const element = walker.currentNode.parentElement;
        if (!walker.currentNode.data.trim() || !element.checkVisibility({ visibilityProperty: true })) continue;
        let opacity = 1;
        for (let up = element; up; up = up.parentElement) opacity *= Number(getComputedStyle(up).opacity);
        if (opacity === 0) continue;
        texts++;
        const style = getComputedStyle(element);
        const ink = numbers(element instanceof SVGElement ? style.fill : style.color);
        const paper = behind(element);
        const found = ratio(over([ink[0], ink[1], ink[2], (ink[3] ?? 1) * opacity], paper), paper);
        if (found < 4.5) seen.set(element.localName + '.' + element.getAttribute('class') + ' ' + found.toFixed(2), walker.currentNode.data.trim().slice(0, 40));
    }
    for (const field of document.querySelectorAll('[placeholder]')) {
        const paper = behind(field);
        const found = ratio(over(numbers(getComputedStyle(field, '::placeholder').color), paper), paper);
        if (found < 4.5) seen.set('placeholder ' + found.toFixed(2), field.placeholder);
    }
    return [texts, [...seen].map((pair) => pair.join(': '))];
"#;

fn check(browser: &Browser, what: &str) {
    let found = browser.run(WEAK);
    assert!(found[0].as_u64() > Some(10), "{what}: {found}");
    assert_eq!(found[1].as_array().map(Vec::len), Some(0), "{what}: {found}");
}

#[test]
fn every_word_stands_out_in_both_themes() {
    let (home, truth) = made(Shape::Demo, 0);
    let served = serve(&home);
    synced(&served, "AssertionError");
    let browser = browser();
    let mut paths: Vec<String> = [
        "/",
        "/search?q=test",
        "/errors",
        "/usage",
        "/storage",
        "/journal?project=/home/mara/code/drizzle",
    ]
    .map(Into::into)
    .to_vec();
    paths.extend(truth.sessions.iter().map(|session| format!("/s/{}?d=4", session.id)));
    for path in paths {
        browser.open(&format!("{}{path}", served.url));
        browser.until("!document.querySelector('#theme').hidden");
        browser.run(
            "document.querySelectorAll('details').forEach((details) => { details.open = true; })",
        );
        browser.until("[...document.querySelectorAll('.subagent[data-agent] .inside')].every((inside) => inside.children.length > 0)");
        for scheme in ["light", "dark"] {
            browser.scheme(scheme);
            check(&browser, &format!("{path}, {scheme}"));
            browser.resize(390, 844);
            check(&browser, &format!("{path}, {scheme}, on a phone"));
            browser.resize(1440, 900);
        }
    }
}
