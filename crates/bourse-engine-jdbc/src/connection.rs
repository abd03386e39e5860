//! A connection: its prepared statements, found by number, and their execution.

use crate::bridge::{Bridge, CallReply};
use crate::machine::{BridgeMethod, BridgeRef};
use crate::wire::put_params;
use bourse_engine::{
    EachFound, EachRow, EngineError, ErrorKind, Params, Result, RowExt as _, Runs, Slots, split_parameters,
};

/// Number of statements that are prepared for a single run.
pub(crate) const TEXT: usize = 0;

/// Prepared statement, which the machine has under the same number.
struct PreparedStatement {
    /// Number of the caller's value for each parameter.
    order: Vec<usize>,
    /// Number of values that the caller passes.
    wanted: usize,
    /// Column names of a query.
    names: Vec<String>,
}

/// Connection, closed when it is dropped.
pub(crate) struct JdbcConnection {
    bridge: Bridge,
    statements: Slots<PreparedStatement>,
    /// Offsets of a row's values in the buffer.
    starts: Vec<usize>,
}

impl JdbcConnection {
    pub(crate) fn new(bridge: Bridge) -> Self {
        Self { bridge, statements: Slots::default(), starts: Vec::new() }
    }

    pub(crate) fn bridge(&mut self) -> &mut Bridge {
        &mut self.bridge
    }

    pub(crate) fn object(&self) -> BridgeRef {
        self.bridge.object()
    }

    /// Whether a statement is prepared.
    #[inline]
    pub(crate) fn has(&self, number: usize) -> bool {
        self.statements.get(number).is_some()
    }

    /// Makes every statement be prepared again at its next use.
    pub(crate) fn forget(&mut self) {
        self.statements.clear();
    }

    /// Prepares a statement under a number; its parameters are `?1`, `?2`, … or a plain `?` each.
    ///
    /// # Errors
    /// The driver's.
    pub(crate) fn prepare(&mut self, number: usize, text: &str) -> Result<()> {
        *self.statements.place(number) = None;
        let (pieces, order) = split_parameters(text.trim());
        let slot = slot(number)?;
        self.bridge.call_with_texts(BridgeMethod::Prepare, &[&pieces.join("?")], [slot, 0])?;
        let mut told = self.bridge.reader();
        let (_, columns) = (told.number()?, told.number()?);
        let names = (0..columns).map(|_| told.text().map(|name| as_written(&name))).collect::<Result<_, _>>()?;
        let wanted = order.iter().max().map_or(0, |most| most + 1);
        *self.statements.place(number) = Some(PreparedStatement { order, wanted, names });
        Ok(())
    }

    #[inline]
    fn put(&mut self, number: usize, params: Params<'_>) -> Result<()> {
        let Some(prepared) = self.statements.get(number) else { return Err(not_prepared()) };
        if params.len() != prepared.wanted {
            return Err(miscounted(prepared.wanted, params.len()));
        }
        let message = self.bridge.message();
        let [first, second] = params.lists();
        let value = |&at: &usize| first.get(at).unwrap_or_else(|| &second[at - first.len()]);
        put_params(message, prepared.order.len(), prepared.order.iter().map(value).copied());
        Ok(())
    }

    /// Runs a prepared statement.
    ///
    /// # Errors
    /// The driver's; missing values.
    #[inline]
    pub(crate) fn run(&mut self, number: usize, params: Params<'_>, only_first: bool) -> Result<CallReply> {
        self.put(number, params)?;
        self.bridge.send(BridgeMethod::Run, [slot(number)?, i32::from(only_first)])
    }

    /// Passes the rows of the statement that was run last to `each`, and counts them; a change has none.
    ///
    /// # Errors
    /// The driver's; that of `each`, which ends the query.
    #[inline]
    pub(crate) fn each(&mut self, number: usize, mut reply: CallReply, each: &mut EachRow<'_>) -> Result<u64> {
        let mut found = 0;
        if !reply.is_query() {
            return Ok(found);
        }
        loop {
            let Self { bridge, statements, starts, .. } = self;
            let Some(prepared) = statements.get(number) else { return Err(not_prepared()) };
            let mut reader = bridge.reader();
            let handed = (0..reply.count()).try_for_each(|_| each(&reader.row(&prepared.names, starts)?));
            found += u64::from(reply.count());
            if !reply.has_more() {
                return handed.map(|()| found);
            }
            if let Err(stopped) = handed {
                self.bridge.call(BridgeMethod::Cancel, [0; 2])?;
                return Err(stopped);
            }
            reply = self.bridge.call(BridgeMethod::Fetch, [0; 2])?;
        }
    }

    /// Runs a prepared statement for each set of parameters; `each` gets the first row of each run.
    ///
    /// # Errors
    /// The driver's; that of `each`.
    pub(crate) fn run_each(
        &mut self,
        number: usize,
        Runs { params, width }: Runs<'_>,
        each: Option<&mut EachFound<'_>>,
    ) -> Result<()> {
        let Some(prepared) = self.statements.get(number) else { return Err(not_prepared()) };
        if width != prepared.wanted {
            return Err(miscounted(prepared.wanted, width));
        }
        let message = self.bridge.message();
        let runs = params.chunks_exact(width);
        let count = i32::try_from(runs.len()).map_err(|_| EngineError::unsupported("more than 2^31 runs at once"))?;
        for values in runs {
            put_params(message, prepared.order.len(), prepared.order.iter().map(|&at| values[at]));
        }
        let reply = self.bridge.send(BridgeMethod::Each, [slot(number)?, count])?;
        if let Some(each) = each {
            let Self { bridge, statements, starts, .. } = self;
            let Some(prepared) = statements.get(number) else { return Err(not_prepared()) };
            let mut reader = bridge.reader();
            for _ in 0..reply.count() {
                let run = reader.number()? as usize;
                each(run, &reader.row(&prepared.names, starts)?)?;
            }
        }
        match params.len() % width {
            0 => Ok(()),
            rest => Err(miscounted(width, rest)),
        }
    }

    /// Runs a text without parameters; returns the number of rows changed.
    ///
    /// # Errors
    /// The driver's, with the statement.
    pub(crate) fn execute_text(&mut self, sql: &str) -> Result<u64> {
        let done = self.prepare(TEXT, sql).and_then(|()| self.run(TEXT, Params::NONE, false));
        done.map(|reply| reply.count().into()).map_err(|e| e.with_statement(sql))
    }

    /// Runs a query without parameters.
    ///
    /// # Errors
    /// The driver's, with the statement; that of `each`.
    pub(crate) fn query_text(&mut self, sql: &str, each: &mut EachRow<'_>) -> Result<()> {
        let ran = self.prepare(TEXT, sql).and_then(|()| self.run(TEXT, Params::NONE, false));
        let reply = ran.map_err(|e| e.with_statement(sql))?;
        self.each(TEXT, reply, each).map(|_| ())
    }

    /// Integer that a query returns.
    ///
    /// # Errors
    /// Those of [`JdbcConnection::query_text`].
    pub(crate) fn number(&mut self, sql: &str) -> Result<i64> {
        let mut number = 0;
        self.query_text(sql, &mut |row| {
            number = row.get(0)?;
            Ok(())
        })?;
        Ok(number)
    }
}

/// Number of a statement as the machine's integer type.
#[inline]
fn slot(number: usize) -> Result<i32> {
    i32::try_from(number).map_err(|_| EngineError::unsupported("more than 2^31 statements"))
}

/// Name of a column as a statement writes it: an unquoted one is returned in capital letters.
fn as_written(name: &str) -> String {
    let is_folded = !name.chars().any(char::is_lowercase);
    if is_folded { name.to_lowercase() } else { name.to_owned() }
}

#[cold]
fn not_prepared() -> EngineError {
    EngineError::new(ErrorKind::Other, "the statement is not prepared")
}

#[cold]
fn miscounted(wanted: usize, given: usize) -> EngineError {
    EngineError::new(ErrorKind::Other, format!("the statement has {wanted} parameters, {given} were given"))
}
