//! Which sessions are running, by the registry that Claude Code keeps of its processes.

use std::path::Path;

use report::list::Pulse;
use transcript::layout::{self, FileKind};

use crate::error::HistoryError;
use crate::process::{is_running, read_registry};
use crate::recount::Recount;

impl Recount {
    /// The running sessions of all Claude folders. A process that was killed leaves its registry
    /// file behind; such files are left out.
    pub fn running_sessions(&mut self) -> Result<Pulse, HistoryError> {
        let mut pulse = Pulse { now: Some(self.clock.time()), ..Pulse::default() };
        for root in self.claude_roots()? {
            self.add_running(&root, &mut pulse);
        }
        Ok(pulse)
    }

    /// Adds the running sessions of one Claude folder.
    pub fn add_running(&mut self, root: &Path, pulse: &mut Pulse) {
        if root.join("sessions").is_dir() {
            pulse.registries.push(root.to_path_buf());
        }
        let walk = layout::walk_registry(root);
        for found in walk.files.iter().filter(|f| matches!(f.kind, FileKind::Registry { .. })) {
            let Some(running) = self.or_skip(read_registry(&found.path)) else { continue };
            if is_running(&running) {
                pulse.running.push(running);
            }
        }
    }
}
