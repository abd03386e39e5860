//! The inputs of the twelve transactions (Clause 3.3), as the customer, market and maintenance emulators fill them.
//!
//! Identifiers of 0 and empty texts mean "not given", as in the specification's frames.

pub use crate::TradeType;
use bourse_schema::{AccountId, CompanyId, CustomerId, Date, Price, Quantity, Symbol, TaxId, Text, Timestamp, TradeId};
use serde::{Deserialize, Deserializer, Serialize, de};

/// Broker-Volume (Clause 3.3.1).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BrokerVolume {
    /// 20 to 40 distinct brokers' names.
    pub broker_list: Vec<Text<49>>,
    /// The sector whose pending orders count.
    pub sector_name: Text<30>,
}

/// Customer-Position (Clause 3.3.2).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CustomerPosition {
    /// 0 if the customer is named by tax id.
    pub cust_id: CustomerId,
    /// Empty if the customer is named by id.
    pub tax_id: Text<20>,
    /// Whether an account's history is wanted (frame 2 instead of frame 3).
    pub get_history: bool,
    /// Which of the customer's accounts, from 0; -1 without history.
    pub acct_id_idx: i32,
}

/// Market-Watch (Clause 3.3.4): exactly one of account, customer and industry is given.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MarketWatch {
    /// The account whose holdings are watched.
    pub acct_id: AccountId,
    /// The customer whose watch list is watched.
    pub c_id: CustomerId,
    /// With an industry: its first company.
    pub starting_co_id: CompanyId,
    /// With an industry: its last company.
    pub ending_co_id: CompanyId,
    /// The industry that is watched.
    pub industry_name: Text<50>,
    /// The day to compare with.
    pub start_day: Date,
}

/// Security-Detail (Clause 3.3.5).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SecurityDetail {
    /// The security.
    pub symbol: Symbol,
    /// Whether the news' bodies are wanted.
    pub access_lob_flag: bool,
    /// Days of prices, 5 to 20.
    pub max_rows_to_return: i32,
    /// First day of prices.
    pub start_day: Date,
}

/// Trade-Status (Clause 3.3.9).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TradeStatus {
    /// The account.
    pub acct_id: AccountId,
}

/// Trade-Lookup (Clause 3.3.6).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TradeLookup {
    /// Which of the four frames runs, 1 to 4.
    pub frame_to_execute: u8,
    /// Frame 1: distinct trades.
    pub trade_id: Vec<TradeId>,
    /// Frames 2 and 4: the account.
    pub acct_id: AccountId,
    /// Frame 3: the largest account id there is.
    pub max_acct_id: AccountId,
    /// At most so many trades; 0 in frame 4.
    pub max_trades: i32,
    /// Frames 2 to 4: from when.
    pub start_trade_dts: Option<Timestamp>,
    /// Frames 2 and 3: until when.
    pub end_trade_dts: Option<Timestamp>,
    /// Frame 3: the security.
    pub symbol: Symbol,
}

/// Trade-Update (Clause 3.3.10).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TradeUpdate {
    /// Which of the three frames runs, 1 to 3.
    pub frame_to_execute: u8,
    /// Frame 1: distinct trades.
    pub trade_id: Vec<TradeId>,
    /// Frame 2: the account.
    pub acct_id: AccountId,
    /// Frame 3: the largest account id there is.
    pub max_acct_id: AccountId,
    /// At most so many trades.
    pub max_trades: i32,
    /// At most so many changes.
    pub max_updates: i32,
    /// Frames 2 and 3: from when.
    pub start_trade_dts: Option<Timestamp>,
    /// Frames 2 and 3: until when.
    pub end_trade_dts: Option<Timestamp>,
    /// Frame 3: the security.
    pub symbol: Symbol,
}

/// Trade-Order (Clause 3.3.7).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TradeOrder {
    /// The account.
    pub acct_id: AccountId,
    /// The executor's first name.
    pub exec_f_name: Text<20>,
    /// The executor's last name.
    pub exec_l_name: Text<25>,
    /// The executor's tax id.
    pub exec_tax_id: Text<20>,
    /// The security; empty if named by company and issue.
    pub symbol: Symbol,
    /// The company; empty if the symbol is given.
    pub co_name: Text<60>,
    /// The issue; empty if the symbol is given.
    pub issue: Text<6>,
    /// Type of the order.
    pub trade_type: TradeType,
    /// Shares.
    pub trade_qty: Quantity,
    /// Dollars as the emulator draws them, a binary number; limit orders only make use of it.
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

/// Trade-Result (Clause 3.3.8), as the market exchange sends it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TradeResult {
    /// The trade that was executed.
    pub trade_id: TradeId,
    /// The price it got.
    pub trade_price: Price,
}

/// One entry of the ticker tape.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TickerEntry {
    /// The security.
    pub symbol: Symbol,
    /// Current price of the security.
    pub price_quote: Price,
    /// Shares traded.
    pub trade_qty: Quantity,
}

/// Market-Feed (Clause 3.3.3), as the market exchange sends it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MarketFeed {
    /// Twenty entries.
    pub entries: Vec<TickerEntry>,
    /// How many different securities the entries name.
    pub unique_symbols: i32,
}

/// What the market exchange is to do with an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum TradeAction {
    /// Execute it after the emulated delay.
    ProcessOrder,
    /// Watch the price and show it on the tape when the limit is reached.
    SetLimitTrigger,
}

/// An order on its way from the brokerage house to the market exchange.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TradeRequest {
    /// Action of the market.
    pub action: TradeAction,
    /// The trade.
    pub trade_id: TradeId,
    /// Type of the trade.
    pub trade_type: TradeType,
    /// The security.
    pub symbol: Symbol,
    /// Shares.
    pub trade_qty: Quantity,
    /// The price requested, or for market orders the price last seen.
    pub price_quote: Price,
}

/// A table as Data-Maintenance names it: one of [`TABLES`](crate::driver::maintenance::TABLES).
pub type TableName = &'static str;

/// The name of a table that Data-Maintenance knows; any other is refused.
fn maintained_table<'de, D: Deserializer<'de>>(deserializer: D) -> Result<TableName, D::Error> {
    let name = Text::<32>::deserialize(deserializer)?;
    let known = crate::driver::maintenance::TABLES.iter().find(|known| **known == name.as_str());
    known.copied().ok_or_else(|| de::Error::custom(format_args!("no maintenance of {name:?}")))
}

/// Data-Maintenance (Clause 3.3.11).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DataMaintenance {
    /// The table, in capitals as the specification names it.
    #[serde(deserialize_with = "maintained_table")]
    pub table_name: TableName,
    /// `ACCOUNT_PERMISSION`: the account.
    pub acct_id: AccountId,
    /// `ADDRESS`, `CUSTOMER`, `CUSTOMER_TAXRATE`, `WATCH_ITEM`: the customer.
    pub c_id: CustomerId,
    /// `ADDRESS`, `COMPANY`, `FINANCIAL`, `NEWS_ITEM`: the company.
    pub co_id: CompanyId,
    /// `DAILY_MARKET`: the day of each month.
    pub day_of_month: i32,
    /// `DAILY_MARKET`: what to add to the volume.
    pub vol_incr: i32,
    /// `DAILY_MARKET`, `SECURITY`: the security.
    pub symbol: Symbol,
    /// `TAXRATE`: the tax rate.
    pub tx_id: TaxId,
}

/// Trade-Cleanup (Clause 3.3.12).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TradeCleanup {
    /// The first trade id after the initial trades.
    pub start_trade_id: TradeId,
}

/// What a customer asks for: one transaction of the mix.
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

/// What the market exchange asks for.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "each variant is documented at its content")]
pub enum MarketRequest {
    TradeResult(TradeResult),
    MarketFeed(MarketFeed),
}
