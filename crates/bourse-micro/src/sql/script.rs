//! What a file says, checked: set-up, operations, checks, and the words that differ between engines.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

use super::draw::{Declared, Literal};
use crate::options::OptionError;
use bourse_engine::Dialect;
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// The most parameters of a statement: they stand on the stack while it runs.
pub(super) const MOST_PARAMETERS: usize = 32;

/// The largest weight of an operation: the sum of all weights must be a number too.
const MOST_WEIGHT: u64 = 1_000_000_000;

/// Whose words are those of every dialect for which the file has none.
const STANDARD: &str = Dialect::STANDARD.name;

/// A file's contents.
#[derive(Debug, Default)]
pub(super) struct Script {
    pub(super) parameters: Vec<(String, Declared)>,
    /// By dialect, then by name; those of [`STANDARD`] are of every dialect that has none of its own here.
    pub(super) holes: BTreeMap<String, BTreeMap<String, String>>,
    pub(super) setup: Vec<Setup>,
    pub(super) operations: Vec<Operation>,
    pub(super) checks: Vec<Equals>,
}

/// A statement of the set-up.
#[derive(Debug)]
pub(super) struct Setup {
    pub(super) statement: Statement,
    pub(super) repeat: u64,
}

/// An operation that is measured.
#[derive(Debug)]
pub(super) struct Operation {
    pub(super) name: String,
    pub(super) weight: u64,
    pub(super) statements: Vec<Statement>,
    /// Whether they are one transaction; a statement by itself commits by itself.
    pub(super) is_transaction: bool,
    /// Rows that its statements must give or change, all together.
    pub(super) rows: Option<u64>,
}

/// A question with its only right answer.
#[derive(Debug)]
pub(super) struct Equals {
    pub(super) sql: String,
    pub(super) equals: Literal,
}

/// A statement with numbered parameters.
#[derive(Debug, Clone)]
pub(super) struct Statement {
    pub(super) sql: String,
    /// Of each of its places the parameter, by its number in the file.
    pub(super) parameters: Vec<usize>,
    /// Whether the statement returns rows.
    pub(super) is_query: bool,
    /// How many columns its rows have, once one came.
    pub(super) columns: OnceLock<usize>,
}

/// What is wrong, and in which line.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) line: Option<usize>,
    pub(super) what: String,
}

impl Fault {
    pub(super) fn at(line: usize, what: impl Into<String>) -> Self {
        Self { line: Some(line), what: what.into() }
    }

    pub(super) fn in_file(self, file: &str) -> OptionError {
        let line = self.line.map_or_else(String::new, |line| format!(", line {line}"));
        OptionError::File { place: format!("{file}{line}"), what: self.what }
    }
}

impl Script {
    /// A statement whose parameters are declared already.
    pub(super) fn statement(&self, text: &str, line: usize) -> Result<Statement, Fault> {
        let fault = |what: String| Fault::at(line, what);
        let (sql, names) = numbered(text).map_err(fault)?;
        if sql.trim().is_empty() {
            return Err(fault("the statement is empty".to_owned()));
        }
        if names.len() > MOST_PARAMETERS {
            return Err(fault(format!("{} parameters in one statement: at most {MOST_PARAMETERS}", names.len())));
        }
        let number = |name: &String| {
            self.parameters.iter().position(|(known, _)| known == name).ok_or_else(|| {
                let known: Vec<_> = self.parameters.iter().map(|(name, _)| name.as_str()).collect();
                let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
                Fault::at(line, format!("`:{name}` is no parameter; declared: {known}"))
            })
        };
        let parameters = names.iter().map(number).collect::<Result<_, _>>()?;
        let lower = sql.trim_start().to_ascii_lowercase();
        let first = lower.split(|character: char| !character.is_ascii_alphabetic()).next().unwrap_or_default();
        let gives_rows = matches!(first, "select" | "with" | "values" | "show" | "explain" | "pragma");
        Ok(Statement {
            sql,
            parameters,
            is_query: gives_rows || lower.contains(" returning "),
            columns: OnceLock::new(),
        })
    }

    /// Declares a parameter.
    pub(super) fn declare(&mut self, name: &str, declared: Declared, line: usize) -> Result<(), Fault> {
        if let Some(fault) = declared.fault() {
            return Err(Fault::at(line, format!("parameter {name}: {fault}")));
        }
        if self.parameters.iter().any(|(known, _)| known == name) {
            return Err(Fault::at(line, format!("parameter {name} is declared twice")));
        }
        self.parameters.push((name.to_owned(), declared));
        Ok(())
    }

    /// Adds an operation.
    pub(super) fn operation(&mut self, operation: Operation, line: usize) -> Result<(), Fault> {
        let fault = |what: String| Err(Fault::at(line, what));
        if operation.name.trim().is_empty() {
            return fault("an operation needs a name".to_owned());
        }
        if self.operations.iter().any(|known| known.name == operation.name) {
            return fault(format!("two operations are called {:?}", operation.name));
        }
        if operation.weight == 0 {
            return fault(format!("operation {:?} has weight 0: it would never be done", operation.name));
        }
        if operation.weight > MOST_WEIGHT {
            return fault(format!(
                "operation {:?} has weight {}: at most {MOST_WEIGHT}",
                operation.name, operation.weight
            ));
        }
        self.operations.push(operation);
        Ok(())
    }

    /// The whole, if it can be run.
    pub(super) fn finished(self) -> Result<Self, Fault> {
        if self.operations.is_empty() {
            return Err(Fault { line: None, what: "it has no operation: there is nothing to measure".to_owned() });
        }
        Ok(self)
    }

    /// Holes of its statements that an engine of that dialect has no word for.
    pub(super) fn open_holes(&self, dialect: &Dialect) -> Vec<String> {
        let statements = self.setup.iter().map(|setup| &setup.statement.sql);
        let statements = statements.chain(self.operations.iter().flat_map(|it| &it.statements).map(|it| &it.sql));
        let mut open: Vec<String> = statements
            .chain(self.checks.iter().map(|check| &check.sql))
            .flat_map(|sql| holes(sql))
            .filter(|hole| !self.words(dialect).any(|(ours, _)| ours == hole) && !dialect.has_hole(hole))
            .map(str::to_owned)
            .collect();
        open.sort();
        open.dedup();
        open
    }

    /// The file's words for that dialect, and behind them those for every other.
    fn words(&self, dialect: &Dialect) -> impl Iterator<Item = (&String, &String)> {
        [dialect.name, STANDARD].into_iter().filter_map(move |name| self.holes.get(name)).flatten()
    }

    /// A statement's text with the file's words for that dialect.
    pub(super) fn filled(&self, sql: &str, dialect: &Dialect) -> String {
        self.words(dialect).fold(sql.to_owned(), |text, (hole, word)| text.replace(&format!("{{{hole}}}"), word))
    }
}

/// The names in `{…}`.
fn holes(sql: &str) -> impl Iterator<Item = &str> {
    sql.split('{').skip(1).filter_map(|rest| {
        let (name, _) = rest.split_once('}')?;
        let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
        is_name.then_some(name)
    })
}

/// The text with `?1`, `?2` … in the place of `:name`, and the names in that order; quoted text and comments stay.
fn numbered(text: &str) -> Result<(String, Vec<String>), String> {
    let (mut sql, mut names) = (String::new(), Vec::new());
    let mut rest = text.trim();
    while let Some(character) = rest.chars().next() {
        let behind = rest.strip_prefix(character).unwrap_or_default();
        let taken = match character {
            '\'' | '"' | '`' => {
                let end = behind.find(character).ok_or_else(|| format!("a {character} has no end"))?;
                end.saturating_add(2)
            }
            '-' if rest.starts_with("--") => {
                // A comment of one line would swallow what comes behind it on a line made of several.
                rest = rest.split_once('\n').map_or("", |(_, rest)| rest);
                sql.push(' ');
                continue;
            }
            '/' if rest.starts_with("/*") => rest.find("*/").ok_or("a /* has no end")?.saturating_add(2),
            ':' if rest.starts_with("::") => 2,
            ':' => {
                let name: String =
                    behind.chars().take_while(|next| next.is_ascii_alphanumeric() || *next == '_').collect();
                if !name.starts_with(|first: char| first.is_ascii_digit()) && !name.is_empty() {
                    rest = behind.strip_prefix(name.as_str()).unwrap_or_default();
                    names.push(name);
                    sql.push_str(&format!("?{}", names.len()));
                    continue;
                }
                1
            }
            '?' => return Err("parameters are written :name, not ?".to_owned()),
            other => other.len_utf8(),
        };
        let (kept, behind) = rest.split_at_checked(taken).unwrap_or((rest, ""));
        sql.push_str(kept);
        rest = behind;
    }
    Ok((sql.trim().trim_end_matches(';').trim_end().to_owned(), names))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_numbers_outside_of_quotes() {
        let check = |text: &str, sql: &str, names: &[&str]| {
            let found = numbered(text).unwrap();
            assert_eq!(
                (found.0.as_str(), found.1.iter().map(String::as_str).collect::<Vec<_>>()),
                (sql, names.to_vec())
            );
        };
        check("SELECT :a, ':b', :a;", "SELECT ?1, ':b', ?2", &["a", "a"]);
        check(
            "SELECT a::text, \"x:y\" -- :c\n FROM t WHERE b=:b",
            "SELECT a::text, \"x:y\"   FROM t WHERE b=?1",
            &["b"],
        );
        check("SELECT '12:30', /* :d */ 'it''s :e'", "SELECT '12:30', /* :d */ 'it''s :e'", &[]);
        assert_eq!(numbered("SELECT ?").unwrap_err(), "parameters are written :name, not ?");
        assert_eq!(numbered("SELECT 'a").unwrap_err(), "a ' has no end");
    }

    #[test]
    fn holes_are_words_in_braces() {
        assert_eq!(
            holes("a {number} '{\"json\": 1}' {} {for_update} {X}").collect::<Vec<_>>(),
            ["number", "for_update"]
        );
    }
}
