//! `tasks/<session>/<n>.json`: one task of the `Task` tools. Since 2.1.16.

use super::todo::Status;
use super::{Extra, Json, Read, Reader, word_text};

/// What the file says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// Its number, as in the file's name.
    pub id: Option<Box<str>>,
    /// What is to do, in a few words.
    pub subject: Option<Box<str>>,
    /// What is to do.
    pub description: Option<Box<str>>,
    /// What to say while it is being done.
    pub active_form: Option<Box<str>>,
    /// How far it is.
    pub status: Option<Status>,
    /// The tasks that wait for this one.
    pub blocks: Vec<Box<str>>,
    /// The tasks this one waits for.
    pub blocked_by: Vec<Box<str>>,
    /// The agent that does it.
    pub owner: Option<Box<str>>,
    /// Notes of any shape.
    pub metadata: Option<Json>,
    /// Fields that were not read.
    pub extra: Extra,
}

/// Reads the file.
pub fn parse(bytes: &[u8]) -> Read<Task> {
    let mut reader = Reader::new(bytes);
    let mut object = reader.document_object();
    let mut ids = |key| match object.array(key) {
        Some(raw) => {
            let items = reader.items(raw).into_iter();
            items.filter_map(|item| reader.value(item, word_text)).collect()
        }
        None => Vec::new(),
    };
    let (blocks, blocked_by) = (ids("blocks"), ids("blockedBy"));
    let task = Task {
        id: object.word("id"),
        subject: object.text("subject"),
        description: object.text("description"),
        active_form: object.text("activeForm"),
        status: object.take("status", Status::read),
        blocks,
        blocked_by,
        owner: object.text("owner"),
        metadata: object.json("metadata"),
        extra: object.rest(),
    };
    (task, reader.finish())
}

/// The highest number given so far, from `.highwatermark`.
pub fn high_watermark(bytes: &[u8]) -> Option<u64> {
    std::str::from_utf8(bytes).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task() {
        let (task, odd) = parse(
            br#"{"id":"2","subject":"Write tests","description":"All of them","activeForm":"Writing tests","status":"in_progress","blocks":["3"],"blockedBy":["1"],"owner":"tester","metadata":{"k":1}}"#,
        );
        assert!(odd.is_empty() && task.extra.is_empty());
        assert_eq!((task.id.as_deref(), task.status), (Some("2"), Some(Status::InProgress)));
        assert_eq!((&*task.blocks[0], &*task.blocked_by[0]), ("3", "1"));
        let (task, odd) = parse(br#"{"id":2,"blocks":[3,null]}"#);
        assert_eq!((task.id.as_deref(), task.blocks.len(), odd.len()), (Some("2"), 1, 1));
        assert_eq!(high_watermark(b"12\n"), Some(12));
        assert_eq!(high_watermark(b""), None);
    }
}
