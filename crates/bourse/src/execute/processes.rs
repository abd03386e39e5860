//! Users in several processes of this machine: each is a driver of a round that this process coordinates on loopback, and
//! sends its statements to the engine itself. This process starts them, shows their progress, and merges their figures.
//!
//! Emulators behind the users, such as TPC-E's market exchange, are in each of the processes, for the users there.

use super::child::{ChildMessage, ChildProcess, ChildRequest, StderrTarget};
use super::coordinated::Coordinator;
use super::on_database::{CheckedRound, OnDatabase};
use super::shared::SharedJob;
use super::system::SystemUnderTest;
use super::{RoundOutcome, RoundRequest, RunContext};
use crate::failure::{Exit, Failure, Result};
use crate::oltp::serve::failure;
use crate::plan::drivers::{Coordinate, ProcessOfUsers};
use crate::{live, spent};
use bourse_driver::RoundProgress;
use bourse_record::{Round, drivers};
use bourse_serve::{Server, ServerOptions, Token};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

/// A process of users.
struct UserProcess {
    process: ChildProcess,
    /// Its last progress.
    progress: Option<RoundProgress>,
    /// Its outcome, or the failure by which it was lost.
    ended: Option<Result<RoundOutcome>>,
}

/// Runs a round with its users in several processes.
pub(super) fn run(
    on: &OnDatabase<'_>,
    job: &dyn SharedJob,
    say: &mut dyn FnMut(&RoundProgress),
) -> Result<CheckedRound> {
    let &OnDatabase { database, request, context, .. } = on;
    let (target, of) = (&request.target, job.requirements()?.drivers.processes);
    let failed = |error| failure(target, &error);
    let SystemUnderTest::InProcess(engine) = &database.system else {
        return Err(Failure::usage(format!("--processes cannot be used with {target}")));
    };
    let token = Token::random_text();
    let server = Server::bind(ServerOptions {
        token: Some(Token::new(&token, "this process").map_err(failed)?),
        gather: Duration::MAX,
        coordinates: true,
        checks: !request.is_probe,
        ..ServerOptions::new(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), env!("CARGO_PKG_VERSION"))
    });
    let server = server.map_err(failed)?;
    let place = server.address().to_string().trim_start_matches("bourse://").to_owned();
    // Ended after the processes: values are dropped in reverse order.
    let _coordinator = Coordinator::start(server, job.served()?, Arc::clone(engine), &database.ready, context, |_| {})?;
    let mut parts = Vec::new();
    for number in 1..=of {
        let process = Some(ProcessOfUsers { number, token: token.clone() });
        let coordinate = Coordinate { place: place.clone(), gather_ns: u64::MAX, process };
        let part = RoundRequest {
            // The database may have another size than the options name.
            job: job.of_process(&database.ready.fingerprint.size, coordinate)?,
            begins_alike: false,
            is_first: false,
            history: Some(on.history.clone()),
            wait_quiet_ns: None,
            ..request.clone()
        };
        let what = format!("process {number} of {of} with users on {target}");
        let process = ChildProcess::start(&ChildRequest::Round(Box::new(part)), &what, StderrTarget::Collected)?;
        parts.push(UserProcess { process, progress: None, ended: None });
    }
    let lost = all_ended(&mut parts, context, say);
    together(parts.into_iter().filter_map(|part| part.ended?.ok()).collect(), lost)
}

/// Waits until each process has reported its outcome or is lost. The first failure ends the others; returns it if a process was
/// lost.
fn all_ended(parts: &mut [UserProcess], context: &RunContext, say: &mut dyn FnMut(&RoundProgress)) -> Option<Failure> {
    let of = parts.len();
    let mut lost = None;
    while parts.iter().any(|part| part.ended.is_none()) {
        let mut is_new = false;
        for (at, part) in parts.iter_mut().enumerate().filter(|(_, part)| part.ended.is_none()) {
            let named = |failure: Failure| failure.detail("process", format!("{} of {of}", at + 1));
            let ended: Result<RoundOutcome> = match part.process.next(Duration::from_millis(5)) {
                ChildMessage::Answer(answer) => answer.map_err(named),
                ChildMessage::End => Err(part.process.lost()),
                ChildMessage::Line(line) => {
                    match live::progress_of(&line) {
                        Some(progress) => (part.progress, is_new) = (Some(progress), true),
                        // Steps are told by one of the processes for all.
                        None => drop(at == 0 && live::passed_on(&line)),
                    }
                    continue;
                }
                ChildMessage::Nothing => continue,
            };
            if let Err(failure) = &ended {
                lost.get_or_insert_with(|| failure.clone());
            }
            let ended = ended.map(|outcome| RoundOutcome { failure: outcome.failure.map(named), ..outcome });
            part.ended = Some(ended);
        }
        if is_new {
            merged(parts).iter().for_each(&mut *say);
        }
        let has_failed =
            |part: &UserProcess| matches!(&part.ended, Some(Ok(RoundOutcome { failure: Some(_), .. }) | Err(_)));
        if context.is_interrupted() || parts.iter().any(has_failed) {
            parts.iter_mut().filter(|part| part.ended.is_none()).for_each(|part| part.process.interrupt());
        }
    }
    lost
}

/// The rounds of several processes as one.
pub(super) fn one_round(parts: &[&Round]) -> Result<Round> {
    let unmerged = |why: String| Failure::new(Exit::Target, format!("cannot merge the processes' figures: {why}"));
    if parts.is_empty() {
        return Err(unmerged("none was left".to_owned()));
    }
    drivers::of_processes(parts).map_err(|error| unmerged(error.to_string()))
}

/// The rounds of all processes as one, which is void if a process was lost.
fn together(mut parts: Vec<RoundOutcome>, lost: Option<Failure>) -> Result<CheckedRound> {
    let rounds: Vec<&Round> = parts.iter().map(|part| &part.round).collect();
    let mut round = one_round(&rounds).map_err(|unmerged| lost.clone().unwrap_or(unmerged))?;
    if let Some(lost) = &lost {
        round.make_void(lost.line());
    }
    if let Some(first) = parts.first() {
        // Their other parts of the time follow from the round.
        let checks = first.spent.iter().filter(|(part, _)| **part == spent::SpentPart::ChecksAfter);
        spent::of_process(&checks.map(|(part, ns)| (*part, *ns)).collect());
        if round.measured_s > 0.0 && round.headline_valid(&first.workload) == 0 {
            let name = first.workload.headline_operation.as_deref().unwrap_or("transaction");
            let measured_s = round.measured_s;
            round.make_void(format!("no {name} ended validly in the measurement interval of {measured_s:.1} s"));
        }
    }
    let interrupted = parts.iter().any(|part| part.interrupted);
    let failure = lost.or_else(|| parts.iter_mut().find_map(|part| part.failure.take()));
    Ok(CheckedRound { round, interrupted, failure })
}

/// Progress of all processes together. Calls that never return are the matter of their process.
fn merged(parts: &[UserProcess]) -> Option<RoundProgress> {
    let of_one = |progress: RoundProgress| RoundProgress { calls: Vec::new(), ..progress };
    parts.iter().filter_map(|part| part.progress.clone()).map(of_one).reduce(|sum, each| RoundProgress {
        throughput: sum.throughput.iter().zip(&each.throughput).map(|(sum, each)| sum + each).collect(),
        failures: sum.failures + each.failures,
        // Quantiles cannot be added: the worst of them.
        response_ns: match (sum.response_ns, each.response_ns) {
            (Some(one), Some(other)) => Some(std::array::from_fn(|at| one[at].max(other[at]))),
            (one, other) => one.or(other),
        },
        queue_length: sum.queue_length.zip(each.queue_length).map(|(sum, each)| sum + each),
        operations: sum.operations.iter().zip(&each.operations).map(|(sum, each)| sum.with(each)).collect(),
        row: drivers::both_rows(&sum.row, &each.row),
        ..sum
    })
}
