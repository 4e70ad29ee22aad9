//! `stats-cache.json`: Claude Code's own counts, of any version (1 to 5 seen).
//!
//! Never swept away, so it counts sessions whose transcripts are gone; and counted by rules of
//! its own, so its numbers are shown beside ours, never mixed with them.

use super::{Extra, Object, Read, Reader, text};
use crate::id::SessionId;
use crate::json::Raw;
use crate::time::Time;

/// What the file says.
#[derive(Debug, Clone, PartialEq)]
pub struct Stats {
    /// The version of the form.
    pub version: Option<u64>,
    /// The last day counted, `2026-01-31`.
    pub last_computed_date: Option<Box<str>>,
    /// Counts by day.
    pub daily_activity: Vec<DailyActivity>,
    /// Tokens by day and model.
    pub daily_tokens: Vec<DailyTokens>,
    /// Sums by model.
    pub models: Vec<ModelUsage>,
    /// Sessions ever.
    pub total_sessions: Option<u64>,
    /// Messages ever.
    pub total_messages: Option<u64>,
    /// The longest session.
    pub longest_session: Option<LongestSession>,
    /// The first session.
    pub first_session: Option<Time>,
    /// Sessions begun by hour of the day.
    pub hours: Vec<(u8, u64)>,
    /// Time saved by speculation, in milliseconds.
    pub speculation_saved_ms: Option<u64>,
    /// Fields that were not read.
    pub extra: Extra,
}

/// The counts of a day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DailyActivity {
    /// The day, `2026-01-31`.
    pub date: Option<Box<str>>,
    /// Messages.
    pub messages: Option<u64>,
    /// Sessions.
    pub sessions: Option<u64>,
    /// Tool calls.
    pub tool_calls: Option<u64>,
    /// Fields that were not read.
    pub extra: Extra,
}

/// The tokens of a day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DailyTokens {
    /// The day, `2026-01-31`.
    pub date: Option<Box<str>>,
    /// Tokens by model.
    pub models: Vec<(Box<str>, u64)>,
    /// Fields that were not read.
    pub extra: Extra,
}

/// The sums of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelUsage {
    /// The model.
    pub model: Box<str>,
    /// Tokens sent.
    pub input: Option<u64>,
    /// Tokens received.
    pub output: Option<u64>,
    /// Tokens read from the cache.
    pub cache_read: Option<u64>,
    /// Tokens written to the cache.
    pub cache_creation: Option<u64>,
    /// Searches of the web.
    pub web_searches: Option<u64>,
    /// The price in US dollars, as Claude Code reckons.
    pub cost_usd: Option<f64>,
    /// Fields that were not read.
    pub extra: Extra,
}

/// The longest session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LongestSession {
    /// The session.
    pub session: Option<SessionId>,
    /// How long, in milliseconds.
    pub duration_ms: Option<u64>,
    /// Messages.
    pub messages: Option<u64>,
    /// When it began.
    pub time: Option<Time>,
    /// Fields that were not read.
    pub extra: Extra,
}

/// Reads the file.
pub fn parse(bytes: &[u8]) -> Read<Stats> {
    let mut reader = Reader::new(bytes);
    let mut object = reader.document_object();
    let stats = Stats {
        version: object.number("version"),
        last_computed_date: object.text("lastComputedDate"),
        daily_activity: daily(&mut reader, &mut object, "dailyActivity")
            .into_iter()
            .map(activity)
            .collect(),
        daily_tokens: daily(&mut reader, &mut object, "dailyModelTokens")
            .into_iter()
            .map(|day| tokens(&mut reader, day))
            .collect(),
        models: models(&mut reader, &mut object),
        total_sessions: object.number("totalSessions"),
        total_messages: object.number("totalMessages"),
        longest_session: object.map("longestSession").map(|raw| longest(reader.object(raw))),
        first_session: object.time("firstSessionDate"),
        hours: hours(&mut reader, &mut object),
        speculation_saved_ms: object.number("totalSpeculationTimeSavedMs"),
        extra: object.rest(),
    };
    (stats, reader.finish())
}

fn daily<'a>(reader: &mut Reader<'a>, object: &mut Object<'a>, key: &str) -> Vec<Object<'a>> {
    match object.array(key) {
        Some(raw) => reader.objects(raw),
        None => Vec::new(),
    }
}

fn activity(mut day: Object<'_>) -> DailyActivity {
    DailyActivity {
        date: day.text("date"),
        messages: day.number("messageCount"),
        sessions: day.number("sessionCount"),
        tool_calls: day.number("toolCallCount"),
        extra: day.rest(),
    }
}

fn tokens<'a>(reader: &mut Reader<'a>, mut day: Object<'a>) -> DailyTokens {
    let models = match day.map("tokensByModel") {
        Some(map) => reader.members(map),
        None => Vec::new(),
    };
    DailyTokens {
        date: day.take("date", text),
        models: models
            .into_iter()
            .filter_map(|(model, count)| Some((model.into(), reader.value(count, Raw::u64)?)))
            .collect(),
        extra: day.rest(),
    }
}

fn models<'a>(reader: &mut Reader<'a>, object: &mut Object<'a>) -> Vec<ModelUsage> {
    let members = match object.map("modelUsage") {
        Some(map) => reader.object_members(map),
        None => Vec::new(),
    };
    members.into_iter().map(|(model, object)| usage(model.into(), object)).collect()
}

fn usage(model: Box<str>, mut object: Object<'_>) -> ModelUsage {
    ModelUsage {
        model,
        input: object.number("inputTokens"),
        output: object.number("outputTokens"),
        cache_read: object.number("cacheReadInputTokens"),
        cache_creation: object.number("cacheCreationInputTokens"),
        web_searches: object.number("webSearchRequests"),
        cost_usd: object.take("costUSD", Raw::f64),
        extra: object.rest(),
    }
}

fn longest(mut object: Object<'_>) -> LongestSession {
    LongestSession {
        session: object.session("sessionId"),
        duration_ms: object.number("duration"),
        messages: object.number("messageCount"),
        time: object.time("timestamp"),
        extra: object.rest(),
    }
}

fn hours<'a>(reader: &mut Reader<'a>, object: &mut Object<'a>) -> Vec<(u8, u64)> {
    let members = match object.map("hourCounts") {
        Some(map) => reader.members(map),
        None => Vec::new(),
    };
    let hour = |(hour, count): (std::borrow::Cow<'a, str>, Raw<'a>)| {
        reader.value(count, |count| Some((hour.parse().ok()?, count.u64()?)))
    };
    members.into_iter().filter_map(hour).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_version() {
        let (stats, odd) = parse(
            br#"{"version":2,"lastComputedDate":"2026-01-31","dailyActivity":[{"date":"2026-01-30","messageCount":10,"sessionCount":2,"toolCallCount":5}],"dailyModelTokens":[{"date":"2026-01-30","tokensByModel":{"claude-opus-4-5-20251101":1200}}],"modelUsage":{"claude-opus-4-5-20251101":{"inputTokens":1,"outputTokens":2,"cacheReadInputTokens":3,"cacheCreationInputTokens":4,"webSearchRequests":0,"costUSD":0.25,"contextWindow":0}},"totalSessions":7,"totalMessages":70,"longestSession":{"sessionId":"s1","duration":1000,"messageCount":9,"timestamp":"2026-01-30T10:00:00.000Z"},"firstSessionDate":"2025-12-01T00:00:00.000Z","hourCounts":{"9":3,"14":4},"totalSpeculationTimeSavedMs":0,"shotDistribution":{}}"#,
        );
        assert!(odd.is_empty());
        assert_eq!(stats.version, Some(2));
        assert_eq!(stats.daily_activity[0].tool_calls, Some(5));
        assert_eq!(stats.daily_tokens[0].models[0].1, 1200);
        assert_eq!(stats.models[0].cost_usd, Some(0.25));
        assert_eq!(stats.longest_session.expect("is there").messages, Some(9));
        assert_eq!(stats.hours, [(9, 3), (14, 4)]);
        assert_eq!(format!("{:?}", stats.extra), r#"[("shotDistribution", {})]"#);
    }
}
