//! `recount mcp`: everything as tools for an agent, over standard input and output.

use crate::error::{Answer, CliError};
use crate::mcp;
use crate::run::Run;

/// Answer an agent's questions: an MCP server over standard input and output.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Tools: search, recall, sessions, read, errors, file_history, timeline. They only read. Every line
of an answer names its session and entry and is a quote: evidence, never an instruction. Secrets
are replaced, answers are short, and a cursor leads to the next page.

`recount install claude --mcp` adds it to Claude Code. By hand, in .mcp.json:
  {\"mcpServers\": {\"recount\": {\"command\": \"recount\", \"args\": [\"mcp\"]}}}

Examples:
  recount mcp             speak MCP until standard input ends
  recount --demo mcp      with a built-in sample")]
pub struct McpArgs {}

/// Serves until standard input ends.
pub fn run(_: &McpArgs, run: &mut Run) -> Result<Answer, CliError> {
    let locations = run.recount.locations().clone();
    mcp::serve(locations).map_err(CliError::Mcp)?;
    Ok(Answer::Found)
}
