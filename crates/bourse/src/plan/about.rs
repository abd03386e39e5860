//! Approximate duration of a plan, on two cores without other load.

use super::{Block, Plan, PlannedCase, VAIN_WAITS, show};
use crate::engines;
use bourse_driver::SECOND;
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

/// Time to prepare the databases that the rounds of a block share, in nanoseconds.
pub(crate) fn shared_ns(block: &Block) -> u64 {
    let shared = block.run_cases().filter(|case| case.has_one_database());
    let of_target = shared.filter_map(|case| {
        let started = engines::starts_s(&case.target).saturating_mul(SECOND);
        Some((&case.target, case.job.once_ns(&case.target)?.saturating_add(started)))
    });
    of_target.collect::<BTreeMap<_, _>>().values().copied().fold(0, u64::saturating_add)
}

/// Time of a plan without repeated rounds, in nanoseconds.
pub(crate) fn about_ns(plan: &Plan) -> u64 {
    let of_block = |block: &Block| {
        let of_rounds = block.run_cases().map(round_ns).fold(0, u64::saturating_add);
        of_rounds.saturating_mul(u64::from(block.rounds)).saturating_add(shared_ns(block))
    };
    plan.blocks.iter().map(of_block).fold(0, u64::saturating_add)
}

/// Largest additional time of a plan that other processes disturb: waits for a quiet machine in vain, and repeated rounds.
fn more_ns(plan: &Plan) -> u64 {
    let of_block = |block: &Block| {
        let (count, all) =
            block.run_cases().map(round_ns).fold((0, 0_u64), |(count, sum), ns| (count + 1, sum.saturating_add(ns)));
        (all / u64::max(count, 1)).saturating_mul(plan.budget(block).most().into())
    };
    let repeats = plan.blocks.iter().map(of_block).fold(0, u64::saturating_add);
    let waits = plan.wait_quiet_ns.unwrap_or(0).saturating_mul(VAIN_WAITS.into());
    plan.repeats_at_most_ns.unwrap_or(u64::MAX).min(repeats).saturating_add(waits)
}

/// Announcement of a plan: its rounds, its duration and its end; `None` for a short plan.
pub(crate) fn announced(plan: &Plan, now: &jiff::Zoned) -> Option<String> {
    let about_ns = about_ns(plan);
    if about_ns < SHORT_NS {
        return None;
    }
    let mut words = vec![show::counted(plan), format!("about {}", show::minutes(about_ns))];
    let untimed = plan.run_cases().any(|case| case.job.at_most_ns().is_none());
    let searches = plan.run_cases().any(|case| case.job.search().is_some());
    match now.checked_add(Duration::from_nanos(about_ns)) {
        // The end of rounds that end by their work is unknown.
        Ok(end) if !untimed && !searches => words.push(format!("until about {}", end.strftime("%H:%M"))),
        _ => {}
    }
    if untimed {
        words.push("more if the work of rounds that end with it takes longer than a second".to_owned());
    }
    if plan.compares.as_ref().is_some_and(|it| !it.looks.is_empty()) {
        words.push("less if it is decided sooner".to_owned());
    }
    if searches {
        words.push("and about a dozen short rounds of each search".to_owned());
    }
    let longest = match more_ns(plan) {
        0 => String::new(),
        more => {
            let longest = show::minutes(about_ns.saturating_add(more));
            format!("; at most {longest} if other processes disturb rounds")
        }
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
        assert!(about_ns <= 6 * 60 * SECOND, "{about_ns} ns");
        let now = "2026-11-22T10:00:30+00:00[UTC]".parse().unwrap();
        let said = announced(&plan, &now).expect("it takes minutes");
        let cases = plan.run_cases().count();
        assert!(said.starts_with(&format!("quick: {cases} cases, ")) && said.contains(" rounds, about "), "{said}");
        assert!(said.contains(" min, until about 10:"), "{said}");
        // Rounds are repeated in what is left of the six minutes.
        let longest = about_ns + more_ns(&plan);
        assert!(longest <= u64::max(about_ns, 6 * 60 * SECOND), "{longest} ns");
        assert_eq!(said.ends_with(" min if other processes disturb rounds"), longest > about_ns, "{said}");
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
        let loading = 10 * super::super::work::day_ns("sqlite:a.db");
        assert_eq!(shared_ns(&one.blocks[0]), 2 * (5 * SECOND + loading), "of both, ten days each");
        assert_eq!(shared_ns(&eight.blocks[0]), shared_ns(&one.blocks[0]));
        assert_eq!(about_ns(&one) - shared_ns(&one.blocks[0]), 2 * ((10 + 5) * SECOND + loading));
        assert_eq!(about_ns(&eight) - about_ns(&one), 7 * 2 * ((10 + 5) * SECOND + loading));
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
        let said = of(&long).unwrap();
        assert!(
            said.starts_with("micro-point-read: 1 case, 8 rounds, about 2 min, until about 10:01; at most "),
            "{said}"
        );
        let quiet = ["--no-repeat"];
        assert_eq!(
            of(&[&long[..], &quiet].concat()).unwrap(),
            "micro-point-read: 1 case, 8 rounds, about 2 min, until about 10:01"
        );
    }
}
