//! Durability: acknowledged transactions after a crash (for TPC-E Clause 7.5).
//!
//! The load is the whole mix of several users. Its log of acknowledged commits is outside the crashed process: an in-process
//! engine runs in a child process, which reports each commit as it returns; for a server that Bourse started, the sessions are
//! in this process. Afterwards the database is opened again, which makes it recover, and compared.

use super::finished;
use crate::crash::{CrashResult, counted};
use crate::demand::{CrashKind, demanded};
use crate::test_bed::AcidError;
use crate::{AcidSubject, Site};
use bourse_engine::{Durability, Hosting};
use bourse_record::SplitMix;
use bourse_record::acid::{AcidCase, AcidTest, AcidVerdict};
use bourse_record::crash::Guarantee;
use std::time::Instant;

/// Number of kills of the process, and of power failures.
const KILLS: u64 = 2;
const POWER_FAILURES: u64 = 3;

/// Runs D1: the engine's process is killed.
pub(crate) fn killed(subject: &AcidSubject<'_>) -> AcidTest {
    let began = Instant::now();
    let not = |why: String| {
        finished(subject.spec("D1"), AcidVerdict::NotApplicable, why, Vec::new(), began.elapsed().as_secs_f64())
    };
    let demand = demanded(subject.class, subject.may_lose, CrashKind::Kill);
    if demand == Guarantee::Nothing {
        return not(promises_nothing(subject));
    }
    match subject.engine.hosting() {
        Hosting::External => not("Bourse did not start the server".to_owned()),
        Hosting::InProcess if subject.site.is_none() => not(NO_SITE.to_owned()),
        Hosting::InProcess | Hosting::OwnedServer(_) => {
            let after = repeat(subject, CrashKind::Kill, KILLS);
            judge("D1", subject, CrashKind::Kill, demand, &after, began.elapsed().as_secs_f64())
        }
    }
}

/// Runs D2 and D3: the power fails.
pub(crate) fn power_failed(subject: &AcidSubject<'_>, wanted: &dyn Fn(&str) -> bool) -> Vec<AcidTest> {
    let began = Instant::now();
    let ids: Vec<&str> = ["D2", "D3"].into_iter().filter(|id| wanted(id)).collect();
    let demand = demanded(subject.class, subject.may_lose, CrashKind::Power);
    let cannot = match (demand, subject.site.and_then(Site::no_power)) {
        (Guarantee::Nothing, _) => Some(promises_nothing(subject)),
        (_, Some(why)) => Some(why),
        _ if !matches!(subject.engine.hosting(), Hosting::InProcess) => Some(NO_DISK.to_owned()),
        _ if subject.site.is_none() => Some(NO_SITE.to_owned()),
        _ => None,
    };
    if let Some(why) = cannot {
        return ids
            .iter()
            .map(|id| finished(subject.spec(id), AcidVerdict::NotApplicable, why.clone(), Vec::new(), 0.0))
            .collect();
    }
    let after = repeat(subject, CrashKind::Power, POWER_FAILURES);
    // One experiment, seen from two sides.
    let took_s = began.elapsed().as_secs_f64() / ids.len().max(1) as f64;
    let one = |id: &&str| {
        let looked_for = if *id == "D2" { Guarantee::Whole } else { Guarantee::Everything };
        judge(id, subject, CrashKind::Power, looked_for, &after, took_s)
    };
    ids.iter().map(one).collect()
}

const NO_DISK: &str = "a server's disk is not simulated; that it is killed is all that is tried";
const NO_SITE: &str = "there is no copy of the database that could be corrupted";

fn promises_nothing(subject: &AcidSubject<'_>) -> String {
    format!("class {} promises nothing: {}", subject.class, subject.class_reason)
}

fn repeat(subject: &AcidSubject<'_>, crash: CrashKind, times: u64) -> Result<Vec<CrashResult>, AcidError> {
    let mut random = SplitMix::new(subject.config.seed);
    (0..times).map(|_| crash_once(subject, crash, random.next())).collect()
}

/// Runs one crash: load, crash, recovery, examination.
pub(crate) fn crash_once(subject: &AcidSubject<'_>, crash: CrashKind, seed: u64) -> Result<CrashResult, AcidError> {
    match subject.engine.hosting() {
        Hosting::OwnedServer(server) => crate::crash::server_of_ours(subject, server, seed),
        Hosting::InProcess | Hosting::External => {
            let site = subject.site.ok_or_else(|| AcidError::Machinery(NO_SITE.to_owned()))?;
            crate::crash::child_of_ours(subject, site, crash, seed)
        }
    }
}

/// Verdict on the results of crashes, from the findings `looked_for`.
fn judge(
    id: &str,
    subject: &AcidSubject<'_>,
    crash: CrashKind,
    looked_for: Guarantee,
    crashes: &Result<Vec<CrashResult>, AcidError>,
    took_s: f64,
) -> AcidTest {
    let crashes = match crashes {
        Ok(crashes) => crashes,
        Err(AcidError::NotIntercepted(why)) => {
            return finished(subject.spec(id), AcidVerdict::NotApplicable, why.clone(), Vec::new(), took_s);
        }
        Err(error) => {
            let reason = format!("the test could not be carried out: {error}");
            return finished(subject.spec(id), AcidVerdict::Failed, reason, Vec::new(), took_s);
        }
    };
    let cases: Vec<AcidCase> =
        crashes.iter().map(|crashed| crashed.case(id != "D3", looked_for == Guarantee::Everything)).collect();
    let results: usize = crashes.iter().map(|crashed| crashed.results).sum();
    let lost: usize = crashes.iter().map(|crashed| crashed.lost).sum();
    let class = subject.class;
    let what_was_lost = format!(
        "{lost} of {results} acknowledged {} lost in {} crashes",
        counted(subject.workload).transactions,
        crashes.len()
    );
    let demand = demanded(class, subject.may_lose, crash);
    if demand == Guarantee::Whole && looked_for == Guarantee::Everything {
        let reason = format!("class {class} may lose the last commits: {what_was_lost}");
        return finished(subject.spec(id), AcidVerdict::NotApplicable, reason, cases, took_s);
    }
    let wrong = cases.iter().flat_map(|case| &case.findings).find(|finding| !finding.holds);
    let recovery_ms = crashes.iter().map(|crashed| crashed.recovery_s * 1e3).fold(0.0, f64::max);
    let (verdict, mut reason) = match wrong {
        Some(wrong) => (
            AcidVerdict::Failed,
            format!("{}: {} wanted, {} found; {what_was_lost}", wrong.what, wrong.wanted, wrong.found),
        ),
        None => (AcidVerdict::Passed, format!("{what_was_lost}; recovered within {recovery_ms:.0} ms")),
    };
    if verdict == AcidVerdict::Failed && class == Durability::Process && crash == CrashKind::Power {
        reason.push_str("; class process promises nothing here, the specification demands it");
    }
    finished(subject.spec(id), verdict, reason, cases, took_s)
}
