//! Taxes and commissions, computed exactly: whole cents in, whole cents out, halves rounded up.

use super::{FrameError, rows};
use bourse_engine::{Session, Sql};
use bourse_oltp::planted;
use bourse_schema::{Amount, Balance, CommissionRate, CustomerId, Price, Quantity, TaxRate};

pub(super) static SUM_OF_TAX_RATES: Sql = Sql::new(
    "SELECT sum(tx_rate)
       FROM customer_taxrate CROSS JOIN taxrate
      WHERE cx_c_id = ?1 AND tx_id = cx_tx_id",
);

/// The sum of a customer's tax rates: his country's and his division's.
pub(super) fn tax_rate(db: &mut dyn Session, customer: CustomerId) -> Result<TaxRate, FrameError> {
    let (sum,): (Option<TaxRate>,) = rows::one(db, &SUM_OF_TAX_RATES, &[customer.into()])?;
    let rate = sum.unwrap_or_default();
    Ok(if planted!(TaxAtHalfRate) { TaxRate::from_units(rate.units() / 2) } else { rate })
}

pub(super) static STATEMENTS: &[&Sql] = &[&SUM_OF_TAX_RATES];

/// Quantity times price.
pub fn value(qty: Quantity, price: Price) -> Balance {
    Balance::from_units(i64::from(qty) * price.units())
}

/// The sum of two amounts.
pub(super) fn plus(a: Balance, b: Balance) -> Balance {
    Balance::from_units(a.units() + b.units())
}

/// The tax on a gain, to the nearest cent.
///
/// ```
/// use bourse_schema::{Amount, Balance, TaxRate};
/// use bourse_tpce::transactions::rates::tax;
/// // 0.12345 of 10.00 is 1.2345
/// assert_eq!(tax(Balance::from_units(1_000), TaxRate::from_units(12_345)), Amount::from_units(123));
/// assert_eq!(tax(Balance::from_units(1_000), TaxRate::from_units(12_350)), Amount::from_units(124));
/// ```
pub fn tax(gain: Balance, rate: TaxRate) -> Amount {
    let half = if planted!(TaxCut) { 0 } else { 50_000 };
    Amount::from_units((gain.units() * rate.units() + half).div_euclid(100_000))
}

/// The commission on a trade, to the nearest cent; the rate is in percent.
///
/// ```
/// use bourse_schema::{Amount, CommissionRate, Price};
/// use bourse_tpce::transactions::rates::commission;
/// // 0.27 percent of 300 * 25.31 is 20.5011
/// let rate = CommissionRate::from_units(27);
/// assert_eq!(commission(rate, 300, Price::from_units(2_531)), Amount::from_units(2_050));
/// ```
pub fn commission(rate: CommissionRate, qty: Quantity, price: Price) -> Amount {
    let half = if planted!(CommissionCut) { 0 } else { 5_000 };
    Amount::from_units((rate.units() * value(qty, price).units() + half).div_euclid(10_000))
}
