//! SQL form of a file: lines that begin with `--!` declare the purpose of the statements below them.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

use super::columns::ColumnName;
use super::draw::{DeclaredDistribution, Literal};
use super::expression::{BRANCHES, Expression};
use super::pieces::{self, Pieces, TextPiece};
use super::script::{ScriptFault, ScriptOperation, ScriptStatement, Setup, SqlScript};

/// Purpose of the statements below a directive.
enum DirectiveSection {
    Nothing,
    Setup {
        repeat: u64,
    },
    Operation {
        name: String,
        weight: u64,
        rows: Option<u64>,
        is_transaction: bool,
        line: usize,
    },
    /// A file without directives: a script of pgbench.
    Script {
        name: String,
    },
    Check {
        equals: Literal,
    },
}

const KNOWN: &str = "parameter, hole, setup, operation, transaction, check";

/// Set-up of pgbench's tables, as its `-i` makes them; `filler` has letters, so that rows are as wide where texts are not padded.
const PGBENCH_TABLES: &str = include_str!("pgbench.sql");

/// Reads the SQL form into a script.
pub(super) fn read(script: &mut SqlScript, text: &str) -> Result<(), ScriptFault> {
    let since = script.parameters.len();
    let mut section = DirectiveSection::Nothing;
    if is_pgbench(text) {
        let names_table = |piece| matches!(piece, TextPiece::Word(word) if word.starts_with("pgbench_"));
        if script.setup.is_empty() && Pieces::of(text).any(names_table) {
            read(script, PGBENCH_TABLES)?;
        }
        let stem = std::path::Path::new(&*script.file).file_stem();
        section = DirectiveSection::Script { name: stem.unwrap_or_default().to_string_lossy().into_owned() };
    }
    for (name, known) in [("scale", Expression::int(script.scale)), ("client_id", Expression::User)] {
        let is_used = |piece| matches!(piece, TextPiece::Parameter(used) if used.trim_start_matches(':') == name);
        if Pieces::of(text).any(is_used) && script.parameter(name).is_none() {
            script.parameters.push((name.to_owned(), DeclaredDistribution::Expression(known)));
            script.is_scaled |= name == "scale";
        }
    }
    let mut variables = script.parameters.len();
    let mut below = String::new();
    let mut begins = 1;
    for (line, words) in (1..).zip(text.lines()) {
        let begin = words.trim_start();
        if let Some(directive) = begin.strip_prefix("--!") {
            close(script, section, &below, begins)?;
            below.clear();
            begins = usize::saturating_add(line, 1);
            section = directed(script, directive.trim(), since, line)?;
            variables = script.parameters.len();
            continue;
        }
        match begin.strip_prefix('\\') {
            Some(command) => set(script, command, variables, line)?,
            None => below.push_str(words),
        }
        below.push('\n');
    }
    close(script, section, &below, begins)
}

/// Whether a file is a script of pgbench, by its commands, tables or variables; a file with a directive is none.
fn is_pgbench(text: &str) -> bool {
    const VARIABLES: [&str; 2] = [":scale", ":client_id"];
    let of_pgbench = |line: &str| {
        line.trim_start().starts_with('\\')
            || Pieces::of(line).any(|piece| match piece {
                TextPiece::Word(word) => word.starts_with("pgbench_"),
                TextPiece::Parameter(name) => VARIABLES.contains(&name),
                _ => false,
            })
    };
    let is_own = text.lines().any(|line| line.trim_start().starts_with("--!"));
    !is_own && text.lines().any(of_pgbench)
}

/// Declares the variable of a line `\set NAME EXPRESSION`.
fn set(script: &mut SqlScript, command: &str, since: usize, line: usize) -> Result<(), ScriptFault> {
    let fault = |what: String| ScriptFault::at(line, what);
    let (word, rest) = command.split_once(char::is_whitespace).unwrap_or((command, ""));
    if word != "set" {
        let instead = match word {
            "if" | "elif" | "else" | "endif" => BRANCHES,
            "gset" | "aset" => "use the value within one statement, by a subquery or WITH",
            "shell" | "setshell" => "run the program before, and write its value: \\set NAME NUMBER",
            "sleep" => "leave it out, and give --rate",
            "startpipeline" | "syncpipeline" | "endpipeline" => {
                "leave it out: each statement is answered before the next"
            }
            _ => "leave it out, or write it as a statement",
        };
        return Err(fault(format!("\\{word} cannot be run: of pgbench's commands \\set alone is known; {instead}")));
    }
    let (name, expression) = rest.trim().split_once(char::is_whitespace).unwrap_or((rest.trim(), ""));
    if name.is_empty() || !name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_') {
        return Err(fault("expected: \\set NAME EXPRESSION".to_owned()));
    }
    let variable = |name: &str| script.parameter(name).map(Expression::Parameter);
    let expression = Expression::parse(expression, &variable).map_err(|what| fault(format!("\\set {name}: {what}")))?;
    script.declare(name, DeclaredDistribution::Expression(expression), since, line)
}

/// Processes one directive.
fn directed(
    script: &mut SqlScript,
    directive: &str,
    since: usize,
    line: usize,
) -> Result<DirectiveSection, ScriptFault> {
    let fault = |what: String| Err(ScriptFault::at(line, what));
    let (kind, rest) = directive.split_once(char::is_whitespace).unwrap_or((directive, ""));
    let words: Vec<&str> = rest.split_whitespace().collect();
    match (kind, words.as_slice()) {
        ("parameter", [name, kind, values @ ..]) => {
            // A quoted name may have any white space.
            let written = rest.trim_start().strip_prefix(name).unwrap_or_default().trim_start();
            let written = written.strip_prefix(kind).unwrap_or_default();
            let Some(declared) = declared(kind, values, written) else {
                return fault(format!(
                    "parameter {name}: {kind:?} with {} is no distribution: {}, with its bounds, width, values or TABLE.COLUMN",
                    values.len(),
                    DeclaredDistribution::NAMES
                ));
            };
            script.declare(name, declared, since, line)?;
            Ok(DirectiveSection::Nothing)
        }
        ("hole", [dialect, name, word @ ..]) => {
            let word = word.join(" ");
            script.holes.entry((*dialect).to_owned()).or_default().insert((*name).to_owned(), word);
            Ok(DirectiveSection::Nothing)
        }
        ("setup", []) => Ok(DirectiveSection::Setup { repeat: 1 }),
        ("setup", ["repeat", factor @ .., times]) if matches!(factor, [] | ["scale", "*"]) => {
            let Ok(times) = times.replace('_', "").parse::<u64>() else {
                return fault(format!("repeat {times}: an integer is expected"));
            };
            let is_scaled = !factor.is_empty();
            script.is_scaled |= is_scaled;
            Ok(DirectiveSection::Setup { repeat: if is_scaled { times.saturating_mul(script.scale) } else { times } })
        }
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
            // A misspelt key would else be a part of the name.
            if name.iter().any(|word| word.parse::<f64>().is_ok() || word.contains('=')) {
                return fault(format!(
                    "{}: behind a name, weight NUMBER and rows NUMBER alone are known, and a name has no word that is a number \
                     or holds \"=\"",
                    name.join(" ")
                ));
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

/// Distribution of a directive; `written` is what follows its kind, `values` the words of it.
fn declared(kind: &str, values: &[&str], written: &str) -> Option<DeclaredDistribution> {
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
        ("row", _) => DeclaredDistribution::Row(ColumnName::parse(written)?),
        ("distinct", _) => DeclaredDistribution::Distinct(ColumnName::parse(written)?),
        ("distinct_zipfian", _) => DeclaredDistribution::DistinctZipfian(ColumnName::parse(written)?),
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
            let drawn = Vec::new();
            script.operation(ScriptOperation { name, weight, statements, drawn, is_transaction, rows }, line)
        }
        DirectiveSection::Script { name } => {
            let mut statements: Vec<_> = statements.into_iter().map(|(_, statement)| statement).collect();
            let is = |statement: Option<&ScriptStatement>, words: [&str; 2]| {
                statement.is_some_and(|statement| words.contains(&&*statement.first_word))
            };
            let is_transaction = is(statements.first(), ["begin", "start"]) && is(statements.last(), ["end", "commit"]);
            if is_transaction {
                statements.remove(0);
                statements.pop();
            }
            if statements.is_empty() {
                return Err(ScriptFault::at(begins, "the script has no statement"));
            }
            let drawn = Vec::new();
            let operation = ScriptOperation { name, weight: 1, statements, drawn, is_transaction, rows: None };
            script.operation(operation, begins)
        }
        DirectiveSection::Check { equals } => {
            statements.into_iter().try_for_each(|(_, statement)| script.check(statement, equals.clone()))
        }
    }
}
