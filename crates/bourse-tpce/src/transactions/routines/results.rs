//! Trade-Result's frames 2, 3, 5 and 6.

use super::super::positions::{ClosedAmounts, PositionChange};
use super::super::positions::{
    DELETE_LOT, DELETE_SUMMARY, INSERT_LOT, INSERT_SUMMARY, LOTS_NEWEST_FIRST, LOTS_OLDEST_FIRST, NOTE_CHANGE,
    RESIZE_LOT, UPDATE_SUMMARY,
};
use super::super::rates::SUM_OF_TAX_RATES;
use super::super::trade_result::{
    ACCOUNT, Account, BALANCE, COMPLETE, MOVE_CASH, NOTE_CASH, NOTE_COMPLETED, PAY_BROKER, SET_TAX, SETTLE,
};
use super::super::{FrameError, rows};
use super::{call, keep, made, no_such_set};
use bourse_engine::RoutineStep::{ChangeOne, Each, Into, Rows, Text as Words, Values};
use bourse_engine::{Routine, RoutineStep, Session, Value};
use bourse_schema::{
    AccountId, Amount, Balance, BrokerId, CustomerId, Date, Field as _, Price, Quantity, Symbol, TaxRate, Text,
    Timestamp, TradeId,
};

rows::rows! {
    struct ClosedValues {
        buy_value: Balance,
        sell_value: Balance,
    }
}

/// Steps for each lot, while there are shares left to be traded.
static CLOSE_LOT: &[RoutineStep] = &[
    Words(
        "IF v_open <> 0 THEN
            {set} v_before = lot.h_qty;
            IF ABS(v_before) > ABS(v_open) THEN {set} v_after = v_before + v_open; ELSE {set} v_after = 0; END IF;",
    ),
    ChangeOne(&NOTE_CHANGE, &["lot.h_t_id", "p_trade", "v_before", "v_after"]),
    Words("IF v_after = 0 THEN"),
    ChangeOne(&DELETE_LOT, &["lot.h_t_id"]),
    Words("ELSE"),
    ChangeOne(&RESIZE_LOT, &["lot.h_t_id", "v_after"]),
    Words(
        "END IF;
         IF v_before > v_after THEN
            {set} v_buy = v_buy + (v_before - v_after) * lot.h_price;
            {set} v_sell = v_sell + (v_before - v_after) * p_price;
         ELSE
            {set} v_buy = v_buy + (v_after - v_before) * p_price;
            {set} v_sell = v_sell + (v_after - v_before) * lot.h_price;
         END IF;
         {set} v_open = v_open + v_before - v_after;
         END IF;",
    ),
];

pub(super) static MOVE_HOLDINGS: Routine = Routine::new(
    "bourse_trade_result_2",
    &[
        ("p_trade", TradeId::TYPE),
        ("p_acct", AccountId::TYPE),
        ("p_symb", Symbol::TYPE),
        ("p_dts", Timestamp::TYPE),
        ("p_price", Price::TYPE),
        ("p_qty", Quantity::TYPE),
        ("p_held", Quantity::TYPE),
        ("p_lifo", bool::TYPE),
    ],
    &[
        ("v_open", Quantity::TYPE),
        ("v_before", Quantity::TYPE),
        ("v_after", Quantity::TYPE),
        ("v_buy", Balance::TYPE),
        ("v_sell", Balance::TYPE),
    ],
    &[
        Rows(0, &ACCOUNT, &["p_acct"]),
        Words("{set} v_open = p_qty; {set} v_buy = 0; {set} v_sell = 0; IF p_held = 0 THEN"),
        ChangeOne(&INSERT_SUMMARY, &["p_acct", "p_symb", "p_qty"]),
        Words("ELSEIF p_held + p_qty <> 0 THEN"),
        ChangeOne(&UPDATE_SUMMARY, &["p_acct", "p_symb", "p_held + p_qty"]),
        Words("END IF; IF SIGN(p_held) = -SIGN(p_qty) THEN IF p_lifo THEN"),
        Each("lot", &LOTS_NEWEST_FIRST, &["p_acct", "p_symb"], CLOSE_LOT),
        Words("ELSE"),
        Each("lot", &LOTS_OLDEST_FIRST, &["p_acct", "p_symb"], CLOSE_LOT),
        Words("END IF; END IF; IF v_open <> 0 THEN"),
        ChangeOne(&NOTE_CHANGE, &["p_trade", "p_trade", "0", "v_open"]),
        ChangeOne(&INSERT_LOT, &["p_trade", "p_acct", "p_symb", "p_dts", "p_price", "v_open"]),
        Words("ELSEIF p_held + p_qty = 0 THEN"),
        ChangeOne(&DELETE_SUMMARY, &["p_acct", "p_symb"]),
        Words("END IF;"),
        Values(1, &["v_buy", "v_sell"]),
    ],
);

/// Frame 2: the account, and cost and proceeds of the closed lots.
pub(in super::super) fn move_holdings(
    db: &mut dyn Session,
    change: &PositionChange<'_>,
) -> Result<(Account, ClosedAmounts), FrameError> {
    let params = [
        change.trade_id.into(),
        change.acct_id.into(),
        change.symbol.into(),
        change.dts.into(),
        change.price.into(),
        change.qty.into(),
        change.held.into(),
        change.is_lifo.into(),
    ];
    let (mut account, mut values) = (None, None::<ClosedValues>);
    let called = call(db, &MOVE_HOLDINGS, &params, &mut |set, row| match set {
        0 => keep(&mut account, row),
        1 => keep(&mut values, row),
        other => no_such_set(other),
    });
    if change.held == 0 {
        called.map_err(FrameError::since_read)?
    } else {
        called?
    }
    let ClosedValues { buy_value, sell_value } = made(values, &MOVE_HOLDINGS)?;
    Ok((account.ok_or_else(|| FrameError::rows(&ACCOUNT, 1, 0))?, ClosedAmounts { buy_value, sell_value }))
}

pub(super) static TAX_GAIN: Routine = Routine::new(
    "bourse_trade_result_3",
    &[("p_trade", TradeId::TYPE), ("p_cust", CustomerId::TYPE), ("p_gain", Balance::TYPE)],
    &[("v_rate", TaxRate::TYPE), ("v_tax", Amount::TYPE)],
    &[
        Into(&SUM_OF_TAX_RATES, &["p_cust"], &["v_rate"]),
        // A gain is positive, and so is a rate: halves are rounded up.
        Words("{set} v_tax = ROUND(p_gain * COALESCE(v_rate, 0), 2);"),
        ChangeOne(&SET_TAX, &["p_trade", "v_tax"]),
        Values(0, &["v_tax"]),
    ],
);

/// Frame 3: the tax on the gain.
pub(in super::super) fn tax_gain(
    db: &mut dyn Session,
    trade: TradeId,
    customer: CustomerId,
    gain: Balance,
) -> Result<Amount, FrameError> {
    let mut tax: Option<(Amount,)> = None;
    call(db, &TAX_GAIN, &[trade.into(), customer.into(), gain.into()], &mut |_, row| keep(&mut tax, row))?;
    Ok(made(tax, &TAX_GAIN)?.0)
}

pub(super) static COMPLETE_TRADE: Routine = Routine::new(
    "bourse_trade_result_5",
    &[
        ("p_trade", TradeId::TYPE),
        ("p_comm", Amount::TYPE),
        ("p_dts", Timestamp::TYPE),
        ("p_price", Price::TYPE),
        ("p_broker", BrokerId::TYPE),
    ],
    &[],
    &[
        ChangeOne(&COMPLETE, &["p_trade", "p_comm", "p_dts", "p_price"]),
        ChangeOne(&NOTE_COMPLETED, &["p_trade", "p_dts"]),
        ChangeOne(&PAY_BROKER, &["p_broker", "p_comm"]),
    ],
);

/// Frame 5. Parameters: trade, commission, time, price and broker.
pub(in super::super) fn complete_trade(db: &mut dyn Session, params: &[Value<'_>; 5]) -> Result<(), FrameError> {
    call(db, &COMPLETE_TRADE, params, &mut |set, _| no_such_set(set))
}

pub(super) static SETTLE_TRADE: Routine = Routine::new(
    "bourse_trade_result_6",
    &[
        ("p_trade", TradeId::TYPE),
        ("p_acct", AccountId::TYPE),
        ("p_cash_type", Text::<40>::TYPE),
        ("p_due", Date::TYPE),
        ("p_amt", Amount::TYPE),
        ("p_cash", bool::TYPE),
        ("p_dts", Timestamp::TYPE),
        ("p_name", Text::<100>::TYPE),
    ],
    &[],
    &[
        ChangeOne(&SETTLE, &["p_trade", "p_cash_type", "p_due", "p_amt"]),
        Words("IF p_cash THEN"),
        ChangeOne(&MOVE_CASH, &["p_acct", "p_amt"]),
        ChangeOne(&NOTE_CASH, &["p_trade", "p_dts", "p_amt", "p_name"]),
        Words("END IF;"),
        Rows(0, &BALANCE, &["p_acct"]),
    ],
);

/// Frame 6. Parameters: trade, account, cash type, due date, amount, whether it is for cash, time and name of the cash
/// transaction. Returns the account's balance.
pub(in super::super) fn settle_trade(db: &mut dyn Session, params: &[Value<'_>; 8]) -> Result<Balance, FrameError> {
    let mut balance: Option<(Balance,)> = None;
    call(db, &SETTLE_TRADE, params, &mut |_, row| keep(&mut balance, row))?;
    Ok(balance.ok_or_else(|| FrameError::rows(&BALANCE, 1, 0))?.0)
}
