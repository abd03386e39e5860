//! TPC-E's 33 tables, each declared once.
//!
//! A table is declared in [`tables`] with its columns, keys, checks and indexes; everything else is derived from that:
//! the row type, the DDL and INSERT text of every dialect ([`create_table`], [`insert`]), the load order
//! ([`load_order`]), the flat-file line, and the list of tables for checks and documents ([`tables`]).
//!
//! ```
//! use bourse_schema::{TableRow, tables::LastTrade};
//! assert_eq!(LastTrade::table().name, "last_trade");
//! assert_eq!(LastTrade::table().key, ["lt_s_symb"]);
//! ```

mod catalog;
mod ddl;
mod dialect;
mod field;
mod macros;
mod order;
mod row;
mod table;
pub mod tables;
mod types;
mod value;

pub use catalog::{Catalog, SchemaObject, declared};
pub use ddl::{create_index, create_table, drop_table, insert, orphans, without_foreign_keys};
pub use dialect::{Dialect, OLD_SQLITE, SQLITE};
pub use field::{ColumnType, Field};
pub use order::load_order;
pub use row::{Batch, Rows, TableRow};
pub use table::{Cardinality, Column, ForeignKey, Group, Index, Section, Table, find};
pub use types::{
    AccountId, AddressId, Amount, Balance, BrokerId, CommissionRate, CompanyId, Count, CustomerId, Date, Decimal,
    ExchangeId, FinAgg, IndustryId, NewsId, Price, Quantity, SectorId, StatusId, Symbol, TaxId, TaxRate, Text,
    Timestamp, TooLong, TradeId, TradeTypeId, WatchListId, Yield, ZipCodeId,
};
pub use value::Value;
