//! `faults.json`: which faults an engine met, what it did, what was left, and the verdicts.

use bourse_record::{DocumentKind, Provenance};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Version of the document; raised when a reader of the old form would misread the new.
pub const FAULTS_SCHEMA_VERSION: u32 = 2;

/// Faults on one target after the other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FaultsFile {
    /// Kind of this document.
    pub document: DocumentKind,
    /// Version of this document's form.
    pub schema_version: u32,
    /// When, how and on what it ran.
    #[serde(flatten)]
    pub provenance: Provenance,
    /// Transactions that each process is given.
    pub transactions: u64,
    /// Each target with each fault, in order.
    pub rows: Vec<FaultRow>,
    /// Whether it was ended before its time: rows are missing then.
    pub interrupted: bool,
}

impl FaultsFile {
    /// How many rows have a case in which a guarantee was broken.
    pub fn broken(&self) -> usize {
        self.rows.iter().filter(|row| row.verdict() == Some(FaultVerdict::Broken)).count()
    }
}

/// The JSON Schema of the document, derived from its types.
pub fn faults_file_schema() -> serde_json::Value {
    schemars::schema_for!(FaultsFile).to_value()
}

/// By what an engine's calls are interfered with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Through {
    /// A library of ours that is loaded before the C library.
    Preload,
    /// The engine's own trait for storage.
    Storage,
}

impl Through {
    /// The word for tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Preload => "preload",
            Self::Storage => "storage",
        }
    }
}

/// A target and a fault, tried several times.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FaultRow {
    /// The target with its options, without a path.
    pub target: String,
    /// `volatile`, `process`, `consistent` or `durable`; empty if nothing was tried.
    pub class: String,
    /// The settings that class follows from.
    pub class_reason: String,
    /// By what the fault was brought about.
    pub through: Through,
    /// The fault's name.
    pub fault: String,
    /// What happens, in a line.
    pub title: String,
    /// Calls of the kind that the same work makes without a fault, in words.
    pub calls: String,
    /// Why it was not tried; empty if it was.
    pub not_tried: String,
    /// Each time it was tried.
    pub cases: Vec<FaultCase>,
}

/// One fault, as it went.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FaultCase {
    /// Which call it was meant for, from 1.
    pub nth: u64,
    /// Calls that it was done to.
    pub fired: u64,
    /// The first of them: which call, of which file, where.
    pub met: String,
    /// Transactions acknowledged.
    pub acknowledged: u64,
    /// Transactions found committed although an error had been reported for them: the engine's user takes them for failed.
    pub stood: u64,
    /// The first errors that the engine reported, in its words.
    pub errors: Vec<String>,
    /// What the engine did.
    pub conduct: Conduct,
    /// The signal that ended the process, if one did.
    pub signal: Option<i32>,
    /// What was found afterwards.
    pub left: Left,
    /// Acknowledged transactions that were not there.
    pub lost: u64,
    /// What shows that, where something is lost or wrong.
    pub evidence: String,
    /// The verdict.
    pub verdict: FaultVerdict,
}

/// What the engine did when it met the fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Conduct {
    /// It reported an error.
    Reported,
    /// It went on without an error.
    WentOn,
    /// Its process ended: by a signal, or with an exit code that nobody asked for.
    Died,
    /// It answered no more.
    Hung,
    /// Its process was killed, which was the fault.
    Killed,
    /// It did not meet the fault.
    NotMet,
}

impl Conduct {
    /// The words for tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Reported => "error",
            Self::WentOn => "went on",
            Self::Died => "died",
            Self::Hung => "hung",
            Self::Killed => "killed",
            Self::NotMet => "not met",
        }
    }
}

/// What was found when the database was opened again without a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Left {
    /// All that was acknowledged, and nothing half-done.
    Whole,
    /// A state it once was in, without the last acknowledged transactions.
    Lost,
    /// Rows of no state it ever was in, wrong data while running, or damage by the engine's own check.
    Corrupted,
    /// The engine refuses to open or to read it.
    Unreadable,
}

/// What to think of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FaultVerdict {
    /// The fault was not met: nothing is known.
    NotMet,
    /// Nothing acknowledged is lost, the database is whole.
    Ok,
    /// Something is lost, as it must be: the disk lied, or the settings promise no more.
    Expected,
    /// The database is lost, and the engine says so.
    Told,
    /// Something acknowledged is lost, or the database is corrupted, and nothing says so.
    Broken,
}

impl FaultVerdict {
    /// The word for tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NotMet => "not met",
            Self::Ok => "ok",
            Self::Expected => "expected",
            Self::Told => "told",
            Self::Broken => "BROKEN",
        }
    }
}

/// The heads of the table.
pub const HEADS: [&str; 5] = ["fault", "calls", "the engine", "afterwards", "verdict"];

impl FaultRow {
    /// The worst verdict of its cases; `None` if it was not tried.
    pub fn verdict(&self) -> Option<FaultVerdict> {
        self.cases.iter().map(|case| case.verdict).max()
    }

    /// The target with its class and how it was interfered with.
    pub fn heading(&self) -> String {
        let class = if self.class.is_empty() { String::new() } else { format!("{}, ", self.class) };
        format!("{} ({class}by {})", self.target, self.through.name())
    }

    /// The cells of the table.
    pub fn cells(&self) -> [String; 5] {
        let verdict = match self.verdict() {
            Some(verdict) => verdict.name().to_owned(),
            None => "not tried".to_owned(),
        };
        let conduct = tally(self.cases.iter().map(FaultCase::conduct_words));
        [self.title.clone(), self.calls.clone(), conduct, self.left_words(), verdict]
    }

    /// What was left in all cases.
    fn left_words(&self) -> String {
        let met = || self.cases.iter().filter(|case| case.conduct != Conduct::NotMet);
        let lost: Vec<u64> = met().filter(|case| case.left == Left::Lost).map(|case| case.lost).collect();
        let mut words = tally(met().filter(|case| case.left != Left::Lost).map(FaultCase::left_words));
        if let (Some(least), Some(most)) = (lost.iter().min(), lost.iter().max()) {
            let gap = if words.is_empty() { "" } else { ", " };
            let range = if least == most { least.to_string() } else { format!("{least} to {most}") };
            words.push_str(&format!("{gap}{}× {range} lost", lost.len()));
        }
        words
    }
}

/// Each of the words once, with how often they come where they differ.
fn tally(all: impl Iterator<Item = String>) -> String {
    let mut counted: Vec<(String, u32)> = Vec::new();
    for words in all {
        match counted.iter_mut().find(|(known, _)| *known == words) {
            Some((_, count)) => *count += 1,
            None => counted.push((words, 1)),
        }
    }
    let words = counted.iter().map(|(words, count)| format!("{count}× {words}"));
    words.collect::<Vec<_>>().join(", ")
}

impl FaultCase {
    /// What the engine did, with the signal.
    pub fn conduct_words(&self) -> String {
        match (self.conduct, self.signal) {
            (Conduct::Died, Some(signal)) => format!("died of {}", signal_name(signal)),
            (conduct, _) => conduct.name().to_owned(),
        }
    }

    /// What is left.
    pub fn left_words(&self) -> String {
        match self.left {
            Left::Whole if self.stood > 0 => "nothing lost, failed one stands".to_owned(),
            Left::Whole => "nothing lost".to_owned(),
            Left::Lost => format!("{} of {} lost", self.lost, self.acknowledged),
            Left::Corrupted => "corrupted".to_owned(),
            Left::Unreadable => "unreadable".to_owned(),
        }
    }
}

/// A signal's name, of those that end processes.
fn signal_name(signal: i32) -> String {
    match signal {
        4 => "SIGILL".to_owned(),
        6 => "SIGABRT".to_owned(),
        7 => "SIGBUS".to_owned(),
        8 => "SIGFPE".to_owned(),
        9 => "SIGKILL".to_owned(),
        11 => "SIGSEGV".to_owned(),
        15 => "SIGTERM".to_owned(),
        other => format!("signal {other}"),
    }
}
