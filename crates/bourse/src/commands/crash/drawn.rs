//! States drawn from recorded loads, and rebuilt from a stored trace and a number.

use crate::args::CrashArgs;
use crate::commands::acid::FileSite;
use crate::failure::{Exit, Failure, Result};
use crate::oltp::database::engine_failure;
use crate::output::{free_path, print};
use crate::tpce::database::find_database;
use crate::{engines, hold, inputs::inputs, interrupt};
use bourse_acid::sampled::{self, LoadTrace};
use bourse_acid::{AcidError, AcidSubject, TestConfig, TpceAcid};
use bourse_engine::Durability;
use bourse_record::crash::{CrashFile, CrashRow, SampledStates};
use bourse_record::regular_bytes;
use bourse_tpce::load::part_of;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Traces to be moved to the folder of their run.
#[derive(Debug)]
pub(super) struct Traces {
    folder: TempDir,
}

impl Traces {
    pub(super) fn new() -> Result<Self> {
        let folder = tempfile::tempdir()
            .map_err(|error| Failure::usage(format!("cannot make a folder for recorded traces: {error}")))?;
        Ok(Self { folder })
    }

    /// Records a load on a copy of the row's target, and draws states from its trace; does nothing for a target without
    /// power losses.
    pub(super) fn sample(
        &self,
        subject: &AcidSubject<'_>,
        row: &mut CrashRow,
        number: usize,
        states: u32,
    ) -> Result<()> {
        let Some(site) = subject.site.filter(|_| states > 0 && row.power.is_some()) else { return Ok(()) };
        let name = format!("trace-{number}.bin");
        let target = row.target.clone();
        match sampled::sampled(subject, site, &target, states, &self.folder.path().join(&name)) {
            Ok(all) => row.sampled = Some(SampledStates { trace: name, ..all }),
            Err(AcidError::NotIntercepted(why)) => row.not_tried = why,
            Err(error) => {
                return Err(Failure::new(Exit::of(error.kind()), format!("cannot draw states of {target}: {error}")));
            }
        }
        Ok(())
    }

    /// Moves the traces of a document into the run's folder, and records their paths in the document.
    pub(super) fn publish(&self, file: &mut CrashFile, folder: &Path) -> Result<()> {
        for sampled in file.rows.iter_mut().filter_map(|row| row.sampled.as_mut()) {
            let to = folder.join(&sampled.trace);
            let failed = |error| Failure::usage(format!("cannot write {}: {error}", to.display()));
            fs::copy(self.folder.path().join(&sampled.trace), &to).map_err(failed)?;
            sampled.trace = to.display().to_string();
        }
        Ok(())
    }
}

/// The trace and the number of a state's name; `None` for a name of another form.
pub(super) fn parse(name: &str) -> Option<(PathBuf, u64)> {
    let (trace, number) = name.rsplit_once('#')?;
    Some((PathBuf::from(trace), number.parse().ok()?))
}

/// Rebuilds a state and reports what it is.
pub(super) fn replay(file: &Path, number: u64, arguments: &CrashArgs) -> Result<()> {
    /// Largest trace that is read, in bytes.
    const TRACE_BYTES_MAX: u64 = 1 << 30;
    let bytes = regular_bytes(file, TRACE_BYTES_MAX)
        .map_err(|error| Failure::usage(format!("cannot read {}: {error}", file.display())))?;
    let mut trace = LoadTrace::from_bytes(&bytes).map_err(|error| {
        Failure::usage(format!("{}: {error}", file.display())).hint("expected a file trace-N.bin of a run's folder")
    })?;
    let target = trace.target().to_owned();
    let engine = engines::open(&target)?;
    let site = FileSite::of("tpce", &target, None)?
        .ok_or_else(|| Failure::usage(format!("{target} is not a database file, which rebuilding states needs")))?;
    let _held = hold::for_reading([target.as_str()])?;
    let described = engine.description().map_err(|error| engine_failure(&target, &error))?;
    let database = find_database(&target, engine.as_ref())?;
    let inputs = inputs(arguments.database.flat_in.as_deref())?;
    let interrupted = interrupt::flag()?;
    let subject = AcidSubject {
        engine: engine.as_ref(),
        workload: &TpceAcid { inputs: &inputs, part: part_of(&database.fingerprint) },
        class: described.durability,
        may_lose: described.may_lose,
        class_reason: &described.durability_reason,
        site: Some(&site),
        config: TestConfig { seed: trace.seed(), ..TestConfig::DEFAULT },
        interrupted: &interrupted,
    };
    let name = file.file_stem().unwrap_or_default().to_string_lossy();
    let folder = free_path(&arguments.output.directory.join("states").join(format!("{name}_{number}")));
    let state = sampled::replay(&subject, &site, &mut trace, number, &folder)
        .map_err(|error| Failure::usage(format!("cannot rebuild {}#{number}: {error}", file.display())))?;
    let found = bourse_report::sampled_state_words(&state);
    let mut said = format!("{}#{number} of {target}: {}: {found}\n", file.display(), state.state);
    for finding in &state.wrong {
        said.push_str(&format!("  {}: {} wanted, {} found\n", finding.what, finding.wanted, finding.found));
    }
    print(&format!("{said}files: {}\n", folder.display()))?;
    if state.broken {
        let class: Durability = subject.class;
        return Err(Failure::new(Exit::Check, format!("this state violates the guarantee of class {class}")));
    }
    Ok(())
}
