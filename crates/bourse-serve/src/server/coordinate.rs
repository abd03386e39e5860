//! A round whose drivers send their statements to the engine themselves: the server knows their transactions only from their
//! reports and from the database.

use super::round::{Limit, Member, MemberState, ReportWait, Round, Table, WaitEnd, WaitReport, vanished};
use super::{Offer, Shared, lock};
use crate::protocol::control::{ClosedRound, OpenedRound, OwnStatements, Wait};
use crate::wire::TICK;
use bourse_driver::{MS, Nanos};
use bourse_engine::EngineError;
use bourse_schema::TradeId;
use bourse_tpce::check::reconciliation::{DriverLedger, TotalsSnapshot};
use bourse_tpce::load::part_of;
use bourse_tpce::sut::{BrokerageHouse, Share};
use bourse_tpce::users::verify_drivers;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Time before the beginning at which drivers get its moment.
const LEAD: Nanos = 500 * MS;
/// Time for which a database must be unchanged until a lost driver's transactions count as over, and the limit of the wait for
/// that.
const STILL: Duration = Duration::from_secs(1);
const STILL_WITHIN: Duration = Duration::from_secs(30);

/// Parameters of the round for drivers that send their statements themselves.
pub(super) fn own_statements(table: &Table, house: &BrokerageHouse) -> OwnStatements {
    let sessions = table.members.iter().map(|(member, _)| member.sessions).fold(0, u32::saturating_add);
    OwnStatements { first_trade: house.next_trade().0, sessions }
}

impl Round {
    /// Marks a driver's users as ready, waits for those of the other present drivers, and returns the moment of the beginning.
    pub(super) fn ready(&self, shared: &Shared<'_>, member: &Member, tell: ReportWait<'_>) -> Result<Nanos, WaitEnd> {
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

/// Checks the database once for all drivers, and reconciles it with their ledgers.
pub(super) fn check(
    shared: &Shared<'_>,
    opened: &OpenedRound,
    members: &[(Arc<Member>, MemberState)],
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
        let begun = Instant::now();
        let mut last = TotalsSnapshot::take(&mut *session).map_err(failed)?;
        loop {
            thread::sleep(STILL);
            let now = TotalsSnapshot::take(&mut *session).map_err(failed)?;
            if std::mem::replace(&mut last, now) == now || begun.elapsed() > STILL_WITHIN || shared.stopping() {
                break;
            }
        }
    }
    let first = opened.own.map(|own| TradeId(own.first_trade)).ok_or("the round was not coordinated")?;
    let mut drivers: Vec<DriverLedger> = members.iter().filter_map(|member| ledger(member, first)).collect();
    drivers.sort_unstable_by_key(|driver| driver.share.number());
    let checks =
        verify_drivers(engine, part_of(fingerprint), &opened.before, &drivers, shared.clock).map_err(failed)?;
    Ok(ClosedRound { vanished, checks })
}

fn ledger((member, state): &(Arc<Member>, MemberState), first: TradeId) -> Option<DriverLedger> {
    let acknowledged = match state {
        MemberState::Finished(told) => Some(*told),
        MemberState::Present | MemberState::Vanished => None,
    };
    let share = Share::new(member.number, member.of)?;
    Some(DriverLedger { share, first_trade: share.first_trade(first), acknowledged })
}
