//! Bytes of documents, written and read back, with errors that name the remedy; their JSON Schema.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

use crate::{DocumentKind, document_bytes};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Version of every document's form; raised when a reader of the previous form would misread this one.
pub const SCHEMA_VERSION: u32 = 1;

/// Error of a document that cannot be read.
#[derive(Debug, Error)]
pub enum DocumentError {
    /// The file cannot be opened or read.
    #[error("cannot read {path}: {cause}")]
    Read {
        /// Path of the file.
        path: PathBuf,
        /// Error of the system.
        cause: io::Error,
    },
    /// The file is not JSON, or truncated.
    #[error("{path} is not JSON: {cause}")]
    Json {
        /// Path of the file.
        path: PathBuf,
        /// JSON error with line and column.
        cause: serde_json::Error,
    },
    /// The file is JSON, but another document or none.
    #[error("{path} is not {}: {reason}", expected.title())]
    Foreign {
        /// Path of the file.
        path: PathBuf,
        /// Kind of document that was expected.
        expected: DocumentKind,
        /// Field that is missing or of another type.
        reason: String,
    },
    /// The document has another version.
    #[error("{path} has version {found} of its format, this program reads version {SCHEMA_VERSION}")]
    Version {
        /// Path of the file.
        path: PathBuf,
        /// Version of the file.
        found: u64,
    },
}

impl DocumentError {
    /// Remedy.
    pub fn hint(&self) -> String {
        match self {
            Self::Read { .. } => {
                "expected a folder with results of Bourse, or the document in it, as run.json".to_owned()
            }
            Self::Json { .. } => "the file was cut or edited after Bourse wrote it; restore it from a copy".to_owned(),
            Self::Foreign { expected, .. } => format!("expected a {} that Bourse wrote", expected.file_name()),
            Self::Version { found, .. } if *found > u64::from(SCHEMA_VERSION) => {
                "read it with a newer bourse".to_owned()
            }
            Self::Version { .. } => "no bourse has written such a file: take it from its source again".to_owned(),
        }
    }
}

/// A document that a command writes as JSON, from which every report is drawn.
///
/// ```
/// use bourse_record::{Document, RunFile};
/// use std::path::Path;
/// let error = RunFile::parse(b"[]", Path::new("run.json")).unwrap_err();
/// assert!(error.to_string().starts_with("run.json is not a run: it has no schema_version"));
/// ```
pub trait Document: Serialize + DeserializeOwned + JsonSchema {
    /// Kind of the document, as in its field `document`.
    const KIND: DocumentKind;

    /// Bytes of the file: indented JSON with a line end.
    fn to_json(&self) -> Vec<u8> {
        let mut bytes = serde_json::to_vec_pretty(self).expect("its maps have names for keys");
        bytes.push(b'\n');
        bytes
    }

    /// Reads a document.
    ///
    /// # Errors
    /// [`DocumentError`] with the file and the defect.
    fn read(path: &Path) -> Result<Self, DocumentError> {
        let bytes = document_bytes(path).map_err(|cause| DocumentError::Read { path: path.to_owned(), cause })?;
        Self::parse(&bytes, path)
    }

    /// Parses the contents of a document; `path` is for error messages.
    ///
    /// # Errors
    /// [`DocumentError`] with the file and the defect.
    fn parse(bytes: &[u8], path: &Path) -> Result<Self, DocumentError> {
        let path = || path.to_owned();
        let foreign = |reason| DocumentError::Foreign { path: path(), expected: Self::KIND, reason };
        let document: serde_json::Value =
            serde_json::from_slice(bytes).map_err(|cause| DocumentError::Json { path: path(), cause })?;
        // Version first: a document of another version need not have this one's form.
        let found = document
            .get("schema_version")
            .and_then(serde_json::Value::as_u64)
            .ok_or_else(|| foreign("it has no schema_version".to_owned()))?;
        if found != u64::from(SCHEMA_VERSION) {
            return Err(DocumentError::Version { path: path(), found });
        }
        match DocumentKind::of(&document) {
            Some(kind) if kind != Self::KIND => Err(foreign(format!("it is {}", kind.title()))),
            _ => match below_zero("", &document) {
                Some(figure) => Err(foreign(figure)),
                None => serde_json::from_value(document).map_err(|error| foreign(error.to_string())),
            },
        }
    }

    /// JSON Schema of the document, derived from its types.
    fn schema() -> serde_json::Value {
        schemars::schema_for!(Self).to_value()
    }
}

/// A time or a rate in a part of a document that is below 0, which Bourse writes none of.
fn below_zero(name: &str, part: &serde_json::Value) -> Option<String> {
    use serde_json::Value::{Array, Number, Object};
    const OTHERS: [&str; 8] =
        ["headline", "rate", "reached", "per_second", "seconds", "by_others", "by_kernel", "by_host"];
    match part {
        Number(number) => {
            let is_one = name.ends_with("_s") || name.ends_with("_ns") || OTHERS.contains(&name);
            (is_one && number.as_f64() < Some(0.0)).then(|| format!("{name} is {number}, below 0"))
        }
        Array(parts) => parts.iter().find_map(|part| below_zero(name, part)),
        Object(parts) => parts.iter().find_map(|(name, part)| below_zero(name, part)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Build, Case, Check, CheckStatus, Conditions, Counts, Durability, Engine, IsolationLevel, Machine, NameValue,
        OperationIsolation, OperationSpec, Outcome, Phase, PhaseKind, Provenance, Recorder, Round, RunFile, Sample,
        Scale, Series, SeriesColumn, Tunables, Warning, Workload, WorkloadKind,
    };
    use std::fs;

    fn example() -> RunFile {
        let specs = [OperationSpec { limit_ns: Some(9), ..OperationSpec::new("Trade-Result") }];
        let mut recorder = Recorder::new(specs.into(), |_| true);
        for ns in [5, 1_000_000, Counts::LONGEST_NS + 1] {
            let sample = Sample { due_ns: 1, start_ns: 1, ..Sample::new(0, Outcome::Completed, 1 + ns) };
            recorder.sample(&sample, true);
        }
        let text = |text: &str| text.to_owned();
        let provenance = Provenance {
            started_at: text("2026-11-21T09:00:00+01:00"),
            command: vec![text("bourse"), text("tpce"), text("run")],
            seed: u64::MAX,
            build: Build::of("0.1.0"),
            machine: Machine { load_average: None, ..Machine::this() },
            revision: None,
        };
        RunFile {
            cases: vec![Case {
                label: text("sqlite"),
                engine: Engine {
                    name: text("sqlite"),
                    version: text("3"),
                    target: text("sqlite::memory:"),
                    durability: Durability::Volatile,
                    may_lose: None,
                    durability_reason: text("in memory"),
                    writer_wait: None,
                    memory_store: None,
                    settings: vec![NameValue::new("journal", "memory")],
                    compile_options: vec![],
                },
                workload: Workload {
                    name: text("tpce"),
                    kind: WorkloadKind::Brokerage,
                    parameters: vec![],
                    headline_operation: Some(text("Trade-Result")),
                    headline_unit: text("TR/s"),
                    nominal: Some(2.0),
                    outcomes: Outcome::PLAIN.to_vec(),
                    per_minute: None,
                    has_lasting_rate: true,
                    metric_titles: vec![NameValue::new("queue_length", "in the queue")],
                    notice: None,
                },
                conditions: Conditions {
                    users: Some(2),
                    scale: Some(Scale { customers: 1_000, scale_factor: 500, initial_days: 10 }),
                    isolation: vec![OperationIsolation {
                        operation: text("Trade-Result"),
                        demanded: IsolationLevel::Serializable,
                        provided: IsolationLevel::Serializable,
                    }],
                    tunables: Some(Tunables::Specification),
                    free_bytes: Some(1 << 40),
                    ..Conditions::default()
                },
                varied: vec![NameValue::new("users", "1")],
                search: Some(crate::Search {
                    unit: text("TR/s"),
                    limits: vec![crate::ResponseLimit { operation: None, quantile: 0.99, limit_ns: 5 }],
                    highest_passing: Some(90.0),
                    lowest_failing: None,
                    confirmed: true,
                    probes: vec![crate::Probe {
                        rate: 90.0,
                        reached: 89.9,
                        measured_s: 5.0,
                        worst_limit_ratio: Some(0.2),
                        violations: vec![],
                        undetermined: vec![text("read: 16 operations, too few for a p99")],
                    }],
                }),
                origin: None,
                set_aside: Vec::new(),
                earlier: None,
                instructions: None,
                rounds: vec![Round {
                    offset_s: 0.5,
                    phases: vec![Phase { kind: PhaseKind::Measurement, from_s: 0.0, to_s: 1.0 }],
                    measured_s: 1.0,
                    headline: 3.0,
                    void: None,
                    operations: recorder.figures(),
                    arrivals: Some(crate::Arrivals { due: 3, started: 3, ..crate::Arrivals::default() }),
                    series: Series {
                        time_s: vec![1.0],
                        columns: vec![SeriesColumn { metric: text("throughput"), values: vec![None] }],
                    },
                    fine_series: Series::default(),
                    throughput_series: Series::default(),
                    response_map: None,
                    latency: None,
                    history: None,
                    stopping: None,
                    cpu_user_s: 0.1,
                    cpu_system_s: 0.0,
                    read_bytes: 0,
                    written_bytes: 0,
                    major_faults: 0,
                    io: vec![],
                    io_source: String::new(),
                    server: None,
                    cost_covers: None,
                    counters: Vec::new(),
                    engine_threads: Vec::new(),
                    statements: Vec::new(),
                    conflicts: Vec::new(),
                    market_age_s: None,
                    usage_late_s: None,
                    interference: Some(crate::Interference {
                        by_others: 0.25,
                        by_kernel: 0.125,
                        by_host: 0.0,
                        includes_server: false,
                    }),
                    slowdown: Some(1.0),
                    time_split: None,
                    shared: None,
                    facts: vec![],
                    checks: vec![Check {
                        name: text("c1"),
                        condition: text("it holds"),
                        source: text("Clause 7.3"),
                        status: CheckStatus::Passed,
                        evidence: text("0 rows"),
                        took_s: 0.2,
                    }],
                    warnings: vec![],
                }],
            }],
            warnings: vec![Warning::NoisyMachine { slowdown: 1.25 }],
            ..RunFile::new("tpce", provenance)
        }
    }

    #[test]
    fn a_file_is_read_as_it_was_written_and_fits_the_schema() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.json");
        let run = example();
        fs::write(&path, run.to_json()).unwrap();
        assert_eq!(RunFile::read(&path).unwrap(), run);

        let schema = jsonschema::validator_for(&RunFile::schema()).unwrap();
        let mut document: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        let errors: Vec<_> = schema.iter_errors(&document).map(|error| error.to_string()).collect();
        assert_eq!(errors, [""; 0]);
        document["cases"][0]["rounds"][0]["headline"] = "many".into();
        assert!(!schema.is_valid(&document), "the schema must refuse words for numbers");
        for (at, name) in [
            ("/cases/0/rounds/0/headline", "headline"),
            ("/cases/0/rounds/0/cpu_user_s", "cpu_user_s"),
            ("/cases/0/rounds/0/series/time_s/0", "time_s"),
        ] {
            let mut document = document.clone();
            *document.pointer_mut(at).unwrap() = (-3.5).into();
            check(&document.to_string(), &format!("x/run.json is not a run: {name} is -3.5, below 0"));
        }
    }

    fn check(contents: &str, expected: &str) {
        let error = RunFile::parse(contents.as_bytes(), Path::new("x/run.json")).unwrap_err();
        assert!(error.to_string().starts_with(expected), "{error}");
        // The advice is apart, so that no caller prints it twice.
        assert!(!error.to_string().contains("hint") && !error.hint().is_empty(), "{error}");
    }

    #[test]
    fn what_is_wrong_is_said() {
        check("", "x/run.json is not JSON: EOF while parsing a value at line 1 column 0");
        check("{\"schema_version\": 1,", "x/run.json is not JSON: EOF");
        check("[]", "x/run.json is not a run: it has no schema_version");
        check("{\"schema_version\": 1}", "x/run.json is not a run: missing field `document`");
        let other = "{\"schema_version\": 1, \"document\": \"acid\"}";
        check(other, "x/run.json is not a run: it is a report of ACID tests");
        check("{\"schema_version\": 99}", "x/run.json has version 99 of its format, this program reads version 1");
        check("{\"schema_version\": 0}", "x/run.json has version 0");
        let missing = RunFile::read(Path::new("/nonexistent/run.json")).unwrap_err();
        assert!(missing.to_string().starts_with("cannot read /nonexistent/run.json: "), "{missing}");
    }
}
