//! A driver that sends its statements to the engine itself, in a round that driver 1 coordinates.

use super::remote::{Remote, WaitProgress};
use crate::protocol::codec::{REPLY_BYTES, REQUEST_BYTES};
use crate::protocol::{Control, ControlReply, Purpose};
use crate::wire::{Wire, at_most};
use crate::{Address, ServeError, Token};
use bourse_driver::{Clock, Nanos};
use bourse_engine::{Engine, EngineError, ErrorKind};
use bourse_schema::TradeId;
use bourse_tpce::check::reconciliation::TotalsSnapshot;
use bourse_tpce::sut::{BegunRound, BrokerageHouse, Connector, OpenError, Sut, Terms};
use bourse_tpce::transactions::TradeIds;
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
    house: Mutex<Option<Arc<BrokerageHouse>>>,
    sessions_elsewhere: AtomicUsize,
    offset: Mutex<ClockOffset>,
    cut: AtomicBool,
}

impl CoordinatedDriver {
    /// Joins driver 1 at that address; `waiting` is called once a second while other drivers are waited for.
    ///
    /// # Errors
    /// [`ServeError`].
    pub fn join(
        engine: Arc<dyn Engine>,
        address: Address,
        token: Option<Token>,
        version: &str,
        waiting: impl Fn(WaitProgress) + Send + Sync + 'static,
    ) -> Result<Self, ServeError> {
        let remote = Remote::call_as(Purpose::Coordinated, address, token, version, waiting)?;
        let (house, offset) = (Mutex::default(), Mutex::default());
        Ok(Self { remote, engine, house, sessions_elsewhere: AtomicUsize::new(0), offset, cut: AtomicBool::new(false) })
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
    fn is_the_same(&self, before: &TotalsSnapshot) -> Result<(), OpenError> {
        let mut session = self.engine.session()?;
        let begun = Instant::now();
        while TotalsSnapshot::take(&mut *session)? != *before {
            if begun.elapsed() > LAG {
                return Err(OpenError::Refused(
                    "this driver's target is not driver 1's database: its trades, cash and commissions differ"
                        .to_owned(),
                ));
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

impl Sut for CoordinatedDriver {
    fn engine(&self) -> &dyn Engine {
        self.engine.as_ref()
    }

    fn open(&self, terms: &Terms, clock: &dyn Clock, interrupt: &AtomicBool) -> Result<BegunRound, OpenError> {
        let (opened, own) = self.remote.open_round(terms, interrupt)?;
        let own = own.ok_or_else(|| OpenError::Refused("driver 1 does not coordinate this round".to_owned()))?;
        self.is_the_same(&opened.before)?;
        let trade_ids = TradeIds::starting_at(terms.share.first_trade(TradeId(own.first_trade)));
        let house = BrokerageHouse::join(self.engine.as_ref(), terms.part, trade_ids, opened.before)?;
        *lock(&self.house) = Some(Arc::new(house));
        let elsewhere = own.sessions.saturating_sub(terms.sessions);
        self.sessions_elsewhere.store(elsewhere as usize, Ordering::Relaxed);
        *lock(&self.offset) = self.read_clocks(clock).map_err(|error| self.remote.engine_error(&error))?;
        Ok(opened)
    }

    fn connector(&self) -> Result<Box<dyn Connector>, EngineError> {
        let house = lock(&self.house).clone();
        Ok(house.expect("a round is opened before anybody is seated").connector())
    }

    fn sessions_elsewhere(&self) -> usize {
        self.sessions_elsewhere.load(Ordering::Relaxed)
    }

    fn begin(&self, clock: &dyn Clock) -> Result<Nanos, OpenError> {
        let news = self.remote.long_wait(&Control::Ready, &self.cut).map_err(|error| match error {
            ServeError::Refused(why) => OpenError::Refused(why),
            ServeError::Engine(error) if error.kind() == ErrorKind::Interrupted => OpenError::Interrupted,
            other => OpenError::Engine(self.remote.engine_error(&other)),
        })?;
        let ControlReply::Begin { at_ns } = news else {
            let error = ServeError::Unexpected { wanted: "a round's beginning", found: news.name() };
            return Err(self.remote.engine_error(&error).into());
        };
        let offset = self.offset().clock_ns;
        let at = u64::try_from(i128::from(at_ns) - i128::from(offset)).unwrap_or(0);
        // Another driver's error must not make this one wait for long, nor begin before it was notified.
        let now = clock.now();
        let at = at.clamp(now, now.saturating_add(bourse_driver::SECOND));
        clock.sleep_until(at);
        Ok(at)
    }

    fn pending_orders(&self) -> Result<u64, EngineError> {
        BrokerageHouse::pending_orders(self.engine.as_ref())
    }
}

impl std::fmt::Debug for CoordinatedDriver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Coordinated").field("remote", &self.remote).finish_non_exhaustive()
    }
}
