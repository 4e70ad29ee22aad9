//! Scenarios as text: what is set up, what the model answers, what the person does, and what has
//! to be true.
//!
//! ```text
//! == edits
//! A file is read and edited.
//!
//! file calc.py
//!     def add(a, b):
//!         return a - b
//! model
//!     think Look first.
//!     call Read {"file_path": "$WORK/calc.py"}
//!     ---
//!     say Fixed.
//! print one: Fix the add function
//! expect one: turns=1 calls=1
//! ```
//!
//! A step is a line that begins with its name; the indented lines below it belong to it. Turns of
//! the model are separated by `---`. `$WORK`, `$HOME` and `$CONFIG` are folders, `$one` is the id
//! of the session that a step named `one`.

use serde_json::Value;

use super::turn::{Block, Turn};

/// A scenario.
#[derive(Debug, Clone)]
pub struct Scenario {
    /// Its name.
    pub name: String,
    /// What happens in it.
    pub about: String,
    /// Its steps, in order.
    pub steps: Vec<Step>,
}

/// A step, with the line where it stands.
#[derive(Debug, Clone)]
pub struct Step {
    /// The line, counted from one, in its file.
    pub line: usize,
    /// What is done.
    pub action: Action,
}

/// What a step does.
#[allow(missing_docs, reason = "the fields are what their names say")]
#[derive(Debug, Clone)]
pub enum Action {
    /// Writes a file; a path without a folder variable is in the work folder.
    File { path: String, text: String },
    /// Runs shell commands in the work folder.
    Shell(String),
    /// Sets a variable of the client's environment.
    Env { name: String, value: String },
    /// Adds answers of the model to a queue.
    Model { queue: String, turns: Vec<Turn> },
    /// Runs the client with a prompt, to its end.
    Print(Print),
    /// Starts the same without waiting.
    Begin(Print),
    /// Waits for one that was begun.
    End(String),
    /// Starts the client in a terminal and waits until it can be typed into.
    Terminal { name: String, args: Vec<String> },
    /// Goes on with another terminal.
    Switch(String),
    /// Types text and presses Enter.
    Type(String),
    /// Types text without Enter.
    Text(String),
    /// Pastes a made-up text with so many characters.
    Paste(usize),
    /// Presses keys by their names.
    Keys(Vec<String>),
    /// Waits until the screen has a text.
    See(String),
    /// Waits until the screen does not have a text.
    Gone(String),
    /// Waits until the client in the terminal has nothing to do and has written all of it.
    Idle,
    /// Names the session that is open in the terminal.
    Session(String),
    /// Names the session whose file was written to last.
    Newest(String),
    /// Ends the client in the terminal as a person does.
    Close,
    /// Ends the client in the terminal with SIGKILL.
    Kill,
    /// Waits so many milliseconds: for what must *not* happen.
    Pause(u64),
    /// Fields of the session's row in `recount list`.
    Expect { session: String, fields: Vec<(String, Value)> },
    /// Runs recount and checks what it says.
    Recount { args: String, checks: Vec<Check> },
    /// Starts `recount watch`.
    Watch,
    /// Waits until it has said what it should.
    Watched(Vec<Check>),
    /// The client's own list of sessions has the titles of `recount list`.
    Picker,
    /// Asks recount again and again while clients that were begun write.
    ReadWhileWriting,
    /// What the client sends next is not compared for a session, with the reason.
    NoContext { session: String },
    /// The client's list of sessions is not compared: it leaves out what began without a terminal.
    NoPicker,
}

/// A run of the client with `-p`.
#[derive(Debug, Clone)]
pub struct Print {
    /// A name for its session.
    pub name: String,
    /// The prompt.
    pub prompt: String,
    /// More arguments.
    pub args: Vec<String>,
    /// The exit code that it has to end with.
    pub exit: i32,
    /// Another folder than the work folder.
    pub cwd: Option<String>,
}

/// What recount's output has to be.
#[derive(Debug, Clone)]
pub enum Check {
    /// The exit code.
    Exit(i32),
    /// A text is in it.
    Has(String),
    /// A text is not in it.
    Lacks(String),
    /// It has so many JSON lines with these fields.
    Rows(usize, Value),
    /// It has JSON lines with these fields.
    Row(Value),
}

/// Reads the scenarios of a file.
pub fn parse(text: &str) -> Result<Vec<Scenario>, String> {
    let lines: Vec<(usize, &str)> = text.lines().enumerate().map(|(at, l)| (at + 1, l)).collect();
    let mut scenarios: Vec<Scenario> = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let (number, line) = lines[at];
        at += 1;
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(name) = line.strip_prefix("== ") {
            let about = lines.get(at).map_or("", |(_, line)| *line).to_owned();
            scenarios.push(Scenario { name: name.trim().to_owned(), about, steps: Vec::new() });
            at += 1;
            continue;
        }
        let is_body = |(_, line): &&(usize, &str)| line.starts_with("    ") || line.is_empty();
        let mut body: Vec<&str> = lines[at..]
            .iter()
            .take_while(is_body)
            .map(|(_, line)| line.strip_prefix("    ").unwrap_or(line))
            .collect();
        at += body.len();
        while body.last().is_some_and(|line| line.is_empty()) {
            body.pop();
        }
        let scenario = scenarios.last_mut().ok_or("a step before the first scenario")?;
        let action = action(line, &body).map_err(|why| format!("line {number}: {why}"))?;
        scenario.steps.push(Step { line: number, action });
    }
    Ok(scenarios)
}

fn action(line: &str, body: &[&str]) -> Result<Action, String> {
    let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
    let rest = rest.trim();
    let owned = || rest.to_owned();
    Ok(match word {
        "file" => Action::File { path: owned(), text: body.join("\n") + "\n" },
        "shell" => Action::Shell(body.join("\n")),
        "env" => {
            let (name, value) = rest.split_once('=').ok_or("env NAME=VALUE")?;
            Action::Env { name: name.to_owned(), value: value.to_owned() }
        }
        "model" => {
            let queue = if rest.is_empty() { "main" } else { rest };
            Action::Model { queue: queue.to_owned(), turns: turns(body)? }
        }
        "print" => Action::Print(print(rest, body)?),
        "begin" => Action::Begin(print(rest, body)?),
        "end" => Action::End(owned()),
        "terminal" => {
            let (name, args) = rest.split_once(':').unwrap_or((rest, ""));
            let args = words(args);
            Action::Terminal { name: name.to_owned(), args }
        }
        "switch" => Action::Switch(owned()),
        "type" => Action::Type([&[rest], body].concat().join("\n").trim().to_owned()),
        "text" => Action::Text(owned()),
        "paste" => Action::Paste(rest.parse().map_err(|_| "paste CHARACTERS")?),
        "keys" => Action::Keys(words(rest)),
        "see" => Action::See(owned()),
        "gone" => Action::Gone(owned()),
        "idle" => Action::Idle,
        "session" => Action::Session(owned()),
        "newest" => Action::Newest(owned()),
        "close" => Action::Close,
        "kill" => Action::Kill,
        "pause" => Action::Pause(rest.parse().map_err(|_| "pause MILLISECONDS")?),
        "expect" => {
            let (session, fields) = rest.split_once(':').ok_or("expect SESSION: FIELD=VALUE …")?;
            Action::Expect { session: session.to_owned(), fields: fields_of(fields, body)? }
        }
        "recount" => Action::Recount { args: owned(), checks: checks(body)? },
        "watch" => Action::Watch,
        "watched" => Action::Watched(checks(body)?),
        "picker" => Action::Picker,
        "read-while-writing" => Action::ReadWhileWriting,
        "no-context" => Action::NoContext { session: owned() },
        "no-picker" => Action::NoPicker,
        _ => return Err(format!("unknown step `{word}`")),
    })
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

fn print(rest: &str, body: &[&str]) -> Result<Print, String> {
    let (name, prompt) = rest.split_once(':').ok_or("print NAME: PROMPT")?;
    let mut print = Print {
        name: name.to_owned(),
        prompt: prompt.trim().to_owned(),
        args: Vec::new(),
        exit: 0,
        cwd: None,
    };
    for line in body {
        match line.split_once(' ') {
            Some(("exit", code)) => print.exit = code.parse().map_err(|_| "exit CODE")?,
            Some(("in", cwd)) => print.cwd = Some(cwd.to_owned()),
            _ => print.args.extend(words(line)),
        }
    }
    Ok(print)
}

/// `FIELD=VALUE` pairs on one line, and those with spaces one per line.
fn fields_of(line: &str, body: &[&str]) -> Result<Vec<(String, Value)>, String> {
    let pair = |pair: &str| {
        let (name, value) = pair.split_once('=').ok_or(format!("FIELD=VALUE, not `{pair}`"))?;
        // A value that is not JSON is plain text.
        let value = serde_json::from_str(value).unwrap_or_else(|_| Value::from(value));
        Ok((name.to_owned(), value))
    };
    line.split_whitespace().chain(body.iter().copied()).map(pair).collect()
}

fn checks(body: &[&str]) -> Result<Vec<Check>, String> {
    let check = |line: &&str| {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        Ok(match word {
            "exit" => Check::Exit(rest.parse().map_err(|_| "exit CODE")?),
            "has" => Check::Has(rest.to_owned()),
            "lacks" => Check::Lacks(rest.to_owned()),
            "row" => Check::Row(serde_json::from_str(rest).map_err(|e| format!("{rest}: {e}"))?),
            "rows" => {
                let (count, fields) = rest.split_once(' ').unwrap_or((rest, "{}"));
                let count = count.parse().map_err(|_| "rows COUNT JSON")?;
                let fields = serde_json::from_str(fields).map_err(|e| format!("{fields}: {e}"))?;
                Check::Rows(count, fields)
            }
            _ => return Err(format!("unknown check `{word}`")),
        })
    };
    body.iter().map(check).collect()
}

fn turns(body: &[&str]) -> Result<Vec<Turn>, String> {
    body.split(|line| line.trim() == "---").map(turn).collect()
}

fn turn(lines: &[&str]) -> Result<Turn, String> {
    let mut turn = Turn::default();
    for line in lines.iter().map(|line| line.trim()).filter(|line| !line.is_empty()) {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let number = || rest.parse().map_err(|_| format!("{word} NUMBER"));
        match word {
            "say" => turn.blocks.push(Block::Text(rest.replace("\\n", "\n"))),
            "think" => turn.blocks.push(Block::Thinking(rest.to_owned())),
            "call" => {
                let (tool, input) = rest.split_once(' ').unwrap_or((rest, "{}"));
                let input = serde_json::from_str(input).map_err(|e| format!("{input}: {e}"))?;
                turn.blocks.push(Block::Call { tool: tool.to_owned(), input });
            }
            "usage" => usage(&mut turn, rest)?,
            "delay" => turn.delay_ms = number()?,
            "slow" => turn.slow_ms = number()?,
            "status" => {
                let (status, message) = rest.split_once(' ').unwrap_or((rest, "Overloaded"));
                let status = status.parse().map_err(|_| "status CODE MESSAGE")?;
                turn.failure = Some((status, message.to_owned()));
            }
            "stop" => turn.stop = Some(rest.to_owned()),
            "cut" => turn.is_cut = true,
            _ => return Err(format!("unknown part of a turn `{word}`")),
        }
    }
    Ok(turn)
}

fn usage(turn: &mut Turn, text: &str) -> Result<(), String> {
    for pair in text.split_whitespace() {
        let (name, number) = pair.split_once('=').ok_or("usage NAME=NUMBER …")?;
        let number = Some(number.parse().map_err(|_| format!("not a number: {number}"))?);
        let usage = &mut turn.usage;
        match name {
            "input" => usage.input = number,
            "output" => usage.output = number,
            "read" => usage.cache_read = number,
            "write5m" => usage.cache_write_5m = number,
            "write1h" => usage.cache_write_1h = number,
            _ => return Err(format!("unknown token class `{name}`")),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scenario_is_read_with_its_steps() {
        let text = "\
== one
What happens.

file a/b.txt
    first

      second
model
    think hm
    say Hello.
    call Bash {\"command\": \"ls\"}
    usage input=1 write1h=2
    ---
    status 529
print x: Do it
    --resume $y
    exit 1
expect x: turns=1
    state=live
";
        let scenarios = parse(text).expect("it is right");
        assert_eq!(scenarios.len(), 1);
        assert_eq!(scenarios[0].name, "one");
        assert_eq!(scenarios[0].about, "What happens.");
        let steps = &scenarios[0].steps;
        assert_eq!(steps.iter().map(|step| step.line).collect::<Vec<_>>(), [4, 8, 15, 18]);
        let Action::File { text, .. } = &steps[0].action else { panic!("{:?}", steps[0]) };
        assert_eq!(text, "first\n\n  second\n");
        let Action::Model { turns, .. } = &steps[1].action else { panic!("{:?}", steps[1]) };
        assert_eq!(turns.len(), 2);
        assert_eq!(turns[0].blocks.len(), 3);
        assert_eq!(turns[0].usage.cache_write_1h, Some(2));
        assert_eq!(turns[0].stop_reason(), "tool_use");
        assert_eq!(turns[1].failure, Some((529, "Overloaded".to_owned())));
        let Action::Print(print) = &steps[2].action else { panic!("{:?}", steps[2]) };
        assert_eq!((print.exit, &*print.prompt), (1, "Do it"));
        let Action::Expect { fields, .. } = &steps[3].action else { panic!("{:?}", steps[3]) };
        let live = ("state".to_owned(), Value::from("live"));
        assert_eq!(*fields, [("turns".to_owned(), Value::from(1)), live]);
    }

    #[test]
    fn a_mistake_is_named_with_its_line() {
        let wrong = parse("== one\nabout\n\nfly away\n").expect_err("no such step");
        assert_eq!(wrong, "line 4: unknown step `fly`");
    }
}
