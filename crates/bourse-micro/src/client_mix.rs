//! `client-mix`: many clients on four wide tables, as mysqlslap has them: insert, update all, select all, delete all,
//! mixed.
//!
//! A round is one phase; the database it needs is created before the clock starts. Clients share the statements, and
//! each visits the tables in turn.

mod statements;

use crate::batching::{BATCH, Batching};
use crate::database::{UNFINISHED, create_by, same};
use crate::options::{OptionError, OptionKind, WorkloadOptions, option};
use crate::usual::{STATEMENTS, statements};
use crate::workload::{MicroError, PlannedWorkload, RoundExtent, RoundSettings, RoundTally, WorkloadSpec, Writes};
use bourse_driver::{Clock, Draw, OperationCx, OperationResult, OperationSpec, RoundControl, User, UserSpec};
use bourse_engine::server_wait::check_interruption;
use bourse_engine::{
    Access, Capabilities, Engine, EngineError, ErrorKind, Isolation, Params, Result, RowExt as _, SessionExt as _,
    StatementForm,
};
use bourse_record::{Check, NameValue, SplitMix};
use statements::{InsertValues, TABLE_COUNT, TABLES, TableStatements, UPDATED, run};

/// Declaration of the workload.
pub(crate) static SPEC: WorkloadSpec = WorkloadSpec {
    name: "client-mix",
    summary: "many clients insert into, update, read and empty four wide tables, as mysqlslap does",
    tables: "table1 to table4 (int_1 to int_5 integers; dou_1 to dou_5 floating-point numbers; str_1 to str_5 texts \
             of at most 255 characters; id, _d integers; an index on id that is not unique)",
    needs: "SQL",
    options: &[
        option!("phase" => OptionKind::Word(&["insert", "update", "select", "delete", "mixed"]), "mixed",
            "insert: `queries` rows into empty tables. update, delete: all rows of loaded tables, one \
             statement per table. select: all ids of a table per statement. mixed: insert, update, select and \
             delete one row by its id, in empty tables"),
        option!("queries" => OptionKind::Count { min: 1, max: 1_000_000_000 }, "10000",
            "statements of all clients together; also the number of rows of the four tables together"),
        option!("clients" => OptionKind::Count { min: 1, max: 1_024 }, "20",
            "clients, one thread and one connection each"),
        STATEMENTS,
        BATCH,
    ],
    extent: RoundExtent::Work,
    plan,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ClientPhase {
    Insert,
    Update,
    Select,
    Delete,
    Mixed,
}

struct ClientMix {
    phase: ClientPhase,
    queries: u64,
    clients: u64,
    statements: StatementForm,
    batch: Option<u64>,
}

/// Statements of phase `mixed` per visit of a client to a table.
const MIXED: u64 = 4;
/// Largest id drawn, as by `round(rand() * 10000000)`.
const LARGEST_ID: u64 = 10_000_000;

fn plan(options: &WorkloadOptions) -> Result<Box<dyn PlannedWorkload>, OptionError> {
    let phase = match options.text("phase") {
        "insert" => ClientPhase::Insert,
        "update" => ClientPhase::Update,
        "select" => ClientPhase::Select,
        "delete" => ClientPhase::Delete,
        _ => ClientPhase::Mixed,
    };
    Ok(Box::new(ClientMix {
        phase,
        queries: options.count("queries"),
        clients: options.count("clients"),
        statements: statements(options),
        batch: options.count_or(BATCH.name),
    }))
}

impl ClientMix {
    /// Number of rows of table number `table` before the round.
    fn rows(&self, table: u64) -> u64 {
        let tables = TABLES.len() as u64;
        match self.phase {
            ClientPhase::Insert | ClientPhase::Mixed => 0,
            _ => (self.queries + tables - 1 - table) / tables,
        }
    }

    /// Number of tasks of all clients: statements, tables, or for `mixed` visits to a table.
    fn tasks(&self) -> u64 {
        match self.phase {
            ClientPhase::Insert | ClientPhase::Select => self.queries,
            ClientPhase::Update | ClientPhase::Delete => TABLES.len() as u64,
            ClientPhase::Mixed => self.queries.div_ceil(MIXED),
        }
    }

    /// Generator of the ids that tables are loaded with.
    fn loaded_ids() -> impl FnMut() -> i64 {
        let mut random = SplitMix::new(1);
        move || random.below(LARGEST_ID + 1) as i64
    }

    /// Sum of each table's ids before the round.
    fn ids(&self) -> [i64; TABLE_COUNT] {
        let mut drawn = Self::loaded_ids();
        std::array::from_fn(|table| (0..self.rows(table as u64)).map(|_| drawn()).sum())
    }

    fn fill(&self, engine: &dyn Engine) -> Result<()> {
        const LOAD_TRANSACTION: u64 = 10_000;
        let mut session = engine.session()?;
        let mut drawn = Self::loaded_ids();
        for (number, table) in TABLES.iter().enumerate() {
            let rows = self.rows(number as u64);
            for from in (0..rows).step_by(LOAD_TRANSACTION as usize) {
                session.begin(Isolation::ReadCommitted, Access::Write)?;
                for _ in from..rows.min(from + LOAD_TRANSACTION) {
                    check_interruption(UNFINISHED)?;
                    let values = InsertValues::of(drawn());
                    session.execute(&table.insert, Params::of(&values.all()))?;
                }
                session.commit()?;
            }
        }
        Ok(())
    }

    /// Sum of a query's first column over the tables.
    fn sum(
        &self,
        engine: &dyn Engine,
        query: impl Fn(&'static TableStatements) -> &'static bourse_engine::Sql,
    ) -> Result<u64, MicroError> {
        let asked = || {
            let mut session = engine.session()?;
            let mut sum = 0;
            for table in TABLES.iter() {
                sum += session.first(query(table), &[], |row| row.get::<i64>(0))?.unwrap_or(0);
            }
            Ok::<_, EngineError>(u64::try_from(sum).unwrap_or(0))
        };
        asked().map_err(MicroError::engine("checking"))
    }
}

impl PlannedWorkload for ClientMix {
    fn operations(&self) -> Vec<OperationSpec> {
        vec![OperationSpec::new(match self.phase {
            ClientPhase::Insert => "insert",
            ClientPhase::Update => "update",
            ClientPhase::Select => "select",
            ClientPhase::Delete => "delete",
            ClientPhase::Mixed => "statement",
        })]
    }
    fn unit(&self) -> &'static str {
        match self.phase {
            ClientPhase::Insert | ClientPhase::Update | ClientPhase::Delete => "rows/s",
            ClientPhase::Select | ClientPhase::Mixed => "statements/s",
        }
    }
    fn lacking(&self, capabilities: &Capabilities) -> Vec<String> {
        if capabilities.sql.is_some() { Vec::new() } else { vec!["it needs SQL".to_owned()] }
    }
    fn threads(&self) -> usize {
        usize::try_from(self.clients.min(self.tasks())).unwrap_or(usize::MAX)
    }
    fn prepare(&self, engine: &dyn Engine, _: &dyn Clock) -> Result<Vec<NameValue>, MicroError> {
        let dialect = engine.sql().map_err(MicroError::engine("making the tables"))?.dialect();
        let statements: Vec<_> = TABLES.iter().flat_map(|table| &table.create).map(|sql| sql.render(dialect)).collect();
        create_by(engine, &statements, &|_, error| MicroError::engine("making the tables")(error))?;
        self.fill(engine).map_err(MicroError::engine("loading the tables"))?;
        Ok(Vec::new())
    }
    fn users<'s>(&'s self, setting: &RoundSettings<'s>) -> Vec<UserSpec<'s>> {
        let (clients, tasks) = (self.threads() as u64, self.tasks());
        let mut seeds = SplitMix::new(setting.seed);
        let ids = self.ids();
        let client = |number| {
            let client = MixClient {
                mix: self,
                left: tasks / clients + u64::from(number < tasks % clients),
                all: tasks / clients + u64::from(number < tasks % clients),
                // Clients begin at different tables, and the statements of one a table never meet.
                turn: number,
                ids,
                drawn: Vec::new(),
                random: SplitMix::new(seeds.next()),
                // The null engine's batch is in operations; `mixed` performs four at a time.
                batching: match self.phase {
                    ClientPhase::Mixed => {
                        setting.batching(setting.batch.or(self.batch).map(|statements| statements.div_ceil(MIXED)))
                    }
                    ClientPhase::Update | ClientPhase::Delete => Batching::new(Some(1)),
                    _ => setting.batching(setting.batch.or(self.batch)),
                },
                setting: setting.clone(),
            };
            UserSpec::new(format!("client {}", number + 1), client)
        };
        (0..clients).map(client).collect()
    }
    fn writes(&self) -> Option<Writes> {
        // A statement that reaches no row counts as one operation, and changes nothing.
        let every_table_has_rows = || (0..TABLES.len() as u64).all(|table| self.rows(table) > 0);
        let writes = match self.phase {
            ClientPhase::Insert | ClientPhase::Mixed => true,
            ClientPhase::Update | ClientPhase::Delete => every_table_has_rows(),
            ClientPhase::Select => false,
        };
        writes.then_some(Writes::committed(0))
    }
    fn check(&self, setting: &RoundSettings<'_>) -> Result<Vec<Check>, MicroError> {
        let rows = self.sum(setting.engine, |table| &table.count)?;
        let before: u64 = (0..TABLES.len() as u64).map(|table| self.rows(table)).sum();
        let changes = RoundTally::get(&setting.tally.changes);
        let is = |words: &str, expected, found| Ok(vec![same("rows", words.to_owned(), expected, found)]);
        match self.phase {
            ClientPhase::Insert => is("there are as many rows as were inserted", changes, rows),
            ClientPhase::Update => {
                let updated = self.sum(setting.engine, |table| &table.count_updated)?;
                is("as many rows are changed as were updated", changes, updated)
            }
            ClientPhase::Select => is("there are as many rows as before", before, rows),
            ClientPhase::Delete => is("as many rows are gone as were deleted", changes, before - rows.min(before)),
            // A row that an engine acknowledged and lost before its client came to delete it is not left over either.
            ClientPhase::Mixed => Ok(vec![
                same("rows", "what was inserted was deleted again".to_owned(), 0, rows),
                same(
                    "deletes",
                    "as many rows were deleted as were inserted".to_owned(),
                    changes / MIXED,
                    RoundTally::get(&setting.tally.found),
                ),
            ]),
        }
    }
}

struct MixClient<'s> {
    mix: &'s ClientMix,
    /// Tasks left of the client's share.
    left: u64,
    all: u64,
    /// Number of the next table, before the remainder is taken.
    turn: u64,
    /// Sums of the tables' ids before the round.
    ids: [i64; TABLE_COUNT],
    /// Ids of the sample, one a task.
    drawn: Vec<InsertValues>,
    random: SplitMix,
    batching: Batching,
    setting: RoundSettings<'s>,
}

impl User for MixClient<'_> {
    fn draw(&mut self, clock: &dyn Clock, _: &RoundControl) -> Draw {
        if self.left == 0 {
            if self.setting.is_real {
                return Draw::Finished;
            }
            // The null engine repeats its share until its time is known well enough.
            self.left = self.all;
        }
        let batch = self.batching.next(clock, self.left);
        self.left -= batch;
        let random = &mut self.random;
        self.drawn.clear();
        self.drawn.extend((0..batch).map(|_| InsertValues::of(random.below(LARGEST_ID + 1) as i64)));
        self.batching.begins(clock);
        Draw::Ready
    }

    fn is_timed(&self) -> bool {
        self.batching.is_timed()
    }

    fn perform(&mut self, cx: &mut OperationCx<'_>) -> OperationResult {
        let Self { mix, setting, .. } = self;
        let tasks = self.drawn.len() as u32;
        let mut count = 0;
        for values in &self.drawn {
            let table = &TABLES[(self.turn % TABLES.len() as u64) as usize];
            let rows = mix.rows(self.turn % TABLES.len() as u64);
            let ids = self.ids[(self.turn % TABLES.len() as u64) as usize];
            self.turn += 1;
            let done = match mix.phase {
                ClientPhase::Insert => cx.retrying(|connection| {
                    one(run(connection, mix.statements, &table.insert, &values.all(), &mut |_| Ok(()))?, setting)
                }),
                ClientPhase::Update => cx.retrying(|connection| {
                    all(run(connection, mix.statements, &table.update_all, &UPDATED, &mut |_| Ok(()))?, rows, setting)
                }),
                ClientPhase::Delete => cx.retrying(|connection| {
                    all(run(connection, mix.statements, &table.delete_all, &[], &mut |_| Ok(()))?, rows, setting)
                }),
                ClientPhase::Select => cx.retrying(|connection| {
                    let (mut found, mut sum) = (0, 0);
                    run(connection, mix.statements, &table.select_all, &[], &mut |row| {
                        // Each row is decoded, as a client would do.
                        sum += row.get::<i64>(0)?;
                        found += 1;
                        Ok(())
                    })?;
                    all(found, rows, setting)?;
                    if sum != ids && setting.is_real {
                        let words = "ids were read that are not those that were loaded";
                        return Err(EngineError::new(ErrorKind::Other, words));
                    }
                    Ok(1)
                }),
                ClientPhase::Mixed => mixed(cx, mix.statements, table, values, setting).map(|deleted| {
                    RoundTally::add(&setting.tally.found, deleted);
                    MIXED
                }),
            };
            match done {
                Ok(changed) => {
                    count += changed as u32;
                    RoundTally::add(&setting.tally.changes, changed);
                }
                Err(error) => return OperationResult::error(0, &error).times(tasks),
            }
        }
        // A table without rows is updated too: it counts as one.
        OperationResult::completed(0).times(count.max(1))
    }
}

/// Performs four statements, each a transaction of its own, and returns the number of rows deleted.
fn mixed(
    cx: &mut OperationCx<'_>,
    statements: StatementForm,
    table: &'static TableStatements,
    values: &InsertValues,
    setting: &RoundSettings<'_>,
) -> Result<u64> {
    let nothing = &mut |_: &dyn bourse_engine::Row| Ok(());
    cx.retrying(|connection| one(run(connection, statements, &table.insert, &values.all(), nothing)?, setting))?;
    // Ids are drawn from many, but two clients may have drawn the same: then one finds the rows of both, or none.
    cx.retrying(|connection| run(connection, statements, &table.update_one, &values.update(), nothing))?;
    cx.retrying(|connection| {
        run(connection, statements, &table.select_one, &values.id(), &mut |row| match row.get::<i64>(0)? {
            id if id == values.number() => Ok(()),
            id => Err(EngineError::new(ErrorKind::Other, format!("id {id} was read, not {}", values.number()))),
        })
    })?;
    cx.retrying(|connection| run(connection, statements, &table.delete_one, &values.id(), nothing))
}

fn one(changed: u64, setting: &RoundSettings<'_>) -> Result<u64> {
    all(changed, 1, setting)
}

/// Checks that a statement changed every row.
fn all(changed: u64, rows: u64, setting: &RoundSettings<'_>) -> Result<u64> {
    if changed == rows || !setting.is_real {
        return Ok(rows);
    }
    Err(EngineError::new(ErrorKind::Other, format!("{changed} of {rows} rows were reached")))
}
