//! Sections 5 and 6: content blocks, and the tokens beside them.

use transcript::entry::Entry;
use transcript::entry::message::{Block, BlockKind};
use transcript::json::Raw;

use super::shape::*;

/// Every block with its members.
const BLOCKS: &[(BlockKind, &str)] = &[
    (BlockKind::Text, r#"{"type":"text","text":"x","citations":null}"#),
    (BlockKind::Thinking, r#"{"type":"thinking","thinking":"","signature":"EvoG"}"#),
    (BlockKind::RedactedThinking, r#"{"type":"redacted_thinking","data":"x"}"#),
    (
        BlockKind::ToolUse,
        r#"{"type":"tool_use","id":"toolu_1","name":"Bash","input":{},"caller":{"type":"direct"}}"#,
    ),
    (BlockKind::ToolResult, r#"{"type":"tool_result","tool_use_id":"toolu_1","content":"x"}"#),
    (
        BlockKind::Image,
        r#"{"type":"image","source":{"type":"base64","media_type":"image/png","data":"x"}}"#,
    ),
    (
        BlockKind::Document,
        r#"{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"x"},"title":"t"}"#,
    ),
    (BlockKind::Other, r#"{"type":"fallback","from":{"model":"a"},"to":{"model":"b"}}"#),
    (BlockKind::Other, r#"{"type":"tool_reference","tool_name":"WebSearch"}"#),
    (BlockKind::Other, r#"{"type":"container_upload"}"#),
    (
        BlockKind::ServerTool,
        r#"{"type":"server_tool_use","id":"s1","name":"webReader","input":{}}"#,
    ),
    (BlockKind::ServerTool, r#"{"type":"web_search_tool_result","tool_use_id":"s1"}"#),
    (BlockKind::ServerTool, r#"{"type":"web_fetch_tool_result","tool_use_id":"s1"}"#),
    (BlockKind::ServerTool, r#"{"type":"code_execution_tool_result","tool_use_id":"s1"}"#),
    (BlockKind::ServerTool, r#"{"type":"mcp_tool_use","id":"s1"}"#),
    (BlockKind::ServerTool, r#"{"type":"mcp_tool_result","tool_use_id":"s1"}"#),
    (BlockKind::ServerTool, r#"{"type":"advisor_tool_result","tool_use_id":"s1"}"#),
];

#[test]
fn every_block_is_known_by_its_type() {
    for (kind, block) in BLOCKS {
        let line = says("a1", "-", "m1", block);
        assert_eq!(Entry::of(line.as_bytes(), 0).blocks()[0].kind, *kind, "{block}");
    }
}

/// 2.1.64 to 2.1.199: only the signature is stored.
#[test]
fn a_thought_without_text_is_still_a_thought() {
    let s = session(&[says("a1", "-", "m1", BLOCKS[1].1), says("a2", "a1", "m1", BLOCKS[2].1)]);
    assert_eq!(roles(&s), ["thinking", "thinking"]);
}

#[test]
fn what_the_api_ran_itself_is_no_call() {
    let s = session(&[says("a1", "-", "m1", BLOCKS[10].1), says("a2", "a1", "m1", BLOCKS[11].1)]);
    assert_eq!((s.calls().len(), s.errors().len(), s.unpaired_results().count()), (0, 0, 0));
}

#[test]
fn a_malformed_call_is_kept_under_the_name_it_has() {
    let name = r#"Task\" >\n<parameter name=\"description"#;
    let s = session(&[
        call("a1", "-", "t1", name, "{}"),
        call("a2", "a1", "t2", "Edit", r#"{"__unparsedToolInput":"{\"file_path\":"}"#),
        result("r1", "a2", "t2", "x", r#""Error: x""#),
    ]);
    let tools: Vec<_> = s.calls().iter().map(|call| s.tool(call)).collect();
    assert_eq!(tools, ["Task\" >\n<parameter name=\"description", "Edit"]);
    assert_eq!(s.touches().count(), 0);
}

/// In a result: a string, texts, tool references, images, images with text, or nothing.
#[test]
fn a_result_shows_its_texts() {
    let image = BLOCKS[5].1;
    let cases = [
        (r#","content":"plain""#.to_owned(), Some("plain")),
        (
            r#","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]"#.into(),
            Some("a\nb"),
        ),
        (r#","content":[{"type":"tool_reference","tool_name":"WebSearch"}]"#.into(), None),
        (format!(r#","content":[{image}]"#), None),
        (format!(r#","content":[{image},{{"type":"text","text":"a cat"}}]"#), Some("a cat")),
        (String::new(), None),
    ];
    for (content, want) in cases {
        let json = format!(r#"{{"tool_use_id":"t1","type":"tool_result"{content}}}"#);
        let block = Block::of(Raw::new(json.as_bytes()).expect("valid"));
        assert_eq!(block.result_text().as_deref(), want, "{json}");
    }
}

/// Absent in most results.
#[test]
fn a_result_without_is_error_succeeded() {
    for (member, errors) in [("", 0), (r#","is_error":false"#, 0), (r#","is_error":true"#, 1)] {
        let result = result("r1", "a1", "t1", "x", "{}")
            .replace(r#""content":"x""#, &format!(r#""content":"x"{member}"#));
        let s = session(&[call("a1", "-", "t1", "Bash", "{}"), result]);
        assert_eq!(s.errors().len(), errors, "{member}");
    }
}

/// 6: nullable everywhere; gateways add keys of their own.
#[test]
fn usage_is_kept_as_it_stands_where_it_is_an_object() {
    let usage = |json: &str| {
        let line = format!(
            r#"{{"type":"assistant","message":{{"id":"m1","role":"assistant","content":[],"usage":{json}}}}}"#
        );
        let entry = Entry::of(line.as_bytes(), 0);
        let usage = entry.message.as_ref().and_then(|m| m.usage)?;
        Some(
            [
                "input_tokens",
                "output_tokens",
                "cache_creation_input_tokens",
                "cache_read_input_tokens",
            ]
            .map(|key| usage.get(key).and_then(Raw::u64)),
        )
    };
    let full = r#"{"input_tokens":3,"output_tokens":40,"cache_creation_input_tokens":100,"cache_read_input_tokens":2000,"cache_creation":{"ephemeral_5m_input_tokens":100,"ephemeral_1h_input_tokens":0},"service_tier":"standard","inference_geo":null,"server_tool_use":{"web_search_requests":0,"web_fetch_requests":0},"iterations":[],"speed":"standard","output_tokens_details":{"thinking_tokens":7},"x_anthropic_cost_usd":0.1}"#;
    assert_eq!(usage(full), Some([Some(3), Some(40), Some(100), Some(2000)]));
    assert_eq!(
        usage(r#"{"input_tokens":null,"output_tokens":1}"#),
        Some([None, Some(1), None, None])
    );
    assert_eq!(usage("null"), None);
}
