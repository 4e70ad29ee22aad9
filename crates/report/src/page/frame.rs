//! What stands around every served page: where one can go.

use crate::html::{Html, Url};

/// Which page it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// All sessions, or those of a project.
    Sessions,
    /// One session.
    Session,
    /// What a search found.
    Search,
    /// What failed.
    Errors,
    /// Tokens and money.
    Usage,
    /// Bytes.
    Storage,
    /// A project day by day.
    Journal,
    /// None of these.
    Elsewhere,
}

/// The names of the five levels of detail.
pub const LEVELS: [&str; 5] = ["Prompts", "Conversation", "Work", "Everything", "Raw"];

const PLACES: [(Place, &str, &str); 5] = [
    (Place::Sessions, "Sessions", ""),
    (Place::Errors, "Errors", "errors"),
    (Place::Usage, "Usage", "usage"),
    (Place::Storage, "Storage", "storage"),
    (Place::Journal, "Journal", "journal"),
];

/// The bar at the top.
pub fn top(html: &mut Html, here: Place, query: &str) {
    html.tag("a").class("skip").href(&Url::place("text")).text("Skip to the text");
    html.tag("nav").class("top").attr("aria-label", "recount").with(|html| {
        html.tag("a").class("name").href(&Url::path(&[])).text("recount");
        for (place, name, path) in PLACES {
            let url = if path.is_empty() { Url::path(&[]) } else { Url::path(&[path]) };
            let link = html.tag("a").href(&url);
            let link = if place == here { link.attr("aria-current", "page") } else { link };
            link.text(name);
        }
        html.tag("form").attr("role", "search").to(&Url::path(&["search"])).with(|html| {
            let field = html.tag("input").attr("type", "search").attr("name", "q");
            let field = field.attr("id", "search").attr("value", query);
            let field = field.attr("placeholder", "Search everything");
            field.attr("aria-label", "Search everything").void();
        });
        html.tag("button")
            .attr("type", "button")
            .attr("id", "theme")
            .flag("hidden", true)
            .attr("title", "Light or dark (t)")
            .text("Theme");
        html.tag("button")
            .attr("type", "button")
            .attr("id", "help")
            .flag("hidden", true)
            .attr("title", "Keys (?)")
            .text("?");
    });
    html.tag("div")
        .class("sync")
        .attr("id", "sync")
        .attr("role", "status")
        .flag("hidden", true)
        .with(|_| {});
}
