//! The transactions on a session, one at a time.

use crate::transactions::{Context, Request, Retry, TradeIds, perform};
use bourse_egen::txn::TradeRequest;
use bourse_engine::Session;
use bourse_oltp::verify::{OutputValue, Perform, Performance, value};
use bourse_schema::{Timestamp, TradeId};
use std::cell::RefCell;

/// Tries of a transaction that finds another in its way: there is none, unless another program uses the database.
const ATTEMPTS: u32 = 3;

/// The transactions, with the numbers of new trades.
#[derive(Debug)]
pub struct NumberedTransactions(TradeIds);

/// An engine's session that performs the transactions in lockstep with others.
pub type SqlSubject = bourse_oltp::verify::SqlSubject<NumberedTransactions>;

/// Creates a subject over a session, with new trades numbered from `first_free`.
pub fn sql_subject(name: impl Into<String>, session: Box<dyn Session>, first_free: TradeId) -> SqlSubject {
    SqlSubject::new(name, session, NumberedTransactions(TradeIds::starting_at(first_free)))
}

impl Perform<Request> for NumberedTransactions {
    fn perform(&mut self, session: &mut dyn Session, request: &Request, now: Timestamp) -> Performance {
        let sent: RefCell<Vec<TradeRequest>> = RefCell::default();
        let send = |order: &TradeRequest| sent.borrow_mut().push(*order);
        let context = Context {
            now: &|| now,
            trade_ids: &self.0,
            market: &send,
            retry: Retry { attempts: ATTEMPTS, back_off: &|_| true },
        };
        let outcome = perform(session, &context, request);
        let answer = |output: crate::transactions::Output| OutputValue::of(output.status().code(), &output);
        Performance {
            outcome: outcome.map(|performed| answer(performed.output)).map_err(|error| error.to_string()),
            sent: sent.into_inner().iter().map(value).collect(),
        }
    }
}
