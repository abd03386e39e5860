//! `bourse tpce …`: the brokerage workload.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // reads untrusted input

use super::{
    DatabaseArgs, DriverArgs, DryRun, EXIT_CODES, GivenOptions, OltpRun, OutputArgs, SERVE_CODES, ServerArgs, numbers,
    run_help,
};
use bourse_engine::Durability;
use clap::{Args, Subcommand, ValueEnum};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, Subcommand)]
#[command(after_help = NOTICE)]
pub(crate) enum TpceCommand {
    /// Run the workload: load if needed, warm up, measure, check, report
    Run(Box<TpceRun>),
    /// Load a database and stop
    Load(LoadArgs<DatabaseArgs>),
    /// Write the rows of the initial database to files
    Gen(TpceGen),
    /// Serve a database to drivers on other machines: `bourse tpce run bourse://HOST:PORT`
    Serve(ServeArgs<DatabaseArgs>),
    /// Check a loaded database: schema, contents, consistency conditions, row counts, foreign keys, integrity
    Check(TpceCheck),
    /// Run the specification's tests of atomicity, consistency, isolation and durability
    Acid(TpceAcid),
    /// Work on a database until killed; started by `acid`
    #[command(hide = true)]
    AcidLoad(AcidLoad),
    /// Run the same transactions on several targets and compare every output and every row
    Verify(TpceVerify),
}

pub(crate) use bourse_tpce::users::NOTICE;

#[derive(Debug, Clone, Args)]
#[command(after_help = run_help!(
    "bourse tpce run",
    "bourse tpce run 'sqlite:x.db?sync=full' 'sqlite:x.db?sync=normal' --rounds 6",
    "bourse tpce run sqlite:x.db --users 8 --rate 500 --for 5m",
    "bourse tpce run mariadb+private: --find-max",
    "bourse tpce run 'postgres://ann@db/tpce' --part 1/3 --coordinate 127.0.0.1:4781",
))]
pub(crate) struct TpceRun {
    /// Database URLs, such as sqlite:PATH?journal=wal&sync=full or sqlite::memory:, or servers of `bourse tpce serve`, such
    /// as bourse://HOST:PORT or bourse+unix:PATH [default: a SQLite file below ./bourse-data]
    #[arg(value_name = "TARGET")]
    pub(crate) targets: Vec<String>,
    #[command(flatten)]
    pub(crate) settings: RunSettings,
    #[command(flatten)]
    pub(crate) drivers: DriverArgs,
    /// Options that were set explicitly.
    #[arg(skip)]
    pub(crate) given: GivenOptions,
}

/// Options of a run on any target.
#[derive(Debug, Clone, Args)]
pub(crate) struct RunSettings {
    #[command(flatten)]
    pub(crate) database: DatabaseArgs,
    #[command(flatten)]
    pub(crate) run: OltpRun,
    /// Threads that run the market's requests: Trade-Result and Market-Feed [default: half the users, at least 2]
    #[arg(long, help_heading = "Workload", allow_negative_numbers = true, value_name = "N", value_parser = numbers::threads, env = "BOURSE_MARKET_USERS")]
    pub(crate) market_users: Option<usize>,
    /// Warm up and measure until throughput is found to be steady or not, at most this long in all
    #[arg(long, help_heading = "Workload", allow_hyphen_values = true, value_name = "TIME", value_parser = numbers::duration, env = "BOURSE_UNTIL_STEADY", conflicts_with_all = ["duration", "warmup", "find_max"])]
    pub(crate) until_steady: Option<Duration>,
    /// After each round, measure response times at 70 % of its rate for 20 s, with --arrivals shared [default: after a single
    /// round in a closed loop whose length is not given]
    #[arg(long, help_heading = "Workload", env = "BOURSE_LATENCY", conflicts_with_all = ["rate", "find_max"])]
    pub(crate) latency: bool,
    /// Target rate in Trade-Results a second (open loop): response times count from when a transaction was due [default: as
    /// fast as possible]
    #[arg(short = 'R', long, help_heading = "Workload", allow_negative_numbers = true, value_name = "N", value_parser = numbers::rate, env = "BOURSE_RATE")]
    pub(crate) rate: Option<f64>,
    /// Transactions that may wait for a client with --rate; more are dropped and counted [default: 5 s of the rate]
    #[arg(long, help_heading = "Workload", value_name = "N", value_parser = numbers::backlog, env = "BOURSE_BACKLOG")]
    pub(crate) backlog: Option<usize>,
    /// Age of the market when each round begins. `new`: it opens with the round, and owes fewer Trade-Results than orders are
    /// placed for 15 minutes. `aged`: the limit orders that would be pending after 15 minutes at --rate or --find-max are placed
    /// before the round. `aged=N`: those of N Trade-Results a second, also without a rate
    #[arg(long, help_heading = "Workload", value_name = "AGE", default_value = "new", value_parser = numbers::market, env = "BOURSE_MARKET")]
    pub(crate) market: MarketAge,
    /// Record the values that transactions found and left, and examine them after each round: a broken promise of isolation
    /// voids the figure. Recording costs up to a tenth of a transaction's processor time, and memory for at most a million
    /// transactions. With =DIR a folder gets each round's history, for `bourse isolation --replay` and Elle
    #[arg(long, help_heading = "Workload", value_name = "DIR", num_args = 0..=1, require_equals = true, env = "BOURSE_HISTORY")]
    pub(crate) history: Option<Option<PathBuf>>,
}

/// Age of the market when a round begins.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum MarketAge {
    /// Market that opens with the round.
    #[default]
    New,
    /// Market that has been open for 15 minutes at the rate of the round.
    Aged,
    /// Market that has been open for 15 minutes at so many Trade-Results a second.
    AgedAt(f64),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum CheckDepth {
    /// The checks of quick, and also: the initial rows of growing tables compared with the generator's before the run, and a
    /// sample of transactions compared with the reference model after it, on a small separate database
    Full,
    /// Before the run: schema, row counts, fixed tables; after it: consistency conditions, integrity
    Quick,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ArrivalsArg {
    /// Random arrivals, as from many independent customers; each client waits for its own
    #[default]
    #[value(alias = "per-user")]
    Poisson,
    /// Evenly spaced arrivals; each client waits for its own
    Constant,
    /// Random arrivals in one stream, taken by whichever client is free
    Shared,
    /// Evenly spaced arrivals in one stream, taken by whichever client is free
    SharedConstant,
}

impl ArrivalsArg {
    /// Whether they are evenly spaced.
    pub(crate) fn is_even(self) -> bool {
        matches!(self, Self::Constant | Self::SharedConstant)
    }

    /// Whether all clients share one stream of them.
    pub(crate) fn is_shared(self) -> bool {
        matches!(self, Self::Shared | Self::SharedConstant)
    }

    /// Its name, as it is typed.
    pub(crate) fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }
}

/// Arguments of loading a database of a workload.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct LoadArgs<D: Args> {
    /// Database URL, for example sqlite:PATH
    #[arg(value_name = "TARGET")]
    pub(crate) target: String,
    #[command(flatten)]
    pub(crate) database: D,
    #[command(flatten)]
    pub(crate) plan: DryRun,
}

/// Arguments of serving a database of a workload.
#[derive(Debug, Args)]
#[command(after_help = SERVE_CODES)]
pub(crate) struct ServeArgs<D: Args> {
    #[command(flatten)]
    pub(crate) server: ServerArgs,
    #[command(flatten)]
    pub(crate) database: D,
    /// Options that were set explicitly.
    #[arg(skip)]
    pub(crate) given: GivenOptions,
}

#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct TpceCheck {
    /// Database URL, for example sqlite:PATH
    #[arg(value_name = "TARGET")]
    pub(crate) target: String,
    /// Print the checks as JSON, each with its query
    #[arg(long)]
    pub(crate) json: bool,
    /// Print the checks that passed too, each with its condition and source
    #[arg(short, long, env = "BOURSE_VERBOSE")]
    pub(crate) verbose: bool,
    #[command(flatten)]
    pub(crate) plan: DryRun,
}

#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES, mut_arg("days", |days| days.default_value("1")))]
pub(crate) struct TpceAcid {
    /// Database URL; the tests leave trades in the database [default: a SQLite file below ./bourse-data]
    #[arg(value_name = "TARGET")]
    pub(crate) target: Option<String>,
    #[command(flatten)]
    pub(crate) tests: AcidOptions,
    #[command(flatten)]
    pub(crate) database: DatabaseArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[arg(skip)]
    pub(crate) given: GivenOptions,
}

/// Options of the tests of any workload.
#[derive(Debug, Args)]
pub(crate) struct AcidOptions {
    /// Run only these tests: names such as A1, or A, C, I, D for all tests of a property
    #[arg(long, value_name = "A1,I", value_delimiter = ',')]
    pub(crate) only: Vec<String>,
    /// Accounts on which each isolation test is repeated, with each outcome (commit, rollback)
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = numbers::rounds)]
    pub(crate) repeats: u32,
    /// Time after which a session counts as blocked, where the engine does not report it
    #[arg(long = "block-timeout", value_name = "TIME", default_value = "500ms", value_parser = numbers::duration)]
    pub(crate) patience: Duration,
    /// Durability class to test against, instead of the class of the target's settings
    #[arg(long, value_enum, value_name = "CLASS")]
    pub(crate) demand: Option<DurabilityClass>,
    /// Seed of the accounts and securities
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = numbers::seed, env = "BOURSE_SEED")]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) plan: DryRun,
}

#[derive(Debug, Args)]
pub(crate) struct AcidLoad {
    pub(crate) target: String,
    #[arg(long, value_parser = numbers::seed)]
    pub(crate) seed: u64,
    #[arg(long)]
    pub(crate) flat_in: Option<PathBuf>,
    /// Record the file operations to this file, and end
    #[arg(long, requires = "file", requires = "of")]
    pub(crate) record: Option<PathBuf>,
    /// The target's file, for a recording
    #[arg(long)]
    pub(crate) file: Option<PathBuf>,
    /// The target that this one is a copy of, for a recording
    #[arg(long)]
    pub(crate) of: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DurabilityClass {
    /// Nothing survives the process
    Volatile,
    /// Survives a crash of the process
    Process,
    /// Survives power loss uncorrupted, may lose the last commits
    Consistent,
    /// An acknowledged commit survives power loss
    Durable,
}

impl DurabilityClass {
    /// The class of engines and documents.
    pub(crate) const fn durability(self) -> Durability {
        match self {
            Self::Volatile => Durability::Volatile,
            Self::Process => Durability::Process,
            Self::Consistent => Durability::Consistent,
            Self::Durable => Durability::Durable,
        }
    }
}

#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct TpceVerify {
    /// Database URLs to compare; `model:` is the reference model in plain Rust
    #[arg(value_name = "TARGET", default_values = ["sqlite::memory:", "model:"])]
    pub(crate) targets: Vec<String>,
    /// Customer requests per simulated second; a lower rate means more market and maintenance activity between them
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = numbers::requests)]
    pub(crate) rate: u32,
    #[command(flatten)]
    pub(crate) settings: VerifySettings,
    #[command(flatten)]
    pub(crate) database: DatabaseArgs,
}

/// Options of a verification, whatever the workload.
#[derive(Debug, Args)]
pub(crate) struct VerifySettings {
    /// Number of transactions
    #[arg(short = 'n', long, value_name = "N", default_value_t = 100_000, value_parser = numbers::counted)]
    pub(crate) transactions: u64,
    /// Seed of all random numbers
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = numbers::seed, env = "BOURSE_SEED")]
    pub(crate) seed: u64,
    /// Also compare all tables every N transactions, not only at the start and the end; 0: never
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = numbers::every)]
    pub(crate) digest_every: u64,
    /// Run up to this transaction and show its input, statements, rows and outputs; compare nothing
    #[arg(long, value_name = "N", value_parser = numbers::counted)]
    pub(crate) replay: Option<u64>,
    /// Print the verdict as JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) plan: DryRun,
}

#[derive(Debug, Args)]
pub(crate) struct TpceGen {
    /// Folder for the files; created if it does not exist
    #[arg(short, long = "output", value_name = "DIR")]
    pub(crate) output: PathBuf,
    /// Replace existing files even if Bourse did not make them
    #[arg(long)]
    pub(crate) overwrite: bool,
    /// First customer to generate, counted from 1: one more than a multiple of 1,000
    #[arg(short = 'b', long = "first", value_name = "FIRST", default_value_t = 1, value_parser = numbers::counted)]
    pub(crate) first: u64,
    /// Number of customers to generate, a multiple of 1,000
    #[arg(short = 'c', long = "count", value_name = "COUNT", default_value_t = 1_000, value_parser = numbers::customers)]
    pub(crate) count: u64,
    /// Number of customers in the whole database, a multiple of 1,000 [default: first + count - 1]
    #[arg(short = 't', long = "total", value_name = "TOTAL", value_parser = numbers::customers)]
    pub(crate) total: Option<u64>,
    /// TPC-E scale factor: customers per TR/s
    #[arg(short = 'f', long = "scale", value_name = "SCALE", default_value_t = 500, value_parser = numbers::scale_factor)]
    pub(crate) scale: u32,
    /// Days of initial trades
    #[arg(short = 'w', long = "days", value_name = "DAYS", default_value_t = 10, value_parser = numbers::days)]
    pub(crate) days: u32,
    /// Folder with the official input files, instead of the built-in data
    #[arg(long, value_name = "DIR", env = "BOURSE_FLAT_IN_DIR")]
    pub(crate) flat_in: Option<PathBuf>,
    /// Format of the files
    #[arg(long, value_enum, default_value_t = GenFormat::Flat)]
    pub(crate) format: GenFormat,
    /// Number of threads [default: number of CPUs]
    #[arg(long, value_name = "N", value_parser = numbers::threads, env = "BOURSE_THREADS")]
    pub(crate) threads: Option<usize>,
    /// Write only these tables, by SQL name or file name
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub(crate) tables: Vec<String>,
    #[command(flatten)]
    pub(crate) plan: DryRun,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum GenFormat {
    /// EGen's format: fields separated by |, no header
    Flat,
    /// CSV (RFC 4180) with a header
    Csv,
    /// Apache Parquet; in builds with the feature `full`
    Parquet,
}
