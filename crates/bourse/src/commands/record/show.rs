//! `bourse record show`: what is in a trace, and what of it cannot be replayed.

use super::folder::traces;
use crate::failure::{Exit, Failure, Result};
use crate::output::{has_color, terminal_width};
use bourse_engine::{Engine as _, EngineError, ErrorKind, Session, one_line};
use bourse_engine_sqlite::StoredDatabase;
use bourse_report::{Sheet, TableCell};
use bourse_trace::{Note, StatementSummary, TraceBase, TraceError, TraceSummary};
use bourse_verdict::units::{count, counted, duration_ns, printable};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Characters of a statement that a table has.
const SHOWN: usize = 120;

/// A statement's text on one line, of a long one the start.
fn shown(sql: &str) -> String {
    one_line(sql).chars().take(SHOWN).collect()
}

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

    /// Whether a replay refuses the statement, because it reaches another file or changes a setting.
    fn refuses(&mut self, sql: &str) -> bool {
        const WORDS: [&str; 3] = ["attach", "pragma", "vacuum"];
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
    let opened = found.opened.iter().filter(|(_, opened)| opened.base == TraceBase::Copied);
    opened.flat_map(|(_, opened)| tables(&opened.copy)).for_each(|own| {
        names.remove(&own);
    });
    let texts = found.statements.iter().map(|it| names_of(&it.text.sql));
    let attached = texts.filter(|words| words.first().is_some_and(|word| word == "attach"));
    names.extend(attached.filter_map(|words| Some(format!("{}.", words.last().filter(|it| !it.is_empty())?))));
    names
}

/// Words of a statement in lower case without quotes; one before a point has it at its end.
fn names_of(sql: &str) -> Vec<String> {
    let plain = sql.to_lowercase().replace(['"', '[', ']', '`'], "").replace('.', ". ");
    let words = plain.split(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '.'));
    words.filter(|word| !word.is_empty()).map(ToOwned::to_owned).collect()
}

/// Draws the summary of a trace with so many statements.
pub(super) fn show(path: &Path, most: usize) -> Result<String> {
    let unreadable = |error: TraceError| {
        let newer = matches!(error, TraceError::Newer { .. });
        let refused = Failure::usage(format!("cannot read {}: {error}", printable(&path.display().to_string())));
        if newer { refused.hint("a newer bourse reads it") } else { refused }
    };
    let traces = traces(path).map_err(|error| unreadable(error.into()))?;
    if traces.is_empty() {
        return Err(Failure::usage(format!("there is no trace in {}", printable(&path.display().to_string())))
            .hint("`bourse record -- PROGRAM` records one"));
    }
    let mut processes = Vec::new();
    let mut connections: BTreeMap<[String; 4], u64> = BTreeMap::new();
    let mut statements: BTreeMap<String, StatementSummary> = BTreeMap::new();
    let mut missing: BTreeMap<String, u64> = BTreeMap::new();
    let mut copies = BTreeSet::new();
    let folder = if path.is_dir() { path } else { path.parent().unwrap_or(Path::new("")) };
    let mut confined = ConfinedSession::new()
        .map_err(|error| Failure::new(Exit::Target, format!("no database in memory can be opened: {error}")))?;
    for trace in &traces {
        let read = trace.read(|_| ()).map_err(&unreadable)?;
        let process = read.head.process.to_string();
        let found = &read.summary;
        let how = if read.head.by_extension { "extension" } else { "preloaded" };
        processes.push(
            [
                process.clone(),
                how.to_owned(),
                duration_ns(found.end_ns as f64),
                count(found.threads.len() as u64),
                count(found.executions),
                count(found.transactions),
                count(found.rows),
                count(found.changes),
                count(found.errors),
                read.incompleteness().unwrap_or_default(),
            ]
            .map(|it| TableCell::text(&it))
            .to_vec(),
        );
        for (_, opened) in &found.opened {
            let base = match opened.base {
                TraceBase::Memory => "began empty: in memory or temporary",
                TraceBase::Copied => "copied",
                TraceBase::New => "began empty: new file",
                TraceBase::Missing => "not copied: cannot be replayed",
                TraceBase::Inherited => "open connection of the parent: cannot be replayed",
            };
            let name = if opened.path.is_empty() { &opened.name } else { &opened.path };
            let alike = [&*process, name, base, &*opened.library].map(printable);
            *connections.entry(alike).or_default() += 1;
            if opened.base == TraceBase::Copied && copies.insert((process.clone(), opened.copy.clone())) {
                for object in foreign_objects(&folder.join(&opened.copy), found) {
                    missing.insert(object, 1);
                }
            }
        }
        for ((note, name), times) in found.notes.iter().filter(|((note, _), _)| note.hinders_replay()) {
            if !matches!(note, Note::Function | Note::Collation | Note::Module) {
                *missing.entry(format!("{}: {name}", note.words())).or_default() += times;
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
                *missing.entry("on an attached database: executions".to_owned()).or_default() += statement.executions;
            }
            for (note, name) in found.foreign_names(&statement.text.sql) {
                *missing.entry(format!("{}: {name}: executions", note.words())).or_default() += statement.executions;
            }
            if statement.executions > 0 && confined.refuses(&statement.text.sql) {
                let refused = format!("refused: {}: executions", shown(&statement.text.sql));
                *missing.entry(refused).or_default() += statement.executions;
            }
            if statement.has_pointers {
                *missing.entry("bound pointers: executions".to_owned()).or_default() += statement.executions;
            }
            let all = statements.entry(statement.text.sql.clone()).or_insert_with(|| StatementSummary {
                text: statement.text.clone(),
                executions: 0,
                errors: 0,
                rows: 0,
                duration_ns: 0,
                has_pointers: false,
            });
            all.executions += statement.executions;
            all.errors += statement.errors;
            all.rows += statement.rows;
            all.duration_ns += statement.duration_ns;
        }
    }
    let with_literals = statements.values().filter(|it| it.text.has_literals()).count() as u64;
    let texts = statements.len();
    let mut statements: Vec<_> = statements.into_values().collect();
    statements.sort_by_key(|it| std::cmp::Reverse(it.duration_ns));
    let rows = statements.iter().take(most).map(|it| {
        let [executions, rows, errors] = [it.executions, it.rows, it.errors].map(count);
        let mut cells =
            [executions, duration_ns(it.duration_ns as f64), rows, errors].map(|it| TableCell::text(&it)).to_vec();
        cells.push(TableCell::code(&shown(&it.text.sql)));
        cells
    });
    let connections = connections.iter().map(|([process, name, base, library], alike)| {
        [process, &count(*alike), name, base, library].map(|it| TableCell::text(it)).to_vec()
    });
    let mut sheet = Sheet::new("Trace", "")
        .table(
            &["process", "recorded", "for", "threads", "executions", "transactions", "rows", "changes", "errors", "end"],
            processes,
        )
        .table(&["process", "connections", "database", "at the beginning", "SQLite"], connections.collect())
        .paragraph(format!(
            "{}, {} with values in the text; a transaction here has several statements; time is from the first step to the \
             end, with the program's own between rows.",
            counted(texts as u64, "statement", "statements"),
            count(with_literals),
        ))
        .table(&["executions", "time", "rows", "errors", "statement"], rows.collect());
    if !missing.is_empty() {
        let rows = missing
            .iter()
            .map(|(what, times)| vec![TableCell::text(&printable(what)), TableCell::text(&count(*times))]);
        sheet = sheet
            .paragraph("A replay lacks these; a statement that needs one is left out, counted, and named:")
            .table(&["what", "times"], rows.collect());
    }
    Ok(sheet.terminal(terminal_width(), has_color(), true))
}
