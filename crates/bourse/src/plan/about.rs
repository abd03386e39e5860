//! Approximate duration of a plan, on two cores without other load.

use super::instructions::COUNTS;
use super::{CaseBlock, Plan, PlannedCase, VAIN_WAITS, show};
use crate::engines;
use bourse_driver::SECOND;
use bourse_engine::instructions::InstructionSource;
use std::collections::BTreeMap;
use std::time::Duration;

/// Duration below which a plan is not announced.
const SHORT_NS: u64 = 20 * SECOND;

/// Time of one round of a case that shares its database with no other, in nanoseconds.
pub(crate) fn alone_ns(case: &PlannedCase) -> u64 {
    let shared = case.job.once_ns(&case.target).filter(|_| case.has_one_database());
    round_ns(case).saturating_add(shared.unwrap_or(0))
}

/// Time of a round of a case, in nanoseconds.
pub(crate) fn round_ns(case: &PlannedCase) -> u64 {
    let made = case.job.once_ns(&case.target).filter(|_| !case.has_one_database());
    case.job.round_ns(&case.target).saturating_add(made.unwrap_or(0))
}

/// Time of the short rounds of a search, in nanoseconds: about ten, each on the restored database.
fn search_ns(case: &PlannedCase) -> u64 {
    const PROBES: u64 = 10;
    const RESTORED_NS: u64 = SECOND;
    let probe_ns = case.job.search().and_then(|_| case.job.probe(None).lasts_ns());
    probe_ns.map_or(0, |ns| PROBES.saturating_mul(ns.saturating_add(RESTORED_NS)))
}

/// Time to prepare the databases that the rounds of a block share, in nanoseconds.
pub(crate) fn shared_ns(block: &CaseBlock) -> u64 {
    let shared = block.run_cases().filter(|case| case.has_one_database());
    let of_target = shared.filter_map(|case| {
        let started = engines::starts_s(&case.target).saturating_mul(SECOND);
        Some((&case.target, case.job.once_ns(&case.target)?.saturating_add(started)))
    });
    of_target.collect::<BTreeMap<_, _>>().values().copied().fold(0, u64::saturating_add)
}

/// Time of the counts of instructions, in nanoseconds: those of each case, and one of the harness.
fn counts_ns(plan: &Plan) -> u64 {
    let each_s = match plan.instructions.as_ref().map(|it| it.source) {
        None => return 0,
        Some(InstructionSource::Processor) => 1,
        // All of the process is slower, loading too; measured of 10,000 rows.
        Some(InstructionSource::Valgrind) => 5,
    };
    let counts = (COUNTS as u64).saturating_mul(plan.run_cases().count() as u64).saturating_add(1);
    counts.saturating_mul(each_s * SECOND)
}

/// Time of a block without repeated rounds, in nanoseconds.
pub(crate) fn block_ns(block: &CaseBlock) -> u64 {
    let of_rounds = block.run_cases().map(round_ns).fold(0, u64::saturating_add);
    let searched_ns = block.run_cases().map(search_ns).fold(0, u64::saturating_add);
    of_rounds.saturating_mul(block.rounds.into()).saturating_add(shared_ns(block)).saturating_add(searched_ns)
}

/// Time of a plan's blocks without repeated rounds, in nanoseconds.
pub(crate) fn of_blocks_ns(plan: &Plan) -> u64 {
    plan.blocks.iter().map(block_ns).fold(0, u64::saturating_add)
}

/// Time of a plan without repeated rounds, in nanoseconds.
pub(crate) fn about_ns(plan: &Plan) -> u64 {
    let calibrated_ns = if plan.calibrate { SECOND } else { 0 };
    of_blocks_ns(plan).saturating_add(calibrated_ns).saturating_add(counts_ns(plan))
}

/// Factor by which loading, checks and other work without a time limit take longer while other processes use every CPU.
const SLOWED: u64 = 3;

/// Additional time of a plan on a busy machine, in nanoseconds: waits for a quiet machine in vain, work that is slowed, and
/// repeated rounds.
fn more_ns(plan: &Plan) -> u64 {
    let of_block = |block: &CaseBlock| {
        let (count, all) =
            block.run_cases().map(round_ns).fold((0, 0_u64), |(count, sum), ns| (count + 1, sum.saturating_add(ns)));
        (all / u64::max(count, 1)).saturating_mul(plan.budget(block).most().into())
    };
    let repeats = plan.blocks.iter().map(of_block).fold(0, u64::saturating_add);
    let waits = plan.wait_quiet_ns.unwrap_or(0).saturating_mul(VAIN_WAITS.into());
    let of_timed = |block: &CaseBlock| {
        let lasting = block.run_cases().filter_map(|case| case.job.lasts_ns()).fold(0, u64::saturating_add);
        lasting.saturating_mul(block.rounds.into())
    };
    let timed = plan.blocks.iter().map(of_timed).fold(0, u64::saturating_add);
    let about_ns = about_ns(plan);
    let slower = about_ns.saturating_sub(timed).saturating_mul(SLOWED - 1).saturating_add(waits);
    let all = slower.saturating_add(repeats);
    plan.at_most_ns.map_or(all, |most| all.min(most.saturating_sub(about_ns)))
}

/// Duration and end of work that takes about so many nanoseconds; `None` for short work.
pub(crate) fn lasting(about_ns: u64, now: &jiff::Zoned) -> Option<String> {
    // A minute that has begun is the next one: what ends at 10:01:40 is not over at 10:01.
    const ALMOST_A_MINUTE_NS: u64 = 59 * SECOND;
    let end = now.checked_add(Duration::from_nanos(about_ns.saturating_add(ALMOST_A_MINUTE_NS))).ok();
    let end = end.filter(|_| about_ns >= SHORT_NS)?;
    let minutes = about_ns.saturating_add(30 * SECOND) / (60 * SECOND);
    Some(format!("about {} min, until about {}", minutes.max(1), end.strftime("%H:%M")))
}

/// Duration of a plan in minutes, and its limit.
pub(crate) fn in_minutes(plan: &Plan) -> String {
    let about_ns = about_ns(plan);
    let longest = show::minutes(about_ns.saturating_add(more_ns(plan)));
    format!("about {} min, up to {longest}", u64::max(about_ns.saturating_add(30 * SECOND) / (60 * SECOND), 1))
}

/// Doubt about the duration of rounds that their work ends.
pub(super) const MORE: &str = "more if the work of rounds that end with it takes longer than a second";

/// Announcement of a plan: its rounds, its duration and its end; `None` for a short plan.
pub(crate) fn announced(plan: &Plan, now: &jiff::Zoned) -> Option<String> {
    let about_ns = about_ns(plan);
    let mut words = vec![show::counted(plan), lasting(about_ns, now)?];
    let untimed = plan.run_cases().any(|case| case.job.lasts_ns().is_none());
    words.extend(untimed.then(|| MORE.to_owned()));
    if plan.compares.as_ref().is_some_and(|it| !it.looks.is_empty()) {
        words.push("less if it is decided sooner".to_owned());
    }
    Some(format!("{}: {}{}", plan.name, words.join(", "), longest(plan)))
}

/// Longest duration of a plan, after the approximate one; empty if it is the same.
pub(super) fn longest(plan: &Plan) -> String {
    match more_ns(plan) {
        0 => String::new(),
        more => {
            let longest = show::minutes(about_ns(plan).saturating_add(more));
            format!("; up to {longest} while other processes use the CPUs")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Arguments;
    use crate::plan::InstructionPlan;
    use crate::plan::quick;
    use clap::Parser as _;

    #[test]
    fn the_total_of_quick_is_announced_and_keeps_within_six_minutes() {
        let crate::args::Command::Quick(arguments) = Arguments::parse_from(["bourse", "quick"]).command else {
            panic!("another command")
        };
        let plan = quick::plan(&arguments).unwrap();
        let about_ns = about_ns(&plan);
        assert!(about_ns <= 6 * 60 * SECOND, "{about_ns} ns");
        let now = "2026-11-22T10:00:30+00:00[UTC]".parse().unwrap();
        let said = announced(&plan, &now).expect("it takes minutes");
        let cases = plan.run_cases().count();
        assert!(said.starts_with(&format!("quick: {cases} cases, ")) && said.contains(" rounds, about "), "{said}");
        assert!(said.contains(" min, until about 10:"), "{said}");
        let longest = about_ns + more_ns(&plan);
        assert!(longest <= 9 * 60 * SECOND && Some(longest) <= plan.at_most_ns, "{longest} ns");
        assert!(said.ends_with(" min while other processes use the CPUs"), "{said}");
    }

    #[test]
    fn a_database_is_loaded_once_however_many_rounds_run_on_it() {
        let of = |rounds: &str| {
            let typed =
                ["bourse", "compare", "sqlite:a.db", "sqlite:b.db", "-T", "10s", "--warmup", "0s", "--rounds", rounds];
            let crate::args::Command::Compare(arguments) = Arguments::parse_from(typed).command else {
                panic!("another command")
            };
            crate::plan::compare::plan(&arguments).unwrap()
        };
        let (one, eight) = (of("1"), of("8"));
        let [loading, sample] = [10, 1].map(|days| super::super::work::load_ns("sqlite:a.db", 1_000, days));
        assert_eq!(shared_ns(&one.blocks[0]), 2 * (5 * SECOND + loading + sample), "of both, ten days each");
        assert_eq!(shared_ns(&eight.blocks[0]), shared_ns(&one.blocks[0]));
        assert_eq!(about_ns(&one) - SECOND - shared_ns(&one.blocks[0]), 2 * ((10 + 5) * SECOND + loading));
        assert_eq!(about_ns(&eight) - about_ns(&one), 7 * 2 * ((10 + 5) * SECOND + loading));
    }

    #[test]
    fn counts_of_instructions_are_part_of_the_time() {
        let plan = crate::plan::tests::plan(false);
        let counted_by = |source| {
            let instructions = InstructionPlan { source, counted_by: String::new(), functions: false };
            about_ns(&Plan { instructions: Some(instructions), ..plan.clone() }) - about_ns(&plan)
        };
        assert_eq!(counted_by(InstructionSource::Processor), 7 * SECOND, "twice of three cases, and the harness");
        assert!(counted_by(InstructionSource::Valgrind) > 20 * SECOND);
    }

    #[test]
    fn what_is_over_at_once_is_not_announced() {
        let of = |typed: &[&str]| {
            let crate::args::Command::Micro(crate::args::MicroCommand::Run(arguments)) =
                Arguments::parse_from(typed).command
            else {
                panic!("another command")
            };
            let plan = crate::plan::classic::plan(&arguments).unwrap();
            announced(&plan, &"2026-11-22T10:00:30+00:00[UTC]".parse().unwrap())
        };
        let short = ["bourse", "micro", "run", "point-read", "sqlite::memory:", "-T", "1s"];
        assert_eq!(of(&short), None);
        let long = ["bourse", "micro", "run", "point-read", "sqlite::memory:", "-T", "10s", "--rounds", "8"];
        let said = of(&long).unwrap();
        assert!(
            said.starts_with("micro-point-read: 1 case, 8 rounds, about 1 min, until about 10:02; up to 3 min"),
            "{said}"
        );
        let search = ["--find-max", "--limit", "p99=10ms"];
        assert!(of(&[&long[..], &search].concat()).unwrap().contains(", about 2 min, until about 10:03"));
    }
}
