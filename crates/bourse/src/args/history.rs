//! Arguments of the commands for results and databases of earlier runs: `runs` and `data`.

use super::numbers;
use clap::{Args, Subcommand};
use std::net::SocketAddr;
use std::path::PathBuf;

/// Folder of databases whose target names no place.
pub(crate) const DATA_FOLDER: &str = "bourse-data";

/// Folder with the results of runs.
#[derive(Debug, Clone, Args)]
pub(crate) struct ResultsFolder {
    /// Folder with the results of runs
    #[arg(short = 'o', long = "output", value_name = "DIR", default_value = "bourse-runs", env = "BOURSE_OUTPUT")]
    pub(crate) directory: PathBuf,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  bourse watch\n  bourse watch --page\n  bourse watch bourse-runs/20261123-101500-tpce | tee run.log\n\n\
Exit codes: 0 the run has ended, 1 usage, 2 the run's process was ended from outside, 130 interrupted (the run goes on)."
)]
pub(crate) struct WatchArgs {
    /// Run: its folder, or the name of its folder [default: the run that began last among those that go on]
    #[arg(value_name = "RUN")]
    pub(crate) run: Option<String>,
    #[command(flatten)]
    pub(crate) results: ResultsFolder,
    /// Serve a page that follows the run on this machine alone, as 127.0.0.1:8000 or just 8000 [default address: a free port]
    #[arg(long, value_name = "ADDR", num_args = 0..=1, default_missing_value = "127.0.0.1:0", value_parser = numbers::loopback)]
    pub(crate) page: Option<SocketAddr>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RunsCommand {
    /// List the stored runs with their figures
    ///
    /// Columns without room on a narrow terminal are left out in this order: interval, began, revision. If that is not enough,
    /// the name of the run is above the others.
    #[command(visible_alias = "list")]
    Ls(RunsLs),
    /// Print the report of a stored run
    Show {
        /// Run: its folder, the name of its folder, or `last`
        #[arg(value_name = "RUN", default_value = "last")]
        run: String,
        #[command(flatten)]
        results: ResultsFolder,
        /// Print the whole report
        #[arg(short, long, env = "BOURSE_VERBOSE")]
        verbose: bool,
    },
    /// Compare two stored runs
    Diff {
        /// Baseline: its folder, the name of its folder, or `last`
        #[arg(value_name = "A")]
        base: String,
        /// Candidate: likewise
        #[arg(value_name = "B", default_value = "last")]
        head: String,
        #[command(flatten)]
        results: ResultsFolder,
        /// Print every remark
        #[arg(short, long, env = "BOURSE_VERBOSE")]
        verbose: bool,
    },
    /// Remove the results of runs
    Rm {
        /// Runs: their folders, or the names of their folders
        #[arg(value_name = "RUN", required = true)]
        runs: Vec<String>,
        #[command(flatten)]
        results: ResultsFolder,
    },
}

#[derive(Debug, Args)]
pub(crate) struct RunsLs {
    /// Folder with the results of runs, as with -o
    #[arg(value_name = "DIR")]
    pub(crate) folder: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) results: ResultsFolder,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Print every run; without it a terminal shows the newest that have room
    #[arg(short, long, env = "BOURSE_VERBOSE")]
    pub(crate) verbose: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum DataCommand {
    /// List the databases that runs left
    #[command(visible_alias = "list")]
    Ls {
        /// Folder with databases
        #[arg(value_name = "DIR", default_value = DATA_FOLDER)]
        directory: PathBuf,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Remove databases that runs left
    Rm {
        /// Database files, or targets; only those that Bourse made are removed
        #[arg(value_name = "FILE", required = true)]
        files: Vec<PathBuf>,
    },
    /// Mark databases as made by Bourse that were copied or moved
    Adopt {
        /// Databases at the paths where they are now, as sqlite:copy.db; only those whose own lists say that Bourse made all
        /// they hold are marked
        #[arg(value_name = "TARGET", required = true)]
        targets: Vec<String>,
    },
}
