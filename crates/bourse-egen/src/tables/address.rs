//! ADDRESS: exchanges, companies, customers (Clause 2.2.8.1; EGen `CAddressTable`).

use std::fmt::Write as _;

use bourse_schema::{Text, tables};

use super::TABLE_SEED;
use crate::ids::{self, EXCHANGES, LOAD_UNIT};
use crate::{Inputs, Part, Rng};

/// Addresses of a part: the one with the database's first customers includes those of all exchanges and companies.
pub fn addresses(inputs: &Inputs, part: Part) -> impl Iterator<Item = tables::Address> + '_ {
    let before_customers = EXCHANGES + part.total_companies();
    let first = if part.is_first() { 1 } else { before_customers + part.first_customer() };
    let last = before_customers + part.first_customer() + part.customers() - 1;
    // The first load unit continues the sequence of the companies' addresses; every later one begins at its own
    // position.
    let mut rng = Rng::new(TABLE_SEED);
    (first..=last).map(move |ordinal| {
        let customers_before = ordinal - 1 - before_customers;
        if customers_before > 0 && customers_before % LOAD_UNIT == 0 {
            rng = Rng::at(TABLE_SEED, (ordinal - 1) as u64 * 10);
        }
        let id = ids::address(ordinal);
        let zip = inputs.zip_of(id);
        tables::Address {
            ad_id: id,
            ad_line1: line1(inputs, &mut rng),
            // The reference counts from the last company on, so that one is given a flat like a customer.
            ad_line2: if ordinal >= before_customers { line2(&mut rng) } else { Text::EMPTY },
            ad_zc_code: zip.code(),
            ad_ctry: Text::cut(zip.country().name()),
        }
    })
}

fn line1(inputs: &Inputs, rng: &mut Rng) -> Text<80> {
    let mut line = Text::EMPTY;
    let number = rng.range(100, 25_000);
    // One too few: the last street of the file is never drawn.
    let street = inputs.street_names.at(rng.below(inputs.street_names.total() - 1));
    let suffix = inputs.street_suffixes.pick(rng);
    write!(line, "{number} ").expect("a text cuts, it does not fail");
    line.push(street.as_str());
    line.push(" ");
    line.push(suffix.as_str());
    line
}

fn line2(rng: &mut Rng) -> Text<80> {
    let mut line = Text::EMPTY;
    if !rng.percent(60) {
        let written = if rng.percent(75) {
            write!(line, "Apt. {}", rng.range(1, 1_000))
        } else {
            write!(line, "Suite {}", rng.range(1, 500))
        };
        written.expect("a text cuts, it does not fail");
    }
    line
}
