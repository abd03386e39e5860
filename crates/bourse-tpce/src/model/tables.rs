//! All 33 tables.

use crate::model::store::{KeyedRow, Store, row_cells};
use bourse_egen::RowSink;
use bourse_engine::FromValue as _;
use bourse_oltp::verify::{Cell, RowKey};
use bourse_schema::tables::*;
use bourse_schema::*;
use std::any::Any;

macro_rules! tables {
    ($($field:ident: $row:ident, key($($part:ident: $type:ty),+);)+) => {
        $(impl KeyedRow for $row {
            type Key = ($($type,)+);

            fn key(&self) -> Self::Key {
                ($(self.$part,)+)
            }

            fn cells(key: &Self::Key) -> Vec<Cell> {
                let ($($part,)+) = key;
                vec![$(Cell::of(<$type as Field>::TYPE, $part.value()).expect("a key's value is of its column's type")),+]
            }

            fn key_of(cells: &[Cell]) -> Option<Self::Key> {
                let mut cells = cells.iter();
                Some(($(<$type>::from_value(cells.next()?.value(<$type as Field>::TYPE)).ok()?,)+))
            }
        })+

        /// Rows of all tables.
        #[derive(Clone, Default)]
        pub(crate) struct ModelTables {
            $(pub(crate) $field: Store<$row>,)+
        }

        impl ModelTables {
            /// Keys of the rows that the last transaction touched.
            pub(crate) fn changed(&self) -> Vec<RowKey> {
                let mut keys = Vec::new();
                $(keys.extend(self.$field.changed());)+
                keys
            }

            pub(crate) fn settle(&mut self) {
                $(self.$field.settle();)+
            }

            pub(crate) fn row(&self, key: &RowKey) -> Option<Vec<Cell>> {
                match key.table.name {
                    $($row::NAME => self.$field.get(&$row::key_of(&key.key)?).map(row_cells),)+
                    other => unreachable!("no table is called {other}"),
                }
            }

            pub(crate) fn each_row(&self, table: &'static Table, each: &mut dyn FnMut(&[Cell])) {
                match table.name {
                    $($row::NAME => self.$field.all().for_each(|row| each(&row_cells(row))),)+
                    other => unreachable!("no table is called {other}"),
                }
            }
        }

        impl RowSink for ModelTables {
            fn row<R: TableRow>(&mut self, row: R) {
                let mut row = Some(row);
                let any: &mut dyn Any = &mut row;
                $(if let Some(row) = any.downcast_mut::<Option<$row>>() {
                    self.$field.load(row.take().expect("just put there"));
                    return;
                })+
                unreachable!("{} is no table of ours", R::NAME);
            }
        }

        #[cfg(test)]
        const KEYS: &[(&str, &[&str])] = &[$(($row::NAME, &[$(stringify!($part)),+])),+];
    };
}

tables! {
    account_permission: AccountPermission, key(ap_ca_id: AccountId, ap_tax_id: Text<20>);
    customer: Customer, key(c_id: CustomerId);
    customer_account: CustomerAccount, key(ca_id: AccountId);
    customer_taxrate: CustomerTaxrate, key(cx_c_id: CustomerId, cx_tx_id: TaxId);
    holding: Holding, key(h_t_id: TradeId);
    holding_history: HoldingHistory, key(hh_t_id: TradeId, hh_h_t_id: TradeId);
    holding_summary: HoldingSummary, key(hs_ca_id: AccountId, hs_s_symb: Symbol);
    watch_item: WatchItem, key(wi_wl_id: WatchListId, wi_s_symb: Symbol);
    watch_list: WatchList, key(wl_id: WatchListId);
    broker: Broker, key(b_id: BrokerId);
    cash_transaction: CashTransaction, key(ct_t_id: TradeId);
    charge: Charge, key(ch_tt_id: TradeTypeId, ch_c_tier: u8);
    commission_rate: CommissionRateRow, key(cr_c_tier: u8, cr_tt_id: TradeTypeId, cr_ex_id: ExchangeId, cr_from_qty: Quantity);
    settlement: Settlement, key(se_t_id: TradeId);
    trade: Trade, key(t_id: TradeId);
    trade_history: TradeHistory, key(th_t_id: TradeId, th_st_id: StatusId);
    trade_request: TradeRequest, key(tr_t_id: TradeId);
    trade_type: TradeType, key(tt_id: TradeTypeId);
    company: Company, key(co_id: CompanyId);
    company_competitor: CompanyCompetitor, key(cp_co_id: CompanyId, cp_comp_co_id: CompanyId, cp_in_id: IndustryId);
    daily_market: DailyMarket, key(dm_s_symb: Symbol, dm_date: Date);
    exchange: Exchange, key(ex_id: ExchangeId);
    financial: Financial, key(fi_co_id: CompanyId, fi_year: u16, fi_qtr: u8);
    industry: Industry, key(in_id: IndustryId);
    last_trade: LastTrade, key(lt_s_symb: Symbol);
    news_item: NewsItem, key(ni_id: NewsId);
    news_xref: NewsXRef, key(nx_co_id: CompanyId, nx_ni_id: NewsId);
    sector: Sector, key(sc_id: SectorId);
    security: Security, key(s_symb: Symbol);
    address: Address, key(ad_id: AddressId);
    status_type: StatusType, key(st_id: StatusId);
    taxrate: TaxRateRow, key(tx_id: TaxId);
    zip_code: ZipCode, key(zc_code: ZipCodeId);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_the_schemas() {
        assert_eq!(KEYS.len(), NAMES.len());
        for (name, key) in KEYS {
            assert_eq!(find(name).expect("a table").key, *key, "{name}");
        }
    }
}
