//! Trade-Result (Clause 3.3.8): the exchange has executed a trade. Moves holdings, taxes the gain, pays the broker and
//! settles with the customer; the heaviest writer, and the one whose completions are counted.

use super::error::{InFrame, WithFrame as _};
use super::perform::{commit, in_transaction};
use super::rates::{commission, tax, tax_rate, value};
use super::rows::{self, rows};
use super::{Context, FrameError, Status, Transaction, TxnError, positions, routines::results, trades};
#[cfg(feature = "planted-bug")]
use crate::planted::early;
use bourse_egen::txn::TradeResult;
use bourse_engine::{Session, Sql};
use bourse_oltp::planted;
use bourse_schema::{
    AccountId, Amount, Balance, BrokerId, CommissionRate, CustomerId, Date, Price, Quantity, Symbol, Text, Timestamp,
    TradeId, TradeTypeId,
};

/// Output of Trade-Result.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct TradeResultOutput {
    /// -811 without such a trade, -831 without tax on a gain, -841 without commission rate.
    pub status: Status,
    /// The account's load unit, from 1.
    pub load_unit: i64,
    /// Frame 1; `None` if there is no such trade.
    pub trade: Option<ExecutedTrade>,
    /// Frame 2, if it was reached.
    pub moved: Option<MovedHoldings>,
    /// Frame 3: tax on the gain; 0 if it was not reached.
    pub tax_amount: Amount,
    /// Frame 4, if it was reached.
    pub rates: Option<CommissionRates>,
    /// Paid to the broker; 0 if frame 5 was not reached.
    pub comm_amount: Amount,
    /// Settled with the customer; 0 if frame 6 was not reached.
    pub se_amount: Amount,
    /// Frame 6: the account's cash; 0 if it was not reached.
    pub acct_bal: Balance,
}

rows! {
    /// The executed trade, and the account's holdings of the security before it.
    pub struct ExecutedTrade {
        /// `T_CA_ID`.
        pub acct_id: AccountId,
        /// `T_TT_ID`.
        pub type_id: TradeTypeId,
        /// `T_S_SYMB`.
        pub symbol: Symbol,
        /// `T_QTY`.
        pub trade_qty: Quantity,
        /// `T_CHRG`.
        pub charge: Amount,
        /// `T_LIFO`.
        pub is_lifo: bool,
        /// `T_IS_CASH`.
        pub is_cash: bool,
        /// `TT_NAME`.
        pub type_name: Text<12>,
        /// `TT_IS_SELL`.
        pub type_is_sell: bool,
        /// `TT_IS_MRKT`.
        pub type_is_market: bool,
        /// `HS_QTY`, 0 if the account held nothing.
        pub hs_qty: Quantity,
    }

    /// Rates of which the commission is computed.
    pub struct CommissionRates {
        /// `S_NAME`.
        pub s_name: Text<70>,
        /// `CR_RATE`, in percent; `None` if there is none.
        pub comm_rate: Option<CommissionRate>,
    }

    pub(super) struct Account {
        broker_id: BrokerId,
        cust_id: CustomerId,
        tax_status: u8,
    }
}

/// Movement of holdings (frame 2).
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct MovedHoldings {
    /// Date and time of the trade.
    pub trade_dts: Timestamp,
    /// `CA_B_ID`.
    pub broker_id: BrokerId,
    /// `CA_C_ID`.
    pub cust_id: CustomerId,
    /// `CA_TAX_ST`.
    pub tax_status: u8,
    /// Cost of the lots that were closed.
    pub buy_value: Balance,
    /// Proceeds of the shares sold.
    pub sell_value: Balance,
}

/// Runs Trade-Result.
///
/// # Errors
/// The engine's.
pub fn trade_result(
    db: &mut dyn Session,
    context: &Context<'_>,
    input: &TradeResult,
) -> Result<TradeResultOutput, TxnError> {
    let nothing = TradeResultOutput {
        status: Status::SUCCESS,
        load_unit: 0,
        trade: None,
        moved: None,
        tax_amount: Amount::from_units(0),
        rates: None,
        comm_amount: Amount::from_units(0),
        se_amount: Amount::from_units(0),
        acct_bal: Balance::from_units(0),
    };
    let harness = |db: &mut dyn Session, status: &mut Status| -> Result<_, InFrame> {
        let mut output = nothing;
        let Some(trade) = frame1(db, input.trade_id).frame(1)? else {
            status.raise(-811);
            return Ok(output);
        };

        let moved = frame2(db, context, input, &trade).frame(2)?;
        output.load_unit = load_unit(moved.cust_id);

        if matches!(moved.tax_status, 1 | 2) && moved.sell_value > moved.buy_value {
            output.tax_amount = frame3(db, input.trade_id, &moved).frame(3)?;
            status.raise_if(output.tax_amount <= Amount::from_units(0), -831);
        }

        if !status.is_error() {
            let rates = frame4(db, &trade, moved.cust_id).frame(4)?;
            let comm_rate = rates.comm_rate.unwrap_or_default();
            status.raise_if(comm_rate <= CommissionRate::from_units(0), -841);
            output.comm_amount = commission(comm_rate, trade.trade_qty, input.trade_price);
            if planted!(CommissionAtHalfRate) {
                output.comm_amount = Amount::from_units(output.comm_amount.units() / 2);
            }
            output.rates = Some(rates);
        }

        if let (false, Some(rates)) = (status.is_error(), &output.rates) {
            frame5(db, input, &moved, output.comm_amount).frame(5)?;

            output.se_amount = settlement(&trade, &moved, input.trade_price, output.comm_amount, output.tax_amount);
            let days = if planted!(SettlementLate) { SETTLEMENT_DAYS + 1 } else { SETTLEMENT_DAYS };
            let due = Date::from_days(moved.trade_dts.date().days() + days);
            output.acct_bal = frame6(db, input, &trade, &moved, rates, due, output.se_amount).frame(6)?;
        }
        output.trade = Some(trade);
        output.moved = Some(moved);
        Ok(output)
    };
    planted!(
        [BalanceReadEarly, BrokerTradesReadEarly, CommissionsReadEarly, SummaryReadEarly]:
        early::before_result(db, input.trade_id)?; ()
    );
    let (output, status) = in_transaction(db, Transaction::TradeResult, harness)?;
    Ok(TradeResultOutput { status, ..output })
}

/// Calendar days from a trade to its settlement: weekends count like other days.
const SETTLEMENT_DAYS: i32 = 2;

/// The load unit of a thousand customers that a customer belongs to, from 1.
fn load_unit(customer: CustomerId) -> i64 {
    (customer.0 - bourse_egen::ids::SHIFT - 1) / 1_000 + 1
}

/// Amount that the customer receives, or pays if negative; minus tax only if the broker withholds it.
fn settlement(trade: &ExecutedTrade, moved: &MovedHoldings, price: Price, commission: Amount, tax: Amount) -> Amount {
    let gross = value(trade.trade_qty, price).units();
    let costs = trade.charge.units() + commission.units();
    let net = if trade.type_is_sell { gross - costs } else { -(gross + costs) };
    let withheld = if moved.tax_status == 1 || planted!(TaxWithheldOfAll) { tax.units() } else { 0 };
    Amount::from_units(net - withheld)
}

static EXECUTED: Sql = Sql::new(
    "SELECT t_ca_id, t_tt_id, t_s_symb, t_qty, t_chrg, t_lifo, t_is_cash, tt_name, tt_is_sell, tt_is_mrkt,
            coalesce(hs_qty, 0)
       FROM trade
            INNER JOIN trade_type ON tt_id = t_tt_id
            LEFT JOIN holding_summary ON hs_ca_id = t_ca_id AND hs_s_symb = t_s_symb
      WHERE t_id = ?1",
);

/// Frame 1: the trade, its type, and the holdings (Clause 3.3.8.3).
fn frame1(db: &mut dyn Session, trade: TradeId) -> Result<Option<ExecutedTrade>, FrameError> {
    rows::first(db, &EXECUTED, &[trade.into()])
}

pub(super) static ACCOUNT: Sql = Sql::new("SELECT ca_b_id, ca_c_id, ca_tax_st FROM customer_account WHERE ca_id = ?1");

/// Frame 2: moves the holdings (Clause 3.3.8.4).
fn frame2(
    db: &mut dyn Session,
    context: &Context<'_>,
    input: &TradeResult,
    trade: &ExecutedTrade,
) -> Result<MovedHoldings, FrameError> {
    let trade_dts = (context.now)();
    let change = positions::PositionChange {
        trade_id: input.trade_id,
        acct_id: trade.acct_id,
        symbol: &trade.symbol,
        dts: trade_dts,
        price: input.trade_price,
        qty: if trade.type_is_sell { -trade.trade_qty } else { trade.trade_qty },
        held: planted!(SummaryReadEarly: early::held(); trade.hs_qty),
        is_lifo: trade.is_lifo,
    };
    let (account, closed) = if db.has_routines() {
        results::move_holdings(db, &change)?
    } else {
        let account: Account = rows::one(db, &ACCOUNT, &[trade.acct_id.into()])?;
        (account, change.apply(db)?)
    };
    Ok(MovedHoldings {
        trade_dts,
        broker_id: account.broker_id,
        cust_id: account.cust_id,
        tax_status: account.tax_status,
        buy_value: closed.buy_value,
        sell_value: closed.sell_value,
    })
}

pub(super) static SET_TAX: Sql = Sql::new("UPDATE trade SET t_tax = ?2 WHERE t_id = ?1");

/// Frame 3: taxes the gain and notes it on the trade (Clause 3.3.8.5).
fn frame3(db: &mut dyn Session, trade: TradeId, moved: &MovedHoldings) -> Result<Amount, FrameError> {
    let gain = Balance::from_units(moved.sell_value.units() - moved.buy_value.units());
    if db.has_routines() {
        return results::tax_gain(db, trade, moved.cust_id, gain);
    }
    let tax_amount = tax(gain, tax_rate(db, moved.cust_id)?);
    rows::change_one(db, &SET_TAX, &[trade.into(), tax_amount.into()])?;
    Ok(tax_amount)
}

static RATES: Sql = Sql::new(
    "SELECT s_name, cr_rate
       FROM security
            CROSS JOIN customer
            LEFT JOIN commission_rate
                   ON cr_c_tier = c_tier AND cr_tt_id = ?3 AND cr_ex_id = s_ex_id
                  AND cr_from_qty <= ?4 AND cr_to_qty >= ?4
      WHERE s_symb = ?1 AND c_id = ?2",
);

/// Frame 4: the commission rate (Clause 3.3.8.6).
fn frame4(db: &mut dyn Session, trade: &ExecutedTrade, customer: CustomerId) -> Result<CommissionRates, FrameError> {
    let qty = trade.trade_qty.into();
    rows::one(db, &RATES, &[(&trade.symbol).into(), customer.into(), (&trade.type_id).into(), qty])
}

pub(super) static COMPLETE: Sql = Sql::new(
    "UPDATE trade SET t_comm = ?2, t_dts = ?3, t_st_id = 'CMPT', t_trade_price = ?4
      WHERE t_id = ?1",
);
pub(super) static NOTE_COMPLETED: Sql =
    Sql::new("INSERT INTO trade_history (th_t_id, th_dts, th_st_id) VALUES (?1, ?2, 'CMPT')");
pub(super) static PAY_BROKER: Sql = Sql::new(
    "UPDATE broker SET b_comm_total = b_comm_total + ?2, b_num_trades = b_num_trades + 1
      WHERE b_id = ?1",
);

/// Frame 5: completes the trade and pays the broker (Clause 3.3.8.7).
fn frame5(
    db: &mut dyn Session,
    input: &TradeResult,
    moved: &MovedHoldings,
    commission: Amount,
) -> Result<(), FrameError> {
    let (id, dts) = (input.trade_id.into(), moved.trade_dts.into());
    if db.has_routines() {
        let (price, broker) = (input.trade_price.into(), moved.broker_id.into());
        return results::complete_trade(db, &[id, commission.into(), dts, price, broker]);
    }
    let price = planted!(PriceInDimes: Price::from_units(input.trade_price.units() / 10 * 10); input.trade_price);
    rows::change_one(db, &COMPLETE, &[id, commission.into(), dts, price.into()])?;
    rows::change_one(db, &NOTE_COMPLETED, &[id, dts])?;
    if planted!(BrokerNotPaid) {
        return Ok(());
    }
    rows::change_one(db, &PAY_BROKER, &[moved.broker_id.into(), commission.into()])?;
    planted!(BrokerTradesReadEarly: early::count_trade(db, moved.broker_id)?; ());
    planted!(CommissionsReadEarly: early::pay_broker(db, moved.broker_id, commission)?; ());
    Ok(())
}

pub(super) static SETTLE: Sql =
    Sql::new("INSERT INTO settlement (se_t_id, se_cash_type, se_cash_due_date, se_amt) VALUES (?1, ?2, ?3, ?4)");
pub(super) static MOVE_CASH: Sql = Sql::new("UPDATE customer_account SET ca_bal = ca_bal + ?2 WHERE ca_id = ?1");
pub(super) static NOTE_CASH: Sql =
    Sql::new("INSERT INTO cash_transaction (ct_t_id, ct_dts, ct_amt, ct_name) VALUES (?1, ?2, ?3, ?4)");
pub(super) static BALANCE: Sql = Sql::new("SELECT ca_bal FROM customer_account WHERE ca_id = ?1");

/// Frame 6: settles with the customer (Clause 3.3.8.8).
fn frame6(
    db: &mut dyn Session,
    input: &TradeResult,
    trade: &ExecutedTrade,
    moved: &MovedHoldings,
    rates: &CommissionRates,
    due: Date,
    amount: Amount,
) -> Result<Balance, FrameError> {
    let (id, account) = (input.trade_id.into(), trade.acct_id.into());
    let cash_type = if trade.is_cash || planted!(MarginAsCash) { "Cash Account" } else { "Margin" };
    let name = trades::cash_name(&trade.type_name, trade.trade_qty, "shares", &rates.s_name);
    if db.has_routines() {
        let (due, is_cash, dts) = (due.into(), trade.is_cash.into(), moved.trade_dts.into());
        let params = [id, account, cash_type.into(), due, amount.into(), is_cash, dts, (&name).into()];
        let balance = results::settle_trade(db, &params)?;
        commit(db)?;
        return Ok(balance);
    }
    rows::change_one(db, &SETTLE, &[id, cash_type.into(), due.into(), amount.into()])?;
    if trade.is_cash {
        let moves = if planted!(CashNotMoved) { Amount::from_units(0) } else { amount };
        rows::change_one(db, &MOVE_CASH, &[account, moves.into()])?;
        let name = planted!(CashNameCut: Text::cut(name.as_str().get(..40).unwrap_or(name.as_str())); name);
        rows::change_one(db, &NOTE_CASH, &[id, moved.trade_dts.into(), amount.into(), (&name).into()])?;
    } else if planted!(MarginMovesCash) {
        rows::change_one(db, &MOVE_CASH, &[account, amount.into()])?;
    }
    let (balance,): (Balance,) = rows::one(db, &BALANCE, &[account])?;
    planted!(BalanceReadEarly: if trade.is_cash { early::move_cash(db, trade.acct_id, amount)? }; ());
    planted!(CashInSinglePrecision: early::round_balance(db, trade.acct_id, balance)?; ());
    commit(db)?;
    Ok(balance)
}

pub(super) static STATEMENTS: &[&Sql] = &[
    &EXECUTED, &ACCOUNT, &SET_TAX, &RATES, &COMPLETE, &NOTE_COMPLETED, &PAY_BROKER, &SETTLE, &MOVE_CASH, &NOTE_CASH,
    &BALANCE,
];
