//! Which things are asked for: by project, by time. The same for every question.

use transcript::path::project_slug;
use transcript::time::Time;

/// A span of time. Without ends it holds everything, also what has no time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Period {
    /// From this moment on.
    pub since: Option<Time>,
    /// Before this moment.
    pub until: Option<Time>,
}

impl Period {
    /// Whether a moment lies in it.
    pub fn holds(&self, time: Option<Time>) -> bool {
        self.meets(time, time)
    }

    /// Whether something that lasted from `first` to `last` lies in it with some part.
    pub fn meets(&self, first: Option<Time>, last: Option<Time>) -> bool {
        let after = self.since.is_none_or(|since| last.is_some_and(|last| last >= since));
        let before = self.until.is_none_or(|until| first.is_some_and(|first| first < until));
        after && before
    }
}

/// Which projects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProjectFilter {
    /// Those whose path has this text in it, case ignored, or whose folder name is this text.
    Part(String),
    /// That of this folder, and those below it.
    Folder(String),
}

impl ProjectFilter {
    /// Whether the project at this recorded path is one of them.
    pub fn matches(&self, path: &str) -> bool {
        match self {
            Self::Part(part) => {
                path.to_lowercase().contains(&part.to_lowercase()) || project_slug(path) == *part
            }
            Self::Folder(folder) => path
                .strip_prefix(folder.trim_end_matches(['/', '\\']))
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '\\'])),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_period_ends_before_its_end() {
        let period = Period { since: Some(Time(10)), until: Some(Time(20)) };
        let holds = |ms| period.holds(Some(Time(ms)));
        assert_eq!([9, 10, 19, 20].map(holds), [false, true, true, false]);
        assert!(!period.holds(None) && Period::default().holds(None));
        assert!(period.meets(Some(Time(0)), Some(Time(30))));
        assert!(!period.meets(Some(Time(0)), Some(Time(9))));
    }

    #[test]
    fn projects_by_a_part_of_the_path_or_a_folder() {
        let part = |text: &str, path: &str| ProjectFilter::Part(text.into()).matches(path);
        assert!(part("Drizzle", "/home/x/drizzle") && part("x/d", "/home/x/drizzle"));
        assert!(part("-home-x-my-app", "/home/x/my.app") && !part("y", "/home/x"));
        let folder = |text: &str, path: &str| ProjectFilter::Folder(text.into()).matches(path);
        assert!(folder("/home/x", "/home/x") && folder("/home/x/", "/home/x/sub"));
        assert!(!folder("/home/x", "/home/xy") && !folder("/home/x", "/home"));
    }
}
