//! `bourse help --json`: commands, options, exit codes, and a command for each question, as data for programs.

use crate::config::{commands, listed, property};
use crate::failure::{Exit, Failure, Result};
use clap::{Arg, Command};
use serde_json::{Value, json};

/// Questions, each with the command that answers it.
const QUESTIONS: [(&str, &str); 20] = [
    ("What can run on this machine?", "bourse engines --json"),
    ("Which options does an engine have?", "bourse engines sqlite --json"),
    ("How fast is this machine's SQLite, all in all?", "bourse tpce run"),
    ("Which of the engines here is fastest?", "bourse quick --json"),
    ("Which of two targets is faster?", "bourse compare sqlite:a.db lmdb:b.lmdb --workload point-read"),
    ("Did a change make it slower? (a gate)", "bourse compare OLD NEW --fail-above 5%"),
    (
        "Which commit made it slower?",
        "bourse bisect GOOD BAD --target 'sqlite+lib:{tree}/x.db?library={tree}/lib.so' --workload update -- make lib.so",
    ),
    ("What does a setting do?", "bourse micro run commit sqlite:c.db --sweep sync=off,normal,full --json"),
    ("Which settings win?", "bourse tune sqlite:x.db --workload update --json"),
    ("What did ten years of SQLite change?", "bourse versions sqlite --workload point-read --json"),
    ("How fast are my own statements?", "bourse micro run sql shop.sql sqlite::memory: --json"),
    ("How fast are they on my own data?", "bourse micro run sql shop.sql sqlite:run.db --from shop.db --json"),
    ("What does my program do with SQLite?", "bourse record -o trace -- python3 app.py"),
    ("How fast is that with other settings?", "bourse replay trace sqlite:x.db --json"),
    ("What rate meets a limit?", "bourse micro run point-read sqlite:x.db --find-max --limit p99=1ms --json"),
    ("What survives a power loss?", "bourse crash --json"),
    ("What is reported and lost when I/O fails?", "bourse faults --json"),
    ("Which isolation does a target really give?", "bourse isolation sqlite:x.db --json"),
    ("Are the results of an engine right?", "bourse tpce verify sqlite::memory: model:"),
    ("What was measured, as tables?", "bourse report bourse-runs --format ndjson -o tables"),
];

/// Data on the commands whose name begins with these words, or on all.
pub(crate) fn json(names: &[String]) -> Result<Value> {
    let is_wanted = |name: &str| names.iter().map(String::as_str).eq(name.split(' ').take(names.len()));
    let wanted: Vec<Value> =
        commands().iter().filter(|(name, _)| is_wanted(name)).map(|(name, command)| described(name, command)).collect();
    if wanted.is_empty() {
        return Err(Failure::usage(format!("unknown command '{}'", names.join(" ")))
            .hint("`bourse help --json` prints every command"));
    }
    let codes = Exit::MEANINGS.map(|(code, meaning)| json!({ "code": code, "meaning": meaning }));
    let questions = QUESTIONS.map(|(question, command)| json!({ "question": question, "command": command }));
    Ok(json!({
        "program": "bourse",
        "version": crate::provenance::VERSION,
        "questions": questions,
        "exit_codes": codes,
        "commands": wanted,
    }))
}

/// Data on a command. The exit codes are those of its help, none if only the general ones apply.
fn described(name: &str, command: &Command) -> Value {
    let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let examples: Vec<&str> = help.lines().filter_map(|line| line.strip_prefix("  ")).map(str::trim).collect();
    let (positional, options): (Vec<&Arg>, Vec<&Arg>) =
        command.get_arguments().filter(|arg| listed(arg)).partition(|arg| arg.is_positional());
    json!({
        "command": format!("bourse {name}"),
        "about": command.get_about().map(ToString::to_string),
        "arguments": positional.into_iter().map(argument).collect::<Vec<_>>(),
        "options": options.into_iter().map(argument).collect::<Vec<_>>(),
        "examples": examples,
        "exit_codes": exit_codes(&help),
    })
}

/// Data on an argument: its names, and the JSON Schema of its value.
fn argument(arg: &Arg) -> Value {
    let value = arg.get_value_names().and_then(<[_]>::first).map(ToString::to_string);
    let mut data = property(arg);
    data["name"] = arg.get_long().map(|long| format!("--{long}")).or_else(|| value.clone()).into();
    data["required"] = arg.is_required_set().into();
    if let Some(short) = arg.get_short() {
        data["short"] = format!("-{short}").into();
    }
    if let Some(value) = value.filter(|_| !arg.is_positional() && arg.get_action().takes_values()) {
        data["value"] = value.into();
    }
    if let Some(variable) = arg.get_env() {
        data["environment"] = variable.to_string_lossy().into();
    }
    data
}

/// Exit codes in the help of a command, as `Exit codes: 0 success, 1 usage.`: a part without a number belongs to the one before.
fn exit_codes(help: &str) -> Vec<Value> {
    let listed = help.split("Exit codes: ").nth(1).unwrap_or_default().split('.').next().unwrap_or_default();
    let mut codes: Vec<(u8, String)> = Vec::new();
    for part in listed.split(", ") {
        let numbered = part.split_once(' ').and_then(|(code, meaning)| Some((code.parse().ok()?, meaning.to_owned())));
        match (numbered, codes.last_mut()) {
            (Some(numbered), _) => codes.push(numbered),
            (None, Some((_, meaning))) => *meaning += &format!(", {part}"),
            (None, None) => {}
        }
    }
    codes.into_iter().map(|(code, meaning)| json!({ "code": code, "meaning": meaning })).collect()
}
