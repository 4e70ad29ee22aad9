//! Entries that stand in more than one file, or twice in one.

use super::{Kept, Scribe};
use crate::truth::RequestTruth;

impl Scribe {
    /// Copies all that another session kept, and its books: the requests
    /// belong to the other one.
    pub fn copy_from(&mut self, other: &mut Scribe) {
        other.flush();
        let kept = other.kept.clone().expect("the original keeps its entries");
        kept.iter().for_each(|kept| self.put_copy(kept));
        self.adopt(other);
    }

    /// Takes over the books of a session whose entries were copied.
    pub fn adopt(&mut self, other: &Scribe) {
        let (to, from) = (&mut self.truth, &other.truth);
        to.copy_of = Some(from.id.clone());
        to.calls += from.calls;
        to.errors.extend(from.errors.iter().cloned());
        to.touched.extend(from.touched.iter().cloned());
        to.commits.extend(from.commits.iter().cloned());
        to.request_count += from.request_count;
        to.usage.add(from.usage);
        let own = from.requests.iter().filter(|request| request.agent.is_none());
        to.requests.extend(own.map(|r| RequestTruth { replayed: true, ..r.clone() }));
        if let Some(title) = from.titles.get("first-prompt") {
            to.titles.insert("first-prompt".into(), title.clone());
        }
        self.prompts.extend(other.prompts.iter().cloned());
        self.active_prompts += other.active_prompts;
        self.context = other.context;
        self.now = other.now;
    }

    /// Writes an entry of another session that stands here by mistake. It is
    /// counted as an entry of the file and otherwise left out of the books.
    pub fn put_foreign(&mut self, kept: &Kept) {
        self.flush();
        let line = kept.envelope.line(&kept.place, kept.kind == "user", &kept.body);
        self.write_line(&line);
        self.count(&kept.kind, kept.sub.as_deref());
        self.truth.foreign_entries += 1;
    }

    /// Writes an entry of this file once more, with a changed body.
    pub fn put_again(&mut self, kept: &Kept, body: &str) {
        self.flush();
        let line = self.envelope.line(&kept.place, kept.kind == "user", body);
        self.write_line(&line);
        self.count(&kept.kind, kept.sub.as_deref());
        self.truth.forks.replay += 1;
    }

    /// Writes an entry kept from another file under this file's envelope.
    pub fn put_copy(&mut self, kept: &Kept) {
        self.flush();
        let line = self.envelope.line(&kept.place, kept.kind == "user", &kept.body);
        self.note_chain(&kept.place, &kept.kind);
        self.write_line(&line);
        self.count(&kept.kind, kept.sub.as_deref());
        self.parent = Some(kept.place.uuid.clone());
        self.truth.copied_entries += 1;
    }
}
