//! Arguments of `versions`.

use super::{CountedWorkArgs, EXIT_CODES};
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(
    after_help = format!("Examples:
  bourse versions sqlite --workload point-read --dry-run
  bourse versions sqlite --from 3.35 --workload update --instructions
  bourse versions sqlite::memory: --against 3.46 --workload sql -s file=shop.toml --plans
  bourse versions 'sqlite:x.db?journal=wal' --trace trace

{EXIT_CODES}"),
    mut_arg("rounds", |it| it.help("Rounds of each version, in turn [default: enough for intervals that hold together: 9 of ten versions]")),
)]
pub(crate) struct VersionsArgs {
    /// Engine, or a target of it whose place and settings each version gets: sqlite, sqlite::memory:,
    /// 'sqlite:x.db?journal=wal'; of x.db each version has a database of its own
    #[arg(value_name = "ENGINE")]
    pub(crate) engine: String,
    /// First version [default: the oldest known]
    #[arg(long, value_name = "VERSION")]
    pub(crate) from: Option<String>,
    /// Last version [default: the newest known]
    #[arg(long, value_name = "VERSION")]
    pub(crate) to: Option<String>,
    /// Version that the others are compared with [default: the first]
    #[arg(long, value_name = "VERSION")]
    pub(crate) against: Option<String>,
    /// Folder of the libraries that were built, which the next run finds there [default: bourse in the user's cache folder]
    #[arg(long, value_name = "DIR", env = "BOURSE_LIBRARIES")]
    pub(crate) libraries: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) work: CountedWorkArgs,
}
