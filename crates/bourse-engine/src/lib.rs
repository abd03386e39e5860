//! Interface between workloads and engines: statements and values pass through it, never transactions or benchmarks.
//!
//! An [`Engine`] has one of two [interfaces](Interface). A [`SqlEngine`] opens sessions: a workload writes its
//! statements once as [`Sql`] and runs them on a [`Session`] of any such engine. A [`KeyEngine`] gives [`Records`]
//! found by key, which every SQL engine has too, by one adapter. An engine knows nothing of the workload. The traits
//! are blocking and object-safe: embedded engines block, and engines are chosen at run time.
//!
//! ```
//! use bourse_engine::{Access, Engine, Isolation, NullEngine, Params, Sql, Value};
//!
//! static DEPOSIT: Sql = Sql::new("UPDATE account SET balance = balance + ?2 WHERE id = ?1");
//!
//! // Any engine will do. The null engine claims success, so that the harness can be measured without a database.
//! let engine: Box<dyn Engine> = Box::new(NullEngine);
//! let mut session = engine.session()?;
//! session.begin(Isolation::Serializable, Access::Write)?;
//! let changed = session.change_one(&DEPOSIT, Params::of(&[Value::Int(7), Value::Int(100)]))?;
//! assert_eq!(changed, 1);
//! session.commit()?;
//! # Ok::<(), bourse_engine::EngineError>(())
//! ```

mod capabilities;
mod copied;
mod database_files;
mod description;
mod engine;
mod error;
mod file_mark;
mod file_system;
mod file_use;
pub mod files;
mod folder_parts;
mod folders;
mod footprint;
pub mod instructions;
mod inventory;
mod keyed;
mod kind;
mod library;
mod loading;
mod location;
mod locked;
mod named;
mod null;
mod open_files;
mod opened;
mod own_files;
pub mod page_cache;
mod read;
mod read_copy;
pub mod records;
mod routine;
pub mod server_wait;
mod session;
mod side_file;
mod slots;
mod sql;
mod staged;
mod storage;
mod suggest;
pub mod target;
mod target_file;
mod text;
pub mod thread_time;
mod transaction;
mod wrapper;
mod writer_lock;

pub use bourse_schema::{Batch, Dialect, Value};
pub use capabilities::{Capabilities, Guarantee, RecordCapabilities, SqlCapabilities};
pub(crate) use copied::FileCopy;
pub use copied::copy_file;
pub use database_files::{DatabaseFiles, FileFormat, FileOwner};
pub use description::{Description, Durability, MayLose, MemoryStore, Setting, WriterWait};
pub use engine::{
    Conflicts, Connection, Counter, DatabaseLock, Engine, ForReading, Hold, Hosting, Interface, KeyEngine, Loader,
    NodeLosses, OwnThreads, OwnedServer, SideDatabase, Snapshot, SqlEngine,
};
pub use error::{EngineError, ErrorKind, Result};
pub use file_system::{
    PlacedDurability, bytes_on_disk, durability_at, folder_of, lost_with_machine, memory_file_system,
};
pub use file_use::FileUse;
pub use folder_parts::{FolderLoad, FolderParts};
pub use folders::{FolderBytes, folder_bytes, remove_folder, sync_folder, sync_names};
pub use footprint::{FileCounter, FileIo, Footprint, IoCounts, LockStats, ServerProcess};
pub use inventory::{INVENTORY, Inventory, foreign_among, listed, refuse_others};
pub use keyed::{KeyDatabase, KeyedEngine, settings};
pub use kind::{EngineKind, InProcessPlaces, OpenTarget};
#[doc(hidden)]
pub use libloading; // for `c_interface!`
pub use library::{EngineLibrary, LoadedLibrary};
pub use loading::{IncomingRows, rows_loader};
pub use location::{Location, path_in_target, target_with_path};
pub use locked::locked;
pub use null::{KINDS, NullEngine};
pub use open_files::OpenFiles;
pub use opened::{Commits, Interruptible, SharedDatabase};
pub use own_files::other_files;
pub use read::{FromValue, WrongType};
pub use read_copy::{ReadCopy, is_changed, stamp};
pub use records::{
    FieldChange, IndexKind, Key, RecordField, RecordTable, RecordType, Records, RecordsOverSql, StatementForm,
};
pub use routine::{Language, Routine, RoutineStep, version_of};
pub use session::{
    Access, Checkpoint, EachFound, EachRow, EachToLoad, Isolation, Params, PutRow, Row, RowExt, Runs, Session,
    SessionExt, StatementWork, run_one_by_one,
};
pub use side_file::{SideFile, SideFileKind};
pub use slots::Slots;
pub use sql::{Sql, split_parameters};
pub use staged::{StagedLoad, unless_in_use};
pub use storage::{Medium, Storage, WriteCache};
pub use suggest::{did_you_mean, nearest};
pub use target_file::{TargetFile, open_named, open_once, open_regular, path_with_suffix, refuse_no_file};
pub use text::{one_line, shortened};
pub use thread_time::{Wait, blocked_on, sometimes_blocked_on, writer_blocked_on};
pub use transaction::TransactionState;
pub use wrapper::Wrapper;
pub use writer_lock::WriterLock;
