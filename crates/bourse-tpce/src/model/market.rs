//! Tables with the indexes that the transactions search.

use crate::model::tables::ModelTables;
use bourse_egen::{Inputs, Part, PartGenerator};
use bourse_schema::tables::{
    Company, Customer, CustomerAccount, Holding, HoldingHistory, HoldingSummary, LastTrade, Security, Trade,
    TradeHistory,
};
use bourse_schema::*;
use std::collections::{BTreeMap, BTreeSet};

/// Trades in order of time, then of number.
type TradesByTime = BTreeSet<(Timestamp, TradeId)>;

/// The complete database.
#[derive(Clone, Default)]
pub(crate) struct Market {
    pub(crate) tables: ModelTables,
    customers_by_tax_id: BTreeMap<Text<20>, CustomerId>,
    accounts_of: BTreeMap<CustomerId, Vec<AccountId>>,
    watch_lists_of: BTreeMap<CustomerId, Vec<WatchListId>>,
    trades_of_account: BTreeMap<AccountId, TradesByTime>,
    trades_in_security: BTreeMap<Symbol, TradesByTime>,
    lots: BTreeMap<(AccountId, Symbol), TradesByTime>,
    /// Trades that changed each lot.
    changes_of_lot: BTreeMap<TradeId, BTreeSet<TradeId>>,
    pub(crate) next_trade: i64,
}

impl Market {
    /// Loads the initial database.
    pub(crate) fn load(inputs: &Inputs, part: Part, first_free: TradeId) -> Self {
        let mut market = Self { next_trade: first_free.0, ..Self::default() };
        let generator = PartGenerator::new(inputs, part);
        for unit in generator.units(|_| true) {
            generator.make(unit, &mut market.tables).expect("a sink that never stops");
        }
        let tables = &market.tables;
        for row in tables.customer.all() {
            market.customers_by_tax_id.insert(row.c_tax_id, row.c_id);
        }
        for row in tables.customer_account.all() {
            market.accounts_of.entry(row.ca_c_id).or_default().push(row.ca_id);
        }
        for row in tables.watch_list.all() {
            market.watch_lists_of.entry(row.wl_c_id).or_default().push(row.wl_id);
        }
        for row in tables.trade.all() {
            market.trades_of_account.entry(row.t_ca_id).or_default().insert((row.t_dts, row.t_id));
            market.trades_in_security.entry(row.t_s_symb).or_default().insert((row.t_dts, row.t_id));
        }
        for row in tables.holding.all() {
            market.lots.entry((row.h_ca_id, row.h_s_symb)).or_default().insert((row.h_dts, row.h_t_id));
        }
        for row in tables.holding_history.all() {
            market.changes_of_lot.entry(row.hh_h_t_id).or_default().insert(row.hh_t_id);
        }
        market
    }

    // --- looking up ---

    pub(crate) fn customer(&self, id: CustomerId) -> Option<&Customer> {
        self.tables.customer.get(&(id,))
    }

    pub(crate) fn customer_by_tax_id(&self, tax_id: &Text<20>) -> Option<CustomerId> {
        self.customers_by_tax_id.get(tax_id).copied()
    }

    pub(crate) fn account(&self, id: AccountId) -> Option<&CustomerAccount> {
        self.tables.customer_account.get(&(id,))
    }

    pub(crate) fn accounts_of(&self, customer: CustomerId) -> &[AccountId] {
        self.accounts_of.get(&customer).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn watch_lists_of(&self, customer: CustomerId) -> &[WatchListId] {
        self.watch_lists_of.get(&customer).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn watched(&self, list: WatchListId) -> impl Iterator<Item = Symbol> {
        let next = WatchListId(list.0 + 1);
        self.tables.watch_item.range((list, Symbol::EMPTY)..(next, Symbol::EMPTY)).map(|row| row.wi_s_symb)
    }

    pub(crate) fn security(&self, symbol: &Symbol) -> Option<&Security> {
        self.tables.security.get(&(*symbol,))
    }

    pub(crate) fn company(&self, id: CompanyId) -> Option<&Company> {
        self.tables.company.get(&(id,))
    }

    pub(crate) fn last_trade(&self, symbol: &Symbol) -> Option<&LastTrade> {
        self.tables.last_trade.get(&(*symbol,))
    }

    pub(crate) fn trade(&self, id: TradeId) -> Option<&Trade> {
        self.tables.trade.get(&(id,))
    }

    pub(crate) fn status_name(&self, id: StatusId) -> Text<10> {
        self.tables.status_type.get(&(id,)).expect("every status has a name").st_name
    }

    /// Trades of an account, the oldest first.
    pub(crate) fn trades_of_account(&self, account: AccountId) -> impl DoubleEndedIterator<Item = &Trade> {
        let ids = self.trades_of_account.get(&account).into_iter().flatten();
        ids.map(|(_, id)| self.trade(*id).expect("an order of trades names trades"))
    }

    /// Trades in a security, the oldest first.
    pub(crate) fn trades_in_security(&self, symbol: &Symbol) -> impl DoubleEndedIterator<Item = &Trade> {
        let ids = self.trades_in_security.get(symbol).into_iter().flatten();
        ids.map(|(_, id)| self.trade(*id).expect("an order of trades names trades"))
    }

    /// Statuses of a trade, the earliest first.
    pub(crate) fn history(&self, trade: TradeId) -> Vec<&TradeHistory> {
        let next = TradeId(trade.0 + 1);
        let rows = self.tables.trade_history.range((trade, StatusId::EMPTY)..(next, StatusId::EMPTY));
        let mut rows: Vec<_> = rows.collect();
        rows.sort_by_key(|row| (row.th_dts, row.th_st_id));
        rows
    }

    pub(crate) fn holdings_of(&self, account: AccountId) -> impl Iterator<Item = &HoldingSummary> {
        let next = AccountId(account.0 + 1);
        self.tables.holding_summary.range((account, Symbol::EMPTY)..(next, Symbol::EMPTY))
    }

    /// Value of an account's holdings at the last prices, in cents.
    pub(crate) fn assets(&self, account: AccountId) -> i64 {
        let worth = |row: &HoldingSummary| {
            let last = self.last_trade(&row.hs_s_symb).expect("every security has a price");
            crate::model::arithmetic::worth(row.hs_qty, last.lt_price)
        };
        self.holdings_of(account).map(worth).sum()
    }

    /// Quantity of a security that an account holds; 0 if none.
    pub(crate) fn held(&self, account: AccountId, symbol: Symbol) -> Quantity {
        self.tables.holding_summary.get(&(account, symbol)).map_or(0, |row| row.hs_qty)
    }

    /// Lots of a security in an account, in the order in which they are closed.
    pub(crate) fn lots(&self, account: AccountId, symbol: Symbol, is_lifo: bool) -> Vec<Holding> {
        let ids = self.lots.get(&(account, symbol)).into_iter().flatten();
        let lots = ids.map(|(_, id)| self.tables.holding.get(&(*id,)).expect("an order of lots names lots").clone());
        let mut lots: Vec<_> = lots.collect();
        if is_lifo {
            lots.reverse();
        }
        lots
    }

    pub(crate) fn changes_of_lot(&self, lot: TradeId) -> impl Iterator<Item = &HoldingHistory> {
        let changed_by = self.changes_of_lot.get(&lot).into_iter().flatten();
        changed_by.map(move |trade| {
            self.tables.holding_history.get(&(*trade, lot)).expect("an order of changes names changes")
        })
    }

    /// Sum of a customer's tax rates.
    pub(crate) fn tax_rate(&self, customer: CustomerId) -> TaxRate {
        let next = CustomerId(customer.0 + 1);
        let his = self.tables.customer_taxrate.range((customer, TaxId::EMPTY)..(next, TaxId::EMPTY));
        let rate = |row: &tables::CustomerTaxrate| {
            self.tables.taxrate.get(&(row.cx_tx_id,)).expect("every tax has a rate").tx_rate.units()
        };
        TaxRate::from_units(his.map(rate).sum())
    }

    /// Commission rate for a number of shares.
    pub(crate) fn commission_rate(
        &self,
        tier: u8,
        trade_type: TradeTypeId,
        exchange: ExchangeId,
        qty: Quantity,
    ) -> Option<CommissionRate> {
        let bands = (tier, trade_type, exchange, Quantity::MIN)..=(tier, trade_type, exchange, qty);
        self.tables.commission_rate.range(bands).find(|band| qty <= band.cr_to_qty).map(|band| band.cr_rate)
    }

    // --- changes that must update an index too ---

    pub(crate) fn add_trade(&mut self, row: Trade) {
        self.trades_of_account.entry(row.t_ca_id).or_default().insert((row.t_dts, row.t_id));
        self.trades_in_security.entry(row.t_s_symb).or_default().insert((row.t_dts, row.t_id));
        self.tables.trade.insert(row);
    }

    /// Changes the status of a trade.
    pub(crate) fn move_trade(&mut self, id: TradeId, now: Timestamp, status: StatusId) -> &mut Trade {
        let row = self.tables.trade.change(&(id,)).expect("only trades that exist are moved");
        for order in [
            self.trades_of_account.get_mut(&row.t_ca_id).expect("the trade is in it"),
            self.trades_in_security.get_mut(&row.t_s_symb).expect("the trade is in it"),
        ] {
            order.remove(&(row.t_dts, id));
            order.insert((now, id));
        }
        row.t_dts = now;
        row.t_st_id = status;
        row
    }

    pub(crate) fn add_history(&mut self, trade: TradeId, now: Timestamp, status: StatusId) {
        self.tables.trade_history.insert(TradeHistory { th_t_id: trade, th_dts: now, th_st_id: status });
    }

    pub(crate) fn add_lot(&mut self, row: Holding) {
        self.lots.entry((row.h_ca_id, row.h_s_symb)).or_default().insert((row.h_dts, row.h_t_id));
        self.tables.holding.insert(row);
    }

    pub(crate) fn remove_lot(&mut self, id: TradeId) {
        let row = self.tables.holding.remove(&(id,)).expect("only lots that exist are closed");
        self.lots.get_mut(&(row.h_ca_id, row.h_s_symb)).expect("the lot is in it").remove(&(row.h_dts, id));
    }

    pub(crate) fn add_lot_change(&mut self, row: HoldingHistory) {
        self.changes_of_lot.entry(row.hh_h_t_id).or_default().insert(row.hh_t_id);
        self.tables.holding_history.insert(row);
    }
}
