//! Who takes turns in a run: targets with their settings, and the databases behind them, which rounds find as they were.

use super::database::{self, Ready};
use super::venue::Venue;
use crate::args::{Database, Run};
use crate::engines;
use crate::failure::{Exit, Failure};
use crate::progress::Step;
use crate::{interrupt, panics};
use bourse_driver::{Clock as _, Progress, RealClock, wait_for_quiet};
use bourse_egen::Inputs;
use bourse_engine::{Engine, ErrorKind, Isolation, Snapshot};
use bourse_record::{Case, Check, NameValue, Round};
use bourse_tpce::transactions::Transaction;
use bourse_tpce::users::{self, Ran, RunError, RunOptions};
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// What every round needs.
pub(crate) struct Stage<'a> {
    pub(crate) inputs: &'a Inputs,
    pub(crate) clock: &'a RealClock,
    pub(crate) interrupted: &'a AtomicBool,
    /// How long a round waits for a quiet machine.
    pub(crate) wait_quiet: Option<Duration>,
}

/// An open target with its database.
pub(crate) struct Slot {
    target: String,
    venue: Venue,
    ready: Ready,
    /// The size that was asked for.
    size: Size,
    /// Slots of one place share a database.
    place: String,
}

/// The size of a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Size {
    customers: u64,
    days: u32,
    scale_factor: u32,
}

impl Size {
    fn of(database: &Database) -> Self {
        let &Database { customers, days, scale_factor, .. } = database;
        Self { customers, days, scale_factor }
    }
}

/// A copy of a database, or why there is none.
enum Kept {
    Copy(Box<dyn Snapshot>),
    Cannot(String),
}

/// All databases of a run.
#[derive(Default)]
pub(crate) struct Slots {
    slots: Vec<Slot>,
    copies: BTreeMap<String, Kept>,
    /// Contenders at each place.
    users: BTreeMap<String, u32>,
}

impl Slots {
    /// The database of a target, opened and loaded unless it is already: its place among the slots.
    pub(crate) fn ready(&mut self, target: &str, wanted: &Run, stage: &Stage<'_>) -> Result<usize, Failure> {
        let size = Size::of(&wanted.settings.database);
        let at = match self.slots.iter().position(|slot| slot.target == target && slot.size == size) {
            Some(at) => at,
            None => {
                let venue = Venue::open(target, wanted)?;
                let ready = venue.ready(target, wanted, stage.inputs, stage.interrupted)?;
                // Files are one database whatever the settings; what lives in our process is its slot's own.
                let place = match engines::sqlite_file(target) {
                    Some(file) => file.to_owned(),
                    None => format!("{target} {}", self.slots.len()),
                };
                self.slots.push(Slot { target: target.to_owned(), venue, ready, size, place });
                self.slots.len() - 1
            }
        };
        *self.users.entry(self.slots[at].place.clone()).or_default() += 1;
        Ok(at)
    }

    /// Makes the database ready for a round, and says in words what it is. Rounds begin alike if `rounds` of them, over all
    /// who share the database, are more than one.
    fn prepare(&mut self, at: usize, rounds: u32) -> Result<String, Failure> {
        let slot = &self.slots[at];
        let several = rounds * self.users[&slot.place] > 1;
        if !several {
            return Ok(slot.ready.history.clone());
        }
        let history = slot.ready.history.clone();
        if let Venue::Server(remote) = &slot.venue {
            remote.begin_alike();
            return Ok(history);
        }
        match self.copies.get(&slot.place) {
            Some(Kept::Copy(copy)) => {
                let step = Step::waiting(format!("putting {} back as it was", slot.target));
                let begin = Instant::now();
                let restored = copy.restore();
                step.done();
                restored.map_err(|error| database::engine_failure(&slot.target, &error))?;
                let how = copy.how();
                Ok(format!("put back in {:.1} s to what the first round found: {history} ({how})", seconds(begin)))
            }
            Some(Kept::Cannot(why)) => Ok(format!("as the round before left it: {why}")),
            None => {
                let step = Step::waiting(format!("keeping a copy of {}", slot.target));
                let begin = Instant::now();
                let taken = slot.venue.engine().snapshot();
                step.done();
                let (kept, words) = match taken {
                    Ok(copy) => {
                        let words = format!("{history}; a copy kept in {:.1} s for further rounds", seconds(begin));
                        (Kept::Copy(copy), words)
                    }
                    Err(error) if matches!(error.kind(), ErrorKind::Unsupported | ErrorKind::Full) => {
                        let why = error.message().to_owned();
                        (
                            Kept::Cannot(why.clone()),
                            format!("{history}; further rounds find it as this one leaves it: {why}"),
                        )
                    }
                    Err(error) => return Err(database::engine_failure(&slot.target, &error)),
                };
                self.copies.insert(slot.place.clone(), kept);
                Ok(words)
            }
        }
    }
}

fn seconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64()
}

/// One case of a run.
pub(crate) struct Contender {
    label: String,
    slot: usize,
    pub(crate) options: RunOptions,
    pub(crate) case: Case,
    data: String,
}

impl Contender {
    pub(crate) fn new(
        slots: &Slots,
        slot: usize,
        options: RunOptions,
        data: String,
        varied: Vec<NameValue>,
    ) -> Result<Self, Failure> {
        let Slot { target, venue, ready, .. } = &slots.slots[slot];
        // What is told once is what every round will have; the rounds themselves say what it changed.
        let _ = venue.engine().expect_sessions(options.sessions());
        let described = venue.engine().description().map_err(|error| database::engine_failure(target, &error))?;
        let options = RunOptions { part: ready.fingerprint.part, ..options };
        let mut label = target.clone();
        for NameValue { name, value } in &varied {
            // What the target's URL says need not be said again.
            if !target.split(['?', '&']).any(|option| option.split_once('=') == Some((name, value))) {
                label.push_str(&format!(" {name}={value}"));
            }
        }
        let case = Case {
            label: label.clone(),
            workload: users::workload(&options, Vec::new()),
            engine: described_engine(described),
            varied,
            search: None,
            origin: None,
            rounds: Vec::new(),
        };
        let mut this = Self { label, slot, options, case, data };
        this.describe(slots);
        Ok(this)
    }

    /// Has the case say what it is run with, after the options were changed.
    pub(crate) fn describe(&mut self, slots: &Slots) {
        let slot = &slots.slots[self.slot];
        let parameters = vec![
            named("constraints", slot.ready.fingerprint.constraints.to_string()),
            named("isolation", isolation(slot.venue.engine())),
            named("input data", self.data.clone()),
            named("seed", self.options.seed.to_string()),
        ];
        self.case.workload = users::workload(&self.options, parameters);
        self.case.workload.parameters.extend(free_space(&slot.target));
    }

    /// Its target.
    pub(crate) fn target<'s>(&self, slots: &'s Slots) -> &'s str {
        &slots.slots[self.slot].target
    }

    /// Its name, as reports show it.
    pub(crate) fn label(&self) -> &str {
        &self.label
    }

    /// Runs a round with its checks and keeps it, whatever ended it.
    pub(crate) fn round(
        &mut self,
        slots: &mut Slots,
        number: u32,
        of: u32,
        offset_s: f64,
        stage: &Stage<'_>,
    ) -> Result<(), Failure> {
        let label = if of > 1 { format!("{}, round {} of {of}", self.label, number + 1) } else { self.label.clone() };
        // Rounds differ in their requests, as two runs would, and still follow from the run's seed.
        let options = RunOptions { seed: self.options.seed.wrapping_add(u64::from(number)), ..self.options };
        let (mut ran, mut outcome) = self.run(slots, &label, &options, of, stage)?;
        ran.round.offset_s = offset_s;
        if self.case.rounds.is_empty() {
            ran.round.checks.splice(0..0, slots.slots[self.slot].ready.checks.iter().cloned());
        }
        if outcome.is_ok() {
            match panics::caught(|| {
                panics::asked_for("check");
                self.check(slots, &mut ran, stage.clock)
            }) {
                Ok(checks) => ran.round.checks.extend(checks),
                Err(failure) => {
                    ran.round.make_void(format!("the database could not be checked: {}", failure.line()));
                    outcome = Err(failure);
                }
            }
        }
        self.case.rounds.push(ran.round);
        outcome
    }

    /// Runs a round that is looked at and not kept: no checks that could be left out.
    pub(crate) fn probe(
        &self,
        slots: &mut Slots,
        label: &str,
        options: &RunOptions,
        stage: &Stage<'_>,
    ) -> Result<Round, Failure> {
        let (mut ran, outcome) = self.run(slots, label, options, u32::MAX, stage)?;
        outcome?;
        let Slot { target, venue, .. } = &slots.slots[self.slot];
        // A server ends a round by checking it.
        if matches!(venue, Venue::Server(_)) {
            venue.check(target, options, &mut ran, stage.clock, &mut |_| {})?;
        }
        Ok(ran.round)
    }

    /// The figures of a round, and the failure it ended with.
    fn run(
        &self,
        slots: &mut Slots,
        label: &str,
        options: &RunOptions,
        rounds: u32,
        stage: &Stage<'_>,
    ) -> Result<(Ran, Result<(), Failure>), Failure> {
        let history = slots.prepare(self.slot, rounds.min(1_000))?;
        let Slot { target, venue, .. } = &slots.slots[self.slot];
        let quiet = stage.wait_quiet.is_none_or(|limit| {
            let step = Step::waiting("waiting for a quiet machine".to_owned());
            let quiet = wait_for_quiet(stage.clock, u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX));
            step.done();
            quiet
        });
        let step = Step::waiting(format!("running on {label}"));
        let ran = venue.run(stage.inputs, options, stage.clock, stage.interrupted, &mut |progress| {
            step.say(live(label, progress));
        });
        let mut ran = match ran {
            Ok(ran) => {
                step.done();
                ran
            }
            Err(error) => {
                step.abandon();
                return Err(run_failure(target, &error));
            }
        };
        ran.round.shared = venue.shared(options);
        ran.round.facts.insert(0, named("database", venue.found(history)));
        if !quiet {
            ran.round.warnings.push("the machine did not become quiet before this round began".to_owned());
        }
        let outcome = match ran.fault.take() {
            None => Ok(()),
            Some(fault) => {
                ran.round.make_void(format!("the round was ended: {fault}"));
                venue.abandon();
                Err(Failure::new(Exit::Target, format!("the run on {target} was ended"))
                    .detail("cause", fault.to_string()))
            }
        };
        Ok((ran, outcome))
    }

    fn check(&self, slots: &Slots, ran: &mut Ran, clock: &RealClock) -> Result<Vec<Check>, Failure> {
        let Slot { target, venue, .. } = &slots.slots[self.slot];
        let step = Step::waiting(format!("checking {target}"));
        let checked = venue.check(target, &self.options, ran, clock, &mut |name| step.say(name));
        step.done();
        checked
    }
}

/// The rounds, in turn: A B, B A, A B … The first failure ends them; what was measured stays.
pub(crate) fn rounds(
    contenders: &mut [Contender],
    slots: &mut Slots,
    rounds: u32,
    stage: &Stage<'_>,
) -> Result<(), Failure> {
    let begin = stage.clock.now();
    for round in 0..rounds {
        let mut order: Vec<usize> = (0..contenders.len()).collect();
        if round % 2 == 1 {
            order.reverse();
        }
        for index in order {
            if stage.interrupted.load(std::sync::atomic::Ordering::Relaxed) {
                return Ok(());
            }
            let offset_s = (stage.clock.now() - begin) as f64 / 1e9;
            panics::caught(|| {
                panics::asked_for(&format!("round {}", round + 1));
                contenders[index].round(slots, round, rounds, offset_s, stage)
            })?;
        }
    }
    Ok(())
}

pub(super) fn described_engine(described: bourse_engine::Description) -> bourse_record::Engine {
    bourse_record::Engine {
        name: described.engine,
        version: described.version,
        target: described.target,
        durability: described.durability.name().to_owned(),
        durability_reason: described.durability_reason,
        settings: described.settings.into_iter().map(|setting| named(&setting.name, setting.value)).collect(),
        compile_options: described.compile_options,
    }
}

/// What the transactions get, level by level, in the terms of the report's rules.
fn isolation(engine: &dyn Engine) -> String {
    let offered = engine.capabilities().sql.map_or(&[][..], |sql| sql.isolation);
    if !engine.capabilities().concurrent_writers && offered.contains(&Isolation::Serializable) {
        return "serializable throughout: one writer at a time".to_owned();
    }
    let levels = [
        (Isolation::Serializable, "serializable"),
        (Isolation::RepeatableRead, "repeatable read"),
        (Isolation::ReadCommitted, "read committed"),
    ];
    let of = |level: Isolation| {
        let all = Transaction::ALL.into_iter().filter(move |transaction| transaction.isolation() == level);
        all.map(Transaction::name).collect::<Vec<_>>().join(", ")
    };
    let words: Vec<String> = levels.into_iter().map(|(level, name)| format!("{name}: {}", of(level))).collect();
    format!("by transaction, as the specification demands ({})", words.join("; "))
}

/// Room for the database to grow: where its file is, or in the machine's memory. None for servers, whose place we do not know.
fn free_space(target: &str) -> Option<NameValue> {
    let place = engines::sqlite_place(target)?;
    let bytes = if place == ":memory:" {
        bourse_record::MachineMemory::now()?.free_bytes
    } else {
        let folder = std::path::Path::new(place).parent().filter(|folder| !folder.as_os_str().is_empty());
        let found = rustix::fs::statvfs(folder.unwrap_or(std::path::Path::new("."))).ok()?;
        found.f_bavail * found.f_frsize
    };
    Some(named("free space", format!("{bytes} bytes")))
}

fn named(name: &str, value: String) -> NameValue {
    NameValue { name: name.to_owned(), value }
}

/// One line of live figures.
fn live(label: &str, progress: &Progress) -> String {
    let results = progress.throughput.get(Transaction::TradeResult as usize).copied();
    let all: f64 = progress.throughput.iter().sum();
    let phase = match progress.phase {
        bourse_record::PhaseKind::WarmUp => "warm-up",
        bourse_record::PhaseKind::Measurement => "measuring",
        bourse_record::PhaseKind::Drain => "drain",
    };
    let waiting = progress.queue_length.unwrap_or(0);
    let p90 = progress.response_ns.map_or_else(String::new, |[_, p90, _]| format!(", p90 {:.2} ms", p90 / 1e6));
    format!(
        "{label}  {phase} {:.0} of {:.0} s  {:.0} TR/s, {all:.0} transactions/s{p90}, {waiting} waiting",
        progress.elapsed_s.min(progress.planned_s),
        progress.planned_s,
        results.unwrap_or(0.0),
    )
}

fn run_failure(target: &str, error: &RunError) -> Failure {
    match error {
        RunError::Options(error) => Failure::usage(error.to_string()),
        RunError::Engine(error) => database::engine_failure(target, error),
        RunError::Interrupted => interrupt::interrupted("the round had not begun"),
        RunError::Refused(why) => {
            Failure::new(Exit::Target, format!("{target} does not run this round")).detail("cause", why.clone())
        }
        other => Failure::new(Exit::Target, format!("the run on {target} could not begin"))
            .detail("cause", other.to_string()),
    }
}
