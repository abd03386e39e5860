//! Where a document comes from, and which kind of document it is: the same head for all of them.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// When, how and on what a document's figures came about. Its fields stand among those of the document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Provenance {
    /// When it began: RFC 3339 with the machine's offset.
    pub started_at: String,
    /// How to run it again: program and arguments, without secrets.
    pub command: Vec<String>,
    /// The seed all random sequences follow from.
    pub seed: u64,
    /// The program that ran.
    pub build: Build,
    /// The machine it ran on.
    pub machine: Machine,
    /// Revision of what was measured, such as a commit of the engine, if one was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<String>,
}

/// Kinds of documents. Those written before documents said their kind are told apart by [`DocumentKind::of`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DocumentKind {
    /// A run: `run.json`.
    Run,
    /// A rerun of a published experiment: `suite.json`.
    Suite,
    /// The ACID tests of a target: `acid.json`.
    Acid,
    /// What crashes leave of databases: `crash.json`.
    Crash,
    /// What engines do about faults: `faults.json`.
    Faults,
}

impl DocumentKind {
    /// All kinds.
    pub const ALL: [Self; 5] = [Self::Run, Self::Suite, Self::Acid, Self::Crash, Self::Faults];

    /// Name of its file in the folder that a command writes.
    pub const fn file_name(self) -> &'static str {
        match self {
            Self::Run => "run.json",
            Self::Suite => "suite.json",
            Self::Acid => "acid.json",
            Self::Crash => "crash.json",
            Self::Faults => "faults.json",
        }
    }

    /// Name of the page drawn from it, in the same folder.
    pub const fn page_name(self) -> &'static str {
        match self {
            Self::Run | Self::Suite => "report.html",
            Self::Acid => "acid.html",
            Self::Crash => "crash.html",
            Self::Faults => "faults.html",
        }
    }

    /// What a JSON document is: what it says of itself, or by the keys of its kind if it is from before documents did.
    ///
    /// ```
    /// use bourse_record::DocumentKind;
    /// assert_eq!(DocumentKind::of(&serde_json::json!({ "document": "crash" })), Some(DocumentKind::Crash));
    /// assert_eq!(DocumentKind::of(&serde_json::json!({ "schema_version": 1, "tests": [] })), Some(DocumentKind::Acid));
    /// assert_eq!(DocumentKind::of(&serde_json::json!([])), None);
    /// ```
    pub fn of(document: &Value) -> Option<Self> {
        if let Some(kind) = document.get("document") {
            return serde_json::from_value(kind.clone()).ok();
        }
        let has = |key: &str| document.get(key).is_some();
        match () {
            () if has("suite_schema_version") => Some(Self::Suite),
            () if !has("schema_version") => None,
            () if has("tests") => Some(Self::Acid),
            () if has("rows") && has("transactions") => Some(Self::Faults),
            () if has("rows") => Some(Self::Crash),
            () => Some(Self::Run),
        }
    }
}

/// The program that ran.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Build {
    /// Version of Bourse.
    pub version: String,
    /// Commit of Bourse's sources, with `-modified` behind it where they were changed since. None where it is not known, as of a
    /// package.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// `release` or `debug`.
    pub profile: String,
    /// Target triple or architecture and system.
    pub target: String,
}

impl Build {
    /// Version and commit, as a person reads them: `0.1.0 (1a2b3c4d5e6f)`.
    pub fn words(&self) -> String {
        match &self.commit {
            Some(commit) => format!("{} ({commit})", self.version),
            None => self.version.clone(),
        }
    }
}

/// The machine it ran on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Machine {
    /// Operating system with kernel release.
    pub system: String,
    /// Processor model.
    pub processor: String,
    /// Processors that we may use.
    pub cores: u32,
    /// Memory, in bytes.
    pub memory_bytes: u64,
    /// Load average over one minute when the run began.
    pub load_average: Option<f64>,
    /// CPU time that the harness takes by itself for an operation, in nanoseconds, as it was calibrated before the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub harness_ns: Option<f64>,
    /// Further facts: frequency governor, virtualisation, file system of the target.
    pub details: Vec<NameValue>,
}

/// A name with its value, both as a person reads them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NameValue {
    /// Name.
    pub name: String,
    /// Value.
    pub value: String,
}
