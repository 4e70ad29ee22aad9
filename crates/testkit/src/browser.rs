//! A real Chromium, driven like a person drives it.
//!
//! Talks WebDriver to a `chromedriver` that it starts on a free port of this computer and ends
//! again. The browser has a folder of its own and can look up no name: what a page asks of
//! elsewhere fails, and is seen in its log. Faults of a test panic with what was asked for.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

/// Keys that are no letters, as WebDriver names them.
pub mod key {
    /// Enter.
    pub const ENTER: &str = "\u{e007}";
    /// Tab.
    pub const TAB: &str = "\u{e004}";
    /// Escape.
    pub const ESCAPE: &str = "\u{e00c}";
}

/// Everything that is waited for comes within this time, also on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);
/// Between two looks.
const PAUSE: Duration = Duration::from_millis(15);
/// Under which an element is named in WebDriver's answers.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

const ARGS: [&str; 12] = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-default-apps",
    "--hide-scrollbars",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
];

/// What a page or the browser has said about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// `SEVERE`, `WARNING`, `INFO`, …
    pub level: String,
    /// The words.
    pub text: String,
}

/// A browser with one window.
#[derive(Debug)]
pub struct Browser {
    driver: Child,
    agent: ureq::Agent,
    /// The address of the driver, and of the session in it.
    session: String,
    _folder: TempDir,
}

/// Whether there is a browser to test with; the error is what to tell the person.
pub fn is_there() -> Result<(), String> {
    for program in ["chromium", "chromedriver"] {
        let said = Command::new(program).arg("--version").stderr(Stdio::null()).output();
        if !said.is_ok_and(|output| output.status.success()) {
            return Err(format!(
                "There is no `{program}` on the PATH: on Debian, `apt-get install chromium \
                 chromium-driver`"
            ));
        }
    }
    Ok(())
}

impl Browser {
    /// Starts a browser with a window of this size.
    pub fn start(width: u32, height: u32) -> Result<Self, String> {
        is_there()?;
        let failed =
            |what: &str, why: &dyn std::fmt::Display| format!("chromedriver: {what}: {why}");
        let folder = tempfile::tempdir().map_err(|e| failed("no folder", &e))?;
        let mut driver = Command::new("chromedriver")
            .arg("--port=0")
            .env("HOME", folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|e| failed("not started", &e))?;
        let port = port(&mut driver).ok_or("chromedriver has not said its port")?;
        let config = ureq::Agent::config_builder();
        let config = config.http_status_as_error(false).timeout_global(Some(2 * PATIENCE));
        let mut browser = Self {
            driver,
            agent: config.build().into(),
            session: format!("http://127.0.0.1:{port}/session"),
            _folder: folder,
        };
        let data = browser._folder.path().join("data");
        let mut args: Vec<String> = ARGS.iter().map(|&arg| arg.into()).collect();
        args.push(format!("--user-data-dir={}", data.display()));
        args.push(format!("--window-size={width},{height}"));
        let wanted = json!({
            "browserName": "chrome",
            "unhandledPromptBehavior": "ignore",
            "goog:chromeOptions": { "args": args },
            "goog:loggingPrefs": { "browser": "ALL" },
        });
        let answer = browser.ask("", Some(json!({ "capabilities": { "alwaysMatch": wanted } })))?;
        let id = answer["sessionId"].as_str().ok_or_else(|| format!("no session: {answer}"))?;
        browser.session = format!("{}/{id}", browser.session);
        Ok(browser)
    }

    /// Asks the driver: what it answers, or its own words on why not.
    fn ask(&self, path: &str, body: Option<Value>) -> Result<Value, String> {
        let url = format!("{}{path}", self.session);
        let answer = match body {
            Some(body) => {
                let request = self.agent.post(&url).header("content-type", "application/json");
                request.send(body.to_string())
            }
            None => self.agent.get(&url).call(),
        };
        let mut answer = answer.map_err(|e| format!("{path}: {e}"))?;
        let limit = answer.body_mut().with_config().limit(64 << 20);
        let text = limit.read_to_string().map_err(|e| format!("{path}: {e}"))?;
        let mut all: Value = serde_json::from_str(&text).map_err(|e| format!("{path}: {e}"))?;
        let value = all["value"].take();
        match value.get("error").and_then(Value::as_str) {
            Some(error) => Err(format!("{error}: {}", value["message"].as_str().unwrap_or(""))),
            None => Ok(value),
        }
    }

    fn must(&self, path: &str, body: Value) -> Value {
        let asked = body.to_string();
        self.ask(path, Some(body)).unwrap_or_else(|no| panic!("{path} {asked}: {no}"))
    }

    /// Goes to an address and waits until its page is loaded.
    pub fn open(&self, url: &str) {
        self.must("/url", json!({ "url": url }));
    }

    /// The address of the page.
    pub fn url(&self) -> String {
        self.run("return location.href").as_str().unwrap_or_default().to_owned()
    }

    /// Runs code in the page; what it returns.
    pub fn run(&self, code: &str) -> Value {
        self.run_with(code, &[])
    }

    /// As [`Browser::run`], with `arguments` for the code.
    pub fn run_with(&self, code: &str, arguments: &[Value]) -> Value {
        self.must("/execute/sync", json!({ "script": code, "args": arguments }))
    }

    /// Runs code that ends by calling its last argument; what it is called with.
    pub fn wait_for(&self, code: &str) -> Value {
        self.must("/execute/async", json!({ "script": code, "args": [] }))
    }

    /// Waits until an expression of the page is true, and gives what it then is.
    pub fn until(&self, expression: &str) -> Value {
        let begun = Instant::now();
        let code = format!("return {expression}");
        let body = || json!({ "script": code, "args": [] });
        loop {
            // Between two pages there is nothing to ask.
            let now = self.ask("/execute/sync", Some(body()));
            match &now {
                Ok(Value::Null | Value::Bool(false)) | Err(_) => {}
                Ok(Value::Number(number)) if number.as_f64() == Some(0.0) => {}
                Ok(Value::String(text)) if text.is_empty() => {}
                Ok(value) => return value.clone(),
            }
            let took = begun.elapsed();
            assert!(took < PATIENCE, "never true: {expression} ({now:?}, {})", self.url());
            std::thread::sleep(PAUSE);
        }
    }

    /// Waits until something is in the page, and gives its text.
    pub fn see(&self, selector: &str) -> String {
        let selector = Value::from(selector);
        self.until(&format!("document.querySelector({selector}) !== null"));
        let code = "return document.querySelector(arguments[0]).textContent";
        self.run_with(code, &[selector]).as_str().unwrap_or_default().to_owned()
    }

    /// How many there are in the page.
    pub fn count(&self, selector: &str) -> u64 {
        let code = "return document.querySelectorAll(arguments[0]).length";
        self.run_with(code, &[selector.into()]).as_u64().unwrap_or(0)
    }

    fn element(&self, selector: &str) -> String {
        self.see(selector);
        let found = self.must("/element", json!({ "using": "css selector", "value": selector }));
        found[ELEMENT].as_str().expect("an element has a name").to_owned()
    }

    /// Clicks on the first of these, as a person does: it has to be seen.
    pub fn click(&self, selector: &str) {
        let element = self.element(selector);
        self.must(&format!("/element/{element}/click"), json!({}));
    }

    /// Clicks on the first link that has these words.
    pub fn follow(&self, words: &str) {
        let wanted = json!({ "using": "partial link text", "value": words });
        let found = self.must("/element", wanted);
        let element = found[ELEMENT].as_str().expect("an element has a name");
        self.must(&format!("/element/{element}/click"), json!({}));
    }

    /// Types into a field.
    pub fn type_into(&self, selector: &str, text: &str) {
        let element = self.element(selector);
        self.must(&format!("/element/{element}/value"), json!({ "text": text }));
    }

    /// Presses keys, one after the other, wherever the focus is.
    pub fn press(&self, keys: &str) {
        let strokes: Vec<Value> = keys
            .chars()
            .flat_map(|key| {
                ["keyDown", "keyUp"].map(|kind| json!({ "type": kind, "value": key.to_string() }))
            })
            .collect();
        let keyboard = json!({ "type": "key", "id": "keyboard", "actions": strokes });
        self.must("/actions", json!({ "actions": [keyboard] }));
    }

    /// The words of the dialog that is open, if one is.
    pub fn dialog(&self) -> Option<String> {
        self.ask("/alert/text", None).ok().map(|text| text.to_string())
    }

    /// What the page and the browser have said since this was last asked.
    pub fn log(&self) -> Vec<Said> {
        let all = self.must("/se/log", json!({ "type": "browser" }));
        let text = |entry: &Value, name: &str| entry[name].as_str().unwrap_or_default().to_owned();
        let said =
            |entry: &Value| Said { level: text(entry, "level"), text: text(entry, "message") };
        all.as_array().into_iter().flatten().map(said).collect()
    }

    /// A command of the browser's own protocol.
    fn command(&self, name: &str, parameters: Value) -> Value {
        self.must("/goog/cdp/execute", json!({ "cmd": name, "params": parameters }))
    }

    /// As if the person had chosen `light` or `dark` for the whole computer.
    pub fn scheme(&self, name: &str) {
        let feature = json!({ "name": "prefers-color-scheme", "value": name });
        self.command("Emulation.setEmulatedMedia", json!({ "features": [feature] }));
    }

    /// The size of what is seen of a page, exactly, also where a window can't be that narrow.
    pub fn resize(&self, width: u32, height: u32) {
        let size =
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.command("Emulation.setDeviceMetricsOverride", size);
    }

    /// Writes what is seen to a file.
    pub fn screenshot(&self, path: &Path) {
        let picture = self.ask("/screenshot", None).unwrap_or_else(|no| panic!("screenshot: {no}"));
        let bytes = picture.as_str().and_then(crate::base64::decode).expect("a picture in base64");
        let folder = path.parent().expect("a file is in a folder");
        std::fs::create_dir_all(folder).expect("the folder can be made");
        std::fs::write(path, bytes).expect("the picture can be written");
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The driver ends the browser; killed first, it would leave it behind.
        let _ = self.agent.delete(&self.session).call();
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

/// The port that the driver says it listens on. What else it says is read and forgotten, or it
/// would one day wait for somebody to read.
fn port(driver: &mut Child) -> Option<u16> {
    let mut lines = BufReader::new(driver.stdout.take()?).lines().map_while(Result::ok);
    let port = lines.by_ref().find_map(|line| {
        let (_, rest) = line.split_once("started successfully on port ")?;
        rest.trim_end_matches('.').parse().ok()
    });
    std::thread::spawn(move || lines.for_each(drop));
    port
}
