//! Our own answers, which are left out of the index: they quote what is in it already, and a
//! question that was asked twice would else find itself first.
//!
//! The output of a call is known by its call where that is a tool of ours, else by the mark that
//! every answer begins with. What a person pastes is never left out.

/// What an answer of `recall` begins with.
pub const MARK: &str = "[recount recall]";

/// What its lines of JSON begin with.
const JSON: &str = "{\"type\":\"evidence\",";

/// Tools of the server that a person has called `recount`.
const TOOLS: &str = "mcp__recount__";

/// Whether a call asks us.
pub(super) fn is_call(tool: &str, input: &str) -> bool {
    tool.starts_with(TOOLS) || tool == "Bash" && input.contains("recount recall")
}

/// Whether an output is an answer of ours.
pub(super) fn is_output(tool: Option<&str>, text: &str) -> bool {
    let text = text.trim_start();
    tool.is_some_and(|tool| tool.starts_with(TOOLS))
        || text.starts_with(MARK)
        || text.starts_with(JSON)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_answers_are_known() {
        assert!(is_output(Some("Bash"), "\n[recount recall] Quoted from"));
        assert!(is_output(Some("Bash"), "{\"type\":\"evidence\",\"rank\":1}"));
        assert!(is_output(Some("mcp__recount__recall"), "anything"));
        assert!(!is_output(Some("Bash"), "he said [recount recall]"));
        assert!(is_call("Bash", "recount recall why") && !is_call("Bash", "recount list"));
        assert!(!is_call("Read", "docs of recount recall"));
    }
}
