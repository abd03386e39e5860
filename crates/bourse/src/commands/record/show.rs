//! `bourse record show`: what is in a trace, and what of it cannot be replayed.

use super::folder::{ReadTrace, traces};
use crate::failure::{Exit, Failure, Result};
use crate::output::{has_color, line_width};
use bourse_engine::{Engine as _, EngineError, ErrorKind, Session, one_line, shortened};
use bourse_engine_sqlite::StoredDatabase;
use bourse_report::{Sheet, SheetEntry, TableCell};
use bourse_trace::{Note, StatementSummary, TraceBase, TraceError, TraceSummary};
use bourse_verdict::units::{count, counted, duration_ns, printable};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Characters of a statement that a replay refuses.
const REFUSED: usize = 120;

/// End of the name of what executions lack.
const EXECUTIONS: &str = ": executions";

/// Columns next to a statement's text.
const BESIDE: usize = 38;

/// Session in which other databases and settings are refused as in a replay, with its engine.
struct ConfinedSession {
    _engine: bourse_engine_sqlite::SqliteEngine,
    session: Box<dyn Session>,
}

impl ConfinedSession {
    fn new() -> bourse_engine::Result<Self> {
        let opened = bourse_engine_sqlite::open("sqlite::memory:?defaults=sqlite");
        let engine = opened.map_err(|error| EngineError::new(ErrorKind::Other, error.to_string()))?;
        engine.sql()?.confine();
        let session = engine.session()?;
        Ok(Self { _engine: engine, session })
    }

    /// Whether a replay refuses the statement, because it reaches another file.
    fn refuses(&mut self, sql: &str) -> bool {
        const WORDS: [&str; 2] = ["attach", "vacuum"];
        let word: String = sql.trim_start().chars().take_while(|it| it.is_ascii_alphabetic()).collect();
        if !WORDS.iter().any(|it| word.eq_ignore_ascii_case(it)) {
            return false;
        }
        let tried = self.session.query_text(sql, &[], &mut |_| Ok(()));
        tried.is_err_and(|error| error.code() == Some("SQLITE_AUTH"))
    }
}

/// Objects of a copy that need the program's own functions, collations or modules, with what a replay does without these.
fn foreign_objects(copy: &Path, found: &TraceSummary) -> Vec<String> {
    // A copy that cannot be read is reported by the replay.
    let objects = StoredDatabase::open(copy).and_then(|it| it.objects()).unwrap_or_default();
    let needs = objects.iter().flat_map(|object| {
        let effect = match &*object.kind {
            "trigger" => format!("trigger {}: changes of {} are refused", object.name, object.table),
            kind => format!("{kind} {} is left out", object.name),
        };
        let names = found.foreign_names(&object.sql).into_iter();
        names.map(move |(note, name)| format!("{}: {name}: {effect}", note.words()))
    });
    needs.collect()
}

/// Names by which statements reach attached databases: the schemas of `ATTACH`, each with a point at its end, and tables that no
/// database has which the program opened.
fn attached_names(folder: &Path, found: &TraceSummary) -> BTreeSet<String> {
    let tables = |copy: &str| {
        let objects = StoredDatabase::open(&folder.join(copy)).and_then(|it| it.objects()).unwrap_or_default();
        objects.into_iter().map(|object| object.name.to_lowercase())
    };
    let copies = found.notes.keys().filter(|(note, _)| *note == Note::Attached);
    let copies = copies.filter_map(|(_, name)| name.split_once('\t').map(|(_, copy)| copy));
    let mut names: BTreeSet<String> = copies.flat_map(tables).collect();
    let opened = found.opened.iter().filter(|(_, opened)| opened.base.is_copied());
    opened.flat_map(|(_, opened)| tables(&opened.copy)).for_each(|own| {
        names.remove(&own);
    });
    let texts = || found.statements.iter().map(|it| it.text.sql.as_str());
    for name in texts().filter_map(bourse_micro::declared_name) {
        names.remove(&name);
    }
    let attached = texts().map(names_of).filter(|words| words.first().is_some_and(|word| word == "attach"));
    names.extend(attached.filter_map(|words| Some(format!("{}.", words.last().filter(|it| !it.is_empty())?))));
    names
}

/// Words of a statement in lower case without quotes; one before a point has it at its end.
fn names_of(sql: &str) -> Vec<String> {
    let plain = sql.to_lowercase().replace(['"', '[', ']', '`'], "").replace('.', ". ");
    let words = plain.split(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '.'));
    words.filter(|word| !word.is_empty()).map(ToOwned::to_owned).collect()
}

/// A trace, with what a replay lacks of it.
#[derive(Debug, Default, Serialize)]
pub(super) struct ShownTrace {
    /// Processes that called SQLite.
    processes: Vec<ShownProcess>,
    /// Statements over all processes, those with most time first.
    statements: Vec<ShownStatement>,
    /// Things that a replay lacks, and how often they occur.
    lacking: BTreeMap<String, u64>,
}

/// Counts of a process.
#[derive(Debug, Serialize)]
struct ShownProcess {
    /// Number that the system gave it.
    process: u32,
    /// Whether an extension recorded it, and not a preloaded library.
    by_extension: bool,
    /// Whether values are masked.
    is_masked: bool,
    /// Time from the first record to the last one, in nanoseconds.
    lasted_ns: u64,
    threads: u64,
    executions: u64,
    /// Transactions of several statements.
    transactions: u64,
    rows: u64,
    changes: u64,
    errors: u64,
    /// Reason that records may be missing at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    incomplete: Option<String>,
    connections: Vec<ShownConnections>,
}

/// Connections of a process that are alike.
#[derive(Debug, PartialEq, Serialize)]
struct ShownConnections {
    database: String,
    /// State of the database at the beginning.
    beginning: &'static str,
    /// Version of SQLite.
    sqlite: String,
    connections: u64,
}

/// Counts of a statement.
#[derive(Debug, Serialize)]
struct ShownStatement {
    sql: String,
    /// Whether values are in its text.
    has_literals: bool,
    executions: u64,
    /// Time from the first step of each execution to its end, in nanoseconds.
    time_ns: u64,
    rows: u64,
    errors: u64,
}

impl ShownProcess {
    fn of(read: &ReadTrace, folder: &Path) -> Self {
        let found = &read.summary;
        let mut connections: Vec<ShownConnections> = Vec::new();
        for (_, opened) in &found.opened {
            let beginning = match opened.base {
                TraceBase::Memory => "began empty: in memory or temporary",
                TraceBase::Copied | TraceBase::Replaced if !folder.join(&opened.copy).exists() => {
                    "its copy is removed: cannot be replayed"
                }
                TraceBase::Copied => "copied",
                TraceBase::Replaced => "copied: replaced by another file, and replayed as another database",
                TraceBase::New => "began empty: new file",
                TraceBase::Anew => "began empty: made anew, and replayed as another database",
                TraceBase::Missing => "not copied: cannot be replayed",
                TraceBase::Inherited => "open connection of the parent: cannot be replayed",
            };
            let database = if opened.path.is_empty() { &opened.name } else { &opened.path };
            let is_alike = |it: &&mut ShownConnections| {
                (&it.database, it.beginning, &it.sqlite) == (database, beginning, &opened.library)
            };
            match connections.iter_mut().find(is_alike) {
                Some(alike) => alike.connections += 1,
                None => connections.push(ShownConnections {
                    database: database.clone(),
                    beginning,
                    sqlite: opened.library.clone(),
                    connections: 1,
                }),
            }
        }
        Self {
            process: read.head.process,
            by_extension: read.head.by_extension,
            is_masked: read.head.is_masked,
            lasted_ns: found.end_ns,
            threads: found.threads.len() as u64,
            executions: found.executions,
            transactions: found.transactions,
            rows: found.rows,
            changes: found.changes,
            errors: found.errors,
            incomplete: read.incompleteness(),
            connections,
        }
    }

    fn entry(&self) -> SheetEntry {
        let counts = [
            counted(self.threads, "thread", "threads"),
            counted(self.executions, "execution", "executions"),
            counted(self.transactions, "transaction of several statements", "transactions of several statements"),
            counted(self.rows, "row", "rows"),
            counted(self.changes, "change", "changes"),
            counted(self.errors, "error", "errors"),
        ];
        let mut lines = vec![format!("{}: {}", duration_ns(self.lasted_ns as f64), counts.join(", "))];
        lines.extend(self.incomplete.iter().map(|why| format!("incomplete: {why}")));
        lines.extend(self.connections.iter().map(|it| {
            let connections = counted(it.connections, "connection", "connections");
            format!("{connections} to {} ({}), SQLite {}", it.database, it.beginning, it.sqlite)
        }));
        let state = if self.by_extension { "extension" } else { "preloaded" };
        let masked = if self.is_masked { ", masked" } else { "" };
        SheetEntry { name: format!("process {}", self.process), state: format!("{state}{masked}"), lines }
    }
}

impl ShownTrace {
    /// Reads the traces of a folder, or one.
    pub(super) fn read(path: &Path) -> Result<Self> {
        let unreadable = |path: &Path, error: TraceError| {
            Failure::usage(format!("cannot read {}: {error}", printable(&path.display().to_string())))
        };
        let traces = traces(bourse_trace::files(path)).map_err(|error| unreadable(path, error.into()))?;
        if traces.is_empty() {
            return Err(Failure::usage(format!("there is no trace in {}", printable(&path.display().to_string())))
                .hint("`bourse record -- PROGRAM` records one"));
        }
        let folder = if path.is_dir() { path } else { path.parent().unwrap_or(Path::new("")) };
        let mut confined = ConfinedSession::new()
            .map_err(|error| Failure::new(Exit::Target, format!("no database in memory can be opened: {error}")))?;
        let (mut this, mut statements) = (Self::default(), BTreeMap::new());
        for trace in &traces {
            let read = trace.read(|_| ()).map_err(|error| unreadable(&trace.path, error))?;
            this.processes.push(ShownProcess::of(&read, folder));
            this.add_lacking(&read.summary, folder, &mut confined);
            for StatementSummary { text, executions, errors, rows, duration_ns, .. } in read.summary.statements {
                let all = statements.entry(text.sql.clone()).or_insert_with(|| ShownStatement {
                    has_literals: text.has_literals(),
                    sql: text.sql,
                    executions: 0,
                    time_ns: 0,
                    rows: 0,
                    errors: 0,
                });
                all.executions += executions;
                all.errors += errors;
                all.rows += rows;
                all.time_ns += duration_ns;
            }
        }
        this.statements = statements.into_values().collect();
        this.statements.sort_by_key(|it| std::cmp::Reverse(it.time_ns));
        Ok(this)
    }

    /// Adds what a replay lacks of a process.
    fn add_lacking(&mut self, found: &TraceSummary, folder: &Path, confined: &mut ConfinedSession) {
        let lacking = &mut self.lacking;
        let copies = found.opened.iter().filter(|(_, opened)| opened.base.is_copied());
        let copies: BTreeSet<&String> = copies.map(|(_, opened)| &opened.copy).collect();
        for object in copies.into_iter().flat_map(|copy| foreign_objects(&folder.join(copy), found)) {
            lacking.insert(object, 1);
        }
        // What ended the recording stands beside the process.
        let is_new = |note: Note, name: &String| note.hinders_replay() && found.stopped.as_ref() != Some(name);
        for ((note, name), times) in found.notes.iter().filter(|((note, name), _)| is_new(*note, name)) {
            if !matches!(note, Note::Function | Note::Collation | Note::Module) {
                *lacking.entry(format!("{}: {name}", note.words())).or_default() += times;
            }
        }
        let attached = attached_names(folder, found);
        for statement in &found.statements {
            let words = names_of(&statement.text.sql);
            let reaches = |pair: &[String]| {
                let is_table = ["from", "join", "into", "update"].contains(&&*pair[0]) || pair[1].ends_with('.');
                is_table && attached.contains(&pair[1])
            };
            if words.windows(2).any(reaches) {
                *lacking.entry(format!("on an attached database{EXECUTIONS}")).or_default() += statement.executions;
            }
            let foreign = found.foreign_names(&statement.text.sql);
            for (note, name) in &foreign {
                *lacking.entry(format!("{}: {name}{EXECUTIONS}", note.words())).or_default() += statement.executions;
            }
            if let Some(setting) = bourse_micro::ChangedSetting::of(&statement.text.sql) {
                let what = shortened(&one_line(&statement.text.sql), REFUSED).into_owned();
                let what = format!("{what}, which {} sets{EXECUTIONS}", setting.place());
                *lacking.entry(what).or_default() += statement.executions;
            } else if statement.executions > 0 && confined.refuses(&statement.text.sql) {
                let refused = format!("refused: {}{EXECUTIONS}", shortened(&one_line(&statement.text.sql), REFUSED));
                *lacking.entry(refused).or_default() += statement.executions;
            }
            // A statement that needs a module is counted there.
            for (what, times) in statement.unbindable.iter().filter(|_| foreign.is_empty()) {
                *lacking.entry(format!("{what}{EXECUTIONS}")).or_default() += times;
            }
        }
    }

    /// Text for the terminal, with so many statements, a line each; `None` shows all of them whole.
    pub(super) fn text(&self, most: Option<usize>) -> String {
        let shown = most.unwrap_or(usize::MAX).min(self.statements.len());
        let width = line_width();
        let rows = self.statements.iter().take(shown).map(|it| {
            let sql = one_line(&it.sql);
            let sql = if most.is_some() { shortened(&sql, width.saturating_sub(BESIDE)) } else { sql.as_str().into() };
            let numbers = [count(it.executions), duration_ns(it.time_ns as f64), count(it.rows), count(it.errors)];
            numbers.iter().map(|it| TableCell::text(it)).chain([TableCell::code(&sql)]).collect()
        });
        let (all, more) = (self.statements.len() as u64, (self.statements.len() - shown) as u64);
        let with_literals = self.statements.iter().filter(|it| it.has_literals).count() as u64;
        let mut sheet = Sheet::new("Trace", "")
            .entries(self.processes.iter().map(ShownProcess::entry).collect())
            .paragraph(format!(
                "{}, {} with values in the text. Time: from the first step to the end, with the program's own time between rows.",
                counted(all, "statement", "statements"),
                count(with_literals),
            ))
            .table(&["executions", "time", "rows", "errors", "statement"], rows.collect());
        if more > 0 {
            let more = counted(more, "more statement", "more statements");
            sheet = sheet.paragraph(format!("{more} with less time: -v shows all, and their whole texts"));
        }
        if !self.lacking.is_empty() {
            let rows = self.lacking.iter().map(|(what, times)| match what.strip_suffix(EXECUTIONS) {
                Some(what) => [what.to_owned(), counted(*times, "execution", "executions")],
                None => [what.clone(), counted(*times, "time", "times")],
            });
            let rows = rows.map(|row| row.iter().map(|it| TableCell::text(it)).collect());
            sheet = sheet
                .paragraph("A replay lacks these; a statement that needs one is left out, counted, and named:")
                .table(&["what", "how often"], rows.collect());
        }
        sheet.terminal(width, has_color(), true)
    }
}
