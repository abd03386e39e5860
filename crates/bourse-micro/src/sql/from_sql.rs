//! SQL form of a file: lines that begin with `--!` declare the purpose of the statements below them.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

use super::draw::{DeclaredDistribution, Literal};
use super::pieces::{self, Pieces, TextPiece};
use super::script::{EqualityCheck, ScriptFault, ScriptOperation, Setup, SqlScript};

/// Purpose of the statements below a directive.
enum DirectiveSection {
    Nothing,
    Setup { repeat: u64 },
    Operation { name: String, weight: u64, rows: Option<u64>, is_transaction: bool, line: usize },
    Check { equals: Literal },
}

const KNOWN: &str = "parameter, hole, setup, operation, transaction, check";

/// Reads the SQL form.
pub(super) fn read(text: &str) -> Result<SqlScript, ScriptFault> {
    if let Some(fault) = pgbench(text) {
        return Err(fault);
    }
    let mut script = SqlScript::default();
    let mut section = DirectiveSection::Nothing;
    let mut below = String::new();
    let mut begins = 1;
    for (line, words) in (1..).zip(text.lines()) {
        match words.trim_start().strip_prefix("--!") {
            None => {
                below.push_str(words);
                below.push('\n');
            }
            Some(directive) => {
                close(&mut script, section, &below, begins)?;
                below.clear();
                begins = usize::saturating_add(line, 1);
                section = directed(&mut script, directive.trim(), line)?;
            }
        }
    }
    close(&mut script, section, &below, begins)?;
    script.finished()
}

/// Error for a script of pgbench, recognised by its commands, tables or variables; `None` for a file with a directive.
fn pgbench(text: &str) -> Option<ScriptFault> {
    const COMMANDS: [&str; 14] = [
        "set", "sleep", "setshell", "shell", "if", "elif", "else", "endif", "gset", "aset", "startpipeline",
        "syncpipeline", "endpipeline", "setrandom",
    ];
    const VARIABLES: [&str; 4] = [":scale", ":client_id", ":random_seed", ":default_seed"];
    let of_pgbench = |line: &str| {
        let command = line.trim_start().strip_prefix('\\').and_then(|rest| rest.split_whitespace().next());
        command.is_some_and(|command| COMMANDS.contains(&command))
            || Pieces::of(line).any(|piece| match piece {
                TextPiece::Word(word) => word.starts_with("pgbench_"),
                TextPiece::Parameter(name) => VARIABLES.contains(&name),
                _ => false,
            })
    };
    let is_own = text.lines().any(|line| line.trim_start().starts_with("--!"));
    let (line, _) = (1..).zip(text.lines()).find(|(_, line)| !is_own && of_pgbench(line))?;
    Some(ScriptFault::at(
        line,
        "this is a pgbench script: write `--! transaction NAME` before its statements without BEGIN and END, for each \
         `\\set NAME random(LOW, HIGH)` a line `--! parameter NAME uniform LOW HIGH`, for random_zipfian `zipfian`, and \
         below `--! setup` the statements that make its tables",
    ))
}

/// Processes one directive.
fn directed(script: &mut SqlScript, directive: &str, line: usize) -> Result<DirectiveSection, ScriptFault> {
    let fault = |what: String| Err(ScriptFault::at(line, what));
    let (kind, rest) = directive.split_once(char::is_whitespace).unwrap_or((directive, ""));
    let words: Vec<&str> = rest.split_whitespace().collect();
    match (kind, words.as_slice()) {
        ("parameter", [name, kind, values @ ..]) => {
            let Some(declared) = declared(kind, values) else {
                return fault(format!(
                    "parameter {name}: {kind:?} with {} is no distribution: {}, with its bounds, width or values",
                    values.len(),
                    DeclaredDistribution::NAMES
                ));
            };
            script.declare(name, declared, line)?;
            Ok(DirectiveSection::Nothing)
        }
        ("hole", [dialect, name, word @ ..]) => {
            let word = word.join(" ");
            script.holes.entry((*dialect).to_owned()).or_default().insert((*name).to_owned(), word);
            Ok(DirectiveSection::Nothing)
        }
        ("setup", []) => Ok(DirectiveSection::Setup { repeat: 1 }),
        ("setup", ["repeat", times]) => match times.replace('_', "").parse() {
            Ok(repeat) => Ok(DirectiveSection::Setup { repeat }),
            Err(_) => fault(format!("repeat {times}: an integer is expected")),
        },
        ("operation" | "transaction", [_, ..]) => {
            let (mut name, mut weight, mut rows) = (words.clone(), 1, None);
            // From the end: a name may be of several words.
            while let [before @ .., key @ ("weight" | "rows"), number] = name.as_slice() {
                let Ok(number) = number.parse::<u64>() else {
                    return fault(format!("{key} {number}: an integer is expected"));
                };
                if *key == "weight" {
                    weight = number
                } else {
                    rows = Some(number)
                }
                name = before.to_vec();
            }
            let is_transaction = kind == "transaction";
            Ok(DirectiveSection::Operation { name: name.join(" "), weight, rows, is_transaction, line })
        }
        ("check", ["equals", value @ ..]) if !value.is_empty() => {
            Ok(DirectiveSection::Check { equals: Literal::of(&value.join(" ")) })
        }
        ("parameter", _) => fault("expected: --! parameter NAME DISTRIBUTION VALUES".to_owned()),
        ("hole", _) => fault("expected: --! hole DIALECT NAME WORD".to_owned()),
        ("setup", _) => fault("expected: --! setup, or --! setup repeat NUMBER".to_owned()),
        ("operation" | "transaction", _) => fault(format!("expected: --! {kind} NAME weight NUMBER rows NUMBER")),
        ("check", _) => fault("expected: --! check equals VALUE".to_owned()),
        _ => fault(format!("{kind:?} is not known behind --!; known: {KNOWN}")),
    }
}

fn declared(kind: &str, values: &[&str]) -> Option<DeclaredDistribution> {
    let whole = |text: &str| text.replace('_', "").parse::<i64>().ok();
    let range = || match values {
        [low, high] => Some([whole(low)?, whole(high)?]),
        _ => None,
    };
    Some(match (kind, values) {
        ("uniform", _) => DeclaredDistribution::Uniform(range()?),
        ("zipfian", _) => DeclaredDistribution::Zipfian(range()?),
        ("sequential", _) => DeclaredDistribution::Sequential(range()?),
        ("unique", [first]) => DeclaredDistribution::Unique(whole(first)?),
        ("real", [low, high]) => DeclaredDistribution::Real([low.parse().ok()?, high.parse().ok()?]),
        ("text", [width]) => DeclaredDistribution::Text(width.parse().ok()?),
        ("choice", [_, ..]) => DeclaredDistribution::Choice(values.iter().map(|word| Literal::of(word)).collect()),
        ("constant", [_, ..]) => DeclaredDistribution::Constant(Literal::of(&values.join(" "))),
        _ => return None,
    })
}

/// Assigns the statements below a directive to it; `begins` is their first line.
fn close(script: &mut SqlScript, section: DirectiveSection, below: &str, begins: usize) -> Result<(), ScriptFault> {
    let mut statements = Vec::new();
    for (line, text) in pieces::statements(below) {
        let line = begins.saturating_add(line);
        if matches!(section, DirectiveSection::Nothing) {
            let what = "what this statement is for is not said: a line with --! setup, operation, transaction or check before it";
            return Err(ScriptFault::at(line, what));
        }
        statements.push((line, script.statement(text, line)?));
    }
    match section {
        DirectiveSection::Nothing => Ok(()),
        DirectiveSection::Setup { repeat } => {
            script.setup.extend(statements.into_iter().map(|(_, statement)| Setup { statement, repeat }));
            Ok(())
        }
        DirectiveSection::Operation { name, weight, rows, is_transaction, line } => {
            let count = statements.len();
            if count == 0 || (count > 1 && !is_transaction) {
                let wanted = if is_transaction { "some" } else { "one, or --! transaction for several" };
                return Err(ScriptFault::at(line, format!("{name:?} has {count} statements: {wanted} expected")));
            }
            let statements = statements.into_iter().map(|(_, statement)| statement).collect();
            script.operation(ScriptOperation { name, weight, statements, is_transaction, rows }, line)
        }
        DirectiveSection::Check { equals } => {
            for (line, statement) in statements {
                if !statement.parameters.is_empty() {
                    return Err(ScriptFault::at(line, "a check has no parameters"));
                }
                script.checks.push(EqualityCheck { sql: statement.sql, equals: equals.clone() });
            }
            Ok(())
        }
    }
}
