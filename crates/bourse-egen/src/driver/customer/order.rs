//! Trade-Order: choice of customer, account, security, type and price of an order.

use super::CustomerEmulator;
use crate::ids;
use crate::keys::permission_people;
use crate::txn::{TradeOrder, TradeType};
use bourse_schema::{Quantity, Symbol, Text};

/// Shares of an order.
const QUANTITIES: [Quantity; 4] = [100, 200, 400, 800];
/// Percentage of accounts for which only the owner places orders.
const WITHOUT_PERMISSIONS: i64 = 60;

impl CustomerEmulator<'_> {
    pub(super) fn trade_order(&mut self) -> TradeOrder {
        let (rng, world) = (&mut self.rng, &self.world);
        let inputs = world.inputs;
        let tunables = &self.tunables.trade_order;

        let customer = world.trading_customer(rng);
        let (acct_id, security) = world.holding_of(customer, &mut self.holdings);

        // The tunable speaks of all orders; those for accounts without permissions are the owner's anyway.
        let owner = (i64::from(tunables.executor_is_owner) - WITHOUT_PERMISSIONS) * 100 / (100 - WITHOUT_PERMISSIONS);
        let executor = match permission_people(acct_id) {
            // Of two permitted persons it is always the second.
            (first, second) if first.is_some() && !rng.percent(owner) => second.or(first),
            _ => None,
        };

        let (symbol, co_name, issue) = if rng.percent(tunables.by_symbol.into()) {
            (inputs.symbol(security), Text::EMPTY, Text::EMPTY)
        } else {
            let company = ids::company_index(inputs.issuer(security));
            (Symbol::EMPTY, inputs.company_name(company), inputs.security(security).issue)
        };

        let trade_qty = QUANTITIES[rng.below(QUANTITIES.len() as u64) as usize];
        let requested_price = rng.stepped(20.0, 30.0, 0.01);
        let is_market = rng.percent(tunables.market.into());
        let is_buy = rng.percent(tunables.buy.into());
        let trade_type = match (is_buy, is_market) {
            (true, true) => TradeType::MarketBuy,
            (true, false) => TradeType::LimitBuy,
            (false, true) => TradeType::MarketSell,
            (false, false) if rng.percent(tunables.stop_loss.into()) => TradeType::StopLoss,
            (false, false) => TradeType::LimitSell,
        };
        // Only buys are on margin, so that many more of them must be. There is no buy if none is wanted: no division by 0.
        let type_is_margin = is_buy && rng.percent(i64::from(tunables.margin) * 100 / i64::from(tunables.buy));
        let is_lifo = rng.percent(tunables.lifo.into());
        let roll_it_back = i64::from(tunables.roll_back) >= rng.range(1, self.tunables.mix.trade_order.into());

        let person = executor.unwrap_or_else(|| customer.into());
        TradeOrder {
            acct_id,
            exec_f_name: *person.first_name(inputs),
            exec_l_name: *person.last_name(inputs),
            exec_tax_id: person.tax_id(),
            symbol,
            co_name,
            issue,
            trade_type,
            trade_qty,
            requested_price,
            is_lifo,
            type_is_margin,
            roll_it_back,
            executor_is_account_owner: executor.is_none(),
        }
    }
}
