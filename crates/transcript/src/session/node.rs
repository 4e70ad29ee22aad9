//! What the model of a session remembers of each entry: enough to rebuild the tree and to find
//! the bytes again, and nothing of the text. A file of a gigabyte stays a few dozen megabytes.

use serde::{Deserialize, Serialize};

use crate::entry::Kind;
use crate::id::Key;
use crate::time::Time;

/// No node, no call, no turn.
pub const NONE: u32 = u32::MAX;

/// What an entry is to a reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Role {
    /// A person asks.
    Prompt,
    /// A person asks while the model works (a queued command).
    Queued,
    /// A person typed it while the model worked, and it was never delivered.
    Undelivered,
    /// A person's slash command.
    Command,
    /// A person's `!` shell command.
    Shell,
    /// The model says something.
    Answer,
    /// The model thinks.
    Thinking,
    /// The model calls a tool.
    Call,
    /// A tool's result.
    Result,
    /// A compaction's summary.
    Summary,
    /// A compaction's boundary.
    Boundary,
    /// A person interrupted.
    Interrupt,
    /// A background task reports.
    Notification,
    /// Another agent speaks.
    Teammate,
    /// Claude Code put it there for the model.
    Injected,
    /// The API failed.
    ApiError,
    /// A system event.
    Event,
    /// A sign of life of a running call.
    Progress,
    /// Something added to the context.
    Attachment,
    /// A title, a snapshot, a link, a setting.
    Bookkeeping,
    /// A type that is not known.
    Unknown,
    /// Bytes that are no record.
    Damaged,
}

impl Role {
    /// The word for it in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Prompt => "prompt",
            Self::Queued => "queued",
            Self::Undelivered => "undelivered",
            Self::Command => "command",
            Self::Shell => "shell",
            Self::Answer => "answer",
            Self::Thinking => "thinking",
            Self::Call => "call",
            Self::Result => "result",
            Self::Summary => "summary",
            Self::Boundary => "boundary",
            Self::Interrupt => "interrupt",
            Self::Notification => "notification",
            Self::Teammate => "teammate",
            Self::Injected => "injected",
            Self::ApiError => "api-error",
            Self::Event => "event",
            Self::Progress => "progress",
            Self::Attachment => "attachment",
            Self::Bookkeeping => "bookkeeping",
            Self::Unknown => "unknown",
            Self::Damaged => "damaged",
        }
    }

    /// Whether a person speaks.
    pub const fn is_person(self) -> bool {
        matches!(self, Self::Prompt | Self::Queued | Self::Command | Self::Shell)
    }

    /// Whether the model speaks.
    pub const fn is_model(self) -> bool {
        matches!(self, Self::Answer | Self::Thinking | Self::Call)
    }
}

/// One entry in the model of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Node {
    /// Its uuid, or a number of its own.
    pub key: Key,
    /// Where its bytes begin.
    pub offset: u64,
    /// When; see [`Node::time`].
    pub(super) at: i64,
    /// How many bytes.
    pub length: u32,
    /// Its number among the entries of its file, from 1. Appending never changes it.
    pub number: u32,
    /// The node it hangs on.
    pub(super) parent: u32,
    /// The response it is a part of.
    pub(super) message: u32,
    pub(super) flags: u16,
    pub(super) session: u32,
    /// Which of the session's files holds it; 0 is its own.
    pub source: u8,
    /// What its `type` says.
    pub kind: Kind,
    /// What it is to a reader.
    pub role: Role,
}

/// A million entries take 64 MB, and no more without somebody noticing.
const _: () = assert!(size_of::<Node>() == 64);

pub(super) const NO_TIME: i64 = i64::MIN;

/// Facts about a node, one bit each.
pub(super) mod flag {
    pub const SIDECHAIN: u16 = 1;
    pub const META: u16 = 1 << 1;
    pub const TEAM: u16 = 1 << 2;
    /// `parentUuid` is `null`.
    pub const ROOT: u16 = 1 << 3;
    /// `parentUuid` names an entry that is not in the file.
    pub const ORPHAN: u16 = 1 << 4;
    /// The uuid stood in the file before.
    pub const REPEAT: u16 = 1 << 5;
    /// A tool result with `is_error`.
    pub const ERROR: u16 = 1 << 6;
    /// The model ended its turn here.
    pub const END_TURN: u16 = 1 << 7;
    /// The parent chain ran in a circle here and was cut.
    pub const CYCLE: u16 = 1 << 8;
    /// Kept over a partial compaction.
    pub const PRESERVED: u16 = 1 << 9;
    /// Owned by an earlier copy in another file.
    pub const COPY: u16 = 1 << 10;
    /// Belongs to another session and hangs on nothing of this one.
    pub const FOREIGN: u16 = 1 << 11;
    /// Its key is that of an entry of the tree, not of a place.
    pub const IN_TREE: u16 = 1 << 12;
    /// A `queue-operation` whose prompt is in the file a second time, as the entry that delivered it.
    pub const DELIVERED_ELSEWHERE: u16 = 1 << 13;
    /// A slash command that Claude Code carries out itself.
    pub const LOCAL_COMMAND: u16 = 1 << 14;
}

impl Node {
    /// When it was written, as it says itself.
    pub fn time(&self) -> Option<Time> {
        (self.at != NO_TIME).then_some(Time(self.at))
    }

    /// Whether the model wrote it, or the client in its name.
    pub fn is_by_model(&self) -> bool {
        self.kind == crate::entry::Kind::Assistant
    }

    /// Whether it is a link of the conversation, and not a sign of life of a running call.
    pub fn is_talk_link(&self) -> bool {
        self.kind.is_chain() && self.kind != crate::entry::Kind::Progress
    }

    /// The response it is a part of, as a number of its own file.
    pub fn response(&self) -> Option<u32> {
        (self.message != NONE).then_some(self.message)
    }

    pub(super) fn mark_local_command(&mut self, text: &str) {
        if self.role == Role::Command && crate::prompt::is_local_command(text) {
            self.flags |= flag::LOCAL_COMMAND;
        }
    }

    pub(super) fn has(&self, flag: u16) -> bool {
        self.flags & flag != 0
    }

    /// Whether the model says that its turn ends with it. Old files say so seldom.
    pub fn ends_turn(&self) -> bool {
        self.flags & flag::END_TURN != 0
    }

    /// Whether it belongs to a subagent.
    pub fn is_sidechain(&self) -> bool {
        self.has(flag::SIDECHAIN)
    }

    /// Whether it is a tool result that says it failed.
    pub fn is_error(&self) -> bool {
        self.has(flag::ERROR)
    }

    /// Whether its parent is named but not in the file.
    pub fn is_orphan(&self) -> bool {
        self.has(flag::ORPHAN)
    }

    /// Whether its uuid stood in the file before.
    pub fn is_repeat(&self) -> bool {
        self.has(flag::REPEAT)
    }

    /// Whether its parent chain ran in a circle.
    pub fn is_cycle(&self) -> bool {
        self.has(flag::CYCLE)
    }

    /// Whether a partial compaction kept it in the context.
    pub fn is_preserved(&self) -> bool {
        self.has(flag::PRESERVED)
    }

    /// Whether another entry of the file delivers the prompt that this line queued.
    pub fn is_delivered_elsewhere(&self) -> bool {
        self.has(flag::DELIVERED_ELSEWHERE)
    }

    /// Whether an earlier file has the same entry and owns it.
    pub fn is_copy(&self) -> bool {
        self.has(flag::COPY)
    }
}
