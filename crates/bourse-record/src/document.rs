//! The run file on disk: written whole or not at all, read with errors a person can act on, described by a schema.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

use crate::{RunFile, SCHEMA_VERSION};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::{fs, io};
use thiserror::Error;

/// A run file cannot be written or read.
#[derive(Debug, Error)]
pub enum RunFileError {
    /// The file cannot be opened or read.
    #[error("cannot read {path}: {cause}")]
    Read {
        /// Which file.
        path: PathBuf,
        /// The system's words.
        cause: io::Error,
    },
    /// The file cannot be written.
    #[error("cannot write {path}: {cause}")]
    Write {
        /// Which file.
        path: PathBuf,
        /// The system's words.
        cause: io::Error,
    },
    /// Not JSON at all, or cut off.
    #[error(
        "{path} is not JSON: {cause}\nhint: a run file is written whole; this one was cut or edited, take it from its source again"
    )]
    Json {
        /// Which file.
        path: PathBuf,
        /// What is wrong, with line and column.
        cause: serde_json::Error,
    },
    /// JSON, but not a run file.
    #[error("{path} is JSON but not a run file: {reason}\nhint: give the run.json of a run directory")]
    Foreign {
        /// Which file.
        path: PathBuf,
        /// What is missing or of another type.
        reason: String,
    },
    /// A run file of another version.
    #[error("{path} is a run file of version {found}, this program knows version {SCHEMA_VERSION}\nhint: {hint}")]
    Version {
        /// Which file.
        path: PathBuf,
        /// Its version.
        found: u64,
        /// What to do.
        hint: &'static str,
    },
}

impl RunFile {
    /// Writes the file: under another name first, so that a run file that is there is a whole one.
    ///
    /// # Errors
    /// [`RunFileError::Write`].
    pub fn write(&self, path: &Path) -> Result<(), RunFileError> {
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{}.unfinished", std::process::id()));
        let unfinished = path.with_file_name(name);
        let write = || {
            let mut file = io::BufWriter::new(fs::File::create(&unfinished)?);
            serde_json::to_writer_pretty(&mut file, self)?;
            file.write_all(b"\n")?;
            file.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
            fs::rename(&unfinished, path)
        };
        write().map_err(|cause| {
            // What could not be finished is of no use to anybody; if it cannot even be removed the first error stands.
            let _ = fs::remove_file(&unfinished);
            RunFileError::Write { path: path.to_owned(), cause }
        })
    }

    /// Reads a file.
    ///
    /// # Errors
    /// [`RunFileError`]: which file, what is wrong, what to do.
    pub fn read(path: &Path) -> Result<Self, RunFileError> {
        let bytes = fs::read(path).map_err(|cause| RunFileError::Read { path: path.to_owned(), cause })?;
        Self::parse(&bytes, path)
    }

    /// Reads the contents of a file; `path` is for the errors.
    ///
    /// # Errors
    /// [`RunFileError`]: which file, what is wrong, what to do.
    pub fn parse(bytes: &[u8], path: &Path) -> Result<Self, RunFileError> {
        let path = || path.to_owned();
        // Version first: a document of another version need not have this one's form.
        let document: serde_json::Value =
            serde_json::from_slice(bytes).map_err(|cause| RunFileError::Json { path: path(), cause })?;
        let found = document
            .get("schema_version")
            .and_then(serde_json::Value::as_u64)
            .ok_or_else(|| RunFileError::Foreign { path: path(), reason: "it has no schema_version".to_owned() })?;
        if found != u64::from(SCHEMA_VERSION) {
            let hint = if found > u64::from(SCHEMA_VERSION) {
                "read it with a newer bourse"
            } else {
                "read it with the bourse that wrote it, or run again"
            };
            return Err(RunFileError::Version { path: path(), found, hint });
        }
        serde_json::from_value(document)
            .map_err(|error| RunFileError::Foreign { path: path(), reason: error.to_string() })
    }
}

/// The JSON Schema of the run file, derived from its types.
pub fn run_file_schema() -> serde_json::Value {
    schemars::schema_for!(RunFile).to_value()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Build, Case, Check, CheckStatus, Column, Counts, Engine, Machine, NameValue, OperationSpec, Outcome, Phase,
        PhaseKind, Recorder, Round, Sample, Series, Workload,
    };

    fn example() -> RunFile {
        let specs = [OperationSpec { limit_ns: Some(9), ..OperationSpec::new("Trade-Result") }];
        let mut recorder = Recorder::new(specs.into(), |_| true);
        for ns in [5, 1_000_000, Counts::LONGEST_NS + 1] {
            let sample = Sample {
                due_ns: 1,
                start_ns: 1,
                end_ns: 1 + ns,
                back_off_ns: 0,
                retries: 0,
                count: 1,
                operation: 0,
                outcome: Outcome::Completed,
                code: 0,
                server: None,
            };
            recorder.sample(&sample, true);
        }
        let text = |text: &str| text.to_owned();
        RunFile {
            schema_version: SCHEMA_VERSION,
            name: text("tpce"),
            started_at: text("2026-11-21T09:00:00+01:00"),
            command: vec![text("bourse"), text("tpce"), text("run")],
            seed: u64::MAX,
            build: Build::of("0.1.0"),
            machine: Machine { load_average: None, ..Machine::this() },
            cases: vec![Case {
                label: text("sqlite"),
                engine: Engine {
                    name: text("sqlite"),
                    version: text("3"),
                    target: text("sqlite::memory:"),
                    durability: text("volatile"),
                    durability_reason: text("in memory"),
                    settings: vec![NameValue { name: text("journal"), value: text("memory") }],
                    compile_options: vec![],
                },
                workload: Workload {
                    name: text("tpce"),
                    parameters: vec![],
                    headline_operation: text("Trade-Result"),
                    headline_unit: text("TR/s"),
                    nominal: Some(2.0),
                    notice: None,
                },
                varied: vec![NameValue { name: text("users"), value: text("1") }],
                search: Some(crate::Search {
                    unit: text("TR/s"),
                    found: Some(90.0),
                    refuted: None,
                    confirmed: true,
                    probes: vec![crate::Probe {
                        rate: 90.0,
                        reached: 89.9,
                        measured_s: 5.0,
                        worst_of_limit: 0.2,
                        broke: vec![],
                    }],
                }),
                origin: None,
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
                        columns: vec![Column { metric: text("throughput"), values: vec![None] }],
                    },
                    closer: Series::default(),
                    cpu_user_s: 0.1,
                    cpu_system_s: 0.0,
                    read_bytes: 0,
                    written_bytes: 0,
                    io: vec![],
                    io_source: String::new(),
                    server: None,
                    taken: Some(crate::Taken { by_others: 0.25, by_kernel: 0.125, by_host: 0.0 }),
                    shared: None,
                    facts: vec![],
                    checks: vec![Check {
                        name: text("c1"),
                        words: text("it holds"),
                        source: text("Clause 7.3"),
                        status: CheckStatus::Passed,
                        evidence: text("0 rows"),
                        took_s: 0.2,
                    }],
                    warnings: vec![],
                }],
            }],
            warnings: vec![],
            interrupted: false,
        }
    }

    #[test]
    fn a_file_is_read_as_it_was_written_and_fits_the_schema() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.json");
        let run = example();
        run.write(&path).unwrap();
        assert_eq!(RunFile::read(&path).unwrap(), run);
        let names: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["run.json"], "nothing unfinished is left");

        let schema = jsonschema::validator_for(&run_file_schema()).unwrap();
        let mut document: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        let errors: Vec<_> = schema.iter_errors(&document).map(|error| error.to_string()).collect();
        assert_eq!(errors, [""; 0]);
        document["cases"][0]["rounds"][0]["headline"] = "many".into();
        assert!(!schema.is_valid(&document), "the schema must refuse words for numbers");
    }

    fn check(contents: &str, expected: &str) {
        let message = RunFile::parse(contents.as_bytes(), Path::new("x/run.json")).unwrap_err().to_string();
        assert!(message.starts_with(expected), "{message}");
        assert!(message.contains("\nhint: "), "{message}");
    }

    #[test]
    fn what_is_wrong_is_said() {
        check("", "x/run.json is not JSON: EOF while parsing a value at line 1 column 0");
        check("{\"schema_version\": 1,", "x/run.json is not JSON: EOF");
        check("[]", "x/run.json is JSON but not a run file: it has no schema_version");
        check("{\"schema_version\": 1}", "x/run.json is JSON but not a run file: missing field `name`");
        check("{\"schema_version\": 99}", "x/run.json is a run file of version 99, this program knows version 1");
        check("{\"schema_version\": 0}", "x/run.json is a run file of version 0");
        let missing = RunFile::read(Path::new("/nonexistent/run.json")).unwrap_err();
        assert!(missing.to_string().starts_with("cannot read /nonexistent/run.json: "), "{missing}");
        let unwritable = example().write(Path::new("/nonexistent/run.json")).unwrap_err();
        assert!(unwritable.to_string().starts_with("cannot write /nonexistent/run.json: "), "{unwritable}");
    }
}
