use super::{FieldChange, Key, RecordTable, get_one_by_one};
use crate::{
    Access, EachFound, EachRow, EachToLoad, EngineError, ErrorKind, Isolation, Params, Records, Result, RowExt as _,
    Runs, Session, Sql, Value,
};

/// Form in which statements are sent to a SQL engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StatementForm {
    /// Prepared at first use.
    #[default]
    Prepared,
    /// Parsed anew each time, values bound.
    Parsed,
}

/// Records by key on a SQL engine's session: each operation is one statement of the table's
/// [`TableSql`](super::TableSql).
///
/// Borrows the session for one operation, so that a user may mix both interfaces.
pub struct RecordsOverSql<'s> {
    session: &'s mut dyn Session,
    statements: StatementForm,
}

impl<'s> RecordsOverSql<'s> {
    /// Records on that session.
    pub fn new(session: &'s mut dyn Session, statements: StatementForm) -> Self {
        Self { session, statements }
    }

    #[inline]
    fn query(&mut self, sql: &'static Sql, params: &[Value<'_>], each: &mut EachRow<'_>) -> Result<u64> {
        let mut rows = 0;
        let mut counted = |row: &dyn crate::Row| {
            rows += 1;
            each(row)
        };
        match self.statements {
            StatementForm::Prepared => self.session.query(sql, Params::of(params), &mut counted)?,
            StatementForm::Parsed => {
                self.session.query_text(&sql.render(self.session.dialect()), params, &mut counted)?
            }
        }
        Ok(rows)
    }

    #[inline]
    fn execute(&mut self, sql: &'static Sql, params: Params<'_>) -> Result<u64> {
        match self.statements {
            StatementForm::Prepared => self.session.execute(sql, params),
            StatementForm::Parsed => {
                let text = sql.render(self.session.dialect());
                params.with_one_list(|params| self.session.execute_text(&text, params))
            }
        }
    }
}

/// Whether a change by key changed its row; an error if it changed several.
fn is_one_changed(table: &RecordTable, changed: u64) -> Result<bool> {
    match changed {
        0 => Ok(false),
        1 => Ok(true),
        more => Err(EngineError::new(ErrorKind::Other, format!("{more} records of {} have one key", table.name()))),
    }
}

/// Maximal number of records of one scan: HSQLDB's `LIMIT` has 32 bits.
const LONGEST_SCAN: u64 = i32::MAX as u64;

impl Records for RecordsOverSql<'_> {
    fn create(&mut self, tables: &[&'static RecordTable]) -> Result<()> {
        for table in tables {
            let dialect = self.session.dialect();
            if dialect.drop_if_exists {
                let drop = format!("DROP TABLE IF EXISTS {}", table.name());
                self.session.query_text(&drop, &[], &mut |_| Ok(()))?;
            } else {
                // It fails where there is no such table. Where it fails otherwise, so does what follows.
                let _ = self.session.query_text(&format!("DROP TABLE {}", table.name()), &[], &mut |_| Ok(()));
            }
            for statement in table.create_sql(dialect) {
                self.session.query_text(&statement, &[], &mut |_| Ok(()))?;
            }
        }
        Ok(())
    }

    fn begin(&mut self, access: Access) -> Result<()> {
        self.session.begin(Isolation::Serializable, access)
    }

    fn commit(&mut self) -> Result<()> {
        self.session.commit()
    }

    fn rollback(&mut self) -> Result<()> {
        self.session.rollback()
    }

    #[inline]
    fn get(&mut self, table: &'static RecordTable, key: Key<'_>, each: &mut EachRow<'_>) -> Result<bool> {
        let get = &table.sql().get;
        match self.statements {
            StatementForm::Prepared => self.session.query_first(get, Params::of(&[key.into()]), each),
            StatementForm::Parsed => is_one_changed(table, self.query(get, &[key.into()], each)?),
        }
    }

    #[inline]
    fn get_each(&mut self, table: &'static RecordTable, keys: &[Value<'_>], each: &mut EachFound<'_>) -> Result<()> {
        match self.statements {
            StatementForm::Prepared => {
                self.session.run_each(&table.sql().get, Runs { params: keys, width: 1 }, Some(each))
            }
            StatementForm::Parsed => get_one_by_one(self, table, keys, each),
        }
    }

    #[inline]
    fn insert(&mut self, table: &'static RecordTable, key: Key<'_>, values: &[Value<'_>]) -> Result<()> {
        self.execute(&table.sql().insert, Params::of(&[key.into()]).then(values)).map(|_| ())
    }

    #[inline]
    fn append(&mut self, table: &'static RecordTable, values: &[Value<'_>]) -> Result<()> {
        self.execute(&table.sql().append, Params::of(values)).map(|_| ())
    }

    #[inline]
    fn insert_rows(&mut self, table: &'static RecordTable, rows: &[Value<'_>]) -> Result<()> {
        let (sql, width) = (table.sql(), table.values_of_a_row());
        let insert = if table.has_assigned_keys() { &sql.append } else { &sql.insert };
        match self.statements {
            StatementForm::Prepared => self.session.run_each(insert, Runs { params: rows, width }, None),
            StatementForm::Parsed => {
                rows.chunks(width).try_for_each(|row| self.execute(insert, Params::of(row)).map(|_| ()))
            }
        }
    }

    fn load(&mut self, table: &'static RecordTable, rows: &mut EachToLoad<'_>) -> Result<()> {
        self.session.load(table.name(), &table.sql().insert, rows)
    }

    #[inline]
    fn update(&mut self, table: &'static RecordTable, key: Key<'_>, values: &[Value<'_>]) -> Result<bool> {
        is_one_changed(table, self.execute(&table.sql().update, Params::of(values).then(&[key.into()]))?)
    }

    #[inline]
    fn change(&mut self, table: &'static RecordTable, key: Key<'_>, change: FieldChange<'_>) -> Result<bool> {
        let (sql, value) = match change {
            FieldChange::Add(field, by) => (&table.sql().add[field], by.into()),
            FieldChange::Set(field, value) => (&table.sql().set[field], value),
            FieldChange::Append(field, text) => (&table.sql().extend[field], text.into()),
        };
        is_one_changed(table, self.execute(sql, Params::of(&[value, key.into()]))?)
    }

    #[inline]
    fn delete(&mut self, table: &'static RecordTable, key: Key<'_>) -> Result<bool> {
        is_one_changed(table, self.execute(&table.sql().delete, Params::of(&[key.into()]))?)
    }

    #[inline]
    fn scan(&mut self, table: &'static RecordTable, from: Key<'_>, limit: u64, each: &mut EachRow<'_>) -> Result<u64> {
        // Derby takes no limit of nothing.
        if limit == 0 {
            return Ok(0);
        }
        let found =
            self.query(&table.sql().scan, &[from.into(), LONGEST_SCAN.min(limit).cast_signed().into()], each)?;
        if found == LONGEST_SCAN && limit > LONGEST_SCAN {
            let why = format!("a scan of {} returns {LONGEST_SCAN} records at most", table.name());
            return Err(EngineError::unsupported(why));
        }
        Ok(found)
    }

    #[inline]
    fn find(
        &mut self,
        table: &'static RecordTable,
        field: usize,
        value: Value<'_>,
        each: &mut EachRow<'_>,
    ) -> Result<u64> {
        self.query(&table.sql().find[field], &[value], each)
    }

    fn count(&mut self, table: &'static RecordTable) -> Result<u64> {
        let mut count = 0;
        self.query(&table.sql().count, &[], &mut |row| {
            count = row.get(0)?;
            Ok(())
        })?;
        Ok(count)
    }

    fn delete_all(&mut self, table: &'static RecordTable) -> Result<u64> {
        self.execute(&table.sql().delete_all, Params::NONE)
    }
}
