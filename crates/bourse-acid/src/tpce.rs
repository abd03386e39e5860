//! TPC-E as the tests need it.

use crate::acknowledged::{AcknowledgementListener, AcknowledgingEngine};
use crate::crash::{USERS, load_plan};
use crate::pausable_session::HaltCommand;
use crate::scenario::Performing;
use crate::test_bed::{AcidError, TestBed, TestConfig, TxnEnvironment};
use crate::tests::{TESTS, atomicity, consistency, isolation};
use crate::{AcidSubject, AcidWorkload};
use bourse_driver::RealClock;
use bourse_egen::txn::TradeCleanup;
use bourse_egen::{Inputs, Part};
use bourse_engine::{Engine, EngineError, Result, Session, SessionExt as _};
use bourse_oltp::acid::{AcknowledgedKind, TestSpec};
use bourse_oltp::check::Check;
use bourse_record::acid::{AcidFinding, AcidTest};
use bourse_tpce::check::conditions::CONDITIONS;
use bourse_tpce::check::reconciliation::{GROWTHS, LAST_TRADE};
use bourse_tpce::check::{first_trade, holes};
use bourse_tpce::transactions::{FrameError, Output, Request, Transaction, TxnError};
use bourse_tpce::users::{self, RunOptions};
use std::sync::atomic::{AtomicBool, Ordering};

/// TPC-E on a database of that part.
#[derive(Clone, Copy)]
pub struct TpceAcid<'i> {
    /// Generator's input data, for the load that is interrupted.
    pub inputs: &'i Inputs,
    /// Part of the customers that the database was loaded with.
    pub part: Part,
}

/// Orders, and results, by the settlement that they alone write. A result is complete with all its rows: its settlement, the
/// history of its completion, its change of holdings.
const ACKNOWLEDGED: &[AcknowledgedKind] = &[
    AcknowledgedKind {
        word: "order",
        transactions: "Trade-Orders",
        things: ["trades", "trades"],
        statement: "INSERT INTO trade (",
        keys: 1,
        rows: "SELECT t_id FROM trade WHERE t_id > {last}",
    },
    AcknowledgedKind {
        word: "result",
        transactions: "Trade-Results",
        things: ["trades", "completed trades"],
        statement: "INSERT INTO settlement (",
        keys: 1,
        rows: "SELECT t_id
                 FROM trade
                      INNER JOIN settlement ON se_t_id = t_id
                      INNER JOIN trade_history ON th_t_id = t_id AND th_st_id = 'CMPT'
                WHERE t_id > {last} AND t_st_id = 'CMPT'
                  AND EXISTS (SELECT 1 FROM holding_history WHERE hh_t_id = t_id)",
    },
];

impl TpceAcid<'_> {
    fn test_bed<'e>(&self, engine: &'e dyn Engine, config: TestConfig) -> Result<TestBed<'e>, AcidError> {
        TestBed::new(engine, config, |db| TxnEnvironment::of(self.part, db))
    }
}

impl AcidWorkload for TpceAcid<'_> {
    fn tests(&self) -> &[TestSpec] {
        TESTS
    }

    fn examine(
        &self,
        subject: &AcidSubject<'_>,
        wanted: &dyn Fn(&str) -> bool,
        note: &mut dyn FnMut(AcidTest),
    ) -> Result<(), AcidError> {
        let test_bed = self.test_bed(subject.engine, subject.config)?;
        let is_over = || subject.interrupted.load(Ordering::Relaxed);
        type SingleTest = fn(&TestBed<'_>) -> AcidTest;
        let alone: [(&str, SingleTest); 4] = [
            ("A1", |test_bed| atomicity::trade_order(test_bed, false)),
            ("A2", |test_bed| atomicity::trade_order(test_bed, true)),
            ("A3", |test_bed| atomicity::undone(test_bed, "A3", HaltCommand::GiveUp)),
            ("A4", |test_bed| atomicity::undone(test_bed, "A4", HaltCommand::Vanish)),
        ];
        let isolation: [(&str, SingleTest); 4] = [
            ("I1", isolation::phantoms),
            ("I2", isolation::unrepeatable_reads),
            ("I3", isolation::dirty_writes),
            ("I4", isolation::dirty_reads),
        ];
        for (id, run) in alone {
            if wanted(id) && !is_over() {
                note(run(&test_bed));
            }
        }
        if ["C1", "C2", "C3", "C4", "C5"].into_iter().any(wanted) && !is_over() {
            let of_work = consistency::conditions(&test_bed);
            // Work that was cut short shows nothing.
            if !is_over() {
                of_work.into_iter().filter(|test| wanted(&test.id)).for_each(&mut *note);
            }
        }
        for (id, run) in isolation {
            if wanted(id) && !is_over() {
                note(run(&test_bed));
            }
        }
        Ok(())
    }

    fn conditions(&self) -> (&'static [Check], Vec<(&'static str, String)>) {
        (CONDITIONS, holes(first_trade(self.part)))
    }

    fn load(
        &self,
        engine: &dyn Engine,
        seed: u64,
        interrupt: &AtomicBool,
        listener: AcknowledgementListener,
    ) -> Result<(), String> {
        let options =
            RunOptions { users: USERS, market_users: 1, plan: load_plan(), seed, ..RunOptions::new(self.part) };
        let telling = AcknowledgingEngine::new(engine, ACKNOWLEDGED, listener);
        users::run(&telling, self.inputs, &options, &RealClock::start(), interrupt, &mut |_| {})
            .map(drop)
            .map_err(|error| error.to_string())
    }

    fn load_words(&self) -> (String, usize) {
        (format!("the whole mix, {USERS} customers, one user of the market, maintenance"), USERS + 2)
    }

    fn acknowledged(&self) -> &'static [AcknowledgedKind] {
        ACKNOWLEDGED
    }

    fn last(&self, db: &mut dyn Session) -> Result<i64> {
        Ok(GROWTHS.before(db)?.of(LAST_TRADE))
    }

    fn traces(&self, db: &mut dyn Session, last: i64, complete: usize) -> Result<Vec<AcidFinding>> {
        let mut count =
            |sql: String| -> Result<usize> { Ok(db.text_value::<i64>(&sql)?.unwrap_or(0).unsigned_abs() as usize) };
        let begun = count(format!("SELECT count(*) FROM trade WHERE t_id > {last} AND t_st_id = 'CMPT'"))?;
        let settled = count(format!("SELECT count(*) FROM settlement WHERE se_t_id > {last}"))?;
        Ok(vec![
            AcidFinding::equal("new completed trades with all their rows", &begun, &complete),
            AcidFinding::equal("settlements of new trades", &begun, &settled),
        ])
    }

    fn next_run(&self, engine: &dyn Engine, config: TestConfig) -> Result<Option<[String; 2]>, AcidError> {
        let start_trade_id = first_trade(self.part);
        let cleaned = self.test_bed(engine, config)?.run(TradeCleanup { start_trade_id })?;
        Ok(Some(["Trade-Cleanup".to_owned(), format!("status {}", cleaned.status())]))
    }
}

impl Performing for TxnEnvironment {
    type Request = Request;
    type Output = Output;
    type Error = TxnError;

    fn once(&self, db: &mut dyn Session, request: &Request) -> Result<Output, TxnError> {
        self.perform(db, request, 1).map(|performed| performed.output)
    }

    fn name(request: &Request) -> String {
        request.transaction().to_string()
    }

    fn status(output: &Output) -> (i32, String) {
        (output.status().code(), output.status().to_string())
    }

    fn examined_values(output: &Output) -> Vec<String> {
        match output {
            Output::TradeResult(result) => {
                let held = result.trade.as_ref().map(|trade| format!("hs_qty = {}", trade.hs_qty));
                let settled = [format!("se_amt = {}", result.se_amount), format!("ca_bal = {}", result.acct_bal)];
                held.into_iter().chain(settled).collect()
            }
            Output::TradeOrder(order) => {
                let estimate = order.estimate.iter().flat_map(|estimate| {
                    [format!("lt_price = {}", estimate.market_price), format!("assets = {}", estimate.acct_assets)]
                });
                order.trade_id.map(|id| format!("t_id = {id}")).into_iter().chain(estimate).collect()
            }
            Output::MarketFeed(feed) => vec![format!("prices noted = {}", feed.num_updated)],
            Output::CustomerPosition(position) => {
                let cash = |account: &bourse_tpce::transactions::customer_position::AccountPosition| {
                    format!("account {}: ca_bal = {}", account.acct_id, account.cash_bal)
                };
                position.accounts.iter().map(cash).collect()
            }
            _ => Vec::new(),
        }
    }

    fn engine_error(error: &TxnError) -> Option<&EngineError> {
        match &error.cause {
            FrameError::Engine(error) => Some(error),
            FrameError::Rows { .. } => None,
        }
    }

    fn of_engine(error: EngineError) -> TxnError {
        TxnError { transaction: Transaction::TradeResult, frame: None, attempts: 1, cause: error.into() }
    }
}
