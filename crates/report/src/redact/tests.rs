//! What is found, what stays, and what holds for any text.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::sample::{Planted, Random, fill, plant};
use super::*;

const HERE: Place = Place { session: 1, entry: 1 };

fn redactor() -> Redactor<'static> {
    Redactor::new(Rules::built_in(), Options::default())
}

fn redacted(text: &str) -> String {
    redactor().text(text, HERE).into_owned()
}

/// What is left of secrets in a text.
fn left<'s>(out: &str, secrets: impl IntoIterator<Item = &'s String>) -> Vec<&'s String> {
    secrets.into_iter().filter(|secret| out.contains(&***secret)).collect()
}

#[test]
fn every_rule_finds_its_own_examples() {
    let mut missed = Vec::new();
    for seed in 0..8 {
        let mut random = Random::new(seed);
        for rule in Rules::built_in().iter() {
            for template in &rule.examples {
                let sample = fill(template, &mut random);
                let redactor = redactor();
                redactor.text(&sample.text, HERE);
                let report = redactor.report();
                if !report.iter().any(|found| found.rule == rule.id) {
                    missed.push(format!("{}: {}: {report:?}", rule.id, sample.text));
                }
            }
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

#[test]
fn every_planted_secret_is_found() {
    let mut missed = Vec::new();
    for Planted { rule, text, secrets } in plant(Rules::built_in(), 3) {
        let out = redacted(&text);
        if !left(&out, &secrets).is_empty() {
            missed.push(format!("{rule}: {text} -> {out}"));
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

#[test]
fn every_planted_secret_is_found_in_json_that_stays_json() {
    let mut missed = Vec::new();
    for Planted { rule, text, secrets } in plant(Rules::built_in(), 4) {
        let line = serde_json::json!({ "type": "user", "n": 1, "text": text }).to_string();
        let out = redactor().json(&line, HERE).into_owned();
        let value: serde_json::Value = serde_json::from_str(&out).expect(&rule);
        assert_eq!((&value["type"], &value["n"]), (&"user".into(), &1.into()), "{rule}: {out}");
        let text = value["text"].as_str().expect("a text");
        if !left(text, &secrets).is_empty() {
            missed.push(format!("{rule}: {line} -> {out}"));
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

#[test]
fn what_only_looks_like_a_secret_stays() {
    let mut random = Random::new(11);
    let templates = [
        "commit {a-f0-9:40}",
        "index {a-f0-9:7}..{a-f0-9:7} 100644",
        "\"sha\": \"{a-f0-9:40}\"",
        "{a-f0-9:64}  target/release/app",
        "checksum = \"{a-f0-9:64}\"",
        "\"key\": \"{a-f0-9:64}\"",
        "\"integrity\": \"sha512-{A-Za-z0-9+/:86}==\"",
        "sha256-{A-Za-z0-9+/:43}=",
        "\"uuid\":\"{a-f0-9:8}-{a-f0-9:4}-4{a-f0-9:3}-a{a-f0-9:3}-{a-f0-9:12}\"",
        "token: {a-f0-9:8}-{a-f0-9:4}-4{a-f0-9:3}-a{a-f0-9:3}-{a-f0-9:12}",
        "data:image/png;base64,iVBORw0KGgo{A-Za-z0-9+/:400}",
        "\"data\":\"/9j/4AAQSkZJRg{A-Za-z0-9+/:400}\"",
        "toolu_01{A-Za-z0-9:22}",
        "\"id\":\"msg_01{A-Za-z0-9:22}\",\"request\":\"req_011C{A-Za-z0-9:20}\"",
        "\"tool_use_id\":\"toolu_01{A-Za-z0-9:22}\"",
        "\"requestId\":\"req_011C{A-Za-z0-9:20}\"",
        "\"signature\":\"EqQBCkYI{A-Za-z0-9+/:200}==\"",
        "claude-opus-4-1-20250805 and claude-3-5-sonnet-20241022",
        "/home/me/.claude/projects/-home-me-app/{a-f0-9:8}-{a-f0-9:4}-4{a-f0-9:3}-a{a-f0-9:3}-{a-f0-9:12}.jsonl",
        "color: #{a-f0-9:6}; background: #{a-f0-9:8}",
        "!function(e,t){{var n=e.key,r=t.token;return n?r(n):void 0}}(this,window)",
        "\"input_tokens\":12345678,\"cache_read_input_tokens\":1234567890",
        "-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0B{A-Za-z0-9+/:400}\n-----END CERTIFICATE-----",
        "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A{A-Za-z0-9+/:300}\n-----END PUBLIC KEY-----",
        "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQ{A-Za-z0-9+/:300} me@host",
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{A-Za-z0-9+/:43} me@host",
        "image: registry/app@sha256:{a-f0-9:64}",
        "api_key = os.environ[\"OPENAI_API_KEY\"]",
        "const apiKey = process.env.STRIPE_SECRET_KEY_2024;",
        "password: ${{DB_PASSWORD_V2}}",
        "OPENAI_API_KEY=<your-key-here-123>",
        "token = \"xxxxxxxxxxxxxxxxxxxx1234\"",
        "ANTHROPIC_API_KEY=sk-ant-...",
        "export AWS_SECRET_ACCESS_KEY=your-secret-key-goes-here-1234567890abc",
        "postgres://user:${{PASSWORD}}@localhost/db",
        "git clone https://github.com/a/b.git && ssh git@github.com",
        "let token = parser.next_token()?;",
        "pub fn key(&self) -> &Key {{ &self.key }}",
        "password = getpass.getpass(\"Password: \")",
        "AUTH_HEADER = \"X-Auth-Token\"",
        "cache-key: v2-node-modules-linux-x64-18",
        "publicKey: \"{A-Za-z0-9+/:43}=\"",
        "E0507: cannot move out of `self.key` which is behind a mutable reference",
    ];
    for template in templates {
        let text = fill(template, &mut random).text;
        assert_eq!(redacted(&text), text);
    }
}
