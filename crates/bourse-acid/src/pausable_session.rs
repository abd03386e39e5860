//! A session that halts at a chosen point: before the commit of its transaction, or after a statement that is identified by a
//! part of its text. There it waits for a command: to continue, to fail, or to vanish as a killed client does.

use bourse_engine::{
    Access, Dialect, EachRow, EngineError, ErrorKind, Isolation, Params, Result, RowExt as _, Session, Sql, Value,
    one_line,
};
use bourse_oltp::acid::{HaltPlace, HaltPoint};
use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};

/// Command to a halted session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HaltCommand {
    /// Continue.
    GoOn,
    /// Fail, so that the transaction is rolled back.
    GiveUp,
    /// Close the connection without a message, with the transaction open.
    Vanish,
}

/// Event that a session reports.
#[derive(Debug)]
pub(crate) enum SessionEvent<T> {
    /// The session has halted at its point.
    Halted(Halt),
    /// The transaction has ended.
    Ended(T),
}

/// Statement that a session halted at, and the row it read there.
#[derive(Debug, Clone)]
pub(crate) struct Halt {
    pub(crate) statement: String,
    /// Columns of the first row, with their names.
    pub(crate) read: Vec<String>,
}

/// Statement that a session is executing, visible to other threads while it waits.
pub(crate) type StatementInProgress = Arc<Mutex<Option<&'static str>>>;

/// Code of an error that a command caused.
pub(crate) const ON_PURPOSE: &str = "ON_PURPOSE";

pub(crate) struct PausableSession<T> {
    /// Wrapped session; `None` once it has vanished.
    inner: Option<Box<dyn Session>>,
    dialect: &'static Dialect,
    pub(crate) point: Option<HaltPoint>,
    says: Sender<SessionEvent<T>>,
    words: Receiver<HaltCommand>,
    doing: StatementInProgress,
}

impl<T> PausableSession<T> {
    pub(crate) fn new(
        inner: Box<dyn Session>,
        says: Sender<SessionEvent<T>>,
        words: Receiver<HaltCommand>,
        doing: StatementInProgress,
    ) -> Self {
        Self { dialect: inner.dialect(), inner: Some(inner), point: None, says, words, doing }
    }

    fn inner(&mut self) -> Result<&mut Box<dyn Session>> {
        self.inner.as_mut().ok_or_else(|| EngineError::new(ErrorKind::ConnectionLost, "the client is gone"))
    }

    fn is_at(&self, place: &HaltPlace) -> bool {
        self.point.is_some_and(|point| point.place == *place)
    }

    /// Whether the point is after this statement.
    fn is_after(&self, sql: &Sql) -> bool {
        match self.point {
            Some(HaltPoint { place: HaltPlace::After(part), .. }) => one_line(sql.text()).contains(part),
            _ => false,
        }
    }

    /// Halts once, until a command arrives. If the receiver is gone the transaction is undone.
    fn halt(&mut self, statement: String, read: Vec<String>) -> Result<()> {
        self.point = None;
        let told = match self.says.send(SessionEvent::Halted(Halt { statement, read })) {
            Ok(()) => self.words.recv().unwrap_or(HaltCommand::GiveUp),
            Err(_) => HaltCommand::GiveUp,
        };
        match told {
            HaltCommand::GoOn => Ok(()),
            HaltCommand::GiveUp => {
                self.inner()?.rollback()?;
                Err(EngineError::new(ErrorKind::Other, "told to give up").with_code(ON_PURPOSE))
            }
            HaltCommand::Vanish => {
                self.inner = None;
                Err(EngineError::new(ErrorKind::ConnectionLost, "told to vanish").with_code(ON_PURPOSE))
            }
        }
    }

    fn now_in(&self, statement: Option<&'static str>) {
        *self.doing.lock().unwrap_or_else(PoisonError::into_inner) = statement;
    }
}

impl<T: Send> Session for PausableSession<T> {
    fn dialect(&self) -> &'static Dialect {
        self.dialect
    }
    fn begin(&mut self, isolation: Isolation, access: Access) -> Result<()> {
        self.now_in(Some("BEGIN"));
        self.inner()?.begin(isolation, access)
    }
    fn query(&mut self, sql: &'static Sql, params: Params<'_>, each: &mut EachRow<'_>) -> Result<()> {
        self.now_in(Some(sql.text()));
        if !self.is_after(sql) {
            return self.inner()?.query(sql, params, each);
        }
        let text = one_line(sql.text());
        let mut read = Vec::new();
        self.inner()?.query(sql, params, &mut |row| {
            if read.is_empty() {
                let column = |at| format!("{} = {}", row.column_name(at).unwrap_or_default(), row.value(at));
                read = (0..row.columns()).map(column).collect();
            }
            each(row)
        })?;
        self.halt(text, read)
    }
    fn execute(&mut self, sql: &'static Sql, params: Params<'_>) -> Result<u64> {
        self.now_in(Some(sql.text()));
        let changed = self.inner()?.execute(sql, params)?;
        if self.is_after(sql) {
            self.halt(one_line(sql.text()), Vec::new())?;
        }
        Ok(changed)
    }
    fn commit(&mut self) -> Result<()> {
        if self.is_at(&HaltPlace::Commit) {
            self.halt("COMMIT".to_owned(), Vec::new())?;
        }
        self.now_in(Some("COMMIT"));
        self.inner()?.commit()
    }
    fn rollback(&mut self) -> Result<()> {
        match &mut self.inner {
            Some(inner) => inner.rollback(),
            None => Ok(()),
        }
    }
    fn query_text(&mut self, sql: &str, params: &[Value<'_>], each: &mut EachRow<'_>) -> Result<()> {
        self.inner()?.query_text(sql, params, each)
    }
    fn execute_text(&mut self, sql: &str, params: &[Value<'_>]) -> Result<u64> {
        self.inner()?.execute_text(sql, params)
    }
}
