//! The transactions of a run, one after the other, in simulated time.

use super::Step;
use super::rare::{RareRequest, RareRequests};
use crate::transactions::{Request, Transaction};
use bourse_egen::Inputs;
use bourse_egen::driver::{
    ConfigError, CustomerConfig, CustomerEmulator, Database, MaintenanceEmulator, MarketConfig, MarketExchange, Seeds,
    UnknownSymbol,
};
use bourse_egen::txn::{TradeAction, TradeRequest, TradeResult};
use bourse_oltp::planted;
use bourse_oltp::verify::Script;
use bourse_schema::{Date, Price, Timestamp};
use serde::Deserialize as _;
use serde_json::Value;
use std::collections::VecDeque;
use std::time::Duration;

/// Begin of simulated time: a working day after all that databases are loaded with.
pub const START: Timestamp = Timestamp::at(Date::from_ymd(2026, 1, 5), 9 * 3_600_000);
/// Milliseconds between two Data-Maintenances (Clause 3.3.11).
const MAINTENANCE_MS: i64 = 60_000;

/// Customers, market and maintenance merged into one sequence, the same for the same seed and the same orders sent.
#[derive(Debug)]
pub struct Stream<'i> {
    customers: CustomerEmulator<'i>,
    market: MarketExchange<'i>,
    maintenance: MaintenanceEmulator<'i>,
    /// Requests of the market not yet performed, and rare requests.
    waiting: VecDeque<RareRequest>,
    rare: Option<RareRequests>,
    /// Cents above the market's price at which the order of the last step is executed immediately; `None` if that is up to
    /// the market.
    at_once: Option<i64>,
    /// Whether the last transaction has sent a market order.
    ordered: bool,
    number: u64,
    now: i64,
    requests_per_second: i64,
    asked: i64,
    next_maintenance: i64,
    next_market: Option<i64>,
}

impl<'i> Stream<'i> {
    /// The sequence of a seed on a database, with this number of customers' requests a simulated second.
    ///
    /// # Errors
    /// If the emulators cannot work with such a database.
    pub fn new(
        inputs: &'i Inputs,
        database: Database,
        seed: u64,
        requests_per_second: u32,
    ) -> Result<Self, ConfigError> {
        let [customers, market, maintenance] = [0, 1, 2].map(|id| Seeds::of_run(seed, id));
        let mut config =
            CustomerConfig { holdings_seed: Seeds::holdings_of_run(seed, 0), ..CustomerConfig::of(database) };
        if planted!(MixWithoutWatch) {
            config.tunables.mix.market_watch = 0;
        }
        Ok(Self {
            customers: CustomerEmulator::new(inputs, &config, customers.first, customers.second)?,
            market: MarketExchange::new(inputs, &MarketConfig::after(&database), market.first, market.second, START),
            maintenance: MaintenanceEmulator::new(inputs, database, maintenance.first)?,
            waiting: VecDeque::new(),
            rare: None,
            at_once: None,
            ordered: false,
            number: 0,
            now: START.millis(),
            requests_per_second: i64::from(requests_per_second.max(1)),
            asked: 0,
            next_maintenance: START.millis() + MAINTENANCE_MS,
            next_market: None,
        })
    }

    /// Adds rare requests, which no customer makes, to the same sequence.
    #[must_use]
    pub fn with_rare_requests(self) -> Self {
        Self { rare: Some(RareRequests::default()), ..self }
    }

    /// The next transaction; the first is a Trade-Cleanup.
    pub fn next_step(&mut self) -> Step {
        let request = if self.number == 0 { self.maintenance.trade_cleanup().into() } else { self.next_request() };
        self.step(request)
    }

    /// A Trade-Cleanup as the next transaction. No other may follow: the market would execute canceled orders.
    pub fn cleanup(&mut self) -> Step {
        let request = self.maintenance.trade_cleanup().into();
        self.step(request)
    }

    fn step(&mut self, request: Request) -> Step {
        self.number += 1;
        let name = request.transaction().name();
        Step { number: self.number, now: Timestamp::from_millis(self.now), name, request }
    }

    fn next_request(&mut self) -> Request {
        loop {
            if let Some((request, at_once)) = self.waiting.pop_front() {
                self.at_once = at_once;
                return request;
            }
            let next_customer = START.millis() + (self.asked + 1) * 1_000 / self.requests_per_second;
            let next_market = self.next_market.unwrap_or(i64::MAX);
            let now = next_customer.min(next_market).min(self.next_maintenance).max(self.now);
            self.now = now;
            if next_market <= now {
                let waiting = &mut self.waiting;
                let due = self
                    .market
                    .generate(Timestamp::from_millis(now), &mut |said| waiting.push_back((said.into(), None)));
                self.market_due(due);
            } else if self.next_maintenance <= now {
                self.next_maintenance += MAINTENANCE_MS;
                return self.maintenance.next().into();
            } else {
                self.asked += 1;
                let request = Request::from(self.customers.next());
                if let (Some(rare), Request::TradeOrder(order)) = (&mut self.rare, &request) {
                    self.waiting.extend(rare.after(order));
                }
                return request;
            }
        }
    }

    /// Sends the market the orders of the last transaction.
    ///
    /// # Errors
    /// If an order names a security that does not exist.
    pub fn send(&mut self, orders: &[TradeRequest]) -> Result<(), UnknownSymbol> {
        let at_once = self.at_once.take();
        self.ordered = orders.iter().any(|order| order.trade_type.is_market());
        for order in orders {
            if let (Some(cents), TradeAction::ProcessOrder) = (at_once, order.action) {
                let trade_price = Price::from_units(order.price_quote.units() + cents);
                self.waiting.push_front((TradeResult { trade_id: order.trade_id, trade_price }.into(), None));
                continue;
            }
            let waiting = &mut self.waiting;
            let now = Timestamp::from_millis(self.now);
            let due = self.market.submit(now, order, &mut |said| waiting.push_back((said.into(), None)))?;
            self.market_due(due);
        }
        Ok(())
    }

    /// Seconds after which an order placed now is sent to be executed; `None` for a triggered limit order, which was counted
    /// when it was placed.
    #[cfg(feature = "planted-bug")]
    pub(crate) fn executed_after_s(&self, order: &TradeRequest) -> Option<i64> {
        self.market.executed_after_s(Timestamp::from_millis(self.now), order).ok().flatten()
    }

    /// Milliseconds since the begin.
    #[cfg(feature = "planted-bug")]
    pub(crate) fn elapsed_ms(&self) -> u64 {
        (self.now - START.millis()).unsigned_abs()
    }

    /// The market's next transaction alone: customers and ticker tape have stopped, and their outstanding orders are
    /// executed. `None` if there are none.
    #[cfg(feature = "planted-bug")]
    pub fn next_of_drain(&mut self) -> Option<Step> {
        self.market.set_ticker_tape(false);
        loop {
            if let Some((request, _)) = self.waiting.pop_front() {
                return Some(self.step(request));
            }
            if self.market.outstanding_orders() == 0 {
                return None;
            }
            self.now = self.next_market.unwrap_or(self.now + 1).max(self.now);
            let waiting = &mut self.waiting;
            let now = Timestamp::from_millis(self.now);
            let due = self.market.generate(now, &mut |said| waiting.push_back((said.into(), None)));
            self.market_due(due);
        }
    }

    fn market_due(&mut self, due: Option<Duration>) {
        // The emulator may return "now" when nothing is due yet; time must still advance.
        self.next_market = due.map(|wait| self.now + (wait.as_millis() as i64).max(1));
    }
}

impl Script for Stream<'_> {
    type Request = Request;

    const KINDS: &'static [&'static str] = &Transaction::NAMES;

    fn next_step(&mut self) -> Step {
        self.next_step()
    }

    fn last_step(&mut self) -> Step {
        self.cleanup()
    }

    fn take(&mut self, sent: &[Value]) -> Result<(), String> {
        let orders: Result<Vec<TradeRequest>, _> = sent.iter().map(TradeRequest::deserialize).collect();
        let orders = orders.map_err(|error| error.to_string())?;
        self.send(&orders).map_err(|error| error.to_string())
    }

    /// Whether an order is on its way to the market, which Trade-Cleanup finds.
    fn may_end(&self) -> bool {
        self.ordered
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transactions::Transaction;

    /// A stream without traders has only customers and maintenance, in order of time.
    #[test]
    fn a_seed_is_a_sequence() {
        let inputs = Inputs::builtin();
        let steps = |seed| -> Vec<Step> {
            let mut stream = Stream::new(&inputs, Database::of(1_000, 500, 1), seed, 2).expect("a valid database");
            (0..200).map(|_| stream.next_step()).collect()
        };
        let first = steps(1);
        assert_eq!(first, steps(1));
        assert_ne!(first, steps(2));
        assert_eq!(first[0].request.transaction(), Transaction::TradeCleanup);
        assert!(first.is_sorted_by_key(|step| step.now));
        assert!(first.iter().map(|step| step.number).eq(1..=200));
        let maintained = first.iter().filter(|step| step.request.transaction() == Transaction::DataMaintenance);
        assert!(maintained.map(|step| step.now.millis() - START.millis()).eq([60_000]));
    }
}
