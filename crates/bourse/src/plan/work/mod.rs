//! Job of a round: a workload with its settings, with the answers that plans and execution need of each.
//!
//! | file | workload |
//! |---|---|
//! | `brokerage` | TPC-E |
//! | `classic` | the classic ones |
//! | `mix` | those whose users draw transactions by their shares |

mod brokerage;
mod classic;
mod mix;

pub(crate) use brokerage::{load_ns, rows};

use super::{Brokerage, ClassicRound, MixRound, SearchPlan};
use crate::args::DatabaseArgs;
use crate::failure::Result;
use bourse_driver::{Abilities, SECOND};
use bourse_record::Round;
use serde::{Deserialize, Serialize};
use std::ops::{Deref, DerefMut};

/// Job of a round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Job {
    /// The brokerage workload.
    Brokerage(Box<Brokerage>),
    /// A classic workload.
    Classic(Box<ClassicRound>),
    /// A workload whose users draw transactions by their shares.
    Mix(Box<MixRound>),
}

/// Evaluates an expression with the settings of a job, of whatever workload: nothing else lists the workloads.
macro_rules! settings_of {
    ($job:expr, $it:ident => $then:expr) => {
        match $job {
            $crate::plan::Job::Brokerage($it) => $then,
            $crate::plan::Job::Classic($it) => $then,
            $crate::plan::Job::Mix($it) => $then,
        }
    };
}
pub(crate) use settings_of;

impl From<Brokerage> for Job {
    fn from(job: Brokerage) -> Self {
        Self::Brokerage(Box::new(job))
    }
}

impl From<ClassicRound> for Job {
    fn from(job: ClassicRound) -> Self {
        Self::Classic(Box::new(job))
    }
}

impl From<MixRound> for Job {
    fn from(job: MixRound) -> Self {
        Self::Mix(Box::new(job))
    }
}

impl Deref for Job {
    type Target = dyn JobWork;

    fn deref(&self) -> &Self::Target {
        settings_of!(self, job => &**job)
    }
}

impl DerefMut for Job {
    fn deref_mut(&mut self) -> &mut Self::Target {
        settings_of!(self, job => &mut **job)
    }
}

/// Properties of a job that plans need, whatever its workload.
pub(crate) trait JobWork {
    /// Name of the workload.
    fn workload(&self) -> &str;

    /// Name of the workload in a sentence.
    fn noun(&self) -> &str {
        self.workload()
    }

    /// Options and commands that the workload supports.
    fn abilities(&self) -> Result<Abilities>;

    /// Names of the operations, which limits of a search may name.
    fn operations(&self) -> Result<Vec<&'static str>>;

    /// Threads that are busy at once.
    fn threads(&self) -> u32;

    /// Threads that are busy at once unless set otherwise, however few CPUs there are; no warning advises fewer.
    fn usual_threads(&self) -> u32 {
        1
    }

    /// Warm-up and measurement of a round, in nanoseconds; none where only its work ends it.
    fn lasts_ns(&self) -> Option<u64>;

    /// Longest measurement of a round whose work ends it, in nanoseconds; none if nothing else does.
    fn at_most_ns(&self) -> Option<u64> {
        self.lasts_ns()
    }

    /// The job with a fixed number of operations and nothing that depends on time, whose instructions can be counted.
    ///
    /// # Errors
    /// Reason that there is none.
    fn counted(&self) -> Result<Job, &'static str> {
        Err("its users work for a time, and not for a fixed number of operations")
    }

    /// Length of the measurement interval, in nanoseconds, if it is set.
    fn measure_ns(&self) -> Option<u64>;

    /// Whether a rule may end a round before its time.
    fn may_end_sooner(&self) -> bool {
        false
    }

    /// Whether several processes, or drivers elsewhere, have the users of a round.
    fn is_shared(&self) -> Result<bool>;

    /// Whether a rate is requested.
    fn has_rate(&self) -> bool;

    /// Whether one in so many operations is timed.
    fn is_sampled(&self) -> bool {
        false
    }

    /// Whether a database is restored after a single round.
    fn puts_back(&self) -> bool {
        false
    }

    /// The search for the highest rate, if the job is one.
    fn search(&self) -> Option<SearchPlan>;

    /// The job of a short round of a search, without a schedule.
    fn short(&self) -> Job;

    /// Copy of the job at that rate.
    fn at_rate(&self, rate: f64) -> Job;

    /// Rate that a round without a schedule achieves, in the unit of the search.
    fn capacity(&self, round: &Round) -> f64;

    /// Achieved rate of a round at a rate, in its unit.
    fn achieved(&self, round: &Round) -> f64;

    /// Description of a round on a target.
    fn words(&self, target: &str) -> String;

    /// Description of how its databases come and go.
    fn databases(&self) -> String;

    /// Name of the database among those that a target may hold; empty if each round makes its own.
    fn database_key(&self) -> String {
        String::new()
    }

    /// Time to load and check the database that all rounds on a target use, in nanoseconds; `None` if each round makes its own.
    fn once_ns(&self, target: &str) -> Option<u64>;

    /// Time of a round on a target with a database that is loaded, in nanoseconds.
    fn round_ns(&self, target: &str) -> u64;

    /// Whether the database of a target is held by another process of the same run.
    fn joins_another(&self) -> bool {
        false
    }

    /// Takes back the request to replace an existing database, which has been done.
    fn forget_reload(&mut self) {}

    /// The database that an application server started by Bourse serves to the users, if there is one between.
    fn served(&self) -> Option<&DatabaseArgs> {
        None
    }

    /// Takes the warm-up away; the option that needs one is the error.
    fn begin_cold(&mut self) -> Result<(), &'static str>;

    /// Whether its transactions are sampled after the rounds.
    fn samples(&self) -> bool {
        false
    }
}

impl Job {
    /// The job of a short round of a search: at that rate, or as fast as its users can.
    ///
    /// A third of the interval: long enough for a tenth of a second's backlog to show as a hundredth, short enough for a dozen
    /// of them.
    pub(crate) fn probe(&self, rate: Option<f64>) -> Self {
        let probed = self.short();
        match rate {
            Some(rate) => probed.at_rate(rate),
            None => probed,
        }
    }

    /// Achieved rate of a round at a rate, in its unit. A void round achieves 0.
    pub(crate) fn reached(&self, round: &Round) -> f64 {
        if round.headline.is_nan() { 0.0 } else { self.achieved(round) }
    }
}

/// Length of an interval in a short round of a search, in nanoseconds.
fn short_ns(ns: u64, least_s: u64) -> u64 {
    (ns / 3).clamp(least_s * SECOND, 60 * SECOND).min(ns)
}

/// Longest warm-up of a short round of a search, in nanoseconds.
const SHORT_WARM_UP_NS: u64 = 5 * SECOND;
