//! Tables that are the same in every database (EGen `CExchangeTable`, `CTaxrateTable`, `CZipCodeTable`); the others are
//! copied from the input files unchanged.

use bourse_schema::tables;

use crate::ids::{self, SECURITIES, SECURITIES_PER_LOAD_UNIT};
use crate::{Inputs, Part};

/// Rows of EXCHANGE (Clause 2.2.7.4).
///
/// The number of symbols is that of the customers of this part, not of the whole database: as in the reference, this is
/// the only table that is incomplete after joining parts.
pub fn exchanges(inputs: &Inputs, part: Part) -> impl Iterator<Item = tables::Exchange> + '_ {
    let symbols = part.load_units() * SECURITIES_PER_LOAD_UNIT;
    inputs.exchanges.iter().zip(0u8..).map(move |(record, number)| {
        let listed = |count: i64| {
            inputs.securities[..count as usize].iter().filter(|security| security.exchange == number).count() as i64
        };
        let repeated = symbols / SECURITIES * listed(SECURITIES);
        tables::Exchange {
            ex_id: record.id,
            ex_name: record.name,
            ex_num_symb: (repeated + listed(symbols % SECURITIES)) as i32,
            ex_open: record.open,
            ex_close: record.close,
            ex_desc: record.description,
            ex_ad_id: ids::address(record.address),
        }
    })
}

/// Rows of TAXRATE (Clause 2.2.8.3): countries, then divisions.
pub fn taxrates(inputs: &Inputs) -> impl Iterator<Item = tables::TaxRateRow> + '_ {
    inputs.country_taxes.records().iter().chain(inputs.division_taxes.records()).map(|tax| tax.row.clone())
}

/// Rows of ZIP_CODE (Clause 2.2.8.4).
pub fn zip_codes(inputs: &Inputs) -> impl Iterator<Item = tables::ZipCode> + '_ {
    inputs.zip_codes.records().iter().map(|zip| zip.row.clone())
}
