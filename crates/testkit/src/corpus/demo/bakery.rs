//! The web shop of a bakery.

use std::io;

use super::{OPUS, SONNET, Story};
use crate::clock::at;
use crate::entry;
use crate::scribe::tool::Change;
use crate::{arr, members, obj};

pub(super) const CWD: &str = "/home/mara/code/bakery-shop";
const BASKET: &str = "/home/mara/code/bakery-shop/src/basket.ts";
const CHECKOUT: &str = "/home/mara/code/bakery-shop/src/checkout.ts";

const BASKET_TS: &str = r#"import { Item } from "./item";

export function total(items: Item[]): number {
  return items.reduce((sum, item) => sum + item.price * item.count, 0);
}

export function withDiscount(items: Item[], percent: number): number {
  return total(items) * (1 - percent / 100);
}
"#;

pub(super) fn tell(story: &mut Story<'_>) -> io::Result<()> {
    cents(story)?;
    hours(story)?;
    checkout(story)?;
    images(story)
}

fn cents(story: &mut Story<'_>) -> io::Result<()> {
    let mut s = story.open("a total that is off by a cent", CWD, OPUS, at(2026, 4, 23, 9, 30))?;
    s.envelope.branch = "fix-rounding".into();
    let prompt = story.ask(
        &mut s,
        "A customer was charged 10.34 for a basket that shows 10.35. Find out why and fix it.",
    );
    s.grep("discount|total", &[BASKET, CHECKOUT]);
    s.read(BASKET, BASKET_TS);
    s.think("Prices are floating point euros. 11.5 * 0.9 is 10.35 on paper, and 10.350000000000001 or 10.349999999999998 in practice depending on the order of operations; the page rounds and the checkout truncates.");
    s.say("Prices are kept as floating-point euros: the page rounds, the checkout cuts off. I'll show it with a test and then count in cents.");
    s.bash_fail("npm test -- basket", "Run the basket tests", 1, " FAIL  src/basket.test.ts > a tenth off\nAssertionError: expected 10.349999999999998 to be 10.35\n\n Tests  1 failed | 6 passed (7)");
    story.edit(
        &mut s,
        &prompt,
        Change {
            path: BASKET,
            original: BASKET_TS,
            old: "  return total(items) * (1 - percent / 100);",
            new: "  return Math.round((total(items) * (100 - percent)) / 100);",
        },
    )?;
    s.say("`price` is in cents from here on; the page divides by 100 when it prints.");
    s.bash("npm test", "Run all tests", " Tests  31 passed (31)");
    s.commit("Count money in cents", "fix-rounding", 6);
    s.bash(
        "gh pr create --fill",
        "Open the pull request",
        "https://github.com/mara/bakery-shop/pull/27",
    );
    s.pr_link("mara/bakery-shop", 27);
    s.say("Fixed: amounts are whole cents everywhere and rounded once, when a discount is applied. The pull request is #27.");
    story.turn_end(&mut s, 205);
    story.ask(&mut s, "Do old orders need a migration?");
    s.grep("orders", &["/home/mara/code/bakery-shop/db/schema.sql"]);
    s.say("No. Orders store the amount that was charged as a decimal with two places, and nothing computes with it again.");
    s.pr_link("mara/bakery-shop", 27);
    story.close(s, "Fix rounding of basket totals", "Do old orders need a migration?")
}

fn hours(story: &mut Story<'_>) -> io::Result<()> {
    let mut s = story.open("a short job", CWD, SONNET, at(2026, 4, 29, 12, 10))?;
    story.ask(&mut s, "Put our opening hours into the footer: Tuesday to Saturday, 7 to 18.");
    let path = "/home/mara/code/bakery-shop/src/footer.html";
    s.read(path, "<footer>\n  <p>Bakery on the corner</p>\n</footer>\n");
    s.edit(Change {
        path,
        original: "<footer>\n  <p>Bakery on the corner</p>\n</footer>\n",
        old: "  <p>Bakery on the corner</p>",
        new: "  <p>Bakery on the corner</p>\n  <p>Tuesday to Saturday, 7:00 to 18:00</p>",
    });
    s.commit("Show opening hours in the footer", "main", 1);
    s.say("Done: the hours stand below the name, in the footer of every page.");
    story.turn_end(&mut s, 31);
    story.close(
        s,
        "Add opening hours to the footer",
        "Put our opening hours into the footer: Tuesday to Saturday, 7 to 18.",
    )
}

fn checkout(story: &mut Story<'_>) -> io::Result<()> {
    let mut s = story.open("errors on the way", CWD, OPUS, at(2026, 5, 6, 14, 20))?;
    let id = s.envelope.session.clone();
    let prompt = story.ask(
        &mut s,
        "The checkout page crashes when the basket is empty. Stack trace is in logs/checkout.log.",
    );
    s.fails(
        "Read",
        obj! { "file_path": "/home/mara/code/bakery-shop/log/checkout.log" },
        "File does not exist.",
    );
    s.say("The folder is called `logs`.");
    s.bash("tail -5 logs/checkout.log", "Show the end of the log", "TypeError: Cannot read properties of undefined (reading 'price')\n    at firstItem (src/checkout.ts:12:24)\n    at render (src/checkout.ts:31:9)");
    let code = "import { Item } from \"./item\";\n\nfunction firstItem(items: Item[]): string {\n  return `${items[0].name}, ${items[0].price}`;\n}\n";
    s.read(CHECKOUT, code);
    s.fails("Edit", obj! { "file_path": CHECKOUT, "old_string": "items[0].title", "new_string": "items[0]?.title" }, "<tool_use_error>String to replace not found in file.\nString: items[0].title</tool_use_error>");
    story.edit(&mut s, &prompt, Change {
        path: CHECKOUT,
        original: code,
        old: "  return `${items[0].name}, ${items[0].price}`;",
        new: "  const first = items.at(0);\n  return first ? `${first.name}, ${first.price}` : \"Your basket is empty\";",
    })?;
    s.bash_fail(
        "npm test -- checkout",
        "Run the checkout tests",
        1,
        " FAIL  src/checkout.test.ts\nError: Cannot find module './fixtures/empty-basket.json'",
    );
    s.create_file("/home/mara/code/bakery-shop/src/fixtures/empty-basket.json", "[]\n");
    s.bash("npm test -- checkout", "Run the checkout tests", " Tests  5 passed (5)");
    s.commit("Show a message for an empty basket", "main", 3);
    s.say("An empty basket now shows \"Your basket is empty\" instead of crashing. The test that should have caught it referred to a missing fixture, which I added.");
    story.turn_end(&mut s, 167);
    story.book.side(&format!("debug/{id}.txt"), "2026-05-06T14:20:35.120Z [DEBUG] Loading settings from /home/mara/.claude/settings.json\n2026-05-06T14:20:41.004Z [DEBUG] Tool Read failed: File does not exist.\n2026-05-06T14:21:02.377Z [ERROR] Tool Edit failed: String to replace not found in file.\n")?;
    story.close(
        s,
        "Handle an empty basket at checkout",
        "The checkout page crashes when the basket is empty.",
    )
}

fn images(story: &mut Story<'_>) -> io::Result<()> {
    let mut s =
        story.open("an interruption and an API error", CWD, OPUS, at(2026, 5, 9, 10, 45))?;
    story.ask(&mut s, "The product page feels slow. Measure before you change anything.");
    let call = s.call("Bash", obj! { "command": "npx lighthouse http://localhost:5173/products --quiet", "description": "Measure the page" });
    s.fail(&call, "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file). STOP what you are doing and wait for the user to tell you how to proceed.");
    s.user(&arr![entry::text("[Request interrupted by user for tool use]")], "");
    story.ask(&mut s, "Not against the dev server, please. Use the build in dist.");
    s.system("api_error", &members! { "level": "error", "error": obj! { "status": 529 }, "retryInMs": 612.4, "retryAttempt": 1, "maxRetries": 10 });
    s.bash("npx lighthouse http://localhost:4173/products --quiet --output json | jq .audits.\"largest-contentful-paint\".displayValue", "Measure the built page", "\"4.1 s\"");
    s.bash("ls -lS dist/images | head -4", "Find the largest images", "-rw-r--r-- 1 mara mara 2418331 rye.png\n-rw-r--r-- 1 mara mara 1990142 plaits.png\n-rw-r--r-- 1 mara mara  804211 buns.png");
    s.say("The page is drawn after 4.1 seconds, nearly all of it spent on three photographs stored as PNG. Saved as WebP they would be about 200 KB each. Shall I convert them?");
    let (session, now) = (s.envelope.session.clone(), crate::clock::iso(s.now));
    s.line(
        "queue-operation",
        &entry::queue(
            "enqueue",
            Some("yes, and keep the originals outside of dist"),
            &session,
            &now,
        ),
    );
    s.line("queue-operation", &entry::queue("dequeue", None, &session, &now));
    story.ask(&mut s, "yes, and keep the originals outside of dist");
    s.bash("for f in rye plaits buns; do cwebp -q 82 photos/$f.png -o dist/images/$f.webp; done && du -ch dist/images/*.webp | tail -1", "Convert the photographs", "584K\ttotal");
    s.commit("Serve photographs as WebP", "main", 7);
    s.meta("<system-reminder>The date has not changed.</system-reminder>");
    s.say("Converted; the originals stay in `photos`. The page is now drawn after 1.3 seconds.");
    story.turn_end(&mut s, 74);
    story.close(s, "Speed up the product page", "yes, and keep the originals outside of dist")
}
