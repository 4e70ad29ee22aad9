//! What the scripted model answers: one [`Turn`] per request.

use serde_json::{Value, json};

/// A part of an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    /// Text.
    Text(String),
    /// Thinking, with a signature that the server makes up.
    Thinking(String),
    /// A tool call.
    Call {
        /// The tool's name.
        tool: String,
        /// Its input.
        input: Value,
    },
}

/// Token counts that an answer reports. What is not given is made up by the server, different for
/// each request, so that a number that is counted twice or in the wrong class is noticed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ScriptedUsage {
    /// Input tokens that were neither read from the cache nor written to it.
    pub input: Option<u64>,
    /// Output tokens.
    pub output: Option<u64>,
    /// Tokens read from the cache.
    pub cache_read: Option<u64>,
    /// Tokens written to the cache for five minutes.
    pub cache_write_5m: Option<u64>,
    /// Tokens written to the cache for an hour.
    pub cache_write_1h: Option<u64>,
}

impl ScriptedUsage {
    /// The usage of the request with this number, as the API writes it.
    pub fn to_json(self, number: u64) -> Value {
        let short = self.cache_write_5m.unwrap_or(100 + 7 * number);
        let long = self.cache_write_1h.unwrap_or(0);
        json!({
            "input_tokens": self.input.unwrap_or(3 + number % 17),
            "cache_creation_input_tokens": short + long,
            "cache_read_input_tokens": self.cache_read.unwrap_or(11_000 + 13 * number),
            "cache_creation": {
                "ephemeral_5m_input_tokens": short,
                "ephemeral_1h_input_tokens": long,
            },
            "output_tokens": self.output.unwrap_or(40 + 3 * number),
            "service_tier": "standard",
            "inference_geo": "not_available",
        })
    }
}

/// An answer of the model, or a failure in its place.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Turn {
    /// Its parts, in order.
    pub blocks: Vec<Block>,
    /// The tokens that it reports.
    pub usage: ScriptedUsage,
    /// Milliseconds before the first byte.
    pub delay_ms: u64,
    /// Milliseconds between two pieces of text.
    pub slow_ms: u64,
    /// An HTTP status that is an error, with its message, instead of the answer.
    pub failure: Option<(u16, String)>,
    /// Another `stop_reason` than the one that follows from the blocks.
    pub stop: Option<String>,
    /// Whether the connection breaks after the last block.
    pub is_cut: bool,
}

impl Turn {
    /// An answer of one text.
    pub fn text(text: &str) -> Self {
        Self { blocks: vec![Block::Text(text.to_owned())], ..Self::default() }
    }

    /// Why the model stops after this turn.
    pub fn stop_reason(&self) -> &str {
        let calls = self.blocks.iter().any(|block| matches!(block, Block::Call { .. }));
        match &self.stop {
            Some(stop) => stop,
            None if calls => "tool_use",
            None => "end_turn",
        }
    }
}
