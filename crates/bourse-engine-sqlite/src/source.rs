//! Database that a connection opens: a file, or one in memory, with a copy of SQLite.

use crate::counting::CountingFiles;
use crate::ffi::SqliteLibrary;
use bourse_engine::{EngineError, ErrorKind, Result};
use std::ffi::CString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Database to open.
#[derive(Debug, Clone)]
pub(crate) struct SqliteSource {
    /// Library that opens it.
    pub(crate) library: SqliteLibrary,
    /// A file name, or a URI for a database in memory.
    pub(crate) name: CString,
    pub(crate) is_uri: bool,
    /// Path of the file; `None` for one in memory.
    pub(crate) path: Option<PathBuf>,
    pub(crate) shared_cache: bool,
    pub(crate) create: bool,
    pub(crate) read_only: bool,
    /// Counting file system, if used.
    pub(crate) files: Option<Arc<CountingFiles>>,
}

impl SqliteSource {
    /// A file, which is created if it does not exist and `create` is true.
    pub(crate) fn file(library: SqliteLibrary, path: &Path, create: bool) -> Result<Self> {
        let text = path.to_str().ok_or_else(|| {
            EngineError::new(
                ErrorKind::Other,
                format!("{}: SQLite opens files whose names are UTF-8 only", path.display()),
            )
        })?;
        // The library was compiled to read a name that begins with `file:` as a URI, and takes some names as memory.
        let name =
            if text.starts_with("file:") || text.starts_with(':') { format!("./{text}") } else { text.to_owned() };
        let name = CString::new(name)
            .map_err(|_| EngineError::new(ErrorKind::Other, format!("{text:?}: a file's name has no zero byte")))?;
        Ok(Self {
            library,
            name,
            is_uri: false,
            path: Some(path.to_owned()),
            shared_cache: false,
            create,
            read_only: false,
            files: None,
        })
    }

    /// A URI made by Bourse.
    pub(crate) fn uri(library: SqliteLibrary, uri: &str, shared_cache: bool) -> Self {
        let name = CString::new(uri).expect("the URIs of this crate have no zero byte");
        Self { library, name, is_uri: true, path: None, shared_cache, create: true, read_only: false, files: None }
    }

    /// A database in memory that SQLite itself holds: private to the connection, or one of that name shared by
    /// connections with a common cache.
    pub(crate) fn memory(library: SqliteLibrary, name: &str, is_shared: bool) -> Self {
        #[cfg(loaded)]
        if !is_shared {
            // Known to every version.
            return Self { is_uri: false, ..Self::uri(library, ":memory:", false) };
        }
        let cache = if is_shared { "&cache=shared" } else { "" };
        Self::uri(library, &format!("file:{name}?mode=memory{cache}"), is_shared)
    }

    /// A read-only file; an immutable one is read without locks and without its log.
    pub(crate) fn read_only(library: SqliteLibrary, path: &Path, is_immutable: bool) -> Result<Self> {
        let this = Self { read_only: true, ..Self::file(library, path, false)? };
        if !is_immutable {
            return Ok(this);
        }
        let name = this.name.as_bytes();
        // Two slashes at the beginning would name a machine.
        let mut uri = if name.starts_with(b"/") { "file://" } else { "file:" }.to_owned();
        for &byte in name {
            // What may have a meaning in a URI is written as its number.
            match byte {
                b'/' | b'.' | b'-' | b'_' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => uri.push(byte.into()),
                byte => uri.push_str(&format!("%{byte:02x}")),
            }
        }
        let name = CString::new(uri + "?immutable=1").expect("a zero byte would be %00");
        Ok(Self { name, is_uri: true, ..this })
    }

    pub(crate) fn with_files(mut self, files: Option<Arc<CountingFiles>>) -> Self {
        self.files = files;
        self
    }

    pub(crate) fn with_shared_cache(mut self, shared_cache: bool) -> Self {
        self.shared_cache = shared_cache;
        self
    }
}
