//! Statements sent together with a later one whose answer is awaited, and their answers.

use crate::session::rows;
use crate::wire::{WireConnection, WireMessage};
use bourse_engine::{EngineError, ErrorKind, Result, Sql};

/// Statements to be sent with the next one whose answer is awaited.
#[derive(Default)]
pub(crate) struct StatementsAhead {
    /// Statement that opens a transaction before them, if needed.
    pub(crate) begin: Option<&'static str>,
    pub(crate) changes: Vec<&'static Sql>,
}

impl StatementsAhead {
    /// Number of answers before that of the awaited statement.
    pub(crate) fn answers(&self) -> usize {
        usize::from(self.begin.is_some()) + self.changes.len()
    }

    /// Text of the statement of answer number `at`; `None` for a later answer.
    pub(crate) fn text(&self, at: usize) -> Option<&'static str> {
        match (self.begin, at) {
            (Some(begin), 0) => Some(begin),
            (begin, at) => self.changes.get(at - usize::from(begin.is_some())).map(|sql| sql.text()),
        }
    }
}

/// Answers to statements sent ahead, which arrive before others.
pub(crate) struct AnswersAhead {
    pub(crate) ahead: StatementsAhead,
    pub(crate) at: usize,
}

impl AnswersAhead {
    /// Processes a message if it answers a statement sent ahead; returns whether it does.
    #[inline]
    pub(crate) fn take(&mut self, connection: &WireConnection, message: &WireMessage) -> Result<bool> {
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

    /// Adds the statement to an error, if it was one of these.
    pub(crate) fn named<T>(&self, done: Result<T>) -> Result<T> {
        done.map_err(|e| match self.ahead.text(self.at) {
            Some(text) => e.with_statement(text),
            None => e,
        })
    }
}
