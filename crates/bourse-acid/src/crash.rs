//! Crashes: the load that is interrupted, the kill, and the examination afterwards.

use crate::acknowledged::{Acknowledgement, AcknowledgementListener};
use crate::consistency::finding;
use crate::demand::CrashKind;
use crate::test_bed::AcidError;
use crate::{AcidSubject, AcidWorkload, Site};
use bourse_driver::{RoundPlan, SECOND};
use bourse_engine::{Engine, OwnedServer, Result, RowExt as _, Session, SessionExt as _, one_line};
use bourse_oltp::acid::AcknowledgedKind;
use bourse_record::SplitMix;
use bourse_record::acid::{AcidCase, AcidFinding, AcidStep};
use std::collections::HashSet;
use std::io::{self, BufRead as _, BufReader, Read};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Users at work at the crash.
pub(crate) const USERS: usize = 3;
/// Conditions of the crash: that many acknowledged transactions of the counted kind and the least time, or the longest time with
/// fewer.
const ENOUGH_RESULTS: usize = 60;
const MIN_CRASH_DELAY: Duration = Duration::from_millis(1_500);
const MAX_CRASH_DELAY: Duration = Duration::from_secs(40);

/// Plan of a load that goes on until it is killed.
pub(crate) fn load_plan() -> RoundPlan {
    const FOR_EVER: u64 = 3_600 * SECOND;
    RoundPlan { warm_up_ns: 0, measure_ns: FOR_EVER, drain_limit_ns: SECOND, ..RoundPlan::default() }
}

/// Database before a load.
#[derive(Debug, Clone)]
pub(crate) struct Baseline {
    /// Last number of its rows, if the workload numbers them.
    pub(crate) last: i64,
    /// Rows of each kind that is acknowledged, beyond that number.
    rows: Vec<usize>,
}

impl Baseline {
    fn of(workload: &dyn AcidWorkload, db: &mut dyn Session) -> Result<Self, AcidError> {
        let last = workload.last(db)?;
        let rows = workload.acknowledged().iter().map(|kind| Ok(keys(db, kind, last)?.len()));
        Ok(Self { last, rows: rows.collect::<Result<_>>()? })
    }

    /// The database before a load that numbered its rows beyond `last`.
    pub(crate) fn numbered(last: i64) -> Self {
        Self { last, rows: Vec::new() }
    }
}

/// Keys of what has all its rows.
fn keys(db: &mut dyn Session, kind: &AcknowledgedKind, last: i64) -> Result<HashSet<Vec<i64>>> {
    let sql = kind.rows.replace("{last}", &last.to_string());
    let found = db.text_rows(&sql, |row| (0..kind.keys).map(|at| row.get(at)).collect())?;
    Ok(found.into_iter().collect())
}

/// Result of a crash.
#[derive(Debug)]
pub(crate) struct CrashResult {
    label: String,
    steps: Vec<AcidStep>,
    /// Findings on whether the database is intact.
    whole: Vec<AcidFinding>,
    /// Findings on whether every acknowledged transaction is in it.
    kept: Vec<AcidFinding>,
    /// Number of acknowledged transactions of the counted kind, and of those that are missing.
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

    /// Result of examining a database that is opened after a crash.
    pub(crate) fn examined(
        subject: &AcidSubject<'_>,
        engine: Result<Box<dyn Engine>, AcidError>,
        before: &Baseline,
        log: &[Acknowledgement],
    ) -> Self {
        let mut crashed = Self::of(subject.workload, "power lost".to_owned(), log);
        examine(subject, engine, before, log, &mut crashed);
        crashed
    }

    fn of(workload: &dyn AcidWorkload, label: String, log: &[Acknowledgement]) -> Self {
        let count = |kind: &AcknowledgedKind| log.iter().filter(|it| it.word == kind.word).count();
        let kinds = workload.acknowledged();
        let results = kinds.last().map_or(0, count);
        let mut this =
            Self { label, steps: Vec::new(), whole: Vec::new(), kept: Vec::new(), results, lost: 0, recovery_s: 0.0 };
        let counts: Vec<_> = kinds.iter().map(|kind| format!("{} {}", count(kind), kind.transactions)).collect();
        this.step("load", workload.load_words().0, format!("acknowledged: {}", counts.join(", ")));
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
    let before = Baseline::of(subject.workload, &mut *site.open()?.session()?)?;
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
    while ended.is_none()
        && !is_enough(results_in(subject, &log), began)
        && !subject.interrupted.load(Ordering::Relaxed)
    {
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
    let mut crashed = CrashResult::of(subject.workload, format!("{what} after {:.1} s", took.as_secs_f64()), &log);
    crashed.step(
        "crash",
        match crash {
            CrashKind::Kill => "SIGKILL to the process",
            CrashKind::Power => "SIGKILL to the process; its files are what a disk has of them: writes not synced are lost, or there in part",
        },
        status.to_string(),
    );
    let engine = site.open();
    examine(subject, engine, &before, &log, &mut crashed);
    Ok(crashed)
}

/// Number of acknowledged transactions of the counted kind.
fn results_in(subject: &AcidSubject<'_>, log: &Mutex<Vec<Acknowledgement>>) -> usize {
    let counted = subject.workload.acknowledged().last().map(|kind| kind.word);
    let log = log.lock().unwrap_or_else(PoisonError::into_inner);
    log.iter().filter(|it| Some(it.word.as_str()) == counted).count()
}

/// Crashes a server that Bourse started; its sessions are in this process.
pub(crate) fn server_of_ours(
    subject: &AcidSubject<'_>,
    server: &dyn OwnedServer,
    seed: u64,
) -> Result<CrashResult, AcidError> {
    let engine = subject.engine;
    let before = Baseline::of(subject.workload, &mut *engine.session()?)?;
    let log: Arc<Mutex<Vec<Acknowledgement>>> = Arc::default();
    let heard = Arc::clone(&log);
    let listener: AcknowledgementListener =
        Arc::new(move |it| heard.lock().unwrap_or_else(PoisonError::into_inner).push(it));
    let stop = AtomicBool::new(false);
    let began = Instant::now();
    let (took, kill) = std::thread::scope(|scope| {
        let (workload, stop) = (subject.workload, &stop);
        let load = scope.spawn(move || workload.load(engine, seed, stop, listener));
        while !is_enough(results_in(subject, &log), began)
            && !load.is_finished()
            && !subject.interrupted.load(Ordering::Relaxed)
        {
            std::thread::sleep(Duration::from_millis(10));
        }
        if load.is_finished() {
            let why = match load.join().expect("the load does not panic") {
                Ok(()) => "it was cut off".to_owned(),
                Err(why) => why,
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
    let mut crashed =
        CrashResult::of(subject.workload, format!("server killed after {:.1} s", took.as_secs_f64()), &log);
    crashed.step("crash", "SIGKILL to the server", "it is gone");
    let began = Instant::now();
    let restarted = server.restart();
    crashed.recovery_s = began.elapsed().as_secs_f64();
    match restarted {
        Ok(()) => examine_engine(subject, engine, &before, &log, &mut crashed),
        Err(error) => unreadable(subject, &mut crashed, &error.into()),
    }
    Ok(crashed)
}

fn examine(
    subject: &AcidSubject<'_>,
    engine: Result<Box<dyn Engine>, AcidError>,
    before: &Baseline,
    log: &[Acknowledgement],
    crashed: &mut CrashResult,
) {
    match engine {
        Ok(engine) => examine_engine(subject, engine.as_ref(), before, log, crashed),
        Err(error) => unreadable(subject, crashed, &error),
    }
}

fn examine_engine(
    subject: &AcidSubject<'_>,
    engine: &dyn Engine,
    before: &Baseline,
    log: &[Acknowledgement],
    crashed: &mut CrashResult,
) {
    if let Err(error) = look(subject, engine, before, log, crashed) {
        unreadable(subject, crashed, &error);
    }
}

/// Findings of a database that cannot be read: its state is unknown, and all that was acknowledged counts as lost.
fn unreadable(subject: &AcidSubject<'_>, crashed: &mut CrashResult, error: &AcidError) {
    let finding = |what: &str| AcidFinding {
        what: what.to_owned(),
        wanted: "yes".to_owned(),
        found: one_line(&error.to_string()),
        holds: false,
    };
    crashed.whole.push(finding("the database can be read"));
    crashed.kept.push(finding(&format!("acknowledged {} can be read", counted(subject.workload).things[0])));
    crashed.lost = crashed.results;
}

fn look(
    subject: &AcidSubject<'_>,
    engine: &dyn Engine,
    before: &Baseline,
    log: &[Acknowledgement],
    crashed: &mut CrashResult,
) -> Result<(), AcidError> {
    let began = Instant::now();
    let workload = subject.workload;
    let mut session = engine.session()?;
    let db = &mut *session;
    keys(db, counted(workload), before.last)?;
    crashed.recovery_s += began.elapsed().as_secs_f64();
    crashed.step("engine", "opened again", format!("answers after {:.0} ms", crashed.recovery_s * 1e3));

    if let Some(damage) = engine.integrity_check()? {
        let found = if damage.is_empty() { "none".to_owned() } else { damage.join("; ") };
        crashed.whole.push(AcidFinding::equal("damage by the engine's own check", &"none".to_owned(), &found));
    }
    let (conditions, holes) = workload.conditions();
    for condition in conditions {
        go_on(subject)?;
        crashed.whole.push(finding(&condition.run(db, &holes)?));
    }

    let found: Vec<HashSet<Vec<i64>>> =
        workload.acknowledged().iter().map(|kind| keys(db, kind, before.last)).collect::<Result<_, _>>()?;
    let complete = found.last().map_or(0, HashSet::len);
    crashed.whole.extend(workload.traces(db, before.last, complete)?);
    let (_, in_flight) = workload.load_words();
    for (at, (kind, there)) in workload.acknowledged().iter().zip(&found).enumerate().rev() {
        let acknowledged: Vec<_> = log.iter().filter(|it| it.word == kind.word).collect();
        let lost: Vec<_> = acknowledged.iter().filter(|it| !there.contains(&it.key)).map(|it| &it.key).collect();
        let what = format!("acknowledged {} lost", kind.transactions);
        crashed.kept.push(AcidFinding::equal(what, &"none".to_owned(), &named(&lost)));
        if at + 1 < found.len() {
            continue;
        }
        crashed.lost = lost.len();
        let gained = complete - before.rows.get(at).copied().unwrap_or_default().min(complete);
        let unheard = gained.saturating_sub(acknowledged.len() - lost.len());
        let [things, complete_things] = kind.things;
        crashed.whole.push(AcidFinding {
            what: format!("{complete_things} that were not acknowledged"),
            wanted: format!("at most {in_flight}, in flight at the crash"),
            found: unheard.to_string(),
            holds: unheard <= in_flight,
        });
        if let Some(first) = acknowledged.iter().position(|it| !there.contains(&it.key)) {
            // Commits of different sessions may be heard in another order than they were made.
            let later = acknowledged[first..].iter().filter(|it| there.contains(&it.key)).count();
            crashed.whole.push(AcidFinding {
                what: format!("{things} kept that were acknowledged after one that is lost"),
                wanted: format!("at most {in_flight}: what is lost is the end of the work"),
                found: later.to_string(),
                holds: later <= in_flight,
            });
        }
    }
    drop(session);
    if let Some([did, outcome]) = workload.next_run(engine, subject.config)? {
        crashed.step("next run", did, outcome);
    }
    Ok(())
}

/// The kind of transactions that are counted.
pub(crate) fn counted(workload: &dyn AcidWorkload) -> &'static AcknowledgedKind {
    workload.acknowledged().last().expect("a workload acknowledges something")
}

/// Number of keys, and the first few of them.
fn named(keys: &[&Vec<i64>]) -> String {
    const MAX_SHOWN: usize = 5;
    if keys.is_empty() {
        return "none".to_owned();
    }
    let key = |key: &&Vec<i64>| key.iter().map(ToString::to_string).collect::<Vec<_>>().join("-");
    let first: Vec<_> = keys.iter().take(MAX_SHOWN).map(key).collect();
    let more = if keys.len() > MAX_SHOWN { " …" } else { "" };
    format!("{}: {}{more}", keys.len(), first.join(", "))
}
