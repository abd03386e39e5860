//! Records by key, and transactions.
//!
//! A record is the string `TABLE:KEY`, and the sorted set `TABLE` has the table's keys, all of one score and so in the order of
//! their bytes. The set [`TABLES`] has the names of the tables.

use crate::connection::{Item, RedisConnection};
use crate::describe::settings;
use bourse_engine::records::codec::{self, EncodedRow, KeyBytes};
use bourse_engine::records::refusals::{key_exists, only_reads, refuse_indexes};
use bourse_engine::{
    Access, EachRow, EachToLoad, EngineError, ErrorKind, FieldChange, Key, RecordTable, Records, Result, Setting, Value,
};
use std::collections::BTreeMap;

/// Set of the names of all tables. No table has an empty name, so no record has this key.
pub(crate) const TABLES: &[u8] = b":tables";

/// Code of the error of a key that has another type than the command's.
pub(crate) const WRONG_TYPE: &str = "WRONGTYPE";

/// Keys and records from a key on, in one step: table, first key, limit, prefix of records.
const SCAN: &[u8] = b"local k=redis.call('ZRANGEBYLEX',KEYS[1],ARGV[1],'+','LIMIT',0,ARGV[2]) local r={} \
    for i=1,#k do r[2*i-1]=k[i] r[2*i]=redis.call('GET',ARGV[3]..k[i]) end return r";

/// Deletion of all records in one step: table, prefix of records.
const CLEAR: &[u8] = b"local n=0 while true do local k=redis.call('ZRANGE',KEYS[1],0,999) if #k==0 then return n end \
    local r={} for i=1,#k do r[i]=ARGV[1]..k[i] end redis.call('UNLINK',unpack(r)) redis.call('ZREM',KEYS[1],unpack(k)) n=n+#k end";

/// Change that an open transaction will make.
struct Write {
    table: &'static str,
    /// Whether the server has the record.
    existed: bool,
    /// `None` deletes it.
    value: Option<Vec<u8>>,
}

/// Open transaction.
struct Transaction {
    access: Access,
    has_watched: bool,
    /// Changes by the records' keys at the server.
    writes: BTreeMap<Vec<u8>, Write>,
}

/// Session of one user.
pub(crate) struct RedisSession {
    connection: RedisConnection,
    open: Option<Transaction>,
    /// Key at the server of the record in use.
    key: Vec<u8>,
    /// Bytes of the record in use.
    record: Vec<u8>,
}

/// First key with another type than Bourse's: set of tables, record to look at first.
const ODD: &[u8] = b"local function is(k,t) local found=redis.call('TYPE',k).ok return found==t or found=='none' end \
    if not is(ARGV[1],'string') then return ARGV[1] end for _,t in ipairs(redis.call('SMEMBERS',KEYS[1])) do if not is(t,'zset') then return t end local from=0 \
    while true do local k=redis.call('ZRANGE',t,from,from+999) if #k==0 then break end from=from+#k \
    for i=1,#k do if not is(t..':'..k[i],'string') then return t..':'..k[i] end end end end return false";

/// Refusal of a key that has the name of Bourse's and that another program made.
#[cold]
pub(crate) fn made_by_another(key: &[u8]) -> EngineError {
    let key = key.escape_ascii();
    EngineError::refused(format!("there is a key {key} already, which bourse did not make: rename it or delete it"))
}

/// Refusal of records that are there and that the list of their table's keys does not have.
#[cold]
fn unlisted(table: &RecordTable) -> EngineError {
    let name = table.name();
    EngineError::refused(format!(
        "records of {name} are there, and the list of their keys (the key {name}) does not have them: it was deleted or \
         evicted; FLUSHDB empties the database if nothing else is in it"
    ))
}

/// Error of a transaction that read what another has changed since.
#[cold]
fn conflict() -> EngineError {
    EngineError::new(ErrorKind::Conflict, "another session has changed what the transaction read").with_code("WATCH")
}

impl RedisSession {
    pub(crate) fn new(connection: RedisConnection) -> Self {
        Self { connection, open: None, key: Vec::new(), record: Vec::new() }
    }

    /// Puts the key at the server of a record into `key`.
    fn find_key(&mut self, table: &RecordTable, key: Key<'_>) -> Result<()> {
        let bytes = KeyBytes::in_table(table, key)?;
        self.key.clear();
        self.key.extend_from_slice(table.name().as_bytes());
        self.key.push(b':');
        self.key.extend_from_slice(bytes.as_ref());
        Ok(())
    }

    /// Adds a command that has the transaction fail if the key changes from now on; outside a transaction it adds none.
    fn watch(&mut self, key: &[u8]) {
        if let Some(open) = &mut self.open {
            open.has_watched = true;
            self.connection.command(&[b"WATCH", key]);
        }
    }

    /// Reads the record with the key into `record`, and returns whether it exists.
    fn read(&mut self) -> Result<bool> {
        if let Some(write) = self.open.as_ref().and_then(|open| open.writes.get(self.key.as_slice())) {
            self.record.clear();
            self.record.extend_from_slice(write.value.as_deref().unwrap_or_default());
            return Ok(write.value.is_some());
        }
        if let Some(open) = &mut self.open {
            open.has_watched = true;
            self.connection.command(&[b"WATCH", &self.key]);
        }
        self.connection.command(&[b"GET", &self.key]);
        let (record, mut is_there) = (&mut self.record, false);
        let done = self.connection.exchange(&mut |_, item| {
            if let Item::Bytes(bytes) = item {
                is_there = true;
                record.clear();
                record.extend_from_slice(bytes);
            }
            Ok(())
        });
        done.map(|()| is_there).map_err(|e| self.named(e))
    }

    /// Error to be reported: it names the key that has another type than Bourse's, if the server's is of one.
    #[cold]
    fn named(&mut self, error: EngineError) -> EngineError {
        // Servers before version 7 have the code of a script's error in its text.
        if error.code() != Some(WRONG_TYPE) && !error.message().contains(WRONG_TYPE) {
            return error;
        }
        let mut odd = None;
        self.connection.command(&[b"EVAL", ODD, b"1", TABLES, &self.key]);
        let found = self.connection.exchange(&mut |_, item| {
            if let Item::Bytes(key) = item {
                odd = Some(made_by_another(key));
            }
            Ok(())
        });
        odd.filter(|_| found.is_ok()).unwrap_or(error)
    }

    /// Error of a record that is there already; refuses one that the list of its table's keys does not have.
    #[cold]
    fn exists(&mut self, table: &RecordTable, key: Key<'_>) -> EngineError {
        let is_own = self.open.as_ref().is_some_and(|open| open.writes.contains_key(&self.key));
        let name = table.name().as_bytes();
        self.connection.command(&[b"ZSCORE", name, &self.key[name.len() + 1..]]);
        let mut is_listed = false;
        let found = self.connection.exchange(&mut |_, item| {
            is_listed = item != Item::Nil;
            Ok(())
        });
        match found {
            Err(e) => self.named(e),
            Ok(()) if is_own || is_listed => key_exists(table, key),
            Ok(()) => unlisted(table),
        }
    }

    /// Runs a change in the open transaction or in one of its own.
    fn writing<T>(&mut self, body: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        match &self.open {
            Some(Transaction { access: Access::Read, .. }) => return Err(only_reads()),
            Some(_) => return body(self),
            None => self.begin(Access::Write)?,
        }
        match body(self) {
            Ok(value) => self.commit().map(|()| value),
            Err(e) => self.rollback().and(Err(e)),
        }
    }

    /// Notes a change of the record with the key.
    fn write(&mut self, table: &RecordTable, existed: bool, value: Option<Vec<u8>>) {
        let open = self.open.as_mut().expect("changes are noted in a transaction");
        let write = Write { table: table.name(), existed, value: None };
        open.writes.entry(self.key.clone()).or_insert(write).value = value;
    }

    /// Number that the server answers to the last of the commands.
    fn number(&mut self) -> Result<u64> {
        let mut number = 0;
        let done = self.connection.exchange(&mut |_, item| {
            if let Item::Int(found) = item {
                number = u64::try_from(found).unwrap_or(0);
            }
            Ok(())
        });
        done.map(|()| number).map_err(|e| self.named(e))
    }

    /// Sends the commands since `MULTI` with `EXEC`; returns whether no part of the answer is empty.
    ///
    /// # Errors
    /// The server's; [`Conflict`](ErrorKind::Conflict) if it has carried out none of them.
    fn execute(&mut self) -> Result<bool> {
        let last = self.connection.command(&[b"EXEC"]);
        let (mut is_done, mut is_whole) = (false, true);
        let done = self.connection.exchange(&mut |at, item| {
            if at == last {
                is_done |= item == Item::Array;
                is_whole &= item != Item::Nil;
            }
            Ok(())
        });
        done.map_err(|e| self.named(e))?;
        if is_done { Ok(is_whole) } else { Err(conflict()) }
    }

    /// Keys at the server and records from a key on, at most `limit`, without the transaction's own changes.
    fn range(&mut self, table: &RecordTable, from: &[u8], limit: u64) -> Result<BTreeMap<Vec<u8>, Vec<u8>>> {
        let (name, prefix) = (table.name().as_bytes(), [table.name().as_bytes(), b":"].concat());
        let (from, limit) = ([b"[", from].concat(), i64::try_from(limit).unwrap_or(-1).to_string());
        self.connection.command(&[b"EVAL", SCAN, b"1", name, &from, limit.as_bytes(), &prefix]);
        let (mut found, mut key) = (BTreeMap::new(), None::<Vec<u8>>);
        let done = self.connection.exchange(&mut |_, item| {
            match (item, key.take()) {
                (Item::Bytes(bytes), None) => key = Some([&prefix, bytes].concat()),
                (Item::Bytes(bytes), Some(key)) => drop(found.insert(key, bytes.to_vec())),
                _ => {}
            }
            Ok(())
        });
        done.map(|()| found).map_err(|e| self.named(e))
    }

    /// Keys at the server and records from a key on as the session sees them, at most `limit`.
    fn seen(&mut self, table: &RecordTable, from: Key<'_>, limit: u64) -> Result<BTreeMap<Vec<u8>, Vec<u8>>> {
        self.find_key(table, from)?;
        let from = self.key[table.name().len() + 1..].to_vec();
        let Some(open) = &self.open else { return self.range(table, &from, limit) };
        let deleted = open.writes.values().filter(|write| write.value.is_none()).count() as u64;
        let limit_there = limit.saturating_add(deleted);
        self.watch(table.name().as_bytes());
        let mut found = self.range(table, &from, limit_there)?;
        if !found.is_empty() {
            // Read again behind the watch. The keys are still the same, or the transaction will fail.
            let watch = [b"WATCH".to_vec()];
            let parts: Vec<&[u8]> = watch.iter().chain(found.keys()).map(Vec::as_slice).collect();
            self.connection.command_of(parts.into_iter());
            found = self.range(table, &from, limit_there)?;
        }
        let Some(open) = &self.open else { return Ok(found) };
        for (key, write) in open.writes.range(self.key.clone()..).filter(|(_, write)| write.table == table.name()) {
            match &write.value {
                Some(value) => drop(found.insert(key.clone(), value.clone())),
                None => drop(found.remove(key)),
            }
        }
        while found.len() as u64 > limit {
            found.pop_last();
        }
        Ok(found)
    }
}

impl Records for RedisSession {
    fn settings(&mut self) -> Result<Vec<Setting>> {
        let settings = settings(&mut self.connection)?.unwrap_or_default();
        Ok(settings.into_iter().map(|(name, value)| Setting::new(name, value)).collect())
    }

    fn create(&mut self, tables: &[&'static RecordTable]) -> Result<()> {
        refuse_indexes("Redis", tables, self.open.is_some())?;
        for table in tables {
            let name = table.name().as_bytes();
            self.connection.command(&[b"SISMEMBER", TABLES, name]);
            if self.number()? == 0 {
                self.connection.command(&[b"EXISTS", name]);
                if self.number()? > 0 {
                    return Err(made_by_another(name));
                }
            }
            self.delete_all(table)?;
            self.connection.command(&[b"SADD", TABLES, name]);
            self.connection.run()?;
        }
        Ok(())
    }

    fn begin(&mut self, access: Access) -> Result<()> {
        if self.open.is_some() {
            return Err(EngineError::already_open());
        }
        self.open = Some(Transaction { access, has_watched: false, writes: BTreeMap::new() });
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        let Some(open) = self.open.take() else { return Ok(()) };
        if !open.has_watched && open.writes.is_empty() {
            return Ok(());
        }
        self.connection.command(&[b"MULTI"]);
        for (key, Write { table, existed, value }) in &open.writes {
            let (table, member) = (table.as_bytes(), &key[table.len() + 1..]);
            if let Some(value) = value {
                self.connection.command(&[b"SET", key, value]);
            }
            match (value.is_some(), existed) {
                (true, false) => {
                    self.connection.command(&[b"ZADD", table, b"0", member]);
                }
                (false, true) => {
                    self.connection.command(&[b"DEL", key]);
                    self.connection.command(&[b"ZREM", table, member]);
                }
                _ => {}
            }
        }
        self.execute().map(drop)
    }

    fn rollback(&mut self) -> Result<()> {
        if self.open.take().is_some_and(|open| open.has_watched) {
            self.connection.command(&[b"UNWATCH"]);
            self.connection.run()?;
        }
        Ok(())
    }

    fn get(&mut self, table: &'static RecordTable, key: Key<'_>, each: &mut EachRow<'_>) -> Result<bool> {
        self.find_key(table, key)?;
        let is_there = self.read()?;
        if is_there {
            each(&EncodedRow::new(key, &self.record))?;
        }
        Ok(is_there)
    }

    fn insert(&mut self, table: &'static RecordTable, key: Key<'_>, values: &[Value<'_>]) -> Result<()> {
        self.find_key(table, key)?;
        if self.open.is_some() {
            return self.writing(|this| {
                if this.read()? {
                    return Err(this.exists(table, key));
                }
                let mut record = Vec::new();
                codec::encode(values, &mut record)?;
                this.write(table, false, Some(record));
                Ok(())
            });
        }
        codec::encode(values, &mut self.record)?;
        let name = table.name().as_bytes();
        self.connection.command(&[b"MULTI"]);
        self.connection.command(&[b"SET", &self.key, &self.record, b"NX"]);
        self.connection.command(&[b"ZADD", name, b"0", &self.key[name.len() + 1..]]);
        let last = self.connection.command(&[b"EXEC"]);
        let (mut is_set, mut is_added) = (true, false);
        let done = self.connection.exchange(&mut |at, item| {
            is_set &= at != last || item != Item::Nil;
            is_added |= at == last && item == Item::Int(1);
            Ok(())
        });
        done.map_err(|e| self.named(e))?;
        match (is_set, is_added) {
            (true, _) => Ok(()),
            (false, false) => Err(key_exists(table, key)),
            (false, true) => {
                // The list is as it was before.
                self.connection.command(&[b"ZREM", name, &self.key[name.len() + 1..]]);
                self.connection.run()?;
                Err(unlisted(table))
            }
        }
    }

    /// Adds records to the open transaction, whose absence is checked by the hundred.
    fn load(&mut self, table: &'static RecordTable, rows: &mut EachToLoad<'_>) -> Result<()> {
        const TOGETHER: usize = 500;
        let mut unchecked: Vec<Vec<u8>> = Vec::new();
        let check = |this: &mut Self, unchecked: &mut Vec<Vec<u8>>| {
            for command in [&b"WATCH"[..], b"EXISTS"] {
                let parts: Vec<&[u8]> = std::iter::once(command).chain(unchecked.iter().map(Vec::as_slice)).collect();
                this.connection.command_of(parts.into_iter());
            }
            unchecked.clear();
            let found = this.number()?;
            if found == 0 {
                return Ok(());
            }
            let name = table.name();
            this.connection.command(&[b"ZCARD", name.as_bytes()]);
            Err(match this.number()? {
                0 => unlisted(table),
                _ => {
                    EngineError::new(ErrorKind::Duplicate, format!("{name} has records of {found} of the keys already"))
                }
            })
        };
        self.writing(|this| {
            rows(&mut |row| {
                let (key, values) = match row {
                    [Value::Int(number), values @ ..] => (Key::Int(*number), values),
                    [Value::Text(text), values @ ..] => (Key::Text(text), values),
                    _ => return Err(EngineError::unsupported("a key is an integer or a text")),
                };
                this.find_key(table, key)?;
                let open = this.open.as_mut().expect("a change is in a transaction");
                open.has_watched = true;
                if open.writes.contains_key(&this.key) {
                    return this.insert(table, key, values);
                }
                let mut record = Vec::new();
                codec::encode(values, &mut record)?;
                this.write(table, false, Some(record));
                unchecked.push(this.key.clone());
                if unchecked.len() == TOGETHER { check(this, &mut unchecked) } else { Ok(()) }
            })?;
            if unchecked.is_empty() { Ok(()) } else { check(this, &mut unchecked) }
        })
    }

    fn update(&mut self, table: &'static RecordTable, key: Key<'_>, values: &[Value<'_>]) -> Result<bool> {
        self.find_key(table, key)?;
        if self.open.is_some() {
            return self.writing(|this| {
                let is_there = this.read()?;
                if is_there {
                    let mut record = Vec::new();
                    codec::encode(values, &mut record)?;
                    this.write(table, true, Some(record));
                }
                Ok(is_there)
            });
        }
        codec::encode(values, &mut self.record)?;
        self.connection.command(&[b"SET", &self.key, &self.record, b"XX"]);
        let mut is_there = false;
        self.connection.exchange(&mut |_, item| {
            is_there = item == Item::Status;
            Ok(())
        })?;
        Ok(is_there)
    }

    fn change(&mut self, table: &'static RecordTable, key: Key<'_>, change: FieldChange<'_>) -> Result<bool> {
        self.find_key(table, key)?;
        self.writing(|this| {
            let is_there = this.read()?;
            if is_there {
                codec::change(&mut this.record, change)?;
                this.write(table, true, Some(this.record.clone()));
            }
            Ok(is_there)
        })
    }

    fn delete(&mut self, table: &'static RecordTable, key: Key<'_>) -> Result<bool> {
        self.find_key(table, key)?;
        if self.open.is_some() {
            return self.writing(|this| {
                let is_there = this.read()?;
                if is_there {
                    this.write(table, true, None);
                }
                Ok(is_there)
            });
        }
        let name = table.name().as_bytes();
        self.connection.command(&[b"MULTI"]);
        self.connection.command(&[b"DEL", &self.key]);
        self.connection.command(&[b"ZREM", name, &self.key[name.len() + 1..]]);
        self.connection.command(&[b"EXEC"]);
        self.number().map(|deleted| deleted > 0)
    }

    fn scan(&mut self, table: &'static RecordTable, from: Key<'_>, limit: u64, each: &mut EachRow<'_>) -> Result<u64> {
        if limit == 0 {
            return Ok(0);
        }
        let found = self.seen(table, from, limit)?;
        for (key, bytes) in &found {
            let key = codec::key_of(&key[table.name().len() + 1..], table.key().record_type)?;
            each(&EncodedRow::new(key, bytes))?;
        }
        Ok(found.len() as u64)
    }

    fn count(&mut self, table: &'static RecordTable) -> Result<u64> {
        let name = table.name().as_bytes();
        self.watch(name);
        self.connection.command(&[b"ZCARD", name]);
        let there = self.number()?;
        let own = self.open.iter().flat_map(|open| open.writes.values()).filter(|write| write.table == table.name());
        Ok(own.fold(there, |count, write| match (write.existed, write.value.is_some()) {
            (false, true) => count + 1,
            (true, false) => count.saturating_sub(1),
            _ => count,
        }))
    }

    fn delete_all(&mut self, table: &'static RecordTable) -> Result<u64> {
        let prefix = [table.name().as_bytes(), b":"].concat();
        if self.open.is_none() {
            self.connection.command(&[b"EVAL", CLEAR, b"1", table.name().as_bytes(), &prefix]);
            return self.number();
        }
        self.writing(|this| {
            let least = if table.key().record_type == bourse_engine::RecordType::Int {
                Key::Int(i64::MIN)
            } else {
                Key::Text("")
            };
            let found = this.seen(table, least, u64::MAX)?;
            let count = found.len() as u64;
            for key in found.into_keys() {
                this.key = key;
                this.write(table, true, None);
            }
            Ok(count)
        })
    }
}
