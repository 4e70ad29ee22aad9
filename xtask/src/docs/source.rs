//! The reader of the wire files.
//!
//! They are read line by line in the shape that rustfmt gives them, which needs no parser of Rust.
//! What is not understood is an error that names its file and line: a field that is quietly left
//! out would make the reference wrong, and so would one that nobody has described. Functions and
//! `impl` blocks are passed over, and so are types that don't derive `Serialize`.

/// A wire file.
#[derive(Debug, Default)]
pub struct Source {
    pub path: String,
    pub docs: Vec<String>,
    pub modules: Vec<String>,
    pub types: Vec<Type>,
}

/// A type that is serialised.
#[derive(Debug)]
pub struct Type {
    /// Its file.
    pub path: String,
    /// Its place, which is also what tells it from the others.
    pub at: String,
    pub name: String,
    pub head: Head,
    pub shape: Shape,
}

#[derive(Debug)]
pub enum Shape {
    Struct(Vec<Field>),
    Enum(Vec<Variant>),
}

#[derive(Debug)]
pub struct Variant {
    pub name: String,
    pub head: Head,
    pub content: Content,
}

#[derive(Debug)]
pub enum Content {
    Nothing,
    /// `Name(Type)`, as a flattened field.
    One(Field),
    Fields(Vec<Field>),
}

#[derive(Debug)]
pub struct Field {
    pub at: String,
    pub name: String,
    pub ty: String,
    pub head: Head,
}

/// What stands above an item: docs and attributes.
#[derive(Debug, Default)]
pub struct Head {
    pub docs: Vec<String>,
    is_serialize: bool,
    is_test: bool,
    pub serde: Serde,
    /// An attribute that could change what is serialised.
    odd: Option<String>,
}

#[derive(Debug, Default)]
pub struct Serde {
    pub tag: Option<String>,
    pub rename: Option<String>,
    pub rename_all: Option<String>,
    pub is_untagged: bool,
    pub is_flat: bool,
    pub may_be_left_out: bool,
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
    /// Reads the text of a file.
    pub fn read(path: &str, text: &str) -> Result<Self, String> {
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
        self.has_docs(name, &head)?;
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
        self.has_docs(name, &head)?;
        let name = name.trim_start_matches("r#").to_owned();
        Ok(Field { at: self.at(), name, ty: ty.to_owned(), head })
    }

    fn no_odd(&self, head: &Head) -> Result<(), String> {
        match &head.odd {
            Some(odd) => self.fail(&format!("`{odd}` is not understood")),
            None => Ok(()),
        }
    }

    /// The reference has nothing to say of what has no docs. Flattened fields are not on it.
    fn has_docs(&self, name: &str, head: &Head) -> Result<(), String> {
        match head.serde.is_flat || head.docs.iter().any(|line| !line.is_empty()) {
            true => Ok(()),
            false => self.fail(&format!("`{name}` has no doc comment")),
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
                variants.push(self.variant(line.trim(), std::mem::take(&mut head))?);
            }
        }
        self.fail("variants without end")
    }

    fn variant(&mut self, line: &str, head: Head) -> Result<Variant, String> {
        let end = line.find(|c: char| !c.is_alphanumeric()).unwrap_or(line.len());
        let (name, rest) = line.split_at(end);
        self.has_docs(name, &head)?;
        let inside = rest.strip_prefix('(').and_then(|rest| rest.strip_suffix("),"));
        let content = if rest == "," {
            Content::Nothing
        } else if rest == " {" {
            Content::Fields(self.fields("},")?)
        } else if rest.starts_with(" {") {
            return self.fail("fields in one line have no doc comments");
        } else if let Some(&[ty]) = inside.map(split).as_deref() {
            let serde = Serde { is_flat: true, ..Serde::default() };
            let head = Head { serde, ..Head::default() };
            Content::One(Field { at: self.at(), name: name.to_owned(), ty: ty.to_owned(), head })
        } else {
            return self.fail("this variant is not understood");
        };
        Ok(Variant { name: name.to_owned(), head, content })
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
pub fn generic(ty: &str) -> (&str, Vec<&str>) {
    let (path, arguments) = match ty.strip_suffix('>').and_then(|rest| rest.split_once('<')) {
        Some((path, inner)) => (path, split(inner)),
        None => (ty, Vec::new()),
    };
    (path.rsplit("::").next().unwrap_or(path), arguments)
}
