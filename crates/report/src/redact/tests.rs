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
        "{{ key: \"MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE{A-Za-z0-9+/:86}==\" }}",
        "Server(host=host, port=None, username=None, password=None)",
        "publicKey: \"{A-Za-z0-9+/:43}=\"",
        "E0507: cannot move out of `self.key` which is behind a mutable reference",
    ];
    for template in templates {
        let text = fill(template, &mut random).text;
        assert_eq!(redacted(&text), text);
    }
}

/// A private key that nobody has, line by line.
fn key_lines(seed: u64) -> Vec<String> {
    let mut random = Random::new(seed);
    let body = (0..20).map(|_| fill("{A-Za-z0-9+/:64}", &mut random).text);
    let begin = "-----BEGIN OPENSSH PRIVATE KEY-----".to_owned();
    let end = "-----END OPENSSH PRIVATE KEY-----".to_owned();
    [begin].into_iter().chain(body).chain([end]).collect()
}

#[test]
fn no_private_key_is_left_wherever_it_is_cut() {
    let rules = Rules::built_in();
    let whole = key_lines(5).join("\n");
    for from in (0..whole.len() - 40).step_by(97) {
        for to in (from + 40..whole.len()).step_by(131).chain([whole.len()]) {
            let text = format!("cat key\n{}\n$ done", &whole[from..to]);
            let line = serde_json::json!({ "text": text }).to_string();
            let (out, json) = (redacted(&text), redactor().json(&line, HERE).into_owned());
            for out in [&out, &json] {
                assert_eq!(residue(rules, out), None, "{from}..{to}: {out}");
            }
            let has_marker = text.contains("PRIVATE KEY-----");
            if has_marker && to - from > 200 {
                assert!(out.contains("[redacted:private-key:1]"), "{from}..{to}: {out}");
            }
        }
    }
}

#[test]
fn what_is_left_of_a_private_key_is_seen() {
    let rules = Rules::built_in();
    let lines = key_lines(6);
    let whole = lines.join("\n");
    let escaped = lines.join("\\n");
    let dashes = whole.replace("-----BEGIN", r"\u002d\u002d\u002d\u002d\u002dBEGIN");
    let short: Vec<&str> = lines.iter().map(|line| &line[..line.len().min(40)]).collect();
    for text in [&whole, &escaped, &dashes, &short[..3].join("\n"), &short[18..].join("\n")] {
        assert!(residue(rules, text).is_some(), "{text}");
    }
    // Too short to be replaced, long enough to refuse.
    let piece = "-----BEGIN PRIVATE KEY-----\nsome words, and much later than any key would begin, \
                 as in a page of a manual that goes on for some lines before it shows what it means, \
                 and that says so in many words so that nobody takes it for one, there is this: ";
    let odd = format!("{piece}{}", &lines[1][..36]);
    assert_eq!(redacted(&odd), odd);
    assert!(residue(rules, &odd).is_some());
    for none in ["-----BEGIN PRIVATE KEY-----", "a private key", &lines[1]] {
        assert_eq!(residue(rules, none), None, "{none}");
    }
}

#[test]
fn the_same_secret_has_the_same_placeholder() {
    let mut random = Random::new(9);
    let mut token = || fill("ghp_{A-Za-z0-9:36}", &mut random).text;
    let (a, b) = (token(), token());
    let redactor = redactor();
    let text = redactor.text(&format!("{a} {b} {a}"), Place { session: 1, entry: 4 }).into_owned();
    let one = "[redacted:github-personal-token:1]";
    let two = "[redacted:github-personal-token:2]";
    assert_eq!(text, format!("{one} {two} {one}"));
    // Beside a name, in another text, and as JSON: still the same.
    let line = format!(r#"{{"password":"{b}"}}"#);
    let at = Place { session: 2, entry: 7 };
    assert_eq!(redactor.json(&line, at), format!(r#"{{"password":"{two}"}}"#));
    let report = redactor.report();
    assert_eq!(report.len(), 1);
    assert_eq!((&*report[0].rule, report[0].count), ("github-personal-token", 4));
    assert_eq!(report[0].places, [Place { session: 1, entry: 4 }, at]);
}

#[test]
fn nothing_that_is_printed_has_the_secret() {
    let token = fill("npm_{A-Za-z0-9:36}", &mut Random::new(2)).text;
    let redactor = redactor();
    redactor.text(&token, HERE);
    assert!(!format!("{redactor:?} {:?}", redactor.report()).contains(&token[4..]));
}

#[test]
fn places_are_bounded() {
    let token = fill("npm_{A-Za-z0-9:36}", &mut Random::new(2)).text;
    let redactor = redactor();
    for entry in 0..300 {
        redactor.text(&token, Place { session: 0, entry });
    }
    let report = redactor.report();
    assert_eq!((report[0].count, report[0].places.len()), (300, PLACES_MOST));
}

#[test]
fn people_are_left_out_if_wanted() {
    let text = r"ann@acme.io in /home/ann/x, C:\Users\Ann\y and /Users/bo";
    assert_eq!(redacted(text), text);
    let redactor = Redactor::new(Rules::built_in(), Options { emails: true, homes: true });
    assert_eq!(redactor.text(text, HERE), r"[redacted:email:1] in ~/x, ~\y and ~");
    let line = r#"{"cwd":"C:\\Users\\Ann\\y","who":"ann@acme.io"}"#;
    assert_eq!(redactor.json(line, HERE), r#"{"cwd":"~\\y","who":"[redacted:email:1]"}"#);
    assert_eq!(redactor.report()[0].count, 2);
}

#[test]
fn what_stands_bare_in_json_gets_quotes() {
    let digits = fill("{1-9:32}", &mut Random::new(1)).text;
    let line = format!(r#"{{"datadog_api_key":{digits},"n":1}}"#);
    let out = redactor().json(&line, HERE).into_owned();
    assert_eq!(out, r#"{"datadog_api_key":"[redacted:datadog-key:1]","n":1}"#);
}

#[test]
fn a_placeholder_hides_nothing() {
    let token = fill("npm_{A-Za-z0-9:36}", &mut Random::new(3)).text;
    for text in [format!("[redacted:{token}:1]"), format!("[redacted:jwt:{token}]")] {
        assert!(!redacted(&text).contains(&token), "{text}");
    }
}

/// Texts that make a careless search slow.
fn hostile() -> Vec<(&'static str, String)> {
    let fill_up = |part: &str| part.repeat(HOSTILE / part.len());
    let one = |part: &str| format!("{part}{}", "a1B2".repeat(HOSTILE / 4));
    vec![
        ("names without end", fill_up("key=")),
        ("names in names", fill_up("secretkeytoken")),
        ("open quotes", fill_up("password=\"")),
        ("escaped quotes", fill_up("token\\\":\\\"")),
        ("prefixes", fill_up("sk-")),
        ("prefixes behind spaces", fill_up(" eyJ")),
        ("token that never ends", one("eyJ")),
        ("value that never ends", one("api_key=")),
        ("addresses", fill_up("://a:b")),
        ("at signs", fill_up("a@b.c")),
        ("begin markers", fill_up("-----BEGIN PRIVATE KEY-----")),
        ("end markers", fill_up("-----END PRIVATE KEY-----")),
        ("key that never ends", one("-----BEGIN PRIVATE KEY-----\n")),
        ("client keys", fill_up("client-key-data: ")),
        ("cookies", fill_up("cookie: a")),
        ("connections", fill_up("server=a;")),
        ("key bodies", fill_up("MIIEpAIBAAKCAQEA ")),
        ("placeholders", fill_up("[redacted:jwt:1]")),
        ("homes", fill_up("/home/a")),
        ("backslashes", fill_up("\\")),
        ("one letter", fill_up("A")),
    ]
}

/// Far more than any of them takes, far less than what is not linear would.
const LONG: Duration = Duration::from_secs(10);
/// An unoptimised build is some fifty times slower.
const HOSTILE: usize = if cfg!(debug_assertions) { 200_000 } else { 10_000_000 };

#[test]
fn no_text_takes_long() {
    let mut slow = Vec::new();
    for (name, text) in hostile() {
        let redactor = Redactor::new(Rules::built_in(), Options { emails: true, homes: true });
        for json in [false, true] {
            let started = Instant::now();
            let out = if json { redactor.json(&text, HERE) } else { redactor.text(&text, HERE) };
            drop(out);
            residue(Rules::built_in(), &text);
            let took = started.elapsed();
            slow.extend((took > LONG).then(|| format!("{name}, {json}: {took:?}")));
        }
    }
    assert!(slow.is_empty(), "{slow:?}");
}

/// Characters that secrets, names and quotes are made of.
fn noise() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[ -~\n]{0,12}",
        "[a-zA-Z0-9]{1,24}",
        Just("\\n".to_owned()),
        Just("\"".to_owned()),
        Just("token=".to_owned()),
        Just("password: ".to_owned()),
        Just("\\\"secret\\\":\\\"".to_owned()),
        Just("-----BEGIN PRIVATE KEY-----".to_owned()),
        Just("[redacted:jwt:1]".to_owned()),
        Just("://u:".to_owned()),
        Just("é→".to_owned()),
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

/// A secret with a shape of its own.
fn secret() -> impl Strategy<Value = String> {
    let templates = [
        "AKIA{A-Z2-7:16}",
        "ghp_{A-Za-z0-9:36}",
        "sk-ant-api03-{A-Za-z0-9_-:93}AA",
        "eyJhbGciOiJIUzI1NiJ9.eyJ{A-Za-z0-9_-:90}.{A-Za-z0-9_-:43}",
        "npm_{A-Za-z0-9:36}",
        "glpat-{A-Za-z0-9_-:20}",
    ];
    (prop::sample::select(templates.to_vec()), any::<u64>())
        .prop_map(|(template, seed)| fill(template, &mut Random::new(seed)).text)
}

proptest! {
    #[test]
    fn a_text_without_keywords_is_given_back(text in "[ a-d\n]{0,200}") {
        let redactor = Redactor::new(Rules::built_in(), Options { emails: true, homes: true });
        prop_assert!(matches!(redactor.text(&text, HERE), Cow::Borrowed(same) if same == text));
        prop_assert!(matches!(redactor.json(&text, HERE), Cow::Borrowed(same) if same == text));
    }

    #[test]
    fn a_secret_in_any_text_is_found(before in noise(), secret in secret(), after in noise()) {
        let text = format!("{before} {secret} {after}");
        prop_assert!(!redacted(&text).contains(&secret));
        let line = serde_json::to_string(&[&text]).expect("JSON");
        let out = redactor().json(&line, HERE).into_owned();
        prop_assert!(!out.contains(&secret));
        prop_assert!(serde_json::from_str::<[String; 1]>(&out).is_ok(), "{}", out);
    }

    #[test]
    fn twice_is_as_once(pieces in prop::collection::vec((noise(), secret()), 0..4)) {
        let text: String = pieces.iter().map(|(noise, secret)| format!("{noise}{secret}")).collect();
        let redactor = Redactor::new(Rules::built_in(), Options { emails: true, homes: true });
        let once = redactor.text(&text, HERE).into_owned();
        prop_assert_eq!(&redactor.text(&once, HERE), &once);
        let line = serde_json::to_string(&[&text]).expect("JSON");
        let once = redactor.json(&line, HERE).into_owned();
        prop_assert_eq!(&redactor.json(&once, HERE), &once);
    }

    #[test]
    fn any_json_stays_json(texts in prop::collection::vec(noise(), 1..4)) {
        let line = serde_json::json!({ "key": texts, "n": 12 }).to_string();
        let redactor = Redactor::new(Rules::built_in(), Options { emails: true, homes: true });
        let out = redactor.json(&line, HERE);
        let value: serde_json::Value = serde_json::from_str(&out).expect("JSON");
        prop_assert_eq!(value["key"].as_array().map(Vec::len), Some(texts.len()));
        prop_assert_eq!(&value["n"], 12);
    }
}

#[test]
fn a_key_whose_lines_stand_in_a_list_is_one_key() {
    let lines: Vec<String> = key_lines(7).iter().map(|line| format!("+{line}")).collect();
    let before = serde_json::json!({ "path": "/k", "lines": lines, "n": 1, "after": "x" });
    let out = redactor().json(&before.to_string(), HERE).into_owned();
    assert_eq!(residue(Rules::built_in(), &out), None, "{out}");
    for line in &lines[1..lines.len() - 1] {
        assert!(!out.contains(&line[1..]), "{line} in {out}");
    }
    let after: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(
        (&after["path"], &after["n"], &after["after"]),
        (&before["path"], &before["n"], &before["after"])
    );
}

#[test]
fn numbers_go_by_session_whoever_comes_first() {
    let key = |n: u64| format!("key ghp_{}", fill("{a-zA-Z0-9:36}", &mut Random::new(n)).text);
    let first = redactor();
    let at = |session| Place { session, entry: 1 };
    let number = |redactor: &Redactor<'_>, n, session| {
        let text = redactor.text(&key(n), at(session)).into_owned();
        text.rsplit(':').next().and_then(|end| end.trim_end_matches(']').parse::<u32>().ok())
    };
    for (n, session, told) in [(7, 2, 1), (5, 0, 2), (7, 1, 1), (9, 0, 3), (4, 3, 4)] {
        assert_eq!(number(&first, n, session), Some(told));
    }
    let (ordered, others) = first.in_order();
    assert_eq!(others, [0, 1, 2], "the last keeps its number");
    for (n, session, told) in [(9, 0, 2), (5, 0, 1), (7, 1, 3), (7, 2, 3), (4, 3, 4)] {
        assert_eq!(number(&ordered, n, session), Some(told));
    }
    assert_eq!(first.report()[0].places, [at(0), at(1), at(2), at(3)]);
}
