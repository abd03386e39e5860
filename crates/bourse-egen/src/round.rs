//! Doubles as exact decimals, as C prints them.

use bourse_schema::Decimal;

/// The smallest units of the decimal that C's `%.*f` prints for a double: its exact value, correctly rounded.
pub(crate) fn rounded(value: f64, digits: usize) -> i64 {
    let text = format!("{value:.digits$}");
    text.replace('.', "").parse().expect("a finite number of moderate size")
}

/// The decimal that C's `%.2f` prints for a double.
pub(crate) fn decimal<const P: u8>(value: f64) -> Decimal<P, 2> {
    let cents = value * 100.0;
    let nearest = cents.round();
    // Only near a half can the rounding of the product hide the side on which the exact value is.
    let units = if (cents - nearest).abs() < 0.49 { nearest as i64 } else { rounded(value, 2) };
    Decimal::from_units(units)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_those_of_c() {
        for (value, units) in [(20.005, 2_000), (1.005, 100), (0.125, 12), (0.375, 38), (-1.015, -101), (-9.99, -999)] {
            assert_eq!(decimal::<12>(value).units(), units, "{value}");
        }
        for k in 0..200_000 {
            let value = f64::from(k) * 1.05 / 100.0;
            assert_eq!(decimal::<12>(value).units(), rounded(value, 2), "{value}");
        }
    }
}
