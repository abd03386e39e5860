//! Provenance and kind of a document: the head that all documents share.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

use crate::NameValue;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Provenance of a document's figures. Its fields are written at the document's top level.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Provenance {
    /// Start of the run: RFC 3339 with the machine's offset.
    pub started_at: String,
    /// Command line that repeats the run: program and arguments, without secrets.
    pub command: Vec<String>,
    /// Seed of all random sequences.
    pub seed: u64,
    /// Build of the program that ran.
    pub build: Build,
    /// The machine it ran on.
    pub machine: Machine,
    /// Revision of what was measured, such as a commit of the engine, if one was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<String>,
}

/// Kinds of documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DocumentKind {
    /// A run: `run.json`.
    Run,
    /// A rerun of a published experiment: `suite.json`.
    Suite,
    /// The ACID tests of a target: `acid.json`.
    Acid,
    /// Crash tests of databases: `crash.json`.
    Crash,
    /// Fault tests of engines: `faults.json`.
    Faults,
}

impl DocumentKind {
    /// All kinds.
    pub const ALL: [Self; 5] = [Self::Run, Self::Suite, Self::Acid, Self::Crash, Self::Faults];

    /// Names of its file and of the page drawn from it, and its title.
    const fn names(self) -> [&'static str; 3] {
        match self {
            Self::Run => ["run.json", "report.html", "a run"],
            Self::Suite => ["suite.json", "report.html", "a suite's document"],
            Self::Acid => ["acid.json", "acid.html", "a report of ACID tests"],
            Self::Crash => ["crash.json", "crash.html", "a report of crash tests"],
            Self::Faults => ["faults.json", "faults.html", "a report of fault tests"],
        }
    }

    /// Name of its file in the folder that a command writes.
    pub const fn file_name(self) -> &'static str {
        self.names()[0]
    }

    /// Name of the page drawn from it, in the same folder.
    pub const fn page_name(self) -> &'static str {
        self.names()[1]
    }

    /// Title with its article, as messages name it.
    pub const fn title(self) -> &'static str {
        self.names()[2]
    }

    /// Kind of a JSON document by its field `document`; `None` without one.
    ///
    /// ```
    /// use bourse_record::DocumentKind;
    /// assert_eq!(DocumentKind::of(&serde_json::json!({ "document": "crash" })), Some(DocumentKind::Crash));
    /// assert_eq!(DocumentKind::of(&serde_json::json!([])), None);
    /// ```
    pub fn of(document: &Value) -> Option<Self> {
        serde_json::from_value(document.get("document")?.clone()).ok()
    }
}

/// Build of the program that ran.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Build {
    /// Version of Bourse.
    pub version: String,
    /// Commit of Bourse's sources, with `-modified` appended if they were changed. `None` if unknown, as in a package.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// `release` or `debug`.
    pub profile: String,
    /// Target triple or architecture and system.
    pub target: String,
}

impl Build {
    /// Version and commit for display: `0.1.0 (1a2b3c4d5e6f)`.
    pub fn words(&self) -> String {
        match &self.commit {
            Some(commit) => format!("{} ({commit})", self.version),
            None => self.version.clone(),
        }
    }
}

/// The machine that the run was on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Machine {
    /// Operating system with kernel release.
    pub system: String,
    /// Processor model.
    pub processor: String,
    /// Processors available to this process.
    pub cores: u32,
    /// Memory, in bytes.
    pub memory_bytes: u64,
    /// Load average over one minute when the run began.
    pub load_average: Option<f64>,
    /// CPU time of the harness for one operation in nanoseconds, calibrated before the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub harness_ns: Option<f64>,
    /// Further facts: frequency governor, virtualisation, file system of the target.
    pub details: Vec<NameValue>,
}
