//! COMPANY and COMPANY_COMPETITOR (Clauses 2.2.7.1 and 2.2.7.2; EGen `CCompanyTable`, `CCompanyCompetitorTable`).

use bourse_schema::{Date, tables};

use super::TABLE_SEED;
use crate::ids::{self, COMPANIES, COMPANIES_PER_LOAD_UNIT, COMPETITORS, COMPETITORS_PER_LOAD_UNIT, EXCHANGES};
use crate::keys::Person;
use crate::{Inputs, Part, Rng};

/// The last day before the market's: companies and securities are older.
pub(super) const DAY_BEFORE_MARKET: Date = Date::from_ymd(2000, 1, 2);

/// The companies of a part.
pub fn companies(inputs: &Inputs, part: Part) -> impl Iterator<Item = tables::Company> + '_ {
    let mut rng = Rng::new(TABLE_SEED);
    part.companies().map(move |index| {
        if index % COMPANIES_PER_LOAD_UNIT == 0 {
            rng = Rng::at(TABLE_SEED, index as u64 * 2);
        }
        let id = ids::company(index);
        let record = inputs.company(index);
        let opened = rng.range(i64::from(Date::from_ymd(1800, 1, 1).days()), i64::from(DAY_BEFORE_MARKET.days()));
        tables::Company {
            co_id: id,
            co_st_id: record.status,
            co_name: inputs.company_name(index),
            co_in_id: record.industry,
            co_sp_rate: *inputs.ratings.pick(&mut Rng::at(56_593_330, id.0 as u64)),
            co_ceo: Person::from(id).full_name(inputs),
            co_ad_id: ids::address(EXCHANGES + 1 + index),
            co_desc: record.description,
            co_open_date: Date::from_days(opened as i32),
        }
    })
}

/// The competitors of a part's companies; in small databases some of them do not exist, as in the reference.
pub fn competitors(inputs: &Inputs, part: Part) -> impl Iterator<Item = tables::CompanyCompetitor> + '_ {
    let first = part.load_units_before() * COMPETITORS_PER_LOAD_UNIT;
    (first..first + part.load_units() * COMPETITORS_PER_LOAD_UNIT).map(move |row| {
        let record = inputs.competitors[(row % COMPETITORS) as usize];
        let repetition = row / COMPETITORS * COMPANIES;
        tables::CompanyCompetitor {
            cp_co_id: ids::company(record.company - 1 + repetition),
            cp_comp_co_id: ids::company(record.competitor - 1 + repetition),
            cp_in_id: record.industry,
        }
    })
}
