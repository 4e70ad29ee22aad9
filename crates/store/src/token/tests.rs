use super::*;
use proptest::prelude::*;

/// Terms with their positions, a whole in brackets.
fn terms(text: &str) -> String {
    let mut words = Words::default();
    let mut stream = words.token_stream(text);
    let mut out = Vec::new();
    while stream.advance() {
        let token = stream.token();
        out.push(match stream.piece() {
            Some(Piece::Whole) => format!("[{}]{}", token.text, token.position),
            _ => format!("{}{}{}", token.text, '@', token.position),
        });
    }
    out.join(" ")
}

#[test]
fn words_are_folded_and_identifiers_come_apart() {
    let cases = [
        ("The tests are running.", "the@0 test@1 are@2 run@3"),
        (
            "file_name fileName FILE-NAME",
            "[filenam]0 file@0 name@1 [filenam]2 file@2 name@3 [filenam]4 file@4 name@5",
        ),
        ("filename", "filenam@0"),
        ("HTTPServer2", "[httpserver2]0 http@0 server2@1"),
        ("src/net/foo_bar.rs", "src@0 net@1 [foobar]2 foo@2 bar@3 rs@4"),
        ("std::fs::read", "std@0 fs@1 read@2"),
        ("--no-cache", "[nocach]0 no@0 cach@1"),
        ("can't user's 'quoted'", "cant@0 user@1 quot@2"),
        ("Crème BRÛLÉE Straße", "creme@0 brule@1 strass@2"),
        ("e404 1.20.3 127.0.0.1 8080", "e404@0 1.20.3@1 127.0.0.1@2 8080@3"),
        ("日本語 語", "日本@0 本語@1 語@2"),
        ("error日本", "error@0 日本@1"),
        ("", ""),
        ("v1.20 x.y 3.x", "[v120]0 v1@0 20@1 x@2 y@3 3@4 x@5"),
        ("\u{1b}[31merror\u{1b}[0m: \u{1b}", "error@0"),
        (" ._- '' ", ""),
    ];
    for (text, want) in cases {
        assert_eq!(terms(text), want, "{text}");
    }
}

#[test]
fn hashes_meet_their_short_forms_and_payload_is_dropped() {
    let payload = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    let cases = [
        ("ff4ca1d", "ff4ca1d@0"),
        ("ff4ca1d0c7e6b5a49382716051423324150617a8", "ff4ca1d@0"),
        ("3f2a91c0-1111-4222-8333-444455556666", "3f2a91c@0"),
        ("toolu_01A09q90qw90lq917835lq9", "toolu01a09q90qw9@0"),
        (payload, ""),
        ("   12→let x;\n     7\tfn main", "let@0 x@1 fn@2 main@3"),
        ("2026-05-06T14:20:05.123Z WARN", "2026-05-06@0 warn@1"),
    ];
    for (text, want) in cases {
        assert_eq!(terms(text), want, "{text}");
    }
    assert_eq!(terms(&"ab".repeat(40)), "", "too long for a word");
}

#[test]
fn a_question_gives_the_terms_of_the_index() {
    let found = words("where is HashMap::new, 日本語?");
    let wholes: Vec<_> = found.iter().map(|w| w.whole.as_deref()).collect();
    let parts: Vec<_> = found.iter().map(|w| w.parts.join("+")).collect();
    assert_eq!(parts, ["where", "is", "hash+map", "new", "日本+本語"]);
    assert_eq!(wholes, [None, None, Some("hashmap"), None, None]);
}

proptest! {
    #[test]
    fn any_text_gives_terms_inside_it(text in "\\PC{0,80}|[a-zA-Z0-9_.+/'-]{0,200}|[ -~é日\\u{301}]{0,60}") {
        let mut words = Words::default();
        let mut stream = words.token_stream(&text);
        let mut position = 0;
        while stream.advance() {
            let token = stream.token();
            prop_assert!(text.get(token.offset_from..token.offset_to).is_some_and(|s| !s.is_empty()));
            prop_assert!(token.position >= position && token.position <= position + 1);
            position = token.position;
        }
    }

    #[test]
    fn a_word_is_found_in_any_case(word in "[a-z]{1,12}") {
        let upper = terms(&word.to_uppercase());
        prop_assert_eq!(upper, terms(&word));
    }
}
