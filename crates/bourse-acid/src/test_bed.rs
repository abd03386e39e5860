//! Environment shared by all tests: the engine, the ids, clock and market of its transactions, random accounts, and a session
//! for looking.

use crate::scenario::{Performing, Scenario};
use bourse_driver::{Clock as _, RealClock};
use bourse_egen::txn::{self, TradeRequest};
use bourse_egen::{Part, TradeType};
use bourse_engine::{Engine, EngineError, ErrorKind, FromValue, Result, Row, RowExt as _, Session, SessionExt as _};
use bourse_record::SplitMix;
use bourse_schema::{AccountId, Balance, BrokerId, CustomerId, Price, Quantity, Symbol, Text, Timestamp, TradeId};
use bourse_tpce::check::first_trade;
use bourse_tpce::transactions::{
    Context, FrameError, Output, Request, Retry, TradeIds, TransactionResult, TxnError, perform,
};
use std::cell::RefCell;
use std::path::Path;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use std::{fs, io};

/// Reason that a test could not be carried out.
#[derive(Debug, Clone, thiserror::Error)]
pub enum AcidError {
    /// The engine reported an error.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// A transaction failed that must not fail.
    #[error(transparent)]
    Transaction(#[from] TxnError),
    /// A frame failed.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// A session did not reach its point or its end.
    #[error("{session} did not {what} within {} s{}", limit.as_secs(), inside(statement.as_deref()))]
    Stuck {
        /// Session that is stuck.
        session: String,
        /// Event that it should have reached.
        what: String,
        /// Time limit that it exceeded.
        limit: Duration,
        /// Statement that it was executing.
        statement: Option<String>,
    },
    /// The engine has one session only; the tests need several.
    #[error("the tests need several sessions at once, and a second one is refused: {0}")]
    OneSession(EngineError),
    /// The database has no data that the test could be tried on.
    #[error("the database has no {0}")]
    Lacking(&'static str),
    /// The engine's calls on its files cannot be intercepted, so that no disk can be simulated below them.
    #[error("{0}")]
    NotIntercepted(String),
    /// The machinery around the engine failed.
    #[error("{0}")]
    Machinery(String),
}

impl AcidError {
    /// Class of the error.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Engine(error) | Self::OneSession(error) => error.kind(),
            Self::Transaction(error) => error.kind(),
            Self::Frame(error) => error.kind(),
            Self::NotIntercepted(_) => ErrorKind::Unsupported,
            Self::Stuck { .. } | Self::Lacking(_) | Self::Machinery(_) => ErrorKind::Other,
        }
    }
}

fn inside(statement: Option<&str>) -> String {
    statement.map_or_else(String::new, |statement| format!("; it is in: {statement}"))
}

/// Settings of the tests.
#[derive(Debug, Clone, Copy)]
pub struct TestConfig {
    /// Seed of accounts and securities.
    pub seed: u64,
    /// Repetitions of each isolation test, with each of its endings.
    pub repeats: u32,
    /// Time after which a session counts as waiting, if the engine does not count waits itself.
    pub patience: Duration,
}

impl TestConfig {
    /// Default settings: seed 1, ten repetitions, and half a second of patience.
    pub const DEFAULT: Self = Self { seed: 1, repeats: 10, patience: Duration::from_millis(500) };
}

/// Surroundings of transactions, shared by sessions on all threads.
pub(crate) struct TxnEnvironment {
    pub(crate) part: Part,
    trade_ids: TradeIds,
    /// Simulated clock in milliseconds; advances by one with each reading, so that no two are equal.
    now_ms: AtomicI64,
    sent: Mutex<Vec<TradeRequest>>,
}

impl TxnEnvironment {
    /// The surroundings on a database of that part.
    pub(crate) fn of(part: Part, db: &mut dyn Session) -> Result<Self, AcidError> {
        Ok(Self {
            part,
            trade_ids: TradeIds::following(db, first_trade(part))?,
            now_ms: AtomicI64::new(RealClock::start().timestamp().millis()),
            sent: Mutex::default(),
        })
    }

    /// Runs a transaction, at most `attempts` times.
    pub(crate) fn perform(
        &self,
        db: &mut dyn Session,
        request: &Request,
        attempts: u32,
    ) -> Result<TransactionResult, TxnError> {
        let now = || Timestamp::from_millis(self.now_ms.fetch_add(1, Ordering::Relaxed));
        let send = |order: &TradeRequest| self.sent.lock().unwrap_or_else(PoisonError::into_inner).push(*order);
        let back_off = |attempt: u32| {
            std::thread::sleep(Duration::from_millis(u64::from(attempt)));
            true
        };
        let retry = Retry { attempts, back_off: &back_off };
        let context = Context { now: &now, trade_ids: &self.trade_ids, market: &send, retry };
        perform(db, &context, request)
    }

    /// Orders sent to the market since the last call.
    pub(crate) fn sent(&self) -> Vec<TradeRequest> {
        std::mem::take(&mut *self.sent.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Account with its customer and broker.
#[derive(Debug, Clone)]
pub(crate) struct BedAccount {
    pub(crate) account: AccountId,
    pub(crate) customer: CustomerId,
    pub(crate) broker: BrokerId,
    first_name: Text<20>,
    last_name: Text<25>,
    tax_id: Text<20>,
}

/// Security with its last price.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ListedSecurity {
    pub(crate) symbol: Symbol,
    pub(crate) price: Price,
}

/// Engine under test with everything that a test needs; TPC-E's transactions unless named.
pub(crate) struct TestBed<'e, P = TxnEnvironment> {
    pub(crate) engine: &'e dyn Engine,
    pub(crate) config: TestConfig,
    pub(crate) environment: Arc<P>,
    random: RefCell<SplitMix>,
    observer: RefCell<Box<dyn Session>>,
}

impl<'e, P: Performing> TestBed<'e, P> {
    /// Opens the observing session, with which `environment` reads what it needs.
    pub(crate) fn new(
        engine: &'e dyn Engine,
        config: TestConfig,
        environment: impl FnOnce(&mut dyn Session) -> Result<P, AcidError>,
    ) -> Result<Self, AcidError> {
        let mut observer = engine.session()?;
        let environment = Arc::new(environment(&mut *observer)?);
        // The observer has read by now, so an engine that excludes other sessions does so already.
        drop(engine.session().map_err(AcidError::OneSession)?);
        let random = RefCell::new(SplitMix::new(config.seed));
        Ok(Self { engine, config, environment, random, observer: RefCell::new(observer) })
    }

    /// New scenario of concurrent sessions.
    pub(crate) fn scenario(&self) -> Scenario<'_, P> {
        Scenario::new(self)
    }

    pub(crate) fn below(&self, n: i64) -> i64 {
        self.random.borrow_mut().below(n.unsigned_abs()) as i64
    }

    /// Rows of a query, read by the observing session.
    pub(crate) fn rows<T>(&self, sql: &str, read: impl FnMut(&dyn Row) -> Result<T>) -> Result<Vec<T>> {
        self.observer.borrow_mut().text_rows(sql, read)
    }

    /// Value of a query's first row; `None` without rows.
    pub(crate) fn value<T: FromValue>(&self, sql: &str) -> Result<Option<T>> {
        Ok(self.rows(sql, |row| row.get(0))?.into_iter().next())
    }

    /// Integer result of a query, 0 if there is none.
    pub(crate) fn number(&self, sql: &str) -> Result<i64> {
        Ok(self.value(sql)?.unwrap_or_default())
    }

    /// Amount that a query returns, zero if there is none.
    pub(crate) fn money(&self, sql: &str) -> Result<Balance> {
        Ok(self.value(sql)?.unwrap_or_default())
    }

    /// Calls `ask` with the observing session, while no other session is at work.
    pub(crate) fn with_observer<T>(&self, ask: impl FnOnce(&mut dyn Session) -> T) -> T {
        ask(&mut **self.observer.borrow_mut())
    }

    /// Number of lock waits, if the engine counts them; else 0.
    pub(crate) fn lock_waits(&self) -> u64 {
        self.engine.footprint().ok().and_then(|footprint| footprint.locks).map_or(0, |locks| locks.waits)
    }
}

impl TestBed<'_> {
    /// Runs a transaction alone; it must not fail.
    pub(crate) fn run(&self, request: impl Into<Request>) -> Result<Output, AcidError> {
        let request = request.into();
        let performed = self.with_observer(|db| self.environment.perform(db, &request, 10))?;
        Ok(performed.output)
    }

    /// Random account.
    pub(crate) fn owner(&self) -> Result<BedAccount, AcidError> {
        let customer = bourse_egen::ids::SHIFT
            + self.environment.part.first_customer()
            + self.below(self.environment.part.customers());
        let sql = format!(
            "SELECT ca_id, ca_c_id, ca_b_id, c_f_name, c_l_name, c_tax_id
               FROM customer_account INNER JOIN customer ON c_id = ca_c_id
              WHERE ca_c_id = {customer}
              ORDER BY ca_id"
        );
        let mut owners = self.rows(&sql, |row| {
            Ok(BedAccount {
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

    /// Random security of which the account holds no shares.
    pub(crate) fn security_not_held(&self, owner: &BedAccount) -> Result<ListedSecurity, AcidError> {
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

    /// Random security of which the account holds shares.
    pub(crate) fn held(&self, owner: &BedAccount) -> Result<ListedSecurity, AcidError> {
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

    /// Random account that holds a security.
    pub(crate) fn holder(&self) -> Result<(BedAccount, ListedSecurity), AcidError> {
        for _ in 0..100 {
            let owner = self.owner()?;
            match self.held(&owner) {
                Err(AcidError::Lacking(_)) => {}
                held => return Ok((owner, held?)),
            }
        }
        Err(AcidError::Lacking("account that holds something"))
    }

    fn listed(&self, from: &str, what: &'static str) -> Result<ListedSecurity, AcidError> {
        let count = self.number(&format!("SELECT count(*) {from}"))?;
        let sql = format!("SELECT s_symb, lt_price {from} ORDER BY s_symb LIMIT 1 OFFSET {}", self.below(count));
        let found = self.rows(&sql, |row| Ok(ListedSecurity { symbol: row.get(0)?, price: row.get(1)? }))?;
        found.into_iter().next().ok_or(AcidError::Lacking(what))
    }

    /// Assets of an account at the given price: its cash, and its holdings.
    pub(crate) fn assets(&self, owner: &BedAccount, symbol: &Symbol, price: Price) -> Result<Balance> {
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

    /// Submits a market purchase, which stays pending until its Trade-Result.
    pub(crate) fn submit(
        &self,
        owner: &BedAccount,
        listed: &ListedSecurity,
        qty: Quantity,
    ) -> Result<TradeId, AcidError> {
        let Output::TradeOrder(ordered) = self.run(owner.buys(listed, qty))? else {
            unreachable!("asked for an order")
        };
        ordered.trade_id.ok_or_else(|| AcidError::Machinery(format!("Trade-Order ended with {}", ordered.status)))
    }
}

impl BedAccount {
    /// Market purchase by the owner.
    pub(crate) fn buys(&self, listed: &ListedSecurity, qty: Quantity) -> txn::TradeOrder {
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

/// Trade-Result of an order at a price.
pub(crate) fn result_of(trade_id: TradeId, price: Price) -> txn::TradeResult {
    txn::TradeResult { trade_id, trade_price: price }
}

/// Makes a new folder, with its parents; an existing one is an error.
pub(crate) fn new_folder(folder: &Path) -> io::Result<()> {
    if let Some(parent) = folder.parent() {
        fs::create_dir_all(parent)?;
    }
    fs::create_dir(folder)
}
