//! Arguments of workloads whose users draw transactions by their shares: `bourse tatp` and its like.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // reads untrusted input

use super::{
    AcidLoad, AcidOptions, ArrivalsArg, CheckDepth, ConstraintsArg, DriverArgs, EXIT_CODES, ExecutionArgs,
    GivenOptions, LoadArgs, MemoryArgs, OutputArgs, ServeArgs, TpceCheck, VerifySettings, numbers, run_help,
};
use bourse_record::ResponseLimit;
use clap::builder::UnknownArgumentValueParser;
use clap::{Arg, Args, Subcommand};
use std::time::Duration;

#[derive(Debug, Subcommand)]
pub(crate) enum MixCommand {
    /// Run the workload: load if needed, warm up, measure, check, report
    Run(Box<MixRun>),
    /// Load a database and stop
    Load(LoadArgs<MixDatabase>),
    /// Serve a database to drivers on other machines, which run on bourse://HOST:PORT
    Serve(ServeArgs<MixDatabase>),
    /// Check a loaded database: schema, contents, consistency conditions, row counts, foreign keys, integrity
    Check(TpceCheck),
    /// Run tests of atomicity, consistency, isolation and durability
    Acid(MixAcidArgs),
    /// Work on a database until killed; started by `acid`
    #[command(hide = true)]
    AcidLoad(AcidLoad),
    /// Run the same transactions on several targets and compare every output and every row
    Verify(MixVerify),
}

/// Options of the database.
#[derive(Debug, Clone, Args)]
#[command(
    next_help_heading = "Database",
    arg(Arg::new("customers").long("customers").hide(true).value_parser(UnknownArgumentValueParser::suggest_arg("--size")))
)]
pub(crate) struct MixDatabase {
    /// Size of the database
    #[arg(long, value_name = "N", value_parser = numbers::size)]
    pub(crate) size: Option<u64>,
    /// Constraints that the database declares and enforces
    #[arg(long, value_enum, default_value_t = ConstraintsArg::Full, env = "BOURSE_CONSTRAINTS")]
    pub(crate) constraints: ConstraintsArg,
    /// Replace an existing database
    #[arg(long)]
    pub(crate) reload: bool,
}

impl Default for MixDatabase {
    /// The database of a run without options.
    fn default() -> Self {
        Self { size: None, constraints: ConstraintsArg::Full, reload: false }
    }
}

/// Options of a run that every transactional workload has; help is that of `tpce run`.
#[derive(Debug, Clone, Args)]
pub(crate) struct OltpRun {
    /// Number of concurrent clients, one session each [default: number of CPUs]
    #[arg(short, long, help_heading = "Workload", short_alias = 'c', aliases = ["clients", "connections", "threads"], allow_negative_numbers = true, value_name = "N", value_parser = numbers::threads, env = "BOURSE_USERS")]
    pub(crate) users: Option<usize>,
    /// Processes that the users are shared out over, each with the same database open: as several programs use it
    #[arg(long, help_heading = "Workload", allow_negative_numbers = true, value_name = "N", default_value_t = 1, value_parser = numbers::processes, env = "BOURSE_PROCESSES")]
    pub(crate) processes: u32,
    /// Length of the measurement interval [default: 40s; 30s with --rate, --rounds, --warmup, --sweep, --processes, several
    /// targets or a server]
    #[arg(short = 'T', long = "for", help_heading = "Workload", short_alias = 'd', aliases = ["duration", "time"], allow_hyphen_values = true, value_name = "TIME", value_parser = numbers::duration, env = "BOURSE_FOR")]
    pub(crate) duration: Option<Duration>,
    /// Warm-up time before the measurement [default: 10 to 30 s, until the rate shows no trend; 10s where --for is 30s]
    #[arg(long, help_heading = "Workload", allow_hyphen_values = true, value_name = "TIME", value_parser = numbers::duration, env = "BOURSE_WARMUP")]
    pub(crate) warmup: Option<Duration>,
    /// Arrivals with --rate or --find-max: their distances, and who waits for them [default: poisson]
    #[arg(long, help_heading = "Workload", value_enum, env = "BOURSE_ARRIVALS")]
    pub(crate) arrivals: Option<ArrivalsArg>,
    /// Search for the highest rate that meets every response-time limit, and confirm it with a run of full length
    #[arg(long, help_heading = "Workload", conflicts_with = "rate", env = "BOURSE_FIND_MAX")]
    pub(crate) find_max: bool,
    /// Repeat with each of these values of users, market-users, processes, rate, backlog, market, customers, days, scale-factor, or
    /// a target option, for example journal=delete,wal; several --sweep are combined
    #[arg(long, value_name = "OPTION=A,B,C", help_heading = "Rounds")]
    pub(crate) sweep: Vec<String>,
    /// Rounds on each target, each on the restored database; targets are interleaved; six or more have an interval
    /// [default: 1; 8 when targets are compared]
    #[arg(long, allow_negative_numbers = true, help_heading = "Rounds", value_name = "N", value_parser = numbers::rounds, env = "BOURSE_ROUNDS")]
    pub(crate) rounds: Option<u32>,
    /// Depth of the checks before and after the run
    #[arg(long, help_heading = "Rounds", value_enum, default_value_t = CheckDepth::Full, env = "BOURSE_CHECK")]
    pub(crate) check: CheckDepth,
    #[command(flatten)]
    pub(crate) memory: MemoryArgs,
    #[command(flatten)]
    pub(crate) execution: ExecutionArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Sets the help of an option.
fn help(text: &'static str) -> impl FnOnce(Arg) -> Arg {
    move |it| it.help(text)
}

/// Words of one workload in the help of its commands.
struct MixWords {
    /// Unit of sizes, which is another name of the option.
    unit: &'static str,
    /// Help of the size, of runs and of comparisons.
    size: [&'static str; 2],
    /// Help of response-time limits.
    limit: &'static str,
    /// Help of the ACID tests; empty if the workload has none.
    acid: &'static str,
    /// Examples of runs.
    run: &'static str,
}

/// A command of TATP.
pub(crate) fn of_tatp(command: clap::Command) -> clap::Command {
    worded(
        command,
        &MixWords {
            unit: "subscribers",
            size: [
                "Size of the database: its number of subscribers, a multiple of 1,000 [default: 100000]",
                "Size of the database: its number of subscribers, a multiple of 1,000 [default: 10000]",
            ],
            limit: "Response-time limit for --find-max, as p99=10ms; Update-Location:p99=10ms is that of one transaction",
            acid: "",
            run: run_help!(
                "bourse tatp run sqlite:t.db --users 8 --for 30s",
                "bourse tatp run 'sqlite:t.db?sync=full' postgres+private: --rounds 6",
                "bourse tatp run sqlite:t.db --find-max --limit p99=5ms",
            ),
        },
    )
}

/// A command of the workload derived from TPC-C.
pub(crate) fn of_tpcc(command: clap::Command) -> clap::Command {
    const SIZE: &str = "Size of the database: its number of warehouses, of about 600,000 rows each [default: 1]";
    worded(
        command,
        &MixWords {
            unit: "warehouses",
            size: [SIZE; 2],
            limit: "Response-time limit for --find-max, as p90=50ms; New-Order:p90=50ms is that of one transaction",
            acid: "Run tests of atomicity, consistency, isolation and durability",
            run: run_help!(
                "bourse tpcc run sqlite:c.db --warehouses 2 --users 8 --for 30s",
                "bourse tpcc run 'sqlite:c.db?sync=full' postgres+private: --rounds 6",
                "bourse tpcc run sqlite:c.db --find-max --limit New-Order:p90=50ms",
            ),
        },
    )
}

/// Sets the words of a workload in the help of one of its commands.
fn worded(command: clap::Command, words: &MixWords) -> clap::Command {
    let [of_runs, of_comparisons] = words.size;
    match command.get_name() {
        "check" | "acid-load" => command,
        "acid" => command.hide(words.acid.is_empty()).about(words.acid),
        "verify" => command.mut_arg("size", |it| it.visible_alias(words.unit).help(of_comparisons)),
        "run" => command
            .mut_arg("size", |it| it.visible_alias(words.unit).help(of_runs))
            .mut_arg("limit", |it| it.help(words.limit))
            .after_help(words.run),
        _ => command.mut_arg("size", |it| it.visible_alias(words.unit).help(of_runs)),
    }
}

#[derive(Debug, Clone, Args)]
#[command(
    mut_arg("users", help("Number of concurrent clients, one session each [default: 4]")),
    mut_arg("duration", help("Length of the measurement interval [default: 10s]")),
    mut_arg("warmup", help("Warm-up time before the measurement [default: 2s]")),
    mut_arg("arrivals", help("Arrivals with --rate or --find-max: their distances, and who waits for them [default: poisson; shared with --find-max]")),
    mut_arg("find_max", |it| it.help("Search for the highest rate that meets every --limit, and confirm it with a round of full length").requires("limit")),
    mut_arg("sweep", help("Repeat with each of these values of users, processes, rate, size, or a target option; several --sweep are combined")),
    mut_arg("part", help("Number of this driver among several that share a round, on a server or with --coordinate, for example 1/3. They start together")),
    mut_arg("rounds", help("Rounds on each target, each on the restored database; targets are interleaved; six or more have an interval [default: 1; 6 or more when targets are compared]")),
)]
pub(crate) struct MixRun {
    /// Database URLs, such as sqlite:PATH or sqlite::memory:, or servers, such as bourse://HOST:PORT [default: a SQLite file
    /// below ./bourse-data]
    #[arg(value_name = "TARGET")]
    pub(crate) targets: Vec<String>,
    #[command(flatten)]
    pub(crate) run: OltpRun,
    /// Target rate in transactions a second of all users together (open loop): response times count from when a transaction
    /// was due [default: as fast as possible]
    #[arg(short = 'R', long, help_heading = "Workload", allow_negative_numbers = true, value_name = "N", value_parser = numbers::operations_a_second, env = "BOURSE_RATE")]
    pub(crate) rate: Option<f64>,
    /// Users at terminals, as the workload's rules have them: they pause to key in and to think, and what may be deferred has a
    /// session of its own
    #[arg(long, help_heading = "Workload", conflicts_with_all = ["rate", "find_max"])]
    pub(crate) terminals: bool,
    /// Response-time limit for --find-max
    #[arg(long, help_heading = "Workload", requires = "find_max", value_name = "QUANTILE=TIME", value_delimiter = ',', value_parser = numbers::response_limit)]
    pub(crate) limit: Vec<ResponseLimit>,
    #[command(flatten)]
    pub(crate) drivers: DriverArgs,
    #[command(flatten)]
    pub(crate) database: MixDatabase,
    /// Options that were set explicitly.
    #[arg(skip)]
    pub(crate) given: GivenOptions,
}

#[derive(Debug, Args)]
#[command(
    after_help = EXIT_CODES,
    mut_arg("repeats", help("Repetitions of each isolation test, on different rows, with each outcome (commit, rollback)")),
    mut_arg("seed", help("Seed of the work of several sessions, and of the crashes")),
)]
pub(crate) struct MixAcidArgs {
    /// Database URL, loaded with the smallest database unless it holds one; the tests leave rows in it [default: a SQLite file
    /// below ./bourse-data]
    #[arg(value_name = "TARGET")]
    pub(crate) target: Option<String>,
    #[command(flatten)]
    pub(crate) tests: AcidOptions,
    /// Replace an existing database
    #[arg(long)]
    pub(crate) reload: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES, mut_arg("transactions", |it| it.default_value("20000")))]
pub(crate) struct MixVerify {
    /// Database URLs to compare; `model:` is the reference in plain Rust
    #[arg(value_name = "TARGET", default_values = ["sqlite::memory:", "model:"])]
    pub(crate) targets: Vec<String>,
    #[command(flatten)]
    pub(crate) settings: VerifySettings,
    #[command(flatten)]
    pub(crate) database: MixDatabase,
}
