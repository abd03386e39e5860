//! Records by key on FastDB.

use crate::database::TransactionContext;
use crate::error::check;
use crate::library::FieldDescriptor;
use crate::options::{Commit, FastDbOptions};
use crate::statement::{BoundSearch, SessionSearches, StatementKind};
use bourse_engine::records::refusals::{key_exists, only_reads};
use bourse_engine::{
    Access, EachRow, EngineError, FieldChange, IndexKind, Key, RecordField, RecordTable, RecordType, Records, Result,
    Value, locked,
};
use std::ffi::{CString, c_int};
use std::ptr;
use std::sync::{Arc, Mutex};

/// Flags of `cli_field_flags`.
const HASHED: c_int = 1;
const INDEXED: c_int = 2;

/// Session of one user.
pub(crate) struct FastDbSession {
    context: TransactionContext,
    statements: Arc<Mutex<SessionSearches>>,
    index: IndexKind,
    commit: Commit,
    is_unique: bool,
    open: Option<Access>,
    /// Whether the open transaction has changed something.
    has_written: bool,
    /// Whether an earlier change was ended by a precommit.
    has_precommitted: bool,
}

impl FastDbSession {
    pub(crate) fn new(context: TransactionContext, options: &FastDbOptions) -> Self {
        let statements = Arc::<Mutex<SessionSearches>>::default();
        context.database.register(&statements);
        Self {
            context,
            statements,
            index: options.index,
            commit: options.commit,
            is_unique: options.unique,
            open: None,
            has_written: false,
            has_precommitted: false,
        }
    }

    fn set_open(&mut self, open: Option<Access>) {
        self.open = open;
        self.has_written = false;
        locked(&self.statements).in_transaction = open.is_some();
    }

    /// Ends a transaction that only read: releases the locks.
    #[inline]
    fn end_reading(&self) -> Result<()> {
        self.context.call(self.context.database.api.precommit, "end a transaction")
    }

    /// Ends a transaction with changes, as `commit=` says.
    fn end_writing(&mut self) -> Result<()> {
        let api = self.context.database.api;
        match self.commit {
            Commit::Precommit => {
                self.has_precommitted = true;
                self.context.call(api.precommit, "precommit")
            }
            Commit::Full => self.context.call(api.commit, "commit").inspect_err(|_| {
                // Changes that failed to commit must not be committed with the next transaction.
                let _ = self.context.call(api.abort, "undo a failed commit");
            }),
        }
    }

    /// Ends a transaction with changes that were to be undone. With `commit=precommit` the changes stay: after a precommit
    /// FastDB has nothing that it could undo by itself.
    fn give_up(&mut self) -> Result<()> {
        let api = self.context.database.api;
        match self.commit {
            Commit::Full => self.context.call(api.abort, "abort"),
            Commit::Precommit => {
                self.has_precommitted = true;
                self.context.call(api.precommit, "precommit")
            }
        }
    }

    /// Runs a read in the open transaction or in one of its own.
    #[inline]
    fn reading<T>(
        &mut self,
        table: &'static RecordTable,
        which: StatementKind,
        body: impl FnOnce(&crate::library::FastDbApi, &mut BoundSearch) -> Result<T>,
    ) -> Result<T> {
        self.context.join();
        let database = &self.context.database;
        let done = {
            let mut statements = locked(&self.statements);
            statements.get(database.api, database.session, table, which).and_then(|bound| body(database.api, bound))
        };
        if self.open.is_none() {
            self.end_reading()?;
        }
        done
    }

    /// Runs a change in the open transaction or in one of its own; it returns whether it has changed anything.
    #[inline]
    fn writing<T>(&mut self, body: impl FnOnce(&Self, &mut SessionSearches) -> Result<(T, bool)>) -> Result<T> {
        match self.open {
            Some(Access::Read) => return Err(only_reads()),
            Some(Access::Write) => self.context.join(),
            // The exclusive lock is taken from the start: FastDB hangs if two sessions upgrade shared locks.
            None => self.context.call(self.context.database.api.lock, "lock")?,
        }
        let done = {
            let statements = Arc::clone(&self.statements);
            let mut statements = locked(&statements);
            body(self, &mut statements)
        };
        match (self.open.is_some(), done) {
            (true, Ok((value, has_written))) => {
                self.has_written |= has_written;
                Ok(value)
            }
            (true, Err(e)) => {
                // How far it came is not known.
                self.has_written = true;
                Err(e)
            }
            (false, Ok((value, true))) => self.end_writing().map(|()| value),
            (false, Ok((value, false))) => self.end_reading().map(|()| value),
            (false, Err(e)) => {
                self.give_up()?;
                Err(e)
            }
        }
    }

    /// Changes the record of a key after it was found and fetched.
    fn changing(
        &mut self,
        table: &'static RecordTable,
        key: Key<'_>,
        change: impl FnOnce(&crate::library::FastDbApi, &mut BoundSearch) -> Result<()>,
    ) -> Result<bool> {
        self.writing(|session, statements| {
            let database = &session.context.database;
            let bound = statements.get(database.api, database.session, table, StatementKind::Get)?;
            let is_there = bound.seek(key.into(), table.key().name)? && bound.fetch(database.api, true)? > 0;
            if is_there {
                change(database.api, bound)?;
            }
            Ok((is_there, is_there))
        })
    }

    /// Index of a table's key.
    fn key_index(&self, table: &RecordTable) -> IndexKind {
        match (self.index, table.key().index) {
            (IndexKind::Hash, _) | (_, Some(IndexKind::Hash)) => IndexKind::Hash,
            _ => IndexKind::Tree,
        }
    }

    fn create_table(&self, table: &RecordTable) -> Result<()> {
        let (api, session) = (self.context.database.api, self.context.database.session);
        let c_name = |name: &str| CString::new(name).map_err(|_| EngineError::unsupported("a name with a zero byte"));
        let key = RecordField { index: Some(self.key_index(table)), ..*table.key() };
        let fields: Vec<_> = std::iter::once(&key).chain(table.fields()).collect();
        let names = fields.iter().map(|field| c_name(field.name)).collect::<Result<Vec<_>, _>>()?;
        let describe = |(field, name): (&&RecordField, &CString)| FieldDescriptor {
            var_type: crate::slot::ValueSlot::new(field.record_type).var_type(),
            flags: match field.index {
                None => 0,
                Some(IndexKind::Hash) => HASHED,
                Some(IndexKind::Tree) => INDEXED,
            },
            name: name.as_ptr(),
            referenced_table: ptr::null(),
            inverse_field: ptr::null(),
        };
        let bytes_with_index =
            fields.iter().find(|field| field.index.is_some() && matches!(field.record_type, RecordType::Bytes(_)));
        if let Some(field) = bytes_with_index {
            return Err(EngineError::unsupported(format!("FastDB has no index on bytes, as {} is", field.name)));
        }
        let mut descriptors: Vec<_> = fields.iter().zip(&names).map(describe).collect();
        let count = c_int::try_from(descriptors.len()).expect("a handful of fields");
        let name = c_name(table.name())?;
        // SAFETY: as many descriptors as said, whose names live through the call; FastDB copies them.
        let code = unsafe { (api.create_table)(session, name.as_ptr(), count, descriptors.as_mut_ptr()) };
        check(code, &format!("make table {}", table.name())).map(|_| ())
    }

    fn drop_table(&self, table: &RecordTable) -> Result<()> {
        let name = CString::new(table.name()).map_err(|_| EngineError::unsupported("a name with a zero byte"))?;
        // SAFETY: the session is open, the text ends with a zero, and no statement of the table is left.
        let code = unsafe { (self.context.database.api.drop_table)(self.context.database.session, name.as_ptr()) };
        check(code, &format!("drop table {}", table.name())).map(|_| ())
    }

    /// Makes the tables anew, unless another session prevents it.
    fn remake(&self, tables: &[&'static RecordTable]) -> Result<()> {
        let api = self.context.database.api;
        let mut own = locked(&self.statements);
        self.context.join();
        own.free(api);
        self.context.database.free_statements(&self.statements)?;
        self.context.call(api.lock, "lock")?;
        let existing = self.context.database.names()?;
        for table in tables.iter().filter(|table| existing.iter().any(|name| name == table.name())) {
            self.drop_table(table)?;
        }
        // FastDB lets go of dropped tables at the commit, and only then can their names be used again.
        self.context.call(api.commit, "commit")?;
        self.context.call(api.lock, "lock")?;
        for table in tables {
            self.create_table(table)?;
        }
        self.context.call(api.commit, "commit")
    }
}

impl Records for FastDbSession {
    fn create(&mut self, tables: &[&'static RecordTable]) -> Result<()> {
        if self.open.is_some() {
            return Err(EngineError::unsupported("tables cannot be made in a transaction"));
        }
        let done = self.remake(tables);
        if done.is_err() {
            let _ = self.context.call(self.context.database.api.abort, "abort");
        }
        done
    }

    fn begin(&mut self, access: Access) -> Result<()> {
        if self.open.is_some() {
            return Err(EngineError::unsupported("FastDB has no transactions within transactions"));
        }
        if access == Access::Write {
            self.context.call(self.context.database.api.lock, "lock")?;
        }
        self.set_open(Some(access));
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        let has_written = self.has_written;
        self.set_open(None);
        if has_written { self.end_writing() } else { self.end_reading() }
    }

    fn rollback(&mut self) -> Result<()> {
        if self.open.is_none() {
            return Ok(());
        }
        let has_written = self.has_written;
        self.set_open(None);
        if !has_written {
            return self.end_reading();
        }
        self.give_up()?;
        match self.commit {
            Commit::Full => Ok(()),
            Commit::Precommit => Err(EngineError::unsupported(
                "commit=precommit cannot undo one transaction: FastDB undoes everything since the last full commit, other sessions' work too; the changes stay",
            )),
        }
    }

    #[inline]
    fn get(&mut self, table: &'static RecordTable, key: Key<'_>, each: &mut EachRow<'_>) -> Result<bool> {
        self.reading(table, StatementKind::Get, |api, bound| {
            if !bound.seek(key.into(), table.key().name)? || bound.fetch(api, false)? == 0 {
                return Ok(false);
            }
            bound.step(api, true)?;
            each(bound)?;
            Ok(true)
        })
    }

    #[inline]
    fn insert(&mut self, table: &'static RecordTable, key: Key<'_>, values: &[Value<'_>]) -> Result<()> {
        self.writing(|session, statements| {
            let database = &session.context.database;
            if session.is_unique {
                let bound = statements.get(database.api, database.session, table, StatementKind::Get)?;
                if bound.seek(key.into(), table.key().name)? && bound.fetch(database.api, false)? > 0 {
                    return Err(key_exists(table, key));
                }
            }
            let bound = statements.get(database.api, database.session, table, StatementKind::Insert)?;
            bound.fill(table, Some(key), values)?;
            bound.insert(database.api)?;
            Ok(((), true))
        })
    }

    #[inline]
    fn update(&mut self, table: &'static RecordTable, key: Key<'_>, values: &[Value<'_>]) -> Result<bool> {
        self.changing(table, key, |api, bound| {
            bound.step(api, true)?;
            bound.fill(table, None, values)?;
            bound.update(api)
        })
    }

    #[inline]
    fn change(&mut self, table: &'static RecordTable, key: Key<'_>, change: FieldChange<'_>) -> Result<bool> {
        self.changing(table, key, |api, bound| {
            bound.step(api, true)?;
            bound.change(change, table.name())?;
            bound.update(api)
        })
    }

    #[inline]
    fn delete(&mut self, table: &'static RecordTable, key: Key<'_>) -> Result<bool> {
        self.changing(table, key, |api, bound| bound.remove(api))
    }

    fn scan(&mut self, table: &'static RecordTable, from: Key<'_>, limit: u64, each: &mut EachRow<'_>) -> Result<u64> {
        if self.key_index(table) == IndexKind::Hash {
            return Err(EngineError::unsupported(format!("keys of {} are hashed and have no order", table.name())));
        }
        if limit == 0 {
            return Ok(0);
        }
        self.reading(table, StatementKind::Scan, |api, bound| {
            if !bound.seek(from.into(), table.key().name)? {
                return Err(EngineError::unsupported("a scan from a key that is longer than declared"));
            }
            bound.set_limit(limit);
            hand_over(api, bound, each)
        })
    }

    fn find(
        &mut self,
        table: &'static RecordTable,
        field: usize,
        value: Value<'_>,
        each: &mut EachRow<'_>,
    ) -> Result<u64> {
        let declared = &table.fields()[field];
        if declared.index.is_none() {
            return Err(EngineError::unsupported(format!("{} of {} has no index", declared.name, table.name())));
        }
        self.reading(table, StatementKind::Find(field), |api, bound| {
            if bound.seek(value, declared.name)? { hand_over(api, bound, each) } else { Ok(0) }
        })
    }

    fn count(&mut self, table: &'static RecordTable) -> Result<u64> {
        self.reading(table, StatementKind::All, |api, bound| bound.fetch(api, false))
    }

    fn delete_all(&mut self, table: &'static RecordTable) -> Result<u64> {
        self.writing(|session, statements| {
            let database = &session.context.database;
            let bound = statements.get(database.api, database.session, table, StatementKind::All)?;
            let count = bound.fetch(database.api, true)?;
            if count > 0 {
                bound.remove(database.api)?;
            }
            Ok((count, count > 0))
        })
    }
}

/// Passes every record found to `each`.
fn hand_over(api: &crate::library::FastDbApi, bound: &mut BoundSearch, each: &mut EachRow<'_>) -> Result<u64> {
    let count = bound.fetch(api, false)?;
    for number in 0..count {
        bound.step(api, number == 0)?;
        each(bound)?;
    }
    Ok(count)
}

impl Drop for FastDbSession {
    fn drop(&mut self) {
        // The database holds no session's errors; what can be done is done.
        if self.open.is_some() {
            let _ = if self.has_written { self.give_up() } else { self.end_reading() };
        }
        self.context.join();
        let api = self.context.database.api;
        locked(&self.statements).free(api);
        if self.has_precommitted {
            // SAFETY: the session is open and this thread in its context. Without flags the call only notes that there is
            // something to commit when the database is closed.
            unsafe { (api.detach)(self.context.database.session, 0) };
        }
    }
}
