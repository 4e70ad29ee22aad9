use proptest::prelude::*;

use super::*;

/// Takes apart, puts together, compares; gives the main stream.
fn round(raw: &[u8]) -> Vec<u8> {
    let mut kept = Vec::new();
    let streams = strip(raw, Streams::default(), |bytes| {
        let hash = Hash::of(&bytes);
        kept.push((hash, bytes));
        hash
    });
    let find = |hash: &Hash| kept.iter().find(|(h, _)| h == hash).map(|(_, b)| b.clone());
    assert_eq!(join(&streams, raw.len(), Vec::new(), find).as_deref(), Ok(raw));
    streams.main
}

#[test]
fn takes_what_comes_back_the_same_and_nothing_else() {
    let cases: [(&str, &str); 16] = [
        ("", ""),
        ("plain", "plain"),
        ("\"0a1b2c3d-0000-4fff-8000-0123456789ab\"", "\"\u{3}\""),
        ("0A1B2C3D-0000-4FFF-8000-0123456789AB", "0A1B2C3D-0000-4FFF-8000-0123456789AB"),
        ("0a1b2c3d-0000-4fff-8000-0123456789a", "0a1b2c3d-0000-4fff-8000-0123456789a"),
        ("toolu_01AbCdEfGhJkLmNoPqRsTuVw", "toolu\u{3}"),
        ("toolu_01AbCdEfGhJkLmNoPqRsTuV0", "toolu_01AbCdEfGhJkLmNoPqRsTuV0"),
        ("msg_01zzzzzzzzzzzzzzzzzzzzzz", "msg_01zzzzzzzzzzzzzzzzzzzzzz"),
        ("2026-01-31T23:59:59.999Z", "\u{2}"),
        ("2024-02-29T00:00:00.000Z!", "\u{2}!"),
        ("2026-02-29T00:00:00.000Z", "2026-02-29T00:00:00.000Z"),
        ("2026-13-45T00:00:00.000Z", "2026-13-45T00:00:00.000Z"),
        ("2026-01-31T23:59:60.000Z", "2026-01-31T23:59:60.000Z"),
        ("2026-01-31T23:59:59.99Z", "2026-01-31T23:59:59.99Z"),
        ("1999-01-31T23:59:59.999Z", "1999-01-31T23:59:59.999Z"),
        ("a\u{2}b\u{1}", "a\u{1}\u{2}b\u{1}\u{1}"),
    ];
    for (raw, main) in cases {
        assert_eq!(String::from_utf8_lossy(&round(raw.as_bytes())), main, "{raw}");
    }
}

#[test]
fn ids_come_back_from_near_and_far() {
    let uuid = |n: u32| format!("{n:08x}-0000-4000-8000-0123456789ab ");
    let numbers = (0..300).chain([299, 298, 0, 1, 299, 150]).chain(0..300);
    let text: String = numbers.map(uuid).collect();
    assert_eq!(round(text.as_bytes()).len(), 606 * 2);
}

#[test]
fn base64_is_taken_from_the_wanted_length_on() {
    let bytes: Vec<u8> = (0..20_000u32).map(|n| ((n * n) >> 3) as u8).collect();
    for length in [90, 94, 95, 96, 97, 500, 12_286, 12_287, 12_288, 12_289, 20_000] {
        let mut text = Vec::new();
        base64::encode(&bytes[..length], &mut text);
        let quoted = [b"{\"data\":\"", &text[..], b"\"}"].concat();
        let main = round(&quoted);
        assert_eq!(main.len() < quoted.len(), text.len() >= MIN_RUN, "{length}");
    }
}

#[test]
fn base64_that_is_not_canonical_stays_as_it_is() {
    let letters = "QUJD".repeat(60);
    for end in ["", "Q", "QQ", "QQ=", "QQ==", "QR==", "QUI=", "QUJ=", "=", "==", "===", "QQ==="] {
        for start in ["", "/", "a,"] {
            round(format!("{start}{letters}{end}").as_bytes());
        }
    }
}

/// Text made of the parts that are looked for, whole and broken.
fn likely_text() -> impl Strategy<Value = Vec<u8>> {
    let part = prop_oneof![
        "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
        "[0-2]{8}-0000-0000-0000-000000000000",
        "(toolu|msg|req)_01[1-9A-HJ-NP-Za-km-z]{20,23}",
        "20[0-9]{2}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-6][0-9]:[0-6][0-9]\\.[0-9]{3}Z",
        "[A-Za-z0-9+/]{100,180}={0,3}",
        "[-_T:.\"\u{1}\u{2}\u{3}\u{4}\u{5}\u{6}=01]{1,8}",
        ".{0,5}",
    ];
    proptest::collection::vec(part, 0..30).prop_map(|parts| parts.concat().into_bytes())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_bytes_come_back(raw in proptest::collection::vec(any::<u8>(), 0..600)) {
        round(&raw);
    }

    #[test]
    fn likely_text_comes_back(raw in likely_text()) {
        round(&raw);
    }

    #[test]
    fn damaged_streams_give_an_error_or_other_text(
        raw in likely_text(), stream in 0..Streams::COUNT, at in any::<prop::sample::Index>(),
        byte in any::<u8>(), size in 0..4000usize,
    ) {
        let mut streams = strip(&raw, Streams::default(), |bytes| Hash::of(&bytes));
        let part = &mut streams.parts_mut()[stream];
        if !part.is_empty() {
            let at = at.index(part.len());
            part[at] = byte;
        }
        let joined = join(&streams, size, Vec::new(), |_| Some(vec![7; 99]));
        prop_assert!(joined.is_err() || joined.is_ok_and(|text| text.len() == size));
    }
}
