//! The connection of a user: transactions, one at a time.

use super::round::TransactionPermit;
use super::{Driver, Event, Shared, lock};
use crate::protocol::codec::{self, REPLY_BYTES, REQUEST_BYTES, Times};
use crate::protocol::reply::Reply;
use crate::wire::Wire;
use crate::{ServeError, protocol::Request};
use bourse_driver::Backoff;
use bourse_engine::{EngineError, ErrorKind};
use bourse_record::SplitMix;
use bourse_tpce::sut::Answer;
use bourse_tpce::transactions::{Retry, TxnError};
use std::cell::{Cell, RefCell};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;

/// Performs a user's requests until it disconnects or must be disconnected.
///
/// # Errors
/// The end of the connection, unless the user disconnected in good order.
pub(super) fn serve(shared: &Shared<'_>, wire: &mut Wire, driver: &Driver, seed: u64) -> Result<(), ServeError> {
    let random = Cell::new(SplitMix::new(seed));
    let owner = super::listener::random_number();
    let _release = Release { shared, owner };
    let mut frame = Vec::new();
    let mut still_wanted = || {
        if shared.stopping() || driver.gone.load(Ordering::Relaxed) {
            return Err(io::Error::new(io::ErrorKind::ConnectionAborted, "the round is over").into());
        }
        Ok(())
    };
    loop {
        // A user that sends without pause never reaches the wait, so this is checked here.
        still_wanted()?;
        let request: Request = wire.receive(REQUEST_BYTES, &mut still_wanted)?;
        let arrived = shared.clock.now();
        let (reply, engine_ns, permit) = answer(shared, driver, owner, &request, &random);
        codec::timed_frame(&reply, REPLY_BYTES, &mut frame)?;
        // The books are written, and the driver may hear of it: only now may a round be closed over this transaction.
        drop(permit);
        Times { server_ns: shared.clock.now() - arrived, engine_ns }.stamp(&mut frame);
        wire.send_frame(&frame)?;
    }
}

/// Performs a request; returns the reply, the time in the transaction in nanoseconds, and the permission under which it was
/// performed.
pub(super) fn answer(
    shared: &Shared<'_>,
    driver: &Driver,
    owner: u64,
    request: &Request,
    random: &Cell<SplitMix>,
) -> (Reply, u64, Option<TransactionPermit>) {
    let permit = lock(&driver.member).as_ref().and_then(TransactionPermit::take);
    let (reply, engine_ns) = match &permit {
        Some(permit) => perform(shared, permit, owner, request, random),
        None => (failed(request, ErrorKind::Other, "no round is open for this driver"), 0),
    };
    (reply, engine_ns, permit)
}

/// Guard that releases the connection's session at its end, also after a panic.
struct Release<'r, 's> {
    shared: &'r Shared<'s>,
    owner: u64,
}

impl Drop for Release<'_, '_> {
    fn drop(&mut self) {
        self.shared.pool.release(self.owner);
    }
}

fn failed(request: &Request, kind: ErrorKind, why: &str) -> Reply {
    refused(request, EngineError::new(kind, why))
}

fn refused(request: &Request, cause: EngineError) -> Reply {
    let error = TxnError { transaction: request.transaction(), frame: None, attempts: 1, cause: cause.into() };
    Reply { retries: 0, back_off_ns: 0, orders: Vec::new(), outcome: Err(error.into()) }
}

/// Performs a request on the next free session; also returns the time in the transaction in nanoseconds.
fn perform(
    shared: &Shared<'_>,
    permit: &TransactionPermit,
    owner: u64,
    request: &Request,
    random: &Cell<SplitMix>,
) -> (Reply, u64) {
    let clock = shared.clock;
    let mut session = match shared.pool.take(owner, || shared.stopping()) {
        Ok(session) => session,
        Err(error) => return (refused(request, error), 0),
    };
    let backoff = Backoff::new(clock, permit.retry(), random);
    let orders = RefCell::new(Vec::new());
    let begin = clock.now();
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let back_off = |attempt| backoff.back_off(attempt);
        let retry = Retry { attempts: backoff.attempts(), back_off: &back_off };
        let send = |order: &_| orders.borrow_mut().push(*order);
        permit.house().perform(session.session(), clock, retry, request, &send)
    }));
    let engine_ns = (clock.now() - begin).saturating_sub(backoff.back_off_ns());
    let reply = |outcome| {
        let (retries, back_off_ns) = (backoff.retries(), backoff.back_off_ns());
        Reply { retries, back_off_ns, orders: orders.take(), outcome }
    };
    let reply = match outcome {
        Ok(Ok(Answer { output, excused, server: _ })) => {
            permit.performed(request, output.status());
            reply(Ok((output, excused)))
        }
        Ok(Err(error)) => {
            if matches!(error.kind(), ErrorKind::ConnectionLost | ErrorKind::InDoubt) {
                permit.in_doubt(request);
            } else {
                permit.failed(request);
            }
            if error.kind() == ErrorKind::ConnectionLost {
                session.give_up();
            }
            reply(Err(error.into()))
        }
        Err(panic) => {
            permit.in_doubt(request);
            session.give_up();
            let words = panic.downcast_ref::<String>().map(String::as_str);
            let words = words.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("without words");
            (shared.tell)(Event::Panicked { words: words.to_owned() });
            failed(request, ErrorKind::ConnectionLost, "the server's thread panicked in this transaction")
        }
    };
    (reply, engine_ns)
}
