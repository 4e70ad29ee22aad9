//! Names one level deeper: fields of attachment payloads, of compaction metadata, of the files
//! beside the transcripts, roles of messages, and the entries of the config folder.
//!
//! Only `doctor` asks for them. Nothing else depends on a name being here.

/// `message.role`. `system` between the turns since 2.1.326.
pub const ROLES: &[&str] = &["user", "assistant", "system"];

/// Fields that hook attachments share.
const HOOK: &[&str] = &["hookName", "hookEvent", "toolUseID"];

/// Fields of `attachment` payloads by their `type`, without `type` itself.
const ATTACHMENT_FIELDS: &[(&str, &[&str])] = &[
    ("hook_success", &["content", "stdout", "stderr", "exitCode", "command", "durationMs"]),
    ("hook_additional_context", &["content"]),
    ("hook_system_message", &["content"]),
    ("hook_non_blocking_error", &["stdout", "stderr", "exitCode", "command", "durationMs"]),
    ("hook_cancelled", &["command", "durationMs"]),
    ("hook_blocking_error", &["blockingError"]),
    ("async_hook_response", &["processId", "response", "stdout", "stderr", "exitCode"]),
    (
        "queued_command",
        &[
            "prompt",
            "commandMode",
            "origin",
            "source_uuid",
            "timestamp",
            "isMeta",
            "imagePasteIds",
            "delivery_id",
            "humanTurn",
            "toolsUsedDelta",
            "runId",
            "usage",
        ],
    ),
    ("edited_text_file", &["filename", "snippet", "displayPath", "rereadEntry"]),
    ("file", &["filename", "content", "displayPath", "savedCopyFraming"]),
    ("compact_file_reference", &["filename", "displayPath"]),
    ("plan_file_reference", &["planFilePath", "planContent"]),
    ("directory", &["path", "content"]),
    ("nested_memory", &["path", "content", "displayPath"]),
    ("skill_listing", &["content", "skillCount", "isInitial", "names", "digests"]),
    ("invoked_skills", &["skills"]),
    (
        "agent_listing_delta",
        &[
            "addedTypes",
            "addedLines",
            "removedTypes",
            "isInitial",
            "showConcurrencyNote",
            "builtInTypes",
            "builtInPluginTypes",
        ],
    ),
    (
        "deferred_tools_delta",
        &[
            "addedNames",
            "addedLines",
            "removedNames",
            "readdedNames",
            "pendingMcpServers",
            "needsAuthMcpServers",
            "failedMcpServers",
            "loadedNames",
            "wireHiddenNames",
            "surfacedNames",
            "retractedTools",
        ],
    ),
    ("mcp_instructions_delta", &["addedNames", "addedBlocks", "removedNames"]),
    ("command_permissions", &["allowedTools"]),
    ("task_reminder", &["content", "itemCount"]),
    ("todo_reminder", &["content", "itemCount"]),
    ("total_tokens_reminder", &["text"]),
    ("silent_turn_reminder", &["text"]),
    ("date_change", &["newDate"]),
    (
        "auto_mode",
        &[
            "reminderType",
            "autoModeConsentFlow",
            "bashFirst",
            "bashFirstSteer",
            "bypass",
            "finishExposedWork",
            "steerOnly",
        ],
    ),
    ("auto_mode_exit", &["bashFirst", "finishExposedWork", "steerOnly"]),
    ("plan_mode", &["reminderType", "isSubAgent", "planFilePath", "planExists"]),
    ("plan_mode_exit", &["planFilePath", "planExists"]),
    ("plan_mode_reentry", &["planFilePath"]),
    ("diagnostics", &["files", "isNew"]),
    ("read_truncation_notice", &["banner", "toolUseID"]),
    ("dynamic_skill", &["skillDir", "skillNames", "displayPath"]),
    (
        "prompt_snapshot",
        &[
            "systemPrompt",
            "tools",
            "cliPrefix",
            "contextRendering",
            "echoWireToolInputs",
            "inlineTools",
            "keptReminders",
            "reminderFold",
            "systemTurns",
            "toolChangeHeader",
        ],
    ),
    ("environment", &["snapshot", "changes", "rendered"]),
    ("instructions", &["files"]),
    ("session_context", &["context"]),
    ("model", &["identity", "text"]),
    ("date", &["date"]),
    ("deferred_tools_record", &["entries"]),
    ("thinking_stripped", &["scope"]),
    ("thinking_drop", &["model", "thinkingBlocksSent"]),
    (
        "remote_session_change",
        &["commit", "pr", "url", "managedCommit", "managedPr", "sendUserFileHint"],
    ),
];

/// Whether a field of an attachment's payload is known. Of a type that has no list here only the
/// name is known, so any field is as expected as any other.
pub fn knows_attachment_field(attachment_type: &str, field: &str) -> bool {
    let is_hook = attachment_type.contains("hook_");
    let fields = ATTACHMENT_FIELDS.iter().find(|(name, _)| *name == attachment_type);
    field == "type"
        || (is_hook && HOOK.contains(&field))
        || fields.is_none_or(|(_, fields)| fields.contains(&field))
}

/// Fields of `compactMetadata`.
pub const COMPACTION: &[&str] = &[
    "trigger",
    "preTokens",
    "postTokens",
    "durationMs",
    "cumulativeDroppedTokens",
    "messagesSummarized",
    "preCompactDiscoveredTools",
    "preservedMessages",
    "preservedSegment",
    "userContext",
    "runningTurnPrompt",
];

/// Fields of a model in the `modelUsage` of `cost-state`.
pub const MODEL_USAGE: &[&str] = &[
    "inputTokens",
    "outputTokens",
    "thinkingTokens",
    "cacheReadInputTokens",
    "cacheCreationInputTokens",
    "cacheCreationEphemeral1hInputTokens",
    "cacheCreationEphemeral5mInputTokens",
    "webSearchRequests",
    "costUSD",
];

/// Fields of `agent-<id>.meta.json` that nothing reads.
pub const AGENT_META: &[&str] = &[
    "inWorkflowRun",
    "isBuiltIn",
    "launchedWithDefaults",
    "pickedEffortModel",
    "spawnedWithWorktree",
    "finished",
];

/// Fields of `sessions/<pid>.json` that nothing reads.
pub const REGISTRY: &[&str] = &[
    "nameSource",
    "nameSince",
    "tmux",
    "messagingSocketPath",
    "bridgeSessionId",
    "waitingFor",
    "statusUpdatedAt",
    "jobId",
    "peerProtocol",
    "peerFeatures",
    "pidDomain",
    "asksForConvertedSkills",
];

/// Files and folders at the top of the config folder.
pub const CONFIG_FOLDER: &[&str] = &[
    "projects",
    "todos",
    "tasks",
    "plans",
    "file-history",
    "paste-cache",
    "image-cache",
    "uploads",
    "debug",
    "session-env",
    "shell-snapshots",
    "teams",
    "sessions",
    "statsig",
    "telemetry",
    "backups",
    "jobs",
    "daemon",
    "daemon.log",
    "daemon.lock",
    "daemon.status.json",
    "security",
    "usage-data",
    "plugins",
    "skills",
    "agents",
    "commands",
    "hooks",
    "output-styles",
    "rules",
    "workflows",
    "local",
    "ide",
    "downloads",
    "cache",
    "chrome",
    "remote",
    "worktrees",
    "logs",
    "history.jsonl",
    "stats-cache.json",
    "settings.json",
    "settings.local.json",
    "keybindings.json",
    "CLAUDE.md",
    "mcp-needs-auth-cache.json",
    "policy-limits.json",
    "remote-settings.json",
    ".claude.json",
    ".credentials.json",
    ".last-cleanup",
    ".last-update-result.json",
];

/// Files and folders in a session's own folder, `projects/<slug>/<session>/`.
pub const SESSION_FOLDER: &[&str] = &[
    "subagents",
    "workflows",
    "tool-results",
    "remote-agents",
    "mcp-tasks",
    "custom-title.json",
    ".ccr-tip.json",
    ".precompact.json",
    "sent-prefix.json",
];

/// Files and folders in a project's folder beside the transcripts.
pub const PROJECT_FOLDER: &[&str] = &[
    "sessions-index.json",
    ".session-aliases",
    "memory",
    "bridge-pointer.json",
    "tiny_memory",
    "bagel",
    "cloud-snapshots",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::ATTACHMENT;

    #[test]
    fn every_attachment_with_fields_is_a_known_attachment() {
        for (name, _) in ATTACHMENT_FIELDS {
            assert!(ATTACHMENT.contains(name), "{name}");
        }
    }

    #[test]
    fn fields_are_judged_by_the_type_of_their_attachment() {
        assert!(knows_attachment_field("prompt_snapshot", "systemTurns"));
        assert!(!knows_attachment_field("date", "systemTurns"));
        assert!(knows_attachment_field("hook_success", "hookEvent"));
        assert!(!knows_attachment_field("date", "hookEvent"));
        // Known by name only.
        assert!(knows_attachment_field("output_style", "anything"));
    }
}
