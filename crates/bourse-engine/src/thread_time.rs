//! Time of a thread: on a CPU, ready to run without one, or blocked, and the reason it was blocked.
//!
//! The driver meters the threads of its users. Code that blocks such a thread names the reason, by [`blocked_on`]: an
//! engine at its syncs and locks, the driver at its pauses. CPU time and the wait for a CPU are read at the begin and
//! the end of each wait, so that no moment counts twice: the CPU time of a sync is CPU time and not waiting.
//!
//! A reading takes about two microseconds. Only code that puts a thread to sleep is worth it; calls that rarely block
//! are [sampled](sometimes_blocked_on).

use std::cell::{Cell, RefCell};

/// Reason for which a thread is blocked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Wait {
    /// A sync to disk.
    Sync,
    /// A lock of the engine, or its queue of writers.
    Lock,
    /// A read or write of a file.
    Storage,
    /// The moment at which the next operation is due, or a think time.
    Schedule,
    /// The pause before a retry.
    BackOff,
    /// A queue of the workload: full for its producers, empty for its consumers.
    Queue,
}

impl Wait {
    /// Every reason, in the order of their numbers.
    pub const ALL: [Self; 6] = [Self::Sync, Self::Lock, Self::Storage, Self::Schedule, Self::BackOff, Self::Queue];

    /// Reason of a commit: it writes pages, and waits for the disk if it is to `sync` them.
    pub const fn of_commit(sync: bool) -> Self {
        if sync { Self::Sync } else { Self::Storage }
    }
}

/// Times of a thread over an interval, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ThreadTime {
    /// Length of the interval.
    pub wall_ns: u64,
    /// Time on a CPU.
    pub cpu_ns: u64,
    /// Time ready to run, while others had the CPUs.
    pub runnable_ns: u64,
}

impl ThreadTime {
    /// Time neither on a CPU nor waiting for one.
    pub const fn blocked_ns(self) -> u64 {
        self.wall_ns.saturating_sub(self.cpu_ns.saturating_add(self.runnable_ns))
    }

    /// Times between two readings.
    #[must_use]
    pub const fn since(self, then: Self) -> Self {
        Self {
            wall_ns: self.wall_ns.saturating_sub(then.wall_ns),
            cpu_ns: self.cpu_ns.saturating_sub(then.cpu_ns),
            runnable_ns: self.runnable_ns.saturating_sub(then.runnable_ns),
        }
    }
}

/// Waits for one reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WaitTime {
    /// Number of waits, including those that were not timed.
    pub waits: u64,
    /// Number of waits that were timed.
    pub timed: u64,
    /// Blocked time in the timed waits, in nanoseconds.
    pub blocked_ns: u64,
    /// CPU time in the timed waits, in nanoseconds.
    pub cpu_ns: u64,
}

impl WaitTime {
    /// Waits between two readings.
    #[must_use]
    pub const fn since(self, then: Self) -> Self {
        Self {
            waits: self.waits.saturating_sub(then.waits),
            timed: self.timed.saturating_sub(then.timed),
            blocked_ns: self.blocked_ns.saturating_sub(then.blocked_ns),
            cpu_ns: self.cpu_ns.saturating_sub(then.cpu_ns),
        }
    }
}

/// Times of a thread since the system started it, and its waits since metering began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MeteredThread {
    /// Times of the thread.
    pub time: ThreadTime,
    /// Its waits, in the order of [`Wait::ALL`].
    pub waited: [WaitTime; Wait::ALL.len()],
    /// Time spent polling the clock until the next operation was due, in nanoseconds.
    pub spun_ns: u64,
}

impl MeteredThread {
    /// Times and waits between two readings.
    #[must_use]
    pub fn since(&self, then: &Self) -> Self {
        let mut waited = self.waited;
        for (waited, then) in waited.iter_mut().zip(then.waited) {
            *waited = waited.since(then);
        }
        Self { time: self.time.since(then.time), waited, spun_ns: self.spun_ns.saturating_sub(then.spun_ns) }
    }
}

/// Number of calls that rarely block of which one is timed.
const SAMPLED: u64 = 64;

/// Meter of a thread.
#[derive(Debug)]
struct Meter {
    source: source::Source,
    /// Whether the thread is in a wait; a wait inside another belongs to that one.
    inside: Cell<bool>,
    waited: [Cell<WaitTime>; Wait::ALL.len()],
    spun_ns: Cell<u64>,
}

thread_local! {
    static METER: RefCell<Option<Meter>> = const { RefCell::new(None) };
}

/// Starts metering this thread, until it ends.
///
/// # Errors
/// Reason why this system does not report a thread's times.
pub fn meter_this_thread() -> Result<(), String> {
    // A reading parses numbers whose digits, and so instructions, differ from run to run.
    if crate::instructions::is_counting() {
        return Err("instructions are counted".to_owned());
    }
    let source = source::Source::open()?;
    let meter = Meter { source, inside: Cell::new(false), waited: Default::default(), spun_ns: Cell::new(0) };
    METER.with_borrow_mut(|place| *place = Some(meter));
    Ok(())
}

/// Times of this thread until now; `None` if it is not metered.
pub fn metered() -> Option<MeteredThread> {
    METER.with_borrow(|meter| {
        let meter = meter.as_ref()?;
        let waited = meter.waited.each_ref().map(Cell::get);
        Some(MeteredThread { time: meter.source.read()?, waited, spun_ns: meter.spun_ns.get() })
    })
}

/// Records that this thread polled the clock for `ns` nanoseconds until its next operation was due.
pub fn spun(ns: u64) {
    METER.with_borrow(|meter| {
        if let Some(meter) = meter {
            meter.spun_ns.set(meter.spun_ns.get() + ns);
        }
    });
}

/// Runs `work`, which may block this thread, and counts the time that it was blocked. Without a meter it only runs it.
///
/// ```
/// use bourse_engine::thread_time::{Wait, blocked_on};
/// let length = blocked_on(Wait::Storage, || std::fs::metadata(".").map(|found| found.len()));
/// assert!(length.is_ok());
/// ```
pub fn blocked_on<T>(wait: Wait, work: impl FnOnce() -> T) -> T {
    let _timed = begin(wait, 1);
    work()
}

/// Runs a short call that rarely blocks: one in 64 is timed, and represents the others.
#[inline]
pub fn sometimes_blocked_on<T>(wait: Wait, work: impl FnOnce() -> T) -> T {
    let _timed = begin(wait, SAMPLED);
    work()
}

/// Runs a call that may block a writer. If commits `sync` to a disk every call is timed. Otherwise calls are so short
/// that timing each would distort them, and one in 64 is timed.
#[inline]
pub fn writer_blocked_on<T>(sync: bool, wait: Wait, work: impl FnOnce() -> T) -> T {
    if sync { blocked_on(wait, work) } else { sometimes_blocked_on(wait, work) }
}

/// A wait that is being timed; ends when dropped.
struct TimedWait {
    wait: Wait,
    begun: ThreadTime,
}

/// Counts a wait; times every `one_in`th.
fn begin(wait: Wait, one_in: u64) -> Option<TimedWait> {
    let begun = |meter: &RefCell<Option<Meter>>| {
        let meter = meter.try_borrow().ok()?;
        let meter = meter.as_ref().filter(|meter| !meter.inside.get())?;
        let counted = &meter.waited[wait as usize];
        let mut waited = counted.get();
        let is_timed = waited.waits % one_in == 0;
        waited.waits += 1;
        waited.timed += u64::from(is_timed);
        counted.set(waited);
        let begun = if is_timed { meter.source.read()? } else { return None };
        meter.inside.set(true);
        Some(TimedWait { wait, begun })
    };
    // A thread that is ending has no meter any more.
    METER.try_with(begun).ok().flatten()
}

impl Drop for TimedWait {
    fn drop(&mut self) {
        let _ = METER.try_with(|meter| {
            let Ok(meter) = meter.try_borrow() else { return };
            let Some(meter) = meter.as_ref() else { return };
            meter.inside.set(false);
            let Some(now) = meter.source.read() else { return };
            let took = now.since(self.begun);
            let counted = &meter.waited[self.wait as usize];
            let mut waited = counted.get();
            waited.blocked_ns += took.blocked_ns();
            waited.cpu_ns += took.cpu_ns;
            counted.set(waited);
        });
    }
}

/// Linux: the thread's CPU clock, which is exact at every moment, and its `schedstat`, whose second number is the time
/// that it waited for a CPU. (The first number, its CPU time, is updated only when the thread is switched.)
#[cfg(target_os = "linux")]
mod source {
    use super::ThreadTime;
    use rustix::process::{Resource, getrlimit};
    use rustix::time::{ClockId, clock_gettime};
    use std::fs::File;
    use std::os::fd::AsRawFd as _;
    use std::os::unix::fs::FileExt as _;

    const FILE: &str = "/proc/thread-self/schedstat";

    #[derive(Debug)]
    pub(super) struct Source {
        schedstat: File,
    }

    impl Source {
        pub(super) fn open() -> Result<Self, String> {
            let schedstat = File::open(FILE).map_err(|error| format!("{FILE}: {error}"))?;
            // The system gives out the lowest free number: it tells how many files are open. The rest is the engine's.
            let most = getrlimit(Resource::Nofile).current.map_or(u64::MAX, |limit| limit / 4 * 3);
            if u64::try_from(schedstat.as_raw_fd()).is_ok_and(|number| number > most) {
                return Err("the limit of open files leaves no room to meter each thread".to_owned());
            }
            let this = Self { schedstat };
            match this.read() {
                Some(_) => Ok(this),
                None => Err(format!("{FILE} does not say how long a thread waited for a CPU")),
            }
        }

        pub(super) fn read(&self) -> Option<ThreadTime> {
            let mut text = [0; 64];
            let length = self.schedstat.read_at(&mut text, 0).ok()?;
            let runnable_ns = second_number(text.get(..length)?)?;
            let since = |clock| {
                let time = clock_gettime(clock);
                u64::try_from(time.tv_sec)
                    .ok()?
                    .checked_mul(1_000_000_000)?
                    .checked_add(u64::try_from(time.tv_nsec).ok()?)
            };
            let cpu_ns = since(ClockId::ThreadCPUTime)?;
            Some(ThreadTime { wall_ns: since(ClockId::Monotonic)?, cpu_ns, runnable_ns })
        }
    }

    /// Second number of a line; `None` if the first and second are 0, as from a kernel that does not count these times.
    pub(super) fn second_number(line: &[u8]) -> Option<u64> {
        let mut words = std::str::from_utf8(line).ok()?.split_ascii_whitespace();
        let (on_cpu, waited) = (words.next()?, words.next()?.parse().ok()?);
        // A thread that reads this has been on a CPU.
        (on_cpu != "0" || waited > 0 || words.next()? != "0").then_some(waited)
    }
}

#[cfg(not(target_os = "linux"))]
mod source {
    use super::ThreadTime;

    #[derive(Debug)]
    pub(super) struct Source;

    impl Source {
        pub(super) fn open() -> Result<Self, String> {
            Err(format!("{} does not tell how long a thread waits for a CPU", std::env::consts::OS))
        }

        pub(super) fn read(&self) -> Option<ThreadTime> {
            None
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::thread;
    use std::time::{Duration, Instant};

    const NAP: Duration = Duration::from_millis(60);

    /// Times of a thread that runs `work`.
    fn metered_thread(work: impl FnOnce() + Send) -> MeteredThread {
        thread::scope(|scope| {
            let thread = scope.spawn(|| {
                meter_this_thread().expect("Linux tells the times of threads");
                let begun = metered().expect("the thread is metered");
                work();
                metered().expect("the thread is metered").since(&begun)
            });
            thread.join().expect("the work does not panic")
        })
    }

    fn spin(long: Duration) {
        let end = Instant::now() + long;
        while Instant::now() < end {
            std::hint::spin_loop();
        }
    }

    fn share(part: u64, of: u64) -> f64 {
        part as f64 / of as f64
    }

    #[test]
    fn a_sleeping_thread_is_blocked_on_what_it_says() {
        let found = metered_thread(|| blocked_on(Wait::Schedule, || thread::sleep(NAP)));
        let waited = found.waited[Wait::Schedule as usize];
        assert_eq!((waited.waits, waited.timed), (1, 1));
        assert!(waited.blocked_ns >= 40_000_000, "{found:?}");
        assert!(waited.blocked_ns <= found.time.blocked_ns() + 1_000_000, "{found:?}");
        assert_eq!(found.waited[Wait::Sync as usize], WaitTime::default());
    }

    #[test]
    fn a_spinning_thread_is_on_a_cpu_or_waits_for_one_even_inside_a_wait() {
        let found = metered_thread(|| blocked_on(Wait::Lock, || spin(NAP)));
        let waited = found.waited[Wait::Lock as usize];
        assert!(share(waited.blocked_ns, found.time.wall_ns) < 0.1, "{found:?}");
        assert!(share(found.time.cpu_ns + found.time.runnable_ns, found.time.wall_ns) > 0.9, "{found:?}");
        assert!(waited.cpu_ns > 0 && waited.cpu_ns <= found.time.cpu_ns, "{found:?}");
    }

    #[test]
    fn the_inner_of_two_waits_belongs_to_the_outer_and_no_moment_counts_twice() {
        let found = metered_thread(|| {
            blocked_on(Wait::Lock, || blocked_on(Wait::Sync, || thread::sleep(NAP)));
            thread::sleep(NAP);
        });
        assert_eq!(found.waited[Wait::Sync as usize].waits, 0);
        let named: u64 = found.waited.iter().map(|waited| waited.blocked_ns).sum();
        let rest = found.time.blocked_ns().saturating_sub(named);
        assert!(rest >= 40_000_000 && named >= 40_000_000, "{found:?}");
    }

    #[test]
    fn of_short_calls_one_in_many_is_timed_and_a_wait_that_panics_ends() {
        let found = metered_thread(|| {
            (0..2 * SAMPLED).for_each(|_| sometimes_blocked_on(Wait::Storage, || ()));
            let panics =
                std::panic::AssertUnwindSafe(|| blocked_on(Wait::Sync, || std::panic::resume_unwind(Box::new(()))));
            assert!(std::panic::catch_unwind(panics).is_err());
            blocked_on(Wait::Sync, || thread::sleep(Duration::from_millis(1)));
        });
        let storage = found.waited[Wait::Storage as usize];
        assert_eq!((storage.waits, storage.timed), (2 * SAMPLED, 2));
        assert_eq!(found.waited[Wait::Sync as usize].timed, 2);
    }

    #[test]
    fn a_thread_without_a_meter_tells_nothing_and_works_on() {
        assert_eq!(blocked_on(Wait::Sync, || 7), 7);
        assert_eq!(metered(), None);
        assert_eq!(source::second_number(b"12 34 5\n"), Some(34));
        assert_eq!(source::second_number(b"12 0 5\n"), Some(0));
        // A kernel without these statistics writes zeros.
        assert_eq!(source::second_number(b"0 0 0\n"), None);
        assert_eq!(source::second_number(b"x"), None);
    }
}
