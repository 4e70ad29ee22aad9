//! `recount serve`: everything in the browser.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::process::{Command, Stdio};
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use report::redact::{Options, Redactor, Rules};

use crate::error::{Answer, CliError};
use crate::run::Run;
use crate::serve::{self, Desk, Guard};

/// Show everything in the browser: sessions, search, errors, usage, live.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The page is served on this computer only and asks nothing of the network. New lines of running
sessions appear as they are written. The store is brought up to date meanwhile. Stop it with
Ctrl-C.

Examples:
  recount serve --open            the page, in your browser
  recount serve --port 4000       always at the same address
  recount --demo serve --open     a built-in sample
  recount --redact serve          without secrets, to be shown to others
  recount serve --listen 0.0.0.0  for other computers, too: whoever has the address can read")]
pub struct ServeArgs {
    /// Open the page in the browser
    #[arg(long)]
    open: bool,

    /// The port [default: a free one]
    #[arg(long, value_name = "PORT", default_value_t = 0, hide_default_value = true)]
    port: u16,

    /// The address to listen on. Any other than this computer's own needs the token that is
    /// printed
    #[arg(long, value_name = "ADDRESS", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    listen: IpAddr,
}

/// Serves until somebody stops it.
pub fn run(args: &ServeArgs, run: &mut Run) -> Result<Answer, CliError> {
    let real = |root: std::path::PathBuf| root.canonicalize().unwrap_or(root);
    let roots = run.recount.claude_roots()?.into_iter().map(real).collect();
    let store = run.recount.store()?.folder().to_path_buf();
    let redactor = run.redact.then(|| Redactor::new(Rules::built_in(), Options::default()));
    let desk = Arc::new(Desk::new(roots, store, redactor));
    let failed = |source| CliError::Serve(SocketAddr::new(args.listen, args.port), source);
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.map_err(failed)?;
    runtime.block_on(async {
        let listener = serve::listen(SocketAddr::new(args.listen, args.port)).await;
        let listener = listener.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let guard = Guard::of(address, token).map_err(failed)?;
        let url = match guard.token() {
            Some(token) => format!("http://{address}/?token={token}"),
            None => format!("http://{address}/"),
        };
        run.out.line(&url)?;
        io::Write::flush(&mut run.out)?;
        if args.open && show_page(&url).is_err() {
            run.talk.now("No browser could be started: open the address yourself");
        }
        tokio::select! {
            ended = serve::serve(desk, guard, listener) => ended.map_err(failed)?,
            _ = tokio::signal::ctrl_c() => {}
        }
        Ok(Answer::Found)
    })
}

/// A word that nobody guesses.
fn token() -> io::Result<String> {
    let mut bytes = [0; 18];
    io::Read::read_exact(&mut std::fs::File::open("/dev/urandom")?, &mut bytes)?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

/// Starts the person's browser.
pub fn show_page(url: &str) -> io::Result<()> {
    let program = if cfg!(target_os = "macos") {
        "open"
    } else if cfg!(windows) {
        "explorer"
    } else {
        "xdg-open"
    };
    let mut command = Command::new(program);
    command.arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().map(drop)
}
