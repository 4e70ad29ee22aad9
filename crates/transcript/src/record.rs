//! Records: what a reader sees of a session, one per entry or call, at five levels of detail.
//!
//! A call and its result are one record, standing where the call stands. The text is read from
//! the source only when a record is made, so that a session of gigabytes can be shown piece by
//! piece. Every renderer (terminal, page, export) starts from these.

use crate::id::Key;
use crate::session::{Role, State};
use crate::time::Time;
use crate::tool::{self, Action, Hunk};

mod opened;

pub use opened::{Opened, output, picture};

/// An entry longer than this is not read, so that memory stays bounded.
pub const LARGEST: u32 = 64 << 20;

/// How much is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Detail {
    /// What a person asked.
    Prompts = 1,
    /// And what the model said.
    Conversation = 2,
    /// And what it did.
    Work = 3,
    /// And the texts that Claude Code put between them, and what it reported.
    Everything = 4,
    /// Every entry as it is in the file, internal lines too.
    Raw = 5,
}

impl Detail {
    /// The level of a number from 1 to 5.
    pub fn of(level: u8) -> Option<Self> {
        [Self::Prompts, Self::Conversation, Self::Work, Self::Everything, Self::Raw]
            .into_iter()
            .find(|detail| *detail as u8 == level)
    }

    /// The first level that shows entries of a role. Every door asks here.
    ///
    /// Internal lines, which only the client itself reads (settings, titles, records of requests)
    /// or whose type is not known, are shown as they stand and at no other level: they say nothing
    /// that a person asked, or the model said or was told.
    pub const fn of_role(role: Role) -> Self {
        match role {
            Role::Prompt | Role::Queued | Role::Undelivered | Role::Command | Role::Shell => {
                Self::Prompts
            }
            Role::Answer
            | Role::Boundary
            | Role::Summary
            | Role::Interrupt
            | Role::ApiError
            | Role::Teammate => Self::Conversation,
            Role::Thinking | Role::Call | Role::Result | Role::Notification | Role::Damaged => {
                Self::Work
            }
            Role::Injected | Role::Event | Role::Progress | Role::Attachment => Self::Everything,
            Role::Bookkeeping | Role::Unknown => Self::Raw,
        }
    }
}

/// One thing to show.
#[derive(Debug, Clone)]
pub struct Record {
    /// The entry, by index into the session.
    pub node: usize,
    /// Its number in its file; unknown when only the file's end was read.
    pub number: Option<u32>,
    /// Where its bytes begin in its file.
    pub offset: u64,
    /// How many bytes.
    pub length: u32,
    /// Which of the session's files holds it.
    pub source: u8,
    /// When.
    pub time: Option<Time>,
    /// How long after what it follows, in milliseconds.
    pub after_ms: Option<i64>,
    /// What it is.
    pub role: Role,
    /// Where it stands.
    pub state: State,
    /// Its turn, from 0.
    pub turn: Option<usize>,
    /// Its segment.
    pub segment: Option<usize>,
    /// The model that spoke; none for others, and for what Claude Code wrote in its name.
    pub model: Option<String>,
    /// What was permitted when a person asked (since 2.1.15).
    pub permission_mode: Option<String>,
    /// The tokens that its response read and wrote, as it says itself.
    pub tokens: Option<(u64, u64)>,
    /// The first level that shows it.
    pub detail: Detail,
    /// What it says.
    pub body: Body,
}

/// What a record says.
#[derive(Debug, Clone)]
pub enum Body {
    /// A person's words: text, and how many pictures came with it.
    Prompt {
        /// The words; commands as typed.
        text: String,
        /// What Claude Code put before them, in the same entry.
        beside: Vec<String>,
        /// Pictures and documents, described.
        media: Vec<String>,
    },
    /// The model's words, one or more blocks.
    Answer {
        /// The blocks in order.
        parts: Vec<Part>,
    },
    /// Calls that the entry makes, with what came of them.
    Calls {
        /// Words beside the calls.
        parts: Vec<Part>,
        /// The calls.
        calls: Vec<CallRecord>,
    },
    /// A result whose call is not in the file.
    LoneResult {
        /// The id of the call.
        tool_use_id: Option<String>,
        /// What came of it.
        outcome: Outcome,
    },
    /// A compaction.
    Compaction {
        /// `auto` or `manual`.
        trigger: Option<String>,
        /// Tokens before.
        pre_tokens: Option<u64>,
        /// Tokens after.
        post_tokens: Option<u64>,
        /// The segment it begins.
        segment: usize,
    },
    /// A compaction's summary.
    Summary {
        /// The text.
        text: String,
    },
    /// Something that Claude Code noted: its name and what it says.
    Note {
        /// `system/turn_duration`, `attachment/file`, `pr-link`, …
        name: String,
        /// What it says, where that is text.
        text: Option<String>,
    },
    /// An entry too large to be read; its size is the record's length.
    TooLarge,
    /// Bytes that are no record.
    Damaged {
        /// The bytes, as far as they are text.
        text: String,
    },
}

/// A piece of the model's words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// What it said.
    Text(String),
    /// What it thought; `None` when only a signature was stored.
    Thinking(Option<String>),
    /// Anything else, by its type and size.
    Other {
        /// The block's type.
        name: String,
        /// Its bytes in the file.
        bytes: usize,
    },
}

/// A call with what came of it.
#[derive(Debug, Clone)]
pub struct CallRecord {
    /// Its id.
    pub tool_use_id: String,
    /// The tool.
    pub tool: String,
    /// What kind of thing it does.
    pub action: Action,
    /// What it is about, in a few words.
    pub subject: Option<String>,
    /// Its input, as JSON.
    pub input: String,
    /// What came of it; none if it was killed.
    pub outcome: Option<Outcome>,
    /// How long the result took, in milliseconds, by the two entries' times.
    pub duration_ms: Option<i64>,
    /// The key that joins it to a subagent.
    pub key: Key,
    /// What is to do after it, if it changes that; known to those who read in order.
    pub todos: Vec<Todo>,
}

/// A thing to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Todo {
    /// Its number among the tasks; a list that is written whole has none.
    pub task: Option<String>,
    /// What it is.
    pub words: String,
    /// `pending`, `in_progress` or `completed`, as recorded.
    pub status: String,
    /// It is new, or stood otherwise before.
    pub is_changed: bool,
}

/// What came of a call.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The node of the result.
    pub node: usize,
    /// Its number in its file.
    pub number: Option<u32>,
    /// It says that it failed.
    pub is_error: bool,
    /// What the model was shown.
    pub text: Option<String>,
    /// What a command wrote to its standard error, which may be in the text or not.
    pub stderr: Option<String>,
    /// Pictures and documents, described.
    pub media: Vec<String>,
    /// The lines it changed in a file.
    pub change: Option<Change>,
    /// The files that a command changed.
    pub changed_files: Vec<Change>,
    /// The tokens that a subagent used.
    pub tokens: Option<u64>,
}

impl Outcome {
    /// The exit code of a command. Only those of failed ones are told, in the text.
    pub fn exit_code(&self) -> Option<i32> {
        let rest = self.text.as_deref().filter(|_| self.is_error)?.strip_prefix("Exit code ")?;
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '-').unwrap_or(rest.len());
        rest[..end].parse().ok()
    }

    /// The lines that it added and removed in files, as far as they are known; `None` if it
    /// changed no file.
    pub fn lines(&self) -> Option<(u32, u32)> {
        let mut all = self.change.iter().chain(&self.changed_files).peekable();
        all.peek()?;
        Some(all.fold((0, 0), |(added, removed), change| {
            (added + change.added, removed + change.removed)
        }))
    }
}

/// A change to a file.
#[derive(Debug, Clone)]
pub struct Change {
    /// The file, as recorded.
    pub path: String,
    /// Lines added.
    pub added: u32,
    /// Lines removed.
    pub removed: u32,
    /// The file did not exist before.
    pub created: bool,
    /// The file does not exist any more.
    pub deleted: bool,
    /// Counted from the input.
    pub estimated: bool,
    /// The result names the file and not what changed in it.
    pub unknown: bool,
    /// The hunks, where recorded.
    pub hunks: Vec<Hunk>,
}

impl Change {
    pub(crate) fn new(change: tool::Change, hunks: Vec<Hunk>) -> Self {
        let tool::Change { path, added, removed, created, deleted, estimated, unknown } = change;
        Self { path, added, removed, created, deleted, estimated, unknown, hunks }
    }

    /// How much changed: `new +2 −0`, `~+3 −1`, `changed, size unknown`.
    pub fn summary(&self) -> String {
        let about = if self.estimated { "~" } else { "" };
        let counts = format!("{about}+{} \u{2212}{}", self.added, self.removed);
        match (self.unknown, self.created, self.deleted) {
            (true, ..) => "changed, size unknown".into(),
            (_, true, _) => format!("new {counts}"),
            (_, _, true) => format!("deleted {counts}"),
            _ => counts,
        }
    }
}

/// A picture or document: its media type as recorded, and its bytes in base64.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Media {
    /// The type.
    pub media_type: String,
    /// The bytes.
    pub base64: String,
}
