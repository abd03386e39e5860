//! Arguments of `record` and `replay`.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // reads untrusted input

use super::{ExecutionArgs, InstructionArgs, MemoryArgs, OutputArgs, numbers, run_help};
use clap::{Args, Subcommand};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

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
    },
}

#[derive(Debug, Args)]
#[command(after_help = run_help!(no_search:
    "bourse replay trace sqlite:x.db",
    "bourse replay trace 'sqlite:x.db?journal=wal' 'sqlite:x.db?journal=delete'",
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
    /// Repeat with each of these values of a target option or of pace; several --sweep are combined
    #[arg(long, value_name = "OPTION=A,B,C")]
    pub(crate) sweep: Vec<String>,
    /// Time limit of a round [default: none]
    #[arg(short = 'T', long = "for", short_alias = 'd', aliases = ["duration", "time"], allow_hyphen_values = true, value_name = "TIME", value_parser = numbers::duration, env = "BOURSE_FOR")]
    pub(crate) duration: Option<Duration>,
    /// Rounds of each case, each in its own process; cases are interleaved; six or more have an interval [default: 6]
    #[arg(long, value_name = "N", value_parser = numbers::rounds, env = "BOURSE_ROUNDS")]
    pub(crate) rounds: Option<u32>,
    #[command(flatten)]
    pub(crate) instructions: InstructionArgs,
    #[command(flatten)]
    pub(crate) memory: MemoryArgs,
    #[command(flatten)]
    pub(crate) execution: ExecutionArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}
