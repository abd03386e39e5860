//! Traces of what a program does with SQLite: connections, statements with their values, rows, errors, transactions.
//!
//! A trace is a stream of bytes, written by one process. The writer in C, which is loaded into a recorded program, is
//! `trace.c` of `bourse-preload`; [`TraceWriter`] is the one in Rust. [`TraceReader`] reads both, needs memory for one record,
//! and returns everything before a cut or a damage.
//!
//! # Format, version 1
//! Numbers of fixed width have the least byte first. A *number* is LEB128: seven bits a byte, the least first, the eighth bit
//! set in every byte but the last. A *signed* number is a number in zigzag: 0, −1, 1, −2 are 0, 1, 2, 3. A *string* is its
//! length in bytes as a number, and the bytes.
//!
//! The head has 44 bytes in every version: `BOURSETR`, version (4 bytes), process (4), its parent (4), mode (4; bits: 1: by a loadable extension, 2: values masked, and digests 0,
//! 4: by an extension that knows result codes, which are otherwise 0 there),
//! nanoseconds since 1970 (8), reading of the monotonic clock in nanoseconds (8), which all times are relative to,
//! and the low 4 bytes of the [digest](digest::bytes) of these 40.
//!
//! Records follow: length of the body as a number, the body, and the low 4 bytes of the [digest](digest::bytes) of the body.
//! A length of 0, or the end of the bytes, is the end of the trace: a file that is still written to, or whose writer was
//! killed, has zeros behind its last record. The body begins with the kind.
//!
//! | kind | record | behind the kind |
//! |---|---|---|
//! | 1 | text of a statement, numbered from 0 in their order | flags (number; 1: it only reads), string |
//! | 2 | connection opened | *event*, flags of the call (number), base (number), name, path, VFS, version of SQLite, copy (strings) |
//! | 3 | connection closed | *event* |
//! | 4 | statement executed | *event*, text (number), flags, duration in nanoseconds, result code, rows, digests, changes, values |
//! | 5 | statement refused: it could not be prepared | *event*, text (number), result code (number), message (string) |
//! | 6 | note | *event*, kind of the note (number), number (signed), name (string) |
//! | 7 | end of the process | *event* |
//!
//! An *event* is three fields: nanoseconds since the event before (signed; the first: since the head), connection, thread
//! (numbers from 1; 0: none). The time of an execution is its end.
//!
//! Of an execution: flags 1 and 2 say whether the connection was in autocommit mode before and after, 4 whether the statement
//! was executed for the first time since it was prepared, 8 whether it ran to its end. Digests are 8 bytes in the order of the rows if there are rows, and 8 bytes regardless of order if there are several
//! (see [`digest`]). Values are their count and for each a type and its content: 0 null; 1 a signed number; 2 eight bytes of a
//! double; 3 a text and 4 a blob as strings; 5 a blob of so many zeros (number); 6 one that is not
//! recorded, which has no content; 7 a pointer, by the name of its type as a string.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // reads untrusted input

pub mod digest;
mod files;
mod mask;
mod reader;
mod record;
mod summary;
mod writer;

pub use files::{UNMASKED, files, files_to_mask, reader};
pub use mask::{Mask, MaskPlan};
pub use reader::{TraceError, TraceReader};
pub use record::{Event, EventKind, Execution, Note, Opened, Record, StatementText, TraceBase, TraceHead, TraceValue};
pub use summary::{StatementSummary, TraceSummary};
pub use writer::TraceWriter;

/// Version of the format that this crate writes, and the newest that it reads.
pub const VERSION: u32 = 1;
/// First bytes of a trace.
pub const MAGIC: [u8; 8] = *b"BOURSETR";
/// Bytes of the head.
pub(crate) const HEAD_BYTES: usize = 44;
