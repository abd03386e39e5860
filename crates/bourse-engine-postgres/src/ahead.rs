//! Statements that are sent ahead of the one whose answer is awaited, and their answers.

use crate::session::rows;
use crate::wire::{Connection, Message};
use bourse_engine::{EngineError, ErrorKind, Sql};

/// Statements that go out with the next one whose answer is awaited.
#[derive(Default)]
pub(crate) struct Ahead {
    /// A transaction is to be opened before them.
    pub(crate) begin: Option<&'static str>,
    pub(crate) changes: Vec<&'static Sql>,
}

impl Ahead {
    /// How many answers come before that of the statement that is awaited.
    pub(crate) fn answers(&self) -> usize {
        usize::from(self.begin.is_some()) + self.changes.len()
    }

    /// The text of answer number `at`; `None` where it is no longer one of these.
    pub(crate) fn text(&self, at: usize) -> Option<&'static str> {
        match (self.begin, at) {
            (Some(begin), 0) => Some(begin),
            (begin, at) => self.changes.get(at - usize::from(begin.is_some())).map(|sql| sql.text()),
        }
    }
}

/// Answers to what was sent ahead, as they come before others.
pub(crate) struct Answers {
    pub(crate) ahead: Ahead,
    pub(crate) at: usize,
}

impl Answers {
    /// Takes a message that answers something sent ahead; whether it did.
    #[inline]
    pub(crate) fn take(&mut self, connection: &Connection, message: &Message) -> Result<bool, EngineError> {
        if self.at == self.ahead.answers() {
            return Ok(false);
        }
        if message.kind != b'C' {
            return Ok(true);
        }
        let is_begin = self.at == 0 && self.ahead.begin.is_some();
        let changed = rows(connection.body(message));
        if !is_begin && changed != 1 {
            return Err(EngineError::new(ErrorKind::Other, format!("expected a change of 1 row, found {changed}")));
        }
        self.at += 1;
        Ok(true)
    }

    /// Names the statement of an error, if it was one of these.
    pub(crate) fn named<T>(&self, done: Result<T, EngineError>) -> Result<T, EngineError> {
        done.map_err(|e| match self.ahead.text(self.at) {
            Some(text) => e.with_statement(text),
            None => e,
        })
    }
}
