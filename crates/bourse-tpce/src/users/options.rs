//! Options of a run: its users, its length, its load.

use super::specs::MARKET_ROOM;
use crate::workload::size_of;
use bourse_driver::{Abilities, Ability, OpenLoop, RoundPlan, Schedule};
use bourse_egen::driver::{Database, Tunables};
use bourse_egen::{Part, driver};
use bourse_oltp::history::HistoryOptions;
use bourse_oltp::sut::{Share, Terms};
use std::ops::RangeInclusive;

/// Abilities of this workload besides running: all of them.
pub const ABILITIES: Abilities = Abilities {
    rate: Ability::Has,
    sampling: Ability::Lacks("each of its transactions is timed by itself"),
    search: Ability::Has,
    steadiness: Ability::Has,
    snapshot: Ability::Has,
};

/// Options of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunOptions {
    /// Size of the database.
    pub part: Part,
    /// Number of customers' threads, each with a session.
    pub users: usize,
    /// Number of threads that perform the market's requests, each with a session.
    pub market_users: usize,
    /// Processes that the users are shared out over, all on this machine.
    pub processes: u32,
    /// This driver's share of the round, if there are several drivers.
    pub share: Share,
    /// Phases and retries.
    pub plan: RoundPlan,
    /// Seed of all random numbers of the run.
    pub seed: u64,
    /// Customers' transactions that are due, 8.9 for each Trade-Result; `None` in a closed loop, in which each customer begins a
    /// transaction as soon as its last one has ended.
    pub open_loop: Option<OpenLoop>,
    /// Trade-Results a second of the market whose pending limit orders a round begins with; `None` opens the market with the
    /// round. See [`aged`](crate::aged).
    pub aged_at: Option<f64>,
    /// Parameters of the customer emulators; the specification's by default.
    pub tunables: Tunables,
    /// Requests of the market that may wait before customers pause.
    pub market_room: usize,
    /// Most customers' transactions that may be due and wait, all together; `None` is five seconds of the rate. More are
    /// dropped. Not used in a closed loop.
    pub backlog: Option<usize>,
    /// Options of a recorded history, in which isolation is examined after the round; `None` records nothing.
    pub history: Option<HistoryOptions>,
}

impl RunOptions {
    /// Range of the rates in Trade-Results a second.
    pub const RATES: RangeInclusive<f64> = 0.001..=1_000_000.0;

    /// The highest rate at which a market can be aged: over a million orders are pending then.
    pub const MOST_AGED_AT: f64 = 20_000.0;

    /// Default options on this machine for that database.
    ///
    /// One customer for each available processor, and one thread for the market. Measured with SQLite on two cores, 1, 2
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
            market_users: Self::market_users_for(cores),
            processes: 1,
            share: Share::WHOLE,
            plan: RoundPlan::default(),
            seed: 1,
            open_loop: None,
            aged_at: None,
            tunables: Tunables::default(),
            market_room: MARKET_ROOM,
            backlog: None,
            history: None,
        }
    }

    /// Market users for so many customers: half as many, and two at least.
    ///
    /// Eleven of a hundred transactions are the market's, and a Market-Feed commits twenty times. With a single market user
    /// and commits that are synced, that user was busy 97 % of the interval and customers paused 40 % of their time: the
    /// harness limited the engine.
    pub fn market_users_for(users: usize) -> usize {
        (users / 2).max(2)
    }

    /// Market users for customers in so many processes, each of which has at least one.
    pub fn market_users_in(users: usize, processes: u32) -> usize {
        Self::market_users_for(users).max(processes as usize)
    }

    /// The options of one process of several: its part of the users, of the load, and of the market's queue. The parts
    /// together are the whole.
    ///
    /// # Errors
    /// [`OptionsError::Processes`] for a number that none of the processes has.
    pub fn of_process(&self, number: u32) -> Result<Self, OptionsError> {
        let of = self.processes;
        let share = Share::process(number, of).ok_or(OptionsError::Processes { processes: of })?;
        let part = |whole: usize| share.part(whole);
        let users = part(self.users);
        // Split by users, so that each user has the same load in every process.
        let scaled = |it: OpenLoop| OpenLoop { per_second: it.per_second * users as f64 / self.users as f64, ..it };
        Ok(Self {
            users,
            market_users: part(self.market_users),
            market_room: part(self.market_room).max(1),
            backlog: self.backlog.map(|backlog| part(backlog).max(1)),
            processes: 1,
            open_loop: self.open_loop.map(scaled),
            share,
            ..self.clone()
        })
    }

    /// The database as the emulators take it.
    pub fn database(&self) -> Database {
        Database {
            configured_customers: self.part.total_customers(),
            active_customers: self.part.customers(),
            scale_factor: self.part.scale_factor(),
            initial_trade_days: self.part.days(),
        }
    }

    /// Sessions open at the same time: customers', market users', and the maintenance's.
    pub fn sessions(&self) -> usize {
        self.users.saturating_add(self.market_users).saturating_add(usize::from(self.share.number() == 1))
    }

    /// Nominal rate by the specification's scale rule: customers / scale factor, per second; several drivers share it
    /// equally.
    pub fn nominal(&self) -> f64 {
        self.part.total_customers() as f64 / self.part.scale_factor() as f64 / f64::from(self.share.of())
    }

    /// Terms of the run for the system under test.
    pub fn terms(&self) -> Terms {
        let RoundPlan { warm_up_ns, measure_ns, retry, .. } = self.plan;
        let sessions = u32::try_from(self.sessions()).unwrap_or(u32::MAX);
        Terms { size: size_of(self.part), share: self.share, warm_up_ns, measure_ns, retry, sessions }
    }

    /// Checks that the options can be used.
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
        if !(1..=Share::MOST).contains(&self.processes) {
            return Err(OptionsError::Processes { processes: self.processes });
        }
        for (what, count) in [("users", self.users), ("market users", self.market_users)] {
            if count < self.processes as usize {
                return Err(OptionsError::ProcessWithout { what, count, processes: self.processes });
            }
        }
        if self.history.is_some() && (self.processes > 1 || !self.share.is_whole()) {
            return Err(OptionsError::HistoryInParts);
        }
        if let Some(rate) = self.aged_at.filter(|rate| !(*Self::RATES.start()..=Self::MOST_AGED_AT).contains(rate)) {
            return Err(OptionsError::AgedAt { rate });
        }
        let per_second = self.open_loop.map_or(0.0, |it| it.per_second);
        self.schedule(0).check().map_err(|_| OptionsError::Rate { per_second, users: self.users })
    }

    /// Customers' transactions for this rate of Trade-Results a second, evenly spaced or at random moments, in a stream for each
    /// customer.
    ///
    /// By the mix: 10 in 100 transactions are Trade-Results and 89 the customers', in a run so long that no limit order waits
    /// for its price any more.
    pub fn at_rate(results_per_second: f64, evenly: bool) -> OpenLoop {
        OpenLoop { per_second: results_per_second * CUSTOMERS_PER_RESULT, evenly, shared: false }
    }

    /// Trade-Results a second for this rate of customers' transactions.
    pub fn rate_of_customers(per_second: f64) -> f64 {
        per_second / CUSTOMERS_PER_RESULT
    }

    /// Requested rate in Trade-Results a second; `None` in a closed loop.
    pub fn requested_rate(&self) -> Option<f64> {
        self.open_loop.map(|it| Self::rate_of_customers(it.per_second))
    }

    /// Trade-Orders a second that customers place at this rate of Trade-Results, rolled-back ones included.
    pub(super) fn orders_at(&self, results_per_second: f64) -> f64 {
        let levels = self.tunables.mix.levels();
        let cards: u32 = levels.iter().map(|(_, level)| level).sum();
        results_per_second * CUSTOMERS_PER_RESULT * f64::from(self.tunables.mix.trade_order) / f64::from(cards.max(1))
    }

    /// The plan of a round: that of the options, with each user's part of the backlog.
    pub(super) fn round_plan(&self) -> RoundPlan {
        /// Longer than any limit, so that a broken one shows, and short enough for a drain.
        const SECONDS: f64 = 5.0;
        let whole = match (self.backlog, self.requested_rate()) {
            (Some(backlog), _) => backlog as f64,
            (None, Some(rate)) => rate * CUSTOMERS_PER_RESULT * SECONDS,
            (None, None) => 0.0,
        };
        let backlog = (whole / self.streams() as f64).ceil().max(1.0) as usize;
        RoundPlan { backlog, is_part: self.share.is_process(), ..self.plan }
    }

    /// Most customers' transactions that may wait, all together.
    pub(super) fn most_waiting(&self) -> usize {
        self.round_plan().backlog.saturating_mul(self.streams())
    }

    /// Streams of arrivals.
    fn streams(&self) -> usize {
        if self.open_loop.is_some_and(|it| it.shared) { 1 } else { self.users }
    }

    /// The schedule of one of the customers.
    pub(super) fn schedule(&self, seed: u64) -> Schedule {
        self.open_loop.map_or(Schedule::Closed, |it| it.schedule(self.users, seed))
    }
}

/// Customers' transactions per Trade-Result, by the mix.
const CUSTOMERS_PER_RESULT: f64 = 8.9;

/// Error of options that cannot be used.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum OptionsError {
    /// The emulators refuse the database or their parameters.
    #[error(transparent)]
    Emulators(#[from] driver::ConfigError),
    /// A count of 0.
    #[error("invalid number of {what} '0': expected 1 or more")]
    Nobody {
        /// Kind of the users counted.
        what: &'static str,
    },
    /// A number of processes out of range.
    #[error("invalid number of processes '{processes}': expected 1 to {}", Share::MOST)]
    Processes {
        /// The number.
        processes: u32,
    },
    /// Too few users for so many processes.
    #[error("too few {what} for {processes} processes: {count}; each process needs one at least")]
    ProcessWithout {
        /// Kind of the users counted.
        what: &'static str,
        /// Number of users.
        count: usize,
        /// Processes.
        processes: u32,
    },
    /// A history of one of several drivers.
    #[error("a history cannot be recorded in several processes: none knows the values that users of the others left")]
    HistoryInParts,
    /// A rate at which no market can be aged.
    #[error(
        "invalid rate of {rate} TR/s for an aged market: expected {} to {}",
        RunOptions::RATES.start(),
        RunOptions::MOST_AGED_AT
    )]
    AgedAt {
        /// The rate in question.
        rate: f64,
    },
    /// A rate out of range.
    #[error(
        "invalid rate of {per_second} transactions a second for {users} users: expected {} to {} a second for each user",
        Schedule::LOWEST,
        Schedule::HIGHEST
    )]
    Rate {
        /// The rate in question.
        per_second: f64,
        /// Number of users that share it.
        users: usize,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrivals_are_named_as_they_are_typed_where_they_are_not_the_usual_ones() {
        let named = |open_loop: Option<OpenLoop>, shared: bool| {
            let open_loop = open_loop.map(|it| OpenLoop { shared, ..it });
            let options = RunOptions { open_loop, ..RunOptions::new(Part::whole(1_000, 1).unwrap()) };
            let parameters = crate::users::workload(&options).parameters;
            parameters.into_iter().find(|it| it.name == bourse_record::Workload::ARRIVALS).map(|it| it.value)
        };
        assert_eq!(named(None, true), None);
        assert_eq!(named(Some(RunOptions::at_rate(5.0, false)), false), None);
        assert_eq!(named(Some(RunOptions::at_rate(5.0, true)), false).as_deref(), Some("constant"));
        assert_eq!(named(Some(RunOptions::at_rate(5.0, false)), true).as_deref(), Some("shared"));
        assert_eq!(named(Some(RunOptions::at_rate(5.0, true)), true).as_deref(), Some("shared-constant"));
    }

    #[test]
    fn processes_share_out_all_there_is() {
        let part = Part::whole(5_000, 1).unwrap();
        for (processes, users, market_users) in [(1, 1, 1), (2, 4, 2), (3, 16, 8), (5, 7, 5)] {
            let whole = RunOptions {
                processes,
                users,
                market_users,
                open_loop: Some(RunOptions::at_rate(50.0, true)),
                backlog: Some(100),
                ..RunOptions::new(part)
            };
            whole.check().unwrap();
            let parts: Vec<RunOptions> = (1..=processes).map(|number| whole.of_process(number).unwrap()).collect();
            parts.iter().for_each(|part| part.check().unwrap());
            let sum = |of: fn(&RunOptions) -> usize| parts.iter().map(of).sum::<usize>();
            assert_eq!(sum(|it| it.users), users);
            assert_eq!(sum(|it| it.market_users), market_users);
            assert_eq!(sum(|it| it.market_room), MARKET_ROOM);
            assert_eq!(sum(|it| it.backlog.unwrap()), 100);
            assert_eq!(sum(RunOptions::sessions), whole.sessions(), "one maintenance");
            let rate: f64 = parts.iter().filter_map(RunOptions::requested_rate).sum();
            assert!((rate - 50.0).abs() < 1e-9, "{rate}");
            assert!(whole.of_process(processes + 1).is_err());
        }
    }

    #[test]
    fn a_process_without_users_is_refused() {
        let part = Part::whole(1_000, 1).unwrap();
        let options = RunOptions { processes: 3, users: 2, market_users: 3, ..RunOptions::new(part) };
        let refused = options.check().unwrap_err().to_string();
        assert_eq!(refused, "too few users for 3 processes: 2; each process needs one at least");
        let options = RunOptions { processes: 65, ..options };
        assert_eq!(options.check().unwrap_err().to_string(), "invalid number of processes '65': expected 1 to 64");
    }
}
