//! Runs a scenario: its steps one by one, then the comparisons that hold for every session.
//!
//! The result is a list of differences. A step that cannot be done (the screen never shows what
//! it should) is a difference too, and ends the steps.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use super::compare;
use super::home::{ClientHome, Ran, finish};
use super::script::{Action, Check, Print, Scenario};
use super::terminal::Window;

/// What every run with `-p` gets, unless the scenario says otherwise.
const PERMISSIONS: [&str; 2] = ["--permission-mode", "bypassPermissions"];
/// The longest wait for a file of the client.
const PATIENCE: Duration = Duration::from_secs(20);
/// What still runs after this time was left behind and is ended.
const LEFT_BEHIND: Duration = Duration::from_secs(2);

/// Where recount and the truth are not the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// What was compared: `context`, `tokens`, `expect`, …
    pub what: String,
    /// What it should be and what it is.
    pub detail: String,
}

impl Difference {
    /// A difference in what was compared.
    pub fn new(what: &str, detail: impl Into<String>) -> Self {
        Self { what: what.to_owned(), detail: detail.into() }
    }
}

/// A scenario that was run.
#[derive(Debug)]
pub struct Report {
    /// Its name.
    pub name: String,
    /// All differences.
    pub differences: Vec<Difference>,
    /// Names that recount does not know, as `doctor` says them.
    pub unknown: Vec<String>,
    /// All files below the client's config folder, relative to it.
    pub files: Vec<PathBuf>,
    /// How long it took.
    pub took: Duration,
}

/// Which programs are run, and where the home is left.
#[derive(Debug, Clone)]
pub struct Setup {
    /// The client's version.
    pub version: String,
    /// The recount program.
    pub recount: PathBuf,
    /// A folder for the homes, if they are to be kept.
    pub keep: Option<PathBuf>,
}

/// Runs a scenario.
pub fn run(scenario: &Scenario, setup: &Setup) -> Result<Report, String> {
    let begun = Instant::now();
    let home = ClientHome::new(&setup.version, &setup.recount)?;
    let mut stage = Stage {
        home,
        sessions: BTreeMap::new(),
        windows: BTreeMap::new(),
        current: String::new(),
        begun: BTreeMap::new(),
        watch: None,
        without_context: Vec::new(),
        is_unlisted: false,
        differences: Vec::new(),
    };
    for step in &scenario.steps {
        if let Err(why) = stage.perform(&step.action) {
            stage.differ("script", format!("line {}: {why}", step.line));
            break;
        }
    }
    let has_terminal = !stage.current.is_empty();
    stage.windows.clear();
    let unknown = compare::unknown_names(&stage.home)?;
    let files = stage.home.config_files();
    stage.compare_all(has_terminal)?;
    if let Some(folder) = &setup.keep {
        stage.home.keep(&folder.join(format!("home-{}", scenario.name)))?;
    }
    let Stage { differences, .. } = stage;
    Ok(Report { name: scenario.name.clone(), differences, unknown, files, took: begun.elapsed() })
}

/// A scenario on its way.
struct Stage {
    home: ClientHome,
    /// Session ids by the names that steps gave them.
    sessions: BTreeMap<String, String>,
    windows: BTreeMap<String, Window>,
    current: String,
    begun: BTreeMap<String, Child>,
    watch: Option<Watch>,
    without_context: Vec<String>,
    /// The client's list leaves a session out.
    is_unlisted: bool,
    differences: Vec<Difference>,
}

/// A `recount watch` that runs, and what it has said so far.
struct Watch {
    child: Child,
    said: Arc<Mutex<String>>,
}

impl Drop for Watch {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Stage {
    fn differ(&mut self, what: &str, detail: impl Into<String>) {
        self.differences.push(Difference::new(what, detail));
    }

    fn window(&self) -> Result<&Window, String> {
        self.windows.get(&self.current).ok_or_else(|| "no terminal is open".to_owned())
    }

    /// A text with folders and session ids in place of their names.
    fn fill(&self, text: &str) -> String {
        let mut text = text
            .replace("$WORK", &self.home.work().display().to_string())
            .replace("$CONFIG", &self.home.config().display().to_string())
            .replace("$HOME", &self.home.home().display().to_string())
            .replace("$CLIENT", &self.home.program().display().to_string())
            .replace("$URL", &self.home.server.url());
        // Longer names first, so that `$one` does not eat `$one_more`.
        let mut names: Vec<_> = self.sessions.iter().collect();
        names.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
        for (name, id) in names {
            text = text.replace(&format!("${name}"), id);
        }
        text
    }

    fn fill_json(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.fill(text)),
            Value::Array(all) => all.iter().map(|value| self.fill_json(value)).collect(),
            Value::Object(fields) => {
                let filled = fields.iter().map(|(name, v)| (name.clone(), self.fill_json(v)));
                Value::Object(filled.collect::<Map<_, _>>())
            }
            other => other.clone(),
        }
    }

    fn session(&self, name: &str) -> Result<String, String> {
        self.sessions.get(name).cloned().ok_or_else(|| format!("no session is named `{name}`"))
    }

    fn perform(&mut self, action: &Action) -> Result<(), String> {
        match action {
            Action::File { path, text } => self.write(path, text),
            Action::Shell(script) => self.shell(script),
            Action::Env { name, value } => {
                let value = self.fill(value);
                self.home.set_env(name, &value);
                Ok(())
            }
            Action::Model { queue, turns } => {
                self.script(queue, turns);
                Ok(())
            }
            Action::Print(print) => {
                let child = self.begin(print)?;
                self.end(print, child)
            }
            Action::Begin(print) => {
                let child = self.begin(print)?;
                self.begun.insert(print.name.clone(), child);
                Ok(())
            }
            Action::End(name) => {
                let child = self.begun.remove(name).ok_or(format!("`{name}` was not begun"))?;
                let print = Print {
                    name: name.clone(),
                    prompt: String::new(),
                    args: Vec::new(),
                    exit: 0,
                    cwd: None,
                };
                self.end(&print, child)
            }
            Action::Expect { session, fields } => self.expect(session, fields),
            Action::Recount { args, checks } => self.recount(args, checks),
            Action::Watch => self.watch(),
            Action::Watched(checks) => self.watched(checks),
            Action::Picker => self.picker(),
            Action::ReadWhileWriting => self.read_while_writing(),
            Action::NoPicker => {
                self.is_unlisted = true;
                Ok(())
            }
            Action::NoContext { session } => {
                self.without_context.push(session.clone());
                Ok(())
            }
            Action::Pause(milliseconds) => {
                thread::sleep(Duration::from_millis(*milliseconds));
                Ok(())
            }
            Action::Terminal { name, args } => {
                let args: Vec<String> = args.iter().map(|arg| self.fill(arg)).collect();
                let window = Window::start(&self.home, &args)?;
                self.windows.insert(name.clone(), window);
                self.current = name.clone();
                Ok(())
            }
            Action::Switch(name) => {
                self.current = name.clone();
                self.window().map(drop)
            }
            Action::Session(name) => {
                let id = self.window()?.session(&self.home)?;
                self.sessions.insert(name.clone(), id);
                Ok(())
            }
            Action::Newest(name) => self.newest(name),
            Action::Type(text) => self.window()?.type_line(&self.fill(text)),
            Action::Text(text) => self.window()?.text(&self.fill(text)),
            Action::Paste(length) => self.window()?.paste(*length),
            Action::Keys(keys) => self.window()?.keys(keys),
            Action::See(text) => self.window()?.see(&self.fill(text)),
            Action::Gone(text) => self.window()?.gone(&self.fill(text)),
            Action::Idle => self.window()?.idle(&self.home),
            Action::Close => self.close(false),
            Action::Kill => self.close(true),
        }
    }

    /// Waits for the first transcript, if there is none yet.
    fn newest(&mut self, name: &str) -> Result<(), String> {
        let begun = Instant::now();
        loop {
            let sessions = self
                .home
                .transcripts()
                .into_iter()
                .filter(|file| !file.components().any(|part| part.as_os_str() == "subagents"));
            let newest =
                sessions.max_by_key(|file| fs::metadata(file).and_then(|m| m.modified()).ok());
            if let Some(id) = newest.and_then(|file| Some(file.file_stem()?.to_str()?.to_owned())) {
                self.sessions.insert(name.to_owned(), id);
                return Ok(());
            }
            if begun.elapsed() > PATIENCE {
                return Err("no session was written".into());
            }
            thread::sleep(Duration::from_millis(50));
        }
    }

    fn close(&mut self, by_signal: bool) -> Result<(), String> {
        let window = self.windows.remove(&self.current).ok_or("no terminal is open")?;
        if by_signal { window.kill() } else { window.close() }
    }

    fn write(&self, path: &str, text: &str) -> Result<(), String> {
        let path = self.home.work().join(self.fill(path));
        let failed = |e: std::io::Error| format!("{}: {e}", path.display());
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(failed)?;
        }
        fs::write(&path, self.fill(text)).map_err(failed)
    }

    fn shell(&self, script: &str) -> Result<(), String> {
        let mut shell = Command::new("bash");
        shell.args(["-e", "-c", &self.fill(script)]).current_dir(self.home.work());
        shell.env_clear().envs(self.home.environment()).stdin(Stdio::null());
        let done = shell.output().map_err(|e| format!("bash: {e}"))?;
        match done.status.success() {
            true => Ok(()),
            false => Err(format!("shell: {}", String::from_utf8_lossy(&done.stderr))),
        }
    }

    fn script(&self, queue: &str, turns: &[super::turn::Turn]) {
        use super::turn::Block;
        let turns = turns.iter().cloned().map(|mut turn| {
            for block in &mut turn.blocks {
                match block {
                    Block::Text(text) | Block::Thinking(text) => *text = self.fill(text),
                    Block::Call { input, .. } => *input = self.fill_json(input),
                }
            }
            turn
        });
        self.home.server.script(queue, turns);
    }

    fn begin(&self, print: &Print) -> Result<Child, String> {
        let mut args = vec!["-p".to_owned(), self.fill(&print.prompt)];
        if !print.args.iter().any(|arg| arg == "--permission-mode") {
            args.extend(PERMISSIONS.map(str::to_owned));
        }
        match print.args.iter().any(|arg| arg == "stream-json") {
            true => args.push("--verbose".to_owned()),
            false => args.extend(["--output-format", "json"].map(str::to_owned)),
        }
        args.extend(print.args.iter().map(|arg| self.fill(arg)));
        let cwd = print.cwd.as_deref().map(|cwd| PathBuf::from(self.fill(cwd)));
        let cwd = cwd.unwrap_or_else(|| self.home.work());
        self.home.client(&args, &cwd).spawn().map_err(|e| format!("client: {e}"))
    }

    fn end(&mut self, print: &Print, child: Child) -> Result<(), String> {
        let ran = finish(child)?;
        let ids = ran.rows();
        let id = ids.iter().rev().find_map(|row| row["session_id"].as_str());
        let said = || format!("`{}`: exit {:?}\n{}{}", print.name, ran.code, ran.out, ran.err);
        match id {
            Some(id) => self.sessions.insert(print.name.clone(), id.to_owned()),
            None => return Err(said()),
        };
        if ran.code == Some(print.exit) { Ok(()) } else { Err(said()) }
    }

    fn expect(&mut self, name: &str, fields: &[(String, Value)]) -> Result<(), String> {
        let id = self.session(name)?;
        let Some(row) = compare::list_row(&self.home, &id)? else {
            self.differ("expect", format!("{name}: not in `recount list`"));
            return Ok(());
        };
        for (field, wanted) in fields {
            let (wanted, is) = (self.fill_json(wanted), &row[field]);
            if wanted != *is {
                self.differ("expect", format!("{name}: {field} should be {wanted}, is {is}"));
            }
        }
        Ok(())
    }

    fn recount(&mut self, args: &str, checks: &[Check]) -> Result<(), String> {
        let filled = split_words(&self.fill(args));
        let ran = self.home.recount(&filled)?;
        let wrong = self.wrong(args, &ran, checks);
        self.differences.extend(wrong);
        let mut exits = checks.iter().filter_map(|check| match check {
            Check::Exit(code) => Some(*code),
            _ => None,
        });
        let wanted = exits.next().unwrap_or(0);
        if ran.code != Some(wanted) {
            let detail = format!("{args}: exit {:?}, not {wanted}", ran.code);
            self.differ("recount", format!("{detail}\n{}{}", shortened(&ran.out), ran.err));
        }
        Ok(())
    }

    /// What recount has said, held against what it should have.
    fn wrong(&self, args: &str, ran: &Ran, checks: &[Check]) -> Vec<Difference> {
        let mut differences = Vec::new();
        let rows = ran.rows();
        let count = |fields: &Value| rows.iter().filter(|row| includes(row, fields)).count();
        for check in checks {
            let wrong = match check {
                Check::Exit(_) => None,
                Check::Has(text) => {
                    let text = self.fill(text);
                    (!ran.out.contains(&text)).then(|| format!("should have `{text}`"))
                }
                Check::Lacks(text) => {
                    let text = self.fill(text);
                    ran.out.contains(&text).then(|| format!("should not have `{text}`"))
                }
                Check::Row(fields) => {
                    let fields = self.fill_json(fields);
                    (count(&fields) == 0).then(|| format!("no row with {fields}"))
                }
                Check::Rows(wanted, fields) => {
                    let fields = self.fill_json(fields);
                    let found = count(&fields);
                    (found != *wanted).then(|| format!("{found} rows with {fields}, not {wanted}"))
                }
            };
            if let Some(wrong) = wrong {
                let detail = format!("{args}: {wrong}\n{}", shortened(&ran.out));
                differences.push(Difference::new("recount", detail));
            }
        }
        differences
    }

    fn watch(&mut self) -> Result<(), String> {
        let mut command = self.home.recount_command(&["watch", "--json"].map(str::to_owned));
        let mut child = command.spawn().map_err(|e| format!("recount watch: {e}"))?;
        let said = Arc::new(Mutex::new(String::new()));
        if let Some(out) = child.stdout.take() {
            let said = Arc::clone(&said);
            thread::spawn(move || {
                for line in BufReader::new(out).lines().map_while(Result::ok) {
                    let mut said = said.lock().unwrap_or_else(PoisonError::into_inner);
                    *said += &(line + "\n");
                }
            });
        }
        self.watch = Some(Watch { child, said });
        Ok(())
    }

    /// Waits until `recount watch` has said what it should.
    fn watched(&mut self, checks: &[Check]) -> Result<(), String> {
        let begun = Instant::now();
        loop {
            let watch = self.watch.as_ref().ok_or("recount does not watch")?;
            let out = watch.said.lock().unwrap_or_else(PoisonError::into_inner).clone();
            let ran = Ran { code: None, out, err: String::new() };
            let wrong = self.wrong("watch", &ran, checks);
            if wrong.is_empty() || begun.elapsed() > PATIENCE {
                self.differences.extend(wrong);
                return Ok(());
            }
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// Opens the client's list of sessions and looks for each title of `recount list`.
    fn picker(&mut self) -> Result<(), String> {
        let titles = compare::titles(&self.home)?;
        let window = Window::start_picker(&self.home)?;
        let screen = window.screen()?;
        for title in titles {
            // The list cuts long titles.
            let begin: String = title.chars().take(60).collect();
            if !screen.contains(begin.trim_end()) {
                self.differ("titles", format!("`{title}` is not in the client's list:\n{screen}"));
            }
        }
        window.kill()
    }

    /// While clients write: every answer of recount has at least what the one before had, and a
    /// session whose client runs is never said to have ended.
    fn read_while_writing(&mut self) -> Result<(), String> {
        let mut seen: BTreeMap<String, (u64, usize)> = BTreeMap::new();
        let mut wrong = Vec::new();
        let mut looks = 0;
        loop {
            let running = self.begun.values_mut().any(|child| matches!(child.try_wait(), Ok(None)));
            let before = compare::registered(&self.home);
            let rows = self.home.recount(&["list".into(), "--json".into()])?.rows();
            let after = compare::registered(&self.home);
            for row in rows.iter().filter(|row| row["type"] == "session") {
                let id = row["session"].as_str().unwrap_or_default().to_owned();
                let state = row["state"].as_str().unwrap_or_default();
                let runs = before.contains(&id) && after.contains(&id);
                if runs && !matches!(state, "live" | "waiting") {
                    wrong.push(format!("{id} runs and is said to be {state}"));
                }
                let size = row["size"].as_u64().unwrap_or(0);
                let shown = self.home.recount(&["show".into(), id.clone(), "--json".into()])?;
                let lines = shown.rows().len();
                let last = seen.entry(id.clone()).or_default();
                if size < last.0 || lines < last.1 {
                    wrong.push(format!("{id} had {last:?}, now {:?}", (size, lines)));
                }
                *last = (size, lines);
            }
            looks += 1;
            if !running {
                break;
            }
        }
        if looks < 5 {
            wrong.push(format!("looked only {looks} times while clients wrote"));
        }
        wrong.dedup();
        for detail in wrong {
            self.differ("while writing", detail);
        }
        Ok(())
    }

    /// What holds for every session.
    fn compare_all(&mut self, has_terminal: bool) -> Result<(), String> {
        for (_, child) in std::mem::take(&mut self.begun) {
            finish(child)?;
        }
        self.watch = None;
        self.settle();
        if has_terminal && !self.is_unlisted {
            self.picker()?;
            // Its client may have started a session in the background again.
            self.settle();
        }
        let mut all = compare::states(&self.home)?;
        all.extend(compare::tokens(&self.home)?);
        all.extend(compare::cost(&self.home)?);
        all.extend(compare::reasons(&self.home)?);
        all.extend(compare::calls(&self.home)?);
        all.extend(compare::left_over(&self.home));
        let listed = compare::list(&self.home)?;
        let results = compare::results_on_disk(&self.home);
        let mut done: Vec<String> = Vec::new();
        for (name, id) in self.sessions.clone() {
            if self.without_context.contains(&name) || done.contains(&id) {
                continue;
            }
            all.extend(compare::context(&self.home, &name, &id)?);
            done.push(id);
        }
        all.extend(compare::errors(&self.home, &listed, &results, &done));
        self.differences.extend(all);
        Ok(())
    }

    /// Waits until no client runs any more.
    fn settle(&self) {
        let begun = Instant::now();
        while !self.home.processes().is_empty() && begun.elapsed() < LEFT_BEHIND {
            thread::sleep(Duration::from_millis(50));
        }
        // A service that ends last may start others again.
        for _ in 0..40 {
            self.home.end_processes();
            thread::sleep(Duration::from_millis(50));
            if self.home.processes().is_empty() {
                return;
            }
        }
    }
}

/// Words of a command line; those in double quotes stay together.
fn split_words(line: &str) -> Vec<String> {
    let parts = line.split('"').enumerate();
    parts
        .flat_map(|(at, part)| match at % 2 {
            0 => part.split_whitespace().map(str::to_owned).collect(),
            _ => vec![part.to_owned()],
        })
        .collect()
}

/// Whether a value has all fields of another, with their values.
pub fn includes(value: &Value, wanted: &Value) -> bool {
    match (value, wanted) {
        (Value::Object(fields), Value::Object(wanted)) => wanted
            .iter()
            .all(|(name, wanted)| fields.get(name).is_some_and(|value| includes(value, wanted))),
        (Value::Array(values), Value::Array(wanted)) => {
            values.len() == wanted.len()
                && values.iter().zip(wanted).all(|(value, wanted)| includes(value, wanted))
        }
        (value, wanted) => value == wanted,
    }
}

fn shortened(text: &str) -> String {
    const MAX_CHARS: usize = 1500;
    match text.char_indices().nth(MAX_CHARS) {
        Some((at, _)) => format!("{} …\n", &text[..at]),
        None => text.to_owned(),
    }
}

/// As a line of JSON, for whoever collects reports.
impl Report {
    /// The report as JSON.
    pub fn to_json(&self) -> Value {
        let differences = self.differences.iter();
        let differences = differences.map(|d| json!({ "what": d.what, "detail": d.detail }));
        json!({
            "scenario": self.name,
            "seconds": self.took.as_secs_f64(),
            "differences": differences.collect::<Vec<_>>(),
            "unknown": self.unknown,
        })
    }
}
