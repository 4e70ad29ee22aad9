//! `xtask quality`: how often the evidence for a question is found.
//!
//! Question sets with labelled evidence are laid out as transcripts, synced with the product and
//! asked. The sets are no part of the project; their paths are arguments. Each dialogue is a home
//! of its own unless `--together`, as the floors were measured.
//!
//! - **session hit@k**: a session with evidence is among the first k different sessions.
//! - **turn hit@k**: a turn with evidence (a prompt and what follows it) is among the first k.
//! - **entry hit@k**: the same, but the part that is quoted first must itself be evidence.
//! - **evidence at n**: the share of the evidence that is quoted within n characters: half of a line,
//!   or 150 bytes of a long one.
//! - **sure**: of questions asked of their own dialogue, and of another one (false injections), how
//!   many the answer is sure enough of to be given unasked.
//!
//! With `--model` every question is asked twice, by words alone and with the model's vectors.
//! `--record` keeps the tables in `bench/runs/`.
//!
//! Weights are chosen on LoCoMo's dialogues 1 to 5 and on BEAM; the rest only judges.

mod ask;
mod beam;
mod floor;
mod home;
mod locomo;
mod longmemeval;
mod set;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use ask::{BUDGETS, Outcome, RANKS};
use serde_json::Value;
use set::{Dialogue, Part, Set};
use store::index::By;
use testkit::clock;

const USAGE: &str = "\
usage: xtask quality [--locomo locomo10.json] [--beam chats/100K] [--longmemeval FILE]
                     [--part tuning|judging] [--model WHEEL] [--together] [--floor]
                     [--keep DIR] [--record]";

/// Runs the command; the error is what to tell the person.
pub fn run(args: &[String], here: &Path) -> Result<(), String> {
    let mut options = parse(args).map_err(|error| format!("{error}\n{USAGE}"))?;
    options.model = options.model.map(|model| here.join(model));
    options.keep = options.keep.map(|keep| here.join(keep));
    let mut out = String::from("# quality\n\n```text\n");
    for (name, path) in &options.sets {
        let path = here.join(path);
        let set = match name.as_str() {
            "--locomo" => locomo::read(&path)?,
            "--beam" => beam::read(&path)?,
            _ => longmemeval::read(&path)?,
        };
        let table = measure(&set, &options)?;
        print!("{table}");
        out += &table;
    }
    if options.record {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let today = clock::date(now.map_err(|e| e.to_string())?.as_millis() as u64);
        let file = format!("bench/runs/{today}-quality.md");
        std::fs::write(&file, out + "```\n").map_err(|e| format!("{file}: {e}"))?;
    }
    Ok(())
}

#[derive(Debug, Default, PartialEq)]
struct Options {
    sets: Vec<(String, PathBuf)>,
    part: Option<Part>,
    together: bool,
    floor: bool,
    model: Option<PathBuf>,
    keep: Option<PathBuf>,
    record: bool,
}

fn parse(args: &[String]) -> Result<Options, String> {
    let mut options = Options::default();
    let mut args = args.iter();
    while let Some(flag) = args.next() {
        let mut value = || args.next().ok_or_else(|| format!("{flag} needs a value"));
        match flag.as_str() {
            "--locomo" | "--beam" | "--longmemeval" => {
                options.sets.push((flag.clone(), value()?.into()));
            }
            "--part" => {
                options.part = Some(match value()?.as_str() {
                    "tuning" => Part::Tuning,
                    "judging" => Part::Judging,
                    other => return Err(format!("no part is called {other}")),
                });
            }
            "--model" => options.model = Some(value()?.into()),
            "--keep" => options.keep = Some(value()?.into()),
            "--together" => options.together = true,
            "--record" => options.record = true,
            "--floor" => options.floor = true,
            _ => return Err(format!("unknown flag {flag}")),
        }
    }
    if options.sets.is_empty() { Err("there is no set to ask".into()) } else { Ok(options) }
}

/// A file as JSON.
fn json(path: &Path) -> Result<Value, String> {
    let bytes = std::fs::read(path).map_err(|e| format!("{}: {e}", path.display()))?;
    serde_json::from_slice(&bytes).map_err(|e| format!("{}: {e}", path.display()))
}

/// What lies in a folder.
fn entries(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let failed = |e: std::io::Error| format!("{}: {e}", folder.display());
    let all = std::fs::read_dir(folder).map_err(failed)?;
    all.map(|entry| entry.map(|entry| entry.path()).map_err(failed)).collect()
}

/// What came of all questions of a part.
#[derive(Default)]
struct Outcomes {
    /// Of each way to ask, by its name.
    own: BTreeMap<&'static str, Vec<Outcome>>,
    /// How sure answers to questions about something else were.
    wrong: BTreeMap<&'static str, Vec<f32>>,
    turns: usize,
    homes: usize,
}

fn measure(set: &Set, options: &Options) -> Result<String, String> {
    let mut out = String::new();
    for part in [Part::Tuning, Part::Judging] {
        let is_wanted = options.part.is_none_or(|wanted| wanted == part);
        let its = set.dialogues.iter().filter(|(its, _)| *its == part && is_wanted);
        let dialogues: Vec<(usize, &Dialogue)> = its.map(|(_, one)| one).enumerate().collect();
        if dialogues.is_empty() {
            continue;
        }
        let name = format!("{}-{}", set.name, part.name());
        let outcomes = outcomes(&name, &dialogues, options)?;
        out += &format!("{} {}\n", set.name, part.name());
        show(set, &outcomes, &mut out);
    }
    Ok(out)
}

fn outcomes(
    name: &str,
    dialogues: &[(usize, &Dialogue)],
    options: &Options,
) -> Result<Outcomes, String> {
    let homes: Vec<&[(usize, &Dialogue)]> = match options.together {
        true => vec![dialogues],
        false => dialogues.chunks(1).collect(),
    };
    let mut all = Outcomes { homes: homes.len(), ..Outcomes::default() };
    for home in homes {
        let named = |keep: &PathBuf| keep.join(format!("{name}-{}-{}", home[0].0, home.len()));
        let keep = options.keep.as_ref().map(named);
        let asked = home::make(home, &home::Place { keep, model: options.model.as_deref() })?;
        all.turns += asked.turns;
        for (number, dialogue) in home {
            for question in &dialogue.questions {
                for (way, by) in ways(options) {
                    let outcome = ask::ask(&asked, *number, dialogue, question, by)?;
                    all.own.entry(way).or_default().push(outcome);
                }
            }
            if options.floor {
                let floor = floor::Floor::of(dialogue).map_err(|e| e.to_string())?;
                let asked = dialogue.questions.iter().map(|question| floor.ask(question));
                let asked = asked.collect::<Result<Vec<_>, _>>().map_err(|e| e.to_string())?;
                all.own.entry("FTS5").or_default().extend(asked);
            }
        }
        // The questions of the next dialogue, which this home knows nothing of.
        let next = (home.len() < dialogues.len()).then(|| (home[0].0 + 1) % dialogues.len());
        for question in next.iter().flat_map(|next| &dialogues[*next].1.questions) {
            for (way, by) in ways(options) {
                let sure = ask::ask_wrongly(&asked, question, by)?;
                all.wrong.entry(way).or_default().push(sure);
            }
        }
    }
    Ok(all)
}

/// How questions are asked.
fn ways(options: &Options) -> Vec<(&'static str, By)> {
    let mut ways = vec![("words", By::Words)];
    ways.extend(options.model.is_some().then_some(("vectors", By::Both)));
    ways
}

fn show(set: &Set, all: &Outcomes, out: &mut String) {
    let columns = "session hit         turn hit          entry hit       evidence at";
    *out += &format!("  {:<32} {:>5}  {columns}  empty\n", "", "");
    let ranks = RANKS.map(|rank| format!("@{rank:<4}")).join(" ");
    let budgets = BUDGETS.map(|budget| format!("{budget:>6}")).join(" ");
    *out += &format!("  {:<32} {:>5}  {ranks} {ranks} {ranks} {budgets}\n", "", "asked");
    let mut kinds: Vec<&str> =
        all.own.values().flatten().map(|outcome| outcome.kind.as_str()).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let apart = set.apart.iter().map(|(name, kinds)| (*name, kinds.clone()));
    for (name, kinds) in apart.chain(kinds.iter().map(|kind| (*kind, vec![*kind]))) {
        for (way, outcomes) in &all.own {
            let its: Vec<&Outcome> =
                outcomes.iter().filter(|one| kinds.contains(&one.kind.as_str())).collect();
            *out += &row(&format!("{name}, {way}"), &its);
        }
    }
    for (way, wrong) in &all.wrong {
        let own = &all.own[way];
        let sure = |all: &mut dyn Iterator<Item = f32>| {
            let all: Vec<f32> = all.collect();
            let sure = all.iter().filter(|certainty| **certainty >= store::find::SURE).count();
            percent(sure as f64, all.len())
        };
        let mut times: Vec<f64> = own.iter().map(|one| one.time).collect();
        times.sort_unstable_by(f64::total_cmp);
        let at = |share: usize| times.get(times.len() * share / 100).copied().unwrap_or(0.0);
        *out += &format!(
            "  {way}: sure of {:.1} % of own questions, of {:.1} % of {} about another dialogue; \
             p50 {:.1} ms, p95 {:.1} ms\n",
            sure(&mut own.iter().map(|one| one.certainty)),
            sure(&mut wrong.iter().copied()),
            wrong.len(),
            at(50),
            at(95),
        );
    }
    *out += &format!("  {} turns in a home\n", all.turns / all.homes.max(1));
}

fn percent(part: f64, whole: usize) -> f64 {
    100.0 * part / whole.max(1) as f64
}

fn row(name: &str, outcomes: &[&Outcome]) -> String {
    let hit = |place: &dyn Fn(&Outcome) -> Option<usize>| {
        let at = |rank: usize| {
            let hits = outcomes.iter().filter(|one| place(one).is_some_and(|at| at <= rank));
            format!("{:5.1}", percent(hits.count() as f64, outcomes.len()))
        };
        RANKS.map(at).join(" ")
    };
    let quoted = [0, 1].map(|at| {
        let sum = outcomes.iter().map(|one| one.quoted[at]).sum();
        format!("{:6.1}", percent(sum, outcomes.len()))
    });
    let empty = outcomes.iter().filter(|one| one.is_empty).count();
    format!(
        "  {name:<32} {:>5}  {} {} {} {} {empty:>5}\n",
        outcomes.len(),
        hit(&|one| one.session),
        hit(&|one| one.turn),
        hit(&|one| one.entry),
        quoted.join(" "),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments() {
        let parse =
            |text: &str| parse(&text.split_whitespace().map(String::from).collect::<Vec<_>>());
        let options = parse("--beam a --part judging --together").unwrap();
        assert_eq!(options.sets, [("--beam".to_owned(), PathBuf::from("a"))]);
        assert_eq!((options.part, options.together), (Some(Part::Judging), true));
        for wrong in ["", "--part tuning", "--beam", "--beam a --part all", "--beam a b"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
