//! Trade-Order's frames 3 and 4.

use super::super::order_rows::{INSERT_HISTORY, INSERT_REQUEST, INSERT_TRADE};
use super::super::positions::{ClosedAmounts, LOTS_NEWEST_FIRST, LOTS_OLDEST_FIRST};
use super::super::rates::SUM_OF_TAX_RATES;
use super::super::trade_order::{
    ASSETS, HELD, LISTING_BY_NAME, LISTING_BY_SYMBOL, Listing, Owner, RATES, TYPE, TradeTerms, limit,
};
use super::super::{FrameError, rows};
use super::{call, keep, made, no_such_set};
use bourse_egen::txn::TradeOrder;
use bourse_engine::RoutineStep::{ChangeOne, Each, Into, Text as Words, Values};
use bourse_engine::{Routine, RoutineStep, Session, Value};
use bourse_schema::{
    AccountId, Amount, Balance, BrokerId, CommissionRate, CompanyId, CustomerId, ExchangeId, Field as _, FinAgg, Price,
    Quantity, StatusId, Symbol, TaxRate, Text, Timestamp, TradeId, TradeTypeId,
};

rows::rows! {
    /// Variables that the routine of frame 3 finds.
    struct FoundVariables {
        symbol: Option<Symbol>,
        s_name: Option<Text<70>>,
        ex_id: Option<ExchangeId>,
        co_id: Option<CompanyId>,
        co_name: Option<Text<60>>,
        market_price: Option<Price>,
        type_is_market: Option<bool>,
        type_is_sell: Option<bool>,
        buy_value: Balance,
        sell_value: Balance,
        tax_rate: Option<TaxRate>,
        comm_rate: Option<CommissionRate>,
        charge: Option<Amount>,
        acct_assets: Option<Balance>,
    }
}

impl FoundVariables {
    /// The security; `None` if a part of it is missing.
    fn listing(&self) -> Option<Listing> {
        Some(Listing {
            symbol: self.symbol?,
            s_name: self.s_name?,
            ex_id: self.ex_id?,
            co_id: self.co_id?,
            co_name: self.co_name?,
            market_price: self.market_price?,
        })
    }

    fn terms(self) -> Result<TradeTerms, FrameError> {
        let listing = self.listing().ok_or_else(|| FrameError::rows(&LISTING_BY_SYMBOL, 1, 0))?;
        let (Some(type_is_market), Some(type_is_sell)) = (self.type_is_market, self.type_is_sell) else {
            return Err(FrameError::rows(&TYPE, 1, 0));
        };
        Ok(TradeTerms {
            listing,
            type_is_market,
            type_is_sell,
            closed: ClosedAmounts { buy_value: self.buy_value, sell_value: self.sell_value },
            tax_rate: self.tax_rate,
            comm_rate: self.comm_rate,
            charge: self.charge,
            acct_assets: self.acct_assets,
        })
    }
}

static LISTING: &[&str] = &["v_symb", "v_name", "v_ex", "v_co", "v_co_name", "v_market"];

/// Steps for each lot, while more is needed.
static CLOSE_LOT: &[RoutineStep] = &[Words(
    "IF v_needed > 0 THEN
        {set} v_shares = LEAST(ABS(lot.h_qty), v_needed);
        IF lot.h_qty > 0 THEN
            {set} v_buy = v_buy + v_shares * lot.h_price;
            {set} v_sell = v_sell + v_shares * v_price;
        ELSE
            {set} v_buy = v_buy + v_shares * v_price;
            {set} v_sell = v_sell + v_shares * lot.h_price;
        END IF;
        {set} v_needed = v_needed - v_shares;
     END IF;",
)];

pub(super) static ESTIMATE: Routine = Routine::new(
    "bourse_trade_order_3",
    &[
        ("p_acct", AccountId::TYPE),
        ("p_symb", Symbol::TYPE),
        ("p_co_name", Text::<60>::TYPE),
        ("p_issue", Text::<6>::TYPE),
        ("p_type", TradeTypeId::TYPE),
        ("p_qty", Quantity::TYPE),
        ("p_price", Price::TYPE),
        ("p_lifo", bool::TYPE),
        ("p_margin", bool::TYPE),
        ("p_cust", CustomerId::TYPE),
        ("p_taxed", bool::TYPE),
        ("p_tier", u8::TYPE),
    ],
    &[
        ("v_symb", Symbol::TYPE),
        ("v_name", Text::<70>::TYPE),
        ("v_ex", ExchangeId::TYPE),
        ("v_co", CompanyId::TYPE),
        ("v_co_name", Text::<60>::TYPE),
        ("v_market", Price::TYPE),
        ("v_is_market", bool::TYPE),
        ("v_is_sell", bool::TYPE),
        ("v_price", Price::TYPE),
        ("v_held", Quantity::TYPE),
        ("v_needed", Quantity::TYPE),
        ("v_shares", Quantity::TYPE),
        ("v_buy", Balance::TYPE),
        ("v_sell", Balance::TYPE),
        ("v_tax_rate", TaxRate::TYPE),
        ("v_comm_rate", CommissionRate::TYPE),
        ("v_charge", Amount::TYPE),
        ("v_assets", FinAgg::TYPE),
    ],
    &[
        Words("IF p_symb = '' THEN"),
        Into(&LISTING_BY_NAME, &["p_co_name", "p_issue"], LISTING),
        Words("ELSE"),
        Into(&LISTING_BY_SYMBOL, &["p_symb"], LISTING),
        Words("END IF;"),
        Into(&TYPE, &["p_type"], &["v_is_market", "v_is_sell"]),
        Words("IF v_is_market THEN {set} v_price = v_market; ELSE {set} v_price = p_price; END IF;"),
        Into(&HELD, &["p_acct", "v_symb"], &["v_held"]),
        Words(
            "{set} v_needed = p_qty; {set} v_buy = 0; {set} v_sell = 0;
             IF (v_is_sell AND v_held > 0) OR (NOT v_is_sell AND v_held < 0) THEN IF p_lifo THEN",
        ),
        Each("lot", &LOTS_NEWEST_FIRST, &["p_acct", "v_symb"], CLOSE_LOT),
        Words("ELSE"),
        Each("lot", &LOTS_OLDEST_FIRST, &["p_acct", "v_symb"], CLOSE_LOT),
        Words("END IF; END IF; IF p_taxed AND v_sell > v_buy THEN"),
        Into(&SUM_OF_TAX_RATES, &["p_cust"], &["v_tax_rate"]),
        Words("END IF;"),
        Into(&RATES, &["p_tier", "p_type", "v_ex", "p_qty"], &["v_comm_rate", "v_charge"]),
        Words("IF p_margin THEN"),
        Into(&ASSETS, &["p_acct"], &["v_assets"]),
        Words("END IF;"),
        Values(
            0,
            &[
                "v_symb", "v_name", "v_ex", "v_co", "v_co_name", "v_market", "v_is_market", "v_is_sell", "v_buy",
                "v_sell", "v_tax_rate", "v_comm_rate", "v_charge", "v_assets",
            ],
        ),
    ],
);

/// Frame 3: the rows read for an order, and the lots that it would close.
pub(in super::super) fn terms(
    db: &mut dyn Session,
    input: &TradeOrder,
    owner: &Owner,
    tier: u8,
) -> Result<TradeTerms, FrameError> {
    let trade_type = input.trade_type.text();
    let params = [
        input.acct_id.into(),
        (&input.symbol).into(),
        (&input.co_name).into(),
        (&input.issue).into(),
        (&trade_type).into(),
        input.trade_qty.into(),
        limit(input).into(),
        input.is_lifo.into(),
        input.type_is_margin.into(),
        owner.cust_id.into(),
        matches!(owner.tax_status, 1 | 2).into(),
        tier.into(),
    ];
    let mut found = None;
    call(db, &ESTIMATE, &params, &mut |_, row| keep(&mut found, row))?;
    made::<FoundVariables>(found, &ESTIMATE)?.terms()
}

pub(super) static NEW_ORDER: Routine = Routine::new(
    "bourse_trade_order_4",
    &[
        ("p_trade", TradeId::TYPE),
        ("p_dts", Timestamp::TYPE),
        ("p_status", StatusId::TYPE),
        ("p_type", TradeTypeId::TYPE),
        ("p_cash", bool::TYPE),
        ("p_symb", Symbol::TYPE),
        ("p_qty", Quantity::TYPE),
        ("p_price", Price::TYPE),
        ("p_acct", AccountId::TYPE),
        ("p_exec_name", Text::<49>::TYPE),
        ("p_charge", Amount::TYPE),
        ("p_comm", Amount::TYPE),
        ("p_lifo", bool::TYPE),
        ("p_broker", BrokerId::TYPE),
        ("p_limit", bool::TYPE),
    ],
    &[],
    &[
        ChangeOne(
            &INSERT_TRADE,
            &[
                "p_trade", "p_dts", "p_status", "p_type", "p_cash", "p_symb", "p_qty", "p_price", "p_acct",
                "p_exec_name", "p_charge", "p_comm", "p_lifo",
            ],
        ),
        Words("IF p_limit THEN"),
        ChangeOne(&INSERT_REQUEST, &["p_trade", "p_type", "p_symb", "p_qty", "p_price", "p_broker"]),
        Words("END IF;"),
        ChangeOne(&INSERT_HISTORY, &["p_trade", "p_dts", "p_status"]),
    ],
);

/// Frame 4. Parameters: the trade's row, its broker and whether it is a limit order.
pub(in super::super) fn new_order(
    db: &mut dyn Session,
    trade: &[Value<'_>; 13],
    broker: BrokerId,
    is_limit: bool,
) -> Result<(), FrameError> {
    let mut params = [Value::Null; 15];
    params[..13].copy_from_slice(trade);
    params[13..].copy_from_slice(&[broker.into(), is_limit.into()]);
    call(db, &NEW_ORDER, &params, &mut |set, _| no_such_set(set))
}
