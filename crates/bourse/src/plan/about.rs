//! How long a plan takes, about: on two cores that nobody else uses.

use super::{Block, Job, Plan, PlannedCase, show};
use bourse_driver::SECOND;
use std::time::Duration;

/// What a round of a classic workload takes beside warm-up and interval: its process, its rows. Measured: 0.3 s.
const BESIDE_NS: u64 = SECOND / 2;
/// What a round takes that its work ends, if nothing else is known.
const WORK_NS: u64 = SECOND;
/// What the brokerage workload takes beside them for each day of trades of 1,000 customers: loading, drain and checks. Measured:
/// 22 s for ten days, 12 of them for loading.
const DAY_NS: u64 = 2 * SECOND;
/// The same on no day.
const NO_DAY_NS: u64 = 8 * SECOND;
/// What is shorter needs no words.
const SHORT_NS: u64 = 20 * SECOND;

/// How long a round of a case takes.
pub(crate) fn round_ns(case: &PlannedCase) -> u64 {
    match &case.job {
        Job::Brokerage(job) => {
            let thousands = job.database.customers.div_ceil(1_000);
            let of_rows = DAY_NS.saturating_mul(u64::from(job.database.days)).saturating_mul(thousands);
            job.lasts_ns().saturating_add(NO_DAY_NS).saturating_add(of_rows)
        }
        Job::Classic(job) => job.lasts_ns().map_or(WORK_NS, |ns| ns.saturating_add(BESIDE_NS)),
    }
}

/// How long a plan takes without repeated rounds.
pub(crate) fn about_ns(plan: &Plan) -> u64 {
    let of_block = |block: &Block| {
        let run = block.cases.iter().filter(|case| case.not_run.is_none());
        run.map(round_ns).fold(0, u64::saturating_add).saturating_mul(u64::from(block.rounds))
    };
    plan.blocks.iter().map(of_block).fold(0, u64::saturating_add)
}

/// What is going to be run, how long it takes, and when it ends; none of what is over at once.
pub(crate) fn announced(plan: &Plan, now: &jiff::Zoned) -> Option<String> {
    let about_ns = about_ns(plan);
    if about_ns < SHORT_NS {
        return None;
    }
    let mut words = vec![show::counted(plan), format!("about {}", show::minutes(about_ns))];
    let untimed = plan.run_cases().any(|case| case.job.at_most_ns().is_none());
    let searches = plan.run_cases().any(|case| case.job.search().is_some());
    match now.checked_add(Duration::from_nanos(about_ns)) {
        // When their work is done nobody knows before.
        Ok(end) if !untimed && !searches => words.push(format!("until about {}", end.strftime("%H:%M"))),
        _ => {}
    }
    if untimed {
        words.push("more if the work of rounds that end with it takes longer than a second".to_owned());
    }
    if searches {
        words.push("and about a dozen short rounds of each search".to_owned());
    }
    let longest = match plan.repeats_at_most_ns {
        Some(more) if plan.repeats_disturbed && more > 0 => {
            format!("; at most {} if other processes disturb rounds", show::minutes(about_ns + more))
        }
        _ => String::new(),
    };
    Some(format!("{}: {}{longest}", plan.name, words.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Arguments;
    use crate::plan::quick;
    use clap::Parser as _;

    #[test]
    fn the_total_of_quick_is_announced_and_keeps_within_six_minutes() {
        let crate::args::Command::Quick(arguments) = Arguments::parse_from(["bourse", "quick"]).command else {
            panic!("another command")
        };
        let plan = quick::plan(&arguments).unwrap();
        let about_ns = about_ns(&plan);
        assert!(about_ns < 6 * 60_000_000_000, "{about_ns} ns");
        let now = "2026-11-22T10:00:30+00:00[UTC]".parse().unwrap();
        let said = announced(&plan, &now).expect("it takes minutes");
        let cases = plan.cases().filter(|case| case.not_run.is_none()).count();
        assert!(said.starts_with(&format!("quick: {cases} cases, ")) && said.contains(" rounds, about "), "{said}");
        assert!(
            said.contains(" min, until about 10:0")
                && said.ends_with("at most 6 min if other processes disturb rounds"),
            "{said}"
        );
    }
    #[test]
    fn what_is_over_at_once_is_not_announced() {
        let of = |typed: &[&str]| {
            let crate::args::Command::Micro(crate::args::Micro::Run(arguments)) = Arguments::parse_from(typed).command
            else {
                panic!("another command")
            };
            let plan = crate::plan::classic::plan(&arguments).unwrap();
            announced(&plan, &"2026-11-22T10:00:30+00:00[UTC]".parse().unwrap())
        };
        let short = ["bourse", "micro", "run", "point-read", "sqlite::memory:", "-T", "1s"];
        assert_eq!(of(&short), None);
        let long = ["bourse", "micro", "run", "point-read", "sqlite::memory:", "-T", "10s", "--rounds", "8"];
        assert_eq!(of(&long).unwrap(), "micro-point-read: 1 case, 8 rounds, about 2 min, until about 10:01");
    }
}
