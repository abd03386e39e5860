//! Options in a TOML file: `bourse run file.toml`. Its keys, and the JSON Schema by which editors complete them, are derived
//! from the declarations of the command line.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // reads untrusted input

use crate::args::Arguments;
use crate::failure::{Failure, Result};
use bourse_engine::did_you_mean;
use clap::{Arg, ArgAction, Command, CommandFactory};
use serde_json::{Value, json};
use std::path::Path;

/// Reads the arguments of a file of options, followed by the typed ones, which win.
pub(crate) fn arguments(path: &Path, typed: &[String]) -> Result<Arguments> {
    let refuse = |message: &str| Failure::usage(message).detail("file", path.display().to_string());
    let content = bourse_record::regular_text(path)
        .map_err(|error| refuse("cannot read the file").detail("cause", error.to_string()))?;
    arguments_of(&content, typed).map_err(|failure| failure.detail("file", path.display().to_string()))
}

/// Parses the arguments of a file's content.
pub(crate) fn arguments_of(content: &str, typed: &[String]) -> Result<Arguments> {
    let words = words(content)?;
    let mut root = Arguments::command();
    override_itself(&mut root);
    let typed = typed.iter().cloned();
    let matches = root
        .try_get_matches_from_mut(std::iter::once("bourse".to_owned()).chain(words).chain(typed))
        .map_err(|refused| {
            let text = refused.to_string();
            let text =
                text.trim_start_matches("error: ").split("\n\nUsage:").next().unwrap_or_default().trim().to_owned();
            Failure::usage(text)
        })?;
    Arguments::of(&matches).map_err(|error| Failure::usage(error.to_string()))
}

/// Lets a later option replace an earlier one: the file's come first.
fn override_itself(command: &mut Command) {
    *command = std::mem::take(command).args_override_self(true);
    command.get_subcommands_mut().for_each(override_itself);
}

/// The file's options as command-line arguments.
fn words(content: &str) -> Result<Vec<String>> {
    let refuse = |message: String| Failure::usage(message);
    let mut table: toml::Table =
        content.parse().map_err(|error: toml::de::Error| refuse(format!("the file is not valid TOML: {error}")))?;
    let known = leaves();
    let names = || known.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ");
    let Some(toml::Value::String(wanted)) = table.remove("command") else {
        return Err(refuse("the file does not say what to run: it needs command = \"…\"".to_owned())
            .hint(format!("command is one of: {}", names())));
    };
    let Some((name, command)) = known.iter().find(|(name, _)| *name == wanted) else {
        return Err(refuse(format!(
            "unknown command '{wanted}'{}",
            did_you_mean(&wanted, known.iter().map(|(name, _)| name.as_str()))
        ))
        .hint(format!("command is one of: {}", names())));
    };
    let mut words: Vec<String> = name.split(' ').map(str::to_owned).collect();
    let mut positional: Vec<(usize, Vec<String>)> = Vec::new();
    for (key, value) in table {
        let written = key.replace('_', "-");
        let Some(arg) = command.get_arguments().find(|arg| listed(arg) && is_called(arg, &written)) else {
            let all: Vec<String> = command.get_arguments().filter(|arg| listed(arg)).map(key_of).collect();
            let near = did_you_mean(&key, all.iter().map(String::as_str));
            return Err(refuse(format!("unknown option '{key}' for {name}{near}"))
                .hint(format!("options of {name}: {}", all.join(", "))));
        };
        let values = texts(value).ok_or_else(|| {
            refuse(format!(
                "invalid value for '{key}': expected a text, a number, true or false, or a list, not a table or a date"
            ))
        })?;
        match (arg.get_index(), arg.get_action()) {
            (Some(index), _) => positional.push((index, values)),
            (None, ArgAction::SetTrue) => match values.as_slice() {
                [word] if word == "true" => words.push(format!("--{}", key_of(arg))),
                [word] if word == "false" => {}
                _ => return Err(refuse(format!("invalid value for '{key}': expected true or false"))),
            },
            // A value after its name and an equals sign cannot be taken for another option.
            (None, _) => words.extend(values.iter().map(|value| format!("--{}={value}", key_of(arg)))),
        }
    }
    positional.sort();
    words.extend(positional.into_iter().flat_map(|(_, values)| values));
    Ok(words)
}

/// Texts of a value, or of an array's values, as on the command line.
fn texts(value: toml::Value) -> Option<Vec<String>> {
    Some(match value {
        toml::Value::String(text) => vec![text],
        toml::Value::Integer(number) => vec![number.to_string()],
        toml::Value::Float(number) => vec![number.to_string()],
        toml::Value::Boolean(flag) => vec![flag.to_string()],
        toml::Value::Array(values) => {
            let texts: Option<Vec<Vec<String>>> = values.into_iter().map(texts).collect();
            texts?.concat()
        }
        toml::Value::Datetime(_) | toml::Value::Table(_) => return None,
    })
}

/// Every command that can stand in a file.
fn leaves() -> Vec<(String, Command)> {
    let mut found = commands();
    found.retain(|(name, _)| !["run", "record", "bisect", "completions", "man", "schema"].contains(&name.as_str()));
    found
}

/// Every command that does something, by its name on the command line.
pub(crate) fn commands() -> Vec<(String, Command)> {
    fn walk(command: &Command, name: &str, found: &mut Vec<(String, Command)>) {
        let shown = |below: &&Command| !below.is_hide_set() && below.get_name() != "help";
        for below in command.get_subcommands().filter(shown) {
            let name = format!("{name} {}", below.get_name()).trim().to_owned();
            walk(below, &name, found);
            if !below.is_subcommand_required_set() {
                found.push((name, below.clone()));
            }
        }
    }
    let mut found = Vec::new();
    walk(&Arguments::shown(), "", &mut found);
    found
}

/// Whether an argument is an option of Bourse, and shown in the help.
pub(crate) fn listed(arg: &Arg) -> bool {
    !arg.is_hide_set() && !["help", "version"].contains(&arg.get_id().as_str())
}

/// Whether a key of a file names an argument: by its name, or by an alias of the command line.
fn is_called(arg: &Arg, key: &str) -> bool {
    key_of(arg) == key || arg.get_all_aliases().is_some_and(|aliases| aliases.contains(&key))
}

/// Key of an argument in a file: its long name, or the name of its value.
fn key_of(arg: &Arg) -> String {
    arg.get_long().map_or_else(|| arg.get_id().as_str().replace('_', "-"), str::to_owned)
}

/// The JSON Schema of option files.
pub(crate) fn schema() -> Value {
    let commands: Vec<Value> = leaves()
        .iter()
        .map(|(name, command)| {
            let mut properties = serde_json::Map::new();
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            properties.insert("command".to_owned(), json!({ "const": name, "description": about }));
            for arg in command.get_arguments().filter(|arg| listed(arg)) {
                properties.insert(key_of(arg), property(arg));
            }
            json!({
                "title": name,
                "properties": properties,
                "required": ["command"],
                "additionalProperties": false,
            })
        })
        .collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Options of bourse in a file",
        "description": "What `bourse run FILE` takes: a command, and its options by their long names.",
        "type": "object",
        "oneOf": commands,
    })
}

/// JSON Schema of an argument's value.
pub(crate) fn property(arg: &Arg) -> Value {
    let about = arg.get_long_help().or(arg.get_help()).map(ToString::to_string).unwrap_or_default();
    if matches!(arg.get_action(), ArgAction::SetTrue) {
        return json!({ "type": "boolean", "description": about });
    }
    let possible: Vec<String> = arg.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect();
    let one = if possible.is_empty() { json!({ "type": ["string", "number"] }) } else { json!({ "enum": possible }) };
    let many = matches!(arg.get_action(), ArgAction::Append)
        || arg.get_num_args().is_some_and(|range| range.max_values() > 1)
        || arg.get_value_delimiter().is_some();
    let whole = if many { json!({ "anyOf": [one, { "type": "array", "items": one }] }) } else { one };
    let mut property = serde_json::Map::new();
    if let Value::Object(whole) = whole {
        property.extend(whole);
    }
    property.insert("description".to_owned(), about.into());
    let defaults: Vec<String> =
        arg.get_default_values().iter().map(|value| value.to_string_lossy().into_owned()).collect();
    if let [default] = defaults.as_slice() {
        property.insert("default".to_owned(), default.clone().into());
    }
    Value::Object(property)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(content: &str) -> Result<Vec<String>, String> {
        words(content).map_err(|failure| failure.render())
    }

    #[test]
    fn a_file_is_what_would_be_typed() {
        let words = typed(
            "command = \"tpce run\"\ntargets = [\"sqlite:a.db\", \"sqlite::memory:\"]\nusers = 4\nfor = \"30s\"\n\
             find-max = false\nrequire_steady = true\nsweep = [\"users=1,2\", \"journal=delete,wal\"]\n",
        );
        let expected = [
            "tpce",
            "run",
            "--users=4",
            "--for=30s",
            "--require-steady",
            "--sweep=users=1,2",
            "--sweep=journal=delete,wal",
            "sqlite:a.db",
            "sqlite::memory:",
        ];
        let mut words = words.expect("the file is right");
        let mut expected: Vec<String> = expected.map(str::to_owned).into();
        assert_eq!(words.split_off(words.len() - 2), expected.split_off(expected.len() - 2), "targets come last");
        words.sort();
        expected.sort();
        assert_eq!(words, expected);
    }

    #[test]
    fn what_is_wrong_in_a_file_is_said() {
        for (content, said) in [
            ("users = 4", "command = "),
            ("command = \"tpce\"", "command is one of: tpce run"),
            ("command = \"tpce run\"\nuser = 4", "unknown option 'user' for tpce run; did you mean 'users'?"),
            ("command = \"tpce run\"\nusers = ", "not valid TOML"),
            ("command = \"tpce run\"\nfind-max = 3", "true or false"),
            ("command = \"tpce run\"\n[users]\na = 1", "table"),
            ("command = \"tpce rum\"", "unknown command 'tpce rum'; did you mean 'tpce run'?"),
        ] {
            let failure = typed(content).expect_err("the file is wrong");
            assert!(failure.contains(said), "{content}: {failure}");
        }
    }

    #[test]
    fn the_schema_knows_every_command_and_option() {
        let schema = schema();
        let commands = schema["oneOf"].as_array().expect("one for each command");
        let run = commands.iter().find(|it| it["title"] == "tpce run").expect("tpce run can stand in a file");
        assert_eq!(run["properties"]["find-max"]["type"], "boolean");
        assert_eq!(run["properties"]["arrivals"]["enum"], json!(["poisson", "constant", "shared", "shared-constant"]));
        assert!(run["properties"]["targets"]["anyOf"].is_array());
        assert!(commands.iter().any(|it| it["title"] == "micro run"));
    }
}
