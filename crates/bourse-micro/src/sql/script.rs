//! Contents of a file, checked: set-up, operations, checks, and words that differ between engines.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

use super::draw::{DeclaredDistribution, Literal};
use super::pieces::{Pieces, TextPiece};
use crate::database::MARK;
use crate::options::OptionError;
use crate::replay::shape::Shape;
use bourse_engine::{Dialect, EngineError, ErrorKind, INVENTORY, Setting};
use sha2::Sha256;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

/// Maximum number of parameters of a statement: they are on the stack while it runs.
pub(super) const MOST_PARAMETERS: usize = 32;

/// Maximum weight of an operation: the sum of all weights must be a number too.
const MOST_WEIGHT: u64 = 1_000_000_000;

/// Dialect whose words apply to every dialect without its own in the file.
const STANDARD: &str = Dialect::STANDARD.name;

/// Contents of a file.
#[derive(Debug, Default)]
pub(super) struct SqlScript {
    /// Digest of the texts of all files; `None` of the example, which is part of the program.
    pub(super) contents: Option<Sha256>,
    /// Name of the file that is read.
    pub(super) file: Arc<str>,
    pub(super) parameters: Vec<(String, DeclaredDistribution)>,
    /// Words by dialect, then by hole; those of [`STANDARD`] apply to every dialect that does not define the hole here.
    pub(super) holes: BTreeMap<String, BTreeMap<String, String>>,
    pub(super) setup: Vec<Setup>,
    pub(super) operations: Vec<ScriptOperation>,
    pub(super) checks: Vec<EqualityCheck>,
    /// Value of `:scale`, and whether the file has a use for it.
    pub(super) scale: u64,
    pub(super) is_scaled: bool,
}

/// A statement of the set-up.
#[derive(Debug)]
pub(super) struct Setup {
    pub(super) statement: ScriptStatement,
    pub(super) repeat: u64,
}

/// A measured operation.
#[derive(Debug)]
pub(super) struct ScriptOperation {
    pub(super) name: String,
    pub(super) weight: u64,
    pub(super) statements: Vec<ScriptStatement>,
    /// Numbers of the parameters to draw for it, in ascending order.
    pub(super) drawn: Vec<usize>,
    /// Whether the statements form one transaction; otherwise each commits by itself.
    pub(super) is_transaction: bool,
    /// Required number of rows that its statements return or change, in total.
    pub(super) rows: Option<u64>,
}

/// A check: a query with its expected result, one row of one column.
#[derive(Debug)]
pub(super) struct EqualityCheck {
    pub(super) sql: String,
    pub(super) equals: Literal,
}

/// A statement with numbered parameters.
#[derive(Debug, Clone)]
pub(super) struct ScriptStatement {
    pub(super) sql: String,
    /// File that contains it, and the line that it begins in.
    pub(super) file: Arc<str>,
    pub(super) line: usize,
    /// Number in the file of the parameter at each position.
    pub(super) parameters: Vec<usize>,
    /// First word in lower case.
    pub(super) first_word: String,
    /// Whether the statement returns rows.
    pub(super) is_query: bool,
    /// Whether the statement returns rows and may change some too.
    pub(super) is_changing_query: bool,
    /// Number of columns of its rows, once one was returned.
    pub(super) columns: OnceLock<usize>,
}

impl ScriptStatement {
    /// Place of the statement: file and line.
    pub(super) fn place(&self) -> String {
        format!("{}, line {}", self.file, self.line)
    }

    /// Whether the statement changes rows, by its first word.
    fn changes_rows(&self) -> bool {
        const FIRST: [&str; 5] = ["insert", "update", "delete", "replace", "merge"];
        !self.is_query && FIRST.contains(&&*self.first_word)
    }

    /// Whether the statement changes the schema, by its first word.
    fn changes_schema(&self) -> bool {
        const FIRST: [&str; 4] = ["create", "alter", "drop", "rename"];
        FIRST.contains(&&*self.first_word)
    }

    /// Whether the statement changes the database, by all its words: `INSERT … RETURNING` and `SELECT … INTO` too.
    fn is_change(&self) -> bool {
        let changes = self.changes_rows() || self.is_changing_query || self.changes_schema();
        changes || self.first_word == "truncate" || words(&self.sql).any(|word| word == "into")
    }

    /// Name of the setting that it changes, of these: by `SET`, a block, a statement about the server, a database or a user, or
    /// PostgreSQL's function.
    fn changed_setting<'s>(&self, settings: &'s [Setting]) -> Option<&'s str> {
        const FIRST: [&str; 5] = ["set", "reset", "alter", "do", "begin"];
        let sql = self.sql.to_ascii_lowercase();
        let may_change = FIRST.contains(&&*self.first_word) || sql.contains("set_config");
        // In quotes too: the function has it as a text, a block is one.
        let mut words = sql.split(|character: char| !(character.is_alphanumeric() || character == '_'));
        let setting = words.find_map(|word| settings.iter().find(|it| it.name.eq_ignore_ascii_case(word)))?;
        may_change.then_some(setting.name.as_str())
    }

    /// Whether the statement begins or ends a transaction, by its words. Savepoints may be set in the operation's own.
    fn ends_transaction(&self, is_in_transaction: bool) -> bool {
        const ALWAYS: [&str; 5] = ["start", "commit", "end", "abort", "xa"];
        let words: Vec<String> = words(&self.sql).take(3).collect();
        let Some((first, rest)) = words.split_first() else { return false };
        match first.as_str() {
            // A compound statement of MariaDB's begins so too.
            "begin" => rest.first().is_none_or(|word| word != "not"),
            "savepoint" | "release" => !is_in_transaction,
            "rollback" => !is_in_transaction || !rest.iter().any(|word| word == "to"),
            "set" => rest.iter().any(|word| word == "autocommit"),
            "prepare" => rest.first().is_some_and(|word| word == "transaction"),
            first => ALWAYS.contains(&first),
        }
    }
}

/// A defect of a file, with its line.
#[derive(Debug)]
pub(super) struct ScriptFault {
    pub(super) line: Option<usize>,
    pub(super) what: String,
}

impl ScriptFault {
    pub(super) fn at(line: usize, what: impl Into<String>) -> Self {
        Self { line: Some(line), what: what.into() }
    }

    pub(super) fn in_file(self, file: &str) -> OptionError {
        let line = self.line.map_or_else(String::new, |line| format!(", line {line}"));
        OptionError::File { place: format!("{file}{line}"), what: self.what }
    }
}

impl SqlScript {
    /// Parses a statement whose parameters are declared already.
    pub(super) fn statement(&self, text: &str, line: usize) -> Result<ScriptStatement, ScriptFault> {
        let fault = |what: String| ScriptFault::at(line, what);
        let (sql, names) = numbered(text).map_err(fault)?;
        if sql.trim().is_empty() {
            return Err(fault("the statement is empty".to_owned()));
        }
        if let Some(table) = own_table(&sql) {
            let why = "by which Bourse knows the database as its own; name another table";
            return Err(fault(format!("the statement names {table}, {why}")));
        }
        if names.len() > MOST_PARAMETERS {
            return Err(fault(format!("{} parameters in one statement: at most {MOST_PARAMETERS}", names.len())));
        }
        let number = |name: &String| {
            self.parameter(name).ok_or_else(|| {
                let known = self.parameters.iter().filter(|(_, it)| !matches!(it, DeclaredDistribution::RowOf(_)));
                let known: Vec<_> = known.map(|(name, _)| name.as_str()).collect();
                let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
                ScriptFault::at(line, format!("`:{name}` is no parameter; declared: {known}"))
            })
        };
        let parameters = names.iter().map(number).collect::<Result<_, _>>()?;
        let file = self.file.clone();
        let shape = Shape::of(&sql);
        let (is_query, first_word) = (shape.gives_rows(), shape.first_word);
        let is_changing_query = is_query && shape.names_change;
        Ok(ScriptStatement {
            first_word,
            is_query,
            is_changing_query,
            sql,
            file,
            line,
            parameters,
            columns: OnceLock::new(),
        })
    }

    /// Multiplies the weights of the operations from number `from` on.
    pub(super) fn weigh(&mut self, from: usize, weight: u64) -> Result<(), ScriptFault> {
        for operation in self.operations.iter_mut().skip(from) {
            operation.weight = operation.weight.saturating_mul(weight);
            if !(1..=MOST_WEIGHT).contains(&operation.weight) {
                let what =
                    format!("operation {:?} has weight {}: 1 to {MOST_WEIGHT}", operation.name, operation.weight);
                return Err(ScriptFault { line: None, what });
            }
        }
        Ok(())
    }

    /// Number of the parameter that a name refers to: the last with that name.
    pub(super) fn parameter(&self, name: &str) -> Option<usize> {
        self.parameters.iter().rposition(|(known, _)| known == name)
    }

    /// Error for a parameter whose value cannot be computed.
    pub(super) fn undefined(&self, number: usize, fault: &str) -> EngineError {
        let name = self.parameters.get(number).map_or("", |(name, _)| name);
        EngineError::new(ErrorKind::Other, format!("{}: \\set {name}: {fault}", self.file))
    }

    /// Numbers of the parameters to draw for these statements, in ascending order: theirs, and those of which these are computed.
    pub(super) fn drawn<'t>(&self, statements: impl IntoIterator<Item = &'t ScriptStatement>) -> Vec<usize> {
        let mut drawn: BTreeSet<usize> = statements.into_iter().flat_map(|it| it.parameters.iter().copied()).collect();
        // An expression reads parameters before it alone, and so does a column in a row.
        for (number, (_, declared)) in self.parameters.iter().enumerate().rev() {
            match declared {
                DeclaredDistribution::Expression(expression) if drawn.contains(&number) => {
                    expression.add_parameters(&mut drawn);
                }
                DeclaredDistribution::Row(column) if drawn.contains(&number) => drop(drawn.insert(column.row)),
                _ => {}
            }
        }
        drawn.into_iter().collect()
    }

    /// Declares a parameter; from number `since` on none may have that name, and those before are hidden.
    pub(super) fn declare(
        &mut self,
        name: &str,
        mut declared: DeclaredDistribution,
        since: usize,
        line: usize,
    ) -> Result<(), ScriptFault> {
        if let Some(fault) = declared.fault() {
            return Err(ScriptFault::at(line, format!("parameter {name}: {fault}")));
        }
        if self.parameters.iter().skip(since).any(|(known, _)| known == name) {
            return Err(ScriptFault::at(line, format!("parameter {name} is declared twice")));
        }
        if let DeclaredDistribution::Row(column)
        | DeclaredDistribution::Distinct(column)
        | DeclaredDistribution::DistinctZipfian(column) = &mut declared
        {
            column.place = format!("{}, line {line}", self.file);
        }
        if let DeclaredDistribution::Row(column) = &mut declared {
            // No statement can name a parameter with spaces.
            let row = format!("row of {}", column.table);
            column.row = self.parameter(&row).unwrap_or(self.parameters.len());
            if column.row == self.parameters.len() {
                self.parameters.push((row, DeclaredDistribution::RowOf(column.table.clone())));
            }
        }
        self.parameters.push((name.to_owned(), declared));
        Ok(())
    }

    /// Adds an operation, with the parameters that its statements need.
    pub(super) fn operation(&mut self, mut operation: ScriptOperation, line: usize) -> Result<(), ScriptFault> {
        let fault = |what: String| Err(ScriptFault::at(line, what));
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
        let is_transaction = operation.is_transaction;
        if let Some(statement) = operation.statements.iter().find(|it| it.ends_transaction(is_transaction)) {
            let what = format!(
                "operation {:?} begins or ends a transaction itself: Bourse commits each operation; `--! transaction NAME` \
                 makes its statements one transaction, without BEGIN and COMMIT of their own",
                operation.name
            );
            return Err(ScriptFault::at(statement.line, what));
        }
        operation.drawn = self.drawn(&operation.statements);
        self.operations.push(operation);
        Ok(())
    }

    /// Adds a check.
    pub(super) fn check(&mut self, statement: ScriptStatement, equals: Literal) -> Result<(), ScriptFault> {
        let fault = |what: &str| Err(ScriptFault::at(statement.line, what));
        if !statement.parameters.is_empty() {
            return fault("a check has no parameters");
        }
        if statement.is_change() {
            return fault("a check changes nothing: it is a query with a result of one row and one column");
        }
        self.checks.push(EqualityCheck { sql: statement.sql, equals });
        Ok(())
    }

    /// The complete script, if it has an operation.
    pub(super) fn finished(self) -> Result<Self, ScriptFault> {
        if self.operations.is_empty() {
            return Err(ScriptFault {
                line: None,
                what: "it has no operation: there is nothing to measure".to_owned(),
            });
        }
        if let Some(Setup { statement, .. }) = self.setup.iter().find(|it| it.statement.ends_transaction(true)) {
            let what = "the set-up begins or ends a transaction itself: Bourse commits it, without BEGIN and COMMIT";
            return Err(ScriptFault::at(statement.line, what));
        }
        Ok(self)
    }

    /// First statement that reads or writes that table or view, as far as its words show.
    pub(super) fn naming(&self, table: &str) -> Option<&ScriptStatement> {
        let mut statements = self.setup.iter().map(|setup| &setup.statement).chain(self.of_operations());
        statements.find(|statement| {
            let mut before = String::new();
            Pieces::of(&statement.sql).filter(|piece| piece.is_executed()).any(|piece| {
                let is_behind = ["from", "join", "into", "update"].contains(&before.as_str());
                before = piece.text().to_ascii_lowercase();
                is_behind && is_name(piece, table)
            })
        })
    }

    /// Whether an operation has a statement that changes rows, by its first word.
    pub(super) fn changes_rows(&self) -> bool {
        self.of_operations().any(ScriptStatement::changes_rows)
    }

    /// Refuses operations that change one of a session's settings.
    ///
    /// What holds for a transaction alone, or is set back before the round's end, cannot be seen in the settings after it, and the
    /// durability class rests on them.
    ///
    /// # Errors
    /// [`Refused`](ErrorKind::Refused), with the place of the statement.
    pub(super) fn refuse_settings(&self, settings: &[Setting]) -> Result<(), EngineError> {
        for statement in self.of_operations() {
            if let Some(name) = statement.changed_setting(settings) {
                let words = format!("it changes {name}: settings stand in the target, and hold for every operation");
                let refused = EngineError::new(ErrorKind::Refused, words).with_statement(&statement.sql);
                return Err(super::located(refused, &statement.place()));
            }
        }
        Ok(())
    }

    /// Statements of the operations.
    fn of_operations(&self) -> impl Iterator<Item = &ScriptStatement> {
        self.operations.iter().flat_map(|operation| &operation.statements)
    }

    /// Whether an operation changes the schema: tables that other operations use may then be missing when a round
    /// begins.
    pub(super) fn changes_schema(&self) -> bool {
        self.of_operations().any(ScriptStatement::changes_schema)
    }

    /// Holes of the statements, by name.
    pub(super) fn holes_used(&self) -> impl Iterator<Item = &str> {
        let statements = self.setup.iter().map(|setup| &setup.statement.sql);
        let statements = statements.chain(self.of_operations().map(|it| &it.sql));
        statements.chain(self.checks.iter().map(|check| &check.sql)).flat_map(|sql| holes(sql))
    }

    /// Holes of the statements for which neither the file nor the dialect has a word.
    pub(super) fn open_holes(&self, dialect: &Dialect) -> Vec<String> {
        let mut open: Vec<String> = self
            .holes_used()
            .filter(|hole| !self.words(dialect).any(|(ours, _)| ours == hole) && !dialect.has_hole(hole))
            .map(str::to_owned)
            .collect();
        open.sort();
        open.dedup();
        open
    }

    /// Words of the file for that dialect, followed by those for every dialect.
    fn words(&self, dialect: &Dialect) -> impl Iterator<Item = (&String, &String)> {
        [dialect.name, STANDARD].into_iter().filter_map(move |name| self.holes.get(name)).flatten()
    }

    /// Text of a statement with the file's words for that dialect.
    pub(super) fn filled(&self, sql: &str, dialect: &Dialect) -> String {
        self.words(dialect).fold(sql.to_owned(), |text, (hole, word)| text.replace(&format!("{{{hole}}}"), word))
    }
}

/// Names of the holes: `{…}`.
fn holes(sql: &str) -> impl Iterator<Item = &str> {
    sql.split('{').skip(1).filter_map(|rest| {
        let (name, _) = rest.split_once('}')?;
        let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
        is_name.then_some(name)
    })
}

/// Text with `?1`, `?2` … in place of `:name`, and the names in that order; quoted text and comments are unchanged.
fn numbered(text: &str) -> Result<(String, Vec<String>), String> {
    let (mut sql, mut names) = (String::new(), Vec::new());
    let mut pieces = Pieces::of(text.trim());
    for piece in pieces.by_ref() {
        match piece {
            TextPiece::Parameter(name) => {
                names.push(name.trim_start_matches(':').to_owned());
                sql.push_str(&format!("?{}", names.len()));
            }
            // A line comment would swallow the following text when lines are joined.
            TextPiece::LineComment(_) => sql.push(' '),
            TextPiece::Other("?") => return Err("parameters are written :name, not ?".to_owned()),
            other => sql.push_str(other.text()),
        }
    }
    if let Some(open) = pieces.open {
        return Err(format!("a {open} has no end"));
    }
    Ok((sql.trim().trim_end_matches(';').trim_end().to_owned(), names))
}

/// Table by which Bourse recognises a database, if a statement names one: without it every later run would refuse the database.
fn own_table(sql: &str) -> Option<&'static str> {
    [INVENTORY, MARK.name()].into_iter().find(|table| Pieces::of(sql).any(|piece| is_name(piece, table)))
}

fn is_name(piece: TextPiece<'_>, table: &str) -> bool {
    piece.text().trim_matches(['"', '`', '\'']).eq_ignore_ascii_case(table)
}

/// Words of a statement in lower case, except those in quotes and comments.
fn words(sql: &str) -> impl Iterator<Item = String> {
    Pieces::of(sql).filter_map(|piece| match piece {
        TextPiece::Word(word) => Some(word.to_ascii_lowercase()),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_that_changes_rows_is_seen_by_its_words() {
        for (sql, changes) in [
            ("WITH x AS (SELECT 1) INSERT INTO a SELECT 1", true),
            ("UPDATE a SET b = 1 RETURNING b", true),
            ("WITH y AS (DELETE FROM a RETURNING b) SELECT b FROM y", true),
            ("WITH x AS (SELECT 1) REPLACE INTO a SELECT 1", true),
            ("SELECT replace(a, 'insert', b) FROM t FOR NO KEY UPDATE", false),
            ("SELECT a FROM t WHERE b = 'delete' FOR UPDATE", false),
        ] {
            assert_eq!(Shape::of(sql).names_change, changes, "{sql}");
        }
    }

    #[test]
    fn a_statement_that_changes_a_setting_is_seen() {
        let settings = ["synchronous_commit", "work_mem"].map(|name| Setting::new(name, "on"));
        for (sql, expected) in [
            ("SET LOCAL Synchronous_Commit = off", Some("synchronous_commit")),
            ("SELECT set_config('synchronous_commit', 'off', true)", Some("synchronous_commit")),
            ("ALTER SYSTEM SET work_mem = 1", Some("work_mem")),
            ("DO $$ BEGIN SET work_mem = 1; END $$", Some("work_mem")),
            ("RESET work_mem", Some("work_mem")),
            ("SET LOCAL statement_timeout = 5", None),
            ("SET @old_work_mem = 1", None),
            ("SELECT current_setting('work_mem')", None),
            ("UPDATE t SET work_mem = 1", None),
        ] {
            let statement = SqlScript::default().statement(sql, 1).expect("it has no parameters");
            assert_eq!(statement.changed_setting(&settings), expected, "{sql}");
        }
    }

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
            "SELECT a::text, \"x:y\"  \n FROM t WHERE b=?1",
            &["b"],
        );
        check("SELECT '12:30', /* :d */ 'it''s :e'", "SELECT '12:30', /* :d */ 'it''s :e'", &[]);
        assert_eq!(numbered("SELECT ?").unwrap_err(), "parameters are written :name, not ?");
        assert_eq!(numbered("SELECT 'a").unwrap_err(), "a ' has no end");
    }

    #[test]
    fn statements_that_return_rows_are_known_by_their_words() {
        let check = |sql: &str, expected: bool| assert_eq!(Shape::of(sql).gives_rows(), expected, "{sql}");
        check("/* of; a mapper */ SELECT 1", true);
        check("(SELECT 1) UNION SELECT 2", true);
        check("INSERT INTO t VALUES (1)\nRETURNING\nid", true);
        check("UPDATE t SET a = ' returning ' /* returning */", false);
        check("CREATE TABLE a (id INTEGER)", false);
    }

    #[test]
    fn holes_are_words_in_braces() {
        assert_eq!(
            holes("a {number} '{\"json\": 1}' {} {for_update} {X}").collect::<Vec<_>>(),
            ["number", "for_update"]
        );
    }
}
