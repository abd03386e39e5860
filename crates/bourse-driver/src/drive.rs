//! The measurement loop of a user: draw, wait, perform, record.

use crate::backlog::Backlog;
use crate::reconcile::Recording;
use crate::user_time::UserMeter;
use crate::{Clock, Draw, Fault, MS, Nanos, OperationCx, RoundControl, RoundPlan, Sample, StopRule, UserSpec};
use bourse_engine::instructions::InstructionCounter;
use bourse_engine::{Connection, Engine as _, ErrorKind, NullEngine};
use bourse_record::{SampleInclusion, SplitMix};
use std::cell::Cell;

/// Runs one user on its session until its part of the round ends.
///
/// # Errors
/// [`Fault::Lost`] if the session cannot continue.
pub fn drive(
    user_spec: &mut UserSpec<'_>,
    connection: &mut Connection,
    clock: &dyn Clock,
    control: &RoundControl,
    plan: &RoundPlan,
    seed: u64,
    recording: &mut Recording,
) -> Result<(), Fault> {
    let meter = UserMeter::start(control);
    let mut backlog = Backlog::of(user_spec.schedule, plan, control, clock.now());
    let end = work(user_spec, connection, clock, control, plan, seed, &mut backlog, recording, &meter);
    let Recording { recorder, ledger, times, .. } = recording;
    times.push(meter.finish(user_spec.role));
    recorder.live().waiting(0);
    if let Some(response_ns) = backlog.response_ns() {
        ledger.schedule(response_ns);
    }
    if end? == UserEnd::Over {
        // Operations that an overloaded user never started: without this number its response times would look too good.
        backlog.ended(control).iter().for_each(|arrivals| recorder.arrivals(arrivals));
    }
    Ok(())
}

/// Reason that a user stopped.
#[derive(PartialEq, Eq)]
enum UserEnd {
    /// The stop rule, or the end of the round.
    Over,
    /// No further input.
    Finished,
}

#[expect(clippy::too_many_arguments, reason = "the one caller has them all at hand")]
fn work(
    user_spec: &mut UserSpec<'_>,
    connection: &mut Connection,
    clock: &dyn Clock,
    control: &RoundControl,
    plan: &RoundPlan,
    seed: u64,
    backlog: &mut Backlog<'_>,
    recording: &mut Recording,
    meter: &UserMeter<'_>,
) -> Result<UserEnd, Fault> {
    let UserSpec { name, role: _, user, schedule: _, stop_rule } = user_spec;
    let Recording { recorder, ledger, statements, .. } = recording;
    let random = Cell::new(SplitMix::new(seed));
    let live = recorder.live();
    let over = |now| {
        meter.at(now);
        control.ended(now) || (*stop_rule == StopRule::AtIntervalEnd && control.draining(now))
    };
    // Without a server the loop makes no call for the count.
    let has_server = connection.round_trips().is_some();
    let round_trips = |connection: &Connection| if has_server { connection.round_trips().unwrap_or(0) } else { 0 };
    let mut counter = InstructionCounter::take();
    // Next due time of the schedule; `None` while an operation is performed.
    let mut scheduled = None;
    // The clock is read as rarely as possible: a reading is the larger part of a sample's cost.
    let mut now = clock.now();
    'next: loop {
        backlog.arrive(now, control, || {
            if let Some(operation) = user.skip() {
                recorder.dropped(operation);
            }
        });
        scheduled = scheduled.or_else(|| backlog.next());
        live.waiting(backlog.waiting());
        // Drawing comes before waiting, so that it takes nothing from the time of an operation that is due.
        let drawn = loop {
            if over(now) {
                break 'next;
            }
            match user.draw(clock, control) {
                Draw::Ready => break scheduled,
                Draw::Due(at) => {
                    backlog.overrule(at);
                    break Some(at);
                }
                Draw::Wait(until) => wait(clock, until, &over),
                Draw::Finished => return Ok(UserEnd::Finished),
            }
            now = clock.now();
        };
        if let Some(engine) = user.reconnects() {
            let refused = |error| Fault::connect(name, &error);
            // The old one is closed first: some databases have one session at a time.
            *connection = NullEngine.connect().map_err(refused)?;
            let opened = engine.connect().map_err(refused)?;
            *connection = match statements {
                Some(meter) => meter.metered(opened),
                None => opened,
            };
        }
        if let Some(due) = drawn {
            wait(clock, due, &over);
        }
        let start = clock.now();
        if over(start) {
            break;
        }
        if let Some(due) = scheduled.take() {
            backlog.started(due, start, control);
        }
        let trips_before = round_trips(connection);
        let mut cx = OperationCx::new(connection, clock, plan.retry, &random);
        live.begins(user.drawn(), start);
        let performed = match &mut counter {
            Some(counter) => counter.count(|| user.perform(&mut cx)),
            None => user.perform(&mut cx),
        };
        live.ends();
        let (retries, back_off_ns) = (cx.backoff.retries(), cx.backoff.back_off_ns());
        let end = clock.now();
        now = end;
        if performed.in_doubt {
            ledger.doubt(performed.operation, performed.count);
        }
        let due_ns = drawn.unwrap_or(start).min(start);
        let counted = control.counts(due_ns, end).timed(user.is_timed());
        if performed.fatal == Some(ErrorKind::Interrupted) {
            if counted != SampleInclusion::Not {
                recorder.unended(performed.operation, performed.count, end - due_ns);
                ledger.unended(performed.operation, performed.count);
            }
            // Work that others wait for may never be done: without its market users a market would not end.
            control.end(end);
            break;
        }
        let sample = Sample {
            due_ns,
            start_ns: start,
            end_ns: end,
            back_off_ns,
            retries,
            round_trips: round_trips(connection).saturating_sub(trips_before) as u32,
            count: performed.count,
            operation: performed.operation,
            outcome: performed.outcome,
            code: performed.code,
            server: performed.server,
        };
        user.ended(counted != SampleInclusion::Not);
        if let Some(statements) = statements {
            statements.ended(performed.operation, counted != SampleInclusion::Not);
        }
        backlog.finished(end, counted != SampleInclusion::Not);
        ledger.enter(&sample, counted);
        #[cfg(not(feature = "planted-bug"))]
        recorder.sample(&sample, counted);
        #[cfg(feature = "planted-bug")]
        crate::planted::distort(&sample, |sample| recorder.sample(sample, counted));
        meter.operation();
        if let Some(kind) = performed.fatal {
            let error = performed.example.clone().unwrap_or_default();
            let fault = Fault::Lost {
                user: name.clone(),
                operation: recorder.specs()[performed.operation].name.to_owned(),
                kind,
                error,
            };
            performed.example.into_iter().for_each(|words| recorder.example(&sample, words));
            return Err(fault);
        }
        if let Some(words) = performed.example {
            recorder.example(&sample, words);
        }
    }
    Ok(UserEnd::Over)
}

/// Waits in short naps, so that an interruption is noticed soon.
fn wait(clock: &dyn Clock, until: Nanos, over: &impl Fn(Nanos) -> bool) {
    const POLL_INTERVAL_NS: Nanos = 20 * MS;
    loop {
        let now = clock.now();
        if now >= until || over(now) {
            return;
        }
        if until > now + POLL_INTERVAL_NS {
            clock.nap_until(now + POLL_INTERVAL_NS);
        } else {
            clock.sleep_until(until);
        }
    }
}
