//! The real effect of each durability setting: crashes of many targets in one table.

use crate::AcidSubject;
use crate::demand::{CrashKind, promised};
use crate::test_bed::AcidError;
use crate::tests::durability::crash_once;
use bourse_engine::{Durability, Hosting};
use bourse_record::SplitMix;
use bourse_record::crash::{CrashOutcome, CrashRow, Guarantee};

/// Crashes a target `times` times in each possible way. A server that Bourse did not start is the caller's to refuse.
///
/// # Errors
/// If a crash could not be caused; its result is never an error.
pub fn crashed(subject: &AcidSubject<'_>, target: &str, times: u32) -> Result<CrashRow, AcidError> {
    let mut row = CrashRow {
        target: target.to_owned(),
        class: subject.class,
        class_reason: subject.class_reason.to_owned(),
        killed: None,
        power: None,
        sampled: None,
        not_tried: String::new(),
    };
    if subject.class == Durability::Volatile {
        row.not_tried = "nothing is guaranteed: its durability class is volatile".to_owned();
        return Ok(row);
    }
    let is_in_process = matches!(subject.engine.hosting(), Hosting::InProcess);
    if is_in_process && subject.site.is_none() {
        row.not_tried = "Bourse cannot crash databases of this engine".to_owned();
        return Ok(row);
    }
    row.killed = Some(outcome(subject, CrashKind::Kill, times)?);
    match subject.site.filter(|_| is_in_process) {
        Some(site) => match site.no_power() {
            None => match outcome(subject, CrashKind::Power, times) {
                Err(AcidError::NotIntercepted(why)) => row.not_tried = why,
                power => row.power = Some(power?),
            },
            Some(why) => row.not_tried = why,
        },
        None => row.not_tried = "its disk cannot be simulated".to_owned(),
    }
    Ok(row)
}

fn outcome(subject: &AcidSubject<'_>, crash: CrashKind, times: u32) -> Result<CrashOutcome, AcidError> {
    let mut random = SplitMix::new(subject.config.seed);
    let promise = promised(subject.class, subject.may_lose, crash);
    let mut all = CrashOutcome {
        crashes: times,
        acknowledged: 0,
        lost: 0,
        corrupted: 0,
        recovery_s: 0.0,
        promised: promise,
        holds: true,
        cases: Vec::new(),
    };
    for _ in 0..times {
        let crashed = crash_once(subject, crash, random.next())?;
        let (is_whole, kept_all) = (crashed.case(true, false).holds(), crashed.case(false, true).holds());
        all.acknowledged += crashed.results as u64;
        all.lost += crashed.lost as u64;
        all.corrupted += u32::from(!is_whole);
        all.recovery_s = all.recovery_s.max(crashed.recovery_s);
        all.holds &= match promise {
            Guarantee::Nothing => true,
            Guarantee::Whole => is_whole,
            Guarantee::Everything => is_whole && kept_all,
        };
        all.cases.push(crashed.case(true, true));
    }
    Ok(all)
}
