//! `xtask docs`: writes the reference of the JSON lines from the doc comments of the wire types,
//! and that of the tables from their schema.

mod source;
mod tables;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;
use std::{fs, io};

use source::{Content, Field, Head, Shape, Source, Type, Variant, generic};

const USAGE: &str = "usage: xtask docs [--check]";
const WIRE: &str = "crates/app/src/wire";
const PAGE: &str = "docs/reference/json.md";
const HEAD: &str = "\
# JSON lines

<!-- Written by `cargo xtask docs` from the doc comments in crates/app/src/wire. -->

";

/// Runs the command; the error is what to tell the person.
pub fn run(args: &[String]) -> Result<(), String> {
    let is_check = match args {
        [] => false,
        [flag] if flag == "--check" => true,
        _ => return Err(USAGE.into()),
    };
    let pages = [(PAGE, Page::write(&read_wire()?)?), (tables::PAGE, tables::page())];
    let work = if is_check { check } else { save };
    pages.iter().try_for_each(|(path, page)| work(path, page))
}

fn check(path: &str, page: &str) -> Result<(), String> {
    match fs::read_to_string(path) {
        // A checkout may have changed the line ends.
        Ok(text) if text.replace("\r\n", "\n") == page => return Ok(()),
        Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(format!("{path}: {e}")),
        _ => {}
    }
    eprintln!("error: {path} is not current\nhint: Run `cargo xtask docs`");
    // Not an error of the command, which would be 2.
    std::process::exit(1)
}

fn save(path: &str, page: &str) -> Result<(), String> {
    let folder = Path::new(path).parent().ok_or("the page stands in a folder")?;
    fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    fs::write(path, page).map_err(|e| format!("{path}: {e}"))
}

/// `wire.rs`, then its modules in its order.
fn read_wire() -> Result<Vec<Source>, String> {
    let read = |path: String| -> Result<Source, String> {
        let text = fs::read_to_string(&path).map_err(|e| format!("{path}: {e}"))?;
        Source::read(&path, &text)
    };
    let mut all = vec![read(format!("{WIRE}.rs"))?];
    for module in all[0].modules.clone() {
        let source = read(format!("{WIRE}/{module}.rs"))?;
        if let Some(inner) = source.modules.first() {
            return Err(format!("{}: module `{inner}` in a wire file", source.path));
        }
        all.push(source);
    }
    Ok(all)
}

/// A name as serde writes it; the rule is for fields in snake case and variants in camel case.
fn renamed(name: &str, head: &Head, rule: Option<&str>, at: &str) -> Result<String, String> {
    if let Some(rename) = &head.serde.rename {
        return Ok(rename.clone());
    }
    let mut snake = String::new();
    for (at, c) in name.char_indices() {
        if c.is_uppercase() && at > 0 {
            snake.push('_');
        }
        snake.extend(c.to_lowercase());
    }
    match rule {
        None => Ok(name.to_owned()),
        Some("snake_case") => Ok(snake),
        Some("kebab-case") => Ok(snake.replace('_', "-")),
        Some("lowercase") => Ok(name.to_lowercase()),
        Some(other) => Err(format!("{at}: the rule `{other}` for names is not understood")),
    }
}

/// What the docs of a field say, for a cell of a table.
fn cell(field: &Field) -> Result<String, String> {
    let docs = &field.head.docs;
    if docs.iter().any(|line| ["```", "- ", "* ", "# "].iter().any(|mark| line.starts_with(mark))) {
        return Err(format!("{}: the docs of a field are plain sentences", field.at));
    }
    let lines: Vec<_> = docs.iter().map(|line| line.trim()).filter(|l| !l.is_empty()).collect();
    Ok(lines.join(" ").replace('|', "\\|"))
}

/// The anchor that Markdown renderers give to a heading.
fn slug(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() }).collect()
}

/// An object of its own on the page: a line, or what stands in one.
struct Table<'s> {
    /// The name of the line it stands in.
    line: String,
    /// The fields on the way to it from the line; empty for the line itself.
    way: Vec<String>,
    owner: &'s Type,
    docs: &'s [String],
    tag: Option<(String, String)>,
    fields: Vec<&'s Field>,
    rule: Option<&'s str>,
}

impl<'s> Table<'s> {
    fn of_struct(ty: &'s Type, fields: &'s [Field], line: String, way: Vec<String>) -> Self {
        let serde = &ty.head.serde;
        let value = || serde.rename.clone().unwrap_or_else(|| ty.name.clone());
        Self {
            line,
            way,
            owner: ty,
            docs: &ty.head.docs,
            tag: serde.tag.clone().map(|tag| (tag, value())),
            fields: fields.iter().collect(),
            rule: serde.rename_all.as_deref(),
        }
    }

    fn of_variant(ty: &'s Type, tag: &str, variant: &'s Variant) -> Result<Self, String> {
        let rule = ty.head.serde.rename_all.as_deref();
        let line = renamed(&variant.name, &variant.head, rule, &ty.at)?;
        Ok(Self {
            line: line.clone(),
            way: Vec::new(),
            owner: ty,
            docs: &variant.head.docs,
            tag: Some((tag.to_owned(), line)),
            fields: match &variant.content {
                Content::Nothing => Vec::new(),
                Content::One(field) => vec![field],
                Content::Fields(fields) => fields.iter().collect(),
            },
            rule: variant.head.serde.rename_all.as_deref(),
        })
    }
}

/// The page as far as it is written.
struct Page<'s> {
    sources: &'s [Source],
    text: String,
    /// The anchors of the types that have a table, by the types' places.
    anchors: BTreeMap<&'s str, String>,
    /// The names of objects in lines, which must not be given twice.
    headings: BTreeSet<String>,
    /// The types that are on the page in some way.
    used: BTreeSet<&'s str>,
    /// Objects in the line being written that have no table yet.
    waiting: VecDeque<Table<'s>>,
}

impl<'s> Page<'s> {
    fn write(sources: &'s [Source]) -> Result<String, String> {
        let mut page = Self {
            sources,
            text: HEAD.to_owned(),
            anchors: BTreeMap::new(),
            headings: BTreeSet::new(),
            used: BTreeSet::new(),
            waiting: VecDeque::new(),
        };
        let lines = sources.iter().map(lines).collect::<Result<Vec<_>, _>>()?;
        page.know(lines.iter().flatten())?;
        for (source, lines) in sources.iter().zip(lines) {
            page.section(source, lines)?;
        }
        let mut types = sources.iter().flat_map(|source| &source.types);
        match types.find(|ty| !page.used.contains(ty.at.as_str())) {
            Some(ty) => Err(format!("{}: no line has a `{}`", ty.at, ty.name)),
            None => Ok(page.text.trim_end().to_owned() + "\n"),
        }
    }

    /// Gives the lines their anchors, before anything can refer to them.
    fn know<'t>(&mut self, lines: impl Iterator<Item = &'t Table<'s>>) -> Result<(), String>
    where
        's: 't,
    {
        for table in lines {
            let owner = table.owner;
            if !self.headings.insert(table.line.clone()) {
                return Err(format!("{}: another line is a `{}` too", owner.at, table.line));
            }
            self.used.insert(&owner.at);
            if matches!(owner.shape, Shape::Struct(_)) {
                self.anchors.insert(&owner.at, slug(&table.line));
            }
        }
        Ok(())
    }

    /// Adds a paragraph, heading or table.
    fn put(&mut self, text: &str) {
        if !text.is_empty() {
            self.text.push_str(text);
            self.text.push_str("\n\n");
        }
    }

    fn section(&mut self, source: &Source, lines: Vec<Table<'s>>) -> Result<(), String> {
        let mut parts = source.docs.splitn(2, String::is_empty);
        let title = parts.next().filter(|title| !title.is_empty());
        let title = title.ok_or(format!("{}:1: no docs of the file", source.path))?.join(" ");
        // The docs of `wire.rs` are the head of the page.
        let is_head = source.path == format!("{WIRE}.rs");
        self.put(&if is_head { title } else { format!("## {}", title.trim_end_matches('.')) });
        self.put(&parts.next().unwrap_or_default().join("\n"));
        for line in lines {
            self.waiting.push_back(line);
            while let Some(table) = self.waiting.pop_front() {
                self.table(&table)?;
            }
        }
        Ok(())
    }

    fn table(&mut self, table: &Table<'s>) -> Result<(), String> {
        self.put(&match table.way.as_slice() {
            [] => format!("### `{}`", table.line),
            way => format!("#### {}", heading(way, &table.line)),
        });
        self.put(&table.docs.join("\n"));
        let mut rows = vec!["| field | type | meaning |".to_owned(), "|---|---|---|".to_owned()];
        if let Some((tag, value)) = &table.tag {
            rows.push(format!("| `{tag}` | text | `{value}` |"));
        }
        for field in &table.fields {
            rows.extend(self.rows(table, table.owner, field, table.rule)?);
        }
        self.put(&rows.join("\n"));
        Ok(())
    }

    /// The row of a field, or those of the fields of a flattened one.
    fn rows(
        &mut self,
        table: &Table<'s>,
        owner: &'s Type,
        field: &'s Field,
        rule: Option<&str>,
    ) -> Result<Vec<String>, String> {
        if field.head.serde.is_flat {
            let inner = self.find(owner, field, generic(&field.ty).0)?;
            let (Shape::Struct(fields), None) = (&inner.shape, &inner.head.serde.tag) else {
                return Err(format!("{}: only structs without tag are understood here", field.at));
            };
            self.used.insert(&inner.at);
            let rule = inner.head.serde.rename_all.as_deref();
            let rows = fields.iter().map(|field| self.rows(table, inner, field, rule));
            return Ok(rows.collect::<Result<Vec<_>, _>>()?.concat());
        }
        let name = renamed(&field.name, &field.head, rule, &field.at)?;
        let mut words =
            self.words(&field.ty, false, &Place { table, owner, field, name: &name })?;
        if field.head.serde.may_be_left_out {
            words.push_str(", or left out");
        }
        Ok(vec![format!("| `{name}` | {words} | {} |", cell(field)?)])
    }

    /// A type in plain words, of one value or of many.
    fn words(&mut self, ty: &str, many: bool, place: &Place<'_, 's>) -> Result<String, String> {
        if let Some(rest) = ty.strip_prefix('&') {
            let lifetime = rest.split(' ').next().filter(|word| word.starts_with('\''));
            return self.words(rest[lifetime.map_or(0, str::len)..].trim(), many, place);
        }
        if let Some(inner) = ty.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            let inner = inner.split(';').next().unwrap_or(inner);
            return self.list(inner, many, place);
        }
        let (name, mut arguments) = generic(ty);
        arguments.retain(|argument| !argument.starts_with('\''));
        match (name, arguments.as_slice()) {
            ("String" | "str" | "char" | "Path" | "PathBuf", []) => Ok("text".into()),
            ("bool", []) => Ok("yes/no".into()),
            ("Value" | "RawValue", []) => Ok("any JSON".into()),
            _ if is_number(name) => Ok(if many { "numbers" } else { "number" }.into()),
            ("Box" | "Cow" | "Rc" | "Arc", [inner]) => self.words(inner, many, place),
            ("Option", [inner]) => {
                let inner = self.words(inner, many, place)?;
                let comma = if inner.contains(' ') { "," } else { "" };
                Ok(format!("{inner}{comma} or null"))
            }
            ("Vec" | "BTreeSet" | "HashSet", [inner]) => self.list(inner, many, place),
            ("BTreeMap" | "HashMap" | "Map", [_, inner]) => {
                let object = if many { "objects" } else { "object" };
                Ok(format!("{object} of {} by name", self.words(inner, true, place)?))
            }
            (name, []) => {
                let found = self.find(place.owner, place.field, name)?;
                self.own(found, many, place)
            }
            _ => Err(format!("{}: the type `{ty}` is not understood", place.field.at)),
        }
    }

    fn list(&mut self, inner: &str, many: bool, place: &Place<'_, 's>) -> Result<String, String> {
        let list = if many { "lists" } else { "list" };
        Ok(format!("{list} of {}", self.words(inner, true, place)?))
    }

    /// A wire type in words, with its table to come when it has none yet.
    fn own(&mut self, ty: &'s Type, many: bool, place: &Place<'_, 's>) -> Result<String, String> {
        self.used.insert(&ty.at);
        let variants = match &ty.shape {
            Shape::Enum(variants) => variants,
            Shape::Struct(fields) => {
                let object = if many { "objects" } else { "object" };
                return Ok(format!("[{object}](#{})", self.anchor(ty, fields, place)));
            }
        };
        let serde = &ty.head.serde;
        let mut words = Vec::new();
        for variant in variants {
            words.push(match &variant.content {
                Content::One(field) if serde.is_untagged => {
                    self.words(&field.ty, many, &Place { owner: ty, field, ..*place })?
                }
                Content::Nothing if !serde.is_untagged && serde.tag.is_none() => {
                    let rule = serde.rename_all.as_deref();
                    format!("`{}`", renamed(&variant.name, &variant.head, rule, &ty.at)?)
                }
                _ => return Err(format!("{}: this enum in a field is not understood", ty.at)),
            });
        }
        Ok(words.join(" or "))
    }

    fn anchor(&mut self, ty: &'s Type, fields: &'s [Field], place: &Place<'_, 's>) -> String {
        if let Some(anchor) = self.anchors.get(ty.at.as_str()) {
            return anchor.clone();
        }
        let mut way = vec![place.name.to_owned()];
        let heading = |way: &[String]| slug(&heading(way, &place.table.line));
        // The same name for two different objects: then the whole way to the second.
        if !self.headings.insert(heading(&way)) {
            way = [place.table.way.as_slice(), &way].concat();
            self.headings.insert(heading(&way));
        }
        let anchor = heading(&way);
        self.anchors.insert(&ty.at, anchor.clone());
        self.waiting.push_back(Table::of_struct(ty, fields, place.table.line.clone(), way));
        anchor
    }

    /// A wire type by its name: of the same file, else the only one of that name.
    fn find(&self, owner: &Type, field: &Field, name: &str) -> Result<&'s Type, String> {
        let types = self.sources.iter().flat_map(|source| &source.types);
        let all: Vec<_> = types.filter(|ty| ty.name == name).collect();
        match all.iter().find(|ty| ty.path == owner.path) {
            Some(ty) => Ok(ty),
            None if all.len() == 1 => Ok(all[0]),
            None => Err(format!("{}: the type `{}` is not understood", field.at, field.ty)),
        }
    }
}

/// The field whose type is being said.
struct Place<'p, 's> {
    table: &'p Table<'s>,
    /// The type the field is of, which is another than the table's for a flattened one.
    owner: &'s Type,
    field: &'s Field,
    /// The field's name as serialised.
    name: &'p str,
}

fn heading(way: &[String], line: &str) -> String {
    format!("`{}` in `{line}`", way.join("."))
}

fn is_number(name: &str) -> bool {
    let size = name.strip_prefix(['u', 'i', 'f']);
    size.is_some_and(|size| matches!(size, "8" | "16" | "32" | "64" | "128" | "size"))
}

/// The kinds of line that a file describes: the types with the tag `type`.
fn lines(source: &Source) -> Result<Vec<Table<'_>>, String> {
    let mut tables = Vec::new();
    for ty in &source.types {
        let Some(tag) = ty.head.serde.tag.as_deref().filter(|&tag| tag == "type") else {
            continue;
        };
        match &ty.shape {
            Shape::Struct(fields) => {
                let line = ty.head.serde.rename.clone().unwrap_or_else(|| ty.name.clone());
                tables.push(Table::of_struct(ty, fields, line, Vec::new()));
            }
            Shape::Enum(variants) => {
                for variant in variants {
                    tables.push(Table::of_variant(ty, tag, variant)?);
                }
            }
        }
    }
    Ok(tables)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DERIVE: &str = "/// X.\n#[derive(Serialize)]\n";
    const LINE: &str = "/// A.\n#[derive(Serialize)]\n#[serde(tag = \"type\", rename = \"a\")]\n";

    /// The page of one file, from its first heading for a line.
    fn page(text: &str) -> Result<String, String> {
        let sources = [Source::read("x.rs", &format!("//! Lines.\n\n{text}"))?];
        let page = Page::write(&sources)?;
        Ok(page.split_once("## Lines\n\n").expect("the section").1.to_owned())
    }

    /// The rows of a line with these fields, without that of its `type`.
    fn rows(fields: &str, more: &str) -> Result<String, String> {
        let page = page(&format!("{LINE}pub struct A<'a> {{\n{fields}\n}}\n{more}"))?;
        Ok(page.split_once("`a` |\n").expect("the table").1.trim_end().to_owned())
    }

    #[test]
    fn types_in_plain_words() {
        for (ty, words) in [
            ("&'a str", "text"),
            ("Option<Cow<'a, str>>", "text or null"),
            ("Vec<u64>", "list of numbers"),
            ("Option<&'a [Option<bool>]>", "list of yes/no or null, or null"),
            ("Option<Box<RawValue>>", "any JSON, or null"),
            ("std::collections::BTreeMap<String, Vec<i64>>", "object of lists of numbers by name"),
        ] {
            let expected = format!("| `x` | {words} | It. |");
            assert_eq!(rows(&format!("    /// It.\n    pub(crate) x: {ty},"), ""), Ok(expected));
        }
    }

    #[test]
    fn names_are_those_of_the_output() {
        let fields = r##"    /// It.
    r#type: bool,
    /// One
    /// a|b.
    #[serde(
        rename = "y z",
        skip_serializing_if = "is, none"
    )]
    x: u8,"##;
        let expected = "| `type` | yes/no | It. |\n| `y z` | number, or left out | One a\\|b. |";
        assert_eq!(rows(fields, ""), Ok(expected.into()));
    }

    #[test]
    fn enums_in_fields() {
        let untagged = format!(
            "{DERIVE}#[serde(untagged)]\nenum X {{\n    /// A.\n    A(String),\n    /// B.\n    B(Vec<Value>),\n}}"
        );
        let expected = "| `x` | text or list of any JSON, or null | It. |";
        assert_eq!(rows("    /// It.\n    x: Option<X>,", &untagged), Ok(expected.into()));
        let words = format!(
            "{DERIVE}#[serde(rename_all = \"kebab-case\")]\nenum X {{\n    /// A.\n    OneWay,\n    /// B.\n    Other,\n}}"
        );
        let expected = "| `x` | `one-way` or `other` | It. |";
        assert_eq!(rows("    /// It.\n    x: X,", &words), Ok(expected.into()));
    }

    #[test]
    fn variants_are_lines() {
        let text = r#"
/// Lines.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum A {
    /// First.
    OneLine {
        /// Some.
        x: u8,
        /// More.
        y: Vec<B>,
    },
    /// Second.
    #[serde(rename = "b")]
    Other(B),
    /// Third.
    Last,
}

/// Inside.
#[derive(Serialize)]
struct B {
    /// Most.
    z: u8,
}
"#;
        let expected = "\
### `one_line`

First.

| field | type | meaning |
|---|---|---|
| `type` | text | `one_line` |
| `x` | number | Some. |
| `y` | list of [objects](#y-in-one_line) | More. |

#### `y` in `one_line`

Inside.

| field | type | meaning |
|---|---|---|
| `z` | number | Most. |

### `b`

Second.

| field | type | meaning |
|---|---|---|
| `type` | text | `b` |
| `z` | number | Most. |

### `last`

Third.

| field | type | meaning |
|---|---|---|
| `type` | text | `last` |
";
        assert_eq!(page(text).as_deref(), Ok(expected));
    }

    #[test]
    fn two_objects_of_one_name_have_two_headings() {
        let more = "
/// B.
#[derive(Serialize)]
struct B {
    /// It.
    x: C,
    /// Same.
    me: Vec<B>,
}

/// C.
#[derive(Serialize)]
struct C {
    /// It.
    y: u8,
}
";
        let text = rows("    /// It.\n    x: B,", more).expect("understood");
        let links: Vec<_> = text.lines().filter(|line| line.contains("(#")).collect();
        assert_eq!(
            links,
            [
                "| `x` | [object](#x-in-a) | It. |",
                "| `x` | [object](#xx-in-a) | It. |",
                "| `me` | list of [objects](#x-in-a) | Same. |"
            ]
        );
        assert!(text.contains("#### `x.x` in `a`\n"));
    }

    #[test]
    fn what_is_not_output_is_passed_over() {
        let more = r#"
/// Docs.
pub struct B {
    x: Other,
}

impl<'a> From<&'a B>
    for A<'a>
where
    B: C,
{
    fn f() {
        g();
    }
}

const X: &str =
    "x";
use a::{
    b,
};

#[cfg(test)]
mod tests {
    x
}

pub fn f(
    x: u8,
) -> u8 {
    x
}
"#;
        assert_eq!(rows("    /// It.\n    x: u8,", more), Ok("| `x` | number | It. |".into()));
    }

    #[test]
    fn what_is_not_understood_fails() {
        let own = |text: &str| page(text).expect_err("not understood");
        let field = |text: &str| rows(text, "").expect_err("not understood");
        // The line of the field is 7 or later, after the docs and the head of the struct.
        for fields in [
            "    /// It.\n    x: Strange,",
            "    /// It.\n    x: (u8, u8),",
            "    x: u8, // why",
            "    #[serde(flatten)] x: u8,",
            "    /// - a list\n    x: u8,",
        ] {
            let line = 7 + fields.matches('\n').count();
            let message = field(fields);
            assert!(message.starts_with(&format!("x.rs:{line}: ")), "{message}");
        }
        for (text, why) in [
            ("type X = u8;", "x.rs:3: this item"),
            ("impl Serialize for A {\n}", "x.rs:3: a `Serialize` by hand"),
            ("#[derive(Serialize)]\nstruct A(u8);", "x.rs:4: only types"),
            ("#[derive(Serialize)]\nstruct A<T> {\n    x: T,\n}", "x.rs:4: type parameters"),
            ("#[derive(Serialize)] #[serde(untagged)]\nenum A {\n}", "x.rs:3: only one"),
            ("#[cfg_attr(x, derive(Serialize))]\nstruct A {\n}", "x.rs:4: `#[cfg_attr"),
            ("#[derive(Serialize)]\n#[serde(transparent)]\nstruct A {\n}", "x.rs:4: `serde("),
            ("/// A.\n#[derive(Serialize)]\nstruct A {\n}", "x.rs:5: no line has a `A`"),
        ] {
            let message = own(text);
            assert!(message.starts_with(why), "{message}");
        }
    }

    #[test]
    fn what_has_no_docs_fails() {
        let own = |text: &str| page(&format!("{DERIVE}{text}")).expect_err("no docs");
        for (text, why) in [
            ("struct A {\n    x: u8,\n}", "x.rs:6: `x` has no doc comment"),
            ("struct A {\n    ///\n    x: u8,\n}", "x.rs:7: `x` has no doc comment"),
            ("enum A {\n    X,\n}", "x.rs:6: `X` has no doc comment"),
            ("enum A {\n    /// X.\n    X { y: u8 },\n}", "x.rs:7: fields in one line"),
            (
                "enum A {\n    /// X.\n    X {\n        y: u8,\n    },\n}",
                "x.rs:8: `y` has no doc comment",
            ),
        ] {
            let message = own(text);
            assert!(message.starts_with(why), "{message}");
        }
        let message = page("#[derive(Serialize)]\nstruct A {\n}").expect_err("no docs");
        assert_eq!(message, "x.rs:4: `A` has no doc comment");
    }
}
