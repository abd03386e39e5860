//! Users with a session: customers, the market's users, maintenance.

use super::achieved::AchievedMix;
use super::exchange::MarketQueues;
use super::history::{self, Item};
use super::outcome::judge;
use crate::check::reconciliation;
use crate::transactions::{Output, Request, Transaction};
use crate::workload::Tpce;
use bourse_driver::{Clock, Draw, MS, Nanos, OperationCx, OperationResult, Outcome, RoundControl, SECOND, User};
use bourse_egen::driver::{CustomerEmulator, MaintenanceEmulator};
use bourse_egen::txn::TradeRequest;
use bourse_oltp::check::ledger::Ledger;
use bourse_oltp::history::{RoundHistory, UserHistory};
use bourse_oltp::sut::{Answered, Connector, SharedWorkload as _};
use bourse_schema::TradeId;
use std::cell::RefCell;
use std::sync::Mutex;

/// State of the driver that all users of a round share.
pub(super) struct DriverState {
    pub(super) queues: MarketQueues,
    /// Acknowledged commits and drawn parameters, added when each user ends.
    pub(super) acknowledged: Mutex<(Ledger, AchievedMix)>,
    /// Recorded transactions, if the round has a history, and the first trade of the round: earlier ones do not change.
    pub(super) history: Option<RoundHistory<Item>>,
    pub(super) first_trade: TradeId,
}

impl DriverState {
    /// Performs a request. Timed.
    pub(super) fn serve(
        &self,
        cx: &mut OperationCx<'_>,
        connector: &mut Connector<Tpce>,
        request: &Request,
        acknowledged: &mut Ledger,
        history: &mut Option<UserHistory<'_, Item>>,
        send: &dyn Fn(&TradeRequest),
    ) -> OperationResult {
        let Some(history) = history else {
            return self.perform(cx, connector, request, acknowledged, send).0;
        };
        let (clock, begin_ns) = (cx.clock(), cx.clock().now());
        let orders = RefCell::new(Vec::new());
        let send = |order: &TradeRequest| {
            orders.borrow_mut().push((*order, clock.now()));
            send(order);
        };
        let (result, output) = self.perform(cx, connector, request, acknowledged, &send);
        let performed = history::Performed {
            request,
            output: output.as_ref(),
            in_doubt: result.in_doubt,
            times: [begin_ns, clock.now()],
            orders: &orders.into_inner(),
        };
        performed.record(history, self.first_trade);
        result
    }

    /// Performs a request, and returns the output if there is one.
    fn perform(
        &self,
        cx: &mut OperationCx<'_>,
        connector: &mut Connector<Tpce>,
        request: &Request,
        acknowledged: &mut Ledger,
        send: &dyn Fn(&TradeRequest),
    ) -> (OperationResult, Option<Output>) {
        let operation = request.transaction();
        match connector.perform(cx, request, send) {
            Ok(Answered { answer, server }) => {
                let judged = OperationResult { server, ..judge(request, &answer) };
                match judged.outcome {
                    Outcome::Completed => reconciliation::committed(acknowledged, request),
                    _ => reconciliation::failed(acknowledged, request),
                }
                (judged, Some(answer.output))
            }
            Err(error) => {
                let performed = OperationResult::error(operation as usize, &error);
                Tpce::count_failed(acknowledged, request, performed.in_doubt);
                (performed, None)
            }
        }
    }

    fn history(&self, session: usize) -> Option<UserHistory<'_, Item>> {
        self.history.as_ref().map(|history| history.user(session))
    }

    pub(super) fn add(&self, acknowledged: &Ledger, achieved: &AchievedMix) {
        let mut sum = self.acknowledged.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        sum.0.merge(acknowledged);
        sum.1.merge(achieved);
    }
}

/// A customer: performs the eight transactions of the mix.
pub(super) struct Customer<'w> {
    state: &'w DriverState,
    connector: Connector<Tpce>,
    emulator: CustomerEmulator<'w>,
    request: Option<Request>,
    acknowledged: Ledger,
    achieved: AchievedMix,
    history: Option<UserHistory<'w, Item>>,
}

impl<'w> Customer<'w> {
    /// Customer on a session with a number of its own among all users.
    pub(super) fn new(
        state: &'w DriverState,
        session: usize,
        connector: Connector<Tpce>,
        emulator: CustomerEmulator<'w>,
    ) -> Self {
        Self {
            state,
            history: state.history(session),
            connector,
            emulator,
            request: None,
            acknowledged: Ledger::default(),
            achieved: AchievedMix::default(),
        }
    }
}

impl User for Customer<'_> {
    fn performs(&self, operation: usize) -> bool {
        use Transaction as T;
        let others = [T::TradeResult, T::MarketFeed, T::DataMaintenance, T::TradeCleanup];
        !others.contains(&Transaction::ALL[operation])
    }

    fn draw(&mut self, clock: &dyn Clock, _: &RoundControl) -> Draw {
        // Pausing here and not after the draw: which transaction comes next must not depend on how busy the market is.
        if !self.state.queues.may_draw(clock) {
            return Draw::Wait(clock.now());
        }
        let request = self.emulator.next();
        self.achieved.count(&request);
        self.request = Some(request.into());
        Draw::Ready
    }

    fn skip(&mut self) -> Option<usize> {
        Some(Request::from(self.emulator.next()).transaction() as usize)
    }

    fn drawn(&self) -> Option<usize> {
        self.request.as_ref().map(|request| request.transaction() as usize)
    }

    fn perform(&mut self, cx: &mut OperationCx<'_>) -> OperationResult {
        let request = self.request.as_ref().expect("a request is drawn before it is performed");
        let send = |order: &TradeRequest| self.state.queues.order(order);
        self.state.serve(cx, &mut self.connector, request, &mut self.acknowledged, &mut self.history, &send)
    }
}

impl Drop for Customer<'_> {
    fn drop(&mut self) {
        self.state.add(&self.acknowledged, &self.achieved);
        self.state.queues.leave();
    }
}

/// A market user: performs the requests of the market exchange.
pub(super) struct MarketUser<'w> {
    state: &'w DriverState,
    connector: Connector<Tpce>,
    request: Option<Request>,
    acknowledged: Ledger,
    history: Option<UserHistory<'w, Item>>,
}

impl<'w> MarketUser<'w> {
    /// Market user on a session with a number of its own among all users.
    pub(super) fn new(state: &'w DriverState, session: usize, connector: Connector<Tpce>) -> Self {
        let (acknowledged, history) = (Ledger::default(), state.history(session));
        Self { state, connector, request: None, acknowledged, history }
    }
}

impl User for MarketUser<'_> {
    fn performs(&self, operation: usize) -> bool {
        [Transaction::TradeResult, Transaction::MarketFeed].contains(&Transaction::ALL[operation])
    }

    fn draw(&mut self, clock: &dyn Clock, _: &RoundControl) -> Draw {
        match self.state.queues.take() {
            Ok(Some(arrival)) => {
                self.request = Some(arrival.request.into());
                Draw::Due(arrival.due)
            }
            Ok(None) => Draw::Wait(clock.now()),
            Err(_closed) => Draw::Finished,
        }
    }

    fn drawn(&self) -> Option<usize> {
        self.request.as_ref().map(|request| request.transaction() as usize)
    }

    fn perform(&mut self, cx: &mut OperationCx<'_>) -> OperationResult {
        let request = self.request.take().expect("a request is drawn before it is performed");
        let send = |order: &TradeRequest| self.state.queues.trigger(order);
        let (acknowledged, history) = (&mut self.acknowledged, &mut self.history);
        let performed = self.state.serve(cx, &mut self.connector, &request, acknowledged, history, &send);
        self.state.queues.done();
        performed
    }
}

impl Drop for MarketUser<'_> {
    fn drop(&mut self) {
        self.state.add(&self.acknowledged, &AchievedMix::default());
    }
}

/// The user of Data-Maintenance, which runs every minute.
pub(super) struct Maintenance<'w> {
    state: &'w DriverState,
    connector: Connector<Tpce>,
    emulator: MaintenanceEmulator<'w>,
    /// Due time of the last transaction.
    last: Option<Nanos>,
    /// Due time of the next transaction.
    due: Nanos,
}

impl<'w> Maintenance<'w> {
    const PERIOD: Nanos = 60 * SECOND;
    /// Due time of the first: so early that a short run has one in the warm-up, so that the measurement interval begins on a
    /// database after maintenance, and one in the interval.
    const FIRST: Nanos = 100 * MS;
    /// Longest sleep before the user looks again whether the next is due.
    const NAP: Nanos = 20 * MS;

    pub(super) fn new(state: &'w DriverState, connector: Connector<Tpce>, emulator: MaintenanceEmulator<'w>) -> Self {
        Self { state, connector, emulator, last: None, due: 0 }
    }
}

impl User for Maintenance<'_> {
    fn performs(&self, operation: usize) -> bool {
        Transaction::ALL[operation] == Transaction::DataMaintenance
    }

    fn draw(&mut self, clock: &dyn Clock, control: &RoundControl) -> Draw {
        let (now, from) = (clock.now(), control.measure_from());
        let next = self.last.map_or(control.begin() + Self::FIRST, |last| last + Self::PERIOD);
        // Due times in the warm-up do not set the pace of the interval.
        let first_measured = from + Self::FIRST;
        let paced_by_warm_up = self.last.is_none_or(|last| last < from);
        self.due = if paced_by_warm_up && next >= from { first_measured } else { next };
        if self.due > now + Self::NAP {
            return Draw::Wait(now + Self::NAP);
        }
        Draw::Due(self.due)
    }

    fn perform(&mut self, cx: &mut OperationCx<'_>) -> OperationResult {
        // Drawing costs nothing here, and a maintenance that is never due must not use up a table's place in the sequence.
        self.last = Some(self.due);
        let request = Request::from(self.emulator.next());
        self.state.serve(cx, &mut self.connector, &request, &mut Ledger::default(), &mut None, &|_| {})
    }
}
