//! The market of one load unit from its first day to its last: the orders, their completion, and the changes to the
//! accounts' holdings.
//!
//! Three random sequences are used side by side: one for the orders, one that chooses accounts and securities, and one
//! for the market's delays, which begins equally in every load unit. Every hundred-and-first order is aborted; its
//! identifier and all its random numbers are consumed.

use std::collections::VecDeque;

use bourse_schema::{AccountId, BrokerId, CustomerId, Quantity, TradeId};

use super::accounts::{AccountOwner, TradingAccount, UnitAccounts};
use super::holdings::{self, Changes, HoldingLot};
use super::queue::TimeQueue;
use crate::dates::WORK_DAY_SECONDS;
use crate::ids::{self, BROKERS_PER_LOAD_UNIT, LOAD_UNIT, SHIFT, TRADE_SHIFT};
use crate::keys::{CustomerPicker, TaxStatus};
use crate::price::{PriceCurve, Seconds};
use crate::tables::TABLE_SEED;
use crate::{Inputs, Money, Part, Rng, TradeType};

/// Number of orders of which one is aborted.
const ABORT_EVERY: i64 = 101;
/// Index among them of the aborted order.
const ABORTED: i64 = 51;
/// Shares of an order.
const QUANTITIES: [Quantity; 4] = [100, 200, 400, 800];
/// Seconds from 17:00 to 09:00.
const NIGHT: Seconds = 57_600.0;

/// A trade that is not completed yet.
#[derive(Debug, Clone, Copy)]
struct OpenTrade {
    id: TradeId,
    kind: TradeType,
    customer: CustomerId,
    tier: u8,
    account: AccountId,
    basket_place: u8,
    security: u32,
    /// Index of the quantity.
    size: u8,
    bid: Money,
    price: Money,
    pending: Option<Seconds>,
    submitted: Seconds,
    completed: Seconds,
    lifo: bool,
}

/// A completed trade with all values of its rows.
#[derive(Debug, Clone, Copy)]
pub struct CompletedTrade {
    /// Identifier of the trade.
    pub id: TradeId,
    /// Type.
    pub kind: TradeType,
    /// Customer who placed the order.
    pub customer: CustomerId,
    /// The customer's tier.
    pub tier: u8,
    /// Account of the trade.
    pub account: AccountId,
    /// Index of the security.
    pub security: i64,
    /// Position of the security in the account's basket, from 1.
    pub basket_place: u8,
    /// Shares.
    pub quantity: Quantity,
    /// Price bid.
    pub bid: Money,
    /// Price paid.
    pub price: Money,
    /// Time at which a limit order was placed; `None` for market orders.
    pub pending: Option<Seconds>,
    /// Time at which it reached the market.
    pub submitted: Seconds,
    /// Time at which it was completed.
    pub completed: Seconds,
    /// Whether the newest lots are sold first.
    pub lifo: bool,
    /// Whether it is paid in cash, not on margin.
    pub is_cash: bool,
    /// Changes to the holdings.
    pub holdings: Changes,
    /// Charge.
    pub charge: Money,
    /// Commission.
    pub commission: Money,
    /// Tax on the gain, whether withheld or not.
    pub tax: Money,
    /// Amount that the account receives, or pays if negative.
    pub settlement: Money,
    /// Tax status of the account.
    pub tax_status: TaxStatus,
    /// Broker of the account.
    pub broker: BrokerId,
}

/// Trades of one load unit: an iterator in the order of completion.
#[derive(Debug)]
pub struct Simulation<'a> {
    inputs: &'a Inputs,
    pub(super) accounts: UnitAccounts,
    /// Lists of lots: one for each security of each account.
    pub(super) lots: Vec<VecDeque<HoldingLot>>,
    queue: TimeQueue<OpenTrade>,
    picker: CustomerPicker,
    curve: PriceCurve,
    orders_rng: Rng,
    holdings_rng: Rng,
    price_rng: Rng,
    /// Mean seconds between orders.
    gap: Seconds,
    /// Orders of a work day, including aborted ones.
    orders_per_day: i64,
    total: i64,
    completed: i64,
    initiated: i64,
    now: Seconds,
    last_id: i64,
    /// Identifier from which the lots' trades are counted.
    first_id: TradeId,
    rates: CommissionTable,
    /// List of lots of the previous order.
    touched: usize,
    first_customer: CustomerId,
    first_broker: BrokerId,
}

/// Commission rates in percent by tier, type, exchange and size of the order.
#[derive(Debug)]
struct CommissionTable([[[[f64; QUANTITIES.len()]; 4]; 5]; 3]);

impl CommissionTable {
    fn new(inputs: &Inputs) -> Self {
        let rate = |tier: u8, kind, exchange: u8| {
            QUANTITIES.map(|quantity| inputs.commission_rate(tier, kind, exchange, quantity))
        };
        Self([1, 2, 3].map(|tier| TradeType::ALL.map(|kind| [0, 1, 2, 3].map(|exchange| rate(tier, kind, exchange)))))
    }

    #[inline]
    fn of(&self, order: &OpenTrade, exchange: u8) -> f64 {
        self.0[usize::from(order.tier) - 1][order.kind as usize][usize::from(exchange)][usize::from(order.size)]
    }
}

impl<'a> Simulation<'a> {
    /// Trades of load unit `index` (from 0) of a part.
    ///
    /// # Panics
    /// Panics if there is no such load unit.
    pub fn new(inputs: &'a Inputs, part: Part, index: i64) -> Self {
        let unit = part.load_unit(index);
        let total = part.trades_per_load_unit();
        let units_before = (unit.first_customer() + SHIFT) / LOAD_UNIT;
        let trades_before = (units_before as u64).wrapping_mul(total as u64);
        let accounts = UnitAccounts::of_load_unit(inputs, unit);
        let last_id = last_id_before(part, index);
        Self {
            inputs,
            lots: vec![VecDeque::new(); accounts.lists()],
            accounts,
            rates: CommissionTable::new(inputs),
            touched: 0,
            first_id: TradeId(last_id),
            queue: TimeQueue::new(),
            picker: CustomerPicker::load_unit(unit.first_customer()),
            curve: PriceCurve::after(0),
            orders_rng: Rng::at(32_900_134, trades_before.wrapping_mul(11)),
            holdings_rng: Rng::at(TABLE_SEED, trades_before),
            price_rng: Rng::new(75_791_232),
            gap: ((100.0 / ABORT_EVERY as f64) * part.scale_factor() as f64) / LOAD_UNIT as f64,
            orders_per_day: WORK_DAY_SECONDS * LOAD_UNIT / part.scale_factor() * ABORT_EVERY / 100,
            total,
            completed: 0,
            initiated: 0,
            now: 0.0,
            last_id,
            first_customer: ids::customer(unit.first_customer()),
            first_broker: ids::broker(unit.load_units_before() * BROKERS_PER_LOAD_UNIT + 1),
        }
    }

    /// Mean seconds between orders.
    pub fn mean_gap(&self) -> Seconds {
        self.gap
    }

    /// Number of completed trades of the load unit.
    pub fn total(&self) -> i64 {
        self.total
    }

    /// Orders of a work day, including aborted ones.
    pub fn orders_per_day(&self) -> i64 {
        self.orders_per_day
    }

    /// Number of orders so far, including aborted ones.
    pub fn initiated(&self) -> i64 {
        self.initiated
    }

    /// Number of orders not completed yet.
    pub fn waiting(&self) -> usize {
        self.queue.len()
    }

    /// Last identifier assigned.
    pub fn last_id(&self) -> TradeId {
        TradeId(self.last_id)
    }

    /// States of the three random sequences: orders, holdings, prices.
    pub fn states(&self) -> [u64; 3] {
        [self.orders_rng, self.holdings_rng, self.price_rng].map(Rng::state)
    }

    /// First broker of the load unit.
    pub(super) fn first_broker(&self) -> BrokerId {
        self.first_broker
    }

    /// Trade that made a lot.
    pub(super) fn maker(&self, lot: &HoldingLot) -> TradeId {
        TradeId(self.first_id.0 + i64::from(lot.trade()))
    }

    pub(super) fn owner(&self, customer: CustomerId) -> &AccountOwner {
        self.accounts.owner((customer.0 - self.first_customer.0) as usize)
    }

    /// Draws the next order, whether it is then aborted or waits.
    fn initiate(&mut self) {
        let (day, of_day) = (self.initiated / self.orders_per_day, self.initiated % self.orders_per_day);
        let rng = &mut self.orders_rng;
        let delay = rng.stepped(0.0, self.gap - 0.001, 0.001);
        self.now = (day * 86_400) as f64 + of_day as f64 * self.gap + delay;
        self.last_id += 1;
        let (customer, tier) = self.picker.pick(rng);
        let (account, basket_place, security) = self.account_and_security(customer);
        let rng = &mut self.orders_rng;
        let kind = match rng.percentage() {
            ..=30 => TradeType::MarketBuy,
            31..=60 => TradeType::MarketSell,
            61..=80 => TradeType::LimitBuy,
            81..=90 => TradeType::LimitSell,
            _ => TradeType::StopLoss,
        };
        // Drawn for market orders too, and thrown away.
        let limit = Money::from_dollars(rng.stepped(20.0, 30.0, 0.01));
        let size = rng.below(QUANTITIES.len() as u64) as u8;
        let security_index = i64::from(security);
        let (pending, submitted, bid) = if kind.is_market() {
            (None, self.now, self.curve.price(security_index, self.now))
        } else {
            let submitted = self.curve.submission(security_index, self.now, limit, kind, &mut self.price_rng);
            (Some(self.now), after_hours(submitted), limit)
        };
        let (completed, market_price) = self.curve.completion(security_index, submitted, &mut self.price_rng);
        let price = match kind {
            TradeType::LimitBuy if bid < market_price => bid,
            TradeType::LimitSell if bid > market_price => bid,
            _ => market_price,
        };
        let lifo = rng.percent(35);
        self.initiated += 1;
        if self.initiated % ABORT_EVERY == ABORTED {
            return;
        }
        let id = TradeId(self.last_id);
        let order = OpenTrade {
            id,
            kind,
            customer,
            tier,
            account,
            basket_place,
            security,
            size,
            bid,
            price,
            pending,
            submitted,
            completed,
            lifo,
        };
        self.queue.push(completed, order);
    }

    /// Draws one of a customer's accounts and one of its securities, with the position in the basket from 1.
    fn account_and_security(&mut self, customer: CustomerId) -> (AccountId, u8, u32) {
        let first = ids::first_account(customer).0;
        let last = first + self.owner(customer).accounts - 1;
        let account = AccountId(self.holdings_rng.range(first, last));
        let of_account = self.accounts.account(self.accounts.place(account));
        let securities = of_account.basket.securities();
        let place = self.holdings_rng.range(1, securities.len() as i64);
        let list = of_account.lists as usize + place as usize - 1;
        self.prefetch(list);
        let securities = self.accounts.account(self.accounts.place(account)).basket.securities();
        (account, place as u8, securities[place as usize - 1])
    }

    /// Prefetches a list of lots. Lists are scattered over memory and are needed some orders later, when this one
    /// completes. Touched now they are fetched in parallel with other work: first the list itself, and with the next
    /// order its contents.
    fn prefetch(&mut self, list: usize) {
        std::hint::black_box(self.lots[self.touched].front().map(HoldingLot::quantity));
        std::hint::black_box(self.lots[list].len());
        self.touched = list;
    }

    fn complete(&mut self, order: &OpenTrade) -> CompletedTrade {
        let account_place = self.accounts.place(order.account);
        let &TradingAccount { tax_status, broker, lists, .. } = self.accounts.account(account_place);
        let quantity = QUANTITIES[usize::from(order.size)];
        let signed = if order.kind.is_sell() { -quantity } else { quantity };
        let lot = HoldingLot::new((order.id.0 - self.first_id.0) as u32, signed, order.price, order.completed);
        let lots = &mut self.lots[lists as usize + usize::from(order.basket_place) - 1];
        let changes = holdings::trade(lots, lot, order.lifo, self.first_id);

        let security = i64::from(order.security);
        let charge = self.inputs.charge(order.kind, order.tier);
        let value = order.price * i64::from(quantity);
        let rate = self.rates.of(order, self.inputs.security(security).exchange);
        // Rounded to a cent twice.
        let commission = value.times(rate).over(100.0);
        let tax = if changes.sold > changes.bought {
            (changes.sold - changes.bought).times(self.owner(order.customer).tax_rate)
        } else {
            Money::ZERO
        };
        let gross = if order.kind.is_sell() { value - charge - commission } else { -(value + charge + commission) };
        // Shown for accounts of status 2 too, but withheld from those of status 1 alone.
        let settlement = if tax_status == TaxStatus::Withheld { gross - tax } else { gross };
        // Drawn now, between the orders' draws: their sequence depends on the queue.
        let is_cash = order.kind.is_sell() || !self.orders_rng.percent(16);
        self.completed += 1;
        CompletedTrade {
            id: order.id,
            kind: order.kind,
            customer: order.customer,
            tier: order.tier,
            account: order.account,
            security,
            basket_place: order.basket_place,
            quantity,
            bid: order.bid,
            price: order.price,
            pending: order.pending,
            submitted: order.submitted,
            completed: order.completed,
            lifo: order.lifo,
            is_cash,
            holdings: changes,
            charge,
            commission,
            tax,
            settlement,
            tax_status,
            broker: BrokerId(self.first_broker.0 + i64::from(broker)),
        }
    }
}

impl Iterator for Simulation<'_> {
    type Item = CompletedTrade;

    fn next(&mut self) -> Option<CompletedTrade> {
        if self.completed == self.total {
            return None;
        }
        while self.completed + (self.queue.len() as i64) < self.total && self.queue.first_after(self.now) {
            self.initiate();
        }
        let order = self.queue.pop().expect("orders are made until one waits");
        Some(self.complete(&order))
    }
}

/// Identifier before a load unit's first. The reference counts from the first customer of the run and then adds up,
/// which is not the same for every scale factor.
fn last_id_before(part: Part, index: i64) -> i64 {
    let hours = part.days() * WORK_DAY_SECONDS;
    let before_part = hours * (part.first_customer() - 1) / part.scale_factor() * ABORT_EVERY / 100;
    before_part + index * (part.trades_per_load_unit() * ABORT_EVERY / 100) + TRADE_SHIFT
}

/// Moves a submission after 17:00 to 09:00 of the next day. The reference examines only the ninth hour of the day, and
/// not its first moment.
fn after_hours(submitted: Seconds) -> Seconds {
    let hours = submitted / 3_600.0;
    let whole = hours.trunc();
    if whole as i64 % 24 == 8 && hours > whole { submitted + NIGHT } else { submitted }
}
