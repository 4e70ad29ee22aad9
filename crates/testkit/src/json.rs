//! JSON text in the order it is written.
//!
//! `serde_json::json!` sorts keys here, but the order of keys is part of what
//! Claude Code writes (bookkeeping lines begin with `type`, chain lines with
//! `parentUuid`), so values are built as text.

/// A piece of finished JSON text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Raw(pub String);

/// Something that can be appended as JSON.
pub trait ToJson {
    /// Appends the value to `out` as compact JSON.
    fn json(&self, out: &mut String);

    /// The value as finished text.
    fn raw(&self) -> Raw {
        let mut out = String::new();
        self.json(&mut out);
        Raw(out)
    }
}

impl ToJson for Raw {
    fn json(&self, out: &mut String) {
        out.push_str(&self.0);
    }
}

impl ToJson for str {
    fn json(&self, out: &mut String) {
        out.push('"');
        escape(self, out);
        out.push('"');
    }
}

impl ToJson for String {
    fn json(&self, out: &mut String) {
        self.as_str().json(out);
    }
}

impl<T: ToJson + ?Sized> ToJson for &T {
    fn json(&self, out: &mut String) {
        (**self).json(out);
    }
}

impl<T: ToJson> ToJson for Option<T> {
    fn json(&self, out: &mut String) {
        match self {
            Some(value) => value.json(out),
            None => out.push_str("null"),
        }
    }
}

impl<T: ToJson> ToJson for [T] {
    fn json(&self, out: &mut String) {
        out.push('[');
        for (i, value) in self.iter().enumerate() {
            if i > 0 {
                out.push(',');
            }
            value.json(out);
        }
        out.push(']');
    }
}

impl<T: ToJson> ToJson for Vec<T> {
    fn json(&self, out: &mut String) {
        self.as_slice().json(out);
    }
}

impl<T: ToJson, const N: usize> ToJson for [T; N] {
    fn json(&self, out: &mut String) {
        self.as_slice().json(out);
    }
}

macro_rules! display {
    ($($t:ty),*) => {$(
        impl ToJson for $t {
            fn json(&self, out: &mut String) {
                use std::fmt::Write;
                write!(out, "{self}").expect("writing to a string cannot fail");
            }
        }
    )*};
}
display!(bool, u32, u64, usize, i32, i64, f64);

/// Appends `text` as the inside of a JSON string, as `JSON.stringify` does.
pub fn escape(text: &str, out: &mut String) {
    let bytes = text.as_bytes();
    let mut from = 0;
    for (i, &b) in bytes.iter().enumerate() {
        if b >= 0x20 && b != b'"' && b != b'\\' {
            continue;
        }
        out.push_str(&text[from..i]);
        from = i + 1;
        escape_byte(b, out);
    }
    out.push_str(&text[from..]);
}

fn escape_byte(b: u8, out: &mut String) {
    match b {
        b'"' => out.push_str("\\\""),
        b'\\' => out.push_str("\\\\"),
        b'\n' => out.push_str("\\n"),
        b'\r' => out.push_str("\\r"),
        b'\t' => out.push_str("\\t"),
        0x08 => out.push_str("\\b"),
        0x0c => out.push_str("\\f"),
        _ => out.push_str(&format!("\\u{b:04x}")),
    }
}

/// Appends one `"key":value` member, with a comma when it is not the first.
pub fn member(out: &mut String, key: &str, value: &(impl ToJson + ?Sized)) {
    if !out.is_empty() && !out.ends_with('{') {
        out.push(',');
    }
    out.push('"');
    out.push_str(key);
    out.push_str("\":");
    value.json(out);
}

/// Members of an object without its braces: `members! { "a": 1, "b": "c" }`.
#[macro_export]
macro_rules! members {
    ($($key:literal : $value:expr),* $(,)?) => {{
        #[allow(unused_mut)]
        let mut out = String::new();
        $($crate::json::member(&mut out, $key, &$value);)*
        out
    }};
}

/// An object with its keys in the order given.
#[macro_export]
macro_rules! obj {
    ($($key:literal : $value:expr),* $(,)?) => {{
        #[allow(unused_mut)]
        let mut out = String::from("{");
        $($crate::json::member(&mut out, $key, &$value);)*
        out.push('}');
        $crate::json::Raw(out)
    }};
}

/// An array of values of different types.
#[macro_export]
macro_rules! arr {
    ($($value:expr),* $(,)?) => {{
        let parts: Vec<$crate::json::Raw> = vec![$($crate::json::ToJson::raw(&$value)),*];
        $crate::json::ToJson::raw(&parts)
    }};
}

#[cfg(test)]
mod tests {
    #[test]
    fn keys_keep_their_order_and_strings_are_escaped() {
        let value = obj! { "z": 1, "a": "q\"\n\u{1b}", "n": None::<u64>, "l": arr![1, "x"] };
        assert_eq!(value.0, r#"{"z":1,"a":"q\"\n\u001b","n":null,"l":[1,"x"]}"#);
    }

    #[test]
    fn an_empty_member_list_leaves_no_comma() {
        assert_eq!(obj! {}.0, "{}");
        assert_eq!(members! { "a": obj!{} }, r#""a":{}"#);
    }
}
