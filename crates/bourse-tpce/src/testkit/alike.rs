//! Comparison of an engine with SQLite and with the model on the same seeded transactions: outputs, and rows of all tables.

use crate::model::Model;
use crate::testkit::{load_small, part};
use crate::transactions::Transaction;
use crate::verify::{Plan, TpceSubject, sql_subject, verify};
use bourse_egen::Inputs;
use bourse_egen::driver::Database;
use bourse_engine::Engine;
use std::ops::ControlFlow;

/// Loads the tests' database on each, performs `transactions` transactions and compares each output, then all tables.
pub fn transactions_are_alike(engine: &dyn Engine, transactions: u64) {
    load_small(engine, &Inputs::builtin());
    transactions_are_alike_on_loaded(engine, transactions);
}

/// [`transactions_are_alike`] on an engine with the tests' database, which is loaded.
pub fn transactions_are_alike_on_loaded(engine: &dyn Engine, transactions: u64) {
    let sqlite = bourse_engine_sqlite::open("sqlite::memory:").unwrap();
    let inputs = Inputs::builtin();
    let database = Database::of(1_000, 500, 1);
    let subject = |name: &str, engine: &dyn Engine| -> Box<TpceSubject> {
        Box::new(sql_subject(name, engine.session().unwrap(), database.first_free_trade()))
    };
    load_small(&sqlite, &inputs);
    let mut subjects = [subject("sqlite", &sqlite), subject("engine", engine), Box::new(Model::new(&inputs, part()))];
    let plan = Plan { transactions, requests_per_second: 2, ..Plan::of(database) };
    let verdict = verify(&mut subjects, &inputs, &plan, &mut |_| ControlFlow::Continue(())).unwrap();
    if let Some(difference) = &verdict.difference {
        panic!("{difference}");
    }
    assert_eq!((verdict.transactions, verdict.digests.len()), (transactions, 33));
    let missing = verdict.missing();
    assert!(missing.iter().all(|kind| *kind == Transaction::DataMaintenance.name()), "{missing:?}");
    assert!(verdict.rows_compared > transactions, "{}", verdict.rows_compared);
}
