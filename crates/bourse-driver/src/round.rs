//! A round: threads of its users and emulators, phases, figures.

use crate::ledger::Ledger;
use crate::memory::{Held, Memory, MemoryUse};
use crate::open_files::OpenFiles;
use crate::reconcile::{Recording, irreconcilable, reconcile};
use crate::sampler::{Sampler, io_counts};
use crate::{Background, Clock, Control, Fault, MS, Nanos, Plan, SECOND, StopRule, UserSpec, Workload, drive};
use bourse_engine::{Engine, FileIo, IoCounts, ServerProcess, Session};
use bourse_record::{
    Arrivals, FileActivity, FileKind, Interference, KernelThreads, LiveReader, MachineUse, OperationSpec, Phase,
    PhaseKind, ProcessUse, Recorder, Round, ServerUse, SplitMix, Warning,
};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, mpsc};
use std::thread;

/// Progress of a round, once a second.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    /// The current phase.
    pub phase: PhaseKind,
    /// Seconds since the round began.
    pub elapsed_s: f64,
    /// Seconds of warm-up and measurement interval together, as planned.
    pub planned_s: f64,
    /// Valid completions per second in the last second, by operation.
    pub throughput: Vec<f64>,
    /// Failures per second in the last second.
    pub failures: f64,
    /// Response time in the last second: median, 90th and 99th percentile, in nanoseconds.
    pub response_ns: Option<[f64; 3]>,
    /// Requests waiting between the workload's parts.
    pub queue_length: Option<u64>,
}

/// Result of a round, also of one that ended early.
#[derive(Debug)]
pub struct Measured {
    /// The figures, with the checks that reconcile them. Offset in the run, facts of the workload and checks of the database
    /// are the caller's to add.
    pub round: Round,
    /// Operations of the whole round, by the driver's own count.
    pub ledger: Ledger,
    /// Whether the caller's flag ended it early.
    pub interrupted: bool,
    /// The fault that ended it, if one did.
    pub fault: Option<Fault>,
}

/// Users with their sessions, and emulators, before the clock starts.
struct Participants<'w> {
    user_specs: Vec<(UserSpec<'w>, Box<dyn Session>, Recording)>,
    background: Vec<Background<'w>>,
    /// The engine's remarks about so many sessions.
    notes: Vec<String>,
    memory: Memory,
}

/// Runs one round: each user on its own thread and session, through warm-up, measurement interval and drain.
///
/// The caller's thread samples resources and calls `progress` once a second. `headline` is the operation whose valid
/// completions a second are the round's headline; `seed` is where the back-offs' random lengths come from.
///
/// # Errors
/// A [`Fault`] before the round begins: an invalid schedule, a session that cannot be opened, `interrupt` raised while
/// sessions are opened. Later faults come in [`Measured::fault`].
#[expect(clippy::too_many_arguments, reason = "they are the seams of a round; a struct of them would be used once")]
pub fn run<'w>(
    engine: &dyn Engine,
    workload: &mut dyn Workload<'w>,
    plan: &Plan,
    headline: usize,
    seed: u64,
    clock: &dyn Clock,
    interrupt: &AtomicBool,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Measured, Fault> {
    let mut participants = connect_all(engine, workload, interrupt)?;
    let specs = workload.operations();
    let cells = participants.user_specs.iter().map(|(_, _, recording)| recording.recorder.live()).collect();
    let live = LiveReader::new(cells, specs.len());
    // All threads wait for this, so that the first of a thousand does not work while the last is started.
    let control = OnceLock::new();
    let mut marks = Marks::default();
    let mut interrupted = false;

    let customers = AtomicUsize::new(
        participants.user_specs.iter().filter(|(user_spec, ..)| user_spec.stop_rule == StopRule::AtIntervalEnd).count(),
    );
    let mut seeds = SplitMix::new(seed);
    let (sender, gone) = mpsc::channel();
    let background = std::mem::take(&mut participants.background);
    let mut left = background.len() + participants.user_specs.len();
    let mut starts = Starts { of: left, started: 0, refused: None };
    let mut recordings = Vec::new();
    let mut sampler = thread::scope(|scope| {
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
        for (mut user_spec, mut session, mut recording) in participants.user_specs {
            let sender = sender.clone();
            let seed = seeds.next();
            starts.spawn(scope, &user_spec.name.clone(), move || {
                let control: &Control = control.wait();
                let (name, stop_rule) = (user_spec.name.clone(), user_spec.stop_rule);
                guard(control, clock, &name, || {
                    drive(&mut user_spec, session.as_mut(), clock, control, plan, seed, &mut recording)
                });
                if stop_rule == StopRule::AtIntervalEnd && customers.fetch_sub(1, Ordering::Relaxed) == 1 {
                    // All customers have finished: there is nothing more to measure. Closing a session is none of it.
                    control.cut(clock.now());
                }
                // A user may hold the sending end of another's queue: it must go before anybody waits for that other.
                drop(user_spec);
                drop(session);
                let _ = sender.send(Some(recording));
            });
        }
        let begin = clock.now();
        let mut sampler = Sampler::new(engine, specs, live, begin);
        let control = control.get_or_init(|| Control::new(plan, begin));
        if let Some(refused) = &starts.refused {
            // Those that were started leave at once; the others never came.
            control.fail(begin, refused.clone());
            left = starts.started;
        }
        let mut tick = begin + SECOND;
        while left > 0 {
            let now = clock.now();
            if interrupt.load(Ordering::Relaxed) && !control.draining(now) {
                interrupted = true;
                control.cut(now);
            }
            marks.pass(engine, control, now);
            if now >= tick {
                let queue = workload.queue_length();
                let (done, seconds) = sampler.row(now, queue);
                progress(&Progress {
                    phase: control.phase(now),
                    elapsed_s: (now - begin) as f64 / SECOND as f64,
                    planned_s: plan.warm_up_ns.saturating_add(plan.measure_ns) as f64 / SECOND as f64,
                    throughput: done.completed.iter().map(|&count| count as f64 / seconds).collect(),
                    failures: done.failed as f64 / seconds,
                    response_ns: done.response_ns,
                    queue_length: queue,
                });
                // After a pause of the machine the series goes on from now rather than catching up on empty rows.
                tick = if now >= tick + SECOND { now + SECOND } else { tick + SECOND };
            }
            let next = tick.min(marks.next(control)).min(now + 20 * MS).max(now);
            match gone.recv_timeout(std::time::Duration::from_nanos((next - clock.now().min(next)).max(MS / 10))) {
                Ok(recording) => {
                    recordings.extend(recording);
                    left -= 1;
                }
                Err(mpsc::RecvTimeoutError::Timeout) => {}
                Err(mpsc::RecvTimeoutError::Disconnected) => break,
            }
        }
        sampler
    });
    if let Some(refused) = starts.refused {
        return Err(refused);
    }
    let control = control.into_inner().expect("it was made when everybody had been started");
    let end = clock.now();
    control.cut(end);
    marks.pass(engine, &control, end);
    sampler.row(end, workload.queue_length());
    let held = Held::by(&recordings);
    let mut total = Recording::new(Recorder::new(workload.operations().into(), |_| true));
    recordings.into_iter().for_each(|recording| total.merge(recording));
    let given_up = control.fault().is_none() && end >= control.measure_to().saturating_add(plan.drain_limit_ns);
    let mut round = figures(&total.recorder, &control, marks, sampler, headline, end);
    if given_up {
        round.warnings.push(Warning::WorkGivenUp { limit_s: plan.drain_limit_ns as f64 / SECOND as f64 });
    }
    round.facts.extend(participants.memory.facts(&held));
    round.warnings.extend(participants.notes.into_iter().map(Warning::of_engine));
    round.checks = reconcile(&round.operations, &total.recorder.totals(), &total.ledger);
    if let Some(why) = irreconcilable(&round.checks).or_else(|| nothing_ended(&round, workload.operations(), headline))
    {
        round.headline = f64::NAN;
        round.void = Some(why);
    }
    Ok(Measured { round, ledger: total.ledger, interrupted, fault: control.fault() })
}

fn connect_all<'w>(
    engine: &dyn Engine,
    workload: &mut dyn Workload<'w>,
    interrupt: &AtomicBool,
) -> Result<Participants<'w>, Fault> {
    let users = workload.users();
    let background = workload.background();
    let specs: Arc<[_]> = workload.operations().into();
    for UserSpec { name, schedule, .. } in &users {
        schedule.check().map_err(|error| Fault::Schedule { user: name.clone(), error })?;
    }
    let notes = engine.expect_sessions(users.len()).into_iter().collect();
    let mut memory = Memory { before: MemoryUse::now(engine), ..Memory::default() };
    let mut files = OpenFiles::of(users.len());
    let mut user_specs = Vec::with_capacity(users.len());
    for user_spec in users {
        if interrupt.load(Ordering::Relaxed) {
            return Err(Fault::Interrupted);
        }
        let session = engine
            .connect()
            .map_err(|error| Fault::Connect { user: user_spec.name.clone(), error: error.to_string() })?;
        files.made()?;
        let recorder = Recorder::new(specs.clone(), |operation| user_spec.user.performs(operation));
        user_specs.push((user_spec, session, Recording::new(recorder)));
    }
    memory.seated = MemoryUse::now(engine);
    Ok(Participants { user_specs, background, notes, memory })
}

/// Threads of a round that were started, and the fault of one that could not be.
struct Starts {
    of: usize,
    started: usize,
    refused: Option<Fault>,
}

impl Starts {
    /// Starts a thread, unless the system refused one before.
    fn spawn<'scope>(
        &mut self,
        scope: &'scope thread::Scope<'scope, '_>,
        name: &str,
        work: impl FnOnce() + Send + 'scope,
    ) {
        if self.refused.is_some() {
            return;
        }
        match thread::Builder::new().name(name.to_owned()).spawn_scoped(scope, work) {
            Ok(_) => self.started += 1,
            Err(error) => {
                let (number, of) = (self.started + 1, self.of);
                self.refused = Some(Fault::Thread { number, of, error: error.to_string() });
            }
        }
    }
}

/// Reason why an interval has no figure: no operation of the headline ended in it.
fn nothing_ended(round: &Round, operations: &[OperationSpec], headline: usize) -> Option<String> {
    let name = operations.get(headline)?.name;
    let valid = round.operations.get(headline).map_or(0, bourse_record::Operation::valid);
    (round.measured_s > 0.0 && valid == 0)
        .then(|| format!("no {name} ended validly in the measurement interval of {:.1} s", round.measured_s))
}

/// Runs a thread's work; its fault or panic ends the round and is reported.
fn guard(control: &Control, clock: &dyn Clock, name: &str, work: impl FnOnce() -> Result<(), Fault>) {
    // The recorder a panic leaves behind is still whole: a sample is taken after its operation, never within.
    let fault = match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(())) => return,
        Ok(Err(fault)) => fault,
        Err(payload) => {
            let message = payload
                .downcast_ref::<&str>()
                .map(|words| (*words).to_owned())
                .or_else(|| payload.downcast_ref::<String>().cloned())
                .unwrap_or_else(|| "without words".to_owned());
            Fault::Panicked { thread: name.to_owned(), message }
        }
    };
    control.fail(clock.now(), fault);
}

/// Resources used until a moment.
#[derive(Default)]
struct Mark {
    process: ProcessUse,
    machine: Option<MachineUse>,
    kernel: KernelThreads,
    io: Option<IoCounts>,
    server: Option<ServerProcess>,
}

impl Mark {
    fn now(engine: &dyn Engine) -> Self {
        Self {
            process: ProcessUse::now(),
            machine: MachineUse::now(),
            kernel: KernelThreads::now(),
            io: io_counts(engine),
            // An engine that fails to say is as one without a server.
            server: engine.footprint().ok().and_then(|footprint| footprint.server),
        }
    }

    /// What the server's process has used since.
    fn server_since(&self, then: &Self) -> Option<ServerUse> {
        let (now, then) = (self.server?, then.server?);
        let seconds = |now: u64, then: u64| now.saturating_sub(then) as f64 / SECOND as f64;
        Some(ServerUse {
            cpu_user_s: seconds(now.cpu_user_ns, then.cpu_user_ns),
            cpu_system_s: seconds(now.cpu_system_ns, then.cpu_system_ns),
            read_bytes: now.read_bytes.saturating_sub(then.read_bytes),
            written_bytes: now.written_bytes.saturating_sub(then.written_bytes),
        })
    }
}

/// Resources used until the beginning and the end of the measurement interval.
#[derive(Default)]
struct Marks {
    from: Option<Mark>,
    to: Option<Mark>,
}

impl Marks {
    fn pass(&mut self, engine: &dyn Engine, control: &Control, now: Nanos) {
        if now >= control.measure_from() {
            self.from.get_or_insert_with(|| Mark::now(engine));
        }
        if now >= control.measure_to() {
            self.to.get_or_insert_with(|| Mark::now(engine));
        }
    }

    fn next(&self, control: &Control) -> Nanos {
        match (&self.from, &self.to) {
            (None, _) => control.measure_from(),
            (_, None) => control.measure_to(),
            _ => Nanos::MAX,
        }
    }
}

/// What others took of the machine from one mark to the other, in so many seconds, where that can be told.
fn interference(to: &Mark, from: &Mark, server: Option<ServerUse>, measured_s: f64) -> Option<Interference> {
    let (machine, machine_then) = (to.machine?, from.machine?);
    // The machine counts in hundredths of a second.
    if measured_s < 1.0 {
        return None;
    }
    let ours = to.process.cpu_s().unwrap_or(0.0) - from.process.cpu_s().unwrap_or(0.0);
    let servers = server.map_or(0.0, |server| server.cpu_user_s + server.cpu_system_s);
    let kernel = machine.interrupts_s - machine_then.interrupts_s + to.kernel.since(&from.kernel);
    let others = machine.busy_s - machine_then.busy_s - ours - servers - kernel;
    let host = machine.stolen_s - machine_then.stolen_s;
    // The counts are rounded apart: a hundredth less than nothing is nothing.
    let processors = |seconds: f64| seconds.max(0.0) / measured_s;
    Some(Interference { by_others: processors(others), by_kernel: processors(kernel), by_host: processors(host) })
}

/// What of it is noticed.
fn disturbed(interference: Interference, server_is_known: bool) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let Interference { by_others, by_host, .. } = interference;
    if by_others > Interference::NOTICED {
        warnings.push(Warning::OtherProcesses { cpus: by_others, server_is_known });
    }
    if by_host > Interference::NOTICED {
        warnings.push(Warning::HostSteal { cpus: by_host });
    }
    warnings
}

/// Kinds of file for which anything was asked, as the run file keeps them.
fn file_activity(counts: &IoCounts) -> Vec<FileActivity> {
    let idle = |files: FileIo| FileIo { sync_ns: None, ..files } == FileIo::default();
    let kinds = [
        (FileKind::Database, counts.database),
        (FileKind::Log, counts.log),
        (FileKind::Journal, counts.journal),
        (FileKind::Temporary, counts.temporary),
        (FileKind::DataAndLog, counts.together),
    ];
    let used = kinds.into_iter().filter(|(kind, files)| *kind == FileKind::Database || !idle(*files));
    used.map(|(kind, files)| FileActivity {
        kind,
        syncs: files.syncs,
        sync_ns: files.sync_ns,
        writes: files.writes,
        written_bytes: files.written_bytes,
        reads: files.reads,
        read_bytes: files.read_bytes,
    })
    .collect()
}

fn figures(
    total: &Recorder,
    control: &Control,
    marks: Marks,
    sampler: Sampler<'_>,
    headline: usize,
    end: Nanos,
) -> Round {
    let begin = control.begin();
    let seconds = |at: Nanos| at.saturating_sub(begin) as f64 / SECOND as f64;
    let (from, to) = (control.measure_from(), control.measure_to());
    let stretch = |kind, from, to| (to > from).then(|| Phase { kind, from_s: seconds(from), to_s: seconds(to) });
    let phases = [
        stretch(PhaseKind::WarmUp, begin, from),
        stretch(PhaseKind::Measurement, from, to),
        stretch(PhaseKind::Drain, to, end),
    ];
    let measured_s = (to - from) as f64 / SECOND as f64;
    let operations = total.figures();
    let valid = operations.get(headline).map_or(0, bourse_record::Operation::valid);
    let (at_first, at_last) = (marks.from.unwrap_or_default(), marks.to.unwrap_or_default());
    let (first, last) = (at_first.process, at_last.process);
    let seconds_used =
        |last: Option<f64>, first: Option<f64>| last.zip(first).map_or(0.0, |(last, first)| last - first);
    let bytes = |last: Option<u64>, first: Option<u64>| last.zip(first).map_or(0, |(last, first)| last - first);
    let mut warnings = Vec::new();
    if let Some(error) = &sampler.footprint_error {
        warnings.push(Warning::SizeUnknown { error: error.clone() });
    }
    let clamped: u64 = operations.iter().map(|operation| operation.response.clamped).sum();
    if clamped > 0 {
        warnings.push(Warning::LatencyClamped { count: clamped });
    }
    let arrivals = total.all_arrivals();
    if let Some(Arrivals { dropped, unstarted, due, .. }) = arrivals {
        if dropped > 0 {
            warnings.push(Warning::OperationsDropped { dropped, due });
        }
        if unstarted > 0 {
            warnings.push(Warning::OperationsWaiting { waiting: unstarted, due });
        }
    }
    let server = at_last.server_since(&at_first);
    let interference = interference(&at_last, &at_first, server, measured_s);
    warnings.extend(interference.into_iter().flat_map(|interference| disturbed(interference, server.is_some())));
    Round {
        offset_s: 0.0,
        phases: phases.into_iter().flatten().collect(),
        measured_s,
        headline: if measured_s > 0.0 { valid as f64 / measured_s } else { 0.0 },
        void: None,
        operations,
        arrivals,
        series: sampler.series,
        fine_series: bourse_record::Series::default(),
        cpu_user_s: seconds_used(last.cpu_user_s, first.cpu_user_s),
        cpu_system_s: seconds_used(last.cpu_system_s, first.cpu_system_s),
        read_bytes: bytes(last.read_bytes, first.read_bytes),
        written_bytes: bytes(last.written_bytes, first.written_bytes),
        io_source: at_last.io.map(|io| io.source.to_owned()).unwrap_or_default(),
        server,
        interference,
        io: at_last.io.zip(at_first.io).map_or_else(Vec::new, |(last, first)| file_activity(&last.since(first))),
        facts: Vec::new(),
        shared: None,
        checks: Vec::new(),
        warnings,
    }
}
