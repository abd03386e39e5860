//! Choice of customers, accounts, brokers, companies and securities for inputs.

use super::config::{Database, Partition};
use crate::keys::{Basket, CustomerPicker, Person, accounts_of, basket_size};
use crate::{Inputs, Rng, ids};
use bourse_schema::{AccountId, BrokerId, CompanyId, CustomerId, Symbol, Text, TradeId};

/// Number of trades of the initial population of which one is aborted, with its number unused.
const ABORT_EVERY: i64 = 101;
/// Index among them of the aborted trade.
const ABORTED: i64 = 51;

/// A database with the input files it was made from.
#[derive(Debug, Clone)]
pub(super) struct EmulatedDatabase<'i> {
    pub(super) inputs: &'i Inputs,
    pub(super) database: Database,
    picker: CustomerPicker,
    /// Names of brokers, precomputed since they take longer to make than all else that is drawn with them.
    broker_names: Vec<Text<49>>,
}

impl<'i> EmulatedDatabase<'i> {
    pub(super) fn new(inputs: &'i Inputs, database: Database, partition: Option<Partition>) -> Self {
        let all = CustomerPicker::new(1, database.active_customers);
        let picker = match partition {
            Some(Partition { first, count, percent }) => all.partitioned(first, count, percent.into()),
            None => all,
        };
        let brokers = database.active_customers / ids::LOAD_UNIT * ids::BROKERS_PER_LOAD_UNIT;
        let broker_names = (1..=brokers).map(|n| Person::from(ids::broker(n)).formal_name(inputs)).collect();
        Self { inputs, database, picker, broker_names }
    }

    /// Number of brokers that serve the active customers.
    pub(super) fn brokers(&self) -> i64 {
        self.broker_names.len() as i64
    }

    /// Number of companies that belong to the active customers.
    pub(super) fn companies(&self) -> i64 {
        self.database.active_customers / ids::LOAD_UNIT * ids::COMPANIES_PER_LOAD_UNIT
    }

    /// Number of securities that belong to the active customers.
    fn securities(&self) -> i64 {
        self.database.active_customers / ids::LOAD_UNIT * ids::SECURITIES_PER_LOAD_UNIT
    }

    /// Number of securities that baskets are drawn from: those of all configured customers.
    fn configured_securities(&self) -> i64 {
        self.database.configured_customers / ids::LOAD_UNIT * ids::SECURITIES_PER_LOAD_UNIT
    }

    /// Largest account id that the active customers can have.
    pub(super) fn last_account(&self) -> AccountId {
        AccountId(ids::customer(self.database.active_customers).0 * ids::ACCOUNTS_PER_CUSTOMER)
    }

    /// Draws a customer by trading activity: the higher the tier, the more often.
    pub(super) fn trading_customer(&self, rng: &mut Rng) -> CustomerId {
        self.picker.pick(rng).0
    }

    /// Draws an account of a customer chosen by trading activity.
    pub(super) fn trading_account(&self, rng: &mut Rng) -> AccountId {
        let customer = self.trading_customer(rng);
        account_of(customer, rng)
    }

    /// Draws an account of a customer, and by its index a security of the account's basket.
    pub(super) fn holding_of(&self, customer: CustomerId, rng: &mut Rng) -> (AccountId, i64) {
        let account = account_of(customer, rng);
        let position = rng.below(basket_size(account) as u64);
        let basket = Basket::of(account, self.configured_securities());
        (account, basket.securities()[position as usize].into())
    }

    /// Draws any customer, all equally likely.
    pub(super) fn any_customer(&self, rng: &mut Rng) -> CustomerId {
        ids::customer(rng.range(1, self.database.active_customers))
    }

    /// Draws any company, all equally likely.
    pub(super) fn any_company(&self, rng: &mut Rng) -> CompanyId {
        ids::company(rng.range(0, self.companies() - 1))
    }

    /// Draws any broker, all equally likely.
    pub(super) fn any_broker(&self, rng: &mut Rng) -> BrokerId {
        ids::broker(rng.range(1, self.brokers()))
    }

    /// Name of a broker of the active customers.
    pub(super) fn broker_name(&self, broker: BrokerId) -> Text<49> {
        self.broker_names[(broker.0 - ids::broker(1).0) as usize]
    }

    /// Draws any security's symbol, all equally likely.
    pub(super) fn any_symbol(&self, rng: &mut Rng) -> Symbol {
        self.inputs.symbol(rng.range(0, self.securities() - 1))
    }

    /// Draws an initial trade, some more often than others, none that was aborted.
    pub(super) fn initial_trade(&self, rng: &mut Rng) -> TradeId {
        let trade = rng.non_uniform(1, self.database.last_trade(), 65_535, 7);
        let trade = if trade % ABORT_EVERY == ABORTED { trade + 1 } else { trade };
        TradeId(trade + ids::TRADE_SHIFT)
    }
}

/// Draws any account of a customer, all equally likely.
fn account_of(customer: CustomerId, rng: &mut Rng) -> AccountId {
    let first = ids::first_account(customer).0;
    AccountId(rng.range(first, first + accounts_of(customer) - 1))
}
