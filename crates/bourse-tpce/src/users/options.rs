//! How a run is to be: who asks, for how long, how fast.

use super::specs::MARKET_ROOM;
use bourse_driver::{Plan, Schedule};
use bourse_egen::driver::{Database, Tunables};
use bourse_egen::{Part, driver};

/// How a run is to be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunOptions {
    /// The database: what it was loaded with.
    pub part: Part,
    /// Customers' threads, each with a session.
    pub users: usize,
    /// Threads that run what the market sends, each with a session.
    pub market_users: usize,
    /// Phases and retries.
    pub plan: Plan,
    /// Where all random sequences of the run follow from.
    pub seed: u64,
    /// When customers ask.
    pub load: Load,
    /// The customers' knobs; the specification's by default.
    pub tunables: Tunables,
    /// Customers pause before they draw while more requests of the market than this wait.
    pub market_room: usize,
}

impl RunOptions {
    /// A run of that database at the defaults of this machine.
    ///
    /// One customer for each processor we may use, and one thread for the market. Measured with SQLite on two cores, 1, 2
    /// and 4 customers with 1 and 2 market threads (`examples/rounds.rs`; the machine was busy with other work): in
    /// memory no number of either stood out of the spread, since the processors are the limit; with a write-ahead log
    /// and synced commits two customers brought twice the Trade-Results of one and four no more, since the single writer
    /// is the limit, and a second market thread gained only where there was a single customer. More threads than that
    /// only wait longer.
    pub fn new(part: Part) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Self {
            part,
            users: cores,
            market_users: 1,
            plan: Plan::default(),
            seed: 1,
            load: Load::Closed,
            tunables: Tunables::default(),
            market_room: MARKET_ROOM,
        }
    }

    /// The database as the emulators see it.
    pub fn database(&self) -> Database {
        Database {
            configured_customers: self.part.total_customers(),
            active_customers: self.part.customers(),
            scale_factor: self.part.scale_factor(),
            initial_trade_days: self.part.days(),
        }
    }

    /// What the headline should be near by the specification's scale rule: customers / scale factor, a second.
    pub fn nominal(&self) -> f64 {
        self.part.total_customers() as f64 / self.part.scale_factor() as f64
    }

    /// Refuses what cannot be run.
    ///
    /// # Errors
    /// [`OptionsError`] with the value at fault.
    pub fn check(&self) -> Result<(), OptionsError> {
        self.database().check()?;
        self.tunables.check()?;
        for (what, count) in [("users", self.users), ("market users", self.market_users)] {
            if count == 0 {
                return Err(OptionsError::Nobody { what });
            }
        }
        match self.load {
            Load::Constant { per_second } | Load::Poisson { per_second }
                if !(per_second.is_finite() && per_second > 0.0) =>
            {
                Err(OptionsError::Rate { per_second })
            }
            _ => Ok(()),
        }
    }

    /// The schedule of one of the customers.
    pub(super) fn schedule(&self, seed: u64) -> Schedule {
        let share = |per_second: f64| per_second / self.users as f64;
        match self.load {
            Load::Closed => Schedule::Closed,
            Load::Constant { per_second } => Schedule::Constant { per_second: share(per_second) },
            Load::Poisson { per_second } => Schedule::Poisson { per_second: share(per_second), seed },
        }
    }
}

/// When customers ask, all together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Load {
    /// Each as soon as its last transaction has ended.
    Closed,
    /// So many transactions a second, evenly.
    Constant {
        /// Customers' transactions a second: 8.9 for each Trade-Result.
        per_second: f64,
    },
    /// So many transactions a second on average, at random moments.
    Poisson {
        /// Customers' transactions a second: 8.9 for each Trade-Result.
        per_second: f64,
    },
}

/// A run that cannot be.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum OptionsError {
    /// The emulators refuse database or knobs.
    #[error(transparent)]
    Emulators(#[from] driver::ConfigError),
    /// A count of 0.
    #[error("a run needs at least one of its {what}, 0 are given")]
    Nobody {
        /// Of whom.
        what: &'static str,
    },
    /// A rate that is none.
    #[error("a rate of {per_second} transactions a second cannot be kept: a positive number is needed")]
    Rate {
        /// The rate as given.
        per_second: f64,
    },
}
