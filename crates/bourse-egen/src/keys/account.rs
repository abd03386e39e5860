use bourse_schema::{AccountId, BrokerId};

use super::person::Person;
use super::{accounts_of, by_key, tier};
use crate::Rng;
use crate::ids::{self, BROKERS_PER_LOAD_UNIT, LOAD_UNIT, SHIFT};

/// Taxation of an account's gains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaxStatus {
    /// Not taxable.
    NonTaxable,
    /// The tax is withheld from the settlement.
    Withheld,
    /// The tax is computed but not withheld.
    NotWithheld,
}

/// An account's tax status.
pub fn tax_status(account: AccountId) -> TaxStatus {
    match by_key(34_376_701, account.0).percentage() {
        ..=20 => TaxStatus::NonTaxable,
        21..=70 => TaxStatus::Withheld,
        _ => TaxStatus::NotWithheld,
    }
}

/// Broker of an account: one of the ten of the owner's load unit. Unlike all other choices by key this one uses the
/// number at the key itself, without another draw.
pub fn broker_of(account: AccountId) -> BrokerId {
    let unit = (ids::owner(account).0 - 1 - SHIFT) / LOAD_UNIT;
    let choice = by_key(75_607_774, account.0 - SHIFT * 10).scaled(BROKERS_PER_LOAD_UNIT as u64);
    ids::broker(unit * BROKERS_PER_LOAD_UNIT + 1 + choice as i64)
}

/// Persons with permission to trade on an account besides its owner: none, one or two. They are no customers of the
/// database.
pub fn permission_people(account: AccountId) -> (Option<Person>, Option<Person>) {
    let count = match by_key(27_794_203, account.0).percentage() {
        ..=60 => return (None, None),
        61..=98 => 1,
        _ => 2,
    };
    let owner = ids::owner(account).0;
    let other_than_owner = |rng: &mut Rng| rng.range_excluding(1, 4_219_469_824, owner);
    let first = other_than_owner(&mut by_key(76_103_629, account.0));
    if count == 1 {
        return (Some(Person(first)), None);
    }
    let mut rng = by_key(103_275_149, account.0);
    let mut second = other_than_owner(&mut rng);
    while second == first {
        second = other_than_owner(&mut rng);
    }
    (Some(Person(first)), Some(Person(second)))
}

/// Minimum and maximum number of securities of an account by tier (rows) and by the owner's number of accounts (columns
/// from 1).
const SECURITIES_HELD: [[(i64, i64); 10]; 3] = {
    const NONE: (i64, i64) = (0, 0);
    [
        [(6, 14), (4, 16), (2, 18), (2, 18), NONE, NONE, NONE, NONE, NONE, NONE],
        [NONE, (7, 13), (5, 15), (4, 16), (3, 17), (2, 18), (2, 18), (2, 18), NONE, NONE],
        [NONE, NONE, NONE, NONE, (4, 16), (4, 16), (3, 17), (3, 17), (2, 18), (2, 18)],
    ]
};

/// Number of securities that an account trades in.
pub fn basket_size(account: AccountId) -> usize {
    let owner = ids::owner(account);
    let (min, max) = SECURITIES_HELD[usize::from(tier(owner)) - 1][accounts_of(owner) as usize - 1];
    by_key(23_361_736, account.0).range(min, max) as usize
}

/// Securities that an account trades in, by index, in the order they were drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Basket {
    securities: [u32; 18],
    len: u8,
}

impl Basket {
    /// Basket of an account in a database of `total_securities` securities.
    ///
    /// ```
    /// use bourse_egen::{ids, keys};
    /// let account = ids::first_account(ids::customer(1));
    /// let basket = keys::Basket::of(account, ids::SECURITIES_PER_LOAD_UNIT);
    /// assert_eq!(basket.securities().len(), keys::basket_size(account));
    /// ```
    pub fn of(account: AccountId, total_securities: i64) -> Self {
        let mut basket = Self { securities: [0; 18], len: basket_size(account) as u8 };
        let mut rng = by_key(12_020_070, account.0.wrapping_mul(18));
        let mut filled = 0;
        while filled < usize::from(basket.len) {
            let security = rng.below(total_securities as u64) as u32;
            if !basket.securities[..filled].contains(&security) {
                basket.securities[filled] = security;
                filled += 1;
            }
        }
        basket
    }

    /// The securities' indices.
    pub fn securities(&self) -> &[u32] {
        &self.securities[..usize::from(self.len)]
    }
}
