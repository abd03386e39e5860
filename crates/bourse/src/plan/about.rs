//! Approximate duration of a plan, on two cores without other load.

use super::{Block, Job, Plan, PlannedCase, show};
use crate::args::Database;
use crate::engines;
use crate::execute::VAIN_WAITS;
use bourse_driver::SECOND;
use std::collections::BTreeMap;
use std::time::Duration;

/// Time of a round of the brokerage workload in addition to warm-up and interval: its drain and restoring the database. Its
/// checks are added: they take about as long as loading. Measured for ten days: 14 s on SQLite, 59 s on Firebird, both with
/// the checks.
const ROUND_NS: u64 = 5 * SECOND;
/// Time spent once per database in addition to loading: checks before it is used, a snapshot, the lockstep sample. Measured:
/// 5 s for ten days.
const ONCE_NS: [u64; 2] = [4 * SECOND, SECOND / 10];
/// Approximate rows of a day of trades of 1,000 customers: ten days have 5,041,731.
const DAY_ROWS: u64 = 500_000;
/// Duration below which a plan is not announced.
const SHORT_NS: u64 = 20 * SECOND;

/// Time that an engine takes to load a day of trades of 1,000 customers, in nanoseconds; 0 for engines without tables.
fn day_ns(target: &str) -> u64 {
    engines::loads_rows_s(target).map_or(0, |rows_s| DAY_ROWS.saturating_mul(SECOND) / rows_s)
}

/// Sum of a constant part and a part per day of trades and 1,000 customers.
fn by_days([on_no_day, a_day]: [u64; 2], database: &Database) -> u64 {
    let thousands = database.customers.div_ceil(1_000);
    on_no_day.saturating_add(a_day.saturating_mul(u64::from(database.days)).saturating_mul(thousands))
}

/// Time to load and check a database, in nanoseconds.
fn once_ns(target: &str, database: &Database) -> u64 {
    by_days([ONCE_NS[0], ONCE_NS[1].saturating_add(day_ns(target))], database)
}

/// Time of one round of a case that shares its database with no other, in nanoseconds.
pub(crate) fn alone_ns(case: &PlannedCase) -> u64 {
    let once_ns = match &case.job {
        Job::Brokerage(job) if case.has_one_database() => once_ns(&case.target, &job.database),
        _ => 0,
    };
    round_ns(case).saturating_add(once_ns)
}

/// Time of a round of a case, in nanoseconds.
pub(crate) fn round_ns(case: &PlannedCase) -> u64 {
    match &case.job {
        Job::Brokerage(job) => {
            let made = if case.has_one_database() { 0 } else { once_ns(&case.target, &job.database) };
            job.lasts_ns().saturating_add(by_days([ROUND_NS, day_ns(&case.target)], &job.database)).saturating_add(made)
        }
        Job::Classic(job) => {
            let started = engines::starts_s(&case.target).saturating_mul(SECOND);
            let (lasts_ns, beside_ms) = match job.lasts_ns() {
                Some(lasts_ns) => (lasts_ns, engines::prepares_ms(&case.target)),
                // Inserting workloads insert about as many rows as other workloads prepare.
                None => (0, engines::inserts_ms(&case.target)),
            };
            lasts_ns.saturating_add(beside_ms.saturating_mul(SECOND / 1_000)).saturating_add(started)
        }
    }
}

/// Time to prepare the databases that the rounds of a block share, in nanoseconds.
pub(crate) fn shared_ns(block: &Block) -> u64 {
    let shared = block.run_cases().filter(|case| case.has_one_database());
    let of_target = shared.filter_map(|case| match &case.job {
        Job::Brokerage(job) => {
            let started = engines::starts_s(&case.target).saturating_mul(SECOND);
            Some((&case.target, once_ns(&case.target, &job.database).saturating_add(started)))
        }
        Job::Classic(_) => None,
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
        let loading = 10 * day_ns("sqlite:a.db");
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
