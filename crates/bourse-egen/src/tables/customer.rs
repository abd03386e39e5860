//! CUSTOMER and CUSTOMER_TAXRATE (Clauses 2.2.5.2 and 2.2.5.4; EGen `CCustomerTable`, `CCustomerTaxRatesTable`).

use bourse_schema::{CustomerId, Date, Text, tables};

use super::TABLE_SEED;
use crate::ids::{self, LOAD_UNIT};
use crate::keys::{self, Person};
use crate::{Inputs, Part, Rng, TradeStatusId};

/// Distribution of customers' ages: cumulative percentage, minimum and maximum age.
const AGES: [(i64, i32, i32); 9] = [
    (5, 10, 19),
    (21, 19, 25),
    (38, 25, 35),
    (57, 35, 45),
    (73, 45, 55),
    (84, 55, 65),
    (92, 65, 75),
    (99, 75, 85),
    (100, 85, 100),
];

/// Domains of e-mail addresses.
const DOMAINS: [&str; 6] = ["@msn.com", "@hotmail.com", "@rr.com", "@netzero.com", "@earthlink.com", "@attbi.com"];

/// Seeds of the three telephones' area codes.
const AREA_SEEDS: [u64; 3] = [97_905_013, 68_856_487, 67_142_295];
/// Percentage of the three telephones that have an extension.
const EXTENSIONS: [i64; 3] = [25, 15, 5];

/// The customers of a part.
pub fn customers(inputs: &Inputs, part: Part) -> impl Iterator<Item = tables::Customer> + '_ {
    let mut rng = Rng::new(TABLE_SEED);
    ordinals(part).map(move |ordinal| {
        if (ordinal - 1) % LOAD_UNIT == 0 {
            rng = Rng::at(TABLE_SEED, (ordinal - 1) as u64 * 35);
        }
        customer(inputs, part, ids::customer(ordinal), &mut rng)
    })
}

/// The two tax rates of each customer of a part: country, then division.
pub fn customer_taxrates(inputs: &Inputs, part: Part) -> impl Iterator<Item = tables::CustomerTaxrate> + '_ {
    ordinals(part).map(ids::customer).flat_map(move |id| {
        inputs
            .taxes_of(id, part.total_companies())
            .map(|tax| tables::CustomerTaxrate { cx_tx_id: tax.row.tx_id, cx_c_id: id })
    })
}

/// Ordinals of a part's customers.
pub(super) fn ordinals(part: Part) -> std::ops::Range<i64> {
    part.first_customer()..part.first_customer() + part.customers()
}

struct Phone {
    area: Text<3>,
    local: Text<10>,
    extension: Text<5>,
}

fn customer(inputs: &Inputs, part: Part, id: CustomerId, rng: &mut Rng) -> tables::Customer {
    let person = Person::from(id);
    let (first_name, last_name) = (*person.first_name(inputs), *person.last_name(inputs));
    let c_dob = birth_day(rng);
    let [one, two, three] = [0, 1, 2].map(|which| phone(inputs, id, which, rng));
    let [email_1, email_2] = emails(first_name.as_str(), last_name.as_str(), rng);
    let country = Text::cut("011");
    tables::Customer {
        c_id: id,
        c_tax_id: person.tax_id(),
        c_st_id: TradeStatusId::Active.id(),
        c_l_name: last_name,
        c_f_name: first_name,
        c_m_name: person.middle_initial(),
        c_gndr: Text::cut(person.gender().letter()),
        c_tier: keys::tier(id),
        c_dob,
        c_ad_id: keys::address_of(id, part.total_companies()),
        c_ctry_1: country,
        c_area_1: one.area,
        c_local_1: one.local,
        c_ext_1: one.extension,
        c_ctry_2: country,
        c_area_2: two.area,
        c_local_2: two.local,
        c_ext_2: two.extension,
        c_ctry_3: country,
        c_area_3: three.area,
        c_local_3: three.local,
        c_ext_3: three.extension,
        c_email_1: email_1,
        c_email_2: email_2,
    }
}

fn birth_day(rng: &mut Rng) -> Date {
    let percentage = rng.percentage();
    let (_, from, to) = AGES.into_iter().find(|(up_to, _, _)| percentage <= *up_to).expect("the last is 100");
    let years_ago = |years| i64::from(Date::from_ymd(2005 - years, 1, 3).days());
    Date::from_days(rng.range(years_ago(to) + 1, years_ago(from)) as i32)
}

fn phone(inputs: &Inputs, id: CustomerId, which: usize, rng: &mut Rng) -> Phone {
    let mut phone = Phone {
        area: *inputs.area_codes.pick(&mut Rng::at(AREA_SEEDS[which], id.0 as u64)),
        local: Text::EMPTY,
        extension: Text::EMPTY,
    };
    rng.alphanumeric("nnnnnnn", &mut phone.local).expect("a text cuts, it does not fail");
    if rng.percent(EXTENSIONS[which]) {
        rng.alphanumeric("nnn", &mut phone.extension).expect("a text cuts, it does not fail");
    }
    phone
}

fn emails(first_name: &str, last_name: &str, rng: &mut Rng) -> [Text<50>; 2] {
    let most = DOMAINS.len() as i64 - 1;
    let one = rng.range(0, most);
    let two = rng.range_excluding(0, most, one);
    [one, two].map(|domain| {
        let mut email = Text::EMPTY;
        let initial = first_name.chars().next().map_or(0, char::len_utf8);
        email.push(&first_name[..initial]);
        email.push(last_name);
        email.push(DOMAINS[domain as usize]);
        email
    })
}
