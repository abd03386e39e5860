//! Arguments of `bisect`.

use super::CountedWorkArgs;
use clap::Args;
use std::ffi::OsString;

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:
  bourse bisect v1.2 HEAD --target 'sqlite+lib:{tree}/x.db?library={tree}/libsqlite3.so' --workload point-read -- make libsqlite3.so
  bourse bisect HEAD~20 HEAD --target sqlite:x.db --workload sql -s 'file={tree}/queries.toml' --plans

Exit codes: 0 the commit was found, 1 usage or configuration, 2 an end cannot be built or its rounds failed, 6 no difference between the ends \
shown or not decided, 130 interrupted.",
    mut_arg("rounds", |it| it.help("Rounds of both sides of each step [default: four more than the intervals need, as 12 for 8 commits; 1 if instructions or plans decide]")),
    mut_arg("statements", |it| it.help("Decide by the plans of statements: a commit has changed if one differs from the good commit's")),
    mut_arg("instructions", |it| it.help("Decide by instructions of a fixed number of operations, counted as in `compare`")),
)]
pub(crate) struct BisectArgs {
    /// Commit that is as it was before, an ancestor of BAD
    #[arg(value_name = "GOOD")]
    pub(crate) good: String,
    /// Commit that has changed
    #[arg(value_name = "BAD")]
    pub(crate) bad: String,
    /// Database URL; {tree} is the folder of a commit, here or in a -s
    #[arg(long, value_name = "TARGET")]
    pub(crate) target: String,
    /// Command that builds a commit, run in its folder; a commit that it fails on is skipped
    #[arg(last = true, value_name = "BUILD")]
    pub(crate) build: Vec<OsString>,
    #[command(flatten)]
    pub(crate) work: CountedWorkArgs,
}
