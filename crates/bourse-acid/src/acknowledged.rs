//! The driver's own log of acknowledged transactions: each is reported as soon as its commit has returned.

use bourse_engine::{Access, Engine, Isolation, Params, Result, Session, Sql, Value, Wrapper, forward_session};
use bourse_oltp::acid::AcknowledgedKind;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// Commit that was acknowledged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Acknowledgement {
    /// Word of its kind.
    pub word: String,
    /// Key of the row that recognises it.
    pub key: Vec<i64>,
}

impl fmt::Display for Acknowledgement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.word)?;
        self.key.iter().try_for_each(|number| write!(f, " {number}"))
    }
}

impl FromStr for Acknowledgement {
    type Err = ();

    fn from_str(line: &str) -> Result<Self, ()> {
        let (word, numbers) = line.split_once(' ').ok_or(())?;
        let key = numbers.split(' ').map(str::parse).collect::<Result<_, _>>().map_err(|_| ())?;
        Ok(Self { word: word.to_owned(), key })
    }
}

/// Callback for each acknowledgement, on the thread of the session that got it.
pub type AcknowledgementListener = Arc<dyn Fn(Acknowledgement) + Send + Sync>;

/// Engine that reports acknowledged transactions to a listener.
pub struct AcknowledgingEngine<'e> {
    inner: &'e dyn Engine,
    kinds: &'static [AcknowledgedKind],
    listener: AcknowledgementListener,
}

impl<'e> AcknowledgingEngine<'e> {
    /// Wraps `inner`, with `listener` called for each acknowledged transaction of these kinds.
    pub fn new(inner: &'e dyn Engine, kinds: &'static [AcknowledgedKind], listener: AcknowledgementListener) -> Self {
        Self { inner, kinds, listener }
    }
}

impl Wrapper for AcknowledgingEngine<'_> {
    fn inner(&self) -> &dyn Engine {
        self.inner
    }
    fn wrap(&self, inner: Box<dyn Session>) -> Box<dyn Session> {
        let (kinds, listener) = (self.kinds, Arc::clone(&self.listener));
        Box::new(ReportingSession { inner, kinds, listener, written: Vec::new() })
    }
}

struct ReportingSession {
    inner: Box<dyn Session>,
    kinds: &'static [AcknowledgedKind],
    listener: AcknowledgementListener,
    /// Rows written by the open transaction, reported at its commit.
    written: Vec<Acknowledgement>,
}

impl Session for ReportingSession {
    forward_session!(inner: dialect, query, plan, query_text, execute_text);
    fn begin(&mut self, isolation: Isolation, access: Access) -> Result<()> {
        self.written.clear();
        self.inner.begin(isolation, access)
    }
    fn execute(&mut self, sql: &'static Sql, params: Params<'_>) -> Result<u64> {
        let changed = self.inner.execute(sql, params)?;
        let text = sql.text().trim_start();
        if let Some(kind) = self.kinds.iter().find(|kind| text.starts_with(kind.statement)) {
            let number = |value| if let Value::Int(number) = value { Some(number) } else { None };
            let key = params.iter().take(kind.keys).filter_map(number).collect();
            self.written.push(Acknowledgement { word: kind.word.to_owned(), key });
        }
        Ok(changed)
    }
    fn commit(&mut self) -> Result<()> {
        self.inner.commit()?;
        self.written.drain(..).for_each(|it| (self.listener)(it));
        Ok(())
    }
    fn rollback(&mut self) -> Result<()> {
        self.written.clear();
        self.inner.rollback()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_as_it_was_written() {
        for key in [vec![7], vec![200_000_000_000_001], vec![1, 10, 3_001]] {
            let told = Acknowledgement { word: "result".to_owned(), key };
            assert_eq!(told.to_string().parse(), Ok(told));
        }
        assert!("result".parse::<Acknowledgement>().is_err());
        assert!("result 7 x".parse::<Acknowledgement>().is_err());
    }
}
