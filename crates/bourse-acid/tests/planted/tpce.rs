//! TPC-E with its bugs.

use crate::databases::{Copy, Planted};
use crate::detectors::{Found, Length, ended, examined};
use bourse_acid::TpceAcid;
use bourse_driver::RealClock;
use bourse_egen::{Inputs, builtin};
use bourse_engine::{Engine, Result, RowExt as _, Session};
use bourse_engine_sqlite::SqliteEngine;
use bourse_oltp::planted::{Bug, plant};
use bourse_oltp::verify::{Sampled as _, Script as _};
use bourse_record::{Check, Round};
use bourse_testkit::{HitStatements, Misbehaving};
use bourse_tpce::users::simulated::simulate;
use bourse_tpce::users::{RunOptions, verify};
use bourse_tpce::verify::{Stream, TpceSample};
use std::sync::LazyLock;

static RIGHT: LazyLock<Inputs> = LazyLock::new(Inputs::builtin);
/// Inputs that charge each initial trade a dollar more than the rows of CHARGE.
static OVERCHARGED: LazyLock<Inputs> = LazyLock::new(|| {
    let dearer = |line: &str| {
        let (of, charge) = line.rsplit_once('\t').expect("a charge is the last column");
        let (dollars, cents) = charge.split_once('.').expect("a charge has cents");
        format!("{of}\t{}.{cents}\n", dollars.parse::<u32>().expect("a charge begins with dollars") + 1)
    };
    let file = |name| {
        let text = builtin::file(name)?;
        Some(if name == "Charge" { text.lines().map(dearer).collect() } else { text }.into_bytes())
    };
    let mut inputs = Inputs::parse(file).expect("sound inputs");
    inputs.charges.clone_from(&RIGHT.charges);
    inputs
});
/// Options with the bug of a missing sync.
const WITHOUT_SYNC: &str = "journal=wal&sync=off";
/// Customers' requests per simulated second of a run, and of a comparison.
const REQUESTS_PER_SECOND: [u32; 2] = [2, 8];

fn inputs(bug: Option<&Bug>) -> &'static Inputs {
    if bug.is_some_and(|bug| bug.name == "OverchargedGenerator") { &OVERCHARGED } else { &RIGHT }
}

impl Planted for TpceSample<'static> {
    fn with(bug: Option<&'static Bug>) -> Self {
        Self::of(inputs(bug))
    }

    fn compared(self) -> Self {
        self.at(REQUESTS_PER_SECOND[1])
    }

    fn is_loaded_with(bug: &Bug) -> bool {
        ["OverchargedGenerator", "LoaderLosesRowEarly", "LoaderLosesRowLate", "LoaderAltersPrices"].contains(&bug.name)
    }

    fn spoil(&self, bug: &Bug, engine: &SqliteEngine) -> bool {
        match bug.name {
            "IndexMissing" => change_indexes(engine).expect("indexes can be changed"),
            "IndexIncomplete" => hide_an_entry(engine).expect("an entry can be hidden"),
            _ => return false,
        }
        true
    }

    fn engine(&self, bug: &Bug, open: &dyn Fn(&str) -> SqliteEngine) -> Option<Box<dyn Engine>> {
        match bug.name {
            "SyncOff" => Some(Box::new(open(WITHOUT_SYNC))),
            "WriteLost" => {
                let right = open("journal=wal&sync=full");
                Some(Box::new(Misbehaving::dropping(right, HitStatements::Every(20)).only("UPDATE holding_summary")))
            }
            _ => None,
        }
    }

    fn run(
        &self,
        bug: Option<&'static Bug>,
        engine: &dyn Engine,
        length: Length,
    ) -> Result<(Round, Vec<Check>), Found> {
        if bug.is_some_and(|bug| bug.name == "CleanupLeavesSubmitted") {
            leave_orders(self, engine);
        }
        let options = RunOptions { users: 1, ..RunOptions::new(Self::part()) };
        plant(bug);
        let ran = simulate(engine, inputs(bug), &options, length.transactions, REQUESTS_PER_SECOND[0]);
        plant(None);
        let ran = ended("cannot begin", ran, |ran| ran.fault.as_ref())?;
        let checks = verify(engine, Self::part(), Some(&ran), &RealClock::start(), &mut |_| {});
        Ok((ran.round, ended("cannot be checked", checks, |_| None::<&String>)?))
    }

    fn acid(copy: &Copy<'_, Self>) -> Option<Found> {
        Some(examined(copy, &TpceAcid { inputs: inputs(copy.bug), part: Self::part() }))
    }
}

/// Leaves the traces of a killed run: orders submitted and never executed.
fn leave_orders(sampled: &TpceSample<'static>, engine: &dyn Engine) {
    let mut subject = sampled.subject("sqlite", engine.session().expect("connects"));
    let mut stream = Stream::new(&RIGHT, TpceSample::database(), 2, 50).expect("a valid database");
    for _ in 0..300 {
        let step = stream.next_step();
        let performed = subject.perform(&step.request, step.now);
        stream.take(&performed.sent).expect("orders name securities of the database");
    }
}

fn change_indexes(engine: &SqliteEngine) -> Result<()> {
    let mut session = engine.session()?;
    for statement in
        ["DROP INDEX trade_by_account", "DROP INDEX holding_by_account", "CREATE INDEX extra ON trade (t_exec_name)"]
    {
        session.execute_text(statement, &[])?;
    }
    Ok(())
}

/// Makes an index point to a value that its row no longer has: the row is changed back while the index is hidden.
fn hide_an_entry(engine: &SqliteEngine) -> Result<()> {
    const INDEX: &str = "trade_by_account";
    const ROW: &str = "WHERE t_id = (SELECT max(t_id) FROM trade)";
    let mut session = engine.session()?;
    let session = &mut *session;
    let rootpage = number(session, &format!("SELECT rootpage FROM sqlite_schema WHERE name = '{INDEX}'"))?;
    let sql = text(session, &format!("SELECT sql FROM sqlite_schema WHERE name = '{INDEX}'"))?;
    session.execute_text(&format!("UPDATE trade SET t_dts = t_dts + 1 {ROW}"), &[])?;
    session.execute_text("PRAGMA writable_schema = ON", &[])?;
    session.execute_text(&format!("DELETE FROM sqlite_schema WHERE name = '{INDEX}'"), &[])?;
    // Another connection does not know the index.
    let mut other = engine.session()?;
    other.execute_text(&format!("UPDATE trade SET t_dts = t_dts - 1 {ROW}"), &[])?;
    other.execute_text("PRAGMA writable_schema = ON", &[])?;
    let insert = format!(
        "INSERT INTO sqlite_schema (type, name, tbl_name, rootpage, sql)
         VALUES ('index', '{INDEX}', 'trade', {rootpage}, '{sql}')"
    );
    other.execute_text(&insert, &[])?;
    Ok(())
}

fn number(session: &mut dyn Session, sql: &str) -> Result<i64> {
    let mut found = 0;
    session.query_text(sql, &[], &mut |row| {
        found = row.get(0)?;
        Ok(())
    })?;
    Ok(found)
}

fn text(session: &mut dyn Session, sql: &str) -> Result<String> {
    let mut found = String::new();
    session.query_text(sql, &[], &mut |row| {
        found = row.get(0)?;
        Ok(())
    })?;
    Ok(found)
}
