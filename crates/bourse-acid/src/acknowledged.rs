//! The driver's own log of acknowledged orders and results: each is reported as soon as its commit has returned.

use bourse_engine::{Access, Engine, EngineError, Isolation, Params, Session, Sql, Value, Wrapper, forward_session};
use bourse_schema::TradeId;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// Commit that was acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Acknowledgement {
    /// Commit of a Trade-Order.
    Order(TradeId),
    /// Commit of a Trade-Result.
    Result(TradeId),
}

impl fmt::Display for Acknowledgement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Order(trade) => write!(f, "order {trade}"),
            Self::Result(trade) => write!(f, "result {trade}"),
        }
    }
}

impl FromStr for Acknowledgement {
    type Err = ();

    fn from_str(line: &str) -> Result<Self, ()> {
        let (what, number) = line.split_once(' ').ok_or(())?;
        let trade = TradeId(number.parse().map_err(|_| ())?);
        match what {
            "order" => Ok(Self::Order(trade)),
            "result" => Ok(Self::Result(trade)),
            _ => Err(()),
        }
    }
}

/// Callback for each acknowledgement, on the thread of the session that got it.
pub type AcknowledgementListener = Arc<dyn Fn(Acknowledgement) + Send + Sync>;

/// Engine that reports acknowledged trades to a listener. It recognizes them by rows that only Trade-Order and Trade-Result
/// write.
pub struct AcknowledgingEngine<'e> {
    inner: &'e dyn Engine,
    listener: AcknowledgementListener,
}

impl<'e> AcknowledgingEngine<'e> {
    /// Wraps `inner`, with `listener` called for each acknowledged trade.
    pub fn new(inner: &'e dyn Engine, listener: AcknowledgementListener) -> Self {
        Self { inner, listener }
    }
}

impl Wrapper for AcknowledgingEngine<'_> {
    fn inner(&self) -> &dyn Engine {
        self.inner
    }
    fn wrap(&self, inner: Box<dyn Session>) -> Box<dyn Session> {
        Box::new(ReportingSession { inner, listener: Arc::clone(&self.listener), written: Vec::new() })
    }
}

struct ReportingSession {
    inner: Box<dyn Session>,
    listener: AcknowledgementListener,
    /// Trades written by the open transaction, reported at its commit.
    written: Vec<Acknowledgement>,
}

impl Session for ReportingSession {
    forward_session!(inner: dialect, query, plan, query_text, execute_text);
    fn begin(&mut self, isolation: Isolation, access: Access) -> Result<(), EngineError> {
        self.written.clear();
        self.inner.begin(isolation, access)
    }
    fn execute(&mut self, sql: &'static Sql, params: Params<'_>) -> Result<u64, EngineError> {
        let changed = self.inner.execute(sql, params)?;
        if let Some(Value::Int(id)) = params.first() {
            let text = sql.text().trim_start();
            if text.starts_with("INSERT INTO trade (") {
                self.written.push(Acknowledgement::Order(TradeId(id)));
            } else if text.starts_with("INSERT INTO settlement (") {
                self.written.push(Acknowledgement::Result(TradeId(id)));
            }
        }
        Ok(changed)
    }
    fn commit(&mut self) -> Result<(), EngineError> {
        self.inner.commit()?;
        self.written.drain(..).for_each(|it| (self.listener)(it));
        Ok(())
    }
    fn rollback(&mut self) -> Result<(), EngineError> {
        self.written.clear();
        self.inner.rollback()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_as_it_was_written() {
        for told in [Acknowledgement::Order(TradeId(7)), Acknowledgement::Result(TradeId(200_000_000_000_001))] {
            assert_eq!(told.to_string().parse(), Ok(told));
        }
        assert!("result".parse::<Acknowledgement>().is_err());
        assert!("trade 7".parse::<Acknowledgement>().is_err());
    }
}
