//! What kept the figure from being higher: the largest part of the users' time.

use super::time_split::{Part, RoleSplit, not_available, roles};
use super::{CaseView, Remark};
use crate::tables::Tone;
use crate::units;
use bourse_record::{BlockedOn, CUSTOMERS, Interference, MARKET_USERS};

/// A share of the processors from which on they are full; the rest is the operating system's and the sampling's.
const FULL: f64 = 0.85;
/// A share of the market users' time from which on they have no time left.
const ALWAYS_BUSY: f64 = 0.85;
/// A share of the customers' time from which on their pauses are told of.
const PAUSED: f64 = 0.10;

/// What limits, and what says so.
pub(crate) struct Limit {
    cause: String,
    /// With its separator.
    amount: String,
    evidence: String,
}

impl Limit {
    /// The cause alone, for a line that it shares with other verdicts.
    pub(crate) fn verdict(&self) -> String {
        format!("bottleneck: {}", self.cause)
    }

    /// The whole sentence.
    pub(crate) fn sentence(&self) -> String {
        format!("bottleneck: {}{}{}", self.cause, self.amount, self.evidence)
    }
}

/// None if nothing was measured, or the run file does not tell.
pub(super) fn limited_by(view: &CaseView<'_>) -> Option<Limit> {
    view.figure()?;
    let used = processors(view);
    let roles = roles(view);
    // A schedule that was kept is what limits: asked for more, they would have done more.
    let kept_pace = view.arrivals().is_some_and(|it| (it.dropped + it.unstarted) * 100 <= it.due);
    let alone = |cause: &str| Limit { cause: cause.to_owned(), amount: String::new(), evidence: String::new() };
    let limit = if kept_pace {
        alone("the requested rate, which was reached")
    } else if roles.is_empty() {
        match (not_available(view), view.cores_busy().filter(|busy| *busy >= FULL * cores(view))) {
            (_, Some(_)) => alone("CPU"),
            (Some(why), None) => alone(&format!("not available: {}", units::printable(why))),
            (None, None) => return None,
        }
    } else if market_limits(&roles) {
        let advice = "; more of them (--market-users) can bring more".to_owned();
        Limit { evidence: advice, ..alone("the harness: the market users were always busy") }
    } else {
        largest(view, &roles)?
    };
    let used = used.map_or_else(String::new, |used| format!("; {used}"));
    Some(Limit { evidence: format!("{}{used}", limit.evidence), ..limit })
}

fn cores(view: &CaseView<'_>) -> f64 {
    f64::from(view.machine().cores.max(1))
}

/// Processors that we used, the server's among them, and those that others took.
fn processors(view: &CaseView<'_>) -> Option<String> {
    let busy = view.cores_busy().filter(|busy| busy.is_finite())?;
    let mut words = format!("{} of {} cores busy", units::significant(busy, 3), view.machine().cores);
    if let Some(server) = view.server_cores_busy() {
        words.push_str(&format!(", {} of it by the server", units::significant(server, 3)));
    }
    let taken = taken(view);
    if taken > Interference::NOTICED {
        words.push_str(&format!("; other processes took {}", units::significant(taken, 3)));
    }
    Some(words)
}

/// Processors that others took, on average over the rounds that tell.
fn taken(view: &CaseView<'_>) -> f64 {
    let each: Vec<f64> = view.case.rounds.iter().filter_map(|it| Some(it.interference?.from_us())).collect();
    each.iter().sum::<f64>() / each.len().max(1) as f64
}

/// The largest part of the time in which the users had something to do, with the others behind it.
fn largest(view: &CaseView<'_>, roles: &[RoleSplit]) -> Option<Limit> {
    let seconds = |part: Part| roles.iter().map(|role| role.seconds(part)).sum::<f64>();
    let all: f64 = roles.iter().map(|role| role.wall_s).sum();
    let working: f64 = Part::ALL.into_iter().filter(|part| !part.is_idle()).map(seconds).sum();
    if all <= 0.0 || working <= 0.0 {
        return None;
    }
    let mut parts: Vec<(Part, f64)> =
        Part::ALL.into_iter().filter(|part| !part.is_idle()).map(|part| (part, seconds(part) / working)).collect();
    parts.sort_by(|a, b| b.1.total_cmp(&a.1));
    let (first, share) = *parts.first()?;
    let rest: Vec<String> = parts
        .iter()
        .skip(1)
        .filter(|(_, share)| *share >= 0.01)
        .map(|(part, share)| format!("{} {}", part.name(), units::percent(100.0 * share)))
        .collect();
    let rest = if rest.is_empty() { String::new() } else { format!(" ({})", rest.join(", ")) };
    let ours = view.cores_busy().unwrap_or(0.0);
    let cause = match first {
        Part::Cpu | Part::Runnable if ours >= FULL * cores(view) => "CPU: the users need more than there are",
        Part::Runnable if taken(view) > Interference::NOTICED => "waiting for a CPU that other processes have",
        Part::Runnable => "waiting for a CPU",
        Part::Cpu => "computing, one core for each user at work",
        Part::Harness => "the harness's own CPU time",
        Part::Blocked(BlockedOn::Sync) => "syncs to disk",
        Part::Blocked(BlockedOn::Lock) => "locks: waiting for another writer",
        Part::Blocked(BlockedOn::Storage) => "reads and writes of files",
        Part::Blocked(BlockedOn::Server) => "the server and the network",
        Part::Blocked(BlockedOn::BackOff) => "pauses before retries",
        Part::Blocked(_) => "waits inside the engine that it does not tell apart",
    };
    let idle = 1.0 - working / all;
    let idle =
        if idle >= 0.5 { format!("; idle {} of all their time", units::percent(100.0 * idle)) } else { String::new() };
    let amount = format!(": {} of the users' working time", units::percent(100.0 * share));
    Some(Limit { cause: cause.to_owned(), amount, evidence: format!("{rest}{idle}") })
}

fn of<'r>(roles: &'r [RoleSplit], role: &str) -> Option<&'r RoleSplit> {
    roles.iter().find(|it| it.role == role)
}

/// Whether the market users had no time left while the customers paused for them, and it was not the engine's locks and
/// syncs that kept them, which more users would only queue for.
fn market_limits(roles: &[RoleSplit]) -> bool {
    let (Some(customers), Some(market)) = (of(roles, CUSTOMERS), of(roles, MARKET_USERS)) else { return false };
    let engine = market.share(Part::Blocked(BlockedOn::Lock)) + market.share(Part::Blocked(BlockedOn::Sync));
    market.busy() >= ALWAYS_BUSY && customers.share(Part::Blocked(BlockedOn::Queue)) >= PAUSED && engine < 0.5
}

/// Pauses of the customers, which the driver's queue makes when it is full.
pub(super) fn pauses(view: &CaseView<'_>) -> Option<Remark> {
    view.conditions().driver_queue.as_ref()?;
    let roles = roles(view);
    let (customers, market) = (of(&roles, CUSTOMERS)?, of(&roles, MARKET_USERS)?);
    let paused = customers.share(Part::Blocked(BlockedOn::Queue));
    if paused < PAUSED {
        return None;
    }
    let busy = units::percent(100.0 * market.busy());
    let users = units::counted(market.threads, "market user was", "market users were");
    // A line of 80 columns: what the queue is part of stands below the table.
    let text = format!("customers paused {} of their time: {users} busy {busy}", units::percent(100.0 * paused));
    Some(Remark::new(Tone::Doubtful, text))
}
