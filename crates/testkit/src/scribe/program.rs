//! What the program itself writes: system entries, progress, attachments,
//! compactions, titles.

use super::{CONTINUED, Scribe, join};
use crate::clock;
use crate::entry::{self, Place};
use crate::json::{Raw, ToJson};
use crate::members;
use crate::truth::SegmentTruth;

impl Scribe {
    /// A `system` entry; `extra` stands after its subtype.
    pub fn system(&mut self, subtype: &str, extra: &str) -> String {
        let place = self.place();
        self.system_at(place, subtype, extra)
    }

    /// A `system` entry at a place of its own.
    pub fn system_at(&mut self, place: Place, subtype: &str, extra: &str) -> String {
        let mut body = members! { "type": "system", "subtype": subtype };
        join(&mut body, extra);
        let tail = members! { "timestamp": place.at, "uuid": place.uuid, "isMeta": false };
        join(&mut body, &tail);
        self.put("system", Some(subtype), place, body)
    }

    /// A `progress` entry (2.1.12 to 2.1.81).
    pub fn progress(&mut self, kind: &str, data: &Raw, id: &str, parent: &str) -> String {
        let place = self.place();
        let body = members! {
            "type": "progress", "data": data, "toolUseID": id, "parentToolUseID": parent,
            "uuid": place.uuid, "timestamp": place.at,
        };
        self.put("progress", Some(kind), place, body)
    }

    /// An `attachment` entry (since 2.1.92).
    pub fn attachment(&mut self, kind: &str, extra: &str) -> String {
        let place = self.place();
        let mut inner = members! { "type": kind };
        join(&mut inner, extra);
        let body = members! {
            "attachment": Raw(format!("{{{inner}}}")), "type": "attachment",
            "uuid": place.uuid, "timestamp": place.at,
        };
        self.put("attachment", Some(kind), place, body)
    }

    /// A compaction: boundary and summary.
    pub fn compact(&mut self, trigger: &str, pre: u64, post: Option<u64>, summary: &str) {
        let mut metadata = members! { "trigger": trigger, "preTokens": pre };
        if let Some(post) = post {
            join(&mut metadata, &members! { "postTokens": post });
        }
        self.boundary(&metadata);
        self.summary_entry(summary);
        self.note_segment(Some(trigger), Some(pre), post);
        self.context = post.unwrap_or(pre / 10);
    }

    /// A `compact_boundary` with the given metadata, a new root of the tree.
    pub fn boundary(&mut self, metadata: &str) -> String {
        self.flush();
        let mut place = self.place();
        place.logical = place.parent.take();
        let extra = members! {
            "content": "Conversation compacted", "level": "info",
            "compactMetadata": Raw(format!("{{{metadata}}}")),
        };
        self.system_at(place, "compact_boundary", &extra)
    }

    /// The user entry that holds a compaction's summary.
    pub fn summary_entry(&mut self, summary: &str) -> String {
        let place = self.place();
        let text = format!("{CONTINUED}.\n\n{summary}");
        let flags = "\"isVisibleInTranscriptOnly\":true,\"isCompactSummary\":true";
        self.user_at(place, &text.raw(), flags, "")
    }

    /// Writes down that a segment began.
    pub fn note_segment(&mut self, trigger: Option<&str>, pre: Option<u64>, post: Option<u64>) {
        self.truth.segments.push(SegmentTruth {
            index: self.truth.segments.len() as u64,
            trigger: trigger.map(str::to_string),
            pre_tokens: pre,
            post_tokens: post,
        });
    }

    // ---- titles ------------------------------------------------------------

    /// A `custom-title` line, as `/rename` writes it.
    pub fn custom_title(&mut self, title: &str) {
        let line = entry::stamp("custom-title", "customTitle", &title, &self.envelope.session);
        self.line("custom-title", &line);
        self.truth.titles.insert("custom".into(), title.into());
    }

    /// An `ai-title` line (since 2.1.112).
    pub fn ai_title(&mut self, title: &str) {
        let line = entry::stamp("ai-title", "aiTitle", &title, &self.envelope.session);
        self.line("ai-title", &line);
        self.truth.titles.insert("ai".into(), title.into());
    }

    /// A `last-prompt` line naming the current leaf.
    pub fn last_prompt(&mut self, text: &str) {
        self.flush();
        let leaf = self.envelope.since(121).then(|| self.truth.leaf.clone()).flatten();
        let line = entry::last_prompt(text, leaf.as_deref(), &self.envelope.session);
        self.line("last-prompt", &line);
        self.truth.titles.insert("last-prompt".into(), text.into());
    }

    /// A `summary` line of this very session.
    pub fn own_summary(&mut self, text: &str) {
        self.flush();
        let leaf = self.truth.leaf.clone().expect("a summary follows entries");
        self.line("summary", &entry::summary(text, &leaf));
        self.truth.titles.insert("summary".into(), text.into());
    }

    /// A `pr-link` line.
    pub fn pr_link(&mut self, repository: &str, number: u64) {
        let line =
            entry::pr_link(&self.envelope.session, repository, number, &clock::iso(self.now));
        self.line("pr-link", &line);
        let url = entry::pr_url(repository, number);
        if !self.truth.pr_links.contains(&url) {
            self.truth.pr_links.push(url);
        }
    }
}
