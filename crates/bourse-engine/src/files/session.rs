//! Session of one user.

use super::{FilesDatabase, FilesLayout, FilesOptions, FilesTransaction};
use crate::own_files::{find, is_own};
use crate::records::codec::{self, EncodedRow};
use crate::records::refusals::{key_exists, only_reads, refuse_indexes, wrong_key};
use crate::{
    Access, EachRow, EngineError, FieldChange, Key, KeyDatabase as _, RecordTable, RecordType, Records, Result, Value,
    Wait, blocked_on, foreign_among, sync_names,
};
use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(super) struct FilesSession {
    database: Arc<FilesDatabase>,
    options: FilesOptions,
    /// Open transaction.
    open: Option<FilesTransaction>,
    /// Whether it has changed a file.
    changed: bool,
    buffer: Vec<u8>,
    name: String,
}

impl FilesSession {
    pub(super) fn new(database: Arc<FilesDatabase>, options: FilesOptions) -> Self {
        Self { database, options, open: None, changed: false, buffer: Vec::new(), name: String::new() }
    }

    fn folder(&self, table: &RecordTable) -> PathBuf {
        self.database.folder.join(table.name())
    }

    /// Number of a table's files, each of which is looked into if they are `removed`.
    fn files_of(&self, table: &RecordTable, removed: bool) -> Result<u64> {
        let (folder, name, mut others) = (self.folder(table), table.name(), Vec::new());
        let count = if folder.is_symlink() {
            others.push(name.to_owned());
            Ok(0)
        } else {
            let format = FilesDatabase::FORMAT;
            let is_own = |path: &str, file: &Path| match removed {
                true => format.is_intact(path, file),
                false => is_own(format.own, path),
            };
            find(&folder, &format!("{name}/"), &is_own, &mut others)
        };
        foreign_among(&others).map_or(Ok(()), |why| Err(EngineError::refused(why)))?;
        Ok(found(count, "read", &folder)?.unwrap_or_default())
    }

    /// Path of a record's file.
    fn path(&mut self, table: &RecordTable, key: Key<'_>) -> Result<PathBuf> {
        self.name.clear();
        let tree = self.options.layout == FilesLayout::Tree && !matches!(key, Key::Int(0..100));
        let (first, second, mark) = match (key, table.key().record_type) {
            (Key::Int(number), RecordType::Int) => {
                write!(self.name, "{number:06}").expect("a text grows");
                (self.name.len() - 4, self.name.len() - 2, "")
            }
            (Key::Text(text), RecordType::Text(_)) => {
                for byte in text.bytes() {
                    match byte {
                        b'0'..=b'9' | b'a'..=b'z' | b'-' | b'_' => self.name.push(char::from(byte)),
                        other => write!(self.name, "={other:02X}").expect("a text grows"),
                    }
                }
                // The name of an empty text; a folder has another mark than any file.
                self.name.push('=');
                (2.min(self.name.len()), 4.min(self.name.len()), "+")
            }
            _ => return Err(wrong_key(table, key)),
        };
        let folder = self.folder(table);
        Ok(match tree {
            true => {
                let (folders, _) = self.name.split_at(second);
                let (outer, inner) = folders.split_at(first);
                let file = if mark.is_empty() { &self.name[second..] } else { &self.name };
                folder.join(format!("{outer}{mark}")).join(format!("{inner}{mark}")).join(file)
            }
            false => folder.join(&self.name),
        })
    }

    /// Runs `body` in the open transaction, or in one of its own.
    fn within<T>(&mut self, access: Access, body: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        match (self.open.as_ref().map(|open| open.access), access) {
            (Some(Access::Read), Access::Write) => return Err(only_reads()),
            (Some(_), _) => {
                self.changed |= access == Access::Write;
                return body(self);
            }
            (None, _) => {}
        }
        let _own = FilesTransaction::begin(&self.database, access);
        body(self)
    }

    fn end(&mut self) {
        (self.open, self.changed) = (None, false);
    }

    /// Reads a file into the buffer; returns whether it exists.
    fn read(&mut self, path: &Path) -> Result<bool> {
        self.buffer.clear();
        let read = File::open(path).and_then(|mut file| file.read_to_end(&mut self.buffer));
        found(read, "read", path).map(|read| read.is_some())
    }

    /// Overwrites a file with the buffer; returns whether it exists.
    fn overwrite(&self, path: &Path) -> Result<bool> {
        let opened = OpenOptions::new().write(true).truncate(true).open(path);
        found(opened.and_then(|file| self.fill(file)), "write", path).map(|written| written.is_some())
    }

    fn fill(&self, mut file: File) -> io::Result<()> {
        file.write_all(&self.buffer)?;
        if self.options.sync { blocked_on(Wait::Sync, || file.sync_all()) } else { Ok(()) }
    }

    fn sync_parents(&self, table: &RecordTable, path: &Path) -> Result<()> {
        let table = self.folder(table);
        if !self.options.sync {
            return Ok(());
        }
        let mut folders = path.ancestors().skip(1).take_while(|folder| folder.starts_with(&table));
        blocked_on(Wait::Sync, || folders.try_for_each(sync_names))
    }
}

/// Result of a call about a file that may not exist.
fn found<T>(result: io::Result<T>, doing: &str, path: &Path) -> Result<Option<T>> {
    match result {
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
        result => result.map(Some).map_err(|e| EngineError::io(doing, path, &e)),
    }
}

impl Records for FilesSession {
    fn create(&mut self, tables: &[&'static RecordTable]) -> Result<()> {
        refuse_indexes("a file system", tables, self.open.is_some())?;
        tables.iter().try_for_each(|table| self.delete_all(table).map(drop))
    }

    fn begin(&mut self, access: Access) -> Result<()> {
        if self.open.is_some() {
            return Err(EngineError::already_open());
        }
        self.open = Some(FilesTransaction::begin(&self.database, access));
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        self.end();
        Ok(())
    }

    fn rollback(&mut self) -> Result<()> {
        let changed = self.changed;
        self.end();
        if changed { Err(EngineError::unsupported("what was written to files cannot be undone")) } else { Ok(()) }
    }

    fn get(&mut self, table: &'static RecordTable, key: Key<'_>, each: &mut EachRow<'_>) -> Result<bool> {
        let path = self.path(table, key)?;
        let is_there = self.within(Access::Read, |this| this.read(&path))?;
        if is_there {
            each(&EncodedRow::new(key, &self.buffer))?;
        }
        Ok(is_there)
    }

    fn insert(&mut self, table: &'static RecordTable, key: Key<'_>, values: &[Value<'_>]) -> Result<()> {
        let path = self.path(table, key)?;
        codec::encode(values, &mut self.buffer)?;
        self.within(Access::Write, |this| {
            let make = || OpenOptions::new().write(true).create_new(true).open(&path);
            let made = match make() {
                Err(e) if e.kind() == ErrorKind::NotFound => {
                    path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| make())
                }
                made => made,
            };
            match made.and_then(|file| this.fill(file)) {
                Err(e) if e.kind() == ErrorKind::AlreadyExists => return Err(key_exists(table, key)),
                done => done.map_err(|e| EngineError::io("make", &path, &e))?,
            }
            this.database.resized();
            this.sync_parents(table, &path)
        })
    }

    fn update(&mut self, table: &'static RecordTable, key: Key<'_>, values: &[Value<'_>]) -> Result<bool> {
        let path = self.path(table, key)?;
        codec::encode(values, &mut self.buffer)?;
        self.within(Access::Write, |this| this.overwrite(&path))
    }

    fn change(&mut self, table: &'static RecordTable, key: Key<'_>, change: FieldChange<'_>) -> Result<bool> {
        if let (FieldChange::Set(0, value), [_]) = (change, table.fields()) {
            return self.update(table, key, &[value]);
        }
        let path = self.path(table, key)?;
        self.within(Access::Write, |this| {
            if !this.read(&path)? {
                return Ok(false);
            }
            codec::change(&mut this.buffer, change)?;
            this.overwrite(&path)
        })
    }

    fn delete(&mut self, table: &'static RecordTable, key: Key<'_>) -> Result<bool> {
        let path = self.path(table, key)?;
        self.within(Access::Write, |this| {
            let removed = found(fs::remove_file(&path), "remove", &path)?;
            this.database.resized();
            if removed.is_some() {
                this.sync_parents(table, &path)?;
            }
            Ok(removed.is_some())
        })
    }

    fn scan(&mut self, _: &'static RecordTable, _: Key<'_>, _: u64, _: &mut EachRow<'_>) -> Result<u64> {
        Err(EngineError::unsupported("files have no order of keys"))
    }

    fn count(&mut self, table: &'static RecordTable) -> Result<u64> {
        self.within(Access::Read, |this| this.files_of(table, false))
    }

    fn delete_all(&mut self, table: &'static RecordTable) -> Result<u64> {
        let folder = self.folder(table);
        self.within(Access::Write, |this| {
            let count = this.files_of(table, true)?;
            found(fs::remove_dir_all(&folder), "remove", &folder)?;
            this.database.resized();
            fs::create_dir(&folder).map_err(|e| EngineError::io("make", &folder, &e))?;
            Ok(count)
        })
    }
}
