//! Drivers that share a job's rounds: processes of this machine, or drivers elsewhere.

use super::nanoseconds;
use crate::args::DriverArgs;
use crate::failure::{Failure, Result};
use bourse_oltp::sut::Share;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::Duration;

/// Default time that coordinated drivers wait for one another.
const GATHER_LIMIT: Duration = Duration::from_secs(120);

/// Drivers of a job's rounds, and this one's place among them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Drivers {
    /// Processes that users are distributed over.
    pub(crate) processes: u32,
    /// Number of this driver of a round, and of all its drivers.
    pub(crate) part: Option<(u32, u32)>,
    /// Meeting place of coordinated drivers, which send their statements to the engine themselves.
    pub(crate) coordinate: Option<Coordinate>,
    /// File with the token that a server requires.
    pub(crate) token_file: Option<PathBuf>,
}

/// Meeting place of the drivers of a round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Coordinate {
    /// HOST:PORT or unix:PATH: driver 1 listens there.
    pub(crate) place: String,
    /// Longest wait for the other drivers, in nanoseconds.
    pub(crate) gather_ns: u64,
    /// The process, if this driver is one of those that another process of this machine started and coordinates.
    pub(crate) process: Option<ProcessOfUsers>,
}

/// One of the processes of this machine that the users of a round are distributed over.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct ProcessOfUsers {
    /// Number of the process, from 1.
    pub(crate) number: u32,
    /// Text of the token of the process that coordinates.
    pub(crate) token: String,
}

impl std::fmt::Debug for ProcessOfUsers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ProcessOfUsers").field("number", &self.number).finish_non_exhaustive()
    }
}

impl Drivers {
    /// This process alone.
    pub(crate) const ALONE: Self = Self { processes: 1, part: None, coordinate: None, token_file: None };

    /// The drivers that the options describe.
    pub(crate) fn of(processes: u32, arguments: &DriverArgs) -> Self {
        let coordinate = arguments.coordinate.clone().map(|place| {
            let gather_ns = nanoseconds(arguments.gather.unwrap_or(GATHER_LIMIT));
            Coordinate { place, gather_ns, process: None }
        });
        let part = arguments.part.map(|part| (part.number(), part.of()));
        Self { processes, part, coordinate, token_file: arguments.token.path.clone() }
    }

    /// This driver's share of a round, if several drivers share it.
    pub(crate) fn driver(&self) -> Option<Share> {
        match self.process() {
            Some(process) => Share::process(process.number, self.processes),
            None => self.part.and_then(|(number, of)| Share::new(number, of)),
        }
    }

    /// The process of users that this is, if another process of this machine started it.
    pub(crate) fn process(&self) -> Option<&ProcessOfUsers> {
        self.coordinate.as_ref()?.process.as_ref()
    }

    /// Whether this process starts others for the users of a round.
    pub(crate) fn starts_processes(&self) -> bool {
        self.processes > 1 && self.process().is_none()
    }

    /// Whether several processes, or drivers elsewhere, have the users of a round.
    pub(crate) fn are_several(&self) -> bool {
        self.processes > 1 || self.coordinate.is_some()
    }

    /// Whether the database is held by another process of the same run.
    pub(crate) fn joins_another(&self) -> bool {
        self.driver().is_some_and(|driver| driver.number() > 1)
    }

    /// State of the database after the run: "restored", or "kept" if other drivers use it.
    pub(crate) fn then(&self) -> &'static str {
        if self.coordinate.is_some() { "kept" } else { "restored" }
    }

    /// Description of the processes and the driver, to follow that of the users.
    pub(crate) fn words(&self) -> String {
        let processes = match self.processes {
            1 => String::new(),
            processes => format!(" in {processes} processes"),
        };
        match (&self.coordinate, self.driver()) {
            (Some(coordinate), Some(driver)) => {
                format!("{processes}, driver {driver} coordinated at {}", coordinate.place)
            }
            _ => processes,
        }
    }
}

/// Refuses options that one of several coordinated drivers cannot apply; `others` are further ones, each with whether it is
/// set.
pub(crate) fn only_alone(drivers: &Drivers, targets: &[String], others: &[(&str, bool)]) -> Result<()> {
    if drivers.coordinate.is_none() {
        return Ok(());
    }
    let own = [("--processes", drivers.processes > 1), ("more than one target", targets.len() > 1)];
    match others.iter().chain(&own).find(|(_, is_set)| *is_set) {
        None => Ok(()),
        Some((option, _)) => {
            Err(Failure::usage(format!("{option} cannot be used with --coordinate: all drivers run the same rounds"))
                .hint("start each driver with one target, the same --for and --warmup, and its own --users and --rate"))
        }
    }
}
