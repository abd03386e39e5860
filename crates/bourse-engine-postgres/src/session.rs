//! Session of a user: statements prepared at first use and found by number.

use crate::ahead::{AnswersAhead, StatementsAhead};
use crate::describe;
use crate::dialect::DIALECT;
use crate::error::broken;
use crate::message;
use crate::routines;
use crate::value::{Oid, PostgresRow, RecordRow, ResultColumn, exact_type, fits};
use crate::wire::{FieldRange, TransactionState, WireConnection};
use bourse_engine::{
    Access, Dialect, EachFound, EachRow, EngineError, ErrorKind, Isolation, Params, Result, Routine, Runs, Session,
    Setting, Slots, Sql, Value, run_one_by_one,
};

/// Number of runs of a statement that are sent before the first answer is read. Their answers wait in the socket
/// meanwhile.
const RUNS_AT_ONCE: usize = 64;

/// Size of such runs in bytes: far less than a socket's buffer, so that neither side waits for the other to read.
const BYTES_AT_ONCE: usize = 32 << 10;

/// A prepared statement at the server.
struct PreparedStatement {
    name: String,
    /// Type of each parameter: the server's choice, or that of the first values.
    types: Vec<Oid>,
    columns: Vec<ResultColumn>,
}

impl PreparedStatement {
    #[inline]
    fn takes(&self, params: &[Value<'_>]) -> bool {
        self.types.len() == params.len() && self.types.iter().zip(params).all(|(oid, value)| fits(*value, *oid))
    }
}

/// A session of one server.
pub struct PostgresSession {
    connection: WireConnection,
    statements: Slots<PreparedStatement>,
    /// Whether the caller began a transaction that it has not ended.
    is_begun: bool,
    /// Whether the open transaction met a conflict.
    is_doomed: bool,
    /// Statements written and not sent yet; `None` if each statement is sent immediately.
    ahead: Option<StatementsAhead>,
    /// Whether routines are called.
    procedures: bool,
    /// Routines known to be installed at the server.
    routines: Option<&'static [&'static Routine]>,
    /// Fields of a routine's row.
    record: Vec<(Oid, FieldRange)>,
}

impl PostgresSession {
    pub(crate) fn new(connection: WireConnection, pipeline: bool, procedures: bool) -> Self {
        Self {
            connection,
            statements: Slots::default(),
            is_begun: false,
            is_doomed: false,
            ahead: pipeline.then(StatementsAhead::default),
            procedures,
            routines: None,
            record: Vec::new(),
        }
    }

    /// Whether a transaction is open, possibly not yet at the server.
    fn is_open(&self) -> bool {
        self.connection.state != TransactionState::Idle
            || self.ahead.as_ref().is_some_and(|ahead| ahead.begin.is_some())
    }

    /// Takes the statements written ahead, for a caller that sends them with another.
    #[inline]
    fn answers(&mut self) -> AnswersAhead {
        AnswersAhead { ahead: self.ahead.as_mut().map(std::mem::take).unwrap_or_default(), at: 0 }
    }

    /// Sends the statements written ahead, and reads their answers.
    fn send_ahead(&mut self) -> Result<()> {
        if self.ahead.as_ref().is_none_or(|ahead| ahead.answers() == 0) {
            return Ok(());
        }
        let mut answers = self.answers();
        message::sync(&mut self.connection.out);
        self.connection.send()?;
        let done = self.connection.finish(&mut |connection, message| answers.take(connection, message).map(drop));
        let done = answers.named(done);
        self.settled(done, "")
    }

    /// Discards the statements written ahead, before a rollback.
    fn forget_ahead(&mut self) {
        if self.ahead.as_ref().is_some_and(|ahead| ahead.answers() > 0) {
            self.ahead = Some(StatementsAhead::default());
            self.connection.out.clear();
        }
    }

    /// Prepares a statement for values of these types.
    #[cold]
    fn prepare_anew(&mut self, sql: &'static Sql, text: impl FnOnce() -> String, params: &[Value<'_>]) -> Result<()> {
        let slot = sql.slot();
        let name = format!("s{slot}");
        let text = text();
        let mut declared: Vec<Oid> = Vec::new();
        if let Some(old) = self.statements.place(slot).take() {
            message::close(&mut self.connection.out, &old.name);
            declared = declare(&old.types, params);
        }
        loop {
            let prepared = self.parse(&name, &text, &declared)?;
            if prepared.types.len() != params.len() {
                let (wanted, given) = (prepared.types.len(), params.len());
                // Kept, so that it is closed before it is prepared for another number.
                *self.statements.place(slot) = Some(prepared);
                return Err(EngineError::new(
                    ErrorKind::Other,
                    format!("the statement has {wanted} parameters, {given} were given"),
                ));
            }
            if prepared.takes(params) {
                *self.statements.place(slot) = Some(prepared);
                return Ok(());
            }
            // What the server infers does not hold the value: it is told the value's own type, once.
            let wanted = declare(&prepared.types, params);
            if wanted == declared {
                return Err(broken("a type of its own for a parameter that was declared"));
            }
            message::close(&mut self.connection.out, &name);
            declared = wanted;
        }
    }

    fn parse(&mut self, name: &str, text: &str, declared: &[Oid]) -> Result<PreparedStatement> {
        let out = &mut self.connection.out;
        message::parse(out, name, text, declared);
        message::describe_statement(out, name);
        message::sync(out);
        self.connection.send()?;
        let mut prepared = PreparedStatement { name: name.to_owned(), types: Vec::new(), columns: Vec::new() };
        self.connection.finish(&mut |connection, message| {
            match message.kind {
                b't' => prepared.types = types(connection.body(message)),
                b'T' => prepared.columns = connection.columns(message)?,
                _ => {}
            }
            Ok(())
        })?;
        Ok(prepared)
    }

    fn run(&mut self, sql: &'static Sql, params: Params<'_>, each: &mut EachRow<'_>) -> Result<u64> {
        params.with_one_list(|params| self.run_list(sql, params, each))
    }

    /// Slot of the statement, prepared for these values.
    #[inline]
    fn ready(&mut self, sql: &'static Sql, params: &[Value<'_>]) -> Result<usize> {
        self.ready_as(sql, || sql.render(&DIALECT), params)
    }

    /// Slot of the statement, prepared as `text` for these values.
    #[inline]
    fn ready_as(&mut self, sql: &'static Sql, text: impl FnOnce() -> String, params: &[Value<'_>]) -> Result<usize> {
        let slot = sql.slot();
        if !matches!(self.statements.get(slot), Some(it) if it.takes(params)) {
            self.send_ahead()?;
            self.prepare_anew(sql, text, params)?;
        }
        Ok(slot)
    }

    fn run_list(&mut self, sql: &'static Sql, params: &[Value<'_>], each: &mut EachRow<'_>) -> Result<u64> {
        let slot = self.ready(sql, params)?;
        self.run_ready(slot, params, each)
    }

    /// Runs a statement that is prepared for these values.
    fn run_ready(&mut self, slot: usize, params: &[Value<'_>], each: &mut EachRow<'_>) -> Result<u64> {
        let mut answers = self.answers();
        let Self { connection, statements, .. } = self;
        let prepared = statements.get(slot).expect("prepared just before");
        message::bind(&mut connection.out, &prepared.name, &prepared.types, params);
        message::execute(&mut connection.out);
        message::sync(&mut connection.out);
        connection.send()?;
        let mut changed = 0;
        let done = connection.finish(&mut |connection, message| {
            if answers.take(connection, message)? {
                return Ok(());
            }
            match message.kind {
                b'D' => {
                    let (body, fields) = connection.row(message)?;
                    return each(&PostgresRow { columns: &prepared.columns, body, fields });
                }
                b'C' => changed = rows(connection.body(message)),
                _ => {}
            }
            Ok(())
        });
        answers.named(done)?;
        Ok(changed)
    }

    /// Calls a routine: each row that it returns is the number of a set and a row of it as a value.
    fn call_list(&mut self, routine: &'static Routine, params: &[Value<'_>], each: &mut EachFound<'_>) -> Result<()> {
        let slot = self.ready_as(routine.sql(), || routines::call(routine), params)?;
        let mut record = std::mem::take(&mut self.record);
        let done = self.run_ready(slot, params, &mut |row| {
            let (Some(set), Value::Blob(bytes)) = (row.int(0), row.value(1)) else {
                return Err(broken("a set without a row"));
            };
            let row = RecordRow::read(bytes, &mut record).ok_or_else(|| broken("a row that is cut off"))?;
            each(set as usize, &row)
        });
        self.record = record;
        done.map(drop)
    }

    /// Writes a change that is sent with the next statement.
    fn write_ahead(&mut self, sql: &'static Sql, params: &[Value<'_>]) -> Result<()> {
        if self.connection.out.len() > BYTES_AT_ONCE {
            self.send_ahead()?;
        }
        let slot = self.ready(sql, params)?;
        let prepared = self.statements.get(slot).expect("prepared just before");
        message::bind(&mut self.connection.out, &prepared.name, &prepared.types, params);
        message::execute(&mut self.connection.out);
        self.ahead.as_mut().expect("asked for by whoever has it").changes.push(sql);
        Ok(())
    }

    /// Sends many runs before it reads their answers. Called in a transaction, which a failed run ends for all later
    /// ones.
    fn run_together(
        &mut self,
        sql: &'static Sql,
        Runs { params, width }: Runs<'_>,
        mut each: Option<&mut EachFound<'_>>,
    ) -> Result<()> {
        self.send_ahead()?;
        let mut first = 0;
        while first * width < params.len() {
            let slot = self.ready(sql, &params[first * width..][..width])?;
            let Self { connection, statements, .. } = self;
            let prepared = statements.get(slot).expect("prepared just before");
            let mut sent = 0;
            for run in params[first * width..].chunks(width).take(RUNS_AT_ONCE) {
                if connection.out.len() > BYTES_AT_ONCE || !prepared.takes(run) {
                    break;
                }
                message::bind(&mut connection.out, &prepared.name, &prepared.types, run);
                message::execute(&mut connection.out);
                sent += 1;
            }
            message::sync(&mut connection.out);
            connection.send()?;
            let (mut at, mut is_first_row) = (first, true);
            connection.finish(&mut |connection, message| {
                match message.kind {
                    b'D' if is_first_row => {
                        is_first_row = false;
                        let Some(each) = &mut each else { return Ok(()) };
                        let (body, fields) = connection.row(message)?;
                        return each(at, &PostgresRow { columns: &prepared.columns, body, fields });
                    }
                    b'C' => (at, is_first_row) = (at + 1, true),
                    _ => {}
                }
                Ok(())
            })?;
            first += sent;
        }
        Ok(())
    }

    /// Runs a text that is parsed for this run alone: one message and its answer, with the values' own types.
    fn run_text(&mut self, sql: &str, params: &[Value<'_>], each: &mut EachRow<'_>) -> Result<u64> {
        let types: Vec<Oid> = params.iter().map(|value| exact_type(*value)).collect();
        let connection = &mut self.connection;
        message::parse(&mut connection.out, "", sql, &types);
        // The text's description comes before its rows.
        message::bind(&mut connection.out, "", &types, params);
        message::describe_bound(&mut connection.out);
        message::execute(&mut connection.out);
        message::sync(&mut connection.out);
        connection.send()?;
        let (mut changed, mut columns) = (0, Vec::new());
        connection.finish(&mut |connection, message| {
            match message.kind {
                b'T' => columns = connection.columns(message)?,
                b'D' => {
                    let (body, fields) = connection.row(message)?;
                    return each(&PostgresRow { columns: &columns, body, fields });
                }
                b'C' => changed = rows(connection.body(message)),
                _ => {}
            }
            Ok(())
        })?;
        Ok(changed)
    }

    /// Records the outcome of the transaction, and adds the statement to an error.
    #[inline]
    fn settled<T>(&mut self, done: Result<T>, sql: &str) -> Result<T> {
        done.map_err(|e| {
            // The server has undone the transaction and holds no lock any more; what follows would not be in any.
            self.is_doomed |= self.connection.state == TransactionState::Failed && e.kind() == ErrorKind::Conflict;
            e.with_statement(sql)
        })
    }

    #[inline]
    fn refuse_doomed(&self) -> Result<()> {
        if self.is_doomed { Err(EngineError::failed_transaction(ErrorKind::Conflict, false)) } else { Ok(()) }
    }
}

/// Types for a statement's parameters where those that the server chose cannot hold the values.
fn declare(chosen: &[Oid], params: &[Value<'_>]) -> Vec<Oid> {
    let each = chosen.iter().zip(params);
    each.map(|(oid, value)| if fits(*value, *oid) { *oid } else { exact_type(*value) }).collect()
}

/// Types of parameters, from their description.
fn types(body: &[u8]) -> Vec<Oid> {
    let (chunks, _) = body.get(2..).unwrap_or_default().as_chunks::<4>();
    chunks.iter().map(|bytes| Oid::from_be_bytes(*bytes)).collect()
}

/// Number of rows of a command: the last word of its tag, as in `UPDATE 3` and `INSERT 0 1`.
#[inline]
pub(crate) fn rows(tag: &[u8]) -> u64 {
    let digits = tag.strip_suffix(b"\0").unwrap_or(tag).rsplit(|byte| *byte == b' ').next().unwrap_or_default();
    digits
        .iter()
        .try_fold(0u64, |rows, byte| {
            let digit = byte.checked_sub(b'0').filter(|digit| *digit < 10)?;
            rows.checked_mul(10)?.checked_add(digit.into())
        })
        .unwrap_or(0)
}

const fn begin(isolation: Isolation, access: Access) -> &'static str {
    match (isolation, access) {
        (Isolation::ReadCommitted, Access::Read) => "BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY",
        (Isolation::ReadCommitted, Access::Write) => "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE",
        (Isolation::RepeatableRead, Access::Read) => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
        (Isolation::RepeatableRead, Access::Write) => "BEGIN ISOLATION LEVEL REPEATABLE READ READ WRITE",
        (Isolation::Serializable, Access::Read) => "BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY",
        (Isolation::Serializable, Access::Write) => "BEGIN ISOLATION LEVEL SERIALIZABLE READ WRITE",
    }
}

impl Session for PostgresSession {
    fn dialect(&self) -> &'static Dialect {
        &DIALECT
    }

    fn begin(&mut self, isolation: Isolation, access: Access) -> Result<()> {
        if self.is_open() {
            return Err(EngineError::already_open());
        }
        let begin = begin(isolation, access);
        let Some(ahead) = &mut self.ahead else {
            self.connection.run(begin)?;
            self.is_begun = true;
            return Ok(());
        };
        self.is_begun = true;
        ahead.begin = Some(begin);
        let out = &mut self.connection.out;
        message::parse(out, "", begin, &[]);
        message::bind(out, "", &[], &[]);
        message::execute(out);
        Ok(())
    }

    fn settings(&mut self) -> Result<Vec<Setting>> {
        self.send_ahead()?;
        let settings = describe::settings_of(&mut self.connection)?;
        Ok(settings.into_iter().map(|(name, value)| Setting::new(name, value)).collect())
    }

    fn prepare(&mut self, sql: &'static Sql, params: Params<'_>) -> Result<()> {
        let ready = params.with_one_list(|params| self.ready(sql, params));
        ready.map(|_| ()).map_err(|e| e.with_statement(sql.text()))
    }

    fn query(&mut self, sql: &'static Sql, params: Params<'_>, each: &mut EachRow<'_>) -> Result<()> {
        self.refuse_doomed()?;
        let done = self.run(sql, params, each);
        self.settled(done, sql.text()).map(|_| ())
    }

    fn execute(&mut self, sql: &'static Sql, params: Params<'_>) -> Result<u64> {
        self.refuse_doomed()?;
        let done = self.run(sql, params, &mut |_| Ok(()));
        self.settled(done, sql.text())
    }

    fn change_one(&mut self, sql: &'static Sql, params: Params<'_>) -> Result<u64> {
        if self.ahead.is_none() || !self.is_open() {
            return self.execute(sql, params);
        }
        self.refuse_doomed()?;
        let done = params.with_one_list(|params| self.write_ahead(sql, params));
        self.settled(done, sql.text()).map(|()| 1)
    }

    fn round_trips(&self) -> Option<u64> {
        Some(self.connection.round_trips)
    }

    fn run_each(&mut self, sql: &'static Sql, runs: Runs<'_>, each: Option<&mut EachFound<'_>>) -> Result<()> {
        // Outside a transaction each run is one of its own, and its change stays when a later one fails.
        if !self.is_open() {
            return run_one_by_one(self, sql, runs, each);
        }
        self.refuse_doomed()?;
        let done = self.run_together(sql, runs, each);
        self.settled(done, sql.text())
    }

    fn install(&mut self, routines: &'static [&'static Routine]) -> Result<()> {
        let is_known = self.routines.is_some_and(|known| std::ptr::eq(known, routines));
        if !self.procedures || is_known || self.is_open() {
            return Ok(());
        }
        routines::install(&mut self.connection, routines)?;
        self.routines = Some(routines);
        Ok(())
    }

    fn has_routines(&self) -> bool {
        self.routines.is_some()
    }

    fn call(&mut self, routine: &'static Routine, params: Params<'_>, each: &mut EachFound<'_>) -> Result<()> {
        self.refuse_doomed()?;
        let done = params.with_one_list(|params| self.call_list(routine, params, each));
        self.settled(done, routine.name())
    }

    fn commit(&mut self) -> Result<()> {
        // Before the commit: whether each change was one of one row has to be known.
        if let Err(e) = self.send_ahead() {
            let _ = self.rollback();
            return Err(e);
        }
        let (was_doomed, was_begun) = (std::mem::take(&mut self.is_doomed), std::mem::take(&mut self.is_begun));
        // Where the transaction has failed, the server answers a COMMIT as if it were a ROLLBACK.
        let done = match self.connection.state {
            TransactionState::Idle if was_begun => Err(EngineError::already_ended()),
            TransactionState::Idle => Ok(true),
            TransactionState::Open | TransactionState::Failed => self.connection.end("COMMIT"),
        };
        match done {
            Ok(true) => return Ok(()),
            Ok(false) => {}
            Err(e) => {
                // The seam says that a commit which failed is rolled back. PostgreSQL has done so; a server that speaks its
                // protocol may wait to be told. The first error is the one to report.
                if self.connection.state != TransactionState::Idle {
                    let _ = self.connection.end("ROLLBACK");
                }
                return Err(e);
            }
        }
        let kind = if was_doomed { ErrorKind::Conflict } else { ErrorKind::Other };
        Err(EngineError::failed_transaction(kind, true))
    }

    fn rollback(&mut self) -> Result<()> {
        (self.is_doomed, self.is_begun) = (false, false);
        self.forget_ahead();
        match self.connection.state {
            TransactionState::Idle => Ok(()),
            TransactionState::Open | TransactionState::Failed => self.connection.end("ROLLBACK").map(|_| ()),
        }
    }

    /// Explains a statement by the plan that suits all values of the parameters.
    fn plan(&mut self, sql: &str) -> Result<Vec<String>> {
        const NAME: &str = "bourse_plan";
        let text = DIALECT.fill(sql);
        let parameters = (1..).take_while(|number| text.contains(&format!("${number}"))).count();
        let nulls = vec!["NULL"; parameters].join(", ");
        let values = if parameters == 0 { String::new() } else { format!("({nulls})") };
        let named = |e: EngineError| e.with_statement(sql);
        self.send_ahead()?;
        self.connection.run(&format!("PREPARE {NAME} AS {text}")).map_err(named)?;
        let explained = self
            .connection
            .run("SET plan_cache_mode = force_generic_plan")
            .and_then(|()| self.connection.names(&format!("EXPLAIN (COSTS OFF) EXECUTE {NAME}{values}")));
        if self.connection.state != TransactionState::Failed {
            self.connection.run(&format!("RESET plan_cache_mode; DEALLOCATE {NAME}"))?;
        }
        explained
    }

    fn query_text(&mut self, sql: &str, params: &[Value<'_>], each: &mut EachRow<'_>) -> Result<()> {
        self.execute_each(sql, params, each).map(|_| ())
    }

    fn execute_text(&mut self, sql: &str, params: &[Value<'_>]) -> Result<u64> {
        self.execute_each(sql, params, &mut |_| Ok(()))
    }
}

impl PostgresSession {
    fn execute_each(&mut self, sql: &str, params: &[Value<'_>], each: &mut EachRow<'_>) -> Result<u64> {
        self.refuse_doomed()?;
        let done = self.send_ahead().and_then(|()| self.run_text(sql, params, each));
        self.settled(done, sql)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commands_tag_says_how_many_rows() {
        for (tag, expected) in
            [("UPDATE 3\0", 3), ("INSERT 0 12\0", 12), ("BEGIN\0", 0), ("CREATE TABLE\0", 0), ("", 0)]
        {
            assert_eq!(rows(tag.as_bytes()), expected, "{tag}");
        }
    }

    #[test]
    fn a_type_is_declared_where_the_servers_choice_does_not_hold_the_value() {
        use crate::value::oid::{INT4, INT8, NUMERIC, TEXT};
        let chosen = [INT4, TEXT, NUMERIC, INT4];
        let given = [Value::Int(5), Value::Int(5), Value::Int(5), Value::Decimal { units: 1, scale: 1 }];
        assert_eq!(declare(&chosen, &given), [INT4, INT8, NUMERIC, NUMERIC]);
    }
}
