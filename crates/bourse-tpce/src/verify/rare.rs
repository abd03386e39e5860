//! Requests that customers of the emulator never make, or hardly ever: orders by people without permission, and orders that
//! meet rare rows. Some bugs show in these alone.

use crate::transactions::Request;
use bourse_egen::txn::{TradeOrder, TradeResult, TradeType};
use bourse_schema::{AccountId, Price, Quantity, Text, TradeId};

/// A request, and the cents by which its order is executed above the market's price at the same moment; `None` leaves an
/// order to the market.
pub(super) type RareRequest = (Request, Option<i64>);

/// Derives rare requests from customers' orders: deterministic.
#[derive(Debug, Default)]
pub(super) struct RareRequests {
    orders: usize,
    /// The order before.
    last: Option<TradeOrder>,
    /// The last order by another person than the account's owner.
    by_another: Option<TradeOrder>,
}

impl RareRequests {
    /// Orders per request that is refused.
    const REFUSED: usize = 4;
    /// Orders per request that meets rare rows.
    const PLAYED: usize = 40;

    /// The requests that follow an order.
    pub(super) fn after(&mut self, order: &TradeOrder) -> Vec<RareRequest> {
        self.orders += 1;
        let mut asked = Vec::new();
        if self.orders.is_multiple_of(Self::REFUSED) {
            asked.push((self.refused(self.orders / Self::REFUSED, order), None));
        }
        if self.orders % Self::PLAYED == Self::PLAYED / 2 {
            asked.extend(self.played(self.orders / Self::PLAYED, order));
        }
        if !order.executor_is_account_owner {
            self.by_another = Some(order.clone());
        }
        self.last = Some(order.clone());
        asked
    }

    /// A request that must be refused; the kinds alternate.
    fn refused(&self, turn: usize, order: &TradeOrder) -> Request {
        let order = TradeOrder { roll_it_back: false, ..order.clone() };
        let (nobody, no_tax_id) = (|| Text::cut("Nobody"), Text::cut("000ZZ0000ZZ000"));
        match turn % 8 {
            0 => TradeOrder { acct_id: AccountId(1), ..order }.into(),
            1 => {
                TradeOrder { exec_f_name: nobody(), exec_l_name: Text::cut("Nowhere"), exec_tax_id: no_tax_id, ..order }
                    .into()
            }
            // A person who may order for another account.
            2 | 6 => {
                let stranger = self.by_another.as_ref().unwrap_or(&order);
                TradeOrder {
                    exec_f_name: stranger.exec_f_name,
                    exec_l_name: stranger.exec_l_name,
                    exec_tax_id: stranger.exec_tax_id,
                    ..order
                }
                .into()
            }
            3 => TradeOrder { exec_tax_id: no_tax_id, ..order }.into(),
            4 => TradeOrder { exec_f_name: nobody(), ..order }.into(),
            5 => TradeOrder { exec_l_name: Text::cut("Nowhere"), ..order }.into(),
            _ => TradeResult { trade_id: TradeId(1), trade_price: Price::from_units(2_500) }.into(),
        }
    }

    /// Orders of one account for one security, which it may not have held before, most of them executed at the same moment:
    /// lots that are equally old, positions that become zero or turn from long to short, odd lots, sales on margin, limits
    /// of more digits than a cent has, and so many shares that the balance takes more digits than a single-precision number
    /// has.
    fn played(&self, turn: usize, order: &TradeOrder) -> Vec<RareRequest> {
        use TradeType::{LimitBuy, LimitSell, MarketBuy, MarketSell, StopLoss};
        let listed = self.last.as_ref().unwrap_or(order);
        let base = TradeOrder {
            symbol: listed.symbol,
            co_name: listed.co_name,
            issue: listed.issue,
            roll_it_back: false,
            ..order.clone()
        };
        let lifo = !turn.is_multiple_of(2);
        let at_once = |trade_type, trade_qty: Quantity, is_lifo, type_is_margin, cents| {
            let order = TradeOrder { trade_type, trade_qty, is_lifo, type_is_margin, ..base.clone() };
            (Request::from(order), Some(cents))
        };
        let waits = |trade_type, requested_price| {
            let order = TradeOrder { trade_type, requested_price, type_is_margin: false, ..base.clone() };
            (Request::from(order), None)
        };
        vec![
            at_once(MarketBuy, 100, lifo, false, 0),
            at_once(MarketBuy, 200, lifo, false, 7),
            at_once(MarketSell, 150, lifo, false, 113),
            at_once(MarketSell, 150, !lifo, true, -50),
            at_once(MarketSell, 300, lifo, false, 11),
            at_once(MarketSell, 77, lifo, false, 3),
            at_once(MarketBuy, 400, lifo, false, -213),
            at_once(MarketBuy, 1, lifo, true, 1),
            at_once(MarketSell, 24, !lifo, false, 259),
            at_once(MarketBuy, 9_999, lifo, false, 1),
            at_once(MarketBuy, 9_998, lifo, false, 2),
            at_once(MarketSell, 19_997, lifo, false, 331),
            waits(LimitBuy, 20.006_9),
            waits(LimitSell, 29.993_1),
            waits(StopLoss, 20.017_2),
            waits(LimitBuy, 21.158_9),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verify::Stream;
    use bourse_egen::Inputs;
    use bourse_egen::driver::Database;
    use std::collections::BTreeSet;

    /// Every kind of rare request comes in as many orders as a sample has.
    #[test]
    fn a_sample_has_every_rare_request() {
        let inputs = Inputs::builtin();
        let mut stream = Stream::new(&inputs, Database::of(1_000, 500, 1), 1, 2).expect("a valid database");
        let (mut rare, mut refused, mut played) = (RareRequests::default(), BTreeSet::new(), BTreeSet::new());
        for _ in 0..1_000 {
            let Request::TradeOrder(order) = stream.next_step().request else { continue };
            for (request, at_once) in rare.after(&order) {
                let Request::TradeOrder(asked) = request else {
                    refused.insert("an unknown trade");
                    continue;
                };
                let is_first_name = asked.exec_f_name == order.exec_f_name;
                let is_last_name = asked.exec_l_name == order.exec_l_name;
                let is_tax_id = asked.exec_tax_id == order.exec_tax_id;
                let kind = match (is_first_name, is_last_name, is_tax_id) {
                    _ if asked.acct_id != order.acct_id => "an unknown account",
                    (true, true, true) => {
                        played.insert((asked.trade_type.id(), at_once, asked.trade_qty, asked.type_is_margin));
                        continue;
                    }
                    (true, true, false) => "another tax id",
                    (false, true, true) => "another first name",
                    (true, false, true) => "another last name",
                    _ if asked.exec_f_name.as_str() == "Nobody" => "nobody",
                    _ => "a person of another account",
                };
                refused.insert(kind);
            }
        }
        assert_eq!(refused.len(), 7, "{refused:?}");
        assert!(played.len() >= 15, "{played:?}");
    }
}
