//! A round: threads of its users and emulators, phases, figures.
//!
//! | file | contents |
//! |---|---|
//! | `participants` | users with their sessions, emulators, and their threads |
//! | `calls` | calls in progress after the interval |
//! | `pace` | the rate in short steps, and the rules that end warm-up and interval by it |
//! | `usage` | resources used until the ends of the measurement interval |
//! | `figures` | the figures of a round that has ended |

mod calls;
mod figures;
mod losses;
mod pace;
mod participants;
mod usage;

use crate::memory::HarnessMemory;
use crate::page_cache::{self, CachedFiles};
use crate::reconcile::{Recording, RoundCounts, irreconcilable};
use crate::sampler::Sampler;
use crate::throughput::Throughput;
use crate::user_time::split;
use crate::{Background, Clock, Fault, MS, Nanos, RoundControl, RoundPlan, SECOND, StopRule, Workload, drive};
use bourse_engine::{Conflicts, Engine, Hosting, Setting};
use bourse_record::{
    ConflictCount, LiveReader, OperationProgress, OperationSpec, PhaseKind, Recorder, Round, SeriesRow, SplitMix,
    Warning,
};
pub use calls::{CallInProgress, sampling_held_ns};
use calls::{Calls, WatchedSampling};
use figures::{figures, nothing_ended};
use losses::Losses;
use pace::Pace;
use participants::{StartedThreads, connect_all, guard};
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{OnceLock, mpsc};
use std::thread;
use usage::UsageMarks;

/// Progress of a round, once a second.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RoundProgress {
    /// The current phase.
    pub phase: PhaseKind,
    /// Seconds since the round began.
    pub elapsed_s: f64,
    /// Seconds of warm-up and measurement interval together, as planned.
    pub planned_s: f64,
    /// Seconds of the warm-up alone, as planned.
    #[serde(default)]
    pub warm_up_s: f64,
    /// Valid completions per second in the last second, by operation.
    pub throughput: Vec<f64>,
    /// Failures per second in the last second.
    pub failures: f64,
    /// Response time in the last second: median, 90th and 99th percentile, in nanoseconds.
    pub response_ns: Option<[f64; 3]>,
    /// Requests waiting between the workload's parts.
    pub queue_length: Option<u64>,
    /// Counts of each operation since the round began, and in the last second.
    #[serde(default)]
    pub operations: Vec<OperationProgress>,
    /// The row of the round's series that ends now.
    #[serde(default)]
    pub row: SeriesRow,
    /// Calls still in progress after the end of the measurement interval, the longest first. The round waits for them:
    /// if one never returns, the process must be ended.
    #[serde(default)]
    pub calls: Vec<CallInProgress>,
}

/// Result of a round, including one that ended early.
#[derive(Debug)]
pub struct MeasuredRound {
    /// Figures, with the checks that reconcile them. The caller adds the offset in the run, facts of the workload and
    /// checks of the database.
    pub round: Round,
    /// Counts that are independent of the figures.
    pub counted: RoundCounts,
    /// Whether the caller's flag ended the round early.
    pub interrupted: bool,
    /// Fault that ended the round, if one did.
    pub fault: Option<Fault>,
}

/// Runs one round: each user on its own thread and session, through warm-up, measurement interval and drain.
///
/// The caller's thread samples resources and calls `progress` once a second. `headline` is the operation whose valid
/// completions a second are the round's headline, `None` for all operations together; `seed` determines the random
/// lengths of back-offs.
///
/// # Errors
/// A [`Fault`] before the round begins: an invalid schedule, a session that cannot be opened, `interrupt` raised while
/// sessions are opened. Later faults come in [`MeasuredRound::fault`].
#[expect(clippy::too_many_arguments, reason = "they are the seams of a round; a struct of them would be used once")]
pub fn run<'w>(
    engine: &dyn Engine,
    workload: &mut dyn Workload<'w>,
    plan: &RoundPlan,
    headline: Option<usize>,
    seed: u64,
    clock: &dyn Clock,
    interrupt: &AtomicBool,
    progress: &mut dyn FnMut(&RoundProgress),
) -> Result<MeasuredRound, Fault> {
    let (conflicts_before, losses_before) = (engine.conflicts(), engine.node_losses());
    let mut participants = connect_all(engine, workload, plan, interrupt)?;
    // The sessions have been opened, and have read what they read then.
    let cached = plan.page_cache.map(|wanted| (wanted, CachedFiles::set(wanted, &engine.location())));
    let specs = workload.operations();
    let cells = participants.user_specs.iter().map(|(_, _, recording)| recording.recorder.live()).collect();
    let live = LiveReader::new(cells, specs.len());
    let mut calls = Calls::default();
    for (user_spec, _, recording) in &participants.user_specs {
        calls.watch(user_spec, recording.recorder.live(), specs.len());
    }
    // All threads wait for this, so that the first of a thousand does not work while the last is started.
    let control = OnceLock::new();
    let mut marks = UsageMarks::default();
    let mut interrupted = false;

    let customers = AtomicUsize::new(
        participants.user_specs.iter().filter(|(user_spec, ..)| user_spec.stop_rule == StopRule::AtIntervalEnd).count(),
    );
    let mut seeds = SplitMix::new(seed);
    let (sender, gone) = mpsc::channel();
    let background = std::mem::take(&mut participants.background);
    let settings = std::mem::take(&mut participants.settings);
    let mut left = background.len() + participants.user_specs.len();
    let mut starts = StartedThreads { of: left, started: 0, refused: None };
    let mut recordings = Vec::new();
    let watched = WatchedSampling;
    let (mut sampler, throughput, stopping, losses, begin) = thread::scope(|scope| {
        let control = &control;
        let customers = &customers;
        for Background { name, run } in background {
            let sender = sender.clone();
            starts.spawn(scope, &name.clone(), move || {
                let control = control.wait();
                guard(control, clock, &name, || {
                    run(clock, control);
                    Ok(())
                });
                let _ = sender.send(None);
            });
        }
        for ((mut user_spec, mut session, mut recording), before) in participants.user_specs.into_iter().zip(settings) {
            let sender = sender.clone();
            let seed = seeds.next();
            starts.spawn(scope, &user_spec.name.clone(), move || {
                let control: &RoundControl = control.wait();
                let (name, stop_rule) = (user_spec.name.clone(), user_spec.stop_rule);
                guard(control, clock, &name, || {
                    drive(&mut user_spec, &mut session, clock, control, plan, seed, &mut recording)
                });
                // A call that panicked is over too.
                recording.recorder.live().ends();
                if stop_rule == StopRule::AtIntervalEnd && customers.fetch_sub(1, Ordering::Relaxed) == 1 {
                    // All customers have finished: nothing more is measured, and closing a session is not part of the work.
                    control.cut(clock.now());
                }
                if !before.is_empty() {
                    recording.changed = Setting::first_changed(&before, &session.settings()).map(|(was, is)| {
                        let (changed, was, is) = (&was.name, &was.value, &is.value);
                        format!("{changed} was {was} when the round began, and {is} after it, in the session of {name}")
                    });
                }
                // A user may hold the sending end of another's queue: it must go before anybody waits for that other.
                drop(user_spec);
                drop(session);
                let _ = sender.send(Some(recording));
            });
        }
        if plan.page_cache.is_some() && plan.warm_up_ns == 0 {
            marks = UsageMarks::at_once(engine, clock);
        }
        let begin = if starts.refused.is_none() { workload.begin(clock) } else { Ok(clock.now()) };
        let begin = begin.unwrap_or_else(|fault| {
            starts.refused = Some(fault);
            clock.now()
        });
        let mut sampler = Sampler::new(engine, specs, live, begin);
        let control = control.get_or_init(|| RoundControl::new(plan, begin));
        if let Some(refused) = &starts.refused {
            // The threads that were started end immediately; the others never began.
            control.fail(begin, refused.clone());
            left = starts.started;
        }
        let mut throughput = Throughput::new(begin);
        let mut losses = Losses::new(losses_before, begin);
        let mut pace = Pace::of(plan, begin);
        let mut tick = begin + SECOND;
        while left > 0 {
            let now = clock.now();
            watched.passes(now, control);
            if interrupt.load(Ordering::Relaxed) && !control.draining(now) {
                interrupted = true;
                // What is left of a warm-up would be completed for no figure.
                if now < control.measure_from() { control.end(now) } else { control.cut(now) }
            }
            marks.pass(engine, control, clock);
            if now >= throughput.due() {
                let ended = sampler.ended(headline);
                throughput.row(now, ended);
                losses.pass(now, ended[0], engine.node_losses());
            }
            if now >= tick {
                let queue = workload.queue_length();
                let (done, seconds) = sampler.row(now, queue);
                progress(&RoundProgress {
                    phase: control.phase(now),
                    elapsed_s: (now - begin) as f64 / SECOND as f64,
                    planned_s: (control.measure_to() - begin) as f64 / SECOND as f64,
                    warm_up_s: (control.measure_from() - begin) as f64 / SECOND as f64,
                    throughput: done.operations.iter().map(|it| it.since.valid as f64 / seconds).collect(),
                    failures: done.failed() as f64 / seconds,
                    response_ns: done.response_ns,
                    queue_length: queue,
                    operations: OperationProgress::all(specs, &done, seconds),
                    row: sampler.series.last_row(),
                    calls: calls.after_interval(now, control, specs),
                });
                // After a pause of the machine the series continues from now instead of catching up on empty rows.
                tick = if now >= tick + SECOND { now + SECOND } else { tick + SECOND };
            }
            // After the second's row, which a report on an interval that ends now has too.
            if let Some(pace) = &mut pace {
                pace.pass(now, &sampler, control);
            }
            let look = pace.as_ref().map_or(Nanos::MAX, |pace| pace.next(now, control));
            let next = tick.min(throughput.due()).min(marks.next(control)).min(look).min(now + 20 * MS).max(now);
            match gone.recv_timeout(std::time::Duration::from_nanos((next - clock.now().min(next)).max(MS / 10))) {
                Ok(recording) => {
                    recordings.extend(recording);
                    left -= 1;
                }
                Err(mpsc::RecvTimeoutError::Timeout) => {}
                Err(mpsc::RecvTimeoutError::Disconnected) => break,
            }
        }
        let (now, ended) = (clock.now(), sampler.ended(headline));
        throughput.row(now, ended);
        losses.pass(now, ended[0], engine.node_losses());
        (sampler, throughput, pace.map(|pace| pace.stopping), losses, begin)
    });
    if let Some(refused) = starts.refused {
        return Err(refused);
    }
    let control = control.into_inner().expect("it was made when everybody had been started");
    let end = clock.now();
    control.cut(end);
    marks.pass(engine, &control, clock);
    sampler.row(end, workload.queue_length());
    drop(watched);
    let held = HarnessMemory::by(&recordings);
    let mut total = Recording::new(Recorder::new(workload.operations().into(), |_| true));
    recordings.into_iter().for_each(|recording| total.merge(recording));
    if let (Some(left), None) = (control.left_in_stream(), control.fault()) {
        total.recorder.arrivals(&left);
    }
    let given_up = control.fault().is_none() && end >= control.measure_to().saturating_add(plan.drain_limit_ns);
    let in_process = matches!(engine.hosting(), Hosting::InProcess);
    let mut round =
        figures(&total.recorder, &control, marks, sampler, &throughput, stopping, headline, in_process, end);
    for (operation, by_schedule) in round.operations.iter_mut().zip(participants.by_schedule) {
        operation.by_schedule = by_schedule;
    }
    if let Some(statements) = total.statements.take() {
        round.statements = statements.figures(workload.operations(), engine);
        round.warnings.push(Warning::StatementsTimed);
    }
    round.time_split = split(&total.times, !in_process);
    if given_up {
        round.warnings.push(Warning::WorkGivenUp { limit_s: plan.drain_limit_ns as f64 / SECOND as f64 });
    }
    round.conflicts = conflicts_since(&conflicts_before, engine.conflicts());
    round.facts.extend(participants.memory.facts(&held));
    round.warnings.extend(participants.notes.into_iter().map(Warning::of_engine));
    let counted = total.counted();
    round.warnings.extend(losses.warnings(begin, counted.ledger.in_doubt()));
    round.checks = counted.reconcile(&round.operations);
    void(&mut round, &counted, plan.is_part, workload.operations(), headline);
    if let Some((wanted, cached)) = cached {
        page_cache::judge(&mut round, wanted, cached);
    }
    Ok(MeasuredRound { round, counted, interrupted, fault: control.fault() })
}

/// Removes the headline of a round without a valid figure: a check failed, a setting changed, or nothing ended in its interval.
fn void(
    round: &mut Round,
    counted: &RoundCounts,
    is_part: bool,
    operations: &[OperationSpec],
    headline: Option<usize>,
) {
    let changed = || Some(format!("a setting changed during the round: {}", counted.changed.as_ref()?));
    let nothing = || if is_part { None } else { nothing_ended(round, operations, headline) };
    let why = irreconcilable(&round.checks).or_else(changed).or_else(nothing);
    if let Some(why) = why {
        round.headline = f64::NAN;
        round.void = Some(why);
    }
}

/// Increases of the counts of conflicts, without those of 0.
fn conflicts_since(before: &[Conflicts], now: Vec<Conflicts>) -> Vec<ConflictCount> {
    let since = now.into_iter().map(|Conflicts { name, count }| {
        let earlier = before.iter().find(|it| it.name == name).map_or(0, |it| it.count);
        ConflictCount { name: name.to_owned(), count: count.saturating_sub(earlier) }
    });
    since.filter(|it| it.count > 0).collect()
}
