//! A planted difference is found and reported with the value.

use super::against_sqlite::{database, inputs, sqlite};
use super::wrong_cent::WrongCent;
use crate::loaded::Copy;
use bourse_egen::Part;
use bourse_engine::{Engine as _, Result};
use bourse_engine_sqlite::SqliteEngine;
use bourse_oltp::verify::{Cell, DifferenceKind, Performance, RowKey, Subject, VerifyError, lockstep};
use bourse_schema::{Table, Timestamp};
use bourse_tpce::model::Model;
use bourse_tpce::transactions::Request;
use bourse_tpce::verify::{Difference, Plan, SqlSubject, TpceSubject, Verdict, sql_subject, verify};
use std::ops::ControlFlow;

fn part() -> Part {
    Part::whole(1_000, 1).expect("a valid part")
}

/// A subject that settles its thirty-first trade with a cent too much.
fn wrong(engine: &SqliteEngine) -> SqlSubject {
    let session = WrongCent::after(30, engine.session().expect("connects"));
    sql_subject("wrong", Box::new(session), database(part()).first_free_trade())
}

fn plan(transactions: u64) -> Plan {
    Plan { transactions, ..Plan::of(database(part())) }
}

fn found(subjects: &mut [Box<TpceSubject>], plan: &Plan) -> (Verdict, Difference) {
    let mut verdict = verify(subjects, inputs(), plan, &mut |_| ControlFlow::Continue(())).expect("runs");
    let difference = *verdict.difference.take().expect("there is a difference");
    (verdict, difference)
}

#[test]
fn a_wrong_cent_is_found_and_named_and_can_be_replayed() {
    let copy = Copy::new("wrong-cent.db");
    let mut subjects: [Box<TpceSubject>; 2] = [Box::new(wrong(&copy.engine)), Box::new(Model::new(inputs(), part()))];
    let (verdict, difference) = found(&mut subjects, &plan(5_000));
    let step = difference.step.clone().expect("not before the first transaction");
    assert_eq!(step.number, verdict.transactions + 1);
    assert!(difference.exact);
    let Request::TradeResult(input) = &step.request else { panic!("{difference}") };
    let DifferenceKind::Column { key, column, first, second } = &difference.what else { panic!("{difference}") };
    assert_eq!((key.table.name, *column), ("settlement", "se_amt"));
    assert_eq!(key.key, [Cell::Int(input.trade_id.0)]);
    let cents = |text: &str| text.replace('.', "").parse::<i64>().expect("an amount");
    assert_eq!(cents(first), cents(second) + 1);
    let told = difference.to_string();
    for needed in [
        format!("wrong and model: differ in transaction {} (Trade-Result, ", step.number),
        format!("table settlement, row se_t_id = {}, column se_amt\n", input.trade_id),
        format!("  wrong   {first}\n  model:  {second}\n"),
        "statement on wrong: INSERT INTO settlement".to_owned(),
        format!("input: {:?}", step.request),
    ] {
        assert!(told.contains(&needed), "{needed:?} is missing:\n{told}");
    }
    drop(subjects);

    let copy = Copy::new("wrong-cent-replayed.db");
    let mut subjects: [Box<TpceSubject>; 1] = [Box::new(wrong(&copy.engine))];
    let plan = plan(5_000);
    let mut stream = plan.stream(inputs()).expect("a stream");
    let go_on = &mut |_| ControlFlow::Continue(());
    let replayed = lockstep::replay(&mut subjects, &mut stream, plan.transactions, step.number, go_on);
    let replayed = replayed.expect("runs").expect("is reached");
    assert_eq!(replayed.step, step);
    let (name, performance, statements) = &replayed.subjects[0];
    assert_eq!(name, "wrong");
    assert!(performance.outcome.as_ref().is_ok_and(|answer| answer.output.get("TradeResult").is_some()));
    assert!(statements.iter().any(|ran| ran.sql.trim_start().starts_with("INSERT INTO settlement")));
}

/// Without the model, the rows that a transaction changes are unknown: the digests find the difference later.
#[test]
fn databases_alone_find_it_by_their_digests() {
    let (copy, other) = (Copy::new("wrong-cent-digested.db"), Copy::new("right-digested.db"));
    let mut subjects: [Box<TpceSubject>; 2] = [Box::new(sqlite(&other.engine, part())), Box::new(wrong(&copy.engine))];
    let (verdict, difference) = found(&mut subjects, &Plan { digest_every: 500, ..plan(5_000) });
    assert_eq!(verdict.transactions % 500, 0);
    assert!(!difference.exact);
    let DifferenceKind::Column { key, column, .. } = &difference.what else { panic!("{difference}") };
    assert_eq!((key.table.name, *column), ("settlement", "se_amt"));
    assert!(difference.to_string().contains("differ in or before transaction"), "{difference}");
}

/// A model that returns one trade's quantity wrong, and on request lacks one row from the start.
struct Liar {
    model: Model,
    lost: bool,
}

impl Subject<Request> for Liar {
    fn name(&self) -> &str {
        "liar"
    }
    fn perform(&mut self, request: &Request, now: Timestamp) -> Performance {
        let mut performance = self.model.perform(request, now);
        if let Ok(output) = performance.outcome.as_mut().map(|answer| &mut answer.output)
            && let Some(quantity) = output.pointer_mut("/TradeStatus/trades/3/trade_qty")
        {
            *quantity = (quantity.as_i64().expect("a number") + 1).into();
        }
        performance
    }
    fn row(&mut self, key: &RowKey) -> Result<Option<Vec<Cell>>> {
        self.model.row(key)
    }
    fn each_row(&mut self, table: &'static Table, each: &mut dyn FnMut(&[Cell])) -> Result<()> {
        let mut rows = 0;
        self.model.each_row(table, &mut |row| {
            rows += 1;
            if !(self.lost && table.name == "broker" && rows == 3) {
                each(row);
            }
        })
    }
}

#[test]
fn wrong_outputs_and_lost_rows_are_named() {
    let model = || Model::new(inputs(), part());
    let mut subjects: [Box<TpceSubject>; 2] = [Box::new(model()), Box::new(Liar { model: model(), lost: true })];
    let (verdict, difference) = found(&mut subjects, &plan(1_000));
    assert_eq!((verdict.transactions, &difference.step), (0, &None));
    let told = difference.to_string();
    assert!(told.starts_with("the databases differ before the first transaction\n"), "{told}");
    assert!(told.contains("table broker, row b_id = 4300000003\n"), "{told}");

    let [honest, _] = subjects;
    let mut subjects: [Box<TpceSubject>; 2] = [honest, Box::new(Liar { model: model(), lost: false })];
    let (_, difference) = found(&mut subjects, &plan(1_000));
    let step = difference.step.as_ref().expect("not before the first transaction");
    assert_eq!(step.name, "Trade-Status");
    let DifferenceKind::Output(field) = &difference.what else { panic!("{difference}") };
    assert_eq!(field.path, "TradeStatus.trades[3].trade_qty");
    let number = |text: &Option<String>| text.as_deref().and_then(|text| text.parse::<i64>().ok());
    assert_eq!(number(&field.first).map(|qty| qty + 1), number(&field.second));
}

#[test]
fn one_subject_alone_is_refused() {
    let error =
        verify(&mut [], inputs(), &plan(1), &mut |_| ControlFlow::Continue(())).expect_err("nothing to compare");
    assert!(matches!(error, VerifyError::Subjects(0)));
}
