//! What all tests share: the engine, the world around its transactions, random accounts, and a session to look with.

use crate::scenario::Scenario;
use bourse_driver::{Clock as _, RealClock};
use bourse_egen::txn::{self, TradeRequest};
use bourse_egen::{Part, TradeType};
use bourse_engine::{Engine, EngineError, ErrorKind, FromValue, Row, RowExt as _, Session};
use bourse_record::SplitMix;
use bourse_schema::{AccountId, Balance, BrokerId, CustomerId, Price, Quantity, Symbol, Text, Timestamp, TradeId};
use bourse_tpce::transactions::{Context, FrameError, Output, Performed, Request, Retry, TradeIds, TxnError, perform};
use std::cell::RefCell;
use std::path::Path;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use std::{fs, io};

/// Why a test could not be carried out.
#[derive(Debug, Clone, thiserror::Error)]
pub enum AcidError {
    /// The engine refused.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// A transaction failed that must not.
    #[error(transparent)]
    Transaction(#[from] TxnError),
    /// A frame could not do its work.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// A session did not come to where it should.
    #[error("{session} did not {what} within {} s{}", limit.as_secs(), inside(statement.as_deref()))]
    Stuck {
        /// The session that is stuck.
        session: String,
        /// What it should have done.
        what: String,
        /// How long it was given.
        limit: Duration,
        /// The statement it was in.
        statement: Option<String>,
    },
    /// The tests are about sessions that meet.
    #[error("the tests need several sessions at once, and a second one is refused: {0}")]
    OneSession(EngineError),
    /// The database has nothing that the test could be tried on.
    #[error("the database has no {0}")]
    Lacking(&'static str),
    /// The machinery around the engine failed.
    #[error("{0}")]
    Machinery(String),
}

fn inside(statement: Option<&str>) -> String {
    statement.map_or_else(String::new, |statement| format!("; it is in: {statement}"))
}

/// How the tests are carried out.
#[derive(Debug, Clone, Copy)]
pub struct TestConfig {
    /// Where accounts and securities are drawn from.
    pub seed: u64,
    /// How often each isolation test is tried, with each of its endings.
    pub repeats: u32,
    /// How long a session may take before it counts as one that waits, where the engine does not count waits itself.
    pub patience: Duration,
}

impl TestConfig {
    /// Ten accounts, and half a second of patience.
    pub const DEFAULT: Self = Self { seed: 1, repeats: 10, patience: Duration::from_millis(500) };
}

/// The world around transactions; sessions on other threads share it.
pub(crate) struct World {
    trade_ids: TradeIds,
    /// Moves on by a millisecond with each look, so that no two moments are the same.
    now_ms: AtomicI64,
    sent: Mutex<Vec<TradeRequest>>,
}

impl World {
    /// Runs a transaction, tried `attempts` times at most.
    pub(crate) fn perform(
        &self,
        db: &mut dyn Session,
        request: &Request,
        attempts: u32,
    ) -> Result<Performed, TxnError> {
        let now = || Timestamp::from_millis(self.now_ms.fetch_add(1, Ordering::Relaxed));
        let send = |order: &TradeRequest| self.sent.lock().unwrap_or_else(PoisonError::into_inner).push(*order);
        let back_off = |attempt: u32| std::thread::sleep(Duration::from_millis(u64::from(attempt)));
        let retry = Retry { attempts, back_off: &back_off };
        let context = Context { now: &now, trade_ids: &self.trade_ids, market: &send, retry };
        perform(db, &context, request)
    }

    /// Orders sent to the market since this was last asked.
    pub(crate) fn sent(&self) -> Vec<TradeRequest> {
        std::mem::take(&mut *self.sent.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// An account with the people of it.
#[derive(Debug, Clone)]
pub(crate) struct Owner {
    pub(crate) account: AccountId,
    pub(crate) customer: CustomerId,
    pub(crate) broker: BrokerId,
    first_name: Text<20>,
    last_name: Text<25>,
    tax_id: Text<20>,
}

/// A security with its last price.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Listed {
    pub(crate) symbol: Symbol,
    pub(crate) price: Price,
}

/// The engine under test with all that a test needs.
pub(crate) struct TestBed<'e> {
    pub(crate) engine: &'e dyn Engine,
    pub(crate) part: Part,
    pub(crate) config: TestConfig,
    pub(crate) world: Arc<World>,
    random: RefCell<SplitMix>,
    observer: RefCell<Box<dyn Session>>,
}

impl<'e> TestBed<'e> {
    pub(crate) fn new(
        engine: &'e dyn Engine,
        part: Part,
        first_free: TradeId,
        config: TestConfig,
    ) -> Result<Self, AcidError> {
        let mut observer = engine.session()?;
        let world = World {
            trade_ids: TradeIds::following(&mut *observer, first_free)?,
            now_ms: AtomicI64::new(RealClock::start().timestamp().millis()),
            sent: Mutex::default(),
        };
        Ok(Self {
            engine,
            part,
            config,
            world: Arc::new(world),
            random: RefCell::new(SplitMix::new(config.seed)),
            observer: RefCell::new(observer),
        })
    }

    /// A case in which sessions meet.
    pub(crate) fn scenario(&self) -> Scenario<'_> {
        Scenario::new(self)
    }

    pub(crate) fn below(&self, n: i64) -> i64 {
        self.random.borrow_mut().below(n.unsigned_abs()) as i64
    }

    /// All rows of a query, read by the session that only looks.
    pub(crate) fn rows<T>(
        &self,
        sql: &str,
        mut read: impl FnMut(&dyn Row) -> Result<T, EngineError>,
    ) -> Result<Vec<T>, EngineError> {
        let mut found = Vec::new();
        self.observer.borrow_mut().query_text(sql, &[], &mut |row| {
            found.push(read(row)?);
            Ok(())
        })?;
        Ok(found)
    }

    /// The one value of a query; nothing of no rows.
    pub(crate) fn value<T: FromValue>(&self, sql: &str) -> Result<Option<T>, EngineError> {
        Ok(self.rows(sql, |row| row.get(0))?.into_iter().next())
    }

    /// A number, 0 if there is none.
    pub(crate) fn number(&self, sql: &str) -> Result<i64, EngineError> {
        Ok(self.value(sql)?.unwrap_or_default())
    }

    /// Money, nothing if there is none.
    pub(crate) fn money(&self, sql: &str) -> Result<Balance, EngineError> {
        Ok(self.value(sql)?.unwrap_or_default())
    }

    /// With the session that only looks, while nobody else is at work.
    pub(crate) fn with_observer<T>(&self, ask: impl FnOnce(&mut dyn Session) -> T) -> T {
        ask(&mut **self.observer.borrow_mut())
    }

    /// Runs a transaction alone, which must not fail.
    pub(crate) fn run(&self, request: impl Into<Request>) -> Result<Output, AcidError> {
        let request = request.into();
        let performed = self.with_observer(|db| self.world.perform(db, &request, 10))?;
        Ok(performed.output)
    }

    /// How often the engine has made somebody wait, where it counts that.
    pub(crate) fn lock_waits(&self) -> u64 {
        self.engine.footprint().ok().and_then(|footprint| footprint.locks).map_or(0, |locks| locks.waits)
    }

    /// A random account.
    pub(crate) fn owner(&self) -> Result<Owner, AcidError> {
        let customer = bourse_egen::ids::SHIFT + self.part.first_customer() + self.below(self.part.customers());
        let sql = format!(
            "SELECT ca_id, ca_c_id, ca_b_id, c_f_name, c_l_name, c_tax_id
               FROM customer_account INNER JOIN customer ON c_id = ca_c_id
              WHERE ca_c_id = {customer}
              ORDER BY ca_id"
        );
        let mut owners = self.rows(&sql, |row| {
            Ok(Owner {
                account: row.get(0)?,
                customer: row.get(1)?,
                broker: row.get(2)?,
                first_name: row.get(3)?,
                last_name: row.get(4)?,
                tax_id: row.get(5)?,
            })
        })?;
        if owners.is_empty() {
            return Err(AcidError::Lacking("customer with an account"));
        }
        let which = self.below(owners.len() as i64) as usize;
        Ok(owners.swap_remove(which))
    }

    /// A random security of which the account holds nothing.
    pub(crate) fn unheld(&self, owner: &Owner) -> Result<Listed, AcidError> {
        self.listed(
            &format!(
                "FROM security INNER JOIN last_trade ON lt_s_symb = s_symb
                WHERE NOT EXISTS (SELECT 1 FROM holding_summary
                                   WHERE hs_ca_id = {} AND hs_s_symb = s_symb)",
                owner.account
            ),
            "security that the account does not hold",
        )
    }

    /// A random security that the account holds.
    pub(crate) fn held(&self, owner: &Owner) -> Result<Listed, AcidError> {
        self.listed(
            &format!(
                "FROM holding_summary
                     INNER JOIN security ON s_symb = hs_s_symb
                     INNER JOIN last_trade ON lt_s_symb = s_symb
                WHERE hs_ca_id = {}",
                owner.account
            ),
            "security that the account holds",
        )
    }

    /// A random account that holds something.
    pub(crate) fn holder(&self) -> Result<(Owner, Listed), AcidError> {
        for _ in 0..100 {
            let owner = self.owner()?;
            match self.held(&owner) {
                Err(AcidError::Lacking(_)) => {}
                held => return Ok((owner, held?)),
            }
        }
        Err(AcidError::Lacking("account that holds something"))
    }

    fn listed(&self, from: &str, what: &'static str) -> Result<Listed, AcidError> {
        let count = self.number(&format!("SELECT count(*) {from}"))?;
        let sql = format!("SELECT s_symb, lt_price {from} ORDER BY s_symb LIMIT 1 OFFSET {}", self.below(count));
        let found = self.rows(&sql, |row| Ok(Listed { symbol: row.get(0)?, price: row.get(1)? }))?;
        found.into_iter().next().ok_or(AcidError::Lacking(what))
    }

    /// What an account owns by the prices given: its cash, and what it holds.
    pub(crate) fn assets(&self, owner: &Owner, symbol: &Symbol, price: Price) -> Result<Balance, EngineError> {
        let cash = self.money(&format!("SELECT ca_bal FROM customer_account WHERE ca_id = {}", owner.account))?;
        let sql = format!(
            "SELECT hs_s_symb, hs_qty, lt_price
               FROM holding_summary INNER JOIN last_trade ON lt_s_symb = hs_s_symb
              WHERE hs_ca_id = {}",
            owner.account
        );
        let held = self.rows(&sql, |row| Ok((row.get::<Symbol>(0)?, row.get::<Quantity>(1)?, row.get::<Price>(2)?)))?;
        let worth = |(held, qty, last): &(Symbol, Quantity, Price)| {
            let price = if held == symbol { price } else { *last };
            i64::from(*qty) * price.units()
        };
        Ok(Balance::from_units(cash.units() + held.iter().map(worth).sum::<i64>()))
    }

    /// Orders a market purchase, which stays submitted until its Trade-Result.
    pub(crate) fn submit(&self, owner: &Owner, listed: &Listed, qty: Quantity) -> Result<TradeId, AcidError> {
        let Output::TradeOrder(ordered) = self.run(owner.buys(listed, qty))? else {
            unreachable!("asked for an order")
        };
        ordered.trade_id.ok_or_else(|| AcidError::Machinery(format!("Trade-Order ended with {}", ordered.status)))
    }
}

impl Owner {
    /// The owner's order of a market purchase.
    pub(crate) fn buys(&self, listed: &Listed, qty: Quantity) -> txn::TradeOrder {
        txn::TradeOrder {
            acct_id: self.account,
            exec_f_name: self.first_name,
            exec_l_name: self.last_name,
            exec_tax_id: self.tax_id,
            symbol: listed.symbol,
            co_name: Text::EMPTY,
            issue: Text::EMPTY,
            trade_type: TradeType::MarketBuy,
            trade_qty: qty,
            requested_price: 0.0,
            is_lifo: false,
            type_is_margin: false,
            roll_it_back: false,
            executor_is_account_owner: true,
        }
    }
}

/// The exchange's answer to an order.
pub(crate) fn result_of(trade_id: TradeId, price: Price) -> txn::TradeResult {
    txn::TradeResult { trade_id, trade_price: price }
}

/// Whether a transaction met another that was in its way.
pub(crate) fn is_conflict(error: &TxnError) -> bool {
    error.kind() == ErrorKind::Conflict
}

/// Makes a folder that was not there, with those above it.
pub(crate) fn new_folder(folder: &Path) -> io::Result<()> {
    if let Some(parent) = folder.parent() {
        fs::create_dir_all(parent)?;
    }
    fs::create_dir(folder)
}
