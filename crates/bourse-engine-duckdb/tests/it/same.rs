//! The same seeded transactions on DuckDB, on SQLite and on the model: equal outputs, equal rows of all tables.

use crate::in_memory;
use bourse_egen::driver::Database;
use bourse_egen::{Inputs, Part};
use bourse_engine::Engine;
use bourse_model::Model;
use bourse_tpce::load::{LoadOptions, load};
use bourse_tpce::transactions::Transaction;
use bourse_tpce::verify::{Plan, SqlSubject, Subject, verify};
use std::ops::ControlFlow;

#[test]
fn some_hundred_transactions_are_alike() {
    let Some(duckdb) = in_memory("same::some_hundred_transactions_are_alike", "") else { return };
    let sqlite = bourse_engine_sqlite::open("sqlite::memory:").unwrap();
    let inputs = Inputs::builtin();
    let part = Part::whole(1_000, 1).unwrap();
    let database = Database::of(1_000, 500, 1);
    let subject = |name: &str, engine: &dyn Engine| -> Box<dyn Subject> {
        load(engine, &inputs, part, &LoadOptions::default(), &mut |_| ControlFlow::Continue(())).unwrap();
        Box::new(SqlSubject::new(name, engine.session().unwrap(), database.first_free_trade()))
    };
    let mut subjects = [subject("sqlite", &sqlite), subject("duckdb", &duckdb), Box::new(Model::new(&inputs, part))];
    let plan = Plan { transactions: 400, requests_per_second: 2, ..Plan::of(database) };
    let verdict = verify(&mut subjects, &inputs, &plan, &mut |_| ControlFlow::Continue(())).unwrap();
    if let Some(difference) = &verdict.difference {
        panic!("{difference}");
    }
    assert_eq!((verdict.transactions, verdict.digests.len()), (400, 33));
    let missing = verdict.missing();
    assert!(missing.iter().all(|kind| *kind == Transaction::DataMaintenance), "{missing:?}");
    assert!(verdict.rows_compared > 500, "{}", verdict.rows_compared);
}
