//! Money in whole cents (Clauses 3.3.7 and 3.3.8): halves of a cent are rounded up.

use bourse_schema::{CommissionRate, Price, Quantity, TaxRate};

/// Cents that so many shares are worth.
pub(crate) fn worth(qty: Quantity, price: Price) -> i64 {
    i64::from(qty) * price.units()
}

/// `numerator / denominator` to the nearest whole, halves upwards.
fn nearest(numerator: i64, denominator: i64) -> i64 {
    (2 * numerator + denominator).div_euclid(2 * denominator)
}

/// Cents of commission: `rate` hundredths of a percent of the worth.
pub(crate) fn commission(rate: CommissionRate, qty: Quantity, price: Price) -> i64 {
    nearest(worth(qty, price) * rate.units(), 100 * 100)
}

/// Cents of tax on a gain in cents.
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
