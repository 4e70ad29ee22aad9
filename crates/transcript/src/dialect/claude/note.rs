//! Notes: what Claude Code wrote down beside the talk, in words.

use crate::entry::{Entry, Kind};
use crate::json::Raw;

use crate::phrase::{counted, short_duration};

/// The full name of a note: type, and the type of what is inside.
pub(super) fn name(entry: &Entry<'_>) -> String {
    let name = entry.type_name.map_or_else(|| "no type".into(), |t| t.text().into_owned());
    let inner = entry.subtype.or_else(|| entry.inner_type());
    match inner {
        Some(inner) => format!("{name}/{}", inner.text()),
        None => name,
    }
}

/// What a note says: of hooks, waiting and failed requests what happened; else its main member,
/// as text where it is text.
pub(super) fn text(entry: &Entry<'_>) -> Option<String> {
    let hook = || entry.field("attachment").filter(|a| a.get("hookEvent").is_some());
    match entry.kind {
        Kind::System if entry.is_subtype("api_error") => return Some(api_error(entry)),
        Kind::System if entry.is_subtype("stop_hook_summary") => return Some(hooks(entry)),
        Kind::System if entry.is_subtype("turn_duration") => {
            let ms = entry.field("durationMs").and_then(whole);
            return ms.map(|ms| format!("the turn took {}", short_duration(ms)));
        }
        Kind::Attachment => {
            if let Some(hook) = hook() {
                return Some(one_hook(hook));
            }
        }
        _ => {}
    }
    main_member(entry)
}

/// A failed request: why, and which of the retries comes when.
fn api_error(entry: &Entry<'_>) -> String {
    let error = entry.field("error");
    let inner = |error: Raw<'_>| error.get("error")?.get("error")?.string("message").map(owned);
    let message = error.and_then(|error| {
        let direct = error.string("formatted").or_else(|| error.string("message")).map(owned);
        direct.or_else(|| inner(error))
    });
    let code = || error?.get("cause")?.string("code").map(owned);
    let status = error.and_then(|error| error.get("status")?.u64());
    let mut parts: Vec<String> = message.or_else(code).into_iter().collect();
    parts.extend(status.map(|status| format!("status {status}")));
    if parts.is_empty() {
        parts.push("no reason is recorded".into());
    }
    let number = |name: &str| entry.field(name).and_then(whole);
    if let Some(attempt) = number("retryAttempt") {
        let most = number("maxRetries").map(|most| format!(" of {most}")).unwrap_or_default();
        let wait = number("retryInMs").map(|ms| format!(" in {}", short_duration(ms)));
        parts.push(format!("retry {attempt}{most}{}", wait.unwrap_or_default()));
    }
    parts.join(" \u{b7} ")
}

/// The hooks that ran when the model stopped: how many, how long, and each by its command.
fn hooks(entry: &Entry<'_>) -> String {
    let infos: Vec<Raw<'_>> = entry.field("hookInfos").into_iter().flat_map(Raw::items).collect();
    let took = |info: &Raw<'_>| info.get("durationMs").and_then(whole);
    let all: i64 = infos.iter().filter_map(took).sum();
    let errors: Vec<String> =
        entry.field("hookErrors").into_iter().flat_map(Raw::items).filter_map(plain).collect();
    let mut first = counted(infos.len(), "hook");
    if all > 0 {
        first += &format!(" \u{b7} {all} ms");
    }
    if !errors.is_empty() {
        first += &format!(" \u{b7} {}", counted(errors.len(), "error"));
    }
    let stopped = entry.field("preventedContinuation").and_then(Raw::bool) == Some(true);
    if stopped {
        first += " \u{b7} held the model back";
    }
    let mut lines = vec![first];
    for info in &infos {
        let command = info.string("command").unwrap_or_default();
        let ms = took(info).map(|ms| format!(" \u{b7} {ms} ms")).unwrap_or_default();
        lines.push(format!("$ {command}{ms}"));
    }
    lines.extend(errors);
    lines.extend(entry.string("stopReason").filter(|reason| !reason.is_empty()).map(owned));
    lines.join("\n")
}

/// One run of a hook: its name, how long, how it ended; then its command and what it wrote.
fn one_hook(hook: Raw<'_>) -> String {
    let name = hook.string("hookName").or_else(|| hook.string("hookEvent")).unwrap_or_default();
    let mut first = vec![name.into_owned()];
    let number = |name: &str| hook.get(name).and_then(whole);
    first.extend(number("durationMs").map(|ms| format!("{ms} ms")));
    match hook.string("type").as_deref() {
        Some("hook_cancelled") => first.push("cancelled".into()),
        Some("hook_non_blocking_error" | "hook_blocking_error") => first.push("failed".into()),
        _ => {}
    }
    first.extend(number("exitCode").map(|code| format!("exit {code}")));
    let mut lines = vec![first.join(" \u{b7} ")];
    lines.extend(hook.string("command").map(|command| format!("$ {command}")));
    let said = ["content", "stdout", "stderr", "response", "blockingError"];
    let mut said: Vec<String> =
        said.iter().filter_map(|name| hook.some(name).and_then(plain)).collect();
    said.dedup_by(|a, b| a.trim() == b.trim());
    lines.extend(said);
    lines.join("\n")
}

/// A number without its fraction.
fn whole(value: Raw<'_>) -> Option<i64> {
    value.f64().map(|number| number.round() as i64)
}

fn owned(text: std::borrow::Cow<'_, str>) -> String {
    text.into_owned()
}

fn main_member(entry: &Entry<'_>) -> Option<String> {
    const TELLING: &[&str] = &[
        "content",
        "prompt",
        "summary",
        "customTitle",
        "aiTitle",
        "lastPrompt",
        "prUrl",
        "agentName",
        "tag",
        "mode",
        "permissionMode",
        "operation",
        "error",
        "durationMs",
        "url",
        "stdout",
        "filename",
        "path",
        "text",
        "planContent",
        "snippet",
        "message",
        "relocatedCwd",
        "continuedInSessionId",
        "hookName",
        "result",
    ];
    let inside = match entry.kind {
        Kind::Progress => entry.field("data"),
        Kind::Attachment => entry.field("attachment"),
        _ => None,
    };
    let get = |key: &str| match inside {
        Some(inside) => inside.some(key),
        None => entry.field(key).filter(|v| !v.is_null()),
    };
    TELLING.iter().filter_map(|key| get(key)).find_map(plain)
}

/// A value in words: text, or the first text of a list, or a number.
fn plain(value: Raw<'_>) -> Option<String> {
    value
        .text()
        .filter(|t| !t.is_empty())
        .map(|t| t.into_owned())
        .or_else(|| {
            value
                .items()
                .find_map(|item| item.string("text").or_else(|| item.text()))
                .map(|t| t.into_owned())
        })
        .or_else(|| value.f64().map(|_| super::record::text_of(value.bytes())))
        .or_else(|| value.is_object().then(|| super::record::text_of(value.bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> String {
        text(&Entry::of(line.as_bytes(), 0)).expect("words")
    }

    #[test]
    fn a_failed_request_says_why_and_when_it_is_made_again() {
        let said = words(
            r#"{"type":"system","subtype":"api_error","error":{"status":529,"error":{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}},"retryInMs":1218.4,"retryAttempt":2,"maxRetries":10}"#,
        );
        assert_eq!(said, "Overloaded \u{b7} status 529 \u{b7} retry 2 of 10 in 1.2 s");
        let said = words(r#"{"type":"system","subtype":"api_error","error":{}}"#);
        assert_eq!(said, "no reason is recorded");
    }

    #[test]
    fn a_hook_says_its_name_its_time_and_how_it_ended() {
        let said = words(
            r#"{"type":"attachment","attachment":{"type":"hook_non_blocking_error","hookName":"Stop","hookEvent":"Stop","stderr":"not found","stdout":"","exitCode":127,"command":"check","durationMs":36}}"#,
        );
        assert_eq!(said, "Stop \u{b7} 36 ms \u{b7} failed \u{b7} exit 127\n$ check\nnot found");
        let said = words(
            r#"{"type":"system","subtype":"stop_hook_summary","hookCount":2,"hookInfos":[{"command":"a","durationMs":30},{"command":"b","durationMs":9}],"hookErrors":["no"],"preventedContinuation":true}"#,
        );
        let lines: Vec<&str> = said.lines().collect();
        let first = "2 hooks \u{b7} 39 ms \u{b7} 1 error \u{b7} held the model back";
        assert_eq!(lines, [first, "$ a \u{b7} 30 ms", "$ b \u{b7} 9 ms", "no"]);
    }
}
