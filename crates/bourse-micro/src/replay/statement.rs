//! Statements of a recording, with the facts of their texts.

use super::settings::ChangedSetting;
use super::shape::{Shape, numbered};
use super::tokens::{clock_columns, condition_names, has_clock, has_sum, is_beyond_masks, read_names};
use bourse_engine::Sql;
use bourse_trace::Execution;
use std::collections::{BTreeSet, HashMap};

/// A statement's text.
#[derive(Debug)]
pub(super) struct RecordedStatement {
    /// Text as recorded.
    pub(super) text: String,
    /// Text with numbered parameters, which any engine's session writes in its own way.
    pub(super) sql: &'static Sql,
    pub(super) operation: usize,
    /// Whether it returns rows.
    pub(super) is_query: bool,
    /// Whether the number of rows that it changes is known.
    pub(super) changes_rows: bool,
    /// Whether `ORDER BY` orders its rows.
    pub(super) is_ordered: bool,
    /// Whether its rows depend on more than the data: a clock, a random number, settings.
    pub(super) is_vague: bool,
    /// Whether a clock or random numbers are in it.
    pub(super) has_clock: bool,
    /// Words and names that decide the number of its rows, as those of conditions.
    pub(super) conditions: BTreeSet<String>,
    /// Whether that number depends on more than what masks keep.
    pub(super) is_beyond_masks: bool,
    /// Whether it adds numbers up, for whose last digits the version of SQLite matters.
    pub(super) has_sum: bool,
    /// Whether it is `PRAGMA wal_checkpoint`.
    pub(super) checkpoints: bool,
    /// Whether it is `VACUUM`.
    is_vacuum: bool,
    /// Whether it sets the greatest number of pages.
    limits_pages: bool,
    /// Setting that it changes, and that is the target's in a replay.
    pub(super) setting: Option<ChangedSetting>,
    /// Whether it chooses the encoding of texts.
    pub(super) chooses_encoding: bool,
    /// Columns of its table that it fills from a clock or random numbers; `None` if these are elsewhere in it.
    pub(super) clock_columns: Option<Vec<String>>,
    /// Whether it declares or alters an object of the schema.
    pub(super) declares: bool,
    /// Words and quoted names; each table that it names is among them.
    pub(super) names: BTreeSet<String>,
    /// Words and names but for columns that it only fills.
    pub(super) read: BTreeSet<String>,
    /// Whether `*` may stand for columns.
    pub(super) has_star: bool,
    /// Table that it changes; `None` if its words do not show it.
    pub(super) target: Option<String>,
    pub(super) reads: bool,
    /// Whether it may change nothing that another connection sees: a temporary table, a setting, or what is there, or missing, already.
    pub(super) may_change_nothing: bool,
    /// Whether it makes a temporary object, or names its table as one.
    is_temporary: bool,
    pub(super) control: Option<Control>,
    /// Whether it undoes what its transaction wrote, maybe to a savepoint.
    pub(super) undoes: bool,
    pub(super) duration_ns: u64,
}

/// Word that begins or ends transactions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Control {
    Begin,
    Savepoint,
    Release,
    Commit,
    Rollback,
}

/// Texts by their numbers.
#[derive(Default)]
pub(super) struct Statements {
    pub(super) all: Vec<RecordedStatement>,
    numbers: HashMap<String, usize>,
}

impl Statements {
    /// Number of a text.
    pub(super) fn number(&mut self, sql: &str, is_read_only: bool) -> usize {
        if let Some(number) = self.numbers.get(sql) {
            self.all[*number].reads &= is_read_only;
            return *number;
        }
        self.numbers.insert(sql.to_owned(), self.all.len());
        self.all.push(RecordedStatement::of(sql, is_read_only));
        self.all.len() - 1
    }

    /// Finds the statements that change temporary tables.
    pub(super) fn mark_temporary(&mut self) {
        let temporary = self.all.iter().filter(|it| it.is_temporary);
        let temporary: BTreeSet<_> = temporary.filter_map(|it| it.target.clone()).collect();
        for statement in &mut self.all {
            statement.may_change_nothing |= statement.target.as_ref().is_some_and(|target| temporary.contains(target));
        }
    }
}

impl RecordedStatement {
    pub(super) fn of(sql: &str, is_read_only: bool) -> Self {
        let shape = Shape::of(sql);
        let first = &*shape.first_word;
        let control = match first {
            "begin" => Some(Control::Begin),
            "savepoint" => Some(Control::Savepoint),
            "release" => Some(Control::Release),
            "commit" | "end" => Some(Control::Commit),
            "rollback" if !shape.has_to => Some(Control::Rollback),
            _ => None,
        };
        let is_query = matches!(first, "select" | "values" | "explain" | "pragma") || (first == "with" && is_read_only);
        let declares = matches!(first, "create" | "alter");
        let changes_rows = !is_read_only && matches!(first, "insert" | "update" | "delete" | "replace" | "with");
        // A text lives as long as the process, as all statements do.
        let numbered: &'static str = numbered(sql).leak();
        let has_clock = has_clock(numbered);
        Self {
            sql: Box::leak(Box::new(Sql::new(numbered))),
            text: sql.to_owned(),
            operation: usize::MAX,
            is_query: is_query || shape.returns,
            changes_rows,
            is_ordered: shape.is_ordered,
            is_vague: has_clock || shape.asks_storage,
            has_clock,
            conditions: condition_names(numbered),
            is_beyond_masks: is_beyond_masks(numbered),
            has_sum: has_sum(numbered),
            checkpoints: first == "pragma" && shape.names.contains("wal_checkpoint"),
            is_vacuum: first == "vacuum",
            limits_pages: first == "pragma" && shape.names.contains("max_page_count"),
            setting: ChangedSetting::of(sql),
            chooses_encoding: first == "pragma" && shape.names.contains("encoding") && sql.contains(['=', '(']),
            clock_columns: clock_columns(numbered),
            declares,
            // A declaration reads no rows but by a query within it.
            read: match declares && !shape.names.contains("select") {
                true => BTreeSet::new(),
                false => read_names(numbered),
            },
            names: shape.names,
            has_star: shape.has_star,
            target: shape.target,
            reads: is_read_only,
            may_change_nothing: first == "pragma" || shape.is_temporary || shape.is_conditional,
            is_temporary: shape.is_temporary,
            control,
            undoes: first == "rollback",
            duration_ns: 0,
        }
    }

    /// Table that it changes, if it is known.
    pub(super) fn changed_table(&self) -> Option<String> {
        self.target.clone().filter(|_| !self.reads)
    }

    /// Reason that a replay does not execute it where it had that code: an error by the state of the program or of its machine.
    pub(super) fn cause_elsewhere(&self, code: u64) -> Option<&'static str> {
        Some(match (code, code & 0xFF) {
            _ if self.limits_pages => "a replay has other pages, with Bourse's own tables",
            (1, _) if self.is_vacuum => "the program had another statement of the connection open",
            (531, _) => "the program's commit hook refused",
            (_, 4) => "the program rolled back meanwhile",
            (_, 7) => "the program had no memory",
            (_, 8) => "the program had the database open for reading alone",
            (_, 10 | 14) => "the program's file system failed",
            (_, 13) => "the program's disk or database was full",
            (_, 17) => "the schema had changed since the program prepared it",
            (_, 18) => "a value was longer than the program's limit",
            (_, 23) => "the program's authorizer refused",
            _ => return None,
        })
    }

    pub(super) fn executed(&mut self, executed: &Execution) {
        self.is_query |= executed.rows.rows > 0;
        self.duration_ns = self.duration_ns.saturating_add(executed.duration_ns.max(1));
    }
}
