//! The brokerage house in the driver's own process: transactions on the user's own session.

use super::{Answer, BegunRound, BrokerageHouse, Connector, OpenError, Sut, Terms};
use crate::aged::PendingOrder;
use crate::check::reconciliation::AcknowledgedCommits;
use crate::transactions::{Request, Retry, SendToMarket, TxnError};
use bourse_driver::{Clock, OperationCx};
use bourse_engine::{Engine, EngineError};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

/// Driver and database in one process.
pub struct InProcess<'e> {
    engine: &'e dyn Engine,
    house: Mutex<Option<Arc<BrokerageHouse>>>,
}

impl<'e> InProcess<'e> {
    /// A system under test on `engine`, in this process.
    pub fn new(engine: &'e dyn Engine) -> Self {
        Self { engine, house: Mutex::new(None) }
    }
}

impl Sut for InProcess<'_> {
    fn engine(&self) -> &dyn Engine {
        self.engine
    }

    fn open(&self, terms: &Terms, clock: &dyn Clock, _: &AtomicBool) -> Result<BegunRound, OpenError> {
        let (house, opened) = BrokerageHouse::open(self.engine, terms.part, clock)?;
        *self.house.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(house));
        Ok(opened)
    }

    fn place(
        &self,
        orders: &[PendingOrder],
        clock: &dyn Clock,
        interrupt: &AtomicBool,
    ) -> Result<AcknowledgedCommits, OpenError> {
        let mut house = self.house.lock().unwrap_or_else(PoisonError::into_inner);
        let house = house.as_mut().and_then(Arc::get_mut).expect("a round is opened, and nobody has a connector");
        house.place(self.engine, orders, clock, interrupt)
    }

    fn connector(&self) -> Result<Box<dyn Connector>, EngineError> {
        let house = self.house.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Ok(house.expect("a round is opened before anybody is seated").connector())
    }

    fn pending_orders(&self) -> Result<u64, EngineError> {
        BrokerageHouse::pending_orders(self.engine)
    }
}

/// Performs transactions on the session that the driver has given the user.
pub(super) struct OwnSession {
    pub(super) house: Arc<BrokerageHouse>,
}

impl Connector for OwnSession {
    fn perform(
        &mut self,
        cx: &mut OperationCx<'_>,
        request: &Request,
        market: &dyn SendToMarket,
    ) -> Result<Answer, TxnError> {
        let OperationCx { connection, backoff } = cx;
        let back_off = |attempt| backoff.back_off(attempt);
        let retry = Retry { attempts: backoff.attempts(), back_off: &back_off };
        let session = connection.sql().map_err(|error| TxnError {
            transaction: request.transaction(),
            frame: None,
            attempts: 0,
            cause: error.into(),
        })?;
        self.house.perform(session, backoff.clock(), retry, request, market)
    }
}
