//! The TOML form of a file.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

use super::draw::{DeclaredDistribution, Literal};
use super::script::{ScriptFault, ScriptOperation, Setup, SqlScript};
use serde::Deserialize;
use std::collections::BTreeMap;
use toml::Spanned;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TomlScript {
    #[serde(default)]
    parameters: BTreeMap<String, Spanned<DeclaredDistribution>>,
    #[serde(default)]
    holes: BTreeMap<String, BTreeMap<String, String>>,
    #[serde(default)]
    setup: Vec<SetupTable>,
    #[serde(default)]
    operation: Vec<OperationTable>,
    #[serde(default)]
    check: Vec<CheckTable>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table for each statement: [[setup]] and below it sql = \"…\"")]
struct SetupTable {
    sql: Spanned<String>,
    #[serde(default = "one")]
    repeat: u64,
}

#[derive(Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a table for each operation: [[operation]] and below it name = \"…\" and sql = \"…\""
)]
struct OperationTable {
    name: Spanned<String>,
    #[serde(default = "one")]
    weight: u64,
    sql: Option<Spanned<String>>,
    transaction: Option<Vec<Spanned<String>>>,
    rows: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table for each check: [[check]] and below it sql = \"…\" and equals = …")]
struct CheckTable {
    sql: Spanned<String>,
    equals: Literal,
}

fn one() -> u64 {
    1
}

/// Reads the TOML form into a script.
pub(super) fn read(script: &mut SqlScript, text: &str) -> Result<(), ScriptFault> {
    let line = |at: usize| text.get(..at).unwrap_or(text).matches('\n').count().saturating_add(1);
    let document: TomlScript = toml::from_str(text).map_err(|error| ScriptFault {
        line: error.span().map(|span| line(span.start)),
        what: error.message().to_owned(),
    })?;
    script.holes = document.holes;
    for (name, declared) in document.parameters {
        let at = line(declared.span().start);
        script.declare(&name, declared.into_inner(), 0, at)?;
    }
    for SetupTable { sql, repeat } in document.setup {
        let statement = script.statement(sql.get_ref(), line(sql.span().start))?;
        script.setup.push(Setup { statement, repeat });
    }
    for OperationTable { name, weight, sql, transaction, rows } in document.operation {
        let at = line(name.span().start);
        let (texts, is_transaction) = match (sql, transaction) {
            (Some(sql), None) => (vec![sql], false),
            (None, Some(texts)) if !texts.is_empty() => (texts, true),
            _ => {
                let what = format!(
                    "operation {:?} needs either `sql`, one statement, or `transaction`, a list of some",
                    name.get_ref()
                );
                return Err(ScriptFault::at(at, what));
            }
        };
        let statements = texts.iter().map(|sql| script.statement(sql.get_ref(), line(sql.span().start)));
        let statements = statements.collect::<Result<_, _>>()?;
        script.operation(
            ScriptOperation { name: name.into_inner(), weight, statements, is_transaction, rows, drawn: Vec::new() },
            at,
        )?;
    }
    for CheckTable { sql, equals } in document.check {
        let statement = script.statement(sql.get_ref(), line(sql.span().start))?;
        script.check(statement, equals)?;
    }
    Ok(())
}
