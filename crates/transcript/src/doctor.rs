//! Drift and damage: what Claude Code wrote that is not known yet, what was broken on the way,
//! what stands in the wrong place.

use std::collections::BTreeMap;
use std::io::Read;

use crate::catalog::{self, inside};
use crate::diagnostic::{Diagnostic, DiagnosticKind};
use crate::entry::message::{BlockKind, Content};
use crate::entry::{Entry, Kind};
use crate::json::Raw;
use crate::line::LineReader;
use crate::side::{Extra, agent_meta, registry};
use crate::tool;

/// The sort of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NameKind {
    /// `type`.
    Type,
    /// `subtype` of a system entry.
    Subtype,
    /// `attachment.type`.
    Attachment,
    /// `data.type` of a progress entry.
    Progress,
    /// `type` of a content block.
    Block,
    /// A member of an entry, as `type.member`.
    Field,
    /// A member of a tool's result, as `Tool.member`.
    ResultField,
    /// `message.role`.
    Role,
    /// A field of an attachment's payload, as `type.field`.
    AttachmentField,
    /// A field of `compactMetadata`.
    CompactionField,
    /// A field of a model in `cost-state`.
    UsageField,
    /// A field of `agent-<id>.meta.json`.
    AgentMetaField,
    /// A field of `sessions/<pid>.json`.
    RegistryField,
    /// A file or folder of the config folder, of a project or of a session.
    Folder,
}

impl NameKind {
    /// The word for it in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Type => "type",
            Self::Subtype => "subtype",
            Self::Attachment => "attachment",
            Self::Progress => "progress",
            Self::Block => "block",
            Self::Field => "field",
            Self::ResultField => "result-field",
            Self::Role => "role",
            Self::AttachmentField => "attachment-field",
            Self::CompactionField => "compaction-field",
            Self::UsageField => "usage-field",
            Self::AgentMetaField => "agent-meta-field",
            Self::RegistryField => "registry-field",
            Self::Folder => "folder",
        }
    }
}

/// How often a name was met, and by which versions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Seen {
    /// How often.
    pub count: u64,
    /// In which versions, with counts; an empty version where none is written.
    pub versions: BTreeMap<String, u64>,
}

/// What was met in one or more files.
#[derive(Debug, Default)]
pub struct Findings {
    /// Entries by type.
    pub types: BTreeMap<String, u64>,
    /// Names that are not in the catalog.
    pub unknown: BTreeMap<(NameKind, String), Seen>,
    /// Oddities by kind.
    pub odd: BTreeMap<DiagnosticKind, u64>,
    /// Strings with half a character.
    pub lone_surrogates: u64,
    /// Lines read.
    pub lines: u64,
    /// Bytes read.
    pub bytes: u64,
    /// Places of damage, at most [`Findings::PLACES`] per file.
    pub damage: Vec<Diagnostic>,
}

impl Findings {
    /// So many damaged places are kept per file.
    pub const PLACES: usize = 100;

    /// Looks at every name in a transcript.
    pub fn of(input: impl Read) -> std::io::Result<Self> {
        let mut findings = Self::default();
        let mut reader = LineReader::new(input, 0);
        let mut odd = Vec::new();
        while let Some(line) = reader.next_line()? {
            findings.lines += 1;
            findings.bytes += line.length;
            let is_last = !line.is_finished();
            Entry::read(line, &mut odd, |entry| findings.entry(&entry));
            for mut diagnostic in odd.drain(..) {
                if is_last && diagnostic.kind == DiagnosticKind::Damaged {
                    diagnostic.kind = DiagnosticKind::Unfinished;
                }
                findings.diagnostic(diagnostic);
            }
        }
        Ok(findings)
    }

    /// Adds what was met elsewhere; places are kept by whoever knows the file.
    pub fn add(&mut self, other: Self) {
        for (name, count) in other.types {
            *self.types.entry(name).or_default() += count;
        }
        for (name, seen) in other.unknown {
            let known = self.unknown.entry(name).or_default();
            known.count += seen.count;
            for (version, count) in seen.versions {
                *known.versions.entry(version).or_default() += count;
            }
        }
        for (kind, count) in other.odd {
            *self.odd.entry(kind).or_default() += count;
        }
        self.lone_surrogates += other.lone_surrogates;
        self.lines += other.lines;
        self.bytes += other.bytes;
    }

    /// Looks at the fields of `agent-<id>.meta.json`.
    pub fn of_agent_meta(bytes: &[u8]) -> Self {
        let (meta, _) = agent_meta::parse(bytes);
        Self::of_extra(NameKind::AgentMetaField, &meta.extra, inside::AGENT_META, "")
    }

    /// Looks at the fields of `sessions/<pid>.json`.
    pub fn of_registry(bytes: &[u8]) -> Self {
        let (running, _) = registry::parse(bytes);
        let version = running.version.as_deref().unwrap_or_default();
        Self::of_extra(NameKind::RegistryField, &running.extra, inside::REGISTRY, version)
    }

    /// The fields that no reader took and that are not known by name either.
    fn of_extra(kind: NameKind, extra: &Extra, known: &[&str], version: &str) -> Self {
        let mut findings = Self::default();
        for (name, _) in extra.iter().filter(|(name, _)| !known.contains(&&**name)) {
            findings.unknown(kind, name.to_string(), version);
        }
        findings
    }

    /// Judges a name at the top of the config folder. Of files only those are named that look like
    /// a program's: people put notes there, too.
    pub fn top(&mut self, name: &str, is_folder: bool) {
        let ends = [".json", ".jsonl", ".lock", ".log", ".db"];
        let is_programs = is_folder || ends.iter().any(|end| name.ends_with(end));
        // Copies that people and the client make of a file keep its name in front.
        let known = |known: &&str| name == *known || is_copy(name, known);
        if is_programs && !inside::CONFIG_FOLDER.iter().any(known) {
            self.unknown(NameKind::Folder, name.to_owned(), "");
        }
    }

    /// Judges where a file is, by its path below the config folder, with `/`.
    pub fn path(&mut self, rel: &str) {
        if let Some(name) = unknown_folder(rel) {
            self.unknown(NameKind::Folder, name, "");
        }
    }

    fn unknown(&mut self, kind: NameKind, name: String, version: &str) {
        let seen = self.unknown.entry((kind, name)).or_default();
        seen.count += 1;
        *seen.versions.entry(version.to_owned()).or_default() += 1;
    }

    fn diagnostic(&mut self, diagnostic: Diagnostic) {
        *self.odd.entry(diagnostic.kind).or_default() += 1;
        let is_damage = matches!(
            diagnostic.kind,
            DiagnosticKind::Damaged
                | DiagnosticKind::Nul
                | DiagnosticKind::Glued
                | DiagnosticKind::NotAnObject
                | DiagnosticKind::InvalidUtf8
                | DiagnosticKind::ControlByte
                | DiagnosticKind::Unfinished
        );
        if is_damage && self.damage.len() < Self::PLACES {
            self.damage.push(diagnostic);
        }
    }

    fn entry(&mut self, entry: &Entry<'_>) {
        if entry.kind == Kind::Damaged {
            return;
        }
        let name = entry.type_name.map_or_else(|| "(none)".into(), |t| t.text().into_owned());
        *self.types.entry(name.clone()).or_default() += 1;
        let version = entry.version.map_or_else(String::new, |v| v.text().into_owned());
        let mut unknown = |kind, name: String| self.unknown(kind, name, &version);
        if entry.kind == Kind::Unknown {
            return unknown(NameKind::Type, name);
        }
        for (key, _) in entry.fields.iter().filter(|_| !is_stream_event(entry)) {
            let key = key.text();
            if !catalog::knows_field(&name, &key) {
                unknown(NameKind::Field, format!("{name}.{key}"));
            }
        }
        inner_names(entry, &mut unknown);
        role_name(entry, &mut unknown);
        payload_names(entry, &name, &mut unknown);
        block_names(entry, &mut unknown);
        result_names(entry, &mut unknown);
        self.lone_surrogates += u64::from(has_lone_surrogate(entry));
    }
}

/// Events of stream-json carry what they like; only files on disk are held against the catalog.
fn is_stream_event(entry: &Entry<'_>) -> bool {
    entry.kind == Kind::System
        && entry.subtype.is_some_and(|subtype| {
            let name = subtype.text();
            catalog::STREAM_SYSTEM.contains(&&*name) && !catalog::SYSTEM.contains(&&*name)
        })
}

fn inner_names(entry: &Entry<'_>, unknown: &mut impl FnMut(NameKind, String)) {
    let (known, kind, name): (fn(&str) -> bool, _, _) = match entry.kind {
        Kind::System => (catalog::knows_subtype, NameKind::Subtype, entry.subtype),
        Kind::Attachment => {
            (|n| catalog::ATTACHMENT.contains(&n), NameKind::Attachment, entry.inner_type())
        }
        Kind::Progress => {
            (|n| catalog::PROGRESS.contains(&n), NameKind::Progress, entry.inner_type())
        }
        _ => return,
    };
    if let Some(name) = name.map(|n| n.text())
        && !known(&name)
    {
        unknown(kind, name.into_owned());
    }
}

/// The role of a message that is neither the user's, the model's nor the system's.
fn role_name(entry: &Entry<'_>, unknown: &mut impl FnMut(NameKind, String)) {
    let mut fields = entry.message.iter().flat_map(|message| &message.fields);
    let role = fields.rfind(|(key, _)| key.is("role"));
    if let Some(role) = role.and_then(|(_, role)| role.text())
        && !inside::ROLES.contains(&&*role)
    {
        unknown(NameKind::Role, role.into_owned());
    }
}

/// Fields inside attachments, compaction metadata and the client's own sums.
fn payload_names(entry: &Entry<'_>, name: &str, unknown: &mut impl FnMut(NameKind, String)) {
    let mut check = |kind, object: Raw<'_>, prefix: &str, knows: &dyn Fn(&str) -> bool| {
        for (key, _) in object.fields() {
            let key = key.text();
            if !knows(&key) {
                unknown(kind, format!("{prefix}{key}"));
            }
        }
    };
    if let (Kind::Attachment, Some(payload)) = (entry.kind, entry.field("attachment")) {
        let inner = entry.inner_type().map_or_else(|| "(none)".into(), |t| t.text());
        // Of an attachment that is not known at all the name is enough.
        if catalog::ATTACHMENT.contains(&&*inner) {
            let knows = |field: &str| inside::knows_attachment_field(&inner, field);
            check(NameKind::AttachmentField, payload, &format!("{inner}."), &knows);
        }
    }
    for key in ["compactMetadata", "compact_metadata"] {
        if let Some(metadata) = entry.field(key) {
            // The stream writes the same names in snake case.
            let knows =
                |field: &str| key != "compactMetadata" || inside::COMPACTION.contains(&field);
            check(NameKind::CompactionField, metadata, "", &knows);
        }
    }
    if let ("cost-state", Some(models)) = (name, entry.field("modelUsage")) {
        for (_, model) in models.fields() {
            let knows = |field: &str| inside::MODEL_USAGE.contains(&field);
            check(NameKind::UsageField, model, "", &knows);
        }
    }
}

/// The part of a path that is not known, in a project's folder or in a session's.
fn unknown_folder(rel: &str) -> Option<String> {
    let parts: Vec<&str> = rel.split('/').collect();
    match parts.as_slice() {
        ["projects", _, file] => {
            let is_transcript = file.contains(".jsonl") || file.starts_with("agent-");
            let known = is_transcript || inside::PROJECT_FOLDER.contains(file);
            (!known).then(|| format!("projects/<project>/{file}"))
        }
        ["projects", _, folder, inner, ..] => {
            let known = inside::PROJECT_FOLDER.contains(folder)
                || inside::SESSION_FOLDER.contains(inner)
                || inner.ends_with(".cast");
            (!known).then(|| format!("projects/<project>/<session>/{inner}"))
        }
        _ => None,
    }
}

/// `settings.json.20261117.bak` is a copy of `settings.json`.
fn is_copy(name: &str, of: &str) -> bool {
    of.contains('.') && name.strip_prefix(of).is_some_and(|rest| rest.starts_with('.'))
}

fn block_names(entry: &Entry<'_>, unknown: &mut impl FnMut(NameKind, String)) {
    for block in entry.blocks() {
        if block.kind == BlockKind::Unknown {
            let name = block.type_name.map_or_else(|| "(none)".into(), |n| n.text().into_owned());
            unknown(NameKind::Block, name);
        }
        for item in block.content.into_iter().flat_map(Raw::items) {
            let name = item.string("type").unwrap_or_else(|| "(none)".into());
            if !catalog::BLOCK.contains(&&*name) {
                unknown(NameKind::Block, name.into_owned());
            }
        }
    }
}

/// Members of a result, judged by the tool whose shape they have; a result does not name its tool.
fn result_names(entry: &Entry<'_>, unknown: &mut impl FnMut(NameKind, String)) {
    let Some(result) = entry.tool_result.filter(|r| r.is_object()) else { return };
    let has = |key: &str| result.get(key).is_some();
    let tool = if has("stdout") && has("stderr") && !has("shellId") {
        "Bash"
    } else if has("oldString") {
        "Edit"
    } else {
        return;
    };
    let known = tool::RESULT_FIELDS.iter().find(|(t, _)| *t == tool).map_or(&[][..], |(_, f)| f);
    for (key, _) in result.fields() {
        let key = key.text();
        if !known.contains(&&*key) {
            unknown(NameKind::ResultField, format!("{tool}.{key}"));
        }
    }
}

fn has_lone_surrogate(entry: &Entry<'_>) -> bool {
    let may = |bytes: &[u8]| bytes.windows(3).any(|w| matches!(w, [b'\\', b'u', b'd' | b'D']));
    if !may(entry.bytes) {
        return false;
    }
    let texts = entry.blocks().iter().flat_map(|b| {
        let inner = b.content.and_then(Raw::str);
        b.text.into_iter().chain(inner)
    });
    let whole = match entry.message.as_ref().map(|m| &m.content) {
        Some(Content::Text(text)) => Some(*text),
        _ => None,
    };
    texts.chain(whole).any(|t| t.has_lone_surrogate())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unknown(findings: &Findings) -> Vec<(&'static str, &str, u64)> {
        let names = findings.unknown.iter();
        names.map(|((kind, name), seen)| (kind.name(), name.as_str(), seen.count)).collect()
    }

    fn of_lines(lines: &[&str]) -> Findings {
        Findings::of(lines.join("\n").as_bytes()).expect("readable")
    }

    #[test]
    fn names_inside_payloads_are_looked_at() {
        let findings = of_lines(&[
            r#"{"type":"attachment","uuid":"a","attachment":{"type":"date","date":"x","zone":"y"}}"#,
            r#"{"type":"attachment","uuid":"b","attachment":{"type":"hook_success","hookName":"n","mood":1}}"#,
            r#"{"type":"attachment","uuid":"c","attachment":{"type":"output_style","style":"x"}}"#,
            r#"{"type":"system","uuid":"d","subtype":"compact_boundary","compactMetadata":{"trigger":"auto","runningTurnPrompt":{},"luck":1}}"#,
            r#"{"type":"user","uuid":"e","message":{"role":"oracle","content":"x"}}"#,
            r#"{"type":"cost-state","modelUsage":{"m":{"inputTokens":1,"dreamTokens":2}}}"#,
            r#"{"type":"api-request-blob","hash":"0a","message":{"role":"system","content":[]}}"#,
        ]);
        assert_eq!(
            unknown(&findings),
            [
                ("role", "oracle", 1),
                ("attachment-field", "date.zone", 1),
                ("attachment-field", "hook_success.mood", 1),
                ("compaction-field", "luck", 1),
                ("usage-field", "dreamTokens", 1),
            ]
        );
    }

    #[test]
    fn files_beside_the_transcripts_are_looked_at() {
        let meta = Findings::of_agent_meta(br#"{"agentType":"x","isBuiltIn":true,"aura":1}"#);
        assert_eq!(unknown(&meta), [("agent-meta-field", "aura", 1)]);
        let running =
            Findings::of_registry(br#"{"pid":1,"version":"3.0.0","peerProtocol":1,"orbit":2}"#);
        assert_eq!(unknown(&running), [("registry-field", "orbit", 1)]);
        assert_eq!(
            running.unknown.values().next().map(|seen| seen.versions.keys().next().cloned()),
            Some(Some("3.0.0".into()))
        );
    }

    #[test]
    fn folders_nobody_knows_are_named() {
        let mut findings = Findings::default();
        for known in [
            "projects/-a/00000000-0000-4000-8000-000000000001.jsonl",
            "projects/-a/agent-1.meta.json",
            "projects/-a/00000000-0000-4000-8000-000000000001/custom-title.json",
            "projects/-a/memory/notes.md",
            "jobs/1/timeline.jsonl",
        ] {
            findings.path(known);
        }
        for known in ["settings.json.20261117-223731.bak.json", "daemon.status.json", "README.md"] {
            findings.top(known, false);
        }
        findings.top("jobs", true);
        assert_eq!(unknown(&findings), []);
        findings.top("hangar", true);
        findings.top("orbits.db", false);
        findings.path("projects/-a/00000000-0000-4000-8000-000000000001/hangar/ship.json");
        findings.path("projects/-a/ship.json");
        assert_eq!(
            unknown(&findings),
            [
                ("folder", "hangar", 1),
                ("folder", "orbits.db", 1),
                ("folder", "projects/<project>/<session>/hangar", 1),
                ("folder", "projects/<project>/ship.json", 1),
            ]
        );
    }
}
