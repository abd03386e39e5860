//! The SQL form of a file: lines that begin with `--!` say what the statements below them are for.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

use super::draw::{Declared, Literal};
use super::script::{Equals, Fault, Operation, Script, Setup};

/// What the statements below a line are for.
enum Section {
    Nothing,
    Setup { repeat: u64 },
    Operation { name: String, weight: u64, rows: Option<u64>, is_transaction: bool, line: usize },
    Check { equals: Literal },
}

const KNOWN: &str = "parameter, hole, setup, operation, transaction, check";

/// Reads the SQL form.
pub(super) fn read(text: &str) -> Result<Script, Fault> {
    let mut script = Script::default();
    let mut section = Section::Nothing;
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

/// Follows one directive.
fn directed(script: &mut Script, directive: &str, line: usize) -> Result<Section, Fault> {
    let fault = |what: String| Err(Fault::at(line, what));
    let (kind, rest) = directive.split_once(char::is_whitespace).unwrap_or((directive, ""));
    let words: Vec<&str> = rest.split_whitespace().collect();
    match (kind, words.as_slice()) {
        ("parameter", [name, kind, values @ ..]) => {
            let Some(declared) = declared(kind, values) else {
                return fault(format!(
                    "parameter {name}: {kind:?} with {} is no distribution: {}, with its bounds, width or values",
                    values.len(),
                    Declared::NAMES
                ));
            };
            script.declare(name, declared, line)?;
            Ok(Section::Nothing)
        }
        ("hole", [dialect, name, word @ ..]) => {
            let word = word.join(" ");
            script.holes.entry((*dialect).to_owned()).or_default().insert((*name).to_owned(), word);
            Ok(Section::Nothing)
        }
        ("setup", []) => Ok(Section::Setup { repeat: 1 }),
        ("setup", ["repeat", times]) => match times.replace('_', "").parse() {
            Ok(repeat) => Ok(Section::Setup { repeat }),
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
            Ok(Section::Operation { name: name.join(" "), weight, rows, is_transaction, line })
        }
        ("check", ["equals", value @ ..]) if !value.is_empty() => {
            Ok(Section::Check { equals: Literal::of(&value.join(" ")) })
        }
        ("parameter", _) => fault("expected: --! parameter NAME DISTRIBUTION VALUES".to_owned()),
        ("hole", _) => fault("expected: --! hole DIALECT NAME WORD".to_owned()),
        ("setup", _) => fault("expected: --! setup, or --! setup repeat NUMBER".to_owned()),
        ("operation" | "transaction", _) => fault(format!("expected: --! {kind} NAME weight NUMBER rows NUMBER")),
        ("check", _) => fault("expected: --! check equals VALUE".to_owned()),
        _ => fault(format!("{kind:?} is not known behind --!; known: {KNOWN}")),
    }
}

fn declared(kind: &str, values: &[&str]) -> Option<Declared> {
    let whole = |text: &str| text.replace('_', "").parse::<i64>().ok();
    let range = || match values {
        [low, high] => Some([whole(low)?, whole(high)?]),
        _ => None,
    };
    Some(match (kind, values) {
        ("uniform", _) => Declared::Uniform(range()?),
        ("zipfian", _) => Declared::Zipfian(range()?),
        ("sequential", _) => Declared::Sequential(range()?),
        ("unique", [first]) => Declared::Unique(whole(first)?),
        ("real", [low, high]) => Declared::Real([low.parse().ok()?, high.parse().ok()?]),
        ("text", [width]) => Declared::Text(width.parse().ok()?),
        ("choice", [_, ..]) => Declared::Choice(values.iter().map(|word| Literal::of(word)).collect()),
        ("constant", [_, ..]) => Declared::Constant(Literal::of(&values.join(" "))),
        _ => return None,
    })
}

/// Gives the statements that stood below a directive to it; `begins` is their first line.
fn close(script: &mut Script, section: Section, below: &str, begins: usize) -> Result<(), Fault> {
    let mut statements = Vec::new();
    for (line, text) in split(below) {
        let line = begins.saturating_add(line);
        statements.push((line, script.statement(text, line)?));
    }
    match section {
        Section::Nothing => match statements.first() {
            Some((line, _)) => Err(Fault::at(
                *line,
                "what this statement is for is not said: a line with --! setup, operation, transaction or check before it",
            )),
            None => Ok(()),
        },
        Section::Setup { repeat } => {
            script.setup.extend(statements.into_iter().map(|(_, statement)| Setup { statement, repeat }));
            Ok(())
        }
        Section::Operation { name, weight, rows, is_transaction, line } => {
            let count = statements.len();
            if count == 0 || (count > 1 && !is_transaction) {
                let wanted = if is_transaction { "some" } else { "one, or --! transaction for several" };
                return Err(Fault::at(line, format!("{name:?} has {count} statements: {wanted} expected")));
            }
            let statements = statements.into_iter().map(|(_, statement)| statement).collect();
            script.operation(Operation { name, weight, statements, is_transaction, rows }, line)
        }
        Section::Check { equals } => {
            for (line, statement) in statements {
                if !statement.parameters.is_empty() {
                    return Err(Fault::at(line, "a check has no parameters"));
                }
                script.checks.push(Equals { sql: statement.sql, equals: equals.clone() });
            }
            Ok(())
        }
    }
}

/// The statements, parted by semicolons outside of quotes and comments, each with the line it begins in, from 0.
fn split(text: &str) -> Vec<(usize, &str)> {
    let mut ends = Vec::new();
    let mut quote = None;
    let mut bytes = text.bytes().enumerate().peekable();
    while let Some((at, byte)) = bytes.next() {
        match (quote, byte) {
            (Some(b'\n'), b'\n') => quote = None,
            (Some(open), close) if open == close => quote = None,
            (None, b'\'' | b'"' | b'`') => quote = Some(byte),
            // A comment ends with its line.
            (None, b'-') if bytes.peek().is_some_and(|(_, next)| *next == b'-') => quote = Some(b'\n'),
            (None, b';') => ends.push(at),
            _ => {}
        }
    }
    let is_statement = |part: &str| part.lines().map(str::trim).any(|line| !line.is_empty() && !line.starts_with("--"));
    let line_feeds = |text: &str| text.matches('\n').count();
    let (mut parts, mut rest, mut from, mut line) = (Vec::new(), text, 0_usize, 0_usize);
    for end in ends.into_iter().map(Some).chain([None]) {
        let (part, behind) = end.and_then(|end| rest.split_at_checked(end.saturating_sub(from))).unwrap_or((rest, ""));
        if is_statement(part) {
            let blank = part.strip_suffix(part.trim_start()).unwrap_or_default();
            parts.push((line.saturating_add(line_feeds(blank)), part.trim()));
        }
        line = line.saturating_add(line_feeds(part));
        rest = behind.strip_prefix(';').unwrap_or_default();
        from = end.map_or(from, |end| end.saturating_add(1));
    }
    parts
}
