//! The seam's traits: an engine, its SQL or key interface, its server, its loader.

use crate::records::Statements;
use crate::{
    Access, Batch, Capabilities, Description, Dialect, EachRow, EngineError, Footprint, IoCounts, Isolation, Location,
    Records, RecordsOverSql, Session,
};

/// A database under test, opened with its settings. Each user thread makes its own connection.
///
/// Opening a target reads the target alone. Capabilities, interface, location and hosting follow from that; asking for
/// them touches no database.
pub trait Engine: Send + Sync {
    /// Version and settings in force, read back from the engine.
    ///
    /// # Errors
    /// The engine's.
    fn description(&self) -> Result<Description, EngineError>;

    /// Capabilities.
    fn capabilities(&self) -> Capabilities;

    /// The interface by which it is used: SQL, or records by key.
    fn interface(&self) -> Interface<'_>;

    /// Location of the database.
    fn location(&self) -> Location;

    /// The process that does its work, and so what has to end for it to crash.
    fn hosting(&self) -> Hosting<'_>;

    /// Whether there is a database with anything in it.
    ///
    /// # Errors
    /// The engine's.
    fn exists(&self) -> Result<bool, EngineError>;

    /// Sizes now. Cheap: it is asked once a second during a run.
    ///
    /// # Errors
    /// The engine's.
    fn footprint(&self) -> Result<Footprint, EngineError>;

    /// Announces how many sessions will be open at once, so that the engine divides among them what it gives to each; what
    /// that changes, in words. Sessions opened later have the divided share.
    fn expect_sessions(&self, sessions: usize) -> Option<String> {
        let _ = sessions;
        None
    }

    /// Why what lies at the target is not ours to open or replace, in words; `None` if it may be used. Looking changes
    /// nothing and opens nothing with the engine's library.
    ///
    /// # Errors
    /// The engine's, if it cannot be looked at.
    fn foreign(&self) -> Result<Option<String>, EngineError> {
        Ok(None)
    }

    /// This database for reading alone: an engine whose sessions change nothing in the database's folder. `None` where a
    /// session changes nothing anyway unless it is told to.
    ///
    /// # Errors
    /// The engine's.
    fn for_reading(&self) -> Result<Option<ForReading>, EngineError> {
        Ok(None)
    }

    /// Leftovers of a load that was killed, in words; the next load removes them.
    ///
    /// # Errors
    /// The engine's.
    fn leftovers(&self) -> Result<Option<String>, EngineError> {
        Ok(None)
    }

    /// Holds the database at a server that others use too, so that no second command loads, changes or checks it meanwhile.
    /// `holder` says whose it is then. The server frees it when the process ends, however that ends.
    ///
    /// # Errors
    /// The engine's.
    fn hold(&self, holder: &str) -> Result<Hold, EngineError> {
        let _ = holder;
        Ok(Hold::Nothing)
    }

    /// Keeps a copy of the database as it is now, so that rounds can begin alike. No session may be open.
    ///
    /// # Errors
    /// The engine's; [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported) if it keeps no copies.
    fn snapshot(&self) -> Result<Box<dyn Snapshot>, EngineError> {
        Err(EngineError::unsupported("no copy of its database can be kept"))
    }

    /// A database beside this one at the same server, for a while: it is made by loading.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported) where there is no server; [`ErrorKind::Refused`](crate::ErrorKind::Refused)
    /// if a database of that name is there which Bourse did not make.
    fn side_database(&self, name: &str) -> Result<SideDatabase, EngineError> {
        let _ = name;
        Err(EngineError::unsupported("there is no server that could have a database beside it"))
    }

    /// Has the engine check its own data, indexes among them: what it finds damaged, in its words. `None` where it has no
    /// such check.
    ///
    /// # Errors
    /// The engine's, if it cannot even look.
    fn integrity_check(&self) -> Result<Option<Vec<String>>, EngineError> {
        Ok(None)
    }

    /// Conflicts that sessions were told of since it was opened, by kind; empty where kinds are not told apart. Cheap.
    fn conflicts(&self) -> Vec<Conflicts> {
        Vec::new()
    }

    /// How often each node was lost since it was opened; empty where there is one node. Cheap.
    fn node_losses(&self) -> Vec<NodeLosses> {
        Vec::new()
    }

    /// What it counts by itself beside conflicts and files, since it or its server began: only differences tell. Empty where
    /// it counts nothing. Cheap.
    ///
    /// # Errors
    /// The engine's.
    fn counters(&self) -> Result<Vec<Counter>, EngineError> {
        Ok(Vec::new())
    }

    /// CPU time that threads of its own in this process have used until now, by what they do: only differences tell. Empty
    /// where it has no such threads, or cannot say. Cheap.
    fn own_threads(&self) -> Vec<OwnThreads> {
        Vec::new()
    }

    /// What it has asked of the file system until now; `None` where it cannot say, or has no files. Cheap.
    ///
    /// # Errors
    /// The engine's.
    fn io_counts(&self) -> Result<Option<IoCounts>, EngineError> {
        Ok(None)
    }

    /// A new connection by the engine's interface.
    ///
    /// # Errors
    /// The engine's.
    fn connect(&self) -> Result<Connection, EngineError> {
        match self.interface() {
            Interface::Sql(engine) => engine.new_session().map(Connection::Sql),
            Interface::Keys(engine) => engine.new_records().map(Connection::Keys),
        }
    }

    /// The SQL interface.
    ///
    /// # Errors
    /// [`Unsupported`](crate::ErrorKind::Unsupported) if it has none.
    fn sql(&self) -> Result<&dyn SqlEngine, EngineError> {
        match self.interface() {
            Interface::Sql(engine) => Ok(engine),
            Interface::Keys(_) => Err(no_sql()),
        }
    }

    /// A new SQL session.
    ///
    /// # Errors
    /// The engine's; [`Unsupported`](crate::ErrorKind::Unsupported) without SQL.
    fn session(&self) -> Result<Box<dyn Session>, EngineError> {
        self.sql()?.new_session()
    }

    /// A loader that builds a new database in the place of whatever is there; nobody sees any of it before it is finished.
    ///
    /// # Errors
    /// The engine's; [`Unsupported`](crate::ErrorKind::Unsupported) without SQL.
    fn loader(&self) -> Result<Box<dyn Loader>, EngineError> {
        self.sql()?.new_loader()
    }
}

/// Result of [`Engine::hold`].
pub enum Hold {
    /// Held until this is dropped.
    Held(Box<dyn Send>),
    /// Another process holds it: named details, for a person.
    InUse(Vec<(String, String)>),
    /// Nothing is to be held: this process has it already, or it is at no server that others use.
    Nothing,
    /// The server cannot hold it, in its words.
    Cannot(String),
}

impl Hold {
    /// Value of a holder's detail `client` where the server sees it at the address of whoever asks: its `process` is one of this
    /// machine.
    pub const THIS_MACHINE: &'static str = "this machine";
}

/// Conflicts of one kind that sessions were told of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Conflicts {
    /// The engine's name for it.
    pub name: &'static str,
    /// How many.
    pub count: u64,
}

/// How often a node of a database was lost: sessions that it had went on at another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeLosses {
    /// Its name.
    pub node: String,
    /// Number of times.
    pub times: u64,
}

/// A number that an engine counts up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counter {
    /// The engine's own name for it, as `Innodb_row_lock_waits`.
    pub name: String,
    /// Its value.
    pub value: u64,
}

/// Threads that an engine has of its own in this process, all that do the same work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OwnThreads {
    /// Their work, as `garbage collection`.
    pub work: &'static str,
    /// Their CPU time since the engine began.
    pub cpu_ns: u64,
    /// Whether there is less of it the longer the engine runs, as with a compiler of the code that runs.
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
    /// Its dialect.
    fn dialect(&self) -> &'static Dialect;

    /// A new session.
    ///
    /// # Errors
    /// The engine's.
    fn new_session(&self) -> Result<Box<dyn Session>, EngineError>;

    /// Refuses, in sessions and loaders that are made from now on, statements that reach a file which is not the database's:
    /// those of a person's own file could change another database of theirs. An engine that cannot refuse them does nothing.
    fn confine(&self) {}

    /// A new loader: see [`Engine::loader`].
    ///
    /// # Errors
    /// The engine's.
    fn new_loader(&self) -> Result<Box<dyn Loader>, EngineError>;
}

/// An engine that finds records by key and runs no SQL.
pub trait KeyEngine: Send + Sync {
    /// A new connection.
    ///
    /// # Errors
    /// The engine's.
    fn new_records(&self) -> Result<Box<dyn Records>, EngineError>;
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
    pub fn sql(&mut self) -> Result<&mut dyn Session, EngineError> {
        match self {
            Self::Sql(session) => Ok(&mut **session),
            Self::Keys(_) => Err(no_sql()),
        }
    }

    /// Runs `f` on records by key: the engine's own, or over its SQL.
    #[inline]
    pub fn with_records<T>(&mut self, statements: Statements, f: impl FnOnce(&mut dyn Records) -> T) -> T {
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

    /// Opens a transaction; a key engine has one level of isolation.
    ///
    /// # Errors
    /// [`Conflict`](crate::ErrorKind::Conflict) if the engine's patience with other writers ends.
    pub fn begin(&mut self, isolation: Isolation, access: Access) -> Result<(), EngineError> {
        match self {
            Self::Sql(session) => session.begin(isolation, access),
            Self::Keys(records) => records.begin(access),
        }
    }

    /// Undoes the transaction's changes; does nothing outside a transaction.
    ///
    /// # Errors
    /// The engine's.
    pub fn rollback(&mut self) -> Result<(), EngineError> {
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
    /// A server that we start and may kill.
    OwnedServer(&'e dyn OwnedServer),
    /// A server that others use too.
    External,
}

impl<'e> Hosting<'e> {
    /// The server that we may kill.
    ///
    /// # Errors
    /// [`Unsupported`](crate::ErrorKind::Unsupported) if there is none.
    pub fn owned_server(self) -> Result<&'e dyn OwnedServer, EngineError> {
        match self {
            Self::OwnedServer(server) => Ok(server),
            Self::InProcess | Self::External => {
                Err(EngineError::unsupported("the engine has no server of ours to kill or to start again"))
            }
        }
    }
}

/// A server that belongs to the engine, and to nobody else.
pub trait OwnedServer {
    /// Ends it as a crash would: at once, whatever it is doing. Its data stays.
    ///
    /// # Errors
    /// The engine's, if it was never started or cannot be ended.
    fn kill(&self) -> Result<(), EngineError>;

    /// Starts it again after a kill, on the same data, and waits until it answers.
    ///
    /// # Errors
    /// The engine's, with its last words if it does not come back.
    fn restart(&self) -> Result<(), EngineError>;
}

/// A database opened for reading alone.
pub struct ForReading {
    /// Its engine.
    pub engine: Box<dyn Engine>,
    /// Why a copy elsewhere is read instead of the database itself, and where it lies; `None` if it is not.
    pub copied: Option<String>,
    /// Fails if the database was changed since it was opened, so that what was read does not belong together.
    pub unchanged: Box<dyn Fn() -> Result<(), EngineError>>,
}

/// A database beside another at its server.
pub struct SideDatabase {
    /// Its engine.
    pub engine: Box<dyn Engine>,
    /// Removes what loading has made of it. Its engine is dropped before, and no session of it is open.
    pub remove: Box<dyn FnOnce() -> Result<(), EngineError>>,
}

/// A copy of a database; gone when it is dropped.
pub trait Snapshot: Send {
    /// How it was made, in words.
    fn how(&self) -> &str;

    /// Puts the database back as it was. No session may be open.
    ///
    /// # Errors
    /// The engine's.
    fn restore(&self) -> Result<(), EngineError>;
}

/// Fills a new database as fast as the engine can.
///
/// Dropped unfinished, or killed, it leaves nothing that could be taken for a good database.
pub trait Loader {
    /// Runs a statement without result: DDL, analysis.
    ///
    /// # Errors
    /// The engine's, with the statement.
    fn run(&mut self, sql: &str) -> Result<(), EngineError>;

    /// Adds rows to a table that exists.
    ///
    /// # Errors
    /// The engine's.
    fn insert(&mut self, batch: &dyn Batch) -> Result<(), EngineError>;

    /// Runs a query, to check what was loaded before it is seen.
    ///
    /// # Errors
    /// The engine's, with the statement.
    fn query(&mut self, sql: &str, each: &mut EachRow<'_>) -> Result<(), EngineError>;

    /// Makes the database visible and as durable as its settings promise.
    ///
    /// # Errors
    /// The engine's.
    fn finish(self: Box<Self>) -> Result<(), EngineError>;
}
