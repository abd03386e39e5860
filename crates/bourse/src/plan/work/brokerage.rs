//! The brokerage workload as the work of a round.

use super::{Job, JobWork, SHORT_WARM_UP_NS, short_ns};
use crate::args::{CheckDepth, DatabaseArgs, MarketAge};
use crate::engines;
use crate::failure::Result;
use crate::plan::brokerage::{LatencyPlan, WORKLOAD};
use crate::plan::search::customers_rate;
use crate::plan::show::{loaded, time};
use crate::plan::{Brokerage, SearchPlan};
use bourse_driver::{Abilities, SECOND};
use bourse_record::{Round, StoppingRule};
use bourse_tpce::transactions::Transaction;
use bourse_tpce::users::{self, RunOptions};

/// Time of a round of the brokerage workload in addition to warm-up and interval: its drain and restoring the database. Its
/// checks are added: they take about as long as loading. Measured for ten days: 14 s on SQLite, 59 s on Firebird, both with
/// the checks.
const ROUND_NS: u64 = 5 * SECOND;
/// Time spent once per database in addition to loading it and the small one of the samples: checks before it is used, a
/// snapshot. Measured: 5 s for ten days.
const ONCE_NS: u64 = 5 * SECOND;
/// Approximate rows of 1,000 customers without a day of trades, and of each day: one day has 1,482,326, ten have 5,041,731.
const ROWS: [u64; 2] = [1_090_000, 395_000];

/// Approximate rows of a database.
pub(crate) fn rows(customers: u64, days: u32) -> u64 {
    let of_thousand = ROWS[0].saturating_add(ROWS[1].saturating_mul(days.into()));
    of_thousand.saturating_mul(customers.div_ceil(1_000))
}

/// Time that an engine takes to load a database, in nanoseconds; 0 for engines without tables.
pub(crate) fn load_ns(target: &str, customers: u64, days: u32) -> u64 {
    engines::loading_ns(target, rows(customers, days))
}

impl JobWork for Brokerage {
    fn workload(&self) -> &str {
        WORKLOAD
    }

    fn noun(&self) -> &str {
        "brokerage workload"
    }

    fn abilities(&self) -> Result<Abilities> {
        Ok(users::ABILITIES)
    }

    fn operations(&self) -> Result<Vec<&'static str>> {
        Ok(Transaction::ALL.map(Transaction::name).into())
    }

    fn threads(&self) -> u32 {
        u32::try_from(self.users.saturating_add(self.market_users)).unwrap_or(u32::MAX)
    }

    fn usual_threads(&self) -> u32 {
        Self::on(self.database.clone()).map_or(1, |usual| usual.threads())
    }

    /// Warm-up and interval, with those of the latency phase.
    fn lasts_ns(&self) -> Option<u64> {
        let latency = self.latency.map_or(0, |it| it.warm_up_ns.saturating_add(it.measure_ns));
        Some(self.warm_up_ns.saturating_add(self.measure_ns).saturating_add(latency))
    }

    fn measure_ns(&self) -> Option<u64> {
        Some(self.measure_ns)
    }

    fn may_end_sooner(&self) -> bool {
        self.until.is_some()
    }

    fn is_shared(&self) -> Result<bool> {
        Ok(self.drivers.are_several())
    }

    fn has_rate(&self) -> bool {
        self.rate.is_some()
    }

    fn puts_back(&self) -> bool {
        self.puts_back
    }

    fn search(&self) -> Option<SearchPlan> {
        self.find_max.then(|| SearchPlan {
            unit: "TR/s",
            range: [0.0, *RunOptions::RATES.end()],
            limits: users::response_limits(),
            users: self.users,
            hint: "try fewer --users or --customers, other options of the target, or a longer --for",
        })
    }

    fn short(&self) -> Job {
        Job::from(Self {
            warm_up_ns: self.warm_up_ns.min(SHORT_WARM_UP_NS),
            measure_ns: short_ns(self.measure_ns, 5),
            latency: None,
            ..self.clone()
        })
    }

    fn at_rate(&self, rate: f64) -> Job {
        Job::from(Self { rate: Some(rate), ..self.clone() })
    }

    fn capacity(&self, round: &Round) -> f64 {
        RunOptions::rate_of_customers(customers_rate(round))
    }

    fn achieved(&self, round: &Round) -> f64 {
        round.headline
    }

    fn words(&self, target: &str) -> String {
        let days = if self.database.days == 1 { "day" } else { "days" };
        let users = if self.users == 1 { "user" } else { "users" };
        let market = if self.market_users == 1 { "market user" } else { "market users" };
        let load = match self.rate {
            _ if self.find_max => "the highest rate within the limits".to_owned(),
            Some(rate) => format!("target rate {rate} TR/s"),
            None => "closed loop".to_owned(),
        };
        let until = match self.until {
            None => "",
            Some(StoppingRule::RateLevel) => ", warm-up until the rate shows no trend",
            Some(StoppingRule::SteadinessDecided) => ", until its steady state is determined",
        };
        let market_age = match self.market {
            MarketAge::New => String::new(),
            MarketAge::Aged => ", market aged at that rate".to_owned(),
            MarketAge::AgedAt(rate) => format!(", market aged at {rate} TR/s"),
        };
        let at_part = |it: LatencyPlan| format!(", then {} at 70 % of its rate", time(it.measure_ns));
        let latency = self.latency.map(at_part).unwrap_or_default();
        let drivers = self.drivers.words();
        let is_set = ["customers", "days"].iter().all(|id| self.explicitly_set.given(id));
        let keeps = engines::location(target).is_ok_and(|it| it.file().is_some());
        let own = if keeps && !is_set { " (a database that is there keeps its size)" } else { "" };
        format!(
            "{WORKLOAD}: {} customers, {} {days} of trades{own}, {} {users}, {} {market}{drivers}, {load}{market_age}{until}{latency}",
            self.database.customers, self.database.days, self.users, self.market_users
        )
    }

    fn databases(&self) -> String {
        let loaded = loaded(self.database.reload);
        format!("{loaded}; {} after the run", self.drivers.then())
    }

    fn database_key(&self) -> String {
        let DatabaseArgs { customers, days, scale_factor, .. } = &self.database;
        format!("{WORKLOAD} {customers} {days} {scale_factor}")
    }

    fn once_ns(&self, target: &str) -> Option<u64> {
        let sampled_ns = if self.check == CheckDepth::Full { load_ns(target, 1_000, 1) } else { 0 };
        let loaded_ns = load_ns(target, self.database.customers, self.database.days);
        Some(ONCE_NS.saturating_add(loaded_ns).saturating_add(sampled_ns))
    }

    fn round_ns(&self, target: &str) -> u64 {
        let checked_ns = load_ns(target, self.database.customers, self.database.days);
        self.lasts_ns().unwrap_or(0).saturating_add(ROUND_NS).saturating_add(checked_ns)
    }

    fn begin_cold(&mut self) -> Result<(), &'static str> {
        self.warm_up_ns = 0;
        match (self.until, self.latency, self.market) {
            (Some(_), ..) => Err("--until-steady"),
            (_, Some(_), _) => Err("--latency"),
            (.., MarketAge::Aged | MarketAge::AgedAt(_)) => Err("--market aged"),
            _ => Ok(()),
        }
    }

    fn joins_another(&self) -> bool {
        self.drivers.joins_another()
    }

    fn forget_reload(&mut self) {
        self.database.reload = false;
    }

    fn served(&self) -> Option<&DatabaseArgs> {
        self.served.then_some(&self.database)
    }

    fn samples(&self) -> bool {
        self.check == CheckDepth::Full
    }
}
