//! The filters of a query, asked of parts that are at hand: what the index answers for words,
//! answered here for texts that are read anyway.

use transcript::session::{Node, Role as Voice};
use transcript::time::Time;

use crate::index::{contains_phrase, phrase, reversed};
use crate::query::{ErrorIs, Filters, Place, Query, Role};
use crate::text::Part;

/// Which parts a query lets through.
pub(super) struct Sieve<'a> {
    query: &'a Query,
    only: Paths,
    except: Paths,
}

impl<'a> Sieve<'a> {
    pub(super) fn new(query: &'a Query) -> Self {
        Self { query, only: Paths::of(&query.only), except: Paths::of(&query.except) }
    }

    /// Whether an entry may have parts that are wanted, from what is remembered of it.
    pub(super) fn may_hold(&self, node: &Node) -> bool {
        let roles = roles(node.role);
        roles.iter().any(|role| self.allows_role(*role)) && self.allows_time(node.time())
    }

    pub(super) fn allows_place(&self, place: Place) -> bool {
        allows(&self.query.only.place, &self.query.except.place, place)
    }

    /// A title is a field of its session and not a text of its own: it is looked at only if the
    /// query asks for titles.
    fn allows_role(&self, role: Role) -> bool {
        if role == Role::Title && !self.query.only.role.contains(&Role::Title) {
            return false;
        }
        allows(&self.query.only.role, &self.query.except.role, role)
    }

    pub(super) fn allows_time(&self, time: Option<Time>) -> bool {
        let except = &self.query.except;
        let has_except = !except.before.is_empty() || !except.after.is_empty();
        self.query.only.allows_time(time) && !(has_except && except.allows_time(time))
    }

    /// Whether a part with these words would be wanted, of what a person or the model said.
    pub(super) fn allows_said(&self, role: Role, time: Option<Time>) -> bool {
        self.allows_role(role) && self.allows_time(time)
    }

    /// Whether a part is wanted.
    pub(super) fn allows(&self, part: &Part<'_>) -> bool {
        let (only, except) = (&self.query.only, &self.query.except);
        let holds = |filters: &Filters, paths: &Paths, empty: bool| {
            let tool = part.tool.as_deref();
            let is_tool = |wanted: &String| tool.is_some_and(|tool| same(tool, wanted));
            [
                (filters.tool.is_empty(), filters.tool.iter().any(is_tool)),
                (
                    filters.file.is_empty(),
                    part.path.as_deref().is_some_and(|path| paths.hold(path)),
                ),
                (filters.error.is_empty(), filters.error.iter().any(|error| is_error(error, part))),
            ]
            .map(|(is_empty, holds)| if is_empty { empty } else { holds })
        };
        self.allows_role(part.role)
            && holds(only, &self.only, true).iter().all(|holds| *holds)
            && !holds(except, &self.except, false).iter().any(|holds| *holds)
    }
}

fn allows<T: PartialEq>(only: &[T], except: &[T], one: T) -> bool {
    (only.is_empty() || only.contains(&one)) && !except.contains(&one)
}

fn same(a: &str, b: &str) -> bool {
    a.to_lowercase() == b.to_lowercase()
}

fn is_error(wanted: &ErrorIs, part: &Part<'_>) -> bool {
    match wanted {
        ErrorIs::Yes => part.is_error,
        ErrorIs::No => !part.is_error,
        ErrorIs::With(word) => {
            part.is_error && phrase(word).is_some_and(|words| contains_phrase(&part.text, &words))
        }
    }
}

/// What an entry's parts can be.
const fn roles(voice: Voice) -> &'static [Role] {
    match voice {
        Voice::Prompt | Voice::Command | Voice::Shell | Voice::Teammate | Voice::Queued => {
            &[Role::Prompt]
        }
        Voice::Summary => &[Role::Summary],
        Voice::Answer | Voice::Thinking | Voice::Call | Voice::ApiError => {
            &[Role::Answer, Role::Thinking, Role::Call]
        }
        Voice::Result => &[Role::Output],
        Voice::Bookkeeping => &[Role::Title],
        _ => &[],
    }
}

/// The values of `file:`: ends of paths, or folders if they end with a slash.
struct Paths(Vec<(bool, String)>);

impl Paths {
    fn of(filters: &Filters) -> Self {
        let one = |value: &String| (value.ends_with(['/', '\\']), reversed(value));
        Self(filters.file.iter().map(one).collect())
    }

    fn hold(&self, path: &str) -> bool {
        let path = reversed(path);
        self.0.iter().any(|(is_folder, end)| match is_folder {
            true => path.contains(&format!("/{end}")),
            false => path.starts_with(end.as_str()),
        })
    }
}
