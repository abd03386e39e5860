//! The 22 input files: names of people, streets, companies and securities, and prices of transactions.
//!
//! Three kinds of file: plain (records in order), [`WeightedRecords`] (picked by random numbers) and [`BucketedRecords`] (grouped, as
//! tax rates are by country and division).

mod error;
mod lists;
mod parse;
mod read;
mod records;

use std::collections::HashMap;

use bourse_schema::{Symbol, Text, tables};

pub use error::InputError;
pub use lists::{BucketedRecords, WeightedRecords};
pub use records::{CompanyRecord, CompetitorRecord, Country, ExchangeRecord, SecurityRecord, Tax, Zip};

use crate::{Money, TradeType};

/// Names of the input files, without `.txt`.
pub const FILES: [&str; 22] = [
    "AreaCode", "Charge", "CommissionRate", "Company", "CompanyCompetitor", "CompanySPRate", "Exchange",
    "FemaleFirstName", "Industry", "LastName", "MaleFirstName", "NonTaxableAccountName", "Sector", "Security",
    "StatusType", "StreetName", "StreetSuffix", "TaxRatesCountry", "TaxRatesDivision", "TaxableAccountName",
    "TradeType", "ZipCode",
];

/// Contents of the input files.
#[derive(Debug, Clone)]
pub struct Inputs {
    /// Telephone area codes.
    pub area_codes: WeightedRecords<Text<3>>,
    /// Women's first names.
    pub female_first_names: WeightedRecords<Text<20>>,
    /// Men's first names.
    pub male_first_names: WeightedRecords<Text<20>>,
    /// Last names, which are the words of the news too.
    pub last_names: WeightedRecords<Text<25>>,
    /// Names of streets.
    pub street_names: WeightedRecords<Text<50>>,
    /// `Street`, `Road` and so on.
    pub street_suffixes: WeightedRecords<Text<20>>,
    /// Credit ratings of companies.
    pub ratings: WeightedRecords<Text<4>>,
    /// Postal areas.
    pub zip_codes: WeightedRecords<Zip>,
    /// Tax rates by country.
    pub country_taxes: BucketedRecords<Tax>,
    /// Tax rates by division of a country.
    pub division_taxes: BucketedRecords<Tax>,
    /// Companies: 5,000.
    pub companies: Vec<CompanyRecord>,
    /// Competitors: 15,000.
    pub competitors: Vec<CompetitorRecord>,
    /// Securities: 6,850.
    pub securities: Vec<SecurityRecord>,
    /// The four exchanges.
    pub exchanges: Vec<ExchangeRecord>,
    /// Rows of CHARGE in the order of the file.
    pub charges: Vec<tables::Charge>,
    /// Rows of COMMISSION_RATE in the order of the file.
    pub commission_rates: Vec<tables::CommissionRateRow>,
    /// Rows of TRADE_TYPE, in the order of [`TradeType`].
    pub trade_types: Vec<tables::TradeType>,
    /// Rows of STATUS_TYPE, in the order of [`TradeStatusId`](crate::TradeStatusId).
    pub status_types: Vec<tables::StatusType>,
    /// Rows of INDUSTRY.
    pub industries: Vec<tables::Industry>,
    /// Rows of SECTOR.
    pub sectors: Vec<tables::Sector>,
    /// Names of taxable accounts.
    pub taxable_account_names: Vec<Text<50>>,
    /// Names of accounts that are not taxable.
    pub nontaxable_account_names: Vec<Text<50>>,
    /// Charges by trade type and tier.
    charge_of: [[Money; 3]; 5],
    /// Commission rates in percent by tier, type, exchange and quantity band.
    rates: Vec<f64>,
    by_symbol: HashMap<Symbol, u32>,
    fingerprint: u128,
}

impl Inputs {
    /// Parses the [built-in](crate::builtin) input data.
    ///
    /// ```
    /// let inputs = bourse_egen::Inputs::builtin();
    /// assert_eq!((inputs.companies.len(), inputs.securities.len(), inputs.exchanges.len()), (5_000, 6_850, 4));
    /// assert_eq!(inputs.trade_types[0].tt_name.as_str(), "Market-Buy");
    /// ```
    pub fn builtin() -> Self {
        Self::parse(|name| crate::builtin::file(name).map(String::into_bytes)).expect("our own files are sound")
    }

    /// Charge for a trade of that type by a customer of that tier (1 to 3).
    ///
    /// # Panics
    /// Panics if there is no such tier.
    #[inline]
    pub fn charge(&self, kind: TradeType, tier: u8) -> Money {
        self.charge_of[kind as usize][usize::from(tier) - 1]
    }

    /// Commission in percent of the trade's value: by tier (1 to 3), type, exchange (0 to 3) and quantity.
    ///
    /// # Panics
    /// Panics if there is no such tier or exchange, or no rate for the quantity.
    #[inline]
    pub fn commission_rate(&self, tier: u8, kind: TradeType, exchange: u8, quantity: i32) -> f64 {
        let group = ((usize::from(tier) - 1) * 5 + kind as usize) * 4 + usize::from(exchange);
        let bands = &self.commission_rates[group * 4..group * 4 + 4];
        let band = bands.iter().position(|row| quantity <= row.cr_to_qty).expect("the bands leave no quantity out");
        self.rates[group * 4 + band]
    }

    /// Index of the security with that base symbol, from 0.
    pub(crate) fn base_security(&self, symbol: &str) -> Option<u32> {
        self.by_symbol.get(&Symbol::new(symbol).ok()?).copied()
    }

    /// Hash of the files' names and bytes, which identifies the set of files that data was made from.
    pub fn fingerprint(&self) -> u128 {
        self.fingerprint
    }
}
