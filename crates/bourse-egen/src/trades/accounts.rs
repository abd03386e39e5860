use bourse_schema::{AccountId, CustomerId, Text};

use crate::ids::{self, ACCOUNTS_PER_CUSTOMER, LOAD_UNIT};
use crate::keys::{self, Basket, Person, TaxStatus};
use crate::{Inputs, Part};

/// Data common to all trades of a load unit's accounts, computed once.
#[derive(Debug)]
pub(super) struct UnitAccounts {
    first: AccountId,
    owners: Vec<AccountOwner>,
    /// Ten entries for each customer, of which as many are used as there are accounts.
    accounts: Vec<Option<TradingAccount>>,
    lists: u32,
}

/// A customer.
#[derive(Debug, Clone, Copy)]
pub(super) struct AccountOwner {
    /// Name of the executor of trades.
    pub(super) name: Text<49>,
    /// Number of accounts.
    pub(super) accounts: i64,
    /// Sum of the country's and the division's tax rate, as a fraction.
    pub(super) tax_rate: f64,
}

/// An account.
#[derive(Debug, Clone, Copy)]
pub(super) struct TradingAccount {
    pub(super) tax_status: TaxStatus,
    /// Index of the broker in the load unit, from 0.
    pub(super) broker: u8,
    pub(super) basket: Basket,
    /// Index of the first list of its lots; one list for each security.
    pub(super) lists: u32,
}

impl UnitAccounts {
    pub(super) fn of_load_unit(inputs: &Inputs, part: Part) -> Self {
        let first_customer = ids::customer(part.first_customer());
        let customers = || (0..LOAD_UNIT).map(|n| CustomerId(first_customer.0 + n));
        let owner = |id: CustomerId| {
            let [country, division] = inputs.taxes_of(id, part.total_companies());
            AccountOwner {
                name: Person::from(id).full_name(inputs),
                accounts: keys::accounts_of(id),
                tax_rate: (10_000.0 * (country.rate + division.rate) + 0.5).trunc() / 10_000.0,
            }
        };
        let mut lists = 0;
        let mut account = |id: AccountId| {
            // Identifiers of a load unit's brokers are ten in a row that begin after a multiple of ten.
            let broker = (keys::broker_of(id).0 - 1) % 10;
            let basket = Basket::of(id, part.total_securities());
            let first_list = lists;
            lists += basket.securities().len() as u32;
            TradingAccount { tax_status: keys::tax_status(id), broker: broker as u8, basket, lists: first_list }
        };
        let owners: Vec<AccountOwner> = customers().map(owner).collect();
        let mut accounts = Vec::with_capacity((LOAD_UNIT * ACCOUNTS_PER_CUSTOMER) as usize);
        for (id, owner) in customers().zip(&owners) {
            let first = ids::first_account(id).0;
            accounts.extend(
                (0..ACCOUNTS_PER_CUSTOMER).map(|n| (n < owner.accounts).then(|| account(AccountId(first + n)))),
            );
        }
        Self { first: ids::first_account(first_customer), accounts, owners, lists }
    }

    /// Customer at an index in the load unit.
    pub(super) fn owner(&self, place: usize) -> &AccountOwner {
        &self.owners[place]
    }

    /// Index of an account in the load unit: ten for each customer.
    pub(super) fn place(&self, account: AccountId) -> usize {
        (account.0 - self.first.0) as usize
    }

    /// Account at an index.
    pub(super) fn account(&self, place: usize) -> &TradingAccount {
        self.accounts[place].as_ref().expect("a customer trades on accounts that exist")
    }

    /// Number of lists of lots: one for each security of each account.
    pub(super) fn lists(&self) -> usize {
        self.lists as usize
    }

    /// Every account with its index, ascending.
    pub(super) fn all(&self) -> impl Iterator<Item = (AccountId, usize)> + '_ {
        let existing = self.accounts.iter().enumerate().filter(|(_, account)| account.is_some());
        existing.map(|(place, _)| (AccountId(self.first.0 + place as i64), place))
    }
}
