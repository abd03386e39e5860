//! A recording as work: what each user executes, in the order that the traces fix.

use super::shape::{Shape, numbered, short};
use crate::options::OptionError;
use crate::workload::{digest_file, in_digits, named};
use bourse_engine::Sql;
use bourse_engine_sqlite::StoredValue;
use bourse_record::{NameValue, grouped};
use bourse_trace::digest::RowsDigest;
use bourse_trace::{EventKind, Execution, Note, Opened, Record, TraceBase, TraceError, TraceValue};
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

/// Number of statements that have a row of their own in reports; those with less time share one.
const NAMED_STATEMENTS: usize = 11;

/// Name of the fact that a trace is damaged, and where.
pub(super) const DAMAGE: &str = "read up to there";

/// Begin of the name of a database without a file, which no path has.
const IN_MEMORY: &str = "in memory";

/// Word for the database with most executions.
pub(super) const MOST: &str = "most";

/// Work of a recording.
#[derive(Debug, Default)]
pub(super) struct Recording {
    /// Digest of the traces, and of the copy of the database.
    pub(super) contents: String,
    pub(super) statements: Vec<RecordedStatement>,
    pub(super) operations: Vec<&'static str>,
    /// File of the database, or that it was in memory.
    pub(super) database: String,
    /// Steps of each user.
    pub(super) users: Vec<Vec<Step>>,
    pub(super) units: Vec<Unit>,
    /// Whether values are masked, so that no digest of rows is known.
    pub(super) is_masked: bool,
    /// Whether an extension recorded it, which sees no errors.
    pub(super) lacks_errors: bool,
    /// Copy of the database at the beginning; `None` if it began empty.
    pub(super) copy: Option<PathBuf>,
    pub(super) facts: Vec<NameValue>,
    /// Time from the begin of the first execution to the end of the last one.
    pub(super) lasted_ns: u64,
    /// Numbers of executions that are left out, by reason.
    pub(super) left_out: BTreeMap<String, u64>,
    /// Other databases that the program used, with the numbers of executions.
    pub(super) other_databases: BTreeMap<String, u64>,
    /// Versions of SQLite that the program used.
    pub(super) versions: BTreeSet<String>,
    /// Tables that executions which are left out wrote to.
    pub(super) lacks: BTreeSet<String>,
}

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
    /// Whether its rows depend on more than the data: a clock, a random number, a limit that chooses any rows.
    pub(super) is_vague: bool,
    /// Whether it writes what a clock or a random number returns.
    pub(super) writes_clock: bool,
    /// Whether it makes a trigger or a foreign key that changes further rows.
    pub(super) has_side_changes: bool,
    /// Whether it declares an object of the schema.
    pub(super) declares: bool,
    /// Words and quoted names; each table that it names is among them.
    pub(super) names: BTreeSet<String>,
    /// Table that it changes; `None` if it cannot be told by its words.
    pub(super) target: Option<String>,
    makes_temporary: bool,
    pub(super) reads: bool,
    control: Option<Control>,
    pub(super) duration_ns: u64,
}

/// Word that begins or ends transactions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Control {
    Begin,
    Savepoint,
    Release,
    Commit,
    Rollback,
}

/// Effect of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    /// Executes the statement.
    Execute,
    /// Begins a transaction, then executes the statement if `with_statement`.
    Begin { writes: bool, with_statement: bool },
    /// Commits, after the statement if `with_statement`.
    Commit { with_statement: bool },
    /// Rolls back.
    Rollback,
}

/// One execution.
#[derive(Debug)]
pub(super) struct Step {
    /// Place among the steps of all users, one user's after another's.
    pub(super) number: usize,
    pub(super) action: Action,
    pub(super) statement: usize,
    pub(super) values: Vec<StoredValue>,
    /// Begin, in nanoseconds since the first one's.
    pub(super) due_ns: u64,
    /// Recorded rows; `changes`, `code` and `is_complete` are recorded too.
    pub(super) rows: RowsDigest,
    pub(super) changes: u64,
    pub(super) code: u64,
    pub(super) is_complete: bool,
    pub(super) unit: usize,
    pub(super) begins_unit: bool,
    pub(super) ends_unit: bool,
}

/// A transaction, or a statement outside one, with what has to end before it begins: all that had ended in the recording, and
/// of writing transactions all that ended before this one does. SQLite writes one after another, so this is their order.
#[derive(Debug, Default)]
pub(super) struct Unit {
    begin_ns: u64,
    end_ns: u64,
    pub(super) writes: bool,
    /// Place among all units by their ends.
    pub(super) rank: usize,
    /// Number of units, by their ends, that have to end before.
    pub(super) after: usize,
    /// Number of writing units that have to end before.
    pub(super) after_writers: usize,
    /// Whether it reads while another connection wrote, so that it may see the state before or after.
    pub(super) is_beside_writer: bool,
}

/// A connection while traces are read.
#[derive(Default)]
struct RecordedConnection {
    database: String,
    copy: Option<PathBuf>,
    /// Version of its SQLite.
    version: String,
    cannot: Option<&'static str>,
    from_ns: u64,
    to_ns: u64,
    executed: Vec<(u64, u64, usize, Execution)>,
}

/// Texts by their numbers.
#[derive(Default)]
struct Statements {
    all: Vec<RecordedStatement>,
    numbers: HashMap<String, usize>,
}

impl Recording {
    /// Reads the traces of a folder, or one trace, for the database of that name.
    pub(super) fn read(path: &Path, database: &str) -> Result<Self, OptionError> {
        let fault = |what: String| OptionError::File { place: path.display().to_string(), what };
        let files = path.metadata().and_then(|_| bourse_trace::files(path));
        let files = files.map_err(|error| fault(format!("cannot be read: {error}")))?;
        if files.is_empty() {
            return Err(fault("there is no trace in it; `bourse record -- PROGRAM` records one".to_owned()));
        }
        let folder = if path.is_dir() { path } else { path.parent().unwrap_or(Path::new("")) };
        let (mut this, mut statements, mut connections) = (Self::default(), Statements::default(), Vec::new());
        for file in &files {
            let cut = this.read_trace(file, folder, &mut statements, &mut connections);
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            if let Some(why) = cut.map_err(|error| fault(format!("{name}: {error}")))? {
                this.facts.push(named(DAMAGE, format!("{name}: {why}")));
            }
        }
        this.choose_database(database, &mut connections, &statements).map_err(fault)?;
        if let Some(copy) = this.copy.as_ref().filter(|copy| !copy.exists()) {
            return Err(fault(format!("the copy of the database is missing: {}", copy.display())));
        }
        let mut contents = Sha256::new();
        for file in files.iter().chain(&this.copy) {
            digest_file(&mut contents, file).map_err(|error| fault(format!("{}: {error}", file.display())))?;
        }
        this.contents = in_digits(contents);
        this.lay_out(connections, &mut statements);
        if this.users.is_empty() {
            return Err(fault(
                "nothing in it can be replayed: no execution on a database that was copied or new".into(),
            ));
        }
        this.statements = statements.all;
        this.name_operations();
        Ok(this)
    }

    /// Reads a trace; the reason that it ends early, if it does.
    fn read_trace(
        &mut self,
        file: &Path,
        folder: &Path,
        statements: &mut Statements,
        connections: &mut Vec<RecordedConnection>,
    ) -> Result<Option<TraceError>, TraceError> {
        let mut reader = bourse_trace::open(file)?;
        let begun_ns = reader.head().monotonic_ns;
        self.is_masked |= reader.head().is_masked;
        self.lacks_errors |= reader.head().by_extension;
        let (mut texts, mut places) = (Vec::new(), HashMap::new());
        for record in reader.by_ref() {
            let event = match record {
                Ok(Record::Text(text)) => {
                    texts.push(statements.number(&text.sql, text.is_read_only));
                    continue;
                }
                Ok(Record::Event(event)) => event,
                Err(error) => return Ok(Some(error)),
            };
            let at_ns = begun_ns.saturating_add(event.at_ns);
            if let EventKind::Opened(opened) = &event.kind {
                let id = format!("{} {}", file.display(), event.connection);
                places.insert(event.connection, connections.len());
                connections.push(RecordedConnection::of(opened, folder, at_ns, id));
                continue;
            }
            let connection = places.get(&event.connection).and_then(|place| connections.get_mut(*place));
            match event.kind {
                EventKind::Executed(executed) => match (connection, usize::try_from(executed.text)) {
                    (Some(connection), Ok(text)) => {
                        connection.to_ns = at_ns;
                        let (begin, statement) = (at_ns.saturating_sub(executed.duration_ns), texts[text]);
                        statements.all[statement].executed(&executed);
                        connection.executed.push((begin, at_ns, statement, executed));
                    }
                    _ => self.leave_out("on connections that were not seen to be opened", 1),
                },
                EventKind::Closed => connection.into_iter().for_each(|it| it.to_ns = at_ns),
                EventKind::Refused { .. } => self.leave_out("that SQLite refused to prepare in the recording", 1),
                EventKind::Noted { note, name, number } => {
                    // The number says whether the blob is opened to be written.
                    self.lacks.extend((note == Note::Blob && number != 0).then(|| name.to_lowercase()));
                    self.note(note, &name);
                }
                EventKind::Opened(_) | EventKind::Ended => {}
            }
        }
        Ok(None)
    }

    fn note(&mut self, note: Note, name: &str) {
        // Functions, collations and modules are missed by the statements that need them, which the engine refuses.
        if note.hinders_replay() && !matches!(note, Note::Function | Note::Collation | Note::Module) {
            *self.left_out.entry(format!("{}: {name}", note.words())).or_default() += 1;
        }
    }

    fn leave_out(&mut self, why: &str, executions: u64) {
        if executions > 0 {
            *self.left_out.entry(format!("executions {why}")).or_default() += executions;
        }
    }

    /// Keeps the connections to the database of that name with most executions; an error names those that were recorded.
    fn choose_database(
        &mut self,
        wanted: &str,
        connections: &mut Vec<RecordedConnection>,
        statements: &Statements,
    ) -> Result<(), String> {
        let mut lost = Vec::new();
        for connection in connections.iter_mut().filter(|it| it.cannot.is_some()) {
            let executed = std::mem::take(&mut connection.executed);
            self.leave_out(connection.cannot.unwrap_or_default(), executed.len() as u64);
            lost.extend(executed.iter().map(|(.., statement, _)| (connection.database.clone(), *statement)));
        }
        let mut executions: BTreeMap<String, u64> = BTreeMap::new();
        connections
            .iter()
            .for_each(|it| *executions.entry(it.database.clone()).or_default() += it.executed.len() as u64);
        let is_wanted = |name: &str| match wanted {
            MOST => true,
            "memory" => name.starts_with(IN_MEMORY),
            wanted => Path::new(name).ends_with(wanted),
        };
        let most = executions.iter().filter(|(name, _)| is_wanted(name)).max_by_key(|(_, count)| **count);
        if most.is_none() && !executions.is_empty() {
            let recorded: Vec<&str> = executions.keys().map(String::as_str).collect();
            return Err(format!("no database {wanted} was recorded, only {}", recorded.join(", ")));
        }
        let chosen = most.map(|(database, _)| database.clone()).unwrap_or_default();
        connections.retain(|it| it.database == chosen && !it.executed.is_empty());
        executions.remove(&chosen);
        for (database, count) in executions {
            let name = if database.starts_with(IN_MEMORY) { IN_MEMORY } else { &database };
            self.leave_out(&format!("on another database, {name}"), count);
            if count > 0 {
                *self.other_databases.entry(name.to_owned()).or_default() += count;
            }
        }
        for (_, statement) in lost.into_iter().filter(|(database, _)| *database == chosen) {
            self.lacks.extend(statements.all[statement].changed_table());
        }
        self.versions = connections.iter().map(|it| it.version.clone()).collect();
        self.copy = connections.iter().find_map(|it| it.copy.clone());
        self.database =
            if chosen.starts_with(IN_MEMORY) { "the database in memory".to_owned() } else { chosen.clone() };
        self.facts.push(named("recorded database", chosen));
        self.facts.push(named("recorded connections", grouped(connections.len() as u64)));
        Ok(())
    }

    /// Gives connections to users, one after another where they did not overlap, and orders their transactions.
    fn lay_out(&mut self, mut connections: Vec<RecordedConnection>, statements: &mut Statements) {
        connections.sort_by_key(|it| it.from_ns);
        let first = connections.iter().flat_map(|it| it.executed.first()).map(|(begin, ..)| *begin).min().unwrap_or(0);
        // For each user the end of its last connection, and whether this made temporary objects.
        let mut free: Vec<(u64, bool)> = Vec::new();
        for mut connection in connections {
            connection.executed.sort_by_key(|(begin, ..)| *begin);
            let user = free.iter().position(|(to, _)| *to <= connection.from_ns).unwrap_or(free.len());
            if user == free.len() {
                free.push((0, false));
                self.users.push(Vec::new());
            } else if free[user].1 {
                *self
                    .left_out
                    .entry("ends of connections: temporary objects stay for the next one".into())
                    .or_default() += 1;
            }
            let makes_temporary = |(_, _, number, _): &(_, _, usize, _)| statements.all[*number].makes_temporary;
            free[user] = (connection.to_ns, free[user].1 || connection.executed.iter().any(makes_temporary));
            let mut steps = std::mem::take(&mut self.users[user]);
            self.add_steps(connection, first, statements, &mut steps);
            self.users[user] = steps;
        }
        self.users.retain(|steps| !steps.is_empty());
        self.users.iter_mut().flatten().enumerate().for_each(|(number, step)| step.number = number);
        self.order();
        let last = self.units.iter().map(|it| it.end_ns).max().unwrap_or(0);
        let executions = self.users.iter().map(Vec::len).sum::<usize>() as u64;
        self.lasted_ns = last.saturating_sub(first).max(1);
        let seconds = self.lasted_ns as f64 / 1e9;
        self.facts.push(named("recorded executions", grouped(executions)));
        self.facts.push(named("recorded for", format!("{seconds:.3} s")));
    }

    fn add_steps(
        &mut self,
        connection: RecordedConnection,
        first: u64,
        statements: &mut Statements,
        steps: &mut Vec<Step>,
    ) {
        /// Codes of executions that another connection, or the program, ended: busy, locked, interrupted.
        const OF_OTHERS: [u64; 3] = [5, 6, 9];
        let (mut is_open, mut begun, first_unit) = (false, 0, self.units.len());
        for (begin_ns, end_ns, statement, executed) in connection.executed {
            let control = statements.all[statement].control;
            let [before, after] = [executed.autocommit_before, executed.autocommit_after];
            if OF_OTHERS.contains(&(executed.code & 0xFF)) || (control.is_some() && executed.code != 0) {
                self.leave_out("that ended with a lock conflict, an interruption, or a transaction unchanged", 1);
                continue;
            }
            let Some(values) = executed.values.into_iter().map(stored).collect::<Option<Vec<_>>>() else {
                self.leave_out("with pointers, or texts that are not UTF-8", 1);
                self.lacks.extend(statements.all[statement].changed_table());
                continue;
            };
            let action = match control {
                Some(Control::Begin) => Action::Begin { writes: false, with_statement: false },
                Some(Control::Savepoint) if before && !is_open => Action::Begin { writes: false, with_statement: true },
                Some(Control::Commit) => Action::Commit { with_statement: false },
                Some(Control::Release) if after => Action::Commit { with_statement: true },
                Some(Control::Rollback) => Action::Rollback,
                _ => Action::Execute,
            };
            let begins_unit = !is_open;
            match action {
                Action::Begin { .. } => is_open = true,
                Action::Commit { .. } | Action::Rollback if !is_open => {
                    self.leave_out("that end a transaction which began before the recording", 1);
                    continue;
                }
                Action::Commit { .. } | Action::Rollback => is_open = false,
                Action::Execute => {}
            }
            if begins_unit {
                begun = steps.len();
                self.units.push(Unit { begin_ns, ..Unit::default() });
            }
            // An error that ended the transaction.
            let is_over = is_open && control.is_none() && executed.code != 0 && after;
            let unit = self.units.len() - 1;
            self.units[unit].end_ns = self.units[unit].end_ns.max(end_ns);
            self.units[unit].writes |= !statements.all[statement].reads;
            steps.push(Step {
                number: 0,
                action,
                statement,
                values,
                due_ns: begin_ns.saturating_sub(first),
                rows: executed.rows,
                changes: executed.changes,
                code: executed.code,
                is_complete: executed.is_complete,
                unit,
                begins_unit,
                ends_unit: !is_open,
            });
            if let Some(Step { action: Action::Begin { writes, .. }, .. }) = steps.get_mut(begun) {
                *writes = self.units[unit].writes;
            }
            if is_over {
                steps.push(Step::rollback(unit, begin_ns.saturating_sub(first), statements));
                is_open = false;
            }
        }
        // A connection that is closed ends its transaction.
        if is_open && let Some(last) = steps.last() {
            steps.push(Step::rollback(last.unit, last.due_ns, statements));
        }
        // A statement may be read while others of its connection begin and end.
        for number in (first_unit..self.units.len().saturating_sub(1)).rev() {
            self.units[number].end_ns = self.units[number].end_ns.min(self.units[number + 1].end_ns);
        }
    }

    /// Finds what has to end before each unit.
    fn order(&mut self) {
        let mut by_end: Vec<usize> = (0..self.units.len()).collect();
        by_end.sort_by_key(|unit| self.units[*unit].end_ns);
        let ends: Vec<u64> = by_end.iter().map(|unit| self.units[*unit].end_ns).collect();
        let writers = || by_end.iter().map(|unit| &self.units[*unit]).filter(|unit| unit.writes);
        let writer_ends: Vec<u64> = writers().map(|unit| unit.end_ns).collect();
        let mut writer_begins: Vec<u64> = writers().map(|unit| unit.begin_ns).collect();
        writer_begins.sort_unstable();
        let mut written = 0;
        for (rank, number) in by_end.into_iter().enumerate() {
            let unit = &mut self.units[number];
            unit.rank = rank;
            // Of two that end at once neither waits for the other, and none for itself.
            unit.after = ends.partition_point(|end| *end <= unit.begin_ns).min(rank);
            let ended = writer_ends.partition_point(|end| *end <= unit.begin_ns);
            if unit.writes {
                unit.after_writers = written;
                written += 1;
            } else {
                unit.is_beside_writer = writer_begins.partition_point(|begin| *begin < unit.end_ns) > ended;
            }
        }
    }

    /// Names the statements with most time, as operations of reports.
    fn name_operations(&mut self) {
        let mut by_time: Vec<usize> = (0..self.statements.len()).collect();
        by_time.retain(|number| self.statements[*number].duration_ns > 0);
        by_time.sort_by_key(|number| std::cmp::Reverse(self.statements[*number].duration_ns));
        for number in by_time.into_iter().take(NAMED_STATEMENTS) {
            let mut name = short(&self.statements[number].text);
            if self.operations.contains(&&*name) {
                name = format!("{name} ({})", number + 1);
            }
            self.statements[number].operation = self.operations.len();
            // A handful of names that live as long as the process.
            self.operations.push(name.leak());
        }
        let others = self.operations.len();
        let is_other = |it: &&mut RecordedStatement| it.operation == usize::MAX;
        let count = self.statements.iter_mut().filter(is_other).map(|it| it.operation = others).count();
        if count > 0 {
            self.operations.push("other statements");
        }
    }
}

impl Step {
    /// Rollback that the recording has no statement for.
    fn rollback(unit: usize, due_ns: u64, statements: &mut Statements) -> Self {
        Self {
            number: 0,
            action: Action::Rollback,
            statement: statements.number("ROLLBACK", true),
            values: Vec::new(),
            due_ns,
            rows: RowsDigest::default(),
            changes: 0,
            code: 0,
            is_complete: true,
            unit,
            begins_unit: false,
            ends_unit: true,
        }
    }
}

impl RecordedConnection {
    fn of(opened: &Opened, folder: &Path, at_ns: u64, id: String) -> Self {
        let cannot = match opened.base {
            TraceBase::Missing => Some("on databases that were not copied"),
            TraceBase::Inherited => Some("on open connections that a process got from its parent"),
            TraceBase::Memory | TraceBase::Copied | TraceBase::New => None,
        };
        // Each connection has a database in memory of its own.
        let database = if opened.path.is_empty() { format!("{IN_MEMORY}: {id}") } else { opened.path.clone() };
        let copy = (opened.base == TraceBase::Copied).then(|| folder.join(&opened.copy));
        let version = opened.library.clone();
        Self { database, copy, version, cannot, from_ns: at_ns, to_ns: at_ns, executed: Vec::new() }
    }
}

impl Statements {
    /// Number of a text.
    fn number(&mut self, sql: &str, is_read_only: bool) -> usize {
        if let Some(number) = self.numbers.get(sql) {
            self.all[*number].reads &= is_read_only;
            return *number;
        }
        self.numbers.insert(sql.to_owned(), self.all.len());
        self.all.push(RecordedStatement::of(sql, is_read_only));
        self.all.len() - 1
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
        let changes_rows = !is_read_only && matches!(first, "insert" | "update" | "delete" | "replace" | "with");
        Self {
            // A text lives as long as the process, as all statements do.
            sql: Box::leak(Box::new(Sql::new(numbered(sql).leak()))),
            text: sql.to_owned(),
            operation: usize::MAX,
            is_query: is_query || shape.returns,
            changes_rows,
            is_ordered: shape.is_ordered,
            is_vague: shape.has_clock || shape.has_limit || shape.asks_storage,
            writes_clock: shape.has_clock && !is_read_only,
            has_side_changes: shape.has_side_changes,
            declares: first == "create",
            makes_temporary: shape.makes_temporary,
            names: shape.names,
            target: shape.target,
            reads: is_read_only,
            control,
            duration_ns: 0,
        }
    }

    /// Table that it changes, if it is known.
    fn changed_table(&self) -> Option<String> {
        self.target.clone().filter(|_| !self.reads)
    }

    fn executed(&mut self, executed: &Execution) {
        self.is_query |= executed.rows.rows > 0;
        self.duration_ns = self.duration_ns.saturating_add(executed.duration_ns.max(1));
    }
}

/// A value that another process can bind; `None` for pointers and texts that are not UTF-8.
fn stored(value: TraceValue) -> Option<StoredValue> {
    Some(match value {
        TraceValue::Null => StoredValue::Null,
        TraceValue::Int(number) => StoredValue::Int(number),
        TraceValue::Real(number) => StoredValue::Real(number),
        TraceValue::Text(bytes) => StoredValue::Text(String::from_utf8(bytes).ok()?),
        TraceValue::Blob(bytes) => StoredValue::Blob(bytes),
        TraceValue::Zeros(length) => StoredValue::Blob(vec![0; usize::try_from(length).ok()?]),
        TraceValue::Pointer => return None,
    })
}
