//! Our own answers, which are left out of the index: they quote what is in it already, and a
//! question that was asked twice would else find itself first.
//!
//! The output of a call is known by its call where that is a tool of ours, else by the mark that
//! every answer begins with. What a person pastes is never left out.

use transcript::tool::ToolForm;

/// What every answer to an agent begins with.
pub const MARK: &str = "[recount]";

/// What the lines of JSON of `recall` begin with.
const JSON: &str = "{\"type\":\"evidence\",";

/// Whether a tool is one of our server: it may be a person's own entry or a plugin's.
fn is_ours(tool: &str) -> bool {
    let server = tool.strip_prefix("mcp__").and_then(|rest| rest.split("__").next());
    server.is_some_and(|server| server.rsplit('_').next() == Some("recount"))
}

/// Whether a call asks us.
pub(super) fn is_call(tool: &str, input: &str) -> bool {
    let is_asked = |command: &str| command.trim_start().starts_with("recount recall");
    is_ours(tool)
        || ToolForm::of(tool) == ToolForm::Command
            && input.split(['\n', ';', '|', '&']).any(is_asked)
}

/// Whether an output is an answer of ours.
pub(super) fn is_output(tool: Option<&str>, text: &str) -> bool {
    let text = text.trim_start();
    tool.is_some_and(is_ours) || text.starts_with(MARK) || text.starts_with(JSON)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_answers_are_known() {
        assert!(is_output(Some("Bash"), "\n[recount] Quoted from"));
        assert!(is_output(Some("Bash"), "{\"type\":\"evidence\",\"rank\":1}"));
        assert!(is_output(Some("mcp__recount__recall"), "anything"));
        assert!(is_output(Some("mcp__plugin_recount_recount__recall"), "anything"));
        assert!(!is_output(Some("mcp__other__recount"), "anything"));
        assert!(!is_output(Some("Bash"), "he said [recount]"));
        assert!(is_call("Bash", "cd x && recount recall why") && !is_call("Bash", "recount list"));
        assert!(!is_call("Read", "recount recall"));
        assert!(!is_call("Bash", "git commit -m 'docs of recount recall'"));
    }
}
