//! Which Claude folders there are, and where the store is.
//!
//! The flag decides, else the environment, else the settings, else the two usual places. What a person names must
//! exist; of the usual places those that exist are taken. One folder named twice counts once.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// What of the environment names a Claude folder.
#[derive(Debug, Clone, Default)]
pub struct Environment {
    /// `CLAUDE_CONFIG_DIR`.
    pub claude_config_dir: Option<OsString>,
    /// `XDG_CONFIG_HOME`.
    pub xdg_config_home: Option<OsString>,
    /// `RECOUNT_STORE`.
    pub recount_store: Option<OsString>,
    /// `XDG_DATA_HOME`.
    pub xdg_data_home: Option<OsString>,
    /// `LOCALAPPDATA`, on Windows.
    pub local_app_data: Option<OsString>,
    /// `APPDATA`, on Windows.
    pub app_data: Option<OsString>,
    /// `RECOUNT_CONFIG`.
    pub recount_config: Option<OsString>,
    /// `CLAUDE_CODE_SESSION_ID`: the session that has started this process.
    pub session: Option<OsString>,
    /// The home folder.
    pub home: Option<PathBuf>,
    /// Claude folders that the settings name.
    pub set_claude: Vec<PathBuf>,
    /// The store that the settings name.
    pub set_store: Option<PathBuf>,
}

impl Environment {
    /// The folder of the store: what the flag says, else the environment, else the settings, else
    /// the usual place.
    pub fn store(&self, flag: Option<&Path>) -> Option<PathBuf> {
        let named = flag.map(PathBuf::from).or_else(|| self.recount_store.clone().map(Into::into));
        let named = named.or_else(|| self.set_store.clone());
        let data = self.xdg_data_home.clone().or_else(|| self.local_app_data.clone());
        let data = data.map(PathBuf::from);
        let data = data.or_else(|| Some(self.home.as_ref()?.join(".local/share")));
        named.or_else(|| Some(data?.join("recount")))
    }

    /// Claude Code's files of settings and of servers that hold for all projects, given the folders
    /// that the flag names. The second one is next to the usual folder, and inside of the folder
    /// whenever `CLAUDE_CONFIG_DIR` is set, also when it names the usual one.
    pub fn settings(&self, flag: &[PathBuf]) -> Option<(PathBuf, PathBuf)> {
        let usual = self.home.as_ref().map(|home| home.join(".claude"));
        let variable =
            self.claude_config_dir.as_ref().and_then(|value| list(value).into_iter().next());
        let named = flag.first().or(variable.as_ref()).or(self.set_claude.first()).cloned();
        let folder = named.or_else(|| usual.clone())?;
        let is =
            |other: &Option<PathBuf>| other.as_ref().is_some_and(|other| is_same(other, &folder));
        let servers = match is(&usual) && !is(&variable) {
            true => self.home.as_ref()?.join(".claude.json"),
            false => folder.join(".claude.json"),
        };
        Some((folder.join("settings.json"), servers))
    }

    /// `~/.claude` and `$XDG_CONFIG_HOME/claude`.
    pub fn usual(&self) -> Vec<PathBuf> {
        let claude = self.home.as_ref().map(|home| home.join(".claude"));
        let config = self.xdg_config().map(|config| config.join("claude"));
        claude.into_iter().chain(config).collect()
    }

    /// Where programs keep their settings: on macOS as on Linux, where Claude Code looks too.
    pub fn config_folder(&self) -> Option<PathBuf> {
        match (&self.xdg_config_home, &self.app_data) {
            (None, Some(data)) => Some(PathBuf::from(data)),
            _ => self.xdg_config(),
        }
    }

    fn xdg_config(&self) -> Option<PathBuf> {
        let named = self.xdg_config_home.clone().map(PathBuf::from);
        named.or_else(|| Some(self.home.as_ref()?.join(".config")))
    }
}

/// Why there is no Claude folder.
#[derive(Debug, PartialEq, Eq)]
pub enum HomeError {
    /// A folder that was named does not exist.
    Missing {
        /// What was named.
        path: PathBuf,
        /// Where: the flag or the variable.
        by: &'static str,
    },
    /// `--demo` and `--claude-dir` together contradict each other.
    DemoToo,
    /// None of the usual places exists.
    NoneFound(Vec<PathBuf>),
    /// Nobody says where the store is, and there is no home folder.
    NoStore,
}

/// The Claude folders.
pub fn find(flag: &[PathBuf], environment: &Environment) -> Result<Vec<PathBuf>, HomeError> {
    if !flag.is_empty() {
        return named(flag.to_vec(), "--claude-dir");
    }
    if let Some(value) = &environment.claude_config_dir {
        return named(list(value), "CLAUDE_CONFIG_DIR");
    }
    if !environment.set_claude.is_empty() {
        return named(environment.set_claude.clone(), "`recount config set claude_dir`");
    }
    let usual = environment.usual();
    let there: Vec<PathBuf> = usual.iter().filter(|path| path.is_dir()).cloned().collect();
    if there.is_empty() { Err(HomeError::NoneFound(usual)) } else { Ok(once(there)) }
}

fn named(paths: Vec<PathBuf>, by: &'static str) -> Result<Vec<PathBuf>, HomeError> {
    match paths.iter().find(|path| !path.exists()) {
        Some(path) => Err(HomeError::Missing { path: path.clone(), by }),
        None => Ok(once(paths)),
    }
}

/// One path, or several with commas between. A folder whose name has a comma is one path.
fn list(value: &OsString) -> Vec<PathBuf> {
    match value.to_str() {
        Some(text) if !Path::new(text).exists() => text
            .split(',')
            .map(str::trim)
            .filter(|part| !part.is_empty())
            .map(PathBuf::from)
            .collect(),
        _ => vec![PathBuf::from(value)],
    }
}

/// Whether two paths lead to the same folder.
fn is_same(a: &Path, b: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    a == b || real(a) == real(b)
}

/// Each folder once, whatever path leads there, in the order given.
fn once(paths: Vec<PathBuf>) -> Vec<PathBuf> {
    let mut seen = Vec::new();
    let is_new = |path: &PathBuf| {
        let real = path.canonicalize().unwrap_or_else(|_| path.clone());
        let new = !seen.contains(&real);
        seen.push(real);
        new
    };
    let mut paths = paths;
    paths.retain(is_new);
    paths
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    struct Case {
        dir: tempfile::TempDir,
    }

    impl Case {
        fn new(folders: &[&str]) -> Self {
            let dir = tempfile::tempdir().expect("a temporary folder");
            for folder in folders {
                fs::create_dir_all(dir.path().join(folder)).expect("a folder");
            }
            Self { dir }
        }

        fn at(&self, rel: &str) -> PathBuf {
            self.dir.path().join(rel)
        }

        fn find(&self, flag: &[&str], variable: Option<&str>) -> Result<Vec<PathBuf>, HomeError> {
            let here = self.dir.path().to_str().expect("utf-8");
            let environment = Environment {
                claude_config_dir: variable.map(|value| value.replace("~", here).into()),
                home: Some(self.dir.path().into()),
                ..Environment::default()
            };
            let flag: Vec<PathBuf> = flag.iter().map(|rel| self.at(rel)).collect();
            find(&flag, &environment)
        }
    }

    #[test]
    fn the_flag_wins_over_the_variable_over_the_usual_places() {
        let case = Case::new(&[".claude", ".config/claude", "a", "b"]);
        assert_eq!(case.find(&["a"], Some("~/b")), Ok(vec![case.at("a")]));
        assert_eq!(case.find(&[], Some("~/b")), Ok(vec![case.at("b")]));
        assert_eq!(case.find(&[], Some("~/a, ~/b")), Ok(vec![case.at("a"), case.at("b")]));
        assert_eq!(case.find(&[], None), Ok(vec![case.at(".claude"), case.at(".config/claude")]));
    }

    #[test]
    fn the_store_is_where_the_flag_or_the_environment_says() {
        let mut environment = Environment { home: Some("/h".into()), ..Environment::default() };
        let store = |environment: &Environment, flag: Option<&str>| {
            environment.store(flag.map(Path::new)).expect("a place")
        };
        assert_eq!(store(&environment, None), Path::new("/h/.local/share/recount"));
        environment.xdg_data_home = Some("/d".into());
        assert_eq!(store(&environment, None), Path::new("/d/recount"));
        environment.recount_store = Some("/s".into());
        assert_eq!(store(&environment, None), Path::new("/s"));
        assert_eq!(store(&environment, Some("/f")), Path::new("/f"));
        assert_eq!(Environment::default().store(None), None);
    }

    #[test]
    fn on_windows_data_and_settings_have_their_own_folders() {
        let environment = Environment {
            home: Some("C:/Users/me".into()),
            local_app_data: Some("C:/Users/me/AppData/Local".into()),
            app_data: Some("C:/Users/me/AppData/Roaming".into()),
            ..Environment::default()
        };
        let local = Path::new("C:/Users/me/AppData/Local/recount");
        assert_eq!(environment.store(None).as_deref(), Some(local));
        let roaming = Path::new("C:/Users/me/AppData/Roaming");
        assert_eq!(environment.config_folder().as_deref(), Some(roaming));
        // Claude Code keeps to the home folder there too.
        let usual = ["C:/Users/me/.claude", "C:/Users/me/.config/claude"].map(PathBuf::from);
        assert_eq!(environment.usual(), usual);
    }

    #[test]
    fn on_a_mac_everything_is_where_it_is_on_linux() {
        let home = Some("/Users/me".into());
        let environment = Environment { home, ..Environment::default() };
        let config = Path::new("/Users/me/.config");
        assert_eq!(environment.config_folder().as_deref(), Some(config));
        let store = Path::new("/Users/me/.local/share/recount");
        assert_eq!(environment.store(None).as_deref(), Some(store));
    }

    #[test]
    fn settings_come_after_the_environment() {
        let mut environment = Environment {
            home: Some("/h".into()),
            set_store: Some("/set".into()),
            ..Environment::default()
        };
        assert_eq!(environment.store(None).as_deref(), Some(Path::new("/set")));
        environment.recount_store = Some("/s".into());
        assert_eq!(environment.store(None).as_deref(), Some(Path::new("/s")));
        let case = Case::new(&["a", ".claude"]);
        let home = Some(case.dir.path().into());
        let set = Environment { home, set_claude: vec![case.at("a")], ..Environment::default() };
        assert_eq!(find(&[], &set), Ok(vec![case.at("a")]));
    }

    #[test]
    fn servers_are_where_the_client_reads_them() {
        let servers = |flag: &[&str], variable: Option<&str>, set: &[&str]| {
            let environment = Environment {
                claude_config_dir: variable.map(Into::into),
                home: Some("/h".into()),
                set_claude: set.iter().map(PathBuf::from).collect(),
                ..Environment::default()
            };
            let flag: Vec<PathBuf> = flag.iter().map(PathBuf::from).collect();
            environment.settings(&flag).expect("a home").1.to_str().expect("UTF-8").to_owned()
        };
        assert_eq!(servers(&[], None, &[]), "/h/.claude.json");
        assert_eq!(servers(&[], Some("/h/.claude"), &[]), "/h/.claude/.claude.json");
        assert_eq!(servers(&[], Some("/h/.claude/"), &[]), "/h/.claude/.claude.json");
        assert_eq!(servers(&[], Some("/c"), &[]), "/c/.claude.json");
        assert_eq!(servers(&["/h/.claude"], None, &[]), "/h/.claude.json");
        assert_eq!(servers(&["/h/.claude"], Some("/h/.claude"), &[]), "/h/.claude/.claude.json");
        assert_eq!(servers(&["/h/.claude"], Some("/c"), &[]), "/h/.claude.json");
        assert_eq!(servers(&[], None, &["/c"]), "/c/.claude.json");
        assert_eq!(servers(&[], Some("/c, /d"), &[]), "/c/.claude.json");
    }

    #[test]
    fn a_folder_with_a_comma_is_one_path() {
        let case = Case::new(&["a,b"]);
        assert_eq!(case.find(&[], Some("~/a,b")), Ok(vec![case.at("a,b")]));
    }

    #[test]
    fn one_folder_counts_once() {
        let case = Case::new(&["a/x"]);
        assert_eq!(case.find(&["a", "a/x/..", "a"], None), Ok(vec![case.at("a")]));
    }

    #[test]
    fn what_is_named_must_exist() {
        let case = Case::new(&[".claude"]);
        let missing = |by| Err(HomeError::Missing { path: case.at("no"), by });
        assert_eq!(case.find(&["no"], None), missing("--claude-dir"));
        assert_eq!(case.find(&[], Some("~/no")), missing("CLAUDE_CONFIG_DIR"));
        let empty = Case::new(&[]);
        let usual = vec![empty.at(".claude"), empty.at(".config/claude")];
        assert_eq!(empty.find(&[], None), Err(HomeError::NoneFound(usual)));
    }
}
