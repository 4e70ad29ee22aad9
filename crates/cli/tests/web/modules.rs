//! Functions of the page's modules, called one by one in a real Chromium.

use serde_json::{Value, json};
use testkit::{Browser, Home};

use super::kit::{browser, serve};

/// Runs code in which `load` gives a module of the page; what it returns.
fn call(browser: &Browser, code: &str) -> Value {
    browser.wait_for(&format!(
        "const done = arguments[arguments.length - 1];
        const load = (name) => import(location.origin + '/assets/' + name);
        (async () => {{ {code} }})().then(done, (error) => done(String(error)));"
    ))
}

#[test]
fn the_functions_of_the_modules_do_what_they_say() {
    let home = Home::new();
    let served = serve(&home);
    let browser = browser();
    browser.open(&served.url);
    browser.until("!document.querySelector('#theme').hidden");
    texts(&browser);
    ranges(&browser);
    merged(&browser);
    keys(&browser);
    let said: Vec<_> = browser.log().into_iter().filter(|said| said.level != "INFO").collect();
    assert!(said.is_empty(), "{said:?}");
}

fn texts(browser: &Browser) {
    let found = call(
        browser,
        r#"const { parseHtml } = await load("dom.js");
        const { textsOf } = await load("find.js");
        return textsOf(parseHtml(`outside
            <article id="e1" title="a > b">One &lt;b&gt; <i>TWO</i></article>
            <details id="e2"><summary>Run</summary><p id="no">it</p><div id="x-e1">Inner</div></details>`))
            .map(({ id, text }) => [id, text.trim()]);"#,
    );
    assert_eq!(found, json!([["e1", "one <b> two"], ["e2", "runit"], ["x-e1", "inner"]]));
    let found = call(
        browser,
        r#"const { positionsOf } = await load("find.js");
        const { entryOfLink } = await load("selection.js");
        return [positionsOf("aaaaa", "aa"), positionsOf("abc", "x"), positionsOf("abc", ""),
            ["e12", "agent-e7", "facts", "e"].map((id) => entryOfLink(id) ?? null)];"#,
    );
    assert_eq!(found, json!([[0, 2], [], [], [12, 7, null, null]]));
}

fn ranges(browser: &Browser) {
    let found = call(
        browser,
        r#"const { make, parseHtml } = await load("dom.js");
        const { rangesOf } = await load("find.js");
        const box = make("div", {}, parseHtml("Cache <b>cache</b>s, ca<i>che</i>, CACHE"));
        const many = make("div", { textContent: "a ".repeat(150) });
        const twice = make("div", {}, many, many.cloneNode(true), many.cloneNode(true));
        return [rangesOf(box, "cAche").map(String), rangesOf(box, "none").length,
            rangesOf(twice, "a").length];"#,
    );
    // What is split by elements is not found; after 200 no further text is looked at.
    assert_eq!(found, json!([["Cache", "cache", "CACHE"], 0, 300]));
}

fn merged(browser: &Browser) {
    let found = call(
        browser,
        r#"const { make, setHtml } = await load("dom.js");
        const { mergePiece } = await load("live.js");
        const piece = (html) => { const made = make("section"); setHtml(made, html); return made; };
        const row = (id, text, open = "") => `<details id="${id}" ${open}>${text}</details>`;
        const old = piece(row("e1", "one") + row("e2", "two", "open") + row("e3", "three"));
        const [first, second, third] = old.children;
        first.open = true;
        second.open = false;
        mergePiece(old, piece(row("e1", "one") + row("e2", "two", "open") + row("e3", "more", "open") + row("e4", "four", "open")));
        const shorter = piece(row("e1", "one") + row("e2", "two"));
        mergePiece(shorter, piece(row("e1", "one")));
        return [[...old.children].map((row) => [row.textContent, row.open]),
            old.children[0] === first, old.children[1] === second, old.children[2] === third,
            shorter.children.length];"#,
    );
    let rows = json!([["one", true], ["two", false], ["more", false], ["four", true]]);
    assert_eq!(found, json!([rows, true, true, false, 1]));
}

fn keys(browser: &Browser) {
    let found = call(
        browser,
        r#"const { KEYS } = await load("keys.js");
        const all = KEYS.flatMap(({ keys }) => Object.keys(keys));
        return { are_different: new Set(all).size === all.length,
            have_help: KEYS.every(({ help }) => help.length > 3) };"#,
    );
    assert_eq!(found, json!({ "are_different": true, "have_help": true }));
    browser.press("?");
    let shown = browser.until("document.querySelectorAll('#keys[open] dt').length");
    assert_eq!(call(browser, r#"return (await load("keys.js")).KEYS.length"#), shown);
}
