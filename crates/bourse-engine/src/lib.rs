//! The seam between workloads and engines: statements and values go through it, never transactions or benchmarks.
//!
//! A workload writes its statements once as [`Sql`] and runs them on a [`Session`] of any [`Engine`]; an engine knows
//! nothing of who is asking. Engines that find records by key and know no SQL implement [`Records`], which every SQL
//! engine has by one adapter. Blocking and object-safe: embedded engines block, and engines are chosen at run time.

mod engine;
mod error;
mod file_owner;
mod file_system;
mod file_use;
mod location;
mod null;
mod read;
pub mod records;
mod session;
mod side_file;
mod sql;
mod suggest;
pub mod target;
mod target_file;

pub use bourse_schema::{Batch, Dialect, Value};
pub use engine::{
    Capabilities, Description, Durability, Engine, FileIo, Footprint, ForReading, IoCounts, Lives, Loader,
    RecordCapabilities, ServerProcess, Setting, Snapshot,
};
pub use error::{EngineError, ErrorKind};
pub use file_owner::FileOwner;
pub use file_system::{folder_of, memory_file_system};
pub use file_use::FileUse;
pub use location::{DatabaseFiles, Location, path_in_target, target_with_path};
pub use null::NullEngine;
pub use read::{FromValue, WrongType};
pub use records::{
    IndexKind, Key, KeySession, RecordField, RecordTable, RecordType, Records, RecordsOverSql, Statements,
};
pub use session::{
    Access, Checkpoint, EachFound, EachRow, Isolation, Row, RowExt, Session, SessionExt, query_one_by_one,
};
pub use side_file::{SideFile, SideFileKind};
pub use sql::Sql;
pub use suggest::{did_you_mean, nearest};
pub use target_file::{TargetFile, beside};
