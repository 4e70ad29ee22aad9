//! `session-env/<session>/`: shell lines that hooks leave for the session's later commands.
//!
//! Usually an empty folder. The values may be secrets, so a report should give the names only.
//! Lines are recognised, not run: a value is what stands behind the `=`, quotes and all.

use super::Read;

/// One variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    /// Its name.
    pub name: Box<str>,
    /// What the shell would read, undone of nothing.
    pub value: Box<str>,
}

/// What the file says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionEnv {
    /// The variables, the last of a name wins.
    pub variables: Vec<Variable>,
    /// Lines that are something else and neither blank nor a comment.
    pub other_lines: usize,
}

/// Reads one file of the folder.
pub fn parse(bytes: &[u8]) -> Read<SessionEnv> {
    let text = String::from_utf8_lossy(bytes);
    let mut env = SessionEnv { variables: Vec::new(), other_lines: 0 };
    for line in text.lines().map(str::trim) {
        match variable(line) {
            Some(variable) => env.variables.push(variable),
            None if line.is_empty() || line.starts_with('#') => {}
            None => env.other_lines += 1,
        }
    }
    (env, Vec::new())
}

fn variable(line: &str) -> Option<Variable> {
    let line = line.strip_prefix("export ").unwrap_or(line).trim_start();
    let (name, value) = line.split_once('=')?;
    let is_name = !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    is_name.then(|| Variable { name: name.into(), value: value.into() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exports_and_others() {
        let (env, _) = parse(b"# by a hook\nexport NODE_ENV='x y'\nA=1\n\nsource ~/.nvm/nvm.sh\n");
        let names: Vec<_> = env.variables.iter().map(|v| (&*v.name, &*v.value)).collect();
        assert_eq!(names, [("NODE_ENV", "'x y'"), ("A", "1")]);
        assert_eq!(env.other_lines, 1);
    }
}
