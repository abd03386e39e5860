//! Summary of a trace.

use crate::{Event, EventKind, Note, Opened, Record, StatementText};
use std::collections::{BTreeMap, BTreeSet};

/// Counts of one text's executions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatementSummary {
    /// Text.
    pub text: StatementText,
    /// Executions.
    pub executions: u64,
    /// Executions and preparations that ended with an error.
    pub errors: u64,
    /// Rows read.
    pub rows: u64,
    /// Sum of durations in nanoseconds.
    pub duration_ns: u64,
    /// Executions with a value that another process cannot bind, by its noun.
    pub unbindable: BTreeMap<String, u64>,
}

/// Counts over the records of one trace.
#[derive(Debug, Clone, Default)]
pub struct TraceSummary {
    /// Texts in the order of their numbers.
    pub statements: Vec<StatementSummary>,
    /// Opened connections, with their events' numbers of connections.
    pub opened: Vec<(u64, Opened)>,
    /// Connections that were closed.
    pub closed: u64,
    /// Threads.
    pub threads: BTreeSet<u64>,
    /// Executions.
    pub executions: u64,
    /// Executions that ended with an error, and statements that could not be prepared.
    pub errors: u64,
    /// Rows read.
    pub rows: u64,
    /// Rows changed.
    pub changes: u64,
    /// Transactions of several statements, ended in any way.
    pub transactions: u64,
    /// Notes by subject and name, with how often each was made.
    pub notes: BTreeMap<(Note, String), u64>,
    /// Failure after which nothing was recorded.
    pub stopped: Option<String>,
    /// Last event in nanoseconds since the trace began.
    pub end_ns: u64,
}

impl TraceSummary {
    /// Adds the next record of the trace.
    pub fn add(&mut self, record: Record) {
        match record {
            Record::Text(text) => self.statements.push(StatementSummary {
                text,
                executions: 0,
                errors: 0,
                rows: 0,
                duration_ns: 0,
                unbindable: BTreeMap::new(),
            }),
            Record::Event(event) => self.event(event),
        }
    }

    fn event(&mut self, event: Event) {
        self.end_ns = self.end_ns.max(event.at_ns);
        self.threads.insert(event.thread);
        let of = |text: u64| usize::try_from(text).unwrap_or(usize::MAX);
        match event.kind {
            EventKind::Opened(opened) => self.opened.push((event.connection, opened)),
            EventKind::Closed => add(&mut self.closed, 1),
            EventKind::Executed(it) => {
                let failed = u64::from(it.code != 0);
                add(&mut self.executions, 1);
                add(&mut self.errors, failed);
                add(&mut self.rows, it.rows.rows);
                add(&mut self.changes, it.changes);
                add(&mut self.transactions, u64::from(!it.autocommit_before && it.autocommit_after));
                if let Some(statement) = self.statements.get_mut(of(it.text)) {
                    add(&mut statement.executions, 1);
                    add(&mut statement.errors, failed);
                    add(&mut statement.rows, it.rows.rows);
                    add(&mut statement.duration_ns, it.duration_ns);
                    if let Some(what) = it.unbindable() {
                        add(statement.unbindable.entry(what).or_default(), 1);
                    }
                }
            }
            EventKind::Refused { text, .. } => {
                add(&mut self.errors, 1);
                if let Some(statement) = self.statements.get_mut(of(text)) {
                    add(&mut statement.errors, 1);
                }
            }
            EventKind::Noted { note, number, name } => {
                // The number is the system's error.
                self.stopped = (note == Note::Trouble && number != 0).then(|| name.clone()).or(self.stopped.take());
                add(self.notes.entry((note, name)).or_default(), 1);
            }
            EventKind::Ended => {}
        }
    }

    /// Names of the program's own functions, collations and modules that the statement names, each with its subject. A name is
    /// searched as a word, so that one in a literal counts too.
    #[must_use]
    pub fn foreign_names(&self, sql: &str) -> Vec<(Note, &str)> {
        let words: BTreeSet<String> =
            sql.split(|c: char| !c.is_alphanumeric() && c != '_').map(str::to_lowercase).collect();
        let own = |(note, name): &(Note, String)| {
            matches!(note, Note::Function | Note::Collation | Note::Module) && words.contains(&name.to_lowercase())
        };
        self.notes.keys().filter(|it| own(it)).map(|(note, name)| (*note, name.as_str())).collect()
    }
}

fn add(to: &mut u64, more: u64) {
    *to = to.saturating_add(more);
}
