//! A classic workload as the work of a round.

use super::{Job, JobWork, SHORT_WARM_UP_NS, short_ns};
use crate::args::{ArrivalsArg, TimingMode};
use crate::engines;
use crate::failure::Result;
use crate::plan::classic::{OpenLoopPlan, RateSearch};
use crate::plan::instructions::COUNTED;
use crate::plan::search::rate_of_all;
use crate::plan::{ClassicRound, SearchPlan};
use bourse_driver::{Abilities, SECOND};
use bourse_micro::{PACE, RoundExtent, Timing};
use bourse_record::{Round, Search};

impl JobWork for ClassicRound {
    fn workload(&self) -> &str {
        &self.workload
    }

    fn abilities(&self) -> Result<Abilities> {
        Ok(self.spec()?.abilities())
    }

    fn operations(&self) -> Result<Vec<&'static str>> {
        Ok(self.case()?.operations())
    }

    fn threads(&self) -> u32 {
        self.case().map_or(1, |case| u32::try_from(case.threads()).unwrap_or(u32::MAX))
    }

    fn lasts_ns(&self) -> Option<u64> {
        let ends_by_itself = self.count.is_some() || self.spec().is_ok_and(|spec| spec.extent == RoundExtent::Work);
        let measured = self.measure_ns.unwrap_or(Timing::USUAL_NS);
        (!ends_by_itself).then(|| self.warm_up_ns.saturating_add(measured))
    }

    fn at_most_ns(&self) -> Option<u64> {
        self.measure_ns
    }

    fn counted(&self) -> Result<Job, &'static str> {
        if self.workload == "delete" {
            return Err("it has no end on the null engine, on which the harness's instructions are counted");
        }
        let ends_by_itself = self.spec().is_ok_and(|spec| spec.extent == RoundExtent::Work);
        Ok(Job::from(Self {
            warm_up_ns: 0,
            measure_ns: None,
            count: self.count.or((!ends_by_itself).then_some(COUNTED)),
            // The size of batches follows the time that operations take.
            timed: TimingMode::Single,
            open_loop: None,
            search: None,
            ..self.clone()
        }))
    }

    fn measure_ns(&self) -> Option<u64> {
        self.measure_ns
    }

    fn is_shared(&self) -> Result<bool> {
        Ok(self.case()?.processes() > 1)
    }

    fn has_rate(&self) -> bool {
        self.open_loop.is_some()
    }

    fn is_sampled(&self) -> bool {
        self.timed == TimingMode::Sampled
    }

    fn search(&self) -> Option<SearchPlan> {
        let has_threads = self.spec().is_ok_and(|spec| spec.options.iter().any(|it| it.name == "threads"));
        let (unit, hint) = match self.recorded_ns {
            Some(_) => (Search::PACE, "try a higher --limit, or other options of the target"),
            None if has_threads => (
                "operations/s",
                "try a higher --limit, fewer -s threads, other options of the target, or a longer --for",
            ),
            None => ("operations/s", "try a higher --limit, other options of the target, or a longer --for"),
        };
        self.search.as_ref().map(|search| search.search(unit, self.threads() as usize, hint))
    }

    fn short(&self) -> Job {
        if self.recorded_ns.is_some() {
            // A recording ends by itself: one that takes longer than its program did is too slow.
            return Job::from(Self { measure_ns: self.measure_ns.or(self.recorded_ns), ..self.clone() });
        }
        Job::from(Self {
            warm_up_ns: self.warm_up_ns.min(SHORT_WARM_UP_NS),
            measure_ns: Some(short_ns(self.measure_ns.unwrap_or(Timing::USUAL_NS), 1)),
            // At a rate each operation is timed alone.
            timed: TimingMode::Single,
            ..self.clone()
        })
    }

    fn at_rate(&self, rate: f64) -> Job {
        if self.recorded_ns.is_some() {
            return Job::from(self.at_pace(rate));
        }
        let arrivals = self.search.as_ref().map(|search| search.arrivals).unwrap_or_default();
        let open_loop = Some(OpenLoopPlan { rate, arrivals });
        Job::from(Self { open_loop, timed: TimingMode::default(), ..self.clone() })
    }

    fn capacity(&self, round: &Round) -> f64 {
        self.recorded_ns.map_or_else(|| rate_of_all(round), |ns| ns as f64 / 1e9 / round.measured_s)
    }

    fn achieved(&self, round: &Round) -> f64 {
        self.capacity(round)
    }

    fn words(&self, _: &str) -> String {
        let options: Vec<String> = self.options.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let count = self.count.map(|count| format!(" count={count}")).unwrap_or_default();
        let rate = self.open_loop.map(|it| format!(" rate={}{}", it.rate, arrivals(it.arrivals))).unwrap_or_default();
        let search = self.search.as_ref().map(search).unwrap_or_default();
        let timing = match self.timed {
            TimingMode::Batched => "",
            TimingMode::Sampled => " timing=sampled",
            TimingMode::Single => " timing=single",
        };
        let words = format!("{} {}{count}{rate}{timing}", self.workload, options.join(" "));
        format!("{}{search}", words.trim_end())
    }

    fn databases(&self) -> String {
        "created for each round".to_owned()
    }

    fn begin_cold(&mut self) -> Result<(), &'static str> {
        self.warm_up_ns = 0;
        Ok(())
    }

    fn once_ns(&self, _: &str) -> Option<u64> {
        None
    }

    fn round_ns(&self, target: &str) -> u64 {
        let started = engines::starts_s(target).saturating_mul(SECOND);
        let lasts_ns = self.lasts_ns().or_else(|| self.case().ok()?.expected_ns());
        let (lasts_ns, beside_ms) = match lasts_ns {
            Some(lasts_ns) => (lasts_ns, engines::prepares_ms(target)),
            // Inserting workloads insert about as many rows as other workloads prepare.
            None => (0, engines::inserts_ms(target)),
        };
        lasts_ns.saturating_add(beside_ms.saturating_mul(SECOND / 1_000)).saturating_add(started)
    }
}

impl ClassicRound {
    /// The replay at a pace.
    pub(crate) fn at_pace(&self, pace: f64) -> Self {
        let mut job = self.clone();
        job.options.retain(|(name, _)| name != PACE);
        job.options.push((PACE.to_owned(), pace.to_string()));
        job
    }
}

/// Description of a search.
fn search(search: &RateSearch) -> String {
    let limits: Vec<String> = search.limits.iter().map(ToString::to_string).collect();
    format!(", the highest rate with {}{}", limits.join(", "), arrivals(search.arrivals))
}

/// Arrivals, unless they are the default.
pub(super) fn arrivals(arrivals: ArrivalsArg) -> String {
    if arrivals == ArrivalsArg::default() { String::new() } else { format!(" arrivals={}", arrivals.name()) }
}
