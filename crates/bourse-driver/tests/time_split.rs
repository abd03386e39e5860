//! Split of users' time: users that sleep, spin, sync and wait for a lock on purpose, and neighbours that take the
//! CPUs.
//!
//! Shares are compared with the system's own figures, so that a loaded machine changes no verdict. A program of their own, since
//! other tests would be neighbours too.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "tests")]

#[path = "it/users.rs"]
mod users;

use bourse_driver::{MS, OperationCx, OperationResult, RealClock, RoundPlan, Schedule, StopRule, UserSpec, run};
use bourse_engine::{NullEngine, Wait, blocked_on, locked};
use bourse_record::{BlockedOn, RoleTime, TimeSplit};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use users::{Given, user_spec};

/// Held by the test that has the CPUs for itself.
static ALONE: Mutex<()> = Mutex::new(());

const PLAN: RoundPlan = RoundPlan {
    warm_up_ns: 20 * MS,
    measure_ns: 250 * MS,
    drain_limit_ns: 5_000 * MS,
    retry: bourse_driver::RetryPolicy { retries: 3, first_ns: MS, longest_ns: MS },
    backlog: 10,
    until: None,
    is_part: false,
    statements: false,
    page_cache: None,
};

fn planted<'w>(role: &'static str, schedule: Schedule, mut perform: impl FnMut() + Send + 'w) -> UserSpec<'w> {
    let perform = move |_: &mut OperationCx<'_>| {
        perform();
        OperationResult::completed(0)
    };
    UserSpec { role, ..user_spec(schedule, StopRule::AtIntervalEnd, perform) }
}

/// Split of a round of these users; its parts are checked to add up.
fn split(user_specs: Vec<UserSpec<'_>>) -> Vec<RoleTime> {
    let mut workload = Given { user_specs, background: vec![] };
    let clock = RealClock::start();
    let interrupt = AtomicBool::new(false);
    let measured = run(&NullEngine, &mut workload, &PLAN, Some(0), 1, &clock, &interrupt, &mut |_| {}).unwrap();
    let Some(TimeSplit::Measured(roles)) = measured.round.time_split else { panic!("{:?}", measured.round.time_split) };
    for role in &roles {
        let parts = role.cpu_s + role.runnable_s + role.blocked_s();
        assert!((parts - role.wall_s).abs() < 1e-6, "{role:?}");
        assert!(role.wall_s > 0.2 * role.threads as f64, "{role:?}");
        assert!(role.pause_cpu_s <= role.cpu_s && role.operations > 0, "{role:?}");
    }
    roles
}

fn of<'r>(roles: &'r [RoleTime], role: &str) -> &'r RoleTime {
    roles.iter().find(|it| it.role == role).unwrap()
}

fn spin(long: Duration) {
    let end = Instant::now() + long;
    while Instant::now() < end {
        std::hint::spin_loop();
    }
}

#[test]
fn each_planted_user_has_its_time_where_it_was_planted() {
    let _alone = locked(&ALONE);
    let file = tempfile::tempfile().unwrap();
    let lock = Mutex::new(());
    let locked = || {
        let held = blocked_on(Wait::Lock, || lock.lock().unwrap());
        thread::sleep(Duration::from_millis(5));
        drop(held);
        // The last holder would take the lock again before the other wakes up, which would then wait for the whole
        // interval.
        thread::sleep(Duration::from_micros(200));
    };
    let sync = || {
        std::os::unix::fs::FileExt::write_all_at(&file, &[7; 4096], 0).unwrap();
        // A sync as long as a disk's, also where the files lie in memory.
        blocked_on(Wait::Sync, || {
            file.sync_data().unwrap();
            thread::sleep(Duration::from_millis(2));
        });
    };
    let paced = Schedule::Constant { per_second: 100.0 };
    let roles = split(vec![
        planted("paced", paced, || ()),
        planted("spinning", Schedule::Closed, || spin(Duration::from_millis(1))),
        planted("syncing", Schedule::Closed, sync),
        planted("locked", Schedule::Closed, locked),
        planted("locked", Schedule::Closed, locked),
        planted("sleeping", Schedule::Closed, || thread::sleep(Duration::from_millis(2))),
    ]);
    // Of the time that a thread did not spend on a CPU or waiting for one.
    let blocked = |role: &str, on| of(&roles, role).blocked_on(on) / of(&roles, role).blocked_s();
    assert!(blocked("paced", BlockedOn::Schedule) > 0.9, "{roles:?}");
    assert!(blocked("syncing", BlockedOn::Sync) > 0.9, "{roles:?}");
    assert!(blocked("sleeping", BlockedOn::Other) > 0.9, "{roles:?}");
    // One of the two holds the lock, asleep, while the other waits for it.
    let waits = blocked("locked", BlockedOn::Lock);
    assert!((0.3..0.7).contains(&waits) && of(&roles, "locked").threads == 2, "{roles:?}");
    let spinning = of(&roles, "spinning");
    assert!((spinning.cpu_s + spinning.runnable_s) / spinning.wall_s > 0.9, "{roles:?}");
    // The driver spins until an operation is due: CPU time that is reported as the driver's own.
    let paced = of(&roles, "paced");
    assert!(paced.pause_cpu_s > 0.0, "{paced:?}");
}

/// Flag that ends the neighbours, set when it is dropped.
struct StopAtEnd<'a>(&'a AtomicBool);

impl Drop for StopAtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn neighbours_who_take_the_cpus_show_as_waiting_for_a_cpu() {
    let _alone = locked(&ALONE);
    let stop = AtomicBool::new(false);
    let cores = thread::available_parallelism().unwrap().get();
    let roles = thread::scope(|scope| {
        for _ in 0..2 * cores {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        // Also when a panic ends the round.
        let _stops = StopAtEnd(&stop);
        let users = (0..cores).map(|_| planted("users", Schedule::Closed, || spin(Duration::from_millis(1))));
        split(users.collect())
    });
    let users = of(&roles, "users");
    // Three threads for each CPU: two thirds, if all are treated alike.
    assert!((0.3..0.95).contains(&(users.runnable_s / users.wall_s)), "{users:?}");
    assert!(users.blocked_s() / users.wall_s < 0.1, "{users:?}");
}
