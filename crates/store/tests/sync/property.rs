//! Whatever happens in between, and whenever it is looked at: the end is the same.

use proptest::prelude::*;

use super::kit::{IDS, Lines, WORDS, World, assert_same, transcript};

#[derive(Debug, Clone)]
enum Step {
    /// So many lines, and so many bytes of the last are missing.
    Append(usize, usize, usize),
    Rewrite(usize, usize),
    Cut(usize, prop::sample::Index),
    Rename(usize, usize),
    Copy(usize),
    Delete(usize),
    Sync,
}

const PROJECTS: [&str; 3] = ["a", "b", "c"];

fn step() -> impl Strategy<Value = Step> {
    let which = 0..IDS.len();
    let torn = prop_oneof![3 => Just(0), 1 => 1..90usize];
    prop_oneof![
        4 => (which.clone(), 1..5usize, torn).prop_map(|(w, n, t)| Step::Append(w, n, t)),
        1 => (which.clone(), 1..7usize).prop_map(|(w, n)| Step::Rewrite(w, n)),
        1 => (which.clone(), any::<prop::sample::Index>()).prop_map(|(w, at)| Step::Cut(w, at)),
        1 => (which.clone(), 0..PROJECTS.len()).prop_map(|(w, p)| Step::Rename(w, p)),
        1 => which.clone().prop_map(Step::Copy),
        1 => which.prop_map(Step::Delete),
        4 => Just(Step::Sync),
    ]
}

/// The folder, and what has been seen of it.
struct Run {
    world: World,
    /// The project each session is in.
    project: [usize; IDS.len()],
    salt: usize,
    seen: Vec<Vec<u8>>,
}

impl Run {
    fn new() -> Self {
        Self { world: World::new(), project: [0; IDS.len()], salt: 0, seen: Vec::new() }
    }

    fn rel(&self, which: usize) -> String {
        transcript(PROJECTS[self.project[which]], which)
    }

    fn is_there(&self, which: usize) -> bool {
        self.world.path(&self.rel(which)).exists()
    }

    /// Lines that nobody has written before.
    fn lines(&mut self, which: usize, count: usize) -> String {
        self.salt += 1;
        let salt = self.salt;
        let mut lines = Lines::new(IDS[which], salt);
        let line = |n: usize| match (salt + n) % 3 {
            0 => lines.create(&format!("/w/{n}.rs")),
            1 => lines.say(&format!("about the {}", WORDS[(salt * n) % WORDS.len()])),
            _ => lines.ask(&format!("{} number {n}", WORDS[(salt + n) % WORDS.len()])),
        };
        (0..count).map(line).collect()
    }

    fn step(&mut self, step: &Step) {
        match *step {
            Step::Sync => {
                self.world.sync();
                self.world.assert_current();
                self.seen.extend(self.world.dump().files.into_values());
            }
            Step::Append(which, count, torn) => {
                let lines = self.lines(which, count);
                let rel = self.rel(which);
                if !self.is_there(which) {
                    self.world.write(&rel, "");
                }
                self.world.append(&rel, &lines.as_bytes()[..lines.len() - torn]);
            }
            Step::Rewrite(which, count) => {
                let lines = self.lines(which, count);
                self.world.write(&self.rel(which), lines);
            }
            _ if !self.is_there(which(step)) => {}
            Step::Cut(which, at) => {
                let rel = self.rel(which);
                let size = std::fs::metadata(self.world.path(&rel)).expect("is there").len();
                self.world.truncate(&rel, at.index(size as usize + 1) as u64);
            }
            Step::Rename(which, project) => {
                let from = self.rel(which);
                self.project[which] = project;
                self.world.rename(&from, &self.rel(which));
            }
            Step::Copy(which) => self.world.copy_over(&self.rel(which)),
            Step::Delete(which) => self.world.remove(&self.rel(which)),
        }
    }
}

fn which(step: &Step) -> usize {
    match *step {
        Step::Append(which, ..) | Step::Rewrite(which, _) | Step::Cut(which, _) => which,
        Step::Rename(which, _) | Step::Copy(which) | Step::Delete(which) => which,
        Step::Sync => 0,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 30, max_shrink_iters: 200, ..Default::default() })]

    #[test]
    fn any_way_ends_in_the_store_of_one_sync(steps in prop::collection::vec(step(), 1..24)) {
        let mut run = Run::new();
        for step in &steps {
            run.step(step);
        }
        run.step(&Step::Sync);
        assert_same(&run.world.dump().here(), &run.world.fresh_dump());
        for bytes in &run.seen {
            run.world.assert_kept(bytes);
        }
        prop_assert!(!run.world.sync().is_changed());
    }
}
