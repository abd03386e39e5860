//! Commits of the repository of the current folder. Nothing in it is changed: commits are checked out in clones that share its
//! objects.

use crate::failure::{Failure, Result};
use crate::outside::output_of;
use bourse_record::BisectedCommit;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A repository.
pub(super) struct Repository {
    folder: PathBuf,
}

impl Repository {
    /// The repository of the current folder.
    pub(super) fn here() -> Result<Self> {
        let found = git(&["rev-parse", "--path-format=absolute", "--git-common-dir"], None);
        let folder = found.map_err(|failure| {
            Failure::usage("there is no git repository here")
                .detail("cause", failure.line())
                .hint("run it in a working tree of git")
        })?;
        Ok(Self { folder: folder.trim_end().into() })
    }

    /// The commits from `good` to `bad`, both among them. A merge counts as one commit.
    pub(super) fn commits(&self, good: &str, bad: &str) -> Result<Vec<BisectedCommit>> {
        let named = |name: &str| {
            let commit = format!("{name}^{{commit}}");
            let hash = git(&["rev-parse", "--verify", "--quiet", "--end-of-options", &commit], None);
            hash.map(|it| it.trim_end().to_owned())
                .map_err(|_| Failure::usage(format!("there is no git commit '{name}'")))
        };
        let (from, to) = (named(good)?, named(bad)?);
        if from == to {
            return Err(Failure::usage(format!("{good} and {bad} are the same commit: there is nothing to search"))
                .hint("GOOD is a commit before the change, BAD one behind it"));
        }
        if git(&["merge-base", "--is-ancestor", &from, &to], None).is_err() {
            return Err(Failure::usage(format!("{good} is no ancestor of {bad}"))
                .hint("GOOD is the older commit; the commits after it up to BAD are searched"));
        }
        let range = format!("{from}..{to}");
        let listed = |arguments: &[&str]| git(&[&["log", "--format=%H %s"], arguments].concat(), None);
        let all = listed(&["--max-count=1", &from])? + &listed(&["--first-parent", "--reverse", &range])?;
        let commit = |line: &str| {
            let (hash, subject) = line.split_once(' ').unwrap_or((line, ""));
            BisectedCommit { hash: hash.to_owned(), subject: subject.to_owned() }
        };
        Ok(all.lines().map(commit).collect())
    }

    /// Checks a commit out in a new folder.
    pub(super) fn check_out(&self, commit: &BisectedCommit, tree: &Path) -> Result<()> {
        let (from, to) = (self.folder.to_string_lossy(), tree.to_string_lossy());
        git(&["clone", "--quiet", "--shared", "--no-checkout", &from, &to], None)?;
        // What a commit's build pushes reaches no branch of the repository.
        git(&["remote", "remove", "origin"], Some(tree))?;
        git(&["checkout", "--quiet", "--detach", &commit.hash], Some(tree)).map(|_| ())
    }
}

/// Output of git, without a person's hooks; in the current folder or another.
fn git(arguments: &[&str], folder: Option<&Path>) -> Result<String> {
    let mut command = Command::new("git");
    if let Some(folder) = folder {
        command.current_dir(folder);
    }
    // Set by git for hooks, which this program may be started by.
    for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"] {
        command.env_remove(name);
    }
    output_of(command.args(["-c", "core.hooksPath=/dev/null"]).args(arguments))
}
