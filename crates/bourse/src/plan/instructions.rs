//! Counts of instructions that a plan takes of its cases after their rounds.

use super::PlannedCase;
use crate::args::{InstructionArgs, MemoryArgs};
use crate::engines;
use crate::failure::{Failure, Result};
use bourse_engine::Hosting;
use bourse_engine::instructions::{InstructionSource, processor_lacks};
use serde::{Deserialize, Serialize};
use std::process::Command;

/// Operations of a count, if no number is given.
pub(crate) const COUNTED: u64 = 10_000;
/// Counts of the same work for each case: they show how far counts differ by themselves.
pub(crate) const COUNTS: usize = 2;

/// A count of each case's instructions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct InstructionPlan {
    /// Program or device that counts.
    pub(crate) source: InstructionSource,
    /// Its name in the run file.
    pub(crate) counted_by: String,
    /// Whether the functions with the most instructions are stored.
    pub(crate) functions: bool,
}

impl InstructionPlan {
    /// The requested count, if one was, with the counter of this machine.
    ///
    /// # Errors
    /// A case whose instructions cannot be counted, conditions that a count does not have, or a machine without a counter.
    pub(crate) fn of(arguments: InstructionArgs, memory: MemoryArgs, cases: &[PlannedCase]) -> Result<Option<Self>> {
        if !arguments.instructions {
            return Ok(None);
        }
        if memory != MemoryArgs::default() {
            return Err(Failure::usage(
                "--instructions cannot be used with --cache or --memory: they are counted after the rounds, without such conditions",
            )
            .hint("count them by a command of its own; neither changes the number of operations' instructions much"));
        }
        cases.iter().try_for_each(refuse_uncountable)?;
        let lacks = processor_lacks();
        if lacks.is_none() && !arguments.profile {
            let counted_by = "processor".to_owned();
            return Ok(Some(Self { source: InstructionSource::Processor, counted_by, functions: false }));
        }
        match valgrind() {
            Ok(counted_by) => {
                Ok(Some(Self { source: InstructionSource::Valgrind, counted_by, functions: arguments.profile }))
            }
            Err(why) => Err(Failure::usage("this machine has no counter of instructions")
                .detail(
                    "processor",
                    lacks.unwrap_or_else(|| "it does not count functions, as --profile asks".to_owned()),
                )
                .detail("valgrind", why)
                .hint("install valgrind, in most systems by the package of that name")),
        }
    }
}

/// Version of valgrind, or the reason that it cannot count.
fn valgrind() -> Result<String, String> {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        return Err("Bourse counts with it on Linux on x86-64 alone".to_owned());
    }
    let told = Command::new("valgrind").arg("--version").output().map_err(|error| error.to_string())?;
    Ok(String::from_utf8_lossy(&told.stdout).trim().to_owned())
}

/// Refuses a case whose operations are not a fixed number, of one user, in this process.
fn refuse_uncountable(case: &PlannedCase) -> Result<()> {
    let (job, target) = (&case.job, &case.target);
    let refused = |what: &str, why: &str| Failure::usage(format!("--instructions cannot be used with {what}: {why}"));
    let workload = job.workload();
    if let Err(why) = job.counted() {
        return Err(refused(workload, why)
            .hint("choose a microbenchmark, as --workload point-read; `bourse micro list` lists them"));
    }
    if job.threads() > 1 || job.is_shared()? {
        return Err(refused(workload, "several users work at once, and how they meet differs from run to run")
            .hint("one user is counted: -s threads=1, or a workload with one thread"));
    }
    if !matches!(engines::open(target)?.hosting(), Hosting::InProcess) {
        return Err(refused(target, "its work is in another process, whose instructions are not counted"));
    }
    if target.starts_with("jdbc+") {
        return Err(refused(target, "its virtual machine compiles while it works, so that no two counts are alike"));
    }
    Ok(())
}
