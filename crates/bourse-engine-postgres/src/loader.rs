//! Loading: one transaction, in a schema that no other session sees, whose tables replace the visible ones at its end.
//!
//! Rows are copied in binary form, marked as visible to every later transaction, so that no later one must write that.
//! Foreign keys are added after all rows, each by one join instead of a search for each row.

use crate::connect::PostgresConnector;
use crate::message;
use crate::ownership::{self, mark, quoted};
use crate::products::{COPY, PRODUCTS};
use crate::value::{Oid, PostgresRow, ResultColumn, fits, stored};
use crate::wire::{TransactionState, WireConnection};
use bourse_engine::{Batch, EachRow, EngineError, ErrorKind, Loader, Result, listed};
use bourse_server::client::Product;
use bytes::{BufMut as _, BytesMut};

/// Schema that is loaded into.
const LOADING: &str = "bourse_loading";

/// Length at which rows are sent, in bytes.
const SENT_BYTES: usize = 256 << 10;

/// Header of copied rows in binary form: a signature, no flags, no extension.
const SIGNATURE: &[u8; 19] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";

pub(crate) struct PostgresLoader {
    connection: WireConnection,
    database: String,
    /// Name of the account, quoted.
    user: String,
    /// Options of `COPY`; `None` if rows are inserted.
    copy: Option<&'static str>,
    /// Statements that add the foreign keys of the new tables.
    foreign_keys: Vec<String>,
}

impl PostgresLoader {
    pub(crate) fn new(connector: &PostgresConnector, database: &str, home: &str) -> Result<Self> {
        let mut connection = match connector.connect_if_there(database)? {
            Some(connection) => connection,
            None => {
                ownership::create_database(connector, database, home)?;
                connector.connect(database)?
            }
        };
        let lock = format!("SELECT pg_try_advisory_lock(hashtext('bourse-load-{database}'))");
        if connection.names(&lock)? != ["t"] {
            let message = format!("database \"{database}\" is being loaded by somebody else");
            return Err(EngineError::new(ErrorKind::Conflict, message));
        }
        // From here on the lock is given back by whatever ends the loader.
        let mut loader = Self {
            connection,
            database: database.to_owned(),
            user: quoted(&connector.user),
            copy: Some(COPY),
            foreign_keys: Vec::new(),
        };
        ownership::refuse_foreign(&mut loader.connection, database)?;
        // Sorting for indexes takes more memory than a session's other work.
        let begin = format!(
            "SET maintenance_work_mem = '256MB'; BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; CREATE SCHEMA {LOADING}; SET LOCAL search_path = {LOADING}"
        );
        let gives = format!("GRANT CREATE ON DATABASE {} TO {}", quoted(database), loader.user);
        loader.connection.run(&begin).map_err(|e| ownership::lacking(e, &gives))?;
        let version = loader.connection.names("SELECT version()")?.concat();
        if let Some(product) = Product::of(PRODUCTS, &version) {
            loader.copy = product.facts.copy;
        }
        Ok(loader)
    }

    /// Replaces the visible tables by the loaded ones.
    fn exchange(&mut self) -> Result<()> {
        // Loading took a while: what has come into the database since then is somebody's. Of the schema that is loaded into
        // there is nothing left to see, since its tables have gone.
        let there = ownership::marked_tables(&mut self.connection)?;
        let tables = self.connection.names(&format!(
            "SELECT c.relname FROM pg_class c WHERE c.relkind = 'r' AND c.relnamespace = '{LOADING}'::regnamespace ORDER BY 1"
        ))?;
        self.refuse_more_than_tables()?;
        if !there.is_empty() {
            let names: Vec<_> = there.iter().map(|table| format!("public.{}", quoted(table))).collect();
            self.connection.run(&format!("DROP TABLE {}", names.join(", "))).map_err(|e| self.in_use(e))?;
        }
        for table in &tables {
            let (table, mark) = (quoted(table), mark(table));
            let place = format!(
                "COMMENT ON TABLE {LOADING}.{table} IS {mark}; ALTER TABLE {LOADING}.{table} SET SCHEMA public"
            );
            let gives = format!("GRANT CREATE ON SCHEMA public TO {}", self.user);
            self.connection.run(&place).map_err(|e| ownership::lacking(e, &gives))?;
        }
        self.connection.run(&format!("DROP SCHEMA {LOADING}; SET LOCAL search_path = public"))?;
        ownership::refuse_foreign(&mut self.connection, &self.database)
    }

    /// Refuses a load that has made more than tables: other objects cannot have a mark, so that the next load would refuse to
    /// replace them.
    fn refuse_more_than_tables(&mut self) -> Result<()> {
        // Sequences of columns are parts of their tables; triggers, rules and policies are on a table, not in the schema.
        let more = self.connection.names(&format!(
            "SELECT concat(d.classid, ', ', d.objid) FROM pg_depend d
              WHERE d.refclassid = 'pg_namespace'::regclass AND d.refobjid = '{LOADING}'::regnamespace
                AND NOT (d.classid = 'pg_class'::regclass AND EXISTS (
                    SELECT 1 FROM pg_class c WHERE c.oid = d.objid AND (c.relkind = 'r' OR c.relkind = 'S' AND EXISTS (
                        SELECT 1 FROM pg_depend o WHERE o.classid = d.classid AND o.objid = d.objid
                                                    AND o.deptype IN ('a', 'i')))))
             UNION ALL
             SELECT concat(d.classid, ', ', d.objid)
               FROM pg_depend d INNER JOIN pg_class c ON d.refclassid = 'pg_class'::regclass AND d.refobjid = c.oid
              WHERE c.relnamespace = '{LOADING}'::regnamespace AND c.relkind = 'r' AND d.deptype = 'a'
                AND d.classid IN ('pg_trigger'::regclass, 'pg_rewrite'::regclass, 'pg_policy'::regclass)"
        ))?;
        if more.is_empty() {
            return Ok(());
        }
        let described: Vec<_> = more.iter().map(|it| format!("SELECT pg_describe_object({it}, 0)")).collect();
        let mut found = self.connection.names(&described.join(" UNION "))?;
        found.sort();
        Err(EngineError::unsupported(format!(
            "a loaded database holds tables and indexes alone on this engine; this one was to have {}",
            listed(&found)
        )))
    }

    fn in_use(&self, e: EngineError) -> EngineError {
        if e.kind() != ErrorKind::Conflict {
            return e;
        }
        e.during(format_args!("cannot replace database \"{}\", which may be in use", self.database))
    }
}

impl Loader for PostgresLoader {
    fn run(&mut self, sql: &str) -> Result<()> {
        let (made, mut keys) = bourse_schema::without_foreign_keys(sql);
        self.foreign_keys.append(&mut keys);
        self.connection.run(&made)?;
        // After each statement, so that an error names the one that made it.
        let is_create = sql.split_whitespace().next().is_some_and(|word| word.eq_ignore_ascii_case("CREATE"));
        if is_create { self.refuse_more_than_tables().map_err(|e| e.with_statement(sql)) } else { Ok(()) }
    }

    fn insert(&mut self, batch: &dyn Batch) -> Result<()> {
        if batch.is_empty() {
            return Ok(());
        }
        let table = batch.table();
        let names: Vec<_> = table.columns.iter().map(|column| column.name).collect();
        let types: Vec<Oid> = table.columns.iter().map(|column| stored(column.column_type)).collect();
        let Some(options) = self.copy else { return self.insert_each(batch, &names.join(", "), &types) };
        let sql = format!("COPY {} ({}) FROM STDIN {options}", table.name, names.join(", "));
        let named = |e: EngineError| e.with_statement(&sql);
        message::query(&mut self.connection.out, &sql);
        self.connection.send()?;
        // The server says that it is ready for rows, or what is wrong; both are read at the end.
        let mut rows = BytesMut::with_capacity(SENT_BYTES + (16 << 10));
        rows.put_slice(SIGNATURE);
        let mut misfit = None;
        for index in 0..batch.len() {
            batch.with_row(index, &mut |values| {
                rows.put_u16(types.len() as u16);
                for (oid, value) in types.iter().zip(values) {
                    if !fits(*value, *oid) {
                        misfit = Some(format!("{value} is no value for {}", table.name));
                    }
                    message::field(&mut rows, *value, *oid);
                }
            });
            if misfit.is_some() {
                break;
            }
            if rows.len() >= SENT_BYTES {
                self.send_rows(&mut rows).map_err(named)?;
            }
        }
        if let Some(why) = misfit {
            message::copy_fail(&mut self.connection.out, &why);
        } else {
            rows.put_i16(-1);
            self.send_rows(&mut rows).map_err(named)?;
            message::copy_done(&mut self.connection.out);
        }
        self.connection.send().map_err(named)?;
        self.connection.finish(&mut |_, _| Ok(())).map_err(named)
    }

    fn query(&mut self, sql: &str, each: &mut EachRow<'_>) -> Result<()> {
        // A statement of its own, since only those have results in binary form.
        let out = &mut self.connection.out;
        message::parse(out, "", sql, &[]);
        message::bind(out, "", &[], &[]);
        message::describe_bound(out);
        message::execute(out);
        message::sync(out);
        self.connection.send()?;
        let mut columns: Vec<ResultColumn> = Vec::new();
        let done = self.connection.finish(&mut |connection, message| {
            match message.kind {
                b'T' => columns = connection.columns(message)?,
                b'D' => {
                    let (body, fields) = connection.row(message)?;
                    return each(&PostgresRow { columns: &columns, body, fields });
                }
                _ => {}
            }
            Ok(())
        });
        done.map_err(|e| e.with_statement(sql))
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        for sql in std::mem::take(&mut self.foreign_keys) {
            self.connection.run(&sql)?;
        }
        // Statistics as they are now, so that plans do not depend on when the server would have gathered them.
        let tables = self.connection.names(&format!(
            "SELECT quote_ident(relname) FROM pg_class WHERE relkind = 'r' AND relnamespace = '{LOADING}'::regnamespace"
        ))?;
        if !tables.is_empty() {
            self.connection.run(&format!("ANALYZE {}", tables.join(", ")))?;
        }
        self.exchange()?;
        if !self.connection.end("COMMIT")? {
            return Err(EngineError::new(ErrorKind::Other, "the load had failed before its end, and was undone"));
        }
        // Best effort, since not every account may: what was loaded is written now instead of during a measurement.
        let _ = self.connection.run("CHECKPOINT");
        Ok(())
    }
}

impl PostgresLoader {
    /// Adds rows by one statement, run with the values of each.
    fn insert_each(&mut self, batch: &dyn Batch, names: &str, types: &[Oid]) -> Result<()> {
        let parameters: Vec<_> = (1..=types.len()).map(|number| format!("${number}")).collect();
        let sql = format!("INSERT INTO {} ({names}) VALUES ({})", batch.table().name, parameters.join(", "));
        let named = |e: EngineError| e.with_statement(&sql);
        message::parse(&mut self.connection.out, "", &sql, types);
        let mut misfit = None;
        for index in 0..batch.len() {
            batch.with_row(index, &mut |values| {
                misfit = types
                    .iter()
                    .zip(values)
                    .find(|(oid, value)| !fits(**value, **oid))
                    .map(|(_, value)| value.to_string());
                if misfit.is_none() {
                    message::bind(&mut self.connection.out, "", types, values);
                    message::execute(&mut self.connection.out);
                }
            });
            if let Some(value) = misfit {
                self.connection.out.clear();
                let message = format!("{value} is no value for {}", batch.table().name);
                return Err(named(EngineError::new(ErrorKind::Constraint, message)));
            }
            if self.connection.out.len() >= SENT_BYTES || index + 1 == batch.len() {
                message::sync(&mut self.connection.out);
                self.connection.send().map_err(named)?;
                self.connection.finish(&mut |_, _| Ok(())).map_err(named)?;
            }
        }
        Ok(())
    }

    fn send_rows(&mut self, rows: &mut BytesMut) -> Result<()> {
        message::copy_data(&mut self.connection.out, rows);
        rows.clear();
        self.connection.send()
    }
}

impl Drop for PostgresLoader {
    fn drop(&mut self) {
        // Best effort, since the server does both when the connection is closed; the next load may come sooner.
        if self.connection.state != TransactionState::Idle {
            let _ = self.connection.end("ROLLBACK");
        }
        let _ = self.connection.run("SELECT pg_advisory_unlock_all()");
    }
}
