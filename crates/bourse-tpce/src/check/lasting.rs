//! Rows and columns that no transaction ever changes, so that they can be compared with the loaded ones at any time.

use bourse_schema::{Table, TradeId};

/// Part of a table's rows that never changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lasting {
    /// All rows stay, and none are added; these columns are changed.
    Rows {
        /// Columns that transactions change.
        changed: &'static [&'static str],
    },
    /// The rows of the initial trades stay, rows of new trades are added; these columns are changed.
    InitialTrades {
        /// The column that names the trade.
        trade: &'static str,
        /// Columns that transactions change.
        changed: &'static [&'static str],
    },
    /// Rows come, go and change.
    Nothing,
}

impl Lasting {
    /// The lasting part of a table. Data-Maintenance (Clause 3.3.11) and Trade-Update (Clause 3.3.10) change single columns;
    /// Trade-Result and Market-Feed the balances, totals and prices.
    pub fn of(table: &Table) -> Self {
        let rows = |changed| Self::Rows { changed };
        let initial = |trade, changed| Self::InitialTrades { trade, changed };
        match table.name {
            "account_permission" => rows(&["ap_acl"]),
            "address" => rows(&["ad_line2"]),
            "broker" => rows(&["b_num_trades", "b_comm_total"]),
            "company" => rows(&["co_sp_rate"]),
            "customer" => rows(&["c_email_2"]),
            "customer_account" => rows(&["ca_bal"]),
            "customer_taxrate" => rows(&["cx_tx_id"]),
            "daily_market" => rows(&["dm_vol"]),
            "exchange" => rows(&["ex_desc"]),
            "financial" => rows(&["fi_qtr_start_date"]),
            "last_trade" => rows(&["lt_dts", "lt_price", "lt_vol"]),
            "news_item" => rows(&["ni_dts"]),
            "security" => rows(&["s_exch_date"]),
            "taxrate" => rows(&["tx_name"]),
            "watch_item" => rows(&["wi_s_symb"]),
            "trade" => initial("t_id", &["t_exec_name"]),
            "trade_history" => initial("th_t_id", &[]),
            "settlement" => initial("se_t_id", &["se_cash_type"]),
            "cash_transaction" => initial("ct_t_id", &["ct_name"]),
            "holding_history" => initial("hh_t_id", &[]),
            "holding" | "holding_summary" | "trade_request" => Self::Nothing,
            _ => rows(&[]),
        }
    }

    /// Whether a column still has its loaded values after any run.
    pub fn keeps(self, column: &str) -> bool {
        match self {
            Self::Rows { changed } | Self::InitialTrades { changed, .. } => !changed.contains(&column),
            Self::Nothing => false,
        }
    }

    /// The query for the lasting part, in the order of the table's columns; `None` if there is none.
    pub fn query(self, table: &Table, first_trade: TradeId) -> Option<String> {
        let condition = match self {
            Self::Rows { .. } => String::new(),
            Self::InitialTrades { trade, .. } => format!(" WHERE {trade} < {first_trade}"),
            Self::Nothing => return None,
        };
        let columns: Vec<_> = table.columns.iter().map(|column| column.name).filter(|name| self.keeps(name)).collect();
        Some(format!("SELECT {} FROM {}{condition}", columns.join(", "), table.name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bourse_schema::tables;

    #[test]
    fn columns_that_change_are_columns() {
        let mut lasting = 0;
        for table in tables::all() {
            let of = Lasting::of(table);
            if let Lasting::Rows { changed } | Lasting::InitialTrades { changed, .. } = of {
                for name in changed {
                    assert!(table.column(name).is_some(), "{}.{name}", table.name);
                }
            }
            lasting += usize::from(of.query(table, TradeId(1)).is_some());
        }
        assert_eq!(lasting, 30);
    }
}
