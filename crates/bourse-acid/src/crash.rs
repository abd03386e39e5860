//! Crashes: the load that is interrupted, the kill, and the examination afterwards.

use crate::acknowledged::{Acknowledgement, AcknowledgementListener, AcknowledgingEngine};
use crate::demand::CrashKind;
use crate::test_bed::{AcidError, TestBed};
use crate::{AcidSubject, Site};
use bourse_driver::{RealClock, RoundPlan, SECOND};
use bourse_egen::txn::TradeCleanup;
use bourse_egen::{Inputs, Part};
use bourse_engine::{Engine, OwnedServer, one_line};
use bourse_record::SplitMix;
use bourse_record::acid::{AcidCase, AcidFinding, AcidStep};
use bourse_schema::TradeId;
use bourse_tpce::check::conditions::CONDITIONS;
use bourse_tpce::check::holes;
use bourse_tpce::check::reconciliation::TotalsSnapshot;
use bourse_tpce::users::{self, RunError, RunOptions};
use std::collections::HashSet;
use std::io::{self, BufRead as _, BufReader, Read};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Customers at work at the crash; with the market's user and maintenance, at most that many transactions are in flight.
const USERS: usize = 3;
const IN_FLIGHT: usize = USERS + 2;
/// Conditions of the crash: that many acknowledged Trade-Results and the least time, or the longest time with fewer results.
const ENOUGH_RESULTS: usize = 60;
const MIN_CRASH_DELAY: Duration = Duration::from_millis(1_500);
const MAX_CRASH_DELAY: Duration = Duration::from_secs(40);

/// Runs the whole mix and passes each acknowledged trade to `listener`, until the process is killed or `interrupt` is set.
///
/// # Errors
/// If the load could not begin.
pub fn load_and_report(
    engine: &dyn Engine,
    inputs: &Inputs,
    part: Part,
    seed: u64,
    interrupt: &AtomicBool,
    listener: AcknowledgementListener,
) -> Result<(), RunError> {
    const FOR_EVER: u64 = 3_600 * SECOND;
    let plan = RoundPlan { warm_up_ns: 0, measure_ns: FOR_EVER, drain_limit_ns: SECOND, ..RoundPlan::default() };
    let options = RunOptions { users: USERS, market_users: 1, plan, seed, ..RunOptions::new(part) };
    let telling = AcknowledgingEngine::new(engine, listener);
    users::run(&telling, inputs, &options, &RealClock::start(), interrupt, &mut |_| {}).map(|_| ())
}

/// Result of a crash.
#[derive(Debug)]
pub(crate) struct CrashResult {
    label: String,
    steps: Vec<AcidStep>,
    /// Findings on whether the database is intact.
    whole: Vec<AcidFinding>,
    /// Findings on whether every acknowledged trade is in it.
    kept: Vec<AcidFinding>,
    /// Number of acknowledged Trade-Results, and of those that are missing.
    pub(crate) results: usize,
    pub(crate) lost: usize,
    /// Time from the first call to the answer of the first query, in seconds.
    pub(crate) recovery_s: f64,
}

impl CrashResult {
    /// Case with the selected findings.
    pub(crate) fn case(&self, whole: bool, kept: bool) -> AcidCase {
        let of = |wanted: bool, findings: &[AcidFinding]| if wanted { findings.to_vec() } else { Vec::new() };
        let findings = [of(whole, &self.whole), of(kept, &self.kept)].concat();
        AcidCase { label: self.label.clone(), second_session: String::new(), steps: self.steps.clone(), findings }
    }

    fn step(&mut self, who: &str, did: impl Into<String>, outcome: impl Into<String>) {
        let (did, outcome) = (did.into(), outcome.into());
        self.steps.push(AcidStep { session: who.to_owned(), did, outcome, read: Vec::new(), statement: None });
    }

    /// Result of examining a database that is opened after a crash. `last_trade` is the largest trade number before the load.
    pub(crate) fn examined(
        subject: &AcidSubject<'_>,
        engine: Result<Box<dyn Engine>, AcidError>,
        last_trade: TradeId,
        log: &[Acknowledgement],
    ) -> Self {
        let mut crashed = Self::of("power lost".to_owned(), log);
        examine(subject, engine, last_trade, log, &mut crashed);
        crashed
    }

    fn of(label: String, log: &[Acknowledgement]) -> Self {
        let results = log.iter().filter(|it| matches!(it, Acknowledgement::Result(_))).count();
        let mut this =
            Self { label, steps: Vec::new(), whole: Vec::new(), kept: Vec::new(), results, lost: 0, recovery_s: 0.0 };
        let outcome = format!("acknowledged: {} Trade-Orders, {results} Trade-Results", log.len() - results);
        this.step("load", format!("the whole mix, {USERS} customers, one user of the market, maintenance"), outcome);
        this
    }
}

/// Whether the conditions of the crash are met.
fn is_enough(results: usize, began: Instant) -> bool {
    began.elapsed() >= MAX_CRASH_DELAY || (results >= ENOUGH_RESULTS && began.elapsed() >= MIN_CRASH_DELAY)
}

/// Random delay before the crash, so that it hits any point of a transaction.
fn a_moment(seed: u64) -> Duration {
    Duration::from_micros(SplitMix::new(seed).below(200_000))
}

/// Output of a process, which is killed if an interruption comes first.
pub(crate) fn output(command: &mut Command, interrupted: &AtomicBool) -> io::Result<Output> {
    fn all(pipe: Option<impl Read>) -> Vec<u8> {
        let mut bytes = Vec::new();
        // What cannot be read is left out.
        let _ = pipe.map(|mut pipe| pipe.read_to_end(&mut bytes));
        bytes
    }
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let [stdout, stderr] = [std::thread::spawn(|| all(stdout)), std::thread::spawn(|| all(stderr))];
    let status = loop {
        match child.try_wait()? {
            Some(status) => break status,
            None if interrupted.load(Ordering::Relaxed) => child.kill()?,
            None => {}
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    let [stdout, stderr] = [stdout, stderr].map(|pipe| pipe.join().expect("reading does not panic"));
    Ok(Output { status, stdout, stderr })
}

/// Failure of what an interruption has ended.
fn go_on(subject: &AcidSubject<'_>) -> Result<(), AcidError> {
    match subject.interrupted.load(Ordering::Relaxed) {
        true => Err(AcidError::Machinery("interrupted".to_owned())),
        false => Ok(()),
    }
}

/// Crashes an in-process engine: kills a child process that works on a copy of the database.
pub(crate) fn child_of_ours(
    subject: &AcidSubject<'_>,
    site: &dyn Site,
    crash: CrashKind,
    seed: u64,
) -> Result<CrashResult, AcidError> {
    let process_error = |what: &str, error: std::io::Error| AcidError::Machinery(format!("{what}: {error}"));
    site.renew()?;
    let before = TotalsSnapshot::take(&mut *site.open()?.session()?)?;
    let mut child = site
        .process(crash, seed)?
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| process_error("the process for the load could not be started", error))?;
    let stdout = child.stdout.take().expect("it was asked for");
    let mut stderr = child.stderr.take().expect("it was asked for");
    let log: Arc<Mutex<Vec<Acknowledgement>>> = Arc::default();
    let heard = Arc::clone(&log);
    // The log is read while the child works, and to its end after the child's death: every line in it was acknowledged.
    let reader = std::thread::spawn(move || {
        let mut stdout = BufReader::new(stdout);
        let mut line = String::new();
        while matches!(stdout.read_line(&mut line), Ok(1..)) {
            // A line that was cut off by the kill is ignored.
            if let Some(Ok(it)) = line.strip_suffix('\n').map(str::parse) {
                heard.lock().unwrap_or_else(PoisonError::into_inner).push(it);
            }
            line.clear();
        }
    });
    let complaints = std::thread::spawn(move || {
        let mut text = String::new();
        // Unreadable output is left out of the message.
        let _ = stderr.read_to_string(&mut text);
        text
    });
    let began = Instant::now();
    let mut ended = None;
    while ended.is_none() && !is_enough(results_in(&log), began) && !subject.interrupted.load(Ordering::Relaxed) {
        std::thread::sleep(Duration::from_millis(10));
        ended = child.try_wait().map_err(|error| process_error("the process for the load is lost", error))?;
    }
    if ended.is_none() {
        std::thread::sleep(a_moment(seed));
    }
    let took = began.elapsed();
    // A process that has ended already cannot be killed, which is reported below.
    let _ = child.kill();
    let status = child.wait().map_err(|error| process_error("the process for the load is lost", error))?;
    reader.join().expect("reading does not panic");
    let complaints = complaints.join().expect("reading does not panic");
    if ended.is_some() {
        let said = complaints.trim();
        return Err(AcidError::Machinery(format!("the load ended by itself ({status}) before the crash: {said}")));
    }
    go_on(subject)?;
    if crash == CrashKind::Power {
        site.check_intercepted()?;
        site.lose_power(seed)?;
    }
    let log = std::mem::take(&mut *log.lock().unwrap_or_else(PoisonError::into_inner));
    let what = match crash {
        CrashKind::Kill => "process killed",
        CrashKind::Power => "power lost",
    };
    let mut crashed = CrashResult::of(format!("{what} after {:.1} s", took.as_secs_f64()), &log);
    crashed.step(
        "crash",
        match crash {
            CrashKind::Kill => "SIGKILL to the process",
            CrashKind::Power => "SIGKILL to the process; its files are what a disk has of them: writes not synced are lost, or there in part",
        },
        status.to_string(),
    );
    let engine = site.open();
    examine(subject, engine, before.last_trade, &log, &mut crashed);
    Ok(crashed)
}

fn results_in(log: &Mutex<Vec<Acknowledgement>>) -> usize {
    let log = log.lock().unwrap_or_else(PoisonError::into_inner);
    log.iter().filter(|it| matches!(it, Acknowledgement::Result(_))).count()
}

/// Crashes a server that Bourse started; its sessions are in this process.
pub(crate) fn server_of_ours(
    subject: &AcidSubject<'_>,
    server: &dyn OwnedServer,
    seed: u64,
) -> Result<CrashResult, AcidError> {
    let engine = subject.engine;
    let before = TotalsSnapshot::take(&mut *engine.session()?)?;
    let log: Arc<Mutex<Vec<Acknowledgement>>> = Arc::default();
    let heard = Arc::clone(&log);
    let listener: AcknowledgementListener =
        Arc::new(move |it| heard.lock().unwrap_or_else(PoisonError::into_inner).push(it));
    let stop = AtomicBool::new(false);
    let began = Instant::now();
    let (took, kill) = std::thread::scope(|scope| {
        let (inputs, part, stop) = (subject.inputs, subject.part, &stop);
        let load = scope.spawn(move || load_and_report(engine, inputs, part, seed, stop, listener));
        while !is_enough(results_in(&log), began) && !load.is_finished() && !subject.interrupted.load(Ordering::Relaxed)
        {
            std::thread::sleep(Duration::from_millis(10));
        }
        if load.is_finished() {
            let why = match load.join().expect("the load does not panic") {
                Ok(()) => "it was cut off".to_owned(),
                Err(error) => error.to_string(),
            };
            return Err(AcidError::Machinery(format!("the load ended by itself before the crash: {why}")));
        }
        std::thread::sleep(a_moment(seed));
        let took = began.elapsed();
        let kill = server.kill();
        stop.store(true, Ordering::Relaxed);
        // Its users have lost their sessions, which is how it ends.
        let _ = load.join().expect("the load does not panic");
        Ok((took, kill))
    })?;
    kill?;
    go_on(subject)?;
    let log = std::mem::take(&mut *log.lock().unwrap_or_else(PoisonError::into_inner));
    let mut crashed = CrashResult::of(format!("server killed after {:.1} s", took.as_secs_f64()), &log);
    crashed.step("crash", "SIGKILL to the server", "it is gone");
    let began = Instant::now();
    let restarted = server.restart();
    crashed.recovery_s = began.elapsed().as_secs_f64();
    match restarted {
        Ok(()) => examine_engine(subject, engine, before.last_trade, &log, &mut crashed),
        Err(error) => unreadable(&mut crashed, &error.into()),
    }
    Ok(crashed)
}

fn examine(
    subject: &AcidSubject<'_>,
    engine: Result<Box<dyn Engine>, AcidError>,
    last_trade: TradeId,
    log: &[Acknowledgement],
    crashed: &mut CrashResult,
) {
    match engine {
        Ok(engine) => examine_engine(subject, engine.as_ref(), last_trade, log, crashed),
        Err(error) => unreadable(crashed, &error),
    }
}

fn examine_engine(
    subject: &AcidSubject<'_>,
    engine: &dyn Engine,
    last_trade: TradeId,
    log: &[Acknowledgement],
    crashed: &mut CrashResult,
) {
    if let Err(error) = look(subject, engine, last_trade, log, crashed) {
        unreadable(crashed, &error);
    }
}

/// Findings of a database that cannot be read: its state is unknown, and all its trades count as lost.
fn unreadable(crashed: &mut CrashResult, error: &AcidError) {
    let finding = |what: &str| AcidFinding {
        what: what.to_owned(),
        wanted: "yes".to_owned(),
        found: one_line(&error.to_string()),
        holds: false,
    };
    crashed.whole.push(finding("the database can be read"));
    crashed.kept.push(finding("acknowledged trades can be read"));
    crashed.lost = crashed.results;
}

fn look(
    subject: &AcidSubject<'_>,
    engine: &dyn Engine,
    last_trade: TradeId,
    log: &[Acknowledgement],
    crashed: &mut CrashResult,
) -> Result<(), AcidError> {
    let began = Instant::now();
    let test_bed = TestBed::new(engine, subject.part, subject.first_free, subject.config)?;
    test_bed.number("SELECT count(*) FROM trade")?;
    crashed.recovery_s += began.elapsed().as_secs_f64();
    crashed.step("engine", "opened again", format!("answers after {:.0} ms", crashed.recovery_s * 1e3));

    if let Some(damage) = engine.integrity_check()? {
        let found = if damage.is_empty() { "none".to_owned() } else { damage.join("; ") };
        crashed.whole.push(AcidFinding::equal("damage by the engine's own check", &"none".to_owned(), &found));
    }
    for condition in CONDITIONS {
        go_on(subject)?;
        let checked = test_bed.with_observer(|db| condition.run(db, &holes(subject.first_free)))?;
        let found = match checked.offences {
            0 => "none".to_owned(),
            offences => format!("{offences}: {}", checked.evidence.join("; ")),
        };
        let what = format!("offences against: {}", checked.words);
        crashed.whole.push(AcidFinding::equal(what, &"none".to_owned(), &found));
    }

    let ids = |sql: String| -> Result<HashSet<i64>, AcidError> {
        Ok(test_bed.rows(&sql, |row| bourse_engine::RowExt::get::<i64>(row, 0))?.into_iter().collect())
    };
    let last = last_trade;
    let there = ids(format!("SELECT t_id FROM trade WHERE t_id > {last}"))?;
    // Complete is a trade with all its rows: its settlement, the history of its completion, its change of holdings.
    let complete = ids(format!(
        "SELECT t_id
           FROM trade
                INNER JOIN settlement ON se_t_id = t_id
                INNER JOIN trade_history ON th_t_id = t_id AND th_st_id = 'CMPT'
          WHERE t_id > {last} AND t_st_id = 'CMPT'
            AND EXISTS (SELECT 1 FROM holding_history WHERE hh_t_id = t_id)"
    ))?;
    let settled = ids(format!("SELECT se_t_id FROM settlement WHERE se_t_id > {last}"))?;
    let begun = ids(format!("SELECT t_id FROM trade WHERE t_id > {last} AND t_st_id = 'CMPT'"))?;
    crashed.whole.push(AcidFinding::equal("new completed trades with all their rows", &begun.len(), &complete.len()));
    crashed.whole.push(AcidFinding::equal("settlements of new trades", &begun.len(), &settled.len()));

    let acknowledged: Vec<(TradeId, bool)> = log
        .iter()
        .filter_map(|it| match it {
            Acknowledgement::Result(trade) => Some((*trade, complete.contains(&trade.0))),
            Acknowledgement::Order(_) => None,
        })
        .collect();
    let lost: Vec<TradeId> = acknowledged.iter().filter(|(_, kept)| !kept).map(|(trade, _)| *trade).collect();
    crashed.lost = lost.len();
    crashed.kept.push(AcidFinding::equal("acknowledged Trade-Results lost", &"none".to_owned(), &named(&lost)));
    let orders = log.iter().filter_map(|it| match it {
        Acknowledgement::Order(trade) if !there.contains(&trade.0) => Some(*trade),
        _ => None,
    });
    let lost_orders: Vec<TradeId> = orders.collect();
    crashed.kept.push(AcidFinding::equal("acknowledged Trade-Orders lost", &"none".to_owned(), &named(&lost_orders)));
    let unheard = complete.len() - (acknowledged.len() - lost.len());
    crashed.whole.push(AcidFinding {
        what: "completed trades that were not acknowledged".to_owned(),
        wanted: format!("at most {IN_FLIGHT}, in flight at the crash"),
        found: unheard.to_string(),
        holds: unheard <= IN_FLIGHT,
    });
    if let Some(first) = acknowledged.iter().position(|(_, kept)| !kept) {
        // Commits of different sessions may be heard in another order than they were made.
        let later = acknowledged[first..].iter().filter(|(_, kept)| *kept).count();
        crashed.whole.push(AcidFinding {
            what: "trades kept that were acknowledged after one that is lost".to_owned(),
            wanted: format!("at most {IN_FLIGHT}: what is lost is the end of the work"),
            found: later.to_string(),
            holds: later <= IN_FLIGHT,
        });
    }
    let cleaned = test_bed.run(TradeCleanup { start_trade_id: subject.first_free })?;
    crashed.step("next run", "Trade-Cleanup", format!("status {}", cleaned.status()));
    Ok(())
}

/// Number of trades, and the first few of them.
fn named(trades: &[TradeId]) -> String {
    const MAX_SHOWN_TRADES: usize = 5;
    if trades.is_empty() {
        return "none".to_owned();
    }
    let first: Vec<_> = trades.iter().take(MAX_SHOWN_TRADES).map(ToString::to_string).collect();
    let more = if trades.len() > MAX_SHOWN_TRADES { " …" } else { "" };
    format!("{}: {}{more}", trades.len(), first.join(", "))
}
