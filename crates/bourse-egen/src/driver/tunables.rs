//! Parameters of the customers' inputs, with the specification's values as defaults (EGen `TDriverCETxnSettings`).
//!
//! A run with other values is a different workload; [`Tunables::is_default`] detects it.

use super::config::ConfigError;
use super::mix::Mix;

/// All parameters of the customers' inputs; in percent unless stated otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tunables {
    /// Parameters of Customer-Position.
    pub customer_position: CustomerPositionTunables,
    /// Parameters of Market-Watch.
    pub market_watch: MarketWatchTunables,
    /// Parameters of Security-Detail.
    pub security_detail: SecurityDetailTunables,
    /// Parameters of Trade-Lookup.
    pub trade_lookup: TradeLookupTunables,
    /// Parameters of Trade-Order.
    pub trade_order: TradeOrderTunables,
    /// Parameters of Trade-Update.
    pub trade_update: TradeUpdateTunables,
    /// Number of cards of each transaction.
    pub mix: Mix,
}

/// Parameters of Customer-Position: identification of the customer, and extent of the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CustomerPositionTunables {
    /// Customers identified by customer id.
    pub by_customer_id: u32,
    /// Customers identified by tax id; with the above 100.
    pub by_tax_id: u32,
    /// Requests for an account's history.
    pub get_history: u32,
}

impl Default for CustomerPositionTunables {
    fn default() -> Self {
        Self { by_customer_id: 50, by_tax_id: 50, get_history: 50 }
    }
}

/// Parameters of Market-Watch: the watched securities; the three make 100.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MarketWatchTunables {
    /// Requests for an account's holdings.
    pub by_account: u32,
    /// Requests for an industry's companies.
    pub by_industry: u32,
    /// Requests for a customer's watch list.
    pub by_watch_list: u32,
}

impl Default for MarketWatchTunables {
    fn default() -> Self {
        Self { by_account: 35, by_industry: 5, by_watch_list: 60 }
    }
}

/// Parameters of Security-Detail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SecurityDetailTunables {
    /// Requests for the news' bodies.
    pub lob_access: u32,
}

impl Default for SecurityDetailTunables {
    fn default() -> Self {
        Self { lob_access: 1 }
    }
}

/// Parameters of Trade-Lookup: choice of the frame, and distance from the end of the initial trades.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TradeLookupTunables {
    /// Share of frames 1 to 4; the four make 100.
    pub frame: [u32; 4],
    /// Maximum rows of frames 1 to 4, at most 20 each.
    pub max_rows: [u32; 4],
    /// Minimum distance in seconds of trading from the start of frames 2 to 4 to the end of the initial trades.
    pub back_off_s: [u32; 3],
}

impl Default for TradeLookupTunables {
    fn default() -> Self {
        Self { frame: [30, 30, 30, 10], max_rows: [20; 4], back_off_s: [115_200, 12_000, 30_000] }
    }
}

/// Parameters of Trade-Order: kind of orders, and executor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TradeOrderTunables {
    /// Market orders.
    pub market: u32,
    /// Limit orders; with the above 100.
    pub limit: u32,
    /// Stop-loss orders, as a share of the limit orders that sell.
    pub stop_loss: u32,
    /// Security named by company and issue.
    pub by_name: u32,
    /// Security named by symbol; with the above 100.
    pub by_symbol: u32,
    /// Orders that buy.
    pub buy: u32,
    /// Orders that sell; with the above 100.
    pub sell: u32,
    /// Orders that close the newest lots first.
    pub lifo: u32,
    /// Orders placed by the account's owner, of all; 60 to 100 are meaningful, as 60 in 100 accounts have no other
    /// executor.
    pub executor_is_owner: u32,
    /// Orders rolled back on purpose: the number of orders out of the mix's level of Trade-Order.
    pub roll_back: u32,
    /// Orders on margin, of all.
    pub margin: u32,
}

impl Default for TradeOrderTunables {
    fn default() -> Self {
        Self {
            market: 60,
            limit: 40,
            stop_loss: 50,
            by_name: 40,
            by_symbol: 60,
            buy: 50,
            sell: 50,
            lifo: 35,
            executor_is_owner: 90,
            roll_back: 1,
            margin: 8,
        }
    }
}

/// Parameters of Trade-Update: choice of the frame, and distance from the end of the initial trades.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TradeUpdateTunables {
    /// Share of frames 1 to 3; the three make 100.
    pub frame: [u32; 3],
    /// Maximum rows of frames 1 to 3, at most 20 each.
    pub max_rows: [u32; 3],
    /// Maximum changes of frames 1 to 3, at most 20 each.
    pub max_updates: [u32; 3],
    /// Minimum distance in seconds of trading from the start of frames 2 and 3 to the end of the initial trades.
    pub back_off_s: [u32; 2],
}

impl Default for TradeUpdateTunables {
    fn default() -> Self {
        Self { frame: [33, 33, 34], max_rows: [20; 3], max_updates: [20; 3], back_off_s: [115_200, 12_000] }
    }
}

/// Maximum number of trades of a frame of Trade-Lookup or Trade-Update (Clauses 3.3.6, 3.3.10).
pub const MAX_TRADES: u32 = 20;

impl Tunables {
    /// Whether every parameter has the specification's value.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Refuses parameters that the reference refuses, and an empty mix.
    ///
    /// # Errors
    /// [`ConfigError`] with the first parameter that is out of its range, or whose sum with its siblings is not 100.
    pub fn check(&self) -> Result<(), ConfigError> {
        let position = &self.customer_position;
        parts_of_100(
            "customer-position",
            &[("by customer id", position.by_customer_id), ("by tax id", position.by_tax_id)],
        )?;
        percent("customer-position get history", position.get_history)?;

        let watch = &self.market_watch;
        parts_of_100(
            "market-watch",
            &[
                ("by account", watch.by_account),
                ("by industry", watch.by_industry),
                ("by watch list", watch.by_watch_list),
            ],
        )?;
        percent("security-detail large object access", self.security_detail.lob_access)?;

        let lookup = &self.trade_lookup;
        let [one, two, three, four] = lookup.frame;
        parts_of_100("trade-lookup", &[("frame 1", one), ("frame 2", two), ("frame 3", three), ("frame 4", four)])?;
        rows("trade-lookup rows", &lookup.max_rows)?;

        let order = &self.trade_order;
        parts_of_100("trade-order", &[("market", order.market), ("limit", order.limit)])?;
        parts_of_100("trade-order", &[("by name", order.by_name), ("by symbol", order.by_symbol)])?;
        parts_of_100("trade-order", &[("buy", order.buy), ("sell", order.sell)])?;
        percent("trade-order stop loss", order.stop_loss)?;
        percent("trade-order LIFO", order.lifo)?;
        percent("trade-order executor is owner", order.executor_is_owner)?;
        percent("trade-order margin", order.margin)?;

        let update = &self.trade_update;
        let [one, two, three] = update.frame;
        parts_of_100("trade-update", &[("frame 1", one), ("frame 2", two), ("frame 3", three)])?;
        rows("trade-update rows", &update.max_rows)?;
        rows("trade-update changes", &update.max_updates)?;

        self.mix.check()
    }
}

fn percent(knob: &'static str, value: u32) -> Result<(), ConfigError> {
    if value > 100 { Err(ConfigError::Percent { knob, value }) } else { Ok(()) }
}

fn parts_of_100(transaction: &'static str, parts: &[(&'static str, u32)]) -> Result<(), ConfigError> {
    if parts.iter().map(|&(_, part)| u64::from(part)).sum::<u64>() == 100 {
        return Ok(());
    }
    let parts = parts.iter().map(|(name, part)| format!("{name} {part}")).collect::<Vec<_>>().join(" + ");
    Err(ConfigError::Sum { transaction, parts })
}

fn rows(knob: &'static str, values: &[u32]) -> Result<(), ConfigError> {
    match values.iter().position(|&value| value > MAX_TRADES) {
        Some(at) => Err(ConfigError::Rows { knob, frame: at + 1, value: values[at] }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(change: impl FnOnce(&mut Tunables), expected: &str) {
        let mut tunables = Tunables::default();
        change(&mut tunables);
        assert!(!tunables.is_default());
        let outcome = tunables.check().map_or_else(|error| error.to_string(), |()| String::new());
        assert_eq!(outcome, expected);
    }

    #[test]
    fn the_defaults_are_valid() {
        assert_eq!(Tunables::default().check(), Ok(()));
        assert!(Tunables::default().is_default());
    }

    #[test]
    fn what_is_out_of_range_is_named() {
        check(
            |t| t.customer_position.by_tax_id = 60,
            "customer-position percentages must sum to 100: by customer id 50 + by tax id 60",
        );
        check(
            |t| t.customer_position.get_history = 101,
            "customer-position get history is 101, a percentage is 0 to 100",
        );
        check(
            |t| t.market_watch.by_account = 0,
            "market-watch percentages must sum to 100: by account 0 + by industry 5 + by watch list 60",
        );
        check(
            |t| t.trade_lookup.frame = [u32::MAX, 100, 1, 0],
            "trade-lookup percentages must sum to 100: frame 1 4294967295 + frame 2 100 + frame 3 1 + frame 4 0",
        );
        check(
            |t| t.trade_lookup.max_rows[2] = 21,
            "trade-lookup rows of frame 3 is 21, a frame takes at most 20 trades",
        );
        check(
            |t| t.trade_update.max_updates[0] = 50,
            "trade-update changes of frame 1 is 50, a frame takes at most 20 trades",
        );
        check(|t| t.trade_order.buy = 49, "trade-order percentages must sum to 100: buy 49 + sell 50");
        check(|t| t.trade_order.margin = 200, "trade-order margin is 200, a percentage is 0 to 100");
    }

    #[test]
    fn other_valid_values_are_taken() {
        check(|t| t.trade_order.executor_is_owner = 0, "");
        check(|t| t.trade_order.roll_back = 50, "");
        check(|t| t.trade_lookup.max_rows = [0; 4], "");
        check(|t| t.trade_update.frame = [0, 0, 100], "");
    }
}
