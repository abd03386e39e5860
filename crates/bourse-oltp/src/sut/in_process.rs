//! The system in the driver's own process: transactions on the user's own session.

use super::{Connector, RoundBegin, RunError, SharedWorkload, Sut, Terms};
use bourse_driver::Clock;
use bourse_engine::{Engine, Result};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Driver and database in one process.
pub struct InProcess<'e, W: SharedWorkload> {
    engine: &'e dyn Engine,
    state: Mutex<Option<Arc<W::State>>>,
}

impl<'e, W: SharedWorkload> InProcess<'e, W> {
    /// A system under test on `engine`, in this process.
    pub fn new(engine: &'e dyn Engine) -> Self {
        Self { engine, state: Mutex::new(None) }
    }

    /// Sets the state of a round that was opened otherwise.
    pub fn set_state(&self, state: W::State) {
        *self.state() = Some(Arc::new(state));
    }

    fn state(&self) -> MutexGuard<'_, Option<Arc<W::State>>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<W: SharedWorkload> Sut<W> for InProcess<'_, W> {
    fn engine(&self) -> &dyn Engine {
        self.engine
    }

    fn open(&self, terms: &Terms, clock: &dyn Clock, _: &AtomicBool) -> Result<RoundBegin<W>, RunError> {
        let (state, begun) = W::open(self.engine, &terms.size, clock)?;
        self.set_state(state);
        Ok(begun)
    }

    fn change_state(&self, change: &mut dyn FnMut(&mut W::State)) -> bool {
        self.state().as_mut().and_then(Arc::get_mut).map(change).is_some()
    }

    fn connector(&self) -> Result<Connector<W>> {
        let state = self.state().clone();
        Ok(Connector::OnSession(state.expect("a round is opened before its users are made")))
    }
}
