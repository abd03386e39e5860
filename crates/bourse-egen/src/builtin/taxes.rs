//! Tax rates of the two countries and their 64 divisions, and the names of taxable and other accounts.

use std::fmt::Write;

use super::divisions::{DIVISIONS, Division};
use super::lines;

/// Federal rates by country. The ids are the specification's: Data-Maintenance moves customers from US1 to US2 and so on.
const COUNTRIES: [(&str, &str, &[&str]); 2] = [
    ("US", "United States", &["0.11", "0.19", "0.245", "0.305", "0.36"]),
    ("CN", "Canada", &["0.145", "0.21", "0.255", "0.315"]),
];

/// `TaxRatesCountry`: bucket (1 USA, 2 Canada), tax id, name, rate.
///
/// Every rate is above 0, so that the tax on a gain is never 0 (Trade-Order would refuse it).
pub(super) fn country_rates() -> String {
    let mut text = String::new();
    for (bucket, (id, country, rates)) in (1..).zip(COUNTRIES) {
        for (band, rate) in (1..).zip(rates) {
            writeln!(text, "{bucket}\t{id}{band}\t{country} Federal Income Tax Band {band}\t{rate}")
                .expect("a string takes any text");
        }
    }
    text
}

/// `TaxRatesDivision`: bucket (number of the division), tax id, name, rate.
///
/// Bands have letters: an id has four characters at most, and none may resemble a country's. Data-Maintenance replaces
/// ` Tax ` in a name by ` tax ` and back, so each name contains it once.
pub(super) fn division_rates() -> String {
    let mut text = String::with_capacity(16_000);
    for (bucket, division) in (1_usize..).zip(DIVISIONS.iter()) {
        // In ten-thousandths. Lowest rates and steps differ from one division to the next, but mean nothing.
        let lowest = if division.tax_bands == 1 { 0 } else { 90 + bucket * 37 % 260 };
        let step = 60 + bucket * 53 % 110;
        for (band, letter) in (0..division.tax_bands).zip('A'..='Z') {
            let Division { code, name, .. } = division;
            let rate = lowest + step * band;
            writeln!(text, "{bucket}\t{code}{letter}\t{name} Income Tax Band {letter}\t0.{rate:04}")
                .expect("a string takes any text");
        }
    }
    text
}

/// `TaxableAccountName`: customers' names for accounts whose gains are taxed.
pub(super) fn taxable_account_names() -> String {
    lines(&[
        "Rainy Day Money", "House Deposit", "Garden and Porch", "Sailing Boat", "Long Voyage", "Wedding Chest",
        "Growth Account", "Dividend Account", "Trading Account", "Family Purse", "Music Lessons", "Workshop Fund",
        "Second Car",
    ])
}

/// `NonTaxableAccountName`: customers' names for accounts that are exempt.
pub(super) fn non_taxable_account_names() -> String {
    lines(&[
        "Pension Plan", "Retirement One", "Retirement Two", "Employer Plan", "School Fund", "University Fund",
        "Hospital Chest", "Widow's Annuity", "Charity Trust", "Children's Trust", "Life Policy",
    ])
}
