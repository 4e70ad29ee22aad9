//! The tables, as data: SQLite's tables and views, the reference and the files of a lake are made
//! from this list, so that none of them can say something else.
//!
//! Every table begins with who the row is of. `day` and `month` are those of the first time of the
//! table in UTC; they stand as text, because every engine can compare and group text.

use super::{Column, Kind, Table};

/// What the tables mean. Raised with every change to them or to what is put into them.
pub const VERSION: u32 = 2;

/// The month of rows without a time.
pub const NO_MONTH: &str = "0000-00";

const fn column(name: &'static str, kind: Kind, about: &'static str) -> Column {
    Column { name, kind, is_optional: false, is_text: false, about }
}

const fn text(name: &'static str, about: &'static str) -> Column {
    column(name, Kind::Text, about)
}

const fn integer(name: &'static str, about: &'static str) -> Column {
    column(name, Kind::Integer, about)
}

const fn boolean(name: &'static str, about: &'static str) -> Column {
    column(name, Kind::Boolean, about)
}

const fn time(name: &'static str, about: &'static str) -> Column {
    optional(column(name, Kind::Time, about))
}

const fn optional(column: Column) -> Column {
    Column { is_optional: true, ..column }
}

/// What somebody wrote, or an id that nothing is joined by: left out of a lake unless asked for.
const fn written(name: &'static str, about: &'static str) -> Column {
    Column { is_text: true, ..optional(text(name, about)) }
}

const HOST: Column = text("host", "The computer.");
const USER: Column = text("user", "Whose history it is.");
const SESSION: Column = text("session", "The session's id.");
const AGENT: Column = optional(text(
    "agent",
    "The subagent in whose file it stands; NULL in the session's own file, `also-1` and so on in further files of the same session.",
));
const ENTRY: Column =
    integer("entry", "The entry's number in its file, counted from 1, as `recount show` has it.");
const TURN: Column = optional(integer(
    "turn",
    "The turn it belongs to, counted from 1; of a subagent the turn in which it was started. NULL beside the conversation.",
));
const TIME: Column = time("time", "When.");
const DAY: Column = optional(text("day", "The day, `YYYY-MM-DD` in UTC; NULL without a time."));
const MONTH: Column = text("month", "The month, `YYYY-MM` in UTC; `0000-00` without a time.");

/// All tables.
pub static TABLES: &[Table] = &[
    SESSIONS, TURNS, ENTRIES, CALLS, EDITS, REQUESTS, SEGMENTS, BRANCHES, SUBAGENTS, PRS, COMMITS,
    TEXTS,
];

/// The table with this name.
pub fn find(name: &str) -> Option<&'static Table> {
    TABLES.iter().find(|table| table.name == name)
}

/// One row for each session.
pub const SESSIONS: Table = Table {
    name: "sessions",
    about: "A session over all its files.",
    columns: &[
        HOST,
        USER,
        SESSION,
        optional(text("project", "The folder it began in.")),
        written("title", "Its title."),
        optional(text(
            "title_source",
            "Where the title comes from: `custom`, `ai`, `last-prompt`, `summary`, `first-prompt`, `command` or `task`.",
        )),
        optional(text("branch", "The git branch last seen.")),
        time("first_time", "Its earliest entry."),
        time("last_time", "Its latest entry."),
        DAY,
        MONTH,
        text("standing", "`whole`, `copy`, `pointer`, `stub` or `empty`."),
        text("ending", "How its last turn stands: `answered`, `open`, `interrupted` or `empty`."),
        integer("turns", "Turns."),
        integer("calls", "Calls, its subagents' included."),
        integer("errors", "Failed calls, its subagents' included."),
        integer("entries", "Entries of its own."),
        integer("files", "Files it changed."),
        integer("lines_added", "Lines it added."),
        integer("lines_removed", "Lines it removed."),
        integer("segments", "Segments: one more than compactions."),
        integer("rewinds", "How often a person went back."),
        integer("subagents", "Subagents."),
        text("models", "The models that answered, with commas between."),
        optional(text("version", "The version of Claude Code that wrote its last entries.")),
        optional(text("entrypoint", "How it was started: `cli`, `claude-desktop` and so on.")),
        integer("bytes", "Bytes of its file and its subagents' files."),
        boolean(
            "client_counts_more",
            "Whether Claude Code itself counts more output than the session's files have.",
        ),
    ],
    key: &["session"],
};

/// One row for each turn.
pub const TURNS: Table = Table {
    name: "turns",
    about: "A person's prompt and all that follows, on the way that the conversation went.",
    columns: &[
        HOST,
        USER,
        SESSION,
        integer("turn", "Its number in the session, counted from 1."),
        TIME,
        time("end_time", "Its last entry."),
        optional(integer("duration_ms", "From its first to its last entry.")),
        DAY,
        MONTH,
        integer("entry", "The number of the prompt's entry."),
        integer("segment", "The segment it begins in, counted from 0."),
        text("role", "What began it: `prompt`, `queued` or `command`."),
        written("prompt", "What the person asked."),
        integer("entries", "Entries in it, without subagents'."),
        integer("calls", "Calls in it, without subagents'."),
        integer("errors", "Failed calls in it, without subagents'."),
    ],
    key: &["session", "turn"],
};

/// One row for each entry.
pub const ENTRIES: Table = Table {
    name: "entries",
    about: "A record of a transcript that counts: copies and repetitions are left out.",
    columns: &[
        HOST,
        USER,
        SESSION,
        AGENT,
        ENTRY,
        optional(integer("parent", "The number of the entry it hangs on.")),
        TURN,
        optional(integer("segment", "Its segment, counted from 0.")),
        TIME,
        DAY,
        MONTH,
        optional(text("type", "Its `type`, as written.")),
        text("role", "What it is to a reader: `prompt`, `answer`, `call`, `result` and so on."),
        optional(text("branch", "The git branch.")),
        text("state", "`active`, `compacted`, `cleared`, `abandoned` or `subagent`."),
        boolean("is_active", "Whether it is part of the conversation as it went."),
        integer("bytes", "Its length."),
        written("uuid", "Its `uuid`."),
    ],
    key: &["session", "agent", "entry"],
};

/// One row for each call of a tool.
pub const CALLS: Table = Table {
    name: "calls",
    about: "A call of a tool with its result, once however often it was copied.",
    columns: &[
        HOST,
        USER,
        SESSION,
        AGENT,
        ENTRY,
        integer("call", "Its number among the calls of its file, counted from 1."),
        TURN,
        TIME,
        DAY,
        MONTH,
        text("tool", "The tool."),
        optional(text("server", "The server of MCP.")),
        optional(text("skill", "The skill, of calls of the skill tool.")),
        optional(text(
            "about",
            "What it is about, in at most 200 characters: the path, the first line of the command, the pattern.",
        )),
        written("input", "Its input, as JSON."),
        text("outcome", "`ok`, `error`, `rejected`, `interrupted`, or `none` without a result."),
        boolean("is_error", "Whether it failed: `error`, `rejected` or `interrupted`."),
        optional(integer(
            "latency_ms",
            "From the call to its result; NULL without one, or if a clock went back.",
        )),
        optional(text(
            "error_signature",
            "The error with paths, numbers, ids and quoted parts taken out.",
        )),
        written("error", "What came back from a call that failed."),
        optional(integer("result_entry", "The number of the entry with the result.")),
        optional(integer("result_bytes", "The length of what came back.")),
    ],
    key: &["session", "agent", "call"],
};

/// One row for each change to a file.
pub const EDITS: Table = Table {
    name: "edits",
    about: "A change that a call made to a file.",
    columns: &[
        HOST,
        USER,
        SESSION,
        AGENT,
        ENTRY,
        integer("call", "The number of the call that made it."),
        TURN,
        TIME,
        DAY,
        MONTH,
        text("file", "The file, as recorded."),
        text("tool", "The tool."),
        optional(integer("lines_added", "Lines added; null if only the file's name is known.")),
        optional(integer("lines_removed", "Lines removed; null if only the file's name is known.")),
        boolean("is_new", "Whether the file did not exist before."),
        boolean("is_estimated", "Whether it is counted from the input, for want of a patch."),
    ],
    key: &["session", "agent", "call", "file"],
};

/// One row for each response of a model.
pub const REQUESTS: Table = Table {
    name: "requests",
    about: "A response of a model: its tokens and what it cost, counted once in all files.",
    columns: &[
        HOST,
        USER,
        SESSION,
        AGENT,
        TURN,
        optional(integer(
            "entry",
            "The number of its first entry; NULL if that is not in a file of this session any more.",
        )),
        integer("part", "0; 1 and so on for what advisors said within the response."),
        TIME,
        DAY,
        MONTH,
        optional(text("project", "The working directory.")),
        optional(text("branch", "The git branch.")),
        optional(text("model", "The model, without the marks of its provider.")),
        optional(text("model_id", "The model, as written.")),
        integer("input_tokens", "Tokens read anew."),
        integer("output_tokens", "Tokens written by the model."),
        integer("cache_read_tokens", "Tokens read from the cache."),
        integer("cache_write_5m_tokens", "Tokens written to the cache for five minutes."),
        integer("cache_write_1h_tokens", "Tokens written to the cache for an hour."),
        integer("web_searches", "Web searches."),
        integer("api_requests", "Requests to the API that it took."),
        integer("tool_calls", "Tools that it called."),
        optional(integer("cost_microusd", "Millionths of a dollar; NULL without a price.")),
        text("confidence", "`exact`, `estimated`, `lower_bound` or `unpriced`."),
        optional(text("price", "The row of the table of prices: the model and since when.")),
        boolean("is_fast", "Whether it was made in fast mode."),
        boolean("is_us", "Whether it was bound to the US."),
        boolean("is_batch", "Whether it was made in a batch."),
        boolean("is_priority", "Whether it had priority."),
        boolean("has_source", "Whether its lines are still in the Claude folder."),
        integer("replays", "How many other files repeat it."),
        written("id", "A number of its own, made from what the API calls it."),
    ],
    key: &["id", "part"],
};

/// One row for each segment.
pub const SEGMENTS: Table = Table {
    name: "segments",
    about: "The stretch between two compactions; every segment but the first began with one.",
    columns: &[
        HOST,
        USER,
        SESSION,
        integer("segment", "Its number in the session, counted from 0."),
        TIME,
        time("end_time", "Its last entry."),
        DAY,
        MONTH,
        boolean("is_compaction", "Whether a compaction began it."),
        optional(text("compaction", "What set that off: `auto` or `manual`.")),
        optional(integer("tokens_before", "Tokens in the context before the compaction.")),
        optional(integer("tokens_after", "Tokens in the context after it.")),
        optional(integer("compaction_ms", "How long it took.")),
        optional(integer("first_entry", "The number of its first entry.")),
        optional(integer("last_entry", "The number of its last entry.")),
        integer("turns", "Turns that begin in it."),
        integer("entries", "Entries in it."),
        boolean("is_abandoned", "Whether it is on a branch that was left."),
    ],
    key: &["session", "segment"],
};

/// One row for each branch.
pub const BRANCHES: Table = Table {
    name: "branches",
    about: "A line of talk that was left behind.",
    columns: &[
        HOST,
        USER,
        SESSION,
        integer("number", "Its number in the session, counted from 1."),
        TIME,
        DAY,
        MONTH,
        text("kind", "Why it was left: `rewind` (a person went back) or `unknown`."),
        optional(integer("from_entry", "The number of the entry where it parts.")),
        integer("first_entry", "The number of its first entry."),
        integer("last_entry", "The number of its last entry."),
        integer("entries", "Entries on it."),
        integer("prompts", "A person's prompts on it."),
    ],
    key: &["session", "number"],
};

/// One row for each subagent.
pub const SUBAGENTS: Table = Table {
    name: "subagents",
    about: "A subagent of a session.",
    columns: &[
        HOST,
        USER,
        SESSION,
        text("agent", "Its id; `inline-` and a number if it stands in the session's own file."),
        optional(text("parent", "The subagent that started it; NULL if the session did.")),
        optional(integer("entry", "The number of the entry with the call, in its starter's file.")),
        TURN,
        TIME,
        time("end_time", "Its last entry."),
        DAY,
        MONTH,
        text(
            "kind",
            "Its type; `claude-code` if Claude Code started it for itself, `unknown` if nothing says it.",
        ),
        written("task", "Its task in a few words."),
        text("link", "How it is known whose it is: `meta`, `result`, `prompt` and so on."),
        integer("entries", "Entries in its file."),
        integer("calls", "Its calls."),
        integer("errors", "Its failed calls."),
    ],
    key: &["session", "agent"],
};

/// One row for each pull request of a session.
pub const PRS: Table = Table {
    name: "prs",
    about: "A pull request that a session is linked to.",
    columns: &[
        HOST,
        USER,
        SESSION,
        integer("entry", "The number of the entry that first names it."),
        TURN,
        TIME,
        DAY,
        MONTH,
        optional(integer("number", "Its number.")),
        text("url", "Its address."),
        optional(text("repository", "Its repository.")),
    ],
    key: &["session", "url"],
};

/// One row for each commit.
pub const COMMITS: Table = Table {
    name: "commits",
    about: "A commit that a call made.",
    columns: &[
        HOST,
        USER,
        SESSION,
        AGENT,
        integer("entry", "The number of the entry with the result that shows it."),
        TURN,
        TIME,
        DAY,
        MONTH,
        text("hash", "The hash, as short as git printed it."),
        optional(text("branch", "The git branch.")),
        written("subject", "The first line of its message."),
    ],
    key: &["session", "agent", "entry", "hash"],
};

/// One row for each text.
pub const TEXTS: Table = Table {
    name: "texts",
    about: "What was said, called or printed: one row for each part of an entry.",
    columns: &[
        HOST,
        USER,
        SESSION,
        AGENT,
        ENTRY,
        integer("part", "Its number in the entry, counted from 0."),
        TURN,
        TIME,
        DAY,
        MONTH,
        text("role", "Who said it: the entry's role."),
        text(
            "kind",
            "`prompt`, `answer`, `thinking`, `call`, `output`, `summary`, `title` or `other`.",
        ),
        integer("bytes", "Its length."),
        written("text", "The words; of a call its input as JSON."),
    ],
    key: &["session", "agent", "entry", "part"],
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_can_be_laid_together_with_those_of_others() {
        for table in TABLES {
            let names: Vec<&str> = table.columns.iter().map(|column| column.name).collect();
            assert_eq!(&names[..3], ["host", "user", "session"], "{}", table.name);
            assert!(names.contains(&"day") && names.contains(&"month"), "{}", table.name);
            assert!(table.columns.iter().any(|c| c.kind == Kind::Time), "{}", table.name);
            assert!(table.key.iter().all(|key| names.contains(key)), "{}", table.name);
            let mut once = names.clone();
            once.sort_unstable();
            once.dedup();
            assert_eq!(once.len(), names.len(), "{}", table.name);
        }
        assert_eq!(find("calls"), Some(&CALLS));
        assert_eq!(find("call"), None);
    }
}
