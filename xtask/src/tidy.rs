//! `xtask tidy`: signs that a piece of code wants to be looked at again, counted.
//!
//! Prints the totals and the ten worst of each. `xtask/tidy.json` holds the totals; a test fails
//! when one of them grows, and `--write` lowers them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use syn::spanned::Spanned;
use syn::visit::{self, Visit};

const USAGE: &str = "usage: xtask tidy [--write]";

/// Where the totals are held, from the root of the repository.
pub const TOTALS: &str = "xtask/tidy.json";

/// A longer function is a sign.
const MAX_FUNCTION_LINES: usize = 60;
/// A longer file is a sign.
const MAX_FILE_LINES: usize = 600;
/// A function with more parameters is a sign.
const MAX_PARAMETERS: usize = 5;
/// So many are printed of each sign.
const WORST: usize = 10;

/// One place with a sign.
#[derive(Debug, Clone)]
struct Finding {
    /// How bad it is; what that is depends on the sign.
    weight: usize,
    place: String,
}

/// Everything that was found, by sign.
#[derive(Debug, Default)]
pub struct Findings(BTreeMap<&'static str, Vec<Finding>>);

impl Findings {
    fn add(&mut self, sign: &'static str, weight: usize, place: String) {
        self.0.entry(sign).or_default().push(Finding { weight, place });
    }

    /// How often each sign was found.
    pub fn totals(&self) -> BTreeMap<String, usize> {
        SIGNS
            .iter()
            .map(|sign| ((*sign).to_owned(), self.0.get(sign).map_or(0, Vec::len)))
            .collect()
    }

    fn print(&self) {
        for sign in SIGNS {
            let mut found = self.0.get(sign).cloned().unwrap_or_default();
            println!("{sign}: {}", found.len());
            found.sort_by(|a, b| b.weight.cmp(&a.weight).then_with(|| a.place.cmp(&b.place)));
            for finding in found.iter().take(WORST) {
                println!("  {:>4}  {}", finding.weight, finding.place);
            }
        }
    }
}

const SHARED_NAMES: &str = "public types that share their name";
const LONG_FUNCTIONS: &str = "functions over 60 lines";
const LONG_FILES: &str = "files over 600 lines";
const MANY_PARAMETERS: &str = "functions with more than 5 parameters";
const BARE_BOOLS: &str = "functions with a bare bool";
const ONE_WORD: &str = "public functions of one word";
const SIGNS: [&str; 6] =
    [SHARED_NAMES, LONG_FUNCTIONS, LONG_FILES, MANY_PARAMETERS, BARE_BOOLS, ONE_WORD];

/// Runs the command; the error is what to tell the person.
pub fn run(args: &[String]) -> Result<(), String> {
    let is_written = match args {
        [] => false,
        [flag] if flag == "--write" => true,
        _ => return Err(USAGE.into()),
    };
    let findings = look(Path::new("crates"))?;
    findings.print();
    if is_written {
        let text = serde_json::to_string_pretty(&findings.totals()).map_err(|e| e.to_string())?;
        fs::write(TOTALS, text + "\n").map_err(|e| format!("{TOTALS}: {e}"))?;
    }
    Ok(())
}

/// Looks at all shipped code below a folder: not at tests, and not at what is for development.
pub fn look(crates: &Path) -> Result<Findings, String> {
    let mut files = Vec::new();
    for name in ["transcript", "store", "report", "ask", "lake", "app", "cli"] {
        rust_files(&crates.join(name).join("src"), &mut files)?;
    }
    files.sort();
    let mut code = Code::default();
    for file in files {
        let text = fs::read_to_string(&file).map_err(|e| format!("{}: {e}", file.display()))?;
        let parsed = syn::parse_file(&text).map_err(|e| format!("{}: {e}", file.display()))?;
        code.file = file.display().to_string();
        let lines = text.lines().count();
        if lines > MAX_FILE_LINES {
            code.findings.add(LONG_FILES, lines, code.file.clone());
        }
        code.visit_file(&parsed);
    }
    for (name, places) in &code.types {
        if places.len() > 1 {
            for place in places {
                code.findings.add(SHARED_NAMES, places.len(), format!("{name}  {place}"));
            }
        }
    }
    Ok(code.findings)
}

fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) -> Result<(), String> {
    let entries = fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    for path in entries.flatten().map(|entry| entry.path()) {
        let is_test = path.file_stem().is_some_and(|stem| stem == "tests");
        if path.is_dir() && !is_test {
            rust_files(&path, found)?;
        } else if path.extension().is_some_and(|end| end == "rs") && !is_test {
            found.push(path);
        }
    }
    Ok(())
}

/// What is known while files are read.
#[derive(Default)]
struct Code {
    file: String,
    types: BTreeMap<String, Vec<String>>,
    findings: Findings,
}

impl Code {
    fn define(&mut self, name: &syn::Ident, visibility: &syn::Visibility) {
        if matches!(visibility, syn::Visibility::Public(_)) {
            self.types.entry(name.to_string()).or_default().push(self.file.clone());
        }
    }

    fn function(&mut self, signature: &syn::Signature, lines: usize, is_public: bool) {
        let name = signature.ident.to_string();
        let place = format!("{name}  {}", self.file);
        if lines > MAX_FUNCTION_LINES {
            self.findings.add(LONG_FUNCTIONS, lines, place.clone());
        }
        let parameters = signature.inputs.len();
        if parameters > MAX_PARAMETERS {
            self.findings.add(MANY_PARAMETERS, parameters, place.clone());
        }
        let bools = signature.inputs.iter().filter(|input| is_bool(input)).count();
        if bools > 0 {
            self.findings.add(BARE_BOOLS, bools, place.clone());
        }
        if is_public && !name.contains('_') {
            self.findings.add(ONE_WORD, 1, place);
        }
    }
}

fn is_bool(input: &syn::FnArg) -> bool {
    let syn::FnArg::Typed(typed) = input else { return false };
    matches!(&*typed.ty, syn::Type::Path(path) if path.path.is_ident("bool"))
}

fn lines_of(node: &impl Spanned) -> usize {
    let span = node.span();
    span.end().line - span.start().line + 1
}

fn is_for_tests(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && matches!(&attribute.meta, syn::Meta::List(list) if list.tokens.to_string() == "test")
    })
}

impl<'ast> Visit<'ast> for Code {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !is_for_tests(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        self.define(&item.ident, &item.vis);
        visit::visit_item_struct(self, item);
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        self.define(&item.ident, &item.vis);
        visit::visit_item_enum(self, item);
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        self.define(&item.ident, &item.vis);
        visit::visit_item_trait(self, item);
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        let is_public = matches!(item.vis, syn::Visibility::Public(_));
        self.function(&item.sig, lines_of(item), is_public);
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        let is_public = matches!(item.vis, syn::Visibility::Public(_));
        self.function(&item.sig, lines_of(item), is_public);
        visit::visit_impl_item_fn(self, item);
    }
}
