//! The frame of a page: its head, its policy, its styles and code.

mod modules;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

pub use self::modules::{MAIN_MODULE, joined_script, module_names, module_text};
use crate::html::{Html, Url};

/// The styles of all pages.
pub const STYLES: &str = include_str!("document/page.css");

/// Where the page is, and so where its styles and code are had from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Frame {
    /// Served: styles and code are files of the server.
    Served,
    /// A file that has everything in it.
    File,
    /// A file without code, beside a file of styles.
    Plain,
    /// A file beside files of styles and code.
    Beside,
}

/// What a page in a file may do: show itself, and nothing else. What it is made of is named by
/// hash, so that nothing that got in otherwise can run.
pub fn policy(frame: Frame) -> String {
    let hash = |text: &str| STANDARD.encode(Sha256::digest(text.as_bytes()));
    // What is searched for is sent by a form.
    let (style, script, form) = match frame {
        Frame::Served => ("'self'".to_owned(), "'self'".to_owned(), "'self'"),
        Frame::File => {
            let (style, script) = (hash(STYLES), hash(joined_script()));
            (format!("'sha256-{style}'"), format!("'sha256-{script}'"), "'none'")
        }
        Frame::Plain => ("'self' file:".to_owned(), "'none'".to_owned(), "'none'"),
        Frame::Beside => ("'self' file:".to_owned(), "'self' file:".to_owned(), "'none'"),
    };
    let mut policy = format!(
        "default-src 'none'; img-src data: blob: 'self'; style-src {style}; script-src {script}; \
         base-uri 'none'; form-action {form}; require-trusted-types-for 'script'; \
         trusted-types recount"
    );
    if frame == Frame::Served {
        policy += "; connect-src 'self'; frame-ancestors 'none'";
    }
    policy
}

/// A whole page.
pub fn document(frame: Frame, title: &str, body: impl FnOnce(&mut Html)) -> Html {
    let mut html = Html::new();
    html.asset("<!doctype html>\n");
    html.tag("html").attr("lang", "en").with(|html| {
        html.tag("head").with(|html| head(html, frame, title));
        html.tag("body").with(body);
    });
    html
}

fn head(html: &mut Html, frame: Frame, title: &str) {
    html.tag("meta").attr("charset", "utf-8").void();
    let width = "width=device-width, initial-scale=1";
    html.tag("meta").attr("name", "viewport").attr("content", width).void();
    html.tag("meta").attr("name", "referrer").attr("content", "no-referrer").void();
    html.tag("meta").attr("name", "color-scheme").attr("content", "light dark").void();
    if frame != Frame::Served {
        // A server says it in a header.
        let open = html.tag("meta").attr("http-equiv", "Content-Security-Policy");
        open.attr("content", &policy(frame)).void();
    }
    html.tag("title").text(title);
    // Browsers ask for a picture of every site; there is none.
    html.tag("link").attr("rel", "icon").href(&Url::none()).void();
    match frame {
        Frame::Served => {
            let styles = Url::path(&["assets", "page.css"]);
            html.tag("link").attr("rel", "stylesheet").href(&styles).void();
            // All at once: a browser else asks for the others when it has read the first.
            for name in module_names() {
                let code = Url::path(&["assets", name]);
                html.tag("link").attr("rel", "modulepreload").href(&code).void();
            }
            let code = Url::path(&["assets", MAIN_MODULE]);
            html.tag("script").attr("type", "module").src(&code).with(|_| {});
        }
        Frame::File => {
            html.tag("style").with(|html| html.asset(STYLES));
            html.tag("script").attr("type", "module").with(|html| html.asset(joined_script()));
        }
        Frame::Plain | Frame::Beside => {
            let styles = Url::beside("page.css");
            html.tag("link").attr("rel", "stylesheet").href(&styles).void();
            if frame == Frame::Beside {
                // Browsers load no modules from files: each file is an origin of its own.
                let code = Url::beside("page.js");
                html.tag("script").flag("defer", true).src(&code).with(|_| {});
            }
        }
    }
}
