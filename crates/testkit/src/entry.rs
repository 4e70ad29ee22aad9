//! Lines as Claude Code writes them, key by key.
//!
//! Two orders exist. Up to 2.1.6x the whole envelope stands before the
//! payload; later only `parentUuid` and `isSidechain` do and the rest follows
//! it. Bookkeeping lines have no envelope and begin with `type`.

use crate::json::{Raw, ToJson, member};
use crate::truth::Usage;
use crate::{members, obj};

/// Who writes, from where: the fields every chain entry repeats.
#[derive(Clone, Debug, Default)]
pub struct Envelope {
    /// `sessionId`.
    pub session: String,
    /// `cwd`.
    pub cwd: String,
    /// `version`.
    pub version: String,
    /// `gitBranch`, written since 1.0.5x.
    pub branch: String,
    /// `isSidechain`.
    pub sidechain: bool,
    /// `agentId`, in agent files.
    pub agent: Option<String>,
    /// `teamName` and `agentName`.
    pub team: Option<(String, String)>,
    /// `slug`, the plan's words.
    pub slug: Option<String>,
    /// `entrypoint`, written since 2.1.79.
    pub entrypoint: String,
    /// `sessionKind`, since 2.1.144.
    pub kind: Option<String>,
    /// `session_id`, the root of the lineage, since 2.1.207.
    pub lineage: Option<String>,
    /// `promptId`, on user entries since 2.1.76.
    pub prompt_id: Option<String>,
}

/// Where an entry hangs.
#[derive(Clone, Debug, Default)]
pub struct Place {
    /// Its own `uuid`.
    pub uuid: String,
    /// `parentUuid`.
    pub parent: Option<String>,
    /// `logicalParentUuid`, on compact boundaries.
    pub logical: Option<String>,
    /// `timestamp`.
    pub at: String,
}

/// A version as numbers; words become zero.
pub fn version(text: &str) -> (u32, u32, u32) {
    let mut parts = text.split('.').map(|part| part.parse().unwrap_or(0));
    let mut next = || parts.next().unwrap_or(0);
    (next(), next(), next())
}

impl Envelope {
    /// True when the release is at least `2.1.patch`.
    pub fn since(&self, patch: u32) -> bool {
        version(&self.version) >= (2, 1, patch)
    }

    /// A whole line: this envelope around the members of `body`.
    pub fn line(&self, place: &Place, user: bool, body: &str) -> String {
        let mut out = String::with_capacity(body.len() + 512);
        out.push('{');
        member(&mut out, "parentUuid", &place.parent);
        if let Some(logical) = &place.logical {
            member(&mut out, "logicalParentUuid", logical);
        }
        member(&mut out, "isSidechain", &self.sidechain);
        let late = self.since(70);
        if late {
            self.early_part(&mut out, user);
        } else {
            self.team_part(&mut out);
            self.late_part(&mut out);
        }
        out.push(',');
        out.push_str(body);
        if late {
            self.late_part(&mut out);
        }
        out.push('}');
        out
    }

    fn early_part(&self, out: &mut String, user: bool) {
        if user
            && self.since(76)
            && let Some(prompt) = &self.prompt_id
        {
            member(out, "promptId", prompt);
        }
        if let Some(agent) = &self.agent {
            member(out, "agentId", agent);
        }
        self.team_part(out);
    }

    fn team_part(&self, out: &mut String) {
        if let Some((team, name)) = &self.team {
            member(out, "teamName", team);
            member(out, "agentName", name);
        }
    }

    fn late_part(&self, out: &mut String) {
        if let Some(kind) = &self.kind {
            member(out, "sessionKind", kind);
        }
        member(out, "userType", "external");
        if self.since(79) {
            member(out, "entrypoint", &self.entrypoint);
        }
        member(out, "cwd", &self.cwd);
        member(out, "sessionId", &self.session);
        member(out, "version", &self.version);
        if version(&self.version) >= (1, 0, 54) {
            member(out, "gitBranch", &self.branch);
        }
        if !self.since(70)
            && let Some(agent) = &self.agent
        {
            member(out, "agentId", agent);
        }
        if let Some(slug) = &self.slug {
            member(out, "slug", slug);
        }
        if let (true, Some(root)) = (self.since(207), &self.lineage) {
            member(out, "session_id", root);
        }
    }
}

/// `usage` in the order of the release.
pub fn usage(version_text: &str, usage: Usage) -> Raw {
    let written = usage.cache_write_5m + usage.cache_write_1h;
    if version(version_text) < (2, 1, 64) {
        return obj! {
            "input_tokens": usage.input,
            "cache_creation_input_tokens": written,
            "cache_read_input_tokens": usage.cache_read,
            "cache_creation": obj! {
                "ephemeral_5m_input_tokens": usage.cache_write_5m,
                "ephemeral_1h_input_tokens": usage.cache_write_1h,
            },
            "output_tokens": usage.output,
            "service_tier": "standard",
        };
    }
    obj! {
        "input_tokens": usage.input,
        "cache_creation_input_tokens": written,
        "cache_read_input_tokens": usage.cache_read,
        "output_tokens": usage.output,
        "server_tool_use": obj! { "web_search_requests": 0, "web_fetch_requests": 0 },
        "service_tier": "standard",
        "cache_creation": obj! {
            "ephemeral_1h_input_tokens": usage.cache_write_1h,
            "ephemeral_5m_input_tokens": usage.cache_write_5m,
        },
        "inference_geo": "not_available",
        "iterations": Raw("[]".into()),
        "speed": "standard",
    }
}

/// The API message of one assistant entry, which holds one block.
pub fn message(
    version_text: &str,
    (id, model): (&str, &str),
    block: &Raw,
    stop: Option<&str>,
    tokens: Usage,
) -> Raw {
    let mut out = String::with_capacity(block.0.len() + 640);
    out.push('{');
    member(&mut out, "model", model);
    member(&mut out, "id", id);
    member(&mut out, "type", "message");
    member(&mut out, "role", "assistant");
    out.push_str(",\"content\":[");
    out.push_str(&block.0);
    out.push(']');
    member(&mut out, "stop_reason", &stop);
    member(&mut out, "stop_sequence", &None::<&str>);
    if version(version_text) >= (2, 1, 64) {
        member(&mut out, "stop_details", &None::<&str>);
    }
    member(&mut out, "usage", &usage(version_text, tokens));
    out.push('}');
    Raw(out)
}

/// A `text` block.
pub fn text(text: &str) -> Raw {
    obj! { "type": "text", "text": text }
}

/// A `thinking` block.
pub fn thinking(text: &str, signature: &str) -> Raw {
    obj! { "type": "thinking", "thinking": text, "signature": signature }
}

/// A `tool_use` block; `caller` is written since 2.1.17.
pub fn tool_use(version_text: &str, id: &str, name: &str, input: &Raw) -> Raw {
    if version(version_text) >= (2, 1, 17) {
        let caller = obj! { "type": "direct" };
        obj! { "type": "tool_use", "id": id, "name": name, "input": input, "caller": caller }
    } else {
        obj! { "type": "tool_use", "id": id, "name": name, "input": input }
    }
}

/// A `tool_result` block; without `is_error` it is a success.
pub fn tool_result(id: &str, content: &Raw, error: Option<bool>) -> Raw {
    let mut out = String::with_capacity(content.0.len() + 128);
    out.push('{');
    member(&mut out, "tool_use_id", id);
    member(&mut out, "type", "tool_result");
    member(&mut out, "content", content);
    if let Some(error) = error {
        member(&mut out, "is_error", &error);
    }
    out.push('}');
    Raw(out)
}

/// A base64 `image` or `document` block.
pub fn media(kind: &str, media_type: &str, data: &str) -> Raw {
    let source = obj! { "type": "base64", "media_type": media_type, "data": data };
    obj! { "type": kind, "source": source }
}

/// A `summary` line (until 2.1.22).
pub fn summary(text: &str, leaf: &str) -> String {
    obj! { "type": "summary", "summary": text, "leafUuid": leaf }.0
}

/// A line of one value and the session, such as `custom-title` or `mode`.
pub fn stamp(kind: &str, key: &str, value: &impl ToJson, session: &str) -> String {
    let mut out = String::from("{");
    member(&mut out, "type", kind);
    member(&mut out, key, value);
    member(&mut out, "sessionId", session);
    out.push('}');
    out
}

/// A `last-prompt` line; `leafUuid` is written since 2.1.121.
pub fn last_prompt(prompt: &str, leaf: Option<&str>, session: &str) -> String {
    match leaf {
        Some(leaf) => obj! {
            "type": "last-prompt", "lastPrompt": prompt, "leafUuid": leaf, "sessionId": session
        },
        None => obj! { "type": "last-prompt", "lastPrompt": prompt, "sessionId": session },
    }
    .0
}

/// A `pr-link` line (since 2.1.29).
pub fn pr_link(session: &str, repository: &str, number: u64, at: &str) -> String {
    let url = pr_url(repository, number);
    obj! {
        "type": "pr-link", "sessionId": session, "prNumber": number, "prUrl": url,
        "prRepository": repository, "timestamp": at,
    }
    .0
}

/// The address of a pull request.
pub fn pr_url(repository: &str, number: u64) -> String {
    format!("https://github.com/{repository}/pull/{number}")
}

/// A `queue-operation` line (since 2.0.37).
pub fn queue(operation: &str, content: Option<&str>, session: &str, at: &str) -> String {
    let mut out = String::from("{");
    out.push_str(&members! {
        "type": "queue-operation", "operation": operation, "timestamp": at, "sessionId": session
    });
    if let Some(content) = content {
        member(&mut out, "content", content);
    }
    out.push('}');
    out
}

/// One tracked file of a snapshot: path, backup name (none: the file did not
/// exist) and version.
pub type Backup<'a> = (&'a str, Option<&'a str>, u64);

/// A `file-history-snapshot` line (since 2.0.5).
pub fn snapshot(message: &str, backups: &[Backup<'_>], at: &str, update: bool) -> String {
    let mut tracked = String::from("{");
    for (path, name, number) in backups {
        let backup = obj! { "backupFileName": name, "version": *number, "backupTime": at };
        if tracked.len() > 1 {
            tracked.push(',');
        }
        path.json(&mut tracked);
        tracked.push(':');
        backup.json(&mut tracked);
    }
    tracked.push('}');
    let inner = obj! { "messageId": message, "trackedFileBackups": Raw(tracked), "timestamp": at };
    obj! {
        "type": "file-history-snapshot", "messageId": message, "snapshot": inner,
        "isSnapshotUpdate": update,
    }
    .0
}

/// A `file-history-delta` line (since 2.1.217).
pub fn delta(message: &str, snapshot: &str, backup: Backup<'_>, at: &str) -> String {
    let (path, name, number) = backup;
    obj! {
        "type": "file-history-delta", "messageId": message, "snapshotMessageId": snapshot,
        "trackingPath": path,
        "backup": obj! { "backupFileName": name, "version": number, "backupTime": at },
        "timestamp": at,
    }
    .0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn envelope(version: &str) -> Envelope {
        Envelope {
            session: "s".into(),
            cwd: "/x".into(),
            version: version.into(),
            branch: "main".into(),
            entrypoint: "cli".into(),
            ..Envelope::default()
        }
    }

    #[test]
    fn old_releases_put_the_envelope_first() {
        let place = Place { uuid: "u".into(), ..Place::default() };
        assert_eq!(
            envelope("2.1.38").line(&place, true, "\"type\":\"user\""),
            r#"{"parentUuid":null,"isSidechain":false,"userType":"external","cwd":"/x","sessionId":"s","version":"2.1.38","gitBranch":"main","type":"user"}"#
        );
    }

    #[test]
    fn new_releases_put_it_last() {
        let place = Place { parent: Some("p".into()), ..Place::default() };
        assert_eq!(
            envelope("2.1.108").line(&place, true, "\"type\":\"user\""),
            r#"{"parentUuid":"p","isSidechain":false,"type":"user","userType":"external","entrypoint":"cli","cwd":"/x","sessionId":"s","version":"2.1.108","gitBranch":"main"}"#
        );
    }
}
