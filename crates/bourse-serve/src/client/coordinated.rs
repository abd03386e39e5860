//! A driver that sends its statements to the engine itself, in a round that driver 1 coordinates.

use super::remote::{Remote, WaitProgress};
use crate::protocol::codec::{REPLY_BYTES, REQUEST_BYTES};
use crate::protocol::{Control, ControlReply, Purpose};
use crate::wire::{Wire, at_most};
use crate::{Address, ServeError, Token};
use bourse_driver::{Clock, Nanos};
use bourse_engine::{Engine, ErrorKind, Result};
use bourse_oltp::Workload;
use bourse_oltp::check::ledger::Totals;
use bourse_oltp::sut::{Connector, InProcess, RoundBegin, RunError, SharedWorkload, Sut, Terms};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Longest wait for a reading of driver 1's clock. Driver 1 drops a driver after twice as long, so a driver that is cut off
/// stops first.
const TIME_WITHIN: Duration = Duration::from_secs(15);
/// Number of readings of the other clock, of which the quickest counts.
const READINGS: usize = 8;
/// Longest time by which a node may lag behind the one at which the round was opened.
const LAG: Duration = Duration::from_secs(10);

/// Offset of driver 1's clocks from this driver's; positive if driver 1's are ahead.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ClockOffset {
    /// Offset between the two monotonic clocks, in nanoseconds.
    pub clock_ns: i64,
    /// Offset between the two calendars, in milliseconds.
    pub calendar_ms: i64,
    /// Error bound of the clock offset, in nanoseconds: half the round-trip time of the quickest reading.
    pub error_ns: u64,
}

/// Driver of a coordinated round: its statements go to the engine, its ledger to driver 1.
pub struct CoordinatedDriver {
    remote: Remote,
    engine: Arc<dyn Engine>,
    sessions_elsewhere: AtomicUsize,
    offset: Mutex<ClockOffset>,
    cut: AtomicBool,
}

impl CoordinatedDriver {
    /// Joins driver 1 of a workload at that address; `waiting` is called once a second while other drivers are waited for.
    ///
    /// # Errors
    /// [`ServeError`].
    pub fn join(
        workload: &dyn Workload,
        engine: Arc<dyn Engine>,
        address: Address,
        token: Option<Token>,
        version: &str,
        waiting: impl Fn(WaitProgress) + Send + Sync + 'static,
    ) -> Result<Self, ServeError> {
        let remote = Remote::call_as(Purpose::Coordinated, workload, address, token, version, waiting)?;
        let (sessions_elsewhere, cut) = (AtomicUsize::new(0), AtomicBool::new(false));
        Ok(Self { remote, engine, sessions_elsewhere, offset: Mutex::default(), cut })
    }

    /// This driver's engine as the system under test of a workload: that of its call.
    pub fn sut<W: SharedWorkload>(&self) -> CoordinatedSut<'_, W> {
        CoordinatedSut { driver: self, own: InProcess::new(self.engine.as_ref()) }
    }

    /// Connection with driver 1: its database, the round's name, its end.
    pub fn remote(&self) -> &Remote {
        &self.remote
    }

    /// Clock offset read when the last round was opened.
    pub fn offset(&self) -> ClockOffset {
        *lock(&self.offset)
    }

    /// Reads driver 1's clocks several times, and returns the quickest reading.
    ///
    /// # Errors
    /// [`ServeError`].
    pub fn read_clocks(&self, clock: &dyn Clock) -> Result<ClockOffset, ServeError> {
        let mut wire = self.remote.wire();
        let mut best = read(&mut wire, clock)?;
        for _ in 1..READINGS {
            let next = read(&mut wire, clock)?;
            if next.error_ns < best.error_ns {
                best = next;
            }
        }
        Ok(best)
    }

    /// Flag that ends the round immediately.
    pub fn cut(&self) -> &AtomicBool {
        &self.cut
    }

    /// Sends driver 1 a sign of life once a second, until `is_over`. Cuts the round if it is `interrupted`, or if driver 1 is
    /// lost, and then returns the error.
    pub fn send_signs_of_life(
        &self,
        clock: &dyn Clock,
        interrupted: &AtomicBool,
        is_over: &AtomicBool,
    ) -> Option<String> {
        const LOOK: Duration = Duration::from_millis(20);
        let mut told = Instant::now();
        while !is_over.load(Ordering::Relaxed) {
            std::thread::sleep(LOOK);
            if interrupted.load(Ordering::Relaxed) {
                self.cut.store(true, Ordering::Relaxed);
            }
            if told.elapsed() < Duration::from_secs(1) {
                continue;
            }
            // A thread that has the connection now waits for an answer of driver 1, and notices its loss.
            let Some(mut wire) = self.remote.idle_wire() else { continue };
            told = Instant::now();
            if let Err(error) = read(&mut wire, clock) {
                self.cut.store(true, Ordering::Relaxed);
                return Some(error.to_string());
            }
        }
        None
    }

    /// Waits until this driver sees the database in the state in which the round was opened; refuses another database.
    fn is_the_same<W: SharedWorkload>(&self, before: &Totals) -> Result<(), RunError> {
        let mut session = self.engine.session()?;
        let begun = Instant::now();
        while W::default().growths().before(&mut *session)? != *before {
            if begun.elapsed() > LAG {
                let why = "this driver's target is not driver 1's database: the totals of its rows differ";
                return Err(RunError::Refused(why.to_owned()));
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        Ok(())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads driver 1's clocks once.
fn read(wire: &mut Wire, clock: &dyn Clock) -> Result<ClockOffset, ServeError> {
    let asked = clock.now();
    wire.send(&Control::Clock, REQUEST_BYTES)?;
    let news = wire.receive(REPLY_BYTES, &mut at_most(TIME_WITHIN))?;
    let (answered, calendar_ms) = (clock.now(), clock.timestamp().millis());
    let there = match news {
        ControlReply::Clock(there) => there,
        ControlReply::Refused(why) => return Err(ServeError::Refused(why)),
        other => return Err(ServeError::Unexpected { wanted: "the time", found: other.name() }),
    };
    let half = answered.saturating_sub(asked) / 2;
    // Whatever the other side says overflows nothing.
    let ahead = |there: u64, here: u64| i64::try_from(i128::from(there) - i128::from(here)).unwrap_or(i64::MAX / 4);
    let half_ms = i64::try_from(half / bourse_driver::MS).unwrap_or(0);
    Ok(ClockOffset {
        clock_ns: ahead(there.now_ns, asked.saturating_add(half)),
        calendar_ms: there.calendar_ms.saturating_sub(calendar_ms.saturating_sub(half_ms)),
        error_ns: half,
    })
}

/// The engine of a coordinated driver as the system under test of a workload.
pub struct CoordinatedSut<'d, W: SharedWorkload> {
    driver: &'d CoordinatedDriver,
    own: InProcess<'d, W>,
}

impl<W: SharedWorkload> Sut<W> for CoordinatedSut<'_, W> {
    fn engine(&self) -> &dyn Engine {
        self.own.engine()
    }

    fn open(&self, terms: &Terms, clock: &dyn Clock, interrupt: &AtomicBool) -> Result<RoundBegin<W>, RunError> {
        let CoordinatedDriver { remote, engine, sessions_elsewhere, offset, .. } = self.driver;
        let (begun, sessions) = remote.open_round::<W>(terms, interrupt).map_err(|error| match error {
            // The engine has no part in it.
            RunError::Engine(lost) if lost.kind() == ErrorKind::ConnectionLost => {
                RunError::Refused(format!("the coordinator of the drivers was lost: {lost}"))
            }
            other => other,
        })?;
        let sessions =
            sessions.ok_or_else(|| RunError::Refused("driver 1 does not coordinate this round".to_owned()))?;
        self.driver.is_the_same::<W>(&begun.before)?;
        self.own.set_state(W::join(engine.as_ref(), &terms.size, terms.share, &begun)?);
        sessions_elsewhere.store(sessions.saturating_sub(terms.sessions) as usize, Ordering::Relaxed);
        *lock(offset) = self.driver.read_clocks(clock).map_err(|error| remote.engine_error(&error))?;
        Ok(begun)
    }

    fn connector(&self) -> Result<Connector<W>> {
        self.own.connector()
    }

    fn sessions_elsewhere(&self) -> usize {
        self.driver.sessions_elsewhere.load(Ordering::Relaxed)
    }

    fn begin(&self, clock: &dyn Clock) -> Result<Nanos, RunError> {
        let CoordinatedDriver { remote, cut, .. } = self.driver;
        let at_ns = match remote.long_wait(&Control::Ready, cut).map_err(|error| remote.run_error(error))? {
            ControlReply::Begin { at_ns } => at_ns,
            other => return Err(remote.unexpected("a round's beginning", &other).into()),
        };
        let offset = self.driver.offset().clock_ns;
        let at = u64::try_from(i128::from(at_ns) - i128::from(offset)).unwrap_or(0);
        // Another driver's error must not make this one wait for long, nor begin before it was notified.
        let now = clock.now();
        let at = at.clamp(now, now.saturating_add(bourse_driver::SECOND));
        clock.sleep_until(at);
        Ok(at)
    }
}

impl std::fmt::Debug for CoordinatedDriver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Coordinated").field("remote", &self.remote).finish_non_exhaustive()
    }
}
