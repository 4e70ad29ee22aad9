//! `xtask docs`: writes the reference of the JSON lines from the doc comments of the wire types.
//!
//! The wire files are read line by line in the shape that rustfmt gives them, which needs no
//! parser of Rust. What is not understood is an error that names its file and line: a field that
//! is quietly left out would make the reference wrong. Functions and `impl` blocks are passed
//! over, and so are types that don't derive `Serialize`.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;
use std::{fs, io};

const USAGE: &str = "usage: xtask docs [--check]";
const WIRE: &str = "crates/cli/src/wire";
const PAGE: &str = "docs/reference/json.md";
const HEAD: &str = "\
# JSON lines

<!-- Written by `cargo xtask docs` from the doc comments in crates/cli/src/wire. -->

";

/// Runs the command; the error is what to tell the person.
pub fn run(args: &[String]) -> Result<(), String> {
    let is_check = match args {
        [] => false,
        [flag] if flag == "--check" => true,
        _ => return Err(USAGE.into()),
    };
    let page = Page::write(&read_wire()?)?;
    if is_check { check(&page) } else { save(&page) }
}

fn check(page: &str) -> Result<(), String> {
    match fs::read_to_string(PAGE) {
        // A checkout may have changed the line ends.
        Ok(text) if text.replace("\r\n", "\n") == page => return Ok(()),
        Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(format!("{PAGE}: {e}")),
        _ => {}
    }
    eprintln!("error: {PAGE} is not current\nhint: Run `cargo xtask docs`");
    // Not an error of the command, which would be 2.
    std::process::exit(1)
}

fn save(page: &str) -> Result<(), String> {
    let folder = Path::new(PAGE).parent().ok_or("the page stands in a folder")?;
    fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    fs::write(PAGE, page).map_err(|e| format!("{PAGE}: {e}"))
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

/// A wire file.
#[derive(Debug, Default)]
struct Source {
    path: String,
    docs: Vec<String>,
    modules: Vec<String>,
    types: Vec<Type>,
}

/// A type that is serialised.
#[derive(Debug)]
struct Type {
    /// Its file.
    path: String,
    /// Its place, which is also what tells it from the others.
    at: String,
    name: String,
    head: Head,
    shape: Shape,
}

#[derive(Debug)]
enum Shape {
    Struct(Vec<Field>),
    Enum(Vec<Variant>),
}

#[derive(Debug)]
struct Variant {
    name: String,
    head: Head,
    content: Content,
}

#[derive(Debug)]
enum Content {
    Nothing,
    /// `Name(Type)`, as a flattened field.
    One(Field),
    Fields(Vec<Field>),
}

#[derive(Debug)]
struct Field {
    at: String,
    name: String,
    ty: String,
    head: Head,
}

/// What stands above an item: docs and attributes.
#[derive(Debug, Default)]
struct Head {
    docs: Vec<String>,
    is_serialize: bool,
    is_test: bool,
    serde: Serde,
    /// An attribute that could change what is serialised.
    odd: Option<String>,
}

#[derive(Debug, Default)]
struct Serde {
    tag: Option<String>,
    rename: Option<String>,
    rename_all: Option<String>,
    is_untagged: bool,
    is_flat: bool,
    may_be_left_out: bool,
}

impl Serde {
    fn set(&mut self, item: &str) -> Result<(), String> {
        let value = |text: &str| text.trim_matches('"').to_owned();
        match item.split_once(" = ") {
            Some(("tag", text)) => self.tag = Some(value(text)),
            Some(("rename", text)) => self.rename = Some(value(text)),
            Some(("rename_all", text)) => self.rename_all = Some(value(text)),
            Some(("skip_serializing_if", _)) => self.may_be_left_out = true,
            None if item == "untagged" => self.is_untagged = true,
            None if item == "flatten" => self.is_flat = true,
            _ => return Err(format!("`serde({item})` is not understood")),
        }
        Ok(())
    }
}

/// The lines of a file and where the reading is.
struct Reader<'t> {
    path: &'t str,
    lines: Vec<&'t str>,
    next: usize,
}

impl Source {
    fn read(path: &str, text: &str) -> Result<Self, String> {
        let mut reader = Reader { path, lines: text.lines().collect(), next: 0 };
        let mut source = Self { path: path.to_owned(), ..Self::default() };
        let mut head = Head::default();
        while let Some(line) = reader.line() {
            if let Some(doc) = line.strip_prefix("//!") {
                source.docs.push(doc_line(doc));
            } else if !reader.head(line, &mut head)? {
                reader.item(line, std::mem::take(&mut head), &mut source)?;
            }
        }
        Ok(source)
    }
}

impl<'t> Reader<'t> {
    fn line(&mut self) -> Option<&'t str> {
        let line = self.lines.get(self.next)?;
        self.next += 1;
        Some(line)
    }

    /// The place of the line that was read last.
    fn at(&self) -> String {
        format!("{}:{}", self.path, self.next)
    }

    fn fail<T>(&self, why: &str) -> Result<T, String> {
        Err(format!("{}: {why}", self.at()))
    }

    /// Takes a line that belongs to what follows; `false` when it is no such line.
    fn head(&mut self, line: &str, head: &mut Head) -> Result<bool, String> {
        let line = line.trim();
        if let Some(doc) = line.strip_prefix("///") {
            head.docs.push(doc_line(doc));
        } else if line.starts_with("#[") {
            self.attribute(line, head)?;
        } else if !line.is_empty() && !line.starts_with("//") {
            return Ok(false);
        }
        Ok(true)
    }

    fn attribute(&mut self, first: &str, head: &mut Head) -> Result<(), String> {
        let mut whole = first.to_owned();
        while closing(&whole).is_none() {
            let Some(more) = self.line() else { return self.fail("an attribute without end") };
            whole.push_str(more.trim());
        }
        if closing(&whole) != Some(whole.len() - 1) {
            return self.fail("only one attribute in a line is understood");
        }
        let text = whole.trim_start_matches("#[").trim_end_matches(']');
        let (name, inner) = match text.split_once('(') {
            Some((name, rest)) => (name, rest.trim_end_matches(')')),
            None => (text, ""),
        };
        match name {
            "derive" => {
                let is_serialize = |name: &&str| name.rsplit("::").next() == Some("Serialize");
                head.is_serialize |= split(inner).iter().any(is_serialize);
            }
            "serde" => {
                for item in split(inner) {
                    head.serde.set(item).or_else(|why| self.fail(&why))?;
                }
            }
            "cfg" if inner == "test" => head.is_test = true,
            "allow" | "expect" | "must_use" | "non_exhaustive" => {}
            _ => head.odd = Some(whole),
        }
        Ok(())
    }

    fn item(&mut self, line: &str, head: Head, source: &mut Source) -> Result<(), String> {
        let bare = without_visibility(line);
        let word = bare.split([' ', '<']).next().unwrap_or(bare);
        match word {
            _ if head.is_test => self.skip(line, Ends::Bracket),
            "struct" | "enum" => match &head.odd {
                Some(odd) => self.fail(&format!("`{odd}` is not understood")),
                None if !head.is_serialize => self.skip(line, Ends::Bracket),
                None => {
                    source.types.push(self.named(bare, head)?);
                    Ok(())
                }
            },
            "mod" if bare.ends_with(';') => {
                source.modules.push(bare["mod".len()..].trim_matches([' ', ';']).to_owned());
                Ok(())
            }
            "impl" if bare.contains("Serialize for") || bare.ends_with("Serialize") => {
                self.fail("a `Serialize` by hand doesn't say what it writes")
            }
            "fn" | "impl" => self.skip(line, Ends::Bracket),
            "use" | "const" | "static" if bare.ends_with(['{', '[', '(']) => {
                self.skip(line, Ends::Bracket)
            }
            "use" | "const" | "static" => self.skip(line, Ends::Semicolon),
            _ => self.fail("this item is not understood"),
        }
    }

    /// Passes over an item whose first line was read.
    fn skip(&mut self, first: &str, ends: Ends) -> Result<(), String> {
        let start = self.at();
        if first.ends_with(['}', ';']) {
            return Ok(());
        }
        while let Some(line) = self.line() {
            let is_end = match ends {
                Ends::Bracket => line.starts_with(['}', ']', ')']) && line.ends_with(['}', ';']),
                Ends::Semicolon => line.ends_with(';'),
            };
            if is_end {
                return Ok(());
            }
        }
        Err(format!("{start}: the end of this item is not found"))
    }

    /// A struct or an enum, from its first line without `pub`.
    fn named(&mut self, line: &str, head: Head) -> Result<Type, String> {
        let at = self.at();
        let opened = line.strip_suffix(" {").and_then(|rest| rest.split_once(' '));
        let Some((word, title)) = opened else {
            return self.fail("only types with named fields or variants are understood");
        };
        let (name, arguments) = generic(title);
        if arguments.iter().any(|argument| !argument.starts_with('\'')) {
            return self.fail("type parameters are not understood");
        }
        let name = name.to_owned();
        let shape = match word {
            "struct" => Shape::Struct(self.fields("}")?),
            _ => Shape::Enum(self.variants()?),
        };
        Ok(Type { path: self.path.to_owned(), at, name, head, shape })
    }

    fn fields(&mut self, end: &str) -> Result<Vec<Field>, String> {
        let mut fields = Vec::new();
        let mut head = Head::default();
        while let Some(line) = self.line() {
            if line.trim() == end {
                return Ok(fields);
            }
            if !self.head(line, &mut head)? {
                let Some(text) = line.strip_suffix(',') else {
                    return self.fail("this field is not understood");
                };
                fields.push(self.field(text, std::mem::take(&mut head))?);
            }
        }
        self.fail("fields without end")
    }

    fn field(&self, text: &str, head: Head) -> Result<Field, String> {
        let Some((name, ty)) = without_visibility(text.trim()).split_once(": ") else {
            return self.fail("this field is not understood");
        };
        self.no_odd(&head)?;
        let name = name.trim_start_matches("r#").to_owned();
        Ok(Field { at: self.at(), name, ty: ty.to_owned(), head })
    }

    fn no_odd(&self, head: &Head) -> Result<(), String> {
        match &head.odd {
            Some(odd) => self.fail(&format!("`{odd}` is not understood")),
            None => Ok(()),
        }
    }

    fn variants(&mut self) -> Result<Vec<Variant>, String> {
        let mut variants = Vec::new();
        let mut head = Head::default();
        while let Some(line) = self.line() {
            if line == "}" {
                return Ok(variants);
            }
            if !self.head(line, &mut head)? {
                self.no_odd(&head)?;
                if head.serde.is_untagged {
                    return self.fail("a single variant without tag is not understood");
                }
                let (name, content) = self.variant(line.trim())?;
                variants.push(Variant { name, head: std::mem::take(&mut head), content });
            }
        }
        self.fail("variants without end")
    }

    fn variant(&mut self, line: &str) -> Result<(String, Content), String> {
        let end = line.find(|c: char| !c.is_alphanumeric()).unwrap_or(line.len());
        let (name, rest) = line.split_at(end);
        let inside = |open, close| rest.strip_prefix(open)?.strip_suffix(close);
        let content = if rest == "," {
            Content::Nothing
        } else if rest == " {" {
            Content::Fields(self.fields("},")?)
        } else if let Some(inner) = inside(" { ", " },") {
            let fields = split(inner).into_iter().map(|text| self.field(text, Head::default()));
            Content::Fields(fields.collect::<Result<_, _>>()?)
        } else if let Some(&[ty]) = inside("(", "),").map(split).as_deref() {
            let serde = Serde { is_flat: true, ..Serde::default() };
            let head = Head { serde, ..Head::default() };
            Content::One(Field { at: self.at(), name: name.to_owned(), ty: ty.to_owned(), head })
        } else {
            return self.fail("this variant is not understood");
        };
        Ok((name.to_owned(), content))
    }
}

/// How an item ends that is passed over.
#[derive(Clone, Copy)]
enum Ends {
    /// With a bracket in the first column.
    Bracket,
    Semicolon,
}

fn doc_line(text: &str) -> String {
    text.strip_prefix(' ').unwrap_or(text).trim_end().to_owned()
}

/// Where the first bracket of an attribute is closed.
fn closing(attribute: &str) -> Option<usize> {
    let (mut depth, mut is_quoted) = (0, false);
    for (at, c) in attribute.char_indices() {
        match c {
            '"' => is_quoted = !is_quoted,
            _ if is_quoted => {}
            '[' => depth += 1,
            ']' if depth == 1 => return Some(at),
            ']' => depth -= 1,
            _ => {}
        }
    }
    None
}

fn without_visibility(text: &str) -> &str {
    ["pub(crate) ", "pub(super) ", "pub "]
        .iter()
        .find_map(|visibility| text.strip_prefix(visibility))
        .unwrap_or(text)
}

/// Splits at the commas that stand in no brackets and no quotes.
fn split(text: &str) -> Vec<&str> {
    let (mut parts, mut start, mut depth, mut is_quoted) = (Vec::new(), 0, 0, false);
    for (at, c) in text.char_indices() {
        match c {
            '"' => is_quoted = !is_quoted,
            _ if is_quoted => {}
            '<' | '(' | '[' => depth += 1,
            '>' | ')' | ']' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(text[start..].trim());
    parts.retain(|part| !part.is_empty());
    parts
}

/// The last word of a type's path, and its arguments.
fn generic(ty: &str) -> (&str, Vec<&str>) {
    let (path, arguments) = match ty.strip_suffix('>').and_then(|rest| rest.split_once('<')) {
        Some((path, inner)) => (path, split(inner)),
        None => (ty, Vec::new()),
    };
    (path.rsplit("::").next().unwrap_or(path), arguments)
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
        let row = format!("| `{name}` | {words} | {}", cell(field)?);
        Ok(vec![row.trim_end().to_owned() + " |"])
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

    const DERIVE: &str = "#[derive(Serialize)]\n";
    const LINE: &str = "#[derive(Serialize)]\n#[serde(tag = \"type\", rename = \"a\")]\n";

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
            let expected = format!("| `x` | {words} | |");
            assert_eq!(rows(&format!("    pub(crate) x: {ty},"), ""), Ok(expected));
        }
    }

    #[test]
    fn names_are_those_of_the_output() {
        let fields = r##"    r#type: bool,
    /// One
    /// a|b.
    #[serde(
        rename = "y z",
        skip_serializing_if = "is, none"
    )]
    x: u8,"##;
        let expected = "| `type` | yes/no | |\n| `y z` | number, or left out | One a\\|b. |";
        assert_eq!(rows(fields, ""), Ok(expected.into()));
    }

    #[test]
    fn enums_in_fields() {
        let untagged = format!(
            "{DERIVE}#[serde(untagged)]\nenum X {{\n    A(String),\n    B(Vec<Value>),\n}}"
        );
        let expected = "| `x` | text or list of any JSON, or null | |";
        assert_eq!(rows("    x: Option<X>,", &untagged), Ok(expected.into()));
        let words = format!(
            "{DERIVE}#[serde(rename_all = \"kebab-case\")]\nenum X {{\n    OneWay,\n    Other,\n}}"
        );
        assert_eq!(rows("    x: X,", &words), Ok("| `x` | `one-way` or `other` | |".into()));
    }

    #[test]
    fn variants_are_lines() {
        let text = r#"
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum A {
    /// First.
    OneLine { x: u8, y: Vec<B> },
    #[serde(rename = "b")]
    Other(B),
    Last,
}

#[derive(Serialize)]
struct B {
    z: u8,
}
"#;
        let expected = "\
### `one_line`

First.

| field | type | meaning |
|---|---|---|
| `type` | text | `one_line` |
| `x` | number | |
| `y` | list of [objects](#y-in-one_line) | |

#### `y` in `one_line`

| field | type | meaning |
|---|---|---|
| `z` | number | |

### `b`

| field | type | meaning |
|---|---|---|
| `type` | text | `b` |
| `z` | number | |

### `last`

| field | type | meaning |
|---|---|---|
| `type` | text | `last` |
";
        assert_eq!(page(text).as_deref(), Ok(expected));
    }

    #[test]
    fn two_objects_of_one_name_have_two_headings() {
        let more = "
#[derive(Serialize)]
struct B {
    x: C,
    me: Vec<B>,
}

#[derive(Serialize)]
struct C {
    y: u8,
}
";
        let text = rows("    x: B,", more).expect("understood");
        let links: Vec<_> = text.lines().filter(|line| line.contains("(#")).collect();
        assert_eq!(
            links,
            [
                "| `x` | [object](#x-in-a) | |",
                "| `x` | [object](#xx-in-a) | |",
                "| `me` | list of [objects](#x-in-a) | |"
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
        assert_eq!(rows("    x: u8,", more), Ok("| `x` | number | |".into()));
    }

    #[test]
    fn what_is_not_understood_fails() {
        let own = |text: &str| page(text).expect_err("not understood");
        let field = |text: &str| rows(text, "").expect_err("not understood");
        // The line of the field is 6, after the docs and the head of the struct.
        for fields in [
            "    x: Strange,",
            "    x: (u8, u8),",
            "    x: u8, // why",
            "    #[serde(flatten)] x: u8,",
            "    /// - a list\n    x: u8,",
        ] {
            let line = 6 + fields.matches('\n').count();
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
            ("#[derive(Serialize)]\nstruct A {\n    x: u8,\n}", "x.rs:4: no line has a `A`"),
        ] {
            let message = own(text);
            assert!(message.starts_with(why), "{message}");
        }
    }
}
