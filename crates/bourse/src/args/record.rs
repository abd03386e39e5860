//! Arguments of `record` and `replay`.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // reads untrusted input

use super::{ConductArgs, numbers, run_help};
use bourse_record::ResponseLimit;
use clap::builder::{NonEmptyStringValueParser, UnknownArgumentValueParser};
use clap::{Arg, Args, Subcommand};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// The option --trace of commands that cannot take a recording, with the reason and the way out.
pub(super) fn no_trace() -> Arg {
    let why = "the command knows every value that its own transactions write, and not those of a recording: name a target with the \
               settings of the program, as 'sqlite:?journal=wal'; `bourse tune --trace` crashes the settings that it finds, and \
               `bourse replay` compares every result with the recorded one";
    Arg::new("trace").long("trace").hide(true).value_parser(UnknownArgumentValueParser::suggest(why))
}

#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = "Examples:\n  bourse record -- python3 app.py\n  bourse record -o trace --mask -- sqlite3 shop.db 'SELECT 1'\n  \
bourse record --attach shop.db\n  bourse record show trace\n\n\
Exit code: the program's; 128 and the signal's number if one ended it; 1 usage, 2 the program cannot be started or recorded."
)]
pub(crate) struct RecordArgs {
    #[command(subcommand)]
    pub(crate) command: Option<RecordCommand>,
    /// Program with its arguments; it loads SQLite as a shared library
    #[arg(last = true, required_unless_present = "attach", value_name = "PROGRAM")]
    pub(crate) program: Vec<OsString>,
    /// Make a loadable extension that records the connections to a database of a program that links SQLite statically, and
    /// show the lines that load it
    #[arg(long, value_name = "DB", conflicts_with = "program")]
    pub(crate) attach: Option<PathBuf>,
    /// Folder of the trace, which must not exist [default: bourse-trace-TIME]
    #[arg(short, long, value_name = "DIR", env = "BOURSE_TRACE")]
    pub(crate) output: Option<PathBuf>,
    /// Replace values by others of the same type and length, whose order and equality are the same, in the trace and in the
    /// copies of databases
    #[arg(long, conflicts_with = "attach")]
    pub(crate) mask: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RecordCommand {
    /// Show connections, statements, rows and errors of a trace, and what cannot be replayed
    Show {
        /// Folder of the trace, or the file of one process
        #[arg(value_name = "TRACE")]
        trace: PathBuf,
        /// Number of statements shown, those with most time first
        #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
        statements: usize,
        /// Show all statements with their whole texts
        #[arg(short, long, env = "BOURSE_VERBOSE")]
        verbose: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Args)]
#[command(after_help = run_help!(
    "bourse replay trace sqlite:x.db",
    "bourse replay trace 'sqlite:x.db?journal=wal' 'sqlite:x.db?journal=delete'",
    "bourse replay trace sqlite:x.db --find-max --limit p90=10ms",
    "bourse replay trace --pace 1 'sqlite+lib:x.db?library=/opt/libsqlite3.so'",
))]
pub(crate) struct ReplayArgs {
    /// Recording: a folder that `bourse record` made, or the trace of one process
    #[arg(value_name = "TRACE")]
    pub(crate) trace: String,
    /// Database URLs; the recorded data are loaded anew for each round [default: sqlite::memory:]
    #[arg(value_name = "TARGET")]
    pub(crate) targets: Vec<String>,
    /// Speed: 1 is the recording's, 2 twice as fast. Response times count from when an execution was due [default: as fast as
    /// possible, in the recorded order]
    #[arg(long, value_name = "FACTOR", env = "BOURSE_PACE")]
    pub(crate) pace: Option<String>,
    /// Database to replay, if several were recorded: its path, or the end of it; memory is one without a file [default: the one
    /// with most executions]
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) database: Option<String>,
    /// Search for the highest pace that meets every --limit, and confirm it with a further round
    #[arg(long, requires = "limit", conflicts_with = "pace", env = "BOURSE_FIND_MAX")]
    pub(crate) find_max: bool,
    /// Response-time limit for --find-max, as p99=10ms: p50, p90, p95, p99, p99.9 or max, of each statement that is executed often
    /// enough for it; COMMIT:p90=10ms is that of one
    #[arg(long, requires = "find_max", value_name = "QUANTILE=TIME", value_delimiter = ',', value_parser = numbers::response_limit)]
    pub(crate) limit: Vec<ResponseLimit>,
    /// Repeat with each of these values of a target option or of pace; several --sweep are combined
    #[arg(long, value_name = "OPTION=A,B,C")]
    pub(crate) sweep: Vec<String>,
    /// Time limit of a round [default: none]
    #[arg(short = 'T', long = "for", short_alias = 'd', aliases = ["duration", "time"], allow_hyphen_values = true, value_name = "TIME", value_parser = numbers::duration, env = "BOURSE_FOR")]
    pub(crate) duration: Option<Duration>,
    /// Rounds of each case, each in its own process; cases are interleaved; six or more have an interval [default: 6; 1 at the
    /// pace that --find-max finds]
    #[arg(long, value_name = "N", value_parser = numbers::rounds, env = "BOURSE_ROUNDS")]
    pub(crate) rounds: Option<u32>,
    #[command(flatten)]
    pub(crate) conduct: ConductArgs,
}
