//! What is known of a tool: what it does, which member of its input says what it is about, and how
//! a call of it is shown. The tools themselves are listed by each dialect.
//!
//! A tool that is not listed is [`Action::Other`] and shown by the members of its input.

use crate::dialect::{ClaudeCode, Dialect};

/// The kind of thing a tool does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Action {
    /// Looks at files.
    Read,
    /// Changes files.
    Edit,
    /// Runs commands.
    Run,
    /// Starts or steers subagents.
    Agent,
    /// Asks the web.
    Web,
    /// Keeps lists, plans, asks the person.
    Plan,
    /// Anything else, MCP among it.
    Other,
}

impl Action {
    /// The action of a tool by its name.
    pub fn of(tool: &str) -> Self {
        ToolSpec::find(tool).map_or(Self::Other, |spec| spec.action)
    }
}

/// The shape of a tool's input and result, which decides how a call is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ToolForm {
    /// The text of a file.
    FileText,
    /// Lines that match a pattern.
    Matches,
    /// Files whose names match a pattern.
    FileNames,
    /// A text in a file replaced by another.
    Replacement,
    /// Several texts in a file replaced at once.
    Replacements,
    /// A whole file written.
    WholeFile,
    /// A cell of a notebook.
    NotebookCell,
    /// A command and what it printed.
    Command,
    /// A task given to a subagent.
    Delegation,
    /// A skill by its name.
    Skill,
    /// Pages that a web search found.
    Links,
    /// A page of the web in Markdown.
    Prose,
    /// A plan for the person to approve.
    Plan,
    /// Questions for the person.
    Question,
    /// A to-do list written whole.
    TodoList,
    /// A new task.
    NewTask,
    /// A change to one task.
    TaskChange,
    /// All tasks with their status.
    TaskList,
    /// Members of the input, and text.
    Plain,
}

impl ToolForm {
    /// The form of a tool by its name.
    pub fn of(tool: &str) -> Self {
        ToolSpec::find(tool).map_or(Self::Plain, |spec| spec.form)
    }

    /// Whether a call of it waits for the person's decision.
    pub const fn waits_for_person(self) -> bool {
        matches!(self, Self::Plan | Self::Question)
    }

    /// Whether a call of it changes the to-do list.
    pub const fn changes_todos(self) -> bool {
        matches!(self, Self::TodoList | Self::NewTask | Self::TaskChange)
    }

    /// Whether it looks for a pattern.
    pub const fn is_search(self) -> bool {
        matches!(self, Self::Matches | Self::FileNames)
    }

    /// Whether its result has the text of a file, or what changed in it.
    pub const fn holds_file(self) -> bool {
        matches!(self, Self::FileText) || self.changes_file()
    }

    /// Whether it changes the file that it names.
    pub const fn changes_file(self) -> bool {
        matches!(
            self,
            Self::Replacement | Self::Replacements | Self::WholeFile | Self::NotebookCell
        )
    }

    /// Whether it asks the web.
    pub const fn asks_web(self) -> bool {
        matches!(self, Self::Links | Self::Prose)
    }
}

/// What is known of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ToolSpec {
    /// Its name, as calls give it.
    pub name: &'static str,
    /// What it does.
    pub action: Action,
    /// Members of its input that say what a call is about; the first one that is there counts.
    pub subject: &'static [&'static str],
    /// How a call is shown.
    pub form: ToolForm,
}

impl ToolSpec {
    /// What is known of a tool by its name.
    pub fn find(name: &str) -> Option<&'static Self> {
        ClaudeCode::TOOLS.iter().find(|spec| spec.name == name)
    }

    /// Whether its input names the file that it is about.
    pub fn names_file(&self) -> bool {
        matches!(self.subject, ["file_path" | "notebook_path"])
    }
}
