//! Messages about a whole round: its beginning, its reconciliation, its checks.

use super::codec::{self, CodecError};
use bourse_driver::RetryPolicy;
use bourse_engine::{Footprint, IoCounts};
use bourse_oltp::sut::{Share, Terms};
use bourse_record::Check;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// Request of a driver.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Control {
    /// Begin a round, together with the other drivers that the terms name.
    Open(RoundTerms),
    /// All users of this coordinated driver are ready: request the moment at which the round begins.
    Ready,
    /// Request the time.
    Clock,
    /// Request the sizes of the database and the resources that the server uses.
    Footprint,
    /// Request the engine's counts of file operations.
    IoCounts,
    /// Request the amount of work that waits in the database.
    Pending,
    /// End the round, with the counts acknowledged to the driver's users. Checks follow when the last driver has ended.
    Close(Payload),
    /// Disconnect for good.
    Leave,
    /// Sign of life outside a round. There is no answer.
    Alive,
}

/// Reply to a driver.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum ControlReply {
    /// The round waits for others; sent once a second.
    Waiting {
        /// Number of drivers that are ready.
        ready: u32,
        /// Number of drivers of the round.
        of: u32,
        /// Reason for the wait.
        what: Wait,
    },
    /// The round begins now.
    Opened(Box<OpenedRound>),
    /// The round begins at this moment of the server's clock, in nanoseconds.
    Begin {
        /// Moment in nanoseconds.
        at_ns: u64,
    },
    /// Current time.
    Clock(Time),
    /// Sizes of the database and resources that the server uses.
    Footprint(Footprint),
    /// The engine's counts of file operations with their source, if it counts them.
    IoCounts(Option<Box<(String, IoCounts)>>),
    /// Amount of work that waits in the database, if the workload has any.
    Pending(Option<u64>),
    /// The round has ended.
    Closed(Box<ClosedRound>),
    /// The request is refused, with the reason.
    Refused(String),
}

/// Time of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Time {
    /// Clock of the server, in nanoseconds.
    pub now_ns: u64,
    /// Calendar of the server (UTC), in milliseconds since 1970.
    pub calendar_ms: i64,
}

/// Reason why the drivers of a round wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Wait {
    /// Other drivers have not joined, or the workload's own work before the round runs.
    Beginning,
    /// Users of other drivers are not ready.
    Starting,
    /// Other drivers have not ended.
    Ending,
    /// The checks run.
    Checking,
}

impl ControlReply {
    /// Name of the message, for errors.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Waiting { .. } => "waiting",
            Self::Opened(_) => "a round opened",
            Self::Begin { .. } => "a round's beginning",
            Self::Clock(_) => "the time",
            Self::Footprint(_) => "sizes",
            Self::IoCounts(_) => "reads and writes",
            Self::Pending(_) => "pending work",
            Self::Closed(_) => "a round closed",
            Self::Refused(_) => "a refusal",
        }
    }
}

/// State of the database that a round begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Beginning {
    /// Database as it is.
    #[default]
    AsItIs,
    /// Database as it is; the server takes a snapshot of it, in place of any other.
    Keep,
    /// Database restored from a snapshot.
    PutBack {
        /// Number of the snapshot, sent when it was taken.
        copy: u64,
    },
}

impl Beginning {
    const fn words(self) -> &'static str {
        match self {
            Self::AsItIs => "as it is",
            Self::Keep => "as it is, with a snapshot",
            Self::PutBack { .. } => "restored from a snapshot",
        }
    }
}

/// [`Terms`] in the protocol's form: without the database, which the server knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoundTerms {
    /// Number of the driver, from 1.
    pub number: u32,
    /// Number of drivers.
    pub of: u32,
    /// Duration of the warm-up, in nanoseconds.
    pub warm_up_ns: u64,
    /// Duration of the measurement interval, in nanoseconds.
    pub measure_ns: u64,
    /// Database to begin with.
    pub beginning: Beginning,
    /// Number of retries after conflicts, which the server makes.
    pub retries: u32,
    /// Mean of the first back-off, in nanoseconds.
    pub first_back_off_ns: u64,
    /// Mean of the longest back-off, in nanoseconds.
    pub longest_back_off_ns: u64,
    /// Number of sessions of the driver.
    pub sessions: u32,
}

impl From<&Terms> for RoundTerms {
    fn from(terms: &Terms) -> Self {
        let Terms { size: _, share, warm_up_ns, measure_ns, retry, sessions } = *terms;
        Self {
            number: share.number(),
            of: share.of(),
            warm_up_ns,
            measure_ns,
            beginning: Beginning::AsItIs,
            retries: retry.retries,
            first_back_off_ns: retry.first_ns,
            longest_back_off_ns: retry.longest_ns,
            sessions,
        }
    }
}

impl RoundTerms {
    /// Largest number of retries of a transaction that a driver may request.
    pub(crate) const MOST_RETRIES: u32 = 1_000;
    /// Longest back-off that a driver may request, in nanoseconds.
    const LONGEST_NS: u64 = 1_000_000_000;

    /// The driver's place; `None` if there can be no such driver.
    pub const fn share(&self) -> Option<Share> {
        Share::new(self.number, self.of)
    }

    /// Retries, within the limits.
    pub fn retry(&self) -> RetryPolicy {
        RetryPolicy {
            retries: self.retries.min(Self::MOST_RETRIES),
            first_ns: self.first_back_off_ns.min(Self::LONGEST_NS),
            longest_ns: self.longest_back_off_ns.min(Self::LONGEST_NS),
        }
    }

    /// Differences between the terms of two drivers of one round, as sentences.
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

/// Round that has begun.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OpenedRound {
    /// Name of the round: the same for all its drivers, and different from every other round's.
    pub round: String,
    /// Number of the snapshot that was taken.
    pub kept: Option<u64>,
    /// Preparation of the database, as a sentence; empty if there was none.
    pub prepared: String,
    /// The workload's own: totals of the database, and the result of its work before the round.
    pub begun: Payload,
    /// Number of sessions of all drivers that send their statements to the engine themselves; `None` for others.
    pub sessions: Option<u32>,
}

/// A value of the workload, encoded: the rest of the protocol is the same for all workloads.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Payload(Vec<u8>);

impl Payload {
    /// Encodes a value.
    ///
    /// # Errors
    /// [`CodecError::TooLarge`] if it has more than `limit` bytes.
    pub fn of(value: &impl Serialize, limit: usize) -> Result<Self, CodecError> {
        let mut frame = Vec::new();
        codec::frame(value, limit, &mut frame)?;
        Ok(Self(frame.split_off(codec::HEADER)))
    }

    /// Decodes the value.
    ///
    /// # Errors
    /// [`CodecError`].
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, CodecError> {
        codec::message(&self.0)
    }
}

/// Round that has ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClosedRound {
    /// Numbers of the drivers that vanished before the end.
    pub vanished: Vec<u32>,
    /// Checks of the database, and its reconciliation with all drivers together.
    pub checks: Vec<Check>,
}
