//! Arguments of `record`.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // reads untrusted input

use clap::{Args, Subcommand};
use std::ffi::OsString;
use std::path::PathBuf;

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
