//! The connection of a user: transactions, one at a time.

use super::round::TransactionPermit;
use super::{Driver, Event, FAREWELL, STOPPED, Shared, lock};
use crate::ServeError;
use crate::protocol::codec::{self, REPLY_BYTES, REQUEST_BYTES, Times};
use crate::protocol::{Reply, ReplyOf};
use crate::wire::Wire;
use bourse_driver::{Backoff, OperationError as _};
use bourse_engine::{EngineError, ErrorKind};
use bourse_oltp::sut::SharedWorkload;
use bourse_record::SplitMix;
use std::cell::{Cell, RefCell};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::time::Instant;

/// Performs a user's requests until it disconnects or must be disconnected.
///
/// # Errors
/// The end of the connection, unless the user disconnected in good order.
pub(super) fn serve<W: SharedWorkload>(
    shared: &Shared<'_, W>,
    wire: &mut Wire,
    driver: &Driver<W>,
    seed: u64,
) -> Result<(), ServeError> {
    let random = Cell::new(SplitMix::new(seed));
    let owner = super::listener::random_number();
    let _release = Release { shared, owner };
    let mut frame = Vec::new();
    let over = || ServeError::from(io::Error::new(io::ErrorKind::ConnectionAborted, "the round is over"));
    let mut stopped: Option<Instant> = None;
    let mut still_wanted = || {
        let is_over = match shared.stopping() {
            true => stopped.get_or_insert_with(Instant::now).elapsed() > FAREWELL,
            false => driver.gone.load(Ordering::Relaxed),
        };
        if is_over { Err(over()) } else { Ok(()) }
    };
    loop {
        // A user that sends without pause never reaches the wait, so this is checked here.
        still_wanted()?;
        let request: W::Request = wire.receive(REQUEST_BYTES, &mut still_wanted)?;
        let arrived = shared.clock.now();
        if shared.stopping() {
            // The driver's report has the reason, not a connection that broke.
            codec::timed_frame(&failed::<W>(&request, ErrorKind::ConnectionLost, STOPPED), REPLY_BYTES, &mut frame)?;
            Times { server_ns: 0, engine_ns: 0 }.stamp(&mut frame);
            wire.send_frame(&frame)?;
            return Err(over());
        }
        let (reply, engine_ns, permit) = answer(shared, driver, owner, &request, &random);
        codec::timed_frame(&reply, REPLY_BYTES, &mut frame)?;
        // The counts are written, and the driver may hear of it: only now may a round be closed over this transaction.
        drop(permit);
        Times { server_ns: shared.clock.now() - arrived, engine_ns }.stamp(&mut frame);
        wire.send_frame(&frame)?;
    }
}

/// Performs a request; returns the reply, the time in the transaction in nanoseconds, and the permission under which it was
/// performed.
pub(super) fn answer<W: SharedWorkload>(
    shared: &Shared<'_, W>,
    driver: &Driver<W>,
    owner: u64,
    request: &W::Request,
    random: &Cell<SplitMix>,
) -> (ReplyOf<W>, u64, Option<TransactionPermit<W>>) {
    let permit = lock(&driver.member).as_ref().and_then(TransactionPermit::take);
    let (reply, engine_ns) = match &permit {
        Some(permit) => perform(shared, permit, owner, request, random),
        None => (failed::<W>(request, ErrorKind::Other, "no round is open for this driver"), 0),
    };
    (reply, engine_ns, permit)
}

/// Guard that releases the connection's session at its end, also after a panic.
struct Release<'r, 's, W: SharedWorkload> {
    shared: &'r Shared<'s, W>,
    owner: u64,
}

impl<W: SharedWorkload> Drop for Release<'_, '_, W> {
    fn drop(&mut self) {
        self.shared.pool.release(self.owner);
    }
}

fn failed<W: SharedWorkload>(request: &W::Request, kind: ErrorKind, why: &str) -> ReplyOf<W> {
    refused::<W>(request, EngineError::new(kind, why))
}

fn refused<W: SharedWorkload>(request: &W::Request, cause: EngineError) -> ReplyOf<W> {
    Reply { retries: 0, back_off_ns: 0, follow_ups: Vec::new(), outcome: Err(W::error(request, cause)) }
}

/// Performs a request on the next free session; also returns the time in the transaction in nanoseconds.
fn perform<W: SharedWorkload>(
    shared: &Shared<'_, W>,
    permit: &TransactionPermit<W>,
    owner: u64,
    request: &W::Request,
    random: &Cell<SplitMix>,
) -> (ReplyOf<W>, u64) {
    let clock = shared.clock;
    let mut session = match shared.pool.take(owner, || shared.stopping()) {
        Ok(session) => session,
        Err(error) => return (refused::<W>(request, error), 0),
    };
    let backoff = Backoff::new(clock, permit.retry(), random);
    let follow_ups = RefCell::new(Vec::new());
    let begin = clock.now();
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let send = |follow_up: &W::FollowUp| follow_ups.borrow_mut().push(follow_up.clone());
        W::perform(permit.state(), session.session(), &backoff, request, &send)
    }));
    let engine_ns = (clock.now() - begin).saturating_sub(backoff.back_off_ns());
    let reply = |outcome| {
        let (retries, back_off_ns) = (backoff.retries(), backoff.back_off_ns());
        Reply { retries, back_off_ns, follow_ups: follow_ups.take(), outcome }
    };
    let reply = match outcome {
        Ok(Ok(answer)) => {
            permit.answered(request, &answer);
            reply(Ok(answer))
        }
        Ok(Err(error)) => {
            permit.failed(request, matches!(error.kind(), ErrorKind::ConnectionLost | ErrorKind::InDoubt));
            if error.kind() == ErrorKind::ConnectionLost {
                session.give_up();
            }
            reply(Err(error))
        }
        Err(panic) => {
            permit.failed(request, true);
            session.give_up();
            let words = panic.downcast_ref::<String>().map(String::as_str);
            let words = words.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("without words");
            (shared.tell)(Event::Panicked { words: words.to_owned() });
            failed::<W>(request, ErrorKind::ConnectionLost, "the server's thread panicked in this transaction")
        }
    };
    (reply, engine_ns)
}
