//! All sessions at one moment, for pages and the terminal browser.
//!
//! The sessions are followed by [`LiveHistory`]; what is running is added here, because only this
//! crate knows processes.

use std::sync::Arc;

use report::history::Ghost;
use report::list::{self, Pulse};
use store::history::{ChangedPaths, FollowingReader, LiveHistory, LiveSnapshot, PromptedSession};
use transcript::library::{Library, SessionItem};

use crate::error::CliError;
use crate::run::Run;

/// All sessions at one moment.
#[derive(Default)]
pub struct Shelf {
    /// They themselves.
    pub library: Library,
    /// Sessions of which only prompts are left.
    pub ghosts: Arc<[SessionItem]>,
    /// What is running.
    pub pulse: Pulse,
    /// Grows with every change.
    pub number: u64,
    /// The moment of the files that this is of.
    followed: Arc<LiveSnapshot>,
}

impl Shelf {
    /// The sessions as they are after a change; `None` if they are as they were.
    pub fn refresh_from(
        run: &mut Run,
        before: &Self,
        live: &mut LiveHistory,
        (changed, reader): (&ChangedPaths, &FollowingReader),
    ) -> Result<Option<Self>, CliError> {
        let pulse = run.recount.running_sessions()?;
        let (_, problems) = live.refresh(changed, reader);
        problems.into_iter().for_each(|problem| run.talk.skip(problem));
        let followed = live.current_snapshot();
        let is_same = Arc::ptr_eq(&followed, &before.followed);
        if is_same && before.number > 0 && running(&pulse) == running(&before.pulse) {
            return Ok(None);
        }
        let ghosts = match Arc::ptr_eq(&followed.prompts_only, &before.followed.prompts_only) {
            true => before.ghosts.clone(),
            false => followed.prompts_only.iter().filter_map(list_item).collect(),
        };
        let (library, number) = (followed.library.share_parts(), before.number + 1);
        Ok(Some(Self { library, ghosts, pulse, number, followed }))
    }

    /// A session by its id, also one of which only prompts are left.
    pub fn session(&self, id: &str) -> Option<&SessionItem> {
        let ghost = || self.ghosts.iter().find(|ghost| ghost.id.as_str() == id);
        self.library.session(id).or_else(ghost)
    }
}

/// A session of which only prompts are left, as lists show it.
fn list_item(prompted: &PromptedSession) -> Option<SessionItem> {
    list::ghost(&Ghost {
        session: Some(prompted.session.clone()),
        project: prompted.project.clone(),
        first: prompted.first,
        last: prompted.last,
        prompts: prompted.prompts,
        first_prompt: prompted.first_prompt.clone(),
    })
}

fn running(pulse: &Pulse) -> Vec<&str> {
    pulse.running.iter().filter_map(|one| Some(one.session.as_ref()?.as_str())).collect()
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::path::Path;

    use store::history::ChangedPaths;

    use crate::serve::Desk;

    fn append(path: &Path, line: &str) {
        let file = std::fs::OpenOptions::new().append(true).create(true).open(path);
        file.and_then(|mut file| writeln!(file, "{line}")).expect("written");
    }

    fn typed(session: &str, time: u64) -> String {
        format!(
            "{{\"display\":\"typed {time}\",\"pastedContents\":{{}},\"timestamp\":{time},\"project\":\"/w\",\"sessionId\":\"{session}\"}}"
        )
    }

    /// The sessions of which only prompts are left, as the server and as a command says.
    fn said_twice(desk: &Desk) -> [String; 2] {
        let mut run = desk.run();
        let library = run.recount.all_sessions().expect("readable");
        let anew = run.recount.prompts_only(&library).expect("readable");
        [format!("{:?}", &desk.shelf().ghosts[..]), format!("{anew:?}")]
    }

    #[test]
    fn sessions_with_prompts_only_are_those_that_a_command_finds() {
        let folder = tempfile::tempdir().expect("a folder");
        let home = folder.path().join("home");
        std::fs::create_dir_all(home.join("projects/-w")).expect("made");
        let (log, file) = (home.join("history.jsonl"), home.join("projects/-w/b.jsonl"));
        append(&log, &typed("a", 20));
        let desk = Desk::new(vec![home], folder.path().join("store"), None);
        assert!(desk.look_at(&ChangedPaths::All).expect("readable"));
        let entry = "{\"parentUuid\":null,\"uuid\":\"u\",\"sessionId\":\"b\",\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"x\"}}";
        let steps: [(&Path, String); 5] = [
            (&log, typed("b", 30)),
            (&file, entry.into()),
            (&log, typed("a", 10)),
            (&log, typed("b", 50)),
            (&log, typed("c", 5)),
        ];
        for (path, line) in steps {
            append(path, &line);
            desk.look_at(&ChangedPaths::Only([path.to_path_buf()].into())).expect("readable");
            let [followed, anew] = said_twice(&desk);
            assert_eq!(followed, anew);
        }
        assert_eq!(desk.shelf().ghosts.len(), 2);
    }
}
