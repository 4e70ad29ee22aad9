//! Where the bytes are.

use report::format::{count, percent, size};
use report::html::Html;
use report::page::Place;
use report::storage::{Report, Share};

use super::{Column, LEFT, LESS_NUMBER, NUMBER, Reply, session_url, table};
use crate::commands::storage::Side;
use crate::serve::desk::Desk;

/// Rows of a table.
const SHOWN: usize = 15;

/// The page of bytes.
pub fn page(desk: &Desk) -> Reply {
    let measured = desk.measured()?;
    let (report, side) = &*measured;
    let html = super::page(Place::Storage, "Storage", "", |html| {
        html.words("h1", "", "Storage");
        let all = report.total.all;
        let words = format!(
            "{} in {} transcripts; clean copies would take {}",
            size(all.bytes),
            count(all.items),
            size(all.clean)
        );
        html.words("p", "", &words);
        let total = &report.total;
        let entries = total.entries.iter().map(|(name, share)| (name.to_string(), *share));
        shares(html, "By type of entry", entries.collect());
        let tools = total.tools.iter().map(|(name, tool)| (name.to_string(), tool.share));
        shares(html, "Results by tool", tools.collect());
        let base64 = total.base64.iter().map(|(name, share)| (name.to_string(), *share));
        shares(html, "Pictures and documents", base64.collect());
        let buckets = report.buckets().into_iter().map(|(name, share)| (name.to_owned(), share));
        html.words("h2", "", "Sessions by size of a clean copy");
        share_table(html, &buckets.collect::<Vec<_>>());
        projects(html, report);
        sessions(html, report);
        beside(html, side);
    });
    Ok(html.into())
}

fn shares(html: &mut Html, title: &str, mut rows: Vec<(String, Share)>) {
    rows.sort_by_key(|(_, share)| std::cmp::Reverse(share.bytes));
    if rows.is_empty() {
        return;
    }
    html.words("h2", "", title);
    let rest = rows.len().saturating_sub(SHOWN);
    rows.truncate(SHOWN);
    share_table(html, &rows);
    if rest > 0 {
        html.words("p", "notes", &format!("and {rest} more"));
    }
}

const SHARES: [Column; 5] = [
    Column("What", LEFT),
    Column("Items", LESS_NUMBER),
    Column("Bytes", NUMBER),
    Column("Share", NUMBER),
    Column("Clean", LESS_NUMBER),
];

fn share_table(html: &mut Html, rows: &[(String, Share)]) {
    let all: u64 = rows.iter().map(|(_, share)| share.bytes).sum();
    table(html, &SHARES, |out| {
        for (name, share) in rows {
            out.row(&[
                &|html| html.text(name),
                &|html| html.text(&count(share.items)),
                &|html| html.text(&size(share.bytes)),
                &|html| html.text(&percent(share.bytes, all)),
                &|html| html.text(&size(share.clean)),
            ]);
        }
    });
}

fn projects(html: &mut Html, report: &Report) {
    let rows = report.projects().into_iter().map(|project| {
        (project.project.unwrap_or_else(|| "(no folder)".into()), project.storage.all)
    });
    shares(html, "Projects", rows.collect());
}

fn sessions(html: &mut Html, report: &Report) {
    html.words("h2", "", "The largest sessions");
    const COLUMNS: [Column; 3] =
        [Column("Session", LEFT), Column("Bytes", NUMBER), Column("Clean", NUMBER)];
    table(html, &COLUMNS, |out| {
        for session in report.sessions.iter().take(SHOWN) {
            let title = session.title.as_deref().unwrap_or("(no title)");
            out.row(&[
                &|html| match &session.id {
                    Some(id) => {
                        html.tag("a").href(&session_url(id.as_str(), None, None)).text(title)
                    }
                    None => html.text(title),
                },
                &|html| html.text(&size(session.storage.all.bytes)),
                &|html| html.text(&size(session.storage.all.clean)),
            ]);
        }
    });
}

fn beside(html: &mut Html, side: &Side) {
    if side.is_empty() {
        return;
    }
    html.words("h2", "", "Files beside the transcripts");
    const COLUMNS: [Column; 3] =
        [Column("What", LEFT), Column("Files", NUMBER), Column("Bytes", NUMBER)];
    table(html, &COLUMNS, |out| {
        for (name, (files, bytes)) in side {
            out.row(&[&|html| html.text(name), &|html| html.text(&count(*files)), &|html| {
                html.text(&size(*bytes))
            }]);
        }
    });
}
