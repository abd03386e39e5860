//! The 64 divisions a customer can live in: the states of the USA, and the provinces and territories of Canada.
//!
//! Numbers of zip codes and their weights roughly follow the population; the totals are fixed.

use std::sync::LazyLock;

/// A state, a province or a territory. Its number is its position in [`DIVISIONS`], counted from 1.
pub(super) struct Division {
    /// Postal abbreviation: two letters.
    pub(super) code: &'static str,
    pub(super) name: &'static str,
    /// First letters of its Canadian postal codes, which start with a letter; empty in the USA, where codes are digits.
    pub(super) letters: &'static str,
    /// Number of zip codes.
    pub(super) zips: usize,
    /// Sum of the zip codes' weights.
    pub(super) weight: usize,
    /// Number of income-tax bands; 1 where there is a single rate or none.
    pub(super) tax_bands: usize,
}

/// All divisions, those of the USA first, each a line of the file with the fields in their order.
pub(super) static DIVISIONS: LazyLock<Vec<Division>> = LazyLock::new(|| {
    let number = |text: &str| text.parse().expect("a number");
    let division = |line: &'static str| match *line.split('\t').collect::<Vec<_>>().as_slice() {
        [code, name, letters, zips, weight, bands] => {
            Division { code, name, letters, zips: number(zips), weight: number(weight), tax_bands: number(bands) }
        }
        _ => panic!("not a division: {line}"),
    };
    include_str!("words/divisions.tsv").lines().map(division).collect()
});
