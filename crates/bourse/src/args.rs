//! What can be typed. Every option can also stand in the environment as `BOURSE_…`; what is typed wins.

use bourse_tpce::sut::Share;
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, FromArgMatches as _, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

/// Learn how a database really behaves: TPC-E-derived and classic workloads on embedded and in-memory engines.
#[derive(Debug, Parser)]
#[command(name = "bourse", version, propagate_version = true, arg_required_else_help = true, max_term_width = 100)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Arguments {
    /// What was typed, with what of it was typed rather than taken as default where that matters.
    pub(crate) fn of(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut arguments = Self::from_arg_matches(matches)?;
        let run = matches.subcommand_matches("tpce").and_then(|tpce| tpce.subcommand_matches("run"));
        if let (Command::Tpce(Tpce::Run(run)), Some(matches)) = (&mut arguments.command, run) {
            run.said = Said::of(matches);
        }
        Ok(arguments)
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// The brokerage workload derived from TPC-E
    #[command(subcommand)]
    Tpce(Tpce),
    /// The classic workloads: point reads, bulk loads, updates …
    #[command(subcommand)]
    Micro(Micro),
    /// Kill processes and fail the power of a simulated disk: what each durability setting really keeps
    Crash(Crash),
    /// The published experiments, rerun beside their figures
    #[command(subcommand)]
    Suite(Suite),
    /// The picture of a machine in a few minutes: every engine that runs in process, in short rounds
    Quick(Quick),
    /// Run what a TOML file says; options typed behind it win
    Run(FromFile),
    /// Compare two stored runs, or two targets run in turn
    Compare(Compare),
    /// Draw the report of stored runs again
    Report(Report),
    /// What can run here, and the options of each engine
    Engines(Engines),
    /// Print a shell's completion script
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Write the manual pages
    Man {
        /// Where to write them
        #[arg(value_name = "DIR")]
        directory: PathBuf,
    },
    /// Print the JSON Schema of run files, or of other documents
    Schema {
        /// Of which
        #[arg(value_enum, default_value_t = Document::Run)]
        document: Document,
    },
}

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
    /// Check a loaded database: consistency conditions, row counts, foreign keys
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

/// Which database: its size and its input data.
#[derive(Debug, Clone, Args)]
pub(crate) struct Database {
    /// Customers, a multiple of 1,000
    #[arg(long, value_name = "N", default_value_t = 1_000, env = "BOURSE_CUSTOMERS")]
    pub(crate) customers: u64,
    /// Days of trades that the database begins with
    #[arg(long, value_name = "N", default_value_t = 10, env = "BOURSE_DAYS")]
    pub(crate) days: u32,
    /// Customers for each Trade-Result a second that the workload is nominally run at
    #[arg(long, value_name = "N", default_value_t = 500, env = "BOURSE_SCALE_FACTOR")]
    pub(crate) scale_factor: u32,
    /// Folder with the official input files, instead of the built-in data
    #[arg(long, value_name = "DIR", env = "BOURSE_FLAT_IN_DIR")]
    pub(crate) flat_in: Option<PathBuf>,
    /// Declare and enforce foreign keys and checks, or primary keys only
    #[arg(long, value_enum, default_value_t = Constraints::Full, env = "BOURSE_CONSTRAINTS")]
    pub(crate) constraints: Constraints,
    /// Threads that generate rows while loading [default: the processors there are]
    #[arg(long, value_name = "N", env = "BOURSE_THREADS")]
    pub(crate) threads: Option<usize>,
    /// Replace whatever database is there
    #[arg(long)]
    pub(crate) reload: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Constraints {
    /// Primary keys, foreign keys and checks
    Full,
    /// Primary keys only
    Keys,
}

/// Exit codes, as they stand in the help of each command that runs something.
const EXIT_CODES: &str = "Exit codes: 0 fine, 1 usage or configuration, 2 the target failed or was lost, 3 a check failed, \
130 interrupted (what was measured is still written).";

/// The same for runs that can demand a steady state.
const RUN_EXIT_CODES: &str = "Exit codes: 0 fine, 1 usage or configuration, 2 the target failed or was lost, 3 a check \
failed, 5 not steady with --require-steady, 130 interrupted (what was measured is still written).";

#[derive(Debug, Clone, Args)]
#[command(after_help = RUN_EXIT_CODES)]
pub(crate) struct Run {
    /// Databases to run on, as URLs: sqlite:PATH?journal=wal&sync=full, sqlite::memory:, or servers of `bourse tpce serve`:
    /// bourse://HOST:PORT [default: a SQLite file below ./bourse-data]
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

/// Where a server's token is.
#[derive(Debug, Clone, Args)]
pub(crate) struct TokenFile {
    /// File with the token that a server wants; the environment can hold the token itself, as BOURSE_TOKEN
    #[arg(long = "token-file", value_name = "FILE", env = "BOURSE_TOKEN_FILE")]
    pub(crate) path: Option<PathBuf>,
}

/// Which of the database's options were typed or set in the environment.
#[derive(Debug, Clone, Copy, Default)]
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
    #[arg(short, long, value_name = "N", env = "BOURSE_USERS")]
    pub(crate) users: Option<usize>,
    /// Threads that execute what the market exchange sends [default: 1]
    #[arg(long, value_name = "N", env = "BOURSE_MARKET_USERS")]
    pub(crate) market_users: Option<usize>,
    /// Length of the measurement interval
    #[arg(short = 'T', long = "for", value_name = "TIME", default_value = "30s", value_parser = duration, env = "BOURSE_FOR")]
    pub(crate) duration: Duration,
    /// Time to warm up before it
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration, env = "BOURSE_WARMUP")]
    pub(crate) warmup: Duration,
    /// Trade-Results a second to ask for, instead of as many as the users manage: response times count from when a
    /// transaction was due
    #[arg(short = 'R', long, value_name = "N", env = "BOURSE_RATE")]
    pub(crate) rate: Option<f64>,
    /// When transactions are due that are asked for at a rate
    #[arg(long, value_enum, default_value_t = Arrivals::Poisson, env = "BOURSE_ARRIVALS")]
    pub(crate) arrivals: Arrivals,
    /// Transactions asked for at a rate that may wait for a user, all together; more are dropped and counted [default: 5 s
    /// of the rate]
    #[arg(long, value_name = "N", env = "BOURSE_BACKLOG")]
    pub(crate) backlog: Option<usize>,
    /// Look for the highest rate that keeps every response limit, and confirm it with a run of full length
    #[arg(long, conflicts_with = "rate", env = "BOURSE_FIND_MAX")]
    pub(crate) find_max: bool,
    /// End with exit code 5 if a round was not in steady state
    #[arg(long, env = "BOURSE_REQUIRE_STEADY")]
    pub(crate) require_steady: bool,
    /// Run with each of these values: users, market-users, rate, backlog, customers, days, scale-factor, or an option of the
    /// targets, as journal=delete,wal; several sweeps are combined
    #[arg(long, value_name = "OPTION=A,B,C")]
    pub(crate) sweep: Vec<String>,
    /// Rounds on each target, each on the database as it was; several targets take turns (A B B A …) [default: 1; of
    /// targets that are compared 7]
    #[arg(long, value_name = "N", env = "BOURSE_ROUNDS")]
    pub(crate) rounds: Option<u32>,
    /// Before each round wait so long, at most, until other processes leave the machine in peace [default: not; of targets
    /// that are compared 20s]
    #[arg(long, value_name = "TIME", value_parser = duration, env = "BOURSE_WAIT_QUIET")]
    pub(crate) wait_quiet: Option<Duration>,
    /// Seed of all random sequences [default: drawn, and shown]
    #[arg(long, value_name = "N", env = "BOURSE_SEED")]
    pub(crate) seed: Option<u64>,
    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Arrivals {
    /// At random moments, as from many independent customers
    Poisson,
    /// At even distances
    Constant,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Micro {
    /// The workloads; of one of them its tables, needs and options
    List {
        /// Show every option of this workload
        #[arg(value_name = "WORKLOAD")]
        workload: Option<String>,
    },
    /// Run a workload on one target or several, rounds in turn, and report
    Run(MicroRun),
    /// Run the one round that stdin describes
    #[command(hide = true)]
    OneRound,
}

#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct MicroRun {
    /// Which, of `bourse micro list`
    #[arg(value_name = "WORKLOAD")]
    pub(crate) workload: String,
    /// Databases to run on, as URLs; made anew for each round [default: sqlite::memory:]
    #[arg(value_name = "TARGET")]
    pub(crate) targets: Vec<String>,
    /// Set an option of the workload
    #[arg(short = 's', long, value_name = "OPTION=VALUE")]
    pub(crate) set: Vec<String>,
    /// Run with each of these values, of the workload's options or the targets'; several sweeps are combined
    #[arg(long, value_name = "OPTION=A,B,C")]
    pub(crate) sweep: Vec<String>,
    /// Threads, short for --set threads=N
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<u64>,
    /// Length of the measurement interval; where the work or a count ends a round, the longest it may take [default: 3s]
    #[arg(short = 'T', long = "for", value_name = "TIME", value_parser = duration, env = "BOURSE_FOR")]
    pub(crate) duration: Option<Duration>,
    /// Operations of each thread, instead of a time
    #[arg(long, value_name = "N")]
    pub(crate) count: Option<u64>,
    /// Time to warm up before it, for workloads that repeat what they do
    #[arg(long, value_name = "TIME", default_value = "500ms", value_parser = duration, env = "BOURSE_WARMUP")]
    pub(crate) warmup: Duration,
    /// Rounds of each case, each in a process of its own; cases take turns (A B B A …)
    #[arg(long, value_name = "N", default_value_t = 5, env = "BOURSE_ROUNDS")]
    pub(crate) rounds: u32,
    /// Seed of all random sequences [default: drawn, and shown]
    #[arg(long, value_name = "N", env = "BOURSE_SEED")]
    pub(crate) seed: Option<u64>,
    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Suite {
    /// The published experiments there are
    List,
    /// What an experiment measures, what was published, and what is run for it
    Show {
        /// Which, of `bourse suite list`
        #[arg(value_name = "NAME")]
        name: String,
    },
    /// Run an experiment and report each figure beside the published one
    Run(SuiteRun),
}

#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct SuiteRun {
    /// Which, of `bourse suite list`
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// Multiply counts of rows and operations by this, for a quick look: above 0 and up to 1
    #[arg(long, value_name = "F", default_value_t = 1.0, env = "BOURSE_SCALE")]
    pub(crate) scale: f64,
    /// Rounds of each case, each in a process of its own; all cases take turns [default: the suite's, 3 or more]
    #[arg(long, value_name = "N", env = "BOURSE_ROUNDS")]
    pub(crate) rounds: Option<u32>,
    /// The longest that a round may measure; what it did until then is reported, never what it would have done [default: the suite's]
    #[arg(long, value_name = "TIME", value_parser = duration, env = "BOURSE_CAP")]
    pub(crate) cap: Option<Duration>,
    /// Run these of its tables alone
    #[arg(long, value_name = "TABLE")]
    pub(crate) only: Vec<String>,
    /// Seed of all random sequences [default: drawn, and shown]
    #[arg(long, value_name = "N", env = "BOURSE_SEED")]
    pub(crate) seed: Option<u64>,
    /// Folder for the databases, made for the run and removed after it
    #[arg(long, value_name = "DIR", default_value = "bourse-data", env = "BOURSE_DATA")]
    pub(crate) data: PathBuf,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// Where results go.
#[derive(Debug, Clone, Args)]
pub(crate) struct Output {
    /// Folder that gets a folder for each run
    #[arg(short = 'o', long = "output", value_name = "DIR", default_value = "bourse-runs", env = "BOURSE_OUTPUT")]
    pub(crate) directory: PathBuf,
    /// Print the run file instead of the report
    #[arg(long)]
    pub(crate) json: bool,
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
    /// Where to listen. Other addresses than this machine's own want a token; port 0 chooses a free one
    #[arg(short, long, value_name = "HOST:PORT", default_value = "127.0.0.1:4780", env = "BOURSE_LISTEN")]
    pub(crate) listen: String,
    #[command(flatten)]
    pub(crate) token: TokenFile,
    /// Sessions on the database, and so transactions at a time; users take turns at them
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u16).range(1..=4096))]
    pub(crate) workers: u16,
    /// Connections at a time: one a user, and one a driver
    #[arg(long, value_name = "N", default_value_t = 512, value_parser = clap::value_parser!(u16).range(2..=16384))]
    pub(crate) connections: u16,
    /// How long the drivers of a round wait for one another
    #[arg(long, value_name = "TIME", default_value = "2m", value_parser = duration)]
    pub(crate) gather: Duration,
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
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) repeats: u32,
    /// How long a session may take before it counts as one that waits, where the engine does not say so itself
    #[arg(long, value_name = "TIME", default_value = "500ms", value_parser = duration)]
    pub(crate) patience: Duration,
    /// Demand what this durability class promises, instead of the class of the target's settings
    #[arg(long, value_enum, value_name = "CLASS")]
    pub(crate) demand: Option<DurabilityClass>,
    /// Seed that accounts and securities are drawn from
    #[arg(long, value_name = "N", default_value_t = 1, env = "BOURSE_SEED")]
    pub(crate) seed: u64,
    /// Show every case with its steps and findings
    #[arg(short, long)]
    pub(crate) verbose: bool,
    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES, mut_arg("days", |days| days.default_value("1")))]
pub(crate) struct Crash {
    /// Database to crash copies of, as a URL [default: a SQLite file below ./bourse-data]
    #[arg(value_name = "TARGET")]
    pub(crate) target: Option<String>,
    #[command(flatten)]
    pub(crate) database: Database,
    /// Crash with each of these values of the target's options; several sweeps are combined [default for SQLite files:
    /// journal=wal,delete and sync=full,normal,off]
    #[arg(long, value_name = "OPTION=A,B,C")]
    pub(crate) sweep: Vec<String>,
    /// Crashes of each kind on each target
    #[arg(long, value_name = "N", default_value_t = 2)]
    pub(crate) times: u32,
    /// Seed that the moments of the crashes follow from
    #[arg(long, value_name = "N", default_value_t = 1, env = "BOURSE_SEED")]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Debug, Args)]
pub(crate) struct AcidLoad {
    pub(crate) target: String,
    #[arg(long)]
    pub(crate) seed: u64,
    #[arg(long)]
    pub(crate) flat_in: Option<PathBuf>,
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

/// Documents with a published schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Document {
    /// `run.json`
    Run,
    /// `acid.json`
    Acid,
    /// `crash.json`
    Crash,
    /// `suite.json`
    Suite,
    /// The TOML files that `bourse run` takes
    Options,
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
    #[arg(short = 'n', long, value_name = "N", default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) transactions: u64,
    /// Seed of all random sequences
    #[arg(long, value_name = "N", default_value_t = 1, env = "BOURSE_SEED")]
    pub(crate) seed: u64,
    /// Customers' requests in a simulated second: the fewer, the more prices move and maintenance does in between
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) rate: u32,
    /// Compare all tables after so many transactions too, not just in the beginning and the end
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) digest_every: u64,
    /// Compare nothing; run up to this transaction and show its input, statements, rows and outputs
    #[arg(long, value_name = "N")]
    pub(crate) replay: Option<u64>,
    /// Print the verdict as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Test builds: settle the trade after so many with a cent too much on the first database
    #[cfg(feature = "planted-bug")]
    #[arg(long, value_name = "N")]
    pub(crate) planted_bug: Option<u64>,
}

#[derive(Debug, Args)]
pub(crate) struct Gen {
    /// Folder for the files; made if it is not there
    #[arg(short, long = "output", value_name = "DIR")]
    pub(crate) output: PathBuf,
    /// First customer to generate, counted from 1: one more than a multiple of 1,000
    #[arg(short = 'b', long = "first", value_name = "FIRST", default_value_t = 1)]
    pub(crate) first: u64,
    /// How many customers to generate, a multiple of 1,000
    #[arg(short = 'c', long = "count", value_name = "COUNT", default_value_t = 1_000)]
    pub(crate) count: u64,
    /// Customers of the whole database, a multiple of 1,000 [default: as many as it takes]
    #[arg(short = 't', long = "total", value_name = "TOTAL")]
    pub(crate) total: Option<u64>,
    /// Customers for each Trade-Result a second
    #[arg(short = 'f', long = "scale", value_name = "SCALE", default_value_t = 500)]
    pub(crate) scale: u32,
    /// Days of initial trades
    #[arg(short = 'w', long = "days", value_name = "DAYS", default_value_t = 10)]
    pub(crate) days: u32,
    /// Folder with the official input files, instead of the built-in data
    #[arg(long, value_name = "DIR", env = "BOURSE_FLAT_IN_DIR")]
    pub(crate) flat_in: Option<PathBuf>,
    /// Form of the files
    #[arg(long, value_enum, default_value_t = Format::Flat)]
    pub(crate) format: Format,
    /// Threads [default: the processors there are]
    #[arg(long, value_name = "N", env = "BOURSE_THREADS")]
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

#[derive(Debug, Args)]
pub(crate) struct Report {
    /// Run files, or folders of runs; of drivers that shared a round all of them, which become one
    #[arg(value_name = "RUN", required = true)]
    pub(crate) runs: Vec<PathBuf>,
    /// Where to write; the ending says what: .html, .md, .csv [default: the terminal]
    #[arg(short, long = "output", value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct Quick {
    /// Length of the brokerage workload's measurement interval; the classic workloads take a fifth of it
    #[arg(short = 'T', long = "for", value_name = "TIME", default_value = "10s", value_parser = duration)]
    pub(crate) duration: Duration,
    /// Rounds of each case
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) rounds: u32,
    /// Days of trades that the brokerage databases begin with
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) days: u32,
    /// Seed of all random sequences [default: drawn, and shown]
    #[arg(long, value_name = "N", env = "BOURSE_SEED")]
    pub(crate) seed: Option<u64>,
    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Debug, Args)]
pub(crate) struct FromFile {
    /// A TOML file: command = "tpce run", and its options by their long names
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Options of that command, which win over the file's
    #[arg(value_name = "OPTIONS", trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) more: Vec<String>,
}

/// Exit codes of a comparison.
const COMPARE_EXIT_CODES: &str = "Exit codes: 0 fine, 1 usage or configuration, 2 a target failed or was lost, 3 a check \
failed, 4 slower by more than --fail-above, 5 not steady with --require-steady, 130 interrupted.";

#[derive(Debug, Args)]
#[command(after_help = COMPARE_EXIT_CODES)]
pub(crate) struct Compare {
    /// What to compare with: a stored run, or a target to run on
    #[arg(value_name = "A")]
    pub(crate) base: String,
    /// What is compared: a stored run, or a target to run on
    #[arg(value_name = "B")]
    pub(crate) head: String,
    /// End with exit code 4 if B is slower by more than this, as 5%, and surely so: the whole interval lies beyond
    #[arg(long, value_name = "PERCENT", value_parser = percent, env = "BOURSE_FAIL_ABOVE")]
    pub(crate) fail_above: Option<f64>,
    /// How the comparison is printed
    #[arg(long, value_enum, default_value_t = CompareFormat::Text)]
    pub(crate) format: CompareFormat,
    #[command(flatten)]
    pub(crate) settings: RunSettings,
    #[command(flatten)]
    pub(crate) token: TokenFile,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CompareFormat {
    /// For a terminal
    Text,
    /// For a comment on a change
    Markdown,
    /// For programs
    Json,
}

#[derive(Debug, Args)]
pub(crate) struct Engines {
    /// Show every option of this engine's targets
    #[arg(value_name = "ENGINE")]
    pub(crate) engine: Option<String>,
}

fn part(text: &str) -> Result<Share, String> {
    let parsed = text.split_once('/').and_then(|(number, of)| Share::new(number.parse().ok()?, of.parse().ok()?));
    parsed.ok_or_else(|| format!("write which driver of how many, as 1/3, of {} at most", Share::MOST))
}

/// A share written in percent, as a part of one.
fn percent(text: &str) -> Result<f64, String> {
    let number = text.trim().trim_end_matches('%').trim().parse::<f64>();
    match number {
        Ok(percent) if (0.0..100.0).contains(&percent) => Ok(percent / 100.0),
        _ => Err("write a share from 0 to 100 percent, as 5%".to_owned()),
    }
}

fn duration(text: &str) -> Result<Duration, String> {
    let plain = text.parse::<f64>().ok().map(|_| format!("{text}s"));
    match humantime::parse_duration(plain.as_deref().unwrap_or(text)) {
        Ok(duration) => Ok(duration),
        Err(error) => Err(format!("{error}; write a number with its unit, as 30s, 5m or 2h")),
    }
}
