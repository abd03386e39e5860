//! Short real runs on a database of one load unit and one day.

use crate::loaded::{Copy, engine, inputs, part};
use bourse_driver::{MS, Nanos, OpenLoop, RealClock, RoundPlan, RoundProgress, SECOND};
use bourse_engine::{Engine, RowExt as _};
use bourse_engine_sqlite::{SqliteEngine, open};
use bourse_record::{CheckStatus, Operation, Outcome};
use bourse_testkit::{HitStatements, Misbehaving};
use bourse_tpce::check::reconciliation::{LAST_TRADE, ORDERS, RESULTS};
use bourse_tpce::transactions::Transaction;
use bourse_tpce::users::{OptionsError, RunOptions, RunResult, needs, run, verify};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

pub(crate) fn options(warm_up_ns: Nanos, measure_ns: Nanos) -> RunOptions {
    RunOptions {
        users: 2,
        plan: RoundPlan { warm_up_ns, measure_ns, drain_limit_ns: 30 * SECOND, ..RoundPlan::default() },
        seed: 7,
        ..RunOptions::new(part())
    }
}

pub(crate) fn count(engine: &SqliteEngine, sql: &str) -> u64 {
    let mut found = 0;
    let mut session = engine.session().unwrap();
    session
        .query_text(sql, &[], &mut |row| {
            found = row.get(0)?;
            Ok(())
        })
        .unwrap();
    found
}

pub(crate) fn assert_sound(engine: &SqliteEngine, ran: &RunResult) {
    assert_eq!(ran.fault, None);
    let checks = verify(engine, part(), Some(ran), &RealClock::start(), &mut |_| {}).unwrap();
    let failed: Vec<_> = checks.iter().filter(|check| check.status == CheckStatus::Failed).collect();
    assert!(failed.is_empty(), "{failed:#?}");
    assert!(checks.len() > 60, "{}", checks.len());
}

/// Number of operations with this outcome, over all kinds.
fn outcomes(operations: &[Operation], outcome: Outcome) -> u64 {
    let all = operations.iter().flat_map(|operation| &operation.outcomes);
    all.filter(|found| found.outcome == outcome).map(|found| found.count).sum()
}

#[test]
fn a_run_shows_all_transactions_in_their_mix_and_leaves_sound_books() {
    let copy = Copy::new("mix.db");
    let options = options(3 * SECOND, 2 * SECOND);
    let mut seen = Vec::new();
    let mut progress = |now: &RoundProgress| seen.push(now.clone());
    let ran =
        run(&copy.engine, inputs(), &options, &RealClock::start(), &AtomicBool::new(false), &mut progress).unwrap();
    assert_sound(&copy.engine, &ran);
    let operations = &ran.round.operations;

    assert_eq!(operations.len(), Transaction::ALL.len());
    assert!(ran.round.market_age_s.is_some_and(|age_s| (2.9..4.0).contains(&age_s)), "{:?}", ran.round.market_age_s);
    let in_mix: u64 =
        operations.iter().filter(|it| it.mix_target_percent.is_some()).map(bourse_record::Operation::ended).sum();
    for operation in operations {
        let count = operation.ended();
        assert!(count > 0, "no {}", operation.name);
        if let (Some(due), Some(tolerance)) = (operation.mix_expected_percent, operation.mix_tolerance_points) {
            let share = 100.0 * count as f64 / in_mix as f64;
            // More than a report allows: two seconds on a busy machine are few, and a second's results may be on their way.
            let room = tolerance + 2.5;
            assert!((share - due).abs() <= room, "{}: {share} %, {due} ± {room}", operation.name);
        }
        assert!(operation.response.summary.max_ns >= operation.service.summary.max_ns);
    }
    let failed: Vec<_> = operations
        .iter()
        .flat_map(|operation| &operation.outcomes)
        .filter(|found| found.outcome == Outcome::Failed)
        .collect();
    assert!(failed.is_empty(), "{failed:#?}");
    // One day of trades leaves nearly every account short of fifty.
    assert!(outcomes(operations, Outcome::TooFewRows) > 100);
    assert!(outcomes(operations, Outcome::RolledBack) > 0);

    // A quotient times its divisor is not always the dividend.
    let valid = operations[Transaction::TradeResult as usize].valid() as f64;
    assert!((ran.round.headline * ran.round.measured_s - valid).abs() < 1e-6);
    assert!(seen.len() >= 3 && seen[0].throughput.len() == 12 && seen[0].queue_length.is_some());
    let fact = |name: &str| ran.round.facts.iter().find(|fact| fact.name == name).map(|fact| fact.value.as_str());
    assert!(fact("pacing").is_some() && fact("input: Trade-Order buying").is_some());
    let number = |name: &str| -> u64 { fact(name).unwrap().parse().unwrap() };
    let pending = number("limit orders pending at the end");
    assert_eq!(pending, number("limit orders placed") - number("limit orders triggered"));
    assert_eq!(pending, count(&copy.engine, "SELECT count(*) FROM trade_request"));
}

#[test]
fn every_market_order_gets_exactly_one_result() {
    let copy = Copy::new("orders.db");
    let engine = &copy.engine;
    let before = count(engine, "SELECT max(t_id) FROM trade");
    let ran =
        run(engine, inputs(), &options(0, SECOND), &RealClock::start(), &AtomicBool::new(false), &mut |_| {}).unwrap();
    assert_sound(engine, &ran);
    let new =
        |condition: &str| count(engine, &format!("SELECT count(*) FROM trade WHERE t_id > {before} AND {condition}"));
    assert!(new("t_tt_id IN ('TMB', 'TMS')") > 20);
    assert_eq!(new("t_tt_id IN ('TMB', 'TMS') AND t_st_id <> 'CMPT'"), 0, "market orders without a result");
    assert_eq!(new("t_st_id = 'SBMT'"), 0, "limit orders that were triggered and not executed");
    assert_eq!(new("t_st_id = 'CMPT'"), ran.acknowledged.sure(RESULTS));
    assert_eq!(new("1 = 1"), ran.acknowledged.sure(ORDERS));
    let twice = "SELECT count(*) FROM (SELECT th_t_id FROM trade_history WHERE th_st_id = 'CMPT' \
        GROUP BY th_t_id HAVING count(*) > 1) AS x";
    assert_eq!(count(engine, twice), 0);

    // Pending orders are canceled before the next run, which continues the trades' numbers.
    let pending = count(engine, "SELECT count(*) FROM trade_request");
    let next =
        run(engine, inputs(), &options(0, SECOND / 2), &RealClock::start(), &AtomicBool::new(false), &mut |_| {});
    let next = next.unwrap();
    assert_sound(engine, &next);
    assert_eq!(count(engine, "SELECT count(*) FROM trade WHERE t_st_id = 'CNCL'"), pending);
    assert_eq!(next.before.of(LAST_TRADE) as u64, before.max(next.before.of(LAST_TRADE) as u64));
}

#[test]
fn an_interrupted_run_is_sound_and_keeps_its_figures() {
    let copy = Copy::new("interrupted.db");
    let engine = &copy.engine;
    let interrupt = AtomicBool::new(false);
    let mut progress = |now: &RoundProgress| interrupt.store(now.elapsed_s > 0.5, Ordering::Relaxed);
    let ran = run(engine, inputs(), &options(0, 3_600 * SECOND), &RealClock::start(), &interrupt, &mut progress);
    let ran = ran.unwrap();
    assert!(ran.interrupted);
    assert!((0.5..60.0).contains(&ran.round.measured_s), "{}", ran.round.measured_s);
    assert!(ran.round.operations[Transaction::TradeStatus as usize].valid() > 10);
    assert_sound(engine, &ran);
}

#[test]
fn customers_at_a_rate_ask_so_often() {
    let copy = Copy::new("rate.db");
    let engine = &copy.engine;
    let options = RunOptions {
        open_loop: Some(OpenLoop { per_second: 100.0, evenly: false, shared: false }),
        ..options(500 * MS, 2 * SECOND)
    };
    let ran = run(engine, inputs(), &options, &RealClock::start(), &AtomicBool::new(false), &mut |_| {}).unwrap();
    assert_sound(engine, &ran);
    let market =
        [Transaction::TradeResult, Transaction::MarketFeed, Transaction::DataMaintenance, Transaction::TradeCleanup];
    let asked: u64 = Transaction::ALL
        .into_iter()
        .filter(|transaction| !market.contains(transaction))
        .map(|transaction| ran.round.operations[transaction as usize].response.summary.count)
        .sum();
    // A machine too slow for the rate reports the operations that were not started in time.
    let arrivals = ran.round.arrivals.unwrap();
    let late = arrivals.unstarted + arrivals.dropped;
    assert_eq!(arrivals.due, arrivals.started + late);
    assert!((130..=270).contains(&(asked + late)), "{asked} asked and {late} not started in 2 s");
}

#[test]
fn a_stall_is_charged_to_all_who_were_due_while_it_lasted() {
    // One statement of the second hundred takes a second. Eighty transactions are due in that time, and wait.
    let _copy = Copy::new("stalled.db");
    let engine = Misbehaving::stalling(engine("stalled.db"), HitStatements::At(400), Duration::from_secs(1));
    let options = RunOptions {
        users: 1,
        open_loop: Some(OpenLoop { per_second: 80.0, evenly: true, shared: false }),
        ..options(500 * MS, 3 * SECOND)
    };
    let ran = run(&engine, inputs(), &options, &RealClock::start(), &AtomicBool::new(false), &mut |_| {}).unwrap();
    assert_eq!(ran.fault, None);
    assert!(engine.statements() > 400, "{} statements", engine.statements());
    let longer = |of: fn(&Operation) -> &bourse_record::Distribution| -> u64 {
        let all = ran.round.operations.iter().map(|operation| of(operation).histogram().unwrap());
        all.map(|histogram| histogram.count_between(500 * MS, u64::MAX)).sum()
    };
    let (service, response) = (longer(|operation| &operation.service), longer(|operation| &operation.response));
    assert!(service >= 1, "the stalled one");
    // Half of those eighty waited for more than half a second; a machine that is busy otherwise only adds to them.
    assert!(response >= service + 20, "{response} responses and {service} services of more than half a second");
}

#[test]
fn a_rate_beyond_reach_drops_what_finds_no_room() {
    let copy = Copy::new("beyond.db");
    let open_loop = Some(RunOptions::at_rate(1e5, true));
    let options = RunOptions { open_loop, backlog: Some(20), ..options(0, SECOND) };
    assert_eq!(options.requested_rate(), Some(1e5));
    let ran = run(&copy.engine, inputs(), &options, &RealClock::start(), &AtomicBool::new(false), &mut |_| {}).unwrap();
    assert_sound(&copy.engine, &ran);
    let arrivals = ran.round.arrivals.unwrap();
    assert_eq!((arrivals.backlog_limit, arrivals.backlog_longest), (20, 10), "two users with ten each");
    let dropped = outcomes(&ran.round.operations, Outcome::Dropped);
    assert!(dropped > 500_000, "{dropped}");
    assert_eq!(dropped, arrivals.dropped);
    assert!(ran.round.operations[Transaction::TradeStatus as usize].valid() > 10);
    // Dropped transactions have the shares of the mix: 190 of 890 are Trade-Status.
    let statuses = &ran.round.operations[Transaction::TradeStatus as usize].outcomes;
    let statuses = statuses.iter().filter(|it| it.outcome == Outcome::Dropped).map(|it| it.count).sum::<u64>();
    let share = statuses as f64 / dropped as f64;
    assert!((share - 19.0 / 89.0).abs() < 0.01, "{share}");
}

#[test]
fn what_cannot_be_run_is_refused() {
    let nobody = RunOptions { users: 0, ..options(0, SECOND) };
    assert_eq!(nobody.check().unwrap_err().to_string(), "invalid number of users '0': expected 1 or more");
    let never =
        RunOptions { open_loop: Some(OpenLoop { per_second: 0.0, evenly: true, shared: false }), ..options(0, SECOND) };
    assert_eq!(never.check(), Err(OptionsError::Rate { per_second: 0.0, users: never.users }));
    assert_eq!(needs(&bourse_engine::NullEngine.capabilities()), ["tpce needs SQL"]);
    let mut capabilities = open("sqlite::memory:").unwrap().capabilities();
    assert_eq!(needs(&capabilities), [""; 0]);
    capabilities.sql.as_mut().unwrap().row_conflicts = false;
    let [why] = needs(&capabilities).try_into().unwrap();
    assert!(why.contains("two transactions that change one table"), "{why}");
}
