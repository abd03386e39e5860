//! Records of the input files.

use bourse_schema::tables;
use bourse_schema::{ExchangeId, IndustryId, StatusId, Symbol, Text, ZipCodeId};

/// A postal area.
#[derive(Debug, Clone)]
pub struct Zip {
    /// State or province, 1 to 64: the bucket of its tax rates.
    pub division: u8,
    /// Row of ZIP_CODE.
    pub row: tables::ZipCode,
}

impl Zip {
    /// Zip code.
    pub fn code(&self) -> ZipCodeId {
        self.row.zc_code
    }

    /// Country of the area: zip codes of the United States begin with a digit.
    pub fn country(&self) -> Country {
        if self.row.zc_code.as_bytes().first().is_some_and(u8::is_ascii_digit) { Country::Usa } else { Country::Canada }
    }
}

/// The two countries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Country {
    /// The United States of America.
    Usa = 1,
    /// Canada.
    Canada = 2,
}

impl Country {
    /// Name in addresses.
    pub fn name(self) -> &'static str {
        match self {
            Self::Usa => "USA",
            Self::Canada => "CANADA",
        }
    }
}

/// A tax rate.
#[derive(Debug, Clone)]
pub struct Tax {
    /// Rate as a fraction, before it is rounded for its column.
    pub rate: f64,
    /// Row of TAXRATE.
    pub row: tables::TaxRateRow,
}

/// A company of the file; larger databases repeat them with a number after the name.
#[derive(Debug, Clone)]
pub struct CompanyRecord {
    /// Status.
    pub status: StatusId,
    /// Name.
    pub name: Text<60>,
    /// Industry.
    pub industry: IndustryId,
    /// Description of the company.
    pub description: Text<150>,
}

/// One company's competitor in one industry.
#[derive(Debug, Clone, Copy)]
pub struct CompetitorRecord {
    /// Number of the company, counted from 1.
    pub company: i64,
    /// Number of its competitor, counted from 1.
    pub competitor: i64,
    /// Industry that they compete in.
    pub industry: IndustryId,
}

/// A security of the file; larger databases repeat them with letters after the symbol.
#[derive(Debug, Clone)]
pub struct SecurityRecord {
    /// Status.
    pub status: StatusId,
    /// Symbol.
    pub symbol: Symbol,
    /// `COMMON` or one of the preferred series.
    pub issue: Text<6>,
    /// Index of the exchange that lists it, from 0.
    pub exchange: u8,
    /// Number of the company, counted from 1.
    pub company: i64,
}

/// An exchange.
#[derive(Debug, Clone)]
pub struct ExchangeRecord {
    /// Identifier.
    pub id: ExchangeId,
    /// Name.
    pub name: Text<100>,
    /// Opening time as a number: 930 is half past nine.
    pub open: u16,
    /// Closing time.
    pub close: u16,
    /// Description.
    pub description: Text<150>,
    /// Number of its address, counted from 1.
    pub address: i64,
}
