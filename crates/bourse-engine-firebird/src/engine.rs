//! The engine: a target, its database, opened once for all sessions, and its guarantees.

use crate::attachment::{Attachment, Parameters};
use crate::database::FirebirdDatabase;
use crate::describe;
use crate::dialect::DIALECT;
use crate::library::{FirebirdLibrary, LIBRARY};
use crate::loader::{file_loader, template};
use crate::options::{FirebirdOptions, GRAMMAR, Serializable};
use crate::session::FirebirdSession;
use bourse_engine::target::{ParsedTarget, TargetError};
use bourse_engine::{
    Capabilities, Counter, DatabaseFiles, Description, Dialect, Engine, FileFormat, FileOwner, FileUse, Footprint,
    ForReading, Guarantee, Interface, Isolation, Loader, Location, ReadCopy, Result, Session, SharedDatabase, Snapshot,
    SqlCapabilities, SqlEngine,
};
use std::path::PathBuf;
use std::sync::Arc;

static FORMAT: FileFormat = FileFormat { name: "Firebird", takes_the_lock: true, ..FileFormat::FILE };

/// Firebird database under test.
pub struct FirebirdEngine {
    target: ParsedTarget<FirebirdOptions>,
    path: PathBuf,
    /// Copy that is read in place of the database, if the target is opened for reading only.
    copy: Option<ReadCopy>,
    /// Open database; closed with its last session, so that another process can open it between rounds.
    opened: SharedDatabase<FirebirdDatabase>,
}

impl std::fmt::Debug for FirebirdEngine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FirebirdEngine").field("target", &self.target.text).finish_non_exhaustive()
    }
}

/// Parses a target; neither the library nor the disk is touched yet.
///
/// # Errors
/// [`TargetError`]: the part of the target that is wrong, and the known options.
///
/// ```
/// use bourse_engine::Engine as _;
/// let engine = bourse_engine_firebird::open("firebird:x.fdb?sync=off").unwrap();
/// assert!(engine.capabilities().concurrent_writers);
/// let refused = bourse_engine_firebird::open("firebird:x.fdb?sync=normal").unwrap_err().to_string();
/// assert!(refused.contains("expected full, off"), "{refused}");
/// ```
pub fn open(target: &str) -> Result<FirebirdEngine, TargetError> {
    let target = GRAMMAR.parse(target, FirebirdOptions::DEFAULT)?;
    let path = PathBuf::from(&target.place);
    Ok(FirebirdEngine { target, path, copy: None, opened: SharedDatabase::default() })
}

/// Counters of the engine since a database was opened (`isc_info_…`), with their names.
const COUNTERS: [(u8, &str); 4] =
    [(5, "page reads"), (6, "page writes"), (7, "page fetches from the cache"), (8, "page changes in the cache")];

/// Kinds of damage that the engine's check of a database counts (`isc_info_…`), with their names.
const FAULTS: [(u8, &str); 7] = [
    (54, "pages"),
    (55, "records"),
    (56, "pages of large objects"),
    (57, "pages of records"),
    (58, "pages of indexes"),
    (59, "pages of pointers"),
    (60, "pages of transactions"),
];

impl FirebirdEngine {
    fn library(&self) -> Result<&'static FirebirdLibrary> {
        LIBRARY.load(self.target.options.library.as_deref())
    }

    fn files(&self) -> DatabaseFiles {
        DatabaseFiles::at(&self.path, &FORMAT)
    }

    /// Database, opened at first use, and made if it does not exist.
    fn database(&self) -> Result<Arc<FirebirdDatabase>> {
        let options = &self.target.options;
        self.opened.get_or_open(false, || {
            let files = self.files();
            files.exists()?;
            let library = self.library()?;
            let path = files.open_or_make_with(template(library, options))?;
            FirebirdDatabase::in_file(library, &path, options)
        })
    }
}

impl Engine for FirebirdEngine {
    fn description(&self) -> Result<Description> {
        let database = self.database()?;
        let keeper = database.keeper();
        describe::describe(&self.target, &self.path, &keeper)
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            sql: Some(SqlCapabilities {
                isolation: match self.target.options.serializable {
                    Serializable::Tables => SqlCapabilities::ALL.isolation,
                    // A snapshot is no more than that: two transactions may each miss what the other writes.
                    Serializable::Snapshot => &[Isolation::ReadCommitted, Isolation::RepeatableRead],
                },
                ..SqlCapabilities::ALL
            }),
            guarantees: match self.target.options.serializable {
                Serializable::Tables => Guarantee::BY_LEVEL,
                Serializable::Snapshot => Guarantee::UP_TO_SNAPSHOT,
            },
            ..Capabilities::OF_SQL
        }
    }

    fn interface(&self) -> Interface<'_> {
        Interface::Sql(self)
    }

    fn location(&self) -> Location {
        Location::Files(self.files())
    }

    fn for_reading(&self) -> Result<Option<ForReading>> {
        // A database that this process has open is read as it is; a missing one is not made.
        let files = self.files();
        if files.owner()? != FileOwner::Bourse || self.copy.is_some() {
            return Ok(None);
        }
        let Some(copy) = FileUse::unless_used(files.path(), || ReadCopy::of(&files, &[])) else { return Ok(None) };
        let copy = copy?;
        let copied =
            format!("Firebird writes into each file that it opens, so a copy is read, {}", copy.path().display());
        let (target, path) = (self.target.clone(), copy.path().to_owned());
        let engine = Self { target, path, copy: Some(copy), opened: SharedDatabase::default() };
        Ok(Some(ForReading { copied: Some(copied), ..ForReading::of(engine) }))
    }

    fn for_inspection(&self) -> Result<Option<ForReading>> {
        // A copy of the whole file is too much for a look: what Firebird writes as it opens one is no data.
        Ok(None)
    }

    fn exists(&self) -> Result<bool> {
        if !self.files().exists()? {
            return Ok(false);
        }
        let tables = "SELECT count(*) FROM rdb$relations WHERE coalesce(rdb$system_flag, 0) = 0";
        Ok(self.database()?.keeper().number(tables)? > 0)
    }

    fn snapshot(&self) -> Result<Box<dyn Snapshot>> {
        let files = self.files();
        FileUse::refuse(files.path())?;
        // No other session has it open, and it is complete.
        drop(self.database()?);
        files.snapshot()
    }

    fn integrity_check(&self) -> Result<Option<Vec<String>>> {
        let files = self.files();
        if !files.exists()? || FileUse::is_used(files.path()) {
            return Ok(None);
        }
        let _use = FileUse::begin(files.path(), "firebird")?;
        let library = self.library()?;
        let checked = Attachment::open(library, files.path(), &Parameters::new(library).verify())?;
        let told = checked.numbers(&FAULTS.map(|(item, _)| item))?;
        let named = |item| FAULTS.iter().find(|(known, _)| *known == item).map_or("others", |(_, name)| *name);
        let found = told.into_iter().filter(|(_, count)| *count > 0);
        Ok(Some(found.map(|(item, count)| format!("{count} faults in {}", named(item))).collect()))
    }

    fn counters(&self) -> Result<Vec<Counter>> {
        let Some(database) = self.opened.get() else { return Ok(Vec::new()) };
        let told = database.keeper().numbers(&COUNTERS.map(|(item, _)| item))?;
        let named = |(item, count): (u8, i64)| {
            let (_, name) = COUNTERS.iter().find(|(known, _)| *known == item)?;
            Some(Counter { name: (*name).to_owned(), value: u64::try_from(count).ok()? })
        };
        Ok(told.into_iter().filter_map(named).collect())
    }

    fn footprint(&self) -> Result<Footprint> {
        const CURRENT_MEMORY: u8 = 17;
        let told = match self.opened.get() {
            Some(database) => database.keeper().numbers(&[CURRENT_MEMORY])?,
            None => Vec::new(),
        };
        let memory_bytes = told.first().and_then(|(_, bytes)| u64::try_from(*bytes).ok()).unwrap_or(0);
        Ok(Footprint::of_file(Some(&self.files()), memory_bytes))
    }
}

impl SqlEngine for FirebirdEngine {
    fn dialect(&self) -> &'static Dialect {
        &DIALECT
    }

    fn new_session(&self) -> Result<Box<dyn Session>> {
        Ok(Box::new(FirebirdSession::new(self.database()?)?))
    }

    fn confine(&self) {
        self.opened.confine();
    }

    fn interrupt_statements(&self) {
        self.opened.interrupt_statements();
    }

    fn new_loader(&self) -> Result<Box<dyn Loader>> {
        file_loader(self.library()?, &self.files(), self.target.options.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn a_target_is_not_opened_when_it_is_read() {
        let engine = open("firebird:no-such-folder/x.fdb?lock_timeout=0s").unwrap();
        assert_eq!(engine.location().file(), Some(Path::new("no-such-folder/x.fdb")));
        assert!(engine.opened.get().is_none() && engine.counters().unwrap().is_empty());
    }
}
