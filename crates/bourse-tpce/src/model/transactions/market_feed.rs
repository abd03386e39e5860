//! Market-Feed (Clause 3.3.3).

use super::status;
use crate::model::market::Market;
use crate::transactions::Status;
use crate::transactions::market_feed::MarketFeedOutput;
use bourse_egen::TradeType;
use bourse_egen::txn::{MarketFeed, TickerEntry, TradeAction, TradeRequest};
use bourse_schema::Timestamp;

impl Market {
    pub(crate) fn market_feed(
        &mut self,
        input: &MarketFeed,
        now: Timestamp,
        sent: &mut Vec<TradeRequest>,
    ) -> MarketFeedOutput {
        let mut output = MarketFeedOutput { status: Status::SUCCESS, num_updated: 0, send_len: 0 };
        for entry in &input.entries {
            let Some(last) = self.tables.last_trade.change(&(entry.symbol,)) else { continue };
            last.lt_price = entry.price_quote;
            last.lt_vol += i64::from(entry.trade_qty);
            last.lt_dts = now;
            output.num_updated += 1;
            for order in self.triggered(entry) {
                self.tables.trade_request.remove(&(order.trade_id,));
                self.move_trade(order.trade_id, now, status("SBMT"));
                self.add_history(order.trade_id, now, status("SBMT"));
                sent.push(order);
                output.send_len += 1;
            }
        }
        output.status.raise_if(output.num_updated < input.unique_symbols, -311);
        output
    }

    /// Limit orders whose price a ticker entry reaches.
    fn triggered(&self, entry: &TickerEntry) -> Vec<TradeRequest> {
        let mut orders = Vec::new();
        for row in self.tables.trade_request.all().filter(|row| row.tr_s_symb == entry.symbol) {
            let trade_type = TradeType::from_id(row.tr_tt_id.as_str()).expect("every order has a type");
            let reached = match trade_type {
                TradeType::StopLoss | TradeType::LimitBuy => row.tr_bid_price >= entry.price_quote,
                TradeType::LimitSell => row.tr_bid_price <= entry.price_quote,
                TradeType::MarketBuy | TradeType::MarketSell => false,
            };
            if reached {
                orders.push(TradeRequest {
                    action: TradeAction::ProcessOrder,
                    trade_id: row.tr_t_id,
                    trade_type,
                    symbol: row.tr_s_symb,
                    trade_qty: row.tr_qty,
                    price_quote: row.tr_bid_price,
                });
            }
        }
        orders
    }
}
