//! Comparison of an engine with SQLite and with the model on the same seeded transactions: outputs, and rows of all tables.

use crate::model::Model;
use crate::testkit::{load_small, part};
use crate::transactions::Transaction;
use crate::verify::{Plan, TpceSubject, sql_subject, verify};
use bourse_egen::Inputs;
use bourse_egen::driver::Database;
use bourse_engine::{Engine, locked};
use bourse_engine_sqlite::SqliteEngine;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, Weak};
use tempfile::TempDir;

/// Loads the tests' database on each, performs `transactions` transactions and compares each output, then all tables.
pub fn transactions_are_alike(engine: &dyn Engine, transactions: u64) {
    load_small(engine, &Inputs::builtin());
    transactions_are_alike_on_loaded(engine, transactions);
}

/// SQLite's database and the model that engines are compared with.
struct References {
    inputs: Inputs,
    folder: TempDir,
    model: Model,
}

impl References {
    /// References loaded by the first of the tests that run at the same time.
    fn shared() -> Arc<Self> {
        static LOADED: Mutex<Weak<References>> = Mutex::new(Weak::new());
        let mut shared = locked(&LOADED);
        let loaded = shared.upgrade().unwrap_or_else(|| {
            let (inputs, folder) = (Inputs::builtin(), tempfile::tempdir().unwrap());
            load_small(&sqlite_in(&folder), &inputs);
            Arc::new(Self { model: Model::new(&inputs, part()), inputs, folder })
        });
        *shared = Arc::downgrade(&loaded);
        loaded
    }
}

fn sqlite_in(folder: &TempDir) -> SqliteEngine {
    bourse_engine_sqlite::open(&format!("sqlite:{}?sync=off", folder.path().join("x.db").display())).unwrap()
}

/// [`transactions_are_alike`] on an engine with the tests' database, which is loaded.
pub fn transactions_are_alike_on_loaded(engine: &dyn Engine, transactions: u64) {
    let (references, own) = (References::shared(), tempfile::tempdir().unwrap());
    std::fs::copy(references.folder.path().join("x.db"), own.path().join("x.db")).unwrap();
    let sqlite = sqlite_in(&own);
    sqlite.location().database_files().unwrap().mark().unwrap();
    let database = Database::of(1_000, 500, 1);
    let subject = |name: &str, engine: &dyn Engine| -> Box<TpceSubject> {
        Box::new(sql_subject(name, engine.session().unwrap(), database.first_free_trade()))
    };
    let mut subjects = [subject("sqlite", &sqlite), subject("engine", engine), Box::new(references.model.clone())];
    let plan = Plan { transactions, requests_per_second: 2, ..Plan::of(database) };
    let verdict = verify(&mut subjects, &references.inputs, &plan, &mut |_| ControlFlow::Continue(())).unwrap();
    if let Some(difference) = &verdict.difference {
        panic!("{difference}");
    }
    assert_eq!((verdict.transactions, verdict.digests.len()), (transactions, 33));
    let missing = verdict.missing();
    assert!(missing.iter().all(|kind| *kind == Transaction::DataMaintenance.name()), "{missing:?}");
    assert!(verdict.rows_compared > transactions, "{}", verdict.rows_compared);
}
