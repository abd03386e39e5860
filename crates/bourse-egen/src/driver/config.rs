//! Database that an emulator draws requests for, and the checks of a configuration.

use crate::ids;
use bourse_schema::TradeId;
use thiserror::Error;

/// Invalid configuration of an emulator.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ConfigError {
    /// A percentage over 100.
    #[error("{knob} is {value}, a percentage is 0 to 100")]
    Percent {
        /// Name of the parameter.
        knob: &'static str,
        /// Value of the parameter.
        value: u32,
    },
    /// Percentages that belong together do not sum to 100.
    #[error("{transaction} percentages must sum to 100: {parts}")]
    Sum {
        /// Name of the transaction.
        transaction: &'static str,
        /// The parts as given.
        parts: String,
    },
    /// A limit of rows that exceeds a frame's maximum.
    #[error("{knob} of frame {frame} is {value}, a frame takes at most 20 trades")]
    Rows {
        /// Name of the parameter.
        knob: &'static str,
        /// Number of the frame, from 1.
        frame: usize,
        /// Value of the parameter.
        value: u32,
    },
    /// A mix whose levels are all 0.
    #[error("every level of the mix is 0: nothing would ever be asked")]
    EmptyMix,
    /// A mix whose levels sum to more than a deck can hold.
    #[error("the levels of the mix sum to {total}, a deck holds at most {limit} cards")]
    LargeMix {
        /// Sum of the levels.
        total: u64,
        /// Maximum of the sum.
        limit: u64,
    },
    /// A number of customers that is not a multiple of a load unit.
    #[error("{configured} configured customers: a positive multiple of 1000 is needed")]
    Configured {
        /// Customers as given.
        configured: i64,
    },
    /// Active customers that exceed the configured ones, or are fewer than one load unit.
    #[error("{active} active customers: 1000 to the {configured} configured ones are needed")]
    Active {
        /// Active customers as given.
        active: i64,
        /// Configured customers.
        configured: i64,
    },
    /// Too few initial trades to draw twenty different ones.
    #[error(
        "{days} initial trade days at scale factor {scale_factor} make {trades} trades, at least {least} are needed"
    )]
    Trades {
        /// Initial trade days as given.
        days: i64,
        /// Scale factor as given.
        scale_factor: i64,
        /// Trades they make.
        trades: i64,
        /// Minimum number of trades.
        least: i64,
    },
    /// A number that must be positive is not.
    #[error("{knob} is {value}, a positive number is needed")]
    Positive {
        /// Name of the number.
        knob: &'static str,
        /// Value of the number.
        value: i64,
    },
    /// A partition that is not made of load units of the active customers.
    #[error(
        "partition of {count} customers from {first} on: whole load units among the {active} active customers are needed"
    )]
    Partition {
        /// First customer, as an ordinal from 1.
        first: i64,
        /// Customers.
        count: i64,
        /// Active customers.
        active: i64,
    },
}

/// Database that the emulators draw requests for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Database {
    /// Customers that the database was built for: they determine which companies and securities accounts can hold.
    pub configured_customers: i64,
    /// Customers that are loaded and trade.
    pub active_customers: i64,
    /// Customers per nominal Trade-Result a second.
    pub scale_factor: i64,
    /// Days of eight hours of initial trades.
    pub initial_trade_days: i64,
}

impl Default for Database {
    /// The specification's smallest database: 5,000 customers, 300 days.
    fn default() -> Self {
        Self { configured_customers: 5_000, active_customers: 5_000, scale_factor: 500, initial_trade_days: 300 }
    }
}

impl Database {
    /// Minimum number of initial trades from which twenty different ones can be drawn in good time.
    const LEAST_TRADES: i64 = 100;

    /// A database all of whose customers are active.
    pub const fn of(customers: i64, scale_factor: i64, initial_trade_days: i64) -> Self {
        Self { configured_customers: customers, active_customers: customers, scale_factor, initial_trade_days }
    }

    /// Refuses configurations that the reference refuses, and those without trades to refer to.
    ///
    /// # Errors
    /// [`ConfigError`] with the number at fault.
    pub fn check(&self) -> Result<(), ConfigError> {
        let Self { configured_customers: configured, active_customers: active, .. } = *self;
        if configured < 1_000 || configured % 1_000 != 0 {
            return Err(ConfigError::Configured { configured });
        }
        if active < 1_000 || active > configured {
            return Err(ConfigError::Active { active, configured });
        }
        positive("the scale factor", self.scale_factor)?;
        positive("the number of initial trade days", self.initial_trade_days)?;
        let trades = self.last_trade();
        if trades < Self::LEAST_TRADES {
            return Err(ConfigError::Trades {
                days: self.initial_trade_days,
                scale_factor: self.scale_factor,
                trades,
                least: Self::LEAST_TRADES,
            });
        }
        Ok(())
    }

    /// Seconds of trading in the initial trades: eight hours a day.
    pub(crate) const fn trading_s(&self) -> i64 {
        self.initial_trade_days * 28_800
    }

    /// First trade id after those of the initial trades, from which Trade-Cleanup searches for unfinished ones.
    ///
    /// Like the reference this divides the customers by the scale factor before it multiplies, so that the number is
    /// below the first trade of a run if the division has a remainder. This is harmless: initial trades are all
    /// completed.
    pub const fn first_free_trade(&self) -> TradeId {
        let a_second = self.configured_customers / self.scale_factor;
        TradeId(self.trading_s() * a_second * 101 / 100 + 1 + ids::TRADE_SHIFT)
    }

    /// Last initial trade's number, without shift, as the customers compute it.
    ///
    /// They divide by the scale factor after multiplying, Trade-Cleanup before ([`super::maintenance`]): the two differ
    /// if the division has a remainder, and both follow the reference.
    pub(crate) const fn last_trade(&self) -> i64 {
        self.trading_s() * self.active_customers / self.scale_factor * 101 / 100
    }
}

fn positive(knob: &'static str, value: i64) -> Result<(), ConfigError> {
    if value > 0 { Ok(()) } else { Err(ConfigError::Positive { knob, value }) }
}

/// Customers that one emulator mostly draws requests for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Partition {
    /// First customer, as an ordinal from 1.
    pub first: i64,
    /// Customers.
    pub count: i64,
    /// Percentage of requests for a customer of the partition; the others are for any active customer.
    pub percent: u32,
}

impl Partition {
    /// Refuses a partition that does not consist of whole load units of the active customers.
    ///
    /// # Errors
    /// [`ConfigError::Partition`] or [`ConfigError::Percent`].
    pub fn check(&self, database: &Database) -> Result<(), ConfigError> {
        let Self { first, count, percent } = *self;
        let active = database.active_customers;
        let whole = first >= 1 && first % 1_000 == 1 && count >= 1_000 && count % 1_000 == 0;
        if !whole || first.checked_add(count - 1).is_none_or(|last| last > active) {
            return Err(ConfigError::Partition { first, count, active });
        }
        if percent > 100 {
            return Err(ConfigError::Percent { knob: "the partition's share of requests", value: percent });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(database: Database, expected: &str) {
        let outcome = database.check().map_or_else(|error| error.to_string(), |()| String::new());
        assert_eq!(outcome, expected);
    }

    #[test]
    fn databases() {
        check(Database::default(), "");
        check(Database::of(1_000, 500, 1), "");
        check(Database::of(1_500, 500, 1), "1500 configured customers: a positive multiple of 1000 is needed");
        check(Database::of(0, 500, 1), "0 configured customers: a positive multiple of 1000 is needed");
        check(
            Database { active_customers: 6_000, ..Database::default() },
            "6000 active customers: 1000 to the 5000 configured ones are needed",
        );
        check(Database::of(1_000, 0, 1), "the scale factor is 0, a positive number is needed");
        check(Database::of(1_000, 500, -1), "the number of initial trade days is -1, a positive number is needed");
        check(
            Database::of(1_000, 1_000_000, 1),
            "1 initial trade days at scale factor 1000000 make 28 trades, at least 100 are needed",
        );
    }

    #[test]
    fn partitions() {
        let database = Database { configured_customers: 10_000, ..Database::default() };
        let of = |first, count, percent| Partition { first, count, percent }.check(&database).is_ok();
        assert!(of(1_001, 2_000, 50));
        assert!(of(1, 5_000, 0));
        assert!(of(4_001, 1_000, 100));
        assert!(!of(4_001, 2_000, 50), "beyond the active customers");
        assert!(!of(2, 1_000, 50));
        assert!(!of(1, 500, 50));
        assert!(!of(-999, 1_000, 50));
        assert!(!of(1, i64::MAX - 807, 50));
        assert!(!of(1, 1_000, 101));
    }
}
