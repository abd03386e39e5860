//! The brokerage house in one of several processes: another process has opened the round, counts the trades and starts all
//! processes together.

use super::{BrokerageHouse, Connector, OpenError, Opened, Sut, Terms};
use crate::transactions::TradeIds;
use bourse_driver::{Clock, Nanos};
use bourse_engine::{Engine, EngineError};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

/// Waits for the start of all processes: called when this one is ready, it returns the time of the start.
pub type Start<'s> = dyn Fn(&dyn Clock) -> Result<Nanos, OpenError> + Sync + 's;

/// Driver and engine in one of several processes that have the database open.
pub struct Joined<'e> {
    engine: &'e dyn Engine,
    opened: Opened,
    trade_ids: Mutex<Option<TradeIds>>,
    sessions_elsewhere: usize,
    start: &'e Start<'e>,
    house: Mutex<Option<Arc<BrokerageHouse>>>,
}

impl<'e> Joined<'e> {
    /// Joins the round that was opened on `engine`, with the numbers of trades that all processes share.
    pub fn new(
        engine: &'e dyn Engine,
        opened: Opened,
        trade_ids: TradeIds,
        sessions_elsewhere: usize,
        start: &'e Start<'e>,
    ) -> Self {
        let trade_ids = Mutex::new(Some(trade_ids));
        Self { engine, opened, trade_ids, sessions_elsewhere, start, house: Mutex::new(None) }
    }
}

impl Sut for Joined<'_> {
    fn engine(&self) -> &dyn Engine {
        self.engine
    }

    fn open(&self, terms: &Terms, _: &dyn Clock, _: &AtomicBool) -> Result<Opened, OpenError> {
        let trade_ids = self.trade_ids.lock().unwrap_or_else(PoisonError::into_inner).take();
        let trade_ids = trade_ids.ok_or_else(|| OpenError::Refused("its round has been run".to_owned()))?;
        let house = BrokerageHouse::join(self.engine, terms.part, trade_ids, self.opened.before)?;
        *self.house.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(house));
        Ok(self.opened.clone())
    }

    fn connector(&self) -> Result<Box<dyn Connector>, EngineError> {
        let house = self.house.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Ok(house.expect("a round is opened before anybody is seated").connector())
    }

    fn sessions_elsewhere(&self) -> usize {
        self.sessions_elsewhere
    }

    fn begin(&self, clock: &dyn Clock) -> Result<Nanos, OpenError> {
        (self.start)(clock)
    }

    fn pending_orders(&self) -> Result<u64, EngineError> {
        BrokerageHouse::pending_orders(self.engine)
    }
}
