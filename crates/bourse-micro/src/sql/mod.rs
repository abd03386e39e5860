//! `sql`: a person's own statements, with weights, set-up and checks, from a TOML or SQL file.
//!
//! | module | contents |
//! |---|---|
//! | `script` | contents of a file, checked |
//! | `from_toml`, `from_sql` | the two forms of a file |
//! | `pieces` | a statement's text in pieces; ends of statements |
//! | `draw`, `expression`, `columns` | values of parameters |
//! | `user` | the user that performs the operations |
//! | `start` | a file to begin with, written for a database |

mod columns;
mod draw;
mod expression;
mod from_sql;
mod from_toml;
mod pieces;
mod script;
mod start;
mod user;

use crate::batching::BATCH;
use crate::database::{UNFINISHED, create_by};
use crate::options::{OptionError, OptionKind, WorkloadOption, WorkloadOptions, option};
use crate::replay::{data, set_by_pragma};
use crate::round::not_synced;
use crate::row_sum::value_sum;
use crate::usual::{STATEMENTS, THREADS, executed, statements};
use crate::workload::{
    MicroError, PlannedWorkload, RoundExtent, RoundSettings, RoundTally, WorkloadSpec, digest_file, in_digits,
};
use bourse_driver::{Clock, MixShare, OperationSpec, UserSpec};
use bourse_engine::server_wait::check_interruption;
use bourse_engine::{
    Access, Capabilities, Dialect, Engine, EngineError, Inventory, Isolation, Result, Row, RowExt as _, Session, Sql,
    StatementForm, Value,
};
use bourse_record::{Check, NameValue, Round, Warning};
pub(crate) use pieces::{Pieces, TextPiece};

use columns::ColumnValues;
use draw::{Literal, ParameterStream, PreparedDistribution};
use script::{EqualityCheck, ScriptFault, ScriptStatement, Setup, SqlScript};
use sha2::Digest as _;
pub use start::start_file;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use user::{Performer, with_values};

/// Name of the option for the file.
pub(crate) const FILE: &str = "file";
/// Value of the option that selects the built-in example.
const EXAMPLE: &str = "example";
/// Contents of the example.
pub(crate) static EXAMPLE_FILE: &str = include_str!("shop.toml");

/// Name of the option of the workload `sql` for the database that a round begins with, a file that no process changes.
pub const FROM: &str = "from";
/// Value of an option for a file that means none.
pub const NOTHING: &str = "none";

/// Files of published experiments, by the option's values that select them.
static PUBLISHED: &[(&str, &str)] = &[
    ("speed-2003/4.toml", include_str!("speed/4.toml")),
    ("speed-2003/5.toml", include_str!("speed/5.toml")),
    ("speed-2003/6.toml", include_str!("speed/6.toml")),
    ("speed-2003/7.toml", include_str!("speed/7.toml")),
    ("speed-2003/11.toml", include_str!("speed/11.toml")),
    ("speed-2003/12.toml", include_str!("speed/12.toml")),
    ("speed-2003/13.toml", include_str!("speed/13.toml")),
    ("speed-2003/14.toml", include_str!("speed/14.toml")),
    ("begin-2024/1-0.toml", include_str!("begin/1-0.toml")),
    ("begin-2024/10-0.toml", include_str!("begin/10-0.toml")),
    ("begin-2024/1-10.toml", include_str!("begin/1-10.toml")),
    ("begin-2024/10-10.toml", include_str!("begin/10-10.toml")),
];

const SCALE: WorkloadOption = option!("scale" => OptionKind::Count { min: 1, max: 10_000 }, "1",
    "value of :scale in a .sql file; pgbench's tables have 100,000 accounts for each");

/// Declaration of the workload.
pub(crate) static SPEC: WorkloadSpec = WorkloadSpec {
    name: "sql",
    summary: "runs the statements of a TOML or SQL file, chosen by weight",
    tables: "those that the file's set-up creates, and those of the database `from`",
    needs: "SQL",
    options: &[
        WorkloadOption {
            name: FILE,
            kind: OptionKind::Text(
                "a file name ending in .toml or .sql, several as a.sql@2,b.sql@1 with weights, or example",
            ),
            default: EXAMPLE,
            meaning: "file of statements, as in `bourse micro run sql FILE TARGET…`; example: a small shop, the file \
                      examples/shop.toml",
        },
        option!(FROM => OptionKind::Text("a database file of SQLite, or none"), NOTHING,
            "database of your own: each round begins with the tables and rows of a copy of it"),
        SCALE,
        THREADS,
        STATEMENTS,
        BATCH,
    ],
    extent: RoundExtent::Time,
    plan,
};

struct OwnStatements {
    script: SqlScript,
    names: Vec<&'static str>,
    /// Copy of a database that the run begins with.
    from: Option<PathBuf>,
    /// Values of columns, by the numbers of their parameters.
    values: OnceLock<BTreeMap<usize, ColumnValues>>,
    threads: usize,
    statements: StatementForm,
    batch: Option<u64>,
}

/// Parses a file's text in the form that its name implies, and adds it to a script.
fn read(script: &mut SqlScript, name: &str, text: &str) -> Result<(), OptionError> {
    // A byte order mark, as editors of some systems write one.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    script.file = name.into();
    let read = match std::path::Path::new(name).extension().and_then(|ending| ending.to_str()) {
        Some("toml") => from_toml::read(script, text),
        Some("sql") if text.contains('\r') && !text.contains('\n') => Err(ScriptFault::at(
            1,
            "its lines end in a carriage return alone: a line feed, with or without one before it, is expected",
        )),
        Some("sql") => from_sql::read(script, text),
        _ => {
            let what = "its name says no form: .toml or .sql is expected".to_owned();
            return Err(OptionError::File { place: name.to_owned(), what });
        }
    };
    read.map_err(|fault| fault.in_file(name))
}

/// Number of operations in a file of statements; its name implies the form.
///
/// # Errors
/// [`OptionError::File`] with the defect and its line.
pub fn operations_of(name: &str, text: &str) -> Result<usize, OptionError> {
    let mut script = SqlScript { scale: 1, ..SqlScript::default() };
    read(&mut script, name, text)?;
    let script = script.finished().map_err(|fault| fault.in_file(name))?;
    Ok(script.operations.len())
}

/// Reads the files of a list, `FILE@WEIGHT,FILE@WEIGHT`; a weight multiplies those of a file's operations.
fn read_all(script: &mut SqlScript, names: &str) -> Result<(), OptionError> {
    let is_one = std::path::Path::new(names).exists();
    let parts: Vec<&str> = if is_one { vec![names] } else { names.split(',').collect() };
    for &part in &parts {
        let weighted = part.rsplit_once('@').and_then(|(name, weight)| Some((name, weight.parse().ok()?)));
        let (name, weight) = weighted.filter(|_| !is_one).unwrap_or((part, 1));
        let fault = |what: String| OptionError::File { place: name.to_owned(), what };
        let text =
            bourse_record::regular_text(name.as_ref()).map_err(|error| fault(format!("cannot be read: {error}")))?;
        if parts.len() > 1 && !name.ends_with(".sql") {
            return Err(fault("of several files each is a .sql file, with its weight: a.sql@2,b.sql@1".to_owned()));
        }
        script.contents.get_or_insert_default().update(&text);
        let before = script.operations.len();
        read(script, name, &text)?;
        script.weigh(before, weight).map_err(|what| what.in_file(name))?;
    }
    Ok(())
}

fn plan(options: &WorkloadOptions) -> Result<Box<dyn PlannedWorkload>, OptionError> {
    let names = options.text(FILE);
    let mut script = SqlScript { scale: options.size(SCALE.name) as u64, ..SqlScript::default() };
    match PUBLISHED.iter().find(|(name, _)| *name == names) {
        Some((name, text)) => read(&mut script, name, text)?,
        None if names == EXAMPLE => read(&mut script, "examples/shop.toml", EXAMPLE_FILE)?,
        None => read_all(&mut script, names)?,
    }
    let script = script.finished().map_err(|fault| fault.in_file(names))?;
    if script.scale > 1 && !script.is_scaled {
        let what = format!("scale={} has no effect: the file has neither :scale nor pgbench's tables", script.scale);
        return Err(OptionError::File { place: names.to_owned(), what });
    }
    let from = Some(options.text(FROM)).filter(|from| *from != NOTHING).map(PathBuf::from);
    let column = script.parameters.iter().find_map(|(name, declared)| Some((name, declared.column()?)));
    if let (Some((name, column)), None) = (column, &from) {
        let what = format!("parameter {name} is drawn from a column: --from DB names the database that has it");
        return Err(OptionError::File { place: column.place.clone(), what });
    }
    Ok(Box::new(OwnStatements {
        from,
        values: OnceLock::new(),
        // A handful of names that live as long as the process.
        names: script.operations.iter().map(|operation| &*operation.name.clone().leak()).collect(),
        script,
        threads: options.size("threads"),
        statements: statements(options),
        batch: options.count_or(BATCH.name),
    }))
}

impl OwnStatements {
    /// A statement for engines of that dialect; its text lives as long as the process, as all statements do.
    fn sql(&self, text: &str, dialect: &Dialect) -> &'static Sql {
        Box::leak(Box::new(Sql::new(self.script.filled(text, dialect).leak())))
    }

    fn ready(&self) -> Vec<Arc<PreparedDistribution>> {
        let read = |number: usize| self.values.get()?.get(&number);
        let parameters = self.script.parameters.iter().enumerate();
        parameters.map(|(number, (_, it))| Arc::new(PreparedDistribution::of(it, read(number)))).collect()
    }

    /// Converts the error of a statement of the file.
    fn failed_at(&self, statement: &ScriptStatement) -> impl FnOnce(EngineError) -> MicroError + use<> {
        let place = statement.place();
        let sql = statement.sql.clone();
        move |error| MicroError::Statement { place, error: error.with_statement(&sql) }
    }

    /// Refuses a setting that the set-up would make in vain: each measured session has its own from the target.
    fn refuse_settings(&self, engine: &dyn Engine) -> Result<(), MicroError> {
        let settings = engine.description().map_err(MicroError::engine("reading the settings"))?.settings;
        let is_known = |name: &str| settings.iter().any(|setting| setting.name == name);
        for Setup { statement, .. } in &self.script.setup {
            if let Some((name, _)) = set_by_pragma(&statement.sql).filter(|(name, _)| is_known(name)) {
                let why = format!(
                    "{name} would not be set where it is measured: each session has its settings from the target, as in \
                     sqlite:x.db?journal=wal"
                );
                return Err(self.failed_at(statement)(EngineError::unsupported(why)));
            }
        }
        Ok(())
    }

    /// Refuses a statement on a table or view of the database that this engine cannot have, with the reason.
    fn refuse_left_out(&self, facts: &[NameValue]) -> Result<(), MicroError> {
        for NameValue { value, .. } in facts.iter().filter(|fact| fact.name == "left out") {
            let name = ["virtual table ", "table ", "view "].iter().find_map(|kind| value.strip_prefix(kind));
            if let Some(statement) = name.and_then(|name| self.script.naming(name.split_once(": ")?.0)) {
                let why = format!("this engine's database is without {value}");
                return Err(self.failed_at(statement)(EngineError::unsupported(why)));
            }
        }
        Ok(())
    }

    /// Runs the set-up from statement `from` on, many in a transaction.
    fn set_up(&self, engine: &dyn Engine, from: usize) -> Result<(), MicroError> {
        const TRANSACTION: u64 = 1_000;
        let ready = self.ready();
        let mut streams: Vec<ParameterStream> =
            ready.iter().map(|ready| ParameterStream::new(ready, 1, 0, 1)).collect();
        let doing = || MicroError::engine("connecting");
        let dialect = engine.sql().map_err(doing())?.dialect();
        let mut session = engine.session().map_err(doing())?;
        let mut values = vec![Literal::Int(0); ready.len()];
        for setup in &self.script.setup[from..] {
            let doing = || self.failed_at(&setup.statement);
            let sql = self.sql(&setup.statement.sql, dialect);
            let drawn = self.script.drawn([&setup.statement]);
            let mut once = |session: &mut dyn Session| {
                check_interruption(UNFINISHED)?;
                for &number in &drawn {
                    let drawn = streams[number].draw(number, &mut values);
                    drawn.map_err(|fault| self.script.undefined(number, &fault))?;
                }
                run(session, &setup.statement, sql, StatementForm::Prepared, &values).map(|_| ())
            };
            if setup.repeat == 1 {
                // Alone: not every engine permits `CREATE TABLE` in a transaction with other statements.
                once(session.as_mut()).map_err(doing())?;
                Inventory::adopt(session.as_mut()).map_err(doing())?;
                continue;
            }
            for from in (0..setup.repeat).step_by(TRANSACTION as usize) {
                session.begin(Isolation::ReadCommitted, Access::Write).map_err(doing())?;
                for _ in from..setup.repeat.min(from + TRANSACTION) {
                    once(session.as_mut()).map_err(doing())?;
                }
                session.commit().map_err(doing())?;
            }
        }
        Ok(())
    }

    fn ask(&self, session: &mut dyn Session, equals: &EqualityCheck) -> Result<Check> {
        let text = self.sql(&equals.sql, session.dialect()).render(session.dialect());
        let (mut rows, mut columns, mut value) = (0_u64, 0, None);
        session.query_text(&text, &[], &mut |row: &dyn Row| {
            (rows, columns) = (rows + 1, row.columns());
            if rows == 1 && columns == 1 {
                value = Some((is_same(row.value(0), &equals.equals), shown(row.value(0))));
            }
            Ok(())
        })?;
        let (holds, words) = match (rows, columns, value) {
            (1, 1, Some(value)) => value,
            // Any other result has no single value.
            (0, ..) => (false, "no row: a check has one row of one column".to_owned()),
            _ => (false, format!("{}: a check has one row of one column", extent(rows, columns))),
        };
        let condition = format!("{text} is {}", equals.equals.words());
        Ok(Check::new("file's check", condition, "the file", holds, format!("found {words}")))
    }
}

/// Adds the place of a statement in the file to its error.
#[cold]
fn located(error: EngineError, place: &str) -> EngineError {
    error.during(place)
}

/// Runs a statement with its parameters' values, by their numbers; returns the number of rows returned or changed.
fn run(
    session: &mut dyn Session,
    statement: &ScriptStatement,
    sql: &'static Sql,
    how: StatementForm,
    values: &[Literal],
) -> Result<u64> {
    with_values(&statement.parameters, values, |values| {
        let mut rows = 0;
        let mut each = |row: &dyn Row| {
            rows += 1;
            // A client reads its results: each column is decoded, and every byte of it examined.
            let columns = *statement.columns.get_or_init(|| row.columns());
            let sum = (0..columns).fold(0u64, |sum, column| sum.wrapping_add(value_sum(row.value(column))));
            std::hint::black_box(sum);
            Ok(())
        };
        let changed = executed(session, sql, how, statement.is_query, values, &mut each)?;
        Ok(rows + changed)
    })
}

/// Whether an engine's value equals the literal of a file; numbers by value, whatever their type.
fn is_same(value: Value<'_>, literal: &Literal) -> bool {
    let number = match value {
        Value::Int(number) => Some(number as f64),
        Value::Bool(flag) => Some(f64::from(u8::from(flag))),
        Value::Decimal { units, scale } => Some(units as f64 / 10f64.powi(i32::from(scale))),
        Value::Real(number) => Some(number),
        Value::Text(text) => text.parse().ok(),
        Value::Blob(bytes) => std::str::from_utf8(bytes).ok().and_then(|text| text.parse().ok()),
        _ => None,
    };
    match (literal, value) {
        (Literal::Int(wanted), _) => number == Some(*wanted as f64),
        (Literal::Real(wanted), _) => number.is_some_and(|number| (number - wanted).abs() <= wanted.abs() * 1e-9),
        (Literal::Text(wanted), Value::Text(text)) => text == wanted,
        (Literal::Text(wanted), Value::Blob(bytes)) => bytes == wanted.as_bytes(),
        (Literal::Text(_) | Literal::Blob(_) | Literal::Null, _) => false,
    }
}

/// Rows and columns of a result, in words.
fn extent(rows: u64, columns: usize) -> String {
    let plural = |is_one: bool| if is_one { "" } else { "s" };
    format!("{rows} row{} of {columns} column{}", plural(rows == 1), plural(columns == 1))
}

fn shown(value: Value<'_>) -> String {
    match value {
        Value::Null => "NULL".to_owned(),
        Value::Int(number) => number.to_string(),
        Value::Real(number) => number.to_string(),
        Value::Text(text) => format!("{text:?}"),
        other => format!("{other:?}"),
    }
}

impl PlannedWorkload for OwnStatements {
    fn operations(&self) -> Vec<OperationSpec> {
        let all: u64 = self.script.operations.iter().map(|operation| operation.weight).sum();
        let spec = |(operation, name): (&script::ScriptOperation, &&'static str)| {
            // Drawn, not dealt: a short round may be off by much and is no worse for it.
            let share =
                MixShare { target_percent: 100.0 * operation.weight as f64 / all as f64, tolerance_points: 100.0 };
            OperationSpec { mix: (self.names.len() > 1).then_some(share), ..OperationSpec::new(name) }
        };
        self.script.operations.iter().zip(&self.names).map(spec).collect()
    }
    fn headline(&self) -> Option<usize> {
        (self.names.len() == 1).then_some(0)
    }
    fn unit(&self) -> &'static str {
        "operations/s"
    }
    fn lacking(&self, capabilities: &Capabilities) -> Vec<String> {
        if capabilities.sql.is_some() { Vec::new() } else { vec!["it needs SQL".to_owned()] }
    }
    fn is_confined(&self) -> bool {
        true
    }
    fn contents(&self) -> Option<String> {
        let mut contents = self.script.contents.clone()?;
        if let Some(from) = &self.from {
            digest_file(&mut contents, from).ok()?;
        }
        Some(in_digits(contents))
    }
    fn has_holes(&self) -> bool {
        self.script.holes_used().next().is_some()
    }
    fn missing_holes(&self, dialect: &Dialect) -> Vec<String> {
        let open = self.script.open_holes(dialect);
        open.iter().map(|hole| format!("the file has no word for {{{hole}}} in dialect {}", dialect.name)).collect()
    }
    fn allows_failures(&self) -> bool {
        false
    }
    fn threads(&self) -> usize {
        self.threads
    }
    fn prepare(&self, engine: &dyn Engine, _: &dyn Clock) -> Result<Vec<NameValue>, MicroError> {
        let setup = &self.script.setup;
        let sql = engine.sql().map_err(MicroError::engine("making the tables"))?;
        self.refuse_settings(engine)?;
        if let Some(from) = &self.from {
            let (values, drawn) = columns::read(&self.script.parameters, from)?;
            let _ = self.values.set(values);
            let mut facts = data::load(engine, Some(from), None)?.1;
            self.refuse_left_out(&facts)?;
            facts.extend(drawn);
            self.set_up(engine, 0)?;
            return Ok(facts);
        }
        let first = setup.iter().position(|it| it.repeat != 1 || !it.statement.parameters.is_empty());
        let first = first.unwrap_or(setup.len());
        let dialect = sql.dialect();
        let plain: Vec<String> =
            setup[..first].iter().map(|it| self.sql(&it.statement.sql, dialect).render(dialect)).collect();
        create_by(engine, &plain, &|number, error| self.failed_at(&setup[number].statement)(error))?;
        self.set_up(engine, first)?;
        Ok(Vec::new())
    }
    fn users<'s>(&'s self, setting: &RoundSettings<'s>) -> Vec<UserSpec<'s>> {
        let ready = self.ready();
        let dialect = setting.engine.sql().expect("an engine without SQL is refused before").dialect();
        let sqls =
            self.script.operations.iter().map(|operation| {
                operation.statements.iter().map(|statement| self.sql(&statement.sql, dialect)).collect()
            });
        let sqls: Arc<[Vec<&'static Sql>]> = sqls.collect();
        let user = |thread| {
            let streams = (0..).zip(&ready).map(|(number, ready)| {
                ParameterStream::new(ready, setting.seed.wrapping_add(number * 1_000_003), thread, self.threads)
            });
            let streams = streams.collect();
            let performer =
                Performer::new(&self.script, sqls.clone(), streams, self.statements, self.batch, setting, thread);
            UserSpec::new(format!("user {}", thread + 1), performer)
        };
        (0..self.threads).map(user).collect()
    }
    fn finish(&self, setting: &RoundSettings<'_>, round: &mut Round) {
        round.warnings.extend(not_synced(setting, round, self.threads));
        let changed = RoundTally::get(&setting.tally.changes);
        if self.script.changes_rows() && setting.is_real && changed == 0 && round.failed() == 0 {
            round.warnings.push(Warning::NothingChanged);
        }
        // The operations may have made tables. An error here follows one that the round has reported.
        let _ = setting.engine.session().and_then(|mut session| Inventory::adopt(session.as_mut()));
    }
    fn check(&self, setting: &RoundSettings<'_>) -> Result<Vec<Check>, MicroError> {
        let mut session = setting.engine.session().map_err(MicroError::engine("connecting to check"))?;
        let asked = self.script.checks.iter().map(|equals| self.ask(session.as_mut(), equals));
        asked.collect::<Result<_, _>>().map_err(MicroError::engine("checking"))
    }
}
