//! The plans there are.

use std::path::PathBuf;

use transcript::side::plan::{self, PlanName};
use transcript::time::Time;

/// A plan's file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The file's stem, which names it in commands.
    pub name: String,
    /// Its parts.
    pub parts: PlanName,
    /// The first heading.
    pub title: Option<String>,
    /// When it was last written.
    pub modified: Option<Time>,
    /// Bytes.
    pub size: u64,
    /// Where it is.
    pub path: PathBuf,
    /// What it says.
    pub text: String,
}

impl Plan {
    /// A plan from its file; `None` where the name is no plan's.
    pub fn new(path: PathBuf, modified: Option<Time>, bytes: &[u8]) -> Option<Self> {
        let file_name = path.file_name()?.to_str()?;
        let parts = PlanName::parse(file_name)?;
        let text = String::from_utf8_lossy(bytes).into_owned();
        Some(Self {
            name: file_name.strip_suffix(".md")?.to_owned(),
            parts,
            title: plan::title(&text).map(str::to_owned),
            modified,
            size: bytes.len() as u64,
            path,
            text,
        })
    }
}

/// Plans in their order: newest first, those of one moment by name.
pub fn sorted(mut plans: Vec<Plan>) -> Vec<Plan> {
    plans.sort_by(|a, b| b.modified.cmp(&a.modified).then_with(|| a.name.cmp(&b.name)));
    plans
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_from_its_file() {
        let file = |name: &str, ms| Plan::new(name.into(), Some(Time(ms)), b"# Do it\n\n- now\n");
        let agent = file("plans/calm-red-fox-agent-a7b0bd37.md", 2).expect("a plan");
        assert_eq!((agent.title.as_deref(), agent.size), (Some("Do it"), 15));
        assert_eq!(agent.parts.agent.as_ref().map(|agent| agent.as_str()), Some("a7b0bd37"));
        assert_eq!(file("plans/notes.txt", 1), None);
        let plans = sorted(
            vec![file("b.md", 1), file("a.md", 1), Some(agent)].into_iter().flatten().collect(),
        );
        let names: Vec<_> = plans.iter().map(|plan| plan.name.as_str()).collect();
        assert_eq!(names, ["calm-red-fox-agent-a7b0bd37", "a", "b"]);
    }
}
