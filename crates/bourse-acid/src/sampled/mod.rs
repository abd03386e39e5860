//! States that a power loss may leave of the whole brokerage database, drawn from a recorded load.
//!
//! The load of the crash tests works here on a copy of the database while a process records each file operation. A power loss
//! has too many possible results to enumerate, so states are drawn by number. The stored trace and a number always give the
//! same state of the same database.
//!
//! | module | what |
//! |---|---|
//! | `record` | the load, recorded |
//! | `stored` | the trace as a file, and its states as files |

mod record;
mod stored;

pub use record::LoadRecording;
pub use stored::{LoadTrace, LoadTraceError};

use crate::acknowledged::Acknowledgement;
use crate::crash::{Baseline, CrashResult, output};
use crate::demand::{CrashKind, promised};
use crate::test_bed::AcidError;
use crate::{AcidSubject, Site};
use bourse_crash::{Device, draw, points};
use bourse_engine::Durability;
use bourse_record::crash::{Guarantee, SampledState, SampledStates};
use std::path::Path;
use std::sync::atomic::Ordering;

/// Simulated disk that loses its power: with the properties that SQLite assumes.
const DEVICE: Device = Device::POWERSAFE;

/// Records a load on the site's copy, then recovers and examines states drawn from it. The trace is left in `file`.
///
/// # Errors
/// If the load could not be recorded, or its states not be written; a corrupted state is not an error.
pub fn sampled(
    subject: &AcidSubject<'_>,
    site: &dyn Site,
    target: &str,
    states: u32,
    file: &Path,
) -> Result<SampledStates, AcidError> {
    let process_error = |what: &str, error: std::io::Error| AcidError::Machinery(format!("{what}: {error}"));
    site.renew()?;
    let ended = output(&mut site.recording(target, subject.config.seed, file)?, subject.interrupted)
        .map_err(|error| process_error("the process for the recorded load could not be started", error))?;
    site.check_intercepted()?;
    if !ended.status.success() {
        let said = String::from_utf8_lossy(&ended.stderr);
        return Err(AcidError::Machinery(format!(
            "the load could not be recorded ({}): {}",
            ended.status,
            said.trim()
        )));
    }
    let bytes = std::fs::read(file).map_err(|error| process_error("the recorded trace cannot be read", error))?;
    let mut trace = LoadTrace::from_bytes(&bytes).map_err(|error| AcidError::Machinery(error.to_string()))?;
    site.renew()?;
    trace.complete(site.copy())?;
    let mut all = described(&trace, subject.class);
    for number in 1..=u64::from(states) {
        if subject.interrupted.load(Ordering::Relaxed) {
            break;
        }
        all.states.push(state(subject, site, &trace, number, None)?);
    }
    Ok(all)
}

/// Restores the state of that number on the site's copy, stores its files in a folder, and examines it.
///
/// # Errors
/// If the database is not the one that the load was recorded on, or a file cannot be written.
pub fn replay(
    subject: &AcidSubject<'_>,
    site: &dyn Site,
    trace: &mut LoadTrace,
    number: u64,
    folder: &Path,
) -> Result<SampledState, AcidError> {
    site.renew()?;
    trace.complete(site.copy())?;
    state(subject, site, trace, number, Some(folder))
}

fn state(
    subject: &AcidSubject<'_>,
    site: &dyn Site,
    trace: &LoadTrace,
    number: u64,
    keep: Option<&Path>,
) -> Result<SampledState, AcidError> {
    let drawn = draw(trace.trace(), DEVICE, trace.seed(), number);
    site.renew()?;
    trace.put(&drawn.state, site.copy())?;
    if let Some(folder) = keep {
        stored::keep(site.copy(), folder)?;
    }
    let acknowledged = usize::try_from(drawn.acknowledged).unwrap_or(usize::MAX);
    let log: &[Acknowledgement] = trace.acknowledged().get(..acknowledged).unwrap_or(trace.acknowledged());
    let crashed = CrashResult::examined(subject, site.open(), &Baseline::numbered(trace.last_trade().0), log);
    Ok(judged(number, drawn.id.to_string(), promised(subject.class, subject.may_lose, CrashKind::Power), &crashed))
}

fn judged(number: u64, state: String, promise: Guarantee, crashed: &CrashResult) -> SampledState {
    let (whole, kept) = (crashed.case(true, false), crashed.case(false, true));
    let (is_whole, has_all) = (whole.holds(), kept.holds());
    let wrong: Vec<_> = whole.findings.into_iter().chain(kept.findings).filter(|finding| !finding.holds).collect();
    SampledState {
        number,
        state,
        acknowledged: crashed.results as u64,
        lost: crashed.lost as u64,
        corrupted: !is_whole,
        broken: match promise {
            Guarantee::Nothing => false,
            Guarantee::Whole => !is_whole,
            Guarantee::Everything => !is_whole || !has_all,
        },
        wrong,
    }
}

/// Description of a trace before states of it are drawn.
fn described(trace: &LoadTrace, class: Durability) -> SampledStates {
    SampledStates {
        trace: String::new(),
        base_bytes: trace.base_bytes(),
        base_sha256: trace.base_sha256().to_owned(),
        ended: trace.ended().to_owned(),
        acknowledged: trace.acknowledged().len() as u64,
        operations: trace.trace().operations.len() as u64,
        syncs: trace.trace().syncs() as u64,
        points: points(trace.trace()).len() as u64,
        promised: promised(class, None, CrashKind::Power),
        states: Vec::new(),
    }
}
