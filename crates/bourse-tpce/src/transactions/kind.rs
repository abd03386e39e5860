//! The twelve kinds of transaction, and the specification's demands on each.

use super::*;
use bourse_engine::{Access, Isolation, Sql};
use serde::{Deserialize, Serialize};

bourse_engine::named! {
    /// A kind of transaction, in the order of Clause 3.3.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[expect(missing_docs, reason = "each is documented at its file")]
    pub enum Transaction {
        BrokerVolume = "Broker-Volume",
        CustomerPosition = "Customer-Position",
        MarketFeed = "Market-Feed",
        MarketWatch = "Market-Watch",
        SecurityDetail = "Security-Detail",
        TradeLookup = "Trade-Lookup",
        TradeOrder = "Trade-Order",
        TradeResult = "Trade-Result",
        TradeStatus = "Trade-Status",
        TradeUpdate = "Trade-Update",
        DataMaintenance = "Data-Maintenance",
        TradeCleanup = "Trade-Cleanup",
    }
}

impl Transaction {
    /// Names of all twelve in the specification.
    pub const NAMES: [&'static str; 12] = {
        let mut names = [""; 12];
        let mut at = 0;
        while at < names.len() {
            names[at] = Self::ALL[at].name();
            at += 1;
        }
        names
    };

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

/// The statements that several transactions use.
pub fn shared_statements() -> impl Iterator<Item = &'static Sql> {
    [context::STATEMENTS, positions::STATEMENTS, rates::STATEMENTS, trades::STATEMENTS].into_iter().flatten().copied()
}

/// The statements that only [routines](bourse_engine::Routine) of the server run, in addition to those of the transactions.
pub fn routine_statements() -> impl Iterator<Item = &'static Sql> {
    routines::STATEMENTS.iter().flat_map(|list| list.iter().copied())
}
