//! The seam's traits: an engine, its SQL or key interface, its server, its loader.

use crate::inventory::{ListingLoader, refuse_others};
use crate::records::StatementForm;
use crate::{
    Access, Batch, Capabilities, DatabaseFiles, Description, Dialect, EachRow, EngineError, Footprint, IoCounts,
    Isolation, Location, Records, RecordsOverSql, Result, Session, Setting,
};
use std::path::Path;

/// A database under test, opened with its settings. Each user thread makes its own connection.
///
/// A target's text alone determines capabilities, interface, location and hosting; reading them touches no database.
///
/// ```
/// use bourse_engine::{Engine, Interface};
///
/// /// Name of an engine's SQL dialect; `None` if the engine has records by key alone.
/// fn dialect(engine: &dyn Engine) -> Option<&'static str> {
///     match engine.interface() {
///         Interface::Sql(sql) => Some(sql.dialect().name),
///         Interface::Keys(_) => None,
///     }
/// }
/// assert!(dialect(&bourse_engine::NullEngine).is_some());
/// ```
pub trait Engine: Send + Sync {
    /// Version and settings in force, read back from the engine.
    ///
    /// # Errors
    /// The engine's.
    fn description(&self) -> Result<Description>;

    /// Capabilities.
    fn capabilities(&self) -> Capabilities;

    /// Interface of the engine: SQL, or records by key.
    fn interface(&self) -> Interface<'_>;

    /// Location of the database.
    fn location(&self) -> Location;

    /// Process that does the engine's work, whose end is the engine's crash: this one, unless the engine has a server.
    fn hosting(&self) -> Hosting<'_> {
        Hosting::InProcess
    }

    /// Whether the database exists and is not empty.
    ///
    /// # Errors
    /// The engine's.
    fn exists(&self) -> Result<bool>;

    /// Present sizes. Cheap: the driver reads them once a second during a run.
    ///
    /// # Errors
    /// The engine's.
    fn footprint(&self) -> Result<Footprint>;

    /// Announces how many sessions will be open concurrently, so that the engine divides its resources among them.
    /// Returns a description of what that changes, `None` if nothing. Sessions opened later have the divided share.
    fn expect_sessions(&self, sessions: usize) -> Option<String> {
        let _ = sessions;
        None
    }

    /// Reason why the file or database at the target must not be opened or replaced: Bourse did not create it. `None`
    /// if it may be. Changes nothing, and opens nothing with the engine's library.
    ///
    /// # Errors
    /// The engine's, if the target cannot be examined.
    fn foreign(&self) -> Result<Option<String>> {
        self.location().database_files().map_or(Ok(None), DatabaseFiles::foreign)
    }

    /// This database for reading alone: an engine whose sessions change nothing in the database's folder. `None` if
    /// sessions change nothing there anyway unless a statement does.
    ///
    /// # Errors
    /// The engine's.
    fn for_reading(&self) -> Result<Option<ForReading>> {
        Ok(None)
    }

    /// This database opened to read its catalogue before a command decides whether to use it: as [`Engine::for_reading`], but it
    /// may change files that hold nothing of their own, as the index of a log. `None` where a session changes nothing
    /// by itself, or the engine can open the database in no other way.
    ///
    /// # Errors
    /// The engine's.
    fn for_inspection(&self) -> Result<Option<ForReading>> {
        self.for_reading()
    }

    /// Description of what a killed load has left behind; the next load removes it.
    ///
    /// # Errors
    /// The engine's.
    fn leftovers(&self) -> Result<Option<String>> {
        Ok(self.location().database_files().and_then(DatabaseFiles::leftovers))
    }

    /// Locks the database at a server that others use too, so that no second command loads, changes or checks it
    /// meanwhile. `holder` is the text by which other commands name this one. The server frees the lock when the
    /// process ends, by whatever cause.
    ///
    /// # Errors
    /// The engine's.
    fn hold(&self, holder: &str) -> Result<Hold> {
        let _ = holder;
        Ok(Hold::Nothing)
    }

    /// Copies the database in its present state, so that every round can begin with the same data. No session may be
    /// open.
    ///
    /// # Errors
    /// The engine's; [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported) if it makes no copies.
    fn snapshot(&self) -> Result<Box<dyn Snapshot>> {
        Err(EngineError::unsupported("no copy of its database can be kept"))
    }

    /// A temporary second database at the same server; loading creates it.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported) without a server;
    /// [`ErrorKind::Refused`](crate::ErrorKind::Refused) if a database of that name exists which Bourse did not make.
    fn side_database(&self, name: &str) -> Result<SideDatabase> {
        let _ = name;
        Err(EngineError::unsupported("there is no server that could have a database beside it"))
    }

    /// Has the engine check its own data and indexes. Returns the damage found, quoted from the engine; `None` if it
    /// has no such check.
    ///
    /// # Errors
    /// The engine's, if the check cannot run.
    fn integrity_check(&self) -> Result<Option<Vec<String>>> {
        Ok(None)
    }

    /// Conflicts that sessions reported since the engine was opened, by kind; empty if it does not distinguish kinds.
    /// Cheap.
    fn conflicts(&self) -> Vec<Conflicts> {
        Vec::new()
    }

    /// Number of times that each node was lost since the engine was opened; empty for a single node. Cheap.
    fn node_losses(&self) -> Vec<NodeLosses> {
        Vec::new()
    }

    /// The engine's own counters other than conflicts and files, since it or its server started. Only differences are
    /// meaningful. Empty if it has none. Cheap.
    ///
    /// # Errors
    /// The engine's.
    fn counters(&self) -> Result<Vec<Counter>> {
        Ok(Vec::new())
    }

    /// CPU time used by the engine's own threads in this process, an entry for each kind of work. Only differences are
    /// meaningful. Empty if the engine has no such threads, or their time is unknown. Cheap.
    fn own_threads(&self) -> Vec<OwnThreads> {
        Vec::new()
    }

    /// File operations of the engine so far; `None` if it cannot count them, or has no files. Cheap.
    ///
    /// # Errors
    /// The engine's.
    fn io_counts(&self) -> Result<Option<IoCounts>> {
        Ok(None)
    }

    /// A new connection by the engine's interface.
    ///
    /// # Errors
    /// The engine's.
    fn connect(&self) -> Result<Connection> {
        match self.interface() {
            Interface::Sql(engine) => engine.new_session().map(Connection::Sql),
            Interface::Keys(engine) => engine.new_records().map(Connection::Keys),
        }
    }

    /// The SQL interface.
    ///
    /// # Errors
    /// [`Unsupported`](crate::ErrorKind::Unsupported) if it has none.
    fn sql(&self) -> Result<&dyn SqlEngine> {
        match self.interface() {
            Interface::Sql(engine) => Ok(engine),
            Interface::Keys(_) => Err(no_sql()),
        }
    }

    /// A new SQL session.
    ///
    /// # Errors
    /// The engine's; [`Unsupported`](crate::ErrorKind::Unsupported) without SQL.
    fn session(&self) -> Result<Box<dyn Session>> {
        self.sql()?.new_session()
    }

    /// A loader that builds a new database in place of one of Bourse's, or of none. The new one is invisible until it is finished.
    /// What it makes is [listed](crate::Inventory) in the database, unless the engine marks it in another way.
    ///
    /// # Errors
    /// The engine's; [`Unsupported`](crate::ErrorKind::Unsupported) without SQL;
    /// [`Refused`](crate::ErrorKind::Refused) if the database holds what Bourse did not make.
    fn loader(&self) -> Result<Box<dyn Loader>> {
        let sql = self.sql()?;
        let Some(objects) = sql.dialect().objects else { return sql.new_loader() };
        refuse_others(self)?;
        Ok(Box::new(ListingLoader::new(sql.new_loader()?, objects)))
    }
}

/// Result of [`Engine::hold`].
pub enum Hold {
    /// Lock held until this is dropped.
    Held(Box<dyn DatabaseLock>),
    /// Lock held by another process: named details of it, for a person.
    InUse(Vec<(String, String)>),
    /// No lock needed: this process has one already, or no other process can use the database.
    Nothing,
    /// No lock possible: the server's reason.
    Cannot(String),
}

/// Lock of a database at its server, which another person may end there.
pub trait DatabaseLock: Send {
    /// Asks the server on the lock's own session, which has the lock for as long as it lives.
    ///
    /// # Errors
    /// The session, and with it the lock, is gone.
    fn still_held(&mut self) -> Result<()>;
}

impl Hold {
    /// Value of a holder's `client` if it connects from the caller's own address: its `process` is then one of this
    /// machine.
    pub const THIS_MACHINE: &'static str = "this machine";
}

/// Conflicts of one kind that sessions reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Conflicts {
    /// The engine's name for it.
    pub name: &'static str,
    /// Number of conflicts.
    pub count: u64,
}

/// Number of times that a node of a database was lost. The sessions it had continue at another node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeLosses {
    /// The node's name.
    pub node: String,
    /// Number of times.
    pub times: u64,
}

/// A counter of an engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counter {
    /// The engine's own name for it, as `Innodb_row_lock_waits`.
    pub name: String,
    /// Its value.
    pub value: u64,
}

/// Threads that an engine runs in this process for one purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OwnThreads {
    /// Their work, as `garbage collection`.
    pub work: &'static str,
    /// Their CPU time since the engine began.
    pub cpu_ns: u64,
    /// Whether this work becomes less the longer the engine runs, as a just-in-time compiler's does.
    pub is_warming_up: bool,
}

/// The interface by which an engine is used.
#[derive(Clone, Copy)]
pub enum Interface<'e> {
    /// Statements in SQL.
    Sql(&'e dyn SqlEngine),
    /// Records found by key.
    Keys(&'e dyn KeyEngine),
}

/// An engine that runs SQL.
pub trait SqlEngine: Send + Sync {
    /// The engine's dialect.
    fn dialect(&self) -> &'static Dialect;

    /// A new session.
    ///
    /// # Errors
    /// The engine's.
    fn new_session(&self) -> Result<Box<dyn Session>>;

    /// Makes sessions and loaders opened from now on refuse statements that reach a file outside the database: a
    /// statement from a user's file could change another database of that user. Does nothing in an engine that cannot
    /// refuse them.
    fn confine(&self) {}

    /// Interrupts the statements that [confined](Self::confine) sessions execute now. Does nothing in an engine that cannot
    /// interrupt them.
    fn interrupt_statements(&self) {}

    /// A new loader, for [`Engine::loader`] alone: it replaces whatever is there, and lists nothing.
    ///
    /// # Errors
    /// The engine's.
    fn new_loader(&self) -> Result<Box<dyn Loader>>;
}

/// An engine that finds records by key and runs no SQL.
pub trait KeyEngine: Send + Sync {
    /// A new connection.
    ///
    /// # Errors
    /// The engine's.
    fn new_records(&self) -> Result<Box<dyn Records>>;

    /// Names of all tables in the database, those of a person among them; empty for an engine that cannot list them.
    ///
    /// # Errors
    /// The engine's.
    fn tables(&self) -> Result<Vec<String>> {
        Ok(Vec::new())
    }
}

/// One user's connection to an engine.
pub enum Connection {
    /// A session of a SQL engine.
    Sql(Box<dyn Session>),
    /// The records of a key engine.
    Keys(Box<dyn Records>),
}

impl Connection {
    /// The SQL session.
    ///
    /// # Errors
    /// [`Unsupported`](crate::ErrorKind::Unsupported) with a key engine.
    #[inline]
    pub fn sql(&mut self) -> Result<&mut dyn Session> {
        match self {
            Self::Sql(session) => Ok(&mut **session),
            Self::Keys(_) => Err(no_sql()),
        }
    }

    /// Runs `f` on records by key: the engine's own, or over its SQL.
    #[inline]
    pub fn with_records<T>(&mut self, statements: StatementForm, f: impl FnOnce(&mut dyn Records) -> T) -> T {
        match self {
            Self::Sql(session) => f(&mut RecordsOverSql::new(&mut **session, statements)),
            Self::Keys(records) => f(&mut **records),
        }
    }

    /// [`Session::round_trips`]; a key engine has no server.
    #[inline]
    pub fn round_trips(&self) -> Option<u64> {
        match self {
            Self::Sql(session) => session.round_trips(),
            Self::Keys(_) => None,
        }
    }

    /// Settings in force in the session; empty if it has none, or cannot report them now.
    pub fn settings(&mut self) -> Vec<Setting> {
        match self {
            Self::Sql(session) => session.settings(),
            Self::Keys(records) => records.settings(),
        }
        .unwrap_or_default()
    }

    /// Opens a transaction; a key engine has one level of isolation.
    ///
    /// # Errors
    /// [`Conflict`](crate::ErrorKind::Conflict) if the engine's patience with other writers ends.
    pub fn begin(&mut self, isolation: Isolation, access: Access) -> Result<()> {
        match self {
            Self::Sql(session) => session.begin(isolation, access),
            Self::Keys(records) => records.begin(access),
        }
    }

    /// Undoes the transaction's changes; does nothing outside a transaction.
    ///
    /// # Errors
    /// The engine's.
    pub fn rollback(&mut self) -> Result<()> {
        match self {
            Self::Sql(session) => session.rollback(),
            Self::Keys(records) => records.rollback(),
        }
    }
}

#[cold]
fn no_sql() -> EngineError {
    EngineError::unsupported("this engine has records by key and runs no SQL")
}

/// The process that does an engine's work.
#[derive(Clone, Copy)]
pub enum Hosting<'e> {
    /// This process.
    InProcess,
    /// A server that Bourse starts and may kill.
    OwnedServer(&'e dyn OwnedServer),
    /// A server that others use too.
    External,
}

impl<'e> Hosting<'e> {
    /// The server that Bourse may kill.
    ///
    /// # Errors
    /// [`Unsupported`](crate::ErrorKind::Unsupported) if there is none.
    pub fn owned_server(self) -> Result<&'e dyn OwnedServer> {
        match self {
            Self::OwnedServer(server) => Ok(server),
            Self::InProcess | Self::External => {
                Err(EngineError::unsupported("the engine has no server that Bourse started to kill or to start again"))
            }
        }
    }
}

/// A server that belongs to the engine alone.
pub trait OwnedServer: Sync {
    /// Kills the server as a crash would, whatever it is doing. Its data stays.
    ///
    /// # Errors
    /// The engine's, if the server was never started or cannot be killed.
    fn kill(&self) -> Result<()>;

    /// Starts the server after a kill, on the same data, and waits until it answers.
    ///
    /// # Errors
    /// The engine's, with the server's last output if it does not answer.
    fn restart(&self) -> Result<()>;

    /// Has the server work on the data in this folder once it is started, which stay when it is removed; an empty folder is
    /// filled. From then on none of its file operations bypasses the C library's calls.
    ///
    /// # Errors
    /// [`Unsupported`](crate::ErrorKind::Unsupported) if it cannot.
    fn use_data(&self, data: &Path) -> Result<()> {
        let _ = data;
        Err(EngineError::unsupported("a cluster cannot be started on data that it is given"))
    }

    /// Ends the server in good order. Its data stay, complete.
    ///
    /// # Errors
    /// Those of [`kill`](Self::kill), or that it does not end in time.
    fn stop(&self) -> Result<()> {
        self.kill()
    }

    /// Number of nodes that can be killed each alone.
    fn nodes(&self) -> usize {
        1
    }

    /// Kills a node, counted from 0, as a crash would. Its data stays.
    ///
    /// # Errors
    /// Those of [`kill`](Self::kill).
    fn kill_node(&self, node: usize) -> Result<()> {
        let _ = node;
        self.kill()
    }

    /// Starts a killed node again, and waits until it has what it missed.
    ///
    /// # Errors
    /// Those of [`restart`](Self::restart).
    fn restart_node(&self, node: usize) -> Result<()> {
        let _ = node;
        self.restart()
    }

    /// Has the server end the connection of a session, as its administrator would; `choice` selects one of the sessions that there
    /// are. Returns whether there was one.
    ///
    /// # Errors
    /// The engine's.
    fn cut(&self, choice: u64) -> Result<bool> {
        let _ = choice;
        Ok(false)
    }
}

/// A database opened for reading alone.
pub struct ForReading {
    /// The engine that reads it.
    pub engine: Box<dyn Engine>,
    /// Reason why a copy is read instead of the database itself, and the copy's path; `None` if the database itself is
    /// read.
    pub copied: Option<String>,
    /// Fails if the database was changed since it was opened: what was read is then inconsistent.
    pub unchanged: Box<dyn Fn() -> Result<()>>,
}

impl ForReading {
    /// A database that nothing can change while that engine has it open.
    pub fn of(engine: impl Engine + 'static) -> Self {
        Self { engine: Box::new(engine), copied: None, unchanged: Box::new(|| Ok(())) }
    }
}

/// A temporary second database at a server.
pub struct SideDatabase {
    /// The engine that uses it.
    pub engine: Box<dyn Engine>,
    /// Removes what loading created. The engine is dropped before, and no session of it is open.
    pub remove: Box<dyn FnOnce() -> Result<()>>,
}

/// A copy of a database; removed when dropped.
pub trait Snapshot: Send {
    /// Method by which it was made, for a person.
    fn method(&self) -> &str;

    /// Restores the database to the state that was copied. No session may be open.
    ///
    /// # Errors
    /// The engine's.
    fn restore(&self) -> Result<()>;
}

/// Fills a new database as fast as the engine can.
///
/// Dropped unfinished, or killed, it leaves nothing that could be mistaken for a complete database.
///
/// ```
/// use bourse_engine::{Engine, NullEngine};
/// let mut loader = NullEngine.loader()?;
/// loader.run("CREATE TABLE account (id INTEGER PRIMARY KEY, balance INTEGER)")?;
/// loader.query("SELECT count(*) FROM account", &mut |_| Ok(()))?;
/// loader.finish()?;
/// # Ok::<(), bourse_engine::EngineError>(())
/// ```
pub trait Loader {
    /// Runs a statement without result: DDL, analysis.
    ///
    /// # Errors
    /// The engine's, with the statement.
    fn run(&mut self, sql: &str) -> Result<()>;

    /// Adds rows to a table that exists.
    ///
    /// # Errors
    /// The engine's.
    fn insert(&mut self, batch: &dyn Batch) -> Result<()>;

    /// Runs a query, to check what was loaded before it becomes visible.
    ///
    /// # Errors
    /// The engine's, with the statement.
    fn query(&mut self, sql: &str, each: &mut EachRow<'_>) -> Result<()>;

    /// Makes the database visible and as durable as its settings promise.
    ///
    /// # Errors
    /// The engine's.
    fn finish(self: Box<Self>) -> Result<()>;
}
