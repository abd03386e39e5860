//! Statements of a table, with the memory they are bound to.

use crate::error::{check, error};
use crate::library::FastDbApi;
use crate::slot::{INT4, Misfit, ValueSlot};
use bourse_engine::{EngineError, FieldChange, Key, RecordField, RecordTable, RecordType, Result, Row, Value};
use std::borrow::Cow;
use std::ffi::{CString, c_int};
use std::ptr;

/// Statement in the library.
struct FastDbStatement {
    id: c_int,
    /// Text of the statement, for errors.
    text: String,
}

impl FastDbStatement {
    fn new(api: &FastDbApi, session: c_int, text: String) -> Result<Self> {
        let c_text = c_text(&text)?;
        // SAFETY: the session is open and the text ends with a zero; FastDB copies it.
        let id = unsafe { (api.statement)(session, c_text.as_ptr()) };
        let id = check(id, "prepare").map_err(|e| e.with_statement(&text))?;
        Ok(Self { id, text })
    }

    fn failed(&self, code: c_int, doing: &str) -> EngineError {
        error(code, doing).with_statement(&self.text)
    }

    fn bind_parameter(&self, api: &FastDbApi, name: &str, var_type: c_int, slot: &ValueSlot) -> Result<()> {
        let name = c_text(name)?;
        // SAFETY: FastDB copies the name and stores the address, which is valid as long as the slot; the statement is freed
        // before it.
        let bound = unsafe { (api.parameter)(self.id, name.as_ptr(), var_type, slot.data()) };
        if bound < 0 { Err(self.failed(bound, "bind a parameter")) } else { Ok(()) }
    }

    fn bind_column(&self, api: &FastDbApi, name: &str, slot: &ValueSlot) -> Result<()> {
        let name = c_text(name)?;
        // SAFETY: as for a parameter; the type is that of the slot's memory, and its length is where FastDB expects it.
        let bound = unsafe { (api.column)(self.id, name.as_ptr(), slot.var_type(), slot.length(), slot.data()) };
        if bound < 0 { Err(self.failed(bound, "bind a column")) } else { Ok(()) }
    }
}

fn c_text(text: &str) -> Result<CString> {
    CString::new(text).map_err(|_| EngineError::unsupported(format!("a name with a zero byte: {text:?}")))
}

/// Statement on a table, bound to its columns and to the value it searches for.
pub(crate) struct BoundSearch {
    statement: FastDbStatement,
    /// Key and fields.
    columns: Vec<ValueSlot>,
    sought: Option<ValueSlot>,
    limit: Option<ValueSlot>,
}

impl BoundSearch {
    fn new(
        api: &FastDbApi,
        session: c_int,
        table: &RecordTable,
        text: String,
        sought: Option<RecordType>,
        has_limit: bool,
    ) -> Result<Self> {
        let statement = FastDbStatement::new(api, session, text)?;
        let columns =
            std::iter::once(table.key()).chain(table.fields()).map(|field| ValueSlot::new(field.record_type)).collect();
        let bound = Self {
            statement,
            columns,
            sought: sought.map(ValueSlot::new),
            limit: has_limit.then(|| ValueSlot::new(RecordType::Int)),
        };
        let result = bound.bind(api, table);
        if result.is_err() {
            bound.free(api);
        }
        result.map(|()| bound)
    }

    fn bind(&self, api: &FastDbApi, table: &RecordTable) -> Result<()> {
        for (field, slot) in std::iter::once(table.key()).chain(table.fields()).zip(&self.columns) {
            self.statement.bind_column(api, field.name, slot)?;
        }
        if let Some(slot) = &self.sought {
            self.statement.bind_parameter(api, "%sought", slot.var_type(), slot)?;
        }
        if let Some(slot) = &self.limit {
            // FastDB reads 32 bits of it, the lower ones on every machine it runs on with these types.
            self.statement.bind_parameter(api, "%most", INT4, slot)?;
        }
        Ok(())
    }

    fn free(&self, api: &FastDbApi) {
        // SAFETY: the statement is FastDB's and not yet freed.
        unsafe { (api.free)(self.statement.id) };
    }

    /// Sets the value to search for; returns false if no record can have it.
    #[inline]
    pub(crate) fn seek(&mut self, value: Value<'_>, name: &str) -> Result<bool> {
        let slot = self.sought.as_mut().expect("a statement that looks for a value");
        match slot.set(value) {
            Ok(()) => Ok(true),
            Err(Misfit::TooLong | Misfit::Zero) => Ok(false),
            Err(misfit @ Misfit::Type) => Err(misfit.of(name)),
        }
    }

    pub(crate) fn set_limit(&mut self, limit: u64) {
        let slot = self.limit.as_mut().expect("a statement with a limit");
        let most = i64::try_from(limit).map_or(i64::from(i32::MAX), |limit| limit.min(i64::from(i32::MAX)));
        slot.set(Value::Int(most)).expect("an integer");
    }

    /// Sets the fields, and the key if one is passed.
    #[inline]
    pub(crate) fn fill(&mut self, table: &RecordTable, key: Option<Key<'_>>, values: &[Value<'_>]) -> Result<()> {
        if values.len() != table.fields().len() {
            let (given, wanted) = (values.len(), table.fields().len());
            return Err(EngineError::unsupported(format!(
                "{given} values for the {wanted} fields of {}",
                table.name()
            )));
        }
        if let Some(key) = key {
            self.columns[0].set_key(key).map_err(|misfit| misfit.of(table.key().name))?;
        }
        for ((slot, value), field) in self.columns[1..].iter_mut().zip(values).zip(table.fields()) {
            slot.set(*value).map_err(|misfit| misfit.of(field.name))?;
        }
        Ok(())
    }

    /// Changes a field that was fetched.
    pub(crate) fn change(&mut self, change: FieldChange<'_>, name: &str) -> Result<()> {
        let slot = self.columns.get_mut(change.field() + 1).ok_or_else(|| Misfit::Type.of(name))?;
        match change {
            FieldChange::Add(_, by) => slot.add(by),
            FieldChange::Set(_, value) => slot.set(value),
            FieldChange::Append(_, text) => slot.extend(text),
        }
        .map_err(|misfit| misfit.of(name))
    }

    /// Searches for records; returns how many were found.
    #[inline]
    pub(crate) fn fetch(&mut self, api: &FastDbApi, for_update: bool) -> Result<u64> {
        // SAFETY: what the statement is bound to lives as long as it; this thread has joined its session's context.
        let found = unsafe { (api.fetch)(self.statement.id, c_int::from(for_update)) };
        u64::try_from(found).map_err(|_| self.statement.failed(found, "search"))
    }

    /// Fetches the first record, or the next one, into the columns.
    #[inline]
    pub(crate) fn step(&mut self, api: &FastDbApi, is_first: bool) -> Result<()> {
        self.columns.iter_mut().for_each(ValueSlot::arm);
        let step = if is_first { api.get_first } else { api.get_next };
        // SAFETY: as in `fetch`; the columns have their capacity set.
        let code = unsafe { step(self.statement.id) };
        if code < 0 { Err(self.statement.failed(code, "fetch a record")) } else { Ok(()) }
    }

    /// Writes the columns as a new record.
    #[inline]
    pub(crate) fn insert(&mut self, api: &FastDbApi) -> Result<()> {
        // SAFETY: as in `fetch`; the new record's number is not requested.
        let code = unsafe { (api.insert)(self.statement.id, ptr::null_mut()) };
        if code < 0 { Err(self.statement.failed(code, "insert")) } else { Ok(()) }
    }

    /// Writes the columns over the record that was fetched last.
    #[inline]
    pub(crate) fn update(&mut self, api: &FastDbApi) -> Result<()> {
        // SAFETY: as in `fetch`.
        let code = unsafe { (api.update)(self.statement.id) };
        if code < 0 { Err(self.statement.failed(code, "update")) } else { Ok(()) }
    }

    /// Deletes all records that were found; there must be one.
    #[inline]
    pub(crate) fn remove(&mut self, api: &FastDbApi) -> Result<()> {
        // SAFETY: as in `fetch`.
        let code = unsafe { (api.remove)(self.statement.id) };
        if code < 0 { Err(self.statement.failed(code, "delete")) } else { Ok(()) }
    }
}

impl Row for BoundSearch {
    #[inline]
    fn value(&self, index: usize) -> Value<'_> {
        self.columns[index].value()
    }

    /// Always `None`: the names of a record's fields are its table's.
    fn column_name(&self, _: usize) -> Option<Cow<'_, str>> {
        None
    }
}

/// Statements of a table, each made at first use.
#[derive(Default)]
pub(crate) struct TableSearches {
    insert: Option<BoundSearch>,
    get: Option<BoundSearch>,
    scan: Option<BoundSearch>,
    all: Option<BoundSearch>,
    find: Vec<Option<BoundSearch>>,
}

impl TableSearches {
    fn free(&mut self, api: &FastDbApi) {
        let all = [&mut self.insert, &mut self.get, &mut self.scan, &mut self.all];
        for bound in all.into_iter().chain(&mut self.find).filter_map(Option::take) {
            bound.free(api);
        }
    }
}

/// Statements of a session, by their tables' slots.
#[derive(Default)]
pub(crate) struct SessionSearches {
    tables: Vec<TableSearches>,
    /// Whether the session has a transaction open.
    pub(crate) in_transaction: bool,
}

/// Kind of a table's statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StatementKind {
    Insert,
    Get,
    Scan,
    All,
    Find(usize),
}

impl SessionSearches {
    /// Statement of a kind, made at first use.
    #[inline]
    pub(crate) fn get(
        &mut self,
        api: &FastDbApi,
        session: c_int,
        table: &'static RecordTable,
        which: StatementKind,
    ) -> Result<&mut BoundSearch> {
        let slot = table.slot();
        if self.tables.len() <= slot {
            self.tables.resize_with(slot + 1, TableSearches::default);
        }
        let of_table = &mut self.tables[slot];
        let place = match which {
            StatementKind::Insert => &mut of_table.insert,
            StatementKind::Get => &mut of_table.get,
            StatementKind::Scan => &mut of_table.scan,
            StatementKind::All => &mut of_table.all,
            StatementKind::Find(field) => {
                if of_table.find.len() <= field {
                    of_table.find.resize_with(field + 1, || None);
                }
                &mut of_table.find[field]
            }
        };
        if place.is_none() {
            *place = Some(make(api, session, table, which)?);
        }
        Ok(place.as_mut().expect("made above"))
    }

    /// Frees all statements.
    pub(crate) fn free(&mut self, api: &FastDbApi) {
        self.tables.iter_mut().for_each(|table| table.free(api));
    }
}

/// Limit of a search that is meant to have none: FastDB reuses a freed statement with its limit, so a search without one would
/// find no more records than the freed one. A statement for all records needs none, since it is not a search.
const NO_LIMIT: &str = "limit 2147483647";

#[cold]
fn make(api: &FastDbApi, session: c_int, table: &RecordTable, which: StatementKind) -> Result<BoundSearch> {
    let (name, key) = (table.name(), table.key());
    let new = |text: String, sought: Option<&RecordField>, has_limit| {
        BoundSearch::new(api, session, table, text, sought.map(|field| field.record_type), has_limit)
    };
    match which {
        StatementKind::Insert => new(format!("insert into {name}"), None, false),
        StatementKind::Get => {
            new(format!("select * from {name} where {}=%sought {NO_LIMIT}", key.name), Some(key), false)
        }
        // Without `order by`: a T-tree is walked in order, and only so does the limit end the walk.
        StatementKind::Scan => {
            new(format!("select * from {name} where {}>=%sought limit %most", key.name), Some(key), true)
        }
        StatementKind::All => new(format!("select * from {name}"), None, false),
        StatementKind::Find(field) => {
            let field = &table.fields()[field];
            new(format!("select * from {name} where {}=%sought {NO_LIMIT}", field.name), Some(field), false)
        }
    }
}
