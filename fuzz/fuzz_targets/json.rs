//! Whatever serde_json accepts, the lazy reader sees in the same way. Other bytes never panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use transcript::json::{Raw, Str};

fuzz_target!(|input: &[u8]| {
    let raw = Raw::new(input);
    if let Ok(raw) = raw {
        walk(raw, 64);
    }
    if let Ok(value) = serde_json::from_slice::<Value>(input) {
        let raw = raw.expect("serde_json accepts what the reader calls broken");
        assert_eq!(raw.bytes(), input.trim_ascii(), "the value has other bounds");
        same(raw, &value);
    }
});

/// Decodes everything down to a depth; only a panic could go wrong here.
fn walk(raw: Raw<'_>, depth: usize) {
    drop((raw.text(), raw.bool(), raw.u64(), raw.i64(), raw.f64(), raw.is_null()));
    drop(raw.str().map(|s| (s.head(5), s.has_lone_surrogate(), s.is("x"))));
    if depth > 0 {
        raw.items().for_each(|item| walk(item, depth - 1));
        raw.fields().for_each(|(key, value)| {
            drop(key.text());
            walk(value, depth - 1);
        });
    }
}

fn same(raw: Raw<'_>, value: &Value) {
    match value {
        Value::Null => assert!(raw.is_null()),
        Value::Bool(bool) => assert_eq!(raw.bool(), Some(*bool)),
        Value::Number(number) => {
            assert_eq!(raw.u64(), number.as_u64(), "{raw:?}");
            assert_eq!(raw.f64(), number.as_str().parse().ok(), "{raw:?}");
            if let Some(integer) = number.as_i64() {
                assert_eq!(raw.i64(), Some(integer));
            }
        }
        Value::String(text) => string(raw.str().expect("a string"), text),
        Value::Array(values) => {
            let items: Vec<_> = raw.items().collect();
            assert_eq!(items.len(), values.len(), "other number of items");
            items.into_iter().zip(values).for_each(|(item, value)| same(item, value));
        }
        Value::Object(members) => {
            for (key, value) in members {
                same(raw.get(key).expect("serde_json has the member"), value);
            }
            for (key, _) in raw.fields() {
                assert!(members.contains_key(&*key.text()), "a member that serde_json has not");
            }
        }
    }
}

fn string(string: Str<'_>, text: &str) {
    assert_eq!(string.text(), text);
    assert!(string.is(text));
    assert!(!string.has_lone_surrogate());
    for bytes in [0, 1, 5, 16] {
        assert!(text.starts_with(&*string.head(bytes)), "a head is no beginning");
    }
}
