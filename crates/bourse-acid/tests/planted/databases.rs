//! The loaded database, and a copy of it for each bug.

use bourse_egen::driver::Database;
use bourse_egen::{Inputs, Part};
use bourse_engine::{Engine, EngineError, RowExt as _, Session};
use bourse_engine_sqlite::{SqliteEngine, open};
use bourse_testkit::{Dropping, HitStatements};
use bourse_tpce::load::{Constraints, Fingerprint, LoadError, LoadOptions, fingerprint, load};
use bourse_tpce::model::Model;
use bourse_tpce::planted::{Bug, plant};
use bourse_tpce::verify::{Script as _, Stream, Subject as _, sql_subject};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use tempfile::TempDir;

/// The smallest database, loaded once.
pub(crate) struct Databases {
    folder: PathBuf,
    right: Inputs,
    overcharged: Inputs,
    /// Model of the correct database, made when the first bug needs it.
    model: OnceLock<Model>,
}

/// A database with a bug, in a file of its own.
pub(crate) struct Copy<'d> {
    folder: TempDir,
    bug: Option<Bug>,
    pub(crate) inputs: &'d Inputs,
    databases: &'d Databases,
}

impl Databases {
    /// Databases in a folder; loaded there unless they exist.
    ///
    /// # Panics
    /// Panics if the database cannot be loaded.
    pub(crate) fn at(folder: &Path) -> Self {
        let (right, mut overcharged) = (Inputs::builtin(), Inputs::builtin());
        overcharged.overcharge();
        let this = Self { folder: folder.to_owned(), right, overcharged, model: OnceLock::new() };
        if !this.original().exists() {
            fill(&this.right, &this.original()).expect("loads");
        }
        this
    }

    fn original(&self) -> PathBuf {
        self.folder.join("original.db")
    }

    /// Copies the database for a bug: the correct one, or one that is loaded with the bug.
    pub(crate) fn copy(&self, bug: Option<Bug>) -> Result<Copy<'_>, LoadError> {
        let folder = tempfile::tempdir_in(&self.folder).expect("there is room for a folder");
        let path = folder.path().join("copy.db");
        let inputs = if bug == Some(Bug::OverchargedGenerator) { &self.overcharged } else { &self.right };
        let is_loaded_wrong = matches!(
            bug,
            Some(
                Bug::OverchargedGenerator
                    | Bug::LoaderLosesRowEarly
                    | Bug::LoaderLosesRowLate
                    | Bug::LoaderAltersPrices
            )
        );
        if is_loaded_wrong {
            let wrong = self.folder.join(format!("{}.db", bug.map_or("", Bug::name)));
            if !wrong.exists() {
                plant(bug);
                let loaded = fill(inputs, &wrong);
                plant(None);
                loaded?;
            }
            std::fs::copy(&wrong, &path).expect("it can be copied");
        } else {
            std::fs::copy(self.original(), &path).expect("it can be copied");
        }
        let copy = Copy { folder, bug, inputs, databases: self };
        let location = copy.sqlite(OPTIONS).location();
        location.database_files().expect("a file").mark().expect("it is there");
        match bug {
            Some(Bug::IndexMissing) => copy.change_indexes().expect("indexes can be changed"),
            Some(Bug::IndexIncomplete) => copy.hide_an_entry().expect("an entry can be hidden"),
            _ => {}
        }
        Ok(copy)
    }
}

/// Size of the database: one load unit, one day.
pub(crate) fn part() -> Part {
    Part::whole(1_000, 1).expect("a valid part")
}

/// Description of the database for the emulators.
pub(crate) fn database() -> Database {
    let part = part();
    Database::of(part.total_customers(), part.scale_factor(), part.days())
}

fn target(path: &Path, options: &str) -> String {
    format!("sqlite:{}?{options}", path.display())
}

fn fill(inputs: &Inputs, path: &Path) -> Result<(), LoadError> {
    let engine = open(&target(path, "journal=delete")).expect("a valid target");
    load(&engine, inputs, part(), &LoadOptions::default(), &mut |_| ControlFlow::Continue(())).map(drop)
}

/// Options that the database is opened with, which declare full durability.
const OPTIONS: &str = "journal=wal&sync=full";
/// Options with the bug of a missing sync.
const WITHOUT_SYNC: &str = "journal=wal&sync=off";

impl Copy<'_> {
    fn path(&self) -> PathBuf {
        self.folder.path().join("copy.db")
    }

    fn sqlite(&self, options: &str) -> SqliteEngine {
        open(&target(&self.path(), options)).expect("a valid target")
    }

    /// The engine without a bug.
    pub(crate) fn right_engine(&self) -> SqliteEngine {
        self.sqlite(OPTIONS)
    }

    /// The engine with the bug, if it is one of the engine.
    pub(crate) fn engine(&self) -> Box<dyn Engine> {
        match self.bug {
            Some(Bug::SyncOff) => Box::new(self.sqlite(WITHOUT_SYNC)),
            Some(Bug::WriteLost) => {
                Box::new(Dropping::new(self.right_engine(), HitStatements::Every(20)).only("UPDATE holding_summary"))
            }
            _ => Box::new(self.right_engine()),
        }
    }

    /// Model of the database by its inputs.
    pub(crate) fn model(&self) -> Model {
        match self.bug {
            Some(Bug::OverchargedGenerator) => Model::new(self.inputs, part()),
            _ => self.databases.model.get_or_init(|| Model::new(self.inputs, part())).clone(),
        }
    }

    /// Leaves the traces of a killed run: orders submitted and never executed.
    pub(crate) fn leave_orders(&self) {
        let database = database();
        let engine = self.right_engine();
        let session = engine.session().expect("connects");
        let mut subject = sql_subject("sqlite", session, database.first_free_trade());
        let mut stream = Stream::new(self.inputs, database, 2, 50).expect("a valid database");
        for _ in 0..300 {
            let step = stream.next_step();
            let performed = subject.perform(&step.request, step.now);
            stream.take(&performed.sent).expect("orders name securities of the database");
        }
    }

    /// Fingerprint of the database's input data, as passed to `run`.
    pub(crate) fn fingerprint(&self) -> Fingerprint {
        fingerprint(&self.right_engine(), self.inputs, part(), Constraints::Full).expect("a SQL engine")
    }

    fn change_indexes(&self) -> Result<(), EngineError> {
        let mut session = self.right_engine().session()?;
        for statement in [
            "DROP INDEX trade_by_account",
            "DROP INDEX holding_by_account",
            "CREATE INDEX extra ON trade (t_exec_name)",
        ] {
            session.execute_text(statement, &[])?;
        }
        Ok(())
    }

    /// Makes an index point to a value that its row no longer has: the row is changed back while the index is hidden.
    fn hide_an_entry(&self) -> Result<(), EngineError> {
        const INDEX: &str = "trade_by_account";
        const ROW: &str = "WHERE t_id = (SELECT max(t_id) FROM trade)";
        let mut session = self.right_engine().session()?;
        let session = &mut *session;
        let rootpage = number(session, &format!("SELECT rootpage FROM sqlite_schema WHERE name = '{INDEX}'"))?;
        let sql = text(session, &format!("SELECT sql FROM sqlite_schema WHERE name = '{INDEX}'"))?;
        session.execute_text(&format!("UPDATE trade SET t_dts = t_dts + 1 {ROW}"), &[])?;
        session.execute_text("PRAGMA writable_schema = ON", &[])?;
        session.execute_text(&format!("DELETE FROM sqlite_schema WHERE name = '{INDEX}'"), &[])?;
        // Another connection does not know the index.
        let mut other = self.right_engine().session()?;
        other.execute_text(&format!("UPDATE trade SET t_dts = t_dts - 1 {ROW}"), &[])?;
        other.execute_text("PRAGMA writable_schema = ON", &[])?;
        let insert = format!(
            "INSERT INTO sqlite_schema (type, name, tbl_name, rootpage, sql)
             VALUES ('index', '{INDEX}', 'trade', {rootpage}, '{sql}')"
        );
        other.execute_text(&insert, &[])?;
        Ok(())
    }
}

fn number(session: &mut dyn Session, sql: &str) -> Result<i64, EngineError> {
    let mut found = 0;
    session.query_text(sql, &[], &mut |row| {
        found = row.get(0)?;
        Ok(())
    })?;
    Ok(found)
}

fn text(session: &mut dyn Session, sql: &str) -> Result<String, EngineError> {
    let mut found = String::new();
    session.query_text(sql, &[], &mut |row| {
        found = row.get(0)?;
        Ok(())
    })?;
    Ok(found)
}
