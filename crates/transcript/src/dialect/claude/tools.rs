//! The tools of Claude Code, as data.

use crate::tool::{Action, ToolForm, ToolSpec};

const fn spec(
    name: &'static str,
    action: Action,
    subject: &'static [&'static str],
    form: ToolForm,
) -> ToolSpec {
    ToolSpec { name, action, subject, form }
}

const TASK: &[&str] = &["taskId", "task_id"];
const SHELL: &[&str] = &["bash_id", "shell_id"];

/// The tools of Claude Code, those of earlier versions too. Frequent ones come first.
pub(super) const TOOLS: &[ToolSpec] = &[
    spec("Bash", Action::Run, &["command"], ToolForm::Command),
    spec("Read", Action::Read, &["file_path"], ToolForm::FileText),
    spec("Edit", Action::Edit, &["file_path"], ToolForm::Replacement),
    spec("Write", Action::Edit, &["file_path"], ToolForm::WholeFile),
    spec("Grep", Action::Read, &["pattern"], ToolForm::Matches),
    spec("Glob", Action::Read, &["pattern"], ToolForm::FileNames),
    spec("TodoWrite", Action::Plan, &[], ToolForm::TodoList),
    spec("Task", Action::Agent, &["description", "prompt"], ToolForm::Delegation),
    spec("Agent", Action::Agent, &["description", "prompt"], ToolForm::Delegation),
    spec("MultiEdit", Action::Edit, &["file_path"], ToolForm::Replacements),
    spec("NotebookEdit", Action::Edit, &["notebook_path"], ToolForm::NotebookCell),
    spec("NotebookRead", Action::Read, &["notebook_path"], ToolForm::Plain),
    spec("LS", Action::Read, &["path"], ToolForm::Plain),
    spec("LSP", Action::Read, &[], ToolForm::Plain),
    spec("ReadMcpResource", Action::Read, &[], ToolForm::Plain),
    spec("ListMcpResources", Action::Read, &[], ToolForm::Plain),
    spec("PowerShell", Action::Run, &["command"], ToolForm::Command),
    spec("BashOutput", Action::Run, SHELL, ToolForm::Plain),
    spec("KillShell", Action::Run, SHELL, ToolForm::Plain),
    spec("KillBash", Action::Run, SHELL, ToolForm::Plain),
    spec("Monitor", Action::Run, &[], ToolForm::Plain),
    spec("TaskOutput", Action::Agent, TASK, ToolForm::Plain),
    spec("TaskStop", Action::Agent, TASK, ToolForm::Plain),
    spec("SendMessage", Action::Agent, &["summary", "to", "recipient"], ToolForm::Plain),
    spec("TeamCreate", Action::Agent, &[], ToolForm::Plain),
    spec("TeamDelete", Action::Agent, &[], ToolForm::Plain),
    spec("ListAgents", Action::Agent, &[], ToolForm::Plain),
    spec("Workflow", Action::Agent, &[], ToolForm::Plain),
    spec("Skill", Action::Agent, &["skill", "command"], ToolForm::Skill),
    spec("WebSearch", Action::Web, &["query"], ToolForm::Links),
    spec("WebFetch", Action::Web, &["url"], ToolForm::Prose),
    spec("TaskCreate", Action::Plan, &["subject"], ToolForm::NewTask),
    spec("TaskGet", Action::Plan, TASK, ToolForm::Plain),
    spec("TaskList", Action::Plan, &[], ToolForm::TaskList),
    spec("TaskUpdate", Action::Plan, TASK, ToolForm::TaskChange),
    spec("AskUserQuestion", Action::Plan, &[], ToolForm::Question),
    spec("EnterPlanMode", Action::Plan, &[], ToolForm::Plain),
    spec("ExitPlanMode", Action::Plan, &[], ToolForm::Plan),
    spec("ToolSearch", Action::Other, &["query"], ToolForm::Plain),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_is_listed_once() {
        for (at, spec) in TOOLS.iter().enumerate() {
            assert!(TOOLS[..at].iter().all(|other| other.name != spec.name), "{}", spec.name);
        }
    }

    #[test]
    fn tools_that_change_files_name_them() {
        for spec in TOOLS {
            assert_eq!(spec.form.changes_file(), spec.action == Action::Edit, "{}", spec.name);
            assert!(!spec.form.holds_file() || spec.names_file(), "{}", spec.name);
        }
        assert_eq!(Action::of("mcp__github__create_issue"), Action::Other);
    }
}
