//! The trials: each fault on a database of its own, several times, and its row of the table.

use super::catalogue::{CallFault, MOST_ALLOCATIONS, moments};
use super::judge::{ProcessReport, TargetDurability, TrialObservation, judge};
use crate::test_bed::AcidError;
use bourse_crash::preload::{Call, CallCounts, CallEffect, ControlFile, Spec, Survival};
use bourse_engine::Durability;
use bourse_record::SplitMix;
use bourse_record::faults::{DataState, FaultRow};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

/// Specification of one trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TrialSpec {
    /// Fault to make; `None` for the same work without a fault.
    pub fault: Option<Spec>,
    /// Unsynced data that survives the loss of power; `None` if the power is not lost.
    pub power: Option<Survival>,
}

/// Result of one trial.
#[derive(Debug, Clone, PartialEq)]
pub struct Trial {
    /// Number of calls, by kind.
    pub counts: CallCounts,
    /// Number of processes in which calls were counted; 0 if the library could not be loaded.
    pub loaded: u64,
    /// Number of times a file of the database was mapped into memory.
    pub maps: u64,
    /// Number of calls that were hit.
    pub fired: u64,
    /// Description of the first call hit.
    pub first_hit: String,
    /// Account of the process, or the server, that did the work.
    pub work: ProcessReport,
    /// Account of the process that checked the database afterwards, without a fault.
    pub look: ProcessReport,
}

impl Trial {
    /// Reads the result of a trial from the control.
    ///
    /// # Errors
    /// If the control cannot be read, or the image of the disk is incomplete, so that the trial shows nothing.
    pub fn of(control: &ControlFile, work: ProcessReport, look: ProcessReport) -> Result<Self, AcidError> {
        let unreadable = |error: io::Error| AcidError::Machinery(format!("a trial cannot be read: {error}"));
        if let Some(why) = control.incompleteness().map_err(unreadable)? {
            return Err(AcidError::Machinery(format!("the image of the disk could not be kept: {why}")));
        }
        Ok(Self {
            counts: control.counts().map_err(unreadable)?,
            loaded: control.loaded().map_err(unreadable)?,
            maps: control.maps().map_err(unreadable)?,
            fired: control.fired().map_err(unreadable)?,
            first_hit: control.first_hit().map_err(unreadable)?,
            work,
            look,
        })
    }
}

/// Place where a target's faults are tried.
pub trait FaultBed {
    /// Target with its options, without a path.
    fn target(&self) -> &str;

    /// Durability class that the target's settings give.
    fn class(&self) -> &TargetDurability;

    /// Works on a fresh copy of the database with that fault, then checks the state left.
    ///
    /// # Errors
    /// If the trial itself could not be made; the engine's reaction is never an error.
    fn attempt(&self, spec: &TrialSpec) -> Result<Trial, AcidError>;
}

/// Tries the faults on a target: `times` of each, at calls that follow from the seed.
///
/// # Errors
/// If a trial could not be made, or the work fails without any fault.
pub fn rows(
    bed: &dyn FaultBed,
    faults: &[&'static CallFault],
    times: u32,
    seed: u64,
    interrupted: &AtomicBool,
    progress: &mut dyn FnMut(&str),
) -> Result<Vec<FaultRow>, AcidError> {
    progress("no fault");
    let is_over = || interrupted.load(Ordering::Relaxed);
    let clean = bed.attempt(&TrialSpec { fault: None, power: None });
    // An interrupted trial shows nothing, since its processes get the signal too.
    if is_over() {
        return Ok(Vec::new());
    }
    let clean = clean?;
    let lacking = if clean.loaded == 0 { Some("the preloaded library was not loaded".to_owned()) } else { None };
    if lacking.is_none() {
        works(&clean)?;
    }
    let mut all = Vec::new();
    for fault in faults {
        let mut row = untried(bed, fault, &clean);
        row.not_tried = lacking.clone().or_else(|| unmet(fault, &clean)).unwrap_or_default();
        if row.not_tried.is_empty() {
            progress(fault.title);
            let mut random = SplitMix::new(seed);
            let calls = match fault.call {
                Call::Allocate => clean.counts.of(fault.call).min(MOST_ALLOCATIONS),
                call => clean.counts.of(call),
            };
            for (at, nth) in moments(calls, times, seed ^ fault.name.len() as u64).into_iter().enumerate() {
                // Once nothing survives that was not synced; then some of it.
                let drawn = random.next();
                let survival = if at == 0 { Survival::None } else { Survival::Some(drawn) };
                let spec = TrialSpec {
                    fault: Some(Spec { call: fault.call, nth, effect: fault.effect }),
                    power: fault.loses_power.then_some(survival),
                };
                let observed = repeat_until_hit(bed, spec);
                if is_over() {
                    // A row of fewer cases would look like one that is complete.
                    return Ok(all);
                }
                let observed = observed?;
                row.cases.push(judge(fault, bed.class(), &observed));
            }
        }
        all.push(row);
    }
    Ok(all)
}

/// Repeats a trial until the fault hits a call: if threads write in the background, or nothing is closed, there may be fewer
/// calls than were counted.
fn repeat_until_hit(bed: &dyn FaultBed, mut spec: TrialSpec) -> Result<TrialObservation, AcidError> {
    const MAX_ATTEMPTS: u32 = 3;
    let mut tries = 1;
    loop {
        let nth = spec.fault.map_or(0, |fault| fault.nth);
        let Trial { fired, first_hit, work, look, .. } = bed.attempt(&spec)?;
        if fired > 0 || tries == MAX_ATTEMPTS || nth <= 1 {
            return Ok(TrialObservation { nth, fired, first_hit, work, look });
        }
        tries += 1;
        spec.fault = spec.fault.map(|fault| Spec { nth: fault.nth / 2, ..fault });
    }
}

fn untried(bed: &dyn FaultBed, fault: &CallFault, clean: &Trial) -> FaultRow {
    let class = bed.class();
    FaultRow {
        target: bed.target().to_owned(),
        class: Some(class.durability),
        class_reason: class.reason.clone(),
        fault: fault.name.to_owned(),
        title: fault.title.to_owned(),
        calls: format!("{} {}", clean.counts.of(fault.call), fault.call.plural()),
        not_tried: String::new(),
        cases: Vec::new(),
    }
}

/// Rows of a target on which no fault can be tried.
pub fn not_tried(target: &str, faults: &[&'static CallFault], why: &str) -> Vec<FaultRow> {
    let row = |fault: &&CallFault| FaultRow {
        target: target.to_owned(),
        class: None,
        class_reason: String::new(),
        fault: fault.name.to_owned(),
        title: fault.title.to_owned(),
        calls: String::new(),
        not_tried: why.to_owned(),
        cases: Vec::new(),
    };
    faults.iter().map(row).collect()
}

/// Reason that a fault cannot hit the work; `None` if it can.
fn unmet(fault: &CallFault, clean: &Trial) -> Option<String> {
    if fault.effect == CallEffect::Blind && clean.maps == 0 {
        return Some("it maps no file of its data".to_owned());
    }
    (clean.counts.of(fault.call) == 0).then(|| format!("it makes no {}", fault.call.plural()))
}

/// Checks that the work succeeds without a fault; otherwise no trial shows anything.
fn works(clean: &Trial) -> Result<(), AcidError> {
    let fault = &super::catalogue::FAULTS[0];
    let (work, look) = (clean.work.clone(), clean.look.clone());
    let seen = TrialObservation { nth: 0, fired: 1, first_hit: String::new(), work, look };
    let strictest = TargetDurability { durability: Durability::Durable, may_lose: None, reason: String::new() };
    let case = judge(fault, &strictest, &seen);
    if case.left == DataState::Whole && case.errors.is_empty() && case.acknowledged > 0 {
        return Ok(());
    }
    let errors = case.errors.join("; ");
    Err(AcidError::Machinery(format!(
        "the work does not come about even without a fault: {}, {}: {}{errors}",
        case.reaction.name(),
        case.left.name(),
        case.evidence
    )))
}
