//! Arguments of `crash`.

use super::record::no_trace;
use super::{DatabaseArgs, DryRun, EXIT_CODES, GivenOptions, OutputArgs, numbers};
use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES, mut_arg("days", |days| days.default_value("1")), arg(no_trace()))]
pub(crate) struct CrashArgs {
    /// Database URL; copies of it are crashed under load [default: a SQLite file below ./bourse-data]. With --only states an
    /// engine with options but no path, such as lmdb:?sync=full
    #[arg(value_name = "TARGET")]
    pub(crate) target: Option<String>,
    /// Run only this part [default: both; with a TARGET, load]
    #[arg(long, value_enum)]
    pub(crate) only: Option<CrashPart>,
    /// Approximate number of disk states enumerated for each setting; `all` for every state within the bound
    #[arg(long, value_name = "N|all", default_value = "12000", value_parser = states)]
    pub(crate) states: States,
    /// Settings for which disk states are enumerated
    #[arg(long, value_enum, default_value_t = CrashCases::Usual, conflicts_with = "target")]
    pub(crate) cases: CrashCases,
    /// Disks with their file systems whose states are enumerated: any-order, ext4-ordered, lying-cache,
    /// no-powersafe-overwrite, no-powersafe-overwrite-512 [default: any-order; for some settings of SQLite those without
    /// powersafe overwrite too]
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub(crate) profile: Vec<String>,
    /// Trials of each planted fault, which the enumeration must find; 0 plants none
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(0..=100))]
    pub(crate) faults: u32,
    /// Rebuild one disk state, check it and keep its files: an enumerated state such as wal-full/12:one-3, with the --seed of
    /// the run that found it; or a state of a stored trace such as DIR/trace-1.bin#7, with the database that it was recorded on
    #[arg(long, value_name = "STATE", conflicts_with_all = ["target", "only", "sweep"])]
    pub(crate) replay: Option<String>,
    /// Repeat with each of these values of a target option; several --sweep are combined [default for SQLite files:
    /// journal=wal,delete and sync=full,normal,off]
    #[arg(long, value_name = "OPTION=A,B,C")]
    pub(crate) sweep: Vec<String>,
    /// Crashes of each kind on each target, at random moments
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = numbers::rounds)]
    pub(crate) times: u32,
    /// Disk states sampled from a recorded load on each SQLite target; 0 records no load
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(0..=10_000))]
    pub(crate) samples: u32,
    /// Seed of the workload, the disk states and the moments of the crashes
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = numbers::seed, env = "BOURSE_SEED")]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) database: DatabaseArgs,
    #[command(flatten)]
    pub(crate) plan: DryRun,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[arg(skip)]
    pub(crate) given: GivenOptions,
}

/// The parts of `crash`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CrashPart {
    /// Every disk state that a power loss may leave of small databases
    States,
    /// Crashes of copies of a database under load, at random moments
    Load,
}

/// Settings that are enumerated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CrashCases {
    /// Common settings, on the device that SQLite assumes, and some on stricter devices
    Usual,
    /// Each journal mode with each sync setting on each device
    All,
}

/// Number of states of a setting; `None` for all within the bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct States(pub(crate) Option<u64>);

fn states(text: &str) -> Result<States, String> {
    match text.parse::<u64>() {
        Ok(number @ 20..=1_000_000_000) => Ok(States(Some(number))),
        _ if text == "all" => Ok(States(None)),
        _ => Err("expected an integer from 20 to 1,000,000,000, or 'all'".to_owned()),
    }
}
