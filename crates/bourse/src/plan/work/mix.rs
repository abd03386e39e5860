//! A workload whose users draw transactions by their shares as the work of a round.

use super::classic::arrivals;
use super::{Job, JobWork, SHORT_WARM_UP_NS, short_ns};
use crate::args::CheckDepth;
use crate::engines;
use crate::failure::Result;
use crate::plan::classic::OpenLoopPlan;
use crate::plan::mix::USERS;
use crate::plan::search::rate_of_all;
use crate::plan::show::loaded;
use crate::plan::{MixRound, SearchPlan};
use bourse_driver::{Abilities, Ability, SECOND};
use bourse_record::Round;

/// Time of a round in addition to warm-up and interval and the checks: restoring the database.
const ROUND_NS: u64 = SECOND;

/// Time of the samples, about, in nanoseconds.
const SAMPLE_NS: u64 = SECOND;

impl JobWork for MixRound {
    fn workload(&self) -> &str {
        &self.workload
    }

    fn abilities(&self) -> Result<Abilities> {
        Ok(Abilities {
            rate: Ability::Has,
            sampling: Ability::Lacks("each transaction is timed"),
            search: Ability::Has,
            steadiness: Ability::Has,
            snapshot: Ability::Has,
        })
    }

    fn operations(&self) -> Result<Vec<&'static str>> {
        Ok(self.mixed()?.operations().to_vec())
    }

    fn threads(&self) -> u32 {
        u32::try_from(self.users).unwrap_or(u32::MAX)
    }

    fn usual_threads(&self) -> u32 {
        USERS as u32
    }

    fn lasts_ns(&self) -> Option<u64> {
        Some(self.warm_up_ns.saturating_add(self.measure_ns))
    }

    fn measure_ns(&self) -> Option<u64> {
        Some(self.measure_ns)
    }

    fn is_shared(&self) -> Result<bool> {
        Ok(self.drivers.are_several())
    }

    fn has_rate(&self) -> bool {
        self.open_loop.is_some()
    }

    fn search(&self) -> Option<SearchPlan> {
        let hint = "try a higher --limit, fewer --users, other options of the target, or a longer --for";
        self.search.as_ref().map(|search| search.search("transactions/s", self.users, hint))
    }

    fn short(&self) -> Job {
        Job::from(Self {
            warm_up_ns: self.warm_up_ns.min(SHORT_WARM_UP_NS),
            measure_ns: short_ns(self.measure_ns, 1),
            ..self.clone()
        })
    }

    fn at_rate(&self, rate: f64) -> Job {
        let arrivals = self.search.as_ref().map(|search| search.arrivals).unwrap_or_default();
        Job::from(Self { open_loop: Some(OpenLoopPlan { rate, arrivals }), ..self.clone() })
    }

    fn capacity(&self, round: &Round) -> f64 {
        rate_of_all(round)
    }

    fn achieved(&self, round: &Round) -> f64 {
        rate_of_all(round)
    }

    fn words(&self, _: &str) -> String {
        let load = match self.open_loop {
            _ if self.search.is_some() => "the highest rate within the limits".to_owned(),
            Some(it) => format!("target rate {} transactions/s{}", it.rate, arrivals(it.arrivals)),
            None if self.terminals => "at terminals".to_owned(),
            None => "closed loop".to_owned(),
        };
        let users = if self.users == 1 { "user" } else { "users" };
        format!("{}: {}, {} {users}{}, {load}", self.workload, self.size_text(), self.users, self.drivers.words())
    }

    fn databases(&self) -> String {
        let loaded = loaded(self.reload);
        format!("{loaded}; {} after the run", self.drivers.then())
    }

    fn database_key(&self) -> String {
        format!("{} {}", self.workload, self.size)
    }

    /// Loading, and the checks, which take about as long, and the samples.
    fn once_ns(&self, target: &str) -> Option<u64> {
        let sampled_ns = if self.samples() { SAMPLE_NS } else { 0 };
        Some(self.load_ns(target).saturating_mul(2).saturating_add(sampled_ns))
    }

    fn samples(&self) -> bool {
        self.check == CheckDepth::Full
    }

    fn begin_cold(&mut self) -> Result<(), &'static str> {
        self.warm_up_ns = 0;
        Ok(())
    }

    fn joins_another(&self) -> bool {
        self.drivers.joins_another()
    }

    fn forget_reload(&mut self) {
        self.reload = false;
    }

    fn round_ns(&self, target: &str) -> u64 {
        let lasts_ns = self.warm_up_ns.saturating_add(self.measure_ns);
        lasts_ns.saturating_add(ROUND_NS).saturating_add(self.load_ns(target))
    }
}

impl MixRound {
    /// Time to load the database, in nanoseconds.
    fn load_ns(&self, target: &str) -> u64 {
        engines::loading_ns(target, self.rows())
    }
}
