use bourse_schema::CustomerId;

use crate::Rng;
use crate::ids::{LOAD_UNIT, SHIFT};

/// Load unit of a customer (shift included, as in the reference) and index in it, 0 to 999.
const fn place(customer: CustomerId) -> (i64, i64) {
    ((customer.0 - 1) / LOAD_UNIT, (customer.0 - 1) % LOAD_UNIT)
}

/// Rank of a customer among the thousand of the load unit: 0 to 199 are of tier 1, 200 to 799 of tier 2.
const fn rank(customer: CustomerId) -> i64 {
    let (unit, place) = place(customer);
    (613 * (place - 33 * (unit + 1))).rem_euclid(LOAD_UNIT)
}

/// Customer with a rank in a load unit: the inverse of [`rank`].
const fn ranked(unit: i64, rank: i64) -> CustomerId {
    CustomerId(unit * LOAD_UNIT + (677 * rank + 33 * (unit + 1)) % LOAD_UNIT + 1)
}

const fn tier_of_rank(rank: i64) -> u8 {
    match rank {
        ..200 => 1,
        200..800 => 2,
        _ => 3,
    }
}

/// Tier of a customer, 1 to 3: a measure of trading activity.
///
/// ```
/// use bourse_egen::{ids, keys};
/// let tiers: Vec<u8> = (1..=1_000).map(|ordinal| keys::tier(ids::customer(ordinal))).collect();
/// let count = |tier| tiers.iter().filter(|it| **it == tier).count();
/// assert_eq!([count(1), count(2), count(3)], [200, 600, 200]); // of every load unit
/// ```
pub const fn tier(customer: CustomerId) -> u8 {
    tier_of_rank(rank(customer))
}

/// Rank of a customer, scrambled again within its tier. The load unit includes the identifiers' shift here, which
/// matters to tier 2.
pub const fn scrambled_inverse(customer: CustomerId) -> i64 {
    let unit = place(customer).0 + 1;
    let rank = rank(customer);
    match tier_of_rank(rank) {
        1 => (3 * rank + unit) % 200,
        2 => (59 * rank + 47 * unit) % 600 + 200,
        _ => (23 * rank + 17 * unit) % 200 + 800,
    }
}

/// Number of accounts of a customer.
pub const fn accounts_of(customer: CustomerId) -> i64 {
    let scrambled = scrambled_inverse(customer);
    match tier_of_rank(scrambled) {
        1 => scrambled % 4 + 1,
        2 => (scrambled - 200 + 1) % 7 + 2,
        _ => (scrambled - 800 + 2) % 6 + 5,
    }
}

/// Picks customers by trading activity: the higher the tier, the more often (EGen `CCustomerSelection`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CustomerPicker {
    first: i64,
    count: i64,
    own: Option<PreferredCustomers>,
}

/// Part of all customers that is picked more often.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct PreferredCustomers {
    first: i64,
    count: i64,
    percent: i64,
}

impl CustomerPicker {
    /// A picker among `count` customers from ordinal `first`, counted from 1.
    pub const fn new(first: i64, count: i64) -> Self {
        Self { first, count, own: None }
    }

    /// Restricts `percent` per cent of the picks to `count` customers from ordinal `first`. A part that is the whole
    /// makes no difference, not even a draw.
    #[must_use]
    pub const fn partitioned(self, first: i64, count: i64, percent: i64) -> Self {
        if first == self.first && count == self.count {
            return self;
        }
        Self { own: Some(PreferredCustomers { first, count, percent }), ..self }
    }

    /// A picker in the load unit that begins with ordinal `first`. The reference makes the draw that a partition of a
    /// hundred percent does not need.
    pub(crate) const fn load_unit(first: i64) -> Self {
        Self { first, count: LOAD_UNIT, own: Some(PreferredCustomers { first, count: LOAD_UNIT, percent: 100 }) }
    }

    /// Picks the next customer, and returns the tier too.
    #[inline]
    pub fn pick(&self, rng: &mut Rng) -> (CustomerId, u8) {
        let weight = rng.stepped(0.0001, 2_000.0, 0.000_000_001);
        let (first, count) = match self.own {
            Some(own) if rng.percent(own.percent) => (own.first, own.count),
            _ => (self.first, self.count),
        };
        let unit = (rng.range(first + SHIFT, first + SHIFT + count - 1) - 1) / LOAD_UNIT;
        let (rank, tier) = if weight <= 200.0 {
            (((22_500.0 + 500.0 * weight).sqrt() - 151.0).ceil(), 1)
        } else if weight <= 1_400.0 {
            (((290_000.0 + 1_000.0 * weight).sqrt() - 501.0).ceil(), 2)
        } else {
            ((149.0 + (500.0 * weight - 277_500.0).sqrt()).ceil(), 3)
        };
        (ranked(unit, rank as i64), tier)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids;

    #[test]
    fn every_load_unit_has_the_same_tiers_and_five_thousand_accounts() {
        for unit in 0..50 {
            let customers = || (1..=LOAD_UNIT).map(|n| ids::customer(unit * LOAD_UNIT + n));
            let of = |t| customers().filter(|&c| tier(c) == t).count();
            assert_eq!([of(1), of(2), of(3)], [200, 600, 200]);
            assert_eq!(customers().map(accounts_of).sum::<i64>(), 5_000);
            assert!(customers().all(|c| ranked(place(c).0, rank(c)) == c));
        }
    }
}
