//! Trade-Order (Clause 3.3.7): a customer, or a person he permits, orders a trade. Market orders go to the exchange
//! immediately; limit orders wait in TRADE_REQUEST for their price.

use super::error::{InFrame, WithFrame as _};
use super::order_rows::{INSERT_HISTORY, INSERT_REQUEST, INSERT_TRADE, OrderRows};
use super::perform::{commit, in_transaction};
use super::positions::{ClosedAmounts, lots};
use super::rates::{commission, tax, tax_rate};
use super::routines::orders;
use super::rows::{self, rows};
use super::{Context, FrameError, Status, Transaction, TxnError};
use bourse_egen::Money;
use bourse_egen::txn::{TradeAction, TradeOrder, TradeRequest};
use bourse_engine::{Session, Sql};
use bourse_oltp::planted;
use bourse_schema::{
    AccountId, Amount, Balance, BrokerId, CommissionRate, CompanyId, CustomerId, ExchangeId, Price, Quantity, StatusId,
    Symbol, TaxRate, Text, TradeId,
};

/// Output of Trade-Order.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct TradeOrderOutput {
    /// +1 if it was rolled back as requested; -711 without account, -721 without permission, -731 without tax on a gain,
    /// -732 without commission rate, -733 without charge.
    pub status: Status,
    /// Frame 1; `None` if there is no such account.
    pub owner: Option<Owner>,
    /// Frame 2, if another person than the owner orders: permissions of that person. Empty if there are none.
    pub ap_acl: Option<Text<4>>,
    /// Frame 3, if it was reached.
    pub estimate: Option<TradeEstimate>,
    /// Frame 4, if it was reached: the number of the trade, which remains unused if it was rolled back.
    pub trade_id: Option<TradeId>,
}

rows! {
    /// An account, its customer and its broker.
    pub struct Owner {
        /// `CA_NAME`.
        pub acct_name: Text<50>,
        /// `CA_B_ID`.
        pub broker_id: BrokerId,
        /// `CA_C_ID`.
        pub cust_id: CustomerId,
        /// `CA_TAX_ST`.
        pub tax_status: u8,
        /// `C_F_NAME`.
        pub cust_f_name: Text<20>,
        /// `C_L_NAME`.
        pub cust_l_name: Text<25>,
        /// `C_TIER`.
        pub cust_tier: u8,
        /// `C_TAX_ID`.
        pub tax_id: Text<20>,
        /// `B_NAME`.
        pub broker_name: Text<49>,
    }

    pub(super) struct Listing {
        pub(super) symbol: Symbol,
        pub(super) s_name: Text<70>,
        pub(super) ex_id: ExchangeId,
        pub(super) co_id: CompanyId,
        pub(super) co_name: Text<60>,
        pub(super) market_price: Price,
    }
}

/// Estimate of a trade's cost, gain, tax and fees (frame 3).
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct TradeEstimate {
    /// `CO_NAME`, as given or found.
    pub co_name: Text<60>,
    /// `S_SYMB`, as given or found.
    pub symbol: Symbol,
    /// `S_NAME`.
    pub s_name: Text<70>,
    /// `LT_PRICE`.
    pub market_price: Price,
    /// The requested price; the market's for a market order.
    pub requested_price: Price,
    /// Cost of the shares that change hands against held ones: at purchase, or now for a short position.
    pub buy_value: Balance,
    /// Proceeds of those shares: now, or at the short sale.
    pub sell_value: Balance,
    /// Tax on the gain.
    pub tax_amount: Amount,
    /// `CR_RATE`, in percent; 0 if there is none.
    pub comm_rate: CommissionRate,
    /// `CH_CHRG`; 0 if there is none.
    pub charge_amount: Amount,
    /// Cash and holdings of the account, for a trade on margin. They are read, but nothing depends on them.
    pub acct_assets: Balance,
    /// Whether it is a market order, which executes immediately.
    pub type_is_market: bool,
    /// Whether it is a sell order.
    pub type_is_sell: bool,
    /// The status the trade begins with.
    pub status_id: StatusId,
}

/// Runs Trade-Order, and sends the order to the market once it is committed.
///
/// # Errors
/// The engine's.
pub fn trade_order(
    db: &mut dyn Session,
    context: &Context<'_>,
    input: &TradeOrder,
) -> Result<Box<TradeOrderOutput>, TxnError> {
    // Boxed from the beginning: it is wide, and handed on several times.
    let nothing =
        TradeOrderOutput { status: Status::SUCCESS, owner: None, ap_acl: None, estimate: None, trade_id: None };
    let harness = |db: &mut dyn Session, status: &mut Status| -> Result<_, InFrame> {
        let mut output = Box::new(nothing);
        output.owner = frame1(db, input.acct_id).frame(1)?;
        let Some(owner) = &output.owner else {
            status.raise(-711);
            return Ok(output);
        };

        if input.exec_l_name != owner.cust_l_name
            || input.exec_f_name != owner.cust_f_name
            || input.exec_tax_id != owner.tax_id
        {
            let ap_acl = frame2(db, input).frame(2)?;
            output.ap_acl = Some(ap_acl);
            if ap_acl.is_empty() && !planted!(PermissionNotNeeded) {
                status.raise(-721);
                frame5(db).frame(5)?;
                return Ok(output);
            }
        }

        let estimate = frame3(db, input, owner).frame(3)?;
        let gains = estimate.sell_value > estimate.buy_value && matches!(owner.tax_status, 1 | 2);
        status.raise_if(gains && estimate.tax_amount <= Amount::from_units(0), -731);
        status.raise_if(estimate.comm_rate <= CommissionRate::from_units(0), -732);
        status.raise_if(estimate.charge_amount == Amount::from_units(0), -733);
        if status.is_error() {
            output.estimate = Some(estimate);
            return Ok(output);
        }

        let price = if planted!(CommissionOfMarketPrice) { estimate.market_price } else { estimate.requested_price };
        let new = NewTrade {
            comm_amount: commission(estimate.comm_rate, input.trade_qty, price),
            exec_name: executor(input),
            is_cash: !input.type_is_margin,
        };
        output.trade_id = Some(frame4(db, context, input, owner.broker_id, &estimate, &new).frame(4)?);
        output.estimate = Some(estimate);

        if input.roll_it_back {
            frame5(db).frame(5)?;
            status.raise(Status::ROLLED_BACK.code());
        } else {
            frame6(db).frame(6)?;
        }
        Ok(output)
    };
    let (mut output, status) = in_transaction(db, Transaction::TradeOrder, harness)?;
    if status == Status::SUCCESS
        && let (Some(estimate), Some(trade_id)) = (&output.estimate, output.trade_id)
    {
        context.market.send(&to_market(input, estimate, trade_id));
    }
    output.status = status;
    Ok(output)
}

/// Values that the harness computes between frames 3 and 4.
struct NewTrade {
    comm_amount: Amount,
    exec_name: Text<49>,
    is_cash: bool,
}

/// `T_EXEC_NAME` of an order.
pub(crate) fn executor(input: &TradeOrder) -> Text<49> {
    let mut name = Text::cut(input.exec_f_name.as_str());
    name.push(" ");
    name.push(input.exec_l_name.as_str());
    name
}

/// Limit price of an order. The emulator draws dollars as a binary number of whole cents.
pub(crate) fn limit(input: &TradeOrder) -> Price {
    if planted!(LimitPriceCut) {
        return Price::from_units((input.requested_price * 100.0) as i64);
    }
    Money::from_dollars(input.requested_price).into()
}

fn to_market(input: &TradeOrder, estimate: &TradeEstimate, trade_id: TradeId) -> TradeRequest {
    TradeRequest {
        action: if estimate.type_is_market { TradeAction::ProcessOrder } else { TradeAction::SetLimitTrigger },
        trade_id,
        trade_type: input.trade_type,
        symbol: estimate.symbol,
        trade_qty: input.trade_qty,
        price_quote: estimate.requested_price,
    }
}

static OWNER: Sql = Sql::new(
    "SELECT ca_name, ca_b_id, ca_c_id, ca_tax_st, c_f_name, c_l_name, c_tier, c_tax_id, b_name
       FROM customer_account
            CROSS JOIN customer
            CROSS JOIN broker
      WHERE ca_id = ?1 AND c_id = ca_c_id AND b_id = ca_b_id",
);

/// Frame 1: the account, its customer and its broker (Clause 3.3.7.3).
fn frame1(db: &mut dyn Session, account: AccountId) -> Result<Option<Owner>, FrameError> {
    rows::first(db, &OWNER, &[account.into()])
}

static PERMISSION: Sql = Sql::new(
    "SELECT ap_acl
       FROM account_permission
      WHERE ap_ca_id = ?1 AND ap_tax_id = ?2 AND ap_f_name = ?3 AND ap_l_name = ?4",
);

/// Frame 2: permissions of the executor on the account; empty if there are none (Clause 3.3.7.4). The kind of permission is
/// not checked.
fn frame2(db: &mut dyn Session, input: &TradeOrder) -> Result<Text<4>, FrameError> {
    let executor = [(&input.exec_tax_id).into(), (&input.exec_f_name).into(), (&input.exec_l_name).into()];
    let [tax_id, f_name, l_name] = executor;
    let permission = planted!(
        [PermissionOfAnyAccount, PermissionWithoutTaxId, PermissionWithoutNames]: crate::planted::permission();
        &PERMISSION
    );
    let found: Option<(Text<4>,)> = rows::first(db, permission, &[input.acct_id.into(), tax_id, f_name, l_name])?;
    Ok(found.map_or(Text::EMPTY, |(acl,)| acl))
}

pub(super) static LISTING_BY_SYMBOL: Sql = Sql::new(
    "SELECT s_symb, s_name, s_ex_id, s_co_id, co_name, lt_price
       FROM security
            CROSS JOIN company
            CROSS JOIN last_trade
      WHERE s_symb = ?1 AND co_id = s_co_id AND lt_s_symb = s_symb",
);
pub(super) static LISTING_BY_NAME: Sql = Sql::new(
    "SELECT s_symb, s_name, s_ex_id, s_co_id, co_name, lt_price
       FROM company
            CROSS JOIN security
            CROSS JOIN last_trade
      WHERE co_name = ?1 AND s_co_id = co_id AND s_issue = ?2 AND lt_s_symb = s_symb",
);
pub(super) static TYPE: Sql = Sql::new("SELECT tt_is_mrkt, tt_is_sell FROM trade_type WHERE tt_id = ?1");
pub(super) static RATES: Sql = Sql::new(
    "SELECT (SELECT cr_rate
               FROM commission_rate
              WHERE cr_c_tier = ?1 AND cr_tt_id = ?2 AND cr_ex_id = ?3 AND cr_from_qty <= ?4 AND cr_to_qty >= ?4),
            (SELECT ch_chrg FROM charge WHERE ch_tt_id = ?2 AND ch_c_tier = ?1) {from_one_row}",
);
pub(super) static ASSETS: Sql = Sql::new(
    "SELECT ca_bal + coalesce((SELECT sum(hs_qty * lt_price)
                                 FROM holding_summary CROSS JOIN last_trade
                                WHERE hs_ca_id = ca_id AND lt_s_symb = hs_s_symb), 0)
       FROM customer_account
      WHERE ca_id = ?1",
);

/// Rows read by frame 3.
pub(super) struct TradeTerms {
    pub(super) listing: Listing,
    pub(super) type_is_market: bool,
    pub(super) type_is_sell: bool,
    pub(super) closed: ClosedAmounts,
    /// Tax rate of the customer, if a gain is taxed.
    pub(super) tax_rate: Option<TaxRate>,
    pub(super) comm_rate: Option<CommissionRate>,
    pub(super) charge: Option<Amount>,
    /// Assets of the account, for a trade on margin.
    pub(super) acct_assets: Option<Balance>,
}

impl TradeTerms {
    fn requested_price(&self, input: &TradeOrder) -> Price {
        if self.type_is_market { self.listing.market_price } else { limit(input) }
    }

    fn gain(&self) -> Balance {
        Balance::from_units(self.closed.sell_value.units() - self.closed.buy_value.units())
    }

    /// Reads the terms with a statement for each.
    fn read(db: &mut dyn Session, input: &TradeOrder, owner: &Owner, tier: u8) -> Result<Self, FrameError> {
        let listing: Listing = if input.symbol.is_empty() {
            rows::one(db, &LISTING_BY_NAME, &[(&input.co_name).into(), (&input.issue).into()])?
        } else {
            rows::one(db, &LISTING_BY_SYMBOL, &[(&input.symbol).into()])?
        };
        let trade_type = input.trade_type.text();
        let (type_is_market, type_is_sell): (bool, bool) = rows::one(db, &TYPE, &[(&trade_type).into()])?;
        let mut terms = Self {
            listing,
            type_is_market,
            type_is_sell,
            closed: ClosedAmounts::default(),
            tax_rate: None,
            comm_rate: None,
            charge: None,
            acct_assets: None,
        };
        terms.closed = closed_lots(db, input, &terms.listing.symbol, type_is_sell, terms.requested_price(input))?;
        if terms.gain() > Balance::from_units(0) && matches!(owner.tax_status, 1 | 2) {
            terms.tax_rate = Some(tax_rate(db, owner.cust_id)?);
        }
        let rates = [tier.into(), (&trade_type).into(), (&terms.listing.ex_id).into(), input.trade_qty.into()];
        (terms.comm_rate, terms.charge) = rows::one(db, &RATES, &rates)?;
        if input.type_is_margin {
            let (assets,): (Balance,) = rows::one(db, &ASSETS, &[input.acct_id.into()])?;
            terms.acct_assets = Some(assets);
        }
        Ok(terms)
    }
}

/// Frame 3: estimates cost, proceeds and tax of the trade (Clause 3.3.7.5).
fn frame3(db: &mut dyn Session, input: &TradeOrder, owner: &Owner) -> Result<TradeEstimate, FrameError> {
    let tier = if planted!(ChargeOfOtherTier) { owner.cust_tier % 3 + 1 } else { owner.cust_tier };
    let terms = if db.has_routines() {
        orders::terms(db, input, owner, tier)?
    } else {
        TradeTerms::read(db, input, owner, tier)?
    };
    let TradeTerms { listing, type_is_market, type_is_sell, closed, .. } = &terms;
    Ok(TradeEstimate {
        co_name: listing.co_name,
        symbol: listing.symbol,
        s_name: listing.s_name,
        market_price: listing.market_price,
        requested_price: terms.requested_price(input),
        buy_value: closed.buy_value,
        sell_value: closed.sell_value,
        tax_amount: terms.tax_rate.map_or(Amount::from_units(0), |rate| tax(terms.gain(), rate)),
        comm_rate: terms.comm_rate.unwrap_or_default(),
        charge_amount: terms.charge.unwrap_or_default(),
        acct_assets: terms.acct_assets.unwrap_or_default(),
        type_is_market: *type_is_market,
        type_is_sell: *type_is_sell,
        status_id: Text::cut(if *type_is_market { "SBMT" } else { "PNDG" }),
    })
}

pub(super) static HELD: Sql = Sql::new("SELECT hs_qty FROM holding_summary WHERE hs_ca_id = ?1 AND hs_s_symb = ?2");
/// Walks the lots that the trade would close: long ones for a sale, short ones for a purchase. Shares beyond them open a new
/// position and add nothing.
fn closed_lots(
    db: &mut dyn Session,
    input: &TradeOrder,
    symbol: &Symbol,
    is_sell: bool,
    price: Price,
) -> Result<ClosedAmounts, FrameError> {
    let position = [input.acct_id.into(), symbol.into()];
    let held: Option<(Quantity,)> = rows::first(db, &HELD, &position)?;
    let held = held.map_or(0, |(qty,)| qty);
    let mut closed = ClosedAmounts::default();
    if (is_sell && held <= 0) || (!is_sell && held >= 0) {
        return Ok(closed);
    }
    let mut needed = input.trade_qty;
    for lot in lots(db, input.acct_id, symbol, input.is_lifo)? {
        if needed == 0 {
            break;
        }
        let shares = lot.qty.abs().min(needed);
        closed.add(shares * lot.qty.signum(), lot.price, price);
        needed -= shares;
    }
    Ok(closed)
}

/// Frame 4: writes the rows of the trade (Clause 3.3.7.6).
fn frame4(
    db: &mut dyn Session,
    context: &Context<'_>,
    input: &TradeOrder,
    broker: BrokerId,
    estimate: &TradeEstimate,
    new: &NewTrade,
) -> Result<TradeId, FrameError> {
    let now = (context.now)();
    let order = OrderRows {
        trade_id: context.trade_ids.next(),
        now,
        status: estimate.status_id,
        trade_type: input.trade_type.text(),
        is_cash: new.is_cash,
        symbol: estimate.symbol,
        qty: if planted!(OddLotAsHundred) { input.trade_qty.max(100) } else { input.trade_qty },
        price: estimate.requested_price,
        account: input.acct_id,
        exec_name: new.exec_name,
        charge: estimate.charge_amount,
        commission: new.comm_amount,
        is_lifo: input.is_lifo,
        broker,
    };
    order.insert(db, !estimate.type_is_market)?;
    Ok(order.trade_id)
}

/// Frame 5: rolls back (Clause 3.3.7.7).
fn frame5(db: &mut dyn Session) -> Result<(), FrameError> {
    if planted!(Autocommit) {
        return Ok(());
    }
    Ok(db.rollback()?)
}

/// Frame 6: commits (Clause 3.3.7.8).
fn frame6(db: &mut dyn Session) -> Result<(), FrameError> {
    commit(db)
}

pub(super) static STATEMENTS: &[&Sql] = &[
    &OWNER, &PERMISSION, &LISTING_BY_SYMBOL, &LISTING_BY_NAME, &TYPE, &RATES, &ASSETS, &HELD, &INSERT_TRADE,
    &INSERT_REQUEST, &INSERT_HISTORY,
];
