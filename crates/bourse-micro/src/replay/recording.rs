//! A recording as work, read from its traces.

use super::settings::ChangedSetting;
use super::shape::short;
use super::statement::{RecordedStatement, Statements};
use super::steps::{Step, Unit, Writer};
use crate::options::OptionError;
use crate::workload::{digest_file, in_digits, named};
use bourse_engine::open_named;
use bourse_record::{NameValue, grouped};
use bourse_trace::{EventKind, Execution, Note, Opened, Record, TraceBase, TraceError};
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
    /// Units that write, in the order of their ends.
    pub(super) writers: Vec<Writer>,
    /// Whether values are masked, so that no digest of rows is known.
    pub(super) is_masked: bool,
    /// Whether an extension recorded it that saw no errors.
    pub(super) lacks_errors: bool,
    /// Whether the program set limits, which statements of a replay may keep.
    pub(super) sets_limits: bool,
    /// Copy of the database at the beginning; `None` if it began empty.
    pub(super) copy: Option<PathBuf>,
    /// Statement that chose the encoding of a database which began empty.
    pub(super) encoding: Option<String>,
    pub(super) facts: Vec<NameValue>,
    /// Time from the begin of the first execution to the end of the last one.
    pub(super) lasted_ns: u64,
    /// Numbers of executions that are left out, by reason.
    pub(super) left_out: BTreeMap<String, u64>,
    /// Settings that the program made, in this order, and that are the target's in a replay.
    pub(super) settings: Vec<ChangedSetting>,
    /// Other databases that the program used, with the numbers of executions.
    pub(super) other_databases: BTreeMap<String, u64>,
    /// Versions of SQLite that the program used.
    pub(super) versions: BTreeSet<String>,
    /// Tables that executions which are left out wrote to, each with the moment, in nanoseconds since the first execution began.
    pub(super) lacks: Vec<(u64, String)>,
    /// Longest time in milliseconds that the program let a connection wait for a lock; 0 if it set none.
    busy_timeout_ms: i64,
}

/// A connection while traces are read.
#[derive(Default)]
pub(super) struct RecordedConnection {
    database: String,
    copy: Option<PathBuf>,
    /// Name of the copy, also of an empty one.
    copy_name: String,
    /// Way in which its database took the place of another one.
    replacement: Option<&'static str>,
    /// Version of its SQLite.
    version: String,
    cannot: Option<&'static str>,
    pub(super) from_ns: u64,
    pub(super) to_ns: u64,
    pub(super) executed: Vec<(u64, u64, usize, Execution)>,
    /// Tables that it wrote to in ways that cannot be replayed, each with the moment.
    lacks: Vec<(u64, String)>,
    notes: Vec<(Note, String)>,
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
            // A trace that is given itself is named already.
            let of = if path.is_dir() { format!("{name}: ") } else { String::new() };
            if let Some(why) = cut.map_err(|error| fault(format!("{of}{error}")))? {
                this.facts.push(named(DAMAGE, format!("{why} ({name})")));
            }
        }
        this.choose_database(database, &mut connections, &statements).map_err(fault)?;
        if let Some(copy) = this.copy.as_ref().filter(|copy| !copy.exists()) {
            let why =
                if this.is_masked { "; a copy that cannot be masked, as with virtual tables, is removed" } else { "" };
            return Err(fault(format!("the copy of the database is missing: {}{why}", copy.display())));
        }
        let mut contents = Sha256::new();
        for file in files.iter().chain(&this.copy) {
            digest_file(&mut contents, file).map_err(|error| fault(format!("{}: {error}", file.display())))?;
        }
        this.contents = in_digits(contents);
        this.lay_out(connections, &mut statements);
        if this.users.is_empty() {
            let damage = this.facts.iter().filter(|fact| fact.name == DAMAGE);
            let damage: String = damage.map(|fact| format!("; {DAMAGE}: {}", fact.value)).collect();
            return Err(fault(format!(
                "nothing in it can be replayed: no execution on a database that was copied or new{damage}"
            )));
        }
        this.statements = statements.all;
        this.name_operations();
        Ok(this)
    }

    /// Advice where the target waits for a lock for too short a time.
    pub(super) fn patience_words(&self) -> String {
        match self.busy_timeout_ms {
            1.. => {
                let waited = format!("{}ms", self.busy_timeout_ms);
                format!(
                    "the recorded program waits for a lock up to {waited}, and so does a target with busy_timeout={waited}"
                )
            }
            _ => "a target with busy_timeout=5s waits for a lock".to_owned(),
        }
    }

    /// Reads a trace; the reason that it ends early, if it does: it is cut or damaged, or could not be extended.
    fn read_trace(
        &mut self,
        file: &Path,
        folder: &Path,
        statements: &mut Statements,
        connections: &mut Vec<RecordedConnection>,
    ) -> Result<Option<String>, TraceError> {
        let mut reader = bourse_trace::reader(open_named(file)?)?;
        let begun_ns = reader.head().monotonic_ns;
        self.is_masked |= reader.head().is_masked;
        self.lacks_errors |= reader.head().lacks_codes;
        let (mut texts, mut places, mut stopped) = (Vec::new(), HashMap::new(), None);
        for record in reader.by_ref() {
            let event = match record {
                Ok(Record::Text(text)) => {
                    texts.push(statements.number(&text.sql, text.is_read_only));
                    continue;
                }
                Ok(Record::Event(event)) => event,
                Err(error) => return Ok(Some(error.to_string())),
            };
            let at_ns = begun_ns.saturating_add(event.at_ns);
            if let EventKind::Opened(opened) = &event.kind {
                places.insert(event.connection, connections.len());
                connections.push(RecordedConnection::of(opened, folder, at_ns, file, event.connection));
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
                    _ => self.leave_out("on a connection that was not seen to be opened", 1),
                },
                EventKind::Closed => connection.into_iter().for_each(|it| it.to_ns = at_ns),
                EventKind::Refused { .. } => self.leave_out("that SQLite refused to prepare in the recording", 1),
                EventKind::Noted { note: Note::Trouble, name, number: 1.. } => stopped = Some(name),
                EventKind::Noted { note, name, number } => {
                    // The number says whether the blob is opened to be written.
                    self.sets_limits |= note == Note::Hook && name == "sqlite3_limit";
                    if note == Note::BusyTimeout {
                        self.busy_timeout_ms = self.busy_timeout_ms.max(number);
                    }
                    let Some(connection) = connection else {
                        self.note(note, &name);
                        continue;
                    };
                    if note == Note::Blob && number != 0 {
                        connection.lacks.push((at_ns, name.to_lowercase()));
                    }
                    connection.notes.push((note, name));
                }
                EventKind::Opened(_) | EventKind::Ended => {}
            }
        }
        Ok(stopped)
    }

    fn note(&mut self, note: Note, name: &str) {
        // Functions, collations and modules are missed by the statements that need them, which the engine refuses.
        if note.hinders_replay() && !matches!(note, Note::Function | Note::Collation | Note::Module) {
            *self.left_out.entry(format!("{}: {name}", note.words())).or_default() += 1;
        }
    }

    pub(super) fn leave_out(&mut self, why: &str, executions: u64) {
        if executions > 0 {
            *self.left_out.entry(format!("execution {why}")).or_default() += executions;
        }
    }

    /// Keeps the connections to the database of that name with most executions; an error names those that were recorded.
    fn choose_database(
        &mut self,
        wanted: &str,
        connections: &mut Vec<RecordedConnection>,
        statements: &Statements,
    ) -> Result<(), String> {
        let replaced = connections.iter().filter_map(|it| Some((it.copy_name.clone(), it.replacement?)));
        let replaced: BTreeMap<String, &str> = replaced.collect();
        for connection in connections.iter_mut() {
            if let Some(how) = replaced.get(&connection.copy_name) {
                let (_, times) = connection.copy_name.rsplit_once('-').unwrap_or_default();
                connection.database.push_str(&format!(" ({how} {times})"));
            }
        }
        for connection in connections.iter_mut().filter(|it| it.cannot.is_some()) {
            let executed = std::mem::take(&mut connection.executed);
            self.leave_out(connection.cannot.unwrap_or_default(), executed.len() as u64);
            let changed = |(begin, _, statement, _): &(u64, _, usize, _)| {
                Some((*begin, statements.all[*statement].changed_table()?))
            };
            connection.lacks.extend(executed.iter().filter_map(changed));
        }
        let mut executions: BTreeMap<String, u64> = BTreeMap::new();
        connections
            .iter()
            .for_each(|it| *executions.entry(it.database.clone()).or_default() += it.executed.len() as u64);
        let is_wanted = |name: &str| match wanted {
            MOST => true,
            "memory" => name.starts_with(IN_MEMORY),
            // As `record show` names it.
            wanted if name.starts_with(IN_MEMORY) => name.strip_suffix(wanted).is_some_and(|it| it.ends_with(' ')),
            wanted => Path::new(name).ends_with(wanted),
        };
        let most = executions.iter().filter(|(name, _)| is_wanted(name)).max_by_key(|(_, count)| **count);
        if most.is_none() && !executions.is_empty() {
            let recorded: Vec<&str> = executions.keys().map(String::as_str).collect();
            return Err(format!("no database {wanted} was recorded, only {}", recorded.join(", ")));
        }
        let chosen = most.map(|(database, _)| database.clone()).unwrap_or_default();
        for connection in connections.iter_mut().filter(|it| it.database == chosen) {
            self.lacks.append(&mut connection.lacks);
            connection.notes.iter().for_each(|(note, name)| self.note(*note, name));
        }
        connections.retain(|it| it.database == chosen && !it.executed.is_empty());
        executions.remove(&chosen);
        for (database, count) in executions {
            let name = if database.starts_with(IN_MEMORY) { IN_MEMORY } else { &database };
            self.leave_out(&format!("on another database, {name}"), count);
            if count > 0 {
                *self.other_databases.entry(name.to_owned()).or_default() += count;
            }
        }
        self.versions = connections.iter().map(|it| it.version.clone()).collect();
        self.copy = connections.iter().find_map(|it| it.copy.clone());
        self.database =
            if chosen.starts_with(IN_MEMORY) { "the database in memory".to_owned() } else { chosen.clone() };
        self.facts.push(named("recorded database", chosen));
        self.facts.push(named("recorded connections", grouped(connections.len() as u64)));
        Ok(())
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

impl RecordedConnection {
    fn of(opened: &Opened, folder: &Path, at_ns: u64, file: &Path, number: u64) -> Self {
        let cannot = match opened.base {
            TraceBase::Missing => Some("on a database that was not copied"),
            TraceBase::Inherited => Some("on an open connection that a process got from its parent"),
            TraceBase::Memory | TraceBase::Copied | TraceBase::New | TraceBase::Anew | TraceBase::Replaced => None,
        };
        let name = &opened.name;
        let is_shared = name.starts_with("file:") && ["cache=shared", "vfs=memdb"].iter().any(|it| name.contains(it));
        let database = match &*opened.path {
            "" if is_shared => format!("{IN_MEMORY}: {} {name}", file.display()),
            // Each connection has one of its own.
            "" => format!("{IN_MEMORY}: {} {number} {name}", file.display()),
            path => path.to_owned(),
        };
        Self {
            database,
            copy: opened.base.is_copied().then(|| folder.join(&opened.copy)),
            copy_name: opened.copy.clone(),
            replacement: opened.base.replacement(),
            version: opened.library.clone(),
            cannot,
            from_ns: at_ns,
            to_ns: at_ns,
            executed: Vec::new(),
            lacks: Vec::new(),
            notes: Vec::new(),
        }
    }
}
