//! What can be typed. Every option can also stand in the environment as `BOURSE_…`; what is typed wins.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

mod classic;
mod faults;
pub(crate) mod numbers;
mod tpce;

pub(crate) use classic::{Micro, MicroRun, Suite, SuiteRun};
pub(crate) use faults::{FaultWork, Faults};
pub(crate) use tpce::{
    Acid, AcidLoad, Arrivals, Check, CheckDepth, DurabilityClass, Format, Gen, Load, Run, RunSettings, Said, Serve,
    Tpce, Verify,
};

use clap::parser::ValueSource;
use clap::{ArgMatches, Args, FromArgMatches as _, Parser, Subcommand, ValueEnum};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
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
        if let (Command::Compare(compare), Some(matches)) =
            (&mut arguments.command, matches.subcommand_matches("compare"))
        {
            compare.given = Given::of(matches);
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
    /// Let reads, writes and syncs fail while engines work: what they report, and what they lose
    Faults(Faults),
    /// The process that faults befall: for `bourse faults` alone
    #[command(hide = true)]
    FaultWork(FaultWork),
    /// The published experiments, rerun beside their figures
    #[command(subcommand)]
    Suite(Suite),
    /// The picture of a machine in a few minutes: every engine that runs in process, in short rounds
    Quick(Quick),
    /// Run what a TOML file says; options typed behind it win
    Run(FromFile),
    /// Compare two stored runs, or two targets run in turn
    Compare(Box<Compare>),
    /// Run the one round that stdin describes: for the program itself alone
    #[command(hide = true)]
    Round,
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

/// Which database: its size and its input data.
#[derive(Debug, Clone, PartialEq, Args, Serialize, Deserialize)]
pub(crate) struct Database {
    /// Customers, a multiple of 1,000
    #[arg(long, value_name = "N", default_value_t = Self::CUSTOMERS, value_parser = numbers::customers, env = "BOURSE_CUSTOMERS")]
    pub(crate) customers: u64,
    /// Days of trades that the database begins with
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = numbers::days, env = "BOURSE_DAYS")]
    pub(crate) days: u32,
    /// Customers for each Trade-Result a second that the workload is nominally run at
    #[arg(long, value_name = "N", default_value_t = Self::SCALE_FACTOR, value_parser = numbers::scale_factor, env = "BOURSE_SCALE_FACTOR")]
    pub(crate) scale_factor: u32,
    /// Folder with the official input files, instead of the built-in data
    #[arg(long, value_name = "DIR", env = "BOURSE_FLAT_IN_DIR")]
    pub(crate) flat_in: Option<PathBuf>,
    /// Declare and enforce foreign keys and checks, or primary keys only
    #[arg(long, value_enum, default_value_t = Constraints::Full, env = "BOURSE_CONSTRAINTS")]
    pub(crate) constraints: Constraints,
    /// Threads that generate rows while loading [default: the processors there are]
    #[arg(long, value_name = "N", value_parser = numbers::threads, env = "BOURSE_THREADS")]
    pub(crate) threads: Option<usize>,
    /// Replace whatever database is there
    #[arg(long)]
    pub(crate) reload: bool,
}

impl Database {
    /// Customers where none are asked for.
    pub(crate) const CUSTOMERS: u64 = 1_000;
    /// Scale factor where none is asked for.
    pub(crate) const SCALE_FACTOR: u32 = 500;

    /// The smallest database with so many days of trades, and everything else as it is by default.
    pub(crate) const fn of_days(days: u32) -> Self {
        Self {
            customers: Self::CUSTOMERS,
            days,
            scale_factor: Self::SCALE_FACTOR,
            flat_in: None,
            constraints: Constraints::Full,
            threads: None,
            reload: false,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Constraints {
    /// Primary keys, foreign keys and checks
    Full,
    /// Primary keys only
    Keys,
}

/// Exit codes, as they stand in the help of each command that runs something.
const EXIT_CODES: &str = "Exit codes: 0 fine, 1 usage or configuration, 2 the target failed or was lost, 3 a check failed, \
130 interrupted (what was measured is still written).";

/// The same for commands that can demand a steady state.
const RUN_EXIT_CODES: &str = "Exit codes: 0 fine, 1 usage or configuration, 2 the target failed or was lost, 3 a check \
failed, 5 not steady with --require-steady, 130 interrupted (what was measured is still written).";

/// Where a server's token is.
#[derive(Debug, Clone, Args)]
pub(crate) struct TokenFile {
    /// File with the token that a server wants; the environment can hold the token itself, as BOURSE_TOKEN
    #[arg(long = "token-file", value_name = "FILE", env = "BOURSE_TOKEN_FILE")]
    pub(crate) path: Option<PathBuf>,
}

/// How rounds are carried out, whatever they measure.
#[derive(Debug, Clone, Args)]
pub(crate) struct Execution {
    /// End with exit code 5 if a round was not in steady state
    #[arg(long, env = "BOURSE_REQUIRE_STEADY")]
    pub(crate) require_steady: bool,
    /// Before each round wait so long, at most, until other processes leave the machine idle [default: not; in `compare` 20s,
    /// in `suite run` at full scale 5s]
    #[arg(long, value_name = "TIME", value_parser = numbers::duration, env = "BOURSE_WAIT_QUIET")]
    pub(crate) wait_quiet: Option<Duration>,
    /// Do not wait for a quiet machine
    #[arg(long)]
    pub(crate) no_wait: bool,
    /// Print the plan (cases, order, how long, what will be written) and end: nothing is opened, nothing is written
    #[arg(long)]
    pub(crate) dry_run: bool,
}

impl Execution {
    /// How long a round waits for a quiet machine, in nanoseconds.
    pub(crate) fn wait_quiet_ns(&self, default: Option<Duration>) -> Option<u64> {
        let limit = self.wait_quiet.or(default).filter(|_| !self.no_wait)?;
        Some(u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX))
    }
}

/// Options that were given: typed, or set in the environment.
#[derive(Debug, Clone, Default)]
pub(crate) struct Given {
    /// Typed.
    typed: BTreeSet<String>,
    /// Set in the environment.
    environment: BTreeSet<String>,
}

impl Given {
    fn of(matches: &ArgMatches) -> Self {
        let from = |wanted: ValueSource| {
            let all = matches.ids().map(clap::Id::as_str).filter(|id| matches.value_source(id) == Some(wanted));
            all.map(str::to_owned).collect()
        };
        Self { typed: from(ValueSource::CommandLine), environment: from(ValueSource::EnvVariable) }
    }

    /// Whether an option was typed.
    pub(crate) fn typed(&self, id: &str) -> bool {
        self.typed.contains(id)
    }

    /// Whether an option is no default.
    pub(crate) fn given(&self, id: &str) -> bool {
        self.typed(id) || self.environment.contains(id)
    }
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
#[command(after_help = EXIT_CODES, mut_arg("days", |days| days.default_value("1")))]
pub(crate) struct Crash {
    /// Database to crash copies of under load, as a URL [default: a SQLite file below ./bourse-data]
    #[arg(value_name = "TARGET")]
    pub(crate) target: Option<String>,
    /// Run this part alone [default: both; with a TARGET, load]
    #[arg(long, value_enum)]
    pub(crate) only: Option<CrashPart>,
    /// States of each setting that are enumerated, about; `all` for every one within the bound
    #[arg(long, value_name = "N|all", default_value = "3000", value_parser = states)]
    pub(crate) states: States,
    /// Settings whose states are enumerated
    #[arg(long, value_enum, default_value_t = CrashCases::Usual)]
    pub(crate) cases: CrashCases,
    /// How often each fault is planted, to show what the enumeration finds; 0 plants none
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(0..=100))]
    pub(crate) faults: u32,
    /// Make one state again, check it and keep its files: an enumerated one, as wal-full/12:one-3, with --seed as in the run that
    /// found it; or one drawn from a stored trace, as DIR/trace-1.bin#7, on the database the trace was recorded on
    #[arg(long, value_name = "STATE", conflicts_with_all = ["target", "only", "sweep"])]
    pub(crate) replay: Option<String>,
    #[command(flatten)]
    pub(crate) database: Database,
    /// Crash with each of these values of the target's options; several sweeps are combined [default for SQLite files:
    /// journal=wal,delete and sync=full,normal,off]
    #[arg(long, value_name = "OPTION=A,B,C")]
    pub(crate) sweep: Vec<String>,
    /// Crashes of each kind on each target, at sampled moments
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = numbers::rounds)]
    pub(crate) times: u32,
    /// States drawn from a recorded load on each SQLite target; 0 records none
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(0..=10_000))]
    pub(crate) samples: u32,
    /// Seed that the small workload, its states and the moments of the crashes follow from
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = numbers::seed, env = "BOURSE_SEED")]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// The parts of `crash`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CrashPart {
    /// Every state that a power loss may leave of a small SQLite database
    States,
    /// Crashes of copies of a database under load, at sampled moments
    Load,
}

/// Which settings are enumerated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CrashCases {
    /// Those in use, on the device that SQLite assumes; some on stricter ones
    Usual,
    /// Each journal mode with each sync on each device
    All,
}

/// How many states of a setting; `None` for all within the bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct States(pub(crate) Option<u64>);

fn states(text: &str) -> Result<States, String> {
    match text.parse::<u64>() {
        Ok(number @ 100..=1_000_000_000) => Ok(States(Some(number))),
        _ if text == "all" => Ok(States(None)),
        _ => Err("expected a number from 100 to 1000000000, or all".to_owned()),
    }
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
    /// `faults.json`
    Faults,
    /// `suite.json`
    Suite,
    /// The TOML files that `bourse run` takes
    Options,
}

#[derive(Debug, Args)]
pub(crate) struct Report {
    /// Run files, or folders of runs; of drivers that shared a round all of them, which become one. Or the folder or document
    /// of a suite, of `tpce acid`, of `crash` or of `faults`
    #[arg(value_name = "RUN", required = true)]
    pub(crate) runs: Vec<PathBuf>,
    /// Where to write; the ending says what: .html, .md, .csv, or .svg for the curve of a sweep [default: the terminal]
    #[arg(short, long = "output", value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Texts in CSV
    #[arg(long, value_enum, value_name = "TEXTS", default_value_t = CsvCells::Guarded)]
    pub(crate) csv: CsvCells,
    /// Of `tpce acid`: show every case with its steps and findings, and the settings in force
    #[arg(short, long)]
    pub(crate) verbose: bool,
}

/// How texts stand in CSV.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CsvCells {
    /// With an apostrophe before those that begin with =, +, -, @, a tabulator or a carriage return: spreadsheets would take
    /// them for formulas
    Guarded,
    /// As they are
    Raw,
}

#[derive(Debug, Args)]
#[command(after_help = RUN_EXIT_CODES)]
pub(crate) struct Quick {
    /// Length of the brokerage workload's measurement interval; the classic workloads take a fifth of it
    #[arg(short = 'T', long = "for", value_name = "TIME", default_value = "10s", value_parser = numbers::duration)]
    pub(crate) duration: Duration,
    /// Classic workloads to run besides, by the names of `bourse micro list`
    #[arg(long, value_name = "A,B", value_delimiter = ',', default_value = "point-read,update,bulk-load")]
    pub(crate) workloads: Vec<String>,
    /// Rounds of each case
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = numbers::rounds)]
    pub(crate) rounds: u32,
    /// Days of trades that the brokerage databases begin with
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = numbers::days)]
    pub(crate) days: u32,
    /// Seed of all random sequences [default: drawn, and shown]
    #[arg(long, value_name = "N", value_parser = numbers::seed, env = "BOURSE_SEED")]
    pub(crate) seed: Option<u64>,
    #[command(flatten)]
    pub(crate) execution: Execution,
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
    /// What two targets run: tpce, or a classic workload of `bourse micro list`
    #[arg(long, value_name = "WORKLOAD", default_value = "tpce")]
    pub(crate) workload: String,
    /// Set an option of a classic workload
    #[arg(short = 's', long, value_name = "OPTION=VALUE")]
    pub(crate) set: Vec<String>,
    /// Operations of each thread of a classic workload, instead of a time
    #[arg(long, value_name = "N", value_parser = numbers::counted)]
    pub(crate) count: Option<u64>,
    /// End with exit code 4 if B is slower by more than this, as 5%, and surely so: the whole interval lies beyond
    #[arg(long, value_name = "PERCENT", value_parser = numbers::percent, env = "BOURSE_FAIL_ABOVE")]
    pub(crate) fail_above: Option<f64>,
    /// How the comparison is printed
    #[arg(long, value_enum, default_value_t = CompareFormat::Text)]
    pub(crate) format: CompareFormat,
    #[command(flatten)]
    pub(crate) settings: RunSettings,
    #[command(flatten)]
    pub(crate) token: TokenFile,
    /// Which options were given.
    #[arg(skip)]
    pub(crate) given: Given,
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
