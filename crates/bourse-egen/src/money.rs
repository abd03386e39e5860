//! The reference generator's money (EGen `CMoney`): whole cents, with its own way of rounding.

use std::ops::{Add, AddAssign, Mul, Neg, Sub};

use bourse_schema::Decimal;

/// An amount in whole cents.
///
/// ```
/// use bourse_egen::Money;
/// assert_eq!(Money::from_dollars(20.005).cents(), 2_001);
/// // A quirk of the reference: negative dollars come out one cent nearer to zero.
/// assert_eq!(Money::from_dollars(-123.45).cents(), -12_344);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Money(i64);

impl Money {
    /// Zero.
    pub const ZERO: Self = Self(0);

    /// Amount of that many cents.
    pub const fn from_cents(cents: i64) -> Self {
        Self(cents)
    }

    /// Rounds dollars to cents. Half a cent is added before truncation whatever the sign, which is one cent too high
    /// for negative amounts that are whole cents: the reference does so, and a company that starts with a loss shows
    /// it.
    #[inline]
    pub fn from_dollars(dollars: f64) -> Self {
        Self((100.0 * dollars + 0.5) as i64)
    }

    /// Amount in cents.
    pub const fn cents(self) -> i64 {
        self.0
    }

    /// Amount in dollars.
    #[inline]
    pub fn dollars(self) -> f64 {
        self.0 as f64 / 100.0
    }

    /// Multiplies by a factor, rounded to the nearest cent; a half is rounded according to the sign of the amount.
    #[inline]
    pub fn times(self, factor: f64) -> Self {
        Self(self.nearest(self.0 as f64 * factor))
    }

    /// Divides by a number, rounded to the nearest cent.
    #[inline]
    pub fn over(self, divisor: f64) -> Self {
        Self(self.nearest(self.0 as f64 / divisor))
    }

    #[inline]
    fn nearest(self, cents: f64) -> i64 {
        if self.0 > 0 { (cents + 0.5) as i64 } else { (cents - 0.5) as i64 }
    }
}

impl Add for Money {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}
impl AddAssign for Money {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}
impl Sub for Money {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}
impl Neg for Money {
    type Output = Self;
    fn neg(self) -> Self {
        Self(-self.0)
    }
}
impl Mul<i64> for Money {
    type Output = Self;
    fn mul(self, count: i64) -> Self {
        Self(self.0 * count)
    }
}

impl<const P: u8> From<Money> for Decimal<P, 2> {
    fn from(money: Money) -> Self {
        Self::from_units(money.0)
    }
}
impl<const P: u8> From<Decimal<P, 2>> for Money {
    fn from(decimal: Decimal<P, 2>) -> Self {
        Self(decimal.units())
    }
}
