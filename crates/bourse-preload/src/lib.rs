//! Libraries in C that are loaded into other programs. This crate compiles them and includes them as bytes.
//!
//! | library | folder | what |
//! |---|---|---|
//! | [`FILE_CALLS`] | `files/` | counts an engine's calls on files, makes one fail, simulates a disk that loses its power, records them |
//! | [`SQLITE_CALLS`] | `sqlite/` | preloaded: records what a program does with SQLite |
//! | [`SQLITE_EXTENSION`] | `sqlite/` | loadable extension of SQLite: the same where nothing can be preloaded |

/// A library.
#[derive(Debug, Clone, Copy)]
pub struct Library(&'static [u8]);

/// Below an engine's calls on files.
pub static FILE_CALLS: Library = Library(include_bytes!(concat!(env!("OUT_DIR"), "/files.so")));
/// Before a program's calls of SQLite.
pub static SQLITE_CALLS: Library = Library(include_bytes!(concat!(env!("OUT_DIR"), "/sqlite.so")));
/// Loadable extension of SQLite.
pub static SQLITE_EXTENSION: Library = Library(include_bytes!(concat!(env!("OUT_DIR"), "/extension.so")));

/// Environment variable of the folder in which [`SQLITE_CALLS`] writes its trace.
pub const RECORD_TO: &str = "BOURSE_RECORD_TO";

impl Library {
    /// Bytes of the library.
    ///
    /// # Errors
    /// The reason that this program has none.
    pub fn bytes(self) -> Result<&'static [u8], &'static str> {
        if self.0.is_empty() { Err(env!("BOURSE_PRELOAD_NONE")) } else { Ok(self.0) }
    }
}
