//! FINANCIAL: twenty quarters of each company's figures (Clause 2.2.7.5; EGen `CFinancialTable`).

use bourse_schema::{CompanyId, Date, tables};

use super::TABLE_SEED;
use crate::ids::{self, COMPANIES_PER_LOAD_UNIT};
use crate::{Money, Part, Rng};

/// Quarters of each company.
const QUARTERS: u16 = 20;
/// Random numbers for a company: six at first and six for each quarter.
const DRAWS: u64 = 6 + 6 * QUARTERS as u64;

/// The figures of a part's companies.
pub fn financials(part: Part) -> impl Iterator<Item = tables::Financial> {
    let mut rng = Rng::new(TABLE_SEED);
    part.companies().flat_map(move |index| {
        if index % COMPANIES_PER_LOAD_UNIT == 0 {
            rng = Rng::at(TABLE_SEED, index as u64 * u64::from(QUARTERS) * DRAWS);
        }
        let mut figures = Figures::start(&mut rng);
        let rows: Vec<_> = (0..QUARTERS)
            .map(|quarter| {
                figures.next_quarter(&mut rng);
                figures.row(ids::company(index), quarter)
            })
            .collect();
        rows
    })
}

struct Figures {
    revenue: Money,
    earnings: Money,
    shares: i64,
    diluted_shares: i64,
    inventory: Money,
    assets: Money,
    liability: Money,
}

impl Figures {
    fn start(rng: &mut Rng) -> Self {
        let mut dollars = |min: f64, max: f64| Money::from_dollars(rng.stepped(min, max, 0.01));
        let revenue = dollars(100_000.0, 16_000_000_000.0);
        let most_earnings = 3_000_000_000.0;
        let below_revenue =
            if revenue < Money::from_dollars(most_earnings) { revenue.dollars() } else { most_earnings };
        // A loss comes out one cent too small, see `Money::from_dollars`.
        let earnings = dollars(-300_000_000.0, below_revenue);
        let shares = rng.range(400_000, 9_500_000_000);
        let mut dollars = |min: f64, max: f64| Money::from_dollars(rng.stepped(min, max, 0.01));
        Self {
            revenue,
            earnings,
            shares,
            diluted_shares: 0,
            inventory: dollars(0.0, 2_000_000_000.0),
            assets: dollars(100_000.0, 65_000_000_000.0),
            liability: dollars(100_000.0, 35_000_000_000.0),
        }
    }

    fn next_quarter(&mut self, rng: &mut Rng) {
        let mut change = || rng.stepped(0.9, 1.15, 0.000_000_000_000_01);
        self.revenue = self.revenue.times(change());
        self.earnings = self.earnings.times(change());
        if self.earnings >= self.revenue {
            self.earnings = self.earnings.times(0.9);
        }
        self.shares = (self.shares as f64 * change()) as i64;
        self.diluted_shares = (self.shares as f64 * 1.1) as i64;
        self.inventory = self.inventory.times(change());
        self.assets = self.assets.times(change());
        self.liability = self.liability.times(change());
    }

    fn row(&self, company: CompanyId, quarter: u16) -> tables::Financial {
        let (year, quarter) = (2_000 + quarter / 4, (quarter % 4 + 1) as u8);
        tables::Financial {
            fi_co_id: company,
            fi_year: year,
            fi_qtr: quarter,
            fi_qtr_start_date: Date::from_ymd(i32::from(year), u32::from(quarter) * 3 - 2, 1),
            fi_revenue: self.revenue.into(),
            fi_net_earn: self.earnings.into(),
            fi_basic_eps: self.earnings.over(self.shares as f64).into(),
            fi_dilut_eps: self.earnings.over(self.diluted_shares as f64).into(),
            fi_margin: self.earnings.over(self.revenue.dollars()).into(),
            fi_inventory: self.inventory.into(),
            fi_assets: self.assets.into(),
            fi_liability: self.liability.into(),
            fi_out_basic: self.shares,
            fi_out_dilut: self.diluted_shares,
        }
    }
}
