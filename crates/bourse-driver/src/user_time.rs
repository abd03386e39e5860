//! Time of a user's thread by activity: read by the thread itself, between two operations, at the start and end of the
//! measurement interval.

use crate::{Nanos, RoundControl};
use bourse_engine::Wait;
use bourse_engine::thread_time::{self, MeteredThread, WaitTime};
use bourse_record::{BlockedOn, BlockedTime, RoleTime, TimeSplit};
use std::cell::Cell;

/// Meter of a user's thread.
pub(crate) struct UserMeter<'c> {
    control: &'c RoundControl,
    state: Cell<MeterState>,
    operations: Cell<u64>,
    /// Reason that nothing is metered.
    refused: Option<String>,
}

#[derive(Clone, Copy)]
enum MeterState {
    Before,
    Measures(MeteredThread),
    Measured(MeteredThread),
    /// The system does not report it.
    Unknown,
}

impl<'c> UserMeter<'c> {
    /// Starts metering this thread.
    pub(crate) fn start(control: &'c RoundControl) -> Self {
        let refused = thread_time::meter_this_thread().err();
        let state = if refused.is_some() { MeterState::Unknown } else { MeterState::Before };
        Self { control, state: Cell::new(state), operations: Cell::new(0), refused }
    }

    /// Reads the time, between two operations.
    pub(crate) fn at(&self, now: Nanos) {
        match self.state.get() {
            MeterState::Before if now >= self.control.measure_from() => {
                self.state.set(thread_time::metered().map_or(MeterState::Unknown, MeterState::Measures));
            }
            MeterState::Measures(_) if now >= self.control.measure_to() => self.end(),
            _ => {}
        }
    }

    /// Counts a recorded operation.
    pub(crate) fn operation(&self) {
        self.operations.set(self.operations.get() + u64::from(matches!(self.state.get(), MeterState::Measures(_))));
    }

    fn end(&self) {
        if let MeterState::Measures(then) = self.state.get() {
            let measured = thread_time::metered().map(|now| now.since(&then));
            self.state.set(measured.map_or(MeterState::Unknown, MeterState::Measured));
        }
    }

    /// Time of this thread in the interval, for a user of that role.
    pub(crate) fn finish(self, role: &'static str) -> UserTime {
        self.end();
        match self.state.get() {
            MeterState::Measured(metered) => UserTime::Measured { role, operations: self.operations.get(), metered },
            // It came to an end before the interval began.
            MeterState::Before | MeterState::Measures(_) => UserTime::Outside,
            MeterState::Unknown => UserTime::NotAvailable(
                self.refused.unwrap_or_else(|| "the system stopped telling the times of threads".to_owned()),
            ),
        }
    }
}

/// Time of a user's thread in the measurement interval.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "one for each thread of a round, nearly all of them measured")]
pub(crate) enum UserTime {
    /// Metered times.
    Measured { role: &'static str, operations: u64, metered: MeteredThread },
    /// The thread had nothing to do in the interval.
    Outside,
    /// Reason that the system does not report the times.
    NotAvailable(String),
}

/// Time of all users by activity; `served` if the engine is in another process. `None` without a thread.
///
/// A user of a served engine only waits for the driver's own pauses and the server: blocked time without a pause is the
/// server's, so that no call needs to be metered.
pub(crate) fn split(users: &[UserTime], served: bool) -> Option<TimeSplit> {
    let mut roles: Vec<RoleTime> = Vec::new();
    for user in users {
        match user {
            UserTime::NotAvailable(why) => return Some(TimeSplit::NotAvailable(why.clone())),
            UserTime::Outside => {}
            UserTime::Measured { role, operations, metered } => {
                of_thread(role, *operations, metered, served).add_to(&mut roles);
            }
        }
    }
    (!roles.is_empty()).then_some(TimeSplit::Measured(roles))
}

/// Time of one thread. Its parts add up to the total: estimates and late readings are adjusted.
fn of_thread(role: &str, operations: u64, metered: &MeteredThread, served: bool) -> RoleTime {
    let time = metered.time;
    let cpu_ns = time.cpu_ns.min(time.wall_ns);
    let runnable_ns = time.runnable_ns.min(time.wall_ns - cpu_ns);
    let mut left = time.wall_ns - cpu_ns - runnable_ns;
    let mut blocked = Vec::new();
    let mut pause_cpu_ns = metered.spun_ns;
    // Waits timed individually come first; estimated ones get no more than these leave.
    let order = [Wait::Sync, Wait::Lock, Wait::Schedule, Wait::BackOff, Wait::Queue, Wait::Storage];
    for wait in order {
        let waited = metered.waited[wait as usize];
        let part = estimate(waited).min(left);
        left -= part;
        let on = match wait {
            Wait::Sync => BlockedOn::Sync,
            Wait::Lock => BlockedOn::Lock,
            Wait::Storage => BlockedOn::Storage,
            Wait::Schedule => BlockedOn::Schedule,
            Wait::BackOff => BlockedOn::BackOff,
            Wait::Queue => BlockedOn::Queue,
        };
        if matches!(wait, Wait::Schedule | Wait::BackOff | Wait::Queue) {
            pause_cpu_ns += waited.cpu_ns;
        }
        if waited.waits > 0 {
            blocked.push(BlockedTime { on, seconds: seconds(part), waits: Some(waited.waits) });
        }
    }
    let rest = if served { BlockedOn::Server } else { BlockedOn::Other };
    blocked.push(BlockedTime { on: rest, seconds: seconds(left), waits: None });
    RoleTime {
        role: role.to_owned(),
        threads: 1,
        operations,
        wall_s: seconds(time.wall_ns),
        cpu_s: seconds(cpu_ns),
        pause_cpu_s: seconds(pause_cpu_ns.min(cpu_ns)),
        runnable_s: seconds(runnable_ns),
        blocked,
    }
}

/// Total time blocked in all waits, extrapolated from those that were timed.
fn estimate(waited: WaitTime) -> u64 {
    if waited.waits == waited.timed || waited.timed == 0 {
        return waited.blocked_ns;
    }
    (waited.blocked_ns as f64 * waited.waits as f64 / waited.timed as f64) as u64
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;
    use bourse_engine::thread_time::ThreadTime;

    const MS: u64 = crate::MS;

    fn user(role: &'static str, [wall, cpu, runnable]: [u64; 3], waits: &[(Wait, WaitTime)]) -> UserTime {
        let mut metered = MeteredThread {
            time: ThreadTime { wall_ns: wall * MS, cpu_ns: cpu * MS, runnable_ns: runnable * MS },
            ..MeteredThread::default()
        };
        for (wait, waited) in waits {
            metered.waited[*wait as usize] = *waited;
        }
        UserTime::Measured { role, operations: 10, metered }
    }

    fn waited(waits: u64, timed: u64, blocked_ms: u64) -> WaitTime {
        WaitTime { waits, timed, blocked_ns: blocked_ms * MS, cpu_ns: 0 }
    }

    fn whole(role: &RoleTime) -> f64 {
        role.cpu_s + role.runnable_s + role.blocked_s()
    }

    #[test]
    fn the_parts_add_up_to_the_whole_of_each_role() {
        let users = [
            user("customers", [1_000, 300, 100], &[(Wait::Sync, waited(5, 5, 200)), (Wait::Lock, waited(2, 2, 150))]),
            user(
                "customers",
                [1_000, 100, 0],
                &[(Wait::Queue, waited(1, 1, 400)), (Wait::Storage, waited(640, 10, 3))],
            ),
            user("market users", [900, 900, 0], &[]),
            UserTime::Outside,
        ];
        let split = split(&users, false).expect("three users worked");
        let [customers, market] = split.roles() else { panic!("{split:?}") };
        assert_eq!((customers.threads, customers.operations, customers.wall_s), (2, 20, 2.0));
        assert_eq!((customers.cpu_s, customers.runnable_s), (0.4, 0.1));
        let on = |on| customers.blocked_on(on);
        assert_eq!((on(BlockedOn::Sync), on(BlockedOn::Lock), on(BlockedOn::Queue)), (0.2, 0.15, 0.4));
        // 3 ms in 10 of 640 calls.
        assert!((on(BlockedOn::Storage) - 0.192).abs() < 1e-9, "{customers:?}");
        for role in [customers, market] {
            assert!((whole(role) - role.wall_s).abs() < 1e-9, "{role:?}");
        }
    }

    #[test]
    fn what_was_estimated_or_read_apart_never_exceeds_the_whole() {
        let users = [
            user("users", [100, 90, 5], &[(Wait::Storage, waited(6_400, 100, 50)), (Wait::Sync, waited(1, 1, 4))]),
            user("users", [100, 101, 5], &[(Wait::Sync, waited(1, 1, 4))]),
        ];
        let split = split(&users, false).expect("two users worked");
        let [role] = split.roles() else { panic!("{split:?}") };
        assert!((whole(role) - role.wall_s).abs() < 1e-9, "{role:?}");
        assert!((role.blocked_on(BlockedOn::Sync) - 0.004).abs() < 1e-9, "{role:?}");
        assert!((role.blocked_on(BlockedOn::Storage) - 0.001).abs() < 1e-9, "{role:?}");
    }

    #[test]
    fn the_rest_of_a_served_engine_is_the_servers_and_without_times_nothing_is_said() {
        let served = split(&[user("users", [100, 20, 0], &[])], true).expect("a user worked");
        assert!((served.roles()[0].blocked_on(BlockedOn::Server) - 0.08).abs() < 1e-9, "{served:?}");
        let unknown = split(&[UserTime::NotAvailable("no schedstat".to_owned())], false);
        assert_eq!(unknown, Some(TimeSplit::NotAvailable("no schedstat".to_owned())));
        assert_eq!(split(&[UserTime::Outside], false), None);
    }
}
