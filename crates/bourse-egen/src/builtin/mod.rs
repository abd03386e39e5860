//! Built-in input data: the generator's 22 input files, created for Bourse.
//!
//! Used without a folder of official input files. Every name, place, company and rate here was written for Bourse or is
//! assembled from its own word lists; fixed are the shapes that the algorithms depend on (record counts, weight totals,
//! the order of codes) and the literal values that the transactions refer to (status and trade types, exchanges, tiers,
//! quantity bands, ids of the country tax rates).
//!
//! | module | files |
//! |---|---|
//! | `people` | `FemaleFirstName`, `MaleFirstName`, `LastName` |
//! | `places`, `divisions` | `AreaCode`, `StreetName`, `StreetSuffix`, `ZipCode` |
//! | `taxes` | `TaxRatesCountry`, `TaxRatesDivision`, `TaxableAccountName`, `NonTaxableAccountName` |
//! | `industries` | `Sector`, `Industry` |
//! | `companies` | `Company`, `CompanyCompetitor`, `CompanySPRate` |
//! | `securities` | `Security` |
//! | `market` | `Exchange`, `Charge`, `CommissionRate`, `TradeType`, `StatusType` |
//!
//! The words and tables that these are made of are text files in `words/`.
//!
//! The data is the same on every machine and in every version: a change of one byte changes every database made of it,
//! and the tests contain each file's SHA-256.

mod companies;
mod company_words;
mod divisions;
mod industries;
mod market;
mod people;
mod places;
mod securities;
mod taxes;
mod weights;

use std::sync::LazyLock;

/// Function that makes the text of one file.
type WriteText = fn() -> String;

/// Writer of each file.
const WRITERS: [(&str, WriteText); 22] = [
    ("AreaCode", places::area_codes),
    ("Charge", market::charges),
    ("CommissionRate", market::commission_rates),
    ("Company", companies::companies),
    ("CompanyCompetitor", companies::competitors),
    ("CompanySPRate", companies::ratings),
    ("Exchange", market::exchanges),
    ("FemaleFirstName", people::female_first_names),
    ("Industry", industries::industries),
    ("LastName", people::last_names),
    ("MaleFirstName", people::male_first_names),
    ("NonTaxableAccountName", taxes::non_taxable_account_names),
    ("Sector", industries::sectors),
    ("Security", securities::securities),
    ("StatusType", market::status_types),
    ("StreetName", places::street_names),
    ("StreetSuffix", places::street_suffixes),
    ("TaxRatesCountry", taxes::country_rates),
    ("TaxRatesDivision", taxes::division_rates),
    ("TaxableAccountName", taxes::taxable_account_names),
    ("TradeType", market::trade_types),
    ("ZipCode", places::zip_codes),
];

/// Text of one input file, made anew at each call: TAB between columns, LF after every line, ASCII.
///
/// `name` is one of [`FILES`](crate::inputs::FILES), with or without `.txt`; `None` if the generator reads no such file.
///
/// ```
/// use bourse_egen::builtin;
/// assert!(builtin::file("StatusType").unwrap().starts_with("CMPT\tCompleted\n"));
/// assert_eq!(builtin::file("TradeType.txt"), builtin::file("TradeType"));
/// assert_eq!(builtin::file("Planets"), None);
///
/// let inputs = bourse_egen::Inputs::parse(|name| builtin::file(name).map(String::into_bytes)).unwrap();
/// assert_eq!(inputs.companies.len(), 5_000);
/// ```
pub fn file(name: &str) -> Option<String> {
    let stem = name.strip_suffix(".txt").unwrap_or(name);
    let (_, make) = WRITERS.iter().find(|(known, _)| *known == stem)?;
    Some(make())
}

/// Text with one line for each value, which is its only column.
fn lines(values: &[&str]) -> String {
    values.iter().flat_map(|value| [*value, "\n"]).collect()
}

/// Words of a file in `words/`, which has one a line.
type Words = LazyLock<Vec<&'static str>>;

/// Words of the text of such a file.
fn words(file: &'static str) -> Vec<&'static str> {
    file.lines().collect()
}

/// Draws one of `choices`, all equally likely.
fn pick<'a, T: ?Sized>(rng: &mut crate::Rng, choices: &[&'a T]) -> &'a T {
    choices[rng.below(choices.len() as u64) as usize]
}

/// Shuffles `items` (Fisher and Yates).
fn shuffle<T>(rng: &mut crate::Rng, items: &mut [T]) {
    for last in (1..items.len()).rev() {
        items.swap(last, rng.below(last as u64 + 1) as usize);
    }
}
