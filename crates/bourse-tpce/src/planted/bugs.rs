//! The list of bugs, and the switch.

use bourse_engine::Sql;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

/// Part of a run that a bug breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BrokenPart {
    /// Rows of the database.
    Data,
    /// The work: results of transactions, or their selection.
    Work,
    /// The database's indexes.
    Indexes,
    /// The figures alone.
    Figures,
    /// The guarantee of the settings: durability or isolation.
    Promise,
}

impl BrokenPart {
    /// Name on the page.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Data => "data",
            Self::Work => "work",
            Self::Indexes => "indexes",
            Self::Figures => "figures",
            Self::Promise => "promise",
        }
    }
}

macro_rules! bugs {
    ($($bug:ident $breaks:ident $words:literal,)+) => {
        /// A bug that can be planted.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Bug {
            $(#[doc = $words] $bug,)+
        }

        /// All bugs.
        pub const ALL: &[Bug] = &[$(Bug::$bug,)+];

        impl Bug {
            /// Name of the bug.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$bug => stringify!($bug),)+
                }
            }

            /// Description of the bug.
            pub const fn words(self) -> &'static str {
                match self {
                    $(Self::$bug => $words,)+
                }
            }

            /// The part that the bug breaks.
            pub const fn breaks(self) -> BrokenPart {
                match self {
                    $(Self::$bug => BrokenPart::$breaks,)+
                }
            }
        }
    };
}

bugs! {
    BrokerNotPaid Data "Trade-Result does not pay the broker",
    OrderWithoutHistory Data "Trade-Order writes no history row",
    CashNotMoved Data "Trade-Result does not change the account's balance",
    HistoryOfClosedLots Data "Trade-Result notes no history of lots that it closes",
    LotsInWrongOrder Data "newest lots are closed where the oldest should be, and the other way",
    TaxAtHalfRate Data "gains are taxed at half the rate",
    CommissionAtHalfRate Data "Trade-Result pays half the commission",
    CommissionOfMarketPrice Data "Trade-Order computes a limit order's commission from the market price",
    ChargeOfOtherTier Data "Trade-Order takes the charge of another customer tier",
    SettlementLate Data "a settlement is due three days after its trade",
    MarginAsCash Data "the settlement of a trade on margin has the cash type of a cash account",
    OrderTwice Data "a Trade-Order that was committed is run again (1 of 20)",
    FeedTriggersNothing Data "Market-Feed triggers no limit order",
    FeedTriggersWrongWay Data "Market-Feed compares prices the wrong way",
    FeedLosesPrice Data "Market-Feed does not write the price (1 of 50)",
    UpdateWrongRow Data "Trade-Update changes the first trade instead of those it found",
    MaintenanceIdle Data "Data-Maintenance changes nothing and reports one row",
    CleanupLeavesSubmitted Data "Trade-Cleanup does not cancel submitted orders",
    BrokerVolumeShort Work "Broker-Volume omits its last broker",
    PositionShort Work "Customer-Position omits its last account",
    WatchAnswers42 Work "Market-Watch answers 42 percent",
    WatchStalePrice Work "Market-Watch compares the day's price with itself",
    SecurityDaysReversed Work "Security-Detail returns its days latest first",
    LookupWrongRow Work "Trade-Lookup returns its first trade twice and omits its last",
    StatusReversed Work "Trade-Status returns its trades oldest first",
    NoBegin Data "no transaction is begun: every statement stands alone, and the commit fails",
    Autocommit Data "neither begin nor commit nor roll-back reach the engine: every statement stands alone",
    CommitRolledBack Data "a commit is a roll-back (1 of 50)",
    IsolationLowered Promise "every transaction runs at read committed",
    WriteLost Data "the engine reports a holding summary as changed that it did not change (1 of 20)",
    SyncOff Promise "synchronous is off though full was asked for",
    FailureCompleted Work "every status counts as completed",
    MixWithoutWatch Work "customers never ask for a Market-Watch",
    OverchargedGenerator Data "the generator charges a dollar too much on initial trades",
    LoaderLosesRowEarly Data "the loader loses a watch item before it counts the rows",
    LoaderLosesRowLate Data "the loader loses a watch item after it has read the rows back",
    LoaderAltersPrices Data "the loader alters the closing prices of three securities",
    IndexMissing Indexes "two indexes are missing, another one is there",
    IndexIncomplete Indexes "an index lacks the entry of one row",
    RecorderCountsTwice Figures "the recorder counts each sample twice",
    RecorderDropsSlow Figures "the recorder drops samples above 2 ms",
    RecorderDropsSome Figures "the recorder drops every hundredth sample",
    ServiceAsResponse Figures "the recorder keeps service time as response time",
    BalanceReadEarly Data "Trade-Result writes an account's balance by what it was before the transaction began",
    BrokerTradesReadEarly Data "Trade-Result writes a broker's number of trades by what it was before the transaction began",
    CommissionsReadEarly Data "Trade-Result writes a broker's commissions by what they were before the transaction began",
    SummaryReadEarly Data "Trade-Result writes a holding summary by what was held before the transaction began",
    VolumeReadEarly Data "Market-Feed writes a security's volume by what it was before the transaction began",
    PermissionNotNeeded Data "Trade-Order serves people who have no permission",
    PermissionOfAnyAccount Data "Trade-Order takes a permission for another account",
    PermissionWithoutTaxId Data "Trade-Order takes a permission of another tax id",
    PermissionWithoutNames Data "Trade-Order takes a permission of other names",
    LimitPriceCut Data "a limit price is cut to a cent, not rounded",
    CommissionCut Data "commissions are cut to a cent, not rounded",
    TaxCut Data "taxes are cut to a cent, not rounded",
    PriceInDimes Data "Trade-Result writes the trade's price in whole dimes",
    CashInSinglePrecision Data "Trade-Result computes an account's balance with 24 bits",
    CashNameCut Data "names of cash transactions are cut after 40 characters",
    TiesOfLots Data "of lots that are equally old the other one is closed first",
    LotsByPrice Data "the cheapest lots are closed first",
    OddLotAsHundred Data "Trade-Order writes a hundred shares for an order of fewer",
    EmptySummaryKept Data "a holding summary that comes to nothing stays",
    ShortNotOpened Data "Trade-Result opens no lot for shares that are sold and not held",
    MarginMovesCash Data "Trade-Result changes the balance for a trade on margin",
    StopLossAsLimit Data "Market-Feed takes a stop-loss order for a limit sell",
    TaxWithheldOfAll Data "the tax is withheld from accounts that pay it themselves",
}

impl Bug {
    /// Its number in [`ALL`].
    const fn index(self) -> usize {
        self as usize
    }

    /// The bug of a name.
    pub fn named(name: &str) -> Option<Self> {
        ALL.iter().copied().find(|bug| bug.name() == name)
    }

    /// Occasions per occurrence of the bug: it strikes on one of so many.
    const fn one_in(self) -> u32 {
        match self {
            Self::CommitRolledBack | Self::FeedLosesPrice => 50,
            Self::OrderTwice | Self::WriteLost => 20,
            _ => 1,
        }
    }
}

const NONE: usize = usize::MAX;
static PLANTED: AtomicUsize = AtomicUsize::new(NONE);
static OCCASIONS: AtomicU32 = AtomicU32::new(0);

/// Plants a bug in the whole process, in place of the previous one; `None` removes it. Bugs of the recorder are planted
/// there; those of an engine, of indexes and of the generator are planted by the caller that opens, changes or loads a
/// database.
pub fn plant(bug: Option<Bug>) {
    use bourse_record::planted::PlantedFault;
    bourse_record::planted::plant(match bug {
        Some(Bug::RecorderCountsTwice) => PlantedFault::CountTwice,
        Some(Bug::RecorderDropsSlow) => PlantedFault::DropLong,
        Some(Bug::RecorderDropsSome) => PlantedFault::DropEveryHundredth,
        Some(Bug::ServiceAsResponse) => PlantedFault::ServiceAsResponse,
        _ => PlantedFault::Nothing,
    });
    OCCASIONS.store(0, Ordering::Relaxed);
    PLANTED.store(bug.map_or(NONE, Bug::index), Ordering::SeqCst);
}

/// Whether a bug is planted and takes this occasion.
pub fn is(bug: Bug) -> bool {
    PLANTED.load(Ordering::Relaxed) == bug.index()
        && (OCCASIONS.fetch_add(1, Ordering::Relaxed) + 1).is_multiple_of(bug.one_in())
}

/// Market-Feed's search for limit orders, with each comparison reversed.
pub fn wrong_way() -> &'static Sql {
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
pub fn stop_loss_as_limit() -> &'static Sql {
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
pub fn permission() -> &'static Sql {
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
        () if is(Bug::PermissionOfAnyAccount) => &OF_ANY_ACCOUNT,
        () if is(Bug::PermissionWithoutTaxId) => &WITHOUT_TAX_ID,
        () => &WITHOUT_NAMES,
    }
}

/// The order of an account's lots of a security, with the planted bug.
pub fn lots(is_lifo: bool) -> &'static Sql {
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
        _ if is(Bug::LotsByPrice) => &CHEAPEST_FIRST,
        true => &NEWEST_FIRST,
        false => &OLDEST_FIRST,
    }
}

/// Takes away one watch item.
pub const LOSE_WATCH_ITEM: &str = "DELETE FROM watch_item
     WHERE wi_wl_id = (SELECT min(wl_id) FROM watch_list)
       AND wi_s_symb = (SELECT min(s_symb) FROM security
                         WHERE s_symb IN (SELECT wi_s_symb FROM watch_item
                                           WHERE wi_wl_id = (SELECT min(wl_id) FROM watch_list)))";

/// Raises the closing prices of three securities by a dollar.
pub const ALTER_PRICES: &str = "UPDATE daily_market SET dm_close = dm_close + 100
     WHERE dm_s_symb IN (SELECT s_symb FROM security ORDER BY s_symb LIMIT 3)";
