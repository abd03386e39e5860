//! Arguments of commands that draw documents: `report`, `schema`, `engines`.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// Run files or folders of runs; drivers that shared a round become one run if all are given, two runs of the same
    /// work are compared. `merge` before the runs of all drivers writes their one run to the folder of -o. Also documents or folders of `suite run`, `tpce acid`, `crash` and `faults`, or a folder of runs:
    /// an index with trends
    #[arg(value_name = "RUN", required = true)]
    pub(crate) runs: Vec<PathBuf>,
    /// File to write; its ending chooses the format: .html, .md, .csv, or .svg for the curve of a sweep [default: terminal].
    /// With --format, the folder to write to; created if it does not exist
    #[arg(short, long = "output", value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Replace a file that is there even if Bourse did not make it
    #[arg(long)]
    pub(crate) overwrite: bool,
    /// Write files for programs into a folder: tables with units in the columns' names, or what a benchmark service reads
    #[arg(long, value_enum, value_name = "FORMAT", requires = "output")]
    pub(crate) format: Option<TableFormat>,
    /// Protection of texts in CSV against spreadsheets
    #[arg(long, value_enum, value_name = "TEXTS", default_value_t = CsvCells::Guarded)]
    pub(crate) csv: CsvCells,
    /// Print the whole report; without it the terminal shows its first screen
    #[arg(short, long, env = "BOURSE_VERBOSE")]
    pub(crate) verbose: bool,
}

impl ReportArgs {
    /// The report of one run, as printed by a command without other options.
    pub(crate) fn of(run: PathBuf) -> Self {
        Self { runs: vec![run], output: None, overwrite: false, format: None, csv: CsvCells::Guarded, verbose: false }
    }
}

/// Formats for programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TableFormat {
    /// CSV (RFC 4180) with a line of names
    Csv,
    /// A JSON object for each row, a line each
    Ndjson,
    /// Apache Parquet; in builds with the feature `full`
    Parquet,
    /// One run for Bencher: bencher.json, in its metric format
    Bencher,
    /// One run for github-action-benchmark: bigger-is-better.json and smaller-is-better.json, in its custom formats
    GithubBenchmark,
}

/// Form of texts in CSV.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CsvCells {
    /// Preceded by an apostrophe if a spreadsheet would take the text for a formula: it begins with =, +, -, @, a tab or a
    /// carriage return
    Guarded,
    /// Unchanged
    Raw,
}

/// Documents with a published schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SchemaDocument {
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
pub(crate) struct EnginesArgs {
    /// Engine to list the options of
    #[arg(value_name = "ENGINE")]
    pub(crate) engine: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// File to write; its ending chooses the format: .html, .md or .csv [default: terminal]
    #[arg(short, long = "output", value_name = "FILE", conflicts_with = "json")]
    pub(crate) output: Option<PathBuf>,
    /// Replace a file that is there even if Bourse did not make it
    #[arg(long)]
    pub(crate) overwrite: bool,
    /// Protection of texts in CSV against spreadsheets
    #[arg(long, value_enum, value_name = "TEXTS", default_value_t = CsvCells::Guarded)]
    pub(crate) csv: CsvCells,
    /// Print all about every engine; without it a terminal shows a line for each
    #[arg(short, long, env = "BOURSE_VERBOSE")]
    pub(crate) verbose: bool,
}
