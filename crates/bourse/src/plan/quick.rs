//! What `bourse quick` runs: every engine that works in this process and is here, chosen by what it can.

use super::brokerage::Brokerage;
use super::classic::Asked;
use super::targets::{self, size};
use super::{Block, Job, Plan, PlannedCase, RoundsIn, about, nanoseconds};
use crate::args::{CheckDepth, Database, Quick};
use crate::engines::{self, ENGINES, EngineKind};
use crate::failure::Failure;
use bourse_driver::SECOND;
use bourse_engine::did_you_mean;
use bourse_tpce::users;
use std::time::Duration;

/// Warm-up of the brokerage workload.
const WARM_UP: Duration = Duration::from_secs(5);
/// Warm-up of a classic workload.
const CLASSIC_WARM_UP: Duration = Duration::from_millis(500);

/// The plan of `bourse quick`: a block for the brokerage workload, and one for each classic workload.
pub(crate) fn plan(arguments: &Quick) -> Result<Plan, Failure> {
    let classic = named(&arguments.workloads)?;
    let rounds = arguments.rounds;
    // Its one round has the interval of its series.
    let brokerage = Block { cases: brokerage_cases(arguments)?, rounds: 1 };
    let mut plan = Plan::of("quick", brokerage, arguments.seed, &arguments.execution, &arguments.output);
    for workload in classic {
        let asked = Asked {
            workload,
            set: &[],
            sweep: &[],
            threads: None,
            count: None,
            duration: Some(arguments.duration.div_f64(10.0)),
            warmup: CLASSIC_WARM_UP,
            timed: crate::args::Timed::Batched,
            open_loop: None,
            search: None,
        };
        plan.blocks.push(Block { cases: classic_cases(&asked)?, rounds });
    }
    // Others' work makes it longer, but not by more than is left of its six minutes.
    plan.repeats_at_most_ns = Some(LONGEST_NS.saturating_sub(about::about_ns(&plan)));
    plan.checked()
}

/// How long it may take, with rounds that are repeated.
const LONGEST_NS: u64 = 6 * 60 * SECOND;
/// The classic workloads of those names, all known.
fn named(names: &[String]) -> Result<Vec<&'static str>, Failure> {
    // What runs a file of statements needs the file.
    let known = || bourse_micro::WORKLOADS.iter().filter(|spec| !spec.takes_file()).map(|spec| spec.name);
    let find = |name: &String| {
        known().find(|known| known == name).ok_or_else(|| {
            Failure::usage(format!("unknown workload '{name}' in --workloads{}", did_you_mean(name, known())))
                .hint(format!("workloads: {}", known().collect::<Vec<_>>().join(", ")))
        })
    };
    names.iter().map(find).collect()
}

/// The engines that work in this process and are here. Servers are no part of a quick look, and the null engine is part of
/// every report already.
fn here() -> impl Iterator<Item = &'static EngineKind> {
    ENGINES.iter().filter(|kind| kind.in_process.is_some() && kind.version().is_ok())
}

/// Whether an engine is another build of one that is here too.
fn is_variant(kind: &EngineKind) -> bool {
    kind.in_process.as_ref().is_some_and(|it| it.variant_of.is_some())
}

/// The brokerage workload on every engine that can run it: in a file, where it keeps what it does, or else in memory.
fn brokerage_cases(arguments: &Quick) -> Result<Vec<PlannedCase>, Failure> {
    let mut cases = Vec::new();
    for kind in here().filter(|kind| !is_variant(kind)) {
        let job = Brokerage {
            warm_up_ns: nanoseconds(WARM_UP),
            measure_ns: nanoseconds(arguments.duration.max(Duration::from_secs(1))),
            check: CheckDepth::Quick,
            ..Brokerage::on(Database::of_days(arguments.days))?
        };
        let file = kind.file_target(&format!("tpce{}", size(&job.database)));
        for target in file.into_iter().chain(kind.memory_target()) {
            if !users::needs(&engines::open(&target)?.capabilities()).is_empty() {
                continue;
            }
            cases.push(PlannedCase {
                label: target.clone(),
                subject: target.clone(),
                target,
                job: Job::Brokerage(Box::new(job)),
                varied: Vec::new(),
                rounds_in: RoundsIn::ThisProcess,
                not_run: None,
            });
            break;
        }
    }
    Ok(cases)
}

/// A classic workload on the fastest target of every engine: in memory, or in a file where there is nothing faster; labels
/// say which workload they are of.
fn classic_cases(asked: &Asked<'_>) -> Result<Vec<PlannedCase>, Failure> {
    let mut cases = Vec::new();
    for kind in here() {
        let Some(target) = kind.memory_target().or_else(|| kind.file_target("quick")) else { continue };
        let job = asked.job()?;
        let lacking = targets::lacking(&target, &job)?;
        cases.push(PlannedCase {
            label: format!("{}, {target}", asked.workload),
            subject: target.clone(),
            target,
            job: Job::Classic(job),
            varied: Vec::new(),
            rounds_in: RoundsIn::Child,
            not_run: (!lacking.is_empty()).then(|| lacking.join("; ")),
        });
    }
    Ok(cases)
}
