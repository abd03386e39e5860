//! Arguments of `bourse faults`.

use super::{DryRun, OutputArgs, numbers};
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

/// Exit codes in the help.
const EXIT_CODES: &str = "Exit codes: 0 no guarantee broken, 1 usage or configuration, 2 a trial could not be made, 3 something \
acknowledged was lost or corrupted and the engine reported no error, 130 interrupted (what was found is still written). \
Losses that a lying disk causes, or that the settings allow, are expected and no failure.";

#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct FaultsArgs {
    /// Engines with options but no path, for example sqlite:?journal=wal [default: SQLite in several settings, LMDB, redb, and
    /// MariaDB and PostgreSQL where they are installed]
    #[arg(value_name = "TARGET")]
    pub(crate) targets: Vec<String>,
    /// Names of the faults to inject [default: all]
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub(crate) only: Vec<String>,
    /// Trials of each fault, spread over the transactions
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = numbers::rounds)]
    pub(crate) times: u32,
    /// Transactions in each trial
    #[arg(long, value_name = "N", default_value_t = 120, value_parser = numbers::counted)]
    pub(crate) transactions: u64,
    /// Seed of the transactions, of the moments of the faults, and of what survives a power loss
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = numbers::seed, env = "BOURSE_SEED")]
    pub(crate) seed: u64,
    /// Time after which a trial counts as hung
    #[arg(long = "timeout", value_name = "TIME", default_value = "30s", value_parser = numbers::duration)]
    pub(crate) patience: Duration,
    /// Folder for the databases, which are removed afterwards [default: ./bourse-data; the system's temporary folder for
    /// servers]
    #[arg(long = "in", value_name = "DIR")]
    pub(crate) folder: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) plan: DryRun,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Debug, Args)]
pub(crate) struct FaultWork {
    /// Database to work on
    #[arg(value_name = "TARGET")]
    pub(crate) target: String,
    /// Seed of the transactions
    #[arg(long)]
    pub(crate) seed: u64,
    /// Number of transactions
    #[arg(long)]
    pub(crate) transactions: u64,
    /// Look at the database instead
    #[arg(long)]
    pub(crate) look: bool,
    /// End without closing the database
    #[arg(long)]
    pub(crate) leave_open: bool,
}
