//! The model as a subject of verification.

use crate::model::market::Market;
use crate::transactions::{Output, Request};
use bourse_egen::driver::Database;
use bourse_egen::txn::TradeRequest;
use bourse_egen::{Inputs, Part};
use bourse_engine::Result;
use bourse_oltp::verify::{Cell, MODEL, OutputValue, Performance, RowKey, Subject, value};
use bourse_schema::{Table, Timestamp};

/// A brokerage house in memory, without a database. A clone is made faster than a new one.
#[derive(Clone)]
pub struct Model {
    market: Market,
}

impl Model {
    /// Name of the model in place of a target.
    pub const NAME: &'static str = MODEL;

    /// A model with the initial database of a part.
    pub fn new(inputs: &Inputs, part: Part) -> Self {
        let database = Database::of(part.total_customers(), part.scale_factor(), part.days());
        Self { market: Market::load(inputs, part, database.first_free_trade()) }
    }

    /// Performs a transaction and returns its output, with the orders that it sent to the market.
    pub fn answer(&mut self, request: &Request, now: Timestamp) -> (Output, Vec<TradeRequest>) {
        self.market.tables.settle();
        let mut sent = Vec::new();
        let output = self.output(request, now, &mut sent);
        (output, sent)
    }

    fn output(&mut self, request: &Request, now: Timestamp, sent: &mut Vec<TradeRequest>) -> Output {
        let market = &mut self.market;
        match request {
            Request::BrokerVolume(input) => Output::BrokerVolume(market.broker_volume(input)),
            Request::CustomerPosition(input) => Output::CustomerPosition(Box::new(market.customer_position(input))),
            Request::MarketFeed(input) => Output::MarketFeed(market.market_feed(input, now, sent)),
            Request::MarketWatch(input) => Output::MarketWatch(market.market_watch(input)),
            Request::SecurityDetail(input) => Output::SecurityDetail(Box::new(market.security_detail(input))),
            Request::TradeLookup(input) => Output::TradeLookup(market.trade_lookup(input)),
            Request::TradeOrder(input) => Output::TradeOrder(Box::new(market.trade_order(input, now, sent))),
            Request::TradeResult(input) => Output::TradeResult(market.trade_result(input, now)),
            Request::TradeStatus(input) => Output::TradeStatus(market.trade_status(input)),
            Request::TradeUpdate(input) => Output::TradeUpdate(market.trade_update(input)),
            Request::DataMaintenance(input) => Output::DataMaintenance(market.data_maintenance(input, now)),
            Request::TradeCleanup(input) => Output::TradeCleanup(market.trade_cleanup(input, now)),
        }
    }
}

impl Subject<Request> for Model {
    fn name(&self) -> &str {
        Self::NAME
    }

    fn perform(&mut self, request: &Request, now: Timestamp) -> Performance {
        let (output, sent) = self.answer(request, now);
        let outcome = Ok(OutputValue::of(output.status().code(), &output));
        Performance { outcome, sent: sent.iter().map(value).collect() }
    }

    fn changed(&self) -> Vec<RowKey> {
        self.market.tables.changed()
    }

    fn row(&mut self, key: &RowKey) -> Result<Option<Vec<Cell>>> {
        Ok(self.market.tables.row(key))
    }

    fn each_row(&mut self, table: &'static Table, each: &mut dyn FnMut(&[Cell])) -> Result<()> {
        self.market.tables.each_row(table, each);
        Ok(())
    }
}
