//! The small workload: orders, results, prices and clean-ups on some of the brokerage tables, by one session, with simulated
//! time. The same seed does the same on every database.

use bourse_engine::{Access, EngineError, Isolation, Loader, Params, Session, Sql, Value};
use bourse_record::SplitMix;
use bourse_schema::{SQLITE, Table, create_index, create_table, find};
use std::collections::VecDeque;
use std::sync::LazyLock;

/// Names of the tables that the workload uses.
const TABLES: [&str; 9] = [
    "broker",
    "customer_account",
    "last_trade",
    "trade",
    "trade_history",
    "settlement",
    "cash_transaction",
    "holding_summary",
    "holding",
];
const BROKERS: u64 = 5;
const ACCOUNTS: u64 = 40;
const SECURITIES: u64 = 20;
/// Number of trades at the start.
const TRADES: i64 = 40;
/// One transaction in this many changes every trade, so that a small page cache must write before the commit.
const BULK_EVERY: u64 = 40;

/// Declarations of the tables.
pub(super) fn tables() -> impl Iterator<Item = &'static Table> {
    TABLES.iter().map(|name| find(name).expect("the schema declares it"))
}

/// Statements that make the tables with their first rows. References to tables that are left out are not declared.
static LOAD: LazyLock<Vec<Sql>> = LazyLock::new(|| {
    let tables = tables().flat_map(|table| {
        let indexes = table.indexes.iter().map(|index| create_index(table, index, &SQLITE));
        std::iter::once(create_table(table, &SQLITE, false)).chain(indexes)
    });
    let brokers = (0..BROKERS).map(|number| format!("INSERT INTO broker VALUES ({number}, 'ACTV', 'A Broker', 0, 0)"));
    let accounts = (0..ACCOUNTS).map(|number| {
        let broker = number % BROKERS;
        format!("INSERT INTO customer_account VALUES ({number}, {broker}, {number}, 'An account', 1, 1000000)")
    });
    let prices =
        (0..SECURITIES).map(|number| format!("INSERT INTO last_trade VALUES ('{}', 0, 2500, 2500, 0)", symbol(number)));
    let trades = (0..TRADES).flat_map(|number| {
        let (symbol, account) = (symbol(number as u64 % SECURITIES), number as u64 % ACCOUNTS);
        [
            format!(
                "INSERT INTO trade VALUES
                     ({number}, 0, 'SBMT', 'TMB', 1, '{symbol}', 100, 2500, {account}, 'A customer', NULL, 5, 0, 0, 0)"
            ),
            format!("INSERT INTO trade_history VALUES ({number}, 0, 'SBMT')"),
        ]
    });
    // A statement's text lives as long as the program.
    let lasting = |text: String| Sql::new(Box::leak(text.into_boxed_str()));
    tables.chain(brokers).chain(accounts).chain(prices).chain(trades).map(lasting).collect()
});

static ORDERED: Sql = Sql::new(
    "INSERT INTO trade VALUES (?1, ?2, 'SBMT', 'TMB', 1, ?3, ?4, 2500, ?5, 'A customer who trades', NULL, 5, 0, 0, 0)",
);
static NOTED: Sql = Sql::new("INSERT INTO trade_history VALUES (?1, ?2, ?3)");
static COMPLETED: Sql =
    Sql::new("UPDATE trade SET t_st_id = 'CMPT', t_dts = ?2, t_trade_price = ?3, t_comm = 10 WHERE t_id = ?1");
static SETTLED: Sql = Sql::new("INSERT INTO settlement VALUES (?1, 'Cash Account', ?2, ?3)");
static PAID: Sql = Sql::new("INSERT INTO cash_transaction VALUES (?1, ?2, ?3, 'Market-Buy of shares')");
static CHARGED: Sql = Sql::new("UPDATE customer_account SET ca_bal = ca_bal - ?2 WHERE ca_id = ?1");
static EARNED: Sql =
    Sql::new("UPDATE broker SET b_num_trades = b_num_trades + 1, b_comm_total = b_comm_total + 10 WHERE b_id = ?1");
static SUMMED: Sql = Sql::new(
    "INSERT INTO holding_summary VALUES (?1, ?2, ?3)
         ON CONFLICT (hs_ca_id, hs_s_symb) DO UPDATE SET hs_qty = hs_qty + ?3",
);
static HELD: Sql = Sql::new("INSERT INTO holding VALUES (?1, ?2, ?3, ?4, ?5, ?6)");
static MOVED: Sql =
    Sql::new("UPDATE last_trade SET lt_price = ?2, lt_dts = ?3, lt_vol = lt_vol + 100 WHERE lt_s_symb = ?1");
static BULK: Sql = Sql::new("UPDATE trade SET t_exec_name = ?1");
static FORGOTTEN: [Sql; 5] = [
    Sql::new("DELETE FROM holding WHERE h_t_id = ?1"),
    Sql::new("DELETE FROM cash_transaction WHERE ct_t_id = ?1"),
    Sql::new("DELETE FROM settlement WHERE se_t_id = ?1"),
    Sql::new("DELETE FROM trade_history WHERE th_t_id = ?1"),
    Sql::new("DELETE FROM trade WHERE t_id = ?1"),
];

fn symbol(number: u64) -> String {
    format!("SYM{number:03}")
}

/// Makes the tables with their first rows, in one transaction.
pub(super) fn load(session: &mut dyn Session) -> Result<(), EngineError> {
    session.begin(Isolation::Serializable, Access::Write)?;
    for sql in LOAD.iter() {
        session.execute(sql, Params::NONE)?;
    }
    session.commit()
}

/// Makes the tables with their first rows through a loader.
pub(super) fn load_with(mut loader: Box<dyn Loader>) -> Result<(), EngineError> {
    for sql in LOAD.iter() {
        loader.run(sql.text())?;
    }
    loader.finish()
}

fn order(session: &mut dyn Session, trade: i64, now: i64, random: u64) -> Result<(), EngineError> {
    let symbol = symbol(random % SECURITIES);
    let (account, quantity) = ((random / 7) % ACCOUNTS, 100 * (1 + random % 8));
    session.execute(
        &ORDERED,
        Params::of(&[
            Value::Int(trade),
            Value::Int(now),
            Value::Text(&symbol),
            Value::Int(quantity as i64),
            Value::Int(account as i64),
        ]),
    )?;
    session.execute(&NOTED, Params::of(&[Value::Int(trade), Value::Int(now), Value::Text("SBMT")])).map(|_| ())
}

/// State of the workload.
#[derive(Debug)]
pub(super) struct WorkloadState {
    random: SplitMix,
    /// Simulated clock, in seconds.
    now: i64,
    next_trade: i64,
    submitted: VecDeque<i64>,
    completed: VecDeque<i64>,
}

impl WorkloadState {
    /// State at the start, on a database that [`load`] made.
    pub(super) fn new(seed: u64) -> Self {
        Self {
            random: SplitMix::new(seed),
            now: 0,
            next_trade: TRADES,
            submitted: (0..TRADES).collect(),
            completed: VecDeque::new(),
        }
    }

    /// Runs transactions until one is committed; about one in 20 is rolled back before.
    pub(super) fn commit(&mut self, session: &mut dyn Session) -> Result<(), EngineError> {
        if self.random.below(20) == 0 {
            session.begin(Isolation::Serializable, Access::Write)?;
            order(session, self.next_trade, self.now, self.random.next())?;
            session.rollback()?;
        }
        self.now += 1;
        session.begin(Isolation::Serializable, Access::Write)?;
        match self.random.below(20) {
            0..7 => self.order(session)?,
            7..14 => self.complete(session)?,
            14..18 => self.price(session)?,
            _ => self.clean_up(session)?,
        }
        if self.random.below(BULK_EVERY) == 0 {
            let name = format!("A customer who trades since {}", self.now);
            session.execute(&BULK, Params::of(&[Value::Text(&name)]))?;
        }
        session.commit()
    }

    fn order(&mut self, session: &mut dyn Session) -> Result<(), EngineError> {
        let trade = self.next_trade;
        self.next_trade += 1;
        self.submitted.push_back(trade);
        order(session, trade, self.now, self.random.next())
    }

    fn complete(&mut self, session: &mut dyn Session) -> Result<(), EngineError> {
        let Some(trade) = self.submitted.pop_front() else { return self.order(session) };
        self.completed.push_back(trade);
        let random = self.random.next();
        let (account, symbol) = ((random % ACCOUNTS) as i64, symbol((random >> 8) % SECURITIES));
        let (price, quantity) = (2_000 + (random >> 16) as i64 % 1_000, 100 * (1 + (random >> 32) as i64 % 8));
        let (amount, now) = (price * quantity, self.now);
        let (trade, symbol) = (Value::Int(trade), Value::Text(&symbol));
        let [account_value, now, price, quantity] = [account, now, price, quantity].map(Value::Int);
        let broker = Value::Int(account % BROKERS as i64);
        session.execute(&COMPLETED, Params::of(&[trade, now, price]))?;
        session.execute(&NOTED, Params::of(&[trade, now, Value::Text("CMPT")]))?;
        session.execute(&SETTLED, Params::of(&[trade, now, Value::Int(amount)]))?;
        session.execute(&PAID, Params::of(&[trade, now, Value::Int(-amount)]))?;
        session.execute(&CHARGED, Params::of(&[account_value, Value::Int(amount)]))?;
        session.execute(&EARNED, Params::of(&[broker]))?;
        session.execute(&SUMMED, Params::of(&[account_value, symbol, quantity]))?;
        session.execute(&HELD, Params::of(&[trade, account_value, symbol, now, price, quantity])).map(|_| ())
    }

    fn price(&mut self, session: &mut dyn Session) -> Result<(), EngineError> {
        let symbol = symbol(self.random.below(SECURITIES));
        let price = 2_000 + self.random.below(1_000) as i64;
        session
            .execute(&MOVED, Params::of(&[Value::Text(&symbol), Value::Int(price), Value::Int(self.now)]))
            .map(|_| ())
    }

    /// Deletes the oldest completed trades, which frees pages.
    fn clean_up(&mut self, session: &mut dyn Session) -> Result<(), EngineError> {
        if self.completed.len() < 8 {
            return self.order(session);
        }
        for trade in self.completed.drain(..5) {
            for sql in &FORGOTTEN {
                session.execute(sql, Params::of(&[Value::Int(trade)]))?;
            }
        }
        // A transaction that changes nothing would be no commit.
        self.price(session)
    }
}
