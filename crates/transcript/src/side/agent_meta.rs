//! `agent-<id>.meta.json`: what started a subagent, and how. Since 2.1.71.
//!
//! Rewritten when the agent is resumed, so it tells of the last start only. Teammates of the
//! same process and agents of workflows have no `toolUseId`.

use super::{Extra, Read, Reader, word};
use crate::id::{AgentId, ToolUseId};
use crate::path::RecordedPath;

word!(
    /// How the agent was asked for.
    RequestShape {
        /// The parent waits for it.
        Foreground = "foreground",
        /// The parent goes on.
        Background = "background",
    }
);

/// What the file says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentMeta {
    /// The kind of agent: `general-purpose`, `Explore`, one's own.
    pub agent_type: Option<Box<str>>,
    /// What it is to do, in a few words.
    pub description: Option<Box<str>>,
    /// The call that started it.
    pub tool_use: Option<ToolUseId>,
    /// How many agents are above it.
    pub spawn_depth: Option<u64>,
    /// Its model.
    pub model: Option<Box<str>>,
    /// Its name, where it has one.
    pub name: Option<Box<str>>,
    /// Whether it began with its parent's conversation.
    pub is_fork: Option<bool>,
    /// The worktree made for it.
    pub worktree_path: Option<RecordedPath>,
    /// That worktree's branch.
    pub worktree_branch: Option<Box<str>>,
    /// The agent that started it; none where the session itself did.
    pub parent_agent: Option<AgentId>,
    /// How it was asked for.
    pub request_shape: Option<RequestShape>,
    /// Whether nobody could be asked.
    pub request_non_interactive: Option<bool>,
    /// The phase of its workflow.
    pub workflow_phase: Option<Box<str>>,
    /// Whether the person stopped it.
    pub stopped_by_user: Option<bool>,
    /// The worktree it shares with its parent.
    pub inherited_worktree_path: Option<RecordedPath>,
    /// Fields that were not read.
    pub extra: Extra,
}

/// Reads the file.
pub fn parse(bytes: &[u8]) -> Read<AgentMeta> {
    let mut reader = Reader::new(bytes);
    let mut object = reader.document_object();
    let meta = AgentMeta {
        agent_type: object.text("agentType"),
        description: object.text("description"),
        tool_use: object.tool_use("toolUseId"),
        spawn_depth: object.number("spawnDepth"),
        model: object.text("model"),
        name: object.text("name"),
        is_fork: object.bool("isFork"),
        worktree_path: object.path("worktreePath"),
        worktree_branch: object.text("worktreeBranch"),
        parent_agent: object.agent("parentAgentId"),
        request_shape: object.take("requestShape", RequestShape::read),
        request_non_interactive: object.bool("requestNonInteractive"),
        workflow_phase: object.word("workflowPhase"),
        stopped_by_user: object.bool("stoppedByUser"),
        inherited_worktree_path: object.path("inheritedWorktreePath"),
        extra: object.rest(),
    };
    (meta, reader.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_real_one() {
        let (meta, odd) = parse(
            br#"{"agentType":"general-purpose","worktreePath":"-experiments/worktrees/.claude/worktrees/agent-ab1e6e14","description":"Research Steve Yegge Beads"}"#,
        );
        assert_eq!(meta.agent_type.as_deref(), Some("general-purpose"));
        assert_eq!(meta.description.as_deref(), Some("Research Steve Yegge Beads"));
        assert_eq!(meta.worktree_path.expect("is there").file_name(), Some("agent-ab1e6e14"));
        assert!(meta.extra.is_empty() && odd.is_empty());
    }

    #[test]
    fn every_known_key_is_read() {
        let (meta, _) = parse(
            br#"{"agentType":"Explore","description":"d","toolUseId":"toolu_1","spawnDepth":1,"model":"m","name":"n","isFork":true,"worktreePath":"/w","worktreeBranch":"b","parentAgentId":"a1","requestShape":"background","requestNonInteractive":false,"workflowPhase":"p","stoppedByUser":true,"inheritedWorktreePath":"/i","color":"red"}"#,
        );
        assert_eq!(meta.tool_use, Some(ToolUseId::new("toolu_1")));
        assert_eq!(meta.request_shape, Some(RequestShape::Background));
        assert_eq!(meta.parent_agent, Some(AgentId::new("a1")));
        assert_eq!(format!("{:?}", meta.extra), r#"[("color", "red")]"#);
    }
}
