use bourse_schema::{StatusId, TradeTypeId};
use serde::{Deserialize, Serialize};

/// The five types of trade, in the order of the reference's numbers.
///
/// ```
/// use bourse_egen::TradeType;
/// assert_eq!(TradeType::from_id("TLB"), Some(TradeType::LimitBuy));
/// assert!(TradeType::StopLoss.is_sell() && !TradeType::StopLoss.is_market());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum TradeType {
    /// `TMB`: buy at the market's price.
    MarketBuy,
    /// `TMS`: sell at the market's price.
    MarketSell,
    /// `TSL`: sell once the price has fallen to the limit.
    StopLoss,
    /// `TLS`: sell at the limit or better.
    LimitSell,
    /// `TLB`: buy at the limit or better.
    LimitBuy,
}

impl TradeType {
    /// All types, in order.
    pub const ALL: [Self; 5] = [Self::MarketBuy, Self::MarketSell, Self::StopLoss, Self::LimitSell, Self::LimitBuy];
    /// Identifiers of the types, in order.
    pub const IDS: [&'static str; 5] = ["TMB", "TMS", "TSL", "TLS", "TLB"];

    /// `TT_ID` of the type.
    pub const fn id(self) -> &'static str {
        Self::IDS[self as usize]
    }

    /// `TT_ID` of the type, with the column's type.
    pub fn text(self) -> TradeTypeId {
        TradeTypeId::cut(self.id())
    }

    /// Type with that `TT_ID`.
    pub fn from_id(id: &str) -> Option<Self> {
        Self::IDS.iter().position(|known| *known == id).map(|at| Self::ALL[at])
    }

    /// Whether it is a sell order.
    pub const fn is_sell(self) -> bool {
        matches!(self, Self::MarketSell | Self::StopLoss | Self::LimitSell)
    }

    /// Whether it is made at the market's price.
    pub const fn is_market(self) -> bool {
        matches!(self, Self::MarketBuy | Self::MarketSell)
    }
}

/// The five statuses, in the order of the reference's numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TradeStatusId {
    /// `CMPT`: a completed trade.
    Completed,
    /// `ACTV`: a customer, company, security or broker.
    Active,
    /// `SBMT`: a trade at the market.
    Submitted,
    /// `PNDG`: a limit order that waits for its price.
    Pending,
    /// `CNCL`: a cancelled trade.
    Canceled,
}

impl TradeStatusId {
    /// Identifiers of the statuses, in order.
    pub const CODES: [&'static str; 5] = ["CMPT", "ACTV", "SBMT", "PNDG", "CNCL"];

    /// `ST_ID` of the status.
    pub fn id(self) -> StatusId {
        StatusId::cut(Self::CODES[self as usize])
    }
}
