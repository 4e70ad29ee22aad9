//! A person's dotfiles.

use std::io;

use super::{SONNET, Story};
use crate::clock::at;
use crate::json::ToJson;
use crate::scribe::tool::Change;

const CWD: &str = "/home/mara/dotfiles";

pub(super) fn tell(story: &mut Story<'_>) -> io::Result<()> {
    prompt(story)?;
    aliases(story)
}

fn prompt(story: &mut Story<'_>) -> io::Result<()> {
    let mut s = story.open("a shell prompt", CWD, SONNET, at(2026, 4, 25, 21, 15))?;
    let asked = story.ask(&mut s, "My prompt shows the branch of the folder I was in before. Why?");
    let path = "/home/mara/dotfiles/zsh/prompt.zsh";
    let code = "branch=$(git branch --show-current 2>/dev/null)\nPROMPT=\"%~ $branch %# \"\n";
    s.read(path, code);
    s.say("`branch` is computed once, when the file is read, and the prompt only repeats it. It has to be computed before each prompt.");
    story.edit(&mut s, &asked, Change {
        path,
        original: code,
        old: "branch=$(git branch --show-current 2>/dev/null)\nPROMPT=\"%~ $branch %# \"",
        new: "setopt prompt_subst\nprecmd() { branch=$(git branch --show-current 2>/dev/null) }\nPROMPT='%~ $branch %# '",
    })?;
    s.commit("Compute the branch before each prompt", "main", 1);
    s.say("Open a new shell and it follows you. `precmd` runs before every prompt, and single quotes keep `$branch` from being filled in too early.");
    story.turn_end(&mut s, 42);
    story.close(
        s,
        "Fix the stale branch in the prompt",
        "My prompt shows the branch of the folder I was in before. Why?",
    )
}

fn aliases(story: &mut Story<'_>) -> io::Result<()> {
    let mut s = story.open("slash commands", CWD, SONNET, at(2026, 5, 10, 20, 2))?;
    s.command("model", "sonnet");
    s.user(&"<local-command-stdout>Set model to sonnet (claude-sonnet-4-5-20250929)</local-command-stdout>".raw(), "");
    story.ask(&mut s, "Which of my git aliases have I not used for a year?");
    s.bash("grep -n '=' git/aliases", "List the aliases", "1:st = status -sb\n2:lg = log --oneline --graph\n3:wip = commit -am wip\n4:undo = reset --soft HEAD~1");
    s.bash(
        "cut -d';' -f2 ~/.zsh_history | grep -oE '^git (st|lg|wip|undo)' | sort | uniq -c",
        "Count their use",
        "    911 git st\n    240 git lg\n     12 git undo",
    );
    s.say("Only `wip`: it does not occur in your shell history at all. `undo` was used twelve times, the others often.");
    story.ask(&mut s, "Remove it");
    s.edit(Change {
        path: "/home/mara/dotfiles/git/aliases",
        original: "st = status -sb\nlg = log --oneline --graph\nwip = commit -am wip\nundo = reset --soft HEAD~1\n",
        old: "wip = commit -am wip\nundo = reset --soft HEAD~1",
        new: "undo = reset --soft HEAD~1",
    });
    s.commit("Drop the wip alias", "main", 1);
    s.say("Removed and committed.");
    story.turn_end(&mut s, 18);
    story.close(s, "Drop an unused git alias", "Remove it")
}
