//! Money in whole cents (Clauses 3.3.7 and 3.3.8): halves of a cent are rounded up.

use bourse_schema::{CommissionRate, Price, Quantity, TaxRate};

/// Value of a number of shares, in cents.
pub(crate) fn worth(qty: Quantity, price: Price) -> i64 {
    i64::from(qty) * price.units()
}

/// Rounds `numerator / denominator` to the nearest integer, halves upwards.
fn nearest(numerator: i64, denominator: i64) -> i64 {
    (2 * numerator + denominator).div_euclid(2 * denominator)
}

/// Commission in cents: `rate` hundredths of a percent of the value.
pub(crate) fn commission(rate: CommissionRate, qty: Quantity, price: Price) -> i64 {
    nearest(worth(qty, price) * rate.units(), 100 * 100)
}

/// Tax in cents on a gain in cents.
pub(crate) fn tax(gain: i64, rate: TaxRate) -> i64 {
    nearest(gain * rate.units(), 100_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_of_a_cent_are_rounded_up() {
        // 0.25 percent of 200 * 20.01 is 10.005
        assert_eq!(commission(CommissionRate::from_units(25), 200, Price::from_units(2_001)), 1_001);
        assert_eq!(tax(1_000, TaxRate::from_units(12_349)), 123);
        assert_eq!(tax(1_000, TaxRate::from_units(12_350)), 124);
    }
}
