//! Copies of databases of a person's own, with which rounds begin: made once for all rounds, removed with the command.

use crate::engines;
use crate::failure::{Exit, Failure, Result};
use crate::plan::{Job, Plan, PlannedCase};
use crate::progress::ProgressStep;
use crate::work_folder::WorkFolder;
use bourse_engine::{EngineError, ErrorKind, INVENTORY};
use bourse_engine_sqlite::{StoredDatabase, copy_database};
use bourse_verdict::units::printable;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Longest wait for a database that another program has locked.
const PATIENCE: Duration = Duration::from_secs(10);

/// A copy of a database, removed with this value.
pub(crate) struct DatabaseCopy {
    path: PathBuf,
    _folder: WorkFolder,
}

impl DatabaseCopy {
    /// Copies a database, which other programs may use meanwhile.
    pub(crate) fn of(from: &Path) -> Result<Self> {
        let shown = printable(&from.display().to_string());
        let folder = WorkFolder::new("bourse-copy-", &std::env::temp_dir()).map_err(|error| {
            Failure::usage(format!("cannot make a folder for a copy of {shown}")).detail("cause", error.to_string())
        })?;
        let path = folder.path().join("copy.db");
        let step = ProgressStep::waiting(format!("copying {shown}"));
        // A schema that this version of SQLite cannot read shows here.
        let copied = copy_database(from, &path, PATIENCE).and_then(|()| StoredDatabase::open(&path)?.objects());
        step.end(&copied);
        let objects = copied.map_err(|error| failure(&shown, &error))?;
        if objects.iter().any(|object| object.name == INVENTORY) {
            return Err(Failure::usage(format!("{shown} was made by Bourse")).hint(
                "--from names a database of your own; the workload that made this one runs on it without --from",
            ));
        }
        Ok(Self { path, _folder: folder })
    }

    /// Path of the copy.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

/// Whether two paths lead to one file that exists.
pub(crate) fn is_same_file(one: &Path, other: &Path) -> bool {
    one.canonicalize().is_ok_and(|one| other.canonicalize().is_ok_and(|other| one == other))
}

/// Failure of copying or reading a database.
pub(crate) fn failure(from: &str, error: &EngineError) -> Failure {
    let exit = if error.kind() == ErrorKind::Conflict { Exit::Target } else { Exit::Usage };
    let code = error.code().map(|code| format!(" ({code})")).unwrap_or_default();
    let failure =
        Failure::new(exit, format!("cannot copy {from}")).detail("cause", format!("{}{code}", error.message()));
    match (error.kind(), error.code()) {
        (ErrorKind::Conflict, _) => failure.hint("another program has it locked: try again once that has committed"),
        (ErrorKind::Full, _) => failure.hint("TMPDIR names another folder for the copy"),
        (_, Some("SQLITE_NOTADB")) => {
            failure.hint("it is no database of SQLite, or it is encrypted: name a decrypted copy")
        }
        (_, Some("SQLITE_READONLY_ROLLBACK")) => failure
            .hint("a program ended while it wrote: open the database with it, or with sqlite3, which undoes the rest"),
        (_, Some("SQLITE_CORRUPT" | "SQLITE_ERROR")) => {
            let version = bourse_engine_sqlite::info().map_or("", |info| info.version);
            failure.hint(format!("Bourse reads it with SQLite {version}"))
        }
        _ => failure,
    }
}

/// The copies of a plan's cases.
pub(super) struct OwnCopies(BTreeMap<String, DatabaseCopy>);

impl OwnCopies {
    /// Makes the copies.
    pub(super) fn of(plan: &Plan) -> Result<Self> {
        let mut copies = BTreeMap::new();
        for case in plan.run_cases() {
            let Job::Classic(job) = &case.job else { continue };
            let Some(from) = job.from() else { continue };
            if engines::location(&case.target)?.file().is_some_and(|target| is_same_file(target, Path::new(from))) {
                return Err(Failure::usage(format!("{} is the database of --from, which is only read", case.target))
                    .hint("name a file that does not exist as the target"));
            }
            if !copies.contains_key(from) {
                copies.insert(from.to_owned(), DatabaseCopy::of(Path::new(from))?);
            }
        }
        Ok(Self(copies))
    }

    /// The case with its copy.
    pub(super) fn with_copy(&self, case: &PlannedCase) -> PlannedCase {
        let mut case = case.clone();
        if let Job::Classic(job) = &mut case.job {
            job.copy = job.from().and_then(|from| self.0.get(from)).map(|copy| copy.path.display().to_string());
        }
        case
    }
}
