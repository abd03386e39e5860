//! Time of the users' threads in the measurement interval, by activity.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Time of the users' threads in the measurement interval, by kind of user.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TimeSplit {
    /// Times as the operating system counts them.
    Measured(Vec<RoleTime>),
    /// Reason that the operating system does not report the times.
    NotAvailable(String),
}

impl TimeSplit {
    /// Merged times of several parts of a round; `None` if one of them has none.
    pub fn merged<'t>(parts: impl IntoIterator<Item = Option<&'t Self>>) -> Option<Self> {
        let mut roles = Vec::new();
        for part in parts {
            match part? {
                Self::NotAvailable(why) => return Some(Self::NotAvailable(why.clone())),
                Self::Measured(each) => each.iter().for_each(|role| role.add_to(&mut roles)),
            }
        }
        (!roles.is_empty()).then_some(Self::Measured(roles))
    }

    /// Times by kind of user; empty if unknown.
    pub fn roles(&self) -> &[RoleTime] {
        match self {
            Self::Measured(roles) => roles,
            Self::NotAvailable(_) => &[],
        }
    }
}

/// Time of all threads of one kind of user. `wall_s` = `cpu_s` + `runnable_s` + the sum of `blocked`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RoleTime {
    /// Kind of the users, such as customers.
    pub role: String,
    /// Number of threads.
    pub threads: u64,
    /// Operations performed in that time; those timed together count as one.
    pub operations: u64,
    /// Length of the interval summed over the threads, in seconds. Each thread starts and ends between two operations.
    pub wall_s: f64,
    /// Time on a CPU, in seconds.
    pub cpu_s: f64,
    /// Part of `cpu_s` spent in the driver's own pauses.
    #[serde(default)]
    pub pause_cpu_s: f64,
    /// Time ready to run while other threads had the CPUs, in seconds.
    pub runnable_s: f64,
    /// Time blocked, by cause.
    pub blocked: Vec<BlockedTime>,
}

impl RoleTime {
    /// Adds the time to the entry of the same kind of user.
    pub fn add_to(&self, roles: &mut Vec<Self>) {
        let Some(sum) = roles.iter_mut().find(|it| it.role == self.role) else { return roles.push(self.clone()) };
        sum.threads = sum.threads.saturating_add(self.threads);
        sum.operations = sum.operations.saturating_add(self.operations);
        sum.wall_s += self.wall_s;
        sum.cpu_s += self.cpu_s;
        sum.pause_cpu_s += self.pause_cpu_s;
        sum.runnable_s += self.runnable_s;
        for blocked in &self.blocked {
            match sum.blocked.iter_mut().find(|it| it.on == blocked.on) {
                Some(it) => {
                    it.seconds += blocked.seconds;
                    it.waits = it.waits.zip(blocked.waits).map(|(sum, each)| sum.saturating_add(each));
                }
                None => sum.blocked.push(*blocked),
            }
        }
    }

    /// Time blocked on `on`, in seconds.
    pub fn blocked_on(&self, on: BlockedOn) -> f64 {
        // From 0: the sum of nothing is −0 otherwise.
        self.blocked.iter().filter(|it| it.on == on).fold(0.0, |sum, it| sum + it.seconds)
    }

    /// Total time blocked, in seconds.
    pub fn blocked_s(&self) -> f64 {
        self.blocked.iter().fold(0.0, |sum, it| sum + it.seconds)
    }
}

/// Time that threads were blocked for one cause.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BlockedTime {
    /// Cause of blocking.
    pub on: BlockedOn,
    /// Duration in seconds.
    pub seconds: f64,
    /// Number of waits, if counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits: Option<u64>,
}

/// Cause that a thread was blocked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BlockedOn {
    /// A sync to disk.
    Sync,
    /// A lock of the engine, or the queue of its writers.
    Lock,
    /// A read or write of a file; estimated from one call in 64.
    Storage,
    /// The server that the engine is in, network included.
    Server,
    /// The moment at which the next operation was due, or a think time.
    Schedule,
    /// The pause before a retry.
    BackOff,
    /// A queue of the workload: full for its producers, empty for its consumers.
    Queue,
    /// Any other cause.
    Other,
}
