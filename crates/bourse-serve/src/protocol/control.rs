//! What concerns the whole round: beginning it together, its books, its checks.

use super::resources::{Io, Sizes};
use bourse_driver::RetryPolicy;
use bourse_egen::Part;
use bourse_record::Check;
use bourse_tpce::check::books::{Acknowledged, Snapshot};
use bourse_tpce::sut::{Share, Terms};
use bourse_tpce::transactions::trade_cleanup::TradeCleanupOutput;
use serde::{Deserialize, Serialize};

/// What a driver asks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Control {
    /// To begin a round, together with the other drivers that the terms speak of.
    Open(RoundTerms),
    /// How large the database is, and what the server uses.
    Footprint,
    /// What the engine has asked of the file system.
    IoCounts,
    /// How many limit orders wait.
    PendingOrders,
    /// To end the round: what the driver's users were told. Checks follow when the last driver has ended.
    Close(Acknowledged),
    /// Nothing more.
    Leave,
    /// Nothing yet: outside a round, that the driver is still there. There is no answer.
    Alive,
}

/// What a server says to a driver.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum News {
    /// Others are waited for; once a second.
    Waiting {
        /// Drivers that are ready.
        ready: u32,
        /// Drivers of the round.
        of: u32,
        /// What for.
        what: Wait,
    },
    /// The round begins now.
    Opened(Box<OpenedRound>),
    /// Sizes, and what the server uses.
    Footprint(Sizes),
    /// What the engine has asked of the file system, if it counts that.
    IoCounts(Option<Box<Io>>),
    /// Limit orders that wait.
    PendingOrders(u64),
    /// The round is over.
    Closed(Box<ClosedRound>),
    /// That cannot be; why.
    Refused(String),
}

/// What drivers of a round wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Wait {
    /// Others to come, or Trade-Cleanup.
    Beginning,
    /// Others to end.
    Ending,
    /// The checks.
    Checking,
}

impl News {
    /// What it is, for errors.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Waiting { .. } => "waiting",
            Self::Opened(_) => "a round opened",
            Self::Footprint(_) => "sizes",
            Self::IoCounts(_) => "reads and writes",
            Self::PendingOrders(_) => "pending orders",
            Self::Closed(_) => "a round closed",
            Self::Refused(_) => "a refusal",
        }
    }
}

/// The database that a round is to begin with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Beginning {
    /// As it is.
    #[default]
    AsItIs,
    /// As it is, and the server keeps a copy of it, in place of any other.
    Keep,
    /// As that copy has it.
    PutBack {
        /// Its number, told with the round that asked to keep it.
        copy: u64,
    },
}

impl Beginning {
    const fn words(self) -> &'static str {
        match self {
            Self::AsItIs => "as it is",
            Self::Keep => "as it is, a copy kept",
            Self::PutBack { .. } => "put back from a copy",
        }
    }
}

/// [`Terms`] as they cross the network: the database is the server's to know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoundTerms {
    /// Which driver, from 1.
    pub number: u32,
    /// Of how many.
    pub of: u32,
    /// Warm-up before the measurement interval.
    pub warm_up_ns: u64,
    /// The measurement interval.
    pub measure_ns: u64,
    /// What database to begin with.
    pub beginning: Beginning,
    /// Retries after conflicts, which the server makes.
    pub retries: u32,
    /// The first back-off, on average.
    pub first_back_off_ns: u64,
    /// The longest back-off, on average.
    pub longest_back_off_ns: u64,
}

impl From<&Terms> for RoundTerms {
    fn from(terms: &Terms) -> Self {
        let Terms { part: _, share, warm_up_ns, measure_ns, retry } = *terms;
        Self {
            number: share.number(),
            of: share.of(),
            warm_up_ns,
            measure_ns,
            beginning: Beginning::AsItIs,
            retries: retry.retries,
            first_back_off_ns: retry.first_ns,
            longest_back_off_ns: retry.longest_ns,
        }
    }
}

impl RoundTerms {
    /// How often a driver may have a transaction retried.
    pub(crate) const MOST_RETRIES: u32 = 1_000;
    /// How long it may have the server back off.
    const LONGEST_NS: u64 = 1_000_000_000;

    /// The terms for a database; `None` if there is no such driver.
    pub fn terms(&self, part: Part) -> Option<Terms> {
        let retry = RetryPolicy {
            retries: self.retries.min(Self::MOST_RETRIES),
            first_ns: self.first_back_off_ns.min(Self::LONGEST_NS),
            longest_ns: self.longest_back_off_ns.min(Self::LONGEST_NS),
        };
        let share = Share::new(self.number, self.of)?;
        Some(Terms { part, share, warm_up_ns: self.warm_up_ns, measure_ns: self.measure_ns, retry })
    }

    /// What another driver of the same round wants otherwise, in words.
    pub fn differences(&self, other: &Self) -> Vec<String> {
        let seconds = |ns: u64| format!("{} s", ns as f64 / 1e9);
        let pairs = [
            ("drivers", self.of.to_string(), other.of.to_string()),
            ("warm-up", seconds(self.warm_up_ns), seconds(other.warm_up_ns)),
            ("measurement interval", seconds(self.measure_ns), seconds(other.measure_ns)),
            ("database", self.beginning.words().to_owned(), other.beginning.words().to_owned()),
            ("retries", self.retries.to_string(), other.retries.to_string()),
        ];
        let differ = pairs.into_iter().filter(|(_, ours, theirs)| ours != theirs);
        differ.map(|(what, ours, theirs)| format!("{what}: {ours} here, {theirs} in the round")).collect()
    }
}

/// A round that has begun.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OpenedRound {
    /// Its name: the same for all its drivers, and for no other round of any server.
    pub round: String,
    /// The copy of the database that was kept, by its number.
    pub kept: Option<u64>,
    /// What was done for the database to be as the terms have it, in words; empty for nothing.
    pub prepared: String,
    /// What Trade-Cleanup did.
    pub cleaned: TradeCleanupOutput,
    /// How long it took.
    pub cleanup_ns: u64,
    /// The books after it.
    pub before: Snapshot,
}

/// A round that is over.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClosedRound {
    /// Drivers that vanished before the end.
    pub vanished: Vec<u32>,
    /// Checks of the database and of the books of all drivers together.
    pub checks: Vec<Check>,
}
