//! Records of a trace.

use crate::digest::RowsDigest;

/// First bytes of a trace, which name its process and its clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceHead {
    /// Process that wrote the trace.
    pub process: u32,
    /// Parent of that process.
    pub parent: u32,
    /// Whether a loadable extension wrote it, which sees less than a preloaded library.
    pub by_extension: bool,
    /// Whether result codes of executions are unknown, and 0: those of an extension that does not find them in SQLite's memory.
    pub lacks_codes: bool,
    /// Whether values are masked: digests of rows, which would tell of the others, are then 0.
    pub is_masked: bool,
    /// Begin of the trace in nanoseconds since 1970.
    pub unix_ns: u64,
    /// Begin of the trace by the machine's monotonic clock in nanoseconds: traces of several processes are put in order by it.
    pub monotonic_ns: u64,
}

/// A bound value.
#[derive(Debug, Clone, PartialEq)]
pub enum TraceValue {
    /// SQL NULL, also of a parameter that was never bound.
    Null,
    /// A whole number.
    Int(i64),
    /// A double.
    Real(f64),
    /// A text's bytes, UTF-8 as far as the program wrote such.
    Text(Vec<u8>),
    /// Bytes.
    Blob(Vec<u8>),
    /// A blob of zeros, by its length in bytes.
    Zeros(u64),
    /// A value that the recorder could not read or store.
    Unknown,
    /// A pointer of the process, which no other one has, by the name of its type.
    Pointer(String),
}

impl TraceValue {
    /// Number of the type in the format.
    pub(crate) fn code(&self) -> u8 {
        match self {
            Self::Null => 0,
            Self::Int(_) => 1,
            Self::Real(_) => 2,
            Self::Text(_) => 3,
            Self::Blob(_) => 4,
            Self::Zeros(_) => 5,
            Self::Unknown => 6,
            Self::Pointer(_) => 7,
        }
    }
}

/// Data of an opened database at the beginning of the trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TraceBase {
    /// The database is in memory or temporary, and began empty.
    Memory,
    /// The file was copied.
    Copied,
    /// The file did not exist or was empty.
    New,
    /// The file could not be copied; a note has the reason.
    Missing,
    /// The process got the open connection from its parent by a fork.
    Inherited,
    /// The file was deleted or emptied since an earlier connection to it: from here on the path names another database.
    Anew,
    /// Another file took the place of the one that earlier connections left, and was copied: from here on the path names another
    /// database.
    Replaced,
}

impl TraceBase {
    /// All, by their numbers in the format.
    pub(crate) const ALL: [Self; 7] =
        [Self::Memory, Self::Copied, Self::New, Self::Missing, Self::Inherited, Self::Anew, Self::Replaced];

    /// Whether there is a copy that is not empty.
    #[must_use]
    pub fn is_copied(self) -> bool {
        matches!(self, Self::Copied | Self::Replaced)
    }

    /// Way in which the path came to name another database than before; `None` if it names the same one.
    #[must_use]
    pub fn replacement(self) -> Option<&'static str> {
        match self {
            Self::Anew => Some("made anew"),
            Self::Replaced => Some("replaced"),
            _ => None,
        }
    }
}

/// An opened connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opened {
    /// Flags of `sqlite3_open_v2`; those that the older calls mean.
    pub flags: u64,
    /// Data at the beginning.
    pub base: TraceBase,
    /// Name as the program passed it.
    pub name: String,
    /// Absolute path; empty for a database without a file.
    pub path: String,
    /// Name of the VFS; empty for the default.
    pub vfs: String,
    /// Version of the SQLite library.
    pub library: String,
    /// Name of the copy in the folder of the recording; empty if there is none. Each database that a path named has one, numbered from
    /// the second on.
    pub copy: String,
}

/// An execution of a statement: from its first step to its end, its reset or its error.
#[derive(Debug, Clone, PartialEq)]
pub struct Execution {
    /// Number of the text.
    pub text: u64,
    /// Whether the connection was in autocommit mode before.
    pub autocommit_before: bool,
    /// Whether the connection was in autocommit mode after.
    pub autocommit_after: bool,
    /// Whether this was the first execution since the statement was prepared.
    pub is_first: bool,
    /// Whether the statement ran to its end; otherwise the program stopped reading, or an error ended it.
    pub is_complete: bool,
    /// Nanoseconds from the first step to the end, including the program's own time between rows.
    pub duration_ns: u64,
    /// SQLite's extended result code; 0: success.
    pub code: u64,
    /// Rows that the program read, and their digests.
    pub rows: RowsDigest,
    /// Rows inserted, updated and deleted, by triggers too.
    pub changes: u64,
    /// Values of the parameters, from the first.
    pub values: Vec<TraceValue>,
}

impl Execution {
    /// Noun of the first value that another process cannot bind; `None` if it can bind all.
    #[must_use]
    pub fn unbindable(&self) -> Option<String> {
        self.values.iter().find_map(|value| match value {
            TraceValue::Pointer(name) => Some(format!("bound pointer of type {name}")),
            TraceValue::Unknown => Some("bound value that is not recorded".to_owned()),
            TraceValue::Text(bytes) if str::from_utf8(bytes).is_err() => {
                Some("bound text that is not UTF-8".to_owned())
            }
            _ => None,
        })
    }
}

/// Subject of a note.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Note {
    /// SQL function of the program; the number is that of its arguments, −1 for any.
    Function,
    /// Collation of the program.
    Collation,
    /// Module of virtual tables of the program.
    Module,
    /// Loaded extension.
    Extension,
    /// Incremental access to a blob, which is no statement.
    Blob,
    /// Backup into this connection.
    Backup,
    /// Database replaced by bytes.
    Deserialize,
    /// Busy timeout in milliseconds.
    BusyTimeout,
    /// Busy handler of the program.
    BusyHandler,
    /// Database attached; the name is the path, and behind a tabulator that of the copy.
    Attached,
    /// Calls that executed statements which were not seen.
    Unseen,
    /// Failure of the recording; records may be missing.
    Trouble,
    /// Database that could not be opened; the number is the result code.
    NotOpened,
    /// Call that changes what later statements do: an authorizer, a hook, a limit.
    Hook,
}

impl Note {
    /// All, by their numbers in the format, from 1.
    pub(crate) const ALL: [Self; 14] = [
        Self::Function,
        Self::Collation,
        Self::Module,
        Self::Extension,
        Self::Blob,
        Self::Backup,
        Self::Deserialize,
        Self::BusyTimeout,
        Self::BusyHandler,
        Self::Attached,
        Self::Unseen,
        Self::Trouble,
        Self::NotOpened,
        Self::Hook,
    ];

    /// Words for a person.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Function => "SQL function of the program",
            Self::Collation => "collation of the program",
            Self::Module => "virtual table module of the program",
            Self::Extension => "loaded extension",
            Self::Blob => "incremental blob access",
            Self::Backup => "backup into the database",
            Self::Deserialize => "database replaced by bytes",
            Self::BusyTimeout => "busy timeout",
            Self::BusyHandler => "busy handler of the program",
            Self::Attached => "attached database",
            Self::Unseen => "call whose statements were not seen",
            Self::Trouble => "failure of the recording",
            Self::NotOpened => "database that could not be opened",
            Self::Hook => "hook or setting of the program",
        }
    }

    /// Whether a replay lacks something because of it.
    #[must_use]
    pub fn hinders_replay(self) -> bool {
        !matches!(self, Self::BusyTimeout | Self::BusyHandler | Self::Attached | Self::NotOpened)
    }
}

/// Event of a trace.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// Nanoseconds since the trace began.
    pub at_ns: u64,
    /// Number of the connection, from 1; 0: none.
    pub connection: u64,
    /// Number of the thread, from 1.
    pub thread: u64,
    /// Occurrence.
    pub kind: EventKind,
}

/// Occurrence of an event.
#[derive(Debug, Clone, PartialEq)]
pub enum EventKind {
    /// A connection was opened.
    Opened(Opened),
    /// The connection was closed.
    Closed,
    /// A statement ended.
    Executed(Execution),
    /// A statement could not be prepared.
    Refused {
        /// Number of the text.
        text: u64,
        /// SQLite's extended result code.
        code: u64,
        /// SQLite's message.
        message: String,
    },
    /// Facts that a replay or a reader needs.
    Noted {
        /// Subject.
        note: Note,
        /// Meaning as the subject says.
        number: i64,
        /// Name of the function, the path and so on.
        name: String,
    },
    /// The process ended in good order; a killed one has none.
    Ended,
}

/// Text of a statement. Texts are numbered from 0 in the order of their records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatementText {
    /// SQL; bytes that are not UTF-8 are replaced.
    pub sql: String,
    /// Whether the statement only reads, by `sqlite3_stmt_readonly`.
    pub is_read_only: bool,
}

/// Record of a trace.
#[derive(Debug, Clone, PartialEq)]
pub enum Record {
    /// Text that later events name by its number.
    Text(StatementText),
    /// Event.
    Event(Event),
}
