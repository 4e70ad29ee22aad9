//! What the browser does beside showing: it writes exports and opens the page, each by running
//! the program itself, so that nothing is done in another way than by its commands.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex};

use super::draw::page_name;
use super::state::Msg;
use crate::commands::serve::show_page;
use crate::serve::Desk;

/// Does what was asked for, and says what came of it.
pub struct Deeds {
    desk: Arc<Desk>,
    store: PathBuf,
    say: Sender<Msg>,
    /// The server of the page and its address, once it was asked for.
    served: Arc<Mutex<Option<(Child, String)>>>,
}

impl Deeds {
    /// Nothing done yet.
    pub fn new(desk: Arc<Desk>, store: PathBuf, say: Sender<Msg>) -> Self {
        Self { desk, store, say, served: Arc::default() }
    }

    fn program(&self) -> std::io::Result<Command> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("--store").arg(&self.store);
        for root in self.desk.roots() {
            command.arg("--claude-dir").arg(root);
        }
        command.stdin(Stdio::null());
        Ok(command)
    }

    /// Writes a session as a page into this folder.
    pub fn export(&self, id: &str) {
        let name = page_name(id);
        let (say, program, id) = (self.say.clone(), self.program(), id.to_owned());
        std::thread::spawn(move || {
            let done = program.and_then(|mut program| {
                program.arg("--quiet").args(["export", &id, "--to", &name]).output()
            });
            let told = match done {
                Ok(done) if done.status.success() => format!("Written: {name}"),
                Ok(done) => first_line(&done.stderr),
                Err(error) => error.to_string(),
            };
            // Nobody is there any more when the browser is left.
            let _ = say.send(Msg::Said(told));
        });
    }

    /// Shows a session in the person's browser.
    pub fn page(&self, id: &str) {
        let (say, program, id) = (self.say.clone(), self.program(), id.to_owned());
        let served = self.served.clone();
        std::thread::spawn(move || {
            let told = program.and_then(|program| {
                let mut served = served.lock().expect("nobody panics while holding it");
                if served.is_none() {
                    *served = Some(serve(program)?);
                }
                let address = served.as_ref().map_or("", |(_, address)| address.as_str());
                let url = format!("{address}s/{id}");
                Ok(match show_page(&url) {
                    Ok(()) => format!("Opened: {url}"),
                    Err(_) => format!("No browser could be started: {url}"),
                })
            });
            let _ = say.send(Msg::Said(told.unwrap_or_else(|error| error.to_string())));
        });
    }
}

impl Drop for Deeds {
    fn drop(&mut self) {
        if let Ok(mut served) = self.served.lock()
            && let Some((child, _)) = served.as_mut()
        {
            // It may have ended by itself.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// A server of the page, and its address.
fn serve(mut program: Command) -> std::io::Result<(Child, String)> {
    program.arg("serve").stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = program.spawn()?;
    let mut address = String::new();
    if let Some(out) = child.stdout.take() {
        BufReader::new(out).read_line(&mut address)?;
    }
    Ok((child, address.trim().to_owned()))
}

fn first_line(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    text.lines().next().unwrap_or("It did not work").to_owned()
}
