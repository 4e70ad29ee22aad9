//! `config list --json` and `config get --json`.

use serde::Serialize;

use crate::config::Setting;

/// One line: a key of the settings.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "config_value")]
pub struct ConfigValue<'a> {
    /// The key.
    key: &'static str,
    /// Its value, as TOML.
    value: &'a str,
    /// Who says so: `default`, `file`, or the name of a flag or a variable.
    origin: &'static str,
}

impl<'a> ConfigValue<'a> {
    /// The line for it.
    pub fn new(setting: &'a Setting) -> Self {
        Self { key: setting.key, value: &setting.value, origin: setting.origin }
    }
}
