//! `bourse tpce …`: the brokerage workload.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

use super::{Database, EXIT_CODES, Execution, Output, RUN_EXIT_CODES, TokenFile, numbers};
use bourse_tpce::sut::Share;
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Subcommand, ValueEnum};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, Subcommand)]
#[command(after_help = NOTICE)]
pub(crate) enum Tpce {
    /// Load if needed, warm up, measure, check, report
    Run(Run),
    /// Load a database and stop
    Load(Load),
    /// Write the flat files of the initial database
    Gen(Gen),
    /// Serve a database to drivers elsewhere: `bourse tpce run bourse://HOST:PORT`
    Serve(Serve),
    /// Check a loaded database: schema, contents, consistency conditions, row counts, foreign keys, integrity
    Check(Check),
    /// Test atomicity, consistency, isolation and durability as the specification has it
    Acid(Acid),
    /// Work on a database until killed, for `acid`
    #[command(hide = true)]
    AcidLoad(AcidLoad),
    /// Run the same transactions on several targets and compare all outputs and all rows
    Verify(Verify),
}

/// The notice that stands wherever figures of this workload do.
pub(crate) const NOTICE: &str = "TPC-E-derived workload, unaudited; results are not comparable with published TPC Benchmark E \
results. TPC Benchmark and TPC-E are trademarks of the Transaction Processing Performance Council.";

#[derive(Debug, Clone, Args)]
#[command(after_help = RUN_EXIT_CODES)]
pub(crate) struct Run {
    /// Databases to run on, as URLs: sqlite:PATH?journal=wal&sync=full, sqlite::memory:, or servers of `bourse tpce serve`:
    /// bourse://HOST:PORT or bourse+unix:PATH [default: a SQLite file below ./bourse-data]
    #[arg(value_name = "TARGET")]
    pub(crate) targets: Vec<String>,
    #[command(flatten)]
    pub(crate) settings: RunSettings,
    /// Which of several drivers of one round on a server this is: each begins when all have come, and asks mostly for its
    /// part of the customers
    #[arg(long, value_name = "K/N", value_parser = part, env = "BOURSE_PART")]
    pub(crate) part: Option<Share>,
    #[command(flatten)]
    pub(crate) token: TokenFile,
    /// What was said of the database, and is not a default.
    #[arg(skip)]
    pub(crate) said: Said,
}

/// Which of the database's options were typed or set in the environment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Said {
    pub(crate) customers: bool,
    pub(crate) days: bool,
    pub(crate) scale_factor: bool,
    pub(crate) constraints: bool,
}

impl Said {
    /// Of the arguments of `tpce run`.
    pub(crate) fn of(matches: &ArgMatches) -> Self {
        let said = |id: &str| matches.value_source(id).is_some_and(|source| source != ValueSource::DefaultValue);
        Self {
            customers: said("customers"),
            days: said("days"),
            scale_factor: said("scale_factor"),
            constraints: said("constraints"),
        }
    }
}

/// How a run is to be, whatever it runs on.
#[derive(Debug, Clone, Args)]
pub(crate) struct RunSettings {
    #[command(flatten)]
    pub(crate) database: Database,
    /// Customers' threads, each with its own session [default: the processors there are]
    #[arg(short, long, value_name = "N", value_parser = numbers::threads, env = "BOURSE_USERS")]
    pub(crate) users: Option<usize>,
    /// Threads that execute what the market exchange sends [default: 1]
    #[arg(long, value_name = "N", value_parser = numbers::threads, env = "BOURSE_MARKET_USERS")]
    pub(crate) market_users: Option<usize>,
    /// Length of the measurement interval
    #[arg(short = 'T', long = "for", value_name = "TIME", default_value = "30s", value_parser = numbers::duration, env = "BOURSE_FOR")]
    pub(crate) duration: Duration,
    /// Time to warm up before it
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = numbers::duration, env = "BOURSE_WARMUP")]
    pub(crate) warmup: Duration,
    /// Trade-Results a second to ask for, instead of as many as the users manage: response times count from when a
    /// transaction was due
    #[arg(short = 'R', long, value_name = "N", value_parser = numbers::rate, env = "BOURSE_RATE")]
    pub(crate) rate: Option<f64>,
    /// When transactions are due that are asked for at a rate
    #[arg(long, value_enum, default_value_t = Arrivals::Poisson, env = "BOURSE_ARRIVALS")]
    pub(crate) arrivals: Arrivals,
    /// Transactions asked for at a rate that may wait for a user, all together; more are dropped and counted [default: 5 s
    /// of the rate]
    #[arg(long, value_name = "N", value_parser = numbers::backlog, env = "BOURSE_BACKLOG")]
    pub(crate) backlog: Option<usize>,
    /// Look for the highest rate that keeps every response limit, and confirm it with a run of full length
    #[arg(long, conflicts_with = "rate", env = "BOURSE_FIND_MAX")]
    pub(crate) find_max: bool,
    /// Run with each of these values: users, market-users, rate, backlog, customers, days, scale-factor, or an option of the
    /// targets, as journal=delete,wal; several sweeps are combined
    #[arg(long, value_name = "OPTION=A,B,C")]
    pub(crate) sweep: Vec<String>,
    /// Rounds on each target, each on the database as it was; several targets take turns (A B B A …) [default: 1; of
    /// targets that are compared 7]
    #[arg(long, value_name = "N", value_parser = numbers::rounds, env = "BOURSE_ROUNDS")]
    pub(crate) rounds: Option<u32>,
    /// How thoroughly to check what is run on and what it does
    #[arg(long, value_enum, default_value_t = CheckDepth::Full, env = "BOURSE_CHECK")]
    pub(crate) check: CheckDepth,
    /// Seed of all random sequences [default: drawn, and shown]
    #[arg(long, value_name = "N", value_parser = numbers::seed, env = "BOURSE_SEED")]
    pub(crate) seed: Option<u64>,
    #[command(flatten)]
    pub(crate) execution: Execution,
    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum CheckDepth {
    /// Also compares the initial trades' rows with the generator's before the run, and after it a sample of transactions with
    /// the model, on a small database of its own
    Full,
    /// Schema, row counts and the tables that do not grow before the run; conditions and integrity after it
    Quick,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Arrivals {
    /// At random moments, as from many independent customers
    Poisson,
    /// At even distances
    Constant,
}

#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct Load {
    /// Database to load, as a URL: sqlite:PATH
    #[arg(value_name = "TARGET")]
    pub(crate) target: String,
    #[command(flatten)]
    pub(crate) database: Database,
}

#[derive(Debug, Args)]
#[command(after_help = SERVE_CODES)]
pub(crate) struct Serve {
    /// Database to serve, as a URL; loaded if it is not there
    #[arg(value_name = "TARGET")]
    pub(crate) target: String,
    #[command(flatten)]
    pub(crate) database: Database,
    /// Where to listen: HOST:PORT, or unix:PATH for a socket that this user's programs alone, and root's, can drive.
    /// Other addresses than this machine's own want a token; port 0 chooses a free one
    #[arg(short, long, value_name = "PLACE", default_value = "127.0.0.1:4780", env = "BOURSE_LISTEN")]
    pub(crate) listen: String,
    #[command(flatten)]
    pub(crate) token: TokenFile,
    /// Sessions on the database, and so transactions at a time; users take turns at them
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = numbers::workers)]
    pub(crate) workers: u16,
    /// Connections at a time: one a user, and one a driver
    #[arg(long, value_name = "N", default_value_t = 512, value_parser = numbers::connections)]
    pub(crate) connections: u16,
    /// How long the drivers of a round wait for one another
    #[arg(long, value_name = "TIME", default_value = "2m", value_parser = numbers::duration)]
    pub(crate) gather: Duration,
    /// How long a driver in a round may say nothing before it is given up; one that is well asks for sizes every second
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = numbers::duration)]
    pub(crate) silence: Duration,
}

/// Exit codes of the server.
const SERVE_CODES: &str = "Ctrl-C ends the server: what is in hand is finished.\n\nExit codes: 0 ended while no driver was \
there, 1 usage or configuration, 2 the target failed or was lost, 130 interrupted in a round.";

#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct Check {
    /// Database to check, as a URL: sqlite:PATH
    #[arg(value_name = "TARGET")]
    pub(crate) target: String,
    /// Print the checks as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES, mut_arg("days", |days| days.default_value("1")))]
pub(crate) struct Acid {
    /// Database to test, as a URL; the tests leave trades in it [default: a SQLite file below ./bourse-data]
    #[arg(value_name = "TARGET")]
    pub(crate) target: Option<String>,
    #[command(flatten)]
    pub(crate) database: Database,
    /// Only these tests: names as A1, or A, C, I, D for all of a property
    #[arg(long, value_name = "A1,I", value_delimiter = ',')]
    pub(crate) only: Vec<String>,
    /// Accounts that each isolation test is tried on, with each of its endings
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = numbers::rounds)]
    pub(crate) repeats: u32,
    /// How long a session may take before it counts as one that waits, where the engine does not say so itself
    #[arg(long, value_name = "TIME", default_value = "500ms", value_parser = numbers::duration)]
    pub(crate) patience: Duration,
    /// Demand what this durability class promises, instead of the class of the target's settings
    #[arg(long, value_enum, value_name = "CLASS")]
    pub(crate) demand: Option<DurabilityClass>,
    /// Seed that accounts and securities are drawn from
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = numbers::seed, env = "BOURSE_SEED")]
    pub(crate) seed: u64,
    /// Show every case with its steps and findings
    #[arg(short, long)]
    pub(crate) verbose: bool,
    #[command(flatten)]
    pub(crate) output: Output,
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

#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct Verify {
    /// What to compare: databases as URLs, and model: for the transactions on plain collections
    #[arg(value_name = "TARGET", default_values = ["sqlite::memory:", "model:"])]
    pub(crate) targets: Vec<String>,
    #[command(flatten)]
    pub(crate) database: Database,
    /// Transactions, Trade-Cleanup at the beginning and the end among them
    #[arg(short = 'n', long, value_name = "N", default_value_t = 100_000, value_parser = numbers::counted)]
    pub(crate) transactions: u64,
    /// Seed of all random sequences
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = numbers::seed, env = "BOURSE_SEED")]
    pub(crate) seed: u64,
    /// Customers' requests in a simulated second: the fewer, the more prices move and maintenance does in between
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = numbers::requests)]
    pub(crate) rate: u32,
    /// Compare all tables after so many transactions too, not just in the beginning and the end
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = numbers::every)]
    pub(crate) digest_every: u64,
    /// Compare nothing; run up to this transaction and show its input, statements, rows and outputs
    #[arg(long, value_name = "N", value_parser = numbers::counted)]
    pub(crate) replay: Option<u64>,
    /// Print the verdict as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Gen {
    /// Folder for the files; made if it is not there
    #[arg(short, long = "output", value_name = "DIR")]
    pub(crate) output: PathBuf,
    /// First customer to generate, counted from 1: one more than a multiple of 1,000
    #[arg(short = 'b', long = "first", value_name = "FIRST", default_value_t = 1, value_parser = numbers::counted)]
    pub(crate) first: u64,
    /// How many customers to generate, a multiple of 1,000
    #[arg(short = 'c', long = "count", value_name = "COUNT", default_value_t = 1_000, value_parser = numbers::customers)]
    pub(crate) count: u64,
    /// Customers of the whole database, a multiple of 1,000 [default: as many as it takes]
    #[arg(short = 't', long = "total", value_name = "TOTAL", value_parser = numbers::customers)]
    pub(crate) total: Option<u64>,
    /// Customers for each Trade-Result a second
    #[arg(short = 'f', long = "scale", value_name = "SCALE", default_value_t = 500, value_parser = numbers::scale_factor)]
    pub(crate) scale: u32,
    /// Days of initial trades
    #[arg(short = 'w', long = "days", value_name = "DAYS", default_value_t = 10, value_parser = numbers::days)]
    pub(crate) days: u32,
    /// Folder with the official input files, instead of the built-in data
    #[arg(long, value_name = "DIR", env = "BOURSE_FLAT_IN_DIR")]
    pub(crate) flat_in: Option<PathBuf>,
    /// Form of the files
    #[arg(long, value_enum, default_value_t = Format::Flat)]
    pub(crate) format: Format,
    /// Threads [default: the processors there are]
    #[arg(long, value_name = "N", value_parser = numbers::threads, env = "BOURSE_THREADS")]
    pub(crate) threads: Option<usize>,
    /// Only these tables, by SQL name or file name, separated by commas
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub(crate) tables: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// The reference generator's: fields between |, no header
    Flat,
    /// RFC 4180 with a header
    Csv,
}

fn part(text: &str) -> Result<Share, String> {
    let parsed = text.split_once('/').and_then(|(number, of)| Share::new(number.parse().ok()?, of.parse().ok()?));
    parsed.ok_or_else(|| format!("write which driver of how many, as 1/3, of {} at most", Share::MOST))
}
