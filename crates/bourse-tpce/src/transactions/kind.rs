//! The twelve kinds of transaction, and the specification's demands on each.

use super::*;
use bourse_engine::{Access, Isolation, Sql};
use serde::{Deserialize, Serialize};
use std::fmt;

/// A kind of transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[expect(missing_docs, reason = "each is documented at its file")]
pub enum Transaction {
    BrokerVolume,
    CustomerPosition,
    MarketFeed,
    MarketWatch,
    SecurityDetail,
    TradeLookup,
    TradeOrder,
    TradeResult,
    TradeStatus,
    TradeUpdate,
    DataMaintenance,
    TradeCleanup,
}

impl Transaction {
    /// All twelve, in the order of Clause 3.3.
    pub const ALL: [Self; 12] = [
        Self::BrokerVolume,
        Self::CustomerPosition,
        Self::MarketFeed,
        Self::MarketWatch,
        Self::SecurityDetail,
        Self::TradeLookup,
        Self::TradeOrder,
        Self::TradeResult,
        Self::TradeStatus,
        Self::TradeUpdate,
        Self::DataMaintenance,
        Self::TradeCleanup,
    ];

    /// Names of all twelve, in the same order.
    pub const NAMES: [&'static str; 12] = {
        let mut names = [""; 12];
        let mut at = 0;
        while at < names.len() {
            names[at] = Self::ALL[at].name();
            at += 1;
        }
        names
    };

    /// Its name in the specification.
    pub const fn name(self) -> &'static str {
        match self {
            Self::BrokerVolume => "Broker-Volume",
            Self::CustomerPosition => "Customer-Position",
            Self::MarketFeed => "Market-Feed",
            Self::MarketWatch => "Market-Watch",
            Self::SecurityDetail => "Security-Detail",
            Self::TradeLookup => "Trade-Lookup",
            Self::TradeOrder => "Trade-Order",
            Self::TradeResult => "Trade-Result",
            Self::TradeStatus => "Trade-Status",
            Self::TradeUpdate => "Trade-Update",
            Self::DataMaintenance => "Data-Maintenance",
            Self::TradeCleanup => "Trade-Cleanup",
        }
    }

    /// Required isolation from other transactions (Clause 7.4.1.3). Trade-Cleanup, for which none is required, runs alone.
    pub const fn isolation(self) -> Isolation {
        match self {
            Self::TradeResult => Isolation::Serializable,
            Self::TradeOrder | Self::MarketFeed | Self::TradeUpdate => Isolation::RepeatableRead,
            Self::BrokerVolume
            | Self::CustomerPosition
            | Self::MarketWatch
            | Self::SecurityDetail
            | Self::TradeLookup
            | Self::TradeStatus
            | Self::DataMaintenance
            | Self::TradeCleanup => Isolation::ReadCommitted,
        }
    }

    /// Access of the transaction: reading only, or writing.
    pub const fn access(self) -> Access {
        match self {
            Self::TradeOrder
            | Self::TradeResult
            | Self::MarketFeed
            | Self::TradeUpdate
            | Self::DataMaintenance
            | Self::TradeCleanup => Access::Write,
            Self::BrokerVolume
            | Self::CustomerPosition
            | Self::MarketWatch
            | Self::SecurityDetail
            | Self::TradeLookup
            | Self::TradeStatus => Access::Read,
        }
    }

    /// The statements of its frames, to examine their plans. Statements that it shares with others are in
    /// [`shared_statements`].
    pub fn statements(self) -> &'static [&'static Sql] {
        match self {
            Self::BrokerVolume => broker_volume::STATEMENTS,
            Self::CustomerPosition => customer_position::STATEMENTS,
            Self::MarketFeed => market_feed::STATEMENTS,
            Self::MarketWatch => market_watch::STATEMENTS,
            Self::SecurityDetail => security_detail::STATEMENTS,
            Self::TradeLookup => trade_lookup::STATEMENTS,
            Self::TradeOrder => trade_order::STATEMENTS,
            Self::TradeResult => trade_result::STATEMENTS,
            Self::TradeStatus => trade_status::STATEMENTS,
            Self::TradeUpdate => trade_update::STATEMENTS,
            Self::DataMaintenance => data_maintenance::STATEMENTS,
            Self::TradeCleanup => trade_cleanup::STATEMENTS,
        }
    }
}

impl fmt::Display for Transaction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The statements that several transactions use.
pub fn shared_statements() -> impl Iterator<Item = &'static Sql> {
    [context::STATEMENTS, positions::STATEMENTS, rates::STATEMENTS, trades::STATEMENTS].into_iter().flatten().copied()
}

/// The statements that only [routines](bourse_engine::Routine) of the server run, in addition to those of the transactions.
pub fn routine_statements() -> impl Iterator<Item = &'static Sql> {
    routines::STATEMENTS.iter().flat_map(|list| list.iter().copied())
}
