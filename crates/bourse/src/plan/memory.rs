//! The page cache and the memory of a plan's rounds: the cases are prepared for the request, or the reason against it is reported.

use super::{Plan, PlannedCase, RoundProcess};
use crate::args::MemoryArgs;
use crate::engines;
use crate::failure::{Failure, Result};
use bourse_engine::target::show_bytes;
use bourse_engine::{Location, Medium, Storage};
use bourse_record::PageCache;

/// Prepares each case that is run.
pub(super) fn apply(plan: &mut Plan) -> Result<()> {
    let MemoryArgs { cache, limit } = plan.memory;
    if cache == Some(PageCache::Cold) && plan.require_steady {
        return Err(never_warm("--require-steady"));
    }
    let cases = plan.blocks.iter_mut().flat_map(|block| &mut block.cases);
    for case in cases.filter(|case| case.not_run.is_none()) {
        if let Some(cache) = cache {
            let why = no_page_cache(case)?;
            why.map_or(Ok(()), |why| Err(refused("--cache", case, why).hint("for instance sqlite:PATH")))?;
            case.label.push_str(&format!(" --cache {}", cache.name()));
        }
        if cache == Some(PageCache::Cold) {
            case.job.begin_cold().map_err(never_warm)?;
            case.job.search().map_or(Ok(()), |_| Err(never_warm("--find-max")))?;
        }
        if let Some(bytes) = limit {
            let why = no_limit(case)?;
            why.map_or(Ok(()), |why| Err(refused("--memory", case, why)))?;
            case.label.push_str(&format!(" --memory {}", show_bytes(bytes)));
            case.rounds_in = RoundProcess::Child;
        }
    }
    Ok(())
}

fn never_warm(option: &str) -> Failure {
    Failure::usage(format!(
        "{option} cannot be used with --cache cold: a round begins cold, without a warm-up, and once"
    ))
}

fn refused(option: &str, case: &PlannedCase, why: &str) -> Failure {
    Failure::usage(format!("{option} cannot be used with {} on {}: {why}", case.job.workload(), case.subject))
}

const SEVERAL: &str = "its users are in several processes";

/// Reason that no round of a case can begin with a known page cache and empty caches of the engine.
fn no_page_cache(case: &PlannedCase) -> Result<Option<&'static str>> {
    let location = engines::location(&case.target)?;
    let medium = || Some(Storage::of(&location.folder()?)?.medium);
    let has_own_caches = || engines::kind_of(&case.target).is_some_and(|kind| kind.caches_by_session);
    Ok(match location {
        _ if !cfg!(target_os = "linux") => Some("this system tells nobody which pages of a file it holds in memory"),
        Location::Memory | Location::Nowhere => Some("its database is in memory, and has no files"),
        Location::RunningServer => Some("the caches and the files of its server are out of reach"),
        Location::ServerFolder(_) => Some("the caches of its server end with the server, and so does the database"),
        Location::Files(_) if case.job.is_shared()? => Some(SEVERAL),
        Location::Files(_) if matches!(medium(), Some(Medium::Memory(_))) => {
            Some("its files are on a file system in memory")
        }
        Location::Files(_) if !has_own_caches() => {
            Some("all sessions share the engine's cache, which the counts before a round fill")
        }
        Location::Files(_) => None,
    })
}

/// Reason that the memory of a case's rounds cannot be limited.
fn no_limit(case: &PlannedCase) -> Result<Option<&'static str>> {
    Ok(match engines::location(&case.target)? {
        Location::RunningServer => {
            Some("its server was running before, with memory of its own; limit it where it is started")
        }
        _ if case.job.is_shared()? => Some(SEVERAL),
        _ => None,
    })
}
