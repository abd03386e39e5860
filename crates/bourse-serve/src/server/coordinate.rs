//! A round whose drivers send their statements to the engine themselves: the server knows their transactions only from their
//! reports and from the database.

use super::round::{Limit, Member, MemberEntry, MemberState, ReportWait, Round, WaitEnd, WaitReport, vanished};
use super::{Offer, Shared, lock};
use crate::protocol::control::{ClosedRound, Wait};
use crate::wire::TICK;
use bourse_driver::{MS, Nanos};
use bourse_engine::{EngineError, Session};
use bourse_oltp::sut::{DriverLedger, RoundBegin, Share, SharedWorkload};
use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

/// Time before the beginning at which drivers get its moment.
const LEAD: Nanos = 500 * MS;
/// Time for which a database must be unchanged until a lost driver's transactions count as over, and the limit of the wait for
/// that.
const STILL: Duration = Duration::from_secs(1);
const STILL_WITHIN: Duration = Duration::from_secs(30);

impl<W: SharedWorkload> Round<W> {
    /// Marks a driver's users as ready, waits for those of the other present drivers, and returns the moment of the beginning.
    pub(super) fn ready(
        &self,
        shared: &Shared<'_, W>,
        member: &Member<W>,
        tell: ReportWait<'_>,
    ) -> Result<Nanos, WaitEnd> {
        member.is_ready.store(true, Ordering::SeqCst);
        let limit = Limit::new(shared.options.gather);
        let of = self.terms.of;
        loop {
            let mut table = lock(&self.stage);
            if let Some(at) = table.begins {
                return Ok(at);
            }
            let here = table.members.iter().filter(|(_, state)| *state == MemberState::Present);
            let (ready, late): (Vec<_>, Vec<_>) = here.partition(|(it, _)| it.is_ready.load(Ordering::SeqCst));
            let ready = u32::try_from(ready.len()).unwrap_or(u32::MAX);
            if late.is_empty() {
                table.begins = Some(shared.clock.now().saturating_add(LEAD));
                drop(table);
                self.changed.notify_all();
                continue;
            }
            limit.check(shared, || format!("the users of {ready} of {of} drivers are ready"))?;
            drop(self.changed.wait_timeout(table, TICK).unwrap_or_else(PoisonError::into_inner));
            tell(WaitReport { ready, of, what: Wait::Starting }).map_err(WaitEnd::Driver)?;
        }
    }
}

/// Checks the database once for all drivers, and reconciles it with their counts.
pub(super) fn check<W: SharedWorkload>(
    shared: &Shared<'_, W>,
    begun: &RoundBegin<W>,
    members: &[MemberEntry<W>],
) -> Result<ClosedRound, String> {
    let Offer { engine, fingerprint, .. } = shared.offer;
    let failed = |error: EngineError| format!("the database could not be checked: {error}");
    let vanished = vanished(members);
    if !shared.options.checks {
        return Ok(ClosedRound { vanished, checks: Vec::new() });
    }
    if !vanished.is_empty() {
        // The engine commits or rolls back a lost driver's transactions without it.
        let mut session = engine.session().map_err(failed)?;
        let waited = Instant::now();
        let totals = |db: &mut dyn Session| W::default().growths().before(db);
        let mut last = totals(&mut *session).map_err(failed)?;
        loop {
            thread::sleep(STILL);
            let now = totals(&mut *session).map_err(failed)?;
            let is_still = last == now;
            last = now;
            if is_still || waited.elapsed() > STILL_WITHIN || shared.stopping() {
                break;
            }
        }
    }
    let mut drivers: Vec<DriverLedger> = members.iter().filter_map(reported).collect();
    drivers.sort_unstable_by_key(|driver| driver.share.number());
    let checks = W::check_drivers(engine, &fingerprint.size, begun, &drivers, shared.clock).map_err(failed)?;
    Ok(ClosedRound { vanished, checks })
}

fn reported<W: SharedWorkload>((member, state): &MemberEntry<W>) -> Option<DriverLedger> {
    let acknowledged = match state {
        MemberState::Finished(reported) => Some(reported.clone()),
        MemberState::Present | MemberState::Vanished => None,
    };
    Some(DriverLedger { share: Share::new(member.number, member.of)?, acknowledged })
}
