//! Inputs of the twelve transactions (Clause 3.3), as the customer, market and maintenance emulators fill them.
//!
//! Identifiers of 0 and empty texts mean "not given", as in the specification's frames.

pub use crate::TradeType;
use bourse_schema::{AccountId, CompanyId, CustomerId, Date, Price, Quantity, Symbol, TaxId, Text, Timestamp, TradeId};
use serde::{Deserialize, Deserializer, Serialize, de};

/// Input of Broker-Volume (Clause 3.3.1).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BrokerVolume {
    /// Distinct names of 20 to 40 brokers.
    pub broker_list: Vec<Text<49>>,
    /// Sector whose pending orders count.
    pub sector_name: Text<30>,
}

/// Input of Customer-Position (Clause 3.3.2).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CustomerPosition {
    /// Customer id; 0 if the customer is identified by tax id.
    pub cust_id: CustomerId,
    /// Tax id; empty if the customer is identified by id.
    pub tax_id: Text<20>,
    /// Whether an account's history is requested (frame 2 instead of frame 3).
    pub get_history: bool,
    /// Index of the customer's account, from 0; -1 without history.
    pub acct_id_idx: i32,
}

/// Input of Market-Watch (Clause 3.3.4): exactly one of account, customer and industry is given.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MarketWatch {
    /// Account whose holdings are watched.
    pub acct_id: AccountId,
    /// Customer whose watch list is watched.
    pub c_id: CustomerId,
    /// First company of the industry.
    pub starting_co_id: CompanyId,
    /// Last company of the industry.
    pub ending_co_id: CompanyId,
    /// Industry that is watched.
    pub industry_name: Text<50>,
    /// Day to compare with.
    pub start_day: Date,
}

/// Input of Security-Detail (Clause 3.3.5).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SecurityDetail {
    /// Symbol of the security.
    pub symbol: Symbol,
    /// Whether the news' bodies are requested.
    pub access_lob_flag: bool,
    /// Number of days of prices, 5 to 20.
    pub max_rows_to_return: i32,
    /// First day of prices.
    pub start_day: Date,
}

/// Input of Trade-Status (Clause 3.3.9).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TradeStatus {
    /// Account id.
    pub acct_id: AccountId,
}

/// Input of Trade-Lookup (Clause 3.3.6).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TradeLookup {
    /// Number of the frame to execute, 1 to 4.
    pub frame_to_execute: u8,
    /// Frame 1: distinct trades.
    pub trade_id: Vec<TradeId>,
    /// Frames 2 and 4: the account.
    pub acct_id: AccountId,
    /// Frame 3: largest existing account id.
    pub max_acct_id: AccountId,
    /// Maximum number of trades; 0 in frame 4.
    pub max_trades: i32,
    /// Frames 2 to 4: start of the period.
    pub start_trade_dts: Option<Timestamp>,
    /// Frames 2 and 3: end of the period.
    pub end_trade_dts: Option<Timestamp>,
    /// Frame 3: the security.
    pub symbol: Symbol,
}

/// Input of Trade-Update (Clause 3.3.10).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TradeUpdate {
    /// Number of the frame to execute, 1 to 3.
    pub frame_to_execute: u8,
    /// Frame 1: distinct trades.
    pub trade_id: Vec<TradeId>,
    /// Frame 2: the account.
    pub acct_id: AccountId,
    /// Frame 3: largest existing account id.
    pub max_acct_id: AccountId,
    /// Maximum number of trades.
    pub max_trades: i32,
    /// Maximum number of changes.
    pub max_updates: i32,
    /// Frames 2 and 3: start of the period.
    pub start_trade_dts: Option<Timestamp>,
    /// Frames 2 and 3: end of the period.
    pub end_trade_dts: Option<Timestamp>,
    /// Frame 3: the security.
    pub symbol: Symbol,
}

/// Input of Trade-Order (Clause 3.3.7).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TradeOrder {
    /// Account id.
    pub acct_id: AccountId,
    /// First name of the executor.
    pub exec_f_name: Text<20>,
    /// Last name of the executor.
    pub exec_l_name: Text<25>,
    /// Tax id of the executor.
    pub exec_tax_id: Text<20>,
    /// Symbol of the security; empty if identified by company and issue.
    pub symbol: Symbol,
    /// Company; empty if the symbol is given.
    pub co_name: Text<60>,
    /// Issue; empty if the symbol is given.
    pub issue: Text<6>,
    /// Type of the order.
    pub trade_type: TradeType,
    /// Number of shares.
    pub trade_qty: Quantity,
    /// Requested price in dollars as the emulator draws it, a binary number; used by limit orders only.
    pub requested_price: f64,
    /// Whether the newest lots are closed first.
    pub is_lifo: bool,
    /// Whether the trade is on margin.
    pub type_is_margin: bool,
    /// Whether the transaction is to be rolled back on purpose.
    pub roll_it_back: bool,
    /// Whether the executor is the account's owner (not part of the transaction's input).
    pub executor_is_account_owner: bool,
}

/// Input of Trade-Result (Clause 3.3.8), as the market exchange sends it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TradeResult {
    /// Trade that was executed.
    pub trade_id: TradeId,
    /// Price of the execution.
    pub trade_price: Price,
}

/// Entry of the ticker tape.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TickerEntry {
    /// Symbol of the security.
    pub symbol: Symbol,
    /// Current price of the security.
    pub price_quote: Price,
    /// Number of shares traded.
    pub trade_qty: Quantity,
}

/// Input of Market-Feed (Clause 3.3.3), as the market exchange sends it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MarketFeed {
    /// Twenty entries.
    pub entries: Vec<TickerEntry>,
    /// Number of distinct securities in the entries.
    pub unique_symbols: i32,
}

/// Action of the market exchange on an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum TradeAction {
    /// Execution after the emulated delay.
    ProcessOrder,
    /// Watch of the price; the tape shows it when the limit is reached.
    SetLimitTrigger,
}

/// An order on its way from the brokerage house to the market exchange.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TradeRequest {
    /// Action of the market.
    pub action: TradeAction,
    /// Trade id.
    pub trade_id: TradeId,
    /// Type of the trade.
    pub trade_type: TradeType,
    /// Symbol of the security.
    pub symbol: Symbol,
    /// Number of shares.
    pub trade_qty: Quantity,
    /// Price requested, or for market orders the price last seen.
    pub price_quote: Price,
}

/// A table as Data-Maintenance names it: one of [`TABLES`](crate::driver::maintenance::TABLES).
pub type TableName = &'static str;

/// Reads the name of a table of Data-Maintenance; any other is refused.
fn maintained_table<'de, D: Deserializer<'de>>(deserializer: D) -> Result<TableName, D::Error> {
    let name = Text::<32>::deserialize(deserializer)?;
    let known = crate::driver::maintenance::TABLES.iter().find(|known| **known == name.as_str());
    known.copied().ok_or_else(|| de::Error::custom(format_args!("no maintenance of {name:?}")))
}

/// Input of Data-Maintenance (Clause 3.3.11).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DataMaintenance {
    /// Name of the table, in capitals as in the specification.
    #[serde(deserialize_with = "maintained_table")]
    pub table_name: TableName,
    /// Account of `ACCOUNT_PERMISSION`.
    pub acct_id: AccountId,
    /// Customer of `ADDRESS`, `CUSTOMER`, `CUSTOMER_TAXRATE`, `WATCH_ITEM`.
    pub c_id: CustomerId,
    /// Company of `ADDRESS`, `COMPANY`, `FINANCIAL`, `NEWS_ITEM`.
    pub co_id: CompanyId,
    /// Day of each month, for `DAILY_MARKET`.
    pub day_of_month: i32,
    /// Increment of the volume, for `DAILY_MARKET`.
    pub vol_incr: i32,
    /// Security of `DAILY_MARKET`, `SECURITY`.
    pub symbol: Symbol,
    /// Tax rate of `TAXRATE`.
    pub tx_id: TaxId,
}

/// Input of Trade-Cleanup (Clause 3.3.12).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TradeCleanup {
    /// First trade id after the initial trades.
    pub start_trade_id: TradeId,
}

/// Request of a customer: one transaction of the mix.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "each variant is documented at its content")]
pub enum CustomerRequest {
    BrokerVolume(BrokerVolume),
    CustomerPosition(CustomerPosition),
    MarketWatch(MarketWatch),
    SecurityDetail(SecurityDetail),
    TradeLookup(TradeLookup),
    TradeOrder(TradeOrder),
    TradeStatus(TradeStatus),
    TradeUpdate(TradeUpdate),
}

/// Request of the market exchange.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "each variant is documented at its content")]
pub enum MarketRequest {
    TradeResult(TradeResult),
    MarketFeed(MarketFeed),
}
