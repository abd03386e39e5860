//! What each durability setting really keeps: crashes of many targets in one table, and `crash.json`.

use crate::Subject;
use crate::demand::{Crash, Demand, promised};
use crate::document::Case;
use crate::laboratory::AcidError;
use crate::sampled::SampledStates;
use crate::states::StatesSection;
use crate::tests::durability::crash_once;
use bourse_engine::{Durability, Lives};
use bourse_record::{DocumentKind, Provenance, SplitMix};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Version of the document; raised when a reader of the old form would misread the new.
pub const CRASH_SCHEMA_VERSION: u32 = 2;

/// Crashes of one target after the other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CrashFile {
    /// Kind of this document.
    pub document: DocumentKind,
    /// Version of this document's form.
    pub schema_version: u32,
    /// When, how and on what it ran.
    #[serde(flatten)]
    pub provenance: Provenance,
    /// The database, in words.
    pub database: String,
    /// The targets in order.
    pub rows: Vec<CrashRow>,
    /// The states that power losses may leave of a small database, enumerated; absent where that was not asked for.
    #[serde(default)]
    pub states: Option<StatesSection>,
    /// Whether it was ended before its time: rows are missing then.
    pub interrupted: bool,
}

impl CrashFile {
    /// How many targets, and settings enumerated, broke their promise.
    pub fn broken(&self) -> usize {
        let enumerated = self.states.iter().flat_map(|states| &states.rows).filter(|row| !row.holds()).count();
        self.rows.iter().filter(|row| !row.holds()).count() + enumerated
    }

    /// How many targets and settings there are.
    pub fn tried(&self) -> usize {
        self.rows.len() + self.states.as_ref().map_or(0, |states| states.rows.len())
    }

    /// What crashes at sampled moments cannot exclude, in words; empty if there were none.
    pub fn power_of_sample(&self) -> String {
        let outcomes = self.rows.iter().flat_map(|row| [&row.killed, &row.power]).flatten();
        let Some(crashes) = outcomes.map(|outcome| outcome.crashes).max() else { return String::new() };
        let percent = 100.0 * undetected(crashes);
        format!(
            "{crashes} crashes of a kind without a loss leave room for a fault that shows in up to {percent:.0} % of crashes (95 % confidence)."
        )
    }
}

/// The largest share of crashes that may show a fault when none of so many did, with 95 % confidence.
fn undetected(crashes: u32) -> f64 {
    1.0 - 0.05_f64.powf(1.0 / f64::from(crashes.max(1)))
}

/// The JSON Schema of the document, derived from its types.
pub fn crash_file_schema() -> serde_json::Value {
    schemars::schema_for!(CrashFile).to_value()
}

/// A target, and what its crashes left.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CrashRow {
    /// The target with its options.
    pub target: String,
    /// `volatile`, `process`, `consistent` or `durable`.
    pub class: String,
    /// The settings that class follows from.
    pub class_reason: String,
    /// After its process was killed; absent where that was not tried.
    pub killed: Option<Outcome>,
    /// After the power failed; absent where that was not tried.
    pub power: Option<Outcome>,
    /// States drawn from the trace of a load; absent where that was not tried.
    #[serde(default)]
    pub sampled: Option<SampledStates>,
    /// Why something was not tried; empty if all was.
    pub not_tried: String,
}

/// What crashes of one kind left.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Outcome {
    /// How many crashes.
    pub crashes: u32,
    /// Trade-Results acknowledged before them, all together.
    pub acknowledged: u64,
    /// How many of these were gone.
    pub lost: u64,
    /// Crashes after which the database was damaged, inconsistent, or had something half-done in it.
    pub ruined: u32,
    /// The longest time from opening to the first answer, in seconds.
    pub recovery_s: f64,
    /// What is promised: `nothing`, `whole` or `everything`.
    pub promised: String,
    /// Whether that was kept.
    pub holds: bool,
    /// Each crash.
    pub cases: Vec<Case>,
}

/// The heads of the table.
pub const HEADS: [&str; 7] =
    ["target", "class", "process killed", "power lost", "drawn states", "recovery", "its promise"];

impl CrashRow {
    /// Whether everything promised was found.
    pub fn holds(&self) -> bool {
        [&self.killed, &self.power].into_iter().flatten().all(|outcome| outcome.holds)
            && self.sampled.as_ref().is_none_or(SampledStates::holds)
    }

    /// The cells of the table.
    pub fn cells(&self) -> [String; 7] {
        let cell = |outcome: &Option<Outcome>| outcome.as_ref().map_or_else(|| "not tried".to_owned(), Outcome::words);
        let recovery = [&self.killed, &self.power].into_iter().flatten().map(|it| it.recovery_s).fold(0.0, f64::max);
        let promise = match (self.killed.is_none() && self.power.is_none(), self.holds()) {
            (true, _) => self.not_tried.clone(),
            (false, true) => "kept".to_owned(),
            (false, false) => "BROKEN".to_owned(),
        };
        [
            self.target.clone(),
            self.class.clone(),
            cell(&self.killed),
            cell(&self.power),
            self.sampled.as_ref().map_or_else(|| "not tried".to_owned(), SampledStates::words),
            format!("{:.0} ms", recovery * 1e3),
            promise,
        ]
    }
}

impl Outcome {
    fn words(&self) -> String {
        let lost = format!("{} of {} lost", self.lost, self.acknowledged);
        match self.ruined {
            0 if self.lost == 0 => lost,
            0 => format!("whole, {lost}"),
            ruined => format!("ruined in {ruined} of {}, {lost}", self.crashes),
        }
    }
}

/// Crashes a target so many times in each way that can be tried.
///
/// # Errors
/// If a crash could not be brought about; what it leaves is no error.
pub fn crashed(subject: &Subject<'_>, target: &str, times: u32) -> Result<CrashRow, AcidError> {
    let mut row = CrashRow {
        target: target.to_owned(),
        class: subject.class.name().to_owned(),
        class_reason: subject.class_reason.to_owned(),
        killed: None,
        power: None,
        sampled: None,
        not_tried: String::new(),
    };
    if subject.class == Durability::Volatile {
        row.not_tried = "nothing is promised".to_owned();
        return Ok(row);
    }
    let lives = subject.engine.lives();
    if lives == Lives::Elsewhere || (lives == Lives::Here && subject.site.is_none()) {
        row.not_tried = "cannot be crashed here".to_owned();
        return Ok(row);
    }
    row.killed = Some(outcome(subject, Crash::Kill, times)?);
    match subject.site.filter(|_| lives == Lives::Here) {
        Some(site) => match site.no_power() {
            None => row.power = Some(outcome(subject, Crash::Power, times)?),
            Some(why) => row.not_tried = why,
        },
        None => row.not_tried = "its disk cannot be simulated".to_owned(),
    }
    Ok(row)
}

fn outcome(subject: &Subject<'_>, crash: Crash, times: u32) -> Result<Outcome, AcidError> {
    let mut random = SplitMix::new(subject.conduct.seed);
    let promise = promised(subject.class, crash);
    let mut all = Outcome {
        crashes: times,
        acknowledged: 0,
        lost: 0,
        ruined: 0,
        recovery_s: 0.0,
        promised: promise.word().to_owned(),
        holds: true,
        cases: Vec::new(),
    };
    for _ in 0..times {
        let crashed = crash_once(subject, crash, random.next())?;
        let (is_whole, kept_all) = (crashed.case(true, false).holds(), crashed.case(false, true).holds());
        all.acknowledged += crashed.results as u64;
        all.lost += crashed.lost as u64;
        all.ruined += u32::from(!is_whole);
        all.recovery_s = all.recovery_s.max(crashed.recovery_s);
        all.holds &= match promise {
            Demand::Nothing => true,
            Demand::Whole => is_whole,
            Demand::Everything => is_whole && kept_all,
        };
        all.cases.push(crashed.case(true, true));
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_crashes_exclude_little() {
        assert!((undetected(1) - 0.95).abs() < 1e-9);
        assert!((undetected(2) - 0.776).abs() < 1e-3);
        assert!((undetected(60) - 0.0487).abs() < 1e-3, "three over the number, where there are many");
    }
}
