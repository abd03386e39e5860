//! The list of bugs, and the statements of some.

use bourse_engine::Sql;
use bourse_oltp::planted;
use bourse_oltp::planted::BrokenPart::{Data, Indexes, Promise, Work};
use bourse_oltp::planted::Bug;

/// All of them.
#[rustfmt::skip]
pub static BUGS: &[Bug] = &[
    Bug::new("BrokerNotPaid", Data, "Trade-Result does not pay the broker"),
    Bug::new("OrderWithoutHistory", Data, "Trade-Order writes no history row"),
    Bug::new("CashNotMoved", Data, "Trade-Result does not change the account's balance"),
    Bug::new("HistoryOfClosedLots", Data, "Trade-Result notes no history of lots that it closes"),
    Bug::new("LotsInWrongOrder", Data, "newest lots are closed where the oldest should be, and the other way"),
    Bug::new("TaxAtHalfRate", Data, "gains are taxed at half the rate"),
    Bug::new("CommissionAtHalfRate", Data, "Trade-Result pays half the commission"),
    Bug::new("CommissionOfMarketPrice", Data, "Trade-Order computes a limit order's commission from the market price"),
    Bug::new("ChargeOfOtherTier", Data, "Trade-Order takes the charge of another customer tier"),
    Bug::new("SettlementLate", Data, "a settlement is due three days after its trade"),
    Bug::new("MarginAsCash", Data, "the settlement of a trade on margin has the cash type of a cash account"),
    Bug::new("OrderTwice", Data, "a Trade-Order that was committed is run again (1 of 20)").one_in(20),
    Bug::new("FeedTriggersNothing", Data, "Market-Feed triggers no limit order"),
    Bug::new("FeedTriggersWrongWay", Data, "Market-Feed compares prices the wrong way"),
    Bug::new("FeedLosesPrice", Data, "Market-Feed does not write the price (1 of 50)").one_in(50),
    Bug::new("UpdateWrongRow", Data, "Trade-Update changes the first trade instead of those it found"),
    Bug::new("MaintenanceIdle", Data, "Data-Maintenance changes nothing and reports one row"),
    Bug::new("CleanupLeavesSubmitted", Data, "Trade-Cleanup does not cancel submitted orders"),
    Bug::new("BrokerVolumeShort", Work, "Broker-Volume omits its last broker"),
    Bug::new("PositionShort", Work, "Customer-Position omits its last account"),
    Bug::new("WatchAnswers42", Work, "Market-Watch answers 42 percent"),
    Bug::new("WatchStalePrice", Work, "Market-Watch compares the day's price with itself"),
    Bug::new("SecurityDaysReversed", Work, "Security-Detail returns its days latest first"),
    Bug::new("LookupWrongRow", Work, "Trade-Lookup returns its first trade twice and omits its last"),
    Bug::new("StatusReversed", Work, "Trade-Status returns its trades oldest first"),
    Bug::new("NoBegin", Data, "no transaction is begun: every statement stands alone, and the commit fails"),
    Bug::new("Autocommit", Data, "neither begin nor commit nor roll-back reach the engine: every statement stands alone"),
    Bug::new("CommitRolledBack", Data, "a commit is a roll-back (1 of 50)").one_in(50),
    Bug::new("IsolationLowered", Promise, "every transaction runs at read committed"),
    Bug::new("WriteLost", Data, "the engine reports a holding summary as changed that it did not change (1 of 20)").one_in(20),
    Bug::new("SyncOff", Promise, "synchronous is off though full was asked for"),
    Bug::new("FailureCompleted", Work, "every status counts as completed"),
    Bug::new("MixWithoutWatch", Work, "customers never ask for a Market-Watch"),
    Bug::new("OverchargedGenerator", Data, "the generator charges a dollar too much on initial trades"),
    Bug::new("LoaderLosesRowEarly", Data, "the loader loses a watch item before it counts the rows"),
    Bug::new("LoaderLosesRowLate", Data, "the loader loses a watch item after it has read the rows back"),
    Bug::new("LoaderAltersPrices", Data, "the loader alters the closing prices of three securities"),
    Bug::new("IndexMissing", Indexes, "two indexes are missing, another one is there"),
    Bug::new("IndexIncomplete", Indexes, "an index lacks the entry of one row"),
    Bug::new("BalanceReadEarly", Data, "Trade-Result writes an account's balance by what it was before the transaction began"),
    Bug::new("BrokerTradesReadEarly", Data, "Trade-Result writes a broker's number of trades by what it was before the transaction began"),
    Bug::new("CommissionsReadEarly", Data, "Trade-Result writes a broker's commissions by what they were before the transaction began"),
    Bug::new("SummaryReadEarly", Data, "Trade-Result writes a holding summary by what was held before the transaction began"),
    Bug::new("VolumeReadEarly", Data, "Market-Feed writes a security's volume by what it was before the transaction began"),
    Bug::new("PermissionNotNeeded", Data, "Trade-Order serves people who have no permission"),
    Bug::new("PermissionOfAnyAccount", Data, "Trade-Order takes a permission for another account"),
    Bug::new("PermissionWithoutTaxId", Data, "Trade-Order takes a permission of another tax id"),
    Bug::new("PermissionWithoutNames", Data, "Trade-Order takes a permission of other names"),
    Bug::new("LimitPriceCut", Data, "a limit price is cut to a cent, not rounded"),
    Bug::new("CommissionCut", Data, "commissions are cut to a cent, not rounded"),
    Bug::new("TaxCut", Data, "taxes are cut to a cent, not rounded"),
    Bug::new("PriceInDimes", Data, "Trade-Result writes the trade's price in whole dimes"),
    Bug::new("CashInSinglePrecision", Data, "Trade-Result computes an account's balance with 24 bits"),
    Bug::new("CashNameCut", Data, "names of cash transactions are cut after 40 characters"),
    Bug::new("TiesOfLots", Data, "of lots that are equally old the other one is closed first"),
    Bug::new("LotsByPrice", Data, "the cheapest lots are closed first"),
    Bug::new("OddLotAsHundred", Data, "Trade-Order writes a hundred shares for an order of fewer"),
    Bug::new("EmptySummaryKept", Data, "a holding summary that comes to nothing stays"),
    Bug::new("ShortNotOpened", Data, "Trade-Result opens no lot for shares that are sold and not held"),
    Bug::new("MarginMovesCash", Data, "Trade-Result changes the balance for a trade on margin"),
    Bug::new("StopLossAsLimit", Data, "Market-Feed takes a stop-loss order for a limit sell"),
    Bug::new("TaxWithheldOfAll", Data, "the tax is withheld from accounts that pay it themselves"),
];

/// Market-Feed's search for limit orders, with each comparison reversed.
pub(crate) fn wrong_way() -> &'static Sql {
    static TRIGGERED: Sql = Sql::new(
        "SELECT tr_t_id, tr_bid_price, tr_tt_id, tr_qty
           FROM trade_request
          WHERE tr_s_symb = ?1 AND tr_tt_id = 'TSL' AND tr_bid_price <= ?2
         UNION ALL
         SELECT tr_t_id, tr_bid_price, tr_tt_id, tr_qty
           FROM trade_request
          WHERE tr_s_symb = ?1 AND tr_tt_id = 'TLS' AND tr_bid_price >= ?2
         UNION ALL
         SELECT tr_t_id, tr_bid_price, tr_tt_id, tr_qty
           FROM trade_request
          WHERE tr_s_symb = ?1 AND tr_tt_id = 'TLB' AND tr_bid_price <= ?2",
    );
    &TRIGGERED
}

/// Market-Feed's search for limit orders, with stop-loss orders taken for limit sells.
pub(crate) fn stop_loss_as_limit() -> &'static Sql {
    static TRIGGERED: Sql = Sql::new(
        "SELECT tr_t_id, tr_bid_price, tr_tt_id, tr_qty
           FROM trade_request
          WHERE tr_s_symb = ?1 AND tr_tt_id IN ('TSL', 'TLS') AND tr_bid_price <= ?2
         UNION ALL
         SELECT tr_t_id, tr_bid_price, tr_tt_id, tr_qty
           FROM trade_request
          WHERE tr_s_symb = ?1 AND tr_tt_id = 'TLB' AND tr_bid_price >= ?2",
    );
    &TRIGGERED
}

/// Trade-Order's search for a permission, with the planted bug.
pub(crate) fn permission() -> &'static Sql {
    static OF_ANY_ACCOUNT: Sql = Sql::new(
        "SELECT ap_acl FROM account_permission
          WHERE ap_ca_id <> -?1 AND ap_tax_id = ?2 AND ap_f_name = ?3 AND ap_l_name = ?4",
    );
    static WITHOUT_TAX_ID: Sql = Sql::new(
        "SELECT ap_acl FROM account_permission
          WHERE ap_ca_id = ?1 AND length(?2) > 0 AND ap_f_name = ?3 AND ap_l_name = ?4",
    );
    static WITHOUT_NAMES: Sql = Sql::new(
        "SELECT ap_acl FROM account_permission
          WHERE ap_ca_id = ?1 AND ap_tax_id = ?2 AND length(?3) > 0 AND length(?4) > 0",
    );
    match () {
        () if planted!(PermissionOfAnyAccount) => &OF_ANY_ACCOUNT,
        () if planted!(PermissionWithoutTaxId) => &WITHOUT_TAX_ID,
        () => &WITHOUT_NAMES,
    }
}

/// The order of an account's lots of a security, with the planted bug.
pub(crate) fn lots(is_lifo: bool) -> &'static Sql {
    static NEWEST_FIRST: Sql = Sql::new(
        "SELECT h_t_id, h_qty, h_price FROM holding
          WHERE h_ca_id = ?1 AND h_s_symb = ?2 ORDER BY h_dts DESC, h_t_id",
    );
    static OLDEST_FIRST: Sql = Sql::new(
        "SELECT h_t_id, h_qty, h_price FROM holding
          WHERE h_ca_id = ?1 AND h_s_symb = ?2 ORDER BY h_dts, h_t_id DESC",
    );
    static CHEAPEST_FIRST: Sql = Sql::new(
        "SELECT h_t_id, h_qty, h_price FROM holding
          WHERE h_ca_id = ?1 AND h_s_symb = ?2 ORDER BY h_price, h_t_id",
    );
    match is_lifo {
        _ if planted!(LotsByPrice) => &CHEAPEST_FIRST,
        true => &NEWEST_FIRST,
        false => &OLDEST_FIRST,
    }
}

/// Takes away one watch item.
pub(crate) const LOSE_WATCH_ITEM: &str = "DELETE FROM watch_item
     WHERE wi_wl_id = (SELECT min(wl_id) FROM watch_list)
       AND wi_s_symb = (SELECT min(s_symb) FROM security
                         WHERE s_symb IN (SELECT wi_s_symb FROM watch_item
                                           WHERE wi_wl_id = (SELECT min(wl_id) FROM watch_list)))";

/// Raises the closing prices of three securities by a dollar.
pub(crate) const ALTER_PRICES: &str = "UPDATE daily_market SET dm_close = dm_close + 100
     WHERE dm_s_symb IN (SELECT s_symb FROM security ORDER BY s_symb LIMIT 3)";
